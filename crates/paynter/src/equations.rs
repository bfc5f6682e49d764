//! Questions about equations: the equations themselves, transfer functions.

use crate::Model;
use paynter_algebra::poly::Budget;
use paynter_base::{Cancelled, Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{Equations, Failure, MassForm, StateSpace, Transfer, derive, transfer};
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

/// Polynomials of transfer functions are written out up to so many terms, unless one asks for more.
pub const TERMS: usize = 200_000;

impl Model {
    /// Derives the equations, with the matrices if they are linear, as numbers need them.
    pub(crate) fn derive_plain(
        &mut self,
        ticket: &Ticket,
    ) -> Result<(Equations, Option<StateSpace>), NoAnswer> {
        if let Some(known) = &self.plain {
            return Ok(known.clone());
        }
        if self.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        }
        let settled = self.settled.take().map(|settled| *settled);
        let (Some(graph), Some(causality)) = (&mut self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let equations = match settled {
            Some(settled) => {
                (self.pool, *graph) = (settled.pool, settled.graph);
                settled.equations
            }
            None => {
                let derived = derive(&mut self.pool, graph, causality, ticket);
                let found = match &derived {
                    Ok(equations) => equations.soundness(&mut self.pool, graph).0,
                    Err(Failure::Wrong(found)) => found.clone(),
                    Err(Failure::Cancelled) => Diagnostics::new(),
                };
                self.diagnostics.extend(found);
                self.diagnostics.sort();
                if self.diagnostics.has_errors() {
                    return Err(NoAnswer::Wrong(self.diagnostics.clone()));
                }
                derived?
            }
        };
        let space = equations.state_space(&mut self.pool, graph);
        self.plain = Some((equations.clone(), space.clone()));
        Ok((equations, space))
    }

    /// Derives the equations in the form a person would write, with the matrices if they are linear.
    pub fn derive(&mut self, ticket: &Ticket) -> Result<(Equations, Option<StateSpace>), NoAnswer> {
        if let Some(known) = &self.derived {
            return Ok(known.clone());
        }
        let (mut equations, mut space) = self.derive_plain(ticket)?;
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
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        let form = equations.shorter_mass_form(pool, graph, space.is_some());
        Ok(match form {
            Some(MassForm { right, matrix, space }) => {
                json::Equations::with_mass(pool, graph, &right, &matrix, space.as_ref(), diagnostics)
            }
            None => json::Equations::new(pool, graph, &equations, space.as_ref(), diagnostics),
        })
    }

    /// Tells the state equations with the mass matrix that dependent storages make, as E x' = f;
    /// the ordinary ones where there is none.
    pub fn equations_with_mass(&mut self, ticket: &Ticket) -> Result<json::Equations, NoAnswer> {
        let Some(MassForm { right, matrix, space }) = self.mass_form(ticket)? else {
            return self.equations(ticket);
        };
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Equations::with_mass(pool, graph, &right, &matrix, space.as_ref(), diagnostics))
    }

    /// The equations with the mass matrix that dependent storages make, where they make one.
    pub(crate) fn mass_form(&mut self, ticket: &Ticket) -> Result<Option<MassForm>, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let (pool, graph, _) = self.parts()?;
        Ok(equations.mass_form(pool, graph, space.is_some(), ticket))
    }

    /// Tells the transfer matrix, at the operating point where the model is nonlinear; polynomials are
    /// written out up to so many terms.
    pub fn transfer(&mut self, terms: usize, ticket: &Ticket) -> Result<json::Transfer, NoAnswer> {
        let linear = self.linear(ticket)?;
        let (pool, graph, _) = self.parts()?;
        let budget = Budget::of_terms(terms);
        let found = transfer(pool, &linear.equations, &linear.space, budget, ticket).and_then(|found| {
            let wanted: Vec<_> = found.entries.iter().map(|e| (e.output, e.input)).collect();
            let factors = linear.factors(pool, graph, &wanted, ticket)?;
            Ok((found, factors))
        });
        let mut findings = Diagnostics::new();
        if let Ok((Transfer { shared: Some(reason), .. }, _)) = &found {
            let message = format!(
                "the transfer functions are not written out, because {reason}; the budget is {terms} terms"
            );
            findings.push(Diagnostic::new(code::TOO_LONG, message));
        }
        let (found, factors) = self.finding(found, findings)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Transfer::new(pool, graph, &linear, &found, factors.as_ref(), diagnostics))
    }
}
