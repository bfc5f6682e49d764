//! Questions about one loop of the model, opened at a signal or a bond.

use crate::answer::{Asked, QueryError, after};
use crate::equations::written_out;
use crate::model::Found;
use crate::{Model, TERMS, TransferMatrix, WORK};
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostics};
use paynter_graph::flat_name;
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::{Varied, chosen_parameters, declared_tolerances};
use paynter_numerics::response::{ResponseChoice, chosen_pairs};
use paynter_numerics::{LinearModel, Matrices};
use paynter_robust::locus::{Locus, Span as LocusSpan, decades_around, gain_locus, parameter_locus};
use paynter_robust::loop_analysis::{LoopAnalysis, LoopQuestion};
use paynter_robust::loops::OpenLoop;
use paynter_robust::tolerances::Family;
use paynter_robust::{Interconnection, Matrix};
use paynter_transform::{inject, printed, standalone};
use std::sync::Arc;

/// Transfer functions of a loop with more states than this are not written in symbols.
const SYMBOLIC_STATES: usize = 40;

/// About how many operations it takes to derive a nonlinear model at other values and to find its operating point again.
const POINT_OPERATIONS: u64 = 20_000_000;

/// What to find out about a loop.
#[derive(Debug, Clone, Default)]
pub struct LoopOptions {
    /// Where it is opened: a signal or a bond.
    pub open: String,
    /// The frequencies of its response; chosen by the loop where left out.
    pub omega: Option<Frequencies>,
    /// The outputs whose step responses are wanted; all where empty.
    pub outputs: Vec<String>,
    /// The inputs that step; all where empty.
    pub inputs: Vec<String>,
    /// Along what the closed-loop poles are followed, where they are wanted.
    pub locus: Option<LocusChoice>,
    /// Searches within the tolerances take so many operations at most, about; [`WORK`](crate::WORK) where left out.
    pub work: Option<u64>,
}

/// Along what poles are followed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocusChoice {
    /// The parameter; a factor of the loop gain where left out.
    pub parameter: Option<String>,
    /// The values, in the unit that the parameter declares; a decade to both sides where left out.
    pub range: Option<LocusSpan>,
}

/// What there is to say about a loop.
#[derive(Debug, Clone)]
pub struct LoopReport {
    /// Where it is opened.
    pub place: String,
    /// L, then S and T, in symbols, where they can be read.
    pub transfer: Option<(TransferMatrix, TransferMatrix)>,
    /// Its response, margins and steps, nominal and within the tolerances.
    pub found: LoopAnalysis,
    /// The parameters with tolerances, by place, and how far each may be off.
    pub tolerances: Vec<(usize, f64)>,
    /// The names of the inputs and of the outputs.
    pub names: (Vec<String>, Vec<String>),
    /// Closed-loop poles along a parameter, or a factor of the loop gain where it has no name.
    pub locus: Option<(Option<String>, Locus)>,
}

impl Model {
    /// Tells what there is to say about a loop: its transfer functions, margins, step responses and poles, nominal
    /// and within the tolerances of the parameters.
    pub fn open_loop(&self, options: &LoopOptions, token: &CancellationToken) -> Asked<LoopReport> {
        let (place, injected) = self.injected(&options.open, token)?;
        let stage = injected.numeric(token)?;
        let mut pool = stage.overlay();
        let mut findings = Diagnostics::new();
        let found = injected.loop_report(place, &stage, options, &mut pool, &mut findings, token);
        stage.answer(pool, found, findings)
    }

    /// The model with a disturbance at a signal or bond: its last input, and its last output what comes back.
    pub(crate) fn injected(
        &self,
        name: &str,
        token: &CancellationToken,
    ) -> Result<(String, Model), QueryError> {
        let view = self.readable(token)?;
        let mut pool = view.overlay();
        let injection = inject(&mut pool, &view.graph, &view.causality, name);
        let injection = injection.map_err(|reason| after(&view.findings, QueryError::from(*reason)))?;
        let text = printed(&mut pool, &injection.graph, Vec::new());
        let text = text.map_err(|found| after(&view.findings, QueryError::Wrong(found)))?;
        let (own, graph) = standalone(&pool, &injection.graph);
        Ok((injection.place, self.made(&text, own, graph)))
    }

    fn loop_report(
        &self,
        place: String,
        stage: &Found<LinearModel>,
        options: &LoopOptions,
        pool: &mut Pool,
        findings: &mut Diagnostics,
        token: &CancellationToken,
    ) -> Result<LoopReport, QueryError> {
        let (linear, graph) = (&stage.result, &stage.view.graph);
        let (injected, returned) = (graph.inputs.len() - 1, graph.outputs.len() - 1);
        let opened = linear.opened(pool, injected, returned, token)?;
        let transfer = match linear.space.a.rows <= SYMBOLIC_STATES {
            true => Some((
                written_out(pool, graph, Arc::new(opened.open), TERMS, token)?,
                written_out(pool, graph, Arc::new(opened.closed), TERMS, token)?,
            )),
            false => None,
        };
        let names = (
            linear.equations.inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>(),
            linear.equations.outputs.iter().map(|output| output.name.clone()).collect::<Vec<_>>(),
        );
        let (outputs, inputs) = (options.outputs.clone(), options.inputs.clone());
        let choice = ResponseChoice { outputs, inputs, ..ResponseChoice::default() };
        let tolerances = declared_tolerances(graph);
        let question = LoopQuestion {
            place: place.clone(),
            injected,
            returned,
            parameters: tolerances.len(),
            omega: options.omega.map(|omega| omega.list()),
            steps: chosen_pairs(&names.1[..returned], &names.0[..injected], &choice)?,
            exact: self.exact_poles(token),
            evaluation: if linear.point.is_none() { 0 } else { POINT_OPERATIONS },
            work: options.work.or(Some(WORK)),
        };
        let family = self.family(stage, &tolerances, pool, token);
        let found = question.answer(&*family, token)?;
        findings.extend(question.findings(&found, &names.0, &names.1));
        let locus = options.locus.as_ref();
        let locus = locus.map(|choice| self.locus(choice, stage, &found.opened, pool, token)).transpose()?;
        Ok(LoopReport { place, transfer, found, tolerances, names, locus })
    }

    /// The matrices of the model over a box of parameters: compiled where it is linear, with its operating point
    /// found again where not.
    pub(crate) fn family<'a>(
        &'a self,
        stage: &Found<LinearModel>,
        box_of: &[(usize, f64)],
        pool: &Pool,
        token: &'a CancellationToken,
    ) -> Box<Family<'a>> {
        let (linear, graph) = (&stage.result, stage.view.graph.clone());
        if linear.point.is_none()
            && let Ok(varied) = Varied::new(pool, &graph, linear, box_of)
        {
            return Box::new(move |delta| varied.at(delta).map(|matrices| numbers(&matrices)));
        }
        let box_of = box_of.to_vec();
        Box::new(move |delta| {
            let values = box_of.iter().zip(delta).map(|((place, deviation), delta)| {
                let parameter = &graph.parameters[*place];
                (parameter.name.as_str(), parameter.in_declared_unit(parameter.number + deviation * delta))
            });
            let moved = self.with(values.collect::<Vec<_>>()).numeric(token).ok()?;
            moved.result.matrices(&moved.pool).ok().map(|matrices| numbers(&matrices))
        })
    }

    fn locus(
        &self,
        choice: &LocusChoice,
        stage: &Found<LinearModel>,
        opened: &OpenLoop,
        pool: &Pool,
        token: &CancellationToken,
    ) -> Result<(Option<String>, Locus), QueryError> {
        let values = |number: f64, factor: f64| match choice.range {
            Some(range) => range.list().into_iter().map(|value| value * factor).collect(),
            None => decades_around(number),
        };
        let Some(name) = &choice.parameter else { return Ok((None, gain_locus(opened, values(1.0, 1.0)))) };
        let graph = &stage.view.graph;
        let place = chosen_parameters(graph, std::slice::from_ref(name))?[0];
        let parameter = &graph.parameters[place];
        let family = self.family(stage, &[(place, 1.0)], pool, token);
        let factor = parameter.unit.as_ref().map_or(1.0, |unit| unit.factor);
        let found = parameter_locus(&*family, parameter.number, values(parameter.number, factor));
        Ok((Some(flat_name(&parameter.name)), found))
    }
}

/// The matrices of a model.
fn numbers(matrices: &Matrices) -> Interconnection {
    let [a, b, c, d] = matrices.proper();
    let states = a.len();
    Interconnection {
        a: Matrix::from_rows(states, &a),
        b: Matrix::from_rows(matrices.inputs(), &b),
        c: Matrix::from_rows(states, &c),
        d: Matrix::from_rows(matrices.inputs(), &d),
        blocks: Vec::new(),
        is_projected: false,
    }
}
