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
    // A path that is left out is not traced: together they would be as long as the square of the model.
    let mut list = |tree: &Tree, state: usize, backward: bool| {
        let Some(before) = tree.before[state] else { return };
        let length = tree.cost[state].1 + 1;
        let Some(left) = room.checked_sub(length) else {
            paths.left_out += 1;
            return;
        };
        room = left;
        let mut nodes = vec![state];
        let (mut v, mut u) = (state, before);
        while u != v {
            nodes.push(u);
            (v, u) = (u, tree.before[u].unwrap_or(u));
        }
        if !backward {
            nodes.reverse();
        }
        paths.listed.push(nodes);
    };
    for input in places(|kind| matches!(kind, NodeKind::Input(_))) {
        token.check()?;
        let tree = Tree::new(flow, &forward, input, false);
        states.iter().for_each(|state| list(&tree, *state, false));
    }
    for output in places(|kind| matches!(kind, NodeKind::Output(_))) {
        token.check()?;
        let tree = Tree::new(flow, &backward, output, true);
        states.iter().for_each(|state| list(&tree, *state, true));
    }
    Ok(paths)
}

/// The best ways from one node to all.
struct Tree {
    /// By node: the node before it (itself at the start).
    before: Vec<Option<usize>>,
    /// By node: integrations and edges on the way to it.
    cost: Vec<(usize, usize)>,
}

impl Tree {
    fn new(flow: &SignalFlow, next: &[Vec<usize>], start: usize, backward: bool) -> Tree {
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
        Tree { before, cost }
    }
}
