//! The workspace's tests: all binaries are built at once, then as many run beside each other as there are cores, the
//! longest first. One binary after the other, as cargo runs them, leaves cores idle behind the last test of each.

use crate::python::target;
use crate::run::{cargo, output};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// What the tests need of one build: libraries (Python's extension module is one), commands and test binaries.
const BUILD: [&str; 6] = ["build", "--workspace", "--locked", "--lib", "--bins", "--tests"];

/// Builds all that the tests run.
pub fn build() -> Result<(), String> {
    crate::run::run(cargo().args(BUILD))
}

/// Runs all test binaries with some variables set. None is skipped when another fails. Some ask oracles in Python.
pub fn run(variables: &[(&str, &str)]) -> Result<(), String> {
    crate::python::environment("python", crate::python::ORACLES)?;
    let mut binaries = binaries()?;
    let times = Times::read();
    // What has never been timed may be the longest of all.
    binaries.sort_by_key(|binary| std::cmp::Reverse(times.of(&binary.name).unwrap_or(Duration::MAX)));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(VecDeque::from(binaries));
    let (sender, receiver) = mpsc::channel();
    let results = std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some(binary) = next() {
                    let result = binary.run(variables);
                    if sender.send((binary, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        collect(receiver)
    });
    // Times of other seeds would tell nothing about the next run.
    if variables.is_empty() {
        times.write(&results);
    }
    let failed: Vec<&Outcome> = results.iter().filter(|outcome| !outcome.passed).collect();
    for outcome in &failed {
        println!("\n--- {}\n{}", outcome.name, outcome.printed.trim_end());
    }
    let names: Vec<&str> = failed.iter().map(|outcome| outcome.name.as_str()).collect();
    match names.as_slice() {
        [] => Ok(()),
        names => {
            Err(format!("{} of {} test binaries failed: {}", names.len(), results.len(), names.join(", ")))
        }
    }
}

/// Tells of each binary as it ends.
fn collect(receiver: mpsc::Receiver<(Binary, Result<Outcome, String>)>) -> Vec<Outcome> {
    let mut results = Vec::new();
    for (binary, result) in receiver {
        let outcome = result.unwrap_or_else(|printed| Outcome {
            name: binary.name,
            passed: false,
            summary: "could not be started".to_owned(),
            printed,
            time: Duration::ZERO,
        });
        let verdict = if outcome.passed { "" } else { "FAILED: " };
        println!("{:>6.1} s  {}: {verdict}{}", outcome.time.as_secs_f64(), outcome.name, outcome.summary);
        results.push(outcome);
    }
    results
}

/// A test binary: the unit tests of a crate, or one file of its folder `tests`.
struct Binary {
    /// The crate, and the file where it is one.
    name: String,
    path: PathBuf,
    /// The folder of its crate, in which cargo runs it.
    folder: PathBuf,
}

/// How the run of a binary ended.
struct Outcome {
    name: String,
    passed: bool,
    /// How many tests passed and failed.
    summary: String,
    printed: String,
    time: Duration,
}

impl Binary {
    /// Reads one of cargo's messages about what it has built.
    fn from_message(line: &str) -> Option<Binary> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["profile"]["test"].as_bool()?;
        let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let package = folder.file_name()?.to_string_lossy().into_owned();
        let target = &message["target"];
        let name = match target["kind"][0].as_str()? {
            "test" => format!("{package} {}", target["name"].as_str()?),
            kind => format!("{package} ({kind})"),
        };
        Some(Binary { name, path, folder })
    }

    /// Runs its tests one after the other: other binaries run beside them.
    fn run(&self, variables: &[(&str, &str)]) -> Result<Outcome, String> {
        let start = Instant::now();
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.envs(variables.iter().copied()).arg("--test-threads=1");
        let output = command.output().map_err(|error| format!("{}: {error}", self.path.display()))?;
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(Outcome {
            name: self.name.clone(),
            passed: output.status.success(),
            summary: summary(&printed[0]).unwrap_or_else(|| format!("ended with {}", output.status)),
            printed: printed.concat(),
            time: start.elapsed(),
        })
    }
}

/// How many tests passed, failed or were left out, of what a test binary prints at its end.
fn summary(printed: &str) -> Option<String> {
    let line = printed.lines().rev().find_map(|line| line.strip_prefix("test result: "))?;
    let counts = line.split(". ").nth(1)?.split("; ").take(3);
    let counts: Vec<&str> = counts.filter(|count| !count.starts_with("0 ")).collect();
    Some(if counts.is_empty() { "no tests".to_owned() } else { counts.join(", ") })
}

/// Builds the test binaries and lists them.
fn binaries() -> Result<Vec<Binary>, String> {
    let messages = output(cargo().args(BUILD).arg("--message-format=json-render-diagnostics"))?;
    Ok(messages.lines().filter_map(Binary::from_message).collect())
}

/// How long each binary took when it was last run.
struct Times(BTreeMap<String, f64>);

impl Times {
    fn file() -> PathBuf {
        target().join("test-times.json")
    }

    fn read() -> Times {
        let text = std::fs::read_to_string(Times::file()).unwrap_or_default();
        Times(serde_json::from_str(&text).unwrap_or_default())
    }

    fn of(&self, name: &str) -> Option<Duration> {
        self.0.get(name).and_then(|seconds| Duration::try_from_secs_f64(*seconds).ok())
    }

    /// Keeps the times of these runs; without them the next order is worse, and nothing else.
    fn write(self, results: &[Outcome]) {
        let times: BTreeMap<&str, f64> =
            results.iter().map(|outcome| (outcome.name.as_str(), outcome.time.as_secs_f64())).collect();
        if let Ok(text) = serde_json::to_string_pretty(&times) {
            let _ = std::fs::write(Times::file(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_read_from_cargos_messages() {
        let message = |test: bool, kind: &str| {
            format!(
                r#"{{"reason": "compiler-artifact", "manifest_path": "/a/crates/paynter-graph/Cargo.toml",
                "target": {{"kind": ["{kind}"], "name": "flattening"}}, "profile": {{"test": {test}}},
                "executable": "/a/target/debug/deps/flattening-1"}}"#
            )
        };
        let binary = Binary::from_message(&message(true, "test")).unwrap();
        assert_eq!(binary.name, "paynter-graph flattening");
        assert_eq!(binary.folder, Path::new("/a/crates/paynter-graph"));
        assert_eq!(Binary::from_message(&message(true, "lib")).unwrap().name, "paynter-graph (lib)");
        assert!(Binary::from_message(&message(false, "bin")).is_none());
        assert!(Binary::from_message(r#"{"reason": "build-finished", "success": true}"#).is_none());
    }

    #[test]
    fn results_are_summarised() {
        let line = "\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        assert_eq!(summary(line).as_deref(), Some("12 passed, 1 ignored"));
        let line = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(summary(line).as_deref(), Some("3 passed, 2 failed"));
        assert_eq!(summary("Segmentation fault"), None);
    }
}
