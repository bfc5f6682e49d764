//! Products: flattened, with like powers collected and the number first.

use crate::node::{Expr, Func, Node};
use crate::number;
use crate::pool::{Head, Pool, Tag};

/// A factor with its base and exponent; what is not merged with another stays as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    base: Expr,
    exponent: Expr,
    /// The factor itself, if it is known to be in normal form.
    whole: Option<Expr>,
}

impl Factor {
    pub(crate) fn power(base: Expr, exponent: Expr) -> Factor {
        Factor { base, exponent, whole: None }
    }
}

impl Pool {
    /// Makes the product of many factors at once.
    pub fn product(&mut self, factors: &[Expr]) -> Expr {
        if let [a, b] = factors {
            if *a == self.one() {
                return *b;
            }
            if *b == self.one() {
                return *a;
            }
            if let Some(product) = self.simple_pair(*a, *b) {
                return product;
            }
        }
        let mut coefficient = self.one();
        let mut parts = self.take_factors();
        for factor in factors {
            self.gather_factors(*factor, &mut coefficient, &mut parts);
        }
        self.collect_powers(coefficient, parts)
    }

    /// Multiplies two different symbols or functions, the most frequent case, without collecting.
    fn simple_pair(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let simple = |e: Expr| {
            let head = self.head(e);
            head.tag == Tag::Symbol || (head.tag == Tag::Call && !self.is_sign_or_exp(e))
        };
        if a == b || !simple(a) || !simple(b) {
            return None;
        }
        let pair = if a < b { [a, b] } else { [b, a] };
        Some(self.intern(Head::plain(Tag::Product), &pair))
    }

    fn is_sign_or_exp(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Call(Func::Sign | Func::Exp, _))
    }

    /// Multiplies powers and a number.
    pub(crate) fn collect_powers(&mut self, mut coefficient: Expr, mut parts: Vec<Factor>) -> Expr {
        loop {
            // Zero times an undefined value is undefined; the mark is the power with base zero.
            if self.is_too_large(coefficient) || parts.iter().any(|part| self.is_pole(part)) {
                return self.undefined();
            }
            if coefficient == self.zero() {
                return coefficient;
            }
            parts.sort_by_key(|part| part.base);
            let mut out: Vec<Expr> = Vec::with_capacity(parts.len() + 1);
            let mut again = self.merge_powers(&parts, &mut coefficient, &mut out);
            again |= self.fold_signs(&mut out);
            if out.len() > 1 {
                for factor in &mut out {
                    let (content, primitive) = self.content(*factor);
                    if primitive != *factor {
                        *factor = primitive;
                        coefficient = self.multiply_numbers(coefficient, content);
                        again = true;
                    }
                }
            }
            if again {
                parts.clear();
                for factor in out {
                    self.gather_factors(factor, &mut coefficient, &mut parts);
                }
                continue;
            }
            parts.clear();
            self.give_factors(parts);
            if out.contains(&self.undefined()) {
                return self.undefined();
            }
            return match out.as_slice() {
                _ if coefficient == self.zero() => coefficient,
                [] => coefficient,
                [single] => self.scaled(coefficient, *single),
                _ => {
                    if coefficient != self.one() {
                        out.insert(0, coefficient);
                    }
                    self.intern(Head::plain(Tag::Product), &out)
                }
            };
        }
    }

    /// Adds the exponents of equal bases; tells whether the result must be collected again.
    fn merge_powers(&mut self, parts: &[Factor], coefficient: &mut Expr, out: &mut Vec<Expr>) -> bool {
        let mut again = false;
        let mut i = 0;
        while i < parts.len() {
            let Factor { base, exponent, whole } = parts[i];
            let mut j = i + 1;
            while j < parts.len() && parts[j].base == base {
                j += 1;
            }
            let single = j == i + 1;
            let factor = match whole {
                Some(whole) if single => {
                    out.push(whole);
                    i = j;
                    continue;
                }
                _ if single => self.pow(base, exponent),
                _ => {
                    let exponents: Vec<Expr> = parts[i..j].iter().map(|part| part.exponent).collect();
                    let exponent = self.sum(&exponents);
                    self.pow(base, exponent)
                }
            };
            i = j;
            match self.node(factor) {
                Node::Number(_) => *coefficient = self.multiply_numbers(*coefficient, factor),
                Node::Product(_) => {
                    again = true;
                    out.push(factor);
                }
                _ => {
                    // The power may have another base than the one it was made from.
                    again |= self.as_base_exponent(factor).0 != base;
                    out.push(factor);
                }
            }
        }
        again
    }

    /// Writes u*sign(u) as abs(u) and abs(u)*sign(u) as u, also where u is a product whose factors
    /// stand among the others.
    fn fold_signs(&mut self, factors: &mut Vec<Expr>) -> bool {
        for i in 0..factors.len() {
            let Node::Call(Func::Sign, args) = self.node(factors[i]) else {
                continue;
            };
            let inner = args[0];
            for j in 0..factors.len() {
                let (base, exponent) = self.as_base_exponent(factors[j]);
                let own = base == inner;
                let magnitude = matches!(self.node(base), Node::Call(Func::Abs, args) if args[0] == inner);
                let raised = self.as_rational(exponent).is_some_and(|e| *e >= number::integer(1));
                if (own || magnitude) && raised {
                    let minus_one = self.int(-1);
                    let less = self.add(exponent, minus_one);
                    factors[j] = self.pow(base, less);
                    factors[i] = if own { self.call(Func::Abs, &[inner]) } else { inner };
                    return true;
                }
            }
            if let Some(rest) = self.without_factors_of(inner, factors) {
                *factors = rest;
                factors[i] = self.call(Func::Abs, &[inner]);
                return true;
            }
        }
        false
    }

    /// What is left of factors that are divided by another, or by all factors of a product, if these
    /// stand among them. A sum may stand there with the opposite sign.
    fn without_factors_of(&mut self, divisor: Expr, factors: &[Expr]) -> Option<Vec<Expr>> {
        let parts = match self.node(divisor) {
            Node::Product(parts) => parts.to_vec(),
            _ => vec![divisor],
        };
        let mut rest = factors.to_vec();
        for part in parts {
            let (base, power) = self.as_base_exponent(part);
            let bases: Vec<Expr> = rest.iter().map(|factor| self.as_base_exponent(*factor).0).collect();
            let place = match bases.iter().position(|other| *other == base) {
                Some(place) => place,
                None => {
                    let opposite = self.neg(base);
                    let place = rest.iter().position(|factor| *factor == opposite)?;
                    rest[place] = base;
                    rest.push(self.int(-1));
                    place
                }
            };
            let exponent = self.as_base_exponent(rest[place]).1;
            let (power, own) = (self.as_rational(power)?.clone(), self.as_rational(exponent)?.clone());
            let zero = number::integer(0);
            if (power > zero && own < power) || (power < zero && own > power) {
                return None;
            }
            let less = self.number(own - power);
            rest[place] = self.pow(base, less);
        }
        Some(rest)
    }

    /// Takes a factor, or the factors of a product, apart.
    fn gather_factors(&mut self, factor: Expr, coefficient: &mut Expr, parts: &mut Vec<Factor>) {
        match self.head(factor).tag {
            Tag::Number => *coefficient = self.multiply_numbers(*coefficient, factor),
            Tag::Product => {
                let mut children = self.children(factor);
                let number = children[0];
                let numbered = self.is_number(number);
                if numbered {
                    children = &children[1..];
                }
                parts.extend(children.iter().map(|child| {
                    let (base, exponent) = self.as_base_exponent(*child);
                    Factor { base, exponent, whole: Some(*child) }
                }));
                if numbered {
                    *coefficient = self.multiply_numbers(*coefficient, number);
                }
            }
            _ => {
                let (base, exponent) = self.as_base_exponent(factor);
                parts.push(Factor { base, exponent, whole: Some(factor) });
            }
        }
    }

    /// Splits any expression into base and exponent; exponentials are powers of the number e.
    pub(crate) fn as_base_exponent(&self, e: Expr) -> (Expr, Expr) {
        match self.head(e).tag {
            Tag::Power | Tag::Call => match self.node(e) {
                Node::Power(base, exponent) => (base, exponent),
                Node::Call(Func::Exp, args) => (self.euler(), args[0]),
                _ => (e, self.one()),
            },
            _ => (e, self.one()),
        }
    }

    fn is_pole(&self, part: &Factor) -> bool {
        part.base == self.zero()
            && self.as_rational(part.exponent).is_some_and(|e| number::is_negative(e) || e.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_and_its_sign_become_its_magnitude() {
        // (v − u)/r·√|(u − v)/r| has the derivative 0 where u = v, and nothing divides by zero there.
        let mut pool = Pool::new();
        let [u, v, r] = ["u", "v", "r"].map(|name| pool.symbol(name));
        let (a, b, c) = (pool.var(u), pool.var(v), pool.var(r));
        for (first, second) in [(a, b), (b, a)] {
            let (x, y) = (pool.sub(first, second), pool.sub(a, b));
            let (x, y) = (pool.div(x, c), pool.div(y, c));
            let size = pool.call(Func::Abs, &[y]);
            let root = pool.call(Func::Sqrt, &[size]);
            let law = pool.mul(x, root);
            let derivative = pool.diff(law, u);
            assert_eq!(pool.eval(derivative, &|_| Some(1.0)).ok(), Some(0.0), "{}", pool.display(derivative));
            let sign = if first == a { 1.0 } else { -1.0 };
            let value = |symbol| {
                Some(if symbol == u {
                    3.0
                } else if symbol == v {
                    1.0
                } else {
                    2.0
                })
            };
            assert_eq!(pool.eval(derivative, &value).ok(), Some(0.75 * sign));
        }
    }
}
