//! The unknown in several places: collected, reduced to a half-line, or split into pieces.

use super::parity::Parity;
use super::{Assume, Condition, Reason, Solver, split};
use crate::interval::Interval;
use crate::limits::TRIED_KERNELS;
use crate::node::{Expr, Func, Node, Symbol};
use crate::number;

impl Solver<'_> {
    /// Solves `f = y` where f is a sum or product with the unknown in more than one part.
    pub(super) fn several_places(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Expr, Reason> {
        let unknown = self.unknown;
        if let Some((coefficients, rest)) = self.pool.linear_parts(f, &[unknown]) {
            let derivative = coefficients[0];
            if self.pool.is_zero(derivative) {
                return Err(format!("{} cancels from the law", self.name()));
            }
            self.require_nonzero(derivative, assume)?;
            let above = self.pool.sub(y, rest);
            return Ok(self.pool.div(above, derivative));
        }
        if let Some((common, factor)) = self.common_part(f) {
            self.require_nonzero(factor, assume)?;
            let value = self.pool.div(y, factor);
            return self.invert(common, value, assume);
        }
        if let Some((kernel, local, rewritten)) = self.single_kernel(f) {
            return self.through_kernel(kernel, local, rewritten, y, assume);
        }
        match self.parity(f) {
            Parity::Odd => match self.odd_law(f, y, assume) {
                Ok(Some(x)) => return Ok(x),
                Ok(None) => {}
                Err(reason) => return Err(reason),
            },
            Parity::Even if !self.keeps_sign(assume) => {
                return Err(format!("the law is the same for both signs of {}", self.name()));
            }
            _ => {}
        }
        if self.keeps_sign(assume) {
            let half = self.decided(f, assume);
            if half != f {
                return self.invert(half, y, assume);
            }
        }
        if let Some(choice) = self.pulled_choice(f) {
            return self.choice(choice, y, assume);
        }
        if let Some(x) = self.rational(f, y, assume)? {
            return Ok(x);
        }
        Err(format!("{} stands in several places that cannot be collected", self.name()))
    }

    /// Tells whether the unknown is known to keep its sign.
    fn keeps_sign(&self, assume: Assume) -> bool {
        let range = assume(self.unknown);
        range.is_non_negative() || range.is_non_positive()
    }

    /// Finds the part with the unknown that all terms share, and the sum of its multipliers.
    fn common_part(&mut self, f: Expr) -> Option<(Expr, Expr)> {
        let Node::Sum(terms) = self.pool.node(f) else {
            return None;
        };
        let terms = terms.to_vec();
        let unknown = self.unknown;
        let dependent = self.pool.dependents(f, &|s| s == unknown);
        let mut common = None;
        let mut multipliers = Vec::new();
        for term in terms {
            let factors = match self.pool.node(term) {
                Node::Product(factors) => factors.to_vec(),
                _ => vec![term],
            };
            let (inside, outside) = split(&factors, &dependent);
            let part = self.pool.product(&inside);
            if *common.get_or_insert(part) != part {
                return None;
            }
            multipliers.push(self.pool.product(&outside));
        }
        Some((common?, self.pool.sum(&multipliers)))
    }

    /// Finds an inner expression through which alone the unknown enters, and the law written in it.
    ///
    /// The argument of an abs, sign or comparison that is linear in the unknown is one: it is solved for the
    /// unknown and put in everywhere. Any other must stand in the law as it is.
    fn single_kernel(&mut self, f: Expr) -> Option<(Expr, Symbol, Expr)> {
        let unknown = self.unknown;
        let candidates: Vec<Expr> =
            self.pool.reachable(&[f]).into_iter().filter(|e| self.depends(*e)).collect();
        let local = self.pool.local(self.nesting);
        let u = self.pool.var(local);
        for node in &candidates {
            let argument = match self.pool.node(*node) {
                Node::Call(Func::Abs | Func::Sign, args) => args[0],
                Node::Compare(_, a, b) => self.pool.sub(a, b),
                _ => continue,
            };
            if self.pool.as_symbol(argument) == Some(unknown) {
                continue;
            }
            if let Some((coefficients, rest)) = self.pool.linear_parts(argument, &[unknown]) {
                let above = self.pool.sub(u, rest);
                let x = self.pool.div(above, coefficients[0]);
                let inside = self.pool.replace(f, argument, u);
                let rewritten = self.pool.substitute(inside, &[(unknown, x)].into_iter().collect());
                let rewritten = self.pool.with_linear_sums_collected(rewritten, local);
                return Some((argument, local, rewritten));
            }
        }
        let inner: Vec<Expr> = candidates
            .into_iter()
            .rev()
            .filter(|e| *e != f && self.pool.as_symbol(*e).is_none())
            .take(TRIED_KERNELS)
            .collect();
        for kernel in inner {
            let rewritten = self.pool.replace(f, kernel, u);
            if !self.depends(rewritten) {
                return Some((kernel, local, rewritten));
            }
        }
        None
    }

    /// Solves a law written in an inner expression for that, and then that for the unknown.
    fn through_kernel(
        &mut self,
        kernel: Expr,
        local: Symbol,
        rewritten: Expr,
        y: Expr,
        assume: Assume,
    ) -> Result<Expr, Reason> {
        let unknown = self.unknown;
        let range = self.pool.range(kernel, assume);
        let assume_inner = |s: Symbol| if s == local { range } else { assume(s) };
        // Messages name the inner expression while it is the unknown.
        let inner_label = self.shown(kernel);
        let label = std::mem::replace(&mut self.label, inner_label);
        self.unknown = local;
        let from = self.conditions.len();
        let value = self.invert(rewritten, y, &assume_inner);
        self.unknown = unknown;
        self.label = label;
        // Conditions speak of the user's variable.
        let map = [(local, kernel)].into_iter().collect();
        for i in from..self.conditions.len() {
            if let Condition::Branch { expr, interval } = self.conditions[i] {
                let expr = self.pool.substitute(expr, &map);
                self.conditions[i] = Condition::Branch { expr, interval };
            }
        }
        self.invert(kernel, value?, assume)
    }

    /// Solves an odd law on the half-line: F(x) = y has x = sign(y)*G(|y|) if G inverts F for x > 0.
    fn odd_law(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Option<Expr>, Reason> {
        let unknown = self.unknown;
        let positive = |s: Symbol| {
            if s == unknown { assume(s).intersection(&Interval::POSITIVE) } else { assume(s) }
        };
        let half = self.decided(f, &positive);
        if half == f || self.keeps_sign(assume) {
            return Ok(None);
        }
        // A law that jumps at zero has no solution inside the jump.
        let zero = self.pool.zero();
        let origin = self.pool.substitute(half, &[(unknown, zero)].into_iter().collect());
        let at_zero = self.pool.range(origin, assume);
        if origin != self.pool.undefined() && !at_zero.is_empty() && at_zero != Interval::point(0.0) {
            return Err(format!("the law jumps at {} = 0", self.name()));
        }
        let range = self.pool.range(half, &positive);
        let rising = range.is_non_negative();
        if !rising && !range.is_non_positive() {
            return Err(format!("the sign of the law for positive {} is not known", self.name()));
        }
        let y = if rising { y } else { self.pool.neg(y) };
        let (sign, magnitude) = self.sign_and_magnitude(y, assume);
        let value = if rising { magnitude } else { self.pool.neg(magnitude) };
        let size = self.invert(half, value, &positive)?;
        self.require_range(size, Interval::NON_NEGATIVE, assume)?;
        Ok(Some(self.pool.mul(sign, size)))
    }

    /// Solves a quotient of polynomials of first or second degree.
    fn rational(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Option<Expr>, Reason> {
        let unknown = self.unknown;
        let Some((above, below)) = self.pool.quotient_in(f, unknown) else {
            return Ok(None);
        };
        // With y = n/d the law N/D = y is d*N - n*D = 0.
        let (n, d) = self.numerator_and_denominator(y);
        let degree = above.len().max(below.len());
        let mut equation = Vec::with_capacity(degree);
        for i in 0..degree {
            let zero = self.pool.zero();
            let (a, b) = (above.get(i).copied().unwrap_or(zero), below.get(i).copied().unwrap_or(zero));
            let (a, b) = (self.pool.mul(d, a), self.pool.mul(n, b));
            equation.push(self.pool.sub(a, b));
        }
        while equation.last().is_some_and(|c| *c == self.pool.zero()) {
            equation.pop();
        }
        let value = match equation.as_slice() {
            [c, b] => {
                let (c, b) = (*c, *b);
                self.require_nonzero(b, assume)?;
                let quotient = self.pool.div(c, b);
                self.pool.neg(quotient)
            }
            [c, b, a] => {
                let (c, b, a) = (*c, *b, *a);
                self.quadratic(a, b, c, assume)?
            }
            _ => return Ok(None),
        };
        match below.as_slice() {
            [_] => {}
            [c, b] => {
                // The divisor vanishes at a solution only where the dividend does so too.
                let quotient = self.pool.div(*c, *b);
                let pole = self.pool.neg(quotient);
                let dividend = self.horner(&above, pole);
                self.require_nonzero(dividend, assume)?;
            }
            _ => {
                let divisor = self.horner(&below, value);
                self.require_nonzero(divisor, assume)?;
            }
        }
        Ok(Some(value))
    }

    /// Splits a product into the factors above and below the fraction bar.
    fn numerator_and_denominator(&mut self, y: Expr) -> (Expr, Expr) {
        let factors = match self.pool.node(y) {
            Node::Product(factors) => factors.to_vec(),
            _ => vec![y],
        };
        let below: Vec<Expr> = factors
            .into_iter()
            .filter(|f| {
                let (_, exponent) = self.pool.as_base_exponent(*f);
                self.pool.as_rational(exponent).is_some_and(number::is_negative)
            })
            .collect();
        let inverse = self.pool.product(&below);
        let one = self.pool.one();
        let denominator = self.pool.div(one, inverse);
        (self.pool.mul(y, denominator), denominator)
    }

    fn horner(&mut self, coefficients: &[Expr], x: Expr) -> Expr {
        let mut value = self.pool.zero();
        for coefficient in coefficients.iter().rev() {
            let product = self.pool.mul(value, x);
            value = self.pool.add(product, *coefficient);
        }
        value
    }

    /// Solves a*x^2 + b*x + c = 0 where the derivative 2*a*x + b is known to keep its sign, which tells the branch.
    fn quadratic(&mut self, a: Expr, b: Expr, c: Expr, assume: Assume) -> Result<Expr, Reason> {
        let x = self.pool.var(self.unknown);
        let two = self.pool.int(2);
        let double = self.pool.product(&[two, a, x]);
        let derivative = self.pool.add(double, b);
        let range = self.pool.range(derivative, assume);
        let sign = if range.is_non_negative() {
            1
        } else if range.is_non_positive() {
            -1
        } else {
            return Err(format!(
                "the law is quadratic in {}, and which root holds is not known",
                self.name()
            ));
        };
        let square = self.pool.pow(b, two);
        let minus_four = self.pool.int(-4);
        let product = self.pool.product(&[minus_four, a, c]);
        let discriminant = self.pool.add(square, product);
        self.require_range(discriminant, Interval::NON_NEGATIVE, assume)?;
        let half = self.pool.number(number::ratio(1, 2));
        let root = self.pool.pow(discriminant, half);
        let sign = self.pool.int(sign);
        let root = self.pool.mul(sign, root);
        // The form without division by a is exact for small a too; the other one is for b near zero.
        let divisor = self.pool.add(b, root);
        if !self.pool.range(divisor, assume).contains_zero() {
            let minus_two = self.pool.int(-2);
            let above = self.pool.mul(minus_two, c);
            return Ok(self.pool.div(above, divisor));
        }
        self.require_nonzero(a, assume)?;
        let above = self.pool.sub(root, b);
        let below = self.pool.mul(two, a);
        Ok(self.pool.div(above, below))
    }

    /// Moves a choice that depends on the unknown to the outside of a sum or product.
    fn pulled_choice(&mut self, f: Expr) -> Option<Expr> {
        let parts = match self.pool.node(f) {
            Node::Sum(parts) | Node::Product(parts) => parts.to_vec(),
            _ => return None,
        };
        let at = parts.iter().position(|part| matches!(self.pool.node(*part), Node::Select(..)))?;
        let Node::Select(condition, then, otherwise) = self.pool.node(parts[at]) else {
            return None;
        };
        let mut pieces = parts.clone();
        pieces[at] = then;
        let then = self.pool.rebuild(f, &pieces);
        pieces[at] = otherwise;
        let otherwise = self.pool.rebuild(f, &pieces);
        Some(self.pool.select(condition, then, otherwise))
    }

    /// Solves a choice between two laws.
    ///
    /// Where the condition is free of the unknown each law is solved for itself. Otherwise the condition must
    /// compare the unknown with one threshold, at which the pieces meet, and both must rise or both fall.
    pub(super) fn choice(&mut self, f: Expr, y: Expr, assume: Assume) -> Result<Expr, Reason> {
        let Node::Select(condition, then, otherwise) = self.pool.node(f) else {
            return self.invert(f, y, assume);
        };
        if !self.depends(condition) {
            let a = self.invert(then, y, assume)?;
            let b = self.invert(otherwise, y, assume)?;
            return Ok(self.pool.select(condition, a, b));
        }
        let unclear = format!("the choice between laws does not depend on {} in a simple way", self.name());
        let Node::Compare(op, left, right) = self.pool.node(condition) else {
            return Err(unclear);
        };
        let unknown = self.unknown;
        let difference = self.pool.sub(left, right);
        let Some((coefficients, rest)) = self.pool.linear_parts(difference, &[unknown]) else {
            return match self.single_kernel(f) {
                Some((kernel, local, rewritten)) => self.through_kernel(kernel, local, rewritten, y, assume),
                None => Err(unclear),
            };
        };
        let direction = self.pool.range(coefficients[0], assume);
        if direction.contains_zero() || direction.is_empty() {
            return Err(unclear);
        }
        let quotient = self.pool.div(rest, coefficients[0]);
        let threshold = self.pool.neg(quotient);
        // The condition as a comparison of x with the threshold.
        let op = if direction.is_positive() { op } else { op.mirrored() };
        let Some(first_is_above) = op.is_above() else {
            return Err(unclear);
        };
        if !self.depends(then) || !self.depends(otherwise) {
            return Err(format!("one of the two laws is the same for every {}", self.name()));
        }
        let at_threshold = [(unknown, threshold)].into_iter().collect();
        let [meeting, other] = [then, otherwise].map(|piece| {
            let value = self.pool.substitute(piece, &at_threshold);
            self.decided(value, assume)
        });
        if !self.pool.equal(meeting, other) {
            return Err(format!("the two laws do not meet at {} = {}", self.name(), self.shown(threshold)));
        }
        let limit = self.pool.range(threshold, assume);
        let above = Interval::between(limit.lo(), true, f64::INFINITY, true);
        let below = Interval::between(f64::NEG_INFINITY, true, limit.hi(), true);
        let sides = if first_is_above {
            [(then, above), (otherwise, below)]
        } else {
            [(then, below), (otherwise, above)]
        };
        let mut derivatives = Vec::new();
        let mut solutions = Vec::new();
        for (piece, side) in sides {
            let assume_side =
                |s: Symbol| if s == unknown { assume(s).intersection(&side) } else { assume(s) };
            let piece = self.decided(piece, &assume_side);
            let derivative = self.pool.diff(piece, unknown);
            derivatives.push(self.pool.range(derivative, &assume_side));
            let from = self.conditions.len();
            solutions.push(self.invert(piece, y, &assume_side)?);
            // What a piece demands of y is fulfilled by the side that y is on.
            let branches: Vec<Condition> = self.conditions.split_off(from);
            let kept = branches.into_iter().filter(|c| !matches!(c, Condition::Range { .. }));
            self.conditions.extend(kept);
        }
        let rising = derivatives.iter().all(|s| s.is_non_negative());
        let falling = derivatives.iter().all(|s| s.is_non_positive());
        if !rising && !falling {
            return Err(format!("the two laws do not both rise or both fall with {}", self.name()));
        }
        let op = if rising { op } else { op.mirrored() };
        let side = self.pool.compare(op, y, meeting);
        Ok(self.pool.select(side, solutions[0], solutions[1]))
    }
}
