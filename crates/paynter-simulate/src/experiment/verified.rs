//! Samples of a run, put into the graph's own equations before the run is shown.

use super::Simulation;
use crate::Outcome;
use crate::tolerance::{REGULARISATION_HYSTERESIS, REGULARISATION_WIDTH};
use paynter_algebra::Pool;
use paynter_base::Diagnostic;
use paynter_base::number::moment;
use paynter_graph::{Class, Power};
use paynter_verify::{Acausal, Check, Point, a_few};

/// Of a run so many samples are checked at least, and one more for so many steps, so that it takes a small part of
/// the run.
const CHECKED_SAMPLES: usize = 4;
const STEPS_PER_SAMPLE: usize = 32;

impl Simulation {
    /// Raises the scales of what sums up at a junction to the largest there, of which each is made: a mesh that nothing
    /// flows in has but rounding of the efforts about it.
    fn raise_to_junctions(&self, scales: &mut [f64]) {
        let graph = self.graph();
        for element in graph.element_ids().map(|id| graph.element(id)) {
            // Flows sum up where efforts are common, and efforts where flows are.
            let Class::Junction(common) = element.class() else { continue };
            let summed = usize::from(common == Power::Effort);
            let places = element.ports.iter().map(|port| 2 * port.bond.index() + summed);
            let places: Vec<usize> = places.filter(|at| *at < scales.len()).collect();
            let largest = places.iter().fold(0.0f64, |most, at| most.max(scales[*at]));
            places.iter().for_each(|at| scales[*at] = largest);
        }
    }

    /// Checks the samples of a run that hold the values of all variables; `pool` extends the simulation's.
    pub fn check_run(&self, pool: &mut Pool, outcome: &Outcome) -> Result<Vec<Check>, Box<Diagnostic>> {
        let Some(last) = outcome.witnesses.last() else { return Ok(Vec::new()) };
        let system = Acausal::new(pool, self.graph());
        let mut scales = vec![0.0f64; last.variables.len()];
        for witness in &outcome.witnesses {
            let values = witness.variables.iter().zip(&witness.scales);
            scales
                .iter_mut()
                .zip(values)
                .for_each(|(most, (z, scale))| *most = most.max(z.abs()).max(*scale));
        }
        self.raise_to_junctions(&mut scales);
        // Regularised roots are those of what is moved by up to the regularisation width, on either side of its
        // hysteresis.
        let exact = self.options.method.is_fixed() || self.program.compiled.regularisations.is_empty();
        let tolerance =
            if exact { 0.0 } else { REGULARISATION_WIDTH * REGULARISATION_HYSTERESIS * self.options.rtol };
        let (mut residual, mut count) = (0.0f64, 0);
        let most = CHECKED_SAMPLES + outcome.stats.steps as usize / STEPS_PER_SAMPLE;
        for at in a_few(most, outcome.witnesses.len()) {
            let witness = &outcome.witnesses[at];
            // Why a run ends where it does is said by itself.
            if outcome.failure.is_some() && witness.t == outcome.t {
                continue;
            }
            let point = Point {
                time: witness.t,
                parameters: witness.parameters.clone(),
                inputs: witness.inputs.clone(),
                variables: witness.variables.clone(),
                scales: scales.clone(),
                beside: Vec::new(),
                tolerance,
            };
            let what = format!("the run at t = {}", moment(witness.t));
            let found = system.check_point(pool, &what, &point, &witness.outputs, None);
            let checks = found.map_err(|contradiction| Box::new(contradiction.diagnostic()))?;
            count += checks.len();
            residual = checks.iter().fold(residual, |most, check| most.max(check.residual));
        }
        let what = match count {
            0 => return Ok(Vec::new()),
            1 => "one sample of the run".to_owned(),
            _ => format!("{count} samples of the run"),
        };
        Ok(vec![Check { what, residual }])
    }
}
