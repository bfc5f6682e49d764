//! Factorisation of small dense matrices, unrolled for each size.

use super::{Form, Pattern, Singular};
use crate::tolerance::DENSE_SIZE;

/// Calls a kernel for the number of rows.
macro_rules! unrolled {
    ($n:expr, $kernel:ident $(::<$w:ident>)? ( $($argument:expr),* )) => {
        match $n {
            0 | 1 => $kernel::<1 $(, $w)?>($($argument),*),
            2 => $kernel::<2 $(, $w)?>($($argument),*),
            3 => $kernel::<3 $(, $w)?>($($argument),*),
            4 => $kernel::<4 $(, $w)?>($($argument),*),
            5 => $kernel::<5 $(, $w)?>($($argument),*),
            _ => $kernel::<6 $(, $w)?>($($argument),*),
        }
    };
}

/// A factorisation: below the diagonal L, above it U, on it the reciprocals of the pivots.
#[derive(Debug, Clone)]
pub struct SmallFactors {
    rows: usize,
    entries: [[f64; DENSE_SIZE]; DENSE_SIZE],
}

impl SmallFactors {
    pub(super) fn new(rows: usize) -> SmallFactors {
        SmallFactors { rows, entries: [[0.0; DENSE_SIZE]; DENSE_SIZE] }
    }

    /// Factorises a matrix made from J.
    pub(super) fn factorise(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
        form: Form,
    ) -> Result<(), Singular> {
        unrolled!(self.rows, factorise(&mut self.entries, pattern, values, form))
    }

    /// Solves for one right-hand side, in place.
    pub(super) fn solve(&self, b: &mut [f64]) {
        self.solve_lanes::<1>(b);
    }

    /// Solves with the transposed matrix, in place.
    pub(super) fn solve_transposed(&self, b: &mut [f64]) {
        let (n, a) = (self.rows, &self.entries);
        for i in 0..n {
            b[i] *= a[i][i];
            for j in i + 1..n {
                b[j] -= a[i][j] * b[i];
            }
        }
        for i in (0..n).rev() {
            for j in 0..i {
                b[j] -= a[i][j] * b[i];
            }
        }
    }

    /// Solves for W right-hand sides at once, row by row in `b`; in place.
    #[inline(always)]
    pub(super) fn solve_lanes<const W: usize>(&self, b: &mut [f64]) {
        unrolled!(self.rows, solve::<W>(&self.entries, b));
    }
}

#[inline(always)]
fn factorise<const N: usize>(
    entries: &mut [[f64; DENSE_SIZE]; DENSE_SIZE],
    pattern: &Pattern,
    values: &[f64],
    form: Form,
) -> Result<(), Singular> {
    let mut a = [[0.0; N]; N];
    let mut sizes = [form.unit; N];
    for row in 0..pattern.rows().min(N) {
        a[row][row] = form.unit;
        for e in pattern.row(row) {
            let entry = form.scale * values[e];
            sizes[row] = sizes[row].max(entry.abs());
            a[row][pattern.at[e] as usize] += entry;
        }
    }
    let mut good = true;
    for i in 0..pattern.rows().min(N) {
        let pivot = a[i][i];
        good &= pivot.abs() > form.least * sizes[i] && pivot.is_finite();
        let inverse = 1.0 / pivot;
        a[i][i] = inverse;
        for row in i + 1..N {
            let factor = a[row][i] * inverse;
            a[row][i] = factor;
            for column in i + 1..N {
                a[row][column] -= factor * a[i][column];
            }
        }
    }
    for row in 0..N {
        entries[row][..N].copy_from_slice(&a[row]);
    }
    if good { Ok(()) } else { Err(Singular) }
}

#[inline(always)]
fn solve<const N: usize, const W: usize>(a: &[[f64; DENSE_SIZE]; DENSE_SIZE], b: &mut [f64]) {
    let (rows, _) = b.as_chunks_mut::<W>();
    let Some(rows) = rows.first_chunk_mut::<N>() else { return };
    for i in 1..N {
        for j in 0..i {
            for l in 0..W {
                rows[i][l] -= a[i][j] * rows[j][l];
            }
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            for l in 0..W {
                rows[i][l] -= a[i][j] * rows[j][l];
            }
        }
        for l in 0..W {
            rows[i][l] *= a[i][i];
        }
    }
}
