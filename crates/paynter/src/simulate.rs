//! Simulation over time: fetches the stages that the passes of
//! `paynter-simulate` work on.

use crate::Model;
use crate::answer::{Answer, Asked, QueryError, refused};
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, Source, SourceMap};
use paynter_transform::Start;
use std::sync::{Arc, Mutex, PoisonError};

pub use paynter_numerics::program::Hold;
pub use paynter_simulate::data::Data;
use paynter_simulate::data::Measured;
pub use paynter_simulate::experiment::{
    Change, Changed, Column, Cost, CostGradient, CostKind, Direction, Perturbation, Plan, Response, Run,
    Sensitivities, SimulateOptions, Simulation, Varied, Vary, Verification, check_names, named, respond_all,
    settle_threads, solvers,
};
use paynter_simulate::experiment::{Subject, gradients, perturbed, verify};
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
    pub simulation: Simulation,
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

    /// Compiles the model for simulation, or takes what was compiled for the same options before.
    pub fn simulation(&self, options: &SimulateOptions, token: &CancellationToken) -> Asked<Arc<Simulation>> {
        self.0.own.programs.get(options, || {
            self.experiment(options, token, |pool, subject, findings| {
                Simulation::compile(pool, subject, options, findings, token).map(Arc::new)
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
        self.experiment(options, token, |pool, subject, findings| {
            let (simulation, gradients, outcome) =
                gradients(pool, subject, (options, costs), findings, token)?;
            Ok(Gradients { simulation, gradients, outcome })
        })
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
        // In lowest terms laws lose fewer digits, so that runs take the equations as they are read.
        let view = self.readable(token)?;
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
            let (causality, equations) = (&view.causality, &view.equations);
            let subject = Subject { graph, causality, equations, measured: &measured };
            pass(&mut pool, &subject, &mut findings)
        })?;
        Ok(Answer { sources, ..view.answer(pool, Ok(result), findings)? })
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

/// Compiled simulations that were asked for last.
#[derive(Default)]
pub(crate) struct Programs(Mutex<Vec<(SimulateOptions, Answer<Arc<Simulation>>)>>);

impl Programs {
    /// How many are kept: an experiment with and without its sensitivities, and another of the same model.
    const KEPT: usize = 4;

    fn get(
        &self,
        options: &SimulateOptions,
        compile: impl FnOnce() -> Asked<Arc<Simulation>>,
    ) -> Asked<Arc<Simulation>> {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = programs.iter().find(|(asked, _)| asked == options) {
            return Ok(known.clone());
        }
        let compiled = compile()?;
        if programs.len() == Programs::KEPT {
            programs.remove(0);
        }
        programs.push((options.clone(), compiled.clone()));
        Ok(compiled)
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
}

/// The runs of a sweep, and for each the simulation that serves it.
pub type ServedRuns<'a> = (Vec<&'a Answer<Arc<Simulation>>>, Vec<Run<'a>>);

/// A model compiled once for a sweep, and once more for each combination of signs in it.
pub struct Sweep {
    simulations: Vec<Answer<Arc<Simulation>>>,
    plan: Plan,
    sweeps: Vec<Vary>,
}

impl Sweep {
    /// Compiles what a sweep needs: the model itself, and the model with other signs of some parameters.
    pub fn new(
        model: &Model,
        options: &SimulateOptions,
        sweeps: &[Vary],
        token: &CancellationToken,
    ) -> Result<Sweep, QueryError> {
        let nominal = model.simulation(options, token)?;
        let plan = Plan::new(&nominal, sweeps).map_err(|found| refused(*found))?;
        let mut simulations = vec![nominal];
        for turned in &plan.signs[1..] {
            let turned = model.with(turned.iter().map(|(name, value)| (name.as_str(), *value)));
            simulations.push(turned.simulation(options, token)?);
        }
        Ok(Sweep { simulations, plan, sweeps: sweeps.to_vec() })
    }

    /// The simulation at nominal values.
    pub fn nominal(&self) -> &Answer<Arc<Simulation>> {
        &self.simulations[0]
    }

    /// The runs, each with the simulation that serves it.
    pub fn runs(&self) -> Result<ServedRuns<'_>, Box<Diagnostic>> {
        let compiled: Vec<&Simulation> = self.simulations.iter().map(|answer| &*answer.result).collect();
        let serving = self.plan.serving.iter().map(|place| &self.simulations[*place]).collect();
        Ok((serving, self.plan.runs(&compiled, &self.sweeps)?))
    }
}
