//! Printers: one walker that knows precedence, one table of spellings for each target.

mod dialect;
mod order;
mod walk;

use crate::node::{Expr, Symbol};
use crate::pool::Pool;
pub use dialect::Dialect;
use std::fmt;

/// An expression ready to be written in a target's notation.
pub struct Printed<'a> {
    pool: &'a Pool,
    root: Expr,
    dialect: &'static Dialect,
    name: Option<&'a dyn Fn(Symbol) -> String>,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        walk::write(self.pool, self.dialect, self.name, self.root, f)
    }
}

impl Pool {
    /// Writes an expression as plain infix text that the model language and computer algebra systems read.
    pub fn display(&self, e: Expr) -> Printed<'_> {
        Printed { pool: self, root: e, dialect: &dialect::TEXT, name: None }
    }
}
