//! The rough drawing of one connected part: backbone or core on a grid,
//! branches around it, everything in whole rows and columns.

use super::super::diagram::{Diagram, NodeKind};
use super::super::label::Side;
use super::orthogonal::{self, Shape, Wish};
use super::{planar, spine};
use super::tree::{Forest, Slot};

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

/// A rough drawing.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    /// Columns and rows; the first points are the nodes'.
    pub points: Vec<(i64, i64)>,
    /// For every edge its points from end to end.
    pub routes: Vec<Vec<usize>>,
    /// Elements that stand in a rim.
    pub rings: Vec<Ring>,
    /// Points that fan out from one point to one side, and whether upright.
    pub fans: Vec<(Vec<usize>, bool)>,
}

/// Nodes along the backbone beyond which it turns back in rows.
const LONGEST_ROW: usize = 30;

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
    let core = if in_core.contains(&true) {
        core_grid(part, &adjacent, &in_core, &kind)
    } else {
        None
    };
    let core = match core {
        Some(core) => core,
        None => path_grid(backbone(part, &adjacent, &kind), part, &adjacent),
    };
    attach(part, &adjacent, core, &kind)
}

/// Marks what is left after all trees have been peeled off.
fn peel(adjacent: &[Vec<(usize, usize)>]) -> Vec<bool> {
    let mut degree: Vec<usize> = adjacent.iter().map(Vec::len).collect();
    let mut kept = vec![true; adjacent.len()];
    let mut open: Vec<usize> = (0..adjacent.len()).filter(|&node| degree[node] <= 1).collect();
    while let Some(node) = open.pop() {
        kept[node] = false;
        for &(_, other) in &adjacent[node] {
            degree[other] -= 1;
            if kept[other] && degree[other] == 1 {
                open.push(other);
            }
        }
    }
    kept
}

/// The core or backbone on its grid.
struct Core {
    /// The part's nodes that belong to it.
    nodes: Vec<usize>,
    /// For every core edge its index in the part and its points.
    routes: Vec<(usize, Vec<usize>)>,
    /// Grid places: core nodes first, in their order, then bends and rims.
    points: Vec<(i64, i64)>,
    /// Cages, with `vertex` an index into `nodes`.
    cages: Vec<orthogonal::Cage>,
    /// Whether it has loops, so that outside and inside differ.
    looped: bool,
}

/// The best path through a tree: long, along the power, from a source to a load.
fn backbone(part: &Part, adjacent: &[Vec<(usize, usize)>], kind: &impl Fn(usize) -> NodeKind) -> Vec<usize> {
    let count = adjacent.len();
    // How much a node is worth as the path's beginning or end.
    let worth = |node: usize, starts: bool| {
        let Some(&(edge, _)) = adjacent[node].first().filter(|_| adjacent[node].len() == 1) else { return 0 };
        let outward = part.edges[edge].from == node;
        match kind(node) {
            NodeKind::Se | NodeKind::Sf if starts == outward => 9,
            NodeKind::Se | NodeKind::Sf => 7,
            NodeKind::Signal => -20,
            NodeKind::I => 3,
            NodeKind::R | NodeKind::Sw | NodeKind::De | NodeKind::Df | NodeKind::Submodel => 2,
            _ => 1,
        }
    };
    let step = |edge: usize, towards: usize| if part.edges[edge].to == towards { 12 } else { 8 };
    // Parents first.
    let mut parent = vec![None; count];
    let mut order = vec![0];
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for &(edge, other) in &adjacent[node] {
            if parent[node] != Some((edge, other)) && other != 0 && parent[other].is_none() {
                parent[other] = Some((edge, node));
                order.push(other);
            }
        }
    }
    // Best path that ends at a node from below, and best that starts there; the two best children each.
    let mut into = vec![(0_i64, None::<usize>); count];
    let mut out = vec![(0_i64, None::<usize>); count];
    let mut best: Option<(i64, usize, Option<usize>, Option<usize>)> = None;
    for &node in order.iter().rev() {
        let alone = adjacent[node].len() <= 1;
        let mut ins = vec![(if alone { worth(node, true) } else { 0 }, None)];
        let mut outs = vec![(if alone { worth(node, false) } else { 0 }, None)];
        for &(edge, other) in &adjacent[node] {
            if parent[other] == Some((edge, node)) {
                ins.push((into[other].0 + step(edge, node), Some(other)));
                outs.push((out[other].0 + step(edge, other), Some(other)));
            }
        }
        for &(gain_in, first) in &ins {
            for &(gain_out, last) in &outs {
                if (first.is_none() || first != last) && best.is_none_or(|(value, ..)| gain_in + gain_out > value)
                {
                    best = Some((gain_in + gain_out, node, first, last));
                }
            }
            if ins.len() > 40 {
                break;
            }
        }
        let first_best = |list: &[(i64, Option<usize>)]| {
            list.iter().copied().reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0, None))
        };
        into[node] = first_best(&ins);
        out[node] = first_best(&outs);
        if ins.len() > 40 {
            // A hub: the best way in with the best way out that differs from it.
            let way_in = into[node];
            let rest: Vec<_> = outs.iter().copied().filter(|way| way.1.is_none() || way.1 != way_in.1).collect();
            let way_out = first_best(&rest);
            if best.is_none_or(|(value, ..)| way_in.0 + way_out.0 > value) {
                best = Some((way_in.0 + way_out.0, node, way_in.1, way_out.1));
            }
        }
    }
    let Some((_, top, first, last)) = best else { return vec![0] };
    let mut path = Vec::new();
    let mut at = first;
    while let Some(node) = at {
        path.push(node);
        at = into[node].1;
    }
    path.reverse();
    path.push(top);
    let mut at = last;
    while let Some(node) = at {
        path.push(node);
        at = out[node].1;
    }
    path
}

/// Lays a path out straight, or in rows to and fro where it is very long.
fn path_grid(path: Vec<usize>, part: &Part, adjacent: &[Vec<(usize, usize)>]) -> Core {
    let row = if path.len() <= LONGEST_ROW {
        path.len()
    } else {
        // Rows are about three times as far apart as columns.
        let rows = ((path.len() as f64) / 4.0).sqrt().round().max(2.0);
        ((path.len() as f64) / rows).ceil() as usize
    };
    let points = (0..path.len())
        .map(|index| {
            let (line, at) = (index / row, index % row);
            let column = if line % 2 == 0 { at } else { row - 1 - at };
            (column as i64, line as i64)
        })
        .collect();
    let routes = path
        .windows(2)
        .enumerate()
        .filter_map(|(index, pair)| {
            let &(edge, _) = adjacent[pair[0]].iter().find(|&&(_, other)| other == pair[1])?;
            let points = if part.edges[edge].from == pair[0] { [index, index + 1] } else { [index + 1, index] };
            Some((edge, points.to_vec()))
        })
        .collect();
    Core { nodes: path, routes, points, cages: Vec::new(), looped: false }
}

/// Embeds the core and turns it so that power runs from left to right.
fn core_grid(
    part: &Part,
    adjacent: &[Vec<(usize, usize)>],
    in_core: &[bool],
    kind: &impl Fn(usize) -> NodeKind,
) -> Option<Core> {
    let nodes: Vec<usize> = (0..in_core.len()).filter(|&node| in_core[node]).collect();
    let mut index = vec![usize::MAX; in_core.len()];
    for (at, &node) in nodes.iter().enumerate() {
        index[node] = at;
    }
    let edges: Vec<usize> = (0..part.edges.len())
        .filter(|&edge| in_core[part.edges[edge].from] && in_core[part.edges[edge].to])
        .collect();
    let ends: Vec<(usize, usize)> =
        edges.iter().map(|&edge| (index[part.edges[edge].from], index[part.edges[edge].to])).collect();
    let mut wishes: Vec<Wish> = nodes
        .iter()
        .map(|&node| Wish {
            straight: !kind(node).is_junction(),
            branches: adjacent[node].iter().filter(|(_, other)| !in_core[*other]).count(),
            through: None,
        })
        .collect();
    let depth: Vec<usize> = nodes.iter().map(|&node| branch_depth(node, adjacent, in_core, kind)).collect();
    for (vertex, through) in spine::through(nodes.len(), &ends, &depth) {
        wishes[vertex].through = Some(through);
    }
    let mut embedding = planar::embed(nodes.len(), &ends);
    // The face outside decides much of the looks: of the longest faces, the one with the cheapest shape.
    let mut faces: Vec<usize> = (0..embedding.faces.len()).collect();
    faces.sort_by_key(|&face| (std::cmp::Reverse(embedding.faces[face].len()), face));
    faces.truncate(if ends.len() <= 60 { 12 } else if ends.len() <= 300 { 3 } else { 1 });
    let mut best: Option<Shape> = None;
    for face in faces {
        embedding.outer = face;
        if let Some(shape) = orthogonal::shape(&embedding, &wishes)
            && best.as_ref().is_none_or(|best| shape.cost < best.cost)
        {
            best = Some(shape);
        }
    }
    let mut shape = best?;
    turn(&mut shape, part, adjacent, &nodes, &edges, in_core, kind);
    Some(Core {
        nodes,
        routes: edges.into_iter().zip(shape.routes).collect(),
        points: shape.points,
        cages: shape.cages,
        looped: true,
    })
}

/// How deep the branches at a core node reach: 0 for plain elements, 1 for a source.
fn branch_depth(
    node: usize,
    adjacent: &[Vec<(usize, usize)>],
    in_core: &[bool],
    kind: &impl Fn(usize) -> NodeKind,
) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    for &(edge, other) in adjacent[node].iter().filter(|(_, other)| !in_core[*other]) {
        if kind(other).is_source() {
            deepest = deepest.max(1);
        }
        open.push((other, edge, 0));
    }
    while let Some((at, entry, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(
            adjacent[at].iter().filter(|&&(edge, _)| edge != entry).map(|&(edge, other)| (other, edge, depth + 1)),
        );
    }
    deepest
}

/// Chooses the best of the eight ways to turn and mirror the core.
fn turn(
    shape: &mut Shape,
    part: &Part,
    adjacent: &[Vec<(usize, usize)>],
    nodes: &[usize],
    edges: &[usize],
    in_core: &[bool],
    kind: &impl Fn(usize) -> NodeKind,
) {
    // Which way a branch of the core carries power: 1 in, -1 out.
    let mut feeds = Vec::new();
    for (at, &node) in nodes.iter().enumerate() {
        for &(edge, other) in &adjacent[node] {
            if !in_core[other] {
                let weight = if kind(other).is_source() || adjacent[other].len() > 1 { 3 } else { 0 };
                feeds.push((at, if part.edges[edge].to == node { weight } else { -weight }));
            }
        }
    }
    let maps: [fn((i64, i64)) -> (i64, i64); 8] = [
        |(x, y)| (x, y),
        |(x, y)| (x, -y),
        |(x, y)| (-x, y),
        |(x, y)| (-x, -y),
        |(x, y)| (y, x),
        |(x, y)| (y, -x),
        |(x, y)| (-y, x),
        |(x, y)| (-y, -x),
    ];
    let caged: Vec<usize> = shape.cages.iter().map(|cage| cage.vertex).collect();
    let score = |map: fn((i64, i64)) -> (i64, i64)| {
        let points: Vec<(i64, i64)> = shape.points.iter().map(|&point| map(point)).collect();
        let span = |values: &mut dyn Iterator<Item = i64>| {
            let (low, high) = values.fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
            high - low
        };
        let width = span(&mut points.iter().map(|point| point.0));
        let height = span(&mut points.iter().map(|point| point.1));
        let mut value = if width >= height { 2 * edges.len() as i64 } else { 0 };
        for route in &shape.routes {
            if let (Some(&first), Some(&last)) = (route.first(), route.last()) {
                let forward = (points[last].0 - points[first].0).signum();
                value += 4 * forward + (points[last].1 - points[first].1).signum();
            }
        }
        let middle = points.iter().map(|point| point.0).sum::<i64>() / points.len().max(1) as i64;
        for &(at, feed) in &feeds {
            if !caged.contains(&at) {
                value -= feed * (points[at].0 - middle).signum() * 4;
            }
        }
        value
    };
    let mut best = 0;
    for index in 1..maps.len() {
        if score(maps[index]) > score(maps[best]) {
            best = index;
        }
    }
    for point in &mut shape.points {
        *point = maps[best](*point);
    }
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
                let rim = |axis: fn(&(i64, i64)) -> i64| cage.rim.iter().map(move |&p| axis(&core.points[p]));
                let (x, y) = core.points[point];
                let side = if rim(|p| p.0).max() == Some(x) {
                    Side::East
                } else if rim(|p| p.0).min() == Some(x) {
                    Side::West
                } else if rim(|p| p.1).min() == Some(y) {
                    Side::North
                } else {
                    Side::South
                };
                forest.slot[child] = Some(Slot { side, lane: 0 });
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
        let first = match kind(node) {
            NodeKind::Zero => Side::South,
            _ => Side::North,
        };
        // Outwards first, then up and down before left and right.
        free.sort_by_key(|&(side, sight)| {
            (std::cmp::Reverse(sight), !side.is_vertical(), side != first, side as usize)
        });
        let mut groups: Vec<(Side, Vec<usize>)> = free.iter().map(|&(side, _)| (side, Vec::new())).collect();
        let (sideways, rest): (Vec<usize>, Vec<usize>) =
            children.into_iter().partition(|&child| feeds(child) && (kind(child).is_source() || weight[child] > 1));
        for child in sideways {
            let west = groups.iter().position(|(side, group)| *side == Side::West && group.is_empty());
            let chosen = west.unwrap_or_else(|| emptiest(&groups));
            groups[chosen].1.push(child);
        }
        for child in rest {
            let chosen = emptiest(&groups);
            groups[chosen].1.push(child);
        }
        for (side, mut group) in groups {
            group.sort_unstable();
            // The heaviest of an odd group goes straight.
            if group.len() % 2 == 1
                && let Some(heavy) = group.iter().copied().max_by_key(|&child| (weight[child], std::cmp::Reverse(child)))
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

fn emptiest(groups: &[(Side, Vec<usize>)]) -> usize {
    (0..groups.len()).min_by_key(|&index| (groups[index].1.len(), index)).unwrap_or(0)
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

/// How far one sees from a point before a piece of the core blocks the view.
fn sight(from: (i64, i64), side: Side, pieces: &[((i64, i64), (i64, i64))]) -> i64 {
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

/// Turns grid places and extents into absolute rows and columns.
fn place(
    part: &Part,
    core: Core,
    forest: &Forest,
    order: &[usize],
    parent_edge: &[Option<usize>],
    on_rim: &[(usize, usize)],
) -> Sketch {
    let count = part.nodes.len();
    // Room that each core point needs around it.
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
    let columns = lines(&core.points, &room, 0, Side::West, Side::East);
    let rows = lines(&core.points, &room, 1, Side::North, Side::South);
    let mut sketch = Sketch { points: vec![(0, 0); count], ..Sketch::default() };
    sketch.routes = vec![Vec::new(); part.edges.len()];
    let absolute: Vec<(i64, i64)> =
        core.points.iter().map(|&(x, y)| (position(&columns, x), position(&rows, y))).collect();
    // Core points other than nodes come after the nodes.
    let mut point_of: Vec<usize> = Vec::with_capacity(absolute.len());
    for (at, &place) in absolute.iter().enumerate() {
        if let Some(&node) = core.nodes.get(at) {
            sketch.points[node] = place;
            point_of.push(node);
        } else {
            sketch.points.push(place);
            point_of.push(sketch.points.len() - 1);
        }
    }
    for cage in &core.cages {
        let centre = core.nodes[cage.vertex];
        let xs = || cage.rim.iter().map(|&point| absolute[point].0);
        let ys = || cage.rim.iter().map(|&point| absolute[point].1);
        let middle = |low: Option<i64>, high: Option<i64>| (low.unwrap_or(0) + high.unwrap_or(0)).div_euclid(2);
        sketch.points[centre] = (middle(xs().min(), xs().max()), middle(ys().min(), ys().max()));
        sketch.rings.push(Ring { centre, rim: cage.rim.iter().map(|&point| point_of[point]).collect() });
    }
    for (edge, route) in core.routes {
        let mut points: Vec<usize> = route.iter().map(|&point| point_of[point]).collect();
        let Edge { from, to } = part.edges[edge];
        if points.first() != Some(&from) {
            points.insert(0, from);
        }
        if points.last() != Some(&to) {
            points.push(to);
        }
        sketch.routes[edge] = points;
    }
    for &(point, child) in on_rim {
        let Some(Slot { side, .. }) = forest.slot[child] else { continue };
        let distance = 1 + forest.extent[child][side.opposite() as usize];
        let (dx, dy) = side.step();
        let (x, y) = absolute[point];
        sketch.points[child] = (x + dx * distance, y + dy * distance);
        let centre = core
            .cages
            .iter()
            .find(|cage| cage.slots.contains(&point))
            .map_or(child, |cage| core.nodes[cage.vertex]);
        if let Some(edge) = parent_edge[child] {
            sketch.routes[edge] = directed(part.edges[edge], vec![centre, point_of[point], child]);
        }
    }
    for &node in order {
        for side in Side::ALL {
            let fan: Vec<usize> = forest.children[node]
                .iter()
                .copied()
                .filter(|&child| forest.slot[child].is_some_and(|slot| slot.side == side))
                .collect();
            let slanted = fan.iter().any(|&child| forest.slot[child].is_some_and(|slot| slot.lane != 0));
            if slanted {
                sketch.fans.push((fan, side.is_vertical()));
            }
        }
        for &child in &forest.children[node] {
            let (x, y) = sketch.points[node];
            let (dx, dy) = forest.offset[child];
            sketch.points[child] = (x + dx, y + dy);
            let mut route = vec![node];
            if let Some((bx, by)) = forest.bend[child] {
                route.push(sketch.points.len());
                sketch.points.push((x + bx, y + by));
            }
            route.push(child);
            if let Some(edge) = parent_edge[child] {
                sketch.routes[edge] = directed(part.edges[edge], route);
            }
        }
    }
    sketch
}

/// A route in the direction of its edge.
fn directed(edge: Edge, mut route: Vec<usize>) -> Vec<usize> {
    if route.first() != Some(&edge.from) {
        route.reverse();
    }
    route
}

/// The positions of the grid's lines along one axis, sorted by grid coordinate.
fn lines(points: &[(i64, i64)], room: &[[i64; 4]], axis: usize, before: Side, after: Side) -> Vec<(i64, i64)> {
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
