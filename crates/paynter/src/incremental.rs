//! Graphs made from the model's graph: incremental, linearised, sensitivity.

use crate::Model;
use crate::answer::{Asked, QueryError, after, optional};
use crate::model::View;
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics};
use paynter_draw::draw::Diagram;
use paynter_graph::{BondGraph, Causality, Variable};
use paynter_numerics::parametric::chosen_parameters;
use paynter_numerics::{OperatingPoint, nominal_values};
use paynter_transform::{
    Form, Request, Sensitivity, Start, in_numbers, incremental, incremental_comments, printed, pseudo,
    sensitivity_comments, standalone, vanishing_moduli, without_effect,
};
use std::sync::Arc;

/// The operating point of models with more states than this is not searched for.
const STEADY_STATES: usize = 300;

/// Which graph to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DerivedForm {
    /// Changes of efforts and flows that changes of parameters cause.
    #[default]
    Incremental,
    /// Changes that inputs cause.
    Linear,
    /// Sensitivities beside the variables, one weighted sum of all.
    Pseudo,
    /// Sensitivities beside the variables, to each parameter.
    PseudoEach,
}

/// What to make.
#[derive(Debug, Clone, Default)]
pub struct IncrementalOptions {
    /// Which graph.
    pub form: DerivedForm,
    /// The parameters that change; all where empty.
    pub only: Vec<String>,
    /// Each sink as an independent one behind a modulated transformer.
    pub split: bool,
    /// The nominal graph in the same model.
    pub pair: bool,
    /// Numbers in the place of the model's parameters.
    pub numeric: bool,
}

/// A model made from a model.
#[derive(Clone)]
pub struct DerivedModel {
    /// Its text, laid out.
    pub text: String,
    /// The model itself.
    pub model: Model,
    /// Its causality.
    pub causality: Option<Arc<Causality>>,
    /// Its picture as plain data.
    pub diagram: Option<Diagram>,
}

impl Model {
    /// Makes a graph from the model's graph, a model of its own, with nominal values at the operating point,
    /// or at the start where there is none or nothing has a derivative.
    pub fn incremental(
        &self,
        options: &IncrementalOptions,
        token: &CancellationToken,
    ) -> Asked<DerivedModel> {
        let states = self.equations_stage(token)?.equations.states.len();
        let steady = match states <= STEADY_STATES {
            true => optional(self.steady_state(token))?,
            false => None,
        };
        let point = steady.as_ref().map(|steady| &*steady.result);
        match self.incremental_at(options, point, token) {
            Err(QueryError::Wrong(first)) => match self.incremental_at(options, None, token) {
                Err(QueryError::Wrong(_)) => Err(QueryError::Wrong(first)),
                other => other,
            },
            other => other,
        }
    }

    fn incremental_at(
        &self,
        options: &IncrementalOptions,
        point: Option<&OperatingPoint>,
        token: &CancellationToken,
    ) -> Asked<DerivedModel> {
        let view = self.readable(token)?;
        let (graph, causality, mut pool) = (&view.graph, &view.causality, view.overlay());
        let is_pseudo = matches!(options.form, DerivedForm::Pseudo | DerivedForm::PseudoEach);
        let mut kinks = Diagnostics::new();
        let point = nominal_values(&mut pool, graph, &view.equations, point, token, &mut kinks)?;
        let start = match options.pair || is_pseudo {
            true => self.start(&mut pool, token)?,
            false => Start::default(),
        };
        let parameters = match options.form {
            DerivedForm::Linear => Vec::new(),
            _ => {
                let chosen = chosen_parameters(graph, &options.only);
                chosen.map_err(|failure| after(&view.findings, failure))?
            }
        };
        let mut findings = Diagnostics::new();
        if !options.only.is_empty() {
            without_effect(&pool, graph, &parameters, &mut findings);
        }
        findings.extend(kinks);
        let value = |variable: Variable| point.get(&variable).copied();
        let (mut derived, comments) = match options.form {
            DerivedForm::Incremental | DerivedForm::Linear => {
                let form = match options.form {
                    DerivedForm::Linear => Form::Linear,
                    _ => Form::Incremental,
                };
                let request = Request { form, parameters, split: options.split, pair: options.pair };
                let made = incremental(&mut pool, graph, causality, &request, &value, &start, token)?;
                let comments = incremental_comments(graph, &request, &made.begins);
                (made.graph, comments)
            }
            DerivedForm::Pseudo | DerivedForm::PseudoEach => {
                let sensitivity = match options.form {
                    DerivedForm::Pseudo => Sensitivity::Weighted,
                    _ => Sensitivity::Each,
                };
                let made = pseudo(&mut pool, graph, causality, &parameters, sensitivity, &start, token)?;
                let mut comments = sensitivity_comments(graph, sensitivity);
                comments.extend(vanishing_moduli(&pool, graph, causality, &mut findings));
                (made, comments)
            }
        };
        if options.numeric {
            in_numbers(&mut pool, &mut derived, graph);
        }
        let mut made = self.derived_model(&view, &mut pool, &derived, comments, token)?;
        if is_pseudo {
            made.diagram = self.diagram(token)?.map(|mut diagram| {
                diagram.title = made.model.name().to_owned();
                diagram.make_sensitivity();
                diagram
            });
        }
        view.answer(pool, Ok(made), findings)
    }

    /// A graph that was made of this model's, as a model of its own.
    pub(crate) fn derived_model(
        &self,
        view: &View,
        pool: &mut Pool,
        derived: &BondGraph,
        comments: Vec<String>,
        token: &CancellationToken,
    ) -> Result<DerivedModel, QueryError> {
        let text = printed(pool, derived, comments).map_err(|found| unusable(&view.findings, &found))?;
        let (own, derived) = standalone(pool, derived);
        let model = self.made(&text, own, derived);
        let found = model.findings(token)?;
        if found.has_errors() {
            return Err(unusable(&view.findings, &found));
        }
        let (diagram, causality) = (model.diagram(token)?, model.causality_as_known(token)?);
        Ok(DerivedModel { text, model, causality, diagram })
    }
}

/// Says why a derived graph is no model, in words about the original.
fn unusable(before: &Diagnostics, found: &Diagnostics) -> QueryError {
    let mut diagnostics = before.clone();
    for found in found.iter().filter(|found| found.is_error()) {
        let message = format!("the derived graph cannot be used: {}", found.message);
        diagnostics.push(Diagnostic::new(found.code, message));
    }
    QueryError::Wrong(diagnostics)
}
