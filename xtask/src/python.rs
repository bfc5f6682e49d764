//! Python environments below target/: one for the tests' oracles, made from
//! requirements files in the repository. A finished environment keeps a copy
//! of its requirements, so that it is made again only where those change.

use crate::run::{root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests' oracles need.
pub const ORACLES: &str = "tests/oracles/requirements.txt";

/// What the tests of the Python package need.
pub const PACKAGE: &str = "tests/python/requirements.txt";

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Makes the environments of all tests.
pub fn environments() -> Result<(), String> {
    [("python", ORACLES), ("package", PACKAGE)]
        .into_iter()
        .try_for_each(|(name, list)| environment(name, list).map(|_| ()))
}

/// Makes the environment `target/NAME` unless it is there, and returns its interpreter.
pub fn environment(name: &str, requirements: &str) -> Result<PathBuf, String> {
    let folder = target().join(name);
    let python = interpreter(&folder);
    let list = root().join(requirements);
    let wanted = std::fs::read_to_string(&list).map_err(|e| format!("{requirements}: {e}"))?;
    let stamp = folder.join("requirements.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let python = anew(name)?;
    let install = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", "-r"];
    run(Command::new(&python).args(install).arg(&list)).map_err(hint)?;
    write(&stamp, &wanted)?;
    Ok(python)
}

/// Makes the environment `target/NAME`, empty, in the place of one that is there, and returns its interpreter.
pub fn anew(name: &str) -> Result<PathBuf, String> {
    let folder = target().join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system).args(["-m", "venv"]).arg(&folder)).map_err(hint)?;
    Ok(interpreter(&folder))
}

fn interpreter(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

fn hint(message: String) -> String {
    format!("{message}; the tests need Python 3.11 or newer with venv and pip, and its package index")
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
