//! A model at other values is the model that one loads with these values: values of every kind and in every form.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::values::{
    CIRCUIT, LOOP, QUESTIONS, ROUNDING, anew, assert_as_anew, check, difference, differs, documents, number,
    shares, told,
};
use common::{example, findings, load, load_with};
use paynter::{
    CancellationToken, DerivedForm, IncrementalOptions, LoadOptions, MemoryWorld, Model, NewValue, Plain,
    ResponseOptions,
};

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
