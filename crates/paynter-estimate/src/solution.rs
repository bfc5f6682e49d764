//! A problem solved, and its solution judged.

use crate::confidence::{Confidence, confidence};
use crate::estimation::{Estimate, Estimation, ExperimentSummary, rank_share};
use crate::fit::{Curve, FitSums, curves};
use crate::identifiability::{Identifiability, put_back};
use crate::loss::Loss;
use crate::problem::{Evaluation, Problem, Rejection};
use crate::profile::{Profile, profile};
use crate::question::EstimateOptions;
use crate::reweighting::reweight;
use crate::search::{Cost, Found, Iteration, Limits};
use crate::shooting::{Pieces, Shooting, shoot};
use crate::starts::search_all;
use crate::tolerance::{JUMP_COST, JUMP_SHARES, RESTORED_COST, SECOND_LOOK, UNMOVED};
use crate::unknown::{Scaling, Unknown};
use paynter_base::CancellationToken;
use paynter_base::random::Random;

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
    let is_put_back = put_undetermined_back(&problem, &mut found, &begun_at, limits.rank, token)?;
    token.begin("standard errors", 0);
    let at = &found.evaluation;
    let mut sums = FitSums::new(&problem);
    let confidence = confidence(&problem, at, limits.rank, options.level, token, &mut |experiment, row| {
        sums.add(experiment, row)
    })?;
    let fits = sums.fits();
    let judged = |at: &Evaluation| {
        let elsewhere = || problem.evaluate(&moved(&problem, &at.z), token).ok();
        Identifiability::new(&problem, at, &elsewhere, limits.rank)
    };
    let (before, after) = (judged(&begun), judged(at));
    let by_jumps = acting_by_jumps(&problem, at, &after, token);
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
        is_put_back,
        by_jumps,
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
/// does, it stays. Tells whether it is there.
fn put_undetermined_back(
    problem: &Problem<'_>,
    found: &mut Found,
    begun_at: &[f64],
    rank: f64,
    token: &CancellationToken,
) -> Result<bool, Rejection> {
    let Some(z) = put_back(problem, &found.evaluation, begun_at, rank) else { return Ok(true) };
    let within = z.iter().zip(problem.ranges()).all(|(z, (low, high))| (low..=high).contains(z));
    let slack =
        found.evaluation.cost * (1.0 + RESTORED_COST) + problem.size() * (rank * rank).max(f64::MIN_POSITIVE);
    match if within { problem.evaluate(&z, token) } else { Err(Rejection::Underived) } {
        Err(Rejection::Cancelled) => Err(Rejection::Cancelled),
        Ok(back) if back.cost <= slack => {
            if let Some(last) = found.history.last_mut() {
                (last.cost, last.values) = (back.cost, problem.values(&back.z));
            }
            found.evaluation = back;
            Ok(true)
        }
        _ => {
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= UNMOVED * a.abs().max(b.abs());
            Ok(z.iter().zip(&found.evaluation.z).all(near))
        }
    }
}

/// Unknowns by which the outputs have no derivative, but of which larger changes move the cost: the instant of a pulse
/// moves a sample at a time.
fn acting_by_jumps(
    problem: &Problem<'_>,
    at: &Evaluation,
    found: &Identifiability,
    token: &CancellationToken,
) -> Vec<String> {
    let alone = found.undetermined.iter().filter(|open| open.determined.is_empty());
    let acts = |name: &&String| {
        let Some(j) = problem.unknowns.iter().position(|unknown| unknown.name == **name) else {
            return false;
        };
        let (low, high) = problem.unknowns[j].range();
        JUMP_SHARES.iter().flat_map(|share| [-share, *share]).any(|share| {
            let mut z = at.z.clone();
            let value = problem.unknowns[j].value(z[j]);
            z[j] = problem.unknowns[j].to_search(value * (1.0 + share)).clamp(low, high);
            let moved = problem.evaluate(&z, token);
            moved.is_ok_and(|moved| (moved.cost - at.cost).abs() > JUMP_COST * problem.size())
        })
    };
    alone.flat_map(|open| &open.names).filter(acts).cloned().collect()
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
    let value = unknown.value(z);
    let (low, high) = unknown.range();
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
        at_bound: z == low || z == high,
        logarithmic: unknown.scaling == Scaling::Logarithmic,
    }
}

/// A point a few per cent away, at which directions without effect are looked at again.
fn moved(problem: &Problem<'_>, z: &[f64]) -> Vec<f64> {
    let mut random = Random::new(11);
    let shift = |(unknown, z): (&Unknown, &f64)| {
        let (low, high) = unknown.range();
        let by = SECOND_LOOK * random.symmetric();
        let moved = match unknown.scaling {
            Scaling::Logarithmic => z + by,
            Scaling::Linear(_) => z * (1.0 + by),
        };
        moved.clamp(low, high)
    };
    problem.unknowns.iter().zip(z).map(shift).collect()
}
