//! The answer of `paynter operating-point`, and the point that `tf` and others stand at.

use super::equations::{Definition, Matrix, Writing};
use super::{Checks, Diagnostic, Naming};
use crate::units::{Shown, state_unit};
use paynter_algebra::{Pool, Symbol};
use paynter_equations as eq;
use paynter_graph::{BondGraph, Variable, flat_name};
use paynter_numerics as num;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A steady state, in SI units.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// The independent states.
    pub states: BTreeMap<String, f64>,
    /// The inputs at time zero.
    pub inputs: BTreeMap<String, f64>,
    /// The outputs; `null` where an expression has no value.
    pub outputs: BTreeMap<String, Option<f64>>,
    /// Unknowns that are given only implicitly.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknowns: BTreeMap<String, f64>,
    /// Derivatives of inputs that the equations need, such as `der(u)`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub input_derivatives: BTreeMap<String, f64>,
}

/// The steady state of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OperatingPoint {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The values.
    #[serde(flatten)]
    pub point: Point,
    /// States of dependent storages.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dependent: BTreeMap<String, f64>,
    /// Effort and flow of every bond along its arrow.
    pub bonds: Vec<BondValue>,
    /// The model near the point, x' = A x + B u + …: Jacobians in symbols and in numbers, of models up to 200 states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<LinearModel>,
    /// The derivatives of states, implicit unknowns and outputs by parameters, in SI, where they were asked for:
    /// at the conserved totals that the initial state fixes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensitivities: Vec<SteadyDerivative>,
    /// The answer in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The same states, unknowns, inputs and outputs in the order of the text, with their units.
    pub quantities: Vec<Quantity>,
    /// How far it fulfils the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// The matrices of a linear model, or of a nonlinear one near a point, where they are its Jacobians.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinearModel {
    /// Whether the model is nonlinear, so that the matrices multiply deviations from the point.
    pub linearised: bool,
    /// ∂x'/∂x.
    #[serde(rename = "A")]
    pub a: Matrix,
    /// ∂x'/∂u.
    #[serde(rename = "B")]
    pub b: Matrix,
    /// ∂y/∂x.
    #[serde(rename = "C")]
    pub c: Matrix,
    /// ∂y/∂u.
    #[serde(rename = "D")]
    pub d: Matrix,
    /// Derivatives of x' by the inputs' derivatives, first derivative first.
    #[serde(rename = "Bd", skip_serializing_if = "Vec::is_empty")]
    pub bd: Vec<Matrix>,
    /// Derivatives of y by the inputs' derivatives, first derivative first.
    #[serde(rename = "Dd", skip_serializing_if = "Vec::is_empty")]
    pub dd: Vec<Matrix>,
    /// Named sub-expressions that the matrices use, in order, where they would be too long otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Definition>,
    /// Their values at the point.
    pub numeric: NumericModel,
}

/// The matrices of a linear model in numbers, row by row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NumericModel {
    /// ∂x'/∂x.
    #[serde(rename = "A")]
    pub a: Vec<Vec<f64>>,
    /// ∂x'/∂u.
    #[serde(rename = "B")]
    pub b: Vec<Vec<f64>>,
    /// ∂y/∂x.
    #[serde(rename = "C")]
    pub c: Vec<Vec<f64>>,
    /// ∂y/∂u.
    #[serde(rename = "D")]
    pub d: Vec<Vec<f64>>,
}

impl NumericModel {
    /// The matrices by their letters.
    pub fn named(&self) -> [(&'static str, &Vec<Vec<f64>>); 4] {
        [("A", &self.a), ("B", &self.b), ("C", &self.c), ("D", &self.d)]
    }
}

impl LinearModel {
    /// Writes a linear model down, in symbols and by the values of its matrices.
    pub fn new(pool: &mut Pool, linear: &num::LinearModel, values: &num::Matrices) -> LinearModel {
        let space = &linear.space;
        let writing = Writing::new(pool, &[], &space.entries());
        let matrix = |m: &eq::Sparse| writing.matrix(pool, m, true);
        let numeric = NumericModel {
            a: values.a.dense(),
            b: values.b.first().map_or_else(Vec::new, |b| b.dense()),
            c: values.c.dense(),
            d: values.d.first().map_or_else(Vec::new, |d| d.dense()),
        };
        let first = |list: &[eq::Sparse]| list.first().map_or_else(|| Matrix::Dense(Vec::new()), matrix);
        LinearModel {
            linearised: linear.point.is_some(),
            a: matrix(&space.a),
            b: first(&space.b),
            c: matrix(&space.c),
            d: first(&space.d),
            bd: space.b.iter().skip(1).map(matrix).collect(),
            dd: space.d.iter().skip(1).map(matrix).collect(),
            definitions: writing.definitions(pool),
            numeric,
        }
    }
}

/// What a bond carries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BondValue {
    /// Its name.
    pub name: String,
    /// Its effort.
    pub effort: Option<f64>,
    /// Its flow.
    pub flow: Option<f64>,
}

/// One value, in the unit that people read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Its value in its unit.
    pub value: Option<f64>,
    /// Its unit, where one is known.
    pub unit: Option<String>,
}

/// The derivative of a quantity at a steady state by a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SteadyDerivative {
    /// The state, implicit unknown or output.
    pub quantity: String,
    /// What it is.
    pub role: Role,
    /// The parameter.
    pub parameter: String,
    /// The derivative in SI; `null` where a law has none.
    pub value: Option<f64>,
    /// The unit that it is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
}

impl SteadyDerivative {
    /// Names the derivatives of a steady state, by quantity and then by parameter.
    pub fn list(
        graph: &BondGraph,
        equations: &eq::Equations,
        found: &num::parametric::SteadySensitivity,
        naming: Naming,
    ) -> Vec<SteadyDerivative> {
        let plain = |unit: Option<String>| Shown { unit, factor: 1.0 };
        let states = equations.states.iter().enumerate().map(|(place, state)| {
            let shown = plain(state_unit(graph, state.variable));
            (state.name.clone(), Role::State, shown, &found.states, place)
        });
        let unknowns = equations
            .constraints
            .iter()
            .enumerate()
            .map(|(place, c)| (c.name.clone(), Role::Unknown, plain(None), &found.unknowns, place));
        let outputs = equations.outputs.iter().enumerate().map(|(place, output)| {
            (output.name.clone(), Role::Output, Shown::output(graph, place), &found.outputs, place)
        });
        let mut list = Vec::new();
        for (quantity, role, unit, values, place) in states.chain(unknowns).chain(outputs) {
            for (k, parameter) in found.parameters.iter().enumerate() {
                let shown = unit.per(&Shown::parameter(graph, *parameter));
                list.push(SteadyDerivative {
                    quantity: quantity.clone(),
                    role,
                    parameter: naming.name(&graph.parameters[*parameter].name),
                    value: Some(values[k][place]).filter(|value| value.is_finite()),
                    value_unit: shown.unit.clone(),
                    shown,
                });
            }
        }
        list
    }
}

/// What a quantity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// An independent state.
    State,
    /// An implicit unknown.
    Unknown,
    /// An input.
    Input,
    /// An output.
    Output,
}

impl Point {
    /// Names the values at a point. Outputs come in the order of the equations.
    pub fn new(
        pool: &Pool,
        equations: &eq::Equations,
        value: &dyn Fn(Symbol) -> Option<f64>,
        outputs: &[f64],
    ) -> Point {
        let of = |symbol: Symbol| value(symbol).unwrap_or(0.0);
        let finite = |x: &f64| x.is_finite().then_some(*x);
        let derivatives = equations.inputs.iter().flat_map(|input| input.symbols.iter().skip(1));
        Point {
            states: equations.states.iter().map(|s| (s.name.clone(), of(s.symbol))).collect(),
            inputs: equations.inputs.iter().map(|i| (i.name.clone(), of(i.symbols[0]))).collect(),
            outputs: equations
                .outputs
                .iter()
                .zip(outputs)
                .map(|(o, y)| (o.name.clone(), finite(y)))
                .collect(),
            unknowns: equations
                .constraints
                .iter()
                .map(|c| (pool.name(c.unknown).to_owned(), of(c.unknown)))
                .collect(),
            input_derivatives: derivatives.map(|s| (pool.name(*s).to_owned(), of(*s))).collect(),
        }
    }

    /// Names the operating point of a nonlinear model.
    pub fn of(pool: &Pool, linear: &num::LinearModel) -> Option<Point> {
        let point = linear.point.as_ref()?;
        Some(Point::new(pool, &linear.equations, &|symbol| linear.value(symbol), &point.outputs))
    }
}

impl OperatingPoint {
    /// Tells a steady state with what every bond carries.
    pub fn new(
        pool: &Pool,
        graph: &BondGraph,
        equations: &eq::Equations,
        value: &dyn Fn(Symbol) -> Option<f64>,
        outputs: &[f64],
        diagnostics: Vec<Diagnostic>,
    ) -> OperatingPoint {
        let eval = |e| pool.eval(e, value).ok();
        let mut bonds: Vec<BondValue> = graph
            .bonds
            .iter()
            .map(|bond| BondValue { name: flat_name(&bond.name), effort: None, flow: None })
            .collect();
        let assigned = equations.assignments.iter().map(|a| (a.variable, eval(a.value)));
        let implicit = graph.bond_ids().flat_map(|bond| {
            [Variable::Effort(bond), Variable::Flow(bond)]
                .map(|variable| (variable, graph.variables.symbol(variable).and_then(value)))
        });
        for (variable, number) in implicit.chain(assigned) {
            match variable {
                Variable::Effort(bond) => bonds[bond.index()].effort = number,
                Variable::Flow(bond) => bonds[bond.index()].flow = number,
                _ => {}
            }
        }
        let dependent =
            equations.dependent.iter().filter_map(|d| Some((d.name.clone(), eval(d.value)?))).collect();
        OperatingPoint {
            ok: true,
            model: graph.name.clone(),
            point: Point::new(pool, equations, value, outputs),
            dependent,
            bonds,
            linear: None,
            sensitivities: Vec::new(),
            written: None,
            quantities: quantities(graph, equations, value, outputs),
            checks: Checks::default(),
            diagnostics,
        }
    }
}

impl From<&OperatingPoint> for paynter_export::SteadyState {
    fn from(point: &OperatingPoint) -> paynter_export::SteadyState {
        let at = &point.point;
        let named =
            |linear: &LinearModel| linear.numeric.named().map(|(name, rows)| (name, rows.clone())).into();
        paynter_export::SteadyState {
            model: point.model.clone(),
            inputs: at.inputs.clone(),
            input_derivatives: at.input_derivatives.clone(),
            states: at.states.clone(),
            unknowns: at.unknowns.clone(),
            dependent: point.dependent.clone(),
            outputs: at.outputs.iter().map(|(name, y)| (name.clone(), y.unwrap_or(f64::NAN))).collect(),
            matrices: point.linear.as_ref().map_or_else(Vec::new, named),
        }
    }
}

/// The values in the order of the text, with units where they are known.
fn quantities(
    graph: &BondGraph,
    equations: &eq::Equations,
    value: &dyn Fn(Symbol) -> Option<f64>,
    outputs: &[f64],
) -> Vec<Quantity> {
    let mut list = Vec::new();
    for state in &equations.states {
        let unit = state_unit(graph, state.variable);
        list.push(Quantity { name: state.name.clone(), role: Role::State, value: value(state.symbol), unit });
    }
    for constraint in &equations.constraints {
        let name = constraint.name.clone();
        list.push(Quantity { name, role: Role::Unknown, value: value(constraint.unknown), unit: None });
    }
    for (input, declared) in equations.inputs.iter().zip(&graph.inputs) {
        let factor = declared.unit.as_ref().map_or(1.0, |unit| unit.factor);
        let number = value(input.symbols[0]).map(|x| x / factor);
        let unit = declared.unit.as_ref().map(|unit| unit.text.clone());
        list.push(Quantity { name: input.name.clone(), role: Role::Input, value: number, unit });
    }
    for ((output, declared), y) in equations.outputs.iter().zip(&graph.outputs).zip(outputs) {
        let factor = declared.unit.as_ref().map_or(1.0, |unit| unit.factor);
        let number = y.is_finite().then(|| y / factor);
        let unit = declared.unit.as_ref().map(|unit| unit.text.clone());
        list.push(Quantity { name: output.name.clone(), role: Role::Output, value: number, unit });
    }
    list
}
