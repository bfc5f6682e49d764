//! Numbers that formulas are written with: plain values by the names of the
//! model, whatever document they stand in elsewhere.

use std::collections::BTreeMap;

/// Numbers by the names of the quantities; NaN where one has no value.
pub type Values = BTreeMap<String, f64>;

/// A steady state in SI units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SteadyState {
    /// The model's name.
    pub model: String,
    /// The inputs at time zero.
    pub inputs: Values,
    /// Derivatives of inputs that the equations need.
    pub input_derivatives: Values,
    /// The independent states.
    pub states: Values,
    /// Unknowns that are given only implicitly.
    pub unknowns: Values,
    /// States of dependent storages.
    pub dependent: Values,
    /// The outputs.
    pub outputs: Values,
    /// The matrices of the model near it by their letters, row by row; none where there are no such.
    pub matrices: Vec<(&'static str, Vec<Vec<f64>>)>,
}

/// An eigenvalue.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// Real and imaginary part.
    pub pole: [f64; 2],
    /// Its multiplicity.
    pub multiplicity: usize,
    /// Its damping ratio; NaN at the origin.
    pub damping: f64,
    /// Its natural frequency in rad/s.
    pub natural_frequency: f64,
}

/// What is left of a transfer function's zeros and poles when common ones are cancelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Zeros as real and imaginary part.
    pub zeros: Vec<[f64; 2]>,
    /// Poles as real and imaginary part.
    pub poles: Vec<[f64; 2]>,
}

/// The eigenvalues of a model and its transfer functions in factors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolesAndZeros {
    /// The model's name.
    pub model: String,
    /// Every eigenvalue once.
    pub modes: Vec<Mode>,
    /// The transfer functions, outputs first.
    pub entries: Vec<Factors>,
}

/// The response of one output to one input.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseEntry {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Real and imaginary part at each frequency; NaN at a pole.
    pub values: Vec<[f64; 2]>,
}

/// A frequency response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrequencyResponse {
    /// The model's name.
    pub model: String,
    /// Angular frequencies in rad/s.
    pub omega: Vec<f64>,
    /// The entries, outputs first.
    pub entries: Vec<ResponseEntry>,
}

/// The relative degree from one input to one output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeDegree {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// For almost all parameters; none where the input never shows.
    pub degree: Option<i64>,
}

/// Order, rank and relative degrees of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StructuralNumbers {
    /// The model's name.
    pub model: String,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The outputs.
    pub outputs: Vec<String>,
    /// The number of independent states.
    pub order: usize,
    /// The generic rank of the state matrix.
    pub rank: usize,
    /// Relative degrees, outputs first.
    pub degrees: Vec<RelativeDegree>,
}
