//! The answer of `paynter robust`.

use super::{Diagnostic, finite, pairs};
use crate::tolerance::{LEFT_OF_AXIS, PROVED_GAP};
use crate::units::Shown;
use paynter_base::number::significant;
use paynter_draw::plot::{self, Figure, Response};
use paynter_numerics::linalg::Complex64;
use paynter_robust::axis::Point;
use paynter_robust::robustness::{GainAnalysis, Robustness};
use paynter_robust::stability::{Stability, Worst};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// More intervals of frequency than this without a proof are counted in place of being listed.
const LISTED_INTERVALS: usize = 6;

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
    /// The units that parameters are shown in to people, where they are declared.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_unit: BTreeMap<String, String>,
    /// The same with their sizes.
    #[serde(skip)]
    pub parameters_shown: BTreeMap<String, Shown>,
    /// The factor of the box of tolerances at which the model can be unstable.
    pub margin: Margin,
    /// The factor at which the scaling of the box ends, because a parameter reaches zero; `null` for never.
    pub limit: Option<f64>,
    /// The factor of the box of tolerances up to which the equations are proved to have one solution, and the one at which
    /// they were found not to; only where that is within the tolerances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regular: Option<Margin>,
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
    /// The values among `parameters` that are uncertain as a whole: they count as independent of the parameters in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wholes: Vec<String>,
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
    /// The neglected dynamics of the largest gain that was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dynamics: Vec<DynamicsAt>,
    /// Its angular frequency in rad/s; `null` for infinity.
    pub omega: Option<f64>,
    /// The same in Hz.
    pub hz: Option<f64>,
    /// The largest gain of the nominal model.
    pub nominal: f64,
    /// The unit of these gains that people are shown: that of the output per that of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_unit: Option<String>,
    /// The same with its size.
    #[serde(skip)]
    pub shown: Shown,
    /// By frequency of `omega` above: the gain of the nominal model.
    pub nominal_gain: Vec<Option<f64>>,
    /// The gain at the worst parameters, with the neglected dynamics that are worst at each frequency.
    pub worst_gain: Vec<Option<f64>>,
    /// The bound for all parameters.
    pub bound: Vec<Option<f64>>,
    /// The parts of the box that branch and bound looked at.
    pub nodes: usize,
    /// Robust performance: the gain that may not be exceeded, in SI, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<f64>,
    /// Robust performance, where a gain was asked for: by which factor the box may grow, and the gain fall, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance: Option<Margin>,
}

/// Neglected dynamics 1 + Δ at a signal, at one frequency.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DynamicsAt {
    /// The signal.
    pub signal: String,
    /// Δ as a share of its radius there, real and imaginary part; its magnitude is 1 at most.
    pub share: [f64; 2],
}

/// An uncertain quantity.
pub struct Uncertain<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is at δ, in SI.
    pub at: Box<dyn Fn(f64) -> f64 + 'a>,
    /// The unit that people are shown.
    pub shown: Shown,
    /// Whether it is a parameter of its own; else a value that is uncertain as a whole.
    pub is_parameter: bool,
}

/// What is uncertain, and what it is called.
pub struct Uncertainty<'a> {
    /// The uncertain quantities, in the order of δ.
    pub parameters: Vec<Uncertain<'a>>,
    /// The signals with neglected dynamics, in the order of their blocks.
    pub dynamics: &'a [String],
    /// The scalings of the box up to which I − D11 Δ is regular and at which it is singular, where that is in the box.
    pub regular: Option<(f64, f64)>,
}

impl Uncertainty<'_> {
    fn values(&self, delta: &[f64]) -> BTreeMap<String, f64> {
        let value =
            |(quantity, delta): (&Uncertain<'_>, &f64)| (quantity.name.to_owned(), (quantity.at)(*delta));
        self.parameters.iter().zip(delta).map(value).collect()
    }
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
    fn new(uncertainty: &Uncertainty<'_>, worst: &Worst, verified: Option<Complex64>) -> RobustWorst {
        let pair = |z: Complex64| [z.re, z.im];
        let named = |(quantity, delta): (&Uncertain<'_>, &f64)| (quantity.name.to_owned(), *delta);
        let delta = uncertainty.parameters.iter().zip(&worst.delta).map(named);
        RobustWorst {
            parameters: uncertainty.values(&worst.delta),
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
        uncertainty: &Uncertainty<'_>,
        found: &GainAnalysis,
        (unit, allowed): (Shown, Option<f64>),
    ) -> RobustGain {
        let GainAnalysis { worst: found, nodes, responses, performance } = found;
        let dynamics = uncertainty.dynamics.iter().zip(&found.dynamics);
        let dynamics = dynamics.map(|(signal, z)| DynamicsAt { signal: signal.clone(), share: [z.re, z.im] });
        let shown: Vec<usize> =
            (0..found.axis.points.len()).filter(|k| found.axis.points[*k].omega.is_finite()).collect();
        RobustGain {
            output: output.clone(),
            input: input.clone(),
            lower: found.lower,
            upper: finite(found.axis.bound).filter(|_| found.axis.unresolved.is_empty()),
            parameters: uncertainty.values(&found.delta),
            dynamics: dynamics.collect(),
            omega: finite(found.omega),
            hz: finite(found.omega / TAU),
            nominal: found.nominal.0,
            value_unit: unit.unit.clone(),
            shown: unit,
            nominal_gain: shown.iter().map(|k| finite(responses[*k].0)).collect(),
            worst_gain: shown.iter().map(|k| finite(responses[*k].1)).collect(),
            bound: shown.iter().map(|k| finite(found.axis.points[*k].upper)).collect(),
            nodes: *nodes,
            allowed,
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
        ((certain, own), wholes): ((bool, bool), &[&str]),
        linearised: bool,
    ) -> Statements {
        let mut list = Statements { proved: Vec::new(), estimated: Vec::new() };
        let all = if certain { "radii of neglected dynamics" } else { "tolerances" };
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
            let singular = found.worst.as_ref().is_some_and(|worst| worst.omega.is_infinite());
            let cause = match found.worst.as_ref().is_some_and(|worst| worst.complex.is_some()) {
                _ if certain => "complex blocks",
                true => "parameters and complex blocks",
                false => "parameters",
            };
            list.add_worst(if own { &[] } else { wholes }, (cause, singular), linearised, stays);
        }
        if !wholes.is_empty() {
            let names: Vec<String> = wholes.iter().map(|name| format!("`{name}`")).collect();
            list.estimated.push(format!(
                "{} other than 1, in which {} counts by its range within the tolerances, independent of the parameters in it",
                if own { "a lower bound of the margin" } else { "margins" },
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
    fn add_worst(&mut self, wholes: &[&str], (cause, singular): (&str, bool), linearised: bool, stays: bool) {
        match (wholes, stays) {
            ([], false) if linearised => {
                self.proved(&format!("the {cause} of `worst` make the linearisation unstable"));
            }
            ([], false) if singular && cause == "parameters" => {
                self.proved("the parameters of `worst` leave the equations without a solution");
            }
            ([], false) => self.proved(&format!("the {cause} of `worst` make the model unstable")),
            ([], true) => self.estimated(&format!(
                "that the {cause} of `worst` make the model unstable: its operating point moves with them"
            )),
            _ => self.estimated("that some parameters give the values of `worst`"),
        }
    }
}

impl Robust {
    /// Writes a margin down; the worst parameters are those of `own` where the parameters themselves were moved.
    pub fn new(
        model: &str,
        (uncertainty, own): (&Uncertainty<'_>, Option<&Uncertainty<'_>>),
        states: &[String],
        Robustness { stability: found, poles, cloud, .. }: &Robustness,
        verified: Option<Complex64>,
        linearised: bool,
        diagnostics: Vec<Diagnostic>,
    ) -> Robust {
        let both = || found.axis.points.iter().zip(&found.attained);
        let bounds = |(point, lower): (&Point, &f64)| Bounds { lower: *lower, upper: finite(point.upper) };
        let inside = || both().filter(|(point, _)| point.omega.is_finite());
        let parameters = &uncertainty.parameters;
        let wholes: Vec<&str> = parameters
            .iter()
            .filter(|quantity| !quantity.is_parameter)
            .map(|quantity| quantity.name)
            .collect();
        let range = |quantity: &Uncertain<'_>| {
            let at = &quantity.at;
            (quantity.name.to_owned(), UncertainRange { low: at(-1.0), nominal: at(0.0), high: at(1.0) })
        };
        let fixed = found.fixed.iter().map(|mode| FixedPole {
            pole: [mode.value.re, mode.value.im],
            states: mode.states.iter().filter_map(|k| states.get(*k).cloned()).collect(),
        });
        let unresolved = found.axis.unresolved.iter().map(|(low, high)| [finite(*low), finite(*high)]);
        let kind = (parameters.is_empty(), own.is_some());
        let statements = Statements::new(found, poles, verified, (kind, &wholes), linearised);
        let shown = |quantity: &Uncertain<'_>| (quantity.name.to_owned(), quantity.shown.clone());
        let declared =
            |quantity: &Uncertain<'_>| Some((quantity.name.to_owned(), quantity.shown.unit.clone()?));
        Robust {
            ok: true,
            model: model.to_owned(),
            linearised,
            attained: found.upper.is_some() && (wholes.is_empty() || own.is_some()) && !linearised,
            parameters: parameters.iter().map(range).collect(),
            parameters_unit: parameters.iter().filter_map(declared).collect(),
            parameters_shown: parameters.iter().map(shown).collect(),
            margin: Margin::from(found),
            limit: finite(found.limit),
            regular: uncertainty.regular.map(|(lower, upper)| Margin { lower, upper: Some(upper) }),
            mu_bound: finite(found.axis.bound).filter(|_| found.axis.unresolved.is_empty()),
            peak: Peak::new(&found.axis.peak),
            omega: inside().map(|(point, _)| point.omega).collect(),
            hz: inside().map(|(point, _)| point.omega / TAU).collect(),
            mu: inside().map(bounds).collect(),
            infinity: both().find(|(point, _)| point.omega.is_infinite()).map(bounds),
            unresolved: unresolved.collect(),
            worst: found
                .worst
                .as_ref()
                .map(|worst| RobustWorst::new(own.unwrap_or(uncertainty), worst, verified)),
            wholes: wholes.iter().map(|name| (*name).to_owned()).collect(),
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

    /// Adds what the parameters attain themselves that are in values which are uncertain as a whole.
    #[must_use]
    pub fn with_own(mut self, own: &[Uncertain<'_>]) -> Robust {
        for Uncertain { name, at, shown, .. } in own {
            let range = UncertainRange { low: at(-1.0), nominal: at(0.0), high: at(1.0) };
            self.parameters.entry((*name).to_owned()).or_insert(range);
            let unit = shown.unit.clone();
            self.parameters_unit.extend(unit.map(|unit| ((*name).to_owned(), unit)));
            self.parameters_shown.insert((*name).to_owned(), shown.clone());
        }
        self
    }

    /// What tolerances or radii the margin counts in.
    fn unit_of_margin(&self) -> &'static str {
        if self.parameters.is_empty() { "radii of neglected dynamics" } else { "tolerances" }
    }

    /// What the bounds say of the margin, line by line.
    pub fn margin_words(&self) -> Vec<String> {
        let (lower, all) = (significant(self.margin.lower), self.unit_of_margin());
        let proof = if self.wholes.is_empty() { "proved" } else { "estimated" };
        let mut lines = vec![match (self.margin.upper, self.limit) {
            (Some(upper), _) => {
                let how = if self.attained { "attained" } else { "found" };
                format!("margin: {lower} ({proof}) to {} ({how}) times the {all}", significant(upper))
            }
            (None, Some(limit)) if self.margin.lower >= limit => {
                format!("stable up to {lower} times the {all}, where a parameter reaches zero")
            }
            (None, _) => format!("margin: at least {lower} times the {all} ({proof})"),
        }];
        if let Some(Margin { lower, upper: Some(upper) }) = self.regular {
            lines.push(format!(
                "the equations have one solution up to {} (proved), and none at {} times the {all}",
                significant(lower),
                significant(upper)
            ));
        }
        let unstable =
            self.margin.upper.is_some_and(|upper| upper < 1.0) && (self.attained || self.linearised);
        let outside = unstable || self.regular.is_some();
        let what = if self.linearised { "the linearisation, its point held, is " } else { "" };
        lines.push(match (self.margin.lower >= 1.0, outside) {
            (true, _) => format!("{what}stable within all {all}"),
            (_, true) => format!("{what}not stable within all {all}"),
            _ => format!("whether it is stable within all {all} is not decided"),
        });
        lines
    }

    /// Parameters as people read them: name with unit, nominal value, value, and how far that is off in tolerances.
    pub fn rows_of(&self, values: &BTreeMap<String, f64>) -> Vec<[String; 4]> {
        let row = |(name, value): (&String, &f64)| {
            let shown = self.parameters_shown.get(name).cloned().unwrap_or_default();
            let (nominal, delta) = match self.parameters.get(name) {
                Some(range) => {
                    let half = 0.5 * (range.high - range.low);
                    (significant(shown.of(range.nominal)), significant((value - range.nominal) / half))
                }
                None => (String::new(), String::new()),
            };
            [format!("{name}{}", shown.brackets()), nominal, significant(shown.of(*value)), delta]
        };
        values.iter().map(row).collect()
    }

    /// On which frequencies no bound is proved; few intervals are listed, of many their number and share is told.
    pub fn unresolved_words(&self, frequency: &dyn Fn(f64) -> f64, unit: &str) -> Option<String> {
        let end = |omega: Option<f64>| omega.map_or("∞".to_owned(), |w| significant(frequency(w)));
        let (first, last) = (self.unresolved.first()?, self.unresolved.last()?);
        let count = self.unresolved.len();
        if count <= LISTED_INTERVALS {
            let shown = self.unresolved.iter().map(|[low, high]| match low == high {
                true => end(*low),
                false => format!("{} … {}", end(*low), end(*high)),
            });
            let shown = shown.collect::<Vec<_>>().join(", ");
            return Some(format!("no bound of μ is proved at frequencies of {shown} {unit}"));
        }
        let decades = |[low, high]: &[Option<f64>; 2]| Some((high.as_ref()? / low.as_ref()?).log10());
        let together: Option<f64> = self.unresolved.iter().map(decades).sum();
        let together = together.filter(|sum| sum.is_finite());
        let together =
            together.map_or_else(String::new, |sum| format!(", {} decades together", plot::plain(sum, 2)));
        Some(format!(
            "no bound of μ is proved on {count} intervals of frequency between {} and {} {unit}{together}",
            end(first[0]),
            end(last[1])
        ))
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
            let re: Vec<f64> = shown().map(|k| gain.shown.of(list[k].unwrap_or(f64::NAN))).collect();
            Response { name: name.to_owned(), im: vec![0.0; re.len()], re }
        };
        let curves = [
            curve("nominal", &gain.nominal_gain),
            curve("at the worst parameters", &gain.worst_gain),
            curve("bound for all", &gain.bound),
        ];
        let unit = gain.shown.brackets();
        let title = format!("{}: {} / {}{unit} within the tolerances", self.model, gain.output, gain.input);
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
