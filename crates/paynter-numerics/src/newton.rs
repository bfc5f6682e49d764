//! Newton's method for systems of equations, damped by the natural
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

/// Solves a system from a start; nothing where the iteration does not arrive.
pub fn newton(
    system: &mut impl System,
    start: &[f64],
    limits: Limits,
    token: &CancellationToken,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let mut x = start.to_vec();
    for _ in 0..limits.iterations {
        token.check()?;
        let Some(residual) = system.residual(&x) else { return Ok(None) };
        if residual.iter().all(|r| *r == 0.0) {
            return Ok(Some(x));
        }
        let Some(correction) = system.correction(&x, &residual) else { return Ok(None) };
        match system.judge(&x, &residual, &correction) {
            Verdict::Continue => {}
            Verdict::Solved => return Ok(Some(x)),
            Verdict::SolvedAfterCorrection => return Ok(Some(moved(&x, &correction, 1.0))),
            Verdict::Hopeless => return Ok(None),
        }
        match damped(system, &x, &correction, limits.smallest_damping) {
            Some(next) => x = next,
            None => return Ok(system.accepts(&x, &residual).then_some(x)),
        }
    }
    Ok(None)
}

/// Moves by the largest fraction of a correction, halved again and again, that passes the natural
/// monotonicity test.
fn damped(system: &mut impl System, x: &[f64], correction: &[f64], smallest: f64) -> Option<Vec<f64>> {
    let length = system.length(correction);
    let mut factor = 1.0;
    while factor >= smallest {
        let next = moved(x, correction, factor);
        if let Some(residual) = system.residual(&next) {
            let follow = system.simplified_correction(&residual);
            if system.length(&follow) <= (1.0 - factor / 4.0) * length {
                return Some(next);
            }
        }
        factor /= 2.0;
    }
    None
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
