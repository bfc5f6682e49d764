//! Follows the dynamics from the initial state to rest, accurately: the
//! linearly implicit Euler method with extrapolation (Deuflhard). It decides
//! where steady states lie side by side, as the temperatures of two bodies in
//! contact, whose energy no linear combination of states tells.

use paynter_base::{CancellationToken, Cancelled};

use super::newton::Task;
use crate::linalg::elimination::{Elimination, Rows};
use crate::tolerance::{
    EXTRAPOLATION_ORDER, FIRST_REST_STEP, FIRST_STEP_OF_REST, LEAST_REST_ERROR, NEGLIGIBLE_PIVOT,
    REST_DISTANCE, REST_STEP_ERROR, SMALLEST_MAGNITUDE,
};

/// The state at rest; nothing where there is no steady state within reach of so many steps.
pub(super) fn integrate(
    task: &Task,
    start: &[f64],
    steps: usize,
    token: &CancellationToken,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let mut v = start.to_vec();
    let mut sizes: Vec<f64> = v.iter().map(|x| x.abs()).collect();
    let mut step = 0.0;
    for _ in 0..steps {
        token.check()?;
        let (Some(residual), Some(jacobian)) = (task.residual(&v), task.jacobian_near(&v)) else {
            return Ok(None);
        };
        let count = task.rows.len();
        let (jacobian, residual) = (&jacobian[..count].to_vec(), &residual[..count]);
        let right: Vec<f64> = residual.iter().map(|r| -r).collect();
        let rest = Elimination::new(jacobian, v.len(), NEGLIGIBLE_PIVOT).solve(&right);
        for (size, (value, d)) in sizes.iter_mut().zip(v.iter().zip(&rest)) {
            *size = size.max(value.abs()).max(if step == 0.0 { d.abs() } else { 0.0 });
        }
        if relative(&rest, &sizes) <= REST_DISTANCE {
            return Ok(Some(v));
        }
        if step == 0.0 {
            let own = |k: usize| {
                let j = task.columns.binary_search(&task.rows[k]).ok()?;
                jacobian[k].iter().find(|(column, _)| *column == j).map(|(_, value)| value.abs())
            };
            let fastest = (0..count).filter_map(own).fold(0.0f64, f64::max);
            step = if fastest > 0.0 { FIRST_REST_STEP / fastest } else { FIRST_STEP_OF_REST };
        }
        loop {
            token.check()?;
            match basic_step(task, jacobian, &v, step) {
                Some((next, difference)) => {
                    let error = relative(&difference, &sizes) / REST_STEP_ERROR;
                    let change = 0.8 * error.max(LEAST_REST_ERROR).powf(-1.0 / EXTRAPOLATION_ORDER as f64);
                    if error <= 1.0 {
                        v = next;
                        step *= change.clamp(0.3, 8.0);
                        break;
                    }
                    step *= change.clamp(0.1, 0.7);
                }
                None => step /= 8.0,
            }
            if step < SMALLEST_MAGNITUDE {
                return Ok(None);
            }
        }
        if !step.is_finite() {
            return Ok(None);
        }
    }
    Ok(None)
}

fn relative(values: &[f64], sizes: &[f64]) -> f64 {
    let part = |(d, s): (&f64, &f64)| if *d == 0.0 { 0.0 } else { (d / s.max(f64::MIN_POSITIVE)).abs() };
    values.iter().zip(sizes).map(part).fold(0.0, f64::max)
}

/// One step of the whole table: the new state and an estimate of its error.
fn basic_step(task: &Task, jacobian: &Rows, start: &[f64], length: f64) -> Option<(Vec<f64>, Vec<f64>)> {
    // The last row of the table of Aitken and Neville.
    let mut previous: Vec<Vec<f64>> = Vec::new();
    for j in 1..=EXTRAPOLATION_ORDER {
        let part = length / j as f64;
        let mut rows: Rows = Vec::with_capacity(jacobian.len());
        for (k, row) in jacobian.iter().enumerate() {
            let mut row: Vec<(usize, f64)> = row.iter().map(|(column, x)| (*column, -x)).collect();
            if task.rows[k] < task.problem.states
                && let Ok(own) = task.columns.binary_search(&task.rows[k])
            {
                row.push((own, 1.0 / part));
            }
            rows.push(row);
        }
        let mut v = start.to_vec();
        let factors = Elimination::new(&rows, v.len(), NEGLIGIBLE_PIVOT);
        for _ in 0..j {
            let residual = task.residual(&v)?;
            let moved = factors.solve(&residual[..jacobian.len()]);
            v.iter_mut().zip(moved).for_each(|(v, d)| *v += d);
        }
        let mut row = vec![v];
        for k in 1..j {
            let ratio = j as f64 / (j - k) as f64;
            let (new, old) = (&row[k - 1], &previous[k - 1]);
            row.push(new.iter().zip(old).map(|(a, b)| a + (a - b) / (ratio - 1.0)).collect());
        }
        previous = row;
    }
    let (end, before) = (previous.get(EXTRAPOLATION_ORDER - 1)?, previous.get(EXTRAPOLATION_ORDER - 2)?);
    let difference = end.iter().zip(before).map(|(a, b)| a - b).collect();
    end.iter().all(|x| x.is_finite()).then(|| (end.clone(), difference))
}
