//! The core's right-angled shape: bends are few (Tamassia's flow from vertices
//! through faces), then every face is cut into rectangles, which gives
//! coordinates on a grid.
//!
//! A vertex with more than four bonds becomes a cage, a rectangle with one
//! point on its rim for each bond and each branch; the element stands inside.

use std::collections::BTreeMap;

use super::flow::Network;
use super::planar::Embedding;

/// What the shape should know of a vertex.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish {
    /// Two bonds should pass straight through (a two-port).
    pub straight: bool,
    /// Number of branches that will be attached.
    pub branches: usize,
    /// Two edges between which the backbone passes straight.
    pub through: Option<(usize, usize)>,
}

/// A vertex drawn as a rectangle.
#[derive(Debug, Clone)]
pub struct Cage {
    /// The vertex it stands for.
    pub vertex: usize,
    /// The points on its rim, in order.
    pub rim: Vec<usize>,
    /// The points of the rim where branches may start, one each.
    pub slots: Vec<usize>,
}

/// The core on a grid.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Columns and rows of the points: vertices first, then bends and rims.
    pub points: Vec<(i64, i64)>,
    /// For each original edge the points from end to end.
    pub routes: Vec<Vec<usize>>,
    /// The vertices that have no point of their own.
    pub cages: Vec<Cage>,
    /// What its bends and turns cost.
    pub cost: i64,
}

const BEND: i64 = 8;
/// A turn of the backbone costs more than two bends beside it.
const TURN: i64 = 20;
const DEAR: i64 = 1_000;

/// Computes the shape of an embedded core.
pub fn shape(embedding: &Embedding, wishes: &[Wish]) -> Option<Shape> {
    let mut embedding = embedding.clone();
    let cages = cage_vertices(&mut embedding, wishes);
    let corners = bend(&embedding, wishes, &cages)?;
    let (turned, points) = corners.materialise(&embedding);
    let grid = Grid::new(points, &turned)?;
    let routes = embedding
        .chains
        .iter()
        .map(|chain| {
            let mut route = Vec::new();
            for &half in chain {
                let mut part = turned.path[half / 2].clone();
                if half % 2 == 1 {
                    part.reverse();
                }
                if !route.is_empty() {
                    part.remove(0);
                }
                route.extend(part);
            }
            route
        })
        .collect();
    let cages = cages.into_iter().map(|cage| cage.plain).collect();
    Some(Shape { points: grid.points, routes, cages, cost: corners.cost })
}

struct RawCage {
    plain: Cage,
    /// Its rim's edges, which may not bend.
    edges: std::ops::Range<usize>,
    /// The face inside.
    face: usize,
}

/// Replaces vertices of degree above four by cages.
fn cage_vertices(embedding: &mut Embedding, wishes: &[Wish]) -> Vec<RawCage> {
    let mut cages = Vec::new();
    // The faces that pass each vertex. A cage changes neither those of other vertices nor how many bonds they have.
    let mut passing: Vec<Vec<usize>> = vec![Vec::new(); embedding.vertices];
    for (face, list) in embedding.faces.iter().enumerate() {
        for &half in list {
            passing[embedding.tail(half)].push(face);
        }
    }
    for (vertex, mut passing) in passing.into_iter().enumerate() {
        if passing.len() <= 4 {
            continue;
        }
        passing.dedup();
        // Where the faces pass the vertex: face, position of the half-edge that leaves.
        let corners: Vec<(usize, usize)> = passing
            .iter()
            .flat_map(|&face| {
                embedding.faces[face].iter().enumerate().map(move |(at, &half)| (face, at, half))
            })
            .filter(|&(_, _, half)| embedding.tail(half) == vertex)
            .map(|(face, at, _)| (face, at))
            .collect();
        let branches = wishes.get(vertex).map_or(0, |wish| wish.branches);
        cages.extend(cage(embedding, vertex, &corners, branches));
    }
    cages
}

/// Replaces a vertex by a cage with so many slots for branches.
fn cage(
    embedding: &mut Embedding,
    vertex: usize,
    corners: &[(usize, usize)],
    branches: usize,
) -> Option<RawCage> {
    // A rim point for every leaving half-edge.
    let mut point_of = BTreeMap::new();
    for &(face, at) in corners {
        point_of.insert(embedding.faces[face][at], embedding.vertices + point_of.len());
    }
    embedding.vertices += point_of.len();
    let first_edge = embedding.edges.len();
    let (around, slots) = embedding.cut_corners(corners, &point_of, branches);
    for (&half, &point) in &point_of {
        let ends = &mut embedding.edges[half / 2];
        if half % 2 == 0 {
            ends.0 = point;
        } else {
            ends.1 = point;
        }
    }
    let (&start, _) = around.iter().next()?;
    let (mut rim, mut inside) = (Vec::new(), Vec::new());
    let mut at = start;
    while let Some(&(next, edge)) = around.get(&at) {
        rim.push(at);
        inside.push(2 * edge + 1);
        at = next;
        if at == start {
            break;
        }
    }
    inside.reverse();
    embedding.faces.push(inside);
    Some(RawCage {
        plain: Cage { vertex, rim, slots },
        edges: first_edge..embedding.edges.len(),
        face: embedding.faces.len() - 1,
    })
}

/// For each point of a rim the next one and the edge to it.
type Around = BTreeMap<usize, (usize, usize)>;

impl Embedding {
    /// Leads the faces that pass a caged vertex along its rim, with slots for branches in the widest corner; returns the
    /// rim and the slots.
    fn cut_corners(
        &mut self,
        corners: &[(usize, usize)],
        point_of: &BTreeMap<usize, usize>,
        branches: usize,
    ) -> (Around, Vec<usize>) {
        // Branches go to the widest corner, the outer face first.
        let width = |&(face, at): &(usize, usize)| {
            (face == self.outer, self.faces[face].len(), std::cmp::Reverse((face, at)))
        };
        let widest = corners.iter().copied().max_by_key(width).unwrap_or((0, 0));
        let (mut around, mut slots, mut inserts) = (Around::new(), Vec::new(), Vec::new());
        for &(face, at) in corners {
            let list = &self.faces[face];
            let leaves = list[at];
            let arrives = list[(at + list.len() - 1) % list.len()] ^ 1;
            let mut stops = vec![point_of[&arrives]];
            if (face, at) == widest {
                for _ in 0..branches {
                    slots.push(self.vertices);
                    stops.push(self.vertices);
                    self.vertices += 1;
                }
            }
            stops.push(point_of[&leaves]);
            let mut halves = Vec::new();
            for pair in stops.windows(2) {
                around.insert(pair[0], (pair[1], self.edges.len()));
                halves.push(2 * self.edges.len());
                self.edges.push((pair[0], pair[1]));
            }
            inserts.push((face, at, halves));
        }
        // Later positions first, so that earlier ones stay valid.
        inserts.sort_by_key(|&(face, at, _)| std::cmp::Reverse((face, at)));
        for (face, at, halves) in inserts {
            self.faces[face].splice(at..at, halves);
        }
        (around, slots)
    }
}

/// The turn at every corner and along every edge.
struct Corners {
    /// For each face, the turn after each of its half-edges: +1 left, −1 right.
    turns: Vec<Vec<i64>>,
    /// Left turns along each edge (negative: right turns).
    bends: Vec<i64>,
    cost: i64,
}

/// Finds angles and bends of least cost.
fn bend(embedding: &Embedding, wishes: &[Wish], cages: &[RawCage]) -> Option<Corners> {
    let faces = embedding.faces.len();
    let mut degree = vec![0_i64; embedding.vertices];
    for &(u, v) in &embedding.edges {
        degree[u] += 1;
        degree[v] += 1;
    }
    let mut rigid = vec![false; embedding.edges.len()];
    let mut inner = vec![false; faces];
    for cage in cages {
        rigid[cage.edges.clone()].fill(true);
        inner[cage.face] = true;
    }
    // The original edge that each edge is a piece of.
    let mut origin = vec![usize::MAX; embedding.edges.len()];
    for (edge, chain) in embedding.chains.iter().enumerate() {
        for &half in chain {
            origin[half / 2] = edge;
        }
    }
    let on_spine: std::collections::BTreeSet<usize> =
        wishes.iter().filter_map(|wish| wish.through).flat_map(|(one, two)| [one, two]).collect();
    let node_of_face = |face: usize| embedding.vertices + face;
    let mut network = Network::new(embedding.vertices + faces);
    for (vertex, &degree) in degree.iter().enumerate() {
        if degree > 0 {
            network.add_supply(vertex, 4 - degree);
        }
    }
    let mut face_of = vec![0; 2 * embedding.edges.len()];
    let mut arcs: Vec<Vec<Vec<usize>>> = Vec::with_capacity(faces);
    for (face, list) in embedding.faces.iter().enumerate() {
        let outside = face == embedding.outer;
        network.add_supply(node_of_face(face), -(list.len() as i64) + if outside { -4 } else { 4 });
        let mut of_face = Vec::with_capacity(list.len());
        for (at, &half) in list.iter().enumerate() {
            face_of[half] = face;
            let vertex = embedding.head(half);
            let wish = wishes.get(vertex).copied().unwrap_or_default();
            let mut of_corner = Vec::new();
            let rooms = if inner[face] { 1 } else { 4 - degree[vertex] };
            let edges = (origin[half / 2], origin[list[(at + 1) % list.len()] / 2]);
            for unit in 0..rooms {
                let cost = corner_cost(wish, edges, degree[vertex], unit, outside);
                of_corner.push(network.add_arc(vertex, node_of_face(face), 1, cost));
            }
            of_face.push(of_corner);
        }
        arcs.push(of_face);
    }
    let mut bend_arcs = Vec::with_capacity(embedding.edges.len());
    for (edge, &stiff) in rigid.iter().enumerate() {
        let (left, right) = (node_of_face(face_of[2 * edge]), node_of_face(face_of[2 * edge + 1]));
        let cost = match stiff {
            true => DEAR,
            false if on_spine.contains(&origin[edge]) => TURN,
            false => BEND,
        };
        let room = 4 * embedding.edges.len() as i64;
        bend_arcs.push((network.add_arc(left, right, room, cost), network.add_arc(right, left, room, cost)));
    }
    if !network.solve() {
        return None;
    }
    let turns = arcs
        .iter()
        .map(|face| {
            face.iter().map(|corner| 1 - corner.iter().map(|&arc| network.flow(arc)).sum::<i64>()).collect()
        })
        .collect();
    let bends = bend_arcs.iter().map(|&(one, two)| network.flow(one) - network.flow(two)).collect();
    Some(Corners { turns, bends, cost: network.cost() })
}

/// What it costs to widen a corner by a quarter turn for the first or second time.
fn corner_cost(wish: Wish, edges: (usize, usize), degree: i64, unit: i64, outside: bool) -> i64 {
    if let Some((one, two)) = wish.through {
        let between = edges == (one, two) || edges == (two, one);
        return match degree {
            2 if unit > 0 => TURN,
            3 if !between => TURN,
            _ => 0,
        };
    }
    match (degree, unit) {
        // Two branches and more want an outer corner, where two directions are free.
        (2, _) if wish.branches > 1 && outside => 0,
        (2, 0) if wish.branches > 1 => 1,
        (2, 0) => 0,
        (2, _) if wish.straight || (wish.branches > 0 && !outside) => 4,
        (2, _) => 1,
        (3, _) if wish.branches > 0 && !outside => 2,
        (3, _) => i64::from(!outside),
        _ => 0,
    }
}

/// Edges as straight pieces with known turns between them.
struct Turned {
    /// The points along each edge.
    path: Vec<Vec<usize>>,
    /// Each face as points with the turn at that point.
    faces: Vec<Vec<(usize, i64)>>,
    /// The face outside.
    outer: usize,
}

impl Corners {
    /// Makes a point of every bend. Returns the number of points, too.
    fn materialise(&self, embedding: &Embedding) -> (Turned, usize) {
        let mut points = embedding.vertices;
        let path: Vec<Vec<usize>> = embedding
            .edges
            .iter()
            .zip(&self.bends)
            .map(|(&(from, to), &bends)| {
                let mut path = vec![from];
                for _ in 0..bends.abs() {
                    path.push(points);
                    points += 1;
                }
                path.push(to);
                path
            })
            .collect();
        let faces = embedding
            .faces
            .iter()
            .zip(&self.turns)
            .map(|(list, turns)| {
                let mut face = Vec::new();
                for (&half, &turn) in list.iter().zip(turns) {
                    let along = if half % 2 == 0 { self.bends[half / 2] } else { -self.bends[half / 2] };
                    let mut stops = path[half / 2].clone();
                    if half % 2 == 1 {
                        stops.reverse();
                    }
                    for &bend in &stops[1..stops.len() - 1] {
                        face.push((bend, along.signum()));
                    }
                    face.push((embedding.head(half), turn));
                }
                face
            })
            .collect();
        (Turned { path, faces, outer: embedding.outer }, points)
    }
}

/// Directions count counter-clockwise from east.
const EAST: i64 = 0;

/// One face during cutting: points, each with the turn there and the direction
/// of the piece that leaves it.
type Contour = Vec<(usize, i64, i64)>;

struct Grid {
    points: Vec<(i64, i64)>,
}

impl Grid {
    fn new(points: usize, turned: &Turned) -> Option<Grid> {
        let contours = orient(turned)?;
        let mut pieces: Vec<(usize, usize, i64)> = Vec::new();
        let mut count = points;
        for (index, contour) in contours.into_iter().enumerate() {
            let mut open = vec![if index == turned.outer { frame(contour, &mut count)? } else { contour }];
            while let Some(contour) = open.pop() {
                match cut(&contour, &mut count) {
                    Some((one, two)) => open.extend([one, two]),
                    None => {
                        let size = contour.len();
                        pieces.extend(
                            (0..size).map(|at| (contour[at].0, contour[(at + 1) % size].0, contour[at].2)),
                        );
                    }
                }
            }
        }
        let columns = coordinates(count, &pieces, 0)?;
        let rows = coordinates(count, &pieces, 1)?;
        // The rows count upwards; the drawing's y points down.
        let points = (0..points).map(|point| (columns[point], -rows[point])).collect();
        Some(Grid { points })
    }
}

/// Gives every piece of every face its direction.
fn orient(turned: &Turned) -> Option<Vec<Contour>> {
    let mut places = BTreeMap::new();
    for (face, list) in turned.faces.iter().enumerate() {
        for at in 0..list.len() {
            places
                .entry((list[at].0, list[(at + 1) % list.len()].0))
                .or_insert_with(Vec::new)
                .push((face, at));
        }
    }
    // Parallel straight edges share end points: pair them in the order of their faces.
    let mut directions: Vec<Option<i64>> = vec![None; turned.faces.len()];
    let mut contours: Vec<Contour> = vec![Vec::new(); turned.faces.len()];
    let mut queue = std::collections::VecDeque::from([(turned.outer, EAST)]);
    while let Some((face, start)) = queue.pop_front() {
        if directions[face].is_some() {
            continue;
        }
        directions[face] = Some(start);
        let list = &turned.faces[face];
        let mut direction = start;
        let mut contour = Vec::with_capacity(list.len());
        for at in 0..list.len() {
            let next = (at + 1) % list.len();
            contour.push((list[at].0, list[at].1, direction.rem_euclid(4)));
            if let Some(twins) = places.get(&(list[next].0, list[at].0)) {
                for &(other, twin) in twins {
                    if directions[other].is_none() && other != face {
                        // The twin runs the other way; go back to that face's first piece.
                        let turns: i64 = (1..=twin).map(|at| turned.faces[other][at].1).sum();
                        queue.push_back((other, direction + 2 - turns));
                    }
                }
            }
            direction += list[next].1;
        }
        if (direction - start).rem_euclid(4) != 0 {
            return None;
        }
        contours[face] = contour;
    }
    directions.iter().all(Option::is_some).then_some(contours)
}

/// Puts a frame around the outer face, joined by one piece, so that it becomes a face like any other.
fn frame(contour: Contour, count: &mut usize) -> Option<Contour> {
    let size = contour.len();
    // A corner after which the contour never again turns back to the left of its direction.
    let at = (0..size).find(|&at| contour[at].1 == -1 && front(&contour, at).is_none())?;
    let direction = (contour[at].2 + 1).rem_euclid(4);
    let gate = *count;
    let corners = [gate + 1, gate + 2, gate + 3, gate + 4];
    *count += 5;
    let point = contour[at].0;
    let mut framed: Contour = Vec::with_capacity(size + 8);
    // Straight on to the gate, then round the frame counter-clockwise back to it.
    framed.push((point, 0, direction));
    framed.push((gate, 1, (direction + 1).rem_euclid(4)));
    for (index, &corner) in (0_i64..).zip(&corners) {
        framed.push((corner, 1, (direction + 2 + index).rem_euclid(4)));
    }
    framed.push((gate, 1, (direction + 2).rem_euclid(4)));
    framed.push((point, 1, contour[at].2));
    framed.extend((1..size).map(|step| contour[(at + step) % size]));
    Some(framed)
}

/// The first piece after a right turn that faces the direction before it.
fn front(contour: &Contour, at: usize) -> Option<usize> {
    let size = contour.len();
    let mut rotation = -1;
    (1..size).map(|step| (at + step) % size).find(|&next| {
        rotation += contour[next].1;
        rotation == 1
    })
}

/// Cuts a face at a right turn, straight on to the piece in front.
fn cut(contour: &Contour, count: &mut usize) -> Option<(Contour, Contour)> {
    let size = contour.len();
    let at = (0..size).find(|&at| contour[at].1 == -1)?;
    let wall = front(contour, at)?;
    let direction = (contour[at].2 + 1).rem_euclid(4);
    let (point, added) = (contour[at].0, *count);
    *count += 1;
    // One part: along the contour to the wall, then back by the cut.
    let mut one: Contour = vec![(point, 1, contour[at].2)];
    let length = (wall + size - at) % size;
    one.extend((1..=length).map(|step| contour[(at + step) % size]));
    one.push((added, 1, (direction + 2).rem_euclid(4)));
    // The other: straight on by the cut, then along the rest of the wall.
    let mut two: Contour = vec![(point, 0, direction), (added, 1, contour[wall].2)];
    two.extend((1..size - length).map(|step| contour[(wall + step) % size]));
    Some((one, two))
}

/// Longest paths along one axis (0: columns, 1: rows).
fn coordinates(count: usize, pieces: &[(usize, usize, i64)], axis: i64) -> Option<Vec<i64>> {
    let mut class: Vec<usize> = (0..count).collect();
    for &(from, to, direction) in pieces {
        if direction % 2 != axis {
            let (a, b) = (find(&mut class, from), find(&mut class, to));
            class[a.max(b)] = a.min(b);
        }
    }
    let mut after = vec![Vec::new(); count];
    let mut before = vec![0_usize; count];
    for &(from, to, direction) in pieces {
        if direction % 2 == axis {
            let (a, b) = (find(&mut class, from), find(&mut class, to));
            let (low, high) = if direction == axis { (a, b) } else { (b, a) };
            after[low].push(high);
            before[high] += 1;
        }
    }
    let mut value = vec![0_i64; count];
    let mut ready: Vec<usize> = (0..count).filter(|&node| class[node] == node && before[node] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for &next in &after[node] {
            value[next] = value[next].max(value[node] + 1);
            before[next] -= 1;
            if before[next] == 0 {
                ready.push(next);
            }
        }
    }
    let classes = (0..count).filter(|&node| class[node] == node).count();
    (done == classes).then(|| (0..count).map(|point| value[find(&mut class, point)]).collect())
}

/// Finds a class's representative, shortening the way.
pub fn find(class: &mut [usize], mut node: usize) -> usize {
    while class[node] != node {
        class[node] = class[class[node]];
        node = class[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::super::planar::embed;
    use super::*;

    /// Every route is right-angled, no two routes cross or overlap, points are distinct.
    fn check(vertices: usize, edges: &[(usize, usize)]) -> (usize, Shape) {
        let embedding = embed(vertices, edges);
        let wishes = vec![Wish { branches: 1, ..Wish::default() }; vertices];
        let shape = shape(&embedding, &wishes).expect("a shape");
        let mut bends = 0;
        let mut pieces = Vec::new();
        for route in &shape.routes {
            for pair in route.windows(2) {
                let (a, b) = (shape.points[pair[0]], shape.points[pair[1]]);
                assert!((a.0 == b.0) != (a.1 == b.1), "{a:?} {b:?}");
                pieces.push((a, b));
            }
            bends += route
                .windows(3)
                .filter(|w| {
                    let [a, b, c] = [shape.points[w[0]], shape.points[w[1]], shape.points[w[2]]];
                    !((a.0 == b.0 && b.0 == c.0) || (a.1 == b.1 && b.1 == c.1))
                })
                .count();
        }
        for (index, &(a, b)) in pieces.iter().enumerate() {
            for &(c, d) in &pieces[..index] {
                let (low, high) = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
                let (low2, high2) = ((c.0.min(d.0), c.1.min(d.1)), (c.0.max(d.0), c.1.max(d.1)));
                let shared = [a, b].iter().filter(|p| **p == c || **p == d).count();
                let meets = low.0 <= high2.0 && low2.0 <= high.0 && low.1 <= high2.1 && low2.1 <= high.1;
                assert!(!meets || shared == 1, "{a:?}-{b:?} meets {c:?}-{d:?}");
            }
        }
        (bends, shape)
    }

    #[test]
    fn rings_and_ladders_need_no_bend() {
        let ring: Vec<_> = (0..6).map(|i| (i, (i + 1) % 6)).collect();
        assert_eq!(check(6, &ring).0, 0);
        let ladder: Vec<_> = (0..5)
            .flat_map(|i| [(i, 5 + i), (i, i + 1), (5 + i, 6 + i)])
            .filter(|&(a, b)| b < 10 && !(a == 4 && b == 5))
            .collect();
        assert_eq!(check(10, &ladder).0, 0);
        assert_eq!(check(3, &[(0, 1), (1, 2), (2, 0)]).0, 1);
    }

    #[test]
    fn busy_vertices_become_cages() {
        let wheel: Vec<_> = (1..8).flat_map(|i| [(0, i), (i, i % 7 + 1)]).collect();
        let (_, shape) = check(8, &wheel);
        assert_eq!(shape.cages.len(), 1);
        assert_eq!((shape.cages[0].rim.len(), shape.cages[0].slots.len()), (8, 1));
        let complete: Vec<_> = (0..6).flat_map(|i| (i + 1..6).map(move |j| (i, j))).collect();
        check(6, &complete);
        check(2, &[(0, 1), (0, 1), (1, 0)]);
    }
}
