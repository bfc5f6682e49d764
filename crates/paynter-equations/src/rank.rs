//! The rank of the state matrix for almost all values of states and parameters.

use paynter_algebra::{Expr, Pool, Symbol};
use rustc_hash::FxHashMap;

use crate::Equations;

/// Points tried; the largest rank found at any of them counts.
const POINTS: u64 = 3;

/// A pivot smaller than this, in a matrix of entries around one, is a rounding error.
const NEGLIGIBLE: f64 = 1e-9;

impl Equations {
    /// Finds the rank of ∂f/∂x at random points of the order of one, implicit
    /// unknowns eliminated. Nothing where the equations are undefined there.
    pub fn generic_rank(&self, pool: &mut Pool) -> Option<usize> {
        let mut columns: Vec<Symbol> = self.states.iter().map(|state| state.symbol).collect();
        columns.extend(self.constraints.iter().map(|constraint| constraint.unknown));
        let place: FxHashMap<Symbol, usize> = columns.iter().enumerate().map(|(j, s)| (*s, j)).collect();
        let residuals = self.constraints.iter().map(|constraint| constraint.residual);
        let rows: Vec<Expr> = self.rates.iter().copied().chain(residuals).collect();
        let mut slopes: Vec<(usize, usize, Expr)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            for symbol in pool.symbols(*row) {
                if let Some(&j) = place.get(&symbol) {
                    slopes.push((i, j, pool.diff(*row, symbol)));
                }
            }
        }
        // With z eliminated by r(x, z) = 0 the rank falls by the number of z.
        let ranks = (1..=POINTS).filter_map(|seed| rank_at(pool, &slopes, columns.len(), seed));
        Some(ranks.max()?.saturating_sub(self.constraints.len()))
    }
}

fn rank_at(pool: &Pool, slopes: &[(usize, usize, Expr)], size: usize, seed: u64) -> Option<usize> {
    let value = |symbol: Symbol| Some(0.5 + unit(symbol.index() as u64 + (seed << 32)));
    let mut matrix = vec![vec![0.0; size]; size];
    for (i, j, slope) in slopes {
        matrix[*i][*j] = pool.eval(*slope, &value).ok()?;
    }
    Some(rank(matrix))
}

/// A number in [0, 1) from the finaliser of splitmix64.
fn unit(index: u64) -> f64 {
    let mut x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// Gaussian elimination with rows brought to length one and full pivoting.
fn rank(mut m: Vec<Vec<f64>>) -> usize {
    let n = m.len();
    for row in &mut m {
        let largest = row.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        if largest > 0.0 {
            row.iter_mut().for_each(|x| *x /= largest);
        }
    }
    for k in 0..n {
        let mut best = (0.0, k, k);
        for i in k..n {
            for j in k..n {
                if m[i][j].abs() > best.0 {
                    best = (m[i][j].abs(), i, j);
                }
            }
        }
        if best.0 < NEGLIGIBLE {
            return k;
        }
        m.swap(k, best.1);
        m.iter_mut().for_each(|row| row.swap(k, best.2));
        let (above, below) = m.split_at_mut(k + 1);
        let pivot = &above[k];
        for row in below {
            let factor = row[k] / pivot[k];
            for j in k..n {
                row[j] -= factor * pivot[j];
            }
        }
    }
    n
}
