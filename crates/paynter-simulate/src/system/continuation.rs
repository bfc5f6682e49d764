//! Continuation of implicit unknowns from the start of a step to its end, on
//! one of perhaps several branches of solutions.

use super::{EvaluationError, System};
use crate::tolerance::{DISTINCT_SOLUTIONS, UNKNOWN_CANCELLATION};

impl System<'_> {
    /// Takes the unknowns of the present point for those at the start of the next step.
    pub fn begin_steps(&mut self) {
        self.step_start.clear();
        self.step_start.extend_from_slice(&self.fast[self.fast.len() - self.model.unknowns.len()..]);
        self.step_end.clear();
        self.scale = 0.0;
        self.stepping = false;
    }

    /// Ends a step: what comes is an event.
    pub fn end_step(&mut self) {
        self.stepping = false;
    }

    /// Takes the unknowns of the present point for those at the end of the step.
    pub fn set_step_end(&mut self) {
        self.step_end.clear();
        self.step_end.extend_from_slice(&self.fast[self.fast.len() - self.model.unknowns.len()..]);
    }

    /// The unknowns at the end of the present step.
    pub fn end_unknowns(&self) -> &[f64] {
        &self.step_end
    }

    /// The unknowns at the start of the present step.
    pub fn start_unknowns(&self) -> &[f64] {
        &self.step_start
    }

    /// The unknowns of the present point.
    pub fn unknowns(&self) -> &[f64] {
        &self.fast[self.fast.len() - self.model.unknowns.len()..]
    }

    /// Sets the unknowns from which the next evaluation solves.
    pub fn set_unknowns(&mut self, unknowns: &[f64]) {
        let start = self.fast.len() - self.model.unknowns.len();
        self.fast[start..].copy_from_slice(unknowns);
    }

    /// Sets the unknowns at the start of a step that was taken before.
    pub fn set_step_start(&mut self, unknowns: &[f64]) {
        self.step_start.clear();
        self.step_start.extend_from_slice(unknowns);
        self.step_end.clear();
    }

    /// Whether the unknowns at the end of a step are the continuation of those at its start, rather than
    /// another solution of the same equations: seen from the end, those at the start are found again.
    pub fn check_continuation(
        &mut self,
        (t, x): (f64, &[f64]),
        (to, end): (f64, &[f64]),
    ) -> Result<(), EvaluationError> {
        let m = self.model.unknowns.len();
        if m == 0 || self.following {
            self.step_end.clear();
            return Ok(());
        }
        self.set_point(to, end)?;
        self.set_step_end();
        let start = self.fast.len() - m;
        if self.step_start.len() != m || self.set_point(t, x).is_err() {
            return Ok(());
        }
        let level = self.step_start.iter().chain(&self.step_end).fold(0.0f64, |level, z| level.max(z.abs()));
        let lost = |i: &usize| {
            let (before, after) = (self.step_start[*i], self.step_end[*i]);
            let missed = (self.fast[start + i] - before).abs();
            missed > 0.5 * (after - before).abs()
                && missed > (DISTINCT_SOLUTIONS * level).max(UNKNOWN_CANCELLATION)
        };
        // A mode on a surface may be of no consequence, and then is not determined.
        let lost = (0..self.own.unknowns.len()).find(lost);
        self.fast[start..].copy_from_slice(&self.step_end);
        lost.map_or(Ok(()), |unknown| Err(EvaluationError::NoSolution(unknown)))
    }

    /// Predicts the unknowns within the step from those at its ends, as far as they are known.
    pub fn predict_unknowns(&mut self, theta: f64) {
        let m = self.model.unknowns.len();
        if m == 0 || self.step_start.len() != m {
            return;
        }
        self.stepping = true;
        let start = self.fast.len() - m;
        for (i, z) in self.fast[start..].iter_mut().enumerate() {
            let before = self.step_start[i];
            *z = before + theta * (self.step_end.get(i).unwrap_or(&before) - before);
        }
    }

    /// Takes the end of the last step, which is at this time whatever rounding makes of its length, for the start of the
    /// next one.
    pub fn accept_step(&mut self, t: f64) {
        if let Some(at) = self.branched_at.first_mut() {
            *at = t;
        }
        std::mem::swap(&mut self.step_start, &mut self.step_end);
        self.step_end.clear();
    }
}
