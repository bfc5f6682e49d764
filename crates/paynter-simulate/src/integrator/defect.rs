//! Defect control of implicit steps. The error estimate of a stiff method tells how good the end of a step is;
//! what relaxes fast follows its inputs at the stages only, and between them the dense output may lead past all
//! that an input does there. Where conditions are watched that must not happen: the defect of the dense output,
//! filtered by the stage matrix, shows how far it is from the solution.

use super::Integrator;
use crate::events::Place;
use crate::tolerance::{DEFECT_PLACES, DEFECT_SPAN, DEFECT_TOLERANCES, LARGEST_DEFECT};

impl Integrator<'_> {
    /// Whether event functions along the dense output of the step just tried are not those of the solution:
    /// then the size to try next.
    pub(super) fn defective_output(&mut self, step: f64) -> Option<f64> {
        let span = self.options.t_end - self.options.t_start;
        if !self.stiff || self.options.method.is_fixed() || step <= DEFECT_SPAN * span {
            return None;
        }
        let watched = self.detector.watched(&self.system);
        if watched.is_empty() {
            return None;
        }
        let limit = (DEFECT_TOLERANCES * self.options.rtol).min(LARGEST_DEFECT);
        // The cubic through both ends costs nothing; where it will not do the dense output decides.
        let share = self.defect(&watched, false)?;
        if share <= limit {
            return None;
        }
        self.solver.extend(&mut self.system, &self.tolerance).ok()?;
        let share = self.defect(&watched, true)?;
        let order = self.solver.tableau().order as f64;
        (share > limit).then(|| step * (0.9 * (limit / share).powf(1.0 / order)).clamp(0.2, 0.7))
    }

    /// How far event functions are from those of the solution, beside their size in the step; nothing where they
    /// cannot be evaluated.
    fn defect(&mut self, watched: &[usize], dense: bool) -> Option<f64> {
        let n = self.x.len();
        let (mut rates, mut change) = (vec![0.0; n], vec![0.0; n]);
        let mut places: Vec<Place> = Vec::with_capacity(DEFECT_PLACES.len());
        for theta in DEFECT_PLACES {
            let stages = self.solver.stages();
            let (x, derivative) = if dense { stages.dense(theta) } else { stages.cubic(theta) };
            let (at, k) = (stages.t + theta * stages.h, stages.h * stages.tableau.gamma);
            self.system.predict_unknowns(theta);
            self.system.rates(at, &x, &mut rates).ok()?;
            for i in 0..n {
                change[i] = k * (rates[i] - derivative[i]);
            }
            self.solver.filter(&mut change);
            let corrected = x.iter().zip(&change).map(|(x, change)| x + change).collect();
            places.push(Place { at, theta, x, corrected });
        }
        let first = self.begun == self.t;
        self.detector.largest_change(&mut self.system, self.solver.stages(), &places, watched, first)
    }
}
