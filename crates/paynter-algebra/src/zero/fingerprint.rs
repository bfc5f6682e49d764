//! Fingerprints: values of rational expressions at one random point modulo a
//! prime, remembered, so that the many pivots of an elimination cost little.

use super::residue::Residues;
use crate::node::Expr;
use crate::pool::Pool;

/// The point of all fingerprints.
const FINGERPRINT_SEED: u64 = 0;

/// Remembers the fingerprint of every expression it has seen.
///
/// A fingerprint other than zero proves that a rational expression is not zero.
#[derive(Debug, Clone)]
pub struct Fingerprints {
    point: Residues,
}

impl Default for Fingerprints {
    fn default() -> Fingerprints {
        Fingerprints { point: Residues::of_rational(FINGERPRINT_SEED) }
    }
}

impl Fingerprints {
    /// Makes an empty memory.
    pub fn new() -> Fingerprints {
        Fingerprints::default()
    }

    /// Decides whether an expression is zero; asks the full test only where the fingerprint is no proof.
    pub fn is_zero(&mut self, pool: &mut Pool, e: Expr) -> bool {
        match self.point.value(pool, e) {
            Some(value) if value != 0 => false,
            _ => pool.is_zero(e),
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
