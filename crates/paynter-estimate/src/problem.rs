//! The least squares problem: experiments, unknowns, and one simulation of each experiment that gives residuals
//! and their derivatives row by row.

use crate::identifiability::sizes;
use crate::loss::Penalty;
use crate::search::Cost;
use crate::tolerance::{BESIDE_ZERO, DIFFERENCE_STEP, EFFECTLESS, NEXT_TO_NOTHING};
use crate::unknown::{Quantity, Scaling, Unknown};
use paynter_base::CancellationToken;
use paynter_numerics::Tables;
use paynter_numerics::linalg::Triangle;
use paynter_simulate::experiment::{Column, Simulation};
use paynter_simulate::{Failure, Options, Outcome};

/// A measured output that is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedOutput {
    /// Its place among the outputs of a run.
    pub place: usize,
    /// Its name and unit.
    pub column: Column,
}

/// What was measured in an experiment, ready to be compared with a run.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The file's name.
    pub name: String,
    /// The measured inputs beside the model's own tables.
    pub tables: Tables,
    /// The samples of each fitted output, NaN where one is missing.
    pub measured: Vec<Vec<f64>>,
    /// The square root of the weight of each sample of each output.
    pub weights: Vec<Weights>,
    /// So many samples are fitted; those after them validate.
    pub fitted: usize,
    /// How all samples are simulated.
    pub whole: Options,
    /// How those that are fitted are simulated.
    pub part: Options,
    /// Whether nothing of it is fitted: its unknowns are those of the first experiment.
    pub validates: bool,
}

/// The outputs above and below a value, and how far these are apart.
type Quotients = (Vec<f64>, Vec<f64>, f64);

impl Experiment {
    /// The number of measured values that are fitted; a weight of zero leaves one out.
    pub fn count(&self) -> usize {
        let of = |(list, weights): (&Vec<f64>, &Weights)| {
            let fitted = list.iter().take(self.fitted).enumerate();
            fitted.filter(|(sample, value)| !value.is_nan() && weights.at(*sample) != 0.0).count()
        };
        self.measured.iter().zip(&self.weights).map(of).sum()
    }
}

/// Square roots of weights.
#[derive(Debug, Clone, PartialEq)]
pub enum Weights {
    /// The same for all samples.
    Even(f64),
    /// One for each sample.
    Each(Vec<f64>),
}

impl Weights {
    /// The square root of the weight of a sample.
    pub fn at(&self, sample: usize) -> f64 {
        match self {
            Weights::Even(weight) => *weight,
            Weights::Each(list) => list[sample],
        }
    }
}

/// A sample of an output beside its measured value.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub output: usize,
    pub sample: usize,
    pub model: f64,
    pub data: f64,
    /// The square root of its weight.
    pub weight: f64,
    /// The derivatives of the model's value by the variables of the search.
    pub sensitivities: &'a [f64],
}

/// How a derivative of an output is made.
enum By {
    /// From this sensitivity of the run.
    Lane { lane: usize, factor: f64 },
    /// It is the offset of the sensor.
    Offset(f64),
    /// It is the gain of the sensor.
    Gain(f64),
}

/// Why values of the unknowns give no cost.
#[derive(Debug, Clone, PartialEq)]
pub enum Rejection {
    /// The work was cancelled.
    Cancelled,
    /// The run of an experiment ended early.
    Failed {
        /// Which experiment.
        experiment: usize,
        /// How the run went.
        outcome: Box<Outcome>,
        /// With which parameters.
        parameters: Vec<f64>,
    },
    /// An output or a derivative of it has no finite value.
    NotFinite {
        /// Which experiment.
        experiment: usize,
        /// Which fitted output.
        output: usize,
        /// When.
        t: f64,
        /// The unknown by which it is differentiated, if it is a derivative.
        unknown: Option<usize>,
    },
    /// The equations were derived for other values: a parameter has changed its sign.
    Underived,
}

/// The cost at values of the unknowns, with the triangle of the weighted sensitivities and residuals.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
    pub z: Vec<f64>,
    pub cost: f64,
    /// Row by row, of one column more than there are unknowns: the last is that of the residuals.
    pub triangle: Vec<f64>,
    /// The number of residuals.
    pub residuals: usize,
}

/// Whether the equations hold for given parameters of a run.
pub type Validity<'a> = &'a (dyn Fn(&[f64]) -> bool + Sync);

/// The least squares problem.
pub struct Problem<'a> {
    /// The compiled model.
    pub simulation: &'a Simulation,
    /// What is estimated.
    pub unknowns: Vec<Unknown>,
    /// The outputs that are fitted.
    pub outputs: Vec<FittedOutput>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// How much the residuals of each output count.
    pub(crate) penalties: Vec<Penalty>,
    /// The standard deviation of the noise by which priors are measured; zero where they do not count.
    pub(crate) noise: f64,
    /// Tells whether the equations hold where a parameter has another sign.
    pub validity: Validity<'a>,
}

impl<'a> Problem<'a> {
    /// A problem of plain least squares.
    pub fn new(
        simulation: &'a Simulation,
        unknowns: Vec<Unknown>,
        outputs: Vec<FittedOutput>,
        experiments: Vec<Experiment>,
        validity: Validity<'a>,
    ) -> Problem<'a> {
        Problem {
            simulation,
            unknowns,
            penalties: vec![Penalty::SQUARES; outputs.len()],
            outputs,
            experiments,
            noise: 0.0,
            validity,
        }
    }

    /// The same problem with other unknowns fixed or free, or another start.
    pub(crate) fn with_unknowns(&self, unknowns: Vec<Unknown>) -> Problem<'a> {
        let (outputs, experiments) = (self.outputs.clone(), self.experiments.clone());
        Problem { unknowns, outputs, experiments, penalties: self.penalties.clone(), ..*self }
    }

    /// The variables of the search at the start.
    pub(crate) fn start(&self) -> Vec<f64> {
        self.unknowns.iter().map(|unknown| unknown.to_search(unknown.start)).collect()
    }

    /// The parameters of the run of an experiment.
    pub(crate) fn parameters(&self, experiment: usize, values: &[f64]) -> Vec<f64> {
        let mut parameters = self.simulation.parameters.clone();
        for (unknown, value) in self.unknowns.iter().zip(values) {
            if let Quantity::Simulated { place, .. } = unknown.quantity
                && self.belongs(unknown, experiment)
            {
                parameters[place] = *value;
            }
        }
        parameters
    }

    /// Whether an unknown takes part in an experiment; what validates goes on from the first.
    pub(crate) fn belongs(&self, unknown: &Unknown, experiment: usize) -> bool {
        let own = if self.experiments[experiment].validates { 0 } else { experiment };
        unknown.experiment.is_none_or(|only| only == own)
    }

    /// Whether parameters have the signs for which the equations were derived, or these hold all the same.
    pub(crate) fn is_derived(&self, parameters: &[f64]) -> bool {
        let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
        let turned = |unknown: &Unknown| match unknown.quantity {
            Quantity::Simulated { place, .. } if unknown.signed => {
                sign(self.simulation.parameters[place]) != sign(parameters[place])
            }
            _ => false,
        };
        !self.unknowns.iter().any(turned) || (self.validity)(parameters)
    }

    /// Where the equations do not hold for parameters that start at zero, as a resistance by which they divide, the
    /// search begins beside it, on the side for which they were derived.
    pub(crate) fn begin_beside_zero(&mut self) {
        let values: Vec<f64> = self.unknowns.iter().map(|unknown| unknown.start).collect();
        if (0..self.experiments.len()).all(|number| self.is_derived(&self.parameters(number, &values))) {
            return;
        }
        for unknown in &mut self.unknowns {
            if let Quantity::Simulated { place, .. } = unknown.quantity
                && unknown.signed
                && unknown.start == 0.0
            {
                let beside = BESIDE_ZERO * self.simulation.parameters[place];
                unknown.start = beside.clamp(unknown.lower, unknown.upper);
            }
        }
    }

    /// Notes which unknowns are next to a bound of zero at the end of a search that a step along each would pass, where the equations
    /// do not hold at zero: they have reached it as far as they can.
    pub(crate) fn hold_beside_zero(&mut self, at: &Evaluation) {
        let (gradient, lengths) = (at.gradient(), at.lengths());
        let passes = |j: &usize| {
            let (unknown, z) = (&self.unknowns[*j], at.z[*j]);
            let bound = if z > 0.0 { unknown.lower } else { unknown.upper };
            let near = unknown.signed
                && bound == 0.0
                && !unknown.fixed
                && matches!(unknown.scaling, Scaling::Linear(_))
                && z.abs() <= NEXT_TO_NOTHING;
            let mut zero = at.z.clone();
            zero[*j] = 0.0;
            let (values, experiment) = (self.values(&zero), unknown.experiment.unwrap_or(0));
            near && gradient[*j] * z.signum() > z.abs() * lengths[*j] * lengths[*j]
                && !self.is_derived(&self.parameters(experiment, &values))
        };
        let held: Vec<usize> = (0..self.unknowns.len()).filter(passes).collect();
        held.into_iter().for_each(|j| self.unknowns[j].beside_zero = true);
    }

    /// Takes sensitivities for none where the unknown, changed by its own size, moves the outputs by less than rounding
    /// beside the data: a mass that sticks moves by what rounding leaves of balanced forces.
    fn forget_rounding(&self, found: &mut Evaluation, size: f64) {
        let width = found.count() + 1;
        for (j, length) in found.lengths().into_iter().enumerate() {
            let (unknown, z) = (&self.unknowns[j], found.z[j]);
            let value = unknown.value(z).abs();
            // What is next to nothing has no size of its own.
            let has_size =
                !matches!(unknown.scaling, Scaling::Linear(scale) if value <= NEXT_TO_NOTHING * scale);
            if has_size && length * value <= EFFECTLESS * size * unknown.derivative(z).abs() {
                found.triangle.iter_mut().skip(j).step_by(width).for_each(|entry| *entry = 0.0);
            }
        }
    }

    /// The derivatives of the unknowns by the variables of the search; zero for those that take no part.
    pub(crate) fn chain(&self, experiment: usize, z: &[f64]) -> Vec<f64> {
        let derivative =
            |(unknown, z): (&Unknown, &f64)| match self.belongs(unknown, experiment) && !unknown.fixed {
                true => unknown.derivative(*z),
                false => 0.0,
            };
        self.unknowns.iter().zip(z).map(derivative).collect()
    }

    /// The gain and the offset of the sensor of an output in an experiment.
    pub(crate) fn sensor(&self, experiment: usize, output: usize, values: &[f64]) -> (f64, f64) {
        let (mut gain, mut offset) = (1.0, 0.0);
        let own = self.unknowns.iter().zip(values).filter(|(unknown, _)| self.belongs(unknown, experiment));
        for (unknown, value) in own {
            match unknown.quantity {
                Quantity::Gain(own) if own == output => gain = *value,
                Quantity::Offset(own) if own == output => offset = *value,
                _ => {}
            }
        }
        (gain, offset)
    }

    /// Simulates an experiment, and hands on every measured sample with its derivatives. Where a law has an infinite
    /// derivative on the way (a root at zero), sensitivities have no values from there on though outputs do; their
    /// derivatives are then difference quotients.
    pub(crate) fn visit(
        &self,
        experiment: usize,
        z: &[f64],
        all: bool,
        token: &CancellationToken,
        each: &mut dyn FnMut(&Row<'_>),
    ) -> Result<(), Rejection> {
        let mut handed = 0;
        let found = self.simulate(experiment, z, (all, true), token, &mut |row| {
            handed += 1;
            each(row);
        });
        match found {
            Err(Rejection::NotFinite { unknown: Some(_), .. }) => {
                self.visit_by_differences(experiment, z, all, token, handed, each)
            }
            found => found,
        }
    }

    /// Hands on the rows after the first ones, with difference quotients for derivatives.
    fn visit_by_differences(
        &self,
        experiment: usize,
        z: &[f64],
        all: bool,
        token: &CancellationToken,
        handed: usize,
        each: &mut dyn FnMut(&Row<'_>),
    ) -> Result<(), Rejection> {
        let outputs = |z: &[f64]| {
            let mut list = Vec::new();
            self.simulate(experiment, z, (all, false), token, &mut |row| list.push(row.model)).map(|()| list)
        };
        let mut columns: Vec<Option<Quotients>> = Vec::new();
        for (j, unknown) in self.unknowns.iter().enumerate() {
            if unknown.fixed || !self.belongs(unknown, experiment) {
                columns.push(None);
                continue;
            }
            let half = DIFFERENCE_STEP * z[j].abs().max(DIFFERENCE_STEP);
            let beside =
                |by: f64| z.iter().enumerate().map(|(k, z)| if k == j { z + by } else { *z }).collect();
            let (above, below): (Vec<f64>, Vec<f64>) = (beside(half), beside(-half));
            columns.push(Some((outputs(&above)?, outputs(&below)?, 2.0 * half)));
        }
        let mut sensitivities = vec![0.0; self.unknowns.len()];
        let mut number = 0;
        self.simulate(experiment, z, (all, false), token, &mut |row| {
            let at = number;
            number += 1;
            if at < handed {
                return;
            }
            for (derivative, column) in sensitivities.iter_mut().zip(&columns) {
                *derivative =
                    column.as_ref().map_or(0.0, |(above, below, width)| (above[at] - below[at]) / width);
            }
            each(&Row { sensitivities: &sensitivities, ..*row });
        })
    }

    /// How the derivatives of an output by the variables of the search that move it are made, with the gain of its sensor.
    fn derivatives_of(&self, output: usize, chain: &[f64], gain: f64) -> Vec<(usize, By)> {
        let by = |(place, (unknown, chain)): (usize, (&Unknown, &f64))| {
            let by = match unknown.quantity {
                _ if *chain == 0.0 => return None,
                Quantity::Simulated { lane, .. } => By::Lane { lane, factor: gain * chain },
                Quantity::Offset(own) if own == output => By::Offset(*chain),
                Quantity::Gain(own) if own == output => By::Gain(*chain),
                _ => return None,
            };
            Some((place, by))
        };
        self.unknowns.iter().zip(chain).enumerate().filter_map(by).collect()
    }

    /// Simulates an experiment, and hands on every measured sample, with its sensitivities where they are wanted.
    fn simulate(
        &self,
        experiment: usize,
        z: &[f64],
        (all, sensitive): (bool, bool),
        token: &CancellationToken,
        each: &mut dyn FnMut(&Row<'_>),
    ) -> Result<(), Rejection> {
        let record = &self.experiments[experiment];
        let values = self.values(z);
        let parameters = self.parameters(experiment, &values);
        if !self.is_derived(&parameters) {
            return Err(Rejection::Underived);
        }
        let chain = self.chain(experiment, z);
        let sensors: Vec<(f64, f64)> =
            (0..self.outputs.len()).map(|output| self.sensor(experiment, output, &values)).collect();
        let lanes = self.simulation.wanted.len();
        let by: Vec<Vec<(usize, By)>> =
            (0..self.outputs.len())
                .map(|output| {
                    if sensitive {
                        self.derivatives_of(output, &chain, sensors[output].0)
                    } else {
                        Vec::new()
                    }
                })
                .collect();
        let mut sensitivities = vec![0.0; self.unknowns.len()];
        let mut sample_number = 0;
        let mut wrong: Option<Rejection> = None;
        let options = if all { &record.whole } else { &record.part };
        let outcome = self.simulation.trial(&parameters, &record.tables, options, token, &mut |sample| {
            let number = sample_number;
            sample_number += 1;
            for (output, fitted) in self.outputs.iter().enumerate() {
                let data = record.measured[output][number];
                if data.is_nan() || wrong.is_some() {
                    continue;
                }
                let bare = sample.outputs[fitted.place];
                let derivatives = &sample.sensitivities[fitted.place * lanes..];
                let (gain, offset) = sensors[output];
                sensitivities.fill(0.0);
                let mut sum = 0.0;
                for (place, by) in &by[output] {
                    let derivative = match by {
                        By::Lane { lane, factor } => derivatives[*lane] * factor,
                        By::Offset(chain) => *chain,
                        By::Gain(chain) => bare * chain,
                    };
                    sensitivities[*place] = derivative;
                    sum += derivative;
                }
                let model = gain * bare + offset;
                // A sum that is finite has finite terms.
                if !(model + sum).is_finite()
                    && (!model.is_finite() || sensitivities.iter().any(|derivative| !derivative.is_finite()))
                {
                    let bad = sensitivities.iter().position(|derivative| !derivative.is_finite());
                    let unknown = bad.filter(|_| model.is_finite());
                    wrong = Some(Rejection::NotFinite { experiment, output, t: sample.t, unknown });
                    continue;
                }
                let weight = record.weights[output].at(number);
                each(&Row { output, sample: number, model, data, weight, sensitivities: &sensitivities });
            }
        });
        match (outcome.failure, wrong) {
            (Some(Failure::Cancelled), _) => Err(Rejection::Cancelled),
            (_, Some(wrong)) => Err(wrong),
            (Some(_), None) => Err(Rejection::Failed { experiment, outcome: Box::new(outcome), parameters }),
            (None, None) => Ok(()),
        }
    }
}

impl Cost for Problem<'_> {
    fn evaluate(&self, z: &[f64], token: &CancellationToken) -> Result<Evaluation, Rejection> {
        let count = self.unknowns.len();
        let mut triangle = Triangle::new(count + 1);
        let (mut cost, mut size) = (0.0, 0.0);
        let mut line = vec![0.0; count + 1];
        for experiment in 0..self.experiments.len() {
            if self.experiments[experiment].validates {
                continue;
            }
            self.visit(experiment, z, false, token, &mut |row| {
                if row.weight == 0.0 {
                    return;
                }
                let residual = row.weight * (row.model - row.data);
                let (rho, share) = self.penalties[row.output].of(residual);
                cost += 0.5 * rho;
                size += (row.weight * row.data).powi(2);
                let scale = share.sqrt();
                for (entry, derivative) in line.iter_mut().zip(row.sensitivities) {
                    *entry = scale * row.weight * derivative;
                }
                line[count] = scale * residual;
                triangle.push(&line);
            })?;
        }
        let residuals = triangle.taken();
        if self.noise > 0.0 {
            for (place, unknown) in self.unknowns.iter().enumerate().filter(|(_, unknown)| !unknown.fixed) {
                let Some((mean, deviation)) = unknown.prior else { continue };
                let scale = self.noise / deviation;
                line.fill(0.0);
                line[place] = scale * unknown.derivative(z[place]);
                line[count] = scale * (unknown.value(z[place]) - mean);
                cost += 0.5 * line[count] * line[count];
                triangle.push(&line);
            }
        }
        if !cost.is_finite() {
            return Err(Rejection::NotFinite { experiment: 0, output: 0, t: 0.0, unknown: None });
        }
        let mut found = Evaluation { z: z.to_vec(), cost, triangle: triangle.rows().to_vec(), residuals };
        if self.noise == 0.0 {
            self.forget_rounding(&mut found, size.sqrt());
        }
        Ok(found)
    }

    fn sizes(&self, at: &Evaluation) -> Vec<f64> {
        sizes(self, at)
    }

    fn ranges(&self) -> Vec<(f64, f64)> {
        self.unknowns.iter().map(Unknown::range).collect()
    }

    fn turned(&self, from: &[f64], to: &[f64]) -> Vec<usize> {
        let passes = |j: &usize| {
            let unknown = &self.unknowns[*j];
            unknown.signed && matches!(unknown.scaling, Scaling::Linear(_)) && from[*j] * to[*j] <= 0.0
        };
        let passing: Vec<usize> = (0..self.unknowns.len()).filter(passes).collect();
        let alone = |j: &usize| {
            let mut z = from.to_vec();
            z[*j] = to[*j];
            let (values, experiment) = (self.values(&z), self.unknowns[*j].experiment.unwrap_or(0));
            !self.is_derived(&self.parameters(experiment, &values))
        };
        let by: Vec<usize> = passing.iter().copied().filter(alone).collect();
        if by.is_empty() { passing } else { by }
    }

    fn values(&self, z: &[f64]) -> Vec<f64> {
        self.unknowns.iter().zip(z).map(|(unknown, z)| unknown.value(*z)).collect()
    }

    fn runs(&self) -> usize {
        self.experiments.iter().filter(|experiment| !experiment.validates).count()
    }

    fn size(&self) -> f64 {
        let of = |(list, weights): (&Vec<f64>, &Weights)| -> f64 {
            let known = list.iter().enumerate().filter(|(_, value)| !value.is_nan());
            known.map(|(k, value)| (weights.at(k) * value).powi(2)).sum()
        };
        let fitted = self.experiments.iter().filter(|experiment| !experiment.validates);
        fitted.map(|record| 0.5 * record.measured.iter().zip(&record.weights).map(of).sum::<f64>()).sum()
    }
}

impl Evaluation {
    /// The number of unknowns.
    pub fn count(&self) -> usize {
        self.z.len()
    }

    /// The triangle of the sensitivities alone, row by row.
    pub fn sensitivities(&self) -> Vec<f64> {
        let n = self.count();
        (0..n).flat_map(|i| self.triangle[i * (n + 1)..i * (n + 1) + n].iter().copied()).collect()
    }

    /// The residuals turned into the columns of the triangle.
    pub fn turned(&self) -> Vec<f64> {
        let n = self.count();
        (0..n).map(|i| self.triangle[i * (n + 1) + n]).collect()
    }

    /// The gradient of the cost.
    pub fn gradient(&self) -> Vec<f64> {
        let (n, turned) = (self.count(), self.turned());
        (0..n).map(|j| (0..=j).map(|i| self.triangle[i * (n + 1) + j] * turned[i]).sum()).collect()
    }

    /// The length of each column of the sensitivities.
    pub fn lengths(&self) -> Vec<f64> {
        let n = self.count();
        let length = |j: usize| (0..=j).fold(0.0_f64, |sum, i| sum.hypot(self.triangle[i * (n + 1) + j]));
        (0..n).map(length).collect()
    }

    /// The change of the cost that the linear model of the residuals predicts for a step.
    pub fn predicted(&self, step: &[f64]) -> f64 {
        let n = self.count();
        let turned = self.turned();
        let mut change = 0.0;
        for i in 0..n {
            let along: f64 = (i..n).map(|j| self.triangle[i * (n + 1) + j] * step[j]).sum();
            change += along * (turned[i] + 0.5 * along);
        }
        change
    }
}
