//! Takes expressions over from another pool.

use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use crate::traverse::Memo;

impl Pool {
    /// Makes an expression of another pool in this one; `symbol` tells what its symbols are called here.
    pub fn import(
        &mut self,
        other: &Pool,
        root: Expr,
        symbol: &mut dyn FnMut(&mut Pool, Symbol) -> Symbol,
    ) -> Expr {
        let order = other.reachable(&[root]);
        let mut made: Memo<Expr> = Memo::for_nodes(&order);
        let mut last = self.zero();
        for node in order {
            // Every child has been made before its parent.
            let of = |child: Expr| made.get(child).unwrap_or(last);
            let args: Vec<Expr> = other.children(node).iter().map(|child| of(*child)).collect();
            let new = match other.node(node) {
                Node::Number(number) => self.number(number.clone()),
                Node::Pi => self.pi(),
                Node::Truth(value) => self.truth(value),
                Node::Symbol(s) => {
                    let s = symbol(self, s);
                    self.var(s)
                }
                Node::Sum(_) => self.sum(&args),
                Node::Product(_) => self.product(&args),
                Node::Call(f, _) => self.call(f, &args),
                Node::Power(a, b) => self.pow(of(a), of(b)),
                Node::Compare(op, a, b) => self.compare(op, of(a), of(b)),
                Node::And(a, b) => self.and(of(a), of(b)),
                Node::Or(a, b) => self.or(of(a), of(b)),
                Node::Not(a) => self.not(of(a)),
                Node::Select(c, a, b) => self.select(of(c), of(a), of(b)),
            };
            made.insert(node, new);
            last = new;
        }
        // A parent is made after its children, so the root comes last.
        last
    }
}
