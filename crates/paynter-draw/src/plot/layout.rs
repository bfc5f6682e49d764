//! Places everything of a figure, measured with the embedded font.

use super::figure::{Axis, Figure, Panel};
use super::legend::{self, Entry, LEGEND_SIZE, ROW, cut};
use super::scale::ranges;
use super::ticks::{Along, TICK_SIZE, Ticks, fraction, ticks};
use crate::draw::{Point, Rect, text_width};
use paynter_base::number::{power, unit};

/// The width of every figure.
pub const PLOT_WIDTH: f64 = 680.0;
/// Font size of axis labels.
const LABEL_SIZE: f64 = 12.5;
/// Font size of the title.
const TITLE_SIZE: f64 = 15.0;
/// The line heights of titles and labels.
const TITLE_LINE: f64 = 21.0;
const LABEL_LINE: f64 = 19.0;
/// Around everything.
const PLOT_MARGIN: f64 = 12.0;
/// Right of the frames: half of the last label on the axis below.
const RIGHT: f64 = 26.0;
/// Between a frame and its tick labels.
pub const TICK_GAP: f64 = 8.0;
/// Between frames that share an axis, and between those that do not.
const GAPS: (f64, f64) = (20.0, 16.0);
/// Longer names on an axis are cut.
const LONGEST_NAME: f64 = 210.0;

/// A text with its box.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// Its box on the page.
    pub rect: Rect,
    /// The font size.
    pub size: f64,
    /// Whether it reads upwards.
    pub upwards: bool,
    /// Whether it is the title or an axis label rather than a small text.
    pub strong: bool,
}

/// A panel's frame with its ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The frame.
    pub rect: Rect,
    /// The ticks below: the value's place on the page, with or without a label.
    pub x: Vec<(f64, bool)>,
    /// The ticks at the left.
    pub y: Vec<(f64, bool)>,
    /// The range of the x axis.
    pub x_range: (f64, f64),
    /// The range of the y axis.
    pub y_range: (f64, f64),
}

/// A figure with everything in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The whole page.
    pub page: Rect,
    /// All texts.
    pub labels: Vec<Label>,
    /// One frame for each panel.
    pub frames: Vec<Frame>,
    /// The samples of the legends with the places where they begin.
    pub(super) samples: Vec<(Point, legend::Sample)>,
}

impl Frame {
    /// The place of a value on the page; no number where it has none.
    pub fn place(&self, panel: &Panel, x: f64, y: f64) -> Point {
        let (across, up) =
            (fraction(&panel.x.scale, self.x_range, x), fraction(&panel.y.scale, self.y_range, y));
        Point::new(self.rect.left + across * self.rect.width(), self.rect.bottom - up * self.rect.height())
    }
}

/// Places everything of a figure.
pub fn arrange(figure: &Figure) -> Layout {
    let ranges: Vec<_> = figure.panels.iter().map(ranges).collect();
    let upright: Vec<Ticks> = figure
        .panels
        .iter()
        .zip(&ranges)
        .map(|(panel, (_, range))| ticks(&panel.y.scale, *range, panel.y.tight, panel.height, Along::Upright))
        .map(shortened)
        .collect();
    let widest = upright
        .iter()
        .flat_map(|ticks| &ticks.major)
        .map(|(_, label)| text_width(label, TICK_SIZE))
        .fold(0.0, f64::max);
    let left = PLOT_MARGIN + LABEL_LINE + widest + TICK_GAP;
    let width = PLOT_WIDTH - left - RIGHT;
    let mut layout =
        Layout { page: Rect::default(), labels: Vec::new(), frames: Vec::new(), samples: Vec::new() };
    let mut top = PLOT_MARGIN;
    for line in wrapped(&figure.title, TITLE_SIZE, PLOT_WIDTH - 2.0 * PLOT_MARGIN) {
        let middle = top + TITLE_LINE / 2.0;
        let centre = (left + PLOT_WIDTH - RIGHT) / 2.0;
        // A long title is centred on the page, a short one on the frames.
        let half = text_width(&line, TITLE_SIZE) / 2.0;
        let centre = centre.min(PLOT_WIDTH - PLOT_MARGIN - half).max(PLOT_MARGIN + half);
        layout.text(&line, TITLE_SIZE, Point::new(centre, middle), Align::Centre, true);
        top += TITLE_LINE;
    }
    if !figure.title.is_empty() {
        top += 5.0;
    }
    let (common, own) = legend::legends(figure, width);
    top = layout.legend(&common, left, top);
    for (index, panel) in figure.panels.iter().enumerate() {
        top = layout.legend(own.get(index).map_or(&[], Vec::as_slice), left, top);
        let shares = |other: usize| figure.panels.get(other).is_some_and(|next| next.x == panel.x);
        // Panels that share an axis share its range.
        let first = (0..index).rev().take_while(|i| shares(*i)).last().unwrap_or(index);
        let last = (index..figure.panels.len()).take_while(|i| shares(*i)).last().unwrap_or(index);
        let range = ranges[first..=last].iter().filter_map(|(range, _)| *range);
        let range = range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let mut level = ticks(&panel.x.scale, range, panel.x.tight, width, Along::Level);
        let mut height = panel.height;
        if panel.equal {
            let [x, y] = [level.range, upright[index].range].map(|(low, high)| high - low);
            let whole = y * width / height;
            if x < whole {
                let middle = 0.5 * (level.range.0 + level.range.1);
                let wider = (middle - 0.5 * whole, middle + 0.5 * whole);
                level = ticks(&panel.x.scale, Some(wider), true, width, Along::Level);
            } else {
                height = y * width / x;
            }
        }
        let rect = Rect::new(left, top, left + width, top + height);
        layout.frame(panel, rect, &level, &upright[index]);
        layout.upright_axis(panel, rect, &upright[index]);
        top = rect.bottom;
        if index == last {
            top = layout.level_axis(panel, rect, &level) + GAPS.1;
        } else {
            top += GAPS.0;
        }
    }
    let bottom = if figure.panels.is_empty() { top + PLOT_MARGIN } else { top - GAPS.1 + PLOT_MARGIN };
    layout.page = Rect::new(0.0, 0.0, PLOT_WIDTH, bottom);
    layout
}

/// Cuts names on an axis that are too long.
fn shortened(mut ticks: Ticks) -> Ticks {
    for (_, label) in &mut ticks.major {
        *label = cut(label, TICK_SIZE, LONGEST_NAME);
    }
    ticks
}

/// Breaks a text into lines between words.
fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().take(3).map(|line| cut(line, size, width)).collect()
}

/// What stands at an axis: the quantity and its unit in brackets.
fn axis_label(axis: &Axis, exponent: i32) -> String {
    let mut inside = Vec::new();
    if exponent != 0 {
        inside.push(power(exponent));
    }
    let unit = unit(&axis.unit);
    if !unit.is_empty() && unit != "1" {
        inside.push(unit);
    }
    match (axis.label.as_str(), inside.is_empty()) {
        (label, true) => label.to_owned(),
        ("", false) => format!("[{}]", inside.join(" ")),
        (label, false) => format!("{label} [{}]", inside.join(" ")),
    }
}

enum Align {
    Left,
    Centre,
    Right,
}

impl Layout {
    /// Puts a text at half its height.
    fn text(&mut self, text: &str, size: f64, at: Point, align: Align, strong: bool) {
        let width = text_width(text, size);
        let left = match align {
            Align::Left => at.x,
            Align::Centre => at.x - width / 2.0,
            Align::Right => at.x - width,
        };
        let rect = Rect::new(left, at.y - size / 2.0, left + width, at.y + size / 2.0);
        self.labels.push(Label { text: text.to_owned(), rect, size, upwards: false, strong });
    }

    /// Puts a legend; returns where it ends.
    fn legend(&mut self, entries: &[Entry], left: f64, top: f64) -> f64 {
        for entry in entries {
            let at = Point::new(left + entry.x, top + (entry.row as f64 + 0.5) * ROW);
            self.samples.push((at, entry.sample));
            let name = Point::new(at.x + legend::name_offset(entry.sample), at.y);
            self.text(&entry.name, LEGEND_SIZE, name, Align::Left, false);
        }
        if entries.is_empty() { top } else { top + legend::height(entries) + 6.0 }
    }

    fn frame(&mut self, panel: &Panel, rect: Rect, level: &Ticks, upright: &Ticks) {
        let places = |ticks: &Ticks, place: &dyn Fn(f64) -> f64| -> Vec<(f64, bool)> {
            let major = ticks.major.iter().map(|(value, _)| (place(*value), true));
            major.chain(ticks.minor.iter().map(|value| (place(*value), false))).collect()
        };
        let across = |v: f64| rect.left + fraction(&panel.x.scale, level.range, v) * rect.width();
        let up = |v: f64| rect.bottom - fraction(&panel.y.scale, upright.range, v) * rect.height();
        self.frames.push(Frame {
            rect,
            x: places(level, &across),
            y: places(upright, &up),
            x_range: level.range,
            y_range: upright.range,
        });
        let empty = panel.layers.iter().all(|layer| {
            let (x, y) = layer.values();
            !x.iter().chain(&y).any(|value| value.is_finite())
        });
        if empty {
            self.text("no values to show", LABEL_SIZE, rect.centre(), Align::Centre, false);
        }
    }

    fn upright_axis(&mut self, panel: &Panel, rect: Rect, ticks: &Ticks) {
        for (value, label) in &ticks.major {
            let y = rect.bottom - fraction(&panel.y.scale, ticks.range, *value) * rect.height();
            self.text(label, TICK_SIZE, Point::new(rect.left - TICK_GAP, y), Align::Right, false);
        }
        let text = axis_label(&panel.y, ticks.exponent);
        if text.is_empty() {
            return;
        }
        let text = cut(&text, LABEL_SIZE, rect.height() + 8.0);
        let centre = Point::new(PLOT_MARGIN + LABEL_SIZE / 2.0, rect.centre().y);
        let rect = Rect::centred(centre, LABEL_SIZE, text_width(&text, LABEL_SIZE));
        self.labels.push(Label { text, rect, size: LABEL_SIZE, upwards: true, strong: true });
    }

    /// Puts the labels below a frame; returns where they end.
    fn level_axis(&mut self, panel: &Panel, rect: Rect, ticks: &Ticks) -> f64 {
        let middle = rect.bottom + TICK_GAP + TICK_SIZE / 2.0;
        for (value, label) in &ticks.major {
            let x = rect.left + fraction(&panel.x.scale, ticks.range, *value) * rect.width();
            self.text(label, TICK_SIZE, Point::new(x, middle), Align::Centre, false);
        }
        let bottom = middle + TICK_SIZE / 2.0;
        let text = axis_label(&panel.x, ticks.exponent);
        if text.is_empty() {
            return bottom;
        }
        let text = cut(&text, LABEL_SIZE, PLOT_WIDTH - 2.0 * PLOT_MARGIN);
        let middle = bottom + 4.0 + LABEL_LINE / 2.0;
        self.text(&text, LABEL_SIZE, Point::new(rect.centre().x, middle), Align::Centre, true);
        middle + LABEL_LINE / 2.0
    }
}
