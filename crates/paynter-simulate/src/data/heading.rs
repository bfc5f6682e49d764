//! Headings of columns: a name, and perhaps the unit of the numbers below it, `x [mm]` or `x (mm)`.

use super::csv::{Cell, DataError};
use paynter_graph::dimension::{Unit, unit_of};

/// What people call degrees Celsius in headings: data have them, though models count in kelvin.
const CELSIUS: [&str; 4] = ["°C", "degC", "Celsius", "celsius"];

/// 0 °C in kelvin.
const ICE_POINT: f64 = 273.15;

/// How numbers become those in SI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// The value of one of their units.
    factor: f64,
    /// What their zero is.
    zero: f64,
}

impl Scale {
    const SI: Scale = Scale { factor: 1.0, zero: 0.0 };

    /// The number in SI.
    pub fn in_si(self, number: f64) -> f64 {
        number * self.factor + self.zero
    }
}

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

    /// How its numbers become those in SI: by the unit of the heading, or else by that of the model.
    pub fn scale(&self, asked: &str, model: Option<&Unit>) -> Result<Scale, DataError> {
        let own = |unit: &Unit| Scale { factor: unit.factor, zero: 0.0 };
        let Some(cell) = self.unit else { return Ok(model.map_or(Scale::SI, own)) };
        let (found, zero) = match CELSIUS.contains(&cell.text) {
            true => (unit_of("K"), ICE_POINT),
            false => (unit_of(cell.text), 0.0),
        };
        match (found, model) {
            (Some(found), Some(unit)) if found.dimension != unit.dimension => Err(cell.error(
                format!("the column `{}` is in {}, but the model has [{}]", self.name, cell.text, unit.text),
                "correct the heading, or the unit in the model",
            )),
            (Some(found), _) => Ok(Scale { factor: found.factor, zero }),
            // Brackets that are part of the name somebody asked for.
            (None, _) if asked == self.cell.text => Ok(model.map_or(Scale::SI, own)),
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
            assert_eq!(heading(text).scale(name, None).unwrap().in_si(1.0), factor, "{text}");
        }
        // Degrees are temperatures and nothing else.
        let (kelvin, metre) = (unit_of("K"), unit_of("m"));
        assert_eq!(heading("T [°C]").scale("T", kelvin.as_ref()).unwrap().in_si(20.0), 293.15);
        assert!(heading("T (degC)").scale("T", metre.as_ref()).is_err());
        assert_eq!(heading("t [ms]").seconds().unwrap(), 1e-3);
        assert!(heading("t [mm]").seconds().is_err());
        // Brackets that belong to a name somebody asks for are none of a unit.
        assert_eq!(heading("x [raw]").scale("x [raw]", None).unwrap(), Scale::SI);
        assert!(heading("x [raw]").scale("x", None).is_err());
        for text in ["[mm]", "x []", "x ]", "x [} param q = 1 [m]", "(", ")", "x [[m]]"] {
            let _ = heading(text).scale("x", None);
        }
    }
}
