//! A derived graph with numbers in the place of the original's parameters.

use paynter_algebra::{Expr, Pool, Symbol, decimal};
use paynter_graph::{BondGraph, Value, Variable};
use rustc_hash::FxHashMap;

/// Puts numbers for the parameters that a derived graph has in common with its original. What is its own, such as
/// changes and nominal variables, stays.
pub fn in_numbers(pool: &mut Pool, graph: &mut BondGraph, original: &BondGraph) {
    let mut numbers: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for parameter in original.parameters.iter() {
        if let Some(value) = decimal(&format!("{:e}", parameter.number)) {
            numbers.insert(parameter.symbol, pool.number(value));
        }
    }
    let mut put = |e: &mut Expr| *e = pool.substitute(*e, &numbers);
    for element in graph.elements.iter_mut() {
        element.law.rewrite(&mut |mut e| {
            put(&mut e);
            e
        });
        element.initial.iter_mut().for_each(|(_, value, _)| put(value));
    }
    graph.inputs.iter_mut().for_each(|input| put(&mut input.value));
    graph.signals.iter_mut().for_each(|signal| put(&mut signal.value));
    for integrator in graph.integrators.iter_mut() {
        put(&mut integrator.rate);
        put(&mut integrator.initial);
    }
    graph.outputs.iter_mut().for_each(|output| put(&mut output.value));
    graph.parameters.retain(|parameter| !numbers.contains_key(&parameter.symbol));
    for place in 0..graph.parameters.len() {
        if let Value::Written(value) = &mut graph.parameters[place].value {
            put(value);
        }
        let symbol = graph.parameters[place].symbol;
        graph.variables.insert(Variable::Parameter(place as u32), symbol);
    }
}
