//! Printers: one walker that knows precedence, one table of spellings for each target.

mod decimal;
mod dialect;
mod name;
mod order;
mod walk;

use crate::limits::BRIEF_NODES;
use crate::node::{Expr, Symbol};
use crate::pool::Pool;
use dialect::Dialect;
pub use name::{greek_name, latex_name, mathml_name};
pub(crate) use order::has_long_numbers;
use std::fmt;

/// A notation that expressions are written in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// Plain infix text, as the model language and computer algebra systems read it.
    Text,
    /// LaTeX in mathematics mode.
    Latex,
    /// Presentation MathML, without the enclosing `math` element.
    MathMl,
    /// Python with NumPy as `np`.
    Python,
    /// MATLAB and Octave; a choice is `ifelse(condition, a, b)`, which the program must define.
    Matlab,
    /// C with `math.h`; the sign is `sign(x)`, which the program must define.
    C,
    /// Julia.
    Julia,
}

impl Target {
    fn dialect(self) -> &'static Dialect {
        match self {
            Target::Text => &dialect::TEXT,
            Target::Latex => &dialect::LATEX,
            Target::MathMl => &dialect::MATHML,
            Target::Python => &dialect::PYTHON,
            Target::Matlab => &dialect::MATLAB,
            Target::C => &dialect::C,
            Target::Julia => &dialect::JULIA,
        }
    }
}

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

/// Counts what is written, up to a limit at which writing ends.
struct Length {
    written: usize,
    limit: usize,
}

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.written += text.len();
        if self.written > self.limit { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Pool {
    /// Writes an expression as plain infix text that the model language and computer algebra systems read.
    pub fn display(&self, e: Expr) -> Printed<'_> {
        self.print(e, Target::Text)
    }

    /// Writes an expression as plain text for a message: as an ellipsis where nobody would read it.
    pub fn brief(&self, e: Expr) -> String {
        if self.written_size(&[e]) > BRIEF_NODES { "…".to_owned() } else { self.display(e).to_string() }
    }

    /// How many bytes an expression has as plain text; nothing where they are more than a limit.
    pub fn written_length(&self, e: Expr, limit: usize) -> Option<usize> {
        let mut length = Length { written: 0, limit };
        walk::write(self, &dialect::TEXT, None, e, &mut length).ok()?;
        Some(length.written)
    }

    /// Writes an expression for a target, with its symbols typeset (LaTeX, MathML) or as they are named.
    pub fn print(&self, e: Expr, target: Target) -> Printed<'_> {
        Printed { pool: self, root: e, dialect: target.dialect(), name: None }
    }

    /// Writes an expression for a target with the caller's spelling of each symbol.
    pub fn print_with<'a>(
        &'a self,
        e: Expr,
        target: Target,
        name: &'a dyn Fn(Symbol) -> String,
    ) -> Printed<'a> {
        Printed { pool: self, root: e, dialect: target.dialect(), name: Some(name) }
    }
}
