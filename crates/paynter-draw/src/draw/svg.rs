//! The SVG writer: one group per thing, with a class and a tooltip.

use super::diagram::{NodeKind, NodeStyle};
use super::font::{FAMILY, FONT};
use super::geometry::{Point, Rect};
use super::label::{CAPSULE, SMALL};
use super::scene::{Drawing, DrawnBond, DrawnGroup, DrawnNode, DrawnSignal};
use std::fmt::Write;

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark ink on light paper.
    #[default]
    Light,
    /// Light ink on dark paper.
    Dark,
    /// The colours of the page around it, by the variables of [`page_variables`].
    Page,
}

/// How a drawing is written.
#[derive(Debug, Clone, PartialEq)]
pub struct SvgStyle {
    /// The colours.
    pub theme: Theme,
    /// Whether the paper is left transparent.
    pub transparent: bool,
    /// Whether the font is put into the file, so that it looks the same everywhere.
    pub embed_font: bool,
    /// Magnification.
    pub scale: f64,
}

impl Default for SvgStyle {
    fn default() -> SvgStyle {
        SvgStyle { theme: Theme::Light, transparent: false, embed_font: false, scale: 1.0 }
    }
}

/// The colours of a theme. In grey they stay apart by lightness, weight and dashes.
struct Palette {
    paper: &'static str,
    ink: &'static str,
    quiet: &'static str,
    source: &'static str,
    store: &'static str,
    loss: &'static str,
    signal: &'static str,
    mark: &'static str,
    mark_paper: &'static str,
    bad: &'static str,
    group: &'static str,
}

const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#16181d",
    quiet: "#5a6270",
    source: "#0b6b3a",
    store: "#1d4fa3",
    loss: "#a03412",
    signal: "#5a6270",
    mark: "#b3006b",
    mark_paper: "#fbe3f1",
    bad: "#c00000",
    group: "#f3f5f8",
};

const DARK: Palette = Palette {
    paper: "#14171c",
    ink: "#eceff4",
    quiet: "#a3acba",
    source: "#67d69a",
    store: "#8ab8ff",
    loss: "#ff9d76",
    signal: "#a3acba",
    mark: "#ff7ac8",
    mark_paper: "#43203a",
    bad: "#ff6b6b",
    group: "#1d2128",
};

/// Colours that the page around a drawing decides.
const PAGE: Palette = Palette {
    paper: "var(--paper)",
    ink: "var(--ink)",
    quiet: "var(--quiet)",
    source: "var(--source)",
    store: "var(--store)",
    loss: "var(--loss)",
    signal: "var(--signal)",
    mark: "var(--mark)",
    mark_paper: "var(--mark-paper)",
    bad: "var(--bad)",
    group: "var(--group)",
};

/// The variables that drawings and plots with [`Theme::Page`] use, as CSS
/// declarations with the colours of a theme.
pub fn page_variables(theme: Theme) -> String {
    let Palette { paper, ink, quiet, source, store, loss, signal, mark, mark_paper, bad, group } =
        palette(theme);
    let own = [
        ("paper", paper),
        ("ink", ink),
        ("quiet", quiet),
        ("source", source),
        ("store", store),
        ("loss", loss),
        ("signal", signal),
        ("mark", mark),
        ("mark-paper", mark_paper),
        ("bad", bad),
        ("group", group),
    ];
    let mut out: String = own.iter().map(|(name, colour)| format!("--{name}:{colour};")).collect();
    out.push_str(&crate::plot::variables(theme));
    out
}

/// The embedded font for a page, as a CSS rule.
pub fn page_font() -> String {
    font_face(&SvgStyle { embed_font: true, ..SvgStyle::default() })
}

/// Writes a drawing as SVG.
pub fn svg(drawing: &Drawing, style: &SvgStyle) -> String {
    let palette = palette(style.theme);
    let mut out = open(&drawing.title, drawing.frame, style, "");
    // Sinks that a derived graph adds have a colour of their own.
    let added = if drawing.nodes.iter().any(|node| node.style == NodeStyle::AddedSink) {
        let mark = palette.mark;
        format!(".added .box{{stroke:{mark}}}.added .sign,.added .text{{fill:{mark}}}")
    } else {
        String::new()
    };
    let _ = writeln!(out, "<style>{}{}{added}</style>", font_face(style), rules(palette));
    if !style.transparent {
        paper(&mut out, drawing.frame, palette.paper);
    }
    for group in &drawing.groups {
        write_group(&mut out, group);
    }
    for node in drawing.nodes.iter().filter(|node| node.highlighted) {
        out.push_str("<g class=\"marked\">");
        write_box(&mut out, "halo", node.main, 6.0);
        out.push_str("</g>\n");
    }
    for bond in &drawing.bonds {
        write_bond(&mut out, bond);
    }
    for signal in &drawing.signals {
        write_signal(&mut out, signal);
    }
    for node in &drawing.nodes {
        write_node(&mut out, node);
    }
    out.push_str("</svg>\n");
    out
}

fn palette(theme: Theme) -> &'static Palette {
    match theme {
        Theme::Light => &LIGHT,
        Theme::Dark => &DARK,
        Theme::Page => &PAGE,
    }
}

/// Opens the document, with further attributes of its root.
pub(crate) fn open(title: &str, frame: Rect, style: &SvgStyle, attributes: &str) -> String {
    let (width, height) = (frame.width(), frame.height());
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"{} {} {} {}\" role=\"img\"{attributes}>",
        number(width * style.scale),
        number(height * style.scale),
        number(frame.left),
        number(frame.top),
        number(width),
        number(height)
    );
    let _ = writeln!(out, "<title>{}</title>", escape(title));
    out
}

pub(crate) fn paper(out: &mut String, frame: Rect, colour: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\"/>",
        number(frame.left),
        number(frame.top),
        number(frame.width()),
        number(frame.height())
    );
}

/// The embedded font, where it is asked for.
pub(crate) fn font_face(style: &SvgStyle) -> String {
    if style.embed_font {
        format!("@font-face{{font-family:{FAMILY};src:url(data:font/otf;base64,{})}}", base64(FONT))
    } else {
        String::new()
    }
}

fn rules(palette: &Palette) -> String {
    let Palette { ink, quiet, source, store, loss, signal, mark, mark_paper, bad, group, .. } = palette;
    [
        format!("text{{font-family:{FAMILY},'Helvetica Neue',Arial,sans-serif;fill:{ink}}}"),
        format!(".bond path{{fill:none;stroke:{ink};stroke-width:1.3}}"),
        ".bond .causal{stroke-width:2}".to_owned(),
        ".bond.vector path{stroke-width:3.2}".to_owned(),
        ".bond.vector .causal{stroke-width:3.6}".to_owned(),
        format!(".bond.marked path{{stroke:{mark};stroke-width:2.8}}"),
        format!(".bond.marked text{{fill:{mark}}}"),
        format!(".bond text{{fill:{quiet}}}"),
        format!(".signal path{{fill:none;stroke:{signal};stroke-width:0.9}}"),
        format!(".signal .head{{fill:{signal};stroke:none}}"),
        format!(".signal.marked path{{stroke:{mark};stroke-width:2}}"),
        format!(".source .sign{{fill:{source}}}"),
        format!(".store .sign{{fill:{store}}}"),
        format!(".loss .sign{{fill:{loss}}}"),
        format!(".text{{fill:{ink}}}"),
        format!(".aside{{fill:{quiet}}}"),
        format!(".box{{fill:none;stroke:{quiet};stroke-width:0.9}}"),
        format!(".submodel .box{{stroke:{ink};stroke-width:1.3}}"),
        format!(".added .box{{stroke:{ink};stroke-dasharray:2 2}}"),
        format!(".auxiliary .box{{stroke:{ink};stroke-width:1.6}}"),
        format!(".bad .box{{stroke:{bad};stroke-width:1.8;stroke-dasharray:5 3}}"),
        format!(".bad .sign,.bad .text,.bad .aside{{fill:{bad}}}"),
        format!(".marked .halo{{fill:{mark_paper};stroke:{mark};stroke-width:1.2}}"),
        format!(".group path{{fill:{group};stroke:{quiet};stroke-width:1;stroke-dasharray:6 3}}"),
        format!(".group text{{fill:{quiet}}}"),
    ]
    .concat()
}

fn write_group(out: &mut String, group: &DrawnGroup) {
    let _ = writeln!(
        out,
        "<g class=\"group\"><path d=\"{}Z\"/><text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\">{}</text></g>",
        path(&group.outline),
        number(group.label.left),
        number(group.label.centre().y + 0.36 * SMALL),
        escape(&group.name)
    );
}

fn write_bond(out: &mut String, bond: &DrawnBond) {
    let class = match (bond.bold, bond.highlighted) {
        (false, false) => "bond",
        (true, false) => "bond vector",
        (false, true) => "bond marked",
        (true, true) => "bond vector marked",
    };
    let _ = write!(out, "<g class=\"{class}\"><title>{}</title>", escape(&bond.note));
    let mut line = bond.way.clone();
    line.push(bond.barb);
    let _ = write!(out, "<path d=\"{}\" stroke-linejoin=\"bevel\"/>", path(&line));
    if let Some((a, b)) = bond.stroke {
        let _ = write!(out, "<path class=\"causal\" d=\"{}\"/>", path(&[a, b]));
    }
    for (text, rect) in &bond.labels {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\">{}</text>",
            number(rect.left),
            number(rect.centre().y + 0.36 * SMALL),
            escape(text)
        );
    }
    out.push_str("</g>\n");
}

fn write_signal(out: &mut String, signal: &DrawnSignal) {
    let class = if signal.highlighted { "signal marked" } else { "signal" };
    let _ = write!(out, "<g class=\"{class}\"><title>{}</title>", escape(&signal.note));
    let _ = write!(out, "<path d=\"{}\"/>", path(&signal.way));
    out.push_str(&head(&signal.way));
    out.push_str("</g>\n");
}

/// A full arrow head at the end of a way.
pub(super) fn head(way: &[Point]) -> String {
    let [.., back, tip] = way else { return String::new() };
    let along = tip.direction(*back);
    let across = Point::new(-along.y, along.x);
    let base = tip.along(along, 8.0);
    format!(
        "<path class=\"head\" d=\"{}Z\"/>",
        path(&[*tip, base.along(across, 3.0), base.along(across, -3.0)])
    )
}

fn write_node(out: &mut String, node: &DrawnNode) {
    let mut class = match node.kind {
        NodeKind::Se | NodeKind::Sf => "node source",
        NodeKind::C | NodeKind::I => "node store",
        NodeKind::R | NodeKind::Rs | NodeKind::Sw => "node loss",
        NodeKind::Tf | NodeKind::Gy => "node two-port",
        NodeKind::Zero | NodeKind::One => "node junction",
        NodeKind::De | NodeKind::Df => "node detector",
        NodeKind::Signal => "node signal-block",
        NodeKind::Submodel => "node submodel",
    }
    .to_owned();
    class.push_str(match node.style {
        NodeStyle::Normal => "",
        NodeStyle::AddedSink => " added",
        NodeStyle::AuxiliaryInput => " auxiliary",
        NodeStyle::Bad => " bad",
    });
    if node.highlighted {
        class.push_str(" marked");
    }
    let _ = write!(out, "<g class=\"{class}\"><title>{}</title>", escape(&node.note));
    let framed =
        node.style != NodeStyle::Normal || matches!(node.kind, NodeKind::Submodel | NodeKind::Signal);
    if framed {
        let round = if node.kind == NodeKind::Signal { 7.0 } else { 2.0 };
        write_box(out, "box", node.main, round);
    } else if matches!(node.kind, NodeKind::De | NodeKind::Df)
        && let Some(sign) = node.runs.iter().find(|run| run.sign)
    {
        // A detector's sign stands in a capsule, like a gauge.
        let width = super::font::text_width(&sign.text, sign.size);
        let centre = Point::new(sign.at.x + width / 2.0, sign.at.y);
        write_box(out, "box", Rect::centred(centre, width + 2.0 * CAPSULE - 0.5, sign.size + 3.0), 8.0);
    }
    for run in &node.runs {
        let class = match (run.sign, run.size < 13.0) {
            (true, _) => "sign",
            (false, false) => "text",
            (false, true) => "aside",
        };
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text>",
            number(run.at.x),
            number(run.at.y + 0.36 * run.size),
            number(run.size),
            escape(&run.text)
        );
    }
    out.push_str("</g>\n");
}

fn write_box(out: &mut String, class: &str, rect: Rect, round: f64) {
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        number(rect.left),
        number(rect.top),
        number(rect.width()),
        number(rect.height()),
        number(round)
    );
}

/// The data of a path through points.
pub(super) fn path(points: &[Point]) -> String {
    let mut data = String::new();
    for (index, point) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{letter}{} {}", number(point.x), number(point.y));
    }
    data
}

/// A number with at most one decimal.
pub fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Negative zero reads badly.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// Text safe inside SVG; control characters become spaces.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let digit = (word >> (18 - 6 * index)) & 63;
            out.push(if index <= chunk.len() { DIGITS[digit as usize] as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_text_are_encoded() {
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"M"), "TQ==");
        assert_eq!(escape("a<b & \"c\"\u{1}"), "a&lt;b &amp; &quot;c&quot; ");
        assert_eq!((number(-0.01), number(1.25), number(3.0)), ("0".into(), "1.3".into(), "3".into()));
    }
}
