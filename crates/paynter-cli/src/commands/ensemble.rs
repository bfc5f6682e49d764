//! `paynter ensemble`: a question asked of many samples.

use crate::answer::{Answer, Exit, output};
use crate::args::{Asked, EnsembleArgs, Global, Limit};
use crate::input;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::ensemble::{Draw, EnsembleOptions, EnsembleQuestion};
use paynter::json::{Ensemble, EnsemblePart, SobolIndex, read_ensemble};
use paynter::number::{significant, unit};
use paynter::simulate::{Sensitivities, SimulateOptions};
use paynter::{BodeOptions, Diagnostic, code};
use std::collections::BTreeMap;

/// Asks many samples, or joins what parts of them told.
pub fn run(arguments: &EnsembleArgs, global: &Global) -> Answer {
    let answered = if arguments.merge { merge(arguments, global) } else { ask(arguments, global) };
    answered.unwrap_or_else(|refusal| refusal)
}

/// The limits in SI: people write them in the units that they are shown.
fn limits(arguments: &EnsembleArgs, part: &EnsemblePart) -> Vec<(String, f64, f64)> {
    let of = |limit: &Limit| {
        let size = part.unit_of(&limit.0).size;
        (limit.0.clone(), limit.1 * size, limit.2 * size)
    };
    arguments.limit.iter().map(of).collect()
}

fn ask(arguments: &EnsembleArgs, global: &Global) -> Result<Answer, Answer> {
    let [file] = arguments.files.as_slice() else {
        let diagnostic = Diagnostic::new(code::BAD_COMMAND_LINE, "an ensemble is of one model");
        return Err(Answer::refusal(global, diagnostic.help("parts are joined with `--merge`"), Exit::Usage));
    };
    let question = match arguments.ask {
        Asked::OperatingPoint => EnsembleQuestion::OperatingPoint,
        Asked::Bode => EnsembleQuestion::Bode(BodeOptions {
            omega: arguments.omega.map(|omega| global.angular(omega)),
            ..BodeOptions::default()
        }),
        Asked::Simulate => EnsembleQuestion::Simulate(Box::new(SimulateOptions {
            t_end: arguments.t_end,
            points: arguments.points as usize,
            times: arguments.times.as_ref().map_or_else(Vec::new, |times| times.0.clone()),
            sensitivities: match arguments.sensitivity.as_slice() {
                [] => Sensitivities::None,
                names => Sensitivities::Names(names.to_vec()),
            },
            solver: arguments.solver.solver.clone(),
            rtol: arguments.solver.rtol,
            atol: arguments.solver.atol,
            step: arguments.solver.step,
            ..SimulateOptions::default()
        })),
    };
    let options = EnsembleOptions {
        draw: Draw {
            quantities: arguments.vary.clone(),
            correlations: arguments.correlate.iter().map(|c| (c.0.clone(), c.1.clone(), c.2)).collect(),
            design: arguments.design,
            seed: arguments.seed,
            samples: arguments.samples,
            indices: arguments.indices,
        },
        question,
        shard: (arguments.shard.0, arguments.shard.1),
    };
    let model = input::load(file, global)?;
    let answer = model
        .ensemble(&options, global.token())
        .map_err(|reason| Answer::unanswered(global, model.sources(), reason))?;
    let part = answer.part();
    let limits = limits(arguments, &part);
    part.answers_to(&limits).map_err(|message| {
        let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
        Answer::refusal(global, diagnostic.help("name answers in `--limit`"), Exit::Wrong)
    })?;
    let document = Ensemble::new(part, &limits, arguments.confidence, answer.diagnostics(&CommandLine));
    Ok(Answer::told(output(global, document.settled(), text), answer.findings, answer.sources))
}

fn merge(arguments: &EnsembleArgs, global: &Global) -> Result<Answer, Answer> {
    let refuse = |message: String| {
        let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
        let help = "give the documents of all parts, made with `--shard I/N --json`, each once";
        Answer::refusal(global, diagnostic.help(help), Exit::Wrong)
    };
    let mut parts: Vec<EnsemblePart> = Vec::new();
    for path in &arguments.files {
        let data = input::data(path, global)?;
        let text = String::from_utf8_lossy(&data.content);
        parts.push(read_ensemble(&text).map_err(|error| refuse(format!("`{}`: {error}", data.path)))?);
    }
    let joined = EnsemblePart::join(parts).map_err(refuse)?;
    let limits = limits(arguments, &joined);
    joined.answers_to(&limits).map_err(refuse)?;
    let document = Ensemble::new(joined, &limits, arguments.confidence, Vec::new());
    Ok(Answer::plain(global, document.settled(), text))
}

fn text(found: &Ensemble) -> String {
    let part = &found.part;
    let range = match found.complete {
        true => String::new(),
        false => format!(", samples {} to {} of them", part.from, part.to.saturating_sub(1)),
    };
    let mut text =
        format!("{}: {} samples ({}, seed {}){range}\n\n", part.model, part.samples, part.design, part.seed);
    let rows: Vec<[String; 7]> = found
        .statistics
        .iter()
        .map(|(name, told)| {
            let shown = part.unit_of(name);
            let number = |value: f64| significant(value / shown.size);
            let last = |list: &[f64]| list.last().copied().map_or("–".to_owned(), number);
            let deviation = told.variance.last().copied().flatten();
            let deviation = deviation.map_or("–".to_owned(), |variance| number(variance.sqrt()));
            let quantile =
                |share: &str| told.quantiles.get(share).map_or("–".to_owned(), |list| last(list));
            let unit = shown.unit.as_deref().map(unit).unwrap_or_default();
            let [mean, least, most] = [&told.mean, &told.least, &told.most].map(|list| last(list));
            [name.clone(), mean, unit, deviation, least, quantile("0.5"), most]
        })
        .collect();
    text.push_str(&columns(
        ["ANSWER (AT ITS END)", "MEAN", "UNIT", "DEVIATION", "LEAST", "MEDIAN", "MOST"],
        &rows,
    ));
    for (name, kept) in &found.shares {
        text.push_str(&format!(
            "\n  {name} keeps its limits in {} % of the samples\n",
            significant(100.0 * kept.share)
        ));
    }
    for (name, by) in &found.indices {
        text.push_str(&format!("\nSobol' indices of {name}\n"));
        text.push_str(&columns(["PARAMETER", "FIRST", "INTERVAL", "TOTAL", "INTERVAL"], &indices(by)));
    }
    match part.failures.as_slice() {
        [] => {}
        failures => {
            text.push_str(&format!("\n{} samples have no answer\n", failures.len()));
            // Reasons that differ by numbers only, as by a time, are told once.
            let kind = |reason: &str| reason.replace(|c: char| c.is_ascii_digit() || ".-".contains(c), "");
            let mut reasons: BTreeMap<String, (&str, usize)> = BTreeMap::new();
            for failure in failures {
                reasons.entry(kind(&failure.reason)).or_insert((&failure.reason, 0)).1 += 1;
            }
            for (reason, count) in reasons.values() {
                text.push_str(&format!("  {count}, the first of them: {reason}\n"));
            }
        }
    }
    text
}

fn indices(by: &BTreeMap<String, SobolIndex>) -> Vec<[String; 5]> {
    let number = |value: Option<f64>| value.map_or("–".to_owned(), significant);
    let interval = |ends: [Option<f64>; 2]| format!("{} … {}", number(ends[0]), number(ends[1]));
    let row = |(name, index): (&String, &SobolIndex)| {
        let (first, total) = (interval(index.first_interval), interval(index.total_interval));
        [name.clone(), number(index.first), first, number(index.total), total]
    };
    by.iter().map(row).collect()
}
