//! Positions a person has chosen, which a drawing keeps while the rest follows.

use super::DrawOptions;
use super::diagram::Diagram;
use super::geometry::{Point, Rect};
use super::label::{Contact, Side, label};
use super::layout::Placement;
use super::scene::Drawing;
use std::collections::BTreeMap;

/// The largest coordinate, in the drawing's units, that a person may choose.
const FARTHEST: f64 = 1e6;

/// Places by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Positions {
    places: BTreeMap<String, Point>,
}

impl Positions {
    /// Takes places by name; the error names one that no drawing can hold.
    pub fn new(places: BTreeMap<String, Point>) -> Result<Positions, String> {
        match places.iter().find(|(_, place)| !(place.x.abs() < FARTHEST && place.y.abs() < FARTHEST)) {
            Some((name, _)) => Err(format!("the position of `{name}` is out of range")),
            None => Ok(Positions { places }),
        }
    }

    /// The places by name.
    pub fn places(&self) -> &BTreeMap<String, Point> {
        &self.places
    }

    /// Takes the places of everything in a drawing.
    pub fn of(drawing: &Drawing) -> Positions {
        Positions { places: drawing.nodes.iter().map(|node| (node.name.clone(), node.at)).collect() }
    }

    /// The names that are none of those given.
    pub fn unknown(&self, names: &[&str]) -> Vec<String> {
        let known: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        self.places.keys().filter(|name| !known.contains(name.as_str())).cloned().collect()
    }

    /// Moves what is kept to its place and lets the rest follow.
    pub(super) fn apply(&self, diagram: &Diagram, placement: &mut Placement, options: &DrawOptions) {
        if self.places.is_empty() {
            return;
        }
        let before = placement.nodes.clone();
        let mut settled: Vec<bool> = vec![false; before.len()];
        for (index, node) in diagram.nodes.iter().enumerate() {
            if let Some(&place) = self.places.get(&node.name) {
                placement.nodes[index] = place;
                settled[index] = true;
            }
        }
        if !settled.contains(&true) {
            return;
        }
        let new = follow(diagram, placement, &before, &mut settled);
        reroute(diagram, placement, &before);
        relabel(diagram, placement, options);
        for node in new {
            make_room(node, diagram, placement);
        }
        reroute(diagram, placement, &before);
        relabel(diagram, placement, options);
    }
}

/// Places new nodes by their nearest settled neighbours; returns them.
fn follow(
    diagram: &Diagram,
    placement: &mut Placement,
    before: &[Point],
    settled: &mut [bool],
) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); before.len()];
    let pairs = diagram.bonds.iter().map(|bond| (bond.from, bond.to));
    for (a, b) in pairs.chain(diagram.signals.iter().map(|signal| (signal.from, signal.to))) {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut queue: std::collections::VecDeque<usize> =
        (0..before.len()).filter(|&node| settled[node]).collect();
    let first = queue.front().copied().unwrap_or(0);
    let mut new = Vec::new();
    let mut place = |node: usize, from: usize, placement: &mut Placement| {
        let (here, there, moved) = (before[node], before[from], placement.nodes[from]);
        placement.nodes[node] = Point::new(moved.x + here.x - there.x, moved.y + here.y - there.y);
        new.push(node);
    };
    while let Some(from) = queue.pop_front() {
        for &node in &neighbours[from] {
            if !settled[node] {
                settled[node] = true;
                place(node, from, placement);
                queue.push_back(node);
            }
        }
    }
    // Parts without any kept node move along with the first one that is kept.
    for node in (0..before.len()).filter(|&node| !settled[node]) {
        place(node, first, placement);
    }
    new
}

/// Ways whose ends moved alike move along; the others are led anew.
fn reroute(diagram: &Diagram, placement: &mut Placement, before: &[Point]) {
    let shift = |node: usize, nodes: &[Point]| {
        Point::new(nodes[node].x - before[node].x, nodes[node].y - before[node].y)
    };
    let ends = diagram.bonds.iter().map(|bond| (bond.from, bond.to));
    for ((from, to), way) in ends.zip(&mut placement.bonds) {
        adapt(way, before[from], shift(from, &placement.nodes), shift(to, &placement.nodes));
    }
    let ends = diagram.signals.iter().map(|signal| (signal.from, signal.to));
    for ((from, to), way) in ends.zip(&mut placement.signals) {
        adapt(way, before[from], shift(from, &placement.nodes), shift(to, &placement.nodes));
    }
}

fn adapt(way: &mut Vec<Point>, origin: Point, one: Point, two: Point) {
    let Some(&first) = way.first() else { return };
    if one.distance(two) > 0.5 {
        way.clear();
        return;
    }
    // The way may already have been moved once.
    let by = Point::new(origin.x + one.x - first.x, origin.y + one.y - first.y);
    for point in way {
        *point = Point::new(point.x + by.x, point.y + by.y);
    }
}

/// Chooses the labels anew for nodes whose bonds now leave otherwise.
fn relabel(diagram: &Diagram, placement: &mut Placement, options: &DrawOptions) {
    let mut contacts = vec![Contact::default(); diagram.nodes.len()];
    let mut count = vec![0; diagram.nodes.len()];
    let mut led_anew = vec![false; diagram.nodes.len()];
    for (bond, way) in diagram.bonds.iter().zip(&placement.bonds) {
        let straight = vec![placement.nodes[bond.from], placement.nodes[bond.to]];
        let points = if way.is_empty() { &straight } else { way };
        for (node, here, next) in
            [(bond.from, points[0], points[1]), (bond.to, points[points.len() - 1], points[points.len() - 2])]
        {
            count[node] += 1;
            led_anew[node] |= way.is_empty();
            match side(here, next) {
                Some(side) => contacts[node].sides[side as usize] = true,
                None => contacts[node].slanted = true,
            }
        }
    }
    for (index, node) in diagram.nodes.iter().enumerate() {
        if led_anew[index] {
            placement.labels[index] = label(node, count[index], contacts[index], options);
        }
    }
}

fn side(here: Point, next: Point) -> Option<Side> {
    let (dx, dy) = (next.x - here.x, next.y - here.y);
    match (dx.abs() < 1.0, dy.abs() < 1.0) {
        (true, _) => Some(if dy < 0.0 { Side::North } else { Side::South }),
        (_, true) => Some(if dx < 0.0 { Side::West } else { Side::East }),
        _ => None,
    }
}

/// Moves a new node to the nearest place where it covers nothing.
fn make_room(node: usize, diagram: &Diagram, placement: &mut Placement) {
    let boxes = |index: usize, at: Point, placement: &Placement| -> Vec<Rect> {
        let label = &placement.labels[index];
        [Some(label.main), label.aside].into_iter().flatten().map(|rect| rect.moved(at)).collect()
    };
    let home = placement.nodes[node];
    let free = |at: Point, placement: &Placement| {
        let mine: Vec<Rect> = boxes(node, at, placement).into_iter().map(|rect| rect.grown(6.0)).collect();
        let clear = (0..diagram.nodes.len()).filter(|&other| other != node).all(|other| {
            boxes(other, placement.nodes[other], placement)
                .iter()
                .all(|theirs| mine.iter().all(|mine| !mine.overlaps(*theirs)))
        });
        clear
            && diagram.bonds.iter().filter(|bond| bond.from != node && bond.to != node).all(|bond| {
                let (a, b) = (placement.nodes[bond.from], placement.nodes[bond.to]);
                mine.iter().all(|mine| !mine.crossed_by(a, b))
            })
    };
    if free(home, placement) {
        return;
    }
    for ring in 1..40_i32 {
        // Level and upright first: they keep the right angles.
        for (dx, dy) in [(0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (1, 1), (-1, 1), (-1, -1)] {
            let step = f64::from(ring) * 20.0;
            let at = Point::new(home.x + f64::from(dx) * step, home.y + f64::from(dy) * step);
            if free(at, placement) {
                placement.nodes[node] = at;
                return;
            }
        }
    }
}
