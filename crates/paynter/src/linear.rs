//! Questions about the linear model, and the stages it is made of: the
//! operating point, the model in numbers, the model in symbols.

use crate::{Model, NoAnswer};
use paynter_algebra::{Pool, Symbol};
use paynter_base::{Diagnostics, Ticket};
use paynter_equations::{Equations, Failure};
use paynter_graph::{BondGraph, Causality};
use paynter_numerics::linear::{tangent, to_differentiate};
use paynter_numerics::{LinearModel, OperatingPoint, Tables, operating_point};
use paynter_view::json;
use std::sync::Arc;

/// Models of more states than this are not linearised beside their operating point.
const JACOBIAN_STATES: usize = 200;

impl Model {
    /// Derives the linear model with matrices to be read, at the operating point where the equations are
    /// nonlinear.
    pub fn linear(&mut self, ticket: &Ticket) -> Result<LinearModel, NoAnswer> {
        if let Some(linear) = &self.linear {
            return Ok(linear.clone());
        }
        let (equations, space) = self.derive(ticket)?;
        let linear = match space {
            Some(space) => {
                let (pool, graph, _) = self.parts()?;
                LinearModel::nominal(pool, graph, Arc::new(equations), space, ticket)
            }
            None => self.tangent(equations, ticket)?,
        };
        self.linear = Some(linear.clone());
        Ok(linear)
    }

    /// The linear model for numbers, whose matrices are as they were derived; that at the operating point
    /// where the equations are nonlinear.
    pub(crate) fn numeric(&mut self, ticket: &Ticket) -> Result<LinearModel, NoAnswer> {
        if let Some(numeric) = &self.numeric {
            return Ok(numeric.clone());
        }
        let (equations, space) = self.derive_plain(ticket)?;
        let numeric = match space {
            Some(space) => {
                let (pool, graph, _) = self.parts()?;
                LinearModel::nominal(pool, graph, Arc::new(equations), space, ticket)
            }
            None => self.linear(ticket)?,
        };
        self.numeric = Some(numeric.clone());
        Ok(numeric)
    }

    /// The linearisation at the operating point.
    fn tangent(&mut self, equations: Equations, ticket: &Ticket) -> Result<LinearModel, NoAnswer> {
        let point = self.steady_state(&equations, ticket)?;
        let mut findings = Diagnostics::new();
        let (pool, graph, causality) = self.parts()?;
        let found = tangent(pool, graph, causality, Arc::new(equations), point, &mut findings, ticket);
        self.finding(found, findings)
    }

    /// A linear model as it serves for derivatives by parameters.
    pub(crate) fn differentiable(
        &mut self,
        linear: LinearModel,
        ticket: &Ticket,
    ) -> Result<LinearModel, NoAnswer> {
        let (pool, graph, causality) = self.parts()?;
        let other = to_differentiate(pool, graph, causality, &linear, ticket);
        Ok(self.finding(other, Diagnostics::new())?.unwrap_or(linear))
    }

    /// Finds the operating point; what there is to say about it joins the findings.
    fn steady_state(&mut self, equations: &Equations, ticket: &Ticket) -> Result<OperatingPoint, NoAnswer> {
        if let Some(known) = &self.steady {
            return known.clone().map_err(NoAnswer::Wrong);
        }
        let (pool, graph, _) = self.parts()?;
        let found = operating_point(pool, graph, equations, &Tables::default(), ticket);
        let findings = found.as_ref().map_or_else(|_| Diagnostics::new(), |point| point.notes.clone());
        let found = match self.finding(found, findings) {
            Ok(point) => Ok(point),
            Err(NoAnswer::Wrong(mut diagnostics)) => {
                diagnostics.sort();
                Err(diagnostics)
            }
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
        };
        self.steady = Some(found.clone());
        found.map_err(NoAnswer::Wrong)
    }

    /// Tells the steady state with the inputs at time zero.
    pub fn operating_point(&mut self, ticket: &Ticket) -> Result<json::OperatingPoint, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let point = self.steady_state(&equations, ticket)?;
        let jacobians = self.jacobians(&equations, ticket)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        let value = |symbol: Symbol| point.values.get(&symbol).copied();
        let mut answer =
            json::OperatingPoint::new(pool, graph, &equations, &value, &point.outputs, diagnostics);
        answer.linear = jacobians;
        Ok(answer)
    }

    /// The matrices at the operating point, in symbols and in numbers; none where a law has no slope there.
    fn jacobians(
        &mut self,
        equations: &Equations,
        ticket: &Ticket,
    ) -> Result<Option<json::LinearModel>, NoAnswer> {
        if equations.states.len() > JACOBIAN_STATES {
            return Ok(None);
        }
        let linear = match self.linear(ticket) {
            Ok(linear) => linear,
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => return Ok(None),
        };
        let Ok(matrices) = linear.matrices(&self.pool) else { return Ok(None) };
        Ok(Some(json::LinearModel::new(&self.pool, &linear, &matrices)))
    }

    /// The pool, the graph and its causality, which a model without errors has.
    pub(crate) fn parts(&mut self) -> Result<(&mut Pool, &BondGraph, &Causality), NoAnswer> {
        match (&self.graph, &self.causality) {
            (Some(graph), Some(causality)) => Ok((&mut self.pool, graph, causality)),
            _ => Err(NoAnswer::Wrong(self.diagnostics.clone())),
        }
    }

    /// Takes over what a pass found out, and why it failed where it did.
    pub(crate) fn finding<T>(
        &mut self,
        result: Result<T, Failure>,
        findings: Diagnostics,
    ) -> Result<T, NoAnswer> {
        self.diagnostics.extend(findings);
        self.diagnostics.sort();
        result.map_err(|failure| match failure {
            Failure::Cancelled => NoAnswer::Cancelled,
            Failure::Wrong(found) => {
                let mut diagnostics = self.diagnostics.clone();
                diagnostics.extend(found);
                NoAnswer::Wrong(diagnostics)
            }
        })
    }
}
