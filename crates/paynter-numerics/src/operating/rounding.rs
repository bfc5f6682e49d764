//! What rounding makes of a steady state. Each part of it is known to the
//! unit of rounding of what makes it up, which may be much larger than the
//! part itself where terms cancel: |F_w⁻¹| (|F_w| |w| + |F_k| |k|), with k all
//! that is known.

use paynter_base::random::Random;

use super::newton::Task;
use crate::linalg::elimination::Elimination;
use crate::tolerance::{BALANCED_WITHIN, CONDITION_TRIALS, NEGLIGIBLE_PIVOT, POLE_DERIVATIVES};

/// How large what makes up each unknown of a task is.
pub(super) fn sizes(task: &Task, v: &[f64]) -> Vec<f64> {
    let mut sizes: Vec<f64> = v.iter().map(|x| x.abs()).collect();
    let (Some(jacobian), Some(known)) = (task.jacobian(v), task.known_parts(v)) else { return sizes };
    let own = jacobian.iter().map(|row| row.iter().map(|(j, value)| (value * v[*j]).abs()).sum::<f64>());
    let parts: Vec<f64> = own.zip(known).map(|(own, known)| own + known).collect();
    let factors = Elimination::new(&jacobian, v.len(), NEGLIGIBLE_PIVOT);
    let mut random = Random::new(29);
    for _ in 0..CONDITION_TRIALS {
        let right: Vec<f64> = parts.iter().map(|x| if random.unit() < 0.5 { *x } else { -x }).collect();
        let moved = factors.solve(&right);
        for (size, x) in sizes.iter_mut().zip(moved).filter(|(_, x)| x.is_finite()) {
            *size = size.max(x.abs());
        }
    }
    sizes
}

/// Whether known and unknown parts balance at a point, and rounding of the unknowns leaves that to be seen.
pub(super) fn balances(task: &Task, v: &[f64]) -> bool {
    // Linear equations have one solution, wherever it lies; at rest all that is known may be rounding in a row.
    if task.problem.linear {
        return true;
    }
    let (Some(jacobian), Some(mut known), Some(residual)) =
        (task.jacobian(v), task.known_parts(v), task.residual(v))
    else {
        return true;
    };
    // What is known may itself vanish at rest, as the torque of a weight that hangs.
    if let Some(before) = task.known_parts(&task.part(&task.base)) {
        known.iter_mut().zip(before).for_each(|(known, before)| *known = known.max(before));
    }
    jacobian.iter().zip(known).zip(residual).all(|((row, known), residual)| {
        let own: f64 = row.iter().map(|(j, value)| (value * v[*j]).abs()).sum();
        let left = residual.abs() <= BALANCED_WITHIN * known;
        known == 0.0 || (left && own * f64::EPSILON <= BALANCED_WITHIN * known)
    })
}

/// Whether the equations have a pole at a point: derivatives of another order than at a point known to be none.
pub(super) fn is_pole(task: &Task, v: &[f64], known: &[f64]) -> bool {
    let largest = |v: &[f64]| {
        let rows = task.jacobian(v)?;
        rows.iter().flatten().map(|(_, value)| value.abs()).reduce(f64::max)
    };
    match (largest(v), largest(known)) {
        (Some(here), Some(there)) => here > POLE_DERIVATIVES * there,
        _ => false,
    }
}
