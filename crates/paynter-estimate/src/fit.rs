//! How well a model fits: residuals per output, for what was fitted and for what validates, and curves for plots.

use crate::problem::{Experiment, Problem, Rejection, Row};
use paynter_base::CancellationToken;

/// What samples are compared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// They are fitted.
    Estimation,
    /// They were kept to validate.
    Validation,
}

/// How well an output of an experiment is reproduced.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The experiment.
    pub experiment: usize,
    /// The fitted output.
    pub output: usize,
    /// Fitted, or kept to validate.
    pub part: Part,
    /// The number of samples.
    pub samples: usize,
    /// The root of the mean square of the residuals, in SI.
    pub rms: f64,
    /// 1 − |z − y|/|z − mean of z|: 1 where all is reproduced, 0 where the mean does as well.
    pub share: f64,
}

/// Measured and simulated samples of an output in an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The experiment.
    pub experiment: usize,
    /// The fitted output.
    pub output: usize,
    /// The times of samples that were measured.
    pub t: Vec<f64>,
    /// What was measured, in SI.
    pub measured: Vec<f64>,
    /// What the model gives at these iterations.
    pub model: Vec<(usize, Vec<f64>)>,
}

/// Sums over the samples of an output.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// The first value: around it squares lose fewer digits.
    first: f64,
    count: usize,
    squares: f64,
    data: f64,
    data_squares: f64,
}

impl Sums {
    fn add(&mut self, row: &Row<'_>) {
        if self.count == 0 {
            self.first = row.data;
        }
        let about = row.data - self.first;
        self.count += 1;
        self.squares += (row.model - row.data).powi(2);
        self.data += about;
        self.data_squares += about * about;
    }
}

/// Compares samples with the model as a run hands them on.
pub(crate) struct FitSums {
    /// The fitted samples of each experiment, and its sums by output, of those that are fitted and those that validate.
    experiments: Vec<(usize, Vec<[Sums; 2]>)>,
}

impl FitSums {
    pub fn new(problem: &Problem<'_>) -> FitSums {
        let blank = vec![[Sums::default(); 2]; problem.outputs.len()];
        let of = |experiment: &Experiment| (experiment.fitted, blank.clone());
        FitSums { experiments: problem.experiments.iter().map(of).collect() }
    }

    /// Takes a sample.
    pub fn add(&mut self, experiment: usize, row: &Row<'_>) {
        let (fitted, sums) = &mut self.experiments[experiment];
        sums[row.output][usize::from(row.sample >= *fitted)].add(row);
    }

    /// How well each output of each experiment is reproduced.
    pub fn fits(&self) -> Vec<Fit> {
        let mut fits = Vec::new();
        for (experiment, (_, outputs)) in self.experiments.iter().enumerate() {
            for (output, parts) in outputs.iter().enumerate() {
                let parts = parts.iter().zip([Part::Estimation, Part::Validation]);
                for (sum, part) in parts.filter(|(sum, _)| sum.count > 0) {
                    let count = sum.count as f64;
                    let spread = (sum.data_squares - sum.data * sum.data / count).max(0.0);
                    let share = 1.0 - (sum.squares / spread).sqrt();
                    fits.push(Fit {
                        experiment,
                        output,
                        part,
                        samples: sum.count,
                        rms: (sum.squares / count).sqrt(),
                        share: if share.is_finite() { share } else { f64::NAN },
                    });
                }
            }
        }
        fits
    }
}

/// The curves of all outputs at some iterations of a search.
pub(crate) fn curves(
    problem: &Problem<'_>,
    iterations: &[(usize, Vec<f64>)],
    token: &CancellationToken,
) -> Result<Vec<Curve>, Rejection> {
    let mut curves = Vec::new();
    for (experiment, record) in problem.experiments.iter().enumerate() {
        let own = curves.len();
        curves.extend((0..problem.outputs.len()).map(|output| Curve {
            experiment,
            output,
            t: Vec::new(),
            measured: Vec::new(),
            model: Vec::new(),
        }));
        for (place, list) in record.measured.iter().enumerate() {
            let known = record.whole.times.iter().zip(list).filter(|(_, value)| !value.is_nan());
            (curves[own + place].t, curves[own + place].measured) =
                known.map(|(t, value)| (*t, *value)).unzip();
        }
        for (number, z) in iterations {
            let mut lists = vec![Vec::new(); problem.outputs.len()];
            match problem.visit(experiment, z, true, token, &mut |row| lists[row.output].push(row.model)) {
                Ok(()) => {}
                Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
                // A run that ended early is shown as far as it came.
                Err(_) => {}
            }
            for (curve, list) in curves[own..].iter_mut().zip(lists) {
                curve.model.push((*number, list));
            }
        }
    }
    curves.retain(|curve| !curve.t.is_empty());
    Ok(curves)
}
