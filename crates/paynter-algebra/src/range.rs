//! Enclosure of the values an expression can take.

use crate::interval::Interval;
use crate::limits::{LARGEST_ANGLE, TURN_MARGIN};
use crate::node::{Cmp, Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use crate::traverse::Memo;
use std::f64::consts::{FRAC_PI_2, PI};

impl Pool {
    /// Encloses the values of an expression from those of its symbols.
    ///
    /// Every value the expression can take is inside; not every number inside need be taken, since the same
    /// symbol in two places counts as two. An expression that is never defined gives the empty interval.
    pub fn range(&self, e: Expr, assume: &dyn Fn(Symbol) -> Interval) -> Interval {
        let order = self.reachable(&[e]);
        let mut ranges = Memo::for_nodes(&order);
        for node in order {
            let of = |child: Expr| ranges.get(child).unwrap_or(Interval::ALL);
            let range = match self.node(node) {
                Node::Number(r) => enclose(number::to_f64(r), number::is_exact(r)),
                Node::Pi => enclose(PI, false),
                Node::Symbol(s) => assume(s),
                Node::Sum(terms) => terms.iter().fold(Interval::point(0.0), |sum, term| sum.add(&of(*term))),
                Node::Product(factors) => {
                    factors.iter().fold(Interval::point(1.0), |product, factor| product.mul(&of(*factor)))
                }
                Node::Power(base, exponent) => self.power_range(of(base), exponent, of(exponent)),
                Node::Call(f, args) => {
                    function_range(f, of(args[0]), args.get(1).map_or(Interval::ALL, |second| of(*second)))
                }
                Node::Truth(value) => Interval::point(if value { 1.0 } else { 0.0 }),
                Node::Compare(op, a, b) => compare_range(op, of(a), of(b)),
                Node::And(a, b) => of(a).mul(&of(b)),
                Node::Or(a, b) => {
                    let either = of(a).hull(&of(b));
                    if of(a) == Interval::point(1.0) || of(b) == Interval::point(1.0) {
                        Interval::point(1.0)
                    } else {
                        either
                    }
                }
                Node::Not(a) => {
                    of(a).neg().add(&Interval::point(1.0)).intersection(&Interval::closed(0.0, 1.0))
                }
                Node::Select(c, a, b) => match of(c) {
                    c if c == Interval::point(1.0) => of(a),
                    c if c == Interval::point(0.0) => of(b),
                    _ => of(a).hull(&of(b)),
                },
            };
            ranges.insert(node, range);
        }
        ranges.get(e).unwrap_or(Interval::ALL)
    }

    fn power_range(&self, base: Interval, exponent: Expr, exponents: Interval) -> Interval {
        if let Some(n) = exponents.as_integer() {
            let power = base.powi(n.unsigned_abs());
            return if n < 0 { power.recip() } else { power };
        }
        match self.as_rational(exponent) {
            Some(r) if r.is_int() => {
                if number::is_even(r) {
                    Interval::NON_NEGATIVE
                } else {
                    Interval::ALL
                }
            }
            Some(r) => {
                let base = base.intersection(&Interval::NON_NEGATIVE);
                let magnitude = number::to_f64(r).abs();
                let power = if magnitude == 0.5 {
                    base.increasing(f64::sqrt)
                } else {
                    base.increasing(|x| x.powf(magnitude))
                };
                let power = power.intersection(&Interval::NON_NEGATIVE);
                if number::is_negative(r) { power.recip() } else { power }
            }
            None => symbolic_power(base, exponents),
        }
    }
}

/// Encloses a power whose exponent is known only by its range.
fn symbolic_power(base: Interval, exponents: Interval) -> Interval {
    let positive = |base: Interval| {
        let log = function_range(Func::Ln, base, Interval::ALL);
        function_range(Func::Exp, log.mul(&exponents), Interval::ALL)
    };
    let mut range = positive(base.intersection(&Interval::POSITIVE));
    // Zero to a positive power is zero.
    if base.contains_zero() {
        range = range.hull(&Interval::point(0.0));
    }
    // A negative base has powers where the exponent happens to be a whole number.
    let negative = base.intersection(&Interval::NEGATIVE).neg();
    let whole = !exponents.is_empty() && exponents.hi().floor() >= exponents.lo();
    if !negative.is_empty() && whole {
        let size = positive(negative);
        range = range.hull(&size).hull(&size.neg());
    }
    range
}

fn enclose(x: f64, exact: bool) -> Interval {
    if exact { Interval::point(x) } else { Interval::open(x.next_down(), x.next_up()) }
}

fn compare_range(op: Cmp, a: Interval, b: Interval) -> Interval {
    let (yes, no, either) = (Interval::point(1.0), Interval::point(0.0), Interval::closed(0.0, 1.0));
    let difference = a.add(&b.neg());
    let decided = |always: bool, never: bool| match (always, never) {
        (true, _) => yes,
        (_, true) => no,
        _ => either,
    };
    match op {
        Cmp::Lt => decided(difference.is_negative(), difference.is_non_negative()),
        Cmp::Le => decided(difference.is_non_positive(), difference.is_positive()),
        Cmp::Gt => decided(difference.is_positive(), difference.is_non_positive()),
        Cmp::Ge => decided(difference.is_non_negative(), difference.is_negative()),
        Cmp::Eq => decided(false, !difference.contains_zero()),
        Cmp::Ne => decided(!difference.contains_zero(), false),
    }
}

/// Encloses a function on an interval; outside its domain it contributes nothing.
fn function_range(f: Func, x: Interval, y: Interval) -> Interval {
    if x.is_empty() || y.is_empty() {
        return Interval::EMPTY;
    }
    let unit = Interval::closed(-1.0, 1.0);
    let half_pi = FRAC_PI_2.next_up();
    match f {
        Func::Sin => circular(x, FRAC_PI_2, f64::sin),
        Func::Cos => circular(x, 0.0, f64::cos),
        Func::Tan => {
            // One branch lies between two odd multiples of pi/2; near them anything is possible.
            let branch = |t: f64| ((t + FRAC_PI_2) / PI).floor();
            let margin = TURN_MARGIN * (1.0 + x.lo().abs().max(x.hi().abs()));
            let inside = x.lo().abs() < LARGEST_ANGLE
                && x.hi().abs() < LARGEST_ANGLE
                && branch(x.lo() - margin) == branch(x.hi() + margin);
            if inside { x.increasing(f64::tan) } else { Interval::ALL }
        }
        Func::Asin => x.intersection(&unit).increasing(f64::asin),
        Func::Acos => {
            let image = Interval::closed(0.0, PI.next_up());
            x.intersection(&unit).decreasing(f64::acos).intersection(&image)
        }
        Func::Atan => x.increasing(f64::atan).intersection(&Interval::open(-half_pi, half_pi)),
        Func::Atan2 => Interval::closed(-PI.next_up(), PI.next_up()),
        Func::Sinh => x.increasing(f64::sinh),
        Func::Cosh => {
            let image = Interval::closed(1.0, f64::INFINITY);
            x.abs().increasing(f64::cosh).intersection(&image)
        }
        Func::Tanh => x.increasing(f64::tanh).intersection(&Interval::open(-1.0, 1.0)),
        Func::Asinh => x.increasing(f64::asinh),
        Func::Acosh => {
            let domain = Interval::closed(1.0, f64::INFINITY);
            x.intersection(&domain).increasing(f64::acosh).intersection(&Interval::NON_NEGATIVE)
        }
        Func::Atanh => x.intersection(&Interval::open(-1.0, 1.0)).increasing(f64::atanh),
        Func::Exp => x.increasing(f64::exp).intersection(&Interval::POSITIVE),
        Func::Ln => x.intersection(&Interval::POSITIVE).increasing(f64::ln),
        Func::Log10 => x.intersection(&Interval::POSITIVE).increasing(f64::log10),
        Func::Sqrt => x.intersection(&Interval::NON_NEGATIVE).increasing(f64::sqrt),
        Func::Abs => x.abs(),
        Func::Sign => {
            if x.is_positive() {
                Interval::point(1.0)
            } else if x.is_negative() {
                Interval::point(-1.0)
            } else if x.is_non_negative() {
                Interval::closed(0.0, 1.0)
            } else if x.is_non_positive() {
                Interval::closed(-1.0, 0.0)
            } else {
                unit
            }
        }
        Func::Min => y.neg().larger(&x.neg()).neg(),
        Func::Max => x.larger(&y),
        Func::Table(_) => Interval::ALL,
    }
}

/// Encloses sine or cosine, whose maxima lie at `peak` plus whole turns.
fn circular(x: Interval, peak: f64, f: impl Fn(f64) -> f64) -> Interval {
    let unit = Interval::closed(-1.0, 1.0);
    if x.lo().abs() > LARGEST_ANGLE || x.hi().abs() > LARGEST_ANGLE {
        return unit;
    }
    // Half turns since the peak; the margin covers rounding, and only widens the result.
    let half_turns = |t: f64| (t - peak) / PI;
    let first = (half_turns(x.lo()) - TURN_MARGIN).ceil();
    let last = (half_turns(x.hi()) + TURN_MARGIN).floor();
    let values = Interval::closed(f(x.lo()), f(x.hi())).increasing(|v| v);
    let contains = |parity: f64| {
        (0..=2).any(|k| first + f64::from(k) <= last && (first + f64::from(k)).rem_euclid(2.0) == parity)
    };
    let mut out = values;
    if contains(0.0) {
        out = out.hull(&Interval::point(1.0));
    }
    if contains(1.0) {
        out = out.hull(&Interval::point(-1.0));
    }
    out.intersection(&unit)
}
