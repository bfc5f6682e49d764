//! The oracle of nonlinear models: the acausal equations solved by Newton's
//! method in doubles, for the rates of the states and the outputs at one
//! point. Dependent storages are settled by the equations' time derivative.

use crate::number::{Dual, Number};
use crate::residual::{Equation, System, Values};
use crate::structure::Structure;
use std::collections::BTreeMap;

/// Where to evaluate a model.
#[derive(Debug, Clone, Default)]
pub struct Point {
    /// Independent parameters in the order of [`Structure::independent`].
    pub params: Vec<f64>,
    /// Inputs.
    pub inputs: Vec<f64>,
    /// Their time derivatives, which matter only for dependent storages; zero where missing.
    pub input_rates: Vec<f64>,
    /// Time.
    pub time: f64,
    /// The states that are given, by name; dependent ones may be left out.
    pub states: BTreeMap<String, f64>,
}

/// What holds there.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Every state in the order of [`Structure::states`].
    pub states: Vec<f64>,
    /// The rate of every state.
    pub rates: Vec<f64>,
    /// Every output.
    pub outputs: Vec<f64>,
}

/// Solves for the rates and outputs. `None` when Newton's method fails or the
/// equations and their first derivative leave a port variable open.
pub fn solve(structure: &Structure, point: &Point) -> Option<Solution> {
    let system = System::new(structure);
    let params = system.params(&point.params)?;
    let signals = structure.signals.iter().filter(|signal| signal.integral.is_none()).count();
    let problem = Problem { system, params, point, ports: 2 * structure.bonds.len() + signals };
    let given = problem.system.states().iter().filter(|(name, _)| point.states.contains_key(name)).count();
    let extended = given < problem.system.states().len();
    if !extended && let Some(solution) = problem.newton(false) {
        return Some(solution);
    }
    problem.newton(true)
}

struct Problem<'a> {
    system: System<'a>,
    params: Vec<f64>,
    point: &'a Point,
    /// The number of efforts, flows and plain signals.
    ports: usize,
}

impl Problem<'_> {
    /// Spreads the unknowns over the variables: ports first, then open states.
    fn values<N: Number>(&self, unknowns: &[N], constant: &dyn Fn(f64) -> N) -> Values<N> {
        let structure = self.system.structure;
        let bonds = structure.bonds.len();
        let mut next = 2 * bonds;
        let signals = structure.signals.iter().map(|signal| {
            if signal.integral.is_some() {
                N::zero()
            } else {
                next += 1;
                unknowns[next - 1].clone()
            }
        });
        let signals = signals.collect();
        let mut open = self.ports;
        let states = self.system.states().iter().map(|(name, _)| match self.point.states.get(name) {
            Some(value) => constant(*value),
            None => {
                open += 1;
                unknowns[open - 1].clone()
            }
        });
        Values {
            params: self.params.iter().map(|value| constant(*value)).collect(),
            inputs: self.point.inputs.iter().map(|value| constant(*value)).collect(),
            efforts: unknowns[..bonds].to_vec(),
            flows: unknowns[bonds..2 * bonds].to_vec(),
            signals,
            states: states.collect(),
            time: constant(self.point.time),
        }
    }

    fn rates<N: Number>(&self, values: &Values<N>) -> Option<Vec<N>> {
        let rate = |store| match self.system.rate(values, store) {
            Equation::Value(value) => Some(value),
            Equation::Mentions(_) => None,
        };
        self.system.states().iter().map(|(_, store)| rate(store)).collect()
    }

    fn equations<N: Number>(&self, values: &Values<N>) -> Option<Vec<N>> {
        let value = |equation| match equation {
            Equation::Value(value) => Some(value),
            Equation::Mentions(_) => None,
        };
        self.system.equations(values)?.into_iter().map(value).collect()
    }

    /// The residuals: the equations, and where `extended` their time
    /// derivative, whose unknowns (the derivatives of the ports) follow last.
    fn residuals<N: Number>(
        &self,
        unknowns: &[N],
        extended: bool,
        constant: &dyn Fn(f64) -> N,
    ) -> Option<Vec<N>> {
        let values = self.values(unknowns, constant);
        if !extended {
            return self.equations(&values);
        }
        let rates = self.rates(&values)?;
        let derivatives = &unknowns[unknowns.len() - self.ports..];
        let bonds = self.system.structure.bonds.len();
        let pair = |values: &[N], derivatives: &[N]| -> Vec<Dual<N>> {
            let both = values.iter().zip(derivatives);
            both.map(|(value, derivative)| Dual { value: value.clone(), derivative: derivative.clone() })
                .collect()
        };
        let mut next = 2 * bonds;
        let signals = values.signals.iter().zip(&self.system.structure.signals).map(|(value, signal)| {
            let derivative = if signal.integral.is_some() {
                N::zero()
            } else {
                next += 1;
                derivatives[next - 1].clone()
            };
            Dual { value: value.clone(), derivative }
        });
        let signals = signals.collect();
        let input_rates: Vec<N> = (0..values.inputs.len())
            .map(|index| constant(self.point.input_rates.get(index).copied().unwrap_or(0.0)))
            .collect();
        let moving = Values {
            params: values.params.iter().cloned().map(Dual::constant).collect(),
            inputs: pair(&values.inputs, &input_rates),
            efforts: pair(&values.efforts, &derivatives[..bonds]),
            flows: pair(&values.flows, &derivatives[bonds..2 * bonds]),
            signals,
            states: pair(&values.states, &rates),
            time: Dual { value: values.time, derivative: N::one() },
        };
        let (mut all, derivatives): (Vec<N>, Vec<N>) =
            self.equations(&moving)?.into_iter().map(|dual| (dual.value, dual.derivative)).unzip();
        all.extend(derivatives);
        Some(all)
    }

    fn newton(&self, extended: bool) -> Option<Solution> {
        let open =
            self.system.states().iter().filter(|(name, _)| !self.point.states.contains_key(name)).count();
        let count = self.ports + open + if extended { self.ports } else { 0 };
        // Any start will do for monotonic laws; zero is where odd powers have no derivative.
        let mut unknowns: Vec<f64> = (0..count).map(|index| 0.1 + 0.01 * (index % 7) as f64).collect();
        let plain = |value: f64| value;
        let norm = |residuals: &[f64]| residuals.iter().map(|value| value * value).sum::<f64>().sqrt();
        let mut residuals = self.residuals(&unknowns, extended, &plain)?;
        let mut size = norm(&residuals);
        for _ in 0..200 {
            let jacobian = self.jacobian(&unknowns, extended)?;
            let (step, determined) = solve_least(jacobian, &residuals);
            let scale = 1.0 + unknowns.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let moved = step.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            if moved < 1e-12 * scale && size < 1e-8 * scale {
                return determined[..self.ports].iter().all(|sure| *sure).then(|| self.finish(&unknowns))?;
            }
            let mut share = 1.0;
            loop {
                let trial: Vec<f64> = unknowns.iter().zip(&step).map(|(x, dx)| x - share * dx).collect();
                if let Some(next) = self.residuals(&trial, extended, &plain) {
                    let next_size = norm(&next);
                    if next_size.is_finite() && (next_size < size || next_size < 1e-10 * scale) {
                        (unknowns, residuals, size) = (trial, next, next_size);
                        break;
                    }
                }
                share *= 0.5;
                if share < 1e-12 {
                    // Rounding stops the descent at the solution itself.
                    let settled = size < 1e-9 * scale && determined[..self.ports].iter().all(|sure| *sure);
                    return settled.then(|| self.finish(&unknowns))?;
                }
            }
        }
        None
    }

    fn jacobian(&self, unknowns: &[f64], extended: bool) -> Option<Vec<Vec<f64>>> {
        let mut columns = Vec::with_capacity(unknowns.len());
        let mut duals: Vec<Dual<f64>> = unknowns.iter().map(|value| Dual::constant(*value)).collect();
        for index in 0..unknowns.len() {
            duals[index].derivative = 1.0;
            let column = self.residuals(&duals, extended, &Dual::constant)?;
            columns.push(column.into_iter().map(|dual| dual.derivative).collect::<Vec<f64>>());
            duals[index].derivative = 0.0;
        }
        let rows = columns.first().map_or(0, Vec::len);
        Some((0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect())
    }

    fn finish(&self, unknowns: &[f64]) -> Option<Solution> {
        let values = self.values(unknowns, &|value| value);
        Some(Solution {
            rates: self.rates(&values)?,
            outputs: self.system.outputs(&values)?,
            states: values.states,
        })
    }
}

/// Solves a rectangular system by complete pivoting; unknowns that stay open
/// get zero. Also tells which unknowns the equations determine.
fn solve_least(mut rows: Vec<Vec<f64>>, right: &[f64]) -> (Vec<f64>, Vec<bool>) {
    let width = rows.first().map_or(0, Vec::len);
    for (row, value) in rows.iter_mut().zip(right) {
        row.push(*value);
        let most = row[..width].iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        if most > 0.0 {
            row.iter_mut().for_each(|entry| *entry /= most);
        }
    }
    let mut pivots: Vec<usize> = Vec::new();
    for step in 0..rows.len().min(width) {
        let mut best = (0.0, step, 0);
        for (index, row) in rows.iter().enumerate().skip(step) {
            for (column, entry) in row[..width].iter().enumerate() {
                if entry.abs() > best.0 && !pivots.contains(&column) {
                    best = (entry.abs(), index, column);
                }
            }
        }
        let (size, index, column) = best;
        if size < 1e-9 {
            break;
        }
        rows.swap(step, index);
        pivots.push(column);
        let head = rows[step][column];
        rows[step].iter_mut().for_each(|entry| *entry /= head);
        let pivot = rows[step].clone();
        for (other, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if other != step && factor != 0.0 {
                for (entry, value) in row.iter_mut().zip(&pivot) {
                    *entry -= factor * value;
                }
            }
        }
    }
    let mut solution = vec![0.0; width];
    let mut determined = vec![false; width];
    for (row, &column) in rows.iter().zip(&pivots) {
        solution[column] = row[width];
        determined[column] = (0..width).all(|other| pivots.contains(&other) || row[other].abs() < 1e-7);
    }
    (solution, determined)
}
