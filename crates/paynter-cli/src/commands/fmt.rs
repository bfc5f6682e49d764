//! `paynter fmt`: model files laid out.

use crate::answer::{Answer, Exit, Output, output};
use crate::args::Global;
use crate::spelling::CommandLine;
use crate::{input, replace};
use paynter::json::{self, Format, FormattedFile};
use paynter::{Diagnostic, Diagnostics, FileId, SourceMap, Span, code, format};
use std::path::{Path, PathBuf};

/// Lays files out in place, or with `check` tells which are not. A file that
/// cannot be read as a model is left as it is; the others are still done.
pub fn run(files: &[PathBuf], check: bool, global: &Global) -> Answer {
    let mut work = Work { check, ..Work::default() };
    for path in files {
        work.file(path);
    }
    let untidy = check && work.files.iter().any(|file| file.changed);
    let document = Format {
        ok: !untidy && !work.diagnostics.has_errors(),
        files: work.files,
        diagnostics: json::Diagnostic::list(&work.diagnostics, &work.sources, &CommandLine),
    };
    Answer {
        exit: if document.ok { Exit::Done } else { Exit::Wrong },
        // A file's own characters stay as they are.
        output: match global.json {
            true => output(global, document, |_| String::new()),
            false => Output::Text(text(&document, check)),
        },
        diagnostics: work.diagnostics,
        sources: work.sources.into(),
    }
}

/// What has been done so far.
#[derive(Default)]
struct Work {
    check: bool,
    files: Vec<FormattedFile>,
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Work {
    fn file(&mut self, path: &Path) {
        let (shown, content) = match input::read(path) {
            Ok(read) => read,
            Err((sources, diagnostics)) => return self.report(sources, diagnostics),
        };
        let formatted = format(&shown, &content);
        if formatted.diagnostics.has_errors() {
            return self.report(formatted.sources, formatted.diagnostics);
        }
        let changed = formatted.text.as_bytes() != content;
        let stdin = path.as_os_str() == "-";
        let write = changed && !self.check && !stdin;
        if write && let Err(error) = replace::replace(path, &formatted.text) {
            let message = format!("`{shown}` cannot be written: {error}");
            self.diagnostics.push(Diagnostic::new(code::FILE_UNWRITABLE, message));
            return;
        }
        let text = (stdin && !self.check).then_some(formatted.text);
        self.files.push(FormattedFile { file: shown, changed, text });
    }

    /// Takes over findings about other files.
    fn report(&mut self, sources: SourceMap, diagnostics: Diagnostics) {
        let mut ids = Vec::new();
        for (_, source) in sources.iter() {
            ids.push(self.sources.add(source.clone()));
        }
        let moved =
            |span: Span| Span { file: ids.get(span.file.0 as usize).copied().unwrap_or(FileId(0)), ..span };
        for mut diagnostic in diagnostics {
            diagnostic.span = diagnostic.span.map(moved);
            for label in &mut diagnostic.labels {
                label.span = moved(label.span);
            }
            self.diagnostics.push(diagnostic);
        }
    }
}

fn text(document: &Format, check: bool) -> String {
    let mut text = String::new();
    for file in &document.files {
        match &file.text {
            Some(laid_out) => text.push_str(laid_out),
            None if check && file.changed => text.push_str(&format!("{}: not laid out\n", file.file)),
            None => {}
        }
    }
    text
}
