//! The equations of a steady state in numbers: what is known, what is sought,
//! residuals and their slopes.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, code};
use paynter_equations::{Equations, Failure};
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use super::wrong;

/// 0 = F(w) with w the states and implicit unknowns.
pub(super) struct Problem {
    /// The symbols of w.
    pub sought: Vec<Symbol>,
    /// Parameters, inputs with derivatives, time.
    pub known: BTreeMap<Symbol, f64>,
    residuals: Vec<Expr>,
    slopes: Vec<(usize, usize, Expr)>,
}

impl Problem {
    /// Takes inputs at time zero and differentiates the equations.
    pub fn new(pool: &mut Pool, graph: &BondGraph, equations: &Equations) -> Result<Problem, Failure> {
        let mut known: BTreeMap<Symbol, f64> =
            graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect();
        let time = graph.variables.symbol(Variable::Time);
        known.extend(time.map(|time| (time, 0.0)));
        for input in &equations.inputs {
            let mut value = input.value;
            for symbol in &input.symbols {
                let number = pool.eval(value, &|symbol| known.get(&symbol).copied()).map_err(|_| {
                    let message = format!("input `{}` has no value at time zero", input.name);
                    wrong(Diagnostic::new(code::NOT_LINEAR, message))
                })?;
                known.insert(*symbol, number);
                value = match time {
                    Some(time) => pool.diff(value, time),
                    None => pool.zero(),
                };
            }
        }
        let mut sought: Vec<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
        sought.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
        let mut residuals = equations.rates.clone();
        residuals.extend(equations.constraints.iter().map(|constraint| constraint.residual));
        let place: FxHashMap<Symbol, usize> = sought.iter().enumerate().map(|(j, s)| (*s, j)).collect();
        let mut slopes = Vec::new();
        for (i, residual) in residuals.iter().enumerate() {
            for symbol in pool.symbols(*residual) {
                if let Some(&j) = place.get(&symbol) {
                    slopes.push((i, j, pool.diff(*residual, symbol)));
                }
            }
        }
        Ok(Problem { sought, known, residuals, slopes })
    }

    /// The initial states, and zero for implicit unknowns.
    pub fn start(&self, pool: &Pool, equations: &Equations) -> Result<Vec<f64>, Failure> {
        let mut start = Vec::with_capacity(self.sought.len());
        for state in &equations.states {
            let value =
                pool.eval(state.initial, &|symbol| self.known.get(&symbol).copied()).map_err(|_| {
                    let message = format!("the initial value of `{}` is not finite", state.name);
                    wrong(Diagnostic::new(code::NOT_LINEAR, message))
                })?;
            start.push(value);
        }
        start.resize(self.sought.len(), 0.3);
        Ok(start)
    }

    /// The value of every symbol at w.
    pub fn all_values(&self, w: &[f64]) -> BTreeMap<Symbol, f64> {
        let mut values = self.known.clone();
        values.extend(self.sought.iter().copied().zip(w.iter().copied()));
        values
    }

    /// F(w), if it is defined there.
    pub fn residual(&self, pool: &Pool, w: &[f64]) -> Option<Vec<f64>> {
        let values = self.all_values(w);
        let lookup = |symbol: Symbol| values.get(&symbol).copied();
        self.residuals.iter().map(|e| pool.eval(*e, &lookup).ok()).collect()
    }

    /// ∂F/∂w, if it is defined there.
    pub fn slopes(&self, pool: &Pool, w: &[f64]) -> Option<Vec<(usize, usize, f64)>> {
        let values = self.all_values(w);
        let lookup = |symbol: Symbol| values.get(&symbol).copied();
        self.slopes.iter().map(|(i, j, e)| Some((*i, *j, pool.eval(*e, &lookup).ok()?))).collect()
    }
}
