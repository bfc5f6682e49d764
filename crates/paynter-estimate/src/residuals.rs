//! What residuals tell: whether they are white, and by what autoregressive model if they are not.

use crate::distribution::chi_squared_quantile;
use crate::tolerance::{LEAST_AUTOCORRELATION, WHITENESS_LEVEL};

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
    /// The longest memory that the model may have.
    most_lags: usize,
}

impl Whiteness {
    /// Whether nothing speaks against white residuals.
    pub fn is_white(&self) -> bool {
        self.order == 0
    }

    /// Judges a series of residuals, NaN where one is missing; `most_lags` bounds the model's memory. Residuals are not
    /// white where the test of Ljung and Box says so, or where they are better told with the one before (by Bayes'
    /// criterion), which sees in short records what a test over many lags does not.
    pub(crate) fn new(experiment: usize, output: usize, series: &[f64], most_lags: usize) -> Whiteness {
        let count = series.iter().filter(|value| value.is_finite()).count();
        let size = count.max(1) as f64;
        let lags = MOST_ORDER.max(SHOWN_LAGS).min(count / 4);
        let covariance = |lag: usize| {
            let pairs = series.iter().zip(series.iter().skip(lag));
            pairs.map(|(a, b)| a * b).filter(|product| product.is_finite()).sum::<f64>() / size
        };
        let sample: Vec<f64> = (0..=lags).map(covariance).collect();
        let total = sample[0];
        let correlation: Vec<f64> =
            sample.iter().take(SHOWN_LAGS + 1).map(|c| if total > 0.0 { c / total } else { 0.0 }).collect();
        let tested = correlation.len() - 1;
        let terms = correlation.iter().enumerate().skip(1).map(|(k, rho)| rho * rho / (size - k as f64));
        let statistic = size * (size + 2.0) * terms.sum::<f64>();
        let limit = chi_squared_quantile(1.0 - WHITENESS_LEVEL, tested.max(1) as f64);
        let mut found = Whiteness {
            experiment,
            output,
            count,
            autocorrelation: correlation,
            statistic,
            limit,
            order: 0,
            covariance: vec![total],
            most_lags: most_lags.min(count / 2),
            sample,
        };
        let remembers = tested > 0 && size * (1.0 - found.autocorrelation[1].powi(2)).ln() + size.ln() < 0.0;
        if tested > 0 && (statistic > limit || remembers) && total > 0.0 {
            found.model(&found.sample.clone());
        }
        found
    }

    /// Makes an autoregressive model of an autocovariance.
    fn model(&mut self, sample: &[f64]) {
        let model = autoregression(sample, self.count);
        self.order = model.len();
        self.covariance = remembered(sample, &model, self.most_lags);
    }

    /// The number of lags of the sample autocovariance.
    pub(crate) fn lags(&self) -> usize {
        self.sample.len()
    }

    /// Gives back what the fit has taken from residuals: the autocovariance of what the fitted curve has followed of
    /// the noise.
    pub(crate) fn restore(&mut self, taken: &[f64]) {
        if self.is_white() {
            self.covariance = vec![self.sample[0] + taken.first().copied().unwrap_or(0.0)];
            return;
        }
        let whole: Vec<f64> = self.sample.iter().zip(taken).map(|(left, taken)| left + taken).collect();
        self.model(&whole);
    }

    /// The same as if they were white.
    pub(crate) fn bare(&self) -> Whiteness {
        Whiteness { covariance: vec![self.covariance[0]], ..self.clone() }
    }

    /// How many residuals count as independent.
    pub(crate) fn effective(&self) -> f64 {
        let memory: f64 = self.covariance.iter().skip(1).sum::<f64>() * 2.0 / self.covariance[0] + 1.0;
        (self.count as f64 / memory.max(1.0)).min(self.count as f64)
    }
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
        let white = (0..100).filter(|seed| Whiteness::new(0, 0, &noise(*seed, 400, 0.0), 200).is_white());
        assert!(white.count() >= 95);
        let found = Whiteness::new(0, 0, &noise(3, 5000, 0.8), 400);
        assert!(!found.is_white() && found.order <= 3, "{}", found.order);
        // The covariance of the model is σ²·0.8^k/(1 − 0.64).
        for k in [0, 1, 5] {
            let wanted = 0.8_f64.powi(k) / 0.36;
            assert!((found.covariance[k as usize] / wanted - 1.0).abs() < 0.25, "{k}");
        }
        assert!((found.effective() / (5000.0 / 9.0) - 1.0).abs() < 0.3, "{}", found.effective());
    }
}
