//! Checks that the code map is true: ARCHITECTURE.md has a section for every crate, and every file and folder that it
//! names is where it says.

use crate::run::root;
use std::path::Path;

/// The files and folders that a text names, each with the crate of its section.
fn named(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let quoted = || line.split('`').skip(1).step_by(2);
        if line.starts_with("### ") {
            section = quoted().next().unwrap_or_default().to_owned();
            found.push((section.clone(), String::new()));
        }
        let is_path = |name: &&str| {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
            plain && !name.starts_with("crates/") && (name.ends_with(".rs") || name.ends_with('/'))
        };
        found.extend(quoted().filter(is_path).map(|name| (section.clone(), name.to_owned())));
    }
    found
}

/// Whether a file or folder is below another, whatever lies between.
fn is_below(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    folder.join(name).exists()
        || entries.map(|entry| entry.path()).filter(|path| path.is_dir()).any(|path| is_below(&path, name))
}

#[test]
fn what_the_code_map_names_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = named(&text);
    assert!(named.len() > 100, "only {} names were found", named.len());
    // Some are told by the crate they are in.
    let exists = |(section, name): &&(String, String)| {
        let places = [root().join(section), root(), root().join("docs/src")];
        places.iter().any(|place| place.join(name).exists()) || is_below(&root().join("crates"), name)
    };
    let missing: Vec<_> = named.iter().filter(|entry| !exists(entry)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_crate_is_in_the_code_map() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(text.contains(&format!("### `crates/{name}`")), "{name} has no section");
    }
}
