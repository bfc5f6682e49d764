//! Values as people give them: numbers, in the unit that the model declares or in one of their own.

use crate::dimension::{Unit, unit_of};
use std::str::FromStr;

/// A number, perhaps with a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// The number.
    pub number: f64,
    /// Its unit; none where it is the one that the model declares.
    pub unit: Option<Unit>,
}

impl From<f64> for Amount {
    fn from(number: f64) -> Amount {
        Amount { number, unit: None }
    }
}

impl FromStr for Amount {
    type Err = String;

    /// Reads `2` or `2 [kohm]`, as settings of parameters are written.
    fn from_str(text: &str) -> Result<Amount, String> {
        let (number, unit) = match text.trim().strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((number, unit)) => {
                let found =
                    unit_of(unit.trim()).ok_or_else(|| format!("`{}` is not a known unit", unit.trim()))?;
                (number, Some(found))
            }
            None => (text, None),
        };
        match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Amount { number, unit }),
            _ => Err(format!("`{}` is not a number, perhaps with a unit, such as `2 [kohm]`", text.trim())),
        }
    }
}

impl Amount {
    /// The number in SI, where the model declares a unit of this size; or what is wrong with its own unit.
    pub fn in_si(&self, declared: Option<&str>, factor: f64) -> Result<f64, String> {
        let Some(own) = &self.unit else { return Ok(self.number * factor) };
        match declared.and_then(unit_of).filter(|unit| unit.dimension != own.dimension) {
            Some(unit) => {
                Err(format!("[{}] does not go with [{}], which the model declares", own.text, unit.text))
            }
            None => Ok(self.number * own.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_settings() {
        let read = |text: &str| text.parse::<Amount>();
        assert_eq!(read(" -2e3 ").unwrap(), Amount::from(-2e3));
        assert_eq!(read("2 [kohm]").unwrap().in_si(Some("ohm"), 1.0), Ok(2000.0));
        assert_eq!(read("2[mm]").unwrap().in_si(Some("m"), 1.0), Ok(2e-3));
        assert_eq!(read("3").unwrap().in_si(Some("mm"), 1e-3), Ok(3e-3));
        assert_eq!(read("3 [kg]").unwrap().in_si(None, 1.0), Ok(3.0));
        assert!(read("2 [kg]").unwrap().in_si(Some("ohm"), 1.0).is_err());
        for bad in ["", "x", "2 kohm", "2 [yards]", "nan", "[m]", "2]"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
