//! Sparse elimination that finds the rank on its way: for Newton steps of
//! systems that may determine too little or repeat themselves, and for null spaces.

use std::collections::{BTreeMap, BTreeSet};

/// A matrix, row by row.
pub(super) type Rows = Vec<Vec<(usize, f64)>>;

/// With rows and columns of length one, what is smaller than this is a rounding error.
const NEGLIGIBLE: f64 = 1e-13;

/// A difference this much smaller than its parts is a rounding error.
const CANCELLED: f64 = 1e-14;

/// Up to this size the largest entry is the pivot; above, one with little fill-in.
const SMALL: usize = 120;

/// A matrix in echelon form.
struct Echelon {
    rows: Vec<BTreeMap<usize, f64>>,
    right: Vec<f64>,
    /// Rows and columns of the pivots, in order.
    pivots: Vec<(usize, usize)>,
    /// What the columns were multiplied by.
    scale: Vec<f64>,
}

/// The solution of a system, as far as it determines one.
pub(super) struct Solution {
    /// Values; those that nothing determines are zero.
    pub values: Vec<f64>,
    /// The columns that nothing determines.
    pub free: Vec<usize>,
}

/// Solves M x = b; equations that repeat others are not looked at.
pub(super) fn solve(rows: &Rows, right: &[f64], columns: usize) -> Solution {
    let echelon = Echelon::new(rows, right, columns);
    let free = echelon.free(columns);
    let mut values = vec![0.0; columns];
    echelon.back_substitute(&mut values, true);
    for (value, scale) in values.iter_mut().zip(&echelon.scale) {
        *value *= scale;
    }
    Solution { values, free }
}

/// A basis of the vectors x with M x = 0.
pub(super) fn null_space(rows: &Rows, columns: usize) -> Vec<Vec<f64>> {
    let echelon = Echelon::new(rows, &vec![0.0; rows.len()], columns);
    let basis = echelon.free(columns).into_iter().map(|free| {
        let mut values = vec![0.0; columns];
        values[free] = 1.0;
        echelon.back_substitute(&mut values, false);
        values.iter().zip(&echelon.scale).map(|(value, scale)| value * scale).collect()
    });
    basis.collect()
}

/// The transposed matrix.
pub(super) fn transposed(rows: &Rows, columns: usize) -> Rows {
    let mut out = vec![Vec::new(); columns];
    for (i, row) in rows.iter().enumerate() {
        for &(j, value) in row {
            out[j].push((i, value));
        }
    }
    out
}

impl Echelon {
    fn new(rows: &Rows, right: &[f64], columns: usize) -> Echelon {
        let (scaled, right, scale) = equilibrate(rows, right, columns);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); columns];
        for (i, row) in scaled.iter().enumerate() {
            for &j in row.keys() {
                users[j].push(i);
            }
        }
        let mut echelon = Echelon { rows: scaled, right, pivots: Vec::new(), scale };
        let mut open: BTreeSet<(usize, usize)> =
            (0..rows.len()).map(|i| (echelon.rows[i].len(), i)).filter(|(length, _)| *length > 0).collect();
        while let Some((i, j)) = echelon.pivot(&open) {
            open.remove(&(echelon.rows[i].len(), i));
            echelon.eliminate(i, j, &mut open, &mut users);
            echelon.pivots.push((i, j));
        }
        echelon
    }

    /// The largest entry of a small rest; an entry of a short row, not small
    /// beside its neighbours, in a large one.
    fn pivot(&self, open: &BTreeSet<(usize, usize)>) -> Option<(usize, usize)> {
        let small = open.len() <= SMALL;
        let mut best: Option<(usize, f64, usize, usize)> = None;
        for &(length, i) in open {
            if !small && best.is_some_and(|(shortest, ..)| length > shortest) {
                break;
            }
            for (&j, value) in &self.rows[i] {
                let size = value.abs();
                if size > NEGLIGIBLE && best.is_none_or(|(_, largest, ..)| size > largest) {
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
                    if new.abs() <= CANCELLED * (old.abs() + product.abs()) {
                        self.rows[r].remove(&column);
                    } else if self.rows[r].insert(column, new).is_none() {
                        users[column].push(r);
                    }
                }
                self.right[r] -= factor * self.right[i];
            }
            if !self.rows[r].is_empty() {
                open.insert((self.rows[r].len(), r));
            }
        }
        self.rows[i] = pivot_row;
    }

    fn free(&self, columns: usize) -> Vec<usize> {
        let mut bound = vec![false; columns];
        for &(_, j) in &self.pivots {
            bound[j] = true;
        }
        (0..columns).filter(|&j| !bound[j]).collect()
    }

    fn back_substitute(&self, values: &mut [f64], with_right: bool) {
        for &(i, j) in self.pivots.iter().rev() {
            let mut sum = if with_right { self.right[i] } else { 0.0 };
            for (&column, value) in self.rows[i].iter().filter(|(column, _)| **column != j) {
                sum -= value * values[column];
            }
            values[j] = sum / self.rows[i][&j];
        }
    }
}

/// Brings rows and columns to length one.
fn equilibrate(
    rows: &Rows,
    right: &[f64],
    columns: usize,
) -> (Vec<BTreeMap<usize, f64>>, Vec<f64>, Vec<f64>) {
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
    let right = right.iter().zip(&of_row).map(|(b, scale)| b * scale).collect();
    (scaled, right, of_column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_equations_and_free_columns_are_found() {
        // x + y = 3, 2x + 2y = 6, and z is nowhere.
        let rows = vec![vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (1, 2.0)]];
        let found = solve(&rows, &[3.0, 6.0], 3);
        assert!((found.values[0] + found.values[1] - 3.0).abs() < 1e-15);
        assert_eq!(found.free.len(), 2);
        let basis = null_space(&rows, 3);
        assert_eq!(basis.len(), 2);
        for vector in basis {
            assert!((vector[0] + vector[1]).abs() < 1e-15);
        }
    }

    #[test]
    fn a_small_leak_is_no_rounding_error() {
        let rows = vec![vec![(0, -1.0), (1, 1.0)], vec![(0, 1.0), (1, -1.0 - 1e-10)]];
        let found = solve(&rows, &[0.0, 1e-10], 2);
        assert!(found.free.is_empty());
        assert!((found.values[0] + 1.0).abs() < 1e-5, "{:?}", found.values);
    }

    #[test]
    fn scales_do_not_matter() {
        let rows = vec![vec![(0, 1e-9), (1, 2e12)], vec![(0, 3e-15), (1, -1e6)]];
        let found = solve(&rows, &[1e-9 * 5e9 + 2e12 * 3e-10, 3e-15 * 5e9 - 1e6 * 3e-10], 2);
        assert!((found.values[0] / 5e9 - 1.0).abs() < 1e-12, "{:?}", found.values);
        assert!((found.values[1] / 3e-10 - 1.0).abs() < 1e-12, "{:?}", found.values);
    }
}
