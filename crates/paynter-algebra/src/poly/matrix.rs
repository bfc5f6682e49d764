//! Sparse matrices of polynomials.

use std::collections::BTreeMap;

use super::polynomial::{Powers, max_degrees};
use super::{Poly, PolyError, Work};

/// A sparse matrix with polynomial entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    rows: usize,
    /// The entries that are not 0, by column, each column by row.
    columns: Vec<Vec<(usize, Poly)>>,
}

impl Matrix {
    /// Makes a matrix of zeros.
    pub fn new(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns: vec![Vec::new(); columns] }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the entries of a column that are not 0, by ascending row.
    pub fn column(&self, column: usize) -> &[(usize, Poly)] {
        self.columns.get(column).map_or(&[], Vec::as_slice)
    }

    /// Returns an entry if it is not 0.
    pub fn get(&self, row: usize, column: usize) -> Option<&Poly> {
        let entries = self.columns.get(column)?;
        entries.binary_search_by_key(&row, |e| e.0).ok().map(|place| &entries[place].1)
    }

    /// Sets an entry; outside the matrix nothing happens.
    pub fn set(&mut self, row: usize, column: usize, value: Poly) {
        if row >= self.rows || column >= self.columns.len() {
            return;
        }
        let entries = &mut self.columns[column];
        match (entries.binary_search_by_key(&row, |e| e.0), value.is_zero()) {
            (Ok(place), true) => {
                entries.remove(place);
            }
            (Ok(place), false) => entries[place].1 = value,
            (Err(_), true) => {}
            (Err(place), false) => entries.insert(place, (row, value)),
        }
    }

    /// Adds to an entry.
    pub fn add(&mut self, row: usize, column: usize, value: &Poly, work: &Work) -> Result<(), PolyError> {
        let sum = match self.get(row, column) {
            Some(old) => old.add(value, work)?,
            None => value.clone(),
        };
        self.set(row, column, sum);
        Ok(())
    }

    /// Returns the transpose.
    pub fn transpose(&self) -> Matrix {
        let mut transpose = Matrix::new(self.columns.len(), self.rows);
        for (column, entries) in self.columns.iter().enumerate() {
            for (row, value) in entries {
                transpose.columns[*row].push((column, value.clone()));
            }
        }
        transpose
    }

    /// Returns the matrix of some rows and columns, in the order given.
    pub fn submatrix(&self, rows: &[usize], columns: &[usize]) -> Matrix {
        let mut place = vec![None; self.rows];
        for (new, &old) in rows.iter().enumerate() {
            place[old] = Some(new);
        }
        let pick = |&column: &usize| {
            let mut entries: Vec<(usize, Poly)> =
                self.column(column).iter().filter_map(|(row, v)| Some((place[*row]?, v.clone()))).collect();
            entries.sort_by_key(|e| e.0);
            entries
        };
        Matrix { rows: rows.len(), columns: columns.iter().map(pick).collect() }
    }

    /// Returns the rows of the entries of each column.
    pub(super) fn pattern(&self) -> Vec<Vec<usize>> {
        self.columns.iter().map(|c| c.iter().map(|(row, _)| *row).collect()).collect()
    }

    /// Returns a bound for the degrees of all minors: the sum of the largest
    /// degrees by columns or by rows, whichever is less.
    pub(super) fn minor_degrees(&self) -> Powers {
        let (mut by_column, mut by_row) = (BTreeMap::new(), vec![Vec::new(); self.rows]);
        for entries in &self.columns {
            let mut most = Vec::new();
            for (row, value) in entries {
                let degrees = value.degrees();
                most = max_degrees(&most, &degrees);
                by_row[*row] = max_degrees(&by_row[*row], &degrees);
            }
            add_degrees(&mut by_column, &most);
        }
        let mut total = BTreeMap::new();
        by_row.iter().for_each(|degrees| add_degrees(&mut total, degrees));
        // Both know the same variables: those that occur.
        by_column.into_iter().zip(total.into_values()).map(|((v, a), b)| (v, a.min(b))).collect()
    }

    /// Applies a change to each entry.
    pub(super) fn map(&self, change: impl Fn(&Poly) -> Poly) -> Matrix {
        let mut result = Matrix::new(self.rows, self.columns.len());
        for (column, entries) in self.columns.iter().enumerate() {
            result.columns[column] =
                entries.iter().map(|(row, v)| (*row, change(v))).filter(|(_, v)| !v.is_zero()).collect();
        }
        result
    }
}

fn add_degrees(sum: &mut BTreeMap<usize, u32>, degrees: &[(usize, u32)]) {
    for &(variable, degree) in degrees {
        let total = sum.entry(variable).or_insert(0);
        *total = total.saturating_add(degree);
    }
}
