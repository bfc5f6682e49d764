//! A sweep of one parameter of a chain of 100 masses through `Model::with`:
//! `cargo bench -p paynter --bench with`.
//!
//! What a value costs beside the numbers asked for is held against loading the model.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its results")]

use paynter::simulate::{Sensitivities, SimulateOptions};
use paynter::{BodeOptions, CancellationToken, Frequencies, LoadOptions, MemoryWorld, Model};
use std::fmt::Write;
use std::time::Instant;

const MASSES: usize = 100;
const VALUES: usize = 1_000;

/// A chain of masses, springs and dampers, each with parameters of its own.
fn chain() -> String {
    let mut text = String::from("model chain {\n    input F = 1 [N]\n    Se push = F\n    push -> motion0\n");
    for i in 0..MASSES {
        let _ = write!(
            text,
            "    param m{i} = 1.5 [kg] ±10%\n    param k{i} = 2e3 [N/m]\n    param b{i} = 0.5 [N*s/m]\n    \
             1 motion{i}; 0 force{i}; 1 stretch{i}\n    I mass{i} = m{i}\n    C spring{i} = 1/k{i}\n    \
             R damper{i} = b{i}\n    motion{i} -> mass{i}, force{i}\n    force{i} -> stretch{i}\n    \
             stretch{i} -> spring{i}, damper{i}\n"
        );
        if i > 0 {
            let _ = writeln!(text, "    force{} -> motion{i}", i - 1);
        }
    }
    let last = MASSES - 1;
    let _ = write!(text, "    Sf wall = 0\n    force{last} -> wall\n    output x = spring{last}.q [m]\n}}\n");
    text
}

/// Seconds that some work takes, the least of several times.
fn seconds<T>(times: usize, mut work: impl FnMut() -> T) -> f64 {
    let once = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..times).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let token = CancellationToken::new();
    let world = MemoryWorld::new().with("chain.bg", chain());
    let load = || {
        let model = Model::load(&world, "chain.bg", &LoadOptions::default());
        assert!(!model.findings(&token).unwrap().has_errors());
        model
    };
    let choice =
        BodeOptions { omega: Some(Frequencies { low: 1.0, high: 10.0, points: 2 }), ..Default::default() };
    let loading = seconds(5, load);
    let model = load();
    model.bode(&choice, &token).unwrap();
    let value = |k: usize| 1.0 + k as f64 / VALUES as f64;
    let with = seconds(3, || {
        for k in 0..VALUES {
            std::hint::black_box(model.with([("m50", value(k))]));
        }
    }) / VALUES as f64;
    let asked = seconds(3, || model.with([("m50", value(7))]).bode(&choice, &token).unwrap());
    println!("chain of {MASSES} masses, {} parameters, {VALUES} values of one of them", 3 * MASSES);
    println!("  loading with equations        {:9.1} µs", 1e6 * loading);
    println!(
        "  a value through `with`        {:9.1} µs, {:.2} % of loading",
        1e6 * with,
        100.0 * with / loading
    );
    println!("  with the response at 2 ω      {:9.1} µs", 1e6 * asked);
    simulations(&model, &token);
}

/// What a value costs beside the run itself, with and without sensitivities to four parameters.
fn simulations(model: &Model, token: &CancellationToken) {
    let names = ["m50", "k50", "b50", "m0"].map(str::to_owned).to_vec();
    for (what, sensitivities) in
        [("a run to 0.1 s", Sensitivities::None), ("with 4 sensitivities", Sensitivities::Names(names))]
    {
        let options = SimulateOptions { t_end: Some(0.1), points: 2, sensitivities, ..Default::default() };
        let compiling = seconds(3, || model.clone().with([("F", 1.0)]).simulation(&options, token).unwrap());
        let compiled = model.simulation(&options, token).unwrap();
        let running = seconds(5, || compiled.respond(&compiled.parameters, token));
        let value = |k: usize| 1.0 + k as f64 / VALUES as f64;
        let with = seconds(3, || {
            for k in 0..VALUES {
                std::hint::black_box(model.with([("m50", value(k))]).simulation(&options, token).unwrap());
            }
        }) / VALUES as f64;
        println!(
            "  {what:<28}  {:9.1} µs; compiled {:.1} µs, a value {:.1} µs, {:.1} % of the run",
            1e6 * running,
            1e6 * compiling,
            1e6 * with,
            100.0 * with / running
        );
    }
}
