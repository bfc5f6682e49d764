//! Derivatives through the narrow places of expressions.
//!
//! The law of a resistor reads the efforts of many states only through the one effort at its port. Such
//! a node, through which alone others depend on several symbols, is a gate: what stands above it is
//! differentiated once by the gate rather than once by each symbol, and both parts are multiplied.

use super::freeze::{children, rebuilt};
use paynter_algebra::{Expr, Pool, Symbol};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The derivatives of an expression by the symbols it depends on, those that are not zero.
pub(crate) type Slopes = BTreeMap<Symbol, Expr>;

/// What is known about nodes, children before parents.
struct Gates<'a> {
    active: &'a dyn Fn(Symbol) -> bool,
    /// The gate of each node that depends on active symbols: the last node that all its paths to them have
    /// in common.
    gate: FxHashMap<Expr, Expr>,
    /// Nodes over symbols that stand for the gates below them, where that makes a difference.
    inner: FxHashMap<Expr, Expr>,
    /// Symbols of gates that others read, what they stand for, and their derivatives.
    symbols: FxHashMap<Expr, Symbol>,
    meaning: FxHashMap<Symbol, Expr>,
    slopes: FxHashMap<Symbol, Slopes>,
}

/// Differentiates functions by all active symbols.
pub(crate) fn gradients(pool: &mut Pool, functions: &[Expr], active: &dyn Fn(Symbol) -> bool) -> Vec<Slopes> {
    let mut gates = Gates {
        active,
        gate: FxHashMap::default(),
        inner: FxHashMap::default(),
        symbols: FxHashMap::default(),
        meaning: FxHashMap::default(),
        slopes: FxHashMap::default(),
    };
    for node in pool.reachable(functions) {
        gates.visit(pool, node);
    }
    let found: Vec<Slopes> = functions.iter().map(|function| gates.slopes_of(pool, *function)).collect();
    // The symbols of gates give way to what they stand for.
    let list: Vec<Expr> = found.iter().flat_map(|slopes| slopes.values().copied()).collect();
    let mut list = pool.substitute_all(&list, &gates.meaning).into_iter();
    let replaced = |slopes: Slopes| slopes.into_keys().zip(&mut list).collect();
    found.into_iter().map(replaced).collect()
}

impl Gates<'_> {
    /// Finds the gate of a node.
    fn visit(&mut self, pool: &mut Pool, node: Expr) {
        if pool.as_symbol(node).is_some_and(self.active) {
            self.gate.insert(node, node);
            return;
        }
        let children = children(pool, node);
        let mut below = children.iter().filter_map(|child| self.gate.get(child)).copied();
        let Some(first) = below.next() else { return };
        let own = if below.all(|gate| gate == first) { first } else { node };
        let args: Vec<Expr> = children.iter().map(|child| self.read(pool, *child)).collect();
        if args != children {
            let inner = rebuilt(pool, node, &args);
            self.inner.insert(node, inner);
        }
        self.gate.insert(node, own);
    }

    /// A node as its parents read it: a gate by its symbol.
    fn read(&mut self, pool: &mut Pool, node: Expr) -> Expr {
        if self.gate.get(&node) != Some(&node) || pool.as_symbol(node).is_some() {
            return self.inner.get(&node).copied().unwrap_or(node);
        }
        let known = self.symbols.get(&node).copied();
        let symbol = known.unwrap_or_else(|| {
            let symbol = pool.fresh("gate");
            let slopes = self.slopes_of(pool, node);
            self.symbols.insert(node, symbol);
            self.meaning.insert(symbol, node);
            self.slopes.insert(symbol, slopes);
            symbol
        });
        pool.var(symbol)
    }

    /// The derivatives of a node, over the symbols of gates.
    fn slopes_of(&self, pool: &mut Pool, node: Expr) -> Slopes {
        let inner = self.inner.get(&node).copied().unwrap_or(node);
        let mut terms: BTreeMap<Symbol, Vec<Expr>> = BTreeMap::new();
        for symbol in pool.symbols(inner) {
            if (self.active)(symbol) {
                let slope = pool.diff(inner, symbol);
                terms.entry(symbol).or_default().push(slope);
            } else if let Some(below) = self.slopes.get(&symbol) {
                let outer = pool.diff(inner, symbol);
                for (symbol, slope) in below {
                    terms.entry(*symbol).or_default().push(pool.mul(outer, *slope));
                }
            }
        }
        let zero = pool.zero();
        let sums = terms.into_iter().map(|(symbol, terms)| (symbol, pool.sum(&terms)));
        sums.filter(|(_, slope)| *slope != zero).collect()
    }
}
