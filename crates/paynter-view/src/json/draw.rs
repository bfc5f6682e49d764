//! The answer of `paynter draw`.

use super::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// A drawing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Draw {
    /// Whether the model is without error; with errors it is drawn as far as it is known.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The file that was written.
    pub file: Option<String>,
    /// The picture, where no file was asked for.
    pub svg: Option<String>,
    /// The width in pixels at scale 1.
    pub width: f64,
    /// The height in pixels at scale 1.
    pub height: f64,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}
