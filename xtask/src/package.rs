//! The Python package: its wheel, and its tests in an environment of their own.

use crate::python::{PACKAGE, environment, target};
use crate::run::{cargo, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the wheel that people install, optimised, in `target/wheels`.
pub fn wheel(arguments: &[String]) -> Result<(), String> {
    if let Some(extra) = arguments.first() {
        return Err(format!("takes no arguments, but was given `{extra}`"));
    }
    let python = environment("package", PACKAGE)?;
    let wheel = build(&python, "release", &target().join("wheels"))?;
    println!("\nThe wheel is {}; `pip install` takes it.", wheel.display());
    Ok(())
}

/// Builds the package, installs it, checks its types and runs its tests.
pub fn test() -> Result<(), String> {
    let python = environment("package", PACKAGE)?;
    let wheel = build(&python, "dev", &target().join("package-wheels"))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    run(Command::new(&python).args(install).arg("--force-reinstall").arg(&wheel))?;
    run(Command::new(&python).current_dir(root()).args(["-m", "mypy"]))?;
    run(cargo().args(["build", "--locked", "-p", "paynter-cli"]))?;
    let command = target().join(format!("debug/paynter{}", std::env::consts::EXE_SUFFIX));
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    run(Command::new(&python).current_dir(root()).args(pytest).env("PAYNTER_COMMAND", command))
}

/// Builds a wheel into a folder that holds no other.
fn build(python: &Path, profile: &str, folder: &Path) -> Result<PathBuf, String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let maturin = ["-m", "maturin", "build", "--locked", "--profile", profile, "--interpreter"];
    run(Command::new(python).current_dir(root()).args(maturin).arg(python).arg("--out").arg(folder))?;
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let wheels = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut wheels: Vec<PathBuf> =
        wheels.filter(|path| path.extension().is_some_and(|e| e == "whl")).collect();
    wheels.pop().ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))
}
