//! Dry friction at rest: what it holds is the operating point, and the linear model there is that of sticking.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::sound;
use paynter::json::Naming;
use paynter::simulate::SimulateOptions;
use paynter::{Answer, CancellationToken, Model, Plain, SteadyState, TERMS};
use paynter_base::random::Random;
use paynter_testkit::property::seeds;

fn rest(model: &Model) -> Answer<SteadyState> {
    model.operating_point(&CancellationToken::new()).unwrap_or_else(|reason| panic!("{reason:?}"))
}

fn poles(model: &Model) -> Vec<(f64, f64)> {
    let found = model.poles(&CancellationToken::new()).unwrap_or_else(|reason| panic!("{reason:?}"));
    assert!(!found.checks.is_empty() || found.spectrum.poles.is_empty());
    found.document(Naming::Flat, &Plain).poles.iter().map(|[re, im]| (*re, *im)).collect()
}

/// What is said about friction that sticks.
fn said(answer: &Answer<SteadyState>) -> Vec<String> {
    let sticking = answer.findings.iter().filter(|finding| finding.code.id() == "BG0670");
    sticking.map(|finding| finding.message.clone()).collect()
}

fn block(force: f64, stiffness: f64, limit: f64, start: f64, law: &str) -> Model {
    sound(&format!(
        "model block {{ param k = {stiffness}; param Fc = {limit}; input F = {force}; Se pull = F; 1 v; I m = 2
         C spring = 1/k; R dry {{ {law} }}; pull -> v -> m, spring, dry; init spring.q = {start}
         output x = spring.q; output friction = dry.e }}"
    ))
}

/// The laws that people write for dry friction.
const LAWS: [&str; 4] = [
    "e = Fc*sign(f)",
    "e = if(f > 0, Fc, -Fc)",
    "e = (Fc + 0.5*exp(-abs(f)))*sign(f) + 0.1*f",
    "e = 0.3*f + Fc*sign(2*f)",
];

#[test]
fn friction_holds_the_initial_state_where_it_can() {
    for seed in seeds(24) {
        let mut random = Random::new(seed);
        let mut draw = |low: f64, high: f64| low + (high - low) * random.unit();
        let (force, stiffness, limit, start) =
            (draw(-5.0, 5.0), draw(1.0, 20.0), draw(0.2, 4.0), draw(-1.0, 1.0));
        let law = LAWS[seed as usize % LAWS.len()];
        let most = if law.contains("exp") { limit + 0.5 } else { limit };
        let model = block(force, stiffness, limit, start, law);
        let found = rest(&model);
        let [x, friction] = found.point.outputs[..] else { panic!("two outputs") };
        let needed = force - stiffness * start;
        let words =
            format!("seed {seed}: F {force}, k {stiffness}, Fc {most}, x0 {start}: x {x}, e {friction}");
        // It balances with a friction force within its limits.
        assert!((force - stiffness * x - friction).abs() < 1e-9 * (force.abs() + 1.0), "{words}");
        assert!(friction.abs() <= most * (1.0 + 1e-9), "{words}");
        if needed.abs() < most {
            assert!((x - start).abs() < 1e-12, "{words}");
        }
        let said = said(&found);
        assert_eq!(said.len(), 1, "{words}: {said:?}");
        assert!(said[0].contains("`dry` sticks") && said[0].contains("`spring.q` from"), "{said:?}");
        assert!(!found.checks.is_empty(), "{words}");
        // The place is kept, the speed is no state.
        assert_eq!(poles(&model), [(0.0, 0.0)], "{words}");
    }
}

#[test]
fn the_range_of_rests_is_told() {
    let said = said(&rest(&block(2.0, 10.0, 3.0, 0.1, LAWS[0])));
    // (F − Fc)/k and (F + Fc)/k.
    assert!(said[0].contains("its effort is 1 there and may be anything from -3 to 3"), "{said:?}");
    assert!(said[0].contains("`spring.q` from -0.1 to 0.5"), "{said:?}");
}

/// A run from the rest that was found stays there.
#[test]
fn what_sticks_stays() {
    let model = block(2.0, 10.0, 3.0, 0.1, LAWS[0]);
    let options = SimulateOptions { t_end: Some(5.0), points: 6, ..SimulateOptions::default() };
    let simulation = model.simulation(&options, &CancellationToken::new()).unwrap();
    let (response, _) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let x = rest(&model).point.outputs[0];
    assert!(response.outputs[0].iter().all(|y| (y - x).abs() < 1e-9), "{:?}", response.outputs[0]);
}

fn motor(voltage: f64) -> Model {
    sound(&format!(
        "model motor {{ param R1 = 2; param L1 = 0.01; param kT = 0.1; param Mc = 0.2; param b = 0.001
         input E = {voltage}; Se s = E; 1 a; R r = R1; I coil = L1; GY g = kT; 1 shaft; I rotor = 1e-3
         R brake {{ e = b*f + Mc*sign(f) }}; s -> a -> r, coil; a -> g -> shaft -> rotor, brake
         output i = coil.f; output w = rotor.f; output M = brake.e }}"
    ))
}

/// A stalled motor draws E/R, and its only pole is that of the coil; beyond kT E/R > Mc it turns.
#[test]
fn a_stalled_motor_has_the_current_of_its_winding() {
    let stalled = motor(3.0);
    let found = rest(&stalled);
    for (value, right) in found.point.outputs.iter().zip([1.5, 0.0, 0.15]) {
        assert!((value - right).abs() < 1e-12, "{:?}", found.point.outputs);
    }
    assert_eq!(said(&found).len(), 1);
    assert_eq!(poles(&stalled), [(-200.0, 0.0)]);
    let tf = stalled.transfer(TERMS, &CancellationToken::new()).unwrap().document(&Plain);
    let numbers: Vec<(&str, &str)> = tf.entries.iter().map(|e| (e.num.as_str(), e.den.as_str())).collect();
    assert_eq!(numbers[0], ("1", "L1*s + R1"), "{numbers:?}");
    assert_eq!(numbers[1].0, "0", "{numbers:?}");
    assert_eq!(numbers[2], ("kT", "L1*s + R1"), "{numbers:?}");
    let turning = motor(12.0);
    let found = rest(&turning);
    assert!(said(&found).is_empty(), "{:?}", said(&found));
    // kT i = b w + Mc, E = R i + kT w.
    let w = (0.1 * 12.0 / 2.0 - 0.2) / (0.001 + 0.01 / 2.0);
    assert!((found.point.outputs[1] - w).abs() < 1e-9 * w, "{:?}", found.point.outputs);
    assert_eq!(poles(&turning).len(), 2);
}

/// A block on a block: friction between them lets both move as one; a belt drags a block until its spring balances.
#[test]
fn friction_between_bodies_and_on_belts() {
    let model = sound(
        "model stack { input F = 1; Se pull = F; 1 low; 1 top; 0 d; 1 rel; I ml = 3; I mt = 1; C spring = 1/8
         R damp = 2; R dry { e = 0.5*sign(f) }; pull -> low -> ml, spring, damp; low -> d -> top; top -> mt
         d -> rel -> dry; output x = spring.q; output v = mt.f }",
    );
    let found = rest(&model);
    assert!((found.point.outputs[0] - 0.125).abs() < 1e-12, "{:?}", found.point.outputs);
    assert_eq!(said(&found).len(), 1);
    // (3 + 1) s² + 2 s + 8: both masses together.
    let all = poles(&model);
    assert_eq!(all.len(), 2, "{all:?}");
    let (re, im) = (-0.25, (8.0 / 4.0 - 0.0625f64).sqrt());
    assert!((all[0].0 - re).abs() < 1e-9 && (all[0].1.abs() - im).abs() < 1e-9, "{all:?}");
    let belt = sound(
        "model belt { Sf drive = 0.3; 0 d; 1 rel; 1 block; I m = 2; C spring = 1/50; R dry { e = 4*sign(f) }
         drive -> d -> block -> m, spring; d -> rel -> dry; output x = spring.q }",
    );
    let found = rest(&belt);
    assert!(said(&found).is_empty(), "{:?}", said(&found));
    assert!((found.point.outputs[0] - 0.08).abs() < 1e-9, "{:?}", found.point.outputs);
}

/// Four bodies with springs and dry friction to the ground and between neighbours, of which the first two move.
const CHAIN: &str = "model g { 1 v0; I M0=2.558; v0->M0; R G0 { e=1.4*sign(f) }; v0->G0; C S0=1/37.11; v0->S0; init S0.q=0.9;
         1 v1; I M1=1.809; v1->M1; R G1 { e=0.738*sign(f) }; v1->G1; 0 z1; 1 w1; v1->z1->v0; z1->w1; C S1=1/24.22; w1->S1; init S1.q=-0.05; R H1 { e=3.431*sign(f) }; w1->H1;
         1 v2; I M2=0.735; v2->M2; R G2 { e=3.26*sign(f) }; v2->G2; 0 z2; 1 w2; v2->z2->v1; z2->w2; C S2=1/27.78; w2->S2; init S2.q=-0.075; R H2 { e=3.301*sign(f) }; w2->H2;
         1 v3; I M3=1.266; v3->M3; R G3 { e=3.918*sign(f) }; v3->G3; 0 z3; 1 w3; v3->z3->v2; z3->w3; C S3=1/47.82; w3->S3; init S3.q=0.146; output p0 = M0.p; output p2 = M2.p; output p3 = M3.p; R H3 { e=3.193*sign(f) }; w3->H3 }";

#[test]
fn a_chain_sticks_at_every_tolerance() {
    let ends = [1e-6, 1e-8, 1e-9].map(|rtol| {
        let options = SimulateOptions { times: vec![0.0, 0.05, 0.1], rtol, ..SimulateOptions::default() };
        let answer = sound(CHAIN).simulation(&options, &CancellationToken::new());
        let answer = answer.unwrap_or_else(|reason| panic!("{reason:?}"));
        let (response, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
        assert_eq!(outcome.failure, None, "{rtol}");
        // Rounding moves what sticks, and steps do not follow it.
        assert!(outcome.stats.steps < 1000, "{rtol}: {} steps", outcome.stats.steps);
        for k in [1, 2] {
            assert!(response.outputs[k].iter().all(|p| p.abs() < 1e-10), "{rtol}: {:?}", response.outputs[k]);
        }
        response.outputs[0][2]
    });
    assert!(ends.iter().all(|p| (p - ends[2]).abs() < 1e-5), "{ends:?}");
}
