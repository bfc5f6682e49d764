//! Integer coefficients: a machine word while it fits, a big integer beyond.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use dashu_base::{BitTest, DivRem, Gcd, RemEuclid, Sign, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// An exact integer that costs a machine word while it fits into one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

/// `Big` is used only for values outside the range of `i64`, so that equal
/// integers have equal representations.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<IBig>),
}

use Repr::{Big, Small};

impl Integer {
    /// The integer 0.
    pub const ZERO: Integer = Integer(Small(0));
    /// The integer 1.
    pub const ONE: Integer = Integer(Small(1));
    /// The integer −1.
    pub const MINUS_ONE: Integer = Integer(Small(-1));

    /// Returns whether this is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0))
    }

    /// Returns whether this is 1.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small(1))
    }

    /// Returns whether this is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Small(value) => *value < 0,
            Big(value) => value.is_negative(),
        }
    }

    /// Returns the value if it fits into a machine word.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Small(value) => Some(value),
            Big(_) => None,
        }
    }

    /// Returns the value as a big integer.
    pub fn to_ibig(&self) -> IBig {
        match &self.0 {
            Small(value) => IBig::from(*value),
            Big(value) => (**value).clone(),
        }
    }

    /// Borrows the value as a big integer, or makes one.
    fn as_big(&self) -> Cow<'_, IBig> {
        match &self.0 {
            Small(value) => Cow::Owned(IBig::from(*value)),
            Big(value) => Cow::Borrowed(value),
        }
    }

    /// Returns the nearest double (infinite where the value is too large).
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Small(value) => *value as f64,
            Big(value) => value.to_f64().value(),
        }
    }

    /// Returns the number of bits of the magnitude.
    pub fn bits(&self) -> usize {
        match &self.0 {
            Small(value) => (64 - value.unsigned_abs().leading_zeros()) as usize,
            Big(value) => value.bit_len(),
        }
    }

    /// Returns the magnitude.
    pub fn abs(&self) -> Integer {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// Returns the least non-negative remainder modulo `modulus`, which must not be 0.
    #[inline]
    pub fn rem_u64(&self, modulus: u64) -> u64 {
        match &self.0 {
            Small(value) => {
                let rest = value.unsigned_abs() % modulus;
                if *value < 0 && rest != 0 { modulus - rest } else { rest }
            }
            Big(value) => {
                let rest = (&**value).rem_euclid(&IBig::from(modulus));
                u64::try_from(rest).unwrap_or(0)
            }
        }
    }

    /// Returns the non-negative greatest common divisor; that of 0 and 0 is 0.
    pub fn gcd(&self, other: &Integer) -> Integer {
        match (&self.0, &other.0) {
            (Small(0), _) => other.abs(),
            (_, Small(0)) => self.abs(),
            (Small(a), Small(b)) => gcd_u64(a.unsigned_abs(), b.unsigned_abs()).into(),
            _ => {
                let (a, b) = (self.to_ibig().unsigned_abs(), other.to_ibig().unsigned_abs());
                Integer::from(IBig::from((&a).gcd(&b)))
            }
        }
    }

    /// Returns the quotient if `divisor` divides this exactly and is not 0.
    #[inline]
    pub fn div_exact(&self, divisor: &Integer) -> Option<Integer> {
        match (&self.0, &divisor.0) {
            (_, Small(0)) => None,
            (_, Small(1)) => Some(self.clone()),
            (Small(a), Small(b)) => {
                if *b == -1 {
                    return Some(-self);
                }
                if a % b == 0 { Some(Integer(Small(a / b))) } else { None }
            }
            _ => {
                let (a, b) = (self.as_big(), divisor.as_big());
                let (quotient, rest) = (&*a).div_rem(&*b);
                if rest.is_zero() { Some(quotient.into()) } else { None }
            }
        }
    }

    /// Returns the power with a natural exponent.
    pub fn pow(&self, exponent: u32) -> Integer {
        match self.as_i64().and_then(|value| value.checked_pow(exponent)) {
            Some(power) => power.into(),
            None => self.to_ibig().pow(exponent as usize).into(),
        }
    }
}

/// Returns the greatest common divisor of two naturals by Stein's method.
fn gcd_u64(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    while a != b {
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        b >>= b.trailing_zeros();
    }
    a << shift
}

impl From<i64> for Integer {
    #[inline]
    fn from(value: i64) -> Integer {
        Integer(Small(value))
    }
}

impl From<i32> for Integer {
    fn from(value: i32) -> Integer {
        Integer(Small(i64::from(value)))
    }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Integer {
        match i64::try_from(value) {
            Ok(value) => Integer(Small(value)),
            Err(_) => Integer(Big(Box::new(IBig::from(value)))),
        }
    }
}

impl From<i128> for Integer {
    #[inline]
    fn from(value: i128) -> Integer {
        match i64::try_from(value) {
            Ok(value) => Integer(Small(value)),
            Err(_) => Integer(Big(Box::new(IBig::from(value)))),
        }
    }
}

impl From<IBig> for Integer {
    fn from(value: IBig) -> Integer {
        match i64::try_from(&value) {
            Ok(value) => Integer(Small(value)),
            Err(_) => Integer(Big(Box::new(value))),
        }
    }
}

impl From<UBig> for Integer {
    fn from(value: UBig) -> Integer {
        Integer::from(IBig::from_parts(Sign::Positive, value))
    }
}

impl std::ops::Add for &Integer {
    type Output = Integer;
    #[inline]
    fn add(self, other: &Integer) -> Integer {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => match a.checked_add(*b) {
                Some(sum) => Integer(Small(sum)),
                None => (i128::from(*a) + i128::from(*b)).into(),
            },
            _ => (&*self.as_big() + &*other.as_big()).into(),
        }
    }
}

impl std::ops::Sub for &Integer {
    type Output = Integer;
    #[inline]
    fn sub(self, other: &Integer) -> Integer {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => match a.checked_sub(*b) {
                Some(difference) => Integer(Small(difference)),
                None => (i128::from(*a) - i128::from(*b)).into(),
            },
            _ => (&*self.as_big() - &*other.as_big()).into(),
        }
    }
}

impl std::ops::Mul for &Integer {
    type Output = Integer;
    #[inline]
    fn mul(self, other: &Integer) -> Integer {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => match a.checked_mul(*b) {
                Some(product) => Integer(Small(product)),
                None => (i128::from(*a) * i128::from(*b)).into(),
            },
            _ => (&*self.as_big() * &*other.as_big()).into(),
        }
    }
}

impl std::ops::Neg for &Integer {
    type Output = Integer;
    #[inline]
    fn neg(self) -> Integer {
        match &self.0 {
            Small(value) => match value.checked_neg() {
                Some(negative) => Integer(Small(negative)),
                None => (-i128::from(*value)).into(),
            },
            Big(value) => (-(**value).clone()).into(),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Integer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Integer) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => a.cmp(b),
            _ => self.as_big().cmp(&other.as_big()),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Small(value) => value.fmt(f),
            Big(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A sum of products of integers, exact at any size: 128 bits wide until that
/// overflows.
#[derive(Clone, Default)]
pub(super) struct Accumulator {
    low: i128,
    high: Option<Box<IBig>>,
}

impl Accumulator {
    /// Adds `a·b`, or subtracts it where `negate` says so.
    #[inline]
    pub(super) fn add_product(&mut self, a: &Integer, b: &Integer, negate: bool) {
        match (&a.0, &b.0) {
            (Small(x), Small(y)) => {
                let product = i128::from(*x) * i128::from(*y);
                let product = if negate { -product } else { product };
                match self.low.checked_add(product) {
                    Some(sum) => self.low = sum,
                    None => self.add_big(&IBig::from(product), false),
                }
            }
            (Small(0), Big(_)) | (Big(_), Small(0)) => {}
            (Small(1), Big(value)) | (Big(value), Small(1)) => self.add_big(value, negate),
            (Small(-1), Big(value)) | (Big(value), Small(-1)) => self.add_big(value, !negate),
            _ => self.add_big(&(&*a.as_big() * &*b.as_big()), negate),
        }
    }

    /// Adds an integer.
    #[inline]
    pub(super) fn add(&mut self, value: &Integer, negate: bool) {
        self.add_product(value, &Integer::ONE, negate);
    }

    fn add_big(&mut self, value: &IBig, negate: bool) {
        let high = self.high.get_or_insert_default();
        if negate {
            **high -= value;
        } else {
            **high += value;
        }
    }

    /// Returns the sum and starts again from 0.
    #[inline]
    pub(super) fn take(&mut self) -> Integer {
        let low = std::mem::take(&mut self.low);
        match self.high.take() {
            None => low.into(),
            Some(high) => (*high + IBig::from(low)).into(),
        }
    }
}
