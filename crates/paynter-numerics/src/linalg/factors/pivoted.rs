//! Factorisation with row exchanges where they are needed: as of algebraic
//! loops. Most matrices have entries on the diagonal to divide by, and a sparse
//! factorisation of a fixed order serves; where a pivot is small, rows are
//! exchanged in a dense one.

use super::{Factors, Form, Pattern};
use crate::tolerance::{DENSE_SIZE, DIAGONAL_PIVOT};

/// The factors of a matrix of which only the values change, with row exchanges where they are needed.
#[derive(Debug, Clone)]
pub struct PivotedFactors {
    pattern: Pattern,
    entries: Vec<f64>,
    /// Whether the factors are those of the entries.
    factorised: bool,
    factors: Factors,
    /// Whether rows had to be exchanged, and the dense factors with their exchanges.
    exchanged: bool,
    dense: Vec<f64>,
    exchanges: Vec<usize>,
}

impl PivotedFactors {
    /// Prepares for square matrices with entries at these places, which are sorted.
    pub fn new(size: usize, places: &[(usize, usize)]) -> PivotedFactors {
        let pattern = Pattern::new(size, size, places);
        PivotedFactors {
            factors: Factors::analyse(&pattern),
            entries: vec![0.0; places.len()],
            factorised: false,
            exchanged: false,
            dense: Vec::new(),
            exchanges: Vec::new(),
            pattern,
        }
    }

    /// Factorises the matrix with these values; a singular one gives solutions that are not finite.
    pub fn factorise(&mut self, values: impl Iterator<Item = f64>) {
        let mut changed = !self.factorised;
        for (entry, value) in self.entries.iter_mut().zip(values) {
            changed |= entry.to_bits() != value.to_bits();
            *entry = value;
        }
        if !changed {
            return;
        }
        self.factorised = true;
        // Few rows cost little to exchange; and forces that cancel must do so to the last bit, for which
        // a reciprocal is not good enough.
        self.exchanged = self.pattern.rows() <= DENSE_SIZE
            || self
                .factors
                .factorise(
                    &self.pattern,
                    &self.entries,
                    Form { unit: 0.0, scale: 1.0, least: DIAGONAL_PIVOT },
                )
                .is_err();
        if self.exchanged {
            let n = self.pattern.rows();
            self.dense.clear();
            self.dense.resize(n * n, 0.0);
            for row in 0..n {
                for e in self.pattern.row(row) {
                    self.dense[row * n + self.pattern.at[e] as usize] = self.entries[e];
                }
            }
            factorise(&mut self.dense, n, &mut self.exchanges);
        }
    }

    /// Solves for one right-hand side, in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        if self.exchanged {
            solve(&self.dense, &self.exchanges, b);
        } else {
            self.factors.solve(b);
        }
    }
}

/// Factorises a dense matrix in place with row exchanges; a singular one gives values that are not finite.
fn factorise(matrix: &mut [f64], n: usize, exchanges: &mut Vec<usize>) {
    exchanges.clear();
    for k in 0..n {
        let mut best = k;
        for row in k + 1..n {
            if matrix[row * n + k].abs() > matrix[best * n + k].abs() {
                best = row;
            }
        }
        exchanges.push(best);
        if best != k {
            for column in 0..n {
                matrix.swap(k * n + column, best * n + column);
            }
        }
        let pivot = matrix[k * n + k];
        for row in k + 1..n {
            let factor = matrix[row * n + k] / pivot;
            matrix[row * n + k] = factor;
            if factor != 0.0 {
                for column in k + 1..n {
                    matrix[row * n + column] -= factor * matrix[k * n + column];
                }
            }
        }
    }
}

/// Solves with a dense factorisation, in place.
fn solve(matrix: &[f64], exchanges: &[usize], b: &mut [f64]) {
    let n = b.len();
    for k in 0..n {
        b.swap(k, exchanges[k]);
    }
    for row in 0..n {
        let known: f64 = (0..row).map(|k| matrix[row * n + k] * b[k]).sum();
        b[row] -= known;
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| matrix[row * n + k] * b[k]).sum();
        b[row] = (b[row] - known) / matrix[row * n + row];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of unknowns, with and without something on the diagonal.
    #[test]
    fn rows_are_exchanged_where_they_must() {
        for n in [1, 2, 4, 9] {
            for diagonal in [3.0, 1e-9, 0.0] {
                let mut places: Vec<(usize, usize)> =
                    (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n)]).collect();
                places.sort_unstable();
                places.dedup();
                let value = |(i, j): (usize, usize)| if i == j && n > 1 { diagonal } else { 1.0 + i as f64 };
                let x: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
                let mut b = vec![0.0; n];
                places.iter().for_each(|(i, j)| b[*i] += value((*i, *j)) * x[*j]);
                let mut matrix = PivotedFactors::new(n, &places);
                matrix.factorise(places.iter().map(|place| value(*place)));
                matrix.solve(&mut b);
                assert!(b.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-9), "{n} {diagonal}: {b:?} {x:?}");
            }
        }
    }
}
