//! The SVG writer of plots.

use super::curve::{clip_area, pieces};
use super::figure::{COLOURS, Figure, Layer, Mark, Panel, SHADES, Style};
use super::layout::{Frame, Label, Layout, arrange};
use super::legend::{SAMPLE, Sample};
use crate::draw::{FAMILY, Point, Rect};
use crate::palette::{Palette, Theme, palette};
use crate::writer::{HUNDREDTHS, SvgStyle, escape, font_face, open, paper};
use std::fmt::Write;

/// Solid, dashed, dotted, dash-dotted.
const DASHES: [&str; super::figure::DASHES] = ["", "7 3.5", "1.5 3", "8 3 1.5 3"];

/// The style rules of plots in a theme; a page has them once for all its plots.
pub fn plot_rules(theme: Theme) -> String {
    let Palette { ink, plot_quiet: quiet, plot_grid: grid, plot_fine: fine, curves, shades, .. } =
        palette(theme);
    let mut out = format!(
        ".plot text{{font-family:{FAMILY},'Helvetica Neue',Arial,sans-serif;fill:{quiet}}}\
         .plot .strong{{fill:{ink}}}\
         .plot path,.plot circle,.plot .frame{{fill:none}}\
         .plot .frame,.plot .tick{{stroke:{quiet};stroke-width:0.9}}\
         .plot .grid{{stroke:{grid};stroke-width:0.8}}\
         .plot .fine{{stroke:{fine};stroke-width:0.7}}\
         .plot .zero{{stroke:{quiet};stroke-width:0.9}}\
         .plot .line{{stroke-width:1.7;stroke-linejoin:round}}\
         .plot .mark{{stroke-width:1.7}}"
    );
    for (index, colour) in curves.iter().chain(shades).enumerate() {
        let _ = write!(out, ".plot .c{index}{{stroke:{colour}}}.plot .a{index}{{fill:{colour};stroke:none}}");
    }
    for (index, dash) in DASHES.iter().enumerate().skip(1) {
        let _ = write!(out, ".plot .d{index}{{stroke-dasharray:{dash}}}");
    }
    out
}

/// Writes a figure as SVG. In a theme of the page it has no style of its own:
/// the page must have [`plot_rules`].
pub fn plot_svg(figure: &Figure, style: &SvgStyle) -> String {
    let layout = arrange(figure);
    let title = if figure.title.is_empty() { "plot" } else { &figure.title };
    let mut out = open(title, layout.page, style, " class=\"plot\"");
    if style.theme != Theme::Page {
        let _ = writeln!(out, "<style>{}{}</style>", font_face(style), plot_rules(style.theme));
    }
    if !style.transparent {
        paper(&mut out, layout.page, palette(style.theme).paper);
    }
    for (panel, frame) in figure.panels.iter().zip(&layout.frames) {
        write_grid(&mut out, panel, frame);
        for layer in &panel.layers {
            write_layer(&mut out, panel, frame, layer);
        }
        write_frame(&mut out, frame);
    }
    write_samples(&mut out, &layout);
    for label in &layout.labels {
        write_label(&mut out, label);
    }
    out.push_str("</svg>\n");
    out
}

fn rule(from: Point, to: Point) -> String {
    HUNDREDTHS.path(&[from, to])
}

/// Lines through the ticks, the fine ones first.
fn write_grid(out: &mut String, panel: &Panel, frame: &Frame) {
    let rect = frame.rect;
    for named in [false, true] {
        let mut data = String::new();
        for (x, _) in frame.x.iter().filter(|(_, major)| *major == named) {
            data.push_str(&rule(Point::new(*x, rect.top), Point::new(*x, rect.bottom)));
        }
        for (y, _) in frame.y.iter().filter(|(_, major)| *major == named) {
            data.push_str(&rule(Point::new(rect.left, *y), Point::new(rect.right, *y)));
        }
        if !data.is_empty() {
            let class = if named { "grid" } else { "fine" };
            let _ = writeln!(out, "<path class=\"{class}\" d=\"{data}\"/>");
        }
    }
    if panel.origin {
        let zero = frame.place(panel, 0.0, 0.0);
        let mut data = String::new();
        if (rect.left..=rect.right).contains(&zero.x) {
            data.push_str(&rule(Point::new(zero.x, rect.top), Point::new(zero.x, rect.bottom)));
        }
        if (rect.top..=rect.bottom).contains(&zero.y) {
            data.push_str(&rule(Point::new(rect.left, zero.y), Point::new(rect.right, zero.y)));
        }
        let _ = writeln!(out, "<path class=\"zero\" d=\"{data}\"/>");
    }
}

/// The frame with a tick outside at every name.
fn write_frame(out: &mut String, frame: &Frame) {
    let rect = frame.rect;
    let _ = writeln!(out, "<rect class=\"frame\" {}/>", HUNDREDTHS.rect(rect));
    let mut data = String::new();
    for (x, _) in frame.x.iter().filter(|(_, major)| *major) {
        data.push_str(&rule(Point::new(*x, rect.bottom), Point::new(*x, rect.bottom + 4.0)));
    }
    for (y, _) in frame.y.iter().filter(|(_, major)| *major) {
        data.push_str(&rule(Point::new(rect.left - 4.0, *y), Point::new(rect.left, *y)));
    }
    let _ = writeln!(out, "<path class=\"tick\" d=\"{data}\"/>");
}

/// The number of a style's colour: the curves, then the shades.
fn colour(style: Style) -> usize {
    style.colour % (COLOURS + SHADES)
}

fn line_class(style: Style) -> String {
    match style.dash % DASHES.len() {
        0 => format!("line c{}", colour(style)),
        dash => format!("line c{} d{dash}", colour(style)),
    }
}

fn write_layer(out: &mut String, panel: &Panel, frame: &Frame, layer: &Layer) {
    let named = |out: &mut String, class: &str| {
        let _ = write!(out, "<g class=\"{class}\">");
        if !layer.name().is_empty() {
            let _ = write!(out, "<title>{}</title>", escape(layer.name()));
        }
    };
    let place = |x: &f64, y: &f64| frame.place(panel, *x, *y);
    match layer {
        Layer::Line { style, x, y, .. } => {
            let drawn = pieces(x.iter().zip(y).map(|(x, y)| place(x, y)), frame.rect);
            if drawn.is_empty() {
                return;
            }
            named(out, "curve");
            let data: String = drawn.iter().map(|piece| HUNDREDTHS.path(piece)).collect();
            let _ = writeln!(out, "<path class=\"{}\" d=\"{data}\"/></g>", line_class(*style));
        }
        Layer::Band { style, x, lower, upper, opacity, .. } => {
            let edges: Vec<(Point, Point)> = x
                .iter()
                .zip(lower.iter().zip(upper))
                .map(|(x, (low, high))| (place(x, low), place(x, high)))
                .map(|(low, high)| open_ended(low, high, frame.rect))
                .collect();
            let whole = |(low, high): &(Point, Point)| {
                [low.x, low.y, high.x, high.y].iter().all(|value| value.is_finite())
            };
            named(out, "band");
            for part in edges.split(|pair| !whole(pair)).filter(|part| part.len() > 1) {
                let low: Vec<Point> = part.iter().map(|(low, _)| *low).collect();
                let mut area: Vec<Point> = part.iter().map(|(_, high)| *high).collect();
                area = super::curve::thin(&area);
                area.extend(super::curve::thin(&low).into_iter().rev());
                let area = clip_area(area, frame.rect);
                if area.len() > 2 {
                    let _ = write!(
                        out,
                        "<path class=\"a{}\" fill-opacity=\"{}\" d=\"{}Z\"/>",
                        colour(*style),
                        HUNDREDTHS.number(*opacity),
                        HUNDREDTHS.path(&area)
                    );
                }
            }
            out.push_str("</g>\n");
        }
        Layer::Marks { style, mark, points, .. } => {
            named(out, "marks");
            for (x, y) in points {
                let point = place(x, y);
                let within = frame.rect.grown(0.5);
                if (within.left..=within.right).contains(&point.x)
                    && (within.top..=within.bottom).contains(&point.y)
                {
                    write_mark(out, point, *mark, *style);
                }
            }
            out.push_str("</g>\n");
        }
        Layer::Bars { style, bars, .. } => {
            named(out, "bars");
            let slots = frame.y_range.1 - frame.y_range.0;
            let slot = frame.rect.height() / slots.max(1.0);
            for bar in bars {
                let (from, to) = (place(&bar.from, &0.0).x, place(&bar.to, &0.0).x);
                if !(from.is_finite() && to.is_finite()) {
                    continue;
                }
                let clamp = |x: f64| x.clamp(frame.rect.left, frame.rect.right);
                let (left, right) = (clamp(from.min(to)), clamp(from.max(to)));
                let middle = frame.rect.top + (bar.place as f64 + 0.5) * slot;
                write_area(
                    out,
                    Rect::new(left, middle - 0.31 * slot, right, middle + 0.31 * slot),
                    *style,
                    1.0,
                );
            }
            out.push_str("</g>\n");
        }
    }
}

/// A band that has one edge only (a level below zero has no decibels) reaches to the frame.
fn open_ended(low: Point, high: Point, frame: Rect) -> (Point, Point) {
    match (low.y.is_finite(), high.y.is_finite()) {
        (false, true) => (Point::new(high.x, frame.bottom), high),
        (true, false) => (low, Point::new(low.x, frame.top)),
        _ => (low, high),
    }
}

fn write_area(out: &mut String, rect: Rect, style: Style, opacity: f64) {
    let _ = write!(
        out,
        "<rect class=\"a{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{}\"/>",
        colour(style),
        HUNDREDTHS.number(rect.left),
        HUNDREDTHS.number(rect.top),
        HUNDREDTHS.number(rect.width()),
        HUNDREDTHS.number(rect.height()),
        HUNDREDTHS.number(opacity)
    );
}

fn write_mark(out: &mut String, at: Point, mark: Mark, style: Style) {
    let colour = colour(style);
    let corner = |dx: f64, dy: f64| Point::new(at.x + dx, at.y + dy);
    let _ = match mark {
        Mark::Cross => {
            let data =
                rule(corner(-4.2, -4.2), corner(4.2, 4.2)) + &rule(corner(-4.2, 4.2), corner(4.2, -4.2));
            write!(out, "<path class=\"mark c{colour}\" d=\"{data}\"/>")
        }
        Mark::Circle => write!(
            out,
            "<circle class=\"mark c{colour}\" cx=\"{}\" cy=\"{}\" r=\"4.6\"/>",
            HUNDREDTHS.number(at.x),
            HUNDREDTHS.number(at.y)
        ),
        Mark::Dot => write!(
            out,
            "<circle class=\"a{colour}\" cx=\"{}\" cy=\"{}\" r=\"2.4\"/>",
            HUNDREDTHS.number(at.x),
            HUNDREDTHS.number(at.y)
        ),
    };
}

fn write_samples(out: &mut String, layout: &Layout) {
    for (at, sample) in &layout.samples {
        match sample {
            Sample::Line(style) => {
                let data = rule(*at, Point::new(at.x + SAMPLE, at.y));
                let _ = write!(out, "<path class=\"{}\" d=\"{data}\"/>", line_class(*style));
            }
            Sample::Area(style, opacity) => {
                let rect = Rect::new(at.x, at.y - 5.0, at.x + SAMPLE, at.y + 5.0);
                write_area(out, rect, *style, *opacity);
            }
            Sample::Mark(style, mark) => {
                write_mark(out, Point::new(at.x + SAMPLE / 2.0, at.y), *mark, *style)
            }
            Sample::None => {}
        }
    }
    if !layout.samples.is_empty() {
        out.push('\n');
    }
}

fn write_label(out: &mut String, label: &Label) {
    let class = if label.strong { " class=\"strong\"" } else { "" };
    let (size, text) = (HUNDREDTHS.number(label.size), escape(&label.text));
    let _ = if label.upwards {
        let (x, y) = (
            HUNDREDTHS.number(label.rect.centre().x + 0.36 * label.size),
            HUNDREDTHS.number(label.rect.bottom),
        );
        writeln!(
            out,
            "<text{class} x=\"{x}\" y=\"{y}\" font-size=\"{size}\" transform=\"rotate(-90 {x} {y})\">{text}</text>"
        )
    } else {
        let (x, y) = (
            HUNDREDTHS.number(label.rect.left),
            HUNDREDTHS.number(label.rect.centre().y + 0.36 * label.size),
        );
        writeln!(out, "<text{class} x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{text}</text>")
    };
}
