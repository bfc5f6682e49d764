//! What can be asked of an estimation: losses, sensors, experiments, pieces, bounds, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use crate::common;

use common::{Model, messages, normal};
use paynter_base::FileId;
use paynter_base::random::Random;
use paynter_estimate::{
    Acting, Estimate, EstimateOptions, Logarithmic, Loss, Method, Part, PlanOptions, Rest, Weight,
};
use paynter_graph::Amount;
use paynter_simulate::data::Data;
use paynter_testkit::property;

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

fn starts(list: &[(&str, f64)]) -> Vec<(String, Amount)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), Amount::from(*value))).collect()
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
        // The product is where it began.
        assert!((m * k * b / (2.2 * 52.0 * 0.5) - 1.0).abs() < 1e-6, "{}", m * k * b);
        let told = |d: &paynter_base::Diagnostic| {
            d.code.id() == "BG0851" && d.message.contains("m/k") && d.message.contains("where it began")
        };
        assert!(model.findings.iter().any(told), "{:?}", model.findings);
    }
    // A product that could only be kept beyond a bound is elsewhere, and nobody says that it is where it began.
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["m", "k", "b"]),
        start: starts(&[("m", 2.2), ("k", 20.0), ("b", 0.5)]),
        bounds: vec![("k".to_owned(), 15.0, 21.0)],
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let product: f64 = found.estimates.iter().map(|estimate| estimate.value).product();
    let told = model.findings.iter().find(|d| d.code.id() == "BG0851").unwrap();
    let stays = (product / (2.2 * 20.0 * 0.5) - 1.0).abs() < 1e-6;
    assert!(!stays && told.message.contains("elsewhere"), "{product} {told:?}");
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

/// A heading may name the unit of its column, which then need not be that of the model.
#[test]
fn headings_may_have_units() {
    let mut model = Model::new(SPRING);
    let data = model.measure(&times(100, 2.0), "auto", None, &mut |_, y| y);
    let text = String::from_utf8(data.content).unwrap();
    let mut other = String::from("time [ms],x (mm),note\n");
    for line in text.lines().skip(1) {
        let (t, x) = line.split_once(',').unwrap();
        let scaled = |text: &str, by: f64| text.parse::<f64>().unwrap() * by;
        other.push_str(&format!("{:?},{:?},\n", scaled(t, 1e3), scaled(x, 10.0)));
    }
    let options = |text: &str| EstimateOptions {
        data: vec![file(text)],
        fit: strings(&["k", "b"]),
        start: starts(&[("k", 48.0)]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options(&other)).unwrap();
    assert!((found.estimates[0].value - 50.0).abs() < 1e-4, "{}", found.estimates[0].value);
    for (heading, words) in [
        ("time [mm],x (mm),note", "not a unit of time"),
        ("time [ms],x [kg],note", "is in kg, but the model has [cm]"),
        ("time [ms],x [wide],note", "`wide` in the heading of `x` is not a known unit"),
    ] {
        let wrong = other.replacen("time [ms],x (mm),note", heading, 1);
        let said = messages(model.estimate(&options(&wrong)).unwrap_err()).join("; ");
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Whatever is done to the bytes of a file, it is fitted or refused with words.
#[test]
fn mutilated_files_are_refused() {
    let mut model = Model::new(SPRING);
    let data = model.measure(&times(12, 1.0), "rk4", Some(0.05), &mut |_, y| (y * 1e3).round() / 1e3);
    let refused = property::seeds(300).filter(|seed| {
        let mut random = Random::new(*seed);
        let mut below = |count: usize| (random.unit() * count as f64) as usize;
        let mut content = data.content.clone();
        for _ in 0..1 + below(4) {
            let at = below(content.len());
            let odd = b",\n\r\"[]();#-.e9 \x00\xff";
            let byte = odd[below(odd.len())];
            match below(4) {
                0 => content[at] = byte,
                1 => content.insert(at, byte),
                2 => drop(content.remove(at)),
                _ => content.truncate(at.max(1)),
            }
        }
        let options = EstimateOptions {
            data: vec![Data { path: "odd.csv".to_owned(), content }],
            fit: strings(&["k"]),
            iterations: 2,
            solver: "rk4".to_owned(),
            step: Some(0.05),
            max_steps: 2000,
            ..EstimateOptions::default()
        };
        match model.estimate(&options) {
            Ok(found) => {
                assert!(found.estimates[0].value.is_finite(), "seed {seed}");
                false
            }
            Err(error) => {
                assert!(messages(error).iter().all(|message| !message.is_empty()), "seed {seed}");
                true
            }
        }
    });
    let refused = refused.count();
    println!("{refused} files refused");
    property::demand("files refused", refused, 100, 300);
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

/// Records over which one run loses its way from a poor start: a pendulum whose period is wrong, and a forced Duffing
/// oscillator, which is chaotic.
#[test]
fn pieces_find_what_one_run_misses() {
    let pendulum = "model pendulum {
        param k = 9; param b = 0.02
        signal phi = integral(w.f, 1.2)
        1 w; I mass = 1; R damper = b; Se weight = -k*sin(phi)
        weight -> w; w -> mass, damper
        output y = phi }";
    let duffing = "model duffing {
        param d = 0.3; param k = 1; param k3 = 1; param F = 0.5
        1 w; I mass = 1; R damper = d; C spring { e = -k*q + k3*q^3 }; Se push = F*cos(1.2*t)
        push -> w; w -> mass, damper, spring
        init spring.q = 0.5
        output y = spring.q }";
    let cases: [ShotCase; 2] = [
        (pendulum, 601, 30.0, &[("k", 4.0)], &[9.0]),
        (duffing, 601, 60.0, &[("d", 0.5), ("k", 0.6), ("k3", 1.5), ("F", 0.3)], &[0.3, 1.0, 1.0, 0.5]),
    ];
    for (text, count, end, start, truth) in cases {
        let mut model = Model::new(text);
        let data = model.measure(&times(count, end), "auto", None, &mut |_, y| y);
        let mut ask = |shots: usize| {
            let options = EstimateOptions {
                data: vec![data.clone()],
                fit: start.iter().map(|(name, _)| (*name).to_owned()).collect(),
                start: starts(start),
                shots,
                ..EstimateOptions::default()
            };
            let found = model.estimate(&options).unwrap();
            for (estimate, (_, start)) in found.estimates.iter().zip(start) {
                assert!(estimate.start == *start && found.history[0].values.contains(start));
            }
            let near = |(estimate, truth): (&Estimate, &f64)| (estimate.value - truth).abs() < 1e-4;
            (found.estimates.iter().zip(truth).all(near), found.shooting)
        };
        assert_eq!(ask(1), (false, None), "one run does it too: {text}");
        let (reached, shooting) = ask(40);
        assert!(reached && shooting.is_some_and(|told| told.pieces == 40), "{text}");
    }
}

/// Pieces of a record are simulated with what is local to its own experiment.
#[test]
fn pieces_know_what_is_local() {
    let pendulum = "model pendulum {
        param k = 9; param b = 0.02
        signal phi = integral(w.f, 1.2)
        1 w; I mass = 1; R damper = b; Se weight = -k*sin(phi)
        weight -> w; w -> mass, damper
        output y = phi }";
    let mut model = Model::new(pendulum);
    let measure = |k: &str| {
        let text = pendulum.replace("k = 9", k);
        Model::new(&text).measure(&times(601, 30.0), "auto", None, &mut |_, y| y)
    };
    let options = EstimateOptions {
        data: vec![measure("k = 9"), measure("k = 3")],
        fit: strings(&["k", "b"]),
        local: strings(&["k"]),
        start: starts(&[("k", 5.0)]),
        shots: 40,
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let values: Vec<f64> = found.estimates.iter().map(|estimate| estimate.value).collect();
    assert!((values[0] - 9.0).abs() < 1e-4 && (values[1] - 3.0).abs() < 1e-4, "{values:?}");
}

/// A controller written as signals, a thermostat and dry friction: runs have events, whose times depend on what is
/// estimated, and steps to values without a run are rejected.
#[test]
fn closed_loops_and_events_are_fitted() {
    let cases: [FitCase; 3] = [
        (
            "model loop { param Ra = 1; param K = 0.1; param J = 0.01; param b = 0.01
                signal err = 5*sign(sin(2*t + 0.1)) - rotor.f
                signal sum = integral(err, 0)
                Se drive = 0.5*err + 2*sum; 1 a; R ra = Ra; GY m = K; 1 s; I rotor = J; R fr = b
                drive -> a; a -> ra, m; m -> s; s -> rotor, fr
                output w = rotor.f; output i = ra.f }",
            10.0,
            &[("Ra", 2.0, 1.0), ("K", 0.2, 0.1), ("J", 0.02, 0.01), ("b", 0.05, 0.01)],
        ),
        (
            "model thermostat { param Ct = 10; param G = 0.5; param P = 20
                C T = Ct; R loss { f = G*(e - 5) }; Sf heat = P*if(T.e < 20, 1, 0.2); 0 j
                heat -> j; j -> T, loss; init T.q = 50; output y = T.e }",
            60.0,
            &[("Ct", 15.0, 10.0), ("G", 0.7, 0.5), ("P", 30.0, 20.0)],
        ),
        (
            "model slider { param m = 2; param Fc = 3
                1 v; I mass = m; R dry { e = Fc*sign(f) }; Se pull = 5*sin(2*t)
                pull -> v; v -> mass, dry; output y = mass.f }",
            10.0,
            &[("m", 4.0, 2.0), ("Fc", 1.0, 3.0)],
        ),
    ];
    for (text, end, unknowns) in cases {
        let mut model = Model::new(text);
        let data = model.measure(&times(301, end), "auto", None, &mut |_, y| y);
        let options = EstimateOptions {
            data: vec![data],
            fit: unknowns.iter().map(|(name, ..)| (*name).to_owned()).collect(),
            start: unknowns.iter().map(|(name, start, _)| ((*name).to_owned(), (*start).into())).collect(),
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        for (estimate, (name, _, truth)) in found.estimates.iter().zip(unknowns) {
            assert!((estimate.value / truth - 1.0).abs() < 1e-5, "{name}: {}", estimate.value);
        }
    }
}

/// Where the best value of a parameter has the other sign and the equations do not hold there, the search keeps it from
/// zero and goes on with the others; a search that is cut to nothing does not call that a minimum.
#[test]
fn signs_are_walls_and_no_minima() {
    let grows = "model grows { param k = 50; param b = 0.4
        1 v; I mass = 2; C spring = 1/k; R damper = b; v -> mass, spring, damper
        init spring.q = 0.1; output x = spring.q }";
    let mut model = Model::new(grows);
    // Oscillations that grow: the best damper has a negative resistance.
    let data = Model::new(&grows.replace("b = 0.4", "b = -0.2")).measure(
        &times(200, 3.0),
        "auto",
        None,
        &mut |_, y| y,
    );
    let mut ask = |names: &[&str], b: f64, method: Method| {
        let options = EstimateOptions {
            data: vec![data.clone()],
            fit: strings(names),
            start: starts(&[("k", 44.0), ("b", b)][..names.len()]),
            method,
            ..EstimateOptions::default()
        };
        model.estimate(&options).unwrap()
    };
    let found = ask(&["k", "b"], 0.4, Method::LevenbergMarquardt);
    let [k, b] = [0, 1].map(|place| found.estimates[place].value);
    let without = {
        let mut model = Model::new(&grows.replace("b = 0.4", "b = 1e-12"));
        let options = EstimateOptions {
            data: vec![data.clone()],
            fit: strings(&["k"]),
            start: starts(&[("k", 44.0)]),
            ..EstimateOptions::default()
        };
        model.estimate(&options).unwrap()
    };
    println!("k = {k} of {}, b = {b}, {:?}", without.estimates[0].value, found.stop);
    assert!(found.stop.is_converged() && b > 0.0 && b < 1e-3);
    assert!((k / without.estimates[0].value - 1.0).abs() < 1e-4);
    // The method of the paper knows no such wall, and says that it did not get through.
    let paper = ask(&["k", "b"], 0.4, Method::GaussNewton);
    println!("{:?} {:?}", paper.stop, paper.history.last());
    assert!(!paper.stop.is_converged());
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

/// A weight of zero leaves a sample out as if it had not been measured, of standard errors and scales too.
#[test]
fn weights_of_zero_leave_samples_out() {
    let mut model = Model::new(RC);
    let mut random = Random::new(6);
    let data = model.measure(&times(61, 4.0), "auto", None, &mut |_, y| y + 0.02 * normal(&mut random));
    let text = String::from_utf8(data.content).unwrap();
    let (mut weighted, mut gaps) = (String::from("t,y,w\n"), String::from("t,y,w\n"));
    for (k, line) in text.lines().skip(1).enumerate() {
        let (ty, _) = line.rsplit_once(',').unwrap();
        let (t, _) = ty.split_once(',').unwrap();
        let left_out = k % 3 == 1;
        weighted.push_str(&format!("{ty},{}\n", if left_out { 0 } else { 1 }));
        gaps.push_str(&if left_out { format!("{t},,\n") } else { format!("{ty},1\n") });
    }
    for loss in [Loss::Squares, Loss::Huber] {
        let [with, without] = [weighted.as_str(), gaps.as_str()].map(|text| {
            let options = EstimateOptions {
                data: vec![file(text)],
                fit: strings(&["C", "offset(y)"]),
                weights: vec![("y".to_owned(), Weight::Column("w".to_owned()))],
                profiles: strings(&["C"]),
                loss,
                ..EstimateOptions::default()
            };
            model.estimate(&options).unwrap()
        });
        assert_eq!(with.confidence.freedom, without.confidence.freedom);
        for (a, b) in with.estimates.iter().zip(&without.estimates) {
            assert!((a.value - b.value).abs() < 1e-6 * b.value.abs().max(0.01), "{loss:?} {}", a.name);
            let ratio = a.standard_error.unwrap() / b.standard_error.unwrap();
            assert!((ratio - 1.0).abs() < 1e-4, "{loss:?} {}: {ratio}", a.name);
        }
        let (a, b) = (&with.profiles[0].interval, &without.profiles[0].interval);
        assert!((a.0.unwrap() - b.0.unwrap()).abs() < 1e-4 && (a.1.unwrap() - b.1.unwrap()).abs() < 1e-4);
    }
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
        (EstimateOptions { start: starts(&[("R", 1.0), (" R", 2.0)]), ..plain.clone() }, "two starts"),
        (
            EstimateOptions { bounds: vec![("R".into(), 0.1, 9.0), ("R".into(), 1.0, 3.0)], ..plain.clone() },
            "two pairs of bounds",
        ),
        (
            EstimateOptions {
                data: vec![file("t,y\n0,0\n1,0.6\n2,0.9\n")],
                sample_time: Some(0.5),
                ..plain.clone()
            },
            "by the sample time it would be 0.5",
        ),
        (EstimateOptions { prior: true, ..plain.clone() }, "no estimated parameter has a tolerance"),
        (EstimateOptions { profiles: strings(&["C"]), ..plain.clone() }, "`C` is not estimated"),
        (
            EstimateOptions { logarithmic: Logarithmic::Names(strings(&["C"])), ..plain.clone() },
            "`C` is not estimated",
        ),
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
    let mut model = Model::new(include_str!("../../../../examples/cascaded_tanks.bg"));
    let data = || file(include_str!("../../../../examples/data/cascaded_tanks.csv"));
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
    let (text, left_out) = paynter_estimate::write((SPRING, FileId(0)), graph, &found, Some(0.95), &[]);
    assert!(
        text.contains("// stiff") && text.contains("\"mass\"") && text.contains("param m = 2   [kg]"),
        "{text}"
    );
    assert!(text.contains("// estimated: k, standard error") && !text.contains("±10%"), "{text}");
    let offset = left_out.iter().find(|d| d.message.contains("offset(x)")).unwrap();
    assert!(format!("{offset:?}").contains("output z ="), "{offset:?}");
    let again = Model::new(&text);
    let k = again.causal.graph.parameters.iter().find(|p| p.name == "k").unwrap();
    assert!((k.number - found.estimates[0].value).abs() < 1e-8 * k.number && k.tolerance.is_some());
    // What a box of tolerances forgets, and what belongs to another experiment, is told.
    assert!(left_out.iter().any(|d| d.message.contains("correlated")), "{left_out:?}");
    let twice = EstimateOptions { data: vec![options.data[0].clone(), options.data[0].clone()], ..options };
    let both = model.estimate(&twice).unwrap();
    let (_, left_out) = paynter_estimate::write((SPRING, FileId(0)), &model.causal.graph, &both, None, &[]);
    assert!(left_out.iter().any(|d| d.message.contains("init(spring.q)@2")), "{left_out:?}");
    // A new statement stands within the model, with its comment above.
    let momentum = EstimateOptions { fit: strings(&["init(mass.p)", "init(spring.q)"]), ..twice.clone() };
    for (text, end) in [
        (SPRING.replace("    init spring.q = 0.1\n", ""), "}"),
        (
            SPRING
                .replace("    init spring.q = 0.1\n", "")
                .replace("output x = spring.q [cm]\n}", "output x = spring.q [cm] }"),
            "}",
        ),
    ] {
        let mut bare = Model::new(&text);
        let found =
            bare.estimate(&EstimateOptions { data: vec![momentum.data[0].clone()], ..momentum.clone() });
        let (written, _) =
            paynter_estimate::write((&text, FileId(0)), &bare.causal.graph, &found.unwrap(), None, &[]);
        let lines: Vec<&str> = written.lines().rev().take(5).collect();
        assert_eq!(lines[0], end, "{written}");
        for (state, [init, comment]) in [("spring.q", [lines[1], lines[2]]), ("mass.p", [lines[3], lines[4]])]
        {
            assert!(init.starts_with(&format!("    init {state} = ")), "{written}");
            assert!(comment.starts_with(&format!("    // estimated: init({state}), ")), "{written}");
        }
        let again = Model::new(&written);
        assert_eq!(again.equations.states.len(), 2);
    }
    // Written twice, it has one comment for each.
    let (twice, _) = paynter_estimate::write((&text, FileId(0)), &again.causal.graph, &found, None, &[]);
    assert_eq!(twice.matches("// estimated: k,").count(), 1, "{twice}");
}

/// A mass that sticks moves by what rounding leaves of balanced forces, which tells nothing of it.
#[test]
fn rounding_determines_nothing() {
    let text = "model d { param Fc = 3; param m = 1; Se s = sin(t); 1 v; I M = m; R f { e = Fc*sign(f) }
        s -> v -> M, f; output y = M.f }";
    let mut random = Random::new(8);
    let lines: String =
        (0..51).map(|k| format!("{},{:?}\n", 0.1 * f64::from(k), 1e-3 * normal(&mut random))).collect();
    for (names, starts) in [(&["m"][..], &[1.0][..]), (&["Fc", "m"], &[3.0, 1.0])] {
        for method in [Method::LevenbergMarquardt, Method::GaussNewton] {
            let mut model = Model::new(text);
            let data = vec![file(&format!("t,y\n{lines}"))];
            let options = EstimateOptions { data, fit: strings(names), method, ..EstimateOptions::default() };
            let found = model.estimate(&options).unwrap();
            assert_eq!((found.before.rank, found.after.rank), (0, 0), "{names:?}");
            for (estimate, start) in found.estimates.iter().zip(starts) {
                assert!(estimate.value == *start && estimate.standard_error.is_none(), "{estimate:?}");
            }
            assert!(model.findings.iter().any(|d| d.code.id() == "BG0851"), "{:?}", model.findings);
        }
    }
}

/// The instant of a pulse moves a sample at a time: it has no derivative, and it is not told that it has no effect.
#[test]
fn what_acts_by_jumps_is_not_without_effect() {
    let mut model = Model::new(
        "model d { param t0 = 1 in [0, 4]; param A = 2; Se s = A*pulse(t0, 3); R r = 1; s -> r; output y = r.f }",
    );
    let lines: String = (0..101)
        .map(|k| 0.05 * f64::from(k))
        .map(|t| format!("{t},{}\n", if t > 1.237 && t < 4.237 { 3.0 } else { 0.0 }))
        .collect();
    let data = vec![file(&format!("t,y\n{lines}"))];
    let options = EstimateOptions { data, fit: strings(&["t0", "A"]), ..EstimateOptions::default() };
    let found = model.estimate(&options).unwrap();
    assert_eq!(found.acting, [("t0".to_owned(), Acting::ByJumps)]);
    let told = model.findings.iter().find(|d| d.code.id() == "BG0851").unwrap();
    assert!(told.message.contains("jumps") && !told.message.contains("no effect"), "{}", told.message);
}

/// What is determined together by a law that is no product or sum is told as such: no smooth law acts by jumps, none is
/// without effect, and without bounds none keeps anything from being put back.
#[test]
fn smooth_laws_do_not_act_by_jumps() {
    // A resistor whose law reads unknowns that are determined together only, and whether they are a sum.
    let laws =
        [("a + c^2", false), ("a*exp(c)", false), ("2*a + c", true), ("(a + c)*d", false), ("a + c", true)];
    for seed in property::seeds(2) {
        let mut random = Random::new(seed);
        for (law, is_sum) in laws {
            let [a, c, d] = std::array::from_fn(|_| 0.5 + 2.0 * random.unit());
            let model = |grown: f64| {
                let [a, c, d] = [a, c, d].map(|value| value * grown);
                Model::new(&format!(
                    "model s {{ param a = {a}; param c = {c}; param d = {d}; Se s = 1; 1 j; C x = 1; R r = {law}
                        s -> j -> x, r; output y = x.e }}"
                ))
            };
            let times: Vec<f64> = (0..61).map(|k| 0.2 * f64::from(k)).collect();
            let data = vec![model(1.1).measure(&times, "auto", None, &mut |_, y| y)];
            let fit = if law.contains('d') { strings(&["a", "c", "d"]) } else { strings(&["a", "c"]) };
            let mut fitted = model(1.0);
            let options = EstimateOptions { data, fit, ..EstimateOptions::default() };
            let found = fitted.estimate(&options).unwrap();
            assert_eq!(found.after.rank, 1, "{law}");
            assert!(found.acting.is_empty() && found.rest != Rest::Bounded, "{law}: {:?}", found.rest);
            assert!(!is_sum || found.rest == Rest::AtStart, "{law} {a} {c}");
            let told = fitted.findings.iter().filter(|d| d.code.id() == "BG0851");
            let told: Vec<&str> = told.map(|d| d.message.as_str()).collect();
            assert_eq!(told.len(), 1, "{law} {told:?}");
            let is_named = told[0].starts_with("only ") || told[0].contains("relative changes together");
            assert!(is_named && !told[0].contains("jumps"), "{law} {told:?}");
            // What holds at the model's values only has no name in a plan either.
            let planned = PlanOptions { t_end: Some(10.0), ..PlanOptions::default() };
            let plan = fitted.plan(&EstimateOptions { data: Vec::new(), ..options }, &planned).unwrap();
            for open in &plan[0].identifiability.undetermined {
                let named = !open.determined.is_empty();
                assert_eq!(named, is_sum, "{law} {a} {c}: {:?}", open.determined);
            }
        }
    }
}

/// The square of a state that begins at zero has no derivative there, but one elsewhere.
#[test]
fn what_acts_elsewhere_is_not_without_effect() {
    let mut model =
        Model::new("model d { C c = 1; R r = 1; 1 j; j -> c, r; init c.q = 0; output y = 1 + c.q^2 }");
    let data = vec![file("t,y\n0,1.04\n0.3,1.02\n0.6,1.01\n0.9,1.004\n")];
    let options = EstimateOptions { data, fit: strings(&["init(c.q)"]), ..EstimateOptions::default() };
    let found = model.estimate(&options).unwrap();
    assert_eq!(found.acting, [("init(c.q)".to_owned(), Acting::Elsewhere)], "{:?}", model.findings);
}

/// Where the best value lies beyond a bound of zero, at which the equations do not hold, the estimate is at its bound, and
/// what else is estimated has the standard error that it has with the bound held.
#[test]
fn bounds_of_zero_are_reached() {
    let text = |leak: &str| {
        format!(
            "model lk {{ param a = 1; param G = {leak}; input u = 1; Se s = u; 1 j; 0 n; C c = a; R r = 1
                R leak {{ f = G*e }}; s -> j -> r, n; n -> c, leak; output y = c.e }}"
        )
    };
    for seed in [3, 4, 5] {
        let mut random = Random::new(seed);
        let y = |t: f64| 1.02 * (1.0 - (-t / 1.3).exp());
        let lines: String = (0..51)
            .map(|k| 0.1 * f64::from(k))
            .map(|t| format!("{t},{:?}\n", y(t) + 0.005 * normal(&mut random)))
            .collect();
        let data = vec![file(&format!("t,y\n{lines}"))];
        let mut model = Model::new(&text("0.5 in [0, 20]"));
        let options =
            EstimateOptions { data: data.clone(), fit: strings(&["a", "G"]), ..EstimateOptions::default() };
        let found = model.estimate(&options).unwrap();
        let leak = &found.estimates[1];
        assert!(leak.at_bound && leak.value == 0.0 && leak.standard_error.is_none(), "{leak:?}");
        let told: Vec<&str> = model.findings.iter().map(|d| d.code.id()).collect();
        assert!(told.contains(&"BG0854") && !told.contains(&"BG0851"), "{told:?}");
        let alone = EstimateOptions { data, fit: strings(&["a"]), ..EstimateOptions::default() };
        let alone = Model::new(&text("0")).estimate(&alone).unwrap();
        let (with, without) = (&found.estimates[0], &alone.estimates[0]);
        assert!((with.value - without.value).abs() < 1e-5 * without.value, "{with:?} {without:?}");
        let [with, without] = [with, without].map(|estimate| estimate.standard_error.unwrap());
        // One unknown more takes a residual's freedom from 51.
        assert!((with / without - 1.0).abs() < 0.02, "{with} {without}");
    }
}

/// A search goes on while the cost falls by more than its precision, however short its steps: where outputs hang on an
/// unknown with a factor of ten millions, a step of its last digits counts.
#[test]
fn short_steps_that_count_are_taken() {
    for method in [Method::LevenbergMarquardt, Method::GaussNewton] {
        let mut random = Random::new(6);
        let best = 1.0 + 3e-9;
        let text = "model d { param a = 1; Se s = sin(1e9*(a - 1)) + t; R r = 1; s -> r; output y = r.f }";
        let lines: String = (0..201)
            .map(|k| 0.01 * f64::from(k))
            .map(|t| {
                format!("{t},{:?}\n", (1e9 * (best - 1.0) - 2.6_f64).sin() + t + 0.001 * normal(&mut random))
            })
            .collect();
        let data = vec![file(&format!("t,y\n{lines}"))];
        let options = EstimateOptions { data, fit: strings(&["a"]), method, ..EstimateOptions::default() };
        let found = Model::new(text).estimate(&options).unwrap();
        println!("{:?} {:?}", found.stop, found.history);
        assert!(found.cost() < 201.0 * 0.6e-6 * 1.3, "{method:?} {} {:?}", found.cost(), found.stop);
    }
}

/// Two springs of one submodel, each with arguments of its own, and a damping that they share.
const SPRINGS: &str = "model spring(k [N/cm], b = 0.3 [N*s/m]) {
    port end
    1 v; C c = 1/k; R r = b
    end -> v
    v -> c, r
}
model two {
    1 a; 1 b
    I m = 1
    I n = 1
    use spring left(k = 0.5)
    use spring right(k = 0.8, b = 0.2) // stiffer
    a -> m, left.end
    b -> n, right.end
    init left.c.q = 0.1
    init right.c.q = 0.1
    output x = left.c.q
    output y = right.c.q
}";

/// What is given as an argument of a submodel is written back there, in the unit that the submodel declares.
#[test]
fn estimates_of_arguments_are_written_where_they_are_given() {
    let mut truth = Model::new(&SPRINGS.replace("0.5)", "0.6)").replace("0.8, b = 0.2", "0.7, b = 0.25"));
    let mut random = Random::new(5);
    let data = truth.measure(&times(150, 3.0), "auto", None, &mut |_, y| y + 1e-4 * normal(&mut random));
    let mut model = Model::new(SPRINGS);
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["left.k", "right.k", "right.b"]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let graph = &model.causal.graph;
    let (text, left_out) = paynter_estimate::write((SPRINGS, FileId(0)), graph, &found, Some(0.95), &[]);
    assert!(text.contains("use spring left(k = 0.6") || text.contains("use spring left(k = 0.59"), "{text}");
    assert!(
        text.contains("// stiffer") && text.contains("    // estimated: right.b, standard error"),
        "{text}"
    );
    let again = Model::new(&text);
    for (estimate, exact) in found.estimates.iter().zip([60.0, 70.0, 0.25]) {
        let written = again.causal.graph.parameters.iter().find(|p| p.name == estimate.name).unwrap();
        assert!((written.number - estimate.value).abs() < 1e-8 * exact, "{text}");
        assert!((estimate.value / exact - 1.0).abs() < 0.02, "{estimate:?}");
    }
    // An argument has no tolerance; that is said, and nothing else is missing.
    assert_eq!(
        left_out.iter().filter(|d| d.message.contains("an argument of a submodel has none")).count(),
        3
    );
    assert!(!left_out.iter().any(|d| d.message.contains("no place")), "{left_out:?}");
    // Written twice, it has one comment for each.
    let (twice, _) = paynter_estimate::write((&text, FileId(0)), &again.causal.graph, &found, None, &[]);
    assert_eq!(twice.matches("// estimated: right.").count(), 2, "{twice}");
}

/// A filter tells r c: the profile of either has no end, and says how far it was followed.
#[test]
fn a_profile_of_what_is_not_determined_has_no_end() {
    let mut model = Model::new(RC);
    let data = model.measure(&times(100, 3.0), "auto", None, &mut |_, y| y);
    let text = String::from_utf8(data.content).unwrap();
    // Only the voltage is measured, a column of three.
    let kept: Vec<String> =
        text.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(kept[0], "t,y");
    let data = Data { path: data.path, content: kept.join("\n").into_bytes() };
    let options = EstimateOptions {
        data: vec![data],
        fit: strings(&["R", "C"]),
        profiles: strings(&["R", "C"]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    for profile in &found.profiles {
        assert_eq!(profile.interval, (None, None), "{profile:?}");
        let (first, last) = (profile.points[0].0, profile.points[profile.points.len() - 1].0);
        assert!(first > 0.0 && last > 10.0 * first, "{first} {last}");
        assert!(profile.words(1.0).contains("without an end"), "{}", profile.words(1.0));
    }
}

/// A model, its pieces, the end of its record, the start of the search, and the truth.
type ShotCase = (&'static str, usize, f64, &'static [(&'static str, f64)], &'static [f64]);

/// A model, the end of its record, and each parameter with its start and its truth.
type FitCase = (&'static str, f64, &'static [(&'static str, f64, f64)]);

/// Relative changes of negative values have the other sign than their absolute ones.
#[test]
fn products_of_negative_unknowns_are_named() {
    for (law, wanted) in [("a*b", "a*b"), ("a/b", "a/b"), ("a*b^2", "a*b^2"), ("a + b", "a + b")] {
        let mut model = Model::new(&format!(
            "model m {{ param a = -2; param b = 3; param T = 1; Se s = {law}; 1 j; R r = T; C c = 1; s -> j -> r, c
             output y = c.e }}"
        ));
        let data = model.measure(&times(40, 4.0), "auto", None, &mut |_, y| y);
        let options = EstimateOptions {
            data: vec![data],
            fit: strings(&["a", "b", "T"]),
            start: starts(&[("a", -1.5), ("T", 1.2)]),
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        assert_eq!(found.after.undetermined[0].determined, [wanted], "{:?}", found.after.undetermined);
        // Products stay where they began.
        let [a, b] = [0, 1].map(|place| found.estimates[place].value);
        assert!(law != "a*b" || (a / b / (-1.5 / 3.0) - 1.0).abs() < 1e-5, "{a} {b}");
    }
}

/// However little the data tell of a direction, its standard error is what they tell: it grows as the difference of two
/// regressors shrinks, also where slow noise is given back to the residuals.
#[test]
fn standard_errors_of_what_is_nearly_undetermined() {
    let error = |apart: f64| {
        let mut model = Model::new(&format!(
            "model m {{ param a = 1; param b = 1; Se s = a + b*(1 + {apart}*sin(3*t)); 1 j; R r = 1; C c = 1
             s -> j -> r, c; output y = r.e + c.e }}"
        ));
        let (mut random, mut slow) = (Random::new(7), 0.0);
        let data = model.measure(&times(200, 10.0), "euler", Some(0.05), &mut |_, y| {
            slow = 0.9 * slow + 0.01 * normal(&mut random);
            y + slow
        });
        let options = EstimateOptions {
            data: vec![data],
            fit: strings(&["a", "b"]),
            solver: "euler".to_owned(),
            step: Some(0.05),
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        assert!(found.confidence.corrected && found.after.rank == 2, "{apart} {:?}", found.after);
        found.estimates[1].standard_error.unwrap() * apart
    };
    let expected = error(1e-2);
    for apart in [1e-4, 1e-6] {
        assert!((error(apart) / expected - 1.0).abs() < 0.02, "{apart} {} {expected}", error(apart));
    }
}

/// A start may have a unit of its own, as a setting may.
#[test]
fn starts_have_units() {
    let mut model = Model::new(
        "model m { param R = 2 [kohm]; param C = 1 [uF]; input u = 1; Se s = u; 1 j; R r = R; C c = C; s -> j -> r, c
         output y = c.e }",
    );
    let data = model.measure(&times(40, 8e-3), "auto", None, &mut |_, y| y);
    let start = |text: &str| vec![("R".to_owned(), text.parse::<Amount>().unwrap())];
    let options = |text: &str| EstimateOptions {
        data: vec![data.clone()],
        fit: strings(&["R"]),
        start: start(text),
        ..EstimateOptions::default()
    };
    for text in ["1.5", "1500 [ohm]", "1.5e-3 [Mohm]"] {
        let found = model.estimate(&options(text)).unwrap();
        assert!((found.estimates[0].start - 1500.0).abs() < 1e-9, "{text}");
        assert!((found.estimates[0].value - 2000.0).abs() < 1e-3, "{text}");
    }
    let refused = messages(model.estimate(&options("1 [m]")).unwrap_err());
    assert!(refused[0].contains("the start of `R`") && refused[0].contains("kohm"), "{refused:?}");
}

/// Every rig has a sensor of its own; what is said of one experiment counts for it.
#[test]
fn sensors_may_be_local() {
    let mut model = Model::new(
        "model m { param T = 1; Se s = 1; 1 j; R r = T; C c = 1; s -> j -> r, c; output y = c.e; output z = 2*c.e }",
    );
    let record = |gain: f64, offset: f64| {
        let rows = times(60, 4.0).into_iter().map(|t| {
            let x = 1.0 - (-t / 0.8).exp();
            format!("{t:?},{:?},{:?}\n", offset + gain * x, 2.0 * x)
        });
        file(&format!("t,y,z\n{}", rows.collect::<String>()))
    };
    let options = EstimateOptions {
        data: vec![record(1.2, 0.3), record(0.8, -0.1)],
        fit: strings(&["T", "offset(y)", "gain(y)"]),
        local: strings(&["offset(y)", "gain(y)"]),
        ..EstimateOptions::default()
    };
    let wanted = [0.8, 0.3, -0.1, 1.2, 0.8];
    let found = model.estimate(&options).unwrap();
    let values: Vec<f64> = found.estimates.iter().map(|estimate| estimate.value).collect();
    assert!(values.iter().zip(wanted).all(|(value, wanted)| (value - wanted).abs() < 1e-6), "{values:?}");
    let numbered =
        EstimateOptions { start: starts(&[("gain(y)", 1.1), ("gain(y)@2", 0.9)]), ..options.clone() };
    let found = model.estimate(&numbered).unwrap();
    let begun: Vec<f64> = found.estimates[3..].iter().map(|estimate| estimate.start).collect();
    assert_eq!(begun, [1.1, 0.9]);
    for (name, words) in [("gain(y)@3", "no experiment 3"), ("T@1", "the same in all experiments")] {
        let refused = model.estimate(&EstimateOptions { start: starts(&[(name, 1.0)]), ..options.clone() });
        let refused = messages(refused.unwrap_err());
        assert!(refused[0].contains(words), "{refused:?}");
    }
}
