//! Models at other values beside the same models loaded with these values.

use super::{load, load_with, sound};
use paynter::json::{self, Naming};
use paynter::simulate::{Sensitivities, SimulateOptions};
use paynter::{Answer, Asked, BodeOptions, CancellationToken, Model, NewValue, Plain, QueryError};
use serde_json::Value;
use std::sync::Arc;

/// Numbers of a graph that is made and of one that is read again from its text differ by so much.
pub const ROUNDING: f64 = 1e-12;

/// Documents by the questions that they answer.
pub type Documents = Vec<(&'static str, Value)>;

/// The document of an answer, or why there is none.
pub fn told<T>(
    model: &Model,
    asked: Asked<T>,
    document: impl FnOnce(&Answer<T>) -> serde_json::Result<Value>,
) -> Value {
    match asked {
        Ok(answer) => document(&answer).unwrap(),
        Err(QueryError::Cancelled) => panic!("nobody cancels"),
        Err(QueryError::Wrong(found)) => {
            serde_json::to_value(json::Diagnostic::list(&found, model.sources(), &Plain)).unwrap()
        }
    }
}

/// The findings of a check.
pub fn check(model: &Model) -> Value {
    told(model, model.check(&CancellationToken::new()), |a| serde_json::to_value(a.document(&Plain)))
}

/// The equations.
pub fn equations(model: &Model) -> Value {
    told(model, model.equations(&CancellationToken::new()), |a| serde_json::to_value(a.document(&Plain)))
}

/// The poles.
pub fn poles(model: &Model) -> Value {
    told(model, model.poles(&CancellationToken::new()), |a| {
        serde_json::to_value(a.document(Naming::Flat, &Plain))
    })
}

/// A short run.
pub fn simulated(model: &Model) -> Value {
    let plain = SimulateOptions { t_end: Some(0.1), points: 4, ..SimulateOptions::default() };
    run(model, &SimulateOptions { max_steps: 2_000, ..plain })
}

/// A short run with sensitivities to all parameters and initial states.
pub fn differentiated(model: &Model) -> Value {
    let sensitivities = Sensitivities::Names(vec!["all".to_owned(), "init".to_owned()]);
    let plain =
        SimulateOptions { t_end: Some(0.1), points: 3, max_steps: 2_000, ..SimulateOptions::default() };
    run(model, &SimulateOptions { sensitivities, ..plain })
}

/// A run.
pub fn run(model: &Model, options: &SimulateOptions) -> Value {
    told(model, model.simulation(options, &CancellationToken::new()), |a| {
        let (response, outcome) = a.respond(&a.parameters, &CancellationToken::new());
        let said = a.explain(&a.parameters, &outcome);
        let diagnostics = json::Diagnostic::list(&said, &a.sources, &Plain);
        serde_json::to_value(json::Simulation::new(a, &response, &outcome, &said, diagnostics))
    })
}

/// A question: its name, and its document.
pub type Question = (&'static str, fn(&Model) -> Value);

/// The questions that models at other values are asked.
pub const QUESTIONS: &[Question] = &[
    ("check", check),
    ("equations", equations),
    ("poles", poles),
    ("simulate", simulated),
    ("simulate with sensitivities", differentiated),
];

/// Those that runs answer: models that swing for ever are long searched for a rest before they have no poles.
pub const RUNS: &[Question] = &[
    ("check", check),
    ("equations", equations),
    ("simulate", simulated),
    ("simulate with sensitivities", differentiated),
];

fn operating_point(model: &Model) -> Value {
    told(model, model.operating_point(&CancellationToken::new()), |a| {
        serde_json::to_value(a.document(&Plain))
    })
}

fn structure(model: &Model) -> Value {
    told(model, model.structure(true, &CancellationToken::new()), |a| {
        serde_json::to_value(a.document(&Plain))
    })
}

fn bode(model: &Model) -> Value {
    told(model, model.bode(&BodeOptions::default(), &CancellationToken::new()), |a| {
        serde_json::to_value(a.document(&Plain))
    })
}

/// Questions that build on what the others need.
pub const FURTHER_QUESTIONS: &[Question] =
    &[("operating point", operating_point), ("structure", structure), ("bode", bode)];

/// The first place where two documents differ, numbers by more than a part of themselves.
pub fn difference(found: &Value, expected: &Value, place: &str, rounding: f64) -> Option<String> {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            let near = a == b || (a - b).abs() <= rounding * a.abs().max(b.abs());
            (!near).then(|| format!("{place} is {a}, not {b}"))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| difference(a, b, &format!("{place}[{i}]"), rounding))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .zip(b.values())
            .find_map(|((key, a), b)| difference(a, b, &format!("{place}.{key}"), rounding)),
        _ => (found != expected).then(|| format!("{place} is\n{found:#}\ninstead of\n{expected:#}")),
    }
}

/// A value as a number.
pub fn number(value: f64) -> NewValue {
    NewValue::Number(value)
}

/// The new values as one would write them when loading.
fn written(values: &[(&str, NewValue)]) -> Vec<(String, String)> {
    let text = |value: &NewValue| match value {
        NewValue::Number(number) => format!("{number:?}"),
        NewValue::Written(text) => text.clone(),
    };
    values.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect()
}

/// A model loaded with new values.
pub fn anew(text: &str, set: &[(&str, &str)], values: &[(&str, NewValue)]) -> Model {
    let values = written(values);
    let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let set: Vec<(&str, &str)> =
        set.iter().copied().filter(|(name, _)| values.clone().all(|(other, _)| other != *name)).collect();
    load_with(text, &set.into_iter().chain(values).collect::<Vec<_>>())
}

/// The documents of some questions.
pub fn documents(model: &Model, questions: &[Question]) -> Documents {
    questions.iter().map(|(name, ask)| (*name, ask(model))).collect()
}

/// What a model answers otherwise than expected, if anything.
pub fn differs(model: &Model, expected: &Documents) -> Option<String> {
    let all = || QUESTIONS.iter().chain(FURTHER_QUESTIONS);
    let ask = |name: &str| all().find(|(other, _)| *other == name).map(|(_, ask)| ask(model)).unwrap();
    expected.iter().find_map(|(name, expected)| difference(&ask(name), expected, name, 0.0))
}

/// Whether a model has taken its graph over from another.
pub fn shares(model: &Model, other: &Model) -> bool {
    Arc::ptr_eq(model.sources(), other.sources())
}

/// Compares a model at new values with one that is loaded with them, both where the model has answered before and
/// where it has not.
#[track_caller]
pub fn assert_as_anew(text: &str, set: &[(&str, &str)], values: &[(&str, NewValue)]) {
    sound(text);
    let expected = documents(&anew(text, set, values), QUESTIONS);
    let (asked, unasked) = (load_with(text, set), load_with(text, set));
    let own = documents(&asked, QUESTIONS);
    for model in [&asked, &unasked] {
        if let Some(how) = differs(&model.with(values.iter().cloned()), &expected) {
            panic!("{values:?}: {how}\n{text}");
        }
    }
    // Nothing has happened to the model itself.
    if let Some(how) = differs(&asked, &own) {
        panic!("{values:?} changed the model: {how}\n{text}");
    }
}

/// Compares a model at one new value after the other, and each beside the model itself.
#[track_caller]
pub fn assert_sweep(questions: &[Question], text: &str, name: &str, values: &[f64]) {
    let model = sound(text);
    let mut last = model.clone();
    for value in values {
        let expected = documents(&anew(text, &[], &[(name, number(*value))]), questions);
        last = last.with([(name, *value)]);
        for (way, changed) in [("after the last", &last), ("at once", &model.with([(name, *value)]))] {
            if let Some(how) = differs(changed, &expected) {
                panic!("{name} = {value} {way}: {how}\n{text}");
            }
        }
    }
}

/// A circuit in which causality divides by some values and not by others.
pub const CIRCUIT: &str = "model circuit {
    param Ra = 2 [ohm]; param Rb = 3 [ohm]; param L = 0.5 [H]; param C = 0.25 [F]; param n = 2
    input u = 1 [V]
    Se s = u; 1 a; R ra = Ra; I coil = L; TF t = n; 0 b; R rb = Rb; C c = C
    s -> a; a -> ra, coil, t; t -> b; b -> rb, c
    output v = c.e; output i = coil.f
}";

/// Two resistances between which no storage decides: a loop, whose divisor is made of both.
pub const LOOP: &str = "model loop {
    param R1 = 2; param R2 = 3; param g = 1
    input u = 1
    Se s = u; 1 a; R r1 = R1; 0 b; R r2 = R2; 1 c; C store = 2; R r3 { e = g*f }
    s -> a; a -> r1, b; b -> r2, c; c -> r3, store
    output v = store.e; output i = r1.f
}";

/// A law that may have to be inverted.
pub fn orifice(law: &str, source: &str) -> String {
    format!(
        "model orifice {{
            param k = 2; param n = 1.5
            input u = 1
            {source} s = u; 1 a; R r {{ {law} }}; 0 b; C c = 1; R out = 3
            s -> a; a -> r, b; b -> c, out
            output v = c.e; output f = r.f
        }}"
    )
}

/// A decision that hangs on values: its name, a model, and the values at which it is another.
pub type Decision<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);

/// Compares models at values for which a decision is another with those that are loaded with them.
#[track_caller]
pub fn assert_guarded(questions: &[Question], decisions: &[Decision]) {
    let mut wrong = Vec::new();
    for (decision, text, values) in decisions {
        let values: Vec<(&str, NewValue)> = values.iter().map(|(name, to)| (*name, number(*to))).collect();
        let (own, fresh) = (sound(text), anew(text, &[], &values));
        let (own, expected) = (documents(&own, questions), documents(&fresh, questions));
        if own == expected {
            wrong.push(format!("{decision}: the value changes nothing\n{text}"));
        }
        if let Some(how) = differs(&load(text).with(values.iter().cloned()), &expected) {
            wrong.push(format!("{decision}: {how}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
