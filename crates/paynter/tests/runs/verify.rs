//! Answers that are broken on purpose: the check against the graph's own equations must catch each kind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::sound;
use num_complex::Complex64;
use paynter::simulate::{Change, SimulateOptions, Vary};
use paynter::{
    Answer, BodeOptions, CancellationToken, Diagnostics, Frequencies, IncrementalOptions, Model,
    ResponseOptions, SensitivityOptions, SteadyState,
};
use paynter_algebra::{Pool, Symbol};
use paynter_numerics::parametric::{ResponseSensitivity, RootSensitivities, moved};
use paynter_numerics::verified::{Linearised, check_steady_moves};
use paynter_verify::{Acausal, Given, Pencil, Point};

/// Linear models of several domains, with dependent storages, loops and signals.
const LINEAR: &[&str] = &[
    "dc_motor",
    "two_carts",
    "two_coils",
    "rlc_circuit",
    "uncertain_motor",
    "flux_transformer",
    "two_carts_loop",
];
/// Nonlinear models with an operating point.
const NONLINEAR: &[&str] = &["heat_transfer", "gas_container", "vacuum_cleaner"];

fn model(name: &str) -> Model {
    sound(common::example(name))
}

/// Asks the equations of small changes of an answer's model.
fn with_pencil<T, U>(answer: &Answer<T>, ask: impl FnOnce(&mut Pool, &Pencil<'_>) -> U) -> U {
    let graph = answer.graph();
    let mut pool = Pool::over(answer.pool());
    let system = Acausal::new(&mut pool, graph);
    let width = graph.all_variables().len();
    let point = Point {
        parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
        inputs: vec![0.0; graph.inputs.len()],
        variables: vec![0.0; width],
        scales: vec![0.0; width],
        ..Point::default()
    };
    let pencil = Pencil::new(&mut pool, &system, &point).unwrap();
    ask(&mut pool, &pencil)
}

#[test]
fn wrong_poles_are_caught() {
    let token = CancellationToken::new();
    for name in LINEAR {
        let answer = model(name).poles(&token).unwrap();
        assert!(!answer.checks.is_empty(), "{name}");
        let poles: Vec<Complex64> = answer.spectrum.poles.iter().map(|root| root.value).collect();
        let fastest = poles.iter().fold(0.0f64, |most, pole| most.max(pole.norm()));
        with_pencil(&answer, |_, pencil| {
            assert!(pencil.check_poles("the pole", &poles, fastest).is_ok(), "{name}");
            for pole in poles.iter().filter(|pole| pole.norm() > 1e-6 * fastest) {
                for factor in [1.002, 0.99, 1.3] {
                    let found = pencil.check_poles("the pole", &[factor * pole], fastest);
                    assert!(found.is_err(), "{name}: {factor} times {pole} passes: {found:?}");
                }
            }
        });
    }
}

#[test]
fn wrong_transfer_values_and_sensitivities_are_caught() {
    let token = CancellationToken::new();
    for name in LINEAR {
        let model = sound(common::example(name));
        let bode = model.bode(&BodeOptions::default(), &token).unwrap();
        assert!(!bode.checks.is_empty(), "{name}");
        let found = model.sensitivity_response(&ResponseOptions::default(), &token).unwrap();
        assert!(!found.checks.is_empty(), "{name}");
        let response = &found.found;
        let at = response.omega.len() / 3;
        let s = Complex64::new(0.0, response.omega[at]);
        with_pencil(&found, |pool, pencil| {
            for (place, parameter) in response.parameters.iter().enumerate() {
                let right = [
                    (None, response.sensitivities.transfer(0, 0, at)),
                    (Some(*parameter), response.sensitivities.derivative(0, 0, place, at)),
                ];
                for (parameter, value) in right {
                    let mut check = |value: Complex64| {
                        let given = Given { output: 0, input: 0, parameter, value };
                        pencil.check_transfer(pool, "the response", s, &[given])
                    };
                    let found = check(value);
                    assert!(found.is_ok(), "{name}: {parameter:?} {found:?} {value} at {s}");
                    if value.norm() > 0.0 {
                        for factor in [1.001, -1.0, 0.0] {
                            assert!(
                                check(factor * value).is_err(),
                                "{name}: {factor} times {value}, {parameter:?}"
                            );
                        }
                    }
                }
            }
        });
    }
}

#[test]
fn wrong_static_gains_are_caught() {
    let token = CancellationToken::new();
    let asked = |name: &str| {
        model(name).sensitivity(&SensitivityOptions::default(), &token).unwrap_or_else(|_| panic!("{name}"))
    };
    let mut broken = 0;
    for name in LINEAR {
        let answer = asked(name);
        let (roots, parameters) = (&answer.found.roots, &answer.found.parameters);
        let is_checked = roots.checks.iter().any(|check| check.what.starts_with("the static gain"));
        assert_eq!(roots.gains.is_empty(), !is_checked, "{name}");
        with_pencil(&answer, |pool, pencil| {
            for gain in &roots.gains {
                let derivatives = parameters.iter().zip(&gain.derivatives);
                let all = derivatives.map(|(k, value)| (Some(*k), *value)).chain([(None, gain.value)]);
                // A derivative is compared beside its gain; what is nothing beside the response is nothing.
                for (parameter, value) in all.filter(|(_, value)| value.abs() > 1e-9) {
                    let mut check = |value: f64| {
                        let (output, input) = (gain.output, gain.input);
                        let entry = |parameter, value| Given {
                            output,
                            input,
                            parameter,
                            value: Complex64::from(value),
                        };
                        let given = [entry(None, gain.value), entry(parameter, value)];
                        let from = usize::from(parameter.is_none());
                        pencil.check_static(pool, "the static gain", &given[from..], (100.0, None))
                    };
                    assert!(check(value).is_ok(), "{name}: {parameter:?} {value}");
                    for factor in [1.001, -1.0, 0.0] {
                        assert!(
                            check(factor * value).is_err(),
                            "{name}: {factor} times {value}, {parameter:?}"
                        );
                        broken += 1;
                    }
                }
            }
        });
    }
    assert!(broken > 60, "{broken}");
    // Of nonlinear models the derivatives are compared with differences between rests.
    let answer = asked("vacuum_cleaner");
    let checks = &answer.found.roots.checks;
    assert!(checks.iter().any(|check| check.what.contains("with")), "{checks:?}");
}

/// The values of everything at an operating point.
fn point_of(answer: &Answer<SteadyState>) -> Point {
    let (graph, mut pool) = (answer.graph(), Pool::over(answer.pool()));
    let values = answer.equations.variable_values(&mut pool, graph, &graph.all_variables()).unwrap();
    let value = |symbol| answer.point.values.get(&symbol).copied();
    let values: Vec<f64> = values.iter().map(|value_of| pool.eval(*value_of, &value).unwrap()).collect();
    Point {
        parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
        inputs: graph.inputs.iter().map(|input| value(input.symbol).unwrap()).collect(),
        scales: values.iter().map(|value| value.abs()).collect(),
        variables: values,
        ..Point::default()
    }
}

/// Poles and transfer values of models that are linearised, and poles of what is conserved.
#[test]
fn wrong_answers_about_tangents_are_caught() {
    let token = CancellationToken::new();
    for name in NONLINEAR {
        let model = model(name);
        let answer = model.operating_point(&token).unwrap_or_else(|_| panic!("{name} has no rest"));
        let point = point_of(&answer);
        let mut pool = Pool::over(answer.pool());
        let system = Acausal::new(&mut pool, answer.graph());
        let pencil = Pencil::new(&mut pool, &system, &point).unwrap();
        let poles = model.poles(&token).unwrap();
        assert!(!poles.checks.is_empty(), "{name}");
        let poles: Vec<Complex64> = poles.spectrum.poles.iter().map(|root| root.value).collect();
        let fastest = poles.iter().fold(0.0f64, |most, pole| most.max(pole.norm()));
        let check = |pole: Complex64| pencil.check_poles("the pole", &[pole], fastest);
        for pole in &poles {
            assert!(check(*pole).is_ok(), "{name}: {pole}");
            let others = [1.01 * pole, pole + 0.03 * fastest];
            for other in
                others.iter().filter(|other| poles.iter().all(|p| (*p - **other).norm() > 1e-3 * fastest))
            {
                assert!(check(*other).is_err(), "{name}: {other} passes for {pole}");
            }
        }
        let Ok(bode) = model.bode(&BodeOptions::default(), &token) else { continue };
        assert!(!bode.checks.is_empty(), "{name}");
        let at = bode.response.omega.len() / 2;
        let s = Complex64::new(0.0, bode.response.omega[at]);
        let value = bode.response.values[at][0];
        for (factor, right) in [(1.0, true), (1.001, false), (-1.0, false), (0.0, false)] {
            let (output, input) = (bode.response.outputs[0], bode.response.inputs[0]);
            let given = Given { output, input, parameter: None, value: factor * value };
            let found = pencil.check_transfer(&mut pool, "the response", s, &[given]);
            assert!(value.norm() == 0.0 || found.is_ok() == right, "{name}: {factor}: {found:?}");
        }
    }
}

/// At a kink the answer is about one side of it, and poles of the other side are caught.
#[test]
fn poles_of_the_other_side_of_a_kink_are_caught() {
    let text =
        "model kink { input u = 0; Sf s = u; 0 n; C c = 1; R r { f = e + max(0, 3*e) }; s -> n; n -> c, r
         output y = c.e }";
    let answer = sound(text).poles(&CancellationToken::new()).unwrap();
    assert!(answer.checks.len() == 1 && (answer.spectrum.poles[0].value.re + 4.0).abs() < 1e-12);
    let linear = &answer.linear;
    let linearised = Linearised { graph: answer.graph(), equations: &linear.equations, linear };
    let check = |pole: f64| {
        let mut pool = Pool::over(answer.pool());
        linearised.check_poles(&mut pool, &[Complex64::from(pole)])
    };
    assert_eq!(check(-4.0).unwrap().len(), 1);
    assert!(check(-1.0).is_err() && check(-2.5).is_err());
}

/// A quarter car on its springs, whose rest has positions side by side, and a level behind a valve.
const MOVING: [&str; 2] = [
    "model quarter { param ms = 300; param mu = 40; param ks = 2e4; param k3 = 1e6; param kt = 2e5; param cs = 1500
     input v = 0; Sf road = v; 0 tyre; C air = 1/kt; 1 wheel; I unsprung = mu; Se wu = -mu*9.81; 0 susp; 1 sd
     C spring { e = ks*q + k3*q^3 }; R damper = cs; 1 body; I sprung = ms; Se wb = -ms*9.81
     road -> tyre -> air; tyre -> wheel -> unsprung; wu -> wheel; wheel -> susp -> body -> sprung; wb -> body
     susp -> sd -> spring, damper; signal z = integral(sprung.f, 0); output y = sprung.f; output d = spring.q }",
    "model tank { param A = 0.5; param k = 2e-3; input u = 0.01; Sf pump = u; 0 level; C store = A/9810
     R valve { f = k*sqrt(e) }; pump -> level -> store, valve; init store.q = 0.1; output p = store.e }",
];

/// Sensitivities of models that are linearised, with the moves of the point that they are linearised about.
#[test]
fn wrong_sensitivities_about_tangents_are_caught() {
    let token = CancellationToken::new();
    for text in MOVING {
        let answer = sound(text).sensitivity_response(&ResponseOptions::default(), &token).unwrap();
        let named = |what: &str| answer.checks.iter().any(|check| check.what.starts_with(what));
        assert!(named("the derivatives of the operating point"), "{:?}", answer.checks);
        assert!(named("the response with its sensitivities"), "{:?}", answer.checks);
        let linear = &answer.linear;
        let linearised = Linearised { graph: answer.graph(), equations: &linear.equations, linear };
        let check = |found: &mut ResponseSensitivity| {
            let mut pool = Pool::over(answer.pool());
            linearised.check_sensitivities(&mut pool, false, found, &mut Diagnostics::new())
        };
        assert!(check(&mut ResponseSensitivity::clone(&answer.found)).is_ok(), "{text}");
        let last = answer.found.parameters.len() - 1;
        for parameter in [0, last] {
            for factor in [1.001, -1.0, 0.0] {
                let mut broken = ResponseSensitivity::clone(&answer.found);
                for at in 0..broken.omega.len() {
                    let value = factor * broken.sensitivities.derivative(0, 0, parameter, at);
                    broken.sensitivities.replace((0, 0), Some(parameter), at, value);
                }
                assert!(check(&mut broken).is_err(), "{factor} times that by {parameter} passes: {text}");
            }
        }
    }
}

/// Derivatives of poles and zeros of models that are linearised, by differences between the rests beside.
#[test]
fn wrong_derivatives_of_roots_about_tangents_are_caught() {
    let token = CancellationToken::new();
    let mut broken = 0;
    for text in MOVING {
        let answer = sound(text).sensitivity(&SensitivityOptions::default(), &token).unwrap();
        let named = |what: &str| answer.found.roots.checks.iter().any(|check| check.what.starts_with(what));
        assert!(named("the derivatives of poles and zeros"), "{:?}", answer.found.roots.checks);
        let linear = &answer.linear;
        let linearised = Linearised { graph: answer.graph(), equations: &linear.equations, linear };
        let places = &answer.found.parameters;
        let mut pool = Pool::over(answer.pool());
        let findings = &mut Diagnostics::new();
        let moves = moved(&mut pool, answer.graph(), linear, places, false, findings).unwrap();
        let moves: Vec<_> = places.iter().copied().zip(moves).collect();
        let mut check =
            |roots: &mut RootSensitivities| linearised.reconcile_roots(&mut pool, places, &moves, roots);
        let right = RootSensitivities { checks: Vec::new(), ..answer.found.roots.clone() };
        let mut same = right.clone();
        check(&mut same).unwrap();
        assert_eq!((same.poles, same.zeros), (right.poles.clone(), right.zeros.clone()), "{text}");
        for (at, mode) in right.poles.iter().enumerate().filter(|(_, mode)| mode.multiplicity == 1) {
            for k in (0..places.len()).filter(|k| mode.derivatives[*k].norm() > 1e-9) {
                for factor in [1.01, -1.0, 0.0] {
                    let mut wrong = right.clone();
                    wrong.poles[at].derivatives[k] *= factor;
                    assert!(
                        check(&mut wrong).is_err(),
                        "{factor} times that by {k} of {mode:?} passes: {text}"
                    );
                    broken += 1;
                }
            }
        }
    }
    assert!(broken > 30, "{broken}");
}

/// How a steady state moves.
#[test]
fn wrong_derivatives_of_operating_points_are_caught() {
    let token = CancellationToken::new();
    for text in MOVING {
        let model = sound(text);
        let (rest, moves) =
            (model.operating_point(&token).unwrap(), model.steady_sensitivity(&[], &token).unwrap());
        assert!(!moves.checks.is_empty(), "{text}");
        let (graph, states) = (moves.graph(), &moves.equations.states);
        let own = states.iter().map(|state| state.symbol);
        for (k, place) in moves.found.parameters.iter().enumerate() {
            let right: Vec<_> = own.clone().zip(moves.found.states[k].iter().copied()).collect();
            let check = |states: &[(Symbol, f64)]| {
                let mut pool = Pool::over(moves.pool());
                let moved = [states, &[(graph.parameters[*place].declaration.symbol, 1.0)]].concat();
                let (equations, point) = (&moves.equations, &rest.point);
                check_steady_moves(&mut pool, graph, equations, point, &[(*place, moved)])
            };
            assert_eq!(check(&right).unwrap().len(), 1, "{text}");
            let name = &graph.parameters[*place].declaration.name;
            for i in (0..right.len()).filter(|i| right[*i].1 != 0.0 && states[*i].name != "z") {
                let mut broken = right.clone();
                broken[i].1 *= 1.001;
                assert!(check(&broken).is_err(), "the derivative of {} by {name} passes", states[i].name);
            }
        }
    }
}

/// Regularised roots, and sums that are nothing but rounding, are no contradictions.
#[test]
fn right_runs_are_not_withheld() {
    let token = CancellationToken::new();
    let valves = "model valves { 0 n1; 0 n2; 1 p; C t1 = 1; C t2 = 2; R chk { f = sqrt(max(e, 0)) }
         R out { f = 0.3*sqrt(abs(e)) }; n1 -> t1, p; p -> n2, chk; n2 -> t2, out; init t1.q = 1; output qc = chk.f }";
    for rtol in [1e-2, 1e-3, 1e-4] {
        let options = SimulateOptions { t_end: Some(8.0), points: 41, rtol, ..SimulateOptions::default() };
        let answer = sound(valves).simulation(&options, &token).unwrap();
        let (_, outcome) = answer.respond(&answer.parameters, &token);
        assert!(outcome.failure.is_none() && answer.check_run(&outcome).is_ok(), "{rtol}");
    }
    // Concentrations do not depend on the volume where both amounts do.
    let reaction = "model reaction { param V = 1e-4; param k = 0.02; 0 a; 0 b; C ca { e = q/V; init q = 1.5*V }
         C cb { e = q/V }; Sf out = -V*k*ca.e; Sf into = V*k*ca.e; out -> a -> ca; into -> b -> cb; output v = k*ca.e }";
    let pair = IncrementalOptions { pair: true, only: vec!["V".to_owned()], ..IncrementalOptions::default() };
    let pair = sound(&sound(reaction).incremental(&pair, &token).unwrap().text).with([("Delta_V", 1.0)]);
    let options = SimulateOptions { t_end: Some(60.0), points: 9, ..SimulateOptions::default() };
    let answer = pair.simulation(&options, &token).unwrap();
    let (_, outcome) = answer.respond(&answer.parameters, &token);
    assert!(answer.check_run(&outcome).is_ok());
}

/// Runs of sweeps and of finite changes are those of their own values, and of no others.
#[test]
fn wrong_runs_of_sweeps_and_changes_are_caught() {
    let token = CancellationToken::new();
    let options = SimulateOptions { t_end: Some(0.5), points: 40, ..SimulateOptions::default() };
    let model = model("dc_motor");
    let sweep = Vary { name: "Ra".to_owned(), values: vec![2.0, 3.0] };
    let varied = SimulateOptions { varied: vec!["Ra".to_owned()], ..options.clone() };
    let answer = model.simulation(&varied, &token).unwrap();
    let runs = answer.grid(&[sweep]).unwrap();
    let outcomes: Vec<_> = runs.iter().map(|run| answer.respond(&run.parameters, &token).1).collect();
    let changes = [Change { name: "Ra".to_owned(), by: 0.5, relative: true }];
    let perturbed = model.perturbed(&options, &changes, &token).unwrap();
    let (_, [nominal, exact]) = perturbed.simulation.perturb(perturbed.changes.clone(), &token);
    for pair in [[&outcomes[0], &outcomes[1]], [&nominal, &exact]] {
        for (own, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            assert!(
                answer.check_run(own).unwrap().len() == 1 && perturbed.check_run(own).unwrap().len() == 1
            );
            let mut broken = own.clone();
            for (witness, other) in broken.witnesses.iter_mut().zip(&other.witnesses) {
                witness.parameters = other.parameters.clone();
            }
            assert!(perturbed.check_run(&broken).is_err(), "the run of other values passes");
        }
    }
}

#[test]
fn wrong_operating_points_are_caught() {
    let token = CancellationToken::new();
    for name in NONLINEAR {
        let answer = model(name).operating_point(&token).unwrap_or_else(|_| panic!("{name} has no rest"));
        assert!(!answer.checks.is_empty(), "{name}");
        let graph = answer.graph();
        let variables = graph.all_variables();
        let (mut pool, point) = (Pool::over(answer.pool()), point_of(&answer));
        let system = Acausal::new(&mut pool, graph);
        let mut check = |point: &Point, outputs: &[f64]| {
            system.check_point(&mut pool, "the operating point", point, outputs, None)
        };
        let outputs = &answer.point.outputs;
        assert!(check(&point, outputs).is_ok(), "{name}");
        let bonds = 2 * graph.bonds.len();
        let size = |kind: usize| {
            point.variables[..bonds].iter().skip(kind).step_by(2).fold(0.0f64, |m, v| m.max(v.abs()))
        };
        let largest = [size(0), size(1)];
        for place in 0..bonds {
            let mut broken = point.clone();
            broken.variables[place] *= 1.001;
            // What is zero but for rounding is not known any better.
            if broken.variables[place].abs() > 1e-9 * largest[place % 2] {
                assert!(check(&broken, outputs).is_err(), "{name}: {:?} passes", variables[place]);
            }
        }
        for k in 0..outputs.len() {
            let mut broken = outputs.clone();
            broken[k] = 1.001 * broken[k] + 1e-3;
            assert!(check(&point, &broken).is_err(), "{name}: an output passes");
        }
    }
}

#[test]
fn wrong_samples_of_a_run_are_caught() {
    let token = CancellationToken::new();
    for name in [LINEAR, NONLINEAR].concat() {
        let options = SimulateOptions { t_end: Some(1.0), points: 40, ..SimulateOptions::default() };
        let answer = model(name).simulation(&options, &token).unwrap();
        let (_, outcome) = answer.respond(&answer.parameters, &token);
        let checks = answer.check_run(&outcome).unwrap();
        assert!(checks.len() == 1 && outcome.witnesses.len() > 8, "{name}: {checks:?}");
        let most = |place: usize| {
            outcome
                .witnesses
                .iter()
                .map(|w| w.variables[place].abs().max(w.scales[place]))
                .fold(0.0, f64::max)
        };
        for place in 0..2 * answer.graph().bonds.len() {
            let mut broken = outcome.clone();
            broken.witnesses.last_mut().unwrap().variables[place] += 1e-2 * most(place);
            let variable = answer.graph().all_variables()[place];
            assert!(most(place) == 0.0 || answer.check_run(&broken).is_err(), "{name}: {variable:?} passes");
        }
        for output in 0..answer.graph().outputs.len() {
            let mut broken = outcome.clone();
            broken.witnesses.last_mut().unwrap().outputs[output] *= 1.01;
            broken.witnesses.last_mut().unwrap().outputs[output] += 1e-3;
            assert!(answer.check_run(&broken).is_err(), "{name}: an output passes");
        }
    }
}

/// A converter, sampled where its transistor switches: the diode's law may be that of the other side, but what is
/// broken elsewhere is caught all the same.
#[test]
fn wrong_values_at_an_event_are_caught() {
    let token = CancellationToken::new();
    let text = "model boost { Se source = 12; 1 choke; I coil = 1e-4; R copper = 0.05; 0 node
         Sw transistor when (sin(2*pi*20e3*t) > 0) { Ron = 0.02; Goff = 1e-6 }; 1 path
         Sw diode when (diode.e > 0) { Ron = 0.05; Goff = 1e-6 }; 0 out; C cap = 1e-4; R load = 50
         source -> choke -> coil, copper, node; node -> transistor, path; path -> diode, out; out -> cap, load
         output u = cap.e }";
    let options = SimulateOptions { t_end: Some(1e-3), points: 5, ..SimulateOptions::default() };
    let answer = sound(text).simulation(&options, &token).unwrap();
    let (_, outcome) = answer.respond(&answer.parameters, &token);
    assert_eq!(answer.check_run(&outcome).unwrap().len(), 1);
    let graph = answer.graph();
    let size = |place: usize| outcome.witnesses.iter().map(|w| w.variables[place].abs()).fold(0.0, f64::max);
    for (place, variable) in graph.all_variables().into_iter().enumerate().take(2 * graph.bonds.len()) {
        let mut broken = outcome.clone();
        broken.witnesses.last_mut().unwrap().variables[place] += 1e-2 * size(place);
        assert!(
            answer.check_run(&broken).is_err(),
            "{variable:?} passes: {:?} {}",
            outcome.witnesses.last(),
            size(place)
        );
    }
    let mut broken = outcome.clone();
    broken.witnesses.last_mut().unwrap().outputs[0] *= 1.01;
    assert!(answer.check_run(&broken).is_err(), "the output passes");
}

/// The loop of two carts has a direct gain of 1e11 that cancels: the derivative of its force by the lag of the
/// controller, at 40 digits, is 14.386033455185 + 16.920390536892 j.
#[test]
fn digits_that_the_state_equations_lose_come_from_the_graph() {
    let options = ResponseOptions {
        omega: Some(Frequencies { low: 0.1, high: 100.0, points: 100 }),
        ..ResponseOptions::default()
    };
    let found = model("two_carts_loop").sensitivity_response(&options, &CancellationToken::new()).unwrap();
    let response = &found.found;
    let at = response.omega.iter().position(|omega| (omega - 3.2745).abs() < 1e-3).unwrap();
    let place = response.parameters.iter().position(|k| found.graph().parameters[*k].declaration.name == "T");
    let value = response.sensitivities.derivative(1, 0, place.unwrap(), at);
    let right = Complex64::new(14.386_033_455_185, 16.920_390_536_892);
    assert!((value - right).norm() < 1e-9 * right.norm(), "{value}");
}
