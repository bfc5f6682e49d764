//! Simultaneous substitution of expressions for symbols.

use crate::node::{Expr, Symbol};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

impl Pool {
    /// Replaces symbols by expressions, all at once: what is put in is not searched again.
    pub fn substitute(&mut self, e: Expr, map: &FxHashMap<Symbol, Expr>) -> Expr {
        self.substitute_all(&[e], map)[0]
    }

    /// Replaces symbols in many expressions; what they share is rewritten once.
    pub fn substitute_all(&mut self, roots: &[Expr], map: &FxHashMap<Symbol, Expr>) -> Vec<Expr> {
        self.rewrite(roots, |pool, node| pool.as_symbol(node).and_then(|s| map.get(&s).copied()))
    }

    /// Replaces every occurrence of a node by another expression.
    pub(crate) fn replace(&mut self, e: Expr, old: Expr, new: Expr) -> Expr {
        self.rewrite(&[e], |_, node| (node == old).then_some(new))[0]
    }

    fn rewrite(&mut self, roots: &[Expr], rule: impl Fn(&Pool, Expr) -> Option<Expr>) -> Vec<Expr> {
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        for node in self.reachable(roots) {
            if let Some(new) = rule(self, node) {
                replaced.insert(node, new);
            } else if self.children(node).iter().any(|child| replaced.contains_key(child)) {
                let args: Vec<Expr> = self
                    .children(node)
                    .iter()
                    .map(|child| replaced.get(child).copied().unwrap_or(*child))
                    .collect();
                let new = self.rebuild(node, &args);
                replaced.insert(node, new);
            }
        }
        roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
    }
}
