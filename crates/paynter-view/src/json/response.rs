//! The answer of `paynter sensitivity` in numbers.

use super::{Checks, Diagnostic, Point, finite};
use crate::tolerance::BAND_ROUNDING;
use crate::units::Shown;
use paynter_algebra::Pool;
use paynter_draw::plot::{self, Figure};
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics as num;
use paynter_numerics::parametric::bands::{Band, Curve};
use paynter_numerics::parametric::{ResponseRequest, ResponseSensitivity};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The sensitivities of the frequency response, and what tolerances make of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SensitivityResponse {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The parameters asked for, in text order.
    pub parameters: Vec<String>,
    /// Whether the entries are relative, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// The same in Hz.
    pub hz: Vec<f64>,
    /// One entry for each output, input and parameter.
    pub entries: Vec<ResponseEntry>,
    /// By output and input: the parameters in the order of what their tolerances do over the band.
    pub ranking: Vec<Ranking>,
    /// Whether no parameter has a tolerance, so that 1 % was taken for each.
    pub assumed_tolerances: bool,
    /// By output and input: nominal magnitude and phase with their bands.
    pub bands: Vec<ToleranceBand>,
    /// What samples showed, where they were asked for.
    pub verification: Option<Verification>,
    /// The point about which a nonlinear model was linearised.
    pub operating_point: Option<Point>,
    /// How far it fulfils the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// One sensitivity over the frequencies.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResponseEntry {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The parameter.
    pub parameter: String,
    /// Real parts; `null` where a pole lies.
    pub re: Column,
    /// Imaginary parts; `null` where a pole lies.
    pub im: Column,
    /// The unit that people are shown.
    #[serde(skip)]
    pub shown: Shown,
}

/// Numbers over the frequencies, read from where they were calculated: there are millions of them.
#[derive(Clone)]
pub struct Column {
    found: Arc<ResponseSensitivity>,
    /// Output, input and parameter.
    place: [usize; 3],
    normalized: bool,
    imaginary: bool,
}

impl Column {
    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let [output, input, parameter] = self.place;
        let values = self.found.values(output, input, parameter, self.normalized);
        values.map(|value| finite(if self.imaginary { value.im } else { value.re }))
    }

    /// The number at a frequency, by its place.
    pub fn at(&self, place: usize) -> Option<f64> {
        self.iter().nth(place).flatten()
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl JsonSchema for Column {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<Option<f64>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Option<f64>>::json_schema(generator)
    }
}

/// What one parameter's tolerance does to one response, to first order.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The parameter.
    pub parameter: String,
    /// Its tolerance, as a deviation in SI.
    pub tolerance: f64,
    /// The unit that the tolerance is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
    /// The largest |δ·S/H| over the band; null where H is zero and changes, so that it is infinite.
    pub effect: Option<f64>,
    /// |δ·S| there, in SI.
    pub change: f64,
    /// The frequency where that is.
    pub omega: f64,
    /// The relative change of |H| there when the parameter is at its upper end; null where H is zero.
    pub magnitude: Option<f64>,
    /// The change of phase there, in degrees; null where H is zero.
    pub phase: Option<f64>,
}

/// Nominal magnitude and phase of one response with their bands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToleranceBand {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The unit that the output is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_unit: Option<String>,
    /// The unit that the input is shown in to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_unit: Option<String>,
    /// The unit of the response, in which people are shown |H|.
    #[serde(skip)]
    pub shown: Shown,
    /// |H|.
    pub magnitude: BandCurve,
    /// The phase in degrees.
    pub phase: BandCurve,
    /// Frequencies at which |H| of a sample left the worst-case band by more than a twentieth of its width: first
    /// order is not true there.
    pub outside: Vec<f64>,
    /// By how much |H| of samples left the worst-case band at most; `null` where all stayed inside or none were
    /// drawn.
    pub excess: Option<Excess>,
}

/// By how much samples left a band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Excess {
    /// As a part of the band's width.
    pub of_width: f64,
    /// The frequency.
    pub omega: f64,
}

impl Excess {
    /// The largest one of a curve, beyond rounding.
    fn of(curve: &BandCurve, omega: &[f64]) -> Option<Excess> {
        let (lower, upper) = (curve.sampled_lower.as_ref()?, curve.sampled_upper.as_ref()?);
        let at = |k: usize| {
            let (low, high) = (curve.worst_lower[k]?, curve.worst_upper[k]?);
            let beyond = (low - lower[k]?).max(upper[k]? - high);
            (beyond > BAND_ROUNDING * high.abs())
                .then(|| Excess { of_width: beyond / (high - low), omega: omega[k] })
        };
        (0..omega.len()).filter_map(at).max_by(|a, b| a.of_width.total_cmp(&b.of_width))
    }
}

/// A curve with its bands; `null` where a pole lies.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BandCurve {
    /// The nominal curve.
    pub nominal: Vec<Option<f64>>,
    /// Lower ends, all tolerances at their worst.
    pub worst_lower: Vec<Option<f64>>,
    /// Upper ends, all tolerances at their worst.
    pub worst_upper: Vec<Option<f64>>,
    /// Lower ends by the root of the sum of squares.
    pub rss_lower: Vec<Option<f64>>,
    /// Upper ends by the root of the sum of squares.
    pub rss_upper: Vec<Option<f64>>,
    /// The lowest values of the samples, where any were drawn.
    pub sampled_lower: Option<Vec<Option<f64>>>,
    /// The highest values of the samples, where any were drawn.
    pub sampled_upper: Option<Vec<Option<f64>>>,
}

/// How the bands were verified.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verification {
    /// How many samples were drawn.
    pub samples: usize,
    /// Where the random numbers started.
    pub seed: u64,
    /// Samples at which the model had no answer.
    pub failed: usize,
}

impl SensitivityResponse {
    /// Writes the sensitivities of a frequency response down; relative ones where `normalized`.
    pub fn new(
        pool: &Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        request: &ResponseRequest,
        found: &Arc<ResponseSensitivity>,
        normalized: bool,
        diagnostics: Vec<Diagnostic>,
    ) -> SensitivityResponse {
        let equations = &linear.equations;
        let output = |k: usize| equations.outputs[k].name.clone();
        let input = |k: usize| equations.inputs[k].name.clone();
        let parameters: Vec<String> =
            found.parameters.iter().map(|k| flat_name(&graph.parameters[*k].name)).collect();
        let units: Vec<Shown> = found.parameters.iter().map(|k| Shown::parameter(graph, *k)).collect();
        let mut entries = Vec::new();
        for o in 0..found.sensitivities.outputs {
            for i in 0..found.sensitivities.inputs {
                for (k, parameter) in parameters.iter().enumerate() {
                    let column =
                        |imaginary| Column { found: found.clone(), place: [o, i, k], normalized, imaginary };
                    entries.push(ResponseEntry {
                        output: output(o),
                        input: input(i),
                        parameter: parameter.clone(),
                        re: column(false),
                        im: column(true),
                        // A relative sensitivity is a number.
                        shown: match normalized {
                            true => Shown::default(),
                            false => Shown::output(graph, o).per(&Shown::input(graph, i)).per(&units[k]),
                        },
                    });
                }
            }
        }
        let ranking = found.effects.iter().map(|effect| Ranking {
            output: output(effect.output),
            input: input(effect.input),
            parameter: parameters[effect.parameter].clone(),
            tolerance: found.tolerances[effect.parameter],
            tolerance_unit: units[effect.parameter].unit.clone(),
            shown: units[effect.parameter].clone(),
            effect: finite(effect.size),
            change: effect.change,
            omega: effect.omega,
            magnitude: finite(effect.magnitude),
            phase: finite(effect.phase),
        });
        let bands = found.bands.iter().zip(&found.outside).enumerate().map(|(k, (own, outside))| {
            let seen = found.samples.as_ref().map(|samples| &samples.entries[k]);
            let (above, below) = (Shown::output(graph, own.output), Shown::input(graph, own.input));
            let magnitude = BandCurve::new(&own.magnitude, seen.map(|seen| &seen.magnitude));
            ToleranceBand {
                output: output(own.output),
                input: input(own.input),
                shown: above.per(&below),
                output_unit: above.unit,
                input_unit: below.unit,
                excess: Excess::of(&magnitude, &found.omega),
                magnitude,
                phase: BandCurve::new(&own.phase, seen.map(|seen| &seen.phase)),
                outside: outside.iter().map(|at| found.omega[*at]).collect(),
            }
        });
        SensitivityResponse {
            ok: true,
            model: graph.name.clone(),
            normalized,
            entries,
            ranking: ranking.collect(),
            assumed_tolerances: found.assumed,
            bands: bands.collect(),
            verification: found.samples.as_ref().map(|samples| Verification {
                samples: request.verify,
                seed: request.seed,
                failed: samples.failed,
            }),
            operating_point: Point::of(pool, linear),
            checks: Checks::default(),
            diagnostics,
            parameters,
            hz: found.omega.iter().map(|omega| omega / std::f64::consts::TAU).collect(),
            omega: found.omega.clone(),
        }
    }

    /// The Bode diagram of the sensitivities of one response.
    pub fn bode_figure(&self, output: &str, input: &str) -> Figure {
        let own = self.entries.iter().filter(|entry| entry.output == output && entry.input == input);
        let number =
            |shown: &Shown, list: &Column| list.iter().map(|x| shown.of(x.unwrap_or(f64::NAN))).collect();
        let responses: Vec<plot::Response> = own
            .map(|entry| plot::Response {
                name: format!("∂/∂{}{}", entry.parameter, entry.shown.brackets()),
                re: number(&entry.shown, &entry.re),
                im: number(&entry.shown, &entry.im),
            })
            .collect();
        plot::bode(&format!("Sensitivities of {output}/{input}"), &self.omega, &responses)
    }

    /// Magnitude and phase of one response with their tolerance bands.
    pub fn band_figure(&self, output: &str, input: &str) -> Option<Figure> {
        let own = self.bands.iter().find(|band| band.output == output && band.input == input)?;
        let decibel = |x: f64| 20.0 * own.shown.of(x).log10();
        let magnitude = own.magnitude.tolerance(decibel);
        let phase = own.phase.tolerance(|x| x);
        Some(plot::tolerance(&format!("Tolerances of {output}/{input}"), &self.omega, &magnitude, &phase))
    }

    /// What each parameter does to one response, the largest first.
    pub fn tornado_figure(&self, output: &str, input: &str) -> Figure {
        let toleranced = self.ranking.iter().filter(|rank| rank.tolerance > 0.0);
        let own = toleranced.filter(|rank| rank.output == output && rank.input == input);
        let effects: Vec<plot::Effect> = own
            .filter_map(|rank| {
                let change = 100.0 * rank.effect? * if rank.magnitude? < 0.0 { -1.0 } else { 1.0 };
                Some(plot::Effect { name: rank.parameter.clone(), low: -change, high: change })
            })
            .collect();
        let title = format!("Effect of the tolerances on {output}/{input}");
        plot::tornado(&title, "largest change of H", "%", &effects)
    }
}

impl BandCurve {
    fn new(own: &Curve, seen: Option<&Band>) -> BandCurve {
        let list = |values: &[f64]| -> Vec<Option<f64>> { values.iter().map(|x| finite(*x)).collect() };
        BandCurve {
            nominal: list(&own.nominal),
            worst_lower: list(&own.worst.lower),
            worst_upper: list(&own.worst.upper),
            rss_lower: list(&own.rss.lower),
            rss_upper: list(&own.rss.upper),
            sampled_lower: seen.map(|band| list(&band.lower)),
            sampled_upper: seen.map(|band| list(&band.upper)),
        }
    }

    fn tolerance(&self, scale: impl Fn(f64) -> f64) -> plot::Tolerance {
        let list = |values: &[Option<f64>]| -> Vec<f64> {
            values.iter().map(|x| x.map_or(f64::NAN, &scale)).collect()
        };
        let band = |lower: &[Option<f64>], upper: &[Option<f64>]| plot::Band {
            lower: list(lower),
            upper: list(upper),
        };
        plot::Tolerance {
            nominal: list(&self.nominal),
            worst: band(&self.worst_lower, &self.worst_upper),
            rss: band(&self.rss_lower, &self.rss_upper),
            sampled: self.sampled_lower.as_ref().zip(self.sampled_upper.as_ref()).map(|(l, u)| band(l, u)),
        }
    }
}
