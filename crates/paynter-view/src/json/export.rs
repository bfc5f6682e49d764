//! The answer of `paynter export`.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// A model as a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Export {
    /// Whether the model has no error and the file could be written.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// What it is written in: `python`, `matlab`, `c`, `julia` or `latex`.
    pub language: String,
    /// The file it was written to.
    pub file: Option<String>,
    /// The program itself, where it was not written to a file.
    pub program: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}
