//! Dependent storages that become states after all, because their laws read rates.

use super::differentiate::affected;
use super::{Elimination, Pending};
use crate::derive::singular;
use crate::linear::linear_row;
use crate::{Constraint, State};
use paynter_algebra::poly::{self, Budget};
use paynter_algebra::{Expr, Func, Node, Pool, Rational, Symbol};
use paynter_base::{CancellationToken, QueryError};
use paynter_graph::Variable;
use rustc_hash::FxHashSet;

/// How the law of a state that reads rates is used.
enum Way {
    /// It gives a rate.
    Rate(Symbol, Expr),
    /// It gives an implicit unknown, whose own equation then determines a rate.
    Unknown(Symbol, Expr),
    /// It is kept as an implicit equation for a rate.
    Implicit,
}

/// What a comparison of two states may cost.
const SHORT: Budget = Budget { terms: 2_000, steps: 1_000_000 };

impl Elimination<'_> {
    /// Makes one state that reads rates independent after all: its law, solved
    /// for one of the rates or for an implicit unknown that follows them,
    /// replaces that everywhere; where neither way is linear, it is kept.
    pub(super) fn promote(&mut self, free: &FxHashSet<Symbol>) -> Result<(), QueryError> {
        let Some((d, way)) = self.way(free) else {
            let elements = self.pending.iter().map(|p| p.rate.element);
            return Err(singular(self.graph, elements, "the mutual dependence"));
        };
        let entry = self.pending.remove(d);
        self.add_state(&entry);
        match way {
            Way::Rate(rate, value) => {
                self.open.retain(|s| *s != rate);
                self.apply(&[(rate, value)]);
            }
            Way::Unknown(unknown, value) => {
                let rate = self.rate_read(std::slice::from_ref(&entry));
                self.open.retain(|s| *s != rate);
                self.rename(unknown, rate);
                self.apply(&[(unknown, value)]);
            }
            Way::Implicit => {
                self.share(&entry);
                let rate = self.rate_read(std::slice::from_ref(&entry));
                self.open.retain(|s| *s != rate);
                if self.pool.as_symbol(entry.value) == Some(entry.rate.state) {
                    // Its law is implicit: with the state known, it determines the rate instead.
                    self.rename(entry.rate.state, rate);
                    return Ok(());
                }
                let state = self.pool.var(entry.rate.state);
                let residual = without_root(self.pool, state, entry.value);
                let name = self.pool.name(rate).to_owned();
                let elements = vec![entry.rate.element];
                self.work.constraints.push(Constraint {
                    name,
                    unknown: rate,
                    residual,
                    elements,
                    is_rate: true,
                });
            }
        }
        Ok(())
    }

    /// Chooses a pending state that reads rates, and how its law is used: solved for a rate without a
    /// division by what can vanish, else for an implicit unknown in the same way, else as it can be.
    fn way(&mut self, free: &FxHashSet<Symbol>) -> Option<(usize, Way)> {
        let open: FxHashSet<Symbol> = self.open.iter().copied().collect();
        let affected = affected(self.pool, self.work, &open);
        let (mut unknown, mut other) = (None, None);
        for (d, Pending { value, rate, .. }) in self.pending.clone().into_iter().enumerate() {
            if free.contains(&rate.rate) {
                continue;
            }
            let mut unsafe_rate = None;
            for symbol in self.pool.symbols(value) {
                let is_rate = open.contains(&symbol);
                if !is_rate && (!affected.contains(&symbol) || symbol == rate.state) {
                    continue;
                }
                let Some((solution, safe)) = self.solved_for(value, rate.state, symbol) else { continue };
                match (is_rate, safe) {
                    (true, true) => return Some((d, Way::Rate(symbol, solution))),
                    (true, false) => unsafe_rate = Some(Way::Rate(symbol, solution)),
                    (false, true) if unknown.is_none() => unknown = Some((d, Way::Unknown(symbol, solution))),
                    (false, _) => {}
                }
            }
            if other.is_none() {
                other = Some((d, unsafe_rate.unwrap_or(Way::Implicit)));
            }
        }
        unknown.or(other)
    }

    /// Solves state = value for a symbol that stands linearly in it; tells whether the divisor stays away
    /// from zero.
    fn solved_for(&mut self, value: Expr, state: Symbol, symbol: Symbol) -> Option<(Expr, bool)> {
        let (row, rest) = linear_row(self.pool, value, &[symbol])?;
        let coefficient = *row.get(&0)?;
        if self.pool.is_zero(coefficient) {
            return None;
        }
        let state = self.pool.var(state);
        let difference = self.pool.sub(state, rest);
        let solution = self.pool.div(difference, coefficient);
        Some((solution, !self.ranges.can_vanish(self.pool, coefficient)))
    }

    /// An open rate that some values read, directly or through implicit unknowns; their own where they do.
    pub(super) fn rate_read(&self, entries: &[Pending]) -> Symbol {
        let read = self.reads(entries);
        let own = entries.iter().map(|entry| entry.rate.rate);
        own.chain(self.open.iter().copied())
            .find(|rate| self.open.contains(rate) && read.contains(rate))
            .unwrap_or(self.open[0])
    }

    /// Lets the equation that determined one unknown determine another.
    pub(super) fn rename(&mut self, from: Symbol, to: Symbol) {
        let name = self.pool.name(to).to_owned();
        for constraint in self.work.constraints.iter_mut().filter(|c| c.unknown == from) {
            constraint.unknown = to;
            constraint.name.clone_from(&name);
        }
    }

    /// Expresses pending states that are multiples of one that becomes a state by it, so that two
    /// storages on one junction do not both count as independent.
    pub(super) fn share(&mut self, entry: &Pending) {
        let open: FxHashSet<Symbol> = self.open.iter().copied().collect();
        let mut moving = affected(self.pool, self.work, &open);
        moving.extend(open);
        for k in 0..self.pending.len() {
            if let Some(value) = self.multiple(self.pending[k].value, entry, &moving) {
                self.pending[k].value = value;
            }
        }
    }

    /// Writes a value as a multiple of another state plus what does not move, where it is that.
    fn multiple(&mut self, value: Expr, entry: &Pending, moving: &FxHashSet<Symbol>) -> Option<Expr> {
        let still = |pool: &Pool, e: Expr| pool.symbols(e).iter().all(|symbol| !moving.contains(symbol));
        let symbol = self.pool.symbols(value).into_iter().find(|symbol| moving.contains(symbol))?;
        let (above, below) = (self.pool.diff(value, symbol), self.pool.diff(entry.value, symbol));
        if self.pool.is_zero(below) {
            return None;
        }
        let work = poly::Work::new(SHORT, &CancellationToken::new());
        let ratio = self.pool.div(above, below);
        let ratio = poly::normal(self.pool, ratio, &work).ok().filter(|e| still(self.pool, *e))?;
        let part = self.pool.mul(ratio, entry.value);
        let rest = self.pool.sub(value, part);
        let rest = poly::normal(self.pool, rest, &work).ok().filter(|e| still(self.pool, *e))?;
        let state = self.pool.var(entry.rate.state);
        let part = self.pool.mul(ratio, state);
        Some(self.pool.add(part, rest))
    }

    pub(super) fn add_state(&mut self, entry: &Pending) {
        let variable = Variable::State(entry.rate.element, entry.rate.port as u32);
        let given = self
            .graph
            .element(entry.rate.element)
            .initial
            .iter()
            .find(|(port, _, _)| *port == entry.rate.port);
        let initial = given.map_or(self.pool.zero(), |(_, value, _)| *value);
        let name = self.pool.name(entry.rate.state).to_owned();
        self.work.states.push(State { name, symbol: entry.rate.state, variable, initial });
        self.rates.push(entry.outflow);
    }
}

/// The equation state − value = 0. Where the value is an odd root, both sides are raised to its power:
/// a root has no derivative at zero by which its argument could be found.
pub(super) fn without_root(pool: &mut Pool, state: Expr, value: Expr) -> Expr {
    let factors = |pool: &Pool, e: Expr| match pool.node(e) {
        Node::Product(list) => list.to_vec(),
        _ => vec![e],
    };
    let mut outside = factors(pool, value);
    let argument = |pool: &Pool, e: Expr, wanted: Func| match pool.node(e) {
        Node::Call(function, list) if function == wanted => Some(list[0]),
        _ => None,
    };
    let root = outside.iter().enumerate().find_map(|(place, factor)| match pool.node(*factor) {
        Node::Power(base, exponent) => {
            let order = pool.as_rational(exponent).map(|r| Rational::ONE / r)?;
            let odd = order > Rational::ONE && (1..9).any(|k| order == Rational::from(2 * k + 1));
            odd.then_some((place, base, order))
        }
        _ => None,
    });
    let sign = outside.iter().position(|factor| argument(pool, *factor, Func::Sign).is_some());
    let (Some((place, base, order)), Some(sign)) = (root, sign) else { return pool.sub(state, value) };
    let mut inside = factors(pool, base);
    let x = argument(pool, outside[sign], Func::Sign);
    let Some(size) = inside.iter().position(|factor| argument(pool, *factor, Func::Abs) == x) else {
        return pool.sub(state, value);
    };
    inside.extend(x);
    inside.swap_remove(size);
    let order = pool.number(order);
    outside = (0..outside.len()).filter(|i| ![place, sign].contains(i)).map(|i| outside[i]).collect();
    for factor in &mut outside {
        *factor = pool.pow(*factor, order);
    }
    outside.extend(inside);
    let (left, right) = (pool.pow(state, order), pool.product(&outside));
    pool.sub(left, right)
}
