//! Derivatives by thousands of symbols.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter_algebra::{Expr, Pool, Symbol};

/// Derivatives by thousands of symbols make as many nodes as there are terms, not their square.
#[test]
fn many_derivatives_grow_with_the_expression() {
    let made = |count: usize| {
        let mut pool = Pool::new();
        let symbols: Vec<Symbol> = (0..count).map(|k| pool.symbol(&format!("p{k}"))).collect();
        let x = pool.symbol("x");
        let x = pool.var(x);
        let terms: Vec<Expr> = symbols
            .iter()
            .map(|symbol| {
                let p = pool.var(*symbol);
                pool.product(&[p, p, x])
            })
            .collect();
        let sum = pool.sum(&terms);
        let before = pool.len();
        let swept = pool.derivatives(sum, &symbols);
        let made = pool.len() - before;
        let single: Vec<Expr> = symbols[..3].iter().map(|symbol| pool.diff(sum, *symbol)).collect();
        assert_eq!(swept[..3], single);
        made
    };
    let (few, many) = (made(100), made(1_000));
    assert!(many < 12 * few, "{few} {many}");
}
