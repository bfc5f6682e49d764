//! Poles as numbers at which the equations are singular: two solutions of the
//! nearly singular system, one from each side, tell how far the pole is.

use crate::acausal::Acausal;
use crate::factors::Condensed;
use crate::pencil::Pencil;
use crate::tolerance::{ENTRY_CHANGE, EXPLAINED, POLE, POLE_FLOOR};
use crate::{Check, Checked, Contradiction};
use num_complex::Complex64;
use paynter_base::random::Random;

impl Pencil<'_> {
    /// Checks that the equations are singular at each of these poles; `fastest` is the size of the largest.
    pub fn check_poles(&self, what: &str, poles: &[Complex64], fastest: f64) -> Checked {
        let mut worst: Option<(f64, Complex64, usize)> = None;
        let (own, mut changed) = (self.condensed(None), None);
        for pole in poles {
            let Some((distance, row)) = self.distance(&own, *pole) else { continue };
            let size = pole.norm() + POLE_FLOOR / POLE * fastest;
            let relative = if distance == 0.0 { 0.0 } else { distance / size };
            if relative > POLE {
                let changed = changed.get_or_insert_with(|| self.condensed(Some((1, ENTRY_CHANGE))));
                let other = self.distance(changed, *pole);
                if other.is_none_or(|(other, _)| (other - distance).abs() > EXPLAINED * distance) {
                    // Entries decide that nobody knows so well: a cluster of poles, or one far from others.
                    continue;
                }
            }
            if worst.as_ref().is_none_or(|(most, ..)| relative > *most || relative.is_nan()) {
                worst = Some((relative, *pole, row));
            }
        }
        let Some((residual, pole, row)) = worst else { return Ok(Vec::new()) };
        if residual <= POLE {
            return Ok(vec![Check { what: what.to_owned(), residual }]);
        }
        let equation = self.system.describe(row);
        let what = format!("{what} {pole:.4}");
        Err(Contradiction { what, residual, equation, of_sensitivity: false })
    }

    /// How far a pole is from a number, to first order, and the equation that takes most part in it.
    fn distance(&self, matrix: &Condensed, s: Complex64) -> Option<(f64, usize)> {
        let n = self.system.width;
        let side = |seed: u64| -> Vec<Complex64> {
            let mut random = Random::new(seed);
            (0..n).map(|_| Complex64::from(0.5 + random.unit())).collect()
        };
        let (right, left) = (side(11), side(12));
        // Exactly singular is what a pole should make it.
        let Some(factors) = matrix.at(s) else { return Some((0.0, 0)) };
        let (v, u) = (factors.solve(&right), factors.solve_transposed(&left));
        let above: Complex64 = u.iter().zip(&right).map(|(u, r)| u * r).sum();
        let below: Complex64 = self.rates().map(|(i, state)| u[i] * v[state]).sum();
        let most = |a: &usize, b: &usize| u[*a].norm().total_cmp(&u[*b].norm());
        let row = (0..n).max_by(most).unwrap_or(0);
        let distance = (above / below).norm();
        distance.is_finite().then_some((distance, row))
    }
}

impl Acausal<'_> {
    /// Some of the poles to be checked: the slowest, the fastest and those between, spread evenly, one of each
    /// pair.
    pub fn some_poles(poles: &[Complex64], count: usize) -> Vec<Complex64> {
        let mut upper: Vec<Complex64> = poles.iter().copied().filter(|pole| pole.im >= 0.0).collect();
        upper.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        if upper.len() <= count {
            return upper;
        }
        (0..count).map(|k| upper[k * (upper.len() - 1) / (count - 1).max(1)]).collect()
    }
}
