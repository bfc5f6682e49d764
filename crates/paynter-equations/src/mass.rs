//! The mass matrix: with the states of dependent storages known as functions
//! of the others, the rates obey E x' = r before anybody inverts E.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use crate::{Equations, Sparse};

/// What was known before the rates of dependent storages were eliminated.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The rates of the states over the rates of dependent ones.
    pub rates: Vec<Expr>,
    /// The outputs over the rates of dependent states.
    pub outputs: Vec<Expr>,
    /// For each dependent state the symbol of its rate and its value over states, inputs and time.
    pub dependent: Vec<(Symbol, Expr)>,
}

/// E x' = r.
#[derive(Debug, Clone)]
pub struct Mass {
    /// The coefficient matrix of the rates.
    pub matrix: Sparse,
    /// The right-hand sides, over states, inputs and their derivatives.
    pub right: Vec<Expr>,
}

impl Equations {
    /// The form with a mass matrix, where dependent storages make one: with x' = f + F w and
    /// w = dΨ/dt the matrix is I − F Ψₓ. None where there is nothing to invert, or where the
    /// dependent storages read rates or implicit unknowns.
    pub fn mass(&self, pool: &mut Pool, graph: &BondGraph) -> Option<Mass> {
        let reduction = self.reduction.as_ref()?;
        if !self.constraints.is_empty() || reduction.rates.len() != self.states.len() {
            return None;
        }
        let place: FxHashMap<Symbol, usize> =
            self.states.iter().enumerate().map(|(i, s)| (s.symbol, i)).collect();
        // Rates of inputs by their symbols: u → u', u' → u''.
        let mut next: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for input in &self.inputs {
            for pair in input.symbols.windows(2) {
                let rate = pool.var(pair[1]);
                next.insert(pair[0], rate);
            }
        }
        if let Some(time) = graph.variables.symbol(Variable::Time) {
            let one = pool.one();
            next.insert(time, one);
        }
        let symbols: Vec<Symbol> = reduction.dependent.iter().map(|(symbol, _)| *symbol).collect();
        // The slopes of each dependent state by the states, and what its rate is apart from them.
        let mut slopes: Vec<Vec<(usize, Expr)>> = Vec::new();
        let mut rest: Vec<Expr> = Vec::new();
        for (_, value) in &reduction.dependent {
            let (mut row, mut terms) = (Vec::new(), Vec::new());
            for symbol in pool.symbols(*value) {
                if symbols.contains(&symbol) {
                    return None;
                }
                let slope = pool.diff(*value, symbol);
                if let Some(j) = place.get(&symbol) {
                    row.push((*j, slope));
                } else if let Some(rate) = next.get(&symbol) {
                    terms.push(pool.mul(slope, *rate));
                }
            }
            slopes.push(row);
            rest.push(pool.sum(&terms));
        }
        let mut entries: Vec<(usize, usize, Expr)> = Vec::new();
        let mut right = Vec::with_capacity(reduction.rates.len());
        let mut trivial = true;
        for (i, rate) in reduction.rates.iter().enumerate() {
            let inside: Vec<usize> =
                (0..symbols.len()).filter(|k| pool.depends_on(*rate, symbols[*k])).collect();
            let present: Vec<Symbol> = inside.iter().map(|k| symbols[*k]).collect();
            let (coefficients, plain) = pool.linear_parts(*rate, &present)?;
            let mut row: std::collections::BTreeMap<usize, Vec<Expr>> =
                [(i, vec![pool.one()])].into_iter().collect();
            let mut terms = vec![plain];
            for (k, coefficient) in inside.iter().zip(coefficients) {
                for (j, slope) in &slopes[*k] {
                    let product = pool.mul(coefficient, *slope);
                    row.entry(*j).or_default().push(pool.neg(product));
                    trivial = false;
                }
                terms.push(pool.mul(coefficient, rest[*k]));
            }
            for (j, parts) in row {
                let entry = pool.sum(&parts);
                if entry != pool.zero() && !pool.is_zero(entry) {
                    entries.push((i, j, entry));
                }
            }
            right.push(pool.sum(&terms));
        }
        let n = self.states.len();
        (!trivial).then_some(Mass { matrix: Sparse { rows: n, columns: n, entries }, right })
    }
}
