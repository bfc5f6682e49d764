//! The list of mistakes of one file, with a limit that keeps a file of
//! rubbish from filling the memory.

use paynter_base::{Diagnostic, Diagnostics, Span, code};

use crate::limits::MAX_MISTAKES;

/// Collects the mistakes of one file.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    list: Diagnostics,
    /// While set, mistakes are taken for consequences of one already reported.
    pub(crate) muted: bool,
}

impl Mistakes {
    /// Tells whether nothing more will be added, so that finding it is not worth the time.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() > MAX_MISTAKES
    }

    /// Adds one, unless muted or too many.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.muted || self.is_full() {
            return;
        }
        if self.list.len() == MAX_MISTAKES {
            let place = diagnostic.span.unwrap_or_default();
            self.list.push(too_many(place));
            return;
        }
        self.list.push(diagnostic);
    }

    /// Returns them in the order of the text.
    pub(crate) fn finish(mut self) -> Diagnostics {
        self.list.sort();
        self.list
    }
}

fn too_many(place: Span) -> Diagnostic {
    Diagnostic::new(code::UNEXPECTED, format!("more than {MAX_MISTAKES} mistakes; the rest is not shown"))
        .at(place)
        .help("check that this is a model file, or mend the first mistakes and look again")
}
