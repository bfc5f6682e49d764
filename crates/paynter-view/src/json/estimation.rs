//! The answer of `paynter estimate`.

use super::{Diagnostic, finite};
use paynter_estimate as est;
use paynter_numerics::program::Hold;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Parameters and initial states estimated from measured data, in SI.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimation {
    /// Whether the model has no error and something was estimated.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The method of the search: `gauss-newton` or `levenberg-marquardt`.
    pub method: String,
    /// The inputs that the data measure; the others are the model's own.
    pub measured_inputs: Vec<String>,
    /// What measured inputs do between samples: `linear` or `zero`.
    pub hold: String,
    /// How much a residual counts: `squares`, `huber` or `cauchy`.
    pub loss: String,
    /// The residual, in units of weighted ones, at which the loss departs from squares; `null` for squares, and where
    /// several outputs have their own (`thresholds`).
    pub threshold: Option<f64>,
    /// The same for each output that does not count by squares.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<String, f64>,
    /// The solver of the simulations.
    pub solver: String,
    /// The estimates by name.
    pub estimates: BTreeMap<String, Estimated>,
    /// The names of the estimates in the order of the matrix of correlations.
    pub names: Vec<String>,
    /// The correlation of each pair of estimates; `null` where one of them has no standard error.
    pub correlation: Vec<Vec<Option<f64>>>,
    /// The level of the confidence intervals.
    pub confidence: f64,
    /// Degrees of freedom: residuals that count as independent less the estimates.
    pub degrees_of_freedom: f64,
    /// Whether standard errors are corrected for autocorrelated residuals.
    pub autocorrelation_corrected: bool,
    /// Whether the search converged.
    pub converged: bool,
    /// Why the search ended.
    pub stopped: String,
    /// The cost at the estimate: half the weighted sum of squares, or of the losses.
    pub cost: f64,
    /// Simulations of experiments in the best search.
    pub simulations: usize,
    /// The start, then every iteration.
    pub iterations: Vec<Iteration>,
    /// The root of the mean square of all fitted residuals, in SI.
    pub residual_rms: f64,
    /// How well each output of each experiment is reproduced.
    pub fits: Vec<Fit>,
    /// What the residuals of each output in each experiment tell.
    pub residuals: Vec<Residuals>,
    /// What the data determine, at the start and at the estimate.
    pub identifiability: Identifiabilities,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// How the search from each start went.
    pub starts: Vec<Start>,
    /// How pieces of records were joined before the search, where records were simulated in pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shooting: Option<Shooting>,
    /// The profile likelihoods that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// The model with the estimates written into it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// An estimate, in SI.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimated {
    /// Its value.
    pub value: f64,
    /// Its standard error; `null` where it is at a bound or not determined.
    pub std_error: Option<f64>,
    /// The same if residuals were white.
    pub std_error_white: Option<f64>,
    /// The ends of its confidence interval.
    pub interval: Option<[f64; 2]>,
    /// The degrees of freedom by which its standard error is known.
    pub degrees_of_freedom: Option<f64>,
    /// Where the search started.
    pub start: f64,
    /// Its bounds; `null` for one that is not there.
    pub bounds: [Option<f64>; 2],
    /// Whether it is at a bound.
    pub at_bound: bool,
    /// Whether the search moved its logarithm.
    pub logarithmic: bool,
    /// The unit that it is shown in to people.
    pub value_unit: Option<String>,
}

/// One iteration of the search.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Iteration {
    /// The cost.
    pub cost: f64,
    /// The values of what is estimated.
    pub parameters: BTreeMap<String, f64>,
    /// The share of the step that was taken (Gauss-Newton), or the damping (Levenberg-Marquardt).
    pub control: f64,
    /// The simulations so far.
    pub simulations: usize,
}

/// How well an output is reproduced.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fit {
    /// The output.
    pub output: String,
    /// The experiment's file.
    pub experiment: String,
    /// `estimation` for samples that were fitted, `validation` for those that were kept.
    pub part: String,
    /// The number of samples.
    pub samples: usize,
    /// The root of the mean square of the residuals, in SI.
    pub rms: f64,
    /// The normalised fit 1 − |z − y|/|z − mean of z|; `null` where what was measured does not vary.
    pub fit: Option<f64>,
}

/// What residuals tell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Residuals {
    /// The output.
    pub output: String,
    /// The experiment's file.
    pub experiment: String,
    /// Whether nothing speaks against white residuals.
    pub white: bool,
    /// The statistic of Ljung and Box.
    pub statistic: f64,
    /// What it is below for white residuals in 99 of 100 cases.
    pub limit: f64,
    /// The order of the autoregressive model by which standard errors are corrected; 0 where there is none.
    pub order: usize,
    /// The autocorrelation from lag 0 on.
    pub autocorrelation: Vec<f64>,
}

/// What the data determine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Identifiabilities {
    /// At the start.
    pub before: Identifiability,
    /// At the estimate.
    pub after: Identifiability,
}

/// What the data determine at one point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Identifiability {
    /// The number of directions that the data determine.
    pub rank: usize,
    /// The singular values of the sensitivities by relative changes, the largest first.
    pub singular_values: Vec<f64>,
    /// Their singular vectors: relative changes of the estimates by name.
    pub directions: Vec<BTreeMap<String, f64>>,
    /// What is not determined.
    pub undetermined: Vec<Undetermined>,
}

/// Unknowns that the data determine only together, or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Undetermined {
    /// The unknowns.
    pub names: Vec<String>,
    /// What is determined of them: products, quotients or sums.
    pub determined: Vec<String>,
    /// What it is, in words.
    pub words: String,
}

/// An experiment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Experiment {
    /// Its file.
    pub file: String,
    /// The first and the last time.
    pub span: [f64; 2],
    /// The number of samples that were fitted.
    pub fitted: usize,
    /// The number of all samples.
    pub samples: usize,
    /// Whether it only validates.
    pub validates: bool,
}

/// How pieces of records were joined.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shooting {
    /// The number of pieces of all records.
    pub pieces: usize,
    /// The iterations that joined them.
    pub iterations: usize,
    /// The simulations of pieces.
    pub simulations: usize,
}

/// How the search from one start went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Start {
    /// Where it started.
    pub start: BTreeMap<String, f64>,
    /// Where it ended; `null` where the start has no cost.
    pub values: Option<BTreeMap<String, f64>>,
    /// The cost there.
    pub cost: Option<f64>,
    /// Whether it converged.
    pub converged: bool,
    /// Its iterations.
    pub iterations: usize,
}

/// The profile likelihood of an estimate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Profile {
    /// The estimate.
    pub name: String,
    /// Its values, in SI.
    pub values: Vec<f64>,
    /// The smallest cost with each of them.
    pub costs: Vec<f64>,
    /// The cost at the ends of the interval.
    pub limit: f64,
    /// The ends of the interval; `null` for one that was not reached.
    pub interval: [Option<f64>; 2],
}

impl Identifiability {
    pub(super) fn new(found: &est::Identifiability) -> Identifiability {
        let direction = |list: &Vec<f64>| found.names.iter().cloned().zip(list.iter().copied()).collect();
        let undetermined = found.undetermined.iter().map(|entry| Undetermined {
            names: entry.names.clone(),
            determined: entry.determined.clone(),
            words: entry.words.clone(),
        });
        Identifiability {
            rank: found.rank,
            singular_values: found.singular_values.clone(),
            directions: found.directions.iter().map(direction).collect(),
            undetermined: undetermined.collect(),
        }
    }
}

impl Estimated {
    fn new(estimate: &est::Estimate) -> Estimated {
        Estimated {
            value: estimate.value,
            std_error: estimate.standard_error,
            std_error_white: estimate.white_error,
            interval: estimate.interval.map(|(low, high)| [low, high]),
            degrees_of_freedom: estimate.standard_error.map(|_| estimate.freedom),
            start: estimate.start,
            bounds: [finite(estimate.bounds.0), finite(estimate.bounds.1)],
            at_bound: estimate.at_bound,
            logarithmic: estimate.logarithmic,
            value_unit: estimate.unit.clone(),
        }
    }
}

impl Iteration {
    fn new(iteration: &est::Iteration, names: &[String]) -> Iteration {
        Iteration {
            cost: iteration.cost,
            parameters: by_name(names, &iteration.values),
            control: iteration.control,
            simulations: iteration.simulations,
        }
    }
}

impl Fit {
    fn new(fit: &est::Fit, found: &est::Estimation) -> Fit {
        Fit {
            output: found.outputs[fit.output].column.name.clone(),
            experiment: found.experiments[fit.experiment].name.clone(),
            part: part(fit.part).to_owned(),
            samples: fit.samples,
            rms: fit.rms,
            fit: finite(fit.share),
        }
    }
}

impl Residuals {
    fn new(series: &est::Whiteness, found: &est::Estimation) -> Residuals {
        Residuals {
            output: found.outputs[series.output].column.name.clone(),
            experiment: found.experiments[series.experiment].name.clone(),
            white: series.is_white(),
            statistic: series.statistic,
            limit: series.limit,
            order: series.order,
            autocorrelation: series.autocorrelation.clone(),
        }
    }
}

impl Start {
    fn new(start: &est::Start, names: &[String]) -> Start {
        Start {
            start: by_name(names, &start.start),
            values: (!start.values.is_empty()).then(|| by_name(names, &start.values)),
            cost: finite(start.cost),
            converged: start.stop.is_some_and(est::Stop::is_converged),
            iterations: start.iterations,
        }
    }
}

impl Experiment {
    fn new(experiment: &est::ExperimentSummary) -> Experiment {
        Experiment {
            file: experiment.name.clone(),
            span: [experiment.span.0, experiment.span.1],
            fitted: experiment.fitted,
            samples: experiment.samples,
            validates: experiment.validates,
        }
    }
}

fn by_name(names: &[String], values: &[f64]) -> BTreeMap<String, f64> {
    names.iter().cloned().zip(values.iter().copied()).collect()
}

impl Estimation {
    /// Writes down an estimation.
    pub fn new(found: &est::Estimation, diagnostics: Vec<Diagnostic>) -> Estimation {
        let names: Vec<String> = found.estimates.iter().map(|estimate| estimate.name.clone()).collect();
        let fitted = found.fits.iter().filter(|fit| fit.part == est::Part::Estimation);
        let (squares, samples) = fitted.fold((0.0, 0), |(squares, samples), fit| {
            (squares + fit.rms * fit.rms * fit.samples as f64, samples + fit.samples)
        });
        let measured = found.inputs.iter().filter(|(_, measured)| *measured);
        let thresholds = found.outputs.iter().zip(&found.thresholds);
        let thresholds = thresholds.filter_map(|(output, at)| Some((output.column.name.clone(), (*at)?)));
        let whiteness = found.confidence.whiteness.iter();
        Estimation {
            ok: true,
            model: found.model.clone(),
            method: found.method.name().to_owned(),
            measured_inputs: measured.map(|(name, _)| name.clone()).collect(),
            hold: hold(found.hold).to_owned(),
            loss: found.loss.name().to_owned(),
            threshold: if found.thresholds.len() == 1 { found.thresholds[0] } else { None },
            thresholds: thresholds.collect(),
            solver: found.solver.clone(),
            estimates: names.iter().cloned().zip(found.estimates.iter().map(Estimated::new)).collect(),
            correlation: found.confidence.correlation.clone(),
            confidence: found.level,
            degrees_of_freedom: found.confidence.freedom,
            autocorrelation_corrected: found.confidence.corrected,
            converged: found.stop.is_converged(),
            stopped: found.stop.words().to_owned(),
            cost: found.cost(),
            simulations: found.simulations,
            iterations: found.history.iter().map(|iteration| Iteration::new(iteration, &names)).collect(),
            residual_rms: (squares / f64::max(samples as f64, 1.0)).sqrt(),
            fits: found.fits.iter().map(|fit| Fit::new(fit, found)).collect(),
            residuals: whiteness.map(|series| Residuals::new(series, found)).collect(),
            identifiability: Identifiabilities {
                before: Identifiability::new(&found.before),
                after: Identifiability::new(&found.after),
            },
            experiments: found.experiments.iter().map(Experiment::new).collect(),
            starts: found.starts.iter().map(|start| Start::new(start, &names)).collect(),
            shooting: found.shooting.as_ref().map(|told| Shooting {
                pieces: told.pieces,
                iterations: told.iterations,
                simulations: told.simulations,
            }),
            profiles: found.profiles.iter().map(Profile::new).collect(),
            written: None,
            diagnostics,
            names,
        }
    }
}

impl Profile {
    fn new(found: &est::Profile) -> Profile {
        Profile {
            name: found.name.clone(),
            values: found.points.iter().map(|(value, _)| *value).collect(),
            costs: found.points.iter().map(|(_, cost)| *cost).collect(),
            limit: found.limit,
            interval: [found.interval.0, found.interval.1],
        }
    }
}

/// The word for samples that are fitted or kept.
fn part(part: est::Part) -> &'static str {
    match part {
        est::Part::Estimation => "estimation",
        est::Part::Validation => "validation",
    }
}

/// The word for what inputs do between samples.
fn hold(hold: Hold) -> &'static str {
    match hold {
        Hold::Linear => "linear",
        Hold::Zero => "zero",
    }
}
