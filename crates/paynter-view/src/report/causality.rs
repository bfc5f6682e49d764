//! The section on causality.

use super::{Block, Cell, Section};
use crate::json;

/// Strokes with their reasons, storages, loops.
pub fn causality(found: &json::Causality) -> Section {
    let mut section = Section::new("causality", "Causality");
    section.text(format!(
        "The model has order {}, structural rank {} and differentiation index {}.",
        found.order, found.rank, found.index
    ));
    let mut bonds: Vec<&json::Bond> = found.bonds.iter().collect();
    bonds.sort_by_key(|bond| bond.order);
    let rows = bonds.into_iter().map(|bond| {
        vec![
            Cell::Number(bond.step.to_string()),
            Cell::Name(bond.name.clone()),
            Cell::Name(bond.from.clone()),
            Cell::Name(bond.to.clone()),
            Cell::Name(bond.effort_into.clone()),
            Cell::Text(bond.reason.clone()),
        ]
    });
    let head = ["Step", "Bond", "From", "To", "Effort enters", "Why"];
    section.table("Strokes in the order they were decided", &head, rows.collect(), "causality");
    if !found.storage.is_empty() {
        let rows = found.storage.iter().map(|storage| {
            vec![
                Cell::Name(storage.state.clone()),
                Cell::Text(storage.causality.word().to_owned()),
                Cell::Text(storage.forced_by.join(" – ")),
            ]
        });
        section.table("Storages", &["State", "Causality", "Forced by"], rows.collect(), "causality");
    }
    if !found.integrators.is_empty() {
        section.text(format!("Signals that are integrated: {}.", found.integrators.join(", ")));
    }
    let mut none = true;
    for (title, loops) in [
        ("Algebraic loops", &found.algebraic_loops),
        ("Loops inside the junction structure", &found.junction_loops),
        ("Loops through dependent storages", &found.differential_loops),
    ] {
        if !loops.is_empty() {
            none = false;
            section.heading(title);
            section
                .blocks
                .push(Block::List(loops.iter().take(50).map(|cycle| cycle.join(" – ").into()).collect()));
        }
    }
    if none {
        section.text("There are no algebraic loops.");
    }
    section
}
