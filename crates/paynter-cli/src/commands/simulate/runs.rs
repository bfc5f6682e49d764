//! Several runs beside each other: sweeps and scenarios.

use super::sheet::{self, Sheet};
use super::{affordable, mark, refused};
use crate::answer::{Answer, Exit, Output, output};
use crate::args::{Global, Settings, SimulateArgs};
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::number::data;
use paynter::simulate::{Response, Run, SimulateOptions};
use paynter::{Diagnostic, QueryError, Runs, Scenario, code, figures, json};
use std::sync::Arc;

/// A model run for every combination of values.
pub fn sweep(arguments: &SimulateArgs, options: SimulateOptions, global: &Global) -> Result<Answer, Answer> {
    let model = input::load(&arguments.file, global)?;
    let runs = model
        .sweep(&options, &arguments.sweep, global.token())
        .map_err(|reason| refused(&model, &options, reason, global))?;
    let count = runs.runs.len();
    let kept = if global.json || arguments.plot.is_some() { count } else { count.min(8) };
    affordable(runs.numbers() / count.max(1) * kept, global)?;
    let varied = runs.runs.first().map_or(&[][..], |run| &run.simulation.varied);
    let names = varied.iter().map(|varied| varied.column.name.clone()).collect();
    let lead = |run: &Run| run.values.iter().map(|value| data(*value) + ",").collect();
    Ok(several(runs, names, &lead, arguments, global))
}

/// A model with the values of each scenario.
pub fn scenarios(
    arguments: &SimulateArgs,
    options: SimulateOptions,
    global: &Global,
) -> Result<Answer, Answer> {
    let model = input::load(&arguments.file, global)?;
    let named = |Settings { name, text, set }: &Settings| Scenario {
        name: name.clone().unwrap_or_else(|| text.clone()),
        set: set.clone(),
    };
    let list: Vec<Scenario> = arguments.scenario.iter().map(named).collect();
    let runs = model
        .scenarios(&options, &list, global.token())
        .map_err(|reason| refused(&model, &options, reason, global))?;
    let Some(first) = runs.runs.first() else {
        let (sources, reason) =
            (Arc::new(runs.findings.sources), QueryError::Wrong(runs.findings.diagnostics));
        return Err(Answer::unanswered(global, &sources, reason));
    };
    let headings = sheet::headings(&first.simulation);
    if !global.json && runs.runs.iter().any(|run| sheet::headings(&run.simulation) != headings) {
        let message = "the scenarios have different columns, which do not fit into one table";
        let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
        let help = "give the model outputs that all scenarios have, or ask for `--json`";
        return Err(Answer::refusal(global, diagnostic.help(help), Exit::Wrong));
    }
    let lead = |run: &Run| sheet::quoted(&run.name) + ",";
    Ok(several(runs, vec!["scenario".to_owned()], &lead, arguments, global))
}

/// Makes the runs and prints each as soon as those before it are done, behind what leads its lines.
fn several(
    mut runs: Runs,
    mut headings: Vec<String>,
    lead: &dyn Fn(&Run) -> String,
    arguments: &SimulateArgs,
    global: &Global,
) -> Answer {
    let Some(first) = runs.runs.first().map(|run| run.simulation.clone()) else {
        return Answer::told(String::new(), runs.findings.diagnostics, Arc::new(runs.findings.sources));
    };
    headings.extend(sheet::headings(&first));
    let mut sheet = (!global.json).then(|| Sheet::begin(&headings, global));
    let mut documents: Vec<json::NamedRun> = Vec::new();
    let mut kept: Vec<(Run, Response)> = Vec::new();
    runs.respond(global.token(), &mut |run, response, outcome, said| {
        match &mut sheet {
            Some(sheet) => {
                sheet.response(&lead(run), &run.simulation, &response);
                mark(sheet, &run.name, &outcome, said);
            }
            None => documents.push(json::NamedRun::new(run, &response, &outcome, said)),
        }
        if arguments.plot.is_some() {
            kept.push((run.clone(), response));
        }
    });
    let Runs { impossible, findings, checks, .. } = runs;
    let (mut diagnostics, sources) = (findings.diagnostics, Arc::new(findings.sources));
    if let Some(mut sheet) = sheet {
        impossible.iter().for_each(|(run, reason)| sheet.stopped(run, reason));
        sheet.end();
    }
    if let Some(file) = arguments.plot.as_ref().filter(|_| !global.token().is_cancelled()) {
        let figure = figures::runs(&first.model, &kept, !arguments.sweep.is_empty());
        if let Err(diagnostic) = picture::plot(&figure, file, arguments.theme.into()) {
            diagnostics.push(*diagnostic);
        }
    }
    let output: Output = match global.json {
        false => String::new().into(),
        true => {
            let list = json::Diagnostic::list(&diagnostics, &sources, &CommandLine);
            let all = impossible.is_empty();
            let mut document = json::SimulationRuns::new(&first.model, documents, all, list);
            match checks {
                Some(checks) => document.checks = json::Checks::new(checks),
                None => document.runs.clear(),
            }
            output(global, document, |_| String::new())
        }
    };
    Answer::told(output, diagnostics, sources)
}
