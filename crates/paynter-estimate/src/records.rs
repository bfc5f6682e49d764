//! Records of experiments: the columns that are read, the outputs that they hold, the tables of measured inputs.

use crate::question::{Asked, EstimateOptions, Weight, refuse};
use paynter_algebra::{Expr, Func};
use paynter_base::number::shortest;
use paynter_base::{Diagnostic, Diagnostics, QueryError, Remedy, Source, closest, code};
use paynter_graph::{BondGraph, Variable, flat_name};
use paynter_numerics::Tables;
use paynter_numerics::program::Table;
use paynter_simulate::data::{Data, Record, Signal};

/// What the column of times is mapped by.
const TIME: &str = "t";

/// A record with the name of its file.
pub(crate) struct Recorded {
    pub name: String,
    pub record: Record,
}

impl Recorded {
    pub fn length(&self) -> f64 {
        let times = &self.record.times;
        times[times.len() - 1] - times[0]
    }
}

fn wrong(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}

impl EstimateOptions {
    /// The signals that records hold: inputs, then outputs, then columns of weights.
    pub(crate) fn signals(
        &self,
        graph: &BondGraph,
        map: &[(String, String)],
    ) -> Result<Vec<Signal>, QueryError> {
        let inputs =
            graph.inputs.iter().map(|input| (flat_name(&input.name), input.unit.as_ref(), !input.given));
        let outputs =
            graph.outputs.iter().map(|output| (flat_name(&output.name), output.unit.as_ref(), false));
        let all: Vec<_> = inputs.chain(outputs).collect();
        for (name, _) in map.iter().filter(|(name, _)| name != TIME) {
            if !all.iter().any(|(known, ..)| *known == flat_name(name)) {
                let near = closest(name, all.iter().map(|(known, ..)| known.as_str()));
                let help = near.map_or_else(
                    || "the model's inputs and outputs have columns".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(refuse(format!("there is no input or output `{name}` to map a column to"), help));
            }
        }
        let signal = |(name, unit, required): (String, Option<&paynter_graph::dimension::Unit>, bool)| {
            let mapped = map.iter().find(|(known, _)| flat_name(known) == name);
            let column = mapped.map_or_else(|| name.clone(), |(_, column)| column.clone());
            Signal { name, column, unit: unit.cloned(), required: required || mapped.is_some() }
        };
        let mut signals: Vec<Signal> = all.into_iter().map(signal).collect();
        for (name, weight) in &self.weights {
            if let Weight::Column(column) = weight {
                let (name, column) = (name.clone(), column.clone());
                signals.push(Signal { name, column, unit: None, required: true });
            }
        }
        Ok(signals)
    }

    /// Reads some files.
    pub(crate) fn read(
        &self,
        asked: &mut Asked<'_, '_>,
        files: &[Data],
        map: &[(String, String)],
    ) -> Result<Vec<Recorded>, QueryError> {
        let signals = self.signals(asked.subject.graph, map)?;
        let mut records = Vec::new();
        for data in files {
            let time = map.iter().find(|(name, _)| name == TIME).map(|(_, column)| column.as_str());
            let record = Record::read(data, &signals, (time, self.sample_time), asked.sources)
                .map_err(|found| wrong(*found))?;
            asked.findings.extend(record.clock.findings(&data.path));
            // Every file has its number among the sources, so that one that is wrong is found by it.
            asked.sources.add(Source::new(data.path.clone(), ""));
            if record.times.len() < 2 {
                return Err(refuse(
                    format!("`{}` has one sample only", data.path),
                    "a record is two samples or more",
                ));
            }
            let unused = unused_columns(&data.path, &record, &signals);
            unused.into_iter().for_each(|told| asked.findings.push(told));
            records.push(Recorded { name: data.path.clone(), record });
        }
        Ok(records)
    }

    /// The places of the outputs that some record has.
    pub(crate) fn fitted_outputs(
        &self,
        graph: &BondGraph,
        records: &[Recorded],
    ) -> Result<Vec<usize>, QueryError> {
        let inputs = graph.inputs.len();
        if graph.outputs.is_empty() {
            return Err(refuse(
                "the model has no output that could be measured",
                "declare one: `output y = tank.e`, and call its column `y`",
            ));
        }
        let known = |recorded: &Recorded, place: usize| {
            let column = recorded.record.columns[inputs + place].as_ref();
            column.is_some_and(|list| list.iter().any(|value| value.is_finite()))
        };
        let fitted = &records[..records.len() - self.validation.len()];
        let places: Vec<usize> = (0..graph.outputs.len())
            .filter(|place| fitted.iter().any(|record| known(record, *place)))
            .collect();
        if places.is_empty() {
            let names: Vec<String> = graph.outputs.iter().map(|output| flat_name(&output.name)).collect();
            let empty =
                |place: &usize| fitted.iter().any(|record| record.record.columns[inputs + place].is_some());
            if let Some(place) = (0..names.len()).find(empty) {
                return Err(refuse(
                    format!("the column of `{}` holds no sample that is a number", names[place]),
                    "an empty cell, `NaN` or `NA` is a missing sample; measure some",
                ));
            }
            return Err(refuse(
                "the data hold no samples of any output",
                Remedy::marked(
                    "call a column as the output, or tell with {option map=OUTPUT=COLUMN} which one it is",
                )
                .and(format!("; outputs are {}", names.join(", "))),
            ));
        }
        let none = |recorded: &&Recorded| !places.iter().any(|place| known(recorded, *place));
        if let Some(recorded) = records.iter().find(none) {
            return Err(refuse(
                format!("`{}` holds no samples of an output that is fitted", recorded.name),
                "leave the file out, or measure an output in it",
            ));
        }
        Ok(places)
    }

    /// What replaces measured inputs, and the tables of every record.
    pub(crate) fn tables(
        &self,
        asked: &mut Asked<'_, '_>,
        records: &[Recorded],
    ) -> Result<(Vec<Option<Expr>>, Vec<Tables>), QueryError> {
        let graph = asked.subject.graph;
        let own = asked.subject.measured.tables.list().to_vec();
        for (table, recorded) in
            own.iter().flat_map(|table| records.iter().map(move |record| (table, record)))
        {
            let times = &recorded.record.times;
            let (first, last) = (times[0], times[times.len() - 1]);
            let span = (table.times()[0], table.times()[table.times().len() - 1]);
            if span.1 <= first || span.0 >= last {
                return Err(refuse(
                    format!(
                        "a table of the model covers times from {} to {}, the data those from {} to {}",
                        shortest(span.0),
                        shortest(span.1),
                        shortest(first),
                        shortest(last)
                    ),
                    "let both count time from the same moment",
                ));
            }
        }
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| asked.pool.symbol("t"));
        let time = asked.pool.var(time);
        let mut inputs = Vec::new();
        let mut lists = vec![own.clone(); records.len()];
        for (place, input) in graph.inputs.iter().enumerate() {
            if records.iter().all(|recorded| recorded.record.columns[place].is_none()) {
                inputs.push(None);
                continue;
            }
            for (recorded, list) in records.iter().zip(&mut lists) {
                let Some(table) = recorded.record.table(place, self.hold) else {
                    return Err(refuse(
                        format!(
                            "`{}` holds no samples of the input `{}`",
                            recorded.name,
                            flat_name(&input.name)
                        ),
                        "an input that is measured in one experiment is measured in all",
                    ));
                };
                let held = held(recorded, graph, place, &table)?;
                held.into_iter().for_each(|told| asked.findings.push(told));
                list.push(table);
            }
            let number = (lists[0].len() - 1) as u32;
            inputs.push(Some(asked.pool.call(Func::Table(number), &[time])));
        }
        Ok((inputs, lists.into_iter().map(Tables::new).collect()))
    }
}

/// Warns of columns that nothing has, where an input or an output has none: its heading may be another.
fn unused_columns(path: &str, record: &Record, signals: &[Signal]) -> Option<Diagnostic> {
    let without = signals.iter().zip(&record.columns).filter(|(_, column)| column.is_none());
    let without: Vec<&str> = without.map(|(signal, _)| signal.name.as_str()).collect();
    let (Some(signal), Some(column)) = (without.first(), record.unused.first()) else { return None };
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let unused: Vec<&str> = record.unused.iter().map(String::as_str).collect();
    let message =
        format!("`{path}` has no column for {}, and {} is not used", quoted(&without), quoted(&unused));
    let help = Remedy::from("where that is its heading, say so: ")
        .option("map", format!("{signal}={column}"))
        .and("; an input without a column keeps the model's own value, an output is not fitted");
    Some(Diagnostic::new(code::UNUSED_COLUMN, message).help(help))
}

/// Warns of a measured input that keeps its first or last sample while outputs are measured, and refuses one that is
/// measured at no time at which they are.
fn held(
    recorded: &Recorded,
    graph: &BondGraph,
    place: usize,
    table: &Table,
) -> Result<Option<Diagnostic>, QueryError> {
    let Record { times, columns, .. } = &recorded.record;
    let outputs = &columns[graph.inputs.len()..graph.inputs.len() + graph.outputs.len()];
    let is_measured = |k: &usize| outputs.iter().flatten().any(|column| column[*k].is_finite());
    let measured: Vec<f64> = (0..times.len()).filter(is_measured).map(|k| times[k]).collect();
    let (Some(begin), Some(end)) = (measured.first(), measured.last()) else { return Ok(None) };
    let known = table.times();
    let (first, last) = (known[0], known[known.len() - 1]);
    // A sample stands for the time up to the next one.
    let spacing = (last - first) / (known.len().max(2) - 1) as f64;
    let name = flat_name(&graph.inputs[place].name);
    if *begin > last + spacing || *end < first - spacing {
        let [first, last, begin, end] = [first, last, *begin, *end].map(shortest);
        return Err(refuse(
            format!(
                "in `{}` the input `{name}` is measured from t = {first} to {last}, outputs from {begin} to {end}",
                recorded.name
            ),
            "measure them at the same times, or let both count time from the same moment",
        ));
    }
    if *begin >= first - spacing && *end <= last + spacing {
        return Ok(None);
    }
    let message = format!(
        "`{}` measures the input `{name}` from t = {} to {} only: outside it keeps its nearest sample",
        recorded.name,
        shortest(first),
        shortest(last)
    );
    let help = "measure it as long as the outputs, or leave out samples of outputs beyond it";
    Ok(Some(Diagnostic::new(code::HELD_INPUT, message).help(help)))
}
