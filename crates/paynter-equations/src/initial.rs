//! Initial states of dependent storages: where the model gives one and not
//! that of the state it depends on, it determines the latter.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Ranges, Variable};
use rustc_hash::FxHashMap;

use crate::linear::linear_row;
use crate::{Dependent, State};

/// Gives states without initial values of their own those that dependent storages ask for.
pub(crate) fn adopt(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    states: &mut [State],
    dependents: &[Dependent],
) {
    let mut open: Vec<bool> = states.iter().map(|state| !given(graph, state.variable)).collect();
    let inputs = inputs_at_zero(pool, graph);
    for dependent in dependents {
        let Some(wanted) = dependent.initial else { continue };
        let before = pool.symbols(dependent.value);
        let signals = graph.inputs.iter().filter(|input| before.contains(&input.symbol));
        signals.for_each(|input| ranges.read_signal(input.symbol));
        let value = pool.substitute(dependent.value, &inputs);
        let read = pool.symbols(value);
        let Some(i) = (0..states.len()).find(|&i| open[i] && read.contains(&states[i].symbol)) else {
            continue;
        };
        let others: FxHashMap<Symbol, Expr> = states
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i)
            .map(|(_, state)| (state.symbol, state.initial))
            .collect();
        let value = pool.substitute(value, &others);
        let residual = pool.sub(value, wanted);
        let Some(initial) = solved(pool, residual, states[i].symbol, ranges) else { continue };
        // Implicit unknowns and derivatives of inputs have no values yet.
        let known = |symbol: &Symbol| graph.parameters.iter().any(|p| p.symbol == *symbol);
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
