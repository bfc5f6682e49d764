//! Models on which a linear answer or an operating point once was wrong, each against a hand-derived model or a
//! closed form; and their kinds at random.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{findings, sound};
use paynter::simulate::SimulateOptions;
use paynter::{CancellationToken, IncrementalOptions, LoadOptions, MemoryWorld, Model, Plain, QueryError};
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
    // The load of a trolley that is held swings from a fixed hook: ±√(g/l).
    let found = trial("crane3", &[]).poles(&CancellationToken::new()).unwrap();
    let zeros = found.spectrum.entries.iter().flat_map(|entry| &entry.zeros);
    assert!(zeros.into_iter().any(|zero| (zero.im - (9.81f64 / 6.0).sqrt()).abs() < 1e-5));
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

/// A mass in Cartesian coordinates on a rod, with a spring and a damper at the pivot:
/// m l² s² + b s + k + m g l = 0 where it hangs.
#[test]
fn random_pendulums_swing_as_by_hand() {
    for seed in seeds(12) {
        let mut random = Random::new(seed);
        let mut draw = |low: f64, high: f64| low + (high - low) * random.unit();
        let (m, l, g, k) = (draw(0.2, 5.0), draw(0.2, 3.0), draw(3.0, 12.0), draw(0.0, 4.0));
        let b = if seed % 3 == 0 { 0.0 } else { draw(0.01, 0.3) };
        let prefer = ["", "prefer derivative mx", "prefer derivative my"][seed as usize % 3];
        let text = format!(
            "model pendulum {{ param l = {l}; input M = 0; signal th = integral(om.f, 0); I mx = {m}; I my = {m}
             Se weight = -{m}*{g}; Se drive = M; 1 turn; 1 px; 1 py; MTF tx = l*cos(th); MTF ty = l*sin(th); Df om
             R pivot = {b}; C coil {{ e = {k}*q }}; drive -> turn -> om, pivot, coil; turn -> tx -> px -> mx
             turn -> ty -> py -> my; weight -> py; output phi = th; {prefer} }}"
        );
        let found = poles(&sound(&text));
        let inertia = m * l * l;
        let (re, square) = (-b / (2.0 * inertia), (k + m * g * l) / inertia);
        let im = (square - re * re).sqrt();
        // The coil's displacement is the angle over again, which is conserved.
        let swings: Vec<_> = found.iter().filter(|(re, im, _)| re.hypot(*im) > 0.0).collect();
        assert!(found.iter().all(|(re, im, _)| re.hypot(*im) == 0.0 || *im > 0.0), "seed {seed}: {found:?}");
        assert_eq!(swings.len(), 1, "seed {seed}: {found:?}\n{text}");
        let apart = (swings[0].0 - re).hypot(swings[0].1 - im);
        assert!(apart <= 1e-6 * im, "seed {seed}: {found:?}, not {re} + {im}j\n{text}");
    }
}

/// A crank at its dead centre: the piston does not move to first order, so that its mass does not count, and its
/// force F along x = r cos φ + √(l² − r² sin² φ) is a spring F (r + r²/l) about it.
#[test]
fn random_cranks_at_dead_centre_swing_as_by_hand() {
    for seed in seeds(12) {
        let mut random = Random::new(seed);
        let mut draw = |low: f64, high: f64| low + (high - low) * random.unit();
        let (r, inertia, mass, force) = (draw(0.05, 0.4), draw(0.1, 2.0), draw(0.1, 3.0), draw(10.0, 500.0));
        let l = r * draw(1.5, 5.0);
        let b = if seed % 2 == 0 { 0.0 } else { draw(0.01, 0.2) };
        let text = format!(
            "model crank {{ param r = {r}; param l = {l}; input M = 0; signal phi = integral(om.f, 0)
             MTF rod = -r*sin(phi) - r^2*sin(phi)*cos(phi)/sqrt(l^2 - r^2*sin(phi)^2); Df om; Se gas = {force}
             Se drive = M; 1 shaft; 1 piston; I wheel = {inertia}; I mass = {mass}; R bearing = {b}
             drive -> shaft -> om, wheel, bearing; shaft -> rod -> piston -> mass; gas -> piston
             output angle = phi }}"
        );
        let found = poles(&sound(&text));
        let (re, square) = (-b / (2.0 * inertia), force * (r + r * r / l) / inertia);
        let im = (square - re * re).sqrt();
        assert_eq!(found.len(), 1, "seed {seed}: {found:?}\n{text}");
        let apart = (found[0].0 - re).hypot(found[0].1 - im);
        assert!(apart <= 1e-6 * im, "seed {seed}: {found:?}, not {re} + {im}j\n{text}");
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
    let found = trial("rdmin", &[]).structure(false, &CancellationToken::new()).unwrap().document(&Plain);
    assert_eq!((found.relative_degree[0].degree, found.relative_degree[0].nominal), (Some(2), Some(2)));
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

/// A valve that stands on the border of opening has a kink; the poles are those of its side, and checked.
#[test]
fn poles_at_a_kink_are_checked() {
    let answer = trial("op6", &[]).poles(&CancellationToken::new()).unwrap();
    assert_eq!(answer.checks.len(), 1);
}

/// Initial changes belong to the pair: Δy(0.5) by differences of exact responses.
#[test]
fn a_pair_begins_with_the_changes_of_its_initial_states() {
    let options = IncrementalOptions { pair: true, ..IncrementalOptions::default() };
    let token = CancellationToken::new();
    let pair = sound(&trial("pairmin2", &[]).incremental(&options, &token).unwrap().text);
    let options = SimulateOptions { times: vec![0.0, 0.5], rtol: 1e-9, ..SimulateOptions::default() };
    let simulation = pair.with([("Delta_k", 1.0)]).simulation(&options, &token).unwrap();
    let (response, _) = simulation.respond(&simulation.parameters, &token);
    near(response.outputs[1][1], -0.181_150_445, "Delta_y");
}

#[test]
fn preferences_are_obeyed_or_refused() {
    let text = "model m { Se s = 1; I a = 1; s -> a; prefer derivative a; output y = a.f }";
    assert!(findings(&sound(text)).iter().any(|d| d.code.id() == "BG0511"));
}
