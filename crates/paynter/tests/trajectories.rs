//! Random models over time, judged by routes of their own: the acausal
//! equations of every port and junction, and the exported programs, integrated
//! by SciPy and by themselves. `PAYNTER_RANDOM=N` takes N models instead of a
//! few, `PAYNTER_RANDOM_FROM=K` starts at seed K.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter::simulate::{Note, Outcome, Response, SimulateOptions, Simulation};
use paynter::{LoadOptions, MemoryWorld, Model, Ticket};
use paynter_testkit::expr::Expr;
use paynter_testkit::residual::{Equation, System, Values};
use paynter_testkit::property::seeds;
use paynter_testkit::structure::Structure;
use paynter_testkit::{Options, Sample, generate, plain, switching, write};

/// The models of some seeds: as they are drawn, and with what switches.
fn samples(default: u64) -> impl Iterator<Item = Sample> {
    seeds(default).flat_map(|seed| {
        let sample = generate(seed, &Options::nonlinear().small());
        [switching(&sample), sample]
    })
}

fn load(text: &str) -> Option<Model> {
    let world = MemoryWorld::new().with("model.bg", text.as_bytes().to_vec());
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    (!model.diagnostics.has_errors()).then_some(model)
}

fn respond(model: &mut Model, times: Vec<f64>) -> Option<(Simulation, Response, Outcome)> {
    let options = SimulateOptions { times, rtol: 1e-10, ..SimulateOptions::default() };
    let mut simulation = model.simulation(&options, &Ticket::new()).ok()?;
    simulation.options.max_steps = 100_000;
    let (response, outcome) = simulation.respond(&simulation.parameters, &Ticket::new());
    Some((simulation, response, outcome))
}

/// A model all of whose variables are outputs: efforts, flows, signals, states and inputs.
fn exposed(structure: &Structure) -> Structure {
    let mut structure = plain(structure);
    let mut shown = Vec::new();
    for (index, bond) in structure.bonds.iter_mut().enumerate() {
        shown.push(bond.name.get_or_insert_with(|| format!("bd{index}")).clone());
    }
    let mut names: Vec<String> = shown.iter().map(|name| format!("{name}.e")).collect();
    names.extend(shown.iter().map(|name| format!("{name}.f")));
    names.extend(structure.signals.iter().map(|signal| signal.name.clone()));
    names.extend(structure.states().into_iter().map(|(name, _)| name));
    names.extend(structure.inputs.iter().map(|(name, _)| name.clone()));
    let output = |(index, name)| (format!("out{index}"), Expr::Name(name));
    structure.outputs = names.into_iter().enumerate().map(output).collect();
    structure
}

/// The variables of a sample, in the order of [`exposed`]. Integrators are signals and states at once.
fn values(structure: &Structure, params: &[f64], time: f64, outputs: &[f64]) -> Values<f64> {
    let mut rest = outputs;
    let mut take = |count: usize| {
        let (head, tail) = rest.split_at(count);
        rest = tail;
        head.to_vec()
    };
    Values {
        params: params.to_vec(),
        efforts: take(structure.bonds.len()),
        flows: take(structure.bonds.len()),
        signals: take(structure.signals.len()),
        states: take(structure.states().len()),
        inputs: take(structure.inputs.len()),
        time,
    }
}

/// Left minus right of every equation at one time.
fn residuals(system: &System<'_>, values: &Values<f64>) -> Option<Vec<f64>> {
    let value = |equation| match equation {
        Equation::Value(value) => Some(value),
        Equation::Mentions(_) => None,
    };
    system.equations(values)?.into_iter().map(value).collect()
}

/// The equations that do not hold at one time. One holds where a small change of a single variable
/// turns its sign: by rounding, or because it jumps there and the motion slides along the jump.
fn broken(system: &System<'_>, params: &[f64], time: f64, outputs: &[f64], sizes: &[f64]) -> Vec<usize> {
    let at = |outputs: &[f64], time: f64| residuals(system, &values(system.structure, params, time, outputs));
    let Some(here) = at(outputs, time) else { return Vec::new() };
    let largest = sizes.iter().fold(1.0_f64, |most, size| most.max(*size));
    let mut open: Vec<usize> = (0..here.len()).filter(|i| !(here[*i].abs() <= 1e-12 * largest)).collect();
    for place in 0..=outputs.len() {
        if open.is_empty() {
            break;
        }
        let moved = |sign: f64| {
            let mut outputs = outputs.to_vec();
            let (mut time, by) = (time, sign * 1e-7);
            match outputs.get_mut(place) {
                Some(value) => *value += by * (sizes[place] + 1e-2),
                None => time += by,
            }
            at(&outputs, time)
        };
        let (Some(low), Some(high)) = (moved(-1.0), moved(1.0)) else { continue };
        open.retain(|i| low[*i] * high[*i] > 0.0 || !(low[*i] * high[*i]).is_finite());
    }
    open
}

/// The nodes of the rule of Clenshaw and Curtis on [0, 1], and its weights on all nine nodes and on every other one.
fn quadrature() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let rule = |n: usize| -> (Vec<f64>, Vec<f64>) {
        let angle = |k: usize| std::f64::consts::PI * k as f64 / n as f64;
        let nodes = (0..=n).map(|k| 0.5 * (1.0 - angle(k).cos())).collect();
        let weights = (0..=n).map(|k| {
            let term = |j: usize| {
                let half = if 2 * j == n { 1.0 } else { 2.0 };
                half / (4.0 * (j * j) as f64 - 1.0) * (2.0 * j as f64 * angle(k)).cos()
            };
            let sum: f64 = (1..=n / 2).map(term).sum();
            (1.0 - sum) / n as f64 * if k == 0 || k == n { 0.5 } else { 1.0 }
        });
        (nodes, weights.collect())
    };
    let (nodes, fine) = rule(8);
    (nodes, fine, rule(4).1)
}

#[test]
fn every_port_obeys_its_equation_and_every_state_its_rate() {
    const PANELS: usize = 20;
    let (nodes, fine, coarse) = quadrature();
    assert!((fine.iter().sum::<f64>() - 1.0).abs() < 1e-14 && (coarse.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    let mut times = vec![0.0];
    for panel in 0..PANELS {
        times.extend(nodes.iter().skip(1).map(|node| (panel as f64 + node) / PANELS as f64));
    }
    let (mut models, mut equations, mut panels, mut dependent, mut events) = (0, 0, 0, 0, 0);
    let (mut odd, mut wrong) = (Vec::new(), Vec::new());
    for sample in samples(20) {
        let structure = exposed(&sample.structure);
        let text = write(&structure);
        let Some(mut model) = load(&text) else {
            odd.push(format!("seed {}: refused", sample.seed));
            continue;
        };
        let Some((simulation, response, outcome)) = respond(&mut model, times.clone()) else {
            odd.push(format!("seed {}: no equations", sample.seed));
            continue;
        };
        if let Some(failure) = outcome.failure {
            odd.push(format!("seed {}: {failure:?}", sample.seed));
        }
        let system = System::new(&structure);
        let params = system.params(&system.nominal::<f64>().unwrap()).unwrap();
        let rows: Vec<Vec<f64>> = (0..response.t.len())
            .map(|i| response.outputs.iter().map(|output| output[i]).collect())
            .collect();
        let sizes: Vec<f64> =
            response.outputs.iter().map(|list| list.iter().fold(0.0, |m: f64, v| m.max(v.abs()))).collect();
        if sizes.iter().any(|size| !size.is_finite()) {
            odd.push(format!("seed {}: infinite", sample.seed));
            continue;
        }
        models += 1;
        events += outcome.stats.events;
        let order = simulation.states.len();
        dependent += usize::from(order < structure.states().len());
        for (t, row) in response.t.iter().zip(&rows) {
            let broken = broken(&system, &params, *t, row, &sizes);
            if let Some(first) = broken.first() {
                let left = residuals(&system, &values(&structure, &params, *t, row)).unwrap()[*first];
                wrong.push(format!("seed {}, t = {t}: equation {first} by {left:e}\n{text}", sample.seed));
                break;
            }
            equations += 1;
        }
        // Impulses are no part of a quadrature.
        if outcome.notes.iter().any(|note| matches!(note, Note::Impulse { .. })) {
            odd.push(format!("seed {}: impulse", sample.seed));
            continue;
        }
        'states: for (place, (name, store)) in structure.states().iter().enumerate() {
            let rate = |i: usize| match system.rate(&values(&structure, &params, response.t[i], &rows[i]), store) {
                Equation::Value(value) => value,
                Equation::Mentions(_) => f64::NAN,
            };
            let state = |i: usize| values(&structure, &params, response.t[i], &rows[i]).states[place];
            for panel in 0..(response.t.len().max(1) - 1) / 8 {
                let width = 1.0 / PANELS as f64;
                let rates: Vec<f64> = (0..9).map(|k| rate(8 * panel + k)).collect();
                let sum: f64 = rates.iter().zip(&fine).map(|(rate, weight)| width * rate * weight).sum();
                let rough: f64 = rates.iter().step_by(2).zip(&coarse).map(|(rate, weight)| width * rate * weight).sum();
                let moved = state(8 * panel + 8) - state(8 * panel);
                let size = state(8 * panel).abs() + rates.iter().map(|rate| width * rate.abs()).sum::<f64>() + 1e-3;
                // Where an event lies between, the two rules differ, and the rate only bounds the change.
                let smooth = (sum - rough).abs() < 1e-6 * size;
                let (low, high) =
                    rates.iter().fold((f64::MAX, f64::MIN), |(low, high), rate| (low.min(*rate), high.max(*rate)));
                let unknown = if smooth { 20.0 * (sum - rough).abs() } else { width * (high - low) };
                if !((moved - sum).abs() <= unknown + 1e-8 * size) {
                    let at = response.t[8 * panel];
                    wrong.push(format!("seed {}, {name} from t = {at}: {moved}, not {sum}\n{text}", sample.seed));
                    break 'states;
                }
                panels += usize::from(smooth);
            }
        }
    }
    println!("{models} models, {dependent} with dependent storages, {events} events, {equations} times, {panels} panels; {odd:#?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(models >= 30 && dependent >= 3 && events >= 20 && panels >= 1000);
}
