//! Simulation over time, with events and forward sensitivities.
//!
//! A model is compiled once ([`Compiled`]) and run any number of times, also
//! from several threads. Between events its equations are smooth: branches
//! are frozen in modes that change where an event function crosses zero.
//!
//! [`experiment`] makes such a model of a question (charts of states, varied
//! initial values, accounts of energy), and explains its runs; [`data`] reads
//! measured signals.

pub mod data;
mod events;
pub mod experiment;
mod integrator;
mod method;
mod model;
mod options;
mod outcome;
mod passed_over;
mod sensitivity;
mod start;
mod system;
mod tolerance;

pub use model::freeze::switches;
pub use model::{Compiled, Source, Wanted};
pub use options::{Method, Options};
pub use outcome::{Failure, Note, Outcome, Sample, Stats, Witness};
pub use passed_over::passed_over;
pub use sensitivity::adjoint::{Cost, Gradient, gradient};
pub use start::start;

use paynter_base::CancellationToken;
use paynter_numerics::program::Tables;

/// Simulates a model; `sink` gets a sample at each of the wanted times.
///
/// `initial` replaces the model's own initial states.
pub fn simulate(
    model: &Compiled,
    parameters: &[f64],
    initial: Option<&[f64]>,
    tables: &Tables,
    options: &Options,
    token: &CancellationToken,
    sink: &mut dyn FnMut(&Sample<'_>),
) -> Outcome {
    integrator::Integrator::new(model, parameters, initial, tables, options).run(token, sink)
}
