//! One step: its size and error, the events that end it, what follows from it.

use super::results::RESULTS;
use super::{Integrator, Step, Stop};
use crate::events::Crossing;
use crate::system::EvaluationError;
use crate::tolerance::{
    CHATTERING_EVENTS, EVENT_LOCATION_STEPS, EVENT_NEARLY_REACHED, EVENT_REACHED, EVENT_SPACING_FACTOR,
    EVENT_SPACING_SHARE, FINEST_SENSITIVITY_STEP, LANDING_SHARE, LEAST_LOG_ERROR, LEAST_STEP_ERROR,
    PI_CONTROL, RELEASES, REPEATED_ERROR_SPAN, REPEATED_ERRORS, SIMULTANEOUS_SPAN_SHARE, STEP_GROWTH,
    STEP_SAFETY, STEP_SHRINKAGE,
};
use crate::{Failure, Note, Sample};

impl Integrator<'_> {
    /// Takes a step that ends at `to`, or at an event before, or at one of time alone before `latest`.
    pub(super) fn fixed_step(
        &mut self,
        to: f64,
        latest: f64,
        span: f64,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<(), Failure> {
        let stop = self.next_stop(latest);
        if stop.at <= self.t {
            return self.handle_events(&stop.events, 0.0);
        }
        let goal = if stop.at < latest { stop.at } else { to };
        let tried = self.try_step(goal - self.t, goal, self.smallest(span));
        self.system.follow_modes(false);
        if let Ok(taken) = tried.map_err(|error| self.failure(error))? {
            self.finish_step(taken, stop, span, sink)?;
            if let Some(state) = self.x.iter().position(|v| !v.is_finite()) {
                return Err(Failure::NotFinite { t: self.t, state });
            }
        }
        Ok(())
    }

    /// Goes to the end of a step, and through the events there; tells whether there were any.
    fn finish_step(
        &mut self,
        taken: Step,
        stop: Stop,
        span: f64,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<bool, Failure> {
        let mut events = taken.events;
        if taken.step == 0.0 {
            if self.settle_at_zero()? {
                return Ok(true);
            }
            self.detect_chattering(true, events.first())?;
            if !self.repeats_at_once(&events) || !self.open_kinks(&events)? {
                self.handle_events(&events, taken.mean_rate)?;
            }
            return Ok(true);
        }
        let left = self.left_kinks()?;
        self.note_undecided();
        self.emit_points(sink);
        self.detect_stiffness();
        self.accept(taken.to);
        self.close_kinks(&left)?;
        self.widen_regularisation();
        if self.judged {
            self.refresh_tolerance();
        }
        let at_stop = taken.to == stop.at && stop.eventful;
        let corner = at_stop && events.is_empty() && stop.events.is_empty();
        self.cornered = corner && self.pass_corner();
        if events.is_empty() && !at_stop || self.cornered {
            self.immediate_events = 0;
            return Ok(false);
        }
        let at_once = taken.step <= SIMULTANEOUS_SPAN_SHARE * span;
        if at_once && !at_stop && self.settle_at_zero()? {
            return Ok(true);
        }
        self.detect_chattering(at_once, events.first())?;
        if at_stop {
            events.extend(stop.events);
        }
        self.system.place_tables(self.t);
        self.handle_events(&events, taken.mean_rate)?;
        Ok(true)
    }

    /// Passes a corner at which tables bend and do not jump, as measured signals do at every sample: rates and event
    /// functions are there what they were, so that nothing else has to be settled. Tells whether it is one.
    fn pass_corner(&mut self) -> bool {
        // A state that has not moved yet may be moved from here on: how large it will be is estimated anew.
        let moved = |(largest, group): (&f64, &usize)| *largest > 0.0 || self.among[*group] > 0.0;
        let all_moved = self.largest.iter().zip(&self.system.model.groups).all(moved);
        if !all_moved || self.tape.is_some() || self.system.place_tables(self.t) {
            return false;
        }
        self.system.prepare();
        // What rests at its threshold from here on, or leaves it, has another mode.
        !self.system.is_at_threshold(self.t)
    }

    /// Takes one step of adapted size, or learns that it was too large; returns the size to try next.
    pub(super) fn adapted_step(
        &mut self,
        h: f64,
        span: f64,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<f64, Failure> {
        // So far ahead that steps are divided evenly before an event.
        let stop = self.next_stop(self.t + 4.0 * h);
        if stop.at <= self.t {
            // An event at the very present.
            self.handle_events(&stop.events, 0.0)?;
            return Ok(h);
        }
        let smallest = self.smallest(span);
        let goal = self.isolated_sample(h).map_or(stop.at, |at| stop.at.min(at));
        let left = goal - self.t;
        let room = self.options.time(self.next + RESULTS).map_or(left, |at| at - self.t);
        let lands = h >= LANDING_SHARE * left && left <= room;
        // Two even steps are better than a whole one and a remainder.
        let step = if lands { left } else { h.min((0.5 * left).max(0.5 * h)).min(room) };
        if step < smallest && !lands {
            if self.fall_back_to_implicit()? {
                return Ok(2.0 * smallest);
            }
            return Err(match self.last_error {
                Some(error) => self.failure(error),
                None => Failure::StepTooSmall { t: self.t, state: self.worst_state() },
            });
        }
        let to = if lands { goal } else { self.t + step };
        let taken = match self.try_step(step, to, smallest) {
            Ok(Ok(taken)) => taken,
            Ok(Err(next)) => return Ok(next),
            Err(error) => {
                self.record_error(error, to, span)?;
                return Ok(STEP_SHRINKAGE * step);
            }
        };
        self.system.follow_modes(false);
        let (length, error, crossed) = (taken.step, taken.error, !taken.events.is_empty());
        let eventful = self.finish_step(taken, stop, span, sink)?;
        if length == 0.0 {
            return Ok(step);
        }
        self.last_error = None;
        let factor = self.control_step(error);
        // A step cut short by an event or a stop says little about the next one.
        let grown = if length < 0.9 * h { h.max(length * factor) } else { length * factor };
        if !eventful {
            self.switch_solver()?;
            // Steps that corners cut short have stopped growing, whatever their errors.
            let growth = if self.cornered && length < 0.9 * h { None } else { Some(grown / length) };
            return Ok(grown * self.select_order(growth)?);
        }
        Ok(if crossed { grown.min(self.event_spacing(h)) } else { grown })
    }

    /// How long a step after an event may be: to try one far beyond the next event costs more than a second one.
    fn event_spacing(&mut self, h: f64) -> f64 {
        let spacing = self.t - std::mem::replace(&mut self.last_event, self.t);
        // Events that follow each other at once are one.
        if spacing > EVENT_SPACING_SHARE * h {
            self.event_spacings.rotate_right(1);
            self.event_spacings[0] = spacing;
        }
        EVENT_SPACING_FACTOR * self.event_spacings.iter().fold(0.0, |most: f64, spacing| most.max(*spacing))
    }

    /// Records an evaluation error in a step, and gives up after too many of them.
    fn record_error(&mut self, error: EvaluationError, to: f64, span: f64) -> Result<(), Failure> {
        self.system.follow_modes(false);
        self.last_error = Some(error);
        self.tried = Some((to, self.solver.stages().scratch.clone()));
        self.stats.rejected += 1;
        if self.t - self.repeated_errors.0 > REPEATED_ERROR_SPAN * span {
            self.repeated_errors = (self.t, 0);
        }
        self.repeated_errors.1 += 1;
        if self.repeated_errors.1 > REPEATED_ERRORS && !self.fall_back_to_implicit()? {
            return Err(self.failure(error));
        }
        Ok(())
    }

    /// Step-size control: the factor by which the next step may be longer, by the errors of this one and of
    /// the one before.
    fn control_step(&mut self, error: f64) -> f64 {
        let rate = self.solver.tableau().rate;
        // An explicit method is kept from swinging about its limit of stability; an implicit one has
        // none, and its steps grow with time.
        let (now, before) = if self.stiff { (1.0, 0.0) } else { PI_CONTROL };
        let log = error.max(LEAST_STEP_ERROR).ln();
        let factor = STEP_SAFETY * ((before * self.error_before - now * log) / rate).exp();
        self.error_before = log.max(LEAST_LOG_ERROR);
        factor.clamp(STEP_SHRINKAGE, STEP_GROWTH)
    }

    /// A sample that is alone in the next steps of the implicit method. These are long, and what decays fast
    /// within them is known best at their ends, so that one ends there.
    fn isolated_sample(&self, h: f64) -> Option<f64> {
        let first = self.options.time(self.next)?;
        let alone = self.options.time(self.next + 1).is_none_or(|second| second - first >= h);
        (self.stiff && alone && first - self.t <= 2.0 * h).then_some(first)
    }

    /// Counts events that follow each other at once. Too many of them are chattering, or faster than what an
    /// explicit method can resolve.
    fn detect_chattering(&mut self, at_once: bool, event: Option<&(usize, f64)>) -> Result<(), Failure> {
        self.immediate_events = if at_once { self.immediate_events + 1 } else { 0 };
        let event = event.map_or(0, |(k, _)| *k);
        if self.immediate_events <= CHATTERING_EVENTS {
            return Ok(());
        }
        self.immediate_events = 0;
        if self.fall_back_to_implicit()? { Ok(()) } else { Err(Failure::Chattering { t: self.t, event }) }
    }

    /// Steps the state, shortened to the first event in the step, and then the sensitivities.
    /// Where the step is too large, the size to try next.
    fn try_step(&mut self, step: f64, to: f64, smallest: f64) -> Result<Result<Step, f64>, EvaluationError> {
        if let Some(shorter) = self.relaxing_step(step) {
            return Ok(Err(shorter));
        }
        let mut taken = Step { step, to, error: 0.0, events: Vec::new(), mean_rate: 0.0 };
        let mut pending: Option<Crossing> = None;
        for search in 0..=EVENT_LOCATION_STEPS {
            taken.error = match self.step_state(taken.step)? {
                error if error <= 1.0 => error,
                error => return Ok(Err(self.reject(taken.step, error))),
            };
            // Rounding may hide where it crosses; the step ends where it was seen last.
            if search == EVENT_LOCATION_STEPS {
                break;
            }
            if pending.is_none()
                && let Some(shorter) = self.unseen_variation(taken.step)
            {
                self.stats.rejected += 1;
                return Ok(Err(shorter));
            }
            if pending.is_none() && self.undetermined_functions()? {
                self.stats.rejected += 1;
                return Ok(Err(step));
            }
            if pending.is_none()
                && let Some(shorter) = self.defective_output(taken.step)
            {
                self.stats.rejected += 1;
                return Ok(Err(shorter));
            }
            if self.has_reached(pending.as_ref(), EVENT_REACHED)? {
                break;
            }
            if pending.is_none() && self.close_modes()? {
                return Ok(Err(step));
            }
            let found = self.detector.first_crossing(&mut self.system, &mut *self.solver, &self.tolerance)?;
            // A crossing that the dense output showed just behind the end of the shortened step happens at its end.
            if found.is_none() && self.has_reached(pending.as_ref(), EVENT_NEARLY_REACHED)? {
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
            // Dense output beyond the event may mislead, so the shortened step is searched again.
            taken.step *= crossing.theta;
            taken.to = self.t + taken.step;
        }
        match &pending {
            Some(crossing) => {
                taken.events = crossing.events.iter().map(|k| (*k, -self.system.mode(*k))).collect();
                taken.mean_rate = crossing.mean_rate;
            }
            None => {
                for (event, theta) in std::mem::take(&mut self.detector.grazing) {
                    self.notes.push(Note::Grazing { t: self.t + theta * taken.step, event });
                }
            }
        }
        if taken.step > 0.0 {
            let end = &self.solver.stages().end;
            self.system.check_continuation((self.t, &self.x), (taken.to, end))?;
            let followed = self.step_sensitivities(taken.step, taken.to)?;
            if self.lose_sensitivities() {
                return Ok(Err(step));
            }
            if followed > 1.0 || followed.is_nan() {
                let finest = FINEST_SENSITIVITY_STEP * smallest;
                if taken.step > finest {
                    return Ok(Err(self.reject(taken.step, followed).max(finest)));
                }
                // Time tells no shorter steps apart: past an infinite derivative sensitivities are as good as that.
                if self.lose_growing_sensitivities() || followed.is_nan() {
                    return Ok(Err(step));
                }
            } else {
                taken.error = taken.error.max(followed);
            }
        }
        Ok(Ok(taken))
    }

    /// Whether the step ends at the crossing that it was shortened to, if there is one.
    fn has_reached(&mut self, crossing: Option<&Crossing>, part: f64) -> Result<bool, EvaluationError> {
        let Some(crossing) = crossing else { return Ok(false) };
        self.detector.is_at_zero(&mut self.system, self.solver.stages(), crossing, part)
    }

    /// Gives modes to functions that were zero and have left it in the step, which then is taken again; tells
    /// whether there are any.
    fn close_modes(&mut self) -> Result<bool, EvaluationError> {
        let mut opened = self.detector.left_zero(&mut self.system, self.solver.stages(), &self.tolerance)?;
        opened.retain(|(k, _)| !self.open.contains(k));
        if opened.is_empty() || self.returns_at_once(&opened) {
            return Ok(false);
        }
        self.system.follow_modes(false);
        let redundant = self.system.redundant();
        for (k, mode) in &opened {
            self.system.set_mode(*k, *mode);
            if let Some(j) = self.system.surface(*k).filter(|_| redundant.contains(k)) {
                self.system.set_sliding(j, 0.0);
            }
        }
        self.system.prepare();
        if self.solver.begin(&mut self.system, self.t, &self.x).is_err() {
            // The start lies outside the domain that the new mode gives to a law.
            self.open(&opened);
            self.solver.begin(&mut self.system, self.t, &self.x)?;
        }
        self.restart();
        Ok(true)
    }

    /// After many events at one instant decides all functions together that are zero within the tolerance of the
    /// states they read, as where more frictions than motions come to rest, or motion spirals into the zeros of two,
    /// and errors of steps are all that tells them apart; these are taken out of the state. Tells whether they could
    /// be decided, which is tried once at a time.
    fn settle_at_zero(&mut self) -> Result<bool, Failure> {
        if self.immediate_events < CHATTERING_EVENTS || self.settled_at == self.t {
            return Ok(false);
        }
        self.settled_at = self.t;
        let zeros = self.detector.near_zero(&mut self.system, self.t, &self.x, &self.tolerance);
        let zeros = zeros.map_err(|error| self.failure(error))?;
        if zeros.len() < 2 {
            return Ok(false);
        }
        let moved =
            self.detector.move_to_zero(&mut self.system, self.t, &mut self.x, &self.tolerance, &zeros);
        moved.map_err(|error| self.failure(error))?;
        let decided = self.detector.decide(&mut self.system, self.t, &self.x, (&zeros, &[], &[]));
        if decided {
            self.immediate_events = 0;
            self.begin()?;
        }
        Ok(decided)
    }

    /// Whether the same functions have left zero here time and again, only to be held there again: then what moves
    /// them is noise, and the step is taken with them at rest.
    fn returns_at_once(&mut self, opened: &[(usize, f64)]) -> bool {
        let functions: Vec<usize> = opened.iter().map(|(k, _)| *k).collect();
        let (known, at, count) = &mut self.repeated_releases;
        if *known == functions && *at == self.t {
            *count += 1;
        } else {
            (*known, *at, *count) = (functions, self.t, 1);
        }
        *count > RELEASES
    }

    /// Steps the state. A frozen branch may have no value beyond its event (a root of what becomes
    /// negative); then branches follow the state for this step, until the event is found.
    fn step_state(&mut self, step: f64) -> Result<f64, EvaluationError> {
        self.system.predict_unknowns(0.0);
        // A shorter step than the last may have values on all frozen branches.
        self.system.follow_modes(!self.open.is_empty());
        let mut tried = self.solver.step(&mut self.system, self.t, &self.x, step, &self.tolerance);
        if tried.is_err() && self.system.follow_modes(true) {
            tried = self.solver.step(&mut self.system, self.t, &self.x, step, &self.tolerance);
        }
        self.system.set_step_end();
        tried
    }

    /// Counts a rejected step; the size to try next.
    fn reject(&mut self, step: f64, error: f64) -> f64 {
        self.stats.rejected += 1;
        let rate = self.solver.tableau().rate;
        let factor = if error.is_finite() { STEP_SAFETY * error.powf(-1.0 / rate) } else { 0.25 };
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
