//! The gradient of a cost by all parameters at once: one run forward, one
//! sweep back (the adjoint method).

use super::{Sensitivities, SimulateOptions, Simulation};
use crate::{Outcome, gradient};
use paynter_algebra::{Expr, Pool};
use paynter_base::{CancellationToken, Diagnostic, closest, code};
use paynter_equations::{Equations, QueryError, State};
use paynter_graph::{BondGraph, Variable, flat_name};

/// What a cost makes of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostKind {
    /// Its integral over time.
    Integral,
    /// Its value at the end.
    Final,
}

impl CostKind {
    /// All kinds with the names that people write.
    pub const NAMES: [(&'static str, CostKind); 2] =
        [("integral", CostKind::Integral), ("final", CostKind::Final)];
}

/// A number made of an output over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// What is made of it.
    pub kind: CostKind,
    /// The output's name.
    pub output: String,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = CostKind::NAMES.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}({})", self.output)
    }
}

/// A cost with its derivatives, in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct CostGradient {
    /// The cost.
    pub cost: Cost,
    /// Its value.
    pub value: f64,
    /// Its derivative by each of [`Simulation::wanted`]; empty where the run did not reach its end.
    pub by: Vec<f64>,
}

/// Adds a state for each integral; the costs, as outputs, are their values at the end.
pub(super) fn integrate(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &mut Equations,
    costs: &[Cost],
) -> Result<Vec<Expr>, Box<Diagnostic>> {
    let mut outputs = Vec::new();
    for cost in costs {
        let flat = flat_name(&cost.output);
        let Some(output) = equations.outputs.iter().find(|output| flat_name(&output.name) == flat) else {
            let names = equations.outputs.iter().map(|output| output.name.as_str());
            let diagnostic =
                Diagnostic::new(code::BAD_SIMULATION, format!("there is no output `{}`", cost.output));
            let help = match closest(&cost.output, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a cost is made of an output of the model, which may be any expression".to_owned(),
            };
            return Err(Box::new(diagnostic.help(help)));
        };
        let value = output.value;
        outputs.push(match cost.kind {
            CostKind::Final => value,
            CostKind::Integral => {
                let name = cost.to_string();
                let symbol = pool.fresh(&name);
                // An integrator after the graph's own.
                let variable = Variable::Integrator(graph.integrators.len() as u32);
                equations.states.push(State { name, symbol, variable, initial: pool.zero() });
                equations.rates.push(value);
                pool.var(symbol)
            }
        });
    }
    Ok(outputs)
}

/// What is compiled to calculate gradients by the asked parameters and initial states, all where none are asked.
pub fn gradient_options(options: &SimulateOptions) -> SimulateOptions {
    let sensitivities = match &options.sensitivities {
        Sensitivities::None => Sensitivities::All,
        asked => asked.clone(),
    };
    SimulateOptions { sensitivities, energy: false, ..options.clone() }
}

impl Simulation {
    /// Calculates the gradients of the costs that it was compiled with.
    pub fn gradients(
        &self,
        costs: &[Cost],
        token: &CancellationToken,
    ) -> Result<(Vec<CostGradient>, Outcome), QueryError> {
        let mut found = Vec::new();
        let mut outcome = None;
        for (place, cost) in costs.iter().enumerate() {
            let mut last = |_: usize, _: f64, outputs: &[f64], derivatives: &mut [f64]| {
                derivatives[place] = 1.0;
                outputs[place]
            };
            let (compiled, parameters) = (&self.program.compiled, &self.parameters);
            let result = gradient(compiled, parameters, &self.tables, &self.options, token, &mut last);
            let by = if result.outcome.failure.is_none() { result.by } else { Vec::new() };
            found.push(CostGradient { cost: cost.clone(), value: result.cost, by });
            outcome = Some(result.outcome);
        }
        outcome.map(|outcome| (found, outcome)).ok_or(QueryError::Cancelled)
    }
}
