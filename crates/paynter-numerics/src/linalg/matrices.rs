//! The matrices of a linear model at one point of its parameters.

use paynter_algebra::{EvalError, Expr, Pool, Rational, Symbol};
use paynter_equations::StateSpace;

use super::exact_values;

/// A sparse matrix of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sparse<T = f64> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries, ordered by row, then column; some may be zero.
    pub entries: Vec<(usize, usize, T)>,
}

/// A linear model in numbers: x' = A x + Σ B_k u^(k), y = C x + Σ D_k u^(k).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrices<T = f64> {
    /// State matrix.
    pub a: Sparse<T>,
    /// Input matrices: B of u, then of u', u'' …
    pub b: Vec<Sparse<T>>,
    /// Output matrix.
    pub c: Sparse<T>,
    /// Feed-through matrices: D of u, then of u', u'' …
    pub d: Vec<Sparse<T>>,
}

impl<T> Sparse<T> {
    /// A matrix without entries.
    pub fn new(rows: usize, columns: usize) -> Sparse<T> {
        Sparse { rows, columns, entries: Vec::new() }
    }
}

impl Sparse<f64> {
    /// Writes the matrix out, row by row.
    pub fn dense(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.columns]; self.rows];
        for (i, j, value) in &self.entries {
            rows[*i][*j] += value;
        }
        rows
    }
}

impl Matrices<f64> {
    /// The dense A, B, C and D of the same model in states without derivatives of inputs: x − Σ Aⁱ B_k u^(k−1−i)
    /// in place of x. An entry of D is infinite where an output follows the derivative of an input.
    pub fn proper(&self) -> [Vec<Vec<f64>>; 4] {
        let (a, c, inputs) = (self.a.dense(), self.c.dense(), self.inputs());
        let mut b = vec![vec![0.0; inputs]; self.states()];
        // s^k (sI − A)⁻¹ = A^k (sI − A)⁻¹ + Σ s^(k−1−i) A^i over i < k, by Horner's rule from the highest k.
        let mut polynomial = vec![vec![vec![0.0; inputs]; c.len()]; self.b.len().max(self.d.len()).max(1)];
        for (k, own) in self.b.iter().enumerate().rev() {
            polynomial[k] = product(&c, &b, inputs);
            b = product(&a, &b, inputs);
            for (i, j, value) in &own.entries {
                b[*i][*j] += value;
            }
        }
        for (k, own) in self.d.iter().enumerate() {
            for (i, j, value) in &own.entries {
                polynomial[k][*i][*j] += value;
            }
        }
        let mut d = polynomial.remove(0);
        for (i, row) in d.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                if polynomial.iter().any(|higher| higher[i][j] != 0.0) {
                    *entry = f64::INFINITY;
                }
            }
        }
        [a, b, c, d]
    }
}

/// The product of dense matrices, the second of so many columns.
fn product(left: &[Vec<f64>], right: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let row = |row: &Vec<f64>| {
        let entry = |j: usize| row.iter().zip(right).map(|(x, other)| x * other[j]).sum();
        (0..columns).map(entry).collect()
    };
    left.iter().map(row).collect()
}

impl<T> Matrices<T> {
    /// Number of states.
    pub fn states(&self) -> usize {
        self.a.rows
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.b.first().map_or(0, |b| b.columns)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.c.rows
    }

    /// Keeps only these outputs and inputs, in this order.
    #[must_use]
    pub fn select(&self, outputs: &[usize], inputs: &[usize]) -> Matrices<T>
    where
        T: Clone,
    {
        let pick = |matrix: &Sparse<T>, rows: Option<&[usize]>, columns: Option<&[usize]>| {
            let place = |list: Option<&[usize]>, k: usize| match list {
                Some(list) => list.iter().position(|&kept| kept == k),
                None => Some(k),
            };
            let mut picked = Sparse::new(
                rows.map_or(matrix.rows, <[usize]>::len),
                columns.map_or(matrix.columns, <[usize]>::len),
            );
            for (i, j, value) in &matrix.entries {
                if let (Some(i), Some(j)) = (place(rows, *i), place(columns, *j)) {
                    picked.entries.push((i, j, value.clone()));
                }
            }
            picked.entries.sort_by_key(|(i, j, _)| (*i, *j));
            picked
        };
        Matrices {
            a: self.a.clone(),
            b: self.b.iter().map(|b| pick(b, None, Some(inputs))).collect(),
            c: pick(&self.c, Some(outputs), None),
            d: self.d.iter().map(|d| pick(d, Some(outputs), Some(inputs))).collect(),
        }
    }

    /// Fills the pattern of symbolic matrices with values, in the order of [`entries`].
    fn fill(space: &StateSpace, values: Vec<T>) -> Matrices<T> {
        let mut values = values.into_iter();
        let mut matrix = |symbolic: &paynter_equations::Sparse| Sparse {
            rows: symbolic.rows,
            columns: symbolic.columns,
            entries: symbolic
                .entries
                .iter()
                .zip(values.by_ref())
                .map(|((i, j, _), value)| (*i, *j, value))
                .collect(),
        };
        Matrices {
            a: matrix(&space.a),
            b: space.b.iter().map(&mut matrix).collect(),
            c: matrix(&space.c),
            d: space.d.iter().map(&mut matrix).collect(),
        }
    }
}

impl<T> Matrices<T> {
    /// Leaves out the numbers of entries that do not count.
    pub fn retain(&mut self, space: &StateSpace, counts: impl Fn(Expr) -> bool) {
        let symbolic = [&space.a].into_iter().chain(&space.b).chain([&space.c]).chain(&space.d);
        let numbers = [&mut self.a].into_iter().chain(&mut self.b).chain([&mut self.c]).chain(&mut self.d);
        for (symbolic, numbers) in symbolic.zip(numbers) {
            let mut entries = symbolic.entries.iter();
            numbers.entries.retain(|_| entries.next().is_none_or(|(_, _, entry)| counts(*entry)));
        }
    }
}

/// All entries, matrix by matrix: A, the B, C, the D.
fn entries(space: &StateSpace) -> Vec<Expr> {
    [&space.a]
        .into_iter()
        .chain(&space.b)
        .chain([&space.c])
        .chain(&space.d)
        .flat_map(|matrix| matrix.entries.iter().map(|(_, _, entry)| *entry))
        .collect()
}

impl Matrices<f64> {
    /// Evaluates the matrices in floating point.
    pub fn evaluate(
        pool: &Pool,
        space: &StateSpace,
        value: &dyn Fn(Symbol) -> Option<f64>,
    ) -> Result<Matrices, EvalError> {
        let values = entries(space).into_iter().map(|entry| pool.eval(entry, value));
        Ok(Matrices::fill(space, values.collect::<Result<_, _>>()?))
    }
}

impl Matrices<Rational> {
    /// Evaluates the matrices in exact numbers (see [`exact_values`]).
    pub fn exact(
        pool: &Pool,
        space: &StateSpace,
        value: &dyn Fn(Symbol) -> Option<Rational>,
    ) -> Result<Matrices<Rational>, EvalError> {
        Ok(Matrices::fill(space, exact_values(pool, &entries(space), value)?))
    }
}
