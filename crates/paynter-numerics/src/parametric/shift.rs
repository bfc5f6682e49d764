//! How an operating point moves with the parameters: by the implicit function
//! theorem, F_w dw = −F_p dp for 0 = F(w, p). Where combinations of states are
//! conserved, F_w is singular, and the initial states take the missing
//! equations: ℓᵀ(x − x₀) = 0 for ℓᵀf = 0.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use super::dense::{Reduced, reduce};
use crate::{CompileError, Program};

/// Newton's steps before a point is given up.
const STEPS: usize = 50;

/// The equations of a steady state over parameters.
#[derive(Debug)]
pub struct Steady {
    /// States that rest, then implicit unknowns.
    pub sought: Vec<Symbol>,
    /// How many of them are states.
    states: usize,
    /// The nominal point.
    nominal: Vec<f64>,
    /// Inputs and time: symbol and nominal value.
    fixed: Vec<(Symbol, f64)>,
    /// Inputs whose values depend on parameters.
    inputs: Affected,
    residuals: Program,
    slopes: Slopes,
    initial: Program,
    /// By parameter: ∂F/∂p, ∂x₀/∂p, and ∂F_w/∂p for what is conserved.
    by_parameter: Vec<Partial>,
    /// ∂F/∂u of the inputs that depend on parameters.
    by_input: Slopes,
}

/// Inputs with values over parameters: places among the fixed symbols, and their values.
#[derive(Debug)]
struct Affected {
    places: Vec<usize>,
    values: Program,
}

/// Derivatives by place.
#[derive(Debug)]
struct Slopes {
    places: Vec<(usize, usize)>,
    program: Program,
}

#[derive(Debug)]
struct Partial {
    residuals: Slopes,
    initial: Slopes,
    inputs: Slopes,
    slopes: Slopes,
}

impl Steady {
    /// Prepares the equations for the parameters asked for; `values` is the nominal point.
    /// Programs take all parameters, then inputs and time, then what is sought.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        parameters: &[Symbol],
        values: &BTreeMap<Symbol, f64>,
    ) -> Result<Steady, CompileError> {
        let resting = equations.resting(pool);
        let active: Vec<usize> = (0..equations.states.len()).filter(|&k| resting[k]).collect();
        let mut sought: Vec<Symbol> = active.iter().map(|&k| equations.states[k].symbol).collect();
        let states = sought.len();
        sought.extend(equations.constraints.iter().map(|c| c.unknown));
        let mut system: Vec<Expr> = active.iter().map(|&k| equations.rates[k]).collect();
        system.extend(equations.constraints.iter().map(|c| c.residual));
        let initial: Vec<Expr> = active.iter().map(|&k| equations.states[k].initial).collect();
        let of = |symbol: &Symbol| values.get(symbol).copied().unwrap_or(0.0);
        let mut fixed: Vec<(Symbol, f64)> = Vec::new();
        let mut moving: Vec<(usize, Expr)> = Vec::new();
        let time = graph.variables.symbol(Variable::Time);
        for input in &equations.inputs {
            let mut value = input.value;
            for symbol in &input.symbols {
                let inside = pool.symbols(value);
                if graph.parameters.iter().any(|p| inside.binary_search(&p.symbol).is_ok()) {
                    moving.push((fixed.len(), value));
                }
                fixed.push((*symbol, of(symbol)));
                value = match time {
                    Some(time) => pool.diff(value, time),
                    None => pool.zero(),
                };
            }
        }
        fixed.extend(time.map(|time| (time, of(&time))));
        let mut arguments: Vec<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
        arguments.extend(fixed.iter().map(|(symbol, _)| *symbol));
        arguments.extend(&sought);
        let moved: Vec<Symbol> = moving.iter().map(|(place, _)| fixed[*place].0).collect();
        let input_values: Vec<Expr> = moving.iter().map(|(_, value)| *value).collect();
        let (slopes, entries) = derivatives(pool, &system, &sought, &arguments)?;
        let mut by_parameter = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let one = [*parameter];
            by_parameter.push(Partial {
                residuals: derivatives(pool, &system, &one, &arguments)?.0,
                initial: derivatives(pool, &initial, &one, &arguments)?.0,
                inputs: derivatives(pool, &input_values, &one, &arguments)?.0,
                slopes: derivatives(pool, &entries, &one, &arguments)?.0,
            });
        }
        let nominal = sought.iter().map(of).collect();
        Ok(Steady {
            states,
            nominal,
            inputs: Affected {
                places: moving.iter().map(|(place, _)| *place).collect(),
                values: Program::compile(pool, &input_values, &arguments)?,
            },
            residuals: Program::compile(pool, &system, &arguments)?,
            initial: Program::compile(pool, &initial, &arguments)?,
            by_input: derivatives(pool, &system, &moved, &arguments)?.0,
            slopes,
            by_parameter,
            sought,
            fixed,
        })
    }

    /// The derivatives of the point by each parameter: inputs that depend on
    /// it and what is sought, by symbol. Nothing where the equations leave the
    /// point undetermined.
    pub fn shift(&self, parameters: &[f64]) -> Option<Vec<FxHashMap<Symbol, f64>>> {
        let arguments = self.arguments(parameters, &self.nominal);
        let slopes = self.slopes.run(&arguments)?;
        let conserved = self.conserved(&slopes);
        let initial = run(&self.initial, &arguments)?;
        let by_input = self.by_input.run(&arguments)?;
        let n = self.sought.len();
        let mut rows = self.stacked(&slopes, &conserved);
        let mut input_slopes = Vec::new();
        for partial in &self.by_parameter {
            let mut right = vec![0.0; n];
            for (i, _, value) in partial.residuals.run(&arguments)? {
                right[i] -= value;
            }
            let mut inputs = vec![0.0; self.inputs.places.len()];
            for (k, _, value) in partial.inputs.run(&arguments)? {
                inputs[k] = value;
            }
            for (i, k, value) in &by_input {
                right[*i] -= value * inputs[*k];
            }
            let mut start = vec![0.0; self.states];
            for (k, _, value) in partial.initial.run(&arguments)? {
                start[k] = value;
            }
            let turned = if conserved.is_empty() { Vec::new() } else { partial.slopes.run(&arguments)? };
            for (row, value) in rows.iter_mut().zip(&right) {
                row.push(*value);
            }
            for (row, l) in rows[n..].iter_mut().zip(&conserved) {
                let kept: f64 = l.iter().zip(&start).map(|(l, x)| l * x).sum();
                let turn = self.turned(&slopes, &turned, l)?;
                let offset: f64 = (0..self.states).map(|k| turn[k] * (initial[k] - self.nominal[k])).sum();
                row.push(kept + offset);
            }
            input_slopes.push(inputs);
        }
        let reduced = reduce(rows, n);
        if reduced.pivots.len() < n {
            return None;
        }
        let list = input_slopes.iter().enumerate().map(|(p, inputs)| {
            let mut moved: FxHashMap<Symbol, f64> =
                self.sought.iter().copied().zip(reduced.solution(p)).collect();
            for (place, slope) in self.inputs.places.iter().zip(inputs) {
                moved.insert(self.fixed[*place].0, *slope);
            }
            moved
        });
        Some(list.collect())
    }

    /// Finds the steady state near the nominal one at other parameters: the values of
    /// inputs, time and what is sought, by symbol.
    pub fn find(&self, parameters: &[f64]) -> Option<Vec<(Symbol, f64)>> {
        let n = self.sought.len();
        let mut w = self.nominal.clone();
        for _ in 0..STEPS {
            let arguments = self.arguments(parameters, &w);
            let residuals = run(&self.residuals, &arguments)?;
            let initial = run(&self.initial, &arguments)?;
            let slopes = self.slopes.run(&arguments)?;
            let conserved = self.conserved(&slopes);
            let mut rows = self.stacked(&slopes, &conserved);
            for (row, residual) in rows.iter_mut().zip(&residuals) {
                row.push(-residual);
            }
            for (row, l) in rows[n..].iter_mut().zip(&conserved) {
                row.push((0..self.states).map(|k| l[k] * (initial[k] - w[k])).sum());
            }
            let reduced = reduce(rows, n);
            if reduced.pivots.len() < n {
                return None;
            }
            let step = reduced.solution(0);
            let mut done = true;
            for ((w, step), nominal) in w.iter_mut().zip(&step).zip(&self.nominal) {
                *w += step;
                done &= step.abs() <= 1e-13 * (w.abs() + nominal.abs()) || *step == 0.0;
            }
            if done {
                let fixed = self.arguments(parameters, &w);
                let symbols = self.fixed.iter().map(|(symbol, _)| *symbol).chain(self.sought.iter().copied());
                return Some(symbols.zip(fixed[parameters.len()..].iter().copied()).collect());
            }
        }
        None
    }

    /// Parameters, inputs and time, what is sought.
    fn arguments(&self, parameters: &[f64], w: &[f64]) -> Vec<f64> {
        let mut arguments = parameters.to_vec();
        arguments.extend(self.fixed.iter().map(|(_, value)| *value));
        arguments.extend_from_slice(w);
        if !self.inputs.places.is_empty() {
            let mut values = vec![0.0; self.inputs.places.len()];
            self.inputs.values.run(&arguments, &mut Vec::new(), &mut values);
            for (place, value) in self.inputs.places.iter().zip(values) {
                arguments[parameters.len() + place] = value;
            }
        }
        arguments
    }

    /// Combinations of rates that are zero whatever the state is: the left
    /// null vectors of F_w over rates alone.
    fn conserved(&self, slopes: &[(usize, usize, f64)]) -> Vec<Vec<f64>> {
        let null = self.transposed(slopes, &[]).null_vectors();
        null.into_iter().filter(|l| l[self.states..].iter().all(|x| *x == 0.0)).collect()
    }

    /// F_wᵀ reduced, with further right-hand sides.
    fn transposed(&self, slopes: &[(usize, usize, f64)], right: &[f64]) -> Reduced {
        let n = self.sought.len();
        let mut rows = vec![vec![0.0; n]; n];
        for (i, j, value) in slopes {
            rows[*j][*i] += value;
        }
        for (row, value) in rows.iter_mut().zip(right) {
            row.push(*value);
        }
        reduce(rows, n)
    }

    /// F_w with the conserved combinations below it.
    fn stacked(&self, slopes: &[(usize, usize, f64)], conserved: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let n = self.sought.len();
        let mut rows = vec![vec![0.0; n]; n];
        for (i, j, value) in slopes {
            rows[*i][*j] += value;
        }
        rows.extend(conserved.iter().map(|l| {
            let mut row = l.clone();
            row[self.states..].iter_mut().for_each(|x| *x = 0.0);
            row
        }));
        rows
    }

    /// How a conserved combination turns with a parameter: F_wᵀ ℓ_p = −(∂F_w/∂p)ᵀ ℓ.
    fn turned(
        &self,
        slopes: &[(usize, usize, f64)],
        partial: &[(usize, usize, f64)],
        l: &[f64],
    ) -> Option<Vec<f64>> {
        let n = self.sought.len();
        let mut right = vec![0.0; n];
        for (entry, _, value) in partial {
            let (i, j) = self.slopes.places[*entry];
            right[j] -= value * l[i];
        }
        if right.iter().all(|x| *x == 0.0) {
            return Some(vec![0.0; n]);
        }
        Some(self.transposed(slopes, &right).solution(0))
    }
}

impl Slopes {
    fn run(&self, arguments: &[f64]) -> Option<Vec<(usize, usize, f64)>> {
        let values = run(&self.program, arguments)?;
        Some(self.places.iter().zip(values).map(|((i, j), value)| (*i, *j, value)).collect())
    }
}

/// Differentiates expressions by symbols, where they occur: compiled, and as expressions.
fn derivatives(
    pool: &mut Pool,
    list: &[Expr],
    symbols: &[Symbol],
    arguments: &[Symbol],
) -> Result<(Slopes, Vec<Expr>), CompileError> {
    let column: FxHashMap<Symbol, usize> = symbols.iter().enumerate().map(|(j, s)| (*s, j)).collect();
    let zero = pool.zero();
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    for (i, e) in list.iter().enumerate() {
        for symbol in pool.symbols(*e) {
            let Some(&j) = column.get(&symbol) else { continue };
            let slope = pool.diff(*e, symbol);
            if slope != zero {
                places.push((i, j));
                entries.push(slope);
            }
        }
    }
    Ok((Slopes { places, program: Program::compile(pool, &entries, arguments)? }, entries))
}

fn run(program: &Program, arguments: &[f64]) -> Option<Vec<f64>> {
    let mut out = vec![0.0; program.results()];
    program.run(arguments, &mut Vec::new(), &mut out);
    out.iter().all(|x| x.is_finite()).then_some(out)
}
