//! Questions about sensitivities: in symbols, and over frequency.

use crate::answer::{Asked, QueryError};
use crate::model::Found;
use crate::{Model, TERMS};
use paynter_base::{CancellationToken, Diagnostics};
use paynter_numerics::LinearModel;
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::{
    ResponseRequest, ResponseSensitivity, SymbolicRequest, TransferSensitivity, response_sensitivity,
    transfer_sensitivity,
};
use paynter_numerics::sensitivity::FrequencySensitivity;
use paynter_verify::{Check, Given, Responses, a_few};
use std::sync::Arc;

/// The response is checked with its derivatives by so many parameters.
const CHECKED_PARAMETERS: usize = 4;

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
    pub found: ResponseSensitivity,
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
            verify: options.verify,
            seed: options.seed,
        };
        let mut findings = Diagnostics::new();
        let graph = &stage.view.graph;
        let found = response_sensitivity(&mut pool, graph, &linear, &request, &mut findings, token);
        let normalized = options.which.normalized;
        let found = found.and_then(|mut found| {
            let checks = check_sensitivities(&stage, options.which.frozen, &mut found, &mut findings)?;
            Ok(ResponseTolerance { linear, request, found, normalized, checks })
        });
        stage.answer(pool, found, findings)
    }
}

/// Checks the response and its derivatives by some parameters, unless these leave a point behind that moves with
/// them, and calculates both anew where they have lost their digits.
fn check_sensitivities(
    stage: &Found<LinearModel>,
    frozen: bool,
    found: &mut ResponseSensitivity,
    findings: &mut Diagnostics,
) -> Result<Vec<Check>, QueryError> {
    let FrequencySensitivity { outputs, inputs, .. } = found.sensitivities;
    let pairs: Vec<(usize, usize)> =
        (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect();
    let entries = |parameters: &[usize]| -> Vec<((usize, usize), Option<usize>)> {
        let own = pairs.iter().map(|pair| (*pair, None));
        own.chain(pairs.iter().flat_map(|pair| parameters.iter().map(|p| (*pair, Some(*p))))).collect()
    };
    let given = |entries: &[((usize, usize), Option<usize>)], at: usize| -> Vec<Given> {
        let entry = |((output, input), parameter): &((usize, usize), Option<usize>)| Given {
            output: *output,
            input: *input,
            parameter: parameter.map(|place| found.parameters[place]),
            value: match parameter {
                None => found.sensitivities.transfer(*output, *input, at),
                Some(place) => found.sensitivities.derivative(*output, *input, *place, at),
            },
        };
        entries.iter().map(entry).collect()
    };
    let count = if frozen && stage.result.point.is_some() { 0 } else { found.parameters.len() };
    let some = entries(&a_few(CHECKED_PARAMETERS, count));
    let all = entries(&(0..count).collect::<Vec<_>>());
    let what = "the response with its sensitivities";
    let responses =
        Responses { what, omega: &found.omega, given: &|at| given(&some, at), all: &|at| given(&all, at) };
    let reconciled = stage.check(|pool, pencil| pencil.reconcile(pool, &responses))?;
    reconciled.note(findings);
    if !reconciled.replaced.is_empty() {
        for (at, values) in reconciled.replaced {
            for ((pair, parameter), value) in all.iter().zip(values) {
                if let Some(value) = value {
                    found.sensitivities.replace(*pair, *parameter, at, value);
                }
            }
        }
        found.refresh();
    }
    Ok(reconciled.checks)
}
