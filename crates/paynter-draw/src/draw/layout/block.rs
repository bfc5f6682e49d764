//! The biconnected blocks of a graph, and the planar embedding of one of them
//! by the method of Demoucron, Malgrange and Pertuiset: fragments are laid into
//! faces that hold all their attachments.

use super::planar::{Half, split_face};

/// Marks the edges of a breadth-first spanning tree.
pub(super) fn spanning_tree(adjacent: &[Vec<(usize, usize)>], edges: usize) -> Vec<bool> {
    let mut tree = vec![false; edges];
    let mut seen = vec![false; adjacent.len()];
    for start in 0..adjacent.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(vertex) = queue.pop_front() {
            for &(edge, other) in &adjacent[vertex] {
                if !seen[other] {
                    seen[other] = true;
                    tree[edge] = true;
                    queue.push_back(other);
                }
            }
        }
    }
    tree
}

/// Splits the edges into blocks (Tarjan's depth-first search, with its own stack).
pub fn biconnected_blocks(adjacent: &[Vec<(usize, usize)>], edges: usize) -> Vec<Vec<usize>> {
    let count = adjacent.len();
    let (mut depth, mut low) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    let mut used = vec![false; edges];
    let (mut open, mut blocks) = (Vec::new(), Vec::new());
    for root in 0..count {
        if depth[root] != usize::MAX {
            continue;
        }
        depth[root] = 0;
        low[root] = 0;
        // Vertex, next neighbour, the edge by which it was reached.
        let mut stack: Vec<(usize, usize, Option<usize>)> = vec![(root, 0, None)];
        while let Some(&mut (vertex, ref mut next, entry)) = stack.last_mut() {
            if let Some(&(edge, other)) = adjacent[vertex].get(*next) {
                *next += 1;
                if used[edge] {
                    continue;
                }
                used[edge] = true;
                open.push(edge);
                if depth[other] == usize::MAX {
                    depth[other] = depth[vertex] + 1;
                    low[other] = depth[other];
                    stack.push((other, 0, Some(edge)));
                } else {
                    low[vertex] = low[vertex].min(depth[other]);
                }
            } else {
                stack.pop();
                if let (Some(&(parent, _, _)), Some(entry)) = (stack.last(), entry) {
                    low[parent] = low[parent].min(low[vertex]);
                    if low[vertex] >= depth[parent]
                        && let Some(position) = open.iter().rposition(|&edge| edge == entry)
                    {
                        let mut block = open.split_off(position);
                        block.sort_unstable();
                        blocks.push(block);
                    }
                }
            }
        }
    }
    blocks.sort();
    blocks
}

/// One block during embedding.
pub(super) struct Block<'a> {
    edges: &'a [(usize, usize)],
    members: &'a [usize],
    adjacent: Vec<Vec<(usize, usize)>>,
    edge_laid: Vec<bool>,
    vertex_laid: Vec<bool>,
    faces: Vec<Vec<Half>>,
    faces_of: Vec<Vec<usize>>,
}

/// A part of the block not yet laid: its attachments and inner vertices.
struct Fragment {
    attachments: Vec<usize>,
    /// The single edge, or any edge of a larger fragment that may be set aside.
    edge: usize,
    /// A non-tree edge of it, if there is one.
    spare: Option<usize>,
    inner: bool,
}

impl<'a> Block<'a> {
    pub(super) fn new(vertices: usize, edges: &'a [(usize, usize)], members: &'a [usize]) -> Block<'a> {
        let mut adjacent = vec![Vec::new(); vertices];
        for &edge in members {
            let (u, v) = edges[edge];
            adjacent[u].push((edge, v));
            adjacent[v].push((edge, u));
        }
        Block {
            edges,
            members,
            adjacent,
            edge_laid: vec![false; edges.len()],
            vertex_laid: vec![false; vertices],
            faces: Vec::new(),
            faces_of: vec![Vec::new(); vertices],
        }
    }

    fn half(&self, edge: usize, from: usize) -> Half {
        if self.edges[edge].0 == from { 2 * edge } else { 2 * edge + 1 }
    }

    /// The faces of the block, or an edge that cannot be embedded.
    pub(super) fn embed(mut self, tree: &[bool]) -> Result<Vec<Vec<Half>>, usize> {
        let cycle = self.first_cycle();
        let back: Vec<Half> = cycle.iter().rev().map(|half| half ^ 1).collect();
        for &half in &cycle {
            self.lay(half);
        }
        self.add_face(cycle);
        self.add_face(back);
        loop {
            let fragments = self.fragments(tree);
            let mut choice: Option<(usize, usize, usize)> = None;
            for (index, fragment) in fragments.iter().enumerate() {
                let faces = self.admissible(fragment);
                match faces.first() {
                    None => return Err(fragment.spare.unwrap_or(fragment.edge)),
                    Some(&face) => {
                        if choice.is_none_or(|(count, ..)| faces.len() < count) {
                            choice = Some((faces.len(), index, face));
                        }
                    }
                }
            }
            let Some((_, index, face)) = choice else { break };
            let path = self.path(&fragments[index]);
            self.lay_path(&path, face);
        }
        Ok(self.faces)
    }

    fn lay(&mut self, half: Half) {
        let (u, v) = self.edges[half / 2];
        self.edge_laid[half / 2] = true;
        self.vertex_laid[u] = true;
        self.vertex_laid[v] = true;
    }

    fn tail(&self, half: Half) -> usize {
        let (u, v) = self.edges[half / 2];
        if half.is_multiple_of(2) { u } else { v }
    }

    fn add_face(&mut self, face: Vec<Half>) {
        let index = self.faces.len();
        for &half in &face {
            let vertex = self.tail(half);
            self.faces_of[vertex].push(index);
        }
        self.faces.push(face);
    }

    /// A shortest cycle through the block's first edge.
    fn first_cycle(&self) -> Vec<Half> {
        let first = self.members[0];
        let (start, goal) = self.edges[first];
        let mut reached_by: Vec<Option<usize>> = vec![None; self.adjacent.len()];
        let mut queue = std::collections::VecDeque::from([goal]);
        let mut seen = vec![false; self.adjacent.len()];
        seen[goal] = true;
        while let Some(vertex) = queue.pop_front() {
            for &(edge, other) in &self.adjacent[vertex] {
                if edge != first && !seen[other] {
                    seen[other] = true;
                    reached_by[other] = Some(edge);
                    queue.push_back(other);
                }
            }
        }
        // Walk back from the first edge's start to its end.
        let mut cycle = vec![2 * first];
        let mut back = Vec::new();
        let mut at = start;
        while let Some(edge) = reached_by[at] {
            let half = self.half(edge, at);
            back.push(half ^ 1);
            at = self.tail(half ^ 1);
        }
        back.reverse();
        cycle.extend(back);
        cycle
    }

    fn fragments(&self, tree: &[bool]) -> Vec<Fragment> {
        let mut result = Vec::new();
        let mut seen = vec![false; self.adjacent.len()];
        for &edge in self.members {
            if self.edge_laid[edge] {
                continue;
            }
            let (u, v) = self.edges[edge];
            match (self.vertex_laid[u], self.vertex_laid[v]) {
                (true, true) => result.push(Fragment {
                    attachments: vec![u, v],
                    edge,
                    spare: (!tree[edge]).then_some(edge),
                    inner: false,
                }),
                (laid, _) => {
                    let start = if laid { v } else { u };
                    if seen[start] {
                        continue;
                    }
                    seen[start] = true;
                    let (mut attachments, mut spare) = (Vec::new(), None);
                    let mut stack = vec![start];
                    while let Some(vertex) = stack.pop() {
                        for &(edge, other) in &self.adjacent[vertex] {
                            if !tree[edge] && spare.is_none() {
                                spare = Some(edge);
                            }
                            if self.vertex_laid[other] {
                                attachments.push(other);
                            } else if !seen[other] {
                                seen[other] = true;
                                stack.push(other);
                            }
                        }
                    }
                    attachments.sort_unstable();
                    attachments.dedup();
                    result.push(Fragment { attachments, edge, spare, inner: true });
                }
            }
        }
        result
    }

    /// The faces that hold every attachment of a fragment.
    fn admissible(&self, fragment: &Fragment) -> Vec<usize> {
        let Some(first) = fragment.attachments.iter().min_by_key(|&&vertex| self.faces_of[vertex].len())
        else {
            return Vec::new();
        };
        self.faces_of[*first]
            .iter()
            .copied()
            .filter(|face| fragment.attachments.iter().all(|&vertex| self.faces_of[vertex].contains(face)))
            .collect()
    }

    /// A shortest path through a fragment between two of its attachments.
    fn path(&self, fragment: &Fragment) -> Vec<Half> {
        let start = fragment.attachments[0];
        if !fragment.inner {
            return vec![self.half(fragment.edge, start)];
        }
        // The fragment is the part that holds this inner vertex.
        let (u, v) = self.edges[fragment.edge];
        let inside = self.inner_vertices(if self.vertex_laid[u] { v } else { u });
        let mut reached_by: Vec<Option<Half>> = vec![None; self.adjacent.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(vertex) = queue.pop_front() {
            for &(edge, other) in &self.adjacent[vertex] {
                if self.edge_laid[edge] || other == start || reached_by[other].is_some() {
                    continue;
                }
                let ends = self.vertex_laid[other];
                if (ends && vertex == start) || (!ends && !inside[other]) {
                    continue;
                }
                reached_by[other] = Some(self.half(edge, vertex));
                if ends {
                    let mut path = Vec::new();
                    let mut at = other;
                    while let Some(half) = reached_by[at] {
                        path.push(half);
                        at = self.tail(half);
                    }
                    path.reverse();
                    return path;
                }
                queue.push_back(other);
            }
        }
        Vec::new()
    }

    fn inner_vertices(&self, start: usize) -> Vec<bool> {
        let mut inside = vec![false; self.adjacent.len()];
        inside[start] = true;
        let mut stack = vec![start];
        while let Some(vertex) = stack.pop() {
            for &(_, other) in &self.adjacent[vertex] {
                if !self.vertex_laid[other] && !inside[other] {
                    inside[other] = true;
                    stack.push(other);
                }
            }
        }
        inside
    }

    fn lay_path(&mut self, path: &[Half], face: usize) {
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return };
        let (a, b) = (self.tail(first), self.tail(last ^ 1));
        let old = std::mem::take(&mut self.faces[face]);
        for &half in &old {
            let vertex = self.tail(half);
            self.faces_of[vertex].retain(|&other| other != face);
        }
        let (one, two) = split_face(&old, |half| self.tail(half), a, b, path);
        for &half in path {
            self.lay(half);
        }
        for &half in &one {
            let vertex = self.tail(half);
            self.faces_of[vertex].push(face);
        }
        self.faces[face] = one;
        self.add_face(two);
    }
}
