//! The linear model behind transfer functions, poles, frequency response,
//! structure and sensitivities: the model itself where it is linear, its
//! linearisation at the operating point where not.

use crate::{Model, NoAnswer};
use paynter_algebra::{EvalError, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{Equations, StateSpace};
use paynter_graph::BondGraph;
use paynter_numerics::{Matrices, OperatingPoint, operating_point};
use std::collections::BTreeMap;

/// A linear model, or a nonlinear one near its operating point.
#[derive(Debug, Clone)]
pub struct Linear {
    /// The equations it comes from.
    pub equations: Equations,
    /// The matrices, over parameters; of a nonlinear model also over states,
    /// inputs and implicit unknowns, which stand for their values at the point.
    pub space: StateSpace,
    /// The operating point of a nonlinear model.
    pub point: Option<OperatingPoint>,
    /// The value of every symbol in the matrices.
    pub values: BTreeMap<Symbol, f64>,
}

impl Linear {
    /// The value of a symbol: a parameter, or at the operating point.
    pub fn value(&self, symbol: Symbol) -> Option<f64> {
        self.values.get(&symbol).copied()
    }

    /// Evaluates the matrices at nominal parameters and the operating point.
    pub fn matrices(&self, pool: &Pool) -> Result<Matrices, NoAnswer> {
        Matrices::evaluate(pool, &self.space, &|symbol| self.value(symbol))
            .map_err(|error| NoAnswer::Wrong(undefined(pool, error)))
    }
}

/// Says that an expression has no value at nominal parameters.
fn undefined(pool: &Pool, error: EvalError) -> Diagnostics {
    let message = match error {
        EvalError::NotFinite(part) => format!("`{}` has no finite value here", pool.display(part)),
        EvalError::Unbound(symbol) => format!("`{}` has no value", pool.name(symbol)),
        EvalError::Table(_) => "a table has no value here".to_owned(),
    };
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(Diagnostic::new(code::NOT_LINEAR, message));
    diagnostics
}

/// The parameters' values.
fn nominal(graph: &BondGraph) -> BTreeMap<Symbol, f64> {
    graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect()
}

impl Model {
    /// Derives the linear model, at the operating point where the equations are nonlinear.
    pub fn linear(&mut self, ticket: &Ticket) -> Result<Linear, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        if let Some(space) = space {
            return Ok(Linear { equations, space, point: None, values: nominal(graph) });
        }
        let point = operating_point(&mut self.pool, graph, &equations, ticket)?;
        let mut space = equations.linearise(&mut self.pool, graph, ticket)?;
        space.make_readable(&mut self.pool, ticket);
        let values = point.values.clone();
        Ok(Linear { equations, space, point: Some(point), values })
    }
}
