//! Evaluation in floating point.

use crate::node::{Cmp, Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use crate::traverse::Memo;

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// A symbol has no value.
    Unbound(Symbol),
    /// This part is infinite or undefined although all its parts are finite.
    NotFinite(Expr),
    /// This table is known to the model only.
    Table(u32),
}

impl Pool {
    /// Evaluates an expression; a condition gives 1 or 0.
    ///
    /// An infinite or undefined part is an error even where a later operation would hide it, but not in the
    /// branch of a choice that is not taken.
    pub fn eval(&self, e: Expr, value: &dyn Fn(Symbol) -> Option<f64>) -> Result<f64, EvalError> {
        let order = self.reachable(&[e]);
        let mut values = Memo::for_nodes(&order);
        for node in order {
            let of = |child: Expr| values.get(child).unwrap_or(f64::NAN);
            let result = match self.node(node) {
                Node::Symbol(s) => value(s).ok_or(EvalError::Unbound(s))?,
                Node::Call(Func::Table(table), _) => return Err(EvalError::Table(table)),
                _ => self.apply(node, &of),
            };
            values.insert(node, if result.is_finite() { result } else { f64::NAN });
        }
        let of = |child: Expr| values.get(child).unwrap_or(f64::NAN);
        let result = of(e);
        if result.is_finite() { Ok(result) } else { Err(EvalError::NotFinite(self.first_not_finite(e, &of))) }
    }

    /// Applies a node's operation to the values of its children.
    pub(crate) fn apply(&self, node: Expr, of: &dyn Fn(Expr) -> f64) -> f64 {
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        match self.node(node) {
            Node::Number(r) => number::to_f64(r),
            Node::Pi => std::f64::consts::PI,
            Node::Symbol(_) => f64::NAN,
            Node::Sum(terms) => terms.iter().map(|t| of(*t)).sum(),
            Node::Product(factors) => factors.iter().map(|f| of(*f)).product(),
            Node::Power(base, exponent) => self.power_value(of(base), exponent, of(exponent)),
            Node::Call(f, args) => {
                function_value(f, of(args[0]), args.get(1).map_or(f64::NAN, |second| of(*second)))
            }
            Node::Truth(value) => truth(value),
            Node::Compare(op, a, b) => compare_values(op, of(a), of(b)),
            Node::And(a, b) => of(a) * of(b),
            Node::Or(a, b) => 1.0 - (1.0 - of(a)) * (1.0 - of(b)),
            Node::Not(a) => 1.0 - of(a),
            Node::Select(c, a, b) => {
                let condition = of(c);
                if condition.is_nan() { condition } else { of(if condition != 0.0 { a } else { b }) }
            }
        }
    }

    fn power_value(&self, base: f64, exponent: Expr, value: f64) -> f64 {
        if base.is_nan() || value.is_nan() || (base == 0.0 && value <= 0.0) {
            return f64::NAN;
        }
        match self.as_rational(exponent).and_then(number::as_i64).map(i32::try_from) {
            Some(Ok(n)) => base.powi(n),
            _ if value == 0.5 => base.sqrt(),
            _ => base.powf(value),
        }
    }

    /// Follows undefined values down to the first operation that made one.
    fn first_not_finite(&self, root: Expr, of: &dyn Fn(Expr) -> f64) -> Expr {
        let mut at = root;
        loop {
            let next = match self.node(at) {
                Node::Select(c, a, b) => {
                    let condition = of(c);
                    Some(if condition.is_nan() {
                        c
                    } else if condition != 0.0 {
                        a
                    } else {
                        b
                    })
                }
                _ => self.children(at).iter().copied().find(|child| of(*child).is_nan()),
            };
            match next {
                Some(child) => at = child,
                None => return at,
            }
        }
    }
}

fn compare_values(op: Cmp, a: f64, b: f64) -> f64 {
    match a.partial_cmp(&b) {
        Some(ordering) if op.holds(ordering) => 1.0,
        Some(_) => 0.0,
        None => f64::NAN,
    }
}

/// Evaluates a function; undefined for an argument outside its domain.
pub(crate) fn function_value(f: Func, x: f64, y: f64) -> f64 {
    match f {
        Func::Sin => x.sin(),
        Func::Cos => x.cos(),
        Func::Tan => x.tan(),
        Func::Asin => x.asin(),
        Func::Acos => x.acos(),
        Func::Atan => x.atan(),
        Func::Atan2 => {
            if x == 0.0 && y == 0.0 {
                f64::NAN
            } else {
                x.atan2(y)
            }
        }
        Func::Sinh => x.sinh(),
        Func::Cosh => x.cosh(),
        Func::Tanh => x.tanh(),
        Func::Asinh => x.asinh(),
        Func::Acosh => x.acosh(),
        Func::Atanh => x.atanh(),
        Func::Exp => x.exp(),
        Func::Ln => x.ln(),
        Func::Log10 => x.log10(),
        Func::Sqrt => x.sqrt(),
        Func::Abs => x.abs(),
        Func::Sign => {
            if x == 0.0 {
                0.0
            } else {
                x.signum()
            }
        }
        // A missing operand must not vanish, as it would in f64::min.
        Func::Min => {
            if x.is_nan() || y.is_nan() {
                f64::NAN
            } else {
                x.min(y)
            }
        }
        Func::Max => {
            if x.is_nan() || y.is_nan() {
                f64::NAN
            } else {
                x.max(y)
            }
        }
        Func::Table(_) => f64::NAN,
    }
}
