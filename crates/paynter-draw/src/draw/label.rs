//! The text of a node and the boxes it fills, measured with the embedded font.

use super::DrawOptions;
use super::diagram::{Node, NodeKind};
use super::font::text_width;
use super::geometry::{Point, Rect};
use paynter_graph::{Class, Power, kind_of};

/// Font size of signs and names.
pub const SIZE: f64 = 14.0;
/// Font size of what stands beside a sign.
pub const SMALL: f64 = 12.0;
/// Height of a line of text.
pub const LINE: f64 = 17.0;
/// Free space between text and the end of a bond.
const PAD: f64 = 3.0;
/// The same at a junction, where up to four strokes come near.
const JUNCTION_PAD: f64 = 6.0;
/// Room beside a detector's sign inside its capsule.
pub const CAPSULE: f64 = 4.0;
/// Longer values are cut in the picture; the tooltip has them whole.
const LONGEST_VALUE: usize = 28;
/// Longer labels break before the value.
const LONGEST_LINE: f64 = 150.0;

/// One of the four directions on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Upwards.
    North,
    /// To the right.
    East,
    /// Downwards.
    South,
    /// To the left.
    West,
}

impl Side {
    /// All four, clockwise.
    pub const ALL: [Side; 4] = [Side::North, Side::East, Side::South, Side::West];

    /// The way back.
    pub fn opposite(self) -> Side {
        Side::ALL[(self as usize + 2) % 4]
    }

    /// The unit step, y downwards.
    pub fn step(self) -> (i64, i64) {
        [(0, -1), (1, 0), (0, 1), (-1, 0)][self as usize]
    }

    /// Whether it points up or down.
    pub fn is_vertical(self) -> bool {
        matches!(self, Side::North | Side::South)
    }
}

/// How bonds meet a node: it decides where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contact {
    /// Bonds leave towards these sides, in the order of [`Side::ALL`].
    pub sides: [bool; 4],
    /// At least one bond leaves at a slant.
    pub slanted: bool,
}

/// A piece of text at a place relative to its node's point.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The text.
    pub text: String,
    /// Where it starts, at half its height.
    pub at: Point,
    /// The font size.
    pub size: f64,
    /// Whether it is the element's sign, not its name or value.
    pub sign: bool,
}

/// A node's boxes relative to its point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Label {
    /// The box bonds end at.
    pub main: Rect,
    /// A second box, of the text beside a sign that bonds pass through.
    pub aside: Option<Rect>,
    /// The text.
    pub runs: Vec<Run>,
}

/// The sign of a node (`MTF`, `0`).
pub fn sign(node: &Node, options: &DrawOptions) -> String {
    let plain = match node.kind {
        NodeKind::Element(kind) => match kind_of(kind).class() {
            Class::Junction(Power::Effort) if options.letters => "p",
            Class::Junction(Power::Flow) if options.letters => "s",
            _ => kind.word(),
        },
        NodeKind::Signal | NodeKind::Submodel => return node.name.clone(),
    };
    let small = if node.sensitivity { "s" } else { "" };
    let large = if node.modulated { "M" } else { "" };
    format!("{small}{large}{plain}")
}

/// The name with the number of a field's ports (`cell[2]`), without its
/// submodel where that is boxed.
fn name(node: &Node, options: &DrawOptions) -> String {
    let name = match node.name.rsplit_once('.') {
        Some((_, last)) if options.boxes && node.group.is_some() => last,
        _ => &node.name,
    };
    if node.field > 0 { format!("{name}[{}]", node.field) } else { name.to_owned() }
}

/// The value after its sign of equality, cut where it is long.
fn value(node: &Node, options: &DrawOptions) -> Option<String> {
    let value = node.value.as_ref().filter(|_| options.values)?;
    if value.chars().count() <= LONGEST_VALUE {
        return Some(format!("= {value}"));
    }
    let short: String = value.chars().take(LONGEST_VALUE - 1).collect();
    Some(format!("= {}…", short.trim_end()))
}

/// Lays out a node's text for the way its bonds meet it.
pub fn label(node: &Node, bonds: usize, contact: Contact, options: &DrawOptions) -> Label {
    match node.kind {
        kind if kind.is_junction() => centred_sign(&sign(node, options), JUNCTION_PAD),
        NodeKind::Signal | NodeKind::Submodel => boxed(node, options),
        _ if bonds > 1 => beside(node, contact, options),
        _ => inline(node, contact, options),
    }
}

fn centred_sign(text: &str, pad: f64) -> Label {
    let width = text_width(text, SIZE);
    Label {
        main: Rect::centred(Point::default(), width + 2.0 * pad, LINE + pad - PAD),
        aside: None,
        runs: vec![Run { text: text.to_owned(), at: Point::new(-width / 2.0, 0.0), size: SIZE, sign: true }],
    }
}

/// A box with the text inside.
fn boxed(node: &Node, options: &DrawOptions) -> Label {
    let mut lines = vec![(node.name.clone(), true)];
    match (&node.value, node.kind) {
        (Some(model), NodeKind::Submodel) if model.is_empty() => {}
        (Some(model), NodeKind::Submodel) => lines.push((format!(": {model}"), false)),
        _ => lines.extend(value(node, options).map(|value| (value, false))),
    }
    let (pad, size) = if node.kind == NodeKind::Submodel { (12.0, SIZE) } else { (7.0, SMALL) };
    let width = lines.iter().map(|(text, _)| text_width(text, size)).fold(0.0, f64::max);
    let height = lines.len() as f64 * LINE;
    let runs = lines
        .into_iter()
        .enumerate()
        .map(|(index, (text, sign))| Run {
            at: Point::new(-text_width(&text, size) / 2.0, (index as f64 + 0.5) * LINE - height / 2.0),
            text,
            size,
            sign,
        })
        .collect();
    Label { main: Rect::centred(Point::default(), width + 2.0 * pad, height + pad), aside: None, runs }
}

/// A sign in the line of its bonds, with the name and value beside it; where
/// bonds leave on all sides or at a slant, below it in the same box.
fn beside(node: &Node, contact: Contact, options: &DrawOptions) -> Label {
    let mut label = centred_sign(&sign(node, options), PAD);
    let text = name(node, options);
    let mut lines = match value(node, options) {
        Some(value) if text_width(&text, SMALL) + text_width(&value, SMALL) > LONGEST_LINE * 0.7 => {
            vec![text, value]
        }
        Some(value) => vec![format!("{text} {value}")],
        None => vec![text],
    };
    lines.retain(|line| !line.is_empty());
    let width = lines.iter().map(|line| text_width(line, SMALL)).fold(0.0, f64::max);
    let step = LINE - 2.0;
    let height = lines.len() as f64 * step;
    let [north, east, south, west] = contact.sides;
    let sign = label.main;
    let above = Rect::new(-width / 2.0, sign.top - height, width / 2.0, sign.top);
    let below = Rect::new(-width / 2.0, sign.bottom, width / 2.0, sign.bottom + height);
    let right = Rect::new(sign.right, -height / 2.0, sign.right + width, height / 2.0);
    let left = Rect::new(sign.left - width, -height / 2.0, sign.left, height / 2.0);
    // Beside an upright line, above a level one, else wherever no bond leaves.
    let choices = if north || south {
        [(east, right), (west, left), (north, above), (south, below)]
    } else {
        [(north, above); 4]
    };
    let place = choices.into_iter().find(|(taken, _)| !taken && !contact.slanted).map(|(_, place)| place);
    let inside = place.is_none();
    let place = place.unwrap_or(below);
    for (index, text) in lines.into_iter().enumerate() {
        let middle = place.top + (index as f64 + 0.5) * step;
        let free = place.width() - text_width(&text, SMALL);
        let start = if place == right {
            place.left
        } else if place == left {
            place.left + free
        } else {
            place.left + free / 2.0
        };
        label.runs.push(Run { text, at: Point::new(start, middle), size: SMALL, sign: false });
    }
    if inside {
        label.main = sign.union(place.grown(PAD));
    } else {
        label.aside = Some(place);
    }
    label
}

/// A one-port: sign, name and value in one line (`R:winding = Ra`).
fn inline(node: &Node, contact: Contact, options: &DrawOptions) -> Label {
    let sign = sign(node, options);
    let name = if node.name.is_empty() { String::new() } else { format!(":{}", name(node, options)) };
    // A detector's sign stands in a capsule, which needs room.
    let capsule = if node.kind.is_detector() { CAPSULE } else { 0.0 };
    let (sign_width, name_width) = (text_width(&sign, SIZE) + 2.0 * capsule, text_width(&name, SIZE));
    let gap = text_width(" ", SIZE);
    let value = value(node, options);
    let value_width = value.as_ref().map_or(0.0, |value| text_width(value, SIZE));
    let one_line = sign_width + name_width + gap + value_width;
    let broken = value.is_some() && one_line > LONGEST_LINE && !contact.slanted;
    let width = match (&value, broken) {
        (None, _) => sign_width + name_width,
        (Some(_), true) => (sign_width + name_width).max(value_width),
        (Some(_), false) => one_line,
    };
    let [_, east, _, west] = contact.sides;
    // The bond points to the sign where that is possible, to the text's end where it comes from the right.
    let start = if contact.slanted {
        -width / 2.0
    } else if east && !west {
        sign_width / 2.0 - width
    } else {
        -sign_width / 2.0
    };
    // The lines of a label at the left of its bond end at the bond.
    let from_right = east && !west && !contact.slanted;
    let indent = if broken && from_right { width - sign_width - name_width } else { 0.0 };
    let mut runs = vec![
        Run { text: sign, at: Point::new(start + indent + capsule, 0.0), size: SIZE, sign: true },
        Run { text: name, at: Point::new(start + indent + sign_width, 0.0), size: SIZE, sign: false },
    ];
    if let Some(text) = value {
        let at = match (broken, from_right) {
            (false, _) => Point::new(start + sign_width + name_width + gap, 0.0),
            (true, false) => Point::new(start, LINE),
            (true, true) => Point::new(start + width - value_width, LINE),
        };
        runs.push(Run { text, at, size: SIZE, sign: false });
    }
    runs.retain(|run| !run.text.is_empty());
    let bottom = LINE / 2.0 + if broken { LINE } else { 0.0 };
    Label { main: Rect::new(start - PAD, -LINE / 2.0, start + width + PAD, bottom), aside: None, runs }
}
