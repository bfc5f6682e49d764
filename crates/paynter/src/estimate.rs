//! Estimation from measured data: fetches the stages that the passes of
//! `paynter-estimate` work on.

use crate::Model;
use crate::answer::{Answer, Asked, QueryError};
use paynter_base::{CancellationToken, Diagnostics, FileId, SourceMap, Spelling};
use paynter_estimate as est;
pub use paynter_estimate::{
    Curve, Estimate, EstimateOptions, Estimation, Fit, Iteration, Logarithmic, Loss, Method, Part, Plan,
    PlanOptions, Weight,
};
pub use paynter_graph::Amount;
use paynter_graph::BondGraph;
use paynter_simulate::data::Measured;
use paynter_simulate::experiment::Subject;
use paynter_view::json;
use std::sync::Arc;

impl Model {
    /// Estimates parameters and initial states from measured data.
    pub fn estimate(&self, options: &EstimateOptions, token: &CancellationToken) -> Asked<Estimation> {
        let found = self.measured(options, token, |asked, valid| est::estimate(asked, options, valid, token));
        found.map(|mut answer| {
            let Answer { result, findings, .. } = &mut answer;
            self.tell_replaced(|place| result.inputs.get(place).is_some_and(|(_, driven)| *driven), findings);
            answer
        })
    }

    /// Tells what planned experiments would determine, before anything is measured.
    pub fn plan(
        &self,
        options: &EstimateOptions,
        planned: &PlanOptions,
        token: &CancellationToken,
    ) -> Asked<Vec<Plan>> {
        self.measured(options, token, |asked, valid| est::plan(asked, options, planned, valid, token))
    }

    /// Asks a pass on the derived model and its files of data.
    fn measured<T>(
        &self,
        options: &EstimateOptions,
        token: &CancellationToken,
        pass: impl FnOnce(&mut est::Asked<'_, '_>, est::Validity<'_>) -> Result<T, QueryError>,
    ) -> Asked<T> {
        let own = self.graph();
        let values = own.as_ref().map(|graph| options.derived_at(graph)).unwrap_or_default();
        let model = match values.is_empty() {
            true => self.clone(),
            false => self.with(values.iter().map(|(name, value)| (name.as_str(), *value))),
        };
        let view = model.for_numbers(token)?;
        let measured = Measured::none(self.tables(options.hold)?);
        let (mut pool, mut findings) = (view.overlay(), Diagnostics::new());
        let mut sources = SourceMap::clone(&view.sources);
        let mut asked = est::Asked {
            pool: &mut pool,
            subject: Subject {
                graph: &view.graph,
                causality: &view.causality,
                equations: &view.equations,
                measured: &measured,
            },
            own: own.as_ref().unwrap_or(&view.graph),
            sources: &mut sources,
            findings: &mut findings,
        };
        let valid = |parameters: &[f64]| model.is_derived_for(&view.graph, parameters, token);
        let found = pass(&mut asked, &valid);
        let answer = view.answer(pool, found, findings)?;
        Ok(Answer { sources: Arc::new(sources), ..answer })
    }

    /// The text of the model's file with estimates in place of its values; with a level of confidence, half the
    /// widths of intervals become tolerances. What has no place in the text is told.
    pub fn written(&self, found: &Estimation, tolerance: Option<f64>) -> (String, Diagnostics) {
        let file = FileId(0);
        let text = self.sources().get(file).map_or("", |source| source.text.as_str());
        match &self.0.origin.graph {
            Some(graph) => est::write((text, file), graph, found, tolerance, &self.0.set),
            None => (text.to_owned(), Diagnostics::new()),
        }
    }

    /// Whether the stages that this model has were derived alike at other values of its parameters.
    fn is_derived_for(&self, graph: &BondGraph, parameters: &[f64], token: &CancellationToken) -> bool {
        let (Ok(stage), Some(origin)) = (self.equations_stage(token), &self.0.origin.graph) else {
            return false;
        };
        let mut at_values = graph.clone();
        let mut changed = Vec::new();
        for (place, value) in parameters.iter().take(graph.parameters.len()).enumerate() {
            if graph.parameters[place].number.to_bits() != value.to_bits() {
                at_values.parameters[place].number = *value;
                changed.push(graph.parameters[place].symbol);
            }
        }
        let all = [&origin.guards, &stage.causality.guards, &stage.equations.guards, &stage.guards];
        all.into_iter().all(|guards| guards.hold(&stage.pool, &at_values, &changed))
    }
}

impl Answer<Estimation> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::Estimation {
        json::Estimation::new(&self.result, self.diagnostics(spelling))
    }
}

impl Answer<Vec<Plan>> {
    /// The document.
    pub fn document(&self, spelling: &dyn Spelling) -> json::EstimationPlans {
        json::EstimationPlans::new(&self.graph, &self.result, self.diagnostics(spelling))
    }
}
