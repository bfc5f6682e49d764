//! `paynter structure`: what the causal graph says about a model.

use super::equations::grid;
use crate::answer::{Answer, output, read};
use crate::args::{Form, Global};
use crate::input;
use crate::number::complex_list;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::json::{CausalPath, JunctionPort, JunctionStructure, Matrix, Reach, RelativeDegree, Structure};
use paynter::number::significant;
use std::path::Path;

/// Lists longer than this are left to `--json`.
const LISTED_ITEMS: usize = 40;

/// Polynomials longer than this are left to `--json`.
const LONGEST_ZERO_POLYNOMIAL: usize = 100;

/// Shows the structure of a model.
pub fn run(file: &Path, junctions: bool, form: Form, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    match model.structure(junctions, global.token()) {
        Ok(answer) => {
            let answer = read(global, answer);
            let mut structure = answer.document(&CommandLine);
            structure.written = form.notation().map(|notation| answer.written(&structure, notation));
            let output = output(global, structure, |s| s.written.clone().unwrap_or_else(|| text(s)));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn text(structure: &Structure) -> String {
    let mut text = format!("{}: structure\n\n", structure.model);
    text.push_str(&format!("order {}, rank {}\n", structure.order, structure.rank));
    if structure.rank < structure.order {
        text.push_str("  A is singular: s = 0 is a pole, whatever the parameters\n");
    }
    if !structure.conserved.is_empty() {
        text.push_str("\nConserved quantities\n");
        let rows: Vec<[String; 4]> = structure
            .conserved
            .iter()
            .map(|c| {
                let unit = c.total_unit.clone().unwrap_or_default();
                [c.sum.clone(), "=".to_owned(), significant(c.total), unit]
            })
            .collect();
        text.push_str(&columns(["SUM", "", "TOTAL", ""], &rows));
        text.push('\n');
    }
    reach(&mut text, "controllable", &structure.controllability);
    reach(&mut text, "observable", &structure.observability);
    let start = |path: &&CausalPath| structure.inputs.contains(&path.from);
    let (from_inputs, to_outputs): (Vec<_>, Vec<_>) = structure.paths.iter().partition(start);
    paths(&mut text, "Causal paths from inputs to states", &from_inputs);
    paths(&mut text, "Causal paths from states to outputs", &to_outputs);
    if structure.paths_left_out > 0 {
        text.push_str(&format!("  {} longer paths are not listed\n", structure.paths_left_out));
    }
    degrees(&mut text, structure);
    zeros(&mut text, structure);
    flow(&mut text, structure);
    if let Some(junctions) = &structure.junction_structure {
        junction_matrix(&mut text, junctions);
    }
    text
}

fn reach(text: &mut String, word: &str, reach: &Reach) {
    let yes = |holds: bool| if holds { "" } else { "not " };
    text.push_str(&match reach.nominal {
        Some(nominal) if nominal != reach.structural => format!(
            "structurally {}{word}, but {}{word} at the nominal values\n",
            yes(reach.structural),
            yes(nominal)
        ),
        _ => format!("structurally {}{word}\n", yes(reach.structural)),
    });
    for reason in &reach.reasons {
        text.push_str(&format!("  {reason}\n"));
    }
    if !reach.eigenvalues.is_empty() {
        let list = complex_list(&reach.eigenvalues);
        let many = if reach.eigenvalues.len() == 1 { "eigenvalue" } else { "eigenvalues" };
        text.push_str(&format!("  {many} out of reach: {}\n", list.join(", ")));
    }
}

fn paths(text: &mut String, heading: &str, paths: &[&CausalPath]) {
    if paths.is_empty() {
        return;
    }
    text.push_str(&format!("\n{heading}\n"));
    let rows: Vec<[String; 4]> = paths
        .iter()
        .take(LISTED_ITEMS)
        .map(|path| {
            [path.from.clone(), path.to.clone(), path.integrations.to_string(), path.elements.join(" – ")]
        })
        .collect();
    text.push_str(&columns(["FROM", "TO", "INTEGRATIONS", "THROUGH"], &rows));
    if paths.len() > LISTED_ITEMS {
        text.push_str(&format!("  … and {} more (`--json` lists them)\n", paths.len() - LISTED_ITEMS));
    }
}

/// The elements of a way, the middle of a long one left out.
pub fn route(elements: &[String]) -> String {
    const ENDS: usize = 5;
    if elements.len() <= 2 * ENDS {
        return elements.join(" – ");
    }
    let (first, last) = (&elements[..ENDS], &elements[elements.len() - ENDS..]);
    format!("{} – … – {}", first.join(" – "), last.join(" – "))
}

fn degrees(text: &mut String, structure: &Structure) {
    if structure.relative_degree.is_empty() {
        return;
    }
    text.push_str("\nRelative degree\n");
    let shown = |degree: Option<i64>| degree.map_or("–".to_owned(), |degree| degree.to_string());
    let rows: Vec<[String; 4]> = structure
        .relative_degree
        .iter()
        .map(|entry| {
            let mut note = String::new();
            if entry.degree.is_none() {
                note = "the input never shows in the output".to_owned();
            } else if entry.degree != entry.shortest_path {
                note = format!("the shortest causal path has {}; paths cancel", shown(entry.shortest_path));
            }
            if entry.nominal != entry.degree {
                note = match entry.nominal {
                    Some(degree) => format!("{degree} at the nominal values, where paths cancel"),
                    None => "the input does not show at the nominal values".to_owned(),
                };
            }
            [entry.output.clone(), entry.input.clone(), shown(entry.degree), note]
        })
        .collect();
    text.push_str(&columns(["OUTPUT", "INPUT", "DEGREE", ""], &rows));
}

fn zeros(text: &mut String, structure: &Structure) {
    let Some(list) = &structure.zero_dynamics else {
        text.push_str("\nZero dynamics: too long to be written out\n");
        return;
    };
    if list.is_empty() {
        return;
    }
    text.push_str("\nZero dynamics\n");
    let rows: Vec<[String; 5]> = list
        .iter()
        .map(|entry| {
            let is_own = |d: &&RelativeDegree| d.output == entry.output && d.input == entry.input;
            let degree = structure.relative_degree.iter().find(is_own);
            if degree.is_some_and(|d| d.degree.is_some() && d.nominal.is_none()) {
                let why = "the input does not show at the nominal values".to_owned();
                return [entry.output.clone(), entry.input.clone(), why, String::new(), String::new()];
            }
            let zeros = complex_list(&entry.zeros);
            let phase = match (entry.minimum_phase, entry.polynomial.as_str()) {
                (_, "0") => "the input never shows",
                (Some(true), _) => "minimum phase",
                (Some(false), _) => "not minimum phase",
                (None, _) => "",
            };
            let polynomial = if entry.zeros.is_empty() && !entry.polynomial.contains('s') {
                "no zeros".to_owned()
            } else if entry.polynomial.chars().count() > LONGEST_ZERO_POLYNOMIAL {
                "long (`--json` tells it)".to_owned()
            } else {
                entry.polynomial.clone()
            };
            [entry.output.clone(), entry.input.clone(), phase.to_owned(), zeros.join(", "), polynomial]
        })
        .collect();
    text.push_str(&columns(["OUTPUT", "INPUT", "", "ZEROS", "POLYNOMIAL"], &rows));
}

fn flow(text: &mut String, structure: &Structure) {
    let flow = &structure.signal_flow;
    if !structure.definitions.is_empty() {
        let rows: Vec<[String; 2]> =
            structure.definitions.iter().map(|d| [d.name.clone(), d.value.clone()]).collect();
        text.push_str(&format!("\nWith\n{}", columns(["NAME", "VALUE"], &rows)));
    }
    text.push_str(&format!("\nSignal-flow graph: {} nodes, {} edges\n", flow.nodes.len(), flow.edges.len()));
    let rows: Vec<[String; 4]> = flow
        .edges
        .iter()
        .take(LISTED_ITEMS)
        .map(|edge| [edge.from.clone(), "→".to_owned(), edge.to.clone(), edge.gain.clone()])
        .collect();
    text.push_str(&columns(["FROM", "", "TO", "GAIN"], &rows));
    if flow.edges.len() > LISTED_ITEMS {
        text.push_str(&format!("  … and {} more (`--json` lists them)\n", flow.edges.len() - LISTED_ITEMS));
    }
}

fn junction_matrix(text: &mut String, junctions: &JunctionStructure) {
    text.push_str("\nJunction structure: rows = S · columns\n");
    match &junctions.s {
        Matrix::Dense(rows) if rows.len() <= LISTED_ITEMS => {
            let names = |which: fn(&JunctionPort) -> &str| {
                junctions.ports.iter().map(which).collect::<Vec<_>>().join(", ")
            };
            text.push_str(&format!("  rows     {}\n", names(|port| &port.row)));
            text.push_str(&format!("  columns  {}\n\nS\n{}", names(|port| &port.column), grid(rows)));
        }
        _ => text.push_str(&format!("  {} ports; `--json` lists the entries of S\n", junctions.ports.len())),
    }
    text.push_str(if junctions.conserves_power {
        "\npower in equals power out: S is skew-symmetric once its rows are signed by the arrows\n"
    } else {
        "\npower in does not equal power out\n"
    });
}
