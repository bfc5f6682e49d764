//! `paynter incremental`: a graph made from the model's graph, as a model.

use super::equations::no_answer;
use crate::answer::{Answer, Exit, output};
use crate::args::{DerivedFormName, Global, IncrementalArgs};
use crate::input;
use crate::picture::{unknown_format, write};
use paynter::draw::{DrawOptions, SvgStyle, draw, svg};
use paynter::{DerivedForm, Diagnostic, Diagnostics, IncrementalOptions, code};

/// Makes the derived model and prints its text.
pub fn run(arguments: &IncrementalArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = contradiction(arguments) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let mut model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let options = IncrementalOptions {
        form: match (arguments.form, arguments.each) {
            (DerivedFormName::Incremental, _) => DerivedForm::Incremental,
            (DerivedFormName::Linear, _) => DerivedForm::Linear,
            (DerivedFormName::Pseudo, false) => DerivedForm::Pseudo,
            (DerivedFormName::Pseudo, true) => DerivedForm::PseudoEach,
        },
        only: arguments.only.clone(),
        split: arguments.split,
        pair: arguments.pair,
    };
    let derived = match model.incremental(&options, global.ticket()) {
        Ok(derived) => derived,
        Err(reason) => return no_answer(global, model, reason),
    };
    let mut said = Diagnostics::new();
    if let (Some(file), Some(diagram)) = (&arguments.draw, &derived.diagram) {
        let picture = svg(&draw(diagram, &DrawOptions::default()), &SvgStyle::default());
        if let Err(diagnostic) = write(&picture, file, "write SVG") {
            said.push(*diagnostic);
        }
    }
    let Some(document) = derived.document(&model) else {
        return Answer::failure(global, model.diagnostics, model.sources, Exit::Wrong);
    };
    model.diagnostics.extend(derived.diagnostics);
    model.diagnostics.extend(said);
    Answer {
        output: output(global, &document, |document| document.text.clone()),
        exit: Exit::of(&model.diagnostics),
        diagnostics: model.diagnostics,
        sources: model.sources,
    }
}

/// Refuses options that do not go together.
fn contradiction(arguments: &IncrementalArgs) -> Option<Diagnostic> {
    let refuse = |message: &str, help: &str| {
        Some(Diagnostic::new(code::BAD_COMMAND_LINE, message.to_owned()).help(help))
    };
    match arguments.form {
        DerivedFormName::Pseudo if arguments.split || arguments.pair => refuse(
            "`--form pseudo` has no sinks to split, and the nominal graph is part of it",
            "leave `--split` and `--pair` out",
        ),
        DerivedFormName::Linear if arguments.split || !arguments.only.is_empty() => refuse(
            "`--form linear` has no sinks of parameters",
            "leave `--split` and `--only` out; the changes are those of inputs",
        ),
        form if arguments.each && form != DerivedFormName::Pseudo => {
            refuse("`--each` belongs to `--form pseudo`", "add `--form pseudo`, or leave `--each` out")
        }
        _ => arguments.draw.as_deref().and_then(unknown_format),
    }
}
