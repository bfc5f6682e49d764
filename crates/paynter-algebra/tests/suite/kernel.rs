//! The kernel's promises: normal forms, exactness, safety.

use paynter_algebra::{Cmp, EvalError, Expr, Func, Pool};

/// Checks how an expression built by `build` prints.
fn check(build: impl Fn(&mut Pool, Expr, Expr, Expr) -> Expr, expected: &str) {
    let mut pool = Pool::new();
    let [x, y, z] = ["x", "y", "z"].map(|n| {
        let s = pool.symbol(n);
        pool.var(s)
    });
    let e = build(&mut pool, x, y, z);
    assert_eq!(pool.display(e).to_string(), expected);
}

#[test]
fn like_terms_and_powers_collect() {
    check(|p, x, _, _| p.add(x, x), "2*x");
    check(
        |p, x, _, _| {
            let two = p.int(2);
            let s = p.pow(x, two);
            p.mul(x, s)
        },
        "x^3",
    );
    check(|p, x, _, _| p.div(x, x), "1");
    check(
        |p, x, y, _| {
            let s = p.add(x, y);
            p.sub(x, s)
        },
        "-y",
    );
    check(
        |p, x, _, _| {
            let r = p.sqrt(x);
            p.mul(r, r)
        },
        "x",
    );
    check(
        |p, x, y, _| {
            let r = p.mul(x, y);
            let r = p.sqrt(r);
            let r = p.mul(r, r);
            p.mul(r, x)
        },
        "x^2*y",
    );
    check(
        |p, x, _, _| {
            let third = p.decimal("3").unwrap();
            let one = p.one();
            let t = p.div(one, third);
            let r = p.pow(x, t);
            p.pow(r, third)
        },
        "x",
    );
    check(
        |p, x, y, _| {
            let a = p.call(Func::Exp, &[x]);
            let b = p.call(Func::Exp, &[y]);
            p.div(a, b)
        },
        "exp(x - y)",
    );
}

#[test]
fn constants_fold_exactly() {
    check(|p, _, _, _| p.decimal("5e-3").unwrap(), "1/200");
    check(|p, _, _, _| p.decimal("2.4").unwrap(), "12/5");
    check(
        |p, _, _, _| {
            let four = p.int(4);
            p.sqrt(four)
        },
        "2",
    );
    check(
        |p, _, _, _| {
            let a = p.decimal("0.25").unwrap();
            p.sqrt(a)
        },
        "1/2",
    );
    check(
        |p, _, _, _| {
            let two = p.int(2);
            let a = p.sqrt(two);
            let one = p.one();
            p.div(one, a)
        },
        "sqrt(2)/2",
    );
    check(
        |p, _, _, _| {
            let pi = p.pi();
            p.call(Func::Sin, &[pi])
        },
        "0",
    );
    check(
        |p, _, _, _| {
            let pi = p.pi();
            let six = p.int(6);
            let a = p.div(pi, six);
            p.call(Func::Sin, &[a])
        },
        "1/2",
    );
    check(
        |p, x, _, _| {
            let m = p.neg(x);
            p.call(Func::Sin, &[m])
        },
        "-sin(x)",
    );
    check(
        |p, x, _, _| {
            let m = p.neg(x);
            p.call(Func::Cos, &[m])
        },
        "cos(x)",
    );
    check(
        |p, x, y, _| {
            let (a, b) = (p.int(1), p.int(2));
            let c = p.compare(Cmp::Lt, a, b);
            p.select(c, x, y)
        },
        "x",
    );
}

#[test]
fn printing_is_minimal() {
    check(
        |p, x, y, _| {
            let q = p.div(x, y);
            p.neg(q)
        },
        "-x/y",
    );
    check(
        |p, x, y, z| {
            let q = p.div(x, y);
            p.div(q, z)
        },
        "x/(y*z)",
    );
    check(
        |p, x, y, z| {
            let s = p.add(x, y);
            p.mul(s, z)
        },
        "z*(x + y)",
    );
    check(|p, x, y, _| p.sub(y, x), "y - x");
    check(
        |p, x, _, _| {
            let m = p.int(-2);
            p.pow(x, m)
        },
        "1/x^2",
    );
    check(
        |p, x, y, _| {
            let q = p.div(x, y);
            let two = p.int(3);
            let half = p.div(two, x);
            p.pow(q, half)
        },
        "(x/y)^(3/x)",
    );
    check(
        |p, x, _, _| {
            let a = p.decimal("2.4").unwrap();
            p.mul(a, x)
        },
        "12*x/5",
    );
}

#[test]
fn undefined_values_are_reported() {
    let mut pool = Pool::new();
    let x = pool.symbol("x");
    let vx = pool.var(x);
    let (zero, one) = (pool.zero(), pool.one());
    let huge = pool.int(1_000_000_000);
    let two = pool.int(2);
    let cases = [
        pool.div(one, zero),
        pool.pow(zero, zero),
        pool.pow(two, huge),
        {
            let u = pool.div(one, zero);
            pool.mul(zero, u)
        },
        {
            let i = pool.div(one, vx);
            let m = pool.neg(i);
            pool.call(Func::Exp, &[m])
        },
        {
            let m = pool.int(-4);
            pool.sqrt(m)
        },
        {
            let l = pool.call(Func::Ln, &[vx]);
            pool.mul(l, l)
        },
    ];
    for e in cases {
        assert!(matches!(pool.eval(e, &|_| Some(0.0)), Err(EvalError::NotFinite(_))), "{}", pool.display(e));
    }
    let c = pool.compare(Cmp::Gt, vx, zero);
    let inverse = pool.div(one, vx);
    let guarded = pool.select(c, inverse, two);
    assert_eq!(pool.eval(guarded, &|_| Some(0.0)), Ok(2.0));
    assert_eq!(pool.eval(guarded, &|_| None), Err(EvalError::Unbound(x)));
}

#[test]
fn deep_chains_do_not_overflow() {
    let mut pool = Pool::new();
    let s = pool.symbol("x");
    let x = pool.var(s);
    let mut e = x;
    for _ in 0..50_000 {
        e = pool.call(Func::Atan, &[e]);
        e = pool.add(e, x);
    }
    let d = pool.diff(e, s);
    assert!(pool.eval(d, &|_| Some(0.1)).is_ok());
    let y = pool.symbol("y");
    let vy = pool.var(y);
    let replaced = pool.substitute(e, &[(s, vy)].into_iter().collect());
    assert!(pool.depends_on(replaced, y) && !pool.depends_on(replaced, s));
    assert!(pool.display(e).to_string().len() > 300_000);
}
