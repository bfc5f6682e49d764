//! The sensitivities of a steady state: how states, implicit unknowns and outputs move with the parameters, at
//! the conserved totals that the initial state fixes.

use paynter_algebra::Pool;
use paynter_base::{Diagnostic, Remedy, code};
use paynter_equations::{Equations, QueryError};
use paynter_graph::BondGraph;
use rustc_hash::FxHashMap;

use super::Moved;
use super::moves::is_seen;
use super::shift::{Steady, Unmoved};
use crate::linear::refused;
use crate::operating::OperatingPoint;
use crate::verified::{check_steady_moves, places_to_check};
use paynter_verify::Check;

/// The derivatives of a steady state by parameters.
#[derive(Debug, Clone)]
pub struct SteadySensitivity {
    /// The parameters, by place among all.
    pub parameters: Vec<usize>,
    /// By parameter: the derivatives of the states; zero of those that do not rest.
    pub states: Vec<Vec<f64>>,
    /// By parameter: the derivatives of the implicit unknowns.
    pub unknowns: Vec<Vec<f64>>,
    /// By parameter: the derivatives of the outputs; not a number where a law has none.
    pub outputs: Vec<Vec<f64>>,
    /// How all that moves with some of the parameters does, by which the answer is checked.
    pub(crate) some_moves: Vec<(usize, Moved)>,
}

impl SteadySensitivity {
    /// Checks it in the graph's own equations; one that contradicts them is refused.
    pub fn check(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        point: &OperatingPoint,
    ) -> Result<Vec<Check>, QueryError> {
        check_steady_moves(pool, graph, equations, point, &self.some_moves)
    }
}

/// Finds how a steady state moves with some parameters, given by place.
pub fn steady_sensitivity(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    point: &OperatingPoint,
    parameters: &[usize],
) -> Result<SteadySensitivity, QueryError> {
    let refuse = |message: String| refused(Diagnostic::new(code::NO_OPERATING_POINT, message));
    let symbols: Vec<_> = parameters.iter().map(|k| graph.parameters[*k].symbol).collect();
    let steady = Steady::new(pool, graph, equations, &symbols, &point.values)
        .map_err(|error| refuse(error.to_string()))?;
    let numbers: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
    let shifts = steady.shift(&numbers).map_err(|why| match why {
        Unmoved::Undetermined => refuse(
            "the equations leave the operating point undetermined, so that it has no derivatives".to_owned(),
        ),
        Unmoved::ByMotion(list) => refused(by_motion(graph, &at(parameters, &list), AT_REST)),
        Unmoved::NoRest(list) => refused(no_rest(graph, &at(parameters, &list), ASK_OTHERS)),
    })?;
    let mut found = SteadySensitivity {
        parameters: parameters.to_vec(),
        states: Vec::new(),
        unknowns: Vec::new(),
        outputs: Vec::new(),
        some_moves: Vec::new(),
    };
    let checked = places_to_check(parameters.len());
    let mut derivatives = FxHashMap::default();
    for (k, ((symbol, mut moved), place)) in symbols.into_iter().zip(shifts).zip(parameters).enumerate() {
        moved.retain(|symbol, derivative| {
            let size = point.sizes.get(symbol).copied().unwrap_or(0.0);
            is_seen(*derivative, numbers[*place].abs(), size)
        });
        let of = |moved: &FxHashMap<_, f64>, symbol| moved.get(&symbol).copied().unwrap_or(0.0);
        found.states.push(equations.states.iter().map(|state| of(&moved, state.symbol)).collect());
        found.unknowns.push(equations.constraints.iter().map(|c| of(&moved, c.unknown)).collect());
        moved.insert(symbol, 1.0);
        if checked.contains(&k) {
            let mut moved: Moved = moved.iter().map(|(symbol, derivative)| (*symbol, *derivative)).collect();
            moved.sort_by_key(|(symbol, _)| *symbol);
            found.some_moves.push((*place, moved));
        }
        let outputs = equations.outputs.iter().map(|output| {
            let read = pool.symbols(output.value);
            let mut sum = 0.0;
            for symbol in read.into_iter().filter(|symbol| moved.contains_key(symbol)) {
                let derivative = *derivatives
                    .entry((output.value, symbol))
                    .or_insert_with(|| pool.diff(output.value, symbol));
                let value = pool.eval(derivative, &|symbol| point.values.get(&symbol).copied());
                sum += value.unwrap_or(f64::NAN) * moved[&symbol];
            }
            sum
        });
        found.outputs.push(outputs.collect());
    }
    Ok(found)
}

/// What one may do where only the motion tells which rest is reached.
const AT_REST: &str = "ask for other parameters, let the model begin at the rest itself (`init NAME.q = …`), or follow the motion by {ask simulate sensitivity=all}";

/// The same where nothing rests.
const ASK_OTHERS: &str = "ask for other parameters";

/// The parameters at these places of a list.
pub(super) fn at(parameters: &[usize], places: &[usize]) -> Vec<usize> {
    places.iter().map(|k| parameters[*k]).collect()
}

fn names(graph: &BondGraph, parameters: &[usize]) -> String {
    let names: Vec<String> =
        parameters.iter().map(|k| format!("`{}`", graph.parameters[*k].declaration.name)).collect();
    names.join(", ")
}

/// Says by which parameters, given by place, the rest that a motion leads to has no derivatives that are known.
pub(super) fn by_motion(graph: &BondGraph, parameters: &[usize], help: &'static str) -> Diagnostic {
    let message = format!(
        "rests lie side by side, and no sum of states tells which of them is reached: how it moves with {} only the whole motion knows",
        names(graph, parameters)
    );
    Diagnostic::new(code::NO_OPERATING_POINT, message).help(Remedy::marked(help))
}

/// Says with a change of which parameters, given by place, nothing rests beside an operating point.
pub(super) fn no_rest(graph: &BondGraph, parameters: &[usize], help: &'static str) -> Diagnostic {
    let message = format!(
        "nothing rests beside the operating point with a change of {}: what is conserved at the nominal values is so no more",
        names(graph, parameters)
    );
    Diagnostic::new(code::NO_OPERATING_POINT, message).help(Remedy::marked(help))
}
