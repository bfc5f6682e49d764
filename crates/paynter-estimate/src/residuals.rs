//! What residuals tell: whether they are white, and by what autoregressive model if they are not.

use crate::distribution::chi_squared_quantile;
use crate::tolerance::{LEAST_FREEDOM, WHITENESS_LEVEL};

/// The most lags of the test for whiteness, and of plots of the autocorrelation.
const SHOWN_LAGS: usize = 20;

/// The highest order of an autoregressive model.
const MOST_ORDER: usize = 30;

/// What the residuals of one output in one experiment tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Whiteness {
    /// The experiment.
    pub experiment: usize,
    /// The fitted output.
    pub output: usize,
    /// The number of residuals.
    pub count: usize,
    /// Their autocorrelation, from lag 0 on.
    pub autocorrelation: Vec<f64>,
    /// The statistic of Ljung and Box over the lags from 1 on.
    pub statistic: f64,
    /// What it would be below if residuals were white, in 99 of 100 cases.
    pub limit: f64,
    /// The order of the autoregressive model; 0 where residuals are white.
    pub order: usize,
    /// The variance of the noise.
    pub(crate) variance: f64,
    /// The coefficients of the autoregressive model.
    pub(crate) model: Vec<f64>,
    /// The variance of what is new in each sample by that model.
    pub(crate) innovation: f64,
    /// The autocovariance of the residuals as they are.
    sample: Vec<f64>,
    /// So many residuals the fit has taken.
    leverage: f64,
}

impl Whiteness {
    /// Whether nothing speaks against white residuals.
    pub fn is_white(&self) -> bool {
        self.order == 0
    }

    /// A series of residuals, NaN where one is missing, that count as white; the fit has taken so many of them
    /// (`leverage`).
    pub(crate) fn new((experiment, output): (usize, usize), series: &[f64], leverage: f64) -> Whiteness {
        let count = series.iter().filter(|value| value.is_finite()).count();
        let lags = MOST_ORDER.max(SHOWN_LAGS).min(count / 4);
        let covariance = |lag: usize| {
            let pairs = series.iter().zip(series.iter().skip(lag));
            let products = pairs.map(|(a, b)| a * b).filter(|product| product.is_finite());
            products.sum::<f64>() / count.max(1) as f64
        };
        let sample: Vec<f64> = (0..=lags).map(covariance).collect();
        let tested = lags.min(SHOWN_LAGS);
        let mut found = Whiteness {
            experiment,
            output,
            count,
            autocorrelation: correlation(&sample[..=tested]),
            statistic: 0.0,
            limit: chi_squared_quantile(1.0 - WHITENESS_LEVEL, tested.max(1) as f64),
            order: 0,
            variance: 0.0,
            model: Vec::new(),
            innovation: 0.0,
            sample,
            leverage,
        };
        // Residuals of white noise are smaller than it by what the fit has taken of them.
        if !found.tells_no_noise() {
            found.variance = found.squares() / (count as f64 - leverage);
        }
        found.innovation = found.variance;
        found
    }

    /// Judges whether they are white, with what the fit would have taken of white ones given back: a fit leaves
    /// residuals that seem to swing. They are not white where the test of Ljung and Box says so, or where they are
    /// better told with the one before (by Bayes' criterion), which sees in short records what a test over many lags
    /// does not; there chance alone would often find a negative memory, by which standard errors would be smaller.
    pub(crate) fn judge(&mut self, taken: &[f64]) {
        let whole = self.restored(taken);
        let size = self.count.max(1) as f64;
        let rho = correlation(&whole[..self.autocorrelation.len()]);
        let terms = rho.iter().enumerate().skip(1).map(|(k, rho)| rho * rho / (size - k as f64));
        self.statistic = size * (size + 2.0) * terms.sum::<f64>();
        let first = rho.get(1).copied().unwrap_or(0.0);
        let remembers = first > 0.0 && size * (1.0 - first * first).ln() + size.ln() < 0.0;
        if (self.statistic > self.limit || remembers) && whole[0] > 0.0 && !self.tells_no_noise() {
            self.model(&whole);
        }
    }

    /// The autocovariance with what the fit has taken given back.
    fn restored(&self, taken: &[f64]) -> Vec<f64> {
        let taken = taken.iter().copied().chain(std::iter::repeat(0.0));
        self.sample.iter().zip(taken).map(|(left, taken)| left + taken).collect()
    }

    /// Makes an autoregressive model of an autocovariance.
    fn model(&mut self, sample: &[f64]) {
        let (model, innovation) = autoregression(sample, self.count);
        self.order = model.len();
        (self.model, self.innovation, self.variance) = (model, innovation, sample[0]);
    }

    /// The sum of squares of the influences.
    pub(crate) fn squares(&self) -> f64 {
        self.sample[0] * self.count as f64
    }

    /// Whether the fit leaves nothing of these residuals by which noise could be known.
    pub(crate) fn tells_no_noise(&self) -> bool {
        self.count as f64 - self.leverage < LEAST_FREEDOM
    }

    /// By how many independent residuals the size of the noise is known: those that the fit has left; where they are
    /// not white, as many as give the variance with which an autoregressive model tells the spectral density of slow
    /// noise (2/n for its scale, and what its coefficients make of theirs, σ²Γ⁻¹/n).
    pub(crate) fn freedom(&self) -> f64 {
        let count = self.count as f64;
        if self.is_white() {
            return (count - self.leverage).max(LEAST_FREEDOM);
        }
        // σ² 1ᵀΓ⁻¹1 by the formula of Gohberg and Semencul.
        let (mut ones, mut first, mut last) = (0.0, 1.0, 0.0);
        for (a, b) in self.model.iter().zip(self.model.iter().rev()) {
            last += b;
            ones += first * first - last * last;
            first -= a;
        }
        let known = 2.0 * count / (2.0 + 4.0 * ones / (first * first));
        let effective = self.effective();
        (known * (1.0 - self.leverage / effective)).max(1.0)
    }

    /// The number of lags of the sample autocovariance.
    pub(crate) fn lags(&self) -> usize {
        self.sample.len()
    }

    /// Gives back what the fit has taken from residuals: the autocovariance of what the fitted curve has followed of
    /// the noise.
    pub(crate) fn restore(&mut self, taken: &[f64]) {
        self.model(&self.restored(taken));
    }

    /// How many residuals count as independent: the sum of all autocorrelations is σ²/(1 − Σφ)² over the variance.
    pub(crate) fn effective(&self) -> f64 {
        let count = self.count as f64;
        if self.is_white() {
            return count;
        }
        let fresh = 1.0 - self.model.iter().sum::<f64>();
        (count * fresh * fresh * self.variance / self.innovation).clamp(count.min(1.0), count)
    }
}

/// An autocovariance beside its first number.
fn correlation(covariance: &[f64]) -> Vec<f64> {
    let total = covariance[0];
    covariance.iter().map(|c| if total > 0.0 { c / total } else { 0.0 }).collect()
}

/// The coefficients of the autoregressive model of least Bayesian information criterion, by Levinson's recursion, and
/// the variance of what is new in each sample; of order 1 at least. It is stable.
fn autoregression(covariance: &[f64], count: usize) -> (Vec<f64>, f64) {
    let size = count as f64;
    let (mut least, mut best) = (f64::INFINITY, (Vec::new(), covariance[0]));
    let (mut model, mut error): (Vec<f64>, f64) = (Vec::new(), covariance[0]);
    for order in 1..covariance.len().min(MOST_ORDER + 1) {
        let predicted: f64 = model.iter().enumerate().map(|(i, a)| a * covariance[order - 1 - i]).sum();
        let reflection = (covariance[order] - predicted) / error;
        let turned: Vec<f64> = model.iter().rev().copied().collect();
        for (a, b) in model.iter_mut().zip(turned) {
            *a -= reflection * b;
        }
        model.push(reflection);
        error *= 1.0 - reflection * reflection;
        if error.is_nan() || error <= 0.0 {
            break;
        }
        let criterion = size * error.ln() + order as f64 * size.ln();
        if criterion < least {
            (least, best) = (criterion, (model.clone(), error));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    fn noise(seed: u64, count: usize, memory: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut last = 0.0;
        (0..count)
            .map(|_| {
                last = memory * last + normal();
                last
            })
            .collect()
    }

    #[test]
    fn white_noise_is_white_and_coloured_noise_has_its_model() {
        let judged = |series: &[f64]| {
            let mut found = Whiteness::new((0, 0), series, 0.0);
            found.judge(&[]);
            found
        };
        let white = (0..100).filter(|seed| judged(&noise(*seed, 400, 0.0)).is_white());
        assert!(white.count() >= 95);
        let found = judged(&noise(3, 5000, 0.8));
        assert!(!found.is_white() && found.order <= 3, "{}", found.order);
        assert!((found.innovation - 1.0).abs() < 0.1, "{}", found.innovation);
        assert!((found.variance * 0.36 - 1.0).abs() < 0.25, "{}", found.variance);
        assert!((found.effective() / (5000.0 / 9.0) - 1.0).abs() < 0.3, "{}", found.effective());
        // The logarithm of σ²/(1 − a)² is known with the variance 2/n + 4 (1 + a)/(n (1 − a)).
        assert!((found.freedom() / (5000.0 / 19.0) - 1.0).abs() < 0.3, "{}", found.freedom());
    }
}
