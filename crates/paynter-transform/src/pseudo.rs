//! The sensitivity bond graph (Gawthrop 2000): the structure of the graph
//! itself, every bond accompanied by pseudo bonds that carry sensitivities.
//!
//! An R, C or I becomes one component with as many ports for each layer of
//! sensitivities as it had; its law is that of (3) and of (6) beside it.
//! Sources, detectors and junctions stand once for each layer, and so do
//! two-ports and switches that nothing couples. One layer carries the
//! λ-weighted sum of all sensitivities (8), or there is a layer for each parameter.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Cancelled};
use paynter_graph::kind::LawForm;
use paynter_graph::{
    BondGraph, BondId, Causality, Class, Element, ElementId, End, Equation, Input, Integrator, Law, Origin,
    Output, Signal, Value, Variable, is_storage, kind_of,
};
use rustc_hash::FxHashMap;

use crate::build::{Builder, New};
use crate::incremental::Start;
use crate::laws::{Residuals, locals, residuals, turned};
use crate::names::{is_number, plain};
use crate::strokes::keep_strokes;

/// Which sensitivities the layers carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// One layer: the sum of all, weighted by parameters `lambda_…`.
    Weighted,
    /// A layer for each parameter.
    Each,
}

/// Builds the sensitivity bond graph for the parameters at these places, of a graph that begins at `start`.
pub fn pseudo(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    parameters: &[usize],
    sensitivity: Sensitivity,
    start: &Start,
    token: &CancellationToken,
) -> Result<BondGraph, Cancelled> {
    let mut maker = Maker::new(pool, graph, causality, parameters, sensitivity, start);
    maker.inputs();
    maker.signals();
    for id in maker.old.element_ids() {
        token.check()?;
        maker.element(id);
    }
    maker.bonds();
    maker.outputs();
    maker.build.finish();
    let Maker { pool, build, layers, old, .. } = maker;
    let mut graph = build.graph;
    let count = old.bonds.len() as u32;
    let mut strokes = Vec::new();
    for layer in 0..=layers.len() as u32 {
        for (index, stroke) in causality.strokes.iter().enumerate() {
            strokes.push((BondId(layer * count + index as u32), stroke.effort_to));
        }
    }
    keep_strokes(pool, &mut graph, &strokes);
    Ok(graph)
}

/// One layer of sensitivities.
struct Layer {
    /// What its names begin with.
    prefix: String,
    /// The name of its outputs, around that of the original.
    output: (String, String),
    /// By parameter: its weight.
    weights: BTreeMap<usize, Expr>,
    /// The sensitivities of variables.
    variables: BTreeMap<Variable, Symbol>,
}

struct Maker<'a> {
    pool: &'a mut Pool,
    old: BondGraph,
    causality: &'a Causality,
    start: &'a Start,
    build: Builder,
    layers: Vec<Layer>,
    /// By element and layer (0 is the original): the element there and its first port.
    places: Vec<Vec<(ElementId, usize)>>,
}

impl<'a> Maker<'a> {
    fn new(
        pool: &'a mut Pool,
        graph: &BondGraph,
        causality: &'a Causality,
        parameters: &[usize],
        sensitivity: Sensitivity,
        start: &'a Start,
    ) -> Maker<'a> {
        let mut old = graph.clone();
        old.derived.clear();
        let count = if sensitivity == Sensitivity::Each { parameters.len() } else { 1 };
        let ports = old.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
        old.locals.reserve(pool, ports * (count + 1));
        for bond in old.bond_ids() {
            old.symbol(pool, Variable::Effort(bond));
            old.symbol(pool, Variable::Flow(bond));
        }
        for id in graph.element_ids().filter(|id| is_storage(graph.element(*id).kind)) {
            for port in 0..graph.element(id).ports.len() {
                old.symbol(pool, Variable::State(id, port as u32));
            }
        }
        let mut new = BondGraph {
            name: format!("{}_sensitivity", old.name),
            elements: Default::default(),
            bonds: Default::default(),
            overrides: Default::default(),
            ..old.clone()
        };
        let layers = layers(pool, &mut new, &old, parameters, sensitivity);
        let places = Vec::with_capacity(old.elements.len());
        Maker { pool, old, causality, start, build: Builder::new(new), layers, places }
    }

    /// Inputs whose default depends on parameters have sensitivities, which are inputs too.
    fn inputs(&mut self) {
        for layer in 0..self.layers.len() {
            for k in 0..self.old.inputs.len() {
                let input = self.old.inputs[k].clone();
                let value = self.sensitivity(layer, input.value);
                if value == self.pool.zero() {
                    continue;
                }
                let name = format!("{}{}", self.layers[layer].prefix, plain(&input.name));
                let symbol = self.pool.fresh(&name);
                self.layers[layer].variables.insert(Variable::Input(k as u32), symbol);
                let new = &mut self.build.graph;
                new.variables.insert(Variable::Input(new.inputs.len() as u32), symbol);
                new.inputs.push(Input {
                    name,
                    symbol,
                    value,
                    given: true,
                    unit: None,
                    doc: None,
                    span: input.span,
                });
            }
        }
    }

    /// The sensitivities of signals and integrators stand beside them.
    fn signals(&mut self) {
        for layer in 0..self.layers.len() {
            for k in 0..self.old.signals.len() {
                let signal = self.old.signals[k].clone();
                let value = self.sensitivity(layer, signal.value);
                let name = format!("{}{}", self.layers[layer].prefix, plain(&signal.name));
                let symbol = self.layers[layer].variables[&Variable::Signal(k as u32)];
                let new = &mut self.build.graph;
                new.variables.insert(Variable::Signal(new.signals.len() as u32), symbol);
                new.signals.push(Signal { name, symbol, value, span: signal.span });
            }
            for k in 0..self.old.integrators.len() {
                let integrator = self.old.integrators[k].clone();
                let rate = self.sensitivity(layer, integrator.rate);
                let initial = self.sensitivity(layer, integrator.initial);
                let name = format!("{}{}", self.layers[layer].prefix, plain(&integrator.name));
                let symbol = self.layers[layer].variables[&Variable::Integrator(k as u32)];
                let new = &mut self.build.graph;
                new.variables.insert(Variable::Integrator(new.integrators.len() as u32), symbol);
                new.integrators.push(Integrator { name, symbol, rate, initial, span: integrator.span });
            }
        }
    }

    /// The sensitivity of an expression, its local variables left aside (6).
    fn sensitivity(&mut self, layer: usize, expr: Expr) -> Expr {
        let (mut symbols, mut factors) = (Vec::new(), Vec::new());
        for symbol in self.pool.symbols(expr) {
            let Some(variable) = self.old.variables.meaning(symbol) else { continue };
            let factor = match variable {
                Variable::Parameter(i) => self.layers[layer].weights.get(&(i as usize)).copied(),
                other => self.layers[layer].variables.get(&other).copied().map(|s| self.pool.var(s)),
            };
            if let Some(factor) = factor {
                symbols.push(symbol);
                factors.push(factor);
            }
        }
        let derivatives = self.pool.derivatives(expr, &symbols);
        let terms = derivatives.into_iter().zip(factors);
        let terms: Vec<Expr> = terms.map(|(derivative, factor)| self.pool.mul(derivative, factor)).collect();
        self.pool.sum(&terms)
    }

    fn element(&mut self, id: ElementId) {
        let element = self.old.element(id).clone();
        let place = match (element.class(), kind_of(element.kind).law()) {
            (Class::EntropySource, _) | (_, LawForm::Field) => self.component(id, &element),
            (Class::Transformer | Class::Gyrator, _) | (_, LawForm::Switch) if self.is_coupled(&element) => {
                self.component(id, &element)
            }
            _ => self.copies(&element),
        };
        self.places.push(place);
    }

    /// Whether the law's sensitivity reads the original's variables.
    fn is_coupled(&mut self, element: &Element) -> bool {
        let law = residuals(self.pool, &self.old, element);
        let zero = self.pool.zero();
        (0..self.layers.len()).any(|layer| law.list.iter().any(|f| self.sensitivity(layer, *f) != zero))
    }

    /// One element for each layer.
    fn copies(&mut self, element: &Element) -> Vec<(ElementId, usize)> {
        let mut out = Vec::new();
        for layer in 0..=self.layers.len() {
            let of = element.name.clone();
            let origin = if layer == 0 { Origin::Nominal { of } } else { Origin::Sensitivity { of } };
            let (prefix, law) = match (layer.checked_sub(1), &element.law) {
                (None, law) => (String::new(), law.clone()),
                (Some(layer), law) => {
                    let law = match (law, element.class()) {
                        (Law::Value(value), Class::Source(_)) => Law::Value(self.sensitivity(layer, *value)),
                        (law, _) => law.clone(),
                    };
                    (self.layers[layer].prefix.clone(), law)
                }
            };
            let name = format!("{prefix}{}", element.name);
            let (kind, ports, at) = (element.kind, element.ports.len(), (element.span, element.written));
            let id = self.build.element(New { name, kind, law, ports, at, origin });
            out.push((id, 0));
        }
        out
    }

    /// The s-component: one element with the ports of all layers.
    fn component(&mut self, id: ElementId, element: &Element) -> Vec<(ElementId, usize)> {
        let n = element.ports.len();
        let all = n * (self.layers.len() + 1);
        let kind = if is_storage(element.kind) { element.kind } else { Class::Resistor.kind() };
        let law = self.oriented(id, element);
        let own = locals(&self.old, element);
        let port_maps: Vec<FxHashMap<Symbol, Expr>> = (0..=self.layers.len())
            .map(|layer| {
                let mut map = FxHashMap::default();
                for port in 0..n {
                    let from = self.old.locals.port(n, port);
                    let to = self.old.locals.port(all, layer * n + port);
                    for (from, to) in from.into_iter().zip(to) {
                        let to = self.pool.var(to);
                        map.insert(from, to);
                    }
                }
                map
            })
            .collect();
        let mut equations = Vec::new();
        for (residual, solved) in law.list.iter().zip(&law.solved) {
            let value = self.pool.substitute(*residual, &port_maps[0]);
            equations.push(self.equation(value, *solved, &port_maps[0], element));
        }
        for layer in 0..self.layers.len() {
            for (residual, solved) in law.list.iter().zip(&law.solved) {
                let mut terms = vec![self.sensitivity(layer, *residual)];
                for symbol in &own {
                    let derivative = self.pool.diff(*residual, *symbol);
                    // The factor is put in its own layer's terms after the derivative is in the original's.
                    let derivative = self.pool.substitute(derivative, &port_maps[0]);
                    terms.push(self.pool.mul(derivative, port_maps[layer + 1][symbol]));
                }
                let first = self.pool.substitute(terms[0], &port_maps[0]);
                terms[0] = first;
                let value = self.pool.sum(&terms);
                equations.push(self.equation(value, *solved, &port_maps[layer + 1], element));
            }
        }
        let new = self.build.element(New {
            name: element.name.clone(),
            kind,
            law: Law::Equations(equations),
            ports: all,
            at: (element.span, element.written),
            origin: Origin::Sensitivity { of: element.name.clone() },
        });
        for (port, value, span) in &element.initial {
            self.build.graph.elements[new.index()].initial.push((*port, *value, *span));
        }
        for layer in 0..self.layers.len() {
            for port in 0..n {
                let Some(value) = self.start.states.get(&Variable::State(id, port as u32)) else { continue };
                let value = self.sensitivity(layer, *value);
                if value != self.pool.zero() {
                    let port = (layer + 1) * n + port;
                    self.build.graph.elements[new.index()].initial.push((port, value, element.span));
                }
            }
        }
        (0..=self.layers.len()).map(|layer| (new, layer * n)).collect()
    }

    /// The law as causality uses it, where it can be turned.
    fn oriented(&mut self, id: ElementId, element: &Element) -> Residuals {
        let law = residuals(self.pool, &self.old, element);
        if element.ports.len() == 1 {
            return turned(self.pool, &self.old, self.causality, id, law);
        }
        if !element.class().is_converter() || !self.causality.effort_in(&self.old, id, 0) {
            return law;
        }
        let [[_, f1, ..], [e2, f2, ..]] = [0, 1].map(|port| self.old.locals.port(2, port));
        // e2 = e1/m and f1 = −f2/m of a TF; f2 = −e1/r and f1 = e2/r of a GY.
        let unknowns = if element.class() == Class::Transformer { [e2, f1] } else { [f2, f1] };
        let list = law.list.iter().zip(unknowns).map(|(residual, unknown)| {
            let derivative = self.pool.diff(*residual, unknown);
            self.pool.div(*residual, derivative)
        });
        Residuals { list: list.collect(), solved: unknowns.map(Some).to_vec() }
    }

    /// A residual as an equation, solved where the original is; its coefficient there is 1 or −1.
    fn equation(
        &mut self,
        residual: Expr,
        solved: Option<Symbol>,
        map: &FxHashMap<Symbol, Expr>,
        element: &Element,
    ) -> Equation {
        let zero = self.pool.zero();
        let span = element.span;
        let Some(symbol) = solved.and_then(|symbol| self.pool.as_symbol(map[&symbol])) else {
            return Equation { left: residual, right: zero, solved_for: None, span };
        };
        let derivative = self.pool.diff(residual, symbol);
        let rest = self.pool.substitute(residual, &[(symbol, zero)].into_iter().collect());
        let value = self.pool.div(rest, derivative);
        let right = self.pool.neg(value);
        Equation { left: self.pool.var(symbol), right, solved_for: Some(symbol), span }
    }

    /// Every bond once for each layer.
    fn bonds(&mut self) {
        for layer in 0..=self.layers.len() {
            for index in 0..self.old.bonds.len() {
                let bond = self.old.bonds[index].clone();
                let place = |end: End| {
                    let (element, first) = self.places[end.element.index()][layer];
                    (element, first + end.port as usize)
                };
                let (from, to) = (place(bond.from), place(bond.to));
                let id = self.build.bond(from, to, bond.span);
                let new = &mut self.build.graph;
                if !is_number(&bond.name) {
                    let prefix = layer.checked_sub(1).map_or("", |layer| self.layers[layer].prefix.as_str());
                    new.bonds[id.index()].name = format!("{prefix}{}", bond.name);
                }
                let original = BondId(index as u32);
                for (from, to) in [
                    (Variable::Effort(original), Variable::Effort(id)),
                    (Variable::Flow(original), Variable::Flow(id)),
                ] {
                    let symbol = match layer.checked_sub(1) {
                        None => self.old.variables.symbol(from),
                        Some(layer) => self.layers[layer].variables.get(&from).copied(),
                    };
                    if let Some(symbol) = symbol {
                        new.variables.insert(to, symbol);
                    }
                }
            }
        }
        for id in self.old.element_ids().filter(|id| is_storage(self.old.element(*id).kind)) {
            for (layer, (element, first)) in self.places[id.index()].iter().enumerate() {
                for port in 0..self.old.element(id).ports.len() {
                    let from = Variable::State(id, port as u32);
                    let symbol = match layer.checked_sub(1) {
                        None => self.old.variables.symbol(from),
                        Some(layer) => self.layers[layer].variables.get(&from).copied(),
                    };
                    if let Some(symbol) = symbol {
                        let to = Variable::State(*element, (first + port) as u32);
                        self.build.graph.variables.insert(to, symbol);
                    }
                }
            }
        }
    }

    fn outputs(&mut self) {
        for layer in 0..self.layers.len() {
            for k in 0..self.old.outputs.len() {
                let output = self.old.outputs[k].clone();
                let value = self.sensitivity(layer, output.value);
                let (before, after) = &self.layers[layer].output;
                let name = format!("{before}{}{after}", plain(&output.name));
                self.build.graph.outputs.push(Output {
                    name,
                    value,
                    unit: None,
                    doc: None,
                    span: output.span,
                });
            }
        }
    }
}

/// Makes the layers with symbols for the sensitivities of all variables, and the weights.
fn layers(
    pool: &mut Pool,
    new: &mut BondGraph,
    old: &BondGraph,
    parameters: &[usize],
    sensitivity: Sensitivity,
) -> Vec<Layer> {
    let mut all = Vec::new();
    let one = pool.one();
    match sensitivity {
        Sensitivity::Weighted => {
            let mut weights = BTreeMap::new();
            for (k, &place) in parameters.iter().enumerate() {
                let name = format!("lambda_{}", plain(&old.parameters[place].name));
                let symbol = pool.fresh(&name);
                let (value, number) = if k == 0 { (one, 1.0) } else { (pool.zero(), 0.0) };
                new.push_parameter(name, symbol, Value::Written(value), number, old.parameters[place].span);
                if let Some(made) = new.parameters.last_mut() {
                    made.declaration.doc =
                        Some(format!("weight of the sensitivity to {}", plain(&old.parameters[place].name)));
                }
                weights.insert(place, pool.var(symbol));
            }
            let output = ("lambda_".to_owned(), String::new());
            all.push(Layer { prefix: "s_".to_owned(), output, weights, variables: BTreeMap::new() });
        }
        Sensitivity::Each => {
            for &place in parameters {
                let name = plain(&old.parameters[place].name);
                all.push(Layer {
                    prefix: format!("s_{name}_"),
                    output: ("d_".to_owned(), format!("_d_{name}")),
                    weights: [(place, one)].into_iter().collect(),
                    variables: BTreeMap::new(),
                });
            }
        }
    }
    let mut variables: Vec<Variable> = Vec::new();
    for bond in old.bond_ids() {
        variables.extend([Variable::Effort(bond), Variable::Flow(bond)]);
    }
    for id in old.element_ids().filter(|id| is_storage(old.element(*id).kind)) {
        variables.extend((0..old.element(id).ports.len() as u32).map(|port| Variable::State(id, port)));
    }
    variables.extend((0..old.signals.len() as u32).map(Variable::Signal));
    variables.extend((0..old.integrators.len() as u32).map(Variable::Integrator));
    for layer in &mut all {
        for variable in &variables {
            layer.variables.insert(*variable, pool.fresh("sensitivity"));
        }
    }
    all
}
