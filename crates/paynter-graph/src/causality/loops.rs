//! The signal graph of a causal bond graph: which effort and flow is computed
//! from which. Its closed paths without a state are the algebraic loops; the
//! derivatives along its paths give the index.

mod junctions;

use std::collections::{BTreeSet, VecDeque};

use paynter_algebra::{Expr, Fingerprints, Pool};
use rustc_hash::FxHashMap;

use super::Causality;
use super::assign::determines;
use crate::kind::{Class, Power};
use crate::limits::{CYCLE_BUDGET, SINGULAR_BUDGET, SINGULAR_SIGNALS};
use crate::model::{BondGraph, BondId, Element, ElementId, Law, Variable, is_storage};

/// A closed signal path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The elements it passes, in order; the first is not repeated at the end.
    pub elements: Vec<ElementId>,
    /// What it passes.
    pub kind: LoopKind,
}

/// What a closed signal path passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoopKind {
    /// Junctions, transformers and gyrators alone.
    Junction,
    /// At least one resistor, or a modulating signal.
    Algebraic,
    /// At least one storage in derivative causality.
    Differential,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    to: u32,
    element: ElementId,
    derivative: bool,
}

/// Signals are efforts (2b), flows (2b + 1), then algebraic signals.
pub(super) struct SignalGraph {
    first: Vec<u32>,
    edges: Vec<Edge>,
    /// Strongly connected component of each signal, numbered with successors first.
    component: Vec<u32>,
    components: usize,
    /// Whether a component has more than one signal, or reads itself.
    cyclic: Vec<bool>,
}

fn effort(bond: BondId) -> u32 {
    2 * bond.0
}

fn flow(bond: BondId) -> u32 {
    2 * bond.0 + 1
}

fn is_effort(signal: u32) -> bool {
    signal.is_multiple_of(2)
}

impl SignalGraph {
    pub fn new(pool: &Pool, graph: &BondGraph, causality: &Causality) -> SignalGraph {
        let mut builder = Builder { graph, causality, edges: Vec::with_capacity(8 * graph.bonds.len()) };
        for id in graph.element_ids() {
            builder.element(id);
            builder.readings(pool, id);
        }
        let offset = 2 * graph.bonds.len() as u32;
        for (k, signal) in graph.signals.iter().enumerate() {
            builder.reads(pool, signal.value, &[offset + k as u32], ElementId(u32::MAX));
        }
        let nodes = offset as usize + graph.signals.len();
        let (first, edges) = compress(nodes, builder.edges);
        let mut out =
            SignalGraph { first, edges, component: vec![u32::MAX; nodes], components: 0, cyclic: Vec::new() };
        out.find_components();
        out
    }

    fn out(&self, node: u32) -> &[Edge] {
        &self.edges[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Tarjan's algorithm with an explicit stack.
    fn find_components(&mut self) {
        let n = self.component.len();
        let mut low = vec![0u32; n];
        let mut number = vec![0u32; n];
        let mut next = 1;
        let mut stack: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, u32)> = Vec::new();
        for start in 0..n as u32 {
            if number[start as usize] != 0 {
                continue;
            }
            calls.push((start, 0));
            while let Some((v, i)) = calls.last_mut() {
                let v = *v;
                if *i == 0 {
                    number[v as usize] = next;
                    low[v as usize] = next;
                    next += 1;
                    stack.push(v);
                }
                let k = self.first[v as usize] + *i;
                *i += 1;
                if k < self.first[v as usize + 1] {
                    let w = self.edges[k as usize].to;
                    if number[w as usize] == 0 {
                        calls.push((w, 0));
                    } else if self.component[w as usize] == u32::MAX {
                        low[v as usize] = low[v as usize].min(number[w as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((parent, _)) = calls.last() {
                    low[*parent as usize] = low[*parent as usize].min(low[v as usize]);
                }
                if low[v as usize] == number[v as usize] {
                    let id = self.components as u32;
                    let mut size = 0;
                    while let Some(w) = stack.pop() {
                        self.component[w as usize] = id;
                        size += 1;
                        if w == v {
                            break;
                        }
                    }
                    let itself = self.out(v).iter().any(|edge| edge.to == v);
                    self.cyclic.push(size > 1 || itself);
                    self.components += 1;
                }
            }
        }
    }

    /// Lists closed paths: for every group of signals that depend on one
    /// another, short cycles that together pass each of its elements that is not a junction.
    pub fn loops(&self, graph: &BondGraph) -> Vec<Loop> {
        let mut loops: Vec<Loop> = Vec::new();
        if !self.cyclic.contains(&true) {
            return loops;
        }
        let mut covered: Vec<bool> = vec![false; graph.elements.len()];
        let mut done: Vec<bool> = vec![false; self.components];
        let mut known: BTreeSet<Vec<ElementId>> = BTreeSet::new();
        let mut budget = CYCLE_BUDGET;
        // Resistors and storages first: they name a loop best. Two-ports and junctions only where
        // nothing else does.
        for pass in 0..3 {
            for v in 0..self.component.len() as u32 {
                let c = self.component[v as usize];
                if !self.cyclic[c as usize] {
                    continue;
                }
                for &edge in self.out(v) {
                    if self.component[edge.to as usize] != c {
                        continue;
                    }
                    let Some(element) = graph.elements.get(edge.element.index()) else {
                        // A modulating signal: it belongs to a loop that some element closes.
                        continue;
                    };
                    let rank = match element.class() {
                        Class::Junction(_) => 2,
                        Class::Transformer | Class::Gyrator => 1,
                        _ => 0,
                    };
                    let seen = if rank == 2 { done[c as usize] } else { covered[edge.element.index()] };
                    if rank != pass || seen || (budget == 0 && done[c as usize]) {
                        continue;
                    }
                    let Some(found) = self.shortest_cycle(graph, v, edge, &mut budget) else { continue };
                    done[c as usize] = true;
                    for id in &found.elements {
                        covered[id.index()] = true;
                    }
                    // Efforts round a loop one way come with flows the other way: that is one loop.
                    let mut elements = found.elements.clone();
                    elements.sort_unstable();
                    if known.insert(elements) {
                        loops.push(found);
                    }
                }
            }
        }
        self.add_junction_loops(graph, &mut known, &mut loops, &mut budget);
        loops
    }

    /// The shortest closed path that starts with an edge, by breadth-first search inside its component.
    fn shortest_cycle(&self, graph: &BondGraph, from: u32, edge: Edge, budget: &mut usize) -> Option<Loop> {
        let mut came: FxHashMap<u32, (u32, Edge)> = FxHashMap::default();
        let mut queue = VecDeque::from([edge.to]);
        let c = self.component[from as usize];
        let mut reached = edge.to == from;
        'search: while let (Some(v), false) = (queue.pop_front(), reached) {
            for &next in self.out(v) {
                *budget = budget.saturating_sub(1);
                if self.component[next.to as usize] != c || next.to == edge.to || came.contains_key(&next.to)
                {
                    continue;
                }
                came.insert(next.to, (v, next));
                if next.to == from {
                    reached = true;
                    break 'search;
                }
                queue.push_back(next.to);
            }
        }
        if !reached {
            return None;
        }
        let mut path = Vec::new();
        let mut here = from;
        while here != edge.to {
            let (before, step) = came.get(&here)?;
            path.push(*step);
            here = *before;
        }
        path.push(edge);
        path.reverse();
        Some(describe(graph, &path))
    }

    /// The differential index: how many times the equations must be differentiated.
    pub fn index(&self, has_loops: bool) -> u32 {
        let mut depth = vec![0u32; self.components];
        let mut inside = vec![0u32; self.components];
        // Components are numbered with successors first, so one pass in that order settles all.
        let mut order: Vec<u32> = (0..self.component.len() as u32).collect();
        order.sort_by_key(|&v| self.component[v as usize]);
        for &v in &order {
            let c = self.component[v as usize] as usize;
            for edge in self.out(v) {
                let d = self.component[edge.to as usize] as usize;
                if c == d {
                    inside[c] = inside[c].max(u32::from(edge.derivative));
                } else {
                    depth[c] = depth[c].max(depth[d] + inside[d] + u32::from(edge.derivative));
                }
            }
        }
        let deepest = (0..self.components).map(|c| depth[c] + inside[c]).max().unwrap_or(0);
        if deepest > 0 { deepest + 1 } else { u32::from(has_loops) }
    }

    /// Finds groups of signals whose linear equations leave something
    /// undetermined whatever the parameters are: a loop of junctions with unit
    /// gain, a floating part. Returns the elements of each.
    pub fn singular(&self, pool: &mut Pool, graph: &BondGraph, causality: &Causality) -> Vec<Vec<ElementId>> {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.components];
        for v in 0..self.component.len() as u32 {
            let c = self.component[v as usize] as usize;
            if self.cyclic[c] {
                members[c].push(v);
            }
        }
        let mut found: BTreeSet<Vec<ElementId>> = BTreeSet::new();
        let mut prints = Fingerprints::new();
        let mut budget = SINGULAR_BUDGET;
        for nodes in members.iter().filter(|nodes| !nodes.is_empty() && nodes.len() <= SINGULAR_SIGNALS) {
            // The equations find what is left untested here.
            let Some(rest) = budget.checked_sub(nodes.len().pow(3)) else { break };
            budget = rest;
            if self.is_singular(pool, &mut prints, graph, causality, nodes) {
                let c = self.component[nodes[0] as usize];
                let inside = |edge: &&Edge| self.component[edge.to as usize] == c;
                let mut elements: Vec<ElementId> =
                    nodes.iter().flat_map(|&v| self.out(v)).filter(inside).map(|edge| edge.element).collect();
                elements.retain(|id| id.index() < graph.elements.len());
                elements.sort_unstable();
                elements.dedup();
                found.insert(elements);
            }
        }
        found.into_iter().collect()
    }

    /// Gaussian elimination of x = A x in symbols, with exact zero tests.
    fn is_singular(
        &self,
        pool: &mut Pool,
        prints: &mut Fingerprints,
        graph: &BondGraph,
        causality: &Causality,
        nodes: &[u32],
    ) -> bool {
        let place: FxHashMap<u32, usize> = nodes.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        let n = nodes.len();
        let zero = pool.zero();
        let one = pool.one();
        let mut rows: Vec<Vec<Expr>> = vec![vec![zero; n]; n];
        for (i, row) in rows.iter_mut().enumerate() {
            row[i] = one;
        }
        let mut fresh = 0;
        for (j, &v) in nodes.iter().enumerate() {
            for edge in self.out(v) {
                let Some(&i) = place.get(&edge.to) else { continue };
                if edge.derivative {
                    return false;
                }
                let gain = gain(pool, graph, causality, v, *edge).unwrap_or_else(|| {
                    fresh += 1;
                    let symbol = pool.fresh(&format!("derivative{fresh}"));
                    pool.var(symbol)
                });
                rows[i][j] = pool.sub(rows[i][j], gain);
            }
        }
        for k in 0..n {
            let pivot = (k..n).find(|&i| rows[i][k] != zero && !prints.is_zero(pool, rows[i][k]));
            let Some(pivot) = pivot else {
                return true;
            };
            rows.swap(k, pivot);
            let (above, below) = rows.split_at_mut(k + 1);
            let top = &above[k];
            for row in below {
                if row[k] == zero {
                    continue;
                }
                let factor = pool.div(row[k], top[k]);
                for j in k..n {
                    if top[j] != zero {
                        let product = pool.mul(factor, top[j]);
                        row[j] = pool.sub(row[j], product);
                    }
                }
            }
        }
        false
    }
}

/// The gain of an edge where the element is linear: what one unit of the signal contributes.
fn gain(pool: &mut Pool, graph: &BondGraph, causality: &Causality, from: u32, edge: Edge) -> Option<Expr> {
    let element = graph.elements.get(edge.element.index())?;
    let port_of = |signal: u32| element.ports.iter().position(|port| port.bond.0 == signal / 2);
    let (a, b) = (port_of(from)?, port_of(edge.to)?);
    let sign = |port: usize| if element.ports[port].into { 1 } else { -1 };
    match (element.class(), &element.law) {
        (Class::Junction(shared), _) => {
            // The common variable is passed on; the balanced one is minus the signed sum of the others.
            let common = is_effort(from) == (shared == Power::Effort);
            Some(pool.int(if common { 1 } else { -sign(a) * sign(b) }))
        }
        (Class::Transformer, Law::Value(modulus)) => {
            // e1 = m e2, f2 = m f1, with f1 into port 1 and f2 out of port 2.
            let m = *modulus;
            let forward = is_effort(from) == (a == 1);
            let signs = if is_effort(from) { 1 } else { -sign(0) * sign(1) };
            let one = pool.one();
            let gain = if forward { m } else { pool.div(one, m) };
            let signs = pool.int(signs);
            Some(pool.mul(signs, gain))
        }
        (Class::Gyrator, Law::Value(modulus)) => {
            // e1 = r f2, e2 = r f1.
            let effort_in = causality.effort_in(graph, edge.element, 0);
            let flow_port = if effort_in { b } else { a };
            let signs = if flow_port == 0 { sign(0) } else { -sign(1) };
            let one = pool.one();
            let gain = if effort_in { pool.div(one, *modulus) } else { *modulus };
            let signs = pool.int(signs);
            Some(pool.mul(signs, gain))
        }
        (Class::Resistor, Law::Value(value)) => {
            let signs = pool.int(sign(0));
            let one = pool.one();
            let gain = if is_effort(from) { pool.div(one, *value) } else { *value };
            Some(pool.mul(signs, gain))
        }
        _ => None,
    }
}

/// Turns a path of edges into the elements it passes.
fn describe(graph: &BondGraph, path: &[Edge]) -> Loop {
    let mut elements: Vec<ElementId> = Vec::new();
    let mut kind = LoopKind::Junction;
    for edge in path {
        let Some(element) = graph.elements.get(edge.element.index()) else {
            kind = kind.max(LoopKind::Algebraic);
            continue;
        };
        if !element.class().is_structure() {
            kind = kind.max(LoopKind::Algebraic);
        }
        if edge.derivative {
            kind = kind.max(LoopKind::Differential);
        }
        if elements.last() != Some(&edge.element) {
            elements.push(edge.element);
        }
    }
    if elements.len() > 1 && elements.first() == elements.last() {
        elements.pop();
    }
    Loop { elements, kind }
}

/// Sorts edges by their start.
fn compress(nodes: usize, list: Vec<(u32, Edge)>) -> (Vec<u32>, Vec<Edge>) {
    let mut first = vec![0u32; nodes + 1];
    for (from, _) in &list {
        first[*from as usize + 1] += 1;
    }
    for i in 0..nodes {
        first[i + 1] += first[i];
    }
    let mut place = first.clone();
    let mut edges = vec![Edge { to: 0, element: ElementId(0), derivative: false }; list.len()];
    for (from, edge) in list {
        let slot = &mut place[from as usize];
        edges[*slot as usize] = edge;
        *slot += 1;
    }
    (first, edges)
}

struct Builder<'a> {
    graph: &'a BondGraph,
    causality: &'a Causality,
    edges: Vec<(u32, Edge)>,
}

impl Builder<'_> {
    fn edge(&mut self, from: u32, to: u32, element: ElementId, derivative: bool) {
        self.edges.push((from, Edge { to, element, derivative }));
    }

    /// The signals that a port takes in and gives out.
    fn signals(&self, id: ElementId, port: usize) -> (u32, u32) {
        let bond = self.graph.element(id).ports[port].bond;
        if self.causality.effort_in(self.graph, id, port) {
            (effort(bond), flow(bond))
        } else {
            (flow(bond), effort(bond))
        }
    }

    fn element(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        let n = element.ports.len();
        match element.class() {
            Class::Junction(_) => {
                let Some(d) = (0..n)
                    .find(|&port| determines(element.kind, self.causality.effort_in(self.graph, id, port)))
                else {
                    return;
                };
                let (in_d, out_d) = self.signals(id, d);
                for port in (0..n).filter(|&port| port != d) {
                    let (input, output) = self.signals(id, port);
                    self.edge(in_d, output, id, false);
                    self.edge(input, out_d, id, false);
                }
            }
            Class::Transformer | Class::Gyrator => {
                let (a, b) = (self.signals(id, 0), self.signals(id, 1));
                self.edge(a.0, b.1, id, false);
                self.edge(b.0, a.1, id, false);
            }
            Class::EntropySource => {
                let (a, b) = (self.signals(id, 0), self.signals(id, 1));
                self.edge(a.0, a.1, id, false);
                self.edge(a.0, b.1, id, false);
                self.edge(b.0, b.1, id, false);
            }
            Class::Resistor => {
                for i in 0..n {
                    for j in 0..n {
                        let (from, to) = (self.signals(id, i).0, self.signals(id, j).1);
                        self.edge(from, to, id, false);
                    }
                }
            }
            Class::Storage(_) => {
                // States cut the path; a port in derivative causality feeds all others through.
                let integral: Vec<bool> = (0..n).map(|port| self.is_integral(element, id, port)).collect();
                for i in (0..n).filter(|&i| !integral[i]) {
                    for j in 0..n {
                        let derivative = !integral[j];
                        let (from, to) = (self.signals(id, i).0, self.signals(id, j).1);
                        self.edge(from, to, id, derivative);
                    }
                }
            }
            Class::Source(_) | Class::Detector(_) => {}
        }
    }

    fn is_integral(&self, element: &Element, id: ElementId, port: usize) -> bool {
        self.causality.effort_in(self.graph, id, port) == super::integral_effort_in(element.kind)
    }

    /// What a law reads besides its own ports goes to all of the element's outputs.
    fn readings(&mut self, pool: &Pool, id: ElementId) {
        let element = self.graph.element(id);
        let mut outputs: Option<Vec<u32>> = None;
        for expr in element.law.expressions() {
            if let Some(symbol) = pool.as_symbol(expr)
                && matches!(
                    self.graph.variables.meaning(symbol),
                    Some(Variable::Parameter(_) | Variable::Input(_))
                )
            {
                continue;
            }
            let outputs = outputs
                .get_or_insert_with(|| {
                    (0..element.ports.len()).map(|port| self.signals(id, port).1).collect()
                })
                .clone();
            self.reads(pool, expr, &outputs, id);
        }
    }

    fn reads(&mut self, pool: &Pool, expr: Expr, outputs: &[u32], element: ElementId) {
        for symbol in pool.symbols(expr) {
            let from = match self.graph.variables.meaning(symbol) {
                Some(Variable::Effort(bond)) => effort(bond),
                Some(Variable::Flow(bond)) => flow(bond),
                Some(Variable::Signal(k)) => 2 * self.graph.bonds.len() as u32 + k,
                Some(Variable::State(storage, port)) => {
                    // A dependent state is a function of what comes in at its port.
                    let of = self.graph.element(storage);
                    if !is_storage(of.kind) || self.is_integral(of, storage, port as usize) {
                        continue;
                    }
                    self.signals(storage, port as usize).0
                }
                _ => continue,
            };
            for &to in outputs {
                self.edge(from, to, element, false);
            }
        }
    }
}
