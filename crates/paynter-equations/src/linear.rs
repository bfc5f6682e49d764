//! Linear systems in symbols on the shared graph of expressions: sparse
//! elimination in Markowitz order, pivots chosen by an exact zero test and,
//! where there is a choice, among those that cannot vanish, or do not at a point.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Fingerprints, Pool, Symbol};
use paynter_graph::Ranges;

/// A sparse square system M x = b.
#[derive(Debug, Clone)]
pub struct System {
    /// Rows of M.
    pub rows: Vec<BTreeMap<usize, Expr>>,
    /// Right-hand sides, one list a row.
    pub right: Vec<Vec<Expr>>,
}

/// What a pivot must not be, where there is a choice.
#[derive(Clone, Copy)]
pub enum Pivots<'a> {
    /// Zero.
    Any,
    /// An expression that can vanish within the ranges of what it reads.
    Lasting(&'a Ranges),
    /// Small beside its row, with these values.
    Near(&'a dyn Fn(Symbol) -> Option<f64>),
}

/// A pivot this much smaller than its row is avoided near a point.
const SMALL: f64 = 1e-3;

/// Solves residuals for unknowns if they are linear in them jointly.
pub(crate) fn solve_residuals(
    pool: &mut Pool,
    residuals: &[Expr],
    unknowns: &[Symbol],
    ranges: &Ranges,
) -> Option<Vec<Expr>> {
    if residuals.len() != unknowns.len() {
        return None;
    }
    let mut rows = Vec::with_capacity(residuals.len());
    let mut right = Vec::with_capacity(residuals.len());
    for residual in residuals {
        let (row, rest) = linear_row(pool, *residual, unknowns)?;
        rows.push(row);
        right.push(vec![pool.neg(rest)]);
    }
    let solution = System { rows, right }.solve(pool, Pivots::Lasting(ranges)).ok()?;
    Some(solution.into_iter().map(|values| values[0]).collect())
}

/// Coefficients of the unknowns in a residual, and what is left.
pub(crate) fn linear_row(
    pool: &mut Pool,
    residual: Expr,
    unknowns: &[Symbol],
) -> Option<(BTreeMap<usize, Expr>, Expr)> {
    let present = pool.symbols(residual);
    let inside: Vec<usize> =
        (0..unknowns.len()).filter(|&i| present.binary_search(&unknowns[i]).is_ok()).collect();
    let symbols: Vec<Symbol> = inside.iter().map(|&i| unknowns[i]).collect();
    let (coefficients, rest) = pool.linear_parts(residual, &symbols)?;
    let zero = pool.zero();
    let row = inside.into_iter().zip(coefficients).filter(|(_, c)| *c != zero).collect();
    Some((row, rest))
}

/// Rows looked at for each pivot: the shortest ones hold the least fill-in.
const ROWS: usize = 4;

impl System {
    /// Solves the system, or returns the rows that have no pivot left.
    pub fn solve(mut self, pool: &mut Pool, pivots: Pivots) -> Result<Vec<Vec<Expr>>, Vec<usize>> {
        let n = self.rows.len();
        let width = self.right.first().map_or(0, Vec::len);
        let zero = pool.zero();
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, row) in self.rows.iter().enumerate() {
            for &j in row.keys() {
                columns[j].push(i);
            }
        }
        let mut counts: Vec<usize> = columns.iter().map(Vec::len).collect();
        let mut open: BTreeSet<(usize, usize)> = (0..n).map(|i| (self.rows[i].len(), i)).collect();
        let mut prints = Fingerprints::new();
        let mut order: Vec<(usize, usize)> = Vec::with_capacity(n);
        while !open.is_empty() {
            let Some((i, j)) = self.pivot(pool, &mut prints, &open, &counts, pivots) else {
                return Err(open.into_iter().map(|(_, i)| i).collect());
            };
            let pivot_row = std::mem::take(&mut self.rows[i]);
            open.remove(&(pivot_row.len(), i));
            for column in pivot_row.keys() {
                counts[*column] -= 1;
            }
            let pivot_right = self.right[i].clone();
            let pivot = pivot_row[&j];
            let below: Vec<usize> =
                columns[j].iter().copied().filter(|&r| self.rows[r].contains_key(&j)).collect();
            for r in below {
                if !open.remove(&(self.rows[r].len(), r)) {
                    continue;
                }
                let Some(entry) = self.rows[r].remove(&j) else { continue };
                counts[j] -= 1;
                let factor = pool.div(entry, pivot);
                for (&column, &value) in pivot_row.iter().filter(|(column, _)| **column != j) {
                    let product = pool.mul(factor, value);
                    let old = self.rows[r].get(&column).copied();
                    let new = pool.sub(old.unwrap_or(zero), product);
                    if new == zero {
                        if self.rows[r].remove(&column).is_some() {
                            counts[column] -= 1;
                        }
                    } else if self.rows[r].insert(column, new).is_none() {
                        columns[column].push(r);
                        counts[column] += 1;
                    }
                }
                for k in 0..width {
                    if pivot_right[k] != zero {
                        let product = pool.mul(factor, pivot_right[k]);
                        self.right[r][k] = pool.sub(self.right[r][k], product);
                    }
                }
                open.insert((self.rows[r].len(), r));
            }
            self.rows[i] = pivot_row;
            order.push((i, j));
        }
        Ok(self.back_substitute(pool, &order, width))
    }

    fn back_substitute(&self, pool: &mut Pool, order: &[(usize, usize)], width: usize) -> Vec<Vec<Expr>> {
        let zero = pool.zero();
        let mut solution = vec![vec![zero; width]; self.rows.len()];
        for &(i, j) in order.iter().rev() {
            let pivot = self.rows[i][&j];
            for k in 0..width {
                let mut terms = vec![self.right[i][k]];
                for (&column, &value) in self.rows[i].iter().filter(|(column, _)| **column != j) {
                    let product = pool.mul(value, solution[column][k]);
                    terms.push(pool.neg(product));
                }
                let sum = pool.sum(&terms);
                solution[j][k] = pool.div(sum, pivot);
            }
        }
        solution
    }

    /// Whether an entry had better be no pivot.
    fn doubtful(&self, pool: &Pool, (i, j): (usize, usize), pivots: Pivots) -> bool {
        let row = &self.rows[i];
        match pivots {
            Pivots::Any => false,
            Pivots::Lasting(ranges) => ranges.can_vanish(pool, row[&j]),
            Pivots::Near(value) => {
                let size = |e: &Expr| pool.eval(*e, value).map_or(0.0, f64::abs);
                size(&row[&j]) <= SMALL * row.values().map(size).fold(0.0, f64::max)
            }
        }
    }

    /// The entry with the least fill-in among those of the shortest rows that
    /// are not zero; a doubtful one is taken only where nothing else is left.
    fn pivot(
        &self,
        pool: &mut Pool,
        prints: &mut Fingerprints,
        open: &BTreeSet<(usize, usize)>,
        counts: &[usize],
        pivots: Pivots,
    ) -> Option<(usize, usize)> {
        let mut doubtful = None;
        let mut rows = open.iter().map(|(_, i)| *i);
        loop {
            let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
            for i in rows.by_ref().take(ROWS) {
                let length = self.rows[i].len();
                candidates.extend(self.rows[i].keys().map(|&j| ((length - 1) * (counts[j] - 1), i, j)));
            }
            if candidates.is_empty() {
                return doubtful;
            }
            candidates.sort_unstable();
            for (_, i, j) in candidates {
                let entry = self.rows[i][&j];
                if prints.is_zero(pool, entry) {
                    continue;
                }
                if self.doubtful(pool, (i, j), pivots) {
                    doubtful.get_or_insert((i, j));
                } else {
                    return Some((i, j));
                }
            }
        }
    }
}
