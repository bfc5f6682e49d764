//! Rational functions in lowest terms.

use std::collections::BTreeMap;
use std::fmt;

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::gcd::exact;
use super::{Integer, Poly, PolyError, Ring, Work};

/// A rational function in its one canonical form: integer coefficients,
/// numerator and denominator without common factor (nor common content), the
/// leading coefficient of the denominator positive.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fraction {
    numerator: Poly,
    denominator: Poly,
}

impl Fraction {
    /// Returns the fraction 0.
    pub fn zero() -> Fraction {
        Fraction { numerator: Poly::zero(), denominator: Poly::one() }
    }

    /// Returns the fraction 1.
    pub fn one() -> Fraction {
        Poly::one().into()
    }

    /// Makes the quotient of two polynomials, reduced to lowest terms.
    pub fn new(numerator: Poly, denominator: Poly, work: &Work) -> Result<Fraction, PolyError> {
        if denominator.is_zero() {
            return Err(PolyError::DivisionByZero);
        }
        let common = numerator.gcd(&denominator, work)?;
        Ok(Fraction::reduced(exact(&numerator, &common, work)?, exact(&denominator, &common, work)?))
    }

    /// Makes a constant.
    pub fn constant(value: &RBig) -> Fraction {
        Fraction {
            numerator: Poly::constant(value.numerator().clone()),
            denominator: Poly::constant(value.denominator().clone()),
        }
    }

    /// Mends only the sign of a quotient that has no common factors.
    pub(super) fn reduced(numerator: Poly, denominator: Poly) -> Fraction {
        if numerator.is_zero() {
            return Fraction::zero();
        }
        if denominator.is_negative() {
            return Fraction { numerator: numerator.neg(), denominator: denominator.neg() };
        }
        Fraction { numerator, denominator }
    }

    /// Returns the numerator.
    pub fn numerator(&self) -> &Poly {
        &self.numerator
    }

    /// Returns the denominator.
    pub fn denominator(&self) -> &Poly {
        &self.denominator
    }

    /// Returns whether this is 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// Returns whether this is 1.
    pub fn is_one(&self) -> bool {
        self.numerator.is_one() && self.denominator.is_one()
    }

    /// Returns the value if no variable occurs.
    pub fn as_constant(&self) -> Option<RBig> {
        let (numerator, denominator) = (self.numerator.as_constant()?, self.denominator.as_constant()?);
        Some(RBig::from(numerator.to_ibig()) / RBig::from(denominator.to_ibig()))
    }

    /// Returns the sum.
    pub fn add(&self, other: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        self.combine(other, false, work)
    }

    /// Returns the difference.
    pub fn sub(&self, other: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        self.combine(other, true, work)
    }

    /// Adds or subtracts; the denominators' common factor is the only place
    /// where the sum can have one (Henrici).
    fn combine(&self, other: &Fraction, negate: bool, work: &Work) -> Result<Fraction, PolyError> {
        if other.is_zero() {
            return Ok(self.clone());
        }
        let common = self.denominator.gcd(&other.denominator, work)?;
        let left = exact(&self.denominator, &common, work)?;
        let right = exact(&other.denominator, &common, work)?;
        let numerator = Poly::sum_of_products(
            &[(false, &self.numerator, &right), (negate, &other.numerator, &left)],
            work,
        )?;
        let again = if common.is_one() { common } else { numerator.gcd(&common, work)? };
        let numerator = exact(&numerator, &again, work)?;
        let denominator = left.mul(&exact(&other.denominator, &again, work)?, work)?;
        Ok(Fraction::reduced(numerator, denominator))
    }

    /// Returns the sum of many fractions: one common denominator, one
    /// reduction at the end.
    pub fn sum(fractions: &[Fraction], work: &Work) -> Result<Fraction, PolyError> {
        let mut groups: BTreeMap<&Poly, Vec<&Poly>> = BTreeMap::new();
        for fraction in fractions.iter().filter(|f| !f.is_zero()) {
            groups.entry(&fraction.denominator).or_default().push(&fraction.numerator);
        }
        let one = Poly::one();
        let mut common = Poly::one();
        for denominator in groups.keys() {
            common = common.lcm(denominator, work)?;
        }
        let (mut numerators, mut factors) = (Vec::new(), Vec::new());
        for (denominator, list) in &groups {
            let pairs: Vec<(bool, &Poly, &Poly)> = list.iter().map(|n| (false, &one, *n)).collect();
            numerators.push(Poly::sum_of_products(&pairs, work)?);
            factors.push(exact(&common, denominator, work)?);
        }
        let pairs: Vec<(bool, &Poly, &Poly)> =
            numerators.iter().zip(&factors).map(|(n, f)| (false, n, f)).collect();
        Fraction::new(Poly::sum_of_products(&pairs, work)?, common, work)
    }

    /// Returns the product.
    pub fn mul(&self, other: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        let left = self.numerator.gcd(&other.denominator, work)?;
        let right = other.numerator.gcd(&self.denominator, work)?;
        if left.is_zero() || right.is_zero() {
            return Ok(Fraction::zero());
        }
        let numerator =
            exact(&self.numerator, &left, work)?.mul(&exact(&other.numerator, &right, work)?, work)?;
        let denominator =
            exact(&self.denominator, &right, work)?.mul(&exact(&other.denominator, &left, work)?, work)?;
        Ok(Fraction::reduced(numerator, denominator))
    }

    /// Returns the quotient; fails when the divisor is 0.
    pub fn div(&self, other: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        self.mul(&other.inverse()?, work)
    }

    /// Returns the reciprocal; fails for 0.
    pub fn inverse(&self) -> Result<Fraction, PolyError> {
        if self.is_zero() {
            return Err(PolyError::DivisionByZero);
        }
        Ok(Fraction::reduced(self.denominator.clone(), self.numerator.clone()))
    }

    /// Returns the negative.
    pub fn neg(&self) -> Fraction {
        Fraction { numerator: self.numerator.neg(), denominator: self.denominator.clone() }
    }

    /// Returns the power with an integer exponent; fails for a negative power of 0.
    pub fn pow(&self, exponent: i32, work: &Work) -> Result<Fraction, PolyError> {
        let base = if exponent < 0 { self.inverse()? } else { self.clone() };
        let exponent = exponent.unsigned_abs();
        Ok(Fraction::reduced(base.numerator.pow(exponent, work)?, base.denominator.pow(exponent, work)?))
    }

    /// Returns the derivative by a variable.
    pub fn derivative(&self, variable: usize, work: &Work) -> Result<Fraction, PolyError> {
        let (numerator, denominator) = (&self.numerator, &self.denominator);
        let partial = denominator.derivative(variable);
        if partial.is_zero() {
            return Fraction::new(numerator.derivative(variable), denominator.clone(), work);
        }
        // Repeated factors of the denominator need not be squared.
        let common = denominator.gcd(&partial, work)?;
        let (once, partial) = (exact(denominator, &common, work)?, exact(&partial, &common, work)?);
        let numerator = Poly::sum_of_products(
            &[(false, &numerator.derivative(variable), &once), (true, numerator, &partial)],
            work,
        )?;
        Fraction::new(numerator, denominator.mul(&once, work)?, work)
    }

    /// Returns the fraction with a variable replaced by a fraction; fails when
    /// the denominator becomes 0.
    pub fn substitute(&self, variable: usize, value: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        let degree = self.numerator.degree(variable).max(self.denominator.degree(variable));
        let numerator = homogenised(&self.numerator, variable, value, degree, work)?;
        let denominator = homogenised(&self.denominator, variable, value, degree, work)?;
        Fraction::new(numerator, denominator, work)
    }

    /// Returns the value at doubles (infinite or not a number at a pole).
    pub fn evaluate_f64(&self, values: &[f64]) -> f64 {
        self.numerator.evaluate_f64(values) / self.denominator.evaluate_f64(values)
    }

    /// Returns the exact value at rationals, nothing at a pole.
    pub fn evaluate_rational(&self, values: &[RBig]) -> Option<RBig> {
        let denominator = self.denominator.evaluate_rational(values);
        if denominator == RBig::ZERO {
            return None;
        }
        Some(self.numerator.evaluate_rational(values) / denominator)
    }

    /// Returns the value modulo a prime below 2⁶³ at residues, nothing at a pole.
    pub fn evaluate_modulo(&self, prime: u64, values: &[u64]) -> Option<u64> {
        let denominator = self.denominator.evaluate_modulo(prime, values);
        let numerator = self.numerator.evaluate_modulo(prime, values);
        let inverse = inverse_modulo(denominator, prime)?;
        Some((u128::from(numerator) * u128::from(inverse) % u128::from(prime)) as u64)
    }

    /// Writes the fraction with the names of a ring.
    pub fn display<'a>(&'a self, ring: &'a Ring) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            if self.denominator.is_one() {
                return write!(f, "{}", self.numerator.display(ring));
            }
            write!(f, "({})/({})", self.numerator.display(ring), self.denominator.display(ring))
        })
    }
}

/// Returns the sum of c_i nⁱ d^(degree−i) for the value n/d: the polynomial at
/// that value times d^degree.
fn homogenised(
    poly: &Poly,
    variable: usize,
    value: &Fraction,
    degree: u32,
    work: &Work,
) -> Result<Poly, PolyError> {
    let mut parts = Vec::new();
    for (exponent, coefficient) in poly.coefficients(variable) {
        let power = value.numerator.pow(exponent, work)?;
        let rest = value.denominator.pow(degree - exponent, work)?;
        parts.push((coefficient, power.mul(&rest, work)?));
    }
    let pairs: Vec<(bool, &Poly, &Poly)> = parts.iter().map(|(c, p)| (false, c, p)).collect();
    Poly::sum_of_products(&pairs, work)
}

/// Returns the inverse modulo a prime by Euclid's extended algorithm.
fn inverse_modulo(value: u64, prime: u64) -> Option<u64> {
    let (mut r, mut next) = (i128::from(prime), i128::from(value));
    let (mut t, mut t_next) = (0i128, 1i128);
    while next != 0 {
        let quotient = r / next;
        (r, next) = (next, r - quotient * next);
        (t, t_next) = (t_next, t - quotient * t_next);
    }
    if r != 1 {
        return None;
    }
    u64::try_from(t.rem_euclid(i128::from(prime))).ok()
}

impl From<Poly> for Fraction {
    fn from(numerator: Poly) -> Fraction {
        Fraction { numerator, denominator: Poly::one() }
    }
}

impl From<Integer> for Fraction {
    fn from(value: Integer) -> Fraction {
        Poly::constant(value).into()
    }
}

impl From<IBig> for Fraction {
    fn from(value: IBig) -> Fraction {
        Poly::constant(value).into()
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})/({})", self.numerator, self.denominator)
    }
}
