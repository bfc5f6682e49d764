//! Runs the built command in a folder of its own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file uses its own part of this module")]

pub mod schema;

use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run left behind.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// How long it worked: its processor time, where the system tells.
    pub worked: Duration,
}

impl Run {
    /// The one JSON document on standard output; nothing may be on standard error beside it.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in:\n{}", self.stdout))
    }
}

/// The processor time of a command that has ended but is not yet waited for, where the system tells: it tells more
/// than the clock where a machine has other work.
fn processor_time(process: u32) -> Option<Duration> {
    /// Ticks of a second in which Linux tells the times of processes.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command's name stands in brackets before and may hold spaces; user and system time are the 12th and 13th
    // field after it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(Duration::from_secs_f64((ticks()? + ticks()?) / TICKS))
}

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Runs `paynter` in a folder with some bytes on standard input.
pub fn paynter_with(folder: &Path, arguments: &[&str], input: &[u8]) -> Run {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .current_dir(folder)
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses early closes its input, which is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| err.read_to_string(&mut stderr).unwrap());
        out.read_to_string(&mut stdout).unwrap();
    });
    let worked = processor_time(child.id()).unwrap_or_else(|| started.elapsed());
    let run = Run { code: child.wait().unwrap().code(), stdout, stderr, worked };
    assert!(!run.stderr.contains("panicked"), "paynter {arguments:?}:\n{}", run.stderr);
    run
}

/// Runs `paynter` in a folder.
pub fn paynter(folder: &Path, arguments: &[&str]) -> Run {
    paynter_with(folder, arguments, b"")
}
