//! What every SVG picture is written with: the document around it, its font,
//! numbers and paths, text that is safe inside it.

use crate::draw::{FAMILY, FONT, Point, Rect};
use crate::palette::Theme;
use paynter_base::is_hidden;
use paynter_base::number::rounded;
use std::fmt::Write;

/// How a picture is written.
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

/// How finely coordinates are written: the number of their decimals at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Precision(i32);

/// Lines and labels of drawings.
pub(crate) const TENTHS: Precision = Precision(1);

/// Plots: curves stay smooth when they are magnified.
pub(crate) const HUNDREDTHS: Precision = Precision(2);

impl Precision {
    /// Writes a coordinate.
    pub fn number(self, value: f64) -> String {
        rounded(value, self.0)
    }

    /// Writes the data of a path through points.
    pub fn path(self, points: &[Point]) -> String {
        let mut data = String::new();
        for (index, point) in points.iter().enumerate() {
            let letter = if index == 0 { 'M' } else { 'L' };
            let _ = write!(data, "{letter}{} {}", self.number(point.x), self.number(point.y));
        }
        data
    }

    /// Writes the attributes that place a rectangle.
    pub fn rect(self, rect: Rect) -> String {
        format!(
            "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            self.number(rect.left),
            self.number(rect.top),
            self.number(rect.width()),
            self.number(rect.height())
        )
    }
}

/// Opens the document, with further attributes of its root.
pub(crate) fn open(title: &str, frame: Rect, style: &SvgStyle, attributes: &str) -> String {
    let (width, height) = (frame.width(), frame.height());
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"{} {} {} {}\" role=\"img\"{attributes}>",
        TENTHS.number(width * style.scale),
        TENTHS.number(height * style.scale),
        TENTHS.number(frame.left),
        TENTHS.number(frame.top),
        TENTHS.number(width),
        TENTHS.number(height)
    );
    let _ = writeln!(out, "<title>{}</title>", escape(title));
    out
}

/// Fills the frame with the colour of the paper.
pub(crate) fn paper(out: &mut String, frame: Rect, colour: &str) {
    let _ = writeln!(out, "<rect {} fill=\"{colour}\"/>", TENTHS.rect(frame));
}

/// The embedded font, where it is asked for.
pub(crate) fn font_face(style: &SvgStyle) -> String {
    if style.embed_font {
        format!("@font-face{{font-family:{FAMILY};src:url(data:font/otf;base64,{})}}", base64(FONT))
    } else {
        String::new()
    }
}

/// The embedded font for a page, as a CSS rule.
pub fn page_font() -> String {
    font_face(&SvgStyle { embed_font: true, ..SvgStyle::default() })
}

/// Text safe inside SVG; control characters become spaces, others that nobody sees their numbers.
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
            hidden if is_hidden(hidden) => out.push_str(&format!("&lt;U+{:04X}&gt;", hidden as u32)),
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
    }

    #[test]
    fn paths_have_the_decimals_of_their_precision() {
        let points = [Point::new(-0.001, 1.256), Point::new(3.0, 0.0)];
        assert_eq!(TENTHS.path(&points), "M0 1.3L3 0");
        assert_eq!(HUNDREDTHS.path(&points), "M0 1.26L3 0");
    }
}
