//! Sensitivities of the frequency response, S(jω), the bands that tolerances
//! make of it, and their verification by Monte Carlo samples of the model
//! itself.

use num_complex::Complex64;
use paynter_algebra::{Pool, Symbol};
use paynter_base::number::short;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::QueryError;
use paynter_graph::BondGraph;

use super::bands::{Bands, Effect, bands, effects};
use super::choice::require_transfer;
use super::modes::participating_state;
use super::samples::{Compiled, Samples, Trial, outside, samples};
use super::shift::Steady;
use super::varied::deviation;
use super::{Moved, chosen_parameters, matrix_derivatives, moved};
use crate::LinearModel;
use crate::grid::{self, Frequencies};
use crate::linalg::Matrices;
use crate::linear::refused;
use crate::poles::{ZERO_STATES, expanded};
use crate::sensitivity::{FrequencySensitivity, frequency};
use crate::settled::{part_to_change, settle_sensitivities};
use crate::tolerance::{ASSUMED_TOLERANCE, BAND_POINTS};
use crate::verified::some_moves;

/// Which sensitivities of the frequency response are asked for.
#[derive(Debug, Clone, Default)]
pub struct ResponseRequest {
    /// Only these parameters; all where empty.
    pub only: Vec<String>,
    /// Hold the operating point of a nonlinear model fixed.
    pub frozen: bool,
    /// The frequencies; from a decade below the poles and zeros to one above where left out.
    pub omega: Option<Frequencies>,
    /// Frequencies one by one, in place of a grid.
    pub listed: Vec<f64>,
    /// Monte Carlo samples by which the bands are verified; none where zero.
    pub verify: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

/// The sensitivities of the frequency response, and what tolerances make of it.
#[derive(Debug, Clone)]
pub struct ResponseSensitivity {
    /// The parameters, by place in the model.
    pub parameters: Vec<usize>,
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// H(jω) and ∂H/∂p.
    pub sensitivities: FrequencySensitivity,
    /// The deviation of each parameter, in SI.
    pub tolerances: Vec<f64>,
    /// Whether the model gives no tolerance, so that one was assumed for each parameter.
    pub assumed: bool,
    /// By output and input: the parameters in the order of what their tolerances do.
    pub effects: Vec<Effect>,
    /// By output and input: nominal magnitude and phase with their bands.
    pub bands: Vec<Bands>,
    /// What samples showed, where they were asked for.
    pub samples: Option<Samples>,
    /// By output and input: the places of frequencies at which a sample left the worst-case band.
    pub outside: Vec<Vec<usize>>,
    /// The nominal values of the parameters.
    nominal: Vec<f64>,
    /// How all that moves with some of the parameters does, by which the answer is checked.
    pub(crate) some_moves: Vec<(usize, Moved)>,
}

impl ResponseSensitivity {
    /// ∂H/∂p over the frequencies; relative, (p/H)·∂H/∂p, where `normalized`. Not finite where a pole lies.
    pub fn values(
        &self,
        output: usize,
        input: usize,
        parameter: usize,
        normalized: bool,
    ) -> impl Iterator<Item = Complex64> + '_ {
        (0..self.omega.len()).map(move |at| {
            let derivative = self.sensitivities.derivative(output, input, parameter, at);
            if normalized {
                derivative * self.nominal[parameter] / self.sensitivities.transfer(output, input, at)
            } else {
                derivative
            }
        })
    }
}

impl ResponseSensitivity {
    /// Finds again what tolerances make of the response, after values of it were replaced.
    pub fn refresh(&mut self) {
        self.bands = bands(&self.sensitivities, &self.tolerances);
        self.effects = effects(&self.sensitivities, &self.omega, &self.tolerances);
    }
}

/// Finds the sensitivities of the frequency response, and what tolerances make of it.
pub fn response_sensitivity(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    request: &ResponseRequest,
    findings: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<ResponseSensitivity, QueryError> {
    let parameters = chosen_parameters(graph, &request.only)?;
    require_transfer(graph)?;
    let matrices = linear.matrices(pool)?;
    let moved = moved(pool, graph, linear, &parameters, request.frozen, findings)?;
    let derivatives = finite_derivatives(pool, linear, &moved, token)?;
    let omega = match request.omega {
        _ if !request.listed.is_empty() => request.listed.clone(),
        Some(frequencies) => frequencies.list(),
        None => band(pool, graph, linear, &matrices, token)?,
    };
    let mut found = frequency(&matrices, &derivatives, &omega, token)?;
    let sizes: Vec<f64> = parameters.iter().map(|k| graph.parameters[*k].number.abs()).collect();
    let part = part_to_change(linear.point.is_none());
    settle_sensitivities((&matrices, &derivatives, part), &omega, &sizes, &mut found, token)?;
    at_poles(graph, linear, &matrices, &found, &omega, findings);
    let (tolerances, assumed) = tolerances(graph, &parameters);
    let curves = bands(&found, &tolerances);
    let sampled = match request.verify {
        0 => None,
        _ => {
            let trial = Verified { parameters: &parameters, tolerances: &tolerances, omega: &omega };
            Some(trial.samples(pool, graph, linear, &curves, request, token)?)
        }
    };
    let mut left = Vec::new();
    for (k, own) in curves.iter().enumerate() {
        let places = sampled.as_ref().map_or_else(Vec::new, |samples| outside(own, &samples.entries[k]));
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            let message = format!(
                "samples of {}/{} leave the first-order band between {} and {} rad/s",
                linear.equations.outputs[own.output].name,
                linear.equations.inputs[own.input].name,
                short(omega[*first]),
                short(omega[*last])
            );
            findings.push(Diagnostic::new(code::BEYOND_FIRST_ORDER, message));
        }
        left.push(places);
    }
    Ok(ResponseSensitivity {
        effects: effects(&found, &omega, &tolerances),
        nominal: parameters.iter().map(|k| graph.parameters[*k].number).collect(),
        some_moves: some_moves(&parameters, &moved),
        parameters,
        omega,
        sensitivities: found,
        tolerances,
        assumed,
        bands: curves,
        samples: sampled,
        outside: left,
    })
}

/// The derivatives of the matrices.
pub(super) fn finite_derivatives(
    pool: &mut Pool,
    linear: &LinearModel,
    moved: &[Moved],
    token: &CancellationToken,
) -> Result<Vec<Matrices>, QueryError> {
    matrix_derivatives(pool, &linear.space, moved, &|symbol| linear.value(symbol), token).map_err(|_| {
        let message = "the matrices have no finite derivatives by the parameters at the nominal values";
        refused(Diagnostic::new(code::VANISHING_DIVISOR, message))
    })
}

/// Frequencies from a decade below the poles and zeros to one above.
fn band(
    pool: &Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    matrices: &Matrices,
    token: &CancellationToken,
) -> Result<Vec<f64>, QueryError> {
    let mut roots = Vec::new();
    if matrices.states() <= ZERO_STATES {
        match linear.spectrum(pool, graph, matrices, &[], token) {
            Ok(spectrum) => roots = expanded(&spectrum.poles),
            Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
            Err(QueryError::Wrong(_)) => {}
        }
    }
    let (low, high) = grid::span(&roots);
    Ok(grid::logarithmic(low, high, BAND_POINTS))
}

/// Says at which frequencies there are no values.
fn at_poles(
    graph: &BondGraph,
    linear: &LinearModel,
    matrices: &Matrices,
    found: &FrequencySensitivity,
    omega: &[f64],
    findings: &mut Diagnostics,
) {
    if found.outputs == 0 || found.inputs == 0 {
        return;
    }
    for k in (0..omega.len()).filter(|&k| !found.transfer(0, 0, k).is_finite()) {
        let mut message =
            format!("a pole lies at {} rad/s on the imaginary axis: there is no S there", short(omega[k]));
        let state = participating_state(matrices, omega[k]).map(|state| &linear.equations.states[state]);
        if let Some(state) = state {
            message.push_str(&format!("; `{}` goes on there by itself", state.name));
        }
        let diagnostic = Diagnostic::new(code::AT_A_POLE, message);
        findings.push(match state.and_then(|state| graph.state_span(state.variable)) {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        });
    }
}

/// What the samples are drawn for.
struct Verified<'a> {
    parameters: &'a [usize],
    tolerances: &'a [f64],
    omega: &'a [f64],
}

impl Verified<'_> {
    /// Draws samples of the model itself.
    fn samples(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &LinearModel,
        curves: &[Bands],
        request: &ResponseRequest,
        token: &CancellationToken,
    ) -> Result<Samples, QueryError> {
        let parameters: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
        let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let mut spread = vec![0.0; nominal.len()];
        for (k, tolerance) in self.parameters.iter().zip(self.tolerances) {
            spread[*k] = *tolerance;
        }
        let moves = linear.point.is_some() && !(request.frozen && linear.equations.constraints.is_empty());
        let prepare = if request.frozen { Steady::held } else { Steady::new };
        let mut symbols = parameters.clone();
        symbols.extend(linear.values.keys().filter(|symbol| !parameters.contains(symbol)));
        let fixed: Vec<f64> = symbols[parameters.len()..].iter().map(|s| linear.values[s]).collect();
        let compiled = Compiled::new(pool, &linear.space, &symbols);
        let steady = moves.then(|| prepare(pool, graph, &linear.equations, &[], &linear.values)).transpose();
        let (Ok(compiled), Ok(steady)) = (compiled, steady) else {
            let message = "the model cannot be evaluated at other parameters";
            return Err(refused(Diagnostic::new(code::VANISHING_DIVISOR, message)));
        };
        let others = &symbols[parameters.len()..];
        let model = |drawn: &[f64]| -> Option<Matrices> {
            let mut values = drawn.to_vec();
            values.extend_from_slice(&fixed);
            if let Some(steady) = &steady {
                for (symbol, value) in steady.find(drawn)? {
                    if let Some(place) = others.iter().position(|other| *other == symbol) {
                        values[drawn.len() + place] = value;
                    }
                }
            }
            compiled.matrices(&values)
        };
        let trial = Trial {
            count: request.verify,
            seed: request.seed,
            nominal: &nominal,
            tolerances: &spread,
            omega: self.omega,
        };
        Ok(samples(trial, curves, &model, token)?)
    }
}

/// The deviations of the parameters asked for, and whether they had to be assumed.
fn tolerances(graph: &BondGraph, places: &[usize]) -> (Vec<f64>, bool) {
    let list: Vec<f64> = places.iter().map(|k| deviation(&graph.parameters[*k])).collect();
    if list.iter().any(|deviation| *deviation != 0.0) {
        return (list, false);
    }
    (places.iter().map(|k| (ASSUMED_TOLERANCE * graph.parameters[*k].number).abs()).collect(), true)
}
