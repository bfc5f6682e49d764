//! Ranges: which values cannot vanish.

use crate::common;

use common::{cases, parse};
use paynter_algebra::{Interval, Pool};
use proptest::prelude::*;

/// Tells whether an expression can vanish; p, k and capital letters are positive, others are anything.
fn can_vanish(text: &str) -> bool {
    let mut pool = Pool::new();
    let e = parse(&mut pool, text);
    let range = pool.range(e, &|s| {
        let positive = pool.name(s).starts_with(|c: char| c.is_uppercase() || c == 'k' || c == 'p');
        if positive { Interval::POSITIVE } else { Interval::ALL }
    });
    range.contains_zero()
}

#[test]
fn values_that_cannot_vanish_are_recognised() {
    let never = [
        "1 + x^2",
        "exp(x)",
        "2 + cos(x)",
        "sqrt(x^2 + 1)",
        "K",
        "K*L/M",
        "K + 3*k3*x^2",
        "cosh(x)",
        "1/K",
        "1 - tanh(x)^2",
        "abs(x) + K",
        "K^2 + x^4",
        "2 - sin(x)^2",
        "exp(-x) + x^2",
        "K*exp(x/K)",
        "1/(1 + x^2)",
        "atan(x) + 2",
        "if(x > 0, K, 2*K)",
        "max(x, 1)",
        "K^x",
        "3 - tanh(x)",
        "sqrt(K)",
        "K^(1/3)",
        "pi",
        "1/x^2",
        "K*L + M",
        "-K - L",
        "x^2 + 1/3",
        "acos(x) + 1/10",
    ];
    for text in never {
        assert!(!can_vanish(text), "{text} cannot vanish");
    }
}

#[test]
fn values_that_can_vanish_are_not_excluded() {
    let sometimes = [
        "cos(x)",
        "x^2",
        "x",
        "K - L",
        "sin(x)",
        "x^3",
        "1 + cos(x)",
        "abs(x)",
        "tanh(x)",
        "if(x > 0, K, 0)",
        "sqrt(x)",
        "1 - x^2",
        "exp(x) - 1",
        "max(x, 0)",
        "tan(x)",
        "ln(K)",
        "sign(x)",
        "K*x",
        "atan2(x, y)",
        "min(K, x)",
    ];
    for text in sometimes {
        assert!(can_vanish(text), "{text} can vanish");
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn enclosures_hold_every_value(
        which in 0usize..26, a in -6.0..6.0f64, b in -6.0..6.0f64, t in 0.0..=1.0f64, c in -3.0..3.0f64, d in -3.0..3.0f64, u in 0.0..=1.0f64
    ) {
        let formulas = [
            "sin(x)", "cos(x)", "tan(x)", "asin(x)", "acos(x)", "atan(x)", "atan2(x, y)", "sinh(x)", "cosh(x)", "tanh(x)",
            "asinh(x)", "acosh(x)", "atanh(x)", "exp(x)", "ln(x)", "log10(x)", "sqrt(x)", "abs(x)", "sign(x)", "min(x, y)",
            "max(x, y)", "x*y - x/y + 1/3", "x^3*y^2 - x^(-3)", "x^y + x^(2/3)", "if(x > y, x + 1, y - x)", "(x + y)^4/(1 + x^2)",
        ];
        let mut pool = Pool::new();
        let e = parse(&mut pool, formulas[which]);
        let (x, y) = (pool.symbol("x"), pool.symbol("y"));
        let range = pool.range(e, &|s| if s == x { Interval::closed(a, b) } else { Interval::closed(c, d) });
        let (vx, vy) = (a + t * (b - a), c + u * (d - c));
        if let Ok(value) = pool.eval(e, &|s| Some(if s == x { vx } else if s == y { vy } else { 0.0 })) {
            prop_assert!(range.contains(value), "{} at {vx}, {vy} is {value}, outside {range:?}", formulas[which]);
        }
    }
}
