//! Kinks that steps cannot tell from their zeros. A law that only bends at zero moves nothing by its mode; where
//! the state starts there and leaves it slower than steps resolve, frozen branches lead back from both sides.
//! Then the branches follow the state until it has left for good.

use super::Integrator;
use crate::Failure;
use crate::events::Changes;
use crate::tolerance::{KINK_EVENTS, KINK_RATE_JUMP};

impl Integrator<'_> {
    /// Whether the same functions, and no others, have had events here time and again.
    pub(super) fn repeats_at_once(&mut self, events: &[(usize, f64)]) -> bool {
        let functions: Vec<usize> = events.iter().map(|(k, _)| *k).collect();
        let (known, at, count) = &mut self.repeated_events;
        if *known == functions && *at == self.t {
            *count += 1;
        } else {
            (*known, *at, *count) = (functions, self.t, 1);
        }
        *count >= KINK_EVENTS
    }

    /// Lets the branches of functions follow the state, if neither the vector field nor another function jumps
    /// with any of them.
    pub(super) fn open_kinks(&mut self, events: &[(usize, f64)]) -> Result<bool, Failure> {
        let (t, x) = (self.t, self.x.clone());
        let count = self.system.model.events.len();
        for (k, _) in events {
            if self.system.exit_surface(*k).is_some() || self.open.contains(k) {
                return Ok(false);
            }
            let snapshot = self.system.snapshot();
            let mut sides = [vec![0.0; x.len() + count], vec![0.0; x.len() + count]];
            let mut found = Ok(());
            for (mode, values) in [1.0, -1.0].into_iter().zip(&mut sides) {
                self.system.set_mode(*k, mode);
                self.system.prepare();
                let (rates, functions) = values.split_at_mut(x.len());
                found = found.and_then(|()| self.system.rates(t, &x, rates));
                found = found.and_then(|()| self.system.relations(t, &x, functions));
            }
            self.system.restore(&snapshot);
            let bends = sides[0]
                .iter()
                .zip(&sides[1])
                .all(|(above, below)| (above - below).abs() <= KINK_RATE_JUMP * above.abs().max(below.abs()));
            if found.is_err() || !bends {
                return Ok(false);
            }
        }
        self.open(events);
        self.begin()?;
        Ok(true)
    }

    /// Lets the branches of functions follow the state.
    pub(super) fn open(&mut self, events: &[(usize, f64)]) {
        for (k, _) in events {
            if self.system.exit_surface(*k).is_some() {
                continue;
            }
            self.system.set_mode(*k, 0.0);
            if !self.open.contains(k) {
                self.open.push(*k);
            }
        }
        self.system.prepare();
    }

    /// The open functions that have left their zeros at the end of the step, with their sides.
    pub(super) fn left_kinks(&mut self) -> Result<Changes, Failure> {
        if self.open.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.detector.left_zero(&mut self.system, self.solver.stages(), &self.tolerance);
        let mut left = found.map_err(|error| self.failure(error))?;
        left.retain(|(k, _)| self.open.contains(k));
        Ok(left)
    }

    /// Gives these functions their modes again.
    pub(super) fn close_kinks(&mut self, left: &[(usize, f64)]) -> Result<(), Failure> {
        if left.is_empty() {
            return Ok(());
        }
        for (k, mode) in left {
            self.system.set_mode(*k, *mode);
        }
        self.open.retain(|k| left.iter().all(|(other, _)| other != k));
        self.system.prepare();
        self.begin()
    }
}
