//! Simulation with sensitivities beside other solvers, in one run on one
//! machine with one thread each. Every tool gets the loosest tolerance, and
//! the best of its methods, that keeps the same measured error.

use crate::python::{environment, target};
use crate::run::{cargo, output, root, run};
use std::process::Command;

/// Our benchmark's name for each case, and what it is.
const CASES: &[(&str, &str)] = &[
    ("tanks", "two conical tanks with 4 sensitivities"),
    ("chain10", "chain of 10 masses with 30 sensitivities"),
    ("chain100", "chain of 100 masses with 300 sensitivities"),
    ("robertson", "Robertson's kinetics with 3 sensitivities"),
];

/// The crate with the solvers that are called from Rust.
const CRATE: &str = "benches/rivals/solvers";

/// What a tool needed: its name and method, seconds, and error.
type Row = (String, f64, String);

/// Runs all comparisons, or the case of a name.
pub fn compare(only: Option<&str>) -> Result<(), String> {
    let python = environment("rivals-solvers", &format!("{CRATE}/requirements.txt"))?;
    let folder = target().join("references");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let build = target().join("rivals-build");
    // The rivals get what our kernels choose at run time: all instructions of this machine.
    run(cargo()
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(root().join(CRATE).join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &build)
        .env("CFLAGS", "-O3 -march=native")
        .env("RUSTFLAGS", "-C target-cpu=native"))?;
    let rivals = build.join("release/rival-solvers");
    for (case, title) in CASES {
        if only.is_some_and(|only| only != *case) {
            continue;
        }
        println!("\n{title}");
        let mut ours = cargo();
        ours.args(["bench", "--locked", "-p", "paynter-numerics", "--bench", "simulate", "--", case])
            .env("PAYNTER_REFERENCES", &folder);
        let file = folder.join(case);
        let mut rows = rows(&output(&mut ours)?)?;
        let Some(base) = rows.first().map(|row| row.1) else {
            return Err(format!("no tolerance of ours keeps the error of {case}"));
        };
        for tool in ["cvodes", "diffsol", "casadi", "diffrax", "scipy"] {
            let mut command = match tool {
                "cvodes" | "diffsol" => Command::new(&rivals),
                _ => {
                    let mut command = Command::new(&python);
                    command.arg(root().join("benches/rivals/simulate.py"));
                    command
                }
            };
            // One thread each.
            for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"] {
                command.env(name, "1");
            }
            command.env("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1");
            command.args([tool, case]).arg(&file);
            let mut found = self::rows(&output(&mut command)?)?;
            found.sort_by(|a, b| a.1.total_cmp(&b.1));
            match found.into_iter().next() {
                Some(best) => rows.push(best),
                None => println!("  {tool}: no tolerance keeps the error"),
            }
        }
        println!("  {:<44}{:>12}{:>10}{:>10}", "", "", "error", "ratio");
        for (tool, seconds, error) in rows {
            println!("  {tool:<44}{:>9.1} µs{error:>10}{:>9.2}×", seconds * 1e6, seconds / base);
        }
    }
    Ok(())
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
