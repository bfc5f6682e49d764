//! Questions about sensitivities: in symbols, and over frequency.

use crate::answer::Asked;
use crate::{Model, TERMS};
use paynter_base::{CancellationToken, Diagnostics};
use paynter_numerics::LinearModel;
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::{
    ResponseRequest, ResponseSensitivity, SymbolicRequest, TransferSensitivity, response_sensitivity,
    transfer_sensitivity,
};
use paynter_numerics::verified::Linearised;
use paynter_verify::Check;
use std::sync::Arc;

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
    /// Frequencies one by one, in place of a grid.
    pub listed: Vec<f64>,
    /// Samples by which the bands are verified; none where zero.
    pub verify: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

/// The sensitivities of the transfer matrix, in symbols.
#[derive(Debug, Clone)]
pub struct SymbolicSensitivity {
    /// The linear model they belong to.
    pub linear: Arc<LinearModel>,
    /// What was asked for.
    pub request: SymbolicRequest,
    /// What came out.
    pub found: TransferSensitivity,
}

/// The sensitivities of the frequency response, and what tolerances make of it.
#[derive(Debug, Clone)]
pub struct ResponseTolerance {
    /// The linear model they belong to.
    pub linear: Arc<LinearModel>,
    /// What was asked for.
    pub request: ResponseRequest,
    /// What came out.
    pub found: Arc<ResponseSensitivity>,
    /// Whether relative ones are shown, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// How far they fulfil the graph's own equations.
    pub checks: Vec<Check>,
}

impl Model {
    /// Tells the sensitivities of the transfer matrix, in symbols.
    pub fn sensitivity(
        &self,
        options: &SensitivityOptions,
        token: &CancellationToken,
    ) -> Asked<SymbolicSensitivity> {
        let stage = self.linear(token)?;
        let (mut pool, linear) = self.differentiable(&stage, token)?;
        let request = SymbolicRequest {
            only: options.only.clone(),
            normalized: options.normalized,
            increments: options.matrices,
            frozen: options.frozen,
            terms: options.terms,
        };
        let mut findings = Diagnostics::new();
        let graph = &stage.view.graph;
        let found = transfer_sensitivity(&mut pool, graph, &linear, &request, &mut findings, token);
        let found = found.map(|found| SymbolicSensitivity { linear, request, found });
        stage.answer(pool, found, findings)
    }

    /// Tells the sensitivities of the frequency response, and what tolerances make of it.
    pub fn sensitivity_response(
        &self,
        options: &ResponseOptions,
        token: &CancellationToken,
    ) -> Asked<ResponseTolerance> {
        let stage = self.numeric(token)?;
        let (mut pool, linear) = self.differentiable(&stage, token)?;
        let request = ResponseRequest {
            only: options.which.only.clone(),
            frozen: options.which.frozen,
            omega: options.omega,
            listed: options.listed.clone(),
            verify: options.verify,
            seed: options.seed,
        };
        let mut findings = Diagnostics::new();
        let graph = &stage.view.graph;
        let found = response_sensitivity(&mut pool, graph, &linear, &request, &mut findings, token);
        let normalized = options.which.normalized;
        let found = found.and_then(|mut found| {
            let own = Linearised { graph, equations: &linear.equations, linear: &linear };
            let checks =
                own.check_sensitivities(&mut pool, options.which.frozen, &mut found, &mut findings)?;
            Ok(ResponseTolerance { linear, request, found: Arc::new(found), normalized, checks })
        });
        stage.answer(pool, found, findings)
    }
}
