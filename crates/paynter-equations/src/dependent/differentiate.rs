//! Derivatives along the rates of states: of explicit values, and of implicit unknowns by the implicit
//! function theorem.

use super::Pending;
use crate::derive::{Work, singular};
use crate::linear::{Pivots, System};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::QueryError;
use paynter_graph::{BondGraph, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// Implicit unknowns that depend on unknown rates, directly or through one another.
pub(super) fn affected(pool: &Pool, work: &Work, rates: &FxHashSet<Symbol>) -> FxHashSet<Symbol> {
    let implicit = Implicit::new(pool, work);
    let mut affected = vec![false; work.constraints.len()];
    loop {
        let mut changed = false;
        for (row, &own) in implicit.determined.iter().enumerate() {
            let rate =
                implicit.symbols[row].iter().any(|s| rates.contains(s) && !implicit.place.contains_key(s));
            if !affected[own] && (rate || implicit.reads[row].iter().any(|&u| u != own && affected[u])) {
                affected[own] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    work.constraints.iter().zip(affected).filter(|(_, hit)| *hit).map(|(c, _)| c.unknown).collect()
}

/// How the implicit equations hang together.
struct Implicit {
    /// Places of the unknowns.
    place: FxHashMap<Symbol, usize>,
    /// The symbols of each equation.
    symbols: Vec<Vec<Symbol>>,
    /// The unknowns of each equation.
    reads: Vec<Vec<usize>>,
    /// The unknown that each equation determines.
    determined: Vec<usize>,
}

impl Implicit {
    fn new(pool: &Pool, work: &Work) -> Implicit {
        let place: FxHashMap<Symbol, usize> =
            work.constraints.iter().enumerate().map(|(i, c)| (c.unknown, i)).collect();
        let symbols: Vec<Vec<Symbol>> = work.constraints.iter().map(|c| pool.symbols(c.residual)).collect();
        let reads: Vec<Vec<usize>> =
            symbols.iter().map(|list| list.iter().filter_map(|s| place.get(s).copied()).collect()).collect();
        let determined = matching(&reads);
        Implicit { place, symbols, reads, determined }
    }
}

/// Which unknown each equation determines, if every equation is to determine
/// one that it reads; by augmenting paths. Where that cannot be, each keeps its own.
fn matching(reads: &[Vec<usize>]) -> Vec<usize> {
    let n = reads.len();
    let mut owner: Vec<Option<usize>> = vec![None; n];
    for start in 0..n {
        let mut from: Vec<Option<usize>> = vec![None; n];
        let mut open = std::collections::VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(row) = open.pop_front() {
            for &unknown in &reads[row] {
                if from[unknown].is_some() {
                    continue;
                }
                from[unknown] = Some(row);
                match owner[unknown] {
                    None => {
                        end = Some(unknown);
                        break 'search;
                    }
                    Some(next) => open.push_back(next),
                }
            }
        }
        let Some(mut unknown) = end else { return (0..n).collect() };
        while let Some(row) = from[unknown] {
            let previous = owner.iter().position(|o| *o == Some(row));
            owner[unknown] = Some(row);
            match previous {
                Some(before) if row != start => unknown = before,
                _ => break,
            }
        }
    }
    let mut determined: Vec<usize> = (0..n).collect();
    for (unknown, row) in owner.iter().enumerate() {
        if let Some(row) = row {
            determined[*row] = unknown;
        }
    }
    determined
}

/// dΨ/dt for each entry: by states with the given rates, by inputs with their
/// derivatives, by time, and by implicit unknowns through the implicit function theorem.
pub(super) fn total_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    work: &mut Work,
    rates: &[Expr],
    entries: &[Pending],
) -> Result<Vec<Expr>, QueryError> {
    let mut known: FxHashMap<Symbol, Expr> =
        work.states.iter().map(|s| s.symbol).zip(rates.iter().copied()).collect();
    let time = graph.variables.symbol(Variable::Time);
    if let Some(time) = time {
        let one = pool.one();
        known.insert(time, one);
    }
    let needed = needed_constraints(pool, work, entries);
    if !needed.is_empty() {
        let unknowns: Vec<Symbol> = needed.iter().map(|&(_, u)| work.constraints[u].unknown).collect();
        let held: FxHashSet<Symbol> = unknowns.iter().copied().collect();
        let mut rows = Vec::new();
        let mut right = Vec::new();
        for &(c, _) in &needed {
            let residual = work.constraints[c].residual;
            let mut row = std::collections::BTreeMap::new();
            for (j, unknown) in unknowns.iter().enumerate() {
                let partial = pool.diff(residual, *unknown);
                if partial != pool.zero() {
                    row.insert(j, partial);
                }
            }
            rows.push(row);
            let rest = derivative(pool, graph, work, &known, residual, &held);
            right.push(vec![pool.neg(rest)]);
        }
        let solved = System { rows, right }.solve(pool, Pivots::Any).map_err(|_| {
            let elements = needed.iter().flat_map(|&(c, _)| work.constraints[c].elements.clone());
            singular(graph, elements, "the implicit equations")
        })?;
        for (unknown, values) in unknowns.into_iter().zip(solved) {
            known.insert(unknown, values[0]);
        }
    }
    Ok(entries
        .iter()
        .map(|entry| derivative(pool, graph, work, &known, entry.value, &FxHashSet::default()))
        .collect())
}

/// The equations that determine the implicit unknowns some values read,
/// directly or through one another, each with the unknown it determines.
pub(super) fn needed_constraints(pool: &Pool, work: &Work, entries: &[Pending]) -> Vec<(usize, usize)> {
    if work.constraints.is_empty() {
        return Vec::new();
    }
    let implicit = Implicit::new(pool, work);
    let mut row_of = vec![0; work.constraints.len()];
    for (row, &unknown) in implicit.determined.iter().enumerate() {
        row_of[unknown] = row;
    }
    let mut found = vec![false; work.constraints.len()];
    let read = entries.iter().flat_map(|entry| pool.symbols(entry.value));
    let mut open: Vec<usize> = read.filter_map(|symbol| implicit.place.get(&symbol).copied()).collect();
    while let Some(unknown) = open.pop() {
        let row = row_of[unknown];
        if !std::mem::replace(&mut found[row], true) {
            open.extend(&implicit.reads[row]);
        }
    }
    (0..found.len()).filter(|&row| found[row]).map(|row| (row, implicit.determined[row])).collect()
}

/// The derivative of an expression along known rates; symbols in `skip` are held.
pub(super) fn derivative(
    pool: &mut Pool,
    graph: &BondGraph,
    work: &mut Work,
    known: &FxHashMap<Symbol, Expr>,
    expr: Expr,
    skip: &FxHashSet<Symbol>,
) -> Expr {
    let mut terms = Vec::new();
    for symbol in pool.symbols(expr) {
        if skip.contains(&symbol) {
            continue;
        }
        let rate = match known.get(&symbol) {
            Some(rate) => *rate,
            None => match work.derivative_of(pool, graph, symbol) {
                Some(next) => pool.var(next),
                None => continue,
            },
        };
        let partial = pool.diff(expr, symbol);
        terms.push(pool.mul(partial, rate));
    }
    pool.sum(&terms)
}
