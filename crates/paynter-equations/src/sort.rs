//! Every effort, flow and signal as its own element computes it, and the
//! order in which to compute them.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::strong_components;
use paynter_graph::{BondGraph, BondId, Causality, Class, ElementId, Law, Power, Ranges, Variable};
use rustc_hash::FxHashMap;

use crate::derive::{Reading, Readings};
use crate::laws;

/// One computed quantity.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub variable: Variable,
    pub symbol: Symbol,
    pub element: Option<ElementId>,
    /// Over the symbols of direct inputs.
    pub definition: Expr,
}

/// A dependent port: what leaves it is the rate of its state.
#[derive(Debug, Clone)]
pub(crate) struct Rate {
    pub element: ElementId,
    pub port: usize,
    /// The state.
    pub state: Symbol,
    /// The symbol that stands for the state's rate until it is known.
    pub rate: Symbol,
}

/// All definitions of a causal graph.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    pub nodes: Vec<Node>,
    /// Unknowns that laws determine only implicitly, with their residuals over symbols.
    pub implicit: Vec<(Variable, Symbol, Expr, ElementId)>,
    pub rates: Vec<Rate>,
    place: FxHashMap<Symbol, u32>,
}

/// Writes down how each effort, flow and signal is computed.
pub(crate) fn definitions(
    pool: &mut Pool,
    graph: &mut BondGraph,
    causality: &Causality,
    ranges: &Ranges,
    readings: &Readings,
) -> Definitions {
    let mut out = Definitions::default();
    // Fields given by a matrix have no laws in braces, so their local symbols may not exist yet.
    let ports = graph.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
    graph.locals.reserve(pool, ports);
    for id in graph.element_ids() {
        let class = graph.element(id).class();
        let mut writer = Writer { pool, graph, causality, id, out: &mut out };
        match class {
            Class::Junction(common) => writer.junction(common == Power::Effort),
            Class::Transformer => writer.transformer(),
            Class::Gyrator => writer.gyrator(),
            Class::Source(_) => writer.source(),
            Class::Detector(_) => {
                let zero = writer.pool.zero();
                writer.define(0, zero);
            }
            Class::EntropySource => writer.entropy(),
            Class::Resistor | Class::Storage(_) => {
                writer.law(ranges, readings.get(&id) == Some(&Reading::Turned))
            }
        }
    }
    for k in 0..graph.signals.len() {
        let (symbol, definition) = (graph.signals[k].symbol, graph.signals[k].value);
        out.push(Node { variable: Variable::Signal(k as u32), symbol, element: None, definition });
    }
    out
}

impl Definitions {
    fn push(&mut self, node: Node) {
        self.place.insert(node.symbol, self.nodes.len() as u32);
        self.nodes.push(node);
    }

    /// Groups of nodes in the order of computation; a group of several, or of
    /// one that reads itself, is an algebraic loop.
    pub fn order(&self, pool: &Pool) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let reads: Vec<Vec<u32>> = self
            .nodes
            .iter()
            .map(|node| {
                pool.symbols(node.definition)
                    .iter()
                    .filter_map(|symbol| self.place.get(symbol).copied())
                    .collect()
            })
            .collect();
        let groups = strong_components(self.nodes.len(), |v| &reads[v as usize]);
        (groups, reads)
    }
}

struct Writer<'a> {
    pool: &'a mut Pool,
    graph: &'a mut BondGraph,
    causality: &'a Causality,
    id: ElementId,
    out: &'a mut Definitions,
}

impl Writer<'_> {
    fn effort_in(&self, port: usize) -> bool {
        self.causality.effort_in(self.graph, self.id, port)
    }

    fn bond(&self, port: usize) -> BondId {
        self.graph.element(self.id).ports[port].bond
    }

    /// 1 where the bond's arrow points into the element, −1 where it points away.
    fn sign(&self, port: usize) -> i64 {
        if self.graph.element(self.id).ports[port].into { 1 } else { -1 }
    }

    fn effort(&mut self, port: usize) -> Expr {
        let symbol = self.graph.symbol(self.pool, Variable::Effort(self.bond(port)));
        self.pool.var(symbol)
    }

    /// The flow along the bond's arrow.
    fn flow(&mut self, port: usize) -> Expr {
        let symbol = self.graph.symbol(self.pool, Variable::Flow(self.bond(port)));
        self.pool.var(symbol)
    }

    /// The flow into the element.
    fn flow_in(&mut self, port: usize) -> Expr {
        let flow = self.flow(port);
        self.signed(self.sign(port), flow)
    }

    fn signed(&mut self, sign: i64, expr: Expr) -> Expr {
        if sign < 0 { self.pool.neg(expr) } else { expr }
    }

    /// Defines what the element gives out at a port: effort, or flow along the arrow.
    fn define(&mut self, port: usize, definition: Expr) {
        let bond = self.bond(port);
        let variable = if self.effort_in(port) { Variable::Flow(bond) } else { Variable::Effort(bond) };
        let symbol = self.graph.symbol(self.pool, variable);
        self.out.push(Node { variable, symbol, element: Some(self.id), definition });
    }

    /// The common variable is passed on, the balanced one closes the sum.
    fn junction(&mut self, one_effort: bool) {
        let n = self.graph.element(self.id).ports.len();
        let Some(d) = (0..n).find(|&port| self.effort_in(port) == one_effort) else { return };
        let common = if one_effort { self.effort(d) } else { self.flow(d) };
        let mut terms = Vec::with_capacity(n);
        for port in (0..n).filter(|&port| port != d) {
            self.define(port, common);
            let balanced = if one_effort { self.flow(port) } else { self.effort(port) };
            let sign = -self.sign(d) * self.sign(port);
            terms.push(self.signed(sign, balanced));
        }
        let sum = self.pool.sum(&terms);
        self.define(d, sum);
    }

    fn value(&mut self) -> Expr {
        match self.graph.element(self.id).law {
            Law::Value(value) => value,
            _ => self.pool.zero(),
        }
    }

    /// e1 = m e2, f2 = m f1, with f1 into port 1 and f2 out of port 2.
    fn transformer(&mut self) {
        let m = self.value();
        if self.effort_in(0) {
            let e1 = self.effort(0);
            let e2 = self.pool.div(e1, m);
            self.define(1, e2);
            let into = self.flow_in(1);
            let f2 = self.pool.neg(into);
            let f1 = self.pool.div(f2, m);
            let f1 = self.signed(self.sign(0), f1);
            self.define(0, f1);
        } else {
            let e2 = self.effort(1);
            let e1 = self.pool.mul(m, e2);
            self.define(0, e1);
            let f1 = self.flow_in(0);
            let f2 = self.pool.mul(m, f1);
            let f2 = self.signed(-self.sign(1), f2);
            self.define(1, f2);
        }
    }

    /// e1 = r f2, e2 = r f1.
    fn gyrator(&mut self) {
        let r = self.value();
        if self.effort_in(0) {
            let (e1, e2) = (self.effort(0), self.effort(1));
            let f2 = self.pool.div(e1, r);
            let f2 = self.signed(-self.sign(1), f2);
            self.define(1, f2);
            let f1 = self.pool.div(e2, r);
            let f1 = self.signed(self.sign(0), f1);
            self.define(0, f1);
        } else {
            let into = self.flow_in(1);
            let f2 = self.pool.neg(into);
            let e1 = self.pool.mul(r, f2);
            self.define(0, e1);
            let f1 = self.flow_in(0);
            let e2 = self.pool.mul(r, f1);
            self.define(1, e2);
        }
    }

    fn source(&mut self) {
        let value = self.value();
        self.define(0, value);
    }

    /// e1 = R f1, and the entropy flow f2 = e1 f1/e2 out of port 2.
    fn entropy(&mut self) {
        let r = self.value();
        let (e1, f1) = (self.effort(0), self.flow_in(0));
        if self.effort_in(0) {
            let f = self.pool.div(e1, r);
            let f = self.signed(self.sign(0), f);
            self.define(0, f);
        } else {
            let e = self.pool.mul(r, f1);
            self.define(0, e);
        }
        let temperature = self.effort(1);
        let power = self.pool.mul(e1, f1);
        let entropy = self.pool.div(power, temperature);
        let entropy = self.signed(-self.sign(1), entropy);
        self.define(1, entropy);
    }

    /// R, C, I and switches: the law is solved for what goes out, or read the other way round.
    fn law(&mut self, ranges: &Ranges, turned: bool) {
        let solve = if turned { laws::turn } else { laws::solve };
        let solved = solve(self.pool, self.graph, self.causality, self.id, ranges);
        let n = self.graph.element(self.id).ports.len();
        let stored = self.graph.element(self.id).stored();
        // From local variables to those of bonds and states.
        let mut map: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for port in 0..n {
            let locals = self.graph.locals.port(n, port);
            let [e, f, ..] = locals;
            let (effort, flow) = (self.effort(port), self.flow_in(port));
            map.insert(e, effort);
            map.insert(f, flow);
            if let Some(stored) = stored {
                let state = self.graph.symbol(self.pool, Variable::State(self.id, port as u32));
                let state = self.pool.var(state);
                map.insert(stored.state(locals), state);
            }
        }
        for port in 0..n {
            let wanted = laws::wanted(self.graph, self.causality, self.id, port);
            let value = solved.values.iter().find(|(symbol, _)| *symbol == wanted).map(|(_, value)| *value);
            let residual = solved.implicit.iter().find(|(symbol, _)| *symbol == wanted).map(|(_, r)| *r);
            let [_, f, q, p] = self.graph.locals.port(n, port);
            let is_state = wanted == q || wanted == p;
            let variable = if is_state {
                self.dependent(port)
            } else if wanted == f {
                Variable::Flow(self.bond(port))
            } else {
                Variable::Effort(self.bond(port))
            };
            let symbol = self.graph.symbol(self.pool, variable);
            match (value, residual) {
                (Some(value), _) => {
                    let value = self.pool.substitute(value, &map);
                    let sign = if wanted == f { self.sign(port) } else { 1 };
                    let definition = self.signed(sign, value);
                    self.out.push(Node { variable, symbol, element: Some(self.id), definition });
                }
                (None, Some(residual)) => {
                    let residual = self.pool.substitute(residual, &map);
                    self.out.implicit.push((variable, symbol, residual, self.id));
                }
                (None, None) => {}
            }
        }
    }

    /// A port in derivative causality gives out the rate of its state.
    fn dependent(&mut self, port: usize) -> Variable {
        let variable = Variable::State(self.id, port as u32);
        let state = self.graph.symbol(self.pool, variable);
        let name = format!("der({})", self.pool.name(state));
        let rate = self.pool.symbol(&name);
        let value = self.pool.var(rate);
        // A C gives out the flow into it, an I the effort.
        let sign = if self.effort_in(port) { self.sign(port) } else { 1 };
        let definition = self.signed(sign, value);
        self.define(port, definition);
        self.out.rates.push(Rate { element: self.id, port, state, rate });
        variable
    }
}
