//! Root finding: where in a step an event function crosses zero, and whether
//! a shortened step ends there.

use super::{Crossing, ZeroCrossingDetector, sign};
use crate::method::Stages;
use crate::system::{EvaluationError, System};
use crate::tolerance::{ROOT_BRACKET, ROOT_ITERATIONS, STATE_ROUNDING};

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

    /// The place just behind a root between `low`, where the mode holds, and `high`, and the mean rate of
    /// change there: the Illinois method, with bisection where it is slow.
    pub(super) fn locate(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        low: f64,
        high: f64,
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
        let gap = |b: f64| ROOT_BRACKET * b.max(1e-3);
        let (_, b) = illinois((a, mode * fa), (b, mode * fb), gap, |theta| {
            Ok::<f64, EvaluationError>(mode * self.value_at(system, stages, k, theta)?)
        })?;
        Ok(Some((b, mean_rate)))
    }
}

/// Narrows a bracket of a root, where a function falls from positive values to negative ones, to two of the gaps
/// that belong to its upper end: the Illinois method, with bisection in every fourth round.
pub(super) fn illinois<E>(
    (mut a, mut fa): (f64, f64),
    (mut b, mut fb): (f64, f64),
    gap: impl Fn(f64) -> f64,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    let mut side = 0;
    for round in 0..ROOT_ITERATIONS {
        let gap = gap(b);
        if b - a <= 2.0 * gap {
            break;
        }
        let secant = (a * fb - b * fa) / (fb - fa);
        let inside = secant > a && secant < b && round % 4 != 3;
        // A guess at an end would not move it.
        let guess = if inside { secant } else { 0.5 * (a + b) }.max(a + gap).min(b - gap);
        let f = value(guess)?;
        if f < 0.0 {
            (b, fb) = (guess, f);
            if side == 1 {
                fa *= 0.5;
            }
            side = 1;
        } else {
            (a, fa) = (guess, f);
            if side == -1 {
                fb *= 0.5;
            }
            side = -1;
        }
    }
    Ok((a, b))
}
