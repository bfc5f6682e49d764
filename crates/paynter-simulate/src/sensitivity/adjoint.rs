//! The gradient of a cost by the adjoint method: one run forward that is
//! recorded, one sweep back through its steps. The work does not grow with
//! the number of parameters but for one product with ∂f/∂p in each stage.
//!
//! The sweep differentiates the steps themselves (the discrete adjoint), so
//! that it agrees with forward sensitivities over the same steps, where its
//! error allows them (`control.rs`); at an event the jump of forward
//! sensitivities is transposed.

use crate::integrator::{Integrator, scales};
use crate::method::Stages;
use crate::method::implicit::stage_matrix;
use crate::method::tableau::Tableau;
use crate::sensitivity::control::{Pulled, Sizes};
use crate::sensitivity::projection::Projection;
use crate::sensitivity::times;
use crate::system::{EvaluationError, Snapshot, System, Values};
use crate::tolerance::{
    ADJOINT_ERROR_OF_WHOLE, ADJOINT_HALVINGS, ADJOINT_ITERATIONS, ADJOINT_STEP, ADJOINT_STEP_HALVINGS,
    ADJOINT_STIFFNESS,
};
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
        let mut sweep = Sweep::new(model, parameters, tables, &tape, options);
        let result = sweep.run(&tape, &derivatives, token);
        match result {
            Ok(()) => {
                let singular = sweep.singular;
                by = sweep.finish(model, parameters, tables);
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

/// A step that was taken, or a part of it.
struct Part {
    from: Place,
    h: f64,
    tableau: &'static Tableau,
    /// Samples in it: their places, and the derivatives of their costs by the state.
    inner: Vec<(f64, Vec<f64>)>,
    /// How often the step was halved.
    halvings: u32,
}

impl Part {
    /// The number of stages: those for interpolation only where it holds samples.
    fn count(&self) -> usize {
        if self.inner.is_empty() { self.tableau.stages } else { self.tableau.all_stages() }
    }
}

/// A part of a step that is taken in halves, and what it makes of the adjoints as a whole.
struct Halved {
    /// The error of the whole, in tolerances.
    error: f64,
    reached: Pulled,
    /// How many parts are left when its halves are done.
    left: usize,
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
    /// Samples of the step that comes next.
    inner: Vec<(f64, Vec<f64>)>,
    /// The first time of an infinite derivative, and the state by which it is.
    singular: Option<(f64, Option<usize>)>,
    sizes: Sizes,
    steps_left: u64,
}

impl<'a> Sweep<'a> {
    fn new(
        model: &'a Compiled,
        parameters: &[f64],
        tables: &'a Tables,
        tape: &[Entry],
        options: &Options,
    ) -> Sweep<'a> {
        let system = System::new(model, parameters, tables);
        let start = tape.iter().find_map(|entry| match entry {
            Entry::Step { from, .. } => Some(&from.x[..]),
            _ => None,
        });
        let lanes = start.map_or_else(|| vec![1.0; model.wanted.len()], |x| scales(&system, x));
        Sweep {
            sizes: Sizes::new(tape, model.states.len(), lanes, options.rtol),
            steps_left: options.max_steps.max(2 * tape.len() as u64),
            system,
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
                Entry::Step { from, h, tableau } => {
                    self.step(from, *h, tableau, token)?;
                    continue;
                }
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
    fn repeat(&mut self, stages: &mut Stages, count: usize) -> Result<(), EvaluationError> {
        stages.base(0);
        self.system.predict_unknowns(0.0);
        stages.evaluate(&mut self.system, 0)?;
        let last = stages.tableau.stages - 1;
        for i in 1..count {
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
                stages.end.copy_from_slice(&stages.scratch);
                self.system.set_step_end();
            }
        }
        Ok(())
    }

    /// Back through a step that was taken; in halves where its adjoint is in error, the later one first.
    fn step(
        &mut self,
        from: &Place,
        h: f64,
        tableau: &'static Tableau,
        token: &CancellationToken,
    ) -> Result<(), Failure> {
        let inner = std::mem::take(&mut self.inner);
        inner.iter().for_each(|(_, derivative)| self.sizes.record(derivative));
        self.sizes.record(&self.lambda);
        let mut left = vec![Part { from: from.clone(), h, tableau, inner, halvings: 0 }];
        // The parts that are being taken in halves, outer before inner.
        let mut halved: Vec<Halved> = Vec::new();
        while let Some(part) = left.pop() {
            token.check().map_err(|_| Failure::Cancelled)?;
            let t = part.from.t;
            if self.steps_left == 0 {
                return Err(Failure::TooManySteps { t });
            }
            self.steps_left -= 1;
            if let Err(error) = self.part(part, &mut left, &mut halved) {
                self.take_whole(&mut left, &mut halved).map_err(|()| error.at(t))?;
            }
            while halved.last().is_some_and(|whole| left.len() <= whole.left) {
                halved.pop();
            }
        }
        Ok(())
    }

    /// Back through a part of a step, which is left in halves where its adjoint is in error.
    fn part(
        &mut self,
        part: Part,
        left: &mut Vec<Part>,
        halved: &mut Vec<Halved>,
    ) -> Result<(), EvaluationError> {
        let (t, count) = (part.from.t, part.count());
        let (stages, mut pulled) = self.pull(&part)?;
        let estimates = pulled.split_off(1);
        let Some(Pulled { lambda, by }) = pulled.pop() else { return Ok(()) };
        let error = self.sizes.error(&estimates, &lambda, &self.by);
        let mut by_then = self.by.clone();
        add(&mut by_then, &by);
        if error > 1.0 && part.halvings < ADJOINT_STEP_HALVINGS {
            let reached = Pulled { lambda, by: by_then };
            halved.push(Halved { error, reached, left: left.len() });
            left.extend(self.halve(part, &stages)?);
            return Ok(());
        }
        (self.lambda, self.by) = (lambda, by_then);
        self.sizes.record(&self.lambda);
        if let Some((i, singular)) =
            stages.values.iter().enumerate().find_map(|(i, values)| Some((i, values.singular.as_ref()?)))
            && i < count
        {
            self.singular = Some((t, singular.passed.first().copied()));
        }
        Ok(())
    }

    /// Takes the innermost part whole whose halves lead to where a law has no value, if its error allows that.
    fn take_whole(&mut self, left: &mut Vec<Part>, halved: &mut Vec<Halved>) -> Result<(), ()> {
        while let Some(whole) = halved.pop() {
            if whole.error < ADJOINT_ERROR_OF_WHOLE {
                (self.lambda, self.by) = (whole.reached.lambda, whole.reached.by);
                self.sizes.record(&self.lambda);
                left.truncate(whole.left);
                return Ok(());
            }
        }
        Err(())
    }

    /// The halves of a step. What is far too stiff for an explicit method is repeated by the implicit one.
    fn halve(&mut self, part: Part, stages: &Stages) -> Result<[Part; 2], EvaluationError> {
        let radius = stages.radius(&self.system.model.full).unwrap_or(0.0);
        let stiff = radius > ADJOINT_STIFFNESS * part.tableau.stability;
        let tableau = if stiff { Tableau::kvaerno5() } else { part.tableau };
        let h = 0.5 * part.h;
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        for (theta, derivative) in part.inner {
            match theta < 0.5 {
                true => earlier.push((2.0 * theta, derivative)),
                false => later.push((2.0 * theta - 1.0, derivative)),
            }
        }
        let half = |from, inner| Part { from, h, tableau, inner, halvings: part.halvings + 1 };
        let earlier = half(part.from, earlier);
        let stages = self.retrace(&earlier)?;
        let t = earlier.from.t + h;
        let middle = Place { t, x: stages.end, unknowns: self.system.end_unknowns().to_vec() };
        Ok([earlier, half(middle, later)])
    }

    /// The stages of a step, with their derivatives.
    fn retrace(&mut self, part: &Part) -> Result<Stages, EvaluationError> {
        let Place { t, x, unknowns } = &part.from;
        self.system.set_step_start(unknowns);
        let mut stages = Stages::new(part.tableau, x.len(), true);
        stages.open(*t, x, part.h);
        let count = part.count();
        let mut done = self.repeat(&mut stages, count);
        // As on the way forward, a frozen branch may have no value beyond its event.
        if done.is_err() && self.system.follow_modes(true) {
            done = self.repeat(&mut stages, count);
            self.system.follow_modes(false);
        }
        if matches!(done, Err(EvaluationError::NoSolution(_))) && self.system.guess_unknowns(*t, x).is_ok() {
            done = self.repeat(&mut stages, count);
        }
        done.map(|()| stages)
    }

    /// The stages of a step, and the adjoints at its start with the estimates of their errors.
    fn pull(&mut self, part: &Part) -> Result<(Stages, Vec<Pulled>), EvaluationError> {
        let stages = self.retrace(part)?;
        let (tableau, h, n) = (part.tableau, part.h, self.lambda.len());
        let last = tableau.stages - 1;
        let count = part.count();
        // The adjoint of each stage's rate.
        let mut adjoints = vec![vec![0.0; n]; count];
        for (i, factor) in tableau.a[last].iter().chain(&[(last, tableau.gamma)]) {
            scaled(&mut adjoints[*i], h * factor, &self.lambda);
        }
        let mut lambda = self.lambda.clone();
        for (theta, derivative) in &part.inner {
            let mut weights = Vec::new();
            tableau.weights(*theta, &mut weights);
            for (i, weight) in &weights {
                scaled(&mut adjoints[*i], h * weight, derivative);
            }
            add(&mut lambda, derivative);
        }
        let mut pulled = vec![(adjoints, Pulled { lambda, by: vec![0.0; self.by.len()] })];
        for weights in &tableau.errors {
            let mut adjoints = vec![vec![0.0; n]; count];
            for (i, weight) in weights {
                scaled(&mut adjoints[*i], h * weight, &self.lambda);
            }
            pulled.push((adjoints, Pulled { lambda: vec![0.0; n], by: vec![0.0; self.by.len()] }));
        }
        for i in (0..count).rev() {
            self.pull_stage(&stages, i, &mut pulled)?;
        }
        Ok((stages, pulled.into_iter().map(|(_, pulled)| pulled).collect()))
    }

    /// Back through a stage, with the adjoints of all stages up to it.
    fn pull_stage(
        &mut self,
        stages: &Stages,
        i: usize,
        pulled: &mut [(Vec<Vec<f64>>, Pulled)],
    ) -> Result<(), EvaluationError> {
        let (tableau, h, full) = (stages.tableau, stages.h, &self.system.model.full);
        let values = &stages.values[i].data;
        let by_states = full.by_states(values);
        let mut factorised = false;
        for (adjoints, Pulled { lambda, by }) in pulled {
            let mut u = std::mem::take(&mut adjoints[i]);
            if u.iter().all(|v| *v == 0.0) {
                continue;
            }
            if tableau.gamma != 0.0 && i > 0 {
                let factors = self.factors.get_or_insert_with(|| Factors::analyse(&full.pattern));
                if !std::mem::replace(&mut factorised, true)
                    && factors.factorise(&full.pattern, by_states, stage_matrix(h * tableau.gamma)).is_err()
                {
                    return Err(EvaluationError::NotFinite(0));
                }
                factors.solve_transposed(&mut u);
            }
            for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(values)) {
                by[*lane] += times(u[*row], *value);
            }
            let mut back = vec![0.0; u.len()];
            for (row, u) in u.iter().enumerate().filter(|(_, u)| **u != 0.0) {
                for e in full.pattern.row(row) {
                    back[full.pattern.at[e] as usize] += by_states[e] * u;
                }
            }
            if let Some(singular) = &stages.values[i].singular {
                // The adjoint of a state along an infinite derivative has no value here, unless it is one that
                // steps pass which are chosen by the error.
                let passes = !singular.resting && !tableau.errors.is_empty();
                let lost = if passes { &singular.states } else { &singular.passed };
                lost.iter().for_each(|state| back[*state] = f64::NAN);
                singular.lanes.iter().for_each(|lane| by[*lane] = f64::NAN);
            }
            add(lambda, &back);
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
    fn finish(mut self, model: &Compiled, parameters: &[f64], tables: &Tables) -> Vec<f64> {
        let n = model.states.len();
        let mut start = vec![0.0; model.initial.results()];
        let own = &parameters[..model.parameters.min(parameters.len())];
        model.initial.run_with(own, tables, &mut Vec::new(), &mut start);
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
