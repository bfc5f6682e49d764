//! Groups of dependent storages: the ports of storages in derivative causality
//! and those of all storages that determine their states. What is put out there
//! is differentiated, so the sink of a parameter must stand where it is not.

use std::collections::BTreeSet;

use paynter_algebra::{Expr, Pool};
use paynter_graph::{BondGraph, BondId, Causality, Class, ElementId, Power, Variable, is_storage};

/// The ports of storages that belong to groups of dependent ones.
pub(crate) fn dependent_groups(
    pool: &Pool,
    graph: &BondGraph,
    causality: &Causality,
) -> BTreeSet<(ElementId, usize)> {
    let mut members = BTreeSet::new();
    let mut walk = Walk { pool, graph, causality, seen: Vec::new(), open: Vec::new() };
    walk.seen = vec![false; 2 * graph.bonds.len() + graph.signals.len()];
    for storage in causality.storages.iter().filter(|storage| !storage.integral) {
        members.insert((storage.element, storage.port));
        let bond = graph.element(storage.element).ports[storage.port].bond;
        // A dependent C is given its effort, a dependent I its flow.
        if let Some(stored) = graph.element(storage.element).stored() {
            walk.reach(stored.conjugate().of(bond));
        }
    }
    while let Some(variable) = walk.open.pop() {
        members.extend(walk.follow(variable));
    }
    members
}

/// A walk against the causal paths.
struct Walk<'a> {
    pool: &'a Pool,
    graph: &'a BondGraph,
    causality: &'a Causality,
    seen: Vec<bool>,
    open: Vec<Variable>,
}

impl Walk<'_> {
    fn reach(&mut self, variable: Variable) {
        let place = match variable {
            Variable::Effort(bond) => 2 * bond.index(),
            Variable::Flow(bond) => 2 * bond.index() + 1,
            Variable::Signal(k) => 2 * self.graph.bonds.len() + k as usize,
            _ => return,
        };
        if !std::mem::replace(&mut self.seen[place], true) {
            self.open.push(variable);
        }
    }

    /// Goes to what a variable is computed from. Returns the port of a storage that puts it out, if one does.
    fn follow(&mut self, variable: Variable) -> Option<(ElementId, usize)> {
        let (bond, effort) = match variable {
            Variable::Effort(bond) => (bond, true),
            Variable::Flow(bond) => (bond, false),
            Variable::Signal(k) => {
                self.read(&[self.graph.signals[k as usize].value]);
                return None;
            }
            _ => return None,
        };
        // Effort is put out by the element that it does not enter, flow by the other.
        let into = self.causality.effort_into(self.graph, bond);
        let ends = [self.graph.bond(bond).from, self.graph.bond(bond).to];
        let end = ends.into_iter().find(|end| (end.element == into) != effort)?;
        let element = self.graph.element(end.element);
        match element.class() {
            Class::Junction(_) => self.junction(end.element, bond, effort),
            Class::Transformer | Class::Gyrator => {
                let other = element.ports[1 - end.port as usize].bond;
                let passes = if element.class() == Class::Transformer { effort } else { !effort };
                self.reach(if passes { Variable::Effort(other) } else { Variable::Flow(other) });
            }
            _ => self.incoming(end.element),
        }
        self.read(&element.law.expressions());
        is_storage(element.kind).then_some((end.element, end.port as usize))
    }

    fn junction(&mut self, id: ElementId, bond: BondId, effort: bool) {
        let element = self.graph.element(id);
        let common = effort == (element.class() == Class::Junction(Power::Effort));
        for (port, place) in element.ports.iter().enumerate().filter(|(_, place)| place.bond != bond) {
            let determines = self.causality.effort_in(self.graph, id, port)
                == (element.class() == Class::Junction(Power::Effort));
            if !common || determines {
                self.reach(if effort { Variable::Effort(place.bond) } else { Variable::Flow(place.bond) });
            }
        }
    }

    /// What enters an element's ports: of a storage only what its law reads at once.
    fn incoming(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        for (port, place) in element.ports.iter().enumerate() {
            let effort_in = self.causality.effort_in(self.graph, id, port);
            let integrated = element.stored().is_some_and(|stored| effort_in == stored.integral_effort_in());
            if !integrated {
                self.reach(if effort_in { Variable::Effort(place.bond) } else { Variable::Flow(place.bond) });
            }
        }
    }

    fn read(&mut self, expressions: &[Expr]) {
        for expr in expressions {
            for symbol in self.pool.symbols(*expr) {
                if let Some(variable) = self.graph.variables.meaning(symbol) {
                    self.reach(variable);
                }
            }
        }
    }
}
