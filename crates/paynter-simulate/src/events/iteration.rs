//! Event iteration: modes that are consistent with the event functions after
//! an event and at the start.

use super::{Changes, ZeroCrossingDetector, sign};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    DERIVATIVE_CANCELLATION, EVENT_ITERATIONS, LAG_FACTOR, MODE_STROKE_AT_ZERO, MULTIPLIER_EXCESS,
    SMALLEST_STEP,
};

/// How an event iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Iteration {
    /// The modes are consistent with the functions.
    Consistent,
    /// The modes change each other without end (mode cycling); this function was last.
    Cycling(usize),
}

/// Where the vector field takes a function that is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tendency {
    /// To this side, or nowhere.
    Leaves(f64),
    /// Back to zero from both sides, steeper from this one.
    Attracted(f64),
}

impl ZeroCrossingDetector {
    /// Initialises the modes: the signs of the functions, or of their rates where they are zero.
    /// Returns the functions along whose surfaces the motion starts.
    pub fn initialise_modes(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<(Iteration, Changes), EvaluationError> {
        if system.model.events.is_empty() {
            return Ok((Iteration::Consistent, Vec::new()));
        }
        let mut iteration = self.iterate(system, t, x, (&[], None), &[])?;
        // Functions that react to their modes at once have to fit them all together.
        if (0..self.now.len())
            .any(|k| self.now[k] == 0.0 && !system.is_sliding(k) && system.reacts_at_once(k))
            && system.solve_complementarity(t, x, &[], &[]).is_ok()
        {
            self.evaluate(system, t, x)?;
        }
        let is_settled = |k: &usize| system.own_timed(*k) && system.mode(*k) != 0.0;
        let zeros: Vec<usize> = (0..self.now.len())
            .filter(|k| self.now[*k] == 0.0 && !system.is_sliding(*k) && !is_settled(k))
            .collect();
        let mut sliding = Vec::new();
        let coupled = zeros.iter().any(|k| system.reacts_at_once(*k));
        for k in zeros {
            match self.tendency(system, t, x, k) {
                Ok(Tendency::Leaves(mode)) => system.set_mode(k, mode),
                Ok(Tendency::Attracted(mode)) => match system.surface(k) {
                    // A function that depends on its mode at once has not moved the state.
                    Some(j) if system.reacts_at_once(k) => self.enter_sliding(system, t, x, j, 1.0)?,
                    _ => {
                        system.set_mode(k, mode);
                        sliding.push((k, mode));
                    }
                },
                Err(_) => {}
            }
            system.prepare();
        }
        // The mode of one may have moved another that had its own already.
        if coupled && iteration == Iteration::Consistent {
            iteration = self.iterate(system, t, x, (&[], None), &[])?;
        }
        Ok((iteration, sliding))
    }

    /// A function on both sides of its zero, with the modes 1 and −1: where it reacts to its mode at once its
    /// values, else its derivatives by time. The mode is left as it was.
    fn one_sided(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
    ) -> Result<[f64; 2], EvaluationError> {
        if !system.reacts_at_once(k) {
            return self.one_sided_derivatives(system, t, x, k);
        }
        let sides = with_both_modes(system, k, |system, mode| {
            self.evaluate(system, t, x)?;
            let value = self.now[k] - mode * self.margin[k];
            // What rounding has left just before its zero, and moves on, is behind it.
            let behind = value * mode < 0.0 && self.within_time_rounding(system, t, x, k, value);
            Ok(if behind { mode * f64::MIN_POSITIVE } else { value })
        })?;
        // What rounding has left before its zero is at its zero, if its mode does more than rounding.
        let (margin, stroke) = (self.margin[k], (sides[0] - sides[1]).abs());
        let moves =
            margin <= MODE_STROKE_AT_ZERO * stroke && stroke > DERIVATIVE_CANCELLATION * self.largest[k];
        Ok(sides.map(|value| if moves && value.abs() <= margin { 0.0 } else { value }))
    }

    /// The derivatives of a function by time with the modes 1 and −1. The mode is left as it was.
    pub(super) fn one_sided_derivatives(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
    ) -> Result<[f64; 2], EvaluationError> {
        let mut rates = vec![0.0; x.len()];
        with_both_modes(system, k, |system, _| {
            system.rates(t, x, &mut rates)?;
            self.derivative(system, t, x, &rates, k)
        })
    }

    /// Where a function that is zero goes from here. The mode is left open.
    fn tendency(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
    ) -> Result<Tendency, EvaluationError> {
        let [above, below] = self.one_sided(system, t, x, k)?;
        let noise = DERIVATIVE_CANCELLATION * self.largest[k];
        if system.reacts_at_once(k) && above.abs() <= noise && below.abs() <= noise {
            // A law that only bends at zero moves nothing at once: where it goes tells its derivative.
            let [above, below] = self.one_sided_derivatives(system, t, x, k)?;
            if above > 0.0 || below < 0.0 {
                let stays = system.mode(k) * (if system.mode(k) > 0.0 { above } else { below }) > 0.0;
                return Ok(Tendency::Leaves(match (above > 0.0, stays) {
                    (_, true) => sign(system.mode(k)),
                    (true, false) => 1.0,
                    (false, false) => -1.0,
                }));
            }
        }
        let order = system.surface(k).map(|j| system.surfaces()[j].order);
        let still = above == 0.0 && below == 0.0;
        let leads_back = match order {
            Some(0 | 1) => above <= 0.0 && below >= 0.0 && !still,
            Some(_) => still,
            None => false,
        };
        Ok(if leads_back {
            Tendency::Attracted(if above.abs() >= below.abs() { 1.0 } else { -1.0 })
        } else if above > 0.0 && below > 0.0 {
            Tendency::Leaves(1.0)
        } else if above < 0.0 && below < 0.0 {
            Tendency::Leaves(-1.0)
        } else {
            Tendency::Leaves(0.0)
        })
    }

    /// Event iteration: makes the modes consistent with the functions, but for those that are given; where
    /// that is not possible one after another, all at once as a complementarity problem.
    pub fn iterate(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, settling_rate): (&[usize], Option<f64>),
        given: &[usize],
    ) -> Result<Iteration, EvaluationError> {
        self.settle_timed(system, t, given);
        let redundant = system.redundant();
        for k in &redundant {
            // What holds them may have changed.
            if let Some(j) = system.surface(*k) {
                system.set_sliding(j, 0.0);
            }
        }
        let snapshot = system.snapshot();
        if !redundant.is_empty() && self.decide(system, t, x, (zeros, &redundant, given)) {
            return Ok(Iteration::Consistent);
        }
        let iterated = self.iterate_around_bends(system, t, x, (zeros, settling_rate), given);
        if iterated == Ok(Iteration::Consistent) {
            if settling_rate.is_none() && self.contradict(system, t, x, (zeros, given)) {
                self.decide(system, t, x, (zeros, &[], given));
            }
            return iterated;
        }
        system.restore(&snapshot);
        if system.solve_complementarity(t, x, zeros, given).is_ok()
            || self.decide(system, t, x, (zeros, &redundant, given))
        {
            return Ok(Iteration::Consistent);
        }
        iterated
    }

    /// Makes the modes of functions of time alone consistent, which depend on no state: where one jumps others that
    /// read it may, and what is given by a table may rest exactly at its threshold. Tells whether any has changed.
    fn settle_timed(&mut self, system: &mut System<'_>, t: f64, given: &[usize]) -> bool {
        let mut changed = false;
        for _ in 0..EVENT_ITERATIONS {
            let mut found = None;
            for place in 0..system.model.time_functions.len() {
                let function = &system.model.time_functions[place];
                let (k, mode) = (function.relation, system.mode(function.relation));
                // What no event changes crosses by events of its own.
                if function.fixed && mode != 0.0 {
                    continue;
                }
                let value = system.time_function(place, t);
                let side = if value == 0.0 {
                    system.side_after(place, t).filter(|side| *side == 0.0 || mode == 0.0)
                } else {
                    let side = sign(value + mode * self.margin[k]);
                    Some(side).filter(|side| *side != 0.0 && !given.contains(&k))
                };
                if let Some(side) = side.filter(|side| *side != mode) {
                    found = Some((k, side));
                    break;
                }
            }
            let Some((k, side)) = found else { break };
            system.set_mode(k, side);
            system.prepare();
            changed = true;
        }
        changed
    }

    /// Decides laws that bend in loops together, and the other modes one after another, until neither change.
    fn iterate_around_bends(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, settling_rate): (&[usize], Option<f64>),
        given: &[usize],
    ) -> Result<Iteration, EvaluationError> {
        let mut bends = self.decide_bends(system, t, x, zeros);
        let others = |k: usize| !bends.contains(&k) && !system.own_fixed(k);
        if !bends.is_empty() && !(0..system.own_events()).any(others) {
            return Ok(Iteration::Consistent);
        }
        for _ in 0..EVENT_ITERATIONS {
            let known = [given, &bends].concat();
            let iterated = self.iterate_in_turn(system, t, x, (zeros, settling_rate), &known)?;
            if bends.is_empty() || iterated != Iteration::Consistent {
                return Ok(iterated);
            }
            let present = system.snapshot();
            bends = self.decide_bends(system, t, x, zeros);
            if system.snapshot() == present {
                return Ok(iterated);
            }
        }
        Ok(Iteration::Cycling(bends.first().copied().unwrap_or(0)))
    }

    /// Changes modes one after another until they are consistent with the functions. Where the vector field
    /// leads to the zero of a function from both sides the motion enters sliding; where its multiplier is out
    /// of range it exits. Functions with Zeno behaviour may settle on their zeros at a rate.
    fn iterate_in_turn(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, settling_rate): (&[usize], Option<f64>),
        given: &[usize],
    ) -> Result<Iteration, EvaluationError> {
        let mut zeros = zeros.to_vec();
        let mut given = given.to_vec();
        let mut turned = Vec::new();
        system.prepare();
        // Unknowns may jump to where other modes hold.
        if self.evaluate(system, t, x).is_err() {
            system.initialise(t, x)?;
        }
        for _ in 0..EVENT_ITERATIONS {
            self.evaluate(system, t, x)?;
            let exiting = (0..system.surfaces().len())
                .find(|j| system.slides_along(*j) && system.multiplier(*j).abs() > 1.0 + MULTIPLIER_EXCESS);
            // What is at its zero may enter sliding; before it does, its mode is only one of two, and may drive
            // a multiplier out of range that the sliding motion keeps in range.
            let returning = |detector: &mut ZeroCrossingDetector, system: &mut System<'_>, k: usize| {
                system.surface(k).is_some()
                    && matches!(detector.tendency(system, t, x, k), Ok(Tendency::Attracted(_)))
            };
            if let Some(j) = exiting {
                match (0..zeros.len()).find(|place| returning(self, system, zeros[*place])) {
                    Some(place) => {
                        let k = zeros.remove(place);
                        given.push(k);
                        if let Some(j) = system.surface(k) {
                            self.enter_sliding(system, t, x, j, settling_rate.unwrap_or(1.0))?;
                        }
                    }
                    None => given.push(self.exit_sliding(system, t, x, j)?),
                }
                continue;
            }
            if let Some(k) = zeros.pop() {
                if let Some(latch) = self.latch(system, t, x, k)? {
                    turned.push(latch);
                    zeros.push(k);
                    continue;
                }
                given.push(k);
                let Some(j) = system.surface(k) else { continue };
                if returning(self, system, k) || (settling_rate.is_some() && system.surfaces()[j].order == 2)
                {
                    self.enter_sliding(system, t, x, j, settling_rate.unwrap_or(1.0))?;
                }
                continue;
            }
            if self.settle_timed(system, t, &given) {
                continue;
            }
            let Some(k) = self.inconsistent(system, t, x, (&given, &turned)) else {
                return Ok(Iteration::Consistent);
            };
            given.retain(|other| *other != k);
            self.evaluate(system, t, x)?;
            if turned.contains(&k) {
                // Neither mode fits a function that depends on its own.
                zeros.push(k);
            }
            turned.push(k);
            system.set_mode(k, sign(self.now[k]));
            system.prepare();
        }
        Ok(Iteration::Cycling(turned.last().or(given.last()).copied().unwrap_or(0)))
    }

    /// Turns a function that the new mode of `k` puts on its other side for good: one that stays there when `k`
    /// goes back, as the contact of a relay that holds itself. Such a memory has hysteresis instead of sliding.
    fn latch(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
    ) -> Result<Option<usize>, EvaluationError> {
        if system.surface(k).is_none_or(|j| system.surfaces()[j].order == 0) {
            return Ok(None);
        }
        self.evaluate(system, t, x)?;
        let now = self.now.clone();
        let astray = |other: &usize| {
            let side = sign(now[*other]);
            *other != k && side != 0.0 && side != system.mode(*other) && !system.is_sliding(*other)
        };
        let astray: Vec<usize> = (0..now.len()).filter(astray).collect();
        let mode = system.mode(k);
        for other in astray {
            let (snapshot, point) = (system.snapshot(), system.point());
            let side = sign(now[other]);
            system.set_mode(other, side);
            system.set_mode(k, -mode);
            system.prepare();
            if self.evaluate(system, t, x).is_ok() && sign(self.now[other]) == side {
                system.set_mode(k, mode);
                system.prepare();
                return Ok(Some(other));
            }
            system.restore(&snapshot);
            system.set_point_to(point);
        }
        Ok(None)
    }

    /// Whether a function is on its way to the side of its mode, and there within rounding of the time and what
    /// the location of the event has left.
    pub(super) fn within_time_rounding(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        k: usize,
        now: f64,
    ) -> bool {
        let mut rates = vec![0.0; x.len()];
        let Ok(()) = system.rates(t, x, &mut rates) else { return false };
        let Ok(derivative) = self.derivative(system, t, x, &rates, k) else { return false };
        derivative * system.mode(k) > 0.0 && now.abs() <= derivative.abs() * self.time_rounding(t)
    }

    /// How far in time an event may be from the zeros of its functions: rounding of the time, and what the location of
    /// the event has left.
    pub(super) fn time_rounding(&self, t: f64) -> f64 {
        (SMALLEST_STEP * t.abs()).max(LAG_FACTOR * self.lag)
    }

    /// A function on the other side than its mode. Rounding puts there what was given its mode at zero, unless
    /// it reacts to modes at once, others have changed since, and it has gone farther. Those changed longest
    /// ago come first.
    fn inconsistent(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (given, turned): (&[usize], &[usize]),
    ) -> Option<usize> {
        let now = self.now.clone();
        let astray = |k: &usize| {
            let side = sign(now[*k]);
            side != 0.0 && side != system.mode(*k) && !system.is_sliding(*k)
        };
        let mut doubtful: Vec<usize> = (0..now.len()).filter(astray).collect();
        doubtful.sort_by_key(|k| turned.iter().rposition(|other| other == k));
        doubtful.into_iter().find(|k| {
            if !given.contains(k) || !system.reacts_at_once(*k) {
                return !given.contains(k);
            }
            if self.within_time_rounding(system, t, x, *k, now[*k]) {
                return false;
            }
            let noise = DERIVATIVE_CANCELLATION * self.largest[*k];
            let sides = self.one_sided(system, t, x, *k);
            sides.is_ok_and(|[above, below]| {
                now[*k].abs() > (MODE_STROKE_AT_ZERO * (above - below).abs()).max(noise)
            })
        })
    }
}

/// Evaluates something with the modes 1 and −1 of a function. The mode is left as it was.
fn with_both_modes<'s>(
    system: &mut System<'s>,
    k: usize,
    mut evaluate: impl FnMut(&mut System<'s>, f64) -> Result<f64, EvaluationError>,
) -> Result<[f64; 2], EvaluationError> {
    let kept = system.mode(k);
    let found = [1.0, -1.0].map(|mode| {
        system.set_mode(k, mode);
        system.prepare();
        evaluate(system, mode)
    });
    system.set_mode(k, kept);
    system.prepare();
    let [above, below] = found;
    Ok([above?, below?])
}
