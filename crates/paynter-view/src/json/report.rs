//! The answer of `paynter report`.

use super::Diagnostic;
use crate::report::{self, Block};
use schemars::JsonSchema;
use serde::Serialize;

/// A report that has been made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Whether there is no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The file that was written; `null` where the page is in `html`.
    pub file: Option<String>,
    /// The page itself; `null` where it was written to a file.
    pub html: Option<String>,
    /// The sections, in the order of reading.
    pub sections: Vec<ReportSection>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A section of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportSection {
    /// Its anchor on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Why its question has no answer, where it has none.
    pub missing: Option<String>,
}

impl ReportSection {
    /// Lists the sections of a report.
    pub fn list(report: &report::Report) -> Vec<ReportSection> {
        let missing = |section: &report::Section| match section.blocks.as_slice() {
            [Block::Missing(reason)] => Some(reason.clone()),
            _ => None,
        };
        let sections = report.sections.iter();
        sections.map(|s| ReportSection { id: s.id, title: s.title, missing: missing(s) }).collect()
    }
}
