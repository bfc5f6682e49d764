//! Legends: in rows above what they explain, where they cover nothing.

use super::figure::{Figure, Layer, Mark, Panel, Style};
use crate::draw::text_width;

/// Font size of a legend.
pub const LEGEND_SIZE: f64 = 12.0;
/// The height of a row.
pub const ROW: f64 = 18.0;
/// The width of a sample.
pub const SAMPLE: f64 = 24.0;
/// Between a sample and its name, and between two entries.
const GAPS: (f64, f64) = (6.0, 18.0);
/// Entries beyond are counted only.
const LEGEND_ENTRIES: usize = 28;

/// How a layer is drawn, in small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// A line.
    Line(Style),
    /// A filled area with its opacity.
    Area(Style, f64),
    /// A sign.
    Mark(Style, Mark),
    /// Nothing: the rest has no sample.
    None,
}

/// An entry with its place relative to the legend's upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it is.
    pub name: String,
    /// How it is drawn.
    pub sample: Sample,
    /// Where its sample begins.
    pub x: f64,
    /// Which row it is in.
    pub row: usize,
}

/// Names with samples, in the order of the layers, each once.
fn names(layers: &[Layer]) -> Vec<(String, Sample)> {
    let mut found: Vec<(String, Sample)> = Vec::new();
    for layer in layers {
        let name = layer.name();
        if name.is_empty() || found.iter().any(|(other, _)| other == name) {
            continue;
        }
        let sample = match layer {
            Layer::Line { style, .. } => Sample::Line(*style),
            Layer::Band { style, opacity, .. } => Sample::Area(*style, *opacity),
            Layer::Marks { style, mark, .. } => Sample::Mark(*style, *mark),
            Layer::Bars { style, .. } => Sample::Area(*style, 1.0),
        };
        found.push((name.to_owned(), sample));
    }
    found
}

/// The legends of a figure: one for all its panels where they show the same
/// things, else one for each. A single thing needs none: the title or axis names it.
pub fn legends(figure: &Figure, width: f64) -> (Vec<Entry>, Vec<Vec<Entry>>) {
    let all: Vec<Vec<(String, Sample)>> =
        figure.panels.iter().map(|panel: &Panel| names(&panel.layers)).collect();
    let common = all.windows(2).all(|pair| pair[0] == pair[1]);
    let rows = |names: &[(String, Sample)]| if names.len() > 1 { rows(names, width) } else { Vec::new() };
    if common {
        let first = all.first().map_or_else(Vec::new, |names| rows(names));
        (first, vec![Vec::new(); all.len()])
    } else {
        (Vec::new(), all.iter().map(|names| rows(names)).collect())
    }
}

/// Sets entries in rows of a width.
fn rows(names: &[(String, Sample)], width: f64) -> Vec<Entry> {
    let mut entries: Vec<(String, Sample)> = names.iter().take(LEGEND_ENTRIES).cloned().collect();
    if names.len() > LEGEND_ENTRIES {
        entries.push((format!("and {} more", names.len() - LEGEND_ENTRIES), Sample::None));
    }
    let (mut x, mut row) = (0.0, 0);
    let mut out = Vec::new();
    for (name, sample) in entries {
        let name = cut(&name, LEGEND_SIZE, width - SAMPLE - GAPS.0);
        let lead = if sample == Sample::None { 0.0 } else { SAMPLE + GAPS.0 };
        let length = lead + text_width(&name, LEGEND_SIZE);
        if x > 0.0 && x + length > width {
            (x, row) = (0.0, row + 1);
        }
        out.push(Entry { name, sample, x, row });
        x += length + GAPS.1;
    }
    out
}

/// Where an entry's name begins.
pub fn name_offset(sample: Sample) -> f64 {
    if sample == Sample::None { 0.0 } else { SAMPLE + GAPS.0 }
}

/// The height of a legend.
pub fn height(entries: &[Entry]) -> f64 {
    entries.last().map_or(0.0, |entry| (entry.row + 1) as f64 * ROW)
}

/// Text shortened with an ellipsis to fit a width.
pub fn cut(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        short.push(character);
        if text_width(&short, size) + text_width("…", size) > width {
            short.pop();
            break;
        }
    }
    format!("{}…", short.trim_end())
}
