//! Quantiles of the distributions that confidence is measured by.

use crate::tolerance::{CONVERGED_FRACTION, LEAST_DIVISOR};

/// The quantile of the standard normal distribution (Acklam's rational approximation, relative error 1.2e-9).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let horner = |list: &[f64], x: f64| list.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    };
    match p {
        p if p < 0.02425 => tail(p),
        p if p > 1.0 - 0.02425 => -tail(1.0 - p),
        p => {
            let q = p - 0.5;
            let r = q * q;
            q * horner(&A, r) / horner(&B, r)
        }
    }
}

/// The quantile of Student's distribution with so many degrees of freedom.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom >= 1e7 {
        return normal_quantile(p);
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
    freedom * (1.0 - spread + normal_quantile(p) * spread.sqrt()).powi(3)
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
            assert!((normal_quantile(p) - wanted).abs() < 1e-8, "{p}");
        }
        assert!((chi_squared_quantile(0.99, 20.0) - 37.566).abs() < 0.05);
        assert!((chi_squared_quantile(0.95, 5.0) - 11.070).abs() < 0.05);
    }
}
