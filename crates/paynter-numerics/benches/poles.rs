//! Times of poles: exact roots by order, eigenvalues of large matrices in
//! floating point: `cargo bench -p paynter-numerics --bench poles`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use paynter_algebra::Rational;
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{Matrices, Sparse, eigenvalues};
use paynter_numerics::poles::spectrum;
use std::time::Instant;

/// A chain of n masses (2n states), force on the first, position of the last, in decimal numbers.
fn chain(n: usize) -> Matrices<Rational> {
    let number = |value: i64| Rational::from(value) / Rational::from(1000);
    let (m, k, b) = (
        |i: usize| number(1000 + 7 * (i as i64 % 13)),
        |i: usize| number(100_000 + 1234 * (i as i64 % 11)),
        |i: usize| number(500 + 3 * (i as i64 % 5)),
    );
    let mut a = Sparse::new(2 * n, 2 * n);
    // States: momenta 0..n, stretches n..2n; the last spring is fixed to a wall.
    for i in 0..n {
        let mut own = b(i);
        if i > 0 {
            own += b(i - 1);
            a.entries.push((i, i - 1, b(i - 1) / m(i - 1)));
            a.entries.push((i, n + i - 1, k(i - 1)));
        }
        a.entries.push((i, i, -own / m(i)));
        if i + 1 < n {
            a.entries.push((i, i + 1, b(i) / m(i + 1)));
            a.entries.push((n + i, i + 1, -Rational::ONE / m(i + 1)));
        }
        a.entries.push((i, n + i, -k(i)));
        a.entries.push((n + i, i, Rational::ONE / m(i)));
    }
    a.entries.sort_by_key(|(i, j, _)| (*i, *j));
    Matrices {
        a,
        b: vec![Sparse { rows: 2 * n, columns: 1, entries: vec![(0, 0, Rational::ONE)] }],
        c: Sparse { rows: 1, columns: 2 * n, entries: vec![(0, 2 * n - 1, Rational::ONE)] },
        d: vec![Sparse::new(1, 1)],
    }
}

fn floating(m: &Sparse<Rational>) -> Sparse {
    let entries = m.entries.iter().map(|(i, j, v)| (*i, *j, v.to_f64().value())).collect();
    Sparse { rows: m.rows, columns: m.columns, entries }
}

fn main() {
    for n in [2, 5, 10, 20, 30] {
        let exact = chain(n);
        let plain = Matrices {
            a: floating(&exact.a),
            b: exact.b.iter().map(floating).collect(),
            c: floating(&exact.c),
            d: exact.d.iter().map(floating).collect(),
        };
        let clock = Instant::now();
        let found = spectrum(&plain, Some(&exact), &[(0, 0)], &CancellationToken::new()).unwrap();
        println!(
            "exact, {:>4} states  {:>9.4} s  {} poles",
            2 * n,
            clock.elapsed().as_secs_f64(),
            found.poles.len()
        );
    }
    for n in [100, 500, 1000] {
        let a = floating(&chain(n).a);
        let clock = Instant::now();
        let found = eigenvalues(&a).unwrap();
        println!(
            "dense, {:>4} states  {:>9.4} s  {} poles",
            2 * n,
            clock.elapsed().as_secs_f64(),
            found.len()
        );
    }
}
