//! Intervals with open and closed ends, computed outward.
//!
//! An interval encloses every value an operation can give; rounding only widens it. Ends that are exactly
//! zero stay so, because the question is mostly whether a value can vanish.

use std::cmp::Ordering;

/// A set of real numbers between two ends; an end may be open, infinite ends always are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    lo: Low,
    hi: High,
}

/// A lower end.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Low {
    at: f64,
    open: bool,
}

/// An upper end.
#[derive(Clone, Copy, PartialEq, Debug)]
struct High {
    at: f64,
    open: bool,
}

/// One end of an operand together with whether the end itself belongs to the interval.
#[derive(Clone, Copy)]
struct End {
    at: f64,
    open: bool,
}

impl Interval {
    /// All real numbers.
    pub const ALL: Interval = Interval {
        lo: Low { at: f64::NEG_INFINITY, open: true },
        hi: High { at: f64::INFINITY, open: true },
    };
    /// No number: what a function gives outside its domain.
    pub const EMPTY: Interval =
        Interval { lo: Low { at: 1.0, open: true }, hi: High { at: -1.0, open: true } };
    /// Numbers greater than zero.
    pub const POSITIVE: Interval =
        Interval { lo: Low { at: 0.0, open: true }, hi: High { at: f64::INFINITY, open: true } };
    /// Numbers not less than zero.
    pub const NON_NEGATIVE: Interval =
        Interval { lo: Low { at: 0.0, open: false }, hi: High { at: f64::INFINITY, open: true } };
    /// Numbers less than zero.
    pub const NEGATIVE: Interval =
        Interval { lo: Low { at: f64::NEG_INFINITY, open: true }, hi: High { at: 0.0, open: true } };

    /// Makes the closed interval between two numbers, in any order; infinite ends are open.
    pub fn closed(a: f64, b: f64) -> Interval {
        Interval::between(a.min(b), false, a.max(b), false)
    }

    /// Makes the open interval between two numbers, in any order.
    pub fn open(a: f64, b: f64) -> Interval {
        Interval::between(a.min(b), true, a.max(b), true)
    }

    /// Makes the interval that holds one number.
    pub fn point(a: f64) -> Interval {
        Interval::closed(a, a)
    }

    /// Makes an interval from its ends and whether they are open; a NaN end means all numbers.
    pub fn between(lo: f64, lo_open: bool, hi: f64, hi_open: bool) -> Interval {
        if lo.is_nan() || hi.is_nan() {
            return Interval::ALL;
        }
        Interval {
            // Adding zero turns -0 into 0, which total_cmp would tell apart.
            lo: Low { at: lo + 0.0, open: lo_open || lo.is_infinite() },
            hi: High { at: hi + 0.0, open: hi_open || hi.is_infinite() },
        }
    }

    /// Returns the lower end.
    pub fn lo(&self) -> f64 {
        self.lo.at
    }

    /// Returns the upper end.
    pub fn hi(&self) -> f64 {
        self.hi.at
    }

    /// Tells whether the lower end is left out.
    pub fn lo_open(&self) -> bool {
        self.lo.open
    }

    /// Tells whether the upper end is left out.
    pub fn hi_open(&self) -> bool {
        self.hi.open
    }

    /// Tells whether no number is in the interval.
    pub fn is_empty(&self) -> bool {
        match self.lo.at.partial_cmp(&self.hi.at) {
            Some(Ordering::Less) => false,
            Some(Ordering::Equal) => self.lo.open || self.hi.open,
            _ => true,
        }
    }

    /// Returns the whole number that the interval holds alone.
    pub(crate) fn as_integer(&self) -> Option<i32> {
        let whole = self.lo.at == self.hi.at && self.lo.at.fract() == 0.0 && self.lo.at.abs() < 1e9;
        (whole && !self.is_empty()).then_some(self.lo.at as i32)
    }

    /// Tells whether a number is in the interval.
    pub fn contains(&self, x: f64) -> bool {
        (self.lo.at < x || (self.lo.at == x && !self.lo.open))
            && (x < self.hi.at || (x == self.hi.at && !self.hi.open))
    }

    /// Tells whether the value can vanish.
    pub fn contains_zero(&self) -> bool {
        self.contains(0.0)
    }

    /// Tells whether every number in it is greater than zero.
    pub fn is_positive(&self) -> bool {
        self.is_within(&Interval::POSITIVE)
    }

    /// Tells whether every number in it is less than zero.
    pub fn is_negative(&self) -> bool {
        self.is_within(&Interval::NEGATIVE)
    }

    /// Tells whether no number in it is less than zero.
    pub fn is_non_negative(&self) -> bool {
        self.is_within(&Interval::NON_NEGATIVE)
    }

    /// Tells whether no number in it is greater than zero.
    pub fn is_non_positive(&self) -> bool {
        self.neg().is_non_negative()
    }

    /// Tells whether every number in it is in the other interval too.
    pub fn is_within(&self, other: &Interval) -> bool {
        self.is_empty() || self.intersection(other) == *self
    }

    /// Returns the numbers in both intervals.
    pub fn intersection(&self, other: &Interval) -> Interval {
        let lo = match self.lo.at.total_cmp(&other.lo.at) {
            Ordering::Greater => self.lo,
            Ordering::Less => other.lo,
            Ordering::Equal => Low { at: self.lo.at, open: self.lo.open || other.lo.open },
        };
        let hi = match self.hi.at.total_cmp(&other.hi.at) {
            Ordering::Less => self.hi,
            Ordering::Greater => other.hi,
            Ordering::Equal => High { at: self.hi.at, open: self.hi.open || other.hi.open },
        };
        Interval { lo, hi }
    }

    /// Returns the smallest interval around both.
    pub fn hull(&self, other: &Interval) -> Interval {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        let lo = match self.lo.at.total_cmp(&other.lo.at) {
            Ordering::Less => self.lo,
            Ordering::Greater => other.lo,
            Ordering::Equal => Low { at: self.lo.at, open: self.lo.open && other.lo.open },
        };
        let hi = match self.hi.at.total_cmp(&other.hi.at) {
            Ordering::Greater => self.hi,
            Ordering::Less => other.hi,
            Ordering::Equal => High { at: self.hi.at, open: self.hi.open && other.hi.open },
        };
        Interval { lo, hi }
    }

    fn ends(&self) -> [End; 2] {
        [End { at: self.lo.at, open: self.lo.open }, End { at: self.hi.at, open: self.hi.open }]
    }

    pub(crate) fn neg(&self) -> Interval {
        Interval::between(-self.hi.at, self.hi.open, -self.lo.at, self.lo.open)
    }

    pub(crate) fn add(&self, other: &Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let (lo, hi) = (self.lo.at + other.lo.at, self.hi.at + other.hi.at);
        // Adding zero, and a sum that is zero, are exact.
        let exact_lo = lo == 0.0 || self.lo.at == 0.0 || other.lo.at == 0.0;
        let exact_hi = hi == 0.0 || self.hi.at == 0.0 || other.hi.at == 0.0;
        let lo = if exact_lo { lo } else { outward_down(lo) };
        let hi = if exact_hi { hi } else { outward_up(hi) };
        Interval::between(lo, self.lo.open || other.lo.open, hi, self.hi.open || other.hi.open)
    }

    pub(crate) fn mul(&self, other: &Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let mut out = Interval::EMPTY;
        for a in self.ends() {
            for b in other.ends() {
                let corner = multiply_ends(a, b);
                out = out.hull_with_end(corner);
            }
        }
        // Zero times anything is zero: it belongs to the product even where the other end is open.
        if self.contains_zero() || other.contains_zero() {
            out = out.hull(&Interval::point(0.0));
        }
        out
    }

    /// Extends by a corner of an operation: the corner itself belongs only if it is not open.
    fn hull_with_end(&self, (lo, hi, open): (f64, f64, bool)) -> Interval {
        // An open corner is the limit of values next to it, so it is an open end and not a hole.
        let single = Interval {
            lo: Low { at: lo, open: open || lo.is_infinite() },
            hi: High { at: hi, open: open || hi.is_infinite() },
        };
        if *self == Interval::EMPTY {
            return single;
        }
        let lo = match self.lo.at.total_cmp(&single.lo.at) {
            Ordering::Less => self.lo,
            Ordering::Greater => single.lo,
            Ordering::Equal => Low { at: self.lo.at, open: self.lo.open && single.lo.open },
        };
        let hi = match self.hi.at.total_cmp(&single.hi.at) {
            Ordering::Greater => self.hi,
            Ordering::Less => single.hi,
            Ordering::Equal => High { at: self.hi.at, open: self.hi.open && single.hi.open },
        };
        Interval { lo, hi }
    }

    pub(crate) fn recip(&self) -> Interval {
        if self.is_empty() || *self == Interval::point(0.0) {
            return Interval::EMPTY;
        }
        let inner_lo = self.lo.at < 0.0;
        let inner_hi = self.hi.at > 0.0;
        if inner_lo && inner_hi {
            return Interval::ALL;
        }
        let invert = |end: End| -> (f64, bool) {
            if end.at == 0.0 {
                (if inner_hi { f64::INFINITY } else { f64::NEG_INFINITY }, true)
            } else {
                (1.0 / end.at + 0.0, end.open)
            }
        };
        let [lo, hi] = self.ends();
        let ((a, a_open), (b, b_open)) = (invert(hi), invert(lo));
        Interval::between(outward_down(a), a_open, outward_up(b), b_open)
    }

    pub(crate) fn abs(&self) -> Interval {
        if self.is_non_negative() {
            *self
        } else if self.is_non_positive() {
            self.neg()
        } else {
            let up = self.hull(&self.neg());
            Interval { lo: Low { at: 0.0, open: false }, hi: up.hi }
        }
    }

    /// Encloses the larger of two values.
    pub(crate) fn larger(&self, other: &Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let lo = self.intersection(&Interval { lo: other.lo, hi: self.hi }).lo;
        Interval { lo, hi: self.hull(other).hi }
    }

    pub(crate) fn powi(&self, n: u32) -> Interval {
        let base = if n.is_multiple_of(2) { self.abs() } else { *self };
        let n = i32::try_from(n).unwrap_or(i32::MAX);
        let power = base.increasing(|x| x.powi(n));
        // Powers of small integers are exact, and 1 - x^2 must not vanish for x below 1.
        let exact = |x: f64| x.fract() == 0.0 && x.powi(n).abs() < 9e15;
        let lo = if exact(base.lo.at) { base.lo.at.powi(n) } else { power.lo.at };
        let hi = if exact(base.hi.at) { base.hi.at.powi(n) } else { power.hi.at };
        if base.is_empty() { power } else { Interval::between(lo, power.lo.open, hi, power.hi.open) }
    }

    /// Applies an increasing function, given with ordinary rounding; its exact zeros must be exact.
    pub(crate) fn increasing(&self, f: impl Fn(f64) -> f64) -> Interval {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        let (lo, hi) = (f(self.lo.at), f(self.hi.at));
        let underflow = |x: f64, y: f64| y == 0.0 && x != 0.0 && x.is_finite();
        let lo = if underflow(self.lo.at, lo) { -f64::MIN_POSITIVE } else { outward_down(lo) };
        let hi = if underflow(self.hi.at, hi) { f64::MIN_POSITIVE } else { outward_up(hi) };
        Interval::between(lo, self.lo.open, hi, self.hi.open)
    }

    /// Applies a decreasing function.
    pub(crate) fn decreasing(&self, f: impl Fn(f64) -> f64) -> Interval {
        self.increasing(|x| -f(x)).neg()
    }
}

/// Rounds a lower bound outward by two units, which covers the error of the library's functions; zero is
/// exact where it occurs, and an overflow is only known to be large.
fn outward_down(x: f64) -> f64 {
    if x == 0.0 || x == f64::NEG_INFINITY {
        x
    } else if x == f64::INFINITY {
        f64::MAX
    } else {
        x.next_down().next_down()
    }
}

fn outward_up(x: f64) -> f64 {
    -outward_down(-x)
}

/// Multiplies two ends: bounds below and above, and whether the product is left out.
fn multiply_ends(a: End, b: End) -> (f64, f64, bool) {
    if a.at == 0.0 || b.at == 0.0 {
        // Zero times an unbounded end tends to zero along the edge; an attained zero is joined by the caller.
        return (0.0, 0.0, true);
    }
    let product = a.at * b.at;
    let unbounded = a.at.is_infinite() || b.at.is_infinite();
    let open = a.open || b.open;
    if product == 0.0 {
        let positive = (a.at > 0.0) == (b.at > 0.0);
        return if positive { (0.0, f64::MIN_POSITIVE, true) } else { (-f64::MIN_POSITIVE, 0.0, true) };
    }
    if unbounded || a.at.mul_add(b.at, -product) == 0.0 {
        (product, product, open)
    } else {
        (outward_down(product), outward_up(product), open)
    }
}
