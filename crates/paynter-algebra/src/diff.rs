//! Differentiation, once per shared node.

use crate::node::{Cmp, Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use crate::traverse::Memo;

impl Pool {
    /// Differentiates with respect to a symbol.
    ///
    /// The derivative of abs is sign and that of sign is 0; a choice differentiates in its branches. A table
    /// has no derivative with respect to time: the result is undefined there.
    pub fn diff(&mut self, e: Expr, s: Symbol) -> Expr {
        let zero = self.zero();
        let order = self.reachable(&[e]);
        let mut derivatives = Memo::for_nodes(&order);
        for node in order {
            let derivative = if self.as_symbol(node) == Some(s) {
                self.one()
            } else {
                let inner: Vec<Expr> =
                    self.children(node).iter().map(|child| derivatives.get(*child).unwrap_or(zero)).collect();
                if inner.iter().all(|d| *d == zero) { zero } else { self.chain_rule(node, &inner) }
            };
            // Only what depends on the symbol is remembered.
            if derivative != zero {
                derivatives.insert(node, derivative);
            }
        }
        derivatives.get(e).unwrap_or(zero)
    }

    /// The derivative of a node whose children have these derivatives.
    pub(crate) fn chain_rule(&mut self, node: Expr, inner: &[Expr]) -> Expr {
        let zero = self.zero();
        match self.node(node) {
            Node::Sum(_) => self.sum(inner),
            Node::Product(factors) => {
                let factors = factors.to_vec();
                let mut terms = Vec::new();
                for (i, d) in inner.iter().enumerate() {
                    if *d != zero {
                        let mut term = factors.clone();
                        term[i] = *d;
                        terms.push(self.product(&term));
                    }
                }
                self.sum(&terms)
            }
            Node::Power(base, exponent) => self.power_rule(node, base, exponent, inner[0], inner[1]),
            Node::Call(f, args) => {
                let args = args.to_vec();
                self.function_rule(f, node, &args, inner)
            }
            Node::Select(condition, ..) => self.select(condition, inner[1], inner[2]),
            _ => zero,
        }
    }

    fn power_rule(&mut self, node: Expr, base: Expr, exponent: Expr, db: Expr, de: Expr) -> Expr {
        let zero = self.zero();
        let mut terms = Vec::new();
        if db != zero {
            let minus_one = self.int(-1);
            let less = self.add(exponent, minus_one);
            let power = self.pow(base, less);
            terms.push(self.product(&[exponent, power, db]));
        }
        if de != zero {
            let log = self.call(Func::Ln, &[base]);
            terms.push(self.product(&[node, log, de]));
        }
        self.sum(&terms)
    }

    fn function_rule(&mut self, f: Func, node: Expr, args: &[Expr], inner: &[Expr]) -> Expr {
        let x = args[0];
        let (one, two, minus_one) = (self.one(), self.int(2), self.int(-1));
        let outer = match f {
            Func::Sin => self.call(Func::Cos, &[x]),
            Func::Cos => {
                let sine = self.call(Func::Sin, &[x]);
                self.neg(sine)
            }
            Func::Tan => {
                let square = self.pow(node, two);
                self.add(one, square)
            }
            Func::Asin | Func::Acos | Func::Acosh => {
                // 1/sqrt(1 - x^2), its negative, and 1/sqrt(x^2 - 1).
                let square = self.pow(x, two);
                let inside = if f == Func::Acosh { self.sub(square, one) } else { self.sub(one, square) };
                let exponent = self.number(number::ratio(-1, 2));
                let power = self.pow(inside, exponent);
                if f == Func::Acos { self.neg(power) } else { power }
            }
            Func::Atan | Func::Atanh => {
                let square = self.pow(x, two);
                let inside = if f == Func::Atan { self.add(one, square) } else { self.sub(one, square) };
                self.pow(inside, minus_one)
            }
            Func::Asinh => {
                let square = self.pow(x, two);
                let inside = self.add(one, square);
                let exponent = self.number(number::ratio(-1, 2));
                self.pow(inside, exponent)
            }
            Func::Sinh => self.call(Func::Cosh, &[x]),
            Func::Cosh => self.call(Func::Sinh, &[x]),
            Func::Tanh => {
                let square = self.pow(node, two);
                self.sub(one, square)
            }
            Func::Exp => node,
            Func::Ln => self.pow(x, minus_one),
            Func::Log10 => {
                let ten = self.int(10);
                let scale = self.call(Func::Ln, &[ten]);
                let below = self.mul(x, scale);
                self.pow(below, minus_one)
            }
            Func::Sqrt => {
                let below = self.mul(two, node);
                self.pow(below, minus_one)
            }
            Func::Abs => self.call(Func::Sign, &[x]),
            Func::Sign => self.zero(),
            Func::Table(_) => self.undefined(),
            Func::Min | Func::Max => {
                let op = if f == Func::Min { Cmp::Le } else { Cmp::Ge };
                let condition = self.compare(op, x, args[1]);
                return self.select(condition, inner[0], inner[1]);
            }
            Func::Atan2 => {
                let (y, x) = (args[0], args[1]);
                let first = self.mul(x, inner[0]);
                let second = self.mul(y, inner[1]);
                let above = self.sub(first, second);
                let (yy, xx) = (self.pow(y, two), self.pow(x, two));
                let below = self.add(yy, xx);
                return self.div(above, below);
            }
        };
        self.mul(outer, inner[0])
    }
}
