//! Antiderivatives of sums of elementary terms.

use crate::node::{Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;

impl Pool {
    /// An antiderivative by a symbol, where each term is a constant times a power or an elementary function of
    /// something linear in it.
    pub fn antiderivative(&mut self, e: Expr, x: Symbol) -> Option<Expr> {
        let terms = match self.node(e) {
            Node::Sum(terms) => terms.to_vec(),
            _ => vec![e],
        };
        let mut sum = Vec::with_capacity(terms.len());
        for term in terms {
            sum.push(self.antiderivative_of_term(term, x)?);
        }
        Some(self.sum(&sum))
    }

    fn antiderivative_of_term(&mut self, term: Expr, x: Symbol) -> Option<Expr> {
        let factors = match self.node(term) {
            Node::Product(factors) => factors.to_vec(),
            _ => vec![term],
        };
        let (moving, fixed): (Vec<Expr>, Vec<Expr>) =
            factors.into_iter().partition(|factor| self.depends_on(*factor, x));
        let variable = self.var(x);
        let integral = match moving.as_slice() {
            [] => variable,
            [factor] => self.antiderivative_of_factor(*factor, x)?,
            [a, b] => self.antiderivative_of_signed(*a, *b, x)?,
            _ => return None,
        };
        let fixed = self.product(&fixed);
        Some(self.mul(fixed, integral))
    }

    /// The derivative of something linear in a symbol.
    fn linear_coefficient(&mut self, e: Expr, x: Symbol) -> Option<Expr> {
        let derivative = self.diff(e, x);
        (!self.depends_on(derivative, x) && !self.is_zero(derivative)).then_some(derivative)
    }

    fn antiderivative_of_factor(&mut self, factor: Expr, x: Symbol) -> Option<Expr> {
        let (base, exponent) = self.as_base_exponent(factor);
        if !self.depends_on(exponent, x)
            && let Some(derivative) = self.linear_coefficient(base, x)
        {
            let r = self.as_rational(exponent)?.clone();
            let one = self.one();
            if r == number::ratio(-1, 1) {
                let size = self.call(Func::Abs, &[base]);
                let log = self.call(Func::Ln, &[size]);
                return Some(self.div(log, derivative));
            }
            let more = self.add(exponent, one);
            let power = self.pow(base, more);
            let divisor = self.mul(more, derivative);
            return Some(self.div(power, divisor));
        }
        let Node::Call(f, args) = self.node(factor) else { return None };
        let argument = args[0];
        let derivative = self.linear_coefficient(argument, x)?;
        let value = match f {
            Func::Exp => factor,
            Func::Sin => {
                let cos = self.call(Func::Cos, &[argument]);
                self.neg(cos)
            }
            Func::Cos => self.call(Func::Sin, &[argument]),
            Func::Sinh => self.call(Func::Cosh, &[argument]),
            Func::Cosh => self.call(Func::Sinh, &[argument]),
            Func::Tanh => {
                let cosh = self.call(Func::Cosh, &[argument]);
                self.call(Func::Ln, &[cosh])
            }
            Func::Ln => {
                let product = self.mul(argument, factor);
                self.sub(product, argument)
            }
            Func::Abs => {
                let product = self.mul(argument, factor);
                let two = self.int(2);
                self.div(product, two)
            }
            _ => return None,
        };
        Some(self.div(value, derivative))
    }

    /// Of a power times the size or the sign of its base: x·|x|, sign(x)·|x|^r.
    fn antiderivative_of_signed(&mut self, a: Expr, b: Expr, x: Symbol) -> Option<Expr> {
        let one = self.one();
        let [(base, k), (other, r)] = [a, b].map(|e| self.as_base_exponent(e));
        // x times |x|^r, or sign(x) times it.
        let pair = |pool: &Pool, u: Expr, v: Expr| match (pool.node(u), pool.node(v)) {
            (Node::Symbol(s), Node::Call(Func::Abs, args)) if s == x && args[0] == u => Some((u, false)),
            (Node::Call(Func::Sign, signed), Node::Call(Func::Abs, args)) if signed[0] == args[0] => {
                Some((args[0], true))
            }
            _ => None,
        };
        let (inner, signed, exponent, own) = match (pair(self, base, other), pair(self, other, base)) {
            (Some((inner, signed)), _) => (inner, signed, r, k),
            (_, Some((inner, signed))) => (inner, signed, k, r),
            _ => return None,
        };
        if own != one {
            return None;
        }
        let derivative = self.linear_coefficient(inner, x)?;
        let size = self.call(Func::Abs, &[inner]);
        let more = self.int(if signed { 1 } else { 2 });
        let power = self.add(exponent, more);
        let raised = self.pow(size, power);
        let divisor = self.mul(power, derivative);
        Some(self.div(raised, divisor))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Differences of the antiderivative are those that quadrature gives.
    #[test]
    fn antiderivatives_differentiate_to_what_they_are_of() {
        let mut pool = Pool::new();
        let symbol = pool.symbol("x");
        let k = pool.symbol("k");
        let (x, k) = (pool.var(symbol), pool.var(k));
        let kx = pool.mul(k, x);
        let shifted = pool.add(kx, k);
        let mut laws = vec![kx, k, shifted];
        for f in [Func::Exp, Func::Sin, Func::Cos, Func::Sinh, Func::Cosh, Func::Tanh, Func::Ln, Func::Abs] {
            laws.push(pool.call(f, &[shifted]));
        }
        for n in [-2, -1, 2, 3] {
            let n = pool.int(n);
            laws.push(pool.pow(shifted, n));
        }
        let size = pool.call(Func::Abs, &[x]);
        let sign = pool.call(Func::Sign, &[x]);
        let root = pool.call(Func::Sqrt, &[size]);
        laws.push(pool.mul(x, size));
        laws.push(pool.mul(sign, root));
        laws.push(pool.sum(&laws.clone()));
        for law in laws {
            let whole = pool.antiderivative(law, symbol).unwrap();
            let value =
                |e: Expr, at: f64| pool.eval(e, &|s| Some(if s == symbol { at } else { 1.7 })).unwrap();
            for at in [0.3, 1.9] {
                let h = 1e-5;
                let derivative = (value(whole, at + h) - value(whole, at - h)) / (2.0 * h);
                let right = value(law, at);
                assert!(
                    (derivative - right).abs() < 1e-7 * (1.0 + right.abs()),
                    "{}: {derivative} {right}",
                    pool.display(law)
                );
            }
        }
    }
}
