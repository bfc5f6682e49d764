//! `paynter simulate`: the response over time.

mod runs;
mod sheet;
mod words;

use crate::answer::{Answer, Exit, Output, output};
use crate::args::{Global, SimulateArgs};
use crate::spelling::CommandLine;
use crate::{input, picture};
use paynter::plot::Figure;
use paynter::simulate::{
    Direction, Outcome, Response, Sensitivities, SimulateOptions, Simulation, Verification,
};
use paynter::{Diagnostic, Diagnostics, Model, QueryError, SourceMap, code, figures, json};
use sheet::Sheet;
use std::sync::Arc;

/// Simulates a model.
pub fn run(arguments: &SimulateArgs, global: &Global) -> Answer {
    simulate(arguments, global).unwrap_or_else(|refusal| refusal)
}

/// The answer, or why there is none.
fn simulate(arguments: &SimulateArgs, global: &Global) -> Result<Answer, Answer> {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Err(Answer::refusal(global, diagnostic, Exit::Usage));
    }
    let options = options(arguments, global)?;
    // Data may tell the end.
    if (options.data.is_none() || options.t_end.is_some())
        && let Err(diagnostic) = options.check()
    {
        return Err(Answer::refusal(global, *diagnostic, Exit::Usage));
    }
    if !arguments.scenario.is_empty() {
        return runs::scenarios(arguments, options, global);
    }
    if !arguments.sweep.is_empty() {
        return runs::sweep(arguments, options, global);
    }
    let model = input::load(&arguments.file, global)?;
    if !arguments.perturb.is_empty() {
        perturb(arguments, options, &model, global)
    } else if !arguments.gradient.is_empty() {
        gradient(arguments, options, &model, global)
    } else {
        single(arguments, options, &model, global)
    }
}

fn options(arguments: &SimulateArgs, global: &Global) -> Result<SimulateOptions, Answer> {
    let sensitivities = match arguments.sensitivity.as_slice() {
        [] => Sensitivities::None,
        names => Sensitivities::Names(names.to_vec()),
    };
    let several = arguments.direction.len() > 1;
    let directions = arguments.direction.iter().enumerate().map(|(number, direction)| Direction {
        name: match (&direction.name, several) {
            (Some(name), _) => name.clone(),
            (None, true) => format!("lambda{}", number + 1),
            (None, false) => "lambda".to_owned(),
        },
        weights: direction.weights.clone(),
    });
    Ok(SimulateOptions {
        t_end: arguments.t_end,
        // Between a hundred samples the eye would draw straight lines.
        points: arguments.points.unwrap_or(if arguments.plot.is_some() { 1001 } else { 101 }),
        times: arguments.times.as_ref().map_or_else(Vec::new, |times| times.0.clone()),
        rtol: arguments.solver.rtol,
        atol: arguments.solver.atol,
        solver: arguments.solver.solver.clone(),
        step: arguments.solver.step,
        sensitivities,
        directions: directions.collect(),
        sensitivities_tested: !arguments.states_only,
        energy: arguments.energy,
        data: arguments.data.as_deref().map(|path| input::data(path, global)).transpose()?,
        hold: arguments.hold.into(),
        ..SimulateOptions::default()
    })
}

/// What is found while a simulation is compiled and run.
struct Findings {
    diagnostics: Diagnostics,
    sources: Arc<SourceMap>,
}

impl Findings {
    fn of<T>(answer: &paynter::Answer<T>) -> Findings {
        Findings { diagnostics: answer.findings.clone(), sources: answer.sources.clone() }
    }

    /// Takes in what explains a run.
    fn explained(&mut self, said: Diagnostics) -> Diagnostics {
        self.diagnostics.extend(said.clone());
        said
    }

    fn answer(self, output: impl Into<Output>) -> Answer {
        Answer::told(output, self.diagnostics, self.sources)
    }

    /// Prints a document that holds the findings.
    fn document(self, mut document: json::Simulation, global: &Global) -> Answer {
        document.diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, &CommandLine);
        document.ok = !self.diagnostics.has_errors();
        let output = output(global, document, |_| String::new());
        self.answer(output)
    }
}

/// Says why a model cannot be simulated.
fn refused(model: &Model, options: &SimulateOptions, reason: QueryError, global: &Global) -> Answer {
    Answer::unanswered(global, &model.sources_with(options.data.as_ref()), reason)
}

/// One run.
fn single(
    arguments: &SimulateArgs,
    options: SimulateOptions,
    model: &Model,
    global: &Global,
) -> Result<Answer, Answer> {
    let token = global.token();
    let simulation =
        model.simulation(&options, token).map_err(|reason| refused(model, &options, reason, global))?;
    token.begin("simulation", simulation.options.count() as u64);
    if global.json || arguments.energy || arguments.plot.is_some() {
        affordable(simulation.numbers(), global)?;
    }
    if !global.json && !arguments.energy {
        return stream(arguments, &options, (model, &simulation), global);
    }
    let (response, outcome) = simulation.respond(&simulation.parameters, token);
    let mut findings = Findings::of(&simulation);
    let said = findings.explained(simulation.explain(&simulation.parameters, &outcome));
    let checks = simulation.check_run(&outcome).map_err(|found| withheld(&simulation, *found, global))?;
    let verified = match arguments.verify {
        true => Some(second_opinion(&options, model, (&response, &outcome), &mut findings, global)?),
        false => None,
    };
    plot(|| figure(&simulation, &response), arguments, &mut findings, global);
    if global.json {
        let mut found = json::Simulation::new(&simulation, &response, &outcome, &said, Vec::new());
        found.verification = verified.map(|found| json::SecondOpinion::new(&found));
        found.checks = json::Checks::new(checks.into_iter().map(|check| (check.what, check.residual)));
        return Ok(findings.document(found, global));
    }
    let text = words::ledger(&simulation, simulation.energy(&response).as_ref());
    Ok(findings.answer(text))
}

/// Says why a run is not shown.
fn withheld<T>(answer: &paynter::Answer<T>, diagnostic: Diagnostic, global: &Global) -> Answer {
    let mut diagnostics = answer.findings.clone();
    diagnostics.push(diagnostic);
    Answer::unanswered(global, &answer.sources, QueryError::Wrong(diagnostics))
}

/// Asks another method for a second opinion on a run.
fn second_opinion(
    options: &SimulateOptions,
    model: &Model,
    run: (&Response, &Outcome),
    findings: &mut Findings,
    global: &Global,
) -> Result<Verification, Answer> {
    let found = model
        .second_opinion(options, run, global.token())
        .map_err(|reason| refused(model, options, reason, global))?;
    findings.diagnostics.push(found.result.diagnostic());
    Ok(found.result)
}

/// Refuses to hold more numbers in memory than there is room for.
fn affordable(numbers: usize, global: &Global) -> Result<(), Answer> {
    const MOST_HELD_NUMBERS: usize = 200_000_000;
    if numbers <= MOST_HELD_NUMBERS {
        return Ok(());
    }
    let message =
        format!("the answer would hold {numbers} numbers, and memory is kept for {MOST_HELD_NUMBERS}");
    let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
    let help = "ask for fewer samples or runs; a table of one run, without `--json` and `--plot`, is written as it goes";
    Err(Answer::refusal(global, diagnostic.help(help), Exit::Wrong))
}

/// Writes each sample as a line of CSV as soon as there are enough of them; they are kept only for a plot or a second
/// opinion.
fn stream(
    arguments: &SimulateArgs,
    options: &SimulateOptions,
    (model, simulation): (&Model, &paynter::Answer<Arc<Simulation>>),
    global: &Global,
) -> Result<Answer, Answer> {
    let mut kept = (arguments.plot.is_some() || arguments.verify).then(|| simulation.nothing_yet());
    let mut sheet = Sheet::begin(&sheet::headings(simulation), global);
    let outcome = simulation.run(&simulation.parameters, global.token(), &mut |sample| {
        sheet.sample(simulation, sample);
        if let Some(kept) = &mut kept {
            kept.push(sample);
        }
    });
    let mut findings = Findings::of(simulation);
    let said = findings.explained(simulation.explain(&simulation.parameters, &outcome));
    mark(&mut sheet, "", &outcome, &said);
    if let Err(contradiction) = simulation.check_run(&outcome) {
        sheet.withhold();
        return Err(withheld(simulation, *contradiction, global));
    }
    sheet.end();
    if let Some(response) = &kept {
        if arguments.verify {
            second_opinion(options, model, (response, &outcome), &mut findings, global)?;
        }
        plot(|| figure(simulation, response), arguments, &mut findings, global);
    }
    Ok(findings.answer(String::new()))
}

/// Marks the end of a run that stopped early.
fn mark(sheet: &mut Sheet<'_>, run: &str, outcome: &Outcome, said: &Diagnostics) {
    if outcome.failure.is_some() {
        let reason = said.iter().find(|diagnostic| diagnostic.is_error());
        sheet.stopped(run, reason.map_or("", |reason| &reason.message));
    }
}

/// Finite changes: the incremental model beside the exact response.
fn perturb(
    arguments: &SimulateArgs,
    options: SimulateOptions,
    model: &Model,
    global: &Global,
) -> Result<Answer, Answer> {
    let token = global.token();
    let perturbed = model
        .perturbed(&options, &arguments.perturb, token)
        .map_err(|reason| refused(model, &options, reason, global))?;
    let simulation = &perturbed.simulation;
    affordable(2 * simulation.numbers(), global)?;
    let (found, [nominal, exact]) = simulation.perturb(perturbed.changes.clone(), token);
    let mut findings = Findings::of(&perturbed);
    let said = findings.explained(perturbed.explain(&simulation.parameters, &nominal));
    let changed = findings.explained(perturbed.explain(&simulation.changed(), &exact));
    let mut checks = Vec::new();
    for (run, outcome) in [("", &nominal), (" with the change", &exact)] {
        let found = perturbed.check_run(outcome).map_err(|found| withheld(&perturbed, *found, global))?;
        checks.extend(found.into_iter().map(|check| (check.what + run, check.residual)));
    }
    plot(|| figures::perturbation(simulation, &found), arguments, &mut findings, global);
    if global.json {
        let mut document = json::Simulation::new(simulation, &found.nominal, &nominal, &said, Vec::new());
        document.perturbation = Some(json::Perturbation::new(simulation, &found));
        document.checks = json::Checks::new(checks);
        return Ok(findings.document(document, global));
    }
    let mut sheet = Sheet::begin(&sheet::perturbation_headings(simulation), global);
    sheet.perturbation(simulation, &found);
    mark(&mut sheet, "", &nominal, &said);
    mark(&mut sheet, "with the change", &exact, &changed);
    sheet.end();
    Ok(findings.answer(String::new()))
}

/// Gradients of costs.
fn gradient(
    arguments: &SimulateArgs,
    options: SimulateOptions,
    model: &Model,
    global: &Global,
) -> Result<Answer, Answer> {
    let token = global.token();
    let found = model
        .gradients(&options, &arguments.gradient, token)
        .map_err(|reason| refused(model, &options, reason, global))?;
    let (costs, gradients) = (&found.simulation, &found.gradients);
    let mut findings = Findings::of(&found);
    let said = findings.explained(found.explain(&costs.parameters, &found.outcome));
    if !global.json {
        if said.has_errors() {
            return Ok(findings.answer(String::new()));
        }
        let tables: Vec<String> = gradients.iter().map(|found| words::gradient(costs, found)).collect();
        return Ok(findings.answer(tables.join("\n")));
    }
    let plain = SimulateOptions { sensitivities: Sensitivities::None, ..options };
    let simulation =
        model.simulation(&plain, token).map_err(|reason| refused(model, &plain, reason, global))?;
    let (response, outcome) = simulation.respond(&simulation.parameters, token);
    let checks = simulation.check_run(&outcome).map_err(|found| withheld(&simulation, *found, global))?;
    let mut document = json::Simulation::new(&simulation, &response, &outcome, &said, Vec::new());
    document.checks = json::Checks::new(checks.into_iter().map(|check| (check.what, check.residual)));
    document.gradients = gradients.iter().map(|gradient| json::Gradient::new(costs, gradient)).collect();
    Ok(findings.document(document, global))
}

/// Plots, where that is asked for, as far as the run came.
fn plot(figure: impl FnOnce() -> Figure, arguments: &SimulateArgs, findings: &mut Findings, global: &Global) {
    if let Some(file) = arguments.plot.as_ref().filter(|_| !global.token().is_cancelled())
        && let Err(diagnostic) = picture::plot(&figure(), file, arguments.theme.into())
    {
        findings.diagnostics.push(*diagnostic);
    }
}

/// The energies where accounts were kept, else outputs and sensitivities.
fn figure(simulation: &Simulation, response: &Response) -> Figure {
    match simulation.energy(response) {
        Some(energy) => figures::energy(&simulation.model, &energy),
        None => figures::response(simulation, response),
    }
}
