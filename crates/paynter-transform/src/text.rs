//! Writes a flattened graph as model text that flattens to the same graph.
//!
//! Every statement stands on a line of its own, submodels are gone, names are
//! the flattened ones as single words. Parameters defined from others are gone
//! too, because expressions hold the independent ones. The layout is left to
//! the formatter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use paynter_algebra::{Expr, Pool, Symbol, Target};
use paynter_graph::dimension::Unit;
use paynter_graph::{
    BondGraph, BondId, Element, ElementId, End, Kind, Law, Override, Tolerance, Variable, is_junction,
};
use rustc_hash::FxHashMap;

use crate::names::{Names, is_local, is_number, plain};

/// Lines longer than this stand apart, so that the formatter does not align others with them.
const LONG_LINE: usize = 100;

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

struct Writer<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    options: &'a TextOptions,
    /// How each symbol is read outside of laws.
    readings: FxHashMap<Symbol, String>,
    /// The names of elements as they are written.
    elements: Vec<String>,
    /// The names of bonds that are written with them.
    named: BTreeMap<usize, String>,
    /// What calls of tables are written as.
    tables: Vec<Symbol>,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(pool: &'a mut Pool, graph: &'a BondGraph, options: &'a TextOptions) -> Writer<'a> {
        let mut writer = Writer {
            pool,
            graph,
            options,
            readings: FxHashMap::default(),
            elements: Vec::new(),
            named: BTreeMap::new(),
            tables: Vec::new(),
            out: String::new(),
        };
        writer.name_parts();
        writer.name_values();
        writer.name_tables();
        writer
    }

    /// Chooses the names of elements and bonds, and how their variables are read.
    fn name_parts(&mut self) {
        let mut names = Names::default();
        self.elements = self.graph.elements.iter().map(|element| names.take(&element.name)).collect();
        let mut read = BTreeSet::new();
        for expr in expressions(self.graph) {
            for symbol in self.pool.symbols(expr) {
                if let Some(Variable::Effort(bond) | Variable::Flow(bond)) =
                    self.graph.variables.meaning(symbol)
                    && self.reader(bond).is_none()
                {
                    read.insert(bond.index());
                }
            }
        }
        let numbered = self.numbers_are_automatic(&read);
        for (index, bond) in self.graph.bonds.iter().enumerate() {
            if !numbered || read.contains(&index) || !is_number(&bond.name) {
                self.named.insert(index, names.take(&bond.name));
            }
        }
        for id in self.graph.bond_ids() {
            for (letter, variable) in [('e', Variable::Effort(id)), ('f', Variable::Flow(id))] {
                let Some(symbol) = self.graph.variables.symbol(variable) else { continue };
                let reading = match (self.reader(id), self.named.get(&id.index())) {
                    (Some((element, port)), _) => {
                        format!("{}.{letter}{port}", self.elements[element.index()])
                    }
                    (None, Some(name)) => format!("{name}.{letter}"),
                    (None, None) => continue,
                };
                self.readings.insert(symbol, reading);
            }
        }
        for id in self.graph.element_ids() {
            let element = self.graph.element(id);
            let letter = if element.kind == Kind::I { 'p' } else { 'q' };
            for port in 0..element.ports.len() {
                if let Some(symbol) = self.graph.variables.symbol(Variable::State(id, port as u32)) {
                    let reading = format!("{}.{letter}{}", self.elements[id.index()], suffix(element, port));
                    self.readings.insert(symbol, reading);
                }
            }
        }
    }

    /// Tells whether counting gives every bond the number it has, so that numbers need not be written.
    fn numbers_are_automatic(&self, read: &BTreeSet<usize>) -> bool {
        let bonds = &self.graph.bonds;
        let written = bonds.iter().enumerate().filter(|(i, bond)| read.contains(i) || !is_number(&bond.name));
        let mut taken: BTreeSet<String> = written.map(|(_, bond)| plain(&bond.name)).collect();
        taken.extend(self.elements.iter().cloned());
        let mut number = 0;
        for (i, bond) in bonds.iter().enumerate() {
            if read.contains(&i) || !is_number(&bond.name) {
                continue;
            }
            loop {
                number += 1;
                let name = format!("b{number}");
                if !taken.contains(&name) {
                    if name != bond.name {
                        return false;
                    }
                    break;
                }
            }
        }
        true
    }

    /// The element after which a bond's variables are read, with the number of its port.
    fn reader(&self, bond: BondId) -> Option<(ElementId, String)> {
        let bond = self.graph.bond(bond);
        let ends = [bond.to, bond.from];
        let element = |end: &End| self.graph.element(end.element);
        let single = ends.iter().find(|end| !is_junction(element(end).kind) && element(end).ports.len() == 1);
        let end = single.or_else(|| ends.iter().find(|end| !is_junction(element(end).kind)))?;
        Some((end.element, suffix(element(end), end.port as usize)))
    }

    /// Chooses the names of parameters, inputs and signals.
    fn name_values(&mut self) {
        let graph = self.graph;
        let in_braces = self.read_in_braces();
        let values = (graph.parameters.iter().map(|p| (&p.name, p.symbol)))
            .chain(graph.inputs.iter().map(|i| (&i.name, i.symbol)))
            .chain(graph.signals.iter().map(|s| (&s.name, s.symbol)))
            .chain(graph.integrators.iter().map(|i| (&i.name, i.symbol)));
        let mut names = Names::values();
        for (name, symbol) in values {
            // Inside braces `e`, `f`, `q`, `p` are the element's own variables.
            let hidden = in_braces.contains(&symbol) && is_local(name);
            let name = if hidden { names.take(&format!("{name}_")) } else { names.take(name) };
            self.readings.insert(symbol, name);
        }
    }

    fn read_in_braces(&self) -> BTreeSet<Symbol> {
        let mut symbols = BTreeSet::new();
        for element in &self.graph.elements {
            if let Law::Equations(equations) = &element.law {
                for equation in equations {
                    symbols.extend(self.pool.symbols(equation.left));
                    symbols.extend(self.pool.symbols(equation.right));
                }
            }
        }
        symbols
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

    fn expr(&mut self, expr: Expr) -> String {
        let expr = if self.tables.is_empty() {
            expr
        } else {
            let tables = &self.tables;
            self.pool.replace_tables(expr, &|table| tables.get(table as usize).copied())
        };
        let name = |symbol: Symbol| {
            self.readings.get(&symbol).cloned().unwrap_or_else(|| self.pool.name(symbol).to_owned())
        };
        self.pool.print_with(expr, Target::Text, &name).to_string()
    }

    /// A constant, as a decimal number where that is exact.
    fn value(&mut self, expr: Expr) -> String {
        if self.pool.as_rational(expr).is_some()
            && let Ok(number) = self.pool.eval(expr, &|_| None)
        {
            let text = number_text(number);
            if self.pool.decimal(&text) == Some(expr) {
                return text;
            }
        }
        self.expr(expr)
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
            let name = self.readings[&parameter.symbol].clone();
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
                Some(Tolerance::Absolute(a)) => line.push_str(&format!(" ±{}", number_text(a / factor))),
                None => {}
            }
            if let Some((low, high)) = parameter.bounds {
                let (low, high) = (number_text(low / factor), number_text(high / factor));
                line.push_str(&format!(" in [{low}, {high}]"));
            }
            if let Some(doc) = &parameter.doc {
                line.push_str(&format!(" {}", quoted(doc)));
            }
            self.line(&line);
        }
        self.blank();
    }

    fn inputs(&mut self) {
        for input in &self.graph.inputs {
            let name = self.readings[&input.symbol].clone();
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
        if let (Kind::Se | Kind::Sf | Kind::Tf | Kind::Gy, Law::Value(value)) = (element.kind, &element.law)
            && self.is_modulated(*value)
        {
            line.insert(0, 'M');
        }
        let _ = write!(line, " {}", self.elements[index]);
        if element.ports.len() > 1 && matches!(element.kind, Kind::R | Kind::C | Kind::I) {
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
        let name = &self.elements[end.element.index()];
        let port = end.port + 1;
        match element.kind {
            Kind::Zero | Kind::One => name.clone(),
            Kind::Tf | Kind::Gy | Kind::Rs if element.ports.len() == 2 => {
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
            let named = self.named.get(&index).cloned();
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
            let letter = if element.kind == Kind::I { 'p' } else { 'q' };
            for (port, value, _) in &element.initial {
                let (name, number) = (self.elements[index].clone(), suffix(element, *port));
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
                    let name = &self.elements[element.index()];
                    let port = port.map(|port| format!(".{}", port + 1)).unwrap_or_default();
                    format!("prefer {} {name}{port}", if *integral { "integral" } else { "derivative" })
                }
                Override::Stroke { bond, effort_into, .. } => {
                    let name = self.named.get(&bond.index()).unwrap_or(&self.graph.bond(*bond).name);
                    format!("causality {name} effort_into {}", self.elements[effort_into.index()])
                }
            };
            self.line(&line);
        }
        self.blank();
    }

    fn signals(&mut self) {
        for signal in &self.graph.signals {
            let (name, value) = (self.readings[&signal.symbol].clone(), self.expr(signal.value));
            self.line(&format!("signal {name} = {value}"));
        }
        for integrator in &self.graph.integrators {
            let name = self.readings[&integrator.symbol].clone();
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

/// The number of a port in the names of its variables; none for one-ports.
fn suffix(element: &Element, port: usize) -> String {
    let several = matches!(element.kind, Kind::Tf | Kind::Gy | Kind::Rs) || element.ports.len() > 1;
    if several { (port + 1).to_string() } else { String::new() }
}

/// All expressions that read variables.
fn expressions(graph: &BondGraph) -> Vec<Expr> {
    let mut all: Vec<Expr> = Vec::new();
    for element in &graph.elements {
        all.extend(law_expressions(&element.law));
    }
    all.extend(graph.signals.iter().map(|signal| signal.value));
    all.extend(graph.integrators.iter().map(|integrator| integrator.rate));
    all.extend(graph.outputs.iter().map(|output| output.value));
    all
}

/// All expressions of a law.
pub(crate) fn law_expressions(law: &Law) -> Vec<Expr> {
    match law {
        Law::Structure => Vec::new(),
        Law::Value(value) => vec![*value],
        Law::Matrix(rows) => rows.concat(),
        Law::Equations(list) => list.iter().flat_map(|equation| [equation.left, equation.right]).collect(),
        Law::Switch { condition, on, off } => vec![*condition, *on, *off],
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'").replace(['\n', '\r'], " "))
}

/// The shortest decimal that reads back as the number.
fn number_text(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A fraction in percent, such that reading it gives the fraction.
fn percent(fraction: f64) -> String {
    let rounded = (fraction * 1e12).round() / 1e10;
    let percent = if rounded / 100.0 == fraction { rounded } else { fraction * 100.0 };
    number_text(percent)
}
