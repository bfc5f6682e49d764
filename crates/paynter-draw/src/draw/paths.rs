//! Causal paths on the causal bond graph, for highlighting: effort travels
//! towards the stroke, flow away from it, and an element turns one into the
//! other.

use super::diagram::Diagram;
use paynter_graph::{BondGraph, BondId, Causality, Class, ElementId};
use std::collections::VecDeque;

/// A variable on its way: a bond's effort (true) or flow.
type Travel = (BondId, bool);

/// Finds a shortest causal path between two elements: its bonds and the
/// elements it passes, ends included.
pub fn causal_path(
    graph: &BondGraph,
    causality: &Causality,
    from: ElementId,
    to: ElementId,
) -> Option<(Vec<BondId>, Vec<ElementId>)> {
    let slot = |(bond, effort): Travel| 2 * bond.index() + usize::from(effort);
    let mut reached_from: Vec<Option<Option<Travel>>> = vec![None; 2 * graph.bonds.len()];
    let mut queue = VecDeque::new();
    for port in 0..graph.element(from).ports.len() {
        let start = output(graph, causality, from, port);
        if reached_from[slot(start)].is_none() {
            reached_from[slot(start)] = Some(None);
            queue.push_back(start);
        }
    }
    while let Some(at) = queue.pop_front() {
        let target = target(graph, causality, at);
        if target == to {
            let (mut bonds, mut elements) = (vec![at.0], vec![to]);
            let mut here = at;
            while let Some(Some(before)) = reached_from[slot(here)] {
                elements.push(self::target(graph, causality, before));
                bonds.push(before.0);
                here = before;
            }
            elements.push(from);
            bonds.reverse();
            elements.reverse();
            return Some((bonds, elements));
        }
        for next in onward(graph, causality, target, at) {
            if reached_from[slot(next)].is_none() {
                reached_from[slot(next)] = Some(Some(at));
                queue.push_back(next);
            }
        }
    }
    None
}

/// What an element gives at a port: flow where effort enters, else effort.
fn output(graph: &BondGraph, causality: &Causality, element: ElementId, port: usize) -> Travel {
    (graph.element(element).ports[port].bond, !causality.effort_in(graph, element, port))
}

/// The element a variable travels to.
fn target(graph: &BondGraph, causality: &Causality, (bond, effort): Travel) -> ElementId {
    let into = causality.effort_into(graph, bond);
    if effort {
        return into;
    }
    let bond = graph.bond(bond);
    if bond.from.element == into { bond.to.element } else { bond.from.element }
}

/// The variables an element computes from one that arrives.
fn onward(graph: &BondGraph, causality: &Causality, element: ElementId, arriving: Travel) -> Vec<Travel> {
    let ports = &graph.element(element).ports;
    let outputs = (0..ports.len()).map(|port| output(graph, causality, element, port));
    match graph.element(element).class() {
        Class::Source(_) | Class::Detector(_) => Vec::new(),
        Class::Resistor | Class::Storage(_) | Class::EntropySource => outputs.collect(),
        // Efforts pass a junction as efforts, flows as flows; a transformer likewise.
        Class::Junction(_) | Class::Transformer => {
            outputs.filter(|&(bond, effort)| bond != arriving.0 && effort == arriving.1).collect()
        }
        Class::Gyrator => {
            outputs.filter(|&(bond, effort)| bond != arriving.0 && effort != arriving.1).collect()
        }
    }
}

impl Diagram {
    /// Highlights bonds and elements.
    pub fn highlight(&mut self, bonds: &[BondId], elements: &[ElementId]) {
        for bond in bonds {
            if let Some(bond) = self.bonds.get_mut(bond.index()) {
                bond.highlighted = true;
            }
        }
        for element in elements {
            if let Some(node) = self.nodes.get_mut(element.index()) {
                node.highlighted = true;
            }
        }
    }

    /// Highlights the closed signal paths without a state; returns how many there are.
    pub fn highlight_loops(&mut self, graph: &BondGraph, causality: &Causality) -> usize {
        for found in &causality.loops {
            let members = &found.elements;
            let bonds: Vec<BondId> = graph
                .bond_ids()
                .filter(|&bond| {
                    let bond = graph.bond(bond);
                    (0..members.len()).any(|at| {
                        let pair = (members[at], members[(at + 1) % members.len()]);
                        pair == (bond.from.element, bond.to.element)
                            || pair == (bond.to.element, bond.from.element)
                    })
                })
                .collect();
            self.highlight(&bonds, members);
        }
        causality.loops.len()
    }
}
