//! Laws that only bend at the zero of an event function, although a condition chooses between their branches: a diode
//! conducts nothing at zero effort on either branch. Nothing jumps there, and no motion slides.

use super::freeze::Relation;
use super::sliding::Frozen;
use paynter_algebra::{Cmp, Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Guard, Sign};
use rustc_hash::FxHashMap;

/// Makes residuals continuous where a function is zero, as far as a factor over parameters does: a diode in an
/// algebraic loop gives f + G·e, where G jumps with the sign of f although f = 0 on either branch only with e = 0.
/// Returns what that takes for granted about values of parameters.
pub(super) fn join_branches(
    pool: &mut Pool,
    graph: &BondGraph,
    frozen: &mut Frozen,
    (relations, timed): (&[Relation], &[bool]),
) -> Vec<Guard> {
    let mut guards = Vec::new();
    for k in (0..relations.len()).filter(|k| relations[*k].jumps && !timed[*k]) {
        let mode = frozen.modes[k];
        if !frozen.residuals.iter().any(|residual| pool.depends_on(*residual, mode)) {
            continue;
        }
        let Some(at_zero) = zero(pool, frozen, frozen.relations[k]) else { continue };
        for place in 0..frozen.residuals.len() {
            let residual = frozen.residuals[place];
            if !pool.depends_on(residual, mode) {
                continue;
            }
            let branches = branches(pool, residual, mode).map(|branch| pool.substitute(branch, &at_zero));
            let Some(factor) = factor(pool, frozen, branches) else { continue };
            let value = pool.eval(factor, &|symbol| graph.number(symbol)).unwrap_or(f64::NAN);
            let sign = Sign::of(value);
            guards.push(Guard::Sign(factor, sign));
            if !matches!(sign, Sign::Positive | Sign::Negative) {
                continue;
            }
            let (mode, zero) = (pool.var(mode), pool.zero());
            let is_above = pool.compare(Cmp::Gt, mode, zero);
            let below = pool.mul(factor, residual);
            frozen.residuals[place] = pool.select(is_above, residual, below);
        }
    }
    guards
}

/// An expression on both sides of a function with this mode.
fn branches(pool: &mut Pool, e: Expr, mode: Symbol) -> [Expr; 2] {
    [1, -1].map(|side| {
        let side = pool.int(side);
        pool.substitute(e, &[(mode, side)].into_iter().collect())
    })
}

/// The factor over parameters, other than one, by which the first of two expressions is a multiple of the second.
fn factor(pool: &mut Pool, frozen: &Frozen, [above, below]: [Expr; 2]) -> Option<Expr> {
    let fast: Vec<Symbol> =
        frozen.states.iter().chain(&frozen.unknowns).chain([&frozen.time]).copied().collect();
    let symbol = fast.iter().copied().find(|symbol| pool.depends_on(below, *symbol))?;
    let [a, b] = [above, below].map(|branch| pool.diff(branch, symbol));
    if pool.is_zero(a) || pool.is_zero(b) {
        return None;
    }
    let factor = pool.div(a, b);
    let moves = |symbol: &Symbol| pool.depends_on(factor, *symbol);
    if factor == pool.one() || fast.iter().chain(&frozen.modes).any(moves) {
        return None;
    }
    let multiple = pool.mul(factor, below);
    let difference = pool.sub(above, multiple);
    pool.is_zero(difference).then_some(factor)
}

/// Which event functions of states something jumps with.
pub(super) fn jumps(pool: &mut Pool, frozen: &Frozen, relations: &[Relation], timed: &[bool]) -> Vec<bool> {
    let judged = |pool: &mut Pool, k: usize| relations[k].jumps && !timed[k] && !only_bends(pool, frozen, k);
    (0..relations.len()).map(|k| judged(pool, k)).collect()
}

/// The event functions of laws that bend and determine unknowns which the function reads.
pub(super) fn in_loops(pool: &Pool, frozen: &Frozen, jumps: &[bool], timed: &[bool]) -> Vec<usize> {
    let is_bend = |k: &usize| {
        let mode = frozen.modes[*k];
        let read = pool.symbols(frozen.relations[*k]);
        !jumps[*k]
            && !timed[*k]
            && frozen.unknowns.iter().any(|z| read.contains(z))
            && frozen.residuals.iter().any(|residual| pool.depends_on(*residual, mode))
    };
    (0..jumps.len()).filter(is_bend).collect()
}

/// Whether all equations agree on both branches where the function is zero.
fn only_bends(pool: &mut Pool, frozen: &Frozen, k: usize) -> bool {
    let Some(at_zero) = zero(pool, frozen, frozen.relations[k]) else { return false };
    let mode = frozen.modes[k];
    let roots = [&frozen.rates, &frozen.residuals, &frozen.jumps, &frozen.relations];
    let read: Vec<Expr> = roots.into_iter().flatten().copied().collect();
    read.into_iter().filter(|root| *root != frozen.relations[k]).all(|root| {
        if !pool.depends_on(root, mode) {
            return true;
        }
        let [above, below] = branches(pool, root, mode);
        let difference = pool.sub(above, below);
        let difference = pool.substitute(difference, &at_zero);
        pool.is_zero(difference)
    })
}

/// What a symbol of a function is where the function is zero, if the function is straight in any.
fn zero(pool: &mut Pool, frozen: &Frozen, function: Expr) -> Option<FxHashMap<Symbol, Expr>> {
    let read = pool.symbols(function);
    let inner = frozen.unknowns.iter().chain(&frozen.states).chain([&frozen.time]);
    let inner: Vec<Symbol> = inner.copied().filter(|symbol| read.contains(symbol)).collect();
    inner.into_iter().find_map(|symbol| {
        let derivative = pool.diff(function, symbol);
        if pool.depends_on(derivative, symbol) || pool.is_zero(derivative) {
            return None;
        }
        let variable = pool.var(symbol);
        let part = pool.div(function, derivative);
        let value = pool.sub(variable, part);
        Some([(symbol, value)].into_iter().collect())
    })
}
