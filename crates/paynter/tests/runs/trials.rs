//! Models on which a run once was wrong or refused, each against a closed form, a piecewise exact solution or
//! an independent calculation, at every kind of solver, tolerance and sampling.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::example;
use paynter::simulate::{Response, Sensitivities, SimulateOptions, Simulation};
use paynter::{Answer, CancellationToken, LoadOptions, MemoryWorld, Model};
use std::path::Path;
use std::sync::Arc;

const SOLVERS: [&str; 4] = ["auto", "tsit5", "dop853", "stiff"];

fn trial(name: &str, set: &[(&str, &str)]) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let world =
        MemoryWorld::new().with("model.bg", read(&format!("{name}.bg"))).with("lib.bg", read("lib.bg"));
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Model::load(&world, "model.bg", &LoadOptions { set, ..LoadOptions::default() })
}

fn asked(times: &[f64], rtol: f64, solver: &str) -> SimulateOptions {
    SimulateOptions { times: times.to_vec(), rtol, solver: solver.to_owned(), ..SimulateOptions::default() }
}

/// Runs to the end.
fn run(model: &Model, options: &SimulateOptions) -> (Answer<Arc<Simulation>>, Response, u64) {
    let simulation = model.simulation(options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert_eq!(outcome.failure, None, "{options:?}");
    (simulation, response, outcome.stats.events)
}

/// An output over the samples; a state, where there is none of that name.
fn output(found: &(Answer<Arc<Simulation>>, Response, u64), name: &str) -> Vec<f64> {
    let (simulation, response, _) = found;
    let place = simulation.outputs.iter().position(|column| column.name == name);
    place.map_or_else(
        || {
            let state = simulation.states.iter().position(|column| column.name == name);
            response.states[state.unwrap_or_else(|| panic!("no {name}"))].clone()
        },
        |place| response.outputs[place].clone(),
    )
}

fn near(found: f64, right: f64, tolerance: f64, what: &str) {
    assert!((found - right).abs() <= tolerance * right.abs(), "{what}: {found}, not {right}");
}

/// Evenly spaced times.
fn even(end: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| end * i as f64 / (count - 1) as f64).collect()
}

#[test]
fn pulses_are_not_lost_whatever_the_sampling() {
    // di/dt = (u − i)/0.1 with u = 10 while sin(2π·1000·t) is above the threshold.
    let rise = 0.951_056_516_3f64.asin() / (2.0 * std::f64::consts::PI * 1000.0);
    let (on, period) = (0.0005 - 2.0 * rise, 1e-3);
    let mut i = 0.0;
    for _ in 0..500 {
        i *= (-rise / 0.1f64).exp();
        i = 10.0 + (i - 10.0) * (-on / 0.1f64).exp();
        i *= (-(period - rise - on) / 0.1f64).exp();
    }
    let model = trial("pulses", &[]);
    for solver in SOLVERS {
        for (rtol, points) in [(1e-4, 2), (1e-8, 11), (1e-8, 101), (1e-10, 1001)] {
            let found = run(&model, &asked(&even(0.5, points), rtol, solver));
            assert_eq!(found.2, 1000, "{solver} {rtol}");
            near(*output(&found, "i").last().unwrap(), i, 100.0 * rtol.max(1e-9), solver);
        }
    }
    for solver in SOLVERS {
        let found = run(&trial("pwm", &[]), &asked(&even(1.0, 5), 1e-8, solver));
        assert_eq!(found.2, 2000, "{solver}");
        near(*output(&found, "v").last().unwrap(), 9.067_492_8, 1e-7, solver);
    }
}

#[test]
fn narrow_windows_and_bumps_are_seen() {
    for solver in SOLVERS {
        let found = run(&trial("narrow", &[("a", "0.9")]), &asked(&[0.0, 10.0], 1e-8, solver));
        let window = 1.0 - 2.0 * 0.9f64.asin() / std::f64::consts::PI;
        near(output(&found, "q")[1], 10.0 * window / 2.0, 1e-7, solver);
        let found = run(&trial("narrow6", &[]), &asked(&[0.0, 10.0], 1e-8, solver));
        near(output(&found, "q")[1], 4.0 / 3.0, 1e-6, solver);
        let found = run(&trial("engine", &[]), &asked(&even(60.0, 5), 1e-8, solver));
        near(output(&found, "w")[1], 48.917_671, 1e-5, solver);
    }
}

#[test]
fn blocks_slip_and_stick_alike_at_every_setting() {
    for solver in SOLVERS {
        for rtol in [1e-6, 1e-8, 1e-10] {
            let found = run(&trial("slip", &[]), &asked(&even(10.0, 11), rtol, solver));
            near(output(&found, "y")[6], 0.018_225_4, 1e-4, solver);
            for force in output(&found, "F") {
                assert!(force.abs() <= 1.67 * (1.0 + 1e-6), "{solver} {rtol}: {force}");
            }
        }
    }
    for name in ["fric125", "fric133", "fric158"] {
        let model = trial(name, &[]);
        let reference = run(&model, &asked(&even(10.0, 11), 1e-10, "dop853"));
        for (solver, rtol) in [("auto", 1e-8), ("stiff", 1e-8), ("tsit5", 1e-6), ("dop853", 1e-6)] {
            let found = run(&model, &asked(&even(10.0, 11), rtol, solver));
            for output_name in ["y0", "y1"] {
                let (a, b) = (output(&found, output_name), output(&reference, output_name));
                let largest = b.iter().fold(1e-3f64, |most, y| most.max(y.abs()));
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() <= 1000.0 * rtol * largest, "{name} {solver}: {a}, not {b}");
                }
            }
        }
    }
    // Two blocks at rest, and nothing pulls.
    let found = run(&trial("fr8", &[]), &asked(&[0.0, 5.0, 10.0], 1e-8, "auto"));
    assert!(found.1.states.iter().flatten().all(|x| *x == 0.0), "{:?}", found.1.states);
}

#[test]
fn converters_with_diodes_run() {
    for solver in SOLVERS {
        let found = run(&trial("buck_f", &[]), &asked(&[0.0, 1.25e-3], 1e-8, solver));
        near(output(&found, "il")[1], 4.166_344_1, 1e-5, solver);
        let found = run(&trial("red18", &[]), &asked(&[0.0, 3.0, 6.0], 1e-8, solver));
        near(output(&found, "c_n0.q")[2], 0.366_725_357, 1e-6, solver);
        let found = run(&trial("boost_cb", &[]), &asked(&[0.0, 0.01, 0.02], 1e-8, solver));
        near(output(&found, "u")[2], 27.776_18, 1e-4, solver);
        run(&trial("weirs", &[]), &asked(&[0.0, 1.0, 3.0], 1e-8, solver));
    }
    let model = common::load_with(example("half_wave_rectifier"), &[("C", "47000")]);
    let found = run(&model, &asked(&[1.0, 1.5, 2.0], 1e-8, "auto"));
    near(found.1.outputs[0][1], 16.3944, 1e-5, "rectifier");
}

#[test]
fn units_do_not_matter() {
    let a = |scale: &str, solver: &str| {
        output(&run(&trial("tiny", &[("sc", scale)]), &asked(&[0.0, 1.0], 1e-8, solver)), "a")[1]
    };
    for solver in SOLVERS {
        for scale in ["1e-18", "1e-30", "1e12"] {
            near(a(scale, solver), a("1", solver), 1e-7, solver);
        }
    }
    let found = run(&trial("serca", &[]), &asked(&[0.0, 1.0, 10.0], 1e-8, "auto"));
    near(output(&found, "x_P8")[1], 1.120_804_65e-20, 1e-6, "serca");
    // States near 1e-33 and times near 1e-15 s, and the same with efforts in 1e-20, flows in 1e-18, times in 1e-15.
    let others = [("R", "1"), ("L", "0.5"), ("C", "2"), ("K", "0.3"), ("u", "1")];
    for solver in SOLVERS {
        let small = run(&trial("sc1", &[]), &asked(&even(1e-15, 4), 1e-8, solver));
        let large = run(&trial("sc1", &others), &asked(&even(1.0, 4), 1e-8, solver));
        for (a, b) in output(&small, "y").iter().zip(output(&large, "y")).skip(1) {
            near(*a, 1e-20 * b, 1e-6, solver);
        }
    }
}

#[test]
fn states_are_the_same_with_sensitivities() {
    for (name, parameter, times) in [("recomb", "B", [0.0, 5e-8, 1e-7]), ("grow", "R0", [0.0, 40.0, 80.0])] {
        let plain = asked(&times, 1e-8, "auto");
        let sensitivities = Sensitivities::Names(vec![parameter.to_owned()]);
        let sensitive = SimulateOptions { sensitivities, ..plain.clone() };
        let (without, with) = (run(&trial(name, &[]), &plain), run(&trial(name, &[]), &sensitive));
        for (a, b) in output(&with, "y").iter().zip(output(&without, "y")) {
            near(*a, b, 1e-6, name);
        }
        assert!(with.1.sensitivities.iter().flatten().flatten().all(|s| s.is_finite()), "{name}");
    }
    near(
        output(&run(&trial("recomb", &[]), &asked(&[0.0, 1e-7], 1e-8, "auto")), "y")[1],
        1e24 / 11.0,
        1e-6,
        "y",
    );
    near(
        output(&run(&trial("grow", &[]), &asked(&[0.0, 80.0], 1e-8, "auto")), "y")[1],
        80f64.exp(),
        1e-5,
        "y",
    );
}

#[test]
fn what_is_finite_has_values() {
    let sensitive = SimulateOptions {
        sensitivities: Sensitivities::Names(vec!["k1".to_owned()]),
        ..asked(&[0.0, 50.0, 100.0], 1e-8, "auto")
    };
    let found = run(&trial("enz0", &[]), &sensitive);
    assert!(found.1.sensitivities.iter().flatten().flatten().all(|s| s.is_finite()));
    let found = run(&trial("nan0", &[]), &asked(&[0.0, 1.0], 1e-8, "auto"));
    near(output(&found, "q1")[0], 1.0 / 3.0, 1e-12, "nan0");
    let found = run(&trial("k94", &[]), &asked(&[0.0, 1.0], 1e-8, "auto"));
    near(output(&found, "y0")[0], -0.049_466_36, 1e-6, "k94");
    // A + B ⇌ C with a negative amount: c − ab falls to zero.
    let found = run(&trial("abc_negative", &[]), &asked(&[0.0, 10.0], 1e-8, "auto"));
    let [a, b, c] = ["A.q", "B.q", "C.q"].map(|name| output(&found, name)[1]);
    near(a * b, c, 1e-6, "equilibrium");
}

#[test]
fn stiff_steps_lead_past_no_conduction() {
    for solver in ["auto", "stiff"] {
        for (set, right) in [(vec![], 23.448_317_09), (vec![("G", "1e-8")], 23.448_383_37)] {
            let found = run(&trial("diode_coil", &set), &asked(&[0.0, 0.3], 1e-8, solver));
            near(output(&found, "v")[1], right, 1e-7, solver);
        }
        for points in [2, 3, 11] {
            let model = trial("diode_coil", &[("RL", "300")]);
            let found = run(&model, &asked(&even(3.0, points), 1e-8, solver));
            near(*output(&found, "v").last().unwrap(), 22.936_012_58, 1e-7, solver);
        }
        for (rtol, tolerance) in [(1e-5, 1e-4), (1e-8, 1e-7)] {
            let found = run(&trial("chk", &[]), &asked(&[0.0, 60.0], rtol, solver));
            near(output(&found, "pl")[1], 1_564_590.189, tolerance, solver);
        }
        for points in [2, 11, 101] {
            let found = run(&trial("boost_loop", &[]), &asked(&even(4e-3, points), 1e-8, solver));
            // Samples that fall on the jumps of the sawtooth cost some digits.
            near(*output(&found, "v").last().unwrap(), 23.906_381_05, 2e-6, solver);
        }
    }
}

#[test]
fn what_is_released_starts_rightly_however_long_the_run() {
    for solver in SOLVERS {
        for end in [1.0, 100.0, 1000.0] {
            let found = run(&trial("released", &[]), &asked(&[0.22, 0.3, 0.5, end], 1e-8, solver));
            for (at, right) in [(0, 7.035_272_57e-6), (1, 1.973_335_493e-3), (2, 5.002_963_047e-2)] {
                near(output(&found, "x")[at], right, 1e-6, solver);
            }
        }
        let found = run(&trial("overflow", &[]), &asked(&[0.0, 60.0], 1e-8, solver));
        near(output(&found, "h2")[1], 2.814_932_357, 1e-6, solver);
    }
    // A valve that is closed at first has a derivative.
    let sensitive = SimulateOptions {
        sensitivities: Sensitivities::Names(vec!["init".to_owned()]),
        ..asked(&[0.25, 3.0], 1e-8, "auto")
    };
    let found = run(&trial("late_valve", &[]), &sensitive);
    near(found.1.sensitivities[0][0][0], 1.0, 1e-7, "closed");
    near(found.1.sensitivities[0][0][1], 0.118_680_6, 1e-6, "open");
}

#[test]
fn energies_are_those_of_closed_forms() {
    let energy = |name: &str, end: f64| {
        let options = SimulateOptions { energy: true, ..asked(&[0.0, end], 1e-9, "auto") };
        let (simulation, response, _) = run(&trial(name, &[]), &options);
        let found = simulation.energy(&response).unwrap();
        let (_, values) = found.accounts.iter().find(|(entry, _)| entry.by_state()).unwrap();
        (values[0], *values.last().unwrap())
    };
    // The integral of ln q from q(10) = e^-10 to 1, and what two spellings of one spring hold.
    let last = (-10f64).exp();
    let (first, end) = energy("lnquad", 10.0);
    near((first - end).abs(), (1.0 - (last * last.ln() - last) - 2.0).abs(), 1e-6, "lnquad");
    for name in ["en2", "en3"] {
        let (first, end) = energy(name, 20.0);
        near(first, 1.0, 1e-9, name);
        assert!(end.abs() < 1e-9, "{name}: {end}");
    }
    near(energy("en8", 10.0).1 - energy("en8", 10.0).0, 0.1 * std::f64::consts::PI.sqrt(), 1e-6, "en8");
    near(energy("en9", 0.52).1, 1.656_49, 1e-4, "en9");
    // Amounts at zero: q ln q is nothing there.
    let options = SimulateOptions { energy: true, ..asked(&[0.0, 10.0], 1e-8, "auto") };
    let (simulation, response, _) = run(&trial("glyco", &[]), &options);
    let accounts = simulation.energy(&response).unwrap().accounts;
    assert!(accounts.iter().flat_map(|(_, values)| values).all(|energy| energy.is_finite()));
    assert!(accounts.iter().any(|(_, values)| *values.last().unwrap() > 1e4));
}

#[test]
fn unstable_sensitivities_cost_no_more_steps() {
    let model = common::load_with(example("dc_motor"), &[("Ra", "-1.5")]);
    let sensitivities = Sensitivities::Names(vec!["Ra".to_owned()]);
    let options = SimulateOptions { sensitivities, max_steps: 20_000, ..asked(&[0.0, 1.0], 1e-8, "auto") };
    run(&model, &options);
}
