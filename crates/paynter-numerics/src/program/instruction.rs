//! The instructions of a program: one operation on registers each.

/// What an instruction does with its operands a, b and c.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a·b
    Mul,
    /// a/b
    Div,
    /// -a
    Neg,
    /// a·b + c, rounded twice, so that every machine gives the same bits
    MulAdd,
    /// c - a·b, rounded twice
    NegMulAdd,
    /// Square root
    Sqrt,
    /// Cube root of a number that is not negative
    Cbrt,
    /// a^b for a base that is not negative
    Pow,
    /// a·b, and 0 where a is 0: the limit of x^k·ln(x)
    MulZero,
    /// b^c from a = b^(c+1)
    PowLess,
    /// a^b, where c is the logarithm of a
    PowLog,
    /// Sine
    Sin,
    /// Cosine
    Cos,
    /// Tangent
    Tan,
    /// Arc sine
    Asin,
    /// Arc cosine
    Acos,
    /// Arc tangent
    Atan,
    /// Angle of the point (b, a)
    Atan2,
    /// Hyperbolic sine
    Sinh,
    /// Hyperbolic cosine
    Cosh,
    /// Hyperbolic tangent
    Tanh,
    /// Inverse hyperbolic sine
    Asinh,
    /// Inverse hyperbolic cosine
    Acosh,
    /// Inverse hyperbolic tangent
    Atanh,
    /// Exponential
    Exp,
    /// Natural logarithm
    Ln,
    /// Logarithm to base ten
    Log10,
    /// Absolute value
    Abs,
    /// Sign: -1, 0 or 1
    Sign,
    /// Smaller of a and b
    Min,
    /// Larger of a and b
    Max,
    /// 1 where a < b, else 0
    Lt,
    /// 1 where a ≤ b, else 0
    Le,
    /// 1 where a = b, else 0
    Eq,
    /// 1 where a ≠ b, else 0
    Ne,
    /// b where a is not 0, else c
    Select,
    /// Value of table number b at a
    Table,
    /// Writes a to result number `dst`
    Store,
}

impl Op {
    /// Tells whether a and b may be exchanged.
    pub fn commutes(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::Min | Op::Max | Op::Eq | Op::Ne)
    }

    /// The number of operands that are registers.
    pub fn arity(self) -> usize {
        match self {
            Op::MulAdd | Op::NegMulAdd | Op::PowLess | Op::PowLog | Op::Select => 3,
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Pow
            | Op::MulZero
            | Op::Atan2
            | Op::Min
            | Op::Max
            | Op::Lt
            | Op::Le
            | Op::Eq
            | Op::Ne => 2,
            _ => 1,
        }
    }
}

/// One operation on registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What is done.
    pub op: Op,
    /// The register that gets the result; of a store, the number of the result.
    pub dst: u32,
    /// First operand.
    pub a: u32,
    /// Second operand; of a table its number.
    pub b: u32,
    /// Third operand.
    pub c: u32,
}

impl Instruction {
    /// Lists the operands that are registers.
    pub fn operands(&self) -> impl Iterator<Item = u32> + use<> {
        [self.a, self.b, self.c].into_iter().take(self.op.arity())
    }
}
