//! Our sparse factorisations beside those of faer on the same matrices, one
//! thread each: of M = 1 − γJ, factorised again and again by an implicit
//! integrator, and of jω − A, once for every frequency. `cargo run --release`.

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, c64};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{Factors, Form, Matrices, Pattern, Sparse};
use paynter_numerics::sweep::{Pencil, response};
use std::hint::black_box;
use std::time::Instant;

/// The state matrix of a chain of masses on springs with dampers: momenta, then elongations.
fn chain(n: usize) -> Vec<(usize, usize, f64)> {
    let (mass, spring, damper) = (1.0, 4.0, 0.1);
    let mut entries = Vec::new();
    for i in 0..n {
        let next = usize::from(i + 1 < n) as f64;
        entries.push((i, i, -(damper + next * damper) / mass));
        entries.push((i, n + i, -spring));
        entries.push((n + i, i, 1.0 / mass));
        if i > 0 {
            entries.push((i, i - 1, damper / mass));
            entries.push((n + i, i - 1, -1.0 / mass));
        }
        if i + 1 < n {
            entries.push((i, i + 1, damper / mass));
            entries.push((i, n + i + 1, spring));
        }
    }
    entries.sort_by_key(|(i, j, _)| (*i, *j));
    entries
}

/// The time of one call in microseconds: the best of several rounds.
fn time(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < 0.1 {
            work();
            calls += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(calls));
    }
    1e6 * best
}

fn main() {
    println!("microseconds; ours / faer / ratio");
    for n in [5, 50, 500] {
        let size = 2 * n;
        let entries = chain(n);
        let places: Vec<(usize, usize)> = entries.iter().map(|(i, j, _)| (*i, *j)).collect();
        let values: Vec<f64> = entries.iter().map(|(_, _, value)| *value).collect();
        let pattern = Pattern::new(size, size, &places);
        let mut factors = Factors::analyse(&pattern);
        let form = Form { unit: 1.0, scale: -0.01, least: 1e-11 };
        let mut right = vec![1.0; size];
        let ours = time(|| {
            factors.factorise(&pattern, &values, form).unwrap();
            right.fill(1.0);
            factors.solve(&mut right);
            black_box(&right);
        });
        let mut shifted: Vec<Triplet<usize, usize, f64>> =
            entries.iter().map(|(i, j, value)| Triplet::new(*i, *j, -0.01 * value)).collect();
        shifted.extend((0..size).map(|i| Triplet::new(i, i, 1.0)));
        let matrix = SparseColMat::try_new_from_triplets(size, size, &shifted).unwrap();
        let symbolic = SymbolicLu::try_new(matrix.symbolic()).unwrap();
        let ones = Mat::from_fn(size, 1, |_, _| 1.0);
        let mut theirs_solution = ones.clone();
        let theirs = time(|| {
            let factors = Lu::try_new_with_symbolic(symbolic.clone(), matrix.as_ref()).unwrap();
            theirs_solution = factors.solve(&ones);
            black_box(&theirs_solution);
        });
        let error = (0..size).map(|i| (right[i] - theirs_solution[(i, 0)]).abs()).fold(0.0, f64::max);
        assert!(error < 1e-10, "the two disagree by {error}");
        println!("1 - hJ, {size} states, factorise and solve: {ours:.1} / {theirs:.1} / {:.1}", theirs / ours);

        let omega: Vec<f64> = (0..200).map(|k| 0.01 * 1.035f64.powi(k)).collect();
        let sparse = |rows, columns, entries| Sparse { rows, columns, entries };
        let matrices = Matrices {
            a: sparse(size, size, entries.clone()),
            b: vec![sparse(size, 1, vec![(0, 0, 1.0)])],
            c: sparse(1, size, vec![(0, size - 1, 1.0)]),
            d: vec![sparse(1, 1, Vec::new())],
        };
        let mut found = Vec::new();
        let ours = time(|| {
            found = response(&Pencil::new(&matrices), &omega, &CancellationToken::new()).unwrap().values;
            black_box(&found);
        });
        let triplets = |omega: f64| -> Vec<Triplet<usize, usize, c64>> {
            let own = entries.iter().map(|(i, j, value)| Triplet::new(*i, *j, c64::new(-value, 0.0)));
            own.chain((0..size).map(|i| Triplet::new(i, i, c64::new(0.0, omega)))).collect()
        };
        let first = SparseColMat::try_new_from_triplets(size, size, &triplets(1.0)).unwrap();
        let symbolic = SymbolicLu::try_new(first.symbolic()).unwrap();
        let input = Mat::from_fn(size, 1, |i, _| c64::new(f64::from(u8::from(i == 0)), 0.0));
        let mut theirs_found = vec![c64::new(0.0, 0.0); omega.len()];
        let systems: Vec<SparseColMat<usize, c64>> = omega
            .iter()
            .map(|omega| SparseColMat::try_new_from_triplets(size, size, &triplets(*omega)).unwrap())
            .collect();
        let theirs = time(|| {
            for (system, value) in systems.iter().zip(&mut theirs_found) {
                let factors = Lu::try_new_with_symbolic(symbolic.clone(), system.as_ref()).unwrap();
                *value = factors.solve(&input)[(size - 1, 0)];
            }
            black_box(&theirs_found);
        });
        for (ours, theirs) in found.iter().zip(&theirs_found) {
            assert!((ours[0] - theirs).norm() <= 1e-8 * theirs.norm() + 1e-200, "the two disagree");
        }
        println!("jw - A, {size} states, 200 frequencies: {ours:.0} / {theirs:.0} / {:.1}", theirs / ours);
    }
}
