//! Which states rest at an operating point.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::Variable;

use crate::Equations;

impl Equations {
    /// Tells of each state whether it takes part in a steady state: all but integrators that no equation
    /// reads and outputs read linearly at most, on which the linearisation does not depend.
    pub fn resting(&self, pool: &mut Pool) -> Vec<bool> {
        let residuals = self.constraints.iter().map(|constraint| constraint.residual);
        let equations: Vec<Expr> = self.rates.iter().copied().chain(residuals).collect();
        let mut read: Vec<Symbol> =
            pool.reachable(&equations).into_iter().filter_map(|node| pool.as_symbol(node)).collect();
        read.sort_unstable();
        let mut resting = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let is_read = read.binary_search(&state.symbol).is_ok();
            let rests = is_read || !matches!(state.variable, Variable::Integrator(_)) || {
                self.outputs.iter().any(|output| {
                    let derivative = pool.diff(output.value, state.symbol);
                    pool.depends_on(derivative, state.symbol)
                })
            };
            resting.push(rests);
        }
        resting
    }
}
