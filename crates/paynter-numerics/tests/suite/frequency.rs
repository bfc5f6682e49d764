//! Random linear bond graphs: polynomials, poles, frequency responses and
//! their sensitivities against the acausal equations of the test kit.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{Case, cases, slope};
use paynter_algebra::{Rational as Exact, Symbol};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{
    Complex64, Integers, Matrices, Polynomials, Sparse, characteristic, eigenvalues, roots,
};
use paynter_numerics::poles::spectrum;
use paynter_numerics::sensitivity::frequency;
use paynter_numerics::sweep::{Pencil, response};
use paynter_testkit::number::{Number, Rational};
use paynter_testkit::property::demand;
use std::collections::BTreeMap;

fn exact(case: &Case, values: &BTreeMap<Symbol, Exact>) -> Option<Matrices<Exact>> {
    Matrices::exact(&case.derived.pool, &case.derived.space, &|symbol| values.get(&symbol).cloned()).ok()
}

fn floating(matrices: &Matrices<Exact>) -> Matrices {
    let plain = |m: &Sparse<Exact>| Sparse {
        rows: m.rows,
        columns: m.columns,
        entries: m.entries.iter().map(|(i, j, v)| (*i, *j, v.to_f64().value())).collect(),
    };
    Matrices {
        a: plain(&matrices.a),
        b: matrices.b.iter().map(plain).collect(),
        c: plain(&matrices.c),
        d: matrices.d.iter().map(plain).collect(),
    }
}

/// The numbers that floating point keeps of exact ones.
fn rounded(matrices: &Matrices<Exact>) -> Matrices<Exact> {
    let back = |m: &Sparse<Exact>| Sparse {
        rows: m.rows,
        columns: m.columns,
        entries: m
            .entries
            .iter()
            .map(|(i, j, v)| (*i, *j, Exact::try_from(v.to_f64().value()).unwrap()))
            .collect(),
    };
    Matrices {
        a: back(&matrices.a),
        b: matrices.b.iter().map(back).collect(),
        c: back(&matrices.c),
        d: matrices.d.iter().map(back).collect(),
    }
}

/// As good as floating point can be: what rounding the matrices changes tells how ill-conditioned it is.
fn bound(true_value: Complex64, after_rounding: Complex64) -> f64 {
    1e-10 * true_value.norm() + 1000.0 * (true_value - after_rounding).norm() + 1e-14
}

fn number((re, im): (Exact, Exact)) -> Complex64 {
    Complex64::new(re.to_f64().value(), im.to_f64().value())
}

fn all_entries(matrices: &Matrices<Exact>) -> Vec<(usize, usize)> {
    (0..matrices.outputs()).flat_map(|o| (0..matrices.inputs()).map(move |i| (o, i))).collect()
}

fn polynomials(matrices: &Matrices<Exact>) -> Polynomials {
    characteristic(matrices, &all_entries(matrices), &CancellationToken::new()).unwrap()
}

/// p(jω) as real and imaginary part.
fn on_the_axis(p: &Integers, omega: &Exact) -> (Exact, Exact) {
    let (mut re, mut im) = (Exact::ZERO, Exact::ZERO);
    for c in p.iter().rev() {
        (re, im) = (-(&im * omega) + Exact::from(c.clone()), re * omega);
    }
    (re, im)
}

/// H(jω), exactly, unless a pole lies there.
fn transfer_on_axis(p: &Polynomials, entry: usize, omega: &Exact) -> Option<(Exact, Exact)> {
    let (_, _, scale, numerator) = &p.numerators[entry];
    let (a, b) = on_the_axis(numerator, omega);
    let (c, d) = on_the_axis(&p.denominator, omega);
    let size = (&c * &c + &d * &d) * Exact::from(scale.clone());
    if size.is_zero() {
        return None;
    }
    Some(((&a * &c + &b * &d) / &size, (&b * &c - &a * &d) / &size))
}

#[test]
fn polynomials_equal_the_acausal_ones() {
    let mut judged = 0;
    for case in cases(80) {
        let Some(matrices) = exact(&case, &case.values) else { continue };
        let found = polynomials(&matrices);
        let Some(expected) = case.pencil.characteristic() else { continue };
        let leading = Exact::from(found.denominator.last().unwrap().clone());
        let monic: Vec<Exact> = found.denominator.iter().map(|c| Exact::from(c.clone()) / &leading).collect();
        let expected: Vec<Exact> = expected.into_iter().map(|c| c.0).collect();
        assert_eq!(monic, expected, "seed {}\n{}", case.seed, case.text);
        let s = Rational::ratio(7, 3);
        let Some(transfer) = case.pencil.transfer(&s) else { continue };
        let at =
            |p: &Integers| p.iter().rev().fold(Exact::ZERO, |sum, c| sum * &s.0 + Exact::from(c.clone()));
        for (output, input, scale, numerator) in &found.numerators {
            let value = at(numerator) / (at(&found.denominator) * Exact::from(scale.clone()));
            assert_eq!(value, transfer[*output][*input].0, "seed {}\n{}", case.seed, case.text);
        }
        judged += 1;
    }
    demand("models judged", judged, 50, 80);
}

#[test]
fn roots_are_roots_and_eigenvalues() {
    let mut judged = 0;
    for case in cases(80) {
        let Some(matrices) = exact(&case, &case.values) else { continue };
        let p = characteristic(&matrices, &[], &CancellationToken::new()).unwrap().denominator;
        let found = roots(&p, &CancellationToken::new()).unwrap().unwrap();
        let count: usize = found.iter().map(|root| root.multiplicity).sum();
        assert_eq!(Some(count), case.pencil.order(), "seed {}\n{}", case.seed, case.text);
        let coefficients: Vec<f64> = p.iter().map(|c| c.to_f64().value()).collect();
        for root in found.iter().filter(|root| root.multiplicity == 1) {
            let (mut value, mut size) = (Complex64::ZERO, 0.0);
            for c in coefficients.iter().rev() {
                value = value * root.value + c;
                size = size * root.value.norm() + c.abs();
            }
            assert!(value.norm() <= 1e-12 * size, "seed {}: {}\n{}", case.seed, root.value, case.text);
        }
        // A root of multiplicity m moves by the m-th root of rounding.
        let scale = found.iter().map(|root| root.value.norm()).fold(1e-300, f64::max);
        for value in eigenvalues(&floating(&matrices).a).unwrap() {
            let near = |root: &paynter_numerics::linalg::Root| {
                (root.value - value).norm() <= scale * 1e-4f64.powf(1.0 / root.multiplicity as f64)
            };
            assert!(found.iter().any(near), "seed {}: {value} {found:?}\n{}", case.seed, case.text);
        }
        judged += 1;
    }
    demand("models judged", judged, 50, 80);
}

#[test]
fn responses_equal_the_exact_ones() {
    let mut judged = 0;
    for case in cases(80) {
        let Some(matrices) = exact(&case, &case.values) else { continue };
        let (p, q) = (polynomials(&matrices), polynomials(&rounded(&matrices)));
        let spectrum = spectrum(
            &floating(&matrices),
            Some(&matrices),
            &all_entries(&matrices),
            &CancellationToken::new(),
        );
        let spectrum = spectrum.unwrap();
        assert!(spectrum.exact, "seed {}", case.seed);
        let omega: Vec<Exact> =
            [(1, 1000), (1, 7), (5, 3), (11, 1), (700, 1), (100_000, 1), (3, 1), (1, 2), (9, 5)]
                .iter()
                .map(|(n, d)| Rational::ratio(*n, *d).0)
                .collect();
        let numbers: Vec<f64> = omega.iter().map(|w| w.to_f64().value()).collect();
        let found =
            response(&Pencil::new(&floating(&matrices)), &numbers, &CancellationToken::new()).unwrap();
        for (k, omega) in omega.iter().enumerate() {
            for entry in 0..p.numerators.len() {
                let Some(expected) = transfer_on_axis(&p, entry, omega).map(number) else { continue };
                let Some(near) = transfer_on_axis(&q, entry, omega).map(number) else { continue };
                let value = found.values[k][entry];
                // Factors that are exact in every digit lose next to nothing.
                let factored = spectrum.entries[entry].at(numbers[k]);
                assert!(
                    (factored - expected).norm() <= 1e-11 * expected.norm() + 1e-300,
                    "seed {}: {factored} {expected} at {omega}\n{}",
                    case.seed,
                    case.text
                );
                let error = (value - expected).norm();
                assert!(
                    error <= bound(expected, near),
                    "seed {}: {value} {expected} at {omega}\n{}",
                    case.seed,
                    case.text
                );
            }
        }
        judged += 1;
    }
    demand("models judged", judged, 50, 80);
}

#[test]
fn sensitivities_equal_differences_in_many_digits() {
    let mut judged = 0;
    for mut case in cases(40) {
        let Some(matrices) = exact(&case, &case.values) else { continue };
        let symbols: Vec<Symbol> = case.values.keys().copied().collect();
        let derivatives: Vec<Matrices> =
            symbols.iter().map(|symbol| derivative(&mut case, *symbol)).collect();
        let omega = Rational::ratio(13, 6).0;
        let numbers = [omega.to_f64().value()];
        let found =
            frequency(&floating(&matrices), &derivatives, &numbers, &CancellationToken::new()).unwrap();
        let base = polynomials(&matrices);
        let near = rounded(&matrices);
        let near_base = polynomials(&near);
        let step = Exact::ONE / Exact::from(1_000_000_007u64).pow(3);
        for (parameter, symbol) in symbols.iter().enumerate() {
            let mut moved = case.values.clone();
            *moved.get_mut(symbol).unwrap() += &step;
            let Some(moved) = exact(&case, &moved).map(|m| polynomials(&m)) else { continue };
            let near_moved = polynomials(&shifted(&near, &derivatives[parameter], &step));
            for (entry, (output, input, ..)) in base.numerators.iter().enumerate() {
                let difference = |before: &Polynomials, after: &Polynomials| {
                    let before = transfer_on_axis(before, entry, &omega)?;
                    let after = transfer_on_axis(after, entry, &omega)?;
                    Some(number(((after.0 - before.0) / &step, (after.1 - before.1) / &step)))
                };
                let Some(expected) = difference(&base, &moved) else { continue };
                let Some(rough) = difference(&near_base, &near_moved) else { continue };
                let value = found.derivative(*output, *input, parameter, 0);
                assert!(
                    (value - expected).norm() <= bound(expected, rough),
                    "seed {}: {value} {expected} by {}\n{}",
                    case.seed,
                    case.derived.pool.name(*symbol),
                    case.text
                );
            }
        }
        judged += 1;
    }
    demand("models judged", judged, 25, 40);
}

/// M + step·∂M/∂p
fn shifted(matrices: &Matrices<Exact>, slopes: &Matrices, step: &Exact) -> Matrices<Exact> {
    let add = |(m, slopes): (&Sparse<Exact>, &Sparse)| Sparse {
        rows: m.rows,
        columns: m.columns,
        entries: m
            .entries
            .iter()
            .zip(&slopes.entries)
            .map(|((i, j, v), (_, _, slope))| (*i, *j, v + step * Exact::try_from(*slope).unwrap()))
            .collect(),
    };
    Matrices {
        a: add((&matrices.a, &slopes.a)),
        b: matrices.b.iter().zip(&slopes.b).map(add).collect(),
        c: add((&matrices.c, &slopes.c)),
        d: matrices.d.iter().zip(&slopes.d).map(add).collect(),
    }
}

/// ∂A/∂p, ∂B/∂p, ∂C/∂p, ∂D/∂p.
fn derivative(case: &mut Case, by: Symbol) -> Matrices {
    let space = case.derived.space.clone();
    let mut matrix = |m: &paynter_equations::Sparse| Sparse {
        rows: m.rows,
        columns: m.columns,
        entries: m.entries.iter().map(|(i, j, e)| (*i, *j, slope(case, *e, by))).collect(),
    };
    Matrices {
        a: matrix(&space.a),
        b: space.b.iter().map(&mut matrix).collect(),
        c: matrix(&space.c),
        d: space.d.iter().map(&mut matrix).collect(),
    }
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let mut case = cases(60).max_by_key(|case| case.derived.equations.states.len()).unwrap();
    let matrices = floating(&exact(&case, &case.values).unwrap());
    let symbols: Vec<Symbol> = case.values.keys().copied().collect();
    let derivatives: Vec<Matrices> = symbols.iter().map(|symbol| derivative(&mut case, *symbol)).collect();
    let omega: Vec<f64> = (0..100).map(|k| 0.01 * 1.2f64.powi(k)).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found =
            pool.install(|| frequency(&matrices, &derivatives, &omega, &CancellationToken::new()).unwrap());
        let mut bits = Vec::new();
        for k in 0..omega.len() {
            for p in 0..symbols.len() {
                let value = found.derivative(0, 0, p, k);
                bits.push((value.re.to_bits(), value.im.to_bits()));
            }
        }
        bits
    };
    assert_eq!(run(1), run(3));
}

/// Masses on springs have nothing on the diagonal of A: at rest they have a response all the same.
#[test]
fn a_spring_holds_a_load_at_rest() {
    let sparse =
        |rows, columns, entries: &[(usize, usize, f64)]| Sparse { rows, columns, entries: entries.to_vec() };
    let (m, b, k) = (2.0, 0.4, 8.0);
    let matrices = Matrices {
        a: sparse(2, 2, &[(0, 0, -b / m), (0, 1, -k), (1, 0, 1.0 / m)]),
        b: vec![sparse(2, 1, &[(0, 0, 1.0)])],
        c: sparse(1, 2, &[(0, 1, 1.0)]),
        d: vec![sparse(1, 1, &[])],
    };
    let by_k = Matrices {
        a: sparse(2, 2, &[(0, 1, -1.0)]),
        b: vec![sparse(2, 1, &[])],
        c: sparse(1, 2, &[]),
        d: vec![sparse(1, 1, &[])],
    };
    for omega in [vec![0.0], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]] {
        let found =
            frequency(&matrices, std::slice::from_ref(&by_k), &omega, &CancellationToken::new()).unwrap();
        assert!((found.transfer(0, 0, 0) - 1.0 / k).norm() < 1e-15, "{}", found.transfer(0, 0, 0));
        assert!((found.derivative(0, 0, 0, 0) + 1.0 / (k * k)).norm() < 1e-15);
    }
}
