//! Roots of polynomials with integer coefficients, to the last digit of
//! floating point and with exact multiplicities.
//!
//! Repeated roots are found by exact division (Yun's square-free
//! decomposition), and so are pairs ±s, which makes undamped poles lie on the
//! imaginary axis exactly. Simple roots come from Aberth's iteration in as
//! many bits as it takes until discs of Smith's kind hold one root each.

use dashu_int::IBig;
use num_complex::Complex64;
use paynter_algebra::Rational;
use paynter_algebra::poly::{Budget, Integer, Poly, PolyError, Work};
use paynter_base::{CancellationToken, Cancelled};

use super::Integers;
use super::big::{Big, Complex};
use super::characteristic::trimmed;
use crate::tolerance::{
    LARGEST_PRECISION, NOISE_BITS, PAIR_BITS, ROOT_PRECISION, ROOT_TURN, SAME_ROOT, START_BITS,
};

/// A root and its multiplicity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Its value.
    pub value: Complex64,
    /// Its multiplicity.
    pub multiplicity: usize,
}

/// Finds the roots of a polynomial that is not zero, sorted as by [`sort_conjugate`].
/// Returns nothing where the precision above did not suffice.
pub fn roots(polynomial: &Integers, token: &CancellationToken) -> Result<Option<Vec<Root>>, Cancelled> {
    let polynomial = trimmed(polynomial.clone());
    let zeros = polynomial.iter().take_while(|c| c.is_zero()).count();
    let mut found: Vec<Root> = Vec::new();
    if zeros > 0 {
        found.push(Root { value: Complex64::ZERO, multiplicity: zeros });
    }
    let work = Work::new(Budget { terms: usize::MAX, steps: u64::MAX }, token);
    let factors = match poly(&polynomial[zeros..]).and_then(|p| square_free(&p, &work)) {
        Ok(factors) => factors,
        Err(PolyError::Cancelled) => return Err(Cancelled),
        Err(_) => return Ok(None),
    };
    for (factor, multiplicity) in factors {
        let Some(values) = symmetric(&factor, &work, token)? else { return Ok(None) };
        for value in values {
            merge(&mut found, Root { value, multiplicity });
        }
    }
    sort_conjugate(&mut found, |root| root.value);
    Ok(Some(found))
}

/// Adds a root, or counts it where the same is there.
fn merge(found: &mut Vec<Root>, root: Root) {
    let near = |other: &&mut Root| (other.value - root.value).norm() <= SAME_ROOT * root.value.norm();
    match found.iter_mut().find(near) {
        Some(other) => other.multiplicity += root.multiplicity,
        None => found.push(root),
    }
}

/// Sorts by distance from the origin, conjugates side by side with the upper one first.
pub fn sort_conjugate<T>(list: &mut [T], value: impl Fn(&T) -> Complex64) {
    list.sort_by(|x, y| {
        let (x, y) = (value(x), value(y));
        x.norm()
            .total_cmp(&y.norm())
            .then(x.re.total_cmp(&y.re))
            .then(x.im.abs().total_cmp(&y.im.abs()))
            .then(y.im.total_cmp(&x.im))
    });
}

pub(crate) fn poly(coefficients: &[IBig]) -> Result<Poly, PolyError> {
    let terms = coefficients.iter().enumerate().filter(|(_, c)| !c.is_zero());
    Poly::from_terms(terms.map(|(power, c)| (vec![power as u32], Integer::from(c.clone()))))
}

pub(crate) fn integers(poly: &Poly) -> Integers {
    let mut list = vec![IBig::ZERO; poly.degree(0) as usize + 1];
    for (powers, coefficient) in poly.terms() {
        list[powers.first().copied().unwrap_or(0) as usize] = coefficient.to_ibig();
    }
    trimmed(list)
}

fn divided(a: &Poly, b: &Poly, work: &Work) -> Result<Poly, PolyError> {
    Ok(a.div_exact(b, work)?.unwrap_or_else(|| a.clone()))
}

/// Yun's decomposition: factors without repeated roots, each with its multiplicity.
fn square_free(p: &Poly, work: &Work) -> Result<Vec<(Poly, usize)>, PolyError> {
    let p = p.primitive_part();
    let mut common = p.gcd(&p.derivative(0), work)?;
    let mut rest = divided(&p, &common, work)?;
    let mut factors = Vec::new();
    let mut multiplicity = 1;
    while rest.degree(0) > 0 {
        let next = rest.gcd(&common, work)?;
        let factor = divided(&rest, &next, work)?;
        if factor.degree(0) > 0 {
            factors.push((factor, multiplicity));
        }
        common = divided(&common, &next, work)?;
        rest = next;
        multiplicity += 1;
    }
    Ok(factors)
}

/// The roots of a square-free polynomial, pairs ±s by way of their squares.
fn symmetric(p: &Poly, work: &Work, token: &CancellationToken) -> Result<Option<Vec<Complex64>>, Cancelled> {
    let all = integers(p);
    let even: Integers = all.iter().step_by(2).cloned().collect();
    let odd: Integers = all.iter().skip(1).step_by(2).cloned().collect();
    let squares = match (poly(&even), poly(&odd)) {
        (Ok(even), Ok(odd)) => even.gcd(&odd, work),
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let (squares, rest) = match squares.map(|g| integers(&g.primitive_part())) {
        Err(PolyError::Cancelled) => return Err(Cancelled),
        Ok(squares) if squares.len() > 1 => {
            let mut spread = vec![IBig::ZERO; 2 * squares.len() - 1];
            for (power, c) in squares.iter().enumerate() {
                spread[2 * power] = c.clone();
            }
            match poly(&spread).and_then(|g| divided(p, &g, work)) {
                Ok(rest) => (squares, integers(&rest)),
                Err(_) => (Vec::new(), all),
            }
        }
        _ => (Vec::new(), all),
    };
    let (Some(first), Some(mut values)) = (simple(&squares, token)?, simple(&rest, token)?) else {
        return Ok(None);
    };
    for x in first {
        let root = if x.im == 0.0 && x.re < 0.0 {
            Complex64::new(0.0, (-x.re).sqrt())
        } else if x.im == 0.0 {
            Complex64::new(x.re.sqrt(), 0.0)
        } else {
            x.sqrt()
        };
        values.push(root);
        // Adding zero takes the sign off zeros.
        values.push(-root + Complex64::ZERO);
    }
    Ok(Some(values))
}

/// The roots of a polynomial without repeated ones and without zero.
fn simple(polynomial: &Integers, token: &CancellationToken) -> Result<Option<Vec<Complex64>>, Cancelled> {
    match polynomial.as_slice() {
        [] | [_] => Ok(Some(Vec::new())),
        [low, high] => {
            let value = -Rational::from(low.clone()) / Rational::from(high.clone());
            Ok(Some(vec![Complex64::new(value.to_f64().value(), 0.0)]))
        }
        _ => Aberth::new(polynomial).solve(token),
    }
}

/// Aberth's iteration.
struct Aberth<'a> {
    exact: &'a Integers,
    bits: usize,
    coefficients: Vec<Big>,
    /// Logarithms of the coefficients, minus infinity for zero.
    logs: Vec<f64>,
    z: Vec<Complex>,
}

fn log2(x: &Big) -> f64 {
    if x.is_zero() {
        return f64::NEG_INFINITY;
    }
    let (fraction, exponent) = x.parts();
    fraction.abs().log2() + exponent as f64
}

fn log2_norm(x: &Complex) -> f64 {
    if x.is_zero() {
        return f64::NEG_INFINITY;
    }
    let top = x.top();
    x.scaled(top).norm().log2() + top as f64
}

impl Aberth<'_> {
    fn new(exact: &Integers) -> Aberth<'_> {
        let coefficients: Vec<Big> = exact.iter().map(|c| Big::new(c.clone(), START_BITS)).collect();
        let logs: Vec<f64> = coefficients.iter().map(log2).collect();
        let z = starting_points(&logs);
        Aberth { exact, bits: START_BITS, coefficients, logs, z }
    }

    fn solve(mut self, token: &CancellationToken) -> Result<Option<Vec<Complex64>>, Cancelled> {
        while self.bits <= LARGEST_PRECISION {
            let mut open: Vec<usize> = (0..self.z.len()).collect();
            for _ in 0..80 {
                token.check()?;
                open.retain(|&i| self.improve(i));
                if open.is_empty() {
                    break;
                }
            }
            if let Some(radii) = self.radii() {
                return Ok(Some(self.values(&radii)));
            }
            self.bits *= 2;
            self.coefficients = self.exact.iter().map(|c| Big::new(c.clone(), self.bits)).collect();
        }
        Ok(None)
    }

    /// The value and the derivative at a point.
    fn evaluate(&self, z: &Complex) -> (Complex, Complex) {
        let mut value = Complex::real(Big::zero());
        let mut derivative = Complex::real(Big::zero());
        for coefficient in self.coefficients.iter().rev() {
            derivative = derivative.mul(z, self.bits).add(&value, self.bits);
            value = value.mul(z, self.bits);
            value.re = value.re.add(coefficient, self.bits);
        }
        (value, derivative)
    }

    /// The logarithm of a bound of the rounding error of the value at a point.
    fn noise(&self, z: &Complex) -> f64 {
        let log = log2_norm(z);
        let terms = self.logs.iter().enumerate().map(|(k, l)| l + k as f64 * log);
        let count = self.logs.len() as f64;
        terms.fold(f64::NEG_INFINITY, f64::max) + 2.0 * count.log2() + 4.0 - self.bits as f64
    }

    /// Takes one step; returns whether another is needed.
    fn improve(&mut self, i: usize) -> bool {
        let z = self.z[i].clone();
        if self.z[..i].iter().any(|other| z.sub(other, self.bits).is_zero()) {
            // Two that have met would go on together.
            let apart = Complex::from_f64(Complex64::new(0.6, 0.8), -(self.bits as i64 / 4));
            self.z[i] = z.add(&z.mul(&apart, self.bits), self.bits);
            return true;
        }
        let (value, derivative) = self.evaluate(&z);
        if value.is_zero() || log2_norm(&value) <= self.noise(&z) {
            return false;
        }
        if derivative.is_zero() {
            self.z[i] = z.mul(&Complex::from_f64(Complex64::new(1.0, ROOT_TURN), 0), self.bits);
            return true;
        }
        let newton = value.div(&derivative, self.bits);
        let mut repulsion = Complex64::ZERO;
        for (j, other) in self.z.iter().enumerate() {
            let gap = z.sub(other, self.bits);
            if j != i && !gap.is_zero() {
                let (tz, tg) = (z.top(), gap.top());
                let power = (tz - tg).clamp(-1000, 900) as i32;
                repulsion += z.scaled(tz) / gap.scaled(tg) * 2f64.powi(power);
            }
        }
        let relative = newton.div(&z, 64).scaled(0);
        let factor = Complex64::new(1.0, 0.0) / (Complex64::new(1.0, 0.0) - relative * repulsion);
        let factor = if factor.is_finite() { factor } else { Complex64::new(1.0, 0.0) };
        let step = newton.mul(&Complex::from_f64(factor, 0), self.bits);
        let next = z.sub(&step, self.bits);
        // More bits are for roots that are close together, which take smaller steps.
        let small = step.top() < z.top() - (ROOT_PRECISION as i64 + 8).max(self.bits as i64 / 2);
        if !next.is_zero() {
            self.z[i] = next;
        }
        !small
    }

    /// The logarithms of the radii of discs that hold one root each; none where they are too large.
    fn radii(&self) -> Option<Vec<f64>> {
        let n = self.z.len();
        let leading = *self.logs.last()?;
        let mut radii = Vec::with_capacity(n);
        for (i, z) in self.z.iter().enumerate() {
            let (value, _) = self.evaluate(z);
            let size = log2_norm(&value).max(self.noise(z)) + 1.0;
            let mut product = leading;
            for (j, other) in self.z.iter().enumerate() {
                if j != i {
                    product += log2_norm(&z.sub(other, self.bits));
                }
            }
            let radius = (n as f64).log2() + size - product;
            if radius.is_nan() || radius > log2_norm(z) - ROOT_PRECISION {
                return None;
            }
            radii.push(radius);
        }
        for i in 0..n {
            for j in 0..i {
                let gap = log2_norm(&self.z[i].sub(&self.z[j], self.bits));
                if gap <= radii[i].max(radii[j]) + 1.0 {
                    return None;
                }
            }
        }
        Some(radii)
    }

    /// The roots in floating point: real ones real, the others in conjugate pairs.
    fn values(&self, radii: &[f64]) -> Vec<Complex64> {
        let mut values = Vec::with_capacity(self.z.len());
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for (z, radius) in self.z.iter().zip(radii) {
            let value = z.scaled(0);
            // A pair that floating point cannot tell apart is a double root.
            if log2(&z.im) <= *radius || z.im.top() < z.re.top() - PAIR_BITS {
                values.push(Complex64::new(value.re, 0.0));
                continue;
            }
            let re = if z.re.top() < z.im.top() - NOISE_BITS { 0.0 } else { value.re };
            let value = Complex64::new(re, value.im);
            if z.im.is_negative() { lower.push(value) } else { upper.push(value) }
        }
        if upper.len() == lower.len() {
            lower = upper.iter().map(Complex64::conj).collect();
        }
        values.extend(upper);
        values.extend(lower);
        values
    }
}

/// Points on the circles that the Newton polygon of the coefficients gives.
fn starting_points(logs: &[f64]) -> Vec<Complex> {
    let mut hull: Vec<usize> = Vec::new();
    for k in (0..logs.len()).filter(|&k| logs[k].is_finite()) {
        while let [.., a, b] = hull[..] {
            let derivative = |i: usize, j: usize| (logs[j] - logs[i]) / (j - i) as f64;
            if derivative(a, b) > derivative(b, k) {
                break;
            }
            hull.pop();
        }
        hull.push(k);
    }
    let mut points = Vec::with_capacity(logs.len());
    for pair in hull.windows(2) {
        let (i, j) = (pair[0], pair[1]);
        let count = j - i;
        let radius = (logs[i] - logs[j]) / count as f64;
        let exponent = radius.floor();
        let size = 2f64.powf(radius - exponent);
        for k in 0..count {
            let turn = k as f64 / count as f64 + i as f64 / logs.len() as f64;
            let angle = std::f64::consts::TAU * turn + 0.7;
            points.push(Complex::from_f64(Complex64::from_polar(size, angle), exponent as i64));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product of (d s − n) over these quotients and of quadratics b s² + a s + c.
    fn product(linear: &[(i64, i64)], quadratic: &[[i64; 3]]) -> Integers {
        let mut p = vec![IBig::ONE];
        let factors = linear
            .iter()
            .map(|(n, d)| vec![-n, *d])
            .chain(quadratic.iter().map(|[c, a, b]| vec![*c, *a, *b]));
        for factor in factors {
            let mut next = vec![IBig::ZERO; p.len() + factor.len() - 1];
            for (i, x) in p.iter().enumerate() {
                for (j, y) in factor.iter().enumerate() {
                    next[i + j] += x * IBig::from(*y);
                }
            }
            p = next;
        }
        p
    }

    fn found(p: &Integers) -> Vec<(f64, f64, usize)> {
        let list = roots(p, &CancellationToken::new()).unwrap().unwrap();
        list.iter().map(|r| (r.value.re, r.value.im, r.multiplicity)).collect()
    }

    #[test]
    fn multiplicities_are_exact() {
        let p = product(&[(-1, 3), (-1, 3), (-1, 3), (0, 1), (0, 1)], &[[4, 0, 1], [4, 0, 1]]);
        let third = -1.0 / 3.0;
        assert_eq!(found(&p), [(0.0, 0.0, 2), (third, 0.0, 3), (0.0, 2.0, 2), (0.0, -2.0, 2)]);
    }

    #[test]
    fn widely_scaled_and_clustered_roots_have_all_digits() {
        let p = product(
            &[
                (-1, 1_000_000_000_000),
                (-1, 1_000_000),
                (-1_000_000, 1_000_000),
                (-1_000_001, 1_000_000),
                (-1_000_002, 1_000_000),
                (-1_000_000_000_000, 1),
            ],
            &[[1_000_000_000_000, 1, 1]],
        );
        let w = (1e12f64 - 0.25).sqrt();
        let expected = [
            (-1e-12, 0.0, 1),
            (-1e-6, 0.0, 1),
            (-1.0, 0.0, 1),
            (-1.000001, 0.0, 1),
            (-1.000002, 0.0, 1),
            (-0.5, w, 1),
            (-0.5, -w, 1),
            (-1e12, 0.0, 1),
        ];
        let list = found(&p);
        assert_eq!(list.len(), expected.len());
        for (found, expected) in list.iter().zip(expected) {
            let error = (found.0 - expected.0).hypot(found.1 - expected.1);
            assert!(error <= 4e-16 * expected.0.hypot(expected.1), "{found:?} {expected:?}");
            assert_eq!(found.2, expected.2);
        }
    }

    #[test]
    fn roots_that_only_many_digits_tell_apart_count_as_one() {
        // (s + 1)(n s + n + 1) with n = 10^40, and the same with a pair of complex ones.
        let n = IBig::from(10).pow(40);
        let one = IBig::ONE;
        assert_eq!(found(&vec![&n + &one, &n + &n + &one, n.clone()]), [(-1.0, 0.0, 2)]);
        assert_eq!(found(&vec![&n + &one, &n + &n, n.clone()]), [(-1.0, 0.0, 2)]);
    }

    #[test]
    fn wilkinsons_polynomial_is_no_trouble() {
        let linear: Vec<(i64, i64)> = (1..=30).map(|k| (-k, 1)).collect();
        let expected: Vec<(f64, f64, usize)> = (1..=30).map(|k| (-f64::from(k), 0.0, 1)).collect();
        assert_eq!(found(&product(&linear, &[])), expected);
    }
}
