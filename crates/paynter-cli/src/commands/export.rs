//! `paynter export`: a model as a program for elsewhere.

use super::equations::no_answer;
use crate::answer::{Answer, Exit, output};
use crate::args::{Global, Language};
use crate::spelling::CommandLine;
use crate::{input, replace};
use paynter::export::{Target, programs};
use paynter::json::{self, Export};
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
    let mut model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let program = match model.export(language, global.ticket()) {
        Ok(program) => program,
        Err(reason) => return no_answer(global, model, reason),
    };
    if let Some(path) = target
        && let Err(error) = replace::create(path, &program)
    {
        let message = format!("`{}` cannot be written: {error}", path.display());
        model.diagnostics.push(
            Diagnostic::new(code::FILE_UNWRITABLE, message)
                .help("name a file in a folder that exists and is yours"),
        );
    }
    let document = Export {
        ok: !model.diagnostics.has_errors(),
        model: model.graph.as_ref().map_or_else(String::new, |graph| graph.name.clone()),
        language: language.name().to_owned(),
        file: target.map(|path| path.display().to_string()),
        program: target.is_none().then_some(program),
        diagnostics: json::Diagnostic::list(&model.diagnostics, &model.sources, &CommandLine),
    };
    Answer {
        output: output(global, &document, |document| document.program.clone().unwrap_or_default()),
        exit: Exit::of(&model.diagnostics),
        diagnostics: model.diagnostics,
        sources: model.sources,
    }
}
