//! What the tests of the facade share: loading models, and running other programs.

#![allow(dead_code, reason = "each test file uses its own part of this module")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub mod kinds;
pub mod simulation;
pub mod values;

use paynter::{CancellationToken, Diagnostics, LoadOptions, MemoryWorld, Model, examples};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Loads a model, whatever is wrong with it.
pub fn load(text: &str) -> Model {
    load_with(text, &[])
}

/// Loads a model with other values.
pub fn load_with(text: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let world = MemoryWorld::new().with("model.bg", text);
    Model::load(&world, "model.bg", &LoadOptions { set, ..LoadOptions::default() })
}

/// Loads a model that has no errors.
pub fn sound(text: &str) -> Model {
    sound_with(text, &[])
}

/// Loads a model that has no errors at other values.
pub fn sound_with(text: &str, set: &[(&str, &str)]) -> Model {
    let model = load_with(text, set);
    let found = findings(&model);
    assert!(!found.has_errors(), "{:?}\n{text}", found.iter().collect::<Vec<_>>());
    model
}

/// What is wrong with a model, and what else a check finds.
pub fn findings(model: &Model) -> Diagnostics {
    model.findings(&CancellationToken::new()).unwrap()
}

/// The text of a built-in example.
pub fn example(name: &str) -> &'static str {
    examples::find(name).unwrap().text
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// What a program prints; it must succeed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?} cannot be started: {e}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{}\n{errors}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}
