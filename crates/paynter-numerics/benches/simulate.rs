//! Time and error of simulations with sensitivities, on the problems that
//! rivals are measured on. `cargo bench -p paynter-numerics --bench simulate`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../tests/zoo/mod.rs"]
mod zoo;

use paynter_numerics::simulate::{Method, Options, Wanted};
use std::time::Instant;
use zoo::{Problem, run, solve, times};

struct Case {
    name: &'static str,
    text: String,
    parameters: Vec<String>,
    end: f64,
    times: Vec<f64>,
    rtol: f64,
    /// By how much values are scaled before errors are compared: 0 for relative to the largest.
    repeats: u32,
}

fn cases() -> Vec<Case> {
    let chain = |n: usize| {
        let names = ["m", "k", "b"].iter().flat_map(|p| (1..=n).map(move |i| format!("{p}{i}"))).collect();
        (zoo::chain(n), names)
    };
    let (chain10, names10) = chain(10);
    let (chain100, names100) = chain(100);
    let decades: Vec<f64> = (0..12).map(|i| 0.4 * 10f64.powi(i)).collect();
    vec![
        Case {
            name: "tanks + 4",
            text: zoo::TANKS.to_owned(),
            parameters: ["V1", "V2", "alpha", "beta"].map(String::from).to_vec(),
            end: 10.0,
            times: times(10.0, 101),
            rtol: 1e-8,
            repeats: 2000,
        },
        Case {
            name: "chain 10 + 30",
            text: chain10,
            parameters: names10,
            end: 20.0,
            times: times(20.0, 101),
            rtol: 1e-6,
            repeats: 100,
        },
        Case {
            name: "chain 100 + 300",
            text: chain100,
            parameters: names100,
            end: 20.0,
            times: times(20.0, 101),
            rtol: 1e-6,
            repeats: 5,
        },
        Case {
            name: "Robertson + 3",
            text: zoo::ROBERTSON.to_owned(),
            parameters: ["p1", "p2", "p3"].map(String::from).to_vec(),
            end: 4e10,
            times: decades,
            rtol: 1e-6,
            repeats: 500,
        },
    ]
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with("--"));
    for case in cases() {
        if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        let start = Instant::now();
        let mut problem = Problem::new(&case.text);
        let names: Vec<&str> = case.parameters.iter().map(String::as_str).collect();
        let wanted = problem.wanted(&names);
        let derived = start.elapsed();
        let start = Instant::now();
        let model = problem.compile(&wanted);
        let compiled = start.elapsed();
        let p = problem.parameters();
        let scale = |lane: usize| match wanted[lane] {
            Wanted::Parameter(i) => p[i].abs(),
            Wanted::Initial(_) => 1.0,
        };
        let stiff = case.name.starts_with("Robertson");
        let base = Options { t_end: case.end, times: case.times.clone(), ..Options::default() };
        let method = if stiff { Method::Stiff } else { Method::Dop853 };
        let exact = solve(&model, &p, &Options { rtol: 1e-10, method, ..base.clone() });
        println!("{}: derived in {derived:.1?}, compiled in {compiled:.1?}", case.name);
        for method in [Method::Auto, Method::Tsit5, Method::Dop853, Method::Stiff] {
            if stiff && matches!(method, Method::Tsit5 | Method::Dop853) {
                continue;
            }
            let options = Options { rtol: case.rtol, method, ..base.clone() };
            let mut best = f64::INFINITY;
            let (mut found, mut outcome) = run(&model, &p, &options);
            for _ in 0..case.repeats {
                let start = Instant::now();
                (found, outcome) = run(&model, &p, &options);
                best = best.min(start.elapsed().as_secs_f64());
            }
            // Errors of outputs and of p·∂y/∂p, relative to the largest value of each output.
            let mut errors = [0.0f64; 2];
            let outputs = exact.y[0].len();
            for output in 0..outputs {
                let size = exact.y.iter().map(|y| y[output].abs()).fold(1e-300, f64::max);
                for i in 0..found.t.len() {
                    errors[0] = errors[0].max((found.y[i][output] - exact.y[i][output]).abs() / size);
                    for lane in 0..names.len() {
                        let at = output * names.len() + lane;
                        let error = (found.s[i][at] - exact.s[i][at]).abs() * scale(lane) / size;
                        errors[1] = errors[1].max(error);
                    }
                }
            }
            let s = &outcome.stats;
            println!(
                "  {method:?} ({}): {:.1} µs, errors {:.1e} {:.1e}, {} steps, {} rejected, {} evaluations",
                s.solver,
                best * 1e6,
                errors[0],
                errors[1],
                s.steps,
                s.rejected,
                s.evaluations
            );
        }
    }
}
