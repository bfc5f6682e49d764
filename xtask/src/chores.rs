//! The work behind each verb that has no file of its own.

use crate::run::{cargo, installed, root, run};
use crate::{rivals, solvers};
use std::process::Command;

/// The main job on a built-in example.
pub fn demo(arguments: &[String]) -> Result<(), String> {
    none(arguments)?;
    let build = ["build", "--profile", "demo", "--locked", "-p", "paynter-cli"];
    run(cargo().args(build))?;
    let paynter = crate::python::target().join(format!("demo/paynter{}", std::env::consts::EXE_SUFFIX));
    for line in [
        "examples dc_motor --write target/demo --force",
        "check target/demo/dc_motor.bg",
        "causality target/demo/dc_motor.bg",
        "report target/demo/dc_motor.bg -o target/demo/dc_motor.html",
    ] {
        println!("\n$ paynter {line}");
        run(Command::new(&paynter).current_dir(root()).args(line.split(' ')))?;
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
        let names = targets()?.join(", ");
        return Err(format!("say `cargo xtask fuzz TARGET SECONDS`; the targets are {names}"));
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
        .args([&corpus, &root().join("examples"), &root().join("tests/wrong")])
        .arg(format!("-artifact_prefix={}/", crashes.display()))
        .arg(format!("-dict={}", folder.join("model.dict").display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]))
}

/// The names of the fuzz targets.
pub fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(folder).map_err(|e| format!("fuzz_targets: {e}"))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
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
    let words = ["test", "--locked", "--workspace", "--test", "model", "octave", "--", "--ignored"];
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
