//! Consistent initialisation: the variables of a model at time zero, over parameters.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, QueryError};
use paynter_graph::{BondGraph, Guard, Sign, Variable};
use paynter_numerics::{Tables, operating_point};
use paynter_transform::Start;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The variables at time zero with inputs at their defaults. What only an implicit law or a table
/// tells is a number; what nothing tells is left out.
pub fn start(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    tables: &Tables,
    token: &CancellationToken,
) -> Result<Start, QueryError> {
    let Known { values: mut known, mut open, .. } = known_at_start(pool, graph, equations);
    open.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
    if !open.is_empty() {
        let values = solved_start(pool, graph, (equations, &known), tables, token)?;
        for symbol in open {
            let value = values.get(&symbol).and_then(|value| pool.decimal(&format!("{value:e}")));
            known.extend(value.map(|value| (symbol, value)));
        }
    }
    let (variables, values): (Vec<Variable>, Vec<Expr>) = equations
        .dependent
        .iter()
        .map(|dependent| (Variable::State(dependent.element, dependent.port as u32), dependent.value))
        .chain(equations.assignments.iter().map(|assignment| (assignment.variable, assignment.value)))
        .unzip();
    let values = pool.substitute_all(&values, &known);
    let states = equations.states.iter().map(|state| (state.variable, state.initial)).collect();
    let implicit = equations.constraints.iter().filter_map(|constraint| {
        let variable = graph.variables.meaning(constraint.unknown)?;
        Some((variable, *known.get(&constraint.unknown)?))
    });
    Ok(Start { states, others: variables.into_iter().zip(values).chain(implicit).collect() })
}

/// Numbers for inputs and implicit unknowns with the states held at their initial values: the steady state
/// of a model that has no others.
fn solved_start(
    pool: &mut Pool,
    graph: &BondGraph,
    (equations, known): (&Equations, &FxHashMap<Symbol, Expr>),
    tables: &Tables,
    token: &CancellationToken,
) -> Result<BTreeMap<Symbol, f64>, QueryError> {
    let mut held = Equations {
        states: Vec::new(),
        rates: Vec::new(),
        outputs: Vec::new(),
        dependent: Vec::new(),
        assignments: Vec::new(),
        reduction: None,
        loops: Vec::new(),
        guards: Default::default(),
        constraints: equations.constraints.clone(),
        inputs: equations.inputs.clone(),
    };
    for constraint in &mut held.constraints {
        constraint.residual = pool.substitute(constraint.residual, known);
    }
    match operating_point(pool, graph, &held, tables, token) {
        Ok(point) => Ok(point.values),
        Err(QueryError::Wrong(_)) => Ok(BTreeMap::new()),
        Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
    }
}

/// What is known of time zero.
pub(crate) struct Known {
    /// Time, states and inputs with their derivatives, over parameters.
    pub values: FxHashMap<Symbol, Expr>,
    /// The symbols of inputs that only numbers tell.
    pub open: Vec<Symbol>,
    /// Which inputs have values is decided at the values of parameters.
    pub guards: Vec<Guard>,
}

/// Time, states and inputs with their derivatives at time zero.
pub(crate) fn known_at_start(pool: &mut Pool, graph: &BondGraph, equations: &Equations) -> Known {
    let zero = pool.zero();
    let time = graph.variables.symbol(Variable::Time);
    let begin: FxHashMap<Symbol, Expr> = time.into_iter().map(|time| (time, zero)).collect();
    let number = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let mut known = Known { values: begin.clone(), open: Vec::new(), guards: Vec::new() };
    known.values.extend(equations.states.iter().map(|state| (state.symbol, state.initial)));
    for input in &equations.inputs {
        let mut value = input.value;
        for symbol in &input.symbols {
            let there = pool.substitute(value, &begin);
            let found = pool.eval(there, &number);
            known.guards.push(Guard::Sign(there, Sign::of(*found.as_ref().unwrap_or(&f64::NAN))));
            if found.is_ok() {
                known.values.insert(*symbol, there);
            } else {
                known.open.push(*symbol);
            }
            value = time.map_or(zero, |time| pool.diff(value, time));
        }
    }
    known
}
