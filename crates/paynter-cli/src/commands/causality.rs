//! `paynter causality`: the stroke of every bond, and why it is there.

use crate::answer::{Answer, output};
use crate::args::Global;
use crate::input;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::json::{Bond, Causality, Naming, Storage};
use std::path::Path;

/// Shows the causality of a model.
pub fn run(file: &Path, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let naming = if global.json { Naming::Flat } else { Naming::Shown };
    match model.causality(global.token()) {
        Ok(answer) => {
            let output = output(global, answer.document(naming, &CommandLine), text);
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn text(causality: &Causality) -> String {
    let mut text = format!("{}: causality\n\n", causality.model);
    let mut bonds: Vec<&Bond> = causality.bonds.iter().collect();
    bonds.sort_by_key(|bond| bond.order);
    let rows: Vec<[String; 6]> = bonds.into_iter().map(bond).collect();
    text.push_str(&columns(["STEP", "BOND", "FROM", "", "TO", "WHY"], &rows));
    text.push_str("\n  ⇀ positive power; | the stroke: effort is an input of the element next to it\n");
    if !causality.storage.is_empty() {
        text.push_str("\nStorages\n");
        let rows: Vec<[String; 3]> = causality.storage.iter().map(storage).collect();
        text.push_str(&columns(["STATE", "CAUSALITY", "FORCED BY"], &rows));
    }
    if !causality.integrators.is_empty() {
        text.push_str(&format!("\nIntegrators of signals\n  {}\n", causality.integrators.join(", ")));
    }
    cycles(&mut text, "Algebraic loops", &causality.algebraic_loops);
    cycles(&mut text, "Loops inside the junction structure", &causality.junction_loops);
    cycles(&mut text, "Loops through dependent storages", &causality.differential_loops);
    let (order, rank, index) = (causality.order, causality.rank, causality.index);
    text.push_str(&format!("\norder {order}, rank {rank}, index {index}\n"));
    text
}

/// A bond as a row, drawn with its half arrow and its stroke.
fn bond(bond: &Bond) -> [String; 6] {
    let arrow = if bond.effort_into == bond.to { " ──⇀|" } else { "|──⇀ " };
    [
        bond.step.to_string(),
        bond.name.clone(),
        bond.from.clone(),
        arrow.to_owned(),
        bond.to.clone(),
        bond.reason.clone(),
    ]
}

fn storage(storage: &Storage) -> [String; 3] {
    [storage.state.clone(), storage.causality.word().to_owned(), storage.forced_by.join(" – ")]
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
