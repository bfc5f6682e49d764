//! What happens at events: modes change, motion begins or ends to slide, states and sensitivities jump.

use super::{Drive, Entry, Failure, Note, Place, Settled, Values};
use crate::jump::Jump;

impl Drive<'_> {
    /// Lets the state jump where a dependent storage does; tells whether it does.
    pub(super) fn jump(
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
    pub(super) fn switch(&mut self, events: &[(usize, f64)], steepness: f64) -> Result<(), Failure> {
        if let Some(trial) = &mut self.trial {
            trial.restart();
        }
        let (t, x) = (self.t, self.x.clone());
        self.system.rest();
        let mut before = vec![0.0; x.len()];
        // The rates before the event, still with the old modes and tables.
        let known = self.system.rates(t, &x, &mut before).is_ok();
        let unknowns = self.system.present().to_vec();
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
            tape.push(Entry::Event { at: Place { t, x, unknowns }, before: first, falls });
        }
        self.begin()
    }
}
