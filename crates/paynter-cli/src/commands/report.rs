//! `paynter report`: everything about a model on one page.

use crate::answer::{Answer, Exit, output};
use crate::args::Global;
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::json::{self, Report, ReportSection};
use paynter::report::html;
use std::path::Path;

/// Makes the report on a model, with errors as far as it is known.
pub fn run(file: &Path, target: Option<&Path>, global: &Global) -> Answer {
    let mut model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let Ok(report) = model.report(global.ticket()) else {
        return Answer::failure(global, model.diagnostics, model.sources, Exit::Wrong);
    };
    let page = html(&report, &CommandLine);
    if let Some(target) = target
        && let Err(diagnostic) = picture::write_text(&page, target)
    {
        model.diagnostics.push(*diagnostic);
    }
    let document = Report {
        ok: !model.diagnostics.has_errors(),
        model: report.title.clone(),
        file: target.map(|target| target.display().to_string()),
        html: target.is_none().then_some(page),
        sections: ReportSection::list(&report),
        diagnostics: json::Diagnostic::list(&model.diagnostics, &model.sources, &CommandLine),
    };
    Answer {
        output: output(global, &document, |document| document.html.clone().unwrap_or_default()),
        exit: Exit::of(&model.diagnostics),
        diagnostics: model.diagnostics,
        sources: model.sources,
    }
}
