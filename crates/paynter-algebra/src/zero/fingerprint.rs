//! Fingerprints: values of rational expressions at one random point modulo a
//! prime, remembered, so that the many pivots of an elimination cost little.

use crate::Rational;
use crate::node::{Expr, Node};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

/// 2^61 − 1.
const PRIME: u64 = (1 << 61) - 1;

/// Remembers the fingerprint of every expression it has seen.
///
/// A fingerprint other than zero proves that a rational expression is not zero.
#[derive(Debug, Clone, Default)]
pub struct Fingerprints {
    values: FxHashMap<Expr, Option<u64>>,
}

impl Fingerprints {
    /// Makes an empty memory.
    pub fn new() -> Fingerprints {
        Fingerprints::default()
    }

    /// Decides whether an expression is zero; asks the full test only where the fingerprint is no proof.
    pub fn is_zero(&mut self, pool: &mut Pool, e: Expr) -> bool {
        match self.value(pool, e) {
            Some(value) if value != 0 => false,
            _ => pool.is_zero(e),
        }
    }

    /// The fingerprint, or nothing where the expression is not rational or not defined at the point.
    fn value(&mut self, pool: &Pool, e: Expr) -> Option<u64> {
        let mut stack = vec![e];
        while let Some(&node) = stack.last() {
            if self.values.contains_key(&node) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let missing = |child: &&Expr| !self.values.contains_key(*child);
            stack.extend(pool.children(node).iter().filter(missing));
            if stack.len() == before {
                let value = self.combine(pool, node);
                self.values.insert(node, value);
                stack.pop();
            }
        }
        self.values.get(&e).copied().flatten()
    }

    fn known(&self, e: Expr) -> Option<u64> {
        self.values.get(&e).copied().flatten()
    }

    fn combine(&self, pool: &Pool, node: Expr) -> Option<u64> {
        match pool.node(node) {
            Node::Number(r) => residue(r),
            Node::Symbol(s) => Some(scramble(s.index() as u64)),
            Node::Sum(terms) => {
                terms.iter().try_fold(0, |sum, term| Some((sum + self.known(*term)?) % PRIME))
            }
            Node::Product(factors) => {
                factors.iter().try_fold(1, |product, factor| Some(multiply(product, self.known(*factor)?)))
            }
            Node::Power(base, exponent) => {
                let exponent = pool.as_int(exponent)?;
                let base = self.known(base)?;
                let base = if exponent < 0 { invert(base)? } else { base };
                Some(power(base, exponent.unsigned_abs()))
            }
            _ => None,
        }
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

fn invert(a: u64) -> Option<u64> {
    (a != 0).then(|| power(a, PRIME - 2))
}

fn residue(r: &Rational) -> Option<u64> {
    let modulus = dashu_int::UBig::from(PRIME);
    let magnitude = dashu_base::UnsignedAbs::unsigned_abs(r.numerator().clone()) % &modulus;
    let above = u64::try_from(magnitude).ok()?;
    let below = u64::try_from(r.denominator().clone() % &modulus).ok()?;
    let value = multiply(above, invert(below)?);
    let negative = crate::number::is_negative(r);
    Some(if negative && value != 0 { PRIME - value } else { value })
}

/// A fixed random-looking point: the finaliser of splitmix64.
fn scramble(index: u64) -> u64 {
    let mut x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % PRIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_zero_from_not_zero() {
        let mut pool = Pool::new();
        let mut prints = Fingerprints::new();
        let (x, y) = (pool.symbol("x"), pool.symbol("y"));
        let (x, y) = (pool.var(x), pool.var(y));
        let sum = pool.add(x, y);
        let square = pool.mul(sum, sum);
        let two = pool.int(2);
        let (xx, yy, xy) = (pool.pow(x, two), pool.pow(y, two), pool.product(&[two, x, y]));
        let expanded = pool.sum(&[xx, yy, xy]);
        let difference = pool.sub(square, expanded);
        assert!(prints.is_zero(&mut pool, difference));
        let off = pool.sub(difference, xy);
        assert!(!prints.is_zero(&mut pool, off));
        let root = pool.call(crate::Func::Sqrt, &[sum]);
        let back = pool.mul(root, root);
        let kernels = pool.sub(back, sum);
        assert!(prints.is_zero(&mut pool, kernels));
    }
}
