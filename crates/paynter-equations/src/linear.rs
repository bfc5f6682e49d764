//! Linear systems in symbols on the shared graph of expressions: sparse
//! elimination in Markowitz order, pivots chosen by an exact zero test and,
//! where there is a choice, among those that cannot vanish.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::Ranges;

/// A sparse square system M x = b.
#[derive(Debug, Clone)]
pub struct System {
    /// Rows of M.
    pub rows: Vec<BTreeMap<usize, Expr>>,
    /// Right-hand sides, one list a row.
    pub right: Vec<Vec<Expr>>,
}

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
    let solution = System { rows, right }.solve(pool, Some(ranges)).ok()?;
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

impl System {
    /// Solves the system, or returns the rows that have no pivot left.
    pub fn solve(mut self, pool: &mut Pool, ranges: Option<&Ranges>) -> Result<Vec<Vec<Expr>>, Vec<usize>> {
        let n = self.rows.len();
        let width = self.right.first().map_or(0, Vec::len);
        let zero = pool.zero();
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, row) in self.rows.iter().enumerate() {
            for &j in row.keys() {
                columns[j].push(i);
            }
        }
        let mut open_rows: Vec<usize> = (0..n).collect();
        let mut counts: Vec<usize> = columns.iter().map(Vec::len).collect();
        let mut order: Vec<(usize, usize)> = Vec::with_capacity(n);
        let mut done = vec![false; n];
        while !open_rows.is_empty() {
            let Some((i, j)) = self.pivot(pool, &open_rows, &counts, ranges) else { return Err(open_rows) };
            open_rows.retain(|&row| row != i);
            done[i] = true;
            for &column in self.rows[i].keys() {
                counts[column] -= 1;
            }
            let pivot_row = self.rows[i].clone();
            let pivot_right = self.right[i].clone();
            let pivot = pivot_row[&j];
            let below: Vec<usize> =
                columns[j].iter().copied().filter(|&r| !done[r] && self.rows[r].contains_key(&j)).collect();
            for r in below {
                let Some(entry) = self.rows[r].remove(&j) else { continue };
                counts[j] -= 1;
                let factor = pool.div(entry, pivot);
                for (&column, &value) in pivot_row.iter().filter(|(column, _)| **column != j) {
                    let product = pool.mul(factor, value);
                    let old = self.rows[r].get(&column).copied();
                    let new = pool.sub(old.unwrap_or(zero), product);
                    if new == zero {
                        if old.is_some() {
                            self.rows[r].remove(&column);
                            counts[column] -= 1;
                        }
                    } else {
                        if self.rows[r].insert(column, new).is_none() {
                            columns[column].push(r);
                            counts[column] += 1;
                        }
                    }
                }
                for k in 0..width {
                    if pivot_right[k] != zero {
                        let product = pool.mul(factor, pivot_right[k]);
                        self.right[r][k] = pool.sub(self.right[r][k], product);
                    }
                }
            }
            order.push((i, j));
        }
        let mut solution = vec![vec![zero; width]; n];
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
        Ok(solution)
    }

    /// The entry with the least fill-in among those that are not zero; entries
    /// that cannot vanish come first.
    fn pivot(
        &self,
        pool: &mut Pool,
        open: &[usize],
        counts: &[usize],
        ranges: Option<&Ranges>,
    ) -> Option<(usize, usize)> {
        let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
        let mut best = usize::MAX;
        // Rows in order of length: once a cost is found, much longer rows cannot beat it.
        for &i in open {
            let length = self.rows[i].len();
            for &j in self.rows[i].keys() {
                let cost = (length - 1) * (counts[j] - 1);
                if cost <= best.saturating_mul(2).saturating_add(2) {
                    best = best.min(cost);
                    candidates.push((cost, i, j));
                }
            }
        }
        candidates.sort_unstable();
        let mut fallback = None;
        for &(_, i, j) in &candidates {
            let entry = self.rows[i][&j];
            if pool.is_zero(entry) {
                continue;
            }
            match ranges {
                Some(ranges) if ranges.can_vanish(pool, entry) => {
                    fallback.get_or_insert((i, j));
                }
                _ => return Some((i, j)),
            }
        }
        // Every safe candidate was too costly or there is none: look at all entries before dividing by a doubtful one.
        if let (Some(ranges), Some(_)) = (ranges, fallback) {
            for &i in open {
                for (&j, &entry) in &self.rows[i] {
                    if !ranges.can_vanish(pool, entry) && !pool.is_zero(entry) {
                        return Some((i, j));
                    }
                }
            }
        }
        fallback
    }
}
