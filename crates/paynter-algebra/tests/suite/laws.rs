//! Properties of random expressions: construction keeps values, derivatives are limits of quotients, text is read back.

use crate::common;

use common::{cases, parse};
use paynter_algebra::{Cmp, Expr, Func, Pool, Symbol, Target};
use proptest::prelude::*;

/// An expression as written, before any simplification.
#[derive(Clone, Debug)]
enum Tree {
    Variable(usize),
    Number(i64, i64),
    Pi,
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    Div(Box<Tree>, Box<Tree>),
    Pow(Box<Tree>, Box<Tree>),
    Call(Func, Box<Tree>),
    Call2(Func, Box<Tree>, Box<Tree>),
    Select(Cmp, Box<Tree>, Box<Tree>, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 4] = ["x", "y", "a", "b2"];
const FUNCTIONS: [Func; 19] = [
    Func::Sin,
    Func::Cos,
    Func::Tan,
    Func::Asin,
    Func::Acos,
    Func::Atan,
    Func::Sinh,
    Func::Cosh,
    Func::Tanh,
    Func::Asinh,
    Func::Acosh,
    Func::Atanh,
    Func::Exp,
    Func::Ln,
    Func::Log10,
    Func::Sqrt,
    Func::Abs,
    Func::Sign,
    Func::Sqrt,
];
const COMPARISONS: [Cmp; 6] = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Eq, Cmp::Ne];

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        5 => (0..NAMES.len()).prop_map(Tree::Variable),
        3 => (-4i64..5, 1i64..4).prop_map(|(n, d)| Tree::Number(n, d)),
        1 => Just(Tree::Pi),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            3 => pair.clone().prop_map(|(a, b)| Tree::Add(a.into(), b.into())),
            2 => pair.clone().prop_map(|(a, b)| Tree::Sub(a.into(), b.into())),
            3 => pair.clone().prop_map(|(a, b)| Tree::Mul(a.into(), b.into())),
            2 => pair.clone().prop_map(|(a, b)| Tree::Div(a.into(), b.into())),
            2 => (inner.clone(), -3i64..4, 1i64..4).prop_map(|(a, n, d)| Tree::Pow(a.into(), Tree::Number(n, d).into())),
            1 => pair.clone().prop_map(|(a, b)| Tree::Pow(a.into(), b.into())),
            4 => (0..FUNCTIONS.len(), inner.clone()).prop_map(|(f, a)| Tree::Call(FUNCTIONS[f], a.into())),
            1 => (0..3usize, pair.clone()).prop_map(|(f, (a, b))| {
                Tree::Call2([Func::Min, Func::Max, Func::Atan2][f], a.into(), b.into())
            }),
            1 => (0..6usize, pair.clone(), pair).prop_map(|(op, (a, b), (c, d))| {
                Tree::Select(COMPARISONS[op], a.into(), b.into(), c.into(), d.into())
            }),
        ]
    })
}

fn build(pool: &mut Pool, tree: &Tree) -> Expr {
    match tree {
        Tree::Variable(i) => {
            let s = pool.symbol(NAMES[*i]);
            pool.var(s)
        }
        Tree::Number(n, d) => {
            let (n, d) = (pool.int(*n), pool.int(*d));
            pool.div(n, d)
        }
        Tree::Pi => pool.pi(),
        Tree::Call(f, a) => {
            let a = build(pool, a);
            pool.call(*f, &[a])
        }
        Tree::Select(op, a, b, c, d) => {
            let [a, b, c, d] = [a, b, c, d].map(|t| build(pool, t));
            let condition = pool.compare(*op, a, b);
            pool.select(condition, c, d)
        }
        Tree::Add(a, b)
        | Tree::Sub(a, b)
        | Tree::Mul(a, b)
        | Tree::Div(a, b)
        | Tree::Pow(a, b)
        | Tree::Call2(_, a, b) => {
            let (x, y) = (build(pool, a), build(pool, b));
            match tree {
                Tree::Add(..) => pool.add(x, y),
                Tree::Sub(..) => pool.sub(x, y),
                Tree::Mul(..) => pool.mul(x, y),
                Tree::Div(..) => pool.div(x, y),
                Tree::Call2(f, ..) => pool.call(*f, &[x, y]),
                _ => pool.pow(x, y),
            }
        }
    }
}

/// Evaluates as written, with a bound of the rounding error; not a number where anything is undefined.
fn naive(tree: &Tree, at: &[f64]) -> (f64, f64) {
    let unary = |f: &dyn Fn(f64) -> f64, (x, ex): (f64, f64)| {
        let value = f(x);
        let error = (f(x + ex) - value).abs().max((f(x - ex) - value).abs());
        (value, error + 1e-15 * (1.0 + value.abs()))
    };
    let nothing = (f64::NAN, f64::NAN);
    let (value, error) = match tree {
        Tree::Variable(i) => (at[*i], 0.0),
        Tree::Number(n, d) => (*n as f64 / *d as f64, 1e-16),
        Tree::Pi => (std::f64::consts::PI, 2e-16),
        Tree::Add(a, b) | Tree::Sub(a, b) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            let value = if matches!(tree, Tree::Add(..)) { x + y } else { x - y };
            (value, ex + ey + 4e-16 * (x.abs() + y.abs()))
        }
        Tree::Mul(a, b) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            (x * y, x.abs() * ey + y.abs() * ex + ex * ey + 4e-16 * (x * y).abs())
        }
        Tree::Div(a, b) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            if y.abs() <= 2.0 * ey {
                return nothing;
            }
            (x / y, (ex + (x / y).abs() * ey) / (y.abs() - ey) + 4e-16 * (x / y).abs())
        }
        Tree::Pow(a, b) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            let integer = matches!(**b, Tree::Number(n, d) if n % d == 0);
            if !x.is_finite() || !y.is_finite() {
                return nothing;
            }
            // A fractional power of a negative number, even of one that should be zero, is undefined.
            if (!integer && x < 2.0 * ex) || (x.abs() <= 2.0 * ex && y <= 0.0) {
                return nothing;
            }
            let f = |x: f64, y: f64| if integer { x.powi(y as i32) } else { x.powf(y) };
            let value = f(x, y);
            let error = [f(x + ex, y), f(x - ex, y), f(x, y + ey), f(x, y - ey)]
                .iter()
                .map(|v| (v - value).abs())
                .sum::<f64>();
            (value, error + 1e-15 * value.abs())
        }
        Tree::Call(f, a) => {
            let x = naive(a, at);
            match f {
                Func::Sin => unary(&f64::sin, x),
                Func::Cos => unary(&f64::cos, x),
                Func::Tan => unary(&f64::tan, x),
                Func::Asin => unary(&f64::asin, x),
                Func::Acos => unary(&f64::acos, x),
                Func::Atan => unary(&f64::atan, x),
                Func::Sinh => unary(&f64::sinh, x),
                Func::Cosh => unary(&f64::cosh, x),
                Func::Tanh => unary(&f64::tanh, x),
                Func::Asinh => unary(&f64::asinh, x),
                Func::Acosh => unary(&f64::acosh, x),
                Func::Atanh => unary(&f64::atanh, x),
                Func::Exp => unary(&f64::exp, x),
                Func::Ln => unary(&f64::ln, x),
                Func::Log10 => unary(&f64::log10, x),
                Func::Sqrt => unary(&f64::sqrt, x),
                Func::Abs => unary(&f64::abs, x),
                Func::Sign if x.0.abs() <= 2.0 * x.1 => nothing,
                Func::Sign => unary(&f64::signum, x),
                _ => nothing,
            }
        }
        Tree::Call2(f, a, b) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            let error = ex + ey + 1e-15;
            match f {
                Func::Min => (if x < y { x } else { y }, error + 0.0 * (x + y)),
                Func::Max => (if x > y { x } else { y }, error + 0.0 * (x + y)),
                _ if x.abs() <= 2.0 * ex || x.hypot(y) < 1e-6 => nothing,
                _ => (x.atan2(y), error / x.hypot(y)),
            }
        }
        Tree::Select(op, a, b, c, d) => {
            let ((x, ex), (y, ey)) = (naive(a, at), naive(b, at));
            if (x - y).abs() <= 2.0 * (ex + ey) {
                return nothing;
            }
            match x.partial_cmp(&y) {
                Some(ordering) => naive(if op.holds(ordering) { c } else { d }, at),
                None => nothing,
            }
        }
    };
    if value.is_finite() && error.is_finite() { (value, error) } else { nothing }
}

fn lookup(pool: &Pool, at: &[f64]) -> impl Fn(Symbol) -> Option<f64> + use<> {
    let names = pool.clone();
    let at = at.to_vec();
    move |s| NAMES.iter().position(|name| *name == names.name(s)).map(|i| at[i])
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn construction_keeps_the_value(tree in tree(), at in prop::array::uniform4(-2.5..2.5f64)) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &tree);
        let (value, error) = naive(&tree, &at);
        if value.is_finite() && error < 1e-3 {
            let found = pool.eval(e, &lookup(&pool, &at));
            // A simplified form may be better conditioned, but also round differently.
            let near = found.is_ok_and(|v| (v - value).abs() <= 20.0 * error + 1e-9 * (1.0 + value.abs()));
            prop_assert!(near, "{} is {found:?}, not {value} +- {error}", pool.display(e));
        }
    }

    #[test]
    fn text_is_read_back(tree in tree()) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &tree);
        let text = pool.display(e).to_string();
        let again = parse(&mut pool, &text);
        prop_assert!(e == again || pool.equal(e, again), "{text} is read as {}", pool.display(again));
    }

    #[test]
    fn derivatives_are_slopes(tree in tree(), at in prop::array::uniform4(-2.5..2.5f64)) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &tree);
        let x = pool.symbol("x");
        let d = pool.diff(e, x);
        let h = 1e-4;
        let shifted = |steps: f64| {
            let mut near = at;
            near[0] += steps * h;
            naive(&tree, &near)
        };
        let samples = [-2.0, -1.0, 1.0, 2.0].map(shifted);
        if samples.iter().all(|(v, e)| v.is_finite() && *e < 1e-12) {
            let [a, b, c, d2] = samples.map(|(v, _)| v);
            let coarse = (d2 - a) / (4.0 * h);
            let fine = (c - b) / (2.0 * h);
            // Where both differences agree the function is smooth enough to compare with.
            if (coarse - fine).abs() < 1e-6 * (1.0 + fine.abs()) {
                let slope = (4.0 * fine - coarse) / 3.0;
                if let Ok(found) = pool.eval(d, &lookup(&pool, &at)) {
                    prop_assert!((found - slope).abs() < 1e-5 * (1.0 + slope.abs()), "slope of {} is {slope}, not {found} = {}", pool.display(e), pool.display(d));
                }
            }
        }
    }

    #[test]
    fn ranges_hold_random_values(tree in tree(), at in prop::array::uniform4(-2.5..2.5f64), width in prop::array::uniform4(0.0..2.0f64)) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &tree);
        let values = lookup(&pool, &at);
        let widths = lookup(&pool, &width);
        let range = pool.range(e, &|s| {
            let (v, w) = (values(s).unwrap_or(0.0), widths(s).unwrap_or(0.0));
            paynter_algebra::Interval::closed(v - w, v + w * 0.5)
        });
        if let Ok(value) = pool.eval(e, &values) {
            let (_, error) = naive(&tree, &at);
            let slack = if error.is_finite() { 20.0 * error } else { 1e-6 * (1.0 + value.abs()) } + 1e-12 * (1.0 + value.abs());
            prop_assert!(range.lo() - slack <= value && value <= range.hi() + slack, "{} is {value}, outside {range:?}", pool.display(e));
        }
    }
}

/// Expressions with numbers of any size and undefined parts.
fn wild() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => (0..NAMES.len()).prop_map(Tree::Variable),
        2 => (-3i64..4, 1i64..3).prop_map(|(n, d)| Tree::Number(n, d)),
        1 => (any::<i64>(), 1..i64::MAX).prop_map(|(n, d)| Tree::Number(n, d)),
        1 => Just(Tree::Number(1, 0)),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            2 => pair.clone().prop_map(|(a, b)| Tree::Add(a.into(), b.into())),
            3 => pair.clone().prop_map(|(a, b)| Tree::Mul(a.into(), b.into())),
            2 => pair.clone().prop_map(|(a, b)| Tree::Div(a.into(), b.into())),
            4 => pair.clone().prop_map(|(a, b)| Tree::Pow(a.into(), b.into())),
            4 => (0..FUNCTIONS.len(), inner.clone()).prop_map(|(f, a)| Tree::Call(FUNCTIONS[f], a.into())),
            1 => (0..3usize, pair.clone()).prop_map(|(f, (a, b))| {
                Tree::Call2([Func::Min, Func::Max, Func::Atan2][f], a.into(), b.into())
            }),
            1 => (0..6usize, pair.clone(), pair).prop_map(|(op, (a, b), (c, d))| {
                Tree::Select(COMPARISONS[op], a.into(), b.into(), c.into(), d.into())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn nothing_panics(tree in wild()) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &tree);
        let x = pool.symbol("x");
        let y = pool.symbol("y");
        let d = pool.diff(e, x);
        let twice = pool.diff(d, y);
        for e in [e, d, twice] {
            let _ = pool.eval(e, &|_| Some(0.0));
            let range = pool.range(e, &|_| paynter_algebra::Interval::ALL);
            prop_assert!(!range.lo().is_nan() && !range.hi().is_nan());
            let _ = pool.is_zero(e);
            let _ = pool.linear_parts(e, &[x, y]);
            for target in [Target::Text, Target::Latex, Target::MathMl, Target::Python, Target::Matlab, Target::C, Target::Julia] {
                prop_assert!(!pool.print(e, target).to_string().is_empty());
            }
        }
        let _ = pool.collect(e, x);
        let _ = pool.solve_for(e, x, &|_| paynter_algebra::Interval::ALL);
        let _ = pool.solve_for(e, y, &|_| paynter_algebra::Interval::POSITIVE);
    }
}

/// The smallest and the largest of several are taken one after the other.
#[test]
fn extremes_of_several_are_values() {
    let mut pool = Pool::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| {
        let symbol = pool.symbol(name);
        pool.var(symbol)
    });
    let numbers = [3.0, -1.0, 7.0, 2.0];
    let symbols = [a, b, c, d].map(|e| pool.as_symbol(e).unwrap());
    let value = |symbol| symbols.iter().position(|s| *s == symbol).map(|k| numbers[k]);
    for (f, wanted) in [(Func::Min, -1.0), (Func::Max, 7.0)] {
        let e = pool.call(f, &[a, b, c, d]);
        assert_eq!(pool.eval(e, &value), Ok(wanted));
        let [one, two, three] = [1, 2, 3].map(|n| pool.int(n));
        let known = pool.call(f, &[two, one, three]);
        assert_eq!(known, if f == Func::Min { one } else { three });
        let alone = pool.call(f, &[a]);
        assert!(pool.eval(alone, &value).is_err());
    }
}
