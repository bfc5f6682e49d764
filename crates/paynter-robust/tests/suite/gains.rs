//! Worst-case gains.

use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::frequencies;
use paynter_robust::branch::{Limits, branch_gain};
use paynter_robust::gain::worst_gain;
use paynter_robust::{Block, Interconnection, Matrix};

#[test]
fn the_resonance_of_an_oscillator() {
    // x'' + c x' + x = u, c = 0.4 (1 + 0.5 δ): the peak 1/(c √(1 − c²/4)) is largest at c = 0.2.
    let system = Interconnection {
        a: Matrix::from_fn(2, 2, |i, j| [[0.0, 1.0], [-1.0, -0.4]][i][j]),
        b: Matrix::from_fn(2, 2, |i, j| [[0.0, 0.0], [-0.2, 1.0]][i][j]),
        c: Matrix::from_fn(2, 2, |i, j| [[0.0, 1.0], [1.0, 0.0]][i][j]),
        d: Matrix::zeros(2, 2),
        blocks: vec![Block::Real(1)],
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
