//! Samples at the times that are asked for: at the ends of steps, and within them by dense output.

use super::Integrator;
use crate::method::Point;
use crate::sensitivity::adjoint::{Entry, Place};
use crate::system::EvaluationError;
use crate::{Failure, Sample};

/// No step holds more results than this: they are in memory until it is accepted.
pub(super) const RESULTS: usize = 4096;

impl Integrator<'_> {
    /// Gives samples at the present point.
    pub(super) fn emit(&mut self, sink: &mut dyn FnMut(&Sample<'_>)) -> Result<(), Failure> {
        let sliding = self.is_between_branches();
        while let Some(t) = self.options.time(self.next).filter(|t| *t <= self.t) {
            let (values, y, s) = &mut self.buffer;
            y.resize(self.system.model.outputs_count, 0.0);
            let done = match &self.sensitivities {
                Some(sensitivities) => self.system.outputs_full(t, &self.x, values).map(|()| {
                    let count = y.len();
                    y.copy_from_slice(&values.data[..count]);
                    sensitivities.outputs(&self.system.model.outputs_full, &values.data, s);
                }),
                None => self.system.outputs(t, &self.x, y),
            };
            done.map_err(|error| self.failure(error))?;
            if let Some(tape) = &mut self.tape {
                let unknowns = self.system.unknowns().to_vec();
                tape.push(Entry::Node { at: Place { t, x: self.x.clone(), unknowns } });
            }
            let (_, y, s) = &mut self.buffer;
            erase(s, &self.undefined);
            sink(&Sample {
                t,
                states: &self.x,
                rates: self.solver.stages().rates(0),
                outputs: y,
                sensitivities: s,
                unknowns: self.system.unknowns(),
                sliding,
            });
            self.next += 1;
        }
        Ok(())
    }

    /// Whether some law takes a value between its branches, or follows the state through them.
    pub(super) fn is_between_branches(&self) -> bool {
        !self.open.is_empty()
            || !self.system.redundant().is_empty()
            || (0..self.system.surfaces().len()).any(|j| self.system.slides_along(j))
    }

    /// Prepares the points strictly within the step that the solver has taken; returns their error.
    pub(super) fn prepare_points(&mut self, h: f64, to: f64) -> Result<f64, EvaluationError> {
        let options = self.options;
        let within = || (self.next..).map_while(|number| options.time(number)).take_while(|time| *time < to);
        let count = within().count();
        self.inner = count;
        if self.points.len() < count {
            self.points.resize_with(count, Point::default);
        }
        if count == 0 {
            return Ok(0.0);
        }
        self.solver.extend(&mut self.system, &self.tolerance)?;
        let stages = self.solver.stages();
        for (point, time) in self.points[..count].iter_mut().zip(within()) {
            point.t = time;
            point.theta = ((time - self.t) / h).clamp(0.0, 1.0);
            stages.tableau.weights(point.theta, &mut point.weights);
            point.x.resize(self.x.len(), 0.0);
            stages.interpolate(&point.weights, &mut point.x);
            self.system.predict_unknowns(point.theta);
            point.y.resize(self.system.model.outputs_count, 0.0);
            if self.sensitivities.is_some() {
                self.system.outputs_full(time, &point.x, &mut point.values)?;
                let count = point.y.len();
                point.y.copy_from_slice(&point.values.data[..count]);
                point.s.clear();
                point.s.resize(point.y.len() * self.system.model.wanted.len(), 0.0);
            } else {
                self.system.outputs(time, &point.x, &mut point.y)?;
            }
            point.unknowns.clear();
            point.unknowns.extend_from_slice(self.system.unknowns());
        }
        Ok(stages.error_inside(&self.tolerance))
    }

    /// Gives the samples within the step just accepted.
    pub(super) fn emit_points(&mut self, sink: &mut dyn FnMut(&Sample<'_>)) {
        if let Some(tape) = &mut self.tape {
            let stages = self.solver.stages();
            let unknowns = self.system.start_unknowns().to_vec();
            let from = Place { t: stages.t, x: stages.start.clone(), unknowns };
            tape.push(Entry::Step { from, h: stages.h, tableau: stages.tableau });
            tape.extend(self.points[..self.inner].iter().map(|point| {
                let at = Place { t: point.t, x: point.x.clone(), unknowns: point.unknowns.clone() };
                Entry::Inner { at, theta: point.theta }
            }));
        }
        let sliding = self.is_between_branches();
        for point in &mut self.points[..self.inner] {
            erase(&mut point.s, &self.undefined);
            sink(&Sample {
                t: point.t,
                states: &point.x,
                rates: &[],
                outputs: &point.y,
                sensitivities: &point.s,
                unknowns: &point.unknowns,
                sliding,
            });
        }
        self.next += self.inner;
        self.inner = 0;
    }
}

/// Leaves no numbers where there are no sensitivities; those of an output stand together.
fn erase(sensitivities: &mut [f64], undefined: &[bool]) {
    if undefined.contains(&true) {
        for row in sensitivities.chunks_mut(undefined.len()) {
            row.iter_mut().zip(undefined).filter(|(_, lost)| **lost).for_each(|(s, _)| *s = f64::NAN);
        }
    }
}
