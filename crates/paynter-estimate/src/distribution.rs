//! Quantiles of the distributions that confidence is measured by.

use crate::tolerance::{CONVERGED_FRACTION, LEAST_DIVISOR};
use paynter_ensemble::normal;

/// The quantile of Student's distribution with so many degrees of freedom.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom >= 1e7 {
        return normal::quantile(p);
    }
    if p < 0.5 {
        return -student_quantile(1.0 - p, freedom);
    }
    let above = |t: f64| 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (0.0, 1.0);
    while above(high) > 1.0 - p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if above(middle) > 1.0 - p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The quantile of the chi-squared distribution (Wilson and Hilferty's approximation).
pub(crate) fn chi_squared_quantile(p: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + normal::quantile(p) * spread.sqrt()).powi(3)
}

/// The regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let nonzero = |value: f64| if value.abs() < LEAST_DIVISOR { LEAST_DIVISOR } else { value };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut sum = d;
    for m in 1..400 {
        let k = f64::from(m);
        let even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        let odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        let before = sum;
        for factor in [even, odd] {
            d = 1.0 / nonzero(1.0 + factor * d);
            c = nonzero(1.0 + factor / c);
            sum *= c * d;
        }
        if (sum - before).abs() <= CONVERGED_FRACTION * sum.abs() {
            break;
        }
    }
    front * sum
}

/// The logarithm of the gamma function (Lanczos).
fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let base = x + 5.5;
    let mut sum = 1.000_000_000_190_015;
    for (k, term) in SERIES.iter().enumerate() {
        sum += term / (x + 1.0 + k as f64);
    }
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, freedom, wanted) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 5.0, 2.570_581_836),
            (0.95, 30.0, 1.697_260_887),
            (0.995, 120.0, 2.617_421_145),
            (0.025, 10.0, -2.228_138_852),
        ] {
            let found = student_quantile(p, freedom);
            assert!((found - wanted).abs() < 1e-7 * f64::abs(wanted), "{p} {freedom}: {found}");
        }
        for (p, wanted) in [(0.975, 1.959_963_985), (0.5, 0.0), (0.001, -3.090_232_306)] {
            assert!((normal::quantile(p) - wanted).abs() < 1e-8, "{p}");
        }
        assert!((chi_squared_quantile(0.99, 20.0) - 37.566).abs() < 0.05);
        assert!((chi_squared_quantile(0.95, 5.0) - 11.070).abs() < 0.05);
    }
}
