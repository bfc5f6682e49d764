//! What is to be said of an estimation, and why a start has no cost.

use crate::assemble::Parts;
use crate::estimation::{Acting, Estimate, Estimation, Rest};
use crate::fit::Fit;
use crate::identifiability::Undetermined;
use crate::problem::Rejection;
use crate::question::{Asked, refuse};
use crate::residuals::Whiteness;
use crate::search::Stop;
use crate::tolerance::{POOR_ERROR, ROUNDED_FIT};
use crate::unknown::{Quantity, Unknown};
use paynter_base::number::{plain, rough, shortest};
use paynter_base::{Diagnostic, Diagnostics, QueryError, Remedy, Severity, code};

/// Says why the start has no cost.
pub(crate) fn no_cost(asked: &Asked<'_, '_>, parts: &Parts, rejection: &Rejection) -> QueryError {
    let start = |message: String| Diagnostic::new(code::NO_COST, message);
    let mut diagnostics = Diagnostics::new();
    match rejection {
        Rejection::Cancelled => return QueryError::Cancelled,
        Rejection::Failed { outcome, parameters, .. } => {
            let said = parts.simulation.explain(asked.pool, parameters, outcome);
            diagnostics.push(start(format!(
                "at the start of the search the simulation ends at t = {} of the data",
                plain(outcome.t, 6)
            )));
            diagnostics.extend(said);
        }
        Rejection::NotFinite { t, unknown, .. } => {
            let what = match unknown {
                Some(_) => "a sensitivity of an output",
                None => "an output",
            };
            diagnostics.push(start(format!(
                "at the start of the search {what} has no finite value at t = {}",
                plain(*t, 6)
            )));
        }
        Rejection::Underived => {
            let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
            let turned = parts.unknowns.iter().filter(|unknown| match unknown.quantity {
                Quantity::Simulated { place, .. } if unknown.signed => {
                    sign(unknown.start) != sign(parts.simulation.parameters[place])
                }
                _ => false,
            });
            let start = |unknown: &Unknown| {
                format!("`{}` = {}", unknown.name, shortest(unknown.start / unknown.factor))
            };
            let message = format!(
                "the equations do not hold at the start of the search, {}",
                turned.map(start).collect::<Vec<_>>().join(", ")
            );
            return refuse(
                message,
                Remedy::marked(
                    "begin elsewhere with {option start}: beside zero, or with the sign that the model has",
                ),
            );
        }
    }
    QueryError::Wrong(diagnostics)
}

/// What is worth knowing about an estimation.
pub(crate) fn findings(found: &Estimation) -> Diagnostics {
    let mut list = Diagnostics::new();
    // Sensitivities of runs that cannot follow the record tell nothing.
    if found.stop != Stop::Unfollowed {
        found.after.undetermined.iter().for_each(|open| list.push(about_undetermined(found, open)));
    }
    let noise = about_unknown_noise(found);
    found.estimates.iter().filter_map(about_estimate).chain(noise).for_each(|told| list.push(told));
    if !found.stop.is_converged() {
        let message = format!("the search did not converge: {}", found.stop.words());
        let diagnostic = Diagnostic::new(code::NOT_CONVERGED, message);
        list.push(match found.stop {
            Stop::Unfollowed => {
                diagnostic.help("fit a shorter record, or several short ones of the same data")
            }
            _ => diagnostic,
        });
    }
    about_residuals(found).into_iter().for_each(|told| list.push(told));
    list
}

/// What the data do not determine, and where it is left.
fn about_undetermined(found: &Estimation, open: &Undetermined) -> Diagnostic {
    let own = found.acting.iter().find(|(name, _)| open.names == [name.as_str()]);
    let (words, rest, help) = match own {
        Some((name, Acting::ByJumps)) => (
            format!(
                "`{name}` moves what is measured by jumps between samples only, so that it has no sensitivity there"
            ),
            "the search leaves it where it began",
            Some("look for it with several starts, {option starts}, or smooth the jump"),
        ),
        Some((name, Acting::Elsewhere)) => (
            format!(
                "`{name}` has an effect on what is measured at other values, but no sensitivity at this one"
            ),
            "the search leaves it where it began",
            Some("begin at another value with {option start}"),
        ),
        None => {
            let rest = match found.rest {
                Rest::AtStart => "the search leaves the rest where it began",
                Rest::Bounded => {
                    "bounds do not let the rest be put back where the search began: values that fit as well are found elsewhere"
                }
                Rest::Elsewhere => "other values fit as well as those that the search came to",
            };
            (open.words.clone(), rest, None)
        }
    };
    let diagnostic = Diagnostic::new(code::UNDETERMINED, format!("{words}; {rest}"));
    match help {
        Some(help) => diagnostic.help(Remedy::marked(help)),
        None => diagnostic,
    }
}

/// Whether an estimate is at or beyond its bound, or known poorly.
fn about_estimate(estimate: &Estimate) -> Option<Diagnostic> {
    let value = || shortest(estimate.value / estimate.factor);
    if estimate.value < estimate.bounds.0 || estimate.value > estimate.bounds.1 {
        let message = format!(
            "`{}` = {} is outside its bounds, which this method does not know",
            estimate.name,
            value()
        );
        let help = Remedy::marked("search with {option method=levenberg-marquardt}, which keeps to bounds");
        return Some(Diagnostic::new(code::AT_BOUND, message).help(help));
    }
    if estimate.at_bound {
        let message =
            format!("`{}` is at its bound {}, so that it has no standard error", estimate.name, value());
        return Some(Diagnostic::new(code::AT_BOUND, message));
    }
    let error = estimate.standard_error.filter(|error| *error > POOR_ERROR * estimate.value.abs())?;
    // An offset is as good near zero as elsewhere.
    if estimate.name.starts_with("offset(") {
        return None;
    }
    let told = match estimate.value == 0.0 {
        true => format!("{}, and its value 0", plain(error / estimate.factor, 3)),
        false => format!("{} % of it", plain(100.0 * error / estimate.value.abs(), 3)),
    };
    let message = format!("`{}` is poorly determined: its standard error is {told}", estimate.name);
    Some(Diagnostic::new(code::UNDETERMINED, message))
}

/// Estimates without standard errors, together where they hang on the noise of the same outputs.
fn about_unknown_noise(found: &Estimation) -> Vec<Diagnostic> {
    let (mut list, mut told): (Vec<Diagnostic>, Vec<&[usize]>) = (Vec::new(), Vec::new());
    for (_, outputs) in &found.confidence.unknown_noise {
        if told.contains(&outputs.as_slice()) {
            continue;
        }
        told.push(outputs);
        let quoted = |names: Vec<&str>| format!("`{}`", names.join("`, `"));
        let noisy = outputs.iter().map(|output| found.outputs[*output].column.name.as_str()).collect();
        let own = found.confidence.unknown_noise.iter().filter(|(_, by)| by == outputs);
        let estimates = own.map(|(place, _)| found.estimates[*place].name.as_str()).collect();
        let message = format!(
            "the fit leaves nothing of {} to tell the noise by, so that {} has no standard error",
            quoted(noisy),
            quoted(estimates)
        );
        list.push(Diagnostic::new(code::UNKNOWN_NOISE, message));
    }
    list
}

/// The output whose residuals are coloured most, where standard errors are corrected for it.
fn about_residuals(found: &Estimation) -> Option<Diagnostic> {
    if !found.confidence.corrected {
        return None;
    }
    // What rounding leaves of an exact fit has a memory, but nobody's model lacks anything for it.
    let rounding = |series: &&Whiteness| {
        let own = |fit: &&Fit| (fit.experiment, fit.output) == (series.experiment, series.output);
        found.fits.iter().find(own).is_some_and(|fit| fit.share > ROUNDED_FIT)
    };
    let worst = found.confidence.whiteness.iter().filter(|series| !series.is_white() && !rounding(series));
    let worst = worst.max_by(|a, b| a.statistic.total_cmp(&b.statistic))?;
    let message = format!(
        "the residuals of `{}` are not white (autocorrelation {} from sample to sample); standard errors are \
         corrected by an autoregressive model of order {}",
        found.outputs[worst.output].column.name,
        rough(worst.autocorrelation.get(1).copied().unwrap_or(0.0)),
        worst.order
    );
    let diagnostic = Diagnostic::new(code::COLOURED_RESIDUALS, message);
    Some(Diagnostic { severity: Severity::Note, ..diagnostic })
}
