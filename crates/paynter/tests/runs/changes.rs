//! Changes of parameters and initial states: those within a compiled model are
//! those of its text. `cargo xtask random SEED [COUNT]` takes other random models.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::simulation::{accurate, assert_near, respond};
use common::{sound as load, sound_with as load_with};
use paynter::simulate::{
    Change, Cost, CostKind, Direction, Gradients, Perturbed, Response, Sensitivities, SimulateOptions, Vary,
};
use paynter::{CancellationToken, DerivedForm, IncrementalOptions};
use paynter_base::random::Random;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options as RandomOptions, generate, switching};

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
                let wanted =
                    IncrementalOptions { form, only: vec![name.clone()], pair, split: false, numeric: false };
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
fn random_models_with_events_change_and_differentiate() {
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

/// A junction with two or three storages that share its flow (or effort), of which all but one depend on others, and
/// initial values that depend on parameters.
fn dependent_group(random: &mut Random) -> String {
    let mut pick = |count: u64| (random.bits() % count) as usize;
    let inertias = pick(2) == 0;
    // The state, what the law relates it to, and the kinds of junction, storage, resistor and source.
    let (x, y) = if inertias { ("p", "f") } else { ("q", "e") };
    let (junction, kind, source) = if inertias { ("1", "I", "Se") } else { ("0", "C", "Sf") };
    let mut text = format!(
        "model m {{ param R = 1.3; param u0 = 0.8; input u = u0*(1 + t); {source} s = u; {junction} j\n"
    );
    let loss = ["e = R*f", "e = R*f + f^3", "e = R*sinh(f)"][pick(3)];
    text += &format!("R r {{ {loss} }}; s -> j -> r\n");
    let count = 2 + pick(2);
    let given = pick(count as u64 + 1);
    for place in 0..count {
        let value = 0.5 + 0.25 * pick(8) as f64;
        text += &format!("param a{place} = {value}; param b{place} = {}\n", 0.1 + 0.1 * pick(5) as f64);
        let law = match pick(5) {
            0 | 1 => format!("{x} = a{place}*{y}"),
            2 => format!("{y} = ({x} - b{place})/a{place}"),
            3 => format!("{x} = a{place}*tanh({y}) + 0.5*{y}"),
            _ => format!("{y} = {x}/a{place} + b{place}*{x}^3"),
        };
        text += &format!("{kind} x{place} {{ {law} }}; j -> x{place}\n");
        if place == given {
            text += &format!("init x{place}.{x} = {}\n", ["b0", "a0*b1", "0.7 + b0*a1", "0.4"][pick(4)]);
        }
    }
    let shown: Vec<String> =
        (0..count).map(|k| format!("output y{k} = x{k}.{y}; output x{k}s = x{k}.{x}")).collect();
    text + &shown.join("; ") + "; output v = r.e }"
}

/// What the pair of graphs says about the change of every output by every parameter is what the compiled model's
/// sensitivities are, from the start on.
#[test]
fn pairs_of_dependent_storages_change_as_sensitivities_say() {
    let (mut compared, mut implicit) = (0, 0);
    for seed in seeds(24) {
        let text = dependent_group(&mut Random::new(seed));
        let options = SimulateOptions { sensitivities: Sensitivities::All, points: 4, ..accurate(0.5) };
        let model = common::load(&text);
        let Ok(simulation) = model.simulation(&options, &CancellationToken::new()) else { continue };
        let (found, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        if outcome.failure.is_some() {
            continue;
        }
        let wanted = IncrementalOptions { pair: true, ..IncrementalOptions::default() };
        let pair = model.incremental(&wanted, &CancellationToken::new());
        let pair = pair.unwrap_or_else(|r| panic!("seed {seed}: {r:?}\n{text}"));
        compared += 1;
        implicit += usize::from(text.contains("tanh"));
        let plain = SimulateOptions { points: 4, ..accurate(0.5) };
        for (lane, name) in simulation.wanted.iter().enumerate() {
            let (_, both) = respond(&load_with(&pair.text, &[(&format!("Delta_{name}"), "1")]), &plain);
            for (output, changes) in found.sensitivities.iter().enumerate() {
                let told = &both.outputs[found.outputs.len() + output];
                for (a, b) in told.iter().zip(&changes[lane]) {
                    let near = (a - b).abs() < 1e-6 * (1.0 + b.abs());
                    let column = &simulation.outputs[output].name;
                    assert!(
                        near,
                        "seed {seed}: d({column})/d({name}) is {b}, the pair says {a}\n{text}\n{}",
                        pair.text
                    );
                }
            }
        }
    }
    demand("pairs", compared, 20, 24);
    demand("pairs with implicit laws", implicit, 8, 24);
}
