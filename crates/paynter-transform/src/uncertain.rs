//! The uncertain bond graph (El Feki, Marquis-Favre, Krähenbühl & Thomasset 2010): the nominal graph with an
//! auxiliary input beside every element that is uncertain, and auxiliary outputs. The uncertain part of an element
//! is a source on a junction beside the nominal one, of effort where the element gives out effort (a 1), of flow
//! where it gives out flow (a 0); so storages are not doubled, and the order stays.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{
    BondGraph, BondId, Causality, Class, ElementId, Equation, Input, Law, Origin, Output, Variable,
};

use crate::build::Builder;
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
    /// The symbol of the input.
    pub w: Symbol,
    /// The output over variables of the graph and auxiliary inputs.
    pub z: Expr,
}

/// The uncertain bond graph as what it has more than the nominal one.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// What auxiliary inputs add.
    pub additions: Vec<Addition>,
    /// The auxiliary inputs and outputs.
    pub auxiliaries: Vec<Auxiliary>,
}

/// Makes the uncertain bond graph.
pub fn uncertain(pool: &mut Pool, graph: &BondGraph, causality: &Causality, split: &Split) -> BondGraph {
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
    for addition in &split.additions {
        maker.add(addition);
    }
    for Auxiliary { name, z, .. } in &split.auxiliaries {
        let doc = Some(format!("auxiliary output of {}", plain(name)));
        let (name, value, span) = (format!("z_{}", plain(name)), *z, Default::default());
        maker.build.graph.outputs.push(Output { name, value, unit: None, doc, span });
    }
    maker.build.finish();
    let Maker { pool, build: Builder { mut graph, .. }, old } = maker;
    let strokes: Vec<(BondId, bool)> =
        old.bond_ids().map(|bond| (bond, causality.strokes[bond.index()].effort_to)).collect();
    keep_strokes(pool, &mut graph, &strokes);
    graph
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
            Some((bond, flow, value)) => {
                let value = self.pool.neg(value);
                self.source(id, bond, flow, value);
            }
            None => self.source(id, bond, flow, addition.value),
        }
    }

    /// A source on a junction beside a port, by which the bond's variable outside is that of the element plus
    /// the value.
    fn source(&mut self, id: ElementId, bond: BondId, flow: bool, value: Expr) {
        let element = self.old.element(id);
        let Some(port) = element.ports.iter().position(|port| port.bond == bond) else { return };
        let name = plain(&element.name);
        let junction = self.build.junction(id, &name, port, flow);
        let value = if element.ports[port].into { value } else { self.pool.neg(value) };
        let number = if element.ports.len() > 1 { format!("_{}", port + 1) } else { String::new() };
        let origin = Origin::Sink { of: element.name.clone(), parameter: None };
        self.build.sink(junction, format!("aux_{name}{number}"), flow, value, origin);
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
