//! Products: flattened, with like powers collected and the number first.

use crate::node::{Expr, Func, Node};
use crate::number;
use crate::pool::{Head, Pool, Tag};

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
        }
        let mut coefficient = self.one();
        let mut powers: Vec<(Expr, Expr)> = Vec::with_capacity(factors.len());
        for factor in factors {
            if self.head(*factor).tag == Tag::Product {
                for i in 0..self.children(*factor).len() {
                    let child = self.children(*factor)[i];
                    self.gather_factor(child, &mut coefficient, &mut powers);
                }
            } else {
                self.gather_factor(*factor, &mut coefficient, &mut powers);
            }
        }
        self.collect_powers(coefficient, powers)
    }

    /// Multiplies powers given as base and exponent, and a number.
    pub(crate) fn collect_powers(&mut self, mut coefficient: Expr, mut powers: Vec<(Expr, Expr)>) -> Expr {
        loop {
            let too_large =
                self.as_rational(coefficient).is_none_or(|c| number::bits(c) > 2 * number::MAX_BITS);
            // Zero times an undefined value is undefined; the mark is the power with base zero.
            if too_large || powers.iter().any(|(base, exponent)| self.is_pole(*base, *exponent)) {
                return self.undefined();
            }
            if coefficient == self.zero() {
                return coefficient;
            }
            powers.sort_by_key(|(base, _)| *base);
            let mut out: Vec<Expr> = Vec::with_capacity(powers.len() + 1);
            let mut again = false;
            let mut i = 0;
            while i < powers.len() {
                let (base, first) = powers[i];
                let mut j = i + 1;
                while j < powers.len() && powers[j].0 == base {
                    j += 1;
                }
                let factor = if j == i + 1 {
                    self.pow(base, first)
                } else {
                    let exponents: Vec<Expr> = powers[i..j].iter().map(|(_, e)| *e).collect();
                    let exponent = self.sum(&exponents);
                    self.pow(base, exponent)
                };
                i = j;
                match self.node(factor) {
                    Node::Number(_) => coefficient = self.multiply_numbers(coefficient, factor),
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
                powers.clear();
                for factor in out {
                    if self.head(factor).tag == Tag::Product {
                        for i in 0..self.children(factor).len() {
                            let child = self.children(factor)[i];
                            self.gather_factor(child, &mut coefficient, &mut powers);
                        }
                    } else {
                        self.gather_factor(factor, &mut coefficient, &mut powers);
                    }
                }
                continue;
            }
            if coefficient == self.zero() || out.contains(&self.undefined()) {
                return if out.contains(&self.undefined()) { self.undefined() } else { coefficient };
            }
            return match out.as_slice() {
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

    /// Writes u*sign(u) as abs(u) and abs(u)*sign(u) as u.
    fn fold_signs(&mut self, factors: &mut [Expr]) -> bool {
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
        }
        false
    }

    fn gather_factor(&mut self, factor: Expr, coefficient: &mut Expr, powers: &mut Vec<(Expr, Expr)>) {
        if self.is_number(factor) {
            *coefficient = self.multiply_numbers(*coefficient, factor);
        } else {
            powers.push(self.as_base_exponent(factor));
        }
    }

    /// Splits any expression into base and exponent; exponentials are powers of the number e.
    pub(crate) fn as_base_exponent(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Power(base, exponent) => (base, exponent),
            Node::Call(Func::Exp, args) => (self.euler(), args[0]),
            _ => (e, self.one()),
        }
    }

    fn is_pole(&self, base: Expr, exponent: Expr) -> bool {
        base == self.zero()
            && self.as_rational(exponent).is_some_and(|e| number::is_negative(e) || e.is_zero())
    }
}
