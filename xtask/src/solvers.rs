//! Simulation with sensitivities beside other solvers, in one run on one
//! machine with one thread each. Every tool gets the loosest tolerance, and
//! the best of its methods, that keeps the same measured error.

use crate::python::{environment, target};
use crate::run::{bounded, cargo, output, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Our benchmark's name for each case, and what it is.
const CASES: &[(&str, &str)] = &[
    ("tanks", "two conical tanks with 4 sensitivities"),
    ("chain10", "chain of 10 masses with 30 sensitivities"),
    ("chain100", "chain of 100 masses with 300 sensitivities"),
    ("robertson", "Robertson's kinetics with 3 sensitivities"),
];

const TOOLS: [&str; 5] = ["cvodes", "diffsol", "casadi", "diffrax", "scipy"];

/// The crate with the solvers that are called from Rust.
const CRATE: &str = "benches/rivals/solvers";

/// A tool tries its methods and tolerances on a case for so long; what it has found by then counts.
const LIMIT: Duration = Duration::from_secs(180);

/// What a tool needed: its name and method, seconds, and error.
type Row = (String, f64, String);

/// Runs all comparisons, or the case of a name; `zoo` names the reference problems of the tests.
pub fn compare(only: Option<&str>) -> Result<(), String> {
    let python = environment("rivals-solvers", &format!("{CRATE}/requirements.txt"))?;
    if only == Some("zoo") {
        return zoo(&python);
    }
    let folder = target().join("references");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let rivals = build()?;
    let mut summary = Vec::new();
    for (case, title) in CASES.iter().filter(|(case, _)| only.is_none_or(|only| only == *case)) {
        println!("\n{title}");
        let mut ours = cargo();
        ours.args(["bench", "--locked", "-p", "paynter-simulate", "--bench", "simulate", "--", case])
            .env("PAYNTER_REFERENCES", &folder);
        let own = rows(&output(&mut ours)?)?;
        // The best of its methods counts, as with the others; what is chosen by itself stands first.
        let Some(base) = own.iter().map(|row| row.1).min_by(f64::total_cmp) else {
            return Err(format!("no tolerance of ours keeps the error of {case}"));
        };
        println!("  {:<52}{:>12}{:>10}{:>10}", "", "", "error", "ratio");
        own.iter().for_each(|row| show(row, base));
        let mut ratios = Vec::new();
        for tool in TOOLS {
            let mut command = match tool {
                "cvodes" | "diffsol" => Command::new(&rivals),
                _ => script(&python, "simulate.py"),
            };
            alone(&mut command).args([tool, case]).arg(folder.join(case));
            let (printed, ended) = bounded(&mut command, LIMIT)?;
            let found = rows(&printed)?;
            let best = found.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
            match &best {
                Some(best) => show(best, base),
                None => println!("  {tool}: no tolerance keeps the error"),
            }
            if !ended {
                println!("  {tool} was stopped after {} s", LIMIT.as_secs());
            }
            ratios.push(best.map(|best| best.1 / base));
        }
        summary.push((case, base, ratios));
    }
    println!("\ntimes of others in units of ours, at equal error");
    println!("  {:<12}{:>14}{}", "", "Paynter", TOOLS.map(|tool| format!("{tool:>10}")).concat());
    for (case, base, ratios) in summary {
        let ratios = ratios.iter().map(|ratio| match ratio {
            Some(ratio) => format!("{ratio:>9.2}×"),
            None => format!("{:>10}", "–"),
        });
        println!("  {case:<12}{:>11.1} µs{}", base * 1e6, ratios.collect::<String>());
    }
    Ok(())
}

/// The reference problems of the tests, at several tolerances beside SciPy.
fn zoo(python: &Path) -> Result<(), String> {
    let mut ours = cargo();
    let ours = output(ours.args(["bench", "--locked", "-p", "paynter-simulate", "--bench", "zoo"]))?;
    let (theirs, ended) = bounded(alone(&mut script(python, "zoo.py")), LIMIT)?;
    println!("  {:<52}{:>12}{:>10}", "", "", "error");
    for (name, seconds, error) in rows(&ours)?.iter().chain(&rows(&theirs)?) {
        println!("  {name:<52}{:>9.1} µs{error:>10}", seconds * 1e6);
    }
    if ended { Ok(()) } else { Err(format!("SciPy was stopped after {} s", LIMIT.as_secs())) }
}

/// Builds the solvers that are called from Rust.
fn build() -> Result<PathBuf, String> {
    let build = target().join("rivals-build");
    // The rivals get what our kernels choose at run time: all instructions of this machine.
    run(cargo()
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(root().join(CRATE).join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &build)
        .env("CFLAGS", "-O3 -march=native")
        .env("RUSTFLAGS", "-C target-cpu=native"))?;
    Ok(build.join("release/rival-solvers"))
}

/// A script of the rivals.
fn script(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(root().join("benches/rivals").join(name));
    command
}

/// One thread each.
fn alone(command: &mut Command) -> &mut Command {
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"] {
        command.env(name, "1");
    }
    command.env("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
}

fn show((tool, seconds, error): &Row, base: f64) {
    println!("  {tool:<52}{:>9.1} µs{error:>10}{:>9.2}×", seconds * 1e6, seconds / base);
}

/// Reads lines of a name, seconds, an error and more, divided by tabs.
fn rows(printed: &str) -> Result<Vec<Row>, String> {
    let row = |line: &str| {
        let [name, seconds, error] = line.split('\t').take(3).collect::<Vec<&str>>().try_into().ok()?;
        let error: f64 = error.parse().ok()?;
        Some((name.to_owned(), seconds.parse().ok()?, format!("{error:.1e}")))
    };
    printed.lines().map(|line| row(line).ok_or_else(|| format!("`{line}` is no measurement"))).collect()
}
