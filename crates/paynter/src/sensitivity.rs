//! Questions about sensitivities: in symbols, and over frequency.

use crate::{Model, NoAnswer, TERMS};
use paynter_base::{Diagnostics, Ticket};
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::{
    ResponseRequest, SymbolicRequest, response_sensitivity, transfer_sensitivity,
};
use paynter_view::json::{self, Naming};

/// Which sensitivities are asked for, and how.
#[derive(Debug, Clone)]
pub struct SensitivityOptions {
    /// Only these parameters; all where empty.
    pub only: Vec<String>,
    /// Relative ones, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// B̃ and D̃ of the incremental model as well.
    pub matrices: bool,
    /// Hold the operating point of a nonlinear model fixed.
    pub frozen: bool,
    /// Polynomials are written out up to so many terms.
    pub terms: usize,
}

impl Default for SensitivityOptions {
    fn default() -> SensitivityOptions {
        SensitivityOptions {
            only: Vec::new(),
            normalized: false,
            matrices: false,
            frozen: false,
            terms: TERMS,
        }
    }
}

/// What to compute over frequency.
#[derive(Debug, Clone, Default)]
pub struct ResponseOptions {
    /// Which parameters, and how.
    pub which: SensitivityOptions,
    /// The frequencies; from a decade below the poles and zeros to one above where left out.
    pub omega: Option<Frequencies>,
    /// Samples by which the bands are verified; none where zero.
    pub verify: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

impl Model {
    /// Tells the sensitivities of the transfer matrix, in symbols.
    pub fn sensitivity(
        &mut self,
        options: &SensitivityOptions,
        naming: Naming,
        ticket: &Ticket,
    ) -> Result<json::Sensitivity, NoAnswer> {
        let linear = self.linear(ticket)?;
        let linear = self.differentiable(linear, ticket)?;
        let request = SymbolicRequest {
            only: options.only.clone(),
            normalized: options.normalized,
            increments: options.matrices,
            frozen: options.frozen,
            terms: options.terms,
        };
        let mut findings = Diagnostics::new();
        let (pool, graph, _) = self.parts()?;
        let found = transfer_sensitivity(pool, graph, &linear, &request, &mut findings, ticket);
        let found = self.finding(found, findings)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Sensitivity::new(pool, graph, &linear, &request, &found, naming, diagnostics))
    }

    /// Tells the sensitivities of the frequency response, and what tolerances make of it.
    pub fn sensitivity_response(
        &mut self,
        options: &ResponseOptions,
        ticket: &Ticket,
    ) -> Result<json::SensitivityResponse, NoAnswer> {
        let linear = self.numeric(ticket)?;
        let linear = self.differentiable(linear, ticket)?;
        let request = ResponseRequest {
            only: options.which.only.clone(),
            frozen: options.which.frozen,
            omega: options.omega,
            verify: options.verify,
            seed: options.seed,
        };
        let mut findings = Diagnostics::new();
        let (pool, graph, _) = self.parts()?;
        let found = response_sensitivity(pool, graph, &linear, &request, &mut findings, ticket);
        let found = self.finding(found, findings)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (normalized, (pool, graph, _)) = (options.which.normalized, self.parts()?);
        Ok(json::SensitivityResponse::new(pool, graph, &linear, &request, found, normalized, diagnostics))
    }
}
