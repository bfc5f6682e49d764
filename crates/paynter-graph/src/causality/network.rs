//! Causality as a matching: what is left open becomes a small graph whose
//! matchings are exactly the possible causalities.
//!
//! Chains of transformers and gyrators between two ends are one link with one
//! unknown x: whether effort runs along the link. A junction at an end picks
//! the link for one value of x. Where both ends pick it for the same value,
//! the link is an edge between them; where for opposite values, a vertex that
//! must be matched stands between. One-ports hang on their junction as leaves.

use rustc_hash::FxHashMap;

use super::assign::determines;
use super::matching::{Matching, Need};
use super::rules::{Rules, Strength};
use crate::kind::Class;
use crate::model::{BondGraph, BondId, ElementId, End, is_junction};

/// A chain of bonds through two-ports. With x true, effort runs from `a` to `b`
/// on the first bond of the chain.
struct Link {
    a: End,
    b: End,
    /// Whether effort enters the end when x is true.
    a_in: bool,
    b_in: bool,
    /// Each bond with whether effort enters its `to` when x is true.
    bonds: Vec<(BondId, bool)>,
    ring: bool,
}

/// How a link's value is read from the matching.
enum Reading {
    /// x is `when` if the two vertices are matched.
    Edge { pair: (u32, u32), when: bool },
    /// x is known.
    Known(bool),
}

/// The best causality that keeps what is decided.
pub(super) struct Best {
    /// By bond: whether effort enters the element its arrow points to.
    pub effort_to: Vec<bool>,
}

/// Elements that determine one another too often or not at all.
pub(super) struct Impossible {
    pub elements: Vec<ElementId>,
}

/// Finds a causality that keeps `fixed`, starts from `hint`, and satisfies as
/// many preferences of each strength as possible.
pub(super) fn best(
    graph: &BondGraph,
    rules: &Rules,
    fixed: &[Option<bool>],
    hint: &[Option<bool>],
) -> Result<Best, Impossible> {
    let links = links(graph, fixed);
    let mut matching = Matching::default();
    let mut vertex_of: FxHashMap<ElementId, u32> = FxHashMap::default();
    let mut owner: Vec<ElementId> = Vec::new();
    // Junctions that are not determined yet need a bond to determine them.
    for id in graph.element_ids() {
        let element = graph.element(id);
        if !is_junction(element.kind) {
            continue;
        }
        let determined = element
            .ports
            .iter()
            .any(|port| fixed[port.bond.index()].is_some_and(|to| determines(element.kind, to == port.into)));
        if !determined {
            vertex_of.insert(id, matching.vertex(Need::Must));
            owner.push(id);
        }
    }
    let mut readings = Vec::with_capacity(links.len());
    for link in &links {
        let hint = hint[link.bonds[0].0.index()].map(|to| to == link.bonds[0].1);
        readings.push(add_link(graph, rules, link, hint, &vertex_of, &mut matching, &mut owner));
    }
    if let Err(tree) = matching.cover_musts() {
        let mut elements: Vec<ElementId> = tree.into_iter().map(|v| owner[v as usize]).collect();
        elements.sort_unstable();
        elements.dedup();
        return Err(Impossible { elements });
    }
    for rank in 0..WANTED {
        matching.cover_wants(rank);
    }
    let mut effort_to: Vec<bool> = fixed.iter().map(|value| value.unwrap_or(false)).collect();
    for (link, reading) in links.iter().zip(&readings) {
        let x = match reading {
            Reading::Known(x) => *x,
            Reading::Edge { pair: (a, b), when } => matching.is_matched(*a, *b) == *when,
        };
        for (bond, with_x) in &link.bonds {
            effort_to[bond.index()] = x == *with_x;
        }
    }
    Ok(Best { effort_to })
}

/// Strengths that are worth a search; free resistors are not.
const WANTED: u8 = 3;

/// The place of a strength among those, the strongest first.
pub fn rank(strength: Strength) -> Option<u8> {
    match strength {
        Strength::ByHand => Some(0),
        Strength::Flat | Strength::Storage => Some(1),
        Strength::OneWay => Some(2),
        Strength::Free => None,
    }
}

/// Walks from every open bond through two-ports to both ends.
fn links(graph: &BondGraph, fixed: &[Option<bool>]) -> Vec<Link> {
    let mut seen: Vec<bool> = fixed.iter().map(Option::is_some).collect();
    let mut out = Vec::new();
    for start in graph.bond_ids() {
        if seen[start.index()] {
            continue;
        }
        seen[start.index()] = true;
        let bond = graph.bond(start);
        let mut bonds = vec![(start, true)];
        let (b, b_in, ring) = walk(graph, bond.to, true, &mut bonds, &mut seen);
        let (a, a_in) = if ring {
            (b, !b_in)
        } else {
            let (a, a_in, _) = walk(graph, bond.from, false, &mut bonds, &mut seen);
            (a, a_in)
        };
        out.push(Link { a, b, a_in, b_in, bonds, ring });
    }
    out
}

/// Follows a chain from one end. `enters` tells whether effort enters `end` when x is true.
fn walk(
    graph: &BondGraph,
    mut end: End,
    mut enters: bool,
    bonds: &mut Vec<(BondId, bool)>,
    seen: &mut [bool],
) -> (End, bool, bool) {
    loop {
        let element = graph.element(end.element);
        if !element.class().is_converter() {
            return (end, enters, false);
        }
        let other = element.ports[1 - end.port as usize];
        if seen[other.bond.index()] {
            return (end, enters, true);
        }
        seen[other.bond.index()] = true;
        // On the far side effort leaves a transformer that it enters here, and enters a gyrator.
        let other_enters = if element.class() == Class::Transformer { !enters } else { enters };
        bonds.push((other.bond, other_enters == other.into));
        let far = graph.bond(other.bond);
        end = if other.into { far.from } else { far.to };
        enters = !other_enters;
    }
}

fn add_link(
    graph: &BondGraph,
    rules: &Rules,
    link: &Link,
    hint: Option<bool>,
    vertex_of: &FxHashMap<ElementId, u32>,
    matching: &mut Matching,
    owner: &mut Vec<ElementId>,
) -> Reading {
    if link.ring {
        return Reading::Known(hint.unwrap_or(true));
    }
    // The value of x for which a junction picks the link.
    let pick = |end: End, enters: bool| {
        let junction = *vertex_of.get(&end.element)?;
        let value = determines(graph.element(end.element).kind, true) == enters;
        Some((junction, value))
    };
    match (pick(link.a, link.a_in), pick(link.b, link.b_in)) {
        (Some((a, x)), Some((b, y))) if x == y => {
            if a == b {
                return Reading::Known(!x);
            }
            matching.edge(a, b);
            if hint == Some(x) {
                matching.match_edge(a, b);
            }
            Reading::Edge { pair: (a, b), when: x }
        }
        (Some((a, x)), Some((b, _))) => {
            let between = matching.vertex(Need::Must);
            owner.push(link.a.element);
            matching.edge(a, between);
            matching.edge(between, b);
            match hint {
                Some(value) if value == x => matching.match_edge(a, between),
                Some(_) => matching.match_edge(between, b),
                None => {}
            }
            Reading::Edge { pair: (a, between), when: x }
        }
        (Some((junction, x)), None) => {
            leaf(graph, rules, link.b, link.b_in, junction, x, hint, matching, owner)
        }
        (None, Some((junction, x))) => {
            leaf(graph, rules, link.a, link.a_in, junction, x, hint, matching, owner)
        }
        (None, None) => Reading::Known(between_leaves(rules, link).or(hint).unwrap_or(true)),
    }
}

/// Hangs a one-port on its junction, which picks it for x = `picked`.
#[allow(clippy::too_many_arguments, reason = "the parts of one link and the graph it goes into")]
fn leaf(
    graph: &BondGraph,
    rules: &Rules,
    end: End,
    enters: bool,
    junction: u32,
    picked: bool,
    hint: Option<bool>,
    matching: &mut Matching,
    owner: &mut Vec<ElementId>,
) -> Reading {
    let wish = wish(graph, rules, end, enters);
    let (need, wants_picked) = match wish {
        Some((x, rank)) => (Need::Want(rank), x == picked),
        None => (Need::May, true),
    };
    let first = matching.vertex(if wants_picked { need } else { Need::Must });
    owner.push(end.element);
    matching.edge(junction, first);
    if !wants_picked {
        // Not being picked is what it wants: then a second vertex of its own is covered.
        let second = matching.vertex(need);
        owner.push(end.element);
        matching.edge(first, second);
        if hint == Some(!picked) {
            matching.match_edge(first, second);
        }
    }
    if hint == Some(picked) {
        matching.match_edge(junction, first);
    }
    Reading::Edge { pair: (junction, first), when: picked }
}

/// The value of x that an end wants, and how much.
fn wish(graph: &BondGraph, rules: &Rules, end: End, enters: bool) -> Option<(bool, u8)> {
    if is_junction(graph.element(end.element).kind) {
        return None;
    }
    let rule = rules.ports[end.element.index()].get(end.port as usize)?;
    let (effort_in, strength) = rule.preferred?;
    Some((effort_in == enters, rank(strength)?))
}

/// Two one-ports bonded to each other: the stronger wish wins.
fn between_leaves(rules: &Rules, link: &Link) -> Option<bool> {
    let wish = |end: End, enters: bool| {
        let rule = rules.ports[end.element.index()].get(end.port as usize)?;
        let (effort_in, strength) = rule.preferred?;
        Some((strength, effort_in == enters))
    };
    [wish(link.a, link.a_in), wish(link.b, link.b_in)]
        .into_iter()
        .flatten()
        .min_by_key(|(strength, _)| *strength)
        .map(|(_, x)| x)
}
