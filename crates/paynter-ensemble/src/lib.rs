//! Ensembles: samples of uncertain quantities, and what many answers tell
//! together.
//!
//! A sample depends on the seed, the number of samples and its own number
//! only ([`Design`]), and statistics are merged along one tree over the
//! numbers of samples ([`Gathered`]), so that any split of the samples over
//! threads, processes or machines gives the same digits.

mod correlation;
mod design;
mod distribution;
mod draw;
mod gather;
mod indices;
pub mod normal;
mod parallel;
mod quantile;
mod tolerance;

pub use correlation::Correlation;
pub use design::{Design, MAX_SOBOL_DIMENSIONS, unit};
pub use distribution::Distribution;
pub use draw::Draw;
pub use gather::{Failure, Gathered, MergeError, Node, Spread};
pub use indices::{Index, Indices, sobol_indices};
pub use parallel::answer_all;
pub use quantile::{HELD_VALUES, Summary};

/// What is drawn: each quantity with its distribution, correlated or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// The distributions of the quantities.
    pub distributions: Vec<Distribution>,
    /// How they are correlated.
    pub correlation: Correlation,
    /// How points are spread.
    pub design: Design,
    /// Where random numbers begin.
    pub seed: u64,
    /// The number of samples; with Sobol' indices that of base samples.
    pub samples: u64,
    /// Whether samples are made for Sobol' indices: for each base sample A, B, and A with one quantity of B each.
    pub indices: bool,
}

impl Sampling {
    /// How many samples are evaluated for one base sample.
    pub fn group(&self) -> u64 {
        if self.indices { self.distributions.len() as u64 + 2 } else { 1 }
    }

    /// How many samples are evaluated in all.
    pub fn evaluations(&self) -> u64 {
        self.samples * self.group()
    }

    /// The values of the quantities in an evaluated sample.
    pub fn values(&self, evaluation: u64) -> Vec<f64> {
        let count = self.distributions.len();
        let (sample, role) = (evaluation / self.group(), (evaluation % self.group()) as usize);
        let point = |dimension: usize, dimensions: usize| {
            unit(self.design, self.seed, self.samples, sample, dimension, dimensions)
        };
        let units: Vec<f64> = match (self.indices, role) {
            (false, _) => (0..count).map(|k| point(k, count)).collect(),
            (true, 0) => (0..count).map(|k| point(k, 2 * count)).collect(),
            (true, 1) => (0..count).map(|k| point(count + k, 2 * count)).collect(),
            (true, role) => {
                let from = |k: usize| if k == role - 2 { count + k } else { k };
                (0..count).map(|k| point(from(k), 2 * count)).collect()
            }
        };
        let normal = self.correlation.correlated(&units);
        self.distributions
            .iter()
            .zip(units)
            .zip(normal)
            .map(|((distribution, unit), normal)| distribution.value(unit, normal))
            .collect()
    }
}
