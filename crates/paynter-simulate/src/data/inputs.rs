//! Inputs from measured data.

use super::csv::{Csv, DataError, Gaps, decode};
use super::heading::Scale;
use super::record::ClockNotes;
use crate::experiment::refused;
use paynter_algebra::{Expr, Func, Pool};
use paynter_base::{Diagnostic, Diagnostics, SourceMap, closest, code};
use paynter_equations::QueryError;
use paynter_graph::{BondGraph, Variable, flat_name};
use paynter_numerics::Tables;
use paynter_numerics::program::{Hold, Table};

/// A data file: the column `t` is the time, columns named as inputs drive them.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The file's name, for people.
    pub path: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// What measured data make of the inputs.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The signals that replace inputs' own.
    pub inputs: Vec<Option<Expr>>,
    /// The model's tables, then those of the data.
    pub tables: Tables,
    /// The last time of the data.
    pub end: Option<f64>,
}

impl Measured {
    /// A model's own tables, and no measured input.
    pub fn none(tables: Tables) -> Measured {
        Measured { tables, ..Measured::default() }
    }

    /// Reads a data file in the units of the inputs, beside the model's own tables. The file joins the
    /// sources where something is wrong with it; inputs that it does not measure are found out.
    pub fn read(
        pool: &mut Pool,
        graph: &BondGraph,
        tables: Tables,
        (data, hold): (&Data, Hold),
        sources: &mut SourceMap,
        findings: &mut Diagnostics,
    ) -> Result<Measured, QueryError> {
        if graph.inputs.is_empty() {
            let message = format!("the model has no input that `{}` could drive", data.path);
            let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
            return Err(refused(
                diagnostic.help("declare one: `input u`, and use it in a source: `Se s = u`"),
            ));
        }
        let names: Vec<String> = graph.inputs.iter().map(|input| flat_name(&input.name)).collect();
        // An input without a value of its own has nothing else to follow.
        let bare: Vec<bool> = graph.inputs.iter().map(|input| !input.given).collect();
        let (text, columns) = match decode(&data.content) {
            Ok(text) => (text, input_columns(text, graph, &names, &bare)),
            Err(error) => ("", Err(error)),
        };
        let columns = match columns {
            Ok(columns) => columns,
            Err(error) => return Err(refused(error.diagnostic(&data.path, text, sources))),
        };
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| pool.symbol("t"));
        let time = pool.var(time);
        let mut measured = Measured { tables, ..Measured::default() };
        let mut list = measured.tables.list().to_vec();
        let (columns, clock) = columns;
        findings.extend(clock.findings(&data.path));
        for (input, column) in graph.inputs.iter().zip(columns) {
            let Some((times, values)) = column.values else {
                let message = format!("`{}` has no column for the input `{}`", data.path, input.name);
                let help = match column.near {
                    Some(near) => format!(
                        "did you mean to call the column `{near}` so? The input keeps the model's own value"
                    ),
                    None => "add the column, or keep the model's own value, which it has now".to_owned(),
                };
                let diagnostic = Diagnostic::new(code::UNMEASURED_INPUT, message).at(input.span);
                findings.push(diagnostic.help(help));
                measured.inputs.push(None);
                continue;
            };
            measured.end = times.last().copied();
            let number = list.len() as u32;
            // Reading has seen to rising times and finite values.
            list.extend(Table::new(times, values, hold).ok());
            measured.inputs.push(Some(pool.call(Func::Table(number), &[time])));
        }
        measured.tables = Tables::new(list);
        Ok(measured)
    }
}

/// The samples of an input, or the column that may be meant for it.
struct InputColumn {
    values: Option<(Vec<f64>, Vec<f64>)>,
    near: Option<String>,
}

/// Reads the columns that are named as inputs, in SI: at least one must be there, and those of bare inputs.
fn input_columns(
    text: &str,
    graph: &BondGraph,
    names: &[String],
    bare: &[bool],
) -> Result<(Vec<InputColumn>, ClockNotes), DataError> {
    let csv = Csv::new(text)?;
    let known = |name: &String| csv.has(name);
    for (name, _) in names.iter().zip(bare).filter(|(_, bare)| **bare) {
        csv.place(name)?;
    }
    if let Some(first) = names.first()
        && !names.iter().any(known)
    {
        csv.place(first)?;
    }
    let present: Vec<&String> = names.iter().filter(|name| known(name)).collect();
    let places = present.iter().map(|name| csv.place(name)).collect::<Result<Vec<usize>, DataError>>()?;
    let present = graph.inputs.iter().zip(names).filter(|(_, name)| known(name));
    let scales = present
        .zip(&places)
        .map(|((input, name), place)| csv.scale(*place, name, input.unit.as_ref()))
        .collect::<Result<Vec<Scale>, DataError>>()?;
    let columns = csv.read(&places, Gaps::Refused)?;
    let clock = ClockNotes { begins: columns.begins.clone(), passed_over: columns.passed_over.clone() };
    let in_si = |(list, scale): (Vec<f64>, Scale)| list.into_iter().map(|value| scale.in_si(value)).collect();
    let mut values = columns.values.into_iter().zip(scales).map(in_si);
    let free = || csv.others().filter(|heading| !names.iter().any(|name| name == heading));
    let columns = names
        .iter()
        .map(|name| match known(name) {
            true => {
                InputColumn { values: values.next().map(|list| (columns.times.clone(), list)), near: None }
            }
            false => InputColumn { values: None, near: closest(name, free()).map(str::to_owned) },
        })
        .collect();
    Ok((columns, clock))
}
