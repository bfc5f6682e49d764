//! Expressions as the generator writes them: a plain tree that prints as
//! model text and evaluates in any number system of [`crate::number`].

use crate::number::Number;
use std::cmp::Ordering;
use std::fmt;

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A fraction.
    Ratio(i64, i64),
    /// A parameter, input, signal, port variable or state, as written.
    Name(String),
    /// A sum, difference, product or quotient.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A power.
    Power(Box<Expr>, Box<Expr>),
    /// A negative.
    Negative(Box<Expr>),
    /// A function's value.
    Call(Function, Box<Expr>),
    /// `if(a > b, c, d)`.
    Choice(Box<[Expr; 4]>),
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
}

/// The functions that laws of random models use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// `sin`
    Sin,
    /// `cos`
    Cos,
    /// `tanh`
    Tanh,
    /// `exp`
    Exp,
    /// `ln`
    Ln,
    /// `sqrt`
    Sqrt,
    /// `abs`
    Abs,
    /// `sign`
    Sign,
}

impl Function {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tanh => "tanh",
            Function::Exp => "exp",
            Function::Ln => "ln",
            Function::Sqrt => "sqrt",
            Function::Abs => "abs",
            Function::Sign => "sign",
        }
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::Ratio(value, 1)
    }
}

impl From<&str> for Expr {
    fn from(name: &str) -> Expr {
        Expr::Name(name.to_owned())
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:ident) => {
        impl<T: Into<Expr>> std::ops::$trait<T> for Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::Binary(Operator::$operator, Box::new(self), Box::new(other.into()))
            }
        }
    };
}
operator!(Add, add, Add);
operator!(Sub, sub, Sub);
operator!(Mul, mul, Mul);
operator!(Div, div, Div);

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::Negative(Box::new(self))
    }
}

impl Expr {
    /// A name.
    pub fn name(name: impl Into<String>) -> Expr {
        Expr::Name(name.into())
    }

    /// A power.
    pub fn pow(self, exponent: impl Into<Expr>) -> Expr {
        Expr::Power(Box::new(self), Box::new(exponent.into()))
    }

    /// A function's value.
    pub fn call(function: Function, argument: Expr) -> Expr {
        Expr::Call(function, Box::new(argument))
    }

    /// Evaluates; `lookup` knows the names.
    pub fn evaluate<N: Number>(&self, lookup: &dyn Fn(&str) -> Option<N>) -> Option<N> {
        match self {
            Expr::Ratio(above, below) => Some(N::ratio(*above, *below)),
            Expr::Name(name) => lookup(name),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(lookup)?, right.evaluate(lookup)?);
                match operator {
                    Operator::Add => Some(left.add(&right)),
                    Operator::Sub => Some(left.sub(&right)),
                    Operator::Mul => left.mul(&right),
                    Operator::Div => left.div(&right),
                }
            }
            Expr::Power(base, exponent) => {
                let base = base.evaluate(lookup)?;
                match **exponent {
                    Expr::Ratio(whole, 1) => base.powi(whole),
                    _ => base.power(&exponent.evaluate(lookup)?),
                }
            }
            Expr::Negative(inner) => Some(inner.evaluate(lookup)?.neg()),
            Expr::Call(function, argument) => argument.evaluate(lookup)?.apply(*function),
            Expr::Choice(parts) => {
                let [left, right, yes, no] = &**parts;
                let greater = left.evaluate(lookup)?.order(&right.evaluate(lookup)?)? == Ordering::Greater;
                if greater { yes.evaluate(lookup) } else { no.evaluate(lookup) }
            }
        }
    }

    /// Visits every name in it.
    pub fn names(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Expr::Ratio(..) => {}
            Expr::Name(name) => visit(name),
            Expr::Binary(_, left, right) | Expr::Power(left, right) => {
                left.names(visit);
                right.names(visit);
            }
            Expr::Negative(inner) | Expr::Call(_, inner) => inner.names(visit),
            Expr::Choice(parts) => parts.iter().for_each(|part| part.names(visit)),
        }
    }

    /// Replaces names by expressions.
    #[must_use]
    pub fn replace(&self, with: &dyn Fn(&str) -> Option<Expr>) -> Expr {
        let again = |inner: &Expr| Box::new(inner.replace(with));
        match self {
            Expr::Ratio(..) => self.clone(),
            Expr::Name(name) => with(name).unwrap_or_else(|| self.clone()),
            Expr::Binary(operator, left, right) => Expr::Binary(*operator, again(left), again(right)),
            Expr::Power(base, exponent) => Expr::Power(again(base), again(exponent)),
            Expr::Negative(inner) => Expr::Negative(again(inner)),
            Expr::Call(function, inner) => Expr::Call(*function, again(inner)),
            Expr::Choice(parts) => {
                let [left, right, yes, no] = &**parts;
                let new = [left, right, yes, no].map(|part| part.replace(with));
                Expr::Choice(Box::new(new))
            }
        }
    }

    /// How tightly it binds: 1 sums and negatives, 2 products, 3 powers, 4 the rest.
    fn binding(&self) -> u8 {
        match self {
            Expr::Ratio(above, _) if *above < 0 => 1,
            Expr::Ratio(above, below) => {
                if decimal(*above, *below).is_some() {
                    4
                } else {
                    2
                }
            }
            Expr::Binary(Operator::Add | Operator::Sub, ..) | Expr::Negative(_) => 1,
            Expr::Binary(..) => 2,
            Expr::Power(..) => 3,
            Expr::Name(_) | Expr::Call(..) | Expr::Choice(_) => 4,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.binding() < least {
            f.write_str("(")?;
            self.write(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Expr::Ratio(above, below) => match decimal(*above, *below) {
                Some(text) => f.write_str(&text),
                None => write!(f, "{above}/{below}"),
            },
            Expr::Name(name) => f.write_str(name),
            Expr::Binary(operator, left, right) => {
                let (text, least_left, least_right) = match operator {
                    Operator::Add => (" + ", 1, 2),
                    Operator::Sub => (" - ", 1, 2),
                    Operator::Mul => ("*", 2, 3),
                    Operator::Div => ("/", 2, 3),
                };
                left.write(f, least_left)?;
                f.write_str(text)?;
                right.write(f, least_right)
            }
            Expr::Power(base, exponent) => {
                base.write(f, 4)?;
                f.write_str("^")?;
                exponent.write(f, 3)
            }
            Expr::Negative(inner) => {
                f.write_str("-")?;
                inner.write(f, 2)
            }
            Expr::Call(function, argument) => {
                write!(f, "{}(", function.word())?;
                argument.write(f, 0)?;
                f.write_str(")")
            }
            Expr::Choice(parts) => {
                let [left, right, yes, no] = &**parts;
                write!(f, "if({left} > {right}, {yes}, {no})")
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// Writes a fraction as a decimal where that is exact within six places.
fn decimal(above: i64, below: i64) -> Option<String> {
    if below <= 0 || 1_000_000 % below != 0 {
        return None;
    }
    let scaled = above.unsigned_abs() * (1_000_000 / below.unsigned_abs());
    let (whole, rest) = (scaled / 1_000_000, scaled % 1_000_000);
    let sign = if above < 0 { "-" } else { "" };
    if rest == 0 {
        return Some(format!("{sign}{whole}"));
    }
    let digits = format!("{rest:06}");
    Some(format!("{sign}{whole}.{}", digits.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_means() {
        let x = || Expr::from("x");
        for (expression, text) in [
            ((x() + 1) * 2, "(x + 1)*2"),
            (x() - (x() - 1), "x - (x - 1)"),
            (-(x() * 2).pow(2), "-(x*2)^2"),
            ((-x()).pow(2), "(-x)^2"),
            (x() / (x() * 3), "x/(x*3)"),
            (x() * Expr::Ratio(-1, 4), "x*(-0.25)"),
            (x() + Expr::Ratio(1, 3) * x(), "x + 1/3*x"),
            (x().pow(x().pow(2)), "x^x^2"),
            (x() - -x(), "x - (-x)"),
        ] {
            assert_eq!(expression.to_string(), text);
        }
    }
}
