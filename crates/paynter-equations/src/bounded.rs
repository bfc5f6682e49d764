//! What cannot be below zero: the temperatures of bodies, and amounts whose
//! logarithm is a potential.

use crate::Equations;
use crate::tolerance::{LEAST_ABSOLUTE_TEMPERATURE, LEAST_TEMPERATURE};
use paynter_algebra::{Expr, Func, Node, Pool};
use paynter_base::number::short;
use paynter_base::{Diagnostic, code};
use paynter_graph::domain::Domain;
use paynter_graph::{BondGraph, Class, ElementId, Port, Power, Stored, Variable};
use rustc_hash::FxHashMap;

/// What cannot fall below a bound.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    /// A temperature, and the least there is.
    Temperature(f64),
    /// What the law of a storage takes the logarithm of.
    Amount,
}

/// A quantity of an element that cannot fall below a bound.
#[derive(Debug, Clone, Copy)]
pub struct Bounded {
    element: ElementId,
    /// The quantity, over states, inputs and parameters.
    pub value: Expr,
    quantity: Quantity,
}

/// The quantities of a model that have a bound.
pub fn bounded(pool: &Pool, graph: &BondGraph, equations: &Equations) -> Vec<Bounded> {
    let mut found = temperatures(graph, equations);
    for assignment in &equations.assignments {
        let Some(element) = assignment.element else { continue };
        if !matches!(graph.element(element).class(), Class::Storage(_)) {
            continue;
        }
        let logarithms =
            pool.reachable(&[assignment.value]).into_iter().filter_map(|node| match pool.node(node) {
                Node::Call(Func::Ln | Func::Log10, list) => Some(list[0]),
                _ => None,
            });
        found.extend(logarithms.map(|value| Bounded { element, value, quantity: Quantity::Amount }));
    }
    found
}

/// The temperatures of a model. The effort of a resistor is none, but a difference of two.
fn temperatures(graph: &BondGraph, equations: &Equations) -> Vec<Bounded> {
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
        let quantity = Quantity::Temperature(least);
        Some(Bounded { element, value: *efforts.get(&port.bond)?, quantity })
    };
    ports.filter_map(temperature).collect()
}

impl Bounded {
    /// Whether a value is below the bound; amounts by more than this share of the largest there has been.
    pub fn forbids(&self, value: f64, largest: f64, share: f64) -> bool {
        match self.quantity {
            Quantity::Temperature(least) => value < least,
            Quantity::Amount => value < -share * largest,
        }
    }

    /// Says that a value is below its bound.
    pub fn below(&self, pool: &Pool, graph: &BondGraph, when: &str, value: f64) -> Diagnostic {
        let element = graph.element(self.element);
        let (name, value) = (&element.name, short(value));
        let (code, message) = match self.quantity {
            Quantity::Temperature(_) => (
                code::BELOW_ABSOLUTE_ZERO,
                format!("{when} the temperature of `{name}` is {value} K, below absolute zero"),
            ),
            Quantity::Amount => (
                code::NEGATIVE_AMOUNT,
                format!(
                    "{when} the law of `{name}` takes the logarithm of `{}` = {value}, which is negative",
                    pool.display(self.value)
                ),
            ),
        };
        Diagnostic::new(code, message).at(element.span)
    }
}
