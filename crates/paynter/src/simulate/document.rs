//! The documents of runs.

use super::{Column, CostGradient, Outcome, Perturbation, Response, Run, Simulation};
use paynter_base::Diagnostics;
use paynter_view::json;
use std::collections::BTreeMap;

fn named(columns: &[Column], lists: &[Vec<f64>]) -> BTreeMap<String, Vec<f64>> {
    columns.iter().map(|column| column.name.clone()).zip(lists.iter().cloned()).collect()
}

/// Why a run stopped, by the finding that says so.
pub fn stopped(outcome: &Outcome, said: &Diagnostics) -> Option<json::Stopped> {
    outcome.failure?;
    let reason = said.iter().find(|diagnostic| diagnostic.is_error())?;
    let (code, message) = (reason.code.id().to_owned(), reason.message.clone());
    Some(json::Stopped { t: outcome.t, code, message })
}

impl Simulation {
    /// The document of a run; `said` explains it.
    pub fn document(
        &self,
        response: &Response,
        outcome: &Outcome,
        said: &Diagnostics,
        diagnostics: Vec<json::Diagnostic>,
    ) -> json::Simulation {
        json::Simulation {
            ok: outcome.failure.is_none(),
            model: self.model.clone(),
            run: self.run_document(response, outcome, said),
            units: self.units(),
            perturbation: None,
            gradients: Vec::new(),
            diagnostics,
        }
    }

    /// The units that outputs are shown in.
    fn units(&self) -> BTreeMap<String, String> {
        self.outputs.iter().filter_map(|column| Some((column.name.clone(), column.unit.clone()?))).collect()
    }

    fn run_document(
        &self,
        response: &Response,
        outcome: &Outcome,
        said: &Diagnostics,
    ) -> json::SimulationRun {
        let sensitivities = self.outputs.iter().zip(&response.sensitivities).map(|(output, lists)| {
            (output.name.clone(), self.wanted.iter().cloned().zip(lists.iter().cloned()).collect())
        });
        let stats = &outcome.stats;
        json::SimulationRun {
            complete: outcome.failure.is_none(),
            stopped: stopped(outcome, said),
            t: response.t.clone(),
            outputs: named(&self.outputs, &response.outputs),
            states: named(&self.states, &response.states),
            sensitivities: if self.wanted.is_empty() { BTreeMap::new() } else { sensitivities.collect() },
            energy: self.energy(response).map(|energy| energy.document()),
            stats: json::SimulationStats {
                solver: stats.solver.to_owned(),
                steps: stats.steps,
                rejected: stats.rejected,
                evaluations: stats.evaluations,
                jacobians: stats.jacobians,
                events: stats.events,
                switches: stats.switches,
                t: outcome.t,
            },
        }
    }

    /// The document of finite changes.
    pub fn perturbation(&self, found: &Perturbation) -> json::Perturbation {
        let outputs = self.outputs.iter().enumerate().map(|(place, column)| {
            let output = json::PerturbedOutput {
                incremental: found.incremental(place),
                exact: found.exact.outputs[place].clone(),
                difference: found.difference(place),
            };
            (column.name.clone(), output)
        });
        let changes = found.changes.iter().map(|change| (change.name.clone(), change.by));
        json::Perturbation { changes: changes.collect(), outputs: outputs.collect() }
    }

    /// The document of a gradient.
    pub fn gradient(&self, found: &CostGradient) -> json::Gradient {
        json::Gradient {
            of: found.cost.to_string(),
            value: found.value,
            by: self.wanted.iter().cloned().zip(found.by.iter().copied()).collect(),
        }
    }
}

impl Run<'_> {
    /// The document of one run of several; values are in SI.
    pub fn document(&self, response: &Response, outcome: &Outcome, said: &Diagnostics) -> json::NamedRun {
        let varied = self.simulation.varied.iter().zip(&self.values);
        json::NamedRun {
            name: self.name.clone(),
            values: varied.map(|(v, value)| (v.column.name.clone(), value * v.column.factor)).collect(),
            units: self.simulation.units(),
            run: self.simulation.run_document(response, outcome, said),
        }
    }
}
