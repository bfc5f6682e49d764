//! A diagonally implicit, L-stable Runge–Kutta method for stiff models.
//!
//! Each stage solves x = base + hγ·f(x) by Newton's method with the factors
//! of 1 − hγJ. With sensitivities every stage gets factors of its own, which
//! then solve its sensitivities for all parameters without iteration.

use crate::method::tableau::Tableau;
use crate::method::{Solver, Stages, Tolerance};
use crate::system::{EvaluationError, System, Values};
use crate::tolerance::{
    LINEAR_STAGE_ROUNDING, STAGE_CONVERGENCE, STAGE_CONVERGENCE_AT_ONCE, STAGE_DIVERGENCE, STAGE_ITERATIONS,
    STAGE_PIVOT, STAGE_RATIO,
};
use paynter_numerics::linalg::{Factors, Form};
use paynter_numerics::newton::{Iteration, Limits, Progress, iterate};

/// The matrix 1 − k·J of an implicit stage.
pub(crate) fn stage_matrix(k: f64) -> Form {
    Form { unit: 1.0, scale: -k, least: STAGE_PIVOT }
}

/// An implicit method.
pub(crate) struct Implicit {
    stages: Stages,
    /// Factors of each stage; the first serves Newton's method where there are no sensitivities.
    factors: Vec<Factors>,
    /// The step and modes that the factors of a linear model belong to.
    factored: Option<(f64, u32)>,
    /// Where there are no sensitivities, the derivatives at the start of a step, and its time and modes.
    values: Values,
    known: Option<(f64, u32)>,
    /// When it began anew, and the derivatives at the end of the first stage from there.
    begun: f64,
    ahead: Values,
    change: Vec<f64>,
    base: Vec<f64>,
    rate: Vec<f64>,
}

impl Implicit {
    pub fn new(system: &System<'_>, sensitive: bool) -> Implicit {
        let n = system.model.states.len();
        let tableau = Tableau::kvaerno5();
        let factors = Factors::analyse(&system.model.full.pattern);
        Implicit {
            stages: Stages::new(tableau, n, sensitive),
            factors: vec![factors; tableau.all_stages()],
            factored: None,
            values: Values::default(),
            known: None,
            begun: f64::NAN,
            ahead: Values::default(),
            change: vec![0.0; n],
            base: vec![0.0; n],
            rate: vec![0.0; n],
        }
    }

    /// Solves stage `i`, and with sensitivities finds the factors that belong to it; tells whether that
    /// went well. The factors of the stage `with` serve Newton's method.
    fn stage(
        &mut self,
        system: &mut System<'_>,
        i: usize,
        with: usize,
        tolerance: &Tolerance,
    ) -> Result<bool, EvaluationError> {
        if !self.solve(system, i, with, tolerance)? {
            return Ok(false);
        }
        if !self.stages.sensitive {
            return Ok(true);
        }
        let (stages, full) = (&mut self.stages, &system.model.full);
        let at = stages.t + stages.tableau.c[i] * stages.h;
        system.full(at, &stages.scratch, &mut stages.values[i])?;
        let form = stage_matrix(stages.h * stages.tableau.gamma);
        let by_states = full.by_states(&stages.values[i].data);
        Ok(system.model.linear || self.factors[i].factorise(&full.pattern, by_states, form).is_ok())
    }

    /// Differentiates where the rates of the start lead in a stage. At a root that is zero the derivatives of the
    /// start are as good as infinite: with them corrections vanish, whatever is left of the equations.
    fn differentiate_ahead(&mut self, system: &mut System<'_>, t: f64, x: &[f64], k: f64) -> bool {
        let rates = &self.stages.k[..x.len()];
        let along: Vec<f64> = x.iter().zip(rates).map(|(x, rate)| x + k * rate).collect();
        let found = system.full(t + k, &along, &mut self.ahead).is_ok();
        system.predict_unknowns(0.0);
        found
    }

    /// Solves stage `i`; the factors `with` serve Newton's method.
    fn solve(
        &mut self,
        system: &mut System<'_>,
        i: usize,
        with: usize,
        tolerance: &Tolerance,
    ) -> Result<bool, EvaluationError> {
        let stages = &mut self.stages;
        let k = stages.h * stages.tableau.gamma;
        let t = stages.t + stages.tableau.c[i] * stages.h;
        stages.base(i);
        self.base.copy_from_slice(&stages.scratch);
        for (j, guess) in stages.tableau.guess[i].iter().enumerate() {
            stages.advance(j, k * guess);
        }
        let mut search = StageIteration {
            system,
            stages,
            factors: &mut self.factors[with],
            tolerance,
            base: &self.base,
            rate: &mut self.rate,
            change: &mut self.change,
            at: (t, k),
            iteration: 0,
            size: 0.0,
            last: f64::INFINITY,
        };
        let converged = iterate(&mut search, STAGE_LIMITS)?;
        if converged {
            self.stages.solved(i, &self.base, k);
        }
        Ok(converged)
    }
}

/// Corrections of a stage are whole: a shorter step is cheaper than damping.
const STAGE_LIMITS: Limits = Limits { iterations: STAGE_ITERATIONS, smallest_damping: 1.0 };

/// The iteration of a stage, with factors of an earlier Jacobian.
struct StageIteration<'a, 'm> {
    system: &'a mut System<'m>,
    stages: &'a mut Stages,
    factors: &'a mut Factors,
    tolerance: &'a Tolerance,
    base: &'a [f64],
    rate: &'a mut [f64],
    change: &'a mut [f64],
    /// The time, and hγ.
    at: (f64, f64),
    iteration: usize,
    /// The size of the correction in tolerances, and that of the one before.
    size: f64,
    last: f64,
}

impl Iteration for StageIteration<'_, '_> {
    type Error = EvaluationError;

    fn correct(&mut self, iteration: usize) -> Result<Progress, EvaluationError> {
        self.iteration = iteration;
        let (t, k) = self.at;
        self.system.rates(t, &self.stages.scratch, self.rate)?;
        for j in 0..self.change.len() {
            self.change[j] = self.base[j] + k * self.rate[j] - self.stages.scratch[j];
        }
        self.factors.solve(self.change);
        // In one measure throughout: beside an iterate that runs away, the way back would look short.
        self.size = self.tolerance.norm(self.change, self.base, &self.stages.start);
        Ok(if self.size.is_finite() { Progress::Continue } else { Progress::Failed })
    }

    fn advance(&mut self, _: f64) -> Result<bool, EvaluationError> {
        for (x, change) in self.stages.scratch.iter_mut().zip(&*self.change) {
            *x += change;
        }
        Ok(true)
    }

    fn judge_move(&mut self, _: f64) -> Result<Progress, EvaluationError> {
        let (iteration, size) = (self.iteration, self.size);
        let ratio = size / self.last;
        let left = match iteration {
            // The first correction of a linear model leaves rounding only.
            0 if self.system.is_linear() => LINEAR_STAGE_ROUNDING * size,
            0 => size,
            _ => size * ratio / (1.0 - ratio.min(STAGE_RATIO)),
        };
        self.last = size;
        Ok(if left <= STAGE_CONVERGENCE || size <= STAGE_CONVERGENCE_AT_ONCE {
            Progress::Converged
        } else if ratio > STAGE_DIVERGENCE && iteration > 1 {
            Progress::Failed
        } else {
            Progress::Continue
        })
    }
}

impl Solver for Implicit {
    fn tableau(&self) -> &'static Tableau {
        self.stages.tableau
    }

    fn begin(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        self.factored = None;
        self.known = None;
        self.stages.open(t, x, 0.0);
        let start = if self.stages.sensitive { &mut self.stages.values[0] } else { &mut self.values };
        system.full(t, x, start)?;
        self.stages.k[..x.len()].copy_from_slice(&start.data[..x.len()]);
        self.known = Some((t, system.epoch()));
        self.begun = t;
        Ok(())
    }

    fn step(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        h: f64,
        tolerance: &Tolerance,
    ) -> Result<f64, EvaluationError> {
        let model = system.model;
        self.stages.open(t, x, h);
        let k = h * self.stages.tableau.gamma;
        let last = self.stages.tableau.stages - 1;
        let sensitive = self.stages.sensitive;
        if !(model.linear && self.factored == Some((k, system.epoch()))) {
            // With sensitivities the derivatives are those of the last stage before.
            if !sensitive && self.known != Some((t, system.epoch())) {
                system.full(t, x, &mut self.values)?;
                self.known = Some((t, system.epoch()));
            }
            let from_zero = self.begun == t && !model.regularisations.is_empty();
            let start = match from_zero && self.differentiate_ahead(system, t, x, k) {
                true => &self.ahead,
                false if sensitive => &self.stages.values[0],
                false => &self.values,
            };
            let by_states = model.full.by_states(&start.data);
            if self.factors[0].factorise(&model.full.pattern, by_states, stage_matrix(k)).is_err() {
                return Ok(f64::INFINITY);
            }
            if model.linear {
                let (first, rest) = self.factors.split_at_mut(1);
                rest.iter_mut().for_each(|factors| factors.clone_from(&first[0]));
            }
            self.factored = Some((k, system.epoch()));
        }
        for i in 1..=last {
            // The latest factors there are.
            let with = if sensitive { i - 1 } else { 0 };
            if !self.stage(system, i, with, tolerance)? {
                return Ok(f64::INFINITY);
            }
            if i + 1 == last {
                self.stages.before.copy_from_slice(&self.stages.scratch);
            }
        }
        self.stages.end.copy_from_slice(&self.stages.scratch);
        Ok(self.stages.error(tolerance))
    }

    fn extend(&mut self, system: &mut System<'_>, tolerance: &Tolerance) -> Result<(), EvaluationError> {
        let with = if self.stages.sensitive { self.stages.tableau.stages - 1 } else { 0 };
        for i in self.stages.missing() {
            system.predict_unknowns(self.stages.tableau.c[i]);
            if !self.stage(system, i, with, tolerance)? {
                return Err(EvaluationError::StageNotConverged(largest(&self.change)));
            }
        }
        self.stages.extended = true;
        Ok(())
    }

    fn stages(&mut self) -> &mut Stages {
        &mut self.stages
    }

    fn jacobian(&self) -> &[f64] {
        if self.stages.sensitive { &self.stages.values[0].data } else { &self.values.data }
    }

    fn filter(&mut self, change: &mut [f64]) {
        self.factors[0].solve(change);
    }

    fn parts(&self) -> (&Stages, Option<&[Factors]>) {
        (&self.stages, Some(&self.factors))
    }
}

/// The place of the largest entry; one that is no number counts as that.
fn largest(list: &[f64]) -> usize {
    (0..list.len()).max_by(|a, b| list[*a].abs().total_cmp(&list[*b].abs())).unwrap_or(0)
}
