//! Worst-case gains.

use num_complex::Complex64;
use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::frequencies;
use paynter_robust::branch::{Limits, branch_gain};
use paynter_robust::gain::worst_gain;
use paynter_robust::{Block, Interconnection, Matrix, Weight};

#[test]
fn the_resonance_of_an_oscillator() {
    // x'' + c x' + x = u, c = 0.4 (1 + 0.5 δ): the peak 1/(c √(1 − c²/4)) is largest at c = 0.2.
    let system = Interconnection {
        a: Matrix::from_fn(2, 2, |i, j| [[0.0, 1.0], [-1.0, -0.4]][i][j]),
        b: Matrix::from_fn(2, 2, |i, j| [[0.0, 0.0], [-0.2, 1.0]][i][j]),
        c: Matrix::from_fn(2, 2, |i, j| [[0.0, 1.0], [1.0, 0.0]][i][j]),
        d: Matrix::zeros(2, 2),
        blocks: vec![Block::Real(1)],
        is_projected: false,
    };
    let question = system.with_performance(&[0], &[0], 1.0);
    let token = CancellationToken::new();
    let found = worst_gain(&question, &frequencies(&question), &token).unwrap();
    let exact = |c: f64| 1.0 / (c * (1.0 - c * c / 4.0).sqrt());
    assert!((found.lower / exact(0.2) - 1.0).abs() < 1e-8, "{found:?}");
    assert!((found.nominal.0 / exact(0.4) - 1.0).abs() < 1e-8);
    assert!(found.axis.bound >= exact(0.2) && found.axis.bound < 1.01 * exact(0.2), "{}", found.axis.bound);
    assert!((found.delta[0] + 1.0).abs() < 1e-12);
}

#[test]
fn bounds_hold_what_samples_show() {
    let token = CancellationToken::new();
    for seed in 0..6 {
        let mut random = Random::new(77 + seed);
        let n = 3;
        // Stable by a dominant diagonal.
        let a = Matrix::from_fn(n, n, |i, j| random.symmetric() - if i == j { 3.0 } else { 0.0 });
        let system = Interconnection {
            a,
            b: Matrix::from_fn(n, 4, |_, _| random.symmetric()),
            c: Matrix::from_fn(4, n, |_, _| random.symmetric()),
            d: Matrix::from_fn(4, 4, |_, _| 0.3 * random.symmetric()),
            blocks: vec![Block::Real(1), Block::Real(2)],
            is_projected: false,
        };
        let question = system.with_performance(&[0], &[0], 1.0);
        let grid = frequencies(&question);
        let found = worst_gain(&question, &grid, &token).unwrap();
        let (closer, _) =
            branch_gain(&question, found.clone(), Limits { gap: 1e-2, nodes: 400 }, &token).unwrap();
        assert!(closer.lower <= closer.axis.bound * (1.0 + 1e-9), "{seed}");
        assert!(closer.lower >= found.lower && closer.axis.bound <= found.axis.bound);
        let mut sampled = 0.0f64;
        for _ in 0..200 {
            let delta = [random.symmetric(), random.symmetric()];
            let closed = system.closed(&delta).unwrap();
            for omega in &grid {
                sampled = sampled.max(closed.at(*omega).unwrap()[(0, 0)].norm());
            }
        }
        assert!(sampled <= closer.axis.bound * (1.0 + 1e-9), "{seed}: {sampled} {}", closer.axis.bound);
        assert!(closer.lower >= 0.99 * sampled, "{seed}: {sampled} {}", closer.lower);
        // What is said to be attained is attained.
        let value = system.closed(&closer.delta).unwrap().at(closer.omega).unwrap()[(0, 0)].norm();
        assert!((value / closer.lower - 1.0).abs() < 1e-9);
    }
}

/// A random model with one uncertain parameter and neglected dynamics at two places, which a third input and output see.
fn with_dynamics(seed: u64) -> Interconnection {
    let mut random = Random::new(seed);
    let n = 3;
    let system = Interconnection {
        a: Matrix::from_fn(n, n, |i, j| random.symmetric() - if i == j { 3.0 } else { 0.0 }),
        b: Matrix::from_fn(n, 4, |_, _| random.symmetric()),
        c: Matrix::from_fn(4, n, |_, _| random.symmetric()),
        d: Matrix::from_fn(4, 4, |_, _| 0.2 * random.symmetric()),
        blocks: vec![Block::Real(1)],
        is_projected: false,
    };
    // The gain is from the first input to the first output; the last two act on themselves.
    system.with_dynamics(&[Weight::from(0.4), Weight::from(0.3)])
}

#[test]
fn gains_count_neglected_dynamics() {
    let token = CancellationToken::new();
    // y = (1 + r Δ) u/(s + 1): the largest gain is 1 + r, at zero.
    let plain = Interconnection {
        a: Matrix::from_fn(1, 1, |_, _| -1.0),
        b: Matrix::from_fn(1, 2, |_, _| 1.0),
        c: Matrix::from_fn(2, 1, |i, _| if i == 0 { 1.0 } else { 0.0 }),
        d: Matrix::from_fn(2, 2, |i, j| if (i, j) == (1, 0) { 1.0 } else { 0.0 }),
        blocks: Vec::new(),
        is_projected: false,
    };
    let question = plain.with_dynamics(&[Weight::from(0.3)]).with_performance(&[0], &[0], 1.0);
    let found = worst_gain(&question, &frequencies(&question), &token).unwrap();
    assert!((found.lower - 1.3).abs() < 1e-9 && (found.nominal.0 - 1.0).abs() < 1e-9, "{found:?}");
    assert!(found.axis.bound >= 1.3 && found.axis.bound < 1.3 * 1.01);
    assert!((found.dynamics[0] - Complex64::ONE).norm() < 1e-9);
    for seed in 900..908 {
        let system = with_dynamics(seed);
        let question = system.with_performance(&[0], &[0], 1.0);
        let grid = frequencies(&question);
        let found = worst_gain(&question, &grid, &token).unwrap();
        assert!(found.lower <= found.axis.bound * (1.0 + 1e-9), "{seed}");
        // Values of Δ on a grid of phases, in the closed loop: none above the bound, none much above what was found.
        let gain = |delta: f64, dynamics: [Complex64; 2], omega: f64| {
            let m = system.closed(&[delta]).unwrap().at(omega).unwrap();
            let z = Matrix::from_fn(2, 2, |i, j| {
                let unit = if i == j { Complex64::ONE } else { Complex64::ZERO };
                unit - m[(i, j)] * dynamics[j]
            });
            let into = z.solve(&Matrix::from_fn(2, 1, |i, _| m[(i, 2)])).unwrap();
            (m[(2, 2)] + (0..2).map(|j| m[(2, j)] * dynamics[j] * into[(j, 0)]).sum::<Complex64>()).norm()
        };
        let mut sampled = 0.0f64;
        for omega in grid.iter().step_by(4) {
            for (a, b) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
                let turn = |k: i32| Complex64::from_polar(1.0, std::f64::consts::TAU * f64::from(k) / 12.0);
                for delta in [-1.0, 0.0, 1.0] {
                    sampled = sampled.max(gain(delta, [turn(a), turn(b)], *omega));
                }
            }
        }
        assert!(sampled <= found.axis.bound * (1.0 + 1e-9), "{seed}: {sampled} {}", found.axis.bound);
        assert!(found.lower >= 0.99 * sampled, "{seed}: {sampled} {}", found.lower);
        // What is said to be attained is attained by the values told.
        let value = gain(found.delta[0], [found.dynamics[0], found.dynamics[1]], found.omega);
        assert!((value / found.lower - 1.0).abs() < 1e-6, "{seed}: {value} {}", found.lower);
        assert!(found.lower >= found.nominal.0);
    }
}
