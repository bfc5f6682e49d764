//! Headings of columns: a name, and perhaps the unit of the numbers below it, `x [mm]` or `x (mm)`.

use super::csv::{Cell, DataError};
use paynter_graph::dimension::{Unit, unit_of};

/// The heading of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Heading<'a> {
    pub cell: Cell<'a>,
    /// Without the unit.
    pub name: &'a str,
    unit: Option<Cell<'a>>,
}

impl<'a> Heading<'a> {
    pub fn new(cell: Cell<'a>) -> Heading<'a> {
        let within = [('[', ']'), ('(', ')')].into_iter().find_map(|(open, close)| {
            let (name, unit) = cell.text.strip_suffix(close)?.split_once(open)?;
            let start = cell.start + name.len() + open.len_utf8();
            let padding = unit.len() - unit.trim_start().len();
            Some((name.trim_end(), Cell { text: unit.trim(), start: start + padding }))
        });
        match within.filter(|(name, unit)| !name.is_empty() && !unit.text.is_empty()) {
            Some((name, unit)) => Heading { cell, name, unit: Some(unit) },
            None => Heading { cell, name: cell.text, unit: None },
        }
    }

    /// Whether the column is meant by a name.
    pub fn is(&self, name: &str) -> bool {
        self.cell.text == name || self.name == name
    }

    /// The value in SI of one of the units of its numbers: those of its heading, or else those of the model.
    pub fn factor(&self, asked: &str, model: Option<&Unit>) -> Result<f64, DataError> {
        let own = |unit: &Unit| unit.factor;
        let Some(cell) = self.unit else { return Ok(model.map_or(1.0, own)) };
        match (unit_of(cell.text), model) {
            (Some(found), Some(unit)) if found.dimension != unit.dimension => Err(cell.error(
                format!("the column `{}` is in {}, but the model has [{}]", self.name, found.text, unit.text),
                "correct the heading, or the unit in the model",
            )),
            (Some(found), _) => Ok(found.factor),
            // Brackets that are part of the name somebody asked for.
            (None, _) if asked == self.cell.text => Ok(model.map_or(1.0, own)),
            (None, _) => Err(cell.error(
                format!("`{}` in the heading of `{}` is not a known unit", cell.text, self.name),
                "write a unit as in the model, such as `mm` or `N*m`, or leave the brackets out",
            )),
        }
    }

    /// Refuses a unit where numbers are taken as they stand; one that belongs to the name asked for is none.
    pub fn refuse_unit(&self, asked: &str) -> Result<(), DataError> {
        match self.unit.filter(|_| asked != self.cell.text) {
            None => Ok(()),
            Some(cell) => Err(cell.error(
                format!("the column `{}` has a unit, but a table's numbers stand as they are", self.name),
                "leave the unit out of the heading, and write it behind the input or parameter in the model",
            )),
        }
    }

    /// The seconds in one unit of a column of times.
    pub fn seconds(&self) -> Result<f64, DataError> {
        let Some(cell) = self.unit else { return Ok(1.0) };
        match unit_of(cell.text) {
            Some(unit) if unit_of("s").is_some_and(|second| second.dimension == unit.dimension) => {
                Ok(unit.factor)
            }
            _ => Err(cell.error(
                format!("`{}` in the heading of the times is not a unit of time", cell.text),
                "write `s`, `ms`, `min` or `h`, or leave the brackets out for seconds",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(text: &str) -> Heading<'_> {
        Heading::new(Cell { text, start: 0 })
    }

    #[test]
    fn units_stand_behind_names() {
        for (text, name, factor) in [
            ("x", "x", 1.0),
            ("x [mm]", "x", 1e-3),
            ("x (mm)", "x", 1e-3),
            ("torque[N*m]", "torque", 1.0),
            ("F [kN ]", "F", 1e3),
        ] {
            assert_eq!(heading(text).name, name);
            assert_eq!(heading(text).factor(name, None).unwrap(), factor, "{text}");
        }
        assert_eq!(heading("t [ms]").seconds().unwrap(), 1e-3);
        assert!(heading("t [mm]").seconds().is_err());
        // Brackets that belong to a name somebody asks for are none of a unit.
        assert_eq!(heading("x [raw]").factor("x [raw]", None).unwrap(), 1.0);
        assert!(heading("x [raw]").factor("x", None).is_err());
        for text in ["[mm]", "x []", "x ]", "x [} param q = 1 [m]", "(", ")", "x [[m]]"] {
            let _ = heading(text).factor("x", None);
        }
    }
}
