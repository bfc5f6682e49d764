//! Elements that act as sources at a point: a resistor that sticks holds its flow at zero.

use super::Power;
use crate::model::{BondGraph, ElementId, Kind, Law};
use paynter_algebra::Expr;

impl BondGraph {
    /// The graph with a one-port replaced by a source of the effort or flow of its bond.
    pub fn with_source(&self, id: ElementId, power: Power, value: Expr) -> BondGraph {
        let mut graph = self.clone();
        if let Some(element) = graph.elements.get_mut(id.index()) {
            element.kind = match power {
                Power::Effort => Kind::Se,
                Power::Flow => Kind::Sf,
            };
            element.law = Law::Value(value);
        }
        graph
    }
}
