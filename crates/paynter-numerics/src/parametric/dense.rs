//! Small dense systems: complex inverses on a contour, and real systems whose
//! rank is in question.

use num_complex::Complex64;

/// The inverse of a complex matrix, row by row; nothing where it is singular.
pub(super) fn inverse(mut m: Vec<Vec<Complex64>>) -> Option<Vec<Vec<Complex64>>> {
    let n = m.len();
    let (zero, one) = (Complex64::new(0.0, 0.0), Complex64::new(1.0, 0.0));
    let mut inverse: Vec<Vec<Complex64>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { one } else { zero }).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].norm().total_cmp(&m[b][k].norm()))?;
        if m[pivot][k].norm() == 0.0 || !m[pivot][k].norm().is_finite() {
            return None;
        }
        m.swap(k, pivot);
        inverse.swap(k, pivot);
        let scale = m[k][k].inv();
        for j in 0..n {
            m[k][j] *= scale;
            inverse[k][j] *= scale;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = m[i][k];
            if factor == zero {
                continue;
            }
            for j in 0..n {
                let (a, b) = (m[k][j] * factor, inverse[k][j] * factor);
                m[i][j] -= a;
                inverse[i][j] -= b;
            }
        }
    }
    Some(inverse)
}

/// A pivot this much smaller than its row and column were is zero.
const RANK: f64 = 1e-10;

/// Gauss-Jordan elimination with full pivoting of [M | right], after rows and
/// columns have been brought to the same size.
pub(super) struct Reduced {
    /// Row and column of each pivot, in units of the original matrix.
    pub(super) pivots: Vec<(usize, usize)>,
    /// Columns without a pivot.
    pub(super) free_columns: Vec<usize>,
    rows: Vec<Vec<f64>>,
    scales: Vec<f64>,
    columns: usize,
}

/// Reduces a matrix of `columns` unknowns whose rows are continued by right-hand sides.
pub(super) fn reduce(mut rows: Vec<Vec<f64>>, columns: usize) -> Reduced {
    let mut scales = vec![1.0; columns];
    for _ in 0..3 {
        for row in &mut rows {
            let size = row[..columns].iter().fold(0.0f64, |a, x| a.max(x.abs()));
            if size > 0.0 {
                row.iter_mut().for_each(|x| *x /= size);
            }
        }
        for (j, scale) in scales.iter_mut().enumerate() {
            let size = rows.iter().fold(0.0f64, |a, row| a.max(row[j].abs()));
            if size > 0.0 {
                rows.iter_mut().for_each(|row| row[j] /= size);
                *scale /= size;
            }
        }
    }
    let mut free_rows: Vec<usize> = (0..rows.len()).collect();
    let mut free_columns: Vec<usize> = (0..columns).collect();
    let mut pivots = Vec::new();
    loop {
        let mut best = (RANK, 0, 0);
        for &i in &free_rows {
            for &j in &free_columns {
                if rows[i][j].abs() > best.0 {
                    best = (rows[i][j].abs(), i, j);
                }
            }
        }
        let (size, i, j) = best;
        if size <= RANK {
            break;
        }
        free_rows.retain(|r| *r != i);
        free_columns.retain(|c| *c != j);
        pivots.push((i, j));
        let head = rows[i][j];
        rows[i].iter_mut().for_each(|x| *x /= head);
        let pivot = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != i) {
            let factor = row[j];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                row[j] = 0.0;
            }
        }
    }
    Reduced { pivots, free_columns, rows, scales, columns }
}

impl Reduced {
    /// The solution for one right-hand side; unknowns without a pivot are zero.
    pub(super) fn solution(&self, right: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.columns];
        for (i, j) in &self.pivots {
            x[*j] = self.rows[*i][self.columns + right] * self.scales[*j];
        }
        x
    }

    /// The null vectors, one for each column without a pivot, which has the entry 1.
    pub(super) fn null_vectors(&self) -> Vec<Vec<f64>> {
        let vector = |free: &usize| {
            let mut x = vec![0.0; self.columns];
            x[*free] = 1.0;
            for (i, j) in &self.pivots {
                let value = -self.rows[*i][*free] * self.scales[*j] / self.scales[*free];
                x[*j] = if self.rows[*i][*free].abs() < RANK { 0.0 } else { value };
            }
            x
        };
        self.free_columns.iter().map(vector).collect()
    }
}
