//! Distributions of single quantities.

use crate::normal;

/// How a quantity is distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Evenly between two ends.
    Uniform {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// Normally.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Its logarithm normally.
    Lognormal {
        /// The median.
        median: f64,
        /// The standard deviation of the natural logarithm.
        deviation: f64,
    },
}

impl Distribution {
    /// What is wrong with it, in words.
    pub fn error(&self) -> Option<&'static str> {
        let finite = |a: f64, b: f64| a.is_finite() && b.is_finite();
        match *self {
            Distribution::Uniform { low, high } if !(finite(low, high) && low <= high) => {
                Some("a uniform distribution needs a lower end that is not above the upper one")
            }
            Distribution::Normal { mean, deviation } if !(finite(mean, deviation) && deviation >= 0.0) => {
                Some("a normal distribution needs a standard deviation that is not negative")
            }
            Distribution::Lognormal { median, deviation }
                if !(finite(median, deviation) && median > 0.0 && deviation >= 0.0) =>
            {
                Some("a lognormal distribution needs a positive median and a deviation that is not negative")
            }
            _ => None,
        }
    }

    /// The value at a probability, or at a normal number where quantities are correlated.
    pub(crate) fn value(&self, unit: f64, correlated: Option<f64>) -> f64 {
        let standard = || correlated.unwrap_or_else(|| normal::quantile(unit));
        match *self {
            Distribution::Uniform { low, high } => {
                low + (high - low) * correlated.map_or(unit, normal::distribution)
            }
            Distribution::Normal { mean, deviation } => mean + deviation * standard(),
            Distribution::Lognormal { median, deviation } => median * (deviation * standard()).exp(),
        }
    }
}
