//! Why a question has no answer, as exceptions of Python: diagnostics with the
//! lines they are about, and panics that were caught.

use crate::document::to_python;
use crate::spelling::Python as Spelled;
use paynter::{Diagnostics, SourceMap, Span, json};
use pyo3::prelude::*;
use serde::Serialize;

pyo3::import_exception!(paynter, ModelError);
pyo3::import_exception!(paynter, InternalError);
pyo3::import_exception!(paynter, RateFailure);

/// A finding with the line that it points at.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    diagnostic: json::Diagnostic,
    /// The line of the model, and below it marks under the place.
    excerpt: Option<String>,
}

/// Longer lines are not shown.
const LONGEST_EXCERPT: usize = 200;

/// Findings as data, with the lines they point at.
pub fn findings(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Finding> {
    let found = diagnostics.iter();
    found
        .map(|diagnostic| Finding {
            diagnostic: json::Diagnostic::new(diagnostic, sources, &Spelled),
            excerpt: diagnostic.span.and_then(|span| excerpt(sources, span)),
        })
        .collect()
}

/// The line of a place with marks under it.
fn excerpt(sources: &SourceMap, span: Span) -> Option<String> {
    let source = sources.get(span.file)?;
    let position = source.line_column(span.start);
    let line = source.text.lines().nth(position.line as usize - 1)?;
    if line.is_empty() || line.chars().count() > LONGEST_EXCERPT {
        return None;
    }
    let before = position.column as usize - 1;
    let marked = source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let width = marked.lines().next().unwrap_or_default().chars().count().max(1);
    let shown: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    Some(format!("{}\n{}{}", paynter::printable(&shown), " ".repeat(before), "^".repeat(width)))
}

/// The exception that says why there is no answer.
pub fn wrong(py: Python<'_>, diagnostics: &Diagnostics, sources: &SourceMap) -> PyErr {
    match to_python(py, &findings(diagnostics, sources)) {
        Ok(list) => ModelError::new_err(list.unbind()),
        Err(error) => error,
    }
}
