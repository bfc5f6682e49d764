//! Dependent storages: their states are functions of the others, and what
//! leaves them is the rate of that function. Differentiating it and solving
//! for the rates removes them from the equations.
//!
//! Where such a function reads rates itself (a storage that could have been
//! integral but for a division that must be avoided, or by hand), the storage
//! is a state after all, and its own law determines one of the rates.

mod differentiate;
mod promote;
mod relations;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, QueryError};
use paynter_graph::{BondGraph, ElementId, Ranges, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derive::{Work, singular};
use crate::sort::{Definitions, Rate};
use crate::tear::Closed;
use crate::{Constraint, Dependent, LinearLoop, Output, tear};
use differentiate::{affected, needed_constraints, total_derivatives};

/// Eliminates the rates of dependent states from all equations and returns
/// the dependent states with their values.
#[allow(clippy::too_many_arguments, reason = "all that the elimination rewrites")]
pub(crate) fn eliminate(
    pool: &mut Pool,
    graph: &BondGraph,
    definitions: &Definitions,
    ranges: &Ranges,
    work: &mut Work,
    rates: &mut Vec<Expr>,
    outputs: &mut [Output],
    token: &CancellationToken,
) -> Result<Vec<Dependent>, QueryError> {
    let mut pending = Vec::with_capacity(definitions.rates.len());
    for rate in &definitions.rates {
        // Where the law is implicit the state itself is the unknown.
        let value = work.values.get(&rate.state).copied().unwrap_or_else(|| pool.var(rate.state));
        pending.push(Pending { rate: rate.clone(), value, outflow: pool.var(rate.rate) });
    }
    let open = pending.iter().map(|entry| entry.rate.rate).collect();
    let mut elimination =
        Elimination { pool, graph, ranges, work, rates, outputs, pending, open, finished: Vec::new() };
    while !elimination.pending.is_empty() {
        token.check()?;
        elimination.step()?;
    }
    let mut finished = elimination.finished;
    finished.sort_by_key(|entry| (entry.rate.element, entry.rate.port));
    Ok(finished.into_iter().map(|entry| describe(pool, graph, entry)).collect())
}

/// A dependent state: what leaves its port must be the rate of its value.
#[derive(Debug, Clone)]
struct Pending {
    rate: Rate,
    /// The state over independent ones, inputs, implicit unknowns, and perhaps unknown rates.
    value: Expr,
    /// What leaves the port: at first the symbol of its rate, later perhaps what that was solved for.
    outflow: Expr,
}

/// The elimination in progress; there are always as many open rates as pending states.
struct Elimination<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    ranges: &'a Ranges,
    work: &'a mut Work,
    rates: &'a mut Vec<Expr>,
    outputs: &'a mut [Output],
    pending: Vec<Pending>,
    open: Vec<Symbol>,
    finished: Vec<Pending>,
}

impl Elimination<'_> {
    fn step(&mut self) -> Result<(), QueryError> {
        self.drop_cancelled();
        self.relate();
        let free = self.free();
        let closed = self.closed(&free);
        if !closed.is_empty() {
            let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
                .into_iter()
                .partition(|entry| closed.contains(&entry.rate.rate));
            self.pending = later;
            let unknowns: Vec<Symbol> = now.iter().map(|entry| entry.rate.rate).collect();
            return self.solve(now, unknowns);
        }
        if free.len() == self.pending.len() {
            let now = std::mem::take(&mut self.pending);
            let unknowns = self.open.clone();
            return self.solve(now, unknowns);
        }
        self.promote(&free)
    }

    /// Removes rates and implicit unknowns from pending states and implicit
    /// equations in which they stand but cancel.
    fn drop_cancelled(&mut self) {
        let mut symbols: FxHashSet<Symbol> = self.open.iter().copied().collect();
        symbols.extend(self.work.constraints.iter().map(|constraint| constraint.unknown));
        let states = self.pending.iter_mut().flat_map(|entry| [&mut entry.value, &mut entry.outflow]);
        let residuals = self.work.constraints.iter_mut().map(|constraint| &mut constraint.residual);
        let zero = self.pool.zero();
        for place in states.chain(residuals) {
            if self.pool.as_symbol(*place).is_some() {
                continue;
            }
            for symbol in self.pool.symbols(*place).into_iter().filter(|s| symbols.contains(s)) {
                let partial = self.pool.diff(*place, symbol);
                if self.pool.is_zero(partial) {
                    *place = self.pool.substitute(*place, &[(symbol, zero)].into_iter().collect());
                }
            }
        }
    }

    /// Pending states whose values read no unknown rate, directly or through implicit unknowns.
    fn free(&self) -> FxHashSet<Symbol> {
        let open: FxHashSet<Symbol> = self.open.iter().copied().collect();
        let affected = affected(self.pool, self.work, &open);
        let reads = |entry: &&Pending| {
            self.pool.symbols(entry.value).iter().all(|s| !open.contains(s) && !affected.contains(s))
        };
        self.pending.iter().filter(reads).map(|entry| entry.rate.rate).collect()
    }

    /// The free states that can be solved now, apart from all others: the rates
    /// of the states they read are fed by nothing but themselves.
    fn closed(&self, free: &FxHashSet<Symbol>) -> FxHashSet<Symbol> {
        let open: FxHashSet<Symbol> = self.open.iter().copied().collect();
        let place: FxHashMap<Symbol, usize> =
            self.work.states.iter().enumerate().map(|(i, s)| (s.symbol, i)).collect();
        let mut feeds: FxHashMap<usize, Vec<Symbol>> = FxHashMap::default();
        let mut needs: Vec<(Symbol, FxHashSet<Symbol>)> = Vec::new();
        for entry in self.pending.iter().filter(|entry| free.contains(&entry.rate.rate)) {
            if self.pool.as_symbol(entry.outflow) != Some(entry.rate.rate) {
                continue;
            }
            let mut needed = FxHashSet::default();
            for state in self.reads(std::slice::from_ref(entry)).iter().filter_map(|s| place.get(s)) {
                let list = feeds.entry(*state).or_insert_with(|| {
                    self.pool.symbols(self.rates[*state]).into_iter().filter(|s| open.contains(s)).collect()
                });
                needed.extend(list.iter().copied());
            }
            needs.push((entry.rate.rate, needed));
        }
        let mut set: FxHashSet<Symbol> = needs.iter().map(|(rate, _)| *rate).collect();
        loop {
            let before = set.len();
            for (rate, needed) in &needs {
                if set.contains(rate) && !needed.iter().all(|other| set.contains(other)) {
                    set.remove(rate);
                }
            }
            if set.len() == before {
                return set;
            }
        }
    }

    /// Solves w = dΨ/dt with x' = f(x, w) for some states at once.
    fn solve(&mut self, now: Vec<Pending>, unknowns: Vec<Symbol>) -> Result<(), QueryError> {
        let elements: Vec<ElementId> = now.iter().map(|entry| entry.rate.element).collect();
        let coupled = self.coupled(&now, &unknowns);
        let own = now.iter().all(|entry| self.pool.as_symbol(entry.outflow) == Some(entry.rate.rate));
        if own && coupled.len() < unknowns.len() {
            return self.solve_by_states(now, unknowns, &coupled, &elements);
        }
        let derivatives = total_derivatives(self.pool, self.graph, self.work, self.rates, &now)?;
        let mut residuals = Vec::with_capacity(now.len());
        for (entry, derivative) in now.iter().zip(derivatives) {
            residuals.push(self.pool.sub(entry.outflow, derivative));
        }
        self.finished.extend(now);
        let values = self.close(residuals, unknowns, &elements)?;
        self.apply(&values);
        Ok(())
    }

    /// Storages with those whose states their own are given by.
    fn group(&self, elements: &[ElementId]) -> Vec<ElementId> {
        let dependent = |entry: &&Pending| elements.contains(&entry.rate.element);
        let read: FxHashSet<Symbol> = self
            .pending
            .iter()
            .chain(&self.finished)
            .filter(dependent)
            .flat_map(|entry| self.pool.symbols(entry.value))
            .collect();
        let states = self.work.states.iter().filter(|state| read.contains(&state.symbol));
        let storages = states.filter_map(|state| match state.variable {
            Variable::State(id, _) => Some(id),
            _ => None,
        });
        storages.chain(elements.iter().copied()).collect()
    }

    /// Symbols that some values read, directly or through implicit unknowns.
    fn reads(&self, entries: &[Pending]) -> Vec<Symbol> {
        let mut list: Vec<Symbol> = entries.iter().flat_map(|entry| self.pool.symbols(entry.value)).collect();
        for (c, _) in needed_constraints(self.pool, self.work, entries) {
            list.extend(self.pool.symbols(self.work.constraints[c].residual));
        }
        list.sort_unstable();
        list.dedup();
        list
    }

    /// States whose rates both feed the dependent ones and are fed by them.
    fn coupled(&self, now: &[Pending], unknowns: &[Symbol]) -> Vec<usize> {
        let inside: FxHashSet<Symbol> = self.reads(now).into_iter().collect();
        let unknowns: FxHashSet<Symbol> = unknowns.iter().copied().collect();
        (0..self.work.states.len())
            .filter(|&i| {
                inside.contains(&self.work.states[i].symbol)
                    && self.pool.symbols(self.rates[i]).iter().any(|s| unknowns.contains(s))
            })
            .collect()
    }

    /// Where fewer independent rates than dependent ones are coupled, it is cheaper to solve for those.
    fn solve_by_states(
        &mut self,
        now: Vec<Pending>,
        unknowns: Vec<Symbol>,
        coupled: &[usize],
        elements: &[ElementId],
    ) -> Result<(), QueryError> {
        let mut symbols = Vec::with_capacity(coupled.len());
        let mut rates = self.rates.clone();
        for &i in coupled {
            let symbol = self.pool.fresh(&format!("der({})", self.work.states[i].name));
            rates[i] = self.pool.var(symbol);
            symbols.push(symbol);
        }
        let derivatives = total_derivatives(self.pool, self.graph, self.work, &rates, &now)?;
        let map: FxHashMap<Symbol, Expr> =
            unknowns.iter().copied().zip(derivatives.iter().copied()).collect();
        let targets: Vec<Expr> = coupled.iter().map(|&i| self.rates[i]).collect();
        let computed = self.pool.substitute_all(&targets, &map);
        let mut residuals = Vec::with_capacity(symbols.len());
        for (symbol, value) in symbols.iter().zip(computed) {
            let variable = self.pool.var(*symbol);
            residuals.push(self.pool.sub(variable, value));
        }
        self.finished.extend(now);
        let values: FxHashMap<Symbol, Expr> = self.close(residuals, symbols, elements)?.into_iter().collect();
        let solved = self.pool.substitute_all(&derivatives, &values);
        let solution: Vec<(Symbol, Expr)> = unknowns.into_iter().zip(solved).collect();
        self.apply(&solution);
        Ok(())
    }

    /// Solves residuals; nonlinear ones are kept as constraints.
    fn close(
        &mut self,
        residuals: Vec<Expr>,
        unknowns: Vec<Symbol>,
        elements: &[ElementId],
    ) -> Result<Vec<(Symbol, Expr)>, QueryError> {
        self.open.retain(|s| !unknowns.contains(s));
        let what = "the mutual dependence";
        let Closed { values, kept, doubtful } =
            tear::close(self.pool, residuals, unknowns, self.ranges, true)
                .map_err(|()| singular(self.graph, self.group(elements), what))?;
        let of = |rows| LinearLoop { what, rows, elements: elements.to_vec() };
        self.work.loops.extend(doubtful.map(of));
        for (unknown, residual) in kept {
            let name = self.pool.name(unknown).to_owned();
            let elements = elements.to_vec();
            self.work.constraints.push(Constraint { name, unknown, residual, elements, is_rate: true });
        }
        Ok(values)
    }

    /// Puts solved rates into everything that reads them.
    fn apply(&mut self, solution: &[(Symbol, Expr)]) {
        let map: FxHashMap<Symbol, Expr> = solution.iter().copied().collect();
        self.open.retain(|s| !map.contains_key(s));
        let mut all: Vec<&mut Expr> = Vec::new();
        all.extend(self.rates.iter_mut());
        all.extend(self.outputs.iter_mut().map(|o| &mut o.value));
        for entry in self.pending.iter_mut().chain(&mut self.finished) {
            all.extend([&mut entry.value, &mut entry.outflow]);
        }
        all.extend(self.work.constraints.iter_mut().map(|c| &mut c.residual));
        all.extend(self.work.assignments.iter_mut().map(|a| &mut a.value));
        let old: Vec<Expr> = all.iter().map(|e| **e).collect();
        let new = self.pool.substitute_all(&old, &map);
        for (place, value) in all.into_iter().zip(new) {
            *place = value;
        }
    }
}

fn describe(pool: &Pool, graph: &BondGraph, entry: Pending) -> Dependent {
    let element = graph.element(entry.rate.element);
    let initial =
        element.initial.iter().find(|(port, _, _)| *port == entry.rate.port).map(|(_, value, _)| *value);
    Dependent {
        name: pool.name(entry.rate.state).to_owned(),
        symbol: entry.rate.state,
        element: entry.rate.element,
        port: entry.rate.port,
        value: entry.value,
        initial,
    }
}
