//! Inputs that vary between the stages of a step, unseen by them.

use super::Integrator;
use crate::method::tableau::Tableau;
use crate::tolerance::{
    SIGNAL_BOUND_FACTOR, SIGNAL_BOUND_PARTS, SIGNAL_PARTS, SIGNAL_RETRY, SIGNAL_STEP, UNSEEN_VARIATION,
};
use paynter_numerics::program::{Enclosure, Range};

/// What is known of signals of time alone, and room to look at them in a step.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The largest values that they have had.
    sizes: Vec<f64>,
    /// The modes for which they were enclosed ahead, up to when that holds, and a trace of what they are there.
    epoch: Option<u32>,
    until: f64,
    traces: Vec<f64>,
    /// The method at work, and where in a step the stages lie that count in its error estimate.
    method: Option<&'static Tableau>,
    places: Vec<f64>,
    /// Signal by signal: at these places, the range that two of them have seen, and what counts for nothing.
    samples: Vec<f64>,
    seen: Vec<Range>,
    floors: Vec<f64>,
    /// Sums of which several terms vary unseen: these terms, what stages have seen of their sum, and what counts for
    /// nothing.
    sums: Vec<(Vec<usize>, Range, f64)>,
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
        for (list, size) in self.samples.chunks_exact(self.places.len()).zip(&mut self.sizes) {
            *size = list.iter().fold(*size, |size, value| size.max(value.abs()));
            self.seen.push(seen_range(list.to_vec()));
        }
    }

    /// Records the sums of which several terms vary by far more than stages have seen of them: each alone was seen at
    /// both ends of its rise, but not when it rises, and what they leave between them not at all.
    fn record_sums(&mut self, sums: &[Vec<usize>], step: f64) {
        let stages = self.places.len();
        let (seen, found) = (&self.seen, &self.found);
        let unseen = |j: &usize| {
            let varies = found[*j].derivative.magnitude() * step;
            varies > UNSEEN_VARIATION * seen[*j].width() || varies.is_nan()
        };
        self.sums.clear();
        for sum in sums {
            let terms: Vec<usize> = sum.iter().copied().filter(unseen).collect();
            if terms.len() < 2 {
                continue;
            }
            let at = |stage: usize| terms.iter().map(|j| self.samples[j * stages + stage]).sum();
            let range = seen_range((0..stages).map(at).collect());
            let floor = terms.iter().map(|j| self.floors[*j]).fold(0.0, f64::max);
            self.sums.push((terms, range, floor));
        }
    }
}

/// The range that at least two stages have seen: what one alone has may have escaped the error estimate all the same.
fn seen_range(mut samples: Vec<f64>) -> Range {
    samples.sort_unstable_by(f64::total_cmp);
    match samples[..] {
        [_, lo, .., hi, _] | [lo, .., hi] => Range { lo, hi },
        _ => Range::ALL,
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
        // Beside what a signal is over the step, and a trace of what it is over the run, the rest is nothing; but a
        // branch says nothing of the times at which another one is in force.
        if signals.epoch != Some(self.system.epoch()) || t >= signals.until {
            let ahead = self.detector.no_time_event_until().max(t + step);
            let start = if ahead == f64::INFINITY { self.options.t_start.min(t) } else { t };
            signals.until = ahead.min(self.options.t_end.max(t + step));
            if signals.epoch != Some(self.system.epoch()) {
                signals.epoch = Some(self.system.epoch());
                signals.traces.clear();
                signals.traces.resize(count, 0.0);
            }
            let sizes = self.largest_signals(signals, Range::new(start, signals.until));
            signals
                .traces
                .iter_mut()
                .zip(sizes)
                .for_each(|(trace, size)| *trace = trace.max(rtol * rtol * size));
        }
        let sizes = self.largest_signals(signals, Range::new(t, t + step));
        let known = signals.traces.iter().zip(&signals.sizes).zip(sizes);
        signals.floors.clear();
        signals.floors.extend(known.map(|((trace, size), here)| (rtol * size.max(here)).max(*trace)));
        signals.record_sums(&self.system.model.time_sums, step);
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
            let (list, values) = (&signals.found, &signals.values);
            let mut look = |(found, derivative, value): (Range, Range, f64), seen: Range, floor: f64| {
                let range = found.intersection(Range::point(value).plus(derivative.times(across)));
                let slack = seen.width().max(floor);
                let allowed = Range { lo: seen.lo - slack, hi: seen.hi + slack };
                may_be |= !range.is_bounded() || !allowed.covers(range);
                outside |= range.is_bounded() && !allowed.contains(value);
            };
            for (j, found) in list.iter().enumerate() {
                look((found.value, found.derivative, values[j]), signals.seen[j], signals.floors[j]);
            }
            for (terms, seen, floor) in &signals.sums {
                let zero = (Range::point(0.0), Range::point(0.0), 0.0);
                let sum = terms.iter().fold(zero, |(found, derivative, value), j| {
                    (found.plus(list[*j].value), derivative.plus(list[*j].derivative), value + values[*j])
                });
                look(sum, *seen, *floor);
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

    /// How large each signal may be over a range of time, zero where nothing is known. Where enclosures say far more than
    /// samples the range is divided: that of t·exp(−kt) is a product of ends that never meet. Leaves the enclosures of the
    /// whole range.
    fn largest_signals(&mut self, signals: &mut Signals, time: Range) -> Vec<f64> {
        let count = self.system.model.time_signals.results();
        let mut largest = vec![0.0; count];
        self.system.enclose_signals(time, &mut signals.found);
        let close = |(found, size): (&Enclosure, &f64)| found.value.magnitude() <= SIGNAL_BOUND_FACTOR * size;
        if signals.found.iter().zip(&signals.sizes).all(close) {
            return signals.found.iter().map(|found| found.value.magnitude()).collect();
        }
        let mut parts = vec![(time, self.signal_bounds(signals, time))];
        for _ in 0..SIGNAL_BOUND_PARTS {
            let bound = |j: usize, parts: &[(Range, Vec<(f64, f64)>)]| {
                let most = |side: fn(&(f64, f64)) -> f64| {
                    parts.iter().map(|(_, part)| side(&part[j])).fold(0.0, f64::max)
                };
                (most(|(upper, _)| *upper), most(|(_, sampled)| *sampled))
            };
            let mut loose = None;
            for (j, largest) in largest.iter_mut().enumerate() {
                let (upper, sampled) = bound(j, &parts);
                *largest = upper;
                if upper.is_finite() && upper > SIGNAL_BOUND_FACTOR * sampled.max(signals.sizes[j]) {
                    loose = Some((j, upper));
                }
            }
            let Some((j, upper)) = loose else { break };
            let Some(widest) = parts.iter().position(|(_, part)| part[j].0 == upper) else { break };
            let (range, _) = parts.swap_remove(widest);
            let middle = range.middle();
            for half in [Range::new(range.lo, middle), Range::new(middle, range.hi)] {
                parts.push((half, self.signal_bounds(signals, half)));
            }
        }
        largest.iter_mut().filter(|size| !size.is_finite()).for_each(|size| *size = 0.0);
        self.system.enclose_signals(time, &mut signals.found);
        largest
    }

    /// An upper bound of the size of each signal over a range of time, and its size at the ends and in the middle.
    fn signal_bounds(&mut self, signals: &mut Signals, time: Range) -> Vec<(f64, f64)> {
        self.system.enclose_signals(time, &mut signals.found);
        let upper = |found: &Enclosure| {
            if found.value.is_bounded() { found.value.magnitude() } else { f64::INFINITY }
        };
        let mut bounds: Vec<(f64, f64)> = signals.found.iter().map(|found| (upper(found), 0.0)).collect();
        for at in [time.lo, time.middle(), time.hi] {
            self.system.signals(at, &mut signals.values);
            bounds
                .iter_mut()
                .zip(&signals.values)
                .for_each(|(bound, value)| bound.1 = bound.1.max(value.abs()));
        }
        bounds
    }
}
