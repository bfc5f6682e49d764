//! A run from its consistent initial values to its end.

use super::method::solver;
use super::{Integrator, Stop};
use crate::events::Iteration;
use crate::sensitivity::adjoint::Entry;
use crate::system::EvaluationError;
use crate::tolerance::{BESIDE_ZERO, SMALLEST_STEP, STEP_REMAINDER};
use crate::{Failure, Note, Sample};
use paynter_base::CancellationToken;

impl Integrator<'_> {
    /// Integrates from consistent initial values to the end.
    pub(super) fn integrate(
        &mut self,
        token: &CancellationToken,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<(), Failure> {
        if let Some(state) = self.x.iter().position(|v| !v.is_finite()) {
            return Err(Failure::BadInitial { state });
        }
        if let Some(dependent) = self.contradiction {
            return Err(Failure::InconsistentInitial { dependent });
        }
        self.system.place_tables(self.t);
        self.system.prepare();
        self.system.initialise(self.t, &self.x).map_err(|error| self.failure(error))?;
        if !self.system.model.regularisations.is_empty() {
            let noted = self.detector.record_magnitudes(&mut self.system, self.t, &self.x);
            noted.map_err(|error| self.failure(error))?;
            self.widen_regularisation();
        }
        let started = self.detector.initialise_modes(&mut self.system, self.t, &self.x);
        let (iteration, sliding) = started.map_err(|error| self.failure(error))?;
        if let Iteration::Cycling(event) = iteration {
            return Err(Failure::Chattering { t: self.t, event });
        }
        let mut rates = vec![0.0; self.x.len()];
        if self.system.rates(self.t, &self.x, &mut rates).is_ok() {
            let fastest = rates.iter().fold(0.0f64, |most, rate| most.max(rate.abs()));
            self.system.set_rate_scale(fastest, self.smallest);
        }
        self.begin()?;
        // Frictions that start together at rest are decided together.
        let zeros: Vec<usize> = sliding.iter().map(|(k, _)| *k).collect();
        let decided =
            zeros.len() > 1 && self.detector.decide(&mut self.system, self.t, &self.x, (&zeros, &[], &[]));
        if decided {
            self.stats.events += zeros.len() as u64;
            self.stats.slides += zeros.iter().filter(|k| self.system.is_sliding(**k)).count() as u64;
            self.begin()?;
        } else {
            for change in sliding {
                self.handle_events(&[change], 0.0)?;
            }
        }
        if (0..self.system.surfaces().len()).any(|j| self.system.slides_along(j)) {
            self.project_on_surfaces().map_err(|error| self.failure(error))?;
            self.begin()?;
        }
        let end = self.options.t_end;
        let span = end - self.t;
        let mut h = match self.options.step {
            Some(step) if self.options.method.is_fixed() => step,
            _ => self.first_step(span),
        };
        let mut grid = 0u64;
        let plain = self.is_plain();
        loop {
            self.emit(sink)?;
            if self.t >= end {
                return Ok(());
            }
            token.check().map_err(|_| Failure::Cancelled)?;
            if self.stats.steps + self.stats.rejected >= self.options.max_steps {
                return Err(Failure::TooManySteps { t: self.t });
            }
            if self.options.method.is_fixed() {
                let to = self.options.t_start + (grid + 1) as f64 * h;
                // The last step ends at the end, and one at an event, also where rounding leaves a remainder.
                let remainder = STEP_REMAINDER * h;
                let to = if to > end - remainder { end } else { self.sample_at(to, remainder) };
                if !plain || !self.plain_step(to, sink)? {
                    self.fixed_step(to, to + remainder, span, sink)?;
                }
                grid += u64::from(self.t >= to - remainder);
            } else {
                h = self.adapted_step(h, span, sink)?;
            }
        }
    }

    /// The time of the next sample where only rounding tells it from `to`, so that it lies at the end of the step.
    fn sample_at(&self, to: f64, remainder: f64) -> f64 {
        self.options.time(self.next).filter(|sample| (sample - to).abs() <= remainder).unwrap_or(to)
    }

    /// Starts the solver anew, at the beginning and after events.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        if !std::ptr::eq(self.bound, self.system.model) {
            self.bound = self.system.model;
            self.signals.restart();
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
        begun.map_err(|error| self.failure(error))?;
        self.restart();
        self.note_sliding();
        Ok(())
    }

    /// Tells of functions that several laws hold at zero, and of those whose laws enter rates otherwise than linearly,
    /// each once.
    fn note_sliding(&mut self) {
        let redundant = self.system.redundant();
        for j in 0..self.system.surfaces().len() {
            let k = self.system.surfaces()[j].relation;
            let shared = self.system.slides_along(j) && self.system.jumping(k).len() > 1;
            let known = |note: &Note| matches!(note, Note::NotUnique { event, .. } if *event == k);
            if (shared || redundant.contains(&k)) && !self.notes.iter().any(known) {
                self.notes.push(Note::NotUnique { t: self.t, event: k });
            }
            let bent = self.system.slides_along(j) && self.system.surfaces()[j].is_bent;
            let known = |note: &Note| matches!(note, Note::EquivalentControl { event, .. } if *event == k);
            if bent && !self.notes.iter().any(known) {
                self.notes.push(Note::EquivalentControl { t: self.t, event: k });
            }
        }
    }

    /// Estimates scales and resolutions anew, as they are from here on.
    pub(super) fn restart(&mut self) {
        self.begun = self.t;
        self.system.begin_steps();
        if let Some(sensitivities) = &mut self.sensitivities {
            sensitivities.restart();
        }
        self.estimate_cancellation();
        self.estimate_nominal_magnitudes();
        self.refresh_tolerance();
        self.detector.record_resolution(&mut self.system, self.t, &self.x, &self.tolerance);
        self.detector.follow_none(&mut self.tolerance);
        self.relaxation = None;
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Modes(self.system.snapshot()));
        }
    }

    /// Follows the step with the sensitivities and fills the points; returns their error.
    pub(super) fn step_sensitivities(&mut self, h: f64, to: f64) -> Result<f64, EvaluationError> {
        let inside = self.prepare_points(h, to)?;
        let Some(sensitivities) = &mut self.sensitivities else { return Ok(inside) };
        // Explicit and implicit solvers differ in their factors only.
        let (stages, factors) = self.solver.parts();
        let points = &mut self.points[..self.inner];
        Ok(sensitivities.step(&mut self.system, stages, factors, &self.tolerance, points).max(inside))
    }

    /// Moves to the end of the step.
    pub(super) fn accept(&mut self, to: f64) {
        self.move_to(to);
        self.detector.accept_step();
        let kept = (&mut self.tolerance, &self.noise[..]);
        if self.detector.update_followed(&mut self.system, to, &self.x, kept).is_err() {
            self.detector.follow_none(&mut self.tolerance);
        }
    }

    /// Takes the state and its sensitivities at the end of the step for the present ones.
    pub(super) fn move_to(&mut self, to: f64) {
        let stages = self.solver.stages();
        self.x.copy_from_slice(&stages.end);
        stages.accept();
        self.t = to;
        self.system.accept_step(to);
        if let Some(sensitivities) = &mut self.sensitivities {
            sensitivities.accept();
        }
        self.stats.steps += 1;
    }

    /// Widens the regularisation of signed powers to the tolerance; fixed steps have none.
    pub(super) fn widen_regularisation(&mut self) {
        if !self.options.method.is_fixed() && !self.system.model.regularisations.is_empty() {
            self.system.widen_regularisation(&self.detector.largest_visited(), self.options.rtol);
        }
    }

    /// Records which sensitivities the step just tried leaves undefined; returns whether there are new ones.
    pub(super) fn lose_sensitivities(&mut self) -> bool {
        let Some(sensitivities) = &mut self.sensitivities else { return false };
        let mut lost = false;
        for (lane, state) in sensitivities.undefined(self.solver.stages()) {
            if !std::mem::replace(&mut self.undefined[lane], true) {
                self.notes.push(Note::InfiniteDerivative { t: self.t, lane, state });
                sensitivities.forget(lane);
                lost = true;
            }
        }
        lost
    }

    /// Gives up sensitivities that grow in the step just tried however short it is; tells whether there are any.
    pub(super) fn lose_growing_sensitivities(&mut self) -> bool {
        let Some(sensitivities) = &mut self.sensitivities else { return false };
        let growing = sensitivities.growing();
        for (lane, state) in &growing {
            if !std::mem::replace(&mut self.undefined[*lane], true) {
                self.notes.push(Note::InfiniteDerivative { t: self.t, lane: *lane, state: Some(*state) });
            }
            sensitivities.forget(*lane);
        }
        !growing.is_empty()
    }

    /// The next event of time alone up to `limit`, or corner of a table, or the end.
    pub(super) fn next_stop(&mut self, limit: f64) -> Stop {
        let mut stop = Stop { at: self.options.t_end, events: Vec::new(), eventful: false };
        let limit = limit.min(stop.at);
        if let Some((at, events)) = self.detector.next_time_event(&mut self.system, self.t, limit)
            && at <= stop.at
        {
            stop = Stop { at, events, eventful: true };
        }
        match self.system.next_corner(self.t) {
            Some(at) if at < stop.at => Stop { at, events: Vec::new(), eventful: true },
            Some(at) if at == stop.at => Stop { eventful: true, ..stop },
            _ => stop,
        }
    }

    /// Tells of which functions it was not decided whether they cross, each once.
    pub(super) fn note_undecided(&mut self) {
        for (event, t) in std::mem::take(&mut self.detector.undecided) {
            let known = |note: &Note| matches!(note, Note::Undecided { event: other, .. } if *other == event);
            if !self.notes.iter().any(known) {
                self.notes.push(Note::Undecided { t, event });
            }
        }
    }

    /// No step is smaller than this.
    pub(super) fn smallest(&self, span: f64) -> f64 {
        SMALLEST_STEP * self.t.abs().max(BESIDE_ZERO * span)
    }
}
