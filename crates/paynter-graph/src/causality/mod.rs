//! Causality: which way effort and flow are computed on every bond, why, and
//! what follows from it.
//!
//! Decisions are made in the order of the sequential assignment procedure:
//! what is mandatory, what the model fixes by hand, what avoids a division by
//! something that can vanish, storages in integral causality, laws that
//! cannot be turned round, and at last free resistors; each is propagated
//! through the junction structure. Where this leaves storages dependent, a
//! matching tells whether another causality has fewer (see [`network`]), and
//! the procedure is then told which way to go.

mod assign;
mod loops;
mod matching;
mod network;
mod report;
mod rules;

use paynter_algebra::{Expr, Pool};
use paynter_base::{Diagnostic, Diagnostics, code};

pub use assign::{Decision, Reason};
pub use loops::{Loop, LoopKind};
pub use rules::{PortRule, Ranges, Strength, field_rules};

use crate::guard::{Guard, Guards};
use crate::kind::{LawForm, Stored, kind_of};
use crate::limits::{CAUSALITY_TRIES, RELAX_BUDGET, RING_BUDGET};
use crate::model::{BondGraph, BondId, ElementId, Kind, Override, is_storage};
use assign::Assignment;
use rules::{Rules, rules};

/// The causality of a whole graph.
#[derive(Debug, Clone, Default)]
pub struct Causality {
    /// By bond.
    pub strokes: Vec<Decision>,
    /// Every storage's ports, in text order.
    pub storages: Vec<Storage>,
    /// Closed signal paths without a state, shortest first in each group.
    pub loops: Vec<Loop>,
    /// Differentiation index of the equations: 0 explicit, 1 with algebraic loops, 2 and more with
    /// dependent storages.
    pub index: u32,
    /// Number of independent states, integrators of signals included.
    pub order: usize,
    /// Number of storages that can take derivative causality: the rank of the state matrix.
    pub rank: usize,
    /// Elements turned round so that no loop of junctions determines itself.
    pub yielded: Vec<ElementId>,
    /// Elements that divide by something that can vanish, because no causality avoids it.
    pub divides: Vec<ElementId>,
    /// What it takes for granted about the values of parameters.
    pub guards: Guards,
}

/// The causality of one storage's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// The storage.
    pub element: ElementId,
    /// Its port, from 0.
    pub port: usize,
    /// Integral or derivative.
    pub integral: bool,
    /// For derivative causality: the elements from the one that forces it to the storage.
    pub forced_by: Vec<ElementId>,
}

impl Causality {
    /// Whether effort enters an element at a port.
    pub fn effort_in(&self, graph: &BondGraph, element: ElementId, port: usize) -> bool {
        let port = graph.element(element).ports[port];
        self.strokes[port.bond.index()].effort_to == port.into
    }

    /// The element at which effort is an input.
    pub fn effort_into(&self, graph: &BondGraph, bond: BondId) -> ElementId {
        let b = graph.bond(bond);
        if self.strokes[bond.index()].effort_to { b.to.element } else { b.from.element }
    }

    /// Bonds in the order they were decided.
    pub fn in_order(&self) -> Vec<BondId> {
        let mut bonds: Vec<BondId> = (0..self.strokes.len() as u32).map(BondId).collect();
        bonds.sort_by_key(|bond| self.strokes[bond.index()].order);
        bonds
    }
}

impl Causality {
    /// What an element divides by in this causality, where one value says it.
    pub fn divisor(&self, pool: &mut Pool, graph: &BondGraph, id: ElementId) -> Option<Expr> {
        report::divisor(pool, graph, self, id)
    }

    /// The graph with some elements made to take the other causality at their first port.
    pub fn turned(&self, graph: &BondGraph, elements: &[ElementId]) -> BondGraph {
        let mut turned = graph.clone();
        for id in elements {
            let element = graph.element(*id);
            let bond = graph.bond(element.ports[0].bond);
            let other = if bond.from.element == *id { bond.to.element } else { bond.from.element };
            let effort_into = if self.effort_in(graph, *id, 0) { other } else { *id };
            turned.overrides.push(Override::Stroke {
                bond: element.ports[0].bond,
                effort_into,
                span: element.span,
            });
        }
        turned
    }
}

/// Assigns causality to a sound graph. Returns nothing but the diagnostics when it is impossible.
pub fn assign_causality(pool: &mut Pool, graph: &BondGraph) -> (Option<Causality>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut rules = rules(pool, graph);
    apply_preferences(graph, &mut rules);
    let Some(assignment) = solve(graph, &rules, &mut diagnostics) else {
        return (None, diagnostics);
    };
    let outcome = Outcome::new(pool, graph, &rules, &assignment);
    let Outcome { roots, mut causality, singular } = open_rings(pool, graph, &mut rules, outcome);
    causality.divides = report::dividing(graph, &rules, &causality);
    let divisors: Vec<Option<Expr>> =
        causality.divides.iter().map(|id| report::divisor(pool, graph, &causality, *id)).collect();
    report::diagnose(pool, graph, &rules, &roots, &causality, (&divisors, &singular), &mut diagnostics);
    let zero =
        divisors.iter().flatten().map(|&value| Guard::Sign(value, report::sign_now(pool, graph, value)));
    let guards = rules.guards.into_iter().chain(zero).collect();
    causality.guards = Guards::new(pool, graph, guards);
    for elements in &singular {
        diagnostics.push(report::singular(graph, elements));
    }
    (Some(causality), report::gather(diagnostics))
}

/// A causality with what follows from it.
struct Outcome {
    /// By bond: the decision it goes back to.
    roots: Vec<Reason>,
    causality: Causality,
    /// Groups of elements whose equations leave something undetermined.
    singular: Vec<Vec<ElementId>>,
}

impl Outcome {
    fn new(pool: &mut Pool, graph: &BondGraph, rules: &Rules, assignment: &Assignment<'_>) -> Outcome {
        let strokes: Vec<Decision> = assignment.decided.iter().flatten().copied().collect();
        let roots = assignment.roots();
        let storages = report::storages(graph, assignment, &roots);
        let integral = storages.iter().filter(|s| s.integral).count();
        let rank = integral.saturating_sub(stuck_in_integral(graph, rules));
        let order = integral + graph.integrators.len();
        let mut causality = Causality { strokes, storages, order, rank, ..Causality::default() };
        let paths = loops::SignalGraph::new(pool, graph, &causality);
        causality.loops = paths.loops(graph);
        causality.index = paths.index(!causality.loops.is_empty());
        let singular = paths.singular(pool, graph, &causality);
        Outcome { roots, causality, singular }
    }
}

/// Turns elements round whose causality closes a loop that determines itself.
///
/// As many integral storages as strokes allow may be one too many: in a delta
/// of capacitors each could give its effort to the next, but their efforts sum
/// to zero. What decided the strokes of such a loop is turned round, a free
/// resistor before a storage, as long as that leaves fewer such loops.
fn open_rings(pool: &mut Pool, graph: &BondGraph, rules: &mut Rules, mut outcome: Outcome) -> Outcome {
    let mut tries = CAUSALITY_TRIES.min(RING_BUDGET / graph.bonds.len().max(1));
    let mut yielded = Vec::new();
    while let Some(ring) = outcome.singular.first() {
        let mut better = None;
        for (id, port) in ring_makers(graph, rules, &outcome, ring) {
            if tries == 0 {
                break;
            }
            tries -= 1;
            let effort_in = outcome.causality.effort_in(graph, id, port);
            rules.ports[id.index()][port].mandatory = Some(!effort_in);
            if let Some(assignment) = solve(graph, rules, &mut Diagnostics::new()) {
                let next = Outcome::new(pool, graph, rules, &assignment);
                if next.singular.len() < outcome.singular.len() {
                    better = Some((id, next));
                    break;
                }
            }
            rules.ports[id.index()][port].mandatory = None;
        }
        let Some((id, next)) = better else { break };
        yielded.push(id);
        outcome = next;
    }
    outcome.causality.yielded = yielded;
    outcome
}

/// The ports whose decisions run into a loop: free resistors first, then storages.
fn ring_makers(
    graph: &BondGraph,
    rules: &Rules,
    outcome: &Outcome,
    ring: &[ElementId],
) -> Vec<(ElementId, usize)> {
    let bonds = ring.iter().flat_map(|id| &graph.element(*id).ports).map(|port| port.bond);
    let mut makers: Vec<ElementId> =
        bonds.filter_map(|bond| report::decided_by(outcome.roots[bond.index()])).collect();
    makers.sort_by_key(|id| (is_storage(graph.element(*id).kind), *id));
    makers.dedup();
    let ports = |id: ElementId| (0..rules.ports[id.index()].len()).map(move |port| (id, port));
    makers
        .into_iter()
        .filter(|id| kind_of(graph.element(*id).kind).law() == LawForm::Field)
        .flat_map(ports)
        .filter(|&(id, port)| {
            let rule = rules.ports[id.index()][port];
            rule.mandatory.is_none() && !matches!(rule.preferred, Some((_, Strength::ByHand)))
        })
        .collect()
}

/// Turns `prefer` statements into preferences of storages.
fn apply_preferences(graph: &BondGraph, rules: &mut Rules) {
    for entry in &graph.overrides {
        let Override::Prefer { element, port, integral, .. } = entry else { continue };
        let effort_in = integral_effort_in(graph.element(*element).kind) == *integral;
        for (k, rule) in rules.ports[element.index()].iter_mut().enumerate() {
            if port.is_none_or(|port| port == k) {
                rule.preferred = Some((effort_in, Strength::ByHand));
            }
        }
    }
}

/// Whether effort enters a storage in integral causality.
fn integral_effort_in(kind: Kind) -> bool {
    kind_of(kind).class().stored().is_some_and(Stored::integral_effort_in)
}

/// Runs the procedure; on conflict says which elements cannot agree.
fn solve<'g>(graph: &'g BondGraph, rules: &Rules, diagnostics: &mut Diagnostics) -> Option<Assignment<'g>> {
    let mut start = Assignment::new(graph);
    if let Err(conflict) = start.mandatory(rules) {
        diagnostics.push(report::conflict(graph, &start, rules, &conflict));
        return None;
    }
    if let Err(diagnostic) = by_hand(graph, &mut start) {
        diagnostics.push(*diagnostic);
        return None;
    }
    preferred(graph, rules, &mut start, diagnostics);
    let mandatory = start.clone();
    let avoided = avoid_divisions(graph, rules, &mut start);
    let mut first = start.clone();
    let complete = sequence(graph, rules, &mut first, None);
    let reached = wishes(graph, rules, &|bond| first.decided[bond.index()].map(|d| d.effort_to));
    if complete && reached.met == reached.all {
        return Some(first);
    }
    let hint = values(&first);
    let (start, target) = match network::best(graph, rules, &values(&start), &hint) {
        Ok(best) => (start, best.effort_to),
        Err(impossible) if !avoided => {
            diagnostics.push(report::impossible(graph, &impossible.elements));
            return None;
        }
        Err(_) => match relax(graph, rules, mandatory) {
            Ok(found) => found,
            Err(elements) => {
                diagnostics.push(report::impossible(graph, &elements));
                return None;
            }
        },
    };
    let possible = wishes(graph, rules, &|bond| Some(target[bond.index()]));
    if complete && possible.met <= reached.met {
        return Some(first);
    }
    let mut second = start;
    sequence(graph, rules, &mut second, Some(&target));
    Some(second)
}

fn values(assignment: &Assignment<'_>) -> Vec<Option<bool>> {
    assignment.decided.iter().map(|d| d.map(|d| d.effort_to)).collect()
}

/// Decides strokes that the model fixes by hand.
fn by_hand(graph: &BondGraph, assignment: &mut Assignment<'_>) -> Result<(), Box<Diagnostic>> {
    for entry in &graph.overrides {
        let Override::Stroke { bond, effort_into, span } = entry else { continue };
        let effort_to = graph.bond(*bond).to.element == *effort_into;
        assignment.step += 1;
        if let Err(conflict) =
            assignment.decide_bond(*bond, effort_to, Reason::ByHand(*effort_into), *effort_into)
        {
            return Err(Box::new(report::bad_override(graph, assignment, *bond, *span, &conflict)));
        }
    }
    Ok(())
}

/// Decides the storages that the model wants in derivative causality, before anything else has a wish; says where
/// that cannot be.
fn preferred(
    graph: &BondGraph,
    rules: &Rules,
    assignment: &mut Assignment<'_>,
    diagnostics: &mut Diagnostics,
) {
    for entry in &graph.overrides {
        let Override::Prefer { element, port, integral: false, span } = entry else { continue };
        let ports = graph.element(*element).ports.len();
        for port in (0..ports).filter(|k| port.is_none_or(|port| port == *k)) {
            let Some((effort_in, Strength::ByHand)) = rules.ports[element.index()][port].preferred else {
                continue;
            };
            let mark = assignment.mark();
            assignment.step += 1;
            let decided = match assignment.effort_in(*element, port) {
                Some(present) => present == effort_in,
                None => assignment.attempt(*element, port, effort_in, Reason::Derivative(*element)),
            };
            let fixed = values(assignment);
            if !decided || network::best(graph, rules, &fixed, &fixed).is_err() {
                assignment.undo(mark);
                let name = &graph.element(*element).name;
                let message = format!(
                    "`{name}` cannot be in derivative causality: what is around it gives it no choice"
                );
                diagnostics.push(Diagnostic::new(code::PREFERENCE_REFUSED, message).at(*span));
            }
        }
    }
}

/// Decides the ports where the other way divides by something that can
/// vanish. Returns whether any was decided; those that cannot be are left and reported later.
fn avoid_divisions(graph: &BondGraph, rules: &Rules, assignment: &mut Assignment<'_>) -> bool {
    let mut any = false;
    for id in graph.element_ids() {
        for (port, rule) in rules.ports[id.index()].iter().enumerate() {
            let Some(effort_in) = rule.safe.filter(|_| rule.insists) else { continue };
            if assignment.effort_in(id, port).is_none() {
                assignment.step += 1;
                any |= assignment.attempt(id, port, effort_in, Reason::Safe(id));
            }
        }
    }
    any
}

/// Where all divisions cannot be avoided at once, avoids them one after the
/// other as far as a causality remains.
fn relax<'g>(
    graph: &'g BondGraph,
    rules: &Rules,
    mut start: Assignment<'g>,
) -> Result<(Assignment<'g>, Vec<bool>), Vec<ElementId>> {
    let check = |assignment: &Assignment<'_>| {
        let fixed = values(assignment);
        network::best(graph, rules, &fixed, &fixed)
    };
    let mut best = check(&start).map_err(|impossible| impossible.elements)?;
    let mut budget = RELAX_BUDGET;
    for id in graph.element_ids() {
        for (port, rule) in rules.ports[id.index()].iter().enumerate() {
            let Some(effort_in) = rule.safe.filter(|_| rule.insists) else { continue };
            if start.effort_in(id, port).is_some() || budget < graph.bonds.len() {
                continue;
            }
            budget -= graph.bonds.len();
            let mark = start.mark();
            start.step += 1;
            if !start.attempt(id, port, effort_in, Reason::Safe(id)) {
                continue;
            }
            match check(&start) {
                Ok(found) => best = found,
                Err(_) => start.undo(mark),
            }
        }
    }
    Ok((start, best.effort_to))
}

/// Decides storages, one-way laws and resistors in text order, guided by a
/// target where there is one. Returns false when it finds no assignment, which can
/// only happen without a target.
fn sequence(
    graph: &BondGraph,
    rules: &Rules,
    assignment: &mut Assignment<'_>,
    target: Option<&[bool]>,
) -> bool {
    for strength in [Strength::ByHand, Strength::Flat, Strength::Storage, Strength::OneWay, Strength::Free] {
        for id in graph.element_ids() {
            for (port, rule) in rules.ports[id.index()].iter().enumerate() {
                let Some((effort_in, wanted)) = rule.preferred else { continue };
                if wanted != strength || assignment.effort_in(id, port).is_some() {
                    continue;
                }
                let wish = reason_for(graph, id, effort_in, strength);
                assignment.step += 1;
                let port_of = graph.element(id).ports[port];
                let aim = target.map(|target| target[port_of.bond.index()] == port_of.into);
                let done = match aim {
                    None => {
                        assignment.attempt(id, port, effort_in, wish)
                            || assignment.attempt(id, port, !effort_in, against(graph, id))
                    }
                    Some(aim) if aim == effort_in => assignment.attempt(id, port, effort_in, wish),
                    // It will not get its wish: leave it to be forced by others, if they do.
                    Some(_) => continue,
                };
                if !done {
                    return false;
                }
            }
        }
    }
    let open: Vec<BondId> = assignment.open_bonds().collect();
    for bond in open {
        if assignment.decided[bond.index()].is_some() {
            continue;
        }
        assignment.step += 1;
        let end = graph.bond(bond).to;
        let choices = target.map_or([true, false], |target| [target[bond.index()]; 2]);
        let reason = [graph.bond(bond).from.element, end.element]
            .into_iter()
            .find(|id| is_storage(graph.element(*id).kind))
            .map_or(Reason::Arbitrary, Reason::Dependent);
        let decided = choices.into_iter().any(|effort_to| {
            let mark = assignment.mark();
            let ok = assignment.decide_bond(bond, effort_to, reason, end.element).is_ok();
            if !ok {
                assignment.undo(mark);
            }
            ok
        });
        if !decided {
            return false;
        }
    }
    true
}

fn reason_for(graph: &BondGraph, id: ElementId, effort_in: bool, strength: Strength) -> Reason {
    let kind = graph.element(id).kind;
    match strength {
        Strength::ByHand | Strength::Flat | Strength::Storage if integral_effort_in(kind) == effort_in => {
            Reason::Integral(id)
        }
        Strength::ByHand | Strength::Flat | Strength::Storage => Reason::Derivative(id),
        Strength::OneWay => Reason::OneWay(id),
        Strength::Free => Reason::Chosen(id),
    }
}

fn against(graph: &BondGraph, id: ElementId) -> Reason {
    if is_storage(graph.element(id).kind) { Reason::Dependent(id) } else { Reason::Chosen(id) }
}

/// Wishes of ports by strength: by hand, storages, laws that go one way.
#[derive(Debug, PartialEq, Eq)]
struct Wishes {
    met: [usize; 3],
    all: [usize; 3],
}

/// Counts wishes that are met; the stronger ones compare first. Resistors that may have either
/// causality have none.
fn wishes(graph: &BondGraph, rules: &Rules, effort_to: &dyn Fn(BondId) -> Option<bool>) -> Wishes {
    let mut out = Wishes { met: [0; 3], all: [0; 3] };
    for (element, ports) in graph.elements.iter().zip(&rules.ports) {
        for (place, rule) in element.ports.iter().zip(ports) {
            let Some((effort_in, strength)) = rule.preferred else { continue };
            let Some(rank) = network::rank(strength).map(usize::from) else { continue };
            out.all[rank] += 1;
            out.met[rank] += usize::from(effort_to(place.bond) == Some(effort_in == place.into));
        }
    }
    out
}

/// Counts storage ports that do not have their wish.
fn dependent(graph: &BondGraph, rules: &Rules, assignment: &Assignment<'_>) -> usize {
    let all = storage_ports(graph).count();
    all - integral_count(graph, rules, &|bond| assignment.decided[bond.index()].is_some_and(|d| d.effort_to))
}

/// Counts storage ports that have their wish.
fn integral_count(graph: &BondGraph, rules: &Rules, effort_to: &dyn Fn(BondId) -> bool) -> usize {
    storage_ports(graph)
        .filter(|&(id, port)| {
            let place = graph.element(id).ports[port];
            let wish = rules.ports[id.index()][port].preferred.map(|(effort_in, _)| effort_in);
            wish == Some(effort_to(place.bond) == place.into)
        })
        .count()
}

fn storage_ports(graph: &BondGraph) -> impl Iterator<Item = (ElementId, usize)> + '_ {
    graph
        .element_ids()
        .filter(|id| is_storage(graph.element(*id).kind))
        .flat_map(|id| (0..graph.element(id).ports.len()).map(move |port| (id, port)))
}

/// Counts storages that stay in integral causality when all of them prefer
/// derivative causality: the states that the state matrix cannot reach.
fn stuck_in_integral(graph: &BondGraph, rules: &Rules) -> usize {
    let mut reversed = rules.clone();
    for (id, port) in storage_ports(graph) {
        let kind = graph.element(id).kind;
        let rule = &mut reversed.ports[id.index()][port];
        rule.preferred = Some((!integral_effort_in(kind), Strength::Storage));
        rule.safe = None;
    }
    let mut assignment = Assignment::new(graph);
    if assignment.mandatory(&reversed).is_err() {
        return 0;
    }
    let fixed = values(&assignment);
    let complete = sequence(graph, &reversed, &mut assignment, None);
    if complete && dependent(graph, &reversed, &assignment) == 0 {
        return 0;
    }
    match network::best(graph, &reversed, &fixed, &values(&assignment)) {
        Ok(best) => {
            storage_ports(graph).count()
                - integral_count(graph, &reversed, &|bond| best.effort_to[bond.index()])
        }
        Err(_) => 0,
    }
}
