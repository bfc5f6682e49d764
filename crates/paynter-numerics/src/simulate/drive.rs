//! The loop of a run: steps, their control, events, outputs.

use super::adjoint::Entry;
use super::compiled::{Compiled, Wanted};
use super::events::{Crossing, Settled, Watch};
use super::explicit::Explicit;
use super::implicit::Implicit;
use super::jump::Jump;
use super::solver::{Point, Sensitivities, Solver, Tolerance, weigh};
use super::system::{System, Trouble, Values};
use super::tableau::Tableau;
use super::{Failure, Method, Note, Options, Outcome, Sample, Stats};
use crate::program::Tables;
use paynter_base::Ticket;

/// Below this relative tolerance the method of order eight is cheaper than that of order five; above it
/// both are tried.
const TIGHT: f64 = 2e-8;
/// A method is tried over so many steps, once they have stopped to grow by more than this.
const TRIED: u32 = 4;
const GROWING: f64 = 1.5;
/// Without an absolute tolerance, states are resolved to this part of the largest value they have had.
const RESOLVED: f64 = 1e-3;
/// And to this part of the largest value of states that are measured alike.
const RESOLVED_AMONG: f64 = 1e-6;
/// And never finer than this.
const FLOOR: f64 = 1e-12;
/// And never finer than this part of what makes it up.
const ROUNDING: f64 = 1e-15;
/// Where rates cancel on a surface, a state is resolved to this part of what one side would make of it.
const CANCELLED: f64 = 1e-13;
/// So many events without time going on are chattering.
const CHATTER: u32 = 100;
/// An event is reached where its function is so small a part of its change over the step.
const AT_ONCE: f64 = 1e-9;
/// And where it is not found again by a shorter step.
const ALMOST: f64 = 1e-5;
/// So much trouble within such a part of the run ends it.
const STUCK: u32 = 200;
const NARROW: f64 = 1e-6;
/// No step holds more results than this: they are in memory until it is accepted.
const RESULTS: usize = 4096;

/// A step that was taken.
struct Taken {
    step: f64,
    to: f64,
    error: f64,
    events: Vec<(usize, f64)>,
    steepness: f64,
}

/// Two explicit methods are compared by how far they come with an evaluation.
#[derive(Debug, Default)]
struct Trial {
    /// Steps of the method at hand that count, and the time and evaluations where they began.
    steps: u32,
    since: (f64, u64),
    /// The pace of the method of order five, once it is known.
    first: Option<f64>,
}

/// When time alone ends a step, and the events that happen then.
struct Stop {
    at: f64,
    events: Vec<(usize, f64)>,
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

/// Leaves no numbers where there are no sensitivities; those of an output stand together.
fn erase(sensitivities: &mut [f64], undefined: &[bool]) {
    if undefined.contains(&true) {
        for row in sensitivities.chunks_mut(undefined.len()) {
            row.iter_mut().zip(undefined).filter(|(_, lost)| **lost).for_each(|(s, _)| *s = f64::NAN);
        }
    }
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
                }
            }
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
            trial: (matches!(options.method, Method::Auto | Method::Explicit) && options.rtol >= TIGHT)
                .then(Trial::default),
            sensitivities,
            watch,
            options,
            bound: model,
            system,
            next: 0,
            points: Vec::new(),
            inner: 0,
            undefined: vec![false; model.wanted.len()],
            stats: Stats::default(),
            notes: Vec::new(),
            trouble: None,
            stuck: (options.t_start, 0),
            tried: None,
            error_before: 1.0,
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
        self.widen()?;
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

    /// Finds how large the rates are that cancel on the surfaces along which the motion slides.
    fn judge_noise(&mut self) {
        let span = self.options.t_end - self.options.t_start;
        let sliding = (0..self.system.surfaces().len()).filter(|j| self.system.slides_along(*j));
        for j in sliding.collect::<Vec<_>>() {
            let snapshot = self.system.snapshot();
            self.system.slide(j, 0.0);
            let mut beside = vec![0.0; self.x.len()];
            if self.system.rates(self.t, &self.x, &mut beside).is_ok() {
                let rates = &self.solver.stages().k[0];
                for ((noise, beside), rate) in self.noise.iter_mut().zip(&beside).zip(rates) {
                    *noise = noise.max(CANCELLED * (beside - rate).abs() * span);
                }
            }
            self.system.restore(&snapshot);
        }
    }

    fn refresh_tolerance(&mut self) {
        let groups = &self.system.model.groups;
        for i in 0..self.x.len() {
            self.largest[i] = self.largest[i].max(self.x[i].abs());
            self.among[groups[i]] = self.among[groups[i]].max(self.largest[i]);
        }
        if self.options.atol.is_none() {
            for i in 0..self.x.len() {
                let size = (RESOLVED * self.largest[i]).max(RESOLVED_AMONG * self.among[groups[i]]);
                // Finer than rounding nothing can be resolved.
                let rounding = (ROUNDING * self.among[groups[i]]).max(self.noise[i]);
                self.tolerance.atol[i] = (self.options.rtol * size.max(FLOOR)).max(rounding);
            }
        }
    }

    /// A first step that changes the state by little (Hairer, Nørsett and Wanner, II.4).
    fn first_step(&mut self, span: f64) -> f64 {
        let order = self.solver.tableau().order as f64;
        let rates = self.solver.stages().k[0].clone();
        let mut tolerance = self.tolerance.clone();
        if self.options.atol.is_none() {
            // A state that starts at zero is resolved with regard to where it is going.
            for i in 0..rates.len() {
                let reach = self.largest[i].max(rates[i].abs() * span * 1e-3);
                tolerance.atol[i] = self.options.rtol * (RESOLVED * reach).max(FLOOR);
            }
        }
        let d0 = tolerance.norm(&self.x, &self.x, &self.x);
        let d1 = tolerance.norm(&rates, &self.x, &self.x);
        let rough = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 * span } else { (0.01 * d0 / d1).min(span) };
        let ahead: Vec<f64> = self.x.iter().zip(&rates).map(|(x, k)| x + rough * k).collect();
        let mut new = vec![0.0; rates.len()];
        if self.system.rates(self.t + rough, &ahead, &mut new).is_err() {
            return 1e-3 * rough;
        }
        let bend: Vec<f64> = new.iter().zip(&rates).map(|(a, b)| a - b).collect();
        let d2 = tolerance.norm(&bend, &self.x, &self.x) / rough;
        let size = d1.max(d2);
        let fine = if size <= 1e-15 {
            (1e-3 * span).max(1e-6 * span)
        } else {
            (0.01 / size).powf(1.0 / (order + 1.0))
        };
        fine.min(100.0 * rough).min(span)
    }

    /// Gives samples at the present point.
    fn emit(&mut self, sink: &mut dyn FnMut(&Sample<'_>)) -> Result<(), Failure> {
        while let Some(t) = self.options.time(self.next).filter(|t| *t <= self.t) {
            let (values, y, s) = &mut self.buffer;
            y.resize(self.system.model.outputs_count, 0.0);
            let done = match &self.sensitivities {
                Some(sensitivities) => self.system.outputs_full(t, &self.x, values).map(|()| {
                    let count = y.len();
                    y.copy_from_slice(&values.data[..count]);
                    sensitivities.outputs(&self.system.model.outputs_full, &values.data, s);
                }),
                None => self.system.outputs(t, &self.x, y),
            };
            done.map_err(|trouble| self.failure(trouble))?;
            if let Some(tape) = &mut self.tape {
                tape.push(Entry::Node { t, x: self.x.clone() });
            }
            let (_, y, s) = &mut self.buffer;
            erase(s, &self.undefined);
            sink(&Sample { t, states: &self.x, outputs: y, sensitivities: s });
            self.next += 1;
        }
        Ok(())
    }

    /// Prepares the points strictly within the step that the solver has taken.
    fn prepare_points(&mut self, h: f64, to: f64) -> Result<(), Trouble> {
        let options = self.options;
        let within = || (self.next..).map_while(|number| options.time(number)).take_while(|time| *time < to);
        let count = within().count();
        self.inner = count;
        if self.points.len() < count {
            self.points.resize_with(count, Point::default);
        }
        if count == 0 {
            return Ok(());
        }
        self.solver.extend(&mut self.system, &self.tolerance)?;
        let stages = self.solver.stages();
        for (point, time) in self.points[..count].iter_mut().zip(within()) {
            point.t = time;
            point.theta = ((time - self.t) / h).clamp(0.0, 1.0);
            stages.tableau.weights(point.theta, &mut point.weights);
            point.x.resize(self.x.len(), 0.0);
            stages.interpolate(&point.weights, &mut point.x);
            self.system.recall(point.theta);
            point.y.resize(self.system.model.outputs_count, 0.0);
            if self.sensitivities.is_some() {
                self.system.outputs_full(time, &point.x, &mut point.values)?;
                let count = point.y.len();
                point.y.copy_from_slice(&point.values.data[..count]);
                point.s.clear();
                point.s.resize(point.y.len() * self.system.model.wanted.len(), 0.0);
            } else {
                self.system.outputs(time, &point.x, &mut point.y)?;
            }
        }
        Ok(())
    }

    fn emit_points(&mut self, sink: &mut dyn FnMut(&Sample<'_>)) {
        if let Some(tape) = &mut self.tape {
            let stages = self.solver.stages();
            tape.push(Entry::Step {
                t: stages.t,
                h: stages.h,
                x: stages.start.clone(),
                unknowns: self.system.anchored().to_vec(),
                tableau: stages.tableau,
            });
            let inner = &self.points[..self.inner];
            tape.extend(inner.iter().map(|p| Entry::Inner { t: p.t, theta: p.theta, x: p.x.clone() }));
        }
        for point in &mut self.points[..self.inner] {
            erase(&mut point.s, &self.undefined);
            sink(&Sample { t: point.t, states: &point.x, outputs: &point.y, sensitivities: &point.s });
        }
        self.next += self.inner;
        self.inner = 0;
    }

    /// Follows the step with the sensitivities and fills the points; returns their error.
    fn follow(&mut self, h: f64, to: f64) -> Result<f64, Trouble> {
        self.prepare_points(h, to)?;
        let Some(sensitivities) = &mut self.sensitivities else { return Ok(0.0) };
        // Explicit and implicit solvers differ in their factors only.
        let (stages, factors) = self.solver.parts();
        let points = &mut self.points[..self.inner];
        Ok(sensitivities.step(&self.system, stages, factors, &self.tolerance, points))
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
    fn widen(&mut self) -> Result<(), Failure> {
        if self.options.method.is_fixed() {
            return Ok(());
        }
        let done = self.system.widen(self.t, &self.x, self.options.rtol);
        done.map_err(|trouble| self.failure(trouble))
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
        let mut stop = Stop { at: self.options.t_end, events: Vec::new() };
        let timed = self.watch.next_timed(&mut self.system, self.t, &self.x);
        if let Some((at, events)) = timed.map_err(|trouble| self.failure(trouble))?
            && at <= stop.at
        {
            stop = Stop { at, events };
        }
        match self.system.next_corner(self.t) {
            Some(at) if at < stop.at => Ok(Stop { at, events: Vec::new() }),
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
        self.widen()?;
        self.refresh_tolerance();
        let at_stop = taken.to == stop.at && stop.at < self.options.t_end;
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
                if self.stuck.1 > STUCK {
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
        let factor = 0.9 * error.max(1e-10).powf(-now / rate) * self.error_before.powf(before / rate);
        let factor = factor.clamp(0.2, 8.0);
        self.error_before = error.max(1e-4);
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
                Some(terms) => weigh(&stages.k, terms, i),
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

    fn judge_stiffness(&mut self) {
        if self.options.method != Method::Auto {
            return;
        }
        if self.stiff {
            let full = &self.system.model.full;
            let by_states = full.by_states(self.solver.slopes());
            let row = |i: usize| full.pattern.row(i).map(|e| by_states[e].abs()).sum::<f64>();
            let size = (0..self.x.len()).map(row).fold(0.0, f64::max);
            let easy = size * self.solver.stages().h < 1.0;
            self.easy_signs = if easy { self.easy_signs + 1 } else { 0 };
        } else {
            let stages = self.solver.stages();
            let limit = 0.8 * stages.tableau.stability;
            // Where the state stands still, only its sensitivities show how stiff the model is.
            let shown = stages.stiffness(&self.tolerance).or_else(|| stages.radius(&self.system.model.full));
            if shown.is_some_and(|shown| shown > limit) {
                self.stiff_signs += 1;
            } else if self.stiff_signs > 0 {
                self.stiff_signs -= 1;
            }
        }
    }

    /// Changes between the explicit and the implicit solver where the signs say so.
    fn change_solver(&mut self) -> Result<(), Failure> {
        let stiff = match self.stiff {
            false if self.stiff_signs >= 5 => true,
            true if self.easy_signs >= 20 => false,
            _ => return Ok(()),
        };
        self.stats.switches += 1;
        (self.stiff, self.stiff_signs, self.easy_signs) = (stiff, 0, 0);
        self.solver = solver(self.explicit, stiff, &self.system, self.sensitivities.is_some());
        self.begin()
    }

    /// Tries the methods of order five and eight one after the other and keeps the one that comes further
    /// with an evaluation: which that is depends on the model, the tolerance and the times asked for.
    /// Returns by how much longer the steps of the method that follows may be.
    fn choose_order(&mut self, growth: f64) -> Result<f64, Failure> {
        let now = (self.t, self.system.evaluations);
        let Some(trial) = self.trial.as_mut().filter(|_| !self.stiff) else { return Ok(1.0) };
        if trial.steps == 0 {
            trial.since = now;
        }
        trial.steps += u32::from(trial.steps > 0 || growth < GROWING);
        if trial.steps <= TRIED {
            return Ok(1.0);
        }
        let pace = (now.0 - trial.since.0) / (now.1 - trial.since.1) as f64;
        let (next, longer) = match trial.first {
            None => {
                *trial = Trial { first: Some(pace), ..Trial::default() };
                (Tableau::dop853(), 2.0)
            }
            Some(first) => {
                self.trial = None;
                if first <= pace {
                    return Ok(1.0);
                }
                (Tableau::tsit5(), 0.5)
            }
        };
        self.explicit = next;
        self.solver = solver(next, false, &self.system, self.sensitivities.is_some());
        self.begin()?;
        Ok(longer)
    }

    /// Lets the state jump where a dependent storage does; tells whether it does.
    fn jump(
        &mut self,
        dependent: Values,
        shift: Option<&Vec<f64>>,
        before: &[f64],
        given: &[usize],
    ) -> Result<bool, Failure> {
        let found = Jump::find(&mut self.system, self.t, &self.x, dependent);
        let (Some(jump), Some(jumps)) =
            (found.map_err(|trouble| self.failure(trouble))?, &self.system.model.jumps)
        else {
            return Ok(false);
        };
        let (t, x) = (self.t, jump.x.clone());
        let settled = self.watch.settle(&mut self.system, t, &x, (&[], None), given);
        if let Settled::Cycling(event) = settled.map_err(|trouble| self.failure(trouble))? {
            return Err(Failure::Chattering { t, event });
        }
        let mut after = vec![0.0; x.len()];
        self.system.rates(t, &x, &mut after).map_err(|trouble| self.failure(trouble))?;
        if let (Some(sensitivities), Some(shift)) = (&mut self.sensitivities, shift) {
            jump.carry(jumps, sensitivities, shift, [before, &after]);
        }
        for output in jump.impulses(jumps) {
            let told = |note: &Note| matches!(note, Note::Impulse { output: other, .. } if *other == output);
            if !self.notes.iter().any(told) {
                self.notes.push(Note::Impulse { t, output });
            }
        }
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Jump);
        }
        self.x = x;
        Ok(true)
    }

    /// Changes modes at events: sensitivities jump by (f⁻ − f⁺)·dt*/dp, with the time t* of each event.
    fn switch(&mut self, events: &[(usize, f64)], steepness: f64) -> Result<(), Failure> {
        if let Some(trial) = &mut self.trial {
            trial.steps = 0;
        }
        let (t, x) = (self.t, self.x.clone());
        self.system.rest();
        let mut before = vec![0.0; x.len()];
        // The rates before the event, still with the old modes and tables.
        let known = self.system.rates(t, &x, &mut before).is_ok();
        let first = before.clone();
        let mut shifts = Vec::new();
        if let (Some(sensitivities), true) = (&self.sensitivities, known) {
            for (k, _) in events {
                let at = (t, &x[..], &before[..]);
                let found = self.watch.time_sensitivity(&mut self.system, at, (*k, steepness), sensitivities);
                let (change, grazing) = found.map_err(|trouble| self.failure(trouble))?;
                if grazing && self.system.leaving(*k).is_none() {
                    self.notes.push(Note::Grazing { t, event: *k });
                }
                shifts.push(change);
            }
        }
        let mut dependent = Values::default();
        let calculated = self.system.jumps(t, &x, &mut dependent);
        calculated.map_err(|trouble| self.failure(trouble))?;
        self.stats.events += events.len() as u64;
        let mut falls: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut given = Vec::new();
        for (i, (k, mode)) in events.iter().enumerate() {
            match self.system.leaving(*k) {
                Some(j) => {
                    let left = self.watch.leave(&mut self.system, t, &x, j);
                    given.push(left.map_err(|trouble| self.failure(trouble))?);
                }
                None => {
                    let turned = self.watch.turn(&mut self.system, t, &x, *k, *mode);
                    turned.map_err(|trouble| self.failure(trouble))?;
                    given.push(*k);
                }
            }
            // Events of one time each have a part in the change; the last one has what settling adds.
            if i + 1 < events.len() && known {
                let mut after = vec![0.0; x.len()];
                if self.system.rates(t, &x, &mut after).is_ok() {
                    let fall = before.iter().zip(&after).map(|(before, after)| before - after).collect();
                    falls.push((*k, fall));
                    before = after;
                } else {
                    falls.push((*k, vec![0.0; x.len()]));
                }
            }
        }
        let zeros: Vec<usize> =
            events.iter().map(|(k, _)| *k).filter(|k| self.system.leaving(*k).is_none()).collect();
        let hurried: Vec<(usize, f64)> =
            zeros.iter().filter_map(|k| Some((*k, self.watch.rattles(*k, t)?))).collect();
        let calm = hurried.first().map(|(_, rate)| *rate);
        let settled = self.watch.settle(&mut self.system, t, &x, (&zeros, calm), &given);
        if let Settled::Cycling(event) = settled.map_err(|trouble| self.failure(trouble))? {
            return Err(Failure::Chattering { t, event });
        }
        for (event, _) in hurried {
            if !self.system.slides(event) {
                return Err(Failure::Chattering { t, event });
            }
            self.notes.push(Note::Rattling { t, event });
        }
        if self.jump(dependent, shifts.first(), &first, &given)? {
            return self.begin();
        }
        self.stats.slides += zeros.iter().filter(|k| self.system.slides(**k)).count() as u64;
        let mut after = vec![0.0; x.len()];
        let mut found = self.system.rates(t, &x, &mut after);
        if found.is_err() && self.system.follow_modes(true) {
            found = self.system.rates(t, &x, &mut after);
            self.system.follow_modes(false);
        }
        found.map_err(|trouble| self.failure(trouble))?;
        if let (Some((k, _)), true) = (events.last(), known) {
            falls.push((*k, before.iter().zip(&after).map(|(before, after)| before - after).collect()));
        }
        if let Some(sensitivities) = &mut self.sensitivities {
            for ((_, fall), shift) in falls.iter().zip(&shifts) {
                for (row, fall) in fall.iter().enumerate().filter(|(_, fall)| **fall != 0.0) {
                    for (lane, change) in shift.iter().enumerate() {
                        let value = sensitivities.s.get(row, lane) + fall * change;
                        sensitivities.s.set(row, lane, value);
                    }
                }
            }
        }
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Event { t, x, before: first, falls });
        }
        self.begin()
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

/// The method with which a run starts where the model is not stiff.
fn explicit(options: &Options) -> &'static Tableau {
    match options.method {
        Method::Euler => Tableau::euler(),
        Method::Rk4 => Tableau::rk4(),
        Method::Dop853 => Tableau::dop853(),
        Method::Auto | Method::Explicit if options.rtol < TIGHT => Tableau::dop853(),
        _ => Tableau::tsit5(),
    }
}

fn solver(explicit: &'static Tableau, stiff: bool, system: &System<'_>, sensitive: bool) -> Box<dyn Solver> {
    if stiff {
        Box::new(Implicit::new(system, sensitive))
    } else {
        Box::new(Explicit::new(explicit, system, sensitive))
    }
}
