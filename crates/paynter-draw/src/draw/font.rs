//! The embedded font: the one in which labels are measured and drawn.

use std::sync::OnceLock;

/// A subset of Inter (Latin, Greek, Cyrillic, mathematical signs) under the
/// SIL Open Font License; see `font/OFL.txt`.
pub const FONT: &[u8] = include_bytes!("../../font/Inter-Regular.subset.otf");

/// The font's family name, as the drawings ask for it.
pub const FAMILY: &str = "Inter";

/// Advance widths in units of the em, for the characters the font has.
struct Metrics {
    /// Sorted by character.
    advances: Vec<(char, f64)>,
}

fn metrics() -> &'static Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(|| {
        let mut advances = Vec::new();
        if let Ok(face) = ttf_parser::Face::parse(FONT, 0) {
            let em = f64::from(face.units_per_em());
            for point in 0x20..0x2600_u32 {
                let Some(character) = char::from_u32(point) else { continue };
                if let Some(glyph) = face.glyph_index(character) {
                    let advance = face.glyph_hor_advance(glyph).unwrap_or(0);
                    advances.push((character, f64::from(advance) / em));
                }
            }
        }
        Metrics { advances }
    })
}

/// Measures a line of text at a font size, in the drawing's units.
///
/// A character the font lacks counts as one em, the width of the widest
/// scripts, so that a foreign name never overlaps its neighbour.
pub fn text_width(text: &str, size: f64) -> f64 {
    let advances = &metrics().advances;
    let ems: f64 = text
        .chars()
        .map(|character| match advances.binary_search_by_key(&character, |entry| entry.0) {
            Ok(index) => advances[index].1,
            Err(_) => 1.0,
        })
        .sum();
    ems * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_knows_the_signs_of_the_field() {
        let known = &metrics().advances;
        for character in "R:winding=Ra 0123 αωΔφ ±·∫∂√∞ ₀₁₉ ²⁻¹ →".chars() {
            assert!(known.binary_search_by_key(&character, |entry| entry.0).is_ok(), "{character}");
        }
        assert!(text_width("winding", 13.0) > text_width("wind", 13.0));
        assert_eq!(text_width("漢", 10.0), 10.0);
    }
}
