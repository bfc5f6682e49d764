//! Random bond graphs: derived graphs run through the ordinary passes, judged
//! by the acausal equations of the test kit differentiated by dual numbers.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Model, all, model, transfer_at};
use paynter_algebra::{Expr, Pool, Rational as Exact, Symbol};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, BondId, Element, Law, Variable};
use paynter_testkit::Options;
use paynter_testkit::linear::{sensitivity, small_point};
use paynter_testkit::number::{Number, Rational};
use paynter_testkit::property::{check, demand};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::Structure;
use paynter_transform::{Request, Sensitivity, TextOptions, printed, pseudo, standalone, to_text};
use rustc_hash::FxHashMap;

/// A name as one word.
fn word(name: &str) -> String {
    name.replace(['.', '['], "_").replace(']', "")
}

/// The independent parameters with the values of a point, by their names as single words.
fn point_by_name(structure: &Structure, point: &[Rational]) -> Vec<(String, Exact)> {
    let names = structure.independent();
    names.iter().zip(point).map(|(i, v)| (word(&structure.params[*i].name), v.0.clone())).collect()
}

/// Values for the parameters of a model.
fn values(model: &mut Model, known: &[(String, Exact)]) -> FxHashMap<Symbol, Expr> {
    let mut map = FxHashMap::default();
    for parameter in &model.graph.parameters {
        if let Some((_, value)) = known.iter().find(|(name, _)| *name == word(&parameter.name)) {
            map.insert(parameter.symbol, model.pool.number(value.clone()));
        }
    }
    map
}

fn strokes_agree(original: &Model, text: &str, first: usize) -> Result<(), String> {
    let new = model(text).map_err(|error| format!("refused: {error}\n{text}"))?;
    for (k, stroke) in original.causality.strokes.iter().enumerate() {
        if new.causality.strokes[first + k].effort_to != stroke.effort_to {
            return Err(format!("the stroke of bond {k} differs\n{text}"));
        }
    }
    Ok(())
}

/// A text line by line, each without the order of what it says: factors and terms have none.
fn letters(text: &str) -> Vec<Vec<char>> {
    let sorted = |line: &str| {
        let mut letters: Vec<char> = line.chars().collect();
        letters.sort_unstable();
        letters
    };
    text.lines().map(sorted).collect()
}

#[test]
fn printed_graphs_flatten_to_themselves() {
    for options in [Options::linear(), Options::nonlinear()] {
        let judged = check(120, &options, |text, _| {
            let Ok(mut first) = model(text) else { return Ok(false) };
            let printed = to_text(&mut first.pool, &first.graph, &TextOptions::default());
            let mut second = model(&printed).map_err(|error| format!("refused: {error}\n{printed}"))?;
            let again = to_text(&mut second.pool, &second.graph, &TextOptions::default());
            if letters(&printed) != letters(&again) {
                return Err(format!("not the same:\n{printed}\n{again}"));
            }
            for (a, b) in first.graph.elements.iter().zip(&second.graph.elements) {
                if word(&a.name) != b.name || a.kind != b.kind || ports(a) != ports(b) {
                    return Err(format!("`{}` differs from `{}`\n{printed}", a.name, b.name));
                }
            }
            for (a, b) in first.graph.bonds.iter().zip(&second.graph.bonds) {
                if (word(&a.name), a.from, a.to) != (b.name.clone(), b.from, b.to) {
                    return Err(format!("the bond `{}` differs\n{printed}", a.name));
                }
            }
            strokes_agree(&first, &printed, 0)?;
            Ok(first.graph.elements.len() == second.graph.elements.len())
        });
        demand("models judged", judged, 100, 120);
    }
}

/// A value for every symbol of a model by its name, other for other names.
fn by_name(pool: &Pool, symbol: Symbol) -> Option<f64> {
    let sum = pool.name(symbol).bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    Some(0.5 + f64::from(sum % 1009) / 1009.0)
}

/// Says where two graphs differ, each with its own pool.
fn difference((pool, graph): (&Pool, &BondGraph), (other, text): (&Pool, &BondGraph)) -> Option<String> {
    let names = |graph: &BondGraph| -> Vec<String> {
        let elements = graph.elements.iter().map(|e| format!("{:?} {} {:?}", e.kind, e.name, ports(e)));
        let bonds = graph.bonds.iter().map(|b| format!("{} {:?} {:?}", b.name, b.from, b.to));
        let values = graph.parameters.iter().map(|p| format!("param {}", p.name));
        let inputs = graph.inputs.iter().map(|i| format!("input {}", i.name));
        let outputs = graph.outputs.iter().map(|o| format!("output {}", o.name));
        elements.chain(bonds).chain(values).chain(inputs).chain(outputs).collect()
    };
    if let Some((a, b)) = names(graph).into_iter().zip(names(text)).find(|(a, b)| a != b) {
        return Some(format!("`{a}` and `{b}`"));
    }
    let numbers = |pool: &Pool, graph: &BondGraph| -> Vec<f64> {
        let laws = graph.elements.iter().filter(|e| !matches!(e.law, Law::Switch { .. }));
        let values = (laws.flat_map(|e| e.law.expressions()))
            .chain(graph.signals.iter().map(|signal| signal.value))
            .chain(graph.integrators.iter().flat_map(|i| [i.rate, i.initial]))
            .chain(graph.inputs.iter().map(|input| input.value))
            .chain(graph.outputs.iter().map(|output| output.value))
            .chain(graph.elements.iter().flat_map(|e| e.initial.iter().map(|(_, value, _)| *value)));
        let values: Vec<Expr> = values.collect();
        let number = |expr: &Expr| pool.eval(*expr, &|symbol| by_name(pool, symbol)).unwrap_or(f64::NAN);
        values.iter().map(number).chain(graph.parameters.iter().map(|p| p.number)).collect()
    };
    let (a, b) = (numbers(pool, graph), numbers(other, text));
    if a.len() != b.len() {
        return Some(format!("{} and {} expressions", a.len(), b.len()));
    }
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs()) || (a.is_nan() && b.is_nan());
    let place = a.iter().zip(&b).position(|(a, b)| !same(*a, *b))?;
    Some(format!("expression {place}: {} and {}", a[place], b[place]))
}

fn ports(element: &Element) -> Vec<(BondId, bool)> {
    element.ports.iter().map(|port| (port.bond, port.into)).collect()
}

#[test]
fn derived_graphs_and_their_texts_are_the_same_model() {
    for options in [Options::linear(), Options::nonlinear()] {
        let judged = check(30, &options, |text, _| {
            let Ok(mut original) = model(text) else { return Ok(false) };
            for (split, pair) in [(false, false), (true, false), (false, true)] {
                let request = Request { split, pair, ..all(&original.graph) };
                let (derived, _) = original.derived(&request);
                let Ok(printed) = printed(&mut original.pool, &derived.graph, Vec::new()) else {
                    // A law may have no finite slope at the nominal values that are made up here.
                    return Ok(false);
                };
                let loaded = model(&printed).map_err(|error| format!("refused: {error}\n{printed}"))?;
                let (pool, graph) = standalone(&original.pool, &derived.graph);
                if let Some(found) = difference((&pool, &graph), (&loaded.pool, &loaded.graph)) {
                    return Err(format!("{found}\n{printed}"));
                }
                let sinks = graph.elements.iter().filter(|element| element.is_sink()).count();
                if sinks != derived.sinks.len() {
                    return Err(format!("{sinks} sinks of {}\n{printed}", derived.sinks.len()));
                }
            }
            Ok(true)
        });
        demand("models judged", judged, 21, 30);
    }
}

#[test]
fn strokes_of_shared_bonds_are_the_same() {
    for options in [Options::linear(), Options::nonlinear()] {
        let judged = check(100, &options, |text, _| {
            let Ok(mut original) = model(text) else { return Ok(false) };
            for (split, pair) in [(false, false), (true, false), (false, true)] {
                let request = Request { split, pair, ..all(&original.graph) };
                let (_, text) = original.derived(&request);
                // The nominal values here are no solution, so that a law may have no value at them.
                if model(&text).is_err_and(|error| error.contains("not a finite number")) {
                    continue;
                }
                let first = if pair { original.graph.bonds.len() } else { 0 };
                strokes_agree(&original, &text, first)?;
            }
            Ok(true)
        });
        demand("models judged", judged, 80, 100);
    }
}

/// Compares the transfer functions of an incremental graph with the derivatives of H.
fn judge_alone(text: &str, structure: &Structure, split: bool) -> Result<bool, String> {
    let Ok(mut original) = model(text) else { return Ok(false) };
    let (_, text) = original.derived(&Request { split, ..all(&original.graph) });
    let outputs = original.graph.outputs.len();
    let observed = original.observe_all();
    let nominal = original.equations()?;
    let mut new = model(&text).map_err(|error| format!("refused: {error}\n{text}"))?;
    let equations = new.equations().map_err(|error| format!("no equations: {error}\n{text}"))?;
    let mut rng = Rng::new(11);
    let point: Vec<Rational> = small_point(structure, &mut rng);
    let s = Rational::ratio(rng.within(1, 50) as i64, rng.within(1, 7) as i64);
    let known = point_by_name(structure, &point);
    let map = values(&mut original, &known);
    let Model { pool, graph, .. } = &mut original;
    let Ok(responses) = transfer_at(pool, graph, &nominal, &map, &s.0) else { return Ok(false) };
    let mut said = false;
    for input in 0..structure.inputs.len() {
        let mut at = known.clone();
        let mut still = known.clone();
        for (name, row) in observed.iter().zip(&responses[outputs..]) {
            at.push((format!("nom_{name}"), row[input].clone()));
            still.push((format!("nom_{name}"), Exact::ZERO));
        }
        let (at, still) = (values(&mut new, &at), values(&mut new, &still));
        let Model { pool, graph, .. } = &mut new;
        let found = transfer_at(pool, graph, &equations, &at, &s.0).map_err(|e| format!("{e}\n{text}"))?;
        // Sources of constant value answer to no input.
        let rest = transfer_at(pool, graph, &equations, &still, &s.0).map_err(|e| format!("{e}\n{text}"))?;
        for (index, parameter) in structure.independent().iter().enumerate() {
            let name = format!("Delta_{}", word(&structure.params[*parameter].name));
            let Some(column) = equations.inputs.iter().position(|input| input.name == name) else { continue };
            let Some(expected) = sensitivity(structure, &point, index, &s) else { continue };
            for (output, row) in expected.iter().enumerate() {
                let value = found[output][column].clone() - rest[output][column].clone();
                if value != row[input].0 {
                    return Err(format!(
                        "dH[{output}][{input}]/d{name} is {value} and should be {}\n{text}",
                        row[input].0
                    ));
                }
                said = true;
            }
        }
    }
    Ok(said)
}

#[test]
fn transfer_functions_of_the_incremental_graph_are_sensitivities() {
    let judged = check(160, &Options::linear(), |text, structure| judge_alone(text, structure, false));
    demand("models judged", judged, 100, 160);
}

#[test]
fn split_sinks_say_the_same() {
    let options = Options { junctions: 2..=6, ..Options::linear() };
    let judged = check(60, &options, |text, structure| judge_alone(text, structure, true));
    demand("models judged", judged, 35, 60);
}

#[test]
fn the_pair_sums_the_sensitivities() {
    let judged = check(120, &Options::linear(), |text, structure| {
        let Ok(mut original) = model(text) else { return Ok(false) };
        let (_, text) = original.derived(&Request { pair: true, ..all(&original.graph) });
        let mut pair = model(&text).map_err(|error| format!("refused: {error}\n{text}"))?;
        let equations = pair.equations().map_err(|error| format!("no equations: {error}\n{text}"))?;
        let mut rng = Rng::new(5);
        let point: Vec<Rational> = small_point(structure, &mut rng);
        let s = Rational::ratio(rng.within(1, 50) as i64, rng.within(1, 7) as i64);
        let mut known = point_by_name(structure, &point);
        let mut sum: Option<Vec<Vec<Rational>>> = None;
        for (index, parameter) in structure.independent().iter().enumerate() {
            let size = Rational::ratio(rng.within(1, 9) as i64, 4);
            known.push((format!("Delta_{}", word(&structure.params[*parameter].name)), size.0.clone()));
            let Some(slope) = sensitivity(structure, &point, index, &s) else { return Ok(false) };
            let scaled =
                slope.iter().map(|row| row.iter().map(|x| x.mul(&size).unwrap()).collect::<Vec<_>>());
            sum = Some(match sum {
                None => scaled.collect(),
                Some(old) => {
                    let add = |(a, b): (Vec<Rational>, Vec<Rational>)| {
                        a.iter().zip(&b).map(|(x, y)| x.add(y)).collect::<Vec<_>>()
                    };
                    old.into_iter().zip(scaled).map(add).collect()
                }
            });
        }
        let Some(sum) = sum else { return Ok(false) };
        let map = values(&mut pair, &known);
        let Model { pool, graph, .. } = &mut pair;
        let found = transfer_at(pool, graph, &equations, &map, &s.0).map_err(|e| format!("{e}\n{text}"))?;
        let outputs = structure.outputs.len();
        for (output, row) in sum.iter().enumerate() {
            for (input, value) in row.iter().enumerate() {
                if found[outputs + output][input] != value.0 {
                    return Err(format!(
                        "Delta of output {output} for input {input} is {} and should be {}\n{text}",
                        found[outputs + output][input],
                        value.0
                    ));
                }
            }
        }
        Ok(true)
    });
    demand("models judged", judged, 80, 120);
}

/// The sensitivity equation: d/dt Δx = ∂f/∂x Δx + ∂f/∂p Δp, with Δx as the derived model reports it.
/// `derive` writes a model whose outputs are the states and their changes; changes of parameters are
/// parameters with this prefix.
fn judge_rates(text: &str, prefix: &str, derive: impl Fn(&mut Model) -> String) -> Result<bool, String> {
    let Ok(mut original) = model(text) else { return Ok(false) };
    // The true increments of states are outputs of the derived model.
    original.graph.outputs.clear();
    let mut states = Vec::new();
    for storage in original.causality.storages.clone() {
        states.push(Variable::State(storage.element, storage.port as u32));
    }
    states.extend((0..original.graph.integrators.len() as u32).map(Variable::Integrator));
    for (k, variable) in states.iter().enumerate() {
        let symbol = original.graph.symbol(&mut original.pool, *variable);
        let value = original.pool.var(symbol);
        let span = original.graph.elements[0].span;
        let name = format!("x{k}");
        original.graph.outputs.push(paynter_graph::Output { name, value, unit: None, doc: None, span });
    }
    let text = derive(&mut original);
    let mut pair = model(&text).map_err(|error| format!("refused: {error}\n{text}"))?;
    let equations = match pair.equations() {
        Ok(equations) => equations,
        // A law that is flat where a static part of the model rests, such as f·√|f|, is no slope.
        Err(error) if error.contains("cannot be solved") => return Ok(false),
        Err(error) => return Err(format!("no equations: {error}\n{text}")),
    };
    if states.is_empty() {
        return Ok(false);
    }
    let n = states.len();
    let mut system = System::new(&mut pair.pool, &equations);
    let pool = &pair.pool;
    // The states that are independent, with their places among the outputs.
    let place = |k: usize| {
        let symbol = pool.as_symbol(equations.outputs[k].value)?;
        Some((k, symbol, equations.states.iter().position(|state| state.symbol == symbol)?))
    };
    let nominal: Vec<(usize, Symbol, usize)> = (0..n).filter_map(place).collect();
    // A storage that becomes independent only by differentiation is reported by its law.
    if 2 * nominal.len() != equations.states.len() {
        return Ok(false);
    }
    let mut rng = Rng::new(3);
    let mut draw = || 0.4 + rng.within(0, 1000) as f64 / 1000.0;
    let at = &mut system.at;
    at.extend(equations.states.iter().map(|state| (state.symbol, draw())));
    at.extend(equations.inputs.iter().flat_map(|input| &input.symbols).map(|symbol| (*symbol, draw())));
    at.extend(pair.graph.variables.symbol(Variable::Time).map(|time| (time, 0.37)));
    let mut changes: Vec<(Symbol, Symbol)> = Vec::new();
    for parameter in &pair.graph.parameters {
        let own = parameter.name.strip_prefix(prefix);
        let own = own.and_then(|name| pair.graph.parameters.iter().find(|other| other.name == name));
        at.insert(parameter.symbol, if own.is_some() { draw() } else { parameter.number });
        changes.extend(own.map(|own| (own.symbol, parameter.symbol)));
    }
    if system.settle(pool).is_none() {
        return Ok(false);
    }
    let number = |e: Expr| system.number(pool, e);
    let increments: Option<Vec<f64>> =
        nominal.iter().map(|(k, ..)| number(equations.outputs[n + k].value)).collect();
    let rates: Option<Vec<f64>> = equations.rates.iter().map(|rate| number(*rate)).collect();
    let (Some(increments), Some(rates)) = (increments, rates) else { return Ok(false) };
    // Along the increments of states and parameters, and along the trajectory.
    let mut changed: Vec<(Symbol, f64)> =
        nominal.iter().zip(&increments).map(|((_, symbol, _), increment)| (*symbol, *increment)).collect();
    changed.extend(changes.iter().map(|(own, delta)| (*own, system.at[delta])));
    let trajectory: Vec<(Symbol, f64)> =
        equations.states.iter().zip(&rates).map(|(state, rate)| (state.symbol, *rate)).collect();
    for (k, _, row) in &nominal {
        let increment = equations.outputs[n + k].value;
        if equations.inputs.iter().any(|input| pool.depends_on(increment, input.symbols[0])) {
            return Ok(false);
        }
        let found = system.derivative(pool, increment, &trajectory);
        let expected = system.derivative(pool, equations.rates[*row], &changed);
        let (Some((found, doubt)), Some((expected, more))) = (found, expected) else { return Ok(false) };
        let size = 1.0 + found.abs().max(expected.abs());
        if doubt + more > 1e-5 * size {
            return Ok(false);
        }
        if (found - expected).abs() > 2e-6 * size + 2.0 * (doubt + more) {
            return Err(format!("the rate of the increment of x{k} is {found}, not {expected}\n{text}"));
        }
    }
    Ok(true)
}

/// Equations with numbers for all their symbols; implicit unknowns are solved for.
struct System {
    unknowns: Vec<Symbol>,
    residuals: Vec<Expr>,
    slopes: Vec<Vec<Expr>>,
    at: FxHashMap<Symbol, f64>,
}

impl System {
    fn new(pool: &mut Pool, equations: &Equations) -> System {
        let unknowns: Vec<Symbol> = equations.constraints.iter().map(|c| c.unknown).collect();
        let residuals: Vec<Expr> = equations.constraints.iter().map(|c| c.residual).collect();
        let slopes = residuals.iter().map(|e| unknowns.iter().map(|s| pool.diff(*e, *s)).collect()).collect();
        let at = unknowns.iter().map(|symbol| (*symbol, 0.7)).collect();
        System { unknowns, residuals, slopes, at }
    }

    fn number(&self, pool: &Pool, e: Expr) -> Option<f64> {
        pool.eval(e, &|symbol| self.at.get(&symbol).copied()).ok().filter(|x| x.is_finite())
    }

    /// Newton's method with steps that shrink while the residuals grow.
    fn settle(&mut self, pool: &Pool) -> Option<()> {
        let size = |system: &System| -> Option<f64> {
            system.residuals.iter().map(|e| system.number(pool, *e).map(f64::abs)).sum()
        };
        for _ in 0..60 {
            let rows: Option<Vec<Vec<f64>>> = (0..self.unknowns.len())
                .map(|i| {
                    let slopes = self.slopes[i].iter().map(|e| self.number(pool, *e));
                    slopes.chain([self.number(pool, self.residuals[i])]).collect()
                })
                .collect();
            let step = gauss(rows?)?;
            let before = size(self)?;
            let start: Vec<f64> = self.unknowns.iter().map(|symbol| self.at[symbol]).collect();
            let mut part = 1.0;
            loop {
                for ((symbol, start), step) in self.unknowns.iter().zip(&start).zip(&step) {
                    self.at.insert(*symbol, start - part * step);
                }
                if part < 1e-4 || size(self).is_some_and(|after| after <= before) {
                    break;
                }
                part *= 0.5;
            }
            if step.iter().zip(&start).all(|(step, x)| step.abs() <= 1e-12 * (1.0 + x.abs())) {
                return Some(());
            }
        }
        None
    }

    /// The derivative along a direction by central differences, and how far two of them differ.
    fn derivative(&mut self, pool: &Pool, e: Expr, direction: &[(Symbol, f64)]) -> Option<(f64, f64)> {
        let length = direction.iter().fold(1.0f64, |length, (_, x)| length.max(x.abs()));
        let start = self.at.clone();
        let mut slope = |h: f64| -> Option<f64> {
            let mut ends = [0.0; 2];
            for (end, h) in ends.iter_mut().zip([h, -h]) {
                self.at.clone_from(&start);
                for (symbol, x) in direction {
                    *self.at.get_mut(symbol)? += h * x;
                }
                self.settle(pool)?;
                *end = self.number(pool, e)?;
            }
            Some((ends[0] - ends[1]) / (2.0 * h))
        };
        let (wide, narrow) = (slope(2e-4 / length), slope(1e-4 / length));
        self.at = start;
        let (wide, narrow) = (wide?, narrow?);
        Some(((4.0 * narrow - wide) / 3.0, (narrow - wide).abs() / 3.0))
    }
}

/// Solves a small system whose rows end in their right-hand sides.
fn gauss(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k] == 0.0 {
            return None;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = rows[i][k] / rows[k][k];
            for j in k..=n {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    Some((0..n).map(|k| rows[k][n] / rows[k][k]).collect())
}

#[test]
fn the_pair_of_a_nonlinear_model_obeys_the_sensitivity_equation() {
    let judged = check(240, &Options { junctions: 2..=7, ..Options::nonlinear() }, |text, _| {
        judge_rates(text, "Delta_", |original| {
            original.derived(&Request { pair: true, ..all(&original.graph) }).1
        })
    });
    demand("models judged", judged, 100, 240);
}

#[test]
fn the_sensitivity_graph_obeys_the_sensitivity_equation() {
    let judged = check(240, &Options { junctions: 2..=7, ..Options::nonlinear() }, |text, _| {
        judge_rates(text, "lambda_", |original| {
            let parameters: Vec<usize> = (0..original.graph.parameters.len()).collect();
            let start = original.start();
            let Model { pool, graph, causality } = original;
            let token = paynter_base::CancellationToken::new();
            let graph =
                pseudo(pool, graph, causality, &parameters, Sensitivity::Weighted, &start, &token).unwrap();
            to_text(pool, &graph, &TextOptions::default())
        })
    });
    demand("models judged", judged, 100, 240);
}
