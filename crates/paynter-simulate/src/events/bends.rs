//! Laws that bend without a jump in algebraic loops (diodes, springs with play, check valves): their modes at one
//! instant are a linear complementarity problem, solved as one; where laws are curved, again along the tangents.

use super::{ZeroCrossingDetector, lcp::Lcp};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    BEND_ROUNDS, CROSSED_AT_ZERO, DECIDED_TOGETHER, FUNCTION_AT_ZERO, ROUNDINGS_AT_ZERO, UNRESOLVED_AT_ZERO,
};

impl ZeroCrossingDetector {
    /// Decides the modes of all laws that bend in loops, given those of all others; returns their functions, none
    /// where there are none or no modes were found. Functions in `zeros` have crossed zero here.
    pub(super) fn decide_bends(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        zeros: &[usize],
    ) -> Vec<usize> {
        let functions = system.bends_in_loops().to_vec();
        if functions.len() < 2 || functions.len() > DECIDED_TOGETHER {
            return Vec::new();
        }
        let (snapshot, point, margin) = (system.snapshot(), system.point(), self.margin.clone());
        functions.iter().for_each(|k| self.margin[*k] = 0.0);
        match self.bend_modes(system, t, x, (&functions, zeros)) {
            Ok(true) => functions,
            _ => {
                system.restore(&snapshot);
                system.set_point_to(point);
                self.margin = margin;
                Vec::new()
            }
        }
    }

    fn bend_modes(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (functions, zeros): (&[usize], &[usize]),
    ) -> Result<bool, EvaluationError> {
        for _ in 0..BEND_ROUNDS {
            let turned = self.turn_bends(system, t, x, functions, None)?;
            if turned == Some(0) {
                break;
            }
            if turned.is_none() {
                return Ok(false);
            }
        }
        self.record_rounding(system, t, x, functions)?;
        // What is at its zero goes where its derivative takes it.
        let mut rates = vec![0.0; x.len()];
        system.rates(t, x, &mut rates)?;
        let (mut active, mut derivatives) = (Vec::new(), Vec::new());
        for k in functions.iter().copied() {
            let derivative = self.derivative(system, t, x, &rates, k)?;
            if self.now[k].abs() <= self.zero_width(t, k, derivative, zeros.contains(&k)) {
                active.push(k);
                derivatives.push(derivative);
            }
        }
        if !active.is_empty() && self.turn_bends(system, t, x, &active, Some(&derivatives))?.is_none() {
            return Ok(false);
        }
        self.evaluate(system, t, x)?;
        for k in functions.iter().copied() {
            if self.now[k] * system.mode(k) < 0.0 {
                if !active.contains(&k) {
                    return Ok(false);
                }
                // Rounding has left it on the other side.
                self.margin[k] = 2.0 * self.now[k].abs() + f64::MIN_POSITIVE;
            }
            // And may put it there, where it is no more than rounding.
            if self.now[k].abs() <= self.rounding[k] {
                self.margin[k] = self.margin[k].max(2.0 * self.rounding[k]);
            }
        }
        Ok(true)
    }

    /// Records what rounding makes of functions here; where tolerances of states leave far more undecided, a small part
    /// of that, since a law that bends is continuous.
    fn record_rounding(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        functions: &[usize],
    ) -> Result<(), EvaluationError> {
        self.evaluate(system, t, x)?;
        let found = system.rounding_of_relations();
        self.rounding.resize(found.len().max(self.rounding.len()), 0.0);
        for k in functions.iter().copied() {
            let unresolved = UNRESOLVED_AT_ZERO * self.unresolved(k);
            self.rounding[k] = unresolved.max(ROUNDINGS_AT_ZERO * found[k]);
        }
        Ok(())
    }

    /// What tolerances of states leave undecided of a function, where that is little beside it.
    fn unresolved(&self, k: usize) -> f64 {
        let known = self.event_tolerance * self.resolved.get(k).copied().unwrap_or(0.0);
        known.min(CROSSED_AT_ZERO * self.largest[k])
    }

    /// Within what a function with this derivative is at its zero at an event: those that have crossed it by more than
    /// others, which have by what tolerances of states and the location of the event leave of them.
    fn zero_width(&self, t: f64, k: usize, derivative: f64, has_crossed: bool) -> f64 {
        let crossed = CROSSED_AT_ZERO * self.largest[k];
        let moved = derivative.abs() * self.time_rounding(t);
        let width = if has_crossed { crossed } else { self.unresolved(k).max(moved.min(crossed)) };
        width.max(FUNCTION_AT_ZERO * self.largest[k]).max(self.rounding[k])
    }

    /// Solves for the modes of some bends, by their values or by the given derivatives; the number of modes that
    /// turned, if a solution was found.
    fn turn_bends(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        functions: &[usize],
        derivatives: Option<&[f64]>,
    ) -> Result<Option<usize>, EvaluationError> {
        let Some((values, responses)) = system.bend_responses(t, x, functions)? else { return Ok(None) };
        let values = derivatives.unwrap_or(&values);
        let sides: Vec<f64> = functions.iter().map(|k| system.mode(*k)).collect();
        // y = s·h + d, where d is how far a function lies beyond its zero, seen from the side of its mode.
        let matrix = responses.iter().enumerate().map(|(i, row)| {
            let entry = |(j, response): (usize, &f64)| sides[i] * response + if i == j { 1.0 } else { 0.0 };
            row.iter().enumerate().map(entry).collect()
        });
        let lcp = Lcp {
            matrix: matrix.collect(),
            offset: values.iter().zip(&sides).map(|(value, side)| value * side).collect(),
        };
        let Some(beyond) = lcp.solve() else { return Ok(None) };
        let turned: Vec<usize> =
            functions.iter().zip(&beyond).filter(|(_, d)| **d > 0.0).map(|(k, _)| *k).collect();
        for k in &turned {
            system.set_mode(*k, -system.mode(*k));
        }
        system.prepare();
        Ok(Some(turned.len()))
    }
}
