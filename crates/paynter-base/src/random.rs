//! Random numbers by counter: the number at an index of a stream depends on
//! the seed and the index alone, so that samples can be drawn in any order,
//! by any number of threads, and are the same on every machine.
//!
//! The function is that of SplitMix64 (Steele, Lea and Flood 2014), whose
//! state is a counter already.

/// What the counter is multiplied by: 2^64 divided by the golden ratio, odd.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// What keeps the streams of one seed apart.
const STREAM: u64 = 0xD1B5_4A32_D192_ED03;

/// The 64 bits at an index of the stream of a seed.
#[inline]
pub const fn bits(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The number in [0, 1) at an index of the stream of a seed.
#[inline]
pub const fn unit(seed: u64, index: u64) -> f64 {
    (bits(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws the numbers of a stream one after the other.
#[derive(Debug, Clone)]
pub struct Random {
    seed: u64,
    index: u64,
}

impl Random {
    /// Starts the stream of a seed.
    pub const fn new(seed: u64) -> Random {
        Random { seed, index: 0 }
    }

    /// Starts a stream of its own for each sample of a seed.
    pub const fn sample(seed: u64, sample: u64) -> Random {
        // The first number of a stream is hardly mixed with the sample's.
        Random { seed: seed ^ sample.wrapping_mul(STREAM), index: 1 }
    }

    /// Draws 64 bits.
    pub fn bits(&mut self) -> u64 {
        let bits = bits(self.seed, self.index);
        self.index = self.index.wrapping_add(1);
        bits
    }

    /// Draws a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a number in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_that_of_splitmix64() {
        // The first numbers of the reference implementation for the seed 1234567.
        let expected = [6457827717110365317, 3203168211198807973, 9817491932198370423];
        assert_eq!([0, 1, 2].map(|index| bits(1_234_567, index)), expected);
        let mut random = Random::new(1_234_567);
        assert_eq!(expected.map(|_| random.bits()), expected);
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let (mut sum, mut squares) = (0.0, 0.0);
        for sample in 0..10_000 {
            let x = Random::sample(3, sample).symmetric();
            assert!((-1.0..1.0).contains(&x));
            sum += x;
            squares += x * x;
        }
        assert!((sum / 1e4).abs() < 0.02 && (squares / 1e4 - 1.0 / 3.0).abs() < 0.02);
    }
}
