//! Powers: exact constants, integer powers of products and powers, exponentials as powers of e.

use super::product::Factor;
use crate::node::{Expr, Func, Node};
use crate::pool::{Head, Pool, Tag};
use crate::{Rational, number};

impl Pool {
    /// Makes base ^ exponent.
    pub fn pow(&mut self, base: Expr, exponent: Expr) -> Expr {
        if base == self.undefined() || exponent == self.undefined() {
            return self.undefined();
        }
        if base == self.euler() {
            return self.call(Func::Exp, &[exponent]);
        }
        if let Node::Call(Func::Exp, args) = self.node(base) {
            // The base is positive, so the exponents multiply whatever they are.
            let argument = args[0];
            let product = self.mul(argument, exponent);
            return self.call(Func::Exp, &[product]);
        }
        if base == self.one() {
            return base;
        }
        let Some(r) = self.as_rational(exponent) else {
            return self.raw_power(base, exponent);
        };
        if r.is_zero() {
            return if base == self.zero() { self.undefined() } else { self.one() };
        }
        if r.is_one() {
            return base;
        }
        let r = r.clone();
        if self.is_number(base) {
            return self.power_of_number(base, exponent, &r);
        }
        if r.is_int() {
            self.integer_power(base, exponent, &r)
        } else {
            self.fractional_power(base, exponent, &r)
        }
    }

    fn raw_power(&mut self, base: Expr, exponent: Expr) -> Expr {
        self.intern(Head::plain(Tag::Power), &[base, exponent])
    }

    fn integer_power(&mut self, base: Expr, exponent: Expr, r: &Rational) -> Expr {
        match self.node(base) {
            Node::Power(inner, e) => {
                let product = self.mul(e, exponent);
                self.pow(inner, product)
            }
            Node::Product(factors) => {
                let factors = factors.to_vec();
                let mut coefficient = self.one();
                let mut parts = Vec::with_capacity(factors.len());
                for factor in factors {
                    if self.is_number(factor) {
                        coefficient = self.pow(factor, exponent);
                        if !self.is_number(coefficient) {
                            // Too large to write out.
                            let (inner, e) = self.as_base_exponent(coefficient);
                            parts.push(Factor::power(inner, e));
                            coefficient = self.one();
                        }
                    } else {
                        let (inner, e) = self.as_base_exponent(factor);
                        let product = self.mul(e, exponent);
                        parts.push(Factor::power(inner, product));
                    }
                }
                self.collect_powers(coefficient, parts)
            }
            Node::Call(Func::Abs, args) if number::is_even(r) => {
                let inner = args[0];
                self.pow(inner, exponent)
            }
            Node::Sum(_) => {
                let (content, primitive) = self.content(base);
                let power = self.raw_power(primitive, exponent);
                if primitive == base {
                    return power;
                }
                let outside = self.pow(content, exponent);
                if self.is_number(outside) {
                    self.scaled(outside, power)
                } else {
                    self.raw_power(base, exponent)
                }
            }
            _ => self.raw_power(base, exponent),
        }
    }

    /// Takes a rational number out of a root where its root is rational: sqrt(4*x) is 2*sqrt(x).
    fn fractional_power(&mut self, base: Expr, exponent: Expr, r: &Rational) -> Expr {
        let (coefficient, rest) = self.split_coefficient(base);
        if coefficient != self.one()
            && let Some(c) = self.as_rational(coefficient)
            && let Some(outside) = rational_power(c, r)
        {
            let outside = self.number(outside);
            let inside = self.pow(rest, exponent);
            return self.mul(outside, inside);
        }
        self.raw_power(base, exponent)
    }

    fn power_of_number(&mut self, base: Expr, exponent: Expr, r: &Rational) -> Expr {
        let Some(b) = self.as_rational(base).cloned() else {
            return self.raw_power(base, exponent);
        };
        if b.is_zero() {
            return if number::is_negative(r) { self.undefined() } else { base };
        }
        if let Some(value) = rational_power(&b, r) {
            return self.number(value);
        }
        if r.is_int() || number::is_negative(&b) {
            return self.raw_power(base, exponent);
        }
        // The exponent of an irrational number is kept between 0 and 1: 2^(-1/2) is 2^(1/2)/2.
        let floor = r.floor();
        let Some(outside) = i64::try_from(&floor).ok().and_then(|n| number::pow(&b, n)) else {
            return self.raw_power(base, exponent);
        };
        let fraction = r - Rational::from(floor);
        let fraction = self.number(fraction);
        let inside = self.raw_power(base, fraction);
        let outside = self.number(outside);
        self.scaled(outside, inside)
    }
}

/// Raises a number to a rational power if the result is rational and small enough.
fn rational_power(base: &Rational, exponent: &Rational) -> Option<Rational> {
    let n = i64::try_from(exponent.numerator()).ok()?;
    if exponent.is_int() {
        // An even power of -1 may have an exponent of any size, but one that fits is enough here.
        return number::pow(base, n);
    }
    let degree = u64::try_from(exponent.denominator()).ok()?;
    number::pow(&number::root(base, degree)?, n)
}
