//! Traversals of the nodes an expression reaches, without recursion.

use crate::node::{Expr, Symbol};
use crate::pool::{Pool, Tag};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// From this number of nodes on, sets and tables of nodes are arrays.
const MANY: usize = 512;

/// Up to this number of nodes, a list is looked through from end to end.
const FEW: usize = 24;

/// The nodes already met: those of a list, then a hash set, then an array of bits.
enum Seen {
    Few,
    Some(FxHashSet<Expr>),
    Many(Vec<u64>),
}

impl Seen {
    /// Adds a node no newer than `newest` to the set and the list; tells whether it is new.
    fn insert(&mut self, e: Expr, list: &mut Vec<Expr>, newest: usize) -> bool {
        let new = match self {
            Seen::Few => !list.contains(&e),
            Seen::Some(set) => set.insert(e),
            Seen::Many(bits) => {
                let word = &mut bits[e.index() / 64];
                let bit = 1 << (e.index() % 64);
                let new = *word & bit == 0;
                *word |= bit;
                new
            }
        };
        if !new {
            return false;
        }
        list.push(e);
        if list.len() == FEW {
            *self = Seen::Some(list.iter().copied().collect());
        } else if list.len() == MANY {
            let mut bits = vec![0u64; newest / 64 + 1];
            for e in list {
                bits[e.index() / 64] |= 1 << (e.index() % 64);
            }
            *self = Seen::Many(bits);
        }
        true
    }
}

/// A value for each node of a traversal.
pub(crate) enum Memo<T> {
    /// The nodes, sorted, and their values.
    Few(Vec<(Expr, Option<T>)>),
    Many(Vec<Option<T>>),
}

impl<T: Copy> Memo<T> {
    /// Makes an empty table for the nodes of a traversal, which are sorted.
    pub fn for_nodes(order: &[Expr]) -> Memo<T> {
        let newest = order.last().map_or(0, |e| e.index());
        // An array is worth its room if the nodes fill a good part of it.
        if order.len() >= MANY && order.len() * 16 > newest {
            Memo::Many(vec![None; newest + 1])
        } else {
            Memo::Few(order.iter().map(|e| (*e, None)).collect())
        }
    }

    pub fn get(&self, e: Expr) -> Option<T> {
        match self {
            Memo::Few(list) => {
                list.binary_search_by_key(&e, |(node, _)| *node).ok().and_then(|at| list[at].1)
            }
            Memo::Many(values) => values.get(e.index()).copied().flatten(),
        }
    }

    pub fn insert(&mut self, e: Expr, value: T) {
        match self {
            Memo::Few(list) => {
                if let Ok(at) = list.binary_search_by_key(&e, |(node, _)| *node) {
                    list[at].1 = Some(value);
                }
            }
            Memo::Many(values) => {
                if let Some(slot) = values.get_mut(e.index()) {
                    *slot = Some(value);
                }
            }
        }
    }
}

impl Pool {
    /// Lists the nodes that the roots reach, children before parents, each once.
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        let newest = roots.iter().map(|e| e.index()).max().unwrap_or(0);
        let mut seen = Seen::Few;
        let mut order = Vec::with_capacity(FEW);
        let mut stack: SmallVec<[Expr; 32]> = SmallVec::from_slice(roots);
        while let Some(e) = stack.pop() {
            if seen.insert(e, &mut order, newest) {
                stack.extend_from_slice(self.children(e));
            }
        }
        order.sort_unstable();
        order
    }

    /// Rebuilds an expression from the bottom up.
    ///
    /// `rule` sees each node and its new children and may give the node to take their place; otherwise the
    /// node is made anew where a child has changed.
    pub fn rewrite(&mut self, e: Expr, rule: impl FnMut(&mut Pool, Expr, &[Expr]) -> Option<Expr>) -> Expr {
        self.rewrite_all(&[e], rule)[0]
    }

    /// Rebuilds many expressions; what they share is rebuilt once.
    pub(crate) fn rewrite_all(
        &mut self,
        roots: &[Expr],
        mut rule: impl FnMut(&mut Pool, Expr, &[Expr]) -> Option<Expr>,
    ) -> Vec<Expr> {
        let order = self.reachable(roots);
        let mut replaced = Memo::for_nodes(&order);
        let mut args = Vec::new();
        for node in order {
            args.clear();
            args.extend(self.children(node).iter().map(|child| replaced.get(*child).unwrap_or(*child)));
            let new = match rule(self, node, &args) {
                Some(new) => new,
                None if args == self.children(node) => continue,
                None => self.rebuild(node, &args),
            };
            if new != node {
                replaced.insert(node, new);
            }
        }
        roots.iter().map(|e| replaced.get(*e).unwrap_or(*e)).collect()
    }

    /// Lists the symbols an expression mentions, sorted, each once.
    pub fn symbols(&self, e: Expr) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> =
            self.reachable(&[e]).into_iter().filter_map(|n| self.as_symbol(n)).collect();
        symbols.sort_unstable();
        symbols
    }

    /// Counts the nodes expressions would have written out, where shared parts stand everywhere they occur.
    pub fn written_size(&self, roots: &[Expr]) -> u64 {
        let order = self.reachable(roots);
        let mut sizes: Memo<u64> = Memo::for_nodes(&order);
        for node in order {
            let below = self.children(node).iter().map(|child| sizes.get(*child).unwrap_or(1));
            let size = below.fold(1, u64::saturating_add);
            sizes.insert(node, size);
        }
        roots.iter().map(|e| sizes.get(*e).unwrap_or(1)).fold(0, u64::saturating_add)
    }

    /// Tells whether an expression mentions a symbol.
    pub fn depends_on(&self, e: Expr, s: Symbol) -> bool {
        let (mut seen, mut list) = (Seen::Few, Vec::new());
        let mut stack: SmallVec<[Expr; 32]> = smallvec![e];
        while let Some(node) = stack.pop() {
            if self.as_symbol(node) == Some(s) {
                return true;
            }
            for child in self.children(node) {
                if self.head(*child).tag != Tag::Number && seen.insert(*child, &mut list, e.index()) {
                    stack.push(*child);
                }
            }
        }
        false
    }
}
