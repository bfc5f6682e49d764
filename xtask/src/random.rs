//! Random models on other seeds than those of the ordinary tests: one seed to
//! replay, or many.

use crate::run::{cargo, root, run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A test file with this word runs on seeds.
const MARK: &str = "paynter_testkit::property";

/// Runs every test of random models from a seed on: that seed alone, or as many as asked for. None is
/// skipped when another fails.
pub fn random(arguments: &[String]) -> Result<(), String> {
    let (seed, count) = match arguments {
        [seed] => (seed, "1"),
        [seed, count] => (seed, count.as_str()),
        _ => return Err("say `cargo xtask random SEED [COUNT]`".to_owned()),
    };
    for number in [seed, count] {
        number.parse::<u64>().map_err(|_| format!("`{number}` is no number"))?;
    }
    let names: BTreeSet<String> = tests(&root().join("crates"))?.into_values().flatten().collect();
    let mut command = cargo();
    command.env("PAYNTER_RANDOM_FROM", seed).env("PAYNTER_RANDOM", count);
    // All crates together, as the ordinary tests are built: one crate alone has other features, and is built anew.
    command.args(["test", "--locked", "--no-fail-fast", "--workspace"]);
    for name in names {
        command.args(["--test", &name]);
    }
    run(&mut command)
}

/// The test files of each crate that run on seeds, also through a module that they share.
fn tests(crates: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut found = BTreeMap::new();
    for folder in entries(crates)? {
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tests = folder.join("tests");
        if !tests.is_dir() {
            continue;
        }
        let common = std::fs::read_to_string(tests.join("common/mod.rs")).unwrap_or_default();
        let shared = common.contains(MARK);
        let mut names = Vec::new();
        for path in entries(&tests)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            if text.contains(MARK) || shared && text.contains("mod common;") {
                names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
        if !names.is_empty() {
            found.insert(package, names);
        }
    }
    Ok(found)
}

/// What a folder holds, in order.
fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let list = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = list.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_on_seeds_are_found() {
        let found = tests(&root().join("crates")).unwrap();
        assert!(found["paynter-graph"].contains(&"random_causality".to_owned()), "{found:?}");
        assert!(!found["paynter-graph"].contains(&"flattening".to_owned()), "{found:?}");
        // Its seeds are in a module that it shares.
        assert!(found["paynter-numerics"].contains(&"frequency".to_owned()), "{found:?}");
    }
}
