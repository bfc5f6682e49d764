//! The quantities around elements and bonds: parameters, inputs, outputs,
//! signals, tables. Plain data.

use std::ops::Deref;

use paynter_algebra::{Expr, Pool, Rational, Symbol};
use paynter_base::Span;

use crate::dimension::Unit;
use crate::share::CopyOnWrite;

/// An independent parameter: its declaration and its value.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// What is declared.
    pub declaration: CopyOnWrite<ParameterDeclaration>,
    /// Its exact value in SI.
    pub value: Value,
    /// The same as a number.
    pub number: f64,
}

impl Parameter {
    /// A value in SI, in the unit that the parameter is declared in.
    pub fn in_declared_unit(&self, number: f64) -> f64 {
        self.unit.as_ref().map_or(number, |unit| number / unit.factor)
    }
}

impl Deref for Parameter {
    type Target = ParameterDeclaration;

    fn deref(&self) -> &ParameterDeclaration {
        &self.declaration
    }
}

/// The exact value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// As the model has it: an expression without symbols.
    Written(Expr),
    /// As it was given afterwards.
    Given(Rational),
}

impl Value {
    /// The value as an expression.
    pub fn expr(&self, pool: &mut Pool) -> Expr {
        match self {
            Value::Written(expr) => *expr,
            Value::Given(number) => pool.number(number.clone()),
        }
    }
}

/// What a model says of an independent parameter beside its value.
#[derive(Debug, Clone)]
pub struct ParameterDeclaration {
    /// Its flattened name.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// Its unit.
    pub unit: Option<Unit>,
    /// How far it may be off.
    pub tolerance: Option<Tolerance>,
    /// Bounds for estimation, in SI.
    pub bounds: Option<(f64, f64)>,
    /// What it is.
    pub doc: Option<String>,
    /// Where it is declared.
    pub span: Span,
    /// Where its value stands, if an argument of a submodel gives it.
    pub given: Option<Span>,
}

/// A parameter's tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// A fraction of the value: 0.1 for ±10%.
    Relative(f64),
    /// A deviation in SI.
    Absolute(f64),
}

/// A parameter defined from others.
#[derive(Debug, Clone)]
pub struct Derived {
    /// Its flattened name.
    pub name: String,
    /// Its value over independent parameters.
    pub value: Expr,
    /// Its unit.
    pub unit: Option<Unit>,
    /// Where it is declared.
    pub span: Span,
}

/// An input.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its flattened name.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// Its default over time, in SI.
    pub value: Expr,
    /// Whether somebody has written that; it is zero where nobody has.
    pub given: bool,
    /// Its unit.
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: Option<String>,
    /// Where it is declared.
    pub span: Span,
}

/// An output.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its flattened name.
    pub name: String,
    /// Its expression, in SI.
    pub value: Expr,
    /// The unit it is reported in.
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: Option<String>,
    /// Where it is declared.
    pub span: Span,
}

/// An algebraic signal.
#[derive(Debug, Clone)]
pub struct Signal {
    /// Its flattened name.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// Its expression.
    pub value: Expr,
    /// Where it is declared.
    pub span: Span,
}

/// A signal state: x' = rate, x(0) = initial.
#[derive(Debug, Clone)]
pub struct Integrator {
    /// The state's name: the signal's own where the signal is nothing but the integral.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// What is integrated.
    pub rate: Expr,
    /// The value at time zero, over parameters.
    pub initial: Expr,
    /// Where it stands.
    pub span: Span,
}

/// `table("file.csv", column)`
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Path in the model's folder tree.
    pub path: String,
    /// Column by its heading.
    pub column: String,
    /// Where it stands.
    pub span: Span,
}

/// The samples of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// The file they come from.
    pub path: String,
    /// The column.
    pub column: String,
    /// Rising times.
    pub times: Vec<f64>,
    /// The values at these times.
    pub values: Vec<f64>,
}
