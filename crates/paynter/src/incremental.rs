//! Graphs made from the model's graph: incremental, linearised, sensitivity.

use crate::{Model, NoAnswer};
use paynter_base::{Diagnostic, Diagnostics, Ticket};
use paynter_draw::draw::Diagram;
use paynter_graph::Variable;
use paynter_numerics::parametric::chosen_parameters;
use paynter_numerics::{About, nominal_values};
use paynter_transform::{
    Form, Request, Sensitivity, Start, incremental, incremental_comments, printed, pseudo,
    sensitivity_comments, standalone, without_effect,
};
use paynter_view::json;

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
}

/// A model made from a model.
pub struct DerivedModel {
    /// Its text, laid out.
    pub text: String,
    /// The model itself.
    pub model: Model,
    /// Its picture as plain data.
    pub diagram: Option<Diagram>,
    /// What was found out on the way, about the original model.
    pub diagnostics: Diagnostics,
}

impl Model {
    /// Makes a graph from the model's graph, a model of its own, with nominal values at the operating point,
    /// or at the start where there is none or nothing has a slope.
    pub fn incremental(
        &mut self,
        options: &IncrementalOptions,
        ticket: &Ticket,
    ) -> Result<DerivedModel, NoAnswer> {
        match self.incremental_at(options, About::OperatingPoint, ticket) {
            Err(NoAnswer::Wrong(first)) => match self.incremental_at(options, About::Start, ticket) {
                Err(NoAnswer::Wrong(_)) => Err(NoAnswer::Wrong(first)),
                other => other,
            },
            other => other,
        }
    }

    fn incremental_at(
        &mut self,
        options: &IncrementalOptions,
        about: About,
        ticket: &Ticket,
    ) -> Result<DerivedModel, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let is_pseudo = matches!(options.form, DerivedForm::Pseudo | DerivedForm::PseudoEach);
        let (Some(graph), Some(causality)) = (self.graph.clone(), self.causality.clone()) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let mut kinks = Diagnostics::new();
        let point = nominal_values(&mut self.pool, &graph, &equations, about, ticket, &mut kinks)?;
        let start = if options.pair || is_pseudo { self.start(ticket)? } else { Start::default() };
        let parameters = match options.form {
            DerivedForm::Linear => Vec::new(),
            _ => self.finding(chosen_parameters(&graph, &options.only), Diagnostics::new())?,
        };
        let pool = &mut self.pool;
        let mut diagnostics = Diagnostics::new();
        if !options.only.is_empty() {
            without_effect(pool, &graph, &parameters, &mut diagnostics);
        }
        diagnostics.extend(kinks);
        let value = |variable: Variable| point.get(&variable).copied();
        let made = match options.form {
            DerivedForm::Incremental | DerivedForm::Linear => {
                let form = match options.form {
                    DerivedForm::Linear => Form::Linear,
                    _ => Form::Incremental,
                };
                let request = Request { form, parameters, split: options.split, pair: options.pair };
                incremental(pool, &graph, &causality, &request, &value, &start, ticket).map(|derived| {
                    let comments = incremental_comments(&graph, &request, &derived.begins);
                    (derived.graph, comments)
                })
            }
            DerivedForm::Pseudo | DerivedForm::PseudoEach => {
                let sensitivity = match options.form {
                    DerivedForm::Pseudo => Sensitivity::Weighted,
                    _ => Sensitivity::Each,
                };
                pseudo(pool, &graph, &causality, &parameters, sensitivity, &start, ticket)
                    .map(|derived| (derived, sensitivity_comments(&graph, sensitivity)))
            }
        };
        let (derived, comments) = made.map_err(|_| NoAnswer::Cancelled)?;
        let text = printed(pool, &derived, comments).map_err(|found| self.unusable(&found))?;
        let (pool, derived) = standalone(&self.pool, &derived);
        let model = self.of_derived(pool, derived);
        if model.diagnostics.has_errors() {
            return Err(self.unusable(&model.diagnostics));
        }
        let diagram = if is_pseudo {
            self.diagram().map(|mut diagram| {
                diagram.title = model.graph.as_ref().map_or_else(String::new, |graph| graph.name.clone());
                diagram.make_sensitivity();
                diagram
            })
        } else {
            model.diagram()
        };
        Ok(DerivedModel { text, model, diagram, diagnostics })
    }

    /// Says why a derived graph is no model, in words about the original.
    fn unusable(&self, found: &Diagnostics) -> NoAnswer {
        let mut diagnostics = self.diagnostics.clone();
        for found in found.iter().filter(|found| found.is_error()) {
            let message = format!("the graph of increments cannot be used: {}", found.message);
            diagnostics.push(Diagnostic::new(found.code, message));
        }
        NoAnswer::Wrong(diagnostics)
    }
}

impl DerivedModel {
    /// The derived model as data.
    pub fn document(&self, original: &Model) -> Option<json::Incremental> {
        let graph = self.model.graph.as_ref()?;
        let mut diagnostics = original.diagnostics.clone();
        diagnostics.extend(self.diagnostics.clone());
        Some(json::Incremental::new(
            &self.model.pool,
            graph,
            self.model.causality.as_ref(),
            &self.text,
            json::Diagnostic::list(&diagnostics, &original.sources, original.spelling),
        ))
    }
}
