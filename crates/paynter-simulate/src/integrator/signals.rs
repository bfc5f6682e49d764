//! Inputs that vary between the stages of a step, unseen by them.

use super::Integrator;
use crate::tolerance::{SIGNAL_PARTS, SIGNAL_RETRY, SIGNAL_STEP};
use paynter_numerics::program::Range;

impl Integrator<'_> {
    /// Whether a signal of time alone leaves, somewhere within the step, the range in which the stages have
    /// seen it, by more than that range and the tolerance: then the size to try next. Interval arithmetic
    /// tells where it may; a value outside shows that it does.
    pub(super) fn unseen_variation(&mut self, step: f64) -> Option<f64> {
        let count = self.system.model.time_signals.results();
        if count == 0 || self.options.method.is_fixed() {
            return None;
        }
        let t = self.t;
        let (mut values, mut found) = (Vec::new(), Vec::new());
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); count];
        let tableau = self.solver.tableau();
        // A stage without a weight in the error estimate sees what nobody is told of.
        let counts = |stage: usize| {
            let weighs =
                |terms: &[(usize, f64)]| terms.iter().any(|(i, weight)| *i == stage && *weight != 0.0);
            stage == 0
                || stage + 1 == tableau.stages
                || tableau.errors.first().is_some_and(|terms| weighs(terms))
        };
        for stage in (0..tableau.stages).filter(|stage| counts(*stage)) {
            self.system.signals(t + tableau.c[stage] * step, &mut values);
            samples.iter_mut().zip(&values).for_each(|(list, value)| list.push(*value));
        }
        // What one stage alone has seen may have escaped the error estimate all the same.
        let twice_seen = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            match list.as_slice() {
                [_, lo, .., hi, _] => Range { lo: *lo, hi: *hi },
                [lo, .., hi] => Range { lo: *lo, hi: *hi },
                _ => Range::ALL,
            }
        };
        let rtol = self.options.rtol;
        let seen: Vec<Range> = samples.iter_mut().map(twice_seen).collect();
        for (size, list) in self.signal_sizes.iter_mut().zip(&samples) {
            *size = list.iter().fold(*size, |size, value| size.max(value.abs()));
        }
        // Beside what a signal is over the step, and a trace of what it is over the run, the rest is nothing.
        let mut floors = vec![0.0; count];
        let run = self.options.t_start.min(t)..self.options.t_end.max(t + step);
        for (range, share) in [(Range::new(t, t + step), rtol), (Range::new(run.start, run.end), rtol * rtol)]
        {
            self.system.enclose_signals(range, &mut found);
            for (floor, found) in floors.iter_mut().zip(&found).filter(|(_, found)| found.value.is_bounded())
            {
                *floor = f64::max(*floor, share * found.value.magnitude());
            }
        }
        let mut stack = vec![(0.0, 1.0)];
        for _ in 0..SIGNAL_PARTS {
            let (low, high) = stack.pop()?;
            self.system.enclose_signals(Range::new(t + low * step, t + high * step), &mut found);
            let middle = 0.5 * (low + high);
            self.system.signals(t + middle * step, &mut values);
            let across = Range::about(0.0, 0.5 * (high - low) * step);
            let (mut outside, mut may_be) = (false, false);
            for j in 0..count {
                let spread = found[j].derivative.times(across);
                let value = found[j].value.intersection(Range::point(values[j]).plus(spread));
                if !value.is_bounded() {
                    may_be = true;
                    continue;
                }
                let slack = seen[j].width().max(floors[j]).max(rtol * self.signal_sizes[j]);
                let allowed = Range { lo: seen[j].lo - slack, hi: seen[j].hi + slack };
                may_be |= !allowed.covers(value);
                outside |= !allowed.contains(values[j]);
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
