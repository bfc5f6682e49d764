//! The covariance of estimates whose residuals may be coloured.

use super::series::Held;
use crate::coloured::ColouredSum;
use crate::problem::{Evaluation, Problem, Rejection};
use crate::residuals::Whiteness;
use paynter_base::CancellationToken;
use paynter_numerics::linalg::SingularValues;

/// Rows of sensitivities in the directions that the data determine, each in units of what they tell of it: u = Wᵀg with
/// W Wᵀ = H⁺. However ill-determined a direction is, nothing cancels in sums of products of these.
pub(super) struct Whitening {
    /// The columns of W.
    columns: Vec<Vec<f64>>,
}

impl Whitening {
    /// From the singular value decomposition of the sensitivities by changes of these sizes.
    pub fn new(decomposed: Option<&SingularValues>, rank: usize, sizes: &[f64]) -> Whitening {
        let column = |found: &SingularValues, k: usize| -> Vec<f64> {
            found.right[k].iter().zip(sizes).map(|(v, size)| v * size / found.values[k]).collect()
        };
        Whitening {
            columns: decomposed.map_or_else(Vec::new, |found| (0..rank).map(|k| column(found, k)).collect()),
        }
    }

    pub fn row(&self, row: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|w| w.iter().zip(row).map(|(w, g)| w * g).sum()).collect()
    }

    /// The component of an unknown in W u.
    pub fn along(&self, u: &[f64], a: usize) -> f64 {
        self.columns.iter().zip(u).map(|(w, u)| w[a] * u).sum()
    }

    /// An entry on the diagonal of H⁺.
    pub fn inverse(&self, a: usize) -> f64 {
        self.columns.iter().map(|w| w[a] * w[a]).sum()
    }

    /// The number of directions.
    pub fn rank(&self) -> usize {
        self.columns.len()
    }

    /// W S Wᵀ for so many unknowns.
    fn back(&self, turned: &[Vec<f64>], unknowns: usize) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> =
            (0..unknowns).map(|b| turned.iter().map(|line| self.along(line, b)).collect()).collect();
        (0..unknowns).map(|a| rows.iter().map(|row| self.along(row, a)).collect()).collect()
    }
}

/// The covariance of estimates.
#[derive(Clone)]
pub(super) struct Covariance {
    pub whole: Vec<Vec<f64>>,
    /// The same S in whitened directions: the whole is W S Wᵀ.
    pub turned: Vec<Vec<f64>>,
    /// What each series contributes to the variances.
    pub parts: Vec<Vec<f64>>,
    /// What each series contributes in whitened directions.
    pub gradients: Vec<Vec<Vec<f64>>>,
}

impl Covariance {
    /// That of a single series of white residuals.
    pub fn even(white: &Whitening, variance: f64, unknowns: usize) -> Covariance {
        let rank = white.columns.len();
        let entry = |i: usize, j: usize| if i == j { variance } else { 0.0 };
        let turned: Vec<Vec<f64>> = (0..rank).map(|i| (0..rank).map(|j| entry(i, j)).collect()).collect();
        let whole = white.back(&turned, unknowns);
        let own = (0..unknowns).map(|a| whole[a][a]).collect();
        Covariance { parts: vec![own], whole, gradients: vec![turned.clone()], turned }
    }
}

/// What is missing in the autocovariance of the residuals of a series beside that of their noise, Σ u_k' M u_{k+τ}/n from
/// whitened rows and the matrix M that [`Followed::missing`](super::followed::Followed::missing) gives.
pub(super) fn taken(rows: &[Held], series: &Whiteness, missing: &[Vec<f64>]) -> Vec<f64> {
    let own = |row: &&Held| (row.experiment, row.output) == (series.experiment, series.output);
    // One after the other in memory, as there are many pairs.
    let (mut samples, mut lines) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(own) {
        samples.push(row.sample);
        lines.extend_from_slice(&row.line);
    }
    let (width, lags) = (missing.len().max(1), series.lags());
    let mut sums = vec![0.0; lags];
    let mut turned = vec![0.0; width];
    for (k, line) in lines.chunks_exact(width).enumerate() {
        for (turned, row) in turned.iter_mut().zip(missing) {
            *turned = row.iter().zip(line).map(|(v, g)| v * g).sum();
        }
        for (other, sample) in lines[k * width..].chunks_exact(width).zip(&samples[k..]).take(lags) {
            if let Some(sum) = sums.get_mut(sample - samples[k]) {
                *sum += turned.iter().zip(other).map(|(v, g)| v * g).sum::<f64>();
            }
        }
    }
    let count = samples.len().max(1) as f64;
    sums.iter().map(|sum| sum / count).collect()
}

/// What stands between residuals and the covariance of estimates.
pub(super) struct Middle<'a, 'b> {
    pub problem: &'a Problem<'b>,
    pub at: &'a Evaluation,
    pub free: &'a [usize],
    pub white: &'a Whitening,
    pub priors: &'a [Vec<f64>],
    pub held: &'a Option<Vec<Held>>,
}

/// Takes the experiment, output and sample of a row, and its derivatives.
type EachRow<'a> = dyn FnMut(usize, usize, usize, &[f64]) + 'a;

impl Middle<'_, '_> {
    /// Hands on the whitened derivatives of every fitted sample: those that are held, or those of another run.
    pub fn rows(&self, token: &CancellationToken, each: &mut EachRow<'_>) -> Result<(), Rejection> {
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
                    *entry = row.weight * row.sensitivities[*j];
                }
                each(experiment, row.output, row.sample, &self.white.row(&line));
            })?;
        }
        Ok(())
    }

    /// H⁺ M H⁺ with M = Σ c(τ) Σ_k g_k g_{k+τ}ᵀ: the covariance of estimates whose residuals have the autocovariance c.
    pub fn sandwich(
        &self,
        whiteness: &[Whiteness],
        token: &CancellationToken,
    ) -> Result<Covariance, Rejection> {
        let (m, rank) = (self.free.len(), self.white.columns.len());
        let outputs = self.problem.outputs.len();
        let mut numbers = vec![None; self.problem.experiments.len() * outputs];
        for (number, series) in whiteness.iter().enumerate() {
            numbers[series.experiment * outputs + series.output] = Some(number);
        }
        let mut sums: Vec<ColouredSum<'_>> =
            whiteness.iter().map(|series| ColouredSum::new(rank, &series.model, series.innovation)).collect();
        self.rows(token, &mut |experiment, output, sample, own| {
            if let Some(number) = numbers[experiment * outputs + output] {
                sums[number].push(sample, own);
            }
        })?;
        let middles: Vec<Vec<Vec<f64>>> = sums.into_iter().map(ColouredSum::end).collect();
        let turned = self.prior_gradient();
        let mut covariance =
            Covariance { whole: Vec::new(), turned, parts: Vec::new(), gradients: Vec::new() };
        for middle in &middles {
            for (sum, row) in covariance.turned.iter_mut().zip(middle) {
                sum.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry);
            }
            let part = self.white.back(middle, m);
            covariance.parts.push((0..m).map(|a| part[a][a]).collect());
        }
        covariance.whole = self.white.back(&covariance.turned, m);
        covariance.gradients = middles;
        Ok(covariance)
    }

    /// What priors contribute in whitened directions.
    pub fn prior_gradient(&self) -> Vec<Vec<f64>> {
        let (rank, noise) = (self.white.rank(), self.problem.noise);
        let mut turned = vec![vec![0.0; rank]; rank];
        for row in self.priors {
            let u = self.white.row(row);
            for (line, a) in turned.iter_mut().zip(&u) {
                line.iter_mut().zip(&u).for_each(|(sum, b)| *sum += noise * noise * a * b);
            }
        }
        turned
    }
}
