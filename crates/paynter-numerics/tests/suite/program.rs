//! Programs agree with the algebra's own evaluation on random expressions.

use num_complex::Complex64;
use paynter_algebra::{Cmp, Expr, Func, Pool, Symbol};
use paynter_numerics::CompileError;
use paynter_numerics::program::{Hold, Program, Table, Tables};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::rng::Rng;

const FUNCTIONS: [Func; 21] = [
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
    Func::Atan2,
    Func::Min,
    Func::Max,
];

/// Grows a list of expressions out of each other, so that much is shared.
fn grow(pool: &mut Pool, symbols: &[Symbol], rng: &mut Rng, count: usize, rational: bool) -> Vec<Expr> {
    let mut list: Vec<Expr> = symbols.iter().map(|s| pool.var(*s)).collect();
    for i in [-2, -1, 2, 3] {
        list.push(pool.int(i));
    }
    while list.len() < count {
        let pick = |rng: &mut Rng| list[rng.below(list.len())];
        let (a, b, c) = (pick(rng), pick(rng), pick(rng));
        let e = match rng.below(if rational { 5 } else { 9 }) {
            0 => pool.sum(&[a, b, c]),
            1 => pool.product(&[a, b, c]),
            2 => pool.sub(a, b),
            3 => pool.div(a, b),
            4 => {
                let n = pool.int(rng.within(0, 6) as i64 - 3);
                pool.pow(a, n)
            }
            5 => {
                let f = FUNCTIONS[rng.below(FUNCTIONS.len())];
                pool.call(f, &[a, b][..f.arity()])
            }
            6 => {
                let n = pool.int(rng.within(1, 5) as i64);
                let d = pool.int(rng.within(2, 4) as i64);
                let e = pool.div(n, d);
                let size = pool.call(Func::Abs, &[a]);
                pool.pow(size, e)
            }
            7 => {
                let op = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Eq, Cmp::Ne][rng.below(6)];
                let (first, second) = (pool.compare(op, a, b), pool.compare(Cmp::Lt, b, c));
                let both = if rng.chance(0.5) { pool.and(first, second) } else { pool.or(first, second) };
                let condition = if rng.chance(0.5) { pool.not(both) } else { both };
                pool.select(condition, b, c)
            }
            _ => {
                let size = pool.call(Func::Abs, &[a]);
                let power = pool.pow(size, b);
                let log = pool.call(Func::Ln, &[size]);
                pool.mul(power, log)
            }
        };
        list.push(e);
    }
    list
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-12)
}

#[test]
fn programs_agree_with_the_algebra() {
    let mut compared = 0;
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let mut pool = Pool::new();
        let symbols: Vec<Symbol> = ["a", "b", "c", "x", "y"].iter().map(|name| pool.symbol(name)).collect();
        let roots = grow(&mut pool, &symbols, &mut rng, 40, false);
        let values: Vec<f64> = symbols.iter().map(|_| 3.0 * rng.unit() - 0.5).collect();
        let plain = Program::compile(&pool, &roots, &symbols).unwrap();
        let staged = Program::staged(&pool, &roots, &symbols[..3], &symbols[3..]).unwrap();
        let (mut work, mut out, mut out2) = (Vec::new(), vec![0.0; roots.len()], vec![0.0; roots.len()]);
        plain.run(&values, &mut work, &mut out);
        let tables = Tables::default();
        let mut registers = Vec::new();
        staged.prepare(&values[..3], &tables, &mut registers, &mut out2);
        // A second run in the same registers gives the same results.
        for _ in 0..2 {
            staged.run_prepared(&values[3..], &tables, &mut registers, &mut out2);
        }
        let lanes: Vec<[f64; 3]> = values.iter().map(|v| [0.5, *v, 1.5]).collect();
        let (mut lane_work, mut lane_out) = (Vec::new(), vec![[0.0; 3]; roots.len()]);
        plain.run_lanes(&lanes, &tables, &mut lane_work, &mut lane_out);
        for (k, root) in roots.iter().enumerate() {
            let value = |s: Symbol| symbols.iter().position(|t| *t == s).map(|i| values[i]);
            let Ok(expected) = pool.eval(*root, &value) else { continue };
            // Where a small change of the arguments is felt, so is rounding.
            let nearby = |s: Symbol| value(s).map(|v| v * (1.0 + 1e-12));
            if expected.abs() > 1e8 || !pool.eval(*root, &nearby).is_ok_and(|moved| close(moved, expected)) {
                continue;
            }
            let text = pool.display(*root).to_string();
            assert!(close(out[k], expected), "seed {seed}: {text} is {expected}, not {}", out[k]);
            assert!(close(out2[k], expected), "staged, seed {seed}: {text} is {expected}, not {}", out2[k]);
            assert!(lane_out[k][1].to_bits() == out[k].to_bits(), "lanes, seed {seed}: {text}");
            compared += 1;
        }
    }
    demand("finite values", compared, 5_000, 300);
}

/// A program that runs often becomes machine code, which must not show in any bit.
#[cfg(feature = "jit")]
#[test]
fn machine_code_gives_the_same_bits() {
    // The last one is long enough to be divided into functions.
    for (seed, count) in (0..12).map(|seed| (seed, 60)).chain([(12, 4000)]) {
        let mut rng = Rng::new(seed);
        let mut pool = Pool::new();
        let symbols: Vec<Symbol> = ["a", "b", "c", "x", "y"].iter().map(|name| pool.symbol(name)).collect();
        let roots = grow(&mut pool, &symbols, &mut rng, count, false);
        let program = Program::staged(&pool, &roots, &symbols[..3], &symbols[3..]).unwrap();
        assert!(count < 1000 || program.operations() > 2000, "{} operations", program.operations());
        let (tables, mut registers, mut out) = (Tables::default(), Vec::new(), vec![0.0; roots.len()]);
        let slow: Vec<f64> = (0..3).map(|_| 3.0 * rng.unit() - 0.5).collect();
        program.prepare(&slow, &tables, &mut registers, &mut out);
        let points: Vec<[f64; 2]> =
            (0..7).map(|_| [4.0 * rng.unit() - 2.0, 4.0 * rng.unit() - 2.0]).collect();
        let mut all = |program: &Program| -> Vec<u64> {
            let mut bits = Vec::new();
            for point in points.iter().chain(&[[0.0, 0.0], [f64::NAN, 1.0]]) {
                program.run_prepared(point, &tables, &mut registers, &mut out);
                // One missing number is as good as another.
                bits.extend(out.iter().map(|v| if v.is_nan() { f64::NAN } else { *v }.to_bits()));
            }
            bits
        };
        let before = all(&program);
        assert!(!program.is_machine_code(), "seed {seed} after few runs");
        for _ in 0..500_000 {
            if program.is_machine_code() {
                break;
            }
            all(&program);
        }
        assert!(program.is_machine_code(), "seed {seed} after many runs");
        assert!(before == all(&program), "seed {seed}");
    }
}

#[test]
fn rational_functions_at_complex_arguments() {
    for seed in seeds(100) {
        let mut rng = Rng::new(seed);
        let mut pool = Pool::new();
        let (p, s) = (pool.symbol("p"), pool.symbol("s"));
        let roots = grow(&mut pool, &[p, s], &mut rng, 20, true);
        let program = Program::compile(&pool, &roots, &[p, s]).unwrap();
        let at = |s: Complex64| {
            let (mut work, mut out) = (Vec::new(), vec![Complex64::default(); roots.len()]);
            program.run_complex(&[Complex64::new(0.7, 0.0), s], &mut work, &mut out);
            out
        };
        let (above, below) = (at(Complex64::new(0.3, 1.1)), at(Complex64::new(0.3, -1.1)));
        let real = at(Complex64::new(0.3, 0.0));
        for (k, root) in roots.iter().enumerate() {
            // Conjugate arguments have conjugate values, and real ones are those of the algebra.
            if above[k].is_finite() {
                assert!((above[k] - below[k].conj()).norm() <= 1e-9 * above[k].norm().max(1e-9));
            }
            if let Ok(expected) = pool.eval(*root, &|x| Some(if x == p { 0.7 } else { 0.3 })) {
                assert!(close(real[k].re, expected), "{}", pool.display(*root));
            }
        }
    }
}

#[test]
fn a_symbol_that_is_no_argument_is_named() {
    let mut pool = Pool::new();
    let (a, b) = (pool.symbol("a"), pool.symbol("valve.k"));
    let (x, y) = (pool.var(a), pool.var(b));
    let sum = pool.add(x, y);
    assert_eq!(Program::compile(&pool, &[sum], &[a]), Err(CompileError::Unbound("valve.k".into())));
}

#[test]
fn tables_are_read_at_their_argument() {
    let mut pool = Pool::new();
    let t = pool.symbol("t");
    let time = pool.var(t);
    let reading = pool.call(Func::Table(0), &[time]);
    let two = pool.int(2);
    let twice = pool.mul(two, reading);
    let program = Program::compile(&pool, &[twice], &[t]).unwrap();
    let table = Table::new(vec![0.0, 2.0], vec![1.0, 5.0], Hold::Linear).unwrap();
    let (mut work, mut out) = (Vec::new(), [0.0]);
    program.run_with(&[0.5], &Tables::new(vec![table]), &mut work, &mut out);
    assert_eq!(out[0], 4.0);
}

#[test]
fn a_power_times_its_logarithm_has_its_limit_at_zero() {
    let mut pool = Pool::new();
    let (x, a) = (pool.symbol("x"), pool.symbol("a"));
    let (base, exponent) = (pool.var(x), pool.var(a));
    let power = pool.pow(base, exponent);
    let slope = pool.diff(power, a);
    let program = Program::compile(&pool, &[slope], &[x, a]).unwrap();
    let (mut work, mut out) = (Vec::new(), [1.0]);
    program.run(&[0.0, 0.5], &mut work, &mut out);
    assert_eq!(out[0], 0.0);
}

#[test]
fn depth_does_not_matter() {
    let mut pool = Pool::new();
    let x = pool.symbol("x");
    let var = pool.var(x);
    let mut e = var;
    for _ in 0..50_000 {
        let inner = pool.call(Func::Sin, &[e]);
        let one = pool.one();
        let shifted = pool.add(inner, one);
        e = pool.div(var, shifted);
    }
    let program = Program::compile(&pool, &[e], &[x]).unwrap();
    assert!(program.registers() < 20, "{} registers", program.registers());
    let (mut work, mut out) = (Vec::new(), [0.0]);
    program.run(&[1.2], &mut work, &mut out);
    assert!(out[0].is_finite());
}

/// Cube roots are right to about the last place, and where they have no other value.
#[test]
fn cube_roots() {
    let mut pool = Pool::new();
    let x = pool.symbol("x");
    let (var, one, three) = (pool.var(x), pool.one(), pool.int(3));
    let third = pool.div(one, three);
    let root = pool.pow(var, third);
    let program = Program::compile(&pool, &[root], &[x]).unwrap();
    let at = |x: f64| {
        let mut out = [0.0];
        program.run(&[x], &mut Vec::new(), &mut out);
        out[0]
    };
    for i in 0..200_000 {
        let x = 10f64.powf(0.0029 * f64::from(i) - 290.0);
        let (found, exact) = (at(x), x.cbrt());
        assert!((found - exact).abs() <= 2.0 * f64::EPSILON * exact, "{x:e}: {found} {exact}");
    }
    assert_eq!([0.0, 1.0, 8.0, f64::INFINITY].map(at), [0.0, 1.0, 2.0, f64::INFINITY]);
    assert_eq!(at(1e-310), 1e-310f64.cbrt());
    assert!(at(-8.0).is_nan() && at(f64::NAN).is_nan());
}

/// A power beside its logarithm is calculated from that, and is the power wherever that has a value.
#[test]
fn powers_beside_logarithms() {
    let mut pool = Pool::new();
    let names = ["x", "a"].map(|name| pool.symbol(name));
    let [x, a] = names.map(|symbol| pool.var(symbol));
    let power = pool.pow(x, a);
    let log = pool.call(Func::Ln, &[x]);
    let program = Program::compile(&pool, &[power, log], &names).unwrap();
    let at = |x: f64, a: f64| {
        let mut out = [0.0; 2];
        program.run(&[x, a], &mut Vec::new(), &mut out);
        out[0]
    };
    for (x, a) in [(0.3, 0.7), (2.0, 10.0), (1e-9, 1.5), (7.3, -2.2), (3.0, 60.0), (1e200, 1.4), (1.0, 1e300)]
    {
        let exact = f64::powf(x, a);
        assert!((at(x, a) - exact).abs() <= 2e-14 * exact, "{x}^{a}: {} {exact}", at(x, a));
    }
    // The logarithm has no value here, the power has.
    for (x, a) in [(0.0, 0.0), (0.0, 2.0), (-2.0, 3.0), (f64::INFINITY, 0.0)] {
        assert_eq!(at(x, a), f64::powf(x, a));
    }
}
