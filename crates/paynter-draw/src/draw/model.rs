//! The diagram of a model: elements with their values as written, strokes
//! where causality is known, signals as arrows, what errors name marked.

use super::diagram::{Bond, Diagram, Group, Node, NodeKind, NodeStyle, SignalArrow, Stroke};
use paynter_algebra::{Expr, Pool};
use paynter_base::{Diagnostics, SourceMap, Span};
use paynter_graph::kind::Ports;
use paynter_graph::{
    BondGraph, BondId, Causality, Element, ElementId, Law, Origin, Variable, is_junction, kind_of,
};
use std::collections::{BTreeMap, BTreeSet};

/// Longer expressions are left to the tooltip.
const SHORT: usize = 40;

impl Diagram {
    /// Makes the diagram of a model as far as it is known. Values are taken
    /// from the sources; elements that errors point at are marked.
    pub fn from_graph(
        pool: &Pool,
        graph: &BondGraph,
        causality: Option<&Causality>,
        sources: &SourceMap,
        diagnostics: &Diagnostics,
    ) -> Diagram {
        let mut diagram = Diagram { title: graph.name.clone(), ..Diagram::default() };
        let mut groups = BTreeMap::new();
        let bad = bad_elements(graph, diagnostics);
        for (index, element) in graph.elements.iter().enumerate() {
            let mut node = Node::new(NodeKind::Element(element.kind), element.name.clone());
            node.value = value(pool, element, sources);
            node.field = match kind_of(element.kind).ports() {
                Ports::Field if element.ports.len() > 1 => element.ports.len(),
                _ => 0,
            };
            node.group = group_of(&element.name, &mut diagram.groups, &mut groups);
            node.note = Some(kind_of(element.kind).description().to_owned());
            if bad.contains(&ElementId(index as u32)) {
                node.style = NodeStyle::Bad;
            } else if element.is_sink() {
                node.style = NodeStyle::AddedSink;
            }
            diagram.nodes.push(node);
        }
        for (index, bond) in graph.bonds.iter().enumerate() {
            let stroke = match causality.and_then(|causality| causality.strokes.get(index)) {
                None => Stroke::None,
                Some(decision) if decision.effort_to => Stroke::AtTo,
                Some(_) => Stroke::AtFrom,
            };
            let port = |end: paynter_graph::End| {
                let element = graph.element(end.element);
                (!is_junction(element.kind) && element.ports.len() > 1).then_some(end.port as usize + 1)
            };
            diagram.bonds.push(Bond {
                stroke,
                from_port: port(bond.from),
                to_port: port(bond.to),
                ..Bond::new(bond.from.element.index(), bond.to.element.index(), index + 1)
            });
        }
        Signals { pool, graph, diagram: &mut diagram, block_of: BTreeMap::new(), open: Vec::new() }.add();
        diagram
    }
}

impl Diagram {
    /// Shows the sinks that a derived graph adds as its auxiliary inputs.
    pub fn mark_auxiliary_inputs(&mut self) {
        for node in self.nodes.iter_mut().filter(|node| node.style == NodeStyle::AddedSink) {
            node.style = NodeStyle::AuxiliaryInput;
        }
    }

    /// Draws the signal part of an uncertain bond graph: a detector whose reading, times δ, sources give out.
    pub fn add_signal_part(&mut self, detector: usize, delta: &str, sources: &[usize]) {
        self.nodes[detector].style = NodeStyle::AuxiliaryInput;
        let block = self.nodes.len();
        let mut node = Node::new(NodeKind::Signal, delta);
        node.note = Some("relative uncertainty".to_owned());
        self.nodes.push(node);
        self.signals.push(SignalArrow { from: detector, to: block, highlighted: false });
        for &source in sources {
            self.nodes[source].modulated = true;
            self.signals.push(SignalArrow { from: block, to: source, highlighted: false });
        }
    }

    /// Makes the picture of a bond graph that of its sensitivity bond graph: the same
    /// structure with s-components and s-bonds.
    pub fn make_sensitivity(&mut self) {
        for bond in &mut self.bonds {
            bond.bold = true;
        }
        for node in &mut self.nodes {
            node.sensitivity = !node.kind.is_junction();
        }
    }
}

/// The value of an element: as its author wrote it, else as the algebra prints it.
pub(super) fn value(pool: &Pool, element: &Element, sources: &SourceMap) -> Option<String> {
    let printed = match &element.law {
        Law::Value(expr) => constant(pool, *expr),
        Law::Matrix(rows) => {
            let row = |row: &Vec<Expr>| {
                let entries: Vec<String> = row.iter().map(|&entry| constant(pool, entry)).collect();
                format!("[{}]", entries.join(", "))
            };
            format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(", "))
        }
        Law::Structure | Law::Equations(_) | Law::Switch { .. } => return None,
    };
    match (&element.origin, element.written.value) {
        (Origin::Declared, Some(span)) => {
            Some(on_one_line(sources.snippet(span))).filter(|text| !text.is_empty()).or(Some(printed))
        }
        _ => Some(printed),
    }
}

/// An expression, as a decimal number where it is one.
fn constant(pool: &Pool, expr: Expr) -> String {
    pool.decimal_text(expr).unwrap_or_else(|| pool.brief(expr))
}

/// A text without its comments and with single blanks.
fn on_one_line(text: &str) -> String {
    let words = text.lines().flat_map(|line| line.split("//").next().unwrap_or("").split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

/// The submodel instance of a flattened name, and those around it.
fn group_of(name: &str, groups: &mut Vec<Group>, known: &mut BTreeMap<String, usize>) -> Option<usize> {
    let (path, _) = name.rsplit_once('.')?;
    if let Some(&group) = known.get(path) {
        return Some(group);
    }
    let mut parent = None;
    for (end, _) in path.match_indices('.').chain([(path.len(), "")]) {
        let prefix = &path[..end];
        let index = *known.entry(prefix.to_owned()).or_insert_with(|| {
            groups.push(Group { name: prefix.to_owned(), model: String::new(), parent });
            groups.len() - 1
        });
        parent = Some(index);
    }
    parent
}

/// The elements that errors point at, directly or by one of their bonds.
fn bad_elements(graph: &BondGraph, diagnostics: &Diagnostics) -> BTreeSet<ElementId> {
    let mut bad = BTreeSet::new();
    if !diagnostics.has_errors() {
        return bad;
    }
    let meet = |a: Span, b: Span| a.file == b.file && a.start < b.end && b.start < a.end;
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
        let spans = diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span));
        for span in spans {
            let found = graph.element_ids().filter(|&id| meet(graph.element(id).written.statement, span));
            let before = bad.len();
            bad.extend(found);
            if bad.len() == before {
                for bond in graph.bonds.iter().filter(|bond| meet(bond.span, span)) {
                    bad.extend([bond.from.element, bond.to.element]);
                }
            }
        }
    }
    bad
}

/// Adds the signals that modulate elements.
struct Signals<'a> {
    pool: &'a Pool,
    graph: &'a BondGraph,
    diagram: &'a mut Diagram,
    block_of: BTreeMap<String, usize>,
    /// Blocks whose own readings are still to be drawn.
    open: Vec<(usize, Expr)>,
}

impl Signals<'_> {
    fn add(&mut self) {
        for id in self.graph.element_ids() {
            let expressions = self.graph.element(id).law.expressions();
            for source in self.read_by(&expressions) {
                self.diagram.nodes[id.index()].modulated |= kind_of(self.graph.element(id).kind).takes_m();
                self.arrow(source, id.index());
            }
        }
        while let Some((block, expression)) = self.open.pop() {
            for source in self.read_by(&[expression]) {
                self.arrow(source, block);
            }
        }
    }

    /// The nodes whose variables expressions read; blocks of signals are made on first use.
    fn read_by(&mut self, expressions: &[Expr]) -> Vec<usize> {
        let symbols = expressions.iter().flat_map(|&expression| self.pool.symbols(expression));
        let mut variables: Vec<Variable> =
            symbols.filter_map(|symbol| self.graph.variables.meaning(symbol)).collect();
        variables.sort_unstable();
        variables.dedup();
        let graph = self.graph;
        let mut nodes: Vec<usize> = variables
            .into_iter()
            .filter_map(|variable| match variable {
                Variable::Effort(bond) | Variable::Flow(bond) => Some(self.reader(bond)),
                Variable::State(element, _) => Some(element.index()),
                Variable::Signal(index) => {
                    let signal = &graph.signals[index as usize];
                    let value = self.pool.brief(signal.value);
                    Some(self.block(&signal.name, signal.value, value))
                }
                Variable::Integrator(index) => {
                    let integrator = &graph.integrators[index as usize];
                    let value = format!("∫ {} dt", self.pool.brief(integrator.rate));
                    Some(self.block(&integrator.name, integrator.rate, value))
                }
                Variable::Parameter(_) | Variable::Input(_) | Variable::Time => None,
            })
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The element a bond's variable is named after.
    fn reader(&self, bond: BondId) -> usize {
        let bond = self.graph.bond(bond);
        let ends = [bond.to.element, bond.from.element];
        let element = |id: &ElementId| self.graph.element(*id);
        let single = ends.iter().find(|id| !is_junction(element(id).kind) && element(id).ports.len() == 1);
        let other = || ends.iter().find(|id| !is_junction(element(id).kind));
        single.or_else(other).unwrap_or(&bond.from.element).index()
    }

    /// The block of a signal; what it reads is joined to it later.
    fn block(&mut self, name: &str, expression: Expr, value: String) -> usize {
        if let Some(&block) = self.block_of.get(name) {
            return block;
        }
        let block = self.diagram.nodes.len();
        self.block_of.insert(name.to_owned(), block);
        let mut node = Node::new(NodeKind::Signal, name);
        node.value = Some(value).filter(|value| value.chars().count() <= SHORT && value != name);
        node.note = Some("signal".to_owned());
        self.diagram.nodes.push(node);
        self.open.push((block, expression));
        block
    }

    fn arrow(&mut self, from: usize, to: usize) {
        let arrow = SignalArrow { from, to, highlighted: false };
        if from != to && !self.diagram.signals.contains(&arrow) {
            self.diagram.signals.push(arrow);
        }
    }
}
