//! Layout files: positions a person has chosen, as a small JSON document
//! `{"name": [x, y], …}`.

use paynter_base::number::rounded;
use paynter_draw::draw::{Point, Positions};
use std::collections::BTreeMap;

/// Reads a layout file.
pub fn read_layout(text: &str) -> Result<Positions, String> {
    let places: BTreeMap<String, [f64; 2]> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Positions::new(places.into_iter().map(|(name, [x, y])| (name, Point::new(x, y))).collect())
}

/// Writes a layout file, one name a line.
pub fn write_layout(positions: &Positions) -> String {
    let line = |(name, place): (&String, &Point)| {
        let name = serde_json::Value::from(name.as_str());
        format!("  {name}: [{}, {}]", rounded(place.x, 1), rounded(place.y, 1))
    };
    let lines: Vec<String> = positions.places().iter().map(line).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_layout_file_is_read_as_it_was_written() {
        let places = [("a \"b\"", Point::new(-300.0, 12.5)), ("é", Point::new(0.04, -0.04))];
        let positions =
            Positions::new(places.map(|(name, at)| (name.to_owned(), at)).into_iter().collect()).unwrap();
        let text = write_layout(&positions);
        assert_eq!(text, "{\n  \"a \\\"b\\\"\": [-300, 12.5],\n  \"é\": [0, 0]\n}\n");
        let read = read_layout(&text).unwrap();
        assert_eq!(read.places()["a \"b\""], Point::new(-300.0, 12.5));
        assert_eq!(read.places()["é"], Point::new(0.0, 0.0));
    }

    #[test]
    fn other_documents_and_far_places_are_refused() {
        assert!(read_layout("[1, 2]").is_err());
        let far = read_layout("{\"a\": [1e9, 0]}").unwrap_err();
        assert_eq!(far, "the position of `a` is out of range");
    }
}
