//! The energy ledger: closed forms, and a balance that closes on every example.
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use common::load;
use paynter::energy::{Energy, Role};
use paynter::simulate::SimulateOptions;
use paynter::{CancellationToken, examples};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options as RandomOptions, generate, switching};

fn energy(text: &str, t_end: f64) -> Option<Energy> {
    let options =
        SimulateOptions { t_end: Some(t_end), rtol: 1e-9, energy: true, ..SimulateOptions::default() };
    let simulation =
        load(text).simulation(&options, &CancellationToken::new()).unwrap_or_else(|_| panic!("{text}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none(), "{text}: {:?}", outcome.failure);
    simulation.energy(&response)
}

fn at_end(energy: &Energy, element: &str) -> f64 {
    let (_, values) = energy.accounts.iter().find(|(entry, _)| entry.element == element).unwrap();
    *values.last().unwrap()
}

/// A capacitor charged through a resistor: half of what the source gives is lost.
#[test]
fn charging_a_capacitor_loses_half() {
    let text = "model rc { param R = 2; param C = 0.5; input u = 3\n\
        Se s = u; 1 j; R r = R; C c = C\n s -> j; j -> r, c }";
    let found = energy(text, 4.0).unwrap();
    let left = (-4.0_f64).exp();
    let (given, kept) = (0.5 * 9.0 * (1.0 - left), 0.25 * 9.0 * (1.0 - left).powi(2));
    for (element, expected) in [("s", given), ("c", kept), ("r", given - kept)] {
        let value = at_end(&found, element);
        assert!((value - expected).abs() < 1e-7 * given, "{element}: {value}, not {expected}");
    }
    assert!(found.error < 1e-8, "{}", found.error);
}

/// The energy of nonlinear and two-port storages is that of their states, whatever way they came.
#[test]
fn nonlinear_storages_know_their_energy() {
    let text = "model swing { param k = 1; param k3 = 5; param m = 2\n\
        1 j; C spring { e = k*q + k3*q^3; init q = 1 }; I mass = m; R drag = 0.1\n j -> spring, mass, drag }";
    let found = energy(text, 7.0).unwrap();
    assert!(found.accounts.iter().all(|(entry, _)| entry.by_state() || entry.role != Role::Storage));
    assert!(found.error < 1e-7, "{}", found.error);
    // Counted from the relaxed state, so it holds no more than the 1/2 + 5/4 of the beginning.
    let spring = at_end(&found, "spring");
    assert!((0.0..=1.75).contains(&spring), "{spring}");
}

/// Ends before anything runs away or takes long; a second where nothing is said.
const ENDS: &[(&str, f64)] =
    &[("plate_capacitor", 2e-4), ("orifice", 1e-3), ("flux_transformer", 0.1), ("relay", 0.05)];

#[test]
fn the_balance_closes_on_every_example() {
    for example in examples::all() {
        let end = ENDS.iter().find(|(name, _)| *name == example.name).map_or(1.0, |(_, end)| *end);
        if let Some(found) = energy(example.text, end) {
            assert!(found.error < 1e-6, "{}: {}", example.name, found.error);
        }
    }
}

/// Dry friction turns all of a mass's energy into heat, and none while it holds.
#[test]
fn dry_friction_keeps_the_balance() {
    let text = "model stop { 1 motion; I mass = 2; R dry { e = 3*sign(f) }; init mass.p = 5\n\
        motion -> mass, dry }";
    let found = energy(text, 4.0).unwrap();
    assert!((at_end(&found, "dry") - 6.25).abs() < 1e-7, "{}", at_end(&found, "dry"));
    assert!(found.error < 1e-7, "{}", found.error);
}

/// On random models as they are drawn, and with what switches: fields, gyrators, modulated elements,
/// entropy, dependent storages and events.
#[test]
fn the_balance_closes_on_random_models() {
    let (mut judged, mut eventful, mut dependent, mut apart) = (0, 0, 0, Vec::new());
    let mut wrong = Vec::new();
    for seed in seeds(20) {
        let drawn = generate(seed, &RandomOptions::nonlinear().small());
        for sample in [switching(&drawn), drawn] {
            let model = load(&sample.text);
            let options = SimulateOptions {
                t_end: Some(0.6),
                rtol: 1e-9,
                energy: true,
                max_steps: 20_000,
                ..SimulateOptions::default()
            };
            let Ok(simulation) = model.simulation(&options, &CancellationToken::new()) else {
                apart.push(format!("seed {seed}: no equations"));
                continue;
            };
            let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
            // What came before a run stopped is valid.
            let Some(found) = simulation.energy(&response).filter(|found| found.t.len() > 1) else {
                apart.push(format!("seed {seed}: {:?}", outcome.failure));
                continue;
            };
            let states = sample.structure.states().len();
            judged += 1;
            eventful += usize::from(outcome.stats.events > 0);
            dependent += usize::from(simulation.states.len() < states);
            if found.error >= 1e-6 || found.error.is_nan() {
                wrong.push(format!("seed {seed}: {} {:?}\n{}", found.error, outcome.notes, sample.text));
            }
        }
    }
    println!("{judged} judged, {eventful} with events, {dependent} with dependent storages; {apart:#?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    demand("models judged", judged, 34, 20);
    demand("models with events", eventful, 8, 20);
    demand("models with dependent storages", dependent, 8, 20);
}
