//! Floating-point agreement: evaluation at random points with a running error bound.

use crate::eval::function_value;
use crate::limits::NUMERIC_POINTS;
use crate::node::{Cmp, Expr, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use crate::traverse::Memo;
use paynter_base::random;

/// A value and a bound of its error; undefined values are not numbers.
#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

/// Tells whether an expression vanishes within its error at every point where it is defined, and is defined
/// somewhere.
pub(super) fn vanishes(pool: &Pool, e: Expr) -> bool {
    let order = pool.reachable(&[e]);
    let mut defined = 0;
    for point in 0..NUMERIC_POINTS {
        let result = evaluate(pool, &order, e, point);
        if result.value.is_finite() && result.error.is_finite() {
            if result.value.abs() > 8.0 * result.error {
                return false;
            }
            defined += 1;
        }
    }
    defined > 0
}

fn evaluate(pool: &Pool, order: &[Expr], e: Expr, point: u64) -> Bounded {
    let mut values = Memo::for_nodes(order);
    let nothing = Bounded { value: f64::NAN, error: f64::NAN };
    for node in order {
        let of = |child: &Expr| values.get(*child).unwrap_or(nothing);
        let exact = |value: f64| Bounded { value, error: 0.0 };
        let result = match pool.node(*node) {
            Node::Number(r) => rounded(number::to_f64(r), 0.0),
            Node::Pi => rounded(std::f64::consts::PI, 0.0),
            Node::Symbol(s) => exact(coordinate(s, point)),
            Node::Sum(terms) => {
                let value: f64 = terms.iter().map(|t| of(t).value).sum();
                let size: f64 = terms.iter().map(|t| of(t).value.abs()).sum();
                let error: f64 = terms.iter().map(|t| of(t).error).sum();
                Bounded { value, error: error + size * f64::EPSILON * terms.len() as f64 }
            }
            Node::Product(factors) => {
                let value: f64 = factors.iter().map(|f| of(f).value).product();
                let most: f64 = factors.iter().map(|f| of(f).value.abs() + of(f).error).product();
                let least: f64 = factors.iter().map(|f| of(f).value.abs()).product();
                rounded(value, most - least + f64::EPSILON * most * factors.len() as f64)
            }
            Node::Power(base, exponent) => {
                let power = |b: f64, x: f64| match pool.as_int(exponent).map(i32::try_from) {
                    Some(Ok(n)) => b.powi(n),
                    _ => b.powf(x),
                };
                spread(of(&base), of(&exponent), power)
            }
            Node::Call(f, args) => {
                let second = args.get(1).map_or(exact(0.0), of);
                spread(of(&args[0]), second, |x, y| function_value(f, x, y))
            }
            Node::Truth(holds) => exact(if holds { 1.0 } else { 0.0 }),
            Node::Compare(op, a, b) => compare(op, of(&a), of(&b)),
            Node::And(a, b) => exact(of(&a).value * of(&b).value),
            Node::Or(a, b) => exact(of(&a).value.max(of(&b).value)),
            Node::Not(a) => exact(1.0 - of(&a).value),
            Node::Select(c, a, b) => match of(&c).value {
                condition if condition.is_nan() => nothing,
                condition => of(if condition != 0.0 { &a } else { &b }),
            },
        };
        values.insert(*node, result);
    }
    values.get(e).unwrap_or(nothing)
}

fn rounded(value: f64, error: f64) -> Bounded {
    Bounded { value, error: error + value.abs() * f64::EPSILON }
}

/// Applies a function and bounds its error by its change over the errors of its arguments.
fn spread(x: Bounded, y: Bounded, f: impl Fn(f64, f64) -> f64) -> Bounded {
    let value = f(x.value, y.value);
    let mut error = 0.0f64;
    for (dx, dy) in [(x.error, 0.0), (-x.error, 0.0), (0.0, y.error), (0.0, -y.error)] {
        let near = f(x.value + dx, y.value + dy);
        // A neighbour outside the domain says nothing about the error.
        error += if near.is_nan() { (dx + dy).abs() } else { (near - value).abs() };
    }
    rounded(value, error + 4.0 * value.abs() * f64::EPSILON)
}

/// Compares unless the operands are too close to tell.
fn compare(op: Cmp, a: Bounded, b: Bounded) -> Bounded {
    let close = (a.value - b.value).abs() <= a.error + b.error && (a.error + b.error) > 0.0;
    let value = match a.value.partial_cmp(&b.value) {
        Some(ordering) if !close => f64::from(u8::from(op.holds(ordering))),
        _ => f64::NAN,
    };
    Bounded { value, error: 0.0 }
}

/// Gives a symbol's value at a point: positive at the first half of the points, of either sign at the others.
fn coordinate(s: Symbol, point: u64) -> f64 {
    let unit = random::unit(random::bits(0, point), u64::from(s.0));
    if point < NUMERIC_POINTS / 2 { 0.25 + 2.0 * unit } else { 4.0 * unit - 2.0 }
}
