//! Equations for elsewhere: formulas in a notation, complete programs.

use crate::equations::Massive;
use crate::{Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_base::Ticket;
use paynter_equations::{derivations, transfer};
use paynter_view::export::{self, Language, Notation};
use paynter_view::json;

impl Model {
    /// Writes the equations in a notation.
    pub fn formulas(&mut self, notation: Notation, ticket: &Ticket) -> Result<String, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(export::equations(&mut self.pool, graph, &equations, None, space.as_ref(), notation))
    }

    /// Writes the equations in a notation, with the mass matrix that dependent storages make; the
    /// ordinary ones where there is none.
    pub fn mass_formulas(&mut self, notation: Notation, ticket: &Ticket) -> Result<String, NoAnswer> {
        let Some(Massive { right, matrix, space }) = self.massive(ticket)? else {
            return self.formulas(notation, ticket);
        };
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(export::equations(&mut self.pool, graph, &right, Some(&matrix), space.as_ref(), notation))
    }

    /// Writes the transfer functions in a notation, at the operating point where the model is nonlinear.
    pub fn transfer_formulas(
        &mut self,
        terms: usize,
        notation: Notation,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let linear = self.linear(ticket)?;
        let budget = Budget::of_terms(terms);
        let found = transfer(&mut self.pool, &linear.equations, &linear.space, budget, ticket)?;
        let name = self.graph.as_ref().map_or("", |graph| graph.name.as_str());
        Ok(export::transfer(&mut self.pool, name, &linear.equations, &found, notation))
    }

    /// Writes an operating point in a notation, with what the model is near it.
    pub fn operating_formulas(
        &mut self,
        point: &json::OperatingPoint,
        notation: Notation,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let space = match point.linear {
            Some(_) => Some(self.linear(ticket)?.space),
            None => None,
        };
        Ok(export::operating_point(&mut self.pool, point, &equations, space.as_ref(), notation))
    }

    /// Writes poles and zeros in a notation, with the characteristic polynomial.
    pub fn poles_formulas(
        &mut self,
        poles: &json::Poles,
        notation: Notation,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let polynomial = self.characteristic(ticket)?;
        Ok(export::poles(&mut self.pool, poles, polynomial, notation))
    }

    /// Writes a frequency response in a notation.
    pub fn bode_formulas(&self, bode: &json::Bode, notation: Notation) -> String {
        export::bode(&self.pool, bode, notation)
    }

    /// Derives the equations step by step: as data, and written in a notation or in plain text.
    pub fn steps(
        &mut self,
        notation: Option<Notation>,
        ticket: &Ticket,
    ) -> Result<(Vec<json::Derivation>, String), NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let found = derivations(&mut self.pool, graph, &equations);
        let written = export::steps(&self.pool, &graph.name, &found, notation);
        Ok((json::Derivation::list(&self.pool, &found), written))
    }

    /// Writes the model as a complete program.
    pub fn export(&mut self, language: Language, ticket: &Ticket) -> Result<String, NoAnswer> {
        let samples = self.samples()?;
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(export::export(&mut self.pool, graph, &equations, space.as_ref(), samples, language))
    }
}
