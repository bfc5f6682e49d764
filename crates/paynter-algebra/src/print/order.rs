//! The order and grouping in which people read sums and products.

use super::decimal::Decimal;
use crate::limits::PLAIN_DIGITS;
use crate::node::{Expr, Node};
use crate::pool::Pool;
use crate::{Rational, number};
use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use smallvec::{SmallVec, smallvec};
use std::cmp::{Ordering, Reverse};

/// The exponent of a printed factor.
#[derive(Clone)]
pub(super) enum Exponent {
    One,
    Number(Rational),
    Symbolic(Expr),
}

/// One printed factor.
#[derive(Clone)]
pub(super) enum Factor {
    Number(UBig),
    /// A positive number as people write it.
    Decimal(Decimal),
    Power(Expr, Exponent),
    /// A sum with all its signs turned.
    Opposite(Expr),
    /// A sum whose terms are multiplied by a number, and its signs turned.
    Scaled(Expr, Rational, bool),
}

/// A product as a signed quotient of positive powers.
#[derive(Clone, Default)]
pub(super) struct Fraction {
    pub negative: bool,
    pub above: Vec<Factor>,
    pub below: Vec<Factor>,
}

impl Fraction {
    pub fn of_number(r: &Rational) -> Fraction {
        let mut fraction = Fraction { negative: number::is_negative(r), ..Fraction::default() };
        fraction.scale(r);
        fraction
    }

    /// The number in front, without its sign.
    fn number(&self) -> Rational {
        let integer = |factors: &[Factor]| match factors.first() {
            Some(Factor::Number(n)) => n.clone(),
            _ => UBig::ONE,
        };
        Rational::from_parts(integer(&self.above).into(), integer(&self.below))
    }

    /// The same quotient with another number in front.
    fn with_number(mut self, number: &Rational) -> Fraction {
        for factors in [&mut self.above, &mut self.below] {
            if matches!(factors.first(), Some(Factor::Number(_))) {
                factors.remove(0);
            }
        }
        let (above, below) = (std::mem::take(&mut self.above), std::mem::take(&mut self.below));
        self.scale(number);
        self.above.extend(above);
        self.below.extend(below);
        self
    }

    /// The quotient multiplied by a positive number.
    pub fn times(self, scale: &Rational) -> Fraction {
        let number = self.number() * scale;
        self.with_number(&number)
    }

    /// Multiplies the number into a sum whose own numbers are long: 1e-15*(2.5e15*x + …) is 2.5*x + …
    pub fn distributed(mut self, pool: &Pool) -> Fraction {
        let number = self.number();
        if number.is_one() {
            return self;
        }
        let sum_of = |factor: &Factor| match factor {
            Factor::Power(base, Exponent::One) => Some((*base, false)),
            Factor::Opposite(base) => Some((*base, true)),
            _ => None,
        };
        let long = |factor: &Factor| sum_of(factor).is_some_and(|(sum, _)| has_long_numbers(pool, sum));
        let (place, scale) = match (self.above.iter().position(long), self.below.iter().position(long)) {
            (Some(at), _) => (&mut self.above[at], number),
            (None, Some(at)) => (&mut self.below[at], Rational::ONE / number),
            (None, None) => return self,
        };
        if let Some((sum, turned)) = sum_of(place) {
            *place = Factor::Scaled(sum, scale, turned);
        }
        self.with_number(&Rational::ONE)
    }

    /// Writes the number in front as a decimal where people would.
    pub fn with_decimal(mut self, pool: &Pool) -> Fraction {
        let integer = |factors: &[Factor]| match factors.first() {
            Some(Factor::Number(n)) => Some(n.clone()),
            _ => None,
        };
        let (above, below) = (integer(&self.above), integer(&self.below));
        if above.is_none() && below.is_none() || above.as_ref().is_some_and(UBig::is_zero) {
            return self;
        }
        let numbers = (above.clone().unwrap_or(UBig::ONE), below.clone().unwrap_or(UBig::ONE));
        let has_factors = self.above.len() > usize::from(above.is_some());
        let found = Decimal::of(pool, &numbers.0, &numbers.1, has_factors);
        // 100000*x/314159 is x/3.14159.
        let divisor = || Decimal::divisor(pool, &numbers.0, &numbers.1);
        let Some((decimal, is_divisor)) = found
            .map(|d| (d, false))
            .or_else(|| divisor().map(|d| (d, true)))
            .or_else(|| Decimal::rounded_quotient(pool, &numbers.0, &numbers.1).map(|d| (d, false)))
        else {
            return self;
        };
        self.above.drain(..usize::from(above.is_some()));
        self.below.drain(..usize::from(below.is_some()));
        let place = if is_divisor { &mut self.below } else { &mut self.above };
        place.insert(0, Factor::Decimal(decimal));
        self
    }

    fn scale(&mut self, r: &Rational) {
        let above = r.numerator().clone().unsigned_abs();
        if above != UBig::ONE {
            self.above.push(Factor::Number(above));
        }
        if *r.denominator() != UBig::ONE {
            self.below.push(Factor::Number(r.denominator().clone()));
        }
    }

    /// Reads any expression as a signed quotient.
    pub fn of(pool: &Pool, e: Expr) -> Fraction {
        let mut fraction = Fraction::default();
        match pool.node(e) {
            Node::Product(factors) => {
                let mut factors: SmallVec<[Expr; 4]> = factors.into();
                if let Some(r) = pool.as_rational(factors[0]) {
                    fraction.negative = number::is_negative(r);
                    fraction.scale(r);
                    factors.remove(0);
                }
                let is_polynomial = factors.iter().any(|f| is_sum_over_variable(pool, *f));
                factors.sort_by_cached_key(|f| match factor_key(pool, *f) {
                    // Before a polynomial in it, the variable stands among the symbols: s*(s + 1).
                    (LAST, _, e) if is_polynomial => (2, Natural(""), e),
                    key => key,
                });
                for factor in factors {
                    fraction.push(pool, factor);
                }
            }
            Node::Number(r) => return Fraction::of_number(r),
            _ => fraction.push(pool, e),
        }
        fraction.absorb_sign(pool);
        fraction
    }

    /// Lets a difference take the minus sign: -(a - b)/c is written (b - a)/c.
    fn absorb_sign(&mut self, pool: &Pool) {
        if !self.negative {
            return;
        }
        for factor in self.above.iter_mut().chain(&mut self.below) {
            if let Factor::Power(base, Exponent::One) = factor
                && let Node::Sum(terms) = pool.node(*base)
                && terms.iter().any(|t| is_negative_term(pool, *t))
            {
                *factor = Factor::Opposite(*base);
                self.negative = false;
                return;
            }
        }
    }

    fn push(&mut self, pool: &Pool, factor: Expr) {
        let Node::Power(base, exponent) = pool.node(factor) else {
            self.above.push(Factor::Power(factor, Exponent::One));
            return;
        };
        match pool.as_rational(exponent) {
            Some(r) if number::is_negative(r) => {
                let positive = -r.clone();
                let exponent = if positive.is_one() { Exponent::One } else { Exponent::Number(positive) };
                self.below.push(Factor::Power(base, exponent));
            }
            Some(r) => self.above.push(Factor::Power(base, Exponent::Number(r.clone()))),
            None => self.above.push(Factor::Power(base, Exponent::Symbolic(exponent))),
        }
    }
}

/// Tells whether a sum has numbers of so many digits that nobody has written them.
pub(crate) fn has_long_numbers(pool: &Pool, sum: Expr) -> bool {
    let Node::Sum(terms) = pool.node(sum) else { return false };
    let least = UBig::from(10u8).pow(PLAIN_DIGITS);
    terms.iter().any(|term| {
        let number = match pool.node(*term) {
            Node::Product(factors) => pool.as_rational(factors[0]),
            _ => pool.as_rational(*term),
        };
        number.is_some_and(|r| r.numerator().clone().unsigned_abs() >= least)
    })
}

/// What factors are ordered by: their kind, their name, and what tells others apart.
type FactorKey<'a> = (u8, Natural<'a>, Expr);

/// The place of the variable by whose powers sums are ordered.
const LAST: u8 = 6;

/// Tells whether a factor is a sum with the variable by whose powers sums are ordered in one of its terms.
fn is_sum_over_variable(pool: &Pool, factor: Expr) -> bool {
    let Some(variable) = pool.style().variable else { return false };
    let is_variable = |e: Expr| pool.as_symbol(pool.as_base_exponent(e).0) == Some(variable);
    let has_variable = |term: &Expr| match pool.node(*term) {
        Node::Product(factors) => factors.iter().any(|f| is_variable(*f)),
        _ => is_variable(*term),
    };
    match pool.node(pool.as_base_exponent(factor).0) {
        Node::Sum(terms) => terms.iter().any(has_variable),
        _ => false,
    }
}

/// Orders factors: constants, symbols by name, then everything else by the symbols inside.
fn factor_key(pool: &Pool, e: Expr) -> FactorKey<'_> {
    let (base, _) = pool.as_base_exponent(e);
    match pool.node(base) {
        Node::Number(_) | Node::Pi => (0, Natural(""), e),
        Node::Symbol(s) if pool.style().variable == Some(s) => (LAST, Natural(""), e),
        Node::Symbol(s) => (1, Natural(pool.name(s)), e),
        Node::Sum(_) => (3, Natural(""), e),
        Node::Call(f, _) => (4, Natural(f.name()), e),
        _ => (5, Natural(""), e),
    }
}

/// A name in natural order: x2 comes before x10.
struct Natural<'a>(&'a str);

/// The bytes of a name with its numbers padded, and its end.
fn padded(bytes: &[u8]) -> impl Iterator<Item = u8> {
    const DIGITS: usize = 10;
    let padding = move |i: usize| {
        let starts = bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_digit());
        let digits = bytes[i..].iter().take_while(|b| b.is_ascii_digit()).count();
        if starts { DIGITS.saturating_sub(digits) } else { 0 }
    };
    let byte = move |i: usize| std::iter::repeat_n(b'0', padding(i)).chain([bytes[i]]);
    (0..bytes.len()).flat_map(byte).chain([0])
}

impl Ord for Natural<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Names often begin alike; what is compared must begin where no number is cut in two.
        let digits = a[..common].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        padded(&a[common - digits..]).cmp(padded(&b[common - digits..]))
    }
}

impl PartialEq for Natural<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Natural<'_> {}

impl PartialOrd for Natural<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What terms are ordered by: the power of the variable that sums are ordered by, the degree, the factors.
type TermKey<'a> = (Reverse<i64>, Reverse<i64>, SmallVec<[FactorKey<'a>; 4]>);

/// Orders terms as in a polynomial: by falling degree, then by name, the constant last.
fn term_key(pool: &Pool, e: Expr) -> TermKey<'_> {
    let factors: SmallVec<[Expr; 4]> = match pool.node(e) {
        Node::Number(_) => return (Reverse(0), Reverse(i64::MIN), SmallVec::new()),
        Node::Product(factors) => factors.iter().copied().filter(|f| !pool.is_number(*f)).collect(),
        _ => smallvec![e],
    };
    let degree = |f: &Expr| match pool.node(*f) {
        Node::Power(_, exponent) => pool.as_int(exponent).unwrap_or(1).clamp(-1000, 1000),
        Node::Pi => 0,
        _ => 1,
    };
    let total = factors.iter().map(degree).sum();
    let is_variable = |f: &&Expr| {
        let (base, _) = pool.as_base_exponent(**f);
        pool.style().variable.is_some() && pool.as_symbol(base) == pool.style().variable
    };
    let power = factors.iter().filter(is_variable).map(degree).sum();
    let mut keys: SmallVec<[_; 4]> = factors.iter().map(|f| factor_key(pool, *f)).collect();
    keys.sort();
    (Reverse(power), Reverse(total), keys)
}

/// Lists a sum's terms in reading order, with a positive one first where there is one; `turned` sums have
/// all their signs changed.
pub(super) fn ordered_terms(pool: &Pool, terms: &[Expr], turned: bool) -> Vec<Expr> {
    let mut terms = terms.to_vec();
    terms.sort_by_cached_key(|t| term_key(pool, *t));
    if let Some(first) = terms.iter().position(|t| is_negative_term(pool, *t) == turned) {
        terms[..=first].rotate_right(1);
    }
    terms
}

pub(super) fn is_negative_term(pool: &Pool, e: Expr) -> bool {
    let number = match pool.node(e) {
        Node::Product(factors) => pool.as_rational(factors[0]),
        _ => pool.as_rational(e),
    };
    number.is_some_and(|r| r.cmp(&Rational::ZERO) == Ordering::Less)
}
