//! The section on structure.

use super::frequency::listed;
use super::{Block, Cell, Section};
use crate::json::{Reach, Structure};
use paynter_base::Remedy;

/// Rank, controllability, observability, relative degrees, zero dynamics, causal paths.
pub fn structure(found: &Structure) -> Section {
    let mut section = Section::new("structure", "Structure");
    section.text(format!(
        "Order {}, structural rank {}. {} {}",
        found.order,
        found.rank,
        told("controllable", &found.controllability),
        told("observable", &found.observability)
    ));
    let reasons = found.controllability.reasons.iter().chain(&found.observability.reasons);
    let mut reasons: Vec<&str> = reasons.map(|reason| reason.as_str()).collect();
    reasons.dedup();
    let reasons: Vec<Remedy> = reasons.into_iter().map(Remedy::from).collect();
    if !reasons.is_empty() {
        section.blocks.push(Block::List(reasons));
    }
    let number = |value: Option<i64>| {
        Cell::Number(value.map_or_else(|| "–".to_owned(), |value| value.to_string().replace('-', "−")))
    };
    if !found.relative_degree.is_empty() {
        let rows = found.relative_degree.iter().map(|degree| {
            vec![
                Cell::Name(format!("{} / {}", degree.output, degree.input)),
                number(degree.degree),
                number(degree.nominal),
                number(degree.shortest_path),
            ]
        });
        let head = ["From input to output", "Relative degree", "At nominal values", "Shortest causal path"];
        section.table(
            "How often an output must be differentiated until the input shows in it",
            &head,
            rows.collect(),
            "structure",
        );
    }
    if let Some(list) = found.zero_dynamics.as_ref().filter(|list| !list.is_empty()) {
        let rows = list.iter().map(|entry| {
            let phase = match entry.minimum_phase {
                Some(true) => "yes",
                Some(false) => "no",
                None => "",
            };
            vec![
                Cell::Name(format!("{} / {}", entry.output, entry.input)),
                Cell::Name(entry.polynomial.clone()),
                Cell::Text(listed(&entry.zeros)),
                Cell::Text(phase.to_owned()),
            ]
        });
        section.table(
            "What still moves while the input holds the output at zero",
            &["From input to output", "Polynomial", "Invariant zeros", "Minimum phase"],
            rows.collect(),
            "structure",
        );
    }
    if !found.paths.is_empty() {
        let rows = found.paths.iter().take(40).map(|path| {
            vec![
                Cell::Name(path.from.clone()),
                Cell::Name(path.to.clone()),
                Cell::Number(path.integrations.to_string()),
                Cell::Text(path.elements.join(" – ")),
            ]
        });
        section.table(
            "Causal paths with the fewest integrations",
            &["From", "To", "Integrations", "Through"],
            rows.collect(),
            "structure",
        );
    }
    section
}

/// Whether all states are in reach, by structure and at nominal values.
fn told(word: &str, reach: &Reach) -> String {
    let by_structure = if reach.structural { "is" } else { "is not" };
    let nominal = match reach.nominal {
        Some(nominal) if nominal == reach.structural => ", and at nominal values as well".to_owned(),
        Some(true) => ", yet it is at nominal values".to_owned(),
        Some(false) => ", yet it is not at nominal values".to_owned(),
        None => String::new(),
    };
    format!("By structure the model {by_structure} {word}{nominal}.")
}
