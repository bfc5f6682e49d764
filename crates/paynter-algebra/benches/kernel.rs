//! Times of the expression kernel, printed one line each: `cargo bench -p paynter-algebra --bench kernel`.
#![allow(clippy::print_stdout, missing_docs)]

use paynter_algebra::{Expr, Func, Interval, Pool};
use std::time::Instant;

fn timed<T>(what: &str, job: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = job();
    println!("{what:58} {:9.2} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn variables(pool: &mut Pool, n: usize) -> Vec<Expr> {
    (0..n)
        .map(|i| {
            let s = pool.symbol(&format!("x{i}"));
            pool.var(s)
        })
        .collect()
}

fn main() {
    let mut pool = Pool::new();
    let x = variables(&mut pool, 1000);
    timed("make 500,000 products and their 500,000 sums", || {
        for i in 0..1000 {
            for j in (i + 1)..1000 {
                let product = pool.mul(x[i], x[j]);
                pool.add(product, x[(i + j) % 1000]);
            }
        }
    });
    println!("{:58} {:9}", "nodes", pool.len());
    timed("make them again", || {
        for i in 0..1000 {
            for j in (i + 1)..1000 {
                let product = pool.mul(x[i], x[j]);
                pool.add(product, x[(i + j) % 1000]);
            }
        }
    });
    let mut pool = Pool::new();
    let x = variables(&mut pool, 100_000);
    let k = pool.symbol("k");
    let vk = pool.var(k);
    let terms: Vec<Expr> = x.iter().map(|x| pool.mul(*x, vk)).collect();
    let sum = timed("sum of 100,000 terms at once", || pool.sum(&terms));
    timed("differentiate it", || pool.diff(sum, k));
    let symbols = pool.symbols(sum);
    timed("its 100,000 linear parts", || {
        let xs: Vec<_> = symbols.iter().copied().filter(|s| *s != k).collect();
        pool.linear_parts(sum, &xs)
    });
    timed("sum of 5,000 terms one by one", || terms[..5000].iter().copied().reduce(|a, b| pool.add(a, b)));
    let mut pool = Pool::new();
    let s = pool.symbol("x");
    let v = pool.var(s);
    let chain = timed("a chain of 100,000 nested operations", || {
        let mut e = v;
        for _ in 0..50_000 {
            e = pool.call(Func::Atan, &[e]);
            e = pool.add(e, v);
        }
        e
    });
    let slope = timed("differentiate it", || pool.diff(chain, s));
    timed("evaluate the derivative", || assert!(pool.eval(slope, &|_| Some(0.5)).is_ok()));
    timed("enclose it", || pool.range(chain, &|_| Interval::POSITIVE));
    timed("write it", || pool.display(chain).to_string().len());
    let mut pool = Pool::new();
    let x = variables(&mut pool, 20);
    let (mut a, mut b) = (x[0], x[1]);
    for i in 0..50_000 {
        let (left, right) = (pool.mul(a, x[i % 20]), pool.mul(b, x[(i * 7) % 20]));
        (a, b) = (b, pool.add(left, right));
    }
    let two = pool.int(2);
    let (sum, difference) = (pool.add(a, b), pool.sub(a, b));
    let (aa, bb) = (pool.pow(a, two), pool.pow(b, two));
    let (product, squares) = (pool.mul(sum, difference), pool.sub(aa, bb));
    timed("zero test on 150,000 nodes", || assert!(pool.equal(product, squares)));
    let mut pool = Pool::new();
    let [e, f, k, r] = ["e", "f", "k", "r"].map(|n| pool.symbol(n));
    let [ve, vf, vk, vr] = [e, f, k, r].map(|s| pool.var(s));
    timed("invert e = k*f*abs(f) + r*f 1,000 times", || {
        for _ in 0..1000 {
            let magnitude = pool.call(Func::Abs, &[vf]);
            let square = pool.product(&[vk, vf, magnitude]);
            let linear = pool.mul(vr, vf);
            let minus_e = pool.neg(ve);
            let law = pool.sum(&[square, linear, minus_e]);
            let known = |s| if s == k || s == r { Interval::POSITIVE } else { Interval::ALL };
            assert!(pool.solve_for(law, f, &known).is_ok());
        }
    });
}
