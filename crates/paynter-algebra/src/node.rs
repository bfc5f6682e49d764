//! The shapes of expressions: handles, functions, and the view of a node that callers match on.

use crate::Rational;

/// Names an expression in its [`Pool`](crate::Pool); equal handles are equal expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expr(pub(crate) u32);

/// Names a symbol in its [`Pool`](crate::Pool).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub(crate) u32);

impl Expr {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Symbol {
    /// Returns the number of symbols made before this one, for indexing tables of symbols.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function of the model language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Func {
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Angle of the point (x, y), called as `atan2(y, x)`.
    Atan2,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Logarithm to base ten.
    Log10,
    /// Square root; a pool stores it as a power, so no node carries it.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Sign: -1, 0 or 1.
    Sign,
    /// Smaller of two values.
    Min,
    /// Larger of two values.
    Max,
    /// Measured signal, by its number in the model; the argument is the time.
    Table(u32),
}

impl Func {
    const PLAIN: [Func; 21] = [
        Func::Sin,
        Func::Cos,
        Func::Tan,
        Func::Asin,
        Func::Acos,
        Func::Atan,
        Func::Atan2,
        Func::Sinh,
        Func::Cosh,
        Func::Tanh,
        Func::Asinh,
        Func::Acosh,
        Func::Atanh,
        Func::Exp,
        Func::Ln,
        Func::Log10,
        Func::Sqrt,
        Func::Abs,
        Func::Sign,
        Func::Min,
        Func::Max,
    ];

    /// Returns the function's name in the model language (`table` for every table).
    pub fn name(self) -> &'static str {
        match self {
            Func::Sin => "sin",
            Func::Cos => "cos",
            Func::Tan => "tan",
            Func::Asin => "asin",
            Func::Acos => "acos",
            Func::Atan => "atan",
            Func::Atan2 => "atan2",
            Func::Sinh => "sinh",
            Func::Cosh => "cosh",
            Func::Tanh => "tanh",
            Func::Asinh => "asinh",
            Func::Acosh => "acosh",
            Func::Atanh => "atanh",
            Func::Exp => "exp",
            Func::Ln => "ln",
            Func::Log10 => "log10",
            Func::Sqrt => "sqrt",
            Func::Abs => "abs",
            Func::Sign => "sign",
            Func::Min => "min",
            Func::Max => "max",
            Func::Table(_) => "table",
        }
    }

    /// Finds the function of this name in the model language; tables have none of their own.
    pub fn from_name(name: &str) -> Option<Func> {
        Func::PLAIN.into_iter().find(|f| f.name() == name)
    }

    /// Returns the number of arguments the function takes.
    pub fn arity(self) -> usize {
        match self {
            Func::Atan2 | Func::Min | Func::Max => 2,
            _ => 1,
        }
    }

    /// Encodes the function as a tag and a number for storage in a node.
    pub(crate) fn encode(self) -> (u8, u32) {
        match self {
            Func::Table(table) => (Func::PLAIN.len() as u8, table),
            plain => (Func::PLAIN.iter().position(|f| *f == plain).unwrap_or(0) as u8, 0),
        }
    }

    pub(crate) fn decode(tag: u8, table: u32) -> Func {
        Func::PLAIN.get(usize::from(tag)).copied().unwrap_or(Func::Table(table))
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cmp {
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
}

impl Cmp {
    pub(crate) const ALL: [Cmp; 6] = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Eq, Cmp::Ne];

    /// Returns the comparison that holds exactly where this one does not.
    pub fn negated(self) -> Cmp {
        match self {
            Cmp::Lt => Cmp::Ge,
            Cmp::Le => Cmp::Gt,
            Cmp::Gt => Cmp::Le,
            Cmp::Ge => Cmp::Lt,
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
        }
    }

    /// Returns the comparison with its operands exchanged.
    pub fn mirrored(self) -> Cmp {
        match self {
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            equality => equality,
        }
    }

    /// Tells whether the comparison holds above the threshold; an equality holds on neither side.
    pub fn is_above(self) -> Option<bool> {
        match self {
            Cmp::Gt | Cmp::Ge => Some(true),
            Cmp::Lt | Cmp::Le => Some(false),
            Cmp::Eq | Cmp::Ne => None,
        }
    }

    /// Tells whether the comparison holds for operands in this order.
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Cmp::Lt => ordering.is_lt(),
            Cmp::Le => ordering.is_le(),
            Cmp::Gt => ordering.is_gt(),
            Cmp::Ge => ordering.is_ge(),
            Cmp::Eq => ordering.is_eq(),
            Cmp::Ne => ordering.is_ne(),
        }
    }
}

/// One node of an expression, borrowed from its pool for matching.
///
/// A product's number, if any, is its first factor; a sum's is its first term. A quotient is a product with
/// negative powers, a square root a power with exponent 1/2, a difference a sum with negative coefficients.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node<'a> {
    /// Exact constant.
    Number(&'a Rational),
    /// The number pi.
    Pi,
    /// Variable or parameter.
    Symbol(Symbol),
    /// Sum of at least two terms, none of which is a sum.
    Sum(&'a [Expr]),
    /// Product of at least two factors, none of which is a product.
    Product(&'a [Expr]),
    /// Base and exponent.
    Power(Expr, Expr),
    /// Function and its arguments.
    Call(Func, &'a [Expr]),
    /// Constant condition.
    Truth(bool),
    /// Comparison of two values.
    Compare(Cmp, Expr, Expr),
    /// Both conditions.
    And(Expr, Expr),
    /// Either condition.
    Or(Expr, Expr),
    /// Opposite of a condition.
    Not(Expr),
    /// Condition, value where it holds, value where it does not.
    Select(Expr, Expr, Expr),
}
