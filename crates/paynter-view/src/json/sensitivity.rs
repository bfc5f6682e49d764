//! The answer of `paynter sensitivity` in symbols.

use super::equations::{Definition, Matrix, matrix, strings};
use super::{Diagnostic, Naming, Point};
use paynter_algebra::{Expr, Pool};
use paynter_equations as eq;
use paynter_graph::{BondGraph, flat_name};
use schemars::JsonSchema;
use serde::Serialize;

/// The sensitivities ∂H/∂p of the transfer matrix.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sensitivity {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The parameters asked for, in text order.
    pub parameters: Vec<String>,
    /// Whether the entries are relative, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// One entry for each output, input and parameter.
    pub entries: Vec<SensitivityEntry>,
    /// The product form: each sensitivity is the sum, over the places of its
    /// parameter, of the transfer function from the place's sink to the output
    /// times that from the input to what feeds the sink. Empty where the
    /// entries are not written out.
    pub products: Vec<SensitivityPlace>,
    /// Derivatives of the poles with their natural frequencies and damping, at nominal values.
    pub poles: Vec<PoleSensitivity>,
    /// Derivatives of the zeros, by output and input.
    pub zeros: Vec<ZeroSensitivity>,
    /// Derivatives of the static gains H(0), where there is no pole at zero.
    pub dc_gain: Vec<DcSensitivity>,
    /// The point about which a nonlinear model was linearised.
    pub operating_point: Option<Point>,
    /// Whether the operating point was held fixed (`--frozen`).
    pub frozen: bool,
    /// Parameters on which nothing depends: their sensitivities are identically zero.
    pub without_effect: Vec<String>,
    /// B̃ = ∂f/∂p of the incremental model, one column for each parameter, where asked for.
    #[serde(rename = "B_tilde", skip_serializing_if = "Option::is_none")]
    pub b_tilde: Option<Matrix>,
    /// D̃ = ∂g/∂p of the incremental model, one column for each parameter, where asked for.
    #[serde(rename = "D_tilde", skip_serializing_if = "Option::is_none")]
    pub d_tilde: Option<Matrix>,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    pub definitions: Vec<Definition>,
    /// Why the entries are not expanded, where they are not.
    pub budget: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// One sensitivity, in lowest terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SensitivityEntry {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The parameter.
    pub parameter: String,
    /// Numerator.
    pub num: String,
    /// Denominator; a power of the characteristic polynomial is kept as a power.
    pub den: String,
}

/// One place where a parameter stands, with the two factors of its product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SensitivityPlace {
    /// The parameter.
    pub parameter: String,
    /// The element in whose law it stands; `null` for signals and outputs.
    pub element: Option<String>,
    /// The variable that the sink adds to.
    pub sink: String,
    /// What feeds the sink for a unit change of the parameter, over nominal variables.
    pub quantity: String,
    /// Transfer functions from the sink to each output.
    pub from_sink: Vec<FromSink>,
    /// Transfer functions from each input to the quantity.
    pub to_quantity: Vec<ToQuantity>,
}

/// A transfer function from a sink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FromSink {
    /// The output.
    pub output: String,
    /// Numerator.
    pub num: String,
    /// Denominator.
    pub den: String,
}

/// A transfer function to what feeds a sink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToQuantity {
    /// The input.
    pub input: String,
    /// Numerator.
    pub num: String,
    /// Denominator.
    pub den: String,
}

/// A pole and how it moves with the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoleSensitivity {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
    /// How often it occurs. A repeated pole has no derivative: the numbers are those of the mean of its cluster.
    pub multiplicity: usize,
    /// |λ|; `null` for a pole at zero.
    pub natural_frequency: Option<f64>,
    /// −Re λ/|λ|; `null` for a pole at zero.
    pub damping: Option<f64>,
    /// By parameter.
    pub sensitivities: Vec<PoleSlope>,
}

/// The derivative of a pole by one parameter; `null` where it could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoleSlope {
    /// The parameter.
    pub parameter: String,
    /// Real part.
    pub re: Option<f64>,
    /// Imaginary part.
    pub im: Option<f64>,
    /// Of the natural frequency; `null` for a repeated pole and one at zero.
    pub natural_frequency: Option<f64>,
    /// Of the damping; `null` for a repeated pole and one at zero.
    pub damping: Option<f64>,
}

/// A zero of a transfer function and how it moves with the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ZeroSensitivity {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
    /// How often it occurs; the derivatives of a repeated one are those of the mean.
    pub multiplicity: usize,
    /// By parameter.
    pub sensitivities: Vec<RootSlope>,
}

/// The derivative of a zero by one parameter; `null` where it could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RootSlope {
    /// The parameter.
    pub parameter: String,
    /// Real part.
    pub re: Option<f64>,
    /// Imaginary part.
    pub im: Option<f64>,
}

/// A static gain and how it changes with the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DcSensitivity {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// H(0).
    pub value: f64,
    /// By parameter.
    pub sensitivities: Vec<GainSlope>,
}

/// The derivative of a gain by one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GainSlope {
    /// The parameter.
    pub parameter: String,
    /// The derivative.
    pub value: f64,
}

/// What the library found, before it is written down.
#[derive(Debug, Clone)]
pub struct SensitivityParts<'a> {
    /// The equations the places refer to.
    pub equations: &'a eq::Equations,
    /// Names of the parameters asked for.
    pub parameters: Vec<String>,
    /// Whether the entries are relative.
    pub normalized: bool,
    /// The entries.
    pub found: &'a eq::Sensitivities,
    /// The product form.
    pub products: Option<&'a eq::Products>,
    /// B̃ and D̃.
    pub increments: Option<&'a eq::Increments>,
    /// Parameters on which nothing depends.
    pub without_effect: Vec<String>,
}

impl Sensitivity {
    /// Writes sensitivities down.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        parts: SensitivityParts<'_>,
        naming: Naming,
        diagnostics: Vec<Diagnostic>,
    ) -> Sensitivity {
        let SensitivityParts { equations, parameters, normalized, found, products, increments, .. } = parts;
        let roots: Vec<Expr> = found.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
        let (strings, definitions) = strings(pool, &roots);
        let output = |k: usize| equations.outputs[k].name.clone();
        let input = |k: usize| equations.inputs[k].name.clone();
        let entries = found.entries.iter().zip(strings.chunks(2)).map(|(entry, text)| SensitivityEntry {
            output: output(entry.output),
            input: input(entry.input),
            parameter: parameters[entry.parameter].clone(),
            num: text[0].clone(),
            den: text[1].clone(),
        });
        let entries = entries.collect();
        let text = |e: Expr| pool.display(e).to_string();
        let mut places = Vec::new();
        for (parameter, list) in products.iter().flat_map(|products| products.places.iter().enumerate()) {
            for place in list {
                places.push(SensitivityPlace {
                    parameter: parameters[parameter].clone(),
                    element: place.element.map(|id| naming.name(&graph.element(id).name)),
                    sink: place.sink.clone(),
                    quantity: text(place.quantity),
                    from_sink: place
                        .from_sink
                        .iter()
                        .enumerate()
                        .map(|(k, r)| FromSink { output: output(k), num: text(r.num), den: text(r.den) })
                        .collect(),
                    to_quantity: place
                        .to_quantity
                        .iter()
                        .enumerate()
                        .map(|(k, r)| ToQuantity { input: input(k), num: text(r.num), den: text(r.den) })
                        .collect(),
                });
            }
        }
        Sensitivity {
            ok: true,
            model: flat_name(&graph.name),
            normalized,
            entries,
            products: places,
            poles: Vec::new(),
            zeros: Vec::new(),
            dc_gain: Vec::new(),
            operating_point: None,
            frozen: false,
            without_effect: parts.without_effect,
            b_tilde: increments
                .map(|i| matrix(pool, &i.rates, i.rates.rows <= super::equations::DENSE_STATES)),
            d_tilde: increments
                .map(|i| matrix(pool, &i.outputs, i.rates.rows <= super::equations::DENSE_STATES)),
            definitions,
            budget: found.shared.clone(),
            parameters,
            diagnostics,
        }
    }
}
