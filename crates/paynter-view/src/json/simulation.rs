//! The answer of `paynter simulate`.

use super::{Checks, Diagnostic, Severity};
use crate::units::{Shown, per};
use paynter_base::Diagnostics;
use paynter_equations::Role;
use paynter_simulate::Outcome;
use paynter_simulate::experiment::{self, Column, CostGradient, Response, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The response of a model over time, in SI.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// Whether the model has no error and the run reached its end.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The run.
    #[serde(flatten)]
    pub run: SimulationRun,
    /// The units that outputs are shown in to people; the numbers here are in SI.
    pub units: BTreeMap<String, String>,
    /// The units that sensitivities are shown in to people, by output and parameter: that of the output per that of
    /// the parameter.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sensitivities_unit: BTreeMap<String, BTreeMap<String, String>>,
    /// What finite changes of parameters make of the outputs, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<Perturbation>,
    /// The gradients of costs, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gradients: Vec<Gradient>,
    /// The second opinion on the run, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<SecondOpinion>,
    /// How far it fulfils the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// What another method at a tenth of the tolerance says about a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SecondOpinion {
    /// The solver that was asked.
    pub solver: String,
    /// Its relative tolerance.
    pub rtol: f64,
    /// Whether it agrees: within a hundred tolerances, with as many events, every law met, every junction in balance.
    pub agrees: bool,
    /// The largest difference of an output, beside its largest value.
    pub difference: Option<Deviation>,
    /// The number of events in both runs.
    pub events: [u64; 2],
    /// The junction that balances worst, beside its largest effort or flow.
    pub junction: Option<Deviation>,
    /// The law of a resistor or switch that is met worst; zero where all are met.
    pub law: Option<Deviation>,
}

/// A deviation and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Deviation {
    /// The output, junction or element.
    pub name: String,
    /// When.
    pub t: f64,
    /// How large it is.
    pub size: f64,
}

impl SecondOpinion {
    /// Makes it.
    pub fn new(found: &experiment::Verification) -> SecondOpinion {
        let deviation = |found: &Option<experiment::Deviation>| {
            found.as_ref().map(|worst| Deviation { name: worst.name.clone(), t: worst.t, size: worst.size })
        };
        SecondOpinion {
            solver: found.solver.to_owned(),
            rtol: found.rtol,
            agrees: found.agrees(),
            difference: deviation(&found.difference),
            events: found.events,
            junction: deviation(&found.junction),
            law: deviation(&found.law),
        }
    }
}

/// Several runs of a model: a sweep of parameters, or scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimulationRuns {
    /// Whether the model has no error and every run reached its end.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Whether every run reached its end.
    pub complete: bool,
    /// The runs; in a sweep of several parameters the last one changes fastest.
    pub runs: Vec<NamedRun>,
    /// How far samples of the first run of each compiled model fulfil the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// One run of several.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NamedRun {
    /// Its name.
    pub name: String,
    /// The values of what is swept, in SI; empty for scenarios.
    pub values: BTreeMap<String, f64>,
    /// The units that outputs are shown in to people; the numbers here are in SI.
    pub units: BTreeMap<String, String>,
    /// The run.
    #[serde(flatten)]
    pub run: SimulationRun,
}

/// One run from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimulationRun {
    /// Whether the run reached its end; otherwise what is here came before it stopped.
    pub complete: bool,
    /// Why the run stopped before its end, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Times, in seconds.
    pub t: Vec<f64>,
    /// Each output over time; the states, where the model has no outputs.
    pub outputs: BTreeMap<String, Vec<f64>>,
    /// Each state over time.
    pub states: BTreeMap<String, Vec<f64>>,
    /// The derivative of each output by each parameter and along each direction over time; empty where none were asked for.
    pub sensitivities: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// The energy of every element, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// What the run cost.
    pub stats: SimulationStats,
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stopped {
    /// The time it reached.
    pub t: f64,
    /// The code of the diagnostic that says why.
    pub code: String,
    /// Its message.
    pub message: String,
}

/// What finite changes of parameters make of the outputs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Perturbation {
    /// The changes, in SI.
    pub changes: BTreeMap<String, f64>,
    /// Each output.
    pub outputs: BTreeMap<String, PerturbedOutput>,
}

/// An output under changed parameters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PerturbedOutput {
    /// y + Δy by the incremental model.
    pub incremental: Vec<f64>,
    /// The output of the changed model.
    pub exact: Vec<f64>,
    /// The first minus the second.
    pub difference: Vec<f64>,
}

/// The gradient of a cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gradient {
    /// The cost: `integral(w)`, `final(w)`.
    pub of: String,
    /// Its value, in SI.
    pub value: f64,
    /// The unit that it is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// Its derivative by each parameter and initial state; empty where the run did not reach its end.
    pub by: BTreeMap<String, f64>,
    /// The units that these are shown in to people.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_unit: BTreeMap<String, String>,
}

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimulationStats {
    /// The solver; the last one where several took part.
    pub solver: String,
    /// Steps that were taken.
    pub steps: u64,
    /// Steps that were given up because of their error.
    pub rejected: u64,
    /// Evaluations of the rates.
    pub evaluations: u64,
    /// Evaluations of their derivatives.
    pub jacobians: u64,
    /// Events.
    pub events: u64,
    /// Changes between the explicit and the implicit solver.
    pub switches: u64,
    /// The time that was reached.
    pub t: f64,
}

/// The energy ledger of a run, in joules.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Energy {
    /// Sources, storages and losses, in text order.
    pub elements: Vec<ElementEnergy>,
    /// What was supplied and has neither been stored nor dissipated, over time.
    pub balance: Vec<f64>,
    /// The largest part of the balance in the energy that was moved.
    pub error: f64,
}

/// The energy of one element over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ElementEnergy {
    /// The element.
    pub element: String,
    /// What it does with energy.
    pub role: EnergyRole,
    /// Supplied or dissipated since the beginning, or stored.
    pub energy: Vec<f64>,
    /// Of a storage: the state from which its energy is counted, zero or a relaxed one; absent where it is
    /// counted from the beginning of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from: Option<f64>,
}

/// What an element does with energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnergyRole {
    /// A source gives it.
    Supplied,
    /// A storage keeps it.
    Stored,
    /// A loss turns it into heat.
    Dissipated,
}

/// Columns by their names.
fn named(columns: &[Column], lists: &[Vec<f64>]) -> BTreeMap<String, Vec<f64>> {
    columns.iter().map(|column| column.name.clone()).zip(lists.iter().cloned()).collect()
}

/// The units that outputs are shown in.
fn units(simulation: &experiment::Simulation) -> BTreeMap<String, String> {
    let outputs = simulation.outputs.iter();
    outputs.filter_map(|column| Some((column.name.clone(), column.unit.clone()?))).collect()
}

/// The units that sensitivities are shown in, where any is declared.
fn sensitivities_unit(simulation: &experiment::Simulation) -> BTreeMap<String, BTreeMap<String, String>> {
    let of = |output: &Column| {
        let units = simulation.wanted.iter().zip(&simulation.wanted_columns).filter_map(|(name, column)| {
            Some((name.clone(), per(output.unit.as_deref(), column.unit.as_deref())?))
        });
        (output.name.clone(), units.collect::<BTreeMap<_, _>>())
    };
    simulation.outputs.iter().map(of).filter(|(_, units)| !units.is_empty()).collect()
}

impl Stopped {
    /// Why a run stopped, by the finding that says so.
    fn new(outcome: &Outcome, said: &Diagnostics) -> Option<Stopped> {
        outcome.failure?;
        let reason = said.iter().find(|diagnostic| diagnostic.is_error())?;
        let (code, message) = (reason.code.id().to_owned(), reason.message.clone());
        Some(Stopped { t: outcome.t, code, message })
    }
}

impl Simulation {
    /// The document of a run; `said` explains it.
    pub fn new(
        simulation: &experiment::Simulation,
        response: &Response,
        outcome: &Outcome,
        said: &Diagnostics,
        diagnostics: Vec<Diagnostic>,
    ) -> Simulation {
        Simulation {
            ok: outcome.failure.is_none(),
            model: simulation.model.clone(),
            run: SimulationRun::new(simulation, response, outcome, said),
            units: units(simulation),
            sensitivities_unit: sensitivities_unit(simulation),
            perturbation: None,
            verification: None,
            gradients: Vec::new(),
            checks: Checks::default(),
            diagnostics,
        }
    }
}

impl SimulationRun {
    fn new(
        simulation: &experiment::Simulation,
        response: &Response,
        outcome: &Outcome,
        said: &Diagnostics,
    ) -> SimulationRun {
        let wanted = &simulation.wanted;
        let sensitivities = simulation.outputs.iter().zip(&response.sensitivities).map(|(output, lists)| {
            (output.name.clone(), wanted.iter().cloned().zip(lists.iter().cloned()).collect())
        });
        let stats = &outcome.stats;
        SimulationRun {
            complete: outcome.failure.is_none(),
            stopped: Stopped::new(outcome, said),
            t: response.t.clone(),
            outputs: named(&simulation.outputs, &response.outputs),
            states: named(&simulation.states, &response.states),
            sensitivities: if wanted.is_empty() { BTreeMap::new() } else { sensitivities.collect() },
            energy: simulation.energy(response).as_ref().map(Energy::new),
            stats: SimulationStats {
                solver: stats.solver.to_owned(),
                steps: stats.steps,
                rejected: stats.rejected,
                evaluations: stats.evaluations,
                jacobians: stats.jacobians,
                events: stats.events,
                switches: stats.switches,
                t: outcome.t,
            },
        }
    }
}

impl SimulationRuns {
    /// The document of several runs; all are there unless some were impossible.
    pub fn new(model: &str, runs: Vec<NamedRun>, all: bool, diagnostics: Vec<Diagnostic>) -> SimulationRuns {
        SimulationRuns {
            ok: !diagnostics.iter().any(|found| found.severity == Severity::Error),
            model: model.to_owned(),
            complete: all && runs.iter().all(|run| run.run.complete),
            runs,
            checks: Checks::default(),
            diagnostics,
        }
    }
}

impl NamedRun {
    /// The document of one run of several; values are in SI.
    pub fn new(run: &Run, response: &Response, outcome: &Outcome, said: &Diagnostics) -> NamedRun {
        let varied = run.simulation.varied.iter().zip(&run.values);
        NamedRun {
            name: run.name.clone(),
            values: varied.map(|(v, value)| (v.column.name.clone(), value * v.column.factor)).collect(),
            units: units(&run.simulation),
            run: SimulationRun::new(&run.simulation, response, outcome, said),
        }
    }
}

impl Perturbation {
    /// The document of finite changes.
    pub fn new(simulation: &experiment::Simulation, found: &experiment::Perturbation) -> Perturbation {
        let outputs = simulation.outputs.iter().enumerate().map(|(place, column)| {
            let output = PerturbedOutput {
                incremental: found.incremental(place),
                exact: found.exact.outputs[place].clone(),
                difference: found.difference(place),
            };
            (column.name.clone(), output)
        });
        let changes = found.changes.iter().map(|change| (change.name.clone(), change.by));
        Perturbation { changes: changes.collect(), outputs: outputs.collect() }
    }
}

impl Gradient {
    /// The document of a gradient.
    pub fn new(simulation: &experiment::Simulation, found: &CostGradient) -> Gradient {
        let unit = Shown::cost(simulation, found).unit;
        let wanted = simulation.wanted.iter().zip(&simulation.wanted_columns);
        let by_unit = wanted
            .filter_map(|(name, column)| Some((name.clone(), per(unit.as_deref(), column.unit.as_deref())?)));
        Gradient {
            of: found.cost.to_string(),
            value: found.value,
            value_unit: unit.clone(),
            by_unit: by_unit.collect(),
            by: simulation.wanted.iter().cloned().zip(found.by.iter().copied()).collect(),
        }
    }
}

impl Energy {
    /// The document of an energy ledger.
    pub fn new(energy: &experiment::Energy) -> Energy {
        let accounts = energy.accounts.iter().zip(&energy.references);
        let elements = accounts.map(|((entry, values), reference)| ElementEnergy {
            counted_from: match reference {
                experiment::Reference::Empty => Some(0.0),
                experiment::Reference::Relaxed(state) => Some(*state),
                experiment::Reference::Start => None,
            },
            element: entry.element.clone(),
            role: match entry.role {
                Role::Supply => EnergyRole::Supplied,
                Role::Storage => EnergyRole::Stored,
                Role::Loss => EnergyRole::Dissipated,
            },
            energy: values.clone(),
        });
        Energy { elements: elements.collect(), balance: energy.balance.clone(), error: energy.error }
    }
}
