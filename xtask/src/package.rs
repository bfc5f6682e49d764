//! The Python package: its wheel, and its tests in an environment of their own.

use crate::python::{PACKAGE, anew, environment, target};
use crate::run::{root, run};
use crate::testing;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the wheel that people install, optimised, in `target/wheels`.
pub fn wheel(arguments: &[String]) -> Result<(), String> {
    if let Some(extra) = arguments.first() {
        return Err(format!("takes no arguments, but was given `{extra}`"));
    }
    let python = environment("package", PACKAGE)?;
    let wheel = build(&python, &target().join("wheels"))?;
    println!("\nThe wheel is {}; `pip install` takes it.", wheel.display());
    Ok(())
}

/// Checks the package's types and runs its tests, with the extension module that the workspace's own development
/// build makes: maturin would choose other features and compile everything once more.
pub fn test() -> Result<(), String> {
    let python = environment("package", PACKAGE)?;
    testing::build()?;
    let site = assemble()?;
    // As an installation does.
    run(Command::new(&python).args(["-m", "compileall", "-q"]).arg(&site))?;
    run(Command::new(&python).current_dir(root()).args(["-m", "mypy"]))?;
    let command = target().join(format!("debug/paynter{}", std::env::consts::EXE_SUFFIX));
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10"];
    let mut tests = Command::new(&python);
    tests.current_dir(root()).args(pytest).env("PAYNTER_COMMAND", command).env("PYTHONPATH", site);
    run(&mut tests)
}

/// Makes the wheel and tries it as a new user would: in an environment that holds nothing else.
pub fn fresh(arguments: &[String]) -> Result<(), String> {
    wheel(arguments)?;
    let python = anew("package-fresh")?;
    let wheels = target().join("wheels");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(install).arg(only_wheel(&wheels)?))?;
    let trial = "import paynter; run = paynter.examples.dc_motor.simulate(0.1, sensitivity='all'); \
        print(run, run['w', 'Ra'][-1])";
    run(Command::new(&python).args(["-c", trial]))
}

/// The package as it is installed, in a folder for Python's path: the module beside the sources.
fn assemble() -> Result<PathBuf, String> {
    let site = target().join("package-site");
    let package = site.join("paynter");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if site.exists() {
        std::fs::remove_dir_all(&site).map_err(|e| failed(&site, e))?;
    }
    std::fs::create_dir_all(&package).map_err(|e| failed(&package, e))?;
    let sources = root().join("crates/paynter-python/python/paynter");
    for entry in std::fs::read_dir(&sources).map_err(|e| failed(&sources, e))? {
        let path = entry.map_err(|e| failed(&sources, e))?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            std::fs::copy(&path, package.join(name)).map_err(|e| failed(&path, e))?;
        }
    }
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let module = target().join(format!("debug/{prefix}_paynter{suffix}"));
    let name = if cfg!(windows) { "_paynter.pyd" } else { "_paynter.abi3.so" };
    // The development build's module is large: a link serves where the system has links.
    let placed = package.join(name);
    if std::fs::hard_link(&module, &placed).is_err() {
        std::fs::copy(&module, &placed).map_err(|e| failed(&module, e))?;
    }
    Ok(site)
}

/// Builds a wheel into a folder that holds no other.
fn build(python: &Path, folder: &Path) -> Result<PathBuf, String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let maturin = ["-m", "maturin", "build", "--locked", "--profile", "release", "--interpreter"];
    run(Command::new(python).current_dir(root()).args(maturin).arg(python).arg("--out").arg(folder))?;
    only_wheel(folder)
}

/// The wheel in a folder.
fn only_wheel(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let wheels = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut wheels: Vec<PathBuf> =
        wheels.filter(|path| path.extension().is_some_and(|e| e == "whl")).collect();
    wheels.pop().ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))
}
