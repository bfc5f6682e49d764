//! The finished drawing as geometry: what stands where, before any format.

use super::diagram::{Bond, Diagram, NodeKind, NodeStyle, Stroke};
use super::font::text_width;
use super::geometry::{Point, Rect, segments_cross};
use super::index::Obstacles;
use super::label::{Run, SMALL};
use super::layout::Placement;
use super::{DrawOptions, hull, route};
use crate::tolerance::AXIS_DIRECTION;

/// Length of the half arrow along its bond.
const ARROW: f64 = 11.0;
/// How far the half arrow stands off.
const BARB: f64 = 5.5;
/// Half the length of a causal stroke.
const DRAWN_HALF_STROKE: f64 = 6.5;
/// With more bonds than this at a node, their strokes are left where they are.
const CROWD: usize = 40;
/// Free space around the picture.
const MARGIN: f64 = 14.0;

/// A drawing, ready to be written as SVG.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// The picture's title.
    pub title: String,
    /// Everything lies in here.
    pub frame: Rect,
    /// Boxes round submodels, outer ones first.
    pub groups: Vec<DrawnGroup>,
    /// Bonds.
    pub bonds: Vec<DrawnBond>,
    /// Signals.
    pub signals: Vec<DrawnSignal>,
    /// Elements and junctions.
    pub nodes: Vec<DrawnNode>,
}

/// A drawn element, junction or signal.
#[derive(Debug, Clone)]
pub struct DrawnNode {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// What makes it special.
    pub style: NodeStyle,
    /// Whether it is highlighted.
    pub highlighted: bool,
    /// Its place.
    pub at: Point,
    /// The box bonds end at.
    pub main: Rect,
    /// The box of the text beside it.
    pub aside: Option<Rect>,
    /// Its text.
    pub runs: Vec<Run>,
    /// The tooltip.
    pub note: String,
}

/// A drawn bond.
#[derive(Debug, Clone)]
pub struct DrawnBond {
    /// The node at its tail.
    pub from: usize,
    /// The node at its head.
    pub to: usize,
    /// Its line, from box to box.
    pub way: Vec<Point>,
    /// The free end of the half arrow's barb; its tip is the line's end.
    pub barb: Point,
    /// The ends of the causal stroke.
    pub stroke: Option<(Point, Point)>,
    /// Its number, effort and flow.
    pub labels: Vec<(String, Rect)>,
    /// Whether it is a vector bond.
    pub bold: bool,
    /// Whether it is highlighted.
    pub highlighted: bool,
    /// The tooltip.
    pub note: String,
}

/// A drawn signal.
#[derive(Debug, Clone)]
pub struct DrawnSignal {
    /// Its line, from box to box.
    pub way: Vec<Point>,
    /// Whether it is highlighted.
    pub highlighted: bool,
    /// The tooltip.
    pub note: String,
}

/// A drawn box round a submodel.
#[derive(Debug, Clone)]
pub struct DrawnGroup {
    /// The instance and its submodel.
    pub name: String,
    /// The outline.
    pub outline: Vec<Point>,
    /// Where the name stands.
    pub label: Rect,
}

/// Builds the drawing of a placed diagram.
pub fn build(diagram: &Diagram, placement: &Placement, options: &DrawOptions) -> Drawing {
    let nodes: Vec<DrawnNode> = diagram
        .nodes
        .iter()
        .zip(&placement.labels)
        .zip(&placement.nodes)
        .map(|((node, label), &at)| DrawnNode {
            name: node.name.clone(),
            kind: node.kind,
            style: node.style,
            highlighted: node.highlighted,
            at,
            main: label.main.moved(at),
            aside: label.aside.map(|rect| rect.moved(at)),
            runs: label
                .runs
                .iter()
                .map(|run| Run { at: Point::new(run.at.x + at.x, run.at.y + at.y), ..run.clone() })
                .collect(),
            note: note(node),
        })
        .collect();
    let mut obstacles = Obstacles::new();
    for (index, node) in nodes.iter().enumerate() {
        obstacles.add_box(node.main, index);
        if let Some(aside) = node.aside {
            obstacles.add_box(aside, index);
        }
    }
    let mut bonds = Vec::with_capacity(diagram.bonds.len());
    for (bond, way) in diagram.bonds.iter().zip(&placement.bonds) {
        if bond.from != bond.to {
            let drawn = draw_bond(diagram, bond, way, &nodes, &obstacles);
            obstacles.add_way(&drawn.way, bond.from, bond.to);
            bonds.push((bond, drawn));
        }
    }
    part_strokes(&mut bonds, nodes.len());
    let mut signals = Vec::with_capacity(diagram.signals.len());
    for (signal, way) in diagram.signals.iter().zip(&placement.signals) {
        if signal.from == signal.to {
            continue;
        }
        let (from, to) = (&nodes[signal.from], &nodes[signal.to]);
        let way = match &way[..] {
            [] => route::signal(signal.from, signal.to, &nodes, &obstacles),
            way => clip(way, from.main, to.main),
        };
        obstacles.add_way(&way, signal.from, signal.to);
        signals.push(DrawnSignal {
            way,
            highlighted: signal.highlighted,
            note: format!("signal {} → {}", from.name, to.name),
        });
    }
    for (bond, drawn) in &mut bonds {
        label_bond(bond, drawn, options, &mut obstacles);
    }
    let mut drawing = Drawing {
        title: diagram.title.clone(),
        frame: Rect::default(),
        groups: Vec::new(),
        bonds: bonds.into_iter().map(|(_, drawn)| drawn).collect(),
        signals,
        nodes,
    };
    if options.boxes {
        drawing.groups = hull::groups(diagram, &drawing, &mut obstacles);
    }
    drawing.frame = frame(&drawing);
    drawing
}

/// What the tooltip says of a node.
fn note(node: &super::diagram::Node) -> String {
    let mut note = node.name.clone();
    if let Some(value) = &node.value {
        note.push_str(" = ");
        note.push_str(value);
    }
    if let Some(more) = &node.note {
        note.push('\n');
        note.push_str(more);
    }
    note
}

/// Cuts a way from centre to centre at the two boxes.
fn clip(way: &[Point], from: Rect, to: Rect) -> Vec<Point> {
    let mut way = way.to_vec();
    // Points inside a box (on the rim of a submodel's box, say) are no longer needed.
    let inside = |rect: Rect, point: Point| {
        let rect = rect.grown(0.01);
        rect.left <= point.x && point.x <= rect.right && rect.top <= point.y && point.y <= rect.bottom
    };
    while way.len() > 2 && inside(from, way[1]) {
        way.remove(0);
    }
    while way.len() > 2 && inside(to, way[way.len() - 2]) {
        way.pop();
    }
    let last = way.len() - 1;
    if last >= 1 {
        let (start, end) = (from.exit(way[0], way[1]), to.exit(way[last], way[last - 1]));
        way[0] = start;
        way[last] = end;
    }
    way
}

fn draw_bond(
    diagram: &Diagram,
    bond: &Bond,
    way: &[Point],
    nodes: &[DrawnNode],
    obstacles: &Obstacles,
) -> DrawnBond {
    let (from, to) = (&nodes[bond.from], &nodes[bond.to]);
    let mut way = match way {
        [] => route::bond(bond.from, bond.to, nodes, obstacles),
        way => clip(way, from.main, to.main),
    };
    let last = way.len() - 1;
    match bond.stroke {
        Stroke::None => {}
        Stroke::AtFrom => way[0] = stand_off(way[0], way[1.min(last)], from.main),
        Stroke::AtTo => way[last] = stand_off(way[last], way[last.saturating_sub(1)], to.main),
    }
    let (barb, stroke) = marks(bond.stroke, &way);
    let end = |node: usize, port: Option<usize>| {
        let name = &diagram.nodes[node].name;
        port.map_or_else(|| name.clone(), |port| format!("{name}.{port}"))
    };
    DrawnBond {
        from: bond.from,
        to: bond.to,
        barb,
        stroke,
        labels: Vec::new(),
        bold: bond.bold,
        highlighted: bond.highlighted,
        note: format!(
            "bond {}: {} → {}",
            bond.number,
            end(bond.from, bond.from_port),
            end(bond.to, bond.to_port)
        ),
        way,
    }
}

/// The free end of the half arrow's barb, and the ends of the causal stroke.
fn marks(stroke: Stroke, way: &[Point]) -> (Point, Option<(Point, Point)>) {
    let last = way.len() - 1;
    let (tip, back) = (way[last], way[last.saturating_sub(1)]);
    let along = tip.direction(back);
    let barb = tip.along(along, ARROW).along(flow_side(back, tip), BARB);
    let stroke = match stroke {
        Stroke::None => None,
        Stroke::AtFrom => Some(bar(way[0], way[1.min(last)], DRAWN_HALF_STROKE)),
        Stroke::AtTo => Some(bar(tip, back, DRAWN_HALF_STROKE)),
    };
    (barb, stroke)
}

/// A line across the end of another.
fn bar(end: Point, next: Point, half: f64) -> (Point, Point) {
    let along = end.direction(next);
    let across = Point::new(-along.y, along.x);
    (end.along(across, half), end.along(across, -half))
}

/// Moves slanted bonds back from a node where they would run into the strokes of others there, or their own strokes
/// into others.
fn part_strokes(bonds: &mut [(&Bond, DrawnBond)], nodes: usize) {
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (index, (bond, _)) in bonds.iter().enumerate() {
        at[bond.from].push(index);
        at[bond.to].push(index);
    }
    for (index, tail) in (0..bonds.len()).flat_map(|index| [(index, true), (index, false)]) {
        let (bond, drawn) = &bonds[index];
        let last = drawn.way.len() - 1;
        let (node, end, next, own) = match tail {
            true => (bond.from, 0, 1.min(last), Stroke::AtFrom),
            false => (bond.to, last, last.saturating_sub(1), Stroke::AtTo),
        };
        let (start, toward) = (drawn.way[end], drawn.way[next]);
        let along = start.direction(toward);
        if along.x.abs() < AXIS_DIRECTION || along.y.abs() < AXIS_DIRECTION || at[node].len() > CROWD {
            continue;
        }
        let clear = |back: &f64| {
            let start = start.along(along, *back);
            let bar = (bond.stroke == own).then(|| bar(start, toward, 1.3 * DRAWN_HALF_STROKE));
            let meets = |line: Option<(Point, Point)>, (c, d): (Point, Point)| {
                line.is_some_and(|(a, b)| segments_cross(a, b, c, d))
            };
            at[node].iter().filter(|other| **other != index).all(|other| {
                let other = &bonds[*other].1;
                let pieces = other.way.windows(2).map(|pair| (pair[0], pair[1]));
                let mut pieces = pieces.chain([(other.way[other.way.len() - 1], other.barb)]);
                !other.stroke.is_some_and(|stroke| meets(Some((start, toward)), stroke) || meets(bar, stroke))
                    && !pieces.any(|piece| meets(bar, piece))
            })
        };
        let room = start.distance(toward) / 2.0;
        let mut steps = (0..8).map(|step| 3.0 * f64::from(step)).take_while(|back| *back <= room);
        if let Some(back) = steps.find(clear).filter(|back| *back > 0.0) {
            let (bond, drawn) = &mut bonds[index];
            drawn.way[end] = start.along(along, back);
            (drawn.barb, drawn.stroke) = marks(bond.stroke, &drawn.way);
        }
    }
}

/// The end of a bond moved so far from its box that a causal stroke there does not run into it; at most half of its
/// last piece.
fn stand_off(end: Point, next: Point, rect: Rect) -> Point {
    let along = end.direction(next);
    end.along(along, rect.clearance(end, along, DRAWN_HALF_STROKE).min(end.distance(next) / 2.0))
}

/// The side of the flow: below a level bond, at the right of an upright one.
pub fn flow_side(a: Point, b: Point) -> Point {
    let along = a.direction(b);
    let normal = Point::new(-along.y, along.x);
    let level = along.x.abs() >= along.y.abs();
    let wanted = if level { normal.y } else { normal.x };
    if wanted >= 0.0 { normal } else { Point::new(-normal.x, -normal.y) }
}

/// Puts number, effort and flow where there is room along the bond.
fn label_bond(bond: &Bond, drawn: &mut DrawnBond, options: &DrawOptions, obstacles: &mut Obstacles) {
    let mut texts = Vec::new();
    if options.variables {
        texts.push((format!("e{}", subscript(bond.number)), false));
        texts.push((format!("f{}", subscript(bond.number)), true));
    } else if options.numbers {
        texts.push((bond.number.to_string(), false));
    }
    // Along the longest piece first.
    let mut pieces: Vec<(Point, Point)> = drawn.way.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pieces.sort_by(|a, b| b.0.distance(b.1).total_cmp(&a.0.distance(a.1)));
    for (text, with_flow) in texts {
        let (width, height) = (text_width(&text, SMALL), SMALL);
        let mut best: Option<(f64, Rect)> = None;
        'search: for turn in [1.0, -1.0] {
            for &(a, b) in &pieces {
                let flow = flow_side(a, b);
                let turn = if with_flow { turn } else { -turn };
                // So far off that the box just clears the line.
                let off = 3.0 + (width * flow.x.abs() + height * flow.y.abs()) / 2.0;
                for fraction in [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85] {
                    let rect = Rect::centred(a.toward(b, fraction).along(flow, off * turn), width, height);
                    let cost = obstacles.cost(rect);
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, rect));
                    }
                    if cost == 0.0 {
                        break 'search;
                    }
                }
            }
        }
        // What finds no room at a crowded element is left to the tooltip.
        if let Some((_, rect)) = best.filter(|(cost, _)| *cost == 0.0) {
            obstacles.add_box(rect, usize::MAX);
            drawn.labels.push((text, rect));
        }
    }
}

fn subscript(number: usize) -> String {
    number
        .to_string()
        .chars()
        .filter_map(|digit| digit.to_digit(10).and_then(|digit| char::from_u32(0x2080 + digit)))
        .collect()
}

/// The box around everything, with a margin.
fn frame(drawing: &Drawing) -> Rect {
    let point = |point: Point| Rect::spanning(point, point);
    let nodes = drawing.nodes.iter().flat_map(|node| [Some(node.main), node.aside]).flatten();
    let bonds = drawing.bonds.iter().flat_map(|bond| {
        let ends = bond.stroke.map(|(a, b)| Rect::spanning(a, b));
        let labels = bond.labels.iter().map(|label| label.1);
        bond.way.iter().copied().map(point).chain([point(bond.barb)]).chain(ends).chain(labels)
    });
    let signals = drawing.signals.iter().flat_map(|signal| signal.way.iter().copied().map(point));
    let groups =
        drawing.groups.iter().flat_map(|group| group.outline.iter().copied().map(point).chain([group.label]));
    nodes.chain(bonds).chain(signals).chain(groups).reduce(Rect::union).unwrap_or_default().grown(MARGIN)
}
