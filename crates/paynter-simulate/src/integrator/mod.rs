//! The integrator of a run: its state between steps.

mod defect;
mod event;
mod kink;
mod method;
mod plain;
mod results;
mod run;
mod scales;
mod signals;
mod step;
mod undetermined;

use method::{Trial, explicit, solver};
use signals::Signals;

use crate::events::ZeroCrossingDetector;
use crate::method::tableau::Tableau;
use crate::method::{Point, Solver, Tolerance};
use crate::model::{Compiled, Wanted};
use crate::sensitivity::Sensitivities;
use crate::sensitivity::adjoint::Entry;
use crate::system::{EvaluationError, System, Values};
use crate::tolerance::{EVENT_SPACINGS, INITIAL_CONTRADICTION};
use crate::{Failure, Method, Note, Options, Outcome, Sample, Stats};
use paynter_base::CancellationToken;
use paynter_numerics::program::Tables;

/// A step that was taken.
struct Step {
    step: f64,
    to: f64,
    error: f64,
    events: Vec<(usize, f64)>,
    mean_rate: f64,
}

/// When time alone ends a step, and the events that happen then.
struct Stop {
    at: f64,
    events: Vec<(usize, f64)>,
    /// Whether something happens then, or the run only ends.
    eventful: bool,
}

/// Integrates a model over time: steps and their control, events, samples.
pub(crate) struct Integrator<'a> {
    system: System<'a>,
    /// The equations that solver and sensitivities are made for.
    bound: &'a Compiled,
    options: &'a Options,
    solver: Box<dyn Solver>,
    stiff: bool,
    /// The method where the model is not stiff, and its choice while that is open.
    explicit: &'static Tableau,
    trial: Option<Trial>,
    /// The explicit method that is not at work, once it has been.
    spare: Option<Box<dyn Solver>>,
    sensitivities: Option<Sensitivities>,
    tolerance: Tolerance,
    /// Whether anything is measured by the tolerance: fixed steps have no errors, but may have events or unknowns.
    judged: bool,
    /// Whether the last step ended at a corner of a measured signal.
    cornered: bool,
    detector: ZeroCrossingDetector,
    t: f64,
    x: Vec<f64>,
    /// When steps began anew last.
    begun: f64,
    largest: Vec<f64>,
    among: Vec<f64>,
    /// What rounding makes of each state.
    noise: Vec<f64>,
    /// Nominal magnitudes of states that were zero where they were last estimated.
    nominal: Vec<f64>,
    /// When they were estimated last, and from when on this may have proved wrong.
    estimated: (f64, f64),
    /// The smallest parameter or initial state that is not zero.
    smallest: f64,
    signals: Signals,
    next: usize,
    /// Room for points within a step, of which the step has so many.
    points: Vec<Point>,
    inner: usize,
    /// The lanes that have no sensitivities any more.
    undefined: Vec<bool>,
    stats: Stats,
    notes: Vec<Note>,
    last_error: Option<EvaluationError>,
    /// Since when steps were rejected for evaluation errors, and how often.
    repeated_errors: (f64, u32),
    tried: Option<(f64, Vec<f64>)>,
    /// The logarithm of the error of the step before.
    error_before: f64,
    stiff_signs: u32,
    nonstiff_signs: u32,
    immediate_events: u32,
    /// The functions of the last events without a step before them, where, and how often they were the same.
    repeated_events: (Vec<usize>, f64, u32),
    /// The same of functions that left zero where others hold them.
    repeated_releases: (Vec<usize>, f64, u32),
    /// When the last zero crossing was, and the times between those before it.
    last_event: f64,
    event_spacings: [f64; EVENT_SPACINGS],
    /// When all functions near zero were last decided together.
    settled_at: f64,
    /// How long a step is at most in which functions relax that tolerances of states leave undetermined.
    relaxation: Option<f64>,
    /// Functions whose branches follow the state until they have left their zero: kinks that steps cannot tell
    /// from it.
    open: Vec<usize>,
    buffer: (Values, Vec<f64>, Vec<f64>),
    /// A dependent state whose initial value contradicts those it depends on.
    contradiction: Option<usize>,
    /// What is recorded for an adjoint sweep.
    tape: Option<Vec<Entry>>,
}

impl<'a> Integrator<'a> {
    pub fn new(
        model: &'a Compiled,
        parameters: &[f64],
        initial: Option<&[f64]>,
        tables: &'a Tables,
        options: &'a Options,
    ) -> Integrator<'a> {
        Integrator::with(model, parameters, initial, tables, options, !model.wanted.is_empty())
    }

    /// A run without forward sensitivities that is recorded for an adjoint sweep.
    pub fn recording(
        model: &'a Compiled,
        parameters: &[f64],
        tables: &'a Tables,
        options: &'a Options,
    ) -> Integrator<'a> {
        Integrator {
            tape: Some(Vec::new()),
            ..Integrator::with(model, parameters, None, tables, options, false)
        }
    }

    fn with(
        model: &'a Compiled,
        parameters: &[f64],
        initial: Option<&[f64]>,
        tables: &'a Tables,
        options: &'a Options,
        sensitive: bool,
    ) -> Integrator<'a> {
        let mut system = System::new(model, parameters, tables);
        system.set_span(options.t_end - options.t_start);
        if options.method == Method::Euler {
            system.pass_kinks();
        }
        let n = model.states.len();
        let mut start = vec![0.0; model.initial.results()];
        let own = &parameters[..model.parameters.min(parameters.len())];
        model.initial.run_with(own, tables, &mut Vec::new(), &mut start);
        let x = initial.map_or_else(|| start[..n].to_vec(), <[f64]>::to_vec);
        let (mut undefined, mut notes) = (vec![false; model.wanted.len()], Vec::new());
        let sensitivities = sensitive.then(|| {
            let derivatives = if initial.is_none() { &start[n..] } else { &[] };
            let mut sensitivities =
                Sensitivities::new(&system, scales(&system, &x), options.sensitivities_tested);
            notes = sensitivities.initialise(model, derivatives, &mut undefined);
            sensitivities
        });
        let stiff = options.method == Method::Stiff;
        let explicit = explicit(options);
        let solver = solver(explicit, stiff, &system, sensitive);
        let detector = ZeroCrossingDetector::new(&system, options.rtol);
        Integrator {
            cornered: false,
            judged: !options.method.is_fixed() || !model.unknowns.is_empty() || !system.passes_all(),
            tolerance: Tolerance {
                rtol: options.rtol,
                atol: vec![options.atol.unwrap_or(0.0); n],
                functions: Vec::new(),
            },
            among: vec![0.0; n],
            noise: vec![0.0; n],
            nominal: vec![0.0; n],
            estimated: (options.t_start, f64::NEG_INFINITY),
            smallest: parameters.iter().chain(&x).map(|v| v.abs()).filter(|v| *v > 0.0).fold(1.0, f64::min),
            signals: Signals::default(),
            largest: x.iter().map(|v| v.abs()).collect(),
            t: options.t_start,
            x,
            begun: f64::NEG_INFINITY,
            solver,
            stiff,
            explicit,
            trial: Trial::new(options),
            spare: None,
            sensitivities,
            detector,
            options,
            bound: model,
            system,
            next: 0,
            points: Vec::new(),
            inner: 0,
            undefined,
            stats: Stats::default(),
            notes,
            last_error: None,
            repeated_errors: (options.t_start, 0),
            tried: None,
            error_before: 0.0,
            stiff_signs: 0,
            nonstiff_signs: 0,
            immediate_events: 0,
            repeated_events: (Vec::new(), f64::NEG_INFINITY, 0),
            repeated_releases: (Vec::new(), f64::NEG_INFINITY, 0),
            last_event: options.t_start,
            event_spacings: [f64::INFINITY; EVENT_SPACINGS],
            settled_at: f64::NEG_INFINITY,
            relaxation: None,
            open: Vec::new(),
            buffer: Default::default(),
            contradiction: contradiction(model, own, tables, options.t_start).filter(|_| initial.is_none()),
            tape: None,
        }
    }

    /// Integrates to the end.
    pub fn run(self, token: &CancellationToken, sink: &mut dyn FnMut(&Sample<'_>)) -> Outcome {
        self.record(token, sink).0
    }

    /// Integrates to the end, and returns what was recorded.
    pub fn record(
        mut self,
        token: &CancellationToken,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> (Outcome, Vec<Entry>) {
        let failure = self.integrate(token, sink).err();
        self.stats.solver = self.solver.tableau().name;
        self.stats.evaluations = self.system.evaluations;
        self.stats.jacobians = self.system.jacobians;
        let outcome = Outcome {
            stats: self.stats,
            notes: self.notes,
            failure,
            t: self.t,
            states: self.x,
            resolution: self.tolerance.atol,
            tried: self.tried,
            witnesses: Vec::new(),
        };
        (outcome, self.tape.unwrap_or_default())
    }

    /// The failure that an evaluation error is at the present time; on a sliding surface it is chattering.
    fn failure(&self, error: EvaluationError) -> Failure {
        let surface = match error {
            EvaluationError::NoSolution(unknown) => self.system.surface_of_unknown(unknown),
            _ => None,
        };
        match surface {
            Some(event) => Failure::Chattering { t: self.t, event },
            None => error.at(self.t),
        }
    }
}

/// By how much each parameter and initial state scales its sensitivities: its size, or one where it is zero.
pub(crate) fn scales(system: &System<'_>, x: &[f64]) -> Vec<f64> {
    let scale = |wanted: &Wanted| {
        let value = match wanted {
            Wanted::Parameter(i) => system.parameter(*i),
            Wanted::Initial(i) => x[*i],
        };
        if value == 0.0 || !value.is_finite() { 1.0 } else { value.abs() }
    };
    system.model.wanted.iter().map(scale).collect()
}

/// The first dependent state whose initial value is not what follows from those it depends on.
fn contradiction(model: &Compiled, parameters: &[f64], tables: &Tables, t: f64) -> Option<usize> {
    let mut pairs = vec![0.0; model.agreement.results()];
    model.agreement.run_with(&[parameters, &[t]].concat(), tables, &mut Vec::new(), &mut pairs);
    let (pairs, _) = pairs.as_chunks::<2>();
    let differs = |[a, b]: &[f64; 2]| (a - b).abs() > INITIAL_CONTRADICTION * a.abs().max(b.abs());
    model.agreeing.iter().zip(pairs).find(|(_, pair)| differs(pair)).map(|(place, _)| *place)
}
