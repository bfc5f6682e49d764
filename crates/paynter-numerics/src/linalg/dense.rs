//! Small dense complex systems.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;
use num_complex::Complex64;

/// The inverse of a complex matrix, row by row; nothing where it is singular.
pub(crate) fn inverse(rows: &[Vec<Complex64>]) -> Option<Mat<Complex64>> {
    let n = rows.len();
    let factors = Mat::from_fn(n, n, |i, j| rows[i][j]).partial_piv_lu();
    let regular = |pivot: Complex64| pivot.norm() > 0.0 && pivot.norm().is_finite();
    (0..n).all(|k| regular(factors.U()[(k, k)])).then(|| factors.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let z = |re: f64, im: f64| Complex64::new(re, im);
        let rows = [
            vec![z(0.0, 0.0), z(1.0, 2.0), z(0.0, -1.0)],
            vec![z(3.0, 0.0), z(0.0, 1.0), z(2.0, 0.0)],
            vec![z(1.0, 1.0), z(0.0, 0.0), z(4.0, -3.0)],
        ];
        let found = inverse(&rows).unwrap();
        for (i, row) in rows.iter().enumerate() {
            for j in 0..3 {
                let product: Complex64 = (0..3).map(|k| row[k] * found[(k, j)]).sum();
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((product - expected).norm() < 1e-14, "{i} {j} {product}");
            }
        }
        let singular = [vec![z(1.0, 0.0), z(2.0, 0.0)], vec![z(0.0, 1.0), z(0.0, 2.0)]];
        assert!(inverse(&singular).is_none());
    }
}
