//! `paynter operating-point`: the steady state.

use super::equations::no_answer;
use crate::answer::{Answer, Exit, output};
use crate::args::Global;
use crate::input;
use crate::number::significant;
use crate::table::columns;
use paynter::json::{OperatingPoint, Role};
use std::path::Path;

/// Shows the steady state of a model.
pub fn run(file: &Path, global: &Global) -> Answer {
    let mut model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    match model.operating_point(global.ticket()) {
        Ok(point) => Answer {
            output: output(global, &point, text),
            exit: Exit::of(&model.diagnostics),
            diagnostics: model.diagnostics,
            sources: model.sources,
        },
        Err(reason) => no_answer(global, model, reason),
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
    if !point.dependent.is_empty() {
        let rows: Vec<[String; 2]> =
            point.dependent.iter().map(|(name, value)| [name.clone(), significant(*value)]).collect();
        text.push_str(&format!("\nDependent states\n{}", columns(["name", "value"], &rows)));
    }
    text
}
