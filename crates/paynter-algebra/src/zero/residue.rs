//! Values of expressions in a prime field, at a point that may be given or random.

use crate::Rational;
use crate::field::FIELD;
use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use paynter_base::random;
use rustc_hash::FxHashMap;

/// Evaluates expressions in [`FIELD`] at one point, remembering what it has seen.
///
/// Symbols without a value of their own get a random one, and so does every
/// sub-expression that no rational operation makes, as if it were a symbol.
#[derive(Debug, Clone)]
pub struct Residues {
    seed: u64,
    given: FxHashMap<Symbol, u64>,
    /// Whether what no rational operation makes has a value.
    kernels: bool,
    values: FxHashMap<Expr, Option<u64>>,
}

impl Residues {
    /// Starts at the random point of a seed.
    pub fn new(seed: u64) -> Residues {
        Residues { seed, given: FxHashMap::default(), kernels: true, values: FxHashMap::default() }
    }

    /// Starts at the random point of a seed, at which only rational expressions have values.
    pub(super) fn of_rational(seed: u64) -> Residues {
        Residues { kernels: false, ..Residues::new(seed) }
    }

    /// Gives a symbol the value of a number, where the field has one; to be done before anything is evaluated.
    pub fn set_rational(&mut self, symbol: Symbol, value: &Rational) {
        self.given.extend(FIELD.rational(value).map(|value| (symbol, value)));
    }

    /// The value of an expression; nothing where it has none at the point, as where a divisor vanishes.
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
            Node::Number(r) => FIELD.rational(r),
            Node::Symbol(s) => Some(match self.given.get(&s) {
                Some(value) => *value,
                None => self.random(2 * s.index() as u64),
            }),
            Node::Sum(terms) => {
                terms.iter().try_fold(0, |sum, term| Some(FIELD.add(sum, self.known(*term)?)))
            }
            Node::Product(factors) => factors
                .iter()
                .try_fold(FIELD.one(), |product, factor| Some(FIELD.mul(product, self.known(*factor)?))),
            Node::Power(base, exponent) => match pool.as_int(exponent) {
                Some(exponent) => {
                    let base = self.known(base)?;
                    let power = FIELD.pow(base, exponent.unsigned_abs());
                    (base != 0 || exponent >= 0).then(|| if exponent < 0 { FIELD.inv(power) } else { power })
                }
                None => self.kernel(node),
            },
            _ => self.kernel(node),
        }
    }

    fn kernel(&self, node: Expr) -> Option<u64> {
        self.kernels.then(|| self.random(2 * node.index() as u64 + 1))
    }

    fn random(&self, index: u64) -> u64 {
        FIELD.random(random::bits(0, self.seed), index)
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
        assert_eq!(FIELD.add(half, half), FIELD.one());
    }
}
