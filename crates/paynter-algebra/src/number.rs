//! Exact constants: bounded powers, roots, decimal literals.

use crate::Rational;
use crate::limits::MAX_CONSTANT_BITS;
use dashu_base::{BitTest, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// Returns the size of a constant's numerator and denominator together.
pub(crate) fn bits(r: &Rational) -> usize {
    r.numerator().bit_len() + r.denominator().bit_len()
}

pub(crate) fn integer(i: i64) -> Rational {
    Rational::from(IBig::from(i))
}

pub(crate) fn ratio(n: i64, d: u64) -> Rational {
    Rational::from_parts(IBig::from(n), UBig::from(d.max(1)))
}

pub(crate) fn is_negative(r: &Rational) -> bool {
    r.sign() == Sign::Negative && !r.is_zero()
}

/// Tells whether the constant is an even integer.
pub(crate) fn is_even(r: &Rational) -> bool {
    r.is_int() && (r.numerator() % 2) == 0
}

/// Returns the constant as a machine integer if it is one.
pub(crate) fn as_i64(r: &Rational) -> Option<i64> {
    if r.is_int() { i64::try_from(r.numerator()).ok() } else { None }
}

/// Tells whether the constant is a floating-point number.
pub(crate) fn is_exact(r: &Rational) -> bool {
    matches!(r.to_f64(), dashu_base::Approximation::Exact(_))
}

/// The floating-point number nearest to an exact one.
pub fn to_f64(r: &Rational) -> f64 {
    r.to_f64().value()
}

/// Raises to an integer power; `None` if the result would be too large or infinite.
pub(crate) fn pow(base: &Rational, exponent: i64) -> Option<Rational> {
    if base.is_zero() {
        return if exponent > 0 { Some(Rational::ZERO) } else { None };
    }
    if base.is_one() || exponent == 0 {
        return Some(Rational::ONE);
    }
    let magnitude = usize::try_from(exponent.unsigned_abs()).ok()?;
    if base.numerator().unsigned_abs() == UBig::ONE && base.is_int() {
        return Some(if magnitude.is_multiple_of(2) { Rational::ONE } else { base.clone() });
    }
    if bits(base).checked_mul(magnitude)? > MAX_CONSTANT_BITS {
        return None;
    }
    let up = Rational::from_parts(base.numerator().pow(magnitude), base.denominator().pow(magnitude));
    Some(if exponent < 0 { Rational::ONE / up } else { up })
}

/// Returns the exact root of a non-negative constant if it is rational.
pub(crate) fn root(r: &Rational, degree: u64) -> Option<Rational> {
    if is_negative(r) || degree == 0 {
        return None;
    }
    if r.is_zero() || r.is_one() {
        return Some(r.clone());
    }
    let degree = usize::try_from(degree).ok().filter(|d| *d <= MAX_CONSTANT_BITS)?;
    let exact = |n: &UBig| -> Option<UBig> {
        if *n == UBig::ONE {
            return Some(UBig::ONE);
        }
        if n.bit_len() <= degree {
            return None;
        }
        let root = n.nth_root(degree);
        (root.pow(degree) == *n).then_some(root)
    };
    let numerator = exact(&r.numerator().clone().unsigned_abs())?;
    let denominator = exact(r.denominator())?;
    Some(Rational::from_parts(IBig::from(numerator), denominator))
}

/// Reads a decimal literal such as `12`, `0.5` or `5e-3` exactly.
pub fn decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, whole),
    };
    let digits: String = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    // A decimal digit is worth 3.32 bits; this keeps literals within the size of exact constants.
    if digits.len() > MAX_CONSTANT_BITS / 4 || scale.unsigned_abs() > (MAX_CONSTANT_BITS / 4) as u64 {
        return None;
    }
    let magnitude = UBig::from_str_radix(&digits, 10).ok()?;
    let mut numerator = IBig::from(magnitude);
    if negative {
        numerator = -numerator;
    }
    let ten = UBig::from(10u8).pow(usize::try_from(scale.unsigned_abs()).ok()?);
    Some(if scale < 0 {
        Rational::from_parts(numerator, ten)
    } else {
        Rational::from(numerator * IBig::from(ten))
    })
}
