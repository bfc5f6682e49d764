//! How the fit has moved the residuals of a series: by their own noise, which it has followed, and by that of all others
//! that estimate the same unknowns.

use super::covariance::Whitening;
use crate::tolerance::{LEAST_FREEDOM, LEAST_TELLING, OWN_AXIS, SHARED_ROUNDS};
use paynter_numerics::linalg::{SingularValues, Triangle};

/// A combination of the samples of a series along which the fit moves it.
struct Axis {
    /// Its direction among the whitened unknowns, and how long the rows of the series are along it.
    direction: Vec<f64>,
    length: f64,
    /// The share of the series' own noise along it that the fit takes.
    taken: f64,
    /// The residuals along it.
    residual: f64,
    /// Whether the noise of others moves residuals by more along it than their own: then they tell nothing there.
    is_lost: bool,
}

impl Axis {
    /// The component of a sample with this whitened row.
    fn component(&self, row: &[f64]) -> f64 {
        dot(&self.direction, row) / self.length
    }
}

/// The axes along which the fit moves a series. With the whitened rows U = Q Λ Vᵀ of the series and its noise ε the
/// residuals are (1 − b U Uᵀ) ε less what the gradients of other series have moved the fit by.
pub(super) struct Followed {
    axes: Vec<Axis>,
    /// How much influences of residuals change with them.
    bend: f64,
    count: usize,
    squares: f64,
    /// The variance of the noise; zero where too little is left to know it.
    pub variance: f64,
    /// By how many independent residuals that is known.
    pub freedom: f64,
}

/// A series as it enters: the rows of its triangle, the sum of its rows by its influences, their squares and number.
pub(super) struct Gathered<'a> {
    pub block: &'a [f64],
    pub cross: &'a [f64],
    pub bend: f64,
    pub squares: f64,
    pub count: usize,
}

impl Followed {
    fn new(series: &Gathered<'_>, white: &Whitening, free: usize) -> Followed {
        let rank = white.rank();
        let mut triangle = Triangle::new(rank);
        series.block.chunks(free.max(1)).for_each(|row| triangle.push(&white.row(row)));
        let decomposed = SingularValues::new(rank, triangle.rows());
        let cross = white.row(series.cross);
        let axis = |found: &SingularValues, k: usize| {
            let (direction, length) = (found.right[k].clone(), found.values[k]);
            let residual = dot(&direction, &cross) / length;
            let taken = (series.bend * length * length).min(1.0);
            Axis { direction, length, taken, residual, is_lost: false }
        };
        let axes = decomposed.map_or_else(Vec::new, |found| {
            let longest = found.values.first().copied().unwrap_or(0.0);
            let own = (0..rank).filter(|k| found.values[*k] > OWN_AXIS * longest);
            own.map(|k| axis(&found, k)).collect()
        });
        let Gathered { bend, squares, count, .. } = *series;
        let mut followed = Followed { axes, bend, count, squares, variance: 0.0, freedom: 0.0 };
        followed.judge(&[]);
        followed
    }

    /// The variance of the noise by what others move residuals by along each axis, nothing where that is empty. Few
    /// residuals do not tell whose noise counts where: then that of others counts as if it were alike.
    fn judge(&mut self, others: &[f64]) {
        let few = self.count < self.axes.len() + LEAST_TELLING;
        let by = |k: usize| others.get(k).copied().unwrap_or(0.0);
        let mut squares = self.squares;
        let mut freedom = self.count as f64 - self.axes.len() as f64;
        for (k, axis) in self.axes.iter_mut().enumerate() {
            let left = (1.0 - axis.taken).powi(2);
            axis.is_lost = !few && by(k) > left * self.variance;
            if axis.is_lost {
                squares -= axis.residual.powi(2);
            } else if few || others.is_empty() {
                freedom += 1.0 - axis.taken;
            } else {
                freedom += left + if by(k) > 0.0 { by(k) / self.variance } else { 0.0 };
            }
        }
        self.freedom = freedom.max(0.0);
        self.variance = if self.freedom < LEAST_FREEDOM { 0.0 } else { squares.max(0.0) / self.freedom };
    }

    /// Whether residuals tell nothing along some axis.
    pub fn has_lost(&self) -> bool {
        self.axes.iter().any(|axis| axis.is_lost)
    }

    /// What has to be taken from the residual of a sample with this whitened row, so that nothing is left of it along
    /// lost axes.
    pub fn lost(&self, row: &[f64]) -> f64 {
        let lost = self.axes.iter().filter(|axis| axis.is_lost);
        lost.map(|axis| axis.component(row) * axis.residual).sum()
    }

    /// The covariance of the gradient of the series in whitened unknowns if its noise is white.
    fn gradient(&self, rank: usize) -> Vec<Vec<f64>> {
        let mut sum = vec![vec![0.0; rank]; rank];
        for axis in &self.axes {
            add(&mut sum, self.variance * axis.length.powi(2), &axis.direction, &axis.direction);
        }
        sum
    }

    /// By how much the gradients of others, of this covariance, move residuals along two axes together.
    fn moved(&self, others: &[Vec<f64>], i: usize, j: usize) -> f64 {
        let (a, b) = (&self.axes[i], &self.axes[j]);
        self.bend * self.bend * a.length * b.length * between(&a.direction, others, &b.direction)
    }

    /// A matrix M, so that uᵀ M u' is what is missing in the covariance of the residuals of two samples with these
    /// whitened rows beside that of their noise; from the covariances of the gradients of the series and of all others.
    pub fn missing(&self, own: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let rank = own.len();
        let mut sum = vec![vec![0.0; rank]; rank];
        for (i, a) in self.axes.iter().enumerate() {
            for (j, b) in self.axes.iter().enumerate() {
                let noise = between(&a.direction, own, &b.direction) / (a.length * b.length);
                let left = match a.is_lost || b.is_lost {
                    true => 0.0,
                    false => (1.0 - a.taken) * noise * (1.0 - b.taken) + self.moved(others, i, j),
                };
                add(&mut sum, (noise - left) / (a.length * b.length), &a.direction, &b.direction);
            }
        }
        sum
    }
}

/// How the fit has moved each series. What one tells of its noise hangs on the noise of the others, in a few rounds.
pub(super) fn follow(
    series: &[Gathered<'_>],
    white: &Whitening,
    free: usize,
    priors: &[Vec<f64>],
) -> Vec<Followed> {
    let rank = white.rank();
    let mut followed: Vec<Followed> = series.iter().map(|own| Followed::new(own, white, free)).collect();
    if followed.len() == 1 && priors.iter().flatten().all(|entry| *entry == 0.0) {
        return followed;
    }
    for _ in 0..SHARED_ROUNDS {
        let gradients: Vec<Vec<Vec<f64>>> = followed.iter().map(|own| own.gradient(rank)).collect();
        let mut whole = priors.to_vec();
        gradients.iter().for_each(|own| join(&mut whole, own, 1.0));
        for (own, gradient) in followed.iter_mut().zip(&gradients) {
            let others = without(&whole, gradient);
            let by: Vec<f64> = (0..own.axes.len()).map(|k| own.moved(&others, k, k).max(0.0)).collect();
            own.judge(&by);
        }
    }
    followed
}

/// What is left of a sum of matrices without one of them.
pub(super) fn without(whole: &[Vec<f64>], own: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut rest = whole.to_vec();
    join(&mut rest, own, -1.0);
    rest
}

fn join(sum: &mut [Vec<f64>], other: &[Vec<f64>], factor: f64) {
    for (sum, row) in sum.iter_mut().zip(other) {
        sum.iter_mut().zip(row).for_each(|(sum, entry)| *sum += factor * entry);
    }
}

/// Adds a multiple of a bᵀ.
fn add(sum: &mut [Vec<f64>], factor: f64, a: &[f64], b: &[f64]) {
    for (line, a) in sum.iter_mut().zip(a) {
        line.iter_mut().zip(b).for_each(|(sum, b)| *sum += factor * a * b);
    }
}

fn between(a: &[f64], matrix: &[Vec<f64>], b: &[f64]) -> f64 {
    a.iter().zip(matrix).map(|(a, row)| a * dot(row, b)).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
