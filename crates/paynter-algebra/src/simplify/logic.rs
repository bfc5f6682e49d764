//! Conditions and the choice between values.

use crate::node::{Cmp, Expr, Node};
use crate::pool::{Head, Pool, Tag};

impl Pool {
    /// Makes a comparison.
    pub fn compare(&mut self, op: Cmp, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (self.as_rational(a), self.as_rational(b)) {
            let holds = op.holds(x.cmp(y));
            return self.truth(holds);
        }
        if a == b && a != self.undefined() {
            return self.truth(op.holds(std::cmp::Ordering::Equal));
        }
        self.intern(Head { tag: Tag::Compare, sub: op as u8, data: 0 }, &[a, b])
    }

    /// Makes the condition that holds where both do.
    pub fn and(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.node(a), self.node(b)) {
            (Node::Truth(true), _) => b,
            (Node::Truth(false), _) => a,
            (_, Node::Truth(true)) => a,
            (_, Node::Truth(false)) => b,
            _ if a == b => a,
            _ => self.intern(Head::plain(Tag::And), &[a, b]),
        }
    }

    /// Makes the condition that holds where either does.
    pub fn or(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.node(a), self.node(b)) {
            (Node::Truth(true), _) => a,
            (Node::Truth(false), _) => b,
            (_, Node::Truth(true)) => b,
            (_, Node::Truth(false)) => a,
            _ if a == b => a,
            _ => self.intern(Head::plain(Tag::Or), &[a, b]),
        }
    }

    /// Makes the opposite of a condition.
    pub fn not(&mut self, a: Expr) -> Expr {
        match self.node(a) {
            Node::Truth(value) => self.truth(!value),
            Node::Not(inner) => inner,
            Node::Compare(op, x, y) => self.compare(op.negated(), x, y),
            _ => self.intern(Head::plain(Tag::Not), &[a]),
        }
    }

    /// Makes the value `a` where the condition holds and `b` elsewhere.
    pub fn select(&mut self, condition: Expr, a: Expr, b: Expr) -> Expr {
        match self.node(condition) {
            Node::Truth(true) => a,
            Node::Truth(false) => b,
            _ if a == b => a,
            _ => self.intern(Head::plain(Tag::Select), &[condition, a, b]),
        }
    }
}
