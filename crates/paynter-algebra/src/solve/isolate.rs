//! One step inward: the inverse of the outermost operation, whose operand alone holds the unknown.

use super::{Assume, Reason, Solver};
use crate::interval::Interval;
use crate::node::{Cmp, Expr, Func, Node};
use crate::number;
use std::f64::consts::{FRAC_PI_2, PI};

/// The operand that is left and the value it must have; `None` if the unknown stands in several operands.
type Step = Option<(Expr, Expr)>;

impl Solver<'_> {
    pub(super) fn isolate(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Step, Reason> {
        match self.pool.node(f) {
            Node::Power(base, exponent) => match (self.depends(base), self.depends(exponent)) {
                (true, false) => self.undo_power(base, exponent, y, assume).map(Some),
                (false, true) => self.undo_exponent(base, exponent, y, assume).map(Some),
                _ => Ok(None),
            },
            Node::Call(function, args) => {
                let args = args.to_vec();
                match (function, args.as_slice()) {
                    (Func::Min | Func::Max, [a, b]) => {
                        let op = if function == Func::Min { Cmp::Le } else { Cmp::Ge };
                        let condition = self.pool.compare(op, *a, *b);
                        let choice = self.pool.select(condition, *a, *b);
                        self.choice(choice, y, assume).map(|x| Some((self.unknown_itself(), x)))
                    }
                    (_, [argument]) => self.undo_function(function, *argument, y, assume).map(Some),
                    _ => Err(self.no_inverse(function)),
                }
            }
            Node::Select(..) => self.choice(f, y, assume).map(|x| Some((self.unknown_itself(), x))),
            _ => Err(format!("the condition on {} is no equation", self.name())),
        }
    }

    fn unknown_itself(&mut self) -> Expr {
        self.pool.var(self.unknown)
    }

    fn no_inverse(&self, function: Func) -> Reason {
        format!("{} takes the same value for different values of {}", function.name(), self.name())
    }

    /// Gives sign(y)*abs(y)^exponent, the real root of an odd power.
    pub(super) fn signed_power(&mut self, y: Expr, exponent: Expr, assume: Assume) -> Expr {
        let range = self.pool.range(y, assume);
        if range.is_non_negative() {
            return self.pool.pow(y, exponent);
        }
        if range.is_non_positive() {
            let positive = self.pool.neg(y);
            let power = self.pool.pow(positive, exponent);
            return self.pool.neg(power);
        }
        let (sign, magnitude) = self.sign_and_magnitude(y, assume);
        let power = self.pool.pow(magnitude, exponent);
        self.pool.mul(sign, power)
    }

    /// Gives sign(y) and abs(y), with factors of known sign taken out of both.
    pub(super) fn sign_and_magnitude(&mut self, y: Expr, assume: Assume) -> (Expr, Expr) {
        let factors = match self.pool.node(y) {
            Node::Product(factors) => factors.to_vec(),
            _ => vec![y],
        };
        let mut sign = self.pool.one();
        let mut known = Vec::new();
        let mut open = Vec::new();
        for factor in factors {
            let range = self.pool.range(factor, assume);
            if range.is_positive() {
                known.push(factor);
            } else if range.is_negative() {
                known.push(self.pool.neg(factor));
                sign = self.pool.neg(sign);
            } else {
                open.push(factor);
            }
        }
        let rest = self.pool.product(&open);
        let rest_sign = self.pool.call(Func::Sign, &[rest]);
        known.push(self.pool.call(Func::Abs, &[rest]));
        (self.pool.mul(sign, rest_sign), self.pool.product(&known))
    }

    fn undo_power(
        &mut self,
        base: Expr,
        exponent: Expr,
        y: Expr,
        assume: Assume,
    ) -> Result<(Expr, Expr), Reason> {
        let minus_one = self.pool.int(-1);
        let inverse = self.pool.pow(exponent, minus_one);
        // A symbolic exponent may be known to be one whole number.
        let whole = self.pool.range(exponent, assume).as_integer().map(|n| number::integer(n.into()));
        let Some(r) = self.pool.as_rational(exponent).cloned().or(whole) else {
            // A base with a symbolic exponent is not negative, and neither is the power.
            self.require_nonzero(exponent, assume)?;
            let rising = self.pool.range(exponent, assume).is_positive();
            let image = if rising { Interval::NON_NEGATIVE } else { Interval::POSITIVE };
            self.require_range(y, image, assume)?;
            return Ok((base, self.pool.pow(y, inverse)));
        };
        if r == number::integer(-1) {
            self.require_nonzero(y, assume)?;
            return Ok((base, self.pool.pow(y, inverse)));
        }
        if number::is_negative(&r) && r.is_int() {
            self.require_nonzero(y, assume)?;
        }
        if !r.is_int() {
            let image = if number::is_negative(&r) { Interval::POSITIVE } else { Interval::NON_NEGATIVE };
            self.require_range(y, image, assume)?;
            return Ok((base, self.pool.pow(y, inverse)));
        }
        if !number::is_even(&r) {
            return Ok((base, self.signed_power(y, inverse, assume)));
        }
        self.require_range(y, Interval::NON_NEGATIVE, assume)?;
        let root = self.pool.pow(y, inverse);
        if self.pool.range(base, assume).is_non_positive() {
            return Ok((base, self.pool.neg(root)));
        }
        self.require_branch(base, Interval::NON_NEGATIVE, assume)?;
        Ok((base, root))
    }

    /// Undoes a constant to the power of something with the unknown.
    fn undo_exponent(
        &mut self,
        base: Expr,
        exponent: Expr,
        y: Expr,
        assume: Assume,
    ) -> Result<(Expr, Expr), Reason> {
        self.require_range(base, Interval::POSITIVE, assume)?;
        self.require_range(y, Interval::POSITIVE, assume)?;
        let scale = self.pool.call(Func::Ln, &[base]);
        self.require_nonzero(scale, assume)?;
        let log = self.pool.call(Func::Ln, &[y]);
        Ok((exponent, self.pool.div(log, scale)))
    }

    fn undo_function(
        &mut self,
        function: Func,
        argument: Expr,
        y: Expr,
        assume: Assume,
    ) -> Result<(Expr, Expr), Reason> {
        // Bounds with pi are kept a little inside, where the inverse is certain.
        let right_angle = FRAC_PI_2.next_down();
        let (inverse, image) = match function {
            Func::Exp => (Func::Ln, Interval::POSITIVE),
            Func::Ln => (Func::Exp, Interval::ALL),
            Func::Log10 => {
                let ten = self.pool.int(10);
                return Ok((argument, self.pool.pow(ten, y)));
            }
            Func::Sinh => (Func::Asinh, Interval::ALL),
            Func::Asinh => (Func::Sinh, Interval::ALL),
            Func::Tanh => (Func::Atanh, Interval::open(-1.0, 1.0)),
            Func::Atanh => (Func::Tanh, Interval::ALL),
            Func::Atan => (Func::Tan, Interval::open(-right_angle, right_angle)),
            Func::Asin => (Func::Sin, Interval::closed(-right_angle, right_angle)),
            Func::Acos => (Func::Cos, Interval::closed(0.0, PI)),
            Func::Acosh => (Func::Cosh, Interval::NON_NEGATIVE),
            Func::Tan => {
                self.require_branch(argument, Interval::open(-right_angle, right_angle), assume)?;
                (Func::Atan, Interval::ALL)
            }
            Func::Sin => {
                self.require_branch(argument, Interval::closed(-right_angle, right_angle), assume)?;
                (Func::Asin, Interval::closed(-1.0, 1.0))
            }
            Func::Cos => {
                self.require_branch(argument, Interval::closed(0.0, PI), assume)?;
                (Func::Acos, Interval::closed(-1.0, 1.0))
            }
            Func::Cosh | Func::Abs => {
                let image = if function == Func::Abs {
                    Interval::NON_NEGATIVE
                } else {
                    Interval::closed(1.0, f64::INFINITY)
                };
                self.require_range(y, image, assume)?;
                let size = if function == Func::Abs { y } else { self.pool.call(Func::Acosh, &[y]) };
                if self.pool.range(argument, assume).is_non_positive() {
                    return Ok((argument, self.pool.neg(size)));
                }
                self.require_branch(argument, Interval::NON_NEGATIVE, assume)?;
                return Ok((argument, size));
            }
            Func::Table(_) => return Err("a table has no formula to invert".to_owned()),
            Func::Sign | Func::Min | Func::Max | Func::Atan2 | Func::Sqrt => {
                return Err(self.no_inverse(function));
            }
        };
        self.require_range(y, image, assume)?;
        Ok((argument, self.pool.call(inverse, &[y])))
    }
}
