//! Events: finding where event functions cross zero, and what happens there.

use super::solver::{Sensitivities, Stages};
use super::system::{System, Trouble, Values};

/// A crossing within a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crossing {
    /// Where in the step, from 0 to 1; just behind the zero.
    pub theta: f64,
    /// The event functions that cross there.
    pub events: Vec<usize>,
    /// How fast the first of them changes on average before.
    pub steepness: f64,
}

/// Event functions with their new modes.
pub(crate) type Changes = Vec<(usize, f64)>;

/// What became of the modes at an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Settled {
    /// They fit the state.
    Consistent,
    /// They change each other without end.
    Cycling(usize),
}

pub(crate) fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Watches the event functions of a run.
#[derive(Debug)]
pub(crate) struct Watch {
    now: Vec<f64>,
    values: Values,
    state: Vec<f64>,
    weights: Vec<f64>,
}

impl Watch {
    pub fn new(system: &System<'_>) -> Watch {
        Watch {
            now: vec![0.0; system.model.events.len()],
            values: Values::default(),
            state: vec![0.0; system.model.states.len()],
            weights: Vec::new(),
        }
    }

    /// Looks for the first crossing in the step that the stages hold.
    pub fn crossing(
        &mut self,
        system: &mut System<'_>,
        stages: &mut Stages,
    ) -> Result<Option<Crossing>, Trouble> {
        let count = self.now.len();
        if count == 0 {
            return Ok(None);
        }
        // The interval in which each function crosses, as far as a rough look tells.
        let mut found: Vec<(usize, f64, f64)> = Vec::new();
        let mut before = 0.0;
        for theta in [0.5, 1.0] {
            if theta < 1.0 {
                stages.sketch(theta, &mut self.state);
            } else {
                self.state.copy_from_slice(&stages.end);
            }
            // A sketch may leave the domain of the laws; the end may not.
            if system.relations(stages.t + theta * stages.h, &self.state, &mut self.now).is_ok() {
                for k in 0..count {
                    let crosses = sign(self.now[k]) * system.mode(k) < 0.0 && !system.model.timed[k];
                    if crosses && !found.iter().any(|(other, ..)| *other == k) {
                        found.push((k, before, theta));
                    }
                }
            }
            before = theta;
        }
        for k in &system.model.signals {
            if let Some((low, high)) = self.scan(system, stages, *k) {
                found.retain(|(other, ..)| other != k);
                found.push((*k, low, high));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        found.sort_by(|a, b| a.2.total_cmp(&b.2));
        stages.extend(system)?;
        let mut first: Option<Crossing> = None;
        for (k, low, high) in found {
            let limit = first.as_ref().map_or(1.0, |c| c.theta);
            if low > limit {
                continue;
            }
            let Some((theta, steepness)) = self.root(system, stages, k, low, high)? else { continue };
            match &mut first {
                Some(crossing) if (theta - crossing.theta).abs() <= 1e-12 => crossing.events.push(k),
                Some(crossing) if theta > crossing.theta => {}
                _ => first = Some(Crossing { theta, events: vec![k], steepness }),
            }
        }
        Ok(first)
    }

    /// Whether the end of the step lies on the crossing that it was shortened to.
    pub fn reached(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        crossing: &Crossing,
    ) -> Result<bool, Trouble> {
        system.relations(stages.t + stages.h, &stages.end, &mut self.now)?;
        let near = 1e-9 * crossing.steepness * stages.h;
        Ok(crossing.events.iter().all(|k| self.now[*k].abs() <= near))
    }

    /// Looks for the first crossing of a function that may change faster than the states: the step is
    /// divided until a cubic through four values foretells a fifth.
    fn scan(&mut self, system: &mut System<'_>, stages: &Stages, k: usize) -> Option<(f64, f64)> {
        // Uneven, so that a periodic signal does not look like a slow one.
        const PLACES: [f64; 5] = [0.0, 0.29, 0.53, 0.81, 1.0];
        const SMALLEST: f64 = 1e-4;
        let others = [0, 1, 3, 4];
        let weights = others.map(|i| {
            let factor = |j: usize| (PLACES[2] - PLACES[j]) / (PLACES[i] - PLACES[j]);
            others.iter().filter(|j| **j != i).map(|j| factor(*j)).product::<f64>()
        });
        let mode = system.mode(k);
        let mut stack = vec![(0.0, 1.0)];
        while let Some((low, high)) = stack.pop() {
            let mut values = [0.0; 5];
            for (value, place) in values.iter_mut().zip(PLACES) {
                let theta = low + place * (high - low);
                stages.sketch(theta, &mut self.state);
                system.relations(stages.t + theta * stages.h, &self.state, &mut self.now).ok()?;
                *value = self.now[k];
            }
            let foretold: f64 = others.iter().zip(weights).map(|(i, w)| w * values[*i]).sum();
            let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            if (foretold - values[2]).abs() > 0.05 * (highest - lowest) && high - low > SMALLEST {
                let middle = low + PLACES[2] * (high - low);
                stack.push((middle, high));
                stack.push((low, middle));
                continue;
            }
            if let Some(i) = (1..5).find(|i| sign(values[*i]) * mode < 0.0) {
                let at = |i: usize| low + PLACES[i] * (high - low);
                return Some((at(i - 1), at(i)));
            }
        }
        None
    }

    fn at(&mut self, system: &mut System<'_>, stages: &Stages, k: usize, theta: f64) -> Result<f64, Trouble> {
        if theta >= 1.0 {
            self.state.copy_from_slice(&stages.end);
        } else {
            stages.tableau.weights(theta, &mut self.weights);
            stages.interpolate(&self.weights, &mut self.state);
        }
        system.relations(stages.t + theta * stages.h, &self.state, &mut self.now)?;
        Ok(self.now[k])
    }

    /// The place just behind a zero between `low`, where the mode holds, and `high`: the Illinois method,
    /// with bisection where it is slow.
    fn root(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        k: usize,
        low: f64,
        high: f64,
    ) -> Result<Option<(f64, f64)>, Trouble> {
        let mode = system.mode(k);
        let (mut a, mut b) = (low, high);
        let mut fb = self.at(system, stages, k, b)?;
        if sign(fb) * mode >= 0.0 {
            return Ok(None);
        }
        let mut fa = self.at(system, stages, k, a)?;
        if sign(fa) * mode < 0.0 {
            // The zero lies before; at the start of a step it lies at the start.
            if a == 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
            (b, fb) = (a, fa);
            a = 0.0;
            fa = self.at(system, stages, k, a)?;
            if sign(fa) * mode < 0.0 {
                return Ok(Some((0.0, 0.0)));
            }
        }
        let tiny = 4.0 * f64::EPSILON;
        let steepness = ((fb - fa) / ((b - a) * stages.h)).abs();
        let mut side = 0;
        for round in 0..200 {
            let gap = tiny * b.max(1e-3);
            if b - a <= 2.0 * gap {
                break;
            }
            let secant = (a * fb - b * fa) / (fb - fa);
            let middle = 0.5 * (a + b);
            let inside = secant > a && secant < b;
            let guess = if inside && round % 4 != 3 { secant } else { middle };
            // A guess at an end would not move it.
            let guess = guess.max(a + gap).min(b - gap);
            let f = self.at(system, stages, k, guess)?;
            if sign(f) * mode < 0.0 {
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
        Ok(Some((b, steepness)))
    }

    /// Sets the modes at the start: the signs of the functions, or of their rates where they are zero.
    pub fn start(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<Settled, Trouble> {
        if self.now.is_empty() {
            return Ok(Settled::Consistent);
        }
        let settled = self.settle(system, t, x, &[])?;
        let mut rates = vec![0.0; x.len()];
        if self.now.contains(&0.0) && system.rates(t, x, &mut rates).is_ok() {
            self.leave_zero(system, t, x, &rates)?;
        }
        Ok(settled)
    }

    /// Gives the modes of functions that are zero the sign of their rate.
    fn leave_zero(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        rates: &[f64],
    ) -> Result<(), Trouble> {
        system.relations(t, x, &mut self.now)?;
        let zeros: Vec<usize> = (0..self.now.len()).filter(|k| self.now[*k] == 0.0).collect();
        for k in &zeros {
            let slope = self.slope(system, t, x, rates, *k)?;
            system.set_mode(*k, sign(slope));
        }
        if !zeros.is_empty() {
            system.prepare();
        }
        Ok(())
    }

    /// Makes the modes agree with the functions, but for those that are given.
    pub fn settle(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        given: &[usize],
    ) -> Result<Settled, Trouble> {
        let mut changed = 0;
        for _ in 0..100 {
            system.prepare();
            system.relations(t, x, &mut self.now)?;
            let wrong = (0..self.now.len()).find(|k| {
                let now = sign(self.now[*k]);
                now != 0.0 && now != system.mode(*k) && !given.contains(k)
            });
            let Some(k) = wrong else { return Ok(Settled::Consistent) };
            system.set_mode(k, sign(self.now[k]));
            changed = k;
        }
        Ok(Settled::Cycling(changed))
    }

    /// Functions whose mode is open although they have left zero.
    pub fn opened(&mut self, system: &mut System<'_>, stages: &Stages) -> Result<Changes, Trouble> {
        if (0..self.now.len()).all(|k| system.mode(k) != 0.0) {
            return Ok(Vec::new());
        }
        system.relations(stages.t + stages.h, &stages.end, &mut self.now)?;
        let left = |k: &usize| system.mode(*k) == 0.0 && self.now[*k] != 0.0;
        Ok((0..self.now.len()).filter(left).map(|k| (k, sign(self.now[k]))).collect())
    }

    /// When the next event of time alone happens after `t`, and which ones with which sign.
    pub fn next_timed(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
    ) -> Result<Option<(f64, Changes)>, Trouble> {
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
                Some((best, list)) if (at - *best).abs() <= 1e-14 * best.abs() => {
                    list.push((*k, sign(*slope)))
                }
                Some((best, _)) if at > *best => {}
                _ => next = Some((at, vec![(*k, sign(*slope))])),
            }
        }
        Ok(next)
    }

    /// How fast an event function changes along the solution.
    pub fn slope(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        rates: &[f64],
        k: usize,
    ) -> Result<f64, Trouble> {
        system.relations_full(t, x, &mut self.values)?;
        Ok(self.slope_parts(system, rates, k).0)
    }

    /// The slope of an event function, and the sum of the sizes of its terms.
    fn slope_parts(&self, system: &System<'_>, rates: &[f64], k: usize) -> (f64, f64) {
        let full = &system.model.relations_full;
        let by_states = full.by_states(&self.values.data);
        let (mut slope, mut size) = (0.0, 0.0);
        for e in full.pattern.row(k) {
            let term = by_states[e] * rates[full.pattern.at[e] as usize];
            slope += term;
            size += term.abs();
        }
        let time = system.model.wanted.len();
        for ((row, lane), value) in full.forcing.iter().zip(full.by_parameters(&self.values.data)) {
            if *row == k && *lane == time {
                slope += value;
                size += value.abs();
            }
        }
        (slope, size)
    }

    /// How the time of an event changes with each parameter: −(h_x S + h_p)/(h_x f + h_t), before the event.
    /// The second value tells whether the function only touches zero.
    pub fn time_sensitivity(
        &mut self,
        system: &mut System<'_>,
        (t, x, rates): (f64, &[f64], &[f64]),
        (k, steepness): (usize, f64),
        sensitivities: &Sensitivities,
    ) -> Result<(Vec<f64>, bool), Trouble> {
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
        let (slope, size) = self.slope_parts(system, rates, k);
        let grazing = slope.abs() <= 1e-7 * size || slope.abs() <= 1e-5 * steepness;
        for value in &mut change {
            *value = if grazing { 0.0 } else { -*value / slope };
        }
        Ok((change, grazing))
    }
}
