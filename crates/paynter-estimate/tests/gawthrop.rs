//! The example of Gawthrop 2000, section 4: two conical tanks from (2, 1, 1, 2), with the paper's Euler step.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::Model;
use paynter_estimate::{EstimateOptions, Method};

const TANKS: &str = include_str!("../../../examples/conical_tanks.bg");
const TRUTH: [f64; 4] = [0.5, 0.25, 1.5, 1.0];

fn options(model: &mut Model, start: [f64; 4]) -> EstimateOptions {
    let times: Vec<f64> = (0..=1000).map(|k| k as f64 / 100.0).collect();
    let names = ["V1", "V2", "alpha", "beta"];
    EstimateOptions {
        data: vec![model.measure(&times, "euler", Some(0.01), &mut |_, y| y)],
        fit: names.map(str::to_owned).to_vec(),
        start: names.iter().zip(start).map(|(name, value)| ((*name).to_owned(), value)).collect(),
        method: Method::GaussNewton,
        solver: "euler".to_owned(),
        step: Some(0.01),
        ..EstimateOptions::default()
    }
}

#[test]
fn gauss_newton_converges_as_in_the_paper() {
    let mut model = Model::new(TANKS);
    // The first full step asks for a negative volume: a simulation that fails.
    let options = options(&mut model, [2.0, 1.0, 1.0, 2.0]);
    let found = model.estimate(&options).unwrap();
    assert!(found.stop.is_converged());
    assert_eq!((found.history.len() - 1, found.simulations), (7, 10), "{:#?}", found.history);
    assert!(found.history[1].control == 0.5);
    for (estimate, truth) in found.estimates.iter().zip(TRUTH) {
        assert!((estimate.value - truth).abs() < 1e-8, "{} {}", estimate.name, estimate.value);
    }
    assert_eq!(found.after.rank, 4);
}

/// Of seeded starts in the region around the truth, how many reach the truth.
fn reached(method: Method, starts: usize, count: u64) -> usize {
    let mut model = Model::new(TANKS);
    let region = [(0.1, 3.0), (0.05, 2.0), (0.8, 3.0), (0.3, 3.0)];
    let reached = (0..count).filter(|seed| {
        let mut random = paynter_base::random::Random::sample(1, *seed);
        let start = region.map(|(low, high)| low + random.unit() * (high - low));
        let options = EstimateOptions { method, starts, seed: *seed, ..options(&mut model, start) };
        let found = model.estimate(&options);
        found.is_ok_and(|found| {
            found.estimates.iter().zip(TRUTH).all(|(e, truth)| (e.value - truth).abs() < 1e-4)
        })
    });
    reached.count()
}

#[test]
fn most_starts_reach_the_truth() {
    let count = paynter_testkit::property::seeds(40).count() as u64;
    let paper = reached(Method::GaussNewton, 1, count);
    let damped = reached(Method::LevenbergMarquardt, 1, count);
    println!(
        "of {count} starts Gauss-Newton reaches the truth from {paper}, Levenberg-Marquardt from {damped}"
    );
    // Starts that let the flow between the tanks turn round, where the law is infinitely steep, end there.
    assert!(paper as f64 >= 0.6 * count as f64 && damped >= paper);
}
