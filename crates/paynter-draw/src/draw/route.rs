//! Ways for what the layout did not lead itself: signals between elements that
//! already stand, and bonds between elements a person has placed.
//!
//! Candidate ways with few right angles are rated by length, bends, crossings
//! and what they would run over; the best one wins.

use super::diagram::NodeKind;
use super::geometry::{Point, Rect};
use super::index::Obstacles;
use super::label::{LINE, Side};
use super::scene::DrawnNode;
use crate::tolerance::CHEAPER_ROUTE;

/// How far a way leaves its box before it may turn.
const ROUTE_STUB: f64 = 14.0;
const ROUTE_BEND: f64 = 45.0;
/// Distances of channels beside the two ends.
const CHANNELS: [f64; 8] = [18.0, 30.0, 44.0, 60.0, 84.0, 120.0, 170.0, 240.0];

/// Leads a signal.
pub fn signal(from: usize, to: usize, nodes: &[DrawnNode], obstacles: &Obstacles) -> Vec<Point> {
    best(from, to, nodes, obstacles, &[0.5, 0.2, 0.8])
}

/// Leads a bond: straight where nothing is in the way, otherwise with right angles.
pub fn bond(from: usize, to: usize, nodes: &[DrawnNode], obstacles: &Obstacles) -> Vec<Point> {
    let (a, b) = (&nodes[from], &nodes[to]);
    let straight = vec![a.main.exit(a.at, b.at), b.main.exit(b.at, a.at)];
    if rate(&straight, from, to, obstacles) < ROUTE_BEND + straight[0].distance(straight[1]) {
        return straight;
    }
    let angled = best(from, to, nodes, obstacles, &[0.5]);
    if rate(&angled, from, to, obstacles) < rate(&straight, from, to, obstacles) { angled } else { straight }
}

fn best(from: usize, to: usize, nodes: &[DrawnNode], obstacles: &Obstacles, doors: &[f64]) -> Vec<Point> {
    let (a, b) = (&nodes[from], &nodes[to]);
    let mut best: Option<(f64, Vec<Point>)> = None;
    let mut consider = |way: Vec<Point>, extra: f64| {
        let cost = rate(&way, from, to, obstacles) + extra;
        if best.as_ref().is_none_or(|(least, _)| cost < *least - CHEAPER_ROUTE) {
            best = Some((cost, way));
        }
    };
    for leave in Side::ALL {
        for enter in Side::ALL {
            for (&door, &gate) in doors.iter().flat_map(|door| doors.iter().map(move |gate| (door, gate))) {
                let extra = if door == 0.5 { 0.0 } else { 8.0 } + if gate == 0.5 { 0.0 } else { 8.0 };
                let (start, end) = (door_of(a, leave, door), door_of(b, enter, gate));
                for way in ways(start, leave, end, enter) {
                    consider(way, extra);
                }
            }
        }
    }
    for way in across(a, b) {
        consider(way, 0.0);
    }
    best.map_or_else(|| vec![a.at, b.at], |(_, way)| way)
}

/// Straight ways between boxes that face each other, level or upright.
fn across(a: &DrawnNode, b: &DrawnNode) -> Vec<Vec<Point>> {
    let (one, two) = (hull(a).grown(-3.0), hull(b).grown(-3.0));
    let (one_out, two_out) = (hull(a), hull(b));
    let mut ways = Vec::new();
    let (top, bottom) = (one.top.max(two.top), one.bottom.min(two.bottom));
    if top <= bottom {
        let y = b.at.y.clamp(top, bottom);
        if one_out.right < two_out.left {
            ways.push(vec![Point::new(one_out.right, y), Point::new(two_out.left, y)]);
        } else if two_out.right < one_out.left {
            ways.push(vec![Point::new(one_out.left, y), Point::new(two_out.right, y)]);
        }
    }
    let (left, right) = (one.left.max(two.left), one.right.min(two.right));
    if left <= right {
        let x = b.at.x.clamp(left, right);
        if one_out.bottom < two_out.top {
            ways.push(vec![Point::new(x, one_out.bottom), Point::new(x, two_out.top)]);
        } else if two_out.bottom < one_out.top {
            ways.push(vec![Point::new(x, one_out.top), Point::new(x, two_out.bottom)]);
        }
    }
    ways
}

/// The point on a side of a node's box where a way may start.
fn door_of(node: &DrawnNode, side: Side, fraction: f64) -> Point {
    let rect = node.main;
    let at = |low: f64, high: f64| low + (high - low) * fraction;
    // In the middle, right above the node's own point; a label of two lines is entered at the lower one.
    let lines = !matches!(node.kind, NodeKind::Signal | NodeKind::Submodel) && rect.height() > 1.5 * LINE;
    let (x, y) = if fraction == 0.5 {
        (node.at.x, if lines { rect.bottom - LINE / 2.0 } else { node.at.y })
    } else {
        (at(rect.left, rect.right), if lines { rect.bottom - LINE / 2.0 } else { at(rect.top, rect.bottom) })
    };
    // The text beside a sign may stand in the way: then the door is at its far edge.
    let beyond = |inner: f64, outer: fn(Rect) -> f64, blocks: fn(Rect, Point) -> bool| match node.aside {
        Some(aside) if blocks(aside, Point::new(x, y)) => outer(aside),
        _ => inner,
    };
    match side {
        Side::North => {
            Point::new(x, beyond(rect.top, |r| r.top, |r, p| r.left < p.x && p.x < r.right && r.top < p.y))
        }
        Side::South => Point::new(
            x,
            beyond(rect.bottom, |r| r.bottom, |r, p| r.left < p.x && p.x < r.right && r.bottom > p.y),
        ),
        Side::West => {
            Point::new(beyond(rect.left, |r| r.left, |r, p| r.top < p.y && p.y < r.bottom && r.left < p.x), y)
        }
        Side::East => Point::new(
            beyond(rect.right, |r| r.right, |r, p| r.top < p.y && p.y < r.bottom && r.right > p.x),
            y,
        ),
    }
}

fn hull(node: &DrawnNode) -> Rect {
    match node.aside {
        Some(aside) => node.main.union(aside),
        None => node.main,
    }
}

/// Ways with right angles from one door to another.
fn ways(start: Point, leave: Side, end: Point, enter: Side) -> Vec<Vec<Point>> {
    let step = |point: Point, side: Side, length: f64| {
        let (dx, dy) = side.step();
        Point::new(point.x + dx as f64 * length, point.y + dy as f64 * length)
    };
    let (p, q) = (step(start, leave, ROUTE_STUB), step(end, enter, ROUTE_STUB));
    let mut result = Vec::new();
    // Straight across.
    if leave == enter.opposite()
        && ((leave.is_vertical() && (start.x - end.x).abs() < 0.5)
            || (!leave.is_vertical() && (start.y - end.y).abs() < 0.5))
    {
        result.push(vec![start, end]);
    }
    let mut add = |middle: &[Point]| {
        let mut way = vec![start, p];
        way.extend(middle);
        way.extend([q, end]);
        way.dedup_by(|a, b| a.distance(*b) < 0.5);
        let way = super::layout::straighten(way);
        // A way that turns back on itself is none.
        if way.windows(3).all(|w| {
            let (u, v) = (w[0].direction(w[1]), w[1].direction(w[2]));
            (u.x * v.x + u.y * v.y).abs() < 0.1
        }) {
            result.push(way);
        }
    };
    add(&[Point::new(q.x, p.y)]);
    add(&[Point::new(p.x, q.y)]);
    let mut columns = vec![(p.x + q.x) / 2.0];
    let mut rows = vec![(p.y + q.y) / 2.0];
    for off in CHANNELS {
        columns.extend([p.x.min(q.x) - off, p.x.max(q.x) + off, p.x + off, p.x - off, q.x + off, q.x - off]);
        rows.extend([p.y.min(q.y) - off, p.y.max(q.y) + off, p.y + off, p.y - off, q.y + off, q.y - off]);
    }
    for column in columns {
        add(&[Point::new(column, p.y), Point::new(column, q.y)]);
    }
    for row in rows {
        add(&[Point::new(p.x, row), Point::new(q.x, row)]);
    }
    result
}

fn rate(way: &[Point], from: usize, to: usize, obstacles: &Obstacles) -> f64 {
    let length: f64 = way.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let blocked: f64 = way.windows(2).map(|pair| obstacles.line_cost(pair[0], pair[1], from, to)).sum();
    length + way.len().saturating_sub(2) as f64 * ROUTE_BEND + blocked
}
