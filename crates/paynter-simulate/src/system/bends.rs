//! How event functions of laws that bend in algebraic loops respond when one of them lies beyond its zero.

use super::unknowns::norm;
use super::{EvaluationError, System};
use crate::tolerance::BEND_MOVE;

/// Values of functions, and the response of each to how far each lies beyond its zero, by rows.
type Responses = (Vec<f64>, Vec<Vec<f64>>);

impl System<'_> {
    /// The event functions of laws that bend in loops.
    pub fn bends_in_loops(&self) -> &[usize] {
        &self.own.bends_in_loops
    }

    /// The values of some bends with the present modes, and how each function responds to the others: seen from the
    /// side s of its mode, a law r(z) with a bend at h(z) = 0 is r(z) + c·d, where d = max(−s·h, 0). None where the
    /// unknowns are not determined with these modes.
    pub fn bend_responses(
        &mut self,
        t: f64,
        x: &[f64],
        functions: &[usize],
    ) -> Result<Option<Responses>, EvaluationError> {
        for k in functions {
            if self.mode(*k) == 0.0 {
                self.set_mode(*k, 1.0);
            }
        }
        self.prepare();
        self.set_point(t, x)?;
        if !self.is_determined() {
            return Ok(None);
        }
        let m = self.model.unknowns.len();
        let start = self.fast.len() - m;
        let here = self.fast.clone();
        let values = self.relation_values();
        let level = match norm(&here[start..]) {
            0.0 => 1.0,
            size => size,
        };
        let mut responses = vec![vec![0.0; functions.len()]; functions.len()];
        for (j, k) in functions.iter().enumerate() {
            // Away from the zero, where both branches differ.
            for (i, z) in self.fast[start..].iter_mut().enumerate() {
                *z += BEND_MOVE * level * (1.0 + 0.37 * (i % 7) as f64);
            }
            let side = self.mode(*k);
            let beyond = -side * self.relation_values()[*k];
            let [held, turned] = [side, -side].map(|mode| {
                self.set_mode(*k, mode);
                self.prepare();
                self.residual();
                (self.newton[..m].to_vec(), self.relation_values())
            });
            self.set_mode(*k, side);
            self.prepare();
            self.fast.clone_from(&here);
            let mut change: Vec<f64> =
                turned.0.iter().zip(&held.0).map(|(turned, held)| (held - turned) / beyond).collect();
            self.residual();
            self.unknowns.factorise(self.newton[m..].iter().copied());
            self.unknowns.solve(&mut change);
            self.fast[start..].iter_mut().zip(&change).for_each(|(z, change)| *z += change);
            let moved = self.relation_values();
            self.fast.clone_from(&here);
            for (row, other) in responses.iter_mut().zip(functions) {
                // A function may read the law itself, which bends beneath it.
                let bent = (turned.1[*other] - held.1[*other]) / beyond;
                row[j] = moved[*other] - values[*other] + bent;
            }
        }
        let values: Vec<f64> = functions.iter().map(|k| values[*k]).collect();
        let finite = responses.iter().flatten().chain(&values).all(|value| value.is_finite());
        Ok(finite.then_some((values, responses)))
    }
}
