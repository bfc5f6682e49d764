//! Sobol' indices: which part of the variance of an answer each quantity
//! causes, alone (Saltelli et al. 2010) and with all that it takes part in
//! (Jansen 1999), with confidence intervals by bootstrap.

use paynter_base::random::Random;

/// An index with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Index {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The indices of one number of the answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Indices {
    /// By quantity: the part of the variance that it causes alone.
    pub first: Vec<Index>,
    /// By quantity: the part that it takes part in.
    pub total: Vec<Index>,
    /// Base samples all of whose answers are there.
    pub complete: usize,
}

/// How often samples are drawn again for an interval.
const RESAMPLED: usize = 400;

/// Estimates indices from rows of answers: at A, at B, and at A with one quantity of B each. A row with a number
/// that is not finite is left out whole.
pub fn sobol_indices(rows: &[Vec<f64>], quantities: usize, confidence: f64, seed: u64) -> Indices {
    let complete: Vec<&Vec<f64>> = rows
        .iter()
        .filter(|row| row.len() == quantities + 2 && row.iter().all(|value| value.is_finite()))
        .collect();
    let all: Vec<usize> = (0..complete.len()).collect();
    let estimate = Estimates::of(&complete, &all, quantities);
    let mut drawn: Vec<Estimates> = Vec::new();
    if complete.len() > 1 {
        for again in 0..RESAMPLED {
            let mut random = Random::sample(seed, again as u64);
            let count = complete.len() as u64;
            let chosen: Vec<usize> = all.iter().map(|_| (random.bits() % count) as usize).collect();
            drawn.push(Estimates::of(&complete, &chosen, quantities));
        }
    }
    let index = |of: &dyn Fn(&Estimates) -> f64| {
        let mut values: Vec<f64> = drawn.iter().map(of).filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() as f64 - 1.0);
            values.get(place.round() as usize).copied().unwrap_or(f64::NAN)
        };
        Index { value: of(&estimate), low: at((1.0 - confidence) / 2.0), high: at((1.0 + confidence) / 2.0) }
    };
    Indices {
        first: (0..quantities).map(|k| index(&|found| found.first[k])).collect(),
        total: (0..quantities).map(|k| index(&|found| found.total[k])).collect(),
        complete: complete.len(),
    }
}

struct Estimates {
    first: Vec<f64>,
    total: Vec<f64>,
}

impl Estimates {
    fn of(rows: &[&Vec<f64>], chosen: &[usize], quantities: usize) -> Estimates {
        let count = chosen.len() as f64;
        let mean = chosen.iter().map(|&r| rows[r][0] + rows[r][1]).sum::<f64>() / (2.0 * count);
        let mut variance = 0.0;
        let (mut first, mut total) = (vec![0.0; quantities], vec![0.0; quantities]);
        for &r in chosen {
            // About the mean, so that no digits are lost where the spread is small beside it.
            let (a, b) = (rows[r][0] - mean, rows[r][1] - mean);
            variance += (a * a + b * b) / (2.0 * count);
            for k in 0..quantities {
                let mixed = rows[r][2 + k] - mean;
                first[k] += b * (mixed - a) / count;
                total[k] += (a - mixed) * (a - mixed) / (2.0 * count);
            }
        }
        first.iter_mut().chain(&mut total).for_each(|part| *part /= variance);
        Estimates { first, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Correlation, Design, Distribution, Sampling};
    use std::f64::consts::PI;

    fn rows(sampling: &Sampling, function: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
        let group = sampling.group();
        (0..sampling.samples)
            .map(|row| (0..group).map(|role| function(&sampling.values(row * group + role))).collect())
            .collect()
    }

    #[test]
    fn ishigamis_function_has_its_known_indices() {
        let (a, b) = (7.0, 0.1);
        let variance = a * a / 8.0 + b * PI.powi(4) / 5.0 + b * b * PI.powi(8) / 18.0 + 0.5;
        let v1 = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
        let v13 = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        let v2 = a * a / 8.0;
        let first = [v1 / variance, v2 / variance, 0.0];
        let total = [(v1 + v13) / variance, v2 / variance, v13 / variance];
        for design in [Design::Random, Design::LatinHypercube, Design::Sobol] {
            let sampling = Sampling {
                distributions: vec![Distribution::Uniform { low: -PI, high: PI }; 3],
                correlation: Correlation::none(),
                design,
                seed: 2,
                samples: 4096,
                indices: true,
            };
            let answers =
                rows(&sampling, |x| x[0].sin() + a * x[1].sin().powi(2) + b * x[2].powi(4) * x[0].sin());
            let found = sobol_indices(&answers, 3, 0.99, 1);
            assert_eq!(found.complete, 4096);
            for k in 0..3 {
                for (index, known) in [(found.first[k], first[k]), (found.total[k], total[k])] {
                    assert!(index.low <= known && known <= index.high, "{design:?} {k}: {known} {index:?}");
                    assert!(index.high - index.low < 0.2, "{design:?} {k}: {index:?}");
                }
            }
        }
    }

    #[test]
    fn a_sum_has_the_shares_of_its_terms() {
        let sampling = Sampling {
            distributions: vec![
                Distribution::Normal { mean: 1e5, deviation: 3.0 },
                Distribution::Normal { mean: 0.0, deviation: 4.0 },
            ],
            correlation: Correlation::none(),
            design: Design::Sobol,
            seed: 1,
            samples: 1024,
            indices: true,
        };
        let found = sobol_indices(&rows(&sampling, |x| x[0] + x[1]), 2, 0.95, 1);
        for (index, known) in found.first.iter().chain(&found.total).zip([0.36, 0.64, 0.36, 0.64]) {
            assert!((index.value - known).abs() < 0.02, "{index:?} {known}");
        }
    }
}
