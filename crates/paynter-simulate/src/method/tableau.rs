//! Runge–Kutta methods as data. The last stage of each is the end of its step.

#![allow(clippy::excessive_precision, reason = "the digits as published")]

use super::dop853;
use std::sync::OnceLock;

/// No interpolation is of a higher degree.
const DEGREE: usize = 8;

/// And none has more stages.
const STAGES: usize = 16;

/// The stages that interpolate, and power by power their coefficients.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dense {
    stages: Vec<usize>,
    rows: Vec<[f64; STAGES]>,
}

impl Dense {
    /// From stages with their coefficients.
    pub(super) fn new(columns: impl IntoIterator<Item = (usize, Vec<f64>)>) -> Dense {
        let (stages, columns): (Vec<usize>, Vec<Vec<f64>>) = columns.into_iter().unzip();
        let degree = columns.iter().map(Vec::len).max().unwrap_or(0);
        let coefficient = |power: usize, i: usize| columns.get(i).and_then(|list| list.get(power)).copied();
        let row = |power| std::array::from_fn(|i| coefficient(power, i).unwrap_or(0.0));
        Dense { stages, rows: (0..degree).map(row).collect() }
    }
}

/// The stage of DOP853 that differs from the interpolation by about a fiftieth of its error where a step is
/// at the limit of stability, and the factor that lets this error be ten times the tolerance there. What
/// the interpolation of a smooth solution does is less than the error at the end of its step.
const INSIDE: usize = 14;
const WEIGHT: f64 = 5.0;

/// Stages with their factors, those that are not zero.
pub(crate) type Terms = Vec<(usize, f64)>;

/// Leaves out what is zero.
pub(super) fn terms(row: &[f64]) -> Terms {
    row.iter().copied().enumerate().filter(|(_, factor)| *factor != 0.0).collect()
}

/// A Runge–Kutta method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tableau {
    pub name: &'static str,
    /// The number of stages of a step.
    pub stages: usize,
    /// More stages that only interpolation needs.
    pub extra: usize,
    /// How each stage is made of those before it.
    pub a: Vec<Terms>,
    pub c: Vec<f64>,
    /// The diagonal of an implicit method, 0 for an explicit one.
    pub gamma: f64,
    /// Guesses of the stages of an implicit method from those before.
    pub guess: Vec<Vec<f64>>,
    /// Weights of the error; a second list tames the first, as in the code DOP853.
    pub errors: Vec<Terms>,
    /// The order of the method.
    pub order: usize,
    /// How fast the error falls with the step: h^rate.
    pub rate: f64,
    /// Steps times eigenvalue beyond which an explicit method is unstable on the negative axis.
    pub stability: f64,
    /// Weights of the error within a step, where it may be far larger than at the end.
    pub inside: Terms,
    /// How the stages interpolate within a step: their coefficients of θ, θ², …, or of θ, θ(1 − θ), θ²(1 − θ), …
    pub(super) dense: Dense,
    /// Whether the latter, as in the code DOP853.
    pub(super) nested: bool,
    /// The interpolation by powers of θ, once it is asked for.
    pub(super) powers: OnceLock<Vec<Terms>>,
}

impl Tableau {
    /// The number of stages with those for interpolation.
    pub fn all_stages(&self) -> usize {
        self.stages + self.extra
    }

    /// The weights of stages for the place θ within a step.
    pub fn weights(&self, theta: f64, weights: &mut Terms) {
        let factors = [theta, if self.nested { 1.0 - theta } else { theta }];
        let mut product = 1.0;
        let products: [f64; DEGREE] = std::array::from_fn(|i| {
            product *= factors[i % 2];
            product
        });
        let mut sums = [0.0; STAGES];
        for (row, product) in self.dense.rows.iter().zip(products) {
            sums = std::array::from_fn(|i| sums[i] + product * row[i]);
        }
        weights.clear();
        weights.extend(self.dense.stages.iter().zip(sums).map(|(stage, sum)| (*stage, sum)));
    }

    /// How the stages interpolate, by powers: the weights of θ, θ², …
    pub fn powers(&self) -> &[Terms] {
        self.powers.get_or_init(|| {
            let rows = &self.dense.rows;
            // The products θ, θ(1 − θ), θ²(1 − θ), … as polynomials of θ.
            let mut product = vec![1.0];
            let mut sums = vec![[0.0; STAGES]; rows.len() + 1];
            for (i, row) in rows.iter().enumerate() {
                let nested = self.nested && i % 2 == 1;
                let mut next = vec![0.0; product.len() + 1];
                for (power, c) in product.iter().enumerate() {
                    if nested {
                        next[power] += c;
                        next[power + 1] -= c;
                    } else {
                        next[power + 1] += c;
                    }
                }
                product = next;
                for (sum, c) in sums.iter_mut().zip(&product) {
                    *sum = std::array::from_fn(|i| sum[i] + c * row[i]);
                }
            }
            let terms = |sum: &[f64; STAGES]| {
                let all = self.dense.stages.iter().zip(sum).map(|(stage, sum)| (*stage, *sum));
                all.filter(|(_, sum)| *sum != 0.0).collect()
            };
            sums[1..].iter().map(terms).collect()
        })
    }

    /// Weights of the difference between a stage and the interpolation at its place, times a factor.
    fn apart(&self, stage: usize, factor: f64) -> Terms {
        let mut row = vec![0.0; self.all_stages()];
        let mut weights = Vec::new();
        self.weights(self.c[stage], &mut weights);
        weights.iter().for_each(|(i, weight)| row[*i] += factor * weight);
        self.a[stage].iter().for_each(|(i, weight)| row[*i] -= factor * weight);
        terms(&row)
    }

    /// Euler's method, as the papers use it.
    pub fn euler() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        METHOD.get_or_init(|| Tableau {
            name: "euler",
            stages: 2,
            extra: 0,
            a: vec![vec![], terms(&[1.0])],
            c: vec![0.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 1,
            rate: 1.0,
            stability: 2.0,
            inside: Vec::new(),
            dense: Dense::new([(0, vec![1.0])]),
            nested: false,
            powers: OnceLock::new(),
        })
    }

    /// The classical method of order four.
    pub fn rk4() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        let b = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        METHOD.get_or_init(|| Tableau {
            name: "rk4",
            stages: 5,
            extra: 0,
            a: [&[][..], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0], &b].map(terms).to_vec(),
            c: vec![0.0, 0.5, 0.5, 1.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 4,
            rate: 4.0,
            stability: 2.7,
            // Hermite's cubic: θ²(3 − 2θ)·Σ b k, with the derivatives at both ends.
            inside: Vec::new(),
            dense: Dense::new(
                [
                    vec![1.0, 3.0 * b[0] - 2.0, 1.0 - 2.0 * b[0]],
                    vec![0.0, 3.0 * b[1], -2.0 * b[1]],
                    vec![0.0, 3.0 * b[2], -2.0 * b[2]],
                    vec![0.0, 3.0 * b[3], -2.0 * b[3]],
                    vec![0.0, -1.0, 1.0],
                ]
                .into_iter()
                .enumerate(),
            ),
            nested: false,
            powers: OnceLock::new(),
        })
    }

    /// The method of order eight of Dormand and Prince, with interpolation of order seven.
    pub fn dop853() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        METHOD.get_or_init(|| {
            let wide = |list: &[f64]| {
                let mut row = list.to_vec();
                row.resize(16, 0.0);
                row
            };
            let b = wide(&dop853::B);
            let unit = |i: usize| (0..16).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
            let (first, last) = (unit(0), unit(12));
            let mut rows = vec![
                b.clone(),
                (0..16).map(|i| first[i] - b[i]).collect(),
                (0..16).map(|i| 2.0 * b[i] - first[i] - last[i]).collect(),
            ];
            rows.extend(dop853::D.iter().map(|row| row.to_vec()));
            let column = |stage: usize| (stage, rows.iter().map(|row| row[stage]).collect::<Vec<f64>>());
            let mut method = Tableau {
                name: "dop853",
                stages: 13,
                extra: 3,
                a: dop853::A.map(terms).to_vec(),
                c: dop853::C.to_vec(),
                gamma: 0.0,
                guess: Vec::new(),
                errors: vec![terms(&dop853::E5), terms(&dop853::E3)],
                order: 8,
                rate: 8.0,
                stability: 6.1,
                inside: Vec::new(),
                dense: Dense::new((0..16).map(column).filter(|(_, list)| list.iter().any(|c| *c != 0.0))),
                nested: true,
                powers: OnceLock::new(),
            };
            method.inside = method.apart(INSIDE, WEIGHT);
            method
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One factor for each stage.
    fn whole(method: &Tableau, terms: &Terms) -> Vec<f64> {
        let mut row = vec![0.0; method.all_stages()];
        terms.iter().for_each(|(stage, factor)| row[*stage] = *factor);
        row
    }

    fn weights(method: &Tableau, theta: f64) -> Vec<f64> {
        let mut weights = Vec::new();
        method.weights(theta, &mut weights);
        whole(method, &weights)
    }

    fn all() -> [&'static Tableau; 5] {
        [Tableau::euler(), Tableau::rk4(), Tableau::tsit5(), Tableau::dop853(), Tableau::kvaerno5()]
    }

    #[test]
    fn nodes_are_sums_of_their_rows() {
        for method in all() {
            for (i, row) in method.a.iter().enumerate() {
                let diagonal = if i == 0 { 0.0 } else { method.gamma };
                let sum = row.iter().map(|(_, factor)| factor).sum::<f64>() + diagonal;
                assert!((sum - method.c[i]).abs() < 1e-13, "{} row {i}: {sum}", method.name);
            }
        }
    }

    /// All stages but the second have order three and more, so that three conditions beside those of
    /// quadrature make a method of order five, at any place within the step (Hairer and Wanner, IV.5).
    #[test]
    fn the_stiff_method_interpolates_with_its_order() {
        let method = Tableau::kvaerno5();
        let whole: Vec<Vec<f64>> = (0..method.all_stages())
            .map(|i| {
                let mut row = whole(method, &method.a[i]);
                row[i] = if i == 0 { 0.0 } else { method.gamma };
                row
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let defect = |power: i32| -> Vec<f64> {
            let powers: Vec<f64> = method.c.iter().map(|c| c.powi(power)).collect();
            let exact = method.c.iter().map(|c| c.powi(power + 1) / f64::from(power + 1));
            whole.iter().zip(exact).map(|(row, exact)| dot(row, &powers) - exact).collect()
        };
        let (third, fourth) = (defect(2), defect(3));
        let carried: Vec<f64> = whole.iter().map(|row| dot(row, &third)).collect();
        // What is left of a fast decay at each stage.
        let mut left = vec![1.0];
        for row in &whole[1..] {
            left.push(-dot(row, &left) / method.gamma);
        }
        for theta in [0.1, 0.35, 0.8, 1.0] {
            let weights = weights(method, theta);
            for condition in [&third, &fourth, &carried, &left] {
                let sum = dot(&weights, condition);
                assert!(sum.abs() < 1e-13, "at {theta}: {sum}");
            }
        }
    }

    #[test]
    fn interpolation_meets_the_ends_and_integrates_polynomials() {
        for (method, degree) in all().into_iter().zip([1, 4, 4, 7, 5]) {
            let end = weights(method, 1.0);
            let last = method.stages - 1;
            let mut step = whole(method, &method.a[last]);
            step[last] = method.gamma;
            for (i, (a, b)) in end.iter().zip(&step).enumerate() {
                assert!((a - b).abs() < 2e-14, "{} weight {i}: {a} {b}", method.name);
            }
            // The last power is lost where the cubic of RK4 interpolates.
            let degree = if method.name == "rk4" { 3 } else { degree };
            for theta in [0.1, 0.35, 0.8] {
                let weights = weights(method, theta);
                for power in 0..degree {
                    let sum: f64 = weights.iter().zip(&method.c).map(|(w, c)| w * c.powi(power)).sum();
                    let exact = theta.powi(power + 1) / f64::from(power + 1);
                    assert!(
                        (sum - exact).abs() < 1e-12,
                        "{} at {theta}, power {power}: {sum} {exact}",
                        method.name
                    );
                }
            }
        }
    }
}
