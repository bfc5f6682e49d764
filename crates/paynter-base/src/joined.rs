//! Findings about several models beside each other.

use crate::{Diagnostics, FileId, SourceMap};

/// The findings about several models, whose files stand side by side.
#[derive(Debug, Clone, Default)]
pub struct JoinedFindings {
    /// The findings.
    pub diagnostics: Diagnostics,
    /// The files that they are about.
    pub sources: SourceMap,
}

impl JoinedFindings {
    /// Takes in findings about files that may be known under the same names; what is known is not said again.
    pub fn take(&mut self, diagnostics: &Diagnostics, sources: &SourceMap) {
        let mut place = |file: FileId| {
            let source = sources.get(file);
            let known = source.and_then(|source| {
                self.sources.iter().find(|(_, known)| known.path == source.path && known.text == source.text)
            });
            match (known.map(|(id, _)| id), source) {
                (Some(id), _) => id,
                (None, Some(source)) => self.sources.add(source.clone()),
                (None, None) => file,
            }
        };
        for diagnostic in diagnostics.iter() {
            let mut diagnostic = diagnostic.clone();
            diagnostic.span.iter_mut().for_each(|span| span.file = place(span.file));
            diagnostic.labels.iter_mut().for_each(|label| label.span.file = place(label.span.file));
            if !self.diagnostics.iter().any(|known| *known == diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, Source, Span, code};

    #[test]
    fn files_of_the_same_text_are_one_and_findings_are_said_once() {
        let files = |last: &str| {
            let mut sources = SourceMap::new();
            sources.add(Source::new("m.bg", "model m {}"));
            let file = sources.add(Source::new("<set>", last));
            let mut found = Diagnostics::new();
            found.push(Diagnostic::new(code::BAD_SET, "no value").at(Span { file, start: 0, end: 1 }));
            (found, sources)
        };
        let mut joined = JoinedFindings::default();
        for last in ["1", "1", "2"] {
            let (found, sources) = files(last);
            joined.take(&found, &sources);
        }
        let told: Vec<&str> =
            joined.diagnostics.iter().map(|found| joined.sources.snippet(found.span.unwrap())).collect();
        assert_eq!(told, ["1", "2"]);
    }
}
