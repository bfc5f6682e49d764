//! The record of an experiment: measured inputs and outputs over time.

use super::Data;
use super::csv::{Csv, DataError, Gaps, decode};
use super::heading::Scale;
use paynter_base::{Diagnostic, Diagnostics, SourceMap, code};
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
    /// The headings of columns that no signal has.
    pub unused: Vec<String>,
    /// What has to be said of its times.
    pub clock: ClockNotes,
}

/// What has to be said of the times of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClockNotes {
    /// The date, time of day or time stamp that they are counted from, where they are written so.
    pub begins: Option<String>,
    /// The heading of a column of times that holds none, in whose place a sample time counts.
    pub passed_over: Option<String>,
}

impl ClockNotes {
    /// Says it of a file.
    pub fn findings(&self, path: &str) -> Diagnostics {
        let mut findings = Diagnostics::new();
        if let Some(begins) = &self.begins {
            let message = format!("times in `{path}` are counted in seconds from its first sample, {begins}");
            findings.push(Diagnostic::new(code::COUNTED_TIMES, message));
        }
        if let Some(heading) = &self.passed_over {
            let message = format!(
                "the column `{heading}` of `{path}` holds what is no time, so that samples are counted by the sample time"
            );
            findings.push(Diagnostic::new(code::UNREAD_TIMES, message));
        }
        findings
    }
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
    let unused = csv.unused(&places);
    let read = csv.read(&places, Gaps::Kept)?;
    let scaled = scales
        .into_iter()
        .zip(read.values)
        .map(|(scale, list)| list.into_iter().map(|value| scale.in_si(value)).collect::<Vec<f64>>());
    let mut scaled = scaled.collect::<Vec<_>>().into_iter();
    let columns = present.iter().map(|present| present.then(|| scaled.next()).flatten()).collect();
    let clock = ClockNotes { begins: read.begins, passed_over: read.passed_over };
    Ok(Record { times: read.times, columns, unused, clock })
}
