//! Sparse elimination that finds the rank on its way, factored once for many
//! right-hand sides: for Newton steps of systems that may determine too little
//! or repeat themselves, and for null spaces.

use std::collections::{BTreeMap, BTreeSet};

use crate::tolerance::{CANCELLED_DIFFERENCE, FULL_PIVOTING_SIZE};

/// A matrix, row by row.
pub(crate) type Rows = Vec<Vec<(usize, f64)>>;

/// A matrix in echelon form, with the steps that led there.
pub(crate) struct Elimination {
    rows: Vec<BTreeMap<usize, f64>>,
    /// In order: the row that was changed, the row that was subtracted from it, and how often.
    steps: Vec<(usize, usize, f64)>,
    /// Rows and columns of the pivots, in order.
    pivots: Vec<(usize, usize)>,
    /// What the rows and the columns were multiplied by.
    row_scale: Vec<f64>,
    scale: Vec<f64>,
    /// With rows and columns of length one, what is smaller than this is no pivot.
    negligible: f64,
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
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); columns];
        for (i, row) in scaled.iter().enumerate() {
            for &j in row.keys() {
                users[j].push(i);
            }
        }
        let mut found =
            Elimination { rows: scaled, steps: Vec::new(), pivots: Vec::new(), row_scale, scale, negligible };
        let mut open: BTreeSet<(usize, usize)> =
            (0..rows.len()).map(|i| (found.rows[i].len(), i)).filter(|(length, _)| *length > 0).collect();
        while let Some((i, j)) = found.pivot(&open) {
            open.remove(&(found.rows[i].len(), i));
            found.eliminate(i, j, &mut open, &mut users);
            found.pivots.push((i, j));
        }
        found
    }

    /// The rank.
    pub fn rank(&self) -> usize {
        self.pivots.len()
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
        for &(_, j) in &self.pivots {
            bound[j] = true;
        }
        (0..bound.len()).filter(|&j| !bound[j]).collect()
    }

    /// The largest entry of a small rest; an entry of a short row, not small
    /// beside its neighbours, in a large one.
    fn pivot(&self, open: &BTreeSet<(usize, usize)>) -> Option<(usize, usize)> {
        let small = open.len() <= FULL_PIVOTING_SIZE;
        let mut best: Option<(usize, f64, usize, usize)> = None;
        for &(length, i) in open {
            if !small && best.is_some_and(|(shortest, ..)| length > shortest) {
                break;
            }
            for (&j, value) in &self.rows[i] {
                let size = value.abs();
                if size > self.negligible && best.is_none_or(|(_, largest, ..)| size > largest) {
                    best = Some((length, size, i, j));
                }
            }
        }
        best.map(|(_, _, i, j)| (i, j))
    }

    fn eliminate(
        &mut self,
        i: usize,
        j: usize,
        open: &mut BTreeSet<(usize, usize)>,
        users: &mut [Vec<usize>],
    ) {
        let pivot_row = std::mem::take(&mut self.rows[i]);
        let pivot = pivot_row[&j];
        for r in std::mem::take(&mut users[j]) {
            if !open.remove(&(self.rows[r].len(), r)) {
                continue;
            }
            if let Some(entry) = self.rows[r].remove(&j) {
                let factor = entry / pivot;
                for (&column, &value) in pivot_row.iter().filter(|(column, _)| **column != j) {
                    let product = factor * value;
                    let old = self.rows[r].get(&column).copied().unwrap_or(0.0);
                    let new = old - product;
                    if new.abs() <= CANCELLED_DIFFERENCE * (old.abs() + product.abs()) {
                        self.rows[r].remove(&column);
                    } else if self.rows[r].insert(column, new).is_none() {
                        users[column].push(r);
                    }
                }
                self.steps.push((r, i, factor));
            }
            if !self.rows[r].is_empty() {
                open.insert((self.rows[r].len(), r));
            }
        }
        self.rows[i] = pivot_row;
    }

    fn back_substitute(&self, values: &mut [f64], right: Option<&[f64]>) {
        for &(i, j) in self.pivots.iter().rev() {
            let mut sum = right.map_or(0.0, |right| right[i]);
            for (&column, value) in self.rows[i].iter().filter(|(column, _)| **column != j) {
                sum -= value * values[column];
            }
            values[j] = sum / self.rows[i][&j];
        }
    }
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
