//! Points in the unit cube, each by its number: random, Latin hypercubes,
//! Sobol' sequences. No point needs another one.

use paynter_base::random::{Random, bits};
use std::sync::OnceLock;

/// How points are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Design {
    /// Independently.
    Random,
    /// One point in each of as many slices of every quantity as there are samples (McKay, Beckman and Conover 1979).
    #[default]
    LatinHypercube,
    /// Sobol' sequences with the direction numbers of Joe and Kuo (2008), shifted at random.
    Sobol,
}

impl Design {
    /// The designs by the names that people choose them by.
    pub const NAMES: [(&'static str, Design); 3] =
        [("random", Design::Random), ("latin", Design::LatinHypercube), ("sobol", Design::Sobol)];
}

/// Quantities that a Sobol' sequence has numbers for.
pub const MAX_SOBOL_DIMENSIONS: usize = 256;

/// The digits of a Sobol' number.
const SOBOL_DIGITS: usize = 52;

/// What keeps the numbers of dimensions apart.
const DIMENSION: u64 = 0xA24B_AED4_963E_E407;

/// The coordinate of a point, strictly between 0 and 1.
pub fn unit(
    design: Design,
    seed: u64,
    samples: u64,
    sample: u64,
    dimension: usize,
    dimensions: usize,
) -> f64 {
    let own = seed ^ (dimension as u64 + 1).wrapping_mul(DIMENSION);
    match design {
        Design::Random => {
            let mut random = Random::sample(own, sample);
            inner(random.unit())
        }
        Design::LatinHypercube => {
            let slice = permuted(own, samples, sample);
            let within = Random::sample(own.rotate_left(17), sample).unit();
            inner((slice as f64 + within) / samples as f64)
        }
        Design::Sobol if dimensions <= MAX_SOBOL_DIMENSIONS => {
            let number = sobol(dimension, sample) ^ (bits(own, 0) >> (64 - SOBOL_DIGITS));
            inner((number as f64 + 0.5) / (1u64 << SOBOL_DIGITS) as f64)
        }
        Design::Sobol => unit(Design::LatinHypercube, seed, samples, sample, dimension, dimensions),
    }
}

/// Quantiles at 0 and 1 are infinite.
fn inner(unit: f64) -> f64 {
    unit.clamp(f64::EPSILON / 4.0, 1.0 - f64::EPSILON / 2.0)
}

/// Where a number goes in a random permutation of 0 … count − 1: a Feistel network on the next square power of two,
/// walked along its cycle until it is inside.
fn permuted(seed: u64, count: u64, number: u64) -> u64 {
    let half = (64 - count.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut place = number;
    loop {
        let (mut left, mut right) = (place >> half, place & mask);
        for round in 0..6u64 {
            let mixed = bits(seed ^ round.wrapping_mul(DIMENSION), right) & mask;
            (left, right) = (right, left ^ mixed);
        }
        place = (left << half) | right;
        if place < count {
            return place;
        }
    }
}

/// The number of a Sobol' sequence: the direction numbers where the Gray code of the sample has digits.
fn sobol(dimension: usize, sample: u64) -> u64 {
    let directions = &directions()[dimension];
    let gray = sample ^ (sample >> 1);
    (0..SOBOL_DIGITS).filter(|digit| gray >> digit & 1 == 1).fold(0, |sum, digit| sum ^ directions[digit])
}

/// The direction numbers of all dimensions.
fn directions() -> &'static Vec<[u64; SOBOL_DIGITS]> {
    static ALL: OnceLock<Vec<[u64; SOBOL_DIGITS]>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut first = [0; SOBOL_DIGITS];
        (0..SOBOL_DIGITS).for_each(|digit| first[digit] = 1 << (SOBOL_DIGITS - 1 - digit));
        let lines = include_str!("directions.txt").lines().filter(|line| !line.starts_with('#'));
        std::iter::once(first).chain(lines.map(direction)).collect()
    })
}

/// The direction numbers of one line of the table, by the recurrence of its polynomial.
fn direction(line: &str) -> [u64; SOBOL_DIGITS] {
    let mut words = line.split(' ').filter_map(|word| word.parse::<u64>().ok());
    let polynomial = words.next().unwrap_or(3);
    let degree = (63 - polynomial.leading_zeros()) as usize;
    let mut made = [0u64; SOBOL_DIGITS];
    for (digit, start) in words.enumerate() {
        made[digit] = start << (SOBOL_DIGITS - 1 - digit);
    }
    for digit in degree..SOBOL_DIGITS {
        let mut value = made[digit - degree] ^ (made[digit - degree] >> degree);
        for k in 1..degree {
            if polynomial >> (degree - k) & 1 == 1 {
                value ^= made[digit - k];
            }
        }
        made[digit] = value;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_joe_and_kuo() {
        // The first points of three dimensions.
        let points: Vec<Vec<f64>> = (0..5)
            .map(|sample| (0..3).map(|d| sobol(d, sample) as f64 / (1u64 << SOBOL_DIGITS) as f64).collect())
            .collect();
        let known =
            [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]];
        assert_eq!(points, known.map(|point| point.to_vec()));
    }

    #[test]
    fn every_dimension_of_a_sequence_fills_its_slices() {
        for dimension in [0, 1, 7, 100, MAX_SOBOL_DIMENSIONS - 1] {
            let mut slices: Vec<u64> =
                (0..256).map(|sample| sobol(dimension, sample) >> (SOBOL_DIGITS - 8)).collect();
            slices.sort_unstable();
            assert_eq!(slices, (0..256).collect::<Vec<_>>(), "{dimension}");
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_slice() {
        for count in [1, 2, 3, 7, 64, 1000] {
            for dimension in 0..3 {
                let at = |sample| unit(Design::LatinHypercube, 5, count, sample, dimension, 3);
                let mut slices: Vec<u64> = (0..count).map(|s| (at(s) * count as f64) as u64).collect();
                slices.sort_unstable();
                assert_eq!(slices, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn designs_differ_by_seed_and_integrate_well() {
        for (design, error) in [(Design::Random, 0.05), (Design::LatinHypercube, 0.02), (Design::Sobol, 2e-3)]
        {
            let count = 4096;
            let product =
                |sample| (0..3).map(|d| 2.0 * unit(design, 9, count, sample, d, 3)).product::<f64>();
            let mean = (0..count).map(product).sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() < error, "{design:?}: {mean}");
            assert_ne!(unit(design, 9, count, 1, 0, 3), unit(design, 10, count, 1, 0, 3));
        }
    }
}
