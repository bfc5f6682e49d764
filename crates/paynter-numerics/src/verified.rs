//! Answers in numbers, put into the graph's own equations before they are given: operating points, poles,
//! frequency responses and their sensitivities. One that contradicts them is refused.

use crate::linear::refused;
use crate::parametric::ResponseSensitivity;
use crate::program::Program;
use crate::response::FrequencyResponse;
use crate::sensitivity::FrequencySensitivity;
use crate::tolerance::SMALL_CHANGE;
use crate::{LinearModel, OperatingPoint, Tables};
use num_complex::Complex64;
use paynter_algebra::{Pool, Symbol};
use paynter_base::random::Random;
use paynter_base::{Diagnostics, QueryError};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable};
use paynter_verify::{Acausal, Check, Contradiction, Given, Pencil, Point, Responses, a_few};

/// Models with more variables than this are not checked: it would cost more than their answers.
const CHECKED_VARIABLES: usize = 100_000;

/// So many poles are checked at least and at most, and together with the states no more than this, so that it takes
/// a small part of finding them.
const CHECKED_POLES: [usize; 2] = [2, 8];
const CHECKED_POLES_OF_STATES: usize = 160;

/// The response is checked with its derivatives by so many parameters.
const CHECKED_PARAMETERS: usize = 4;

/// What a check says: an answer that contradicts the graph is refused.
fn agreed<T>(found: Result<T, Contradiction>) -> Result<T, QueryError> {
    found.map_err(|contradiction| refused(contradiction.diagnostic()))
}

/// A linear model with the graph and the equations that it was made of.
#[derive(Debug, Clone, Copy)]
pub struct Linearised<'a> {
    /// The graph.
    pub graph: &'a BondGraph,
    /// The equations, linear or not.
    pub equations: &'a Equations,
    /// The linear model.
    pub linear: &'a LinearModel,
}

/// The values of all variables where symbols have those of a steady state; nothing where one has none.
fn point(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    steady: &OperatingPoint,
) -> Option<Point> {
    let values = &steady.values;
    let variables = equations.variable_values(pool, graph, &graph.all_variables())?;
    let (symbols, numbers): (Vec<Symbol>, Vec<f64>) = values.iter().unzip();
    let program = Program::compile(pool, &variables, &symbols).ok()?;
    let mut found = vec![0.0; variables.len()];
    let mut work = Vec::new();
    program.run_with(&numbers, &Tables::default(), &mut work, &mut found);
    // What each variable is made of shows when all that it is made from changes a little.
    let mut random = Random::new(1);
    let size = |symbol: &Symbol, x: f64| steady.sizes.get(symbol).map_or(x.abs(), |size| size.max(x.abs()));
    let moved: Vec<f64> = values
        .iter()
        .map(|(symbol, x)| x + SMALL_CHANGE * size(symbol, *x) * (random.unit() - 0.5))
        .collect();
    let mut scales = vec![0.0; variables.len()];
    program.run_with(&moved, &Tables::default(), &mut work, &mut scales);
    scales.iter_mut().zip(&found).for_each(|(moved, found)| *moved = (*moved - found).abs() / SMALL_CHANGE);
    let inputs = graph.inputs.iter().map(|input| values.get(&input.symbol).copied().unwrap_or(0.0));
    let finite = found.iter().all(|value| value.is_finite());
    finite.then(|| Point {
        time: 0.0,
        parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
        inputs: inputs.collect(),
        variables: found,
        scales,
    })
}

/// Checks that a steady state is one.
pub fn check_steady_state(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    steady: &OperatingPoint,
) -> Result<Vec<Check>, QueryError> {
    let system = Acausal::new(pool, graph);
    let variables = graph.all_variables();
    if variables.len() > CHECKED_VARIABLES {
        return Ok(Vec::new());
    }
    let Some(point) = point(pool, graph, equations, steady) else { return Ok(Vec::new()) };
    let active = equations.resting(pool);
    let states = equations.states.iter().zip(&active);
    let drifting = states.filter(|(_, active)| !**active).map(|(state, _)| state.variable);
    // What only follows from states that drift drifts as well.
    let dependent = equations.dependent.iter();
    let dependent = dependent.map(|d| Variable::State(d.element, d.port as u32));
    let loose: Vec<Variable> = dependent.chain(drifting).collect();
    let places = variables.iter().enumerate().filter(|(_, variable)| loose.contains(variable));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let what = "the operating point";
    agreed(system.check_point(pool, what, &point, &steady.outputs, Some(&places)))
}

impl Linearised<'_> {
    /// Checks an answer about the linear model in the equations of small changes.
    fn check<T: Default>(
        &self,
        pool: &mut Pool,
        ask: impl FnOnce(&mut Pool, &Pencil<'_>) -> Result<T, Contradiction>,
    ) -> Result<T, QueryError> {
        let Linearised { graph, equations, linear } = *self;
        let system = Acausal::new(pool, graph);
        let width = graph.all_variables().len();
        if width > CHECKED_VARIABLES {
            return Ok(T::default());
        }
        let point = match &linear.point {
            Some(steady) => point(pool, graph, equations, steady),
            None => Some(Point {
                time: 0.0,
                parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
                inputs: vec![0.0; graph.inputs.len()],
                variables: vec![0.0; width],
                scales: vec![0.0; width],
            }),
        };
        let Some(point) = point else { return Ok(T::default()) };
        let Some(pencil) = Pencil::new(pool, &system, &point) else { return Ok(T::default()) };
        // A law that is not linear needs the point that it is linearised about.
        if linear.point.is_none() && !pencil.is_linear() {
            return Ok(T::default());
        }
        agreed(ask(pool, &pencil))
    }

    /// Checks some poles as numbers at which the graph's equations are singular.
    pub fn check_poles(&self, pool: &mut Pool, poles: &[Complex64]) -> Result<Vec<Check>, QueryError> {
        let fastest = poles.iter().fold(0.0f64, |most, pole| most.max(pole.norm()));
        let [least, most] = CHECKED_POLES;
        let count = (CHECKED_POLES_OF_STATES / poles.len().max(1)).clamp(least, most);
        let some = Acausal::some_poles(poles, count);
        self.check(pool, |_, pencil| pencil.check_poles("the pole", &some, fastest))
    }

    /// Checks a response, and calculates it anew where it has lost its digits.
    pub fn check_response(
        &self,
        pool: &mut Pool,
        found: &mut FrequencyResponse,
        findings: &mut Diagnostics,
    ) -> Result<Vec<Check>, QueryError> {
        let entry = |(place, value): (usize, &Complex64)| Given {
            output: found.outputs[place / found.inputs.len()],
            input: found.inputs[place % found.inputs.len()],
            parameter: None,
            value: *value,
        };
        let given = |at: usize| found.values[at].iter().enumerate().map(entry).collect();
        let responses = Responses { what: "the response", omega: &found.omega, given: &given, all: &given };
        let reconciled = self.check(pool, |pool, pencil| pencil.reconcile(pool, &responses))?;
        reconciled.note(findings);
        for (at, values) in reconciled.replaced {
            let values = found.values[at].iter_mut().zip(values);
            values.filter_map(|(old, new)| Some((old, new?))).for_each(|(old, new)| *old = new);
        }
        Ok(reconciled.checks)
    }

    /// Checks the response and its derivatives by some parameters, unless these leave a point behind that moves
    /// with them, and calculates both anew where they have lost their digits.
    pub fn check_sensitivities(
        &self,
        pool: &mut Pool,
        frozen: bool,
        found: &mut ResponseSensitivity,
        findings: &mut Diagnostics,
    ) -> Result<Vec<Check>, QueryError> {
        let FrequencySensitivity { outputs, inputs, .. } = found.sensitivities;
        let pairs: Vec<(usize, usize)> =
            (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect();
        let entries = |parameters: &[usize]| -> Vec<((usize, usize), Option<usize>)> {
            let own = pairs.iter().map(|pair| (*pair, None));
            own.chain(pairs.iter().flat_map(|pair| parameters.iter().map(|p| (*pair, Some(*p))))).collect()
        };
        let given = |entries: &[((usize, usize), Option<usize>)], at: usize| -> Vec<Given> {
            let entry = |((output, input), parameter): &((usize, usize), Option<usize>)| Given {
                output: *output,
                input: *input,
                parameter: parameter.map(|place| found.parameters[place]),
                value: match parameter {
                    None => found.sensitivities.transfer(*output, *input, at),
                    Some(place) => found.sensitivities.derivative(*output, *input, *place, at),
                },
            };
            entries.iter().map(entry).collect()
        };
        let count = if frozen && self.linear.point.is_some() { 0 } else { found.parameters.len() };
        let some = entries(&a_few(CHECKED_PARAMETERS, count));
        let all = entries(&(0..count).collect::<Vec<_>>());
        let what = "the response with its sensitivities";
        let responses = Responses {
            what,
            omega: &found.omega,
            given: &|at| given(&some, at),
            all: &|at| given(&all, at),
        };
        let reconciled = self.check(pool, |pool, pencil| pencil.reconcile(pool, &responses))?;
        reconciled.note(findings);
        if !reconciled.replaced.is_empty() {
            for (at, values) in reconciled.replaced {
                for ((pair, parameter), value) in all.iter().zip(values) {
                    if let Some(value) = value {
                        found.sensitivities.replace(*pair, *parameter, at, value);
                    }
                }
            }
            found.refresh();
        }
        Ok(reconciled.checks)
    }
}
