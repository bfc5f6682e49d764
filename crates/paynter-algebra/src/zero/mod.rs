//! The exact zero test.
//!
//! Rational expressions are evaluated at random points modulo large primes, on the shared nodes and without
//! expansion: a wrong "zero" has a probability below 2^-60, a wrong "not zero" none. Other functions become
//! random kernels that obey their algebraic relations: roots are true roots, exp turns sums into products,
//! sine and cosine come from exp(i u). Zero is claimed for these only if floating-point evaluation with an
//! error bound agrees at every point tried.

mod field;
mod fingerprint;
mod modular;
mod numeric;
mod residue;

pub use fingerprint::Fingerprints;
pub use residue::Residues;

use crate::limits::ZERO_TEST_SEEDS;
use crate::node::{Expr, Func, Node};
use crate::number;
use crate::pool::Pool;
use field::{Element, PRIMES};

impl Pool {
    /// Decides whether an expression is zero wherever it is defined.
    ///
    /// An undefined expression is not zero. Relations the test does not know make it answer "not zero".
    pub fn is_zero(&mut self, e: Expr) -> bool {
        match self.node(e) {
            Node::Number(r) => return r.is_zero(),
            Node::Symbol(_) | Node::Pi => return false,
            _ => {}
        }
        if e == self.undefined() || self.is_boolean(e) || self.is_monomial(e) {
            return false;
        }
        let order = self.reachable(&[e]);
        if self.kind(&order) == Kind::Rational {
            return self.vanishes_modulo_primes(e, &order, 2);
        }
        let e = self.with_plain_powers(e);
        let order = self.reachable(&[e]);
        let (kind, rounds) = match self.kind(&order) {
            kind @ Kind::Rational => (kind, 2),
            kind @ Kind::Smooth => (kind, 4),
            kind @ Kind::Branching => (kind, 32),
        };
        self.vanishes_modulo_primes(e, &order, rounds)
            && (kind == Kind::Rational || numeric::vanishes(self, e))
    }

    /// Tells whether an expression is a number, a symbol or a product of integer powers of symbols: it has no other
    /// form, and vanishes nowhere but at zeros of its symbols.
    pub(crate) fn is_monomial(&self, e: Expr) -> bool {
        let power = |factor: Expr| match self.node(factor) {
            Node::Power(base, exponent) => self.as_symbol(base).is_some() && self.as_int(exponent).is_some(),
            Node::Number(_) | Node::Symbol(_) => true,
            _ => false,
        };
        match self.node(e) {
            Node::Product(factors) => factors.iter().all(|factor| power(*factor)),
            _ => power(e),
        }
    }

    /// Decides of each of many expressions whether it is zero wherever it is defined, as [`Pool::is_zero`] does.
    ///
    /// What is not zero at one point, where all are evaluated together, needs no test of its own.
    pub fn are_zero(&mut self, list: &[Expr]) -> Vec<bool> {
        let plain = self.rewrite_all(list, |pool, node, args| match (pool.node(node), args) {
            (Node::Power(..), [base, exponent]) => Some(pool.plain_power(*base, *exponent)),
            _ => None,
        });
        let values = modular::evaluate_all(self, &plain, PRIMES[0], 0);
        let mut decide = |(e, value): (&Expr, Option<Element>)| match value {
            Some(value) if !value.is_zero() => false,
            _ => self.is_zero(*e),
        };
        list.iter().zip(values).map(&mut decide).collect()
    }

    /// Decides whether two expressions are equal wherever both are defined.
    pub fn equal(&mut self, a: Expr, b: Expr) -> bool {
        if a == b {
            return true;
        }
        let difference = self.sub(a, b);
        self.is_zero(difference)
    }

    fn vanishes_modulo_primes(&self, e: Expr, order: &[Expr], rounds: u64) -> bool {
        (0..rounds).all(|round| {
            for attempt in 0..ZERO_TEST_SEEDS {
                let prime = PRIMES[((round + attempt) % PRIMES.len() as u64) as usize];
                if let Ok(value) = modular::evaluate(self, order, e, prime, round * ZERO_TEST_SEEDS + attempt)
                {
                    return value.is_zero();
                }
            }
            false
        })
    }

    /// The kind of an expression whose nodes these are.
    fn kind(&self, nodes: &[Expr]) -> Kind {
        let mut kind = Kind::Rational;
        for node in nodes {
            match self.node(*node) {
                Node::Call(Func::Abs | Func::Sign | Func::Min | Func::Max, _)
                | Node::Compare(..)
                | Node::Select(..) => return Kind::Branching,
                Node::Call(..) | Node::Pi => kind = Kind::Smooth,
                Node::Power(_, exponent) if self.as_int(exponent).is_none() => kind = Kind::Smooth,
                _ => {}
            }
        }
        kind
    }

    /// Writes powers of fractional powers and fractional powers of products as products of plain powers.
    ///
    /// Both sides agree wherever both are defined, since a fractional power has a non-negative base.
    fn with_plain_powers(&mut self, e: Expr) -> Expr {
        self.rewrite(e, |pool, node, args| match (pool.node(node), args) {
            (Node::Power(..), [base, exponent]) => Some(pool.plain_power(*base, *exponent)),
            _ => None,
        })
    }

    fn plain_power(&mut self, base: Expr, exponent: Expr) -> Expr {
        if self.as_rational(exponent).is_some_and(|r| r.is_int()) {
            return self.pow(base, exponent);
        }
        match self.node(base) {
            Node::Power(inner, e) if self.as_rational(e).is_none_or(|r| !r.is_int()) => {
                let both = self.mul(e, exponent);
                self.pow(inner, both)
            }
            Node::Product(factors) if !self.as_rational(factors[0]).is_some_and(number::is_negative) => {
                let factors = factors.to_vec();
                let powers: Vec<Expr> = factors.into_iter().map(|f| self.plain_power(f, exponent)).collect();
                self.product(&powers)
            }
            _ => self.pow(base, exponent),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rational,
    Smooth,
    Branching,
}
