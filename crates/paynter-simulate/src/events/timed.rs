//! Time events, and functions that leave their zero within a step.

use super::{Changes, ZeroCrossingDetector, sign};
use crate::method::Stages;
use crate::system::{EvaluationError, System};
use crate::tolerance::SIMULTANEOUS_TIME_SHARE;

impl ZeroCrossingDetector {
    /// Functions whose mode is open although they have left zero.
    pub fn left_zero(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
    ) -> Result<Changes, EvaluationError> {
        if (0..system.model.events.len()).all(|k| system.mode(k) != 0.0) {
            return Ok(Vec::new());
        }
        self.evaluate(system, stages.t + stages.h, &stages.end)?;
        let left = |k: &usize| system.mode(*k) == 0.0 && self.now[*k] != 0.0;
        Ok((0..self.now.len()).filter(left).map(|k| (k, sign(self.now[k]))).collect())
    }

    /// The next time event after `t` (of functions of time alone), and which functions take which sign.
    pub fn next_time_event(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<Option<(f64, Changes)>, EvaluationError> {
        if !system.model.timed.contains(&true) {
            return Ok(None);
        }
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let time = system.model.wanted.len();
        let slopes = full.by_parameters(&self.values.data);
        let mut next: Option<(f64, Changes)> = None;
        for ((k, lane), slope) in full.forcing.iter().zip(slopes) {
            if !system.model.timed[*k] || *lane != time || *slope == 0.0 {
                continue;
            }
            let at = t - self.values.data[*k] / slope;
            // What has happened has the sign of its slope.
            if at < t || at.is_nan() || system.mode(*k) == sign(*slope) {
                continue;
            }
            match &mut next {
                Some((best, list)) if (at - *best).abs() <= SIMULTANEOUS_TIME_SHARE * best.abs() => {
                    list.push((*k, sign(*slope)))
                }
                Some((best, _)) if at > *best => {}
                _ => next = Some((at, vec![(*k, sign(*slope))])),
            }
        }
        Ok(next)
    }
}
