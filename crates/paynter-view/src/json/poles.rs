//! The answer of `paynter poles`.

use super::{Checks, Diagnostic, Naming, Point, pairs};
use crate::units::Shown;
use paynter_algebra::{Expr, Pool};
use paynter_graph::{BondGraph, Variable};
use paynter_numerics as num;
use paynter_numerics::estimate::GroupKind;
use paynter_numerics::poles::{Factored, Spectrum, expanded};
use schemars::JsonSchema;
use serde::Serialize;

/// The eigenvalues of a linear model, or of a nonlinear one near its operating point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Poles {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// All finite eigenvalues as real and imaginary part, repeated ones repeated, slow ones first.
    pub poles: Vec<[f64; 2]>,
    /// The polynomial whose roots they are, in s and the parameters; `null` where it would be too long.
    pub characteristic: Option<String>,
    /// Whether all of them lie left of the imaginary axis.
    pub stable: bool,
    /// How many combinations of states keep their values near the operating point; each has its pole at zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conserved: Option<usize>,
    /// The same, each once, with what engineers ask of them.
    pub modes: Vec<Mode>,
    /// The transfer functions in factors, outputs first.
    pub zeros: Vec<Zeros>,
    /// Quick estimates from groups of elements, as if these were loosely coupled.
    pub estimates: Vec<Estimate>,
    /// The operating point of a nonlinear model, about which this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_point: Option<Point>,
    /// The answer in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// Whether multiplicities and cancellations were decided in exact numbers.
    pub exact: bool,
    /// How far it fulfils the graph's own equations.
    #[serde(flatten)]
    pub checks: Checks,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// An eigenvalue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mode {
    /// Real and imaginary part.
    pub pole: [f64; 2],
    /// Its multiplicity.
    pub multiplicity: usize,
    /// Damping ratio; `null` for a pole at the origin.
    pub damping: Option<f64>,
    /// Natural frequency in rad/s: the distance from the origin.
    pub natural_frequency: f64,
    /// The same in Hz.
    pub natural_frequency_hz: f64,
    /// Time constant in s, negative where the mode grows; `null` where it neither grows nor decays.
    pub time_constant: Option<f64>,
}

/// One transfer function: gain · Π(s − zero)/Π(s − pole), common factors cancelled.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Zeros {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Zeros as real and imaginary part.
    pub zeros: Vec<[f64; 2]>,
    /// The poles that are left.
    pub poles: Vec<[f64; 2]>,
    /// The factor before the products; 0 where the input does not act on the output.
    pub gain: f64,
    /// The value at s = 0; `null` where a pole lies there.
    pub dc_gain: Option<f64>,
    /// The unit that people are shown the value at s = 0 in, where units are declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dc_gain_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
}

/// What a group of elements resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EstimateKind {
    /// A storage with resistors: 1/(RC), R/L.
    FirstOrder,
    /// Two storages: ω0² = 1/(LC), ζ = (R/2)√(C/L) below 1.
    Resonance,
    /// The same with a damping ratio of 1 or more: two real eigenvalues.
    SecondOrder,
    /// A storage that nothing acts on.
    Integrator,
}

impl EstimateKind {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            EstimateKind::FirstOrder => "first order",
            EstimateKind::Resonance => "resonance",
            EstimateKind::SecondOrder => "second order",
            EstimateKind::Integrator => "integrator",
        }
    }
}

/// The estimated eigenvalues of a group of elements.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The group: storages first, then what acts between them.
    pub elements: Vec<String>,
    /// What it resembles.
    pub kind: EstimateKind,
    /// The polynomial in s whose roots are the estimate; `null` where it would be long.
    pub polynomial: Option<String>,
    /// The estimated eigenvalues.
    pub values: Vec<[f64; 2]>,
    /// Natural frequency of two storages in rad/s.
    pub natural_frequency: Option<f64>,
    /// Damping ratio of two storages.
    pub damping: Option<f64>,
    /// The true eigenvalues nearest to them.
    pub poles: Vec<[f64; 2]>,
    /// The largest distance between the two relative to the true one; `null` where that is zero.
    pub error: Option<f64>,
}

impl Mode {
    /// Derives damping, natural frequency and time constant of a pole.
    pub fn new(re: f64, im: f64, multiplicity: usize) -> Mode {
        let size = re.hypot(im);
        Mode {
            pole: [re, im],
            multiplicity,
            damping: (size > 0.0).then(|| positive_zero(-re / size)),
            natural_frequency: size,
            natural_frequency_hz: size / std::f64::consts::TAU,
            time_constant: Some(-1.0 / re).filter(|t| t.is_finite()),
        }
    }
}

impl From<&Poles> for paynter_export::PolesAndZeros {
    fn from(found: &Poles) -> paynter_export::PolesAndZeros {
        let mode = |mode: &Mode| paynter_export::Mode {
            pole: mode.pole,
            multiplicity: mode.multiplicity,
            damping: mode.damping.unwrap_or(f64::NAN),
            natural_frequency: mode.natural_frequency,
        };
        let factors = |entry: &Zeros| paynter_export::Factors {
            output: entry.output.clone(),
            input: entry.input.clone(),
            zeros: entry.zeros.clone(),
            poles: entry.poles.clone(),
        };
        paynter_export::PolesAndZeros {
            model: found.model.clone(),
            modes: found.modes.iter().map(mode).collect(),
            entries: found.zeros.iter().map(factors).collect(),
        }
    }
}

/// Polynomials of estimates of more characters say nothing to a reader.
const READABLE_POLYNOMIAL: usize = 160;

/// Polynomials of more nodes have more characters than that.
const READABLE_NODES: u64 = 4 * READABLE_POLYNOMIAL as u64;

impl Poles {
    /// Writes down the poles and zeros of a linear model, with its characteristic polynomial where that
    /// can be read.
    #[allow(clippy::too_many_arguments, reason = "all that the answer is made of")]
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        spectrum: &Spectrum,
        estimates: &[num::estimate::Estimate],
        characteristic: Option<Expr>,
        naming: Naming,
        diagnostics: Vec<Diagnostic>,
    ) -> Poles {
        let equations = &linear.equations;
        let poles = expanded(&spectrum.poles);
        let shown =
            |entry: &Factored| Shown::output(graph, entry.output).per(&Shown::input(graph, entry.input));
        let zeros = |entry: &Factored| Zeros {
            dc_gain_unit: shown(entry).unit,
            shown: shown(entry),
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            zeros: pairs(&entry.zeros),
            poles: pairs(&entry.poles),
            gain: entry.gain,
            dc_gain: entry.dc,
        };
        let modes = spectrum.poles.iter().map(|p| Mode::new(p.value.re, p.value.im, p.multiplicity));
        let characteristic = characteristic.map(|e| {
            let collected = pool.by_powers(e);
            pool.display(collected).to_string()
        });
        let estimates =
            estimates.iter().map(|found| Estimate::new(pool, graph, linear, found, naming)).collect();
        Poles {
            ok: true,
            model: graph.name.clone(),
            stable: poles.iter().all(|pole| pole.re < 0.0),
            conserved: Some(spectrum.conserved).filter(|count| *count > 0),
            poles: pairs(&poles),
            characteristic,
            modes: modes.collect(),
            zeros: spectrum.entries.iter().map(zeros).collect(),
            estimates,
            operating_point: Point::of(pool, linear),
            exact: spectrum.exact,
            written: None,
            checks: Checks::default(),
            diagnostics,
        }
    }
}

impl Estimate {
    fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        found: &num::estimate::Estimate,
        naming: Naming,
    ) -> Estimate {
        let group = &found.group;
        let states = group.states.iter().map(|state| &linear.equations.states[*state]);
        let signals = states.filter(|state| !matches!(state.variable, Variable::State(..)));
        let mut elements: Vec<String> = signals.map(|state| naming.name(&state.name)).collect();
        elements.extend(group.elements.iter().map(|id| naming.name(&graph.element(*id).name)));
        let short = found.polynomial.filter(|e| pool.written_size(&[*e]) <= READABLE_NODES);
        let short = short.map(|e| pool.by_powers(e));
        let polynomial = short.map(|e| pool.display(e).to_string());
        let oscillation = found.oscillation();
        Estimate {
            elements,
            kind: match group.kind {
                GroupKind::FirstOrder => EstimateKind::FirstOrder,
                GroupKind::Resonance => EstimateKind::Resonance,
                GroupKind::SecondOrder => EstimateKind::SecondOrder,
                GroupKind::Integrator => EstimateKind::Integrator,
            },
            polynomial: polynomial.filter(|text| text.chars().count() <= READABLE_POLYNOMIAL),
            values: pairs(&group.values),
            natural_frequency: oscillation.map(|[natural, _]| natural),
            damping: oscillation.map(|[_, damping]| damping),
            poles: pairs(&found.poles),
            error: found.error,
        }
    }
}

/// Zero without a sign.
fn positive_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}
