//! A compiled model at work: the parameters of a run, the modes of its
//! branches, and everything a solver evaluates at a time and state.

mod complement;

use super::Failure;
use super::compiled::Compiled;
use super::linearised::Linearised;
use super::loops::Loop;
use super::slide::Surface;
use paynter_numerics::program::{Program, Tables};

/// Why a point has no rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The rate of this state is infinite or undefined.
    NotFinite(usize),
    /// This implicit unknown was not found.
    NoSolution(usize),
    /// Newton's method found no stage of an implicit step; this state was furthest from settled.
    Unsolved(usize),
    /// The states after a jump were not found; this one moved most at last.
    NoJump(usize),
}

/// A residual below this part of its terms, or of what it has been, is what rounding leaves.
const ROUNDED: f64 = 1e-10;
/// A residual that has become smaller than this part is zero.
const VANISHED: f64 = 1e-28;
/// Unknowns below this are what rounding leaves of others that cancel.
const NOTHING: f64 = 1e-9;
/// Solutions of the same equations that differ by this part are two.
const APART: f64 = 1e-4;

impl Trouble {
    /// The failure that it is at a time.
    pub fn at(self, t: f64) -> Failure {
        match self {
            Trouble::NotFinite(state) => Failure::NotFinite { t, state },
            Trouble::NoSolution(unknown) => Failure::NoSolution { t, unknown },
            Trouble::NoJump(state) => Failure::NoJump { t, state },
            Trouble::Unsolved(state) => Failure::StepTooSmall { t, state },
        }
    }
}

/// How far ahead a slope is taken that is infinite here, beside the size of the states.
const AHEAD: f64 = 1e-9;

/// Within this width powers with a sign are rounded off as long as their bases have been zero: so narrow
/// that roots are as good as infinitely steep.
const NARROW: f64 = 1e-90;

/// Slopes from here on are infinite.
const INFINITE: f64 = 1e30;

/// The width beside the tolerated error of the largest value a base has had.
const WIDTH: f64 = 5.0;

/// So many widths beyond zero their event is.
const MARGIN: f64 = 10.0;

/// Values of functions with their derivatives, kept between evaluations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    epoch: u32,
    pub data: Vec<f64>,
    /// Infinite derivatives, which stand as zeros among the data.
    pub steep: Option<Box<Steep>>,
}

/// Where derivatives of rates are infinite.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steep {
    /// States by which they are, here and ahead.
    pub states: Vec<usize>,
    /// States by which derivatives are infinite only here: they stand as those from a little ahead.
    pub passed: Vec<usize>,
    /// Whether the solution rests there for an instant: then it leaves too slowly for the slopes to be integrated.
    pub resting: bool,
    /// By parameters: lanes.
    pub lanes: Vec<usize>,
}

/// Registers of a program, and its results as far as they change at events only.
#[derive(Debug, Clone, Default)]
struct Room {
    epoch: u32,
    registers: Vec<f64>,
    template: Vec<f64>,
    loops: Vec<Loop>,
}

/// Parameters, modes and tables as programs take them into account, and how often these have changed.
struct Setting<'a> {
    epoch: u32,
    slow: Vec<f64>,
    tables: &'a Tables,
}

impl Room {
    /// Prepares a program for the present setting.
    #[cold]
    fn prepare(&mut self, program: &Program, length: usize, setting: &Setting<'_>) {
        self.epoch = setting.epoch;
        self.template.clear();
        self.template.resize(length, 0.0);
        program.prepare(&setting.slow, setting.tables, &mut self.registers, &mut self.template);
    }

    /// Calculates functions.
    fn run(&mut self, program: &Program, setting: &Setting<'_>, fast: &[f64], out: &mut [f64]) {
        if self.epoch != setting.epoch {
            self.prepare(program, program.results(), setting);
        }
        out.copy_from_slice(&self.template);
        program.run_prepared(fast, setting.tables, &mut self.registers, out);
    }

    /// Prepares functions with their derivatives, and room for their values, for the present setting.
    #[cold]
    fn prepare_full(&mut self, functions: &Linearised, setting: &Setting<'_>, values: &mut Values) {
        if self.epoch != setting.epoch {
            self.prepare(&functions.program, functions.length, setting);
        }
        if self.loops.len() != functions.loops_count() {
            self.loops = functions.loops();
        }
        values.epoch = setting.epoch;
        values.data.clear();
        values.data.extend_from_slice(&self.template);
    }

    /// Calculates functions with their derivatives.
    #[inline(always)]
    fn run_full(&mut self, functions: &Linearised, setting: &Setting<'_>, fast: &[f64], values: &mut Values) {
        if values.epoch != setting.epoch || self.epoch != setting.epoch {
            self.prepare_full(functions, setting, values);
        }
        functions.run(fast, setting.tables, &mut self.registers, &mut self.loops, &mut values.data);
    }
}

/// Parameters, modes, tables and surfaces at a moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    slow: Vec<f64>,
    sliding: Vec<f64>,
}

/// The event functions where they were calculated last: a step ends where the next one begins.
#[derive(Debug, Clone, Default)]
struct Looked {
    epoch: u32,
    /// Time and states.
    at: Vec<f64>,
    values: Vec<f64>,
}

impl Looked {
    fn keep(&mut self, epoch: u32, at: &[f64], values: &[f64]) {
        self.epoch = epoch;
        self.at.clear();
        self.at.extend_from_slice(at);
        self.values.clear();
        self.values.extend_from_slice(values);
    }
}

pub(crate) struct System<'a> {
    /// The model as it moves now: its own equations, or those for sliding.
    pub model: &'a Compiled,
    own: &'a Compiled,
    /// For each surface, the rate with which motion comes to rest on it; zero where it does not slide.
    sliding: Vec<f64>,
    /// Whether each event function is kept at zero.
    kept: Vec<bool>,
    tables: &'a Tables,
    slow: Vec<f64>,
    /// The modes as events have set them.
    held: Vec<f64>,
    /// Whether modes follow the state instead.
    following: bool,
    /// Time, states, unknowns.
    fast: Vec<f64>,
    setting: Setting<'a>,
    rates: Room,
    full: Room,
    residuals: Room,
    outputs: Room,
    outputs_full: Room,
    relations: Room,
    looked: Looked,
    relations_full: Room,
    jumps: Room,
    newton: Vec<f64>,
    /// The matrix of Newton's method for the unknowns, its change, and where it started.
    unknowns: Loop,
    change: Vec<f64>,
    before: Vec<f64>,
    /// The unknowns at the start of the present step, and at its end.
    anchor: Vec<f64>,
    arrived: Vec<f64>,
    /// Whether it is within a step that unknowns are looked for, rather than at an event.
    stepping: bool,
    /// The largest residual that steps have met.
    scale: f64,
    pub evaluations: u64,
    pub jacobians: u64,
}

impl<'a> System<'a> {
    /// Makes a system with these parameters; all modes are open.
    pub fn new(model: &'a Compiled, parameters: &[f64], tables: &'a Tables) -> System<'a> {
        let mut slow = parameters.to_vec();
        slow.resize(model.parameters + model.events.len() + 3 * model.pieces.len(), 0.0);
        slow.resize(slow.len() + model.roundings.len(), NARROW);
        let mut held = vec![0.0; model.events.len()];
        held.resize(model.events.len() + model.surfaces.len(), 1.0);
        let mut system = System {
            model,
            own: model,
            sliding: vec![0.0; model.surfaces.len()],
            kept: vec![false; held.len()],
            tables,
            held,
            following: false,
            slow,
            fast: vec![0.0; 1 + model.states.len() + model.unknowns.len()],
            setting: Setting { epoch: 0, slow: Vec::new(), tables },
            rates: Room::default(),
            full: Room::default(),
            residuals: Room::default(),
            outputs: Room::default(),
            outputs_full: Room::default(),
            relations: Room::default(),
            looked: Looked::default(),
            relations_full: Room::default(),
            jumps: Room::default(),
            newton: Vec::new(),
            unknowns: Loop::new(model.unknowns.len(), &model.residual_places),
            change: Vec::new(),
            before: Vec::new(),
            anchor: Vec::new(),
            arrived: Vec::new(),
            stepping: false,
            scale: 0.0,
            evaluations: 0,
            jacobians: 0,
        };
        system.prepare();
        system
    }

    /// Takes new modes and table lines into account. Programs are prepared for them when they are run next.
    pub fn prepare(&mut self) {
        self.setting.slow.clone_from(&self.slow);
        self.setting.epoch += 1;
    }

    /// The number of the present modes, which rises whenever they change.
    pub fn epoch(&self) -> u32 {
        self.setting.epoch
    }

    pub fn mode(&self, k: usize) -> f64 {
        self.held[k]
    }

    pub fn set_mode(&mut self, k: usize, value: f64) {
        self.slow[self.model.parameters + k] = value;
        self.held[k] = value;
    }

    /// The number of a surface whose function this is.
    pub fn surface(&self, k: usize) -> Option<usize> {
        self.own.surfaces.iter().position(|surface| surface.relation == k)
    }

    /// Whether this function may stay at zero because it reacts to its mode at once.
    pub fn reacts_at_once(&self, k: usize) -> bool {
        self.surface(k).is_some_and(|j| self.own.surfaces[j].order == 0)
    }

    /// The surface that this function tells the leaving of.
    pub fn leaving(&self, k: usize) -> Option<usize> {
        k.checked_sub(self.own.events.len())
    }

    /// The surfaces of the model.
    pub fn surfaces(&self) -> &'a [Surface] {
        &self.own.surfaces
    }

    /// Whether the motion slides along the surface of this function.
    pub fn slides(&self, k: usize) -> bool {
        self.kept[k]
    }

    /// Whether the motion slides along this surface.
    pub fn slides_along(&self, j: usize) -> bool {
        self.sliding[j] > 0.0
    }

    /// The mode between −1 and 1 of a surface along which the motion slides, as of the last evaluation.
    pub fn between(&self, j: usize) -> f64 {
        self.fast[1 + self.own.states.len() + self.own.unknowns.len() + j]
    }

    /// The unknown of this number belongs to this surface, if not to the model itself.
    pub fn surface_of_unknown(&self, unknown: usize) -> Option<usize> {
        let j = unknown.checked_sub(self.own.unknowns.len())?;
        self.own.surfaces.get(j).or(self.own.surfaces.first()).map(|surface| surface.relation)
    }

    /// Starts sliding along a surface, coming to rest at this rate, or ends it with rate zero.
    pub fn slide(&mut self, j: usize, rate: f64) {
        let mut sliding = self.sliding.clone();
        sliding[j] = rate;
        self.move_to(sliding);
        self.prepare();
    }

    /// Changes between the model's own equations and those for sliding.
    fn move_to(&mut self, sliding: Vec<f64>) {
        let model = match &self.own.sliding {
            Some(other) if sliding.iter().any(|rate| *rate > 0.0) => other,
            _ => self.own,
        };
        let lines = self.model.parameters + self.model.events.len();
        let lines = self.slow[lines..lines + 3 * model.pieces.len() + model.roundings.len()].to_vec();
        self.slow.truncate(model.parameters);
        self.slow.extend(&self.held[..model.events.len()]);
        self.slow.extend(lines);
        self.slow.extend(sliding.iter().take(model.flags));
        self.fast.resize(1 + model.states.len() + model.unknowns.len(), 0.0);
        for (surface, rate) in self.own.surfaces.iter().zip(&sliding) {
            self.kept[surface.relation] = *rate > 0.0;
        }
        if !std::ptr::eq(model, self.model) {
            self.unknowns = Loop::new(model.unknowns.len(), &model.residual_places);
            for room in [&mut self.full, &mut self.outputs_full, &mut self.relations_full, &mut self.jumps] {
                room.loops.clear();
            }
        }
        (self.model, self.sliding) = (model, sliding);
    }

    /// Parameters, modes, tables and surfaces as they are, to be restored later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { slow: self.slow.clone(), sliding: self.sliding.clone() }
    }

    /// Goes back to a snapshot.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.move_to(snapshot.sliding.clone());
        self.slow.copy_from_slice(&snapshot.slow);
        let (start, count) = (self.model.parameters, self.model.events.len());
        self.held[..count].copy_from_slice(&self.slow[start..start + count]);
        self.prepare();
    }

    pub fn parameter(&self, i: usize) -> f64 {
        self.slow[i]
    }

    /// Puts every table on its line after time `t`.
    pub fn place_tables(&mut self, t: f64) {
        let start = self.model.parameters + self.model.events.len();
        for (i, piece) in self.model.pieces.iter().enumerate() {
            let Some(table) = self.tables.list().get(piece.table as usize) else {
                self.slow[start + 3 * i] = f64::NAN;
                continue;
            };
            let segment = table.segment(t);
            let origin = table.times()[segment.saturating_sub(1)];
            let line = [table.value_in(segment, origin), table.slope_in(segment), origin];
            self.slow[start + 3 * i..start + 3 * i + 3].copy_from_slice(&line);
        }
    }

    /// The next corner of a table after time `t`.
    pub fn next_corner(&self, t: f64) -> Option<f64> {
        let tables =
            self.model.pieces.iter().filter_map(|piece| self.tables.list().get(piece.table as usize));
        tables.filter_map(|table| table.times().get(table.segment(t)).copied()).reduce(f64::min)
    }

    /// Lets modes follow the state, or holds them again; tells whether that changed anything.
    pub fn follow_modes(&mut self, following: bool) -> bool {
        if self.following == following || self.held.is_empty() {
            return false;
        }
        self.following = following;
        if !following {
            let (start, count) = (self.model.parameters, self.model.events.len());
            self.slow[start..start + count].copy_from_slice(&self.held[..count]);
            self.prepare();
        }
        true
    }

    /// Finds the unknowns with modes that follow the state.
    fn follow(&mut self) -> Result<(), Trouble> {
        for _ in 0..10 {
            if !self.model.unknowns.is_empty() {
                self.solve_unknowns()?;
            }
            if !self.adopt() {
                break;
            }
        }
        Ok(())
    }

    /// The event functions at the present point, with its unknowns.
    fn functions(&mut self) -> Vec<f64> {
        let mut now = vec![0.0; self.model.events.len()];
        self.relations.run(&self.model.relations, &self.setting, &self.fast, &mut now);
        now
    }

    /// Sets modes to the signs of their functions at the present point; tells whether that changed any.
    fn adopt(&mut self) -> bool {
        let start = self.model.parameters;
        let now = self.functions();
        let mut changed = false;
        for (k, value) in now.iter().enumerate() {
            let sign = if *value > 0.0 { 1.0 } else { -1.0 };
            let mode = if *value == 0.0 || value.is_nan() { self.held[k] } else { sign };
            changed |= self.slow[start + k] != mode;
            self.slow[start + k] = mode;
        }
        if changed {
            self.prepare();
        }
        changed
    }

    /// Goes to a time and state, and finds the implicit unknowns there.
    #[inline(always)]
    fn go(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        self.fast[0] = t;
        self.fast[1..=x.len()].copy_from_slice(x);
        match (self.following, self.model.unknowns.is_empty()) {
            (true, _) => self.follow(),
            (false, true) => Ok(()),
            (false, false) => self.solve_unknowns(),
        }
    }

    /// The rates at a time and state.
    pub fn rates(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), Trouble> {
        self.go(t, x)?;
        self.evaluations += 1;
        self.rates.run(&self.model.rates, &self.setting, &self.fast, out);
        finite(out)
    }

    /// The rates with their derivatives.
    #[inline(always)]
    pub fn full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), Trouble> {
        self.go(t, x)?;
        self.evaluations += 1;
        self.jacobians += 1;
        self.full.run_full(&self.model.full, &self.setting, &self.fast, values);
        values.steep = None;
        if !self.model.full.own(&values.data).iter().all(|part| all_finite(part)) {
            finite(&values.data[..x.len()])?;
            self.leave(t, x, values);
        }
        Ok(())
    }

    /// Takes infinite slopes (a root at zero) from a point a little further along the solution: what
    /// leaves the place at once passes a singularity that can be integrated. What stays infinite is noted.
    #[cold]
    fn leave(&mut self, t: f64, x: &[f64], values: &mut Values) {
        let n = x.len();
        let full = &self.model.full;
        let infinite = |values: &Values| -> Vec<usize> {
            let slopes = full.pattern.at.iter().zip(full.by_states(&values.data));
            slopes.filter(|(_, slope)| !slope.is_finite()).map(|(state, _)| *state as usize).collect()
        };
        sharpen(values);
        let here = values.data.clone();
        let rates = &here[..n];
        let passed = infinite(values);
        let resting = rates.iter().all(|rate| *rate == 0.0);
        let mut steep = Steep { passed, resting, ..Steep::default() };
        let present = self.fast.clone();
        if self.go_ahead(t, x, rates) {
            self.full.run_full(full, &self.setting, &self.fast, values);
            sharpen(values);
            keep(values, &here, |value| value.is_finite());
        }
        self.fast = present;
        steep.states = infinite(values);
        let by_parameters = full.forcing.iter().zip(full.by_parameters(&values.data));
        steep.lanes = by_parameters.filter(|(_, x)| !x.is_finite()).map(|((_, lane), _)| *lane).collect();
        values.data.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
        values.steep = Some(Box::new(steep));
    }

    /// Goes a little further along the solution, if that is possible; from rest, to where the forces
    /// of a little later lead.
    fn go_ahead(&mut self, t: f64, x: &[f64], rates: &[f64]) -> bool {
        let size = |list: &[f64]| list.iter().fold(0.0f64, |size, v| size.max(v.abs()));
        let along = |ahead: f64, rates: &[f64]| -> Vec<f64> {
            x.iter().zip(rates).map(|(x, k)| x + ahead * k).collect()
        };
        let speed = size(rates);
        if speed > 0.0 {
            let ahead = AHEAD * size(x).max(1e-6) / speed;
            return self.go(t + ahead, &along(ahead, rates)).is_ok();
        }
        let ahead = AHEAD * t.abs().max(1.0);
        let mut later = vec![0.0; x.len()];
        self.rates(t + ahead, x, &mut later).is_ok()
            && self.go(t + ahead, &along(0.5 * ahead, &later)).is_ok()
    }

    /// The outputs.
    pub fn outputs(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), Trouble> {
        self.go(t, x)?;
        self.outputs.run(&self.model.outputs, &self.setting, &self.fast, out);
        Ok(())
    }

    /// The outputs with their derivatives.
    pub fn outputs_full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), Trouble> {
        self.go(t, x)?;
        let full = &self.model.outputs_full;
        self.outputs_full.run_full(full, &self.setting, &self.fast, values);
        if !all_finite(&values.data[full.rows..]) {
            sharpen(values);
            let here = values.data.clone();
            let mut rates = vec![0.0; x.len()];
            let present = self.fast.clone();
            if self.rates(t, x, &mut rates).is_ok() && self.go_ahead(t, x, &rates) {
                self.outputs_full.run_full(full, &self.setting, &self.fast, values);
            }
            self.fast = present;
            // What is infinite is so in truth, and is told; a quotient of zeros has its value ahead.
            keep(values, &here, |value| !value.is_nan());
            values.data[..full.rows].copy_from_slice(&here[..full.rows]);
        }
        Ok(())
    }

    /// The event functions.
    pub fn relations(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), Trouble> {
        // Corners of tables settle models that have no event functions.
        if out.is_empty() {
            return Ok(());
        }
        let Looked { epoch, at, values } = &self.looked;
        let plain = self.model.unknowns.is_empty() && !self.following;
        if plain && *epoch == self.setting.epoch && at[0] == t && at[1..] == *x {
            out.copy_from_slice(values);
        } else {
            self.go(t, x)?;
            self.relations.run(&self.model.relations, &self.setting, &self.fast, out);
            self.looked.keep(self.setting.epoch, &self.fast[..=x.len()], out);
        }
        Ok(())
    }

    /// What is rounded off is left only on the other side, lest noise about zero switch it to and fro.
    pub fn set_back(&self, relations: &mut [f64]) {
        let widths = &self.slow[self.widths()..];
        for (rounding, width) in self.model.roundings.iter().zip(widths).filter(|(r, _)| r.alone) {
            relations[rounding.relation] += self.mode(rounding.relation) * MARGIN * width;
        }
    }

    /// The event functions as they were calculated with the rates, if they still hold.
    pub fn known_relations<'v>(&self, values: &'v Values) -> Option<&'v [f64]> {
        let plain = self.model.unknowns.is_empty() && !self.following && values.steep.is_none();
        (plain && values.epoch == self.setting.epoch).then(|| self.model.full.beside(&values.data))
    }

    /// Takes event functions that are known at a point for those calculated last.
    pub fn recognise(&mut self, t: f64, x: &[f64], values: &Values) {
        if let Some(known) = self.known_relations(values) {
            self.fast[0] = t;
            self.fast[1..=x.len()].copy_from_slice(x);
            self.looked.keep(self.setting.epoch, &self.fast[..=x.len()], known);
        }
    }

    /// Where the widths stand among what changes seldom.
    fn widths(&self) -> usize {
        self.model.parameters + self.model.events.len() + 3 * self.model.pieces.len()
    }

    /// Rounds powers with a sign off within what the tolerance does not see, now that the event functions
    /// have been as large as this: a smaller width would make the equations steeper than the solution is
    /// known.
    pub fn widen(&mut self, largest: &[f64], rtol: f64) {
        let start = self.widths();
        let mut changed = false;
        for (rounding, width) in self.model.roundings.iter().zip(&mut self.slow[start..]) {
            let wanted = WIDTH * rtol * largest[rounding.relation];
            if wanted > 2.0 * *width && wanted.is_finite() {
                *width = wanted;
                changed = true;
            }
        }
        if changed {
            self.prepare();
        }
    }

    /// The event functions with their derivatives; the last lane is time.
    pub fn relations_full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), Trouble> {
        self.go(t, x)?;
        self.relations_full.run_full(&self.model.relations_full, &self.setting, &self.fast, values);
        Ok(())
    }

    /// What makes states jump, with its derivatives; the last lane is time.
    pub fn jumps(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), Trouble> {
        self.go(t, x)?;
        if let Some(jumps) = &self.model.jumps {
            self.jumps.run_full(&jumps.full, &self.setting, &self.fast, values);
        }
        Ok(())
    }

    /// Calculates r and r_z at the present point and returns the size of r.
    fn residual(&mut self) -> f64 {
        if self.following {
            self.adopt();
        }
        let model = self.model;
        self.newton.resize(model.residuals.results(), 0.0);
        self.residuals.run(&model.residuals, &self.setting, &self.fast, &mut self.newton);
        let m = model.unknowns.len();
        self.newton[..m].iter().map(|r| r * r).sum::<f64>().sqrt()
    }

    /// The largest term of the residuals that an unknown makes.
    fn terms(&self) -> f64 {
        let m = self.model.unknowns.len();
        let unknowns = &self.fast[self.fast.len() - m..];
        let slopes = self.model.residual_places.iter().zip(&self.newton[m..]);
        slopes.fold(0.0, |most, ((_, column), slope)| most.max((slope * unknowns[*column]).abs()))
    }

    /// Newton's method with halved steps, from the present unknowns.
    fn solve_unknowns(&mut self) -> Result<(), Trouble> {
        let m = self.model.unknowns.len();
        let start = self.fast.len() - m;
        let mut size = self.residual();
        let first = size;
        let mut last = f64::INFINITY;
        for turn in 0..80 {
            // At a root of several equal ones steps shrink with the unknowns themselves.
            if size <= VANISHED * first {
                return Ok(());
            }
            if !size.is_finite() {
                break;
            }
            self.unknowns.factorise(self.newton[m..].iter().copied());
            let (mut change, mut before) =
                (std::mem::take(&mut self.change), std::mem::take(&mut self.before));
            change.clear();
            change.extend_from_slice(&self.newton[..m]);
            self.unknowns.solve(&mut change);
            before.clear();
            before.extend_from_slice(&self.fast[start..]);
            let mut share = 1.0;
            loop {
                for i in 0..m {
                    self.fast[start + i] = before[i] - share * change[i];
                }
                let new = self.residual();
                // A test that also rejects what is not a number. Across a kink, and where steps have
                // gone round in circles, only what is smaller leads on.
                let limit = if self.following || turn >= 20 { 0.999 } else { 2.0 };
                if new <= limit * size || share < 1e-9 {
                    size = new;
                    break;
                }
                share *= 0.5;
            }
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (length, level) = (norm(&change), norm(&self.fast[start..]));
            (self.change, self.before) = (change, before);
            // A step that is halved without end leads nowhere, however little it moves; but at an event it
            // may lead to the kink at which friction sticks.
            let kinks = self.following || !self.stepping;
            let moved = if kinks { share * length } else { length };
            if moved <= 1e-13 * level || (moved <= 1e-9 * level && moved >= 0.5 * last) {
                self.scale = self.scale.max(first);
                return if level.is_finite() { Ok(()) } else { Err(Trouble::NoSolution(0)) };
            }
            if !kinks && share < 1e-9 {
                if size <= ROUNDED * self.scale.max(first).max(self.terms()) {
                    return Ok(());
                }
                break;
            }
            last = moved;
        }
        // Along an infinitely steep root Newton's method only comes close to the zero that it is about.
        let near = self.fast[start..].iter_mut().filter(|z| z.abs() < NOTHING);
        near.for_each(|z| *z = 0.0);
        if self.residual() <= ROUNDED * size {
            return Ok(());
        }
        let worst =
            (0..m).max_by(|a, b| self.newton[*a].abs().total_cmp(&self.newton[*b].abs())).unwrap_or(0);
        self.fast[start..].fill(0.0);
        Err(Trouble::NoSolution(worst))
    }

    /// Remembers the unknowns of the present point as those from which the next step goes on.
    pub fn anchor(&mut self) {
        self.anchor.clear();
        self.anchor.extend_from_slice(&self.fast[self.fast.len() - self.model.unknowns.len()..]);
        self.arrived.clear();
        self.scale = 0.0;
        self.stepping = false;
    }

    /// Ends a step: what comes is an event.
    pub fn rest(&mut self) {
        self.stepping = false;
    }

    /// Takes the unknowns of the present point for those at the end of the step.
    pub fn reach(&mut self) {
        self.arrived.clear();
        self.arrived.extend_from_slice(&self.fast[self.fast.len() - self.model.unknowns.len()..]);
    }

    /// The unknowns at the start of the present step.
    pub fn anchored(&self) -> &[f64] {
        &self.anchor
    }

    /// The unknowns of the present point.
    pub fn present(&self) -> &[f64] {
        &self.fast[self.fast.len() - self.model.unknowns.len()..]
    }

    /// Looks for unknowns from what they were there before.
    pub fn take_unknowns(&mut self, unknowns: &[f64]) {
        let start = self.fast.len() - self.model.unknowns.len();
        self.fast[start..].copy_from_slice(unknowns);
    }

    /// Sets the unknowns at the start of a step that was taken before.
    pub fn anchor_at(&mut self, unknowns: &[f64]) {
        self.anchor.clear();
        self.anchor.extend_from_slice(unknowns);
        self.arrived.clear();
    }

    /// Whether the unknowns at the end of a step are the continuation of those at its start, rather than
    /// another solution of the same equations: seen from the end, those at the start are found again.
    pub fn continues(&mut self, (t, x): (f64, &[f64]), (to, end): (f64, &[f64])) -> Result<(), Trouble> {
        let m = self.model.unknowns.len();
        if m == 0 || self.following {
            self.arrived.clear();
            return Ok(());
        }
        self.go(to, end)?;
        self.reach();
        let start = self.fast.len() - m;
        if self.anchor.len() != m || self.go(t, x).is_err() {
            return Ok(());
        }
        let level = self.anchor.iter().chain(&self.arrived).fold(0.0f64, |level, z| level.max(z.abs()));
        let lost = |i: &usize| {
            let (before, after) = (self.anchor[*i], self.arrived[*i]);
            let missed = (self.fast[start + i] - before).abs();
            missed > 0.5 * (after - before).abs() && missed > (APART * level).max(NOTHING)
        };
        // A mode on a surface may be of no consequence, and then is not determined.
        let lost = (0..self.own.unknowns.len()).find(lost);
        self.fast[start..].copy_from_slice(&self.arrived);
        lost.map_or(Ok(()), |unknown| Err(Trouble::NoSolution(unknown)))
    }

    /// Looks for the unknowns at a part of the step from those at its ends, as far as they are known.
    pub fn recall(&mut self, theta: f64) {
        let m = self.model.unknowns.len();
        if m == 0 || self.anchor.len() != m {
            return;
        }
        self.stepping = true;
        let start = self.fast.len() - m;
        for (i, z) in self.fast[start..].iter_mut().enumerate() {
            let before = self.anchor[i];
            *z = before + theta * (self.arrived.get(i).unwrap_or(&before) - before);
        }
    }

    /// Takes the end of the last step for the start of the next one.
    pub fn arrive(&mut self) {
        std::mem::swap(&mut self.anchor, &mut self.arrived);
        self.arrived.clear();
    }

    /// Finds the unknowns at the start, where nothing is known about them, with modes that fit them;
    /// where there are none, modes stay open.
    pub fn start(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        if self.model.unknowns.is_empty() {
            return Ok(());
        }
        if self.follow_modes(true) {
            let found = self.guess_unknowns(t, x);
            if found.is_ok() {
                let (start, count) = (self.model.parameters, self.model.events.len());
                self.held[..count].copy_from_slice(&self.slow[start..start + count]);
            }
            self.follow_modes(false);
            if found.is_ok() {
                return Ok(());
            }
        }
        self.complement(t, x, &[], &[]).or_else(|_| self.guess_unknowns(t, x))
    }

    /// What unknowns may be where nothing is known about them.
    fn guesses(count: usize) -> impl Iterator<Item = Vec<f64>> {
        // Not all alike, so that differences of unknowns do not vanish.
        let spread = move |guess: f64| -> Vec<f64> {
            (0..count).map(|i| guess * (1.0 + 0.1 * i as f64 / count as f64)).collect()
        };
        [0.0, 1.0, -1.0, 0.1, -0.1, 10.0, -10.0, 1e-3, 1e3, 1e-6, 1e6].into_iter().map(spread)
    }

    /// Finds the unknowns where nothing is known about them.
    pub fn guess_unknowns(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        let m = self.model.unknowns.len();
        let start = self.fast.len() - m;
        let mut result = Ok(());
        for guess in Self::guesses(m) {
            self.fast[start..].copy_from_slice(&guess);
            result = self.go(t, x);
            if result.is_ok() {
                break;
            }
        }
        result
    }
}

/// Makes slopes infinite that are as good as that.
fn sharpen(values: &mut Values) {
    let steep = values.data.iter_mut().filter(|value| value.abs() >= INFINITE);
    steep.for_each(|value| *value = f64::INFINITY.copysign(*value));
}

/// Keeps the values of before that are good.
fn keep(values: &mut Values, before: &[f64], good: impl Fn(f64) -> bool) {
    for (value, before) in values.data.iter_mut().zip(before).filter(|(_, before)| good(**before)) {
        *value = *before;
    }
}

/// Whether all values are finite and none is as good as infinite. Their sum tells most often.
fn all_finite(values: &[f64]) -> bool {
    let sum: f64 = values.iter().map(|value| value.abs()).sum();
    sum < INFINITE || values.iter().all(|value| value.abs() < INFINITE)
}

fn finite(values: &[f64]) -> Result<(), Trouble> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Trouble::NotFinite(i)),
    }
}
