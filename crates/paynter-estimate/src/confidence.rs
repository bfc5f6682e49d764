//! Standard errors and correlations, corrected for residuals that are not white.

use crate::coloured::ColouredSum;
use crate::distribution::student_quantile;
use crate::identifiability::{scaled, sizes};
use crate::loss::Loss;
use crate::problem::{Evaluation, Problem, Rejection, Row};
use crate::residuals::Whiteness;
use crate::tolerance::{DIRECTION_SHARE, MOST_HELD, RESTORED_ROUNDS, UNKNOWN_NOISE_SHARE};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{SingularValues, Triangle};

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

/// Which unknowns are free to move at a solution: neither fixed nor at a bound.
pub(crate) fn is_free(problem: &Problem<'_>, z: &[f64]) -> Vec<bool> {
    let free = |(unknown, z): (&crate::Unknown, &f64)| {
        let (low, high) = unknown.range();
        !unknown.fixed && *z != low && *z != high
    };
    problem.unknowns.iter().zip(z).map(free).collect()
}

/// The samples of one output in one experiment.
struct Series {
    /// The influence of every residual, NaN where there is none.
    influences: Vec<f64>,
    /// The triangle of their weighted derivatives by what is free.
    triangle: Triangle,
    /// The sum of squares of the weighted data.
    size: f64,
    /// The sum of the derivatives of the influences.
    bends: f64,
    count: usize,
}

impl Series {
    /// How much the influence of a residual changes with it, on average. Most residuals are within the threshold of a
    /// loss that is fitted to them, so that it is above zero.
    fn bend(&self) -> f64 {
        if self.count == 0 { 1.0 } else { (self.bends / self.count as f64).max(f64::EPSILON) }
    }
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
            for (entry, j) in line.iter_mut().zip(&free) {
                *entry = row.weight * row.sensitivities[*j];
            }
            own.triangle.push(&line);
            if let Some(held) = &mut held {
                held.push(Held { experiment, output: row.output, sample: row.sample, line: line.clone() });
            }
        })?;
    }
    let count: usize = series.iter().map(|own| own.count).sum();
    let priors: Vec<Vec<f64>> = prior_rows(problem, &at.z, &free);
    // By a change of what is free influences change by bend·G, and the gradient of the cost by H = Σ bend·GᵀG.
    let bends: Vec<f64> = series.iter().map(Series::bend).collect();
    let blocks: Vec<Vec<f64>> = series.iter_mut().map(|own| own.triangle.rows().to_vec()).collect();
    let mut triangle = Triangle::new(m);
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
    // So many of its residuals the fit of a series has taken: the trace of its block of bend·G H⁺ Gᵀ.
    let leverage = |block: &[f64], bend: f64| {
        let row = |row: &[f64]| white.row(row).iter().map(|u| u * u).sum::<f64>();
        bend * block.chunks(m.max(1)).map(row).sum::<f64>()
    };
    let judged = series.iter().zip(&blocks).enumerate().map(|(place, (own, block))| {
        let at = (place / outputs, place % outputs);
        Whiteness::new(at, &own.influences, leverage(block, bends[place]))
    });
    let mut whiteness: Vec<Whiteness> = judged.filter(|found| found.count > 0).collect();
    let squares = problem.penalties.iter().all(|penalty| penalty.loss == Loss::Squares);
    let even = whiteness.len() == 1 && squares && priors.is_empty();
    // From here on rows are whitened.
    held.iter_mut().flatten().for_each(|row| row.line = white.row(&row.line));
    let ask = Middle { problem, at, free: &free, white: &white, priors: &priors, held: &held };
    let uncoloured = match even {
        true => Covariance::even(&white, whiteness[0].variance, m),
        false => ask.sandwich(&whiteness, token)?,
    };
    let followed = |series: &Whiteness, covariance: &Covariance| match &held {
        Some(rows) => {
            let bend = bends[series.experiment * outputs + series.output];
            taken(rows, series, &covariance.turned, bend)
        }
        None => Vec::new(),
    };
    for series in &mut whiteness {
        series.judge(&followed(series, &uncoloured));
    }
    let corrected = whiteness.iter().any(|found| !found.is_white());
    let mut full = if corrected { ask.sandwich(&whiteness, token)? } else { uncoloured.clone() };
    // What is not held is so much that the fit takes nothing of it.
    for _ in 0..if corrected && held.is_some() { RESTORED_ROUNDS } else { 0 } {
        for series in whiteness.iter_mut().filter(|series| !series.is_white()) {
            series.restore(&followed(series, &full));
        }
        full = ask.sandwich(&whiteness, token)?;
    }
    // What is known of an estimate hangs on the noise of all series that move it: by so much each does.
    let variance = |a: usize| full.whole[a][a].max(0.0);
    let gain = |told: &Whiteness, a: usize| -> f64 {
        let place = told.experiment * outputs + told.output;
        let along = |row: &[f64]| white.along(&white.row(row), a).powi(2);
        bends[place].powi(2) * blocks[place].chunks(m.max(1)).map(along).sum::<f64>()
    };
    let mut unknown_noise: Vec<(usize, Vec<usize>)> = Vec::new();
    for (a, j) in free.iter().enumerate() {
        let moves = |told: &&Whiteness| {
            // Noise as large as the data themselves is the most that it can be.
            let most = series[told.experiment * outputs + told.output].size / told.count as f64;
            gain(told, a) * most > UNKNOWN_NOISE_SHARE * variance(a)
        };
        let blind = whiteness.iter().filter(|told| told.tells_no_noise()).filter(moves);
        let mut by: Vec<usize> = blind.map(|told| told.output).collect();
        by.sort_unstable();
        by.dedup();
        if !by.is_empty() {
            unknown_noise.push((*j, by));
        }
    }
    let known: Vec<bool> = (0..m)
        .map(|a| match &decomposed {
            None => false,
            Some(found) => {
                (rank..m).all(|k| found.right[k][a].abs() < DIRECTION_SHARE)
                    && !unknown_noise.iter().any(|(j, _)| *j == free[a])
            }
        })
        .collect();
    let error = |covariance: &Covariance| {
        let mut list = vec![None; n];
        for (a, j) in free.iter().enumerate().filter(|(a, _)| known[*a]) {
            let derivative = problem.unknowns[*j].derivative(at.z[*j]);
            list[*j] = Some(covariance.whole[a][a].max(0.0).sqrt() * derivative.abs());
        }
        list
    };
    let mut rises = vec![None; n];
    for (a, j) in free.iter().enumerate().filter(|(a, _)| known[*a]) {
        let rise = full.whole[a][a] / white.inverse(a);
        rises[*j] = Some(rise).filter(|rise| *rise > 0.0 && rise.is_finite());
    }
    let mut correlation = vec![vec![None; n]; n];
    for (a, i) in free.iter().enumerate().filter(|(a, _)| known[*a]) {
        for (b, j) in free.iter().enumerate().filter(|(b, _)| known[*b]) {
            let size = (variance(a) * variance(b)).sqrt();
            let sign = |k: usize| problem.unknowns[k].derivative(at.z[k]).signum();
            let value =
                if a == b { 1.0 } else { (full.whole[a][b] / size).clamp(-1.0, 1.0) * sign(*i) * sign(*j) };
            correlation[*i][*j] = Some(value).filter(|value| value.is_finite());
        }
    }
    let effective: f64 = whiteness.iter().map(Whiteness::effective).sum();
    let freedom = (effective - rank as f64).max(1.0);
    let all: f64 = whiteness.iter().map(Whiteness::freedom).sum();
    let mut freedoms = vec![all.max(1.0); n];
    let pooled =
        whiteness.iter().map(Whiteness::squares).sum::<f64>() / (count as f64 - rank as f64).max(1.0);
    for (a, j) in free.iter().enumerate() {
        // Satterthwaite's degrees of freedom of a sum of variances, each known by its own residuals. Few residuals may
        // be small by chance: their part counts as what the noise of all would make of it at least.
        let part = |(part, told): (&Vec<f64>, &Whiteness)| part[a].max(gain(told, a) * pooled);
        let parts = || full.parts.iter().zip(&whiteness).map(part);
        let known = variance(a) - full.parts.iter().map(|part| part[a]).sum::<f64>();
        let squares = parts().zip(&whiteness).map(|(part, told)| part.powi(2) / told.freedom());
        let own = (known.max(0.0) + parts().sum::<f64>()).powi(2) / squares.sum::<f64>();
        if own.is_finite() {
            freedoms[*j] = own.max(1.0);
        }
    }
    let quantiles = freedoms.iter().map(|freedom| student_quantile(0.5 + 0.5 * level, *freedom)).collect();
    Ok(Confidence {
        standard_errors: error(&full),
        white_errors: error(&uncoloured),
        correlation,
        freedoms,
        quantiles,
        freedom,
        corrected,
        whiteness,
        unknown_noise,
        rises,
    })
}

/// A series for each output in each experiment, one experiment after the other; those that validate are empty.
fn blank(problem: &Problem<'_>, free: usize) -> Vec<Series> {
    let of = |fitted: usize| Series {
        influences: vec![f64::NAN; fitted],
        triangle: Triangle::new(free),
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

/// Rows of sensitivities in the directions that the data determine, each in units of what they tell of it: u = Wᵀg with
/// W Wᵀ = H⁺. However ill-determined a direction is, nothing cancels in sums of products of these.
struct Whitening {
    /// The columns of W.
    columns: Vec<Vec<f64>>,
}

impl Whitening {
    /// From the singular value decomposition of the sensitivities by changes of these sizes.
    fn new(decomposed: Option<&SingularValues>, rank: usize, sizes: &[f64]) -> Whitening {
        let column = |found: &SingularValues, k: usize| -> Vec<f64> {
            found.right[k].iter().zip(sizes).map(|(v, size)| v * size / found.values[k]).collect()
        };
        Whitening {
            columns: decomposed.map_or_else(Vec::new, |found| (0..rank).map(|k| column(found, k)).collect()),
        }
    }

    fn row(&self, row: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|w| w.iter().zip(row).map(|(w, g)| w * g).sum()).collect()
    }

    /// The component of an unknown in W u.
    fn along(&self, u: &[f64], a: usize) -> f64 {
        self.columns.iter().zip(u).map(|(w, u)| w[a] * u).sum()
    }

    /// An entry on the diagonal of H⁺.
    fn inverse(&self, a: usize) -> f64 {
        self.columns.iter().map(|w| w[a] * w[a]).sum()
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
struct Covariance {
    whole: Vec<Vec<f64>>,
    /// The same S in whitened directions: the whole is W S Wᵀ.
    turned: Vec<Vec<f64>>,
    /// What each series contributes to the variances.
    parts: Vec<Vec<f64>>,
}

impl Covariance {
    /// That of a single series of white residuals.
    fn even(white: &Whitening, variance: f64, unknowns: usize) -> Covariance {
        let rank = white.columns.len();
        let entry = |i: usize, j: usize| if i == j { variance } else { 0.0 };
        let turned: Vec<Vec<f64>> = (0..rank).map(|i| (0..rank).map(|j| entry(i, j)).collect()).collect();
        let whole = white.back(&turned, unknowns);
        let own = (0..unknowns).map(|a| whole[a][a]).collect();
        Covariance { parts: vec![own], whole, turned }
    }
}

/// The weighted derivatives of a sample by what is free, later whitened.
struct Held {
    experiment: usize,
    output: usize,
    sample: usize,
    line: Vec<f64>,
}

/// The autocovariance of what the fitted curve has followed of the noise in a series, Σ g_k' V g_{k+τ}/n with the
/// covariance V = W S Wᵀ of the estimates, from whitened rows: so much is missing in that of the residuals.
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
    white: &'a Whitening,
    priors: &'a [Vec<f64>],
    held: &'a Option<Vec<Held>>,
}

/// Takes the experiment, output and sample of a row, and its derivatives.
type EachRow<'a> = dyn FnMut(usize, usize, usize, &[f64]) + 'a;

impl Middle<'_, '_> {
    /// Hands on the whitened derivatives of every fitted sample: those that are held, or those of another run.
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
                    *entry = row.weight * row.sensitivities[*j];
                }
                each(experiment, row.output, row.sample, &self.white.row(&line));
            })?;
        }
        Ok(())
    }

    /// H⁺ M H⁺ with M = Σ c(τ) Σ_k g_k g_{k+τ}ᵀ: the covariance of estimates whose residuals have the autocovariance c.
    fn sandwich(&self, whiteness: &[Whiteness], token: &CancellationToken) -> Result<Covariance, Rejection> {
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
        let noise = self.problem.noise;
        let mut turned = vec![vec![0.0; rank]; rank];
        for row in self.priors {
            let u = self.white.row(row);
            for (line, a) in turned.iter_mut().zip(&u) {
                line.iter_mut().zip(&u).for_each(|(sum, b)| *sum += noise * noise * a * b);
            }
        }
        let mut covariance = Covariance { whole: Vec::new(), turned, parts: Vec::new() };
        for middle in &middles {
            for (sum, row) in covariance.turned.iter_mut().zip(middle) {
                sum.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry);
            }
            let part = self.white.back(middle, m);
            covariance.parts.push((0..m).map(|a| part[a][a]).collect());
        }
        covariance.whole = self.white.back(&covariance.turned, m);
        Ok(covariance)
    }
}
