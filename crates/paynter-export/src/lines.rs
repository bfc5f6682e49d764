//! Lines of a program, and the lists of quantities in its comments.

use crate::plan::{Plan, Quantity};

/// Text that grows by lines, each behind an indentation.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
}

impl Lines {
    /// Adds one line.
    pub fn add(&mut self, indent: usize, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&" ".repeat(4 * indent));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Adds a block of lines as it stands, without the line breaks at its ends.
    pub fn block(&mut self, block: &str) {
        self.text.push_str(block.trim_matches('\n'));
        self.text.push('\n');
    }

    /// Adds empty lines.
    pub fn space(&mut self, lines: usize) {
        self.text.push_str(&"\n".repeat(lines));
    }

    /// Ends the text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// How a language counts: the place of an element, `x[0]` or `x(1)`.
pub(crate) type Index = fn(&str, usize) -> String;

/// Rows such as `x[0]  coil.p  [V*s]  flux linkage`, aligned.
pub(crate) fn listed(vector: &str, index: Index, quantities: &[Quantity]) -> Vec<String> {
    let rows: Vec<[String; 4]> = quantities
        .iter()
        .enumerate()
        .map(|(i, q)| {
            let unit = if q.unit.is_empty() { String::new() } else { format!("[{}]", q.unit) };
            [index(vector, i), q.name.clone(), unit, q.doc.clone()]
        })
        .collect();
    aligned(&rows)
}

/// Rows with their columns aligned.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |j: usize| rows.iter().map(|row| row[j].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .filter(|(_, width)| **width > 0)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// What a program's heading says, line by line: the model, its quantities and how they are counted.
pub(crate) fn heading(plan: &Plan, index: Index, parameter: Index) -> Vec<String> {
    let mut lines = vec![match plan.doc.is_empty() {
        true => plan.name.clone(),
        false => format!("{}: {}", plan.name, plan.doc),
    }];
    lines.push(String::new());
    lines.push("Written by Paynter from a bond graph. All quantities are in SI units.".to_owned());
    lines.push(match plan.has_unknowns() {
        true => {
            "x' = f(t, x, u, p), y = g(t, x, u, p), with unknowns z that r(t, x, u, p, z) = 0 determines."
                .to_owned()
        }
        false => "x' = f(t, x, u, p), y = g(t, x, u, p).".to_owned(),
    });
    let sections: [(&str, &str, Index, &[Quantity]); 6] = [
        ("States", "x", index, &plan.states),
        ("Inputs", "u", index, &plan.inputs),
        ("Outputs", "y", index, &plan.outputs),
        ("Unknowns", "z", index, &plan.unknowns),
        ("States of dependent storages", "w", index, &plan.dependent),
        ("Parameters", "p", parameter, &plan.parameters),
    ];
    for (title, vector, index, list) in sections {
        if list.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(format!("{title}:"));
        lines.extend(listed(vector, index, list).into_iter().map(|row| format!("    {row}")));
    }
    lines
}

/// A text as a literal in double quotes; the names and descriptions of models hold no control characters.
pub(crate) fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}
