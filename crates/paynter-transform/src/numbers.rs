//! A derived graph with numbers in place of parameters.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use crate::incremental::all_expressions;

/// Puts the values of some parameters into all expressions of a graph and takes them from its list.
pub fn in_numbers(pool: &mut Pool, graph: &mut BondGraph, is_replaced: &dyn Fn(Symbol) -> bool) {
    let replaced = graph.parameters.iter().filter(|parameter| is_replaced(parameter.symbol));
    let values: FxHashMap<Symbol, f64> = replaced.map(|p| (p.symbol, p.number)).collect();
    let roots = all_expressions(graph);
    let numbers = pool.in_numbers(&roots, &|symbol| values.get(&symbol).copied());
    let known: FxHashMap<Expr, Expr> = roots.into_iter().zip(numbers).collect();
    let mut change = |e: Expr| known.get(&e).copied().unwrap_or(e);
    for element in graph.elements.iter_mut() {
        element.law.rewrite(&mut change);
        element.initial.iter_mut().for_each(|(_, value, _)| *value = change(*value));
    }
    graph.inputs.iter_mut().for_each(|input| input.value = change(input.value));
    graph.signals.iter_mut().for_each(|signal| signal.value = change(signal.value));
    graph.outputs.iter_mut().for_each(|output| output.value = change(output.value));
    for integrator in graph.integrators.iter_mut() {
        (integrator.rate, integrator.initial) = (change(integrator.rate), change(integrator.initial));
    }
    graph.parameters.retain(|parameter| !values.contains_key(&parameter.symbol));
    for (k, parameter) in graph.parameters.iter().enumerate() {
        graph.variables.insert(Variable::Parameter(k as u32), parameter.symbol);
    }
}
