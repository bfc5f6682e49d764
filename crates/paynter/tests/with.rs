//! A model at other values is the model that one loads with these values: whether its stages are shared, derived
//! again from some stage on, or made anew from the text. `PAYNTER_RANDOM=N` takes N random models instead of a few,
//! `PAYNTER_RANDOM_FROM=K` starts at seed K.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{example, findings, load, load_with};
use paynter::json::{self, Naming};
use paynter::simulate::{Cost, CostKind, Sensitivities, SimulateOptions};
use paynter::{
    Answer, Asked, BodeOptions, CancellationToken, DerivedForm, IncrementalOptions, LoadOptions, MemoryWorld,
    Model, NewValue, Plain, QueryError, ResponseOptions, examples,
};
use paynter_base::random::Random;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options, generate};
use serde_json::Value;
use std::sync::Arc;

/// Numbers of a graph that is made and of one that is read again from its text differ by so much.
const ROUNDING: f64 = 1e-12;

/// Documents by the questions that they answer.
type Documents = Vec<(&'static str, Value)>;

/// The document of an answer, or why there is none.
fn told<T>(
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

fn check(model: &Model) -> Value {
    told(model, model.check(&CancellationToken::new()), |a| serde_json::to_value(a.document(&Plain)))
}

fn equations(model: &Model) -> Value {
    told(model, model.equations(&CancellationToken::new()), |a| serde_json::to_value(a.document(&Plain)))
}

fn poles(model: &Model) -> Value {
    told(model, model.poles(&CancellationToken::new()), |a| {
        serde_json::to_value(a.document(Naming::Flat, &Plain))
    })
}

fn simulated(model: &Model) -> Value {
    let plain = SimulateOptions { t_end: Some(0.1), points: 4, ..SimulateOptions::default() };
    run(model, &SimulateOptions { max_steps: 2_000, ..plain })
}

fn differentiated(model: &Model) -> Value {
    let sensitivities = Sensitivities::Names(vec!["all".to_owned(), "init".to_owned()]);
    let plain =
        SimulateOptions { t_end: Some(0.1), points: 3, max_steps: 2_000, ..SimulateOptions::default() };
    run(model, &SimulateOptions { sensitivities, ..plain })
}

fn run(model: &Model, options: &SimulateOptions) -> Value {
    told(model, model.simulation(options, &CancellationToken::new()), |a| {
        let (response, outcome) = a.respond(&a.parameters, &CancellationToken::new());
        let said = a.explain(&a.parameters, &outcome);
        let diagnostics = json::Diagnostic::list(&said, &a.sources, &Plain);
        serde_json::to_value(json::Simulation::new(a, &response, &outcome, &said, diagnostics))
    })
}

type Question = (&'static str, fn(&Model) -> Value);

const QUESTIONS: &[Question] = &[
    ("check", check),
    ("equations", equations),
    ("poles", poles),
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
const FURTHER_QUESTIONS: &[Question] =
    &[("operating point", operating_point), ("structure", structure), ("bode", bode)];

/// The first place where two documents differ, numbers by more than a part of themselves.
fn difference(found: &Value, expected: &Value, place: &str, rounding: f64) -> Option<String> {
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

/// The new values as one would write them when loading.
fn written(values: &[(&str, NewValue)]) -> Vec<(String, String)> {
    let text = |value: &NewValue| match value {
        NewValue::Number(number) => format!("{number:?}"),
        NewValue::Written(text) => text.clone(),
    };
    values.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect()
}

/// A model loaded with new values.
fn anew(text: &str, set: &[(&str, &str)], values: &[(&str, NewValue)]) -> Model {
    let values = written(values);
    let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let set: Vec<(&str, &str)> =
        set.iter().copied().filter(|(name, _)| values.clone().all(|(other, _)| other != *name)).collect();
    load_with(text, &set.into_iter().chain(values).collect::<Vec<_>>())
}

fn documents(model: &Model, questions: &[Question]) -> Documents {
    questions.iter().map(|(name, ask)| (*name, ask(model))).collect()
}

/// What a model answers otherwise than expected, if anything.
fn differs(model: &Model, expected: &Documents) -> Option<String> {
    let all = || QUESTIONS.iter().chain(FURTHER_QUESTIONS);
    let ask = |name: &str| all().find(|(other, _)| *other == name).map(|(_, ask)| ask(model)).unwrap();
    expected.iter().find_map(|(name, expected)| difference(&ask(name), expected, name, 0.0))
}

/// Whether a model has taken its graph over from another.
fn shares(model: &Model, other: &Model) -> bool {
    Arc::ptr_eq(model.sources(), other.sources())
}

/// Compares a model at new values with one that is loaded with them, both where the model has answered before and
/// where it has not.
#[track_caller]
fn assert_as_anew(text: &str, set: &[(&str, &str)], values: &[(&str, NewValue)]) {
    common::sound(text);
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
fn assert_sweep(text: &str, name: &str, values: &[f64]) {
    let model = common::sound(text);
    let mut last = model.clone();
    for value in values {
        let expected = documents(&anew(text, &[], &[(name, number(*value))]), QUESTIONS);
        last = last.with([(name, *value)]);
        for (way, changed) in [("after the last", &last), ("at once", &model.with([(name, *value)]))] {
            if let Some(how) = differs(changed, &expected) {
                panic!("{name} = {value} {way}: {how}\n{text}");
            }
        }
    }
}

fn number(value: f64) -> NewValue {
    NewValue::Number(value)
}

const CIRCUIT: &str = "model circuit {
    param Ra = 2 [ohm]; param Rb = 3 [ohm]; param L = 0.5 [H]; param C = 0.25 [F]; param n = 2
    input u = 1 [V]
    Se s = u; 1 a; R ra = Ra; I coil = L; TF t = n; 0 b; R rb = Rb; C c = C
    s -> a; a -> ra, coil, t; t -> b; b -> rb, c
    output v = c.e; output i = coil.f
}";

/// Two resistances between which no storage decides: a loop, whose divisor is made of both.
const LOOP: &str = "model loop {
    param R1 = 2; param R2 = 3; param g = 1
    input u = 1
    Se s = u; 1 a; R r1 = R1; 0 b; R r2 = R2; 1 c; C store = 2; R r3 { e = g*f }
    s -> a; a -> r1, b; b -> r2, c; c -> r3, store
    output v = store.e; output i = r1.f
}";

/// A law that may have to be inverted.
fn orifice(law: &str, source: &str) -> String {
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

#[test]
fn values_on_the_same_side_of_everything_share_all_stages() {
    assert_as_anew(CIRCUIT, &[], &[("Ra", number(2.5)), ("C", number(1e-3)), ("n", number(0.7))]);
    assert_as_anew(CIRCUIT, &[("Ra", "7")], &[("Rb", number(1.0 / 3.0)), ("u", number(-3.0))]);
    assert_as_anew(LOOP, &[], &[("R1", number(1e6)), ("R2", number(1e-6)), ("g", number(12.25))]);
    let circuit = load(CIRCUIT);
    assert!(shares(&circuit.with([("Ra", 2.5), ("u", -1.0)]), &circuit));
    assert!(shares(&circuit.with([("Ra", "2.5")]), &circuit));
    assert!(!shares(&circuit.with([("Ra", "2.5 [ohm]")]), &circuit));
}

#[test]
fn values_may_become_zero() {
    for name in ["Ra", "Rb", "L", "C", "n"] {
        assert_as_anew(CIRCUIT, &[], &[(name, number(0.0))]);
        // And from zero to a value.
        assert_as_anew(CIRCUIT, &[(name, "0")], &[(name, number(1.5))]);
    }
    for names in [&["R1"][..], &["R2"], &["g"], &["R1", "g"], &["R1", "R2", "g"]] {
        let values: Vec<(&str, NewValue)> = names.iter().map(|name| (*name, number(0.0))).collect();
        assert_as_anew(LOOP, &[], &values);
    }
    assert_as_anew(example("relay"), &[], &[("Gl", number(0.0))]);
    assert_as_anew(example("relay"), &[("Gl", "0")], &[("Gl", number(1e-4))]);
    let switch = example("half_wave_rectifier").replace("{ Ron = Rd }", "{ Ron = Rd; Goff = G }");
    let switch = switch.replace("    input u", "    param G = 1e-6 [S]\n\n    input u");
    assert_as_anew(&switch, &[], &[("G", number(0.0))]);
    assert_as_anew(&switch, &[("G", "0")], &[("G", number(1e-6))]);
    assert_as_anew(&switch, &[], &[("Rd", number(0.0))]);
}

#[test]
fn values_may_change_their_signs() {
    for name in ["Ra", "Rb", "L", "C", "n"] {
        assert_as_anew(CIRCUIT, &[], &[(name, number(-1.5))]);
        assert_as_anew(CIRCUIT, &[(name, "-1.5")], &[(name, number(-2.5))]);
    }
    assert_as_anew(LOOP, &[], &[("R1", number(-3.0))]);
    for source in ["Se", "Sf"] {
        for law in [
            "e = k*f*abs(f)",
            "f = k*e*abs(e)",
            "e = k*sign(f)*abs(f)^n",
            "f = k*sign(e)*abs(e)^(1/n)",
            "e = k*f^3 + f",
            "e = if(k > 0, k*f, 2*f)",
            "e = sqrt(k^2)*f*abs(f)",
            "e = abs(k)*f",
            "e = k*(exp(f/n) - 1)",
        ] {
            let text = orifice(law, source);
            for values in [
                [("k", number(-2.0))].as_slice(),
                &[("k", number(0.0))],
                &[("n", number(-0.5))],
                &[("n", number(2.0))],
                &[("n", number(1.0))],
                &[("n", number(0.0))],
                &[("n", number(3.0)), ("k", number(-1.0))],
            ] {
                assert_as_anew(&text, &[], values);
            }
            assert_as_anew(&text, &[("k", "-2")], &[("k", number(2.0))]);
        }
    }
}

#[test]
fn divisors_made_of_several_values_may_vanish() {
    let text = "model m { param a = 3; param b = 2; param d = 1; input u = 1
        Se s = u; 1 j; R r { e = f/(a - b) }; C c = d*(a - 2*b + 2); I l = a + b
        s -> j; j -> r, c, l; output y = c.e }";
    for (a, b) in [(2.0, 2.0), (2.0, 3.0), (4.0, 3.0), (3.0, -3.0), (0.0, 0.0), (3.0, 5.0)] {
        assert_as_anew(text, &[], &[("a", number(a)), ("b", number(b))]);
    }
    // A field that is no longer positive definite, or has no inverse.
    let text = "model m { param a = 2; param b = 0.5; param d = 3; input u = 1
        Se s = u; 1 l; 0 n; C c[2] = [[a, b], [b, d]]; R r = 1; R x = 1
        s -> l; l -> c.1, x; n -> c.2, r; output y = c.e2 }";
    for values in [("b", 6f64.sqrt()), ("b", 3.0), ("a", 0.0), ("d", -3.0), ("a", 1.0 / 12.0)] {
        assert_as_anew(text, &[], &[(values.0, number(values.1))]);
    }
    // Initial states that contradict each other for one value, and not for another.
    let text = "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r
        init a.q = k; init b.q = 2; output v = a.e }";
    for k in [3.0, 1.0, 1.0 + 1e-9] {
        assert_as_anew(text, &[], &[("k", number(k))]);
        assert_as_anew(text, &[("k", "3")], &[("k", number(k))]);
    }
}

#[test]
fn structural_parameters_make_the_model_anew() {
    let chain = example("chain");
    assert_as_anew(chain, &[("N", "3")], &[("N", number(4.0))]);
    assert_as_anew(chain, &[("N", "3")], &[("N", number(1.0)), ("k0", number(50.0))]);
    assert_as_anew(chain, &[("N", "3")], &[("k0", number(50.0)), ("F", number(2.0))]);
    for wrong in [0.0, -1.0, 2.5] {
        assert_as_anew(chain, &[("N", "3")], &[("N", number(wrong))]);
    }
    // Size and value at once.
    let text = "model rod(param r = 1) { port a; R x = r; a -> x }
        model m { param N = 2; Se s = 1; 1 j; use rod rods[1..N](r = N); C c = 1/N; s -> j
        for i in 1..N { j -> rods[i].a }; j -> c; output y = c.e }";
    for size in [3.0, 1.0, 0.0, 2.5] {
        assert_as_anew(text, &[], &[("N", number(size))]);
    }
}

#[test]
fn derived_parameters_inputs_and_units() {
    let text = "model m { param k = 4 ±10%; param C = 1/k; param R = 2 [kohm]; param m = 3 [g] in [1, 10]
        input u = sin(2*t) [mV]; input w
        Se s = u; 1 j; R r = R; C c = C; I i = 1; R o = 5; Se x = w; s -> j; x -> j; j -> r, c, i, o
        output y = c.e; output z = m }";
    common::sound(text);
    for values in [
        [("C", number(3.0))].as_slice(),
        &[("k", number(3.0))],
        &[("C", number(3.0)), ("k", number(3.0))],
        &[("R", number(5.0))],
        &[("R", NewValue::Written("2 [ohm]".to_owned()))],
        &[("m", number(2.0))],
        &[("m", number(20.0))],
        &[("u", number(7.0))],
        &[("u", number(0.0)), ("w", number(-1.0))],
        &[("w", NewValue::Written("2*t".to_owned()))],
        &[("u", NewValue::Written("2 [V]".to_owned())), ("k", number(5.0))],
    ] {
        assert_as_anew(text, &[], values);
        assert_as_anew(text, &[("u", "1"), ("R", "3")], values);
    }
    let plain =
        "model m { param R = 2 [ohm]; param C = 1 [F]; input u = 1 [V]; Se s = u; 1 j; R r = R; C c = C
        s -> j; j -> r, c; output y = c.e }";
    common::sound(plain);
    for values in [
        [("R", NewValue::Written("2 [kohm]".to_owned()))].as_slice(),
        &[("R", NewValue::Written("2e3".to_owned()))],
        &[("R", NewValue::Written("1/3 [Mohm]".to_owned())), ("u", number(2.0))],
        &[("R", NewValue::Written("2 [m]".to_owned()))],
        &[("R", NewValue::Written("2*".to_owned()))],
        &[("R", NewValue::Written("C".to_owned()))],
        &[("u", NewValue::Written("2 [mV]".to_owned()))],
        &[("u", NewValue::Written("sin(t)".to_owned()))],
    ] {
        assert_as_anew(plain, &[], values);
    }
    // A number after a value with a unit of its own is in the unit of the declaration again.
    for (set, value) in [("2 [kohm]", 1500.0), ("1/3 [Mohm]", 7.0), ("5", 2.5)] {
        assert_as_anew(plain, &[("R", set)], &[("R", number(value))]);
        let changed = load_with(plain, &[("R", set)]).with([("R", value)]);
        assert_eq!(changed.graph().unwrap().parameters[0].number, value);
    }
    // A number in the unit of the declaration, as text or as a number.
    let milli = plain.replace("R = 2 [ohm]", "R = 2000 [mohm]").replace("u = 1 [V]", "u = 1 [mV]");
    for value in [1500.0, 0.1, 1.0 / 3.0, 1e-300, 6.02214076e23, 0.0, -2.0] {
        assert_as_anew(&milli, &[], &[("R", number(value))]);
        assert_as_anew(&milli, &[], &[("u", number(value))]);
        let (one, other) =
            (load(&milli).with([("R", value)]), load(&milli).with([("R", &*value.to_string())]));
        assert_eq!(check(&one), check(&other));
        let value = |model: &Model| model.graph().unwrap().parameters[0].number;
        assert_eq!(value(&one), value(&other));
    }
}

#[test]
fn unknown_names_and_values_that_are_none_are_refused_as_when_loading() {
    for values in [
        [("Rx", number(1.0))].as_slice(),
        &[("Rx", number(1.0)), ("Ra", number(3.0))],
        &[("ra", number(1.0))],
        &[("c.q", number(1.0))],
        &[("v", number(1.0))],
        &[("Ra", NewValue::Written("two".to_owned()))],
        &[("Ra", NewValue::Written(String::new()))],
        &[("Ra", NewValue::Written("2 [s]".to_owned()))],
    ] {
        let changed = load(CIRCUIT).with(values.iter().cloned());
        assert!(findings(&changed).has_errors(), "{values:?}");
        assert_as_anew(CIRCUIT, &[], values);
        // A refused value can be taken back.
        let mended = changed.with([("Ra", 2.0)]);
        let still = values.iter().any(|(name, _)| *name != "Ra");
        assert_eq!(findings(&mended).has_errors(), still, "{values:?}");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308 * 10.0] {
        assert!(findings(&load(CIRCUIT).with([("Ra", value)])).has_errors(), "{value}");
    }
}

#[test]
fn tolerances_and_bounds_are_those_of_the_new_value() {
    let text =
        "model m { param R = 2 [ohm] ±10%; param C = 1 [F] ±0.2; param k = 3 ±20% in [1, 10]; input u = 1
        Se s = u; 1 j; R r = R; C c = C; R x = k; s -> j; j -> r, c, x; output y = c.e }";
    let bands = |model: &Model| {
        let options = ResponseOptions { omega: None, ..ResponseOptions::default() };
        told(model, model.sensitivity_response(&options, &CancellationToken::new()), |a| {
            serde_json::to_value(a.document(&Plain))
        })
    };
    for values in [
        [("R", number(0.0))].as_slice(),
        &[("R", number(4.0))],
        &[("R", number(-2.0))],
        &[("C", number(0.1))],
        &[("C", number(0.2))],
        &[("C", number(0.0))],
        &[("k", number(0.0))],
        &[("k", number(0.5))],
        &[("k", number(20.0))],
    ] {
        assert_as_anew(text, &[], values);
        assert_as_anew(text, &[("R", "3"), ("k", "20")], values);
        let (changed, fresh) = (load(text).with(values.iter().cloned()), anew(text, &[], values));
        if let Some(how) = difference(&bands(&changed), &bands(&fresh), "bands", 0.0) {
            panic!("{values:?}: {how}");
        }
    }
}

/// What can vanish within its tolerance either way is another mistake where it is zero now.
#[test]
fn divisors_that_can_vanish_may_be_zero_at_the_new_value() {
    let text = "model m { param n = 0.1 ±0.2; input u = 1; Se s = u; TF t = n; R r = 2
        s -> t; t -> r; output y = r.f }";
    for value in [0.0, 0.05, -0.1] {
        assert_as_anew(text, &[], &[("n", number(value))]);
        assert_as_anew(text, &[("n", "0")], &[("n", number(value))]);
    }
    assert_sweep(text, "n", &[0.1, 0.0, 0.1, -0.1]);
}

/// What stages take for granted about values, one decision each: a model in which it alone hangs on the new value.
/// Tolerances make what can vanish while its sign and all other values stay as they are.
#[test]
fn every_decision_on_values_is_guarded() {
    let mut wrong = Vec::new();
    let crank = CRANK.replace("r = 0.1 [m]", "r = 0.1 [m] ±0.05");
    for (decision, text, values) in [
        (
            "a derived parameter is finite",
            "model m { param k = 2; param a = sqrt(k); Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c
                output y = c.e }",
            [("k", -1.0)].as_slice(),
        ),
        (
            "percents are of something",
            "model m { param k = 2 ±10%; Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = k*c.e }",
            &[("k", 0.0)],
        ),
        (
            "the size of a tolerance",
            "model m { param w = 0.1; param n = 1 ±w; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("w", 2.0)],
        ),
        (
            "a value lies within its bounds",
            "model m { param top = 10; param k = 3 in [1, top]; Se s = 1; R r = k; s -> r; output y = r.f }",
            &[("top", 2.0)],
        ),
        (
            "a value is finite",
            "model m { param k = 2; Se s = sqrt(k); 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = c.e }",
            &[("k", -1.0)],
        ),
        (
            "a closed switch has a resistance",
            "model m { param Ron = 1; Se s = 1; 1 j; Sw w when (t > 1) { Ron = Ron; Goff = 0.1 }; C c = 1
                s -> j; j -> w, c; output y = c.e }",
            &[("Ron", -1.0)],
        ),
        (
            "an open switch drives no flow",
            "model m { param G = 0.1; Se s = 1; 1 j; Sw w when (t > 1) { Ron = 1; Goff = G }; C c = 1
                s -> j; j -> w, c; output y = c.e }",
            &[("G", -0.1)],
        ),
        (
            "a switch can be turned round",
            "model m { param G = 1 ±0.5; Sf s = 1; 1 j; Sw w when (t > 1) { Ron = 1; Goff = G }; R r = 1
                s -> j; j -> w, r; output y = w.e }",
            &[("G", 0.3)],
        ),
        (
            "a storage is positive",
            "model m { param C = 1; Se s = 1; 1 j; R r = 1; C c = C; s -> j; j -> r, c; output y = c.e }",
            &[("C", -1.0)],
        ),
        (
            "a field is positive definite",
            "model m { param b = 0.5; Se s = 1; 1 l; 0 n; C c[2] = [[2, b], [b, 3]]; R r = 1; R x = 1
                s -> l; l -> c.1, x; n -> c.2, r; output y = c.e2 }",
            &[("b", 3.0)],
        ),
        (
            "a law stores positive energy",
            "model m { param a = 1; Se s = 1; 1 j; R r = 1; C c { e = a*q + q^3 }; s -> j; j -> r, c; output y = c.e }",
            &[("a", -1.0)],
        ),
        (
            "a modulus cannot vanish",
            "model m { param n = 1 ±0.5; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("n", 0.3)],
        ),
        (
            "the reciprocal of a modulus cannot vanish",
            "model m { param a = 1 ±0.5; Sf s = 1; TF t = 1/a; R r = 2; s -> t; t -> r; output y = r.e }",
            &[("a", 0.3)],
        ),
        (
            "a resistance cannot vanish",
            "model m { param R = 1 ±0.5; Se s = 1; R r = R; s -> r; output y = r.f }",
            &[("R", 0.3)],
        ),
        (
            "a law can be turned round",
            "model m { param k = 1 ±0.5; Se s = 1; R r { e = k*f*abs(f) }; s -> r; output y = r.f }",
            &[("k", 0.3)],
        ),
        (
            "a divisor that can vanish is not zero",
            "model m { param n = 0.1 ±0.2; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("n", 0.0)],
        ),
        (
            "the law of a field can be solved",
            "model m { param k = 2 ±1; Se s = 1; Se z = 2; 1 a; 1 c; C y = 1; R x = 1
                R f[2] { 2*e1 = k*f1*abs(f1); e2 = 3*f2 }
                s -> a; z -> c; a -> f.1, y; c -> f.2, x; output v = y.e }",
            &[("k", 0.5)],
        ),
        (
            "the pivot of a linear loop cannot vanish",
            "model m { param R = 3 ±1; Se s = 1; 1 a; R r = R; R x = 2; C c = 1; s -> a; a -> r, x, c; output y = c.e }",
            &[("R", -1.5)],
        ),
        (
            "a nonlinear loop has one solution",
            "model m { param R = 3; param k = 2; Sf s = 1; 0 b; C c = 1; 1 a; R r { e = k*f*abs(f) }; R x = R
                s -> b; b -> c, a; a -> r, x; output y = c.e; output f = r.f }",
            &[("R", -3.0)],
        ),
        (
            "the pivot of what is linear in a nonlinear loop cannot vanish",
            "model m { param R = 3 ±1; Se s = 1; 1 a; R r = R; R x = 2; 0 b; R n { f = e^3 + 2*e }; 1 c; R o = 5
                0 d; R p = 1; R q { f = e^5 + e }
                s -> a; a -> r, x, b; b -> n, c; c -> o, d; d -> p, q; output y = n.e; output f = x.f }",
            &[("R", -1.5)],
        ),
        (
            "a divisor of the equations is not zero",
            "model m { param a = 3; Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = c.e/(a - 2) }",
            &[("a", 2.0)],
        ),
        (
            "initial states agree",
            "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r; init a.q = k; init b.q = 2
                output v = a.e }",
            &[("k", 3.0)],
        ),
        (
            "an input that an initial state hangs on",
            "model m { input u = 1; Se s = u; 1 a; C c = 1; 0 b; C d = 2; R r = 1; s -> a; a -> c, b; b -> d, r
                init d.q = 5; output v = c.e }",
            &[("u", 3.0)],
        ),
        (
            "the coefficient of an initial state cannot vanish",
            "model m { param b = 0.5; Se s = 1; R x = 1; 1 i; 0 j; C c = 1; C f[2] = [[2, b], [b, 3]]; R r = 1
                s -> i; i -> x, j; j -> c, f.1, f.2, r; init f.q1 = 2; output v = c.e }",
            &[("b", -2.0)],
        ),
        (
            "the law of an initial state can be solved",
            "model m { param k = 2 ±1; Se s = 1; R x = 1; 1 i; 0 j; C c = 1; C f[2] { 2*q1 = atan(k*e1); q2 = e2 }
                R r = 1; 0 n; R y = 1; 1 o
                s -> i; i -> x, j; j -> c, f.1, r, o; o -> y, n; n -> f.2; init f.q1 = 0.3; output v = c.e }",
            &[("k", 0.5)],
        ),
        ("the rate that the law of a dependent storage gives", &crank, &[("r", 0.03)]),
        ("an input at the start of a run in other states", PENDULUM, &[("A", -1.0)]),
    ] {
        let values: Vec<(&str, NewValue)> = values.iter().map(|(name, to)| (*name, number(*to))).collect();
        let (own, fresh) = (common::sound(text), anew(text, &[], &values));
        let (own, expected) = (documents(&own, QUESTIONS), documents(&fresh, QUESTIONS));
        if own == expected {
            wrong.push(format!("{decision}: the value changes nothing\n{text}"));
        }
        if let Some(how) = differs(&load(text).with(values.iter().cloned()), &expected) {
            wrong.push(format!("{decision}: {how}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_guard_may_fail_in_the_middle_of_a_sweep_and_hold_again() {
    assert_sweep(CIRCUIT, "Ra", &[2.0, 1.0, 0.0, -1.0, 0.0, 1.0, 2.0]);
    assert_sweep(CIRCUIT, "n", &[1.0, 0.0, -1.0, 2.0]);
    assert_sweep(CIRCUIT, "C", &[1.0, 0.0, 0.25]);
    assert_sweep(LOOP, "R1", &[1.0, 0.0, 2.0, -3.0, 2.0]);
    assert_sweep(&orifice("e = k*f*abs(f)", "Se"), "k", &[1.0, -1.0, 0.0, 1.0, 2.0]);
    assert_sweep(&orifice("e = k*sign(f)*abs(f)^n", "Se"), "n", &[1.0, 2.0, 0.0, 0.5, -1.0, 1.5]);
    assert_sweep(example("relay"), "Gl", &[1e-4, 0.0, 1e-3]);
}

#[test]
fn one_change_after_the_other_is_all_of_them_at_once() {
    let values = [("Ra", 0.0), ("u", 3.0), ("n", -1.0), ("Ra", 4.0), ("C", 0.5), ("u", 2.0), ("n", 1.0)];
    let mut changed = load(CIRCUIT);
    let mut all: Vec<(&str, NewValue)> = Vec::new();
    for (name, value) in values {
        changed = changed.with([(name, value)]);
        all.retain(|(known, _)| *known != name);
        all.push((name, number(value)));
        let expected = documents(&anew(CIRCUIT, &[], &all), QUESTIONS);
        if let Some(how) = differs(&changed, &expected) {
            panic!("{all:?}: {how}");
        }
    }
    // Nothing changes where nothing is given.
    let none: [(&str, f64); 0] = [];
    assert_eq!(differs(&load(CIRCUIT).with(none), &documents(&load(CIRCUIT), QUESTIONS)), None);
}

#[test]
fn derived_models_have_other_values_too() {
    for form in [DerivedForm::Incremental, DerivedForm::Linear, DerivedForm::Pseudo] {
        let pair = form == DerivedForm::Incremental;
        let options = IncrementalOptions { form, pair, ..IncrementalOptions::default() };
        let derived = load(CIRCUIT).incremental(&options, &CancellationToken::new()).unwrap();
        let name = match form {
            DerivedForm::Linear => "Rb",
            DerivedForm::Pseudo => "lambda_Ra",
            _ => "Delta_Ra",
        };
        for value in [0.0, 0.5, -1.0] {
            let changed = derived.model.with([(name, value)]);
            let fresh = anew(&derived.text, &[], &[(name, number(value))]);
            for (question, ask) in &QUESTIONS[2..4] {
                // Places are those of the original in one, and those of the text in the other.
                let (mut found, mut expected) = (ask(&changed), ask(&fresh));
                for document in [&mut found, &mut expected] {
                    if let Some(fields) = document.as_object_mut() {
                        fields.remove("diagnostics");
                    }
                    for finding in document.as_array_mut().into_iter().flatten() {
                        for place in ["file", "line", "column"] {
                            finding.as_object_mut().map(|fields| fields.remove(place));
                        }
                    }
                }
                if let Some(how) = difference(&found, &expected, question, ROUNDING) {
                    panic!("{form:?}, {name} = {value}: {how}\n{}", derived.text);
                }
            }
        }
    }
}

#[test]
fn inputs_that_modulate_may_become_constant_or_zero() {
    let text = "model m { param k = 2; input u = 1; input v = 2 + sin(t)
        Se s = 3; 1 j; MTF t = u; 0 n; C c = k; R r = 1; MGY g = v; 1 w; I i = 1; R x = 2
        s -> j; j -> x, t; t -> n; n -> c, r, g; g -> w; w -> i; output y = c.e; output z = i.f }";
    common::sound(text);
    for values in [
        [("u", number(0.0))].as_slice(),
        &[("u", number(-2.0))],
        &[("u", number(2.0)), ("v", number(0.0))],
        &[("v", number(3.0)), ("k", number(1.0))],
        &[("v", NewValue::Written("u*t".to_owned()))],
    ] {
        assert_as_anew(text, &[], values);
        assert_as_anew(text, &[("u", "0")], values);
    }
}

#[test]
fn parameters_of_parts_have_names_of_their_own() {
    let text = "model cell(param m = 1, param k = 2) { port left; port right
            1 v; I mass = m; 0 f; C spring = 1/k; left -> v; v -> mass, f; f -> spring, right }
        model chain { param q = 3; use cell c[1..3]; use cell d(m = 2*q); Se push = 1; R end = q
            push -> c[1].left; for i in 1..2 { c[i].right -> c[i+1].left }
            c[3].right -> d.left; d.right -> end; output y = end.f }";
    common::sound(text);
    for values in [
        [("c[2].m", number(5.0))].as_slice(),
        &[("c[2].m", number(0.0))],
        &[("c2.m", number(5.0))],
        &[("c[1].k", number(-5.0)), ("d.k", number(4.0))],
        &[("d.m", number(4.0))],
        &[("q", number(4.0))],
        &[("c[4].m", number(4.0))],
    ] {
        assert_as_anew(text, &[], values);
    }
    // The last of several values for one name counts.
    let chain = load(text);
    let twice = chain.with([("c[2].m", 7.0), ("q", 1.0), ("c[2].m", 5.0)]);
    let expected = anew(text, &[], &[("q", number(1.0)), ("c[2].m", number(5.0))]);
    assert_eq!(differs(&twice, &documents(&expected, QUESTIONS)), None);
}

#[test]
fn tables_stay_with_the_model() {
    let text =
        "model rod(param r = 1) { port a; R x = r; a -> x }
        model m { param R = 2; param N = 1; input u = table(\"d.csv\", v); Se s = u; 1 j; use rod rods[1..N](r = R)
        C c = 1; s -> j; for i in 1..N { j -> rods[i].a }; j -> c; output y = c.e }";
    let world = MemoryWorld::new().with("model.bg", text).with("d.csv", "t,v\n0,1\n0.05,3\n0.2,-1\n");
    let loaded = |set: &[(&str, &str)]| {
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Model::load(&world, "model.bg", &LoadOptions { set, ..LoadOptions::default() })
    };
    assert!(!findings(&loaded(&[])).has_errors());
    for (name, value) in [("R", "3"), ("R", "0"), ("R", "-1"), ("N", "2"), ("u", "4")] {
        let expected = documents(&loaded(&[(name, value)]), QUESTIONS);
        assert_eq!(differs(&loaded(&[]).with([(name, value)]), &expected), None, "{name} = {value}");
    }
}

#[test]
fn threads_may_change_one_model_at_once() {
    let values = [1.0, 0.0, -1.0, 3.0];
    let expected = values.map(|value| documents(&anew(CIRCUIT, &[], &[("Ra", number(value))]), QUESTIONS));
    let model = load(CIRCUIT);
    std::thread::scope(|scope| {
        for (value, expected) in values.iter().zip(&expected) {
            let model = &model;
            scope
                .spawn(move || assert_eq!(differs(&model.with([("Ra", *value)]), expected), None, "{value}"));
        }
    });
}

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

/// Equations of large models are used as they are derived, with the pivots that were chosen for the values.
#[test]
fn pivots_of_large_models_are_chosen_for_the_new_values() {
    let text = "model cell { port a; port b; 1 i; R r = 1; 0 n; C c = 1; a -> i; i -> r, n; n -> c, b }
        model m { param a = 2 ±1; Se s = 1; Se z = 2; 1 l; 1 o; R x = 1; R f[2] = [[a, 1], [1, 3]]
        use cell cells[1..201]; R last = 1; s -> l; l -> f.1, cells[1].a; z -> o; o -> f.2, x
        for i in 1..200 { cells[i].b -> cells[i+1].a }; cells[201].b -> last; output y = last.f; output v = f.f1 }";
    let model = common::sound(text);
    for value in [0.5, 0.1, 5.0] {
        let (found, expected) = (model.with([("a", value)]), anew(text, &[], &[("a", number(value))]));
        for (question, ask) in [QUESTIONS[0], QUESTIONS[3]] {
            assert_eq!(difference(&ask(&found), &ask(&expected), question, 0.0), None, "a = {value}");
        }
    }
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

/// A pendulum as a mass for each axis: neither tells at every angle how fast it turns, so that a run takes other
/// states than the model's own.
const PENDULUM: &str =
    "model pendulum { param m = 1; param l = 0.8; param g = 9.81; param phi0 = 3; param w0 = 0.4; param A = 4
    input u = sqrt(A) - 2; signal phi = integral(gauge.f, phi0); 1 turn; 1 x; 1 y; I mx = m; I my = m
    Se weight = -m*g; Se push = u; Df gauge; MTF vx = l*cos(phi); MTF vy = l*sin(phi) + u
    turn -> vx -> x; turn -> vy -> y; turn -> gauge; push -> turn; x -> mx; y -> my; weight -> y
    init my.p = m*l*sin(phi0)*w0; output angle = phi; output speed = gauge.f; output across = mx.f }";

/// A crank: its piston depends on its wheel by a modulus that passes through zero.
const CRANK: &str = "model crank { param r = 0.1 [m]; param J = 0.2; param k = 50; param w0 = 3; param A = 2
    input u = A; Se drive = u; 1 shaft; I wheel = J; init wheel.p = J*w0; R bearing = 0.1
    MTF t = r*sin(th); 1 rod; I piston = 1.5; C spring = 1/k; R guide = 0.7
    signal th = integral(shaft.f, 0.4)
    drive -> shaft; shaft -> wheel, bearing; shaft -> t; t -> rod; rod -> piston, spring, guide
    output x = spring.q; output w = wheel.f }";

#[test]
fn a_program_is_compiled_once_for_all_values_that_leave_it_as_it_is() {
    let token = CancellationToken::new();
    let sensitivities = Sensitivities::Names(vec!["all".to_owned(), "init".to_owned()]);
    let plain = SimulateOptions { t_end: Some(0.3), points: 5, ..SimulateOptions::default() };
    let options = SimulateOptions { sensitivities, ..plain.clone() };
    for (text, name, values) in [
        (CIRCUIT, "Ra", [3.0, 0.5, 7.0].as_slice()),
        (CRANK, "r", &[0.2, 0.05, 0.3]),
        (CRANK, "w0", &[1.0, 0.0, -2.0]),
        (PENDULUM, "l", &[0.5, 1.2]),
        (PENDULUM, "w0", &[0.1, 0.0, -1.0]),
        (PENDULUM, "phi0", &[1.0, 2.0, -2.0]),
        (example("relay"), "Gl", &[2e-4, 1e-3]),
    ] {
        common::sound(text);
        let model = load(text);
        for options in [&plain, &options] {
            let nominal = model.simulation(options, &token).unwrap();
            assert!(nominal.shares_program_with(&model.simulation(options, &token).unwrap()));
            for value in values {
                let changed = model.with([(name, *value)]);
                let shared = changed.simulation(options, &token).unwrap();
                assert!(shared.shares_program_with(&nominal), "{name} = {value}");
                assert_eq!(run(&changed, options), run(&anew(text, &[], &[(name, number(*value))]), options));
            }
        }
    }
}

#[test]
fn a_sweep_through_a_guard_compiles_anew_and_comes_back() {
    for (text, name, values) in [
        (CIRCUIT, "Ra", [2.0, 1.0, 0.0, -1.0, 1.0].as_slice()),
        (CRANK, "r", &[0.1, 0.2, 0.0, -0.1, 0.3]),
        (CRANK, "J", &[0.2, 0.4, 0.0, 0.1]),
        (CRANK, "k", &[50.0, 0.0, 20.0]),
        (CRANK, "A", &[2.0, 0.0, -1.0, 3.0]),
        (CRANK, "u", &[2.0, 0.0, -1.0, 3.0]),
        (PENDULUM, "l", &[0.5, -0.8]),
    ] {
        assert_sweep(text, name, values);
    }
}

#[test]
fn gradients_of_costs_share_their_program() {
    let token = CancellationToken::new();
    let costs = [Cost { kind: CostKind::Integral, output: "x".to_owned() }];
    let options = SimulateOptions { t_end: Some(0.5), ..SimulateOptions::default() };
    let model = load(CRANK);
    let nominal = model.gradients(&options, &costs, &token).unwrap();
    for value in [1.0, -2.0, 4.0] {
        let found = model.with([("w0", value)]).gradients(&options, &costs, &token).unwrap();
        let expected =
            anew(CRANK, &[], &[("w0", number(value))]).gradients(&options, &costs, &token).unwrap();
        assert!(found.result.simulation.shares_program_with(&nominal.result.simulation));
        assert_eq!(found.result.gradients, expected.result.gradients);
        assert_ne!(found.result.gradients, nominal.result.gradients);
    }
}
