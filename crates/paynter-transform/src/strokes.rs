//! Keeps strokes: a derived graph has the causality of the graph it is made
//! from. Mostly its structure gives it; where values would tip the balance,
//! statements fix it by hand.

use paynter_algebra::Pool;
use paynter_graph::{BondGraph, BondId, Override, assign_causality};

use crate::limits::STROKE_ROUNDS;

/// Adds what is needed for the given bonds to have the given strokes
/// (whether effort enters the element the arrow points to).
pub(crate) fn keep_strokes(pool: &mut Pool, graph: &mut BondGraph, wanted: &[(BondId, bool)]) {
    for round in 0..=STROKE_ROUNDS {
        let differing = differing(pool, graph, wanted);
        if differing.is_empty() {
            return;
        }
        let fixed = if round < STROKE_ROUNDS { &differing } else { wanted };
        for (bond, effort_to) in fixed {
            let there = |entry: &Override| matches!(entry, Override::Stroke { bond: b, .. } if b == bond);
            if graph.overrides.iter().any(there) {
                continue;
            }
            let place = graph.bond(*bond);
            let end = if *effort_to { place.to } else { place.from };
            let entry = Override::Stroke { bond: *bond, effort_into: end.element, span: place.span };
            graph.overrides.push(entry);
        }
    }
}

/// The bonds whose strokes differ from those wanted; all of them where no causality is possible.
fn differing(pool: &mut Pool, graph: &BondGraph, wanted: &[(BondId, bool)]) -> Vec<(BondId, bool)> {
    let (causality, _) = assign_causality(pool, graph);
    let Some(causality) = causality else { return wanted.to_vec() };
    let differs = |(bond, effort_to): &&(BondId, bool)| {
        causality.strokes.get(bond.index()).is_none_or(|stroke| stroke.effort_to != *effort_to)
    };
    wanted.iter().filter(differs).copied().collect()
}
