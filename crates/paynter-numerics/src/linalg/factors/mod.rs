//! Real matrices with a fixed pattern, whose values change often: analysed
//! once, factorised and solved many times, also for several right-hand sides at
//! once in vector registers.

mod pivoted;
mod small;
mod sparse;

pub use pivoted::PivotedFactors;

use super::Singular;
use crate::tolerance::DENSE_SIZE;
use small::SmallFactors;
use sparse::SparseFactors;

/// Where the entries of a sparse matrix stand, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// The number of columns.
    pub columns: usize,
    /// Where each row starts among the entries; one more than there are rows.
    pub starts: Vec<u32>,
    /// The column of each entry, rising within a row.
    pub at: Vec<u32>,
}

impl Pattern {
    /// Makes the pattern of places (row, column), which are sorted and distinct.
    pub fn new(rows: usize, columns: usize, places: &[(usize, usize)]) -> Pattern {
        let mut starts = vec![0u32; rows + 1];
        for (row, _) in places {
            starts[row + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        Pattern { columns, starts, at: places.iter().map(|(_, c)| *c as u32).collect() }
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is an entry everywhere.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.at.len() == self.rows() * self.columns
    }

    /// The entries of a row.
    #[inline]
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }
}

/// The matrix unit·1 + scale·J that is factorised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// The factor of the unit matrix.
    pub unit: f64,
    /// The factor of J.
    pub scale: f64,
    /// Pivots must be larger than this part of the largest entry of their row.
    pub least: f64,
}

/// A factorisation with pivots on the diagonal.
#[derive(Debug, Clone)]
pub enum Factors {
    /// Of few rows.
    Small(SmallFactors),
    /// Of many rows.
    Sparse(SparseFactors),
}

impl Factors {
    /// Prepares for matrices of a pattern.
    pub fn analyse(pattern: &Pattern) -> Factors {
        match pattern.rows() {
            rows @ 0..=DENSE_SIZE => Factors::Small(SmallFactors::new(rows)),
            _ => Factors::Sparse(SparseFactors::analyse(pattern)),
        }
    }

    /// Factorises a matrix made from J.
    pub fn factorise(&mut self, pattern: &Pattern, values: &[f64], form: Form) -> Result<(), Singular> {
        match self {
            Factors::Small(small) => small.factorise(pattern, values, form),
            Factors::Sparse(sparse) => sparse.factorise(pattern, values, form),
        }
    }

    /// Solves for one right-hand side, in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve(b),
            Factors::Sparse(sparse) => sparse.solve(b),
        }
    }

    /// Solves with the transposed matrix, in place.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve_transposed(b),
            Factors::Sparse(sparse) => sparse.solve_transposed(b),
        }
    }

    /// Solves for W right-hand sides at once, row by row in `b`; in place.
    #[inline(always)]
    pub fn solve_lanes<const W: usize>(&self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve_lanes::<W>(b),
            Factors::Sparse(sparse) => sparse.solve_lanes::<W>(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_it_factorised() {
        for n in [1, 2, 3, 5, 6, 7, 12] {
            solves(n);
        }
    }

    fn solves(n: usize) {
        // An arrow and a ring: fill-in on both.
        let mut places = Vec::new();
        for i in 0..n {
            for j in [0, i, (i + 1) % n, (i + n - 1) % n] {
                places.push((i, j));
            }
        }
        places.sort_unstable();
        places.dedup();
        let pattern = Pattern::new(n, n, &places);
        let values: Vec<f64> = (0..places.len()).map(|i| ((i * 37 % 11) as f64 - 5.0) / 3.0).collect();
        let mut factors = Factors::analyse(&pattern);
        factors.factorise(&pattern, &values, Form { unit: 1.0, scale: -0.1, least: 1e-11 }).unwrap();
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.5).collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| x[i] - 0.1 * pattern.row(i).map(|e| values[e] * x[pattern.at[e] as usize]).sum::<f64>())
            .collect();
        // The transposed system, by bᵀ(M⁻¹c) = cᵀ(M⁻ᵀb).
        let (mut c, mut d): (Vec<f64>, Vec<f64>) = ((0..n).map(|i| (i * i + 1) as f64).collect(), b.clone());
        let (c0, d0) = (c.clone(), d.clone());
        factors.solve(&mut c);
        factors.solve_transposed(&mut d);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((dot(&d0, &c) - dot(&c0, &d)).abs() < 1e-9 * dot(&d0, &c).abs());
        let mut lanes: Vec<f64> = b.iter().flat_map(|v| [*v, 2.0 * v, 0.0, -v]).collect();
        factors.solve(&mut b);
        factors.solve_lanes::<4>(&mut lanes);
        for i in 0..n {
            assert!((b[i] - x[i]).abs() < 1e-12, "row {i}");
            assert!((lanes[4 * i + 1] - 2.0 * x[i]).abs() < 1e-11 && lanes[4 * i + 2] == 0.0);
        }
    }
}
