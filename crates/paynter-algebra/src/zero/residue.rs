//! Values of expressions modulo a prime, at a point that may be given or random.

use crate::Rational;
use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

/// Arithmetic modulo the prime 2^61 − 1.
pub mod field {
    use crate::Rational;

    /// 2^61 − 1.
    pub const PRIME: u64 = (1 << 61) - 1;

    /// Adds two residues.
    #[inline]
    pub fn add(a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= PRIME { sum - PRIME } else { sum }
    }

    /// Subtracts two residues.
    #[inline]
    pub fn subtract(a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + PRIME - b }
    }

    /// Multiplies two residues.
    #[inline]
    pub fn multiply(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        add((product as u64) & PRIME, (product >> 61) as u64)
    }

    /// Raises a residue to a power.
    pub fn power(mut base: u64, mut exponent: u64) -> u64 {
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

    /// The inverse; zero has none.
    pub fn invert(a: u64) -> Option<u64> {
        (a != 0).then(|| power(a, PRIME - 2))
    }

    /// The residue of a rational number, unless the prime divides its denominator.
    pub fn residue(r: &Rational) -> Option<u64> {
        let modulus = dashu_int::UBig::from(PRIME);
        let magnitude = dashu_base::UnsignedAbs::unsigned_abs(r.numerator().clone()) % &modulus;
        let above = u64::try_from(magnitude).ok()?;
        let below = u64::try_from(r.denominator().clone() % &modulus).ok()?;
        let value = multiply(above, invert(below)?);
        Some(if crate::number::is_negative(r) { subtract(0, value) } else { value })
    }

    /// A fixed random-looking residue: the finaliser of splitmix64.
    pub fn scramble(index: u64) -> u64 {
        let mut x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % PRIME
    }
}

/// Evaluates expressions modulo 2^61 − 1 at one point, remembering what it has seen.
///
/// Symbols without a value of their own get a random one, and so does every
/// sub-expression that no rational operation makes, as if it were a symbol.
#[derive(Debug, Clone)]
pub struct Residues {
    seed: u64,
    given: FxHashMap<Symbol, u64>,
    values: FxHashMap<Expr, Option<u64>>,
}

impl Residues {
    /// Starts at the random point of a seed.
    pub fn new(seed: u64) -> Residues {
        Residues { seed, given: FxHashMap::default(), values: FxHashMap::default() }
    }

    /// Gives a symbol a value of its own; to be done before anything is evaluated.
    pub fn set(&mut self, symbol: Symbol, value: u64) {
        self.given.insert(symbol, value % field::PRIME);
    }

    /// Gives a symbol the value of a number, where it has a residue.
    pub fn set_rational(&mut self, symbol: Symbol, value: &Rational) {
        if let Some(value) = field::residue(value) {
            self.set(symbol, value);
        }
    }

    /// The value of an expression; nothing where a divisor vanishes at the point.
    pub fn value(&mut self, pool: &Pool, e: Expr) -> Option<u64> {
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
        self.known(e)
    }

    fn known(&self, e: Expr) -> Option<u64> {
        self.values.get(&e).copied().flatten()
    }

    fn combine(&self, pool: &Pool, node: Expr) -> Option<u64> {
        match pool.node(node) {
            Node::Number(r) => field::residue(r),
            Node::Symbol(s) => Some(match self.given.get(&s) {
                Some(value) => *value,
                None => self.random(2 * s.index() as u64),
            }),
            Node::Sum(terms) => {
                terms.iter().try_fold(0, |sum, term| Some(field::add(sum, self.known(*term)?)))
            }
            Node::Product(factors) => factors
                .iter()
                .try_fold(1, |product, factor| Some(field::multiply(product, self.known(*factor)?))),
            Node::Power(base, exponent) => match pool.as_int(exponent) {
                Some(exponent) => {
                    let base = self.known(base)?;
                    let base = if exponent < 0 { field::invert(base)? } else { base };
                    Some(field::power(base, exponent.unsigned_abs()))
                }
                None => Some(self.random(2 * node.index() as u64 + 1)),
            },
            _ => Some(self.random(2 * node.index() as u64 + 1)),
        }
    }

    fn random(&self, index: u64) -> u64 {
        field::scramble(field::scramble(self.seed) ^ index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_agrees_with_rationals() {
        let mut pool = Pool::new();
        let x = pool.symbol("x");
        let variable = pool.var(x);
        let (third, two) = (pool.decimal("0.25").unwrap(), pool.int(-2));
        let power = pool.pow(variable, two);
        let sum = pool.add(power, third);
        let mut point = Residues::new(1);
        point.set_rational(x, &Rational::from(2u8));
        // 1/4 + 1/4 = 1/2
        let half = point.value(&pool, sum).unwrap();
        assert_eq!(field::add(half, half), 1);
        assert_eq!(field::multiply(field::PRIME - 1, field::PRIME - 1), 1);
    }
}
