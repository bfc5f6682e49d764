//! The standard interconnection model as data.

use std::ops::Range;

use paynter_algebra::{Expr, Symbol};
use paynter_equations::Sparse;
use paynter_graph::ElementId;
use paynter_transform::Split;

use crate::posed::{Posed, Singular};

/// Where the auxiliary inputs of two-ports stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Procedure {
    /// At what the element gives out: z is the outgoing variable of the nominal element, w that of the uncertain one
    /// beside it.
    #[default]
    New,
    /// At what enters a TF or GY, before its modulus; one-ports as in the new procedure.
    Existing,
}

/// What to make.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Where auxiliary inputs stand.
    pub procedure: Procedure,
    /// Scale every δ to abs(δ) ≤ 1 by the tolerance of its parameter.
    pub normalized: bool,
    /// The uncertain parameters, as places in the graph's list.
    pub parameters: Vec<usize>,
    /// Inputs and outputs may be left out, as stability does not ask for them, where the equations read derivatives of
    /// inputs.
    pub may_stand_alone: bool,
}

/// What δ of a block is, with Δp the absolute change of its quantity p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Uncertainty {
    /// Δp/p.
    Relative,
    /// −Δp/(p + Δp), where the model only ever divides by p.
    Reciprocal,
    /// Δp, where the nominal value is zero.
    Absolute,
    /// Δp/(r p) with the relative tolerance r, negative where p is, so that δ = 1 is the upper end: within ±1.
    Scaled(f64),
    /// Δp/t with the absolute tolerance t, where the nominal value is zero: within ±1.
    ScaledAbsolute(f64),
    /// Δp/(a − b Δp), so that p = p_n + a δ/(1 + b δ): a range that is not symmetric, with its ends at δ = ±1.
    Between {
        /// a, how far p is off by δ near the nominal value.
        size: f64,
        /// b, zero where both ends are equally far.
        bend: f64,
    },
}

/// What is uncertain.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// A parameter, by its place in the graph's list.
    Parameter(usize),
    /// The value of an element or a coefficient that depends on parameters in a way that is not rational.
    Value {
        /// The element, where it is one's.
        element: Option<ElementId>,
        /// The value over parameters.
        value: Expr,
    },
}

/// One block δ I of Δ.
#[derive(Debug, Clone)]
pub struct Block {
    /// The parameter's name, or what it is the value of.
    pub name: String,
    /// What is uncertain.
    pub quantity: Quantity,
    /// Its channels.
    pub channels: Range<usize>,
    /// What δ is.
    pub uncertainty: Uncertainty,
    /// δ over nominal values and the changes `Delta_NAME`.
    pub delta: Expr,
    /// The symbols of the changes that `delta` reads, with the places of their parameters.
    pub changes: Vec<(Symbol, usize)>,
    /// The nominal value.
    pub nominal: f64,
    /// The values that the quantity takes for δ from −1 to 1, where δ is scaled.
    pub bounds: Option<(f64, f64)>,
    /// The McMillan degree of the model in the quantity: no realisation has fewer channels.
    pub degree: usize,
}

impl Block {
    /// Whether no realisation has fewer channels for it.
    pub fn is_minimal(&self) -> bool {
        self.channels.len() <= self.degree
    }
}

/// A pair of an auxiliary output z and an auxiliary input w.
#[derive(Debug, Clone)]
pub struct Channel {
    /// What w and z are named after: `R`, `k_1`.
    pub name: String,
    /// The symbol of w.
    pub w: Symbol,
    /// The block it belongs to.
    pub block: usize,
    /// The element whose law has it; none for signals and outputs.
    pub element: Option<ElementId>,
    /// Whether it is of the differentiated law of an element that dependent storages are reached through.
    pub differentiated: bool,
}

/// The matrices of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrices<M> {
    /// States to rates of states.
    pub a: M,
    /// Auxiliary inputs to rates.
    pub b1: M,
    /// Inputs to rates.
    pub b2: M,
    /// States to auxiliary outputs.
    pub c1: M,
    /// Auxiliary inputs to auxiliary outputs.
    pub d11: M,
    /// Inputs to auxiliary outputs.
    pub d12: M,
    /// States to outputs.
    pub c2: M,
    /// Auxiliary inputs to outputs.
    pub d21: M,
    /// Inputs to outputs.
    pub d22: M,
}

impl<M> Matrices<M> {
    /// The matrices with their names, row by row.
    pub fn named(&self) -> [(&'static str, &M); 9] {
        [
            ("A", &self.a),
            ("B1", &self.b1),
            ("B2", &self.b2),
            ("C1", &self.c1),
            ("D11", &self.d11),
            ("D12", &self.d12),
            ("C2", &self.c2),
            ("D21", &self.d21),
            ("D22", &self.d22),
        ]
    }

    /// Makes other matrices of these, one by one.
    pub fn map<N, E>(&self, mut change: impl FnMut(&M) -> Result<N, E>) -> Result<Matrices<N>, E> {
        Ok(Matrices {
            a: change(&self.a)?,
            b1: change(&self.b1)?,
            b2: change(&self.b2)?,
            c1: change(&self.c1)?,
            d11: change(&self.d11)?,
            d12: change(&self.d12)?,
            c2: change(&self.c2)?,
            d21: change(&self.d21)?,
            d22: change(&self.d22)?,
        })
    }
}

/// A matrix of numbers: rows, columns, and entries that are not zero, by row and column.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Numbers {
    /// Writes the matrix out, row by row.
    pub fn dense(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.columns]; self.rows];
        for (i, j, value) in &self.entries {
            rows[*i][*j] = *value;
        }
        rows
    }
}

/// The standard interconnection model of a bond graph.
#[derive(Debug, Clone)]
pub struct Interconnection {
    /// Where auxiliary inputs stand.
    pub procedure: Procedure,
    /// Whether every δ is scaled to abs(δ) ≤ 1.
    pub normalized: bool,
    /// The names of the states.
    pub states: Vec<String>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// The channels, block by block.
    pub channels: Vec<Channel>,
    /// The blocks of Δ.
    pub blocks: Vec<Block>,
    /// The matrices in symbols.
    pub symbols: Matrices<Sparse>,
    /// The matrices at nominal values.
    pub numbers: Matrices<Numbers>,
    /// Whether I − D11 Δ is regular for all abs(δ) ≤ 1, where every δ is scaled.
    pub posed: Option<Posed>,
    /// The uncertain bond graph; none where dependent storages or quotients leave no place for auxiliary inputs.
    pub split: Option<Split>,
}

impl Interconnection {
    /// Whether no realisation of any parameter has fewer channels.
    pub fn is_minimal(&self) -> bool {
        self.blocks.iter().all(Block::is_minimal)
    }

    /// The values at which I − D11 Δ is singular within the box, where there are such.
    pub fn singular(&self) -> Option<&Singular> {
        match &self.posed {
            Some(Posed::Ill(singular)) => Some(singular),
            _ => None,
        }
    }

    /// The name of an auxiliary input.
    pub fn w_name(&self, channel: usize) -> String {
        format!("w_{}", self.channels[channel].name)
    }

    /// The name of an auxiliary output.
    pub fn z_name(&self, channel: usize) -> String {
        format!("z_{}", self.channels[channel].name)
    }
}
