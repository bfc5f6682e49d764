//! The rank of the state matrix for almost all values of states and parameters.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

use crate::Equations;

/// Points tried; the largest rank found at any of them counts.
const POINTS: u64 = 3;

/// A pivot of at least this part of the largest entry of its row loses few digits.
const LARGE_ENOUGH: f64 = 0.1;

/// An entry smaller than this, in a matrix of entries around one, is a rounding error.
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
    let value = |symbol: Symbol| Some(0.5 + random::unit(seed, symbol.index() as u64));
    let mut rows = vec![Row::new(); size];
    for (i, j, slope) in slopes {
        rows[*i].insert(*j, pool.eval(*slope, &value).ok()?);
    }
    Some(rank(rows))
}

/// A sparse row by column.
type Row = BTreeMap<usize, f64>;

/// Gaussian elimination with rows brought to length one. The shortest row gives the pivot, in the column with
/// the fewest entries among those that are large enough, so that chains and trees cost what they hold.
fn rank(mut rows: Vec<Row>) -> usize {
    let mut columns: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (i, row) in rows.iter_mut().enumerate() {
        let largest = row.values().fold(0.0f64, |a, x| a.max(x.abs()));
        row.retain(|_, x| *x != 0.0);
        for (j, x) in row {
            *x /= largest;
            columns.entry(*j).or_default().insert(i);
        }
    }
    let mut open: BTreeSet<(usize, usize)> = rows.iter().enumerate().map(|(i, row)| (row.len(), i)).collect();
    let mut rank = 0;
    while let Some((_, k)) = open.pop_first() {
        let pivots = std::mem::take(&mut rows[k]);
        for j in pivots.keys() {
            if let Some(list) = columns.get_mut(j) {
                list.remove(&k);
            }
        }
        let largest = pivots.values().fold(0.0f64, |a, x| a.max(x.abs()));
        let large = pivots.iter().filter(|(_, x)| x.abs() >= LARGE_ENOUGH * largest);
        let Some((&column, &pivot)) = large.min_by_key(|(j, _)| columns.get(j).map_or(0, BTreeSet::len))
        else {
            continue;
        };
        rank += 1;
        for i in columns.remove(&column).unwrap_or_default() {
            open.remove(&(rows[i].len(), i));
            let factor = rows[i].remove(&column).unwrap_or(0.0) / pivot;
            for (j, x) in pivots.iter().filter(|(j, _)| **j != column) {
                let before = rows[i].get(j).copied().unwrap_or(0.0);
                let after = before - factor * x;
                let list = columns.entry(*j).or_default();
                if after.abs() < NEGLIGIBLE {
                    rows[i].remove(j);
                    list.remove(&i);
                } else {
                    rows[i].insert(*j, after);
                    list.insert(i);
                }
            }
            open.insert((rows[i].len(), i));
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_found_whatever_the_order_of_rows() {
        // A band with one row that is the sum of two others, as a ring of storages makes it.
        let n = 200;
        let mut rows: Vec<Row> = (0..n)
            .map(|i| [(i, 2.0 + random::unit(0, i as u64)), ((i + 1) % n, -1.0)].into_iter().collect())
            .collect();
        assert_eq!(rank(rows.clone()), n);
        let sum: Row = {
            let mut sum = rows[3].clone();
            for (j, x) in &rows[150] {
                *sum.entry(*j).or_default() += x;
            }
            sum
        };
        rows[77] = sum;
        assert_eq!(rank(rows.clone()), n - 1);
        rows.reverse();
        rows[9].clear();
        assert_eq!(rank(rows), n - 2);
    }
}
