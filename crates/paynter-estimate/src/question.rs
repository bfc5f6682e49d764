//! What an estimation is asked for.

use crate::loss::Loss;
use crate::search::Method;
use paynter_algebra::Pool;
use paynter_base::number::shortest;
use paynter_base::{Diagnostic, Diagnostics, QueryError, Remedy, SourceMap, code};
use paynter_graph::{Amount, BondGraph, flat_name};
use paynter_numerics::program::Hold;
use paynter_simulate::data::Data;
use paynter_simulate::experiment::{SimulateOptions, Subject};

/// Which unknowns a search moves by their logarithms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Logarithmic {
    /// None.
    #[default]
    None,
    /// All that start above zero and have no negative lower bound.
    All,
    /// These.
    Names(Vec<String>),
}

/// How much the samples of an output count.
#[derive(Debug, Clone, PartialEq)]
pub enum Weight {
    /// By this factor, in units of the output.
    Even(f64),
    /// By the factors in this column of the data.
    Column(String),
}

/// What an estimation is asked for. Values are in the units that the model declares.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateOptions {
    /// The records of the experiments.
    pub data: Vec<Data>,
    /// Records that validate.
    pub validation: Vec<Data>,
    /// The share at the end of every record that validates.
    pub validation_share: f64,
    /// The columns of inputs and outputs whose headings are not their names.
    pub map: Vec<(String, String)>,
    /// The same in the records that validate, where it differs.
    pub validation_map: Vec<(String, String)>,
    /// The time between samples, where there is no column of times.
    pub sample_time: Option<f64>,
    /// What inputs do between samples.
    pub hold: Hold,
    /// Every so many samples of outputs count.
    pub decimate: usize,
    /// What is estimated: parameters, `init(ELEMENT.q)`, `offset(OUTPUT)`, `gain(OUTPUT)`; where empty, the
    /// parameters with bounds.
    pub fit: Vec<String>,
    /// Parameters that differ from experiment to experiment, as initial states do.
    pub local: Vec<String>,
    /// Where the search starts, in place of the model's values.
    pub start: Vec<(String, Amount)>,
    /// Bounds in place of the model's.
    pub bounds: Vec<(String, f64, f64)>,
    /// The weights of outputs.
    pub weights: Vec<(String, Weight)>,
    /// How much a residual counts.
    pub loss: Loss,
    /// Whether tolerances are priors.
    pub prior: bool,
    /// How the smallest cost is searched for.
    pub method: Method,
    /// What is moved by its logarithm.
    pub logarithmic: Logarithmic,
    /// The limit of iterations.
    pub iterations: usize,
    /// The number of starts: the first, and others at random.
    pub starts: usize,
    /// Where the random numbers of starts begin.
    pub seed: u64,
    /// The number of pieces that a record is simulated in at first.
    pub shots: usize,
    /// The confidence of intervals.
    pub level: f64,
    /// Estimates whose profile likelihood is wanted.
    pub profiles: Vec<String>,
    /// Whether curves for plots are wanted.
    pub curves: bool,
    /// Relative tolerance of simulations.
    pub rtol: f64,
    /// Absolute tolerance, in SI.
    pub atol: Option<f64>,
    /// The solver's name.
    pub solver: String,
    /// The step of a solver with a fixed one.
    pub step: Option<f64>,
    /// A simulation of more steps is a rejected step of the search.
    pub max_steps: u64,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        let simulated = SimulateOptions::default();
        EstimateOptions {
            data: Vec::new(),
            validation: Vec::new(),
            validation_share: 0.0,
            map: Vec::new(),
            validation_map: Vec::new(),
            sample_time: None,
            hold: Hold::Linear,
            decimate: 1,
            fit: Vec::new(),
            local: Vec::new(),
            start: Vec::new(),
            bounds: Vec::new(),
            weights: Vec::new(),
            loss: Loss::Squares,
            prior: false,
            method: Method::default(),
            logarithmic: Logarithmic::None,
            iterations: 100,
            starts: 1,
            seed: 1,
            shots: 1,
            level: 0.95,
            profiles: Vec::new(),
            curves: false,
            rtol: simulated.rtol,
            atol: None,
            solver: simulated.solver,
            step: None,
            max_steps: simulated.max_steps,
        }
    }
}

/// A derived model, its own tables, and where findings about data go.
pub struct Asked<'a, 'b> {
    /// The pool of its expressions, to be extended.
    pub pool: &'b mut Pool,
    /// The graph, its causality and its equations; measured inputs are not in it yet. Its values may be others than the
    /// model's ([`EstimateOptions::derived_at`]).
    pub subject: Subject<'a>,
    /// The graph at the model's own values.
    pub own: &'a BondGraph,
    /// The files that findings refer to.
    pub sources: &'b mut SourceMap,
    /// What is found out.
    pub findings: &'b mut Diagnostics,
}

/// Refuses a question for one reason.
pub(crate) fn refuse(message: impl Into<String>, help: impl Into<Remedy>) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(Diagnostic::new(code::BAD_ESTIMATION, message.into()).help(help));
    QueryError::Wrong(diagnostics)
}

impl EstimateOptions {
    /// The values for which equations have to be derived, in the units that the model declares, where the model's own
    /// will not do: of what is estimated and starts with another sign. Equations of what is zero may have lost it, so
    /// that they are derived for a value beside it, on the side where its bounds are.
    pub fn derived_at(&self, graph: &BondGraph) -> Vec<(String, f64)> {
        let mut values = Vec::new();
        for parameter in &*graph.parameters {
            let name = flat_name(&parameter.name);
            let is_asked = match self.fit.is_empty() {
                true => parameter.bounds.is_some(),
                false => self.fit.iter().any(|fit| flat_name(fit.trim()) == name),
            };
            let own = parameter.in_declared_unit(parameter.number);
            let given = self.start.iter().find(|(known, _)| flat_name(known.trim()) == name);
            // A unit that does not fit is refused where the unknowns are made.
            let start = given.map_or(own, |(_, start)| match &start.unit {
                Some(unit) => parameter.in_declared_unit(start.number * unit.factor),
                None => start.number,
            });
            let alike = own != 0.0 && (start == 0.0 || start.signum() == own.signum());
            if !is_asked || alike || !start.is_finite() {
                continue;
            }
            let bounds = self.bounds.iter().find(|(known, ..)| flat_name(known.trim()) == name);
            let declared = || {
                let (low, high) = parameter.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                (parameter.in_declared_unit(low), parameter.in_declared_unit(high))
            };
            let (low, high) = bounds.map_or_else(declared, |(_, low, high)| (*low, *high));
            let beside = if high > 0.0 { (0.5 * high).min(1.0) } else { (0.5 * low).max(-1.0) };
            values.push((name, if start == 0.0 { beside } else { start }));
        }
        values
    }

    /// Says what is wrong with the numbers of the question, whatever the model.
    pub fn check(&self) -> Result<(), QueryError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if self.sample_time.is_some_and(|step| !positive(step)) {
            return Err(refuse(
                "the sample time is not positive",
                Remedy::marked("give {option sample_time} in seconds"),
            ));
        }
        if !(0.0..1.0).contains(&self.validation_share) {
            return Err(refuse(
                format!(
                    "a share of {} for validation leaves nothing to fit",
                    shortest(self.validation_share)
                ),
                Remedy::marked("keep a part below 1 with {option validate}, such as 0.3"),
            ));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(refuse(
                format!("{} is no level of confidence", shortest(self.level)),
                Remedy::marked("give {option confidence} in per cent, such as 95"),
            ));
        }
        if self.decimate == 0 || self.starts == 0 || self.shots == 0 {
            return Err(refuse(
                "every how many samples count, the number of starts and that of shots are 1 at least",
                "leave them out for 1",
            ));
        }
        let lists: [(&str, Vec<&String>); 3] = [
            ("two starts", self.start.iter().map(|(name, _)| name).collect()),
            ("two pairs of bounds", self.bounds.iter().map(|(name, ..)| name).collect()),
            ("two weights", self.weights.iter().map(|(name, _)| name).collect()),
        ];
        for (what, names) in lists {
            let same = |a: &str, b: &str| flat_name(a.trim()) == flat_name(b.trim());
            let twice =
                names.iter().enumerate().find(|(at, name)| names[..*at].iter().any(|n| same(n, name)));
            if let Some((_, name)) = twice {
                return Err(refuse(format!("`{name}` has {what}"), "give one for each name"));
            }
        }
        for (name, low, high) in &self.bounds {
            if low.is_nan() || high.is_nan() || low >= high {
                return Err(refuse(
                    format!(
                        "the bounds {} and {} of `{name}` leave nothing between them",
                        shortest(*low),
                        shortest(*high)
                    ),
                    Remedy::marked("give {option bounds} as NAME=LOW:HIGH"),
                ));
            }
        }
        Ok(())
    }
}
