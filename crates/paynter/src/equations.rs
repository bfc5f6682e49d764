//! Questions about equations: the equations themselves, transfer functions.

use crate::Model;
use paynter_algebra::poly::{Budget, readable};
use paynter_algebra::{Expr, Pool};
use paynter_base::{Cancelled, Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{Equations, Failure, Mass, Sparse, StateSpace, derive, transfer};
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

/// Explicit rates of more written nodes than this give way to a mass matrix that is much shorter.
const LONG_RATES: u64 = 20_000;

/// Whether the mass matrix is better left as it is.
fn worth(pool: &Pool, equations: &Equations, mass: &Mass) -> bool {
    let size = |list: &mut dyn Iterator<Item = Expr>| {
        list.map(|e| pool.written_size(e)).fold(0, u64::saturating_add)
    };
    let explicit = size(&mut equations.rates.iter().copied());
    let entries = mass.matrix.entries.iter().map(|(_, _, e)| *e);
    explicit > LONG_RATES && size(&mut entries.chain(mass.right.iter().copied())).saturating_mul(4) < explicit
}

/// Equations E x' = f whose mass matrix is not inverted.
pub(crate) struct Massive {
    /// The equations, f in place of the rates.
    pub right: Equations,
    /// E.
    pub matrix: Sparse,
    /// The matrices of f and the outputs, where the model is linear.
    pub space: Option<StateSpace>,
}

impl Model {
    /// Derives the equations in the form a person would write, with the matrices if they are linear.
    pub fn derive(&mut self, ticket: &Ticket) -> Result<(Equations, Option<StateSpace>), NoAnswer> {
        if let Some(known) = &self.derived {
            return Ok(known.clone());
        }
        if self.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
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
                let derived = derive(&mut self.pool, graph, causality, ticket);
                let found = match &derived {
                    Ok(equations) => {
                        let mut found = equations.vanishing_divisors(&self.pool, graph);
                        found.extend(equations.unsolvable_constraints(&mut self.pool, graph));
                        found
                    }
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
        if let Some(mass) =
            equations.mass(&mut self.pool, graph).filter(|mass| worth(&self.pool, &equations, mass))
        {
            let matrix = mass.matrix;
            let right = Equations { rates: mass.right, ..equations };
            let space = space.and_then(|_| right.state_space(&mut self.pool, graph));
            let (pool, space) = (&mut self.pool, space.as_ref());
            return Ok(json::Equations::with_mass(pool, graph, &right, &matrix, space, diagnostics));
        }
        Ok(json::Equations::new(&mut self.pool, graph, &equations, space.as_ref(), diagnostics))
    }

    /// Tells the state equations with the mass matrix that dependent storages make, as E x' = f;
    /// the ordinary ones where there is none.
    pub fn equations_with_mass(&mut self, ticket: &Ticket) -> Result<json::Equations, NoAnswer> {
        let Some(Massive { right, matrix, space }) = self.massive(ticket)? else {
            return self.equations(ticket);
        };
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let (pool, space) = (&mut self.pool, space.as_ref());
        Ok(json::Equations::with_mass(pool, graph, &right, &matrix, space, diagnostics))
    }

    /// The equations with the mass matrix that dependent storages make, where they make one.
    pub(crate) fn massive(&mut self, ticket: &Ticket) -> Result<Option<Massive>, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let Some(mut mass) = equations.mass(&mut self.pool, graph) else { return Ok(None) };
        for (_, _, entry) in &mut mass.matrix.entries {
            *entry = readable(&mut self.pool, *entry, ticket);
        }
        for right in &mut mass.right {
            *right = readable(&mut self.pool, *right, ticket);
        }
        let right = Equations { rates: mass.right, ..equations };
        let space = space.and_then(|_| right.state_space(&mut self.pool, graph));
        Ok(Some(Massive { right, matrix: mass.matrix, space }))
    }

    /// Tells the transfer matrix, at the operating point where the model is nonlinear; polynomials are
    /// written out up to so many terms.
    pub fn transfer(&mut self, terms: usize, ticket: &Ticket) -> Result<json::Transfer, NoAnswer> {
        let linear = self.linear(ticket)?;
        let budget = Budget::of_terms(terms);
        let found = transfer(&mut self.pool, &linear.equations, &linear.space, budget, ticket)?;
        if let Some(reason) = &found.shared {
            let message = format!(
                "the transfer functions are not written out, because {reason}; the budget is {terms} terms"
            );
            self.diagnostics.push(Diagnostic::new(code::TOO_LONG, message));
            self.diagnostics.sort();
        }
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let name = self.graph.as_ref().map_or("", |graph| graph.name.as_str());
        let mut answer = json::Transfer::new(&mut self.pool, name, &linear.equations, &found, diagnostics);
        answer.operating_point = linear.named_point(&self.pool);
        let wanted: Vec<(usize, usize)> = found.entries.iter().map(|e| (e.output, e.input)).collect();
        self.factor_entries(&linear, &mut answer, &wanted, ticket)?;
        Ok(answer)
    }
}
