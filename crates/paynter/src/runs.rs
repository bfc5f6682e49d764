//! Several runs beside each other: sweeps and scenarios.

use crate::Model;
use crate::answer::{Answer, QueryError, refused};
use paynter_base::{CancellationToken, Diagnostics, JoinedFindings};
use paynter_simulate::Outcome;
use paynter_simulate::experiment::{
    Plan, Response, Run, SimulateOptions, Simulation, Vary, check_names, named, respond_all,
};
use paynter_verify::Check;
use std::sync::Arc;

/// Values of parameters and inputs under a name of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The values, as one would write them.
    pub set: Vec<(String, String)>,
}

/// The runs of a sweep or of scenarios, each with the compiled simulation that serves it.
pub struct Runs {
    /// The runs; in a sweep of several parameters the last one changes fastest.
    pub runs: Vec<Run>,
    /// The names of runs that cannot be made, and why.
    pub impossible: Vec<(String, String)>,
    /// What is found about all of them, with the files it is about.
    pub findings: JoinedFindings,
    /// How far samples of the first run of each compiled simulation fulfil the graph's own equations, once the runs
    /// are made; none where one contradicts them.
    pub checks: Option<Vec<(String, f64)>>,
    simulations: Vec<Answer<Arc<Simulation>>>,
    /// For each run the simulation that serves it.
    serving: Vec<usize>,
}

impl Model {
    /// Compiles the runs for every combination of values: once, and once more for each combination of signs.
    pub fn sweep(
        &self,
        options: &SimulateOptions,
        sweeps: &[Vary],
        token: &CancellationToken,
    ) -> Result<Runs, QueryError> {
        let varied = sweeps.iter().map(|vary| vary.name.clone()).collect();
        let options = SimulateOptions { varied, ..options.clone() };
        let nominal = self.simulation(&options, token)?;
        let plan = Plan::new(&nominal, sweeps).map_err(|found| refused(*found))?;
        let mut simulations = vec![nominal];
        for turned in &plan.signs[1..] {
            let turned = self.with(turned.iter().map(|(name, value)| (name.as_str(), *value)));
            simulations.push(turned.simulation(&options, token)?);
        }
        let compiled: Vec<Arc<Simulation>> = simulations.iter().map(|answer| answer.result.clone()).collect();
        let runs = plan.runs(&compiled, sweeps).map_err(|found| refused(*found))?;
        Ok(Runs::new(runs, simulations, plan.serving))
    }

    /// Compiles the model with the values of each scenario. One that cannot be compiled is reported, and the others go on.
    pub fn scenarios(
        &self,
        options: &SimulateOptions,
        scenarios: &[Scenario],
        token: &CancellationToken,
    ) -> Result<Runs, QueryError> {
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        check_names(&names).map_err(|found| refused(*found))?;
        let (mut runs, mut simulations, mut unfit) = (Vec::new(), Vec::new(), Vec::new());
        for Scenario { name, set } in scenarios {
            let other = self.with(set.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            match other.simulation(options, token) {
                Ok(simulation) => {
                    runs.push(Run::scenario(name.clone(), simulation.result.clone()));
                    simulations.push(simulation);
                }
                Err(QueryError::Wrong(mut found)) => {
                    found.retain(|finding| finding.is_error());
                    unfit.push((name, found, other.sources_with(options.data.as_ref())));
                }
                Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
            }
        }
        let serving = (0..runs.len()).collect();
        let mut all = Runs::new(runs, simulations, serving);
        for (name, errors, sources) in unfit {
            all.findings.take(&named(name, &errors), &sources);
            let reason = errors.iter().next().map_or("", |error| &error.message);
            all.impossible.push((name.clone(), reason.to_owned()));
        }
        Ok(all)
    }
}

impl Runs {
    fn new(runs: Vec<Run>, simulations: Vec<Answer<Arc<Simulation>>>, serving: Vec<usize>) -> Runs {
        let mut findings = JoinedFindings::default();
        simulations.iter().for_each(|answer| findings.take(&answer.findings, &answer.sources));
        Runs { runs, impossible: Vec::new(), findings, checks: Some(Vec::new()), simulations, serving }
    }

    /// How many numbers the answers of all runs hold.
    pub fn numbers(&self) -> usize {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.simulation.numbers()))
    }

    /// Makes the runs, in parallel, and hands them on in their order, each with what explains it. That is
    /// among the findings then.
    pub fn respond(
        &mut self,
        token: &CancellationToken,
        each: &mut dyn FnMut(&Run, Response, Outcome, &Diagnostics),
    ) {
        let Runs { runs, findings, checks, simulations, serving, .. } = self;
        let mut serving = serving.iter().map(|place| (*place, &simulations[*place]));
        let mut checked = vec![false; simulations.len()];
        respond_all(runs, token, &mut |run, response, outcome| {
            let Some((place, answer)) = serving.next() else { return };
            let mut said = answer.explain(&run.parameters, &outcome);
            // What is compiled once is checked once.
            if !std::mem::replace(&mut checked[place], true) {
                match answer.check_run(&outcome) {
                    Ok(found) => checks.iter_mut().for_each(|checks| {
                        let named = |check: &Check| (format!("{}: {}", run.name, check.what), check.residual);
                        checks.extend(found.iter().map(named));
                    }),
                    Err(contradiction) => {
                        *checks = None;
                        said.push(*contradiction);
                    }
                }
            }
            findings.take(&named(&run.name, &said), &answer.sources);
            each(run, response, outcome, &said);
        });
    }
}
