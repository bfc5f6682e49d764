//! Newton's method with damping.

use paynter_algebra::Pool;
use paynter_base::{Cancelled, Ticket};

use super::problem::Problem;

const ITERATIONS: usize = 200;

/// Solves F(w) = 0 from a start; nothing where it does not converge.
pub(super) fn solve(
    pool: &Pool,
    problem: &Problem,
    start: Vec<f64>,
    ticket: &Ticket,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let n = start.len();
    let mut w = start;
    for _ in 0..ITERATIONS {
        ticket.check()?;
        let (Some(r), Some(slopes)) = (problem.residual(pool, &w), problem.slopes(pool, &w)) else {
            return Ok(None);
        };
        let norm = r.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        if norm == 0.0 {
            return Ok(Some(w));
        }
        let mut matrix = vec![vec![0.0; n + 1]; n];
        for (i, j, slope) in slopes {
            matrix[i][j] += slope;
        }
        for i in 0..n {
            matrix[i][n] = -r[i];
        }
        let Some(step) = gauss(matrix) else { return Ok(None) };
        let mut factor = 1.0;
        loop {
            let next: Vec<f64> = w.iter().zip(&step).map(|(w, d)| w + factor * d).collect();
            let better = problem
                .residual(pool, &next)
                .is_some_and(|r| r.iter().fold(0.0f64, |a, x| a.max(x.abs())) < norm);
            if better {
                w = next;
                break;
            }
            factor /= 2.0;
            if factor < 1e-9 {
                let small = step.iter().zip(&w).all(|(d, w)| d.abs() <= 1e-10 * w.abs().max(1e-12));
                return Ok(small.then_some(w));
            }
        }
    }
    Ok(None)
}

/// Solves a dense system with partial pivoting.
fn gauss(mut m: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k] == 0.0 {
            return None;
        }
        let (above, below) = m.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for j in k..=n {
                row[j] -= factor * above[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - sum) / m[k][k];
    }
    Some(x)
}
