//! Entering and exiting sliding modes (Filippov).

use super::{ZeroCrossingDetector, sign};
use crate::system::{EvaluationError, System};

impl ZeroCrossingDetector {
    /// Enters sliding along a surface, if a multiplier keeps the motion there.
    pub(super) fn enter_sliding(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        j: usize,
        rate: f64,
    ) -> Result<(), EvaluationError> {
        let surface = &system.surfaces()[j];
        if surface.excluded.iter().any(|other| system.slides_along(*other)) {
            return Ok(());
        }
        let k = surface.relation;
        if system.mode(k) == 0.0 {
            system.set_mode(k, 1.0);
        }
        system.set_sliding(j, rate);
        let solved =
            self.evaluate(system, t, x).is_ok() || system.solve_complementarity(t, x, &[], &[]).is_ok();
        let several = (0..system.surfaces().len()).filter(|j| system.slides_along(*j)).count() > 1;
        // What others hold at zero already does not determine a multiplier of its own.
        if !solved || (several && system.slides_along(j) && !system.is_determined()) {
            system.set_sliding(j, 0.0);
            self.evaluate(system, t, x)?;
        }
        Ok(())
    }

    /// Exits sliding to the side that the multiplier points to; returns the function of the surface.
    pub fn exit_sliding(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        j: usize,
    ) -> Result<usize, EvaluationError> {
        let k = system.surfaces()[j].relation;
        self.evaluate(system, t, x)?;
        system.set_mode(k, sign(system.multiplier(j)));
        self.margin[k] = 2.0 * self.now[k].abs() + f64::MIN_POSITIVE;
        system.set_sliding(j, 0.0);
        Ok(k)
    }
}
