//! Sensitivities of the transfer matrix in symbols, with what moves an
//! operating point along, and how poles, zeros and static gains move.

use num_complex::Complex64;
use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::number::short;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{
    Increments, Parameter, Products, QueryError, Sensitivities, SensitivityRequest, increments,
    operating_shift, products, sensitivities,
};
use paynter_graph::BondGraph;
use paynter_verify::Check;

use super::cancelling::gains_beside_poles;
use super::choice::require_transfer;
use super::modes::{DIFFERENTIATED_STATES, Gain, Mode, clusters, gains, poles, zeros};
use super::response::finite_derivatives;
use super::{Moved, chosen_parameters, moved};
use crate::LinearModel;
use crate::linalg::Root;
use crate::linear::near;
use crate::poles::{Factored, Spectrum};
use crate::tolerance::{
    CONSERVED_POLE, CONTOUR_RADIUS, SMALLEST_MAGNITUDE, SYMBOLIC_AGREEMENT, VANISHING_CHANGE,
};
use crate::verified::{Linearised, some_moves};

/// What the product form may cost.
const PRODUCTS: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// A message names so many poles and zeros; the table has all of them.
const NAMED_ROOTS: usize = 4;

/// Which sensitivities of the transfer matrix are asked for, and how.
#[derive(Debug, Clone)]
pub struct SymbolicRequest {
    /// Only these parameters; all where empty.
    pub only: Vec<String>,
    /// Relative ones, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// B̃ and D̃ of the incremental model as well.
    pub increments: bool,
    /// Hold the operating point of a nonlinear model fixed.
    pub frozen: bool,
    /// Polynomials are written out up to so many terms.
    pub terms: usize,
}

/// The sensitivities of a transfer matrix.
#[derive(Debug, Clone)]
pub struct TransferSensitivity {
    /// The parameters, by place in the model.
    pub parameters: Vec<usize>,
    /// Whether they are relative.
    pub normalized: bool,
    /// The entries.
    pub found: Sensitivities,
    /// The product form, where the entries are written out and the model is linear.
    pub products: Option<Products>,
    /// B̃ and D̃ of the incremental model, where asked for.
    pub increments: Option<Increments>,
    /// Those of the parameters, by place in the model, on which nothing depends.
    pub without_effect: Vec<usize>,
    /// How poles, zeros and static gains move.
    pub roots: RootSensitivities,
}

/// How poles, zeros and static gains move with the parameters; empty where the model is too large or the
/// matrices have no derivatives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RootSensitivities {
    /// The poles.
    pub poles: Vec<Mode>,
    /// The zeros, with the places of their output and input.
    pub zeros: Vec<((usize, usize), Mode)>,
    /// The static gains.
    pub gains: Vec<Gain>,
    /// How far the static gains, and the derivatives of all, fulfil the graph's own equations.
    pub checks: Vec<Check>,
}

/// Finds the sensitivities of the transfer matrix, in symbols.
pub fn transfer_sensitivity(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    request: &SymbolicRequest,
    findings: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<TransferSensitivity, QueryError> {
    let chosen = chosen_parameters(graph, &request.only)?;
    require_transfer(graph)?;
    let moved = moved(pool, graph, linear, &chosen, request.frozen, findings)?;
    let parameters = carried(pool, graph, linear, &moved, request.frozen, token);
    let LinearModel { equations, space, point, .. } = linear;
    let wanted =
        SensitivityRequest { normalized: request.normalized, budget: Budget::of_terms(request.terms) };
    let found = sensitivities(pool, equations, space, &parameters, wanted, token)?;
    if let Some(reason) = &found.shared {
        let message = format!(
            "the sensitivities are not written out, because {reason}; the budget is {} terms",
            request.terms
        );
        findings.push(Diagnostic::new(code::TOO_LONG, message));
    }
    let places = match (&found.shared, point) {
        (None, None) => products(pool, graph, equations, &parameters, PRODUCTS, token)?,
        _ => None,
    };
    let columns = request.increments.then(|| increments(pool, equations, &parameters, token));
    let without_effect: Vec<usize> =
        idle(pool, &found, chosen.len()).into_iter().map(|k| chosen[k]).collect();
    for k in &without_effect {
        let parameter = &graph.parameters[*k];
        let message = format!(
            "no transfer function depends on `{}`: its sensitivities are identically zero",
            parameter.name
        );
        findings.push(Diagnostic::new(code::NO_EFFECT, message).at(parameter.span));
    }
    let verified = if request.frozen && point.is_some() { Vec::new() } else { some_moves(&chosen, &moved) };
    let roots = root_sensitivities(pool, graph, linear, (&chosen, &moved), &verified, findings, token)?;
    Ok(TransferSensitivity {
        parameters: chosen,
        normalized: request.normalized,
        found,
        products: places,
        increments: columns,
        without_effect,
        roots,
    })
}

/// What the parameters carry along, in symbols where these stay short, else in numbers.
fn carried(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    moved: &[Moved],
    frozen: bool,
    token: &CancellationToken,
) -> Vec<Parameter> {
    let symbols: Vec<Symbol> = moved.iter().map(|list| list[0].0).collect();
    let in_symbols = linear
        .point
        .is_some()
        .then(|| {
            let mut near = near(pool, &linear.equations, &linear.values);
            if frozen {
                // Only what is implicit follows.
                (near.states, near.rates, near.inputs) = (Vec::new(), Vec::new(), Vec::new());
            }
            operating_shift(pool, graph, &near, &symbols, token)
        })
        .flatten()
        .filter(|shifts| agree(pool, linear, shifts, moved));
    if let Some(shifts) = in_symbols {
        let both = symbols.into_iter().zip(shifts);
        return both.map(|(symbol, carried)| Parameter { symbol, carried }).collect();
    }
    let number =
        |pool: &mut Pool, value: f64| pool.decimal(&format!("{value:e}")).unwrap_or_else(|| pool.zero());
    let parameter = |list: &Moved| Parameter {
        symbol: list[0].0,
        carried: list[1..].iter().map(|(symbol, derivative)| (*symbol, number(pool, *derivative))).collect(),
    };
    moved.iter().map(parameter).collect()
}

/// Whether the derivatives in symbols have the values found in numbers.
fn agree(pool: &Pool, linear: &LinearModel, shifts: &[Vec<(Symbol, Expr)>], moved: &[Moved]) -> bool {
    let near =
        |a: f64, b: f64| (a - b).abs() <= SYMBOLIC_AGREEMENT * a.abs().max(b.abs()).max(SMALLEST_MAGNITUDE);
    shifts.iter().zip(moved).all(|(shift, moved)| {
        moved[1..].iter().all(|(symbol, derivative)| {
            let own = shift.iter().find(|(other, _)| other == symbol);
            let value = own.map_or(Ok(0.0), |(_, e)| pool.eval(*e, &|symbol| linear.value(symbol)));
            value.is_ok_and(|value| near(value, *derivative))
        })
    })
}

/// Parameters, by place among those asked for, whose sensitivities are all zero.
fn idle(pool: &mut Pool, found: &Sensitivities, count: usize) -> Vec<usize> {
    let zero = pool.zero();
    let entries: Vec<(usize, Expr)> = found
        .entries
        .iter()
        .map(|entry| (entry.parameter, entry.num))
        .filter(|(_, num)| *num != zero)
        .collect();
    let vanishing = match found.shared {
        Some(_) => pool.are_zero(&entries.iter().map(|(_, num)| *num).collect::<Vec<_>>()),
        None => vec![false; entries.len()],
    };
    let mut moves = vec![false; count];
    for ((parameter, _), vanishing) in entries.iter().zip(vanishing) {
        moves[*parameter] |= !vanishing;
    }
    let entries = !found.entries.is_empty();
    (0..count).filter(|&k| entries && !moves[k]).collect()
}

/// Finds how poles, zeros and static gains move. Says which poles are repeated. Derivatives by the parameters that are
/// in `verified` too, by place in the model, are checked.
fn root_sensitivities(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    (parameters, moved): (&[usize], &[Moved]),
    verified: &[(usize, Moved)],
    findings: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<RootSensitivities, QueryError> {
    let mut roots = RootSensitivities::default();
    let (Ok(matrices), Ok(derivatives)) =
        (linear.matrices(pool), finite_derivatives(pool, linear, moved, token))
    else {
        return Ok(roots);
    };
    if matrices.states() > DIFFERENTIATED_STATES {
        return Ok(roots);
    }
    let sizes: Vec<f64> = moved.iter().map(|list| linear.value(list[0].0).unwrap_or(0.0).abs()).collect();
    roots.gains = gains(&matrices, &derivatives);
    let own = Linearised { graph, equations: &linear.equations, linear };
    let rates = matrices.a.entries.iter().map(|(_, _, value)| value.abs()).filter(|rate| *rate > 0.0);
    let (sum, count) = rates.fold((0.0, 0.0f64), |(sum, count), rate| (sum + rate.ln(), count + 1.0));
    let omega = (sum / count.max(1.0)).exp();
    let (checks, is_anew) = own.check_gains(pool, &mut roots.gains, parameters, verified, (omega, None))?;
    roots.checks = checks;
    let spectrum = match linear.spectrum(pool, graph, &matrices, &linear.all_entries(), token) {
        Ok(spectrum) => Some(spectrum),
        Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        Err(QueryError::Wrong(_)) => None,
    };
    let around = spectrum.as_deref().and_then(|spectrum| circle(spectrum, omega));
    let mut is_anew = is_anew;
    if let (Some(spectrum), Some((radius, multiplicity))) = (&spectrum, around) {
        let pairs = without_pole_at_zero(spectrum, &roots.gains);
        let mut gains = gains_beside_poles(&matrices, &derivatives, &pairs, (radius, multiplicity));
        let (checks, anew) =
            own.check_gains(pool, &mut gains, parameters, verified, (omega, Some(radius)))?;
        roots.checks.extend(checks);
        roots.gains.extend(gains);
        roots.gains.sort_by_key(|gain| (gain.output, gain.input));
        is_anew |= anew;
    }
    let is_zero = |gain: &&mut Gain| {
        let entries = spectrum.iter().flat_map(|spectrum| &spectrum.entries);
        let mut zero = entries.filter(|entry| entry.gain == 0.0);
        zero.any(|entry| (entry.output, entry.input) == (gain.output, gain.input))
    };
    roots.gains.iter_mut().filter(is_zero).for_each(|gain| gain.value = 0.0);
    if is_anew {
        let message = "the state equations lose digits by cancellation; the static gains are calculated by the graph's own equations";
        findings.push(Diagnostic::new(code::BY_GRAPH, message));
    }
    for gain in &mut roots.gains {
        for (derivative, size) in gain.derivatives.iter_mut().zip(&sizes) {
            *derivative = clean(*derivative, *size, gain.value);
        }
    }
    if matrices.states() == 0 {
        return Ok(roots);
    }
    let Some(spectrum) = spectrum else { return Ok(roots) };
    let own: Vec<(Complex64, usize)> =
        spectrum.poles.iter().map(|root| (root.value, root.multiplicity)).collect();
    let fastest = own.iter().fold(0.0f64, |most, (pole, _)| most.max(pole.norm()));
    roots.poles = poles(&matrices, &derivatives, &own, token)?;
    let all: Vec<Complex64> = own.iter().map(|(root, _)| *root).collect();
    for entry in &spectrum.entries {
        let place = (entry.output, entry.input);
        let zeros = zeros(&matrices, &derivatives, place, &clusters(&entry.zeros), &all, token)?;
        roots.zeros.extend(zeros.into_iter().map(|mode| (place, mode)));
    }
    let linearised = Linearised { graph, equations: &linear.equations, linear };
    let contested = linearised.reconcile_roots(pool, parameters, verified, &mut roots)?;
    for mode in &mut roots.poles {
        clean_mode(mode, &sizes, 0.0);
        // Amounts that are conserved whatever the parameters are keep their poles at zero.
        let nothing =
            |(derivative, size): (&Complex64, &f64)| derivative.norm() * size <= CONSERVED_POLE * fastest;
        let conserved = mode.value == Complex64::ZERO
            && mode.multiplicity <= spectrum.conserved
            && mode.derivatives.iter().zip(&sizes).all(nothing);
        if conserved {
            mode.derivatives.fill(Complex64::ZERO);
        }
        if mode.multiplicity > 1 && mode.value.im >= 0.0 && !conserved {
            let message = format!(
                "the pole {} occurs {} times and has no derivative; that of the mean of the cluster is given",
                with_conjugate(mode.value),
                mode.multiplicity
            );
            findings.push(Diagnostic::new(code::REPEATED_POLE, message));
        }
    }
    let slowest =
        own.iter().map(|(pole, _)| pole.norm()).filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
    let slowest = if slowest.is_finite() { slowest } else { omega };
    roots.zeros.iter_mut().for_each(|(_, mode)| clean_mode(mode, &sizes, slowest));
    linearised.settle_roots(pool, parameters, &contested, &mut roots, token)?;
    withheld(&roots, findings);
    Ok(roots)
}

/// The radius of a circle round zero with no other poles in it, and how often a pole lies at zero; none where none does.
fn circle(spectrum: &Spectrum, omega: f64) -> Option<(f64, usize)> {
    let (at_zero, others): (Vec<&Root>, Vec<&Root>) =
        spectrum.poles.iter().partition(|root| root.value == Complex64::ZERO);
    let nearest = others.iter().map(|root| root.value.norm()).fold(f64::INFINITY, f64::min);
    let multiplicity: usize = at_zero.iter().map(|root| root.multiplicity).sum();
    let radius = CONTOUR_RADIUS * if nearest.is_finite() { nearest } else { omega };
    (multiplicity > 0).then_some((radius, multiplicity))
}

/// The outputs and inputs between which no pole at zero is left, but for those whose gains are known.
fn without_pole_at_zero(spectrum: &Spectrum, known: &[Gain]) -> Vec<(usize, usize)> {
    let is_known =
        |entry: &Factored| known.iter().any(|gain| (gain.output, gain.input) == (entry.output, entry.input));
    let left = |entry: &&Factored| entry.poles.iter().all(|pole| *pole != Complex64::ZERO);
    let entries = spectrum.entries.iter().filter(|entry| !is_known(entry)).filter(left);
    entries.map(|entry| (entry.output, entry.input)).collect()
}

/// Says which poles and zeros have derivatives that nobody knows.
fn withheld(roots: &RootSensitivities, findings: &mut Diagnostics) {
    let named = |what: &str, modes: &mut dyn Iterator<Item = &Mode>| {
        let mut names: Vec<String> = modes
            .filter(|mode| mode.value.im >= 0.0 && mode.is_withheld())
            .map(|mode| format!("{what} {}", with_conjugate(mode.value)))
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let mut names = named("the pole", &mut roots.poles.iter());
    names.extend(named("the zero", &mut roots.zeros.iter().map(|(_, mode)| mode)));
    if names.is_empty() {
        return;
    }
    let rest = names.len().saturating_sub(NAMED_ROOTS);
    names.truncate(NAMED_ROOTS);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let message = format!(
        "derivatives of {}{more} are not given: rounding decides them, as of roots nearly repeated",
        names.join(", ")
    );
    let help = "keep it: the other derivatives are right; other values move such roots apart";
    findings.push(Diagnostic::new(code::REPEATED_POLE, message).help(help));
}

/// A pole in a message, with its conjugate.
fn with_conjugate(value: Complex64) -> String {
    if value.im == 0.0 {
        return short(value.re);
    }
    format!("{} ± {}j", short(value.re), short(value.im.abs()))
}

/// Takes a derivative for zero where a change of the parameter by its own size would not be seen.
fn clean(derivative: f64, size: f64, value: f64) -> f64 {
    if size > 0.0 && (derivative * size).abs() <= VANISHING_CHANGE * value.abs() { 0.0 } else { derivative }
}

/// The same of a root; beside one at zero, of some other rate.
fn clean_mode(mode: &mut Mode, sizes: &[f64], beside: f64) {
    let value = if mode.value == Complex64::ZERO { beside } else { mode.value.norm() };
    for (derivative, size) in mode.derivatives.iter_mut().zip(sizes) {
        *derivative = Complex64::new(clean(derivative.re, *size, value), clean(derivative.im, *size, value));
    }
}
