//! Time and error of the reference problems that the tests know, at several
//! tolerances and by every method that chooses its steps: a line for each with
//! its name, seconds, error and steps.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod common;
#[path = "../tests/zoo/mod.rs"]
mod zoo;

use common::time;
use paynter_simulate::{Method, Options};
use zoo::{Problem, REFERENCED, references};

fn main() {
    for known in REFERENCED {
        let mut problem = Problem::new(known.text);
        let wanted = problem.wanted(known.parameters);
        let model = problem.compile(&wanted);
        let p = problem.parameters();
        let (times, rows) = references(known.name);
        let base = Options { t_end: times[times.len() - 1], times, ..Options::default() };
        for rtol in [1e-4, 1e-6, 1e-8] {
            for method in [Method::Auto, Method::Tsit5, Method::Dop853, Method::Stiff] {
                if known.stiff && matches!(method, Method::Tsit5 | Method::Dop853) {
                    continue;
                }
                let options = Options { rtol, method, ..base.clone() };
                let (seconds, found, outcome) = time(&model, &p, &options);
                let error = rows.iter().map(|row| row.error(&found, &wanted, &p)).fold(0.0, f64::max);
                let stats = &outcome.stats;
                println!(
                    "{}, Paynter {method:?} ({}), rtol {rtol:.0e}\t{seconds}\t{error:e}\t{} steps, {} rejected",
                    known.name, stats.solver, stats.steps, stats.rejected
                );
            }
        }
    }
}
