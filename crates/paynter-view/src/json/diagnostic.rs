//! A diagnostic as JSON.

use paynter_base::{SourceMap, Spelling};
use schemars::JsonSchema;
use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The model cannot be used as it stands.
    Error,
    /// The model works, but perhaps not as its author thinks.
    Warning,
    /// Something worth knowing.
    Note,
}

impl From<paynter_base::Severity> for Severity {
    fn from(severity: paynter_base::Severity) -> Severity {
        match severity {
            paynter_base::Severity::Error => Severity::Error,
            paynter_base::Severity::Warning => Severity::Warning,
            paynter_base::Severity::Note => Severity::Note,
        }
    }
}

/// One finding: where, what, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The code, which has a page of its own.
    pub code: &'static str,
    /// What is wrong, with the model's own names.
    pub message: String,
    /// The file, where one is involved.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// How to mend it.
    pub help: String,
}

impl Diagnostic {
    /// Translates one finding, its remedy in the spelling of the edge that shows it.
    pub fn new(
        diagnostic: &paynter_base::Diagnostic,
        sources: &SourceMap,
        spelling: &dyn Spelling,
    ) -> Diagnostic {
        let place = diagnostic.span.and_then(|span| Some((sources.get(span.file)?, span.start)));
        let position = place.map(|(source, offset)| source.line_column(offset));
        Diagnostic {
            severity: diagnostic.severity.into(),
            code: diagnostic.code.id(),
            message: diagnostic.message.clone(),
            file: place.map(|(source, _)| source.path.clone()),
            line: position.map(|p| p.line),
            column: position.map(|p| p.column),
            help: diagnostic.help.spelled(spelling),
        }
    }

    /// Translates a list of findings, in its order.
    pub fn list(
        diagnostics: &paynter_base::Diagnostics,
        sources: &SourceMap,
        spelling: &dyn Spelling,
    ) -> Vec<Diagnostic> {
        diagnostics.iter().map(|diagnostic| Diagnostic::new(diagnostic, sources, spelling)).collect()
    }
}
