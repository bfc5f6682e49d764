//! The operating point: states and implicit unknowns at which nothing
//! changes, 0 = f(x, z, u(0), p) and 0 = r(x, z, u(0), p).
//!
//! Combinations of states that nothing changes keep their initial values. An
//! integrator that nothing reads may go on growing. Among several steady
//! states the one nearest to the initial state is taken.

mod conserved;
mod flow;
mod newton;
mod nominal;
mod nonsmooth;
mod probes;
mod problem;
mod rounding;
mod search;
mod stiction;
mod variant;

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Node, Pool, Rational, Symbol};
use paynter_base::number::significant;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, Span, code};
use paynter_equations::{Equations, QueryError, State, bounded};
use paynter_graph::domain::Domain;
use paynter_graph::{BondGraph, Causality, Class, ElementId, Stored, Variable};

use crate::program::Tables;
use crate::tolerance::{
    BALANCED_WITHIN, FAINT_STATE, NEARBY, RUNAWAY_GROWTH, UNKNOWN_GUESSES, VANISHING_DIVISOR_SHARE,
    ZERO_ENTRY,
};
use conserved::{Combination, combinations};
pub use nominal::nominal_values;
pub use nonsmooth::{Nonsmooth, inaccurate_laws, nonsmooth_derivatives, nonsmooth_laws};
pub use probes::{Accuracy, Probes};
use problem::{Problem, evaluate, initial};
use search::search;
pub use variant::{Original, Variant, stuck, turned};

/// Domains in which storages hold something, that of a tank measured from its bottom.
const FILLED: [Domain; 5] =
    [Domain::Chemical, Domain::Concentration, Domain::Hydraulic, Domain::MassFlow, Domain::Thermal];
/// Domains in which they hold an amount of substance.
const COUNTED: [Domain; 2] = [Domain::Chemical, Domain::Concentration];

/// A steady state.
#[derive(Debug, Clone)]
pub struct OperatingPoint {
    /// The states.
    pub states: Vec<f64>,
    /// The implicit unknowns.
    pub unknowns: Vec<f64>,
    /// The inputs at time zero, each followed by its derivatives.
    pub inputs: Vec<Vec<f64>>,
    /// The outputs; undefined where their expressions are.
    pub outputs: Vec<f64>,
    /// The value of every symbol: parameters, states, unknowns, inputs, time.
    pub values: BTreeMap<Symbol, f64>,
    /// How large what makes up each of these values is; they are known to rounding errors of that.
    pub sizes: BTreeMap<Symbol, f64>,
    /// What there is to say about it: other steady states, states that go on growing, temperatures that no
    /// body can have.
    pub notes: Diagnostics,
}

/// A combination of states that keeps its value whatever happens.
#[derive(Debug, Clone, PartialEq)]
pub struct Conserved {
    /// States, by place, and their coefficients.
    pub parts: Vec<(usize, f64)>,
    /// Its value at the initial state, in SI.
    pub total: f64,
}

/// Finds the combinations of states that keep their values with the inputs at time zero, of linear and nonlinear
/// models alike.
pub fn conserved_quantities(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    tables: &Tables,
    token: &CancellationToken,
) -> Result<Vec<Conserved>, QueryError> {
    let problem = Problem::new(pool, graph, equations, tables)?;
    let mut start = initial(pool, graph, equations, &problem.known)?;
    start.resize(problem.sought.len(), UNKNOWN_GUESSES[1]);
    let mut active = vec![true; equations.states.len()];
    active.resize(problem.sought.len(), true);
    let found = combinations(&problem, &start, &active, token)?.into_iter().filter(|c| c.rate == 0.0);
    let conserved = found.map(|combination| {
        let (total, _) = combination.total(&start);
        Conserved { parts: combination.parts, total }
    });
    Ok(conserved.collect())
}

/// Finds the steady state of a model with its inputs at time zero.
pub fn operating_point(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    tables: &Tables,
    token: &CancellationToken,
) -> Result<OperatingPoint, QueryError> {
    let problem = Problem::new(pool, graph, equations, tables)?;
    let states = initial(pool, graph, equations, &problem.known)?;
    let mut start = states;
    start.resize(problem.sought.len(), UNKNOWN_GUESSES[1]);
    let mut active = equations.resting(pool);
    active.resize(problem.sought.len(), true);
    let (kept, drifting): (Vec<Combination>, Vec<Combination>) =
        combinations(&problem, &start, &active, token)?
            .into_iter()
            .partition(|combination| combination.rate == 0.0);
    // What runs away here may meet a valve that opens, unless the model is the same everywhere.
    if let Some(combination) = drifting.first().filter(|_| problem.linear) {
        return Err(wrong(runaway(graph, equations, combination)));
    }
    let mut found = search(&problem, &start[..problem.states], &active, &kept, token)?;
    let stopped = |w: &Vec<f64>| {
        let rates = problem.residual(w).unwrap_or_default();
        let rate = |c: &Combination| c.parts.iter().map(|(i, c)| c * rates[*i]).sum::<f64>();
        drifting.iter().all(|c| rates.is_empty() || rate(c).abs() <= BALANCED_WITHIN * c.rate.abs())
    };
    let decided = |_: &Vec<f64>| !(found.undecided && drifting.is_empty());
    let Some(point) = found.point.take().filter(stopped).filter(decided) else {
        if let Some(combination) = drifting.first() {
            return Err(wrong(runaway(graph, equations, combination)));
        }
        if found.undecided {
            let message = "no operating point was found: steady states lie side by side, and the motion from the initial state, which chooses between them, does not come to rest";
            return Err(wrong(Diagnostic::new(code::NO_OPERATING_POINT, message).help(
                "let something damp it, or give initial states at which the model is at rest: `init NAME.q = …`",
            )));
        }
        return Err(wrong(nowhere(graph, equations, &problem, &active, &start, &found.end)));
    };
    let mut notes = Diagnostics::new();
    let others = found.others.into_iter().filter(|w| !divides_by_zero(pool, equations, &problem, w));
    let mut others: Vec<Vec<f64>> = others.collect();
    // Where nothing moved from the beginning it is a rest, whatever the equations divide by.
    let doubted = |w: &[f64]| w[..problem.states] != start[..problem.states];
    let point =
        match others.is_empty() || !doubted(&point) || !divides_by_zero(pool, equations, &problem, &point) {
            true => point,
            false => others.remove(0),
        };
    let (point, is_nearest) = prefer_possible(graph, equations, &start, point, &mut others);
    // Initial states that were given near one of several choose it.
    if !others.is_empty() && (found.lead <= 3.0 || !is_nearest || !chosen(graph, pool)) {
        let why =
            if is_nearest { "the nearest to the initial state" } else { "in which no content is negative" };
        notes.push(several(equations, &point, &others, why));
    }
    drifting_states(graph, equations, &problem, &active, &point)
        .into_iter()
        .for_each(|note| notes.push(note));
    let point: Vec<f64> = point.iter().map(|x| x + 0.0).collect();
    let values = problem.all_values(&point);
    let mut sizes: BTreeMap<Symbol, f64> = values.iter().map(|(symbol, x)| (*symbol, x.abs())).collect();
    sizes.extend(problem.sought.iter().copied().zip(found.sizes));
    let outputs = equations
        .outputs
        .iter()
        // A sum with zero turns −0 into 0.
        .map(|output| evaluate(pool, output.value, &values, tables).map_or(f64::NAN, |y| y + 0.0))
        .collect::<Vec<f64>>();
    let outputs = without_rounding(pool, equations, (&values, &sizes), outputs);
    let of = |symbol: &Symbol| values.get(symbol).copied().unwrap_or(0.0);
    let inputs = equations.inputs.iter().map(|input| input.symbols.iter().map(of).collect()).collect();
    below_bounds(pool, graph, equations, &values).into_iter().for_each(|note| notes.push(note));
    negative_amounts(graph, equations, &start, &point).into_iter().for_each(|note| notes.push(note));
    let (states, unknowns) = point.split_at(problem.states);
    Ok(OperatingPoint {
        states: states.to_vec(),
        unknowns: unknowns.to_vec(),
        inputs,
        outputs,
        values,
        sizes,
        notes,
    })
}

/// Outputs of which only rounding of what makes them up is left are zero.
fn without_rounding(
    pool: &mut Pool,
    equations: &Equations,
    (values, sizes): (&BTreeMap<Symbol, f64>, &BTreeMap<Symbol, f64>),
    mut outputs: Vec<f64>,
) -> Vec<f64> {
    let known = |symbol: Symbol| values.get(&symbol).copied();
    for (output, value) in equations.outputs.iter().zip(&mut outputs).filter(|(_, value)| **value != 0.0) {
        let mut size = 0.0;
        for symbol in pool.symbols(output.value) {
            let derivative = pool.diff(output.value, symbol);
            let derivative = pool.eval(derivative, &known).unwrap_or(0.0);
            size += (derivative * sizes.get(&symbol).copied().unwrap_or(0.0)).abs();
        }
        if value.abs() <= ZERO_ENTRY * f64::EPSILON * size {
            *value = 0.0;
        }
    }
    outputs
}

/// The places of states that are the contents of storages which cannot be less than empty, in these domains.
fn contents<'a>(
    graph: &'a BondGraph,
    equations: &'a Equations,
    domains: &'a [Domain],
) -> impl Iterator<Item = usize> + 'a {
    let is_content = move |state: &State| match state.variable {
        Variable::State(id, port) => {
            let element = graph.element(id);
            let port = element.ports.get(port as usize);
            element.class() == Class::Storage(Stored::Displacement)
                && port.and_then(|port| port.domain).is_some_and(|domain| domains.contains(&domain))
        }
        _ => false,
    };
    let states = equations.states.iter().enumerate();
    states.filter(move |(_, state)| is_content(state)).map(|(place, _)| place)
}

/// The steady state to be taken, and whether it is the nearest: one in which contents that begin as amounts are
/// amounts goes before those in which they are less than nothing.
fn prefer_possible(
    graph: &BondGraph,
    equations: &Equations,
    start: &[f64],
    point: Vec<f64>,
    others: &mut [Vec<f64>],
) -> (Vec<f64>, bool) {
    let places: Vec<usize> =
        contents(graph, equations, &FILLED).filter(|place| start[*place] >= 0.0).collect();
    let is_possible = |w: &Vec<f64>| places.iter().all(|place| !is_negative(w, start, *place));
    if is_possible(&point) {
        return (point, true);
    }
    match others.iter().position(is_possible) {
        Some(place) => {
            let taken = std::mem::replace(&mut others[place], point);
            (taken, false)
        }
        None => (point, true),
    }
}

/// Whether a content is less than nothing by more than rounding of what there is.
fn is_negative(point: &[f64], start: &[f64], place: usize) -> bool {
    point[place] < -FAINT_STATE * start[place].abs() && point[place] < 0.0
}

/// Says which amounts of substance are less than nothing at a point.
fn negative_amounts(
    graph: &BondGraph,
    equations: &Equations,
    start: &[f64],
    point: &[f64],
) -> Vec<Diagnostic> {
    let negative = contents(graph, equations, &COUNTED).filter(|place| is_negative(point, start, *place));
    let tell = |place: usize| {
        let State { name, variable, .. } = &equations.states[place];
        let message = format!(
            "`{name}` is {} at the operating point: an amount cannot be less than nothing",
            significant(point[place])
        );
        let help = "give initial states nearer to the rest that is meant: `init NAME.q = …`";
        Diagnostic::new(code::NEGATIVE_AMOUNT, message).at(self::place(graph, *variable)).help(help)
    };
    negative.map(tell).collect()
}

/// States that still change at a point, where no other state depends on them.
fn drifting_states(
    graph: &BondGraph,
    equations: &Equations,
    problem: &Problem<'_>,
    active: &[bool],
    point: &[f64],
) -> Vec<Diagnostic> {
    let rates = problem.residual(point).unwrap_or_default();
    let left_out = equations.states.iter().enumerate().filter(|(i, _)| !active[*i]);
    let drifting = left_out.filter_map(|(i, state)| {
        let rate = rates.get(i).copied().filter(|rate| *rate != 0.0)?;
        let message = format!(
            "`{}` changes by {} every second; no other state depends on it, so that it is left out of the steady state",
            state.name,
            significant(rate)
        );
        Some(Diagnostic::new(code::DRIFTING_STATE, message).at(place(graph, state.variable)))
    });
    drifting.collect()
}

/// Amounts that are less than nothing at a point.
fn below_bounds(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    values: &BTreeMap<Symbol, f64>,
) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    for quantity in bounded(pool, graph, equations) {
        let value = pool.eval(quantity.value, &|symbol| values.get(&symbol).copied());
        if let Some(value) = value.ok().filter(|value| quantity.forbids(*value, 0.0, 0.0)) {
            list.push(quantity.below(pool, graph, "at the operating point", value));
        }
    }
    list
}

/// The elements that causality makes divide by something that vanishes at a point.
pub fn vanishing_divisors(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    point: &OperatingPoint,
) -> Vec<ElementId> {
    let value = |symbol: Symbol| point.values.get(&symbol).copied();
    let mut found = Vec::new();
    for id in &causality.divides {
        let Some(divisor) = causality.divisor(pool, graph, *id) else { continue };
        let varies = |symbol: &Symbol| graph.number(*symbol).is_none();
        let mut size = 0.0f64;
        for symbol in pool.symbols(divisor).into_iter().filter(varies) {
            let derivative = pool.diff(divisor, symbol);
            let (Ok(derivative), Some(x)) = (pool.eval(derivative, &value), value(symbol)) else { continue };
            size = size.max((derivative * x.abs().max(1.0)).abs());
        }
        if pool.eval(divisor, &value).is_ok_and(|now| now.abs() <= VANISHING_DIVISOR_SHARE * size) {
            found.push(*id);
        }
    }
    found
}

/// Whether the model gives initial states.
fn chosen(graph: &BondGraph, pool: &Pool) -> bool {
    graph.elements.iter().any(|element| !element.initial.is_empty())
        || graph.integrators.iter().any(|integrator| integrator.initial != pool.zero())
}

/// Where a state is declared.
fn place(graph: &BondGraph, variable: Variable) -> Span {
    match variable {
        Variable::Integrator(k) => graph.integrators[k as usize].span,
        Variable::State(id, _) => graph.element(id).span,
        _ => graph.elements.first().map_or_else(Span::default, |element| element.span),
    }
}

/// Says what runs away.
fn runaway(graph: &BondGraph, equations: &Equations, combination: &Combination) -> Diagnostic {
    let state = |i: usize| &equations.states[i];
    let Some(&(first, scale)) = combination.parts.first() else {
        return Diagnostic::new(code::RUNAWAY, "something runs away");
    };
    let rate = significant(combination.rate / scale);
    let element = |i: usize| match state(i).variable {
        Variable::State(id, _) => graph.element(id).name.clone(),
        _ => state(i).name.clone(),
    };
    let message = if combination.parts.len() == 1 {
        format!(
            "there is no steady state: `{}` runs away, because `{}` changes by {rate} every second and nothing balances it",
            element(first),
            state(first).name
        )
    } else {
        let names: Vec<String> =
            combination.parts.iter().take(6).map(|(i, _)| format!("`{}`", element(*i))).collect();
        let mut sum = String::new();
        for (i, c) in combination.parts.iter().take(6) {
            let c = c / scale;
            let sign = match (sum.is_empty(), c < 0.0) {
                (true, false) => "",
                (true, true) => "−",
                (false, false) => " + ",
                (false, true) => " − ",
            };
            let size = if c.abs() == 1.0 { String::new() } else { format!("{}*", significant(c.abs())) };
            sum.push_str(&format!("{sign}{size}{}", state(*i).name));
        }
        if combination.parts.len() > 6 {
            sum.push_str(" + …");
        }
        format!(
            "there is no steady state: {} run away together, because `{sum}` changes by {rate} every second and nothing balances it",
            names.join(", ")
        )
    };
    let mut diagnostic = Diagnostic::new(code::RUNAWAY, message).at(place(graph, state(first).variable));
    for (i, _) in combination.parts.iter().skip(1).take(5) {
        diagnostic = diagnostic.label(place(graph, state(*i).variable), "and this");
    }
    diagnostic
}

/// Says where the search ended without a steady state.
fn nowhere(
    graph: &BondGraph,
    equations: &Equations,
    problem: &Problem,
    active: &[bool],
    start: &[f64],
    end: &[f64],
) -> Diagnostic {
    if problem.residual(start).is_none() && problem.residual(end).is_none() {
        return Diagnostic::new(
            code::NO_OPERATING_POINT,
            "no operating point was found: a law has no value at the initial state",
        )
        .help("give initial states at which every law is defined: `init NAME.q = …`");
    }
    // What has grown most beside where it started is what runs away.
    let growth = |i: usize| {
        let size = if start[i] == 0.0 { 1.0 } else { start[i].abs() };
        end[i].abs() / size
    };
    let worst = (0..problem.states).filter(|&i| active[i]).max_by(|&a, &b| growth(a).total_cmp(&growth(b)));
    if let Some(i) = worst.filter(|&i| growth(i) > RUNAWAY_GROWTH) {
        let state = &equations.states[i];
        let message = format!("there is no steady state: `{}` grows without bound", state.name);
        return Diagnostic::new(code::RUNAWAY, message).at(place(graph, state.variable));
    }
    let rates = problem.residual(end).or_else(|| problem.residual(start)).unwrap_or_default();
    let moving = (0..problem.states.min(rates.len()))
        .filter(|&i| active[i])
        .max_by(|&a, &b| rates[a].abs().total_cmp(&rates[b].abs()));
    match moving {
        Some(i) => {
            let state = &equations.states[i];
            let message = format!(
                "no operating point was found: `{}` still changes by {} every second where the search ended",
                state.name,
                significant(rates[i])
            );
            Diagnostic::new(code::NO_OPERATING_POINT, message).at(place(graph, state.variable))
        }
        None => Diagnostic::new(code::NO_OPERATING_POINT, "no operating point was found"),
    }
}

/// Tells whether the equations divide at a point by what vanishes there beside its value nearby: what seems to
/// rest there is a quotient of roundings.
fn divides_by_zero(pool: &Pool, equations: &Equations, problem: &Problem, w: &[f64]) -> bool {
    let mut roots = equations.rates.clone();
    roots.extend(equations.constraints.iter().map(|constraint| constraint.residual));
    let is_divisor = |e: &Expr| match pool.node(*e) {
        Node::Power(base, exponent) => {
            let negative = pool.as_rational(exponent).is_some_and(|r| *r < Rational::ZERO);
            (negative && pool.as_rational(base).is_none()).then_some(base)
        }
        _ => None,
    };
    let divisors: Vec<Expr> = pool.reachable(&roots).iter().filter_map(is_divisor).collect();
    let near: Vec<f64> = w.iter().map(|x| if *x == 0.0 { NEARBY } else { x * (1.0 + NEARBY) }).collect();
    let (here, there) = (problem.all_values(w), problem.all_values(&near));
    let value = |e: Expr, at: &BTreeMap<Symbol, f64>| pool.eval(e, &|symbol| at.get(&symbol).copied()).ok();
    divisors.into_iter().any(|divisor| match (value(divisor, &here), value(divisor, &there)) {
        (Some(here), Some(there)) => here.abs() <= VANISHING_DIVISOR_SHARE * there.abs(),
        _ => true,
    })
}

/// Says which of several steady states was taken.
fn several(equations: &Equations, point: &[f64], others: &[Vec<f64>], why: &str) -> Diagnostic {
    let show = |w: &[f64]| {
        let parts: Vec<String> = equations
            .states
            .iter()
            .zip(w)
            .take(6)
            .map(|(state, value)| format!("{} = {}", state.name, significant(*value)))
            .collect();
        let more = if equations.states.len() > 6 { ", …" } else { "" };
        format!("({}{more})", parts.join(", "))
    };
    let list: Vec<String> = others.iter().take(4).map(|w| show(w)).collect();
    let more = if others.len() > 4 { " and more" } else { "" };
    let message = format!(
        "there are several operating points; of those found {}, {why}, is taken, and not {}{more}",
        show(point),
        list.join(", ")
    );
    Diagnostic::new(code::SEVERAL_OPERATING_POINTS, message)
}

/// A failure with one finding.
fn wrong(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}
