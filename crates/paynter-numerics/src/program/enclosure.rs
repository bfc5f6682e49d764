//! Interval arithmetic with derivatives: a program run on enclosures tells between which values its results
//! lie over a whole interval of time, and between which rates they change.
//!
//! Ends are rounded outward, and elementary functions by a few units in the last place more, so that what is
//! excluded is excluded for every number within. Where a function is undefined on part of its argument, the
//! rest of the argument counts; where it jumps, its derivative is unbounded.

use super::instruction::Op;
use super::scalar::{Scalar, calculate};
use crate::tolerance::LARGEST_ENCLOSED_ANGLE;
use std::f64::consts::{FRAC_PI_2, LN_10, PI, TAU};

/// The numbers between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// Zero alone.
    pub const ZERO: Range = Range { lo: 0.0, hi: 0.0 };
    /// The numbers up to one in magnitude.
    const UNIT: Range = Range { lo: -1.0, hi: 1.0 };
    /// The numbers that are not negative.
    const NONNEGATIVE: Range = Range { lo: 0.0, hi: f64::INFINITY };

    /// The numbers between two ends in rising order; all numbers where an end is none.
    pub fn new(lo: f64, hi: f64) -> Range {
        if lo.is_nan() || hi.is_nan() || lo > hi { Range::ALL } else { Range { lo, hi } }
    }

    /// One number.
    pub fn point(x: f64) -> Range {
        Range::new(x, x)
    }

    /// The numbers about a middle.
    pub fn about(middle: f64, radius: f64) -> Range {
        Range::new(middle - radius, middle + radius).outward()
    }

    /// Whether it is one number.
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Whether both ends are numbers.
    pub fn is_bounded(self) -> bool {
        self.lo > f64::NEG_INFINITY && self.hi < f64::INFINITY
    }

    /// Whether it holds a number.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether it holds all numbers of another.
    pub fn covers(self, other: Range) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// Its middle.
    pub fn middle(self) -> f64 {
        0.5 * self.lo + 0.5 * self.hi
    }

    /// The distance between its ends.
    pub fn width(self) -> f64 {
        self.hi - self.lo
    }

    /// The largest magnitude in it.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The numbers in both; of ranges that have none in common, which only rounding makes, the first.
    pub fn intersection(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Range { lo, hi } } else { self }
    }

    /// The smallest range with all numbers of both.
    pub fn hull(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Rounds both ends outward by a unit in the last place; zero stays zero.
    fn outward(self) -> Range {
        let lo = if self.lo == 0.0 { 0.0 } else { self.lo.next_down() };
        let hi = if self.hi == 0.0 { 0.0 } else { self.hi.next_up() };
        Range::new(lo, hi)
    }

    /// Rounds outward what a function of the library gives, which may be off by a few units.
    fn loosened(self) -> Range {
        let by = |x: f64| if x.is_finite() { 4.0 * f64::EPSILON * x.abs() } else { 0.0 };
        Range::new(self.lo - by(self.lo), self.hi + by(self.hi))
    }

    /// Sum.
    #[must_use]
    pub fn plus(self, b: Range) -> Range {
        // Sums of zeros are exact.
        if self == Range::ZERO {
            return b;
        }
        if b == Range::ZERO {
            return self;
        }
        let sum = Range::new(self.lo + b.lo, self.hi + b.hi);
        Range { lo: sum.lo.next_down(), hi: sum.hi.next_up() }
    }

    /// Negation.
    #[must_use]
    pub fn negative(self) -> Range {
        Range { lo: -self.hi, hi: -self.lo }
    }

    /// Difference.
    #[must_use]
    pub fn minus(self, b: Range) -> Range {
        self.plus(b.negative())
    }

    /// Product; zero times anything is zero.
    #[must_use]
    pub fn times(self, b: Range) -> Range {
        if self == Range::ZERO || b == Range::ZERO {
            return Range::ZERO;
        }
        let [ll, lh, hl, hh] = [self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi];
        // Finite numbers, nearly always: their products need not be asked for zeros times infinity.
        if ll.is_finite() & lh.is_finite() & hl.is_finite() & hh.is_finite() {
            let less = |a: f64, b: f64| if a < b { a } else { b };
            let more = |a: f64, b: f64| if a > b { a } else { b };
            return Range { lo: less(less(ll, lh), less(hl, hh)), hi: more(more(ll, lh), more(hl, hh)) }
                .outward();
        }
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let all =
            [product(self.lo, b.lo), product(self.lo, b.hi), product(self.hi, b.lo), product(self.hi, b.hi)];
        let lo = all.into_iter().fold(f64::INFINITY, f64::min);
        let hi = all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Range::new(lo, hi).outward()
    }

    /// Quotient.
    #[must_use]
    pub fn over(self, b: Range) -> Range {
        if self == Range::ZERO && b != Range::ZERO {
            return Range::ZERO;
        }
        let inverse = if b.lo > 0.0 || b.hi < 0.0 {
            Range::new(1.0 / b.hi, 1.0 / b.lo).outward()
        } else if b.lo == 0.0 && b.hi > 0.0 {
            Range::new((1.0 / b.hi).next_down(), f64::INFINITY)
        } else if b.hi == 0.0 && b.lo < 0.0 {
            Range::new(f64::NEG_INFINITY, (1.0 / b.lo).next_up())
        } else {
            Range::ALL
        };
        self.times(inverse)
    }

    fn square(self) -> Range {
        let (a, b) = (self.lo * self.lo, self.hi * self.hi);
        let lo = if self.contains(0.0) { 0.0 } else { a.min(b) };
        Range::new(lo, a.max(b)).outward()
    }

    /// A function that rises everywhere, on the part of the range where it is defined.
    fn rising(self, domain: Range, f: impl Fn(f64) -> f64) -> Range {
        if self.lo > domain.hi || self.hi < domain.lo {
            return Range::ALL;
        }
        let part = self.intersection(domain);
        Range::new(f(part.lo), f(part.hi)).loosened()
    }

    fn falling(self, domain: Range, f: impl Fn(f64) -> f64) -> Range {
        self.rising(domain, |x| -f(x)).negative()
    }

    /// Whether a number of the form `first` + k·`period` lies in it, or so near that rounding hides it.
    fn meets(self, first: f64, period: f64) -> bool {
        let slack = 8.0 * f64::EPSILON * self.magnitude().max(1.0);
        ((self.lo - slack - first) / period).ceil() <= ((self.hi + slack - first) / period).floor()
    }

    fn sine(self) -> Range {
        if !self.is_bounded() || self.width() >= TAU || self.magnitude() > LARGEST_ENCLOSED_ANGLE {
            return Range { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.sin(), self.hi.sin());
        let range = Range::new(a.min(b), a.max(b)).loosened();
        let hi = if self.meets(FRAC_PI_2, TAU) { 1.0 } else { range.hi.min(1.0) };
        let lo = if self.meets(-FRAC_PI_2, TAU) { -1.0 } else { range.lo.max(-1.0) };
        Range { lo, hi }
    }

    fn cosine(self) -> Range {
        if !self.is_bounded() || self.width() >= TAU || self.magnitude() > LARGEST_ENCLOSED_ANGLE {
            return Range { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.cos(), self.hi.cos());
        let range = Range::new(a.min(b), a.max(b)).loosened();
        let hi = if self.meets(0.0, TAU) { 1.0 } else { range.hi.min(1.0) };
        let lo = if self.meets(PI, TAU) { -1.0 } else { range.lo.max(-1.0) };
        Range { lo, hi }
    }

    /// A power with a fixed exponent.
    fn power(self, exponent: f64) -> Range {
        let raise = |x: f64| x.powf(exponent);
        if exponent == 0.0 {
            return Range::point(1.0);
        }
        if exponent == 2.0 {
            return self.square();
        }
        let whole = exponent.fract() == 0.0 && exponent.abs() < 1e9;
        if self.lo >= 0.0 || !whole {
            let domain = Range { lo: 0.0, hi: f64::INFINITY };
            return match exponent > 0.0 {
                true => self.rising(domain, raise),
                false => self.falling(domain, raise),
            };
        }
        if self.hi <= 0.0 {
            let size = self.negative().power(exponent);
            return if exponent % 2.0 == 0.0 { size } else { size.negative() };
        }
        // Zero lies inside.
        let sides = [Range { lo: self.lo, hi: 0.0 }, Range { lo: 0.0, hi: self.hi }];
        sides[0].power(exponent).hull(sides[1].power(exponent))
    }

    fn absolute(self) -> Range {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            self.negative()
        } else {
            Range { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// The derivative of the arcsine.
    fn arcsine_rate(self) -> Range {
        let one = Range::point(1.0);
        one.over(one.minus(self.intersection(Range::UNIT).square()).power(0.5))
    }

    /// The derivative of the logarithm to a base whose natural logarithm this is.
    fn logarithm_rate(self, base: f64) -> Range {
        Range::point(1.0).over(self.intersection(Range::NONNEGATIVE).times(Range::point(base)).loosened())
    }

    /// A decided or undecided truth.
    fn truth(always: bool, never: bool) -> Range {
        match (always, never) {
            (true, _) => Range::point(1.0),
            (_, true) => Range::ZERO,
            _ => Range { lo: 0.0, hi: 1.0 },
        }
    }
}

/// The values of a function over an interval, and those of its derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enclosure {
    /// Between which values it lies.
    pub value: Range,
    /// Between which rates it changes.
    pub derivative: Range,
}

impl Enclosure {
    /// Nothing is known.
    pub const ALL: Enclosure = Enclosure { value: Range::ALL, derivative: Range::ALL };

    /// A function of the argument, with the function's own derivative. Across a pole it jumps from one end of
    /// the numbers to the other, which no derivative tells.
    fn chain(self, value: Range, derivative: impl FnOnce() -> Range) -> Enclosure {
        let derivative = match () {
            () if self.derivative == Range::ZERO => Range::ZERO,
            () if !value.is_bounded() => Range::ALL,
            () => derivative().times(self.derivative),
        };
        Enclosure { value, derivative }
    }

    /// What jumps wherever it is not decided.
    fn decided(value: Range) -> Enclosure {
        let derivative = if value.is_point() { Range::ZERO } else { Range::ALL };
        Enclosure { value, derivative }
    }

    fn power(self, exponent: Enclosure) -> Enclosure {
        let (a, b) = (self.value, exponent.value);
        if b.is_point() && exponent.derivative == Range::ZERO {
            return self.chain(a.power(b.lo), || Range::point(b.lo).times(a.power(b.lo - 1.0)));
        }
        // exp(b·ln a)
        let log = Enclosure::other(Op::Ln, self, self, self);
        let product = log.mul(exponent);
        Enclosure::other(Op::Exp, product, product, product)
    }

    fn tangent(self) -> Enclosure {
        let x = self.value;
        let value = if !x.is_bounded() || x.width() >= PI || x.meets(FRAC_PI_2, PI) {
            Range::ALL
        } else {
            x.rising(Range::ALL, f64::tan)
        };
        self.chain(value, || Range::point(1.0).plus(value.square()))
    }

    /// The angle of a vector with this ordinate; it jumps where the abscissa is negative.
    fn angle(self, abscissa: Enclosure) -> Enclosure {
        let (x, y) = (self.value, abscissa.value);
        let cut = y.lo <= 0.0 && x.contains(0.0);
        let quarter = Range::point(FRAC_PI_2).loosened();
        let arctangent = |ratio: Range| ratio.rising(Range::ALL, f64::atan);
        let value = if y.lo > 0.0 {
            arctangent(x.over(y))
        } else if x.lo > 0.0 {
            quarter.minus(arctangent(y.over(x)))
        } else if x.hi < 0.0 {
            quarter.negative().minus(arctangent(y.over(x)))
        } else {
            Range { lo: -PI, hi: PI }.loosened()
        };
        let square = x.square().plus(y.square());
        let derivative = y.times(self.derivative).minus(x.times(abscissa.derivative)).over(square);
        Enclosure { value, derivative: if cut { Range::ALL } else { derivative } }
    }

    /// The smaller or the larger of two.
    fn extreme(self, op: Op, other: Enclosure) -> Enclosure {
        let (low, high) = if op == Op::Min { (self, other) } else { (other, self) };
        // The operand that always is the result.
        if low.value.hi <= high.value.lo {
            return self;
        }
        if high.value.hi <= low.value.lo {
            return other;
        }
        let (x, y) = (self.value, other.value);
        let value = match op {
            Op::Min => Range { lo: x.lo.min(y.lo), hi: x.hi.min(y.hi) },
            _ => Range { lo: x.lo.max(y.lo), hi: x.hi.max(y.hi) },
        };
        Enclosure { value, derivative: self.derivative.hull(other.derivative) }
    }
}

impl Scalar for Enclosure {
    fn constant(value: f64) -> Enclosure {
        Enclosure { value: Range::point(value), derivative: Range::ZERO }
    }

    fn add(self, b: Enclosure) -> Enclosure {
        Enclosure { value: self.value.plus(b.value), derivative: self.derivative.plus(b.derivative) }
    }

    fn sub(self, b: Enclosure) -> Enclosure {
        Enclosure { value: self.value.minus(b.value), derivative: self.derivative.minus(b.derivative) }
    }

    fn mul(self, b: Enclosure) -> Enclosure {
        let derivative = self.derivative.times(b.value).plus(self.value.times(b.derivative));
        Enclosure { value: self.value.times(b.value), derivative }
    }

    fn div(self, b: Enclosure) -> Enclosure {
        let value = self.value.over(b.value);
        let derivative = match b.derivative == Range::ZERO {
            true => self.derivative.over(b.value),
            false if !value.is_bounded() => Range::ALL,
            false => self.derivative.minus(value.times(b.derivative)).over(b.value),
        };
        Enclosure { value, derivative }
    }

    fn other(op: Op, a: Enclosure, b: Enclosure, c: Enclosure) -> Enclosure {
        let x = a.value;
        let every = Range::ALL;
        let one = Range::point(1.0);
        match op {
            Op::Add => a.add(b),
            Op::Sub => a.sub(b),
            Op::Mul | Op::MulZero => a.mul(b),
            Op::Div => a.div(b),
            Op::Neg => Enclosure { value: x.negative(), derivative: a.derivative.negative() },
            Op::MulAdd => a.mul(b).add(c),
            Op::NegMulAdd => c.sub(a.mul(b)),
            Op::Sqrt => a.power(Enclosure::constant(0.5)),
            Op::Cbrt => a.power(Enclosure::constant(1.0 / 3.0)),
            Op::Pow | Op::PowLog => a.power(b),
            Op::PowLess => b.power(c),
            Op::Sin => a.chain(x.sine(), || x.cosine()),
            Op::Cos => a.chain(x.cosine(), || x.sine().negative()),
            Op::Tan => a.tangent(),
            Op::Asin => a.chain(x.rising(Range::UNIT, f64::asin), || x.arcsine_rate()),
            Op::Acos => a.chain(x.falling(Range::UNIT, f64::acos), || x.arcsine_rate().negative()),
            Op::Atan => a.chain(x.rising(every, f64::atan), || one.over(one.plus(x.square()))),
            Op::Atan2 => a.angle(b),
            Op::Sinh => a.chain(x.rising(every, f64::sinh), || cosh(x)),
            Op::Cosh => a.chain(cosh(x), || x.rising(every, f64::sinh)),
            Op::Tanh => {
                let value = x.rising(every, f64::tanh).intersection(Range::UNIT);
                a.chain(value, || one.minus(value.square()).intersection(Range { lo: 0.0, hi: 1.0 }))
            }
            Op::Asinh => a.chain(x.rising(every, f64::asinh), || one.over(one.plus(x.square()).power(0.5))),
            Op::Acosh => {
                let domain = Range { lo: 1.0, hi: f64::INFINITY };
                let root = || one.over(x.intersection(domain).square().minus(one).power(0.5));
                a.chain(x.rising(domain, f64::acosh), root)
            }
            Op::Atanh => a.chain(x.rising(Range::UNIT, f64::atanh), || {
                one.over(one.minus(x.intersection(Range::UNIT).square()))
            }),
            Op::Exp => {
                let value = x.rising(every, f64::exp);
                a.chain(Range { lo: value.lo.max(0.0), hi: value.hi }, || value)
            }
            Op::Ln => a.chain(x.rising(Range::NONNEGATIVE, f64::ln), || x.logarithm_rate(1.0)),
            Op::Log10 => a.chain(x.rising(Range::NONNEGATIVE, f64::log10), || x.logarithm_rate(LN_10)),
            Op::Abs => a.chain(x.absolute(), || match () {
                () if x.lo >= 0.0 => one,
                () if x.hi <= 0.0 => one.negative(),
                () => Range { lo: -1.0, hi: 1.0 },
            }),
            Op::Sign => {
                let of = |x: f64| calculate(Op::Sign, x, x, x);
                Enclosure::decided(Range::new(of(x.lo), of(x.hi)))
            }
            Op::Min | Op::Max => a.extreme(op, b),
            Op::Lt => Enclosure::decided(Range::truth(x.hi < b.value.lo, x.lo >= b.value.hi)),
            Op::Le => Enclosure::decided(Range::truth(x.hi <= b.value.lo, x.lo > b.value.hi)),
            Op::Eq | Op::Ne => {
                let apart = x.hi < b.value.lo || b.value.hi < x.lo;
                let same = x.is_point() && x == b.value;
                let (always, never) = if op == Op::Eq { (same, apart) } else { (apart, same) };
                Enclosure::decided(Range::truth(always, never))
            }
            Op::Select if !x.contains(0.0) => b,
            Op::Select if x == Range::ZERO => c,
            Op::Select => {
                let derivative = if b == c { b.derivative } else { every };
                Enclosure { value: b.value.hull(c.value), derivative }
            }
            Op::Table | Op::Store => Enclosure::ALL,
        }
    }

    fn square(self) -> Enclosure {
        self.chain(self.value.square(), || self.value.times(Range::point(2.0)))
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Enclosure {
        let derivative = if self.derivative == Range::ZERO { Range::ZERO } else { Range::ALL };
        if self.value.is_point() {
            Enclosure { value: Range::point(f(self.value.lo)), derivative }
        } else {
            Enclosure::ALL
        }
    }
}

fn cosh(x: Range) -> Range {
    x.absolute().rising(Range::ALL, f64::cosh)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::program::{Program, Tables};
    use paynter_algebra::{Expr, Func, Pool};
    use paynter_base::random::Random;

    /// A random expression in one symbol.
    fn expression(pool: &mut Pool, random: &mut Random, t: Expr, depth: u32) -> Expr {
        let mut below = |n: u64| random.bits() % n;
        if depth == 0 {
            return if below(3) == 0 {
                pool.decimal(&format!("{}", below(9) as f64 / 2.0)).unwrap()
            } else {
                t
            };
        }
        let choice = below(15);
        let a = expression(pool, random, t, depth - 1);
        let b = expression(pool, random, t, depth - 1);
        match choice {
            0 => pool.add(a, b),
            1 => pool.sub(a, b),
            2 | 3 => pool.mul(a, b),
            4 => pool.div(a, b),
            5 => pool.call(Func::Sin, &[a]),
            6 => pool.call(Func::Cos, &[a]),
            7 => pool.call(Func::Exp, &[a]),
            8 => pool.call(Func::Tanh, &[a]),
            9 => pool.call(Func::Abs, &[a]),
            10 => pool.call(Func::Max, &[a, b]),
            11 => {
                let three = pool.int(3);
                pool.pow(a, three)
            }
            12 => pool.call(Func::Tan, &[a]),
            13 => pool.call(Func::Atan2, &[a, b]),
            _ => pool.call(Func::Atan, &[a]),
        }
    }

    /// Values and differences at random places within an interval lie in what encloses them there.
    #[test]
    fn random_functions_stay_in_their_enclosures() {
        let mut judged = 0;
        for seed in 0..800 {
            let mut random = Random::new(seed);
            let mut pool = Pool::new();
            let symbol = pool.symbol("t");
            let t = pool.var(symbol);
            let e = expression(&mut pool, &mut random, t, 4);
            let program = Program::compile(&pool, &[e], &[symbol]).unwrap();
            let lo = 4.0 * random.symmetric();
            let hi = lo + 2.0 * random.unit().powi(3);
            let argument = Enclosure { value: Range::new(lo, hi), derivative: Range::point(1.0) };
            let found = program.enclose(&[argument], &Tables::default())[0];
            let value = |t: f64| {
                let mut out = [0.0];
                program.run(&[t], &mut Vec::new(), &mut out);
                out[0]
            };
            for _ in 0..20 {
                let (a, b) = (lo + (hi - lo) * random.unit(), lo + (hi - lo) * random.unit());
                let (fa, fb) = (value(a), value(b));
                if !fa.is_finite() || !fb.is_finite() || a == b {
                    continue;
                }
                assert!(found.value.contains(fa), "{}: {fa} at {a} not in {found:?}", pool.display(e));
                let derivative = (fb - fa) / (b - a);
                let noise = 1e-13 * (fa.abs() + fb.abs()) / (b - a).abs();
                let near = Range::about(derivative, noise + 1e-9 * derivative.abs());
                let meets = near.hi >= found.derivative.lo && near.lo <= found.derivative.hi;
                assert!(meets, "{}: derivative {derivative} not in {found:?}", pool.display(e));
                judged += 1;
            }
        }
        assert!(judged > 5000, "{judged}");
    }

    #[test]
    fn narrow_arguments_give_narrow_values() {
        for (x, op) in [(0.3, Op::Sin), (1e6, Op::Cos), (2.0, Op::Ln), (-0.4, Op::Atan), (0.2, Op::Asin)] {
            let argument = Enclosure { value: Range::about(x, 1e-9), derivative: Range::point(1.0) };
            let found = Enclosure::other(op, argument, argument, argument);
            assert!(
                found.value.width() < 1e-8 && found.value.contains(calculate(op, x, x, x)),
                "{op:?} {found:?}"
            );
        }
        let sine = Range::new(0.0, 3.0).sine();
        assert!(sine.hi == 1.0 && sine.lo <= 0.0 && sine.lo > -1e-15);
        assert_eq!(Range::new(-1.0, 2.0).square(), Range { lo: 0.0, hi: 4.0_f64.next_up() });
        assert_eq!(Range::new(-1.0, 2.0).over(Range::new(-1.0, 1.0)), Range::ALL);
    }
}
