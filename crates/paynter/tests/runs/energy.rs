//! The energy ledger: closed forms, and a balance that closes on every example.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::load;
use paynter::energy::{Energy, Reference, Role};
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

/// A reaction A ⇌ B of which B starts with nothing: its potential is minus infinity there, and so is the power into
/// it, but all energies are finite. Amounts are exact, G = RT Σ (q ln(K q) − q), and what it falls by is dissipated.
#[test]
fn species_that_start_with_nothing_have_their_energy() {
    let (rt, ka, kb, k, t_end) = (2500.0, 2.0, 3.0, 0.4, 1.5);
    let gibbs = |q: f64, k: f64| if q == 0.0 { 0.0 } else { rt * (q * (k * q).ln() - q) };
    for (a0, b0) in [(1.0, 0.0), (0.0, 2.0), (1e-9, 0.0), (1e-20, 0.0)] {
        let text = format!(
            "model ab {{ param RT = {rt}; param KA = {ka}; param KB = {kb}; param k = {k}
            C A {{ e = RT*ln(KA*q); init q = {a0:e} }}; C B {{ e = RT*ln(KB*q); init q = {b0:e} }}; 0 a; 0 b
            R re[2] {{ f1 = k*(exp(e1/RT) - exp(e2/RT)); f2 = -k*(exp(e1/RT) - exp(e2/RT)) }}
            a -> A, re.1; b -> B, re.2 }}"
        );
        let found = energy(&text, t_end).unwrap();
        let total = a0 + b0;
        let rest = kb * total / (ka + kb);
        let a = rest + (a0 - rest) * (-k * (ka + kb) * t_end).exp();
        let lost = gibbs(a0, ka) + gibbs(b0, kb) - gibbs(a, ka) - gibbs(total - a, kb);
        let heat = at_end(&found, "re");
        assert!((heat - lost).abs() < 1e-6 * lost, "{a0}, {b0}: {heat}, not {lost}");
        assert!(found.error < 1e-6, "{a0}, {b0}: {}", found.error);
        for (element, from, q, k) in [("A", a0, a, ka), ("B", b0, total - a, kb)] {
            let place = found.accounts.iter().position(|(entry, _)| entry.element == element).unwrap();
            let values = &found.accounts[place].1;
            let (stored, expected) = (values[values.len() - 1] - values[0], gibbs(q, k) - gibbs(from, k));
            assert!((stored - expected).abs() < 1e-6 * lost, "{element}: {stored}, not {expected}");
            // Counted from the relaxed state q = 1/K, unless that is far away.
            if total >= 1.0 {
                assert!(
                    matches!(found.references[place], Reference::Relaxed(q) if (q * k - 1.0).abs() < 1e-9)
                );
                let held = gibbs(q, k) - gibbs(1.0 / k, k);
                assert!((values[values.len() - 1] - held).abs() < 1e-6 * held, "{element}: not {held}");
            }
        }
    }
}

/// A chain in which what comes later has neither amount nor inflow at first, and a species that never reacts.
#[test]
fn species_that_nothing_reaches_at_first_have_their_energy() {
    let text = "model chain { param RT = 8.314; 0 a; 0 b; 0 c; 0 d
        C A { e = RT*ln(q); init q = 1 }; C B { e = RT*ln(2*q) }; C D { e = RT*ln(5*q) }; C X { e = RT*ln(q) }
        R one[2] { f1 = exp(e1/RT) - exp(e2/RT); f2 = exp(e2/RT) - exp(e1/RT) }
        R two[2] { f1 = exp(e1/RT) - exp(e2/RT); f2 = exp(e2/RT) - exp(e1/RT) }
        a -> A, one.1; b -> B, one.2, two.1; c -> D, two.2; d -> X
        output x = D.q }";
    let found = energy(text, 2.0).unwrap();
    assert!(found.error < 1e-6, "{}", found.error);
    assert!(found.accounts.iter().all(|(_, values)| values.iter().all(|value| value.is_finite())));
}

/// Laws that cannot be turned round give the state by effort or flow; their energy is that of the law they are the
/// inverse of, whatever the causality. One that fades without end has no relaxed state.
#[test]
fn laws_in_the_other_direction_have_the_same_energy() {
    // The effort e with e + e³ = q.
    let effort = |q: f64| {
        let mut e = q / (1.0 + q * q);
        for _ in 0..100 {
            e -= (e + e * e * e - q) / (1.0 + 3.0 * e * e);
        }
        e
    };
    let cubic = |q: f64| effort(q) * q - effort(q).powi(2) / 2.0 - effort(q).powi(4) / 4.0;
    let drive = "Sf s = 0.5; 0 j; s -> j -> c; output y = c.q }";
    let mass = "Se s = 0.5; 1 j; s -> j -> c; output y = c.p }";
    for (law, drive, start, expected) in [
        ("C c { q = e + e^3; init q = -1 }", drive, -1.0, &cubic as &dyn Fn(f64) -> f64),
        ("C c { e + e^3 - q = 0; init q = 0.5 }", drive, 0.5, &cubic),
        ("I c { p = f + f^3; init p = 2 }", mass, 2.0, &cubic),
        // Counted from q = 0.3.
        ("C c { q = e + e^3 + 0.3; init q = -1 }", drive, -1.0, &|q| cubic(q - 0.3)),
        ("C c { e = exp(q); init q = -1 }", drive, -1.0, &|q: f64| q.exp() - (-1.0_f64).exp()),
    ] {
        let found = energy(&format!("model m {{ {law}; {drive}"), 4.0).unwrap();
        let (stored, wanted) = (at_end(&found, "c"), expected(start + 2.0));
        assert!((stored - wanted).abs() < 1e-7 * wanted.abs().max(1.0), "{law}: {stored}, not {wanted}");
        let held = found.accounts.iter().find(|(entry, _)| entry.element == "c").unwrap();
        assert!((held.1[0] - expected(start)).abs() < 1e-7, "{law}: {} at first", held.1[0]);
        assert!(held.0.by_state() && found.error < 1e-7, "{law}: {}", found.error);
    }
}
