//! `paynter operating-point`: the steady state.

use super::equations::grid;
use crate::answer::{Answer, output, read};
use crate::args::{Form, Global};
use crate::input;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::Model;
use paynter::json::{LinearModel, Matrix, Naming, OperatingPoint, Role};
use paynter::number::significant;
use std::path::Path;

/// The matrices of larger models are left to `--json`.
const SHOWN_STATES: usize = 8;

/// Shows the steady state of a model.
pub fn run(file: &Path, form: Form, sensitivity: &[String], global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let only: &[String] = if sensitivity.iter().any(|name| name == "all") { &[] } else { sensitivity };
    shown(&model, form, (!sensitivity.is_empty()).then_some(only), global)
}

/// The steady state, with its derivatives by some parameters (all where none is named) where they are wanted.
pub fn shown(model: &Model, form: Form, moved_by: Option<&[String]>, global: &Global) -> Answer {
    let naming = if global.json { Naming::Flat } else { Naming::Shown };
    let found = model.operating_point(global.token()).and_then(|answer| {
        let moves = moved_by.map(|only| model.steady_sensitivity(only, global.token())).transpose()?;
        Ok((answer, moves))
    });
    match found {
        Ok((answer, moves)) => {
            let answer = read(global, answer);
            let mut point = answer.document(&CommandLine);
            moves.iter().for_each(|moves| moves.complete(&mut point, naming));
            point.written = form.notation().map(|notation| answer.written(&point, notation));
            let output = output(global, point, |p| p.written.clone().unwrap_or_else(|| text(p)));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

/// The matrices of a small model near the point, in symbols and in numbers.
fn derivatives(text: &mut String, linear: &LinearModel) {
    let symbols = [("A", &linear.a), ("B", &linear.b), ("C", &linear.c), ("D", &linear.d)];
    for ((name, symbols), (_, numbers)) in symbols.into_iter().zip(linear.numeric.named()) {
        if let Matrix::Dense(rows) = symbols
            && rows.iter().any(|row| !row.is_empty())
            && linear.numeric.a.len() <= SHOWN_STATES
        {
            // What matrices that are too long share has names.
            if name == "A" && !linear.definitions.is_empty() {
                let rows: Vec<[String; 2]> =
                    linear.definitions.iter().map(|d| [d.name.clone(), d.value.clone()]).collect();
                text.push_str(&format!("\nWith\n{}", columns(["name", "value"], &rows)));
            }
            let numbers: Vec<Vec<String>> =
                numbers.iter().map(|row| row.iter().map(|value| significant(*value)).collect()).collect();
            text.push_str(&format!("\n{name} near the point\n{}\n{}", grid(rows), grid(&numbers)));
        }
    }
}

fn text(point: &OperatingPoint) -> String {
    let mut text = format!("{}: operating point\n", point.model);
    let sections = [
        (Role::Input, "Inputs at t = 0"),
        (Role::State, "States"),
        (Role::Unknown, "Implicit unknowns"),
        (Role::Output, "Outputs"),
    ];
    for (role, title) in sections {
        let rows: Vec<[String; 3]> = point
            .quantities
            .iter()
            .filter(|quantity| quantity.role == role)
            .map(|q| {
                let value = q.value.map_or_else(|| "undefined".to_owned(), significant);
                [q.name.clone(), value, q.unit.clone().unwrap_or_default()]
            })
            .collect();
        if !rows.is_empty() {
            text.push_str(&format!("\n{title}\n{}", columns(["name", "value", "unit"], &rows)));
        }
    }
    if !point.sensitivities.is_empty() {
        let rows: Vec<[String; 4]> = point
            .sensitivities
            .iter()
            .map(|d| {
                let value = d.value.map_or_else(|| "undefined".to_owned(), |v| significant(d.shown.of(v)));
                [d.quantity.clone(), d.parameter.clone(), value, d.value_unit.clone().unwrap_or_default()]
            })
            .collect();
        let table = columns(["of", "by", "derivative", "unit"], &rows);
        text.push_str(&format!("\nSensitivities of the steady state, conserved totals held\n{table}"));
    }
    if !point.dependent.is_empty() {
        let rows: Vec<[String; 2]> =
            point.dependent.iter().map(|(name, value)| [name.clone(), significant(*value)]).collect();
        text.push_str(&format!("\nDependent states\n{}", columns(["name", "value"], &rows)));
    }
    if let Some(linear) = point.linear.as_ref().filter(|linear| linear.linearised) {
        derivatives(&mut text, linear);
    }
    text
}
