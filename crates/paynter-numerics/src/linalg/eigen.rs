//! Eigenvalues of dense matrices in floating point, after balancing; zeros of
//! large transfer functions.

use super::{Matrices, Sparse, sort_conjugate};
use crate::tolerance::DIRECT_GAIN;
use num_complex::Complex64;

/// The eigenvalues of a square matrix, sorted as by [`sort_conjugate`].
/// Returns nothing where the iteration does not converge.
pub fn eigenvalues(matrix: &Sparse) -> Option<Vec<Complex64>> {
    dense_eigenvalues(matrix.dense())
}

fn dense_eigenvalues(mut rows: Vec<Vec<f64>>) -> Option<Vec<Complex64>> {
    let n = rows.len();
    if rows.iter().flatten().any(|x| !x.is_finite()) {
        return None;
    }
    balance(&mut rows);
    let matrix = faer::Mat::from_fn(n, n, |i, j| rows[i][j]);
    let mut values: Vec<Complex64> =
        matrix.eigenvalues().ok()?.into_iter().map(|z| Complex64::new(z.re, z.im)).collect();
    sort_conjugate(&mut values, |z| *z);
    Some(values)
}

/// Scales states by powers of two until rows and columns are of equal size
/// (Parlett and Reinsch), so that large and small eigenvalues keep their digits.
fn balance(rows: &mut [Vec<f64>]) {
    let n = rows.len();
    for _ in 0..100 {
        let mut done = true;
        for i in 0..n {
            let (mut column, mut row) = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                column += rows[j][i].abs();
                row += rows[i][j].abs();
            }
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let exponent = ((row / column).log2() / 2.0).round() as i32;
            let factor = 2f64.powi(exponent);
            if exponent == 0 || column * factor + row / factor >= 0.95 * (column + row) {
                continue;
            }
            done = false;
            for j in (0..n).filter(|&j| j != i) {
                rows[j][i] *= factor;
                rows[i][j] /= factor;
            }
        }
        if done {
            break;
        }
    }
}

/// The zeros of one transfer function without derivatives of inputs, by
/// deflation: where the output does not read the input, the combination of
/// states that it reads must be zero and so must its rate, which is the new
/// output of a smaller model. Also returns the gain, the factor before Π(s − z)/Π(s − p).
/// Returns nothing for a transfer function that is zero or depends on derivatives of the input.
pub fn transmission_zeros(matrices: &Matrices, output: usize, input: usize) -> Option<(Vec<Complex64>, f64)> {
    let reads = |list: &[Sparse], row: Option<usize>| {
        list.iter()
            .skip(1)
            .flat_map(|m| &m.entries)
            .any(|(i, j, v)| *j == input && row.is_none_or(|row| row == *i) && *v != 0.0)
    };
    if reads(&matrices.b, None) || reads(&matrices.d, Some(output)) {
        return None;
    }
    let mut a = matrices.a.dense();
    let mut b: Vec<f64> = vec![0.0; a.len()];
    for (i, _, value) in matrices.b[0].entries.iter().filter(|(_, j, _)| *j == input) {
        b[*i] += value;
    }
    let mut c: Vec<f64> = vec![0.0; a.len()];
    for (_, j, value) in matrices.c.entries.iter().filter(|(i, _, _)| *i == output) {
        c[*j] += value;
    }
    let direct = matrices.d[0].entries.iter().filter(|(i, j, _)| (*i, *j) == (output, input));
    let mut d: f64 = direct.map(|(_, _, value)| value).sum();
    let mut scale = d.abs();
    let mut gain = 1.0;
    while d.abs() <= DIRECT_GAIN * scale || d == 0.0 {
        let size = c.iter().map(|x| x * x).sum::<f64>().sqrt();
        let last = c.len().checked_sub(1)?;
        if size == 0.0 {
            return None;
        }
        // A reflection that turns the states so that the output is the last of them.
        let mut v = c.clone();
        v[last] += size.copysign(c[last]);
        gain *= -size.copysign(c[last]);
        let norm = v.iter().map(|x| x * x).sum::<f64>();
        let reflect = |x: &mut [f64]| {
            let dot = 2.0 * x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / norm;
            x.iter_mut().zip(&v).for_each(|(x, v)| *x -= dot * v);
        };
        a.iter_mut().for_each(|row| reflect(row));
        let mut dots = vec![0.0; c.len()];
        for (row, v) in a.iter().zip(&v) {
            dots.iter_mut().zip(row).for_each(|(dot, x)| *dot += 2.0 * v * x / norm);
        }
        for (row, v) in a.iter_mut().zip(&v) {
            row.iter_mut().zip(&dots).for_each(|(x, dot)| *x -= dot * v);
        }
        reflect(&mut b);
        c = a.pop()?;
        c.pop();
        a.iter_mut().for_each(|row| {
            row.pop();
        });
        scale = b.iter().map(|x| x * x).sum::<f64>().sqrt();
        d = b.pop()?;
    }
    for (row, b) in a.iter_mut().zip(&b) {
        row.iter_mut().zip(&c).for_each(|(x, c)| *x -= b * c / d);
    }
    Some((dense_eigenvalues(a)?, gain * d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balancing_keeps_small_eigenvalues() {
        let entries = vec![(0, 0, -1.0), (0, 1, 1e12), (1, 0, 1e-12), (1, 1, -2.0), (2, 2, -3.0)];
        let values = eigenvalues(&Sparse { rows: 3, columns: 3, entries }).unwrap();
        let disc = 5f64.sqrt() / 2.0;
        for (value, expected) in values.iter().zip([-1.5 + disc, -1.5 - disc, -3.0]) {
            assert!((value.re - expected).abs() < 1e-14 && value.im == 0.0, "{value}");
        }
    }

    #[test]
    fn zeros_of_a_phase_lag() {
        // (s + 3)/((s + 1)(s + 2)): controllable form.
        let matrices = Matrices {
            a: Sparse { rows: 2, columns: 2, entries: vec![(0, 1, 1.0), (1, 0, -2.0), (1, 1, -3.0)] },
            b: vec![Sparse { rows: 2, columns: 1, entries: vec![(1, 0, 1.0)] }],
            c: Sparse { rows: 1, columns: 2, entries: vec![(0, 0, 3.0), (0, 1, 1.0)] },
            d: vec![Sparse::new(1, 1)],
        };
        let (zeros, gain) = transmission_zeros(&matrices, 0, 0).unwrap();
        assert!((gain - 1.0).abs() < 1e-13, "{gain}");
        assert!(zeros.len() == 1 && (zeros[0] - Complex64::new(-3.0, 0.0)).norm() < 1e-13, "{zeros:?}");
    }
}
