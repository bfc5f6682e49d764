//! The work behind each verb.

use crate::metadata::Metadata;
use crate::run::{cargo, installed, root, run};
use crate::{layers, licences, pages, rivals, solvers};
use std::process::Command;

/// One thing that must pass: its name and the work.
type Step = (&'static str, fn() -> Result<(), String>);

/// Everything that must pass before a change lands. The tests against Python
/// oracles find their environment below target/, so it is made before them.
const STEPS: &[Step] = &[
    ("format", || run(cargo().args(["fmt", "--all", "--check"]))),
    ("lints", || {
        run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
    }),
    ("python", || python(&[])),
    ("tests", || run(cargo().args(["test", "--workspace", "--locked"]))),
    ("docs", || {
        let mut doc = cargo();
        doc.args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("pages", || report(pages::complaints(&root().join("docs/src"))?)),
    ("layers", || report(layers::complaints(&Metadata::read()?))),
    ("licences", || {
        let deny =
            std::fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
        report(licences::complaints(&Metadata::read()?, &deny))
    }),
];

/// Runs all steps, or those named. None is skipped when another fails, so
/// that one round shows all that is wrong.
pub fn test(arguments: &[String]) -> Result<(), String> {
    if let Some(unknown) = arguments.iter().find(|name| !STEPS.iter().any(|(step, _)| step == name)) {
        let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no step `{unknown}`; the steps are {}", names.join(", ")));
    }
    let chosen = |name: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == name);
    let steps: Vec<&Step> = STEPS.iter().filter(|(name, _)| chosen(name)).collect();
    let mut failed = Vec::new();
    for (name, step) in &steps {
        println!("\n=== {name}");
        match step() {
            Ok(()) => println!("=== {name}: passed"),
            Err(message) => {
                println!("=== {name}: FAILED: {message}");
                failed.push(*name);
            }
        }
    }
    println!();
    if failed.is_empty() {
        println!("All {} steps passed.", steps.len());
        return Ok(());
    }
    Err(format!("{} of {} steps failed: {}", failed.len(), steps.len(), failed.join(", ")))
}

/// The main job on a built-in example.
pub fn demo(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    run(cargo().args(["build", "--release", "--locked", "-p", "paynter-cli"]))?;
    for line in [
        "examples dc_motor --write target/demo --force",
        "check target/demo/dc_motor.bg",
        "causality target/demo/dc_motor.bg",
        "report target/demo/dc_motor.bg -o target/demo/dc_motor.html",
    ] {
        println!("\n$ paynter {line}");
        let quietly = ["run", "--release", "--locked", "--quiet", "-p", "paynter-cli", "--"];
        run(cargo().args(quietly).args(line.split(' ')))?;
    }
    println!("\nThe report is in target/demo/dc_motor.html; open it in a browser.");
    Ok(())
}

/// All benchmarks, those whose names contain a filter, or the comparison with rivals.
pub fn bench(arguments: &[String]) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["rivals"] => return rivals::compare().and_then(|()| solvers::compare(None)),
        ["rivals", "simulate"] => return solvers::compare(None),
        ["rivals", "simulate", case] => return solvers::compare(Some(case)),
        _ => {}
    }
    run(cargo().args(["bench", "--workspace", "--locked", "--benches", "--"]).args(arguments))
}

/// One fuzz target for some seconds, by libFuzzer's coverage on the stable
/// toolchain: the flags are those of cargo-fuzz without a sanitizer, which
/// safe Rust does not need.
pub fn fuzz(arguments: &[String]) -> Result<(), String> {
    const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1";
    let folder = root().join("fuzz");
    let [target, seconds] = arguments else {
        let targets =
            std::fs::read_dir(folder.join("fuzz_targets")).map_err(|e| format!("fuzz_targets: {e}"))?;
        let mut names: Vec<String> = targets
            .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        return Err(format!("say `cargo xtask fuzz TARGET SECONDS`; the targets are {}", names.join(", ")));
    };
    seconds.parse::<u32>().map_err(|_| format!("`{seconds}` is no number of seconds"))?;
    // Host and target are told apart, so that build scripts are built without the flags.
    let host = host()?;
    let corpus = folder.join("corpus").join(target);
    let crashes = folder.join("artifacts").join(target);
    for path in [&corpus, &crashes] {
        std::fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    run(cargo()
        .current_dir(&folder)
        .env("RUSTFLAGS", FLAGS)
        .args(["run", "--release", "--target", &host, "--bin", target, "--"])
        .args([&corpus, &root().join("examples"), &root().join("crates/paynter-cli/tests/bad")])
        .arg(format!("-artifact_prefix={}/", crashes.display()))
        .arg(format!("-dict={}", folder.join("model.dict").display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]))
}

/// The properties of random bond graphs, on as many seeds as asked for.
pub fn random(arguments: &[String]) -> Result<(), String> {
    let (seeds, from) = match arguments {
        [seeds] => (seeds, "0"),
        [seeds, from] => (seeds, from.as_str()),
        _ => return Err("say `cargo xtask random SEEDS [FROM]`".to_owned()),
    };
    for number in [seeds, from] {
        number.parse::<u64>().map_err(|_| format!("`{number}` is no number of seeds"))?;
    }
    let tests = [
        ("paynter-graph", "random_causality"),
        ("paynter-equations", "random"),
        ("paynter-equations", "sensitivity"),
        ("paynter-transform", "random"),
        ("paynter-numerics", "frequency"),
        ("paynter-simulate", "random"),
        ("paynter", "simulate"),
        ("paynter", "trajectories"),
        ("paynter", "energy"),
        ("paynter", "sensitivity"),
    ];
    for (package, test) in tests {
        let words = ["test", "--locked", "--release", "-p", package, "--test", test];
        run(cargo().env("PAYNTER_RANDOM", seeds).env("PAYNTER_RANDOM_FROM", from).args(words))?;
    }
    Ok(())
}

/// The Python environment of the tests.
pub fn python(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    crate::python::environment("python", crate::python::ORACLES).map(|_| ())
}

/// The exported MATLAB programs, in Octave.
pub fn octave(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    if !installed("octave") {
        return Err("octave is not installed; it is a package of most systems".to_owned());
    }
    let words = ["test", "--locked", "--workspace", "--test", "exports", "octave", "--", "--ignored"];
    run(cargo().args(words))
}

/// The name of this machine's platform.
fn host() -> Result<String, String> {
    let text = crate::run::output(Command::new("rustc").arg("-vV"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}

/// The handbook as web pages.
pub fn docs(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    if !installed("mdbook") {
        return Err("mdbook is not installed; `cargo install --locked mdbook` installs it".to_owned());
    }
    run(Command::new("mdbook").current_dir(root()).args([
        "build",
        "docs",
        "--dest-dir",
        "../target/handbook",
    ]))?;
    println!("the handbook is target/handbook/index.html");
    Ok(())
}

/// The committed JSON schemas.
pub fn schemas(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    run(cargo().args(["test", "--quiet", "-p", "paynter-view", "--test", "schemas"]).env("UPDATE", "1"))
}

/// Everything the tests compare with.
pub fn update(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    run(cargo().args(["test", "--quiet", "--workspace"]).env("UPDATE", "1").env("INSTA_UPDATE", "always"))
}

/// cargo-deny itself, where it is installed.
pub fn deny(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    if !installed("cargo-deny") {
        return Err("cargo-deny is not installed; `cargo install --locked cargo-deny` installs it".to_owned());
    }
    run(cargo().args(["deny", "check", "licenses", "bans", "sources"]))
}

/// Refuses arguments for a verb that has none.
fn none(arguments: &[String]) -> Result<(), String> {
    match arguments.first() {
        None => Ok(()),
        Some(extra) => Err(format!("takes no arguments, but was given `{extra}`")),
    }
}

/// Fails with all complaints, or passes where there are none.
fn report(complaints: Vec<String>) -> Result<(), String> {
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() { Ok(()) } else { Err(format!("{} complaints", complaints.len())) }
}
