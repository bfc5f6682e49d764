//! Adds to a graph: sinks beside an element's port, with the junction that
//! takes them in, and the numbers of unnamed bonds.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::Expr;
use paynter_base::Span;
use paynter_graph::{
    Bond, BondGraph, BondId, Class, Element, ElementId, End, Kind, Law, Origin, Port, Power, Written,
    is_junction,
};

use crate::names::{is_number, plain};

/// An element to be added.
pub(crate) struct New {
    pub name: String,
    pub kind: Kind,
    pub law: Law,
    pub ports: usize,
    /// Where what it is made of stands.
    pub at: (Span, Written),
    pub origin: Origin,
}

/// A graph that grows.
pub(crate) struct Builder {
    pub graph: BondGraph,
    /// By element, port and kind: the junction that takes in its sinks.
    junctions: BTreeMap<(ElementId, usize, bool), ElementId>,
    /// Elements that stand for changes of parameters.
    pub sinks: Vec<ElementId>,
}

impl Builder {
    pub fn new(graph: BondGraph) -> Builder {
        Builder { graph, junctions: BTreeMap::new(), sinks: Vec::new() }
    }

    /// Adds an element whose ports are filled as bonds come.
    pub fn element(&mut self, new: New) -> ElementId {
        let New { name, kind, law, ports, at: (span, written), origin } = new;
        let id = ElementId(self.graph.elements.len() as u32);
        let place = Port { bond: BondId(u32::MAX), into: false, domain: None };
        let ports = vec![place; if is_junction(kind) { 0 } else { ports }];
        let initial = Vec::new();
        self.graph.elements.push(Element { name, kind, ports, law, initial, span, written, origin });
        id
    }

    /// Where an element stands in the text, for what is made of it.
    pub fn place(&self, id: ElementId) -> (Span, Written) {
        let element = self.graph.element(id);
        (element.span, element.written)
    }

    /// Adds a bond between two ports (from 0); a junction's port is found at the end.
    pub fn bond(&mut self, from: (ElementId, usize), to: (ElementId, usize), span: Span) -> BondId {
        let id = BondId(self.graph.bonds.len() as u32);
        let end = |(element, port): (ElementId, usize)| End { element, port: port as u32 };
        self.graph.bonds.push(Bond { name: "b0".to_owned(), from: end(from), to: end(to), span });
        for ((element, port), into) in [(from, false), (to, true)] {
            if let Some(place) = self.graph.elements[element.index()].ports.get_mut(port) {
                (place.bond, place.into) = (id, into);
            }
        }
        id
    }

    /// The junction beside a port that takes in effort sinks (a 1) or flow sinks (a 0).
    pub fn junction(&mut self, id: ElementId, name: &str, port: usize, flow: bool) -> ElementId {
        if let Some(junction) = self.junctions.get(&(id, port, flow)) {
            return *junction;
        }
        let junction = self.junction_before(id, name, port, flow);
        self.junctions.insert((id, port, flow), junction);
        junction
    }

    /// A new junction right before a port: a 0 for flow, a 1 for effort.
    pub fn junction_before(&mut self, id: ElementId, name: &str, port: usize, flow: bool) -> ElementId {
        let element = self.graph.element(id);
        let (span, place, many) = (element.span, element.ports[port], element.ports.len() > 1);
        let at = self.place(id);
        let number = if many { format!("_{}", port + 1) } else { String::new() };
        let mut name = format!("j_{name}{number}");
        while self.graph.elements.iter().any(|other| other.name == name) {
            name.push_str(if flow { "_f" } else { "_e" });
        }
        let kind = Class::Junction(if flow { Power::Effort } else { Power::Flow }).kind();
        let origin = Origin::Junction { of: self.graph.element(id).original().to_owned() };
        let junction = self.element(New { name, kind, law: Law::Structure, ports: 0, at, origin });
        // The bond that was there now ends at the junction.
        let shared = &mut self.graph.bonds[place.bond.index()];
        let end = if place.into { &mut shared.to } else { &mut shared.from };
        end.element = junction;
        if place.into {
            self.bond((junction, 0), (id, port), span);
        } else {
            self.bond((id, port), (junction, 0), span);
        }
        junction
    }

    /// Whether an element's bond at a port points into it.
    pub fn points_into(&self, id: ElementId, port: usize) -> bool {
        self.graph.element(id).ports[port].into
    }

    /// Adds a source or sink behind a junction, power along the bond into it.
    pub fn sink(
        &mut self,
        junction: ElementId,
        name: String,
        flow: bool,
        value: Expr,
        origin: Origin,
    ) -> ElementId {
        let sink = self.added(junction, name, flow, value, origin);
        self.bond((junction, 0), (sink, 0), self.place(junction).0);
        sink
    }

    /// Adds a source before a junction, power along the bond out of it.
    pub fn source(&mut self, junction: ElementId, name: String, flow: bool, value: Expr, origin: Origin) {
        let source = self.added(junction, name, flow, value, origin);
        self.bond((source, 0), (junction, 0), self.place(junction).0);
    }

    fn added(
        &mut self,
        junction: ElementId,
        name: String,
        flow: bool,
        value: Expr,
        origin: Origin,
    ) -> ElementId {
        let at = self.place(junction);
        let kind = Class::Source(if flow { Power::Flow } else { Power::Effort }).kind();
        let added = self.element(New { name, kind, law: Law::Value(value), ports: 1, at, origin });
        self.sinks.push(added);
        added
    }

    /// Numbers the bonds and gives junctions their ports, in the order of bonds.
    pub fn finish(&mut self) {
        let graph = &mut self.graph;
        number_bonds(graph);
        for element in &mut graph.elements {
            if is_junction(element.kind) {
                element.ports.clear();
            }
        }
        for index in 0..graph.bonds.len() {
            for into in [false, true] {
                let bond = &mut graph.bonds[index];
                let end = if into { &mut bond.to } else { &mut bond.from };
                let element = &mut graph.elements[end.element.index()];
                if is_junction(element.kind) {
                    end.port = element.ports.len() as u32;
                    element.ports.push(Port { bond: BondId(index as u32), into, domain: None });
                }
            }
        }
    }
}

/// Numbers the bonds without a name as flattening does.
fn number_bonds(graph: &mut BondGraph) {
    let names = graph.bonds.iter().filter(|bond| bond.name != "b0" && !is_number(&bond.name));
    let mut taken: BTreeSet<String> = names.map(|bond| plain(&bond.name)).collect();
    taken.extend(graph.elements.iter().map(|element| plain(&element.name)));
    let mut number = 0;
    for bond in graph.bonds.iter_mut().filter(|bond| bond.name == "b0" || is_number(&bond.name)) {
        loop {
            number += 1;
            let name = format!("b{number}");
            if !taken.contains(&name) {
                bond.name = name;
                break;
            }
        }
    }
}
