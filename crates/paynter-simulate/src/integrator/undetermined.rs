//! Steps of event functions that tolerances of states leave undetermined.

use super::Integrator;
use crate::Failure;
use crate::method::implicit::stage_matrix;
use crate::system::{EvaluationError, Values};
use crate::tolerance::{
    EVENT_NEARLY_REACHED, RELAXED_SHARE, RELAXING_STEP, SETTLED_TOLERANCES, SETTLING_ROUNDS, SETTLING_SPAN,
};
use paynter_numerics::linalg::Factors;

impl Integrator<'_> {
    /// Whether a step is too long for what relaxes in it, of event functions that tolerances of states leave
    /// undetermined: then the size to try next.
    pub(super) fn relaxing_step(&mut self, step: f64) -> Option<f64> {
        if !self.detector.find_relaxing(self.solver.stages(), step, &mut self.tolerance) {
            return None;
        }
        let longest = *self.relaxation.get_or_insert(RELAXING_STEP * step);
        (step > longest).then_some(longest)
    }

    /// Lets fast states settle after an event, where functions that tolerances leave undetermined read them: what the
    /// location of the event has left of a current, over the conductance of a diode that blocks now, would move others.
    /// The state moves by parts of its tolerance.
    pub(super) fn settle_undetermined(&mut self) -> Result<(), Failure> {
        if self.options.method.is_fixed() {
            return Ok(());
        }
        let undetermined = self.detector.undetermined(&self.system, &self.x, &self.tolerance);
        if undetermined.is_empty() || !self.open.is_empty() {
            return Ok(());
        }
        let n = self.x.len();
        let time = SETTLING_SPAN * (self.options.t_end - self.options.t_start);
        let mut values = Values::default();
        let full = &self.system.model.full;
        let mut factors = Factors::analyse(&full.pattern);
        if self.system.full(self.t, &self.x, &mut values).is_err()
            || values.singular.is_some()
            || factors.factorise(&full.pattern, full.by_states(&values.data), stage_matrix(time)).is_err()
        {
            return Ok(());
        }
        // Steps of the implicit Euler method; what the last one moves is what goes on.
        let (mut settled, mut rates, mut change) = (self.x.clone(), values.data[..n].to_vec(), vec![0.0; n]);
        for round in 0..SETTLING_ROUNDS {
            if round > 0 && self.system.rates(self.t, &settled, &mut rates).is_err() {
                return Ok(());
            }
            change.iter_mut().zip(&rates).for_each(|(change, rate)| *change = time * rate);
            let free = change.clone();
            factors.solve(&mut change);
            // Where nothing is that fast, nothing settles.
            if round == 0 && !self.detector.settles(&self.system, &undetermined, [&free, &change]) {
                return Ok(());
            }
            settled.iter_mut().zip(&change).for_each(|(x, change)| *x += change);
        }
        settled.iter_mut().zip(&change).for_each(|(x, change)| *x -= f64::from(SETTLING_ROUNDS) * change);
        let within = |i: usize| {
            let known = SETTLED_TOLERANCES * (self.tolerance.atol[i] + self.tolerance.rtol * self.x[i].abs());
            (settled[i] - self.x[i]).abs() <= known.max(EVENT_NEARLY_REACHED * self.largest[i])
        };
        // What settles at the edge of a law would leave its domain.
        if (0..n).all(within) && self.system.rates(self.t, &settled, &mut rates).is_ok() {
            self.x = settled;
            self.detector.forget_margins(&undetermined);
            self.begin()?;
        }
        Ok(())
    }

    /// Whether the step just tried has to be judged again, by errors of event functions which tolerances of states
    /// leave undetermined.
    pub(super) fn undetermined_functions(&mut self) -> Result<bool, EvaluationError> {
        if self.options.method.is_fixed() {
            return Ok(false);
        }
        let mut doubtful = {
            let stages = self.solver.stages();
            self.detector.unfollowed(&self.system, &stages.end, &self.tolerance)
        };
        doubtful.retain(|k| self.relaxes_within_step(*k));
        if doubtful.is_empty() {
            return Ok(false);
        }
        let stages = self.solver.stages();
        self.detector.follow(&mut self.system, stages, (&mut self.tolerance, &self.noise), doubtful)
    }

    /// Whether a function forgets within the step just tried what it was.
    fn relaxes_within_step(&mut self, k: usize) -> bool {
        let terms = self.detector.gradient(&self.system, k);
        let along = |v: &[f64]| terms.iter().map(|(i, derivative)| derivative * v[*i]).sum::<f64>();
        if self.stiff {
            let mut moved = vec![0.0; self.x.len()];
            terms
                .iter()
                .for_each(|(i, derivative)| moved[*i] = derivative.signum() * self.tolerance.atol[*i]);
            let before = along(&moved).abs();
            self.solver.filter(&mut moved);
            return along(&moved).abs() < RELAXED_SHARE * before;
        }
        let stages = self.solver.stages();
        let last = stages.tableau.stages - 1;
        let difference = |a: &[f64], b: &[f64]| (along(a) - along(b)).abs();
        let rates = difference(stages.rates(last), stages.rates(last - 1));
        stages.h * rates > RELAXED_SHARE * difference(&stages.end, &stages.before)
    }
}
