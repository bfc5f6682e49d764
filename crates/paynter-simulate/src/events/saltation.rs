//! What the saltation of sensitivities at an event is made of: derivatives of
//! event functions along the solution, and of event times by parameters.

use super::ZeroCrossingDetector;
use crate::sensitivity::Sensitivities;
use crate::system::{EvaluationError, System};
use crate::tolerance::{DERIVATIVE_CANCELLATION, GRAZING_CANCELLATION, GRAZING_RATE_SHARE};

impl ZeroCrossingDetector {
    /// The derivative of an event function by time, along the solution.
    pub fn derivative(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        rates: &[f64],
        k: usize,
    ) -> Result<f64, EvaluationError> {
        system.relations_full(t, x, &mut self.values)?;
        let (derivative, size) = self.derivative_parts(system, rates, k);
        Ok(if derivative.abs() <= DERIVATIVE_CANCELLATION * size { 0.0 } else { derivative })
    }

    /// The derivative of an event function, and the sum of the sizes of its terms.
    fn derivative_parts(&self, system: &System<'_>, rates: &[f64], k: usize) -> (f64, f64) {
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let (mut derivative, mut size) = (0.0, 0.0);
        for e in full.pattern.row(k) {
            let term = by_states[e] * rates[full.pattern.at[e] as usize];
            derivative += term;
            size += term.abs();
        }
        let time = system.model.wanted.len();
        for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(&self.values.data)) {
            if *row == k && *lane == time {
                derivative += value;
                size += value.abs();
            }
        }
        (derivative, size)
    }

    /// How the time of an event changes with each parameter: −(h_x S + h_p)/(h_x f + h_t), before the event.
    /// The second value tells whether the function is grazing: it touches zero without crossing.
    pub fn time_sensitivity(
        &mut self,
        system: &mut System<'_>,
        (t, x, rates): (f64, &[f64], &[f64]),
        (k, mean_rate): (usize, f64),
        sensitivities: &Sensitivities,
    ) -> Result<(Vec<f64>, bool), EvaluationError> {
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let count = sensitivities.s.count;
        let mut change = vec![0.0; count];
        for e in full.pattern.row(k) {
            let state = full.pattern.at[e] as usize;
            for (lane, change) in change.iter_mut().enumerate() {
                *change += by_states[e] * sensitivities.s.get(state, lane);
            }
        }
        for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(&self.values.data)) {
            if *row == k && *lane < count {
                change[*lane] += value;
            }
        }
        let (derivative, size) = self.derivative_parts(system, rates, k);
        let grazing = derivative.abs() <= GRAZING_CANCELLATION * size
            || derivative.abs() <= GRAZING_RATE_SHARE * mean_rate;
        for value in &mut change {
            *value = if grazing { 0.0 } else { -*value / derivative };
        }
        Ok((change, grazing))
    }
}
