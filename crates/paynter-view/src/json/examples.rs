//! The answers of `paynter examples`.

use schemars::JsonSchema;
use serde::Serialize;

/// The list of built-in examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Examples {
    /// The examples by name.
    pub examples: Vec<ExampleEntry>,
}

/// One example in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExampleEntry {
    /// The name to ask for it by.
    pub name: String,
    /// What it shows: the doc string of its main model.
    pub title: String,
    /// Where it comes from: the first comment of the file.
    pub origin: String,
}

/// One example with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Example {
    /// The example in short.
    #[serde(flatten)]
    pub entry: ExampleEntry,
    /// The model file.
    pub text: String,
}

/// The files that `paynter examples --write` has written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    /// Their paths.
    pub written: Vec<String>,
}
