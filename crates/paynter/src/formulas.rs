//! Equations for elsewhere: formulas in a notation, complete programs.

use crate::{Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Remedy, Ticket, code};
use paynter_equations::{Equations, MassForm, derivations, transfer};
use paynter_export::{self as export, Exported, Target};
use paynter_graph::BondGraph;
use paynter_simulate::switches;
use paynter_view::json;

impl Model {
    /// Writes the equations in a notation.
    pub fn formulas(&mut self, notation: &dyn Target, ticket: &Ticket) -> Result<String, NoAnswer> {
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(export::equations(&mut self.pool, graph, &equations, None, space.as_ref(), notation))
    }

    /// Writes the equations in a notation, with the mass matrix that dependent storages make; the
    /// ordinary ones where there is none.
    pub fn mass_formulas(&mut self, notation: &dyn Target, ticket: &Ticket) -> Result<String, NoAnswer> {
        let Some(MassForm { right, matrix, space }) = self.mass_form(ticket)? else {
            return self.formulas(notation, ticket);
        };
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        Ok(export::equations(&mut self.pool, graph, &right, Some(&matrix), space.as_ref(), notation))
    }

    /// Writes the transfer functions in a notation, at the operating point where the model is nonlinear.
    pub fn transfer_formulas(
        &mut self,
        terms: usize,
        notation: &dyn Target,
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
        notation: &dyn Target,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let space = match point.linear {
            Some(_) => Some(self.linear(ticket)?.space),
            None => None,
        };
        Ok(export::operating_point(&mut self.pool, &point.into(), &equations, space.as_ref(), notation))
    }

    /// Writes poles and zeros in a notation, with the characteristic polynomial.
    pub fn poles_formulas(
        &mut self,
        poles: &json::Poles,
        notation: &dyn Target,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let polynomial = self.characteristic(ticket)?;
        Ok(export::poles(&mut self.pool, &poles.into(), polynomial, notation))
    }

    /// Writes a frequency response in a notation.
    pub fn bode_formulas(&self, bode: &json::Bode, notation: &dyn Target) -> String {
        export::bode(&self.pool, &bode.into(), notation)
    }

    /// Derives the equations step by step: as data, and written in a notation or in plain text.
    pub fn steps(
        &mut self,
        notation: Option<&dyn Target>,
        ticket: &Ticket,
    ) -> Result<(Vec<json::Derivation>, String), NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let found = derivations(&mut self.pool, graph, &equations);
        let written = export::steps(&self.pool, &graph.name, &found, notation);
        Ok((json::Derivation::list(&self.pool, &found), written))
    }

    /// Writes the model as a complete program; what the program cannot do is told.
    pub fn export(&mut self, target: &dyn Target, ticket: &Ticket) -> Result<String, NoAnswer> {
        let samples = self.samples()?;
        let (equations, space) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        if !target.is_typeset() {
            let found = passed_over(&self.pool, graph, &equations, target);
            self.diagnostics.extend(found);
            self.diagnostics.sort();
        }
        let model = Exported { graph, equations: &equations, space: space.as_ref(), tables: samples };
        Ok(export::export(&mut self.pool, &model, target))
    }
}

/// The jumps that a program passes over: those of inputs whose rates storages read, and in a simulator
/// all of them.
fn passed_over(pool: &Pool, graph: &BondGraph, equations: &Equations, target: &dyn Target) -> Diagnostics {
    let mut found = Diagnostics::new();
    let fixed: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
    for (input, declared) in equations.inputs.iter().zip(&graph.inputs) {
        if input.symbols.len() > 1 && !switches(pool, &[input.value], &fixed).is_empty() {
            let message = format!(
                "the input `{}` jumps straight into a storage, whose state does not jump in the program",
                input.name
            );
            found.push(Diagnostic::new(code::PASSED_OVER, message).at(declared.span));
        }
    }
    let mut roots: Vec<Expr> = equations.rates.clone();
    roots.extend(equations.constraints.iter().map(|constraint| constraint.residual));
    roots.extend(equations.inputs.iter().map(|input| input.value));
    let all = if target.integrates() { switches(pool, &roots, &fixed) } else { Vec::new() };
    if let Some(first) = all.first() {
        let (first, others) = (pool.display(*first), all.len() - 1);
        let others = if others == 0 { String::new() } else { format!(" and {others} more") };
        let message =
            format!("the program steps over the switching of `{first}`{others} as if nothing were there");
        let help = Remedy::marked(
            "take short steps, and sensitivities from {ask simulate}, which finds the times of switching: where \
             these move with a parameter, those of the program lack a jump",
        );
        found.push(Diagnostic::new(code::PASSED_OVER, message).help(help));
    }
    found
}
