//! Sums: flattened, with like terms collected and the constant first.

use crate::limits::{MAX_CONSTANT_BITS, MAX_CONTENT_BITS};
use crate::node::{Expr, Node};
use crate::pool::{Head, Pool, Tag};
use crate::{Rational, number};
use dashu_base::{Gcd, UnsignedAbs};
use dashu_int::UBig;

/// A term with its number and the rest; what is not merged with another stays as it is.
#[derive(Clone, Copy)]
struct Term {
    rest: Expr,
    coefficient: Expr,
    whole: Expr,
}

impl Pool {
    /// Makes the sum of many terms at once, in time linear in their number but for sorting.
    pub fn sum(&mut self, terms: &[Expr]) -> Expr {
        match terms {
            [] => return self.zero(),
            [single] => return *single,
            [a, b] => {
                if let Some(sum) = self.simple_sum(*a, *b) {
                    return sum;
                }
            }
            _ => {}
        }
        let mut constant = self.zero();
        let mut parts: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            if self.head(*term).tag == Tag::Sum {
                for i in 0..self.children(*term).len() {
                    let child = self.children(*term)[i];
                    self.gather_term(child, &mut constant, &mut parts);
                }
            } else {
                self.gather_term(*term, &mut constant, &mut parts);
            }
        }
        if self.is_too_large(constant) || parts.iter().any(|part| part.rest == self.undefined()) {
            return self.undefined();
        }
        parts.sort_by_key(|part| part.rest);
        let mut out: Vec<Expr> = Vec::with_capacity(parts.len() + 1);
        if constant != self.zero() {
            out.push(constant);
        }
        let mut i = 0;
        while i < parts.len() {
            let Term { rest, mut coefficient, whole } = parts[i];
            let mut j = i + 1;
            while j < parts.len() && parts[j].rest == rest {
                coefficient = self.add_numbers(coefficient, parts[j].coefficient);
                j += 1;
            }
            if j == i + 1 {
                out.push(whole);
            } else if coefficient != self.zero() {
                out.push(self.scaled(coefficient, rest));
            }
            i = j;
        }
        match out.as_slice() {
            [] => self.zero(),
            [single] => *single,
            _ => self.intern(Head::plain(Tag::Sum), &out),
        }
    }

    /// Adds one term to another or to a sum where nothing has to be collected: the most frequent case, and
    /// the one that keeps sums built term by term cheap.
    fn simple_sum(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (a, b) = if self.head(a).tag == Tag::Sum { (a, b) } else { (b, a) };
        if matches!(self.head(b).tag, Tag::Sum | Tag::Number) || self.head(a).tag == Tag::Number {
            return None;
        }
        if a == self.undefined() || b == self.undefined() {
            return None;
        }
        let (_, rest) = self.split_coefficient(b);
        if self.head(a).tag != Tag::Sum {
            let (_, other) = self.split_coefficient(a);
            return match other.cmp(&rest) {
                std::cmp::Ordering::Less => Some(self.intern(Head::plain(Tag::Sum), &[a, b])),
                std::cmp::Ordering::Greater => Some(self.intern(Head::plain(Tag::Sum), &[b, a])),
                std::cmp::Ordering::Equal => None,
            };
        }
        // Terms are sorted by their rests, after the constant.
        let mut low = usize::from(self.is_number(self.children(a)[0]));
        let mut high = self.children(a).len();
        while low < high {
            let middle = low.midpoint(high);
            let term = self.children(a)[middle];
            let (_, other) = self.split_coefficient(term);
            match other.cmp(&rest) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return None,
            }
        }
        let mut terms = Vec::with_capacity(self.children(a).len() + 1);
        terms.extend_from_slice(&self.children(a)[..low]);
        terms.push(b);
        terms.extend_from_slice(&self.children(a)[low..]);
        Some(self.intern(Head::plain(Tag::Sum), &terms))
    }

    fn gather_term(&mut self, term: Expr, constant: &mut Expr, parts: &mut Vec<Term>) {
        if self.is_number(term) {
            *constant = self.add_numbers(*constant, term);
        } else {
            let (coefficient, rest) = self.split_coefficient(term);
            parts.push(Term { rest, coefficient, whole: term });
        }
    }

    /// Tells whether a constant has outgrown every use; operations with it are undefined.
    pub(super) fn is_too_large(&self, e: Expr) -> bool {
        self.as_rational(e).is_none_or(|r| number::bits(r) > 2 * MAX_CONSTANT_BITS)
    }

    pub(crate) fn add_numbers(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if x.checked_add(y).is_some() => self.int(x + y),
            _ => match (self.as_rational(a), self.as_rational(b)) {
                (Some(x), Some(y)) => {
                    let sum = x + y;
                    self.number(sum)
                }
                _ => self.undefined(),
            },
        }
    }

    pub(crate) fn multiply_numbers(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if x.checked_mul(y).is_some() => self.int(x * y),
            _ => match (self.as_rational(a), self.as_rational(b)) {
                (Some(x), Some(y)) => {
                    let product = x * y;
                    self.number(product)
                }
                _ => self.undefined(),
            },
        }
    }

    /// Splits a sum into a number and a sum of whole coefficients without common divisor, the first of which
    /// is positive; anything else has content 1.
    ///
    /// Sums that are factors or bases are kept in this form, so that (a - b)/(2*b - 2*a) is -1/2.
    pub(super) fn content(&mut self, e: Expr) -> (Expr, Expr) {
        if self.head(e).tag != Tag::Sum {
            return (self.one(), e);
        }
        if let Some(known) = self.known_content(e) {
            return known;
        }
        let mut above = UBig::ZERO;
        let mut below = UBig::ONE;
        for term in self.children(e) {
            let coefficient = match self.node(*term) {
                Node::Number(r) => r,
                Node::Product(factors) => match self.as_rational(factors[0]) {
                    Some(r) => r,
                    None => &Rational::ONE,
                },
                _ => &Rational::ONE,
            };
            above = above.gcd(coefficient.numerator().clone().unsigned_abs());
            let common = (&below).gcd(coefficient.denominator());
            below = below / common * coefficient.denominator();
        }
        let mut content = Rational::from_parts(above.into(), below);
        if number::bits(&content) > MAX_CONTENT_BITS {
            content = Rational::ONE;
        }
        if self.leads_negative(e) {
            content = -content;
        }
        let result = if content.is_one() {
            (self.one(), e)
        } else {
            let inverse = self.number(Rational::ONE / &content);
            (self.number(content), self.scaled(inverse, e))
        };
        self.remember_content(e, result);
        result
    }

    /// Makes number times rest, where the rest has no number of its own.
    pub(crate) fn scaled(&mut self, coefficient: Expr, rest: Expr) -> Expr {
        if coefficient == self.one() {
            return rest;
        }
        if coefficient == self.zero() {
            return if rest == self.undefined() { rest } else { coefficient };
        }
        match self.node(rest) {
            Node::Number(_) => self.multiply_numbers(coefficient, rest),
            Node::Product(_) => self.with_coefficient(coefficient, rest),
            // A number is distributed over a sum, so that sums flatten and a - (a + b) is -b.
            Node::Sum(terms) => {
                let terms = terms.to_vec();
                let mut out = Vec::with_capacity(terms.len());
                for term in terms {
                    let term = if self.is_number(term) {
                        self.multiply_numbers(coefficient, term)
                    } else {
                        let (own, rest) = self.split_coefficient(term);
                        let both = self.multiply_numbers(coefficient, own);
                        self.scaled(both, rest)
                    };
                    out.push(term);
                }
                self.intern(Head::plain(Tag::Sum), &out)
            }
            _ => self.intern(Head::plain(Tag::Product), &[coefficient, rest]),
        }
    }
}
