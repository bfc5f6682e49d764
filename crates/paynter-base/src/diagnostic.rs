//! Diagnostics are plain data: where, what and how to mend it. Rendering is
//! the business of the edges.

use crate::{Code, Remedy, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The model cannot be used as it stands.
    Error,
    /// The model works, but perhaps not as its author thinks.
    Warning,
    /// Something worth knowing.
    Note,
}

/// A place that belongs to a diagnostic, with a few words about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// One finding about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Which page of `paynter explain` tells more.
    pub code: Code,
    /// What is wrong, with the user's own names.
    pub message: String,
    /// Where; absent only when no text is involved (a missing file).
    pub span: Option<Span>,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// How to mend it.
    pub help: Remedy,
}

impl Diagnostic {
    /// Starts a diagnostic of the code's own severity; the help defaults to the code's.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: code.severity(),
            code,
            message: message.into(),
            span: None,
            labels: Vec::new(),
            help: code.remedy(),
        }
    }

    /// Sets the place it is about.
    #[must_use]
    pub fn at(mut self, span: Span) -> Diagnostic {
        self.span = Some(span);
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Replaces the code's general remedy by one for this case.
    #[must_use]
    pub fn help(mut self, help: impl Into<Remedy>) -> Diagnostic {
        self.help = help.into();
        self
    }

    /// Tells whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A growing list of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Makes an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        self.items.extend(other.items);
    }

    /// Keeps those that fulfil a condition.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.items.retain(keep);
    }

    /// Tells whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(Diagnostic::is_error)
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Counts the diagnostics.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Lists them in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// Orders them by place, errors first at the same place, and drops exact repeats.
    pub fn sort(&mut self) {
        self.items.sort_by(|a, b| {
            (a.span, a.severity, a.code, &a.message).cmp(&(b.span, b.severity, b.code, &b.message))
        });
        self.items.dedup();
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}
