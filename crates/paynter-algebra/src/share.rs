//! Naming what expressions share, for printing results that are too large to
//! be written out.

use crate::limits::{BLOCK_FACTORS, WIDE_FACTORS};
use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use rustc_hash::{FxHashMap, FxHashSet};

/// Expressions with the definitions of the sub-expressions they share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Each name with its expression over symbols and earlier names.
    pub definitions: Vec<(Symbol, Expr)>,
    /// The expressions over symbols and names.
    pub roots: Vec<Expr>,
}

impl Pool {
    /// Gives names (`d1`, `d2` …, those that nothing else has) to sub-expressions that are used more than once.
    ///
    /// Symbols, numbers and what is as short as a name stay where they are.
    pub fn share(&mut self, roots: &[Expr]) -> Shared {
        self.share_over(roots, &|_| true)
    }

    /// Gives names to shared sub-expressions over chosen symbols only.
    pub fn share_over(&mut self, roots: &[Expr], chosen: &dyn Fn(Symbol) -> bool) -> Shared {
        let order = self.reachable(roots);
        let mut others: FxHashSet<Expr> = FxHashSet::default();
        for node in &order {
            let is_other = self.as_symbol(*node).is_some_and(|symbol| !chosen(symbol));
            if is_other || self.children(*node).iter().any(|child| others.contains(child)) {
                others.insert(*node);
            }
        }
        let is_named = |pool: &Pool, node: Expr| !others.contains(&node) && pool.deserves_name(node);
        // How often each would be written. What gets no name of its own passes the count on to what it is
        // made of: a reciprocal that stands in two places writes its denominator twice.
        let mut written: FxHashMap<Expr, u32> = FxHashMap::default();
        for root in roots {
            *written.entry(*root).or_default() += 1;
        }
        for node in order.iter().rev() {
            let count = written.get(node).copied().unwrap_or(0);
            let passed = if is_named(self, *node) { 1 } else { count };
            for child in self.children(*node) {
                let count = written.entry(*child).or_default();
                *count = count.saturating_add(passed);
            }
        }
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        // Symbols local to a law are known to no index.
        let read: FxHashSet<String> = order
            .iter()
            .filter_map(|node| self.as_symbol(*node))
            .map(|symbol| self.name(symbol).to_owned())
            .collect();
        let mut names = Names { read, number: 0, definitions: Vec::new(), blocks: FxHashMap::default() };
        for node in order {
            let args: Vec<Expr> = self
                .children(node)
                .iter()
                .map(|child| replaced.get(child).copied().unwrap_or(*child))
                .collect();
            let new = if args == self.children(node) { node } else { self.rebuild(node, &args) };
            let new = if others.contains(&node) { new } else { names.in_blocks(self, new) };
            let shared = is_named(self, node) && written.get(&node).is_some_and(|count| *count > 1);
            let value = if shared { names.define(self, new) } else { new };
            if value != node {
                replaced.insert(node, value);
            }
        }
        let roots = roots.iter().map(|root| replaced.get(root).copied().unwrap_or(*root)).collect();
        Shared { definitions: names.definitions, roots }
    }

    /// Whether a name is shorter than the node itself.
    fn deserves_name(&self, node: Expr) -> bool {
        let long = match self.node(node) {
            Node::Sum(_) | Node::Call(..) | Node::Select(..) => true,
            Node::Product(factors) => factors.len() > 2,
            _ => false,
        };
        long && !self.is_boolean(node)
    }
}

/// The names that are given.
struct Names {
    /// Names that expressions read.
    read: FxHashSet<String>,
    /// The last number that was tried.
    number: usize,
    definitions: Vec<(Symbol, Expr)>,
    /// Blocks of factors that were met in products of many, with their names where they were met again.
    blocks: FxHashMap<Box<[Expr]>, Option<Expr>>,
}

impl Names {
    /// Gives a name to an expression.
    fn define(&mut self, pool: &mut Pool, value: Expr) -> Expr {
        let name = loop {
            self.number += 1;
            let name = format!("d{}", self.number);
            if !pool.knows(&name) && !self.read.contains(&name) {
                break name;
            }
        };
        let symbol = pool.fresh(&name);
        self.definitions.push((symbol, value));
        pool.var(symbol)
    }

    /// Writes a product of many factors with names for blocks of them that other such products have too: the
    /// derivatives of a product of n factors, each of which leaves one out, take n log n instead of n².
    fn in_blocks(&mut self, pool: &mut Pool, product: Expr) -> Expr {
        let Node::Product(factors) = pool.node(product) else { return product };
        if factors.len() < WIDE_FACTORS {
            return product;
        }
        // The same bases stand in the same blocks, whatever their exponents and what else is there.
        let mut factors: Vec<Expr> = factors.to_vec();
        factors.sort_by_key(|factor| base(pool, *factor));
        let mut out = Vec::new();
        self.block(pool, &factors, &mut out);
        pool.product(&out)
    }

    /// Writes factors in the order of their bases, by halves at the first bit in which these differ.
    fn block(&mut self, pool: &mut Pool, factors: &[Expr], out: &mut Vec<Expr>) {
        let ends = factors.first().zip(factors.last());
        let Some((first, last)) = ends.filter(|_| factors.len() >= BLOCK_FACTORS) else {
            out.extend_from_slice(factors);
            return;
        };
        match self.blocks.get(factors) {
            Some(Some(name)) => out.push(*name),
            Some(None) => {
                let value = pool.product(factors);
                let name = self.define(pool, value);
                self.blocks.insert(factors.into(), Some(name));
                out.push(name);
            }
            None => {
                self.blocks.insert(factors.into(), None);
                let bit = (base(pool, *first) ^ base(pool, *last)).checked_ilog2().unwrap_or(0);
                let middle = factors.partition_point(|factor| base(pool, *factor) >> bit & 1 == 0);
                let (low, high) = factors.split_at(middle);
                self.block(pool, low, out);
                self.block(pool, high, out);
            }
        }
    }
}

/// The place of a factor's base in the pool.
fn base(pool: &Pool, factor: Expr) -> usize {
    pool.as_base_exponent(factor).0.index()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continued_fraction_stays_short() {
        let mut pool = Pool::new();
        let x = pool.symbol("x");
        let x = pool.var(x);
        let one = pool.one();
        let mut value = x;
        for _ in 0..60 {
            let inverse = pool.div(one, value);
            let square = pool.mul(inverse, inverse);
            let sum = pool.add(x, inverse);
            value = pool.add(sum, square);
        }
        let shared = pool.share(&[value]);
        let values: Vec<Expr> = shared.definitions.iter().map(|(_, e)| *e).collect();
        let size = pool.written_size(&values);
        assert!(size < 60 * 20, "{size}");
        let map = shared.definitions.iter().rev().fold(shared.roots.clone(), |roots, (name, e)| {
            pool.substitute_all(&roots, &[(*name, *e)].into_iter().collect())
        });
        assert_eq!(map, [value]);
    }

    #[test]
    fn derivatives_of_a_wide_product_stay_short() {
        let mut pool = Pool::new();
        let symbols: Vec<Symbol> = (0..200).map(|k| pool.symbol(&format!("x{k}"))).collect();
        let factors: Vec<Expr> = symbols.iter().map(|symbol| pool.var(*symbol)).collect();
        let product = pool.product(&factors);
        let derivatives = pool.gradient(product, &symbols);
        let shared = pool.share(&derivatives);
        let values: Vec<Expr> =
            shared.definitions.iter().map(|(_, e)| *e).chain(shared.roots.iter().copied()).collect();
        let size = pool.written_size(&values);
        assert!(size < 200 * 40, "{size}");
        let written = shared.definitions.iter().rev().fold(shared.roots.clone(), |roots, (name, e)| {
            pool.substitute_all(&roots, &[(*name, *e)].into_iter().collect())
        });
        assert_eq!(written, derivatives);
    }

    #[test]
    fn a_definition_has_a_name_of_its_own() {
        let mut pool = Pool::new();
        let named = [pool.symbol("d1"), pool.fresh("d3")].map(|symbol| pool.var(symbol));
        pool.keep_name("d2");
        let sum = pool.add(named[0], named[1]);
        let call = pool.call(crate::Func::Sin, &[sum]);
        let other = pool.mul(sum, named[0]);
        let shared = pool.share(&[call, other]);
        let names: Vec<&str> = shared.definitions.iter().map(|(symbol, _)| pool.name(*symbol)).collect();
        assert_eq!(names, ["d4"]);
    }

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
