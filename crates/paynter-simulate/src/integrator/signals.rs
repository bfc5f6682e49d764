//! Inputs that vary between the stages of a step, unseen by them.

use super::Integrator;
use crate::method::tableau::Tableau;
use crate::tolerance::{SIGNAL_PARTS, SIGNAL_RETRY, SIGNAL_STEP};
use paynter_numerics::program::{Enclosure, Range};

/// What is known of signals of time alone, and room to look at them in a step.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The largest values that they have had.
    sizes: Vec<f64>,
    /// The modes for which they were enclosed over the whole run, and a trace of what they are there.
    epoch: Option<u32>,
    traces: Vec<f64>,
    /// The method at work, and where in a step the stages lie that count in its error estimate.
    method: Option<&'static Tableau>,
    places: Vec<f64>,
    /// Signal by signal: at these places, the range that two of them have seen, and what counts for nothing.
    samples: Vec<f64>,
    seen: Vec<Range>,
    floors: Vec<f64>,
    values: Vec<f64>,
    found: Vec<Enclosure>,
}

impl Signals {
    /// Forgets what belongs to other equations.
    pub fn restart(&mut self) {
        self.sizes.clear();
        self.epoch = None;
    }

    /// Takes the stages of a method that have a weight in its error estimate.
    fn bind(&mut self, tableau: &'static Tableau) {
        if self.method.is_some_and(|known| std::ptr::eq(known, tableau)) {
            return;
        }
        self.method = Some(tableau);
        let counts = |stage: &usize| {
            let weighs =
                |terms: &[(usize, f64)]| terms.iter().any(|(i, weight)| i == stage && *weight != 0.0);
            *stage == 0
                || stage + 1 == tableau.stages
                || tableau.errors.first().is_some_and(|terms| weighs(terms))
        };
        self.places = (0..tableau.stages).filter(counts).map(|stage| tableau.c[stage]).collect();
    }

    /// Records the range in which the stages of a step have sampled each signal.
    fn record_ranges(&mut self, count: usize) {
        self.sizes.resize(count, 0.0);
        self.seen.clear();
        for (list, size) in self.samples.chunks_exact_mut(self.places.len()).zip(&mut self.sizes) {
            list.sort_unstable_by(f64::total_cmp);
            // What one stage alone has seen may have escaped the error estimate all the same.
            self.seen.push(match list {
                [_, lo, .., hi, _] => Range { lo: *lo, hi: *hi },
                [lo, .., hi] => Range { lo: *lo, hi: *hi },
                _ => Range::ALL,
            });
            *size = list.iter().fold(*size, |size, value| size.max(value.abs()));
        }
    }
}

impl Integrator<'_> {
    /// Whether a signal of time alone leaves, somewhere within the step, the range in which the stages have
    /// seen it, by more than that range and the tolerance: then the size to try next. Interval arithmetic
    /// tells where it may; a value outside shows that it does.
    pub(super) fn unseen_variation(&mut self, step: f64) -> Option<f64> {
        if self.system.model.time_signals.results() == 0 || self.options.method.is_fixed() {
            return None;
        }
        let mut signals = std::mem::take(&mut self.signals);
        let shorter = self.variation_between_stages(&mut signals, step);
        self.signals = signals;
        shorter
    }

    fn variation_between_stages(&mut self, signals: &mut Signals, step: f64) -> Option<f64> {
        let count = self.system.model.time_signals.results();
        let (t, rtol) = (self.t, self.options.rtol);
        signals.bind(self.solver.tableau());
        let stages = signals.places.len();
        signals.samples.resize(count * stages, 0.0);
        for (stage, place) in signals.places.iter().enumerate() {
            self.system.signals(t + place * step, &mut signals.values);
            for (j, value) in signals.values.iter().enumerate() {
                signals.samples[j * stages + stage] = *value;
            }
        }
        signals.record_ranges(count);
        // Beside what a signal is over the step, and a trace of what it is over the run, the rest is nothing.
        if signals.epoch != Some(self.system.epoch()) {
            signals.epoch = Some(self.system.epoch());
            let run = Range::new(self.options.t_start.min(t), self.options.t_end.max(t + step));
            self.system.enclose_signals(run, &mut signals.found);
            signals.traces.clear();
            signals.traces.extend(signals.found.iter().map(|found| magnitude(found, rtol * rtol)));
        }
        self.system.enclose_signals(Range::new(t, t + step), &mut signals.found);
        signals.floors.clear();
        let traces = signals.traces.iter().zip(&signals.sizes);
        let floors = signals.found.iter().zip(traces);
        let floors = floors.map(|(found, (trace, size))| magnitude(found, rtol).max(*trace).max(rtol * size));
        signals.floors.extend(floors);
        let mut stack = vec![(0.0, 1.0)];
        for part in 0..SIGNAL_PARTS {
            let (low, high) = stack.pop()?;
            // The first part is the whole step, which was enclosed just now.
            if part > 0 {
                let time = Range::new(t + low * step, t + high * step);
                self.system.enclose_signals(time, &mut signals.found);
            }
            let middle = 0.5 * (low + high);
            self.system.signals(t + middle * step, &mut signals.values);
            let across = Range::about(0.0, 0.5 * (high - low) * step);
            let (mut outside, mut may_be) = (false, false);
            for j in 0..count {
                let (found, value, seen) = (signals.found[j], signals.values[j], signals.seen[j]);
                let range =
                    found.value.intersection(Range::point(value).plus(found.derivative.times(across)));
                if !range.is_bounded() {
                    may_be = true;
                    continue;
                }
                let slack = seen.width().max(signals.floors[j]);
                let allowed = Range { lo: seen.lo - slack, hi: seen.hi + slack };
                may_be |= !allowed.covers(range);
                outside |= !allowed.contains(value);
            }
            if outside {
                return Some(if low > SIGNAL_RETRY { low * step } else { SIGNAL_STEP * step });
            }
            if may_be {
                stack.push((middle, high));
                stack.push((low, middle));
            }
        }
        None
    }
}

/// A share of the largest value that a signal may have; zero where nothing is known.
fn magnitude(found: &Enclosure, share: f64) -> f64 {
    if found.value.is_bounded() { share * found.value.magnitude() } else { 0.0 }
}
