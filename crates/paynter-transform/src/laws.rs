//! Every element's law as residuals over its local variables, and what
//! differentiating them gives.
//!
//! Local variables count into the element at every port, of two-ports too.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Causality, Class, Element, ElementId, Law, Ranges, Variable};
use rustc_hash::FxHashMap;

/// The law of an element: each residual is zero.
pub(crate) struct Residuals {
    /// Over local variables and what the law reads outside.
    pub list: Vec<Expr>,
    /// The local variable each is solved for as it is written.
    pub solved: Vec<Option<Symbol>>,
}

/// Writes the law of an R, C, I, TF, GY, RS or switch as residuals.
pub(crate) fn residuals(pool: &mut Pool, graph: &BondGraph, element: &Element) -> Residuals {
    let n = element.ports.len();
    let local = |port: usize| graph.locals.port(n, port);
    match (&element.law, element.class()) {
        // e1 = m e2, and the flow out of port 2 is m f1.
        (Law::Value(m), Class::Transformer) => {
            let ([e1, f1, ..], [e2, f2, ..]) = (local(0), local(1));
            let first = minus_product(pool, e1, *m, e2);
            let minus = pool.neg(*m);
            let second = minus_product(pool, f2, minus, f1);
            Residuals { list: vec![first, second], solved: vec![Some(e1), Some(f2)] }
        }
        // e1 = r times the flow out of port 2, e2 = r f1.
        (Law::Value(r), Class::Gyrator) => {
            let ([e1, f1, ..], [e2, f2, ..]) = (local(0), local(1));
            let minus = pool.neg(*r);
            let first = minus_product(pool, e1, minus, f2);
            let second = minus_product(pool, e2, *r, f1);
            Residuals { list: vec![first, second], solved: vec![Some(e1), Some(e2)] }
        }
        // e1 = R f1, and the entropy flow out of port 2 is e1 f1/e2.
        (Law::Value(r), Class::EntropySource) => {
            let ([e1, f1, ..], [e2, f2, ..]) = (local(0), local(1));
            let first = minus_product(pool, e1, *r, f1);
            let [a, b, c, d] = [e1, f1, e2, f2].map(|symbol| pool.var(symbol));
            let power = pool.mul(a, b);
            let entropy = pool.div(power, c);
            Residuals { list: vec![first, pool.add(d, entropy)], solved: vec![Some(e1), Some(f2)] }
        }
        (Law::Value(value), class) => {
            let (x, y) = class.pair(local(0));
            Residuals { list: vec![minus_product(pool, x, *value, y)], solved: vec![Some(x)] }
        }
        (Law::Matrix(rows), class) => {
            let mut out = Residuals { list: Vec::new(), solved: Vec::new() };
            for (i, row) in rows.iter().enumerate() {
                let (x, _) = class.pair(local(i));
                let mut terms = vec![pool.var(x)];
                for (j, entry) in row.iter().enumerate() {
                    let y = pool.var(class.pair(local(j)).1);
                    let term = pool.mul(*entry, y);
                    terms.push(pool.neg(term));
                }
                out.list.push(pool.sum(&terms));
                out.solved.push(Some(x));
            }
            out
        }
        (Law::Equations(equations), _) => Residuals {
            list: equations.iter().map(|law| pool.sub(law.left, law.right)).collect(),
            solved: equations.iter().map(|law| law.solved_for).collect(),
        },
        // f = (if condition then 1/on else off)·e
        (Law::Switch { condition, on, off }, _) => {
            let [e, f, ..] = local(0);
            let one = pool.one();
            let closed = pool.div(one, *on);
            let conductance = pool.select(*condition, closed, *off);
            Residuals { list: vec![minus_product(pool, f, conductance, e)], solved: vec![Some(f)] }
        }
        (Law::Structure, _) => Residuals { list: Vec::new(), solved: Vec::new() },
    }
}

/// x − value·y
fn minus_product(pool: &mut Pool, x: Symbol, value: Expr, y: Symbol) -> Expr {
    let (x, y) = (pool.var(x), pool.var(y));
    let product = pool.mul(value, y);
    pool.sub(x, product)
}

/// Turns a one-port's law round where it is written against its causality and the algebra can invert
/// it, as Gawthrop does from (14) to (19): what causality computes then stands alone.
pub(crate) fn turned(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    id: ElementId,
    law: Residuals,
) -> Residuals {
    let element = graph.element(id);
    let ([residual], [Some(solved)]) = (&law.list[..], &law.solved[..]) else { return law };
    let wanted = element.class().wanted(graph.locals.port(1, 0), causality.effort_in(graph, id, 0));
    if *solved == wanted {
        return law;
    }
    let ranges = Ranges::new(graph);
    match ranges.solve_for(pool, *residual, wanted) {
        Ok(solution) if solution.is_global() => {
            let alone = pool.var(wanted);
            Residuals { list: vec![pool.sub(alone, solution.value)], solved: vec![Some(wanted)] }
        }
        _ => law,
    }
}

/// The local variables that a kind's law may contain, port by port.
pub(crate) fn locals(graph: &BondGraph, element: &Element) -> Vec<Symbol> {
    let n = element.ports.len();
    let of = |port: usize| <[Symbol; 2]>::from(element.class().pair(graph.locals.port(n, port)));
    (0..n).flat_map(of).collect()
}

/// What a port puts out of its law: what causality wants of it.
pub(crate) fn wanted(graph: &BondGraph, causality: &Causality, id: ElementId, port: usize) -> Symbol {
    let element = graph.element(id);
    let [e, f, ..] = graph.locals.port(element.ports.len(), port);
    if causality.effort_in(graph, id, port) { f } else { e }
}

/// From local variables to those of bonds and states.
pub(crate) fn nominal(pool: &mut Pool, graph: &mut BondGraph, id: ElementId) -> FxHashMap<Symbol, Expr> {
    let n = graph.element(id).ports.len();
    let mut map = FxHashMap::default();
    for port in 0..n {
        let place = graph.element(id).ports[port];
        let stored = graph.element(id).stored();
        let locals = graph.locals.port(n, port);
        let [e, f, ..] = locals;
        let effort = graph.symbol(pool, Variable::Effort(place.bond));
        let flow = graph.symbol(pool, Variable::Flow(place.bond));
        let (effort, flow) = (pool.var(effort), pool.var(flow));
        map.insert(e, effort);
        map.insert(f, if place.into { flow } else { pool.neg(flow) });
        if let Some(stored) = stored {
            let state = graph.symbol(pool, Variable::State(id, port as u32));
            map.insert(stored.state(locals), pool.var(state));
        }
    }
    map
}

/// The total differential of an expression, local variables left aside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Change {
    /// By parameter: the factor of its change.
    pub parameters: BTreeMap<usize, Expr>,
    /// What the increments of variables give, if anything.
    pub signals: Option<Expr>,
}

impl Change {
    /// Adds a factor of a parameter's change.
    pub fn add_parameter(&mut self, pool: &mut Pool, parameter: usize, factor: Expr) {
        if factor == pool.zero() {
            return;
        }
        let sum = match self.parameters.get(&parameter) {
            Some(old) => pool.add(*old, factor),
            None => factor,
        };
        self.parameters.insert(parameter, sum);
    }

    /// Adds what an increment gives.
    pub fn add_signal(&mut self, pool: &mut Pool, part: Expr) {
        if part == pool.zero() {
            return;
        }
        self.signals = Some(match self.signals {
            Some(old) => pool.add(old, part),
            None => part,
        });
    }
}
