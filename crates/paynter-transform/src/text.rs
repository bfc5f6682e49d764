//! Writes a flattened graph as model text that flattens to the same graph.
//!
//! Every statement stands on a line of its own, submodels are gone, names are
//! the flattened ones as single words. Parameters defined from others are gone
//! too, because expressions hold the independent ones. The layout is left to
//! the formatter.

use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::fmt::Write;

use paynter_algebra::{Expr, Pool, Symbol, Target};
use paynter_base::number::shortest;
use paynter_base::{Diagnostics, FileId};
use paynter_graph::dimension::Unit;
use paynter_graph::kind::Ports;
use paynter_graph::{
    BondGraph, Element, End, FlattenOptions, Law, Override, Stored, Tolerance, Variable, flatten, kind_of,
};
use paynter_language::{format, parse_syntax};

use crate::limits::{LONG_LINE, WRITTEN_NODES};
use crate::names::{Names, plain};
use crate::spelling::{Spelling, suffix};

/// What the text shall show beyond the graph itself.
#[derive(Debug, Clone, Default)]
pub struct TextOptions {
    /// Lines of comment above the model.
    pub comments: Vec<String>,
    /// Leave units out.
    pub without_units: bool,
}

/// Writes a graph as model text.
pub fn to_text(pool: &mut Pool, graph: &BondGraph, options: &TextOptions) -> String {
    let mut writer = Writer::new(pool, graph, options);
    writer.write();
    writer.out
}

/// Writes a graph as model text, laid out. Units are left out where they do not fit: nominal variables have
/// none, where laws may ask for them. Where the text would be no model, says why.
pub fn printed(pool: &mut Pool, graph: &BondGraph, comments: Vec<String>) -> Result<String, Diagnostics> {
    let mut options = TextOptions { comments, without_units: false };
    let first = laid_out(&to_text(pool, graph, &options));
    if first.is_ok() {
        return first;
    }
    options.without_units = true;
    laid_out(&to_text(pool, graph, &options)).or(first)
}

/// A text laid out, or what makes it no model.
fn laid_out(text: &str) -> Result<String, Diagnostics> {
    let text = format(text)?;
    let (file, mut found) = parse_syntax(&text, FileId::default());
    if !found.has_errors() {
        found = flatten(&mut Pool::new(), &[file], &FlattenOptions::default()).1;
    }
    if found.has_errors() { Err(found) } else { Ok(text) }
}

struct Writer<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    options: &'a TextOptions,
    spelling: Spelling,
    /// What calls of tables are written as.
    tables: Vec<Symbol>,
    /// Expressions that are written by names where they would be too long otherwise.
    named: BTreeMap<Expr, Expr>,
    /// The names, in order, as parameters defined from others.
    definitions: Vec<(Symbol, Expr)>,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(pool: &'a mut Pool, graph: &'a BondGraph, options: &'a TextOptions) -> Writer<'a> {
        let spelling = Spelling::new(pool, graph);
        let mut writer = Writer {
            pool,
            graph,
            options,
            spelling,
            tables: Vec::new(),
            named: BTreeMap::new(),
            definitions: Vec::new(),
            out: String::new(),
        };
        writer.name_tables();
        writer.name_shared();
        writer
    }

    /// Makes a symbol for each table that is written as the call.
    fn name_tables(&mut self) {
        for table in &self.graph.tables {
            let column = &table.column;
            let word = !column.is_empty()
                && column.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !column.starts_with(|c: char| c.is_ascii_digit());
            let column = if word { column.clone() } else { format!("\"{column}\"") };
            let symbol = self.pool.fresh(&format!("table(\"{}\", {column})", table.path));
            self.tables.push(symbol);
        }
    }

    /// Names what values share where they would be too long to be written out.
    fn name_shared(&mut self) {
        let mut roots = Vec::new();
        for element in &self.graph.elements {
            match &element.law {
                Law::Structure => {}
                Law::Value(value) => roots.push(*value),
                Law::Matrix(rows) => roots.extend(rows.iter().flatten()),
                Law::Equations(laws) => roots.extend(laws.iter().flat_map(|law| [law.left, law.right])),
                Law::Switch { condition, on, off } => roots.extend([*condition, *on, *off]),
            }
            roots.extend(element.initial.iter().map(|(_, value, _)| *value));
        }
        roots.extend(self.graph.inputs.iter().map(|input| input.value));
        roots.extend(self.graph.signals.iter().map(|signal| signal.value));
        roots.extend(self.graph.integrators.iter().flat_map(|i| [i.rate, i.initial]));
        roots.extend(self.graph.outputs.iter().map(|output| output.value));
        if self.pool.written_size(&roots) <= WRITTEN_NODES {
            return;
        }
        let parameters: FxHashSet<Symbol> = self.graph.parameters.iter().map(|p| p.symbol).collect();
        let shared = self.pool.share_over(&roots, &|symbol| parameters.contains(&symbol));
        self.named = roots.into_iter().zip(shared.roots).collect();
        self.definitions = shared.definitions;
    }

    fn expr(&mut self, expr: Expr) -> String {
        let expr = self.named.get(&expr).copied().unwrap_or(expr);
        let expr = if self.tables.is_empty() {
            expr
        } else {
            let tables = &self.tables;
            self.pool.replace_tables(expr, &|table| tables.get(table as usize).copied())
        };
        let name = |symbol: Symbol| {
            self.spelling.readings.get(&symbol).cloned().unwrap_or_else(|| self.pool.name(symbol).to_owned())
        };
        self.pool.print_with(expr, Target::Text, &name).to_string()
    }

    /// A constant, as a decimal number where that is exact.
    fn value(&mut self, expr: Expr) -> String {
        self.pool.decimal_text(expr).unwrap_or_else(|| self.expr(expr))
    }

    /// A value in SI as it stands before a unit, and the unit.
    fn with_unit(&mut self, value: Expr, unit: Option<&Unit>) -> String {
        let Some(unit) = unit.filter(|_| !self.options.without_units) else { return self.value(value) };
        let in_unit = self.pool.div(value, unit.scale);
        if self.pool.as_rational(value).is_some() || self.pool.as_rational(in_unit).is_some() {
            format!("{} [{}]", self.value(in_unit), unit.text)
        } else if unit.factor == 1.0 {
            format!("{} [{}]", self.value(value), unit.text)
        } else {
            self.value(value)
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {text}");
    }

    fn blank(&mut self) {
        if !self.out.ends_with("\n\n") && !self.out.ends_with("{\n") {
            self.out.push('\n');
        }
    }

    fn write(&mut self) {
        for comment in &self.options.comments {
            let _ = writeln!(self.out, "// {comment}");
        }
        let _ = write!(self.out, "model {}", plain(&self.graph.name));
        if let Some(doc) = &self.graph.doc {
            let _ = write!(self.out, " {}", quoted(doc));
        }
        self.out.push_str(" {\n");
        self.parameters();
        self.inputs();
        self.elements();
        self.bonds();
        self.states();
        self.overrides();
        self.signals();
        self.outputs();
        while self.out.ends_with("\n\n") {
            self.out.pop();
        }
        self.out.push_str("}\n");
    }

    fn parameters(&mut self) {
        for parameter in &self.graph.parameters {
            let name = self.spelling.readings[&parameter.symbol].clone();
            let value = parameter.value.expr(self.pool);
            let value = self.with_unit(value, parameter.unit.as_ref());
            let in_unit = value.ends_with(']');
            let factor = match &parameter.unit {
                Some(unit) if in_unit => unit.factor,
                _ => 1.0,
            };
            let mut line = format!("param {name} = {value}");
            match parameter.tolerance {
                Some(Tolerance::Relative(r)) => line.push_str(&format!(" ±{}%", percent(r))),
                Some(Tolerance::Absolute(a)) => line.push_str(&format!(" ±{}", shortest(a / factor))),
                None => {}
            }
            if let Some((low, high)) = parameter.bounds {
                let (low, high) = (shortest(low / factor), shortest(high / factor));
                line.push_str(&format!(" in [{low}, {high}]"));
            }
            if let Some(doc) = &parameter.doc {
                line.push_str(&format!(" {}", quoted(doc)));
            }
            self.line(&line);
        }
        for (symbol, value) in std::mem::take(&mut self.definitions) {
            let value = self.expr(value);
            let line = format!("param {} = {value}", self.pool.name(symbol));
            self.line(&line);
        }
        self.blank();
    }

    fn inputs(&mut self) {
        for input in &self.graph.inputs {
            let name = self.spelling.readings[&input.symbol].clone();
            let mut line = format!("input {name} = {}", self.with_unit(input.value, input.unit.as_ref()));
            if let Some(doc) = &input.doc {
                line.push_str(&format!(" {}", quoted(doc)));
            }
            self.line(&line);
        }
        self.blank();
    }

    fn elements(&mut self) {
        for (index, element) in self.graph.elements.iter().enumerate() {
            let line = self.element(index, element);
            self.line(&line);
        }
        self.blank();
    }

    fn element(&mut self, index: usize, element: &Element) -> String {
        let mut line = element.kind.word().to_owned();
        if let (true, Law::Value(value)) = (kind_of(element.kind).takes_m(), &element.law)
            && self.is_modulated(*value)
        {
            line.insert(0, 'M');
        }
        let _ = write!(line, " {}", self.spelling.elements[index]);
        if element.ports.len() > 1 && kind_of(element.kind).ports() == Ports::Field {
            let _ = write!(line, "[{}]", element.ports.len());
        }
        match &element.law {
            Law::Structure => {}
            Law::Value(value) => {
                let _ = write!(line, " = {}", self.value(*value));
            }
            Law::Matrix(rows) => {
                let rows: Vec<String> = rows
                    .iter()
                    .map(|row| {
                        let row: Vec<String> = row.iter().map(|entry| self.value(*entry)).collect();
                        format!("[{}]", row.join(", "))
                    })
                    .collect();
                let _ = write!(line, " = [{}]", rows.join(", "));
            }
            Law::Equations(equations) => {
                let laws: Vec<String> = equations
                    .iter()
                    .map(|law| format!("{} = {}", self.expr(law.left), self.expr(law.right)))
                    .collect();
                let _ = write!(line, " {{ {} }}", laws.join("; "));
            }
            Law::Switch { condition, on, off } => {
                let (condition, on) = (self.expr(*condition), self.value(*on));
                let _ = write!(line, " when ({condition}) {{ Ron = {on}");
                if *off != self.pool.zero() {
                    let _ = write!(line, "; Goff = {}", self.value(*off));
                }
                line.push_str(" }");
            }
        }
        line
    }

    fn is_modulated(&self, value: Expr) -> bool {
        self.pool.symbols(value).into_iter().any(|symbol| {
            !matches!(
                self.graph.variables.meaning(symbol),
                None | Some(Variable::Parameter(_) | Variable::Input(_) | Variable::Time)
            )
        })
    }

    /// One end of a bond, with its port where the arrows do not say it.
    fn end(&self, end: End) -> String {
        let element = self.graph.element(end.element);
        let name = &self.spelling.elements[end.element.index()];
        let port = end.port + 1;
        match kind_of(element.kind).ports() {
            Ports::Any => name.clone(),
            Ports::Fixed(2) if element.ports.len() == 2 => {
                let implied = element.ports[0].into && !element.ports[1].into;
                if implied { name.clone() } else { format!("{name}.{port}") }
            }
            _ if element.ports.len() > 1 => format!("{name}.{port}"),
            _ => name.clone(),
        }
    }

    fn bonds(&mut self) {
        // Bonds that leave one element in a row share a line.
        let mut last: Option<String> = None;
        for (index, bond) in self.graph.bonds.iter().enumerate() {
            let (from, to) = (self.end(bond.from), self.end(bond.to));
            let named = self.spelling.bonds.get(&index).cloned();
            match named {
                None if last.as_ref() == Some(&from) => {
                    self.out.pop();
                    let _ = writeln!(self.out, ", {to}");
                }
                None => {
                    self.line(&format!("{from} -> {to}"));
                    last = Some(from);
                }
                Some(name) => {
                    self.line(&format!("{from} -> {to} as {name}"));
                    last = None;
                }
            }
        }
        self.blank();
    }

    fn states(&mut self) {
        for (index, element) in self.graph.elements.iter().enumerate() {
            let letter = element.stored().map_or('q', Stored::letter);
            for (port, value, _) in &element.initial {
                let (name, number) = (self.spelling.elements[index].clone(), suffix(element, *port));
                let value = self.value(*value);
                self.line(&format!("init {name}.{letter}{number} = {value}"));
            }
        }
        self.blank();
    }

    fn overrides(&mut self) {
        for entry in &self.graph.overrides {
            let line = match entry {
                Override::Prefer { element, port, integral, .. } => {
                    let name = &self.spelling.elements[element.index()];
                    let port = port.map(|port| format!(".{}", port + 1)).unwrap_or_default();
                    format!("prefer {} {name}{port}", if *integral { "integral" } else { "derivative" })
                }
                Override::Stroke { bond, effort_into, .. } => {
                    let name = self.spelling.bonds.get(&bond.index()).unwrap_or(&self.graph.bond(*bond).name);
                    format!("causality {name} effort_into {}", self.spelling.elements[effort_into.index()])
                }
            };
            self.line(&line);
        }
        self.blank();
    }

    fn signals(&mut self) {
        for signal in &self.graph.signals {
            let (name, value) = (self.spelling.readings[&signal.symbol].clone(), self.expr(signal.value));
            self.line(&format!("signal {name} = {value}"));
        }
        for integrator in &self.graph.integrators {
            let name = self.spelling.readings[&integrator.symbol].clone();
            let (rate, initial) = (self.expr(integrator.rate), self.value(integrator.initial));
            self.line(&format!("signal {name} = integral({rate}, {initial})"));
        }
        self.blank();
    }

    fn outputs(&mut self) {
        let mut names = Names::values();
        for output in &self.graph.outputs {
            let mut line = format!("output {} = {}", names.take(&output.name), self.expr(output.value));
            if let Some(unit) = output.unit.as_ref().filter(|_| !self.options.without_units) {
                let _ = write!(line, " [{}]", unit.text);
            }
            if let Some(doc) = &output.doc {
                let _ = write!(line, " {}", quoted(doc));
            }
            // A long one would push its neighbours' units and descriptions far to the right.
            let long = line.chars().count() > LONG_LINE;
            if long {
                self.blank();
            }
            self.line(&line);
            if long {
                self.blank();
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'").replace(['\n', '\r'], " "))
}

/// A fraction in percent, such that reading it gives the fraction.
fn percent(fraction: f64) -> String {
    let rounded = (fraction * 1e12).round() / 1e10;
    let percent = if rounded / 100.0 == fraction { rounded } else { fraction * 100.0 };
    shortest(percent)
}
