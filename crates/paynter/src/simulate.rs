//! Simulation over time: fetches the stages that the passes of
//! `paynter-simulate` work on.

use crate::{Model, NoAnswer};
use paynter_algebra::Pool;
use paynter_base::{Diagnostic, Diagnostics, Ticket};
use paynter_equations::Failure;
use paynter_graph::Samples;
use paynter_numerics::Tables;
use paynter_transform::Start;

pub use paynter_numerics::program::Hold;
pub use paynter_simulate::data::Data;
use paynter_simulate::data::{self, Measured};
pub use paynter_simulate::experiment::{
    Change, Changed, Column, Cost, CostGradient, CostKind, Direction, Perturbation, Plan, Response, Run,
    Sensitivities, SimulateOptions, Simulation, Varied, Vary, check_names, named, respond_all, solvers,
};
use paynter_simulate::experiment::{Subject, gradients, perturbed};
pub use paynter_simulate::{Note, Options, Outcome, Sample, Stats};

impl Model {
    /// The samples of every table, by its number, or why one is missing.
    pub fn samples(&self) -> Result<Vec<Samples>, NoAnswer> {
        self.tables.iter().cloned().collect::<Result<_, _>>().map_err(|found| refused(*found))
    }

    /// The tables for calculations.
    pub fn tables(&self, hold: Hold) -> Result<Tables, NoAnswer> {
        Ok(data::tables(self.samples()?, hold))
    }

    /// The variables at time zero, over parameters.
    pub(crate) fn start(&mut self, ticket: &Ticket) -> Result<Start, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let tables = self.tables(Hold::Linear).unwrap_or_default();
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(paynter_simulate::start(&mut self.pool, graph, &equations, &tables, ticket)?)
    }

    /// Compiles the model for simulation.
    pub fn simulation(&mut self, options: &SimulateOptions, ticket: &Ticket) -> Result<Simulation, NoAnswer> {
        self.experiment(options, ticket, |pool, subject, findings| {
            Simulation::compile(pool, subject, options, findings, ticket)
        })
    }

    /// Compiles the model with a step along finite changes as its one sensitivity.
    pub fn perturbed(
        &mut self,
        options: &SimulateOptions,
        changes: &[Change],
        ticket: &Ticket,
    ) -> Result<(Simulation, Vec<Changed>), NoAnswer> {
        self.experiment(options, ticket, |pool, subject, findings| {
            perturbed(pool, subject, (options, changes), findings, ticket)
        })
    }

    /// Calculates gradients of costs by the asked parameters and initial states, all where none are asked.
    pub fn gradients(
        &mut self,
        options: &SimulateOptions,
        costs: &[Cost],
        ticket: &Ticket,
    ) -> Result<(Simulation, Vec<CostGradient>, Outcome), NoAnswer> {
        self.experiment(options, ticket, |pool, subject, findings| {
            gradients(pool, subject, (options, costs), findings, ticket)
        })
    }

    /// Says why a run ended early, and what else is worth knowing about it.
    pub fn explain_run(&self, simulation: &Simulation, parameters: &[f64], outcome: &Outcome) -> Diagnostics {
        simulation.explain(&self.pool, parameters, outcome)
    }

    /// Asks a pass on the derived model with its measured inputs; what it finds joins the findings, once.
    fn experiment<T>(
        &mut self,
        options: &SimulateOptions,
        ticket: &Ticket,
        pass: impl FnOnce(&mut Pool, &Subject<'_>, &mut Diagnostics) -> Result<T, Failure>,
    ) -> Result<T, NoAnswer> {
        if self.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        }
        let (equations, _) = self.derive(ticket)?;
        let tables = self.tables(options.hold)?;
        let (Some(graph), Some(causality)) = (&self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let mut findings = Diagnostics::new();
        let measured = match &options.data {
            None => Ok(Measured::none(tables)),
            Some(data) => {
                let file = (data, options.hold);
                Measured::read(&mut self.pool, graph, tables, file, &mut self.sources, &mut findings)
            }
        };
        let answer = measured.and_then(|measured| {
            let subject = Subject { graph, causality, equations: &equations, measured: &measured };
            pass(&mut self.pool, &subject, &mut findings)
        });
        for finding in findings {
            if !self.diagnostics.iter().any(|known| *known == finding) {
                self.diagnostics.push(finding);
            }
        }
        Ok(answer?)
    }
}

fn refused(diagnostic: Diagnostic) -> NoAnswer {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    NoAnswer::Wrong(diagnostics)
}

/// A model compiled once for a sweep, and once more for each combination of signs in it.
pub struct Sweep {
    models: Vec<(Model, Simulation)>,
    plan: Plan,
    sweeps: Vec<Vary>,
}

impl Sweep {
    /// Compiles the models that a sweep needs; `load` makes one with values for some parameters.
    pub fn new(
        load: &mut dyn FnMut(&[(String, String)]) -> Model,
        options: &SimulateOptions,
        sweeps: &[Vary],
        ticket: &Ticket,
    ) -> Result<Sweep, (Box<Model>, NoAnswer)> {
        let compile = |mut model: Model| match model.simulation(options, ticket) {
            Ok(simulation) => Ok((model, simulation)),
            Err(reason) => Err((Box::new(model), reason)),
        };
        let (model, nominal) = compile(load(&[]))?;
        let plan = match Plan::new(&nominal, sweeps) {
            Ok(plan) => plan,
            Err(found) => return Err((Box::new(model), refused(*found))),
        };
        let mut models = vec![(model, nominal)];
        for turned in &plan.signs[1..] {
            let set: Vec<(String, String)> =
                turned.iter().map(|(name, value)| (name.clone(), format!("{value:e}"))).collect();
            models.push(compile(load(&set))?);
        }
        Ok(Sweep { models, plan, sweeps: sweeps.to_vec() })
    }

    /// The nominal model, compiled.
    pub fn nominal(&self) -> &(Model, Simulation) {
        &self.models[0]
    }

    /// The runs, each with the model that serves it.
    pub fn runs(&self) -> Result<(Vec<&Model>, Vec<Run<'_>>), Box<Diagnostic>> {
        let compiled: Vec<&Simulation> = self.models.iter().map(|(_, simulation)| simulation).collect();
        let models = self.plan.serving.iter().map(|place| &self.models[*place].0).collect();
        Ok((models, self.plan.runs(&compiled, &self.sweeps)?))
    }
}
