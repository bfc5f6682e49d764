//! The operating point: states and implicit unknowns at which nothing
//! changes, 0 = f(x, z, u(0), p) and 0 = r(x, z, u(0), p).

mod newton;
mod problem;

use std::collections::BTreeMap;

use paynter_algebra::{Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{Equations, Failure};
use paynter_graph::BondGraph;

use problem::Problem;

/// A steady state.
#[derive(Debug, Clone)]
pub struct OperatingPoint {
    /// The states.
    pub states: Vec<f64>,
    /// The implicit unknowns.
    pub unknowns: Vec<f64>,
    /// The inputs at time zero, each followed by its derivatives.
    pub inputs: Vec<Vec<f64>>,
    /// The outputs.
    pub outputs: Vec<f64>,
    /// The value of every symbol: parameters, states, unknowns, inputs, time.
    pub values: BTreeMap<Symbol, f64>,
}

/// Finds the steady state of a model with its inputs at time zero.
pub fn operating_point(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    ticket: &Ticket,
) -> Result<OperatingPoint, Failure> {
    let problem = Problem::new(pool, graph, equations)?;
    let start = problem.start(pool, equations)?;
    let Some(solution) = newton::solve(pool, &problem, start, ticket)? else {
        return Err(wrong(Diagnostic::new(code::NOT_LINEAR, "no operating point was found")));
    };
    let values = problem.all_values(&solution);
    let lookup = |symbol: Symbol| values.get(&symbol).copied();
    let outputs =
        equations.outputs.iter().map(|output| pool.eval(output.value, &lookup).unwrap_or(f64::NAN)).collect();
    let (states, unknowns) = solution.split_at(equations.states.len());
    let of = |symbol: &Symbol| values.get(symbol).copied().unwrap_or(0.0);
    let inputs = equations.inputs.iter().map(|input| input.symbols.iter().map(of).collect()).collect();
    Ok(OperatingPoint { states: states.to_vec(), unknowns: unknowns.to_vec(), inputs, outputs, values })
}

/// A failure with one finding.
fn wrong(diagnostic: Diagnostic) -> Failure {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    Failure::Wrong(diagnostics)
}
