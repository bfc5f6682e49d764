//! Values of expressions in a prime field, at a point that may be given or random.

use super::field::inverse_modulo;
use crate::Rational;
use crate::field::FIELD;
use crate::node::{Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use paynter_base::random;
use rustc_hash::FxHashMap;

/// Evaluates expressions in [`FIELD`] at one point, remembering what it has seen.
///
/// Symbols without a value of their own get a random one. Roots are true roots, sines and cosines of one angle lie
/// on the unit circle; every other sub-expression that no rational operation makes gets a random value, as if it
/// were a symbol. A root that the field lacks leaves the expression without a value, unless no other point could be
/// taken: then it counts as a symbol, too.
#[derive(Debug, Clone)]
pub struct Residues {
    seed: u64,
    given: FxHashMap<Symbol, u64>,
    /// Whether what no rational operation makes has a value.
    kernels: bool,
    values: FxHashMap<Expr, Option<u64>>,
}

/// Random symbols are powers with this exponent, so that their square roots, fourth roots and so on exist.
const EVEN_ROOTS: u64 = 64;

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
                None if self.kernels => FIELD.pow(self.random(2 * s.index() as u64), EVEN_ROOTS),
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
                None => match pool.as_rational(exponent) {
                    Some(exponent) => self.root(pool, node, base, exponent),
                    None => self.kernel(node),
                },
            },
            Node::Call(Func::Sqrt, list) => self.root(pool, node, list[0], &number::ratio(1, 2)),
            Node::Call(function @ (Func::Sin | Func::Cos | Func::Tan), list) => {
                self.circular(function, self.known(list[0])?)
            }
            _ => self.kernel(node),
        }
    }

    /// A fractional power. Of two square roots the one that has a square root itself is taken, so that roots of
    /// products are products of roots.
    fn root(&self, pool: &Pool, node: Expr, base: Expr, exponent: &Rational) -> Option<u64> {
        if !self.kernels {
            return None;
        }
        let power = |exponent: &Rational| {
            let degree = u64::try_from(exponent.denominator()).ok()?;
            let odd = degree >> degree.trailing_zeros();
            let mut root = FIELD.pow(self.known(base)?, inverse_modulo(odd, FIELD.prime() - 1)?);
            for _ in 0..degree.trailing_zeros() {
                let next = FIELD.pow(root, FIELD.prime().div_ceil(4));
                if FIELD.mul(next, next) != root {
                    return None;
                }
                root = next;
            }
            let times = i64::try_from(exponent.numerator()).ok()?;
            let power = FIELD.pow(root, times.unsigned_abs());
            (root != 0 || times >= 0).then(|| if times < 0 { FIELD.inv(power) } else { power })
        };
        let is_fixed = || !self.given.is_empty() || pool.symbols(base).is_empty();
        power(exponent).or_else(|| is_fixed().then(|| self.kernel(node)).flatten())
    }

    /// A circular function of an angle, over the tangent of its half.
    fn circular(&self, function: Func, angle: u64) -> Option<u64> {
        if !self.kernels {
            return None;
        }
        let half = FIELD.random(random::bits(self.seed, angle), 0);
        let square = FIELD.mul(half, half);
        let (sine, cosine) = (FIELD.add(half, half), FIELD.sub(FIELD.one(), square));
        let below = match function {
            Func::Tan => cosine,
            _ => FIELD.add(FIELD.one(), square),
        };
        let above = if function == Func::Cos { cosine } else { sine };
        (below != 0).then(|| FIELD.mul(above, FIELD.inv(below)))
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

    /// The first point at which an expression has a value.
    fn somewhere(pool: &Pool, e: Expr) -> u64 {
        (1..100).find_map(|seed| Residues::new(seed).value(pool, e)).unwrap()
    }

    #[test]
    fn roots_and_circular_functions_keep_their_relations_across_expressions() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol("x"), pool.symbol("y"));
        let (x, y) = (pool.var(x), pool.var(y));
        let (sum, product) = (pool.add(x, y), pool.mul(x, y));
        let root = |pool: &mut Pool, e: Expr| pool.call(Func::Sqrt, &[e]);
        for base in [x, product, sum] {
            let root = root(&mut pool, base);
            let both = pool.add(root, base);
            let mut point =
                (1..100).map(Residues::new).find(|point| point.clone().value(&pool, both).is_some());
            let point = point.as_mut().unwrap();
            let (root, base) = (point.value(&pool, root).unwrap(), point.value(&pool, base).unwrap());
            assert_eq!(FIELD.mul(root, root), base);
        }
        let (of_x, of_y, of_both) = (root(&mut pool, x), root(&mut pool, y), root(&mut pool, product));
        let mut point = Residues::new(1);
        let [a, b, both] = [of_x, of_y, of_both].map(|e| point.value(&pool, e).unwrap());
        assert_eq!(FIELD.mul(a, b), both);
        let [sine, cosine, tangent] = [Func::Sin, Func::Cos, Func::Tan]
            .map(|f| pool.call(f, &[sum]))
            .map(|e| point.value(&pool, e).unwrap());
        assert_eq!(FIELD.add(FIELD.mul(sine, sine), FIELD.mul(cosine, cosine)), FIELD.one());
        assert_eq!(FIELD.mul(tangent, cosine), sine);
        // Numbers have no other point.
        let two = pool.int(2);
        let (two, three) = (root(&mut pool, two), pool.int(3));
        let three = root(&mut pool, three);
        assert_ne!(somewhere(&pool, two), somewhere(&pool, three));
    }
}
