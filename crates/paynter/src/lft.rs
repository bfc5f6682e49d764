//! The question for the standard interconnection model.

use crate::answer::{Answer, Asked, QueryError, after, refused};
use crate::model::View;
use crate::{DerivedForm, DerivedModel, IncrementalOptions, Model};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_draw::draw::{BlockDiagram, BlockLoop};
use paynter_equations::{Equations, structure};
use paynter_graph::flat_name;
use paynter_interconnect::{
    Conditions, Interconnection, Procedure, Request, held_by_the_point, interconnect, only_move_the_point,
    uncertain_parameters,
};
use paynter_numerics::parametric::chosen_parameters;
use paynter_numerics::structure::{exact_values, verdict_eigenvalues};
use paynter_transform::{AuxiliaryElements, auxiliary_elements, uncertain, uncertain_comments};
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
    /// The model may be certain, because something else than its parameters is not.
    pub may_be_certain: bool,
    /// The box may hold values at which I − D11 Δ is singular: whoever asks tells how far it may grow.
    pub may_be_ill_posed: bool,
    /// Inputs and outputs do not matter, and are left out where the equations read derivatives of inputs.
    pub may_stand_alone: bool,
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

/// The linear model whose interconnection is asked for, and what is uncertain in it.
pub(crate) struct Plant {
    /// This model, or its linearisation.
    pub model: Model,
    /// The inputs and outputs of this model, where its linearisation names their changes otherwise.
    own_names: Option<[Vec<String>; 2]>,
    view: Arc<View>,
    pub request: Request,
    findings: Diagnostics,
}

impl Model {
    /// Makes the standard interconnection model: the nominal model in feedback with the uncertainties of its
    /// parameters; of a nonlinear model that of its linearisation at the operating point.
    pub fn lft(&self, options: &LftOptions, token: &CancellationToken) -> Asked<StandardInterconnection> {
        let Plant { view, request, findings, own_names, .. } = self.plant(options, token)?;
        let mut answer = interconnected(&view, &request, options, findings, token)?;
        if let Some([inputs, outputs]) = own_names {
            let found = &mut answer.result.found;
            (found.inputs, found.outputs) = (inputs, outputs);
        }
        Ok(Answer { sources: self.matrices(token)?.sources.clone(), ..answer })
    }

    /// Makes the uncertain bond graph, a model of its own: the nominal graph with auxiliary inputs and outputs,
    /// by the existing procedure with their detectors.
    pub fn uncertain_graph(&self, options: &LftOptions, token: &CancellationToken) -> Asked<DerivedModel> {
        let Plant { model, view, request, findings, .. } = self.plant(options, token)?;
        let answer = interconnected(&view, &request, options, findings, token)?;
        let mut pool = answer.overlay();
        let Some(split) = answer.found.split.as_ref() else {
            let message = "derivatives of inputs cancel in the equations, so the auxiliary inputs stand in the reduced equations and have no place in the bond graph";
            return Err(refused(Diagnostic::new(code::NO_UNCERTAIN_GRAPH, message)));
        };
        let detectors = options.procedure == Procedure::Existing;
        let derived = uncertain(&mut pool, &view.graph, &view.causality, split, detectors);
        let comments = uncertain_comments(&view.graph);
        let elements = auxiliary_elements(&pool, &derived, split);
        let made = model.derived_model(&view, &mut pool, &derived, comments, token).map(|mut made| {
            if let Some(diagram) = &mut made.diagram {
                diagram.mark_auxiliary_inputs();
                for (auxiliary, AuxiliaryElements { detector, sources }) in
                    split.auxiliaries.iter().zip(&elements)
                {
                    let Some(detector) = detector else { continue };
                    let delta = format!("δ_{}", answer.found.blocks[auxiliary.block].name);
                    let sources: Vec<usize> = sources.iter().map(|id| id.index()).collect();
                    diagram.add_signal_part(detector.index(), &delta, &sources);
                }
            }
            made
        });
        view.answer_after(&answer.findings, pool, made, Diagnostics::new())
    }

    /// The block diagram of the uncertain model with its loops closed: by the existing procedure through δ, by the
    /// new one through the uncertain part of each element beside the nominal one.
    pub fn uncertain_blocks(
        &self,
        options: &LftOptions,
        token: &CancellationToken,
    ) -> Result<Option<BlockDiagram>, QueryError> {
        let derived = self.uncertain_graph(options, token)?;
        let found = &self.lft(options, token)?.result.found;
        let loops: Vec<BlockLoop> = (found.channels.iter().enumerate())
            .map(|(k, channel)| BlockLoop {
                w: found.w_name(k).replace('.', "_"),
                z: [found.z_name(k).replace('.', "_"), format!("det_{}", channel.name.replace('.', "_"))],
                delta: format!("δ_{}", found.blocks[channel.block].name),
            })
            .collect();
        let mut diagram = derived.model.block_diagram(token)?;
        if let Some(diagram) = &mut diagram {
            diagram.close(&loops, options.procedure == Procedure::New);
        }
        Ok(diagram)
    }

    pub(crate) fn plant(&self, options: &LftOptions, token: &CancellationToken) -> Result<Plant, QueryError> {
        let view = self.matrices(token)?;
        let graph = &view.graph;
        let chosen = chosen_parameters(graph, &options.only);
        let named = !options.only.is_empty();
        let chosen = chosen.and_then(|places| {
            uncertain_parameters(graph, places, named, options.normalized, options.may_be_certain)
        });
        let parameters = chosen.map_err(|failure| after(&view.findings, failure))?;
        let mut request = Request {
            procedure: options.procedure,
            normalized: options.normalized,
            parameters,
            may_stand_alone: options.may_stand_alone,
        };
        if view.space.is_some() {
            let findings = Diagnostics::new();
            return Ok(Plant { model: self.clone(), own_names: None, view, request, findings });
        }
        let linear = IncrementalOptions { form: DerivedForm::Linear, ..IncrementalOptions::default() };
        let tangent = self.incremental(&linear, token)?;
        let tangent_view = tangent.model.matrices(token)?;
        // The linearised graph keeps the parameters that it reads, in their order.
        let plain = |place: &usize| flat_name(&graph.parameters[*place].name).replace('.', "_");
        let all: BTreeSet<String> = (0..graph.parameters.len()).map(|place| plain(&place)).collect();
        let mut names: BTreeSet<String> = request.parameters.iter().map(plain).collect();
        // One that laws would read as a variable of their own, such as `p0`, has an underscore there.
        let changed: Vec<String> = names.iter().map(|name| format!("{name}_")).collect();
        names.extend(changed.into_iter().filter(|name| !all.contains(name)));
        let asked = std::mem::take(&mut request.parameters);
        let kept = tangent_view.graph.parameters.iter().enumerate();
        let kept = kept.filter(|(_, parameter)| names.contains(&parameter.name));
        request.parameters = kept.map(|(place, _)| place).collect();
        let mut findings = tangent.findings.clone();
        let is_kept = |place: &usize| {
            let same = |name: &str| name == plain(place) || name == format!("{}_", plain(place));
            tangent_view.graph.parameters.iter().any(|parameter| same(&parameter.name))
        };
        let held: Vec<usize> = asked.iter().copied().filter(|place| !is_kept(place)).collect();
        if held.len() == asked.len() && !held.is_empty() && !options.may_be_certain {
            return Err(after(&findings, refused(only_move_the_point(graph, &held))));
        }
        if named {
            findings.extend(held_by_the_point(graph, &held));
        }
        let message = "the model is not linear, so the interconnection is that of its linearisation at the operating point, which is held fixed";
        findings.push(Diagnostic::new(code::LINEARISED_INTERCONNECTION, message));
        let inputs = view.equations.inputs.iter().map(|input| input.name.clone()).collect();
        let outputs = view.equations.outputs.iter().map(|output| output.name.clone()).collect();
        let own_names = Some([inputs, outputs]);
        Ok(Plant { model: tangent.model.clone(), own_names, view: tangent_view, request, findings })
    }
}

/// Makes the interconnection of a linear model, and says what is to be said of it.
fn interconnected(
    view: &View,
    request: &Request,
    options: &LftOptions,
    mut findings: Diagnostics,
    token: &CancellationToken,
) -> Asked<StandardInterconnection> {
    let (graph, causality, equations) = (&view.graph, &view.causality, &view.equations);
    let mut pool = view.overlay();
    let found = interconnect(&mut pool, graph, causality, equations, request, token).and_then(|found| {
        let asked: &[usize] = if options.only.is_empty() { &[] } else { &request.parameters };
        findings.extend(found.findings(graph, asked, (options.may_be_certain, options.may_be_ill_posed))?);
        let conditions = match view.space.as_deref() {
            Some(space) => {
                let nominal = exact_values(&mut pool, graph);
                let found = structure(&mut pool, equations, space, Some((space, &nominal)), token)?;
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
