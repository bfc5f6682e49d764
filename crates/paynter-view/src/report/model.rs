//! The sections on the model itself: its picture, its quantities, what was found.

use super::equations::REPORTED_NODES;
use super::{Block, Cell, Section};
use paynter_algebra::{Pool, Target};
use paynter_base::{Diagnostic, Diagnostics, Remedy, Severity, SourceMap};
use paynter_draw::draw::{Diagram, DrawOptions, SvgStyle, Theme, draw, svg};
use paynter_draw::plot::{plain, unit};
use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, Tolerance};

/// The style of every picture on the page.
pub(super) fn page_style() -> SvgStyle {
    SvgStyle { theme: Theme::Page, transparent: true, ..SvgStyle::default() }
}

/// The bond graph as a picture.
pub fn drawing(diagram: &Diagram) -> Section {
    let mut section = Section::new("drawing", "Bond graph");
    let drawing = draw(diagram, &DrawOptions::default());
    section.picture(
        svg(&drawing, &page_style()),
        drawing.frame.width(),
        "Half arrows show where power counts positive; a causal stroke stands at the end where effort enters the element.",
    );
    section
}

/// A number in a unit, as the model writes it.
fn in_unit(number: f64, of: Option<&Unit>) -> Cell {
    Cell::Number(plain(number / of.map_or(1.0, |unit| unit.factor), 6))
}

fn unit_cell(of: Option<&Unit>) -> Cell {
    Cell::Text(of.map_or(String::new(), |of| unit(&of.text)))
}

/// Parameters, inputs and outputs.
pub fn model(pool: &Pool, graph: &BondGraph) -> Section {
    let mut section = Section::new("model", "Parameters, inputs and outputs");
    let words = |text: &Option<String>| Cell::Text(text.clone().unwrap_or_default());
    if graph.parameters.is_empty() {
        section.text("The model has no parameters.");
    } else {
        let rows = graph.parameters.iter().map(|p| {
            let factor = p.unit.as_ref().map_or(1.0, |unit| unit.factor);
            let tolerance = match p.tolerance {
                Some(Tolerance::Relative(part)) => format!("±{} %", plain(100.0 * part, 4)),
                Some(Tolerance::Absolute(size)) => format!("±{}", plain(size / factor, 4)),
                None => String::new(),
            };
            let bounds = p.bounds.map_or(String::new(), |(low, high)| {
                format!("{} … {}", plain(low / factor, 4), plain(high / factor, 4))
            });
            vec![
                Cell::Name(p.name.clone()),
                in_unit(p.number, p.unit.as_ref()),
                unit_cell(p.unit.as_ref()),
                Cell::Text(tolerance),
                Cell::Text(bounds),
                words(&p.doc),
            ]
        });
        let head = ["Parameter", "Value", "Unit", "Tolerance", "Bounds", "Meaning"];
        section.table("Parameters", &head, rows.collect(), "check json");
    }
    let formula = |e| match pool.written_size(&[e]) > REPORTED_NODES {
        true => Cell::Text("…".to_owned()),
        false => Cell::Math(pool.print(e, Target::MathMl).to_string()),
    };
    // A submodel's parameter that only passes another one on says nothing new.
    let defined: Vec<_> = graph.derived.iter().filter(|d| pool.as_symbol(d.value).is_none()).collect();
    if !defined.is_empty() {
        let rows = defined
            .into_iter()
            .map(|d| vec![Cell::Name(d.name.clone()), formula(d.value), unit_cell(d.unit.as_ref())]);
        section.table(
            "Derived parameters",
            &["Parameter", "Definition", "Unit"],
            rows.collect(),
            "equations",
        );
    }
    if graph.inputs.is_empty() {
        section.text("The model has no inputs.");
    } else {
        let rows = graph.inputs.iter().map(|input| {
            vec![
                Cell::Name(input.name.clone()),
                formula(input.value),
                unit_cell(input.unit.as_ref()),
                words(&input.doc),
            ]
        });
        section.table(
            "Inputs, with their values in SI",
            &["Input", "Value", "Unit", "Meaning"],
            rows.collect(),
            "equations",
        );
    }
    if graph.outputs.is_empty() {
        section.text("The model has no outputs.");
    } else {
        let rows = graph.outputs.iter().map(|output| {
            vec![
                Cell::Name(output.name.clone()),
                formula(output.value),
                unit_cell(output.unit.as_ref()),
                words(&output.doc),
            ]
        });
        section.table("Outputs", &["Output", "Reads", "Unit", "Meaning"], rows.collect(), "equations");
    }
    section
}

/// What was found while the model was read.
pub fn findings(diagnostics: &Diagnostics, sources: &SourceMap) -> Section {
    let mut section = Section::new("findings", "Findings");
    if diagnostics.is_empty() {
        section.text("Nothing is wrong with the model.");
        return section;
    }
    let point = |d: &Diagnostic| {
        let severity = match d.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Note => "Note",
        };
        let place = d.span.and_then(|span| Some((sources.get(span.file)?, span.start)));
        let place = place.map_or_else(String::new, |(source, offset)| {
            format!(" ({}, line {})", source.path, source.line_column(offset).line)
        });
        Remedy::from(format!("{severity} {}{place}: {}. Remedy: ", d.code.id(), d.message))
            .and(d.help.clone())
            .and(".")
    };
    section.blocks.push(Block::List(diagnostics.iter().map(point).collect()));
    section
}
