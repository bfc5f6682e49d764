//! Results as CSV, line by line as they come: outputs in their own units, sensitivities per unit of the parameter.

use crate::answer::{Answer, Exit};
use crate::args::Global;
use crate::picture;
use paynter::number::data;
use paynter::simulate::{Perturbation, Response, Sample, Simulation};
use std::io::{BufWriter, ErrorKind, StdoutLock, Write};
use std::path::Path;

/// A number as a cell; what has no value is an empty one.
fn cell(value: f64) -> String {
    if value.is_nan() { String::new() } else { data(value) }
}

/// So many characters wait until a run has been checked; what is longer is written as it comes.
const WITHHELD: usize = 1 << 20;

/// A CSV document on standard output.
pub struct Sheet<'a> {
    out: BufWriter<StdoutLock<'static>>,
    global: &'a Global,
}

impl Sheet<'_> {
    /// Begins with a line of headings.
    pub fn begin<'a>(headings: &[String], global: &'a Global) -> Sheet<'a> {
        let out = BufWriter::with_capacity(WITHHELD, std::io::stdout().lock());
        let mut sheet = Sheet { out, global };
        sheet.line(&headings.iter().map(|heading| quoted(heading)).collect::<Vec<_>>().join(","));
        sheet
    }

    fn line(&mut self, text: &str) {
        if let Err(error) = writeln!(self.out, "{text}") {
            self.give_up(&error);
        }
    }

    /// Ends the process, since a long run whose results nobody gets is in vain. A reader that has
    /// seen enough, such as `head`, is no mistake.
    fn give_up(&self, error: &std::io::Error) -> ! {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(Exit::Done as i32);
        }
        let diagnostic = picture::unwritable(Path::new("standard output"), &error.to_string());
        std::process::exit(Answer::refusal(self.global, diagnostic, Exit::Wrong).print(self.global) as i32)
    }

    /// Writes a sample.
    pub fn sample(&mut self, simulation: &Simulation, sample: &Sample<'_>) {
        let shown = &simulation.outputs;
        let mut line = data(sample.t);
        let mut put = |value: f64, factor: f64| {
            line.push(',');
            line.push_str(&cell(value / factor));
        };
        sample.outputs.iter().zip(shown).for_each(|(value, column)| put(*value, column.factor));
        let wanted = &simulation.wanted_columns;
        for (column, values) in shown.iter().zip(sample.sensitivities.chunks(wanted.len().max(1))) {
            values.iter().zip(wanted).for_each(|(value, by)| put(*value, column.factor / by.factor));
        }
        self.line(&line);
    }

    /// Writes a whole response, each line behind what names its run.
    pub fn response(&mut self, lead: &str, simulation: &Simulation, response: &Response) {
        let mut columns: Vec<(&Vec<f64>, f64)> = Vec::new();
        let shown = response.outputs.iter().zip(&simulation.outputs);
        columns.extend(shown.map(|(list, column)| (list, column.factor)));
        for (lists, column) in response.sensitivities.iter().zip(&simulation.outputs) {
            let wanted = lists.iter().zip(&simulation.wanted_columns);
            columns.extend(wanted.map(|(list, by)| (list, column.factor / by.factor)));
        }
        self.table(lead, &response.t, &columns);
    }

    /// Writes each output without and with finite changes.
    pub fn perturbation(&mut self, simulation: &Simulation, found: &Perturbation) {
        let lists: Vec<(Vec<f64>, f64)> = (0..simulation.outputs.len())
            .flat_map(|place| {
                let nominal = found.nominal.outputs[place].clone();
                let exact = found.exact.outputs[place].clone();
                [nominal, found.incremental(place), exact, found.difference(place)]
                    .map(|list| (list, simulation.outputs[place].factor))
            })
            .collect();
        let columns: Vec<(&Vec<f64>, f64)> = lists.iter().map(|(list, factor)| (list, *factor)).collect();
        self.table("", &found.nominal.t, &columns);
    }

    /// Writes columns over time; a column may end early.
    fn table(&mut self, lead: &str, t: &[f64], columns: &[(&Vec<f64>, f64)]) {
        for (row, t) in t.iter().enumerate() {
            let mut line = format!("{lead}{}", data(*t));
            for (list, factor) in columns {
                line.push(',');
                list.get(row).iter().for_each(|value| line.push_str(&cell(**value / factor)));
            }
            self.line(&line);
        }
    }

    /// Marks that a run ended early; readers of CSV take such a line for a comment.
    pub fn stopped(&mut self, run: &str, reason: &str) {
        let run = if run.is_empty() { String::new() } else { format!("{run}: ") };
        self.line(&format!("# stopped: {run}{}", reason.replace(['\n', '\r'], " ")));
    }

    /// Drops what has not been written.
    pub fn withhold(self) {
        drop(self.out.into_parts());
    }

    /// Ends the document.
    pub fn end(mut self) {
        if let Err(error) = self.out.flush() {
            self.give_up(&error);
        }
    }
}

/// The headings of a run: the time, the outputs, their sensitivities.
pub fn headings(simulation: &Simulation) -> Vec<String> {
    let mut headings = vec!["t".to_owned()];
    headings.extend(simulation.outputs.iter().map(|column| column.name.clone()));
    for column in &simulation.outputs {
        headings.extend(simulation.wanted.iter().map(|name| format!("d({})/d({name})", column.name)));
    }
    headings
}

/// The headings of finite changes.
pub fn perturbation_headings(simulation: &Simulation) -> Vec<String> {
    let mut headings = vec!["t".to_owned()];
    for column in &simulation.outputs {
        let name = &column.name;
        headings.push(name.clone());
        headings.extend(["incremental", "exact", "difference"].map(|what| format!("{name}_{what}")));
    }
    headings
}

/// A cell, in quotation marks where a reader would stumble.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_a_reader_would_stumble() {
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
