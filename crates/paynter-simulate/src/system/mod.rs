//! A compiled model at work: the parameters of a run, the modes of its
//! branches, and everything a solver evaluates at a time and state.

mod bends;
mod complementarity;
mod continuation;
mod enclosure;
mod evaluation;
mod forms;
mod modes;
mod singular;
mod unknowns;
mod workspace;

pub(crate) use enclosure::stays_zero;
pub(crate) use modes::Snapshot;
pub(crate) use workspace::Values;

use crate::Failure;
use crate::model::Compiled;
use crate::tolerance::{INFINITE_DERIVATIVE, UNUSED_REGULARISATION_WIDTH};
use enclosure::{Enclosures, Krawczyk};
use evaluation::RelationCache;
use forms::Forms;
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::program::Tables;
use workspace::{Configuration, Workspace};

/// Why the equations cannot be evaluated at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvaluationError {
    /// The rate of this state is infinite or undefined.
    NotFinite(usize),
    /// This implicit unknown was not found.
    NoSolution(usize),
    /// Newton's method did not converge in a stage of an implicit step; the error of this state was largest.
    StageNotConverged(usize),
    /// Newton's method did not converge for the states after a jump; this one moved most at last.
    JumpNotConverged(usize),
}

impl EvaluationError {
    /// The failure that it is at a time.
    pub fn at(self, t: f64) -> Failure {
        match self {
            EvaluationError::NotFinite(state) => Failure::NotFinite { t, state },
            EvaluationError::NoSolution(unknown) => Failure::NoSolution { t, unknown },
            EvaluationError::JumpNotConverged(state) => Failure::NoJump { t, state },
            EvaluationError::StageNotConverged(state) => Failure::StepTooSmall { t, state },
        }
    }
}

/// A compiled model with the parameters of a run, at work.
pub(crate) struct System<'a> {
    /// The model as it moves now: its own equations, or those for sliding.
    pub model: &'a Compiled,
    own: &'a Compiled,
    /// For each surface, the rate with which motion settles on it; zero where it does not slide.
    sliding: Vec<f64>,
    /// Whether each event function is kept at zero by sliding.
    at_zero: Vec<bool>,
    tables: &'a Tables,
    slow: Vec<f64>,
    /// The modes as events have set them.
    held: Vec<f64>,
    /// Whether modes follow the state instead.
    following: bool,
    /// Whether each event function is a kink that steps go over without an event.
    passed: Vec<bool>,
    /// Those of them whose modes follow the state, and the time and states for which they did last.
    branching: Vec<usize>,
    branched_at: Vec<f64>,
    /// Time, states, unknowns.
    fast: Vec<f64>,
    configuration: Configuration<'a>,
    rates: Workspace,
    full: Workspace,
    residuals: Workspace,
    outputs: Workspace,
    outputs_full: Workspace,
    relations: Workspace,
    cached_relations: RelationCache,
    relations_full: Workspace,
    enclosed_rates: Enclosures,
    enclosed_relations: Enclosures,
    enclosed_residuals: Enclosures,
    krawczyk: Krawczyk,
    forms: Forms,
    time_functions: Vec<(Enclosures, Workspace)>,
    signals: (Enclosures, Workspace),
    jumps: Workspace,
    newton: Vec<f64>,
    /// The matrix of Newton's method for the unknowns, its change, and where it started.
    unknowns: PivotedFactors,
    change: Vec<f64>,
    before: Vec<f64>,
    /// The unknowns at the start of the present step, and at its end.
    step_start: Vec<f64>,
    step_end: Vec<f64>,
    /// Whether unknowns are solved for within a step, rather than at an event.
    stepping: bool,
    /// The largest residual that steps have met.
    scale: f64,
    /// The largest size that the unknowns have had.
    unknowns_peak: f64,
    /// The length of the run.
    span: f64,
    /// Derivatives from here on are infinite.
    infinite: f64,
    pub evaluations: u64,
    pub jacobians: u64,
}

impl<'a> System<'a> {
    /// Makes a system with these parameters; all modes are open.
    pub fn new(model: &'a Compiled, parameters: &[f64], tables: &'a Tables) -> System<'a> {
        let mut slow = parameters.to_vec();
        slow.resize(model.parameters + model.events.len() + 3 * model.pieces.len(), 0.0);
        slow.resize(slow.len() + model.regularisations.len(), UNUSED_REGULARISATION_WIDTH);
        let mut held = vec![0.0; model.events.len()];
        held.resize(model.events.len() + model.surfaces.len(), 1.0);
        let mut system = System {
            model,
            own: model,
            sliding: vec![0.0; model.surfaces.len()],
            at_zero: vec![false; held.len()],
            tables,
            held,
            following: false,
            passed: Vec::new(),
            branching: Vec::new(),
            branched_at: Vec::new(),
            slow,
            fast: vec![0.0; 1 + model.states.len() + model.unknowns.len()],
            configuration: Configuration { epoch: 0, slow: Vec::new(), tables },
            rates: Workspace::default(),
            full: Workspace::default(),
            residuals: Workspace::default(),
            outputs: Workspace::default(),
            outputs_full: Workspace::default(),
            relations: Workspace::default(),
            cached_relations: RelationCache::default(),
            relations_full: Workspace::default(),
            enclosed_rates: Enclosures::default(),
            enclosed_relations: Enclosures::default(),
            enclosed_residuals: Enclosures::default(),
            krawczyk: Krawczyk::default(),
            forms: Forms::default(),
            time_functions: Vec::new(),
            signals: Default::default(),
            jumps: Workspace::default(),
            newton: Vec::new(),
            unknowns: PivotedFactors::new(model.unknowns.len(), &model.residual_places),
            change: Vec::new(),
            before: Vec::new(),
            step_start: Vec::new(),
            step_end: Vec::new(),
            stepping: false,
            scale: 0.0,
            unknowns_peak: 0.0,
            span: 1.0,
            infinite: INFINITE_DERIVATIVE,
            evaluations: 0,
            jacobians: 0,
        };
        system.prepare();
        system
    }

    /// Takes new modes and table lines into account. Programs are prepared for them when they are run next.
    pub fn prepare(&mut self) {
        self.configuration.slow.clone_from(&self.slow);
        self.configuration.epoch += 1;
        self.branched_at.clear();
    }

    /// Whether rates and residuals are linear in states and unknowns as long as modes stay. Forces on sliding
    /// surfaces must cancel to the last bit, for which corrections that are small enough otherwise are not.
    pub fn is_linear(&self) -> bool {
        self.model.linear && !self.following && std::ptr::eq(self.model, self.own)
    }

    /// The number of the present modes, which rises whenever they change.
    pub fn epoch(&self) -> u32 {
        self.configuration.epoch
    }
}
