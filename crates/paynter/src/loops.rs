//! Questions about one loop of the model, opened at a signal or a bond.

use crate::answer::{Asked, QueryError, after, refused};
use crate::model::Found;
use crate::{Model, TERMS, TransferMatrix};
use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_algebra::poly::Budget;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, closest, code};
use paynter_equations::transfer;
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics::grid::Frequencies;
use paynter_numerics::parametric::{Varied, chosen_parameters, declared_tolerances};
use paynter_numerics::response::{ResponseChoice, chosen_places};
use paynter_numerics::{LinearModel, Matrices};
use paynter_robust::loops::{Margins, OpenLoop};
use paynter_robust::tolerances::{
    Family, StepAnalysis, WorstMargin, locus, open, step_analysis, worst_margins,
};
use paynter_robust::{Interconnection, Matrix};
use paynter_transform::{inject, loop_places, printed, standalone};
use std::sync::Arc;

/// Transfer functions of a loop with more states than this are not written in symbols.
const SYMBOLIC_STATES: usize = 40;

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
}

/// Along what poles are followed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocusChoice {
    /// The parameter; a factor of the loop gain where left out.
    pub parameter: Option<String>,
    /// From, to, and number of values in logarithmic steps, in SI; a decade to both sides where left out.
    pub range: Option<Frequencies>,
}

/// Closed-loop poles along values.
#[derive(Debug, Clone)]
pub struct LocusFound {
    /// The parameter; a factor of the loop gain where none is named.
    pub parameter: Option<String>,
    /// Its values, in SI.
    pub values: Vec<f64>,
    /// By value: the poles, each branch at its own place.
    pub poles: Vec<Vec<Complex64>>,
}

/// What there is to say about a loop.
#[derive(Debug, Clone)]
pub struct LoopReport {
    /// Where it is opened.
    pub place: String,
    /// L, then S and T, in symbols, where they can be read.
    pub transfer: Option<(TransferMatrix, TransferMatrix)>,
    /// Angular frequencies in rad/s.
    pub omega: Vec<f64>,
    /// L(jω).
    pub response: Vec<Complex64>,
    /// The margins of the nominal loop.
    pub margins: Margins,
    /// The parameters with tolerances, by place, and how far each may be off.
    pub tolerances: Vec<(usize, f64)>,
    /// The smallest margins found within the tolerances.
    pub worst: Vec<WorstMargin>,
    /// The names of the inputs and of the outputs.
    pub names: (Vec<String>, Vec<String>),
    /// Step responses with their figures.
    pub steps: Vec<StepAnalysis>,
    /// Closed-loop poles along a parameter.
    pub locus: Option<LocusFound>,
}

/// The matrices of a model without derivatives of inputs.
fn dense(matrices: &Matrices) -> Interconnection {
    let matrix = |sparse: &paynter_numerics::linalg::Sparse| {
        let rows = sparse.dense();
        Matrix::from_fn(sparse.rows, sparse.columns, |i, j| rows[i][j])
    };
    Interconnection {
        a: matrix(&matrices.a),
        b: matrix(&matrices.b[0]),
        c: matrix(&matrices.c),
        d: matrix(&matrices.d[0]),
        blocks: Vec::new(),
    }
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
        let Some(injection) = inject(&mut pool, &view.graph, &view.causality, name) else {
            let known = loop_places(&view.graph);
            let message = format!("the model has no signal and no bond `{name}`");
            let diagnostic = Diagnostic::new(code::NO_SUCH_LOOP, message);
            let diagnostic = match closest(&flat_name(name), known.iter().map(String::as_str)) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help(format!("it can be opened at {}", known.join(", "))),
            };
            return Err(after(&view.findings, refused(diagnostic)));
        };
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
        let (input, output) = (graph.inputs.len() - 1, graph.outputs.len() - 1);
        let opened = linear.opened(pool, input, output, token)?;
        let nominal = dense(&linear.matrices(pool)?);
        let opened_numbers = open(&nominal, input, output).ok_or_else(|| improper(&place))?;
        let readable = |linear: LinearModel, pool: &mut Pool| {
            let found = transfer(pool, &linear.equations, &linear.space, Budget::of_terms(TERMS), token)?;
            let wanted: Vec<_> = found.entries.iter().map(|e| (e.output, e.input)).collect();
            let factors = linear.factors(pool, graph, &wanted, token)?;
            Ok::<_, QueryError>(TransferMatrix {
                linear: Arc::new(linear),
                transfer: found,
                factors,
                mason: None,
            })
        };
        let transfer = match linear.space.a.rows <= SYMBOLIC_STATES {
            true => Some((readable(opened.open, pool)?, readable(opened.closed, pool)?)),
            false => None,
        };
        let margins = opened_numbers.margins();
        loop_findings(&place, &opened_numbers, &margins, findings);
        let omega = options.omega.map_or_else(|| opened_numbers.frequencies(), |omega| omega.list());
        let response = omega.iter().map(|omega| opened_numbers.at(*omega)).collect();
        let tolerances = declared_tolerances(graph);
        let family = self.family(stage, &tolerances, pool, token)?;
        let (outputs, inputs) = (names(graph).1, names(graph).0);
        let choice = ResponseChoice {
            omega: None,
            outputs: listed(&options.outputs, &outputs[..output]),
            inputs: listed(&options.inputs, &inputs[..input]),
        };
        let (mut worst, mut steps) = (Vec::new(), Vec::new());
        if margins.stable {
            if !tolerances.is_empty() {
                worst = worst_margins(&*family, (input, output), tolerances.len(), token)?;
            }
            let (some_outputs, some_inputs) = match (choice.outputs.is_empty(), choice.inputs.is_empty()) {
                (false, false) => chosen_places(&linear.equations, &choice)?,
                _ => (Vec::new(), Vec::new()),
            };
            for (y, u) in some_outputs.iter().flat_map(|y| some_inputs.iter().map(move |u| (*y, *u))) {
                match step_analysis(&*family, y, u, tolerances.len(), token)? {
                    Some(found) => steps.push(found),
                    None => {
                        let message =
                            format!("`{}` does not settle after a step of `{}`", outputs[y], inputs[u]);
                        findings.push(Diagnostic::new(code::UNSETTLED_STEP, message));
                    }
                }
            }
        }
        let locus = options.locus.as_ref();
        let locus =
            locus.map(|choice| self.locus(choice, stage, &opened_numbers, pool, token)).transpose()?;
        let names = (inputs, outputs);
        Ok(LoopReport { place, transfer, omega, response, margins, tolerances, worst, names, steps, locus })
    }

    /// The matrices of the model over a box of parameters: compiled where it is linear, with its operating point
    /// found again where not.
    fn family<'a>(
        &'a self,
        stage: &Found<LinearModel>,
        box_of: &[(usize, f64)],
        pool: &Pool,
        token: &'a CancellationToken,
    ) -> Result<Box<Family<'a>>, QueryError> {
        let (linear, graph) = (&stage.result, stage.view.graph.clone());
        if linear.point.is_none()
            && let Ok(varied) = Varied::new(pool, &graph, linear, box_of)
        {
            return Ok(Box::new(move |delta| varied.at(delta).map(|matrices| dense(&matrices))));
        }
        let box_of = box_of.to_vec();
        Ok(Box::new(move |delta| {
            let values = box_of.iter().zip(delta).map(|((place, deviation), delta)| {
                let parameter = &graph.parameters[*place];
                (parameter.name.as_str(), parameter.in_declared_unit(parameter.number + deviation * delta))
            });
            let moved = self.with(values.collect::<Vec<_>>()).numeric(token).ok()?;
            moved.result.matrices(&moved.pool).ok().map(|matrices| dense(&matrices))
        }))
    }

    fn locus(
        &self,
        choice: &LocusChoice,
        stage: &Found<LinearModel>,
        opened: &OpenLoop,
        pool: &Pool,
        token: &CancellationToken,
    ) -> Result<LocusFound, QueryError> {
        let around = |centre: f64| Frequencies { low: centre / 10.0, high: centre * 10.0, points: 201 };
        let Some(name) = &choice.parameter else {
            let values = choice.range.unwrap_or_else(|| around(1.0)).list();
            let poles =
                values.iter().map(|factor| opened.closed_poles(*factor).unwrap_or_default()).collect();
            return Ok(LocusFound { parameter: None, values, poles });
        };
        let graph = &stage.view.graph;
        let place = chosen_parameters(graph, std::slice::from_ref(name))?[0];
        let number = graph.parameters[place].number;
        let values: Vec<f64> = match choice.range {
            Some(range) => range.list(),
            None => around(number.abs()).list().iter().map(|x| x.copysign(number)).collect(),
        };
        let deltas: Vec<Vec<f64>> = values.iter().map(|value| vec![value - number]).collect();
        let family = self.family(stage, &[(place, 1.0)], pool, token)?;
        let poles = locus(&*family, &deltas);
        Ok(LocusFound { parameter: Some(flat_name(&graph.parameters[place].name)), values, poles })
    }
}

/// The names asked for, or all.
fn listed(asked: &[String], all: &[String]) -> Vec<String> {
    if asked.is_empty() { all.to_vec() } else { asked.to_vec() }
}

fn names(graph: &BondGraph) -> (Vec<String>, Vec<String>) {
    let inputs = graph.inputs.iter().map(|input| flat_name(&input.name)).collect();
    (inputs, graph.outputs.iter().map(|output| flat_name(&output.name)).collect())
}

fn improper(place: &str) -> QueryError {
    let message =
        format!("what is injected at `{place}` returns at once and whole: no finite loop gain exists");
    refused(Diagnostic::new(code::IMPROPER_LOOP, message))
}

/// Says what a reader of the margins has to know first.
fn loop_findings(place: &str, opened: &OpenLoop, margins: &Margins, findings: &mut Diagnostics) {
    if opened.is_zero() {
        let message = format!("nothing of what is injected at `{place}` comes back: its loop gain is zero");
        findings.push(Diagnostic::new(code::NO_FEEDBACK, message));
    }
    if !margins.stable {
        findings.push(Diagnostic::new(
            code::UNSTABLE_LOOP,
            "the closed loop is not stable; its margins say how far it is from being so",
        ));
    }
}
