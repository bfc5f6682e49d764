//! Newton's method for steady states, and two ways to come near a solution
//! where it fails: following the dynamics in growing implicit steps, and
//! turning the residual of the start down to zero step by step.

use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};

use super::problem::Problem;
use crate::linalg::elimination::{Elimination, Rows};
use crate::newton::{self, Limits, System, Verdict, moved};
use crate::tolerance::{
    ACCEPTED_RESIDUAL, CONVERGED_RESIDUAL, FIRST_FOLLOWED_STEP, FOLLOWED_LINEARITY, FOLLOWED_NONLINEARITY,
    FOLLOWED_STEPS, HOMOTOPY_STEPS, LONGEST_FOLLOWED_STEP, NEARBY_DISTANCES, NEGLIGIBLE_PIVOT,
    OPERATING_ITERATIONS, REDUCED_RESIDUAL, ROUNDED_RESIDUAL, SHORTEST_FOLLOWED_STEP, SLOWEST_RATE,
    SMALL_COMPONENT, SMALLEST_DAMPING, SMALLEST_HOMOTOPY_STEP, STRAYED_HOMOTOPY, UNGUIDED_HOMOTOPY_STEP,
};

/// The limits of one search.
const LIMITS: Limits = Limits { iterations: OPERATING_ITERATIONS, smallest_damping: SMALLEST_DAMPING };

/// A combination of unknowns that keeps its value.
pub(super) struct Kept {
    /// Unknowns and their coefficients.
    pub parts: Vec<(usize, f64)>,
    /// The value.
    pub value: f64,
    /// How large what makes up the value is.
    pub size: f64,
}

/// Some of the equations for some of the unknowns, others held.
pub(super) struct Task<'a> {
    pub problem: &'a Problem<'a>,
    /// Places of the unknowns among all that is sought.
    pub columns: Vec<usize>,
    /// Places of the equations.
    pub rows: Vec<usize>,
    /// Combinations that keep their values.
    pub conserved: Vec<Kept>,
    /// Values of everything; those of unknowns are replaced.
    pub base: Vec<f64>,
    /// What is subtracted from the residuals.
    pub shift: Vec<f64>,
}

impl Task<'_> {
    /// Values of all that is sought.
    pub fn full(&self, v: &[f64]) -> Vec<f64> {
        let mut w = self.base.clone();
        for (&j, value) in self.columns.iter().zip(v) {
            w[j] = *value;
        }
        w
    }

    /// The unknowns among values of all that is sought.
    pub fn part(&self, w: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|&j| w[j]).collect()
    }

    pub fn residual(&self, v: &[f64]) -> Option<Vec<f64>> {
        let all = self.problem.residual(&self.full(v))?;
        let mut out: Vec<f64> = self.rows.iter().map(|&i| all[i]).collect();
        for Kept { parts, value, .. } in &self.conserved {
            out.push(parts.iter().map(|(j, c)| c * v[*j]).sum::<f64>() - value);
        }
        for (r, shift) in out.iter_mut().zip(&self.shift) {
            *r -= shift;
        }
        Some(out)
    }

    pub fn jacobian(&self, v: &[f64]) -> Option<Rows> {
        let mut all = self.problem.jacobian(&self.full(v))?;
        let mut place = vec![usize::MAX; self.problem.sought.len()];
        for (k, &j) in self.columns.iter().enumerate() {
            place[j] = k;
        }
        let mut out: Rows = Vec::with_capacity(self.rows.len() + self.conserved.len());
        for &i in &self.rows {
            let row = std::mem::take(&mut all[i]);
            out.push(
                row.into_iter()
                    .filter(|(j, _)| place[*j] != usize::MAX)
                    .map(|(j, value)| (place[j], value))
                    .collect(),
            );
        }
        out.extend(self.conserved.iter().map(|kept| kept.parts.clone()));
        Some(out)
    }

    /// What known values make up in each residual.
    pub fn known_parts(&self, v: &[f64]) -> Option<Vec<f64>> {
        let all = self.problem.known_parts(&self.full(v))?;
        let own = self.rows.iter().map(|&i| all[i]);
        Some(own.chain(self.conserved.iter().map(|kept| kept.size)).collect())
    }

    /// The derivatives at a point, or very near to it where a law has none there.
    pub fn jacobian_near(&self, v: &[f64]) -> Option<Rows> {
        if let Some(jacobian) = self.jacobian(v) {
            return Some(jacobian);
        }
        let mut random = Random::new(5);
        for distance in NEARBY_DISTANCES {
            let near: Vec<f64> = v
                .iter()
                .map(|x| {
                    let size = if *x == 0.0 { 1.0 } else { x.abs() };
                    x + distance * size * (2.0 * random.unit() - 1.0)
                })
                .collect();
            if let Some(jacobian) = self.jacobian(&near) {
                return Some(jacobian);
            }
        }
        None
    }

    /// The columns that the equations leave free at a point.
    pub fn free(&self, v: &[f64]) -> Option<Vec<usize>> {
        let jacobian = self.jacobian_near(v)?;
        Some(Elimination::new(&jacobian, v.len(), NEGLIGIBLE_PIVOT).free())
    }

    fn step(&self, jacobian: &Rows, residual: &[f64]) -> Vec<f64> {
        correction(&Elimination::new(jacobian, self.columns.len(), NEGLIGIBLE_PIVOT), residual)
    }
}

/// The correction that takes a residual away.
fn correction(factors: &Elimination, residual: &[f64]) -> Vec<f64> {
    let right: Vec<f64> = residual.iter().map(|r| -r).collect();
    factors.solve(&right)
}

/// The largest residual beside the parts it is made of.
fn excess(jacobian: &Rows, residual: &[f64], sizes: &[f64]) -> f64 {
    let of_row = |(row, r): (&Vec<(usize, f64)>, &f64)| {
        if *r == 0.0 {
            return 0.0;
        }
        let parts: f64 = row.iter().map(|(j, value)| (value * sizes[*j]).abs()).sum();
        r.abs() / (parts + r.abs())
    };
    jacobian.iter().zip(residual).map(of_row).fold(0.0, f64::max)
}

/// Whether the residuals are small beside what they were at the start. They
/// are not near a pole, where every step is small.
fn arrived(jacobian: &Rows, before: &[f64], after: &[f64], sizes: &[f64]) -> bool {
    let mut largest = (0.0f64, 0.0f64);
    for ((row, then), now) in jacobian.iter().zip(before).zip(after) {
        let parts: f64 = row.iter().map(|(j, value)| (value * sizes[*j]).abs()).sum::<f64>() + then.abs();
        if parts > 0.0 {
            largest = (largest.0.max(then.abs() / parts), largest.1.max(now.abs() / parts));
        }
    }
    largest.1 <= (REDUCED_RESIDUAL * largest.0).max(ACCEPTED_RESIDUAL)
}

/// The length of a step beside the sizes of the unknowns; what has not moved yet has none to compare with.
fn norm(step: &[f64], sizes: &[f64]) -> f64 {
    let part = |(d, s): (&f64, &f64)| if *d == 0.0 || *s == 0.0 { 0.0 } else { (d / s).abs() };
    step.iter().zip(sizes).map(part).fold(0.0, f64::max)
}

fn absolute(v: &[f64]) -> Vec<f64> {
    v.iter().map(|x| x.abs()).collect()
}

/// A task on its way to a solution.
struct Search<'a> {
    task: &'a Task<'a>,
    /// The largest values met on the way: what is small beside them is zero.
    sizes: Vec<f64>,
    /// The derivative last taken.
    jacobian: Rows,
    factors: Elimination,
    /// The derivative and the residual at the start.
    first: Option<(Rows, Vec<f64>)>,
}

impl Search<'_> {
    fn arrived(&self, residual: &[f64]) -> bool {
        self.first.as_ref().is_none_or(|(jacobian, before)| arrived(jacobian, before, residual, &self.sizes))
    }
}

impl System for Search<'_> {
    fn residual(&mut self, v: &[f64]) -> Option<Vec<f64>> {
        self.task.residual(v)
    }

    fn correction(&mut self, v: &[f64], residual: &[f64]) -> Option<Vec<f64>> {
        self.jacobian = self.task.jacobian_near(v)?;
        self.factors = Elimination::new(&self.jacobian, self.task.columns.len(), NEGLIGIBLE_PIVOT);
        self.first.get_or_insert_with(|| (self.jacobian.clone(), residual.to_vec()));
        let step = correction(&self.factors, residual);
        for (size, (value, d)) in self.sizes.iter_mut().zip(v.iter().zip(&step)) {
            *size = size.max(value.abs()).max(d.abs());
        }
        Some(step)
    }

    fn simplified_correction(&mut self, residual: &[f64]) -> Vec<f64> {
        correction(&self.factors, residual)
    }

    fn length(&self, correction: &[f64]) -> f64 {
        norm(correction, &self.sizes)
    }

    fn judge(&mut self, v: &[f64], residual: &[f64], correction: &[f64]) -> Verdict {
        let length = self.length(correction);
        if !length.is_finite() {
            return Verdict::Hopeless;
        }
        let small = excess(&self.jacobian, residual, &absolute(v)) <= CONVERGED_RESIDUAL;
        if length > CONVERGED_RESIDUAL && !small {
            return Verdict::Continue;
        }
        let accepted = excess(&self.jacobian, residual, &self.sizes) <= ACCEPTED_RESIDUAL;
        if accepted && self.arrived(residual) { Verdict::Solved } else { Verdict::Hopeless }
    }

    fn accepts(&mut self, _: &[f64], residual: &[f64]) -> bool {
        excess(&self.jacobian, residual, &self.sizes) <= CONVERGED_RESIDUAL && self.arrived(residual)
    }
}

/// Solves a task from a start; nothing where the search does not arrive.
pub(super) fn newton(
    task: &Task,
    start: &[f64],
    token: &CancellationToken,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let factors = Elimination::new(&Rows::new(), 0, NEGLIGIBLE_PIVOT);
    let mut search = Search { task, sizes: absolute(start), jacobian: Rows::new(), factors, first: None };
    let found = newton::newton(&mut search, start, LIMITS, token)?;
    Ok(found.map(|v| polished(task, v, &search.sizes)))
}

/// Repeats full steps while they help, and sets to zero what is zero.
fn polished(task: &Task, mut v: Vec<f64>, sizes: &[f64]) -> Vec<f64> {
    let measure = |v: &[f64]| -> Option<(f64, Rows, Vec<f64>)> {
        let residual = task.residual(v)?;
        let jacobian = task.jacobian_near(v)?;
        Some((excess(&jacobian, &residual, sizes), jacobian, residual))
    };
    let Some((mut off, mut jacobian, mut residual)) = measure(&v) else { return v };
    for _ in 0..4 {
        let next = moved(&v, &task.step(&jacobian, &residual), 1.0);
        match measure(&next) {
            Some((smaller, new_jacobian, new_residual)) if smaller < off => {
                (v, off, jacobian, residual) = (next, smaller, new_jacobian, new_residual);
            }
            _ => break,
        }
    }
    // What is small beside the way it came is zero, if the equations agree.
    let small: Vec<usize> =
        (0..v.len()).filter(|&j| v[j] != 0.0 && v[j].abs() <= SMALL_COMPONENT * sizes[j]).collect();
    let singles = small.iter().map(|j| vec![*j]);
    for group in std::iter::once(small.clone()).chain(singles) {
        let mut next = v.clone();
        group.iter().for_each(|&j| next[j] = 0.0);
        // No residual may grow beyond the rounding errors of its parts.
        let agree = |r: Vec<f64>| {
            r.iter().zip(&residual).zip(&jacobian).all(|((new, old), row)| {
                let parts: f64 = row.iter().map(|(j, value)| (value * v[*j]).abs()).sum();
                new.abs() <= (2.0 * old.abs()).max(ROUNDED_RESIDUAL * parts)
            })
        };
        if task.residual(&next).is_some_and(agree) {
            v = next;
        }
    }
    v
}

/// Where following the dynamics led.
pub(super) struct Settled {
    pub end: Vec<f64>,
    /// The solution, where Newton's method took over.
    pub solution: Option<Vec<f64>>,
}

/// Follows x' = f in implicit steps that grow while the equations stay nearly
/// linear over a step; a stable steady state is approached from far away.
pub(super) fn follow(task: &Task, start: &[f64], token: &CancellationToken) -> Result<Settled, Cancelled> {
    let mut v = start.to_vec();
    let mut time_step = 0.0;
    let mut accepted = 0;
    for _ in 0..FOLLOWED_STEPS {
        token.check()?;
        let (Some(residual), Some(jacobian)) = (task.residual(&v), task.jacobian_near(&v)) else { break };
        if time_step == 0.0 {
            time_step = FIRST_FOLLOWED_STEP / fastest(task, &jacobian).max(SLOWEST_RATE);
        }
        // The conserved combinations keep themselves.
        let count = task.rows.len();
        let mut rows: Rows = jacobian[..count].to_vec();
        for (k, row) in rows.iter_mut().enumerate() {
            if task.rows[k] < task.problem.states
                && let Ok(j) = task.columns.binary_search(&task.rows[k])
            {
                row.push((j, -1.0 / time_step));
            }
        }
        let step = task.step(&rows, &residual[..count]);
        let next = moved(&v, &step, 1.0);
        let before = weighted(&jacobian, &residual, &v, &step, count);
        let Some(there) = task.residual(&next) else {
            time_step /= 4.0;
            continue;
        };
        let left: Vec<f64> = (0..count)
            .map(|k| match task.columns.binary_search(&task.rows[k]) {
                Ok(j) if task.rows[k] < task.problem.states => there[k] - step[j] / time_step,
                _ => there[k],
            })
            .collect();
        let after = weighted(&jacobian, &left, &v, &step, count);
        if after > FOLLOWED_NONLINEARITY * before {
            time_step /= 4.0;
            if time_step < SHORTEST_FOLLOWED_STEP {
                break;
            }
            continue;
        }
        v = next;
        time_step *= if after < FOLLOWED_LINEARITY * before { 4.0 } else { 1.6 };
        accepted += 1;
        if accepted % 12 == 0
            && let Some(solution) = newton(task, &v, token)?
        {
            return Ok(Settled { end: v, solution: Some(solution) });
        }
        if !time_step.is_finite() || time_step > LONGEST_FOLLOWED_STEP {
            break;
        }
    }
    let solution = newton(task, &v, token)?;
    Ok(Settled { end: v, solution })
}

/// The size of residuals in steps of the unknowns.
fn weighted(jacobian: &Rows, residual: &[f64], v: &[f64], step: &[f64], count: usize) -> f64 {
    let of_row = |k: usize| {
        let parts: f64 =
            jacobian[k].iter().map(|(j, value)| value.abs() * v[*j].abs().max(step[*j].abs())).sum();
        if residual[k] == 0.0 { 0.0 } else { residual[k].abs() / parts.max(f64::MIN_POSITIVE) }
    };
    (0..count).map(of_row).fold(0.0, f64::max)
}

/// An estimate of the fastest rate: single states and exchanges between two.
fn fastest(task: &Task, jacobian: &Rows) -> f64 {
    let entry =
        |k: usize, j: usize| jacobian[k].iter().find(|(column, _)| *column == j).map_or(0.0, |(_, x)| *x);
    let mut rate = 0.0f64;
    for (k, row) in jacobian.iter().enumerate().take(task.rows.len()) {
        let Ok(own) = task.columns.binary_search(&task.rows[k]) else { continue };
        for &(j, value) in row {
            if j == own {
                rate = rate.max(value.abs());
            } else if let Ok(other) = task.rows.binary_search(&task.columns[j]) {
                rate = rate.max((value * entry(other, own)).abs().sqrt());
            }
        }
    }
    rate
}

/// Whether a solution of the homotopy, which takes a part of a residual away, lies about where the tangent at the last
/// one leads.
fn is_along(task: &Task, (from, residual): (&[f64], &[f64]), part: f64, to: &[f64]) -> bool {
    let Some(jacobian) = task.jacobian_near(from) else { return true };
    let taken: Vec<f64> = residual.iter().map(|r| r * part).collect();
    let tangent = task.step(&jacobian, &taken);
    let moves: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let apart: Vec<f64> = moves.iter().zip(&tangent).map(|(moves, tangent)| moves - tangent).collect();
    let sizes: Vec<f64> = (from.iter().zip(to).zip(&tangent))
        .map(|((from, to), tangent)| from.abs().max(to.abs()).max(tangent.abs()))
        .collect();
    norm(&apart, &sizes) <= STRAYED_HOMOTOPY * norm(&moves, &sizes)
}

/// Turns the residual that the start leaves down to zero.
pub(super) fn homotopy(
    task: &mut Task,
    start: &[f64],
    token: &CancellationToken,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let Some(residual) = task.residual(start) else { return Ok(None) };
    let mut v = start.to_vec();
    let (mut left, mut step) = (1.0f64, 0.1f64);
    let mut found = None;
    for _ in 0..HOMOTOPY_STEPS {
        let next = (left - step).max(0.0);
        task.shift = residual.iter().map(|r| r * next).collect();
        match newton(task, &v, token)? {
            Some(solution)
                if step <= UNGUIDED_HOMOTOPY_STEP
                    || is_along(task, (&v, &residual), left - next, &solution) =>
            {
                if next == 0.0 {
                    found = Some(solution);
                    break;
                }
                v = solution;
                left = next;
                step *= 1.5;
            }
            // Another branch was met, or none.
            _ => step /= 2.0,
        }
        if step < SMALLEST_HOMOTOPY_STEP {
            break;
        }
    }
    task.shift.clear();
    Ok(found)
}
