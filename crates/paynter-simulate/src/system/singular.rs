//! Infinite derivatives: roots at zero, and powers as steep as that.

use super::workspace::Singularities;
use super::{EvaluationError, System, Values};
use crate::tolerance::{INFINITE_DERIVATIVE, LOOKAHEAD_TIME, SINGULARITY_LOOKAHEAD, TINY_PARAMETER};

impl System<'_> {
    /// Takes the length of the run for its unit of time.
    pub fn set_span(&mut self, span: f64) {
        self.span = span;
    }

    /// Takes the largest rate and the smallest state or parameter into account where derivatives are judged.
    pub fn set_rate_scale(&mut self, fastest: f64, smallest: f64) {
        let scale = fastest.max(1.0) * (TINY_PARAMETER / smallest).max(1.0);
        if scale.is_finite() {
            self.infinite = INFINITE_DERIVATIVE * scale;
        }
    }

    /// Takes infinite derivatives (a root at zero) from a point a little ahead along the solution: a solution
    /// that leaves the place at once passes an integrable singularity. What stays infinite is recorded.
    #[cold]
    pub(super) fn extrapolate_singular(&mut self, t: f64, x: &[f64], values: &mut Values) {
        let n = x.len();
        let full = &self.model.full;
        let infinite = |values: &Values| -> Vec<usize> {
            let derivatives = full.pattern.at.iter().zip(full.by_states(&values.data));
            derivatives
                .filter(|(_, derivative)| !derivative.is_finite())
                .map(|(state, _)| *state as usize)
                .collect()
        };
        saturate(&mut values.data[n..], self.infinite);
        let here = values.data.clone();
        let rates = &here[..n];
        let passed = infinite(values);
        let resting = rates.iter().all(|rate| *rate == 0.0);
        let mut singular = Singularities { passed, resting, ..Singularities::default() };
        let present = self.fast.clone();
        // States that do not move yet may as soon as others have: one after the other, as tanks fill.
        let (mut along, mut still) = (rates.to_vec(), usize::MAX);
        while self.set_point_ahead(t, x, &along) {
            self.full.run_full(full, &self.configuration, &self.fast, values);
            let later = values.data[..n].to_vec();
            saturate(&mut values.data[n..], self.infinite);
            restore_where(values, &here, |value| value.is_finite());
            singular.states = infinite(values);
            let left = later.iter().filter(|rate| **rate == 0.0).count();
            if singular.states.is_empty() || left >= still || !later.iter().all(|rate| rate.is_finite()) {
                break;
            }
            still = left;
            along.iter_mut().zip(&later).for_each(|(along, later)| *along = 0.5 * (*along + later));
        }
        self.fast = present;
        singular.states = infinite(values);
        let by_parameters = full.forcing.iter().zip(full.by_parameters(&values.data));
        singular.lanes = by_parameters.filter(|(_, x)| !x.is_finite()).map(|((_, lane), _)| *lane).collect();
        values.data.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
        values.singular = Some(Box::new(singular));
    }

    /// Takes a point a little ahead along the solution, if that is possible; from rest, where the rates of a
    /// little later lead.
    pub(super) fn set_point_ahead(&mut self, t: f64, x: &[f64], rates: &[f64]) -> bool {
        let size = |list: &[f64]| list.iter().fold(0.0f64, |size, v| size.max(v.abs()));
        let along = |ahead: f64, rates: &[f64]| -> Vec<f64> {
            x.iter().zip(rates).map(|(x, k)| x + ahead * k).collect()
        };
        let speed = size(rates);
        if speed > 0.0 {
            let time = LOOKAHEAD_TIME * self.span.max(t.abs());
            let ahead = (SINGULARITY_LOOKAHEAD * size(x) / speed).max(time);
            return self.set_point(t + ahead, &along(ahead, rates)).is_ok();
        }
        let ahead = SINGULARITY_LOOKAHEAD * t.abs().max(self.span);
        let mut later = vec![0.0; x.len()];
        self.rates(t + ahead, x, &mut later).is_ok()
            && self.set_point(t + ahead, &along(0.5 * ahead, &later)).is_ok()
    }
}

/// Makes derivatives infinite that are as good as that.
pub(super) fn saturate(derivatives: &mut [f64], infinite: f64) {
    let singular = derivatives.iter_mut().filter(|value| value.abs() >= infinite);
    singular.for_each(|value| *value = f64::INFINITY.copysign(*value));
}

/// Restores the values of before that are good.
pub(super) fn restore_where(values: &mut Values, before: &[f64], good: impl Fn(f64) -> bool) {
    for (value, before) in values.data.iter_mut().zip(before).filter(|(_, before)| good(**before)) {
        *value = *before;
    }
}

/// Whether all values are finite and none is as good as infinite. Their sum tells most often.
pub(super) fn all_finite(values: &[f64], infinite: f64) -> bool {
    let sum: f64 = values.iter().map(|value| value.abs()).sum();
    sum < infinite || values.iter().all(|value| value.abs() < infinite)
}

/// Refuses rates that are infinite or undefined.
pub(super) fn finite(values: &[f64]) -> Result<(), EvaluationError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(EvaluationError::NotFinite(i)),
    }
}
