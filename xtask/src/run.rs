//! Runs other programs from the root of the repository.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that started this chore.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command to its end, its output shown as it comes.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}")),
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// Runs a command to its end and returns what it printed.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`{shown}` could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` ended with {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{shown}` printed something that is not text"))
}

/// Runs a command for as long as it may take; returns what it printed by then, and whether it came to its
/// end. What it says on standard error is not shown.
pub fn bounded(command: &mut Command, limit: Duration) -> Result<(String, bool), String> {
    let shown = show(command);
    let failed = |error: std::io::Error| format!("`{shown}`: {error}");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let reader = child.stdout.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut printed = Vec::new();
            pipe.read_to_end(&mut printed).map(|_| printed)
        })
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if start.elapsed() > limit => {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if let Some(status) = status.filter(|status| !status.success()) {
        return Err(format!("`{shown}` ended with {status}"));
    }
    let printed = match reader.map(std::thread::JoinHandle::join) {
        Some(Ok(printed)) => printed.map_err(failed)?,
        _ => Vec::new(),
    };
    Ok((String::from_utf8_lossy(&printed).into_owned(), status.is_some()))
}

/// Tells whether a program is installed, by asking for its version.
pub fn installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A command as a person would type it.
fn show(command: &Command) -> String {
    let mut words = vec![Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}
