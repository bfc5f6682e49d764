//! Matchings in general graphs, by Edmonds' alternating trees with blossoms.
//!
//! Causality is a matching: every junction picks exactly one bond that
//! determines it (the one that brings effort into a 0, or flow into a 1), and
//! a bond between a 0 and a 1 is picked by both or by neither. The sets of
//! vertices that a matching can cover form a matroid, so covering them
//! greedily, one alternating search each, covers as many as possible.

use std::collections::VecDeque;

/// What a vertex means to the search; the less urgent may be uncovered for the more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Must be covered in the end.
    Must,
    /// Should be covered, by rank; never uncovered again for another of its rank.
    Want(u8),
    /// May be covered or not.
    May,
}

const NONE: u32 = u32::MAX;

/// A graph with a matching that grows.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    needs: Vec<Need>,
    neighbours: Vec<Vec<u32>>,
    mate: Vec<u32>,
    // State of one search; touched vertices are reset afterwards.
    parent: Vec<u32>,
    base: Vec<u32>,
    outer: Vec<bool>,
    seen: Vec<bool>,
    dead: Vec<bool>,
    stamp: Vec<u32>,
    clock: u32,
}

/// How a search ended.
enum Found {
    /// An exposed vertex was reached along an edge from an outer vertex.
    Exposed(u32, u32),
    /// An outer vertex may be uncovered instead.
    Uncover(u32),
    /// Nothing.
    Nothing,
}

impl Matching {
    /// Adds a vertex.
    pub fn vertex(&mut self, need: Need) -> u32 {
        let id = self.needs.len() as u32;
        self.needs.push(need);
        self.neighbours.push(Vec::new());
        self.mate.push(NONE);
        self.parent.push(NONE);
        self.base.push(id);
        self.outer.push(false);
        self.seen.push(false);
        self.dead.push(false);
        self.stamp.push(0);
        id
    }

    /// Adds an edge.
    pub fn edge(&mut self, a: u32, b: u32) {
        self.neighbours[a as usize].push(b);
        self.neighbours[b as usize].push(a);
    }

    /// Puts an edge into the matching if both ends are still exposed.
    pub fn match_edge(&mut self, a: u32, b: u32) {
        if self.mate[a as usize] == NONE && self.mate[b as usize] == NONE {
            self.mate[a as usize] = b;
            self.mate[b as usize] = a;
        }
    }

    /// Tells whether an edge is matched.
    pub fn is_matched(&self, a: u32, b: u32) -> bool {
        self.mate[a as usize] == b
    }

    /// Tells whether a vertex is covered.
    pub fn is_covered(&self, v: u32) -> bool {
        self.mate[v as usize] != NONE
    }

    /// Covers every vertex that must be covered. Returns the search tree of the
    /// first that cannot be.
    pub fn cover_musts(&mut self) -> Result<(), Vec<u32>> {
        for v in 0..self.needs.len() as u32 {
            if self.needs[v as usize] == Need::Must && !self.is_covered(v) {
                self.search(v)?;
            }
        }
        Ok(())
    }

    /// Covers as many vertices of a rank as possible, in order; covered ones
    /// of this and more urgent ranks stay covered.
    pub fn cover_wants(&mut self, rank: u8) {
        for v in 0..self.needs.len() as u32 {
            if self.needs[v as usize] != Need::Want(rank) || self.is_covered(v) {
                continue;
            }
            if let Err(tree) = self.search(v) {
                // A tree that found nothing never will: later searches leave it out.
                for u in tree {
                    self.dead[u as usize] = true;
                }
            }
        }
        self.dead.fill(false);
    }

    /// Grows an alternating tree from an exposed vertex. Succeeds at another
    /// exposed vertex, or at an outer one that is less urgent than the root.
    fn search(&mut self, root: u32) -> Result<(), Vec<u32>> {
        let drop = self.needs[root as usize];
        let mut touched = vec![root];
        let mut queue = VecDeque::from([root]);
        self.seen[root as usize] = true;
        self.outer[root as usize] = true;
        let found = self.grow(drop, &mut queue, &mut touched);
        match found {
            Found::Exposed(inner, exposed) => {
                self.flip(inner);
                self.mate[exposed as usize] = inner;
                self.mate[inner as usize] = exposed;
            }
            Found::Uncover(u) => {
                let mate = self.mate[u as usize];
                self.mate[u as usize] = NONE;
                self.rematch(mate);
            }
            Found::Nothing => {}
        }
        for &v in &touched {
            let v = v as usize;
            self.parent[v] = NONE;
            self.base[v] = v as u32;
            self.outer[v] = false;
            self.seen[v] = false;
        }
        if matches!(found, Found::Nothing) { Err(touched) } else { Ok(()) }
    }

    fn grow(&mut self, drop: Need, queue: &mut VecDeque<u32>, touched: &mut Vec<u32>) -> Found {
        while let Some(v) = queue.pop_front() {
            for k in 0..self.neighbours[v as usize].len() {
                let w = self.neighbours[v as usize][k];
                if self.dead[w as usize] || self.find(v) == self.find(w) || self.mate[v as usize] == w {
                    continue;
                }
                if self.outer[w as usize] {
                    let top = self.common_base(v, w);
                    let first = self.contract(v, w, top, drop, queue);
                    let second = self.contract(w, v, top, drop, queue);
                    if let Some(u) = first.or(second) {
                        return Found::Uncover(u);
                    }
                } else if !self.seen[w as usize] {
                    let mate = self.mate[w as usize];
                    if mate == NONE {
                        return Found::Exposed(v, w);
                    }
                    self.seen[w as usize] = true;
                    self.parent[w as usize] = v;
                    self.seen[mate as usize] = true;
                    self.outer[mate as usize] = true;
                    touched.extend([w, mate]);
                    if self.needs[mate as usize] > drop {
                        return Found::Uncover(mate);
                    }
                    queue.push_back(mate);
                }
            }
        }
        Found::Nothing
    }

    fn find(&mut self, v: u32) -> u32 {
        let mut root = v;
        while self.base[root as usize] != root {
            root = self.base[root as usize];
        }
        let mut here = v;
        while self.base[here as usize] != root {
            here = std::mem::replace(&mut self.base[here as usize], root);
        }
        root
    }

    /// The base where the tree paths of two outer vertices meet.
    fn common_base(&mut self, a: u32, b: u32) -> u32 {
        self.clock += 1;
        let mut pair = [a, b];
        loop {
            for walker in &mut pair {
                if *walker == NONE {
                    continue;
                }
                let base = self.find(*walker);
                if self.stamp[base as usize] == self.clock {
                    return base;
                }
                self.stamp[base as usize] = self.clock;
                let mate = self.mate[base as usize];
                *walker = if mate == NONE { NONE } else { self.parent[mate as usize] };
            }
        }
    }

    /// Walks from `v` down to the blossom's base, making inner vertices outer.
    /// Returns one of them that may be uncovered, if any.
    fn contract(
        &mut self,
        mut v: u32,
        mut w: u32,
        top: u32,
        drop: Need,
        queue: &mut VecDeque<u32>,
    ) -> Option<u32> {
        let mut droppable = None;
        while self.find(v) != top {
            self.parent[v as usize] = w;
            w = self.mate[v as usize];
            if !self.outer[w as usize] {
                self.outer[w as usize] = true;
                queue.push_back(w);
                if self.needs[w as usize] > drop {
                    droppable = Some(w);
                }
            }
            for u in [v, w] {
                if self.find(u) == u {
                    self.base[u as usize] = top;
                }
            }
            v = self.parent[w as usize];
        }
        droppable
    }

    /// Exposes an outer vertex by flipping its tree path up to the root.
    fn flip(&mut self, v: u32) {
        let mate = self.mate[v as usize];
        if mate != NONE {
            self.mate[v as usize] = NONE;
            self.rematch(mate);
        }
    }

    /// Gives an inner vertex that lost its mate its tree parent as the new one, and so on to the root.
    fn rematch(&mut self, mut v: u32) {
        while v != NONE {
            let parent = self.parent[v as usize];
            let next = self.mate[parent as usize];
            self.mate[v as usize] = parent;
            self.mate[parent as usize] = v;
            v = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest number of wanted vertices that any matching covers together with all musts.
    fn brute_force(needs: &[Need], edges: &[(u32, u32)]) -> Option<usize> {
        fn go(needs: &[Need], edges: &[(u32, u32)], used: &mut Vec<bool>) -> Option<usize> {
            let Some((&(a, b), rest)) = edges.split_first() else {
                let musts = (0..needs.len()).all(|v| needs[v] != Need::Must || used[v]);
                return musts
                    .then(|| (0..needs.len()).filter(|&v| needs[v] == Need::Want(0) && used[v]).count());
            };
            let mut best = go(needs, rest, used);
            if !used[a as usize] && !used[b as usize] {
                used[a as usize] = true;
                used[b as usize] = true;
                best = best.max(go(needs, rest, used));
                used[a as usize] = false;
                used[b as usize] = false;
            }
            best
        }
        go(needs, edges, &mut vec![false; needs.len()])
    }

    #[test]
    fn covers_as_many_as_any_matching_can() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        let mut feasible = 0;
        for _ in 0..4000 {
            let n = 2 + random(9) as usize;
            let needs: Vec<Need> = (0..n)
                .map(|_| [Need::Must, Need::Must, Need::Want(0), Need::May][random(4) as usize])
                .collect();
            let mut edges = Vec::new();
            for a in 0..n as u32 {
                for b in 0..a {
                    if random(100) < 35 && edges.len() < 16 {
                        edges.push((a, b));
                    }
                }
            }
            let mut matching = Matching::default();
            for &need in &needs {
                matching.vertex(need);
            }
            for &(a, b) in &edges {
                matching.edge(a, b);
            }
            // A random start, as the sequential assignment gives one.
            for &(a, b) in &edges {
                if random(3) == 0 {
                    matching.match_edge(a, b);
                }
            }
            let expected = brute_force(&needs, &edges);
            let ok = matching.cover_musts().is_ok();
            assert_eq!(ok, expected.is_some(), "{needs:?} {edges:?}");
            let Some(best) = expected else { continue };
            feasible += 1;
            matching.cover_wants(0);
            let covered =
                (0..n).filter(|&v| needs[v] == Need::Want(0) && matching.is_covered(v as u32)).count();
            assert_eq!(covered, best, "{needs:?} {edges:?}");
            for v in 0..n {
                let mate = matching.mate[v];
                if mate != NONE {
                    assert_eq!(matching.mate[mate as usize], v as u32);
                    assert!(matching.neighbours[v].contains(&mate));
                }
                assert!(needs[v] != Need::Must || mate != NONE);
            }
        }
        assert!(feasible > 1000);
    }
}
