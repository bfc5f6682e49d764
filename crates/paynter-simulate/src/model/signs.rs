//! Signs and sizes of one function that algebra has written apart: the sign of a product of factors beside the size
//! of their sum, or a sum divided by a power of its size. Written alike they are a power with the sign of its base.

use super::freeze::rebuilt;
use paynter_algebra::{Expr, Func, Node, Pool, Rational, poly};
use paynter_base::CancellationToken;
use rustc_hash::FxHashMap;

/// Functions whose signs are compared are short; longer ones are left as they are.
const SHORT: poly::Budget = poly::Budget { terms: 200, steps: 100_000 };

/// The same expressions, where what is a multiple of some |x| by a number is written by that x: its sign, and
/// the sum before |x|ʳ with −1 < r < 0, which becomes sign(x)·|x|ʳ⁺¹.
pub(super) fn aligned(pool: &mut Pool, roots: &[Expr]) -> Vec<Expr> {
    let order = pool.reachable(roots);
    let size = |node: &Expr| match pool.node(*node) {
        Node::Call(Func::Abs, list) => Some(list[0]),
        _ => None,
    };
    let sizes: Vec<Expr> = order.iter().filter_map(size).collect();
    if sizes.is_empty() {
        return roots.to_vec();
    }
    let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
    for node in order {
        let args: Vec<Expr> =
            pool.children(node).iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
        let same = args.as_slice() == pool.children(node);
        let new = match pool.node(node) {
            Node::Call(Func::Sign, _) if !sizes.contains(&args[0]) => {
                let known = sizes.iter().find_map(|x| Some((*x, multiple(pool, args[0], *x)?)));
                known.map(|(x, factor)| {
                    let sign = pool.call(Func::Sign, &[x]);
                    if factor < Rational::ZERO { pool.neg(sign) } else { sign }
                })
            }
            Node::Product(_) => without_quotient(pool, &args),
            _ => None,
        };
        match new {
            Some(new) => replaced.insert(node, new),
            None if same => None,
            None => {
                let new = rebuilt(pool, node, &args);
                replaced.insert(node, new)
            }
        };
    }
    roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
}

/// A product that has a multiple of x beside |x|ʳ, −1 < r < 0, by the sign and the size of x.
fn without_quotient(pool: &mut Pool, factors: &[Expr]) -> Option<Expr> {
    let quotient = |factor: &Expr| {
        let Node::Power(base, exponent) = pool.node(*factor) else { return None };
        let Node::Call(Func::Abs, list) = pool.node(base) else { return None };
        let exponent = pool.as_rational(exponent)?;
        (*exponent < Rational::ZERO && *exponent > -Rational::ONE).then(|| (base, list[0], exponent.clone()))
    };
    let (place, (base, x, exponent)) =
        factors.iter().enumerate().find_map(|(place, factor)| Some((place, quotient(factor)?)))?;
    let (above, factor) = (0..factors.len())
        .filter(|other| *other != place)
        .find_map(|other| Some((other, multiple(pool, factors[other], x)?)))?;
    let (factor, exponent) = (pool.number(factor), pool.number(exponent + Rational::ONE));
    let (sign, power) = (pool.call(Func::Sign, &[x]), pool.pow(base, exponent));
    let mut rest: Vec<Expr> =
        (0..factors.len()).filter(|other| ![place, above].contains(other)).map(|at| factors[at]).collect();
    rest.extend([factor, sign, power]);
    Some(pool.product(&rest))
}

/// The number by which an expression is a multiple of another.
fn multiple(pool: &mut Pool, e: Expr, x: Expr) -> Option<Rational> {
    if e == x {
        return Some(Rational::ONE);
    }
    if pool.symbols(e) != pool.symbols(x) {
        return None;
    }
    let work = poly::Work::new(SHORT, &CancellationToken::new());
    let ratio = pool.div(e, x);
    let ratio = poly::normal(pool, ratio, &work).ok()?;
    pool.as_rational(ratio).filter(|number| **number != Rational::ZERO).cloned()
}
