//! The names that the text of a flat model gives to elements, bonds and
//! values, and how their variables are read there.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, BondId, Element, ElementId, End, Law, Stored, Variable, is_junction};
use rustc_hash::FxHashMap;

use crate::names::{Names, is_local, is_number, plain};

/// How a graph is spelt.
pub(crate) struct Spelling {
    /// How each symbol is read outside of laws.
    pub readings: FxHashMap<Symbol, String>,
    /// The names of elements as they are written.
    pub elements: Vec<String>,
    /// The names of bonds that are written with them.
    pub bonds: BTreeMap<usize, String>,
}

impl Spelling {
    /// Chooses the names.
    pub fn new(pool: &Pool, graph: &BondGraph) -> Spelling {
        let mut spelling =
            Spelling { readings: FxHashMap::default(), elements: Vec::new(), bonds: BTreeMap::new() };
        spelling.name_parts(pool, graph);
        spelling.name_values(pool, graph);
        spelling
    }

    /// Chooses the names of elements and bonds, and how their variables are read.
    fn name_parts(&mut self, pool: &Pool, graph: &BondGraph) {
        let mut names = Names::default();
        self.elements = graph.elements.iter().map(|element| names.take(&element.name)).collect();
        let mut read = BTreeSet::new();
        for expr in expressions(graph) {
            for symbol in pool.symbols(expr) {
                if let Some(Variable::Effort(bond) | Variable::Flow(bond)) = graph.variables.meaning(symbol)
                    && reader(graph, bond).is_none()
                {
                    read.insert(bond.index());
                }
            }
        }
        let numbered = self.numbers_are_automatic(graph, &read);
        for (index, bond) in graph.bonds.iter().enumerate() {
            if !numbered || read.contains(&index) || !is_number(&bond.name) {
                self.bonds.insert(index, names.take(&bond.name));
            }
        }
        for id in graph.bond_ids() {
            for (letter, variable) in [('e', Variable::Effort(id)), ('f', Variable::Flow(id))] {
                let Some(symbol) = graph.variables.symbol(variable) else { continue };
                let reading = match (reader(graph, id), self.bonds.get(&id.index())) {
                    (Some((element, port)), _) => {
                        format!("{}.{letter}{port}", self.elements[element.index()])
                    }
                    (None, Some(name)) => format!("{name}.{letter}"),
                    (None, None) => continue,
                };
                self.readings.insert(symbol, reading);
            }
        }
        for id in graph.element_ids() {
            let element = graph.element(id);
            let letter = element.stored().map_or('q', Stored::letter);
            for port in 0..element.ports.len() {
                if let Some(symbol) = graph.variables.symbol(Variable::State(id, port as u32)) {
                    let reading = format!("{}.{letter}{}", self.elements[id.index()], suffix(element, port));
                    self.readings.insert(symbol, reading);
                }
            }
        }
    }

    /// Tells whether counting gives every bond the number it has, so that numbers need not be written.
    fn numbers_are_automatic(&self, graph: &BondGraph, read: &BTreeSet<usize>) -> bool {
        let bonds = &graph.bonds;
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

    /// Chooses the names of parameters, inputs and signals.
    fn name_values(&mut self, pool: &Pool, graph: &BondGraph) {
        let in_braces = read_in_braces(pool, graph);
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
}

/// The element after which a bond's variables are read, with the number of its port.
fn reader(graph: &BondGraph, bond: BondId) -> Option<(ElementId, String)> {
    let bond = graph.bond(bond);
    let ends = [bond.to, bond.from];
    let element = |end: &End| graph.element(end.element);
    let single = ends.iter().find(|end| !is_junction(element(end).kind) && element(end).ports.len() == 1);
    let end = single.or_else(|| ends.iter().find(|end| !is_junction(element(end).kind)))?;
    Some((end.element, suffix(element(end), end.port as usize)))
}

/// The symbols that laws in braces mention.
fn read_in_braces(pool: &Pool, graph: &BondGraph) -> BTreeSet<Symbol> {
    let mut symbols = BTreeSet::new();
    for element in &graph.elements {
        if let Law::Equations(equations) = &element.law {
            for equation in equations {
                symbols.extend(pool.symbols(equation.left));
                symbols.extend(pool.symbols(equation.right));
            }
        }
    }
    symbols
}

/// The number of a port in the names of its variables; none for one-ports.
pub(crate) fn suffix(element: &Element, port: usize) -> String {
    let several = element.is_two_port() || element.ports.len() > 1;
    if several { (port + 1).to_string() } else { String::new() }
}

/// All expressions that read variables.
fn expressions(graph: &BondGraph) -> Vec<Expr> {
    let mut all: Vec<Expr> = Vec::new();
    for element in &graph.elements {
        all.extend(element.law.expressions());
    }
    all.extend(graph.signals.iter().map(|signal| signal.value));
    all.extend(graph.integrators.iter().map(|integrator| integrator.rate));
    all.extend(graph.outputs.iter().map(|output| output.value));
    all
}
