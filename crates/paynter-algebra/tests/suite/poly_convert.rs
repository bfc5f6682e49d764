//! Expressions as rational functions and back: values stay, forms are as a person writes them.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::{Basis, Budget, Fraction, PolyError, Work, factor_common, normal};
use paynter_algebra::{Expr, Func, Pool};
use paynter_base::CancellationToken;
use proptest::prelude::*;

/// A recipe for an expression over x, y, z.
#[derive(Debug, Clone)]
enum Recipe {
    Symbol(usize),
    Number(i64, u64),
    Sum(Vec<Recipe>),
    Product(Vec<Recipe>),
    Power(Box<Recipe>, i64),
    Root(Box<Recipe>, i64, u64),
    Call(Func, Box<Recipe>),
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let leaf = prop_oneof![
        3 => (0usize..3).prop_map(Recipe::Symbol),
        1 => (-5i64..6, 1u64..4).prop_map(|(n, d)| Recipe::Number(n, d)),
    ];
    let functions = prop_oneof![
        Just(Func::Sin),
        Just(Func::Cos),
        Just(Func::Exp),
        Just(Func::Abs),
        Just(Func::Cosh),
        Just(Func::Sinh),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Recipe::Sum),
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Recipe::Product),
            2 => (boxed.clone(), -2i64..4).prop_map(|(b, n)| Recipe::Power(b, n)),
            1 => (boxed.clone(), 1i64..4, 2u64..4).prop_map(|(b, n, d)| Recipe::Root(b, n, d)),
            1 => (functions.clone(), boxed).prop_map(|(f, b)| Recipe::Call(f, b)),
        ]
    })
}

fn build(pool: &mut Pool, recipe: &Recipe, symbols: &[Expr]) -> Expr {
    match recipe {
        Recipe::Symbol(i) => symbols[*i],
        Recipe::Number(n, d) => {
            let (n, d) = (pool.int(*n), pool.int(*d as i64));
            pool.div(n, d)
        }
        Recipe::Sum(list) => {
            let list: Vec<Expr> = list.iter().map(|r| build(pool, r, symbols)).collect();
            pool.sum(&list)
        }
        Recipe::Product(list) => {
            let list: Vec<Expr> = list.iter().map(|r| build(pool, r, symbols)).collect();
            pool.product(&list)
        }
        Recipe::Power(base, n) => {
            let (base, n) = (build(pool, base, symbols), pool.int(*n));
            pool.pow(base, n)
        }
        Recipe::Root(base, n, d) => {
            // Squares and one more keep the radicand positive.
            let (base, two, one) = (build(pool, base, symbols), pool.int(2), pool.one());
            let square = pool.pow(base, two);
            let radicand = pool.add(square, one);
            let (n, d) = (pool.int(*n), pool.int(*d as i64));
            let exponent = pool.div(n, d);
            pool.pow(radicand, exponent)
        }
        Recipe::Call(f, argument) => {
            let argument = build(pool, argument, symbols);
            pool.call(*f, &[argument])
        }
    }
}

const POINTS: [[f64; 3]; 4] = [[0.7, 1.3, 0.4], [1.9, -0.6, 0.8], [-1.1, 0.35, 2.2], [0.15, 0.9, -1.4]];

proptest! {
    #[test]
    fn the_normal_form_has_the_same_values(recipe in recipe()) {
        let mut pool = Pool::new();
        let symbols = ["x", "y", "z"].map(|n| pool.symbol(n));
        let variables = symbols.map(|s| pool.var(s));
        let e = build(&mut pool, &recipe, &variables);
        let work = Work::new(Budget { terms: 2000, steps: 3_000_000 }, &CancellationToken::new());
        let Ok(form) = normal(&mut pool, e, &work) else { return Ok(()) };
        let text = format!("{} -> {}", pool.display(e), pool.display(form));
        for point in POINTS {
            let value = |s| symbols.iter().position(|t| *t == s).map(|i| point[i]);
            let (Ok(a), Ok(b)) = (pool.eval(e, &value), pool.eval(form, &value)) else { continue };
            // Expansion costs digits where terms cancel; only gross differences are errors.
            if a.is_finite() && b.is_finite() && a.abs() < 1e6 && a.abs() > 1e-6 {
                prop_assert!((a - b).abs() <= 1e-5 * a.abs(), "{text}: {a} {b}");
            }
        }
        // A second pass changes nothing: the form is canonical for what it says.
        let mut basis = Basis::new(&mut pool, &symbols);
        if let (Ok(f), Ok(g)) = (basis.fraction(&mut pool, e, &work), basis.fraction(&mut pool, form, &work)) {
            let difference = f.sub(&g, &work).unwrap();
            let back = basis.expression(&mut pool, &difference);
            prop_assert!(difference.is_zero() || pool.is_zero(back), "{text}");
        }
    }
}

/// Checks the printed normal form of an expression that `make` builds from a, b, c, x.
fn check(make: impl Fn(&mut Pool, [Expr; 4]) -> Expr, expected: &str) {
    let mut pool = Pool::new();
    let symbols = ["a", "b", "c", "x"].map(|n| {
        let s = pool.symbol(n);
        pool.var(s)
    });
    let e = make(&mut pool, symbols);
    let form = normal(&mut pool, e, &Work::default()).unwrap();
    assert_eq!(pool.display(form).to_string(), expected, "from {}", pool.display(e));
}

fn square(p: &mut Pool, e: Expr) -> Expr {
    p.mul(e, e)
}

#[test]
fn common_factors_cancel() {
    // (a² − b²)/(a − b)
    check(
        |p, [a, b, ..]| {
            let (a2, b2) = (square(p, a), square(p, b));
            let (n, d) = (p.sub(a2, b2), p.sub(a, b));
            p.div(n, d)
        },
        "a + b",
    );
    // 1/a + 1/b
    check(
        |p, [a, b, ..]| {
            let one = p.one();
            let (x, y) = (p.div(one, a), p.div(one, b));
            p.add(x, y)
        },
        "(a + b)/(a*b)",
    );
    // −a/b stays as people write it.
    check(
        |p, [a, b, ..]| {
            let q = p.div(a, b);
            p.neg(q)
        },
        "-a/b",
    );
    // c a + c b
    check(
        |p, [a, b, c, _]| {
            let (x, y) = (p.mul(c, a), p.mul(c, b));
            p.add(x, y)
        },
        "c*(a + b)",
    );
}

#[test]
fn roots_know_their_radicands() {
    // sqrt(a + b)²/(a + b)
    check(
        |p, [a, b, ..]| {
            let sum = p.add(a, b);
            let (root, five) = (p.sqrt(sum), p.int(5));
            let (power, shifted) = (square(p, root), p.mul(five, sum));
            p.div(power, shifted)
        },
        "1/5",
    );
    // (x − 1)/(sqrt(x) − 1)
    check(
        |p, [.., x]| {
            let one = p.one();
            let root = p.sqrt(x);
            let (n, d) = (p.sub(x, one), p.sub(root, one));
            p.div(n, d)
        },
        "sqrt(x) + 1",
    );
    // (x^(1/3))·(x^(1/3))²·a/x
    check(
        |p, [a, _, _, x]| {
            let (one, three) = (p.one(), p.int(3));
            let third = p.div(one, three);
            let root = p.pow(x, third);
            let cube = {
                let s = square(p, root);
                p.mul(s, root)
            };
            let n = p.mul(cube, a);
            p.div(n, x)
        },
        "a",
    );
}

#[test]
fn whole_powers_in_an_exponent_cancel() {
    // (a/(a − b))^(x − 1)·a − (a − b)·(a/(a − b))^x
    check(
        |p, [a, b, _, x]| {
            let one = p.one();
            let gap = p.sub(a, b);
            let (ratio, less) = (p.div(a, gap), p.sub(x, one));
            let (first, second) = (p.pow(ratio, less), p.pow(ratio, x));
            let (first, second) = (p.mul(first, a), p.mul(second, gap));
            p.sub(first, second)
        },
        "0",
    );
}

#[test]
fn a_long_denominator_keeps_its_roots() {
    // The product of the conjugates would have dozens of terms of degree 6 in c.
    check(
        |p, [a, b, c, x]| {
            let (one, two, three) = (p.one(), p.int(2), p.int(3));
            let (half, third) = (p.div(one, two), p.div(one, three));
            let (root, cubic) = (p.pow(a, half), p.pow(b, third));
            let (first, second) = (p.mul(root, c), p.mul(cubic, c));
            let sum = p.sum(&[first, second, root, cubic, x]);
            p.div(one, sum)
        },
        "1/(sqrt(a)*c + b^(1/3)*c + sqrt(a) + b^(1/3) + x)",
    );
}

#[test]
fn squares_of_sine_and_cosine_make_one() {
    check(
        |p, [a, b, _, x]| {
            let (s, c) = (p.call(Func::Sin, &[x]), p.call(Func::Cos, &[x]));
            let (s2, c2, a2) = (square(p, s), square(p, c), square(p, a));
            let (u, v) = (p.mul(a2, s2), p.mul(a2, c2));
            p.sum(&[u, v, b])
        },
        "a^2 + b",
    );
    // A single square stays what it is.
    check(
        |p, [a, _, _, x]| {
            let c = p.call(Func::Cos, &[x]);
            let s = p.call(Func::Sin, &[x]);
            let c2 = square(p, c);
            let n = p.mul(a, c2);
            let ac = p.mul(n, s);
            p.div(ac, s)
        },
        "a*cos(x)^2",
    );
}

#[test]
fn exponentials_multiply() {
    // exp(a + b)·exp(−b)
    check(
        |p, [a, b, ..]| {
            let (sum, minus) = (p.add(a, b), p.neg(b));
            let (u, v) = (p.call(Func::Exp, &[sum]), p.call(Func::Exp, &[minus]));
            p.mul(u, v)
        },
        "exp(a)",
    );
    // x^(a + 1)/x^a
    check(
        |p, [a, _, _, x]| {
            let one = p.one();
            let next = p.add(a, one);
            let (u, v) = (p.pow(x, next), p.pow(x, a));
            p.div(u, v)
        },
        "x",
    );
}

#[test]
fn equal_arguments_make_equal_kernels() {
    // sin((a² − b²)/(a − b)) − sin(a + b)
    check(
        |p, [a, b, ..]| {
            let (a2, b2, sum) = (square(p, a), square(p, b), p.add(a, b));
            let (n, d) = (p.sub(a2, b2), p.sub(a, b));
            let q = p.div(n, d);
            let (u, v) = (p.call(Func::Sin, &[q]), p.call(Func::Sin, &[sum]));
            p.sub(u, v)
        },
        "0",
    );
}

#[test]
fn division_by_what_vanishes_is_an_error() {
    let mut pool = Pool::new();
    let (x, a) = (pool.symbol("x"), pool.symbol("a"));
    let (x, a) = (pool.var(x), pool.var(a));
    let (s, c, one) = (pool.call(Func::Sin, &[x]), pool.call(Func::Cos, &[x]), pool.one());
    let (s2, c2) = (square(&mut pool, s), square(&mut pool, c));
    let sum = pool.add(s2, c2);
    let zero = pool.sub(sum, one);
    let quotient = pool.div(a, zero);
    assert_eq!(normal(&mut pool, quotient, &Work::default()), Err(PolyError::DivisionByZero));
}

#[test]
fn common_factors_come_out_of_sums() {
    let mut pool = Pool::new();
    let [a, b, x] = ["a", "b", "x"].map(|n| {
        let s = pool.symbol(n);
        pool.var(s)
    });
    let (ax, bx) = (pool.mul(a, x), pool.mul(b, x));
    let sum = pool.add(ax, bx);
    let pulled = factor_common(&mut pool, sum);
    assert_eq!(pool.display(pulled).to_string(), "x*(a + b)");
    let (ax, bx) = (pool.div(a, x), pool.div(b, x));
    let sum = pool.add(ax, bx);
    let pulled = factor_common(&mut pool, sum);
    assert_eq!(pool.display(pulled).to_string(), "(a + b)/x");
    let sum = pool.add(ax, b);
    assert_eq!(factor_common(&mut pool, sum), sum);
}

#[test]
fn the_chosen_symbols_come_first() {
    let mut pool = Pool::new();
    let [m, k, s] = ["m", "k", "s"].map(|n| pool.symbol(n));
    let mut basis = Basis::new(&mut pool, &[s]);
    let [m, k, s] = [m, k, s].map(|v| pool.var(v));
    let s2 = square(&mut pool, s);
    let inertia = pool.mul(m, s2);
    let sum = pool.add(inertia, k);
    let fraction = basis.fraction(&mut pool, sum, &Work::default()).unwrap();
    let coefficients = basis.coefficient_expressions(&mut pool, fraction.numerator(), 0);
    assert_eq!(coefficients, [(2, m), (0, k)]);
    assert_eq!(fraction.denominator(), Fraction::one().numerator());
    assert_eq!(basis.expression(&mut pool, &fraction), sum);
}
