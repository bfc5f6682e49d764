//! Temperatures that no body can have: which elements have one, and whether
//! it is below absolute zero.

use crate::sensitivity_response::short;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, code};
use paynter_equations::Equations;
use paynter_graph::domain::Domain;
use paynter_graph::{BondGraph, ElementId, Kind, Port, Variable};
use paynter_numerics::Tables;
use paynter_numerics::program::Program;
use paynter_simulate::Source;
use rustc_hash::{FxHashMap, FxHashSet};

/// With entropy flow temperatures are absolute; what rounding leaves below zero is zero.
const ABSOLUTE: f64 = -1e-6;
/// With heat flow they may count from elsewhere; no body is below this on the scale of Celsius either.
const CELSIUS: f64 = -273.15;

/// A temperature that an element has or imposes, and what it cannot fall below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temperature {
    element: ElementId,
    pub value: Expr,
    least: f64,
}

/// The temperatures of a model. The effort of a resistor is none, but a difference of two.
pub(crate) fn temperatures(graph: &BondGraph, equations: &Equations) -> Vec<Temperature> {
    let efforts = equations.assignments.iter().filter_map(|assignment| match assignment.variable {
        Variable::Effort(bond) => Some((bond, assignment.value)),
        _ => None,
    });
    let efforts: FxHashMap<_, Expr> = efforts.collect();
    let bodies = graph.element_ids().filter(|id| matches!(graph.element(*id).kind, Kind::C | Kind::Se));
    let ports = bodies.flat_map(|id| graph.element(id).ports.iter().map(move |port| (id, port)));
    let temperature = |(element, port): (ElementId, &Port)| {
        let least = match port.domain? {
            Domain::Thermal => ABSOLUTE,
            Domain::Heat => CELSIUS,
            _ => return None,
        };
        Some(Temperature { element, value: *efforts.get(&port.bond)?, least })
    };
    ports.filter_map(temperature).collect()
}

impl Temperature {
    /// Whether no body is as cold as that.
    pub fn forbids(&self, value: f64) -> bool {
        value < self.least
    }

    /// Says that a temperature is below what it can be.
    pub fn too_cold(&self, graph: &BondGraph, when: &str, value: f64) -> Diagnostic {
        let element = graph.element(self.element);
        let (name, value) = (&element.name, short(value));
        let message = format!("{when} the temperature of `{name}` is {value} K, below absolute zero");
        Diagnostic::new(code::BELOW_ABSOLUTE_ZERO, message).at(element.span)
    }
}

/// Reads the temperatures of a model over time.
#[derive(Debug)]
pub(crate) struct Thermometer {
    pub temperatures: Vec<Temperature>,
    /// Over parameters, time and states.
    program: Program,
}

impl Thermometer {
    /// Those of what is compiled that parameters, time and states alone determine.
    pub fn new(pool: &mut Pool, source: &Source<'_>) -> Option<Thermometer> {
        let (graph, equations) = (source.graph, source.equations);
        let mut found = temperatures(graph, equations);
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
        found
            .iter_mut()
            .for_each(|temperature| temperature.value = pool.substitute(temperature.value, &signals));
        let known: FxHashSet<Symbol> = arguments.iter().copied().collect();
        found.retain(|temperature| {
            pool.symbols(temperature.value).iter().all(|symbol| known.contains(symbol))
        });
        let values: Vec<Expr> = found.iter().map(|temperature| temperature.value).collect();
        let program = Program::compile(pool, &values, &arguments).ok()?;
        Some(Thermometer { temperatures: found, program })
    }

    /// The temperatures at a time and state.
    pub fn read(&self, parameters: &[f64], tables: &Tables, t: f64, states: &[f64]) -> Vec<f64> {
        let arguments = [parameters, &[t], states].concat();
        let mut values = vec![0.0; self.temperatures.len()];
        self.program.run_with(&arguments, tables, &mut Vec::new(), &mut values);
        values
    }
}
