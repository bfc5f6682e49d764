//! Explicit Runge–Kutta methods, of fixed and of adapted steps.

use crate::method::tableau::Tableau;
use crate::method::{Solver, Stages, Tolerance};
use crate::system::{EvaluationError, System};
use paynter_numerics::linalg::Factors;

/// An explicit method.
pub(crate) struct Explicit {
    stages: Stages,
}

impl Explicit {
    pub fn new(tableau: &'static Tableau, system: &System<'_>, sensitive: bool) -> Explicit {
        Explicit { stages: Stages::new(tableau, system.model.states.len(), sensitive) }
    }
}

impl Solver for Explicit {
    fn tableau(&self) -> &'static Tableau {
        self.stages.tableau
    }

    fn begin(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        self.stages.open(t, x, 0.0);
        self.stages.base(0);
        self.stages.evaluate(system, 0)
    }

    fn step(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        h: f64,
        tolerance: &Tolerance,
    ) -> Result<f64, EvaluationError> {
        let stages = &mut self.stages;
        stages.open(t, x, h);
        let last = stages.tableau.stages - 1;
        for i in 1..=last {
            stages.base(i);
            if i + 1 == last {
                stages.before.copy_from_slice(&stages.scratch);
            }
            stages.evaluate(system, i)?;
        }
        stages.end.copy_from_slice(&stages.scratch);
        Ok(stages.error(tolerance))
    }

    fn extend(&mut self, system: &mut System<'_>, _: &Tolerance) -> Result<(), EvaluationError> {
        for i in self.stages.missing() {
            self.stages.base(i);
            system.predict_unknowns(self.stages.tableau.c[i]);
            self.stages.evaluate(system, i)?;
        }
        self.stages.extended = true;
        Ok(())
    }

    fn stages(&mut self) -> &mut Stages {
        &mut self.stages
    }

    fn jacobian(&self) -> &[f64] {
        &[]
    }

    fn parts(&self) -> (&Stages, Option<&[Factors]>) {
        (&self.stages, None)
    }
}
