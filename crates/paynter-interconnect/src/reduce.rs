//! Fewer channels: those of one parameter whose auxiliary outputs are combinations of others' (nothing controls
//! them apart), or whose auxiliary inputs act as combinations of others' (nothing observes them apart).
//!
//! Dependences are found on values modulo a prime, over all powers of the loop within the block, solved for in
//! symbols, and confirmed at a second point. Other blocks count as given, so that a reduction holds for all Δ.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use paynter_algebra::field::FIELD;
use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Residues, Symbol};
use paynter_base::{CancellationToken, QueryError};
use paynter_equations::{Pivots, System};

use crate::form::Form;
use crate::limits::MODULAR_POINTS;
use crate::realise::Pair;

/// The first of the points at which dependences are looked for, and of those at which they are confirmed.
const SEEDS: [u64; 2] = [11, 11 + MODULAR_POINTS];

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
    /// Removes channels that depend on others, and returns what was removed.
    pub fn reduce(
        &mut self,
        pool: &mut Pool,
        nominal: &dyn Fn(Symbol) -> Option<f64>,
        token: &CancellationToken,
    ) -> Result<Vec<Dependence>, QueryError> {
        let quantities: BTreeSet<usize> = self.pairs.iter().map(|pair| pair.quantity).collect();
        let mut removed = Vec::new();
        for quantity in quantities {
            for by_outputs in [true, false] {
                for found in self.dependences(pool, quantity, by_outputs, nominal, token)? {
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

    /// The channels of a quantity that depend on others of it, none of which depends on others itself.
    fn dependences(
        &self,
        pool: &mut Pool,
        quantity: usize,
        by_outputs: bool,
        nominal: &dyn Fn(Symbol) -> Option<f64>,
        token: &CancellationToken,
    ) -> Result<Vec<Dependence>, QueryError> {
        let own: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.quantity == quantity).collect();
        if own.len() < 2 {
            return Ok(Vec::new());
        }
        let side = if by_outputs { outputs(pool, &own) } else { self.inputs(pool, &own, quantity) };
        let Some((first, _)) = side.somewhere(pool, SEEDS[0]) else { return Ok(Vec::new()) };
        let reached = first.reached();
        let vectors: Vec<&[u64]> = reached.iter().map(|(_, vector)| vector.as_slice()).collect();
        let Some((second, mut point)) = side.somewhere(pool, SEEDS[1]) else { return Ok(Vec::new()) };
        let again = second.reached();
        let mut lowest = LowestTerms::new(token);
        let mut found = Vec::new();
        for DependentRow { row, support, columns } in dependent_rows(own.len(), &vectors) {
            token.check()?;
            let columns: Vec<Column> = columns.into_iter().map(|c| reached[c].0).collect();
            let Some(factors) = side.solve(pool, row, &support, &columns) else { continue };
            let factors: Vec<Expr> = factors.into_iter().map(|factor| lowest.of(pool, factor)).collect();
            let values: Option<Vec<u64>> = factors.iter().map(|factor| point.value(pool, *factor)).collect();
            let Some(values) = values else { continue };
            let holds = again.iter().all(|(_, vector)| {
                let parts = support.iter().zip(&values).map(|(r, t)| FIELD.mul(*t, vector[*r]));
                parts.fold(0, |sum, part| FIELD.add(sum, part)) == vector[row]
            });
            // A factor that has no value at the nominal parameters would bring it into the matrices.
            let finite = |factor: &Expr| pool.eval(*factor, nominal).is_ok_and(f64::is_finite);
            if holds && factors.iter().all(finite) {
                let kept = support.iter().zip(factors).map(|(r, factor)| (own[*r].w, factor)).collect();
                found.push(Dependence { gone: own[row].w, kept, by_outputs });
            }
        }
        Ok(found)
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
        Side { inside: own.iter().map(inside).collect(), outside: own.iter().map(outside).collect() }
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
    Side { inside: own.iter().map(inside).collect(), outside: own.iter().map(outside).collect() }
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
}

/// A column of A^q B.
#[derive(Debug, Clone, Copy)]
struct Column {
    power: usize,
    of: usize,
}

impl Side {
    /// The side at the first random point modulo a prime, from a seed on, at which it has values.
    fn somewhere(&self, pool: &Pool, from: u64) -> Option<(SideValues, Residues)> {
        (from..from + MODULAR_POINTS).find_map(|seed| {
            let mut point = Residues::new(seed);
            Some((self.at(pool, &mut point)?, point))
        })
    }

    fn at(&self, pool: &Pool, point: &mut Residues) -> Option<SideValues> {
        let n = self.inside.len();
        let mut inside = Vec::with_capacity(n);
        let mut outside: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for i in 0..n {
            let row: Option<Vec<u64>> = self.inside[i].iter().map(|e| point.value(pool, *e)).collect();
            inside.push(row?);
            for (c, entry) in &self.outside[i] {
                outside.entry(*c).or_insert_with(|| vec![0; n])[i] = point.value(pool, *entry)?;
            }
        }
        Some(SideValues { inside, outside })
    }

    /// One column of A^q B in symbols.
    fn column(&self, pool: &mut Pool, Column { power, of }: Column) -> Vec<Expr> {
        let zero = pool.zero();
        let mut entries: Vec<Expr> =
            self.outside.iter().map(|row| row.get(&of).copied().unwrap_or(zero)).collect();
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
    fn solve(&self, pool: &mut Pool, k: usize, support: &[usize], columns: &[Column]) -> Option<Vec<Expr>> {
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

/// A side at a point: A by rows and B by columns.
struct SideValues {
    inside: Vec<Vec<u64>>,
    outside: BTreeMap<usize, Vec<u64>>,
}

impl SideValues {
    /// Columns of B, A B, A² B … that span all of them, lower powers first.
    fn reached(&self) -> Vec<(Column, Vec<u64>)> {
        let mut basis = Basis::default();
        let mut found = Vec::new();
        let mut open: VecDeque<(Column, Vec<u64>)> = (self.outside.iter())
            .map(|(of, column)| (Column { power: 0, of: *of }, column.clone()))
            .collect();
        while let Some((column, vector)) = open.pop_front() {
            if !basis.insert(vector.clone()) {
                continue;
            }
            let times = |row: &Vec<u64>| {
                let parts = row.iter().zip(&vector).map(|(a, x)| FIELD.mul(*a, *x));
                parts.fold(0, |sum, part| FIELD.add(sum, part))
            };
            let next = self.inside.iter().map(times).collect();
            open.push_back((Column { power: column.power + 1, of: column.of }, next));
            found.push((column, vector));
        }
        found
    }
}

/// Reduced vectors, each with its pivot, where it is one.
#[derive(Default)]
struct Basis(Vec<(usize, Vec<u64>)>);

impl Basis {
    /// Takes a vector in where it is independent of those before it.
    fn insert(&mut self, mut vector: Vec<u64>) -> bool {
        for (pivot, other) in &self.0 {
            let factor = vector[*pivot];
            if factor != 0 {
                vector.iter_mut().zip(other).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
            }
        }
        let Some(pivot) = vector.iter().position(|x| *x != 0) else { return false };
        let inverse = FIELD.inv(vector[pivot]);
        vector.iter_mut().for_each(|x| *x = FIELD.mul(*x, inverse));
        self.0.push((pivot, vector));
        true
    }
}

/// A row that is a combination of others, with columns that determine its factors.
struct DependentRow {
    row: usize,
    support: Vec<usize>,
    columns: Vec<usize>,
}

/// The rows that depend on independent ones before them.
fn dependent_rows(n: usize, columns: &[&[u64]]) -> Vec<DependentRow> {
    // Each reduced row with the combination of rows that it is.
    let mut basis: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
    let mut found = Vec::new();
    for k in 0..n {
        let mut row: Vec<u64> = columns.iter().map(|column| column[k]).collect();
        let mut combination = vec![0; n];
        combination[k] = FIELD.one();
        for (pivot, other, parts) in &basis {
            let factor = row[*pivot];
            if factor != 0 {
                let subtract = |x: &mut u64, y: &u64| *x = FIELD.sub(*x, FIELD.mul(factor, *y));
                row.iter_mut().zip(other).for_each(|(x, y)| subtract(x, y));
                combination.iter_mut().zip(parts).for_each(|(x, y)| subtract(x, y));
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
                let mut independent = Basis::default();
                let part = |column: &[u64]| support.iter().map(|r| column[*r]).collect();
                let columns = (0..columns.len()).filter(|c| independent.insert(part(columns[*c])));
                let columns: Vec<usize> = columns.take(support.len()).collect();
                if columns.len() == support.len() {
                    found.push(DependentRow { row: k, support, columns });
                }
            }
        }
    }
    found
}
