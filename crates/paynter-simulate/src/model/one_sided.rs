//! Roots on one side of an event: `if(h > 0, √h, 0)` of a check valve. They are infinitely steep where the branch
//! begins, so that they are regularised like signed powers; beyond the event they go on smoothly.

use super::freeze::{Freezer, leading, rebuilt};
use paynter_algebra::{Cmp, Expr, Func, Node, Pool, Rational};
use rustc_hash::FxHashMap;

impl Freezer {
    /// The same branches, with roots of the function that decides between them regularised.
    pub(super) fn regularise_branches(&mut self, pool: &mut Pool, select: Expr) -> Expr {
        let Node::Select(condition, yes, no) = pool.node(select) else { return select };
        let Some((k, positive)) = self.decided_by(pool, condition) else { return select };
        let yes = self.regularise_roots(pool, yes, k, positive);
        let no = self.regularise_roots(pool, no, k, !positive);
        pool.select(condition, yes, no)
    }

    /// The relation whose mode alone decides a condition, and whether it holds for positive values.
    fn decided_by(&self, pool: &mut Pool, condition: Expr) -> Option<(usize, bool)> {
        let Node::Compare(op, left, right) = pool.node(condition) else { return None };
        let difference = pool.sub(left, right);
        let negated = pool.neg(difference);
        let (k, same) = [(difference, true), (negated, false)].into_iter().find_map(|(side, same)| {
            let symbol = pool.as_symbol(side)?;
            Some((self.relations.iter().position(|r| r.mode == symbol)?, same))
        })?;
        match op {
            Cmp::Gt | Cmp::Ge => Some((k, same)),
            Cmp::Lt | Cmp::Le => Some((k, !same)),
            _ => None,
        }
    }

    /// A branch that holds on one side of relation `k`, with the roots of its function regularised.
    fn regularise_roots(&mut self, pool: &mut Pool, branch: Expr, k: usize, positive: bool) -> Expr {
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        for node in pool.reachable(&[branch]) {
            let args: Vec<Expr> =
                pool.children(node).iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
            let new = match self.one_sided_root(pool, node, k, positive) {
                Some(root) => root,
                None if args.as_slice() == pool.children(node) => continue,
                None => rebuilt(pool, node, &args),
            };
            replaced.insert(node, new);
        }
        replaced.get(&branch).copied().unwrap_or(branch)
    }

    /// The root (c·h)ʳ of a multiple of an event function, 0 < r < 1, as cʳ·h·(h² + w²)^((r − 1)/2).
    fn one_sided_root(&mut self, pool: &mut Pool, node: Expr, k: usize, positive: bool) -> Option<Expr> {
        let one = pool.one();
        let two = pool.int(2);
        let half = pool.div(one, two);
        let (base, exponent) = match pool.node(node) {
            Node::Power(base, exponent) => (base, exponent),
            Node::Call(Func::Sqrt, list) => (list[0], half),
            _ => return None,
        };
        pool.as_rational(exponent).filter(|r| **r > Rational::ZERO && **r < Rational::ONE)?;
        let factor = self.multiple(pool, base, k, positive)?;
        let relation = &mut self.relations[k];
        relation.one_sided = true;
        let width = *relation.width.get_or_insert_with(|| pool.fresh("width"));
        let (h, width) = (relation.function, pool.var(width));
        let squares = [h, width].map(|side| pool.pow(side, two));
        let square = pool.sum(&squares);
        let less = pool.sub(exponent, one);
        let less = pool.mul(half, less);
        let (flatter, factor) = (pool.pow(square, less), pool.pow(factor, exponent));
        let side = if positive { h } else { pool.neg(h) };
        Some(pool.product(&[factor, side, flatter]))
    }

    /// By how much an expression is a multiple of the size of an event function on one side of it.
    fn multiple(&self, pool: &mut Pool, e: Expr, k: usize, positive: bool) -> Option<Expr> {
        let (mode, h) = (self.relations[k].mode, self.relations[k].function);
        let factors = match pool.node(e) {
            Node::Product(list) => list.to_vec(),
            _ => vec![e],
        };
        let mut fixed = vec![pool.int(if positive { 1 } else { -1 })];
        let mut moving = Vec::new();
        for factor in factors {
            if pool.as_symbol(factor) == Some(mode) {
                fixed.push(fixed[0]);
            } else if self.is_fixed(pool, factor) {
                fixed.push(factor);
            } else {
                moving.push(factor);
            }
        }
        let moving = pool.product(&moving);
        let number = leading(pool, moving);
        let terms = match pool.node(moving) {
            Node::Sum(list) => list.to_vec(),
            _ => vec![moving],
        };
        let terms: Vec<Expr> = terms.into_iter().map(|term| pool.div(term, number)).collect();
        fixed.push(number);
        (pool.sum(&terms) == h).then(|| pool.product(&fixed))
    }
}
