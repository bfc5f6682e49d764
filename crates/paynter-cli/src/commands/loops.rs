//! `paynter loop`: one loop opened, its margins and step figures.

use crate::answer::{Answer, Exit, output, read};
use crate::args::{Global, LoopArgs, LoopFigure};
use crate::fraction::Denominators;
use crate::spelling::CommandLine;
use crate::table::columns;
use crate::{input, picture};
use paynter::json::{FigureRange, LoopMargins, MarginAt, OpenLoop, StepFigures, WorstLoop};
use paynter::number::{significant, unit as spelled};
use paynter::plot::Figure;
use paynter::{Diagnostic, LocusChoice, LoopOptions, code};

/// What `--over` takes for a factor of the loop gain.
const GAIN: &str = "gain";

/// Loop gains in symbols that are wider are not read.
const READ_COLUMNS: usize = 400;

/// Shows what there is to say about a loop.
pub fn run(arguments: &LoopArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let wants_locus = arguments.over.is_some() || arguments.figure == LoopFigure::Locus;
    let options = LoopOptions {
        open: arguments.open.clone(),
        omega: arguments.omega.map(|omega| global.angular(omega)),
        outputs: arguments.output.clone(),
        inputs: arguments.input.clone(),
        locus: wants_locus.then(|| LocusChoice {
            parameter: arguments.over.clone().filter(|over| over != GAIN),
            range: arguments.range,
        }),
        work: Some(arguments.work * 1_000_000),
    };
    match model.open_loop(&options, global.token()) {
        Ok(answer) => {
            let mut answer = read(global, answer);
            let mut found = answer.document(&CommandLine);
            let figure = || figure(&found, arguments.figure);
            if let Some(wrong) = picture::asked(arguments.plot.as_deref(), arguments.theme, global, figure) {
                answer.findings.push(wrong);
                (found.ok, found.diagnostics) = (false, answer.diagnostics(&CommandLine));
            }
            let output = output(global, found, |found| text(found, global));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn figure(found: &OpenLoop, which: LoopFigure) -> Result<Figure, Box<Diagnostic>> {
    let missing = || {
        let message = "no step response of this loop settles, so there is nothing to plot";
        Box::new(
            Diagnostic::new(code::UNSETTLED_STEP, message)
                .help("plot `nyquist`, `nichols`, `bode` or `locus`"),
        )
    };
    match which {
        LoopFigure::Nyquist => Ok(found.nyquist()),
        LoopFigure::Nichols => Ok(found.nichols()),
        LoopFigure::Bode => Ok(found.bode()),
        LoopFigure::Locus => found.root_locus().ok_or_else(missing),
        LoopFigure::Step => found.steps().ok_or_else(missing),
    }
}

fn text(found: &OpenLoop, global: &Global) -> String {
    let mut text = format!("{}: loop opened at {}\n", found.model, found.open);
    if found.loop_gain.as_ref().is_some_and(|l| l.operating_point.is_some()) {
        text.push_str("The model is not linear: margins and steps are those of its linearisation at the operating point.\n");
    }
    if let Some(entry) = found.loop_gain.as_ref().and_then(|l| l.entries.first()) {
        let symbols = quotient(&entry.num, &entry.den);
        let width = symbols.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let numbers = found.loop_gain_in_numbers().filter(|_| width > READ_COLUMNS);
        text.push_str("\nLoop gain L\n");
        text.push_str(&match numbers {
            Some((num, den)) => quotient(&num, &den) + &in_numbers(width),
            None => symbols,
        });
    }
    let stable = if found.margins.stable { "stable" } else { "not stable" };
    text.push_str(&format!("\nThe closed loop is {stable}.\n\n"));
    let unit = global.frequency_unit();
    let nominal = margins(&found.margins, global);
    let worst = found.margins.worst.as_ref();
    let rows: Vec<[String; 5]> = nominal
        .into_iter()
        .map(|[key, name, value, at]| {
            let (worst, place) = match worst.and_then(|worst| worst.get(&key)) {
                Some(worst) => (worst_value(worst, &key), parameters(found, worst)),
                None => (String::new(), String::new()),
            };
            [name, value, at, worst, place]
        })
        .collect();
    let heading = format!("AT {unit}");
    text.push_str(&columns(["MARGIN", "NOMINAL", heading.as_str(), "WORST FOUND", "AT"], &rows));
    let list = |values: &[f64]| values.iter().map(|w| significant(global.frequency(*w))).collect::<Vec<_>>();
    match list(&found.margins.crossover) {
        crossings if crossings.is_empty() => text.push_str("\n  |L| never is one\n"),
        crossings => text.push_str(&format!("\n  crossover at {} {unit}\n", crossings.join(", "))),
    }
    if let Some(bandwidth) = found.margins.bandwidth {
        let bandwidth = significant(global.frequency(bandwidth));
        text.push_str(&format!("  bandwidth of T: {bandwidth} {unit}\n"));
    }
    let peak = |name: &str, at: &MarginAt| {
        format!("  largest |{name}|: {}{}\n", significant(at.value), place(at, global))
    };
    // Of a loop that is not stable these are no gains of anything.
    if found.margins.stable {
        text.push_str(&peak("S", &found.margins.sensitivity_peak));
        text.push_str(&peak("T", &found.margins.complementary_peak));
    }
    for (output, inputs) in &found.step {
        for (input, step) in inputs {
            text.push_str(&format!("\nStep of {input}, response of {output}\n{}", step_table(step)));
        }
    }
    if let Some(worst) = &found.margins.worst {
        if worst.values().any(|worst| !worst.stable) && !found.step.is_empty() {
            text.push_str(
                "\nWithin the tolerances the loop can be unstable; ranges are those where the response settles.\n",
            );
        }
        text.push_str("\nWorst cases and ranges were found within the tolerances and calculated anew there; they are not proved.\n");
    }
    text
}

/// A loop gain as a quotient, with what its long denominators stand for.
fn quotient(num: &str, den: &str) -> String {
    let denominators = Denominators::of(std::iter::once(den), std::iter::once(num));
    let others = denominators.definitions(None);
    let stacked = denominators.stacked(num, den);
    if others.is_empty() { stacked } else { format!("{stacked}\nwith\n{others}") }
}

/// Why a loop gain is printed in numbers.
fn in_numbers(width: usize) -> String {
    format!("\nIn numbers, for the symbols take {width} columns: `--json` has them.\n")
}

fn place(at: &MarginAt, global: &Global) -> String {
    match at.omega {
        Some(omega) => format!(" at {} {}", significant(global.frequency(omega)), global.frequency_unit()),
        None => " at infinity".to_owned(),
    }
}

/// Key, name, value and frequency of each margin.
fn margins(margins: &LoopMargins, global: &Global) -> Vec<[String; 4]> {
    let frequency = |omega: Option<f64>| omega.map_or("∞".to_owned(), |w| significant(global.frequency(w)));
    let row = |key: &str, name: &str, at: Option<MarginAt>, unit: &str, none: &str| {
        let (value, place) = match at {
            Some(at) => (value_text(at.value, key, unit), frequency(at.omega)),
            None => (none.to_owned(), "–".to_owned()),
        };
        [key.to_owned(), name.to_owned(), value, place]
    };
    if !margins.stable {
        return vec![
            row("gain", "stable from", margins.gain, "", "no growth"),
            row("least_gain", "stable up to", margins.least_gain, "", "no decrease"),
        ];
    }
    let disk = margins.disk.map(|disk| MarginAt { value: disk.value, omega: disk.omega, hz: disk.hz });
    vec![
        row("gain", "gain", margins.gain, "", "any growth"),
        row("least_gain", "least gain", margins.least_gain, "", "any decrease"),
        row("phase", "phase", margins.phase, "°", "any"),
        row("delay", "delay", margins.delay, " s", "any"),
        row("disk", "disk", disk, "", "any"),
    ]
}

/// A margin with its unit; gains in decibel too.
fn value_text(value: f64, key: &str, unit: &str) -> String {
    match key {
        "gain" | "least_gain" => {
            format!("×{} ({} dB)", significant(value), significant(20.0 * value.log10()))
        }
        _ => format!("{}{unit}", significant(value)),
    }
}

fn worst_value(worst: &WorstLoop, key: &str) -> String {
    match (worst.stable, key) {
        (false, _) => "not stable".to_owned(),
        (true, "phase") => value_text(worst.value, key, "°"),
        (true, "delay") => value_text(worst.value, key, " s"),
        (true, _) => value_text(worst.value, key, ""),
    }
}

fn parameters(found: &OpenLoop, worst: &WorstLoop) -> String {
    let entry = |(name, value): (&String, &f64)| {
        let shown = found.parameters_shown.get(name).cloned().unwrap_or_default();
        let unit = shown.unit.as_deref().map_or_else(String::new, |unit| format!(" {}", spelled(unit)));
        format!("{name} = {}{unit}", significant(shown.of(*value)))
    };
    worst.parameters.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// The parameter whose tolerance moves a figure most, with its derivative.
fn steepest(range: &FigureRange) -> Option<(&String, f64)> {
    let known = range.sensitivity.iter().filter_map(|(name, derivative)| Some((name, (*derivative)?)));
    let moving = known.filter(|(_, derivative)| *derivative != 0.0);
    moving.max_by(|a, b| {
        let moves = |(name, derivative): &(&String, f64)| {
            let span = range.tolerance_of.get(*name).copied().unwrap_or(1.0);
            (derivative * span).abs()
        };
        moves(a).total_cmp(&moves(b))
    })
}

fn step_table(step: &StepFigures) -> String {
    let optional = |value: Option<f64>| value.map_or("–".to_owned(), significant);
    let rows = [
        (
            "final_value",
            format!("final value{}", step.shown.brackets()),
            Some(step.shown.of(step.final_value)),
        ),
        ("rise_time", "rise time [s]".to_owned(), step.rise_time),
        ("settling_time", "settling time [s]".to_owned(), step.settling_time),
        ("overshoot", "overshoot [%]".to_owned(), step.overshoot),
    ];
    let rows = rows.map(|(key, name, value)| {
        let range = step.tolerance.get(key);
        let (between, most) = match range {
            Some(range) => {
                let steepest = steepest(range).map_or(String::new(), |(name, derivative)| {
                    let shown = range.sensitivity_shown.get(name).cloned().unwrap_or_default();
                    let unit =
                        shown.unit.as_deref().map_or_else(String::new, |unit| format!(" {}", spelled(unit)));
                    format!("∂/∂{name} = {}{unit}", significant(shown.of(derivative)))
                });
                let number = |value: f64| significant(range.shown.of(value));
                (format!("{} … {}", number(range.low), number(range.high)), steepest)
            }
            None => (String::new(), String::new()),
        };
        [name, optional(value), between, most]
    });
    columns(["FIGURE", "NOMINAL", "WITHIN TOLERANCES", "MOST MOVED BY"], &rows)
}
