//! The uncertain quantities of an interconnection in numbers: what the δ of each block stands for.

use crate::model::{Block, Interconnection, Quantity};

/// An uncertain quantity: the parameter of a block of Δ.
#[derive(Debug, Clone, PartialEq)]
pub struct UncertainQuantity {
    /// Its name.
    pub name: String,
    /// Its nominal value, in SI.
    pub nominal: f64,
    /// How far it is off at δ = 1.
    pub deviation: f64,
    /// Whether it is a parameter of its own; else the value of an expression over parameters.
    pub is_parameter: bool,
}

impl UncertainQuantity {
    fn new(block: &Block) -> UncertainQuantity {
        UncertainQuantity {
            name: block.name.clone(),
            nominal: block.nominal,
            deviation: block.bounds.map_or(0.0, |(low, high)| 0.5 * (high - low)),
            is_parameter: matches!(block.quantity, Quantity::Parameter(_)),
        }
    }

    /// Its value at δ.
    pub fn at(&self, delta: f64) -> f64 {
        self.nominal + self.deviation * delta
    }

    /// The size of δ at which it reaches zero; infinite where it is zero already, or no parameter: the value of an
    /// expression may change its sign.
    fn reach(&self) -> f64 {
        let reaches = self.is_parameter && self.nominal != 0.0;
        if reaches { (self.nominal / self.deviation).abs() } else { f64::INFINITY }
    }
}

impl Interconnection {
    /// The uncertain quantities, in the order of the blocks.
    pub fn quantities(&self) -> Vec<UncertainQuantity> {
        self.blocks.iter().map(UncertainQuantity::new).collect()
    }

    /// The factor by which the box of tolerances grows until a quantity reaches zero.
    pub fn reach(&self) -> f64 {
        self.quantities().iter().map(UncertainQuantity::reach).fold(f64::INFINITY, f64::min)
    }
}
