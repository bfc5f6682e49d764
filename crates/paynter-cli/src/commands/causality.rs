//! `paynter causality`: the stroke of every bond, and why it is there.

use crate::answer::{Answer, Exit, output};
use crate::args::Global;
use crate::input;
use crate::table::columns;
use paynter::json::{Bond, Causality, Storage};
use std::path::Path;

/// Shows the causality of a model.
pub fn run(file: &Path, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let Some(causality) = model.causality() else {
        return Answer::failure(global, model.diagnostics, model.sources, Exit::Wrong);
    };
    Answer {
        output: output(global, &causality, text),
        exit: Exit::of(&model.diagnostics),
        diagnostics: model.diagnostics,
        sources: model.sources,
    }
}

fn text(causality: &Causality) -> String {
    let mut text = format!("{}: causality\n\n", causality.model);
    let rows: Vec<[String; 6]> = causality.bonds.iter().map(bond).collect();
    text.push_str(&columns(["BOND", "FROM", "", "TO", "STEP", "WHY"], &rows));
    text.push_str("\n  ⇀ positive power; | the stroke: effort is an input of the element next to it\n");
    if !causality.storage.is_empty() {
        text.push_str("\nStorages\n");
        let rows: Vec<[String; 3]> = causality.storage.iter().map(storage).collect();
        text.push_str(&columns(["STATE", "CAUSALITY", "FORCED BY"], &rows));
    }
    cycles(&mut text, "Algebraic loops", &causality.algebraic_loops);
    cycles(&mut text, "Loops inside the junction structure", &causality.junction_loops);
    if !causality.conflicts.is_empty() {
        text.push_str("\nConflicts\n");
        for conflict in &causality.conflicts {
            text.push_str(&format!("  {}: {}\n", conflict.elements.join(", "), conflict.message));
        }
    }
    let (order, rank, index) = (causality.order, causality.rank, causality.index);
    text.push_str(&format!("\norder {order}, rank {rank}, index {index}\n"));
    text
}

/// A bond as a row, drawn with its half arrow and its stroke.
fn bond(bond: &Bond) -> [String; 6] {
    let arrow = match &bond.effort_into {
        Some(element) if *element == bond.to => " ──⇀|",
        Some(_) => "|──⇀ ",
        None => " ──⇀ ",
    };
    [
        bond.name.clone(),
        bond.from.clone(),
        arrow.to_owned(),
        bond.to.clone(),
        bond.step.map_or_else(|| "–".to_owned(), |step| step.to_string()),
        bond.reason.clone().unwrap_or_else(|| "undecided".to_owned()),
    ]
}

fn storage(storage: &Storage) -> [String; 3] {
    [storage.state.clone(), storage.causality.clone(), storage.forced_by.join(" – ")]
}

/// Closed paths, one a line.
fn cycles(text: &mut String, heading: &str, cycles: &[Vec<String>]) {
    if cycles.is_empty() {
        return;
    }
    text.push_str(&format!("\n{heading}\n"));
    for cycle in cycles {
        text.push_str(&format!("  {} – and back\n", cycle.join(" – ")));
    }
}
