//! Questions about structure, and transfer functions by Mason's rule.

use crate::{Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_base::{Diagnostics, Ticket};
use paynter_equations::{LoopBudget, junction_structure, mason};
use paynter_export::{self as export, Target};
use paynter_numerics::LinearModel;
use paynter_numerics::structure::{analyse_structure, signal_flow_near, zero_polynomials};
use paynter_view::json;
use std::sync::Arc;

impl Model {
    /// Tells what the structure says; the junction structure matrix on request.
    pub fn structure(&mut self, junctions: bool, ticket: &Ticket) -> Result<json::Structure, NoAnswer> {
        let (linear, has_point) = self.linear_or_structure(ticket)?;
        let (pool, graph, causality) = self.parts()?;
        let found = analyse_structure(pool, graph, causality, &linear, has_point, ticket);
        let found = found.and_then(|found| {
            let junctions =
                junctions.then(|| junction_structure(pool, graph, causality, ticket)).transpose()?;
            Ok((found, junctions))
        });
        let (found, junctions) = self.finding(found, Diagnostics::new())?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Structure::new(pool, graph, &linear, &found, junctions.as_ref(), diagnostics))
    }

    /// Writes what the structure says in a notation: order, relative degrees, zero dynamics, and the
    /// junction structure where it was asked for.
    pub fn structure_formulas(
        &mut self,
        found: &json::Structure,
        notation: &dyn Target,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let (linear, _) = self.linear_or_structure(ticket)?;
        let (pool, graph, causality) = self.parts()?;
        let asked = found.junction_structure.is_some();
        let junctions = asked.then(|| junction_structure(pool, graph, causality, ticket)).transpose()?;
        let zeros = zero_polynomials(pool, &linear, ticket)?.unwrap_or_default();
        let s = pool.symbol("s");
        Ok(export::structure(pool, &found.into(), &zeros, junctions.as_ref(), s, notation))
    }

    /// The linear model, and whether it has numbers: structure can also be told where there is no
    /// operating point.
    fn linear_or_structure(&mut self, ticket: &Ticket) -> Result<(LinearModel, bool), NoAnswer> {
        match self.linear(ticket) {
            Ok(linear) => Ok((linear, true)),
            Err(NoAnswer::Cancelled) => Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => {
                let (equations, _) = self.derive(ticket)?;
                let (pool, graph, _) = self.parts()?;
                let found = LinearModel::without_point(pool, graph, Arc::new(equations), ticket);
                Ok((self.finding(found, Diagnostics::new())?, false))
            }
        }
    }

    /// Tells the transfer matrix by Mason's rule, with forward paths and loops.
    pub fn transfer_by_mason(&mut self, terms: usize, ticket: &Ticket) -> Result<json::Transfer, NoAnswer> {
        let linear = self.linear(ticket)?;
        let (pool, graph, causality) = self.parts()?;
        let found = signal_flow_near(pool, graph, causality, &linear, ticket).and_then(|flow| {
            let found = mason(pool, &flow, LoopBudget::default(), Budget::of_terms(terms), ticket)?;
            let wanted: Vec<_> = found.transfer.entries.iter().map(|e| (e.output, e.input)).collect();
            let factors = linear.factors(pool, graph, &wanted, ticket)?;
            Ok((flow, found, factors))
        });
        let (flow, found, factors) = self.finding(found, Diagnostics::new())?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        let factors = factors.as_ref();
        let answer = json::Transfer::new(pool, graph, &linear, &found.transfer, factors, diagnostics);
        Ok(answer.with_mason(pool, graph, &linear.equations, &flow, &found))
    }
}
