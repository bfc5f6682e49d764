//! The sequential causality assignment procedure: decisions in order of
//! strength, each propagated as far as it forces others, with reasons kept.

use std::collections::VecDeque;

use super::rules::Rules;
use crate::kind::Class;
use crate::model::{BondGraph, BondId, ElementId, End, Kind, is_junction};

/// Why a bond has its stroke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The element's kind leaves no choice: sources, detectors, RS, switches that open.
    Mandatory(ElementId),
    /// The model says so.
    ByHand(ElementId),
    /// The other way would divide by something that can vanish.
    Safe(ElementId),
    /// A storage takes integral causality.
    Integral(ElementId),
    /// A storage takes derivative causality by hand.
    Derivative(ElementId),
    /// No causality leaves this storage integral without another losing it.
    Dependent(ElementId),
    /// A law that cannot be inverted is used as it is written.
    OneWay(ElementId),
    /// A resistor that may have either causality is given one.
    Chosen(ElementId),
    /// Nothing asks for either; one is taken.
    Arbitrary,
    /// Another bond of this junction or two-port forces it.
    Propagated(ElementId, BondId),
}

/// A decided bond: which way effort goes, in which step, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether effort enters the element the arrow points to.
    pub effort_to: bool,
    /// The step of the procedure, from 1.
    pub step: u32,
    /// Its place in the order of decisions, from 0.
    pub order: u32,
    /// Why.
    pub reason: Reason,
}

/// Two demands that cannot both be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// Where they meet.
    pub at: ElementId,
    /// The bonds that bring them; the second is absent when nothing determines the junction.
    pub bonds: (BondId, Option<BondId>),
}

/// A partial assignment that knows how to propagate and to take back.
#[derive(Debug, Clone)]
pub struct Assignment<'g> {
    graph: &'g BondGraph,
    pub decided: Vec<Option<Decision>>,
    trail: Vec<BondId>,
    /// By junction: bonds that determine it, and bonds still open.
    determined: Vec<u32>,
    open: Vec<u32>,
    queue: VecDeque<BondId>,
    pub step: u32,
}

impl<'g> Assignment<'g> {
    pub fn new(graph: &'g BondGraph) -> Assignment<'g> {
        Assignment {
            graph,
            decided: vec![None; graph.bonds.len()],
            trail: Vec::with_capacity(graph.bonds.len()),
            determined: vec![0; graph.elements.len()],
            open: graph.elements.iter().map(|e| e.ports.len() as u32).collect(),
            queue: VecDeque::new(),
            step: 0,
        }
    }

    /// Whether effort enters an element's port, where it is decided.
    pub fn effort_in(&self, element: ElementId, port: usize) -> Option<bool> {
        let port = self.graph.element(element).ports[port];
        self.decided[port.bond.index()].map(|d| d.effort_to == port.into)
    }

    /// A point to take back to.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all decisions since a mark.
    pub fn undo(&mut self, mark: usize) {
        self.queue.clear();
        while self.trail.len() > mark {
            let Some(bond) = self.trail.pop() else { break };
            let Some(decision) = self.decided[bond.index()].take() else { continue };
            for (end, into) in self.ends(bond) {
                let kind = self.graph.element(end.element).kind;
                self.open[end.element.index()] += 1;
                if is_junction(kind) && determines(kind, decision.effort_to == into) {
                    self.determined[end.element.index()] -= 1;
                }
            }
        }
    }

    fn ends(&self, bond: BondId) -> [(End, bool); 2] {
        let bond = self.graph.bond(bond);
        [(bond.from, false), (bond.to, true)]
    }

    /// Decides an element's port and everything that follows from it.
    pub fn decide(
        &mut self,
        element: ElementId,
        port: usize,
        effort_in: bool,
        reason: Reason,
    ) -> Result<(), Conflict> {
        let port = self.graph.element(element).ports[port];
        self.decide_bond(port.bond, effort_in == port.into, reason, element)
    }

    /// Decides a bond and everything that follows from it.
    pub fn decide_bond(
        &mut self,
        bond: BondId,
        effort_to: bool,
        reason: Reason,
        at: ElementId,
    ) -> Result<(), Conflict> {
        self.set(bond, effort_to, reason, at)?;
        while let Some(bond) = self.queue.pop_front() {
            for (end, _) in self.ends(bond) {
                self.propagate(end, bond)?;
            }
        }
        Ok(())
    }

    fn set(&mut self, bond: BondId, effort_to: bool, reason: Reason, at: ElementId) -> Result<(), Conflict> {
        if let Some(decision) = self.decided[bond.index()] {
            if decision.effort_to == effort_to {
                return Ok(());
            }
            let other = match reason {
                Reason::Propagated(_, from) => Some(from),
                _ => None,
            };
            return Err(Conflict { at, bonds: (bond, other) });
        }
        let order = self.trail.len() as u32;
        self.decided[bond.index()] = Some(Decision { effort_to, step: self.step, order, reason });
        self.trail.push(bond);
        for (end, into) in self.ends(bond) {
            let kind = self.graph.element(end.element).kind;
            self.open[end.element.index()] -= 1;
            if is_junction(kind) && determines(kind, effort_to == into) {
                self.determined[end.element.index()] += 1;
            }
        }
        self.queue.push_back(bond);
        Ok(())
    }

    /// Applies the rule of the element at one end of a newly decided bond.
    fn propagate(&mut self, end: End, bond: BondId) -> Result<(), Conflict> {
        let id = end.element;
        let element = self.graph.element(id);
        match element.class() {
            Class::Transformer | Class::Gyrator => {
                let port = end.port as usize;
                let Some(effort_in) = self.effort_in(id, port) else { return Ok(()) };
                // A transformer passes effort through, a gyrator turns it back.
                let other_in = if element.class() == Class::Transformer { !effort_in } else { effort_in };
                let other = element.ports[1 - port];
                self.set(other.bond, other_in == other.into, Reason::Propagated(id, bond), id)
            }
            Class::Junction(_) => self.propagate_junction(id, bond),
            _ => Ok(()),
        }
    }

    fn propagate_junction(&mut self, id: ElementId, bond: BondId) -> Result<(), Conflict> {
        let element = self.graph.element(id);
        let kind = element.kind;
        let determined = self.determined[id.index()];
        if determined > 1 {
            let other = self.determining(id).into_iter().find(|b| *b != bond);
            return Err(Conflict { at: id, bonds: (bond, other) });
        }
        let open = self.open[id.index()];
        if determined == 0 && open == 0 {
            return Err(Conflict { at: id, bonds: (bond, None) });
        }
        if open == 0 || (determined == 0 && open > 1) {
            return Ok(());
        }
        // Either one bond determines the junction and all others follow, or the last open one must.
        let effort_in = determines(kind, true) == (determined == 0);
        for port in &element.ports {
            if self.decided[port.bond.index()].is_none() {
                self.set(port.bond, effort_in == port.into, Reason::Propagated(id, bond), id)?;
            }
        }
        Ok(())
    }

    /// The bonds that determine a junction.
    pub fn determining(&self, junction: ElementId) -> Vec<BondId> {
        let element = self.graph.element(junction);
        let picks = |port: &&crate::model::Port| {
            self.decided[port.bond.index()]
                .is_some_and(|d| determines(element.kind, d.effort_to == port.into))
        };
        element.ports.iter().filter(picks).map(|port| port.bond).collect()
    }

    /// The decision that a bond goes back to.
    pub fn root(&self, mut bond: BondId) -> Reason {
        loop {
            match self.decided[bond.index()].map(|d| d.reason) {
                Some(Reason::Propagated(_, from)) => bond = from,
                Some(reason) => return reason,
                None => return Reason::Arbitrary,
            }
        }
    }

    /// The decisions that all bonds go back to.
    pub fn roots(&self) -> Vec<Reason> {
        let mut roots = vec![Reason::Arbitrary; self.decided.len()];
        // What forces a bond was decided before it.
        for bond in &self.trail {
            roots[bond.index()] = match self.decided[bond.index()].map(|d| d.reason) {
                Some(Reason::Propagated(_, from)) => roots[from.index()],
                Some(reason) => reason,
                None => Reason::Arbitrary,
            };
        }
        roots
    }

    /// Tries a decision; takes it back where it leads to a conflict.
    pub fn attempt(&mut self, element: ElementId, port: usize, effort_in: bool, reason: Reason) -> bool {
        let mark = self.mark();
        let ok = self.decide(element, port, effort_in, reason).is_ok();
        if !ok {
            self.undo(mark);
        }
        ok
    }

    /// Decides what the rules make mandatory. Every conflict here is final.
    pub fn mandatory(&mut self, rules: &Rules) -> Result<(), Conflict> {
        for id in self.graph.element_ids() {
            for (port, rule) in rules.ports[id.index()].iter().enumerate() {
                if let Some(effort_in) = rule.mandatory {
                    self.step += 1;
                    self.decide(id, port, effort_in, Reason::Mandatory(id))?;
                }
            }
        }
        // Junctions with a single bond have no choice either.
        for id in self.graph.element_ids() {
            let element = self.graph.element(id);
            if is_junction(element.kind) && element.ports.len() == 1 && self.open[id.index()] == 1 {
                self.step += 1;
                self.decide(id, 0, determines(element.kind, true), Reason::Mandatory(id))?;
            }
        }
        Ok(())
    }

    /// Lists bonds that are still open.
    pub fn open_bonds(&self) -> impl Iterator<Item = BondId> + '_ {
        self.graph.bond_ids().filter(|bond| self.decided[bond.index()].is_none())
    }
}

/// Whether a bond determines a junction: effort into a 0, flow into a 1.
pub fn determines(kind: Kind, effort_in: bool) -> bool {
    effort_in == (kind == Kind::Zero)
}
