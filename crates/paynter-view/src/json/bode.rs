//! The answer of `paynter bode`.

use super::{Checks, Diagnostic, Point, finite};
use crate::units::Shown;
use paynter_algebra::Pool;
use paynter_draw::plot::{Figure, Response, bode};
use paynter_graph::BondGraph;
use paynter_numerics as num;
use schemars::JsonSchema;
use serde::Serialize;
use std::f64::consts::TAU;

/// The frequency response of a linear model, or of a nonlinear one near its operating point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bode {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// The same in Hz.
    pub hz: Vec<f64>,
    /// One entry for each output and input, outputs first.
    pub entries: Vec<BodeEntry>,
    /// The operating point of a nonlinear model, about which this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_point: Option<Point>,
    /// The answer in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// How far it fulfils the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// The response of one output to one input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BodeEntry {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Real parts; `null` where a pole lies.
    pub re: Vec<Option<f64>>,
    /// Imaginary parts; `null` where a pole lies.
    pub im: Vec<Option<f64>>,
    /// The unit that the output is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_unit: Option<String>,
    /// The unit that the input is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_unit: Option<String>,
    /// The unit of the response, in which people are shown its magnitude.
    #[serde(skip)]
    pub shown: Shown,
}

impl Bode {
    /// Writes a frequency response down.
    pub fn new(
        pool: &Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        found: num::response::FrequencyResponse,
        diagnostics: Vec<Diagnostic>,
    ) -> Bode {
        let mut entries = Vec::with_capacity(found.outputs.len() * found.inputs.len());
        for output in &found.outputs {
            for input in &found.inputs {
                let place = entries.len();
                let (above, below) = (Shown::output(graph, *output), Shown::input(graph, *input));
                entries.push(BodeEntry {
                    shown: above.per(&below),
                    output_unit: above.unit,
                    input_unit: below.unit,
                    output: linear.equations.outputs[*output].name.clone(),
                    input: linear.equations.inputs[*input].name.clone(),
                    re: found.values.iter().map(|row| finite(row[place].re)).collect(),
                    im: found.values.iter().map(|row| finite(row[place].im)).collect(),
                });
            }
        }
        Bode {
            ok: true,
            model: graph.name.clone(),
            hz: found.omega.iter().map(|omega| omega / TAU).collect(),
            omega: found.omega,
            entries,
            operating_point: Point::of(pool, linear),
            written: None,
            checks: Checks::default(),
            diagnostics,
        }
    }

    /// The responses of one input, or of all, for a plot.
    pub fn responses(&self, input: Option<&str>) -> Vec<Response> {
        let number = |entry: &BodeEntry, list: &[Option<f64>]| {
            list.iter().map(|part| entry.shown.of(part.unwrap_or(f64::NAN))).collect()
        };
        let chosen = self.entries.iter().filter(|entry| input.is_none_or(|input| entry.input == input));
        chosen
            .map(|entry| Response {
                name: format!("{} / {}{}", entry.output, entry.input, entry.shown.brackets()),
                re: number(entry, &entry.re),
                im: number(entry, &entry.im),
            })
            .collect()
    }

    /// The Bode diagram of all entries.
    pub fn figure(&self) -> Figure {
        let title = match self.entries.as_slice() {
            [only] => format!("{}: {} / {}{}", self.model, only.output, only.input, only.shown.brackets()),
            _ => format!("{}: frequency response", self.model),
        };
        bode(&title, &self.omega, &self.responses(None))
    }
}

impl From<&Bode> for paynter_export::FrequencyResponse {
    fn from(found: &Bode) -> paynter_export::FrequencyResponse {
        let value = |(re, im): (&Option<f64>, &Option<f64>)| [re.unwrap_or(f64::NAN), im.unwrap_or(f64::NAN)];
        let entry = |entry: &BodeEntry| paynter_export::ResponseEntry {
            output: entry.output.clone(),
            input: entry.input.clone(),
            values: entry.re.iter().zip(&entry.im).map(value).collect(),
        };
        paynter_export::FrequencyResponse {
            model: found.model.clone(),
            omega: found.omega.clone(),
            entries: found.entries.iter().map(entry).collect(),
        }
    }
}

impl BodeEntry {
    /// Magnitude in decibel, of what it is in the units that people are shown, where there is one.
    pub fn decibel(&self) -> Vec<Option<f64>> {
        self.numbers(|re, im| 20.0 * self.shown.of(re.hypot(im)).log10())
    }

    /// Phase in degrees, continued without jumps of a turn.
    pub fn phase(&self) -> Vec<Option<f64>> {
        let mut last: Option<f64> = None;
        let wrapped = self.numbers(|re, im| im.atan2(re).to_degrees());
        let follow = |angle: Option<f64>| {
            let angle = angle?;
            let turns = last.map_or(0.0, |last| ((last - angle) / 360.0).round());
            last = Some(angle + 360.0 * turns);
            last
        };
        wrapped.into_iter().map(follow).collect()
    }

    fn numbers(&self, number: impl Fn(f64, f64) -> f64) -> Vec<Option<f64>> {
        let pairs = self.re.iter().zip(&self.im);
        pairs.map(|(re, im)| re.zip(*im).map(|(re, im)| number(re, im)).filter(|x| x.is_finite())).collect()
    }
}
