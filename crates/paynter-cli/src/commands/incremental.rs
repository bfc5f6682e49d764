//! `paynter incremental`: a graph made from the model's graph, as a model.

use crate::answer::{Answer, Exit, output};
use crate::args::{DerivedFormName, Global, IncrementalArgs};
use crate::input;
use crate::picture::{unknown_format, write};
use crate::spelling::CommandLine;
use paynter::draw::{DrawOptions, SvgStyle, draw, svg};
use paynter::{DerivedForm, Diagnostic, IncrementalOptions, code};

/// Makes the derived model and prints its text.
pub fn run(arguments: &IncrementalArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = contradiction(arguments) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
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
        numeric: arguments.numeric,
    };
    let mut derived = match model.incremental(&options, global.token()) {
        Ok(derived) => derived,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let document = derived.document(&CommandLine);
    if let (Some(file), Some(diagram)) = (&arguments.draw, &derived.diagram) {
        let picture = svg(&draw(diagram, &DrawOptions::default()), &SvgStyle::default());
        if let Err(diagnostic) = write(&picture, file, "write SVG") {
            derived.findings.push(*diagnostic);
        }
    }
    let output = output(global, document, |document| document.text.clone());
    Answer::told(output, derived.findings, derived.sources)
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
