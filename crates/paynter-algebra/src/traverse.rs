//! Traversals of the nodes an expression reaches, without recursion.

use crate::node::{Expr, Symbol};
use crate::pool::{Pool, Tag};
use rustc_hash::FxHashSet;

impl Pool {
    /// Lists the nodes that the roots reach, children before parents, each once.
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        let mut seen: FxHashSet<Expr> = FxHashSet::default();
        let mut order = Vec::new();
        let mut stack = roots.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                order.push(e);
                stack.extend_from_slice(self.children(e));
            }
        }
        order.sort_unstable();
        order
    }

    /// Lists the symbols an expression mentions, sorted, each once.
    pub fn symbols(&self, e: Expr) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> =
            self.reachable(&[e]).into_iter().filter_map(|n| self.as_symbol(n)).collect();
        symbols.sort_unstable();
        symbols
    }

    /// Tells whether an expression mentions a symbol.
    pub fn depends_on(&self, e: Expr, s: Symbol) -> bool {
        let mut seen: FxHashSet<Expr> = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if self.as_symbol(e) == Some(s) {
                return true;
            }
            for child in self.children(e) {
                if self.head(*child).tag != Tag::Number && seen.insert(*child) {
                    stack.push(*child);
                }
            }
        }
        false
    }
}
