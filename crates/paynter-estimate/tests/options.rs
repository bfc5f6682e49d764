//! What can be asked of an estimation: losses, sensors, experiments, pieces, bounds, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Model, messages, normal};
use paynter_base::FileId;
use paynter_base::random::Random;
use paynter_estimate::{EstimateOptions, Loss, Method, Part, Weight};
use paynter_simulate::data::Data;

const SPRING: &str = "model spring {
    param m = 2   [kg]   \"mass\"
    param k = 50  [N/m]  ±10%  // stiff
    param b = 0.4 [N*s/m]
    1 v; I mass = m; C spring = 1/k; R damper = b
    v -> mass, spring, damper
    init spring.q = 0.1
    output x = spring.q [cm]
}";

const RC: &str = "model rc { param R = 2; param C = 0.5; input u = 1; Se s = u; 1 l; R r = R; C c = C
    s -> l; l -> r, c; output y = c.e; output i = r.f }";

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn starts(list: &[(&str, f64)]) -> Vec<(String, f64)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn file(text: &str) -> Data {
    Data { path: "data.csv".to_owned(), content: text.as_bytes().to_vec() }
}

fn times(count: usize, end: f64) -> Vec<f64> {
    (0..count).map(|k| end * k as f64 / (count - 1) as f64).collect()
}

#[test]
fn what_the_data_do_not_determine_stays_and_is_named() {
    let mut model = Model::new(SPRING);
    let data = model.measure(&times(200, 3.0), "auto", None, &mut |_, y| y);
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let options = EstimateOptions {
            data: vec![data.clone()],
            fit: strings(&["m", "k", "b"]),
            start: starts(&[("m", 2.2), ("k", 52.0), ("b", 0.5)]),
            method,
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        assert_eq!((found.before.rank, found.after.rank), (2, 2), "{method:?}");
        assert_eq!(found.after.undetermined[0].determined, ["m/k", "m/b"], "{:?}", found.after.undetermined);
        assert!(found.estimates.iter().all(|estimate| estimate.standard_error.is_none()));
        let [m, k, b] = [0, 1, 2].map(|place| found.estimates[place].value);
        assert!((k / m - 25.0).abs() < 1e-3 && (b / m - 0.2).abs() < 1e-4, "{k} {m} {b}");
        assert!(model.findings.iter().any(|d| d.code.id() == "BG0851" && d.message.contains("m/k")));
    }
}

#[test]
fn sensors_units_gaps_and_decimation() {
    let mut model = Model::new(SPRING);
    // In centimetres, with an offset and a gain, every tenth sample missing.
    let data = model.measure(&times(300, 3.0), "auto", None, &mut |k, y| match k % 10 {
        3 => f64::NAN,
        _ => 1.5 * y + 2.0,
    });
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["k", "b", "offset(x)", "gain(x)"]),
        start: starts(&[("k", 53.0)]),
        decimate: 2,
        validation_share: 0.25,
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let values: Vec<f64> = found.estimates.iter().map(|e| e.value / e.factor).collect();
    for (found, wanted) in values.iter().zip([50.0, 0.4, 2.0, 1.5]) {
        assert!((found - wanted).abs() < 1e-4 * wanted, "{values:?}");
    }
    let parts: Vec<(Part, usize)> = found.fits.iter().map(|fit| (fit.part, fit.samples)).collect();
    assert_eq!(parts.iter().map(|(_, count)| count).sum::<usize>(), 150);
    assert!(
        parts.contains(&(Part::Estimation, 112)) || parts.contains(&(Part::Estimation, 113)),
        "{parts:?}"
    );
    assert!(found.fits.iter().all(|fit| fit.rms < 1e-6 && fit.share > 0.999));
}

#[test]
fn several_experiments_have_initial_states_of_their_own() {
    let mut model = Model::new(SPRING);
    let first = model.measure(&times(100, 2.0), "auto", None, &mut |_, y| y);
    // Twice the amplitude is twice the initial state.
    let second = model.measure(&times(80, 2.0), "auto", None, &mut |_, y| 2.0 * y);
    let options = EstimateOptions {
        data: vec![first, second],
        fit: strings(&["k", "init(spring.q)"]),
        start: starts(&[("k", 48.0)]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let names: Vec<&str> = found.estimates.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["k", "init(spring.q)@1", "init(spring.q)@2"]);
    for (estimate, wanted) in found.estimates.iter().zip([50.0, 0.1, 0.2]) {
        assert!((estimate.value / wanted - 1.0).abs() < 1e-5, "{} {}", estimate.name, estimate.value);
    }
}

#[test]
fn robust_losses_are_not_moved_by_outliers() {
    let mut model = Model::new(SPRING);
    let mut random = Random::new(3);
    let data = model.measure(&times(400, 3.0), "auto", None, &mut |k, y| {
        y + 0.05 * normal(&mut random) + if k % 9 == 0 { 30.0 } else { 0.0 }
    });
    let error = |loss: Loss, model: &mut Model| {
        let options = EstimateOptions {
            data: vec![data.clone()],
            fit: strings(&["k", "b"]),
            start: starts(&[("k", 49.0)]),
            loss,
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        assert!(found.estimates.iter().all(|e| e.standard_error.is_some()), "{loss:?}");
        (found.estimates[0].value - 50.0).abs()
    };
    let [squares, huber, cauchy] =
        [Loss::Squares, Loss::Huber, Loss::Cauchy].map(|loss| error(loss, &mut model));
    println!("errors of k: squares {squares}, huber {huber}, cauchy {cauchy}");
    assert!(huber < 0.1 && cauchy < 0.1 && squares > 2.0 * huber);
}

#[test]
fn priors_decide_what_data_do_not() {
    let mut model = Model::new(SPRING);
    let data =
        model.measure(&times(200, 3.0), "auto", None, &mut |k, y| y + 0.01 * f64::from((k % 7) as u8) - 0.03);
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["m", "k", "b"]),
        start: starts(&[("m", 2.1), ("k", 47.0), ("b", 0.5)]),
        prior: true,
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let k = &found.estimates[1];
    // Only k/m and b/m are measured, so that k is known as its tolerance of ±10 % says, two standard deviations.
    assert!((k.value - 50.0).abs() < 0.1, "{}", k.value);
    assert!((k.standard_error.unwrap() / 2.5 - 1.0).abs() < 0.05, "{:?}", k.standard_error);
}

#[test]
fn pieces_lead_to_the_same_estimates() {
    let mut model = Model::new(SPRING);
    let data = model.measure(&times(600, 30.0), "auto", None, &mut |_, y| y);
    let ask = |shots: usize, model: &mut Model| {
        let options = EstimateOptions {
            data: vec![data.clone()],
            fit: strings(&["k", "b"]),
            start: starts(&[("k", 8.0)]),
            shots,
            ..EstimateOptions::default()
        };
        model.estimate(&options).unwrap().estimates[0].value
    };
    for shots in [1, 60] {
        let k = ask(shots, &mut model);
        assert!((k - 50.0).abs() < 1e-3, "{shots}: {k}");
    }
}

#[test]
fn bounds_hold_and_weights_count() {
    let mut model = Model::new(RC);
    let data = model.measure(&times(50, 4.0), "auto", None, &mut |_, y| y);
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["R", "C"]),
        start: starts(&[("R", 1.2), ("C", 1.0)]),
        bounds: vec![("R".to_owned(), 1.0, 1.5)],
        weights: vec![("i".to_owned(), Weight::Even(0.0)), ("y".to_owned(), Weight::Even(1.0))],
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    // Without the current only R C counts, and every R within its bounds will do.
    let [r, c] = [0, 1].map(|place| found.estimates[place].value);
    assert!((1.0..=1.5).contains(&r) && (r * c - 1.0).abs() < 1e-5, "{r} {c}");
    let found = model.estimate(&EstimateOptions { weights: Vec::new(), ..options }).unwrap();
    assert!(found.estimates[0].at_bound && found.estimates[0].value == 1.5);
    assert!(model.findings.iter().any(|d| d.code.id() == "BG0854"));
}

#[test]
fn measured_inputs_drive_the_model() {
    let mut model = Model::new(RC);
    // A zero-order hold of a square wave, and what a capacitor makes of it.
    let (mut text, mut x) = (String::from("volts,y,remark\n"), 0.0_f64);
    for k in 0..200 {
        let u = f64::from(u8::from(k / 20 % 2 == 0));
        text.push_str(&format!("{u},{x:?},\n"));
        x = u + (x - u) * (-0.1_f64).exp();
    }
    let options = EstimateOptions {
        data: vec![file(&text)],
        map: vec![("u".to_owned(), "volts".to_owned())],
        sample_time: Some(0.1),
        hold: paynter_numerics::program::Hold::Zero,
        fit: strings(&["C"]),
        start: starts(&[("C", 0.8)]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    assert!((found.estimates[0].value - 0.5).abs() < 1e-7, "{}", found.estimates[0].value);
    let linear = EstimateOptions { hold: paynter_numerics::program::Hold::Linear, ..options };
    let found = model.estimate(&linear).unwrap();
    assert!((found.estimates[0].value - 0.5).abs() > 1e-3, "the hold makes no difference");
}

#[test]
fn what_cannot_be_asked_is_refused_with_words() {
    let mut model = Model::new(RC);
    let good = "t,y\n0,0\n1,0.6\n2,0.9\n3,0.95\n";
    let plain =
        EstimateOptions { data: vec![file(good)], fit: strings(&["R"]), ..EstimateOptions::default() };
    let cases: Vec<(EstimateOptions, &str)> = vec![
        (EstimateOptions { data: Vec::new(), ..plain.clone() }, "no measured data"),
        (
            EstimateOptions { data: vec![file("t,z\n0,1\n1,1\n")], ..plain.clone() },
            "no samples of any output",
        ),
        (EstimateOptions { data: vec![file("t,y\n0,1\n1\n")], ..plain.clone() }, "line 3 has 1 cells"),
        (EstimateOptions { data: vec![file("t,y\n0,1\n1,x\n")], ..plain.clone() }, "line 3: `x`"),
        (EstimateOptions { data: vec![file("t,y\n0,1\n")], ..plain.clone() }, "one sample only"),
        (EstimateOptions { data: vec![file("")], ..plain.clone() }, "empty"),
        (
            EstimateOptions { map: vec![("y".into(), "volt".into())], ..plain.clone() },
            "there is no column `volt`",
        ),
        (
            EstimateOptions { map: vec![("yy".into(), "y".into())], ..plain.clone() },
            "no input or output `yy`",
        ),
        (EstimateOptions { fit: strings(&["Rx"]), ..plain.clone() }, "`Rx`"),
        (EstimateOptions { fit: Vec::new(), ..plain.clone() }, "no parameter has bounds"),
        (EstimateOptions { fit: strings(&["R", "offset(z)"]), ..plain.clone() }, "`z` is no measured output"),
        (EstimateOptions { start: starts(&[("C", 1.0)]), ..plain.clone() }, "`C` is not estimated"),
        (
            EstimateOptions { bounds: vec![("R".into(), 3.0, 4.0)], ..plain.clone() },
            "`R` starts at 2, outside its bounds 3 and 4",
        ),
        (EstimateOptions { bounds: vec![("R".into(), 4.0, 3.0)], ..plain.clone() }, "leave nothing between"),
        (
            EstimateOptions {
                data: vec![file("t,y\n0,0\n1,\n2,0.5\n")],
                fit: strings(&["R", "C", "offset(y)"]),
                ..plain.clone()
            },
            "2 measured values cannot determine 3",
        ),
        (EstimateOptions { weights: vec![("y".into(), Weight::Even(-1.0))], ..plain.clone() }, "weight -1"),
        (EstimateOptions { validation_share: 1.0, ..plain.clone() }, "leaves nothing to fit"),
        (EstimateOptions { prior: true, ..plain.clone() }, "no estimated parameter has a tolerance"),
        (EstimateOptions { solver: "runge".into(), ..plain.clone() }, "no solver `runge`"),
    ];
    for (options, words) in cases {
        let said = match model.estimate(&options) {
            Ok(found) => panic!("{words}: estimated {:?}", found.estimates),
            Err(error) => messages(error).join("; "),
        };
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(model.estimate(&plain).is_ok());
    let mut broken = Model::new(
        "model m { param k = 0.1; C c = 1; R r { f = sqrt(k - e) }; Sf s = 1; 0 j; s -> j; j -> c, r; output y = c.e }",
    );
    let said =
        messages(broken.estimate(&EstimateOptions { fit: strings(&["k"]), ..plain }).unwrap_err()).join("; ");
    assert!(said.contains("at the start of the search"), "{said}");
}

/// The cascaded tanks benchmark: fitted on its estimation record alone, the model predicts the other.
#[test]
fn measured_tanks_are_predicted() {
    let mut model = Model::new(include_str!("../../../examples/cascaded_tanks.bg"));
    let data = || file(include_str!("../../../examples/data/cascaded_tanks.csv"));
    let map = |u: &str, y: &str| vec![("u".to_owned(), u.to_owned()), ("y".to_owned(), y.to_owned())];
    let options = EstimateOptions {
        data: vec![data()],
        validation: vec![data()],
        map: map("uEst", "yEst"),
        validation_map: map("uVal", "yVal"),
        sample_time: Some(4.0),
        hold: paynter_numerics::program::Hold::Zero,
        fit: strings(&[
            "k",
            "a1",
            "a2",
            "n2",
            "full1",
            "w1",
            "share",
            "full2",
            "y0",
            "init(tank1.q)",
            "init(tank2.q)",
        ]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    assert!(found.stop.is_converged());
    let rms = |part: Part| found.fits.iter().find(|fit| fit.part == part).unwrap().rms;
    println!("RMS {} fitted, {} predicted", rms(Part::Estimation), rms(Part::Validation));
    assert!(rms(Part::Estimation) < 0.17 && rms(Part::Validation) < 0.24);
    assert!(found.confidence.corrected);
}

#[test]
fn estimates_are_written_into_the_text() {
    let mut model = Model::new(SPRING);
    let mut random = Random::new(8);
    let data =
        model.measure(&times(200, 3.0), "auto", None, &mut |_, y| 1.1 * y + 0.01 * normal(&mut random));
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["k", "init(spring.q)", "offset(x)"]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let graph = &model.causal.graph;
    let (text, left_out) = paynter_estimate::write(SPRING, FileId(0), graph, &found, Some(0.95));
    assert!(
        text.contains("// stiff") && text.contains("\"mass\"") && text.contains("param m = 2   [kg]"),
        "{text}"
    );
    assert!(text.contains("// estimated: k, standard error") && !text.contains("±10%"), "{text}");
    assert!(left_out.iter().any(|d| d.message.contains("offset(x)")));
    let again = Model::new(&text);
    let k = again.causal.graph.parameters.iter().find(|p| p.name == "k").unwrap();
    assert!((k.number - found.estimates[0].value).abs() < 1e-8 * k.number && k.tolerance.is_some());
    // Written twice, it has one comment for each.
    let (twice, _) = paynter_estimate::write(&text, FileId(0), &again.causal.graph, &found, None);
    assert_eq!(twice.matches("// estimated: k,").count(), 1, "{twice}");
}
