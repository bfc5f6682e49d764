//! Newton's method, the one iteration with its damping ([`iterate`]), and its
//! form for systems of equations ([`newton`]), damped by the natural
//! monotonicity test (Deuflhard), which does not depend on how the equations
//! are scaled: a fraction of the correction is taken for which the next
//! simplified correction is shorter.

use paynter_base::{CancellationToken, Cancelled};

/// What a system says of an iterate with its residual and correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is no solution yet.
    Continue,
    /// The iterate is a solution.
    Solved,
    /// The iterate with its correction is a solution.
    SolvedAfterCorrection,
    /// There is nothing to be expected from here.
    Hopeless,
}

/// A system of equations 0 = F(x).
pub trait System {
    /// F(x); nothing where it has no value.
    fn residual(&mut self, x: &[f64]) -> Option<Vec<f64>>;

    /// The correction −F'(x)⁻¹ F(x), by the derivative at x; nothing where there is none.
    fn correction(&mut self, x: &[f64], residual: &[f64]) -> Option<Vec<f64>>;

    /// The simplified correction for another residual, by the derivative last taken.
    fn simplified_correction(&mut self, residual: &[f64]) -> Vec<f64>;

    /// The length of a correction in a measure that fits the unknowns.
    fn length(&self, correction: &[f64]) -> f64;

    /// Whether an iterate is a solution.
    fn judge(&mut self, x: &[f64], residual: &[f64], correction: &[f64]) -> Verdict;

    /// Whether an iterate passes for a solution because no fraction of its correction comes nearer to one.
    fn accepts(&mut self, _x: &[f64], _residual: &[f64]) -> bool {
        false
    }
}

/// How far an iteration goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Corrections before it is given up.
    pub iterations: usize,
    /// The smallest fraction of a correction that is tried; 1 where only whole ones are.
    pub smallest_damping: f64,
}

/// What is known of an iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is no solution yet.
    Continue,
    /// It is a solution.
    Converged,
    /// There is nothing to be expected from here.
    Failed,
}

/// The parts of an iteration that moves an iterate of its own. What a fraction of a correction must fulfil is
/// its choice: a shorter simplified correction, a smaller residual, or nothing.
pub trait Iteration {
    /// Why it may end early.
    type Error;

    /// Judges the iterate, and finds the correction there.
    fn correct(&mut self, iteration: usize) -> Result<Progress, Self::Error>;

    /// Moves from the iterate by a fraction of the correction; whether it may stay there.
    fn advance(&mut self, damping: f64) -> Result<bool, Self::Error>;

    /// Judges the iterate after the move; the damping is below the smallest where no fraction was good.
    fn judge_move(&mut self, damping: f64) -> Result<Progress, Self::Error>;
}

/// Newton's method: corrects and halves the correction until it is good or too small. Tells whether the iteration
/// converged. The fraction below the smallest is tried as the last.
pub fn iterate<I: Iteration>(iteration: &mut I, limits: Limits) -> Result<bool, I::Error> {
    for count in 0..limits.iterations {
        match iteration.correct(count)? {
            Progress::Continue => {}
            end => return Ok(end == Progress::Converged),
        }
        let mut damping = 1.0;
        while !iteration.advance(damping)? && damping >= limits.smallest_damping {
            damping *= 0.5;
        }
        match iteration.judge_move(damping)? {
            Progress::Continue => {}
            end => return Ok(end == Progress::Converged),
        }
    }
    Ok(false)
}

/// Solves a system from a start; nothing where the iteration does not arrive.
pub fn newton(
    system: &mut impl System,
    start: &[f64],
    limits: Limits,
    token: &CancellationToken,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let x = start.to_vec();
    let (residual, correction, next) = (Vec::new(), Vec::new(), Vec::new());
    let mut search = Monotone { system, limits, token, x, residual, correction, length: 0.0, next };
    Ok(iterate(&mut search, limits)?.then_some(search.x))
}

/// An iteration that takes the largest fraction of a correction, halved again and again, that passes the
/// natural monotonicity test.
struct Monotone<'a, S: System> {
    system: &'a mut S,
    limits: Limits,
    token: &'a CancellationToken,
    x: Vec<f64>,
    residual: Vec<f64>,
    correction: Vec<f64>,
    length: f64,
    next: Vec<f64>,
}

impl<S: System> Iteration for Monotone<'_, S> {
    type Error = Cancelled;

    fn correct(&mut self, _: usize) -> Result<Progress, Cancelled> {
        self.token.check()?;
        let Some(residual) = self.system.residual(&self.x) else { return Ok(Progress::Failed) };
        if residual.iter().all(|r| *r == 0.0) {
            return Ok(Progress::Converged);
        }
        let Some(correction) = self.system.correction(&self.x, &residual) else {
            return Ok(Progress::Failed);
        };
        Ok(match self.system.judge(&self.x, &residual, &correction) {
            Verdict::Continue => {
                self.length = self.system.length(&correction);
                (self.residual, self.correction) = (residual, correction);
                Progress::Continue
            }
            Verdict::Solved => Progress::Converged,
            Verdict::SolvedAfterCorrection => {
                self.x = moved(&self.x, &correction, 1.0);
                Progress::Converged
            }
            Verdict::Hopeless => Progress::Failed,
        })
    }

    fn advance(&mut self, damping: f64) -> Result<bool, Cancelled> {
        if damping < self.limits.smallest_damping {
            return Ok(false);
        }
        self.next = moved(&self.x, &self.correction, damping);
        let Some(residual) = self.system.residual(&self.next) else { return Ok(false) };
        let follow = self.system.simplified_correction(&residual);
        Ok(self.system.length(&follow) <= (1.0 - damping / 4.0) * self.length)
    }

    fn judge_move(&mut self, damping: f64) -> Result<Progress, Cancelled> {
        if damping >= self.limits.smallest_damping {
            std::mem::swap(&mut self.x, &mut self.next);
            return Ok(Progress::Continue);
        }
        let accepted = self.system.accepts(&self.x, &self.residual);
        Ok(if accepted { Progress::Converged } else { Progress::Failed })
    }
}

/// x + factor · correction.
pub fn moved(x: &[f64], correction: &[f64], factor: f64) -> Vec<f64> {
    x.iter().zip(correction).map(|(x, d)| x + factor * d).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// atan(x) = 0, from which the undamped iteration runs away for |x| > 1.39.
    struct Arctangent {
        derivative: f64,
    }

    impl System for Arctangent {
        fn residual(&mut self, x: &[f64]) -> Option<Vec<f64>> {
            Some(vec![x[0].atan()])
        }

        fn correction(&mut self, x: &[f64], residual: &[f64]) -> Option<Vec<f64>> {
            self.derivative = 1.0 / (1.0 + x[0] * x[0]);
            Some(self.simplified_correction(residual))
        }

        fn simplified_correction(&mut self, residual: &[f64]) -> Vec<f64> {
            vec![-residual[0] / self.derivative]
        }

        fn length(&self, correction: &[f64]) -> f64 {
            correction[0].abs()
        }

        fn judge(&mut self, _: &[f64], _: &[f64], correction: &[f64]) -> Verdict {
            match correction[0].abs() {
                d if !d.is_finite() => Verdict::Hopeless,
                d if d <= 1e-12 => Verdict::SolvedAfterCorrection,
                _ => Verdict::Continue,
            }
        }
    }

    fn solve(start: f64, smallest_damping: f64) -> Option<f64> {
        let limits = Limits { iterations: 50, smallest_damping };
        let found = newton(&mut Arctangent { derivative: 1.0 }, &[start], limits, &CancellationToken::new());
        found.unwrap().map(|x| x[0])
    }

    #[test]
    fn damping_brings_a_far_start_to_the_solution() {
        assert!(solve(30.0, 1e-7).is_some_and(|x| x.abs() < 1e-12));
        assert_eq!(solve(30.0, 1.0), None);
        assert!(solve(0.5, 1.0).is_some_and(|x| x.abs() < 1e-12));
    }

    #[test]
    fn a_cancelled_iteration_stops() {
        let token = CancellationToken::new();
        token.cancel();
        let limits = Limits { iterations: 50, smallest_damping: 1e-7 };
        assert_eq!(newton(&mut Arctangent { derivative: 1.0 }, &[1.0], limits, &token), Err(Cancelled));
    }
}
