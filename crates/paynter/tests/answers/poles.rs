//! Poles, zeros, estimates and frequency responses of models whose answers are known.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::{example, sound as load};
use num_complex::Complex64;
use paynter::json::{Bode, EstimateKind, Naming, Poles};
use paynter::{BodeOptions, CancellationToken, Plain, TERMS, examples};
use paynter_testkit::scalable::{inertia_ladder, inertia_ladder_values};

fn poles(text: &str) -> Poles {
    load(text).poles(&CancellationToken::new()).unwrap().document(Naming::Flat, &Plain)
}

fn bode(text: &str) -> Bode {
    load(text).bode(&BodeOptions::default(), &CancellationToken::new()).unwrap().document(&Plain)
}

fn assert_near(found: &[[f64; 2]], expected: &[[f64; 2]]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (x, y) in found.iter().zip(expected) {
        let size = y[0].hypot(y[1]).max(1e-300);
        assert!((x[0] - y[0]).hypot(x[1] - y[1]) <= 1e-10 * size, "{found:?} {expected:?}");
    }
}

#[test]
fn a_parallel_circuit_rings() {
    let found = poles(example("parallel_rlc"));
    let w = 0.75f64.sqrt();
    assert_near(&found.poles, &[[-0.5, w], [-0.5, -w]]);
    assert_eq!(found.modes[0].damping, Some(0.5));
    assert_eq!(found.modes[0].natural_frequency, 1.0);
    assert_eq!(found.modes[0].time_constant, Some(2.0));
    assert!(found.stable && found.exact);
}

#[test]
fn the_tutorial_motor_has_its_published_poles() {
    let found = poles(example("ctms_motor"));
    assert_near(&found.poles, &[[-2.002_500_781_738_65, 0.0], [-9.997_499_218_261_35, 0.0]]);
    let speed = found.zeros.iter().find(|z| (z.output.as_str(), z.input.as_str()) == ("w", "V")).unwrap();
    assert!((speed.gain - 2.0).abs() < 1e-12 && speed.zeros.is_empty());
    assert!((speed.dc_gain.unwrap() - 2.0 / 20.02).abs() < 1e-14);
    // Loosely coupled: the winding and the bearing alone.
    let values: Vec<(&[String], f64)> =
        found.estimates.iter().map(|e| (e.elements.as_slice(), e.values[0][0])).collect();
    let names = |list: [&str; 2]| list.map(str::to_owned).to_vec();
    assert_eq!(values, [(&names(["coil", "winding"])[..], -2.0), (&names(["rotor", "bearing"])[..], -10.0)]);
    assert!(found.estimates.iter().all(|e| e.error.unwrap() < 0.002 && e.kind == EstimateKind::FirstOrder));
}

#[test]
fn equal_tanks_have_a_double_pole_that_partly_cancels() {
    let found = poles(example("parallel_tanks"));
    assert_eq!(found.poles, [[-1.0, 0.0]; 2]);
    assert_eq!(found.modes.len(), 1);
    assert_eq!(found.modes[0].multiplicity, 2);
    assert_eq!(found.zeros[0].poles, [[-1.0, 0.0]], "one of the two is uncontrollable");
    let transfer = load(example("parallel_tanks")).transfer(TERMS, &CancellationToken::new()).unwrap();
    let transfer = transfer.document(&Plain);
    assert_eq!(transfer.entries[0].poles.as_deref(), Some(&[[-1.0, 0.0]][..]));
}

#[test]
fn integrators_in_a_row_have_one_pole_as_often_as_they_are() {
    let text = "model m {
        input u = 1; param a = 0.1
        Se s = u; R r = 1; s -> r
        signal x1 = integral(r.f, 0); signal x2 = integral(x1 - a*x2, 0)
        signal x3 = integral(x2 - a*x3, 0); signal x4 = integral(x3 - a*x4, 0)
        output y = x4
    }";
    let found = poles(text);
    let modes: Vec<([f64; 2], usize)> = found.modes.iter().map(|m| (m.pole, m.multiplicity)).collect();
    assert_eq!(modes, [([0.0, 0.0], 1), ([-0.1, 0.0], 3)]);
    assert_eq!(found.poles.len(), 4);
    assert_eq!(found.zeros[0].dc_gain, None);
}

#[test]
fn undamped_poles_lie_on_the_axis_exactly() {
    let text = "model m { param k1 = 3.7; param k2 = 0.9; param m1 = 0.31; param m2 = 7.3
        input F = 1; Se push = F; 1 v1; 1 v2; I a = m1; I b = m2; 0 j; C s1 = 1/k1; C s2 = 1/k2
        push -> v1; v1 -> a; v1 -> j; j -> s1; j -> v2; v2 -> b, s2
        output x = s2.q }";
    let found = poles(text);
    assert_eq!(found.poles.len(), 4);
    assert!(found.poles.iter().all(|pole| pole[0] == 0.0), "{:?}", found.poles);
    assert!(!found.stable);
}

#[test]
fn widely_scaled_models_keep_their_digits() {
    // Two circuits that do not see each other: 1/(RC) = 1e-9 and R/L = 1e15.
    let text = "model m { input u = 1; Se s = u; 0 n; s -> n
        1 a; R r1 = 1e12; C c = 1e-3; n -> a; a -> r1, c
        1 b; R r2 = 1e6; I l = 1e-9; n -> b; b -> r2, l
        output y = c.e; output i = l.f }";
    assert_near(&poles(text).poles, &[[-1e-9, 0.0], [-1e15, 0.0]]);
}

#[test]
fn critical_damping_is_a_double_pole_even_with_a_root_in_it() {
    let text = "model m { input u = 1; param R = 2/sqrt(3); Se e = u; 1 j; R r = R; C c = 3; I l = 1
        e -> j; j -> r, c, l; output y = c.e }";
    let found = poles(text);
    assert_eq!(found.modes.len(), 1, "{:?}", found.poles);
    assert_eq!(found.modes[0].multiplicity, 2);
    assert_near(&found.poles, &[[-1.0 / 3f64.sqrt(), 0.0]; 2]);
}

#[test]
fn undamped_responses_have_values_all_along() {
    let found = bode(example("two_carts"));
    assert!(found.entries[0].re.iter().all(Option::is_some));
}

#[test]
fn a_resonance_is_estimated_by_the_lecture() {
    // R1, L, C with R2 across C.
    let text = "model m { input u = 1; param R1 = 2; param L = 0.1; param C = 1e-3; param R2 = 100
        Se s = u; 1 loop; R r1 = R1; I coil = L; 0 node; C cap = C; R r2 = R2
        s -> loop; loop -> r1, coil; loop -> node; node -> cap, r2; output y = cap.e }";
    let found = poles(text);
    let estimate = &found.estimates[0];
    assert_eq!(found.estimates.len(), 1);
    assert_eq!(estimate.kind, EstimateKind::Resonance);
    assert_eq!(estimate.elements, ["coil", "cap", "r1", "r2"]);
    let (w, z) = (100.0, 1.0 * (1e-3f64 / 0.1).sqrt() + 0.5 / 100.0 * (0.1f64 / 1e-3).sqrt());
    assert!((estimate.natural_frequency.unwrap() - w).abs() < 1e-9);
    assert!((estimate.damping.unwrap() - z).abs() < 1e-12);
    assert_near(&estimate.poles, &found.poles);
    assert!(estimate.error.unwrap() < 0.2);
}

#[test]
fn strongly_damped_pairs_are_estimated_together() {
    // A gyrator couples the coil to the rotor more strongly than winding and bearing damp them.
    let found = poles(example("dc_motor"));
    assert_eq!(found.estimates.len(), 1);
    let estimate = &found.estimates[0];
    assert_eq!(estimate.kind, EstimateKind::SecondOrder);
    assert_eq!(estimate.elements, ["coil", "rotor", "winding", "motor", "bearing"]);
    // ω0² = kT²/(La·Jm), 2ζω0 = Ra/La + Rm/Jm
    assert!((estimate.natural_frequency.unwrap() - 20_000f64.sqrt()).abs() < 1e-9);
    assert!((estimate.damping.unwrap() - 205.0 / 20_000f64.sqrt()).abs() < 1e-12);
    assert!(estimate.error.unwrap() < 0.21);
}

#[test]
fn peaks_are_hit() {
    for damping in [0.3, 0.02, 0.0005] {
        let text = format!(
            "model m {{ input u = 1; Se s = u; 1 j; R r = {}; I l = 1; C c = 1; s -> j; j -> r, l, c; output y = c.e }}",
            2.0 * damping
        );
        let found = bode(&text);
        let top = found.entries[0].decibel().into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        let expected = 1.0 / (2.0 * damping * (1.0f64 - damping * damping).sqrt());
        let ratio = 10f64.powf(top / 20.0) / expected;
        assert!((ratio - 1.0).abs() < 1e-3, "{damping}: {ratio}");
        assert!(found.omega.len() < 1000, "{} points", found.omega.len());
    }
}

#[test]
fn every_example_with_a_response_has_as_many_poles_as_states() {
    for example in examples::all() {
        let model = load(example.text);
        let Ok(answer) = model.equations(&CancellationToken::new()) else { continue };
        if answer.space.is_none() {
            continue;
        }
        let states = answer.equations.states.len();
        let found = load(example.text).poles(&CancellationToken::new());
        let Ok(found) = found else { panic!("{}: no poles", example.name) };
        let found = found.document(Naming::Flat, &Plain);
        assert_eq!(found.poles.len(), states, "{}", example.name);
        let estimated: usize = found.estimates.iter().map(|e| e.values.len()).sum();
        assert_eq!(estimated, states, "{}", example.name);
    }
}

/// The denominator of y/u = 1/(A r + B) of an inertia ladder, by the chain matrices of its sections, and the
/// size of what rounding errors of its terms are relative to.
fn chain_denominator(sections: usize, s: Complex64) -> (Complex64, f64) {
    let load = 1.0;
    // The row of the product of chain matrices that tells the pressure at the inlet.
    let (mut a, mut b) = (Complex64::ONE, Complex64::ZERO);
    let (mut a_size, mut b_size) = (1.0, 0.0);
    for [l, m, k] in inertia_ladder_values(sections) {
        let (series, branch) = (s * l, m * s + k / s);
        let (series_size, shunt_size) =
            (series.norm(), ((m * s).norm() + (k / s).norm()) / branch.norm_sqr());
        let with_series = a * series + b;
        (a, b) = (a + with_series / branch, with_series);
        let with_series = a_size * series_size + b_size;
        (a_size, b_size) = (a_size + with_series * shunt_size, with_series);
    }
    (a * load + b, a_size * load + b_size)
}

#[test]
fn a_ladder_of_dependent_inertias_has_the_poles_and_responses_of_its_chain_matrices() {
    let sections = 12;
    let text = inertia_ladder(sections);
    let found = poles(&text);
    assert_eq!(found.poles.len(), 2 * sections + 1);
    assert!(found.stable);
    for pole in &found.poles {
        let (value, size) = chain_denominator(sections, Complex64::new(pole[0], pole[1]));
        assert!(value.norm() <= 1e-9 * size, "{pole:?}: {value} of {size}");
    }
    for window in found.poles.windows(2) {
        assert_ne!(window[0], window[1], "no pole is found twice");
    }
    let found = bode(&text);
    for (place, omega) in found.omega.iter().enumerate() {
        let (denominator, size) = chain_denominator(sections, Complex64::new(0.0, *omega));
        let exact = denominator.inv();
        let (re, im) = (found.entries[0].re[place].unwrap(), found.entries[0].im[place].unwrap());
        let error = (Complex64::new(re, im) - exact).norm() / exact.norm();
        assert!(error <= 1e-10 * size / denominator.norm(), "at {omega}: {re} + {im}j, {exact}");
    }
}

#[test]
fn answers_about_many_dependent_inertias_grow_with_the_cube_of_their_number() {
    let token = CancellationToken::new();
    for sections in [6, 12, 18] {
        let model = load(&inertia_ladder(sections));
        let equations = model.explicit_equations(&token).unwrap();
        let mut roots = equations.equations.rates.clone();
        roots.extend(equations.space.iter().flat_map(|space| space.entries()));
        let nodes = equations.pool().reachable(&roots).len();
        // Elimination of a full matrix of rates; each section has three parameters of its own.
        let cube = sections * sections * sections;
        assert!(nodes <= 8 * cube, "{nodes} nodes for {sections} sections");
        let documents = [
            serde_json::to_string(&equations.document(&Plain)).unwrap(),
            serde_json::to_string(&model.equations(&token).unwrap().document(&Plain)).unwrap(),
            serde_json::to_string(&model.operating_point(&token).unwrap().document(&Plain)).unwrap(),
        ];
        for document in documents {
            let length = document.len();
            assert!(length <= 400 * cube, "{length} characters for {sections} sections");
        }
    }
}
