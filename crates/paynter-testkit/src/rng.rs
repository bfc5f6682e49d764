//! Random choices, so that a seed means the same model on every machine and
//! with every version of other libraries.

use paynter_base::random::Random;

/// A source of random choices.
#[derive(Debug, Clone)]
pub struct Rng(Random);

impl Rng {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03))
    }

    /// Draws 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Draws a whole number below `bound` (0 for an empty range).
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { ((u128::from(self.bits()) * bound as u128) >> 64) as usize }
    }

    /// Draws a whole number of the range, both ends included.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Draws a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Says yes with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Picks one of a non-empty list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Picks an index by weight.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.unit() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 {
                return index;
            }
        }
        weights.len().saturating_sub(1)
    }

    /// Puts a list into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
