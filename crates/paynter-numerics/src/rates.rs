//! The rates of the states as a compiled function x' = f(t, x, u, p) with its
//! Jacobians, for solvers elsewhere. Unknowns that are given implicitly are
//! solved for by Newton's method.

use crate::linalg::elimination::Elimination;
use crate::newton::{Limits, System, Verdict, newton};
use crate::program::{CompileError, Program, Tables};
use crate::tolerance::{NEGLIGIBLE_PIVOT, RATE_DAMPING, RATE_ITERATIONS, RATE_UNKNOWNS};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable, flat_name};

/// How far the search for implicit unknowns goes.
const LIMITS: Limits = Limits { iterations: RATE_ITERATIONS, smallest_damping: RATE_DAMPING };

/// The rates of a model, compiled.
#[derive(Debug, Clone)]
pub struct RateFunction {
    /// The names of the states.
    pub states: Vec<String>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// The names of the independent parameters.
    pub parameters: Vec<String>,
    /// The values of the parameters, in SI.
    pub values: Vec<f64>,
    /// The initial values of the states.
    pub initial: Vec<f64>,
    tables: Tables,
    /// How many symbols each input has: its own, and those of its derivatives that the equations read.
    orders: Vec<usize>,
    unknowns: usize,
    /// Inputs with their derivatives over (t, p).
    signals: Program,
    /// Rates, outputs, residuals over (t, x, u, p, z).
    values_of: Program,
    /// Derivatives of rates and residuals by x, u, p and z, row by row.
    partials: Program,
}

/// By what the rates are differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The states.
    States,
    /// The inputs.
    Inputs,
    /// The parameters.
    Parameters,
}

/// Why the rates have no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateError {
    /// The rates read the derivative of an input, by place, of which only the value is given.
    Differentiated(usize),
    /// No values of the implicit unknowns were found.
    Unsolved,
}

impl RateFunction {
    /// Compiles the rates of equations.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        tables: Tables,
    ) -> Result<RateFunction, CompileError> {
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| pool.symbol("t"));
        let states: Vec<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
        let inputs: Vec<Symbol> =
            equations.inputs.iter().flat_map(|input| input.symbols.iter().copied()).collect();
        let parameters: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
        let unknowns: Vec<Symbol> = equations.constraints.iter().map(|c| c.unknown).collect();
        let values: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let mut signals: Vec<Expr> = Vec::new();
        for input in &equations.inputs {
            let mut value = input.value;
            for _ in &input.symbols {
                signals.push(value);
                value = pool.diff(value, time);
            }
        }
        let given = [&[time][..], &parameters].concat();
        let signals = Program::compile(pool, &signals, &given)?;
        let residuals: Vec<Expr> = equations.constraints.iter().map(|c| c.residual).collect();
        let outputs: Vec<Expr> = equations.outputs.iter().map(|output| output.value).collect();
        let all = [&[time][..], &states, &inputs, &parameters, &unknowns].concat();
        let roots = [&equations.rates[..], &outputs, &residuals].concat();
        let values_of = Program::compile(pool, &roots, &all)?;
        let mut partials = Vec::new();
        for root in equations.rates.iter().chain(&residuals) {
            partials.extend(all[1..].iter().map(|by| pool.diff(*root, *by)));
        }
        let partials = Program::compile(pool, &partials, &all)?;
        let mut made = RateFunction {
            states: equations.states.iter().map(|state| state.name.clone()).collect(),
            inputs: equations.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs: equations.outputs.iter().map(|output| output.name.clone()).collect(),
            parameters: graph.parameters.iter().map(|parameter| flat_name(&parameter.name)).collect(),
            values,
            initial: Vec::new(),
            tables,
            orders: equations.inputs.iter().map(|input| input.symbols.len()).collect(),
            unknowns: unknowns.len(),
            signals,
            values_of,
            partials,
        };
        let initial: Vec<Expr> = equations.states.iter().map(|state| state.initial).collect();
        let initial = Program::compile(pool, &initial, &[&given[..], &inputs].concat())?;
        let arguments = [&[0.0][..], &made.values, &made.signals_at(0.0, &made.values)].concat();
        let mut at_start = vec![0.0; made.states.len()];
        initial.run_with(&arguments, &made.tables, &mut Vec::new(), &mut at_start);
        made.initial = at_start;
        Ok(made)
    }

    /// The inputs and their derivatives as the model has them.
    fn signals_at(&self, t: f64, parameters: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.signals.results()];
        self.signals.run_with(&[&[t], parameters].concat(), &self.tables, &mut Vec::new(), &mut out);
        out
    }

    /// All arguments, with the implicit unknowns solved for.
    fn arguments(
        &self,
        t: f64,
        x: &[f64],
        u: Option<&[f64]>,
        p: Option<&[f64]>,
    ) -> Result<Vec<f64>, RateError> {
        let p = p.unwrap_or(&self.values);
        let inputs = match u {
            None => self.signals_at(t, p),
            Some(u) => match self.orders.iter().position(|orders| *orders > 1) {
                Some(differentiated) => return Err(RateError::Differentiated(differentiated)),
                None => u.to_vec(),
            },
        };
        let mut arguments = [&[t][..], x, &inputs, p].concat();
        if self.unknowns > 0 {
            let known = arguments.len();
            arguments.extend(std::iter::repeat_n(0.0, self.unknowns));
            let mut implicit = Implicit { function: self, arguments: &mut arguments, known, solver: None };
            // Unknowns are efforts and flows; where zero is no fit start, one may be.
            let start = [0.0, 1.0, -1.0].into_iter().find_map(|start| {
                let found =
                    newton(&mut implicit, &vec![start; self.unknowns], LIMITS, &CancellationToken::new());
                found.ok().flatten()
            });
            let start = start.ok_or(RateError::Unsolved)?;
            arguments[known..].copy_from_slice(&start);
        }
        Ok(arguments)
    }

    fn values_at(&self, arguments: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.values_of.results()];
        self.values_of.run_with(arguments, &self.tables, &mut Vec::new(), &mut out);
        out
    }

    /// x' = f(t, x, u, p); inputs and parameters are the model's where left out.
    pub fn rates(
        &self,
        t: f64,
        x: &[f64],
        u: Option<&[f64]>,
        p: Option<&[f64]>,
    ) -> Result<Vec<f64>, RateError> {
        let mut out = self.values_at(&self.arguments(t, x, u, p)?);
        out.truncate(self.states.len());
        Ok(out)
    }

    /// The outputs.
    pub fn outputs(
        &self,
        t: f64,
        x: &[f64],
        u: Option<&[f64]>,
        p: Option<&[f64]>,
    ) -> Result<Vec<f64>, RateError> {
        let out = self.values_at(&self.arguments(t, x, u, p)?);
        Ok(out[self.states.len()..][..self.outputs.len()].to_vec())
    }

    /// The derivatives of the rates, row by row. By parameters, inputs that follow the model are held.
    pub fn jacobian(
        &self,
        by: By,
        t: f64,
        x: &[f64],
        u: Option<&[f64]>,
        p: Option<&[f64]>,
    ) -> Result<Vec<Vec<f64>>, RateError> {
        let arguments = self.arguments(t, x, u, p)?;
        let rows = self.partials_at(&arguments);
        let (n, m) = (self.states.len(), self.orders.iter().sum::<usize>());
        let unknowns = n + m + self.values.len();
        let columns: Vec<usize> = match by {
            By::States => (0..n).collect(),
            By::Inputs => {
                self.orders.iter().scan(n, |at, orders| Some(std::mem::replace(at, *at + orders))).collect()
            }
            By::Parameters => (n + m..unknowns).collect(),
        };
        let mut made: Vec<Vec<f64>> =
            rows[..n].iter().map(|row| columns.iter().map(|column| row[*column]).collect()).collect();
        if self.unknowns > 0 {
            // 0 = r(x, z) moves z by −r_z⁻¹ r_x.
            let solver = Elimination::new(&self.by_unknowns(&rows), self.unknowns, NEGLIGIBLE_PIVOT);
            if solver.rank() < self.unknowns {
                return Err(RateError::Unsolved);
            }
            for (place, column) in columns.iter().enumerate() {
                let right: Vec<f64> = rows[n..].iter().map(|row| -row[*column]).collect();
                let moved = solver.solve(&right);
                for (row, entries) in rows[..n].iter().zip(&mut made) {
                    entries[place] += row[unknowns..].iter().zip(&moved).map(|(f, z)| f * z).sum::<f64>();
                }
            }
        }
        Ok(made)
    }

    fn partials_at(&self, arguments: &[f64]) -> Vec<Vec<f64>> {
        let mut out = vec![0.0; self.partials.results()];
        self.partials.run_with(arguments, &self.tables, &mut Vec::new(), &mut out);
        out.chunks((arguments.len() - 1).max(1)).map(<[f64]>::to_vec).collect()
    }

    /// The derivatives of residuals by unknowns, as sparse rows.
    fn by_unknowns(&self, rows: &[Vec<f64>]) -> Vec<Vec<(usize, f64)>> {
        let own = |row: &Vec<f64>| {
            let entries = row[row.len() - self.unknowns..].iter().copied().enumerate();
            entries.filter(|(_, entry)| *entry != 0.0).collect()
        };
        rows[self.states.len()..].iter().map(own).collect()
    }
}

/// The residuals as a system of equations for the unknowns.
struct Implicit<'a> {
    function: &'a RateFunction,
    arguments: &'a mut Vec<f64>,
    known: usize,
    solver: Option<Elimination>,
}

impl System for Implicit<'_> {
    fn residual(&mut self, z: &[f64]) -> Option<Vec<f64>> {
        self.arguments[self.known..].copy_from_slice(z);
        let values = self.function.values_at(self.arguments);
        let found = values[values.len() - z.len()..].to_vec();
        found.iter().all(|r| r.is_finite()).then_some(found)
    }

    fn correction(&mut self, z: &[f64], residual: &[f64]) -> Option<Vec<f64>> {
        self.arguments[self.known..].copy_from_slice(z);
        let rows = self.function.by_unknowns(&self.function.partials_at(self.arguments));
        if rows.iter().flatten().any(|(_, entry)| !entry.is_finite()) {
            return None;
        }
        let solver = Elimination::new(&rows, z.len(), NEGLIGIBLE_PIVOT);
        if solver.rank() < z.len() {
            return None;
        }
        self.solver = Some(solver);
        Some(self.simplified_correction(residual))
    }

    fn simplified_correction(&mut self, residual: &[f64]) -> Vec<f64> {
        let right: Vec<f64> = residual.iter().map(|r| -r).collect();
        self.solver.as_ref().map_or_else(|| vec![0.0; residual.len()], |solver| solver.solve(&right))
    }

    fn length(&self, correction: &[f64]) -> f64 {
        correction.iter().map(|d| d * d).sum::<f64>().sqrt()
    }

    fn judge(&mut self, z: &[f64], _: &[f64], correction: &[f64]) -> Verdict {
        let size = self.length(z);
        match self.length(correction) <= RATE_UNKNOWNS * size {
            true => Verdict::SolvedAfterCorrection,
            false => Verdict::Continue,
        }
    }

    fn accepts(&mut self, z: &[f64], residual: &[f64]) -> bool {
        let correction = self.simplified_correction(residual);
        self.length(&correction) <= RATE_UNKNOWNS.sqrt() * self.length(z)
    }
}
