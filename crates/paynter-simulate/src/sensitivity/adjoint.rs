//! The gradient of a cost by the adjoint method: one run forward that is
//! recorded, one sweep back through its steps. The work does not grow with
//! the number of parameters but for one product with ∂f/∂p in each stage.
//!
//! The sweep differentiates the steps themselves (the discrete adjoint), so
//! that it agrees with forward sensitivities over the same steps; at an event
//! the jump of forward sensitivities is transposed.

use crate::integrator::Integrator;
use crate::method::Stages;
use crate::method::implicit::stage_matrix;
use crate::method::tableau::Tableau;
use crate::sensitivity::projection::Projection;
use crate::sensitivity::times;
use crate::system::{EvaluationError, Snapshot, System, Values};
use crate::tolerance::{ADJOINT_HALVINGS, ADJOINT_ITERATIONS, ADJOINT_STEP};
use crate::{Compiled, Failure, Note, Options, Outcome};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::Factors;
use paynter_numerics::newton::{Iteration, Limits, Progress, iterate};
use paynter_numerics::program::Tables;

/// Where a run has been. What satisfies the equations of its unknowns may be one of several solutions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub t: f64,
    pub x: Vec<f64>,
    pub unknowns: Vec<f64>,
}

/// What is recorded of a run, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// A step.
    Step { from: Place, h: f64, tableau: &'static Tableau },
    /// A sample within the step before.
    Inner { at: Place, theta: f64 },
    /// A sample between steps.
    Node { at: Place },
    /// Events at one time: the rates before, and of each event its function and the jump f⁻ − f⁺ of the
    /// vector field.
    Event { at: Place, before: Vec<f64>, rate_jumps: Vec<(usize, Vec<f64>)> },
    /// The state jumps, which only forward sensitivities follow.
    Jump,
    /// The start lies on sliding surfaces, onto which what begins beside them comes back.
    Projection(Projection),
    /// Parameters, modes, tables and surfaces from here on.
    Modes(Snapshot),
}

/// A cost and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// The cost.
    pub cost: f64,
    /// Its derivatives, in the order of [`Compiled::wanted`].
    pub by: Vec<f64>,
    /// How the run forward went; without an end there is no gradient.
    pub outcome: Outcome,
}

/// One sample's part of a cost: of its number, time and outputs; writes its derivatives by the outputs.
pub type Cost<'a> = dyn FnMut(usize, f64, &[f64], &mut [f64]) -> f64 + 'a;

/// Calculates the gradient of a cost, a sum over the samples of a run.
pub fn gradient(
    model: &Compiled,
    parameters: &[f64],
    tables: &Tables,
    options: &Options,
    token: &CancellationToken,
    cost: &mut Cost<'_>,
) -> Gradient {
    let mut total = 0.0;
    let mut derivatives: Vec<Vec<f64>> = Vec::new();
    let integrator = Integrator::recording(model, parameters, tables, options);
    let (mut outcome, tape) = integrator.record(token, &mut |sample| {
        let mut derivative = vec![0.0; sample.outputs.len()];
        total += cost(derivatives.len(), sample.t, sample.outputs, &mut derivative);
        derivatives.push(derivative);
    });
    let mut by = vec![0.0; model.wanted.len()];
    if outcome.failure.is_none() && tape.contains(&Entry::Jump) {
        let mut derivatives = derivatives.iter();
        outcome = crate::simulate(model, parameters, None, tables, options, token, &mut |sample| {
            let rows =
                sample.sensitivities.chunks(by.len().max(1)).zip(derivatives.next().into_iter().flatten());
            for (row, derivative) in rows {
                by.iter_mut().zip(row).for_each(|(by, s)| *by += derivative * s);
            }
        });
    } else if outcome.failure.is_none() {
        let mut sweep = Sweep::new(model, parameters, tables);
        let result = sweep.run(&tape, &derivatives, token);
        match result {
            Ok(()) => {
                let singular = sweep.singular;
                by = sweep.finish(model, parameters);
                if let Some((t, state)) = singular {
                    let lost = (0..by.len()).filter(|lane| !by[*lane].is_finite());
                    outcome.notes.extend(lost.map(|lane| Note::InfiniteDerivative { t, lane, state }));
                }
            }
            Err(failure) => outcome.failure = Some(failure),
        }
    }
    Gradient { cost: total, by, outcome }
}

/// The adjoint sweep, back through a recorded run.
struct Sweep<'a> {
    system: System<'a>,
    /// The derivative of the rest of the cost by the state.
    lambda: Vec<f64>,
    by: Vec<f64>,
    outputs: Values,
    relations: Values,
    factors: Option<Factors>,
    /// Samples of the step that comes next: their places in it, and the derivatives of their costs by the state.
    inner: Vec<(f64, Vec<f64>)>,
    /// The first time of an infinite derivative, and the state by which it is.
    singular: Option<(f64, Option<usize>)>,
}

impl<'a> Sweep<'a> {
    fn new(model: &'a Compiled, parameters: &[f64], tables: &'a Tables) -> Sweep<'a> {
        Sweep {
            system: System::new(model, parameters, tables),
            lambda: vec![0.0; model.states.len()],
            by: vec![0.0; model.wanted.len()],
            outputs: Values::default(),
            relations: Values::default(),
            factors: None,
            inner: Vec::new(),
            singular: None,
        }
    }

    fn run(
        &mut self,
        tape: &[Entry],
        derivatives: &[Vec<f64>],
        token: &CancellationToken,
    ) -> Result<(), Failure> {
        // The modes before each place where they change.
        let mut modes: Vec<&Snapshot> = tape
            .iter()
            .filter_map(|entry| match entry {
                Entry::Modes(modes) => Some(modes),
                _ => None,
            })
            .collect();
        if let Some(last) = modes.last() {
            self.restore(last);
        }
        let mut sample = derivatives.len();
        for entry in tape.iter().rev() {
            token.check().map_err(|_| Failure::Cancelled)?;
            let t = match entry {
                Entry::Step { from: at, .. }
                | Entry::Inner { at, .. }
                | Entry::Node { at }
                | Entry::Event { at, .. } => at.t,
                Entry::Modes(_) | Entry::Jump | Entry::Projection(_) => 0.0,
            };
            let done = match entry {
                Entry::Jump => Ok(()),
                Entry::Projection(projection) => {
                    projection.transpose(&mut self.lambda);
                    Ok(())
                }
                Entry::Modes(_) => {
                    modes.pop();
                    if let Some(before) = modes.last() {
                        self.restore(before);
                    }
                    Ok(())
                }
                Entry::Node { at } => {
                    sample -= 1;
                    self.state_derivative(at, &derivatives[sample])
                        .map(|state_derivative| add(&mut self.lambda, &state_derivative))
                }
                Entry::Inner { at, theta } => {
                    sample -= 1;
                    self.state_derivative(at, &derivatives[sample])
                        .map(|state_derivative| self.inner.push((*theta, state_derivative)))
                }
                Entry::Event { at, before, rate_jumps } => self.events(at, before, rate_jumps),
                Entry::Step { from, h, tableau } => self.step(from, *h, tableau),
            };
            done.map_err(|error| error.at(t))?;
        }
        Ok(())
    }

    /// The derivative of a sample's part of the cost by the state; that by parameters is added at once.
    fn state_derivative(&mut self, at: &Place, derivative: &[f64]) -> Result<Vec<f64>, EvaluationError> {
        self.system.end_step();
        self.system.set_unknowns(&at.unknowns);
        self.system.outputs_full(at.t, &at.x, &mut self.outputs)?;
        let outputs = &self.system.model.outputs_full;
        let by_states = outputs.by_states(&self.outputs.data);
        let mut state_derivative = vec![0.0; at.x.len()];
        for (row, derivative) in derivative.iter().enumerate() {
            for e in outputs.pattern.row(row) {
                state_derivative[outputs.pattern.at[e] as usize] += by_states[e] * derivative;
            }
        }
        for ((row, lane), value) in outputs.forcing.iter().zip(outputs.by_parameters(&self.outputs.data)) {
            self.by[*lane] += value * derivative[*row];
        }
        Ok(state_derivative)
    }

    /// Goes back to equations of before.
    fn restore(&mut self, modes: &Snapshot) {
        let model: *const Compiled = self.system.model;
        self.system.restore(modes);
        if !std::ptr::eq(model, self.system.model) {
            self.factors = None;
        }
    }

    /// The transposed saltation of events at one time: λ⁻ = λ⁺ − Σ h_xᵀ (λ⁺·(f⁻ − f⁺))/ḣ.
    fn events(
        &mut self,
        at: &Place,
        before: &[f64],
        rate_jumps: &[(usize, Vec<f64>)],
    ) -> Result<(), EvaluationError> {
        self.system.end_step();
        self.system.set_unknowns(&at.unknowns);
        self.system.relations_full(at.t, &at.x, &mut self.relations)?;
        let full = &self.system.model.relations_full;
        let by_states = full.by_states(&self.relations.data);
        let by_parameters = full.by_parameters(&self.relations.data);
        let time = self.system.model.wanted.len();
        let after = self.lambda.clone();
        for (event, jump) in rate_jumps {
            let strength: f64 = after.iter().zip(jump).map(|(lambda, jump)| times(*lambda, *jump)).sum();
            let own = || full.forcing.iter().zip(by_parameters).filter(|((row, _), _)| row == event);
            let mut derivative: f64 =
                own().filter(|((_, lane), _)| *lane == time).map(|(_, value)| value).sum();
            for e in full.pattern.row(*event) {
                derivative += by_states[e] * before[full.pattern.at[e] as usize];
            }
            if derivative == 0.0 || strength == 0.0 {
                continue;
            }
            for e in full.pattern.row(*event) {
                self.lambda[full.pattern.at[e] as usize] -= by_states[e] * strength / derivative;
            }
            for ((_, lane), value) in own() {
                if *lane < time {
                    self.by[*lane] -= value * strength / derivative;
                }
            }
        }
        Ok(())
    }

    /// Evaluates the stages of a step that was taken.
    fn repeat(&mut self, stages: &mut Stages) -> Result<(), EvaluationError> {
        stages.base(0);
        self.system.predict_unknowns(0.0);
        stages.evaluate(&mut self.system, 0)?;
        let last = stages.tableau.stages - 1;
        for i in 1..self.count(stages.tableau) {
            stages.base(i);
            if i > last {
                self.system.predict_unknowns(stages.tableau.c[i]);
            }
            if stages.tableau.gamma != 0.0 {
                self.solve_stage(stages, i)?;
            } else {
                stages.evaluate(&mut self.system, i)?;
            }
            if i == last {
                self.system.set_step_end();
            }
        }
        Ok(())
    }

    /// The number of stages that a step has: those for interpolation only where it holds samples.
    fn count(&self, tableau: &Tableau) -> usize {
        if self.inner.is_empty() { tableau.stages } else { tableau.all_stages() }
    }

    /// Back through the stages of a step.
    fn step(&mut self, from: &Place, h: f64, tableau: &'static Tableau) -> Result<(), EvaluationError> {
        let (t, x, n) = (from.t, &from.x, from.x.len());
        self.system.set_step_start(&from.unknowns);
        let model = self.system.model;
        let last = tableau.stages - 1;
        let implicit = tableau.gamma != 0.0;
        let mut stages = Stages::new(tableau, n, true);
        stages.open(t, x, h);
        let mut done = self.repeat(&mut stages);
        // As on the way forward, a frozen branch may have no value beyond its event.
        if done.is_err() && self.system.follow_modes(true) {
            done = self.repeat(&mut stages);
            self.system.follow_modes(false);
        }
        if matches!(done, Err(EvaluationError::NoSolution(_))) && self.system.guess_unknowns(t, x).is_ok() {
            done = self.repeat(&mut stages);
        }
        done?;
        let count = self.count(tableau);
        // The adjoint of each stage's rate.
        let mut adjoints = vec![vec![0.0; n]; count];
        for (i, factor) in tableau.a[last].iter().chain(&[(last, tableau.gamma)]) {
            scaled(&mut adjoints[*i], h * factor, &self.lambda);
        }
        let inner = std::mem::take(&mut self.inner);
        for (theta, state_derivative) in &inner {
            let mut weights = Vec::new();
            tableau.weights(*theta, &mut weights);
            for (i, weight) in &weights {
                scaled(&mut adjoints[*i], h * weight, state_derivative);
            }
            add(&mut self.lambda, state_derivative);
        }
        let full = &model.full;
        for i in (0..count).rev() {
            let mut u = std::mem::take(&mut adjoints[i]);
            if u.iter().all(|v| *v == 0.0) {
                continue;
            }
            let values = &stages.values[i].data;
            let by_states = full.by_states(values);
            if implicit && i > 0 {
                let k = h * tableau.gamma;
                let factors = self.factors.get_or_insert_with(|| Factors::analyse(&full.pattern));
                if factors.factorise(&full.pattern, by_states, stage_matrix(k)).is_err() {
                    return Err(EvaluationError::NotFinite(0));
                }
                factors.solve_transposed(&mut u);
            }
            for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(values)) {
                self.by[*lane] += times(u[*row], *value);
            }
            let mut back = vec![0.0; n];
            for (row, u) in u.iter().enumerate().filter(|(_, u)| **u != 0.0) {
                for e in full.pattern.row(row) {
                    back[full.pattern.at[e] as usize] += by_states[e] * u;
                }
            }
            if let Some(singular) = &stages.values[i].singular {
                // The adjoint of a state along an infinite derivative has no value here, where no error controls steps.
                singular.passed.iter().for_each(|state| back[*state] = f64::NAN);
                singular.lanes.iter().for_each(|lane| self.by[*lane] = f64::NAN);
                self.singular = Some((t, singular.passed.first().copied()));
            }
            add(&mut self.lambda, &back);
            for (j, a) in &tableau.a[i] {
                scaled(&mut adjoints[*j], h * a, &back);
            }
        }
        Ok(())
    }

    /// Solves an implicit stage to rounding, from its base in `scratch`. Where a law has no value the way
    /// from the last place where it had one is halved.
    fn solve_stage(&mut self, stages: &mut Stages, i: usize) -> Result<(), EvaluationError> {
        let k = stages.h * stages.tableau.gamma;
        let base = stages.scratch.clone();
        stages.advance(i - 1, k);
        let inside = stages.start.clone();
        let full = &self.system.model.full;
        let factors = self.factors.get_or_insert_with(|| Factors::analyse(&full.pattern));
        let mut search = StageIteration {
            system: &mut self.system,
            factors,
            stages,
            stage: (i, k),
            base,
            inside,
            change: Vec::new(),
            small: false,
            iterations: 0,
            halvings: 0,
        };
        iterate(&mut search, ADJOINT_LIMITS)?;
        let base = search.base;
        stages.solved(i, &base, k);
        Ok(())
    }

    /// Adds what the initial states are adjoints.
    fn finish(mut self, model: &Compiled, parameters: &[f64]) -> Vec<f64> {
        let n = model.states.len();
        let mut start = vec![0.0; model.initial.results()];
        model.initial.run(&parameters[..model.parameters.min(parameters.len())], &mut Vec::new(), &mut start);
        for ((row, lane), value) in model.initial_places.iter().zip(&start[n..]) {
            self.by[*lane] += times(self.lambda[*row], *value);
        }
        for (lane, wanted) in model.wanted.iter().enumerate() {
            if let crate::Wanted::Initial(state) = wanted {
                self.by[lane] += self.lambda[*state];
            }
        }
        self.by
    }
}

/// Corrections are whole; the count of iterations begins again after each halving.
const ADJOINT_LIMITS: Limits =
    Limits { iterations: ADJOINT_ITERATIONS * (ADJOINT_HALVINGS + 1), smallest_damping: 1.0 };

/// The iteration of an implicit stage to rounding, with a Jacobian of each iterate.
struct StageIteration<'a, 'm> {
    system: &'a mut System<'m>,
    factors: &'a mut Factors,
    stages: &'a mut Stages,
    /// Its index, and hγ.
    stage: (usize, f64),
    base: Vec<f64>,
    /// The last place where the laws had values.
    inside: Vec<f64>,
    change: Vec<f64>,
    small: bool,
    iterations: usize,
    halvings: usize,
}

impl Iteration for StageIteration<'_, '_> {
    type Error = EvaluationError;

    fn correct(&mut self, _: usize) -> Result<Progress, EvaluationError> {
        let ((i, k), stages) = (self.stage, &mut *self.stages);
        let at = stages.t + stages.tableau.c[i] * stages.h;
        while let Err(error) = self.system.full(at, &stages.scratch, &mut stages.values[i]) {
            if self.halvings == ADJOINT_HALVINGS {
                return Err(error);
            }
            stages.scratch.iter_mut().zip(&self.inside).for_each(|(x, inside)| *x = 0.5 * (*x + inside));
            (self.iterations, self.halvings) = (0, self.halvings + 1);
        }
        self.iterations += 1;
        self.inside.clone_from(&stages.scratch);
        let (full, values) = (&self.system.model.full, &stages.values[i].data);
        if self.factors.factorise(&full.pattern, full.by_states(values), stage_matrix(k)).is_err() {
            return Err(EvaluationError::NotFinite(0));
        }
        self.change =
            (0..self.base.len()).map(|j| self.base[j] + k * values[j] - stages.scratch[j]).collect();
        self.factors.solve(&mut self.change);
        Ok(Progress::Continue)
    }

    fn advance(&mut self, _: f64) -> Result<bool, EvaluationError> {
        self.small = true;
        for (x, change) in self.stages.scratch.iter_mut().zip(&self.change) {
            self.small &= change.abs() <= ADJOINT_STEP * x.abs().max(ADJOINT_STEP);
            *x += change;
        }
        Ok(true)
    }

    fn judge_move(&mut self, _: f64) -> Result<Progress, EvaluationError> {
        let ended = self.small || self.iterations == ADJOINT_ITERATIONS;
        Ok(if ended { Progress::Converged } else { Progress::Continue })
    }
}

fn add(to: &mut [f64], what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(a, b)| *a += b);
}

fn scaled(to: &mut [f64], factor: f64, what: &[f64]) {
    if factor != 0.0 {
        to.iter_mut().zip(what).for_each(|(a, b)| *a += factor * b);
    }
}
