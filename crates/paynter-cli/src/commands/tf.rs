//! `paynter tf`: transfer functions, in symbols.

use super::structure::route;
use crate::answer::{Answer, output, read, too_long};
use crate::args::{Form, Global, Method, Values};
use crate::fraction::Denominators;
use crate::input;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::Model;
use paynter::json::Transfer;
use paynter::number::significant;
use std::path::Path;

/// Shows the transfer matrix of a model.
pub fn run(file: &Path, method: Method, form: Form, terms: usize, values: Values, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    if values.numeric {
        return match model.transfer_in_numbers(global.token()) {
            Ok(answer) => {
                let answer = read(global, answer);
                let output = output(global, answer.document(&CommandLine), text);
                Answer::told(output, answer.findings, answer.sources)
            }
            Err(reason) => Answer::unanswered(global, model.sources(), reason),
        };
    }
    let found = match method {
        Method::Matrix => model.transfer(terms, global.token()),
        Method::Mason => model.transfer_by_mason(terms, global.token()),
    };
    match found {
        Ok(answer) => {
            let answer = read(global, answer);
            let mut transfer = answer.document(&CommandLine);
            transfer.written = form.notation().map(|notation| answer.written(notation));
            let readable = |t: &Transfer| match values.symbolic {
                true => text(t),
                false => readable(&model, t, global),
            };
            let output = output(global, transfer, |t| t.written.clone().unwrap_or_else(|| readable(t)));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

/// The transfer functions in symbols, or in numbers where those are too long to be read.
fn readable(model: &Model, transfer: &Transfer, global: &Global) -> String {
    let symbols = text(transfer);
    let Some(why) = too_long(&symbols) else { return symbols };
    match model.transfer_in_numbers(global.token()) {
        Ok(numbers) => text(&numbers.for_people().document(&CommandLine)) + &why,
        Err(_) => symbols,
    }
}

fn text(transfer: &Transfer) -> String {
    let mut text = format!("{}: transfer functions\n", transfer.model);
    if let Some(reason) = &transfer.budget {
        text.push_str(&format!("\nnot written out, because {reason}; shared parts have names\n"));
    }
    if !transfer.definitions.is_empty() {
        text.push_str("\nWith\n");
        for definition in &transfer.definitions {
            text.push_str(&format!("  {} = {}\n", definition.name, definition.value));
        }
    }
    mason(&mut text, transfer);
    let whole = transfer.denominator.as_deref();
    // Mason's determinant is called Δ already.
    let taken = transfer.determinant.is_some().then_some("Δ");
    let own = transfer.entries.iter().map(|entry| entry.den.as_str());
    let beside = transfer.entries.iter().map(|entry| entry.num.as_str()).chain(taken);
    let denominators = Denominators::of(whole.into_iter().chain(own), beside);
    if let Some(denominator) = whole {
        text.push_str("\nCharacteristic polynomial\n");
        text.push_str(&denominators.definition(denominator));
    }
    let others = denominators.definitions(whole);
    if !others.is_empty() {
        text.push_str(&format!("\nDenominators\n{others}"));
    }
    if let Some(point) = &transfer.operating_point {
        text.push_str("\nLinearised at the operating point\n");
        for (name, value) in point.inputs.iter().chain(&point.states).chain(&point.unknowns) {
            text.push_str(&format!("  {name} = {}\n", significant(*value)));
        }
    }
    for entry in &transfer.entries {
        let unit = entry.value_unit.as_ref().map_or_else(String::new, |unit| format!(" [{unit}]"));
        text.push_str(&format!("\n{} / {}{unit}\n", entry.output, entry.input));
        text.push_str(&denominators.stacked(&entry.num, &entry.den));
    }
    text
}

/// Loops and forward paths, as a lecturer would list them.
fn mason(text: &mut String, transfer: &Transfer) {
    let (Some(loops), Some(paths)) = (&transfer.loops, &transfer.paths) else { return };
    text.push_str("\nLoops\n");
    let rows: Vec<[String; 4]> =
        loops.iter().map(|l| [l.name.clone(), "=".to_owned(), l.gain.clone(), route(&l.elements)]).collect();
    text.push_str(&columns(["", "", "GAIN", "THROUGH"], &rows));
    if let Some(determinant) = &transfer.determinant {
        text.push_str(&format!("\nDeterminant\n  Δ = {determinant}\n"));
    }
    text.push_str("\nForward paths\n");
    let rows: Vec<[String; 6]> = paths
        .iter()
        .map(|path| {
            let cofactor = path.cofactor.clone().unwrap_or_else(|| "…".to_owned());
            [
                path.name.clone(),
                "=".to_owned(),
                path.gain.clone(),
                cofactor,
                format!("{} / {}", path.output, path.input),
                route(&path.elements),
            ]
        })
        .collect();
    text.push_str(&columns(["", "", "GAIN", "COFACTOR", "OF", "THROUGH"], &rows));
}
