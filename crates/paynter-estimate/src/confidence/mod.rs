//! Standard errors and correlations, corrected for residuals that are not white.

mod covariance;
mod followed;
mod information;
mod series;

use crate::distribution::student_quantile;
use crate::problem::{Evaluation, Problem, Rejection, Row};
use crate::residuals::Whiteness;
use crate::tolerance::{RESTORED_ROUNDS, UNKNOWN_NOISE_SHARE};
use covariance::{Covariance, Middle, taken};
use followed::{Followed, without};
use information::Information;
use paynter_base::CancellationToken;
use series::Samples;

/// How well the unknowns are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Standard errors in SI; none for what is at a bound, fixed or not determined, or hangs on noise that is unknown.
    pub standard_errors: Vec<Option<f64>>,
    /// The same if residuals were white.
    pub white_errors: Vec<Option<f64>>,
    /// The correlation of each pair of unknowns, row by row; none where one of them has no standard error.
    pub correlation: Vec<Vec<Option<f64>>>,
    /// The degrees of freedom by which each standard error is known.
    pub freedoms: Vec<f64>,
    /// Half the width of each confidence interval over the standard error.
    pub quantiles: Vec<f64>,
    /// Degrees of freedom: residuals that count as independent less the unknowns.
    pub freedom: f64,
    /// Whether standard errors are corrected for autocorrelated residuals.
    pub corrected: bool,
    /// What the residuals of each output in each experiment tell.
    pub whiteness: Vec<Whiteness>,
    /// Unknowns without standard errors because of the noise of these outputs, which too few samples tell.
    pub unknown_noise: Vec<(usize, Vec<usize>)>,
    /// How much the cost rises along each unknown where all others follow: half the square of a number of standard
    /// errors times this, as far as it is a parabola; none where there is no standard error.
    pub(crate) rises: Vec<Option<f64>>,
}

impl Confidence {
    /// Forgets standard errors, where sensitivities tell nothing of how well the unknowns are known.
    pub(crate) fn withhold(&mut self) {
        for list in [&mut self.standard_errors, &mut self.white_errors, &mut self.rises] {
            list.fill(None);
        }
        self.correlation.iter_mut().for_each(|row| row.fill(None));
        self.unknown_noise.clear();
        self.corrected = false;
    }
}

/// Which unknowns are free to move at a solution: neither fixed nor at a bound.
pub(crate) fn is_free(problem: &Problem<'_>, z: &[f64]) -> Vec<bool> {
    let free = |(unknown, z): (&crate::Unknown, &f64)| {
        let (low, high) = unknown.range();
        !unknown.fixed && !unknown.beside_zero && *z != low && *z != high
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
    let acts: Vec<bool> = at.lengths().iter().map(|length| *length > 0.0).collect();
    let free: Vec<usize> =
        (0..n).zip(is_free(problem, &at.z)).filter(|(j, free)| *free && acts[*j]).map(|(j, _)| j).collect();
    let Samples { series, mut held } = Samples::gather(problem, at, &free, token, each)?;
    let told = Information::new(problem, at, free, series, rank_share);
    // From here on rows are whitened.
    held.iter_mut().flatten().for_each(|row| row.line = told.white.row(&row.line));
    let ask = Middle { problem, at, free: &told.free, white: &told.white, priors: &told.priors, held: &held };
    let (mut whiteness, followed): (Vec<_>, Vec<_>) = told.whiteness(&ask, token)?.into_iter().unzip();
    let (uncoloured, full, corrected) = covariances(&told, &ask, (&mut whiteness, &followed), token)?;
    let judged = Judgement { problem, at, told: &told, whiteness: &whiteness, full: &full };
    let unknown_noise = judged.unknown_noise();
    let is_known =
        |(a, j): &(usize, usize)| told.determines(*a) && !unknown_noise.iter().any(|(blind, _)| blind == j);
    let known: Vec<(usize, usize)> = told.free.iter().copied().enumerate().filter(is_known).collect();
    let effective: f64 = whiteness.iter().map(Whiteness::effective).sum();
    let freedoms = judged.freedoms();
    let quantiles = freedoms.iter().map(|freedom| student_quantile(0.5 + 0.5 * level, *freedom)).collect();
    Ok(Confidence {
        standard_errors: judged.errors(&full, &known),
        white_errors: judged.errors(&uncoloured, &known),
        correlation: judged.correlation(&known),
        rises: judged.rises(&known),
        freedoms,
        quantiles,
        freedom: (effective - told.rank as f64).max(1.0),
        corrected,
        unknown_noise,
        whiteness,
    })
}

/// The covariance as if residuals were white, and the one that their colours make of it, which are estimated with what
/// the fit has taken of them; last whether any are coloured.
fn covariances(
    told: &Information<'_, '_>,
    ask: &Middle<'_, '_>,
    (whiteness, followed): (&mut [Whiteness], &[Followed]),
    token: &CancellationToken,
) -> Result<(Covariance, Covariance, bool), Rejection> {
    let uncoloured = match told.is_even(whiteness) {
        true => Covariance::even(&told.white, whiteness[0].variance, told.free.len()),
        false => ask.sandwich(whiteness, token)?,
    };
    let missing = |number: usize, series: &Whiteness, covariance: &Covariance| match ask.held {
        Some(rows) => {
            let own = &covariance.gradients[number];
            taken(rows, series, &followed[number].missing(own, &without(&covariance.turned, own)))
        }
        None => Vec::new(),
    };
    for (number, series) in whiteness.iter_mut().enumerate() {
        series.judge(&missing(number, series, &uncoloured));
    }
    let corrected = whiteness.iter().any(|found| !found.is_white());
    let mut full = if corrected { ask.sandwich(whiteness, token)? } else { uncoloured.clone() };
    // What is not held is so much that the fit takes nothing of it.
    for _ in 0..if corrected && ask.held.is_some() { RESTORED_ROUNDS } else { 0 } {
        for (number, series) in whiteness.iter_mut().enumerate().filter(|(_, series)| !series.is_white()) {
            series.restore(&missing(number, series, &full));
        }
        full = ask.sandwich(whiteness, token)?;
    }
    Ok((uncoloured, full, corrected))
}

/// A covariance and what it hangs on. Pairs of numbers are those of an unknown among what is free and among all.
struct Judgement<'a, 'b> {
    problem: &'a Problem<'b>,
    at: &'a Evaluation,
    told: &'a Information<'a, 'b>,
    whiteness: &'a [Whiteness],
    full: &'a Covariance,
}

impl Judgement<'_, '_> {
    fn variance(&self, a: usize) -> f64 {
        self.full.whole[a][a].max(0.0)
    }

    /// The derivative of an unknown's value by what the search moves.
    fn derivative(&self, j: usize) -> f64 {
        self.problem.unknowns[j].derivative(self.at.z[j])
    }

    /// Unknowns that hang on the noise of outputs which too few samples tell. What is known of an estimate hangs on the
    /// noise of all series that move it: by so much each does.
    fn unknown_noise(&self) -> Vec<(usize, Vec<usize>)> {
        let mut unknown_noise: Vec<(usize, Vec<usize>)> = Vec::new();
        for (a, j) in self.told.free.iter().enumerate() {
            let moves = |series: &&Whiteness| {
                // Noise as large as the data themselves is the most that it can be.
                let most = self.told.series[self.told.place(series)].size / series.count as f64;
                self.told.gain(series, a) * most > UNKNOWN_NOISE_SHARE * self.variance(a)
            };
            let blind = self.whiteness.iter().filter(|series| series.tells_no_noise()).filter(moves);
            let mut by: Vec<usize> = blind.map(|series| series.output).collect();
            by.sort_unstable();
            by.dedup();
            if !by.is_empty() {
                unknown_noise.push((*j, by));
            }
        }
        unknown_noise
    }

    fn errors(&self, covariance: &Covariance, known: &[(usize, usize)]) -> Vec<Option<f64>> {
        let mut list = vec![None; self.problem.unknowns.len()];
        for (a, j) in known {
            list[*j] = Some(covariance.whole[*a][*a].max(0.0).sqrt() * self.derivative(*j).abs());
        }
        list
    }

    fn rises(&self, known: &[(usize, usize)]) -> Vec<Option<f64>> {
        let mut rises = vec![None; self.problem.unknowns.len()];
        for (a, j) in known {
            let rise = self.full.whole[*a][*a] / self.told.white.inverse(*a);
            rises[*j] = Some(rise).filter(|rise| *rise > 0.0 && rise.is_finite());
        }
        rises
    }

    fn correlation(&self, known: &[(usize, usize)]) -> Vec<Vec<Option<f64>>> {
        let n = self.problem.unknowns.len();
        let sign = |k: usize| self.derivative(k).signum();
        let mut correlation = vec![vec![None; n]; n];
        for (a, i) in known {
            for (b, j) in known {
                let size = (self.variance(*a) * self.variance(*b)).sqrt();
                let value = match a == b {
                    true => 1.0,
                    false => (self.full.whole[*a][*b] / size).clamp(-1.0, 1.0) * sign(*i) * sign(*j),
                };
                correlation[*i][*j] = Some(value).filter(|value| value.is_finite());
            }
        }
        correlation
    }

    /// Satterthwaite's degrees of freedom of a sum of variances, each known by its own residuals. Few residuals may be
    /// small by chance: their part counts as what the noise of all would make of it at least.
    fn freedoms(&self) -> Vec<f64> {
        let Judgement { told, whiteness, full, .. } = self;
        let all: f64 = whiteness.iter().map(Whiteness::freedom).sum();
        let mut freedoms = vec![all.max(1.0); self.problem.unknowns.len()];
        let count: usize = told.series.iter().map(|own| own.count).sum();
        let pooled = whiteness.iter().map(Whiteness::squares).sum::<f64>()
            / (count as f64 - told.rank as f64).max(1.0);
        for (a, j) in told.free.iter().enumerate() {
            let part = |(part, series): (&Vec<f64>, &Whiteness)| part[a].max(told.gain(series, a) * pooled);
            let parts = || full.parts.iter().zip(*whiteness).map(part);
            let known = self.variance(a) - full.parts.iter().map(|part| part[a]).sum::<f64>();
            let squares = parts().zip(*whiteness).map(|(part, series)| part.powi(2) / series.freedom());
            let own = (known.max(0.0) + parts().sum::<f64>()).powi(2) / squares.sum::<f64>();
            if own.is_finite() {
                freedoms[*j] = own.max(1.0);
            }
        }
        freedoms
    }
}
