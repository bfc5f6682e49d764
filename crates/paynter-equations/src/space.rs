//! Linear models: the matrices A, B, C, D with exact entries.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Variable};

use crate::{Equations, Sparse, StateSpace};

impl Equations {
    /// The state space, if the model is linear: rates and outputs are linear in
    /// states and inputs, with coefficients that depend on parameters alone.
    /// Constant terms over parameters and time are allowed and stand apart.
    pub fn state_space(&self, pool: &mut Pool, graph: &BondGraph) -> Option<StateSpace> {
        if !self.constraints.is_empty() {
            return None;
        }
        let orders = self.inputs.iter().map(|input| input.symbols.len()).max().unwrap_or(1).max(1);
        let mut columns: Vec<(Symbol, Column)> = Vec::new();
        columns.extend(self.states.iter().enumerate().map(|(j, state)| (state.symbol, Column::State(j))));
        for (j, input) in self.inputs.iter().enumerate() {
            columns
                .extend(input.symbols.iter().enumerate().map(|(k, symbol)| (*symbol, Column::Input(k, j))));
        }
        columns.sort_unstable_by_key(|(symbol, _)| *symbol);
        let targets: Vec<Expr> = self.outputs.iter().map(|output| output.value).collect();
        let (a, b, first) =
            block(pool, graph, &columns, &self.rates, self.states.len(), self.inputs.len(), orders)?;
        let (c, d, second) =
            block(pool, graph, &columns, &targets, self.states.len(), self.inputs.len(), orders)?;
        Some(StateSpace { a, b, c, d, offset: (first, second) })
    }
}

#[derive(Debug, Clone, Copy)]
enum Column {
    State(usize),
    Input(usize, usize),
}

/// Matrices by states, by inputs and their derivatives, and the constant terms.
type Block = (Sparse, Vec<Sparse>, Vec<Expr>);

fn block(
    pool: &mut Pool,
    graph: &BondGraph,
    columns: &[(Symbol, Column)],
    expressions: &[Expr],
    states: usize,
    inputs: usize,
    orders: usize,
) -> Option<Block> {
    let rows = expressions.len();
    let mut by_state = Sparse { rows, columns: states, entries: Vec::new() };
    let mut by_input = vec![Sparse { rows, columns: inputs, entries: Vec::new() }; orders];
    let mut constants = Vec::with_capacity(rows);
    let zero = pool.zero();
    for (i, expr) in expressions.iter().enumerate() {
        let inside: Vec<(Symbol, Column)> = pool
            .symbols(*expr)
            .into_iter()
            .filter_map(|symbol| {
                let k = columns.binary_search_by_key(&symbol, |(s, _)| *s).ok()?;
                Some(columns[k])
            })
            .collect();
        let symbols: Vec<Symbol> = inside.iter().map(|(symbol, _)| *symbol).collect();
        let (coefficients, rest) = pool.linear_parts(*expr, &symbols)?;
        for ((_, column), coefficient) in inside.iter().zip(coefficients) {
            if depends_on_time(pool, graph, coefficient) {
                return None;
            }
            if coefficient == zero || pool.is_zero(coefficient) {
                continue;
            }
            match *column {
                Column::State(j) => by_state.entries.push((i, j, coefficient)),
                Column::Input(k, j) => by_input[k].entries.push((i, j, coefficient)),
            }
        }
        constants.push(rest);
    }
    by_state.entries.sort_by_key(|(i, j, _)| (*i, *j));
    for matrix in &mut by_input {
        matrix.entries.sort_by_key(|(i, j, _)| (*i, *j));
    }
    Some((by_state, by_input, constants))
}

fn depends_on_time(pool: &Pool, graph: &BondGraph, expr: Expr) -> bool {
    graph.variables.symbol(Variable::Time).is_some_and(|time| pool.depends_on(expr, time))
}
