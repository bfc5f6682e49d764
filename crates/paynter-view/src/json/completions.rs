//! The answer of `paynter completions`.

use schemars::JsonSchema;
use serde::Serialize;

/// A completion script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Completions {
    /// The shell it is for.
    pub shell: String,
    /// The script.
    pub script: String,
}
