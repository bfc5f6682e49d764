//! Design of experiments: what planned inputs and sample times would determine, before anything is measured, by the
//! Fisher information of the sensitivities at the model's values.

use crate::estimation::rank_share;
use crate::identifiability::{Identifiability, moved, scaled, sizes};
use crate::problem::{Experiment, Problem, Rejection, Validity, Weights};
use crate::question::{Asked, EstimateOptions, refuse};
use crate::records::Recorded;
use crate::search::Cost;
use crate::tolerance::{
    ASSUMED_NOISE, DIRECTION_SHARE, EVEN_SAMPLES, MOST_PLANNED, PLANNED_SAMPLES, ROUNDED_COUNT,
};
use paynter_base::number::{plain, shortest};
use paynter_base::{CancellationToken, QueryError, Remedy};
use paynter_graph::flat_name;
use paynter_numerics::linalg::SingularValues;
use paynter_simulate::data::{ClockNotes, Record};

/// What is planned, beside what an estimation is asked for: its data hold inputs only, and without data the model's
/// own inputs act.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanOptions {
    /// The standard deviation of the noise of outputs, in their units; where empty, all outputs are measured.
    pub noise: Vec<(String, f64)>,
    /// The end of an experiment without data.
    pub t_end: Option<f64>,
    /// The times between samples that are compared; where empty, those of the data.
    pub sample_times: Vec<f64>,
}

/// What a planned experiment would determine.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The file of its inputs, or what else acts.
    pub name: String,
    /// The time between samples, on average where they are not even.
    pub sample_time: f64,
    /// Whether samples are evenly spaced.
    pub even: bool,
    /// The number of samples.
    pub samples: usize,
    /// The standard deviation of the noise of each output, in SI.
    pub noise: Vec<(String, f64)>,
    /// What is estimated: its name, unit and size of that in SI, its value, and the standard error to be expected;
    /// none where the experiment does not determine it.
    pub predictions: Vec<Prediction>,
    /// Which directions the experiment determines.
    pub identifiability: Identifiability,
    /// The logarithm of the determinant of the Fisher information of relative changes (D-optimality); none where it
    /// is singular.
    pub information: Option<f64>,
}

/// How well an unknown would be known, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Its name.
    pub name: String,
    /// Its unit as written in the model.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub factor: f64,
    /// The value at which it is planned.
    pub value: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
}

/// Predicts what planned experiments determine.
pub fn plan(
    asked: &mut Asked<'_, '_>,
    options: &EstimateOptions,
    planned: &PlanOptions,
    validity: Validity<'_>,
    token: &CancellationToken,
) -> Result<Vec<Plan>, QueryError> {
    options.check()?;
    let graph = asked.subject.graph;
    for (name, noise) in &planned.noise {
        if !graph.outputs.iter().any(|output| flat_name(&output.name) == flat_name(name)) {
            return Err(refuse(
                format!("there is no output `{name}` that noise could be added to"),
                "name an output",
            ));
        }
        if !(*noise > 0.0 && noise.is_finite()) {
            return Err(refuse(
                format!("the noise {} of `{name}` is not positive", shortest(*noise)),
                "give the standard deviation of the noise, in the unit of the output",
            ));
        }
    }
    let records = match options.data.is_empty() {
        true => vec![own_inputs(asked, planned)?],
        false => options.read(asked, &options.data, &options.map)?,
    };
    let inputs = graph.inputs.len();
    let measured = |place: usize| {
        let name = flat_name(&graph.outputs[place].name);
        planned.noise.is_empty() || planned.noise.iter().any(|(known, _)| flat_name(known) == name)
    };
    let mut plans = Vec::new();
    // Each is an experiment of its own: what is local to one has no other.
    for mut recorded in records {
        let count = recorded.record.times.len();
        for place in 0..graph.outputs.len() {
            recorded.record.columns[inputs + place] = measured(place).then(|| vec![0.0; count]);
        }
        let question = EstimateOptions { data: Vec::new(), validation: Vec::new(), ..options.clone() };
        let parts = question.assemble(asked, std::slice::from_ref(&recorded), token)?;
        let own = mean_step(&recorded.record.times);
        let steps = if planned.sample_times.is_empty() { vec![own] } else { planned.sample_times.clone() };
        for step in steps {
            let mut experiment = parts.experiments[0].clone();
            if !planned.sample_times.is_empty() {
                sample_anew(&mut experiment, step)?;
            }
            let mut problem = Problem::new(
                &parts.simulation,
                parts.unknowns.clone(),
                parts.outputs.clone(),
                vec![experiment],
                validity,
            );
            let found = predict(&mut problem, planned, rank_share(options), token);
            let found = found.map_err(|rejection| match rejection {
                Rejection::Cancelled => QueryError::Cancelled,
                _ => refuse(
                    format!(
                        "the planned experiment `{}` cannot be simulated at the model's values",
                        recorded.name
                    ),
                    Remedy::marked("try it with {ask simulate}"),
                ),
            })?;
            let even = !planned.sample_times.is_empty() || is_even(&recorded.record.times);
            plans.push(Plan { name: recorded.name.clone(), sample_time: step, even, ..found });
        }
    }
    Ok(plans)
}

/// A record without data: the model's own inputs until the end.
fn own_inputs(asked: &Asked<'_, '_>, planned: &PlanOptions) -> Result<Recorded, QueryError> {
    let Some(end) = planned.t_end.filter(|end| *end > 0.0 && end.is_finite()) else {
        return Err(refuse(
            "a planned experiment without data has no end",
            Remedy::marked("give {option t_end} in seconds, or the inputs as {option data}"),
        ));
    };
    let graph = asked.subject.graph;
    let times = (0..=PLANNED_SAMPLES).map(|k| end * k as f64 / PLANNED_SAMPLES as f64).collect();
    let columns = vec![None; graph.inputs.len() + graph.outputs.len()];
    Ok(Recorded {
        name: "the model's own inputs".to_owned(),
        record: Record { times, columns, unused: Vec::new(), clock: ClockNotes::default() },
    })
}

fn mean_step(times: &[f64]) -> f64 {
    (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64
}

/// Whether times are as far apart as on average.
fn is_even(times: &[f64]) -> bool {
    let step = mean_step(times);
    times.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= EVEN_SAMPLES * step)
}

/// Takes samples at other times of the same experiment.
fn sample_anew(experiment: &mut Experiment, step: f64) -> Result<(), QueryError> {
    let (start, end) = (experiment.whole.t_start, experiment.whole.t_end);
    let count = ((end - start) / step * (1.0 + ROUNDED_COUNT)).floor();
    if step.is_nan() || step <= 0.0 || count < 1.0 {
        return Err(refuse(
            format!(
                "a sample time of {} s is longer than the experiment, which takes {} s",
                shortest(step),
                shortest(end - start)
            ),
            Remedy::marked("give {option sample_time} in seconds, shorter than the experiment"),
        ));
    }
    if count > MOST_PLANNED {
        return Err(refuse(
            format!(
                "a sample time of {} s makes {} samples of an experiment of {} s, more than {}",
                shortest(step),
                plain(count, 3),
                shortest(end - start),
                plain(MOST_PLANNED, 3)
            ),
            "plan fewer: errors fall with one over the square root of the number of samples",
        ));
    }
    let times: Vec<f64> = (0..=count as usize).map(|k| start + k as f64 * step).collect();
    experiment.measured.iter_mut().for_each(|list| *list = vec![0.0; times.len()]);
    experiment.fitted = times.len();
    experiment.whole.times.clone_from(&times);
    experiment.part = experiment.whole.clone();
    Ok(())
}

/// The standard errors that the Fisher information promises: none is smaller (Cramér and Rao).
fn predict(
    problem: &mut Problem<'_>,
    planned: &PlanOptions,
    share: f64,
    token: &CancellationToken,
) -> Result<Plan, Rejection> {
    let z = problem.start();
    let mut largest = vec![0.0_f64; problem.outputs.len()];
    problem.visit(0, &z, false, token, &mut |row| {
        largest[row.output] = largest[row.output].max(row.model.abs())
    })?;
    let noise: Vec<(String, f64)> = problem
        .outputs
        .iter()
        .zip(&largest)
        .map(|(output, largest)| {
            let given = planned.noise.iter().find(|(name, _)| flat_name(name) == output.column.name);
            let assumed = if *largest > 0.0 { ASSUMED_NOISE * largest } else { 1.0 };
            (output.column.name.clone(), given.map_or(assumed, |(_, noise)| noise * output.column.factor))
        })
        .collect();
    problem.experiments[0].weights = noise.iter().map(|(_, noise)| Weights::Even(1.0 / noise)).collect();
    let at = problem.evaluate(&z, token)?;
    let elsewhere = || problem.evaluate(&moved(problem, &at), token).ok();
    let identifiability = Identifiability::new(problem, &at, &elsewhere, share);
    let n = problem.unknowns.len();
    let by = sizes(problem, &at);
    let found = SingularValues::new(n, &scaled(&at.sensitivities(), &by));
    let rank = found.as_ref().map_or(0, |found| found.rank(share));
    let predictions = problem.unknowns.iter().enumerate().map(|(j, unknown)| {
        let error = found.as_ref();
        let error = error.filter(|found| (rank..n).all(|k| found.right[k][j].abs() < DIRECTION_SHARE));
        let error = error.map(|found| {
            let variance: f64 = (0..rank).map(|k| (found.right[k][j] / found.values[k]).powi(2)).sum();
            variance.sqrt() * by[j] * unknown.derivative(z[j]).abs()
        });
        Prediction {
            name: unknown.name.clone(),
            unit: unknown.unit.clone(),
            factor: unknown.factor,
            value: unknown.value(z[j]),
            standard_error: error,
        }
    });
    let predictions = predictions.collect();
    let full = identifiability.rank == n;
    let information =
        full.then(|| identifiability.singular_values.iter().map(|value| 2.0 * value.ln()).sum());
    Ok(Plan {
        name: String::new(),
        sample_time: 0.0,
        even: true,
        samples: problem.experiments[0].whole.times.len(),
        noise,
        predictions,
        identifiability,
        information,
    })
}
