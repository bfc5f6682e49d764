//! Initial states of dependent storages: where the model gives one and not
//! that of the state it depends on, it determines the latter.

use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_graph::{BondGraph, Guard, Ranges, Variable};
use rustc_hash::FxHashMap;

use crate::linear::linear_row;
use crate::{Dependent, Equations, State};

impl Equations {
    /// Determines initial states again where that takes what inputs are measured to be at time zero, or what tables
    /// hold: both have their values in a run alone. `measured` has what stands for the model's own value of each input.
    /// Returns what this takes for granted.
    pub fn determine_initial_states(
        &mut self,
        pool: &mut Pool,
        graph: &BondGraph,
        measured: &[Option<Expr>],
    ) -> Vec<Guard> {
        let values = graph.inputs.iter().enumerate();
        let values: FxHashMap<Symbol, Expr> = values
            .map(|(k, input)| (input.symbol, measured.get(k).copied().flatten().unwrap_or(input.value)))
            .collect();
        let replaced = |symbol: &Symbol| {
            let place = graph.inputs.iter().position(|input| input.symbol == *symbol);
            place.is_some_and(|k| measured.get(k).is_some_and(Option::is_some))
        };
        let mut asked = self.dependent.iter().filter(|dependent| dependent.initial.is_some());
        let is_told_by_runs = |dependent: &Dependent, pool: &mut Pool| {
            let whole = pool.substitute(dependent.value, &values);
            reads_table(pool, whole) || pool.symbols(dependent.value).iter().any(replaced)
        };
        if !asked.any(|dependent| is_told_by_runs(dependent, pool)) {
            return Vec::new();
        }
        let zero = pool.zero();
        for state in self.states.iter_mut().filter(|state| !given(graph, state.variable)) {
            state.initial = zero;
        }
        let ranges = Ranges::new(graph);
        determine_with(pool, graph, &ranges, &mut self.states, &self.dependent, &values, true);
        ranges.guards()
    }
}

/// Gives states without initial values of their own those that dependent storages ask for, with the inputs of the model.
pub(crate) fn determine(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    states: &mut [State],
    dependents: &[Dependent],
) {
    let inputs = graph.inputs.iter().map(|input| (input.symbol, input.value)).collect();
    determine_with(pool, graph, ranges, states, dependents, &inputs, false);
}

fn reads_table(pool: &Pool, e: Expr) -> bool {
    pool.reachable(&[e]).into_iter().any(|node| matches!(pool.node(node), Node::Call(Func::Table(_), _)))
}

/// The same with other values of inputs; those of tables are known where there is a run.
fn determine_with(
    pool: &mut Pool,
    graph: &BondGraph,
    ranges: &Ranges,
    states: &mut [State],
    dependents: &[Dependent],
    inputs: &FxHashMap<Symbol, Expr>,
    in_run: bool,
) {
    let mut open: Vec<bool> = states.iter().map(|state| !given(graph, state.variable)).collect();
    let place: FxHashMap<Symbol, usize> =
        states.iter().enumerate().map(|(k, state)| (state.symbol, k)).collect();
    let inputs = at_zero(pool, graph, inputs);
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
        let Some(initial) = solved(pool, residual, states[i].symbol, ranges, in_run) else { continue };
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

/// Time zero, and the inputs there, in the order of the graph.
fn at_zero(pool: &mut Pool, graph: &BondGraph, inputs: &FxHashMap<Symbol, Expr>) -> FxHashMap<Symbol, Expr> {
    let zero = pool.zero();
    let start: FxHashMap<Symbol, Expr> =
        graph.variables.symbol(Variable::Time).into_iter().map(|time| (time, zero)).collect();
    let mut map = start.clone();
    for input in graph.inputs.iter() {
        let value = inputs.get(&input.symbol).copied().unwrap_or(input.value);
        map.insert(input.symbol, pool.substitute(value, &start));
    }
    map
}

/// Solves a residual for a symbol, where that has one answer. Whether a table holds zero shows in a run, which then does
/// not begin.
fn solved(pool: &mut Pool, residual: Expr, symbol: Symbol, ranges: &Ranges, in_run: bool) -> Option<Expr> {
    if let Some((row, rest)) = linear_row(pool, residual, &[symbol]) {
        let coefficient = row
            .get(&0)
            .copied()
            .filter(|c| in_run && reads_table(pool, *c) || !ranges.can_vanish(pool, *c))?;
        let quotient = pool.div(rest, coefficient);
        return Some(pool.neg(quotient));
    }
    let solution = ranges.solve_for(pool, residual, symbol).ok()?;
    solution.is_global().then_some(solution.value)
}
