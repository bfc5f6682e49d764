//! Bounds from below of the structured singular value over frequency, on random models.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use num_complex::Complex64;
use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::frequencies;
use paynter_robust::branch::Limits;
use paynter_robust::stability::{Stability, stability};
use paynter_robust::{Block, Interconnection, Matrix, Weight};

/// A stable random model with real parameters.
fn random_model(seed: u64, states: usize, blocks: &[Block]) -> Interconnection {
    let mut random = Random::new(seed);
    let channels: usize = blocks.iter().map(|block| block.size()).sum();
    let a = Matrix::from_fn(states, states, |_, _| random.symmetric());
    let abscissa = a.abscissa().unwrap();
    let shift = |i: usize, j: usize| if i == j { abscissa + 0.3 } else { 0.0 };
    Interconnection {
        a: Matrix::from_fn(states, states, |i, j| a[(i, j)] - shift(i, j)),
        b: Matrix::from_fn(states, channels, |_, _| random.symmetric()),
        c: Matrix::from_fn(channels, states, |_, _| random.symmetric()),
        d: Matrix::from_fn(channels, channels, |_, _| 0.2 * random.symmetric()),
        blocks: blocks.to_vec(),
        is_projected: false,
    }
}

fn analysed(system: &Interconnection, limits: Option<Limits>) -> Stability {
    stability(system, &frequencies(system), (f64::INFINITY, &[]), limits, &CancellationToken::new()).unwrap()
}

/// The exact value for two real parameters: 1 − aδ₁ − bδ₂ + cδ₁δ₂ = 0 is a quadratic equation for δ₁.
fn exact_of_two(m: &Matrix<Complex64>) -> f64 {
    let (a, b) = (m[(0, 0)], m[(1, 1)]);
    let c = a * b - m[(0, 1)] * m[(1, 0)];
    let (p2, p1, p0) = ((a * c.conj()).im, (-a * b.conj() - c.conj()).im, b.conj().im);
    let root = (p1 * p1 - 4.0 * p2 * p0).sqrt();
    let mut exact = 0.0f64;
    for x in [(-p1 + root) / (2.0 * p2), (-p1 - root) / (2.0 * p2)] {
        let y = (1.0 - a * x) / (b - c * x);
        if x.is_finite() && y.re.is_finite() {
            exact = exact.max(1.0 / x.abs().max(y.re.abs()));
        }
    }
    exact
}

#[test]
fn two_real_parameters_are_attained_at_each_frequency() {
    let (mut judged, mut exact_ones) = (0, 0);
    for seed in 0..40 {
        let system = random_model(seed, 4, &[Block::Real(1), Block::Real(1)]);
        let found = analysed(&system, None);
        for (point, lower) in found.axis.points.iter().zip(&found.attained) {
            assert!(*lower <= point.upper, "seed {seed} at {}: {lower} above {}", point.omega, point.upper);
            if point.omega == 0.0 || point.omega.is_infinite() {
                continue;
            }
            let exact = exact_of_two(&system.at(point.omega).unwrap());
            assert!(*lower <= exact * (1.0 + 1e-6), "seed {seed} at {}: {lower} above {exact}", point.omega);
            if exact > 1e-3 {
                judged += 1;
                exact_ones += usize::from(*lower >= exact * (1.0 - 1e-4));
            }
        }
    }
    assert!(judged > 300 && exact_ones as f64 > 0.97 * f64::from(judged), "{exact_ones} of {judged}");
}

#[test]
fn at_frequency_zero_real_parameters_are_attained() {
    // M(0) is real: with two parameters the least |δ| on the curve 1 − aδ₁ − bδ₂ + cδ₁δ₂ = 0, by a fine search
    // along the boundary of boxes.
    for seed in 100..130 {
        let system = random_model(seed, 3, &[Block::Real(1), Block::Real(1)]);
        let found = analysed(&system, None);
        let m = system.at(0.0).unwrap().map(|x| x.re);
        let value =
            |x: f64, y: f64| (1.0 - m[(0, 0)] * x) * (1.0 - m[(1, 1)] * y) - m[(0, 1)] * m[(1, 0)] * x * y;
        let crosses = |r: f64| {
            let n = 400;
            let along = |k: i32| -r + 2.0 * r * f64::from(k) / f64::from(n);
            (0..=n).any(|k| {
                let s = along(k);
                [value(s, r), value(s, -r), value(r, s), value(-r, s)].iter().any(|v| *v <= 0.0)
            })
        };
        let (mut low, mut high) = (0.0, 1e3);
        if !crosses(high) {
            continue;
        }
        for _ in 0..60 {
            let middle: f64 = 0.5 * (low + high);
            if crosses(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        assert_eq!(found.axis.points[0].omega, 0.0);
        let lower = found.attained[0];
        assert!((lower * high - 1.0).abs() < 1e-2, "seed {seed}: {lower} beside {}", 1.0 / high);
    }
}

#[test]
fn lower_bounds_of_repeated_parameters_are_poles_of_the_model() {
    let mut found_some = 0;
    for seed in 200..225 {
        let blocks: &[Block] = match seed % 3 {
            0 => &[Block::Real(2), Block::Real(1), Block::Real(1)],
            1 => &[Block::Real(1), Block::Real(1), Block::Real(3), Block::Real(1), Block::Real(1)],
            _ => &[Block::Real(1)],
        };
        let system = random_model(seed, 5, blocks);
        let found = analysed(&system, Some(Limits { gap: 1e-3, nodes: 300 }));
        let both = found.axis.points.iter().zip(&found.attained);
        for (point, lower) in both {
            assert!(*lower <= point.upper, "seed {seed}: {lower} above {} at {}", point.upper, point.omega);
            found_some += usize::from(*lower > 0.5 * point.upper && point.upper > 0.05);
        }
        // No table shows more than the margin.
        let most = found.attained.iter().copied().fold(0.0, f64::max);
        let upper = found.upper.unwrap_or(f64::INFINITY);
        assert!(most == 0.0 || upper <= (1.0 + 1e-6) / most, "seed {seed}: {upper} but {most}");
        assert!(
            found.lower <= upper,
            "seed {seed}: {} above {upper}, {:?}",
            found.lower,
            (&found.worst, &found.nodes, found.axis.bound, found.axis.peak)
        );
        if let Some(worst) = &found.worst {
            let moved = system.around(&worst.delta, &[]).unwrap();
            let scale = moved.a.largest();
            assert!(
                !system.is_well_posed(&worst.delta) || moved.a.abscissa().unwrap() > -1e-6 * scale,
                "seed {seed}"
            );
        }
        // Nothing inside what is proved is unstable.
        let mut random = Random::new(seed);
        for _ in 0..300 {
            let size = found.lower.min(1e3) * 0.999;
            let corner = |random: &mut Random| if random.symmetric() > 0.0 { size } else { -size };
            let delta: Vec<f64> = (0..blocks.len()).map(|_| corner(&mut random)).collect();
            assert!(system.is_well_posed(&delta), "seed {seed}: {delta:?}");
            assert!(
                system.around(&delta, &[]).unwrap().a.abscissa().unwrap() < 1e-9,
                "seed {seed}: {delta:?}"
            );
        }
    }
    assert!(found_some > 300, "{found_some}");
}

#[test]
fn a_pole_at_zero_between_parameters_is_set_aside() {
    // v' = −v (1 + δ₁/4), x' = (1 + δ₂/2) v, q' = −q + (1 + δ₃/2) x, and δ₁ is the only loop: x integrates whatever
    // parameters are, though δ₂ drives it and δ₃ reads it.
    let system = Interconnection {
        a: Matrix::from_fn(3, 3, |i, j| [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, -1.0]][i][j]),
        b: Matrix::from_fn(3, 3, |i, j| [[-0.25, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]][i][j]),
        c: Matrix::from_fn(3, 3, |i, j| [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]][i][j]),
        d: Matrix::zeros(3, 3),
        blocks: vec![Block::Real(1); 3],
        is_projected: false,
    };
    let found = analysed(&system, None);
    assert!((found.upper.unwrap() - 4.0).abs() < 1e-6 && found.lower > 3.95, "{found:?}");
    let zero = found.fixed.iter().find(|mode| mode.value == Complex64::ZERO).unwrap();
    assert_eq!(zero.states, [1]);
}

#[test]
fn neglected_dynamics_behind_a_weight() {
    // y = u/(s + 1) with u = Δ W y: stable for all |Δ| ≤ 1/max |W/(s + 1)|.
    let system = Interconnection {
        a: Matrix::from_fn(1, 1, |_, _| -1.0),
        b: Matrix::from_fn(1, 1, |_, _| 1.0),
        c: Matrix::from_fn(1, 1, |_, _| 1.0),
        d: Matrix::zeros(1, 1),
        blocks: Vec::new(),
        is_projected: false,
    };
    for (numerator, denominator) in [
        (vec![0.3], vec![1.0]),
        (vec![0.1, 3.0], vec![1.0, 0.02]),
        (vec![0.0, 5.0, 1.0], vec![100.0, 0.4, 1.0]),
    ] {
        let weight = Weight::new(&numerator, &denominator).unwrap();
        let question = system.with_dynamics(&[weight]).inner();
        let found = analysed(&question, None);
        let polynomial =
            |list: &[f64], s: Complex64| list.iter().rev().fold(Complex64::ZERO, |sum, c| sum * s + c);
        let gain = |omega: f64| {
            let s = Complex64::new(0.0, omega);
            (polynomial(&numerator, s) / polynomial(&denominator, s) / (s + 1.0)).norm()
        };
        let peak =
            (0..200_000).map(|k| gain(10f64.powf(-3.0 + 7.0 * f64::from(k) / 2e5))).fold(0.0, f64::max);
        let bound = found.axis.bound;
        assert!(bound >= peak * (1.0 - 1e-9) && bound <= 1.01 * peak, "{bound} {peak}");
        assert!(found.axis.unresolved.is_empty());
        let upper = found.upper.unwrap();
        assert!(upper * peak >= 1.0 - 1e-6 && upper * peak < 1.02, "{upper} {peak}");
    }
    for (numerator, denominator) in
        [(vec![1.0, 1.0], vec![1.0]), (vec![1.0], vec![-1.0, 1.0]), (vec![0.0], vec![1.0])]
    {
        assert!(Weight::new(&numerator, &denominator).is_err());
    }
}
