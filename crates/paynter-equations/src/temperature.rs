//! Temperatures that no body can have: which elements have one, and whether
//! it is below absolute zero.

use crate::Equations;
use crate::tolerance::{LEAST_ABSOLUTE_TEMPERATURE, LEAST_TEMPERATURE};
use paynter_algebra::Expr;
use paynter_base::number::short;
use paynter_base::{Diagnostic, code};
use paynter_graph::domain::Domain;
use paynter_graph::{BondGraph, Class, ElementId, Port, Power, Stored, Variable};
use rustc_hash::FxHashMap;

/// A temperature that an element has or imposes, and what it cannot fall below.
#[derive(Debug, Clone, Copy)]
pub struct Temperature {
    element: ElementId,
    /// The temperature.
    pub value: Expr,
    least: f64,
}

/// The temperatures of a model. The effort of a resistor is none, but a difference of two.
pub fn temperatures(graph: &BondGraph, equations: &Equations) -> Vec<Temperature> {
    let efforts = equations.assignments.iter().filter_map(|assignment| match assignment.variable {
        Variable::Effort(bond) => Some((bond, assignment.value)),
        _ => None,
    });
    let efforts: FxHashMap<_, Expr> = efforts.collect();
    let bodies = graph.element_ids().filter(|id| {
        let class = graph.element(*id).class();
        matches!(class, Class::Storage(Stored::Displacement) | Class::Source(Power::Effort))
    });
    let ports = bodies.flat_map(|id| graph.element(id).ports.iter().map(move |port| (id, port)));
    let temperature = |(element, port): (ElementId, &Port)| {
        let least = match port.domain? {
            Domain::Thermal => LEAST_ABSOLUTE_TEMPERATURE,
            Domain::Heat => LEAST_TEMPERATURE,
            _ => return None,
        };
        Some(Temperature { element, value: *efforts.get(&port.bond)?, least })
    };
    ports.filter_map(temperature).collect()
}

impl Temperature {
    /// Whether no body is as cold as that.
    pub fn forbids(&self, value: f64) -> bool {
        value < self.least
    }

    /// Says that a temperature is below what it can be.
    pub fn too_cold(&self, graph: &BondGraph, when: &str, value: f64) -> Diagnostic {
        let element = graph.element(self.element);
        let (name, value) = (&element.name, short(value));
        let message = format!("{when} the temperature of `{name}` is {value} K, below absolute zero");
        Diagnostic::new(code::BELOW_ABSOLUTE_ZERO, message).at(element.span)
    }
}
