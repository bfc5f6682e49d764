//! The spine of a core: the path that should be drawn straight, between the
//! places where power comes in and goes out, or through the blocks of a core
//! that hangs together by single bonds or junctions.

use super::block;

/// The inner vertices of the spine, each with the two edges it passes by.
///
/// `depth` tells how far the branches at each vertex reach, 0 for plain
/// elements. A single block with fewer than two such vertices has no spine.
pub fn through(vertices: usize, edges: &[(usize, usize)], depth: &[usize]) -> Vec<(usize, (usize, usize))> {
    let mut adjacent = vec![Vec::new(); vertices];
    for (edge, &(u, v)) in edges.iter().enumerate() {
        adjacent[u].push((edge, v));
        adjacent[v].push((edge, u));
    }
    let single = block::biconnected_blocks(&adjacent, edges.len()).len() < 2;
    let ends = depth.iter().filter(|&&depth| depth > 0).count();
    if single && ends < 2 {
        return Vec::new();
    }
    let worth = |vertex: usize, distance: usize| {
        (!single || depth[vertex] > 0).then_some(distance + 2 * depth[vertex])
    };
    // Twice the farthest vertex gives nearly the longest shortest path.
    let (one, _) = farthest(0, &adjacent, worth);
    let (other, reached_by) = farthest(one, &adjacent, worth);
    let mut path = Vec::new();
    let mut at = other;
    while let Some(edge) = reached_by[at] {
        path.push((at, edge));
        let (u, v) = edges[edge];
        at = if u == at { v } else { u };
    }
    path.windows(2).map(|pair| (pair[1].0, (pair[0].1, pair[1].1))).collect()
}

/// The vertex of most worth by its distance, with the edge that reached each.
fn farthest(
    start: usize,
    adjacent: &[Vec<(usize, usize)>],
    worth: impl Fn(usize, usize) -> Option<usize>,
) -> (usize, Vec<Option<usize>>) {
    let mut reached_by = vec![None; adjacent.len()];
    let mut distance = vec![usize::MAX; adjacent.len()];
    distance[start] = 0;
    let mut queue = std::collections::VecDeque::from([start]);
    let mut best = (None, start);
    while let Some(vertex) = queue.pop_front() {
        let value = worth(vertex, distance[vertex]).filter(|_| vertex != start);
        if value > best.0 {
            best = (value, vertex);
        }
        for &(edge, other) in &adjacent[vertex] {
            if distance[other] == usize::MAX {
                distance[other] = distance[vertex] + 1;
                reached_by[other] = Some(edge);
                queue.push_back(other);
            }
        }
    }
    (best.1, reached_by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_in_a_row_have_a_spine_and_one_loop_has_none() {
        let square = |start: usize| (0..4).map(move |i| (start + i, start + (i + 1) % 4));
        assert!(through(4, &square(0).collect::<Vec<_>>(), &[0; 4]).is_empty());
        assert_eq!(through(4, &square(0).collect::<Vec<_>>(), &[1, 0, 1, 0]).len(), 1);
        let mut edges: Vec<_> = square(0).chain(square(4)).chain(square(8)).collect();
        edges.extend([(2, 4), (6, 8)]);
        let spine = through(12, &edges, &[0; 12]);
        assert!(
            spine.iter().any(|entry| entry.0 == 4) && spine.iter().any(|entry| entry.0 == 6),
            "{spine:?}"
        );
    }
}
