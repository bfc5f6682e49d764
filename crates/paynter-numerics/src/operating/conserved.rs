//! Combinations of states that nothing changes: Σ c_i x_i' is the same
//! everywhere. Where it is zero, the combination keeps its initial value (the
//! volume in closed tanks); where not, it runs away (a mass that is pushed).

use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};

use super::problem::Problem;
use crate::linalg::elimination::{Elimination, Rows, reduced_echelon, transposed};
use crate::tolerance::{
    CONSERVED_POINTS, CONSERVED_SUM, LARGEST_DENOMINATOR, MEANT_FRACTION, NEGLIGIBLE_PIVOT, SAME_RATE,
    TRIED_SIZES,
};

/// A combination of states whose rate is the same everywhere.
#[derive(Debug, Clone)]
pub(super) struct Combination {
    /// States and their coefficients.
    pub parts: Vec<(usize, f64)>,
    /// The combination's rate; zero where it is conserved.
    pub rate: f64,
}

impl Combination {
    /// Its value where states have these values, zero where that is rounding, and how large what makes it up is.
    pub fn total(&self, states: &[f64]) -> (f64, f64) {
        let parts = || self.parts.iter().map(|(i, c)| c * states[*i]);
        let (sum, size) = (parts().sum::<f64>(), parts().map(f64::abs).sum::<f64>());
        let rounding = self.parts.len() as f64 * f64::EPSILON * size;
        (if sum.abs() <= rounding { 0.0 } else { sum }, size)
    }
}

/// Finds the combinations of the states that `active` tells.
pub(super) fn combinations(
    problem: &Problem,
    start: &[f64],
    active: &[bool],
    token: &CancellationToken,
) -> Result<Vec<Combination>, Cancelled> {
    let count = problem.sought.len();
    let points = points(problem, start);
    let Some((first, others)) = points.split_first() else { return Ok(Vec::new()) };
    let restricted = |w: &Vec<f64>| -> Rows {
        let rows = problem.jacobian(w).unwrap_or_default();
        rows.into_iter().enumerate().map(|(i, row)| if active[i] { row } else { Vec::new() }).collect()
    };
    token.check()?;
    let columns = transposed(&restricted(first), count);
    // Rows that are not looked at are no combinations.
    let mut basis: Vec<Vec<f64>> = Elimination::new(&columns, count, NEGLIGIBLE_PIVOT).null_space(0.0);
    basis.retain(|vector| vector.iter().zip(active).all(|(c, active)| *active || c.abs() == 0.0));
    // Digits that elimination has lost would not hold at the other points.
    basis = reduced(basis, count);
    for w in others {
        token.check()?;
        if basis.is_empty() {
            break;
        }
        basis = still_null(&basis, &restricted(w), count);
    }
    let basis = reduced(basis, problem.states);
    Ok(basis.into_iter().filter_map(|c| combination(problem, &c, &points, start)).collect())
}

/// Points where the equations and their derivatives are defined.
fn points(problem: &Problem, start: &[f64]) -> Vec<Vec<f64>> {
    let wanted = if problem.linear { 1 } else { CONSERVED_POINTS };
    let mut random = Random::new(17);
    let mut found = Vec::new();
    for k in 0..TRIED_SIZES.len() * 4 {
        let size = TRIED_SIZES[k % TRIED_SIZES.len()];
        // All of one sign is what most laws can bear; both signs show more.
        let w: Vec<f64> = start
            .iter()
            .map(|x| {
                let share = if k % 2 == 0 { 0.5 + random.unit() } else { 2.0 * random.unit() - 1.0 };
                if *x != 0.0 { x * (0.5 + random.unit()) } else { size * share }
            })
            .collect();
        if problem.residual(&w).is_some() && problem.jacobian(&w).is_some() {
            found.push(w);
            if found.len() == wanted {
                break;
            }
        }
    }
    found
}

/// The combinations of a basis that are null vectors of another matrix, too.
fn still_null(basis: &[Vec<f64>], jacobian: &Rows, count: usize) -> Vec<Vec<f64>> {
    let mut products: Rows = vec![Vec::new(); count];
    for (k, c) in basis.iter().enumerate() {
        let (mut sums, mut sizes) = (vec![0.0; count], vec![0.0f64; count]);
        for (i, row) in jacobian.iter().enumerate() {
            for &(j, value) in row {
                sums[j] += c[i] * value;
                sizes[j] += (c[i] * value).abs();
            }
        }
        for j in 0..count {
            if sums[j].abs() > CONSERVED_SUM * sizes[j] {
                products[j].push((k, sums[j]));
            }
        }
    }
    Elimination::new(&products, basis.len(), NEGLIGIBLE_PIVOT)
        .null_space(0.0)
        .into_iter()
        .map(|y| (0..count).map(|i| basis.iter().zip(&y).map(|(c, y)| c[i] * y).sum()).collect())
        .collect()
}

/// The same space with as many zeros as possible, and plain numbers where they are meant.
fn reduced(basis: Vec<Vec<f64>>, states: usize) -> Vec<Vec<f64>> {
    let mut basis = reduced_echelon(basis, states, CONSERVED_SUM);
    for c in &mut basis {
        let largest = c.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        for x in c.iter_mut() {
            *x = if x.abs() < CONSERVED_SUM * largest { 0.0 } else { plain(*x) };
        }
    }
    basis
}

/// The fraction with a small denominator that a number is within rounding errors, or the number.
fn plain(x: f64) -> f64 {
    let (mut above, mut below) = ((1.0, x.floor()), (0.0, 1.0));
    let mut rest = x - x.floor();
    for _ in 0..12 {
        let fraction = above.1 / below.1;
        if (fraction - x).abs() <= MEANT_FRACTION * x.abs() {
            return fraction;
        }
        if rest.abs() < MEANT_FRACTION || below.1 > LARGEST_DENOMINATOR {
            break;
        }
        let next = (1.0 / rest).floor();
        rest = 1.0 / rest - next;
        above = (above.1, next * above.1 + above.0);
        below = (below.1, next * below.1 + below.0);
    }
    x
}

/// The combination with its rate, read where its parts are smallest; nothing
/// where the rate is not the same everywhere, because a law jumps.
fn combination(problem: &Problem, c: &[f64], points: &[Vec<f64>], start: &[f64]) -> Option<Combination> {
    let mut readings: Vec<(f64, f64)> = Vec::new();
    for w in points.iter().map(Vec::as_slice).chain([start]) {
        let Some(f) = problem.residual(w) else { continue };
        let size: f64 = c.iter().zip(&f).map(|(c, f)| (c * f).abs()).sum();
        let rate: f64 = c.iter().zip(&f).map(|(c, f)| c * f).sum();
        readings.push((size, rate));
    }
    let &(size, rate) = readings.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    if readings.iter().any(|(other, at)| (at - rate).abs() > SAME_RATE * (size + other)) {
        return None;
    }
    let parts: Vec<(usize, f64)> = (0..problem.states).filter(|&i| c[i] != 0.0).map(|i| (i, c[i])).collect();
    let rate = if rate.abs() <= CONSERVED_SUM * size { 0.0 } else { rate };
    (!parts.is_empty()).then_some(Combination { parts, rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_recognised() {
        assert_eq!(plain(1.0 / 3.0 + 1e-16), 1.0 / 3.0);
        assert_eq!(plain(-0.3 + 1e-17), -0.3);
        assert_eq!(plain(std::f64::consts::PI), std::f64::consts::PI);
    }
}
