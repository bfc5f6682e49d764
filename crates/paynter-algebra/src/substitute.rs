//! Simultaneous substitution of expressions for symbols.

use crate::node::{Expr, Func, Node, Symbol};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

impl Pool {
    /// Replaces symbols by expressions, all at once: what is put in is not searched again.
    pub fn substitute(&mut self, e: Expr, map: &FxHashMap<Symbol, Expr>) -> Expr {
        self.rewrite(e, |pool, node, _| pool.as_symbol(node).and_then(|s| map.get(&s).copied()))
    }

    /// Replaces symbols in many expressions; what they share is rewritten once.
    pub fn substitute_all(&mut self, roots: &[Expr], map: &FxHashMap<Symbol, Expr>) -> Vec<Expr> {
        self.rewrite_all(roots, |pool, node, _| pool.as_symbol(node).and_then(|s| map.get(&s).copied()))
    }

    /// Replaces calls of tables by symbols, for printers that know how a table is written.
    pub fn replace_tables(&mut self, e: Expr, symbol: &dyn Fn(u32) -> Option<Symbol>) -> Expr {
        self.rewrite(e, |pool, node, _| match pool.node(node) {
            Node::Call(Func::Table(table), _) => symbol(table).map(|symbol| pool.var(symbol)),
            _ => None,
        })
    }

    /// Replaces every occurrence of a node by another expression.
    pub(crate) fn replace(&mut self, e: Expr, old: Expr, new: Expr) -> Expr {
        self.rewrite(e, |_, node, _| (node == old).then_some(new))
    }
}
