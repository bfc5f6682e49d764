//! The answer of `paynter causality`.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// The causality of a bond graph, with how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Causality {
    /// Whether every bond has its stroke without a conflict.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Every bond in text order.
    pub bonds: Vec<Bond>,
    /// Every storage port and signal integrator.
    pub storage: Vec<Storage>,
    /// Algebraic loops as cycles of named elements.
    pub algebraic_loops: Vec<Vec<String>>,
    /// Loops inside the junction structure, as cycles of named elements.
    pub junction_loops: Vec<Vec<String>>,
    /// Demands that cannot both be met.
    pub conflicts: Vec<Conflict>,
    /// Differentiation index of the equations.
    pub index: usize,
    /// Number of independent states.
    pub order: usize,
    /// Structural rank of the state matrix.
    pub rank: usize,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// One bond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bond {
    /// Its name, `b1` … in text order where it has none.
    pub name: String,
    /// The element its arrow leaves.
    pub from: String,
    /// The element its arrow points to.
    pub to: String,
    /// The element at which effort is an input (where the stroke is drawn); absent where undecided.
    pub effort_into: Option<String>,
    /// When it was decided, from 1.
    pub step: Option<usize>,
    /// Why it was decided so.
    pub reason: Option<String>,
}

/// One storage port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Storage {
    /// The element.
    pub element: String,
    /// Its state, `ELEMENT.q` or `ELEMENT.p`.
    pub state: String,
    /// `integral` or `derivative`.
    pub causality: String,
    /// In derivative causality: the elements on the path that forces it.
    pub forced_by: Vec<String>,
}

/// Two demands that cannot both be met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The elements involved.
    pub elements: Vec<String>,
    /// What they demand of each other.
    pub message: String,
}
