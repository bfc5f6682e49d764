//! Several runs beside each other: sweeps and scenarios.

use super::sheet::{self, Sheet};
use super::{affordable, mark, refused};
use crate::answer::{Answer, Exit, Output, output};
use crate::args::{Global, Settings, SimulateArgs};
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::number::data;
use paynter::simulate::{Response, Run, SimulateOptions, Simulation, Sweep, check_names, named, respond_all};
use paynter::{Diagnostic, Diagnostics, FileId, SourceMap, code, figures, json};
use std::sync::Arc;

/// A model run for every combination of values.
pub fn sweep(arguments: &SimulateArgs, options: SimulateOptions, global: &Global) -> Result<Answer, Answer> {
    let model = input::load(&arguments.file, global)?;
    let sweep = Sweep::new(&model, &options, &arguments.sweep, global.token())
        .map_err(|reason| refused(&model, &options, reason, global))?;
    let nominal = sweep.nominal();
    let count: usize = arguments.sweep.iter().map(|vary| vary.values.len()).product();
    let kept = if global.json || arguments.plot.is_some() { count } else { count.min(8) };
    affordable(nominal.numbers().saturating_mul(kept), global)?;
    let unfit = |diagnostic: Box<Diagnostic>| Answer::refusal(global, *diagnostic, Exit::Wrong);
    let (serving, runs) = sweep.runs().map_err(unfit)?;
    let names = nominal.varied.iter().map(|varied| varied.column.name.clone()).collect();
    let lead = |run: &Run<'_>| run.values.iter().map(|value| data(*value) + ",").collect();
    let mut several =
        Several { arguments, global, findings: Together::new(serving[0]), impossible: Vec::new() };
    let text = several.run(&serving, &runs, names, &lead);
    Ok(several.findings.answer(text))
}

/// A model with the values of each scenario.
pub fn scenarios(
    arguments: &SimulateArgs,
    options: SimulateOptions,
    global: &Global,
) -> Result<Answer, Answer> {
    let model = input::load(&arguments.file, global)?;
    let name = |scenario: &Settings| scenario.name.clone().unwrap_or_else(|| scenario.text.clone());
    let names: Vec<String> = arguments.scenario.iter().map(name).collect();
    check_names(&names).map_err(|found| Answer::refusal(global, *found, Exit::Wrong))?;
    // A scenario that cannot be is told, and the others go on.
    let (mut possible, mut unfit) = (Vec::new(), Vec::new());
    for (scenario, name) in arguments.scenario.iter().zip(names) {
        let other = model.with(scenario.set.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        match other.simulation(&options, global.token()) {
            Ok(simulation) => possible.push((name, simulation)),
            Err(reason) => unfit.push((name, refused(&other, &options, reason, global))),
        }
    }
    if possible.is_empty() {
        return Err(unfit.swap_remove(0).1);
    }
    let serving: Vec<&paynter::Answer<Arc<Simulation>>> = possible.iter().map(|(_, answer)| answer).collect();
    let simulations: Vec<&Simulation> = serving.iter().map(|answer| &*answer.result).collect();
    let runs: Vec<Run<'_>> =
        possible.iter().map(|(name, simulation)| Run::scenario(name.clone(), simulation)).collect();
    let same = |simulation: &&Simulation| sheet::headings(simulation) == sheet::headings(simulations[0]);
    if !global.json && !simulations.iter().all(same) {
        let message = "the scenarios have different columns, which do not fit into one table";
        let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
        let help = "give the model outputs that all scenarios have, or ask for `--json`";
        return Err(Answer::refusal(global, diagnostic.help(help), Exit::Wrong));
    }
    let mut findings = Together::new(serving[0]);
    serving[1..].iter().for_each(|answer| findings.take(&answer.findings, &answer.sources));
    let mut impossible = Vec::new();
    for (name, answer) in &unfit {
        let mut errors = Diagnostics::new();
        answer.diagnostics.iter().filter(|d| d.is_error()).for_each(|error| errors.push(error.clone()));
        findings.take(&named(name, &errors), &answer.sources);
        let reason = errors.iter().next().map_or("", |error| &error.message);
        impossible.push((name.clone(), reason.to_owned()));
    }
    let lead = |run: &Run<'_>| sheet::quoted(&run.name) + ",";
    let mut several = Several { arguments, global, findings, impossible };
    let text = several.run(&serving, &runs, vec!["scenario".to_owned()], &lead);
    Ok(several.findings.answer(text))
}

/// What the runs have in common.
struct Several<'a> {
    arguments: &'a SimulateArgs,
    global: &'a Global,
    findings: Together,
    /// Runs that cannot be made, and why.
    impossible: Vec<(String, String)>,
}

impl Several<'_> {
    /// Makes the runs and prints each as soon as those before it are done; returns the document.
    /// There is a simulation for each run.
    fn run(
        &mut self,
        serving: &[&paynter::Answer<Arc<Simulation>>],
        runs: &[Run<'_>],
        names: Vec<String>,
        lead: &dyn Fn(&Run<'_>) -> String,
    ) -> Output {
        let Some(first) = runs.first() else { return String::new().into() };
        let mut headings = names;
        headings.extend(sheet::headings(first.simulation));
        let mut sheet = (!self.global.json).then(|| Sheet::begin(&headings, self.global));
        let mut documents: Vec<json::NamedRun> = Vec::new();
        let mut kept: Vec<(&Run<'_>, Response)> = Vec::new();
        let mut number = 0;
        // What is compiled once is checked once.
        let mut checked: Vec<*const Simulation> = Vec::new();
        let (mut checks, mut withheld) = (Vec::new(), false);
        respond_all(runs, self.global.token(), &mut |_, response, outcome| {
            let run = &runs[number];
            let simulation = serving[number];
            let said = simulation.explain(&run.parameters, &outcome);
            self.findings.take(&named(&run.name, &said), &simulation.sources);
            if !checked.contains(&Arc::as_ptr(&simulation.result)) {
                checked.push(Arc::as_ptr(&simulation.result));
                match simulation.check_run(&outcome) {
                    Ok(found) => checks.extend(
                        found
                            .into_iter()
                            .map(|check| (format!("{}: {}", run.name, check.what), check.residual)),
                    ),
                    Err(contradiction) => {
                        withheld = true;
                        let mut said = Diagnostics::new();
                        said.push(*contradiction);
                        self.findings.take(&named(&run.name, &said), &simulation.sources);
                    }
                }
            }
            match &mut sheet {
                Some(sheet) => {
                    sheet.response(&lead(run), run.simulation, &response);
                    mark(sheet, &run.name, &outcome, &said);
                }
                None => documents.push(json::NamedRun::new(run, &response, &outcome, &said)),
            }
            if self.arguments.plot.is_some() {
                kept.push((run, response));
            }
            number += 1;
        });
        if let Some(mut sheet) = sheet {
            self.impossible.iter().for_each(|(run, reason)| sheet.stopped(run, reason));
            sheet.end();
        }
        if let Some(file) = self.arguments.plot.as_ref().filter(|_| !self.global.token().is_cancelled()) {
            let figure = figures::runs(&first.simulation.model, &kept, !self.arguments.sweep.is_empty());
            if let Err(diagnostic) = picture::plot(&figure, file, self.arguments.theme.into()) {
                self.findings.diagnostics.push(*diagnostic);
            }
        }
        if !self.global.json {
            return String::new().into();
        }
        let document = json::SimulationRuns {
            ok: !self.findings.diagnostics.has_errors(),
            model: first.simulation.model.clone(),
            complete: self.impossible.is_empty() && documents.iter().all(|run| run.run.complete),
            runs: if withheld { Vec::new() } else { documents },
            checks: json::Checks::new(checks),
            diagnostics: json::Diagnostic::list(
                &self.findings.diagnostics,
                &self.findings.sources,
                &CommandLine,
            ),
        };
        output(self.global, document, |_| String::new())
    }
}

/// The findings about several models, whose files stand side by side.
struct Together {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Together {
    fn new<T>(answer: &paynter::Answer<T>) -> Together {
        Together { diagnostics: answer.findings.clone(), sources: SourceMap::clone(&answer.sources) }
    }

    /// Takes in findings about files that are read under the same names; what is known is not said again.
    fn take(&mut self, diagnostics: &Diagnostics, sources: &SourceMap) {
        let mut place = |file: FileId| {
            let source = sources.get(file);
            let known = source.and_then(|source| {
                self.sources.iter().find(|(_, known)| known.path == source.path && known.text == source.text)
            });
            match (known.map(|(id, _)| id), source) {
                (Some(id), _) => id,
                (None, Some(source)) => self.sources.add(source.clone()),
                (None, None) => file,
            }
        };
        for diagnostic in diagnostics.iter() {
            let mut diagnostic = diagnostic.clone();
            diagnostic.span.iter_mut().for_each(|span| span.file = place(span.file));
            diagnostic.labels.iter_mut().for_each(|label| label.span.file = place(label.span.file));
            if !self.diagnostics.iter().any(|known| *known == diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    fn answer(self, output: impl Into<Output>) -> Answer {
        Answer::told(output, self.diagnostics, Arc::new(self.sources))
    }
}
