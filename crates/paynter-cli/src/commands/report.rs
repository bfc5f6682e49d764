//! `paynter report`: everything about a model on one page.

use crate::answer::{Answer, output};
use crate::args::Global;
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::json::{Report, ReportSection};
use paynter::report::html;
use std::path::Path;

/// Makes the report on a model, with errors as far as it is known.
pub fn run(file: &Path, target: Option<&Path>, t_end: Option<f64>, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let mut report = match model.report(t_end, global.token()) {
        Ok(report) => report,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let target = target.filter(|file| !picture::is_stdout(file));
    let page = html(&report.result, &CommandLine);
    if let Some(target) = target
        && let Err(diagnostic) = picture::write_text(&page, target)
    {
        report.findings.push(*diagnostic);
    }
    let document = Report {
        ok: !report.findings.has_errors(),
        model: report.title.clone(),
        file: target.map(|target| target.display().to_string()),
        html: target.is_none().then_some(page),
        sections: ReportSection::list(&report.result),
        diagnostics: report.diagnostics(&CommandLine),
    };
    let output = output(global, document, |document| document.html.clone().unwrap_or_default());
    Answer::told(output, report.findings, report.sources)
}
