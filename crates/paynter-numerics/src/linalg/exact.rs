//! Exact evaluation: decimal constants are exact rationals, and so is
//! everything that rational operations make of them. A part that is not
//! rational (a root, pi, a sine) is replaced by one rational number near it,
//! the same wherever it stands, so that what cancels for every value of that
//! part cancels here too.

use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use paynter_algebra::{EvalError, Expr, Node, Pool, Rational, Symbol};
use rustc_hash::FxHashMap;

use crate::tolerance::{CUT_OFF_BITS, LARGEST_PRECISION};

/// The first digits of pi.
const PI: &str = "314159265358979323846264338327950288419716939937510582097494459230781640628620899";

/// Evaluates expressions in exact numbers, sharing what they share.
pub fn exact_values(
    pool: &Pool,
    roots: &[Expr],
    value: &dyn Fn(Symbol) -> Option<Rational>,
) -> Result<Vec<Rational>, EvalError> {
    let mut known: FxHashMap<Expr, Rational> = FxHashMap::default();
    let zero = Rational::ZERO;
    for e in pool.reachable(roots) {
        let of = |child: &Expr| known.get(child).unwrap_or(&zero);
        let result = match pool.node(e) {
            Node::Number(number) => number.clone(),
            Node::Pi => pi(),
            Node::Symbol(symbol) => value(symbol).ok_or(EvalError::Unbound(symbol))?,
            Node::Sum(terms) => terms.iter().map(of).fold(Rational::ZERO, |sum, term| sum + term),
            Node::Product(factors) => factors.iter().map(of).fold(Rational::ONE, |product, f| product * f),
            Node::Power(base, exponent) => match power(of(&base), of(&exponent)) {
                Some(result) => result,
                None => rounded(pool, e, value)?,
            },
            Node::Truth(_) | Node::Compare(..) | Node::And(..) | Node::Or(..) | Node::Not(_) => zero.clone(),
            Node::Select(condition, yes, no) => {
                of(if condition_holds(pool, condition, value)? { &yes } else { &no }).clone()
            }
            Node::Call(..) => rounded(pool, e, value)?,
        };
        known.insert(e, limited(result));
    }
    Ok(roots.iter().map(|root| known.get(root).cloned().unwrap_or(Rational::ZERO)).collect())
}

fn condition_holds(
    pool: &Pool,
    condition: Expr,
    value: &dyn Fn(Symbol) -> Option<Rational>,
) -> Result<bool, EvalError> {
    Ok(pool.eval(condition, &|symbol| value(symbol).map(|r| r.to_f64().value()))? != 0.0)
}

/// The floating-point value as an exact number.
fn rounded(pool: &Pool, e: Expr, value: &dyn Fn(Symbol) -> Option<Rational>) -> Result<Rational, EvalError> {
    let number = pool.eval(e, &|symbol| value(symbol).map(|r| r.to_f64().value()))?;
    Rational::try_from(number).map_err(|_| EvalError::NotFinite(e))
}

fn pi() -> Rational {
    let digits = IBig::from_str_radix(PI, 10).unwrap_or(IBig::from(3));
    Rational::from_parts(digits, UBig::from(10u8).pow(PI.len() - 1))
}

/// Rational powers: exact where the exponent is whole or the root is, else to many bits.
/// Nothing for what must be left to floating point, errors included.
fn power(base: &Rational, exponent: &Rational) -> Option<Rational> {
    if base.is_zero() {
        return None;
    }
    let count = usize::try_from(exponent.numerator().clone().unsigned_abs()).ok().filter(|n| *n <= 4096)?;
    let degree = usize::try_from(exponent.denominator()).ok().filter(|d| *d <= 64)?;
    let (numerator, denominator) = (base.numerator().clone(), base.denominator().clone());
    let (numerator, denominator) = if degree == 1 {
        (numerator, denominator)
    } else if numerator < IBig::ZERO {
        return None;
    } else {
        let (top, bottom) = (numerator.unsigned_abs(), denominator);
        let (top_root, bottom_root) = (top.nth_root(degree), bottom.nth_root(degree));
        if top_root.pow(degree) == top && bottom_root.pow(degree) == bottom {
            (IBig::from(top_root), bottom_root)
        } else {
            // top/bottom · 2^(degree·shift), whose root has more than CUT_OFF_BITS bits.
            let shift = CUT_OFF_BITS + bottom.bit_len().saturating_sub(top.bit_len()) / degree + 1;
            let scaled = (top << (degree * shift)) / bottom;
            (IBig::from(scaled.nth_root(degree)), UBig::ONE << shift)
        }
    };
    let up = Rational::from_parts(numerator.pow(count), denominator.pow(count));
    Some(if *exponent < Rational::ZERO { Rational::ONE / up } else { up })
}

/// Keeps numbers from growing without end.
fn limited(value: Rational) -> Rational {
    let (top, bottom) = (value.numerator().bit_len(), value.denominator().bit_len());
    if top + bottom <= LARGEST_PRECISION {
        return value;
    }
    let shift = CUT_OFF_BITS as isize - (top as isize - bottom as isize);
    let (numerator, denominator) = value.into_parts();
    if shift >= 0 {
        let quotient = (numerator << shift.unsigned_abs()) / IBig::from(denominator);
        Rational::from_parts(quotient, UBig::ONE << shift.unsigned_abs())
    } else {
        let quotient = (numerator >> shift.unsigned_abs()) / IBig::from(denominator);
        Rational::from(quotient << shift.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_exact_where_they_are_rational() {
        let half = Rational::from_parts(IBig::ONE, UBig::from(2u8));
        let value = Rational::from_parts(IBig::from(9), UBig::from(4u8));
        assert_eq!(power(&value, &half), Some(Rational::from_parts(IBig::from(3), UBig::from(2u8))));
    }

    #[test]
    fn other_roots_have_many_digits() {
        let half = Rational::from_parts(IBig::ONE, UBig::from(2u8));
        for (n, d) in [(2, 1u64), (1, 3), (7, 1_000_000_000_000)] {
            let value = Rational::from_parts(IBig::from(n), UBig::from(d));
            let root = power(&value, &half).unwrap_or(Rational::ZERO);
            let error = (&root * &root / &value - Rational::ONE).to_f64().value();
            assert!(error.abs() < 1e-70, "{n}/{d}: {error}");
        }
    }
}
