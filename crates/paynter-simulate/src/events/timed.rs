//! Time events: crossings of event functions that read time alone, isolated by interval arithmetic ahead of
//! the steps; and functions that leave their zero within a step.

use super::root::narrow_bracket;
use super::{Changes, ZeroCrossingDetector, sign};
use crate::method::{Stages, Tolerance};
use crate::system::{EvaluationError, System, stays_zero};
use crate::tolerance::{
    BESIDE_ZERO, CHATTERING_TOLERANCES, REDUNDANT_TOLERANCES, ROOT_BRACKET, SIMULTANEOUS_TIME_SHARE,
    STATE_ROUNDING, TIME_EVENT_POLISHES, TIME_EVENT_SEARCH, ZERO_SWEEPS,
};
use paynter_numerics::program::Range;

/// What is known about the events of a function of time alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    /// The modes and its own mode for which it is known.
    epoch: u32,
    mode: f64,
    /// Until here it does not cross.
    clear_until: f64,
    /// The first crossing behind, if it was found, and the mode after it.
    next: Option<(f64, f64)>,
}

impl Ahead {
    pub(super) const UNKNOWN: Ahead =
        Ahead { epoch: 0, mode: f64::NAN, clear_until: f64::NEG_INFINITY, next: None };
}

impl ZeroCrossingDetector {
    /// Functions whose mode is open although they have left zero.
    pub fn left_zero(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        tolerance: &Tolerance,
    ) -> Result<Changes, EvaluationError> {
        let redundant = system.redundant();
        if redundant.is_empty() && (0..system.model.events.len()).all(|k| system.mode(k) != 0.0) {
            return Ok(Vec::new());
        }
        let (t, x) = (stages.t + stages.h, &stages.end);
        let known = self.known_to(system, t, x, tolerance)?;
        // It has left zero where the states that it reads are known to have; what others hold there, by more.
        let zero = |k: &usize| known[*k] * if redundant.contains(k) { REDUNDANT_TOLERANCES } else { 1.0 };
        let open = |k: &usize| (system.mode(*k) == 0.0 && !system.is_passed(*k)) || redundant.contains(k);
        let left = |k: &usize| open(k) && self.now[*k].abs() > zero(k);
        Ok((0..self.now.len()).filter(left).map(|k| (k, sign(self.now[k]))).collect())
    }

    /// The functions of states that are zero within the tolerance.
    pub fn near_zero(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        tolerance: &Tolerance,
    ) -> Result<Vec<usize>, EvaluationError> {
        let known = self.known_to(system, t, x, tolerance)?;
        let near = |k: &usize| {
            system.surface(*k).is_some() && self.now[*k].abs() <= CHATTERING_TOLERANCES * known[*k]
        };
        Ok((0..system.own_events()).filter(near).collect())
    }

    /// Moves the state by parts of its tolerance to where these functions are zero: one after another, along their
    /// gradients (Kaczmarz).
    pub fn move_to_zero(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &mut [f64],
        tolerance: &Tolerance,
        functions: &[usize],
    ) -> Result<(), EvaluationError> {
        let before = x.to_vec();
        // Their zeros themselves are meant, without hysteresis.
        functions.iter().for_each(|k| self.margin[*k] = 0.0);
        for k in functions.repeat(ZERO_SWEEPS) {
            self.known_to(system, t, x, tolerance)?;
            let full = &system.model.relations_full;
            let by_states = full.by_states(&self.values.data);
            let entries = full.pattern.row(k).map(|e| {
                let i = full.pattern.at[e] as usize;
                (i, by_states[e], tolerance.atol[i] * tolerance.atol[i])
            });
            let entries: Vec<(usize, f64, f64)> = entries.collect();
            let size: f64 =
                entries.iter().map(|(_, derivative, weight)| derivative * derivative * weight).sum();
            if size > 0.0 {
                let multiple = self.now[k] / size;
                entries.iter().for_each(|(i, derivative, weight)| x[*i] -= multiple * derivative * weight);
            }
        }
        // Rounding is all that is left of what has gone to zero.
        let gone = x.iter_mut().zip(&before).filter(|(x, before)| x.abs() <= STATE_ROUNDING * before.abs());
        gone.for_each(|(x, _)| *x = 0.0);
        Ok(())
    }

    /// Evaluates the functions, and tells to what each is known by the tolerances of the states that it reads.
    pub(super) fn known_to(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        tolerance: &Tolerance,
    ) -> Result<Vec<f64>, EvaluationError> {
        self.evaluate(system, t, x)?;
        system.relations_full(t, x, &mut self.values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let state = |i: usize| tolerance.atol[i] + tolerance.rtol * x[i].abs();
        let of = |k: usize| {
            full.pattern.row(k).map(|e| by_states[e].abs() * state(full.pattern.at[e] as usize)).sum()
        };
        Ok((0..self.now.len()).map(of).collect())
    }

    /// The first time event after `t` and up to `limit`, and which functions take which sign.
    pub fn next_time_event(&mut self, system: &mut System<'_>, t: f64, limit: f64) -> Option<(f64, Changes)> {
        let count = system.model.time_functions.len();
        self.ahead.resize(count, Ahead::UNKNOWN);
        let mut next: Option<(f64, Changes)> = None;
        for place in 0..count {
            let function = &system.model.time_functions[place];
            let (k, fixed) = (function.relation, function.fixed);
            let (mode, epoch) = (system.mode(k), system.epoch());
            let known = &mut self.ahead[place];
            let holds = known.mode == mode && (fixed || known.epoch == epoch) && known.clear_until >= t;
            if !holds {
                *known = Ahead { epoch, mode, clear_until: t, next: None };
            }
            let mut known = *known;
            if known.next.is_none() && known.clear_until < limit {
                self.search_time_event(system, place, limit, &mut known);
            }
            self.ahead[place] = known;
            let Some((at, mode)) = known.next else { continue };
            match &mut next {
                Some((best, list)) if (at - *best).abs() <= SIMULTANEOUS_TIME_SHARE * best.abs() => {
                    list.push((k, mode));
                }
                Some((best, _)) if at > *best => {}
                _ => next = Some((at, vec![(k, mode)])),
            }
        }
        next
    }

    /// Until when functions of time alone are known to keep their modes; infinite where there are none.
    pub fn no_time_event_until(&self) -> f64 {
        let clear = |known: &Ahead| known.next.map_or(known.clear_until, |(at, _)| at);
        self.ahead.iter().map(clear).fold(f64::INFINITY, f64::min)
    }

    /// Looks for the first crossing between where the function is known to have none and `limit`: intervals
    /// in which it has a sign, or rises or falls throughout, are decided; others are halved.
    fn search_time_event(&mut self, system: &mut System<'_>, place: usize, limit: f64, known: &mut Ahead) {
        let start = known.clear_until;
        let mode = known.mode;
        let mut left = TIME_EVENT_SEARCH;
        let mut stack = vec![(start, limit)];
        while let Some((a, b)) = stack.pop() {
            let found = system.enclose_time_function(place, Range::new(a, b));
            let end = system.time_function(place, b);
            let narrow =
                b - a <= SIMULTANEOUS_TIME_SHARE * a.abs().max(b.abs()).max(BESIDE_ZERO * (limit - start));
            left -= 1;
            if mode == 0.0 {
                // It is zero until it leaves it.
                let zero = stays_zero(&found);
                if !zero && (narrow || left <= 0) && end != 0.0 {
                    known.next = Some((b, sign(end)));
                    return;
                }
                if zero || narrow || left <= 0 {
                    known.clear_until = b;
                    continue;
                }
            } else {
                let middle = system.time_function(place, 0.5 * (a + b));
                let spread = found.derivative.times(Range::about(0.0, 0.5 * (b - a)));
                // The middle is rounded, and with it the value there.
                let rounding = 4.0 * f64::EPSILON * (middle.abs() + found.derivative.magnitude() * b.abs());
                let centred = Range::about(middle, rounding).plus(spread);
                let value = found.value.intersection(centred);
                let side = |range: Range| if mode > 0.0 { range } else { range.negative() };
                if side(value).lo > 0.0 {
                    known.clear_until = b;
                    continue;
                }
                let derivative = side(found.derivative);
                let monotone = derivative.lo > 0.0 || derivative.hi < 0.0;
                if monotone || narrow || left <= 0 {
                    if left <= 0 && !monotone && !narrow {
                        self.undecided.push((system.model.time_functions[place].relation, a));
                    }
                    // What rises from its zero has just had its event; what only touches it has none.
                    let touches = end == 0.0 && derivative.hi >= 0.0;
                    if derivative.lo > 0.0 || mode * end > 0.0 || touches {
                        known.clear_until = b;
                        continue;
                    }
                    known.next = Some((root(system, place, mode, (a, b)), -mode));
                    return;
                }
            }
            let half = 0.5 * (a + b);
            stack.push((half, b));
            stack.push((a, half));
        }
    }
}

/// Where a function that leaves the side of its mode between two times crosses zero: the Illinois method,
/// polished by Newton's.
fn root(system: &mut System<'_>, place: usize, mode: f64, (a, b): (f64, f64)) -> f64 {
    let (fa, fb) = (mode * system.time_function(place, a), mode * system.time_function(place, b));
    if fa <= 0.0 {
        return a;
    }
    // Halving may have met the zero itself.
    if fb >= 0.0 {
        return b;
    }
    let gap = |b: f64| ROOT_BRACKET * b.abs();
    let narrowed = narrow_bracket((a, fa), (b, fb), gap, |t| {
        Ok::<f64, std::convert::Infallible>(mode * system.time_function(place, t))
    });
    let Ok((a, b)) = narrowed;
    let mut at = b;
    for _ in 0..TIME_EVENT_POLISHES {
        let derivative = system.enclose_time_function(place, Range::point(at)).derivative.middle();
        let better = at - system.time_function(place, at) / derivative;
        let slack = 2.0 * (b - a);
        if !(a - slack..=b + slack).contains(&better) {
            break;
        }
        at = better;
    }
    at
}
