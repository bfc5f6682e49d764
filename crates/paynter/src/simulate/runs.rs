//! Several runs beside each other: sweeps of parameters, scenarios.

use super::{Outcome, Response, Simulation};
use paynter_base::{Diagnostic, Ticket, code};
use paynter_draw::plot::{plain, unit};
use rayon::prelude::*;

/// So many runs in one sweep are a slip of the hand.
const MOST: usize = 1_000_000;

/// The values that a parameter, an input or an initial state takes in turn, in its own unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// One of several runs.
pub struct Run<'a> {
    /// What people call it: `R = 2, C = 0.5`, or the name of a scenario.
    pub name: String,
    /// The values of what is varied, in their own units.
    pub values: Vec<f64>,
    /// What runs.
    pub simulation: &'a Simulation,
    /// With which parameters, in SI.
    pub parameters: Vec<f64>,
}

impl Simulation {
    /// Every combination of the values of what is varied, the last one changing fastest.
    pub fn grid(&self, sweeps: &[Vary]) -> Result<Vec<Run<'_>>, Box<Diagnostic>> {
        let count = sweeps.iter().try_fold(1_usize, |count, vary| count.checked_mul(vary.values.len()));
        let Some(count) = count.filter(|count| *count <= MOST) else {
            let message = format!("the sweep has more than {MOST} runs");
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
            Run { name: words.join(", "), values, simulation: self, parameters }
        };
        Ok((0..count).map(run).collect())
    }
}

impl Run<'_> {
    /// The names and values of parameters whose sign is not that for which the model was compiled:
    /// laws are inverted and simplified for given signs.
    pub fn turned(&self) -> Vec<(String, f64)> {
        let nominal = |place: usize| self.simulation.parameters[place];
        let varied = self.simulation.varied.iter().zip(&self.values);
        let turned = varied.filter(|(varied, _)| nominal(varied.place) * self.parameters[varied.place] < 0.0);
        turned.map(|(varied, value)| (varied.column.name.clone(), *value)).collect()
    }
}

/// Makes runs in parallel and hands them on in their order; stops once the ticket is cancelled.
///
/// Only as many runs are held in memory as keep all threads busy.
pub fn respond_all(runs: &[Run<'_>], ticket: &Ticket, each: &mut dyn FnMut(&Run<'_>, Response, Outcome)) {
    let total: usize = runs.iter().map(|run| run.simulation.options.count()).sum();
    ticket.begin("simulation", total as u64);
    for batch in runs.chunks(8 * rayon::current_num_threads()) {
        let done: Vec<(Response, Outcome)> =
            batch.par_iter().map(|run| run.simulation.respond(&run.parameters, ticket)).collect();
        if ticket.is_cancelled() {
            return;
        }
        batch.iter().zip(done).for_each(|(run, (response, outcome))| each(run, response, outcome));
    }
}
