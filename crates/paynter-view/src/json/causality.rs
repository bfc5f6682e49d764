//! The answer of `paynter causality`.

use super::{Diagnostic, Naming};
use paynter_graph::{BondGraph, BondId, ElementId, LoopKind};
use schemars::JsonSchema;
use serde::Serialize;

/// The causality of a bond graph, with how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Causality {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Every bond in text order.
    pub bonds: Vec<Bond>,
    /// Every port of a storage, in text order.
    pub storage: Vec<Storage>,
    /// Signal states: the names of the integrators.
    pub integrators: Vec<String>,
    /// Closed signal paths through resistors or modulating signals, as cycles of named elements.
    pub algebraic_loops: Vec<Vec<String>>,
    /// Closed signal paths inside the junction structure.
    pub junction_loops: Vec<Vec<String>>,
    /// Closed signal paths through storages in derivative causality.
    pub differential_loops: Vec<Vec<String>>,
    /// Differentiation index of the equations.
    pub index: u32,
    /// Number of independent states, integrators included.
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
    /// The element at which effort is an input: the end where the stroke is drawn.
    pub effort_into: String,
    /// Its place in the order of decisions, from 1.
    pub order: u32,
    /// The step of the procedure that decided it, from 1; what follows from a decision belongs to its step.
    pub step: u32,
    /// Why it was decided so.
    pub reason: String,
}

/// One port of a storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Storage {
    /// The element.
    pub element: String,
    /// Its state, `ELEMENT.q` or `ELEMENT.p`.
    pub state: String,
    /// Whether the state is independent.
    pub causality: StorageCausality,
    /// In derivative causality: the elements from the one that forces it to the storage.
    pub forced_by: Vec<String>,
}

/// Whether a storage's state is independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StorageCausality {
    /// The state is independent.
    Integral,
    /// The state depends on others.
    Derivative,
}

impl StorageCausality {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            StorageCausality::Integral => "integral",
            StorageCausality::Derivative => "derivative",
        }
    }
}

impl Causality {
    /// Translates the causality of a graph.
    pub fn new(
        graph: &BondGraph,
        causality: &paynter_graph::Causality,
        diagnostics: Vec<Diagnostic>,
        naming: Naming,
    ) -> Causality {
        // A loop may pass signals, which are no elements.
        let element =
            |id: &ElementId| graph.elements.get(id.index()).map(|element| naming.name(&element.name));
        let path = |ids: &[ElementId]| -> Vec<String> { ids.iter().filter_map(element).collect() };
        let loops = |kind: LoopKind| -> Vec<Vec<String>> {
            causality.loops.iter().filter(|l| l.kind == kind).map(|l| path(&l.elements)).collect()
        };
        let storage = causality.storages.iter().map(|storage| Storage {
            element: naming.name(&graph.element(storage.element).name),
            state: graph.state_name(storage.element, storage.port),
            causality: if storage.integral {
                StorageCausality::Integral
            } else {
                StorageCausality::Derivative
            },
            forced_by: path(&storage.forced_by),
        });
        Causality {
            ok: !diagnostics.iter().any(|d| d.severity == super::Severity::Error),
            model: graph.name.clone(),
            bonds: graph.bond_ids().map(|id| bond(graph, causality, id, naming)).collect(),
            storage: storage.collect(),
            integrators: graph.integrators.iter().map(|integrator| naming.name(&integrator.name)).collect(),
            algebraic_loops: loops(LoopKind::Algebraic),
            junction_loops: loops(LoopKind::Junction),
            differential_loops: loops(LoopKind::Differential),
            index: causality.index,
            order: causality.order,
            rank: causality.rank,
            diagnostics,
        }
    }
}

fn bond(graph: &BondGraph, causality: &paynter_graph::Causality, id: BondId, naming: Naming) -> Bond {
    let bond = graph.bond(id);
    let decision = causality.strokes[id.index()];
    let name = |id: ElementId| naming.name(&graph.element(id).name);
    Bond {
        name: naming.name(&bond.name),
        from: name(bond.from.element),
        to: name(bond.to.element),
        effort_into: name(causality.effort_into(graph, id)),
        order: decision.order + 1,
        step: decision.step,
        reason: decision.reason.describe(graph),
    }
}
