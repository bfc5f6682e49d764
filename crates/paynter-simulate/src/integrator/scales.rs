//! Absolute tolerances of states, and the size of the first step.

use super::Integrator;
use crate::sensitivity::lanes::larger;
use crate::system::Values;
use crate::tolerance::{
    BIRTH_ITERATIONS, BIRTH_LEVELS, BIRTH_SPAN, GROUP_RESOLUTION, GROUP_ROUNDING, SLIDING_CANCELLATION,
    STATE_RESOLUTION,
};

impl Integrator<'_> {
    /// Estimates the loss of significance where rates cancel on sliding surfaces. A state that has not moved
    /// yet and only follows states known so badly is known no better.
    pub(super) fn estimate_cancellation(&mut self) {
        let span = self.options.t_end - self.options.t_start;
        let sliding = (0..self.system.surfaces().len()).filter(|j| self.system.slides_along(*j));
        let sliding: Vec<usize> = sliding.collect();
        if sliding.is_empty() {
            return;
        }
        let mut noise = vec![0.0f64; self.x.len()];
        for j in sliding {
            let snapshot = self.system.snapshot();
            self.system.set_sliding(j, 0.0);
            let mut beside = vec![0.0; self.x.len()];
            if self.system.rates(self.t, &self.x, &mut beside).is_ok() {
                let rates = self.solver.stages().rates(0);
                for ((noise, beside), rate) in noise.iter_mut().zip(&beside).zip(rates) {
                    *noise = noise.max(SLIDING_CANCELLATION * (beside - rate).abs() * span);
                }
            }
            self.system.restore(&snapshot);
        }
        if let Some(values) = self.solver.stages().first() {
            let full = &self.system.model.full;
            let slopes = full.by_states(&values.data);
            for i in (0..self.x.len()).filter(|i| self.largest[*i] == 0.0) {
                let others = full.pattern.row(i).map(|e| (full.pattern.at[e] as usize, slopes[e]));
                let terms = others.filter(|(j, _)| *j != i).map(|(j, slope)| slope.abs() * noise[j]);
                self.noise[i] = self.noise[i].max(span * terms.fold(0.0, f64::max));
            }
        }
        self.noise.iter_mut().zip(&noise).for_each(|(known, noise)| *known = known.max(*noise));
    }

    /// Estimates how large states will be that are zero now, lest rounding be resolved as if it were them:
    /// what their rates, now and a little later, and the states that drive them make of them within the
    /// shortest time scale of the model, or a small part of the run.
    pub(super) fn estimate_births(&mut self) {
        let groups = &self.system.model.groups;
        let unborn = |i: &usize| self.largest[*i] == 0.0 && self.among[groups[*i]] == 0.0;
        let unborn: Vec<usize> = (0..self.x.len()).filter(unborn).collect();
        let mut values = Values::default();
        if unborn.is_empty() || self.system.full(self.t, &self.x, &mut values).is_err() {
            return;
        }
        let n = self.x.len();
        let full = &self.system.model.full;
        let slopes: Vec<f64> = full.by_states(&values.data).iter().map(|slope| slope.abs()).collect();
        let product = |v: &[f64], i: usize| {
            full.pattern.row(i).map(|e| slopes[e] * v[full.pattern.at[e] as usize]).sum::<f64>()
        };
        let span = self.options.t_end - self.options.t_start;
        // The spectral radius of the sizes of derivatives, by power iteration.
        let (mut v, mut radius) = (vec![1.0; n], 0.0);
        for _ in 0..BIRTH_ITERATIONS {
            let next: Vec<f64> = (0..n).map(|i| product(&v, i)).collect();
            radius = next.iter().fold(0.0f64, |size, x| size.max(*x));
            if radius == 0.0 || !radius.is_finite() {
                break;
            }
            v = next.iter().map(|x| x / radius).collect();
        }
        let mut time = BIRTH_SPAN * span;
        if radius > 0.0 && radius.is_finite() {
            time = time.min(1.0 / radius);
        }
        let mut speed: Vec<f64> = values.data[..n].iter().map(|rate| rate.abs()).collect();
        let mut later = vec![0.0; n];
        for part in [0.3, 1.0] {
            if self.system.rates(self.t + part * time, &self.x, &mut later).is_ok() {
                speed.iter_mut().zip(&later).for_each(|(speed, later)| *speed = speed.max(later.abs()));
            }
        }
        let mut sizes: Vec<f64> = (0..n).map(|i| larger(self.largest[i], time * speed[i])).collect();
        for _ in 0..n.min(BIRTH_LEVELS) {
            let next: Vec<f64> =
                (0..n).map(|i| if sizes[i] > 0.0 { sizes[i] } else { time * product(&sizes, i) }).collect();
            if next == sizes {
                break;
            }
            sizes = next;
        }
        for i in unborn {
            if sizes[i].is_finite() {
                self.births[i] = larger(self.births[i], sizes[i]);
            }
        }
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
            let states = self.largest.iter().zip(groups).zip(&self.noise).zip(&self.births);
            for ((((largest, group), noise), birth), atol) in states.zip(&mut self.tolerance.atol) {
                let among = self.among[*group];
                let own = STATE_RESOLUTION * larger(*largest, *birth);
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
        let rough = if d0 < 1e-5 || d1 * span < 1e-5 { 1e-6 * span } else { (0.01 * d0 / d1).min(span) };
        let ahead: Vec<f64> = self.x.iter().zip(&rates).map(|(x, k)| x + rough * k).collect();
        let mut new = vec![0.0; rates.len()];
        if self.system.rates(self.t + rough, &ahead, &mut new).is_err() {
            return 1e-3 * rough;
        }
        let bend: Vec<f64> = new.iter().zip(&rates).map(|(a, b)| a - b).collect();
        // In units of the span, so that no unit of time is preferred.
        let d2 = self.tolerance.norm(&bend, &self.x, &self.x) / rough;
        let size = (d1 * span).max(d2 * span * span);
        let fine = if size <= 1e-15 { 1e-3 } else { (0.01 / size).powf(1.0 / (order + 1.0)) };
        (fine * span).min(100.0 * rough).min(span)
    }
}
