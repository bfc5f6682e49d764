//! What a command has to say, and how it is said: the document or the text on
//! standard output, the findings on standard error, the exit code.

use crate::args::Global;
use crate::render;
use crate::spelling::CommandLine;
use anstream::AutoStream;
use paynter::{Diagnostic, Diagnostics, QueryError, Severity, SourceMap, code, json, printable};
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, Write};
use std::sync::Arc;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The question was answered.
    Done = 0,
    /// The model, the data or a file is wrong.
    Wrong = 1,
    /// The command line is wrong.
    Usage = 2,
}

impl Exit {
    /// Wrong where there is an error, done otherwise.
    pub fn of(diagnostics: &Diagnostics) -> Exit {
        if diagnostics.has_errors() { Exit::Wrong } else { Exit::Done }
    }
}

/// Writes a document.
type Writing = Box<dyn FnOnce(&mut dyn Write) -> std::io::Result<()>>;

/// What goes to standard output.
pub enum Output {
    /// Text made for people.
    Text(String),
    /// A document that is written as it is made: a long one is never held whole.
    Document(Writing),
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::Text(text)
    }
}

/// What a command has to say.
pub struct Answer {
    /// The text or the document for standard output.
    pub output: Output,
    /// The findings for standard error; with `--json` they are in the document.
    pub diagnostics: Diagnostics,
    /// The files the findings are about.
    pub sources: Arc<SourceMap>,
    /// How it ended.
    pub exit: Exit,
}

impl Answer {
    /// Says something about no file.
    pub fn plain<T: Serialize + 'static>(
        global: &Global,
        document: T,
        text: impl FnOnce(&T) -> String,
    ) -> Answer {
        Answer {
            output: output(global, document, text),
            diagnostics: Diagnostics::new(),
            sources: Arc::default(),
            exit: Exit::Done,
        }
    }

    /// Says something with findings; wrong where one of them is an error.
    pub fn told(output: impl Into<Output>, diagnostics: Diagnostics, sources: Arc<SourceMap>) -> Answer {
        Answer { output: output.into(), exit: Exit::of(&diagnostics), diagnostics, sources }
    }

    /// Says why a question has no answer.
    pub fn unanswered(global: &Global, sources: &Arc<SourceMap>, reason: QueryError) -> Answer {
        let diagnostics = match reason {
            QueryError::Wrong(diagnostics) => diagnostics,
            QueryError::Cancelled => Diagnostics::new(),
        };
        Answer::failure(global, diagnostics, sources.clone(), Exit::Wrong)
    }

    /// Says why nothing could be done.
    pub fn failure(global: &Global, diagnostics: Diagnostics, sources: Arc<SourceMap>, exit: Exit) -> Answer {
        let document = json::Failure::new(json::Diagnostic::list(&diagnostics, &sources, &CommandLine));
        Answer { output: output(global, document, |_| String::new()), diagnostics, sources, exit }
    }

    /// Says why nothing could be done, in one finding without a place.
    pub fn refusal(global: &Global, diagnostic: Diagnostic, exit: Exit) -> Answer {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        Answer::failure(global, diagnostics, Arc::default(), exit)
    }

    /// Prints it all and returns the exit code.
    pub fn print(mut self, global: &Global) -> Exit {
        if !global.json {
            self.diagnostics = told(self.diagnostics, global);
            say(&self.diagnostics, &self.sources, global);
        }
        match write_stdout(self.output) {
            Ok(()) => self.exit,
            // A reader that has seen enough, such as `head`, is no mistake.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.exit,
            Err(error) => {
                let message = format!("standard output cannot be written: {error}");
                let mut diagnostics = Diagnostics::new();
                diagnostics.push(Diagnostic::new(code::FILE_UNWRITABLE, message));
                say(&diagnostics, &SourceMap::new(), global);
                Exit::Wrong
            }
        }
    }
}

/// The findings that a person wants to be told.
pub fn told(mut diagnostics: Diagnostics, global: &Global) -> Diagnostics {
    diagnostics.retain(|diagnostic| !global.quiet || diagnostic.severity != Severity::Note);
    diagnostics
}

/// Tells findings to a person.
fn say(diagnostics: &Diagnostics, sources: &SourceMap, global: &Global) {
    let text = render::render(diagnostics, sources);
    let mut stderr = AutoStream::new(std::io::stderr().lock(), global.color.into());
    // Where even standard error is closed, nobody is left to be told.
    let _ = stderr.write_all(text.as_bytes());
}

/// The document as JSON, or the text made of it for people.
pub fn output<T: Serialize + 'static>(
    global: &Global,
    document: T,
    text: impl FnOnce(&T) -> String,
) -> Output {
    if !global.json {
        return Output::Text(printable(&text(&document)));
    }
    Output::Document(Box::new(move |out| json::write(&document, out)))
}

/// The answer as its reader wants it: exact in a document, its numbers and polynomials as people write them
/// otherwise.
pub fn read<T>(global: &Global, answer: paynter::Answer<T>) -> paynter::Answer<T> {
    if global.json { answer } else { answer.for_people() }
}

/// Printed answers of more lines are not read: numbers take their place.
const READ_LINES: usize = 200;

/// Why an answer in symbols is printed in numbers instead, where it is too long to be read.
pub fn too_long(text: &str) -> Option<String> {
    let lines = text.lines().count();
    let told = || format!("\nIn numbers, for the symbols take {lines} lines: `--symbolic` prints them.\n");
    (lines > READ_LINES).then(told)
}

fn write_stdout(output: Output) -> std::io::Result<()> {
    /// What is written at once.
    const CHUNK: usize = 1 << 16;
    let mut stdout = BufWriter::with_capacity(CHUNK, std::io::stdout().lock());
    match output {
        Output::Text(text) => stdout.write_all(text.as_bytes())?,
        Output::Document(write) => write(&mut stdout)?,
    }
    stdout.flush()
}
