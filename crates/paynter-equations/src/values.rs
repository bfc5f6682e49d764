//! The values of all variables of a graph, by what its equations calculate.

use crate::Equations;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

impl Equations {
    /// Efforts, flows, states and signals over states, inputs, implicit unknowns and parameters; nothing where one
    /// of them is not calculated.
    pub fn variable_values(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        variables: &[Variable],
    ) -> Option<Vec<Expr>> {
        let mut values: FxHashMap<Symbol, Expr> =
            self.assignments.iter().map(|a| (a.symbol, a.value)).collect();
        values.extend(self.dependent.iter().map(|dependent| (dependent.symbol, dependent.value)));
        let known: FxHashSet<Symbol> = self.states.iter().map(|state| state.symbol).collect();
        let unknown: FxHashSet<Symbol> = self.constraints.iter().map(|c| c.unknown).collect();
        let of = |variable: &Variable| {
            let symbol = graph.variables.symbol(*variable)?;
            match values.get(&symbol) {
                Some(value) => Some(*value),
                None if known.contains(&symbol) || unknown.contains(&symbol) => Some(pool.var(symbol)),
                None => None,
            }
        };
        variables.iter().map(of).collect()
    }
}
