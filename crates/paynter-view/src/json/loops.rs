//! The answer of `paynter loop`.

use super::transfer::polynomial;
use super::{Diagnostic, Transfer, finite, pairs};
use crate::units::Shown;
use paynter_base::number::unit as spelled;
use paynter_draw::plot::{self, Curve, Figure, Response};
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics::linalg::Complex64;
use paynter_numerics::poles::monic;
use paynter_robust::locus::Locus as RootLocus;
use paynter_robust::loop_analysis::LoopAnalysis;
use paynter_robust::loops::At;
use paynter_robust::tolerances::{MarginKind, StepAnalysis, StepKind, StepRange};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// A loop opened at a signal or a bond: its transfer functions, margins and step responses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loop {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The signal or bond at which the loop is opened.
    pub open: String,
    /// What the loop tolerates before it is unstable.
    pub margins: LoopMargins,
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// The same in Hz.
    pub hz: Vec<f64>,
    /// Real parts of L(jω); `null` where a pole lies.
    pub re: Vec<Option<f64>>,
    /// Imaginary parts of L(jω); `null` where a pole lies.
    pub im: Vec<Option<f64>>,
    /// The loop gain L, as `tf` gives transfer functions; `null` where it is too long.
    #[serde(rename = "L")]
    pub loop_gain: Option<Transfer>,
    /// S = 1/(1 + L) and T = L/(1 + L), likewise.
    pub closed: Option<Transfer>,
    /// The units that parameters with tolerances are shown in to people, where they are declared.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_unit: BTreeMap<String, String>,
    /// The same with their sizes.
    #[serde(skip)]
    pub parameters_shown: BTreeMap<String, Shown>,
    /// Step responses of the closed loop by output, then input.
    pub step: BTreeMap<String, BTreeMap<String, Step>>,
    /// Closed-loop poles along a parameter, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locus: Option<Locus>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A number with the frequency that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MarginAt {
    /// The number.
    pub value: f64,
    /// Angular frequency in rad/s; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
}

/// The disk margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DiskMargin {
    /// α: gain and phase may change together by (1 + δ/2)/(1 − δ/2) for all complex |δ| < α.
    pub value: f64,
    /// Angular frequency in rad/s at which it is attained; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The factors between which the gain may lie, with no change of phase; `null` for infinity.
    pub gain: [Option<f64>; 2],
    /// The phase that may be lost or won, in degrees, with no change of gain.
    pub phase: f64,
}

/// What a loop tolerates.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LoopMargins {
    /// Whether the closed loop is stable. One that is not has no margins but factors that make it stable.
    pub stable: bool,
    /// The factor by which the gain may grow; `null` for any. Of a loop that is not stable the least factor above one
    /// from which on it is; `null` for none.
    pub gain: Option<MarginAt>,
    /// The factor to which the gain may fall; `null` for any. Of a loop that is not stable the largest factor below one
    /// up to which it is; `null` for none.
    pub least_gain: Option<MarginAt>,
    /// The phase in degrees that may be lost; `null` where |L| never is one, and of a loop that is not stable.
    pub phase: Option<MarginAt>,
    /// The delay in s that may be added; `null` where |L| never is one, and of a loop that is not stable.
    pub delay: Option<MarginAt>,
    /// The disk margin; `null` of a loop that is not stable.
    pub disk: Option<DiskMargin>,
    /// Of a loop that is not stable: intervals of factors of its gain with which it is; `null` for infinity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stabilising: Vec<[Option<f64>; 2]>,
    /// The margins that are withheld because the loop is not stable, which has nothing to lose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<&'static str>,
    /// Angular frequencies in rad/s at which |L| is one.
    pub crossover: Vec<f64>,
    /// The same in Hz.
    pub crossover_hz: Vec<f64>,
    /// The angular frequency in rad/s at which |T| falls by √2 below its value at zero.
    pub bandwidth: Option<f64>,
    /// The same in Hz.
    pub bandwidth_hz: Option<f64>,
    /// The largest |S|.
    pub sensitivity_peak: MarginAt,
    /// The largest |T|.
    pub complementary_peak: MarginAt,
    /// The smallest margins that were found within the tolerances, each calculated at the parameters it
    /// was found at; found, not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<BTreeMap<String, WorstLoop>>,
}

/// The smallest margin of one kind within the tolerances.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorstLoop {
    /// Whether the closed loop is stable there.
    pub stable: bool,
    /// The margin; 0 where the loop is not stable.
    pub value: f64,
    /// Its angular frequency in rad/s; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The parameters there, in SI.
    pub parameters: BTreeMap<String, f64>,
}

/// A step response of the closed loop.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Where it settles after a unit step.
    pub final_value: f64,
    /// The unit of the response that people are shown: that of the output per that of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
    /// From 10 % to 90 % of the final value, in s.
    pub rise_time: Option<f64>,
    /// After which it stays within 2 % of the final value, in s.
    pub settling_time: Option<f64>,
    /// By how much it exceeds the final value, in percent of it.
    pub overshoot: Option<f64>,
    /// The value farthest from zero in the direction of the final value.
    pub peak: f64,
    /// When it has that value, in s.
    pub peak_time: f64,
    /// By figure: what parameters and tolerances make of it; empty without tolerances.
    pub tolerance: BTreeMap<String, FigureRange>,
    /// Times in s.
    pub t: Vec<f64>,
    /// The output.
    pub y: Vec<f64>,
}

/// A figure within the tolerances.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureRange {
    /// The smallest that was found.
    pub low: f64,
    /// The largest that was found.
    pub high: f64,
    /// Its derivative by each parameter, in SI; `null` where it has none.
    pub sensitivity: BTreeMap<String, Option<f64>>,
    /// The units of these derivatives that people are shown.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sensitivity_unit: BTreeMap<String, String>,
    /// The same with their sizes.
    #[serde(skip)]
    pub sensitivity_shown: BTreeMap<String, Shown>,
    /// The unit of the figure itself.
    #[serde(skip)]
    pub shown: Shown,
    /// How far each parameter may be off, in SI.
    #[serde(skip)]
    pub tolerance_of: BTreeMap<String, f64>,
    /// The parameters at the smallest, in SI.
    pub low_parameters: BTreeMap<String, f64>,
    /// The parameters at the largest, in SI.
    pub high_parameters: BTreeMap<String, f64>,
}

/// Closed-loop poles along values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Locus {
    /// The parameter; `null` for a factor of the loop gain.
    pub parameter: Option<String>,
    /// Its values, in SI.
    pub values: Vec<f64>,
    /// The unit that people are shown them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
    /// By value: the poles as real and imaginary part, each branch at its own place.
    pub poles: Vec<Vec<[f64; 2]>>,
}

impl Locus {
    /// Writes a root locus down.
    pub fn new(graph: &BondGraph, parameter: Option<&str>, locus: &RootLocus) -> Locus {
        let poles = locus.poles.iter().map(|list| pairs(list)).collect();
        let same = |name: &&str| graph.parameters.iter().position(|known| flat_name(&known.name) == **name);
        let place = parameter.as_ref().and_then(same);
        let shown = place.map_or_else(Shown::default, |place| Shown::parameter(graph, place));
        Locus {
            parameter: parameter.map(str::to_owned),
            values: locus.values.clone(),
            values_unit: shown.unit.clone(),
            shown,
            poles,
        }
    }
}

/// The margins that a loop has only where it is stable.
const WITHHELD: [&str; 3] = ["phase", "delay", "disk"];

impl DiskMargin {
    fn new(At { value: alpha, omega }: At) -> DiskMargin {
        DiskMargin {
            value: alpha,
            omega: finite(omega),
            hz: finite(omega / TAU),
            gain: match alpha < 2.0 {
                true => [Some((2.0 - alpha) / (2.0 + alpha)), Some((2.0 + alpha) / (2.0 - alpha))],
                false => [Some(0.0), None],
            },
            phase: 2.0 * (alpha / 2.0).atan().to_degrees(),
        }
    }
}

fn at(at: At) -> MarginAt {
    MarginAt { value: at.value, omega: finite(at.omega), hz: finite(at.omega / TAU) }
}

/// The values of parameters at δ.
fn values(graph: &BondGraph, tolerances: &[(usize, f64)], delta: &[f64]) -> BTreeMap<String, f64> {
    let entry = |((place, deviation), delta): (&(usize, f64), &f64)| {
        let parameter = &graph.parameters[*place];
        (flat_name(&parameter.name), parameter.number + deviation * delta)
    };
    tolerances.iter().zip(delta).map(entry).collect()
}

impl LoopMargins {
    /// Writes margins down, with the smallest within tolerances.
    pub fn new(
        graph: &BondGraph,
        LoopAnalysis { margins, worst, .. }: &LoopAnalysis,
        tolerances: &[(usize, f64)],
    ) -> LoopMargins {
        let worst = worst.iter().map(|found| {
            let name = match found.kind {
                MarginKind::Gain => "gain",
                MarginKind::LeastGain => "least_gain",
                MarginKind::Phase => "phase",
                MarginKind::Delay => "delay",
                MarginKind::Disk => "disk",
            };
            let place = found.kind.at(&found.margins);
            let omega = place.and_then(|at| finite(at.omega));
            let parameters = values(graph, tolerances, &found.delta);
            let stable = found.margins.stable;
            let value = place.filter(|_| stable).map_or(0.0, |at| at.value);
            (name.to_owned(), WorstLoop { stable, value, omega, hz: omega.map(|w| w / TAU), parameters })
        });
        let worst: BTreeMap<String, WorstLoop> = worst.collect();
        LoopMargins {
            stable: margins.stable,
            gain: margins.gain.map(at),
            least_gain: margins.least_gain.map(at),
            phase: margins.phase.map(at),
            delay: margins.delay.map(at),
            disk: margins.disk.map(DiskMargin::new),
            stabilising: margins
                .stabilising
                .iter()
                .map(|(low, high)| [finite(*low), finite(*high)])
                .collect(),
            withheld: if margins.stable { Vec::new() } else { WITHHELD.to_vec() },
            crossover_hz: margins.crossovers.iter().map(|w| w / TAU).collect(),
            crossover: margins.crossovers.clone(),
            bandwidth: margins.bandwidth,
            bandwidth_hz: margins.bandwidth.map(|w| w / TAU),
            sensitivity_peak: at(margins.sensitivity),
            complementary_peak: at(margins.complementary),
            worst: (!worst.is_empty()).then_some(worst),
        }
    }
}

impl Step {
    /// Writes a step response down.
    pub fn new(graph: &BondGraph, tolerances: &[(usize, f64)], found: &StepAnalysis) -> Step {
        let figures = found.response.figures;
        let shown = Shown::output(graph, found.output).per(&Shown::input(graph, found.input));
        let second = Shown { unit: Some("s".to_owned()), factor: 1.0 };
        let percent = Shown { unit: Some("%".to_owned()), factor: 1.0 };
        let range = |range: &StepRange| {
            let (name, unit) = match range.kind {
                StepKind::FinalValue => ("final_value", &shown),
                StepKind::RiseTime => ("rise_time", &second),
                StepKind::SettlingTime => ("settling_time", &second),
                StepKind::Overshoot => ("overshoot", &percent),
            };
            let by = tolerances.iter().map(|(place, _)| {
                let name = flat_name(&graph.parameters[*place].name);
                (name, unit.per(&Shown::parameter(graph, *place)))
            });
            let by: BTreeMap<String, Shown> = by.collect();
            let derivatives =
                tolerances.iter().zip(&range.derivatives).map(|((place, deviation), derivative)| {
                    let name = flat_name(&graph.parameters[*place].name);
                    (name, derivative.map(|derivative| derivative / deviation))
                });
            let range = FigureRange {
                low: range.low.value,
                high: range.high.value,
                sensitivity: derivatives.collect(),
                sensitivity_unit: by
                    .iter()
                    .filter_map(|(name, shown)| Some((name.clone(), shown.unit.clone()?)))
                    .collect(),
                sensitivity_shown: by,
                shown: unit.clone(),
                tolerance_of: tolerances
                    .iter()
                    .map(|(place, deviation)| (flat_name(&graph.parameters[*place].name), *deviation))
                    .collect(),
                low_parameters: values(graph, tolerances, &range.low.delta),
                high_parameters: values(graph, tolerances, &range.high.delta),
            };
            (name.to_owned(), range)
        };
        Step {
            final_value: figures.final_value,
            rise_time: figures.rise_time,
            settling_time: figures.settling_time,
            overshoot: figures.overshoot,
            peak: figures.peak,
            peak_time: figures.peak_time,
            tolerance: found.ranges.iter().map(range).collect(),
            value_unit: shown.unit.clone(),
            shown,
            t: found.response.t.clone(),
            y: found.response.y.clone(),
        }
    }
}

impl Loop {
    /// Writes a loop down.
    pub fn new(
        (graph, open): (&BondGraph, &str),
        (LoopAnalysis { omega, response, .. }, tolerances): (&LoopAnalysis, &[(usize, f64)]),
        margins: LoopMargins,
        (loop_gain, closed): (Option<Transfer>, Option<Transfer>),
        step: BTreeMap<String, BTreeMap<String, Step>>,
        locus: Option<Locus>,
        diagnostics: Vec<Diagnostic>,
    ) -> Loop {
        let parameters_shown: BTreeMap<String, Shown> = tolerances
            .iter()
            .map(|(place, _)| (flat_name(&graph.parameters[*place].name), Shown::parameter(graph, *place)))
            .collect();
        let declared = |(name, shown): (&String, &Shown)| Some((name.clone(), shown.unit.clone()?));
        Loop {
            ok: true,
            model: graph.name.clone(),
            open: open.to_owned(),
            margins,
            omega: omega.to_vec(),
            hz: omega.iter().map(|w| w / TAU).collect(),
            re: response.iter().map(|l| finite(l.re)).collect(),
            im: response.iter().map(|l| finite(l.im)).collect(),
            loop_gain,
            closed,
            parameters_unit: parameters_shown.iter().filter_map(declared).collect(),
            parameters_shown,
            step,
            locus,
            diagnostics,
        }
    }

    /// Numerator and denominator of the loop gain in numbers, by its poles and zeros and its response.
    pub fn loop_gain_in_numbers(&self) -> Option<(String, String)> {
        let entry = self.loop_gain.as_ref()?.entries.first()?;
        let roots = |list: &Option<Vec<[f64; 2]>>| {
            let list = list.as_ref()?.iter();
            Some(list.map(|[re, im]| Complex64::new(*re, *im)).collect::<Vec<_>>())
        };
        let (poles, zeros) = (roots(&entry.poles)?, roots(&entry.zeros)?);
        let factor = |k: usize| {
            let (s, l) = (Complex64::new(0.0, self.omega[k]), Complex64::new(self.re[k]?, self.im[k]?));
            let product = |roots: &[Complex64]| roots.iter().map(|root| s - root).product::<Complex64>();
            Some((l * product(&poles) / product(&zeros)).re).filter(|factor| factor.is_finite())
        };
        let middle = self.omega.len() / 2;
        let factor = (middle..self.omega.len()).chain(0..middle).find_map(factor)?;
        let numerator: Vec<f64> = monic(&zeros).into_iter().map(|c| c * factor).collect();
        Some((polynomial(&numerator, true), polynomial(&monic(&poles), true)))
    }

    /// The response for a plot.
    fn curve(&self) -> Response {
        let numbers = |list: &[Option<f64>]| list.iter().map(|x| x.unwrap_or(f64::NAN)).collect();
        Response { name: "L".to_owned(), re: numbers(&self.re), im: numbers(&self.im) }
    }

    fn title(&self, what: &str) -> String {
        format!("{}: {what} at {}", self.model, self.open)
    }

    /// The Bode diagram of L.
    pub fn bode(&self) -> Figure {
        plot::bode(&self.title("loop gain"), &self.omega, &[self.curve()])
    }

    /// The Nyquist diagram of L.
    pub fn nyquist(&self) -> Figure {
        plot::nyquist(&self.title("Nyquist diagram of the loop"), &[self.curve()])
    }

    /// The Nichols chart of L.
    pub fn nichols(&self) -> Figure {
        plot::nichols(&self.title("Nichols chart of the loop"), &[self.curve()])
    }

    /// The root locus, where it was asked for.
    pub fn root_locus(&self) -> Option<Figure> {
        let locus = self.locus.as_ref()?;
        let branches = locus.poles.iter().map(Vec::len).max().unwrap_or(0);
        let point = |list: &Vec<[f64; 2]>, k: usize| list.get(k).copied().unwrap_or([f64::NAN; 2]);
        let curves = (0..branches).map(|k| Curve {
            x: locus.poles.iter().map(|list| point(list, k)[0]).collect(),
            y: locus.poles.iter().map(|list| point(list, k)[1]).collect(),
        });
        let along = locus.parameter.as_deref().unwrap_or("the loop gain");
        let number =
            |value: Option<&f64>| value.map_or_else(String::new, |x| plot::plain(locus.shown.of(*x), 4));
        let unit = locus.shown.unit.as_deref().map_or_else(String::new, |unit| format!(" {}", spelled(unit)));
        let title = format!(
            "{}: poles along {along} from {} to {}{unit}",
            self.model,
            number(locus.values.first()),
            number(locus.values.last())
        );
        Some(plot::locus(&title, &curves.collect::<Vec<_>>()))
    }

    /// The step responses.
    pub fn steps(&self) -> Option<Figure> {
        let entries = self.step.iter().flat_map(|(output, inputs)| {
            inputs.iter().map(move |(input, step)| (format!("{output} / {input}"), step))
        });
        let families: Vec<plot::Family> = entries
            .map(|(name, step)| plot::Family {
                name,
                unit: step.shown.unit.clone().unwrap_or_default(),
                runs: vec![(step.t.clone(), step.y.iter().map(|y| step.shown.of(*y)).collect())],
            })
            .collect();
        let title = format!("{}: step responses", self.model);
        (!families.is_empty()).then(|| plot::family(&title, &[String::new()], false, &families))
    }
}
