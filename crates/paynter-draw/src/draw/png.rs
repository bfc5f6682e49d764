//! PNG from our own SVG, with the embedded font and no other.

use super::font::{FAMILY, FONT};
use resvg::{tiny_skia, usvg};

/// The most pixels a picture may have.
const MOST_PIXELS: f64 = 120e6;

/// Why a PNG could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PngError {
    /// The picture would be too large; the sides in pixels.
    TooLarge(u32, u32),
    /// The SVG was refused, with the reason.
    Refused(String),
}

impl std::fmt::Display for PngError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PngError::TooLarge(width, height) => {
                write!(formatter, "the picture would have {width} × {height} pixels")
            }
            PngError::Refused(reason) => write!(formatter, "the picture could not be rendered: {reason}"),
        }
    }
}

impl std::error::Error for PngError {}

/// Renders an SVG as PNG, each unit of it as `scale` pixels.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options { font_family: FAMILY.to_owned(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| PngError::Refused(error.to_string()))?;
    let size = tree.size();
    let pixels = |length: f32| (f64::from(length) * scale).ceil().clamp(1.0, 1e6) as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let too_large = PngError::TooLarge(width, height);
    if f64::from(width) * f64::from(height) > MOST_PIXELS {
        return Err(too_large);
    }
    let mut pixmap = tiny_skia::Pixmap::new(width, height).ok_or(too_large)?;
    let transform = tiny_skia::Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PngError::Refused(error.to_string()))
}
