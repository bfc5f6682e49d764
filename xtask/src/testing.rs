//! The workspace's tests: all binaries are built at once, then as many jobs run beside each other as there are cores,
//! the longest first. One binary after the other, as cargo runs them, leaves cores idle behind the last test of each. A
//! crate's integration tests are few binaries, because linking is most of their cost; a job is one file of them.

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

/// Runs all tests with some variables set. None is skipped when another fails. Some ask oracles in Python.
pub fn run(variables: &[(&str, &str)]) -> Result<(), String> {
    run_those(variables, |_| true)
}

/// Runs the tests of those jobs whose name is `wanted`.
pub fn run_those(variables: &[(&str, &str)], wanted: impl Fn(&str) -> bool) -> Result<(), String> {
    crate::python::environment("python", crate::python::ORACLES)?;
    let mut jobs = jobs()?;
    jobs.retain(|job| wanted(&job.name));
    let times = Times::read();
    // What has never been timed may be the longest of all.
    jobs.sort_by_key(|job| std::cmp::Reverse(times.of(&job.name).unwrap_or(Duration::MAX)));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(VecDeque::from(jobs));
    let (sender, receiver) = mpsc::channel();
    let results = std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some(job) = next() {
                    let result = job.run(variables);
                    if sender.send((job, result)).is_err() {
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
        names => Err(format!("{} of {} test jobs failed: {}", names.len(), results.len(), names.join(", "))),
    }
}

/// Tells of each job as it ends.
fn collect(receiver: mpsc::Receiver<(Job, Result<Outcome, String>)>) -> Vec<Outcome> {
    let mut results = Vec::new();
    for (job, result) in receiver {
        let outcome = result.unwrap_or_else(|printed| Outcome {
            name: job.name,
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

/// A test binary: the unit tests of a crate, a file of its folder `tests`, or a folder of files there.
struct Binary {
    package: String,
    /// The file, where it is one.
    name: String,
    path: PathBuf,
    /// The folder of its crate, in which cargo runs it.
    folder: PathBuf,
    /// Whether it is a folder of files, each a module of its own.
    has_files: bool,
}

/// The tests that run in one process: those of one file.
struct Job {
    /// The crate, and the file where it is one.
    name: String,
    path: PathBuf,
    folder: PathBuf,
    /// The names of its tests, where the binary holds those of other files as well.
    tests: Vec<String>,
}

/// How the run of a job ended.
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
        let (name, has_files) = match target["kind"][0].as_str()? {
            "test" => {
                (target["name"].as_str()?.to_owned(), target["src_path"].as_str()?.ends_with("main.rs"))
            }
            kind => (format!("({kind})"), false),
        };
        Some(Binary { package, name, path, folder, has_files })
    }

    /// The jobs that its tests are: one for each file.
    fn jobs(self) -> Result<Vec<Job>, String> {
        let job = |file: &str, tests: Vec<String>| Job {
            name: format!("{} {file}", self.package),
            path: self.path.clone(),
            folder: self.folder.clone(),
            tests,
        };
        if !self.has_files {
            return Ok(vec![job(&self.name, Vec::new())]);
        }
        let listed = output(Command::new(&self.path).args(["--list", "--format=terse"]))?;
        Ok(by_file(&listed).into_iter().map(|(file, tests)| job(file, tests)).collect())
    }
}

/// The tests that a binary lists, by the file they stand in.
fn by_file(listed: &str) -> BTreeMap<&str, Vec<String>> {
    let mut files = BTreeMap::<&str, Vec<String>>::new();
    for test in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
        let file = test.split_once("::").map_or("main", |(file, _)| file);
        files.entry(file).or_default().push(test.to_owned());
    }
    files
}

impl Job {
    /// Runs its tests one after the other: other jobs run beside them.
    fn run(&self, variables: &[(&str, &str)]) -> Result<Outcome, String> {
        let start = Instant::now();
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.envs(variables.iter().copied()).arg("--test-threads=1");
        if !self.tests.is_empty() {
            command.arg("--exact").args(&self.tests);
        }
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

/// Builds the test binaries and lists what they have to do.
fn jobs() -> Result<Vec<Job>, String> {
    let messages = output(cargo().args(BUILD).arg("--message-format=json-render-diagnostics"))?;
    let jobs: Result<Vec<Vec<Job>>, String> =
        messages.lines().filter_map(Binary::from_message).map(Binary::jobs).collect();
    Ok(jobs?.into_iter().flatten().collect())
}

/// How long each job took when it was last run.
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
        let message = |test: bool, kind: &str, file: &str| {
            format!(
                r#"{{"reason": "compiler-artifact", "manifest_path": "/a/crates/paynter-graph/Cargo.toml",
                "target": {{"kind": ["{kind}"], "name": "suite", "src_path": "/a/crates/paynter-graph/{file}"}},
                "profile": {{"test": {test}}}, "executable": "/a/target/debug/deps/suite-1"}}"#
            )
        };
        let binary = Binary::from_message(&message(true, "test", "tests/suite/main.rs")).unwrap();
        assert_eq!((binary.name.as_str(), binary.has_files), ("suite", true));
        assert_eq!(binary.folder, Path::new("/a/crates/paynter-graph"));
        let alone = Binary::from_message(&message(true, "lib", "src/lib.rs")).unwrap().jobs().unwrap();
        let [job] = &alone[..] else { panic!("one job") };
        assert_eq!((job.name.as_str(), job.tests.len()), ("paynter-graph (lib)", 0));
        assert!(Binary::from_message(&message(false, "bin", "src/main.rs")).is_none());
        assert!(Binary::from_message(r#"{"reason": "build-finished", "success": true}"#).is_none());
    }

    #[test]
    fn a_job_is_a_file() {
        let listed =
            "flattening::arrays: test\nlecture::motor: test\nflattening::inner::scopes: test\n\n3 tests\n";
        let jobs = by_file(listed);
        assert_eq!(jobs.keys().copied().collect::<Vec<_>>(), ["flattening", "lecture"]);
        assert_eq!(jobs["flattening"], ["flattening::arrays", "flattening::inner::scopes"]);
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
