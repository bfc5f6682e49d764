//! The normal distribution: its distribution function and its quantiles, to
//! the digits of double precision.

/// The probability of a value below x: Φ(x), by the complementary error function.
pub(crate) fn distribution(x: f64) -> f64 {
    0.5 * complementary_error(-x / std::f64::consts::SQRT_2)
}

/// erfc(x) by its continued fraction for large x, by the series of erf for small ones.
fn complementary_error(x: f64) -> f64 {
    const SERIES: f64 = 2.0;
    if x < 0.0 {
        return 2.0 - complementary_error(-x);
    }
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < SERIES {
        // erf(x) = 2/√π e^(−x²) Σ 2^n x^(2n+1)/(2n+1)!!
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term > sum * f64::EPSILON * 0.1 {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 * scale * sum;
    }
    let mut fraction = x;
    for k in (1..=120).rev() {
        fraction = x + 0.5 * f64::from(k) / fraction;
    }
    scale / fraction
}

/// The value below which a normal number is with a probability between 0 and 1 (Wichura 1988, algorithm AS 241).
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 { ratio(&FLANK, r - 1.6) } else { ratio(&TAIL, r - 5.0) };
    size.copysign(q)
}

/// Numerator and denominator of a rational approximation, lowest power first.
type Ratio = ([f64; 8], [f64; 8]);

fn ratio((above, below): &Ratio, x: f64) -> f64 {
    let value = |list: &[f64; 8]| list.iter().rev().fold(0.0, |sum, c| sum * x + c);
    value(above) / value(below)
}

#[allow(clippy::excessive_precision)]
const CENTRE: Ratio = (
    [
        3.3871328727963666080,
        1.3314166789178437745e+2,
        1.9715909503065514427e+3,
        1.3731693765509461125e+4,
        4.5921953931549871457e+4,
        6.7265770927008700853e+4,
        3.3430575583588128105e+4,
        2.5090809287301226727e+3,
    ],
    [
        1.0,
        4.2313330701600911252e+1,
        6.8718700749205790830e+2,
        5.3941960214247511077e+3,
        2.1213794301586595867e+4,
        3.9307895800092710610e+4,
        2.8729085735721942674e+4,
        5.2264952788528545610e+3,
    ],
);

#[allow(clippy::excessive_precision)]
const FLANK: Ratio = (
    [
        1.42343711074968357734,
        4.63033784615654529590,
        5.76949722146069140550,
        3.64784832476320460504,
        1.27045825245236838258,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ],
    [
        1.0,
        2.05319162663775882187,
        1.67638483018380384940,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ],
);

#[allow(clippy::excessive_precision)]
const TAIL: Ratio = (
    [
        6.65790464350110377720,
        5.46378491116411436990,
        1.78482653991729133580,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ],
    [
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // By mpmath with 40 digits.
        for (p, wanted) in [
            (0.975, 1.959_963_984_540_054_2),
            (0.5, 0.0),
            (1e-4, -3.719_016_485_455_680_6),
            (1e-20, -9.262_340_089_798_408),
            (0.6, 0.253_347_103_135_799_8),
        ] {
            assert!((quantile(p) - wanted).abs() <= 1e-14 * wanted.abs().max(1.0), "{p}: {}", quantile(p));
        }
    }

    #[test]
    fn the_distribution_undoes_the_quantile() {
        for k in 1..2000 {
            let p = f64::from(k) / 2000.0;
            assert!((distribution(quantile(p)) - p).abs() < 4e-15, "{p}");
        }
        for x in [-30.0, -8.0, -2.9, 3.1] {
            let p = distribution(x);
            assert!((quantile(p) - x).abs() < 1e-12 * x.abs() || p > 0.99, "{x}");
        }
    }
}
