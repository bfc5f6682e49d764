//! The complementarity problem of modes and implicit unknowns, solved by a
//! homotopy.
//!
//! Where laws with jumps stand in algebraic loops, every mode μ belongs to its
//! event function h after Filippov: μ = 1 where h > 0, μ = −1 where h < 0, and
//! any value between where h = 0. Instead of trying modes one after another,
//! μ·√(h² + ε²) = h is solved together with the loops, from a width ε at which
//! nothing jumps down to one that rounding hardly sees. On the way signed
//! powers are regularised within a width that shrinks alike.

use super::unknowns::norm;
use super::{EvaluationError, System};
use crate::tolerance::{
    COMPLEMENTARITY_ITERATIONS, COMPLEMENTARITY_STEP, JUMP_RESIDUAL, JUMP_SHRINKAGE, LOOP_RESIDUAL,
    MULTIPLIER_MARGIN, NARROWEST_JUMP, REGULARISATION_SHRINKAGE, SHRINKAGE_ROOTS, SMALLEST_HOMOTOPY_DAMPING,
    SUFFICIENT_DECREASE, WIDEST_JUMP,
};
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::newton::{Iteration, Limits, Progress, iterate};

/// Surfaces whose modes are unknowns, and signed powers that are regularised meanwhile.
struct Homotopy {
    /// The surfaces, each with the size of its function.
    surfaces: Vec<(usize, f64)>,
    /// The size of what each root is taken of.
    bases: Vec<f64>,
    /// Modes that follow their functions.
    bends: Vec<usize>,
    /// The number of equations that take part, and the places of their derivatives.
    size: usize,
    places: Vec<(usize, usize)>,
}

impl System<'_> {
    /// Solves for consistent unknowns and modes at a time and state. Surfaces whose functions react to
    /// their modes at once take part, those along which the motion slides, and those of `zeros`, whose
    /// functions are zero here; other modes follow their functions, but for those that are given. All is
    /// as before where no solution is found.
    pub fn solve_complementarity(
        &mut self,
        t: f64,
        x: &[f64],
        zeros: &[usize],
        given: &[usize],
    ) -> Result<(), EvaluationError> {
        let mut result = Err(EvaluationError::NoSolution(0));
        if self.own.surfaces.is_empty() && self.own.regularisations.is_empty() {
            return result;
        }
        let (snapshot, present) = (self.snapshot(), self.fast.clone());
        let known = self.own.unknowns.len();
        // From what is known first, as far as it is known.
        let mut guesses = vec![present[1 + x.len()..][..known].to_vec()];
        guesses.extend(Self::guesses(known));
        for guess in guesses {
            result = self.follow_homotopy(t, x, (zeros, given), &guess);
            if result.is_ok() {
                return Ok(());
            }
            self.restore(&snapshot);
        }
        self.fast = present;
        result
    }

    /// Follows the solution from wide jumps to narrow ones, and sets modes and surfaces accordingly.
    fn follow_homotopy(
        &mut self,
        t: f64,
        x: &[f64],
        (zeros, given): (&[usize], &[usize]),
        guess: &[f64],
    ) -> Result<(), EvaluationError> {
        let (surfaces, known) = (self.surfaces(), self.own.unknowns.len());
        let mut sliding = self.sliding.clone();
        for (surface, rate) in surfaces.iter().zip(&mut sliding) {
            let at_zero = zeros.contains(&surface.relation) && surface.excluded.is_empty();
            if *rate == 0.0 && (surface.order == 0 || at_zero) {
                *rate = 1.0;
            }
        }
        let widths = self.slow[self.widths()..][..self.model.regularisations.len()].to_vec();
        self.take_equations(sliding.clone());
        self.fast[0] = t;
        self.fast[1..=x.len()].copy_from_slice(x);
        self.fast[1 + x.len()..].fill(0.0);
        self.fast[1 + x.len()..][..known].copy_from_slice(guess);
        let chosen: Vec<usize> = (0..surfaces.len()).filter(|j| sliding[*j] > 0.0).collect();
        chosen.iter().for_each(|j| self.set_mode(surfaces[*j].relation, 0.0));
        // Rates of unknowns matter only where a function has to stay zero through them.
        let rates = chosen.iter().any(|j| surfaces[*j].order > 0);
        let size =
            if rates || chosen.is_empty() { self.model.unknowns.len() } else { known + surfaces.len() };
        let mut places = self.model.residual_places.clone();
        places.extend(chosen.iter().map(|j| (known + j, known + j)));
        places.retain(|(row, column)| *row < size && *column < size);
        places.sort_unstable();
        places.dedup();
        // Events of time alone have happened or not, unless nothing is known yet.
        let follows = |k: &usize| {
            let fixed = given.contains(k) || (self.own.timed[*k] && self.held[*k] != 0.0);
            !fixed && !chosen.iter().any(|j| surfaces[*j].relation == *k)
        };
        let bends = (0..self.own.events.len()).filter(follows).collect();
        let bases = vec![1.0; widths.len()];
        let surfaces = chosen.iter().map(|j| (*j, 0.0)).collect();
        let mut homotopy = Homotopy { surfaces, bases, bends, size, places };
        // Without jumps first: all modes are zero.
        self.newton_at_width(&homotopy, None)?;
        self.measure(&mut homotopy);
        let (mut width, mut root) = (WIDEST_JUMP, 0);
        while width > NARROWEST_JUMP {
            let kept = self.fast.clone();
            let next = (width * JUMP_SHRINKAGE.powf(0.5f64.powi(root))).max(NARROWEST_JUMP);
            match self.newton_at_width(&homotopy, Some(next)) {
                Ok(()) => (width, root) = (next, (root - 1).max(0)),
                Err(error) if root == SHRINKAGE_ROOTS => return Err(error),
                Err(_) => {
                    self.fast = kept;
                    root += 1;
                }
            }
        }
        self.conclude(&homotopy, &widths, sliding)
    }

    /// Takes modes that are close to 1 or −1 for that, and solves the equations as they are.
    fn conclude(
        &mut self,
        homotopy: &Homotopy,
        widths: &[f64],
        mut sliding: Vec<f64>,
    ) -> Result<(), EvaluationError> {
        let surfaces = self.surfaces();
        for (j, _) in &homotopy.surfaces {
            let mode = self.multiplier(*j);
            self.set_mode(surfaces[*j].relation, if mode < 0.0 { -1.0 } else { 1.0 });
            if mode.abs() > 1.0 - MULTIPLIER_MARGIN {
                sliding[*j] = 0.0;
            }
        }
        self.take_equations(sliding);
        self.prepare();
        let mut share = NARROWEST_JUMP;
        loop {
            let sharpened: Vec<f64> =
                homotopy.bases.iter().zip(widths).map(|(base, width)| (share * base).max(*width)).collect();
            self.set_widths(&sharpened);
            self.solve_unknowns()?;
            if sharpened == widths {
                break;
            }
            share *= REGULARISATION_SHRINKAGE;
        }
        let left = self.residual();
        // A mode that nothing depends on here is not determined.
        let undetermined = !self.is_determined();
        let mut now = self.relation_values();
        self.apply_hysteresis(&mut now);
        let solved = homotopy.surfaces.iter().map(|(j, _)| surfaces[*j].relation);
        let wrong = solved
            .chain(homotopy.bends.iter().copied())
            .any(|k| !self.at_zero[k] && now[k] * self.held[k] < 0.0);
        let outside = (0..surfaces.len())
            .any(|j| self.slides_along(j) && self.multiplier(j).abs() > 1.0 + MULTIPLIER_MARGIN);
        if wrong
            || outside
            || undetermined
            || !left.is_finite()
            || left > LOOP_RESIDUAL * self.largest_term().max(f64::MIN_POSITIVE)
        {
            return Err(EvaluationError::NoSolution(0));
        }
        Ok(())
    }

    fn set_widths(&mut self, widths: &[f64]) {
        let start = self.widths();
        self.slow[start..start + widths.len()].copy_from_slice(widths);
        self.prepare();
    }

    /// How large functions and bases are, now that nothing jumps: their values, or what a jump would make of them.
    fn measure(&mut self, homotopy: &mut Homotopy) {
        let known = self.own.unknowns.len();
        let m = self.model.unknowns.len();
        let (_, mut matrix) = self.smoothed(homotopy, None);
        let mut sizes = vec![0.0f64; homotopy.surfaces.len()];
        for (j, _) in &homotopy.surfaces {
            let mut change = vec![0.0; homotopy.size];
            change[known + j] = 1.0;
            matrix.solve(&mut change);
            for (size, (other, _)) in sizes.iter_mut().zip(&homotopy.surfaces) {
                let derivatives = self.model.residual_places.iter().zip(&self.newton[m..]);
                let own =
                    derivatives.filter(|((row, column), _)| *row == known + other && *column < homotopy.size);
                let by: f64 = own.map(|((_, column), derivative)| derivative * change[*column]).sum();
                *size = size.max(by.abs()).max(self.newton[known + other].abs());
            }
        }
        let usable = |size: f64| if size > 0.0 && size.is_finite() { size } else { 1.0 };
        for ((_, size), found) in homotopy.surfaces.iter_mut().zip(sizes) {
            *size = usable(found);
        }
        let now = self.relation_values();
        for (base, regularisation) in homotopy.bases.iter_mut().zip(&self.model.regularisations) {
            *base = usable(now[regularisation.relation].abs());
        }
    }

    /// The equations with jumps of a width, or none at all, and the matrix of their derivatives.
    fn smoothed(&mut self, homotopy: &Homotopy, width: Option<f64>) -> (Vec<f64>, PivotedFactors) {
        let now = self.relation_values();
        let turned: Vec<usize> = homotopy
            .bends
            .iter()
            .copied()
            .filter(|k| now[*k] * self.held[*k] <= 0.0 && now[*k] != 0.0)
            .collect();
        if !turned.is_empty() {
            turned.iter().for_each(|k| self.set_mode(*k, now[*k].signum()));
            self.prepare();
        }
        self.residual();
        let (known, m) = (self.own.unknowns.len(), self.model.unknowns.len());
        let modes = 1 + self.model.states.len();
        let mut values = self.newton[..homotopy.size].to_vec();
        // By how much each row counts, and its derivative by the mode of its own.
        let mut factors = vec![(1.0, 0.0); homotopy.size];
        for (j, scale) in &homotopy.surfaces {
            let row = known + j;
            let (mode, value) = (self.fast[modes + row], values[row] / scale);
            (values[row], factors[row]) = match width {
                Some(width) => {
                    let size = value.hypot(width);
                    (mode * size - value, ((mode * value / size - 1.0) / scale, size))
                }
                None => (mode, (0.0, 1.0)),
            };
        }
        let derivatives: Vec<((usize, usize), f64)> =
            self.model.residual_places.iter().copied().zip(self.newton[m..].iter().copied()).collect();
        let entry = |place: &(usize, usize)| {
            let found = derivatives.binary_search_by_key(place, |(place, _)| *place);
            let derivative = found.map_or(0.0, |i| derivatives[i].1);
            let (factor, own) = factors[place.0];
            let scaled = if factor == 0.0 { 0.0 } else { factor * derivative };
            scaled + if place.0 == place.1 { own } else { 0.0 }
        };
        let mut matrix = PivotedFactors::new(homotopy.size, &homotopy.places);
        matrix.factorise(homotopy.places.iter().map(entry));
        (values, matrix)
    }

    /// Newton's method for jumps of a width.
    fn newton_at_width(&mut self, homotopy: &Homotopy, width: Option<f64>) -> Result<(), EvaluationError> {
        let share = width.unwrap_or(1.0).min(1.0);
        let widths: Vec<f64> = homotopy.bases.iter().map(|base| share * base).collect();
        self.set_widths(&widths);
        let start = 1 + self.model.states.len();
        let (values, matrix) = self.smoothed(homotopy, width);
        let (change, before) = (Vec::new(), Vec::new());
        let mut search =
            Smoothed { system: self, homotopy, width, start, values, matrix, size: 0.0, change, before };
        if iterate(&mut search, HOMOTOPY_LIMITS)? { Ok(()) } else { Err(EvaluationError::NoSolution(0)) }
    }
}

const HOMOTOPY_LIMITS: Limits =
    Limits { iterations: COMPLEMENTARITY_ITERATIONS, smallest_damping: SMALLEST_HOMOTOPY_DAMPING };

/// The iteration for jumps of a width, damped by Armijo's condition on the residual.
struct Smoothed<'a, 'm> {
    system: &'a mut System<'m>,
    homotopy: &'a Homotopy,
    width: Option<f64>,
    /// Where the unknowns begin.
    start: usize,
    values: Vec<f64>,
    matrix: PivotedFactors,
    /// The size of the residual before a move.
    size: f64,
    change: Vec<f64>,
    before: Vec<f64>,
}

impl Smoothed<'_, '_> {
    fn unknowns(&self) -> &[f64] {
        &self.system.fast[self.start..self.start + self.homotopy.size]
    }
}

impl Iteration for Smoothed<'_, '_> {
    type Error = EvaluationError;

    fn correct(&mut self, _: usize) -> Result<Progress, EvaluationError> {
        self.size = norm(&self.values);
        if self.size == 0.0 {
            return Ok(Progress::Converged);
        }
        self.change.clone_from(&self.values);
        self.matrix.solve(&mut self.change);
        if !self.size.is_finite() || self.change.iter().any(|v| !v.is_finite()) {
            return Ok(Progress::Failed);
        }
        self.before = self.unknowns().to_vec();
        Ok(Progress::Continue)
    }

    fn advance(&mut self, damping: f64) -> Result<bool, EvaluationError> {
        for (i, (before, change)) in self.before.iter().zip(&self.change).enumerate() {
            self.system.fast[self.start + i] = before - damping * change;
        }
        (self.values, self.matrix) = self.system.smoothed(self.homotopy, self.width);
        Ok(norm(&self.values) <= (1.0 - SUFFICIENT_DECREASE * damping) * self.size)
    }

    fn judge_move(&mut self, damping: f64) -> Result<Progress, EvaluationError> {
        let known = self.system.own.unknowns.len();
        let left = self.homotopy.surfaces.iter().map(|(j, _)| self.values[known + j].abs());
        let solved = left.fold(0.0, f64::max) <= JUMP_RESIDUAL * self.width.unwrap_or(1.0);
        Ok(if norm(&self.change) <= COMPLEMENTARITY_STEP * norm(self.unknowns()) && solved {
            Progress::Converged
        } else if damping < SMALLEST_HOMOTOPY_DAMPING {
            Progress::Failed
        } else {
            Progress::Continue
        })
    }
}
