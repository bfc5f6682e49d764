//! Derivatives of one expression by many symbols at once: one sweep from the
//! expression down to its symbols (reverse mode), so that the cost does not
//! grow with their number.

use rustc_hash::FxHashMap;

use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;

/// Derivatives by more symbols than this are taken by one reverse sweep: by one symbol after the other, the work would
/// grow with their number times the size of the expression. Those by few are shorter taken one by one.
const SWEPT_SYMBOLS: usize = 16;

impl Pool {
    /// Differentiates an expression with respect to each of the symbols, in the order of work of its size, however many
    /// symbols there are.
    pub fn derivatives(&mut self, e: Expr, symbols: &[Symbol]) -> Vec<Expr> {
        match symbols.len() <= SWEPT_SYMBOLS {
            true => symbols.iter().map(|symbol| self.diff(e, *symbol)).collect(),
            false => self.gradient(e, symbols),
        }
    }

    /// Differentiates an expression with respect to each of the symbols, by one reverse sweep.
    ///
    /// The derivatives share their parts with one another and with the expression.
    pub fn gradient(&mut self, e: Expr, symbols: &[Symbol]) -> Vec<Expr> {
        let zero = self.zero();
        let order = self.reachable(&[e]);
        let place: FxHashMap<Expr, usize> = order.iter().enumerate().map(|(i, node)| (*node, i)).collect();
        let wanted: FxHashMap<Symbol, usize> = symbols.iter().enumerate().map(|(i, s)| (*s, i)).collect();
        // Only what depends on a wanted symbol passes anything down.
        let mut active = vec![false; order.len()];
        for (i, node) in order.iter().enumerate() {
            active[i] = match self.as_symbol(*node) {
                Some(symbol) => wanted.contains_key(&symbol),
                None => self.children(*node).iter().any(|child| active[place[child]]),
            };
        }
        let mut incoming: Vec<Vec<Expr>> = vec![Vec::new(); order.len()];
        if let (Some(last), Some(true)) = (incoming.last_mut(), active.last()) {
            last.push(self.one());
        }
        let mut derivatives = vec![zero; symbols.len()];
        for i in (0..order.len()).rev().filter(|&i| active[i]) {
            let terms = std::mem::take(&mut incoming[i]);
            let adjoint = self.sum(&terms);
            if adjoint == zero {
                continue;
            }
            if let Some(k) = self.as_symbol(order[i]).and_then(|symbol| wanted.get(&symbol)) {
                derivatives[*k] = adjoint;
                continue;
            }
            let children = self.children(order[i]).to_vec();
            for (k, child) in children.iter().enumerate().filter(|(_, child)| active[place[*child]]) {
                let part = self.partial(order[i], &children, k);
                let term = self.mul(adjoint, part);
                incoming[place[child]].push(term);
            }
        }
        // A symbol may be named twice.
        symbols.iter().map(|symbol| wanted.get(symbol).map_or(zero, |&k| derivatives[k])).collect()
    }

    /// The derivative of a node by one of its children.
    fn partial(&mut self, node: Expr, children: &[Expr], k: usize) -> Expr {
        match self.node(node) {
            Node::Sum(_) => self.one(),
            Node::Product(_) => {
                let mut rest = children.to_vec();
                rest.remove(k);
                self.product(&rest)
            }
            _ => {
                let mut inner = vec![self.zero(); children.len()];
                inner[k] = self.one();
                self.chain_rule(node, &inner)
            }
        }
    }
}
