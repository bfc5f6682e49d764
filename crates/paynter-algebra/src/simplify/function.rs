//! Functions: even and odd ones normalised, known values, inverses undone.

use crate::node::{Cmp, Expr, Func, Node};
use crate::pool::{Head, Pool, Tag};
use crate::{Rational, number};
use dashu_int::IBig;

impl Pool {
    /// Makes a function of its arguments; a wrong number of arguments gives an undefined value. The smallest or the
    /// largest of more than two is taken one after the other.
    pub fn call(&mut self, f: Func, args: &[Expr]) -> Expr {
        if let (Func::Min | Func::Max, [first, second, rest @ ..]) = (f, args)
            && !rest.is_empty()
        {
            let first = self.call(f, &[*first, *second]);
            return rest.iter().fold(first, |found, next| self.call(f, &[found, *next]));
        }
        if args.len() != f.arity() || args.contains(&self.undefined()) {
            return self.undefined();
        }
        match (f, args) {
            (Func::Min | Func::Max, [a, b]) => self.extremum(f, *a, *b),
            (Func::Atan2, [y, x]) => self.atan2(*y, *x),
            (Func::Table(_), _) => self.raw_call(f, args),
            (_, [x]) => self.unary(f, *x),
            _ => self.undefined(),
        }
    }

    fn raw_call(&mut self, f: Func, args: &[Expr]) -> Expr {
        let (sub, data) = f.encode();
        self.intern(Head { tag: Tag::Call, sub, data }, args)
    }

    fn unary(&mut self, f: Func, x: Expr) -> Expr {
        match parity(f) {
            Parity::Odd if self.leads_negative(x) => {
                let positive = self.neg(x);
                let value = self.unary(f, positive);
                return self.neg(value);
            }
            Parity::Even if self.leads_negative(x) => {
                let positive = self.neg(x);
                return self.unary(f, positive);
            }
            _ => {}
        }
        if let Some(known) = self.known_value(f, x) {
            return known;
        }
        if let Node::Call(inner, args) = self.node(x)
            && undoes(f, inner)
        {
            return args[0];
        }
        if let (Func::Log10, Node::Power(base, exponent)) = (f, self.node(x))
            && self.as_int(base) == Some(10)
        {
            return exponent;
        }
        match f {
            Func::Sqrt => {
                let half = self.number(number::ratio(1, 2));
                self.pow(x, half)
            }
            Func::Abs => self.abs(x),
            Func::Sign => self.sign(x),
            Func::Exp => self.exponential(x),
            _ => self.raw_call(f, &[x]),
        }
    }

    /// The exponential of a sum of logarithms is a product of powers, which has values where the logarithms
    /// have none.
    fn exponential(&mut self, x: Expr) -> Expr {
        let mut terms = Vec::new();
        match self.node(x) {
            Node::Sum(list) => terms.extend_from_slice(list),
            Node::Product(factors) => {
                // A common factor in front of the sum, or below it.
                let factors = factors.to_vec();
                let sum = factors.iter().position(|factor| matches!(self.node(*factor), Node::Sum(_)));
                match sum {
                    Some(place) => {
                        let mut others = factors.clone();
                        let sum = others.remove(place);
                        for term in self.children(sum).to_vec() {
                            others.push(term);
                            terms.push(self.product(&others));
                            others.pop();
                        }
                    }
                    None => terms.push(x),
                }
            }
            _ => terms.push(x),
        }
        let (mut factors, mut rest) = (Vec::new(), Vec::new());
        for term in terms {
            let (coefficient, inner) = self.split_coefficient(term);
            match self.node(inner) {
                Node::Call(Func::Ln, args) => {
                    let base = args[0];
                    factors.push(self.pow(base, coefficient));
                }
                _ => rest.push(term),
            }
        }
        if factors.is_empty() {
            return self.raw_call(Func::Exp, &[x]);
        }
        if !rest.is_empty() {
            let rest = self.sum(&rest);
            factors.push(self.unary(Func::Exp, rest));
        }
        self.product(&factors)
    }

    fn abs(&mut self, x: Expr) -> Expr {
        if let Some(r) = self.as_rational(x) {
            let negative = number::is_negative(r);
            return if negative { self.neg(x) } else { x };
        }
        if self.is_never_negative(x) {
            return x;
        }
        if let Node::Power(base, exponent) = self.node(x)
            && self.as_int(exponent).is_some()
        {
            let magnitude = self.unary(Func::Abs, base);
            return self.pow(magnitude, exponent);
        }
        let (coefficient, rest) = self.split_coefficient(x);
        if coefficient != self.one() {
            // The coefficient is positive: the sign was taken out before.
            let inner = self.unary(Func::Abs, rest);
            return self.mul(coefficient, inner);
        }
        self.raw_call(Func::Abs, &[x])
    }

    fn sign(&mut self, x: Expr) -> Expr {
        if let Some(r) = self.as_rational(x) {
            let sign = if r.is_zero() {
                0
            } else if number::is_negative(r) {
                -1
            } else {
                1
            };
            return self.int(sign);
        }
        if matches!(self.node(x), Node::Call(Func::Exp, _) | Node::Pi) {
            return self.one();
        }
        if matches!(self.node(x), Node::Call(Func::Sign, _)) {
            return x;
        }
        let (coefficient, rest) = self.split_coefficient(x);
        if coefficient != self.one() {
            return self.unary(Func::Sign, rest);
        }
        self.raw_call(Func::Sign, &[x])
    }

    /// Tells whether a value that is defined can be seen not to be negative.
    fn is_never_negative(&self, x: Expr) -> bool {
        match self.node(x) {
            Node::Number(r) => !number::is_negative(r),
            Node::Pi | Node::Call(Func::Exp | Func::Abs | Func::Cosh | Func::Acosh, _) => true,
            Node::Power(_, e) => self.as_rational(e).is_some_and(|r| !r.is_int() || number::is_even(r)),
            _ => false,
        }
    }

    /// Tells whether the negative of the expression is its normal form inside a power or an odd function.
    pub(super) fn leads_negative(&self, x: Expr) -> bool {
        let leading = match self.node(x) {
            Node::Sum(terms) if self.is_number(terms[0]) => terms[1],
            Node::Sum(terms) => terms[0],
            _ => x,
        };
        match self.node(leading) {
            Node::Number(r) => number::is_negative(r),
            Node::Product(factors) => self.as_rational(factors[0]).is_some_and(number::is_negative),
            _ => false,
        }
    }

    fn known_value(&mut self, f: Func, x: Expr) -> Option<Expr> {
        use Func::*;
        let (zero, one) = (self.zero(), self.one());
        if x == zero {
            return match f {
                Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Sqrt | Abs | Sign => Some(zero),
                Cos | Cosh | Exp => Some(one),
                Acos => Some(self.pi_times(1, 2)),
                Ln | Log10 => Some(self.undefined()),
                _ => None,
            };
        }
        if x == one {
            match f {
                Ln | Log10 | Acos | Acosh => return Some(zero),
                Asin => return Some(self.pi_times(1, 2)),
                Atan => return Some(self.pi_times(1, 4)),
                Atanh => return Some(self.undefined()),
                _ => {}
            }
        }
        match f {
            Sin | Cos | Tan => {
                let turns = self.as_multiple_of_pi(x)?;
                self.circular_value(f, &turns)
            }
            Log10 => {
                let r = self.as_rational(x)?.clone();
                let guess = number::to_f64(&r).log10().round();
                if !guess.is_finite() {
                    return None;
                }
                let exponent = guess as i64;
                (number::pow(&number::integer(10), exponent)? == r).then(|| self.int(exponent))
            }
            Acos if x == self.int(-1) => Some(self.pi()),
            _ => None,
        }
    }

    /// Returns r where the expression is r*pi.
    fn as_multiple_of_pi(&mut self, x: Expr) -> Option<Rational> {
        let pi = self.pi();
        let (coefficient, rest) = self.split_coefficient(x);
        if rest == pi { self.as_rational(coefficient).cloned() } else { None }
    }

    /// Gives sin, cos and tan of r*pi where it is a square root of a rational number.
    fn circular_value(&mut self, f: Func, r: &Rational) -> Option<Expr> {
        let twelfths = r * number::integer(12);
        if !twelfths.is_int() {
            return None;
        }
        let twelfths = i64::try_from(twelfths.numerator() % IBig::from(24)).ok()?.rem_euclid(24);
        match f {
            Func::Sin => self.sine_of_twelfth(twelfths),
            Func::Cos => self.sine_of_twelfth((twelfths + 6) % 24),
            _ => {
                let sine = self.sine_of_twelfth(twelfths)?;
                let cosine = self.sine_of_twelfth((twelfths + 6) % 24)?;
                Some(self.div(sine, cosine))
            }
        }
    }

    fn sine_of_twelfth(&mut self, n: i64) -> Option<Expr> {
        if n >= 12 {
            let positive = self.sine_of_twelfth(n - 12)?;
            return Some(self.neg(positive));
        }
        // The squares of sin(0), sin(pi/6), sin(pi/4), sin(pi/3), sin(pi/2).
        let square = match n.min(12 - n) {
            0 => number::integer(0),
            2 => number::ratio(1, 4),
            3 => number::ratio(1, 2),
            4 => number::ratio(3, 4),
            6 => number::integer(1),
            _ => return None,
        };
        let four = number::integer(4);
        let inner = self.number(square * four);
        let root = self.sqrt(inner);
        let two = self.int(2);
        Some(self.div(root, two))
    }

    fn pi_times(&mut self, n: i64, d: u64) -> Expr {
        let pi = self.pi();
        let factor = self.number(number::ratio(n, d));
        self.mul(factor, pi)
    }

    fn extremum(&mut self, f: Func, a: Expr, b: Expr) -> Expr {
        if a == b {
            return a;
        }
        if let (Some(x), Some(y)) = (self.as_rational(a), self.as_rational(b)) {
            let first = if f == Func::Min { Cmp::Le } else { Cmp::Ge };
            return if first.holds(x.cmp(y)) { a } else { b };
        }
        self.raw_call(f, &[a.min(b), a.max(b)])
    }

    fn atan2(&mut self, y: Expr, x: Expr) -> Expr {
        let sign = |e: Option<&Rational>| e.map(|r| r.cmp(&Rational::ZERO));
        use std::cmp::Ordering::{Equal, Greater, Less};
        match (sign(self.as_rational(y)), sign(self.as_rational(x))) {
            (Some(Equal), Some(Greater)) => self.zero(),
            (Some(Equal), Some(Less)) => self.pi(),
            (Some(Greater), Some(Equal)) => self.pi_times(1, 2),
            (Some(Less), Some(Equal)) => self.pi_times(-1, 2),
            (Some(_), Some(Greater)) => {
                let quotient = self.div(y, x);
                self.unary(Func::Atan, quotient)
            }
            _ => self.raw_call(Func::Atan2, &[y, x]),
        }
    }
}

#[derive(PartialEq)]
enum Parity {
    Even,
    Odd,
    Neither,
}

fn parity(f: Func) -> Parity {
    use Func::*;
    match f {
        Cos | Cosh | Abs => Parity::Even,
        Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Sign => Parity::Odd,
        _ => Parity::Neither,
    }
}

/// Tells whether outer(inner(x)) is x wherever it is defined.
fn undoes(outer: Func, inner: Func) -> bool {
    use Func::*;
    matches!(
        (outer, inner),
        (Sin, Asin)
            | (Cos, Acos)
            | (Tan, Atan)
            | (Sinh, Asinh)
            | (Asinh, Sinh)
            | (Cosh, Acosh)
            | (Tanh, Atanh)
            | (Atanh, Tanh)
            | (Exp, Ln)
            | (Ln, Exp)
    )
}
