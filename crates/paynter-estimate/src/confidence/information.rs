//! What the data tell of the unknowns: their sensitivities decomposed.

use super::covariance::{Middle, Whitening};
use super::followed::{Followed, Gathered, follow};
use super::series::Series;
use crate::identifiability::{scaled, sizes};
use crate::loss::Loss;
use crate::problem::{Evaluation, Problem, Rejection};
use crate::residuals::Whiteness;
use crate::tolerance::DIRECTION_SHARE;
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{SingularValues, Triangle};

/// The sensitivities of a solution, by series and decomposed.
pub(super) struct Information<'a, 'b> {
    problem: &'a Problem<'b>,
    /// The numbers of the unknowns that are free to move.
    pub free: Vec<usize>,
    /// The series of all outputs in all experiments.
    pub series: Vec<Series>,
    /// How much influences of residuals change with them: by a change of what is free by bend·G, and the gradient of
    /// the cost by H = Σ bend·GᵀG.
    pub bends: Vec<f64>,
    /// The triangle G of each series, row by row.
    blocks: Vec<Vec<f64>>,
    /// The rows that priors add.
    pub priors: Vec<Vec<f64>>,
    decomposed: Option<SingularValues>,
    /// How many directions the data determine.
    pub rank: usize,
    pub white: Whitening,
}

impl<'a, 'b> Information<'a, 'b> {
    pub fn new(
        problem: &'a Problem<'b>,
        at: &Evaluation,
        free: Vec<usize>,
        mut series: Vec<Series>,
        rank_share: f64,
    ) -> Information<'a, 'b> {
        let m = free.len();
        let priors = prior_rows(problem, &at.z, &free);
        let bends: Vec<f64> = series.iter().map(Series::bend).collect();
        let blocks: Vec<Vec<f64>> = series.iter_mut().map(|own| own.triangle.rows().to_vec()).collect();
        let mut triangle = Triangle::new(m);
        let mut line = vec![0.0; m];
        for (block, bend) in blocks.iter().zip(&bends) {
            for row in block.chunks(m.max(1)) {
                line.iter_mut().zip(row).for_each(|(entry, g)| *entry = bend.sqrt() * g);
                triangle.push(&line);
            }
        }
        priors.iter().for_each(|row| triangle.push(row));
        // By relative changes, so that no unit decides what is determined.
        let by = sizes(problem, at);
        let by: Vec<f64> = free.iter().map(|j| by[*j]).collect();
        let decomposed = SingularValues::new(m, &scaled(triangle.rows(), &by));
        let rank = decomposed.as_ref().map_or(0, |found| found.rank(rank_share));
        let white = Whitening::new(decomposed.as_ref(), rank, &by);
        Information { problem, free, series, bends, blocks, priors, decomposed, rank, white }
    }

    /// The number of a series among those of all outputs and experiments.
    pub fn place(&self, series: &Whiteness) -> usize {
        series.experiment * self.problem.outputs.len() + series.output
    }

    /// The rows of a series' triangle.
    fn rows(&self, place: usize) -> impl Iterator<Item = &[f64]> {
        self.blocks[place].chunks(self.free.len().max(1))
    }

    /// How the fit has moved every series that has any residuals, and what these tell of their noise.
    pub fn whiteness(
        &self,
        ask: &Middle<'_, '_>,
        token: &CancellationToken,
    ) -> Result<Vec<(Whiteness, Followed)>, Rejection> {
        let outputs = self.problem.outputs.len();
        let places: Vec<usize> =
            (0..self.series.len()).filter(|place| self.series[*place].count > 0).collect();
        let gathered = |place: &usize| Gathered {
            block: &self.blocks[*place],
            cross: &self.series[*place].cross,
            bend: self.bends[*place],
            squares: self.series[*place].squares(),
            count: self.series[*place].count,
        };
        let gathered: Vec<Gathered<'_>> = places.iter().map(gathered).collect();
        let followed = follow(&gathered, &self.white, self.free.len(), &ask.prior_gradient());
        let mut influences: Vec<Vec<f64>> =
            places.iter().map(|place| self.series[*place].influences.clone()).collect();
        if followed.iter().any(Followed::has_lost) {
            let mut numbers = vec![None; self.series.len()];
            places.iter().enumerate().for_each(|(number, place)| numbers[*place] = Some(number));
            ask.rows(token, &mut |experiment, output, sample, row| {
                if let Some(number) = numbers[experiment * outputs + output] {
                    influences[number][sample] -= followed[number].lost(row);
                }
            })?;
        }
        let judged = places.iter().zip(followed).zip(influences).map(|((place, followed), own)| {
            let leverage = self.series[*place].count as f64 - followed.freedom;
            (Whiteness::new((place / outputs, place % outputs), &own, leverage), followed)
        });
        Ok(judged.collect())
    }

    /// Whether there is one series, which counts by its squares alone.
    pub fn is_even(&self, whiteness: &[Whiteness]) -> bool {
        let squares = self.problem.penalties.iter().all(|penalty| penalty.loss == Loss::Squares);
        whiteness.len() == 1 && squares && self.priors.is_empty()
    }

    /// The factor from the variance of a series' noise to that of an estimate.
    pub fn gain(&self, series: &Whiteness, a: usize) -> f64 {
        let place = self.place(series);
        let along = |row: &[f64]| self.white.along(&self.white.row(row), a).powi(2);
        self.bends[place].powi(2) * self.rows(place).map(along).sum::<f64>()
    }

    /// Whether no direction that the data leave open has a share of an unknown.
    pub fn determines(&self, a: usize) -> bool {
        let open = self.rank..self.free.len();
        self.decomposed
            .as_ref()
            .is_some_and(|found| open.into_iter().all(|k| found.right[k][a].abs() < DIRECTION_SHARE))
    }
}

/// The rows that priors add to the sensitivities of what is free.
fn prior_rows(problem: &Problem<'_>, z: &[f64], free: &[usize]) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for (a, j) in free.iter().enumerate().filter(|_| problem.noise > 0.0) {
        if let Some((_, deviation)) = problem.unknowns[*j].prior {
            let mut row = vec![0.0; free.len()];
            row[a] = problem.noise / deviation * problem.unknowns[*j].derivative(z[*j]);
            rows.push(row);
        }
    }
    rows
}
