//! Derivatives through dominators of expression graphs.
//!
//! The law of a resistor reads the efforts of many states only through the one effort at its port. Such
//! a node, through which alone others depend on several symbols, dominates them: what stands above it is
//! differentiated once by the dominator rather than once by each symbol, and both parts are multiplied.

use crate::model::freeze::rebuilt;
use paynter_algebra::{Expr, Pool, Symbol};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The derivatives of an expression by the symbols it depends on, those that are not zero.
pub(crate) type Gradient = BTreeMap<Symbol, Expr>;

/// What is known about nodes, children before parents.
struct Dominators<'a> {
    active: &'a dyn Fn(Symbol) -> bool,
    /// The dominator of each node that depends on active symbols: the last node that all its paths to them have
    /// in common.
    dominator: FxHashMap<Expr, Expr>,
    /// Nodes over symbols that stand for the dominators below them, where that makes a difference.
    inner: FxHashMap<Expr, Expr>,
    /// Symbols of dominators that others read, what they stand for, and their derivatives.
    symbols: FxHashMap<Expr, Symbol>,
    meaning: FxHashMap<Symbol, Expr>,
    derivatives: FxHashMap<Symbol, Gradient>,
}

/// Differentiates functions by all active symbols.
pub(crate) fn gradients(
    pool: &mut Pool,
    functions: &[Expr],
    active: &dyn Fn(Symbol) -> bool,
) -> Vec<Gradient> {
    let mut dominators = Dominators {
        active,
        dominator: FxHashMap::default(),
        inner: FxHashMap::default(),
        symbols: FxHashMap::default(),
        meaning: FxHashMap::default(),
        derivatives: FxHashMap::default(),
    };
    for node in pool.reachable(functions) {
        dominators.visit(pool, node);
    }
    let found: Vec<Gradient> =
        functions.iter().map(|function| dominators.gradient_of(pool, *function)).collect();
    // The symbols of dominators give way to what they stand for.
    let list: Vec<Expr> = found.iter().flat_map(|derivatives| derivatives.values().copied()).collect();
    let mut list = pool.substitute_all(&list, &dominators.meaning).into_iter();
    let replaced = |derivatives: Gradient| derivatives.into_keys().zip(&mut list).collect();
    found.into_iter().map(replaced).collect()
}

impl Dominators<'_> {
    /// Finds the dominator of a node.
    fn visit(&mut self, pool: &mut Pool, node: Expr) {
        if pool.as_symbol(node).is_some_and(self.active) {
            self.dominator.insert(node, node);
            return;
        }
        let children = pool.children(node).to_vec();
        let mut below = children.iter().filter_map(|child| self.dominator.get(child)).copied();
        let Some(first) = below.next() else { return };
        let own = if below.all(|dominator| dominator == first) { first } else { node };
        let args: Vec<Expr> = children.iter().map(|child| self.read(pool, *child)).collect();
        if args != children {
            let inner = rebuilt(pool, node, &args);
            self.inner.insert(node, inner);
        }
        self.dominator.insert(node, own);
    }

    /// A node as its parents read it: a dominator by its symbol.
    fn read(&mut self, pool: &mut Pool, node: Expr) -> Expr {
        if self.dominator.get(&node) != Some(&node) || pool.as_symbol(node).is_some() {
            return self.inner.get(&node).copied().unwrap_or(node);
        }
        let known = self.symbols.get(&node).copied();
        let symbol = known.unwrap_or_else(|| {
            let symbol = pool.fresh("dominator");
            let derivatives = self.gradient_of(pool, node);
            self.symbols.insert(node, symbol);
            self.meaning.insert(symbol, node);
            self.derivatives.insert(symbol, derivatives);
            symbol
        });
        pool.var(symbol)
    }

    /// The derivatives of a node, over the symbols of dominators.
    fn gradient_of(&self, pool: &mut Pool, node: Expr) -> Gradient {
        let inner = self.inner.get(&node).copied().unwrap_or(node);
        let mut terms: BTreeMap<Symbol, Vec<Expr>> = BTreeMap::new();
        let mut read = pool.symbols(inner);
        read.retain(|symbol| (self.active)(*symbol) || self.derivatives.contains_key(symbol));
        let derivatives = pool.derivatives(inner, &read);
        for (symbol, derivative) in read.into_iter().zip(derivatives) {
            if (self.active)(symbol) {
                terms.entry(symbol).or_default().push(derivative);
                continue;
            }
            for (symbol, inside) in self.derivatives.get(&symbol).into_iter().flatten() {
                terms.entry(*symbol).or_default().push(pool.mul(derivative, *inside));
            }
        }
        let zero = pool.zero();
        let sums = terms.into_iter().map(|(symbol, terms)| (symbol, pool.sum(&terms)));
        sums.filter(|(_, derivative)| *derivative != zero).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_algebra::Func;
    use paynter_numerics::program::Program;

    /// Derivatives through dominators are those taken symbol by symbol, and share what stands above a dominator.
    #[test]
    fn gradients_are_derivatives() {
        let mut pool = Pool::new();
        let names = ["x", "y", "z", "k"].map(|name| pool.symbol(name));
        let [x, y, z, k] = names.map(|symbol| pool.var(symbol));
        // A law k·tanh(effort)·effort² of an effort x − y·z, in two rates, one of which is also sin(x)·z.
        let yz = pool.mul(y, z);
        let effort = pool.sub(x, yz);
        let (two, tanh) = (pool.int(2), pool.call(Func::Tanh, &[effort]));
        let square = pool.pow(effort, two);
        let law = pool.product(&[k, tanh, square]);
        let sine = pool.call(Func::Sin, &[x]);
        let own = pool.mul(sine, z);
        let functions = [pool.neg(law), pool.add(law, own), pool.mul(k, x), k];
        let active = |symbol: Symbol| names[..3].contains(&symbol);
        let found = gradients(&mut pool, &functions, &active);
        let point = [0.7, -0.4, 1.3, 2.5];
        for (function, derivatives) in functions.iter().zip(&found) {
            for symbol in &names[..3] {
                let plain = pool.diff(*function, *symbol);
                let zero = pool.zero();
                let derivative = derivatives.get(symbol).copied().unwrap_or(zero);
                let program = Program::compile(&pool, &[plain, derivative], &names).unwrap();
                let mut values = [0.0; 2];
                program.run(&point, &mut Vec::new(), &mut values);
                assert!((values[0] - values[1]).abs() <= 1e-14 * values[0].abs().max(1.0), "{values:?}");
                assert_eq!(plain == zero, derivative == zero);
            }
        }
        let count = |pool: &Pool, list: &[Expr]| {
            let program = Program::compile(pool, list, &names).unwrap();
            program.operations()
        };
        let through: Vec<Expr> = found.iter().flat_map(|derivatives| derivatives.values().copied()).collect();
        let mut plain = Vec::new();
        for function in functions {
            plain.extend(names[..3].iter().map(|symbol| pool.diff(function, *symbol)));
        }
        assert!(count(&pool, &through) < count(&pool, &plain));
    }
}
