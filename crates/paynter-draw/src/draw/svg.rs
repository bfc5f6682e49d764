//! Drawings of bond graphs as SVG: one group per thing, with a class and a tooltip.

use super::diagram::{NodeKind, NodeStyle};
use super::font::FAMILY;
use super::geometry::{Point, Rect};
use super::label::{CAPSULE, SMALL};
use super::scene::{Drawing, DrawnBond, DrawnGroup, DrawnNode, DrawnSignal};
use crate::palette::{Palette, palette};
use crate::writer::{SvgStyle, TENTHS, escape, font_face, open, paper};
use paynter_graph::Class;
use std::fmt::Write;

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
        TENTHS.path(&group.outline),
        TENTHS.number(group.label.left),
        TENTHS.number(group.label.centre().y + 0.36 * SMALL),
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
    let _ = write!(out, "<path d=\"{}\" stroke-linejoin=\"bevel\"/>", TENTHS.path(&line));
    if let Some((a, b)) = bond.stroke {
        let _ = write!(out, "<path class=\"causal\" d=\"{}\"/>", TENTHS.path(&[a, b]));
    }
    for (text, rect) in &bond.labels {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\">{}</text>",
            TENTHS.number(rect.left),
            TENTHS.number(rect.centre().y + 0.36 * SMALL),
            escape(text)
        );
    }
    out.push_str("</g>\n");
}

fn write_signal(out: &mut String, signal: &DrawnSignal) {
    let class = if signal.highlighted { "signal marked" } else { "signal" };
    let _ = write!(out, "<g class=\"{class}\"><title>{}</title>", escape(&signal.note));
    let _ = write!(out, "<path d=\"{}\"/>", TENTHS.path(&signal.way));
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
        TENTHS.path(&[*tip, base.along(across, 3.0), base.along(across, -3.0)])
    )
}

fn write_node(out: &mut String, node: &DrawnNode) {
    let mut class = match (node.kind, node.kind.class()) {
        (_, Some(Class::Source(_))) => "node source",
        (_, Some(Class::Storage(_))) => "node store",
        (_, Some(Class::Resistor | Class::EntropySource)) => "node loss",
        (_, Some(Class::Transformer | Class::Gyrator)) => "node two-port",
        (_, Some(Class::Junction(_))) => "node junction",
        (_, Some(Class::Detector(_))) => "node detector",
        (NodeKind::Submodel, None) => "node submodel",
        (_, None) => "node signal-block",
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
    } else if node.kind.is_detector()
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
            TENTHS.number(run.at.x),
            TENTHS.number(run.at.y + 0.36 * run.size),
            TENTHS.number(run.size),
            escape(&run.text)
        );
    }
    out.push_str("</g>\n");
}

fn write_box(out: &mut String, class: &str, rect: Rect, round: f64) {
    let _ = write!(out, "<rect class=\"{class}\" {} rx=\"{}\"/>", TENTHS.rect(rect), TENTHS.number(round));
}
