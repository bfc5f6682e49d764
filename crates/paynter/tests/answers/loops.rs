//! Loops opened in models: against closed forms and python-control on random loops.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, load, run};
use paynter::{CancellationToken, LocusChoice, LocusSpan, LoopOptions, Plain, RobustOptions};
use paynter_base::random::Random;
use std::process::Command;

/// A position servo whose loop at `u` is k/(s (s + a) (s + b)).
fn servo(k: &str, a: &str, b: &str) -> String {
    format!(
        "model servo {{ param k = {k}; param a = {a}; param b = {b}; input ref = 0; signal x = integral(n.f, 0);
         signal u = k*(ref - x); Se s1 = u; 1 j1; I l = 1; R ra = a; Se s2 = l.f; 1 j2; I n = 1; R rb = b;
         s1 -> j1; j1 -> l, ra; s2 -> j2; j2 -> n, rb; output y = x }}"
    )
}

fn opened(text: &str, place: &str) -> paynter::json::OpenLoop {
    let options = LoopOptions { open: place.to_owned(), ..LoopOptions::default() };
    load(text).open_loop(&options, &CancellationToken::new()).unwrap().document(&Plain)
}

#[test]
fn a_loop_at_a_signal_is_the_controller_times_the_plant() {
    let found = opened(&servo("2", "1", "2"), "u");
    let l = &found.loop_gain.as_ref().unwrap().entries[0];
    let mut poles: Vec<f64> = l.poles.as_ref().unwrap().iter().map(|pole| pole[0]).collect();
    poles.sort_by(f64::total_cmp);
    assert!(
        poles.iter().zip([-2.0, -1.0, 0.0]).all(|(ours, exact)| (ours - exact).abs() < 1e-9),
        "{poles:?}"
    );
    assert!(l.zeros.as_ref().unwrap().is_empty() && l.num.contains('k'), "{} / {}", l.num, l.den);
    for k in (0..found.omega.len()).step_by(50) {
        let w = found.omega[k];
        // 2/(s (s + 1) (s + 2)) = 2/((2 − w²) s − 3 w²).
        let (below_re, below_im) = (-3.0 * w * w, (2.0 - w * w) * w);
        let size = below_re.hypot(below_im).powi(2);
        let exact = (2.0 * below_re / size, -2.0 * below_im / size);
        let miss = (found.re[k].unwrap() - exact.0).hypot(found.im[k].unwrap() - exact.1);
        assert!(miss < 1e-9 * exact.0.hypot(exact.1), "{w}");
    }
    let gain = found.margins.gain.unwrap();
    assert!((gain.value - 3.0).abs() < 1e-9 && (gain.omega.unwrap() - 2f64.sqrt()).abs() < 1e-9);
    assert!((gain.hz.unwrap() * std::f64::consts::TAU - 2f64.sqrt()).abs() < 1e-9);
    // The same loop at any of its signals and bonds.
    for place in ["x", "s1", "s2.e"] {
        let other = opened(&servo("2", "1", "2"), place);
        let same = other.margins.gain.unwrap();
        assert!((same.value - 3.0).abs() < 1e-9, "{place}: {same:?}");
    }
}

#[test]
fn a_bond_is_opened_between_impedance_and_admittance() {
    // A source of resistance r feeds c: L = 1/(r c s) at the bond of the capacitor.
    let text = "model m { param r = 2; param c = 3; input u = 1; Se a = u; 1 j; R res = r; C cap = c;
         a -> j; j -> res, cap; output e = cap.e }";
    for place in ["cap", "res", "cap.e", "cap.f"] {
        let found = opened(text, place);
        let l = &found.loop_gain.as_ref().unwrap().entries[0];
        let place_of = |s: f64| {
            let at = found.omega.iter().position(|w| *w >= s).unwrap();
            (found.omega[at], found.re[at].unwrap(), found.im[at].unwrap())
        };
        let (w, re, im) = place_of(0.1);
        let exact = 1.0 / (6.0 * w);
        let size = re.hypot(im);
        assert!(
            (size / exact - 1.0).abs() < 1e-9 || (size * exact - 1.0).abs() < 1e-9,
            "{place}: {} / {}",
            l.num,
            l.den
        );
    }
}

#[test]
fn tolerances_move_margins_and_step_figures() {
    let found = opened(&servo("2 ±20%", "1 ±10%", "2 ±10%"), "u");
    let worst = found.margins.worst.as_ref().unwrap();
    // The gain margin a b (a + b)/k is smallest at the largest k and the smallest a, b.
    let gain = &worst["gain"];
    let exact = 0.9 * 1.8 * 2.7 / 2.4;
    assert!((gain.value / exact - 1.0).abs() < 1e-6, "{} {exact}", gain.value);
    assert!((gain.parameters["k"] - 2.4).abs() < 1e-9 && (gain.parameters["a"] - 0.9).abs() < 1e-9);
    for kind in ["phase", "delay", "disk"] {
        assert!(worst[kind].stable && worst[kind].value > 0.0);
    }
    let step = &found.step["y"]["ref"];
    assert!((step.final_value - 1.0).abs() < 1e-9);
    let overshoot = &step.tolerance["overshoot"];
    assert!(overshoot.low < step.overshoot.unwrap() && step.overshoot.unwrap() < overshoot.high);
    // More gain, more overshoot; more damping, less.
    assert!(overshoot.sensitivity["k"].unwrap() > 0.0 && overshoot.sensitivity["a"].unwrap() < 0.0);
}

#[test]
fn the_locus_over_the_gain_crosses_at_the_gain_margin() {
    // In logarithmic steps the middle one is 6 = a b (a + b).
    let range = LocusSpan { low: 3.0, high: 12.0, points: 3 };
    let locus = Some(LocusChoice { parameter: Some("k".to_owned()), range: Some(range) });
    let options = LoopOptions { open: "u".to_owned(), locus, ..LoopOptions::default() };
    let found = load(&servo("2", "1", "2")).open_loop(&options, &CancellationToken::new()).unwrap();
    let (_, locus) = found.locus.as_ref().unwrap();
    let right = |k: usize| locus.poles[k].iter().map(|z| z.re).fold(f64::NEG_INFINITY, f64::max);
    assert!(right(0) < 0.0 && right(1).abs() < 1e-9 && right(2) > 0.0, "{:?}", locus.poles);
}

#[test]
fn the_margin_of_the_servo_is_that_of_routh() {
    // Stable exactly where k < a b (a + b): along the worst direction (1 + 0.2 d) 2 = (1 − 0.1 d)³ 6.
    let options = RobustOptions { gap: 1e-3, nodes: 500, ..RobustOptions::default() };
    let token = CancellationToken::new();
    let found = load(&servo("2 ±20%", "1 ±10%", "2 ±10%")).robust(&options, &token).unwrap().document(&Plain);
    let (mut low, mut high) = (0.0f64, 5.0f64);
    for _ in 0..100 {
        let d = 0.5 * (low + high);
        if 2.0 * (1.0 + 0.2 * d) < 6.0 * (1.0 - 0.1 * d).powi(3) { low = d } else { high = d }
    }
    let upper = found.margin.upper.unwrap();
    assert!((upper / low - 1.0).abs() < 1e-6, "{upper} {low}");
    assert!(found.margin.lower <= upper && found.margin.lower > 0.98 * upper, "{:?}", found.margin);
    let worst = found.worst.as_ref().unwrap();
    let pole = worst.verified_pole.unwrap();
    assert!(pole[0].abs() < 1e-6 * pole[1].abs(), "{pole:?}");
    assert!((worst.parameters["k"] - 2.0 * (1.0 + 0.2 * low)).abs() < 1e-4);
}

#[test]
fn the_sign_of_a_nominal_value_changes_no_margin() {
    let options = RobustOptions {
        gap: 1e-3,
        nodes: 500,
        pair: Some(("y".to_owned(), "ref".to_owned())),
        ..RobustOptions::default()
    };
    let token = CancellationToken::new();
    let asked = |text: &str| load(text).robust(&options, &token).unwrap().document(&Plain);
    let (k, b) = ("2 ±20%", "2 ±10%");
    let known = asked(&servo(k, "1 ±10%", b));
    // The same servo, whose gain and pole are those of opposite parameters.
    let text = servo("-2 ±20%", "-1 ±10%", b).replace("u = k*", "u = -k*").replace("R ra = a", "R ra = -a");
    let found = asked(&text);
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs();
    assert!(same(found.margin.upper.unwrap(), known.margin.upper.unwrap()), "{:?}", found.margin);
    let (ours, theirs) = (found.worst.as_ref().unwrap(), known.worst.as_ref().unwrap());
    let pole = ours.verified_pole.unwrap();
    assert!(pole[0].abs() < 1e-6 * pole[1].abs(), "{pole:?}");
    let (gain, other) = (found.gain.as_ref().unwrap(), known.gain.as_ref().unwrap());
    assert!(same(gain.lower, other.lower), "{} {}", gain.lower, other.lower);
    for (ours, theirs) in [(&ours.parameters, &theirs.parameters), (&gain.parameters, &other.parameters)] {
        assert!(same(-ours["k"], theirs["k"]) && same(-ours["a"], theirs["a"]), "{ours:?} {theirs:?}");
    }
    assert!(found.parameters["k"].low < found.parameters["k"].high);
}

#[test]
fn an_integrator_in_the_controller_leaves_no_least_gain() {
    let text = servo("0.5", "1", "2")
        .replace("signal u = k*(ref - x)", "signal u = k*(ref - l.f)*0.1 + 0.02*integral(ref - l.f, 0)");
    let margins = opened(&text, "u").margins;
    assert!(margins.stable && margins.least_gain.is_none() && margins.gain.is_none(), "{margins:?}");
}

#[test]
fn bad_questions_are_refused_with_their_place() {
    let token = CancellationToken::new();
    let refused = |text: &str, place: &str| {
        let options = LoopOptions { open: place.to_owned(), ..LoopOptions::default() };
        match load(text).open_loop(&options, &token) {
            Err(paynter::QueryError::Wrong(found)) => found.iter().map(|d| d.code.id()).collect::<Vec<_>>(),
            _ => Vec::new(),
        }
    };
    assert!(refused(&servo("2", "1", "2"), "nothing").contains(&"BG0740"));
    let robust = |text: &str| match load(text).robust(&RobustOptions::default(), &token) {
        Err(paynter::QueryError::Wrong(found)) => found.iter().map(|d| d.code.id()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert!(robust(&servo("7 ±10%", "1", "2")).contains(&"BG0745"));
    let without = robust(&servo("2", "1", "2"));
    assert!(without.contains(&"BG0721") || without.contains(&"BG0729"), "without tolerances: {without:?}");
}

/// What python-control says of the loops of random servos.
const ORACLE: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import control
out = []
for k, a, b in json.load(open("cases.json")):
    L = control.tf([k], [1, a + b, a * b, 0])
    gm, pm, sm, wpc, wgc, wms = control.stability_margins(L)
    T = control.feedback(L, 1)
    info = control.step_info(T, T_num=4000)
    out.append([gm, pm, wpc, wgc, info["Overshoot"], info["RiseTime"], info["SettlingTime"]])
json.dump(out, sys.stdout)
"#;

#[test]
fn random_loops_agree_with_python_control() {
    let mut random = Random::new(17);
    let cases: Vec<[f64; 3]> = (0..8)
        .map(|_| {
            let (a, b) = (0.5 + 2.0 * random.unit(), 0.5 + 3.0 * random.unit());
            [(0.1 + 0.6 * random.unit()) * a * b * (a + b), a, b]
        })
        .collect();
    let folder = folder("loops");
    std::fs::write(folder.join("oracle.py"), ORACLE).unwrap();
    std::fs::write(folder.join("cases.json"), serde_json::to_string(&cases).unwrap()).unwrap();
    let python = paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let text = run(Command::new(python).arg("oracle.py").current_dir(&folder));
    let answers: Vec<Vec<f64>> = serde_json::from_str(&text).unwrap();
    for ([k, a, b], expected) in cases.iter().zip(answers) {
        let found = opened(&servo(&k.to_string(), &a.to_string(), &b.to_string()), "u");
        let (margins, step) = (&found.margins, &found.step["y"]["ref"]);
        let ours = [
            margins.gain.unwrap().value,
            margins.phase.unwrap().value,
            margins.gain.unwrap().omega.unwrap(),
            margins.phase.unwrap().omega.unwrap(),
        ];
        for (ours, theirs) in ours.iter().zip(&expected) {
            assert!((ours / theirs - 1.0).abs() < 1e-6, "{k} {a} {b}: {ours} {theirs}");
        }
        // Their figures are those of samples.
        assert!((step.overshoot.unwrap() - expected[4]).abs() < 0.05, "{k} {a} {b}: {step:?} {expected:?}");
        assert!((step.rise_time.unwrap() / expected[5] - 1.0).abs() < 0.02, "{k} {a} {b}: {expected:?}");
        assert!((step.settling_time.unwrap() / expected[6] - 1.0).abs() < 0.02, "{k} {a} {b}: {expected:?}");
    }
}
