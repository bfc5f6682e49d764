//! Time of estimations: the two tanks of Gawthrop 2000 with the paper's Euler step, and a record of 25,000 samples of
//! a Duffing oscillator with five unknowns. `benches/rivals/estimate.py` fits the tanks
//! with SciPy and CasADi. A word after `--` chooses what to measure by its title.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Model, normal};
use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_estimate::{EstimateOptions, Method};
use paynter_simulate::data::Data;
use std::time::Instant;

/// Damped so that it forgets its phase within some swings: one that rings for a hundred of them has a cost with a
/// minimum at every wrong count of swings, and wants a start within one per cent or records in pieces.
const DUFFING: &str = "model duffing { param m = 1; param k = 1; param k3 = 5; param c = 1; input u
    Se push = u; 1 v; I mass = m; C spring { e = k*q + k3*q^3 }; R damper = c
    push -> v; v -> mass, spring, damper; output x = spring.q }";

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn measure(title: &str, model: &mut Model, options: &EstimateOptions) {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if wanted.is_some_and(|word| !title.contains(&word)) {
        return;
    }
    let token = CancellationToken::new();
    let begun = Instant::now();
    let prepared = model.prepare(options).unwrap();
    let compiled = begun.elapsed();
    let mut best = f64::INFINITY;
    let mut found = None;
    let begun = Instant::now();
    let mut runs = 0;
    while runs < 2 || begun.elapsed().as_secs_f64() < 2.0 {
        let start = Instant::now();
        found = Some(prepared.estimate(options, &|_| false, &token).unwrap());
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    let found = found.unwrap();
    let values: Vec<f64> = found.estimates.iter().map(|estimate| estimate.value).collect();
    println!(
        "{title}: {:.3} ms (reading and compiling {:.1} ms), {} iterations, {} simulations, {values:?}",
        1e3 * best,
        1e3 * compiled.as_secs_f64(),
        found.history.len() - 1,
        found.simulations
    );
}

fn main() {
    let mut tanks = Model::new(include_str!("../../../examples/conical_tanks.bg"));
    let times: Vec<f64> = (0..=1000).map(|k| k as f64 / 100.0).collect();
    let data = tanks.measure(&times, "euler", Some(0.01), &mut |_, y| y);
    let start = [("V1", 2.0), ("V2", 1.0), ("alpha", 1.0), ("beta", 2.0)];
    let options = EstimateOptions {
        data: vec![data],
        fit: names(&["V1", "V2", "alpha", "beta"]),
        start: start.map(|(name, value)| (name.to_owned(), value.into())).to_vec(),
        method: Method::GaussNewton,
        solver: "euler".to_owned(),
        step: Some(0.01),
        ..EstimateOptions::default()
    };
    measure("two tanks, Euler", &mut tanks, &options);

    let mut duffing = Model::new(DUFFING);
    let mut random = Random::new(2);
    let (mut text, mut u) = (String::from("t,u,x\n"), 0.0);
    // The inputs first; the outputs are a run of the model on them.
    for k in 0..25_000 {
        u = 0.98 * u + 0.4 * normal(&mut random);
        text.push_str(&format!("{},{u:?},0\n", 0.02 * k as f64));
    }
    let driven = Data { path: "driven.csv".to_owned(), content: text.into_bytes() };
    let data = duffing.respond(&driven, &mut |x| x + 0.01 * normal(&mut random));
    let options = EstimateOptions {
        data: vec![data],
        fit: names(&["m", "k", "k3", "c", "init(spring.q)"]),
        start: [("m", 1.3), ("k", 0.7), ("k3", 3.0), ("c", 2.0)]
            .map(|(name, value)| (name.to_owned(), value.into()))
            .to_vec(),
        ..EstimateOptions::default()
    };
    measure("25,000 samples of a Duffing oscillator", &mut duffing, &options);
    let options = EstimateOptions { solver: "rk4".to_owned(), step: Some(0.02), ..options };
    measure("the same with steps of the Runge-Kutta method", &mut duffing, &options);
}
