//! The answer of `paynter simulate`.

use super::Diagnostic;
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
    /// Whether the run reached its end; otherwise what is here came before it stopped.
    pub complete: bool,
    /// Times, in seconds.
    pub t: Vec<f64>,
    /// Each output over time.
    pub outputs: BTreeMap<String, Vec<f64>>,
    /// Each state over time.
    pub states: BTreeMap<String, Vec<f64>>,
    /// The derivative of each output by each parameter over time; empty where none were asked for.
    pub sensitivities: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// The units that outputs are shown in to people; the numbers here are in SI.
    pub units: BTreeMap<String, String>,
    /// The energy of every element, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// What the run cost.
    pub stats: SimulationStats,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
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
