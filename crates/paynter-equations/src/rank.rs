//! The rank of the state matrix for almost all values of states and parameters.

use paynter_algebra::elimination::{Arithmetic, Row, eliminate};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random;
use rustc_hash::FxHashMap;

use crate::Equations;
use crate::tolerance::{RANK_PIVOT, RANK_POINTS, RANK_ROUNDING};

impl Equations {
    /// Finds the rank of ∂f/∂x at random points of the order of one, implicit
    /// unknowns eliminated. Nothing where the equations are undefined there.
    pub fn generic_rank(&self, pool: &mut Pool) -> Option<usize> {
        let mut columns: Vec<Symbol> = self.states.iter().map(|state| state.symbol).collect();
        columns.extend(self.constraints.iter().map(|constraint| constraint.unknown));
        let place: FxHashMap<Symbol, usize> = columns.iter().enumerate().map(|(j, s)| (*s, j)).collect();
        let residuals = self.constraints.iter().map(|constraint| constraint.residual);
        let rows: Vec<Expr> = self.rates.iter().copied().chain(residuals).collect();
        let mut derivatives: Vec<(usize, usize, Expr)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            for symbol in pool.symbols(*row) {
                if let Some(&j) = place.get(&symbol) {
                    derivatives.push((i, j, pool.diff(*row, symbol)));
                }
            }
        }
        // With z eliminated by r(x, z) = 0 the rank falls by the number of z.
        let ranks = (1..=RANK_POINTS).filter_map(|seed| rank_at(pool, &derivatives, columns.len(), seed));
        Some(ranks.max()?.saturating_sub(self.constraints.len()))
    }
}

fn rank_at(pool: &Pool, derivatives: &[(usize, usize, Expr)], size: usize, seed: u64) -> Option<usize> {
    let value = |symbol: Symbol| Some(0.5 + random::unit(seed, symbol.index() as u64));
    let mut rows = vec![Row::new(); size];
    for (i, j, derivative) in derivatives {
        let value = pool.eval(*derivative, &value).ok().filter(|value| value.is_finite())?;
        if value != 0.0 {
            rows[*i].insert(*j, value);
        }
    }
    Some(rank(rows, size))
}

/// Floating point in which entries of the order of one are rounding errors below a bound.
struct Rounded;

impl Arithmetic for Rounded {
    type Scalar = f64;

    fn divisor(&mut self, pivot: &f64) -> f64 {
        *pivot
    }

    fn quotient(&mut self, entry: &f64, divisor: &f64) -> f64 {
        entry / divisor
    }

    fn difference(&mut self, old: Option<&f64>, factor: &f64, value: &f64) -> Option<f64> {
        let new = old.copied().unwrap_or(0.0) - factor * value;
        (new.abs() >= RANK_ROUNDING).then_some(new)
    }
}

fn largest(row: &Row<f64>) -> f64 {
    row.values().fold(0.0, |most, x| most.max(x.abs()))
}

/// The rank, with rows brought to length one. The shortest row gives the pivot, in the column with the fewest
/// entries among those that are large enough, so that chains and trees cost what they hold.
fn rank(mut rows: Vec<Row<f64>>, columns: usize) -> usize {
    for row in &mut rows {
        let size = largest(row);
        row.values_mut().for_each(|x| *x /= size);
    }
    let large_enough = |row: &Row<f64>, x: &f64| x.abs() >= RANK_PIVOT * largest(row);
    let Ok(found) = eliminate(&mut Rounded, rows, columns, |_, state| {
        Ok::<_, std::convert::Infallible>(state.least_fill_in(large_enough))
    });
    found.pivots.len()
}
