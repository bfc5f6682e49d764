//! Where a model begins: its variables at time zero, over parameters.

use crate::{Model, NoAnswer};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::Ticket;
use paynter_equations::{Equations, Failure};
use paynter_graph::{BondGraph, Variable};
use paynter_numerics::operating_point;
use paynter_numerics::program::Hold;
use paynter_transform::Start;
use rustc_hash::FxHashMap;

impl Model {
    /// The variables at time zero with inputs at their defaults. What only an implicit law or a table
    /// tells is a number; what nothing tells is left out.
    pub(crate) fn start(&mut self, ticket: &Ticket) -> Result<Start, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let Some(graph) = self.graph.clone() else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let (mut known, mut open) = known_at_start(&mut self.pool, &graph, &equations);
        open.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
        if !open.is_empty() {
            let values = self.solved_start(&equations, &known, ticket)?;
            for symbol in open {
                let value = values.get(&symbol).and_then(|value| self.pool.decimal(&format!("{value:e}")));
                known.extend(value.map(|value| (symbol, value)));
            }
        }
        let (variables, values): (Vec<Variable>, Vec<Expr>) = equations
            .dependent
            .iter()
            .map(|dependent| (Variable::State(dependent.element, dependent.port as u32), dependent.value))
            .chain(equations.assignments.iter().map(|assignment| (assignment.variable, assignment.value)))
            .unzip();
        let values = self.pool.substitute_all(&values, &known);
        let states = equations.states.iter().map(|state| (state.variable, state.initial)).collect();
        Ok(Start { states, others: variables.into_iter().zip(values).collect() })
    }

    /// Numbers for inputs and implicit unknowns with the states held where they begin: the steady state of
    /// a model that has no others.
    fn solved_start(
        &mut self,
        equations: &Equations,
        known: &FxHashMap<Symbol, Expr>,
        ticket: &Ticket,
    ) -> Result<std::collections::BTreeMap<Symbol, f64>, NoAnswer> {
        let tables = self.tables(Hold::Linear).unwrap_or_default();
        let mut held = Equations {
            states: Vec::new(),
            rates: Vec::new(),
            outputs: Vec::new(),
            dependent: Vec::new(),
            assignments: Vec::new(),
            reduction: None,
            constraints: equations.constraints.clone(),
            inputs: equations.inputs.clone(),
        };
        for constraint in &mut held.constraints {
            constraint.residual = self.pool.substitute(constraint.residual, known);
        }
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        match operating_point(&mut self.pool, graph, &held, &tables, ticket) {
            Ok(point) => Ok(point.values),
            Err(Failure::Wrong(_)) => Ok(Default::default()),
            Err(Failure::Cancelled) => Err(NoAnswer::Cancelled),
        }
    }
}

/// Time, states and inputs with their derivatives at time zero, over parameters; and the symbols of inputs
/// that only numbers tell.
pub(crate) fn known_at_start(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
) -> (FxHashMap<Symbol, Expr>, Vec<Symbol>) {
    let zero = pool.zero();
    let time = graph.variables.symbol(Variable::Time);
    let begin: FxHashMap<Symbol, Expr> = time.into_iter().map(|time| (time, zero)).collect();
    let number = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let mut known = begin.clone();
    known.extend(equations.states.iter().map(|state| (state.symbol, state.initial)));
    let mut open = Vec::new();
    for input in &equations.inputs {
        let mut value = input.value;
        for symbol in &input.symbols {
            let there = pool.substitute(value, &begin);
            if pool.eval(there, &number).is_ok() {
                known.insert(*symbol, there);
            } else {
                open.push(*symbol);
            }
            value = time.map_or(zero, |time| pool.diff(value, time));
        }
    }
    (known, open)
}
