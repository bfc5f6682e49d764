//! A simulation is compiled once for all values that leave its program as it is, and anew for others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::values::{CIRCUIT, RUNS, anew, assert_guarded, assert_sweep, number, run};
use common::{example, load};
use paynter::CancellationToken;
use paynter::simulate::{Cost, CostKind, Sensitivities, SimulateOptions};

/// A pendulum as a mass for each axis: neither tells at every angle how fast it turns, so that a run takes other
/// states than the model's own.
const PENDULUM: &str =
    "model pendulum { param m = 1; param l = 0.8; param g = 9.81; param phi0 = 3; param w0 = 0.4; param A = 4
    input u = sqrt(A) - 2; signal phi = integral(gauge.f, phi0); 1 turn; 1 x; 1 y; I mx = m; I my = m
    Se weight = -m*g; Se push = u; Df gauge; MTF vx = l*cos(phi); MTF vy = l*sin(phi) + u
    turn -> vx -> x; turn -> vy -> y; turn -> gauge; push -> turn; x -> mx; y -> my; weight -> y
    init my.p = m*l*sin(phi0)*w0; output angle = phi; output speed = gauge.f; output across = mx.f }";

/// A crank: its piston depends on its wheel by a modulus that passes through zero.
const CRANK: &str = "model crank { param r = 0.1 [m]; param J = 0.2; param k = 50; param w0 = 3; param A = 2
    input u = A; Se drive = u; 1 shaft; I wheel = J; init wheel.p = J*w0; R bearing = 0.1
    MTF t = r*sin(th); 1 rod; I piston = 1.5; C spring = 1/k; R guide = 0.7
    signal th = integral(shaft.f, 0.4)
    drive -> shaft; shaft -> wheel, bearing; shaft -> t; t -> rod; rod -> piston, spring, guide
    output x = spring.q; output w = wheel.f }";

/// What compiled runs take for granted about values, one decision each.
#[test]
fn every_decision_of_compiled_runs_is_guarded() {
    let crank = CRANK.replace("r = 0.1 [m]", "r = 0.1 [m] ±0.05");
    assert_guarded(
        RUNS,
        &[
            ("the rate that the law of a dependent storage gives", &crank, &[("r", 0.03)]),
            ("an input at the start of a run in other states", PENDULUM, &[("A", -1.0)]),
        ],
    );
}

#[test]
fn a_program_is_compiled_once_for_all_values_that_leave_it_as_it_is() {
    let token = CancellationToken::new();
    let sensitivities = Sensitivities::Names(vec!["all".to_owned(), "init".to_owned()]);
    let plain = SimulateOptions { t_end: Some(0.3), points: 5, ..SimulateOptions::default() };
    let options = SimulateOptions { sensitivities, ..plain.clone() };
    for (text, name, values) in [
        (CIRCUIT, "Ra", [3.0, 0.5, 7.0].as_slice()),
        (CRANK, "r", &[0.2, 0.05, 0.3]),
        (CRANK, "w0", &[1.0, 0.0, -2.0]),
        (PENDULUM, "l", &[0.5, 1.2]),
        (PENDULUM, "w0", &[0.1, 0.0, -1.0]),
        (PENDULUM, "phi0", &[1.0, 2.0, -2.0]),
        (example("relay"), "Gl", &[2e-4, 1e-3]),
    ] {
        common::sound(text);
        let model = load(text);
        for options in [&plain, &options] {
            let nominal = model.simulation(options, &token).unwrap();
            assert!(nominal.shares_program_with(&model.simulation(options, &token).unwrap()));
            for value in values {
                let changed = model.with([(name, *value)]);
                let shared = changed.simulation(options, &token).unwrap();
                assert!(shared.shares_program_with(&nominal), "{name} = {value}");
                assert_eq!(run(&changed, options), run(&anew(text, &[], &[(name, number(*value))]), options));
            }
        }
    }
}

#[test]
fn a_sweep_through_a_guard_compiles_anew_and_comes_back() {
    for (text, name, values) in [
        (CIRCUIT, "Ra", [2.0, 1.0, 0.0, -1.0, 1.0].as_slice()),
        (CRANK, "r", &[0.1, 0.2, 0.0, -0.1, 0.3]),
        (CRANK, "J", &[0.2, 0.4, 0.0, 0.1]),
        (CRANK, "k", &[50.0, 0.0, 20.0]),
        (CRANK, "A", &[2.0, 0.0, -1.0, 3.0]),
        (CRANK, "u", &[2.0, 0.0, -1.0, 3.0]),
        (PENDULUM, "l", &[0.5, -0.8]),
    ] {
        assert_sweep(RUNS, text, name, values);
    }
}

#[test]
fn gradients_of_costs_share_their_program() {
    let token = CancellationToken::new();
    let costs = [Cost { kind: CostKind::Integral, output: "x".to_owned() }];
    let options = SimulateOptions { t_end: Some(0.5), ..SimulateOptions::default() };
    let model = load(CRANK);
    let nominal = model.gradients(&options, &costs, &token).unwrap();
    for value in [1.0, -2.0, 4.0] {
        let found = model.with([("w0", value)]).gradients(&options, &costs, &token).unwrap();
        let expected =
            anew(CRANK, &[], &[("w0", number(value))]).gradients(&options, &costs, &token).unwrap();
        assert!(found.result.simulation.shares_program_with(&nominal.result.simulation));
        assert_eq!(found.result.gradients, expected.result.gradients);
        assert_ne!(found.result.gradients, nominal.result.gradients);
    }
}
