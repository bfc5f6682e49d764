//! Absolute tolerances of states, and the size of the first step.

use super::Integrator;
use crate::sensitivity::lanes::larger;
use crate::tolerance::{
    GROUP_RESOLUTION, GROUP_ROUNDING, SLIDING_CANCELLATION, STATE_FLOOR, STATE_RESOLUTION,
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

    /// Fits the absolute tolerances to the largest values that states have had.
    pub(super) fn refresh_tolerance(&mut self) {
        let groups = &self.system.model.groups;
        for ((largest, x), group) in self.largest.iter_mut().zip(&self.x).zip(groups) {
            *largest = larger(*largest, x.abs());
            self.among[*group] = larger(self.among[*group], *largest);
        }
        if self.options.atol.is_none() {
            let states = self.largest.iter().zip(groups).zip(&self.noise);
            for (((largest, group), noise), atol) in states.zip(&mut self.tolerance.atol) {
                let among = self.among[*group];
                let size = larger(larger(STATE_RESOLUTION * largest, GROUP_RESOLUTION * among), STATE_FLOOR);
                // Finer than rounding nothing can be resolved.
                *atol = larger(self.options.rtol * size, larger(GROUP_ROUNDING * among, *noise));
            }
        }
    }

    /// A first step that changes the state by little (Hairer, Nørsett and Wanner, II.4).
    pub(super) fn first_step(&mut self, span: f64) -> f64 {
        let order = self.solver.tableau().order as f64;
        let rates = self.solver.stages().rates(0).to_vec();
        let mut tolerance = self.tolerance.clone();
        if self.options.atol.is_none() {
            // A state that starts at zero is resolved with regard to where it is going.
            for i in 0..rates.len() {
                let reach = self.largest[i].max(rates[i].abs() * span * 1e-3);
                tolerance.atol[i] = self.options.rtol * (STATE_RESOLUTION * reach).max(STATE_FLOOR);
            }
        }
        let d0 = tolerance.norm(&self.x, &self.x, &self.x);
        let d1 = tolerance.norm(&rates, &self.x, &self.x);
        let rough = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 * span } else { (0.01 * d0 / d1).min(span) };
        let ahead: Vec<f64> = self.x.iter().zip(&rates).map(|(x, k)| x + rough * k).collect();
        let mut new = vec![0.0; rates.len()];
        if self.system.rates(self.t + rough, &ahead, &mut new).is_err() {
            return 1e-3 * rough;
        }
        let bend: Vec<f64> = new.iter().zip(&rates).map(|(a, b)| a - b).collect();
        let d2 = tolerance.norm(&bend, &self.x, &self.x) / rough;
        let size = d1.max(d2);
        let fine = if size <= 1e-15 {
            (1e-3 * span).max(1e-6 * span)
        } else {
            (0.01 / size).powf(1.0 / (order + 1.0))
        };
        fine.min(100.0 * rough).min(span)
    }
}
