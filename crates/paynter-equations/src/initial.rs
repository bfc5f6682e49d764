//! Initial states of dependent storages: where the model gives one and not
//! that of the state it depends on, it determines the latter.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Ranges, Variable};
use rustc_hash::FxHashMap;

use crate::linear::linear_row;
use crate::{Dependent, State};

/// Gives states without initial values of their own those that dependent storages ask for.
pub(crate) fn determine(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    states: &mut [State],
    dependents: &[Dependent],
) {
    let mut open: Vec<bool> = states.iter().map(|state| !given(graph, state.variable)).collect();
    let place: FxHashMap<Symbol, usize> =
        states.iter().enumerate().map(|(k, state)| (state.symbol, k)).collect();
    let inputs = inputs_at_zero(pool, graph);
    for dependent in dependents {
        let Some(wanted) = dependent.initial else { continue };
        for symbol in pool.symbols(dependent.value) {
            if let Some(Variable::Input(_)) = graph.variables.meaning(symbol) {
                ranges.read_signal(symbol);
            }
        }
        let value = pool.substitute(dependent.value, &inputs);
        let mut read: Vec<usize> =
            pool.symbols(value).iter().filter_map(|symbol| place.get(symbol).copied()).collect();
        read.sort_unstable();
        let Some(i) = read.iter().copied().find(|i| open[*i]) else { continue };
        let others: FxHashMap<Symbol, Expr> =
            read.into_iter().filter(|k| *k != i).map(|k| (states[k].symbol, states[k].initial)).collect();
        let value = pool.substitute(value, &others);
        let residual = pool.sub(value, wanted);
        let Some(initial) = solved(pool, residual, states[i].symbol, ranges) else { continue };
        // Implicit unknowns and derivatives of inputs have no values yet.
        let known = |symbol: &Symbol| graph.number(*symbol).is_some();
        if pool.symbols(initial).iter().all(known) {
            states[i].initial = initial;
            open[i] = false;
        }
    }
}

/// Whether the model gives a state's initial value itself.
fn given(graph: &BondGraph, variable: Variable) -> bool {
    match variable {
        Variable::State(id, port) => graph.element(id).initial.iter().any(|(p, _, _)| *p == port as usize),
        _ => true,
    }
}

/// The inputs at time zero.
fn inputs_at_zero(pool: &mut Pool, graph: &BondGraph) -> FxHashMap<Symbol, Expr> {
    let zero = pool.zero();
    let start: FxHashMap<Symbol, Expr> =
        graph.variables.symbol(Variable::Time).into_iter().map(|time| (time, zero)).collect();
    let mut map = start.clone();
    for input in &graph.inputs {
        let value = pool.substitute(input.value, &start);
        map.insert(input.symbol, value);
    }
    map
}

/// Solves a residual for a symbol, where that has one answer.
fn solved(pool: &mut Pool, residual: Expr, symbol: Symbol, ranges: &Ranges) -> Option<Expr> {
    if let Some((row, rest)) = linear_row(pool, residual, &[symbol]) {
        let coefficient = row.get(&0).copied().filter(|c| !ranges.can_vanish(pool, *c))?;
        let quotient = pool.div(rest, coefficient);
        return Some(pool.neg(quotient));
    }
    let solution = ranges.solve_for(pool, residual, symbol).ok()?;
    solution.is_global().then_some(solution.value)
}
