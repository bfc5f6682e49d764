//! The junction structure matrix: what junctions, transformers and gyrators
//! return to the ports of storages, resistors, sources and detectors for what
//! these give out, [x_i'; z_d; D_in; …] = S [z_i; x_d'; D_out; u].
//!
//! Both sides are bond variables along the arrows. The structure neither
//! stores nor dissipates, so that with σ = 1 for ports whose arrow points into
//! the element and −1 for the others, σ S is skew-symmetric.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, strong_components};
use paynter_graph::{BondGraph, Causality, Class, ElementId, Kind, Ranges, Variable, kind_of};
use rustc_hash::FxHashMap;

use crate::derive::singular;
use crate::sort::{Node, definitions};
use crate::{Pivots, Readings, Sparse, System};
use paynter_base::QueryError;

/// The junction structure of a causal bond graph.
#[derive(Debug, Clone)]
pub struct JunctionStructure {
    /// The ports outside it: rows and columns in this order.
    pub ports: Vec<JunctionPort>,
    /// S.
    pub matrix: Sparse,
}

/// A port of an element outside the junction structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JunctionPort {
    /// The element.
    pub element: ElementId,
    /// Its field.
    pub field: Field,
    /// The variable it gives to the structure: its column.
    pub gives: String,
    /// The variable it takes from the structure: its row.
    pub takes: String,
    /// Whether the bond's arrow points into the element.
    pub into: bool,
}

/// The fields round the junction structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Storages in integral causality.
    Integral,
    /// Storages in derivative causality.
    Derivative,
    /// Resistors, switches and sources of entropy.
    Resistive,
    /// Sources.
    Source,
    /// Detectors.
    Detector,
}

fn inside(kind: Kind) -> bool {
    kind_of(kind).class().is_structure()
}

/// Finds the junction structure matrix.
pub fn junction_structure(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    token: &CancellationToken,
) -> Result<JunctionStructure, QueryError> {
    // Symbols of variables that nobody has named yet are made on the way.
    let graph = &mut graph.clone();
    let ranges = Ranges::new(graph);
    let definitions = definitions(pool, graph, causality, &ranges, &Readings::new());
    let mut found: Vec<(JunctionPort, Symbol, Symbol)> = Vec::new();
    for id in graph.element_ids() {
        if inside(graph.element(id).kind) {
            continue;
        }
        for port in 0..graph.element(id).ports.len() {
            found.push(describe(pool, graph, causality, id, port));
        }
    }
    found.sort_by_key(|(port, _, _)| port.field);
    let columns: FxHashMap<Symbol, usize> =
        found.iter().enumerate().map(|(k, (_, gives, _))| (*gives, k)).collect();
    let nodes: Vec<&Node> = definitions
        .nodes
        .iter()
        .filter(|node| node.element.is_some_and(|id| inside(graph.element(id).kind)))
        .collect();
    let solved = solve(pool, graph, &nodes, &columns, &ranges, token)?;
    let mut matrix = Sparse { rows: found.len(), columns: found.len(), entries: Vec::new() };
    let one = pool.one();
    for (i, (_, _, takes)) in found.iter().enumerate() {
        match (columns.get(takes), solved.get(takes)) {
            // Two elements on one bond give straight to each other.
            (Some(j), _) => matrix.entries.push((i, *j, one)),
            (None, Some(row)) => {
                for (j, entry) in row {
                    if !pool.is_zero(*entry) {
                        matrix.entries.push((i, *j, *entry));
                    }
                }
            }
            (None, None) => {}
        }
    }
    Ok(JunctionStructure { ports: found.into_iter().map(|(port, _, _)| port).collect(), matrix })
}

fn describe(
    pool: &mut Pool,
    graph: &mut BondGraph,
    causality: &Causality,
    id: ElementId,
    port: usize,
) -> (JunctionPort, Symbol, Symbol) {
    let place = graph.element(id).ports[port];
    let effort_in = causality.effort_in(graph, id, port);
    let (effort, flow) = (Variable::Effort(place.bond), Variable::Flow(place.bond));
    let (gives, takes) = if effort_in { (flow, effort) } else { (effort, flow) };
    let (given, taken) = (graph.symbol(pool, gives), graph.symbol(pool, takes));
    let name = |variable| match variable {
        Variable::Effort(bond) => graph.bond_variable_name(bond, 'e'),
        _ => graph.bond_variable_name(place.bond, 'f'),
    };
    let field = match graph.element(id).class() {
        Class::Storage(stored) if effort_in == stored.integral_effort_in() => Field::Integral,
        Class::Storage(_) => Field::Derivative,
        Class::Source(_) => Field::Source,
        Class::Detector(_) => Field::Detector,
        _ => Field::Resistive,
    };
    let port = JunctionPort { element: id, field, gives: name(gives), takes: name(takes), into: place.into };
    (port, given, taken)
}

/// A linear form over the columns.
type Row = BTreeMap<usize, Expr>;

/// Expresses every variable inside the structure by the columns, in order of computation.
fn solve(
    pool: &mut Pool,
    graph: &BondGraph,
    nodes: &[&Node],
    columns: &FxHashMap<Symbol, usize>,
    ranges: &Ranges,
    token: &CancellationToken,
) -> Result<FxHashMap<Symbol, Row>, QueryError> {
    let place: FxHashMap<Symbol, u32> =
        nodes.iter().enumerate().map(|(k, node)| (node.symbol, k as u32)).collect();
    let forms: Vec<Vec<(Symbol, Expr)>> = nodes.iter().map(|node| form(pool, graph, node)).collect();
    let reads: Vec<Vec<u32>> = forms
        .iter()
        .map(|form| form.iter().filter_map(|(symbol, _)| place.get(symbol).copied()).collect())
        .collect();
    let mut solved: FxHashMap<Symbol, Row> = FxHashMap::default();
    for group in strong_components(nodes.len(), |v| &reads[v as usize]) {
        token.check()?;
        if let [v] = group[..]
            && !reads[v as usize].contains(&v)
        {
            let mut row = Row::new();
            for (symbol, factor) in &forms[v as usize] {
                gather(pool, &mut row, columns, &solved, *symbol, *factor);
            }
            solved.insert(nodes[v as usize].symbol, row);
            continue;
        }
        let local: FxHashMap<Symbol, usize> =
            group.iter().enumerate().map(|(k, v)| (nodes[*v as usize].symbol, k)).collect();
        let mut system = System { rows: Vec::new(), right: Vec::new() };
        let mut sides: Vec<Row> = Vec::new();
        for &v in &group {
            let mut row = Row::new();
            let mut side = Row::new();
            row.insert(local[&nodes[v as usize].symbol], pool.one());
            for (symbol, factor) in &forms[v as usize] {
                match local.get(symbol) {
                    Some(&k) => {
                        let old = row.get(&k).copied().unwrap_or(pool.zero());
                        let new = pool.sub(old, *factor);
                        row.insert(k, new);
                    }
                    None => gather(pool, &mut side, columns, &solved, *symbol, *factor),
                }
            }
            system.rows.push(row);
            sides.push(side);
        }
        let mut used: Vec<usize> = sides.iter().flat_map(|side| side.keys().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let zero = pool.zero();
        for side in &sides {
            system.right.push(used.iter().map(|j| side.get(j).copied().unwrap_or(zero)).collect());
        }
        let values = system.solve(pool, Pivots::Lasting(ranges)).map_err(|_| {
            let elements = group.iter().filter_map(|v| nodes[*v as usize].element);
            singular(graph, elements, "by itself, without the elements round it, the junction structure")
        })?;
        for (v, values) in group.iter().zip(values) {
            let row = used.iter().copied().zip(values).filter(|(_, value)| *value != zero).collect();
            solved.insert(nodes[*v as usize].symbol, row);
        }
    }
    Ok(solved)
}

/// What a junction, transformer or gyrator makes of the variables at its own ports.
fn form(pool: &mut Pool, graph: &BondGraph, node: &Node) -> Vec<(Symbol, Expr)> {
    let Some(id) = node.element else { return Vec::new() };
    let read = pool.symbols(node.definition);
    let mut symbols: Vec<Symbol> = graph
        .element(id)
        .ports
        .iter()
        .flat_map(|port| [Variable::Effort(port.bond), Variable::Flow(port.bond)])
        .filter_map(|variable| graph.variables.symbol(variable))
        .filter(|symbol| read.binary_search(symbol).is_ok())
        .collect();
    symbols.sort_unstable();
    symbols.dedup();
    let factors = match pool.linear_parts(node.definition, &symbols) {
        Some((factors, _)) => factors,
        None => symbols.iter().map(|symbol| pool.diff(node.definition, *symbol)).collect(),
    };
    symbols.into_iter().zip(factors).collect()
}

/// Adds factor times a variable, given by its column or by what it was solved for.
fn gather(
    pool: &mut Pool,
    row: &mut Row,
    columns: &FxHashMap<Symbol, usize>,
    solved: &FxHashMap<Symbol, Row>,
    symbol: Symbol,
    factor: Expr,
) {
    let mut add = |pool: &mut Pool, j: usize, term: Expr| {
        let old = row.get(&j).copied();
        let new = old.map_or(term, |old| pool.add(old, term));
        row.insert(j, new);
    };
    if let Some(&j) = columns.get(&symbol) {
        add(pool, j, factor);
    } else if let Some(other) = solved.get(&symbol) {
        for (j, entry) in other {
            let term = pool.mul(factor, *entry);
            add(pool, *j, term);
        }
    }
}

impl JunctionStructure {
    /// Whether power in equals power out for all values: σ S is skew-symmetric.
    pub fn conserves_power(&self, pool: &mut Pool) -> bool {
        let sign = |i: usize| if self.ports[i].into { 1 } else { -1 };
        let mut sums: BTreeMap<(usize, usize), Vec<Expr>> = BTreeMap::new();
        for (i, j, entry) in &self.matrix.entries {
            let term = if sign(*i) < 0 { pool.neg(*entry) } else { *entry };
            sums.entry((*i.min(j), *i.max(j))).or_default().push(term);
        }
        sums.into_values().all(|terms| {
            let sum = pool.sum(&terms);
            pool.is_zero(sum)
        })
    }
}
