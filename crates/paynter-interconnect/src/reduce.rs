//! Fewer channels: those of one parameter whose auxiliary outputs are combinations of others' (nothing controls
//! them apart), or whose auxiliary inputs act as combinations of others' (nothing observes them apart).
//!
//! Dependences are found on values modulo a prime, over all powers of the loop within the block, solved for in
//! symbols, and confirmed at a second point. Other blocks count as given, so that a reduction holds for all Δ.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::field::FIELD;
use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Residues, Symbol};
use paynter_base::{CancellationToken, QueryError};
use paynter_equations::{Pivots, System};

use crate::form::Form;
use crate::realise::Pair;

/// The points at which dependences are looked for and confirmed.
const SEEDS: [u64; 2] = [11, 23];

/// A channel that goes: the place of its pair, and those that take its part over with their factors.
pub(crate) struct Dependence {
    pub gone: Symbol,
    pub kept: Vec<(Symbol, Expr)>,
    /// Whether auxiliary outputs depend (w = Σ t w_r), not what auxiliary inputs do (z_r + t z).
    pub by_outputs: bool,
}

/// Rates, outputs and auxiliary outputs over states, inputs and auxiliary inputs.
pub(crate) struct Loop<'a> {
    /// Rates and outputs.
    pub ends: Vec<&'a mut Form>,
    pub pairs: &'a mut Vec<Pair>,
}

impl Loop<'_> {
    /// Removes channels as long as dependences are found, and returns what was removed.
    pub fn reduce(
        &mut self,
        pool: &mut Pool,
        token: &CancellationToken,
    ) -> Result<Vec<Dependence>, QueryError> {
        let quantities: BTreeSet<usize> = self.pairs.iter().map(|pair| pair.quantity).collect();
        let mut removed = Vec::new();
        for quantity in quantities {
            for by_outputs in [true, false] {
                loop {
                    token.check()?;
                    let Some(found) = self.dependence(pool, quantity, by_outputs, token) else { break };
                    self.remove(pool, &found);
                    removed.push(found);
                }
            }
        }
        Ok(removed)
    }

    fn remove(&mut self, pool: &mut Pool, found: &Dependence) {
        let Some(place) = self.pairs.iter().position(|pair| pair.w == found.gone) else { return };
        let gone = self.pairs.remove(place);
        if !found.by_outputs {
            for (w, factor) in &found.kept {
                if let Some(pair) = self.pairs.iter_mut().find(|pair| pair.w == *w) {
                    pair.z.add(pool, *factor, &gone.z);
                }
            }
        }
        let forms = self.ends.iter_mut().map(|form| &mut **form);
        for form in forms.chain(self.pairs.iter_mut().map(|pair| &mut pair.z)) {
            replace(pool, form, found);
        }
    }

    /// A dependence among the channels of a quantity.
    fn dependence(
        &self,
        pool: &mut Pool,
        quantity: usize,
        by_outputs: bool,
        token: &CancellationToken,
    ) -> Option<Dependence> {
        let own: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.quantity == quantity).collect();
        if own.len() < 2 {
            return None;
        }
        let side = if by_outputs { outputs(pool, &own) } else { self.inputs(pool, &own, quantity) };
        let first = side.values(pool, SEEDS[0], None)?;
        let (k, support, columns) = dependent_row(&first)?;
        let factors = side.solve(pool, k, &support, &columns)?;
        let mut lowest = LowestTerms::new(token);
        let factors: Vec<Expr> = factors.into_iter().map(|factor| lowest.of(pool, factor)).collect();
        let mut point = Residues::new(SEEDS[1]);
        let values: Option<Vec<u64>> = factors.iter().map(|factor| point.value(pool, *factor)).collect();
        let (second, values) = (side.values(pool, SEEDS[1], Some(own.len()))?, values?);
        let combination = |c: usize| {
            support.iter().zip(&values).fold(0, |sum, (r, t)| FIELD.add(sum, FIELD.mul(*t, second[*r][c])))
        };
        if (0..second[k].len()).any(|c| combination(c) != second[k][c]) {
            return None;
        }
        let kept = support.iter().zip(factors).map(|(r, factor)| (own[*r].w, factor)).collect();
        Some(Dependence { gone: own[k].w, kept, by_outputs })
    }

    /// What auxiliary inputs do to rates, outputs and the auxiliary outputs of others.
    fn inputs(&self, pool: &Pool, own: &[&Pair], quantity: usize) -> Side {
        let zero = pool.zero();
        let others = self.pairs.iter().filter(|pair| pair.quantity != quantity).map(|pair| &pair.z);
        let forms: Vec<&Form> = self.ends.iter().map(|form| &**form).chain(others).collect();
        let outside = |pair: &&Pair| {
            forms.iter().enumerate().filter_map(|(c, form)| Some((c, *form.0.get(&pair.w)?))).collect()
        };
        let inside =
            |pair: &&Pair| own.iter().map(|other| other.z.0.get(&pair.w).copied().unwrap_or(zero)).collect();
        Side {
            inside: own.iter().map(inside).collect(),
            outside: own.iter().map(outside).collect(),
            width: forms.len(),
        }
    }
}

/// What auxiliary outputs follow: states, inputs and the auxiliary inputs of others.
fn outputs(pool: &Pool, own: &[&Pair]) -> Side {
    let zero = pool.zero();
    let ours: BTreeSet<Symbol> = own.iter().map(|pair| pair.w).collect();
    let all: BTreeSet<Symbol> = own
        .iter()
        .flat_map(|pair| pair.z.0.keys().copied())
        .filter(|symbol| !ours.contains(symbol))
        .collect();
    let place: BTreeMap<Symbol, usize> = all.into_iter().enumerate().map(|(c, symbol)| (symbol, c)).collect();
    let inside =
        |pair: &&Pair| own.iter().map(|other| pair.z.0.get(&other.w).copied().unwrap_or(zero)).collect();
    let outside =
        |pair: &&Pair| pair.z.0.iter().filter_map(|(symbol, e)| Some((*place.get(symbol)?, *e))).collect();
    Side {
        inside: own.iter().map(inside).collect(),
        outside: own.iter().map(outside).collect(),
        width: place.len(),
    }
}

/// Puts combinations in the place of an auxiliary input, or leaves it out.
pub(crate) fn replace(pool: &mut Pool, form: &mut Form, found: &Dependence) {
    let Some(coefficient) = form.0.remove(&found.gone) else { return };
    if found.by_outputs {
        for (w, factor) in &found.kept {
            let alone = Form::variable(pool, *w);
            let factor = pool.mul(coefficient, *factor);
            form.add(pool, factor, &alone);
        }
    }
}

/// Channels of one block seen from one side: how they act on one another, and on what is outside.
struct Side {
    inside: Vec<Vec<Expr>>,
    outside: Vec<BTreeMap<usize, Expr>>,
    width: usize,
}

impl Side {
    /// [B, A B, A² B …] at a random point, as long as the powers bring new directions or, where their number is
    /// given, so many.
    fn values(&self, pool: &Pool, seed: u64, powers: Option<usize>) -> Option<Vec<Vec<u64>>> {
        let mut point = Residues::new(seed);
        let mut value = |e: Expr| point.value(pool, e);
        let n = self.inside.len();
        let mut a = vec![vec![0; n]; n];
        let mut power = vec![vec![0; self.width]; n];
        for i in 0..n {
            for j in 0..n {
                a[i][j] = value(self.inside[i][j])?;
            }
            for (c, entry) in &self.outside[i] {
                power[i][*c] = value(*entry)?;
            }
        }
        let mut rows = power.clone();
        let mut rank = pivots(rows.clone()).len();
        for _ in 1..powers.unwrap_or(n) {
            if powers.is_none() && rank == n {
                break;
            }
            let times =
                |i: usize, c: usize| (0..n).fold(0, |sum, j| FIELD.add(sum, FIELD.mul(a[i][j], power[j][c])));
            power = (0..n).map(|i| (0..self.width).map(|c| times(i, c)).collect()).collect();
            rows.iter_mut().zip(&power).for_each(|(row, more)| row.extend(more));
            let now = pivots(rows.clone()).len();
            if powers.is_none() && now == rank {
                break;
            }
            rank = now;
        }
        Some(rows)
    }

    /// One column of A^q B in symbols.
    fn column(&self, pool: &mut Pool, column: usize) -> Vec<Expr> {
        let (power, c) = (column / self.width, column % self.width);
        let zero = pool.zero();
        let mut entries: Vec<Expr> =
            self.outside.iter().map(|row| row.get(&c).copied().unwrap_or(zero)).collect();
        for _ in 0..power {
            let mut next = Vec::with_capacity(entries.len());
            for row in &self.inside {
                let terms: Vec<Expr> = row.iter().zip(&entries).map(|(a, b)| pool.mul(*a, *b)).collect();
                next.push(pool.sum(&terms));
            }
            entries = next;
        }
        entries
    }

    /// The factors by which a row is the combination of others, from as many columns.
    fn solve(&self, pool: &mut Pool, k: usize, support: &[usize], columns: &[usize]) -> Option<Vec<Expr>> {
        let zero = pool.zero();
        let mut system = System { rows: Vec::new(), right: Vec::new() };
        for column in columns {
            let entries = self.column(pool, *column);
            let row = support.iter().enumerate().map(|(j, r)| (j, entries[*r])).filter(|(_, e)| *e != zero);
            system.rows.push(row.collect());
            system.right.push(vec![entries[k]]);
        }
        if support.is_empty() {
            return Some(Vec::new());
        }
        let solved = system.solve(pool, Pivots::Any).ok()?;
        Some(solved.into_iter().filter_map(|values| values.first().copied()).collect())
    }
}

/// The first row that depends on those before it: its place, the rows that it is a combination of, and columns that
/// determine their factors.
fn dependent_row(rows: &[Vec<u64>]) -> Option<(usize, Vec<usize>, Vec<usize>)> {
    let n = rows.len();
    // Each reduced row with the combination of rows that it is.
    let mut basis: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let (mut row, mut combination) = (row.clone(), vec![0; n]);
        combination[k] = FIELD.one();
        for (pivot, other, parts) in &basis {
            let factor = row[*pivot];
            if factor != 0 {
                row.iter_mut().zip(other).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
                combination
                    .iter_mut()
                    .zip(parts)
                    .for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
            }
        }
        match row.iter().position(|x| *x != 0) {
            Some(pivot) => {
                let inverse = FIELD.inv(row[pivot]);
                row.iter_mut().chain(&mut combination).for_each(|x| *x = FIELD.mul(*x, inverse));
                basis.push((pivot, row, combination));
            }
            None => {
                let support: Vec<usize> = (0..k).filter(|r| combination[*r] != 0).collect();
                let columns = pivots(support.iter().map(|r| rows[*r].clone()).collect());
                return (columns.len() == support.len()).then_some((k, support, columns));
            }
        }
    }
    None
}

/// Columns in which rows are independent.
fn pivots(mut rows: Vec<Vec<u64>>) -> Vec<usize> {
    let mut found = Vec::new();
    for i in 0..rows.len() {
        let Some(pivot) = rows[i].iter().position(|x| *x != 0) else { continue };
        found.push(pivot);
        let own = rows[i].clone();
        let inverse = FIELD.inv(own[pivot]);
        for row in rows.iter_mut().skip(i + 1) {
            let factor = FIELD.mul(row[pivot], inverse);
            row.iter_mut().zip(&own).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
        }
    }
    found
}
