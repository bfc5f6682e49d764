//! Event functions that are linear in states and unknowns, with coefficients that change at events only. With
//! residuals that are so too the unknowns are eliminated in numbers: along the dense output of a step the function is
//! then one polynomial, beside a function of time. What cancels between a state and an unknown that follows it, as in
//! the current of a blocked diode, is gone from its coefficients, which no enclosure of both would know.

use crate::model::freeze::rebuilt;
use crate::tolerance::KRAWCZYK_UNKNOWNS;
use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_numerics::program::{CompileError, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The linear forms of a model.
#[derive(Debug)]
pub(crate) struct LinearForms {
    /// The row of each event function; none where it has no linear form.
    pub rows: Vec<Option<usize>>,
    /// The number of rows.
    pub count: usize,
    /// The states that each row reads, unknowns eliminated.
    pub states: Vec<Vec<usize>>,
    /// Whether each row reads unknowns.
    pub reads_unknowns: Vec<bool>,
    /// Rows and columns of the coefficients: those of event functions, then those of residuals, by states and then by
    /// unknowns.
    pub places: Vec<(usize, usize)>,
    /// The coefficients, over what changes at events only.
    pub coefficients: Program,
    /// What remains without states and unknowns, row by row, over time.
    pub rests: Program,
}

/// The coefficients of a linear form and the rest.
type Form = (Vec<(usize, Expr)>, Expr);

/// Finds the linear forms of event functions (`relations`) beside residuals; `watched` tells which are wanted.
pub(crate) fn linear_forms(
    pool: &mut Pool,
    (relations, watched): (&[Expr], &[bool]),
    residuals: &[Expr],
    (states, unknowns): (&[Symbol], &[Symbol]),
    (slow, time): (&[Symbol], Symbol),
) -> Result<Option<LinearForms>, CompileError> {
    let column: FxHashMap<Symbol, usize> =
        states.iter().chain(unknowns).enumerate().map(|(j, symbol)| (*symbol, j)).collect();
    let n = states.len();
    let form = |pool: &mut Pool, function: Expr| -> Option<Form> {
        let mut read = pool.symbols(function);
        read.retain(|symbol| column.contains_key(symbol));
        let moves = |symbol: &Symbol| *symbol == time || column.contains_key(symbol);
        let (coefficients, rest) = match pool.linear_parts(function, &read) {
            Some(parts) => parts,
            None => {
                let blended = blended(pool, function, &moves);
                pool.linear_parts(blended, &read)?
            }
        };
        let fixed = coefficients.iter().all(|e| !pool.symbols(*e).iter().any(moves));
        let places = read.iter().map(|symbol| column[symbol]);
        fixed.then(|| (places.zip(coefficients).collect(), rest))
    };
    let few = unknowns.len() <= KRAWCZYK_UNKNOWNS;
    let solved: Option<Vec<Form>> =
        if few { residuals.iter().map(|r| form(pool, *r)).collect() } else { None };
    let own: BTreeSet<usize> = solved.iter().flatten().flat_map(|(list, _)| places_below(list, n)).collect();
    let mut rows = vec![None; relations.len()];
    let mut found: Vec<Form> = Vec::new();
    let (mut read_states, mut reads_unknowns) = (Vec::new(), Vec::new());
    for (k, function) in relations.iter().enumerate().filter(|(k, _)| watched[*k]) {
        let Some(linear) = form(pool, *function) else { continue };
        let reads = linear.0.iter().any(|(place, _)| *place >= n);
        if reads && solved.is_none() {
            continue;
        }
        let mut read: BTreeSet<usize> = places_below(&linear.0, n).collect();
        if reads {
            read.extend(&own);
        }
        rows[k] = Some(found.len());
        read_states.push(read.into_iter().collect());
        reads_unknowns.push(reads);
        found.push(linear);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let count = found.len();
    found.extend(solved.into_iter().flatten());
    let (mut places, mut coefficients, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    for (row, (list, rest)) in found.into_iter().enumerate() {
        for (place, coefficient) in list {
            places.push((row, place));
            coefficients.push(coefficient);
        }
        rests.push(rest);
    }
    Ok(Some(LinearForms {
        rows,
        count,
        states: read_states,
        reads_unknowns,
        places,
        coefficients: Program::staged(pool, &coefficients, slow, &[])?,
        rests: Program::staged(pool, &rests, slow, &[time])?,
    }))
}

/// The function with branches that modes choose as sums of both, of which one has the weight zero.
fn blended(pool: &mut Pool, function: Expr, moves: &dyn Fn(&Symbol) -> bool) -> Expr {
    let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
    for node in pool.reachable(&[function]) {
        let args: Vec<Expr> =
            pool.children(node).iter().map(|child| replaced.get(child).copied().unwrap_or(*child)).collect();
        let reads = |pool: &Pool, e: Expr| pool.symbols(e).iter().any(moves);
        let chosen =
            matches!(pool.node(node), Node::Select(..)) && !reads(pool, args[0]) && reads(pool, node);
        let new = if chosen {
            let (zero, one) = (pool.zero(), pool.one());
            let weights = [(one, zero), (zero, one)].map(|(a, b)| pool.select(args[0], a, b));
            let terms = [pool.mul(weights[0], args[1]), pool.mul(weights[1], args[2])];
            pool.sum(&terms)
        } else if args.as_slice() == pool.children(node) {
            continue;
        } else {
            rebuilt(pool, node, &args)
        };
        replaced.insert(node, new);
    }
    replaced.get(&function).copied().unwrap_or(function)
}

/// The places of a form that are below a bound: those of states.
fn places_below(list: &[(usize, Expr)], n: usize) -> impl Iterator<Item = usize> + '_ {
    list.iter().map(|(place, _)| *place).filter(move |place| *place < n)
}
