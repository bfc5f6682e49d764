//! Naming what expressions share, for printing results that are too large to
//! be written out.

use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

/// Expressions with the definitions of the sub-expressions they share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Each name with its expression over symbols and earlier names.
    pub definitions: Vec<(Symbol, Expr)>,
    /// The expressions over symbols and names.
    pub roots: Vec<Expr>,
}

impl Pool {
    /// Gives names (`d1`, `d2` …) to sub-expressions that are used more than once.
    ///
    /// Symbols, numbers and what is as short as a name stay where they are.
    pub fn share(&mut self, roots: &[Expr]) -> Shared {
        let order = self.reachable(roots);
        let mut uses: FxHashMap<Expr, u32> = FxHashMap::default();
        for node in &order {
            for child in self.children(*node) {
                *uses.entry(*child).or_default() += 1;
            }
        }
        for root in roots {
            *uses.entry(*root).or_default() += 1;
        }
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut definitions = Vec::new();
        for node in order {
            let args: Vec<Expr> = self
                .children(node)
                .iter()
                .map(|child| replaced.get(child).copied().unwrap_or(*child))
                .collect();
            let new = if args == self.children(node) { node } else { self.rebuild(node, &args) };
            let worth = match self.node(node) {
                Node::Sum(_) | Node::Call(..) | Node::Select(..) => true,
                Node::Product(factors) => factors.len() > 2,
                _ => false,
            };
            let value = if worth && !self.is_boolean(node) && uses.get(&node).copied().unwrap_or(0) > 1 {
                let symbol = self.fresh(&format!("d{}", definitions.len() + 1));
                definitions.push((symbol, new));
                self.var(symbol)
            } else {
                new
            };
            if value != node {
                replaced.insert(node, value);
            }
        }
        let roots = roots.iter().map(|root| replaced.get(root).copied().unwrap_or(*root)).collect();
        Shared { definitions, roots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_only_what_is_shared() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol("x"), pool.symbol("y"));
        let (x, y) = (pool.var(x), pool.var(y));
        let sum = pool.add(x, y);
        let one = pool.one();
        let inverse = pool.div(one, sum);
        let top = pool.add(inverse, x);
        let other = pool.mul(sum, y);
        let shared = pool.share(&[top, other]);
        assert_eq!(shared.definitions.len(), 1);
        let (name, value) = shared.definitions[0];
        assert_eq!(value, sum);
        let map = [(name, value)].into_iter().collect();
        assert_eq!(pool.substitute_all(&shared.roots, &map), [top, other]);
    }
}
