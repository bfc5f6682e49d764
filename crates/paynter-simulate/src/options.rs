//! How a run goes: the method, its tolerances, the times of samples.

use crate::tolerance::DEFAULT_RTOL;

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
            rtol: DEFAULT_RTOL,
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
