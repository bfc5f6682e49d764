//! Searches from several starts, in parallel.

use crate::problem::{Problem, Rejection};
use crate::search::{Cost, Found, Limits, Method, Stop, search};
use crate::tolerance::START_FACTOR;
use crate::unknown::Scaling;
use paynter_base::CancellationToken;
use paynter_base::random::Random;
#[cfg(feature = "parallel")]
use rayon::prelude::*;

/// How the search from one start went.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Where it started, in SI.
    pub start: Vec<f64>,
    /// Where it ended; empty where the start itself has no cost.
    pub values: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// Why it ended.
    pub stop: Option<Stop>,
    /// Its iterations.
    pub iterations: usize,
}

/// The start of this number: the first is the given one, others lie between bounds, or around it where there are
/// none.
fn start(problem: &Problem<'_>, seed: u64, number: usize) -> Vec<f64> {
    if number == 0 {
        return problem.start();
    }
    let mut random = Random::sample(seed, number as u64);
    let draw = |unknown: &crate::Unknown| {
        let (low, high) = unknown.range();
        let (share, symmetric) = (random.unit(), random.symmetric());
        let z = unknown.to_search(unknown.start);
        let z = match (low.is_finite() && high.is_finite(), unknown.scaling) {
            (true, _) => low + share * (high - low),
            (false, Scaling::Logarithmic) => z + symmetric * START_FACTOR.ln(),
            (false, Scaling::Linear(_)) if z == 0.0 => symmetric,
            (false, Scaling::Linear(_)) => z * START_FACTOR.powf(symmetric),
        };
        if unknown.fixed { unknown.to_search(unknown.start) } else { z.clamp(low, high) }
    };
    problem.unknowns.iter().map(draw).collect()
}

/// Searches from all starts; returns the best search and how each went. It fails where the given start has no cost
/// and no other has one either.
pub(crate) fn search_all(
    problem: &Problem<'_>,
    (method, limits): (Method, Limits),
    (count, seed): (usize, u64),
    token: &CancellationToken,
) -> Result<(Found, Vec<Start>), Rejection> {
    let from = |number: usize| {
        let z = start(problem, seed, number);
        let found = search(problem, (method, limits), &z, token);
        token.advance(1);
        (problem.values(&z), found)
    };
    token.begin("starts of the search", count as u64);
    #[cfg(feature = "parallel")]
    let all: Vec<_> = match count {
        1 => vec![from(0)],
        _ => (0..count).into_par_iter().map(from).collect(),
    };
    #[cfg(not(feature = "parallel"))]
    let all: Vec<_> = (0..count).map(from).collect();
    let mut starts = Vec::new();
    let mut best: Option<Found> = None;
    let mut refused: Option<Rejection> = None;
    for (values, found) in all {
        let mut told = Start { start: values, values: Vec::new(), cost: f64::NAN, stop: None, iterations: 0 };
        match found {
            Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
            Err(rejection) => refused = refused.or(Some(rejection)),
            Ok(found) => {
                told.values = problem.values(&found.evaluation.z);
                told.cost = found.evaluation.cost;
                told.stop = Some(found.stop);
                told.iterations = found.history.len() - 1;
                if best.as_ref().is_none_or(|best| found.evaluation.cost < best.evaluation.cost) {
                    best = Some(found);
                }
            }
        }
        starts.push(told);
    }
    match (best, refused) {
        (Some(best), _) => Ok((best, starts)),
        (None, Some(rejection)) => Err(rejection),
        (None, None) => Err(Rejection::Cancelled),
    }
}
