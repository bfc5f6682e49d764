//! The signal-flow graph of a causal bond graph: every effort, flow, state,
//! signal, input and output is a node, every direct dependence an edge with
//! its gain. A state gathers what it integrates with gain 1/s; a dependent
//! storage gives out the rate of its state with gain s. Nonlinear laws are
//! represented by their derivatives.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, Causality, ElementId, Ranges, Stored, Variable, flat_name};
use rustc_hash::FxHashMap;

use crate::sort::definitions;
use crate::{Equations, QueryError, Readings};

/// A signal-flow graph.
#[derive(Debug, Clone)]
pub struct SignalFlow {
    /// The Laplace variable.
    pub s: Symbol,
    /// Inputs first, then states, then what is computed from them, outputs last.
    pub nodes: Vec<SignalNode>,
    /// Ordered by target, then by source; at most one for each pair.
    pub edges: Vec<SignalEdge>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalNode {
    /// `E`, `coil.p`, `motor.e2`.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The element that computes it, where one does.
    pub element: Option<ElementId>,
}

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Place among the inputs.
    Input(usize),
    /// A state that is integrated.
    State,
    /// The state of a dependent storage.
    Dependent,
    /// A bond's effort.
    Effort,
    /// A bond's flow along its arrow.
    Flow,
    /// A signal.
    Signal,
    /// Place among the outputs.
    Output(usize),
}

/// A direct dependence: target = … + gain·source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalEdge {
    /// Place of the source among the nodes.
    pub from: usize,
    /// Place of the target.
    pub to: usize,
    /// Over parameters and s; of nonlinear models also over states, inputs and implicit unknowns.
    pub gain: Expr,
}

impl SignalFlow {
    /// The number of integrations: nodes that are states.
    pub fn integrations(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind == NodeKind::State).count()
    }
}

/// Reads the signal-flow graph off a causal bond graph with its equations.
pub fn signal_flow(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    equations: &Equations,
    token: &CancellationToken,
) -> Result<SignalFlow, QueryError> {
    // Symbols of variables that nobody has named yet are made on the way.
    let graph = &mut graph.clone();
    let ranges = Ranges::new(graph);
    let definitions = definitions(pool, graph, causality, &ranges, &Readings::new());
    token.check()?;
    let s = pool.symbol("s");
    let mut maker = Maker {
        place: FxHashMap::default(),
        nodes: Vec::new(),
        edges: Vec::new(),
        rates: FxHashMap::default(),
        held: points(pool, equations),
    };
    for (k, input) in graph.inputs.iter().enumerate() {
        maker.node(input.symbol, flat_name(&input.name), NodeKind::Input(k), None);
    }
    // States by what they integrate.
    let mut integrals: Vec<(usize, Expr)> = Vec::new();
    for storage in causality.storages.iter().filter(|storage| storage.integral) {
        let variable = Variable::State(storage.element, storage.port as u32);
        let symbol = graph.symbol(pool, variable);
        let name = pool.name(symbol).to_owned();
        let node = maker.node(symbol, name, NodeKind::State, Some(storage.element));
        let element = graph.element(storage.element);
        let (stored, port) = (element.stored().unwrap_or(Stored::Momentum), element.ports[storage.port]);
        let source = graph.symbol(pool, stored.rate().of(port.bond));
        let source = pool.var(source);
        integrals.push((
            node,
            if stored == Stored::Displacement && !port.into { pool.neg(source) } else { source },
        ));
    }
    for integrator in &graph.integrators {
        let node = maker.node(integrator.symbol, flat_name(&integrator.name), NodeKind::State, None);
        integrals.push((node, integrator.rate));
    }
    // What is computed.
    let mut computed: Vec<(usize, Expr)> = Vec::with_capacity(definitions.nodes.len());
    for entry in &definitions.nodes {
        let (name, kind) = describe(pool, graph, entry.variable, entry.symbol);
        computed.push((maker.node(entry.symbol, name, kind, entry.element), entry.definition));
    }
    let mut implicit: Vec<(usize, Symbol, Expr)> = Vec::with_capacity(definitions.implicit.len());
    for (variable, symbol, residual, element) in &definitions.implicit {
        let (name, kind) = describe(pool, graph, *variable, *symbol);
        implicit.push((maker.node(*symbol, name, kind, Some(*element)), *symbol, *residual));
    }
    for rate in &definitions.rates {
        if let Some(&state) = maker.place.get(&rate.state) {
            maker.rates.insert(rate.rate, state);
        }
    }
    // Edges.
    let laplace = pool.var(s);
    let one = pool.one();
    let integration = pool.div(one, laplace);
    for (node, rate) in integrals {
        maker.edges_of(pool, node, rate, integration, laplace);
    }
    for (node, definition) in computed {
        token.check()?;
        maker.edges_of(pool, node, definition, one, laplace);
    }
    for (node, symbol, residual) in implicit {
        maker.implicit_edges(pool, node, symbol, residual, laplace);
    }
    for (k, output) in graph.outputs.iter().enumerate() {
        let name = flat_name(&output.name);
        maker.nodes.push(SignalNode { name, kind: NodeKind::Output(k), element: None });
        let node = maker.nodes.len() - 1;
        maker.edges_of(pool, node, output.value, one, laplace);
    }
    maker.edges.sort_by_key(|edge| (edge.to, edge.from));
    Ok(SignalFlow { s, nodes: maker.nodes, edges: maker.edges })
}

/// Derivatives are taken at a point: what is computed there, over states, inputs and implicit unknowns; inputs rest.
fn points(pool: &Pool, equations: &Equations) -> FxHashMap<Symbol, Expr> {
    let mut held: FxHashMap<Symbol, Expr> =
        equations.assignments.iter().map(|entry| (entry.symbol, entry.value)).collect();
    held.extend(equations.dependent.iter().map(|entry| (entry.symbol, entry.value)));
    for input in &equations.inputs {
        held.extend(input.symbols.iter().skip(1).map(|symbol| (*symbol, pool.zero())));
    }
    held
}

fn describe(pool: &Pool, graph: &BondGraph, variable: Variable, symbol: Symbol) -> (String, NodeKind) {
    match variable {
        Variable::Effort(bond) => (graph.bond_variable_name(bond, 'e'), NodeKind::Effort),
        Variable::Flow(bond) => (graph.bond_variable_name(bond, 'f'), NodeKind::Flow),
        Variable::State(..) => (pool.name(symbol).to_owned(), NodeKind::Dependent),
        _ => (pool.name(symbol).to_owned(), NodeKind::Signal),
    }
}

struct Maker {
    place: FxHashMap<Symbol, usize>,
    nodes: Vec<SignalNode>,
    edges: Vec<SignalEdge>,
    /// The symbols of rates, with the nodes of their states.
    rates: FxHashMap<Symbol, usize>,
    /// Values at the point where derivatives are taken.
    held: FxHashMap<Symbol, Expr>,
}

impl Maker {
    fn node(&mut self, symbol: Symbol, name: String, kind: NodeKind, element: Option<ElementId>) -> usize {
        self.nodes.push(SignalNode { name, kind, element });
        self.place.insert(symbol, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The derivatives of an expression by the nodes it reads; rates are read as s times their states.
    fn derivatives(&self, pool: &mut Pool, e: Expr, laplace: Expr) -> Vec<(usize, Expr)> {
        let inside: Vec<Symbol> = pool
            .symbols(e)
            .into_iter()
            .filter(|symbol| self.place.contains_key(symbol) || self.rates.contains_key(symbol))
            .collect();
        let derivatives = match pool.linear_parts(e, &inside) {
            Some((coefficients, _)) => coefficients,
            None => inside.iter().map(|symbol| pool.diff(e, *symbol)).collect(),
        };
        let derivatives = pool.substitute_all(&derivatives, &self.held);
        let mut out: Vec<(usize, Expr)> = Vec::with_capacity(inside.len());
        for (symbol, derivative) in inside.iter().zip(derivatives) {
            let (from, derivative) = match (self.place.get(symbol), self.rates.get(symbol)) {
                (Some(from), _) => (*from, derivative),
                (None, Some(from)) => (*from, pool.mul(derivative, laplace)),
                (None, None) => continue,
            };
            match out.iter_mut().find(|(node, _)| *node == from) {
                Some((_, sum)) => *sum = pool.add(*sum, derivative),
                None => out.push((from, derivative)),
            }
        }
        out.retain(|(_, derivative)| !pool.is_zero(*derivative));
        out
    }

    fn edges_of(&mut self, pool: &mut Pool, to: usize, e: Expr, factor: Expr, laplace: Expr) {
        for (from, derivative) in self.derivatives(pool, e, laplace) {
            let gain = pool.mul(derivative, factor);
            self.edges.push(SignalEdge { from, to, gain });
        }
    }

    /// An unknown z that r(z, …) = 0 determines follows with −(∂r/∂x)/(∂r/∂z);
    /// where its own derivative vanishes, z = z − r keeps it in a loop of its own.
    fn implicit_edges(&mut self, pool: &mut Pool, to: usize, symbol: Symbol, residual: Expr, laplace: Expr) {
        let derivatives = self.derivatives(pool, residual, laplace);
        let own = self.place.get(&symbol).copied();
        let derivative =
            derivatives.iter().find(|(from, _)| Some(*from) == own).map(|(_, derivative)| *derivative);
        let divisor = derivative.unwrap_or(pool.one());
        for (from, derivative) in derivatives.into_iter().filter(|(from, _)| Some(*from) != own) {
            let quotient = pool.div(derivative, divisor);
            let gain = pool.neg(quotient);
            self.edges.push(SignalEdge { from, to, gain });
        }
        if derivative.is_none() {
            let gain = pool.one();
            self.edges.push(SignalEdge { from: to, to, gain });
        }
    }
}
