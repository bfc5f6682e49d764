//! The source files that the checks of texts, constants, kinds and the outside world read.

use std::path::{Path, PathBuf};

/// The folder of all crates.
pub fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// The Rust files of all crates but some, in order.
pub fn sources(except: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in entries(&crates()) {
        let exempt = except.iter().any(|name| entry.ends_with(name));
        if entry.join("src").is_dir() && !exempt {
            below(&entry.join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "only {} files were found", files.len());
    files
}

/// The Rust files below a folder.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in entries(folder) {
        match entry.is_dir() {
            true => below(&entry, found),
            false if entry.extension().is_some_and(|extension| extension == "rs") => found.push(entry),
            false => {}
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}
