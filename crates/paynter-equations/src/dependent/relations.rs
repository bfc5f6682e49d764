//! Dependent states freed from implicit unknowns. What flows into a part of a network that leads nowhere else sums to
//! zero, whatever the laws within; where these close a loop that is kept implicit, a dependent state reads the laws all
//! the same. A combination of the implicit equations takes them out again, and what is left is the relation of the
//! states alone: by it one of them follows the others, initially too.

use super::Elimination;
use crate::linear;
use paynter_algebra::{Expr, Node, Pool, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A sum of terms that read unknowns, with coefficients that do not, and of what reads none.
#[derive(Default)]
struct Form {
    terms: BTreeMap<Expr, Expr>,
    rest: Vec<Expr>,
}

impl Elimination<'_> {
    /// Writes pending states that read implicit unknowns or rates without these, where implicit equations allow it.
    pub(super) fn relate(&mut self) {
        let mut unknowns: FxHashSet<Symbol> = self.work.constraints.iter().map(|c| c.unknown).collect();
        if unknowns.is_empty() {
            return;
        }
        unknowns.extend(self.open.iter().copied());
        let pool = &mut *self.pool;
        let reads = |pool: &Pool, e: Expr| pool.symbols(e).iter().any(|symbol| unknowns.contains(symbol));
        // A symbol by itself is a state whose own law is implicit, and stands for itself.
        let places: Vec<usize> = (0..self.pending.len())
            .filter(|&k| {
                let value = self.pending[k].value;
                pool.as_symbol(value).is_none() && reads(pool, value)
            })
            .collect();
        if places.is_empty() {
            return;
        }
        let mut values: Vec<Form> =
            places.iter().map(|&k| Form::new(pool, self.pending[k].value, &unknowns)).collect();
        let equations: Vec<Form> =
            self.work.constraints.iter().map(|c| Form::new(pool, c.residual, &unknowns)).collect();
        let equations = connected(equations, &values);
        if equations.is_empty() {
            return;
        }
        let count = equations.len();
        let mut columns: FxHashMap<Expr, usize> = FxHashMap::default();
        let (mut rows, mut right) = (Vec::new(), Vec::new());
        for form in equations.into_iter().chain(values.drain(..)) {
            let row = form.terms.into_iter().map(|(term, coefficient)| {
                let next = columns.len();
                (*columns.entry(term).or_insert(next), coefficient)
            });
            rows.push(row.collect());
            let rest = pool.sum(&form.rest);
            right.push(pool.neg(rest));
        }
        let reduced = linear::reduce(pool, rows, right, (count, columns.len()), self.ranges);
        for (k, value) in places.into_iter().zip(reduced) {
            if let Some(value) = value {
                self.pending[k].value = value;
            }
        }
    }
}

impl Form {
    fn new(pool: &mut Pool, e: Expr, unknowns: &FxHashSet<Symbol>) -> Form {
        let mut form = Form::default();
        let one = pool.one();
        form.add(pool, e, one, unknowns);
        form
    }

    /// Adds a multiple of an expression, a sum term by term.
    fn add(&mut self, pool: &mut Pool, e: Expr, factor: Expr, unknowns: &FxHashSet<Symbol>) {
        let mut stack = vec![(e, factor)];
        while let Some((e, factor)) = stack.pop() {
            let reads = |pool: &Pool, e: Expr| pool.symbols(e).iter().any(|symbol| unknowns.contains(symbol));
            if !reads(pool, e) {
                self.rest.push(pool.mul(factor, e));
                continue;
            }
            match pool.node(e) {
                Node::Sum(parts) => stack.extend(parts.iter().map(|part| (*part, factor))),
                Node::Product(parts) => {
                    let (bound, free): (Vec<Expr>, Vec<Expr>) =
                        parts.iter().partition(|part| reads(pool, **part));
                    let factor = free.into_iter().fold(factor, |factor, part| pool.mul(factor, part));
                    match bound[..] {
                        [one] => stack.push((one, factor)),
                        _ => {
                            let term = bound.into_iter().reduce(|term, part| pool.mul(term, part));
                            self.insert(pool, term.unwrap_or(e), factor);
                        }
                    }
                }
                _ => self.insert(pool, e, factor),
            }
        }
    }

    fn insert(&mut self, pool: &mut Pool, term: Expr, factor: Expr) {
        let zero = pool.zero();
        let entry = self.terms.entry(term).or_insert(zero);
        *entry = pool.add(*entry, factor);
        if *entry == zero {
            self.terms.remove(&term);
        }
    }
}

/// The equations that share terms with some values, directly or through others.
fn connected(equations: Vec<Form>, values: &[Form]) -> Vec<Form> {
    let mut reached: FxHashSet<Expr> = values.iter().flat_map(|form| form.terms.keys().copied()).collect();
    let mut taken = Vec::new();
    let mut left = equations;
    loop {
        let (now, later): (Vec<Form>, Vec<Form>) =
            left.into_iter().partition(|form| form.terms.keys().any(|term| reached.contains(term)));
        left = later;
        if now.is_empty() {
            return taken;
        }
        reached.extend(now.iter().flat_map(|form| form.terms.keys().copied()));
        taken.extend(now);
    }
}
