//! The equations of a steady state in numbers: what is known, what is sought,
//! residuals and their derivatives.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Func, Pool, Symbol};
use paynter_base::{Diagnostic, Remedy, code};
use paynter_equations::{Equations, QueryError};
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use super::{place, wrong};
use crate::linalg::elimination::Rows;
use crate::program::{Program, Tables};

/// 0 = F(w) with w the states and implicit unknowns.
pub(super) struct Problem<'a> {
    /// The symbols of w: states, then implicit unknowns.
    pub sought: Vec<Symbol>,
    /// The number of states.
    pub states: usize,
    /// Parameters, inputs with derivatives, time.
    pub known: BTreeMap<Symbol, f64>,
    /// Whether the derivatives are the same everywhere.
    pub linear: bool,
    tables: &'a Tables,
    arguments: Vec<f64>,
    residuals: Program,
    jacobian: Program,
    /// What the known values make up in each residual: Σ |∂F/∂k · k|.
    known_parts: Program,
    places: Vec<(usize, usize)>,
}

impl<'a> Problem<'a> {
    /// Takes inputs at time zero, differentiates the equations and compiles both.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        tables: &'a Tables,
    ) -> Result<Problem<'a>, QueryError> {
        let known = known(pool, graph, equations, tables)?;
        let mut sought: Vec<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
        sought.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
        let mut roots = equations.rates.clone();
        roots.extend(equations.constraints.iter().map(|constraint| constraint.residual));
        let column: FxHashMap<Symbol, usize> = sought.iter().enumerate().map(|(j, s)| (*s, j)).collect();
        let mut places = Vec::new();
        let mut jacobian = Vec::new();
        for (i, residual) in roots.iter().enumerate() {
            let read: Vec<Symbol> =
                pool.symbols(*residual).into_iter().filter(|symbol| column.contains_key(symbol)).collect();
            places.extend(read.iter().map(|symbol| (i, column[symbol])));
            jacobian.extend(pool.derivatives(*residual, &read));
        }
        let zero = pool.zero();
        let mut known_parts = Vec::with_capacity(roots.len());
        for residual in &roots {
            let mut parts = Vec::new();
            let mut read = pool.symbols(*residual);
            read.retain(|symbol| known.get(symbol).is_some_and(|value| *value != 0.0));
            let derivatives = pool.derivatives(*residual, &read);
            for (symbol, derivative) in read.into_iter().zip(derivatives) {
                let value = pool.var(symbol);
                let part = pool.mul(derivative, value);
                parts.push(pool.call(Func::Abs, &[part]));
            }
            known_parts.push(if parts.is_empty() { zero } else { pool.sum(&parts) });
        }
        let linear = jacobian.iter().all(|e| pool.symbols(*e).iter().all(|s| !column.contains_key(s)));
        let mut symbols: Vec<Symbol> = known.keys().copied().collect();
        let arguments: Vec<f64> = known.values().copied().collect();
        symbols.extend(&sought);
        let compile = |roots: &[Expr]| {
            Program::compile(pool, roots, &symbols)
                .map_err(|error| wrong(Diagnostic::new(code::NO_OPERATING_POINT, error.to_string())))
        };
        Ok(Problem {
            states: equations.states.len(),
            linear,
            tables,
            arguments,
            residuals: compile(&roots)?,
            jacobian: compile(&jacobian)?,
            known_parts: compile(&known_parts)?,
            places,
            sought,
            known,
        })
    }

    /// The value of every symbol at w.
    pub fn all_values(&self, w: &[f64]) -> BTreeMap<Symbol, f64> {
        let mut values = self.known.clone();
        values.extend(self.sought.iter().copied().zip(w.iter().copied()));
        values
    }

    /// F(w), if it is defined there.
    pub fn residual(&self, w: &[f64]) -> Option<Vec<f64>> {
        self.run(&self.residuals, w)
    }

    /// ∂F/∂w, if it is defined there.
    pub fn jacobian(&self, w: &[f64]) -> Option<Rows> {
        let values = self.run(&self.jacobian, w)?;
        let mut rows = vec![Vec::new(); self.sought.len()];
        for (&(i, j), value) in self.places.iter().zip(values) {
            rows[i].push((j, value));
        }
        Some(rows)
    }

    /// What the known values make up in each residual, if that is defined at w.
    pub fn known_parts(&self, w: &[f64]) -> Option<Vec<f64>> {
        self.run(&self.known_parts, w)
    }

    fn run(&self, program: &Program, w: &[f64]) -> Option<Vec<f64>> {
        let mut arguments = self.arguments.clone();
        arguments.extend_from_slice(w);
        let mut out = vec![0.0; program.results()];
        program.run_with(&arguments, self.tables, &mut Vec::new(), &mut out);
        out.iter().all(|value| value.is_finite()).then_some(out)
    }
}

/// Evaluates one expression.
pub(super) fn evaluate(pool: &Pool, e: Expr, values: &BTreeMap<Symbol, f64>, tables: &Tables) -> Option<f64> {
    let symbols = pool.symbols(e);
    let arguments: Option<Vec<f64>> = symbols.iter().map(|symbol| values.get(symbol).copied()).collect();
    let program = Program::compile(pool, &[e], &symbols).ok()?;
    let mut out = [f64::NAN];
    program.run_with(&arguments?, tables, &mut Vec::new(), &mut out);
    out[0].is_finite().then_some(out[0])
}

/// Parameters, time zero, and the inputs there with their derivatives.
fn known(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    tables: &Tables,
) -> Result<BTreeMap<Symbol, f64>, QueryError> {
    let mut known: BTreeMap<Symbol, f64> =
        graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect();
    let time = graph.variables.symbol(Variable::Time);
    known.extend(time.map(|time| (time, 0.0)));
    for (k, input) in equations.inputs.iter().enumerate() {
        let mut value = input.value;
        for (order, symbol) in input.symbols.iter().enumerate() {
            let Some(number) = evaluate(pool, value, &known, tables) else {
                let what = if order == 0 { "value" } else { "derivative" };
                let message = format!("input `{}` has no {what} at time zero", input.name);
                let diagnostic = Diagnostic::new(code::NO_OPERATING_POINT, message)
                    .help(Remedy::marked("give it a value for the operating point: {option set=NAME=VALUE}"));
                return Err(wrong(match graph.inputs.get(k) {
                    Some(input) => diagnostic.at(input.span),
                    None => diagnostic,
                }));
            };
            known.insert(*symbol, number);
            value = match time {
                Some(time) => pool.diff(value, time),
                None => pool.zero(),
            };
        }
    }
    Ok(known)
}

/// The initial states.
pub(super) fn initial(
    pool: &Pool,
    graph: &BondGraph,
    equations: &Equations,
    known: &BTreeMap<Symbol, f64>,
) -> Result<Vec<f64>, QueryError> {
    let mut start = Vec::with_capacity(equations.states.len());
    for state in &equations.states {
        let Ok(value) = pool.eval(state.initial, &|symbol| known.get(&symbol).copied()) else {
            let message = format!("the initial value of `{}` is not finite", state.name);
            let diagnostic = Diagnostic::new(code::BAD_INITIAL, message);
            return Err(wrong(diagnostic.at(place(graph, state.variable))));
        };
        start.push(value);
    }
    Ok(start)
}
