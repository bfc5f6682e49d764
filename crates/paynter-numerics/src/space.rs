//! The matrices of a linear model as numbers.

use paynter_algebra::{EvalError, Pool, Symbol};
use paynter_equations::{Sparse, StateSpace};

/// A sparse matrix of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Triplets {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Row, column and value of the entries, ordered by row, then column.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Triplets {
    /// Evaluates the entries of a matrix of expressions.
    pub fn evaluate(
        pool: &Pool,
        matrix: &Sparse,
        value: &dyn Fn(Symbol) -> Option<f64>,
    ) -> Result<Triplets, EvalError> {
        let entries: Result<Vec<_>, EvalError> =
            matrix.entries.iter().map(|(i, j, e)| Ok((*i, *j, pool.eval(*e, value)?))).collect();
        Ok(Triplets { rows: matrix.rows, columns: matrix.columns, entries: entries? })
    }

    /// Writes the matrix out, row by row.
    pub fn dense(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.columns]; self.rows];
        for (i, j, value) in &self.entries {
            rows[*i][*j] += value;
        }
        rows
    }
}

/// x' = A x + Σ B_k u^(k), y = C x + Σ D_k u^(k), in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericSpace {
    /// State matrix.
    pub a: Triplets,
    /// Input matrices: of u, then of u', u'' …
    pub b: Vec<Triplets>,
    /// Output matrix.
    pub c: Triplets,
    /// Feed-through matrices: of u, then of u', u'' …
    pub d: Vec<Triplets>,
}

impl NumericSpace {
    /// Evaluates every entry of a state space.
    pub fn evaluate(
        pool: &Pool,
        space: &StateSpace,
        value: &dyn Fn(Symbol) -> Option<f64>,
    ) -> Result<NumericSpace, EvalError> {
        let all = |list: &[Sparse]| -> Result<Vec<Triplets>, EvalError> {
            list.iter().map(|m| Triplets::evaluate(pool, m, value)).collect()
        };
        Ok(NumericSpace {
            a: Triplets::evaluate(pool, &space.a, value)?,
            b: all(&space.b)?,
            c: Triplets::evaluate(pool, &space.c, value)?,
            d: all(&space.d)?,
        })
    }
}
