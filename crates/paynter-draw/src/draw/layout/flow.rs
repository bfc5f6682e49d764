//! Minimum-cost flow by successive shortest paths, on small integer costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network under construction and its flow.
#[derive(Debug, Default)]
pub struct Network {
    /// Arc and its reverse stand side by side.
    arcs: Vec<Arc>,
    outgoing: Vec<Vec<usize>>,
    /// What each node sends (positive) or wants (negative).
    supply: Vec<i64>,
}

#[derive(Debug)]
struct Arc {
    to: usize,
    room: i64,
    cost: i64,
}

impl Network {
    /// Makes a network of nodes without arcs.
    pub fn new(nodes: usize) -> Network {
        Network { arcs: Vec::new(), outgoing: vec![Vec::new(); nodes], supply: vec![0; nodes] }
    }

    /// Adds to what a node sends; a negative amount is wanted.
    pub fn add_supply(&mut self, node: usize, amount: i64) {
        self.supply[node] += amount;
    }

    /// Adds an arc with a cost that is not negative; returns its handle.
    pub fn add_arc(&mut self, from: usize, to: usize, room: i64, cost: i64) -> usize {
        let arc = self.arcs.len();
        self.arcs.push(Arc { to, room, cost });
        self.arcs.push(Arc { to: from, room: 0, cost: -cost });
        self.outgoing[from].push(arc);
        self.outgoing[to].push(arc + 1);
        arc
    }

    /// The flow on an arc, after [`Network::solve`].
    pub fn flow(&self, arc: usize) -> i64 {
        self.arcs[arc + 1].room
    }

    /// The cost of all flows.
    pub fn cost(&self) -> i64 {
        (0..self.arcs.len()).step_by(2).map(|arc| self.arcs[arc].cost * self.flow(arc)).sum()
    }

    /// Sends every supply to where it is wanted; false where that is impossible.
    pub fn solve(&mut self) -> bool {
        let nodes = self.supply.len();
        let mut potential = vec![0_i64; nodes];
        for source in 0..nodes {
            while self.supply[source] > 0 {
                let mut distance = vec![i64::MAX; nodes];
                let mut reached_by = vec![usize::MAX; nodes];
                let mut heap = BinaryHeap::from([Reverse((0_i64, source))]);
                distance[source] = 0;
                let mut settled = Vec::new();
                let mut goal = None;
                while let Some(Reverse((length, node))) = heap.pop() {
                    if length > distance[node] {
                        continue;
                    }
                    if self.supply[node] < 0 {
                        goal = Some((node, length));
                        break;
                    }
                    settled.push(node);
                    for &arc in &self.outgoing[node] {
                        let Arc { to, room, cost } = self.arcs[arc];
                        if room > 0 {
                            let next = length + cost + potential[node] - potential[to];
                            if next < distance[to] {
                                distance[to] = next;
                                reached_by[to] = arc;
                                heap.push(Reverse((next, to)));
                            }
                        }
                    }
                }
                let Some((goal, length)) = goal else { return false };
                for node in settled {
                    potential[node] += distance[node] - length;
                }
                let mut amount = self.supply[source].min(-self.supply[goal]);
                let mut node = goal;
                while node != source {
                    let arc = reached_by[node];
                    amount = amount.min(self.arcs[arc].room);
                    node = self.arcs[arc ^ 1].to;
                }
                let mut node = goal;
                while node != source {
                    let arc = reached_by[node];
                    self.arcs[arc].room -= amount;
                    self.arcs[arc ^ 1].room += amount;
                    node = self.arcs[arc ^ 1].to;
                }
                self.supply[source] -= amount;
                self.supply[goal] += amount;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheap_way_is_filled_first() {
        let mut network = Network::new(3);
        network.add_supply(0, 3);
        network.add_supply(2, -3);
        let dear = network.add_arc(0, 2, 5, 10);
        let (first, second) = (network.add_arc(0, 1, 2, 1), network.add_arc(1, 2, 9, 1));
        assert!(network.solve());
        assert_eq!((network.flow(dear), network.flow(first), network.flow(second)), (1, 2, 2));
    }

    #[test]
    fn an_impossible_demand_is_told() {
        let mut network = Network::new(2);
        network.add_supply(0, 1);
        assert!(!network.solve());
    }
}
