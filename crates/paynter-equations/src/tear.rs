//! Algebraic loops: a few quantities are torn out, the rest is computed from
//! them, and the equations that close the loop are solved where they are
//! linear or can be inverted. What remains is kept as implicit unknowns.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Class, ElementId, Ranges};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

use crate::derive::{Reading, Readings, Work, singular};
use crate::linear::{self, System};
use crate::sort::Definitions;
use crate::{Constraint, LinearLoop};
use paynter_base::QueryError;

/// Solves one loop; afterwards every node of it has a value.
pub(crate) fn solve(
    pool: &mut Pool,
    graph: &BondGraph,
    definitions: &Definitions,
    reads: &[Vec<u32>],
    group: &[u32],
    (ranges, readings): (&Ranges, &Readings),
    work: &mut Work,
) -> Result<(), QueryError> {
    // What laws that are read apart are given is torn before anything else.
    let apart = |v: &&u32| {
        let element = definitions.nodes[**v as usize].element;
        element.is_some_and(|id| readings.get(&id) == Some(&Reading::Apart))
    };
    let given = group.iter().filter(apart).flat_map(|v| reads[*v as usize].iter().copied());
    let given: BTreeSet<u32> = given.filter(|r| group.contains(r)).collect();
    let (tears, order) = tear(definitions, graph, reads, group, &given);
    let symbol = |v: u32| definitions.nodes[v as usize].symbol;
    let torn: Vec<Symbol> = tears.iter().map(|&v| symbol(v)).collect();
    // Everything over the torn quantities.
    let mut inside: FxHashMap<Symbol, Expr> = outside(&work.values, definitions, reads, group);
    for &v in &order {
        let value = pool.substitute(definitions.nodes[v as usize].definition, &inside);
        inside.insert(symbol(v), value);
    }
    let mut residuals = Vec::with_capacity(tears.len());
    for &v in &tears {
        let computed = pool.substitute(definitions.nodes[v as usize].definition, &inside);
        let variable = pool.var(symbol(v));
        residuals.push(pool.sub(variable, computed));
    }
    let elements = || group.iter().filter_map(|&v| definitions.nodes[v as usize].element);
    let what = "the algebraic loop";
    let Closed { values: solution, kept, doubtful } = close(pool, residuals, torn, ranges, given.is_empty())
        .map_err(|()| singular(graph, elements(), what))?;
    if let Some(rows) = doubtful {
        let mut list: Vec<ElementId> = elements().collect();
        list.sort_unstable();
        list.dedup();
        work.loops.push(LinearLoop { what, rows, elements: list });
    }
    for (unknown, residual) in kept {
        let node = definitions.nodes.iter().find(|node| node.symbol == unknown);
        let name = node.map_or_else(String::new, |node| match node.variable {
            paynter_graph::Variable::Effort(bond) => graph.bond_variable_name(bond, 'e'),
            paynter_graph::Variable::Flow(bond) => graph.bond_variable_name(bond, 'f'),
            _ => pool.name(unknown).to_owned(),
        });
        let mut list: Vec<ElementId> = elements().collect();
        list.sort_unstable();
        list.dedup();
        work.constraints.push(Constraint { name, unknown, residual, elements: list, is_rate: false });
        let value = pool.var(unknown);
        work.values.insert(unknown, value);
    }
    work.values.extend(solution);
    // What an implicit unknown is merely passed on from is the same quantity.
    let mut same: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for &v in &tears {
        let (unknown, source) = (symbol(v), pool.as_symbol(definitions.nodes[v as usize].definition));
        if let Some(value) =
            work.values.get(&unknown).filter(|value| pool.as_symbol(**value) == Some(unknown))
        {
            same.extend(source.map(|source| (source, *value)));
        }
    }
    for &v in &order {
        let value = match same.get(&symbol(v)) {
            Some(value) => *value,
            None => pool.substitute(definitions.nodes[v as usize].definition, &work.values),
        };
        work.values.insert(symbol(v), value);
    }
    Ok(())
}

/// Values that the nodes of a group read from outside it.
fn outside(
    values: &FxHashMap<Symbol, Expr>,
    definitions: &Definitions,
    reads: &[Vec<u32>],
    group: &[u32],
) -> FxHashMap<Symbol, Expr> {
    let read = group.iter().flat_map(|&v| &reads[v as usize]).map(|&r| definitions.nodes[r as usize].symbol);
    read.filter_map(|symbol| values.get(&symbol).map(|value| (symbol, *value))).collect()
}

/// Chooses what to tear: nodes whose removal leaves no cycle, found greedily
/// by the number of paths through them, after some that must be. Returns them and the rest in order of
/// computation.
fn tear(
    definitions: &Definitions,
    graph: &BondGraph,
    reads: &[Vec<u32>],
    group: &[u32],
    first: &BTreeSet<u32>,
) -> (Vec<u32>, Vec<u32>) {
    let members: FxHashSet<u32> = group.iter().copied().collect();
    let mut inputs: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut outputs: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &v in group {
        let list: Vec<u32> = reads[v as usize].iter().copied().filter(|r| members.contains(r)).collect();
        for &r in &list {
            outputs.entry(r).or_default().push(v);
        }
        inputs.insert(v, list);
    }
    let mut open_inputs: FxHashMap<u32, usize> = group.iter().map(|&v| (v, inputs[&v].len())).collect();
    let mut left: FxHashSet<u32> = members.clone();
    let mut tears = Vec::new();
    let mut order = Vec::new();
    let mut ready: Vec<u32> = Vec::new();
    let release =
        |v: u32, left: &mut FxHashSet<u32>, open: &mut FxHashMap<u32, usize>, ready: &mut Vec<u32>| {
            left.remove(&v);
            for w in outputs.get(&v).into_iter().flatten() {
                if let Some(count) = open.get_mut(w) {
                    *count -= 1;
                    if *count == 0 && left.contains(w) {
                        ready.push(*w);
                    }
                }
            }
        };
    for &v in first {
        tears.push(v);
        release(v, &mut left, &mut open_inputs, &mut ready);
    }
    while !left.is_empty() {
        if let Some(v) = ready.pop() {
            if left.contains(&v) {
                order.push(v);
                release(v, &mut left, &mut open_inputs, &mut ready);
            }
            continue;
        }
        // The quantity that the most paths pass; resistors' outputs win ties, as a lecturer would choose.
        let best = group.iter().copied().filter(|v| left.contains(v)).max_by_key(|v| {
            let open =
                |list: Option<&Vec<u32>>| list.map_or(0, |l| l.iter().filter(|w| left.contains(w)).count());
            let paths = open(inputs.get(v)) * open(outputs.get(v));
            let resistor = definitions.nodes[*v as usize]
                .element
                .is_some_and(|id| graph.element(id).kind == Class::Resistor.kind());
            (paths, resistor, std::cmp::Reverse(*v))
        });
        let Some(v) = best else { break };
        tears.push(v);
        release(v, &mut left, &mut open_inputs, &mut ready);
    }
    (tears, order)
}

/// A loop that is closed.
pub(crate) struct Closed {
    /// Torn unknowns with their values.
    pub values: Vec<(Symbol, Expr)>,
    /// Those kept implicit, with their residuals.
    pub kept: Vec<(Symbol, Expr)>,
    /// The rows of the linear system that it was solved by, where a pivot of it may vanish.
    pub doubtful: Option<Vec<Vec<(usize, Expr)>>>,
}

/// Solves the closing equations: the part that is linear by elimination, single
/// nonlinear ones by inversion, if that is wanted; the rest is kept.
pub(crate) fn close(
    pool: &mut Pool,
    residuals: Vec<Expr>,
    unknowns: Vec<Symbol>,
    ranges: &Ranges,
    invert: bool,
) -> Result<Closed, ()> {
    let (linear, other) = split(pool, &residuals, &unknowns);
    if other.is_empty() {
        let mut rows = Vec::with_capacity(residuals.len());
        let mut right = Vec::with_capacity(residuals.len());
        for residual in &residuals {
            let (row, rest) = linear::linear_row(pool, *residual, &unknowns).ok_or(())?;
            rows.push(row);
            right.push(vec![pool.neg(rest)]);
        }
        let matrix =
            rows.iter().map(|row: &BTreeMap<usize, Expr>| row.clone().into_iter().collect()).collect();
        let (solved, is_lasting) =
            System { rows, right }.solve_telling(pool, linear::Pivots::Lasting(ranges)).map_err(|_| ())?;
        let values = unknowns.into_iter().zip(solved).map(|(symbol, values)| (symbol, values[0])).collect();
        return Ok(Closed { values, kept: Vec::new(), doubtful: (!is_lasting).then_some(matrix) });
    }
    // Unknowns that enter linearly are eliminated by as many equations; the others stay.
    let (mut values, mut residuals, mut kept) = eliminate_linear(pool, residuals, linear, other, ranges);
    if let (true, [residual], [unknown]) = (invert, residuals.as_slice(), kept.as_slice()) {
        let solution = ranges.solve_for(pool, *residual, *unknown);
        if let Ok(solution) = solution
            && solution.is_global()
        {
            let map: FxHashMap<Symbol, Expr> = [(*unknown, solution.value)].into_iter().collect();
            for (_, value) in &mut values {
                *value = pool.substitute(*value, &map);
            }
            values.push((*unknown, solution.value));
            residuals.clear();
            kept.clear();
        }
    }
    Ok(Closed { values, kept: kept.into_iter().zip(residuals).collect(), doubtful: None })
}

/// Separates unknowns in which all residuals are jointly linear from the others.
fn split(pool: &mut Pool, residuals: &[Expr], unknowns: &[Symbol]) -> (Vec<Symbol>, Vec<Symbol>) {
    let mut linear: Vec<Symbol> = Vec::new();
    let mut other: Vec<Symbol> = Vec::new();
    let whole = residuals.iter().all(|r| linear::linear_row(pool, *r, unknowns).is_some());
    if whole {
        return (unknowns.to_vec(), other);
    }
    for &unknown in unknowns {
        linear.push(unknown);
        if !residuals.iter().all(|r| linear::linear_row(pool, *r, &linear).is_some()) {
            linear.pop();
            other.push(unknown);
        }
    }
    (linear, other)
}

/// Solves for the linear unknowns one after the other, each by an equation in
/// which its coefficient cannot vanish.
fn eliminate_linear(
    pool: &mut Pool,
    mut residuals: Vec<Expr>,
    linear: Vec<Symbol>,
    mut kept: Vec<Symbol>,
    ranges: &Ranges,
) -> (Vec<(Symbol, Expr)>, Vec<Expr>, Vec<Symbol>) {
    let mut values: Vec<(Symbol, Expr)> = Vec::new();
    for unknown in linear {
        let found = (0..residuals.len()).find_map(|r| {
            let (row, rest) = linear::linear_row(pool, residuals[r], &[unknown])?;
            let coefficient = *row.get(&0)?;
            (!ranges.can_vanish(pool, coefficient)).then_some((r, coefficient, rest))
        });
        let Some((r, coefficient, rest)) = found else {
            kept.push(unknown);
            continue;
        };
        let quotient = pool.div(rest, coefficient);
        let value = pool.neg(quotient);
        residuals.remove(r);
        let map: FxHashMap<Symbol, Expr> = [(unknown, value)].into_iter().collect();
        residuals = pool.substitute_all(&residuals, &map);
        for (_, known) in &mut values {
            *known = pool.substitute(*known, &map);
        }
        values.push((unknown, value));
    }
    (values, residuals, kept)
}
