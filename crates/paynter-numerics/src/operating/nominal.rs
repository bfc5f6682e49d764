//! Nominal values of a model's variables, about which changes are small: at
//! the operating point where there is one, else at the start.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, QueryError};
use paynter_graph::{BondGraph, Variable};

use super::{Nonsmooth, OperatingPoint, Probes, nonsmooth_laws};

/// Evaluates the variables as far as they are known at the operating point, where one is given, else at the
/// initial states with inputs at time zero; finds the laws that have no derivative there.
pub fn nominal_values(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    steady: Option<&OperatingPoint>,
    token: &CancellationToken,
    findings: &mut Diagnostics,
) -> Result<BTreeMap<Variable, f64>, QueryError> {
    let (known, sizes) = match steady {
        Some(point) => (point.values.clone(), point.sizes.clone()),
        None => (start(pool, graph, equations), BTreeMap::new()),
    };
    let values = values(pool, graph, equations, &known, token)?;
    let probes = Probes::new(pool, equations, &known, &sizes);
    for (element, kind) in nonsmooth_laws(pool, graph, equations, &probes) {
        let element = graph.element(element);
        let how = match kind {
            Nonsmooth::Jump => "jumps",
            Nonsmooth::Kink => "has a kink",
            Nonsmooth::Infinite => "has an infinite derivative",
        };
        let message = format!("the law of `{}` {how} at the nominal point", element.name);
        findings.push(Diagnostic::new(code::KINK, message).at(element.span));
    }
    Ok(values)
}

/// Every variable that the equations compute from the known symbols.
fn values(
    pool: &Pool,
    graph: &BondGraph,
    equations: &Equations,
    known: &BTreeMap<Symbol, f64>,
    token: &CancellationToken,
) -> Result<BTreeMap<Variable, f64>, QueryError> {
    let number = |expr: Expr| pool.eval(expr, &|symbol| known.get(&symbol).copied()).ok();
    let mut values: BTreeMap<Variable, f64> = BTreeMap::new();
    for (k, input) in graph.inputs.iter().enumerate() {
        values.extend(known.get(&input.symbol).map(|value| (Variable::Input(k as u32), *value)));
    }
    for state in &equations.states {
        values.extend(known.get(&state.symbol).map(|value| (state.variable, *value)));
    }
    for dependent in &equations.dependent {
        let variable = Variable::State(dependent.element, dependent.port as u32);
        values.extend(number(dependent.value).map(|value| (variable, value)));
    }
    for assignment in &equations.assignments {
        token.check()?;
        values.extend(number(assignment.value).map(|value| (assignment.variable, value)));
    }
    for constraint in &equations.constraints {
        let variable = graph.variables.meaning(constraint.unknown);
        let value = known.get(&constraint.unknown);
        values.extend(variable.zip(value.copied()));
    }
    Ok(values)
}

/// Values of parameters, inputs at time zero and initial states.
fn start(pool: &Pool, graph: &BondGraph, equations: &Equations) -> BTreeMap<Symbol, f64> {
    let mut known: BTreeMap<Symbol, f64> = BTreeMap::new();
    known.extend(graph.variables.symbol(Variable::Time).map(|time| (time, 0.0)));
    known.extend(graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)));
    let inputs = graph.inputs.iter().map(|input| (input.symbol, input.value));
    for (symbol, expr) in inputs.chain(equations.states.iter().map(|state| (state.symbol, state.initial))) {
        if let Ok(value) = pool.eval(expr, &|symbol| known.get(&symbol).copied()) {
            known.insert(symbol, value);
        }
    }
    known
}
