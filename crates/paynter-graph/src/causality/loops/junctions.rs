//! Closed signal paths over junctions alone.

use std::collections::BTreeSet;

use super::{Edge, Loop, SignalGraph, compress};
use crate::kind::Class;
use crate::model::{BondGraph, ElementId};

impl SignalGraph {
    /// Adds closed paths over junctions alone, such as over two parallel bonds, wherever else signals depend on
    /// one another: they pass no element that would name them.
    pub(super) fn add_junction_loops(
        &self,
        graph: &BondGraph,
        known: &mut BTreeSet<Vec<ElementId>>,
        loops: &mut Vec<Loop>,
        budget: &mut usize,
    ) {
        let is_junction = |edge: &Edge| {
            graph.elements.get(edge.element.index()).is_some_and(|e| matches!(e.class(), Class::Junction(_)))
        };
        let nodes = self.component.len();
        let inside = |v: u32, edge: &Edge| self.component[edge.to as usize] == self.component[v as usize];
        let list = (0..nodes as u32)
            .filter(|v| self.cyclic[self.component[*v as usize] as usize])
            .flat_map(|v| self.out(v).iter().map(move |edge| (v, *edge)))
            .filter(|(v, edge)| inside(*v, edge) && is_junction(edge))
            .collect();
        let (first, edges) = compress(nodes, list);
        let mut junctions =
            SignalGraph { first, edges, component: vec![u32::MAX; nodes], components: 0, cyclic: Vec::new() };
        junctions.find_components();
        let mut covered: BTreeSet<ElementId> = BTreeSet::new();
        for v in 0..nodes as u32 {
            let c = junctions.component[v as usize];
            if !junctions.cyclic[c as usize] {
                continue;
            }
            for &edge in junctions.out(v) {
                let inside = junctions.component[edge.to as usize] == c;
                if !inside || *budget == 0 || covered.contains(&edge.element) {
                    continue;
                }
                let Some(found) = junctions.shortest_cycle(graph, v, edge, budget) else { continue };
                covered.extend(found.elements.iter().copied());
                let mut elements = found.elements.clone();
                elements.sort_unstable();
                if known.insert(elements) {
                    loops.push(found);
                }
            }
        }
    }
}
