//! Static gains of transfer functions in which the poles at zero cancel, as of the relative motion of free masses. By
//! Cauchy's formula they are means on a circle round zero, and so are their derivatives.

use num_complex::Complex64;

use super::modes::{Gain, system};
use crate::linalg::dense::inverse;
use crate::linalg::{Matrices, Sparse};
use crate::tolerance::{CONTOUR_POINTS, CONTOUR_ROUNDING, POLE_PART};

/// A mean on the circle, with the sizes of the terms of what it is of, and the parts of poles at zero.
#[derive(Debug, Clone, Default)]
struct Mean {
    value: Complex64,
    size: f64,
    poles: Vec<Complex64>,
}

impl Mean {
    /// Adds a value with its size at a point of the unit circle.
    fn add(&mut self, (value, size): (Complex64, f64), at: Complex64) {
        self.value += value / CONTOUR_POINTS as f64;
        self.size += size / CONTOUR_POINTS as f64;
        let mut power = at;
        for pole in &mut self.poles {
            *pole += value * power / CONTOUR_POINTS as f64;
            power *= at;
        }
    }

    /// The value at zero, unless a pole lies there.
    fn settle(&self) -> Option<f64> {
        let is_regular = self.poles.iter().all(|pole| pole.norm() <= POLE_PART * self.size);
        let value = self.value.re;
        is_regular.then_some(if value.abs() <= CONTOUR_ROUNDING * self.size { 0.0 } else { value })
    }
}

/// Finds the static gains from inputs to outputs, given in pairs, and their derivatives: not a number where the poles at
/// zero cancel no more after a small change of a parameter. `radius` is that of a circle within which only poles at zero
/// lie, `multiplicity` times; pairs with a pole left there have no gain.
pub(super) fn gains_beside_poles(
    matrices: &Matrices,
    derivatives: &[Matrices],
    pairs: &[(usize, usize)],
    (radius, multiplicity): (f64, usize),
) -> Vec<Gain> {
    // A derivative has the pole twice.
    let blank = Mean { poles: vec![Complex64::ZERO; 2 * multiplicity], ..Mean::default() };
    let mut means = vec![vec![blank; 1 + derivatives.len()]; pairs.len()];
    let n = matrices.states();
    let states = Matrices { a: matrices.a.clone(), b: Vec::new(), c: Sparse::new(0, n), d: Vec::new() };
    for k in 0..CONTOUR_POINTS {
        let at = Complex64::from_polar(1.0, std::f64::consts::TAU * (k as f64 + 0.5) / CONTOUR_POINTS as f64);
        let s = radius * at;
        let Some(solved) = inverse(&system(&states, s, true)) else { return Vec::new() };
        for ((output, input), means) in pairs.iter().zip(&mut means) {
            let [row, column, through] = parts(matrices, (*output, *input), s);
            let z: Vec<Complex64> =
                (0..n).map(|i| column.iter().map(|(k, v)| solved[(i, *k)] * v).sum()).collect();
            let adjoint: Vec<Complex64> =
                (0..n).map(|j| row.iter().map(|(k, v)| solved[(*k, j)] * v).sum()).collect();
            let seen = |row: &[(usize, Complex64)]| row.iter().map(|(k, v)| v * z[*k]).collect::<Vec<_>>();
            let own = seen(&row).into_iter().chain(through.iter().map(|(_, v)| *v));
            means[0].add(sum(own), at);
            for (mean, derivative) in means[1..].iter_mut().zip(derivatives) {
                let [row, column, through] = parts(derivative, (*output, *input), s);
                let inner = derivative.a.entries.iter().map(|(i, j, v)| adjoint[*i] * *v * z[*j]);
                let fed = column.iter().map(|(k, v)| v * adjoint[*k]);
                let all = inner.chain(seen(&row)).chain(fed).chain(through.iter().map(|(_, v)| *v));
                mean.add(sum(all), at);
            }
        }
    }
    let gain = |((output, input), means): (&(usize, usize), &Vec<Mean>)| {
        Some(Gain {
            output: *output,
            input: *input,
            value: means[0].settle()?,
            derivatives: means[1..].iter().map(|mean| mean.settle().unwrap_or(f64::NAN)).collect(),
            is_within_conserved: false,
        })
    };
    pairs.iter().zip(&means).filter_map(gain).collect()
}

/// The entries of a row of C, of a column of B(s) and of D(s) between one output and one input, the last without places.
fn parts(matrices: &Matrices, (output, input): (usize, usize), s: Complex64) -> [Vec<(usize, Complex64)>; 3] {
    let [mut column, mut through] = [Vec::new(), Vec::new()];
    let own = matrices.c.entries.iter().filter(|(i, _, _)| *i == output);
    let row = own.map(|(_, j, v)| (*j, Complex64::from(*v))).collect();
    for (order, matrix) in matrices.b.iter().enumerate() {
        let own = matrix.entries.iter().filter(|(_, j, _)| *j == input);
        column.extend(own.map(|(i, _, v)| (*i, s.powu(order as u32) * v)));
    }
    for (order, matrix) in matrices.d.iter().enumerate() {
        let own = matrix.entries.iter().filter(|(i, j, _)| (*i, *j) == (output, input));
        through.extend(own.map(|(_, _, v)| (0, s.powu(order as u32) * v)));
    }
    [row, column, through]
}

/// A sum with the sizes of its terms.
fn sum(terms: impl Iterator<Item = Complex64>) -> (Complex64, f64) {
    terms.fold((Complex64::ZERO, 0.0), |(sum, size), term| (sum + term, size + term.norm()))
}
