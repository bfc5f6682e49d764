//! Proofs of the margin of few real parameters against the exact margin, found by scanning their values.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::frequencies;
use paynter_robust::branch::Limits;
use paynter_robust::stability::{Stability, stability};
use paynter_robust::{Block, Interconnection, Matrix};

/// A stable random model with one real parameter.
fn random_model(seed: u64, states: usize, repeated: usize, direct: f64) -> Interconnection {
    let mut random = Random::new(seed);
    let a = Matrix::from_fn(states, states, |_, _| random.symmetric());
    let abscissa = a.abscissa().unwrap();
    // Some models are hardly damped.
    let damping = 10f64.powf(-3.0 * random.unit());
    let shift = |i: usize, j: usize| if i == j { abscissa + damping } else { 0.0 };
    Interconnection {
        a: Matrix::from_fn(states, states, |i, j| a[(i, j)] - shift(i, j)),
        b: Matrix::from_fn(states, repeated, |_, _| random.symmetric()),
        c: Matrix::from_fn(repeated, states, |_, _| random.symmetric()),
        d: Matrix::from_fn(repeated, repeated, |_, _| direct * random.symmetric()),
        blocks: vec![Block::Real(repeated)],
        is_projected: false,
    }
}

/// The smallest |δ| at which the model is not stable, up to a limit.
fn exact(system: &Interconnection, limit: f64) -> f64 {
    let unstable = |delta: f64| match system.around(&[delta], &[]) {
        _ if !system.is_well_posed(&[delta]) => true,
        Ok(moved) => moved.a.abscissa().unwrap() >= 0.0,
        Err(_) => true,
    };
    let mut least = limit;
    for sign in [-1.0, 1.0] {
        let (mut low, mut high) = (0.0, 1e-4 * limit);
        while high < least && !unstable(sign * high) {
            (low, high) = (high, high * 1.002);
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if unstable(sign * middle) { high = middle } else { low = middle }
        }
        least = least.min(high);
    }
    least
}

fn analysed(system: &Interconnection, limit: f64, limits: Option<Limits>) -> Stability {
    stability(system, &frequencies(system), (limit, &[]), limits, &CancellationToken::new()).unwrap()
}

#[test]
fn the_margin_of_one_parameter_is_proved_and_exact() {
    for seed in 0..90 {
        let states = 1 + (seed as usize * 7) % 5;
        let system = random_model(seed, states, 1, if seed % 2 == 0 { 0.0 } else { 0.3 });
        let wanted = exact(&system, 100.0);
        let found = analysed(&system, 100.0, None);
        assert!(found.axis.unresolved.is_empty(), "seed {seed}: {:?}", found.axis.unresolved);
        assert!(found.lower <= wanted * (1.0 + 1e-6), "seed {seed}: {} above {wanted}", found.lower);
        // The bound is that of the parameter with a thousandth of complex uncertainty, and within one percent.
        assert!(found.lower >= 0.97 * wanted, "seed {seed}: {} far below {wanted}", found.lower);
        if wanted < 99.0 {
            let upper = found.upper.unwrap();
            assert!((upper / wanted - 1.0).abs() < 1e-4, "seed {seed}: {upper} beside {wanted}");
        }
    }
}

#[test]
fn the_margin_of_one_repeated_parameter_is_proved() {
    for seed in 200..230 {
        let states = 2 + (seed as usize * 7) % 3;
        let system = random_model(seed, states, 2, if seed % 2 == 0 { 0.0 } else { 0.3 });
        let wanted = exact(&system, 100.0);
        let found = analysed(&system, 100.0, Some(Limits { gap: 1e-3, nodes: 60 }));
        assert!(found.lower <= wanted * (1.0 + 1e-6), "seed {seed}: {} above {wanted}", found.lower);
        assert!(found.lower >= 0.9 * wanted, "seed {seed}: {} far below {wanted}", found.lower);
    }
}

/// Parameters that act on others in one direction only: the bound is the largest of one of them, not of the way
/// from one to the other.
#[test]
fn a_triangular_model_has_the_bound_of_its_parts() {
    let rows = |list: &[&[f64]]| Matrix::from_fn(list.len(), list[0].len(), |i, j| list[i][j]);
    let system = Interconnection {
        a: rows(&[&[-1.0, 0.0], &[0.0, -2.0]]),
        b: rows(&[&[-0.3, 0.0, 0.0], &[0.0, -0.4, 1e4]]),
        c: rows(&[&[1.0, 0.0], &[1e5, 1.0], &[1.0, 0.0]]),
        d: rows(&[&[-0.1, 0.0, 0.0], &[1e6, -0.2, 1e3], &[1e4, 0.0, -0.1]]),
        blocks: vec![Block::Real(1); 3],
        is_projected: false,
    };
    let found = analysed(&system, 1e6, None);
    // z1 = x1 − w1/10 with x1' = −x1 − 3 w1/10 has −0.4 at rest, and so has z2; z3 is read by z2 alone.
    assert!((found.lower / 2.5 - 1.0).abs() < 0.01, "{}", found.lower);
    assert!((found.upper.unwrap() / 2.5 - 1.0).abs() < 1e-6, "{:?}", found.upper);
}
