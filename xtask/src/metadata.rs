//! What cargo knows about the workspace and everything it is built from.

use crate::run;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One package of the dependency tree.
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The licence expression, empty where none is declared.
    pub licence: String,
    /// Where it comes from; absent for the workspace's own.
    pub source: Option<String>,
    /// Names of the packages it is declared to depend on, with whether it ships (false: only for tests).
    pub dependencies: Vec<(String, bool)>,
}

/// The packages of the workspace and of the whole tree.
pub struct Metadata {
    /// All packages that any build of the workspace uses.
    pub packages: Vec<Package>,
}

impl Metadata {
    /// Asks cargo.
    pub fn read() -> Result<Metadata, String> {
        let text = run::output(run::cargo().args(["metadata", "--format-version=1", "--locked"]))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        Ok(Metadata::from_json(&value))
    }

    /// Reads cargo's own format.
    pub fn from_json(value: &Value) -> Metadata {
        let used: BTreeSet<&str> =
            list(&value["resolve"]["nodes"]).iter().map(|node| text(&node["id"])).collect();
        let mut packages: Vec<Package> = list(&value["packages"])
            .iter()
            .filter(|package| used.contains(text(&package["id"])))
            .map(|package| Package {
                name: text(&package["name"]).to_owned(),
                version: text(&package["version"]).to_owned(),
                licence: text(&package["license"]).to_owned(),
                source: package["source"].as_str().map(str::to_owned),
                dependencies: list(&package["dependencies"])
                    .iter()
                    .map(|d| (text(&d["name"]).to_owned(), d["kind"].as_str() != Some("dev")))
                    .collect(),
            })
            .collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Metadata { packages }
    }

    /// The workspace's own packages, by name.
    pub fn own(&self) -> BTreeMap<&str, &Package> {
        self.packages.iter().filter(|p| p.source.is_none()).map(|p| (p.name.as_str(), p)).collect()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}
