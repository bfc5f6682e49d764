//! A problem solved, and its solution judged.

use crate::confidence::{Confidence, confidence};
use crate::estimation::{Acting, Estimate, Estimation, ExperimentSummary, Rest, rank_share};
use crate::fit::{Curve, FitSums, curves};
use crate::identifiability::{Identifiability, is_followed, moved, put_back, put_back_by_effect, sizes};
use crate::loss::Loss;
use crate::problem::{Evaluation, Problem, Rejection};
use crate::profile::{Profile, profile};
use crate::question::EstimateOptions;
use crate::reweighting::reweight;
use crate::search::{Cost, Found, Iteration, Limits, Stop};
use crate::shooting::{Pieces, Shooting, shoot};
use crate::starts::search_all;
use crate::tolerance::{JUMP_COST, JUMP_SHARES, RANK_TOLERANCES, RESTORED_COST, UNMOVED};
use crate::unknown::{Scaling, Unknown};
use paynter_base::CancellationToken;

/// Solves a problem and judges its solution.
pub(crate) fn solve(
    mut problem: Problem<'_>,
    pieces: Option<&Pieces>,
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<Estimation, Rejection> {
    let limits = Limits { iterations: options.iterations, rank: rank_share(options) };
    let choice = (options.method, limits);
    let given = problem.values(&problem.start());
    let (first, shooting) = match pieces {
        Some(pieces) => join(&mut problem, pieces, options, token)?,
        None => (None, None),
    };
    let (mut found, starts) = search_all(&problem, choice, (options.starts, options.seed), token)?;
    if let Some(first) = &first {
        // The pieces lead from the given start to the first of the search.
        let start =
            Iteration { cost: first.cost, values: given.clone(), control: 0.0, simulations: problem.runs() };
        found.history.insert(0, start);
    }
    let begun = first.unwrap_or_else(|| found.first.clone());
    if options.loss != Loss::Squares || options.prior {
        reweight(&mut problem, &mut found, choice, options, token)?;
    }
    let begun_at = if shooting.is_some() { &given } else { &found.history[0].values }.clone();
    let rest = put_undetermined_back(&problem, &mut found, &begun_at, limits.rank, token)?;
    problem.hold_beside_zero(&found.evaluation);
    if !is_followed(&problem, &found.evaluation, limits.rank / RANK_TOLERANCES) {
        found.stop = Stop::Unfollowed;
    }
    token.begin("standard errors", 0);
    let at = &found.evaluation;
    let mut sums = FitSums::new(&problem);
    let mut confidence =
        confidence(&problem, at, limits.rank, options.level, token, &mut |experiment, row| {
            sums.add(experiment, row)
        })?;
    if found.stop == Stop::Unfollowed {
        confidence.withhold();
    }
    let fits = sums.fits();
    let judged = |at: &Evaluation| {
        let elsewhere = || problem.evaluate(&moved(&problem, at), token).ok();
        Identifiability::new(&problem, at, &elsewhere, limits.rank)
    };
    let (before, after) = (judged(&begun), judged(at));
    let acting = acting(&problem, at, &after, token)?;
    let curves = if options.curves { curves_on_the_way(&problem, &found, token)? } else { Vec::new() };
    let profiles = profiles(&problem, at, (&confidence, &after), limits, options, token)?;
    let estimates = problem.unknowns.iter().enumerate();
    let estimates = estimates
        .map(|(place, unknown)| estimated(unknown, at.z[place], &begun_at[place], &confidence, place));
    let thresholds = problem.penalties.iter();
    let thresholds = thresholds.map(|penalty| (penalty.loss != Loss::Squares).then_some(penalty.threshold));
    Ok(Estimation {
        model: problem.simulation.model.clone(),
        method: options.method,
        inputs: Vec::new(),
        hold: options.hold,
        loss: options.loss,
        thresholds: thresholds.collect(),
        solver: options.solver.clone(),
        experiments: summaries(&problem),
        outputs: problem.outputs.clone(),
        estimates: estimates.collect(),
        level: options.level,
        stop: found.stop,
        simulations: found.simulations,
        fits,
        before,
        after,
        rest,
        acting,
        starts,
        shooting,
        curves,
        profiles,
        confidence,
        history: found.history,
    })
}

/// Joins the pieces of records: the search starts where they fit. Returns the evaluation at the given start as well, if
/// there is one.
fn join(
    problem: &mut Problem<'_>,
    pieces: &Pieces,
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<(Option<Evaluation>, Option<Shooting>), Rejection> {
    let first = problem.evaluate(&problem.start(), token).ok();
    token.begin("pieces of the records", 0);
    let (z, told) = shoot(problem, pieces, options.shots, rank_share(options), token)?;
    for (unknown, z) in problem.unknowns.iter_mut().zip(&z) {
        unknown.start = unknown.value(*z);
    }
    Ok((first, Some(told)))
}

/// Returns directions that are not determined to where the search began. What is not determined costs nothing; where it
/// does, it stays. Relative changes keep products, changes by their effects keep sums.
fn put_undetermined_back(
    problem: &Problem<'_>,
    found: &mut Found,
    begun_at: &[f64],
    rank: f64,
    token: &CancellationToken,
) -> Result<Rest, Rejection> {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= UNMOVED * a.abs().max(b.abs());
    let slack =
        found.evaluation.cost * (1.0 + RESTORED_COST) + problem.size() * (rank * rank).max(f64::MIN_POSITIVE);
    let mut rest = Rest::Bounded;
    for back in [put_back, put_back_by_effect] {
        let Some(z) = back(problem, &found.evaluation, begun_at, rank) else { return Ok(Rest::AtStart) };
        if !z.iter().zip(problem.ranges()).all(|(z, (low, high))| (low..=high).contains(z)) {
            continue;
        }
        match problem.evaluate(&z, token) {
            Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
            Ok(back) if back.cost <= slack => {
                if let Some(last) = found.history.last_mut() {
                    (last.cost, last.values) = (back.cost, problem.values(&back.z));
                }
                found.evaluation = back;
                return Ok(Rest::AtStart);
            }
            _ if z.iter().zip(&found.evaluation.z).all(near) => return Ok(Rest::AtStart),
            _ => rest = Rest::Elsewhere,
        }
    }
    let values = problem.values(&found.evaluation.z);
    Ok(if values.iter().zip(begun_at).all(near) { Rest::AtStart } else { rest })
}

/// Unknowns by which the outputs have no derivative at a point, but of which larger changes move the cost. Where there is
/// no derivative elsewhere either they act by jumps: the instant of a pulse moves a sample at a time.
fn acting(
    problem: &Problem<'_>,
    at: &Evaluation,
    found: &Identifiability,
    token: &CancellationToken,
) -> Result<Vec<(String, Acting)>, Rejection> {
    let (lengths, sizes, ranges) = (at.lengths(), sizes(problem, at), problem.ranges());
    let mut list = Vec::new();
    for (j, unknown) in problem.unknowns.iter().enumerate() {
        let is_open = found.undetermined.iter().any(|open| open.names == [unknown.name.as_str()]);
        if lengths[j] > 0.0 || !is_open {
            continue;
        }
        let mut acting = None;
        for share in JUMP_SHARES.iter().flat_map(|share| [-share, *share]) {
            let mut z = at.z.clone();
            z[j] = (z[j] + share * sizes[j]).clamp(ranges[j].0, ranges[j].1);
            match problem.evaluate(&z, token) {
                Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
                Ok(moved) if (moved.cost - at.cost).abs() > JUMP_COST * problem.size() => {
                    let is_smooth = moved.lengths()[j] > 0.0;
                    acting =
                        if is_smooth { Some(Acting::Elsewhere) } else { acting.or(Some(Acting::ByJumps)) };
                }
                _ => {}
            }
        }
        list.extend(acting.map(|acting| (unknown.name.clone(), acting)));
    }
    Ok(list)
}

/// Curves for plots: at the start, after one and five iterations, and at the end.
fn curves_on_the_way(
    problem: &Problem<'_>,
    found: &Found,
    token: &CancellationToken,
) -> Result<Vec<Curve>, Rejection> {
    let last = found.history.len() - 1;
    let mut numbers = vec![0, 1, 5, last];
    numbers.retain(|number| *number <= last);
    numbers.sort_unstable();
    numbers.dedup();
    let point = |number: &usize| {
        let values = &found.history[*number].values;
        let z = problem.unknowns.iter().zip(values).map(|(unknown, value)| unknown.to_search(*value));
        (*number, z.collect())
    };
    curves(problem, &numbers.iter().map(point).collect::<Vec<_>>(), token)
}

/// The profile likelihoods that are asked for.
fn profiles(
    problem: &Problem<'_>,
    at: &Evaluation,
    (confidence, determined): (&Confidence, &Identifiability),
    limits: Limits,
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<Vec<Profile>, Rejection> {
    let mut profiles = Vec::new();
    for (place, unknown) in problem.unknowns.iter().enumerate() {
        let plain = unknown.name.split('@').next().unwrap_or_default();
        if options.profiles.iter().any(|name| *name == unknown.name || *name == plain || name == "all") {
            token.begin("profile likelihoods", 0);
            let is_determined =
                !determined.undetermined.iter().any(|found| found.names.contains(&unknown.name));
            profiles.push(profile(problem, at, (confidence, is_determined), place, limits, token)?);
        }
    }
    Ok(profiles)
}

/// The experiments as they were used.
fn summaries(problem: &Problem<'_>) -> Vec<ExperimentSummary> {
    let experiments = problem.experiments.iter().map(|experiment| ExperimentSummary {
        name: experiment.name.clone(),
        span: (experiment.whole.t_start, experiment.whole.t_end),
        fitted: experiment.fitted,
        samples: experiment.whole.times.len(),
        validates: experiment.validates,
    });
    experiments.collect()
}

fn estimated(unknown: &Unknown, z: f64, start: &f64, confidence: &Confidence, place: usize) -> Estimate {
    let (low, high) = unknown.range();
    // What cannot reach its bound of zero is as good as there.
    let value = if unknown.beside_zero { 0.0 } else { unknown.value(z) };
    let standard_error = confidence.standard_errors[place];
    Estimate {
        name: unknown.name.clone(),
        unit: unknown.unit.clone(),
        factor: unknown.factor,
        start: *start,
        value,
        bounds: (unknown.lower, unknown.upper),
        standard_error,
        white_error: confidence.white_errors[place],
        interval: standard_error.map(|error| {
            let half = confidence.quantiles[place] * error;
            (value - half, value + half)
        }),
        freedom: confidence.freedoms[place],
        at_bound: unknown.beside_zero || z == low || z == high,
        logarithmic: unknown.scaling == Scaling::Logarithmic,
    }
}
