//! How a point moves with a parameter: a rest stays one, and every law and
//! junction stays fulfilled.

use crate::acausal::Point;
use crate::pencil::Pencil;
use crate::tolerance::{MOVED_FLOOR, MOVED_LEAST, SWITCHING_WIDTH, TRANSFER};
use crate::{Check, Checked, Contradiction};
use paynter_algebra::Pool;

/// The points to which a parameter leads that is a little less, and a little more.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The parameter, by place in the graph.
    pub parameter: usize,
    /// By how much it is less or more.
    pub step: f64,
    /// The points.
    pub points: [Point; 2],
    /// How large what makes up the move of each variable is, where it cancels.
    pub sizes: Vec<f64>,
    /// By how much the quotients of differences to these points may miss derivatives, as beside the kink of a
    /// derivative.
    pub errors: Vec<f64>,
}

impl<'a> Pencil<'a> {
    /// Takes points beside this one, by which equations that are not linear are differentiated by parameters.
    pub fn set_beside(&mut self, pool: &mut Pool, beside: &'a [Beside]) {
        for Beside { parameter, step, points: [below, above], .. } in beside {
            let mut side = |point| Pencil::new(pool, self.system, point);
            if let (Some(below), Some(above)) = (side(below), side(above)) {
                self.sides.push((*parameter, *step, [below, above]));
            }
        }
    }

    /// Checks that these points fulfil the equations as this one does, to first order, and rest as it does, but for
    /// the variables in `drifting`, in rising order.
    pub fn check_beside(&self, pool: &mut Pool, beside: &[Beside], drifting: &[usize]) -> Checked {
        let (mut most, mut compared) = (0.0f64, false);
        for Beside { parameter, step, points: [below, above], sizes, errors } in beside {
            let rate = |below: &[f64], above: &[f64]| -> Vec<f64> {
                below.iter().zip(above).map(|(below, above)| (above - below) / (2.0 * step)).collect()
            };
            let variables = rate(&below.variables, &above.variables);
            let inputs = rate(&below.inputs, &above.inputs);
            if variables.iter().chain(&inputs).any(|rate| !rate.is_finite()) {
                continue;
            }
            let declaration = &self.system.graph.parameters[*parameter].declaration;
            let what = || format!("the derivative of the operating point by `{}`", declaration.name);
            // What is zero here may be rounding of what it is made of beside.
            let all = self.point.variables.iter().fold(0.0f64, |most, z| most.max(z.abs()));
            let floor = |at: usize| {
                let [own, beside] = [self.point, above].map(|p| p.scales[at].max(p.variables[at].abs()));
                sizes[at]
                    + errors[at] / TRANSFER
                    + (MOVED_FLOOR * own.max(beside)).max(MOVED_LEAST * all) / step
            };
            for (k, row) in self.system.rows.iter().enumerate() {
                if row.rate.is_some_and(|state| drifting.binary_search(&state).is_ok()) {
                    continue;
                }
                let (mut sum, mut size) = (0.0, 0.0);
                let mut add = |term: f64, floor: f64| {
                    sum += term;
                    size += term.abs() + floor;
                };
                self.entries[k].iter().for_each(|(at, c)| add(c * variables[*at], (c * floor(*at)).abs()));
                self.inputs[k].iter().for_each(|(at, c)| add(-c * inputs[*at], 0.0));
                if let Some(value) = row.value {
                    if self.system.switches_at(pool, row.place, value, self.point, SWITCHING_WIDTH) {
                        continue;
                    }
                    let derivative = pool.diff(value, declaration.symbol);
                    let at = |symbol| self.system.value_at(row.place, symbol, self.point);
                    let Ok(derivative) = pool.eval(derivative, &at) else { continue };
                    add(-derivative, 0.0);
                }
                let residual = if sum == 0.0 { 0.0 } else { sum.abs() / size };
                if residual > TRANSFER || residual.is_nan() {
                    let equation = self.system.describe(k);
                    return Err(Contradiction { what: what(), residual, equation, of_sensitivity: true });
                }
                (most, compared) = (most.max(residual), true);
            }
        }
        let what = "the derivatives of the operating point".to_owned();
        Ok(compared.then_some(Check { what, residual: most }).into_iter().collect())
    }
}
