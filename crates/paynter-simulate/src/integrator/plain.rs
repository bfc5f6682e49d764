//! Fixed steps of a model in which nothing can happen within a step: they are taken without looking for it.

use super::Integrator;
use crate::{Failure, Sample};

impl Integrator<'_> {
    /// Whether steps are fixed and no event, corner of a table, sliding motion, implicit unknown or recording has to be
    /// thought of.
    pub(super) fn is_plain(&self) -> bool {
        let model = self.system.model;
        let eventless = model.time_functions.is_empty() && model.pieces.is_empty();
        let steady = !self.is_between_branches() && self.tape.is_none();
        self.options.method.is_fixed() && !self.judged && eventless && steady
    }

    /// Takes a step to `to`; tells whether the equations could be evaluated in it.
    pub(super) fn plain_step(&mut self, to: f64, sink: &mut dyn FnMut(&Sample<'_>)) -> Result<bool, Failure> {
        let step = to - self.t;
        if self.solver.step(&mut self.system, self.t, &self.x, step, &self.tolerance).is_err() {
            return Ok(false);
        }
        self.step_sensitivities(step, to).map_err(|error| self.failure(error))?;
        // Taken again without those that are lost.
        if self.lose_sensitivities() {
            return Ok(true);
        }
        if self.inner > 0 {
            self.emit_points(sink);
        }
        self.move_to(to);
        match self.x.iter().position(|v| !v.is_finite()) {
            Some(state) => Err(Failure::NotFinite { t: self.t, state }),
            None => Ok(true),
        }
    }
}
