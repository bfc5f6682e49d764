//! Evaluation of rates, outputs, event functions and jumps at a time and state.

use super::singular::{all_finite, finite, restore_where, saturate};
use super::{EvaluationError, System, Values};
use crate::tolerance::MODE_FOLLOWING_ITERATIONS;

/// The event functions where they were calculated last: a step ends where the next one begins.
#[derive(Debug, Clone, Default)]
pub(super) struct RelationCache {
    epoch: u32,
    /// Time and states.
    at: Vec<f64>,
    values: Vec<f64>,
}

impl RelationCache {
    fn keep(&mut self, epoch: u32, at: &[f64], values: &[f64]) {
        self.epoch = epoch;
        self.at.clear();
        self.at.extend_from_slice(at);
        self.values.clear();
        self.values.extend_from_slice(values);
    }
}

impl System<'_> {
    /// Takes a time and state, and solves for the implicit unknowns there.
    #[inline(always)]
    pub(super) fn set_point(&mut self, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        self.fast[0] = t;
        self.fast[1..=x.len()].copy_from_slice(x);
        match (self.following, self.model.unknowns.is_empty()) {
            (true, _) => self.follow(),
            (false, true) => {
                if !self.branching.is_empty() && self.branched_at != self.fast {
                    self.follow_kinks();
                }
                Ok(())
            }
            (false, false) => self.solve_unknowns(),
        }
    }

    /// The rates at a time and state.
    pub fn rates(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), EvaluationError> {
        self.set_point(t, x)?;
        self.evaluations += 1;
        self.rates.run(&self.model.rates, &self.configuration, &self.fast, out);
        finite(out)
    }

    /// The rates with their derivatives.
    #[inline(always)]
    pub fn full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), EvaluationError> {
        self.evaluations += 1;
        self.jacobians += 1;
        if self.branching.is_empty() || self.following {
            self.set_point(t, x)?;
            self.full.run_full(&self.model.full, &self.configuration, &self.fast, values);
        } else {
            self.full_on_branches(t, x, values);
        }
        values.singular = None;
        if !self.model.full.own(&values.data).iter().all(|part| all_finite(part, self.infinite)) {
            finite(&values.data[..x.len()])?;
            self.extrapolate_singular(t, x, values);
        }
        Ok(())
    }

    /// The same where branches follow the state: their functions are calculated with the rates, so that no other
    /// evaluation is needed as long as they stay.
    fn full_on_branches(&mut self, t: f64, x: &[f64], values: &mut Values) {
        let model = self.model;
        self.fast[0] = t;
        self.fast[1..=x.len()].copy_from_slice(x);
        self.full.run_full(&model.full, &self.configuration, &self.fast, values);
        for _ in 0..MODE_FOLLOWING_ITERATIONS {
            if !self.turn_kinks(model.full.beside(&values.data)) {
                break;
            }
            self.full.run_full(&model.full, &self.configuration, &self.fast, values);
        }
        self.branched_at.clone_from(&self.fast);
    }

    /// The outputs.
    pub fn outputs(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), EvaluationError> {
        self.set_point(t, x)?;
        self.outputs.run(&self.model.outputs, &self.configuration, &self.fast, out);
        Ok(())
    }

    /// The outputs with their derivatives.
    pub fn outputs_full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), EvaluationError> {
        self.set_point(t, x)?;
        let full = &self.model.outputs_full;
        self.outputs_full.run_full(full, &self.configuration, &self.fast, values);
        if !all_finite(&values.data[full.rows..], self.infinite) {
            saturate(&mut values.data[full.rows..], self.infinite);
            let here = values.data.clone();
            let mut rates = vec![0.0; x.len()];
            let present = self.fast.clone();
            if self.rates(t, x, &mut rates).is_ok() && self.set_point_ahead(t, x, &rates) {
                self.outputs_full.run_full(full, &self.configuration, &self.fast, values);
            }
            self.fast = present;
            // What is infinite is truly so, and is reported; a quotient of zeros has its value ahead.
            restore_where(values, &here, |value| !value.is_nan());
            values.data[..full.rows].copy_from_slice(&here[..full.rows]);
        }
        Ok(())
    }

    /// The event functions.
    pub fn relations(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), EvaluationError> {
        // Corners of tables settle models that have no event functions.
        if out.is_empty() {
            return Ok(());
        }
        let RelationCache { epoch, at, values } = &self.cached_relations;
        let plain = self.model.unknowns.is_empty() && !self.following;
        if plain && *epoch == self.configuration.epoch && at[0] == t && at[1..] == *x {
            out.copy_from_slice(values);
        } else {
            self.set_point(t, x)?;
            self.relations.run(&self.model.relations, &self.configuration, &self.fast, out);
            self.cached_relations.keep(self.configuration.epoch, &self.fast[..=x.len()], out);
        }
        Ok(())
    }

    /// The event functions as they were calculated with the rates, if they still hold.
    pub fn known_relations<'v>(&self, values: &'v Values) -> Option<&'v [f64]> {
        let plain = self.model.unknowns.is_empty() && !self.following && values.singular.is_none();
        (plain && values.epoch == self.configuration.epoch).then(|| self.model.full.beside(&values.data))
    }

    /// Caches event functions that are known at a point.
    pub fn cache_relations(&mut self, t: f64, x: &[f64], values: &Values) {
        if let Some(known) = self.known_relations(values) {
            self.fast[0] = t;
            self.fast[1..=x.len()].copy_from_slice(x);
            self.cached_relations.keep(self.configuration.epoch, &self.fast[..=x.len()], known);
        }
    }

    /// The event functions with their derivatives; the last lane is time.
    pub fn relations_full(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), EvaluationError> {
        self.set_point(t, x)?;
        self.relations_full.run_full(&self.model.relations_full, &self.configuration, &self.fast, values);
        Ok(())
    }

    /// What makes states jump, with its derivatives; the last lane is time.
    pub fn jumps(&mut self, t: f64, x: &[f64], values: &mut Values) -> Result<(), EvaluationError> {
        self.set_point(t, x)?;
        if let Some(jumps) = &self.model.jumps {
            self.jumps.run_full(&jumps.full, &self.configuration, &self.fast, values);
        }
        Ok(())
    }
}
