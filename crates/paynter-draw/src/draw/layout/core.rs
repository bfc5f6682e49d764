//! The middle of a part: its looped core, or the backbone of a part without
//! loops, on a grid of columns and rows.

use super::super::diagram::NodeKind;
use super::orthogonal::{self, Shape, Wish};
use super::sketch::Part;
use super::{planar, spine};
use paynter_graph::{Class, Stored};

/// Nodes along the backbone beyond which it turns back in rows.
const LONGEST_ROW: usize = 30;

/// A place on the grid.
type Place = (i64, i64);

/// Marks what is left after all trees have been peeled off.
pub fn peel(adjacent: &[Vec<(usize, usize)>]) -> Vec<bool> {
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
pub struct Core {
    /// The part's nodes that belong to it.
    pub nodes: Vec<usize>,
    /// For every core edge its index in the part and its points.
    pub routes: Vec<(usize, Vec<usize>)>,
    /// Grid places: core nodes first, in their order, then bends and rims.
    pub points: Vec<(i64, i64)>,
    /// Cages, with `vertex` an index into `nodes`.
    pub cages: Vec<orthogonal::Cage>,
    /// Whether it has loops, so that outside and inside differ.
    pub looped: bool,
}

/// The best path through a tree: long, along the power, from a source to a load.
pub fn backbone(
    part: &Part,
    adjacent: &[Vec<(usize, usize)>],
    kind: &impl Fn(usize) -> NodeKind,
) -> Vec<usize> {
    let tree = Tree { part, adjacent, kind };
    let (order, parent) = tree.descend();
    let step = |edge: usize, towards: usize| if part.edges[edge].to == towards { 12 } else { 8 };
    // Best path that ends at a node from below, and best that starts there; the two best children each.
    let mut into = vec![(0_i64, None::<usize>); adjacent.len()];
    let mut out = vec![(0_i64, None::<usize>); adjacent.len()];
    let mut best: Option<Turn> = None;
    for &node in order.iter().rev() {
        let alone = adjacent[node].len() <= 1;
        let mut ins = vec![(if alone { tree.worth(node, true) } else { 0 }, None)];
        let mut outs = vec![(if alone { tree.worth(node, false) } else { 0 }, None)];
        for &(edge, other) in &adjacent[node] {
            if parent[other] == Some((edge, node)) {
                let hanging = tree.compliance(other);
                ins.push((into[other].0 + step(edge, node) - hanging, Some(other)));
                outs.push((out[other].0 + step(edge, other) - hanging, Some(other)));
            }
        }
        (into[node], out[node]) = (first_best(&ins), first_best(&outs));
        improve(&mut best, node, &ins, &outs);
    }
    let Some(Turn { top, first, last, .. }) = best else { return vec![0] };
    let follow = |from: Option<usize>, ways: &[Way]| -> Vec<usize> {
        std::iter::successors(from, |node| ways[*node].1).collect()
    };
    let mut path = follow(first, &into);
    path.reverse();
    path.push(top);
    path.extend(follow(last, &out));
    path
}

/// The worth of a path on one side of a node, and the child it goes through.
type Way = (i64, Option<usize>);

/// The first of the best.
fn first_best(list: &[Way]) -> Way {
    list.iter().copied().reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0, None))
}

/// A path by its node nearest to the root.
struct Turn {
    value: i64,
    top: usize,
    first: Option<usize>,
    last: Option<usize>,
}

/// Takes the best path that turns at a node, if it is better than what is known: the pairs of ways in and out through
/// different children.
fn improve(best: &mut Option<Turn>, node: usize, ins: &[Way], outs: &[Way]) {
    let mut offer = |(gain_in, first): Way, (gain_out, last): Way| {
        let value = gain_in + gain_out;
        if best.as_ref().is_none_or(|known| value > known.value) {
            *best = Some(Turn { value, top: node, first, last });
        }
    };
    let is_hub = ins.len() > 40;
    for &way_in in if is_hub { &ins[..1] } else { ins } {
        for &way_out in outs {
            if way_in.1.is_none() || way_in.1 != way_out.1 {
                offer(way_in, way_out);
            }
        }
    }
    if is_hub {
        // The best way in with the best way out that differs from it.
        let way_in = first_best(ins);
        let rest: Vec<Way> =
            outs.iter().copied().filter(|way| way.1.is_none() || way.1 != way_in.1).collect();
        offer(way_in, first_best(&rest));
    }
}

/// A tree of nodes whose kinds tell what a path through them is worth.
struct Tree<'a, K> {
    part: &'a Part,
    adjacent: &'a [Vec<(usize, usize)>],
    kind: &'a K,
}

impl<K: Fn(usize) -> NodeKind> Tree<'_, K> {
    /// How much a node is worth as the path's beginning or end.
    fn worth(&self, node: usize, starts: bool) -> i64 {
        let [(edge, _)] = self.adjacent[node][..] else { return 0 };
        let outward = self.part.edges[edge].from == node;
        let kind = (self.kind)(node);
        match (kind, kind.class()) {
            (_, Some(Class::Source(_))) if starts == outward => 12,
            (_, Some(Class::Source(_))) => 9,
            (NodeKind::Signal, _) => -20,
            (NodeKind::Submodel, _) | (_, Some(Class::Resistor | Class::Detector(_))) => 3,
            (_, Some(Class::Storage(Stored::Momentum))) => 2,
            _ => 1,
        }
    }

    /// What is lost where a path ends in this node: a last junction with a spring or capacitor hangs beside the backbone
    /// rather than ends it.
    fn compliance(&self, node: usize) -> i64 {
        let leaves = self.adjacent[node].iter().filter(|(_, other)| self.adjacent[*other].len() == 1);
        let (mut count, mut storing) = (0, false);
        for &(_, leaf) in leaves {
            count += 1;
            storing |= (self.kind)(leaf).class() == Some(Class::Storage(Stored::Displacement));
        }
        if storing && count + 1 == self.adjacent[node].len() { 4 } else { 0 }
    }

    /// The nodes, parents first, and the edge and node above each.
    fn descend(&self) -> (Vec<usize>, Vec<Option<(usize, usize)>>) {
        let mut parent = vec![None; self.adjacent.len()];
        let mut order = vec![0];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &(edge, other) in &self.adjacent[node] {
                if parent[node] != Some((edge, other)) && other != 0 && parent[other].is_none() {
                    parent[other] = Some((edge, node));
                    order.push(other);
                }
            }
        }
        (order, parent)
    }
}

/// Lays a path out straight, or in rows to and fro where it is very long.
pub fn path_grid(path: Vec<usize>, part: &Part, adjacent: &[Vec<(usize, usize)>]) -> Core {
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
            let points =
                if part.edges[edge].from == pair[0] { [index, index + 1] } else { [index + 1, index] };
            Some((edge, points.to_vec()))
        })
        .collect();
    Core { nodes: path, routes, points, cages: Vec::new(), looped: false }
}

/// Embeds the core and turns it so that power runs from left to right.
pub fn core_grid(
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
    faces.truncate(if ends.len() <= 60 {
        12
    } else if ends.len() <= 300 {
        3
    } else {
        1
    });
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
            adjacent[at]
                .iter()
                .filter(|&&(edge, _)| edge != entry)
                .map(|&(edge, other)| (other, edge, depth + 1)),
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
    let maps: [fn(Place) -> Place; 8] = [
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
    let score = |map: fn(Place) -> Place| {
        let points: Vec<(i64, i64)> = shape.points.iter().map(|&point| map(point)).collect();
        let span = |values: &mut dyn Iterator<Item = i64>| {
            let (low, high) =
                values.fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
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
