//! Samples with their sensitivities, gathered by output and experiment in one run each.

use crate::problem::{Evaluation, Problem, Rejection, Row};
use crate::tolerance::MOST_HELD;
use paynter_base::CancellationToken;
use paynter_numerics::linalg::Triangle;

/// The samples of one output in one experiment.
pub(super) struct Series {
    /// The influence of every residual, NaN where there is none.
    pub influences: Vec<f64>,
    /// The triangle of their weighted derivatives by what is free.
    pub triangle: Triangle,
    /// The sum of those derivatives by the influences.
    pub cross: Vec<f64>,
    /// The sum of squares of the weighted data.
    pub size: f64,
    /// The sum of the derivatives of the influences.
    bends: f64,
    pub count: usize,
}

impl Series {
    /// The sum of squares of the influences.
    pub fn squares(&self) -> f64 {
        self.influences.iter().filter(|value| value.is_finite()).map(|value| value * value).sum()
    }

    /// How much the influence of a residual changes with it, on average. Most residuals are within the threshold of a
    /// loss that is fitted to them, so that it is above zero.
    pub fn bend(&self) -> f64 {
        if self.count == 0 { 1.0 } else { (self.bends / self.count as f64).max(f64::EPSILON) }
    }
}

/// The weighted derivatives of a sample by what is free, later whitened.
pub(super) struct Held {
    pub experiment: usize,
    pub output: usize,
    pub sample: usize,
    pub line: Vec<f64>,
}

/// What the runs of all experiments tell at a solution.
pub(super) struct Samples {
    /// One for each output in each experiment, one experiment after the other.
    pub series: Vec<Series>,
    /// All samples; none where they are too many to be held.
    pub held: Option<Vec<Held>>,
}

impl Samples {
    /// Runs all experiments. Every sample that was measured is handed on, those that validate too.
    pub fn gather(
        problem: &Problem<'_>,
        at: &Evaluation,
        free: &[usize],
        token: &CancellationToken,
        each: &mut dyn FnMut(usize, &Row<'_>),
    ) -> Result<Samples, Rejection> {
        let (m, outputs) = (free.len(), problem.outputs.len());
        let mut series: Vec<Series> = blank(problem, m);
        let mut line = vec![0.0; m];
        let values: usize = problem.experiments.iter().map(crate::Experiment::count).sum();
        let mut held: Option<Vec<Held>> = (values * m <= MOST_HELD).then(Vec::new);
        for experiment in 0..problem.experiments.len() {
            let fitted = problem.experiments[experiment].fitted;
            problem.visit(experiment, &at.z, true, token, &mut |row| {
                each(experiment, row);
                if row.sample >= fitted || row.weight == 0.0 {
                    return;
                }
                let residual = row.weight * (row.model - row.data);
                let own = &mut series[experiment * outputs + row.output];
                let penalty = problem.penalties[row.output];
                own.influences[row.sample] = penalty.of(residual).1 * residual;
                own.size += (row.weight * row.data).powi(2);
                own.bends += penalty.curvature(residual);
                own.count += 1;
                for (entry, j) in line.iter_mut().zip(free) {
                    *entry = row.weight * row.sensitivities[*j];
                }
                let influence = own.influences[row.sample];
                own.cross.iter_mut().zip(&line).for_each(|(sum, entry)| *sum += influence * entry);
                own.triangle.push(&line);
                if let Some(held) = &mut held {
                    held.push(Held {
                        experiment,
                        output: row.output,
                        sample: row.sample,
                        line: line.clone(),
                    });
                }
            })?;
        }
        Ok(Samples { series, held })
    }
}

/// A series for each output in each experiment, one experiment after the other; those that validate are empty.
fn blank(problem: &Problem<'_>, free: usize) -> Vec<Series> {
    let of = |fitted: usize| Series {
        influences: vec![f64::NAN; fitted],
        triangle: Triangle::new(free),
        cross: vec![0.0; free],
        size: 0.0,
        bends: 0.0,
        count: 0,
    };
    let lists = problem.experiments.iter().flat_map(|experiment| {
        let fitted = if experiment.validates { 0 } else { experiment.fitted };
        (0..problem.outputs.len()).map(move |_| of(fitted))
    });
    lists.collect()
}
