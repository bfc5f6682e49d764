//! Layout: every node gets a place, every bond a way between its ends.
//!
//! After the manner of HOLA (Kieffer, Dwyer, Marriott, Wybrow 2016): trees are
//! peeled off, the core is laid out with right angles, the trees are hung back
//! on, and then lengths follow from the labels. A model without loops has its
//! backbone in the core's place.

mod block;
mod compact;
mod core;
mod flow;
mod groups;
mod orthogonal;
mod planar;
mod sketch;
mod spine;
mod tree;

use super::DrawOptions;
use super::diagram::{Diagram, NodeKind};
use super::font::text_width;
use super::geometry::{Point, Rect};
use super::label::{Contact, Label, SMALL, Side, label};
use crate::tolerance::{FLAT_AREA, LENGTH_ROUNDING};
use compact::{Item, Metric, Slant, Spacing};
use orthogonal::find;
use sketch::{Edge, Part, Sketch, sketch};

/// Visible length of a bond between two elements.
const BOND: f64 = 44.0;
/// The same where labels stand along it.
const LABELLED_BOND: f64 = 54.0;
/// From an element to a bend.
const STUB: f64 = 26.0;
/// From bend to bend.
const ELBOW: f64 = 16.0;
/// Between neighbouring bonds on a rim.
const RIM: f64 = 22.0;
/// Half the length of a causal stroke, with some air.
const HALF_STROKE: f64 = 8.0;
/// Between parts that are not connected.
const PARTING: f64 = 48.0;

/// Places and ways of everything in a diagram.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// Where each node stands.
    pub nodes: Vec<Point>,
    /// The boxes of each node, relative to its place.
    pub labels: Vec<Label>,
    /// Each bond from its tail's place to its head's; empty where it was not laid out.
    pub bonds: Vec<Vec<Point>>,
    /// Each signal that the layout led, likewise.
    pub signals: Vec<Vec<Point>>,
}

/// What an edge of a part stands for.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Bond(usize),
    Signal(usize),
}

/// Lays a diagram out.
pub fn arrange(diagram: &Diagram, options: &DrawOptions) -> Placement {
    let mut placement = Placement {
        nodes: vec![Point::default(); diagram.nodes.len()],
        labels: vec![Label::default(); diagram.nodes.len()],
        bonds: vec![Vec::new(); diagram.bonds.len()],
        signals: vec![Vec::new(); diagram.signals.len()],
    };
    let mut bond_count = vec![0; diagram.nodes.len()];
    for bond in &diagram.bonds {
        bond_count[bond.from] += 1;
        bond_count[bond.to] += 1;
    }
    let mut boxes = Vec::new();
    let parts = parts(diagram);
    for (part, meanings) in &parts {
        let sketch = sketch(diagram, part);
        let labels: Vec<Label> = contacts(part, &sketch)
            .into_iter()
            .zip(&part.nodes)
            .map(|(contact, &node)| label(&diagram.nodes[node], bond_count[node], contact, options))
            .collect();
        let signal: Vec<bool> =
            part.nodes.iter().map(|&node| diagram.nodes[node].kind == NodeKind::Signal).collect();
        let mut metric = metric(&sketch, &labels, &signal, meanings, options);
        if options.boxes && !diagram.groups.is_empty() {
            groups::add_groups(&mut metric, diagram, part, &sketch, &labels);
        }
        let points = metric.solve();
        for ((&node, label), &point) in part.nodes.iter().zip(labels).zip(&points) {
            placement.nodes[node] = point;
            placement.labels[node] = label;
        }
        for ring in &sketch.rings {
            let node = part.nodes[ring.centre];
            if diagram.nodes[node].kind == NodeKind::Submodel {
                let rim = ring.rim.iter().map(|&point| Rect::spanning(points[point], points[point]));
                if let Some(rim) = rim.reduce(Rect::union) {
                    let centre = placement.nodes[node];
                    placement.labels[node].main = rim.moved(Point::new(-centre.x, -centre.y));
                }
            }
        }
        for (route, meaning) in sketch.routes.iter().zip(meanings) {
            let way = straighten(route.iter().map(|&point| points[point]).collect());
            match *meaning {
                Meaning::Bond(bond) => placement.bonds[bond] = way,
                Meaning::Signal(signal) => placement.signals[signal] = way,
            }
        }
        boxes.push(part_box(part, meanings, &placement));
    }
    for ((part, meanings), by) in parts.iter().zip(pack(&boxes)) {
        shift(part, meanings, &mut placement, by);
    }
    placement
}

/// Drops points in the middle of a straight way.
pub fn straighten(way: Vec<Point>) -> Vec<Point> {
    let mut result: Vec<Point> = Vec::with_capacity(way.len());
    for point in way {
        if let [.., a, b] = result[..] {
            let area = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
            if area.abs() < FLAT_AREA {
                result.pop();
            }
        }
        result.push(point);
    }
    result
}

/// The connected parts, in the order of the text. A signal node belongs to
/// the first element it is joined to.
fn parts(diagram: &Diagram) -> Vec<(Part, Vec<Meaning>)> {
    let count = diagram.nodes.len();
    let mut class: Vec<usize> = (0..count).collect();
    let mut links: Vec<(usize, usize, Meaning)> = Vec::new();
    for (index, bond) in diagram.bonds.iter().enumerate() {
        if bond.from != bond.to {
            links.push((bond.from, bond.to, Meaning::Bond(index)));
            let (a, b) = (find(&mut class, bond.from), find(&mut class, bond.to));
            class[a.max(b)] = a.min(b);
        }
    }
    let loose = |node: usize| diagram.nodes[node].kind == NodeKind::Signal;
    // Towards what a signal modulates first, then from what it reads.
    for outgoing in [true, false] {
        let mut attached: Vec<bool> = vec![false; count];
        for (index, signal) in diagram.signals.iter().enumerate() {
            let node = if outgoing { signal.from } else { signal.to };
            let (a, b) = (find(&mut class, signal.from), find(&mut class, signal.to));
            if a != b && loose(node) && !attached[node] {
                attached[node] = true;
                class[a.max(b)] = a.min(b);
                links.push((signal.from, signal.to, Meaning::Signal(index)));
            }
        }
    }
    let mut parts: Vec<(Part, Vec<Meaning>)> = Vec::new();
    let mut part_of = vec![usize::MAX; count];
    let mut local = vec![0; count];
    for node in 0..count {
        let root = find(&mut class, node);
        if part_of[root] == usize::MAX {
            part_of[root] = parts.len();
            parts.push((Part::default(), Vec::new()));
        }
        part_of[node] = part_of[root];
        let part = &mut parts[part_of[node]].0;
        local[node] = part.nodes.len();
        part.nodes.push(node);
    }
    for (from, to, meaning) in links {
        let (part, meanings) = &mut parts[part_of[from]];
        part.edges.push(Edge { from: local[from], to: local[to] });
        meanings.push(meaning);
    }
    parts
}

/// How bonds meet every node of a part.
fn contacts(part: &Part, sketch: &Sketch) -> Vec<Contact> {
    let mut contacts = vec![Contact::default(); part.nodes.len()];
    for (edge, route) in part.edges.iter().zip(&sketch.routes) {
        for (node, hop) in [
            (edge.from, route.first().zip(route.get(1))),
            (edge.to, route.last().zip(route.iter().rev().nth(1))),
        ] {
            let Some((&here, &next)) = hop else { continue };
            match heading(sketch.points[here], sketch.points[next]) {
                Some(side) => contacts[node].sides[side as usize] = true,
                None => contacts[node].slanted = true,
            }
        }
    }
    for ring in &sketch.rings {
        contacts[ring.centre].slanted = true;
    }
    for fan in &sketch.fans {
        for &(member, _) in fan.members.iter().filter(|(member, first)| member == first) {
            // Leaves of an upright fan are centred; those of a level one begin where the bond ends.
            let contact = &mut contacts[member];
            contact.slanted = fan.side.is_vertical();
            contact.sides = [false; 4];
            contact.sides[fan.side.opposite() as usize] = true;
        }
    }
    contacts
}

/// The direction of a straight hop.
fn heading(a: (i64, i64), b: (i64, i64)) -> Option<Side> {
    match ((b.0 - a.0).signum(), (b.1 - a.1).signum()) {
        (0, -1) => Some(Side::North),
        (1, 0) => Some(Side::East),
        (0, 1) => Some(Side::South),
        (-1, 0) => Some(Side::West),
        _ => None,
    }
}

/// How far a box reaches towards a side.
fn reach(rect: Rect, side: Side) -> f64 {
    match side {
        Side::North => -rect.top,
        Side::East => rect.right,
        Side::South => rect.bottom,
        Side::West => -rect.left,
    }
}

/// Room that labels need beside a bond: before (above, left) and after.
fn label_room(options: &DrawOptions, upright: bool) -> (f64, f64) {
    let wide = text_width("e₀₀", SMALL) + 6.0;
    let size = if upright { wide } else { 16.0 };
    let before = if options.numbers || options.variables { size.max(HALF_STROKE) } else { HALF_STROKE };
    let after = if options.variables { size.max(HALF_STROKE) } else { HALF_STROKE };
    (before, after)
}

/// States the lengths a sketch must respect.
fn metric(
    sketch: &Sketch,
    labels: &[Label],
    signal: &[bool],
    meanings: &[Meaning],
    options: &DrawOptions,
) -> Metric {
    let mut metric = Metric { rough: sketch.points.clone(), ..Metric::default() };
    let nodes = labels.len();
    let main = |point: usize| labels.get(point).map_or(Rect::default(), |label| label.main);
    let labelled = options.numbers || options.variables;
    // Labels along a bond stand clear of the text beside its ends.
    let ending = |point: usize| match labels.get(point) {
        Some(Label { main, aside: Some(aside), .. }) if labelled => main.union(*aside),
        _ => main(point),
    };
    // The fan that a point belongs to, and the fan whose slanted bond ends there.
    let mut fan_of: Vec<Option<usize>> = vec![None; sketch.points.len()];
    let mut fan_into = fan_of.clone();
    for (index, fan) in sketch.fans.iter().enumerate() {
        let upright = fan.side.is_vertical();
        let along = |point: usize| if upright { sketch.points[point].1 } else { sketch.points[point].0 };
        for &(member, first) in &fan.members {
            fan_of[member] = Some(index);
            fan_of[first] = Some(index);
            fan_into[first] = Some(index);
            // Fellows stand in one row (upright fan) or in one column; a branch straight ahead begins further away.
            if let Some(&(_, fellow)) = fan.members.iter().find(|(_, other)| along(*other) == along(first)) {
                metric.aligned[usize::from(upright)].push((fellow, first));
            }
        }
    }
    for (node, label) in labels.iter().enumerate() {
        // Arrows of signals end at their boxes from any side.
        let main = if signal[node] { label.main.grown(9.0) } else { label.main };
        for rect in [Some(main), label.aside].into_iter().flatten() {
            metric.items.push(Item {
                across: (node, node),
                down: (node, node),
                reach: rect,
                owners: vec![node],
                fan: fan_of[node],
                open: false,
            });
        }
    }
    let mut in_ring = vec![usize::MAX; sketch.points.len()];
    for (index, ring) in sketch.rings.iter().enumerate() {
        for &point in ring.rim.iter().chain([&ring.centre]) {
            in_ring[point] = index;
        }
        add_ring(&mut metric, sketch, ring, &labels[ring.centre]);
    }
    for (route, meaning) in sketch.routes.iter().zip(meanings) {
        let is_bond = matches!(meaning, Meaning::Bond(_));
        for hop in route.windows(2) {
            let (a, b) = (hop[0], hop[1]);
            if in_ring[a] != usize::MAX && in_ring[a] == in_ring[b] {
                continue;
            }
            match heading(sketch.points[a], sketch.points[b]) {
                Some(side) => {
                    let visible = match (a < nodes, b < nodes) {
                        (true, true) if labelled => LABELLED_BOND,
                        (true, true) => BOND,
                        (false, false) => ELBOW,
                        _ if in_ring[a] != usize::MAX || in_ring[b] != usize::MAX => BOND,
                        _ => STUB,
                    };
                    let least = reach(ending(a), side) + visible + reach(ending(b), side.opposite());
                    add_straight(&mut metric, a, b, side, least);
                    let room = if is_bond { label_room(options, side.is_vertical()) } else { (5.0, 5.0) };
                    add_piece(&mut metric, (a, b), side, room, fan_into[a].or(fan_into[b]));
                }
                None => {
                    let (a, b) = if fan_into[b].is_none() { (b, a) } else { (a, b) };
                    let upright = fan_into[b].is_none_or(|fan| sketch.fans[fan].side.is_vertical());
                    add_slant(&mut metric, (a, b), upright, (main(a), main(b)), fan_into[b], labelled);
                }
            }
        }
    }
    metric
}

fn add_straight(metric: &mut Metric, a: usize, b: usize, side: Side, least: f64) {
    let (low, high) = if matches!(side, Side::East | Side::South) { (a, b) } else { (b, a) };
    let axis = usize::from(side.is_vertical());
    metric.spacings[axis].push(Spacing { low, high, least, pull: 1.0 });
    metric.aligned[1 - axis].push((a, b));
}

fn add_piece(
    metric: &mut Metric,
    (a, b): (usize, usize),
    side: Side,
    (before, after): (f64, f64),
    fan: Option<usize>,
) {
    let (low, high) = if matches!(side, Side::East | Side::South) { (a, b) } else { (b, a) };
    let (across, down, reach) = if side.is_vertical() {
        ((a, a), (low, high), Rect::new(-before, 0.0, after, 0.0))
    } else {
        ((low, high), (a, a), Rect::new(0.0, -before, 0.0, after))
    };
    metric.items.push(Item { across, down, reach, owners: vec![a, b], fan, open: false });
}

fn add_slant(
    metric: &mut Metric,
    (a, b): (usize, usize),
    upright: bool,
    (from, to): (Rect, Rect),
    fan: Option<usize>,
    labelled: bool,
) {
    let ((ax, ay), (bx, by)) = (metric.rough[a], metric.rough[b]);
    let level = if bx > ax { Side::East } else { Side::West };
    let plumb = if by > ay { Side::South } else { Side::North };
    let (ahead, aside) = if upright { (plumb, level) } else { (level, plumb) };
    let mut space = |side: Side, least: f64, pull: f64| {
        let (low, high) = if matches!(side, Side::East | Side::South) { (a, b) } else { (b, a) };
        metric.spacings[usize::from(side.is_vertical())].push(Spacing { low, high, least, pull });
    };
    space(ahead, reach(from, ahead) + BOND * 0.85 + reach(to, ahead.opposite()), 1.0);
    // Beside each other under an upright fan, far enough apart at the root of a level one.
    let apart = match (upright, labelled) {
        (true, false) => 5.0,
        (true, true) => 19.0,
        (false, false) => 14.0,
        (false, true) => 36.0,
    };
    space(aside, reach(to, aside.opposite()) + apart, 1.0);
    let (left, right) = if bx > ax { (a, b) } else { (b, a) };
    let (top, bottom) = if by > ay { (a, b) } else { (b, a) };
    metric.items.push(Item {
        across: (left, right),
        down: (top, bottom),
        reach: Rect::default(),
        owners: vec![a, b],
        fan,
        open: true,
    });
    metric.slants.push(Slant { from: a, to: b, upright });
}

/// Keeps the points of a ring in order and its element inside.
fn add_ring(metric: &mut Metric, sketch: &Sketch, ring: &sketch::Ring, label: &Label) {
    let rect = label.aside.map_or(label.main, |aside| label.main.union(aside)).grown(6.0);
    let rough = |point: usize| sketch.points[point];
    let extreme = |key: fn((i64, i64)) -> i64| {
        let low = ring.rim.iter().copied().min_by_key(|&point| key(rough(point))).unwrap_or(ring.centre);
        let high = ring.rim.iter().copied().max_by_key(|&point| key(rough(point))).unwrap_or(ring.centre);
        (low, high)
    };
    let across = extreme(|point| point.0);
    let down = extreme(|point| point.1);
    let centre = ring.centre;
    for (axis, low, high, before, after) in
        [(0, across.0, across.1, -rect.left, rect.right), (1, down.0, down.1, -rect.top, rect.bottom)]
    {
        metric.spacings[axis].push(Spacing { low, high: centre, least: before, pull: 1.0 });
        metric.spacings[axis].push(Spacing { low: centre, high, least: after, pull: 1.0 });
    }
    for (index, &a) in ring.rim.iter().enumerate() {
        let b = ring.rim[(index + 1) % ring.rim.len()];
        if let Some(side) = heading(rough(a), rough(b)) {
            add_straight(metric, a, b, side, RIM);
        }
    }
    for &point in &ring.rim {
        let (x, y) = rough(point);
        let on_top_or_bottom = y == rough(down.0).1 || y == rough(down.1).1;
        let on_left_or_right = x == rough(across.0).0 || x == rough(across.1).0;
        if on_top_or_bottom != on_left_or_right {
            metric.slants.push(Slant { from: centre, to: point, upright: on_top_or_bottom });
        }
    }
    let mut owners = ring.rim.clone();
    owners.push(centre);
    metric.items.push(Item { across, down, reach: Rect::default(), owners, fan: None, open: false });
}

/// The box around everything of a part.
fn part_box(part: &Part, meanings: &[Meaning], placement: &Placement) -> Rect {
    let mut result: Option<Rect> = None;
    let mut include = |rect: Rect| result = Some(result.map_or(rect, |all| all.union(rect)));
    for &node in &part.nodes {
        let label = &placement.labels[node];
        include(label.main.moved(placement.nodes[node]));
        if let Some(aside) = label.aside {
            include(aside.moved(placement.nodes[node]));
        }
    }
    for meaning in meanings {
        let way = match *meaning {
            Meaning::Bond(bond) => &placement.bonds[bond],
            Meaning::Signal(signal) => &placement.signals[signal],
        };
        for &point in way {
            include(Rect::centred(point, 2.0 * HALF_STROKE, 2.0 * HALF_STROKE));
        }
    }
    result.unwrap_or_default()
}

fn shift(part: &Part, meanings: &[Meaning], placement: &mut Placement, by: Point) {
    for &node in &part.nodes {
        let point = &mut placement.nodes[node];
        *point = Point::new(point.x + by.x, point.y + by.y);
    }
    for meaning in meanings {
        let way = match *meaning {
            Meaning::Bond(bond) => &mut placement.bonds[bond],
            Meaning::Signal(signal) => &mut placement.signals[signal],
        };
        for point in way {
            *point = Point::new(point.x + by.x, point.y + by.y);
        }
    }
}

/// Puts boxes on shelves, in their order; returns how far each moves.
fn pack(boxes: &[Rect]) -> Vec<Point> {
    let widest = boxes.iter().map(|rect| rect.width()).fold(0.0, f64::max);
    let area: f64 = boxes.iter().map(|rect| (rect.width() + PARTING) * (rect.height() + PARTING)).sum();
    let shelf = widest.max((area * 1.6).sqrt());
    let (mut x, mut y, mut height) = (0.0, 0.0, 0.0_f64);
    let mut moves = Vec::with_capacity(boxes.len());
    for rect in boxes {
        if x > 0.0 && x + rect.width() > shelf + LENGTH_ROUNDING {
            y += height + PARTING;
            (x, height) = (0.0, 0.0);
        }
        moves.push(Point::new(x - rect.left, y - rect.top));
        x += rect.width() + PARTING;
        height = height.max(rect.height());
    }
    moves
}
