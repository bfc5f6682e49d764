//! Laws that only bend at the zero of an event function, although a condition chooses between their branches: a diode
//! conducts nothing at zero effort on either branch. Nothing jumps there, and no motion slides.

use super::freeze::Relation;
use super::sliding::Frozen;
use paynter_algebra::{Expr, Pool, Symbol};
use rustc_hash::FxHashMap;

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
        let [above, below] = [1, -1].map(|side| {
            let side = pool.int(side);
            pool.substitute(root, &[(mode, side)].into_iter().collect())
        });
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
