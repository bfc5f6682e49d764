//! Linear systems in symbols on the shared graph of expressions: sparse
//! elimination in Markowitz order, pivots chosen by an exact zero test and,
//! where there is a choice, among those that cannot vanish, or do not at a point.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::elimination::{Arithmetic, Echelon, Elimination, Row, eliminate};
use paynter_algebra::{Expr, Fingerprints, Pool, Symbol};
use paynter_graph::Ranges;

use crate::tolerance::{NEAR_PIVOT, PIVOT_ROWS};

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

/// Reduces the rows after the first `count` by these: each stands for `value = row·terms − right`, the others for
/// `row·terms = right`. Returns the values of which no term is left. Pivots are entries that cannot vanish.
pub(crate) fn reduce(
    pool: &mut Pool,
    rows: Vec<Row<Expr>>,
    right: Vec<Expr>,
    (count, width): (usize, usize),
    ranges: &Ranges,
) -> Vec<Option<Expr>> {
    let total = rows.len();
    let right = right.into_iter().map(|right| vec![right]).collect();
    let mut symbols = Symbols { pool, right, prints: Fingerprints::new(), is_lasting: true };
    let Ok(echelon) = eliminate(&mut symbols, rows, width, |symbols, state| {
        Ok::<_, std::convert::Infallible>(symbols.lasting_pivot(state, count, ranges))
    });
    let values = (count..total).map(|i| {
        let row = &echelon.rows[i];
        let none_left = row.values().all(|entry| symbols.prints.is_zero(symbols.pool, *entry));
        none_left.then(|| symbols.pool.neg(symbols.right[i][0]))
    });
    values.collect()
}

impl System {
    /// Solves the system, or returns the rows that have no pivot left.
    pub fn solve(self, pool: &mut Pool, pivots: Pivots) -> Result<Vec<Vec<Expr>>, Vec<usize>> {
        self.solve_telling(pool, pivots).map(|(solution, _)| solution)
    }

    /// Solves the system, and tells whether no pivot is one that had better be none.
    pub fn solve_telling(
        self,
        pool: &mut Pool,
        pivots: Pivots,
    ) -> Result<(Vec<Vec<Expr>>, bool), Vec<usize>> {
        let n = self.rows.len();
        let mut symbols = Symbols { pool, right: self.right, prints: Fingerprints::new(), is_lasting: true };
        let Ok(echelon) = eliminate(&mut symbols, self.rows, n, |symbols, state| {
            Ok::<_, std::convert::Infallible>(symbols.pivot(state, pivots))
        });
        let solved: BTreeSet<usize> = echelon.pivots.iter().map(|(i, _)| *i).collect();
        if solved.len() < n {
            return Err((0..n).filter(|i| !solved.contains(i)).collect());
        }
        Ok((symbols.back_substitute(&echelon), symbols.is_lasting))
    }
}

/// Expressions, with the right-hand sides that follow their rows.
struct Symbols<'a> {
    pool: &'a mut Pool,
    right: Vec<Vec<Expr>>,
    prints: Fingerprints,
    /// Whether there was always a pivot that cannot vanish.
    is_lasting: bool,
}

impl Arithmetic for Symbols<'_> {
    type Scalar = Expr;

    fn divisor(&mut self, pivot: &Expr) -> Expr {
        *pivot
    }

    fn quotient(&mut self, entry: &Expr, divisor: &Expr) -> Expr {
        self.pool.div(*entry, *divisor)
    }

    fn difference(&mut self, old: Option<&Expr>, factor: &Expr, value: &Expr) -> Option<Expr> {
        let zero = self.pool.zero();
        let product = self.pool.mul(*factor, *value);
        let new = self.pool.sub(old.copied().unwrap_or(zero), product);
        (new != zero).then_some(new)
    }

    fn subtracted(&mut self, from: usize, pivot: usize, factor: &Expr) {
        let zero = self.pool.zero();
        for k in 0..self.right[pivot].len() {
            let value = self.right[pivot][k];
            if value != zero {
                let product = self.pool.mul(*factor, value);
                self.right[from][k] = self.pool.sub(self.right[from][k], product);
            }
        }
    }
}

impl Symbols<'_> {
    fn back_substitute(&mut self, echelon: &Echelon<Expr>) -> Vec<Vec<Expr>> {
        let width = self.right.first().map_or(0, Vec::len);
        let mut solution = vec![vec![self.pool.zero(); width]; echelon.rows.len()];
        for &(i, j) in echelon.pivots.iter().rev() {
            let row = &echelon.rows[i];
            for k in 0..width {
                let mut terms = vec![self.right[i][k]];
                for (&column, &value) in row.iter().filter(|(column, _)| **column != j) {
                    let product = self.pool.mul(value, solution[column][k]);
                    terms.push(self.pool.neg(product));
                }
                let sum = self.pool.sum(&terms);
                solution[j][k] = self.pool.div(sum, row[&j]);
            }
        }
        solution
    }

    /// Whether an entry may vanish, so that it had better be no pivot.
    fn may_vanish(&self, row: &Row<Expr>, entry: Expr, pivots: Pivots) -> bool {
        match pivots {
            Pivots::Any => false,
            Pivots::Lasting(ranges) => ranges.can_vanish(self.pool, entry),
            Pivots::Near(value) => {
                let size = |e: &Expr| self.pool.eval(*e, value).map_or(0.0, f64::abs);
                size(&entry) <= NEAR_PIVOT * row.values().map(size).fold(0.0, f64::max)
            }
        }
    }

    /// An entry that cannot vanish of the shortest of the first `count` rows, with the least fill-in.
    fn lasting_pivot(
        &mut self,
        state: &Elimination<Expr>,
        count: usize,
        ranges: &Ranges,
    ) -> Option<(usize, usize)> {
        for &(_, i) in state.open().iter().filter(|(_, i)| *i < count) {
            let mut entries: Vec<(usize, usize)> =
                state.row(i).keys().map(|&j| (state.count(j), j)).collect();
            entries.sort_unstable();
            for (_, j) in entries {
                let entry = state.row(i)[&j];
                if !self.prints.is_zero(self.pool, entry) && !ranges.can_vanish(self.pool, entry) {
                    return Some((i, j));
                }
            }
        }
        None
    }

    /// The entry with the least fill-in among those of the shortest rows that
    /// are not zero; one that may vanish is taken only where nothing else is left.
    fn pivot(&mut self, state: &Elimination<Expr>, pivots: Pivots) -> Option<(usize, usize)> {
        let mut last_resort = None;
        let mut rows = state.open().iter();
        loop {
            let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
            for &(length, i) in rows.by_ref().take(PIVOT_ROWS) {
                let fill_in = |j: usize| (length - 1) * (state.count(j) - 1);
                candidates.extend(state.row(i).keys().map(|&j| (fill_in(j), i, j)));
            }
            if candidates.is_empty() {
                self.is_lasting &= last_resort.is_none();
                return last_resort;
            }
            candidates.sort_unstable();
            for (_, i, j) in candidates {
                let row = state.row(i);
                if self.prints.is_zero(self.pool, row[&j]) {
                    continue;
                }
                if self.may_vanish(row, row[&j], pivots) {
                    last_resort.get_or_insert((i, j));
                } else {
                    return Some((i, j));
                }
            }
        }
    }
}
