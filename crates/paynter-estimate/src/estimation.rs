//! An estimation from its question to its answer.

use crate::assemble::Parts;
use crate::confidence::Confidence;
use crate::findings::{findings, no_cost};
use crate::fit::{Curve, Fit};
use crate::identifiability::Identifiability;
use crate::loss::Loss;
use crate::problem::{FittedOutput, Problem, Rejection, Validity};
use crate::profile::Profile;
use crate::question::{Asked, EstimateOptions};
use crate::search::{Iteration, Method, Stop};
use crate::shooting::Shooting;
use crate::solution::solve;
use crate::starts::Start;
use crate::tolerance::{RANK_SHARE, RANK_TOLERANCES};
use paynter_base::{CancellationToken, QueryError};
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

/// Where the part of the unknowns that data do not determine is after a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Where the search began.
    AtStart,
    /// Somewhere on the way of the search, as bounds do not let it be put back.
    Bounded,
    /// Where the search has met values that fit: those that fit as well do not lie on a straight line.
    Elsewhere,
}

/// How an unknown acts that has no sensitivity at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acting {
    /// Without any sensitivity, by jumps between samples.
    ByJumps,
    /// With a sensitivity at other values.
    Elsewhere,
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
    /// Where what the data do not determine is.
    pub rest: Rest,
    /// Unknowns without sensitivities at the estimate that act all the same.
    pub acting: Vec<(String, Acting)>,
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
