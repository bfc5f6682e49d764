//! Questions about structure: rank, controllability, observability, causal
//! paths, relative degree, zero dynamics, the signal-flow graph and the
//! junction structure; transfer functions by Mason's rule.

use crate::linear::Linear;
use crate::{Model, NoAnswer};
use paynter_algebra::poly::{Budget, readable};
use paynter_algebra::{Expr, Pool, Rational, Symbol};
use paynter_base::Ticket;
use paynter_equations as eq;
use paynter_equations::{Equations, StateSpace};
use paynter_export::{self as export, Notation};
use paynter_graph::{BondGraph, Causality, Variable};
use paynter_numerics::linalg;
use paynter_view::json;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What transfer functions may cost before zero dynamics are left out.
const BUDGET: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Models of more states than this have their zero dynamics left out.
const ZERO_STATES: usize = 40;

impl Model {
    /// Tells what the structure says; the junction structure matrix on request.
    pub fn structure(&mut self, junctions: bool, ticket: &Ticket) -> Result<json::Structure, NoAnswer> {
        let linear = match self.linear(ticket) {
            Ok(linear) => Some(linear),
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => None,
        };
        self.structure_near(linear, junctions, ticket)
    }

    /// The same with what is known: structure can also be told where there is no operating point.
    pub(crate) fn structure_near(
        &mut self,
        linear: Option<Linear>,
        junctions: bool,
        ticket: &Ticket,
    ) -> Result<json::Structure, NoAnswer> {
        let nominal_point = linear.is_some();
        let linear = match linear {
            Some(linear) => linear,
            None => self.slopes(ticket)?,
        };
        let (Some(graph), Some(causality)) = (&mut self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let pool = &mut self.pool;
        let nominal = nominal(pool, graph, &linear);
        let at = match (nominal_point, &linear.point) {
            (false, _) => json::JudgedAt::Nowhere,
            (true, Some(_)) => json::JudgedAt::Operating,
            (true, None) => json::JudgedAt::Nominal,
        };
        let flow = flow(pool, graph, causality, &linear, ticket)?;
        let operating_point = linear.named_point(pool);
        let Linear { equations, space, .. } = linear;
        let values = nominal_point.then_some(&nominal);
        let found = eq::structure(pool, &equations, &space, values, ticket).map_err(eq::Failure::from)?;
        let paths = eq::causal_paths(&flow, ticket).map_err(eq::Failure::from)?;
        let junction_structure = match junctions {
            true => {
                let found = eq::junction_structure(pool, graph, causality, ticket)?;
                Some(json::JunctionStructure::new(pool, graph, &found))
            }
            false => None,
        };
        let zero_dynamics = zero_dynamics(pool, &equations, &space, values, ticket)?;
        let reach = |verdict: &eq::Verdict, direction| {
            json::Reach::new(&equations, verdict, eigenvalues(verdict), direction, at)
        };
        Ok(json::Structure {
            ok: true,
            model: graph.name.clone(),
            states: equations.states.iter().map(|state| state.name.clone()).collect(),
            inputs: equations.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs: equations.outputs.iter().map(|output| output.name.clone()).collect(),
            order: equations.states.len(),
            rank: found.rank,
            controllable: found.controllability.structural,
            observable: found.observability.structural,
            controllability: reach(&found.controllability, json::Direction::Control),
            observability: reach(&found.observability, json::Direction::Observation),
            paths: json::CausalPath::list(graph, &flow, &paths),
            paths_left_out: paths.left_out,
            relative_degree: json::RelativeDegree::list(&equations, &found.degrees),
            zero_dynamics,
            signal_flow: json::SignalFlow::new(pool, graph, &flow),
            junction_structure,
            operating_point,
            written: None,
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
        })
    }

    /// Writes what the structure says in a notation: order, relative degrees, zero dynamics, and the
    /// junction structure where it was asked for.
    pub fn structure_formulas(
        &mut self,
        found: &json::Structure,
        notation: Notation,
        ticket: &Ticket,
    ) -> Result<String, NoAnswer> {
        let Linear { equations, space, .. } = match self.linear(ticket) {
            Ok(linear) => linear,
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => self.slopes(ticket)?,
        };
        let (Some(graph), Some(causality)) = (&mut self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let pool = &mut self.pool;
        let junctions = match found.junction_structure {
            Some(_) => Some(eq::junction_structure(pool, graph, causality, ticket)?),
            None => None,
        };
        let zeros = zero_polynomials(pool, &equations, &space, ticket)?.unwrap_or_default();
        let s = pool.symbol("s");
        Ok(export::structure(pool, &found.into(), &zeros, junctions.as_ref(), s, notation))
    }

    /// The slopes of a model without an operating point.
    fn slopes(&mut self, ticket: &Ticket) -> Result<Linear, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let mut space = equations.linearise(&mut self.pool, graph, None, ticket)?;
        space.make_readable(&mut self.pool, ticket);
        Ok(Linear::new(equations, space, None, BTreeMap::new()))
    }

    /// Tells the transfer matrix by Mason's rule, with forward paths and loops.
    pub fn transfer_by_mason(&mut self, terms: usize, ticket: &Ticket) -> Result<json::Transfer, NoAnswer> {
        let linear = self.linear(ticket)?;
        let (Some(graph), Some(causality)) = (&mut self.graph, &self.causality) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let pool = &mut self.pool;
        let flow = flow(pool, graph, causality, &linear, ticket)?;
        let budget = Budget::of_terms(terms);
        let found = eq::mason(pool, &flow, eq::LoopBudget::default(), budget, ticket)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let equations = &linear.equations;
        let answer = json::Transfer::new(pool, &graph.name, equations, &found.transfer, diagnostics);
        let mut answer = answer.with_mason(pool, graph, equations, &flow, &found);
        answer.operating_point = linear.named_point(pool);
        let wanted: Vec<(usize, usize)> =
            found.transfer.entries.iter().map(|e| (e.output, e.input)).collect();
        self.factor_entries(&linear, &mut answer, &wanted, ticket)?;
        Ok(answer)
    }
}

/// The signal-flow graph; of a nonlinear model with the choices as they are at its operating point.
fn flow(
    pool: &mut Pool,
    graph: &mut BondGraph,
    causality: &Causality,
    linear: &Linear,
    ticket: &Ticket,
) -> Result<eq::SignalFlow, NoAnswer> {
    let mut flow = eq::signal_flow(pool, graph, causality, &linear.equations, ticket)?;
    if linear.point.is_some() {
        let gains: Vec<Expr> = flow.edges.iter().map(|edge| edge.gain).collect();
        let mut gains = pool.decide_choices(&gains, &|symbol| linear.value(symbol));
        if let Some(time) = graph.variables.symbol(Variable::Time) {
            let start: FxHashMap<Symbol, Expr> = [(time, pool.zero())].into_iter().collect();
            gains = pool.substitute_all(&gains, &start);
        }
        for (edge, gain) in flow.edges.iter_mut().zip(gains) {
            edge.gain = readable(pool, gain, ticket);
        }
        let zero = pool.zero();
        flow.edges.retain(|edge| edge.gain != zero);
    }
    Ok(flow)
}

/// Exact values of parameters, and of all else at the operating point.
fn nominal(pool: &mut Pool, graph: &BondGraph, linear: &Linear) -> FxHashMap<Symbol, Expr> {
    let mut values: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for (symbol, value) in &linear.values {
        if let Ok(value) = Rational::try_from(*value) {
            values.insert(*symbol, pool.number(value));
        }
    }
    values.extend(graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.value)));
    values
}

/// The eigenvalues of what is out of reach at nominal values.
fn eigenvalues(verdict: &eq::Verdict) -> Vec<[f64; 2]> {
    let Some(nominal) = &verdict.nominal else { return Vec::new() };
    let n = nominal.dynamics.len();
    let entries =
        nominal.dynamics.iter().enumerate().flat_map(|(i, row)| {
            row.iter().enumerate().map(move |(j, value)| (i, j, value.to_f64().value()))
        });
    let matrix = linalg::Sparse { rows: n, columns: n, entries: entries.collect() };
    let found = if n == 0 { None } else { linalg::eigenvalues(&matrix) };
    found.unwrap_or_default().iter().map(|value| [value.re, value.im]).collect()
}

/// The polynomials of the zero dynamics of every entry, where they can be written out.
fn zero_polynomials(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    ticket: &Ticket,
) -> Result<Option<Vec<eq::ZeroDynamics>>, NoAnswer> {
    if equations.states.len() > ZERO_STATES {
        return Ok(None);
    }
    let transfer = eq::transfer(pool, equations, space, BUDGET, ticket)?;
    Ok(eq::zero_dynamics(pool, &transfer, BUDGET, ticket)?)
}

/// The zero dynamics of every entry with their zeros, where they can be written out.
fn zero_dynamics(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    nominal: Option<&FxHashMap<Symbol, Expr>>,
    ticket: &Ticket,
) -> Result<Option<Vec<json::ZeroDynamics>>, NoAnswer> {
    let Some(list) = zero_polynomials(pool, equations, space, ticket)? else { return Ok(None) };
    let mut out = Vec::with_capacity(list.len());
    for entry in list {
        let coefficients = nominal.and_then(|nominal| exact(pool, &entry.coefficients, nominal));
        let minimum_phase = coefficients.as_ref().filter(|list| !list.is_empty()).map(|c| eq::is_hurwitz(c));
        out.push(json::ZeroDynamics {
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            polynomial: pool.display(entry.polynomial).to_string(),
            zeros: match &coefficients {
                Some(list) => roots(list, ticket)?,
                None => Vec::new(),
            },
            minimum_phase,
        });
    }
    Ok(Some(out))
}

/// Coefficients by falling power at nominal values, without leading zeros; nothing where one is no
/// rational number.
fn exact(
    pool: &mut Pool,
    coefficients: &[(u32, Expr)],
    nominal: &FxHashMap<Symbol, Expr>,
) -> Option<Vec<Rational>> {
    let degree = coefficients.iter().map(|(power, _)| *power).max()?;
    let mut list = vec![Rational::ZERO; degree as usize + 1];
    for (power, value) in coefficients {
        let value = pool.substitute(*value, nominal);
        list[(degree - power) as usize] = pool.as_rational(value)?.clone();
    }
    let first = list.iter().position(|value| !value.is_zero()).unwrap_or(list.len());
    list.drain(..first);
    Some(list)
}

/// The roots of a polynomial, coefficients by falling power, as often as they occur.
fn roots(coefficients: &[Rational], ticket: &Ticket) -> Result<Vec<[f64; 2]>, NoAnswer> {
    if coefficients.len() < 2 {
        return Ok(Vec::new());
    }
    let mut scale = Rational::ONE;
    for coefficient in coefficients {
        let scaled = coefficient * &scale;
        scale *= Rational::from(scaled.denominator().clone());
    }
    let integers = coefficients.iter().rev().map(|c| (c * &scale).numerator().clone()).collect();
    let found = linalg::roots(&integers, ticket).map_err(eq::Failure::from)?.unwrap_or_default();
    let pair = |root: &linalg::Root| vec![[root.value.re, root.value.im]; root.multiplicity];
    Ok(found.iter().flat_map(pair).collect())
}
