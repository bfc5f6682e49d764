//! The simulators that `export --to c --simulate` writes, compiled and run:
//! known solutions, orders of convergence, and sensitivities against
//! differences.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{example, load};
use paynter::CancellationToken;
use paynter::export;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A charge that leaks through a law nobody can invert, fed by an input that reads a parameter.
const LEAK: &str = "model leak {
    param c = 2
    param k = 3
    param a = 1/2
    param q0 = 1
    input u = a*sin(2*t)
    Sf s = u
    0  j
    C  store = c
    1  path
    R  leak { e = k*f + f^5 }
    R  pipe = 1/3
    s -> j
    j -> store, path
    path -> leak, pipe
    init store.q = q0
    output i = leak.f
    output v = store.e
}";

fn text(name: &str) -> String {
    match name {
        "leak" => LEAK.to_owned(),
        "switched" => SWITCHED.to_owned(),
        _ => example(name).to_owned(),
    }
}

/// Writes a model's simulator and compiles it with a driver after it; returns the binary.
fn compile(name: &str, test: &str, driver: Option<&str>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulators");
    std::fs::create_dir_all(&folder).unwrap();
    let program = load(&text(name)).export(export::C_SIMULATOR, &CancellationToken::new()).unwrap().result;
    let upper = format!("{}_MAIN", name.to_uppercase());
    let source = folder.join(format!("{name}_{test}.c"));
    let main = driver
        .map_or(String::new(), |driver| driver.replace("NAME", name).replace("UPPER", &name.to_uppercase()));
    std::fs::write(&source, program + &main).unwrap();
    let binary = folder.join(format!("{name}_{test}"));
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    if driver.is_none() {
        command.arg(format!("-D{upper}"));
    }
    let output = command.arg(&source).arg("-o").arg(&binary).arg("-lm").output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    binary
}

/// The last row of what a simulator prints.
fn last_row(binary: &Path, words: &[&str]) -> Vec<f64> {
    let output = Command::new(binary).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().last().unwrap().split(',').map(|word| word.parse().unwrap()).collect()
}

#[test]
fn a_known_solution_is_met() {
    let binary = compile("duffing", "known", None);
    // The reference values stand in the example.
    for (end, x) in [("1", 1.4686000872), ("2", -0.2174784576), ("5", 0.1641053793), ("10", -0.7369930394)] {
        let row = last_row(&binary, &[end, "0.0005"]);
        assert!((row[1] - x).abs() < 1e-9, "x({end}) = {}, not {x}", row[1]);
    }
}

#[test]
fn methods_have_their_order() {
    let binary = compile("duffing", "order", None);
    let exact = last_row(&binary, &["1", "0.0002"]);
    for (method, order) in [("euler", 1.0), ("rk4", 4.0)] {
        // Both the output and its sensitivity to the first parameter converge.
        for column in [1, 2] {
            let error = |step: &str| (last_row(&binary, &["1", step, method])[column] - exact[column]).abs();
            let steps = if order > 2.0 { ["0.02", "0.01"] } else { ["0.002", "0.001"] };
            let found = (error(steps[0]) / error(steps[1])).log2();
            assert!((found - order).abs() < 0.25, "{method}, column {column}: order {found}");
        }
    }
}

const DRIVER: &str = r#"
#include <stdio.h>

static void run(const double p[], double y[], double ys[])
{
    static double x[UPPER_STATES + 1], s[UPPER_STATES * UPPER_PARAMETERS + 1];
    double z[UPPER_UNKNOWNS + 1] = {0.0};
    const int steps = 400;
    const double h = END / steps;
    NAME_start(p, x, ys ? s : 0);
    for (int k = 0; k < steps; k++)
        if (NAME_advance(4, k * h, h, p, z, x, ys ? s : 0)) printf("failed\n");
    if (NAME_sensitivities(END, x, ys ? s : 0, p, z, 0, 0, y, ys)) printf("failed\n");
}

int main(void)
{
    static double p[UPPER_PARAMETERS + 1], y[UPPER_OUTPUTS + 1], low[UPPER_OUTPUTS + 1], high[UPPER_OUTPUTS + 1];
    static double ys[UPPER_OUTPUTS * UPPER_PARAMETERS + 1];
    for (int k = 0; k < UPPER_PARAMETERS; k++) p[k] = NAME_nominal[k];
    run(p, y, ys);
    for (int k = 0; k < UPPER_PARAMETERS; k++) {
        const double old = p[k], d = 1e-5 * (old == 0.0 ? 1.0 : fabs(old));
        p[k] = old + d;
        run(p, high, 0);
        p[k] = old - d;
        run(p, low, 0);
        p[k] = old;
        for (int i = 0; i < UPPER_OUTPUTS; i++) {
            const double size = (fabs(y[i]) + 1e-12) / (fabs(old) + 1e-12);
            printf("%.17g %.17g %.17g\n", ys[i * UPPER_PARAMETERS + k], (high[i] - low[i]) / (2.0 * d), size);
        }
    }
    return 0;
}
"#;

#[test]
fn sensitivities_are_derivatives() {
    for (name, end) in [
        ("dc_motor", "0.05"),
        ("conical_tanks", "1.0"),
        ("duffing", "2.0"),
        ("gas_container", "0.5"),
        ("robot_arm", "0.2"),
        ("two_tanks", "1.0"),
        ("leak", "2.0"),
    ] {
        let binary = compile(name, "sensitivity", Some(&DRIVER.replace("END", end)));
        let output = Command::new(&binary).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("failed") && !text.is_empty(), "{name}: {text}");
        for line in text.lines() {
            let words: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [found, expected, size] = words[..] else { panic!("{line}") };
            let close = (found - expected).abs() <= 1e-5 * (expected.abs() + size);
            assert!(close, "{name}: {found} is not {expected}");
        }
    }
}

/// A charge that a clocked source feeds, and a valve that opens at a level.
const SWITCHED: &str = "model switched {
    param t0 = 1/3
    param level = 1/5
    Sf s = if(t > t0, 1, 0)
    0  j
    C  store = 1
    R  leak = 2
    R  valve { f = if(e > level, 3*(e - level), 0) }
    s -> j
    j -> store, leak, valve
    output v = store.e
}";

fn told(text: &str, language: &dyn export::Target) -> Vec<String> {
    let program = load(text).export(language, &CancellationToken::new()).unwrap();
    let found = program.findings.iter().filter(|found| found.code.id() == "BG0823");
    found.map(|found| format!("{} {}", found.message, found.help)).collect()
}

/// What switches is stepped over: outputs come near, and the rest is told.
#[test]
fn switching_is_told() {
    let found = told(SWITCHED, export::C_SIMULATOR);
    assert!(found.len() == 1 && found[0].contains("t > t0") && found[0].contains("and 1 more"), "{found:?}");
    assert!(told(SWITCHED, export::PYTHON).is_empty(), "f has the branches; its solver is another's");
    let smooth = SWITCHED
        .replace("if(t > t0, 1, 0)", "1")
        .replace("if(e > level, 3*(e - level), 0)", "sign(e)*sqrt(abs(e))");
    assert!(told(&smooth, export::C_SIMULATOR).is_empty(), "a power with a sign is continuous");
    let straight = "model charge { input u = step(1); Se s = u; 1 l; C a = 1; C b = 2; s -> l; l -> a, b; output y = b.f }";
    let found = told(straight, export::PYTHON);
    assert!(found.len() == 1 && found[0].contains("`u` jumps straight"), "{found:?}");
    let binary = compile("switched", "events", None);
    let row = last_row(&binary, &["1", "0.001"]);
    // v = 2 (1 − e^(−τ/2)) up to the level, then to (1 + 3 level)/3.5 with the time constant 1/3.5.
    let reached = -2.0 * (1.0_f64 - 0.1).ln();
    let rest = 1.6 / 3.5;
    let v = rest + (0.2 - rest) * (-3.5 * (2.0 / 3.0 - reached)).exp();
    assert!((row[1] - v).abs() < 1e-3, "{} is not {v}", row[1]);
}
