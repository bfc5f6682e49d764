//! Constructors that simplify: each returns the canonical node of its operation on canonical operands.

mod function;
mod logic;
mod monomials;
mod power;
pub(crate) mod product;
mod sum;

use crate::node::{Expr, Func, Node};
use crate::pool::Pool;

impl Pool {
    /// Makes a + b.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.sum(&[a, b])
    }

    /// Makes a - b.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        let minus_b = self.neg(b);
        self.sum(&[a, minus_b])
    }

    /// Makes -a.
    pub fn neg(&mut self, a: Expr) -> Expr {
        let minus_one = self.int(-1);
        self.product(&[minus_one, a])
    }

    /// Makes a * b.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.product(&[a, b])
    }

    /// Makes a / b.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        let minus_one = self.int(-1);
        let inverse = self.pow(b, minus_one);
        self.product(&[a, inverse])
    }

    /// Splits a product into what stands above and below its fraction bar, as it is written: nothing is expanded.
    pub fn numerator_and_denominator(&mut self, e: Expr) -> (Expr, Expr) {
        let factors = match self.node(e) {
            Node::Product(factors) => factors.to_vec(),
            _ => vec![e],
        };
        let is_below = |factor: &Expr| match self.node(*factor) {
            Node::Power(_, exponent) => self.as_rational(exponent).is_some_and(crate::number::is_negative),
            _ => false,
        };
        let (below, above): (Vec<Expr>, Vec<Expr>) = factors.into_iter().partition(is_below);
        let (numerator, below, one) = (self.product(&above), self.product(&below), self.one());
        (numerator, self.div(one, below))
    }

    /// Makes the square root of a.
    pub fn sqrt(&mut self, a: Expr) -> Expr {
        self.call(Func::Sqrt, &[a])
    }

    /// Makes a node of the same kind as `like` with other children.
    pub(crate) fn rebuild(&mut self, like: Expr, args: &[Expr]) -> Expr {
        match (self.node(like), args) {
            (Node::Sum(_), _) => self.sum(args),
            (Node::Product(_), _) => self.product(args),
            (Node::Power(..), [base, exponent]) => self.pow(*base, *exponent),
            (Node::Call(f, _), _) => self.call(f, args),
            (Node::Compare(op, ..), [a, b]) => self.compare(op, *a, *b),
            (Node::And(..), [a, b]) => self.and(*a, *b),
            (Node::Or(..), [a, b]) => self.or(*a, *b),
            (Node::Not(_), [a]) => self.not(*a),
            (Node::Select(..), [c, a, b]) => self.select(*c, *a, *b),
            _ => like,
        }
    }
}
