//! Wrong models and what must be said about them: one file each in
//! `tests/wrong` at the top of the repository, named after the code it is
//! about.
//!
//! The first lines of a file announce every finding in the order in which it
//! is reported, its message and below it its help:
//!
//! ```text
//! //! BG0404 at 6:13: `gear` has two ports that both fit
//! //!   name the port, as in `gear.1`
//! ```
//!
//! Each stage compares what it finds with the same lines. The command line's
//! test, which runs all stages, writes them anew where `UPDATE` is set.

use paynter_base::{Argument, Diagnostic, Diagnostics, Question, SourceMap, Spelling};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Stands where a remedy refers to an option or a question, which only an edge can spell.
const REFERENCE: char = '\u{fffc}';

/// Leaves open how options and questions are spelled.
#[derive(Debug)]
struct Open;

impl Spelling for Open {
    fn option(&self, _: &Argument) -> String {
        REFERENCE.to_string()
    }

    fn question(&self, _: &Question) -> String {
        REFERENCE.to_string()
    }
}

/// The mark of an announcing line.
const MARK: &str = "//!";

/// One finding: its code, place, message and help.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The code as printed.
    pub code: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Finding {
    /// Reads an announcing line without its mark and its help.
    fn read(head: &str) -> Option<Finding> {
        let (head, message) = head.split_once(": ")?;
        let (code, place) = head.split_once(" at ")?;
        let (line, column) = place.split_once(':')?;
        Some(Finding {
            code: code.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
            message: message.to_owned(),
            help: String::new(),
        })
    }

    /// Whether this is the announced one, however an edge spells the references in its help.
    fn is(&self, announced: &Finding) -> bool {
        fits(&self.help, &announced.help) && *self == Finding { help: self.help.clone(), ..announced.clone() }
    }
}

/// Whether a text has the words of a help, with anything in place of its references.
fn fits(help: &str, text: &str) -> bool {
    let mut pieces = help.split(REFERENCE);
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    for piece in pieces {
        let Some(at) = rest.rfind(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Finding { code, line, column, message, help } = self;
        writeln!(f, "{MARK} {code} at {line}:{column}: {message}")?;
        writeln!(f, "{MARK}   {help}")
    }
}

/// A wrong model with its announced findings.
#[derive(Debug, Clone)]
pub struct WrongModel {
    /// The name of its file.
    pub name: String,
    /// Its text, announcements included.
    pub text: String,
    /// What must be found, in order.
    pub announced: Vec<Finding>,
}

impl WrongModel {
    /// The code that the file is about, by its name.
    pub fn code(&self) -> String {
        format!("BG{}", self.name.split('_').next().unwrap_or_default())
    }

    /// The announced findings that are missing, of those that a stage is to find by their codes.
    pub fn missing(&self, found: &[Finding], is_found_here: impl Fn(&str) -> bool) -> Vec<String> {
        let missing = self
            .announced
            .iter()
            .filter(|it| is_found_here(&it.code) && !found.iter().any(|found| found.is(it)));
        missing.map(|it| format!("{}: announced, not found\n{it}", self.name)).collect()
    }

    /// The findings that are not announced.
    pub fn unannounced(&self, found: &[Finding]) -> Vec<String> {
        let unannounced = found.iter().filter(|finding| !self.announced.iter().any(|it| finding.is(it)));
        unannounced.map(|it| format!("{}: found, not announced\n{it}", self.name)).collect()
    }

    /// The text with other announcements.
    pub fn announcing(&self, found: &[Finding]) -> String {
        let is_model = |line: &&str| !line.starts_with(MARK);
        let model: String = self.text.split_inclusive('\n').filter(is_model).collect();
        let old = self.text.lines().count() - model.lines().count();
        let new = 2 * found.len();
        let mut text = String::new();
        for finding in found {
            text += &Finding { line: finding.line + new - old, ..finding.clone() }.to_string();
        }
        text + &model
    }
}

/// The folder of the wrong models.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/wrong"))
}

/// All wrong models, in the order of their names, or what cannot be read.
pub fn models() -> Result<Vec<WrongModel>, String> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut models = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let announced = announcements(&text).map_err(|line| format!("{name}: `{line}` announces nothing"))?;
        models.push(WrongModel { name, text, announced });
    }
    models.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(models)
}

/// Diagnostics as findings. Those without a place stand at 0:0.
pub fn findings(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Finding> {
    let finding = |diagnostic: &Diagnostic| {
        let span = diagnostic.span;
        let place = span.and_then(|span| Some(sources.get(span.file)?.line_column(span.start)));
        Finding {
            code: diagnostic.code.id().to_owned(),
            line: place.map_or(0, |place| place.line as usize),
            column: place.map_or(0, |place| place.column as usize),
            message: diagnostic.message.clone(),
            help: diagnostic.help.spelled(&Open),
        }
    };
    diagnostics.iter().map(finding).collect()
}

/// Reads the first lines of a file, or returns one that is no announcement.
fn announcements(text: &str) -> Result<Vec<Finding>, String> {
    let mut announced: Vec<Finding> = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix(MARK)) {
        match (line.strip_prefix("   "), announced.last_mut()) {
            (Some(help), Some(finding)) => finding.help = help.to_owned(),
            _ => announced.push(Finding::read(line.trim()).ok_or_else(|| line.to_owned())?),
        }
    }
    Ok(announced)
}
