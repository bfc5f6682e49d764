//! The rough drawing of one connected part: backbone or core on a grid,
//! branches around it, everything in whole rows and columns.

use super::super::diagram::{Diagram, NodeKind};
use super::super::label::Side;
use super::core::{Core, backbone, core_grid, path_grid, peel};
use super::orthogonal::Cage;
use super::tree::{Forest, Slot};
use paynter_graph::{Class, Power};

/// An edge of the layout graph: a bond, or the arrow of a signal that hangs on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The node at its tail.
    pub from: usize,
    /// The node at its head.
    pub to: usize,
}

/// A connected part of the diagram; indices count within it.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// The nodes' indices in the diagram.
    pub nodes: Vec<usize>,
    /// Its edges.
    pub edges: Vec<Edge>,
}

/// The element of a busy core vertex stands inside a rim of points.
#[derive(Debug, Clone)]
pub struct Ring {
    /// The element's point.
    pub centre: usize,
    /// The points around it.
    pub rim: Vec<usize>,
}

/// Nodes that fan out from one node to one side.
#[derive(Debug, Clone)]
pub struct Fan {
    /// The side.
    pub side: Side,
    /// Each node with the first point on the way to it.
    pub members: Vec<(usize, usize)>,
}

/// A rough drawing.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    /// Columns and rows; the first points are the nodes'.
    pub points: Vec<(i64, i64)>,
    /// For every edge its points from end to end.
    pub routes: Vec<Vec<usize>>,
    /// Elements that stand in a rim.
    pub rings: Vec<Ring>,
    /// Fans of slanted bonds.
    pub fans: Vec<Fan>,
}

/// Draws a part roughly.
pub fn sketch(diagram: &Diagram, part: &Part) -> Sketch {
    let count = part.nodes.len();
    let mut adjacent: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (edge, &Edge { from, to }) in part.edges.iter().enumerate() {
        adjacent[from].push((edge, to));
        adjacent[to].push((edge, from));
    }
    let kind = |node: usize| diagram.nodes[part.nodes[node]].kind;
    let in_core = peel(&adjacent);
    let core = if in_core.contains(&true) { core_grid(part, &adjacent, &in_core, &kind) } else { None };
    let core = match core {
        Some(core) => core,
        None => path_grid(backbone(part, &adjacent, &kind), part, &adjacent),
    };
    attach(part, &adjacent, core, &kind)
}

/// Hangs the branches on the core and gives every point its row and column.
fn attach(
    part: &Part,
    adjacent: &[Vec<(usize, usize)>],
    core: Core,
    kind: &impl Fn(usize) -> NodeKind,
) -> Sketch {
    let count = part.nodes.len();
    let mut in_core = vec![false; count];
    for &node in &core.nodes {
        in_core[node] = true;
    }
    let (forest_children, parent_edge) = hang(adjacent, &core.nodes, &in_core);
    let mut forest = Forest::new(forest_children);
    let order = forest.descend(&core.nodes);
    let weight = forest.weights(&order);
    // Power comes in by this branch: it belongs to the left.
    let feeds = |node: usize| {
        parent_edge[node].is_some_and(|edge| part.edges[edge].from == node) && kind(node) != NodeKind::Signal
    };
    let slots_on_rim = hang_on_core(&core, &mut forest, &weight, kind, &feeds);
    for &node in &order {
        if let Some(Slot { side, .. }) = forest.slot[node] {
            forest.spread(node, side, &weight, feeds);
        }
    }
    // A branch on a rim is measured from its own point of the rim.
    let rim_children: Vec<(usize, usize)> = slots_on_rim.clone();
    for &(_, child) in &rim_children {
        for list in &mut forest.children {
            list.retain(|&other| other != child);
        }
    }
    forest.measure(&order);
    place(part, core, &forest, &order, &parent_edge, &rim_children)
}

/// The children of every node away from the core, and the edge to its parent.
fn hang(
    adjacent: &[Vec<(usize, usize)>],
    roots: &[usize],
    in_core: &[bool],
) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
    let mut children = vec![Vec::new(); adjacent.len()];
    let mut parent_edge = vec![None; adjacent.len()];
    let mut seen = in_core.to_vec();
    let mut open: Vec<usize> = roots.to_vec();
    while let Some(node) = open.pop() {
        for &(edge, other) in &adjacent[node] {
            if !seen[other] {
                seen[other] = true;
                parent_edge[other] = Some(edge);
                children[node].push(other);
                open.push(other);
            }
        }
        children[node].sort_unstable();
    }
    (children, parent_edge)
}

/// Chooses the slots of the branches that hang on core nodes. Branches of
/// caged nodes get a point of the rim: returned as pairs of point and child.
fn hang_on_core(
    core: &Core,
    forest: &mut Forest,
    weight: &[usize],
    kind: &impl Fn(usize) -> NodeKind,
    feeds: &impl Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut taken = vec![[false; 4]; core.points.len()];
    let mut pieces = Vec::new();
    for (_, route) in &core.routes {
        for pair in route.windows(2) {
            let (a, b) = (core.points[pair[0]], core.points[pair[1]]);
            let side = toward(a, b);
            taken[pair[0]][side as usize] = true;
            taken[pair[1]][side.opposite() as usize] = true;
            pieces.push((a, b));
        }
    }
    let mut on_rim = Vec::new();
    for (at, &node) in core.nodes.iter().enumerate() {
        let mut children = forest.children[node].clone();
        children.sort_by_key(|&child| std::cmp::Reverse(weight[child]));
        if let Some(cage) = core.cages.iter().find(|cage| cage.vertex == at) {
            for (&point, &child) in cage.slots.iter().zip(&children) {
                forest.slot[child] = Some(Slot { side: side_of_rim(core, cage, point), lane: 0 });
                on_rim.push((point, child));
            }
            continue;
        }
        let mut free: Vec<(Side, i64)> = Side::ALL
            .into_iter()
            .filter(|&side| !taken[at][side as usize])
            .map(|side| (side, if core.looped { sight(core.points[at], side, &pieces) } else { 0 }))
            .collect();
        if free.is_empty() {
            hang_in_corners(&children, forest);
            continue;
        }
        let first = match kind(node).class() {
            Some(Class::Junction(Power::Effort)) => Side::South,
            _ => Side::North,
        };
        // Outwards first, then up and down before left and right.
        free.sort_by_key(|&(side, sight)| {
            (std::cmp::Reverse(sight), !side.is_vertical(), side != first, side as usize)
        });
        let sides: Vec<Side> = free.iter().map(|&(side, _)| side).collect();
        let groups = grouped(children, &sides, weight, kind, feeds);
        for (side, mut group) in groups {
            group.sort_unstable();
            // The heaviest of an odd group goes straight.
            if group.len() % 2 == 1
                && let Some(heavy) =
                    group.iter().copied().max_by_key(|&child| (weight[child], std::cmp::Reverse(child)))
                && weight[heavy] > 1
            {
                group.retain(|&child| child != heavy);
                group.insert(group.len() / 2, heavy);
            }
            forest.fan(&group, side);
        }
    }
    on_rim
}

/// The side of a cage that a point of its rim is on.
fn side_of_rim(core: &Core, cage: &Cage, point: usize) -> Side {
    let rim = |axis: fn(&(i64, i64)) -> i64| cage.rim.iter().map(move |&p| axis(&core.points[p]));
    let (x, y) = core.points[point];
    if rim(|p| p.0).max() == Some(x) {
        Side::East
    } else if rim(|p| p.0).min() == Some(x) {
        Side::West
    } else if rim(|p| p.1).min() == Some(y) {
        Side::North
    } else {
        Side::South
    }
}

/// Deals branches to the sides that are free: one that feeds to the west, a heavy one to the east, where those are empty.
fn grouped(
    children: Vec<usize>,
    sides: &[Side],
    weight: &[usize],
    kind: &impl Fn(usize) -> NodeKind,
    feeds: &impl Fn(usize) -> bool,
) -> Vec<(Side, Vec<usize>)> {
    let mut groups: Vec<(Side, Vec<usize>)> = sides.iter().map(|&side| (side, Vec::new())).collect();
    let (sideways, rest): (Vec<usize>, Vec<usize>) = children
        .into_iter()
        .partition(|&child| feeds(child) && (kind(child).is_source() || weight[child] > 1));
    let west = sideways.into_iter().map(|child| (child, Some(Side::West)));
    let east = rest.into_iter().map(|child| (child, Some(Side::East).filter(|_| weight[child] > 1)));
    for (child, wanted) in west.chain(east) {
        let place = groups.iter().position(|(side, group)| Some(*side) == wanted && group.is_empty());
        let chosen = place.unwrap_or_else(|| emptiest(&groups));
        groups[chosen].1.push(child);
    }
    groups
}

/// The side with the fewest branches. Fans open up and down where they can, and
/// never both ways, so that no two claim the same corner.
fn emptiest(groups: &[(Side, Vec<usize>)]) -> usize {
    let upright = groups.iter().any(|(side, _)| side.is_vertical());
    let full = |(side, group): &(Side, Vec<usize>)| upright && !side.is_vertical() && !group.is_empty();
    (0..groups.len()).min_by_key(|&index| (full(&groups[index]), groups[index].1.len(), index)).unwrap_or(0)
}

/// With bonds on all four sides, branches go into the corners between them.
fn hang_in_corners(children: &[usize], forest: &mut Forest) {
    let corners = [(Side::North, 1), (Side::South, -1), (Side::South, 1), (Side::North, -1)];
    for (index, &child) in children.iter().enumerate() {
        let (side, sign) = corners[index % 4];
        let lane = sign * (1 + (index / 4) as i32);
        forest.slot[child] = Some(Slot { side, lane });
    }
}

fn toward(a: (i64, i64), b: (i64, i64)) -> Side {
    match ((b.0 - a.0).signum(), (b.1 - a.1).signum()) {
        (1, _) => Side::East,
        (-1, _) => Side::West,
        (_, -1) => Side::North,
        _ => Side::South,
    }
}

/// A level or upright piece between two places.
type Piece = ((i64, i64), (i64, i64));

/// How far one sees from a point before a piece of the core blocks the view.
fn sight(from: (i64, i64), side: Side, pieces: &[Piece]) -> i64 {
    let (dx, dy) = side.step();
    let mut nearest = 1_000;
    for &(a, b) in pieces {
        let (ahead, across) = if dx != 0 {
            ((a.0.min(b.0) - from.0, a.0.max(b.0) - from.0), (a.1.min(b.1) - from.1, a.1.max(b.1) - from.1))
        } else {
            ((a.1.min(b.1) - from.1, a.1.max(b.1) - from.1), (a.0.min(b.0) - from.0, a.0.max(b.0) - from.0))
        };
        if across.0 <= 0 && across.1 >= 0 {
            let distance = if dx + dy > 0 { ahead.0 } else { -ahead.1 };
            if distance > 0 {
                nearest = nearest.min(distance);
            }
        }
    }
    nearest
}

/// Room that each core point needs around it, to the four sides: for its own branches and for those on the rim.
fn rooms(core: &Core, forest: &Forest, on_rim: &[(usize, usize)]) -> Vec<[i64; 4]> {
    let mut room = vec![[0_i64; 4]; core.points.len()];
    for (at, &node) in core.nodes.iter().enumerate() {
        room[at] = forest.extent[node];
    }
    for &(point, child) in on_rim {
        let Some(Slot { side, .. }) = forest.slot[child] else { continue };
        let extent = forest.extent[child];
        let distance = 1 + extent[side.opposite() as usize];
        for other in Side::ALL {
            let at = if other == side { distance + extent[other as usize] } else { extent[other as usize] };
            let at = if other == side.opposite() { 0 } else { at };
            room[point][other as usize] = room[point][other as usize].max(at);
        }
    }
    room
}

/// Turns grid places and extents into absolute rows and columns.
fn place(
    part: &Part,
    core: Core,
    forest: &Forest,
    order: &[usize],
    parent_edge: &[Option<usize>],
    on_rim: &[(usize, usize)],
) -> Sketch {
    let room = rooms(&core, forest, on_rim);
    let columns = lines(&core.points, &room, 0, Side::West, Side::East);
    let rows = lines(&core.points, &room, 1, Side::North, Side::South);
    let absolute: Vec<(i64, i64)> =
        core.points.iter().map(|&(x, y)| (position(&columns, x), position(&rows, y))).collect();
    let mut sketch = Sketch {
        points: vec![(0, 0); part.nodes.len()],
        routes: vec![Vec::new(); part.edges.len()],
        ..Sketch::default()
    };
    let point_of = sketch.place_core(part, &core, &absolute);
    for &(point, child) in on_rim {
        let Some(Slot { side, .. }) = forest.slot[child] else { continue };
        let distance = 1 + forest.extent[child][side.opposite() as usize];
        let (dx, dy) = side.step();
        let (x, y) = absolute[point];
        sketch.points[child] = (x + dx * distance, y + dy * distance);
        let cage = core.cages.iter().find(|cage| cage.slots.contains(&point));
        let centre = cage.map_or(child, |cage| core.nodes[cage.vertex]);
        if let Some(edge) = parent_edge[child] {
            sketch.routes[edge] = directed(part.edges[edge], vec![centre, point_of[point], child]);
        }
    }
    for &node in order {
        sketch.place_children(part, forest, parent_edge, node);
    }
    sketch
}

impl Sketch {
    /// Places the core with its rims and routes; returns the points that its grid points become.
    fn place_core(&mut self, part: &Part, core: &Core, absolute: &[(i64, i64)]) -> Vec<usize> {
        // Core points other than nodes come after the nodes.
        let mut point_of: Vec<usize> = Vec::with_capacity(absolute.len());
        for (at, &place) in absolute.iter().enumerate() {
            if let Some(&node) = core.nodes.get(at) {
                self.points[node] = place;
                point_of.push(node);
            } else {
                self.points.push(place);
                point_of.push(self.points.len() - 1);
            }
        }
        for cage in &core.cages {
            let centre = core.nodes[cage.vertex];
            let xs = || cage.rim.iter().map(|&point| absolute[point].0);
            let ys = || cage.rim.iter().map(|&point| absolute[point].1);
            let middle =
                |low: Option<i64>, high: Option<i64>| (low.unwrap_or(0) + high.unwrap_or(0)).div_euclid(2);
            self.points[centre] = (middle(xs().min(), xs().max()), middle(ys().min(), ys().max()));
            self.rings.push(Ring { centre, rim: cage.rim.iter().map(|&point| point_of[point]).collect() });
        }
        for (edge, route) in &core.routes {
            let mut points: Vec<usize> = route.iter().map(|&point| point_of[point]).collect();
            let Edge { from, to } = part.edges[*edge];
            if points.first() != Some(&from) {
                points.insert(0, from);
            }
            if points.last() != Some(&to) {
                points.push(to);
            }
            self.routes[*edge] = points;
        }
        point_of
    }

    /// Places the branches of a node, and tells those that fan out.
    fn place_children(&mut self, part: &Part, forest: &Forest, parent_edge: &[Option<usize>], node: usize) {
        let mut first = std::collections::BTreeMap::new();
        for &child in &forest.children[node] {
            let (x, y) = self.points[node];
            let (dx, dy) = forest.offset[child];
            self.points[child] = (x + dx, y + dy);
            let mut route = vec![node];
            if let Some((bx, by)) = forest.bend[child] {
                route.push(self.points.len());
                self.points.push((x + bx, y + by));
            }
            route.push(child);
            first.insert(child, route[1]);
            if let Some(edge) = parent_edge[child] {
                self.routes[edge] = directed(part.edges[edge], route);
            }
        }
        for side in Side::ALL {
            let slots = forest.children[node].iter().filter_map(|&child| {
                Some((child, forest.slot[child].filter(|slot| slot.side == side)?.lane))
            });
            let (fan, lanes): (Vec<usize>, Vec<i32>) = slots.unzip();
            if lanes.iter().any(|&lane| lane != 0) {
                let members = fan.iter().map(|child| (*child, first[child])).collect();
                self.fans.push(Fan { side, members });
            }
        }
    }
}

/// A route in the direction of its edge.
fn directed(edge: Edge, mut route: Vec<usize>) -> Vec<usize> {
    if route.first() != Some(&edge.from) {
        route.reverse();
    }
    route
}

/// The positions of the grid's lines along one axis, sorted by grid coordinate.
fn lines(
    points: &[(i64, i64)],
    room: &[[i64; 4]],
    axis: usize,
    before: Side,
    after: Side,
) -> Vec<(i64, i64)> {
    let coordinate = |point: &(i64, i64)| if axis == 0 { point.0 } else { point.1 };
    let mut need = std::collections::BTreeMap::new();
    for (point, room) in points.iter().zip(room) {
        let entry = need.entry(coordinate(point)).or_insert((0_i64, 0_i64));
        entry.0 = entry.0.max(room[before as usize]);
        entry.1 = entry.1.max(room[after as usize]);
    }
    let mut result = Vec::with_capacity(need.len());
    let mut position = 0;
    for (grid, (low, high)) in need {
        position += low;
        result.push((grid, position));
        // Two lines at least, so that the middle of a ring lies between its sides.
        position += high + 2;
    }
    result
}

fn position(lines: &[(i64, i64)], grid: i64) -> i64 {
    lines.binary_search_by_key(&grid, |line| line.0).map_or(0, |at| lines[at].1)
}
