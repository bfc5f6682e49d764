//! What residuals tell: whether they are white, and by what autoregressive model if they are not.

use crate::distribution::chi_squared_quantile;
use crate::tolerance::{LEAST_AUTOCORRELATION, LEAST_FREEDOM, WHITENESS_LEVEL};

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
    /// The autocovariance of that model, from lag 0 on as far as it counts.
    pub(crate) covariance: Vec<f64>,
    /// The autocovariance of the residuals as they are.
    sample: Vec<f64>,
    /// The coefficients of the autoregressive model.
    model: Vec<f64>,
    /// So many residuals the fit has taken.
    leverage: f64,
    /// The longest memory that the model may have.
    most_lags: usize,
}

impl Whiteness {
    /// Whether nothing speaks against white residuals.
    pub fn is_white(&self) -> bool {
        self.order == 0
    }

    /// A series of residuals, NaN where one is missing, that count as white; the fit has taken so many of them
    /// (`leverage`), and `most_lags` bounds the memory of a model.
    pub(crate) fn new(
        (experiment, output): (usize, usize),
        series: &[f64],
        leverage: f64,
        most_lags: usize,
    ) -> Whiteness {
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
            covariance: Vec::new(),
            most_lags: most_lags.min(count / 2),
            sample,
            model: Vec::new(),
            leverage,
        };
        found.covariance.push(found.variance());
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
        self.model = autoregression(sample, self.count);
        self.order = self.model.len();
        self.covariance = remembered(sample, &self.model, self.most_lags);
    }

    /// The variance of the noise where it is white: residuals are smaller by what the fit has taken of them.
    fn variance(&self) -> f64 {
        let count = self.count as f64;
        if self.tells_no_noise() { 0.0 } else { self.sample[0] * count / (count - self.leverage) }
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

    /// How many residuals count as independent.
    pub(crate) fn effective(&self) -> f64 {
        let memory: f64 = self.covariance.iter().skip(1).sum::<f64>() * 2.0 / self.covariance[0] + 1.0;
        (self.count as f64 / memory.max(1.0)).min(self.count as f64)
    }
}

/// An autocovariance beside its first number.
fn correlation(covariance: &[f64]) -> Vec<f64> {
    let total = covariance[0];
    covariance.iter().map(|c| if total > 0.0 { c / total } else { 0.0 }).collect()
}

/// The coefficients of the autoregressive model of least Bayesian information criterion, by Levinson's recursion;
/// of order 1 at least.
fn autoregression(covariance: &[f64], count: usize) -> Vec<f64> {
    let size = count as f64;
    let mut best: (f64, Vec<f64>) = (f64::INFINITY, Vec::new());
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
        if criterion < best.0 {
            best = (criterion, model.clone());
        }
    }
    best.1
}

/// The autocovariance of an autoregressive model, as far as it counts.
fn remembered(sample: &[f64], model: &[f64], most: usize) -> Vec<f64> {
    let mut covariance: Vec<f64> = sample[..=model.len().min(sample.len() - 1)].to_vec();
    while covariance.len() <= most {
        let next: f64 = model.iter().enumerate().map(|(i, a)| a * covariance[covariance.len() - 1 - i]).sum();
        covariance.push(next);
    }
    covariance.truncate(most + 1);
    let counts = covariance.iter().rposition(|c| c.abs() > LEAST_AUTOCORRELATION * covariance[0]);
    covariance.truncate(counts.unwrap_or(0) + 1);
    covariance
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
        let judged = |series: &[f64], most_lags| {
            let mut found = Whiteness::new((0, 0), series, 0.0, most_lags);
            found.judge(&[]);
            found
        };
        let white = (0..100).filter(|seed| judged(&noise(*seed, 400, 0.0), 200).is_white());
        assert!(white.count() >= 95);
        let found = judged(&noise(3, 5000, 0.8), 400);
        assert!(!found.is_white() && found.order <= 3, "{}", found.order);
        // The covariance of the model is σ²·0.8^k/(1 − 0.64).
        for k in [0, 1, 5] {
            let wanted = 0.8_f64.powi(k) / 0.36;
            assert!((found.covariance[k as usize] / wanted - 1.0).abs() < 0.25, "{k}");
        }
        assert!((found.effective() / (5000.0 / 9.0) - 1.0).abs() < 0.3, "{}", found.effective());
        // The logarithm of σ²/(1 − a)² is known with the variance 2/n + 4 (1 + a)/(n (1 − a)).
        assert!((found.freedom() / (5000.0 / 19.0) - 1.0).abs() < 0.3, "{}", found.freedom());
    }
}
