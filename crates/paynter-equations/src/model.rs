//! The equations of a model, as data.
//!
//! x' = f(x, z, u, u', …, p, t), 0 = r(x, z, u, p, t), y = g(x, z, u, u', …, p, t)
//!
//! with states x, implicit unknowns z (absent in most models), inputs u,
//! parameters p. All expressions are over the symbols listed here, the
//! graph's independent parameters and time; nothing else is left in them.

use crate::Reduction;
use paynter_algebra::{Expr, Symbol};
use paynter_graph::{CopyOnWrite, ElementId, Guards, Variable};

/// The equations of a model.
#[derive(Debug, Clone)]
pub struct Equations {
    /// Independent states, storages in text order, then signal integrators.
    pub states: Vec<State>,
    /// The rate of each state.
    pub rates: Vec<Expr>,
    /// Unknowns that are given only implicitly, with the equations that determine them.
    pub constraints: Vec<Constraint>,
    /// Inputs, in text order.
    pub inputs: Vec<Input>,
    /// Outputs, in text order, in SI.
    pub outputs: Vec<Output>,
    /// States of dependent storages, expressed by the others.
    pub dependent: Vec<Dependent>,
    /// How each effort, flow and signal is computed, in the order of computation.
    pub assignments: Vec<Assignment>,
    /// What was known before the rates of dependent storages were eliminated, where there are any.
    pub reduction: Option<Reduction>,
    /// Linear systems that algebraic loops were solved by, which may be singular at some values of parameters.
    pub loops: Vec<LinearLoop>,
    /// What they take for granted about the values of parameters.
    pub guards: CopyOnWrite<Guards>,
}

/// The linear system of an algebraic loop.
#[derive(Debug, Clone)]
pub struct LinearLoop {
    /// What it is called in messages.
    pub what: &'static str,
    /// The rows of its matrix, entries by column.
    pub rows: Vec<Vec<(usize, Expr)>>,
    /// The elements that make it.
    pub elements: Vec<ElementId>,
}

/// An independent state.
#[derive(Debug, Clone)]
pub struct State {
    /// `rotor.p`, `tank.q`, a signal's own name.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// What it belongs to: a storage's port or an integrator.
    pub variable: Variable,
    /// Its value at time zero, over parameters.
    pub initial: Expr,
}

/// An implicit unknown: residual = 0 determines it together with the others.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// The unknown's name: `valve.f`.
    pub name: String,
    /// Its symbol.
    pub unknown: Symbol,
    /// Zero at the solution.
    pub residual: Expr,
    /// The elements it comes from.
    pub elements: Vec<ElementId>,
    /// Whether the unknown is the rate of a state, which differentiation has brought in.
    pub is_rate: bool,
}

/// An input with the symbols of its derivatives, as far as the equations need them.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its symbol, then those of u', u'' …
    pub symbols: Vec<Symbol>,
    /// Its default over time.
    pub value: Expr,
}

/// An output.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its expression.
    pub value: Expr,
}

/// The state of a dependent storage.
#[derive(Debug, Clone)]
pub struct Dependent {
    /// `tank2.q`
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// The storage.
    pub element: ElementId,
    /// Its port.
    pub port: usize,
    /// Its value by the independent states, inputs and implicit unknowns.
    pub value: Expr,
    /// The value the model gives it at time zero, if any.
    pub initial: Option<Expr>,
}

/// One effort, flow or signal: as its own element computes it, and in the end.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// What is computed.
    pub variable: Variable,
    /// Its symbol.
    pub symbol: Symbol,
    /// The element that computes it; none for signals.
    pub element: Option<ElementId>,
    /// Over its direct inputs.
    pub definition: Expr,
    /// Over states, inputs, implicit unknowns and parameters.
    pub value: Expr,
}

/// A linear model: x' = A x + Σ B_k u^(k) + a, y = C x + Σ D_k u^(k) + c.
#[derive(Debug, Clone)]
pub struct StateSpace {
    /// State matrix, row by row as (row, column, entry), entries that are not zero.
    pub a: Sparse,
    /// Input matrices: B of u, then of u', u'' …
    pub b: Vec<Sparse>,
    /// Output matrix.
    pub c: Sparse,
    /// Feed-through matrices: D of u, then of u', u'' …
    pub d: Vec<Sparse>,
    /// Constant terms of the rates and of the outputs (a source of constant value, gravity).
    pub offset: (Vec<Expr>, Vec<Expr>),
}

impl StateSpace {
    /// The entries of all matrices.
    pub fn entries(&self) -> Vec<Expr> {
        let matrices = [&self.a, &self.c].into_iter().chain(&self.b).chain(&self.d);
        matrices.flat_map(|matrix| matrix.entries.iter().map(|(_, _, entry)| *entry)).collect()
    }
}

/// A sparse matrix of expressions.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries that are not zero, ordered by row, then column.
    pub entries: Vec<(usize, usize, Expr)>,
}
