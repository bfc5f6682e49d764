//! The answer of `paynter estimate --plan`.

use super::{Diagnostic, Identifiability};
use crate::units::Shown;
use paynter_estimate as est;
use paynter_graph::{BondGraph, flat_name};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What planned experiments would determine, in SI.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EstimationPlans {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The experiments that were compared.
    pub plans: Vec<EstimationPlan>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// What one planned experiment would determine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EstimationPlan {
    /// The file of its inputs, or what else acts.
    pub name: String,
    /// The time between samples.
    pub sample_time: f64,
    /// Whether samples are evenly spaced; otherwise the sample time is their mean distance.
    pub even: bool,
    /// The number of samples.
    pub samples: usize,
    /// The standard deviation of the noise of each output.
    pub noise: BTreeMap<String, f64>,
    /// The units in which people are shown it, by output.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub noise_unit: BTreeMap<String, String>,
    /// The same with their sizes.
    #[serde(skip)]
    pub noise_shown: BTreeMap<String, Shown>,
    /// What is estimated, by name.
    pub predictions: BTreeMap<String, Predicted>,
    /// Which directions the experiment determines.
    pub identifiability: Identifiability,
    /// The logarithm of the determinant of the Fisher information of relative changes; `null` where it is singular.
    pub information: Option<f64>,
}

/// How well an unknown would be known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// The value at which the experiment is planned.
    pub value: f64,
    /// The standard error to be expected; `null` where the experiment does not determine it.
    pub std_error: Option<f64>,
    /// The unit that it is shown in to people.
    pub value_unit: Option<String>,
}

impl EstimationPlans {
    /// Writes down plans.
    pub fn new(graph: &BondGraph, plans: &[est::Plan], diagnostics: Vec<Diagnostic>) -> EstimationPlans {
        let shown = |name: &String| {
            let place = graph.outputs.iter().position(|output| flat_name(&output.name) == *name);
            (name.clone(), place.map(|place| Shown::output(graph, place)).unwrap_or_default())
        };
        let shown =
            |plan: &est::Plan| plan.noise.iter().map(|(name, _)| shown(name)).collect::<BTreeMap<_, _>>();
        let plan = |plan: &est::Plan| EstimationPlan {
            name: plan.name.clone(),
            sample_time: plan.sample_time,
            even: plan.even,
            samples: plan.samples,
            noise: plan.noise.iter().cloned().collect(),
            noise_unit: (shown(plan).into_iter())
                .filter_map(|(name, shown)| Some((name, shown.unit?)))
                .collect(),
            noise_shown: shown(plan),
            predictions: plan.predictions.iter().map(predicted).collect(),
            identifiability: Identifiability::new(&plan.identifiability),
            information: plan.information,
        };
        let plans = plans.iter().map(plan).collect();
        EstimationPlans { ok: true, model: graph.name.clone(), plans, diagnostics }
    }
}

fn predicted(found: &est::Prediction) -> (String, Predicted) {
    let value_unit = found.unit.clone();
    (found.name.clone(), Predicted { value: found.value, std_error: found.standard_error, value_unit })
}
