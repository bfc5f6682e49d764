//! `paynter export`: a model as a program for elsewhere.

use super::equations::no_answer;
use crate::answer::{Answer, Exit, output};
use crate::args::{Global, LanguageName};
use crate::spelling::CommandLine;
use crate::{input, replace};
use paynter::export::Language;
use paynter::json::{self, Export};
use paynter::{Diagnostic, code};
use std::path::Path;

/// Writes a model as a program, to a file or to standard output.
pub fn run(file: &Path, to: LanguageName, simulate: bool, target: Option<&Path>, global: &Global) -> Answer {
    if simulate && to != LanguageName::C {
        let message = "`--simulate` goes with `--to c` only";
        let help = "leave it out; the other languages have solvers of their own";
        return Answer::refusal(
            global,
            Diagnostic::new(code::BAD_COMMAND_LINE, message).help(help),
            Exit::Usage,
        );
    }
    let mut model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let (language, name) = match to {
        LanguageName::Python => (Language::Python, "python"),
        LanguageName::Matlab => (Language::Matlab, "matlab"),
        LanguageName::C if simulate => (Language::CSimulator, "c"),
        LanguageName::C => (Language::C, "c"),
        LanguageName::Julia => (Language::Julia, "julia"),
        LanguageName::Latex => (Language::Latex, "latex"),
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
        language: name.to_owned(),
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
