//! The answer of `paynter tf`.

use super::equations::{Definition, strings};
use super::{Diagnostic, Point};
use paynter_algebra::{Expr, Pool};
use paynter_equations as eq;
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
    /// The transfer functions in the notation that `--form` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
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
}

impl Transfer {
    /// Translates a transfer matrix.
    pub fn new(
        pool: &mut Pool,
        model: &str,
        equations: &eq::Equations,
        transfer: &eq::Transfer,
        diagnostics: Vec<Diagnostic>,
    ) -> Transfer {
        let mut roots: Vec<Expr> = transfer.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
        roots.extend(transfer.denominator);
        let (mut strings, definitions) = strings(pool, &roots);
        let denominator = transfer.denominator.and_then(|_| strings.pop());
        let entries = transfer.entries.iter().zip(strings.chunks(2)).map(|(entry, text)| TransferEntry {
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            num: text[0].clone(),
            den: text[1].clone(),
            poles: None,
            zeros: None,
        });
        Transfer {
            ok: true,
            model: model.to_owned(),
            denominator,
            entries: entries.collect(),
            definitions,
            budget: transfer.shared.clone(),
            operating_point: None,
            written: None,
            diagnostics,
        }
    }
}
