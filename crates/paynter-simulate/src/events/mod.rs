//! Events: zero crossings of event functions, and the modes after them.

mod bends;
mod crossing;
mod decision;
mod iteration;
mod lcp;
mod root;
mod saltation;
mod sliding;
mod timed;
mod undetermined;
mod zeno;

pub(crate) use iteration::Iteration;

use crate::method::Tolerance;
use crate::method::tableau::Terms;
use crate::system::{EvaluationError, System, Values};
use crate::tolerance::{EVENT_TOLERANCE_FACTOR, JUMP_AT_EVENT};
use crossing::Cubic;
use paynter_numerics::program::Enclosure;
use timed::Ahead;
use undetermined::Followed;
use zeno::Intervals;

/// A zero crossing within a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crossing {
    /// Where in the step, from 0 to 1; just behind the zero.
    pub theta: f64,
    /// The event functions that cross there.
    pub events: Vec<usize>,
    /// The mean rate of change of the first of them before.
    pub mean_rate: f64,
}

/// A place within a step: the state along its dense output, and corrected by the defect there.
#[derive(Debug)]
pub(crate) struct Place {
    pub at: f64,
    pub theta: f64,
    pub x: Vec<f64>,
    pub corrected: Vec<f64>,
}

/// Event functions with their new modes.
pub(crate) type Changes = Vec<(usize, f64)>;

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Detects zero crossings of the event functions of a run.
#[derive(Debug)]
pub(crate) struct ZeroCrossingDetector {
    now: Vec<f64>,
    values: Values,
    state: Vec<f64>,
    weights: Terms,
    /// Hysteresis: by how much rounding has left each function on the wrong side of zero after an event.
    margin: Vec<f64>,
    /// What rounding makes of functions of laws that bend in loops: as long as they are within it, they keep their
    /// hysteresis.
    rounding: Vec<f64>,
    /// The times between the last events of each function.
    intervals: Vec<Intervals>,
    /// The largest value that each function has had, also at the ends of steps that were not taken.
    largest: Vec<f64>,
    /// And at the ends of steps that were, above and below zero: a current that leaks is small beside one that flows.
    visited: Vec<[f64; 2]>,
    /// As how large each function must count for its zero to be as wide as the tolerances of its states make it.
    resolved: Vec<f64>,
    /// The derivatives of functions by states where the present modes began.
    gradients: Vec<f64>,
    /// Functions that tolerances of states leave undetermined.
    followed: Vec<Followed>,
    /// The values at the end of the step that is tried; where modes are about to change it may never be there.
    tried: Vec<f64>,
    /// The part of it within which a function counts as zero.
    event_tolerance: f64,
    /// Functions that grazed zero in the step, and where in it.
    pub grazing: Vec<(usize, f64)>,
    /// How long before its zero the last crossing was taken, at most.
    lag: f64,
    /// Functions of which it was not decided whether they cross, and from when on.
    pub undecided: Vec<(usize, f64)>,
    /// The events of functions of time alone, as far as they are known ahead.
    ahead: Vec<Ahead>,
    /// The functions over the part of a step that was enclosed last, and in its middle.
    enclosures: Vec<Enclosure>,
    centre: Vec<f64>,
    /// Time, states and unknowns over that part, and the states in its middle.
    arguments: Vec<Enclosure>,
    middle: Vec<f64>,
    /// The cubics of states through both ends of the step.
    cubics: Vec<Cubic>,
    /// The linear forms of functions that are told by them.
    formed: Vec<Option<usize>>,
}

/// Keeps the largest sizes that functions have had.
fn record_largest(largest: &mut Vec<f64>, now: &[f64]) {
    largest.resize(now.len().max(largest.len()), 0.0);
    largest.iter_mut().zip(now).for_each(|(largest, now)| *largest = largest.max(now.abs()));
}

impl ZeroCrossingDetector {
    /// A detector for a run of this relative tolerance.
    pub fn new(system: &System<'_>, rtol: f64) -> ZeroCrossingDetector {
        ZeroCrossingDetector {
            largest: vec![0.0; system.model.events.len()],
            visited: vec![[0.0; 2]; system.model.events.len()],
            event_tolerance: EVENT_TOLERANCE_FACTOR * rtol,
            now: vec![0.0; system.model.events.len()],
            tried: vec![0.0; system.model.events.len()],
            resolved: vec![0.0; system.model.events.len()],
            gradients: Vec::new(),
            followed: Vec::new(),
            values: Values::default(),
            state: vec![0.0; system.model.states.len()],
            weights: Vec::new(),
            margin: vec![0.0; system.model.events.len() + system.surfaces().len()],
            rounding: vec![0.0; system.model.events.len() + system.surfaces().len()],
            intervals: vec![Intervals::none(); system.model.events.len()],
            grazing: Vec::new(),
            lag: 0.0,
            undecided: Vec::new(),
            ahead: Vec::new(),
            enclosures: Vec::new(),
            centre: Vec::new(),
            arguments: Vec::new(),
            middle: Vec::new(),
            cubics: Vec::new(),
            formed: Vec::new(),
        }
    }

    /// Gives an event function its mode at an event, also where rounding has left it before its zero.
    pub fn set_mode(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
        mode: f64,
    ) -> Result<(), EvaluationError> {
        self.margin[k] = 0.0;
        if system.mode(k) != mode {
            self.evaluate(system, t, x)?;
            let before = self.now[k];
            let jumps = before.abs() > JUMP_AT_EVENT * self.largest[k];
            system.set_mode(k, mode);
            system.prepare();
            let mut behind = if before * mode < 0.0 && !jumps { before.abs() } else { 0.0 };
            // Behind a kink it is as much farther from its zero as it is steeper there.
            if self.evaluate(system, t, x).is_ok() && self.now[k] * mode < 0.0 {
                let after = self.now[k];
                if self.within_time_rounding(system, t, x, k, after) {
                    behind = behind.max(after.abs());
                }
            }
            self.margin[k] = 2.0 * behind;
        }
        Ok(())
    }

    /// Evaluates the event functions.
    fn evaluate(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        let count = system.model.events.len();
        self.now.resize(count, 0.0);
        for magnitudes in [&mut self.largest, &mut self.tried, &mut self.resolved] {
            magnitudes.resize(count.max(magnitudes.len()), 0.0);
        }
        self.visited.resize(count.max(self.visited.len()), [0.0; 2]);
        system.relations(t, x, &mut self.now)?;
        self.apply_hysteresis(system);
        Ok(())
    }

    /// Applies the hysteresis of regularised powers, and of functions that rounding has left on the wrong side.
    fn apply_hysteresis(&mut self, system: &System<'_>) {
        system.apply_hysteresis(&mut self.now);
        for (k, now) in self.now.iter_mut().enumerate() {
            *now += system.mode(k) * self.margin[k];
        }
    }

    /// Records how large the functions are here.
    pub fn record_magnitudes(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<(), EvaluationError> {
        self.evaluate(system, t, x)?;
        record_largest(&mut self.largest, &self.now);
        self.accept_step();
        Ok(())
    }

    /// The size of a function beside which its zero is as wide as the event tolerance.
    fn magnitude(&self, system: &System<'_>, k: usize) -> f64 {
        match self.followed(k) {
            Some(followed) => followed.size,
            None => self.visited_size(system, k).max(self.resolved[k]),
        }
    }

    /// The largest that a function has been on the side of its mode.
    pub(super) fn visited_size(&self, system: &System<'_>, k: usize) -> f64 {
        self.visited[k][usize::from(system.mode(k) < 0.0)]
    }

    /// Records how well functions are known by the tolerances of the states that they read.
    pub fn record_resolution(&mut self, system: &mut System<'_>, t: f64, x: &[f64], tolerance: &Tolerance) {
        self.gradients.clear();
        if system.model.events.is_empty() || system.relations_full(t, x, &mut self.values).is_err() {
            return;
        }
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        self.gradients.extend_from_slice(by_states);
        self.resolved.resize(system.model.events.len().max(self.resolved.len()), 0.0);
        for (k, resolved) in self.resolved.iter_mut().enumerate().take(system.model.events.len()) {
            let terms =
                full.pattern.row(k).map(|e| by_states[e].abs() * tolerance.atol[full.pattern.at[e] as usize]);
            let known = terms.sum::<f64>() / self.event_tolerance;
            *resolved = if known.is_finite() { known } else { 0.0 };
        }
    }

    /// Records how large the functions were where they were evaluated last, at the end of a step that is taken.
    pub fn accept_step(&mut self) {
        self.visited.resize(self.now.len().max(self.visited.len()), [0.0; 2]);
        for (k, (visited, now)) in self.visited.iter_mut().zip(&self.now).enumerate() {
            // What is followed may have been part of a transient.
            if self.followed.iter().any(|followed| followed.function == k) {
                continue;
            }
            let side = &mut visited[usize::from(*now < 0.0)];
            *side = side.max(now.abs());
        }
    }

    /// Records how far in time events are from the zeros of their functions, before modes change.
    pub fn record_lag(
        &mut self,
        system: &mut System<'_>,
        (t, x): (f64, &[f64]),
        events: &[(usize, f64)],
        mean_rate: f64,
    ) {
        self.lag = 0.0;
        if mean_rate > 0.0 && self.evaluate(system, t, x).is_ok() {
            let apart = |k: usize| (self.now[k] - system.mode(k) * self.margin[k]).abs() / mean_rate;
            let own = events.iter().filter(|(k, _)| !system.model.timed[*k]);
            self.lag = own.map(|(k, _)| apart(*k)).filter(|lag| lag.is_finite()).fold(0.0, f64::max);
        }
    }

    /// The largest value that each function has had at the ends of steps that were taken.
    pub fn largest_visited(&self) -> Vec<f64> {
        self.visited.iter().map(|[above, below]| above.max(*below)).collect()
    }

    /// Evaluates the event functions at the state in `state`.
    fn evaluate_scratch(&mut self, system: &mut System<'_>, t: f64) -> Result<(), EvaluationError> {
        let state = std::mem::take(&mut self.state);
        let done = self.evaluate(system, t, &state);
        self.state = state;
        done
    }
}
