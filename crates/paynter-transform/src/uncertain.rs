//! The uncertain bond graph (El Feki, Marquis-Favre, Krähenbühl & Thomasset 2010): the nominal graph with an
//! auxiliary input beside every element that is uncertain, and auxiliary outputs. The uncertain part of an element
//! is a source on a junction beside the nominal one, of effort where the element gives out effort (a 1), of flow
//! where it gives out flow (a 0); so storages are not doubled, and the order stays.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{
    BondGraph, BondId, Causality, Class, ElementId, Equation, Input, Law, Origin, Output, Power, Variable,
};
use std::collections::BTreeMap;

use crate::build::{Builder, New};
use crate::names::plain;
use crate::strokes::keep_strokes;

/// Where in the graph auxiliary inputs act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// On the effort of a bond, as an element gives it out.
    Effort(BondId),
    /// On the flow of a bond along its arrow, as an element gives it out.
    Flow(BondId),
    /// In the law of a field, by its row: left minus right.
    Law(ElementId, usize),
    /// On a signal.
    Signal(usize),
    /// On what a signal integrates.
    Rate(usize),
    /// On an output.
    Output(usize),
}

/// What auxiliary inputs add to the graph at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// Where.
    pub place: Place,
    /// The element that gives out what is added to.
    pub element: Option<ElementId>,
    /// What is added, over auxiliary inputs and parameters.
    pub value: Expr,
    /// For auxiliary inputs at what enters a TF or GY: the variable of a bond there, and what is added to it.
    pub entering: Option<(Symbol, Expr)>,
}

/// A pair of auxiliary input and output.
#[derive(Debug, Clone, PartialEq)]
pub struct Auxiliary {
    /// What both are named after.
    pub name: String,
    /// The block of Δ that it belongs to.
    pub block: usize,
    /// The symbol of the input.
    pub w: Symbol,
    /// The output over variables of the graph and auxiliary inputs.
    pub z: Expr,
    /// The variable of a bond that the output is, where it is one.
    pub reads: Option<Reading>,
}

/// The variable of a bond beside the source of an auxiliary input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The element that the source stands beside.
    pub element: ElementId,
    /// Effort or flow of the element's bond.
    pub variable: Variable,
    /// Whether it is that of the nominal element alone, inside of the source.
    pub inner: bool,
}

/// The uncertain bond graph as what it has more than the nominal one.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// What auxiliary inputs add.
    pub additions: Vec<Addition>,
    /// The auxiliary inputs and outputs.
    pub auxiliaries: Vec<Auxiliary>,
}

/// Makes the uncertain bond graph, with detectors for auxiliary outputs where those are wanted.
pub fn uncertain(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    split: &Split,
    detectors: bool,
) -> BondGraph {
    let mut base = graph.clone();
    base.name = format!("{}_uncertain", graph.name);
    let ports = base.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
    base.locals.reserve(pool, ports);
    let zero = pool.zero();
    for Auxiliary { name, w, .. } in &split.auxiliaries {
        base.variables.insert(Variable::Input(base.inputs.len() as u32), *w);
        base.inputs.push(Input {
            name: format!("w_{}", plain(name)),
            symbol: *w,
            value: zero,
            given: true,
            unit: None,
            doc: Some(format!("auxiliary input of {}", plain(name))),
            span: Default::default(),
        });
    }
    let mut maker = Maker { pool, old: graph, build: Builder::new(base) };
    let mut detected: BTreeMap<usize, Symbol> = BTreeMap::new();
    // A detector outside of the source stands there before it.
    for inner in [false, true] {
        for (k, auxiliary) in split.auxiliaries.iter().enumerate().filter(|_| detectors) {
            if let Some(reading) = auxiliary.reads.filter(|reading| reading.inner == inner) {
                detected.extend(maker.detector(&auxiliary.name, reading).map(|symbol| (k, symbol)));
            }
        }
        for addition in split.additions.iter().filter(|_| !inner) {
            maker.add(addition);
        }
    }
    for (k, auxiliary) in split.auxiliaries.iter().enumerate() {
        let name = plain(&auxiliary.name);
        let read = detected.get(&k).copied().or_else(|| maker.read(auxiliary.reads?));
        let value = read.map_or(auxiliary.z, |symbol| maker.pool.var(symbol));
        let doc = Some(format!("auxiliary output of {name}"));
        let output = Output { name: format!("z_{name}"), value, unit: None, doc, span: Default::default() };
        maker.build.graph.outputs.push(output);
    }
    maker.build.finish();
    let Maker { pool, build: Builder { mut graph, .. }, old } = maker;
    let strokes: Vec<(BondId, bool)> =
        old.bond_ids().map(|bond| (bond, causality.strokes[bond.index()].effort_to)).collect();
    keep_strokes(pool, &mut graph, &strokes);
    graph
}

/// The elements of the uncertain bond graph that stand for a pair of auxiliary input and output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuxiliaryElements {
    /// The detector of the output, where there is one.
    pub detector: Option<ElementId>,
    /// The sources that the input is in.
    pub sources: Vec<ElementId>,
}

/// By pair: its elements in the uncertain bond graph.
pub fn auxiliary_elements(pool: &Pool, graph: &BondGraph, split: &Split) -> Vec<AuxiliaryElements> {
    let elements = |auxiliary: &Auxiliary| {
        let name = detector_name(&auxiliary.name);
        let detector = graph.element_ids().find(|id| graph.element(*id).name == name);
        let reads = |id: &ElementId| {
            let element = graph.element(*id);
            let symbols = element.law.expressions().into_iter().flat_map(|e| pool.symbols(e));
            element.is_sink() && symbols.into_iter().any(|symbol| symbol == auxiliary.w)
        };
        AuxiliaryElements { detector, sources: graph.element_ids().filter(reads).collect() }
    };
    split.auxiliaries.iter().map(elements).collect()
}

fn detector_name(auxiliary: &str) -> String {
    format!("det_{}", plain(auxiliary))
}

/// The comments above the text of an uncertain bond graph.
pub fn uncertain_comments(graph: &BondGraph) -> Vec<String> {
    vec![
        format!("The uncertain bond graph of {}.", graph.name),
        "w_NAME, z_NAME: auxiliary input and output of an uncertain parameter. aux_NAME: the uncertain part of an element."
            .to_owned(),
    ]
}

struct Maker<'a> {
    pool: &'a mut Pool,
    old: &'a BondGraph,
    build: Builder,
}

impl Maker<'_> {
    fn add(&mut self, addition: &Addition) {
        let graph = &mut self.build.graph;
        match addition.place {
            Place::Signal(k) => {
                graph.signals[k].value = self.pool.add(graph.signals[k].value, addition.value);
            }
            Place::Rate(k) => {
                graph.integrators[k].rate = self.pool.add(graph.integrators[k].rate, addition.value);
            }
            Place::Output(k) => {
                graph.outputs[k].value = self.pool.add(graph.outputs[k].value, addition.value);
            }
            Place::Law(id, row) => self.law(id, row, addition.value),
            Place::Effort(bond) => self.beside(addition, bond, false),
            Place::Flow(bond) => self.beside(addition, bond, true),
        }
    }

    /// Adds to what an element gives out, or to what enters it.
    fn beside(&mut self, addition: &Addition, bond: BondId, flow: bool) {
        let Some(id) = addition.element else { return };
        let element = self.old.element(id);
        if let (Class::Source(_), Law::Value(value)) = (element.class(), &element.law) {
            let value = self.pool.add(*value, addition.value);
            self.build.graph.elements[id.index()].law = Law::Value(value);
            return;
        }
        let entering =
            addition.entering.and_then(|(variable, value)| match self.old.variables.meaning(variable) {
                Some(Variable::Effort(bond)) => Some((bond, false, value)),
                Some(Variable::Flow(bond)) => Some((bond, true, value)),
                _ => None,
            });
        match entering {
            // What the element takes is what the bond brings and what the source adds.
            Some((bond, flow, value)) => self.source(id, bond, flow, value, false),
            None => self.source(id, bond, flow, addition.value, true),
        }
    }

    /// A source on a junction beside a port, by which the bond's variable outside is that of the element plus
    /// the value, or that of the element the one outside plus the value.
    fn source(&mut self, id: ElementId, bond: BondId, flow: bool, value: Expr, outward: bool) {
        let element = self.old.element(id);
        let Some(port) = element.ports.iter().position(|port| port.bond == bond) else { return };
        let name = plain(&element.name);
        let junction = self.build.junction(id, &name, port, flow);
        let takes = element.ports[port].into == outward;
        let number = if element.ports.len() > 1 { format!("_{}", port + 1) } else { String::new() };
        let origin = Origin::Sink { of: element.name.clone(), parameter: None };
        let mut own = format!("aux_{name}{number}");
        while self.build.graph.elements.iter().any(|other| other.name == own) {
            own.push_str(if flow { "_f" } else { "_e" });
        }
        if takes {
            self.build.sink(junction, own, flow, value, origin);
        } else {
            self.build.source(junction, own, flow, value, origin);
        }
    }

    /// The port of an element that a reading is at.
    fn port(&self, reading: Reading) -> Option<(usize, bool)> {
        let (bond, flow) = match reading.variable {
            Variable::Effort(bond) => (bond, false),
            Variable::Flow(bond) => (bond, true),
            _ => return None,
        };
        let ports = &self.old.element(reading.element).ports;
        ports.iter().position(|port| port.bond == bond).map(|port| (port, flow))
    }

    /// The variable that a reading reads.
    fn read(&mut self, reading: Reading) -> Option<Symbol> {
        let (port, flow) = self.port(reading)?;
        let bond = match reading.inner {
            true => self.build.graph.element(reading.element).ports[port].bond,
            false => self.old.element(reading.element).ports[port].bond,
        };
        Some(self.symbol(bond, flow))
    }

    /// The symbol of a bond's variable. That of a new bond is a new one: by name it could not be told from that of
    /// the bond whose place it has taken.
    fn symbol(&mut self, bond: BondId, flow: bool) -> Symbol {
        let variable = if flow { Variable::Flow(bond) } else { Variable::Effort(bond) };
        if let Some(symbol) = self.build.graph.variables.symbol(variable) {
            return symbol;
        }
        let symbol = self.pool.fresh("inner");
        self.build.graph.variables.insert(variable, symbol);
        symbol
    }

    /// A detector on a junction beside a port, De on a 0 or Df on a 1, and the variable that it reads.
    fn detector(&mut self, name: &str, reading: Reading) -> Option<Symbol> {
        let (port, flow) = self.port(reading)?;
        let of = self.old.element(reading.element).name.clone();
        let junction = self.build.junction_before(reading.element, &plain(&of), port, !flow);
        let kind = Class::Detector(if flow { Power::Flow } else { Power::Effort }).kind();
        let (at, origin) = (self.build.place(junction), Origin::Detector { of });
        let name = detector_name(name);
        let detector = self.build.element(New { name, kind, law: Law::Structure, ports: 1, at, origin });
        let bond = self.build.bond((junction, 0), (detector, 0), at.0);
        Some(self.symbol(bond, flow))
    }

    /// Adds to one row of the law of a field, which becomes a law in braces.
    fn law(&mut self, id: ElementId, row: usize, value: Expr) {
        let element = self.build.graph.element(id);
        let n = element.ports.len();
        let mut equations = match &element.law {
            Law::Equations(list) => list.clone(),
            Law::Matrix(rows) => {
                let (class, span, rows) = (element.class(), element.span, rows.clone());
                let locals = self.build.graph.locals.clone();
                let pair = |port: usize| class.pair(locals.port(n, port));
                let mut list = Vec::with_capacity(n);
                for (i, row) in rows.iter().enumerate() {
                    let terms: Vec<Expr> = row
                        .iter()
                        .enumerate()
                        .map(|(j, entry)| {
                            let y = self.pool.var(pair(j).1);
                            self.pool.mul(*entry, y)
                        })
                        .collect();
                    let x = pair(i).0;
                    let (left, right) = (self.pool.var(x), self.pool.sum(&terms));
                    list.push(Equation { left, right, solved_for: Some(x), span });
                }
                list
            }
            _ => return,
        };
        if let Some(equation) = equations.get_mut(row) {
            // left - right + value = 0
            equation.right = self.pool.sub(equation.right, value);
        }
        self.build.graph.elements[id.index()].law = Law::Equations(equations);
    }
}
