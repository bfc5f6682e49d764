//! Random models over time, judged by routes of their own: the acausal
//! equations of every port and junction, and the exported programs, integrated
//! by SciPy and by themselves. `cargo xtask random SEED [COUNT]` takes other models.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{findings, folder, run};
use paynter::export;
use paynter::simulate::{Note, Outcome, Response, Sensitivities, SimulateOptions, Simulation};
use paynter::{Answer, CancellationToken, Model};
use paynter_testkit::expr::Expr;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::residual::{Equation, System, Values};
use paynter_testkit::structure::Structure;
use paynter_testkit::{Options, Sample, generate, plain, switching, write};
use std::process::Command;
use std::sync::Arc;

/// The models of some seeds: as they are drawn, and with what switches.
fn samples(default: u64) -> impl Iterator<Item = Sample> {
    seeds(default).flat_map(|seed| {
        let sample = generate(seed, &Options::nonlinear().small());
        [switching(&sample), sample]
    })
}

fn load(text: &str) -> Option<Model> {
    let model = common::load(text);
    (!findings(&model).has_errors()).then_some(model)
}

fn respond(model: &Model, times: Vec<f64>) -> Option<(Answer<Arc<Simulation>>, Response, Outcome)> {
    let options = SimulateOptions { times, rtol: 1e-10, max_steps: 20_000, ..SimulateOptions::default() };
    let simulation = model.simulation(&options, &CancellationToken::new()).ok()?;
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    Some((simulation, response, outcome))
}

/// Whether two values agree; what is not a number does not.
fn near(a: f64, b: f64, allowed: f64) -> bool {
    (a - b).abs() <= allowed
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
    let mut open: Vec<usize> = (0..here.len()).filter(|i| !near(here[*i], 0.0, 1e-12 * largest)).collect();
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

/// sign(x)·|x|ʳ is continuous, so that nothing slides along x = 0: neither an orifice in an algebraic
/// loop, nor a cubic spring whose flow a differentiated loop decides.
#[test]
fn powers_with_a_sign_do_not_stick() {
    let text = "model m { param k = 1; input u = 0.5*pulse(0.2, 0.7)
        Se s = u; 1 j; 0 n; R r { e = k*sign(f)*abs(f)^1.5 }; R leak = 0.1; C c = 2
        s -> j; j -> c, n; n -> r, leak; output e = r.e; output f = r.f; output sum = s.e - c.e - r.e }";
    let (_, response, outcome) = respond(&load(text).unwrap(), vec![0.1, 0.3, 0.5, 0.8, 1.0]).unwrap();
    assert_eq!(outcome.failure, None);
    for (e, f) in response.outputs[0].iter().zip(&response.outputs[1]) {
        assert!(near(*e, f * f.abs().sqrt(), 1e-9), "{e} at {f}");
    }
    assert!(response.outputs[2].iter().all(|sum| near(*sum, 0.0, 1e-9)) && response.outputs[1][1] > 0.01);
    let text = "model m { 0 j; C c { e = 3*q^3 }; GY g = cos(u); input u = 1; R r = 2; Sf s = 12
        s -> j; j -> c, g; g -> r; output q = c.q; output e = c.e }";
    let (_, response, outcome) = respond(&load(text).unwrap(), vec![0.0, 0.05, 0.1]).unwrap();
    assert_eq!(outcome.failure, None);
    // The charge grows by what flows in, but for what the gyrator takes.
    for (t, (q, e)) in response.t.iter().zip(response.outputs[0].iter().zip(&response.outputs[1])) {
        assert!(*q >= 7.0 * t && near(*e, 3.0 * q.powi(3), 1e-8), "{q} and {e} at {t}");
    }
}

#[test]
fn every_port_obeys_its_equation_and_every_state_its_rate() {
    const PANELS: usize = 20;
    let (nodes, fine, coarse) = quadrature();
    assert!(
        (fine.iter().sum::<f64>() - 1.0).abs() < 1e-14 && (coarse.iter().sum::<f64>() - 1.0).abs() < 1e-14
    );
    let mut times = vec![0.0];
    for panel in 0..PANELS {
        times.extend(nodes.iter().skip(1).map(|node| (panel as f64 + node) / PANELS as f64));
    }
    let (mut models, mut equations, mut panels, mut dependent, mut events) = (0, 0, 0, 0, 0);
    let (mut odd, mut wrong) = (Vec::new(), Vec::new());
    for sample in samples(20) {
        let structure = exposed(&sample.structure);
        let text = write(&structure);
        let Some(model) = load(&text) else {
            odd.push(format!("seed {}: refused", sample.seed));
            continue;
        };
        let Some((simulation, response, outcome)) = respond(&model, times.clone()) else {
            odd.push(format!("seed {}: no equations", sample.seed));
            continue;
        };
        let reached = if outcome.failure.is_some() { outcome.t } else { f64::INFINITY };
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
        for (t, row) in response.t.iter().zip(&rows).filter(|(t, _)| **t < reached) {
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
            let rate =
                |i: usize| match system.rate(&values(&structure, &params, response.t[i], &rows[i]), store) {
                    Equation::Value(value) => value,
                    Equation::Mentions(_) => f64::NAN,
                };
            let state = |i: usize| values(&structure, &params, response.t[i], &rows[i]).states[place];
            for panel in 0..(response.t.len().max(1) - 1) / 8 {
                let width = 1.0 / PANELS as f64;
                let rates: Vec<f64> = (0..9).map(|k| rate(8 * panel + k)).collect();
                let sum: f64 = rates.iter().zip(&fine).map(|(rate, weight)| width * rate * weight).sum();
                let rough: f64 =
                    rates.iter().step_by(2).zip(&coarse).map(|(rate, weight)| width * rate * weight).sum();
                let moved = state(8 * panel + 8) - state(8 * panel);
                let size =
                    state(8 * panel).abs() + rates.iter().map(|rate| width * rate.abs()).sum::<f64>() + 1e-3;
                // Where an event lies between, the two rules differ, and nothing is known.
                if (sum - rough).abs() > 1e-6 * size {
                    continue;
                }
                panels += 1;
                if !near(moved, sum, 20.0 * (sum - rough).abs() + 1e-8 * size) {
                    let at = response.t[8 * panel];
                    wrong.push(format!(
                        "seed {}, {name} from t = {at}: {moved}, not {sum}\n{text}",
                        sample.seed
                    ));
                    break 'states;
                }
            }
        }
    }
    println!(
        "{models} models, {dependent} with dependent storages, {events} events, {equations} times, {panels} panels; {odd:#?}"
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    demand("models", models, 30, 20);
    demand("models with dependent storages", dependent, 3, 20);
    demand("events", events as usize, 20, 20);
    demand("panels", panels, 1000, 20);
}

/// Integrates every exported model tightly and prints its outputs: `CASE VALUE…`, or the case alone
/// where SciPy finds no solution.
const SCIPY: &str = r#"
import importlib.util, warnings
import numpy as np
from scipy.integrate import solve_ivp
warnings.simplefilter("ignore")
class TooLong(Exception):
    pass
def outputs(m):
    p, count = m.parameters(), [0]
    z = [None]
    def solve(t, x, u):
        if not m.UNKNOWNS:
            return ()
        z[0] = m.unknowns(t, x, u, p, z[0])
        return (z[0],)
    def rates(t, x):
        count[0] += 1
        if count[0] > 6000:
            raise TooLong
        u = m.inputs(t, p)
        return m.f(t, x, u, p, *solve(t, x, u))
    x0 = m.initial(p)
    xs = [x0 for _ in TIMES]
    if len(x0):
        run = solve_ivp(rates, (0.0, TIMES[-1]), x0, "LSODA", t_eval=TIMES, rtol=1e-10, atol=1e-12, max_step=0.02)
        if not run.success:
            raise ArithmeticError(run.message)
        xs = run.y.T
    rows = []
    for t, x in zip(TIMES, xs):
        u = m.inputs(t, p)
        rows.append(m.g(t, x, u, p, *solve(t, x, u)))
    return np.concatenate(rows)
for case, path in CASES:
    spec = importlib.util.spec_from_file_location(f"m{case}", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    try:
        print(case, *(repr(float(v)) for v in outputs(m)))
    except (ArithmeticError, TooLong) as error:
        print(case)
"#;

/// The same outputs from the exported Python program, integrated by SciPy, as from the simulation.
#[test]
fn exported_programs_integrated_by_scipy_agree() {
    let python =
        paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap_or_else(|e| panic!("{e}"));
    let folder = folder("trajectories");
    let times = [0.0, 0.1371, 0.3127, 0.5533, 0.7717, 0.9631];
    let (mut cases, mut list) = (Vec::new(), String::new());
    let mut odd = Vec::new();
    for sample in samples(12) {
        let Some(model) = load(&sample.text) else { continue };
        let Some((_, response, outcome)) = respond(&model, times.to_vec()) else { continue };
        if outcome.failure.is_some() || !outcome.notes.is_empty() || outcome.stats.slides > 0 {
            odd.push(format!("seed {}: {:?} {:?}", sample.seed, outcome.failure, outcome.notes.first()));
            continue;
        }
        let path = folder.join(format!("case{}.py", cases.len()));
        std::fs::write(&path, model.export(export::PYTHON, &CancellationToken::new()).unwrap().result)
            .unwrap();
        list += &format!("({}, {path:?}), ", cases.len());
        cases.push((sample, response, outcome.stats.events));
    }
    let driver = folder.join("driver.py");
    std::fs::write(&driver, format!("TIMES = {times:?}\nCASES = [{list}]\n{SCIPY}")).unwrap();
    let said = run(Command::new(python).arg(&driver));
    let (mut models, mut eventful, mut wrong) = (0, 0, Vec::new());
    for line in said.lines() {
        let mut words = line.split_whitespace();
        let case: usize = words.next().unwrap().parse().unwrap();
        let (sample, response, events) = &cases[case];
        let found: Vec<f64> = words.map(|word| word.parse().unwrap_or(f64::NAN)).collect();
        if found.is_empty() {
            odd.push(format!("seed {}: no solution by SciPy", sample.seed));
            continue;
        }
        models += 1;
        eventful += usize::from(*events > 0);
        for (output, values) in response.outputs.iter().enumerate() {
            let size = values.iter().fold(1e-3_f64, |most, value| most.max(value.abs()));
            for (i, value) in values.iter().enumerate() {
                let other = found[i * response.outputs.len() + output];
                if !near(*value, other, 1e-6 * size) {
                    let (seed, t, text) = (sample.seed, times[i], &sample.text);
                    wrong
                        .push(format!("seed {seed}: output {output} at {t} is {value}, not {other}\n{text}"));
                }
            }
        }
    }
    println!("{models} models, {eventful} with events; {odd:#?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    demand("models", models, 16, 12);
    demand("models with events", eventful, 4, 12);
}

/// Exported C simulators take the steps of Euler, and of Runge and Kutta, that the simulation takes,
/// with the same sensitivities, as long as no event lies between.
#[test]
fn exported_simulators_take_the_same_steps() {
    let folder = folder("steps");
    let (mut models, mut sensitivities, mut implicit, mut dependent) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for sample in samples(8) {
        let Some(model) = load(&sample.text) else { continue };
        let Ok(program) = model.export(export::C_SIMULATOR, &CancellationToken::new()) else { continue };
        let all: Vec<String> = model.graph().unwrap().parameters.iter().map(|p| p.name.clone()).collect();
        let options = |solver: &str| SimulateOptions {
            t_end: Some(0.5),
            points: 51,
            solver: solver.to_owned(),
            step: Some(0.01),
            sensitivities: Sensitivities::All,
            ..SimulateOptions::default()
        };
        let mut binary = None;
        for solver in ["euler", "rk4"] {
            let Ok(simulation) = model.simulation(&options(solver), &CancellationToken::new()) else {
                continue;
            };
            let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
            // A step too long for a model blows rounding up with everything else.
            let numbers = response.outputs.iter().chain(response.sensitivities.iter().flatten()).flatten();
            let finite = numbers.filter(|value| value.is_finite()).all(|value| value.abs() < 1e4);
            if outcome.failure.is_some() || !outcome.notes.is_empty() || outcome.stats.events > 0 || !finite {
                continue;
            }
            let binary = binary.get_or_insert_with(|| {
                let source = folder.join(format!("{}_{models}.c", sample.seed));
                std::fs::write(&source, &program.result).unwrap();
                let binary = source.with_extension("bin");
                let flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-DRANDOM_MAIN"];
                run(Command::new("cc").args(flags).arg(&source).arg("-o").arg(&binary).arg("-lm"));
                binary
            });
            let said = run(Command::new(&*binary).args(["0.5", "0.01", solver]));
            let rows: Vec<Vec<f64>> = said
                .lines()
                .skip(1)
                .map(|line| line.split(',').map(|word| word.parse().unwrap_or(f64::NAN)).collect())
                .collect();
            assert_eq!(rows.len(), 51, "seed {}", sample.seed);
            models += 1;
            implicit += usize::from(program.contains("random_unknowns("));
            dependent += usize::from(program.contains("random_dependent("));
            let outputs = response.outputs.len();
            let mut compare = |column: usize, values: &[f64], what: &str| {
                let size = values.iter().fold(1e-3_f64, |most, value| most.max(value.abs()));
                // Where a root begins at zero, the program takes slopes from a little ahead, and shows it there.
                let ahead = !near(rows[0][column], values[0], 1e-10 * size);
                let allowed = if ahead { 1e-5 * size.max(1.0) } else { 1e-10 * size };
                for (row, value) in rows.iter().zip(values) {
                    if !near(row[column], *value, allowed) && value.is_finite() {
                        let (seed, t, found) = (sample.seed, row[0], row[column]);
                        wrong.push(format!(
                            "seed {seed}, {solver}: {what} at {t} is {found}, not {value}\n{}",
                            sample.text
                        ));
                        break;
                    }
                }
            };
            for (output, values) in response.outputs.iter().enumerate() {
                compare(1 + output, values, &simulation.outputs[output].name);
                for (lane, name) in simulation.wanted.iter().enumerate() {
                    let place = all.iter().position(|other| other == name).unwrap();
                    let column = 1 + outputs + output * all.len() + place;
                    compare(
                        column,
                        &response.sensitivities[output][lane],
                        &format!("output {output} by {name}"),
                    );
                    sensitivities += 1;
                }
            }
        }
    }
    println!(
        "{models} runs, {implicit} implicit, {dependent} with dependent storages, {sensitivities} sensitivities"
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    demand("runs", models, 12, 8);
    demand("implicit runs", implicit, 1, 8);
    demand("runs with dependent storages", dependent, 1, 8);
    demand("sensitivities", sensitivities, 60, 8);
}
