//! Implicit unknowns: Newton's method on the residuals of algebraic loops.

use super::{EvaluationError, System};
use crate::tolerance::{
    DETERMINED, GUESSES, LINEAR_CORRECTIONS, LINEAR_ROUNDING, LINEAR_UNKNOWN_STEP, MONOTONE_ITERATIONS,
    MONOTONE_RESIDUAL_FACTOR, RESIDUAL_GROWTH, RESIDUAL_REDUCTION, RESIDUAL_ROUNDING,
    SMALLEST_UNKNOWN_DAMPING, STALLED_RESIDUAL, STALLED_UNKNOWN_STEP, UNKNOWN_CANCELLATION,
    UNKNOWN_ITERATIONS, UNKNOWN_PEAK_STEP, UNKNOWN_STEP,
};
use paynter_numerics::newton::{Iteration, Limits, Progress, iterate};

const UNKNOWN_LIMITS: Limits =
    Limits { iterations: UNKNOWN_ITERATIONS, smallest_damping: SMALLEST_UNKNOWN_DAMPING };

/// The Euclidean norm.
pub(super) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The iteration for the implicit unknowns, damped by the size of the residual.
struct Unknowns<'a, 'm> {
    system: &'a mut System<'m>,
    /// Where the unknowns begin.
    start: usize,
    /// The residual at the start, and at the iterate.
    first: f64,
    size: f64,
    /// How far the unknowns moved last, and how large they have been.
    last: f64,
    largest: f64,
    /// What a move may make of the residual.
    limit: f64,
    change: Vec<f64>,
    before: Vec<f64>,
}

impl Unknowns<'_, '_> {
    /// Whether the residual is within this part of its terms, or of what it has been.
    fn is_within(&self, part: f64) -> bool {
        let scale = self.system.scale.max(self.first).max(self.system.largest_term());
        self.size.is_finite() && self.size <= part * scale
    }
}

impl Iteration for Unknowns<'_, '_> {
    type Error = EvaluationError;

    fn correct(&mut self, iteration: usize) -> Result<Progress, EvaluationError> {
        // Where a law has no value nothing is solved.
        if !self.size.is_finite() {
            return Ok(Progress::Failed);
        }
        // At a root of several equal ones steps shrink with the unknowns themselves.
        if self.size <= RESIDUAL_REDUCTION * self.first {
            return Ok(Progress::Converged);
        }
        let system = &mut *self.system;
        let m = system.model.unknowns.len();
        system.unknowns.factorise(system.newton[m..].iter().copied());
        self.change.clear();
        self.change.extend_from_slice(&system.newton[..m]);
        system.unknowns.solve(&mut self.change);
        self.before.clear();
        self.before.extend_from_slice(&system.fast[self.start..]);
        // Across a kink, and where iterates have cycled, only a smaller residual is accepted.
        let monotone = system.following || iteration >= MONOTONE_ITERATIONS;
        self.limit = self.size * if monotone { MONOTONE_RESIDUAL_FACTOR } else { RESIDUAL_GROWTH };
        Ok(Progress::Continue)
    }

    fn advance(&mut self, damping: f64) -> Result<bool, EvaluationError> {
        let unknowns = self.system.fast[self.start..].iter_mut();
        for ((z, before), change) in unknowns.zip(&self.before).zip(&self.change) {
            *z = before - damping * change;
        }
        self.size = self.system.residual();
        Ok(self.size.is_finite() && self.size <= self.limit)
    }

    fn judge_move(&mut self, damping: f64) -> Result<Progress, EvaluationError> {
        let system = &mut *self.system;
        let (length, level) = (norm(&self.change), norm(&system.fast[self.start..]));
        self.largest = self.largest.max(level).max(norm(&self.before));
        // A step that is halved without end leads nowhere, however little it moves; but at an event it
        // may lead to the kink at which friction sticks.
        let kinks = system.following || !system.stepping;
        let moved = if kinks { damping * length } else { length };
        if moved <= UNKNOWN_STEP * level
            || (moved <= STALLED_UNKNOWN_STEP * level && moved >= 0.5 * self.last)
        {
            // With held modes equations are smooth: where damping is all that stops the iteration nothing is solved.
            if damping < 1.0 && !system.following && !self.is_within(STALLED_RESIDUAL) {
                return Ok(Progress::Failed);
            }
            let system = &mut *self.system;
            system.scale = system.scale.max(self.first);
            return if level.is_finite() && self.size.is_finite() {
                Ok(Progress::Converged)
            } else {
                Err(EvaluationError::NoSolution(0))
            };
        }
        if !kinks && damping < SMALLEST_UNKNOWN_DAMPING {
            return Ok(if self.is_within(RESIDUAL_ROUNDING) {
                Progress::Converged
            } else {
                Progress::Failed
            });
        }
        self.last = moved;
        Ok(Progress::Continue)
    }
}

impl System<'_> {
    /// Calculates r and r_z at the present point and returns the size of r.
    pub(super) fn residual(&mut self) -> f64 {
        if self.following {
            self.adopt_modes();
        }
        let model = self.model;
        self.newton.resize(model.residuals.results(), 0.0);
        self.residuals.run(&model.residuals, &self.configuration, &self.fast, &mut self.newton);
        let m = model.unknowns.len();
        norm(&self.newton[..m])
    }

    /// The largest term of the residuals that an unknown makes.
    pub(super) fn largest_term(&self) -> f64 {
        let m = self.model.unknowns.len();
        let unknowns = &self.fast[self.fast.len() - m..];
        let derivatives = self.model.residual_places.iter().zip(&self.newton[m..]);
        derivatives
            .fold(0.0, |most, ((_, column), derivative)| most.max((derivative * unknowns[*column]).abs()))
    }

    /// Solves for the implicit unknowns by Newton's method, damped by halving, from the present ones.
    pub(super) fn solve_unknowns(&mut self) -> Result<(), EvaluationError> {
        let m = self.model.unknowns.len();
        let start = self.fast.len() - m;
        let mut first = self.residual();
        if self.is_linear() && first.is_finite() {
            if self.correct_linear(start) {
                self.unknowns_peak = self.unknowns_peak.max(norm(&self.fast[start..]));
                return Ok(());
            }
            first = self.residual();
        }
        let (change, before) = (std::mem::take(&mut self.change), std::mem::take(&mut self.before));
        let mut search = Unknowns {
            system: self,
            start,
            first,
            size: first,
            last: f64::INFINITY,
            largest: 0.0,
            limit: RESIDUAL_GROWTH,
            change,
            before,
        };
        let found = iterate(&mut search, UNKNOWN_LIMITS);
        let Unknowns { size, largest, change, before, .. } = search;
        (self.change, self.before) = (change, before);
        // Where unknowns pass through zero, rounding of what they are made from is all that moves them.
        let moved = norm(&self.change);
        if found? || (size.is_finite() && moved <= UNKNOWN_PEAK_STEP * self.unknowns_peak) {
            self.unknowns_peak = self.unknowns_peak.max(norm(&self.fast[start..]));
            return Ok(());
        }
        // Along an infinitely steep root Newton's method only comes close to the zero that it is about.
        let near = self.fast[start..].iter_mut().filter(|z| z.abs() < UNKNOWN_CANCELLATION * largest);
        near.for_each(|z| *z = 0.0);
        if self.residual() <= RESIDUAL_ROUNDING * size && size.is_finite() {
            return Ok(());
        }
        let worst =
            (0..m).max_by(|a, b| self.newton[*a].abs().total_cmp(&self.newton[*b].abs())).unwrap_or(0);
        self.fast[start..].fill(0.0);
        Err(EvaluationError::NoSolution(worst))
    }

    /// Corrects the unknowns of linear equations; tells whether nothing but rounding of the corrections is left: of
    /// the first where it moved the unknowns little, else where further ones are as small beside it as rounding, or
    /// shrink no more.
    fn correct_linear(&mut self, start: usize) -> bool {
        let m = self.model.unknowns.len();
        let mut first = None;
        for _ in 0..LINEAR_CORRECTIONS {
            self.unknowns.factorise(self.newton[m..].iter().copied());
            self.change.clear();
            self.change.extend_from_slice(&self.newton[..m]);
            self.unknowns.solve(&mut self.change);
            let (moved, level) = (norm(&self.change), norm(&self.fast[start..]));
            let most = *first.get_or_insert(moved);
            if !moved.is_finite() || moved > most {
                return false;
            }
            self.fast[start..].iter_mut().zip(&self.change).for_each(|(z, change)| *z -= change);
            if moved <= LINEAR_UNKNOWN_STEP * level || (moved < most && moved <= LINEAR_ROUNDING * most) {
                return true;
            }
            self.residual();
        }
        true
    }

    /// Consistent initialisation: finds the unknowns at the start, where nothing is known about them, with
    /// consistent modes; where there are none, modes stay open.
    pub fn initialise(&mut self, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        if self.model.unknowns.is_empty() {
            return Ok(());
        }
        if self.follow_modes(true) {
            let found = self.guess_unknowns(t, x);
            if found.is_ok() {
                let (start, count) = (self.model.parameters, self.model.events.len());
                self.held[..count].copy_from_slice(&self.slow[start..start + count]);
            }
            self.follow_modes(false);
            if found.is_ok() {
                return Ok(());
            }
        }
        self.solve_complementarity(t, x, &[], &[]).or_else(|_| self.guess_unknowns(t, x))
    }

    /// Whether the equations determine the unknowns at the present point, rounding apart.
    pub fn is_determined(&mut self) -> bool {
        let m = self.model.unknowns.len();
        if m == 0 {
            return true;
        }
        self.residual();
        self.unknowns.factorise(self.newton[m..].iter().copied());
        // Right-hand sides as large as their rows, in a direction of which no structure is to be expected.
        let mut change = vec![0.0; m];
        for ((row, _), derivative) in self.model.residual_places.iter().zip(&self.newton[m..]) {
            change[*row] += derivative.abs() * (1.0 + 0.3 * (row % 5) as f64);
        }
        let columns = self.model.residual_places.iter().zip(&self.newton[m..]);
        let mut sizes = vec![0.0f64; m];
        columns.for_each(|((_, column), derivative)| sizes[*column] = sizes[*column].max(derivative.abs()));
        let largest = sizes.iter().fold(0.0f64, |most, size| most.max(*size));
        self.unknowns.solve(&mut change);
        let relative = |(v, size): (&f64, &f64)| v.abs() * size <= DETERMINED * largest;
        change.iter().all(|v| v.is_finite()) && change.iter().zip(&sizes).all(relative)
    }

    /// The present time, states and unknowns, to return to.
    pub fn point(&self) -> Vec<f64> {
        self.fast.clone()
    }

    /// Returns to a point.
    pub fn set_point_to(&mut self, point: Vec<f64>) {
        self.fast = point;
    }

    /// What unknowns may be where nothing is known about them.
    pub(super) fn guesses(count: usize) -> impl Iterator<Item = Vec<f64>> {
        // Not all alike, so that differences of unknowns do not vanish.
        let spread = move |guess: f64| -> Vec<f64> {
            (0..count).map(|i| guess * (1.0 + 0.1 * i as f64 / count as f64)).collect()
        };
        GUESSES.into_iter().map(spread)
    }

    /// Solves for the unknowns from several guesses, where nothing is known about them.
    pub fn guess_unknowns(&mut self, t: f64, x: &[f64]) -> Result<(), EvaluationError> {
        let m = self.model.unknowns.len();
        let start = self.fast.len() - m;
        let mut result = Ok(());
        for guess in Self::guesses(m) {
            self.fast[start..].copy_from_slice(&guess);
            result = self.set_point(t, x);
            if result.is_ok() {
                break;
            }
        }
        result
    }
}
