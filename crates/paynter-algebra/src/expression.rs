//! An expression that stands by itself: with the pool that it lives in, it can be handed to anybody.

use crate::{EvalError, Expr, Pool, Target};
use std::sync::Arc;

/// An expression to be printed, differentiated and evaluated without a thought of pools.
#[derive(Clone)]
pub struct Expression {
    pool: Arc<Pool>,
    expr: Expr,
}

impl Expression {
    /// Takes an expression out of a frozen pool.
    pub fn new(pool: Arc<Pool>, expr: Expr) -> Expression {
        Expression { pool, expr }
    }

    /// Writes it in a notation.
    pub fn written(&self, target: Target) -> String {
        self.pool.print(self.expr, target).to_string()
    }

    /// The names of its symbols, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.pool.symbols(self.expr).into_iter().map(|symbol| self.pool.name(symbol)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Its derivative by the symbol of a name; zero where no symbol has it.
    #[must_use]
    pub fn derivative(&self, name: &str) -> Expression {
        let mut pool = Pool::over(&self.pool);
        let symbols = self.pool.symbols(self.expr).into_iter();
        let parts: Vec<Expr> = symbols
            .filter(|symbol| self.pool.name(*symbol) == name)
            .map(|symbol| pool.diff(self.expr, symbol))
            .collect();
        let expr = pool.sum(&parts);
        Expression { pool: Arc::new(pool), expr }
    }

    /// Its value where `value` tells those of its symbols by name.
    pub fn evaluate(&self, value: &dyn Fn(&str) -> Option<f64>) -> Result<f64, EvalError> {
        self.pool.eval(self.expr, &|symbol| value(self.pool.name(symbol)))
    }
}

impl std::fmt::Display for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pool.display(self.expr).fmt(f)
    }
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Expression({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_printed_differentiated_and_evaluated_by_names() {
        let mut pool = Pool::new();
        let [a, x] = ["a", "x"].map(|name| pool.symbol(name)).map(|symbol| pool.var(symbol));
        let cube = pool.product(&[a, x, x, x]);
        let law = Expression::new(Arc::new(pool), cube);
        assert_eq!(law.to_string(), "a*x^3");
        assert_eq!(law.names(), ["a", "x"]);
        let partial = law.derivative("x");
        assert_eq!(partial.to_string(), "3*a*x^2");
        let value = |name: &str| Some(if name == "a" { 2.0 } else { 5.0 });
        assert_eq!(partial.evaluate(&value), Ok(150.0));
        assert_eq!(law.derivative("y").to_string(), "0");
    }
}
