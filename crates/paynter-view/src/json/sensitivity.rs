//! The answer of `paynter sensitivity` in symbols.

use super::equations::{DENSE_STATES, Definition, Matrix, Writing};
use super::{Checks, Diagnostic, Naming, Point, finite};
use crate::units::Shown;
use paynter_algebra::{Expr, Pool};
use paynter_equations as eq;
use paynter_graph::{BondGraph, ElementId, flat_name};
use paynter_numerics as num;
use paynter_numerics::linalg::Complex64;
use paynter_numerics::parametric::modes::{Gain, Mode, oscillation};
use paynter_numerics::parametric::{SymbolicRequest, TransferSensitivity};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Whether the operating point was held fixed.
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
    /// The units that parameters are shown in to people, where they are declared.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_unit: BTreeMap<String, String>,
    /// The same, in the order of the parameters.
    #[serde(skip)]
    pub parameters_shown: Vec<Shown>,
    /// How far the static gains and their derivatives fulfil the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
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
    /// Its multiplicity. A repeated pole has no derivative: the numbers are those of the mean of its cluster.
    pub multiplicity: usize,
    /// |λ|; `null` for a pole at zero.
    pub natural_frequency: Option<f64>,
    /// −Re λ/|λ|; `null` for a pole at zero.
    pub damping: Option<f64>,
    /// By parameter.
    pub sensitivities: Vec<PoleDerivative>,
}

/// The derivative of a pole by one parameter; `null` where it could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoleDerivative {
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
    /// Its multiplicity; the derivatives of a repeated one are those of the mean.
    pub multiplicity: usize,
    /// By parameter.
    pub sensitivities: Vec<RootDerivative>,
}

/// The derivative of a zero by one parameter; `null` where it could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RootDerivative {
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
    /// The unit that it is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
    /// By parameter.
    pub sensitivities: Vec<GainDerivative>,
}

/// The derivative of a gain by one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GainDerivative {
    /// The parameter.
    pub parameter: String,
    /// The derivative; null where a change of the parameter leaves a pole at zero, or rounding decides it.
    pub value: Option<f64>,
}

impl Sensitivity {
    /// Writes the sensitivities of a transfer matrix down.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        request: &SymbolicRequest,
        found: &TransferSensitivity,
        naming: Naming,
        diagnostics: Vec<Diagnostic>,
    ) -> Sensitivity {
        let equations = &linear.equations;
        let TransferSensitivity { found: transfer, products, increments, roots: moves, .. } = found;
        let names = |list: &[usize]| -> Vec<String> {
            list.iter().map(|k| naming.name(&graph.parameters[*k].name)).collect()
        };
        let parameters = names(&found.parameters);
        let parameters_shown: Vec<Shown> =
            found.parameters.iter().map(|k| Shown::parameter(graph, *k)).collect();
        let roots: Vec<Expr> = transfer.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
        let columns = increments.iter().flat_map(|found| [&found.rates, &found.outputs]);
        let mut others: Vec<Expr> =
            columns.flat_map(|m| m.entries.iter().map(|(_, _, entry)| *entry)).collect();
        for place in products.iter().flat_map(|products| products.places.iter().flatten()) {
            others.push(place.quantity);
            others.extend(place.from_sink.iter().chain(&place.to_quantity).flat_map(|r| [r.num, r.den]));
        }
        let writing = match transfer.shared {
            Some(_) => Writing::new(pool, &roots, &others),
            None => Writing::of_expanded(pool, &roots, &others),
        };
        let output = |k: usize| equations.outputs[k].name.clone();
        let input = |k: usize| equations.inputs[k].name.clone();
        let entries = transfer.entries.iter().map(|entry| SensitivityEntry {
            output: output(entry.output),
            input: input(entry.input),
            parameter: parameters[entry.parameter].clone(),
            num: writing.text(pool, entry.num),
            den: writing.text(pool, entry.den),
        });
        let entries = entries.collect();
        let element = |id: ElementId| naming.name(&graph.element(id).name);
        let mut places = Vec::new();
        for (list, parameter) in products.iter().flat_map(|products| products.places.iter().zip(&parameters))
        {
            places.extend(list.iter().map(|place| SensitivityPlace {
                parameter: parameter.clone(),
                element: place.element.map(element),
                sink: place.sink.clone(),
                quantity: writing.text(pool, place.quantity),
                from_sink: FromSink::list(pool, &writing, &place.from_sink, equations),
                to_quantity: ToQuantity::list(pool, &writing, &place.to_quantity, equations),
            }));
        }
        Sensitivity {
            ok: true,
            model: flat_name(&graph.name),
            normalized: found.normalized,
            entries,
            products: places,
            poles: moves.poles.iter().map(|mode| PoleSensitivity::new(mode, &parameters)).collect(),
            zeros: moves.zeros.iter().map(|(at, mode)| zero(equations, *at, mode, &parameters)).collect(),
            dc_gain: moves
                .gains
                .iter()
                .map(|gain| static_gain(graph, equations, gain, &parameters))
                .collect(),
            operating_point: Point::of(pool, linear),
            frozen: request.frozen,
            without_effect: names(&found.without_effect),
            b_tilde: increments
                .as_ref()
                .map(|i| writing.matrix(pool, &i.rates, i.rates.rows <= DENSE_STATES)),
            d_tilde: increments
                .as_ref()
                .map(|i| writing.matrix(pool, &i.outputs, i.rates.rows <= DENSE_STATES)),
            definitions: writing.definitions(pool),
            budget: transfer.shared.clone(),
            parameters_unit: parameters
                .iter()
                .zip(&parameters_shown)
                .filter_map(|(name, shown)| Some((name.clone(), shown.unit.clone()?)))
                .collect(),
            parameters_shown,
            parameters,
            checks: Checks::default(),
            diagnostics,
        }
    }
}

impl FromSink {
    fn list(pool: &Pool, writing: &Writing, list: &[eq::Ratio], equations: &eq::Equations) -> Vec<FromSink> {
        let entry = |(output, ratio): (&eq::Output, &eq::Ratio)| FromSink {
            output: output.name.clone(),
            num: writing.text(pool, ratio.num),
            den: writing.text(pool, ratio.den),
        };
        equations.outputs.iter().zip(list).map(entry).collect()
    }
}

impl ToQuantity {
    fn list(
        pool: &Pool,
        writing: &Writing,
        list: &[eq::Ratio],
        equations: &eq::Equations,
    ) -> Vec<ToQuantity> {
        let entry = |(input, ratio): (&eq::Input, &eq::Ratio)| ToQuantity {
            input: input.name.clone(),
            num: writing.text(pool, ratio.num),
            den: writing.text(pool, ratio.den),
        };
        equations.inputs.iter().zip(list).map(entry).collect()
    }
}

impl PoleSensitivity {
    fn new(mode: &Mode, names: &[String]) -> PoleSensitivity {
        let own = oscillation(mode.value, Complex64::ZERO).map(|(own, _)| own);
        let derivative = |(name, derivative): (&String, &Complex64)| {
            let changes = oscillation(mode.value, *derivative)
                .filter(|_| mode.multiplicity == 1)
                .map(|(_, derivative)| derivative);
            PoleDerivative {
                parameter: name.clone(),
                re: finite(derivative.re),
                im: finite(derivative.im),
                natural_frequency: changes.and_then(|[omega, _]| finite(omega)),
                damping: changes.and_then(|[_, damping]| finite(damping)),
            }
        };
        PoleSensitivity {
            re: mode.value.re,
            im: mode.value.im,
            multiplicity: mode.multiplicity,
            natural_frequency: own.map(|[omega, _]| omega),
            damping: own.map(|[_, damping]| damping),
            sensitivities: names.iter().zip(&mode.derivatives).map(derivative).collect(),
        }
    }
}

/// How a zero from one input to one output moves.
fn zero(
    equations: &eq::Equations,
    (output, input): (usize, usize),
    mode: &Mode,
    names: &[String],
) -> ZeroSensitivity {
    let derivative = |(name, derivative): (&String, &Complex64)| RootDerivative {
        parameter: name.clone(),
        re: finite(derivative.re),
        im: finite(derivative.im),
    };
    ZeroSensitivity {
        output: equations.outputs[output].name.clone(),
        input: equations.inputs[input].name.clone(),
        re: mode.value.re,
        im: mode.value.im,
        multiplicity: mode.multiplicity,
        sensitivities: names.iter().zip(&mode.derivatives).map(derivative).collect(),
    }
}

/// How a static gain changes.
fn static_gain(graph: &BondGraph, equations: &eq::Equations, gain: &Gain, names: &[String]) -> DcSensitivity {
    let shown = Shown::output(graph, gain.output).per(&Shown::input(graph, gain.input));
    let derivative = |(name, value): (&String, &f64)| GainDerivative {
        parameter: name.clone(),
        value: value.is_finite().then_some(*value),
    };
    DcSensitivity {
        output: equations.outputs[gain.output].name.clone(),
        input: equations.inputs[gain.input].name.clone(),
        value: gain.value,
        value_unit: shown.unit.clone(),
        shown,
        sensitivities: names.iter().zip(&gain.derivatives).map(derivative).collect(),
    }
}
