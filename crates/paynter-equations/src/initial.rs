//! Initial states of dependent storages: where the model gives one and not
//! that of the state it depends on, it determines the latter.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, code};
use paynter_graph::{BondGraph, Ranges, Variable};
use rustc_hash::FxHashMap;

use crate::linear::linear_row;
use crate::{Dependent, Equations, State};

/// Initial values that differ by more than this part of the larger one contradict each other: far above
/// rounding, far below what anybody measures.
const INITIAL_MISFIT: f64 = 1e-9;

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
    let solution = pool.solve_for(residual, symbol, &|s| ranges.of(s)).ok()?;
    solution.is_global().then_some(solution.value)
}

impl Equations {
    /// Lists the dependent storages whose given initial states contradict those they depend on.
    pub fn initial_contradictions(&self, pool: &Pool, graph: &BondGraph) -> Diagnostics {
        let mut found = Diagnostics::new();
        for dependent in &self.dependent {
            if contradicts(pool, graph, self, dependent) {
                found.push(contradiction(graph, dependent));
            }
        }
        found
    }
}

/// Whether a dependent storage is given an initial state that the states it depends on contradict.
/// Where one of those has none of its own, the dependent one may determine it.
fn contradicts(pool: &Pool, graph: &BondGraph, equations: &Equations, dependent: &Dependent) -> bool {
    let Some(given) = dependent.initial else { return false };
    let parameter = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let read = pool.symbols(dependent.value);
    let states: Vec<_> = equations.states.iter().filter(|state| read.contains(&state.symbol)).collect();
    let own = |variable: Variable| match variable {
        Variable::State(id, port) => graph.element(id).initial.iter().any(|(p, _, _)| *p == port as usize),
        _ => true,
    };
    if states.is_empty() || !states.iter().all(|state| own(state.variable)) {
        return false;
    }
    let value = |symbol: Symbol| match states.iter().find(|state| state.symbol == symbol) {
        Some(state) => pool.eval(state.initial, &parameter).ok(),
        None => parameter(symbol),
    };
    match (pool.eval(dependent.value, &value), pool.eval(given, &parameter)) {
        (Ok(follows), Ok(given)) => (follows - given).abs() > INITIAL_MISFIT * follows.abs().max(given.abs()),
        _ => false,
    }
}

/// Says that the initial state of a dependent storage contradicts those it depends on.
pub fn contradiction(graph: &BondGraph, dependent: &Dependent) -> Diagnostic {
    let element = graph.element(dependent.element);
    let message =
        format!("the initial state of `{}` contradicts those of the storages it depends on", element.name);
    let given = element.initial.iter().find(|(port, _, _)| *port == dependent.port);
    Diagnostic::new(code::BAD_INITIAL, message)
        .at(given.map_or(element.span, |(_, _, span)| *span))
        .help("delete one of the initial states, or give values that agree")
}
