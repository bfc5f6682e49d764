//! Which of several forms of an expression a person would write: lowest terms
//! where that is shorter, the form it was derived in where not.

use paynter_base::CancellationToken;

use super::{Budget, Work, normal};
use crate::Pool;
use crate::node::{Expr, Node};

/// What one entry may cost; larger ones are left as they were derived.
const BUDGET: Budget = Budget { terms: 300, steps: 300_000 };

/// Expressions with more nodes than this are left as they were derived.
const NODES: usize = 400;

/// Brings an expression to lowest terms if that makes it shorter.
pub fn readable(pool: &mut Pool, e: Expr, token: &CancellationToken) -> Expr {
    if pool.reachable(&[e]).len() > NODES {
        return e;
    }
    let work = Work::new(BUDGET, token);
    let Ok(normal) = normal(pool, e, &work) else { return e };
    nicest(pool, &[normal, e])
}

/// What a quotient inside a denominator costs, in characters.
const NESTED: usize = 8;

/// The shortest, where fractions within fractions count as long; the first of equals.
pub fn nicest(pool: &Pool, candidates: &[Expr]) -> Expr {
    let length = |e: Expr| pool.display(e).to_string().len() + NESTED * nested_quotients(pool, e);
    candidates.iter().copied().min_by_key(|e| length(*e)).unwrap_or(candidates[0])
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
        .filter(|base| pool.reachable(&[*base]).iter().any(|inner| denominator(inner).is_some()))
        .count()
}
