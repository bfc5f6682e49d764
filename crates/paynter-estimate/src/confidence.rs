//! Standard errors and correlations, corrected for residuals that are not white.

use crate::distribution::student_quantile;
use crate::loss::Loss;
use crate::problem::{Evaluation, Problem, Rejection, Row};
use crate::residuals::Whiteness;
use crate::tolerance::{DIRECTION_SHARE, MOST_HELD, MOST_LAG_PRODUCTS, RESTORED_ROUNDS};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{SingularValues, Triangle};
use std::collections::VecDeque;

/// How well the unknowns are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Standard errors in SI; none for what is at a bound, fixed or not determined.
    pub standard_errors: Vec<Option<f64>>,
    /// The same if residuals were white.
    pub white_errors: Vec<Option<f64>>,
    /// The correlation of each pair of unknowns, row by row; none where one of them has no standard error.
    pub correlation: Vec<Vec<Option<f64>>>,
    /// Half the width of the confidence interval over the standard error.
    pub quantile: f64,
    /// Degrees of freedom: residuals that count as independent less the unknowns.
    pub freedom: f64,
    /// Whether standard errors are corrected for autocorrelated residuals.
    pub corrected: bool,
    /// What the residuals of each output in each experiment tell.
    pub whiteness: Vec<Whiteness>,
    /// How much the cost rises along each unknown where all others follow: half the square of a number of standard
    /// errors times this, as far as it is a parabola; none where there is no standard error.
    pub(crate) rises: Vec<Option<f64>>,
}

/// Which unknowns are free to move at a solution: neither fixed nor at a bound.
pub(crate) fn is_free(problem: &Problem<'_>, z: &[f64]) -> Vec<bool> {
    let free = |(unknown, z): (&crate::Unknown, &f64)| {
        let (low, high) = unknown.range();
        !unknown.fixed && *z != low && *z != high
    };
    problem.unknowns.iter().zip(z).map(free).collect()
}

/// Calculates standard errors at a solution. Every sample that was measured is handed on, those that validate too.
pub(crate) fn confidence(
    problem: &Problem<'_>,
    at: &Evaluation,
    rank_share: f64,
    level: f64,
    token: &CancellationToken,
    each: &mut dyn FnMut(usize, &Row<'_>),
) -> Result<Confidence, Rejection> {
    let n = problem.unknowns.len();
    let free: Vec<usize> =
        (0..n).zip(is_free(problem, &at.z)).filter(|(_, free)| *free).map(|(j, _)| j).collect();
    let m = free.len();
    // The influence of every residual, and the rows that it multiplies.
    let mut series = blank(problem);
    let mut triangle = Triangle::new(m);
    let (mut bends, mut count) = (0.0, 0usize);
    let mut line = vec![0.0; m];
    let values: usize = problem.experiments.iter().map(crate::Experiment::count).sum();
    let mut held: Option<Vec<Held>> = (values * m <= MOST_HELD).then(Vec::new);
    for (experiment, lists) in series.iter_mut().enumerate() {
        let fitted = problem.experiments[experiment].fitted;
        problem.visit(experiment, &at.z, true, token, &mut |row| {
            each(experiment, row);
            if row.sample >= fitted || row.weight == 0.0 {
                return;
            }
            let residual = row.weight * (row.model - row.data);
            lists[row.output][row.sample] = problem.penalty.of(residual).1 * residual;
            bends += problem.penalty.curvature(residual);
            count += 1;
            for (entry, j) in line.iter_mut().zip(&free) {
                *entry = row.weight * row.slopes[*j];
            }
            triangle.push(&line);
            if let Some(held) = &mut held {
                held.push(Held { experiment, output: row.output, sample: row.sample, line: line.clone() });
            }
        })?;
    }
    let bend = if count == 0 { 1.0 } else { bends / count as f64 };
    let priors: Vec<Vec<f64>> = prior_rows(problem, &at.z, &free);
    for row in &priors {
        triangle.push(&row.iter().map(|entry| entry / bend.sqrt()).collect::<Vec<f64>>());
    }
    let rows = triangle.rows().to_vec();
    let most_lags = MOST_LAG_PRODUCTS / (count.max(1) * (m * m).max(1));
    let judged = series.iter().enumerate().flat_map(|(experiment, lists)| {
        lists
            .iter()
            .enumerate()
            .map(move |(output, list)| Whiteness::new(experiment, output, list, most_lags))
    });
    let mut whiteness: Vec<Whiteness> = judged.filter(|found| found.count > 0).collect();
    let corrected = whiteness.iter().any(|found| !found.is_white());
    let lost = count as f64 / (count as f64 - m as f64).max(1.0);
    let decomposed = SingularValues::new(m, &rows);
    let rank = decomposed.as_ref().map_or(0, |found| found.rank(rank_share));
    // H⁺ = V Σ⁻² Vᵀ.
    let inverse = |a: usize, b: usize| {
        decomposed.as_ref().map_or(0.0, |found| {
            (0..rank).map(|k| found.right[k][a] * found.right[k][b] / found.values[k].powi(2)).sum::<f64>()
        })
    };
    let inverse: Vec<Vec<f64>> = (0..m).map(|a| (0..m).map(|b| inverse(a, b)).collect()).collect();
    let even = whiteness.len() == 1 && problem.penalty.loss == Loss::Squares && priors.is_empty();
    let variance = |a: usize, covariance: &[Vec<f64>]| covariance[a][a];
    let ask = Middle { problem, at, free: &free, inverse: &inverse, priors: &priors, bend, held: &held };
    let white = match even {
        true => scaled(&inverse, lost * whiteness[0].covariance[0]),
        false => {
            let bare: Vec<Whiteness> = whiteness.iter().map(Whiteness::bare).collect();
            ask.sandwich(&bare, lost, token)?
        }
    };
    let full = match (corrected, &held) {
        (false, _) => white.clone(),
        (true, None) => ask.sandwich(&whiteness, lost, token)?,
        (true, Some(rows)) => {
            let mut full = ask.sandwich(&whiteness, 1.0, token)?;
            for _ in 0..RESTORED_ROUNDS {
                for series in &mut whiteness {
                    let taken = taken(rows, series, &full, bend);
                    series.restore(&taken);
                }
                full = ask.sandwich(&whiteness, 1.0, token)?;
            }
            full
        }
    };
    let determined: Vec<bool> = (0..m)
        .map(|a| match &decomposed {
            None => false,
            Some(found) => (rank..m).all(|k| found.right[k][a].abs() < DIRECTION_SHARE),
        })
        .collect();
    let error = |covariance: &[Vec<f64>]| {
        let mut list = vec![None; n];
        for (a, j) in free.iter().enumerate().filter(|(a, _)| determined[*a]) {
            let slope = problem.unknowns[*j].slope(at.z[*j]);
            list[*j] = Some(variance(a, covariance).max(0.0).sqrt() * slope.abs());
        }
        list
    };
    let mut rises = vec![None; n];
    for (a, j) in free.iter().enumerate().filter(|(a, _)| determined[*a]) {
        rises[*j] = Some(bend * full[a][a] / inverse[a][a]).filter(|rise| *rise > 0.0 && rise.is_finite());
    }
    let mut correlation = vec![vec![None; n]; n];
    for (a, i) in free.iter().enumerate().filter(|(a, _)| determined[*a]) {
        for (b, j) in free.iter().enumerate().filter(|(b, _)| determined[*b]) {
            let size = (full[a][a] * full[b][b]).sqrt();
            let sign = |k: usize| problem.unknowns[k].slope(at.z[k]).signum();
            let value = if a == b { 1.0 } else { (full[a][b] / size).clamp(-1.0, 1.0) * sign(*i) * sign(*j) };
            correlation[*i][*j] = Some(value).filter(|value| value.is_finite());
        }
    }
    let effective: f64 = whiteness.iter().map(Whiteness::effective).sum();
    let freedom = (effective - rank as f64).max(1.0);
    Ok(Confidence {
        standard_errors: error(&full),
        white_errors: error(&white),
        correlation,
        quantile: student_quantile(0.5 + 0.5 * level, freedom),
        freedom,
        corrected,
        whiteness,
        rises,
    })
}

/// Lists for the residuals of the fitted samples: by experiment, output, sample.
fn blank(problem: &Problem<'_>) -> Vec<Vec<Vec<f64>>> {
    let lists = |experiment: &crate::Experiment| match experiment.validates {
        true => Vec::new(),
        false => vec![vec![f64::NAN; experiment.fitted]; problem.outputs.len()],
    };
    problem.experiments.iter().map(lists).collect()
}

/// The rows that priors add to the sensitivities of what is free.
fn prior_rows(problem: &Problem<'_>, z: &[f64], free: &[usize]) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for (a, j) in free.iter().enumerate().filter(|_| problem.noise > 0.0) {
        if let Some((_, deviation)) = problem.unknowns[*j].prior {
            let mut row = vec![0.0; free.len()];
            row[a] = problem.noise / deviation * problem.unknowns[*j].slope(z[*j]);
            rows.push(row);
        }
    }
    rows
}

fn scaled(matrix: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
    matrix.iter().map(|row| row.iter().map(|entry| entry * factor).collect()).collect()
}

/// The weighted derivatives of a sample by what is free.
struct Held {
    experiment: usize,
    output: usize,
    sample: usize,
    line: Vec<f64>,
}

/// The autocovariance of what the fitted curve has followed of the noise in a series, Σ g_k' V g_{k+τ}/n with the
/// covariance V of the estimates: so much is missing in that of the residuals.
fn taken(rows: &[Held], series: &Whiteness, covariance: &[Vec<f64>], bend: f64) -> Vec<f64> {
    let own = |row: &&Held| (row.experiment, row.output) == (series.experiment, series.output);
    let own: Vec<&Held> = rows.iter().filter(own).collect();
    let turned = |row: &Held| -> Vec<f64> {
        covariance.iter().map(|line| line.iter().zip(&row.line).map(|(v, g)| v * g).sum()).collect()
    };
    let mut sums = vec![0.0; series.lags()];
    for (k, row) in own.iter().enumerate() {
        let turned = turned(row);
        for other in &own[k..] {
            let Some(sum) = sums.get_mut(other.sample - row.sample) else { break };
            *sum += turned.iter().zip(&other.line).map(|(v, g)| v * g).sum::<f64>();
        }
    }
    let scale = bend * bend / own.len().max(1) as f64;
    sums.iter().map(|sum| sum * scale).collect()
}

/// What stands between residuals and the covariance of estimates.
struct Middle<'a, 'b> {
    problem: &'a Problem<'b>,
    at: &'a Evaluation,
    free: &'a [usize],
    inverse: &'a [Vec<f64>],
    priors: &'a [Vec<f64>],
    bend: f64,
    held: &'a Option<Vec<Held>>,
}

/// Takes the experiment, output and sample of a row, and its derivatives.
type EachRow<'a> = dyn FnMut(usize, usize, usize, &[f64]) + 'a;

impl Middle<'_, '_> {
    /// Hands on the weighted derivatives of every fitted sample: those that are held, or those of another run.
    fn rows(&self, token: &CancellationToken, each: &mut EachRow<'_>) -> Result<(), Rejection> {
        if let Some(held) = self.held {
            held.iter().for_each(|row| each(row.experiment, row.output, row.sample, &row.line));
            return Ok(());
        }
        let mut line = vec![0.0; self.free.len()];
        for experiment in 0..self.problem.experiments.len() {
            if self.problem.experiments[experiment].validates {
                continue;
            }
            self.problem.visit(experiment, &self.at.z, false, token, &mut |row| {
                if row.weight == 0.0 {
                    return;
                }
                for (entry, j) in line.iter_mut().zip(self.free) {
                    *entry = row.weight * row.slopes[*j];
                }
                each(experiment, row.output, row.sample, &line);
            })?;
        }
        Ok(())
    }

    /// H⁻¹ M H⁻¹ with M = Σ c(τ) Σ_k g_k g_{k+τ}ᵀ: the covariance of estimates whose residuals have the
    /// autocovariance c.
    fn sandwich(
        &self,
        whiteness: &[Whiteness],
        lost: f64,
        token: &CancellationToken,
    ) -> Result<Vec<Vec<f64>>, Rejection> {
        let m = self.free.len();
        let outputs = self.problem.outputs.len();
        let mut middle = vec![vec![0.0; m]; m];
        let mut whole = vec![0.0; m];
        let blank: &[f64] = &[];
        let mut covariances = vec![blank; self.problem.experiments.len() * outputs];
        for series in whiteness {
            covariances[series.experiment * outputs + series.output] = &series.covariance;
        }
        // The last rows of each series, the newest first, with the numbers of their samples.
        let mut kept: Vec<VecDeque<(usize, Vec<f64>)>> = vec![VecDeque::new(); covariances.len()];
        self.rows(token, &mut |experiment, output, number, own| {
            let place = experiment * outputs + output;
            let (covariance, past) = (covariances[place], &mut kept[place]);
            let Some(own_variance) = covariance.first() else { return };
            // Own and earlier rows, each by its covariance with this one; half of its own, which is counted twice.
            whole.iter_mut().zip(own).for_each(|(sum, g)| *sum = 0.5 * own_variance * g);
            for (sample, other) in past.iter() {
                // What is older is out of memory as well.
                let Some(c) = covariance.get(number - sample) else { break };
                whole.iter_mut().zip(other).for_each(|(sum, g)| *sum += c * g);
            }
            for a in 0..m {
                for b in 0..m {
                    middle[a][b] += own[a] * whole[b] + whole[a] * own[b];
                }
            }
            past.push_front((number, own.to_vec()));
            past.truncate(covariance.len().saturating_sub(1));
        })?;
        for row in &mut middle {
            row.iter_mut().for_each(|entry| *entry *= lost);
        }
        let noise = self.problem.noise;
        for row in self.priors {
            for a in 0..m {
                for b in 0..m {
                    middle[a][b] += noise * noise * row[a] * row[b];
                }
            }
        }
        let product = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..m).map(|i| (0..m).map(|j| (0..m).map(|k| a[i][k] * b[k][j]).sum()).collect()).collect()
        };
        let whole = product(&product(self.inverse, &middle), self.inverse);
        Ok(scaled(&whole, 1.0 / (self.bend * self.bend)))
    }
}
