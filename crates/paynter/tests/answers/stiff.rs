//! Stability of stiff and of hardly damped models, by closed forms: `robust` and `loop` say what the exact poles say,
//! however small a pole is beside the fastest.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::load;
use paynter::{CancellationToken, LoopOptions, Plain, RobustOptions};
use paynter_base::random::Random;
use paynter_testkit::property::seeds;

/// A stage of (L s + R) that heats a store of (C s + G), and k from its temperature back.
fn thermostat([r, l, c, g, k]: [f64; 5]) -> String {
    format!(
        "model m {{ param R = {r:e} ±10%; param L = {l:e} ±10%; param C = {c:e} ±10%; param G = {g:e} ±10%; param k = {k:e} ±20%;
         input T0 = 5; signal u = k*(T0 - body.e); Se s = u; 1 j; I i = L; R r = R; Sf heat = i.f; 0 b0; C body = C; R loss = 1/G;
         s -> j -> i, r; heat -> b0; b0 -> body, loss; output T = body.e }}"
    )
}

/// A resonator with a damping resistor and a negative one.
fn resonator([l, c, damping, driving]: [f64; 4]) -> String {
    format!(
        "model m {{ param L = {l:e} ±10%; param C = {c:e} ±10%; param p = {damping:e} ±10%; param n = {driving:e} ±20%; input u = 0;
         Se s = u; 1 j; I i = L; C c = C; R r1 = p; R r2 = -n; s -> j; j -> i, c, r1, r2; output y = i.f }}"
    )
}

fn margin(text: &str) -> paynter::json::Robust {
    let options = RobustOptions { work: Some(300_000_000), ..RobustOptions::default() };
    load(text).robust(&options, &CancellationToken::new()).unwrap().document(&Plain)
}

fn is_loop_stable(text: &str, place: &str) -> bool {
    let options = LoopOptions { open: place.to_owned(), work: Some(10_000_000), ..LoopOptions::default() };
    load(text).open_loop(&options, &CancellationToken::new()).unwrap().document(&Plain).margins.stable
}

/// Neither bound of a margin contradicts the true one, and what is attained is that.
fn agrees(text: &str, exact: f64) {
    let found = margin(text);
    let (lower, upper) = (found.margin.lower, found.margin.upper);
    assert!(lower <= exact * (1.0 + 1e-6), "{text}\nproved {lower}, but {exact}");
    assert!(
        upper.is_none_or(|upper| (upper / exact - 1.0).abs() < 1e-3),
        "{text}\nattained {upper:?}, but {exact}"
    );
}

#[test]
fn slow_poles_are_stable_where_their_coefficients_are_positive() {
    for seed in seeds(4) {
        let mut random = Random::new(seed);
        let decades = 6.0 + 8.0 * random.unit();
        let (r, g) = (1.0 + random.unit(), 0.1 + random.unit());
        // Poles near R/L and G/C.
        let fast = 10f64.powf(decades * random.unit());
        let slow = fast * 10f64.powf(-decades);
        let text = thermostat([r, r / fast, g / slow, g, r * g * random.unit()]);
        // A parameter reaches zero at ten times its tolerance, k at five.
        agrees(&text, 5.0);
        assert!(is_loop_stable(&text, "u"), "{text}");
    }
}

#[test]
fn a_slow_pole_crosses_where_its_constant_coefficient_vanishes() {
    for seed in seeds(4) {
        let mut random = Random::new(seed);
        let decades = 6.0 + 8.0 * random.unit();
        let (r, g) = (1.0 + random.unit(), 0.1 + random.unit());
        let fast = 10f64.powf(decades * random.unit());
        let slow = fast * 10f64.powf(-decades);
        let share = 0.2 + 0.6 * random.unit();
        let text = thermostat([r, r / fast, g / slow, g, -r * g * share]);
        // R G (1 − m/10)² = |k| (1 + m/5).
        let (mut low, mut high) = (0.0, 5.0);
        for _ in 0..100 {
            let m = 0.5 * (low + high);
            let stable = (1.0 - 0.1 * m) * (1.0 - 0.1 * m) > share * (1.0 + 0.2 * m);
            if stable { low = m } else { high = m }
        }
        let found = margin(&text);
        assert!(found.margin.upper.is_some() && found.margin.lower > 0.0, "{text}\n{:?}", found.margin);
        agrees(&text, low);
        assert!(is_loop_stable(&text, "u"), "{text}");
    }
}

#[test]
fn resonators_are_stable_as_long_as_they_lose_something() {
    for seed in seeds(6) {
        let mut random = Random::new(seed);
        let (l, c) = (10f64.powf(4.0 * random.symmetric()), 10f64.powf(4.0 * random.symmetric()));
        let impedance = (l / c).sqrt();
        let damping = 10f64.powf(-3.0 - 9.0 * random.unit()) * impedance;
        let share = 0.2 + 0.6 * random.unit();
        let text = resonator([l, c, damping, damping * share]);
        // p (1 − m/10) = n (1 + m/5).
        agrees(&text, (1.0 - share) / (0.1 + 0.2 * share));
        assert!(is_loop_stable(&text, "r1"), "{text}");
    }
    // Nothing but the resistor: it would have to reach zero.
    for damping in ["1e-6", "1e-10", "1e-15", "1e-20"] {
        let text = format!(
            "model m {{ param R = {damping} ±10%; input u = 0; Se s = u; 1 j; I i = 1; C c = 1; R r = R; s -> j -> i, r, c; output y = i.f }}"
        );
        agrees(&text, 10.0);
        assert!(is_loop_stable(&text, "r"), "{text}");
    }
}

#[test]
fn resistors_that_vanish_leave_stores_stable() {
    // Two stores, each behind a resistor: a pole goes to infinity where one of these or a store is zero.
    for seed in seeds(4) {
        let mut random = Random::new(seed);
        let mut drawn = |decades: f64| 10f64.powf(decades * random.symmetric());
        let (r, c, r2, c2) = (drawn(3.0), drawn(7.0), drawn(3.0), drawn(7.0));
        let text = format!(
            "model m {{ param r = {r:e} ±10%; param c = {c:e} ±10%; param r2 = {r2:e} ±10%; param c2 = {c2:e} ±10%; input u = 1;
             Se s = u; 1 j; R a = r; 0 z; C x = c; 1 k; R b = r2; C y = c2; s -> j; j -> a, z; z -> x, k; k -> b, y; output e = y.e }}"
        );
        assert_eq!(margin(&text).margin.upper, None, "{text}");
    }
}

#[test]
fn a_pole_on_the_axis_leaves_no_margin() {
    let text = "model m { param L = 1e-3 ±10%; param C = 2e6 ±10%; param R = 1 ±10%; Se s = 0; 1 j; I i = L; C c = C; s -> j; j -> i, c;
        Se t = 0; 1 k; I x = 1e-3; R y = R; t -> k; k -> x, y; output f = i.f }";
    assert_eq!(margin(text).margin.upper, Some(0.0));
}
