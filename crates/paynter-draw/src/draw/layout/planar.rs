//! Planar embedding of a layout core: which bonds surround which face.
//!
//! Each block is embedded for itself, and blocks are joined at their cut
//! vertices. A bond that fits nowhere is set aside and led through the faces in the end, with a
//! crossing point for every bond in its way.

use super::block::{Block, biconnected_blocks, spanning_tree};

/// A half-edge: `2 * edge` runs along the edge, `2 * edge + 1` against it.
pub type Half = usize;

/// A connected graph drawn on the plane without crossings.
#[derive(Debug, Clone, Default)]
pub struct Embedding {
    /// Number of vertices; those beyond the original ones are crossings.
    pub vertices: usize,
    /// Ends of the edges, crossings included.
    pub edges: Vec<(usize, usize)>,
    /// The half-edges that each original edge has become, in order.
    pub chains: Vec<Vec<Half>>,
    /// Each face as the half-edges around it, the face at their left.
    pub faces: Vec<Vec<Half>>,
    /// The face outside.
    pub outer: usize,
}

impl Embedding {
    /// The vertex a half-edge leaves.
    pub fn tail(&self, half: Half) -> usize {
        let (from, to) = self.edges[half / 2];
        if half.is_multiple_of(2) { from } else { to }
    }

    /// The vertex a half-edge reaches.
    pub fn head(&self, half: Half) -> usize {
        self.tail(half ^ 1)
    }
}

/// Embeds a connected graph without self-loops; parallel edges are allowed.
pub fn embed(vertices: usize, edges: &[(usize, usize)]) -> Embedding {
    let mut kept = vec![true; edges.len()];
    let mut set_aside = Vec::new();
    let blocks = loop {
        match embed_blocks(vertices, edges, &kept) {
            Ok(blocks) => break blocks,
            Err(edge) => {
                kept[edge] = false;
                set_aside.push(edge);
            }
        }
    };
    let mut embedding = join_blocks(vertices, edges, &blocks);
    set_aside.sort_unstable();
    for edge in set_aside {
        insert_edge(&mut embedding, edge, edges[edge]);
    }
    choose_outer(&mut embedding);
    embedding
}

/// The faces of every block, or an edge that cannot be embedded.
fn embed_blocks(
    vertices: usize,
    edges: &[(usize, usize)],
    kept: &[bool],
) -> Result<Vec<Vec<Vec<Half>>>, usize> {
    let mut adjacent = vec![Vec::new(); vertices];
    for (edge, &(u, v)) in edges.iter().enumerate() {
        if kept[edge] {
            adjacent[u].push((edge, v));
            adjacent[v].push((edge, u));
        }
    }
    let tree = spanning_tree(&adjacent, edges.len());
    biconnected_blocks(&adjacent, edges.len())
        .iter()
        .map(|block| match block[..] {
            [edge] => Ok(vec![vec![2 * edge, 2 * edge + 1]]),
            _ => Block::new(vertices, edges, block).embed(&tree),
        })
        .collect()
}

/// Splits a face by a path from its vertex `a` to its vertex `b`.
pub(super) fn split_face(
    face: &[Half],
    tail: impl Fn(Half) -> usize,
    a: usize,
    b: usize,
    path: &[Half],
) -> (Vec<Half>, Vec<Half>) {
    let at = |vertex| face.iter().position(|&half| tail(half) == vertex).unwrap_or(0);
    split_face_at(face, at(a), at(b), path)
}

fn split_face_at(face: &[Half], a: usize, b: usize, path: &[Half]) -> (Vec<Half>, Vec<Half>) {
    let arc = |from: usize, to: usize| {
        let length = (to + face.len() - from) % face.len();
        (0..length).map(move |step| face[(from + step) % face.len()])
    };
    let mut one: Vec<Half> = arc(a, b).collect();
    one.extend(path.iter().rev().map(|half| half ^ 1));
    let mut two: Vec<Half> = arc(b, a).collect();
    two.extend(path);
    (one, two)
}

/// Joins the blocks at their cut vertices, each in its largest free corner.
fn join_blocks(vertices: usize, edges: &[(usize, usize)], blocks: &[Vec<Vec<Half>>]) -> Embedding {
    let mut embedding = Embedding {
        vertices,
        edges: edges.to_vec(),
        chains: (0..edges.len()).map(|edge| vec![2 * edge]).collect(),
        faces: Vec::new(),
        outer: 0,
    };
    // `clockwise[h]`: the half-edge after h around its tail; `None` for edges set aside.
    let mut clockwise: Vec<Option<Half>> = vec![None; 2 * edges.len()];
    // The corner of each vertex where the next block goes in.
    let mut corner: Vec<Option<Half>> = vec![None; vertices];
    for faces in blocks {
        for face in faces {
            for (index, &half) in face.iter().enumerate() {
                clockwise[half ^ 1] = Some(face[(index + 1) % face.len()]);
            }
        }
        let mut order: Vec<usize> = (0..faces.len()).collect();
        order.sort_by_key(|&face| std::cmp::Reverse(faces[face].len()));
        let mut joined = vec![false; vertices];
        for face in order {
            for &half in &faces[face] {
                let (arriving, vertex) = (half ^ 1, embedding.head(half));
                if std::mem::replace(&mut joined[vertex], true) {
                    continue;
                }
                match corner[vertex] {
                    None => corner[vertex] = Some(arriving),
                    Some(open) => {
                        let (after_open, after_arriving) = (clockwise[open], clockwise[arriving]);
                        clockwise[open] = after_arriving;
                        clockwise[arriving] = after_open;
                    }
                }
            }
        }
    }
    let mut seen = vec![false; clockwise.len()];
    for start in 0..clockwise.len() {
        if clockwise[start].is_none() || seen[start] {
            continue;
        }
        let mut face = Vec::new();
        let mut half = start;
        while !seen[half] {
            seen[half] = true;
            face.push(half);
            half = clockwise[half ^ 1].unwrap_or(half);
        }
        embedding.faces.push(face);
    }
    embedding
}

/// Leads an edge that was set aside through as few edges as possible.
fn insert_edge(embedding: &mut Embedding, edge: usize, (from, to): (usize, usize)) {
    let mut face_of = vec![usize::MAX; 2 * embedding.edges.len()];
    for (index, face) in embedding.faces.iter().enumerate() {
        for &half in face {
            face_of[half] = index;
        }
    }
    let touches =
        |face: usize, vertex: usize| embedding.faces[face].iter().any(|&half| embedding.tail(half) == vertex);
    // Breadth-first over faces; the half-edge crossed to enter each.
    let mut entered: Vec<Option<Half>> = vec![None; embedding.faces.len()];
    let mut seen: Vec<bool> = (0..embedding.faces.len()).map(|face| touches(face, from)).collect();
    let mut queue: std::collections::VecDeque<usize> = (0..seen.len()).filter(|&face| seen[face]).collect();
    let mut goal = None;
    while let Some(face) = queue.pop_front() {
        if touches(face, to) {
            goal = Some(face);
            break;
        }
        for &half in &embedding.faces[face] {
            let next = face_of[half ^ 1];
            if next != usize::MAX && !seen[next] {
                seen[next] = true;
                entered[next] = Some(half);
                queue.push_back(next);
            }
        }
    }
    let Some(mut face) = goal else { return };
    let mut crossed = Vec::new();
    while let Some(half) = entered[face] {
        crossed.push((half, face));
        face = face_of[half];
    }
    crossed.reverse();
    let mut chain_of = vec![usize::MAX; embedding.edges.len()];
    for (index, halves) in embedding.chains.iter().enumerate() {
        for &half in halves {
            chain_of[half / 2] = index;
        }
    }
    let mut chain = Vec::new();
    let mut at = from;
    for (half, beyond) in crossed {
        let crossing = split_edge(embedding, half / 2, [face, beyond], &mut chain_of);
        chain.push(add_chord(embedding, face, at, crossing, None));
        (at, face) = (crossing, beyond);
    }
    chain.push(add_chord(embedding, face, at, to, Some(edge)));
    embedding.chains[edge] = chain;
}

/// Splits an edge between two faces by a new vertex, which is returned.
fn split_edge(
    embedding: &mut Embedding,
    edge: usize,
    between: [usize; 2],
    chain_of: &mut Vec<usize>,
) -> usize {
    let vertex = embedding.vertices;
    embedding.vertices += 1;
    let (from, to) = embedding.edges[edge];
    let added = embedding.edges.len();
    embedding.edges[edge] = (from, vertex);
    embedding.edges.push((vertex, to));
    let chain = chain_of.get(edge).copied().unwrap_or(usize::MAX);
    chain_of.resize(added, usize::MAX);
    chain_of.push(chain);
    let same = between[0] == between[1];
    for &face in &between[usize::from(same)..] {
        split_in(&mut embedding.faces[face], edge, added);
    }
    if let Some(list) = embedding.chains.get_mut(chain) {
        split_in(list, edge, added);
    }
    vertex
}

/// Lets the second half of a split edge follow the first in a list of half-edges.
fn split_in(list: &mut Vec<Half>, edge: usize, added: usize) {
    let mut index = 0;
    while index < list.len() {
        if list[index] == 2 * edge {
            list.insert(index + 1, 2 * added);
            index += 1;
        } else if list[index] == 2 * edge + 1 {
            list.insert(index, 2 * added + 1);
            index += 1;
        }
        index += 1;
    }
}

/// Draws an edge through a face; reuses the index of an edge set aside.
fn add_chord(embedding: &mut Embedding, face: usize, a: usize, b: usize, reuse: Option<usize>) -> Half {
    let edge = match reuse {
        Some(edge) => {
            embedding.edges[edge] = (a, b);
            edge
        }
        None => {
            embedding.edges.push((a, b));
            embedding.edges.len() - 1
        }
    };
    let old = std::mem::take(&mut embedding.faces[face]);
    let (one, two) = split_face(&old, |half| embedding.tail(half), a, b, &[2 * edge]);
    embedding.faces[face] = one;
    embedding.faces.push(two);
    2 * edge
}

/// The outer face is the longest one.
fn choose_outer(embedding: &mut Embedding) {
    let mut outer = 0;
    for (index, face) in embedding.faces.iter().enumerate() {
        if face.len() > embedding.faces[outer].len() {
            outer = index;
        }
    }
    embedding.outer = outer;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Euler's formula, every half-edge on one face, faces closed.
    fn check(vertices: usize, edges: &[(usize, usize)]) -> Embedding {
        let embedding = embed(vertices, edges);
        assert_eq!(embedding.vertices + embedding.faces.len(), embedding.edges.len() + 2, "Euler");
        let mut halves: Vec<Half> = embedding.faces.concat();
        halves.sort_unstable();
        assert_eq!(halves, (0..2 * embedding.edges.len()).collect::<Vec<_>>());
        for face in &embedding.faces {
            for (index, &half) in face.iter().enumerate() {
                assert_eq!(embedding.head(half), embedding.tail(face[(index + 1) % face.len()]));
            }
        }
        for (chain, &(from, to)) in embedding.chains.iter().zip(edges) {
            assert_eq!((embedding.tail(chain[0]), embedding.head(chain[chain.len() - 1])), (from, to));
        }
        embedding
    }

    fn complete(count: usize) -> Vec<(usize, usize)> {
        (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).collect()
    }

    #[test]
    fn planar_graphs_need_no_crossing() {
        assert_eq!(check(4, &complete(4)).vertices, 4);
        assert_eq!(check(2, &[(0, 1), (1, 0), (0, 1)]).vertices, 2);
        let grid: Vec<_> = (0..5)
            .flat_map(|i| (0..5).flat_map(move |j| [(i * 5 + j, 1, j < 4), (i * 5 + j, 5, i < 4)]))
            .filter(|edge| edge.2)
            .map(|edge| (edge.0, edge.0 + edge.1))
            .collect();
        let embedding = check(25, &grid);
        assert_eq!(embedding.vertices, 25);
        assert_eq!(embedding.faces[embedding.outer].len(), 16);
        // Two triangles and a pendant path at one cut vertex.
        check(7, &[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0), (0, 5), (5, 6)]);
    }

    #[test]
    fn the_smallest_non_planar_graphs_cross_once() {
        assert_eq!(check(5, &complete(5)).vertices, 6);
        let bipartite: Vec<_> = (0..3).flat_map(|i| (3..6).map(move |j| (i, j))).collect();
        assert_eq!(check(6, &bipartite).vertices, 7);
        let larger = check(7, &complete(7));
        assert!((16..=24).contains(&(larger.vertices)), "{}", larger.vertices - 7);
    }
}
