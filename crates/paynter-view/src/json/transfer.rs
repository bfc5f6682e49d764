//! The answer of `paynter tf`.

use super::equations::{Definition, Writing};
use super::structure::{elements, variables};
use super::{Diagnostic, Point, pairs};
use crate::units::Shown;
use paynter_algebra::{Expr, Pool};
use paynter_base::number::{shortest, significant};
use paynter_equations as eq;
use paynter_graph::BondGraph;
use paynter_numerics as num;
use paynter_numerics::poles::{Spectrum, expanded, monic};
use schemars::JsonSchema;
use serde::Serialize;

/// The transfer matrix of a linear model, or of a nonlinear one near its operating point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Transfer {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The characteristic polynomial; `null` where it would be too long to be written out.
    pub denominator: Option<String>,
    /// One entry for each output and input.
    pub entries: Vec<TransferEntry>,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    pub definitions: Vec<Definition>,
    /// Why the entries are not expanded, where they are not.
    pub budget: Option<String>,
    /// The operating point of a nonlinear model: what states, inputs and unknowns in the strings stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_point: Option<Point>,
    /// The transfer functions in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// How it was found.
    pub method: Method,
    /// By Mason's rule: the forward paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<Path>>,
    /// By Mason's rule: the loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<Vec<Loop>>,
    /// By Mason's rule: the determinant Δ over the names of loops, unless it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub determinant: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a transfer matrix was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By the matrices of the state space.
    Matrix,
    /// By Mason's rule on the signal-flow graph.
    Mason,
}

/// A forward path of the signal-flow graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Path {
    /// Its name, `P1` …
    pub name: String,
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The elements passed, without junctions.
    pub elements: Vec<String>,
    /// The variables passed.
    pub variables: Vec<String>,
    /// The product of the gains.
    pub gain: String,
    /// Its cofactor: the determinant of the loops that do not touch it; `null` where it is long.
    pub cofactor: Option<String>,
}

/// A loop of the signal-flow graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Loop {
    /// Its name, `L1` …
    pub name: String,
    /// The elements passed, without junctions.
    pub elements: Vec<String>,
    /// The variables passed; the last leads back to the first.
    pub variables: Vec<String>,
    /// The product of the gains.
    pub gain: String,
}

/// One transfer function, in lowest terms.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TransferEntry {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Numerator.
    pub num: String,
    /// Denominator: integer coefficients without a common factor, a positive leading one.
    pub den: String,
    /// The poles left after cancellation at nominal values, as real and imaginary part; `null` where they
    /// were not computed.
    pub poles: Option<Vec<[f64; 2]>>,
    /// The zeros at nominal values; `null` where they were not computed.
    pub zeros: Option<Vec<[f64; 2]>>,
    /// The unit in which people are shown numbers of it: that of the output per that of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// In numbers: the coefficients of the numerator, highest power of s first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_coefficients: Option<Vec<f64>>,
    /// In numbers: the coefficients of the denominator, highest power of s first; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub den_coefficients: Option<Vec<f64>>,
}

impl Transfer {
    /// Writes a transfer matrix down, with the poles and zeros of its entries where they are known.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        transfer: &eq::Transfer,
        factors: Option<&Spectrum>,
        diagnostics: Vec<Diagnostic>,
    ) -> Transfer {
        let equations = &linear.equations;
        let entries = transfer.entries.iter();
        let ratios: Vec<(Expr, Expr)> = entries.map(|e| pool.shortened(e.num, e.den)).collect();
        let denominator = transfer.denominator.map(|e| pool.shortened(e, e).1);
        let mut roots: Vec<Expr> = ratios.iter().flat_map(|(num, den)| [*num, *den]).collect();
        roots.extend(denominator);
        let writing = match transfer.shared {
            Some(_) => Writing::new(pool, &roots, &[]),
            None => Writing::of_expanded(pool, &roots, &[]),
        };
        let text = |e: Expr| writing.text(pool, e);
        let entries = transfer.entries.iter().zip(&ratios).map(|(entry, (num, den))| {
            let place = (entry.output, entry.input);
            let factored = factors.and_then(|f| f.entries.iter().find(|f| (f.output, f.input) == place));
            TransferEntry {
                output: equations.outputs[entry.output].name.clone(),
                input: equations.inputs[entry.input].name.clone(),
                num: text(*num),
                den: text(*den),
                poles: factored.map(|f| pairs(&f.poles)),
                zeros: factored.map(|f| pairs(&f.zeros)),
                value_unit: None,
                num_coefficients: None,
                den_coefficients: None,
            }
        });
        Transfer {
            ok: true,
            model: graph.name.clone(),
            denominator: denominator.map(text),
            entries: entries.collect(),
            definitions: writing.definitions(pool),
            budget: transfer.shared.clone(),
            operating_point: Point::of(pool, linear),
            written: None,
            method: Method::Matrix,
            paths: None,
            loops: None,
            determinant: None,
            diagnostics,
        }
    }

    /// Writes a transfer matrix down in numbers, with few digits in its polynomials where they are rounded.
    pub fn in_numbers(
        pool: &Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        spectrum: &Spectrum,
        rounded: bool,
        diagnostics: Vec<Diagnostic>,
    ) -> Transfer {
        let equations = &linear.equations;
        let entries = spectrum.entries.iter().map(|entry| {
            let num: Vec<f64> = monic(&entry.zeros).into_iter().map(|c| c * entry.gain).collect();
            let den = monic(&entry.poles);
            let unit = Shown::output(graph, entry.output).per(&Shown::input(graph, entry.input));
            // JSON stays in SI.
            let shown: Vec<f64> = num.iter().map(|c| if rounded { unit.of(*c) } else { *c }).collect();
            TransferEntry {
                output: equations.outputs[entry.output].name.clone(),
                input: equations.inputs[entry.input].name.clone(),
                num: polynomial(&shown, rounded),
                den: polynomial(&den, rounded),
                poles: Some(pairs(&entry.poles)),
                zeros: Some(pairs(&entry.zeros)),
                value_unit: unit.unit,
                num_coefficients: Some(num),
                den_coefficients: Some(den),
            }
        });
        Transfer {
            ok: true,
            model: graph.name.clone(),
            denominator: Some(polynomial(&monic(&expanded(&spectrum.poles)), rounded)),
            entries: entries.collect(),
            definitions: Vec::new(),
            budget: None,
            operating_point: Point::of(pool, linear),
            written: None,
            method: Method::Matrix,
            paths: None,
            loops: None,
            determinant: None,
            diagnostics,
        }
    }

    /// Adds what Mason's rule found.
    #[must_use]
    pub fn with_mason(
        self,
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &eq::Equations,
        flow: &eq::SignalFlow,
        mason: &eq::Mason,
    ) -> Transfer {
        self.definitions.iter().for_each(|definition| pool.keep_name(&definition.name));
        let routes = mason.paths.iter().map(|path| &path.route).chain(&mason.loops);
        let gains: Vec<Expr> = routes.map(|route| route.gain).collect();
        let writing = Writing::new(pool, &[], &gains);
        let mut definitions = self.definitions;
        definitions.extend(writing.definitions(pool));
        let pool = &*pool;
        let names = own_names(pool, "L", mason.loops.len());
        let paths =
            mason.paths.iter().zip(own_names(pool, "P", mason.paths.len())).map(|(path, name)| Path {
                name,
                output: equations.outputs[path.output].name.clone(),
                input: equations.inputs[path.input].name.clone(),
                elements: elements(graph, flow, &path.route.nodes),
                variables: variables(flow, &path.route.nodes),
                gain: writing.text(pool, path.route.gain),
                cofactor: path.cofactor.as_deref().map(|sets| determinant(sets, &names)),
            });
        let loops = mason.loops.iter().zip(&names).map(|(route, name)| Loop {
            name: name.clone(),
            elements: cycle(elements(graph, flow, &route.nodes)),
            variables: variables(flow, &route.nodes),
            gain: writing.text(pool, route.gain),
        });
        Transfer {
            definitions,
            method: Method::Mason,
            paths: Some(paths.collect()),
            loops: Some(loops.collect()),
            determinant: mason.determinant.as_deref().map(|sets| determinant(sets, &names)),
            ..self
        }
    }
}

/// A polynomial in s by its coefficients, highest power first.
pub(super) fn polynomial(coefficients: &[f64], rounded: bool) -> String {
    let number = |value: f64| if rounded { significant(value) } else { shortest(value) };
    let mut text = String::new();
    for (at, coefficient) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let power = match coefficients.len() - 1 - at {
            0 => String::new(),
            1 => "s".to_owned(),
            power => format!("s^{power}"),
        };
        let size = number(coefficient.abs());
        let term = match (size.as_str(), power.is_empty()) {
            (_, true) => size,
            ("1", false) => power,
            _ => format!("{size}*{power}"),
        };
        text.push_str(sign);
        text.push_str(&term);
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The names round a loop, which ends where it began.
fn cycle(mut names: Vec<String>) -> Vec<String> {
    if names.len() > 1 && names.first() == names.last() {
        names.pop();
    }
    names
}

/// Numbered names that the model does not use: `L1`, `L2` …
fn own_names(pool: &Pool, letter: &str, count: usize) -> Vec<String> {
    (1..).map(|k| format!("{letter}{k}")).filter(|name| !pool.knows(name)).take(count).collect()
}

/// `1 - L1 - L2 + L1*L2`
fn determinant(sets: &[Vec<usize>], names: &[String]) -> String {
    let mut text = String::new();
    for set in sets {
        let names: Vec<&str> = set.iter().filter_map(|k| names.get(*k)).map(String::as_str).collect();
        text.push_str(match (set.len(), set.len() % 2) {
            (0, _) => "1",
            (_, 1) => " - ",
            _ => " + ",
        });
        text.push_str(&names.join("*"));
    }
    text
}
