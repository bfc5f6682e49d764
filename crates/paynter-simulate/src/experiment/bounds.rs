//! Quantities that cannot be below zero, over time.

use crate::Source;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::{Bounded, bounded};
use paynter_graph::Variable;
use paynter_numerics::Tables;
use paynter_numerics::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads the quantities of a model that have a bound over time.
#[derive(Debug)]
pub(super) struct Bounds {
    pub quantities: Vec<Bounded>,
    /// Over parameters, time and states.
    program: Program,
}

impl Bounds {
    /// Those of what is compiled that parameters, time and states alone determine.
    pub fn new(pool: &mut Pool, source: &Source<'_>) -> Option<Bounds> {
        let (graph, equations) = (source.graph, source.equations);
        let mut found = bounded(pool, graph, equations);
        if found.is_empty() {
            return None;
        }
        let signals = equations.inputs.iter().enumerate().filter_map(|(i, input)| {
            let measured = source.inputs.get(i).copied().flatten();
            Some((*input.symbols.first()?, measured.unwrap_or(input.value)))
        });
        let signals: FxHashMap<Symbol, Expr> = signals.collect();
        let mut arguments: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
        arguments.push(graph.variables.symbol(Variable::Time).unwrap_or_else(|| pool.symbol("t")));
        arguments.extend(equations.states.iter().map(|state| state.symbol));
        found.iter_mut().for_each(|quantity| quantity.value = pool.substitute(quantity.value, &signals));
        let known: FxHashSet<Symbol> = arguments.iter().copied().collect();
        found.retain(|quantity| pool.symbols(quantity.value).iter().all(|symbol| known.contains(symbol)));
        let values: Vec<Expr> = found.iter().map(|quantity| quantity.value).collect();
        let program = Program::compile(pool, &values, &arguments).ok()?;
        Some(Bounds { quantities: found, program })
    }

    /// The quantities at a time and state.
    pub fn read(&self, parameters: &[f64], tables: &Tables, t: f64, states: &[f64]) -> Vec<f64> {
        let arguments = [parameters, &[t], states].concat();
        let mut values = vec![0.0; self.quantities.len()];
        self.program.run_with(&arguments, tables, &mut Vec::new(), &mut values);
        values
    }
}
