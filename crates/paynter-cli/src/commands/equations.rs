//! `paynter equations`: the state equations, in symbols.

use crate::answer::{Answer, Exit, output};
use crate::args::Global;
use crate::input;
use paynter::json::{Equations, Matrix};
use paynter::{Model, NoAnswer};
use std::path::Path;

/// Shows the equations of a model.
pub fn run(file: &Path, global: &Global) -> Answer {
    let mut model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    match model.equations(global.ticket()) {
        Ok(equations) => Answer {
            output: output(global, &equations, text),
            exit: Exit::of(&model.diagnostics),
            diagnostics: model.diagnostics,
            sources: model.sources,
        },
        Err(reason) => no_answer(global, model, reason),
    }
}

/// Says why there is no answer.
pub fn no_answer(global: &Global, model: Model, reason: NoAnswer) -> Answer {
    let diagnostics = match reason {
        NoAnswer::Wrong(diagnostics) => diagnostics,
        NoAnswer::Cancelled => model.diagnostics,
    };
    Answer::failure(global, diagnostics, model.sources, Exit::Wrong)
}

fn text(equations: &Equations) -> String {
    let mut text = format!("{}: equations\n", equations.model);
    let section = |text: &mut String, title: &str, lines: Vec<(String, &String)>| {
        if lines.is_empty() {
            return;
        }
        text.push_str(&format!("\n{title}\n"));
        let width = lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
        for (left, right) in lines {
            let pad = " ".repeat(width - left.chars().count());
            text.push_str(&format!("  {left}{pad} = {right}\n"));
        }
    };
    let definitions = equations.definitions.iter().map(|d| (d.name.clone(), &d.value));
    section(&mut text, "With", definitions.collect());
    let rates = equations.states.iter().zip(&equations.f).map(|(state, f)| (format!("{state}'"), f));
    section(&mut text, "States", rates.collect());
    let zero = "0".to_owned();
    let constraints = equations.constraints.iter().map(|c| (zero.clone(), &c.residual));
    section(&mut text, "Implicit", constraints.collect());
    let dependent = equations.dependent.iter().map(|(name, value)| (name.clone(), value));
    section(&mut text, "Dependent states", dependent.collect());
    let outputs = equations.outputs.iter().zip(&equations.g).map(|(output, g)| (output.clone(), g));
    section(&mut text, "Outputs", outputs.collect());
    for (name, matrix) in [("A", &equations.a), ("B", &equations.b), ("C", &equations.c), ("D", &equations.d)]
    {
        if let Some(Matrix::Dense(rows)) = matrix
            && rows.iter().any(|row| !row.is_empty())
            && rows.len() <= 8
        {
            text.push_str(&format!("\n{name}\n{}", grid(rows)));
        }
    }
    text
}

/// Entries in aligned columns.
pub fn grid(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |j: usize| rows.iter().filter_map(|row| row.get(j)).map(|e| e.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{}{cell}", " ".repeat(width - cell.chars().count())))
            .collect();
        text.push_str(&format!("  {}\n", cells.join("   ")));
    }
    text
}
