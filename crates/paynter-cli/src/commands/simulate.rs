//! `paynter simulate`: the response over time.

use super::equations::no_answer;
use crate::answer::{Answer, Exit, output};
use crate::args::{Global, SimulateArgs};
use crate::number::significant;
use crate::table::columns;
use crate::{input, picture};
use paynter::energy::{Energy, Role};
use paynter::plot::Figure;
use paynter::simulate::{Response, Sensitivities, SimulateOptions, Simulation};
use paynter::{Model, json};
use std::io::{BufWriter, Write};

/// Simulates a model.
pub fn run(arguments: &SimulateArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let mut model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let simulation = match model.simulation(&options(arguments), global.ticket()) {
        Ok(simulation) => simulation,
        Err(reason) => return no_answer(global, model, reason),
    };
    if global.json {
        let (response, outcome) = simulation.respond(&simulation.parameters, global.ticket());
        model.diagnostics.extend(model.explain_run(&simulation, &outcome));
        plot(&simulation, &response, arguments, &mut model);
        let diagnostics = json::Diagnostic::list(&model.diagnostics, &model.sources);
        let mut document = simulation.document(&response, &outcome, diagnostics);
        document.ok = !model.diagnostics.has_errors();
        return answer(model, output(global, &document, |_| String::new()));
    }
    if arguments.energy {
        let (response, outcome) = simulation.respond(&simulation.parameters, global.ticket());
        let said = model.explain_run(&simulation, &outcome);
        model.diagnostics.extend(said);
        plot(&simulation, &response, arguments, &mut model);
        let text = simulation.energy(&response).map_or_else(no_energy, |energy| ledger(&simulation, &energy));
        return answer(model, text);
    }
    // Samples are kept only where they are needed once more.
    let mut kept = arguments.plot.is_some().then(|| simulation.nothing_yet());
    let outcome = stream(&simulation, kept.as_mut(), global);
    let said = model.explain_run(&simulation, &outcome);
    model.diagnostics.extend(said);
    if let Some(response) = &kept {
        plot(&simulation, response, arguments, &mut model);
    }
    answer(model, String::new())
}

fn answer(model: Model, output: String) -> Answer {
    Answer {
        output,
        exit: Exit::of(&model.diagnostics),
        diagnostics: model.diagnostics,
        sources: model.sources,
    }
}

fn options(arguments: &SimulateArgs) -> SimulateOptions {
    let sensitivities = match arguments.sensitivity.as_slice() {
        [] => Sensitivities::None,
        [all] if all == "all" => Sensitivities::All,
        names => Sensitivities::Names(names.to_vec()),
    };
    SimulateOptions {
        t_end: arguments.t_end,
        points: arguments.points,
        rtol: arguments.rtol,
        atol: arguments.atol,
        solver: arguments.solver.clone(),
        step: arguments.step,
        sensitivities,
        energy: arguments.energy,
    }
}

fn no_energy() -> String {
    "no element of the model supplies, stores or dissipates energy\n".to_owned()
}

/// The energies at the end of a run, and how well the balance closes.
fn ledger(simulation: &Simulation, energy: &Energy) -> String {
    let end = |values: &[f64]| values.last().copied().unwrap_or(0.0);
    let rows: Vec<[String; 4]> = energy
        .accounts
        .iter()
        .map(|(entry, values)| {
            let (role, begin) = match entry.role {
                Role::Supply => ("supplied", String::new()),
                Role::Storage => ("stored", significant(values.first().copied().unwrap_or(0.0))),
                Role::Loss => ("dissipated", String::new()),
            };
            [entry.element.clone(), role.to_owned(), begin, significant(end(values))]
        })
        .collect();
    let table = columns(["ELEMENT", "ENERGY", "AT THE BEGINNING", "AT THE END [J]"], &rows);
    format!(
        "{}: energy until t = {} s\n\n{table}\n  the balance closes to within {} J, {} of what was moved\n",
        simulation.model,
        significant(end(&energy.t)),
        bound(energy.balance.iter().fold(0.0, |worst: f64, value| worst.max(value.abs()))),
        bound(energy.error),
    )
}

/// The power of ten that an error stays below.
fn bound(error: f64) -> String {
    if error > 0.0 { format!("1e{}", error.log10().ceil()) } else { "0".to_owned() }
}

/// Plots a response, where that is asked for, as far as the run came.
fn plot(simulation: &Simulation, response: &Response, arguments: &SimulateArgs, model: &mut Model) {
    if let Some(file) = &arguments.plot
        && let Err(diagnostic) = picture::plot(&figure(simulation, response), file, arguments.theme.into())
    {
        model.diagnostics.push(*diagnostic);
    }
}

/// The energies where accounts were kept, else outputs and sensitivities.
fn figure(simulation: &Simulation, response: &Response) -> Figure {
    match simulation.energy(response) {
        Some(energy) => energy.figure(&simulation.model),
        None => simulation.figure(response),
    }
}

/// Writes each sample as a line of CSV as soon as it is known, outputs in their own units.
fn stream(
    simulation: &Simulation,
    mut kept: Option<&mut Response>,
    global: &Global,
) -> paynter::simulate::Outcome {
    let mut out = BufWriter::new(std::io::stdout().lock());
    // A model without outputs shows its states.
    let states = simulation.outputs.is_empty();
    let columns = if states { &simulation.states } else { &simulation.outputs };
    let mut header = vec!["t".to_owned()];
    header.extend(columns.iter().map(|column| column.name.clone()));
    for column in &simulation.outputs {
        header.extend(simulation.wanted.iter().map(|name| format!("d({})/d({name})", column.name)));
    }
    let ticket = global.ticket();
    let mut closed = writeln!(out, "{}", header.join(",")).is_err();
    let outcome = simulation.run(&simulation.parameters, ticket, &mut |sample| {
        let values = if states { sample.states } else { sample.outputs };
        let mut line = number(sample.t);
        for (value, column) in values.iter().zip(columns) {
            line.push_str(&format!(",{}", number(value / column.factor)));
        }
        for (column, values) in
            columns.iter().zip(sample.sensitivities.chunks(simulation.wanted.len().max(1)))
        {
            for value in values {
                line.push_str(&format!(",{}", number(value / column.factor)));
            }
        }
        closed = closed || writeln!(out, "{line}").is_err();
        if let Some(kept) = &mut kept {
            kept.push(sample);
        }
    });
    // A reader that has seen enough, such as `head`, is no mistake.
    let _ = out.flush();
    outcome
}

/// A number with twelve digits, in its shortest form.
fn number(value: f64) -> String {
    format!("{value:.11e}").parse::<f64>().unwrap_or(value).to_string()
}
