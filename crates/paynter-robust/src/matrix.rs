//! Small dense matrices, row by row: what the bounds are calculated with.
//! Eigenvalues are left to `faer`.

use num_complex::Complex64;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Sub};

/// A dense matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix<T = f64> {
    rows: usize,
    columns: usize,
    entries: Vec<T>,
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.entries[i * self.columns + j]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.entries[i * self.columns + j]
    }
}

/// What entries of a matrix can do.
pub trait Number:
    Copy + Default + PartialEq + Root + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + AddAssign
{
    /// One.
    const UNIT: Self;
    /// Its distance from zero.
    fn size(self) -> f64;
    /// Its reciprocal.
    fn reciprocal(self) -> Self;
    /// Its complex conjugate.
    fn conjugate(self) -> Self;
}

impl Number for f64 {
    const UNIT: f64 = 1.0;
    #[inline]
    fn size(self) -> f64 {
        self.abs()
    }
    #[inline]
    fn reciprocal(self) -> f64 {
        1.0 / self
    }
    #[inline]
    fn conjugate(self) -> f64 {
        self
    }
}

impl Number for Complex64 {
    const UNIT: Complex64 = Complex64::ONE;
    #[inline]
    fn size(self) -> f64 {
        self.norm()
    }
    #[inline]
    fn reciprocal(self) -> Complex64 {
        self.inv()
    }
    #[inline]
    fn conjugate(self) -> Complex64 {
        self.conj()
    }
}

impl<T: Number> Matrix<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix<T> {
        Matrix { rows, columns, entries: vec![T::default(); rows * columns] }
    }

    /// A matrix by its entries.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Matrix<T> {
        let mut entries = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            entries.extend((0..columns).map(|j| entry(i, j)));
        }
        Matrix { rows, columns, entries }
    }

    /// A matrix by its rows, which all have so many columns.
    pub fn from_rows(columns: usize, rows: &[Vec<T>]) -> Matrix<T> {
        Matrix::from_fn(rows.len(), columns, |i, j| rows[i][j])
    }

    /// The identity.
    pub fn identity(n: usize) -> Matrix<T> {
        Matrix::from_fn(n, n, |i, j| if i == j { T::UNIT } else { T::default() })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[T] {
        &self.entries[i * self.columns..(i + 1) * self.columns]
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// The part of some rows and columns, in their order.
    pub fn part(&self, rows: &[usize], columns: &[usize]) -> Matrix<T> {
        Matrix::from_fn(rows.len(), columns.len(), |i, j| self[(rows[i], columns[j])])
    }

    /// The product with another matrix.
    pub fn times(&self, other: &Matrix<T>) -> Matrix<T> {
        let mut product = Matrix::zeros(self.rows, other.columns);
        let width = other.columns;
        for i in 0..self.rows {
            let target = &mut product.entries[i * width..(i + 1) * width];
            for (k, factor) in self.row(i).iter().enumerate() {
                add_row(target, *factor, other.row(k));
            }
        }
        product
    }

    /// The conjugate transpose.
    pub fn adjoint(&self) -> Matrix<T> {
        Matrix::from_fn(self.columns, self.rows, |i, j| self[(j, i)].conjugate())
    }

    /// The sum with another matrix.
    pub fn plus(&self, other: &Matrix<T>) -> Matrix<T> {
        self.zip(other, |a, b| a + b)
    }

    /// The difference from another matrix.
    pub fn minus(&self, other: &Matrix<T>) -> Matrix<T> {
        self.zip(other, |a, b| a - b)
    }

    /// Entry by entry with another matrix.
    pub fn zip(&self, other: &Matrix<T>, combine: impl Fn(T, T) -> T) -> Matrix<T> {
        let entries = self.entries.iter().zip(&other.entries).map(|(a, b)| combine(*a, *b)).collect();
        Matrix { entries, ..*self }
    }

    /// Entry by entry.
    pub fn map<U>(&self, change: impl Fn(T) -> U) -> Matrix<U> {
        let entries = self.entries.iter().map(|x| change(*x)).collect();
        Matrix { rows: self.rows, columns: self.columns, entries }
    }

    /// The largest entry in magnitude.
    pub fn largest(&self) -> f64 {
        self.entries.iter().fold(0.0, |most, x| most.max(x.size()))
    }

    /// Solves X from `self` X = `right` by elimination with partial pivoting; nothing where a
    /// pivot is zero or no number.
    pub fn solve(&self, right: &Matrix<T>) -> Option<Matrix<T>> {
        self.solve_with_determinant(right).map(|(solution, _)| solution)
    }

    /// Solves likewise, and tells the determinant of `self`.
    pub fn solve_with_determinant(&self, right: &Matrix<T>) -> Option<(Matrix<T>, T)> {
        let n = self.rows;
        let (mut a, mut x) = (self.clone(), right.clone());
        let mut determinant = T::UNIT;
        for k in 0..n {
            let pivot = (k..n).max_by(|i, j| a[(*i, k)].size().total_cmp(&a[(*j, k)].size()))?;
            let size = a[(pivot, k)].size();
            if !(size > 0.0 && size.is_finite()) {
                return None;
            }
            a.swap_rows(k, pivot);
            x.swap_rows(k, pivot);
            determinant = if k == pivot { determinant } else { T::default() - determinant } * a[(k, k)];
            let inverse = a[(k, k)].reciprocal();
            for i in k + 1..n {
                let factor = a[(i, k)] * inverse;
                if factor == T::default() {
                    continue;
                }
                a.subtract_row(i, k, factor, k + 1);
                x.subtract_row(i, k, factor, 0);
            }
        }
        for k in (0..n).rev() {
            let inverse = a[(k, k)].reciprocal();
            for j in 0..x.columns {
                let mut sum = x[(k, j)];
                for i in k + 1..n {
                    sum = sum - a[(k, i)] * x[(i, j)];
                }
                x[(k, j)] = sum * inverse;
            }
        }
        Some((x, determinant))
    }

    /// The inverse; nothing where there is none.
    pub fn inverse(&self) -> Option<Matrix<T>> {
        self.solve(&Matrix::identity(self.rows))
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            (0..self.columns).for_each(|j| self.entries.swap(a * self.columns + j, b * self.columns + j));
        }
    }

    /// Subtracts a multiple of row k from row i (i > k), from a column on.
    fn subtract_row(&mut self, i: usize, k: usize, factor: T, from: usize) {
        let (above, below) = self.entries.split_at_mut(i * self.columns);
        let source = &above[k * self.columns + from..(k + 1) * self.columns];
        for (x, y) in below[from..self.columns].iter_mut().zip(source) {
            *x = *x - factor * *y;
        }
    }

    /// Solves L from L L* = `self`, the lower triangle of a Hermitian matrix; nothing where it is
    /// not positive definite.
    pub fn cholesky(&self) -> Option<Matrix<T>> {
        let n = self.rows;
        let mut l: Matrix<T> = Matrix::zeros(n, n);
        let mut reciprocals = Vec::with_capacity(n);
        for i in 0..n {
            let (above, below) = l.entries.split_at_mut(i * n);
            let row = &mut below[..=i];
            for j in 0..=i {
                let upper = if j < i { &above[j * n..j * n + j] } else { &[] };
                let mut sum = self[(i, j)];
                if j < i {
                    for (x, y) in row[..j].iter().zip(upper) {
                        sum = sum - *x * y.conjugate();
                    }
                    row[j] = sum * reciprocals[j];
                } else {
                    for x in &row[..j] {
                        sum = sum - *x * x.conjugate();
                    }
                    row[j] = T::root(sum)?;
                    reciprocals.push(row[j].reciprocal());
                }
            }
        }
        Some(l)
    }

    /// The inverse of L L* where `self` is the lower triangle L.
    pub fn inverse_of_square(&self) -> Matrix<T> {
        let n = self.rows;
        let mut inverse: Matrix<T> = Matrix::zeros(n, n);
        for i in 0..n {
            let factor = self[(i, i)].reciprocal();
            let (above, below) = inverse.entries.split_at_mut(i * n);
            let row = &mut below[..=i];
            for (k, entry) in self.row(i)[..i].iter().enumerate() {
                let factor = T::default() - *entry * factor;
                add_row(&mut row[..=k], factor, &above[k * n..=k * n + k]);
            }
            row[i] = factor;
        }
        let mut product = Matrix::zeros(n, n);
        for k in 0..n {
            let row = &inverse.entries[k * n..=k * n + k];
            for i in 0..=k {
                add_row(&mut product.entries[i * n..=i * n + i], row[i].conjugate(), &row[..=i]);
            }
        }
        product.mirror();
        product
    }

    /// The product with another matrix where it is known to be Hermitian.
    pub fn hermitian_times(&self, other: &Matrix<T>) -> Matrix<T> {
        let n = self.rows;
        let mut product = Matrix::zeros(n, n);
        for i in 0..n {
            let target = &mut product.entries[i * n..=i * n + i];
            for (k, factor) in self.row(i).iter().enumerate() {
                add_row(target, *factor, &other.row(k)[..=i]);
            }
        }
        product.mirror();
        product
    }

    /// Makes a Hermitian matrix of its lower triangle.
    fn mirror(&mut self) {
        for i in 0..self.rows {
            for j in 0..i {
                self[(j, i)] = self[(i, j)].conjugate();
            }
        }
    }
}

/// Adds a multiple of a row to another.
#[inline]
fn add_row<T: Number>(target: &mut [T], factor: T, row: &[T]) {
    if factor != T::default() {
        for (sum, x) in target.iter_mut().zip(row) {
            *sum += factor * *x;
        }
    }
}

/// Square roots of pivots.
pub trait Root: Sized {
    /// The root of a positive number; nothing for any other.
    fn root(self) -> Option<Self>;
}

impl Root for f64 {
    #[inline]
    fn root(self) -> Option<f64> {
        (self > 0.0 && self.is_finite()).then(|| self.sqrt())
    }
}

impl Root for Complex64 {
    #[inline]
    fn root(self) -> Option<Complex64> {
        self.re.root().map(Complex64::from)
    }
}

impl Matrix<f64> {
    /// The same matrix over the complex numbers.
    pub fn complex(&self) -> Matrix<Complex64> {
        self.map(Complex64::from)
    }

    /// The eigenvalues; nothing where the iteration does not converge.
    pub fn eigenvalues(&self) -> Option<Vec<Complex64>> {
        if self.entries.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let values = faer::Mat::from_fn(self.rows, self.rows, |i, j| self[(i, j)]).eigenvalues().ok()?;
        Some(values.into_iter().map(|z| Complex64::new(z.re, z.im)).collect())
    }

    /// The largest real part of an eigenvalue.
    pub fn abscissa(&self) -> Option<f64> {
        Some(self.eigenvalues()?.iter().fold(f64::NEG_INFINITY, |most, z| most.max(z.re)))
    }
}

impl Matrix<Complex64> {
    /// The eigenvalues; nothing where the iteration does not converge.
    pub fn eigenvalues(&self) -> Option<Vec<Complex64>> {
        if self.entries.iter().any(|x| !x.is_finite()) {
            return None;
        }
        faer::Mat::from_fn(self.rows, self.rows, |i, j| self[(i, j)]).eigenvalues().ok()
    }

    /// The largest singular value with its vectors (left, right); nothing without convergence.
    pub fn norm(&self) -> Option<(f64, Vec<Complex64>, Vec<Complex64>)> {
        if self.rows == 1 && self.columns == 1 {
            let size = self.entries[0].norm();
            let turn = if size > 0.0 { self.entries[0] / size } else { Complex64::ONE };
            return size.is_finite().then(|| (size, vec![turn], vec![Complex64::ONE]));
        }
        if self.entries.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let svd = faer::Mat::from_fn(self.rows, self.columns, |i, j| self[(i, j)]).svd().ok()?;
        let size = svd.S().column_vector()[0].re;
        let left = (0..self.rows).map(|i| svd.U()[(i, 0)]).collect();
        let right = (0..self.columns).map(|i| svd.V()[(i, 0)]).collect();
        Some((size, left, right))
    }
}
