//! Event functions that the tolerances of states leave undetermined. The effort of a diode that blocks behind a
//! coil is the coil's current, a leakage far below what is resolved of it, over a conductance that is next to
//! nothing. Where tolerances of states allow such a function any value of its size, its own error counts as
//! errors of states do.

use super::ZeroCrossingDetector;
use crate::method::tableau::Terms;
use crate::method::{Bounded, Stages, Tolerance};
use crate::model::linearised::Linearised;
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    FUNCTION_MEMORY, FUNCTION_ROUNDING, LARGEST_UNDETERMINED_FUNCTION, RELAXING_CHANGE, SETTLING_SHARE,
    UNDETERMINED_FUNCTION,
};

/// A function whose error counts, as long as the present modes hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Followed {
    pub function: usize,
    /// How large it has been lately.
    pub size: f64,
    /// Its value at the start of the step.
    pub start: f64,
    /// What rounding of the states that it reads makes of it.
    pub rounding: f64,
    /// Whether it relaxes in the step that is tried: its rate at the start is that of a transient which the step
    /// leaves behind, and dense output leads past all that it does.
    pub relaxes: bool,
}

impl ZeroCrossingDetector {
    /// Forgets the functions that were followed.
    pub fn follow_none(&mut self, tolerance: &mut Tolerance) {
        self.followed.clear();
        tolerance.functions.clear();
    }

    /// Beyond this part of its size a function that tolerances of states let vary is not determined by them.
    fn undetermined_share(&self) -> f64 {
        (UNDETERMINED_FUNCTION * self.event_tolerance).min(LARGEST_UNDETERMINED_FUNCTION)
    }

    /// What is followed of a function.
    pub(super) fn followed(&self, k: usize) -> Option<&Followed> {
        self.followed.iter().find(|followed| followed.function == k)
    }

    /// The functions that tolerances of states leave undetermined where the present modes begin.
    pub fn undetermined(&self, system: &System<'_>, x: &[f64], tolerance: &Tolerance) -> Vec<usize> {
        let full = &system.model.relations_full;
        if self.gradients.len() < full.pattern.at.len() {
            return Vec::new();
        }
        let mut found = self.watched(system);
        found.retain(|k| {
            // What has never been anything has no size yet; the current of a diode that leaks has one of its own.
            let [above, below] = self.visited[*k];
            let size = self.visited_size(system, *k);
            let known = known(full, *k, &self.gradients, x, tolerance);
            above.max(below) > 0.0 && known > self.undetermined_share() * size
        });
        found
    }

    /// Whether one of these functions settles: an implicit step moves it by far less than its rate would.
    pub fn settles(&self, system: &System<'_>, functions: &[usize], [free, moved]: [&[f64]; 2]) -> bool {
        let pattern = &system.model.relations_full.pattern;
        let along = |k: usize, by: &[f64]| -> f64 {
            pattern.row(k).map(|e| self.gradients[e] * by[pattern.at[e] as usize]).sum()
        };
        functions.iter().any(|k| along(*k, moved).abs() < SETTLING_SHARE * along(*k, free).abs())
    }

    /// Forgets what rounding has left of functions on the wrong side of zero.
    pub fn forget_margins(&mut self, functions: &[usize]) {
        functions.iter().for_each(|k| self.margin[*k] = 0.0);
    }

    /// The functions that tolerances of states leave undetermined in the end of a step and that are not followed yet.
    pub fn unfollowed(&self, system: &System<'_>, x: &[f64], tolerance: &Tolerance) -> Vec<usize> {
        let mut found = self.undetermined(system, x, tolerance);
        found.retain(|k| self.followed(*k).is_none());
        found
    }

    /// The derivatives of a function by states where the present modes began.
    pub fn gradient(&self, system: &System<'_>, k: usize) -> Terms {
        let pattern = &system.model.relations_full.pattern;
        pattern.row(k).map(|e| (pattern.at[e] as usize, self.gradients[e])).collect()
    }

    /// Follows those of these functions that tolerances of states leave undetermined over the step that was tried;
    /// tells whether there are any, so that the step has to be judged again.
    pub fn follow(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        (tolerance, noise): (&mut Tolerance, &[f64]),
        doubtful: Vec<usize>,
    ) -> Result<bool, EvaluationError> {
        // Where a law has no value on a frozen branch, nothing is known.
        let start = self.evaluate(system, stages.t, &stages.start).map(|()| self.now.clone());
        self.sample_end(system, stages)?;
        let Ok(start) = start else { return Ok(false) };
        system.relations_full(stages.t + stages.h, &stages.end, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let mut found = Vec::new();
        for k in doubtful {
            let size = self.visited_size(system, k).max(self.now[k].abs());
            let known = known(full, k, by_states, &stages.end, tolerance);
            if known > self.undetermined_share() * size && known.is_finite() {
                let terms: Vec<(usize, f64)> =
                    full.pattern.row(k).map(|e| (full.pattern.at[e] as usize, by_states[e])).collect();
                let rounding = rounding(&terms, &stages.end, noise);
                let size = self.now[k].abs();
                let followed = Followed { function: k, size, start: 0.0, rounding, relaxes: false };
                let width = (tolerance.rtol * size).max(rounding).max(f64::MIN_POSITIVE);
                if width < known {
                    found.push((followed, Bounded { terms, width, counts: true }));
                }
            }
        }
        let new = !found.is_empty();
        for (followed, bounded) in found {
            self.followed.push(Followed { start: start[followed.function], ..followed });
            tolerance.functions.push(bounded);
        }
        Ok(new)
    }

    /// Finds which of the functions that are followed will relax in a step of this size, whose errors there do not
    /// count; tells whether any does.
    pub fn find_relaxing(&mut self, stages: &Stages, step: f64, tolerance: &mut Tolerance) -> bool {
        for (followed, bounded) in self.followed.iter_mut().zip(&mut tolerance.functions) {
            let rates = stages.rates(0);
            let rate: f64 = bounded.terms.iter().map(|(i, derivative)| derivative * rates[*i]).sum();
            followed.relaxes =
                (step * rate).abs() > RELAXING_CHANGE * followed.size.max(followed.start.abs());
            bounded.counts = !followed.relaxes;
        }
        self.followed.iter().any(|followed| followed.relaxes)
    }

    /// Whether a function relaxes in the step that is tried.
    pub(super) fn relaxes(&self, k: usize) -> bool {
        self.followed(k).is_some_and(|followed| followed.relaxes)
    }

    /// Records how large the functions that are followed are at the end of a step that was taken.
    pub fn update_followed(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (tolerance, noise): (&mut Tolerance, &[f64]),
    ) -> Result<(), EvaluationError> {
        if self.followed.is_empty() {
            return Ok(());
        }
        self.evaluate(system, t, x)?;
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let mut kept = Vec::with_capacity(self.followed.len());
        for (mut followed, mut bounded) in self.followed.drain(..).zip(tolerance.functions.drain(..)) {
            let k = followed.function;
            followed.start = self.now[k];
            followed.size = self.now[k].abs().max(FUNCTION_MEMORY * followed.size);
            bounded.terms.clear();
            bounded.terms.extend(full.pattern.row(k).map(|e| (full.pattern.at[e] as usize, by_states[e])));
            followed.rounding = rounding(&bounded.terms, x, noise);
            bounded.width = (tolerance.rtol * followed.size).max(followed.rounding).max(f64::MIN_POSITIVE);
            kept.push((followed, bounded));
        }
        // What has grown is determined well enough.
        let share = self.undetermined_share();
        kept.retain(|(followed, _)| {
            let known = known(full, followed.function, by_states, x, tolerance);
            known > share * followed.size
        });
        (self.followed, tolerance.functions) = kept.into_iter().unzip();
        Ok(())
    }
}

/// To what a function is known by tolerances of the states that it reads.
fn known(full: &Linearised, k: usize, by_states: &[f64], x: &[f64], tolerance: &Tolerance) -> f64 {
    let term = |e: usize| {
        let i = full.pattern.at[e] as usize;
        by_states[e].abs() * (tolerance.atol[i] + tolerance.rtol * x[i].abs())
    };
    full.pattern.row(k).map(term).sum()
}

/// What rounding of the states that a function reads makes of it, and of rates that cancel where they are held, which
/// moves them by their noise: closer it cannot be followed.
fn rounding(terms: &[(usize, f64)], x: &[f64], noise: &[f64]) -> f64 {
    let moved = |i: usize| (FUNCTION_ROUNDING * x[i].abs()).max(noise[i]);
    terms.iter().map(|(i, derivative)| derivative.abs() * moved(*i)).sum()
}
