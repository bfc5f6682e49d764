//! Linear parts and polynomial coefficients.

use crate::common;

use common::parse;
use paynter_algebra::Pool;

#[test]
fn linear_parts_are_found_without_expansion() {
    let cases = [
        ("R*f + e0", "f", Some("R | e0")),
        ("R*(f + 2*e) - e/L", "f e", Some("R; 2*R - 1/L | 0")),
        ("3", "f", Some("0 | 3")),
        ("-f", "f", Some("-1 | 0")),
        ("(a + b)*(f + c)", "f", Some("a + b | c*(a + b)")),
        ("f^2", "f", None),
        ("f*e", "f e", None),
        ("f*e", "f", Some("e | 0")),
        ("sin(f)", "f", None),
        ("sin(a)*f + cos(b)", "f", Some("sin(a) | cos(b)")),
        ("1/f", "f", None),
    ];
    for (text, names, expected) in cases {
        let mut pool = Pool::new();
        let e = parse(&mut pool, text);
        let symbols: Vec<_> = names.split(' ').map(|n| pool.symbol(n)).collect();
        let found = pool.linear_parts(e, &symbols).map(|(coefficients, rest)| {
            let coefficients: Vec<String> =
                coefficients.iter().map(|c| pool.display(*c).to_string()).collect();
            format!("{} | {}", coefficients.join("; "), pool.display(rest))
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

#[test]
fn linear_parts_of_shared_sums_cost_no_more_than_their_nodes() {
    let mut pool = Pool::new();
    let x = pool.symbol("x");
    let (mut e, k) = (parse(&mut pool, "x + a"), parse(&mut pool, "k"));
    // Each step mentions the one before twice: written out there would be 2^200 terms.
    for _ in 0..200 {
        let product = pool.mul(e, k);
        let square = pool.mul(product, k);
        e = pool.sub(product, square);
    }
    assert!(pool.linear_parts(e, &[x]).is_some());
}

#[test]
fn polynomials_are_collected() {
    let cases = [
        ("(s + a)*(s + b)", Some("a*b; a + b; 1")),
        ("(2*s + 1)^3", Some("1; 6; 12; 8")),
        ("s*(s - 1) - s^2", Some("0; -1")),
        ("s/R + 1", Some("1; 1/R")),
        ("1/s", None),
        ("sin(s)", None),
        ("a", Some("a")),
    ];
    for (text, expected) in cases {
        let mut pool = Pool::new();
        let e = parse(&mut pool, text);
        let s = pool.symbol("s");
        let found = pool.collect(e, s).map(|coefficients| {
            let coefficients: Vec<String> =
                coefficients.iter().map(|c| pool.display(*c).to_string()).collect();
            coefficients.join("; ")
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}
