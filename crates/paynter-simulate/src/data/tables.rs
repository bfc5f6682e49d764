//! Measured samples that a model reads from CSV files beside it.

use super::csv::{Csv, Gaps, MAX_DATA_SIZE, decode};
use paynter_base::{Diagnostic, SourceMap, World, WorldError, code};
use paynter_graph::{Samples, Table};
use paynter_numerics::program::{self, Hold, Tables};

/// The samples of a table, or why there are none.
pub type Column = Result<Samples, Box<Diagnostic>>;

/// Reads a table of a model. What is missing is said when somebody asks for it.
pub fn read(world: &dyn World, table: &Table, sources: &mut SourceMap) -> Column {
    let path = &table.path;
    let bytes = world.read(path, MAX_DATA_SIZE).map_err(|error| {
        let reason = match error {
            WorldError::NotFound => format!("there is no file `{path}`"),
            WorldError::TooLarge(_) => format!("`{path}` is larger than {} MB", MAX_DATA_SIZE >> 20),
            WorldError::Outside => format!("`{path}` leads outside the model's folder"),
            WorldError::Other(reason) => format!("`{path}` cannot be read: {reason}"),
        };
        let diagnostic = Diagnostic::new(code::FILE_UNREADABLE, reason).at(table.span);
        let help = "a table is a CSV file beside the model: a line of headings with `t`, then numbers";
        Box::new(diagnostic.help(help))
    })?;
    let (text, read) = match decode(&bytes) {
        Ok(text) => {
            (text, Csv::new(text).and_then(|csv| csv.read(&[csv.plain_place(&table.column)?], Gaps::Refused)))
        }
        Err(error) => ("", Err(error)),
    };
    match read {
        Ok(mut columns) => Ok(Samples {
            path: path.clone(),
            column: table.column.clone(),
            times: columns.times,
            values: columns.values.swap_remove(0),
        }),
        Err(error) => {
            let diagnostic = error.diagnostic(&world.shown(path), text, sources);
            Err(Box::new(diagnostic.label(table.span, "read here")))
        }
    }
}

/// Makes the tables of calculations from the samples of a model.
pub fn tables(samples: impl IntoIterator<Item = Samples>, hold: Hold) -> Tables {
    // Reading has seen to rising times and finite values.
    let table = |samples: Samples| program::Table::new(samples.times, samples.values, hold).ok();
    Tables::new(samples.into_iter().filter_map(table).collect())
}
