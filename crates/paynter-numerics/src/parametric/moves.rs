//! What moves with each parameter: itself, and the operating point of a
//! nonlinear model, unless it meets laws there that have no second derivative.

use paynter_algebra::{Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Remedy, code};
use paynter_equations::QueryError;
use paynter_graph::BondGraph;

use super::shift::{Steady, Unmoved};
use super::steady::{at, by_motion, no_rest};
use super::{Moved, infinite_derivatives};
use crate::LinearModel;
use crate::linear::refused;
use crate::operating::{Nonsmooth, nonsmooth_derivatives};
use crate::tolerance::VANISHING_SPEED;

/// What one may do where only the motion tells which rest is reached.
const OTHERWISE: &str = "name other parameters by {option only}, let the model begin at the rest itself (`init NAME.q = …`), or ask with {option frozen} for a point that does not move";

/// The same where nothing rests.
const FROZEN: &str =
    "name other parameters by {option only}, or ask with {option frozen} for a point that does not move";

/// Finds what moves with each of some parameters, given by place; with `frozen` the states and inputs of a
/// nonlinear model are held at the operating point, and what its laws give implicitly follows them, as it does
/// where the algebra can invert them. Warns where the point moves along laws with kinks.
pub fn moved(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    places: &[usize],
    frozen: bool,
    findings: &mut Diagnostics,
) -> Result<Vec<Moved>, QueryError> {
    let symbols: Vec<Symbol> = places.iter().map(|k| graph.parameters[*k].symbol).collect();
    let mut moved: Vec<Moved> = symbols.iter().map(|symbol| vec![(*symbol, 1.0)]).collect();
    if linear.point.is_none() {
        return Ok(moved);
    }
    if !frozen || !linear.equations.constraints.is_empty() {
        let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let prepare = if frozen { Steady::held } else { Steady::new };
        let steady = prepare(pool, graph, &linear.equations, &symbols, &linear.values);
        let shifts = steady.map_err(|_| Unmoved::Undetermined).and_then(|steady| steady.shift(&nominal));
        match &shifts {
            Err(Unmoved::ByMotion(list)) => {
                return Err(refused(by_motion(graph, &at(places, list), OTHERWISE)));
            }
            Err(Unmoved::NoRest(list)) => return Err(refused(no_rest(graph, &at(places, list), FROZEN))),
            _ => {}
        }
        let Ok(shifts) = shifts else {
            let message = "the operating point does not move smoothly with the parameters: its equations leave it undetermined";
            let help =
                Remedy::marked("ask with {option frozen} for the sensitivities at a fixed operating point");
            return Err(refused(Diagnostic::new(code::NO_OPERATING_POINT, message).help(help)));
        };
        let sizes = linear.point.as_ref().map(|point| &point.sizes);
        for ((list, shift), place) in moved.iter_mut().zip(shifts).zip(places) {
            let whole = nominal[*place].abs();
            let moves = |(symbol, derivative): &(Symbol, f64)| {
                let size = sizes.and_then(|sizes| sizes.get(symbol)).copied().unwrap_or(0.0);
                is_seen(*derivative, whole, size)
            };
            let mut carried: Moved = shift.into_iter().filter(moves).collect();
            carried.sort_by_key(|(symbol, _)| *symbol);
            list.extend(carried);
        }
    }
    require_derivatives(pool, graph, linear, &moved)?;
    moving_kinks(pool, graph, linear, &moved, findings);
    Ok(moved)
}

/// Whether a change of a parameter by all it is would show in the last digit of what moves with it; the rest is
/// rounding.
pub(super) fn is_seen(derivative: f64, parameter: f64, size: f64) -> bool {
    let whole = if parameter == 0.0 { 1.0 } else { parameter };
    (derivative * whole).abs() > f64::EPSILON * size
}

/// Refuses parameters with which the linear model moves infinitely fast at the operating point.
fn require_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    moved: &[Moved],
) -> Result<(), QueryError> {
    let probes = linear.probes(pool);
    let infinite = infinite_derivatives(pool, &linear.space, moved, &probes);
    if infinite.is_empty() {
        return Ok(());
    }
    let nonsmooth = nonsmooth_derivatives(pool, graph, &linear.equations, &probes);
    let names: Vec<String> = infinite.iter().map(|k| format!("`{}`", pool.name(moved[*k][0].0))).collect();
    let law =
        nonsmooth.iter().find(|(_, _, kind)| *kind != Nonsmooth::Kink).map(|(id, _, _)| graph.element(*id));
    let what = law.map_or_else(
        || "the linear model".to_owned(),
        |element| format!("the derivative of the law of `{}`", element.name),
    );
    let message = format!(
        "{what} changes infinitely fast with {} at the operating point: there are no sensitivities",
        names.join(", ")
    );
    let help = Remedy::marked(
        "choose inputs away from that point, name other parameters by {option only}, or ask with {option frozen} for a point that does not move",
    );
    let diagnostic = Diagnostic::new(code::NO_DERIVATIVE, message).help(help);
    Err(refused(match law {
        Some(element) => diagnostic.at(element.span),
        None => diagnostic,
    }))
}

/// Says which laws have no second derivative at an operating point that moves along them.
fn moving_kinks(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    moved: &[Moved],
    findings: &mut Diagnostics,
) {
    let equations = &linear.equations;
    let probes = linear.probes(pool);
    for (element, variable, kind) in nonsmooth_derivatives(pool, graph, equations, &probes) {
        let assigned = equations.assignments.iter().find(|a| a.symbol == variable).map(|a| a.value);
        let value = assigned.unwrap_or_else(|| pool.var(variable));
        let mut movers = Vec::new();
        for list in moved {
            let mut parts = Vec::with_capacity(list.len());
            for (symbol, speed) in list {
                let partial = pool.diff(value, *symbol);
                parts.extend(pool.eval(partial, &|s| linear.value(s)).map(|partial| partial * speed));
            }
            let size: f64 = parts.iter().map(|part| part.abs()).sum();
            if parts.iter().sum::<f64>().abs() > VANISHING_SPEED * size {
                movers.push(format!("`{}`", pool.name(list[0].0)));
            }
        }
        if movers.is_empty() {
            continue;
        }
        let how = match kind {
            Nonsmooth::Jump => "jumps",
            Nonsmooth::Kink => "has a kink",
            Nonsmooth::Infinite => "is infinite",
        };
        let element = graph.element(element);
        let message = format!(
            "the derivative of the law of `{}` {how} at the operating point, which moves with {}: there are sensitivities to one side at most",
            element.name,
            movers.join(", ")
        );
        let help = Remedy::marked(
            "choose inputs away from that point, or ask with {option frozen} for a point that does not move",
        );
        findings.push(Diagnostic::new(code::KINK, message).at(element.span).help(help));
    }
}
