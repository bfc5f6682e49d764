//! Fingerprints: values of rational expressions at one random point modulo a
//! prime, remembered, so that the many pivots of an elimination cost little.

use crate::field::FIELD;
use crate::node::{Expr, Node};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

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
            Node::Number(r) => FIELD.rational(r),
            Node::Symbol(s) => Some(FIELD.random(0, s.index() as u64)),
            Node::Sum(terms) => {
                terms.iter().try_fold(0, |sum, term| Some(FIELD.add(sum, self.known(*term)?)))
            }
            Node::Product(factors) => factors
                .iter()
                .try_fold(FIELD.one(), |product, factor| Some(FIELD.mul(product, self.known(*factor)?))),
            Node::Power(base, exponent) => {
                let exponent = pool.as_int(exponent)?;
                let base = self.known(base)?;
                let power = FIELD.pow(base, exponent.unsigned_abs());
                (base != 0 || exponent >= 0).then(|| if exponent < 0 { FIELD.inv(power) } else { power })
            }
            _ => None,
        }
    }
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
