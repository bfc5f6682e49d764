//! The question for the standard interconnection model.

use crate::answer::{Answer, Asked, QueryError, after, refused};
use crate::model::View;
use crate::{DerivedForm, DerivedModel, IncrementalOptions, Model};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_draw::draw::Diagram;
use paynter_equations::{Equations, structure};
use paynter_graph::flat_name;
use paynter_interconnect::{
    Conditions, Interconnection, Procedure, Request, interconnect, uncertain_parameters,
};
use paynter_numerics::parametric::chosen_parameters;
use paynter_numerics::structure::{exact_values, verdict_eigenvalues};
use paynter_transform::{uncertain, uncertain_comments};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which interconnection is asked for.
#[derive(Debug, Clone, Default)]
pub struct LftOptions {
    /// Where the auxiliary inputs of TF and GY stand.
    pub procedure: Procedure,
    /// Scale every δ to abs(δ) ≤ 1 by the tolerance of its parameter.
    pub normalized: bool,
    /// Only these parameters are uncertain; where empty those with tolerances, or all where none has one.
    pub only: Vec<String>,
}

/// The standard interconnection model with what was checked before.
#[derive(Debug, Clone)]
pub struct StandardInterconnection {
    /// The equations of the nominal model.
    pub equations: Arc<Equations>,
    /// The model.
    pub found: Interconnection,
    /// Stabilisability and detectability of the nominal model; it is proper, or there is no answer.
    pub conditions: Conditions,
}

impl Model {
    /// Makes the standard interconnection model: the nominal model in feedback with the uncertainties of its
    /// parameters; of a nonlinear model that of its linearisation at the operating point.
    pub fn lft(&self, options: &LftOptions, token: &CancellationToken) -> Asked<StandardInterconnection> {
        let view = self.matrices(token)?;
        let graph = &view.graph;
        let chosen = chosen_parameters(graph, &options.only);
        let named = !options.only.is_empty();
        let chosen = chosen.and_then(|places| uncertain_parameters(graph, places, named, options.normalized));
        let parameters = chosen.map_err(|failure| after(&view.findings, failure))?;
        if view.space.is_some() {
            let request =
                Request { procedure: options.procedure, normalized: options.normalized, parameters };
            return interconnected(&view, &request, named, Diagnostics::new(), token);
        }
        let linear = IncrementalOptions { form: DerivedForm::Linear, ..IncrementalOptions::default() };
        let tangent = self.incremental(&linear, token)?;
        let tangent_view = tangent.model.matrices(token)?;
        // The linearised graph keeps the parameters that it reads, in their order.
        let names: BTreeSet<String> = parameters
            .iter()
            .map(|place| flat_name(&graph.parameters[*place].name).replace('.', "_"))
            .collect();
        let kept = tangent_view.graph.parameters.iter().enumerate();
        let kept = kept.filter(|(_, parameter)| names.contains(&parameter.name));
        let parameters = kept.map(|(place, _)| place).collect();
        let request = Request { procedure: options.procedure, normalized: options.normalized, parameters };
        let mut findings = tangent.findings.clone();
        let message = "the model is not linear, so the interconnection is that of its linearisation at the operating point, which is held fixed";
        findings.push(Diagnostic::new(code::LINEARISED_INTERCONNECTION, message));
        let answer = interconnected(&tangent_view, &request, named, findings, token)?;
        Ok(Answer { sources: view.sources.clone(), ..answer })
    }
}

impl Model {
    /// Makes the uncertain bond graph, a model of its own: the nominal graph with auxiliary inputs and outputs.
    pub fn uncertain_graph(&self, options: &LftOptions, token: &CancellationToken) -> Asked<DerivedModel> {
        let answer = self.lft(options, token)?;
        let view = self.matrices(token)?;
        let mut pool = answer.overlay();
        let Some(split) = answer.found.split.as_ref().filter(|_| view.space.is_some()) else {
            let message = "the auxiliary inputs of dependent storages, or of a linearised model, have no place in the bond graph";
            return Err(refused(Diagnostic::new(code::NO_UNCERTAIN_GRAPH, message)));
        };
        let derived = uncertain(&mut pool, &view.graph, &view.causality, split);
        let comments = uncertain_comments(&view.graph);
        let made = self.derived_model(&view, &mut pool, &derived, comments, token).map(|mut made| {
            made.diagram.iter_mut().for_each(Diagram::mark_auxiliary_inputs);
            made
        });
        view.answer_after(&answer.findings, pool, made, Diagnostics::new())
    }
}

/// Makes the interconnection of a linear model, and says what is to be said of it.
fn interconnected(
    view: &View,
    request: &Request,
    named: bool,
    mut findings: Diagnostics,
    token: &CancellationToken,
) -> Asked<StandardInterconnection> {
    let (graph, causality, equations) = (&view.graph, &view.causality, &view.equations);
    let mut pool = view.overlay();
    let found = interconnect(&mut pool, graph, causality, equations, request, token).and_then(|found| {
        let asked: &[usize] = if named { &request.parameters } else { &[] };
        findings.extend(found.findings(graph, asked)?);
        let conditions = match view.space.as_deref() {
            Some(space) => {
                let nominal = exact_values(&mut pool, graph);
                let found = structure(&mut pool, equations, space, Some(&nominal), token)?;
                let real = |verdict| verdict_eigenvalues(verdict).iter().map(|z| z.re).collect::<Vec<_>>();
                Conditions::new(&found, &real(&found.controllability), &real(&found.observability))
            }
            None => Conditions::default(),
        };
        findings.extend(conditions.findings(graph, equations));
        Ok(StandardInterconnection { equations: equations.clone(), found, conditions })
    });
    let found: Result<StandardInterconnection, QueryError> = found;
    view.answer(pool, found, findings)
}
