//! Finite changes of parameters: what the incremental model says about them
//! beside the exact response (Borutzky and Granda, Fig. 15).

use super::question::{Named, named, states, unknown};
use super::{Direction, Response, SimulateOptions, Simulation, Subject, refused};
use crate::{Outcome, Wanted};
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, Remedy, code, number};
use paynter_equations::QueryError;

/// A change of a parameter or an initial state.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// By how much: a fraction of its value, or an amount in its own unit.
    pub by: f64,
    /// Whether it is a fraction.
    pub relative: bool,
}

/// A change as it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The name of the parameter or initial state.
    pub name: String,
    /// The change in SI.
    pub by: f64,
    /// As people read it: `Ra + 10 %`.
    pub words: String,
}

/// A response with what changes of parameters make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// The changes.
    pub changes: Vec<Changed>,
    /// The response without them; its one sensitivity is Δy of the incremental model.
    pub nominal: Response,
    /// The response of the changed model.
    pub exact: Response,
}

impl Perturbation {
    /// An output by the incremental model, y + Δy.
    pub fn incremental(&self, output: usize) -> Vec<f64> {
        let change = &self.nominal.sensitivities[output][0];
        self.nominal.outputs[output].iter().zip(change).map(|(y, change)| y + change).collect()
    }

    /// What the incremental model leaves out: y + Δy minus the exact response, as far as both came.
    pub fn difference(&self, output: usize) -> Vec<f64> {
        let exact = &self.exact.outputs[output];
        self.incremental(output).iter().zip(exact).map(|(y, exact)| y - exact).collect()
    }
}

/// Compiles the model with a step along finite changes as its one sensitivity.
pub fn perturbed(
    pool: &mut Pool,
    subject: &Subject<'_>,
    (options, changes): (&SimulateOptions, &[Change]),
    findings: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<(Simulation, Vec<Changed>), QueryError> {
    let (graph, equations) = (subject.graph, subject.equations);
    let value = |symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let states = states(equations);
    let (mut changed, mut weights) = (Vec::new(), Vec::new());
    for change in changes {
        let (nominal, unit) = match named(graph, &states, &change.name) {
            Some(Named::Parameter(i)) => {
                let parameter = &graph.parameters[i];
                (parameter.number, parameter.unit.as_ref())
            }
            Some(Named::Initial(i)) => (pool.eval(equations.states[i].initial, &value).unwrap_or(0.0), None),
            _ => return Err(refused(*unknown(graph, &states, &change.name, false))),
        };
        if change.relative && nominal == 0.0 {
            let message = format!("a part of `{}` is no change: its value is zero", change.name);
            let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
            let help =
                Remedy::from("give the change itself: ").option("perturb", format!("{}=+0.1", change.name));
            return Err(refused(diagnostic.help(help)));
        }
        let factor = unit.map_or(1.0, |unit| unit.factor);
        let (by, amount, unit) = match change.relative {
            true => (change.by * nominal, 100.0 * change.by, "%".to_owned()),
            false => {
                let text = unit.map(|unit| number::unit(&unit.text)).unwrap_or_default();
                (change.by * factor, change.by, text)
            }
        };
        weights.push((change.name.clone(), by / factor));
        if nominal * (nominal + by) < 0.0 {
            let message = format!("the change turns the sign of `{}`", change.name);
            let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
            let help = Remedy::marked(
                "laws are solved for a sign: change it by less, or compare runs with {option scenario}",
            );
            return Err(refused(diagnostic.help(help)));
        }
        let sign = if change.by < 0.0 { '−' } else { '+' };
        let words = format!("{} {sign} {} {unit}", change.name, number::plain(amount.abs(), 4));
        changed.push(Changed { name: change.name.clone(), by, words: words.trim_end().to_owned() });
    }
    let direction = Direction { name: "change".to_owned(), weights };
    let options = SimulateOptions { directions: vec![direction], ..options.clone() };
    Ok((Simulation::compile(pool, subject, (&options, &[]), findings, token)?, changed))
}

impl Simulation {
    /// Responds without and with the changes it was compiled for.
    pub fn perturb(&self, changes: Vec<Changed>, token: &CancellationToken) -> (Perturbation, [Outcome; 2]) {
        token.begin("simulation", 2 * self.options.count() as u64);
        let (nominal, first) = self.respond(&self.parameters, token);
        let (exact, second) = self.respond(&self.changed(), token);
        (Perturbation { changes, nominal, exact }, [first, second])
    }

    /// The parameters with the whole change.
    pub fn changed(&self) -> Vec<f64> {
        let mut parameters = self.parameters.clone();
        if let Some(Wanted::Parameter(step)) = self.program.compiled.wanted.first() {
            parameters[*step] = 1.0;
        }
        parameters
    }
}
