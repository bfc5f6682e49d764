//! Random bond graphs: derived graphs run through the ordinary passes, judged
//! by the acausal equations of the test kit differentiated by dual numbers.
//!
//! `PAYNTER_RANDOM=N` runs each property on N seeds, `PAYNTER_RANDOM_FROM=K` starts at seed K.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Model, all, check, model, transfer_at};
use paynter_algebra::{Expr, Pool, Rational as Exact, Symbol};
use paynter_graph::Variable;
use paynter_testkit::Options;
use paynter_testkit::linear::{sensitivity, small_point};
use paynter_testkit::number::{Number, Rational};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::Structure;
use paynter_transform::{Request, Sensitivity, TextOptions, pseudo, to_text};
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

#[test]
fn printed_graphs_flatten_to_themselves() {
    for options in [Options::linear(), Options::nonlinear()] {
        let judged = check(120, &options, |text, _| {
            let Ok(mut first) = model(text) else { return Ok(false) };
            let printed = to_text(&mut first.pool, &first.graph, &TextOptions::default());
            let mut second = model(&printed).map_err(|error| format!("refused: {error}\n{printed}"))?;
            let again = to_text(&mut second.pool, &second.graph, &TextOptions::default());
            if printed != again {
                return Err(format!("not the same:\n{printed}\n{again}"));
            }
            for (a, b) in first.graph.elements.iter().zip(&second.graph.elements) {
                let ports =
                    |e: &paynter_graph::Element| e.ports.iter().map(|p| (p.bond, p.into)).collect::<Vec<_>>();
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
        assert!(judged > 100, "only {judged} models were judged");
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
        assert!(judged > 80, "only {judged} models were judged");
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
    assert!(judged > 100, "only {judged} models were judged");
}

#[test]
fn split_sinks_say_the_same() {
    let options = Options { junctions: 2..=6, ..Options::linear() };
    let judged = check(60, &options, |text, structure| judge_alone(text, structure, true));
    assert!(judged > 35, "only {judged} models were judged");
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
    assert!(judged > 80, "only {judged} models were judged");
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
    if !equations.constraints.is_empty() || states.is_empty() {
        return Ok(false);
    }
    let pool = &mut pair.pool;
    let n = states.len();
    // The states that are independent, with their places among the outputs.
    let independent = |symbol: &Symbol| equations.states.iter().any(|state| state.symbol == *symbol);
    let nominal: Vec<(usize, Symbol)> = (0..n)
        .filter_map(|k| Some((k, pool.as_symbol(equations.outputs[k].value).filter(independent)?)))
        .collect();
    // A storage that becomes independent only by differentiation is reported by its law.
    if 2 * nominal.len() != equations.states.len() {
        return Ok(false);
    }
    let mut rng = Rng::new(3);
    let mut at: FxHashMap<Symbol, f64> = FxHashMap::default();
    let mut draw = || 0.4 + rng.within(0, 1000) as f64 / 1000.0;
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
    let number = |pool: &Pool, expr: Expr| pool.eval(expr, &|symbol| at.get(&symbol).copied()).ok();
    for (i, own) in nominal.clone() {
        let row = equations.states.iter().position(|state| state.symbol == own);
        let Some(rate) = row.map(|row| equations.rates[row]) else { return Ok(false) };
        let increment = equations.outputs[n + i].value;
        if equations.inputs.iter().any(|input| pool.depends_on(increment, input.symbols[0])) {
            return Ok(false);
        }
        // Pairs whose products sum up to each side.
        let mut expected: Vec<(Expr, Expr)> = Vec::new();
        for (j, symbol) in &nominal {
            expected.push((pool.diff(rate, *symbol), equations.outputs[n + j].value));
        }
        for (own, delta) in &changes {
            expected.push((pool.diff(rate, *own), pool.var(*delta)));
        }
        let mut found: Vec<(Expr, Expr)> = Vec::new();
        for (state, rate) in equations.states.iter().zip(&equations.rates) {
            found.push((pool.diff(increment, state.symbol), *rate));
        }
        let sum = |list: Vec<(Expr, Expr)>| -> Option<f64> {
            list.into_iter().map(|(a, b)| Some(number(pool, a)? * number(pool, b)?)).sum()
        };
        let (Some(found), Some(expected)) = (sum(found), sum(expected)) else { return Ok(false) };
        if (found - expected).abs() > 1e-6 * (1.0 + found.abs().max(expected.abs())) {
            return Err(format!("the rate of the increment of x{i} is {found}, not {expected}\n{text}"));
        }
    }
    Ok(true)
}

#[test]
fn the_pair_of_a_nonlinear_model_obeys_the_sensitivity_equation() {
    let judged = check(240, &Options { junctions: 2..=7, ..Options::nonlinear() }, |text, _| {
        judge_rates(text, "Delta_", |original| {
            original.derived(&Request { pair: true, ..all(&original.graph) }).1
        })
    });
    assert!(judged > 50, "only {judged} models were judged");
}

#[test]
fn the_sensitivity_graph_obeys_the_sensitivity_equation() {
    let judged = check(240, &Options { junctions: 2..=7, ..Options::nonlinear() }, |text, _| {
        judge_rates(text, "lambda_", |original| {
            let parameters: Vec<usize> = (0..original.graph.parameters.len()).collect();
            let Model { pool, graph, causality } = original;
            let ticket = paynter_base::Ticket::new();
            let graph = pseudo(pool, graph, causality, &parameters, Sensitivity::Weighted, &ticket).unwrap();
            to_text(pool, &graph, &TextOptions::default())
        })
    });
    assert!(judged > 50, "only {judged} models were judged");
}
