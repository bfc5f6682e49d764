//! Where the model's own states initial. Symbols stand for that until a run is
//! compiled, because states, derivatives and runs of a question may change it.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::Equations;
use rustc_hash::FxHashMap;

/// The initial value of one state.
pub(super) struct Initial {
    pub name: String,
    /// Stands for the sum of both values.
    pub symbol: Symbol,
    /// Stands for `by` alone.
    pub shift: Symbol,
    pub value: Expr,
    /// What moves it to take a derivative; zero in a run.
    pub by: Expr,
}

/// Puts symbols for the values where states initial.
pub(super) fn open(pool: &mut Pool, equations: &mut Equations) -> Vec<Initial> {
    let open = |state: &mut paynter_equations::State| {
        let (symbol, shift) = (pool.fresh(&state.name), pool.fresh(&state.name));
        let value = std::mem::replace(&mut state.initial, pool.var(symbol));
        Initial { name: state.name.clone(), symbol, shift, value, by: pool.zero() }
    };
    equations.states.iter_mut().map(open).collect()
}

/// Puts the values back, in the outputs too: stored energy counts from there.
pub(super) fn close(
    pool: &mut Pool,
    initials: &[Initial],
    equations: &mut Equations,
    outputs: &mut Option<Vec<Expr>>,
) {
    let mut known: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for initial in initials {
        known.insert(initial.symbol, pool.add(initial.value, initial.by));
        known.insert(initial.shift, initial.by);
    }
    let states = equations.states.iter_mut().map(|state| &mut state.initial);
    let dependent = equations.dependent.iter_mut().filter_map(|dependent| dependent.initial.as_mut());
    let places: Vec<&mut Expr> = states.chain(dependent).chain(outputs.iter_mut().flatten()).collect();
    let before: Vec<Expr> = places.iter().map(|place| **place).collect();
    let after = pool.substitute_all(&before, &known);
    places.into_iter().zip(after).for_each(|(place, value)| *place = value);
}
