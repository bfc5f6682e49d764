//! Several runs beside each other: sweeps of parameters, scenarios.

use super::{Response, Simulation};
use crate::Outcome;
use paynter_base::number::{plain, unit};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
#[cfg(feature = "parallel")]
use rayon::prelude::*;
use std::sync::Arc;

/// A sweep of more runs than this is refused as a mistake.
const MOST_RUNS: usize = 1_000_000;

/// The values that a parameter, an input or an initial state takes in turn, in its own unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// One of several runs.
#[derive(Clone)]
pub struct Run {
    /// What people call it: `R = 2, C = 0.5`, or the name of a scenario.
    pub name: String,
    /// The values of what is varied, in their own units.
    pub values: Vec<f64>,
    /// What runs.
    pub simulation: Arc<Simulation>,
    /// With which parameters, in SI.
    pub parameters: Vec<f64>,
}

impl Simulation {
    /// Every combination of the values of what is varied, the last one changing fastest.
    pub fn grid(self: &Arc<Simulation>, sweeps: &[Vary]) -> Result<Vec<Run>, Box<Diagnostic>> {
        let count = sweeps.iter().try_fold(1_usize, |count, vary| count.checked_mul(vary.values.len()));
        let Some(count) = count.filter(|count| *count <= MOST_RUNS) else {
            let message = format!("the sweep has more than {MOST_RUNS} runs");
            return Err(Box::new(Diagnostic::new(code::BAD_SIMULATION, message).help("sweep fewer values")));
        };
        let run = |number: usize| {
            let mut rest = number;
            let mut values: Vec<f64> = Vec::new();
            for vary in sweeps.iter().rev() {
                values.push(vary.values[rest % vary.values.len()]);
                rest /= vary.values.len();
            }
            values.reverse();
            let mut parameters = self.parameters.clone();
            let mut words = Vec::new();
            for (varied, value) in self.varied.iter().zip(&values) {
                parameters[varied.place] = value * varied.column.factor;
                let unit = varied.column.unit.as_deref().map(|text| format!(" {}", unit(text)));
                let unit = unit.unwrap_or_default();
                words.push(format!("{} = {}{unit}", varied.column.name, plain(*value, 4)));
            }
            Run { name: words.join(", "), values, simulation: self.clone(), parameters }
        };
        Ok((0..count).map(run).collect())
    }
}

impl Run {
    /// The run of a scenario: a model with its own values.
    pub fn scenario(name: String, simulation: Arc<Simulation>) -> Run {
        let parameters = simulation.parameters.clone();
        Run { name, values: Vec::new(), simulation, parameters }
    }

    /// The names and values of parameters whose sign is not that for which the model was compiled.
    fn turned(&self) -> Vec<(String, f64)> {
        let nominal = |place: usize| self.simulation.parameters[place];
        let varied = self.simulation.varied.iter().zip(&self.values);
        let turned = varied.filter(|(varied, _)| nominal(varied.place) * self.parameters[varied.place] < 0.0);
        turned.map(|(varied, value)| (varied.column.name.clone(), *value)).collect()
    }
}

/// Which compiled model serves each run of a sweep: laws are inverted and simplified for given signs of
/// parameters, so that each combination of signs needs a model of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// For each compiled model the parameters whose sign is not the nominal one, with a value of that sign;
    /// none for the first, which is the nominal one.
    pub signs: Vec<Vec<(String, f64)>>,
    /// For each run of the sweep the compiled model that serves it.
    pub serving: Vec<usize>,
}

impl Plan {
    /// Finds the combinations of signs in a sweep of the nominal model.
    pub fn new(nominal: &Arc<Simulation>, sweeps: &[Vary]) -> Result<Plan, Box<Diagnostic>> {
        let mut plan = Plan { signs: vec![Vec::new()], serving: Vec::new() };
        for run in nominal.grid(sweeps)? {
            let turned = run.turned();
            let alike = |known: &Vec<(String, f64)>| {
                known.iter().map(|(name, _)| name).eq(turned.iter().map(|(name, _)| name))
            };
            let place = plan.signs.iter().position(alike).unwrap_or(plan.signs.len());
            if place == plan.signs.len() {
                plan.signs.push(turned);
            }
            plan.serving.push(place);
        }
        Ok(plan)
    }

    /// The runs of the sweep, each by the compiled model that serves it.
    pub fn runs(&self, compiled: &[Arc<Simulation>], sweeps: &[Vary]) -> Result<Vec<Run>, Box<Diagnostic>> {
        let grids = compiled.iter().map(|simulation| simulation.grid(sweeps));
        let mut grids: Vec<Vec<Option<Run>>> = grids
            .map(|grid| grid.map(|runs| runs.into_iter().map(Some).collect()))
            .collect::<Result<_, _>>()?;
        let serving = self.serving.iter().enumerate();
        Ok(serving.filter_map(|(number, place)| grids.get_mut(*place)?.get_mut(number)?.take()).collect())
    }
}

/// Refuses scenarios of which two have one name.
pub fn check_names(names: &[&str]) -> Result<(), Box<Diagnostic>> {
    match names.iter().enumerate().find(|(number, name)| names[..*number].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            let message = format!("two scenarios are called `{name}`");
            let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
            Err(Box::new(diagnostic.help("give each a name of its own")))
        }
    }
}

/// Findings about one run of several, each behind the name of the run.
pub fn named(run: &str, said: &Diagnostics) -> Diagnostics {
    let mut named = Diagnostics::new();
    for diagnostic in said.iter() {
        named.push(Diagnostic { message: format!("{run}: {}", diagnostic.message), ..diagnostic.clone() });
    }
    named
}

/// Makes runs in parallel and hands them on in their order; stops once the token is cancelled.
///
/// Only as many runs are held in memory as keep all threads busy.
pub fn respond_all(runs: &[Run], token: &CancellationToken, each: &mut dyn FnMut(&Run, Response, Outcome)) {
    let total: usize = runs.iter().map(|run| run.simulation.options.count()).sum();
    token.begin("simulation", total as u64);
    for batch in runs.chunks(8 * threads()) {
        let done = respond_batch(batch, token);
        if token.is_cancelled() {
            return;
        }
        batch.iter().zip(done).for_each(|(run, (response, outcome))| each(run, response, outcome));
    }
}

/// The number of threads that runs are made on.
fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// Lets the calling thread do the work of all where the system allows no others.
pub fn settle_threads() {
    #[cfg(feature = "parallel")]
    if rayon::ThreadPoolBuilder::new().build().is_err() {
        // It fails where threads are there already, and then it changes nothing.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
}

/// Makes some runs, in their order.
fn respond_batch(batch: &[Run], token: &CancellationToken) -> Vec<(Response, Outcome)> {
    let respond = |run: &Run| run.simulation.respond(&run.parameters, token);
    #[cfg(feature = "parallel")]
    let runs = batch.par_iter();
    #[cfg(not(feature = "parallel"))]
    let runs = batch.iter();
    runs.map(respond).collect()
}
