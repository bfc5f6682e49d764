//! `paynter explain`: the page on a diagnostic code.

use crate::answer::{Answer, Exit};
use crate::args::Global;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::json::{Codes, Severity};
use paynter::{Diagnostic, closest, code, codes, explain};

/// Explains one code, or lists all.
pub fn run(id: Option<&str>, global: &Global) -> Answer {
    let Some(id) = id else {
        return Answer::plain(global, codes(&CommandLine), list);
    };
    if let Some(explanation) = explain(id, &CommandLine) {
        return Answer::plain(global, explanation, |explanation| explanation.page.clone());
    }
    let mut diagnostic = Diagnostic::new(code::UNKNOWN_CODE, format!("there is no code `{id}`"));
    let upper = id.to_uppercase();
    if let Some(near) = closest(&upper, code::ALL.iter().map(|code| code.id())) {
        diagnostic = diagnostic.help(format!("did you mean {near}? `paynter explain` lists all codes"));
    }
    Answer::refusal(global, diagnostic, Exit::Usage)
}

fn list(codes: &Codes) -> String {
    let rows: Vec<[String; 3]> = codes
        .codes
        .iter()
        .map(|code| {
            let severity = match code.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            [code.code.to_owned(), severity.to_owned(), code.title.to_owned()]
        })
        .collect();
    columns(["CODE", "SEVERITY", "ABOUT"], &rows) + "\n`paynter explain CODE` tells more.\n"
}
