//! What a command prints that failed before it had a document of its own.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of any command that could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// Always false.
    pub ok: bool,
    /// Why; at least one is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// Reports why nothing could be done.
    pub fn new(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { ok: false, diagnostics }
    }
}
