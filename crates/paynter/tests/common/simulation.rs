//! Runs of models, for the tests of simulation.

use paynter::simulate::{Response, SimulateOptions, Simulation};
use paynter::{Answer, CancellationToken, Model, QueryError};
use std::sync::Arc;

/// A run at a fine tolerance.
pub fn accurate(t_end: f64) -> SimulateOptions {
    SimulateOptions { t_end: Some(t_end), points: 21, rtol: 1e-10, ..SimulateOptions::default() }
}

/// The run of a model, which must succeed.
pub fn respond(model: &Model, options: &SimulateOptions) -> (Answer<Arc<Simulation>>, Response) {
    let simulation =
        model.simulation(options, &CancellationToken::new()).unwrap_or_else(|reason| panic!("{reason:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    (simulation, response)
}

/// What a refused question says, with its help.
pub fn message(reason: QueryError) -> String {
    let QueryError::Wrong(diagnostics) = reason else { panic!("cancelled") };
    let last = diagnostics.iter().next_back().unwrap();
    assert!(!last.help.to_string().is_empty());
    format!("{}: {}", last.message, last.help)
}

/// Fails where values differ by more than a part of the largest.
pub fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1e-300_f64, |size, value| size.max(value.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}, sample {i}: {a}, not {b}");
    }
}
