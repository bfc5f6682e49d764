//! Events: finding where event functions cross zero, and what happens there.

use super::sensitivities::Sensitivities;
use super::solver::{Solver, Stages, Tolerance};
use super::system::{System, Trouble, Values};
use super::tableau::Terms;

/// A crossing within a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crossing {
    /// Where in the step, from 0 to 1; just behind the zero.
    pub theta: f64,
    /// The event functions that cross there.
    pub events: Vec<usize>,
    /// How fast the first of them changes on average before.
    pub steepness: f64,
}

/// Event functions with their new modes.
pub(crate) type Changes = Vec<(usize, f64)>;

/// What became of the modes at an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Settled {
    /// They fit the state.
    Consistent,
    /// They change each other without end.
    Cycling(usize),
}

/// Where a function that is zero goes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tendency {
    /// To this side, or nowhere.
    Away(f64),
    /// Back to zero from both sides, steeper from this one.
    Back(f64),
}

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// How far beyond 1 a mode between the branches may go before the motion leaves its surface.
const LEFT: f64 = 1e-9;
/// So many events of a function, each sooner than those before, and it is brought to rest.
const RATTLE: u32 = 10_000;
/// A function that comes closer to zero than this part of its range in a step is looked at.
const CLOSE: f64 = 0.25;
/// And one that comes closer than this touches it.
const TOUCH: f64 = 1e-9;
/// Slopes below this part of their terms are zero.
const FLAT: f64 = 1e-12;
/// What rounding makes of a function, beside its terms.
const ROUNDED: f64 = 4.0 * f64::EPSILON;
/// A function farther from zero than this part of what its mode does to it is not at zero.
const BEYOND: f64 = 1e-6;

/// Watches the event functions of a run.
#[derive(Debug)]
pub(crate) struct Watch {
    now: Vec<f64>,
    values: Values,
    state: Vec<f64>,
    weights: Terms,
    /// By how much rounding has left each function on the wrong side of zero after an event.
    margin: Vec<f64>,
    /// The last events of each function.
    pace: Vec<Pace>,
    /// The largest value that each function has had, and the part of it that errors may be.
    largest: Vec<f64>,
    blur: f64,
    /// Functions that touched zero in the step, and where in it.
    pub touched: Vec<(usize, f64)>,
    /// The functions at both ends and in the middle of a step, as far as they have values.
    samples: [Vec<f64>; 3],
}

/// How fast events of a function follow each other.
#[derive(Debug, Clone, Copy)]
struct Pace {
    last: f64,
    /// The last two times between events.
    gaps: [f64; 2],
    /// How many events in a row came sooner than those before.
    faster: u32,
}

/// Takes the sizes of functions into account among the largest that they have had.
fn enlarge(largest: &mut Vec<f64>, now: &[f64]) {
    largest.resize(now.len(), 0.0);
    largest.iter_mut().zip(now).for_each(|(largest, now)| *largest = largest.max(now.abs()));
}

/// The distance between the largest and the smallest of some values.
fn range(values: [f64; 3]) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max) - values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Whether values are so far above zero that a parabola through them does not come close to it.
fn lies_far(values: [f64; 3]) -> bool {
    values.into_iter().fold(f64::INFINITY, f64::min) > 2.0 * range(values)
}

/// Where a parabola through three points in rising order has its least value, if that is between them.
fn bottom([(a, fa), (b, fb), (c, fc)]: [(f64, f64); 3]) -> Option<(f64, f64)> {
    let (left, right) = ((fb - fa) / (b - a), (fc - fb) / (c - b));
    let bend = (right - left) / (c - a);
    let slope = left - bend * (b - a);
    let place = a - slope / (2.0 * bend);
    let inside = bend > 0.0 && place > a && place < c && place != b;
    inside.then(|| (place, fa - slope * slope / (4.0 * bend)))
}

/// The event functions at the stage within the step that knows them, and where in it that is.
fn inside<'v>(system: &System<'_>, stages: &'v Stages) -> Option<(f64, &'v [f64])> {
    stages.middle().and_then(|(theta, values)| Some((theta, system.known_relations(values)?)))
}

impl Watch {
    /// Watches a run of this relative tolerance.
    pub fn new(system: &System<'_>, rtol: f64) -> Watch {
        Watch {
            largest: vec![0.0; system.model.events.len()],
            blur: 10.0 * rtol,
            now: vec![0.0; system.model.events.len()],
            values: Values::default(),
            state: vec![0.0; system.model.states.len()],
            weights: Vec::new(),
            margin: vec![0.0; system.model.events.len() + system.surfaces().len()],
            pace: vec![
                Pace { last: f64::NEG_INFINITY, gaps: [f64::INFINITY; 2], faster: 0 };
                system.model.events.len()
            ],
            touched: Vec::new(),
            samples: Default::default(),
        }
    }

    /// Takes note of an event; the rate at which to bring its function to rest where its events have come
    /// ever faster for too long.
    pub fn rattles(&mut self, k: usize, t: f64) -> Option<f64> {
        let pace = self.pace.get_mut(k)?;
        let gap = t - pace.last;
        pace.faster = if gap < pace.gaps[0] { pace.faster + 1 } else { 0 };
        (pace.last, pace.gaps) = (t, [pace.gaps[1], gap]);
        // To and fro may take unequal times; what comes to rest faster than the longer one is thrown off.
        (pace.faster > RATTLE).then_some(0.5 / pace.gaps[0].max(pace.gaps[1]))
    }

    /// Gives an event function its mode at an event, also where rounding has left it before its zero.
    pub fn turn(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
        mode: f64,
    ) -> Result<(), Trouble> {
        self.margin[k] = 0.0;
        if system.mode(k) != mode {
            self.look(system, t, x)?;
            if self.now[k] * mode < 0.0 {
                self.margin[k] = 2.0 * self.now[k].abs();
            }
            system.set_mode(k, mode);
            system.prepare();
        }
        Ok(())
    }

    /// Evaluates the event functions.
    fn look(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), Trouble> {
        self.now.resize(system.model.events.len(), 0.0);
        system.relations(t, x, &mut self.now)?;
        self.stand_back(system);
        Ok(())
    }

    /// Takes the event functions as they were calculated with the rates.
    fn take(&mut self, system: &System<'_>, known: &[f64]) {
        self.now.clear();
        self.now.extend_from_slice(known);
        self.stand_back(system);
    }

    /// Takes into account what is rounded off, and by how much rounding has left functions on the wrong side.
    fn stand_back(&mut self, system: &System<'_>) {
        system.set_back(&mut self.now);
        for (k, now) in self.now.iter_mut().enumerate() {
            *now += system.mode(k) * self.margin[k];
        }
    }

    /// Takes note of how large the functions are here.
    pub fn note(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), Trouble> {
        self.look(system, t, x)?;
        enlarge(&mut self.largest, &self.now);
        Ok(())
    }

    /// The largest value that each function has had.
    pub fn largest(&self) -> &[f64] {
        &self.largest
    }

    /// Evaluates the event functions at the state that was put aside.
    fn look_aside(&mut self, system: &mut System<'_>, t: f64) -> Result<(), Trouble> {
        let state = std::mem::take(&mut self.state);
        let done = self.look(system, t, &state);
        self.state = state;
        done
    }

    /// Looks for the first crossing in the step that the stages hold.
    pub fn crossing(
        &mut self,
        system: &mut System<'_>,
        solver: &mut dyn Solver,
        tolerance: &Tolerance,
    ) -> Result<Option<Crossing>, Trouble> {
        let count = system.model.events.len();
        if count == 0 {
            return Ok(None);
        }
        self.touched.clear();
        if self.clear(system, solver.stages()) {
            return Ok(None);
        }
        // The interval in which each function crosses.
        let mut found: Vec<(usize, f64, f64)> = Vec::new();
        let mut before = 0.0;
        let middle = inside(system, solver.stages()).map_or(0.5, |(theta, _)| theta);
        for (i, theta) in [0.0, middle, 1.0].into_iter().enumerate() {
            self.samples[i].clear();
            let mut looked = self.glance(system, solver.stages(), theta);
            // What a rough look sees is judged by interpolation, which has to find it.
            if i == 1 && looked.is_ok() && (0..count).any(|k| self.crosses(system, k)) {
                solver.extend(system, tolerance)?;
                looked = self.look_within(system, solver.stages(), theta);
            }
            // A place within the step may be outside the domain of the laws; the end may not.
            if looked.is_ok() {
                self.samples[i].extend_from_slice(&self.now);
                enlarge(&mut self.largest, &self.now);
                for k in (0..count).filter(|_| theta > 0.0) {
                    if self.crosses(system, k) && !found.iter().any(|(other, ..)| *other == k) {
                        found.push((k, before, theta));
                    }
                }
            }
            before = theta;
        }
        for k in 0..count {
            let (mode, still) = (system.mode(k), system.model.timed[k] || system.slides(k));
            if mode == 0.0 || still || found.iter().any(|(other, ..)| *other == k) {
                continue;
            }
            let [Some(a), Some(b), Some(c)] = self.samples.each_ref().map(|sample| sample.get(k)) else {
                continue;
            };
            let values = [*a, *b, *c].map(|value| mode * value);
            let dip = self.dip(system, (&mut *solver, tolerance), k, values, middle)?;
            found.extend(dip.map(|(low, high)| (k, low, high)));
        }
        for k in system.model.signals.iter().filter(|k| !system.slides(**k)).copied().collect::<Vec<_>>() {
            if let Some((low, high)) = self.scan(system, solver.stages(), k) {
                found.retain(|(other, ..)| *other != k);
                found.push((k, low, high));
            }
        }
        if found.is_empty() {
            // What has left its surface for good needs no margin.
            for k in 0..count {
                if self.margin[k] > 0.0 && self.now[k] * system.mode(k) > self.margin[k] {
                    self.margin[k] = 0.0;
                }
            }
            return Ok(None);
        }
        found.sort_by(|a, b| a.2.total_cmp(&b.2));
        solver.extend(system, tolerance)?;
        let stages = solver.stages();
        let mut first: Option<Crossing> = None;
        for (k, low, high) in found {
            let limit = first.as_ref().map_or(1.0, |c| c.theta);
            if low > limit {
                continue;
            }
            let Some((theta, steepness)) = self.root(system, stages, k, low, high)? else { continue };
            match &mut first {
                Some(crossing) if (theta - crossing.theta).abs() <= 1e-12 => crossing.events.push(k),
                Some(crossing) if theta > crossing.theta => {}
                _ => first = Some(Crossing { theta, events: vec![k], steepness }),
            }
        }
        Ok(first)
    }

    /// Looks at the step's ends, or roughly between them: at the stage that knows the functions, or at a sketch
    /// of the state.
    fn glance(&mut self, system: &mut System<'_>, stages: &Stages, theta: f64) -> Result<(), Trouble> {
        let at = stages.t + theta * stages.h;
        if theta == 0.0 {
            return self.look(system, at, &stages.start);
        }
        if theta == 1.0 {
            if let Some(values) = stages.last() {
                system.recognise(at, &stages.end, values);
            }
            return self.look(system, at, &stages.end);
        }
        match inside(system, stages) {
            Some((_, known)) => {
                self.take(system, known);
                Ok(())
            }
            None => {
                stages.sketch(theta, &mut self.state);
                self.look_aside(system, at)
            }
        }
    }

    /// Whether a function, as it was seen last, has left the side of its mode.
    fn crosses(&self, system: &System<'_>, k: usize) -> bool {
        sign(self.now[k]) * system.mode(k) < 0.0 && !system.model.timed[k] && !system.slides(k)
    }

    /// Whether all functions, as far as stages know them, stay far from zero over the whole step.
    fn clear(&mut self, system: &System<'_>, stages: &Stages) -> bool {
        let known = |values| system.known_relations(values);
        let ends = (stages.first().and_then(known), stages.last().and_then(known));
        let ((Some(start), Some(end)), Some((_, middle))) = (ends, inside(system, stages)) else {
            return false;
        };
        let far = |k: usize| {
            let values = [start[k], middle[k], end[k]].map(|value| system.mode(k) * value);
            system.model.timed[k] || system.slides(k) || lies_far(values)
        };
        let clear = system.model.signals.is_empty()
            && self.margin.iter().all(|margin| *margin == 0.0)
            && (0..end.len()).all(far);
        if clear {
            enlarge(&mut self.largest, end);
        }
        clear
    }

    /// Looks for a place within the step where a function comes close to zero and turns back: an interval
    /// in which it crosses, if it does. `values` are those at both ends and about the middle, positive as
    /// long as the mode holds.
    fn dip(
        &mut self,
        system: &mut System<'_>,
        (solver, tolerance): (&mut dyn Solver, &Tolerance),
        k: usize,
        values: [f64; 3],
        middle: f64,
    ) -> Result<Option<(f64, f64)>, Trouble> {
        if lies_far(values) {
            return Ok(None);
        }
        let range = range(values);
        let mut points: [(f64, f64); 3] = [(0.0, values[0]), (middle, values[1]), (1.0, values[2])];
        let touch = (TOUCH * range).max(self.blur * self.largest[k]);
        // What only leaves zero, or comes to it, does not turn back.
        let ends = values[0].min(values[2]);
        if ends <= TOUCH * range {
            return Ok(None);
        }
        let mut lowest = (0.0, f64::INFINITY);
        for round in 0..20 {
            let Some((theta, least)) = bottom(points) else { break };
            if round == 0 && least > CLOSE * range {
                return Ok(None);
            }
            solver.extend(system, tolerance)?;
            let value = system.mode(k) * self.at(system, solver.stages(), k, theta)?;
            // Less than errors may be is no crossing.
            if value < -touch {
                let low = points.iter().map(|(place, _)| *place).filter(|place| *place < theta);
                return Ok(Some((low.fold(0.0, f64::max), theta)));
            }
            let settled = (lowest.1 - value).abs() <= TOUCH * range;
            if value < lowest.1 {
                lowest = (theta, value);
            }
            if settled || value.is_nan() {
                break;
            }
            // The new place and its neighbours.
            let mut all = [points[0], points[1], points[2], (theta, value)];
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let place = if all[1].1 <= all[2].1 { 0 } else { 1 };
            points = [all[place], all[place + 1], all[place + 2]];
        }
        if lowest.1 <= touch && ends > touch {
            self.touched.push((k, lowest.0));
        }
        Ok(None)
    }

    /// Whether the end of the step lies on the crossing that it was shortened to.
    pub fn reached(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        crossing: &Crossing,
        part: f64,
    ) -> Result<bool, Trouble> {
        let (t, x) = (stages.t + stages.h, &stages.end);
        self.look(system, t, x)?;
        let near = part * crossing.steepness * stages.h;
        let far: Vec<usize> = crossing.events.iter().copied().filter(|k| self.now[*k].abs() > near).collect();
        if far.is_empty() {
            return Ok(true);
        }
        // What rounding of the states makes of a function is at zero too: no step comes closer.
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let terms = |k: usize| full.pattern.row(k).map(|e| by_states[e] * x[full.pattern.at[e] as usize]);
        let size = |k: usize| terms(k).map(f64::abs).sum::<f64>();
        Ok(far.into_iter().all(|k| self.now[k].abs() <= ROUNDED * size(k)))
    }

    /// Looks for the first crossing of a function that may change faster than the states: the step is
    /// divided until a cubic through four values foretells a fifth.
    fn scan(&mut self, system: &mut System<'_>, stages: &Stages, k: usize) -> Option<(f64, f64)> {
        // Uneven, so that a periodic signal does not look like a slow one.
        const PLACES: [f64; 5] = [0.0, 0.29, 0.53, 0.81, 1.0];
        const SMALLEST: f64 = 1e-4;
        let others = [0, 1, 3, 4];
        let weights = others.map(|i| {
            let factor = |j: usize| (PLACES[2] - PLACES[j]) / (PLACES[i] - PLACES[j]);
            others.iter().filter(|j| **j != i).map(|j| factor(*j)).product::<f64>()
        });
        let mode = system.mode(k);
        let mut stack = vec![(0.0, 1.0)];
        while let Some((low, high)) = stack.pop() {
            let mut values = [0.0; 5];
            for (value, place) in values.iter_mut().zip(PLACES) {
                let theta = low + place * (high - low);
                stages.sketch(theta, &mut self.state);
                self.look_aside(system, stages.t + theta * stages.h).ok()?;
                *value = self.now[k];
            }
            let foretold: f64 = others.iter().zip(weights).map(|(i, w)| w * values[*i]).sum();
            let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            // What is constant is foretold but for rounding.
            let rounding = f64::EPSILON * 16.0 * highest.abs().max(lowest.abs());
            let missed = (foretold - values[2]).abs();
            if missed > (0.05 * (highest - lowest)).max(rounding) && high - low > SMALLEST {
                let middle = low + PLACES[2] * (high - low);
                stack.push((middle, high));
                stack.push((low, middle));
                continue;
            }
            if let Some(i) = (1..5).find(|i| sign(values[*i]) * mode < 0.0) {
                let at = |i: usize| low + PLACES[i] * (high - low);
                return Some((at(i - 1), at(i)));
            }
        }
        None
    }

    /// A function within a step that is extended.
    fn at(&mut self, system: &mut System<'_>, stages: &Stages, k: usize, theta: f64) -> Result<f64, Trouble> {
        self.look_within(system, stages, theta)?;
        Ok(self.now[k])
    }

    /// Evaluates the event functions within a step that is extended.
    fn look_within(&mut self, system: &mut System<'_>, stages: &Stages, theta: f64) -> Result<(), Trouble> {
        if theta >= 1.0 {
            self.state.copy_from_slice(&stages.end);
        } else {
            stages.tableau.weights(theta, &mut self.weights);
            stages.interpolate(&self.weights, &mut self.state);
        }
        system.recall(theta);
        self.look_aside(system, stages.t + theta * stages.h)
    }

    /// The place just behind a zero between `low`, where the mode holds, and `high`: the Illinois method,
    /// with bisection where it is slow.
    fn root(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        low: f64,
        high: f64,
    ) -> Result<Option<(f64, f64)>, Trouble> {
        let mode = system.mode(k);
        let (mut a, mut b) = (low, high);
        let mut fb = self.at(system, stages, k, b)?;
        // A sketch may have seen it too early.
        while sign(fb) * mode >= 0.0 && b < 1.0 {
            (a, b) = (b, (3.0 * b - 2.0 * a).min(1.0));
            fb = self.at(system, stages, k, b)?;
        }
        if sign(fb) * mode >= 0.0 {
            return Ok(None);
        }
        let mut fa = self.at(system, stages, k, a)?;
        if sign(fa) * mode < 0.0 {
            // The zero lies before; at the start of a step it lies at the start.
            if a == 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
            (b, fb) = (a, fa);
            a = 0.0;
            fa = self.at(system, stages, k, a)?;
            if sign(fa) * mode < 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
        }
        let tiny = 4.0 * f64::EPSILON;
        let steepness = ((fb - fa) / ((b - a) * stages.h)).abs();
        let mut side = 0;
        for round in 0..200 {
            let gap = tiny * b.max(1e-3);
            if b - a <= 2.0 * gap {
                break;
            }
            let secant = (a * fb - b * fa) / (fb - fa);
            let middle = 0.5 * (a + b);
            let inside = secant > a && secant < b;
            let guess = if inside && round % 4 != 3 { secant } else { middle };
            // A guess at an end would not move it.
            let guess = guess.max(a + gap).min(b - gap);
            let f = self.at(system, stages, k, guess)?;
            if sign(f) * mode < 0.0 {
                (b, fb) = (guess, f);
                if side == 1 {
                    fa *= 0.5;
                }
                side = 1;
            } else {
                (a, fa) = (guess, f);
                if side == -1 {
                    fb *= 0.5;
                }
                side = -1;
            }
        }
        Ok(Some((b, steepness)))
    }

    /// Sets the modes at the start: the signs of the functions, or of their rates where they are zero.
    /// Returns the functions along whose surfaces the motion starts.
    pub fn start(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<(Settled, Changes), Trouble> {
        if system.model.events.is_empty() {
            return Ok((Settled::Consistent, Vec::new()));
        }
        let mut settled = self.settle(system, t, x, (&[], None), &[])?;
        // Functions that react to their modes at once have to fit them all together.
        if (0..self.now.len()).any(|k| self.now[k] == 0.0 && !system.slides(k) && system.reacts_at_once(k))
            && system.complement(t, x, &[], &[]).is_ok()
        {
            self.look(system, t, x)?;
        }
        let zeros: Vec<usize> =
            (0..self.now.len()).filter(|k| self.now[*k] == 0.0 && !system.slides(*k)).collect();
        let mut sliding = Vec::new();
        let coupled = zeros.iter().any(|k| system.reacts_at_once(*k));
        for k in zeros {
            match self.tendency(system, t, x, k) {
                Ok(Tendency::Away(mode)) => system.set_mode(k, mode),
                Ok(Tendency::Back(mode)) => match system.surface(k) {
                    // A function that depends on its mode at once has not moved the state.
                    Some(j) if system.reacts_at_once(k) => self.hold(system, t, x, j, 1.0)?,
                    _ => {
                        system.set_mode(k, mode);
                        sliding.push((k, mode));
                    }
                },
                Err(_) => {}
            }
            system.prepare();
        }
        // The mode of one may have moved another that had its own already.
        if coupled && settled == Settled::Consistent {
            settled = self.settle(system, t, x, (&[], None), &[])?;
        }
        Ok((settled, sliding))
    }

    /// What a function comes to with the mode 1 and −1: where it reacts to its mode at once its values, else
    /// its slopes. The mode is left as it was.
    fn sides(&mut self, system: &mut System<'_>, t: f64, x: &[f64], k: usize) -> Result<[f64; 2], Trouble> {
        let at_once = system.reacts_at_once(k);
        let mut rates = vec![0.0; x.len()];
        let kept = system.mode(k);
        let found = [1.0, -1.0].map(|mode| {
            system.set_mode(k, mode);
            system.prepare();
            if at_once {
                self.look(system, t, x).map(|()| self.now[k] - mode * self.margin[k])
            } else {
                system.rates(t, x, &mut rates).and_then(|()| self.slope(system, t, x, &rates, k))
            }
        });
        system.set_mode(k, kept);
        system.prepare();
        let [above, below] = found;
        let sides = [above?, below?];
        // What rounding has left before its zero is at its zero, if its mode does more than rounding.
        let (margin, stroke) = (self.margin[k], (sides[0] - sides[1]).abs());
        let moves = at_once && margin <= BEYOND * stroke && stroke > FLAT * self.largest[k];
        Ok(sides.map(|value| if moves && value.abs() <= margin { 0.0 } else { value }))
    }

    /// Where a function that is zero goes from here. The mode is left open.
    fn tendency(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
    ) -> Result<Tendency, Trouble> {
        let [above, below] = self.sides(system, t, x, k)?;
        let order = system.surface(k).map(|j| system.surfaces()[j].order);
        let still = above == 0.0 && below == 0.0;
        let leads_back = match order {
            Some(0 | 1) => above <= 0.0 && below >= 0.0 && !still,
            Some(_) => still,
            None => false,
        };
        Ok(if leads_back {
            Tendency::Back(if above.abs() >= below.abs() { 1.0 } else { -1.0 })
        } else if above > 0.0 && below > 0.0 {
            Tendency::Away(1.0)
        } else if above < 0.0 && below < 0.0 {
            Tendency::Away(-1.0)
        } else {
            Tendency::Away(0.0)
        })
    }

    /// Makes the modes agree with the functions, but for those that are given; where that is not possible
    /// one after another, all at once.
    pub fn settle(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, calm): (&[usize], Option<f64>),
        given: &[usize],
    ) -> Result<Settled, Trouble> {
        let snapshot = system.snapshot();
        let settled = self.settle_in_turn(system, t, x, (zeros, calm), given);
        if settled == Ok(Settled::Consistent) {
            return settled;
        }
        system.restore(&snapshot);
        match system.complement(t, x, zeros, given) {
            Ok(()) => Ok(Settled::Consistent),
            Err(_) => settled,
        }
    }

    /// Makes modes agree with functions one after another. Where motion leads back to the zero of a function
    /// from both sides it slides; where it is pressed off a surface it leaves it. Functions that are
    /// zero may also be brought to rest there at a rate.
    fn settle_in_turn(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, calm): (&[usize], Option<f64>),
        given: &[usize],
    ) -> Result<Settled, Trouble> {
        let mut zeros = zeros.to_vec();
        let mut given = given.to_vec();
        let mut turned = Vec::new();
        system.prepare();
        // Unknowns may jump to where other modes hold.
        if self.look(system, t, x).is_err() {
            system.start(t, x)?;
        }
        for _ in 0..100 {
            self.look(system, t, x)?;
            let pressed = (0..system.surfaces().len())
                .find(|j| system.slides_along(*j) && system.between(*j).abs() > 1.0 + LEFT);
            // What is at its event may be held; while it is not, its mode is only one of two, and may press
            // where what holds it does not.
            let returning = |watch: &mut Watch, system: &mut System<'_>, k: usize| {
                system.surface(k).is_some()
                    && matches!(watch.tendency(system, t, x, k), Ok(Tendency::Back(_)))
            };
            if let Some(j) = pressed {
                match (0..zeros.len()).find(|place| returning(self, system, zeros[*place])) {
                    Some(place) => {
                        let k = zeros.remove(place);
                        given.push(k);
                        if let Some(j) = system.surface(k) {
                            self.hold(system, t, x, j, calm.unwrap_or(1.0))?;
                        }
                    }
                    None => given.push(self.leave(system, t, x, j)?),
                }
                continue;
            }
            if let Some(k) = zeros.pop() {
                given.push(k);
                let Some(j) = system.surface(k) else { continue };
                if returning(self, system, k) || (calm.is_some() && system.surfaces()[j].order == 2) {
                    self.hold(system, t, x, j, calm.unwrap_or(1.0))?;
                }
                continue;
            }
            let Some(k) = self.misfit(system, t, x, (&given, &turned)) else {
                return Ok(Settled::Consistent);
            };
            given.retain(|other| *other != k);
            self.look(system, t, x)?;
            if turned.contains(&k) {
                // Neither mode fits a function that depends on its own.
                zeros.push(k);
            }
            turned.push(k);
            system.set_mode(k, sign(self.now[k]));
            system.prepare();
        }
        Ok(Settled::Cycling(turned.last().or(given.last()).copied().unwrap_or(0)))
    }

    /// A function on the other side than its mode. Rounding puts there what was given its mode at zero, unless
    /// it reacts to modes at once, others have changed since, and it has gone farther. Each has its turn.
    fn misfit(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (given, turned): (&[usize], &[usize]),
    ) -> Option<usize> {
        let now = self.now.clone();
        let astray = |k: &usize| {
            let side = sign(now[*k]);
            side != 0.0 && side != system.mode(*k) && !system.slides(*k)
        };
        let mut doubtful: Vec<usize> = (0..now.len()).filter(astray).collect();
        doubtful.sort_by_key(|k| turned.iter().rposition(|other| other == k));
        doubtful.into_iter().find(|k| {
            if !given.contains(k) || !system.reacts_at_once(*k) {
                return !given.contains(k);
            }
            let noise = FLAT * self.largest[*k];
            let sides = self.sides(system, t, x, *k);
            sides.is_ok_and(|[above, below]| now[*k].abs() > (BEYOND * (above - below).abs()).max(noise))
        })
    }

    /// Slides along a surface, if there is a mode that keeps the motion there.
    fn hold(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        j: usize,
        rate: f64,
    ) -> Result<(), Trouble> {
        let surface = &system.surfaces()[j];
        if surface.excluded.iter().any(|other| system.slides_along(*other)) {
            return Ok(());
        }
        let k = surface.relation;
        if system.mode(k) == 0.0 {
            system.set_mode(k, 1.0);
        }
        system.slide(j, rate);
        if self.look(system, t, x).is_err() && system.complement(t, x, &[], &[]).is_err() {
            system.slide(j, 0.0);
            self.look(system, t, x)?;
        }
        Ok(())
    }

    /// Leaves a surface to the side that the motion is pressed to; returns its function.
    pub fn leave(&mut self, system: &mut System<'_>, t: f64, x: &[f64], j: usize) -> Result<usize, Trouble> {
        let k = system.surfaces()[j].relation;
        self.look(system, t, x)?;
        system.set_mode(k, sign(system.between(j)));
        self.margin[k] = 2.0 * self.now[k].abs() + f64::MIN_POSITIVE;
        system.slide(j, 0.0);
        Ok(k)
    }

    /// Functions whose mode is open although they have left zero.
    pub fn opened(&mut self, system: &mut System<'_>, stages: &Stages) -> Result<Changes, Trouble> {
        if (0..system.model.events.len()).all(|k| system.mode(k) != 0.0) {
            return Ok(Vec::new());
        }
        self.look(system, stages.t + stages.h, &stages.end)?;
        let left = |k: &usize| system.mode(*k) == 0.0 && self.now[*k] != 0.0;
        Ok((0..self.now.len()).filter(left).map(|k| (k, sign(self.now[k]))).collect())
    }

    /// When the next event of time alone happens after `t`, and which ones with which sign.
    pub fn next_timed(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<Option<(f64, Changes)>, Trouble> {
        if !system.model.timed.contains(&true) {
            return Ok(None);
        }
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let time = system.model.wanted.len();
        let slopes = full.by_parameters(&self.values.data);
        let mut next: Option<(f64, Changes)> = None;
        for ((k, lane), slope) in full.forcing.iter().zip(slopes) {
            if !system.model.timed[*k] || *lane != time || *slope == 0.0 {
                continue;
            }
            let at = t - self.values.data[*k] / slope;
            // What has happened has the sign of its slope.
            if at < t || at.is_nan() || system.mode(*k) == sign(*slope) {
                continue;
            }
            match &mut next {
                Some((best, list)) if (at - *best).abs() <= 1e-14 * best.abs() => {
                    list.push((*k, sign(*slope)))
                }
                Some((best, _)) if at > *best => {}
                _ => next = Some((at, vec![(*k, sign(*slope))])),
            }
        }
        Ok(next)
    }

    /// How fast an event function changes along the solution.
    pub fn slope(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        rates: &[f64],
        k: usize,
    ) -> Result<f64, Trouble> {
        system.relations_full(t, x, &mut self.values)?;
        let (slope, size) = self.slope_parts(system, rates, k);
        Ok(if slope.abs() <= FLAT * size { 0.0 } else { slope })
    }

    /// The slope of an event function, and the sum of the sizes of its terms.
    fn slope_parts(&self, system: &System<'_>, rates: &[f64], k: usize) -> (f64, f64) {
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let (mut slope, mut size) = (0.0, 0.0);
        for e in full.pattern.row(k) {
            let term = by_states[e] * rates[full.pattern.at[e] as usize];
            slope += term;
            size += term.abs();
        }
        let time = system.model.wanted.len();
        for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(&self.values.data)) {
            if *row == k && *lane == time {
                slope += value;
                size += value.abs();
            }
        }
        (slope, size)
    }

    /// How the time of an event changes with each parameter: −(h_x S + h_p)/(h_x f + h_t), before the event.
    /// The second value tells whether the function only touches zero.
    pub fn time_sensitivity(
        &mut self,
        system: &mut System<'_>,
        (t, x, rates): (f64, &[f64], &[f64]),
        (k, steepness): (usize, f64),
        sensitivities: &Sensitivities,
    ) -> Result<(Vec<f64>, bool), Trouble> {
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let count = sensitivities.s.count;
        let mut change = vec![0.0; count];
        for e in full.pattern.row(k) {
            let state = full.pattern.at[e] as usize;
            for (lane, change) in change.iter_mut().enumerate() {
                *change += by_states[e] * sensitivities.s.get(state, lane);
            }
        }
        for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(&self.values.data)) {
            if *row == k && *lane < count {
                change[*lane] += value;
            }
        }
        let (slope, size) = self.slope_parts(system, rates, k);
        let grazing = slope.abs() <= 1e-7 * size || slope.abs() <= 1e-5 * steepness;
        for value in &mut change {
            *value = if grazing { 0.0 } else { -*value / slope };
        }
        Ok((change, grazing))
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled::{Compiled, Source, Wanted};
    use super::super::explicit::Explicit;
    use super::super::implicit::Implicit;
    use super::super::tableau::Tableau;
    use super::*;
    use paynter_base::Ticket;
    use paynter_numerics::program::Tables;
    use paynter_testkit::read::{Causal, causal};

    /// Solvers that know event functions at a stage within a step.
    fn solvers(system: &System<'_>) -> [Box<dyn Solver>; 4] {
        let explicit = |tableau| Box::new(Explicit::new(tableau, system, true));
        let stiff = Box::new(Implicit::new(system, true));
        [explicit(Tableau::rk4()), explicit(Tableau::tsit5()), explicit(Tableau::dop853()), stiff]
    }

    /// A state that rises as e^t from 1, and whether it is above a threshold.
    fn rising() -> Compiled {
        let text = "model rising { param h = 0; signal x = integral(x, 1)
            signal above = integral(if(x > h, 1, 0), 0); Se s = above; R r = 1; s -> r }";
        let Causal { mut pool, mut graph, causality } = causal(text).unwrap();
        let equations = paynter_equations::derive(&mut pool, &mut graph, &causality, &Ticket::new()).unwrap();
        let wanted = [Wanted::Parameter(0)];
        let source = Source {
            graph: &graph,
            equations: &equations,
            inputs: Vec::new(),
            outputs: None,
            wanted: &wanted,
        };
        Compiled::new(&mut pool, &source).unwrap()
    }

    /// Takes a step of each solver with this threshold, and judges it.
    fn steps(threshold: f64, h: f64, judge: impl Fn(&mut Watch, &mut System<'_>, &mut dyn Solver)) {
        let (model, tables) = (rising(), Tables::default());
        let mut system = System::new(&model, &[threshold], &tables);
        let start: Vec<f64> = model.states.iter().map(|name| f64::from(u8::from(name == "x"))).collect();
        Watch::new(&system, 1e-10).start(&mut system, 0.0, &start).unwrap();
        let tolerance = Tolerance { rtol: 1e-10, atol: vec![1e-10; start.len()] };
        for mut solver in solvers(&system) {
            solver.begin(&mut system, 0.0, &start).unwrap();
            solver.step(&mut system, 0.0, &start, h, &tolerance).unwrap();
            judge(&mut Watch::new(&system, tolerance.rtol), &mut system, &mut *solver);
        }
    }

    #[test]
    fn the_stage_within_a_step_knows_the_functions_there() {
        let h = 0.01;
        steps(0.5, h, |_, system, solver| {
            let stages = solver.stages();
            let (theta, values) = stages.middle().unwrap();
            let name = stages.tableau.name;
            assert!((0.25..=0.75).contains(&theta), "{name}: {theta}");
            let known = system.mode(0) * system.known_relations(values).unwrap()[0];
            let exact = (theta * h).exp() - 0.5;
            // Stages are rough, but no other place is as close.
            assert!((known - exact).abs() < 0.3 * h * h, "{name}: {known}, not {exact}");
        });
    }

    #[test]
    fn steps_far_from_zero_are_clear() {
        let h: f64 = 0.1;
        let range = h.exp() - 1.0;
        for (far, clear) in [(3.0, true), (1.0, false), (0.1, false)] {
            steps(1.0 - far * range, h, |watch, system, solver| {
                let stages = solver.stages();
                assert_eq!(watch.clear(system, stages), clear, "{} {far}", stages.tableau.name);
            });
        }
        // Nor are those that cross.
        steps(1.0 + 0.5 * range, h, |watch, system, solver| {
            assert!(!watch.clear(system, solver.stages()));
        });
    }

    /// What is not looked at could not come close to zero: a parabola through the three values that are known
    /// does not, whatever they are and at whatever stage.
    #[test]
    fn what_lies_far_stays_far() {
        let model = rising();
        let tables = Tables::default();
        let levels = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
        for mut solver in solvers(&System::new(&model, &[0.5], &tables)) {
            let (theta, _) = solver.stages().middle().unwrap();
            for (a, b, c) in
                levels.iter().flat_map(|a| levels.iter().flat_map(move |b| levels.map(|c| (*a, *b, c))))
            {
                for above in [0.0, 0.5, 1.0, 1.5, 2.0, 2.1, 4.0] {
                    let values = [a, b, c].map(|value| value + above);
                    let points = [(0.0, values[0]), (theta, values[1]), (1.0, values[2])];
                    if let (true, Some((_, least))) = (lies_far(values), bottom(points)) {
                        assert!(least > CLOSE * range(values), "{values:?} at {theta}: {least}");
                    }
                }
            }
        }
        assert!(lies_far([1.0, 1.2, 1.4]) && !lies_far([1.0, 2.0, 1.5]) && !lies_far([-3.0, -2.9, -2.8]));
    }
}
