//! Sparse elimination that finds the rank on its way, factored once for many
//! right-hand sides: for Newton steps of systems that may determine too little
//! or repeat themselves, and for null spaces.

use std::collections::BTreeMap;

use paynter_algebra::elimination::{self, Arithmetic, Echelon, eliminate};

use crate::tolerance::{CANCELLED_DIFFERENCE, FULL_PIVOTING_SIZE};

/// A matrix, row by row.
pub(crate) type Rows = Vec<Vec<(usize, f64)>>;

/// A matrix in echelon form, with the steps that led there.
pub(crate) struct Elimination {
    echelon: Echelon<f64>,
    /// In order: the row that was changed, the row that was subtracted from it, and by which factor.
    steps: Vec<(usize, usize, f64)>,
    /// What the rows and the columns were multiplied by.
    row_scale: Vec<f64>,
    scale: Vec<f64>,
}

/// Floating point that takes differences for zero where all digits cancel, and keeps the steps.
struct Cancelling {
    steps: Vec<(usize, usize, f64)>,
}

impl Arithmetic for Cancelling {
    type Scalar = f64;

    fn divisor(&mut self, pivot: &f64) -> f64 {
        *pivot
    }

    fn quotient(&mut self, entry: &f64, divisor: &f64) -> f64 {
        entry / divisor
    }

    fn difference(&mut self, old: Option<&f64>, factor: &f64, value: &f64) -> Option<f64> {
        let (old, product) = (old.copied().unwrap_or(0.0), factor * value);
        let new = old - product;
        let cancelled = new.abs() <= CANCELLED_DIFFERENCE * (old.abs() + product.abs());
        (!cancelled).then_some(new)
    }

    fn subtracted(&mut self, from: usize, pivot: usize, factor: &f64) {
        self.steps.push((from, pivot, *factor));
    }
}

/// The transposed matrix.
pub(crate) fn transposed(rows: &Rows, columns: usize) -> Rows {
    let mut out = vec![Vec::new(); columns];
    for (i, row) in rows.iter().enumerate() {
        for &(j, value) in row {
            out[j].push((i, value));
        }
    }
    out
}

impl Elimination {
    /// Eliminates. With rows and columns brought to length one, an entry below `negligible` is a rounding
    /// error.
    pub fn new(rows: &Rows, columns: usize, negligible: f64) -> Elimination {
        let (scaled, row_scale, scale) = equilibrate(rows, columns);
        let mut arithmetic = Cancelling { steps: Vec::new() };
        let Ok(echelon) = eliminate(&mut arithmetic, scaled, columns, |_, state| {
            Ok::<_, std::convert::Infallible>(pivot(state, negligible))
        });
        Elimination { echelon, steps: arithmetic.steps, row_scale, scale }
    }

    /// The rank.
    pub fn rank(&self) -> usize {
        self.echelon.pivots.len()
    }

    /// Solves M x = b; equations that repeat others are not looked at, and what nothing determines is zero.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut right: Vec<f64> = right.iter().zip(&self.row_scale).map(|(b, scale)| b * scale).collect();
        for &(changed, pivot, factor) in &self.steps {
            right[changed] -= factor * right[pivot];
        }
        let mut values = vec![0.0; self.scale.len()];
        self.back_substitute(&mut values, Some(&right));
        values.iter().zip(&self.scale).map(|(value, scale)| value * scale).collect()
    }

    /// A basis of the vectors x with M x = 0. With columns of length one, entries below `zero` beside the
    /// free one are zero.
    pub fn null_space(&self, zero: f64) -> Vec<Vec<f64>> {
        let basis = self.free().into_iter().map(|free| {
            let mut values = vec![0.0; self.scale.len()];
            values[free] = 1.0;
            self.back_substitute(&mut values, None);
            let kept = |value: f64| if value.abs() < zero { 0.0 } else { value };
            values.iter().zip(&self.scale).map(|(value, scale)| kept(*value) * scale).collect()
        });
        basis.collect()
    }

    /// The columns that nothing determines.
    pub fn free(&self) -> Vec<usize> {
        let mut bound = vec![false; self.scale.len()];
        for &(_, j) in &self.echelon.pivots {
            bound[j] = true;
        }
        (0..bound.len()).filter(|&j| !bound[j]).collect()
    }

    fn back_substitute(&self, values: &mut [f64], right: Option<&[f64]>) {
        for &(i, j) in self.echelon.pivots.iter().rev() {
            let mut sum = right.map_or(0.0, |right| right[i]);
            for (&column, value) in self.echelon.rows[i].iter().filter(|(column, _)| **column != j) {
                sum -= value * values[column];
            }
            values[j] = sum / self.echelon.rows[i][&j];
        }
    }
}

/// The reduced echelon form of a few dense vectors in their first columns: vectors of the same space with as many
/// zeros as possible. Entries this much smaller than their vector, or than what they are the difference of, are zero.
pub(crate) fn reduced_echelon(mut basis: Vec<Vec<f64>>, columns: usize, negligible: f64) -> Vec<Vec<f64>> {
    let mut done = 0;
    for j in 0..columns {
        let largest = |c: &Vec<f64>| c.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let relative = |c: &Vec<f64>| c[j].abs() / largest(c).max(f64::MIN_POSITIVE);
        let Some(k) =
            (done..basis.len()).max_by(|&a, &b| relative(&basis[a]).total_cmp(&relative(&basis[b])))
        else {
            break;
        };
        if relative(&basis[k]) < negligible {
            continue;
        }
        basis.swap(done, k);
        let pivot = basis[done][j];
        basis[done].iter_mut().for_each(|x| *x /= pivot);
        let row = basis[done].clone();
        for (_, other) in basis.iter_mut().enumerate().filter(|(k, _)| *k != done) {
            let factor = other[j];
            if factor == 0.0 {
                continue;
            }
            for (x, y) in other.iter_mut().zip(&row) {
                let new = *x - factor * y;
                *x = if new.abs() <= negligible * (x.abs() + (factor * y).abs()) { 0.0 } else { new };
            }
        }
        done += 1;
    }
    basis.truncate(done);
    basis
}

/// The largest entry of a small rest; an entry of a short row, not small
/// beside its neighbours, in a large one.
fn pivot(state: &elimination::Elimination<f64>, negligible: f64) -> Option<(usize, usize)> {
    let small = state.open().len() <= FULL_PIVOTING_SIZE;
    let mut best: Option<(usize, f64, usize, usize)> = None;
    for &(length, i) in state.open() {
        if !small && best.is_some_and(|(shortest, ..)| length > shortest) {
            break;
        }
        for (&j, value) in state.row(i) {
            let size = value.abs();
            if size > negligible && best.is_none_or(|(_, largest, ..)| size > largest) {
                best = Some((length, size, i, j));
            }
        }
    }
    best.map(|(_, _, i, j)| (i, j))
}

/// Brings rows and columns to length one.
fn equilibrate(rows: &Rows, columns: usize) -> (Vec<BTreeMap<usize, f64>>, Vec<f64>, Vec<f64>) {
    let mut of_row = vec![1.0; rows.len()];
    let mut of_column = vec![1.0; columns];
    for _ in 0..3 {
        for (i, row) in rows.iter().enumerate() {
            let largest = row.iter().fold(0.0f64, |a, (j, value)| a.max((value * of_column[*j]).abs()));
            of_row[i] = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        }
        let mut largest = vec![0.0f64; columns];
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row {
                largest[*j] = largest[*j].max((value * of_row[i]).abs());
            }
        }
        for (scale, largest) in of_column.iter_mut().zip(&largest) {
            *scale = if *largest > 0.0 { 1.0 / largest } else { 1.0 };
        }
    }
    let mut scaled = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let mut map: BTreeMap<usize, f64> = BTreeMap::new();
        for &(j, value) in row.iter().filter(|(_, value)| *value != 0.0) {
            *map.entry(j).or_insert(0.0) += value * of_row[i] * of_column[j];
        }
        scaled.push(map);
    }
    (scaled, of_row, of_column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::NEGLIGIBLE_PIVOT;

    fn eliminated(rows: &Rows, columns: usize) -> Elimination {
        Elimination::new(rows, columns, NEGLIGIBLE_PIVOT)
    }

    #[test]
    fn repeated_equations_and_free_columns_are_found() {
        // x + y = 3, 2x + 2y = 6, and z is nowhere.
        let rows = vec![vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (1, 2.0)]];
        let found = eliminated(&rows, 3);
        let values = found.solve(&[3.0, 6.0]);
        assert!((values[0] + values[1] - 3.0).abs() < 1e-15);
        assert_eq!((found.rank(), found.free().len()), (1, 2));
        let basis = found.null_space(0.0);
        assert_eq!(basis.len(), 2);
        for vector in basis {
            assert!((vector[0] + vector[1]).abs() < 1e-15);
        }
    }

    #[test]
    fn a_small_leak_is_no_rounding_error() {
        let rows = vec![vec![(0, -1.0), (1, 1.0)], vec![(0, 1.0), (1, -1.0 - 1e-10)]];
        let found = eliminated(&rows, 2);
        assert!(found.free().is_empty());
        let values = found.solve(&[0.0, 1e-10]);
        assert!((values[0] + 1.0).abs() < 1e-5, "{values:?}");
    }

    #[test]
    fn scales_do_not_matter() {
        let rows = vec![vec![(0, 1e-9), (1, 2e12)], vec![(0, 3e-15), (1, -1e6)]];
        let values = eliminated(&rows, 2).solve(&[1e-9 * 5e9 + 2e12 * 3e-10, 3e-15 * 5e9 - 1e6 * 3e-10]);
        assert!((values[0] / 5e9 - 1.0).abs() < 1e-12, "{values:?}");
        assert!((values[1] / 3e-10 - 1.0).abs() < 1e-12, "{values:?}");
    }
}
