//! Simulation over time, with events and forward sensitivities.
//!
//! A model is compiled once ([`Compiled`]) and run any number of times, also
//! from several threads. Between events its equations are smooth: branches
//! are frozen in modes that change where an event function crosses zero.
//!
//! [`experiment`] makes such a model of a question (charts of states, varied
//! initial values, accounts of energy), and explains its runs; [`data`] reads
//! measured signals.

mod adjoint;
mod compiled;
pub mod data;
mod dominators;
mod dop853;
mod events;
pub mod experiment;
mod explicit;
mod freeze;
mod implicit;
mod integrator;
mod jump;
mod lanes;
mod linearised;
mod loops;
mod options;
mod outcome;
mod sensitivities;
mod slide;
mod small;
mod solver;
mod sparse;
mod start;
mod system;
mod tableau;
mod tolerance;

pub use adjoint::{Cost, Gradient, gradient};
pub use compiled::{Compiled, Source, Wanted};
pub use freeze::switches;
pub use options::{Method, Options};
pub use outcome::{Failure, Note, Outcome, Sample, Stats};
pub use start::start;

use paynter_base::Ticket;
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
    ticket: &Ticket,
    sink: &mut dyn FnMut(&Sample<'_>),
) -> Outcome {
    integrator::Integrator::new(model, parameters, initial, tables, options).run(ticket, sink)
}
