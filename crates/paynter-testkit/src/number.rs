//! The number systems in which the oracles compute: exact rationals, integers
//! modulo the prime 2⁶¹ − 1, doubles, dual numbers over any of them (exact
//! derivatives) and linear forms (coefficients of equations).

use crate::expr::Function;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What an expression can be evaluated in. `None` means that the result does
/// not exist there: a division by zero, a product of two unknowns in a linear
/// form, a transcendental function of an exact number.
pub trait Number: Clone + std::fmt::Debug + PartialEq {
    /// The fraction `numerator/denominator`.
    fn ratio(numerator: i64, denominator: i64) -> Self;
    /// Sum.
    fn add(&self, other: &Self) -> Self;
    /// Difference.
    fn sub(&self, other: &Self) -> Self;
    /// Product.
    fn mul(&self, other: &Self) -> Option<Self>;
    /// Quotient.
    fn div(&self, other: &Self) -> Option<Self>;
    /// Tells whether it is exactly zero.
    fn is_zero(&self) -> bool;
    /// Tells whether one can divide by it.
    fn is_unit(&self) -> bool {
        !self.is_zero()
    }
    /// A function's value.
    fn apply(&self, _function: Function) -> Option<Self> {
        None
    }
    /// A power whose exponent is no whole number.
    fn power(&self, _exponent: &Self) -> Option<Self> {
        None
    }
    /// Order, where there is one.
    fn order(&self, _other: &Self) -> Option<Ordering> {
        None
    }
    /// Nought.
    fn zero() -> Self {
        Self::ratio(0, 1)
    }
    /// One.
    fn one() -> Self {
        Self::ratio(1, 1)
    }
    /// The negative.
    fn neg(&self) -> Self {
        Self::zero().sub(self)
    }
    /// A whole power.
    fn powi(&self, exponent: i64) -> Option<Self> {
        let mut result = Self::one();
        for _ in 0..exponent.unsigned_abs() {
            result = result.mul(self)?;
        }
        if exponent < 0 { Self::one().div(&result) } else { Some(result) }
    }
}

/// An exact rational.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rational(pub RBig);

impl Rational {
    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }
}

impl std::fmt::Display for Rational {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Number for Rational {
    fn ratio(numerator: i64, denominator: i64) -> Self {
        let sign = if denominator < 0 { -1 } else { 1 };
        let below = denominator.unsigned_abs().max(1);
        Rational(RBig::from_parts(IBig::from(numerator) * IBig::from(sign), UBig::from(below)))
    }
    fn add(&self, other: &Self) -> Self {
        Rational(&self.0 + &other.0)
    }
    fn sub(&self, other: &Self) -> Self {
        Rational(&self.0 - &other.0)
    }
    fn mul(&self, other: &Self) -> Option<Self> {
        Some(Rational(&self.0 * &other.0))
    }
    fn div(&self, other: &Self) -> Option<Self> {
        (!other.is_zero()).then(|| Rational(&self.0 / &other.0))
    }
    fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
    fn order(&self, other: &Self) -> Option<Ordering> {
        Some(self.0.cmp(&other.0))
    }
}

/// The prime 2⁶¹ − 1.
pub const PRIME: u64 = (1 << 61) - 1;

/// An integer modulo [`PRIME`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modular(pub u64);

impl Modular {
    /// A whole number's residue.
    pub fn new(value: i64) -> Modular {
        Modular((i128::from(value)).rem_euclid(i128::from(PRIME)) as u64)
    }

    /// The residue of a rational, unless the prime divides its denominator.
    pub fn of(value: &Rational) -> Option<Modular> {
        let residue = |big: IBig| u64::try_from(big).ok().map(Modular);
        let prime = IBig::from(PRIME);
        let mut above = value.0.numerator().clone() % &prime;
        if above < IBig::ZERO {
            above += &prime;
        }
        let below = IBig::from(value.0.denominator().clone()) % &prime;
        residue(above)?.div(&residue(below)?)
    }

    fn pow(self, mut exponent: u64) -> Modular {
        let (mut base, mut result) = (self, Modular(1));
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(base);
            }
            base = base.times(base);
            exponent >>= 1;
        }
        result
    }

    fn times(self, other: Modular) -> Modular {
        // 2⁶¹ ≡ 1, so that the high part is simply added to the low one.
        let product = u128::from(self.0) * u128::from(other.0);
        let sum = (product as u64 & PRIME) + (product >> 61) as u64;
        Modular(if sum >= PRIME { sum - PRIME } else { sum })
    }
}

impl Number for Modular {
    fn ratio(numerator: i64, denominator: i64) -> Self {
        Modular::new(numerator).div(&Modular::new(denominator)).unwrap_or(Modular(0))
    }
    fn add(&self, other: &Self) -> Self {
        Modular((self.0 + other.0) % PRIME)
    }
    fn sub(&self, other: &Self) -> Self {
        Modular((self.0 + PRIME - other.0) % PRIME)
    }
    fn mul(&self, other: &Self) -> Option<Self> {
        Some(self.times(*other))
    }
    fn div(&self, other: &Self) -> Option<Self> {
        (other.0 != 0).then(|| self.times(other.pow(PRIME - 2)))
    }
    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl Number for f64 {
    fn ratio(numerator: i64, denominator: i64) -> Self {
        numerator as f64 / denominator as f64
    }
    fn add(&self, other: &Self) -> Self {
        self + other
    }
    fn sub(&self, other: &Self) -> Self {
        self - other
    }
    fn mul(&self, other: &Self) -> Option<Self> {
        Some(self * other)
    }
    fn div(&self, other: &Self) -> Option<Self> {
        (*other != 0.0).then(|| self / other)
    }
    fn is_zero(&self) -> bool {
        *self == 0.0
    }
    fn apply(&self, function: Function) -> Option<Self> {
        let value = match function {
            Function::Sin => self.sin(),
            Function::Cos => self.cos(),
            Function::Tanh => self.tanh(),
            Function::Exp => self.exp(),
            Function::Ln => self.ln(),
            Function::Sqrt => self.sqrt(),
            Function::Abs => self.abs(),
            Function::Sign => {
                if *self == 0.0 {
                    0.0
                } else {
                    self.signum()
                }
            }
        };
        value.is_finite().then_some(value)
    }
    fn power(&self, exponent: &Self) -> Option<Self> {
        let value = self.powf(*exponent);
        value.is_finite().then_some(value)
    }
    fn order(&self, other: &Self) -> Option<Ordering> {
        self.partial_cmp(other)
    }
}

/// A dual number v + d·ε with ε² = 0: a value with its derivative.
#[derive(Debug, Clone, PartialEq)]
pub struct Dual<N> {
    /// The value.
    pub value: N,
    /// The derivative.
    pub derivative: N,
}

impl<N: Number> Dual<N> {
    /// A value that does not change.
    pub fn constant(value: N) -> Dual<N> {
        Dual { value, derivative: N::zero() }
    }

    /// The chain rule.
    fn chain(&self, value: N, derivative: &N) -> Option<Dual<N>> {
        Some(Dual { value, derivative: derivative.mul(&self.derivative)? })
    }
}

impl<N: Number> Number for Dual<N> {
    fn ratio(numerator: i64, denominator: i64) -> Self {
        Dual::constant(N::ratio(numerator, denominator))
    }
    fn add(&self, other: &Self) -> Self {
        Dual { value: self.value.add(&other.value), derivative: self.derivative.add(&other.derivative) }
    }
    fn sub(&self, other: &Self) -> Self {
        Dual { value: self.value.sub(&other.value), derivative: self.derivative.sub(&other.derivative) }
    }
    fn mul(&self, other: &Self) -> Option<Self> {
        let derivative = self.value.mul(&other.derivative)?.add(&self.derivative.mul(&other.value)?);
        Some(Dual { value: self.value.mul(&other.value)?, derivative })
    }
    fn div(&self, other: &Self) -> Option<Self> {
        let value = self.value.div(&other.value)?;
        let derivative = self.derivative.sub(&value.mul(&other.derivative)?).div(&other.value)?;
        Some(Dual { value, derivative })
    }
    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.derivative.is_zero()
    }
    fn is_unit(&self) -> bool {
        self.value.is_unit()
    }
    fn apply(&self, function: Function) -> Option<Self> {
        let x = &self.value;
        let value = x.apply(function)?;
        let derivative = match function {
            Function::Sin => x.apply(Function::Cos)?,
            Function::Cos => x.apply(Function::Sin)?.neg(),
            Function::Tanh => N::one().sub(&value.mul(&value)?),
            Function::Exp => value.clone(),
            Function::Ln => N::one().div(x)?,
            Function::Sqrt => N::ratio(1, 2).div(&value)?,
            Function::Abs => x.apply(Function::Sign)?,
            Function::Sign => N::zero(),
        };
        self.chain(value, &derivative)
    }
    fn power(&self, exponent: &Self) -> Option<Self> {
        // Exponents are constants in every law here.
        if !exponent.derivative.is_zero() {
            return None;
        }
        let value = self.value.power(&exponent.value)?;
        let lower = exponent.value.sub(&N::one());
        let derivative = exponent.value.mul(&self.value.power(&lower)?)?;
        self.chain(value, &derivative)
    }
    fn order(&self, other: &Self) -> Option<Ordering> {
        self.value.order(&other.value)
    }
}

/// A linear form c + Σ aᵢ zᵢ.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear<N> {
    /// The constant.
    pub constant: N,
    /// The coefficients that are not zero.
    pub terms: BTreeMap<usize, N>,
}

impl<N: Number> Linear<N> {
    /// A constant.
    pub fn constant(constant: N) -> Linear<N> {
        Linear { constant, terms: BTreeMap::new() }
    }

    /// The unknown with this index.
    pub fn unknown(index: usize) -> Linear<N> {
        Linear { constant: N::zero(), terms: BTreeMap::from([(index, N::one())]) }
    }

    fn combine(&self, other: &Self, subtract: bool) -> Self {
        let signed = |value: &N| if subtract { value.neg() } else { value.clone() };
        let mut terms = self.terms.clone();
        for (index, value) in &other.terms {
            let sum = terms.get(index).cloned().unwrap_or_else(N::zero).add(&signed(value));
            if sum.is_zero() {
                terms.remove(index);
            } else {
                terms.insert(*index, sum);
            }
        }
        Linear { constant: self.constant.add(&signed(&other.constant)), terms }
    }

    fn scaled(&self, factor: &N) -> Option<Self> {
        let mut terms = BTreeMap::new();
        for (index, value) in &self.terms {
            let product = value.mul(factor)?;
            if !product.is_zero() {
                terms.insert(*index, product);
            }
        }
        Some(Linear { constant: self.constant.mul(factor)?, terms })
    }
}

impl<N: Number> Number for Linear<N> {
    fn ratio(numerator: i64, denominator: i64) -> Self {
        Linear::constant(N::ratio(numerator, denominator))
    }
    fn add(&self, other: &Self) -> Self {
        self.combine(other, false)
    }
    fn sub(&self, other: &Self) -> Self {
        self.combine(other, true)
    }
    fn mul(&self, other: &Self) -> Option<Self> {
        if self.terms.is_empty() {
            other.scaled(&self.constant)
        } else if other.terms.is_empty() {
            self.scaled(&other.constant)
        } else {
            None
        }
    }
    fn div(&self, other: &Self) -> Option<Self> {
        if other.terms.is_empty() { self.scaled(&N::one().div(&other.constant)?) } else { None }
    }
    fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant.is_zero()
    }
    fn apply(&self, function: Function) -> Option<Self> {
        self.terms.is_empty().then(|| self.constant.apply(function))?.map(Linear::constant)
    }
    fn power(&self, exponent: &Self) -> Option<Self> {
        if self.terms.is_empty() && exponent.terms.is_empty() {
            self.constant.power(&exponent.constant).map(Linear::constant)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_respect_quotients() {
        let third = Rational::ratio(-2, 3);
        let residue = Modular::of(&third).unwrap();
        assert_eq!(residue.mul(&Modular::new(3)).unwrap(), Modular::new(-2));
        assert_eq!(residue, Modular::ratio(-2, 3));
    }

    #[test]
    fn duals_differentiate() {
        // d/dx of (x² + 1)/x at 2 is 1 − 1/4.
        let x = Dual { value: Rational::ratio(2, 1), derivative: Rational::one() };
        let y = x.mul(&x).unwrap().add(&Dual::one()).div(&x).unwrap();
        assert_eq!(y.derivative, Rational::ratio(3, 4));
    }
}
