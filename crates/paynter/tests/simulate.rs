//! Questions to a simulation: directions, finite changes, gradients, sweeps,
//! measured inputs, and runs that cannot go on. `cargo xtask random SEED [COUNT]`
//! takes other random models.
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use common::{example, sound as load, sound_with as load_with};
use paynter::simulate::{
    Change, Cost, CostKind, Data, Direction, Gradients, Hold, Perturbed, Response, Sensitivities,
    SimulateOptions, Simulation, Vary, respond_all,
};
use paynter::{
    Answer, CancellationToken, DerivedForm, IncrementalOptions, LoadOptions, MemoryWorld, Model, QueryError,
};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options as RandomOptions, generate, switching};
use std::sync::Arc;

const RC: &str = "model rc { input u = 1 [mV]; param R = 2; param C = 0.5; param q0 = 0.1\n\
    Se s = u; 1 j; R r = R; C c = C\n s -> j; j -> r, c; init c.q = q0; output v = c.e }";

fn accurate(t_end: f64) -> SimulateOptions {
    SimulateOptions { t_end: Some(t_end), points: 21, rtol: 1e-10, ..SimulateOptions::default() }
}

fn respond(model: &Model, options: &SimulateOptions) -> (Answer<Arc<Simulation>>, Response) {
    let simulation =
        model.simulation(options, &CancellationToken::new()).unwrap_or_else(|reason| panic!("{reason:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    (simulation, response)
}

fn message(reason: QueryError) -> String {
    let QueryError::Wrong(diagnostics) = reason else { panic!("cancelled") };
    let last = diagnostics.iter().next_back().unwrap();
    assert!(!last.help.to_string().is_empty());
    format!("{}: {}", last.message, last.help)
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1e-300_f64, |size, value| size.max(value.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}, sample {i}: {a}, not {b}");
    }
}

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
        ("half_wave_rectifier", vec![("C", 1e-4), ("Rl", 10.0)], 0.05),
    ] {
        let weights: Vec<(String, f64)> = weights.into_iter().map(|(n, w)| (n.to_owned(), w)).collect();
        let names = weights.iter().map(|(name, _)| name.clone()).collect();
        let direction = Direction { name: "lambda".to_owned(), weights: weights.clone() };
        let options = SimulateOptions { directions: vec![direction], ..accurate(t_end) };
        let (along, response) = respond(&load(example(name)), &options);
        assert_eq!(along.wanted, ["lambda"], "{name}: one lane");
        let options = SimulateOptions { sensitivities: Sensitivities::Names(names), ..accurate(t_end) };
        let (_, single) = respond(&load(example(name)), &options);
        for (output, lists) in single.sensitivities.iter().enumerate() {
            let sum: Vec<f64> = (0..single.t.len())
                .map(|i| lists.iter().zip(&weights).map(|(list, (_, weight))| weight * list[i]).sum())
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

fn sweep(simulation: &Simulation, sweeps: &[Vary]) -> Vec<(String, Response)> {
    let runs = simulation.grid(sweeps).unwrap();
    let mut found = Vec::new();
    respond_all(&runs, &CancellationToken::new(), &mut |run, response, outcome| {
        assert!(outcome.failure.is_none());
        found.push((run.name.clone(), response));
    });
    found
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

/// A run that cannot go on keeps what it has and says when, where and why.
#[test]
fn runs_that_cannot_go_on() {
    for (text, t_end, reached, words) in [
        (
            "model tank { C tank { e = q; init q = 1 }; R valve { f = sqrt(e) }; Sf drain = -0.5; 0 j\n\
             j -> tank, valve; drain -> j; output level = tank.q }",
            2.0,
            true,
            "sqrt(tank.q)",
        ),
        ("model m { C c { e = 1/q; init q = 0 }; R r = 1; c -> r; output v = c.e }", 1.0, false, "c.q"),
        (
            "model m { input u = 1/t; Se s = u; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; output v = c.e }",
            1.0,
            false,
            "mend the input `u`",
        ),
        (
            "model m { param k = -1; Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; init c.q = sqrt(k) }",
            1.0,
            false,
            "initial value of `c.q`",
        ),
        (
            "model m { I m = 1; R r { e = -f*abs(f) }; 1 j; j -> m, r; init m.p = 1; output v = m.f }",
            2.0,
            true,
            "`m.p`",
        ),
        (
            "model m { C c { q = 0.8*tanh(e) }; R r { e = f*abs(f) }; R r2 { e = f + f^3 }; 1 j\n\
             c -> j; j -> r, r2; init c.q = 12; output v = c.e }",
            1.0,
            false,
            "atanh(5*c.q/4)",
        ),
        (
            "model m { Sf s = pulse(0.2, 0.5); R r = 1; I i = 1; C c1 = 1; C c2 { e = exp(q) - 1 }; C c3 = 1; R r3 { f = e + e^3 }\n\
             0 j1; 1 j2; 0 j4; MTF tf = c1.q; GY gy = 2; s -> j1; j1 -> r, j2; j2 -> i, c1, j4; j4 -> c3, r3\n\
             j4 -> tf -> gy; c2 -> gy.2; output v = i.f }",
            1.0,
            true,
            "`c1.q` is zero",
        ),
    ] {
        let model = load(text);
        let simulation =
            model.simulation(&accurate(t_end), &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        assert!(outcome.failure.is_some() && response.t.len() < 21, "{text}");
        assert_eq!(!response.t.is_empty(), reached, "{text}: what came before is kept");
        let said = simulation.explain(&simulation.parameters, &outcome);
        let diagnostic = said.iter().next().unwrap();
        assert!(diagnostic.span.is_some(), "{text}");
        let told = format!("{} {}", diagnostic.message, diagnostic.help);
        assert!(told.contains(words), "{text}: {told}");
        let document = paynter::json::Simulation::new(&simulation, &response, &outcome, &said, Vec::new());
        assert!(!document.run.complete && document.run.stopped.unwrap().code.starts_with("BG08"));
    }
    // What contradicts itself for one value does not for another.
    let text = "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r\n\
        init a.q = k; init b.q = 2; output v = a.e }";
    let model = load(text);
    let options = SimulateOptions { varied: vec!["k".to_owned()], ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let runs = simulation.grid(&[Vary { name: "k".to_owned(), values: vec![1.0, 3.0] }]).unwrap();
    let mut said = Vec::new();
    respond_all(&runs, &CancellationToken::new(), &mut |run, response, outcome| {
        let words = simulation.explain(&run.parameters, &outcome);
        said.push((response.t.len(), words.iter().map(|d| d.code.id()).collect::<Vec<_>>()));
    });
    assert_eq!(said, [(21, vec![]), (0, vec!["BG0411"])]);
    let model = load("model m { Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; init c.q = 2 }");
    let options = SimulateOptions {
        sensitivities: Sensitivities::Names(vec!["init(c.q)".to_owned()]),
        ..accurate(1.0)
    };
    let (simulation, response) = respond(&model, &options);
    assert_eq!(simulation.outputs[0].name, "c.q", "a model without outputs shows its states");
    assert_near(&response.sensitivities[0][0][20..], &[(-1.0_f64).exp()], 1e-8, "and their sensitivities");
    let model = common::load(
        "model m { C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r; init a.q = 1; init b.q = 1; output v = a.e }",
    );
    let refused = model.simulation(&accurate(1.0), &CancellationToken::new()).err().map(message).unwrap();
    assert!(refused.contains("contradicts"), "infeasible initial states: {refused}");
    let model = load("model m { Se s = 1; R r = 1; s -> r; output y = 1/t; output z = r.f }");
    let (simulation, response) = respond(&model, &accurate(1.0));
    assert_eq!(response.outputs[1], vec![1.0; 21], "a model without states has outputs over time");
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert_eq!(said.iter().map(|d| d.code.id()).collect::<Vec<_>>(), ["BG0805"], "{said:?}");
    let text = "model m { param k = 0; Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; output y = c.e + sqrt(k) }";
    let model = load(text);
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.message.contains("the derivative of `y` by `k`")), "{said:?}");
}

/// Switches that turn each other without end are all shown.
#[test]
fn laws_that_switch_without_end_have_places() {
    let text = "model ring { Se a = if(y.f > 0, 1, -1); R x = 1; a -> x\n\
                Se b = if(x.f > 0, -1, 1); R y = 1; b -> y; output f = x.f }";
    let model = load(text);
    let simulation =
        model.simulation(&accurate(1.0), &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    let told = said.iter().find(|d| d.code.id() == "BG0802").unwrap();
    let spans = told.span.iter().chain(told.labels.iter().map(|label| &label.span));
    let places: Vec<usize> = spans.map(|span| span.start as usize).collect();
    assert_eq!(places.len(), 2);
    assert!(places.iter().all(|start| ["a", "b"].contains(&&text[*start..*start + 1])), "{places:?}");
}

/// A flow that is the root of a parameter of zero has no derivative, and that is said.
#[test]
fn infinite_slopes_are_told() {
    let text =
        "model m { param k = 0; Sf s = sqrt(k); R r = 1; C c = 1; 0 j; s -> j; j -> r, c; output y = c.e }";
    let model = load(text);
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.code.id() == "BG0805" && d.help.to_string().contains("root")), "{said:?}");
}

/// A tank whose outlet is a root: V' = u − k √V from v0.
fn tank(u: &str, v0: f64) -> String {
    format!(
        "model m {{ param k = 0.5; param u0 = 1; param v0 = {v0}; input u = {u}; Sf s = u; 0 n
            C t {{ e = q; init q = v0 }}; R o {{ f = k*sqrt(e) }}; s -> n; n -> t, o; output V = t.q }}"
    )
}

/// The derivatives of the volume by k, u0 and v0 at t = 2, and what is said.
fn tank_slopes(u: &str, options: &SimulateOptions) -> (f64, Vec<f64>, Vec<String>) {
    let model = load(&tank(u, 0.0));
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..options.clone() };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let said = simulation.explain(&simulation.parameters, &outcome);
    let slopes = response.sensitivities[0].iter().map(|by| *by.last().unwrap()).collect();
    (*response.outputs[0].last().unwrap(), slopes, said.iter().map(|d| d.message.clone()).collect())
}

#[test]
fn sensitivities_of_a_tank_that_begins_empty_are_right_or_missing() {
    for solver in ["auto", "stiff"] {
        let options = SimulateOptions { solver: solver.to_owned(), ..accurate(2.0) };
        // The tank fills at once. With w = √V, t = −2 (w + u/k ln(1 − k w/u))/k; what is autonomous has
        // ∂V/∂v0 = V'(t)/V'(0), and units give ∂V/∂u0 and ∂V/∂k: V = (u/k)² g(k² t/u).
        let (volume, slopes, said) = tank_slopes("u0", &options);
        let w = volume.sqrt();
        assert!((-4.0 * (w + 2.0 * (1.0 - w / 2.0).ln()) - 2.0).abs() < 1e-8, "{volume}");
        let rate = 1.0 - w / 2.0;
        let wanted = [(2.0 * 2.0 * rate - 2.0 * volume) / 0.5, 2.0 * volume - 2.0 * rate, rate];
        assert_near(&slopes, &wanted, 1e-6, "a tank that fills");
        assert!(said.is_empty(), "{said:?}");
        // It fills from rest: V = w² t² with 2 w² + k w = u0. How it begins is forgotten at once.
        let (volume, slopes, said) = tank_slopes("u0*t", &options);
        let root = 8.25_f64.sqrt();
        let w = (root - 0.5) / 4.0;
        assert_near(&[volume], &[4.0 * w * w], 1e-8, "a tank that fills from rest");
        let wanted = [8.0 * w * (0.5 / root - 1.0) / 4.0, 8.0 * w / root];
        assert_near(&slopes[..2], &wanted, 1e-6, "a tank that fills from rest");
        assert!(slopes[2].is_nan() && said.len() == 1 && said[0].contains("`v0`"), "{slopes:?}, {said:?}");
        // It stays empty for a while: the same as before, later.
        let (_, slopes, said) = tank_slopes("if(t > 1, u0, 0)", &options);
        let (_, earlier, _) = tank_slopes("u0", &SimulateOptions { t_end: Some(1.0), ..options.clone() });
        assert_near(&slopes[..2], &earlier[..2], 1e-7, "a tank that is filled later");
        assert!(slopes[2].is_nan() && said.len() == 1, "{slopes:?}, {said:?}");
        // It stays empty: a flow moves it along a slope without a value, the outlet does not move it.
        let (_, slopes, said) = tank_slopes("u0 - 1", &options);
        assert!(slopes[0] == 0.0 && slopes[1].is_nan() && slopes[2].is_nan(), "{slopes:?}");
        assert!(said.len() == 2 && said[0].contains("`t.q`"), "{said:?}");
    }
    // Steps that no error chooses do not find their way past the singularity.
    let fixed = SimulateOptions { solver: "rk4".to_owned(), step: Some(0.01), ..accurate(2.0) };
    let (_, slopes, _) = tank_slopes("u0", &fixed);
    assert!(slopes[2].is_nan(), "{slopes:?}");
    assert_near(&slopes[..2], &[-1.27120385735, 1.53316598164], 1e-4, "fixed steps");
}

#[test]
fn gradients_along_infinite_slopes_are_missing_and_told() {
    let costs = [Cost { kind: CostKind::Integral, output: "V".to_owned() }];
    let gradient = |u: &str| {
        let model = load(&tank(u, 0.0));
        let answer = model.gradients(&accurate(2.0), &costs, &CancellationToken::new()).unwrap();
        let Gradients { simulation, gradients, outcome } = &answer.result;
        let said = answer.explain(&simulation.parameters, outcome);
        (gradients[0].by.clone(), said.len())
    };
    let (later, said) = gradient("if(t > 1, u0, 0)");
    assert!(later[0] < 0.0 && later[1] > 0.0 && later[2].is_nan() && said == 1, "{later:?}");
    let (empty, said) = gradient("u0 - 1");
    assert!(empty[0] == 0.0 && empty[1].is_nan() && empty[2].is_nan() && said == 2, "{empty:?}");
}

/// The outputs of a model with one parameter set, as far as it can be simulated.
fn outputs(text: &str, name: &str, value: f64, options: &SimulateOptions) -> Option<Response> {
    let model = common::load_with(text, &[(name, &format!("{value:e}"))]);
    let simulation = model.simulation(options, &CancellationToken::new()).ok()?;
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    (outcome.failure.is_none() && outcome.notes.is_empty()).then_some(response)
}

/// A dependent storage's own initial state decides that of the independent one, for the changes too.
#[test]
fn changes_begin_where_dependent_storages_say() {
    let text = "model m {
        param C1 = 1; param C2 = 2; param R = 1; param u0 = 1.5
        input u = u0
        Se s = u; 1 l; C a = C1; C b = C2; 0 n; R r = R
        s -> l; l -> a, n; n -> b, r
        init b.q = 0.7
        output ea = a.e; output eb = b.e
    }";
    for (name, wanted) in [("u0", [1.0, 0.0]), ("C1", [0.0, 0.0]), ("C2", [0.175, -0.175])] {
        let pair = IncrementalOptions { only: vec![name.to_owned()], pair: true, ..Default::default() };
        let pair =
            load(text).incremental(&pair, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let delta = format!("Delta_{name}");
        let (_, response) = respond(&load_with(&pair.text, &[(&delta, "1")]), &accurate(0.1));
        let start: Vec<f64> = response.outputs[2..].iter().map(|output| output[0]).collect();
        assert_near(&start, &wanted, 1e-9, name);
    }
}

/// Fields with a port in derivative causality, groups apart from one another, laws with an offset: what the
/// pair and the sensitivity graph say at the start is the change of the model itself.
#[test]
fn changes_of_dependent_fields_begin_rightly() {
    for text in [
        // An input decides a port's effort, and moves at once.
        "model m { param a = 2; param b = 0.5; param d = 3; param R = 1; param w = 2; param q0 = 0.4
            input u = 1 + sin(w*t)
            Se s = u; 0 l; 0 n; C c[2] = [[a, b], [b, d]]; R r = R; R x = 1
            s -> l; l -> c.1, x; n -> c.2, r; init c.q2 = q0
            output y = c.e2; output z = c.q1; output v = s.f }",
        // Both ports on one junction, the other storage dependent too.
        "model m { param a = 2; param b = 0.5; param d = 3; param C = 1.5; param q0 = 0.4
            0 n; C c[2] = [[a, b], [b, d]]; C o = C; R r = 1
            n -> c.1, c.2, o, r; init c.q1 = q0
            output y = r.e; output z = c.q2; output v = o.q }",
        // A nonlinear field beside an inertia field that shares a flow.
        "model m { param k = 2; param g = 0.3; param m1 = 1; param m2 = 0.2; param m3 = 2; param p0 = 0.6; param x0 = 0.2
            1 v; C c[2] { e1 = k*(q1 - x0) + g*q1*q2^2; e2 = q2 + g*q1^2*q2 }; I i[2] = [[m1, m2], [m2, m3]]; R r = 1
            Se s = 1 + t; v -> c.1, i.1, i.2, r; s -> c.2; init i.p1 = p0; init c.q1 = 2*x0
            output y = i.f1; output z = c.e1; output v = i.p2; output w = c.q2 }",
        // One group whose dependent storage says where it begins, one whose independent does, one neither.
        "model m { param A = 1; param B = 2; param D = 3; param x0 = 0.3; param q0 = 0.7; param k = 2
            Se s = 1; 1 l; C a = A; C b = B; 0 n; R r = 1; s -> l; l -> a, n; n -> b, r; init b.q = q0
            0 j; C f { e = k*(q - x0) }; C g = D; R t1 = 1; j -> f, g, t1; init f.q = q0*x0
            0 h; C o = A; C z { e = k*(q - x0) }; R t2 = 1; h -> o, z, t2
            output ya = a.e; output yf = f.e; output qg = g.q; output yo = o.e; output qz = z.q }",
    ] {
        let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(0.2) };
        let (simulation, found) = respond(&load(text), &options);
        for (form, pair, prefix) in
            [(DerivedForm::Incremental, true, "Delta_"), (DerivedForm::Pseudo, false, "lambda_")]
        {
            let wanted = IncrementalOptions { form, pair, ..IncrementalOptions::default() };
            let derived =
                load(text).incremental(&wanted, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
            for (lane, name) in simulation.wanted.iter().enumerate() {
                let size = |other: &String| if other == name { "1" } else { "0" };
                let set: Vec<(String, &str)> =
                    simulation.wanted.iter().map(|other| (format!("{prefix}{other}"), size(other))).collect();
                let set: Vec<(&str, &str)> = set.iter().map(|(name, size)| (name.as_str(), *size)).collect();
                let (_, both) = respond(&load_with(&derived.text, &set), &accurate(0.2));
                for (output, changes) in found.sensitivities.iter().enumerate() {
                    let told = &both.outputs[found.outputs.len() + output];
                    for (a, b) in told.iter().zip(&changes[lane]) {
                        let near = (a - b).abs() < 1e-6 * (1.0 + b.abs());
                        assert!(near, "{prefix}{name}, output {output}: {a}, not {b}\n{}", derived.text);
                    }
                }
            }
        }
    }
}

/// On random models a change within the compiled model is the change of the model's text, by
/// `--perturb` and by `--sweep`, and its Δy is that of the incremental bond graph.
#[test]
fn random_models_change_as_their_texts_do() {
    let options = accurate(0.3);
    let (mut compared, mut paired) = (0, 0);
    for seed in seeds(8) {
        let kind = if seed % 2 == 0 { RandomOptions::nonlinear() } else { RandomOptions::linear() };
        let sample = generate(seed, &kind.small());
        let text = &sample.text;
        let model = || common::load(text);
        let list = model().graph().map_or_else(Default::default, |graph| graph.parameters);
        for parameter in list.iter().take(2) {
            let (name, value) = (&parameter.name, parameter.number);
            let by = if value == 0.0 { 0.05 } else { 0.05 * value };
            let change = [Change { name: name.clone(), by, relative: false }];
            let Ok(answer) = model().perturbed(&options, &change, &CancellationToken::new()) else {
                continue;
            };
            let Perturbed { simulation, changes: changed } = answer.result;
            let (found, outcomes) = simulation.perturb(changed, &CancellationToken::new());
            let whole = outcomes.iter().all(|outcome| outcome.failure.is_none() && outcome.notes.is_empty());
            let Some(exact) = outputs(text, name, value + by, &options).filter(|_| whole) else { continue };
            let varied = SimulateOptions { varied: vec![name.clone()], ..options.clone() };
            let sweep =
                model().simulation(&varied, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
            let runs = sweep.grid(&[Vary { name: name.clone(), values: vec![value + by] }]).unwrap();
            let (swept, _) = sweep.respond(&runs[0].parameters, &CancellationToken::new());
            for output in 0..exact.outputs.len() {
                let what = format!("seed {seed}, {name}, output {output}\n{text}");
                assert_near(&found.exact.outputs[output], &exact.outputs[output], 1e-5, &what);
                assert_near(&swept.outputs[output], &exact.outputs[output], 1e-5, &what);
                compared += 1;
            }
            for (form, prefix) in [(DerivedForm::Incremental, "Delta_"), (DerivedForm::Pseudo, "lambda_")] {
                let pair = form == DerivedForm::Incremental;
                let wanted = IncrementalOptions { form, only: vec![name.clone()], pair, split: false };
                let Ok(pair) = model().incremental(&wanted, &CancellationToken::new()) else { continue };
                let Some(both) = outputs(&pair.text, &format!("{prefix}{name}"), by, &options) else {
                    continue;
                };
                for (output, change) in found.nominal.sensitivities.iter().enumerate() {
                    let delta = &both.outputs[found.nominal.outputs.len() + output];
                    let size =
                        found.nominal.outputs[output].iter().fold(1e-3_f64, |size, y| size.max(y.abs()));
                    for (a, b) in change[0].iter().zip(delta) {
                        let near = (a - b).abs() <= 1e-5 * (b.abs() + 0.05 * size);
                        assert!(near, "seed {seed}, {prefix}{name}: {a}, not {b}\n{text}\n{}", pair.text);
                    }
                    paired += 1;
                }
            }
        }
    }
    demand("outputs compared", compared, 11, 8);
    demand("pairs compared", paired, 17, 8);
}

/// On random models with what switches, the exact rerun of a finite change is the run of a changed text, and
/// the gradient of an output's last value is its forward sensitivity.
#[test]
fn random_models_with_events_change_and_slope() {
    let times = vec![0.1371, 0.3127, 0.5533, 0.7717];
    let options = SimulateOptions { t_end: None, times, max_steps: 20_000, ..accurate(1.0) };
    let (mut compared, mut sloped, mut eventful, mut wrong) = (0, 0, 0, Vec::new());
    for seed in seeds(12) {
        let text = switching(&generate(seed, &RandomOptions::nonlinear().small())).text;
        let model = || common::load(&text);
        let list = model().graph().map_or_else(Default::default, |graph| graph.parameters);
        let own = list.iter().filter(|p| !p.name.starts_with('z')).take(1);
        let chosen: Vec<_> = own.chain(list.iter().filter(|p| p.name.starts_with('z'))).collect();
        for parameter in &chosen {
            let (name, value) = (&parameter.name, parameter.number);
            let by = if value == 0.0 { 0.05 } else { 0.05 * value };
            let change = [Change { name: name.clone(), by, relative: false }];
            let Ok(answer) = model().perturbed(&options, &change, &CancellationToken::new()) else {
                continue;
            };
            let Perturbed { simulation, changes: changed } = answer.result;
            let (found, outcomes) = simulation.perturb(changed, &CancellationToken::new());
            let whole = outcomes.iter().all(|outcome| outcome.failure.is_none() && outcome.notes.is_empty());
            let Some(exact) =
                Some(()).filter(|()| whole).and_then(|()| outputs(&text, name, value + by, &options))
            else {
                continue;
            };
            eventful += usize::from(outcomes.iter().any(|outcome| outcome.stats.events > 0));
            for (output, (found, exact)) in found.exact.outputs.iter().zip(&exact.outputs).enumerate() {
                let size = exact.iter().fold(1e-2_f64, |size, value| size.max(value.abs()));
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * size;
                if !found.iter().zip(exact).all(near) {
                    wrong.push(format!("seed {seed}, {name}, output {output}: {found:?}, not {exact:?}"));
                }
                compared += 1;
            }
        }
        let names: Vec<String> = chosen.iter().map(|p| p.name.clone()).collect();
        let wanted = SimulateOptions { sensitivities: Sensitivities::Names(names), ..options.clone() };
        let Ok(simulation) = model().simulation(&wanted, &CancellationToken::new()) else { continue };
        let (forward, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        if outcome.failure.is_some() || !outcome.notes.is_empty() {
            continue;
        }
        let cost = |output: &str| Cost { kind: CostKind::Final, output: output.to_owned() };
        let costs: Vec<Cost> = simulation.outputs.iter().map(|output| cost(&output.name)).collect();
        let answer = model().gradients(&wanted, &costs, &CancellationToken::new());
        let Gradients { gradients: found, outcome, .. } = answer.unwrap_or_else(|r| panic!("{r:?}")).result;
        if outcome.failure.is_some() {
            wrong.push(format!("seed {seed}: no gradient: {:?}", outcome.failure));
            continue;
        }
        for (cost, lists) in found.iter().zip(&forward.sensitivities) {
            for ((by, list), parameter) in cost.by.iter().zip(lists).zip(&simulation.wanted) {
                let slope = *list.last().unwrap();
                let size = list.iter().fold(1e-3_f64, |size, value| size.max(value.abs()));
                let near = (by - slope).abs() <= 1e-5 * size;
                if !near {
                    wrong.push(format!("seed {seed}: {} by {parameter}: {by}, not {slope}", cost.cost));
                }
                sloped += 1;
            }
        }
    }
    println!("{compared} outputs changed, {eventful} runs with events, {sloped} slopes");
    assert!(wrong.is_empty(), "{wrong:#?}");
    demand("outputs compared", compared, 80, 12);
    demand("runs with events", eventful, 16, 12);
    demand("slopes compared", sloped, 80, 12);
}

/// On random models with what switches, the sensitivities to initial states are differences of runs that begin
/// elsewhere, and a direction is the weighted sum of all.
#[test]
fn random_models_differ_by_where_they_begin() {
    let times = vec![0.1371, 0.3127, 0.5533, 0.7717];
    let options = SimulateOptions { t_end: None, times, max_steps: 20_000, ..accurate(1.0) };
    let (mut models, mut judged, mut eventful) = (0, 0, 0);
    for seed in seeds(12) {
        let sample = switching(&generate(seed, &RandomOptions::nonlinear().small()));
        let model = || common::load(&sample.text);
        let names = Sensitivities::Names(vec!["init".to_owned()]);
        let wanted = SimulateOptions { sensitivities: names, ..options.clone() };
        let Ok(simulation) = model().simulation(&wanted, &CancellationToken::new()) else { continue };
        let (found, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        if outcome.failure.is_some() || !outcome.notes.is_empty() || simulation.wanted.is_empty() {
            continue;
        }
        models += 1;
        eventful += usize::from(outcome.stats.events > 0);
        let weights: Vec<(String, f64)> =
            simulation.wanted.iter().enumerate().map(|(i, name)| (name.clone(), 0.5 + i as f64)).collect();
        let direction = Direction { name: "along".to_owned(), weights: weights.clone() };
        let along = SimulateOptions { directions: vec![direction], ..options.clone() };
        let (_, along) = respond(&model(), &along);
        let varied = SimulateOptions { varied: simulation.wanted.clone(), rtol: 1e-11, ..options.clone() };
        let runs = model().simulation(&varied, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        for (lane, name) in simulation.wanted.iter().enumerate() {
            let begin = simulation.nominal[lane].unwrap();
            let step = 1e-4 * begin.abs().max(1e-2);
            let at = |shift: f64| {
                let value = |(other, nominal): (&String, &Option<f64>)| {
                    let by = if other == name { shift * step } else { 0.0 };
                    Vary { name: other.clone(), values: vec![nominal.unwrap() + by] }
                };
                let values: Vec<Vary> =
                    simulation.wanted.iter().zip(&simulation.nominal).map(value).collect();
                runs.respond(&runs.grid(&values).unwrap()[0].parameters, &CancellationToken::new()).0.outputs
            };
            let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(at);
            for (output, lists) in found.sensitivities.iter().enumerate() {
                for (i, s) in lists[lane].iter().enumerate() {
                    let Some(last) = a[output].get(i).and(d[output].get(i)) else { continue };
                    let small = (c[output][i] - b[output][i]) / (2.0 * step);
                    let large = (last - a[output][i]) / (4.0 * step);
                    let noise = 1e-8 * last.abs().max(1e-6) / step;
                    // Where the slopes of both sides disagree, an event or noise is near.
                    let sides = [(b[output][i] - a[output][i]) / step, (last - c[output][i]) / step];
                    let near = |slope: &f64| (slope - small).abs() <= 1e-3 * small.abs() + noise;
                    if !sides.iter().all(near) {
                        continue;
                    }
                    let slope = (4.0 * small - large) / 3.0;
                    let what = format!("seed {seed}: output {output} by {name}: {s}, not {slope}");
                    assert!(
                        (s - slope).abs() <= 1e-4 * slope.abs() + 10.0 * noise,
                        "{what}\n{}",
                        sample.text
                    );
                    judged += 1;
                }
            }
        }
        for (output, lists) in found.sensitivities.iter().enumerate() {
            for (i, s) in along.sensitivities[output][0].iter().enumerate() {
                let terms = lists.iter().zip(&weights).map(|(list, (_, weight))| weight * list[i]);
                let (sum, size) =
                    terms.fold((0.0, 1e-6), |(sum, size), term| (sum + term, size + term.abs()));
                assert!((s - sum).abs() <= 1e-5 * size, "seed {seed}: {s}, not {sum}\n{}", sample.text);
            }
        }
    }
    println!("{models} models, {eventful} with events, {judged} values");
    demand("models", models, 9, 12);
    demand("models with events", eventful, 6, 12);
    demand("values judged", judged, 150, 12);
}

/// Bodies colder than anything can be are told, with the time: entropy flow makes temperatures absolute, while
/// heat flow leaves open where they count from.
#[test]
fn no_body_is_below_absolute_zero() {
    for (unit, start, first) in [("J/K^2", 10.5, Some(6.0)), ("J/K", 10.5, None), ("J/K", -270.0, Some(2.0))]
    {
        let text = format!(
            "model m {{ param Cth = 2 [{unit}]; 0 n; Sf cold = -4; C body = Cth; cold -> n; n -> body
            init body.q = {start}*Cth }}"
        );
        let model = load(&text);
        let options = SimulateOptions { points: 11, ..SimulateOptions::default() };
        let simulation =
            model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        let said = simulation.explain(&simulation.parameters, &outcome);
        let told: Vec<&str> = said.iter().map(|d| d.message.as_str()).collect();
        let expected = |t: &f64| {
            let value = start - 2.0 * t;
            format!("at t = {t} the temperature of `body` is {value} K, below absolute zero")
        };
        assert_eq!(told, first.iter().map(expected).collect::<Vec<_>>(), "{unit} from {start}");
    }
}
