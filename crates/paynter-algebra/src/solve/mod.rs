//! The inverter of laws: isolates an unknown through a stack of inverse operations.
//!
//! The law F(x) = y is peeled from the outside: each step applies an inverse operation to y and remembers
//! where that inverse is valid. What stands in several places is collected, reduced to one half-line where
//! the law is odd, or split into the pieces of a choice.

mod isolate;
mod parity;
mod several;

use crate::interval::Interval;
use crate::limits::{LAW_NESTING, PEELED_OPERATIONS, SHOWN_NODES};
use crate::node::{Expr, Func, Node, Symbol};
use crate::pool::Pool;
use crate::traverse::Memo;

/// What must hold for a solution to be the solution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// A divisor must not vanish.
    NonZero(Expr),
    /// The law has a solution only where this expression lies in this interval.
    Range {
        /// The expression, free of the unknown.
        expr: Expr,
        /// Where it must lie.
        interval: Interval,
    },
    /// The law has several solutions; the one taken is that where this expression lies in this interval.
    Branch {
        /// The expression, which contains the unknown.
        expr: Expr,
        /// Where the solution taken has it.
        interval: Interval,
    },
}

/// The solution of a law for one of its variables.
#[derive(Clone, PartialEq, Debug)]
pub struct Solution {
    /// The value of the unknown.
    pub value: Expr,
    /// What could not be proved about it; conditions that always hold are left out.
    pub conditions: Vec<Condition>,
}

impl Solution {
    /// Tells whether the law has exactly one solution wherever it has any, and never divides by zero.
    ///
    /// Only then may causality turn the law round.
    pub fn is_global(&self) -> bool {
        self.conditions.iter().all(|c| matches!(c, Condition::Range { .. }))
    }
}

/// Why a law was not solved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolveError {
    /// What stands in the way, in words for the user.
    pub reason: String,
    /// Whether the law is nevertheless strictly monotone in the unknown, so that a numeric solution is unique.
    pub monotone: bool,
}

/// What is known about symbols.
pub(crate) type Assume<'a> = &'a dyn Fn(Symbol) -> Interval;

/// A reason for giving up.
pub(crate) type Reason = String;

pub(crate) struct Solver<'a> {
    pub pool: &'a mut Pool,
    pub unknown: Symbol,
    /// The name of the unknown in messages, also while an inner expression takes its place.
    pub label: String,
    pub conditions: Vec<Condition>,
    pub nesting: usize,
}

impl Pool {
    /// Solves `residual = 0` for a symbol, given where each symbol lies.
    pub fn solve_for(
        &mut self,
        residual: Expr,
        unknown: Symbol,
        assume: Assume,
    ) -> Result<Solution, SolveError> {
        let zero = self.zero();
        let label = self.name(unknown).to_owned();
        let mut solver = Solver { pool: self, unknown, label, conditions: Vec::new(), nesting: 0 };
        match solver.invert(residual, zero, assume) {
            Ok(value) => Ok(Solution { value, conditions: solver.conditions }),
            Err(reason) => {
                let derivative = self.diff(residual, unknown);
                let range = self.range(derivative, assume);
                let nonzero = derivative != self.zero() && !range.is_empty() && !range.contains_zero();
                let monotone = nonzero && !self.may_jump(residual, unknown);
                Err(SolveError { reason, monotone })
            }
        }
    }
}

impl Pool {
    /// Tells whether a sign or a choice may make an expression jump as a symbol moves.
    fn may_jump(&self, e: Expr, s: Symbol) -> bool {
        let dependent = self.dependents(e, &|other| other == s);
        self.reachable(&[e]).into_iter().any(|node| {
            dependent.get(node).is_some()
                && matches!(self.node(node), Node::Call(Func::Sign, _) | Node::Compare(..))
        })
    }
}

impl Solver<'_> {
    /// Solves `f = y` for the unknown, where y is free of it.
    pub fn invert(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Expr, Reason> {
        if self.nesting >= LAW_NESTING {
            return Err(format!("the law is nested too deeply in {}", self.name()));
        }
        self.nesting += 1;
        let result = self.peel(f, y, assume);
        self.nesting -= 1;
        result
    }

    fn peel(&mut self, mut f: Expr, mut y: Expr, assume: Assume) -> Result<Expr, Reason> {
        let unknown = self.unknown;
        let dependent = self.pool.dependents(f, &|s| s == unknown);
        for _ in 0..PEELED_OPERATIONS {
            if self.pool.as_symbol(f) == Some(unknown) {
                return Ok(y);
            }
            if !self.depends(f) {
                return Err(format!("the law does not contain {}", self.name()));
            }
            let step = match self.pool.node(f) {
                Node::Sum(terms) => {
                    let terms = terms.to_vec();
                    let (inside, outside) = split(&terms, &dependent);
                    let rest = self.pool.sum(&outside);
                    y = self.pool.sub(y, rest);
                    match inside.as_slice() {
                        [single] => Some((*single, y)),
                        _ => {
                            f = self.pool.sum(&inside);
                            None
                        }
                    }
                }
                Node::Product(factors) => {
                    let factors = factors.to_vec();
                    let (inside, outside) = split(&factors, &dependent);
                    for factor in &outside {
                        self.require_nonzero(*factor, assume)?;
                    }
                    let divisor = self.pool.product(&outside);
                    y = self.pool.div(y, divisor);
                    match inside.as_slice() {
                        [single] => Some((*single, y)),
                        _ => {
                            f = self.pool.product(&inside);
                            None
                        }
                    }
                }
                _ => self.isolate(f, y, assume)?,
            };
            match step {
                Some((inner, value)) => (f, y) = (inner, value),
                None => return self.several_places(f, y, assume),
            }
        }
        Err(format!("the law has too many operations around {}", self.name()))
    }

    pub fn name(&self) -> &str {
        &self.label
    }

    /// Writes an expression for a message; a long one is only mentioned.
    pub fn shown(&self, e: Expr) -> String {
        if self.pool.written_size(&[e]) > SHOWN_NODES {
            return "a part of the law".to_owned();
        }
        self.pool.display(e).to_string()
    }

    pub fn depends(&self, e: Expr) -> bool {
        self.pool.depends_on(e, self.unknown)
    }

    /// Demands that a divisor does not vanish.
    pub fn require_nonzero(&mut self, e: Expr, assume: Assume) -> Result<(), Reason> {
        if let Node::Power(base, exponent) = self.pool.node(e)
            && self.pool.is_number(exponent)
        {
            // A power vanishes or is infinite where its base vanishes.
            return self.require_nonzero(base, assume);
        }
        if let Node::Product(factors) = self.pool.node(e) {
            let factors = factors.to_vec();
            return factors.into_iter().try_for_each(|factor| self.require_nonzero(factor, assume));
        }
        let range = self.pool.range(e, assume);
        if range.is_empty() || range == Interval::point(0.0) || e == self.pool.zero() {
            return Err(format!("{} is zero, and the law would be divided by it", self.shown(e)));
        }
        if range.contains_zero() {
            self.push(Condition::NonZero(e));
        }
        Ok(())
    }

    /// Demands that the law's other side lies where the law can be.
    pub fn require_range(&mut self, expr: Expr, interval: Interval, assume: Assume) -> Result<(), Reason> {
        let (expr, interval) = self.without_signed_factors(expr, interval, assume);
        let range = self.pool.range(expr, assume);
        if range.is_within(&interval) {
            return Ok(());
        }
        if range.intersection(&interval).is_empty() {
            return Err(format!("{} never lies where the law has a solution", self.shown(expr)));
        }
        self.push(Condition::Range { expr, interval });
        Ok(())
    }

    /// Demands the branch on which an inner expression lies in an interval.
    pub fn require_branch(&mut self, expr: Expr, interval: Interval, assume: Assume) -> Result<(), Reason> {
        let range = self.pool.range(expr, assume);
        if range.is_within(&interval) {
            return Ok(());
        }
        if range.intersection(&interval).is_empty() {
            return Err(format!("{} never lies on the branch that can be inverted", self.name()));
        }
        self.push(Condition::Branch { expr, interval });
        Ok(())
    }

    pub fn push(&mut self, condition: Condition) {
        if !self.conditions.contains(&condition) {
            self.conditions.push(condition);
        }
    }

    /// Drops factors of known sign from a demand about a sign: k*e >= 0 is e >= 0.
    fn without_signed_factors(&mut self, expr: Expr, interval: Interval, assume: Assume) -> (Expr, Interval) {
        let about_sign = interval == Interval::POSITIVE || interval == Interval::NON_NEGATIVE;
        let Node::Product(factors) = self.pool.node(expr) else {
            return (expr, interval);
        };
        if !about_sign {
            return (expr, interval);
        }
        let factors = factors.to_vec();
        let mut kept = Vec::new();
        let mut negative = false;
        for factor in factors {
            let range = self.pool.range(factor, assume);
            if range.is_negative() {
                negative = !negative;
            } else if !range.is_positive() {
                kept.push(factor);
            }
        }
        let expr = self.pool.product(&kept);
        (expr, if negative { interval.neg() } else { interval })
    }
}

/// Splits parts into those that depend on the unknown and those that do not.
fn split(parts: &[Expr], dependent: &Memo<()>) -> (Vec<Expr>, Vec<Expr>) {
    parts.iter().partition(|e| dependent.get(**e).is_some())
}
