//! Angles that jump: `atan2` at its branch cut, and `atan` of what has a pole, as the sawtooth atan(tan(πt)).
//! Each becomes two branches that go on smoothly beyond the jump, so that the jump is an event with a time of its
//! own: what an angle is compared with does not move it. Triangular waves, `asin(sin(x))`, bend at events alike.

use super::freeze::Freezer;
use crate::tolerance::FRACTION_DEPTH;
use paynter_algebra::{Cmp, Expr, Func, Interval, Node, Pool};

impl Freezer {
    /// `atan2(y, x)`, turned by a quarter to either side: its cut lies at y = 0, that of each branch at x = 0
    /// beyond the other side.
    pub(super) fn cut_angle(&mut self, pool: &mut Pool, y: Expr, x: Expr) -> Expr {
        let two = pool.int(2);
        let pi = pool.pi();
        let quarter = pool.div(pi, two);
        let [minus_x, minus_y, minus_quarter] = [x, y, quarter].map(|e| pool.neg(e));
        let [above, below] = [(minus_x, y, quarter), (x, minus_y, minus_quarter)].map(|(y, x, turned)| {
            let angle = pool.call(Func::Atan2, &[y, x]);
            pool.add(turned, angle)
        });
        self.branch_at(pool, y, above, below)
    }

    /// `atan(n/d)`, where d may vanish, as the angle of (n, d) to the side of its mode.
    pub(super) fn cut_at_pole(&mut self, pool: &mut Pool, argument: Expr) -> Option<Expr> {
        let (n, d) = fraction(pool, argument, FRACTION_DEPTH);
        let (n, d) = reduced(pool, n, d);
        if self.is_fixed(pool, d) {
            return None;
        }
        let [minus_n, minus_d] = [n, d].map(|e| pool.neg(e));
        let [above, below] = [[n, d], [minus_n, minus_d]].map(|sides| pool.call(Func::Atan2, &sides));
        Some(self.branch_at(pool, d, above, below))
    }

    /// `asin(sin(x))`, `acos(cos(x))` and their like, triangular waves of a state x: with u the sine or cosine and w the
    /// other, asin(u) is the angle of (|w|, u), and its corners are the bends of |w|.
    pub(super) fn triangle(&mut self, pool: &mut Pool, inverse: Func, u: Expr) -> Option<Expr> {
        let (f, x) = match pool.node(u) {
            Node::Call(f @ (Func::Sin | Func::Cos), list) => (f, list[0]),
            _ => return None,
        };
        if !self.reads_states(pool, x) {
            return None;
        }
        let w = pool.call(if f == Func::Sin { Func::Cos } else { Func::Sin }, &[x]);
        let mode = self.mode(pool, w, false);
        let size = pool.mul(mode, w);
        let sides = if inverse == Func::Asin { [u, size] } else { [size, u] };
        Some(pool.call(Func::Atan2, &sides))
    }

    /// One expression where a function is not negative, another where it is.
    fn branch_at(&mut self, pool: &mut Pool, function: Expr, above: Expr, below: Expr) -> Expr {
        let mode = self.mode(pool, function, true);
        let zero = pool.zero();
        let condition = pool.compare(Cmp::Ge, mode, zero);
        pool.select(condition, above, below)
    }
}

/// Numerator and denominator, which holds what may vanish.
fn fraction(pool: &mut Pool, e: Expr, depth: usize) -> (Expr, Expr) {
    let one = pool.one();
    if depth == 0 {
        return (e, one);
    }
    match pool.node(e) {
        Node::Call(Func::Tan, list) => {
            let angle = list[0];
            (pool.call(Func::Sin, &[angle]), pool.call(Func::Cos, &[angle]))
        }
        Node::Power(base, exponent) => {
            let Some(power) = pool.as_int(exponent) else { return (e, one) };
            let (n, d) = fraction(pool, base, depth - 1);
            let size = pool.int(power.abs());
            let [n, d] = [n, d].map(|side| pool.pow(side, size));
            match power < 0 {
                true if d == one && never_vanishes(pool, n) => (e, one),
                true => (d, n),
                false => (n, d),
            }
        }
        Node::Product(factors) => {
            let factors = factors.to_vec();
            let parts: Vec<(Expr, Expr)> =
                factors.into_iter().map(|factor| fraction(pool, factor, depth - 1)).collect();
            let (n, d): (Vec<Expr>, Vec<Expr>) = parts.into_iter().unzip();
            (pool.product(&n), pool.product(&d))
        }
        Node::Sum(terms) => {
            let terms = terms.to_vec();
            let parts: Vec<(Expr, Expr)> =
                terms.into_iter().map(|term| fraction(pool, term, depth - 1)).collect();
            parts.into_iter().fold((pool.zero(), one), |(n, d), (term, below)| {
                if d == below {
                    return (pool.add(n, term), d);
                }
                let [left, right] = [(n, below), (term, d)].map(|(n, d)| pool.mul(n, d));
                (pool.add(left, right), pool.mul(d, below))
            })
        }
        _ => (e, one),
    }
}

/// A fraction without the factors that are common to both sides.
fn reduced(pool: &mut Pool, n: Expr, d: Expr) -> (Expr, Expr) {
    let quotient = pool.div(n, d);
    let factors = match pool.node(quotient) {
        Node::Product(list) => list.to_vec(),
        _ => vec![quotient],
    };
    let below = |pool: &mut Pool, factor: Expr| match pool.node(factor) {
        Node::Power(base, exponent) => {
            let power = pool.as_int(exponent).filter(|power| *power < 0)?;
            let size = pool.int(-power);
            (!never_vanishes(pool, base)).then(|| pool.pow(base, size))
        }
        _ => None,
    };
    let (mut above, mut under) = (Vec::new(), Vec::new());
    for factor in factors {
        match below(pool, factor) {
            Some(divisor) => under.push(divisor),
            None => above.push(factor),
        }
    }
    (pool.product(&above), pool.product(&under))
}

fn never_vanishes(pool: &Pool, e: Expr) -> bool {
    !pool.range(e, &|_| Interval::ALL).contains_zero()
}
