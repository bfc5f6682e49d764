//! The loop of a run: steps, their control, events, outputs.

mod method;
mod results;
mod scales;
mod switch;

use method::{Trial, explicit, solver};
use results::RESULTS;

use super::adjoint::{Entry, Place};
use super::compiled::{Compiled, Wanted};
use super::events::{Crossing, Settled, Watch};
use super::sensitivities::Sensitivities;
use super::solver::{Point, Solver, Tolerance};
use super::system::{System, Trouble, Values};
use super::tableau::Tableau;
use super::{Failure, Method, Note, Options, Outcome, Sample, Stats};
use paynter_base::Ticket;
use paynter_numerics::program::Tables;

/// So many events without time going on are chattering.
const CHATTER: u32 = 100;
/// An event is reached where its function is so small a part of its change over the step.
const AT_ONCE: f64 = 1e-9;
/// And where it is not found again by a shorter step.
const ALMOST: f64 = 1e-5;
/// So much trouble within such a part of the run ends it.
const STUCK: u32 = 200;
const NARROW: f64 = 1e-6;
/// The control of steps takes the error of the step before, of which this is the logarithm, for no smaller.
const LEAST_BEFORE: f64 = -9.210_340_371_976_182;

/// A step that was taken.
struct Taken {
    step: f64,
    to: f64,
    error: f64,
    events: Vec<(usize, f64)>,
    steepness: f64,
}

/// When time alone ends a step, and the events that happen then.
struct Stop {
    at: f64,
    events: Vec<(usize, f64)>,
    /// Whether something happens then, or the run only ends.
    eventful: bool,
}

pub(crate) struct Drive<'a> {
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
    watch: Watch,
    t: f64,
    x: Vec<f64>,
    largest: Vec<f64>,
    among: Vec<f64>,
    /// What rounding makes of each state.
    noise: Vec<f64>,
    next: usize,
    /// Room for points within a step, of which the step has so many.
    points: Vec<Point>,
    inner: usize,
    /// The lanes that have no sensitivities any more.
    undefined: Vec<bool>,
    stats: Stats,
    notes: Vec<Note>,
    trouble: Option<Trouble>,
    /// Since when steps were given up for trouble, and how often.
    stuck: (f64, u32),
    tried: Option<(f64, Vec<f64>)>,
    /// The logarithm of the error of the step before.
    error_before: f64,
    stiff_signs: u32,
    easy_signs: u32,
    immediate: u32,
    buffer: (Values, Vec<f64>, Vec<f64>),
    /// A dependent state whose initial value contradicts those it depends on.
    contradiction: Option<usize>,
    /// What is remembered for a sweep back.
    tape: Option<Vec<Entry>>,
}

impl<'a> Drive<'a> {
    pub fn new(
        model: &'a Compiled,
        parameters: &[f64],
        initial: Option<&[f64]>,
        tables: &'a Tables,
        options: &'a Options,
    ) -> Drive<'a> {
        Drive::with(model, parameters, initial, tables, options, !model.wanted.is_empty())
    }

    /// A run without forward sensitivities that is remembered.
    pub fn recording(
        model: &'a Compiled,
        parameters: &[f64],
        tables: &'a Tables,
        options: &'a Options,
    ) -> Drive<'a> {
        Drive { tape: Some(Vec::new()), ..Drive::with(model, parameters, None, tables, options, false) }
    }

    fn with(
        model: &'a Compiled,
        parameters: &[f64],
        initial: Option<&[f64]>,
        tables: &'a Tables,
        options: &'a Options,
        sensitive: bool,
    ) -> Drive<'a> {
        let system = System::new(model, parameters, tables);
        let n = model.states.len();
        let mut start = vec![0.0; model.initial.results()];
        model.initial.run(&parameters[..model.parameters.min(parameters.len())], &mut Vec::new(), &mut start);
        let x = initial.map_or_else(|| start[..n].to_vec(), <[f64]>::to_vec);
        let (mut undefined, mut notes) = (vec![false; model.wanted.len()], Vec::new());
        let sensitivities = sensitive.then(|| {
            let scale = |wanted: &Wanted| {
                let value = match wanted {
                    Wanted::Parameter(i) => system.parameter(*i),
                    Wanted::Initial(i) => x[*i],
                };
                if value == 0.0 || !value.is_finite() { 1.0 } else { value.abs() }
            };
            let scales = model.wanted.iter().map(scale).collect();
            let mut sensitivities = Sensitivities::new(&system, scales, options.sensitivities_tested);
            for ((row, lane), value) in model.initial_places.iter().zip(&start[n..]) {
                if initial.is_none() {
                    sensitivities.s.set(*row, *lane, *value);
                    if !value.is_finite() && !std::mem::replace(&mut undefined[*lane], true) {
                        notes.push(Note::Unbegun { lane: *lane, state: *row });
                    }
                }
            }
            (0..undefined.len()).filter(|lane| undefined[*lane]).for_each(|lane| sensitivities.forget(lane));
            for (lane, wanted) in model.wanted.iter().enumerate() {
                if let Wanted::Initial(state) = wanted {
                    sensitivities.s.set(*state, lane, 1.0);
                }
            }
            sensitivities
        });
        let stiff = options.method == Method::Stiff;
        let explicit = explicit(options);
        let solver = solver(explicit, stiff, &system, sensitive);
        let watch = Watch::new(&system, options.rtol);
        Drive {
            tolerance: Tolerance { rtol: options.rtol, atol: vec![options.atol.unwrap_or(0.0); n] },
            among: vec![0.0; n],
            noise: vec![0.0; n],
            largest: x.iter().map(|v| v.abs()).collect(),
            t: options.t_start,
            x,
            solver,
            stiff,
            explicit,
            trial: Trial::new(options),
            spare: None,
            sensitivities,
            watch,
            options,
            bound: model,
            system,
            next: 0,
            points: Vec::new(),
            inner: 0,
            undefined,
            stats: Stats::default(),
            notes,
            trouble: None,
            stuck: (options.t_start, 0),
            tried: None,
            error_before: 0.0,
            stiff_signs: 0,
            easy_signs: 0,
            immediate: 0,
            buffer: Default::default(),
            contradiction: contradiction(model, parameters).filter(|_| initial.is_none()),
            tape: None,
        }
    }

    pub fn run(self, ticket: &Ticket, sink: &mut dyn FnMut(&Sample<'_>)) -> Outcome {
        self.record(ticket, sink).0
    }

    /// Runs, and returns what was remembered.
    pub fn record(mut self, ticket: &Ticket, sink: &mut dyn FnMut(&Sample<'_>)) -> (Outcome, Vec<Entry>) {
        let failure = self.integrate(ticket, sink).err();
        self.stats.solver = self.solver.tableau().name;
        self.stats.evaluations = self.system.evaluations;
        self.stats.jacobians = self.system.jacobians;
        let outcome = Outcome {
            stats: self.stats,
            notes: self.notes,
            failure,
            t: self.t,
            states: self.x,
            tried: self.tried,
        };
        (outcome, self.tape.unwrap_or_default())
    }

    fn failure(&self, trouble: Trouble) -> Failure {
        let surface = match trouble {
            Trouble::NoSolution(unknown) => self.system.surface_of_unknown(unknown),
            _ => None,
        };
        match surface {
            Some(event) => Failure::Chattering { t: self.t, event },
            None => trouble.at(self.t),
        }
    }

    fn integrate(&mut self, ticket: &Ticket, sink: &mut dyn FnMut(&Sample<'_>)) -> Result<(), Failure> {
        if let Some(state) = self.x.iter().position(|v| !v.is_finite()) {
            return Err(Failure::BadInitial { state });
        }
        if let Some(dependent) = self.contradiction {
            return Err(Failure::Contradiction { dependent });
        }
        self.system.place_tables(self.t);
        self.system.prepare();
        self.system.start(self.t, &self.x).map_err(|trouble| self.failure(trouble))?;
        if !self.system.model.roundings.is_empty() {
            let noted = self.watch.note(&mut self.system, self.t, &self.x);
            noted.map_err(|trouble| self.failure(trouble))?;
            self.widen();
        }
        let started = self.watch.start(&mut self.system, self.t, &self.x);
        let (settled, sliding) = started.map_err(|trouble| self.failure(trouble))?;
        if let Settled::Cycling(event) = settled {
            return Err(Failure::Chattering { t: self.t, event });
        }
        self.begin()?;
        for change in sliding {
            self.switch(&[change], 0.0)?;
        }
        let end = self.options.t_end;
        let span = end - self.t;
        let mut h = match self.options.step {
            Some(step) if self.options.method.is_fixed() => step,
            _ => self.first_step(span),
        };
        let mut grid = 0u64;
        loop {
            self.emit(sink)?;
            if self.t >= end {
                return Ok(());
            }
            ticket.check().map_err(|_| Failure::Cancelled)?;
            if self.stats.steps + self.stats.rejected >= self.options.max_steps {
                return Err(Failure::TooManySteps { t: self.t });
            }
            if self.options.method.is_fixed() {
                let to = self.options.t_start + (grid + 1) as f64 * h;
                // The last step ends at the end, and one at an event, also where rounding leaves a sliver.
                let sliver = 1e-9 * h;
                let to = if to > end - sliver { end } else { to };
                self.fixed_step(to, to + sliver, span, sink)?;
                grid += u64::from(self.t >= to - sliver);
            } else {
                h = self.adapted_step(h, span, sink)?;
            }
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        if !std::ptr::eq(self.bound, self.system.model) {
            self.bound = self.system.model;
            self.spare = None;
            self.solver = solver(self.explicit, self.stiff, &self.system, self.solver.stages().sensitive);
            if let Some(sensitivities) = &mut self.sensitivities {
                sensitivities.bind(&self.system);
            }
        }
        let mut begun = self.solver.begin(&mut self.system, self.t, &self.x);
        // At an event rounding may leave a law just outside its domain.
        if begun.is_err() && self.system.follow_modes(true) {
            begun = self.solver.begin(&mut self.system, self.t, &self.x);
        }
        self.system.follow_modes(false);
        begun.map_err(|trouble| self.failure(trouble))?;
        self.system.anchor();
        if let Some(sensitivities) = &mut self.sensitivities {
            sensitivities.restart();
        }
        self.judge_noise();
        self.refresh_tolerance();
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Modes(self.system.snapshot()));
        }
        Ok(())
    }

    /// Follows the step with the sensitivities and fills the points; returns their error.
    fn follow(&mut self, h: f64, to: f64) -> Result<f64, Trouble> {
        let inside = self.prepare_points(h, to)?;
        let Some(sensitivities) = &mut self.sensitivities else { return Ok(inside) };
        // Explicit and implicit solvers differ in their factors only.
        let (stages, factors) = self.solver.parts();
        let points = &mut self.points[..self.inner];
        Ok(sensitivities.step(&mut self.system, stages, factors, &self.tolerance, points).max(inside))
    }

    /// Moves to the end of the step.
    fn accept(&mut self, to: f64) {
        let stages = self.solver.stages();
        self.x.copy_from_slice(&stages.end);
        stages.accept();
        self.t = to;
        self.system.arrive();
        if let Some(sensitivities) = &mut self.sensitivities {
            sensitivities.accept();
        }
        self.stats.steps += 1;
    }

    /// Rounds roots off within what the tolerance does not see; fixed steps have none.
    fn widen(&mut self) {
        if !self.options.method.is_fixed() {
            self.system.widen(self.watch.largest(), self.options.rtol);
        }
    }

    /// Notes which sensitivities the step just tried leaves undefined; returns whether there are new ones.
    fn lose_sensitivities(&mut self) -> bool {
        let Some(sensitivities) = &mut self.sensitivities else { return false };
        let mut lost = false;
        for (lane, state) in sensitivities.undefined(self.solver.stages()) {
            if !std::mem::replace(&mut self.undefined[lane], true) {
                self.notes.push(Note::Steep { t: self.t, lane, state });
                sensitivities.forget(lane);
                lost = true;
            }
        }
        lost
    }

    /// Takes a step that ends at `to`, or at an event before, or at one of time alone before `latest`.
    fn fixed_step(
        &mut self,
        to: f64,
        latest: f64,
        span: f64,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<(), Failure> {
        let stop = self.next_stop()?;
        if stop.at <= self.t {
            return self.switch(&stop.events, 0.0);
        }
        let goal = if stop.at < latest { stop.at } else { to };
        let tried = self.take(goal - self.t, goal, self.smallest(span));
        self.system.follow_modes(false);
        if let Ok(taken) = tried.map_err(|trouble| self.failure(trouble))? {
            self.arrive(taken, stop, span, sink)?;
            if let Some(state) = self.x.iter().position(|v| !v.is_finite()) {
                return Err(Failure::NotFinite { t: self.t, state });
            }
        }
        Ok(())
    }

    /// The next event of time alone, or corner of a table, or the end.
    fn next_stop(&mut self) -> Result<Stop, Failure> {
        let mut stop = Stop { at: self.options.t_end, events: Vec::new(), eventful: false };
        let timed = self.watch.next_timed(&mut self.system, self.t, &self.x);
        if let Some((at, events)) = timed.map_err(|trouble| self.failure(trouble))?
            && at <= stop.at
        {
            stop = Stop { at, events, eventful: true };
        }
        match self.system.next_corner(self.t) {
            Some(at) if at < stop.at => Ok(Stop { at, events: Vec::new(), eventful: true }),
            Some(at) if at == stop.at => Ok(Stop { eventful: true, ..stop }),
            _ => Ok(stop),
        }
    }

    /// No step is smaller than this.
    fn smallest(&self, span: f64) -> f64 {
        1e-14 * self.t.abs().max(1e-3 * span)
    }

    /// Goes to the end of a step, and through the events there; tells whether there were any.
    fn arrive(
        &mut self,
        taken: Taken,
        stop: Stop,
        span: f64,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<bool, Failure> {
        let mut events = taken.events;
        if taken.step == 0.0 {
            self.count_immediate(true, events.first())?;
            self.switch(&events, taken.steepness)?;
            return Ok(true);
        }
        self.emit_points(sink);
        self.judge_stiffness();
        self.accept(taken.to);
        self.widen();
        self.refresh_tolerance();
        let at_stop = taken.to == stop.at && stop.eventful;
        if events.is_empty() && !at_stop {
            self.immediate = 0;
            return Ok(false);
        }
        self.count_immediate(taken.step <= 1e-9 * span, events.first())?;
        if at_stop {
            events.extend(stop.events);
        }
        self.system.place_tables(self.t);
        self.switch(&events, taken.steepness)?;
        Ok(true)
    }

    /// Takes one step of adapted size, or learns that it was too large; returns the size to try next.
    fn adapted_step(&mut self, h: f64, span: f64, sink: &mut dyn FnMut(&Sample<'_>)) -> Result<f64, Failure> {
        let stop = self.next_stop()?;
        if stop.at <= self.t {
            // An event at the very present.
            self.switch(&stop.events, 0.0)?;
            return Ok(h);
        }
        let smallest = self.smallest(span);
        let goal = self.lone_time(h).map_or(stop.at, |at| stop.at.min(at));
        let left = goal - self.t;
        let room = self.options.time(self.next + RESULTS).map_or(left, |at| at - self.t);
        let lands = h >= 0.999 * left && left <= room;
        // Two even steps are better than a whole one and a crumb.
        let step = if lands { left } else { h.min((0.5 * left).max(0.5 * h)).min(room) };
        if step < smallest && !lands {
            if self.resort()? {
                return Ok(2.0 * smallest);
            }
            return Err(match self.trouble {
                Some(trouble) => self.failure(trouble),
                None => Failure::StepTooSmall { t: self.t, state: self.worst_state() },
            });
        }
        let to = if lands { goal } else { self.t + step };
        let taken = match self.take(step, to, smallest) {
            Ok(Ok(taken)) => taken,
            Ok(Err(next)) => return Ok(next),
            Err(trouble) => {
                self.system.follow_modes(false);
                self.trouble = Some(trouble);
                self.tried = Some((to, self.solver.stages().scratch.clone()));
                self.stats.rejected += 1;
                if self.t - self.stuck.0 > NARROW * span {
                    self.stuck = (self.t, 0);
                }
                self.stuck.1 += 1;
                if self.stuck.1 > STUCK && !self.resort()? {
                    return Err(self.failure(trouble));
                }
                return Ok(0.2 * step);
            }
        };
        self.system.follow_modes(false);
        let (length, error) = (taken.step, taken.error);
        let eventful = self.arrive(taken, stop, span, sink)?;
        if length == 0.0 {
            return Ok(step);
        }
        self.trouble = None;
        let rate = self.solver.tableau().rate;
        // An explicit method is kept from swinging about its limit of stability; an implicit one has
        // none, and its steps grow with time.
        let (now, before) = if self.stiff { (1.0, 0.0) } else { (0.7, 0.4) };
        let log = error.max(1e-10).ln();
        let factor = 0.9 * ((before * self.error_before - now * log) / rate).exp();
        let factor = factor.clamp(0.2, 8.0);
        self.error_before = log.max(LEAST_BEFORE);
        // A step cut short by an event or a stop says little about the next one.
        let grown = if length < 0.9 * h { h.max(length * factor) } else { length * factor };
        if !eventful {
            self.change_solver()?;
            return Ok(grown * self.choose_order(grown / length)?);
        }
        Ok(grown)
    }

    /// A wanted time that is alone in the next steps of the implicit method. These are long, and what
    /// decays fast within them is known best at their ends, so that one ends there.
    fn lone_time(&self, h: f64) -> Option<f64> {
        let first = self.options.time(self.next)?;
        let alone = self.options.time(self.next + 1).is_none_or(|second| second - first >= h);
        (self.stiff && alone && first - self.t <= 2.0 * h).then_some(first)
    }

    /// Counts events that follow each other at once.
    fn count_immediate(&mut self, at_once: bool, event: Option<&(usize, f64)>) -> Result<(), Failure> {
        self.immediate = if at_once { self.immediate + 1 } else { 0 };
        let event = event.map_or(0, |(k, _)| *k);
        if self.immediate > CHATTER { Err(Failure::Chattering { t: self.t, event }) } else { Ok(()) }
    }

    /// Steps the state, shortened to the first event in the step, and then the sensitivities.
    /// Where the step is too large, the size to try next.
    fn take(&mut self, step: f64, to: f64, smallest: f64) -> Result<Result<Taken, f64>, Trouble> {
        let mut taken = Taken { step, to, error: 0.0, events: Vec::new(), steepness: 0.0 };
        let mut pending: Option<Crossing> = None;
        for _ in 0..12 {
            taken.error = match self.step_state(taken.step)? {
                error if error <= 1.0 => error,
                error => return Ok(Err(self.reject(taken.step, error))),
            };
            if let Some(crossing) = &pending
                && self.watch.reached(&mut self.system, self.solver.stages(), crossing, AT_ONCE)?
            {
                break;
            }
            if pending.is_none() {
                let opened = self.watch.opened(&mut self.system, self.solver.stages())?;
                if !opened.is_empty() {
                    // A function that rested at zero has left it: the step is taken again with its sign.
                    self.system.follow_modes(false);
                    opened.iter().for_each(|(k, mode)| self.system.set_mode(*k, *mode));
                    self.system.prepare();
                    self.solver.begin(&mut self.system, self.t, &self.x)?;
                    if let Some(sensitivities) = &mut self.sensitivities {
                        sensitivities.restart();
                    }
                    if let Some(tape) = &mut self.tape {
                        tape.push(Entry::Modes(self.system.snapshot()));
                    }
                    return Ok(Err(step));
                }
            }
            let found = self.watch.crossing(&mut self.system, &mut *self.solver, &self.tolerance)?;
            // What interpolation has seen just behind the end of the shortened step happens at its end.
            if found.is_none()
                && let Some(crossing) = &pending
                && self.watch.reached(&mut self.system, self.solver.stages(), crossing, ALMOST)?
            {
                break;
            }
            pending = found;
            let Some(crossing) = &pending else { break };
            if crossing.theta * taken.step <= smallest {
                (taken.step, taken.to) = (0.0, self.t);
                break;
            }
            if crossing.theta >= 1.0 {
                break;
            }
            // Interpolation beyond the event may mislead, so the shortened step is looked at again.
            taken.step *= crossing.theta;
            taken.to = self.t + taken.step;
        }
        if let Some(crossing) = &pending {
            taken.events = crossing.events.iter().map(|k| (*k, -self.system.mode(*k))).collect();
            taken.steepness = crossing.steepness;
        }
        if pending.is_none() {
            for (event, theta) in std::mem::take(&mut self.watch.touched) {
                self.notes.push(Note::Grazing { t: self.t + theta * taken.step, event });
            }
        }
        if taken.step > 0.0 {
            let end = &self.solver.stages().end;
            self.system.continues((self.t, &self.x), (taken.to, end))?;
            let followed = self.follow(taken.step, taken.to)?;
            if self.lose_sensitivities() {
                return Ok(Err(step));
            }
            if followed > 1.0 || followed.is_nan() {
                return Ok(Err(self.reject(taken.step, followed)));
            }
            taken.error = taken.error.max(followed);
        }
        Ok(Ok(taken))
    }

    /// Steps the state. A frozen branch may have no value beyond its event (a root of what becomes
    /// negative); then branches follow the state for this step, until the event is found.
    fn step_state(&mut self, step: f64) -> Result<f64, Trouble> {
        self.system.recall(0.0);
        let mut tried = self.solver.step(&mut self.system, self.t, &self.x, step, &self.tolerance);
        if tried.is_err() && self.system.follow_modes(true) {
            tried = self.solver.step(&mut self.system, self.t, &self.x, step, &self.tolerance);
        }
        self.system.reach();
        tried
    }

    fn reject(&mut self, step: f64, error: f64) -> f64 {
        self.stats.rejected += 1;
        let rate = self.solver.tableau().rate;
        let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / rate) } else { 0.25 };
        step * factor.clamp(0.1, 0.9)
    }

    /// The state whose error is largest.
    fn worst_state(&mut self) -> usize {
        let stages = self.solver.stages();
        let mut worst = (0, -1.0);
        for i in 0..self.x.len() {
            let error: f64 = match stages.tableau.errors.first() {
                Some(terms) => stages.weigh(terms, i),
                None => 0.0,
            };
            let scaled =
                (stages.h * error).abs() / (self.tolerance.atol[i] + self.tolerance.rtol * self.x[i].abs());
            if scaled > worst.1 || scaled.is_nan() {
                worst = (i, scaled);
            }
        }
        worst.0
    }
}

/// The first dependent state whose initial value is not what follows from those it depends on.
fn contradiction(model: &Compiled, parameters: &[f64]) -> Option<usize> {
    let mut pairs = vec![0.0; model.agreement.results()];
    let parameters = &parameters[..model.parameters.min(parameters.len())];
    model.agreement.run(parameters, &mut Vec::new(), &mut pairs);
    let (pairs, _) = pairs.as_chunks::<2>();
    let differs = |[a, b]: &[f64; 2]| (a - b).abs() > 1e-9 * a.abs().max(b.abs());
    model.agreeing.iter().zip(pairs).find(|(_, pair)| differs(pair)).map(|(place, _)| *place)
}
