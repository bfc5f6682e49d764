//! A second opinion on a run: another method at a tenth of the tolerance, the laws of what switches, and the
//! power at every junction.

use super::compile::Draft;
use super::{Response, SimulateOptions, Subject, question, refused};
use crate::system::{System, Values};
use crate::tolerance::{
    FINEST_TOLERANCE, SECOND_OPINION_SHARE, VERIFIED_BETWEEN, VERIFIED_DEVIATION, VERIFIED_JUNCTION,
    VERIFIED_LAWS, VERIFIED_WIDTH,
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
        let until = match self.ended_early {
            Some(t) => format!("it could not go on after t = {}; until then ", moment(t)),
            None => String::new(),
        };
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
        let said = parts.join("; ");
        let message = format!("a second run by {} at rtol {}: {until}{said}", self.solver, rough(self.rtol));
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
    // Between the samples as well: how large variables are is to be seen over the whole run.
    let times = with_times_between(&first.t);
    let again = crate::Options { times, rtol, atol, method, step: None, ..numeric.clone() };
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
    // What states are known to makes so much of outputs that rest at zero, and of states.
    let known: Vec<f64> = second.resolution.iter().map(|known| known / numeric.rtol).collect();
    let difference = match own {
        // Without outputs the states are compared, where both runs have the same.
        0 if !charted => difference(
            (&first.t, &first.states),
            (&samples, &known),
            |kept| &kept.states,
            |k| equations.states[k].name.clone(),
        ),
        _ => {
            let mut system = System::new(&compiled, &parameters, &subject.measured.tables);
            let least = least_sizes(&mut system, &samples, &known, own);
            difference(
                (&first.t, &first.outputs),
                (&samples, &least),
                |kept| &kept.outputs[..own],
                |k| equations.outputs[k].name.clone(),
            )
        }
    };
    let values: Vec<(f64, &[f64])> = samples.iter().map(|kept| (kept.t, &kept.outputs[from..])).collect();
    let largest = largest_values(&graph, &values);
    Ok(Verification {
        solver: second.stats.solver,
        rtol,
        tolerances: difference.as_ref().map_or(0.0, |worst| worst.size / numeric.rtol),
        difference,
        events: [outcome.stats.events, second.stats.events],
        junction: junctions(&graph, &values, &largest),
        law: laws(pool, &graph, &parameters, numeric.rtol, (&values, &largest)),
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

/// These times, and as many between the first and the last as show how large variables become.
fn with_times_between(times: &[f64]) -> Vec<f64> {
    let [first, .., last] = times[..] else { return times.to_vec() };
    let between =
        (1..VERIFIED_BETWEEN).map(|i| first + (last - first) * f64::from(i) / f64::from(VERIFIED_BETWEEN));
    let mut all: Vec<f64> = times.iter().copied().chain(between).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Whether a time is one of some in rising order.
fn is_among(times: &[f64], t: f64) -> bool {
    times.binary_search_by(|other| other.total_cmp(&t)).is_ok()
}

/// How large each effort and flow is in a run. What junctions add is as large as the largest of its terms: of two
/// speeds that agree only rounding is left.
fn largest_values(graph: &BondGraph, samples: &[(f64, &[f64])]) -> Vec<f64> {
    let count = 2 * graph.bond_ids().count();
    let of = |k: usize| {
        let sizes = samples.iter().map(|(_, values)| values[k].abs());
        sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
    };
    let mut largest: Vec<f64> = (0..count).map(of).collect();
    let junctions: Vec<Vec<usize>> = graph
        .element_ids()
        .map(|id| graph.element(id))
        .filter(|element| matches!(element.class(), Class::Junction(_)))
        .map(|element| element.ports.iter().map(|port| port.bond.index()).collect())
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for bonds in &junctions {
            for kind in 0..2 {
                let most = bonds.iter().map(|bond| largest[2 * bond + kind]).fold(0.0, f64::max);
                for bond in bonds {
                    changed |= std::mem::replace(&mut largest[2 * bond + kind], most) < most;
                }
            }
        }
    }
    largest
}

/// How large outputs count at least: what states that are known to no less make of them.
fn least_sizes(system: &mut System<'_>, samples: &[Kept], known: &[f64], outputs: usize) -> Vec<f64> {
    let mut least = vec![0.0f64; outputs];
    let mut values = Values::default();
    let every = samples.len().div_ceil(VERIFIED_LAWS).max(1);
    for kept in samples.iter().step_by(every) {
        // Branches as the state has them: between them nothing is larger.
        if system.initialise(kept.t, &kept.states).is_err() {
            continue;
        }
        system.follow_modes(true);
        let found = system.outputs_full(kept.t, &kept.states, &mut values);
        system.follow_modes(false);
        if found.is_err() {
            continue;
        }
        let full = &system.model.outputs_full;
        let by_states = full.by_states(&values.data);
        for (k, least) in least.iter_mut().enumerate() {
            let terms = full.pattern.row(k).map(|e| by_states[e].abs() * known[full.pattern.at[e] as usize]);
            *least = least.max(terms.filter(|term| term.is_finite()).sum());
        }
    }
    least
}

/// The largest difference beside the largest value in either run, or the least size that counts; both are compared at
/// the times of the first.
fn difference(
    (times, first): (&[f64], &[Vec<f64>]),
    (samples, least): (&[Kept], &[f64]),
    second: impl Fn(&Kept) -> &[f64],
    name: impl Fn(usize) -> String,
) -> Option<Deviation> {
    let mut worst = None;
    let size = |most: f64, y: &f64| if y.is_finite() { most.max(y.abs()) } else { most };
    let compared: Vec<&Kept> = samples.iter().filter(|kept| is_among(times, kept.t)).collect();
    for (k, list) in first.iter().enumerate() {
        let again = samples.iter().filter_map(|kept| second(kept).get(k));
        let least = least.get(k).copied().unwrap_or(0.0);
        let largest = list.iter().chain(again).fold(least, size);
        for (y, kept) in list.iter().zip(&compared) {
            let apart = second(kept).get(k).map_or(f64::NAN, |other| (y - other).abs());
            if apart.is_finite() && largest > 0.0 {
                worse(&mut worst, apart / largest, kept.t, || name(k));
            }
        }
    }
    worst
}

/// The junction that balances worst: efforts or flows that should be equal, and the sum of the others.
fn junctions(graph: &BondGraph, samples: &[(f64, &[f64])], largest: &[f64]) -> Option<Deviation> {
    let mut worst = None;
    for id in graph.element_ids() {
        let element = graph.element(id);
        let Class::Junction(common) = element.class() else { continue };
        let shared = usize::from(common == Power::Flow);
        let value = |values: &[f64], bond: usize, kind: usize| values[2 * bond + kind];
        let ports = || element.ports.iter().map(|port| (port.bond.index(), port.into));
        let scales = [0, 1].map(|kind| ports().map(|(b, _)| value(largest, b, kind)).fold(0.0, f64::max));
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
    (samples, largest): (&[(f64, &[f64])], &[f64]),
) -> Option<Deviation> {
    let mut worst = None;
    let known: FxHashMap<Symbol, f64> =
        graph.parameters.iter().map(|p| p.symbol).zip(parameters.iter().copied()).collect();
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
