//! Random models on other seeds than those of the ordinary tests: one seed to
//! replay, or many.

use crate::run::root;
use crate::testing;
use std::collections::BTreeSet;
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
    let names = seeded(&root().join("crates"))?;
    testing::run_those(&[("PAYNTER_RANDOM_FROM", seed), ("PAYNTER_RANDOM", count)], |name| {
        names.contains(name)
    })
}

/// The test files that run on seeds, also through a module that they share: the crate and the file.
fn seeded(crates: &Path) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for folder in entries(crates)? {
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tests = folder.join("tests");
        if !tests.is_dir() {
            continue;
        }
        let common = std::fs::read_to_string(tests.join("common/mod.rs")).unwrap_or_default();
        let shared = common.contains(MARK);
        let mut files = entries(&tests)?;
        for suite in files.clone().into_iter().filter(|path| path.join("main.rs").is_file()) {
            files.extend(entries(&suite)?);
        }
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let shares = text.contains("use crate::common;") || text.contains("mod common;");
            if text.contains(MARK) || shared && shares {
                found.insert(format!("{package} {}", path.file_stem().unwrap_or_default().to_string_lossy()));
            }
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
        let found = seeded(&root().join("crates")).unwrap();
        assert!(found.contains("paynter-graph random_causality"), "{found:?}");
        assert!(!found.contains("paynter-graph flattening"), "{found:?}");
        // Its seeds are in a module that it shares.
        assert!(found.contains("paynter-numerics frequency"), "{found:?}");
    }
}
