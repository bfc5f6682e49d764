//! Which of several forms of an expression a person would write: lowest terms
//! where that is shorter, the form it was derived in where not.

use paynter_base::CancellationToken;

use super::laurent::least_length;
use super::{Budget, Work, normal};
use crate::Pool;
use crate::node::{Expr, Node};

/// What one entry may cost; larger ones are left as they were derived.
const BUDGET: Budget = Budget { terms: 300, steps: 300_000 };

/// Expressions with more nodes than this are left as they were derived.
const NODES: usize = 400;

/// Brings an expression to lowest terms if that makes it shorter.
pub fn readable(pool: &mut Pool, e: Expr, token: &CancellationToken) -> Expr {
    if is_monomial(pool, e) || pool.reachable(&[e]).len() > NODES {
        return e;
    }
    if least_length(pool, e).is_some_and(|least| least > length(pool, e)) {
        return e;
    }
    let work = Work::new(BUDGET, token);
    let Ok(normal) = normal(pool, e, &work) else { return e };
    nicest(pool, &[normal, e])
}

/// Whether an expression is a number, a symbol or a product of powers of symbols, which has no other form.
fn is_monomial(pool: &Pool, e: Expr) -> bool {
    let power = |factor: Expr| match pool.node(factor) {
        Node::Power(base, exponent) => pool.as_symbol(base).is_some() && pool.as_int(exponent).is_some(),
        Node::Number(_) | Node::Symbol(_) => true,
        _ => false,
    };
    match pool.node(e) {
        Node::Product(factors) => factors.iter().all(|factor| power(*factor)),
        _ => power(e),
    }
}

/// The shortest, where fractions within fractions count as long; the first of equals.
pub fn nicest(pool: &Pool, candidates: &[Expr]) -> Expr {
    let first = candidates[0];
    if candidates.iter().all(|e| *e == first) {
        return first;
    }
    candidates.iter().copied().min_by_key(|e| length(pool, *e)).unwrap_or(first)
}

/// What a quotient inside a denominator costs, in characters.
const NESTED: usize = 8;

/// How long an expression is when written, where fractions within fractions count as long.
fn length(pool: &Pool, e: Expr) -> usize {
    pool.written_length(e) + NESTED * nested_quotients(pool, e)
}

/// How many denominators hold quotients themselves.
fn nested_quotients(pool: &Pool, e: Expr) -> usize {
    let denominator = |node: &Expr| match pool.node(*node) {
        Node::Power(base, exponent) if pool.as_int(exponent).is_some_and(|k| k < 0) => Some(base),
        _ => None,
    };
    let all = pool.reachable(&[e]);
    let denominators = all.iter().filter_map(denominator);
    denominators
        .filter(|base| pool.as_symbol(*base).is_none())
        .filter(|base| pool.reachable(&[*base]).iter().any(|inner| denominator(inner).is_some()))
        .count()
}
