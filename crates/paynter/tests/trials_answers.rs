//! Models on which a linear answer or an operating point once was wrong, each against a hand-derived model or a
//! closed form; and their kinds at random.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{findings, sound};
use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, QueryError};
use paynter_base::random::Random;
use paynter_testkit::property::seeds;
use std::path::Path;

fn trial(name: &str, set: &[(&str, &str)]) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let world =
        MemoryWorld::new().with("model.bg", read(&format!("{name}.bg"))).with("lib.bg", read("lib.bg"));
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Model::load(&world, "model.bg", &LoadOptions { set, ..LoadOptions::default() })
}

/// The poles with nonnegative imaginary parts, as (real, imaginary, multiplicity).
fn poles(model: &Model) -> Vec<(f64, f64, usize)> {
    let found = model.poles(&CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let upper = found.spectrum.poles.iter().filter(|root| root.value.im >= 0.0);
    upper.map(|root| (root.value.re, root.value.im, root.multiplicity)).collect()
}

fn near(found: f64, right: f64, what: &str) {
    assert!((found - right).abs() <= 1e-6 * right.abs().max(1.0), "{what}: {found}, not {right}");
}

/// The tangent is taken in states in which it exists.
#[test]
fn cranes_and_pendulums_swing_at_rest() {
    let found = poles(&trial("crane3", &[]));
    near(found[0].1, 0.759_102, "crane3");
    near(found[1].1, 2.382_176, "crane3");
    assert!(poles(&trial("crane", &[])).iter().any(|(_, im, _)| (im - 1.252_55).abs() < 1e-4));
    near(poles(&trial("planar_pendulum", &[]))[0].1, (9.81 / 10f64.sqrt()).sqrt(), "pendulum");
}

/// A trolley on a spring with a load on a rope: (M s² + k)(l s² + g) + m g s² = 0 by hand.
#[test]
fn random_cranes_swing_as_by_hand() {
    for seed in seeds(12) {
        let mut random = Random::new(seed);
        let mut draw = |low: f64, high: f64| low + (high - low) * random.unit();
        let (big, small, l, g, k) =
            (draw(100.0, 900.0), draw(50.0, 900.0), draw(1.0, 9.0), draw(3.0, 12.0), draw(50.0, 3000.0));
        let text = format!(
            "model crane {{ input F = 0; signal th = integral(swing.f, 0); Se drive = F; 1 vt; I trolley = {big}
                C anchor = 1/{k}; 0 horiz; 1 vlx; I loadx = {small}; 1 om; Df swing; MTF rx = {l}*cos(th)
                MTF ry = {l}*sin(th); 1 vly; I loady = {small}; Se weight = -{small}*{g}
                drive -> vt -> trolley, horiz, anchor; om -> swing; om -> rx -> horiz; horiz -> vlx -> loadx
                om -> ry -> vly -> loady; weight -> vly; output x = anchor.q }}"
        );
        let found = poles(&sound(&text));
        // M l w⁴ − (M g + k l + m g) w² + k g = 0 for w² = −s².
        let (a, b, c) = (big * l, -(big * g + k * l + small * g), k * g);
        let root = (b * b - 4.0 * a * c).sqrt();
        let mut right = [((-b - root) / (2.0 * a)).sqrt(), ((-b + root) / (2.0 * a)).sqrt()];
        right.sort_by(f64::total_cmp);
        assert_eq!(found.len(), 2, "seed {seed}: {found:?}\n{text}");
        for ((re, im, _), right) in found.iter().zip(right) {
            assert!(
                (im - right).abs() <= 1e-6 * right && re.abs() < 1e-6,
                "seed {seed}: {found:?}, not {right}"
            );
        }
    }
}

#[test]
fn what_is_zero_at_rest_is_zero() {
    // On both sides of the point the spring is the same.
    near(poles(&trial("gap", &[]))[0].1, 2.0, "gap");
    let found = trial("rdmin", &[]).poles(&CancellationToken::new()).unwrap();
    let entry = &found.spectrum.entries[0];
    assert!(entry.zeros.is_empty(), "{:?}", entry.zeros);
    near(entry.gain, 10.0 / 13.0, "gain");
    let found = trial("chain", &[("N", "21")]).poles(&CancellationToken::new()).unwrap();
    assert_eq!(found.spectrum.conserved, 21);
    let zero = &found.spectrum.poles[0];
    assert!(zero.multiplicity == 21 && zero.value.norm() == 0.0, "{zero:?}");
    assert!(found.spectrum.poles[1..].iter().all(|root| root.value.re < 0.0));
}

#[test]
fn rests_balance_or_are_none() {
    let found =
        trial("op6", &[]).operating_point(&CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    near(found.point.outputs[0] / 163.35e5, 1.0, "relief valve");
    let refused = trial("two_link", &[]).operating_point(&CancellationToken::new());
    let Err(QueryError::Wrong(said)) = refused else { panic!("a rest under a constant torque") };
    assert!(said.iter().any(|d| d.code.id() == "BG0603"), "{said:?}");
}

#[test]
fn preferences_are_obeyed_or_refused() {
    let text = "model m { Se s = 1; I a = 1; s -> a; prefer derivative a; output y = a.f }";
    assert!(findings(&sound(text)).iter().any(|d| d.code.id() == "BG0511"));
}
