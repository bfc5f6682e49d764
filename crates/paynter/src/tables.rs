//! Measured samples that a model reads from CSV files beside it: a line of
//! headings, then numbers. The column `t` (else the first) is the time.

use crate::{Model, NoAnswer};
use paynter_base::{Diagnostic, Diagnostics, World, WorldError, code};
use paynter_graph::{BondGraph, Table};
use paynter_language::MAX_FILE_SIZE;
use paynter_numerics::program::{self, Hold, Tables};
use paynter_view::export::Samples;

/// The samples of a table, or why there are none.
pub(crate) type Column = Result<Samples, String>;

/// Reads every table of a model. What is missing is said when somebody asks for it.
pub(crate) fn read(world: &dyn World, graph: &BondGraph) -> Vec<Column> {
    graph.tables.iter().map(|table| column(world, table)).collect()
}

fn column(world: &dyn World, table: &Table) -> Column {
    let path = &table.path;
    let bytes = world.read(path, MAX_FILE_SIZE).map_err(|error| match error {
        WorldError::NotFound => format!("there is no file `{path}`"),
        WorldError::TooLarge(_) => format!("`{path}` is too large"),
        WorldError::Outside => format!("`{path}` leads outside the model's folder"),
        WorldError::Other(reason) => format!("`{path}` cannot be read: {reason}"),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not text"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let cells = |line: &str| -> Vec<String> {
        line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
    };
    let heads = lines.next().map_or_else(Vec::new, |(_, line)| cells(line));
    let place = |name: &str| heads.iter().position(|head| head == name);
    let Some(wanted) = place(&table.column) else {
        return Err(format!("`{path}` has no column `{}`; it has {}", table.column, heads.join(", ")));
    };
    let time = place("t").unwrap_or(0);
    let mut samples =
        Samples { path: path.clone(), column: table.column.clone(), times: Vec::new(), values: Vec::new() };
    for (number, line) in lines {
        let row = cells(line);
        let cell = |place: usize| row.get(place).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(t), Some(value)) = (cell(time), cell(wanted)) else {
            return Err(format!("line {} of `{path}` has no number where one is needed", number + 1));
        };
        if !t.is_finite() || !value.is_finite() || samples.times.last().is_some_and(|last| t <= *last) {
            return Err(format!(
                "the times of `{path}` do not rise, or a value is not finite, in line {}",
                number + 1
            ));
        }
        samples.times.push(t);
        samples.values.push(value);
    }
    if samples.times.is_empty() { Err(format!("`{path}` has no samples")) } else { Ok(samples) }
}

impl Model {
    /// The samples of every table, by its number, or why one is missing.
    pub fn samples(&self) -> Result<Vec<Samples>, NoAnswer> {
        let spans = self.graph.iter().flat_map(|graph| graph.tables.iter().map(|table| table.span));
        let read = |(column, span): (&Column, _)| {
            column.clone().map_err(|reason| {
                let mut diagnostics = Diagnostics::new();
                diagnostics.push(Diagnostic::new(code::FILE_UNREADABLE, reason).at(span).help(
                    "a table is a CSV file beside the model: a line of headings with `t`, then numbers",
                ));
                NoAnswer::Wrong(diagnostics)
            })
        };
        self.tables.iter().zip(spans).map(read).collect()
    }

    /// The tables for calculations, linear between samples.
    pub fn tables(&self) -> Result<Tables, NoAnswer> {
        let list = self.samples()?.into_iter().filter_map(|samples| {
            // Reading has seen to rising times and finite values.
            program::Table::new(samples.times, samples.values, Hold::Linear).ok()
        });
        Ok(Tables::new(list.collect()))
    }
}
