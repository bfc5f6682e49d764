//! Choices decided at a point: near it, abs, sign, min, max and conditions
//! are what they are there.

use crate::node::{Expr, Func, Node, Symbol};
use crate::pool::Pool;
use crate::traverse::Memo;
use rustc_hash::FxHashMap;

/// What a node becomes near the point.
#[derive(Clone, Copy)]
enum Decided {
    /// Its argument of this number.
    Argument(usize),
    /// Minus its first argument.
    Opposite,
    /// A constant.
    Constant(i64),
}

impl Pool {
    /// Replaces every choice by the branch that holds at a point: `abs(x)` by
    /// x or −x, `sign(x)` by ±1, conditions and `min`, `max` by what is taken.
    /// A choice that stands on the border, or whose argument has no value
    /// there, stays as it is.
    pub fn decide_choices(&mut self, roots: &[Expr], value: &dyn Fn(Symbol) -> Option<f64>) -> Vec<Expr> {
        let order = self.reachable(roots);
        let mut values: Memo<f64> = Memo::for_nodes(&order);
        let mut decisions: Memo<Decided> = Memo::for_nodes(&order);
        for &node in &order {
            let of = |child: Expr| values.get(child).unwrap_or(f64::NAN);
            let number = match self.node(node) {
                Node::Symbol(s) => value(s).unwrap_or(f64::NAN),
                Node::Call(Func::Table(_), _) => f64::NAN,
                _ => self.apply(node, &of),
            };
            if let Some(decided) = self.decide(node, &of) {
                decisions.insert(node, decided);
            }
            values.insert(node, number);
        }
        self.rewrite_all(roots, |pool, node, args| {
            Some(match decisions.get(node)? {
                Decided::Argument(k) => args[k],
                Decided::Opposite => pool.neg(args[0]),
                Decided::Constant(i) => pool.int(i),
            })
        })
    }

    /// Returns what an expression is on each combination of branches of its choices, as [`Pool::decide_choices`]
    /// leaves one of them; nothing where it has none, or more than `most`.
    pub fn branches(&mut self, e: Expr, most: u32) -> Vec<Expr> {
        let is_choice = |node: &Expr| {
            matches!(
                self.node(*node),
                Node::Call(Func::Abs | Func::Sign | Func::Min | Func::Max, _) | Node::Select(..)
            )
        };
        let choices: Vec<Expr> = self.reachable(&[e]).into_iter().filter(is_choice).collect();
        if choices.is_empty() || choices.len() > most as usize {
            return Vec::new();
        }
        let places: FxHashMap<Expr, usize> = choices.iter().enumerate().map(|(k, node)| (*node, k)).collect();
        (0..1u64 << choices.len())
            .map(|taken| {
                self.rewrite(e, |pool, node, args| {
                    let second = taken >> places.get(&node)? & 1 == 1;
                    Some(match (pool.node(node), second) {
                        (Node::Call(Func::Sign, _), _) => pool.int(if second { -1 } else { 1 }),
                        (Node::Call(Func::Abs, _), true) => pool.neg(args[0]),
                        (Node::Select(..), _) => args[1 + usize::from(second)],
                        _ => args[usize::from(second)],
                    })
                })
            })
            .collect()
    }

    fn decide(&self, node: Expr, of: &dyn Fn(Expr) -> f64) -> Option<Decided> {
        match self.node(node) {
            Node::Call(f @ (Func::Abs | Func::Sign), args) => {
                let x = of(args[0]);
                let positive = if x > 0.0 {
                    true
                } else if x < 0.0 {
                    false
                } else {
                    return None;
                };
                Some(match (f, positive) {
                    (Func::Abs, true) => Decided::Argument(0),
                    (Func::Abs, false) => Decided::Opposite,
                    (_, true) => Decided::Constant(1),
                    (_, false) => Decided::Constant(-1),
                })
            }
            Node::Call(f @ (Func::Min | Func::Max), args) => {
                let (x, y) = (of(args[0]), of(args[1]));
                let first = if x < y {
                    f == Func::Min
                } else if x > y {
                    f == Func::Max
                } else {
                    return None;
                };
                Some(Decided::Argument(usize::from(!first)))
            }
            Node::Select(condition, ..) => {
                let holds = of(condition);
                let border = match self.node(condition) {
                    Node::Compare(_, a, b) => of(a) == of(b),
                    _ => false,
                };
                if holds.is_nan() || border {
                    return None;
                }
                Some(Decided::Argument(if holds != 0.0 { 1 } else { 2 }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_become_the_branch_that_holds() {
        let mut pool = Pool::new();
        let x = pool.symbol("x");
        let v = pool.var(x);
        let size = pool.call(Func::Abs, &[v]);
        let sign = pool.call(Func::Sign, &[v]);
        let sum = pool.add(size, sign);
        let at = |pool: &mut Pool, x: f64| {
            let decided = pool.decide_choices(&[sum], &|_| Some(x))[0];
            pool.display(decided).to_string()
        };
        assert_eq!(at(&mut pool, 2.0), "x + 1");
        assert_eq!(at(&mut pool, -2.0), "-x - 1");
        assert_eq!(at(&mut pool, 0.0), pool.display(sum).to_string());
        let all: Vec<String> =
            pool.branches(sum, 2).into_iter().map(|e| pool.display(e).to_string()).collect();
        assert_eq!(all, ["x + 1", "1 - x", "x - 1", "-x - 1"]);
        assert!(pool.branches(sum, 1).is_empty() && pool.branches(v, 2).is_empty());
    }
}
