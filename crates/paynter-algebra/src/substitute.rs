//! Simultaneous substitution of expressions for symbols.

use crate::node::{Expr, Symbol};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

impl Pool {
    /// Replaces symbols by expressions, all at once: what is put in is not searched again.
    pub fn substitute(&mut self, e: Expr, map: &FxHashMap<Symbol, Expr>) -> Expr {
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        for node in self.reachable(&[e]) {
            if let Some(symbol) = self.as_symbol(node) {
                if let Some(new) = map.get(&symbol) {
                    replaced.insert(node, *new);
                }
                continue;
            }
            if self.children(node).iter().any(|child| replaced.contains_key(child)) {
                let args: Vec<Expr> = self
                    .children(node)
                    .iter()
                    .map(|child| replaced.get(child).copied().unwrap_or(*child))
                    .collect();
                let new = self.rebuild(node, &args);
                replaced.insert(node, new);
            }
        }
        replaced.get(&e).copied().unwrap_or(e)
    }
}
