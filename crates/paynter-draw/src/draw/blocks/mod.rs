//! Block diagrams: the signal-flow graph of a causal bond graph, drawn in
//! layers from left to right with its feedback running back between them.

mod close;
mod layers;
mod sfg;
mod wires;

use super::font::text_width;
use super::geometry::{Point, Rect};
use super::label::{LINE, SMALL};
use super::svg;
use crate::palette::{Palette, palette};
use crate::writer::{self, SvgStyle, TENTHS};
use std::fmt::Write;

pub use close::BlockLoop;

/// A block diagram to be drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockDiagram {
    /// The picture's title.
    pub title: String,
    /// Blocks, in the order of the text.
    pub blocks: Vec<Block>,
    /// Wires from output to input.
    pub wires: Vec<Wire>,
}

/// What a block does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Gives a signal from outside.
    Input,
    /// Shows a signal.
    Output,
    /// Computes its output by the formula in it.
    Function,
    /// Adds its inputs.
    Sum,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it does.
    pub kind: BlockKind,
    /// Its name or formula; empty for a sum.
    pub text: String,
    /// More about it, for the tooltip.
    pub note: String,
}

/// A wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// The block whose output it carries.
    pub from: usize,
    /// The block it enters.
    pub to: usize,
    /// Whether a sum takes it away.
    pub negative: bool,
}

/// A placed block diagram.
#[derive(Debug, Clone, Default)]
pub struct BlockDrawing {
    /// The picture's title.
    pub title: String,
    /// Everything lies in here.
    pub frame: Rect,
    /// The blocks with their boxes.
    pub blocks: Vec<(Block, Rect)>,
    /// Lines without heads.
    pub lines: Vec<(Point, Point)>,
    /// Where wires enter a block: the point, and whether they are taken away.
    pub heads: Vec<(Point, bool)>,
    /// Branch points.
    pub dots: Vec<Point>,
}

/// The size of a block's box.
fn size(block: &Block, inputs: usize) -> (f64, f64) {
    let width = text_width(&block.text, SMALL);
    match block.kind {
        BlockKind::Sum => (22.0, 26.0_f64.max(17.0 * inputs as f64)),
        BlockKind::Input | BlockKind::Output => (width + 6.0, LINE),
        BlockKind::Function => (width + 18.0, (LINE + 11.0).max(12.0 * inputs as f64)),
    }
}

/// Places and draws a block diagram.
pub fn draw_blocks(diagram: &BlockDiagram) -> BlockDrawing {
    let mut inputs = vec![0; diagram.blocks.len()];
    for wire in &diagram.wires {
        inputs[wire.to] += 1;
    }
    let sizes: Vec<(f64, f64)> =
        diagram.blocks.iter().zip(&inputs).map(|(block, &count)| size(block, count)).collect();
    let layering = layers::layers(diagram, &sizes);
    let mut drawing = wires::draw(diagram, &sizes, &layering);
    let boxes = drawing.blocks.iter().map(|(_, rect)| *rect);
    let lines = drawing.lines.iter().map(|&(a, b)| Rect::spanning(a, b));
    drawing.frame = boxes.chain(lines).reduce(Rect::union).unwrap_or_default().grown(14.0);
    drawing
}

/// Writes a block diagram as SVG.
pub fn blocks_svg(drawing: &BlockDrawing, style: &SvgStyle) -> String {
    let Palette { paper, ink, quiet, .. } = palette(style.theme);
    let mut out = writer::open(&drawing.title, drawing.frame, style, "");
    let _ = writeln!(
        out,
        "<style>{}text{{font-family:{},'Helvetica Neue',Arial,sans-serif;fill:{ink}}}\
         .wire{{fill:none;stroke:{quiet};stroke-width:1.1}}.head,.dot{{fill:{quiet}}}\
         .block rect,.block ellipse{{fill:{paper};stroke:{ink};stroke-width:1.3}}</style>",
        writer::font_face(style),
        super::font::FAMILY
    );
    if !style.transparent {
        writer::paper(&mut out, drawing.frame, paper);
    }
    for &(a, b) in &drawing.lines {
        let _ = writeln!(out, "<path class=\"wire\" d=\"{}\"/>", TENTHS.path(&[a, b]));
    }
    for &dot in &drawing.dots {
        let _ = writeln!(
            out,
            "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"2.6\"/>",
            TENTHS.number(dot.x),
            TENTHS.number(dot.y)
        );
    }
    for (block, rect) in &drawing.blocks {
        write_block(&mut out, block, *rect);
    }
    for &(tip, negative) in &drawing.heads {
        out.push_str(&svg::head(&[Point::new(tip.x - 10.0, tip.y), tip]));
        if negative {
            let (x, y) = (TENTHS.number(tip.x - 13.0), TENTHS.number(tip.y + 12.0));
            let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{SMALL}\">−</text>");
        }
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn write_block(out: &mut String, block: &Block, rect: Rect) {
    let centre = rect.centre();
    let _ = write!(out, "<g class=\"block\"><title>{}</title>", writer::escape(&block.note));
    match block.kind {
        BlockKind::Sum => {
            let _ = write!(
                out,
                "<ellipse cx=\"{}\" cy=\"{}\" rx=\"{}\" ry=\"{}\"/><text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\">Σ</text>",
                TENTHS.number(centre.x),
                TENTHS.number(centre.y),
                TENTHS.number(rect.width() / 2.0),
                TENTHS.number(rect.height() / 2.0),
                TENTHS.number(centre.x - text_width("Σ", SMALL) / 2.0),
                TENTHS.number(centre.y + 0.36 * SMALL)
            );
        }
        BlockKind::Function => {
            let _ = write!(out, "<rect {}/>", TENTHS.rect(rect));
        }
        BlockKind::Input | BlockKind::Output => {}
    }
    if block.kind != BlockKind::Sum {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\">{}</text>",
            TENTHS.number(centre.x - text_width(&block.text, SMALL) / 2.0),
            TENTHS.number(centre.y + 0.36 * SMALL),
            writer::escape(&block.text)
        );
    }
    out.push_str("</g>\n");
}
