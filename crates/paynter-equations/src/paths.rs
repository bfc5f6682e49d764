//! Causal paths from inputs to states and from states to outputs: those with
//! the fewest integrations, and among these the shortest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use paynter_base::{CancellationToken, Cancelled};

use crate::flow::{NodeKind, SignalFlow};
use crate::tolerance::LISTED_NODES;

/// The causal paths of a model.
#[derive(Debug, Clone, Default)]
pub struct CausalPaths {
    /// From each input to each state it reaches, and from each state to each output it reaches, as nodes.
    pub listed: Vec<Vec<usize>>,
    /// How many are not listed because there would be too much of them.
    pub left_out: usize,
}

/// Finds the causal paths between inputs, states and outputs.
pub fn causal_paths(flow: &SignalFlow, token: &CancellationToken) -> Result<CausalPaths, Cancelled> {
    let n = flow.nodes.len();
    let mut forward = vec![Vec::new(); n];
    let mut backward = vec![Vec::new(); n];
    for edge in &flow.edges {
        forward[edge.from].push(edge.to);
        backward[edge.to].push(edge.from);
    }
    let places =
        |wanted: fn(NodeKind) -> bool| (0..n).filter(|&v| wanted(flow.nodes[v].kind)).collect::<Vec<usize>>();
    let states = places(|kind| kind == NodeKind::State);
    let mut paths = CausalPaths::default();
    let mut room = LISTED_NODES;
    let mut list = |paths: &mut CausalPaths, nodes: Vec<usize>| match room.checked_sub(nodes.len()) {
        Some(left) => {
            room = left;
            paths.listed.push(nodes);
        }
        None => paths.left_out += 1,
    };
    for input in places(|kind| matches!(kind, NodeKind::Input(_))) {
        token.check()?;
        let tree = shortest(flow, &forward, input, false);
        for &state in states.iter().filter(|state| tree[**state].is_some()) {
            let mut nodes = trace(&tree, state);
            nodes.reverse();
            list(&mut paths, nodes);
        }
    }
    for output in places(|kind| matches!(kind, NodeKind::Output(_))) {
        token.check()?;
        let tree = shortest(flow, &backward, output, true);
        for &state in states.iter().filter(|state| tree[**state].is_some()) {
            let nodes = trace(&tree, state);
            list(&mut paths, nodes);
        }
    }
    Ok(paths)
}

/// By node: the node before it on the best way from the start (itself at the start).
fn shortest(flow: &SignalFlow, next: &[Vec<usize>], start: usize, backward: bool) -> Vec<Option<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; next.len()];
    let mut cost = vec![(usize::MAX, usize::MAX); next.len()];
    let mut open = BinaryHeap::from([Reverse(((0, 0), start))]);
    cost[start] = (0, 0);
    before[start] = Some(start);
    while let Some(Reverse((reached, v))) = open.pop() {
        if reached > cost[v] {
            continue;
        }
        for &w in &next[v] {
            // An edge into a state integrates.
            let target = if backward { v } else { w };
            let integrates = usize::from(flow.nodes[target].kind == NodeKind::State);
            let new = (reached.0 + integrates, reached.1 + 1);
            if new < cost[w] {
                cost[w] = new;
                before[w] = Some(v);
                open.push(Reverse((new, w)));
            }
        }
    }
    before
}

/// From a node back to the start of the search.
fn trace(before: &[Option<usize>], from: usize) -> Vec<usize> {
    let mut nodes = vec![from];
    let mut v = from;
    while let Some(u) = before[v].filter(|u| *u != v) {
        nodes.push(u);
        v = u;
    }
    nodes
}
