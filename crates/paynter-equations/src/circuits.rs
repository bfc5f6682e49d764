//! Simple circuits and simple paths of a directed graph with parallel edges,
//! by Johnson's algorithm with an explicit stack: the time between two finds
//! is linear in the size of the graph, so a limit on their number ends it.

use paynter_base::{CancellationToken, Cancelled, strong_components};

/// A graph as edges from node to node.
pub(crate) struct Network<'a> {
    pub nodes: usize,
    pub edges: &'a [(usize, usize)],
}

/// Why a list is not complete.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// There are more than allowed.
    TooMany,
    Cancelled,
}

impl From<Cancelled> for Unfinished {
    fn from(_: Cancelled) -> Unfinished {
        Unfinished::Cancelled
    }
}

impl Network<'_> {
    /// All circuits that meet no node twice, as lists of edges, each from its least node on.
    pub fn circuits(&self, limit: usize, token: &CancellationToken) -> Result<Vec<Vec<usize>>, Unfinished> {
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.nodes {
            token.check()?;
            // The circuits through the least node of the least component among the nodes from here on.
            let Some(component) = self.least_component(start) else { break };
            let mut inside = vec![false; self.nodes];
            component.iter().for_each(|&v| inside[v as usize] = true);
            let least = component.iter().copied().min().unwrap_or(0) as usize;
            self.through(least, None, &inside, limit, &mut found, token)?;
            start = least + 1;
        }
        Ok(found)
    }

    /// All paths from a source to a sink that meet no node twice, as lists of edges.
    pub fn paths(
        &self,
        source: usize,
        sink: usize,
        limit: usize,
        token: &CancellationToken,
    ) -> Result<Vec<Vec<usize>>, Unfinished> {
        // A path is a circuit that is closed by an edge from the sink back to the source.
        let forward = self.reach(source, |&(from, to)| (from, to));
        let backward = self.reach(sink, |&(from, to)| (to, from));
        let inside: Vec<bool> = forward.iter().zip(&backward).map(|(a, b)| *a && *b).collect();
        let mut found = Vec::new();
        if inside[source] && inside[sink] {
            self.through(source, Some(sink), &inside, limit, &mut found, token)?;
        }
        Ok(found)
    }

    fn outgoing(&self) -> Vec<Vec<usize>> {
        let mut outgoing = vec![Vec::new(); self.nodes];
        for (k, (from, _)) in self.edges.iter().enumerate() {
            outgoing[*from].push(k);
        }
        outgoing
    }

    /// Which nodes can be reached from one.
    fn reach(&self, start: usize, along: impl Fn(&(usize, usize)) -> (usize, usize)) -> Vec<bool> {
        let mut next = vec![Vec::new(); self.nodes];
        for edge in self.edges {
            let (from, to) = along(edge);
            next[from].push(to);
        }
        let mut seen = vec![false; self.nodes];
        seen[start] = true;
        let mut stack = vec![start];
        while let Some(v) = stack.pop() {
            for &w in &next[v] {
                if !std::mem::replace(&mut seen[w], true) {
                    stack.push(w);
                }
            }
        }
        seen
    }

    /// The strong component with a circuit, among the nodes from `start` on, that has the least node.
    fn least_component(&self, start: usize) -> Option<Vec<u32>> {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.nodes];
        let mut own = vec![false; self.nodes];
        for (from, to) in self.edges {
            if *from >= start && *to >= start {
                next[*from].push(*to as u32);
                own[*from] |= from == to;
            }
        }
        strong_components(self.nodes, |v| &next[v as usize])
            .into_iter()
            .filter(|group| group.len() > 1 || own[group[0] as usize])
            .min_by_key(|group| group.iter().copied().min())
    }

    /// The circuits through a node inside a part of the graph, closed at it or at `sink`.
    fn through(
        &self,
        start: usize,
        sink: Option<usize>,
        inside: &[bool],
        limit: usize,
        found: &mut Vec<Vec<usize>>,
        token: &CancellationToken,
    ) -> Result<(), Unfinished> {
        let outgoing = self.outgoing();
        let closes = |v: usize| sink.map_or(v == start, |sink| v == sink);
        let mut blocked = vec![false; self.nodes];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.nodes];
        // Node, next edge to try, whether a circuit was found below.
        let mut stack: Vec<(usize, usize, bool)> = vec![(start, 0, false)];
        let mut route: Vec<usize> = Vec::new();
        blocked[start] = true;
        while let Some(&mut (v, ref mut next, ref mut success)) = stack.last_mut() {
            if let Some(&edge) = outgoing[v].get(*next) {
                *next += 1;
                let w = self.edges[edge].1;
                if !inside[w] {
                    continue;
                }
                if closes(w) {
                    *success = true;
                    if found.len() >= limit {
                        return Err(Unfinished::TooMany);
                    }
                    token.check()?;
                    let mut circuit = route.clone();
                    circuit.push(edge);
                    found.push(circuit);
                } else if !blocked[w] {
                    blocked[w] = true;
                    route.push(edge);
                    stack.push((w, 0, false));
                }
                continue;
            }
            let success = *success;
            stack.pop();
            route.pop();
            if success {
                unblock(v, &mut blocked, &mut waiting);
                if let Some(above) = stack.last_mut() {
                    above.2 = true;
                }
            } else {
                for &edge in &outgoing[v] {
                    let w = self.edges[edge].1;
                    if inside[w] && !waiting[w].contains(&v) {
                        waiting[w].push(v);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Frees a node and all that waited for it.
fn unblock(v: usize, blocked: &mut [bool], waiting: &mut [Vec<usize>]) {
    let mut open = vec![v];
    while let Some(v) = open.pop() {
        if std::mem::replace(&mut blocked[v], false) {
            open.append(&mut waiting[v]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Circuits of the complete graph on n nodes: Σ C(n, k) (k − 1)!.
    #[test]
    fn complete_graphs_have_the_known_number_of_circuits() {
        for (n, count) in [(2, 1), (3, 5), (4, 20), (5, 84)] {
            let edges: Vec<(usize, usize)> =
                (0..n).flat_map(|a| (0..n).filter(move |b| *b != a).map(move |b| (a, b))).collect();
            let network = Network { nodes: n, edges: &edges };
            assert_eq!(network.circuits(1000, &CancellationToken::new()).unwrap().len(), count);
            assert_eq!(network.circuits(count - 1, &CancellationToken::new()), Err(Unfinished::TooMany));
        }
    }

    #[test]
    fn parallel_edges_and_self_loops_count_apart() {
        let edges = [(0, 1), (0, 1), (1, 0), (1, 1), (1, 2)];
        let network = Network { nodes: 3, edges: &edges };
        let mut circuits = network.circuits(10, &CancellationToken::new()).unwrap();
        circuits.sort();
        assert_eq!(circuits, vec![vec![0, 2], vec![1, 2], vec![3]]);
        assert_eq!(network.paths(0, 2, 10, &CancellationToken::new()).unwrap(), vec![vec![0, 4], vec![1, 4]]);
    }
}
