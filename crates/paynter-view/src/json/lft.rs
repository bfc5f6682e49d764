//! The answer of `paynter lft`: the standard interconnection model.

use super::equations::{DENSE_STATES, Definition, Matrix, Writing};
use super::{Diagnostic, finite};
use paynter_algebra::{Expr, Pool};
use paynter_equations as eq;
use paynter_graph::{BondGraph, flat_name};
use paynter_interconnect as lft;
use paynter_interconnect::{Interconnection, Numbers, Posed, Procedure};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The standard interconnection model: x' = A x + B1 w + B2 u, z = C1 x + D11 w + D12 u,
/// y = C2 x + D21 w + D22 u, w = Δ z.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Lft {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Where the auxiliary inputs of TF and GY stand: `new` or `existing`.
    pub procedure: String,
    /// Whether every δ is scaled to abs(δ) ≤ 1 by the tolerance of its parameter.
    pub normalized: bool,
    /// The states.
    pub states: Vec<String>,
    /// The auxiliary inputs.
    pub w: Vec<String>,
    /// The auxiliary outputs.
    pub z: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The outputs.
    pub outputs: Vec<String>,
    /// The independent parameters with their nominal values, in SI.
    pub parameters: BTreeMap<String, f64>,
    /// States to rates.
    #[serde(rename = "A")]
    pub a: Matrix,
    /// Auxiliary inputs to rates.
    #[serde(rename = "B1")]
    pub b1: Matrix,
    /// Inputs to rates.
    #[serde(rename = "B2")]
    pub b2: Matrix,
    /// States to auxiliary outputs.
    #[serde(rename = "C1")]
    pub c1: Matrix,
    /// Auxiliary inputs to auxiliary outputs.
    #[serde(rename = "D11")]
    pub d11: Matrix,
    /// Inputs to auxiliary outputs.
    #[serde(rename = "D12")]
    pub d12: Matrix,
    /// States to outputs.
    #[serde(rename = "C2")]
    pub c2: Matrix,
    /// Auxiliary inputs to outputs.
    #[serde(rename = "D21")]
    pub d21: Matrix,
    /// Inputs to outputs.
    #[serde(rename = "D22")]
    pub d22: Matrix,
    /// The blocks of Δ, in the order of the channels.
    pub delta: Vec<DeltaBlock>,
    /// What each channel belongs to.
    pub channels: Vec<AuxiliaryChannel>,
    /// Whether no realisation has fewer channels for any of the blocks.
    pub minimal: bool,
    /// The matrices at nominal values.
    pub numeric: NumericLft,
    /// Whether I - D11 Δ is regular for all abs(δ) ≤ 1, where δ is normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub well_posed: Option<WellPosed>,
    /// What is checked of the nominal model before.
    pub conditions: Conditions,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Definition>,
    /// The model in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The uncertain bond graph as text that every other command accepts, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// One block δ I of Δ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeltaBlock {
    /// The parameter, or the element or expression whose value is uncertain as a whole.
    pub parameter: String,
    /// The 0-based indices of its channels.
    pub block: Vec<usize>,
    /// δ: a bare name is the nominal value, `Delta_NAME` the absolute change of a parameter.
    pub expression: String,
    /// The nominal value, in SI.
    pub nominal: Option<f64>,
    /// The values for δ = -1 and δ = 1, where δ is normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// The McMillan degree of the model in the parameter: no realisation has fewer channels.
    pub degree: usize,
}

/// A pair of auxiliary input and output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuxiliaryChannel {
    /// The auxiliary input.
    pub w: String,
    /// The auxiliary output.
    pub z: String,
    /// The element whose law it stands in; none for signals and outputs.
    pub element: Option<String>,
    /// Whether it stands in the derivative of that law, which dependent storages ask for.
    pub differentiated: bool,
}

/// The matrices at nominal values, row by row; with many states row, column and value of each entry.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub struct NumericLft {
    /// States to rates.
    pub a: NumericMatrix,
    /// Auxiliary inputs to rates.
    pub b1: NumericMatrix,
    /// Inputs to rates.
    pub b2: NumericMatrix,
    /// States to auxiliary outputs.
    pub c1: NumericMatrix,
    /// Auxiliary inputs to auxiliary outputs.
    pub d11: NumericMatrix,
    /// Inputs to auxiliary outputs.
    pub d12: NumericMatrix,
    /// States to outputs.
    pub c2: NumericMatrix,
    /// Auxiliary inputs to outputs.
    pub d21: NumericMatrix,
    /// Inputs to outputs.
    pub d22: NumericMatrix,
}

/// A matrix of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum NumericMatrix {
    /// Row by row.
    Dense(Vec<Vec<f64>>),
    /// Row, column (from 0) and value of each entry that is not zero.
    Sparse(Vec<(usize, usize, f64)>),
}

/// Whether the interconnection is well posed over the box of tolerances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WellPosed {
    /// It is, by the signs of determinants at all corners.
    Proven,
    /// No values were found at which it is not.
    Undecided,
}

/// What the paper asks of the nominal model before it is made uncertain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conditions {
    /// No derivative of an input is needed.
    pub proper: bool,
    /// Whether every unstable part can be moved by an input; none where it could not be judged.
    pub stabilisable: Option<bool>,
    /// Whether every unstable part can be seen in an output.
    pub detectable: Option<bool>,
    /// Whether every state can be moved, for almost all values of the parameters.
    pub controllable: bool,
    /// Whether every state can be seen, for almost all values of the parameters.
    pub observable: bool,
    /// The states that no input moves.
    pub unmoved: Vec<String>,
    /// The states that no output shows.
    pub unseen: Vec<String>,
}

impl Lft {
    /// Translates an interconnection.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        found: &Interconnection,
        conditions: Conditions,
        diagnostics: Vec<Diagnostic>,
    ) -> Lft {
        let m = &found.symbols;
        let mut entries: Vec<Expr> = Vec::new();
        for (_, matrix) in m.named() {
            entries.extend(matrix.entries.iter().map(|(_, _, entry)| *entry));
        }
        let writing = Writing::new(pool, &[], &entries);
        let dense = found.states.len().max(found.channels.len()) <= DENSE_STATES;
        let matrix = |m| writing.matrix(pool, m, dense);
        let (w, z): (Vec<String>, Vec<String>) =
            (0..found.channels.len()).map(|k| (found.w_name(k), found.z_name(k))).unzip();
        let element = |channel: &lft::Channel| channel.element.map(|id| flat_name(&graph.element(id).name));
        Lft {
            ok: true,
            model: graph.name.clone(),
            procedure: match found.procedure {
                Procedure::New => "new".to_owned(),
                Procedure::Existing => "existing".to_owned(),
            },
            normalized: found.normalized,
            states: found.states.clone(),
            channels: (found.channels.iter().enumerate())
                .map(|(k, channel)| AuxiliaryChannel {
                    w: w[k].clone(),
                    z: z[k].clone(),
                    element: element(channel),
                    differentiated: channel.differentiated,
                })
                .collect(),
            w,
            z,
            inputs: found.inputs.clone(),
            outputs: found.outputs.clone(),
            parameters: graph.parameters.iter().map(|p| (flat_name(&p.name), p.number)).collect(),
            a: matrix(&m.a),
            b1: matrix(&m.b1),
            b2: matrix(&m.b2),
            c1: matrix(&m.c1),
            d11: matrix(&m.d11),
            d12: matrix(&m.d12),
            c2: matrix(&m.c2),
            d21: matrix(&m.d21),
            d22: matrix(&m.d22),
            delta: found.blocks.iter().map(|block| DeltaBlock::new(pool, block)).collect(),
            minimal: found.is_minimal(),
            numeric: NumericLft::new(&found.numbers, dense),
            well_posed: match found.posed {
                Some(Posed::Proven) => Some(WellPosed::Proven),
                Some(Posed::Undecided) => Some(WellPosed::Undecided),
                _ => None,
            },
            conditions,
            definitions: writing.definitions(pool),
            written: None,
            graph: None,
            diagnostics,
        }
    }
}

impl Conditions {
    /// Translates what was checked of the nominal model.
    pub fn new(equations: &eq::Equations, found: &lft::Conditions) -> Conditions {
        let names = |states: &[usize]| states.iter().map(|k| equations.states[*k].name.clone()).collect();
        Conditions {
            proper: true,
            stabilisable: found.stabilisable,
            detectable: found.detectable,
            controllable: found.controllable,
            observable: found.observable,
            unmoved: names(&found.unmoved),
            unseen: names(&found.unseen),
        }
    }
}

impl DeltaBlock {
    fn new(pool: &Pool, block: &lft::Block) -> DeltaBlock {
        DeltaBlock {
            parameter: block.name.clone(),
            block: block.channels.clone().collect(),
            expression: pool.display(block.delta).to_string(),
            nominal: finite(block.nominal),
            bounds: block.bounds.map(|(low, high)| [low, high]),
            degree: block.degree,
        }
    }
}

impl NumericLft {
    fn new(numbers: &lft::Matrices<Numbers>, dense: bool) -> NumericLft {
        let matrix = |m: &Numbers| match dense {
            true => NumericMatrix::Dense(m.dense()),
            false => NumericMatrix::Sparse(m.entries.clone()),
        };
        NumericLft {
            a: matrix(&numbers.a),
            b1: matrix(&numbers.b1),
            b2: matrix(&numbers.b2),
            c1: matrix(&numbers.c1),
            d11: matrix(&numbers.d11),
            d12: matrix(&numbers.d12),
            c2: matrix(&numbers.c2),
            d21: matrix(&numbers.d21),
            d22: matrix(&numbers.d22),
        }
    }
}
