//! The layout and drawing of bond graphs as a textbook would.
//!
//! A [`Diagram`] is plain data; [`draw`] places everything and gives a
//! [`Drawing`], which [`svg`] writes and [`png`] renders. Half arrows and
//! flows stand below or at the right of a bond, efforts above or at the left;
//! the causal stroke stands at the end where effort enters the element.

mod blocks;
mod diagram;
mod fold;
mod font;
mod geometry;
mod hull;
mod index;
mod label;
mod layout;
mod model;
mod paths;
mod png;
mod positions;
mod route;
mod scene;
mod svg;

pub use crate::palette::{Theme, page_variables};
pub use crate::writer::{SvgStyle, escape, page_font};
pub use blocks::{Block, BlockDiagram, BlockDrawing, BlockKind, BlockLoop, Wire, blocks_svg, draw_blocks};
pub use diagram::{Bond, Diagram, Group, Node, NodeKind, NodeStyle, SignalArrow, Stroke};
pub use fold::Fold;
pub use font::{FAMILY, FONT, text_width};
pub use geometry::{Point, Rect, segments_cross};
pub use label::Run;
pub use paths::{causal_path, causal_path_between};
pub use png::{PngError, png};
pub use positions::Positions;
pub use scene::{Drawing, DrawnBond, DrawnGroup, DrawnNode, DrawnSignal, flow_side};
pub use svg::svg;

/// What a drawing shows.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawOptions {
    /// Junctions as `p` and `s` instead of `0` and `1`.
    pub letters: bool,
    /// Values after the names (`= Ra`).
    pub values: bool,
    /// The number of every bond.
    pub numbers: bool,
    /// The effort and the flow of every bond.
    pub variables: bool,
    /// Boxes round submodels.
    pub boxes: bool,
    /// Submodels as single boxes.
    pub fold: Fold,
}

impl Default for DrawOptions {
    fn default() -> DrawOptions {
        DrawOptions {
            letters: false,
            values: true,
            numbers: false,
            variables: false,
            boxes: false,
            fold: Fold::Automatic,
        }
    }
}

/// Places and draws a diagram.
pub fn draw(diagram: &Diagram, options: &DrawOptions) -> Drawing {
    draw_at(diagram, options, &Positions::default())
}

/// Places and draws a diagram, with some places chosen by a person; see
/// [`Positions::unknown`] for names that no longer stand for anything.
pub fn draw_at(diagram: &Diagram, options: &DrawOptions, positions: &Positions) -> Drawing {
    let folded = fold::fold(diagram, options.fold);
    let mut placement = layout::arrange(&folded, options);
    positions.apply(&folded, &mut placement, options);
    scene::build(&folded, &placement, options)
}
