//! The answer of `paynter fmt`.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// What happened to each file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Format {
    /// Whether every file could be read and is now laid out (already was, where nothing was to be changed).
    pub ok: bool,
    /// The files in the order given.
    pub files: Vec<FormattedFile>,
    /// What prevented formatting.
    pub diagnostics: Vec<Diagnostic>,
}

/// One file that was read and laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FormattedFile {
    /// Its path, `<stdin>` for standard input.
    pub file: String,
    /// Whether its layout differed.
    pub changed: bool,
    /// The new text, for standard input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
