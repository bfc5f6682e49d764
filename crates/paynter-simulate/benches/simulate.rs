//! Time and error of simulations with sensitivities, on the problems that
//! rivals are measured on. With PAYNTER_REFERENCES=FOLDER the accurate
//! solutions are written there, for rivals to be measured against.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod common;
#[path = "../tests/zoo/mod.rs"]
mod zoo;

use common::time;
use paynter_simulate::{Method, Options, Outcome};
use std::fmt::Write;
use std::time::Instant;
use zoo::{Problem, Run, gradient, run, solve, times};

struct Case {
    name: &'static str,
    text: String,
    parameters: Vec<String>,
    end: f64,
    times: Vec<f64>,
    /// A state that is the output instead of the model's own.
    output: Option<&'static str>,
    /// The error that is allowed, and the relative tolerance of a plain run.
    rtol: f64,
    stiff: bool,
}

/// The names of all parameters of a chain.
fn chain_parameters(n: usize) -> Vec<String> {
    ["m", "k", "b"].iter().flat_map(|p| (1..=n).map(move |i| format!("{p}{i}"))).collect()
}

fn cases() -> Vec<Case> {
    let chain = |name, n: usize| Case {
        name,
        text: zoo::chain(n),
        parameters: chain_parameters(n),
        end: 20.0,
        times: times(20.0, 101),
        // The last spring is still at rest at the end of a long chain.
        output: Some("spring1.q"),
        rtol: 1e-6,
        stiff: false,
    };
    vec![
        Case {
            name: "tanks",
            text: zoo::TANKS.to_owned(),
            parameters: ["V1", "V2", "alpha", "beta"].map(String::from).to_vec(),
            end: 10.0,
            times: times(10.0, 101),
            output: None,
            rtol: 1e-8,
            stiff: false,
        },
        chain("chain10", 10),
        chain("chain100", 100),
        Case {
            name: "robertson",
            text: zoo::ROBERTSON.to_owned(),
            parameters: ["p1", "p2", "p3"].map(String::from).to_vec(),
            end: 4e10,
            times: (0..12).map(|i| 0.4 * 10f64.powi(i)).collect(),
            output: None,
            rtol: 1e-6,
            stiff: true,
        },
    ]
}

/// The largest error of outputs and of p·∂y/∂p, relative to the largest value of each output.
fn error(found: &Run, exact: &Run, scales: &[f64]) -> f64 {
    let mut worst = if found.t.len() == exact.t.len() { 0.0f64 } else { f64::INFINITY };
    for output in 0..exact.y[0].len() {
        let size = exact.y.iter().map(|y| y[output].abs()).fold(1e-300, f64::max);
        for i in 0..found.t.len() {
            worst = worst.max((found.y[i][output] - exact.y[i][output]).abs() / size);
            for (lane, scale) in scales.iter().enumerate() {
                let at = output * scales.len() + lane;
                worst = worst.max((found.s[i][at] - exact.s[i][at]).abs() * scale / size);
            }
        }
    }
    worst
}

fn write(folder: &str, case: &Case, scales: &[f64], exact: &Run) {
    let row = |list: &mut dyn Iterator<Item = f64>| {
        list.map(|v| format!("{v:e}")).collect::<Vec<String>>().join(" ")
    };
    let mut text = format!("{:e}\n{}\n", case.rtol, row(&mut scales.iter().copied()));
    for i in 0..exact.t.len() {
        let values = exact.y[i].iter().chain(&exact.s[i]).copied();
        writeln!(text, "{}", row(&mut std::iter::once(exact.t[i]).chain(values))).unwrap();
    }
    std::fs::write(format!("{folder}/{}", case.name), text).unwrap();
}

/// The gradient of a cost by all parameters of a chain of 1,000 masses.
fn adjoint() {
    let n = 1000;
    let start = Instant::now();
    let mut problem = Problem::new(&zoo::chain(n));
    let derived = start.elapsed();
    let names = chain_parameters(n);
    let wanted = problem.wanted(&names.iter().map(String::as_str).collect::<Vec<&str>>());
    let start = Instant::now();
    let state = problem.equations.states.iter().find(|state| state.name == "spring1.q").unwrap();
    let output = vec![problem.pool.var(state.symbol)];
    let model = problem.compile_outputs(&wanted, Some(output));
    let compiled = start.elapsed();
    let p = problem.parameters();
    let options = Options { t_end: 20.0, times: times(20.0, 101), ..Options::default() };
    let start = Instant::now();
    let found = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
        derivative[0] = y[0];
        0.5 * y[0] * y[0]
    });
    println!(
        "adjoint: {n} masses, {} parameters: derived in {derived:.1?}, compiled in {compiled:.1?}, \
         gradient in {:.1?}, {} steps",
        found.by.len(),
        start.elapsed(),
        found.outcome.stats.steps
    );
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with("--"));
    let folder = std::env::var("PAYNTER_REFERENCES").ok();
    if folder.is_none() && only.as_ref().is_none_or(|only| only == "adjoint") {
        adjoint();
    }
    for case in cases() {
        if only.as_ref().is_some_and(|only| case.name != only) {
            continue;
        }
        let mut problem = Problem::new(&case.text);
        let names: Vec<&str> = case.parameters.iter().map(String::as_str).collect();
        let wanted = problem.wanted(&names);
        let output = case.output.map(|name| {
            let states = &problem.equations.states;
            let state = states.iter().find(|state| state.name == name).unwrap();
            vec![problem.pool.var(state.symbol)]
        });
        let start = Instant::now();
        let model = problem.compile_outputs(&wanted, output);
        let compiled = start.elapsed();
        let p = problem.parameters();
        let place = |name: &&str| problem.graph.parameters.iter().position(|p| p.name == **name).unwrap();
        let scales: Vec<f64> = names.iter().map(|name| p[place(name)].abs()).collect();
        let base = Options { t_end: case.end, times: case.times.clone(), ..Options::default() };
        let accurate = if case.stiff { Method::Stiff } else { Method::Dop853 };
        let exact = solve(&model, &p, &Options { rtol: 1e-12, method: accurate, ..base.clone() });
        let report = |label: &str, (best, found, outcome): (f64, Run, Outcome)| {
            let s = &outcome.stats;
            println!(
                "Paynter {label} ({})\t{best}\t{:e}\t{} steps, {} rejected, {} evaluations",
                s.solver,
                error(&found, &exact, &scales),
                s.steps,
                s.rejected,
                s.evaluations
            );
        };
        if let Some(folder) = &folder {
            write(folder, &case, &scales, &exact);
        } else {
            println!("{}: compiled in {compiled:.1?}", case.name);
            for method in [Method::Auto, Method::Tsit5, Method::Dop853, Method::Stiff] {
                if !case.stiff || matches!(method, Method::Auto | Method::Stiff) {
                    let options = Options { rtol: case.rtol, method, ..base.clone() };
                    report(&format!("{method:?}"), time(&model, &p, &options));
                }
            }
        }
        // The loosest tolerance that keeps the error, for each method and with the sensitivities in the
        // error test or not, as rivals are given it.
        let tolerance = |eighth: i32| case.rtol * 10f64.powf(-0.125 * f64::from(eighth));
        let methods =
            if case.stiff { &[Method::Auto][..] } else { &[Method::Auto, Method::Tsit5, Method::Dop853] };
        for (method, tested) in methods.iter().flat_map(|method| [(*method, true), (*method, false)]) {
            let way = Options { method, sensitivities_tested: tested, ..base.clone() };
            let enough = (-24..48).map(tolerance).find(|rtol| {
                let (found, outcome) = run(&model, &p, &Options { rtol: *rtol, ..way.clone() });
                outcome.failure.is_none() && error(&found, &exact, &scales) <= case.rtol
            });
            if let Some(rtol) = enough {
                let control = if tested { "" } else { ", states only" };
                let label = format!("{method:?}, rtol {rtol:.1e}{control}");
                report(&label, time(&model, &p, &Options { rtol, ..way }));
            }
        }
    }
}
