//! How an operating point moves with the parameters, in symbols: by the
//! implicit function theorem, F_w dw = −F_p dp for 0 = F(w, p).

use std::collections::BTreeMap;

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use crate::tolerance::SHIFT_UNKNOWNS;
use crate::{Equations, Pivots, System};

/// Finds the derivatives of states, implicit unknowns and inputs at the
/// operating point by each parameter, over the symbols of the point. Nothing
/// where the model is too large, or where the equations alone do not determine
/// the point because something is conserved.
pub fn operating_shift(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    parameters: &[Symbol],
    token: &CancellationToken,
) -> Option<Vec<Vec<(Symbol, Expr)>>> {
    let states = equations.states.iter().zip(&equations.rates).zip(equations.resting(pool));
    let mut unknowns: Vec<(Symbol, Expr)> =
        states.filter(|(_, rests)| *rests).map(|((state, rate), _)| (state.symbol, *rate)).collect();
    unknowns.extend(equations.constraints.iter().map(|c| (c.unknown, c.residual)));
    if unknowns.len() > SHIFT_UNKNOWNS {
        return None;
    }
    let inputs = input_derivatives(pool, graph, equations, parameters);
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    for (_, equation) in &unknowns {
        let mut row = BTreeMap::new();
        for (j, (symbol, _)) in unknowns.iter().enumerate() {
            let derivative = pool.diff(*equation, *symbol);
            if derivative != pool.zero() {
                row.insert(j, derivative);
            }
        }
        rows.push(row);
        let mut list = Vec::with_capacity(parameters.len());
        for (parameter, moved) in parameters.iter().zip(&inputs) {
            let mut terms = vec![pool.diff(*equation, *parameter)];
            for (symbol, derivative) in moved {
                let partial = pool.diff(*equation, *symbol);
                terms.push(pool.mul(partial, *derivative));
            }
            let sum = pool.sum(&terms);
            list.push(pool.neg(sum));
        }
        right.push(list);
    }
    let solution = System { rows, right }.solve(pool, Pivots::Any).ok()?;
    let at_zero: FxHashMap<Symbol, Expr> =
        graph.variables.symbol(Variable::Time).map(|time| (time, pool.zero())).into_iter().collect();
    let zero = pool.zero();
    let mut shifts = inputs;
    let mut lowest = LowestTerms::new(token);
    for (k, shift) in shifts.iter_mut().enumerate() {
        for ((symbol, _), values) in unknowns.iter().zip(&solution) {
            let value = pool.substitute(values[k], &at_zero);
            let value = lowest.of(pool, value);
            if value != zero {
                shift.push((*symbol, value));
            }
        }
    }
    Some(shifts)
}

/// Inputs whose values depend on a parameter, with their derivatives at time zero.
fn input_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    parameters: &[Symbol],
) -> Vec<Vec<(Symbol, Expr)>> {
    let time = graph.variables.symbol(Variable::Time);
    let zero = pool.zero();
    let at_zero: FxHashMap<Symbol, Expr> = time.map(|time| (time, zero)).into_iter().collect();
    let mut all = vec![Vec::new(); parameters.len()];
    for input in &equations.inputs {
        let mut value = input.value;
        for symbol in &input.symbols {
            for (list, parameter) in all.iter_mut().zip(parameters) {
                let derivative = pool.diff(value, *parameter);
                let derivative = pool.substitute(derivative, &at_zero);
                if derivative != zero {
                    list.push((*symbol, derivative));
                }
            }
            value = time.map_or(zero, |time| pool.diff(value, time));
        }
    }
    all
}
