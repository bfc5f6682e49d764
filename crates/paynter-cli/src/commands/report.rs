//! `paynter report`: everything about a model on one page.

use crate::answer::{Answer, output};
use crate::args::{Global, ReportArgs};
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::estimate::EstimateOptions;
use paynter::json::{Report, ReportSection};
use paynter::report::html;

/// Makes the report on a model, with errors as far as it is known.
pub fn run(arguments: &ReportArgs, global: &Global) -> Answer {
    report(arguments, global).unwrap_or_else(|refusal| refusal)
}

/// What is estimated from the data, if there are any.
fn estimation(arguments: &ReportArgs, global: &Global) -> Result<Option<EstimateOptions>, Answer> {
    let data: Vec<_> =
        arguments.data.iter().map(|path| input::data(path, global)).collect::<Result<_, _>>()?;
    let options = EstimateOptions {
        data,
        map: arguments.map.clone(),
        sample_time: arguments.sample_time,
        hold: arguments.hold.into(),
        fit: arguments.fit.clone(),
        start: arguments.start.iter().flat_map(|list| list.0.clone()).collect(),
        ..EstimateOptions::default()
    };
    Ok((!options.data.is_empty()).then_some(options))
}

/// The answer, or why there is none.
fn report(arguments: &ReportArgs, global: &Global) -> Result<Answer, Answer> {
    let estimation = estimation(arguments, global)?;
    let model = input::load(&arguments.file, global)?;
    let mut report = model
        .report(arguments.t_end, estimation.as_ref(), global.token())
        .map_err(|reason| Answer::unanswered(global, model.sources(), reason))?;
    let target = arguments.output.as_deref();
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
    Ok(Answer::told(output, report.findings, report.sources))
}
