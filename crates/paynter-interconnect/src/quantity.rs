//! The uncertain quantities of an interconnection in numbers: what the δ of each block stands for.

use crate::model::{Block, Interconnection, Quantity, Uncertainty};
use paynter_graph::flat_name;

/// An uncertain quantity: the parameter of a block of Δ.
#[derive(Debug, Clone, PartialEq)]
pub struct UncertainQuantity {
    /// Its name.
    pub name: String,
    /// Its nominal value, in SI.
    pub nominal: f64,
    /// How far it is off by δ near the nominal value.
    pub deviation: f64,
    /// How much less than that it is off beyond: the nominal value plus deviation·δ/(1 + bend·δ).
    pub bend: f64,
    /// Whether it is a parameter of its own; else the value of an expression over parameters.
    pub is_parameter: bool,
}

impl UncertainQuantity {
    pub(crate) fn new(block: &Block) -> UncertainQuantity {
        let (deviation, bend) = match block.uncertainty {
            Uncertainty::Between { size, bend } => (size, bend),
            _ => (block.bounds.map_or(0.0, |(low, high)| 0.5 * (high - low)), 0.0),
        };
        UncertainQuantity {
            name: block.name.clone(),
            nominal: block.nominal,
            deviation,
            bend,
            is_parameter: matches!(block.quantity, Quantity::Parameter(_)),
        }
    }

    /// A parameter with a symmetric tolerance.
    pub fn of_parameter(name: String, nominal: f64, deviation: f64) -> UncertainQuantity {
        UncertainQuantity { name, nominal, deviation, bend: 0.0, is_parameter: true }
    }

    /// The values of quantities at δ, by name; none where one of them is no parameter.
    pub fn values(list: &[UncertainQuantity], delta: &[f64]) -> Option<Vec<(String, f64)>> {
        let value = |(quantity, delta): (&UncertainQuantity, &f64)| {
            quantity.is_parameter.then(|| (quantity.name.clone(), quantity.at(*delta)))
        };
        list.iter().zip(delta).map(value).collect()
    }

    /// Whether this is the name of a parameter in a model or in its linearisation, whose names have underscores.
    pub fn is_called(own: &str, name: &str) -> bool {
        let plain = |name: &str| flat_name(name).replace('.', "_");
        plain(own) == plain(name) || format!("{}_", plain(own)) == plain(name)
    }

    /// Its value at δ.
    pub fn at(&self, delta: f64) -> f64 {
        self.nominal + self.deviation * delta / (1.0 + self.bend * delta)
    }

    /// The size of δ at which it reaches zero; infinite where it is zero already. The value of an expression may change
    /// its sign, but its δ ends where it is infinite.
    pub fn reach(&self) -> f64 {
        match self.is_parameter {
            true if self.nominal == 0.0 => f64::INFINITY,
            true => (self.nominal / self.deviation).abs(),
            false => self.bend.abs().recip(),
        }
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
