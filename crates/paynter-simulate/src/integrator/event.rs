//! What happens at events: modes change, motion enters or exits sliding, states
//! jump, and sensitivities take their saltation.

use super::Integrator;
use crate::events::Iteration;
use crate::model::jump::Jump;
use crate::sensitivity::adjoint::{Entry, Place};
use crate::sensitivity::projection::Projection;
use crate::system::{EvaluationError, Values};
use crate::{Failure, Note};

/// What events at one time make of the vector field.
struct Switched {
    /// Functions that have been given their modes.
    given: Vec<usize>,
    /// The jump f⁻ − f⁺ of the vector field at each event but the last.
    rate_jumps: Vec<(usize, Vec<f64>)>,
}

impl Integrator<'_> {
    /// Changes modes at events: sensitivities jump by (f⁻ − f⁺)·dt*/dp, with the time t* of each event.
    pub(super) fn handle_events(&mut self, events: &[(usize, f64)], mean_rate: f64) -> Result<(), Failure> {
        if let Some(trial) = &mut self.trial {
            trial.restart();
        }
        let (t, x) = (self.t, self.x.clone());
        self.system.end_step();
        self.detector.record_lag(&mut self.system, (t, &x), events, mean_rate);
        let mut before = vec![0.0; x.len()];
        // The rates before the event, still with the old modes and tables.
        let known = self.system.rates(t, &x, &mut before).is_ok();
        let unknowns = self.system.unknowns().to_vec();
        let first = before.clone();
        let shifts =
            if known { self.event_time_sensitivities(events, mean_rate, &before)? } else { Vec::new() };
        let mut dependent = Values::default();
        let calculated = self.system.jumps(t, &x, &mut dependent);
        calculated.map_err(|error| self.failure(error))?;
        self.stats.events += events.len() as u64;
        let Switched { given, mut rate_jumps } = self.switch_modes(events, known.then_some(&mut before))?;
        let zeros: Vec<usize> =
            events.iter().map(|(k, _)| *k).filter(|k| self.system.exit_surface(*k).is_none()).collect();
        self.iterate_events(&zeros, &given)?;
        if self.jump(dependent, shifts.first(), &first, &given)? {
            return self.begin();
        }
        self.stats.slides += zeros.iter().filter(|k| self.system.is_sliding(**k)).count() as u64;
        let mut after = vec![0.0; x.len()];
        let mut found = self.system.rates(t, &x, &mut after);
        if found.is_err() && self.system.follow_modes(true) {
            found = self.system.rates(t, &x, &mut after);
            self.system.follow_modes(false);
            if found.is_ok() {
                // Rounding has left a law just outside the domain that its new mode gives it.
                self.open(events);
            }
        }
        found.map_err(|error| self.failure(error))?;
        if let (Some((k, _)), true) = (events.last(), known) {
            rate_jumps.push((*k, difference(&before, &after)));
        }
        self.apply_saltation(&rate_jumps, &shifts);
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Event { at: Place { t, x, unknowns }, before: first, rate_jumps });
        }
        self.begin()?;
        self.settle_undetermined()
    }

    /// How the time of each event changes with each parameter, where sensitivities are wanted.
    fn event_time_sensitivities(
        &mut self,
        events: &[(usize, f64)],
        mean_rate: f64,
        rates: &[f64],
    ) -> Result<Vec<Vec<f64>>, Failure> {
        let mut shifts = Vec::new();
        let Some(sensitivities) = &self.sensitivities else { return Ok(shifts) };
        let at = (self.t, &self.x[..], rates);
        for (k, _) in events {
            let found = self.detector.time_sensitivity(&mut self.system, at, (*k, mean_rate), sensitivities);
            let (change, grazing) = found.map_err(|error| self.failure(error))?;
            if grazing && self.system.exit_surface(*k).is_none() {
                self.notes.push(Note::Grazing { t: self.t, event: *k });
            }
            shifts.push(change);
        }
        Ok(shifts)
    }

    /// Gives each function its mode; `before` are the rates before, if they are known, and then those before
    /// the last event.
    fn switch_modes(
        &mut self,
        events: &[(usize, f64)],
        mut before: Option<&mut Vec<f64>>,
    ) -> Result<Switched, Failure> {
        let (t, x) = (self.t, self.x.clone());
        let mut switched = Switched { given: Vec::new(), rate_jumps: Vec::new() };
        for (i, (k, mode)) in events.iter().enumerate() {
            match self.system.exit_surface(*k) {
                Some(j) => {
                    let left = self.detector.exit_sliding(&mut self.system, t, &x, j);
                    switched.given.push(left.map_err(|error| self.failure(error))?);
                }
                None => {
                    let turned = self.detector.set_mode(&mut self.system, t, &x, *k, *mode);
                    turned.map_err(|error| self.failure(error))?;
                    switched.given.push(*k);
                }
            }
            // Events of one time each have a part in the change; the last one has what iteration adds.
            if i + 1 < events.len()
                && let Some(before) = before.as_deref_mut()
            {
                let mut after = vec![0.0; x.len()];
                if self.system.rates(t, &x, &mut after).is_ok() {
                    switched.rate_jumps.push((*k, difference(before, &after)));
                    *before = after;
                } else {
                    switched.rate_jumps.push((*k, vec![0.0; x.len()]));
                }
            }
        }
        Ok(switched)
    }

    /// Makes all modes consistent; functions with Zeno behaviour settle on their zeros.
    fn iterate_events(&mut self, zeros: &[usize], given: &[usize]) -> Result<(), Failure> {
        let (t, x) = (self.t, &self.x);
        let zeno: Vec<(usize, f64)> =
            zeros.iter().filter_map(|k| Some((*k, self.detector.detect_zeno(*k, t)?))).collect();
        let settling_rate = zeno.first().map(|(_, rate)| *rate);
        let iterated = self.detector.iterate(&mut self.system, t, x, (zeros, settling_rate), given);
        if let Iteration::Cycling(event) = iterated.map_err(|error| self.failure(error))? {
            return Err(Failure::Chattering { t, event });
        }
        for (event, _) in zeno {
            if !self.system.is_sliding(event) {
                return Err(Failure::Chattering { t, event });
            }
            self.notes.push(Note::Zeno { t, event });
        }
        Ok(())
    }

    /// Lets sensitivities jump by (f⁻ − f⁺)·dt*/dp at each event.
    fn apply_saltation(&mut self, rate_jumps: &[(usize, Vec<f64>)], shifts: &[Vec<f64>]) {
        let Some(sensitivities) = &mut self.sensitivities else { return };
        for ((_, jump), shift) in rate_jumps.iter().zip(shifts) {
            for (row, jump) in jump.iter().enumerate().filter(|(_, jump)| **jump != 0.0) {
                for (lane, change) in shift.iter().enumerate() {
                    let value = sensitivities.s.get(row, lane) + jump * change;
                    sensitivities.s.set(row, lane, value);
                }
            }
        }
    }

    /// Projects the sensitivities of a start on sliding surfaces onto them.
    pub(super) fn project_on_surfaces(&mut self) -> Result<(), EvaluationError> {
        if self.sensitivities.is_none() && self.tape.is_none() {
            return Ok(());
        }
        let Some(projection) = Projection::find(&mut self.system, self.t, &self.x)? else { return Ok(()) };
        if let Some(sensitivities) = &mut self.sensitivities {
            for lane in 0..self.system.model.wanted.len() {
                let column = (0..self.x.len()).map(|row| sensitivities.s.get(row, lane)).collect();
                for (row, value) in projection.apply(column).into_iter().enumerate() {
                    sensitivities.s.set(row, lane, value);
                }
            }
        }
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Projection(projection));
        }
        Ok(())
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
            (found.map_err(|error| self.failure(error))?, &self.system.model.jumps)
        else {
            return Ok(false);
        };
        let (t, x) = (self.t, jump.x.clone());
        let iterated = self.detector.iterate(&mut self.system, t, &x, (&[], None), given);
        if let Iteration::Cycling(event) = iterated.map_err(|error| self.failure(error))? {
            return Err(Failure::Chattering { t, event });
        }
        let mut after = vec![0.0; x.len()];
        self.system.rates(t, &x, &mut after).map_err(|error| self.failure(error))?;
        if let Some(sensitivities) = &mut self.sensitivities {
            // The corners of tables do not move.
            let fixed = vec![0.0; sensitivities.s.count];
            jump.carry(jumps, sensitivities, shift.unwrap_or(&fixed), [before, &after]);
        }
        if !self.notes.iter().any(|note| matches!(note, Note::Jump { .. })) {
            self.notes.push(Note::Jump { t });
        }
        for output in jump.impulses(jumps) {
            let known = |note: &Note| matches!(note, Note::Impulse { output: other, .. } if *other == output);
            if !self.notes.iter().any(known) {
                self.notes.push(Note::Impulse { t, output });
            }
        }
        if let Some(tape) = &mut self.tape {
            tape.push(Entry::Jump);
        }
        self.x = x;
        Ok(true)
    }
}

/// The jump of the vector field.
fn difference(before: &[f64], after: &[f64]) -> Vec<f64> {
    before.iter().zip(after).map(|(before, after)| before - after).collect()
}
