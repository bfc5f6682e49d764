//! Simulation over time: fetches the stages that the passes of
//! `paynter-simulate` work on.

use crate::Model;
use crate::answer::{Answer, Asked, QueryError};
use paynter_algebra::{Pool, Rational};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, Source, SourceMap, code};
use paynter_graph::{BondGraph, CopyOnWrite, Parameter, flat_name};
use paynter_transform::Start;
use paynter_verify::Check;
use std::sync::{Arc, Mutex, PoisonError};

pub use paynter_numerics::program::Hold;
pub use paynter_simulate::data::Data;
use paynter_simulate::data::Measured;
pub use paynter_simulate::experiment::{
    Change, Changed, Column, Cost, CostGradient, CostKind, Direction, Perturbation, Response, Run,
    Sensitivities, SimulateOptions, Simulation, Varied, Vary, Verification, respond_all, settle_threads,
    solvers,
};
use paynter_simulate::experiment::{Subject, gradient_options, perturbed, verify};
pub use paynter_simulate::{Note, Options, Outcome, Sample, Stats};

/// A simulation with a step along finite changes as its one sensitivity.
pub struct Perturbed {
    /// The simulation.
    pub simulation: Simulation,
    /// The changes.
    pub changes: Vec<Changed>,
}

/// Gradients of costs with the simulation that they belong to.
pub struct Gradients {
    /// The simulation.
    pub simulation: Arc<Simulation>,
    /// The gradients.
    pub gradients: Vec<CostGradient>,
    /// How the last run went.
    pub outcome: Outcome,
}

impl Model {
    /// The variables at time zero, over parameters; their expressions are made in the pool.
    pub(crate) fn start(&self, pool: &mut Pool, token: &CancellationToken) -> Result<Start, QueryError> {
        let view = self.readable(token)?;
        let tables = self.tables(Hold::Linear).unwrap_or_default();
        paynter_simulate::start(pool, &view.graph, &view.equations, &tables, token)
    }

    /// Compiles the model for simulation, or takes what was compiled for the same options before, also at other
    /// values of parameters that do not change what is compiled.
    pub fn simulation(&self, options: &SimulateOptions, token: &CancellationToken) -> Asked<Arc<Simulation>> {
        self.program(options, &[], token)
    }

    /// The compiled model with states for the integrals of costs.
    fn program(
        &self,
        options: &SimulateOptions,
        costs: &[Cost],
        token: &CancellationToken,
    ) -> Asked<Arc<Simulation>> {
        let question = Question {
            options: options.clone(),
            costs: costs.to_vec(),
            inputs: self.0.values.inputs().to_vec(),
        };
        self.0.derivation.programs.get(question, self.parameters(), || {
            self.experiment(options, token, |pool, subject, findings| {
                Simulation::compile(pool, subject, (options, costs), findings, token).map(Arc::new)
            })
        })
    }

    /// Compiles the model with a step along finite changes as its one sensitivity.
    pub fn perturbed(
        &self,
        options: &SimulateOptions,
        changes: &[Change],
        token: &CancellationToken,
    ) -> Asked<Perturbed> {
        self.experiment(options, token, |pool, subject, findings| {
            let (simulation, changes) = perturbed(pool, subject, (options, changes), findings, token)?;
            Ok(Perturbed { simulation, changes })
        })
    }

    /// Calculates gradients of costs by the asked parameters and initial states, all where none are asked.
    pub fn gradients(
        &self,
        options: &SimulateOptions,
        costs: &[Cost],
        token: &CancellationToken,
    ) -> Asked<Gradients> {
        let compiled = self.program(&gradient_options(options), costs, token)?;
        let (gradients, outcome) = compiled.gradients(costs, token)?;
        Ok(compiled.map(|simulation| Gradients { simulation, gradients, outcome }))
    }

    /// Asks another method at a tenth of the tolerance for a second opinion on a run.
    pub fn second_opinion(
        &self,
        options: &SimulateOptions,
        first: (&Response, &Outcome),
        token: &CancellationToken,
    ) -> Asked<Verification> {
        self.experiment(options, token, |pool, subject, findings| {
            let found = verify(pool, subject, options, first, token)?;
            findings.push(found.diagnostic());
            Ok(found)
        })
    }

    /// Asks a pass on the derived model with its measured inputs.
    fn experiment<T>(
        &self,
        options: &SimulateOptions,
        token: &CancellationToken,
        pass: impl FnOnce(&mut Pool, &Subject<'_>, &mut Diagnostics) -> Result<T, QueryError>,
    ) -> Asked<T> {
        let view = self.for_numbers(token)?;
        let tables = self.tables(options.hold)?;
        let (graph, mut pool) = (&view.graph, view.overlay());
        let mut findings = Diagnostics::new();
        let sources = self.sources_with(options.data.as_ref());
        let measured = match &options.data {
            None => Ok(Measured::none(tables)),
            Some(data) => {
                let (file, mut texts) = ((data, options.hold), SourceMap::clone(&view.sources));
                Measured::read(&mut pool, graph, tables, file, &mut texts, &mut findings)
            }
        };
        let result = measured.and_then(|measured| {
            self.tell_replaced(
                |place| measured.inputs.get(place).is_some_and(Option::is_some),
                &mut findings,
            );
            let (causality, equations) = (&view.causality, &view.equations);
            let subject = Subject { graph, causality, equations, measured: &measured };
            pass(&mut pool, &subject, &mut findings)
        })?;
        Ok(Answer { sources, ..view.answer(pool, Ok(result), findings)? })
    }

    /// Tells of inputs that were set to a value though data drive them.
    pub(crate) fn tell_replaced(&self, is_driven: impl Fn(usize) -> bool, findings: &mut Diagnostics) {
        let graph = self.graph();
        for (place, input) in graph.iter().flat_map(|graph| graph.inputs.iter().enumerate()) {
            let name = flat_name(&input.name);
            if is_driven(place) && self.0.set.iter().any(|(known, _)| flat_name(known) == name) {
                let message =
                    format!("the data drive `{name}`, so that the value it was set to does not count");
                findings.push(Diagnostic::new(code::REPLACED_INPUT, message).at(input.span));
            }
        }
    }

    /// The files that findings about measured data refer to: those of the model, then the data.
    pub fn sources_with<'a>(&self, data: impl IntoIterator<Item = &'a Data>) -> Arc<SourceMap> {
        let mut data = data.into_iter().peekable();
        if data.peek().is_none() {
            return self.sources().clone();
        }
        let mut sources = SourceMap::clone(self.sources());
        for file in data {
            sources.add(Source::new(file.path.clone(), String::from_utf8_lossy(&file.content)));
        }
        Arc::new(sources)
    }
}

/// What a model is compiled for, but for the values of its parameters.
#[derive(PartialEq)]
struct Question {
    options: SimulateOptions,
    costs: Vec<Cost>,
    /// The inputs that are constant.
    inputs: Vec<(usize, Rational)>,
}

/// Compiled simulations that were asked for last, shared by all values of parameters.
#[derive(Default)]
pub(crate) struct Programs(Mutex<Vec<(Question, Answer<Arc<Simulation>>)>>);

impl Programs {
    /// How many are kept: an experiment with and without its sensitivities, and another of the same model.
    const KEPT: usize = 4;

    /// The simulation at some values of parameters, compiled only where no kept one serves.
    fn get(
        &self,
        question: Question,
        parameters: Option<&CopyOnWrite<Vec<Parameter>>>,
        compile: impl FnOnce() -> Asked<Arc<Simulation>>,
    ) -> Asked<Arc<Simulation>> {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = programs.iter().filter(|(asked, _)| *asked == question);
        if let Some(served) = known.map(|(_, known)| known).find_map(|known| known.at(parameters?)) {
            return Ok(served);
        }
        let compiled = compile()?;
        if programs.len() == Programs::KEPT {
            programs.remove(0);
        }
        programs.push((question, compiled.clone()));
        Ok(compiled)
    }
}

impl Answer<Arc<Simulation>> {
    /// The answer at other values of parameters, unless these change what was compiled.
    fn at(&self, parameters: &CopyOnWrite<Vec<Parameter>>) -> Option<Answer<Arc<Simulation>>> {
        if self.graph.parameters.is_shared_with(parameters) {
            return Some(self.clone());
        }
        let simulation = Arc::new(self.result.at(&self.pool, parameters)?);
        let mut graph = BondGraph::clone(&self.graph);
        graph.parameters = parameters.clone();
        Some(Answer { graph: Arc::new(graph), ..self.clone().map(|_| simulation) })
    }
}

/// A result that holds a compiled simulation.
pub trait Simulated {
    /// The simulation.
    fn simulation(&self) -> &Simulation;
}

impl Simulated for Arc<Simulation> {
    fn simulation(&self) -> &Simulation {
        self
    }
}

impl Simulated for Perturbed {
    fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

impl Simulated for Gradients {
    fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

impl<T: Simulated> Answer<T> {
    /// Says why a run ended early, and what else is worth knowing about it.
    pub fn explain(&self, parameters: &[f64], outcome: &Outcome) -> Diagnostics {
        self.result.simulation().explain(&self.pool, parameters, outcome)
    }
    /// Checks some samples of a run in the graph's own equations.
    pub fn check_run(&self, outcome: &Outcome) -> Result<Vec<Check>, Box<Diagnostic>> {
        self.result.simulation().check_run(&mut self.overlay(), outcome)
    }
}
