//! `paynter check`: is it a well-formed bond graph.

use crate::answer::{Answer, output, told};
use crate::args::Global;
use crate::spelling::CommandLine;
use crate::{input, render};
use paynter::json::{Check, Summary};
use std::path::Path;

/// Checks a model.
pub fn run(file: &Path, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let answer = match model.check(global.token()) {
        Ok(answer) => answer,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let counts = render::count(&told(answer.findings.clone(), global));
    let output = output(global, answer.document(&CommandLine), |check| text(check, &counts));
    Answer::told(output, answer.findings, answer.sources)
}

/// One line: the verdict, the findings, the model in figures.
fn text(check: &Check, counts: &str) -> String {
    let verdict = if check.ok { "ok" } else { "not a sound model" };
    let mut parts = vec![match &check.summary {
        Some(summary) => format!("{}: {verdict}", summary.model),
        None => verdict.to_owned(),
    }];
    if !counts.is_empty() {
        parts.push(counts.to_owned());
    }
    parts.extend(check.summary.as_ref().filter(|_| check.ok).map(figures));
    parts.join("; ") + "\n"
}

fn figures(summary: &Summary) -> String {
    let mut parts = vec![
        plural(summary.elements, "element"),
        plural(summary.bonds, "bond"),
        plural(summary.states, "state"),
    ];
    parts.extend(summary.order.map(|order| format!("order {order}")));
    parts.extend(summary.index.map(|index| format!("index {index}")));
    parts.extend(
        summary.algebraic_loops.filter(|&loops| loops > 0).map(|loops| plural(loops, "algebraic loop")),
    );
    parts.join(", ")
}

/// A number with its noun.
fn plural(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
