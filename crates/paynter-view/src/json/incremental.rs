//! The answer of `paynter incremental`: a derived model as data.

use super::Diagnostic;
use super::equations::{Definition, Writing};
use paynter_algebra::{Expr, Pool};
use paynter_graph::{BondGraph, Causality, ElementId, Kind, Law, flat_name};
use schemars::JsonSchema;
use serde::Serialize;

/// A model made from a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Incremental {
    /// Whether the original model has no error.
    pub ok: bool,
    /// The derived model's name.
    pub model: String,
    /// Its parameters, nominal variables (`nom_…`) included.
    pub parameters: Vec<DerivedParameter>,
    /// Its inputs.
    pub inputs: Vec<String>,
    /// Its outputs.
    pub outputs: Vec<DerivedOutput>,
    /// Its elements, junctions included.
    pub elements: Vec<DerivedElement>,
    /// Its bonds; those of the original come first, in the original's order.
    pub bonds: Vec<DerivedBond>,
    /// Increments of signals.
    pub signals: Vec<DerivedOutput>,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Definition>,
    /// The model as text that every other command accepts.
    pub text: String,
    /// Findings about the original model.
    pub diagnostics: Vec<Diagnostic>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DerivedParameter {
    /// Its name.
    pub name: String,
    /// Its value in SI.
    pub value: f64,
}

/// An output or a signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DerivedOutput {
    /// Its name.
    pub name: String,
    /// Its expression.
    pub expression: String,
}

/// An element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DerivedElement {
    /// Its name.
    pub name: String,
    /// Its kind, as the model language calls it.
    pub kind: String,
    /// Its number of ports.
    pub ports: usize,
    /// Its value, where it has one.
    pub value: Option<String>,
    /// Its laws, where it is given by laws or a matrix: each is zero, or `left = right`.
    pub laws: Vec<String>,
    /// Whether it is a sink that stands for the change of a parameter or a signal.
    pub added: bool,
}

/// A bond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DerivedBond {
    /// Its name.
    pub name: String,
    /// Where its arrow starts.
    pub from: String,
    /// Where its arrow points.
    pub to: String,
    /// The element at which effort is an input.
    pub effort_into: Option<String>,
}

impl Incremental {
    /// Translates a derived graph.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        causality: Option<&Causality>,
        text: &str,
        diagnostics: Vec<Diagnostic>,
    ) -> Incremental {
        let name = |id: ElementId| flat_name(&graph.element(id).name);
        let writing = Writing::new(pool, &[], &expressions(graph));
        let show = |expr: Expr| writing.text(pool, expr);
        let elements = graph.element_ids().map(|id| {
            let element = graph.element(id);
            let laws = match &element.law {
                Law::Equations(list) => {
                    list.iter().map(|law| format!("{} = {}", show(law.left), show(law.right))).collect()
                }
                Law::Matrix(rows) => rows
                    .iter()
                    .map(|row| row.iter().map(|entry| show(*entry)).collect::<Vec<_>>().join(", "))
                    .map(|row| format!("[{row}]"))
                    .collect(),
                _ => Vec::new(),
            };
            let value = match &element.law {
                Law::Value(value) => Some(show(*value)),
                Law::Switch { condition, on, off } => {
                    Some(format!("if({}, 1/({}), {})", show(*condition), show(*on), show(*off)))
                }
                _ => None,
            };
            DerivedElement {
                name: name(id),
                kind: match element.kind {
                    Kind::Zero => "0".to_owned(),
                    Kind::One => "1".to_owned(),
                    kind => kind.word().to_owned(),
                },
                ports: element.ports.len(),
                value,
                laws,
                added: element.is_sink(),
            }
        });
        let bonds = graph.bond_ids().map(|id| {
            let bond = graph.bond(id);
            DerivedBond {
                name: flat_name(&bond.name),
                from: name(bond.from.element),
                to: name(bond.to.element),
                effort_into: causality.map(|causality| name(causality.effort_into(graph, id))),
            }
        });
        let named =
            |name: &str, value: Expr| DerivedOutput { name: flat_name(name), expression: show(value) };
        let signals = (graph.signals.iter().map(|signal| named(&signal.name, signal.value)))
            .chain(graph.integrators.iter().map(|i| DerivedOutput {
                name: flat_name(&i.name),
                expression: format!("integral({}, {})", show(i.rate), show(i.initial)),
            }))
            .collect();
        Incremental {
            ok: true,
            model: graph.name.clone(),
            parameters: (graph.parameters.iter())
                .map(|p| DerivedParameter { name: flat_name(&p.name), value: p.number })
                .collect(),
            inputs: graph.inputs.iter().map(|input| flat_name(&input.name)).collect(),
            outputs: graph.outputs.iter().map(|output| named(&output.name, output.value)).collect(),
            elements: elements.collect(),
            bonds: bonds.collect(),
            signals,
            definitions: writing.definitions(pool),
            text: text.to_owned(),
            diagnostics,
        }
    }
}

/// Every expression of a graph that the document shows.
fn expressions(graph: &BondGraph) -> Vec<Expr> {
    let mut list = Vec::new();
    for element in &graph.elements {
        match &element.law {
            Law::Structure => {}
            Law::Value(value) => list.push(*value),
            Law::Matrix(rows) => list.extend(rows.iter().flatten()),
            Law::Equations(laws) => list.extend(laws.iter().flat_map(|law| [law.left, law.right])),
            Law::Switch { condition, on, off } => list.extend([*condition, *on, *off]),
        }
    }
    list.extend(graph.signals.iter().map(|signal| signal.value));
    list.extend(graph.integrators.iter().flat_map(|integrator| [integrator.rate, integrator.initial]));
    list.extend(graph.outputs.iter().map(|output| output.value));
    list
}
