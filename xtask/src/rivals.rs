//! Paynter beside its rivals, in one run on one machine: each in its own
//! process, the rivals in a Python environment below target/.

use crate::run::{bounded, cargo, output, root, run};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What the rivals need.
const REQUIREMENTS: &str = "benches/rivals/requirements.txt";

/// A rival that takes longer is stopped, and reported as that.
const LIMIT: Duration = Duration::from_secs(60);

/// One comparison: our command on a model of some size, and the script that prints a rival's seconds.
struct Case {
    what: &'static str,
    model: &'static str,
    command: &'static [&'static str],
    rival: &'static str,
    script: &'static [&'static str],
    sizes: &'static [u32],
}

const CASES: &[Case] = &[
    Case {
        what: "equations of a chain",
        model: "benches/rivals/chain.bg",
        command: &["equations"],
        rival: "bondgraph",
        script: &["benches/rivals/chain.py", "bondgraph"],
        sizes: &[10, 20, 40],
    },
    Case {
        what: "equations of a chain",
        model: "benches/rivals/chain.bg",
        command: &["equations"],
        rival: "BondGraphTools",
        script: &["benches/rivals/chain.py", "BondGraphTools"],
        sizes: &[10, 40],
    },
    Case {
        what: "transfer function of an RLC ladder",
        model: "benches/rivals/ladder.bg",
        command: &["tf"],
        rival: "Lcapy",
        script: &["benches/rivals/ladder.py"],
        sizes: &[1, 2, 3, 4],
    },
    Case {
        what: "S(jω) of a chain, 200 frequencies, JSON",
        model: "benches/rivals/chain.bg",
        command: &["sensitivity", "--omega", "0.01:10:200"],
        rival: "SciPy (SuperLU)",
        script: &["benches/rivals/response.py"],
        sizes: &[100, 1000],
    },
];

/// Whole commands on the chain of 1,000 masses, start-up and JSON included, and the seconds that they may take
/// where SciPy's calculation of S(jω) takes 0.12.
const GOALS: &[(&[&str], f64)] =
    &[(&["equations"], 0.12), (&["sensitivity", "--omega", "0.01:10:200"], 0.20)];

/// Benchmarks that run a rival of their own beside them: their name, and the script that they do not start
/// themselves.
const BENCHES: &[(&str, Option<&str>)] = &[
    ("poly", Some("crates/paynter-algebra/benches/poly_flint.py")),
    ("derive", None),
    ("sensitivity", None),
    ("estimate", Some("benches/rivals/estimate.py")),
    ("mu", Some("benches/rivals/mu.py")),
];

/// Runs all comparisons.
pub fn compare() -> Result<(), String> {
    let python = crate::python::environment("rivals", REQUIREMENTS)?;
    run(cargo().args(["build", "--release", "--locked", "--workspace", "--bin", "paynter"]))?;
    let paynter = crate::python::target().join("release/paynter");
    println!("{:<38}{:>5}{:>14}   {:<18}{:>12}{:>10}", "case", "N", "Paynter", "rival", "", "ratio");
    for case in CASES {
        for &size in case.sizes {
            let ours = ours(&paynter, case.model, case.command, size)?;
            let theirs = match theirs(&python, case, size)? {
                Some(seconds) => format!("{:>9.1} ms{:>9.0}×", seconds * 1e3, seconds / ours),
                None => {
                    let seconds = LIMIT.as_secs_f64();
                    format!("{:>9} s{:>9.0}×", format!("> {seconds}"), seconds / ours)
                }
            };
            println!("{:<38}{size:>5}{:>11.1} ms   {:<18}{theirs}", case.what, ours * 1e3, case.rival);
        }
    }
    for (command, goal) in GOALS {
        let seconds = ours(&paynter, "benches/rivals/chain.bg", command, 1000)?;
        let verdict = if seconds <= *goal { "holds" } else { "missed" };
        println!(
            "{:<43}{:>11.1} ms   goal {:.0} ms: {verdict}",
            command.join(" "),
            seconds * 1e3,
            goal * 1e3
        );
    }
    for (bench, script) in BENCHES {
        println!("\n=== {bench}");
        let words = ["bench", "--locked", "--workspace", "--bench", bench];
        run(cargo().args(words).env("PAYNTER_PYTHON", &python))?;
        if let Some(script) = script {
            println!("--- {script}");
            run(Command::new(&python).current_dir(root()).arg(script))?;
        }
    }
    Ok(())
}

/// The seconds of processor time that a rival says it took, or nothing where it takes too long.
fn theirs(python: &Path, case: &Case, size: u32) -> Result<Option<f64>, String> {
    let mut command = Command::new(python);
    command.current_dir(root()).args(case.script).arg(size.to_string());
    let (text, ended) = bounded(&mut command, LIMIT)?;
    if !ended {
        return Ok(None);
    }
    let last = text.lines().last().unwrap_or_default();
    last.trim().parse().map(Some).map_err(|_| format!("{} printed `{last}`, no seconds", case.rival))
}

/// The seconds of our whole command, start-up included: the best of five runs.
fn ours(paynter: &Path, model: &str, command: &[&str], size: u32) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let mut process = Command::new(paynter);
        process.current_dir(root()).args(command).args([model, "--json", "--set", &format!("N={size}")]);
        let start = Instant::now();
        output(&mut process)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
