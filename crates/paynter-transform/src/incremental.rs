//! The associated incremental bond graph (Borutzky & Granda 2002) and
//! Karnopp's linearised one: the graph of small changes of efforts and flows.
//!
//! Every element keeps its place and gets the linear law of its total
//! differential; what a parameter's change adds to that law stands beside it
//! as a sink. Junctions stay, independent sources stay with value zero, so the
//! strokes stay too.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Cancelled, Span};
use paynter_graph::{
    BondGraph, BondId, Causality, Element, ElementId, Input, Law, Origin, Override, Parameter, Value,
    Variable, is_storage,
};
use rustc_hash::FxHashMap;

use crate::build::Builder;
use crate::elements::Sink;
use crate::group::dependent_groups;
use crate::names::plain;
use crate::strokes::keep_strokes;

/// Which changes the graph is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Changes that parameters cause: a sink for each; inputs do not change.
    Incremental,
    /// Changes that inputs cause: no parameter changes.
    Linear,
}

/// What to build.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which changes.
    pub form: Form,
    /// The parameters that change, as places in [`BondGraph::parameters`].
    pub parameters: Vec<usize>,
    /// Each sink as an independent one behind a modulated transformer (Fig. 3).
    pub split: bool,
    /// The nominal graph in the same model.
    pub pair: bool,
}

/// A graph made from a graph.
#[derive(Debug, Clone)]
pub struct Derived {
    /// The graph.
    pub graph: BondGraph,
    /// By bond of the original: the bond in its place.
    pub shared: Vec<BondId>,
    /// The elements that stand for changes of parameters or signals.
    pub sinks: Vec<ElementId>,
    /// How the states of storages with sinks for rates begin.
    pub begins: Begins,
}

/// Where a graph begins, over its parameters.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The initial values of independent states.
    pub states: BTreeMap<Variable, Expr>,
    /// What follows from them: dependent states, efforts, flows, signals.
    pub others: BTreeMap<Variable, Expr>,
}

/// The storages whose initial changes come from the start of the nominal graph.
#[derive(Debug, Clone, Default)]
pub struct Begins {
    /// Those for which it tells them.
    pub known: Vec<ElementId>,
    /// Those for which it does not.
    pub unknown: Vec<ElementId>,
}

/// Builds the incremental or the linearised graph.
///
/// `value` tells nominal values of variables as far as they are known; without
/// the nominal graph beside it the new one has them as parameters `nom_…`.
/// `start` is where the nominal graph begins, which the pair needs.
pub fn incremental(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    request: &Request,
    value: &dyn Fn(Variable) -> Option<f64>,
    start: &Start,
    token: &CancellationToken,
) -> Result<Derived, Cancelled> {
    let mut maker = Maker::new(pool, graph, causality, request, start);
    maker.skeleton();
    maker.changing();
    maker.changing_inputs();
    maker.find_live();
    maker.dependent_storages(token)?;
    for id in maker.old.element_ids() {
        token.check()?;
        maker.element(id);
    }
    maker.outputs();
    maker.signals();
    maker.build.finish();
    if !request.pair {
        maker.name_nominal(value);
        maker.keep_parameters();
    }
    let Maker { pool, build, first, old, begins, .. } = maker;
    let Builder { mut graph, sinks, .. } = build;
    let shared: Vec<BondId> = old.bond_ids().map(|bond| BondId(bond.0 + first.1)).collect();
    let mut strokes: Vec<(BondId, bool)> = Vec::new();
    for (index, bond) in shared.iter().enumerate() {
        strokes.push((*bond, causality.strokes[index].effort_to));
        if request.pair {
            strokes.push((BondId(index as u32), causality.strokes[index].effort_to));
        }
    }
    keep_strokes(pool, &mut graph, &strokes);
    Ok(Derived { graph, shared, sinks, begins })
}

/// Makes one derived graph.
pub(crate) struct Maker<'a> {
    pub(crate) pool: &'a mut Pool,
    pub(crate) old: BondGraph,
    pub(crate) causality: &'a Causality,
    pub(crate) request: &'a Request,
    pub(crate) start: &'a Start,
    pub(crate) build: Builder,
    /// The first element and the first bond of the new part.
    pub(crate) first: (u32, u32),
    /// By parameter: its change.
    pub(crate) deltas: BTreeMap<usize, Symbol>,
    /// By input: its change.
    pub(crate) inputs: BTreeMap<u32, Symbol>,
    /// By signal and integrator: its increment, where it can be other than zero.
    pub(crate) increments: BTreeMap<Variable, Symbol>,
    /// The ports of storages in groups of dependent ones.
    pub(crate) members: BTreeSet<(ElementId, usize)>,
    /// By member: what its true state has more than the state of the incremental storage, by parameter.
    pub(crate) extras: BTreeMap<(ElementId, usize), BTreeMap<usize, Expr>>,
    /// By storage with members among its ports: its sinks.
    pub(crate) sinks: BTreeMap<ElementId, Vec<Sink>>,
    pub(crate) begins: Begins,
    /// The expressions of increments of signals.
    pub(crate) waiting: BTreeMap<Variable, (Expr, Expr)>,
    /// A parameter that is zero, for laws that are flat.
    pub(crate) flat: Option<Symbol>,
}

impl<'a> Maker<'a> {
    fn new(
        pool: &'a mut Pool,
        graph: &BondGraph,
        causality: &'a Causality,
        request: &'a Request,
        start: &'a Start,
    ) -> Maker<'a> {
        let mut old = graph.clone();
        old.derived.clear();
        let ports = old.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
        old.locals.reserve(pool, ports);
        for bond in old.bond_ids() {
            old.symbol(pool, Variable::Effort(bond));
            old.symbol(pool, Variable::Flow(bond));
        }
        for id in old.element_ids().filter(|id| is_storage(graph.element(*id).kind)) {
            for port in 0..old.element(id).ports.len() {
                old.symbol(pool, Variable::State(id, port as u32));
            }
        }
        let members = dependent_groups(pool, &old, causality);
        let mut base = if request.pair { old.clone() } else { empty(&old) };
        for element in &mut base.elements {
            element.origin = Origin::Nominal { of: element.name.clone() };
        }
        let first = (base.elements.len() as u32, base.bonds.len() as u32);
        Maker {
            pool,
            old,
            causality,
            request,
            start,
            build: Builder::new(base),
            first,
            deltas: BTreeMap::new(),
            inputs: BTreeMap::new(),
            increments: BTreeMap::new(),
            members,
            extras: BTreeMap::new(),
            sinks: BTreeMap::new(),
            begins: Begins::default(),
            waiting: BTreeMap::new(),
            flat: None,
        }
    }

    /// Copies elements and bonds; laws come later.
    fn skeleton(&mut self) {
        let (elements, bonds) = self.first;
        let prefix = if self.request.pair { "Delta_" } else { "" };
        let new = &mut self.build.graph;
        new.name = match (self.request.pair, self.request.form) {
            (true, _) => format!("{}_pair", self.old.name),
            (false, Form::Incremental) => format!("{}_incremental", self.old.name),
            (false, Form::Linear) => format!("{}_linear", self.old.name),
        };
        for element in &self.old.elements {
            let mut copy = Element {
                name: format!("{prefix}{}", element.name),
                law: Law::Structure,
                initial: Vec::new(),
                origin: Origin::Increment { of: element.name.clone() },
                ..element.clone()
            };
            for port in &mut copy.ports {
                port.bond.0 += bonds;
            }
            new.elements.push(copy);
        }
        for bond in &self.old.bonds {
            let mut copy = bond.clone();
            copy.from.element.0 += elements;
            copy.to.element.0 += elements;
            if self.request.pair {
                let number = crate::names::is_number(&bond.name);
                copy.name = if number { "b0".to_owned() } else { format!("{prefix}{}", bond.name) };
            }
            new.bonds.push(copy);
        }
        for bond in self.old.bond_ids() {
            let place = BondId(bond.0 + bonds);
            let (effort, flow) = (self.pool.fresh("Delta_e"), self.pool.fresh("Delta_f"));
            new.variables.insert(Variable::Effort(place), effort);
            new.variables.insert(Variable::Flow(place), flow);
        }
        for id in self.old.element_ids() {
            if is_storage(self.old.element(id).kind) {
                for port in 0..self.old.element(id).ports.len() {
                    let state = self.pool.fresh("Delta_x");
                    let place = Variable::State(ElementId(id.0 + elements), port as u32);
                    new.variables.insert(place, state);
                }
            }
        }
        if let Some(time) = self.old.variables.symbol(Variable::Time) {
            new.variables.insert(Variable::Time, time);
        }
        for entry in &self.old.overrides {
            let mut copy = entry.clone();
            match &mut copy {
                Override::Prefer { element, .. } => element.0 += elements,
                Override::Stroke { bond, effort_into, .. } => {
                    bond.0 += bonds;
                    effort_into.0 += elements;
                }
            }
            new.overrides.push(copy);
        }
    }

    /// Declares what changes: parameters, or inputs.
    fn changing(&mut self) {
        let zero = self.pool.zero();
        if self.request.form == Form::Linear {
            for (k, input) in self.old.inputs.iter().enumerate() {
                let name = format!("Delta_{}", plain(&input.name));
                let symbol = self.pool.fresh(&name);
                self.inputs.insert(k as u32, symbol);
                let unit = input.unit.clone();
                let doc = Some(format!("change of {}", plain(&input.name)));
                let new = &mut self.build.graph;
                new.variables.insert(Variable::Input(new.inputs.len() as u32), symbol);
                new.inputs.push(Input {
                    name,
                    symbol,
                    value: zero,
                    given: true,
                    unit,
                    doc,
                    span: input.span,
                });
            }
        }
        for &place in &self.request.parameters {
            let parameter = &self.old.parameters[place];
            let name = format!("Delta_{}", plain(&parameter.name));
            let symbol = self.pool.fresh(&name);
            self.deltas.insert(place, symbol);
            // A split sink is a source of the change itself, in whatever unit that has.
            let unit = parameter.unit.clone().filter(|_| !self.request.split);
            let doc = Some(format!("change of {}", plain(&parameter.name)));
            let span = parameter.span;
            let new = &mut self.build.graph;
            if self.request.pair {
                new.push_parameter(name, symbol, Value::Written(zero), 0.0, span);
                if let Some(made) = new.parameters.last_mut() {
                    (made.declaration.unit, made.declaration.doc) = (unit, doc);
                }
            } else {
                new.variables.insert(Variable::Input(new.inputs.len() as u32), symbol);
                new.inputs.push(Input { name, symbol, value: zero, given: true, unit, doc, span });
            }
        }
    }

    /// Inputs whose default depends on changing parameters change with them. Alone the graph leaves this
    /// out, because its transfer functions are about inputs that are given.
    fn changing_inputs(&mut self) {
        if !self.request.pair || self.request.form == Form::Linear {
            return;
        }
        for k in 0..self.old.inputs.len() {
            let input = self.old.inputs[k].clone();
            let change = self.change(input.value);
            if change.parameters.is_empty() {
                continue;
            }
            let value = self.total(&change);
            let name = format!("Delta_{}", plain(&input.name));
            let symbol = self.pool.fresh(&name);
            self.inputs.insert(k as u32, symbol);
            let doc = Some(format!("change of {}", plain(&input.name)));
            let new = &mut self.build.graph;
            new.variables.insert(Variable::Input(new.inputs.len() as u32), symbol);
            new.inputs.push(Input { name, symbol, value, given: true, unit: None, doc, span: input.span });
        }
    }

    /// Makes the nominal variables that the graph reads its parameters.
    fn name_nominal(&mut self, value: &dyn Fn(Variable) -> Option<f64>) {
        let mut map: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for expr in all_expressions(&self.build.graph) {
            for symbol in self.pool.symbols(expr) {
                let Some(variable) = self.old.variables.meaning(symbol) else { continue };
                if matches!(variable, Variable::Parameter(_) | Variable::Time) || map.contains_key(&symbol) {
                    continue;
                }
                let (name, span) = self.nominal_name(variable);
                let nominal = self.pool.fresh(&name);
                let number = value(variable).filter(|number| number.is_finite()).unwrap_or(0.0);
                let exact = self.pool.decimal(&format!("{number:e}")).unwrap_or(self.pool.zero());
                self.build.graph.push_parameter(name, nominal, Value::Written(exact), number, span);
                let nominal = self.pool.var(nominal);
                map.insert(symbol, nominal);
            }
        }
        rewrite(&mut self.build.graph, &mut |expr| self.pool.substitute(expr, &map));
    }

    fn nominal_name(&self, variable: Variable) -> (String, Span) {
        let old = &self.old;
        let (name, span) = match variable {
            Variable::Effort(bond) => (old.bond_variable_name(bond, 'e'), old.bond(bond).span),
            Variable::Flow(bond) => (old.bond_variable_name(bond, 'f'), old.bond(bond).span),
            Variable::State(id, port) => (old.state_name(id, port as usize), old.element(id).span),
            Variable::Input(k) => (old.inputs[k as usize].name.clone(), old.inputs[k as usize].span),
            Variable::Signal(k) => (old.signals[k as usize].name.clone(), old.signals[k as usize].span),
            Variable::Integrator(k) => {
                (old.integrators[k as usize].name.clone(), old.integrators[k as usize].span)
            }
            Variable::Parameter(_) | Variable::Time => (String::new(), Span::default()),
        };
        (format!("nom_{}", plain(&name)), span)
    }

    /// Takes over the parameters that are still read, before the nominal variables.
    fn keep_parameters(&mut self) {
        let mut read: BTreeSet<Symbol> = BTreeSet::new();
        for expr in all_expressions(&self.build.graph) {
            read.extend(self.pool.symbols(expr));
        }
        let kept = self.old.parameters.iter().filter(|parameter| read.contains(&parameter.symbol));
        let mut parameters: Vec<Parameter> = kept.cloned().collect();
        let new = &mut self.build.graph;
        parameters.append(&mut new.parameters);
        new.parameters = parameters.into();
        for (k, parameter) in new.parameters.iter().enumerate() {
            new.variables.insert(Variable::Parameter(k as u32), parameter.symbol);
        }
    }
}

/// A graph with nothing in it but what all parts share.
fn empty(old: &BondGraph) -> BondGraph {
    BondGraph {
        name: old.name.clone(),
        doc: old.doc.clone(),
        tables: old.tables.clone(),
        locals: old.locals.clone(),
        ..BondGraph::default()
    }
}

/// All expressions of a graph, initial states included.
pub(crate) fn all_expressions(graph: &BondGraph) -> Vec<Expr> {
    let mut all = Vec::new();
    for element in &graph.elements {
        all.extend(element.law.expressions());
        all.extend(element.initial.iter().map(|(_, value, _)| *value));
    }
    all.extend(graph.signals.iter().map(|signal| signal.value));
    all.extend(graph.integrators.iter().flat_map(|integrator| [integrator.rate, integrator.initial]));
    all.extend(graph.outputs.iter().map(|output| output.value));
    all.extend(graph.inputs.iter().map(|input| input.value));
    all
}

/// Rewrites all expressions that read variables.
fn rewrite(graph: &mut BondGraph, change: &mut dyn FnMut(Expr) -> Expr) {
    for element in &mut graph.elements {
        element.law.rewrite(change);
    }
    for signal in &mut graph.signals {
        signal.value = change(signal.value);
    }
    for integrator in &mut graph.integrators {
        integrator.rate = change(integrator.rate);
    }
    for output in &mut graph.outputs {
        output.value = change(output.value);
    }
}
