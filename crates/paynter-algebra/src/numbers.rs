//! Expressions in numbers: symbols replaced by their values, and what is constant then evaluated.

use crate::node::{Expr, Func, Node, Symbol};
use crate::pool::Pool;
use crate::traverse::Memo;

impl Pool {
    /// Replaces symbols by their values and evaluates every part that is constant then; numbers as they are
    /// written stay exact. The cost is linear in the number of nodes.
    pub fn in_numbers(&mut self, roots: &[Expr], value: &dyn Fn(Symbol) -> Option<f64>) -> Vec<Expr> {
        let order = self.reachable(roots);
        let mut values: Memo<f64> = Memo::for_nodes(&order);
        for node in &order {
            let of = |child: Expr| values.get(child).unwrap_or(f64::NAN);
            let found = match self.node(*node) {
                Node::Symbol(symbol) => value(symbol).unwrap_or(f64::NAN),
                Node::Call(Func::Table(_), _) => f64::NAN,
                _ if self.is_boolean(*node) => f64::NAN,
                _ => self.apply(*node, &of),
            };
            if found.is_finite() {
                values.insert(*node, found);
            }
        }
        self.rewrite_all(roots, |pool, node, _| {
            let constant = values.get(node).filter(|_| pool.as_rational(node).is_none())?;
            // The last two digits of a double are rounding: 0.8*0.8 is 0.64.
            pool.decimal(&format!("{constant:.14e}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_numbers_and_states_stay() {
        let mut pool = Pool::new();
        let [x, k, m] = ["x", "k", "m"].map(|name| pool.symbol(name));
        let [vx, vk, vm] = [x, k, m].map(|symbol| pool.var(symbol));
        let square = pool.call(Func::Sqrt, &[vm]);
        let third = pool.div(pool.one(), square);
        let e = pool.product(&[vk, vx, third]);
        let values =
            move |symbol: Symbol| [(k, 3.0), (m, 4.0)].iter().find(|(s, _)| *s == symbol).map(|v| v.1);
        let found = pool.in_numbers(&[e, vk, vx], &values);
        pool.write_for_people();
        let texts: Vec<String> = found.iter().map(|e| pool.display(*e).to_string()).collect();
        assert_eq!(texts, ["1.5*x", "3", "x"]);
        let seventh = pool.decimal("0.142857142857").unwrap();
        pool.round_to_digits(6);
        assert_eq!(pool.display(seventh).to_string(), "0.142857");
    }
}
