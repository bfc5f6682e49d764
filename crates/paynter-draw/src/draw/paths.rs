//! Causal paths on the causal bond graph, for highlighting: effort travels
//! towards the stroke, flow away from it, and an element turns one into the
//! other.

use super::diagram::Diagram;
use paynter_base::{Diagnostic, closest, code};
use paynter_graph::{BondGraph, BondId, Causality, Class, ElementId, flat_name};
use std::collections::VecDeque;

/// A variable on its way: a bond's effort (true) or flow.
type Travel = (BondId, bool);

/// Finds a shortest causal path between two elements by their names, or says why there is none.
pub fn causal_path_between(
    graph: &BondGraph,
    causality: &Causality,
    from: &str,
    to: &str,
) -> Result<(Vec<BondId>, Vec<ElementId>), Box<Diagnostic>> {
    let (start, end) = (element_named(graph, from)?, element_named(graph, to)?);
    causal_path(graph, causality, start, end).ok_or_else(|| {
        let message = format!("no causal path leads from `{from}` to `{to}`");
        Box::new(Diagnostic::new(code::NO_CAUSAL_PATH, message))
    })
}

/// Finds an element by its name.
fn element_named(graph: &BondGraph, name: &str) -> Result<ElementId, Box<Diagnostic>> {
    let names = || graph.elements.iter().map(|element| element.name.as_str());
    if let Some(index) = names().position(|other| other == name || flat_name(other) == name) {
        return Ok(ElementId(index as u32));
    }
    let diagnostic = Diagnostic::new(code::UNKNOWN_NAME, format!("there is no element `{name}`"));
    Err(Box::new(match closest(name, names()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("name an element of the model"),
    }))
}

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
