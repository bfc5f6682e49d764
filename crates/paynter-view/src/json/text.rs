//! Documents as text: objects with one key a line, arrays of numbers on one
//! line, other arrays with one item a line.

use paynter_base::is_hidden;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io::{Result, Write};

/// Writes a document with a line break at its end.
pub fn write<T: Serialize>(document: &T, mut out: impl Write) -> Result<()> {
    document.serialize(&mut Serializer::with_formatter(&mut out, Layout::default()))?;
    out.write_all(b"\n")
}

/// A document as text, with a line break at its end.
pub fn text<T: Serialize>(document: &T) -> String {
    let mut out = Vec::with_capacity(1 << 12);
    match (write(document, &mut out), String::from_utf8(out)) {
        (Ok(()), Ok(text)) => text,
        // Only maps with keys that are no strings fail; the documents have none.
        _ => "{\"ok\": false, \"diagnostics\": []}\n".to_owned(),
    }
}

/// The item of an array that begins, before its kind has decided on which line it stands.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Item {
    /// None does.
    #[default]
    None,
    /// The first one.
    First,
    /// A later one.
    Next,
}

/// How documents are laid out.
#[derive(Default)]
struct Layout {
    /// How many objects and arrays are open.
    depth: usize,
    /// Whether the innermost object holds anything.
    filled: bool,
    /// For each open array, whether an item stands on a line of its own, so that the end does as well.
    lines: Vec<bool>,
    /// The item of the innermost array that begins.
    item: Item,
}

impl Layout {
    /// Begins a line.
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> Result<()> {
        const SPACES: &[u8] = b"\n                                ";
        match SPACES.get(..1 + 2 * self.depth) {
            Some(spaces) => out.write_all(spaces),
            None => {
                out.write_all(b"\n")?;
                (0..self.depth).try_for_each(|_| out.write_all(b"  "))
            }
        }
    }

    /// Goes to the place of a number, or of what stands for one.
    #[inline]
    fn number<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        if std::mem::take(&mut self.item) == Item::Next { out.write_all(b", ") } else { Ok(()) }
    }

    /// Goes to the place of a text, an object or an array.
    fn block<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        let item = std::mem::take(&mut self.item);
        if item == Item::None {
            return Ok(());
        }
        if let Some(lines) = self.lines.last_mut() {
            *lines = true;
        }
        if item == Item::Next {
            out.write_all(b",")?;
        }
        self.line(out)
    }
}

/// Writes numbers where the layout wants them, as serde_json spells them.
macro_rules! numbers {
    ($($name:ident: $kind:ty),*) => {
        $(
            #[inline]
            fn $name<W: ?Sized + Write>(&mut self, out: &mut W, value: $kind) -> Result<()> {
                self.number(out)?;
                CompactFormatter.$name(out, value)
            }
        )*
    };
}

impl Formatter for Layout {
    numbers!(
        write_bool: bool, write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128,
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_f32: f32,
        write_f64: f64, write_number_str: &str
    );

    fn write_null<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.number(out)?;
        out.write_all(b"null")
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.block(out)?;
        out.write_all(b"\"")
    }

    /// Characters that command a terminal or that nobody sees stand as their numbers.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> Result<()> {
        if !fragment.contains(is_hidden) {
            return out.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            let mut units = [0; 2];
            match is_hidden(c) {
                true => {
                    c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?
                }
                false => write!(out, "{c}")?,
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.block(out)?;
        self.depth += 1;
        self.lines.push(false);
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.depth -= 1;
        if self.lines.pop() == Some(true) {
            self.line(out)?;
        }
        out.write_all(b"]")
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> Result<()> {
        self.item = if first { Item::First } else { Item::Next };
        Ok(())
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.block(out)?;
        self.depth += 1;
        self.filled = false;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.depth -= 1;
        if self.filled {
            self.line(out)?;
        }
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::text;
    use serde_json::{Value, json};

    #[test]
    fn numbers_stand_on_one_line_and_all_else_on_its_own() {
        let document = json!({
            "a": [1, 2.5, null, -3e-9],
            "b": [],
            "c": {},
            "d": ["x", "y"],
            "e": [[1.0, 0.0], [0.0, 1.0]],
            "f": [{ "g": [] }, {}],
            "h": [[], [1]],
        });
        let expected = r#"{
  "a": [1, 2.5, null, -3e-9],
  "b": [],
  "c": {},
  "d": [
    "x",
    "y"
  ],
  "e": [
    [1.0, 0.0],
    [0.0, 1.0]
  ],
  "f": [
    {
      "g": []
    },
    {}
  ],
  "h": [
    [],
    [1]
  ]
}
"#;
        assert_eq!(text(&document), expected);
    }

    #[test]
    fn every_document_is_read_back_as_it_was() {
        let mut deep = json!([1, "a\"b\n\u{1}é", true, null, { "k": [false, 0.1, [2, [3]]] }]);
        for _ in 0..40 {
            deep = json!({ "in": [deep, 7] });
        }
        for document in [deep, json!(1.5), json!("x"), json!([]), json!([1, "a", 2, {}])] {
            let written = text(&document);
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), document, "{written}");
        }
    }
}
