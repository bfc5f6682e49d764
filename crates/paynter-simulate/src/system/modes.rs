//! Modes of branches, sliding along surfaces, lines of tables and widths of
//! regularisation: what changes at events only.

use super::{EvaluationError, System};
use crate::model::sliding::Surface;
use crate::tolerance::{
    LINE_ROUNDING, MODE_FOLLOWING_ITERATIONS, REGULARISATION_HYSTERESIS, REGULARISATION_WIDTH,
};
use paynter_graph::ElementId;
use paynter_numerics::linalg::PivotedFactors;

/// Stands among the rates with which motion settles on surfaces for a redundant function, which others hold at zero.
const REDUNDANT: f64 = -1.0;

/// Parameters, modes, tables and surfaces at a moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    slow: Vec<f64>,
    sliding: Vec<f64>,
}

impl<'a> System<'a> {
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

    /// Whether this function may stay at zero because it reacts to its mode at once (a surface of order zero).
    pub fn reacts_at_once(&self, k: usize) -> bool {
        self.surface(k).is_some_and(|j| self.own.surfaces[j].order == 0)
    }

    /// The surface whose exit this function detects.
    pub fn exit_surface(&self, k: usize) -> Option<usize> {
        k.checked_sub(self.own.events.len())
    }

    /// The surfaces of the model.
    pub fn surfaces(&self) -> &'a [Surface] {
        &self.own.surfaces
    }

    /// Whether the motion slides along the surface of this function.
    pub fn is_sliding(&self, k: usize) -> bool {
        self.at_zero[k]
    }

    /// Whether the motion slides along this surface.
    pub fn slides_along(&self, j: usize) -> bool {
        self.sliding[j] > 0.0
    }

    /// The sliding multiplier of a surface, between −1 and 1, as of the last evaluation.
    pub fn multiplier(&self, j: usize) -> f64 {
        self.fast[1 + self.own.states.len() + self.own.unknowns.len() + j]
    }

    /// The unknown of this number belongs to this surface, if not to the model itself.
    pub fn surface_of_unknown(&self, unknown: usize) -> Option<usize> {
        let j = unknown.checked_sub(self.own.unknowns.len())?;
        self.own.surfaces.get(j).or(self.own.surfaces.first()).map(|surface| surface.relation)
    }

    /// Enters sliding along a surface, settling on it at this rate, or exits with rate zero.
    pub fn set_sliding(&mut self, j: usize, rate: f64) {
        let mut sliding = self.sliding.clone();
        sliding[j] = rate;
        self.take_equations(sliding);
        self.prepare();
    }

    /// Makes a function redundant, where others hold it at zero: its own law takes the middle of its jump.
    pub fn set_redundant(&mut self, j: usize) {
        self.set_sliding(j, REDUNDANT);
    }

    /// The redundant functions, which others hold at zero.
    pub fn redundant(&self) -> Vec<usize> {
        let redundant = self.own.surfaces.iter().zip(&self.sliding).filter(|(_, rate)| **rate == REDUNDANT);
        redundant.map(|(surface, _)| surface.relation).collect()
    }

    /// The elements whose laws jump with an event function.
    pub fn jumping(&self, k: usize) -> &[ElementId] {
        self.own.jumping.get(k).map_or(&[], Vec::as_slice)
    }

    /// The number of event functions of the model itself.
    pub fn own_events(&self) -> usize {
        self.own.events.len()
    }

    /// Whether an event function of the model reads time alone.
    pub fn own_timed(&self, k: usize) -> bool {
        self.own.timed[k]
    }

    /// Whether an event function of the model reads parameters and time only, so that no event changes it.
    pub fn own_fixed(&self, k: usize) -> bool {
        self.own.time_functions.iter().any(|function| function.fixed && function.relation == k)
    }

    /// Changes between the model's own equations and those for sliding.
    pub(super) fn take_equations(&mut self, sliding: Vec<f64>) {
        let model = match &self.own.sliding {
            Some(other) if sliding.iter().any(|rate| *rate > 0.0) => other,
            _ => self.own,
        };
        let lines = self.model.parameters + self.model.events.len();
        let lines = self.slow[lines..lines + 3 * model.pieces.len() + model.regularisations.len()].to_vec();
        self.slow.truncate(model.parameters);
        self.slow.extend(&self.held[..model.events.len()]);
        self.slow.extend(lines);
        self.slow.extend(sliding.iter().take(model.flags).map(|rate| rate.max(0.0)));
        self.fast.resize(1 + model.states.len() + model.unknowns.len(), 0.0);
        for (surface, rate) in self.own.surfaces.iter().zip(&sliding) {
            self.at_zero[surface.relation] = *rate != 0.0;
        }
        if !std::ptr::eq(model, self.model) {
            self.unknowns = PivotedFactors::new(model.unknowns.len(), &model.residual_places);
            for workspace in
                [&mut self.full, &mut self.outputs_full, &mut self.relations_full, &mut self.jumps]
            {
                workspace.loops.clear();
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
        self.take_equations(snapshot.sliding.clone());
        self.slow.copy_from_slice(&snapshot.slow);
        let (start, count) = (self.model.parameters, self.model.events.len());
        self.held[..count].copy_from_slice(&self.slow[start..start + count]);
        self.prepare();
    }

    pub fn parameter(&self, i: usize) -> f64 {
        self.slow[i]
    }

    /// Puts every table on its line after time `t`; tells whether any of them jumps there.
    pub fn place_tables(&mut self, t: f64) -> bool {
        let start = self.model.parameters + self.model.events.len();
        let mut jumps = false;
        for (i, piece) in self.model.pieces.iter().enumerate() {
            let Some(table) = self.tables.list().get(piece.table as usize) else {
                self.slow[start + 3 * i] = f64::NAN;
                continue;
            };
            let segment = table.segment(t);
            let origin = table.times()[segment.saturating_sub(1)];
            let line = [table.value_in(segment, origin), table.derivative_in(segment), origin];
            let known = &mut self.slow[start + 3 * i..start + 3 * i + 3];
            let at = |line: &[f64]| (line[0], line[1] * (t - line[2]));
            let ((value, rise), (before, risen)) = (at(&line), at(known));
            let rounding = LINE_ROUNDING * (value.abs() + rise.abs() + before.abs() + risen.abs());
            // What is not a number jumps too.
            let continuous = (value + rise - before - risen).abs() <= rounding;
            jumps |= !continuous;
            known.copy_from_slice(&line);
        }
        jumps
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
    pub(super) fn follow(&mut self) -> Result<(), EvaluationError> {
        for _ in 0..MODE_FOLLOWING_ITERATIONS {
            if !self.model.unknowns.is_empty() {
                self.solve_unknowns()?;
            }
            if !self.adopt_modes() {
                break;
            }
        }
        Ok(())
    }

    /// Lets steps go over kinks without events: a method of first order loses nothing by them, and its recursion is
    /// then that of the equations as they stand. The branches of an algebraic loop stay with their events.
    pub fn pass_kinks(&mut self) {
        let explicit = self.own.unknowns.is_empty();
        let kinks = self.own.kinks.iter().filter(|kink| explicit || !kink.branches);
        self.passed = vec![false; self.own.events.len()];
        for kink in kinks {
            self.passed[kink.relation] = true;
            if kink.branches {
                self.branching.push(kink.relation);
            }
        }
    }

    /// Whether all functions are kinks that steps go over, or there are none.
    pub fn passes_all(&self) -> bool {
        (0..self.model.events.len()).all(|k| self.is_passed(k))
    }

    /// Whether steps go over the zeros of this event function without an event.
    pub fn is_passed(&self, k: usize) -> bool {
        self.passed.get(k).is_some_and(|passed| *passed)
    }

    /// Takes the branches of kinks at the present point; one kink may stand within another.
    pub(super) fn follow_kinks(&mut self) {
        for _ in 0..MODE_FOLLOWING_ITERATIONS {
            let now = self.relation_values();
            if !self.turn_kinks(&now) {
                break;
            }
        }
        self.branched_at.clone_from(&self.fast);
    }

    /// Gives kinks the branches on which their functions have these values; tells whether that changed any.
    pub(super) fn turn_kinks(&mut self, now: &[f64]) -> bool {
        let mut changed = false;
        for k in 0..self.branching.len() {
            let relation = self.branching[k];
            let mode = if now[relation] < 0.0 { -1.0 } else { 1.0 };
            if self.held[relation] != mode {
                self.set_mode(relation, mode);
                changed = true;
            }
        }
        if changed {
            self.prepare();
        }
        changed
    }

    /// The event functions at the present point, with its unknowns.
    pub(super) fn relation_values(&mut self) -> Vec<f64> {
        let mut now = vec![0.0; self.model.events.len()];
        self.relations.run(&self.model.relations, &self.configuration, &self.fast, &mut now);
        now
    }

    /// Sets modes to the signs of their functions at the present point; tells whether that changed any.
    pub(super) fn adopt_modes(&mut self) -> bool {
        let start = self.model.parameters;
        let now = self.relation_values();
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

    /// Where the regularisation widths stand among what changes seldom.
    pub(super) fn widths(&self) -> usize {
        self.model.parameters + self.model.events.len() + 3 * self.model.pieces.len()
    }

    /// Widens the regularisation of signed powers to what the tolerance does not resolve, now that the event
    /// functions have been as large as this: a smaller width would make the equations steeper than the
    /// solution is known.
    pub fn widen_regularisation(&mut self, largest: &[f64], rtol: f64) {
        let start = self.widths();
        let mut changed = false;
        for (regularisation, width) in self.model.regularisations.iter().zip(&mut self.slow[start..]) {
            let wanted = REGULARISATION_WIDTH * rtol * largest[regularisation.relation];
            if wanted > 2.0 * *width && wanted.is_finite() {
                *width = wanted;
                changed = true;
            }
        }
        if changed {
            self.prepare();
        }
    }

    /// Gives regularised powers a hysteresis, lest noise about zero make their modes chatter.
    pub fn apply_hysteresis(&self, relations: &mut [f64]) {
        let widths = &self.slow[self.widths()..];
        for (regularisation, width) in self.model.regularisations.iter().zip(widths).filter(|(r, _)| r.alone)
        {
            relations[regularisation.relation] +=
                self.mode(regularisation.relation) * REGULARISATION_HYSTERESIS * width;
        }
    }
}
