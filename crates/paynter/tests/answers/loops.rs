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

/// Two coupled coils, whose mutual inductance is uncertain as a whole.
const COILS: &str = "model wpt { param L1 = 24e-6 ±5%; param L2 = 20e-6 ±5%; param k = 0.3 ±30%; param M = k*sqrt(L1*L2);
     param C1 = 1e-7 ±5%; param C2 = 1.2e-7 ±5%; param R1 = 0.2 ±20%; param RL = 5 ±40%; input u = 0; Se src = u; 1 prim;
     C cap1 = C1; R res1 = R1; I field[2] = [[L1, M], [M, L2]]; 1 sec; C cap2 = C2; R load = RL; src -> prim;
     prim -> cap1, res1, field.1; field.2 -> sec; sec -> cap2, load; output i2 = load.f }";

#[test]
fn a_worst_case_gain_is_attained_by_the_parameters_themselves() {
    let token = CancellationToken::new();
    let pair = Some(("i2".to_owned(), "u".to_owned()));
    let options = RobustOptions { pair, gap: 1e-3, ..RobustOptions::default() };
    let found = load(COILS).robust(&options, &token).unwrap().document(&Plain);
    let gain = found.gain.as_ref().unwrap();
    assert!(gain.parameters.contains_key("k") && !gain.parameters.contains_key("M"), "{:?}", gain.parameters);
    for (name, value) in &gain.parameters {
        let range = &found.parameters[name];
        let slack = 1e-9 * range.nominal.abs();
        assert!((range.low - slack..=range.high + slack).contains(value), "{name} = {value}");
    }
    // By hand: two meshes coupled by k √(L1 L2).
    let p = |name: &str| gain.parameters[name];
    let w = gain.omega.unwrap();
    let (x1, x2) = (w * p("L1") - 1.0 / (w * p("C1")), w * p("L2") - 1.0 / (w * p("C2")));
    let m = w * p("k") * (p("L1") * p("L2")).sqrt();
    let (re, im) = (p("R1") * p("RL") - x1 * x2 + m * m, p("R1") * x2 + p("RL") * x1);
    assert!((gain.lower * re.hypot(im) / m - 1.0).abs() < 1e-6, "{}", gain.lower);
    // The largest that a search over all of them finds.
    assert!(gain.lower > 0.4995 && gain.lower < 0.5005, "{}", gain.lower);
    assert_eq!(found.wholes, ["M"]);
}

/// A tank whose level is controlled; the density of its liquid and the pressure above it move the operating point.
const TANK: &str = "model tank { param A = 0.5 ±5%; param a = 4e-4 ±10%; param kp = 4e-3 ±10%; param p0 = 1e3 ±5%; input href = 1; input qd = 0;
     signal h = level.e/9810; signal cmd = kp*(href - h) + 1e-3; Sf pump = cmd; Sf dist = qd; 0 b; C level { e = 9810*q/A; init q = 0.5 };
     1 out; Se above = p0; R v { f = a*sqrt(2*e/1000) }; pump -> b; dist -> b; b -> level, out; above -> out; out -> v; output h1 = h }";

#[test]
fn a_linearised_model_takes_the_names_of_the_model() {
    let token = CancellationToken::new();
    let gain = |output: &str, input: &str| {
        let pair = Some((output.to_owned(), input.to_owned()));
        let options = RobustOptions { pair, gap: 1e-3, ..RobustOptions::default() };
        load(TANK).robust(&options, &token).unwrap().document(&Plain).gain.unwrap().lower
    };
    let plain = gain("h1", "qd");
    assert!((plain / gain("Delta_h1", "Delta_qd") - 1.0).abs() < 1e-9);
    let steps = |output: &str, input: &str| {
        let (outputs, inputs) = (vec![output.to_owned()], vec![input.to_owned()]);
        let options = LoopOptions { open: "cmd".to_owned(), outputs, inputs, ..LoopOptions::default() };
        load(TANK).open_loop(&options, &token).unwrap().document(&Plain).step
    };
    assert_eq!(steps("h1", "qd"), steps("Delta_h1", "Delta_qd"));
}

#[test]
fn parameters_that_only_move_the_point_are_named() {
    let token = CancellationToken::new();
    let asked = |only: &[&str]| {
        let only = only.iter().map(|name| (*name).to_owned()).collect();
        load(TANK).robust(&RobustOptions { only, ..RobustOptions::default() }, &token)
    };
    let Err(paynter::QueryError::Wrong(found)) = asked(&["p0"]) else { panic!("p0 alone is uncertain") };
    let refused = found.iter().find(|finding| finding.is_error()).unwrap();
    assert!(refused.message.contains("`p0`") && refused.message.contains("operating point"), "{refused:?}");
    let answer = asked(&["p0", "kp"]).unwrap();
    let note = answer.findings.iter().find(|finding| finding.code.id() == "BG0712").unwrap();
    assert!(note.message.contains("`p0`"), "{note:?}");
}

#[test]
fn a_tolerance_that_reaches_zero_ends_the_margin_there() {
    // A resistance of 2 ± 120 %: at 2/2.4 times its tolerance nothing damps the current.
    let rl = |r: &str, l: &str| {
        let text = format!(
            "model rl {{ param R = 2 {r}; param L = 1 {l}; input u = 1; Se a = u; 1 j; R r = R; I l = L; a -> j; j -> r, l; output i = l.f }}"
        );
        let asked = load(&text).robust(&RobustOptions::default(), &CancellationToken::new()).unwrap();
        let told = asked.findings.iter().any(|finding| finding.code.id() == "BG0750");
        (asked.document(&Plain), told)
    };
    let (found, told) = rl("±120%", "±10%");
    assert!((found.margin.upper.unwrap() - 2.0 / 2.4).abs() < 1e-9 && told, "{:?}", found.margin);
    assert!(found.worst.as_ref().unwrap().parameters["R"].abs() < 1e-9);
    // Within a smaller tolerance it stays positive.
    assert!(!rl("±80%", "±10%").1);
}

#[test]
fn a_margin_without_tolerances_asks_for_tolerances() {
    let found = load(&servo("2", "1", "2")).robust(&RobustOptions::default(), &CancellationToken::new());
    let Err(paynter::QueryError::Wrong(found)) = found else { panic!("nothing is uncertain") };
    let help = format!("{:?}", found.iter().find(|finding| finding.is_error()).unwrap().help);
    assert!(!help.contains("normalized") && help.contains("tolerance"), "{help}");
}

#[test]
fn nothing_is_injected_in_a_printed_loop_gain() {
    let text = "model m { param k = 2; param b = 0.5; input r = 1; signal u = k*(r - l.f); Se s = u; 1 j; I l = 1;
         R d { e = b*f*abs(f) }; MTF t = 1 + u^2; 0 z; C c = 1; R e = 3; s -> j; j -> l, d, t; t -> z; z -> c, e; output y = l.f }";
    let found = opened(text, "u");
    let l = &found.loop_gain.as_ref().unwrap().entries[0];
    assert!(!format!("{} {}", l.num, l.den).contains("injected"), "{} / {}", l.num, l.den);
    let (num, den) = found.loop_gain_in_numbers().unwrap();
    assert!(den.starts_with("s^2") || den.starts_with("s^3"), "{num} / {den}");
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
