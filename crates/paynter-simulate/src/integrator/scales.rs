//! Absolute tolerances of states, and the size of the first step.

use super::Integrator;
use crate::model::linearised::Linearised;
use crate::sensitivity::lanes::larger;
use crate::system::Values;
use crate::tolerance::{
    CAUTIOUS_STEP, GROUP_RESOLUTION, GROUP_ROUNDING, LONGEST_FIRST_STEP, NOISE_LEVELS, NOMINAL_GROWTH,
    NOMINAL_ITERATIONS, NOMINAL_LEVELS, NOMINAL_PLACE_RATIO, NOMINAL_PLACES, NOMINAL_SPAN,
    SHORTER_FIRST_STEP, SLIDING_CANCELLATION, SMALL_NORM, STATE_RESOLUTION, VANISHING_RATES,
};

impl Integrator<'_> {
    /// Estimates the loss of significance where rates cancel on sliding surfaces. A state that has never been
    /// more than that has not moved yet.
    pub(super) fn estimate_cancellation(&mut self) {
        let sliding = (0..self.system.surfaces().len()).any(|j| self.system.slides_along(j));
        let mut unmoved = false;
        for (largest, noise) in self.largest.iter_mut().zip(&mut self.noise) {
            if *largest > *noise {
                *noise = 0.0;
            } else if *noise > 0.0 {
                *largest = 0.0;
                unmoved = true;
            }
            if !sliding {
                *noise = 0.0;
            }
        }
        if unmoved {
            self.among.fill(0.0);
            for (largest, group) in self.largest.iter().zip(&self.system.model.groups) {
                self.among[*group] = larger(self.among[*group], *largest);
            }
        }
        let span = self.options.t_end - self.options.t_start;
        for j in 0..self.system.surfaces().len() {
            if !self.system.slides_along(j) {
                continue;
            }
            let snapshot = self.system.snapshot();
            self.system.set_sliding(j, 0.0);
            let mut beside = vec![0.0; self.x.len()];
            if self.system.rates(self.t, &self.x, &mut beside).is_ok() {
                let rates = self.solver.stages().rates(0);
                for ((noise, beside), rate) in self.noise.iter_mut().zip(&beside).zip(rates) {
                    *noise = larger(*noise, SLIDING_CANCELLATION * (beside - rate).abs() * span);
                }
            }
            self.system.restore(&snapshot);
        }
    }

    /// Estimates the nominal magnitudes of states that are zero now, lest rounding be resolved as if it were them:
    /// what inputs make of them up to the next time event, and what states make of them within the shortest time scale
    /// of the model, or a small part of the run, once they are as large as that themselves. Estimates that states have
    /// not come up to in that time are made anew.
    pub(super) fn estimate_nominal_magnitudes(&mut self) {
        let groups = &self.system.model.groups;
        let overdue = self.t >= self.estimated.1;
        let without_magnitude = |i: &usize| {
            self.largest[*i] == 0.0 && self.among[groups[*i]] == 0.0
                || overdue && self.largest[*i] < self.nominal[*i]
        };
        let without_magnitude: Vec<usize> = (0..self.x.len()).filter(without_magnitude).collect();
        if without_magnitude.is_empty() {
            return;
        }
        let present = self.system.point();
        if !self.open.is_empty() {
            self.system.follow_modes(true);
        }
        let (sizes, time) = self.magnitudes(&without_magnitude);
        self.system.follow_modes(false);
        self.system.set_point_to(present);
        for i in without_magnitude {
            self.nominal[i] = if sizes[i].is_finite() { sizes[i] } else { 0.0 };
        }
        // Each time it is longer until the next estimate, so that there are few of them.
        let waited = (self.t - self.estimated.0).max(time);
        self.estimated = (self.t, self.t + NOMINAL_GROWTH * waited);
    }

    /// What inputs and states make of states, round by round, and the time in which they do so.
    fn magnitudes(&mut self, without_magnitude: &[usize]) -> (Vec<f64>, f64) {
        let model = self.system.model;
        let n = self.x.len();
        let mut time = NOMINAL_SPAN * (self.options.t_end - self.options.t_start);
        let mut inputs: Option<InputEffect> = None;
        let mut sizes = vec![0.0; n];
        let mut values = Values::default();
        let mut starts_singular = false;
        for round in 0..NOMINAL_LEVELS {
            let trial = apart(&self.x, &sizes);
            // So far away a law may have no value; then the others stay where they are.
            let mut near = self.x.clone();
            without_magnitude.iter().for_each(|i| near[*i] = trial[*i]);
            let ahead = inputs.as_ref().map_or(time, |inputs| inputs.horizon);
            let later = self.t + if round == 0 { 0.0 } else { ahead };
            if self.system.full(later, &trial, &mut values).is_err()
                && self.system.full(later, &near, &mut values).is_err()
            {
                // Rounding may leave a law just outside its domain here, and others with it.
                if round == 0 {
                    sizes.clone_from(&self.largest);
                    continue;
                }
                break;
            }
            // An infinite derivative is passed in no time: it says nothing of how fast states are.
            let singular = values.singular.is_some();
            let influence = match singular {
                true => Influence { full: &model.full, derivatives: vec![0.0; model.full.pattern.at.len()] },
                false => Influence::new(&model.full, &values),
            };
            if round == 0 {
                starts_singular = singular;
                let relaxation = 1.0 / influence.fastest(n);
                time = time.min(relaxation);
                let effect = inputs.insert(self.input_effect(time));
                self.spread_noise(without_magnitude, &influence, effect, relaxation);
            }
            // What the states that have a size now change in the rates.
            let made = |i: usize| {
                let (by_inputs, beside) =
                    inputs.as_ref().map_or((0.0, 0.0), |inputs| (inputs.made[i], inputs.rates[i]));
                let change = if round == 0 { 0.0 } else { (values.data[i] - beside).abs() };
                by_inputs.max(time * change.max(influence.on(i, &sizes)))
            };
            // The first two rounds tell what inputs do, now and a little later; further ones reach further states.
            let settled = |i: usize| round > 1 && sizes[i] > 0.0;
            let next: Vec<f64> =
                (0..n).map(|i| if settled(i) { sizes[i] } else { made(i).max(sizes[i]) }).collect();
            let next: Vec<f64> = next.iter().zip(&self.largest).map(|(a, b)| larger(*a, *b)).collect();
            let grown = next != sizes;
            sizes = next;
            if round > 0 && (!grown || without_magnitude.iter().all(|i| sizes[*i] > 0.0)) {
                break;
            }
        }
        if starts_singular && self.system.full(self.t, &apart(&self.x, &sizes), &mut values).is_ok() {
            let fastest = Influence::new(&model.full, &values).fastest(n);
            let shorter = (1.0 / (time * fastest)).min(1.0);
            sizes.iter_mut().for_each(|size| *size *= shorter);
        }
        (sizes, time)
    }

    /// What only follows states that rounding moves is moved by it as well; those on the surface themselves are held
    /// there. Rounding of inputs that cancel adds up for as long as states remember it.
    fn spread_noise(
        &mut self,
        without_magnitude: &[usize],
        influence: &Influence<'_>,
        inputs: &InputEffect,
        relaxation: f64,
    ) {
        let span = self.options.t_end - self.options.t_start;
        for _ in 0..NOISE_LEVELS {
            let noise = |i: &usize| match self.noise[*i] {
                0.0 => span * influence.on(*i, &self.noise),
                own => own,
            };
            let more: Vec<f64> = without_magnitude.iter().map(noise).collect();
            without_magnitude.iter().zip(more).for_each(|(i, more)| self.noise[*i] = more);
        }
        let lasting = span.min(relaxation);
        let late = inputs.rounding.1.iter().map(|width| lasting * width);
        let mut moved: Vec<f64> = late.zip(&inputs.rounding.0).map(|(a, b)| larger(a, *b)).collect();
        for _ in 0..NOISE_LEVELS {
            moved = (0..moved.len()).map(|i| larger(moved[i], lasting * influence.on(i, &moved))).collect();
        }
        without_magnitude.iter().for_each(|i| self.noise[*i] = larger(self.noise[*i], moved[*i]));
    }

    /// What inputs make of states within `time`, or up to the next time event if that is sooner. Signals of time may be
    /// over long before: their part is the largest that rates at times between make of the time up to there.
    fn input_effect(&mut self, time: f64) -> InputEffect {
        let n = self.x.len();
        let stop = self.next_stop(self.t + time);
        let horizon = if stop.at > self.t { time.min(stop.at - self.t) } else { time };
        let varied = self.system.model.time_signals.results() > 0;
        let zeros = || vec![0.0; n];
        let mut effect = InputEffect { horizon, made: zeros(), rounding: (zeros(), zeros()), rates: zeros() };
        let (mut rates, mut ahead) = (zeros(), horizon);
        for part in 0..=if varied { NOMINAL_PLACES } else { 0 } {
            if self.system.rates(self.t + ahead, &self.x, &mut rates).is_ok() {
                let made = effect.made.iter_mut().zip(&rates);
                made.for_each(|(made, rate)| *made = larger(*made, ahead * rate.abs()));
                let widths = self.system.rounding_of_rates();
                if part == 0 {
                    effect.rates.clone_from(&rates);
                    effect.rounding.1 = widths;
                } else {
                    let most = effect.rounding.0.iter_mut().zip(widths);
                    most.for_each(|(most, width)| *most = larger(*most, ahead * width));
                }
            }
            ahead *= NOMINAL_PLACE_RATIO;
        }
        // Phases of late times have larger roundings.
        let late = self.detector.no_time_event_until().min(self.options.t_end);
        if varied && late > self.t + horizon && self.system.rates(late, &self.x, &mut rates).is_ok() {
            let widths = self.system.rounding_of_rates();
            effect.rounding.1.iter_mut().zip(widths).for_each(|(most, width)| *most = larger(*most, width));
        }
        effect
    }

    /// Fits the absolute tolerances to the largest values that states have had.
    pub(super) fn refresh_tolerance(&mut self) {
        let groups = &self.system.model.groups;
        for ((largest, x), group) in self.largest.iter_mut().zip(&self.x).zip(groups) {
            *largest = larger(*largest, x.abs());
            self.among[*group] = larger(self.among[*group], *largest);
        }
        let fastest =
            self.solver.stages().rates(0).iter().fold(0.0f64, |most, rate| larger(most, rate.abs()));
        self.system.set_rate_scale(fastest, self.smallest);
        if self.options.atol.is_none() {
            let states = self.largest.iter().zip(groups).zip(&self.noise).zip(&self.nominal);
            for ((((largest, group), noise), nominal), atol) in states.zip(&mut self.tolerance.atol) {
                let among = self.among[*group];
                let own = STATE_RESOLUTION * larger(*largest, *nominal);
                let size = larger(own, GROUP_RESOLUTION * among);
                // Finer than rounding nothing can be resolved; and an error of zero is none.
                let finest = larger(larger(GROUP_ROUNDING * among, *noise), f64::MIN_POSITIVE);
                *atol = larger(self.options.rtol * size, finest);
            }
        }
    }

    /// A first step that changes the state by little (Hairer, Nørsett and Wanner, II.4).
    pub(super) fn first_step(&mut self, span: f64) -> f64 {
        let order = self.solver.tableau().order as f64;
        let rates = self.solver.stages().rates(0).to_vec();
        let d0 = self.tolerance.norm(&self.x, &self.x, &self.x);
        let d1 = self.tolerance.norm(&rates, &self.x, &self.x);
        let rough = if d0 < SMALL_NORM || d1 * span < SMALL_NORM {
            CAUTIOUS_STEP * span
        } else {
            (0.01 * d0 / d1).min(span)
        };
        let ahead: Vec<f64> = self.x.iter().zip(&rates).map(|(x, k)| x + rough * k).collect();
        let mut new = vec![0.0; rates.len()];
        if self.system.rates(self.t + rough, &ahead, &mut new).is_err() {
            return SHORTER_FIRST_STEP * rough;
        }
        let bend: Vec<f64> = new.iter().zip(&rates).map(|(a, b)| a - b).collect();
        // In units of the span, so that no unit of time is preferred.
        let d2 = self.tolerance.norm(&bend, &self.x, &self.x) / rough;
        let size = (d1 * span).max(d2 * span * span);
        let fine = if size <= VANISHING_RATES {
            LONGEST_FIRST_STEP
        } else {
            (0.01 / size).powf(1.0 / (order + 1.0))
        };
        (fine * span).min(100.0 * rough).min(span)
    }
}

/// What inputs do to states from now on.
struct InputEffect {
    /// How far this looks ahead.
    horizon: f64,
    /// What they make of each state until then.
    made: Vec<f64>,
    /// What rounding of the terms of each rate makes of the state before, where they cancel, and of its rate then.
    rounding: (Vec<f64>, Vec<f64>),
    /// The rates then.
    rates: Vec<f64>,
}

/// A point beside another at these distances, uneven, so that differences of states do not vanish.
fn apart(x: &[f64], sizes: &[f64]) -> Vec<f64> {
    let beside = |(i, (x, size)): (usize, (&f64, &f64))| x + size * (1.0 + 0.1 * (i % 7) as f64);
    x.iter().zip(sizes).enumerate().map(beside).collect()
}

/// How fast states change one another: the magnitudes of the derivatives of rates by states.
struct Influence<'a> {
    full: &'a Linearised,
    derivatives: Vec<f64>,
}

impl Influence<'_> {
    fn new<'a>(full: &'a Linearised, values: &Values) -> Influence<'a> {
        Influence { full, derivatives: full.by_states(&values.data).iter().map(|x| x.abs()).collect() }
    }

    /// On the rate of a state by states of these sizes.
    fn on(&self, state: usize, sizes: &[f64]) -> f64 {
        let pattern = &self.full.pattern;
        pattern.row(state).map(|e| self.derivatives[e] * sizes[pattern.at[e] as usize]).sum()
    }

    /// The spectral radius, by power iteration; zero where it is none.
    fn fastest(&self, states: usize) -> f64 {
        let (mut v, mut radius) = (vec![1.0; states], 0.0);
        for _ in 0..NOMINAL_ITERATIONS {
            let next: Vec<f64> = (0..states).map(|i| self.on(i, &v)).collect();
            radius = next.iter().fold(0.0f64, |size, x| size.max(*x));
            if radius == 0.0 || !radius.is_finite() {
                return 0.0;
            }
            v = next.iter().map(|x| x / radius).collect();
        }
        radius
    }
}
