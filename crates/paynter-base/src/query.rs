//! Why a question has no answer.

use crate::{Cancelled, Diagnostic, Diagnostics};

/// Why a question has no answer.
#[derive(Debug, Clone)]
pub enum QueryError {
    /// The work was cancelled.
    Cancelled,
    /// There is none; the diagnostics say why.
    Wrong(Diagnostics),
}

impl From<Cancelled> for QueryError {
    fn from(_: Cancelled) -> QueryError {
        QueryError::Cancelled
    }
}

impl From<Diagnostic> for QueryError {
    fn from(reason: Diagnostic) -> QueryError {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(reason);
        QueryError::Wrong(diagnostics)
    }
}
