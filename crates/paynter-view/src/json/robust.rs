//! The answer of `paynter robust`.

use super::{Diagnostic, finite, pairs};
use crate::tolerance::{LEFT_OF_AXIS, PROVED_GAP};
use paynter_draw::plot::{self, Figure, Response};
use paynter_numerics::linalg::Complex64;
use paynter_robust::axis::Point;
use paynter_robust::robustness::{GainAnalysis, Robustness};
use paynter_robust::stability::{Stability, Worst};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// How far parameters may drift before a model is unstable or its gain too large.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Robust {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Whether it is not linear: all below is about its linearisation at the operating point, which is held.
    pub linearised: bool,
    /// Whether the model itself has the parameters of `worst`: not where a value is uncertain as a whole, or where it is
    /// the linearisation that has them.
    pub attained: bool,
    /// The uncertain parameters with what they are for δ = −1, 0 and 1, in SI.
    pub parameters: BTreeMap<String, UncertainRange>,
    /// The factor of the box of tolerances at which the model can be unstable.
    pub margin: Margin,
    /// The factor at which the scaling of the box ends, because a parameter reaches zero; `null` for never.
    pub limit: Option<f64>,
    /// Proved: the structured singular value is at most this at all frequencies; `null` where nothing is.
    pub mu_bound: Option<f64>,
    /// Where the upper bound is largest.
    pub peak: Peak,
    /// Angular frequencies in rad/s, rising.
    pub omega: Vec<f64>,
    /// The same in Hz.
    pub hz: Vec<f64>,
    /// Bounds of the structured singular value at these frequencies.
    pub mu: Vec<Bounds>,
    /// The same at infinite frequency.
    pub infinity: Option<Bounds>,
    /// Intervals of angular frequency on which the bound is not proved; `null` for infinity.
    pub unresolved: Vec<[Option<f64>; 2]>,
    /// What makes the model unstable at the upper end of the margin.
    pub worst: Option<RobustWorst>,
    /// Poles that no parameter moves.
    pub fixed: Vec<FixedPole>,
    /// The parts of the box that branch and bound looked at; `null` where it did not run.
    pub nodes: Option<usize>,
    /// The worst-case gain, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<RobustGain>,
    /// The poles of the nominal model.
    pub poles: Vec<[f64; 2]>,
    /// Poles within the tolerances, at samples and vertices of the box.
    pub cloud: Vec<[f64; 2]>,
    /// What is proved.
    pub proved: Vec<String>,
    /// What was found, without a proof that nothing is worse.
    pub estimated: Vec<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// The values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct UncertainRange {
    /// At δ = −1.
    pub low: f64,
    /// At δ = 0.
    pub nominal: f64,
    /// At δ = 1.
    pub high: f64,
}

/// A margin between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Margin {
    /// Proved: up to this factor the model is stable.
    pub lower: f64,
    /// Found: at this factor it is not; `null` where nothing was found up to the end of the scaling.
    pub upper: Option<f64>,
}

/// A bound from above with its frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Peak {
    /// Angular frequency in rad/s; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The bound there; `null` where there is none.
    pub upper: Option<f64>,
}

/// Bounds at one frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bounds {
    /// Attained by some Δ; 0 where none was found.
    pub lower: f64,
    /// Proved; `null` where there is none.
    pub upper: Option<f64>,
}

/// A Δ at which the model is not stable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RobustWorst {
    /// The values of the parameters, in SI.
    pub parameters: BTreeMap<String, f64>,
    /// Their δ.
    pub delta: BTreeMap<String, f64>,
    /// The angular frequency in rad/s of the pole on the imaginary axis; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The pole of the interconnection there.
    pub pole: Option<[f64; 2]>,
    /// The pole of the model itself with these parameters, from its own equations.
    pub verified_pole: Option<[f64; 2]>,
    /// The complex blocks at that frequency as rows of real and imaginary parts, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complex: Option<Vec<Vec<[f64; 2]>>>,
}

/// A pole that no parameter moves.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FixedPole {
    /// Real and imaginary part.
    pub pole: [f64; 2],
    /// The states in its eigenvector.
    pub states: Vec<String>,
}

/// The largest gain within the tolerances.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RobustGain {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// Attained at the parameters and the frequency below.
    pub lower: f64,
    /// Proved for all frequencies and all parameters within their tolerances; `null` where there is none.
    pub upper: Option<f64>,
    /// The parameters of the largest gain that was found, in SI.
    pub parameters: BTreeMap<String, f64>,
    /// Its angular frequency in rad/s; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The largest gain of the nominal model.
    pub nominal: f64,
    /// By frequency of `omega` above: the gain of the nominal model.
    pub nominal_gain: Vec<Option<f64>>,
    /// The gain at the worst parameters.
    pub worst_gain: Vec<Option<f64>>,
    /// The bound for all parameters.
    pub bound: Vec<Option<f64>>,
    /// The parts of the box that branch and bound looked at.
    pub nodes: usize,
    /// Robust performance, where a gain was asked for: by which factor the box may grow, and the gain fall, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance: Option<Margin>,
}

/// A parameter by name, and what it is at δ.
pub type Uncertain<'a> = (&'a str, Box<dyn Fn(f64) -> f64 + 'a>);

fn values(parameters: &[Uncertain<'_>], delta: &[f64]) -> BTreeMap<String, f64> {
    let value = |((name, at), delta): (&Uncertain<'_>, &f64)| ((*name).to_owned(), at(*delta));
    parameters.iter().zip(delta).map(value).collect()
}

impl From<&Stability> for Margin {
    fn from(found: &Stability) -> Margin {
        Margin { lower: found.lower, upper: found.upper }
    }
}

impl Peak {
    fn new(point: &Point) -> Peak {
        Peak { omega: finite(point.omega), hz: finite(point.omega / TAU), upper: finite(point.upper) }
    }
}

impl RobustWorst {
    fn new(parameters: &[Uncertain<'_>], worst: &Worst, verified: Option<Complex64>) -> RobustWorst {
        let pair = |z: Complex64| [z.re, z.im];
        let delta = parameters.iter().zip(&worst.delta).map(|((name, _), d)| ((*name).to_owned(), *d));
        RobustWorst {
            parameters: values(parameters, &worst.delta),
            delta: delta.collect(),
            omega: finite(worst.omega),
            hz: finite(worst.omega / TAU),
            pole: worst.pole.map(pair),
            verified_pole: verified.map(pair),
            complex: worst.complex.as_ref().map(|m| (0..m.rows()).map(|i| pairs(m.row(i))).collect()),
        }
    }
}

impl RobustGain {
    /// Writes a worst-case gain down.
    pub fn new(
        (output, input): &(String, String),
        parameters: &[Uncertain<'_>],
        found: &GainAnalysis,
    ) -> RobustGain {
        let GainAnalysis { worst: found, nodes, responses, performance } = found;
        let shown: Vec<usize> =
            (0..found.axis.points.len()).filter(|k| found.axis.points[*k].omega.is_finite()).collect();
        RobustGain {
            output: output.clone(),
            input: input.clone(),
            lower: found.lower,
            upper: finite(found.axis.bound).filter(|_| found.axis.unresolved.is_empty()),
            parameters: values(parameters, &found.delta),
            omega: finite(found.omega),
            hz: finite(found.omega / TAU),
            nominal: found.nominal.0,
            nominal_gain: shown.iter().map(|k| finite(responses[*k].0)).collect(),
            worst_gain: shown.iter().map(|k| finite(responses[*k].1)).collect(),
            bound: shown.iter().map(|k| finite(found.axis.points[*k].upper)).collect(),
            nodes: *nodes,
            performance: performance.as_ref().map(Margin::from),
        }
    }
}

/// What is proved of a margin, and what was found without a proof, in sentences.
struct Statements {
    proved: Vec<String>,
    estimated: Vec<String>,
}

impl Statements {
    fn new(
        found: &Stability,
        poles: &[Complex64],
        verified: Option<Complex64>,
        (parameters, wholes): (&[Uncertain<'_>], &[&str]),
        linearised: bool,
    ) -> Statements {
        let mut list = Statements { proved: Vec::new(), estimated: Vec::new() };
        let all = if parameters.is_empty() { "radii of neglected dynamics" } else { "tolerances" };
        let of = if linearised { "the linearisation, its point held, is " } else { "" };
        if found.lower > 0.0 && wholes.is_empty() {
            list.proved.push(format!("{of}stable up to {:.6} times the {all}", found.lower));
        } else if found.lower >= 1.0 {
            list.proved.push(format!("{of}stable within all {all}"));
        }
        if linearised {
            list.estimated(
                "that the model itself is stable there: its operating point moves with the parameters",
            );
        }
        match found.axis.unresolved.is_empty() {
            true if found.axis.bound.is_finite() => {
                list.proved("the bound of mu holds between the frequencies listed, from zero to infinity");
            }
            true => {}
            false => list.estimated("the bound of mu on the intervals of frequency listed as unresolved"),
        }
        // The size that rounding is measured by is that of all poles.
        let size = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        let stays = verified.is_some_and(|pole| pole.re < -LEFT_OF_AXIS * size);
        if found.upper.is_some() {
            list.add_worst(wholes, parameters.is_empty(), linearised, stays);
        }
        if !wholes.is_empty() {
            let names: Vec<String> = wholes.iter().map(|name| format!("`{name}`")).collect();
            list.estimated.push(format!(
                "margins other than 1, in which {} counts by its range within the tolerances, independent of the parameters in it",
                names.join(", ")
            ));
        }
        let gap = found.upper.is_some_and(|upper| found.lower < upper * (1.0 - PROVED_GAP));
        if gap || found.upper.is_none() && found.lower < found.limit {
            list.estimated("that no smaller parameters make it unstable: they were searched for");
        }
        list
    }

    fn proved(&mut self, statement: &str) {
        self.proved.push(statement.to_owned());
    }

    fn estimated(&mut self, statement: &str) {
        self.estimated.push(statement.to_owned());
    }

    /// Says whether the worst parameters make the model unstable; its pole with them may still be left of the axis.
    fn add_worst(&mut self, wholes: &[&str], blocks: bool, linearised: bool, stays: bool) {
        match (wholes, stays) {
            ([], false) if linearised => {
                self.proved("the parameters of `worst` make the linearisation unstable");
            }
            ([], false) if blocks => self.proved("the complex blocks of `worst` make the model unstable"),
            ([], false) => self.proved("the parameters of `worst` make the model unstable"),
            ([], true) => self.estimated(
                "that the parameters of `worst` make the model unstable: its operating point moves with them",
            ),
            _ => self.estimated("that some parameters give the values of `worst`"),
        }
    }
}

impl Robust {
    /// Writes a margin down.
    pub fn new(
        model: &str,
        (parameters, wholes): (&[Uncertain<'_>], &[&str]),
        states: &[String],
        Robustness { stability: found, poles, cloud, .. }: &Robustness,
        verified: Option<Complex64>,
        linearised: bool,
        diagnostics: Vec<Diagnostic>,
    ) -> Robust {
        let both = || found.axis.points.iter().zip(&found.attained);
        let bounds = |(point, lower): (&Point, &f64)| Bounds { lower: *lower, upper: finite(point.upper) };
        let inside = || both().filter(|(point, _)| point.omega.is_finite());
        let range = |(name, at): &Uncertain<'_>| {
            ((*name).to_owned(), UncertainRange { low: at(-1.0), nominal: at(0.0), high: at(1.0) })
        };
        let fixed = found.fixed.iter().map(|mode| FixedPole {
            pole: [mode.value.re, mode.value.im],
            states: mode.states.iter().filter_map(|k| states.get(*k).cloned()).collect(),
        });
        let unresolved = found.axis.unresolved.iter().map(|(low, high)| [finite(*low), finite(*high)]);
        let statements = Statements::new(found, poles, verified, (parameters, wholes), linearised);
        Robust {
            ok: true,
            model: model.to_owned(),
            linearised,
            attained: found.upper.is_some() && wholes.is_empty() && !linearised,
            parameters: parameters.iter().map(range).collect(),
            margin: Margin::from(found),
            limit: finite(found.limit),
            mu_bound: finite(found.axis.bound).filter(|_| found.axis.unresolved.is_empty()),
            peak: Peak::new(&found.axis.peak),
            omega: inside().map(|(point, _)| point.omega).collect(),
            hz: inside().map(|(point, _)| point.omega / TAU).collect(),
            mu: inside().map(bounds).collect(),
            infinity: both().find(|(point, _)| point.omega.is_infinite()).map(bounds),
            unresolved: unresolved.collect(),
            worst: found.worst.as_ref().map(|worst| RobustWorst::new(parameters, worst, verified)),
            fixed: fixed.collect(),
            nodes: found.nodes,
            gain: None,
            poles: pairs(poles),
            cloud: pairs(cloud),
            proved: statements.proved,
            estimated: statements.estimated,
            diagnostics,
        }
    }

    /// The bounds of the structured singular value over frequency.
    pub fn bounds(&self) -> Figure {
        let shown = || (0..self.omega.len()).filter(|k| self.omega[*k] > 0.0);
        let omega: Vec<f64> = shown().map(|k| self.omega[k]).collect();
        let upper: Vec<f64> = shown().map(|k| self.mu[k].upper.unwrap_or(f64::NAN)).collect();
        let lower: Vec<f64> = shown().map(|k| self.mu[k].lower).collect();
        let title = format!("{}: bounds of the structured singular value", self.model);
        plot::bounds(&title, "μ", &omega, &upper, &lower)
    }

    /// The worst-case gain against the nominal one, where it was asked for.
    pub fn gains(&self) -> Option<Figure> {
        let gain = self.gain.as_ref()?;
        let shown = || (0..self.omega.len()).filter(|k| self.omega[*k] > 0.0);
        let omega: Vec<f64> = shown().map(|k| self.omega[k]).collect();
        let curve = |name: &str, list: &[Option<f64>]| {
            let re: Vec<f64> = shown().map(|k| list[k].unwrap_or(f64::NAN)).collect();
            Response { name: name.to_owned(), im: vec![0.0; re.len()], re }
        };
        let curves = [
            curve("nominal", &gain.nominal_gain),
            curve("at the worst parameters", &gain.worst_gain),
            curve("bound for all", &gain.bound),
        ];
        let title = format!("{}: {} / {} within the tolerances", self.model, gain.output, gain.input);
        let mut figure = plot::bode(&title, &omega, &curves);
        figure.panels.truncate(1);
        Some(figure)
    }

    /// Poles within the tolerances.
    pub fn roots(&self) -> Figure {
        let points = |list: &[[f64; 2]]| list.iter().map(|[re, im]| (*re, *im)).collect::<Vec<_>>();
        let worst = self.worst.as_ref().and_then(|worst| worst.pole);
        let worst: Vec<(f64, f64)> = worst.map_or_else(Vec::new, |[re, im]| vec![(re, im), (re, -im)]);
        let title = format!("{}: poles within the tolerances", self.model);
        plot::root_cloud(&title, &points(&self.cloud), &points(&self.poles), &worst)
    }
}
