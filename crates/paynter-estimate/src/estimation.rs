//! An estimation from its question to its answer.

use crate::assemble::Parts;
use crate::confidence::{Confidence, confidence};
use crate::fit::{Curve, Fit, FitSums, curves};
use crate::identifiability::{Identifiability, put_back};
use crate::loss::{Loss, Penalty};
use crate::problem::{Evaluation, FittedOutput, Problem, Rejection, Validity};
use crate::profile::{Profile, profile};
use crate::question::{Asked, EstimateOptions, refuse};
use crate::residuals::Whiteness;
use crate::search::{Cost, Iteration, Limits, Method, Stop};
use crate::shooting::{Pieces, Shooting, shoot};
use crate::starts::{Start, search_all};
use crate::tolerance::{
    CAUCHY_THRESHOLD, HUBER_THRESHOLD, MEDIAN_DEVIATION, MOST_ROUNDS, POOR_ERROR, RANK_SHARE,
    RANK_TOLERANCES, RESTORED_COST, ROUNDED_FIT, SCALE_CHANGE, SECOND_LOOK,
};
use crate::unknown::{Quantity, Scaling, Unknown};
use paynter_base::number::{plain, rough, shortest};
use paynter_base::random::Random;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, QueryError, Remedy, Severity, code};
use paynter_numerics::program::Hold;

/// An estimated parameter, initial state, offset or gain, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Its name.
    pub name: String,
    /// Its unit as written in the model.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub factor: f64,
    /// Where the search started.
    pub start: f64,
    /// Its value.
    pub value: f64,
    /// Its bounds.
    pub bounds: (f64, f64),
    /// Its standard error; none where it is at a bound or not determined.
    pub standard_error: Option<f64>,
    /// The same if residuals were white.
    pub white_error: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<(f64, f64)>,
    /// The degrees of freedom by which its standard error is known.
    pub freedom: f64,
    /// Whether it is at a bound.
    pub at_bound: bool,
    /// Whether the search moved its logarithm.
    pub logarithmic: bool,
}

/// An experiment, as it was used.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentSummary {
    /// The file's name.
    pub name: String,
    /// The first and the last time of its samples.
    pub span: (f64, f64),
    /// The number of its samples that were fitted.
    pub fitted: usize,
    /// The number of all its samples.
    pub samples: usize,
    /// Whether it only validates; its initial states are then those of the first experiment.
    pub validates: bool,
}

/// What is estimated from data.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimation {
    /// The model's name.
    pub model: String,
    /// The method of the search.
    pub method: Method,
    /// The inputs, and whether the data measure them; the others are the model's own.
    pub inputs: Vec<(String, bool)>,
    /// What measured inputs do between samples.
    pub hold: Hold,
    /// How much a residual counts.
    pub loss: Loss,
    /// For each output, in units of its weighted residuals, where the loss departs from squares; none where it does not.
    pub thresholds: Vec<Option<f64>>,
    /// The solver of the simulations.
    pub solver: String,
    /// The experiments.
    pub experiments: Vec<ExperimentSummary>,
    /// The outputs that were fitted.
    pub outputs: Vec<FittedOutput>,
    /// The estimates.
    pub estimates: Vec<Estimate>,
    /// How well they are known.
    pub confidence: Confidence,
    /// The level of confidence of intervals.
    pub level: f64,
    /// The iterations of the best search, from its start.
    pub history: Vec<Iteration>,
    /// Why it ended.
    pub stop: Stop,
    /// The simulations of all experiments in it.
    pub simulations: usize,
    /// How well each output is reproduced.
    pub fits: Vec<Fit>,
    /// What the data determine at the start.
    pub before: Identifiability,
    /// What they determine at the estimate.
    pub after: Identifiability,
    /// How the search from each start went.
    pub starts: Vec<Start>,
    /// How the pieces of records were joined before, where records were simulated in pieces.
    pub shooting: Option<Shooting>,
    /// Curves for plots, where they were asked for.
    pub curves: Vec<Curve>,
    /// The profile likelihoods that were asked for.
    pub profiles: Vec<Profile>,
}

impl Estimation {
    /// The cost at the estimate: half the weighted sum of squares, or of the losses.
    pub fn cost(&self) -> f64 {
        self.history.last().map_or(f64::NAN, |last| last.cost)
    }
}

/// Data that have been read and a model that has been compiled for them: searched any number of times.
pub struct Prepared(Parts);

/// Reads the data and compiles the model.
pub fn prepare(
    asked: &mut Asked<'_, '_>,
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<Prepared, QueryError> {
    options.prepare(asked, token).map(Prepared)
}

impl Prepared {
    /// Searches for the smallest cost and judges the solution.
    pub fn estimate(
        &self,
        options: &EstimateOptions,
        validity: Validity<'_>,
        token: &CancellationToken,
    ) -> Result<Estimation, Rejection> {
        let Parts { inputs, simulation, unknowns, outputs, experiments, pieces, .. } = &self.0;
        let mut problem =
            Problem::new(simulation, unknowns.clone(), outputs.clone(), experiments.clone(), validity);
        problem.begin_beside_zero();
        let found = solve(problem, pieces.as_ref(), options, token)?;
        Ok(Estimation { inputs: inputs.clone(), ..found })
    }
}

/// Estimates parameters and initial states from measured data.
pub fn estimate(
    asked: &mut Asked<'_, '_>,
    options: &EstimateOptions,
    validity: Validity<'_>,
    token: &CancellationToken,
) -> Result<Estimation, QueryError> {
    let prepared = prepare(asked, options, token)?;
    let found = prepared.estimate(options, validity, token);
    let found = found.map_err(|rejection| no_cost(asked, &prepared.0, &rejection))?;
    asked.findings.extend(findings(&found));
    Ok(found)
}

/// Which singular values are rounding.
pub(crate) fn rank_share(options: &EstimateOptions) -> f64 {
    let fixed = matches!(options.solver.as_str(), "euler" | "rk4");
    if fixed { RANK_SHARE } else { (RANK_TOLERANCES * options.rtol).max(RANK_SHARE) }
}

/// Solves a problem and judges its solution.
fn solve(
    mut problem: Problem<'_>,
    pieces: Option<&Pieces>,
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<Estimation, Rejection> {
    let limits = Limits { iterations: options.iterations, rank: rank_share(options) };
    let choice = (options.method, limits);
    let given = problem.values(&problem.start());
    let mut shooting = None;
    let mut first = None;
    if let Some(pieces) = pieces {
        first = problem.evaluate(&problem.start(), token).ok();
        token.begin("pieces of the records", 0);
        let (z, told) = shoot(&problem, pieces, options.shots, limits.rank, token)?;
        for (unknown, z) in problem.unknowns.iter_mut().zip(&z) {
            unknown.start = unknown.value(*z);
        }
        shooting = Some(told);
    }
    let (mut found, starts) = search_all(&problem, choice, (options.starts, options.seed), token)?;
    if let Some(first) = &first {
        // The pieces lead from the given start to the first of the search.
        let start =
            Iteration { cost: first.cost, values: given.clone(), control: 0.0, simulations: problem.runs() };
        found.history.insert(0, start);
    }
    let begun = first.unwrap_or_else(|| found.first.clone());
    if options.loss != Loss::Squares || options.prior {
        for _ in 0..MOST_ROUNDS {
            let scales = NoiseScales::new(&problem, &found.evaluation, options.loss, token)?;
            let factor = match options.loss {
                Loss::Huber => HUBER_THRESHOLD,
                Loss::Cauchy => CAUCHY_THRESHOLD,
                Loss::Squares => 1.0,
            };
            // An output that is reproduced to the digit has no noise that a loss could be measured by.
            let penalty = |scale: &f64| match options.loss != Loss::Squares && *scale > 0.0 {
                true => Penalty { loss: options.loss, threshold: factor * scale },
                false => Penalty::SQUARES,
            };
            let penalties: Vec<Penalty> = scales.outputs.iter().map(penalty).collect();
            let noise = if options.prior { scales.whole } else { 0.0 };
            let near = |new: f64, known: f64| (new - known).abs() <= SCALE_CHANGE * new;
            let same = |(new, known): (&Penalty, &Penalty)| {
                new.loss == known.loss && near(new.threshold, known.threshold)
            };
            if scales.whole.is_nan()
                || near(noise, problem.noise) && penalties.iter().zip(&problem.penalties).all(same)
            {
                break;
            }
            (problem.penalties, problem.noise) = (penalties, noise);
            let before = std::mem::take(&mut found.history);
            let simulations = found.simulations;
            found = crate::search::search(&problem, choice, &found.evaluation.z, token)?;
            found.simulations += simulations;
            found.history.iter_mut().for_each(|iteration| iteration.simulations += simulations);
            // The first of the new search is the last of the one before, at another cost.
            let kept = before.len().saturating_sub(1);
            found.history.splice(0..0, before.into_iter().take(kept));
        }
    }
    let begun_at = if shooting.is_some() { &given } else { &found.history[0].values }.clone();
    if let Some(z) = put_back(&problem, &found.evaluation, &begun_at, limits.rank) {
        let within = z.iter().zip(problem.ranges()).all(|(z, (low, high))| (low..=high).contains(z));
        // What is not determined costs nothing; where it does, it stays.
        let slack = found.evaluation.cost * (1.0 + RESTORED_COST)
            + problem.size() * (limits.rank * limits.rank).max(f64::MIN_POSITIVE);
        match if within { problem.evaluate(&z, token) } else { Err(Rejection::Underived) } {
            Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
            Ok(back) if back.cost <= slack => {
                if let Some(last) = found.history.last_mut() {
                    (last.cost, last.values) = (back.cost, problem.values(&back.z));
                }
                found.evaluation = back;
            }
            _ => {}
        }
    }
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
    let curves = match options.curves {
        true => {
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
            curves(&problem, &numbers.iter().map(point).collect::<Vec<_>>(), token)?
        }
        false => Vec::new(),
    };
    let mut profiles = Vec::new();
    for (place, unknown) in problem.unknowns.iter().enumerate() {
        let plain = unknown.name.split('@').next().unwrap_or_default();
        if options.profiles.iter().any(|name| *name == unknown.name || *name == plain || name == "all") {
            token.begin("profile likelihoods", 0);
            profiles.push(profile(&problem, at, &confidence, place, limits, token)?);
        }
    }
    let estimates = problem.unknowns.iter().enumerate();
    let estimates = estimates
        .map(|(place, unknown)| estimated(unknown, at.z[place], &begun_at[place], &confidence, place));
    let experiments = problem.experiments.iter().map(|experiment| ExperimentSummary {
        name: experiment.name.clone(),
        span: (experiment.whole.t_start, experiment.whole.t_end),
        fitted: experiment.fitted,
        samples: experiment.whole.times.len(),
        validates: experiment.validates,
    });
    Ok(Estimation {
        model: problem.simulation.model.clone(),
        method: options.method,
        inputs: Vec::new(),
        hold: options.hold,
        loss: options.loss,
        thresholds: problem
            .penalties
            .iter()
            .map(|penalty| (penalty.loss != Loss::Squares).then_some(penalty.threshold))
            .collect(),
        solver: options.solver.clone(),
        experiments: experiments.collect(),
        outputs: problem.outputs.clone(),
        estimates: estimates.collect(),
        level: options.level,
        stop: found.stop,
        simulations: found.simulations,
        fits,
        before,
        after,
        starts,
        shooting,
        curves,
        profiles,
        confidence,
        history: found.history,
    })
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

/// The standard deviation of weighted residuals: for robust losses by the median, which far ones do not move.
struct NoiseScales {
    /// Of each output.
    outputs: Vec<f64>,
    /// Of all together.
    whole: f64,
}

impl NoiseScales {
    fn new(
        problem: &Problem<'_>,
        at: &Evaluation,
        loss: Loss,
        token: &CancellationToken,
    ) -> Result<NoiseScales, Rejection> {
        let mut sizes = vec![Vec::new(); problem.outputs.len()];
        for experiment in 0..problem.experiments.len() {
            if !problem.experiments[experiment].validates {
                problem.visit(experiment, &at.z, false, token, &mut |row| {
                    if row.weight != 0.0 {
                        sizes[row.output].push((row.weight * (row.model - row.data)).abs());
                    }
                })?;
            }
        }
        let unknowns = problem.unknowns.len() as f64;
        let scale = |sizes: &mut [f64], unknowns: f64| match loss {
            _ if sizes.is_empty() => 0.0,
            Loss::Squares => {
                let freedom = (sizes.len() as f64 - unknowns).max(1.0);
                (sizes.iter().map(|size| size * size).sum::<f64>() / freedom).sqrt()
            }
            Loss::Huber | Loss::Cauchy => {
                let middle = sizes.len() / 2;
                let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
                MEDIAN_DEVIATION * *median
            }
        };
        let mut all = sizes.concat();
        let whole = scale(&mut all, unknowns);
        Ok(NoiseScales { outputs: sizes.iter_mut().map(|own| scale(own, 0.0)).collect(), whole })
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

/// Says why the start has no cost.
fn no_cost(asked: &Asked<'_, '_>, parts: &Parts, rejection: &Rejection) -> QueryError {
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
fn findings(found: &Estimation) -> Diagnostics {
    let mut list = Diagnostics::new();
    for undetermined in &found.after.undetermined {
        let message = format!("{}; the search leaves the rest where it began", undetermined.words);
        list.push(Diagnostic::new(code::UNDETERMINED, message));
    }
    for estimate in &found.estimates {
        if estimate.value < estimate.bounds.0 || estimate.value > estimate.bounds.1 {
            let value = shortest(estimate.value / estimate.factor);
            let message = format!(
                "`{}` = {value} is outside its bounds, which this method does not know",
                estimate.name
            );
            let help =
                Remedy::marked("search with {option method=levenberg-marquardt}, which keeps to bounds");
            list.push(Diagnostic::new(code::AT_BOUND, message).help(help));
        } else if estimate.at_bound {
            let value = shortest(estimate.value / estimate.factor);
            let message =
                format!("`{}` is at its bound {value}, so that it has no standard error", estimate.name);
            list.push(Diagnostic::new(code::AT_BOUND, message));
        } else if let Some(error) = estimate.standard_error
            && error > POOR_ERROR * estimate.value.abs()
            // An offset is as good near zero as elsewhere.
            && !estimate.name.starts_with("offset(")
        {
            let told = match estimate.value == 0.0 {
                true => format!("{}, and its value 0", plain(error / estimate.factor, 3)),
                false => format!("{} % of it", plain(100.0 * error / estimate.value.abs(), 3)),
            };
            let message = format!("`{}` is poorly determined: its standard error is {told}", estimate.name);
            list.push(Diagnostic::new(code::UNDETERMINED, message));
        }
    }
    let mut told: Vec<&[usize]> = Vec::new();
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
    if !found.stop.is_converged() {
        let message = format!("the search did not converge: {}", found.stop.words());
        list.push(Diagnostic::new(code::NOT_CONVERGED, message));
    }
    if found.confidence.corrected {
        // What rounding leaves of an exact fit has a memory, but nobody's model lacks anything for it.
        let rounding = |series: &&Whiteness| {
            let own = |fit: &&Fit| (fit.experiment, fit.output) == (series.experiment, series.output);
            found.fits.iter().find(own).is_some_and(|fit| fit.share > ROUNDED_FIT)
        };
        let worst =
            found.confidence.whiteness.iter().filter(|series| !series.is_white() && !rounding(series));
        let worst = worst.max_by(|a, b| a.statistic.total_cmp(&b.statistic));
        if let Some(worst) = worst {
            let message = format!(
                "the residuals of `{}` are not white (autocorrelation {} from sample to sample); standard errors are \
                 corrected by an autoregressive model of order {}",
                found.outputs[worst.output].column.name,
                rough(worst.autocorrelation.get(1).copied().unwrap_or(0.0)),
                worst.order
            );
            let diagnostic = Diagnostic::new(code::COLOURED_RESIDUALS, message);
            list.push(Diagnostic { severity: Severity::Note, ..diagnostic });
        }
    }
    list
}
