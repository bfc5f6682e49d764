//! One policy of units: a model in declared units, mixed at random, against the same model in SI.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter};
use paynter_testkit::property::seeds;
use paynter_testkit::rng::Rng;
use std::path::Path;

/// Units of a quantity with their sizes in SI, the SI one first.
type Units = &'static [(&'static str, f64)];

const RESISTANCE: Units = &[("ohm", 1.0), ("kohm", 1e3), ("mohm", 1e-3)];
const INDUCTANCE: Units = &[("H", 1.0), ("mH", 1e-3), ("uH", 1e-6)];
const CONSTANT: Units = &[("N*m/A", 1.0), ("mN*m/A", 1e-3), ("V/rpm", 30.0 / std::f64::consts::PI)];
const INERTIA: Units = &[("kg*m^2", 1.0), ("g*cm^2", 1e-7), ("kg*cm^2", 1e-4)];
const VOLTAGE: Units = &[("V", 1.0), ("mV", 1e-3), ("kV", 1e3)];
const SPEED: Units =
    &[("rad/s", 1.0), ("rpm", std::f64::consts::PI / 30.0), ("deg/s", std::f64::consts::PI / 180.0)];
const CURRENT: Units = &[("A", 1.0), ("mA", 1e-3)];

/// Name, value in SI, units.
const PARAMETERS: [(&str, f64, Units); 4] =
    [("R", 1.0, RESISTANCE), ("L", 0.5, INDUCTANCE), ("K", 0.1, CONSTANT), ("J", 0.01, INERTIA)];

/// A motor in some units.
fn motor(units: &[(&str, f64)], input: (&str, f64), outputs: [(&str, f64); 2]) -> String {
    let mut text = "model motor {\n".to_owned();
    for ((name, value, _), (unit, factor)) in PARAMETERS.iter().zip(units) {
        text.push_str(&format!("  param {name} = {:e} [{unit}] ±10%\n", value / factor));
    }
    text.push_str(&format!("  input V = {:e} [{}]\n", 12.0 / input.1, input.0));
    text.push_str(
        "  Se s = V; 1 a; I coil = L; R w = R; GY m = K; 1 b; I rotor = J; R d = 0.1
  s -> a -> coil, w, m; m -> b -> rotor, d\n",
    );
    for ((name, value), (unit, _)) in [("speed", "rotor.f"), ("current", "coil.f")].iter().zip(outputs) {
        text.push_str(&format!("  output {name} = {value} [{unit}]\n"));
    }
    text + "}\n"
}

/// The numbers of a CSV, line by line.
fn csv(folder: &Path, arguments: &[&str]) -> Vec<Vec<f64>> {
    let run = paynter(folder, arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}\n{}", run.stderr);
    let line = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    run.stdout.lines().skip(1).map(line).collect()
}

/// Asserts that columns are those in SI, each in units of some size.
fn same(found: &[Vec<f64>], right: &[Vec<f64>], sizes: &[f64], what: &str) {
    assert_eq!(found.len(), right.len(), "{what}");
    for (found, right) in found.iter().zip(right) {
        assert_eq!((found.len(), right.len()), (sizes.len(), sizes.len()), "{what}");
        for ((found, right), size) in found.iter().zip(right).zip(sizes) {
            let near = (found * size - right).abs() <= 1e-6 * right.abs() + 1e-9;
            assert!(near, "{what}: {found} of {size} is not {right}");
        }
    }
}

#[test]
fn mixed_units_say_what_si_says() {
    let folder = folder("units_mixed");
    let first = |units: Units| units[0];
    let si =
        motor(&PARAMETERS.map(|(_, _, units)| first(units)), first(VOLTAGE), [first(SPEED), first(CURRENT)]);
    std::fs::write(folder.join("si.bg"), si).unwrap();
    for seed in seeds(8) {
        let mut rng = Rng::new(seed);
        let units = PARAMETERS.map(|(_, _, units)| *rng.pick(units));
        let (input, outputs) = (*rng.pick(VOLTAGE), [*rng.pick(SPEED), *rng.pick(CURRENT)]);
        std::fs::write(folder.join("mixed.bg"), motor(&units, input, outputs)).unwrap();
        let both = |rest: &[&str], other: &[&str], sizes: &[f64], what: &str| {
            let ask = |file: &'static str, rest: &[&str]| {
                let common = ["simulate", file, "--t-end", "1", "--points", "3", "--rtol", "1e-9"];
                csv(&folder, &common.iter().chain(rest).copied().collect::<Vec<_>>())
            };
            same(&ask("mixed.bg", other), &ask("si.bg", rest), sizes, &format!("seed {seed}, {what}"));
        };
        let [speed, current] = outputs.map(|(_, size)| size);
        let mut sizes = vec![1.0, speed, current];
        for output in [speed, current] {
            sizes.extend(units.iter().map(|(_, size)| output / size));
        }
        let all = ["--sensitivity", "R,L,K,J"];
        both(&all, &all, &sizes, "sensitivities");
        let value = |size: f64, value: f64| format!("{:e}", value / size);
        let (resistance, volts) = (units[0].1, input.1);
        let set = format!("R={}", value(resistance, 2.0));
        let drive = format!("V={}", value(volts, 6.0));
        let settings = ["--set", &set, "--set", &drive];
        both(
            &["--set", "R=2", "--set", "V=6"],
            &settings,
            &sizes[..3],
            "a bare number is in the declared unit",
        );
        let own = ["--set", "R=2 [ohm]", "--set", "V=6 [V]"];
        both(&["--set", "R=2", "--set", "V=6"], &own, &sizes[..3], "a unit of its own");
        let sweep = format!("R={}:{}:2", value(resistance, 1.0), value(resistance, 3.0));
        let swept = [resistance, 1.0, speed, current];
        both(&["--sweep", "R=1:3:2"], &["--sweep", &sweep], &swept, "a sweep");
        let change = format!("R=+{}", value(resistance, 0.2));
        let changed = [1.0, speed, speed, speed, speed, current, current, current, current];
        both(&["--perturb", "R=+0.2"], &["--perturb", &change], &changed, "a change");
    }
}

#[test]
fn json_is_in_si_and_names_what_people_see() {
    let folder = folder("units_json");
    let units = [RESISTANCE[1], INDUCTANCE[1], CONSTANT[0], INERTIA[0]];
    std::fs::write(folder.join("m.bg"), motor(&units, VOLTAGE[1], [SPEED[1], CURRENT[1]])).unwrap();
    let document =
        paynter(&folder, &["simulate", "m.bg", "--t-end", "1", "--sensitivity", "R", "--json"]).json();
    assert_eq!(document["units"]["speed"], "rpm");
    assert_eq!(document["sensitivities_unit"]["speed"]["R"], "rpm/kohm");
    let bode = paynter(&folder, &["bode", "m.bg", "--omega", "1:1:1", "--json"]).json();
    assert_eq!(
        (&bode["entries"][0]["output_unit"], &bode["entries"][0]["input_unit"]),
        (&"rpm".into(), &"mV".into())
    );
    let shown = paynter(&folder, &["bode", "m.bg", "--omega", "1:1:1"]).stdout;
    assert!(shown.contains("speed / V [rpm/mV]"), "{shown}");
    let entry = &bode["entries"][0];
    let size = entry["re"][0].as_f64().unwrap().hypot(entry["im"][0].as_f64().unwrap());
    let decibel = 20.0 * (size / SPEED[1].1 * 1e-3).log10();
    let row = shown.lines().find(|line| line.trim_start().starts_with("1 ")).unwrap();
    let told: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((told - decibel).abs() < 1e-3, "{told} {decibel}");
    let gains = paynter(&folder, &["sensitivity", "m.bg", "--json"]).json();
    assert_eq!(gains["dc_gain"][0]["value_unit"], "rpm/mV");
    assert_eq!(gains["parameters_unit"]["R"], "kohm");
}

/// Robustness and loops: numbers of the document are in SI whatever the units of the model, people read declared ones, and
/// a gain or a range that is asked for is in them too.
#[test]
fn robustness_and_loops_are_told_in_declared_units() {
    let folder = folder("units_robust");
    let units = [RESISTANCE[1], INDUCTANCE[1], CONSTANT[0], INERTIA[0]];
    let first = |units: Units| units[0];
    let si =
        motor(&PARAMETERS.map(|(_, _, units)| first(units)), first(VOLTAGE), [first(SPEED), first(CURRENT)]);
    std::fs::write(folder.join("si.bg"), si).unwrap();
    std::fs::write(folder.join("m.bg"), motor(&units, VOLTAGE[1], [SPEED[1], CURRENT[1]])).unwrap();
    // rad/s per V, in rpm per mV.
    let size = 1e3 * SPEED[1].1;
    let near = |a: &serde_json::Value, b: f64| {
        let a = a.as_f64().unwrap();
        assert!((a - b).abs() <= 1e-4 * b.abs(), "{a} {b}");
    };
    let asked = |file: &str, gain: &str, more: &[&str]| {
        let mut arguments = vec!["robust", file, "--output", "speed", "--input", "V", "--gain", gain];
        arguments.extend(more);
        paynter(&folder, &arguments)
    };
    let right = asked("si.bg", "1.5", &["--json"]).json();
    for gain in [format!("{:e}", 1.5 / size), "1.5 [rad/s/V]".to_owned()] {
        let found = asked("m.bg", &gain, &["--json"]).json();
        near(&found["gain"]["allowed"], 1.5);
        for key in ["lower", "upper", "nominal"] {
            near(&found["gain"][key], right["gain"][key].as_f64().unwrap());
        }
        near(&found["gain"]["performance"]["lower"], right["gain"]["performance"]["lower"].as_f64().unwrap());
        assert_eq!(
            (&found["gain"]["value_unit"], &found["parameters_unit"]["R"]),
            (&"rpm/mV".into(), &"kohm".into())
        );
    }
    let wrong = asked("m.bg", "1.5 [A/V]", &[]);
    assert!(wrong.code != Some(0) && wrong.stderr.contains("rpm/mV"), "{}", wrong.stderr);
    let shown = asked("m.bg", "0.01", &[]).stdout;
    assert!(shown.contains("speed / V [rpm/mV]") && shown.contains("R [kohm]"), "{shown}");
    let nominal: f64 =
        shown.split("nominal ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    near(&right["gain"]["nominal"], nominal * size);

    let range = |file: &str, range: &str| {
        let common = ["loop", file, "--open", "d", "--over", "R", "--range", range, "--json"];
        paynter(&folder, &common).json()
    };
    let (right, found) = (range("si.bg", "0.5:2:3"), range("m.bg", "0.0005:0.002:3"));
    for k in 0..3 {
        near(&found["locus"]["values"][k], right["locus"]["values"][k].as_f64().unwrap());
        near(&found["locus"]["poles"][k][0][0], right["locus"]["poles"][k][0][0].as_f64().unwrap());
    }
    let (ours, theirs) = (&found["step"]["speed"]["V"], &right["step"]["speed"]["V"]);
    near(&ours["final_value"], theirs["final_value"].as_f64().unwrap());
    let (ours, theirs) = (&ours["tolerance"]["rise_time"], &theirs["tolerance"]["rise_time"]);
    near(&ours["sensitivity"]["R"], theirs["sensitivity"]["R"].as_f64().unwrap());
    assert_eq!(
        (
            &found["step"]["speed"]["V"]["value_unit"],
            &ours["sensitivity_unit"]["R"],
            &found["locus"]["values_unit"]
        ),
        (&"rpm/mV".into(), &"s/kohm".into(), &"kohm".into())
    );
    let shown = paynter(&folder, &["loop", "m.bg", "--open", "d"]).stdout;
    assert!(shown.contains("final value [rpm/mV]") && shown.contains(" kΩ"), "{shown}");
}

#[test]
fn units_of_other_fields_are_known() {
    let folder = folder("units_known");
    for (unit, factor) in [
        ("M", 1e3),
        ("mM", 1.0),
        ("uM", 1e-3),
        ("µM", 1e-3),
        ("nM", 1e-6),
        ("cal", 4.184),
        ("kcal", 4184.0),
        ("day", 86_400.0),
        ("rpm", std::f64::consts::PI / 30.0),
        ("bar", 1e5),
        ("L/min", 1e-3 / 60.0),
    ] {
        let model = format!(
            "model m {{ input u = 1 [{unit}]; param k = 2; signal x = u/k; Se s = k; R r = 1; s -> r; output y = u [{unit}] }}\n"
        );
        std::fs::write(folder.join("m.bg"), model).unwrap();
        let run = paynter(&folder, &["simulate", "m.bg", "--t-end", "1", "--points", "2", "--json"]);
        assert_eq!(run.code, Some(0), "{unit}: {}", run.stdout);
        let y = run.json()["outputs"]["y"][0].as_f64().unwrap();
        assert!((y - factor).abs() <= 1e-12 * factor, "{unit}: {y}");
    }
    for unit in ["ft", "PS"] {
        std::fs::write(
            folder.join("m.bg"),
            format!("model m {{ param k = 1 [{unit}]; Se s = k; R r = 1; s -> r }}\n"),
        )
        .unwrap();
        let run = paynter(&folder, &["check", "m.bg"]);
        assert!(run.stderr.contains("BG0305") && run.stderr.contains("did you mean"), "{}", run.stderr);
    }
}
