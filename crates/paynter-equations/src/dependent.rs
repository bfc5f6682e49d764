//! Dependent storages: their states are functions of the others, and what
//! leaves them is the rate of that function. Differentiating it and solving
//! for the rates removes them from the equations.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::Ticket;
use paynter_graph::{BondGraph, ElementId, Ranges, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derive::{Failure, Work, singular};
use crate::linear::System;
use crate::sort::{Definitions, Rate};
use crate::{Dependent, Output, State, tear};

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
    ticket: &Ticket,
) -> Result<Vec<Dependent>, Failure> {
    let mut pending: Vec<Pending> = definitions
        .rates
        .iter()
        .map(|rate| {
            let value = match work.values.get(&rate.state) {
                Some(value) => *value,
                // Its law is implicit: the state itself is the unknown.
                None => pool.var(rate.state),
            };
            Pending { rate: rate.clone(), value }
        })
        .collect();
    let mut finished: Vec<Pending> = Vec::new();
    while !pending.is_empty() {
        ticket.check()?;
        let ready = ready(pool, work, rates, &pending);
        let solution = if ready.is_empty() {
            let block = std::mem::take(&mut pending);
            couple(pool, graph, ranges, work, rates, block)?
        } else {
            let (now, later) = partition(pending, &ready);
            pending = later;
            let solution = solve_ready(pool, graph, ranges, work, rates, &now)?;
            finished.extend(now);
            solution
        };
        apply(pool, work, rates, outputs, &mut pending, &mut finished, &solution);
    }
    finished.sort_by_key(|entry| (entry.rate.element, entry.rate.port));
    Ok(finished.into_iter().map(|entry| describe(pool, graph, entry)).collect())
}

/// A dependent state whose rate is still a symbol.
#[derive(Debug, Clone)]
struct Pending {
    rate: Rate,
    /// The state over independent ones, inputs, implicit unknowns, and perhaps rates of other dependent states.
    value: Expr,
}

fn partition(pending: Vec<Pending>, ready: &FxHashSet<Symbol>) -> (Vec<Pending>, Vec<Pending>) {
    pending.into_iter().partition(|entry| ready.contains(&entry.rate.rate))
}

/// The rates that can be solved now: the state is free of unknown rates, and
/// so are the rates of the states it reads, but for the others in the set.
fn ready(pool: &Pool, work: &Work, rates: &[Expr], pending: &[Pending]) -> FxHashSet<Symbol> {
    let unknown: FxHashSet<Symbol> = pending.iter().map(|entry| entry.rate.rate).collect();
    let through_constraints: FxHashSet<Symbol> = work
        .constraints
        .iter()
        .flat_map(|c| pool.symbols(c.residual))
        .filter(|s| unknown.contains(s))
        .collect();
    let implicit: FxHashSet<Symbol> = work.constraints.iter().map(|c| c.unknown).collect();
    let place: FxHashMap<Symbol, usize> =
        work.states.iter().enumerate().map(|(i, s)| (s.symbol, i)).collect();
    let mut reads: FxHashMap<usize, Vec<Symbol>> = FxHashMap::default();
    let mut needs: Vec<(Symbol, FxHashSet<Symbol>)> = Vec::new();
    for entry in pending {
        let symbols = pool.symbols(entry.value);
        let direct = symbols.iter().any(|s| unknown.contains(s));
        let hidden = !through_constraints.is_empty() && symbols.iter().any(|s| implicit.contains(s));
        if direct || hidden {
            continue;
        }
        let mut needed = FxHashSet::default();
        for state in symbols.iter().filter_map(|s| place.get(s)) {
            let list = reads.entry(*state).or_insert_with(|| {
                pool.symbols(rates[*state]).into_iter().filter(|s| unknown.contains(s)).collect()
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

/// Solves for the rates of a set of dependent states: w = dΨ/dt with x' = f(x, w).
fn solve_ready(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    work: &mut Work,
    rates: &[Expr],
    now: &[Pending],
) -> Result<Vec<(Symbol, Expr)>, Failure> {
    let unknowns: Vec<Symbol> = now.iter().map(|entry| entry.rate.rate).collect();
    // States whose rates both feed the dependent ones and are fed by them.
    let mut coupled: Vec<usize> = Vec::new();
    let inside: FxHashSet<Symbol> = now.iter().flat_map(|entry| pool.symbols(entry.value)).collect();
    for (i, state) in work.states.iter().enumerate() {
        if inside.contains(&state.symbol) && pool.symbols(rates[i]).iter().any(|s| unknowns.contains(s)) {
            coupled.push(i);
        }
    }
    let elements = || now.iter().map(|entry| entry.rate.element);
    if coupled.len() < unknowns.len() {
        // Fewer rates of independent states than of dependent ones: solve for those.
        let symbols: Vec<Symbol> =
            coupled.iter().map(|&i| pool.fresh(&format!("der({})", work.states[i].name))).collect();
        let mut state_rates = rates.to_vec();
        for (&i, &symbol) in coupled.iter().zip(&symbols) {
            state_rates[i] = pool.var(symbol);
        }
        let derivatives = total_derivatives(pool, graph, work, &state_rates, now)?;
        let map: FxHashMap<Symbol, Expr> =
            unknowns.iter().copied().zip(derivatives.iter().copied()).collect();
        let targets: Vec<Expr> = coupled.iter().map(|&i| rates[i]).collect();
        let computed = pool.substitute_all(&targets, &map);
        let residuals = symbols
            .iter()
            .zip(computed)
            .map(|(symbol, value)| {
                let variable = pool.var(*symbol);
                pool.sub(variable, value)
            })
            .collect();
        let values = close(pool, graph, ranges, work, residuals, symbols, elements())?;
        let map: FxHashMap<Symbol, Expr> = values.into_iter().collect();
        let solved = pool.substitute_all(&derivatives, &map);
        return Ok(unknowns.into_iter().zip(solved).collect());
    }
    let derivatives = total_derivatives(pool, graph, work, rates, now)?;
    let residuals = unknowns
        .iter()
        .zip(derivatives)
        .map(|(symbol, value)| {
            let variable = pool.var(*symbol);
            pool.sub(variable, value)
        })
        .collect();
    close(pool, graph, ranges, work, residuals, unknowns, elements())
}

/// Dependent states that hang on the rates of one another: those that read
/// rates become states after all, and their own laws determine the rates.
fn couple(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    work: &mut Work,
    rates: &mut Vec<Expr>,
    block: Vec<Pending>,
) -> Result<Vec<(Symbol, Expr)>, Failure> {
    let unknowns: Vec<Symbol> = block.iter().map(|entry| entry.rate.rate).collect();
    let set: FxHashSet<Symbol> = unknowns.iter().copied().collect();
    let mut residuals = Vec::with_capacity(block.len());
    let mut free: Vec<Pending> = Vec::new();
    for entry in &block {
        if pool.symbols(entry.value).iter().any(|s| set.contains(s)) {
            let state = pool.var(entry.rate.state);
            residuals.push(pool.sub(state, entry.value));
            let variable = Variable::State(entry.rate.element, entry.rate.port as u32);
            let given = graph
                .element(entry.rate.element)
                .initial
                .iter()
                .find(|(port, _, _)| *port == entry.rate.port);
            let initial = given.map_or(pool.zero(), |(_, value, _)| *value);
            let name = pool.name(entry.rate.state).to_owned();
            work.states.push(State { name, symbol: entry.rate.state, variable, initial });
            let rate = pool.var(entry.rate.rate);
            rates.push(rate);
        } else {
            free.push(entry.clone());
        }
    }
    if residuals.is_empty() {
        return Err(singular(graph, block.iter().map(|entry| entry.rate.element), "the dependent storages"));
    }
    let derivatives = total_derivatives(pool, graph, work, rates, &free)?;
    for (entry, derivative) in free.iter().zip(derivatives) {
        let variable = pool.var(entry.rate.rate);
        residuals.push(pool.sub(variable, derivative));
    }
    close(pool, graph, ranges, work, residuals, unknowns, block.iter().map(|entry| entry.rate.element))
}

/// Solves residuals for rates; nonlinear ones are kept as constraints.
fn close(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    work: &mut Work,
    residuals: Vec<Expr>,
    unknowns: Vec<Symbol>,
    elements: impl Iterator<Item = ElementId>,
) -> Result<Vec<(Symbol, Expr)>, Failure> {
    let elements: Vec<ElementId> = elements.collect();
    let (values, kept) = tear::close(pool, residuals, unknowns, ranges)
        .map_err(|()| singular(graph, elements.iter().copied(), "the dependent storages"))?;
    for (unknown, residual) in kept {
        let name = pool.name(unknown).to_owned();
        work.constraints.push(crate::Constraint { name, unknown, residual, elements: elements.clone() });
    }
    Ok(values)
}

/// dΨ/dt for each entry: by states with the given rates, by inputs with their
/// derivatives, by time, and by implicit unknowns through the implicit function theorem.
fn total_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    work: &mut Work,
    rates: &[Expr],
    entries: &[Pending],
) -> Result<Vec<Expr>, Failure> {
    let mut known: FxHashMap<Symbol, Expr> =
        work.states.iter().map(|s| s.symbol).zip(rates.iter().copied()).collect();
    let time = graph.variables.symbol(Variable::Time);
    if let Some(time) = time {
        let one = pool.one();
        known.insert(time, one);
    }
    let implicit: FxHashSet<Symbol> = work.constraints.iter().map(|c| c.unknown).collect();
    let uses_implicit =
        entries.iter().any(|entry| pool.symbols(entry.value).iter().any(|symbol| implicit.contains(symbol)));
    if uses_implicit {
        let unknowns: Vec<Symbol> = work.constraints.iter().map(|c| c.unknown).collect();
        let residuals: Vec<Expr> = work.constraints.iter().map(|c| c.residual).collect();
        let mut rows = Vec::new();
        let mut right = Vec::new();
        for residual in residuals {
            let mut row = std::collections::BTreeMap::new();
            for (j, unknown) in unknowns.iter().enumerate() {
                let slope = pool.diff(residual, *unknown);
                if slope != pool.zero() {
                    row.insert(j, slope);
                }
            }
            rows.push(row);
            let rest = derivative(pool, graph, work, &known, residual, &implicit);
            right.push(vec![pool.neg(rest)]);
        }
        let solved = System { rows, right }.solve(pool, None).map_err(|_| {
            singular(
                graph,
                work.constraints.iter().flat_map(|c| c.elements.clone()),
                "the implicit equations",
            )
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

/// Puts solved rates into everything that reads them.
fn apply(
    pool: &mut Pool,
    work: &mut Work,
    rates: &mut [Expr],
    outputs: &mut [Output],
    pending: &mut [Pending],
    finished: &mut [Pending],
    solution: &[(Symbol, Expr)],
) {
    let map: FxHashMap<Symbol, Expr> = solution.iter().copied().collect();
    let mut all: Vec<&mut Expr> = Vec::new();
    all.extend(rates.iter_mut());
    all.extend(outputs.iter_mut().map(|o| &mut o.value));
    all.extend(pending.iter_mut().map(|p| &mut p.value));
    all.extend(finished.iter_mut().map(|p| &mut p.value));
    all.extend(work.constraints.iter_mut().map(|c| &mut c.residual));
    all.extend(work.assignments.iter_mut().map(|a| &mut a.value));
    let old: Vec<Expr> = all.iter().map(|e| **e).collect();
    let new = pool.substitute_all(&old, &map);
    for (place, value) in all.into_iter().zip(new) {
        *place = value;
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
