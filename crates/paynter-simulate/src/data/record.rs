//! The record of an experiment: measured inputs and outputs over time.

use super::Data;
use super::csv::{Csv, DataError, Gaps, decode};
use super::heading::Scale;
use paynter_base::{Diagnostic, SourceMap};
use paynter_graph::dimension::Unit;
use paynter_numerics::program::{Hold, Table};

/// A measured signal: its name in the model, the column that holds it, and its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// What the model calls it.
    pub name: String,
    /// The heading of its column.
    pub column: String,
    /// Its unit in the model, unless the heading has one.
    pub unit: Option<Unit>,
    /// Whether a file without the column is refused.
    pub required: bool,
}

/// What was measured in one experiment, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The times of its samples, rising.
    pub times: Vec<f64>,
    /// Each signal's samples, NaN where one is missing; none where the file has no such column.
    pub columns: Vec<Option<Vec<f64>>>,
}

impl Record {
    /// Reads the columns of some signals; the column of times may have a heading of its own, and a sample time stands in
    /// its place. The file joins the sources where something is wrong with it.
    pub fn read(
        data: &Data,
        signals: &[Signal],
        (time, sample_time): (Option<&str>, Option<f64>),
        sources: &mut SourceMap,
    ) -> Result<Record, Box<Diagnostic>> {
        let (text, record) = match decode(&data.content) {
            Ok(text) => (text, columns(text, signals, (time, sample_time))),
            Err(error) => ("", Err(error)),
        };
        record.map_err(|error| Box::new(error.diagnostic(&data.path, text, sources)))
    }

    /// The samples of a signal as a table; missing ones are bridged by their neighbours.
    pub fn table(&self, signal: usize, hold: Hold) -> Option<Table> {
        let values = self.columns.get(signal)?.as_ref()?;
        let known = self.times.iter().zip(values).filter(|(_, value)| value.is_finite());
        let (times, values) = known.map(|(t, value)| (*t, *value)).unzip();
        Table::new(times, values, hold).ok()
    }
}

fn columns(
    text: &str,
    signals: &[Signal],
    (time, sample_time): (Option<&str>, Option<f64>),
) -> Result<Record, DataError> {
    let csv = Csv::open(text, time, sample_time)?;
    let known = |signal: &Signal| csv.has(&signal.column);
    let present: Vec<bool> = signals.iter().map(|signal| signal.required || known(signal)).collect();
    let wanted = signals.iter().zip(&present).filter(|(_, present)| **present);
    let places =
        wanted.clone().map(|(signal, _)| csv.place(&signal.column)).collect::<Result<Vec<_>, _>>()?;
    let scales = wanted
        .zip(&places)
        .map(|((signal, _), place)| csv.scale(*place, &signal.column, signal.unit.as_ref()))
        .collect::<Result<Vec<Scale>, _>>()?;
    let read = csv.read(&places, Gaps::Kept)?;
    let scaled = scales
        .into_iter()
        .zip(read.values)
        .map(|(scale, list)| list.into_iter().map(|value| scale.in_si(value)).collect::<Vec<f64>>());
    let mut scaled = scaled.collect::<Vec<_>>().into_iter();
    let columns = present.iter().map(|present| present.then(|| scaled.next()).flatten()).collect();
    Ok(Record { times: read.times, columns })
}
