//! The answer of `paynter check`.

use super::Diagnostic;
use paynter_graph::{BondGraph, LoopKind, is_storage};
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
    /// Ports of storages and integrators of signals, dependent ones included.
    pub states: usize,
    /// Number of independent states, where causality could be assigned.
    pub order: Option<usize>,
    /// Differentiation index of the equations, where causality could be assigned.
    pub index: Option<u32>,
    /// Number of algebraic loops found, where causality could be assigned.
    pub algebraic_loops: Option<usize>,
}

impl Summary {
    /// Counts what a graph has.
    pub fn new(graph: &BondGraph, causality: Option<&paynter_graph::Causality>) -> Summary {
        let ports: usize = graph.elements.iter().filter(|e| is_storage(e.kind)).map(|e| e.ports.len()).sum();
        let algebraic =
            |c: &paynter_graph::Causality| c.loops.iter().filter(|l| l.kind == LoopKind::Algebraic).count();
        Summary {
            model: graph.name.clone(),
            elements: graph.elements.len(),
            bonds: graph.bonds.len(),
            parameters: graph.parameters.len() + graph.derived.len(),
            inputs: graph.inputs.len(),
            outputs: graph.outputs.len(),
            states: ports + graph.integrators.len(),
            order: causality.map(|c| c.order),
            index: causality.map(|c| c.index),
            algebraic_loops: causality.map(algebraic),
        }
    }
}
