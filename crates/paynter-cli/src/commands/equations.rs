//! `paynter equations`: the state equations, in symbols.

use crate::answer::{Answer, output, read, too_long};
use crate::args::{Form, Global, Values};
use crate::input;
use crate::spelling::CommandLine;
use paynter::StateEquations;
use paynter::json::{Equations, Matrix};
use std::path::Path;

/// Shows the equations of a model.
pub fn run(file: &Path, form: Form, steps: bool, mass: bool, values: Values, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let token = global.token();
    let found = match mass {
        true => model.equations_with_mass(token),
        false => model.equations(token),
    };
    let answer = found.and_then(|answer| {
        let answer = read(global, if values.numeric { answer.in_numbers().for_people() } else { answer });
        let answer = if values.numeric && !global.json { answer.rounded() } else { answer };
        let mut document = answer.document(&CommandLine);
        if steps {
            let steps = read(global, model.steps(token)?);
            document.steps = Some(steps.document());
            document.written = Some(steps.written(form.notation()));
        } else {
            document.written = form.notation().map(|notation| answer.written(notation));
        }
        Ok((answer, document))
    });
    match answer {
        Ok((answer, document)) => {
            let readable = |e: &Equations| match values.symbolic || values.numeric {
                true => text(e),
                false => readable(&answer, e),
            };
            let output = output(global, document, |e| e.written.clone().unwrap_or_else(|| readable(e)));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

/// The equations in symbols, or in numbers where those are too long to be read.
fn readable(answer: &paynter::Answer<StateEquations>, equations: &Equations) -> String {
    let symbols = text(equations);
    match too_long(&symbols) {
        Some(why) => text(&answer.clone().in_numbers().rounded().document(&CommandLine)) + &why,
        None => symbols,
    }
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
    let rates = equations.states.iter().zip(&equations.f).enumerate();
    let rates = rates.map(|(i, (state, f))| (massive(equations, i).unwrap_or(format!("{state}'")), f));
    section(&mut text, "States", rates.collect());
    let zero = "0".to_owned();
    let constraints = equations.constraints.iter().map(|c| (zero.clone(), &c.residual));
    section(&mut text, "Implicit", constraints.collect());
    let dependent = equations.dependent.iter().map(|(name, value)| (name.clone(), value));
    section(&mut text, "Dependent states", dependent.collect());
    let outputs = equations.outputs.iter().zip(&equations.g).map(|(output, g)| (output.clone(), g));
    section(&mut text, "Outputs", outputs.collect());
    for (name, matrix) in [
        ("E", &equations.e),
        ("A", &equations.a),
        ("B", &equations.b),
        ("C", &equations.c),
        ("D", &equations.d),
    ] {
        if let Some(Matrix::Dense(rows)) = matrix
            && rows.iter().any(|row| !row.is_empty())
            && rows.len() <= 8
        {
            text.push_str(&format!("\n{name}\n{}", grid(rows)));
        }
    }
    text
}

/// The left side of a row of E x' = f, where there is a mass matrix.
fn massive(equations: &Equations, row: usize) -> Option<String> {
    let entries: Vec<(usize, &str)> = match equations.e.as_ref()? {
        Matrix::Dense(rows) => rows.get(row)?.iter().enumerate().map(|(j, e)| (j, e.as_str())).collect(),
        Matrix::Sparse(list) => {
            list.iter().filter(|(i, _, _)| *i == row).map(|(_, j, e)| (*j, e.as_str())).collect()
        }
    };
    let terms = entries.into_iter().filter(|(_, e)| *e != "0").map(|(j, e)| match e {
        "1" => format!("{}'", equations.states[j]),
        e => format!("({e})*{}'", equations.states[j]),
    });
    Some(terms.collect::<Vec<_>>().join(" + "))
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
