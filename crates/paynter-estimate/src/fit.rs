//! How well a model fits: residuals per output, for what was fitted and for what validates, and curves for plots.

use crate::problem::{Problem, Rejection};
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
    count: usize,
    squares: f64,
    data: f64,
    data_squares: f64,
}

/// Compares all samples with the model.
pub(crate) fn fits(
    problem: &Problem<'_>,
    z: &[f64],
    token: &CancellationToken,
) -> Result<Vec<Fit>, Rejection> {
    let mut fits = Vec::new();
    for (experiment, record) in problem.experiments.iter().enumerate() {
        let mut sums = vec![[Sums::default(); 2]; problem.outputs.len()];
        // Around the first value squares lose fewer digits.
        let first: Vec<f64> = record
            .measured
            .iter()
            .map(|list| list.iter().copied().find(|x| x.is_finite()).unwrap_or(0.0))
            .collect();
        problem.visit(experiment, z, true, token, &mut |row| {
            let sum = &mut sums[row.output][usize::from(row.sample >= record.fitted)];
            let about = row.data - first[row.output];
            sum.count += 1;
            sum.squares += (row.model - row.data).powi(2);
            sum.data += about;
            sum.data_squares += about * about;
        })?;
        for (output, parts) in sums.iter().enumerate() {
            for (sum, part) in parts.iter().zip([Part::Estimation, Part::Validation]) {
                if sum.count == 0 {
                    continue;
                }
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
    Ok(fits)
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
