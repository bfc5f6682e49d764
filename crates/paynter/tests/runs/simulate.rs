//! Questions to a simulation: directions, finite changes, gradients, sweeps,
//! measured inputs.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::simulation::{accurate, assert_near, message, respond};
use common::{example, sound as load, sound_with as load_with};
use paynter::simulate::{
    Change, Cost, CostKind, Data, Direction, Gradients, Hold, Perturbed, Response, Sensitivities,
    SimulateOptions, Simulation, Vary, respond_all,
};
use paynter::{CancellationToken, IncrementalOptions, LoadOptions, MemoryWorld, Model, QueryError, Scenario};
use std::sync::Arc;

const RC: &str = "model rc { input u = 1 [mV]; param R = 2; param C = 0.5; param q0 = 0.1\n\
    Se s = u; 1 j; R r = R; C c = C\n s -> j; j -> r, c; init c.q = q0; output v = c.e }";

/// A pendulum as a mass for each axis, of which neither tells at every angle how fast it turns, moves
/// as one that is an inertia.
#[test]
fn motion_goes_on_where_a_modulus_vanishes() {
    const AXES: &str =
        "model pendulum { param m = 1; param l = 0.8; param g = 9.81; param phi0 = 3; param w0 = 0.4
        signal phi = integral(gauge.f, phi0); 1 turn; 1 x; 1 y; I mx = m; I my = m; Se weight = -m*g; Df gauge
        MTF vx = l*cos(phi); MTF vy = l*sin(phi); turn -> vx -> x; turn -> vy -> y; turn -> gauge
        x -> mx; y -> my; weight -> y; init my.p = m*l*sin(phi0)*w0
        output angle = phi; output speed = gauge.f; output across = mx.f }";
    const BODY: &str =
        "model pendulum { param m = 1; param l = 0.8; param g = 9.81; param phi0 = 3; param w0 = 0.4
        signal phi = integral(body.f, phi0); 1 turn; I body = m*l^2; Se weight = -m*g*l*sin(phi)
        weight -> turn; turn -> body; init body.p = m*l^2*w0
        output angle = phi; output speed = body.f; output across = l*cos(phi)*body.f }";
    let options = SimulateOptions { sensitivities: Sensitivities::All, energy: true, ..accurate(3.0) };
    let (axes, found) = respond(&load(AXES), &options);
    let (body, expected) = respond(&load(BODY), &options);
    for output in 0..3 {
        assert_near(&found.outputs[output], &expected.outputs[output], 1e-7, "an output");
        for parameter in ["m", "l", "g", "phi0", "w0"] {
            let lane = |simulation: &Simulation| simulation.wanted.iter().position(|name| name == parameter);
            let a = &found.sensitivities[output][lane(&axes).unwrap()];
            let b =
                lane(&body).map_or(vec![0.0; a.len()], |lane| expected.sensitivities[output][lane].clone());
            let size = b.iter().fold(1e-3_f64, |size, value| size.max(value.abs()));
            assert!(
                a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6 * size),
                "by {parameter}: {a:?}, {b:?}"
            );
        }
    }
    // The states are those of the model, and the account of energy knows its elements alone.
    let names: Vec<&str> = axes.states.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["my.p", "phi"]);
    let momentum = |i: usize| 0.8 * expected.outputs[0][i].sin() * expected.outputs[1][i];
    let momenta: Vec<f64> = (0..found.t.len()).map(momentum).collect();
    assert_near(&found.states[0], &momenta, 1e-7, "my.p");
    let energy = axes.energy(&found).unwrap();
    assert_eq!(energy.accounts.len(), 3);
    assert!(energy.error < 1e-7, "{}", energy.error);
    // Runs and derivatives by the model's own initial states go through that point too.
    let at = |my: f64, phi: f64| {
        let vary = |name: &str, value: f64| Vary { name: name.to_owned(), values: vec![value] };
        let sweeps = [vary("init(my.p)", my), vary("init(phi)", phi)];
        let varied = sweeps.iter().map(|vary| vary.name.clone()).collect();
        let simulation =
            load(AXES).simulation(&SimulateOptions { varied, ..accurate(3.0) }, &CancellationToken::new());
        let simulation = simulation.unwrap_or_else(|reason| panic!("{reason:?}"));
        let runs = simulation.grid(&sweeps).unwrap();
        let (response, outcome) = simulation.respond(&runs[0].parameters, &CancellationToken::new());
        assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
        response.outputs
    };
    let own = Sensitivities::Names(vec!["init".to_owned()]);
    let (asked, found) =
        respond(&load(AXES), &SimulateOptions { sensitivities: own.clone(), ..accurate(3.0) });
    assert_eq!(asked.wanted, ["init(my.p)", "init(phi)"]);
    let my = 0.8 * 3f64.sin() * 0.4;
    assert_near(
        &[asked.nominal[0].unwrap(), asked.nominal[1].unwrap()],
        &[my, 3.0],
        1e-12,
        "where it begins",
    );
    for (lane, step) in [(0, [2e-5 * my, 0.0]), (1, [0.0, 2e-5])] {
        let (ahead, behind) = (at(my + step[0], 3.0 + step[1]), at(my - step[0], 3.0 - step[1]));
        for output in 0..3 {
            let slope = |(a, b): (&f64, &f64)| (a - b) / (2.0 * (step[0] + step[1]));
            let expected: Vec<f64> = ahead[output].iter().zip(&behind[output]).map(slope).collect();
            assert_near(&found.sensitivities[output][lane], &expected, 1e-5, &asked.wanted[lane]);
        }
    }
    // Where the modulus is zero, a change of the momentum has no speed to go with it.
    let across = load_with(AXES, &[("phi0", "0")]);
    let simulation = across
        .simulation(&SimulateOptions { sensitivities: own, ..accurate(1.0) }, &CancellationToken::new())
        .unwrap_or_else(|r| panic!("{r:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none() && response.sensitivities[1][0].iter().all(|value| value.is_nan()));
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.message.contains("there are no derivatives by `init(my.p)`")), "{said:?}");
    // At the angle where the modulus is zero an initial momentum across it is impossible.
    respond(&load_with(AXES, &[("phi0", "0")]), &accurate(1.0));
    let across = load_with(&AXES.replace("m*l*sin(phi0)*w0", "w0"), &[("phi0", "0")]);
    let simulation =
        across.simulation(&accurate(1.0), &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.message.contains("the initial state of `my` contradicts")), "{said:?}");
}

/// How far an arm extends does not depend on the angle at which it begins.
#[test]
fn a_robot_arm_turns_through_every_angle() {
    let arm =
        |theta0: &str| respond(&load_with(example("robot_arm"), &[("theta0", theta0)]), &accurate(5.0)).1;
    let expected = arm("0.3");
    for theta0 in [-1.0, 0.0, 3.0] {
        let found = arm(&theta0.to_string());
        assert_near(&found.outputs[1], &expected.outputs[1], 1e-8, "the length");
        let turned: Vec<f64> = found.outputs[0].iter().map(|angle| angle - theta0 + 0.3).collect();
        assert_near(&turned, &expected.outputs[0], 1e-8, "the angle");
    }
}

/// Σ λ ∂y/∂p along a direction is one lane, and the sum of the single ones.
#[test]
fn a_direction_is_the_weighted_sum_of_sensitivities() {
    for (name, weights, t_end) in [
        ("conical_tanks", vec![("V1", 0.3), ("alpha", -2.0), ("beta", 1.0), ("V2", 0.01)], 5.0),
        ("dc_motor", vec![("Ra", 2.0), ("kT", 0.1), ("init(coil.p)", 0.5)], 0.1),
        ("half_wave_rectifier", vec![("C", 100.0), ("Rl", 10.0)], 0.05),
    ] {
        let weights: Vec<(String, f64)> = weights.into_iter().map(|(n, w)| (n.to_owned(), w)).collect();
        let names = weights.iter().map(|(name, _)| name.clone()).collect();
        let direction = Direction { name: "lambda".to_owned(), weights: weights.clone() };
        let options = SimulateOptions { directions: vec![direction], ..accurate(t_end) };
        let (along, response) = respond(&load(example(name)), &options);
        assert_eq!(along.wanted, ["lambda"], "{name}: one lane");
        let options = SimulateOptions { sensitivities: Sensitivities::Names(names), ..accurate(t_end) };
        let model = load(example(name));
        let graph = model.graph().unwrap();
        let (_, single) = respond(&model, &options);
        // Weights are in declared units.
        let in_si = |(name, weight): &(String, f64)| {
            let parameter = graph.parameters.iter().find(|parameter| parameter.name == *name);
            weight * parameter.and_then(|p| p.unit.as_ref()).map_or(1.0, |unit| unit.factor)
        };
        for (output, lists) in single.sensitivities.iter().enumerate() {
            let sum: Vec<f64> = (0..single.t.len())
                .map(|i| lists.iter().zip(&weights).map(|(list, weight)| in_si(weight) * list[i]).sum())
                .collect();
            assert_near(&response.sensitivities[output][0], &sum, 1e-6, name);
        }
    }
}

/// y + Δy equals simulating the incremental bond graph beside its model; the exact response that of
/// the changed model (Borutzky and Granda, Fig. 15).
#[test]
fn finite_changes_agree_with_the_incremental_bond_graph() {
    for (name, changes, t_end) in [
        ("dc_motor", vec![("Ra", 0.1, true), ("Jm", -2e-5, false)], 0.1),
        ("conical_tanks", vec![("alpha", 0.05, true), ("V1", 0.02, false)], 4.0),
    ] {
        let changes: Vec<Change> = changes
            .into_iter()
            .map(|(name, by, relative)| Change { name: name.to_owned(), by, relative })
            .collect();
        let model = load(example(name));
        let answer = model.perturbed(&accurate(t_end), &changes, &CancellationToken::new());
        let Perturbed { simulation, changes: changed } = answer.unwrap_or_else(|r| panic!("{r:?}")).result;
        let (found, outcomes) = simulation.perturb(changed.clone(), &CancellationToken::new());
        assert!(outcomes.iter().all(|outcome| outcome.failure.is_none()));

        let only = changed.iter().map(|change| change.name.clone()).collect();
        let pair = IncrementalOptions { only, pair: true, ..IncrementalOptions::default() };
        let pair = model.incremental(&pair, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let by =
            |change: &paynter::simulate::Changed| (format!("Delta_{}", change.name), change.by.to_string());
        let set: Vec<(String, String)> = changed.iter().map(by).collect();
        let set: Vec<(&str, &str)> = set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let (both, response) = respond(&load_with(&pair.text, &set), &accurate(t_end));

        let parameters = changed.iter().map(|change| {
            let graph = model.graph().unwrap();
            let parameter = graph.parameters.iter().find(|p| p.name == change.name).unwrap();
            let factor = parameter.unit.as_ref().map_or(1.0, |unit| unit.factor);
            (change.name.clone(), ((parameter.number + change.by) / factor).to_string())
        });
        let set: Vec<(String, String)> = parameters.collect();
        let set: Vec<(&str, &str)> = set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let (_, exact) = respond(&load_with(example(name), &set), &accurate(t_end));

        for (place, output) in simulation.outputs.iter().enumerate() {
            let delta = format!("Delta_{}", output.name);
            let pair = both.outputs.iter().position(|column| column.name == delta).unwrap();
            assert_near(&found.nominal.sensitivities[place][0], &response.outputs[pair], 1e-6, &delta);
            assert_near(&found.exact.outputs[place], &exact.outputs[place], 1e-7, &output.name);
            let last = found.difference(place).last().copied().unwrap();
            let change = found.nominal.sensitivities[place][0].last().copied().unwrap();
            assert!(last != 0.0 && last.abs() < 0.5 * change.abs().max(1e-3), "{name}: {last} of {change}");
        }
    }
    let model = load_with(RC, &[("q0", "0")]);
    let nothing = [Change { name: "q0".to_owned(), by: 0.1, relative: true }];
    let refused =
        model.perturbed(&accurate(1.0), &nothing, &CancellationToken::new()).err().map(message).unwrap();
    assert!(refused.contains("its value is zero") && refused.contains("q0=+0.1"), "{refused}");
}

/// Gradients by the adjoint method: closed forms of a charged capacitor, and forward sensitivities.
#[test]
fn gradients_of_costs() {
    let costs = [CostKind::Final, CostKind::Integral].map(|kind| Cost { kind, output: "v".to_owned() });
    let model = load_with(RC, &[("u", "1000")]);
    let answer = model.gradients(&accurate(3.0), &costs, &CancellationToken::new());
    let Gradients { simulation, gradients: found, .. } = answer.unwrap_or_else(|r| panic!("{r:?}")).result;
    assert_eq!(simulation.wanted, ["R", "C", "q0"]);
    // v = 1 + (q0/C − 1) e^(−t/RC), and its integral.
    let (r, c, q0, t) = (2.0_f64, 0.5, 0.1, 3.0_f64);
    let (tau, left) = (r * c, (-t / (r * c)).exp());
    let slope = (q0 / c - 1.0) * left * t / (tau * tau);
    assert_near(&[found[0].value], &[1.0 + (q0 / c - 1.0) * left], 1e-8, "final(v)");
    let by = [slope * c, slope * r - q0 / (c * c) * left, left / c];
    assert_near(&found[0].by, &by, 1e-7, "gradient of final(v)");
    let rest = (q0 / c - 1.0) * tau * (1.0 - left);
    let slope = (q0 / c - 1.0) * (1.0 - left - t / tau * left);
    assert_near(&[found[1].value], &[t + rest], 1e-8, "integral(v)");
    let by = [slope * c, slope * r - q0 / (c * c) * tau * (1.0 - left), tau * (1.0 - left) / c];
    assert_near(&found[1].by, &by, 1e-7, "gradient of integral(v)");

    let cost = [Cost { kind: CostKind::Final, output: "u_out".to_owned() }];
    let model = load(example("half_wave_rectifier"));
    let answer = model.gradients(&accurate(0.05), &cost, &CancellationToken::new());
    let Gradients { simulation, gradients: found, .. } = answer.unwrap_or_else(|r| panic!("{r:?}")).result;
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(0.05) };
    let (forward, response) = respond(&model, &options);
    assert_eq!(simulation.wanted, forward.wanted);
    for (lane, by) in found[0].by.iter().enumerate() {
        let expected = *response.sensitivities[0][lane].last().unwrap();
        assert!((by - expected).abs() < 1e-5 * expected.abs().max(1e-3), "{by}, not {expected}");
    }
}

fn sweep(simulation: &Arc<Simulation>, sweeps: &[Vary]) -> Vec<(String, Response)> {
    let runs = simulation.grid(sweeps).unwrap();
    let mut found = Vec::new();
    respond_all(&runs, &CancellationToken::new(), &mut |run, response, outcome| {
        assert!(outcome.failure.is_none());
        found.push((run.name.clone(), response));
    });
    found
}

/// Sweeps and scenarios of the library are runs of the model at these values; what cannot be run is told, and the
/// others go on.
#[test]
fn sweeps_and_scenarios_are_runs_at_other_values() {
    let (model, token) = (load(RC), CancellationToken::new());
    let alone = |set: &[(&str, &str)]| respond(&load_with(RC, set), &accurate(2.0)).1;
    let set = |list: &[(&str, &str)]| list.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    // A resistance of the other sign needs a model of its own.
    let vary = Vary { name: "R".to_owned(), values: vec![1.0, -2.0, 3.0] };
    let mut sweep = model.sweep(&accurate(2.0), &[vary], &token).unwrap_or_else(|r| panic!("{r:?}"));
    let mut found = Vec::new();
    sweep.respond(&token, &mut |run, response, _, _| found.push((run.name.clone(), response)));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["R = 1", "R = −2", "R = 3"]);
    for (value, (name, response)) in ["1", "-2", "3"].into_iter().zip(&found) {
        assert_near(&response.outputs[0], &alone(&[("R", value)]).outputs[0], 1e-9, name);
    }
    let scenario = |name: &str, list: &[(&str, &str)]| Scenario { name: name.to_owned(), set: set(list) };
    let list = [
        scenario("plain", &[]),
        scenario("wrong", &[("R", "1 [m]"), ("nobody", "2")]),
        scenario("slow", &[("C", "2"), ("u", "sin(t)")]),
    ];
    let mut runs = model.scenarios(&accurate(2.0), &list, &token).unwrap_or_else(|r| panic!("{r:?}"));
    assert_eq!(runs.impossible.len(), 1);
    assert!(runs.findings.diagnostics.has_errors());
    assert!(
        runs.findings.diagnostics.iter().filter(|d| d.is_error()).all(|d| d.message.starts_with("wrong: "))
    );
    let mut found = Vec::new();
    runs.respond(&token, &mut |_, response, _, _| found.push(response));
    assert_eq!(found, [alone(&[]), alone(&[("C", "2"), ("u", "sin(t)")])]);
    let twice = [scenario("a", &[]), scenario("a", &[("R", "1")])];
    assert!(model.scenarios(&accurate(2.0), &twice, &token).is_err());
}

/// A sweep over a parameter, an input with a unit and an initial state equals runs with these values,
/// whatever the number of threads.
#[test]
fn sweeps_equal_single_runs_at_any_number_of_threads() {
    let vary = |name: &str, values: &[f64]| Vary { name: name.to_owned(), values: values.to_vec() };
    let sweeps = [vary("R", &[1.0, 3.0]), vary("u", &[500.0, 2000.0]), vary("init(c.q)", &[0.0, -0.25])];
    let varied = sweeps.iter().map(|vary| vary.name.clone()).collect();
    let simulation = load(RC)
        .simulation(&SimulateOptions { varied, ..accurate(2.0) }, &CancellationToken::new())
        .unwrap_or_else(|reason| panic!("{reason:?}"));
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| sweep(&simulation, &sweeps));
    let four = pool(4).install(|| sweep(&simulation, &sweeps));
    assert_eq!(one, four);
    assert_eq!(one.len(), 8);
    assert_eq!(one[1].0, "R = 1, u = 500 mV, init(c.q) = −0.25");
    // Programs that have become machine code on the way give the same numbers.
    let tanks = [vary("V1", &[0.4, 0.45, 0.5, 0.55]), vary("alpha", &[1.2, 1.5, 1.8])];
    let options = SimulateOptions {
        varied: tanks.iter().map(|vary| vary.name.clone()).collect(),
        sensitivities: Sensitivities::All,
        ..accurate(5.0)
    };
    let compiled = |threads: usize| {
        let simulation = load(example("conical_tanks")).simulation(&options, &CancellationToken::new());
        let simulation = simulation.unwrap_or_else(|reason| panic!("{reason:?}"));
        pool(threads).install(|| sweep(&simulation, &tanks))
    };
    assert_eq!(compiled(1), compiled(4));
    let mut number = 0;
    for r in ["1", "3"] {
        for u in ["500", "2000"] {
            for q in ["0", "-0.25"] {
                let (_, single) = respond(&load_with(RC, &[("R", r), ("u", u), ("q0", q)]), &accurate(2.0));
                assert_near(&one[number].1.outputs[0], &single.outputs[0], 1e-9, &one[number].0);
                number += 1;
            }
        }
    }
    let varied = vec!["Q".to_owned()];
    let refused =
        load(RC).simulation(&SimulateOptions { varied, ..accurate(1.0) }, &CancellationToken::new());
    assert!(message(refused.err().unwrap()).contains("no independent parameter, input or initial state `Q`"));
    let many = [vary("R", &vec![1.0; 2000]), vary("u", &vec![1.0; 2000]), vary("init(c.q)", &[1.0])];
    assert!(simulation.grid(&many).is_err(), "four million runs");
}

fn measured(text: &str, hold: Hold) -> SimulateOptions {
    let data = Data { path: "d.csv".to_owned(), content: text.as_bytes().to_vec() };
    SimulateOptions { t_end: None, data: Some(data), hold, ..accurate(1.0) }
}

/// Data drive inputs in the inputs' units, end the run, and have corners that no step runs over.
#[test]
fn measured_inputs_equal_expressions() {
    const DATA: &str = "t,ignored,u\n0,x,0\n1,,1000\n1.5,-,500\n3,?,500\n\n";
    for (hold, expression) in [
        (Hold::Linear, "if(t < 1, 1000*t, if(t < 1.5, 1000 - 1000*(t - 1), 500))"),
        (Hold::Zero, "1000*step(1) - 500*step(1.5)"),
    ] {
        let (_, found) = respond(&load(RC), &measured(DATA, hold));
        let (_, expected) = respond(&load_with(RC, &[("u", expression)]), &accurate(3.0));
        assert_eq!(found.t, expected.t, "the data end at 3");
        assert_near(&found.outputs[0], &expected.outputs[0], 1e-9, expression);
        let world = MemoryWorld::new().with("d.csv", DATA);
        let world = world.with("m.bg", RC.replace("u = 1 [mV]", "u = table(\"d.csv\", u) [mV]"));
        let model = Model::load(&world, "m.bg", &LoadOptions::default());
        let options = SimulateOptions { hold, ..accurate(3.0) };
        let (_, table) = respond(&model, &options);
        assert_near(&table.outputs[0], &found.outputs[0], 1e-12, "one reader for both ways");
    }
}

/// A measured signal that jumps from sample to sample makes storages in its way jump as the same expression does, with
/// the derivatives: two capacitors in series across a source, beside a resistor.
#[test]
fn held_samples_make_states_jump() {
    const SERIES: &str =
        "model series { param a = 1; input u; Se s = u; 1 j; C c1 = a; C c2 = 3; 0 n; R r = 2; s -> j
        j -> c1, n; n -> c2, r; output v = c2.e }";
    const DATA: &str = "t,u\n0,0\n1,1\n2.5,-2\n3,-2\n";
    let asked = |options: SimulateOptions| SimulateOptions { sensitivities: Sensitivities::All, ..options };
    for solver in ["auto", "stiff"] {
        let by = |options: SimulateOptions| SimulateOptions { solver: solver.to_owned(), ..asked(options) };
        let held = "step(1) - 3*step(2.5)";
        let (_, found) = respond(&load(SERIES), &by(measured(DATA, Hold::Zero)));
        let (_, expected) = respond(&load_with(SERIES, &[("u", held)]), &by(accurate(3.0)));
        assert_near(&found.outputs[0], &expected.outputs[0], 1e-9, solver);
        let most = found.outputs[0].iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(most > 0.2, "a quarter of the source jumps onto the larger capacitor: {most}");
        for (found, expected) in found.sensitivities[0].iter().zip(&expected.sensitivities[0]) {
            assert_near(found, expected, 1e-7, "a derivative");
        }
    }
}

/// A dependent storage whose initial value is given determines the state it depends on, whether a modulus between them is
/// an expression, a table or measured; and one that is given both contradicts itself in each case.
#[test]
fn measured_moduli_determine_initial_states() {
    const GEARED: &str =
        "model geared { param p0 = 6; input n = N; Se F = 1; 1 j; I a = 1; MTF tf = n; 1 k; I b = 3
        R r = 1; F -> j -> a; j -> tf -> k -> b, r; init b.p = p0; output v = b.f }";
    let text = |n: &str| GEARED.replace('N', n);
    let data = measured("t,n\n0,2\n4,4\n", Hold::Linear);
    let sensitive = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(4.0) };
    let (_, expected) = respond(&load(&text("2 + 0.5*t")), &sensitive);
    assert!((expected.outputs[0][0] - 2.0).abs() < 1e-12, "b.p/3");
    let world = |text: &str| MemoryWorld::new().with("d.csv", "t,n\n0,2\n4,4\n").with("m.bg", text);
    let tabled = |text: &str| Model::load(&world(text), "m.bg", &LoadOptions::default());
    let measured = SimulateOptions { data: data.data, ..sensitive.clone() };
    let table = text("table(\"d.csv\", n)");
    for (model, options) in [(tabled(&table), &sensitive), (load(&text("1")), &measured)] {
        let (_, found) = respond(&model, options);
        assert_near(&found.outputs[0], &expected.outputs[0], 1e-9, "the speed");
        for (found, expected) in found.sensitivities[0].iter().zip(&expected.sensitivities[0]) {
            assert_near(found, expected, 1e-7, "a derivative of the speed");
        }
    }
    let both = |text: &str| text.replace("init b.p", "init a.p = 2; init b.p");
    for (model, options) in [
        (load(&both(&text("2 + 0.5*t"))), &sensitive),
        (tabled(&both(&table)), &sensitive),
        (load(&both(&text("1"))), &measured),
    ] {
        let Ok(simulation) = model.simulation(options, &CancellationToken::new()) else { continue };
        let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        assert!(outcome.failure.is_some(), "b.p is 6 by itself and 3·2·2 by a");
    }
}

/// What is wrong with data is said at its line, however they come.
#[test]
fn data_that_cannot_be_used() {
    for (text, line, words) in [
        ("", 1, "empty"),
        ("t;u\n0;1", 1, "semicolons"),
        ("t,v\n0,1", 1, "no column `u`"),
        ("t,u\n0,1\n1,2,3", 3, "3 cells under 2 headings"),
        ("t,u\n0,1\n2,1\n1,1", 4, "not after"),
        ("t,u\n0,1\n1,NaN", 3, "no finite number"),
        ("t,u\r\n0,1\r\n1,x\r\n", 3, "no number"),
    ] {
        let world = MemoryWorld::new().with("d.csv", text);
        let world = world.with("m.bg", RC.replace("u = 1 [mV]", "u = table(\"d.csv\", u)"));
        let table = Model::load(&world, "m.bg", &LoadOptions::default());
        for (model, options) in [(load(RC), measured(text, Hold::Linear)), (table, accurate(1.0))] {
            let Err(QueryError::Wrong(found)) = model.simulation(&options, &CancellationToken::new()) else {
                panic!("{text:?} was taken")
            };
            let diagnostic = found.iter().next().unwrap();
            assert!(diagnostic.message.contains(words), "{text:?}: {}", diagnostic.message);
            assert!(["BG0910", "BG0911"].contains(&diagnostic.code.id()));
            let span = diagnostic.span.unwrap();
            let sources = model.sources_with(options.data.as_ref());
            let source = sources.get(span.file).unwrap();
            assert_eq!(
                (source.path.as_str(), source.line_column(span.start).line),
                ("d.csv", line),
                "{text:?}"
            );
        }
    }
    let text = RC
        .replace("input u = 1 [mV]", "input u = 1; input w = 0; Se x = w")
        .replace("s -> j;", "s -> j; x -> j;");
    let model = load(&text);
    let data = measured("t,u,W\n0,1,2\n1,1,2", Hold::Linear);
    let (simulation, _) = respond(&model, &data);
    let said = simulation.findings.iter().find(|d| d.code.id() == "BG0912").unwrap();
    assert!(said.message.contains("`w`") && said.help.to_string().contains("`W`"), "{said:?}");
    // Without a value of its own it has nothing to follow.
    let bare = text.replace("w = 0", "w");
    let refused = load(&bare).simulation(&data, &CancellationToken::new()).err().map(message).unwrap();
    assert_eq!(refused, "there is no column `w`: did you mean `W`?");
    respond(&load_with(&bare, &[("w", "2")]), &data);
}

/// A digital column rests exactly at its thresholds: every comparison there is what it is at that value.
#[test]
fn digital_columns_are_compared_where_they_rest() {
    const GATE: &str = "model gate { input g; Se s = if(g > 0, 12, 0); R r = 4; 1 j; I L = 2; s -> j; j -> r, L
        output i = L.f; output on = if(g > 0, 1, 0); output eq1 = if(g == 1, 1, 0); output ge1 = if(g >= 1, 1, 0)
        output ne0 = if(g != 0, 1, 0); output below = if(g < 0.5, 1, 0); output side = sign(g) }";
    let times = vec![0.5, 1.5, 2.5, 3.5, 4.5];
    for (data, hold, width) in [
        ("t,g\n0,0\n1,1\n2,0\n3,1\n4,0\n5,0", Hold::Zero, 0.0),
        ("t,g\n0,0\n1,0\n1.001,1\n2,1\n2.001,0\n3,0\n3.001,1\n4,1\n4.001,0\n5,0", Hold::Linear, 1e-3),
    ] {
        for solver in ["auto", "tsit5", "dop853", "stiff"] {
            let asked =
                SimulateOptions { times: times.clone(), solver: solver.to_owned(), ..measured(data, hold) };
            let (_, found) = respond(&load(GATE), &asked);
            // The gate is open from each rise on until the fall has ended.
            let (mut i, mut right) = (0.0f64, Vec::new());
            for (k, t) in times.iter().enumerate() {
                let open = k % 2 == 1;
                let until = |i: f64, goal: f64, s: f64| goal + (i - goal) * (-2.0 * s).exp();
                let since = t.floor() + if open || k == 0 { 0.0 } else { width };
                if !open && k > 0 {
                    i = until(i, 3.0, since - (t - 1.0));
                } else if k > 0 {
                    i = until(i, 0.0, since - (t - 1.0));
                }
                i = until(i, if open { 3.0 } else { 0.0 }, t - since);
                right.push(i);
            }
            assert_near(&found.outputs[0], &right, 1e-7, solver);
            let high: Vec<f64> = (0..times.len()).map(|k| f64::from(k % 2 == 1)).collect();
            for output in [1, 2, 3, 4, 6] {
                assert_eq!(found.outputs[output], high, "{solver} {output}");
            }
            let low: Vec<f64> = high.iter().map(|x| 1.0 - x).collect();
            assert_eq!(found.outputs[5], low, "{solver}");
        }
    }
}

/// What is zero until a time and leaves it then is on its side at once, also where it leaves flat.
#[test]
fn functions_of_time_leave_their_zeros() {
    for (signal, area) in [("2*max(t-1, 0)", 4.0), ("-3*max(t-1, 0)^2", 0.0), ("max(t-1, 0)^3", 4.0)] {
        let text = format!(
            "model b {{ input I = {signal}; C c = 1; 0 j; c -> j; Sf k = if(I < 0, 1, if(I > 0, I, 0)); j -> k
                output q = c.q }}"
        );
        let right = if area == 0.0 { -2.0 } else { -area };
        for solver in ["auto", "tsit5", "dop853", "stiff"] {
            let asked =
                SimulateOptions { times: vec![0.0, 1.0, 3.0], solver: solver.to_owned(), ..accurate(3.0) };
            let (_, found) = respond(&load(&text), &asked);
            assert!(found.outputs[0][1].abs() < 1e-9, "{signal} {solver}: {:?}", found.outputs[0]);
            assert!((found.outputs[0][2] - right).abs() < 1e-7, "{signal} {solver}: {:?}", found.outputs[0]);
        }
    }
}

/// Samples of runs at coarse tolerances are given, although roots are regularised as widely.
#[test]
fn coarse_roots_are_given() {
    let text = "model hm { 0 n1; 0 n2; 1 p; C t1 = 1; C t2 = 2; R chk { f = sqrt(max(e, 0)) }
        R out { f = 0.3*sqrt(abs(e)) }; n1 -> t1, p; p -> n2, chk; n2 -> t2, out; init t1.q = 1; output qc = chk.f }";
    for rtol in [1e-2, 1e-3, 1e-5] {
        let times = (0..41).map(|k| 0.2 * f64::from(k)).collect();
        let answer = load(text)
            .simulation(&SimulateOptions { times, rtol, ..accurate(8.0) }, &CancellationToken::new())
            .unwrap();
        let (_, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
        assert_eq!(outcome.failure, None);
        assert!(answer.check_run(&outcome).is_ok(), "{rtol}");
    }
}
