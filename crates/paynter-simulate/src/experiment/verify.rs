//! A second opinion on a run: another method at a tenth of the tolerance, the laws of what switches, and the
//! power at every junction.

use super::compile::Draft;
use super::{Response, SimulateOptions, Subject, question, refused};
use crate::tolerance::{
    FINEST_TOLERANCE, SECOND_OPINION_SHARE, VERIFIED_DEVIATION, VERIFIED_JUNCTION, VERIFIED_LAWS,
    VERIFIED_WIDTH,
};
use crate::{Compiled, Failure, Method, Outcome, Source, simulate};
use paynter_algebra::{Expr, Interval, Pool, Symbol};
use paynter_base::number::{moment, rough};
use paynter_base::{CancellationToken, Diagnostic, code};
use paynter_equations::{QueryError, law_residuals};
use paynter_graph::{BondGraph, Class, ElementId, Power, Variable};
use rustc_hash::FxHashMap;

/// The largest of some deviations, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    /// The output, junction or element.
    pub name: String,
    /// When.
    pub t: f64,
    /// How large it is: of an output beside its largest value, of a junction beside the largest effort or
    /// flow there, of a law beyond what it allows.
    pub size: f64,
}

/// What a second opinion says.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The solver that was asked.
    pub solver: &'static str,
    /// Its relative tolerance.
    pub rtol: f64,
    /// The largest difference of an output between both runs.
    pub difference: Option<Deviation>,
    /// That difference in units of the tolerance of the first run.
    pub tolerances: f64,
    /// The number of events in both runs.
    pub events: [u64; 2],
    /// The junction that balances worst.
    pub junction: Option<Deviation>,
    /// The law that is met worst: a friction above its limit, a diode that conducts backwards.
    pub law: Option<Deviation>,
    /// When the second run ended, if it could not go on.
    pub ended_early: Option<f64>,
}

impl Verification {
    /// Whether the second opinion agrees with the first.
    pub fn agrees(&self) -> bool {
        self.ended_early.is_none()
            && self.tolerances <= VERIFIED_DEVIATION
            && self.events[0] == self.events[1]
            && self.law.as_ref().is_none_or(|law| law.size == 0.0)
            && self.junction.as_ref().is_none_or(|junction| junction.size <= VERIFIED_JUNCTION)
    }
}

impl Verification {
    /// Says it in words.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = if self.agrees() { code::SECOND_OPINION } else { code::SECOND_OPINION_DIFFERS };
        let mut parts = Vec::new();
        match &self.difference {
            Some(worst) if worst.size > 0.0 => parts.push(format!(
                "outputs differ by {} of their largest value at most ({} tolerances, `{}` at t = {})",
                rough(worst.size),
                rough(self.tolerances),
                worst.name,
                moment(worst.t)
            )),
            _ => parts.push("outputs do not differ".to_owned()),
        }
        let [first, second] = self.events;
        parts.push(match first == second {
            true => format!("{first} events in both runs"),
            false => format!("{first} events in the first run and {second} in the second"),
        });
        if let Some(worst) = &self.junction {
            parts.push(format!(
                "junctions balance to {} (`{}` at t = {})",
                rough(worst.size),
                worst.name,
                moment(worst.t)
            ));
        }
        match &self.law {
            Some(worst) if worst.size > 0.0 => parts.push(format!(
                "the law of `{}` is missed by {} at t = {}",
                worst.name,
                rough(worst.size),
                moment(worst.t)
            )),
            Some(_) => parts.push("every law of a resistor or switch is met".to_owned()),
            None => {}
        }
        if let Some(t) = self.ended_early {
            parts.push(format!("the second run could not go on after t = {}", moment(t)));
        }
        let message =
            format!("a second run by {} at rtol {}: {}", self.solver, rough(self.rtol), parts.join("; "));
        Diagnostic::new(code, message)
    }
}

/// Runs a model again, and compares with the samples of a first run.
pub fn verify(
    pool: &mut Pool,
    subject: &Subject<'_>,
    options: &SimulateOptions,
    (first, outcome): (&Response, &Outcome),
    token: &CancellationToken,
) -> Result<Verification, QueryError> {
    let numeric = question::check(options, subject.measured.end).map_err(|found| refused(*found))?;
    let mut draft = Draft::new(pool, subject, token)?;
    let (_, charted) = draft.add_outputs(pool, &SimulateOptions::default(), &[])?;
    let plain = SimulateOptions { directions: Vec::new(), varied: Vec::new(), ..options.clone() };
    draft.vary(pool, &plain, subject.measured, &mut Vec::new())?;
    let Draft { graph, equations, outputs, .. } = draft;
    let own = equations.outputs.len();
    let mut shown = outputs.unwrap_or_else(|| equations.outputs.iter().map(|output| output.value).collect());
    let bonds = equations.bond_values(pool, &graph);
    let from = shown.len();
    shown.extend(bonds.iter().flatten());
    let source = Source {
        graph: &graph,
        equations: &equations,
        inputs: subject.measured.inputs.clone(),
        outputs: Some(shown),
        wanted: &[],
    };
    let compiled = Compiled::new(pool, &source)
        .map_err(|error| refused(Diagnostic::new(code::CANNOT_SIMULATE, error.to_string())))?;
    // Another kind of method than the first run ended with.
    let stiff = outcome.stats.solver == "kvaerno5";
    let method = if stiff { Method::Dop853 } else { Method::Stiff };
    let rtol = (SECOND_OPINION_SHARE * numeric.rtol).max(FINEST_TOLERANCE);
    let atol = numeric.atol.map(|atol| SECOND_OPINION_SHARE * atol);
    // An explicit method may not get through a stiff model; then the implicit one is asked again.
    let steps = if stiff { 20 * outcome.stats.steps + 10_000 } else { numeric.max_steps };
    let again = crate::Options { times: first.t.clone(), rtol, atol, method, step: None, ..numeric.clone() };
    let parameters: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
    let mut samples: Vec<Kept> = Vec::new();
    let run = |method: Method, max_steps: u64, samples: &mut Vec<Kept>| {
        samples.clear();
        let options = crate::Options { method, max_steps, ..again.clone() };
        let tables = &subject.measured.tables;
        simulate(&compiled, &parameters, None, tables, &options, token, &mut |sample| {
            samples.push(Kept {
                t: sample.t,
                states: sample.states.to_vec(),
                outputs: sample.outputs.to_vec(),
            });
        })
    };
    let mut second = run(method, steps, &mut samples);
    if stiff && second.failure.is_some() && second.failure != Some(Failure::Cancelled) {
        second = run(Method::Stiff, numeric.max_steps, &mut samples);
    }
    token.check()?;
    let difference = match own {
        // Without outputs the states are compared, where both runs have the same.
        0 if !charted => {
            difference(&first.states, &samples, |kept| &kept.states, |k| equations.states[k].name.clone())
        }
        _ => difference(
            &first.outputs,
            &samples,
            |kept| &kept.outputs[..own],
            |k| equations.outputs[k].name.clone(),
        ),
    };
    let values: Vec<(f64, &[f64])> = samples.iter().map(|kept| (kept.t, &kept.outputs[from..])).collect();
    Ok(Verification {
        solver: second.stats.solver,
        rtol,
        tolerances: difference.as_ref().map_or(0.0, |worst| worst.size / numeric.rtol),
        difference,
        events: [outcome.stats.events, second.stats.events],
        junction: junctions(&graph, &values),
        law: laws(pool, &graph, &parameters, numeric.rtol, &values),
        ended_early: second.failure.map(|_| second.t),
    })
}

/// Keeps the larger of deviations.
fn worse(worst: &mut Option<Deviation>, size: f64, t: f64, name: impl FnOnce() -> String) {
    if worst.as_ref().is_none_or(|worst| size > worst.size) {
        *worst = Some(Deviation { name: name(), t, size });
    }
}

/// A sample of the second run.
struct Kept {
    t: f64,
    states: Vec<f64>,
    outputs: Vec<f64>,
}

fn difference(
    first: &[Vec<f64>],
    samples: &[Kept],
    second: impl Fn(&Kept) -> &[f64],
    name: impl Fn(usize) -> String,
) -> Option<Deviation> {
    let mut worst = None;
    for (k, list) in first.iter().enumerate() {
        let largest = list.iter().filter(|y| y.is_finite()).fold(0.0f64, |most, y| most.max(y.abs()));
        for (y, kept) in list.iter().zip(samples) {
            let apart = second(kept).get(k).map_or(f64::NAN, |other| (y - other).abs());
            if apart.is_finite() && largest > 0.0 {
                worse(&mut worst, apart / largest, kept.t, || name(k));
            }
        }
    }
    worst
}

/// The junction that balances worst: efforts or flows that should be equal, and the sum of the others.
fn junctions(graph: &BondGraph, samples: &[(f64, &[f64])]) -> Option<Deviation> {
    let mut worst = None;
    for id in graph.element_ids() {
        let element = graph.element(id);
        let Class::Junction(common) = element.class() else { continue };
        let shared = usize::from(common == Power::Flow);
        let value = |values: &[f64], bond: usize, kind: usize| values[2 * bond + kind];
        let ports = || element.ports.iter().map(|port| (port.bond.index(), port.into));
        let largest = |kind: usize| {
            let all =
                samples.iter().flat_map(|(_, values)| ports().map(move |(b, _)| value(values, b, kind)));
            all.filter(|x| x.is_finite()).fold(0.0f64, |most, x| most.max(x.abs()))
        };
        let scales = [largest(0), largest(1)];
        for (t, values) in samples {
            let sum: f64 =
                ports().map(|(b, into)| value(values, b, 1 - shared) * if into { 1.0 } else { -1.0 }).sum();
            let mut list = ports().map(|(b, _)| value(values, b, shared));
            let first = list.next().unwrap_or(0.0);
            let apart = list.fold(0.0f64, |most, x| most.max((x - first).abs()));
            for (size, scale) in [(sum.abs(), scales[1 - shared]), (apart, scales[shared])] {
                if scale > 0.0 && size.is_finite() {
                    worse(&mut worst, size / scale, *t, || element.name.clone());
                }
            }
        }
    }
    worst
}

/// The law of a resistor or switch that is met worst: by how much an effort or flow lies outside what the law
/// allows for the other, known to the tolerance only.
fn laws(
    pool: &mut Pool,
    graph: &BondGraph,
    parameters: &[f64],
    rtol: f64,
    samples: &[(f64, &[f64])],
) -> Option<Deviation> {
    let mut worst = None;
    let known: FxHashMap<Symbol, f64> =
        graph.parameters.iter().map(|p| p.symbol).zip(parameters.iter().copied()).collect();
    let bonds = samples.first().map_or(0, |(_, values)| values.len() / 2);
    let largest: Vec<f64> = (0..2 * bonds)
        .map(|k| samples.iter().fold(0.0f64, |most, (_, values)| most.max(values[k].abs())))
        .collect();
    let time = graph.variables.symbol(Variable::Time);
    let mut variables: FxHashMap<Symbol, usize> = FxHashMap::default();
    for bond in graph.bond_ids() {
        let pair = [Variable::Effort(bond), Variable::Flow(bond)];
        for (kind, symbol) in pair.into_iter().enumerate() {
            variables.extend(graph.variables.symbol(symbol).map(|symbol| (symbol, 2 * bond.index() + kind)));
        }
    }
    let every = samples.len().div_ceil(VERIFIED_LAWS).max(1);
    for id in graph.element_ids().filter(|id| graph.element(*id).class() == Class::Resistor) {
        let element = graph.element(id);
        let residuals = law_residuals(pool, graph, element);
        let scales = scales(pool, &residuals);
        for (t, values) in samples.iter().step_by(every) {
            let about = |k: usize, sign: f64| {
                let width = VERIFIED_WIDTH * rtol * largest[k];
                Interval::closed(sign * values[k] - width, sign * values[k] + width)
            };
            let local = |symbol: Symbol| {
                local(graph, id, symbol).map(|(bond, kind, sign)| about(2 * bond + kind, sign))
            };
            let variable = |symbol: Symbol| variables.get(&symbol).map(|k| about(*k, 1.0));
            let assume = |symbol: Symbol| {
                let at = (Some(symbol) == time).then(|| Interval::point(*t));
                let parameter = known.get(&symbol).map(|value| Interval::point(*value));
                at.or(parameter)
                    .or_else(|| local(symbol))
                    .or_else(|| variable(symbol))
                    .unwrap_or(Interval::ALL)
            };
            for (residual, terms) in residuals.iter().zip(&scales) {
                let range = pool.range(*residual, &assume);
                if range.is_empty() || range.contains_zero() {
                    worse(&mut worst, 0.0, *t, || element.name.clone());
                    continue;
                }
                let size = terms.iter().map(|term| {
                    let range = pool.range(*term, &assume);
                    range.lo().abs().max(range.hi().abs())
                });
                let size = size.filter(|x| x.is_finite()).fold(0.0f64, f64::max);
                let outside = range.lo().abs().min(range.hi().abs());
                if size > 0.0 && outside > VERIFIED_WIDTH * rtol * size {
                    worse(&mut worst, outside / size, *t, || element.name.clone());
                }
            }
        }
    }
    worst
}

/// The terms of residuals, by which their size is judged.
fn scales(pool: &Pool, residuals: &[Expr]) -> Vec<Vec<Expr>> {
    let terms = |e: &Expr| match pool.node(*e) {
        paynter_algebra::Node::Sum(list) => list.to_vec(),
        _ => vec![*e],
    };
    residuals.iter().map(terms).collect()
}

/// The bond that a local effort (0) or flow (1) of an element belongs to, and the sign it has there.
fn local(graph: &BondGraph, id: ElementId, symbol: Symbol) -> Option<(usize, usize, f64)> {
    let element = graph.element(id);
    let n = element.ports.len();
    element.ports.iter().enumerate().find_map(|(k, port)| {
        let [e, f, ..] = graph.locals.port(n, k);
        let along = if port.into { 1.0 } else { -1.0 };
        match symbol {
            s if s == e => Some((port.bond.index(), 0, 1.0)),
            s if s == f => Some((port.bond.index(), 1, along)),
            _ => None,
        }
    })
}
