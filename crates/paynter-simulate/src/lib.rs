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
mod dop853;
mod drive;
mod events;
pub mod experiment;
mod explicit;
mod freeze;
mod gates;
mod implicit;
mod jump;
mod lanes;
mod linearised;
mod loops;
mod sensitivities;
mod slide;
mod small;
mod solver;
mod sparse;
mod start;
mod system;
mod tableau;

pub use adjoint::{Cost, Gradient, gradient};
pub use compiled::{Compiled, Source, Wanted};
pub use freeze::switches;
pub use start::start;

use paynter_base::Ticket;
use paynter_numerics::program::Tables;

/// Which solver integrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// An explicit method, and the implicit one where the model is stiff.
    #[default]
    Auto,
    /// Euler's method with a fixed step.
    Euler,
    /// The classical Runge–Kutta method with a fixed step.
    Rk4,
    /// An explicit pair of order 5 or 8, whichever comes further with an evaluation.
    Explicit,
    /// The pair of orders 5 and 4 of Tsitouras.
    Tsit5,
    /// The method of order 8 of Dormand and Prince.
    Dop853,
    /// The L-stable implicit method of orders 5 and 4 of Kværnø.
    Stiff,
}

impl Method {
    /// All methods with the names that people choose them by.
    pub const NAMES: [(&'static str, Method); 7] = [
        ("auto", Method::Auto),
        ("euler", Method::Euler),
        ("rk4", Method::Rk4),
        ("explicit", Method::Explicit),
        ("tsit5", Method::Tsit5),
        ("dop853", Method::Dop853),
        ("stiff", Method::Stiff),
    ];

    /// Whether it takes steps of a fixed size.
    pub fn is_fixed(self) -> bool {
        matches!(self, Method::Euler | Method::Rk4)
    }
}

/// How a run goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// When it starts.
    pub t_start: f64,
    /// When it ends.
    pub t_end: f64,
    /// When results are wanted, in rising order.
    pub times: Vec<f64>,
    /// Where no times are listed: so many results, evenly from start to end.
    pub points: usize,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance of every state; where left out, a small part of the largest value each state has had.
    pub atol: Option<f64>,
    /// The solver.
    pub method: Method,
    /// The step of methods with a fixed one.
    pub step: Option<f64>,
    /// Whether sensitivities take part in the choice of the step.
    pub sensitivities_tested: bool,
    /// After so many steps the run gives up.
    pub max_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            t_start: 0.0,
            t_end: 1.0,
            times: Vec::new(),
            points: 0,
            rtol: 1e-8,
            atol: None,
            method: Method::Auto,
            step: None,
            sensitivities_tested: true,
            max_steps: 10_000_000,
        }
    }
}

impl Options {
    /// The number of results that are wanted.
    pub fn count(&self) -> usize {
        if self.times.is_empty() { self.points } else { self.times.len() }
    }

    /// The time of the result with this number, from 0; none after the last.
    pub fn time(&self, number: usize) -> Option<f64> {
        if !self.times.is_empty() || number >= self.points {
            return self.times.get(number).copied();
        }
        // The last one is the end itself, also after rounding.
        let last = self.points - 1;
        let share = if number == last { 1.0 } else { number as f64 / last as f64 };
        Some(self.t_start + share * (self.t_end - self.t_start))
    }
}

/// What is known at one time.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The time.
    pub t: f64,
    /// The states.
    pub states: &'a [f64],
    /// The outputs.
    pub outputs: &'a [f64],
    /// The sensitivities of outputs, output by output, in the order of [`Compiled::wanted`].
    pub sensitivities: &'a [f64],
}

/// What a run cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// The solver, the last one where several took part.
    pub solver: &'static str,
    /// Steps that were taken.
    pub steps: u64,
    /// Steps that were given up because of their error.
    pub rejected: u64,
    /// Evaluations of the rates.
    pub evaluations: u64,
    /// Evaluations of their derivatives.
    pub jacobians: u64,
    /// Events.
    pub events: u64,
    /// How often the motion came to slide along a surface.
    pub slides: u64,
    /// Changes between the explicit and the implicit solver.
    pub switches: u64,
}

/// Something worth telling about a run that went on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Note {
    /// This event function only touches zero at this time: sensitivities may be undefined there.
    Grazing {
        /// When.
        t: f64,
        /// Place in [`Compiled::events`].
        event: usize,
    },
    /// This output contains an impulse at this time, which its values do not show.
    Impulse {
        /// When.
        t: f64,
        /// Which output.
        output: usize,
    },
    /// This event function has switched ever faster, and was brought to rest at zero.
    Rattling {
        /// When.
        t: f64,
        /// Place in [`Compiled::events`].
        event: usize,
    },
    /// A rate changes infinitely fast with what this derivative moves (a root at zero), so that it has
    /// no values from this time on.
    Steep {
        /// From when on.
        t: f64,
        /// Which derivative, by its place in [`Compiled::wanted`].
        lane: usize,
        /// The state that it moves and that the rate changes with; none where that is the parameter itself.
        state: Option<usize>,
    },
    /// Where the run begins, this derivative of a state has no finite value, so that it has none later.
    Unbegun {
        /// Which derivative, by its place in [`Compiled::wanted`].
        lane: usize,
        /// Of which state.
        state: usize,
    },
    /// A body is colder than anything can be at this time, and perhaps at others.
    TooCold {
        /// When first.
        t: f64,
        /// Which of the model's temperatures.
        temperature: usize,
        /// The temperature, in kelvin.
        value: f64,
    },
    /// This output, or a derivative of it, has no finite value at this time, and perhaps at others.
    Undefined {
        /// When first.
        t: f64,
        /// Which output.
        output: usize,
        /// Which derivative, by its place in [`Compiled::wanted`].
        lane: Option<usize>,
    },
}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Failure {
    /// It was cancelled.
    Cancelled,
    /// The rate of a state is infinite or undefined.
    NotFinite {
        /// When.
        t: f64,
        /// Which state.
        state: usize,
    },
    /// An initial state is infinite or undefined.
    BadInitial {
        /// Which state.
        state: usize,
    },
    /// The initial value given to a dependent state does not follow from those it depends on.
    Contradiction {
        /// Which, by its place among the dependent states of the equations.
        dependent: usize,
    },
    /// The states after a jump were not found.
    NoJump {
        /// When.
        t: f64,
        /// The state that moved most at last.
        state: usize,
    },
    /// An implicit unknown has no value that satisfies its equation and goes on from before.
    NoSolution {
        /// When.
        t: f64,
        /// Which unknown.
        unknown: usize,
    },
    /// Steps became too small to go on.
    StepTooSmall {
        /// When.
        t: f64,
        /// The state with the largest error.
        state: usize,
    },
    /// The limit of steps is reached.
    TooManySteps {
        /// When.
        t: f64,
    },
    /// An event happens again and again without time going on.
    Chattering {
        /// When.
        t: f64,
        /// Place in [`Compiled::events`].
        event: usize,
    },
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it cost.
    pub stats: Stats,
    /// What is worth telling.
    pub notes: Vec<Note>,
    /// Why it ended early, if it did; what came before is valid.
    pub failure: Option<Failure>,
    /// The time it reached.
    pub t: f64,
    /// The state it reached.
    pub states: Vec<f64>,
    /// The time and state that was tried last without success.
    pub tried: Option<(f64, Vec<f64>)>,
}

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
    drive::Drive::new(model, parameters, initial, tables, options).run(ticket, sink)
}
