//! Questions about equations: the equations themselves, transfer functions.

use crate::Model;
use paynter_algebra::poly::Budget;
use paynter_base::{Cancelled, Diagnostics, Ticket};
use paynter_equations::{Equations, Failure, StateSpace, derive, transfer};
use paynter_view::json;

/// Why a question about equations has no answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// The work was cancelled.
    Cancelled,
    /// The findings say why.
    Wrong(Diagnostics),
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> NoAnswer {
        match failure {
            Failure::Cancelled => NoAnswer::Cancelled,
            Failure::Wrong(diagnostics) => NoAnswer::Wrong(diagnostics),
        }
    }
}

impl From<Cancelled> for NoAnswer {
    fn from(_: Cancelled) -> NoAnswer {
        NoAnswer::Cancelled
    }
}

impl Model {
    /// Derives the equations in the form a person would write, with the matrices if they are linear.
    pub fn derive(&mut self, ticket: &Ticket) -> Result<(Equations, Option<StateSpace>), NoAnswer> {
        if let Some(known) = &self.derived {
            return Ok(known.clone());
        }
        let settled = self.settled.take().map(|settled| *settled);
        let (Some(graph), Some(causality)) = (&mut self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let mut equations = match settled {
            Some(settled) => {
                (self.pool, *graph) = (settled.pool, settled.graph);
                settled.equations
            }
            None => {
                let equations = derive(&mut self.pool, graph, causality, ticket)?;
                let mut found = equations.vanishing_divisors(&self.pool, graph);
                found.extend(equations.unsolvable_constraints(&mut self.pool, graph));
                if found.has_errors() {
                    return Err(NoAnswer::Wrong(found));
                }
                equations
            }
        };
        let mut space = equations.state_space(&mut self.pool, graph);
        if let Some(space) = &mut space {
            space.make_readable(&mut self.pool, ticket);
        }
        equations.make_readable(&mut self.pool, ticket);
        self.derived = Some((equations.clone(), space.clone()));
        Ok((equations, space))
    }

    /// Tells the state equations.
    pub fn equations(&mut self, ticket: &Ticket) -> Result<json::Equations, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(json::Equations::new(&mut self.pool, graph, &equations, space.as_ref(), diagnostics))
    }

    /// Tells the transfer matrix, at the operating point where the model is nonlinear.
    pub fn transfer(&mut self, ticket: &Ticket) -> Result<json::Transfer, NoAnswer> {
        let linear = self.linear(ticket)?;
        let budget = Budget { terms: 200_000, steps: 100_000_000 };
        let found = transfer(&mut self.pool, &linear.equations, &linear.space, budget, ticket)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let name = self.graph.as_ref().map_or("", |graph| graph.name.as_str());
        let mut answer = json::Transfer::new(&mut self.pool, name, &linear.equations, &found, diagnostics);
        answer.operating_point = linear.named_point(&self.pool);
        let wanted: Vec<(usize, usize)> = found.entries.iter().map(|e| (e.output, e.input)).collect();
        self.factor_entries(&linear, &mut answer, &wanted, ticket)?;
        Ok(answer)
    }
}
