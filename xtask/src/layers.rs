//! Checks which crate may depend on which: dependencies only point to crates
//! above in the table of ARCHITECTURE.md, and some libraries are reserved for
//! the crates whose business they are.

use crate::metadata::Metadata;

/// The project's crates with what each may use of the others when it ships.
/// Tests may use anything that does not depend on them.
const LAYERS: &[(&str, &[&str])] = &[
    ("paynter-base", &[]),
    ("paynter-language", &["paynter-base"]),
    ("paynter-algebra", &["paynter-base"]),
    ("paynter-graph", &["paynter-base", "paynter-language", "paynter-algebra"]),
    ("paynter-equations", &["paynter-base", "paynter-algebra", "paynter-graph"]),
    // Independent of the passes whose answers it checks.
    ("paynter-verify", &["paynter-base", "paynter-algebra", "paynter-graph"]),
    ("paynter-transform", &["paynter-base", "paynter-language", "paynter-algebra", "paynter-graph"]),
    // Puts its answers into the graph's own equations before it gives them.
    (
        "paynter-numerics",
        &["paynter-base", "paynter-algebra", "paynter-graph", "paynter-equations", "paynter-verify"],
    ),
    // Matrices in, bounds out: knows no graph.
    ("paynter-robust", &["paynter-base"]),
    // Numbers in, statistics out: knows no model.
    ("paynter-ensemble", &["paynter-base"]),
    ("paynter-draw", &["paynter-base", "paynter-algebra", "paynter-graph"]),
    (
        "paynter-interconnect",
        &["paynter-base", "paynter-algebra", "paynter-graph", "paynter-equations", "paynter-transform"],
    ),
    (
        "paynter-export",
        &["paynter-base", "paynter-algebra", "paynter-graph", "paynter-equations", "paynter-interconnect"],
    ),
    (
        "paynter-simulate",
        &[
            "paynter-base",
            "paynter-algebra",
            "paynter-graph",
            "paynter-equations",
            "paynter-verify",
            "paynter-transform",
            "paynter-numerics",
        ],
    ),
    (
        "paynter-estimate",
        &[
            "paynter-base",
            "paynter-language",
            "paynter-algebra",
            "paynter-graph",
            "paynter-equations",
            "paynter-numerics",
            "paynter-simulate",
            "paynter-ensemble",
        ],
    ),
    (
        "paynter-view",
        &[
            "paynter-base",
            "paynter-algebra",
            "paynter-graph",
            "paynter-equations",
            "paynter-interconnect",
            "paynter-numerics",
            "paynter-robust",
            "paynter-simulate",
            "paynter-ensemble",
            "paynter-estimate",
            "paynter-draw",
            "paynter-export",
        ],
    ),
    (
        "paynter",
        &[
            "paynter-base",
            "paynter-language",
            "paynter-algebra",
            "paynter-graph",
            "paynter-equations",
            "paynter-transform",
            "paynter-interconnect",
            "paynter-numerics",
            "paynter-robust",
            "paynter-simulate",
            "paynter-ensemble",
            "paynter-estimate",
            "paynter-draw",
            "paynter-export",
            "paynter-verify",
            "paynter-view",
        ],
    ),
    ("paynter-cli", &["paynter"]),
    ("paynter-python", &["paynter"]),
    ("paynter-studio", &["paynter"]),
    // Makes models and oracles for the tests of the others; never ships.
    ("paynter-testkit", &["paynter-base", "paynter-language", "paynter-algebra", "paynter-graph"]),
    ("xtask", &[]),
];

/// Libraries that only some crates may use, tests aside.
const RESERVED: &[(&str, &[&str])] = &[
    ("annotate-snippets", &["paynter-cli"]),
    ("anstream", &["paynter-cli"]),
    ("clap", &["paynter-cli"]),
    ("clap_complete", &["paynter-cli"]),
    ("ctrlc", &["paynter-cli"]),
    ("dashu-int", &["paynter-algebra", "paynter-numerics", "paynter-testkit"]),
    ("dashu-ratio", &["paynter-algebra", "paynter-testkit"]),
    ("indicatif", &["paynter-cli"]),
    ("logos", &["paynter-language"]),
    ("numpy", &["paynter-python"]),
    ("pyo3", &["paynter-python"]),
    ("rowan", &["paynter-language"]),
    ("resvg", &["paynter-draw"]),
    ("schemars", &["paynter-view"]),
    ("serde", &["paynter-view", "paynter-cli", "paynter-python", "paynter-studio"]),
    ("serde_json", &["paynter-view", "paynter-python", "paynter-studio", "xtask"]),
    ("ttf-parser", &["paynter-draw"]),
    ("unicode-normalization", &["paynter-language"]),
];

/// Lists what is wrong, one sentence each.
pub fn violations(metadata: &Metadata) -> Vec<String> {
    let own = metadata.own();
    let mut found = Vec::new();
    for (name, package) in &own {
        let Some((_, permitted)) = LAYERS.iter().find(|(layer, _)| layer == name) else {
            found.push(format!("{name} is not in the table of xtask/src/layers.rs"));
            continue;
        };
        for (dependency, _) in package.dependencies.iter().filter(|(_, ships)| *ships) {
            if own.contains_key(dependency.as_str()) && !permitted.contains(&dependency.as_str()) {
                found.push(format!("{name} may not depend on {dependency}"));
            }
            let reserved = RESERVED.iter().find(|(library, _)| library == dependency);
            if let Some((_, users)) = reserved.filter(|(_, users)| !users.contains(name)) {
                found.push(format!(
                    "{name} may not use {dependency}, which is reserved for {}",
                    users.join(", ")
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;

    #[test]
    fn the_workspace_keeps_its_layers() {
        let metadata = Metadata::read().unwrap();
        assert!(
            metadata.own().contains_key("paynter-base"),
            "cargo metadata lists no crate of the workspace"
        );
        assert_eq!(violations(&metadata), Vec::<String>::new());
    }

    #[test]
    fn the_table_itself_points_upward() {
        for (row, (name, permitted)) in LAYERS.iter().enumerate() {
            let above: Vec<&str> = LAYERS[..row].iter().map(|(above, _)| *above).collect();
            assert!(permitted.iter().all(|p| above.contains(p)), "{name} points downward");
        }
    }

    #[test]
    fn a_wrong_dependency_is_named() {
        let package = |name: &str, dependencies: &[(&str, bool)]| Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: "MIT".to_owned(),
            source: None,
            dependencies: dependencies.iter().map(|(d, ships)| ((*d).to_owned(), *ships)).collect(),
        };
        let metadata = Metadata {
            packages: vec![
                package("paynter-base", &[("paynter-language", false), ("clap", true)]),
                package("paynter-language", &[("paynter-base", true), ("paynter-graph", true)]),
                package("paynter-graph", &[]),
                package("paynter-extra", &[]),
            ],
        };
        assert_eq!(
            violations(&metadata),
            [
                "paynter-base may not use clap, which is reserved for paynter-cli",
                "paynter-extra is not in the table of xtask/src/layers.rs",
                "paynter-language may not depend on paynter-graph",
            ]
        );
    }
}
