//! `paynter sensitivity`: how transfer functions change with the parameters.

use super::equations::{grid, no_answer};
use crate::answer::{Answer, Exit, output};
use crate::args::{Global, SensitivityArgs};
use crate::input;
use paynter::SensitivityOptions;
use paynter::json::{Matrix, Naming, Sensitivity, SensitivityEntry};

/// Shows the sensitivities of a model.
pub fn run(arguments: &SensitivityArgs, global: &Global) -> Answer {
    let mut model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let options = SensitivityOptions {
        only: arguments.only.clone(),
        normalized: arguments.normalized,
        matrices: arguments.matrices,
    };
    match model.sensitivity(&options, Naming::Flat, global.ticket()) {
        Ok(document) => Answer {
            output: output(global, &document, text),
            exit: Exit::of(&model.diagnostics),
            diagnostics: model.diagnostics,
            sources: model.sources,
        },
        Err(reason) => no_answer(global, model, reason),
    }
}

fn text(document: &Sensitivity) -> String {
    let kind = if document.normalized {
        "relative sensitivities (p/H)·∂H/∂p"
    } else {
        "sensitivities ∂H/∂p"
    };
    let mut text = format!("{}: {kind}\n", document.model);
    if let Some(reason) = &document.budget {
        text.push_str(&format!("\nnot written out, because {reason}; shared parts have names\n"));
        for definition in &document.definitions {
            text.push_str(&format!("  {} = {}\n", definition.name, definition.value));
        }
    }
    for (name, matrix) in [("B̃", &document.b_tilde), ("D̃", &document.d_tilde)] {
        if let Some(Matrix::Dense(rows)) = matrix {
            text.push_str(&format!("\n{name} by {}\n{}", document.parameters.join(", "), grid(rows)));
        }
    }
    for entry in &document.entries {
        let SensitivityEntry { output, input, parameter, .. } = entry;
        text.push_str(&format!("\n∂({output}/{input})/∂{parameter}\n"));
        if entry.num == "0" {
            text.push_str("  0\n");
            continue;
        }
        text.push_str(&fraction(&entry.num, &entry.den));
        if !document.normalized {
            products(&mut text, document, entry);
        }
    }
    text
}

/// A numerator over its denominator.
fn fraction(num: &str, den: &str) -> String {
    if den == "1" {
        return format!("  {num}\n");
    }
    let width = num.chars().count().max(den.chars().count());
    let centred = |part: &str| " ".repeat((width - part.chars().count()) / 2);
    format!("  {}{num}\n  {}\n  {}{den}\n", centred(num), "─".repeat(width), centred(den))
}

/// The product form of an entry: one line for each factor.
fn products(text: &mut String, document: &Sensitivity, entry: &SensitivityEntry) {
    let places = document.products.iter().filter(|place| place.parameter == entry.parameter);
    let mut sign = "=";
    for place in places {
        let from = place.from_sink.iter().find(|ratio| ratio.output == entry.output);
        let to = place.to_quantity.iter().find(|ratio| ratio.input == entry.input);
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from.num == "0" || to.num == "0" {
            continue;
        }
        let rows = [
            (format!("{} → {}", place.sink, entry.output), inline(&from.num, &from.den)),
            (format!("{} → {}", entry.input, place.quantity), inline(&to.num, &to.den)),
        ];
        let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
        for ((left, right), mark) in rows.iter().zip([sign, "×"]) {
            let pad = " ".repeat(width - left.chars().count());
            text.push_str(&format!("  {mark} ({left}){pad}  {right}\n"));
        }
        sign = "+";
    }
}

/// A quotient on one line.
fn inline(num: &str, den: &str) -> String {
    let plain = |part: &str| !part.trim_start_matches('-').contains([' ', '+']);
    let atom = |part: &str| part.chars().all(|c| c.is_alphanumeric() || "_.^".contains(c));
    match den {
        "1" => num.to_owned(),
        _ => {
            let above = if plain(num) { num.to_owned() } else { format!("({num})") };
            if atom(den) { format!("{above}/{den}") } else { format!("{above}/({den})") }
        }
    }
}
