//! The answer of `paynter check`.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a file is a well-formed bond graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Whether there is no error; what is accepted has equations.
    pub ok: bool,
    /// The model in figures, as far as it is known.
    pub summary: Option<Summary>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A model in figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// The model's name.
    pub model: String,
    /// Elements after flattening, junctions included.
    pub elements: usize,
    /// Bonds after flattening.
    pub bonds: usize,
    /// Parameters, derived ones included.
    pub parameters: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Storages and integrators with a state, dependent ones included.
    pub states: usize,
    /// Number of independent states, where causality could be assigned.
    pub order: Option<usize>,
    /// Differentiation index of the equations, where causality could be assigned.
    pub index: Option<usize>,
    /// Number of algebraic loops.
    pub algebraic_loops: usize,
}
