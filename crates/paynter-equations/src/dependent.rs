//! Dependent storages: their states are functions of the others, and what
//! leaves them is the rate of that function. Differentiating it and solving
//! for the rates removes them from the equations.
//!
//! Where such a function reads rates itself (a storage that could have been
//! integral but for a division that must be avoided, or by hand), the storage
//! is a state after all, and its own law determines one of the rates.

use paynter_algebra::poly::{self, Budget};
use paynter_algebra::{Expr, Func, Node, Pool, Rational, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, ElementId, Ranges, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derive::{Work, singular};
use crate::linear::{Pivots, System, linear_row};
use crate::sort::{Definitions, Rate};
use crate::{Constraint, Dependent, Output, State, tear};
use paynter_base::QueryError;

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
                let slope = self.pool.diff(*place, symbol);
                if self.pool.is_zero(slope) {
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

    /// Makes one state that reads rates independent after all: its law, solved
    /// for one of the rates or for an implicit unknown that follows them,
    /// replaces that everywhere; where neither way is linear, it is kept.
    fn promote(&mut self, free: &FxHashSet<Symbol>) -> Result<(), QueryError> {
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
                self.work.constraints.push(Constraint { name, unknown: rate, residual, elements });
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
    fn rate_read(&self, entries: &[Pending]) -> Symbol {
        let read = self.reads(entries);
        let own = entries.iter().map(|entry| entry.rate.rate);
        own.chain(self.open.iter().copied())
            .find(|rate| self.open.contains(rate) && read.contains(rate))
            .unwrap_or(self.open[0])
    }

    /// Lets the equation that determined one unknown determine another.
    fn rename(&mut self, from: Symbol, to: Symbol) {
        let name = self.pool.name(to).to_owned();
        for constraint in self.work.constraints.iter_mut().filter(|c| c.unknown == from) {
            constraint.unknown = to;
            constraint.name.clone_from(&name);
        }
    }

    /// Expresses pending states that are multiples of one that becomes a state by it, so that two
    /// storages on one junction do not both count as independent.
    fn share(&mut self, entry: &Pending) {
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

    fn add_state(&mut self, entry: &Pending) {
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

    /// Solves residuals; nonlinear ones are kept as constraints.
    fn close(
        &mut self,
        residuals: Vec<Expr>,
        unknowns: Vec<Symbol>,
        elements: &[ElementId],
    ) -> Result<Vec<(Symbol, Expr)>, QueryError> {
        self.open.retain(|s| !unknowns.contains(s));
        let (values, kept) = tear::close(self.pool, residuals, unknowns, self.ranges, true)
            .map_err(|()| singular(self.graph, self.group(elements), "the mutual dependence"))?;
        for (unknown, residual) in kept {
            let name = self.pool.name(unknown).to_owned();
            self.work.constraints.push(Constraint { name, unknown, residual, elements: elements.to_vec() });
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

/// Implicit unknowns that depend on unknown rates, directly or through one another.
fn affected(pool: &Pool, work: &Work, rates: &FxHashSet<Symbol>) -> FxHashSet<Symbol> {
    let implicit = Implicit::new(pool, work);
    let mut affected = vec![false; work.constraints.len()];
    loop {
        let mut changed = false;
        for (row, &own) in implicit.determined.iter().enumerate() {
            let rate =
                implicit.symbols[row].iter().any(|s| rates.contains(s) && !implicit.place.contains_key(s));
            if !affected[own] && (rate || implicit.reads[row].iter().any(|&u| u != own && affected[u])) {
                affected[own] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    work.constraints.iter().zip(affected).filter(|(_, hit)| *hit).map(|(c, _)| c.unknown).collect()
}

/// How the implicit equations hang together.
struct Implicit {
    /// Places of the unknowns.
    place: FxHashMap<Symbol, usize>,
    /// The symbols of each equation.
    symbols: Vec<Vec<Symbol>>,
    /// The unknowns of each equation.
    reads: Vec<Vec<usize>>,
    /// The unknown that each equation determines.
    determined: Vec<usize>,
}

impl Implicit {
    fn new(pool: &Pool, work: &Work) -> Implicit {
        let place: FxHashMap<Symbol, usize> =
            work.constraints.iter().enumerate().map(|(i, c)| (c.unknown, i)).collect();
        let symbols: Vec<Vec<Symbol>> = work.constraints.iter().map(|c| pool.symbols(c.residual)).collect();
        let reads: Vec<Vec<usize>> =
            symbols.iter().map(|list| list.iter().filter_map(|s| place.get(s).copied()).collect()).collect();
        let determined = matching(&reads);
        Implicit { place, symbols, reads, determined }
    }
}

/// Which unknown each equation determines, if every equation is to determine
/// one that it reads; by augmenting paths. Where that cannot be, each keeps its own.
fn matching(reads: &[Vec<usize>]) -> Vec<usize> {
    let n = reads.len();
    let mut owner: Vec<Option<usize>> = vec![None; n];
    for start in 0..n {
        let mut from: Vec<Option<usize>> = vec![None; n];
        let mut open = std::collections::VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(row) = open.pop_front() {
            for &unknown in &reads[row] {
                if from[unknown].is_some() {
                    continue;
                }
                from[unknown] = Some(row);
                match owner[unknown] {
                    None => {
                        end = Some(unknown);
                        break 'search;
                    }
                    Some(next) => open.push_back(next),
                }
            }
        }
        let Some(mut unknown) = end else { return (0..n).collect() };
        while let Some(row) = from[unknown] {
            let previous = owner.iter().position(|o| *o == Some(row));
            owner[unknown] = Some(row);
            match previous {
                Some(before) if row != start => unknown = before,
                _ => break,
            }
        }
    }
    let mut determined: Vec<usize> = (0..n).collect();
    for (unknown, row) in owner.iter().enumerate() {
        if let Some(row) = row {
            determined[*row] = unknown;
        }
    }
    determined
}

/// dΨ/dt for each entry: by states with the given rates, by inputs with their
/// derivatives, by time, and by implicit unknowns through the implicit function theorem.
fn total_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    work: &mut Work,
    rates: &[Expr],
    entries: &[Pending],
) -> Result<Vec<Expr>, QueryError> {
    let mut known: FxHashMap<Symbol, Expr> =
        work.states.iter().map(|s| s.symbol).zip(rates.iter().copied()).collect();
    let time = graph.variables.symbol(Variable::Time);
    if let Some(time) = time {
        let one = pool.one();
        known.insert(time, one);
    }
    let needed = needed_constraints(pool, work, entries);
    if !needed.is_empty() {
        let unknowns: Vec<Symbol> = needed.iter().map(|&(_, u)| work.constraints[u].unknown).collect();
        let held: FxHashSet<Symbol> = unknowns.iter().copied().collect();
        let mut rows = Vec::new();
        let mut right = Vec::new();
        for &(c, _) in &needed {
            let residual = work.constraints[c].residual;
            let mut row = std::collections::BTreeMap::new();
            for (j, unknown) in unknowns.iter().enumerate() {
                let slope = pool.diff(residual, *unknown);
                if slope != pool.zero() {
                    row.insert(j, slope);
                }
            }
            rows.push(row);
            let rest = derivative(pool, graph, work, &known, residual, &held);
            right.push(vec![pool.neg(rest)]);
        }
        let solved = System { rows, right }.solve(pool, Pivots::Any).map_err(|_| {
            let elements = needed.iter().flat_map(|&(c, _)| work.constraints[c].elements.clone());
            singular(graph, elements, "the implicit equations")
        })?;
        for (unknown, values) in unknowns.into_iter().zip(solved) {
            known.insert(unknown, values[0]);
        }
    }
    Ok(entries
        .iter()
        .map(|entry| derivative(pool, graph, work, &known, entry.value, &FxHashSet::default()))
        .collect())
}

/// The equations that determine the implicit unknowns some values read,
/// directly or through one another, each with the unknown it determines.
fn needed_constraints(pool: &Pool, work: &Work, entries: &[Pending]) -> Vec<(usize, usize)> {
    if work.constraints.is_empty() {
        return Vec::new();
    }
    let implicit = Implicit::new(pool, work);
    let mut row_of = vec![0; work.constraints.len()];
    for (row, &unknown) in implicit.determined.iter().enumerate() {
        row_of[unknown] = row;
    }
    let mut found = vec![false; work.constraints.len()];
    let read = entries.iter().flat_map(|entry| pool.symbols(entry.value));
    let mut open: Vec<usize> = read.filter_map(|symbol| implicit.place.get(&symbol).copied()).collect();
    while let Some(unknown) = open.pop() {
        let row = row_of[unknown];
        if !std::mem::replace(&mut found[row], true) {
            open.extend(&implicit.reads[row]);
        }
    }
    (0..found.len()).filter(|&row| found[row]).map(|row| (row, implicit.determined[row])).collect()
}

/// The derivative of an expression along known rates; symbols in `skip` are held.
fn derivative(
    pool: &mut Pool,
    graph: &BondGraph,
    work: &mut Work,
    known: &FxHashMap<Symbol, Expr>,
    expr: Expr,
    skip: &FxHashSet<Symbol>,
) -> Expr {
    let mut terms = Vec::new();
    for symbol in pool.symbols(expr) {
        if skip.contains(&symbol) {
            continue;
        }
        let rate = match known.get(&symbol) {
            Some(rate) => *rate,
            None => match work.derivative_of(pool, graph, symbol) {
                Some(next) => pool.var(next),
                None => continue,
            },
        };
        let slope = pool.diff(expr, symbol);
        terms.push(pool.mul(slope, rate));
    }
    pool.sum(&terms)
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

/// The equation state − value = 0. Where the value is an odd root, both sides are raised to its power:
/// a root has no slope at zero by which its argument could be found.
fn without_root(pool: &mut Pool, state: Expr, value: Expr) -> Expr {
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
