//! The examples and random models at other values are as loaded with them. `PAYNTER_RANDOM=N` takes N random models
//! instead of a few, `PAYNTER_RANDOM_FROM=K` starts at seed K.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::values::{FURTHER_QUESTIONS, QUESTIONS, Question, anew, differs, documents, number, shares};
use common::{findings, load, load_with};
use paynter::{Model, NewValue, examples};
use paynter_base::random::Random;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options, generate};

/// The parameters of a model in the units of their declarations, and its inputs with some number.
fn values(model: &Model) -> Vec<(String, f64)> {
    let graph = model.graph().unwrap();
    let factor =
        |unit: &Option<_>| unit.as_ref().map_or(1.0, |unit: &paynter_graph::dimension::Unit| unit.factor);
    let parameters = graph.parameters.iter().map(|p| (p.name.clone(), p.number / factor(&p.unit)));
    parameters.chain(graph.inputs.iter().map(|input| (input.name.clone(), 0.5))).collect()
}

/// One in so many parameters and inputs of a model is asked all questions at other values; on demand more of them.
const ASKED: usize = 3;

/// Compares a model with every parameter and input at other values: nearby, of the other sign, and zero. Returns
/// what differs, and how many of the models share the graph.
fn examine(name: &str, text: &str, set: &[(&str, &str)]) -> (Vec<String>, usize, usize) {
    let (mut wrong, mut shared, mut all) = (Vec::new(), 0, 0);
    let model = load_with(text, set);
    for (place, (parameter, value)) in values(&model).into_iter().enumerate() {
        let asked = if place % ASKED < seeds(1).count() { QUESTIONS } else { &QUESTIONS[..2] };
        for (to, questions) in [(1.25 * value, asked), (-value, &QUESTIONS[..2]), (0.0, &QUESTIONS[..2])] {
            let changed = model.with([(parameter.as_str(), to)]);
            (all, shared) = (all + 1, shared + usize::from(shares(&changed, &model)));
            let expected = documents(&anew(text, set, &[(&parameter, number(to))]), questions);
            if let Some(how) = differs(&changed, &expected) {
                wrong.push(format!("{name}, {parameter} = {to}: {how}"));
            }
        }
    }
    (wrong, shared, all)
}

#[test]
fn every_example_at_other_values_is_as_loaded_with_them() {
    let (mut wrong, mut shared, mut all) = (Vec::new(), 0, 0);
    for example in examples::all() {
        let small: &[(&str, &str)] = if example.text.contains("param N ") { &[("N", "2")] } else { &[] };
        let found = examine(example.name, example.text, small);
        wrong.extend(found.0);
        (shared, all) = (shared + found.1, all + found.2);
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(5 * shared > 2 * all && shared < all, "{shared} of {all} share the graph");
}

#[test]
fn random_models_at_other_values_are_as_loaded_with_them() {
    let (mut wrong, mut shared, mut all) = (Vec::new(), 0, 0);
    for seed in seeds(6) {
        let kind = if seed % 3 == 0 { Options::linear() } else { Options::nonlinear() };
        let text = generate(seed, &kind.tiny()).text;
        if findings(&load(&text)).has_errors() {
            continue;
        }
        let found = examine(&format!("seed {seed}"), &text, &[]);
        wrong.extend(found.0.into_iter().map(|how| format!("{how}\n{text}")));
        (shared, all) = (shared + found.1, all + found.2);
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    demand("other values", all, 21, 6);
    demand("fifths of values that share the graph", 5 * shared, 2 * all + 1, 6);
}

/// Changes random models at random places again and again: to zero, to the other sign, near zero and elsewhere, two
/// values at once, and the size of an array.
#[test]
fn random_changes_one_after_the_other_are_as_loading_with_all_of_them() {
    let questions: Vec<Question> = [&QUESTIONS[..4], FURTHER_QUESTIONS].concat();
    let (mut compared, mut shared) = (0, 0);
    for seed in seeds(8) {
        let kind = if seed % 2 == 0 { Options::linear() } else { Options::nonlinear() };
        let rod = "model rod(param r = 1) { port a; R x = r; a -> x }";
        let row = "param count = 2; Se push = 1; 1 row; use rod rods[1..count](r = 0.5 + count); C tip = 1
            push -> row; for i in 1..count { row -> rods[i].a }; row -> tip";
        let text = generate(seed, &kind.tiny()).text;
        let (before, after) = text.rsplit_once('}').unwrap();
        let text = format!("{rod}\n{before}\n{row}\n}}{after}");
        let mut model = common::sound(&text);
        let known = values(&model);
        let mut random = Random::new(seed);
        let mut one_of = |count: usize| (random.unit() * count as f64) as usize;
        let mut all: Vec<(&str, NewValue)> = Vec::new();
        for _ in 0..4 {
            let mut changes: Vec<(&str, f64)> = Vec::new();
            for _ in 0..=one_of(2) {
                let pick = one_of(known.len() + 1);
                let Some((name, value)) = known.get(pick) else {
                    changes.push(("count", [1.0, 3.0, 2.0, 0.0, 2.5][one_of(5)]));
                    continue;
                };
                let factor = [0.0, -1.0, 1.25, 0.3, 1e-3, 7.0][one_of(6)];
                changes.push((name, factor * value));
            }
            for (name, value) in &changes {
                all.retain(|(known, _)| known != name);
                all.push((name, number(*value)));
            }
            let next = model.with(changes.iter().copied());
            (compared, shared) = (compared + 1, shared + usize::from(shares(&next, &model)));
            let expected = documents(&anew(&text, &[], &all), &questions);
            if let Some(how) = differs(&next, &expected) {
                panic!("seed {seed}, {changes:?} after {all:?}: {how}\n{text}");
            }
            model = next;
        }
    }
    demand("changes", compared, 32, 8);
    demand("changes that share the graph", shared, 6, 8);
}
