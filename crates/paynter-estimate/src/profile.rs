//! Profile likelihood: the smallest cost with one estimate held elsewhere, and the interval in which it stays below
//! what confidence allows. Where the cost is no parabola, standard errors get that interval wrong.

use crate::confidence::Confidence;
use crate::problem::{Evaluation, Problem, Rejection};
use crate::search::{Cost, Limits, Method, search};
use crate::tolerance::{FIRST_PROFILE_STEP, PROFILE_POINTS, PROFILE_WIDTH, RESTORED_COST, SMALL_UNKNOWN};
use paynter_base::CancellationToken;
use paynter_base::number::significant;

/// The profile likelihood of an estimate, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The estimate.
    pub name: String,
    /// Its values, rising, with the smallest cost at each.
    pub points: Vec<(f64, f64)>,
    /// The cost at the ends of the interval.
    pub limit: f64,
    /// The ends of the interval; none where a bound was reached, or the cost does not rise so far.
    pub interval: (Option<f64>, Option<f64>),
}

impl Profile {
    /// The interval in words, of values in units of this size: an end that was not reached is told by how far the cost
    /// was followed without rising to its limit.
    pub fn words(&self, factor: f64) -> String {
        let number = |value: f64| significant(value / factor);
        let followed = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |(value, _)| *value);
        let (low, high) = (followed(self.points.first()), followed(self.points.last()));
        match self.interval {
            (Some(from), Some(to)) => format!("from {} to {}", number(from), number(to)),
            (Some(from), None) => format!("from {}, without an end up to {}", number(from), number(high)),
            (None, Some(to)) => format!("to {}, without an end down to {}", number(to), number(low)),
            (None, None) => format!(
                "without an end: the cost does not rise to its limit from {} to {}",
                number(low),
                number(high)
            ),
        }
    }
}

/// Follows the cost to both sides of an estimate; of one that the data do not determine there is no end.
pub(crate) fn profile(
    problem: &Problem<'_>,
    at: &Evaluation,
    (confidence, determined): (&Confidence, bool),
    place: usize,
    limits: Limits,
    token: &CancellationToken,
) -> Result<Profile, Rejection> {
    // The parabola of the cost reaches this limit where the interval of the standard error ends, whatever noise,
    // losses and weights are. Without a standard error residuals count as white.
    let count = at.residuals as f64;
    let freedom = (count - problem.unknowns.len() as f64).max(1.0);
    let rise = confidence.rises[place].unwrap_or(2.0 * at.cost / freedom);
    // Of what the data do not determine the cost does not rise but for what a search leaves.
    let left = at.cost * RESTORED_COST + problem.size() * (limits.rank * limits.rank).max(f64::MIN_POSITIVE);
    let limit = at.cost + (0.5 * confidence.quantiles[place].powi(2) * rise).max(left);
    let unknown = &problem.unknowns[place];
    let error = confidence.standard_errors[place].map(|error| error / unknown.derivative(at.z[place]).abs());
    let first = error
        .filter(|error| *error > 0.0)
        .unwrap_or(FIRST_PROFILE_STEP * at.z[place].abs().max(SMALL_UNKNOWN));
    let mut points = vec![(at.z[place], at.cost)];
    let mut ends = [None, None];
    for (side, end) in [-1.0, 1.0].into_iter().zip(&mut ends) {
        let (low, high) = unknown.range();
        let mut near = (at.z[place], at.cost, at.z.clone());
        let mut width = 0.5 * confidence.quantiles[place] * first;
        for _ in 0..PROFILE_POINTS {
            token.check().map_err(|_| Rejection::Cancelled)?;
            let z = (near.0 + side * width).clamp(low, high);
            if z == near.0 {
                break;
            }
            let Some((cost, solution)) = held(problem, place, z, &near.2, limits, token)? else {
                width *= 0.5;
                continue;
            };
            if cost >= limit && !determined {
                // Where the data tell nothing, a search that has not come back to their valley is no rise.
                width *= 0.5;
                continue;
            }
            points.push((z, cost));
            if cost < limit {
                near = (z, cost, solution);
                width *= 1.5;
                continue;
            }
            *end = Some(between(problem, place, (near, (z, cost)), limit, limits, token)?);
            break;
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let value = |z: f64| unknown.value(z);
    Ok(Profile {
        name: unknown.name.clone(),
        points: points.into_iter().map(|(z, cost)| (value(z), cost)).collect(),
        limit,
        interval: (ends[0].map(value), ends[1].map(value)),
    })
}

/// The smallest cost with one unknown held, and where; none where the search from here has no cost.
fn held(
    problem: &Problem<'_>,
    place: usize,
    z: f64,
    from: &[f64],
    limits: Limits,
    token: &CancellationToken,
) -> Result<Option<(f64, Vec<f64>)>, Rejection> {
    let mut unknowns = problem.unknowns.clone();
    unknowns[place].fixed = true;
    let held = problem.with_unknowns(unknowns);
    let mut start = from.to_vec();
    start[place] = z;
    match search(&held, (Method::LevenbergMarquardt, limits), &start, token) {
        Ok(found) => Ok(Some((found.evaluation.cost, found.evaluation.z))),
        Err(Rejection::Cancelled) => Err(Rejection::Cancelled),
        Err(_) => Ok(None),
    }
}

/// Where the cost passes the limit, between a point below and one above it: by parabolas through the root of the
/// rise, which is nearly straight.
fn between(
    problem: &Problem<'_>,
    place: usize,
    (mut below, mut above): ((f64, f64, Vec<f64>), (f64, f64)),
    limit: f64,
    limits: Limits,
    token: &CancellationToken,
) -> Result<f64, Rejection> {
    let least = below.1.min(limit);
    let width = (above.0 - below.0).abs();
    for _ in 0..PROFILE_POINTS {
        let rise = |cost: f64| (cost - least).max(0.0).sqrt();
        let share = (rise(limit) - rise(below.1)) / (rise(above.1) - rise(below.1));
        let share = if share.is_finite() { share.clamp(0.05, 0.95) } else { 0.5 };
        let z = below.0 + share * (above.0 - below.0);
        if (above.0 - below.0).abs() <= PROFILE_WIDTH * width {
            return Ok(z);
        }
        let Some((cost, solution)) = held(problem, place, z, &below.2, limits, token)? else { return Ok(z) };
        if (cost - limit).abs() <= PROFILE_WIDTH * (limit - least).max(f64::MIN_POSITIVE) {
            return Ok(z);
        }
        if cost < limit { below = (z, cost, solution) } else { above = (z, cost) }
    }
    Ok(below.0)
}
