//! Parity: whether an expression is even or odd in the unknown, and its form where the unknown keeps its sign.

use super::{Assume, Solver};
use crate::interval::Interval;
use crate::node::{Expr, Func, Node};
use crate::number;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parity {
    Even,
    Odd,
    Neither,
}

impl Parity {
    fn times(self, other: Parity) -> Parity {
        match (self, other) {
            (Parity::Neither, _) | (_, Parity::Neither) => Parity::Neither,
            (a, b) if a == b => Parity::Even,
            _ => Parity::Odd,
        }
    }

    fn plus(self, other: Parity) -> Parity {
        if self == other { self } else { Parity::Neither }
    }
}

impl Solver<'_> {
    /// Finds the parity of an expression in the unknown from its structure.
    pub(super) fn parity(&self, e: Expr) -> Parity {
        let mut parities: FxHashMap<Expr, Parity> = FxHashMap::default();
        for node in self.pool.reachable(&[e]) {
            let of = |child: &Expr| parities.get(child).copied().unwrap_or(Parity::Neither);
            let parity = match self.pool.node(node) {
                Node::Symbol(s) if s == self.unknown => Parity::Odd,
                Node::Sum(terms) => {
                    terms[1..].iter().fold(of(&terms[0]), |parity, term| parity.plus(of(term)))
                }
                Node::Product(factors) => {
                    factors.iter().fold(Parity::Even, |parity, factor| parity.times(of(factor)))
                }
                Node::Power(base, exponent) => match (of(&base), self.pool.as_rational(exponent)) {
                    (Parity::Even, _) if of(&exponent) == Parity::Even => Parity::Even,
                    (Parity::Odd, Some(r)) if number::is_even(r) => Parity::Even,
                    (Parity::Odd, Some(r)) if r.is_int() => Parity::Odd,
                    _ => Parity::Neither,
                },
                Node::Call(function, args) => match (function, of(&args[0])) {
                    (_, Parity::Even) if args.iter().all(|arg| of(arg) == Parity::Even) => Parity::Even,
                    (Func::Abs | Func::Cos | Func::Cosh, Parity::Odd) => Parity::Even,
                    (
                        Func::Sign
                        | Func::Sin
                        | Func::Tan
                        | Func::Asin
                        | Func::Atan
                        | Func::Sinh
                        | Func::Tanh
                        | Func::Asinh
                        | Func::Atanh,
                        Parity::Odd,
                    ) => Parity::Odd,
                    _ => Parity::Neither,
                },
                // Whatever else is free of the unknown is even in it.
                _ if self.pool.children(node).iter().all(|child| of(child) == Parity::Even) => Parity::Even,
                _ => Parity::Neither,
            };
            parities.insert(node, parity);
        }
        parities.get(&e).copied().unwrap_or(Parity::Neither)
    }

    /// Writes an expression for an unknown in a given range without the signs and choices the range decides.
    pub(super) fn decided(&mut self, e: Expr, assume: Assume) -> Expr {
        let unknown = self.unknown;
        self.pool.rewrite(e, |pool, node, args| match (pool.node(node), args) {
            (Node::Call(f @ (Func::Abs | Func::Sign), _), [x]) if pool.depends_on(*x, unknown) => {
                let range = pool.range(*x, assume);
                match f {
                    Func::Abs if range.is_non_negative() => Some(*x),
                    Func::Abs if range.is_non_positive() => Some(pool.neg(*x)),
                    Func::Sign if range.is_positive() => Some(pool.one()),
                    Func::Sign if range.is_negative() => Some(pool.int(-1)),
                    _ => None,
                }
            }
            (Node::Select(..), [condition, a, b]) => match pool.range(*condition, assume) {
                range if range == Interval::point(1.0) => Some(*a),
                range if range == Interval::point(0.0) => Some(*b),
                _ => None,
            },
            _ => None,
        })
    }
}
