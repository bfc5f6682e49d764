//! Experiments on a model: what is asked for, the compiled simulation, its
//! runs, and what they tell.

mod bounds;
mod chart;
mod compile;
mod energy;
mod explain;
mod gradient;
mod horizon;
mod initial;
mod perturb;
mod question;
mod runs;
mod simulation;
mod storage;
mod variation;
mod verified;
mod verify;
mod witness;

use crate::data::Data;
use crate::tolerance::DEFAULT_RTOL;
use crate::{Method, Options};
use paynter_base::{Diagnostic, Diagnostics};
use paynter_equations::QueryError;
use paynter_numerics::program::Hold;

pub use compile::Subject;
pub use energy::{Energy, Entry, Reference, balance_closes};
pub use gradient::{Cost, CostGradient, CostKind, gradient_options};
pub use horizon::{CURVE_SAMPLES, Horizon, source_frequency};
pub use perturb::{Change, Changed, Perturbation, perturbed};
pub use question::T_END;
pub use runs::{Plan, Run, Vary, check_names, named, respond_all, settle_threads};
pub use simulation::{Column, Response, Simulation, Varied};
pub use verify::{Deviation, Verification, verify};

/// Which sensitivities are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sensitivities {
    /// None.
    #[default]
    None,
    /// Those to all parameters that the equations read.
    All,
    /// Those to these parameters and initial states (`R`, `init(tank.q)`); `all` stands for all such
    /// parameters and `init` for all initial states.
    Names(Vec<String>),
}

/// A weighted sum of parameters and initial states: the sensitivity along it is Σ λ ∂/∂p.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// What it is called in results.
    pub name: String,
    /// The parameters and initial states with their weights λ, in declared units; initial states have none.
    pub weights: Vec<(String, f64)>,
}

impl SimulateOptions {
    /// Says what is wrong with them, whatever the model; their end is not in measured data.
    pub fn check(&self) -> Result<(), Box<Diagnostic>> {
        question::check(self, None).map(|_| ())
    }
}

/// What a simulation is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulateOptions {
    /// When it ends, in seconds; where left out, at the last of the times or data, else after ten seconds.
    pub t_end: Option<f64>,
    /// The number of samples, evenly from start to end.
    pub points: usize,
    /// The times of samples, in place of their number.
    pub times: Vec<f64>,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance, in SI; chosen for each state where left out.
    pub atol: Option<f64>,
    /// The solver's name.
    pub solver: String,
    /// The step of a solver with a fixed one.
    pub step: Option<f64>,
    /// The sensitivities.
    pub sensitivities: Sensitivities,
    /// Sensitivities along directions, after the others.
    pub directions: Vec<Direction>,
    /// Whether the errors of sensitivities take part in the choice of steps.
    pub sensitivities_tested: bool,
    /// Whether an account of energy is kept for every element.
    pub energy: bool,
    /// Whether the values of the model's own states follow those of its outputs in every sample, with their
    /// sensitivities.
    pub states: bool,
    /// Measured inputs.
    pub data: Option<Data>,
    /// What measured inputs and the model's tables do between samples.
    pub hold: Hold,
    /// The parameters, inputs and initial states that differ from run to run.
    pub varied: Vec<String>,
    /// A run of more steps is given up.
    pub max_steps: u64,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        SimulateOptions {
            t_end: None,
            points: 101,
            times: Vec::new(),
            rtol: DEFAULT_RTOL,
            atol: None,
            solver: "auto".to_owned(),
            step: None,
            sensitivities: Sensitivities::None,
            directions: Vec::new(),
            sensitivities_tested: true,
            energy: false,
            states: false,
            data: None,
            hold: Hold::Linear,
            varied: Vec::new(),
            max_steps: Options::default().max_steps,
        }
    }
}

/// The names of the solvers that can be chosen.
pub fn solvers() -> impl Iterator<Item = &'static str> {
    Method::NAMES.iter().map(|(name, _)| *name)
}

/// Refuses a question with one diagnostic.
pub(crate) fn refused(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}
