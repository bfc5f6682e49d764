//! Root finding: where in a step an event function crosses zero, and whether
//! a shortened step ends there.

use super::{Crossing, ZeroCrossingDetector, sign};
use crate::method::{Stages, Tolerance};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    BESIDE_ZERO, EVENT_TOLERANCE_FACTOR, FUNCTION_ROUNDING, LOWEST_BRACKET, ROOT_BRACKET, ROOT_ITERATIONS,
    STATE_ROUNDING,
};

impl ZeroCrossingDetector {
    /// Whether the end of the step lies on the crossing that it was shortened to, to a part of the change of the
    /// function over the step.
    pub fn is_at_zero(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        crossing: &Crossing,
        part: f64,
    ) -> Result<bool, EvaluationError> {
        let (t, x) = (stages.t + stages.h, &stages.end);
        self.evaluate(system, t, x)?;
        let near = part * crossing.mean_rate * stages.h;
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
        Ok(far.into_iter().all(|k| self.now[k].abs() <= STATE_ROUNDING * size(k)))
    }

    /// An event function by the dense output of a step.
    pub(super) fn value_at(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        theta: f64,
    ) -> Result<f64, EvaluationError> {
        self.evaluate_within(system, stages, theta)?;
        Ok(self.now[k])
    }

    /// Evaluates the event functions by the dense output of a step.
    pub(super) fn evaluate_within(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        theta: f64,
    ) -> Result<(), EvaluationError> {
        if theta >= 1.0 {
            self.state.copy_from_slice(&stages.end);
        } else {
            stages.tableau.weights(theta, &mut self.weights);
            stages.interpolate(&self.weights, &mut self.state);
        }
        system.predict_unknowns(theta);
        self.evaluate_scratch(system, stages.t + theta * stages.h)
    }

    /// Where in a part of a step a function comes farthest across its zero: where its derivative along the dense
    /// output vanishes, or at an end.
    pub(super) fn lowest(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        (low, high): (f64, f64),
    ) -> Result<f64, EvaluationError> {
        let mode = system.mode(k);
        let mut falls = |theta: f64| {
            let (x, rates) = stages.dense(theta);
            system.predict_unknowns(theta);
            Ok(-mode * self.derivative(system, stages.t + theta * stages.h, &x, &rates, k)?)
        };
        let (start, end) = (falls(low)?, falls(high)?);
        if start <= 0.0 || end >= 0.0 {
            return Ok(if start > 0.0 { high } else { low });
        }
        let (_, lowest) = narrow_bracket((low, start), (high, end), |_| LOWEST_BRACKET, falls)?;
        Ok(lowest)
    }

    /// Whether a function lies across its zero at a place in a step by more than tolerances of the states there, and
    /// rounding, may make of it.
    pub(super) fn is_below_zero(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        theta: f64,
        tolerance: &Tolerance,
    ) -> Result<bool, EvaluationError> {
        let value = system.mode(k) * self.value_at(system, stages, k, theta)?;
        if value >= 0.0 {
            return Ok(false);
        }
        let state = self.state.clone();
        let known = self.known_to(system, stages.t + theta * stages.h, &state, tolerance)?[k];
        let rounding = FUNCTION_ROUNDING * self.largest[k];
        Ok(-value > EVENT_TOLERANCE_FACTOR * known + rounding)
    }

    /// The place just behind a root between `low`, where the mode holds, and `high`, and the mean rate of
    /// change there. Within the bracket values are those `along` the linear form of the function, if it has one and
    /// tells them well enough.
    pub(super) fn locate(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        (low, high): (f64, f64),
        along: &dyn Fn(&mut System<'_>, f64) -> Option<f64>,
    ) -> Result<Option<(f64, f64)>, EvaluationError> {
        let mode = system.mode(k);
        let (mut a, mut b) = (low, high);
        let mut fb = self.value_at(system, stages, k, b)?;
        if sign(fb) * mode >= 0.0 {
            return Ok(None);
        }
        let mut fa = self.value_at(system, stages, k, a)?;
        if sign(fa) * mode < 0.0 {
            // The zero lies before; at the start of a step it lies at the start.
            if a == 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
            (b, fb) = (a, fa);
            a = 0.0;
            fa = self.value_at(system, stages, k, a)?;
            if sign(fa) * mode < 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
        }
        let mean_rate = ((fb - fa) / ((b - a) * stages.h)).abs();
        let gap = |b: f64| ROOT_BRACKET * b.max(BESIDE_ZERO);
        let (_, b) = narrow_bracket((a, mode * fa), (b, mode * fb), gap, |theta| {
            let value = match along(system, theta) {
                Some(value) => value,
                None => self.value_at(system, stages, k, theta)?,
            };
            Ok::<f64, EvaluationError>(mode * value)
        })?;
        Ok(Some((b, mean_rate)))
    }
}

/// Narrows a bracket of a root, where a function falls from positive values to negative ones, to two of the gaps
/// that belong to its upper end: Chandrupatla's method, inverse quadratic interpolation where the last three points
/// lie on a curve that has an inverse between them, else bisection.
pub(super) fn narrow_bracket<E>(
    start: (f64, f64),
    end: (f64, f64),
    gap: impl Fn(f64) -> f64,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    let (mut newest, mut opposite) = (end, start);
    // From the newest point to the opposite one: by the secant at first.
    let mut part = end.1 / (end.1 - start.1);
    let ordered = |a: (f64, f64), b: (f64, f64)| if a.0 < b.0 { (a.0, b.0) } else { (b.0, a.0) };
    for _ in 0..ROOT_ITERATIONS {
        let (low, high) = ordered(newest, opposite);
        let gap = gap(high);
        if high - low <= 2.0 * gap {
            break;
        }
        // A guess at an end would not move it.
        let least = gap / (high - low);
        let part_inside = if part.is_finite() { part.max(least).min(1.0 - least) } else { 0.5 };
        let guess = newest.0 + part_inside * (opposite.0 - newest.0);
        let found = (guess, value(guess)?);
        let oldest = if (found.1 < 0.0) == (newest.1 < 0.0) {
            newest
        } else {
            std::mem::replace(&mut opposite, newest)
        };
        newest = found;
        let ((x1, f1), (x2, f2), (x3, f3)) = (newest, opposite, oldest);
        let (place, height) = ((x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2));
        let invertible = height < place.sqrt() && 1.0 - height < (1.0 - place).sqrt();
        part = match invertible {
            true => {
                let (a, b) = (f1 / (f2 - f1), f3 / (f2 - f3));
                a * b + (x3 - x1) / (x2 - x1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2))
            }
            false => 0.5,
        };
    }
    Ok(ordered(newest, opposite))
}
