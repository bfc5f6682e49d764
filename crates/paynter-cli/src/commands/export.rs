//! `paynter export`: a model as a program for elsewhere.

use crate::answer::{Answer, Exit, output};
use crate::args::{Global, Language};
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::export::{Target, programs};
use paynter::json::Export;
use paynter::{Diagnostic, code};
use std::path::Path;

/// Writes a model as a program, to a file or to standard output.
pub fn run(
    file: &Path,
    Language(to): Language,
    simulate: bool,
    target: Option<&Path>,
    global: &Global,
) -> Answer {
    let chosen = if simulate { to.simulator() } else { Some(to) };
    let Some(language) = chosen else {
        let able: Vec<&str> = programs().filter(|t| t.simulator().is_some()).map(Target::name).collect();
        let message = format!("`--simulate` goes with `--to {}` only", able.join("` or `--to "));
        let help = "leave it out; the other languages have solvers of their own";
        return Answer::refusal(
            global,
            Diagnostic::new(code::BAD_COMMAND_LINE, message).help(help),
            Exit::Usage,
        );
    };
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let mut program = match model.export(language, global.token()) {
        Ok(program) => program,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let target = target.filter(|file| !picture::is_stdout(file));
    if let Some(path) = target
        && let Err(diagnostic) = picture::write_text(&program.result, path)
    {
        program.findings.push(*diagnostic);
    }
    let document = Export {
        ok: !program.findings.has_errors(),
        model: model.name().to_owned(),
        language: language.name().to_owned(),
        file: target.map(|path| path.display().to_string()),
        program: target.is_none().then(|| program.result.clone()),
        diagnostics: program.diagnostics(&CommandLine),
    };
    let output = output(global, document, |document| document.program.clone().unwrap_or_default());
    Answer::told(output, program.findings, program.sources)
}
