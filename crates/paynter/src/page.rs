//! The report on a model: every question asked, each answer a section.

use crate::answer::{Answer, Asked, QueryError, optional};
use crate::estimate::EstimateOptions;
use crate::model::Found;
use crate::simulate::{Response, Sensitivities, SimulateOptions, Simulation};
use crate::{BodeOptions, LftOptions, LinearModel, Model, ResponseOptions, RobustOptions};
use paynter_algebra::poly;
use paynter_base::{CancellationToken, Diagnostics, Plain, Severity};
use paynter_equations::transfer;
use paynter_simulate::experiment::{CURVE_SAMPLES, Horizon, source_frequency};
use paynter_view::figures;
use paynter_view::json::{self, Naming};
use paynter_view::report::{self, Budget, Report, Section, Size};
use std::sync::Arc;

/// Longer transfer functions are not read, so that no time is spent on them.
const READABLE: poly::Budget = poly::Budget { terms: 20_000, steps: 20_000_000 };

/// Transfer functions of a higher order are not even begun.
const READABLE_ORDER: usize = 30;

/// A run of a report takes at most so many steps: counted, so that every machine makes the same page, and far more
/// than a curve needs.
const REPORTED_STEPS: u64 = 200_000;

/// One section: its anchor, its heading, the question it answers, what that costs, and how it is made.
type Maker = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Size) -> u64,
    fn(&mut Asking<'_>) -> Result<Section, QueryError>,
);

/// A model being asked one question after the other, and what the answers found.
struct Asking<'a> {
    model: &'a Model,
    /// How long runs are, in s, where somebody says it.
    t_end: Option<f64>,
    /// What is estimated from measured data, where there are any.
    estimation: Option<&'a EstimateOptions>,
    token: &'a CancellationToken,
    findings: Diagnostics,
    budget: Budget,
}

impl Asking<'_> {
    /// The linear model, at the operating point where the equations are nonlinear.
    fn linear(&mut self) -> Result<Arc<Found<LinearModel>>, QueryError> {
        let linear = self.model.linear(self.token)?;
        self.note(&linear.findings);
        Ok(linear)
    }

    /// Takes over what an answer found.
    fn noted<T>(&mut self, answer: Result<Answer<T>, QueryError>) -> Result<Answer<T>, QueryError> {
        let answer = answer?;
        self.note(&answer.findings);
        Ok(answer)
    }

    fn note(&mut self, findings: &Diagnostics) {
        for finding in findings.iter() {
            if !self.findings.iter().any(|known| known == finding) {
                self.findings.push(finding.clone());
            }
        }
    }

    /// When a run ends, in s, and the number of its samples.
    fn horizon(&mut self) -> Result<(f64, usize), QueryError> {
        if let Some(t_end) = self.t_end {
            return Ok((t_end, CURVE_SAMPLES));
        }
        let view = self.model.readable(self.token)?;
        let source = source_frequency(&mut view.overlay(), &view.graph, &view.equations);
        let linear = optional(self.linear())?;
        let poles = match &linear {
            Some(_) if !self.budget.is_cut("poles") => optional(self.model.poles(self.token))?,
            _ => None,
        };
        let linearised = linear.is_some_and(|linear| linear.result.point.is_some()) && poles.is_some();
        let modes = poles.map_or_else(Vec::new, |poles| poles.document(Naming::Flat, &Plain).modes);
        let poles = modes.iter().map(|mode| mode.pole).collect();
        Ok(Horizon { poles, linearised, source }.end_and_samples())
    }
}

/// The sensitivities to more parameters take longer than a reader of a report waits.
const SENSITIVE: usize = 60;

/// The anchor of the section that needs measured data.
const ESTIMATION: &str = "estimation";

/// The sections in the order of reading. A new one is a new line here.
const SECTIONS: &[Maker] = &[
    ("drawing", "Bond graph", "draw", Size::drawing, drawing),
    ("model", "Parameters, inputs and outputs", "check", Size::nothing, quantities),
    ("causality", "Causality", "causality", Size::nothing, causality),
    ("equations", "Equations", "equations", Size::nothing, equations),
    ("operating-point", "Operating point", "operating-point", Size::nothing, operating_point),
    ("matrices", "Matrices", "equations json", Size::nothing, matrices),
    ("transfer", "Transfer functions", "tf", Size::nothing, transfers),
    ("poles", "Poles and zeros", "poles", Size::poles, poles),
    ("structure", "Structure", "structure", Size::structure, structure),
    ("bode", "Frequency response", "bode", Size::response, frequency),
    ("sensitivity", "Sensitivities and tolerances", "sensitivity", Size::sensitivity, sensitivity),
    ("interconnection", "Standard interconnection model", "lft", Size::interconnection, interconnection),
    ("robustness", "Robustness", "robust", Size::robustness, robustness),
    ("simulation", "Response over time", "simulate", Size::nothing, simulation),
    ("time-sensitivity", "Sensitivities over time", "simulate", Size::nothing, time_sensitivity),
    ("energy", "Energy", "simulate", Size::nothing, energy),
    (ESTIMATION, "Estimation", "estimate", Size::nothing, estimation),
    ("findings", "Findings", "check", Size::nothing, findings),
];

impl Model {
    /// Asks every question and puts the answers on one page. A question that
    /// has no answer says why in its section; only Ctrl-C stops the report.
    ///
    /// Runs end at `t_end`, in s; where none is given, when the slowest mode has decayed. The whole report has a
    /// budget of operations, counted before they are made; a section beyond it is left out and says so, and a run
    /// beyond it, or of more than 200 000 steps, is cut off. With measured data there is a section on what is
    /// estimated from them.
    pub fn report(
        &self,
        t_end: Option<f64>,
        estimation: Option<&EstimateOptions>,
        token: &CancellationToken,
    ) -> Asked<Report> {
        let mut sections = Vec::new();
        let findings = optional(self.findings(token))?.unwrap_or_default();
        let wrong = findings.has_errors();
        let budget = Budget::new(self.size(token)?);
        let mut asking = Asking { model: self, t_end, estimation, token, findings, budget };
        let sections_asked =
            SECTIONS.iter().filter(|section| estimation.is_some() || section.0 != ESTIMATION);
        for (id, title, question, cost, maker) in sections_asked {
            token.check()?;
            token.begin(title, 0);
            let operations = cost(&asking.budget.size);
            if let Err(cut) = asking.budget.take(id, title, operations, question) {
                sections.push(cut);
                continue;
            }
            sections.push(match maker(&mut asking) {
                Ok(section) => section,
                Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
                Err(QueryError::Wrong(diagnostics)) => {
                    Section::missing(id, title, &reason(wrong, &diagnostics))
                }
            });
        }
        let graph = self.graph();
        let mut figures = Vec::new();
        if let Some(graph) = &graph {
            let causality = optional(self.causality_as_known(token))?.flatten();
            let summary = json::Summary::new(graph, causality.as_deref());
            let mut put = |label: &str, value: usize| figures.push((label.to_owned(), value.to_string()));
            put("elements", summary.elements);
            put("bonds", summary.bonds);
            put("parameters", summary.parameters);
            put("inputs", summary.inputs);
            put("outputs", summary.outputs);
            summary.order.into_iter().for_each(|order| put("order", order));
        }
        let title = graph.as_ref().map_or("A model with errors", |graph| graph.name.as_str()).to_owned();
        let about = graph.as_ref().and_then(|graph| graph.doc.clone()).unwrap_or_default();
        let (mut findings, sources) = (asking.findings, self.sources().clone());
        findings.sort();
        let (pool, graph) = (self.0.origin.pool.clone(), Arc::new(graph.unwrap_or_default()));
        Ok(Answer { result: Report { title, about, figures, sections }, findings, sources, pool, graph })
    }

    /// How large the model is, as far as it is known.
    fn size(&self, token: &CancellationToken) -> Result<Size, QueryError> {
        let Some((pool, graph)) = self.graph_stage() else { return Ok(Size::default()) };
        let states = optional(self.equations_stage(token))?.map_or(0, |stage| stage.equations.states.len());
        Ok(Size::new(&pool, &graph, states))
    }
}

/// Why a question has no answer, in one sentence.
fn reason(wrong: bool, diagnostics: &Diagnostics) -> String {
    if wrong {
        return "the model has errors, which the findings list".to_owned();
    }
    let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.next_back().map_or_else(|| "there is no answer".to_owned(), |error| error.message.clone())
}

impl Asking<'_> {
    /// No answer, because the model has errors.
    fn wrong(&self) -> QueryError {
        QueryError::Wrong(self.findings.clone())
    }
}

fn drawing(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let diagram = asking.model.diagram(asking.token)?.ok_or_else(|| asking.wrong())?;
    Ok(report::drawing(&diagram))
}

fn quantities(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let (pool, graph) = asking.model.graph_stage().ok_or_else(|| asking.wrong())?;
    Ok(report::model(&pool, &graph))
}

fn causality(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let found = asking.model.causality(asking.token)?;
    Ok(report::causality(&found.document(Naming::Shown, &Plain)))
}

fn equations(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let view = asking.model.readable(asking.token)?;
    Ok(report::equations(&view.pool, &view.equations))
}

fn operating_point(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let found = asking.noted(asking.model.operating_point(asking.token))?;
    Ok(report::operating_point(&found.for_people().document(&Plain)))
}

fn matrices(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let stage = asking.linear()?;
    let linear = &stage.result;
    Ok(report::matrices(&stage.pool, &linear.equations, &linear.space, linear.point.is_some()))
}

fn transfers(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let stage = asking.linear()?;
    let linear = &stage.result;
    if linear.equations.states.len() > READABLE_ORDER {
        return Ok(report::unwritten_transfer(linear.equations.states.len()));
    }
    let mut pool = stage.overlay();
    let found = transfer(&mut pool, &linear.equations, &linear.space, READABLE, asking.token)?;
    Ok(report::transfer(&mut pool, &linear.equations, &found))
}

fn poles(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let found = asking.noted(asking.model.poles(asking.token))?;
    Ok(report::poles(&found.for_people().document(Naming::Shown, &Plain)))
}

fn structure(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let found = asking.noted(asking.model.structure(false, asking.token))?;
    Ok(report::structure(&found.for_people().document(&Plain)))
}

fn frequency(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let found = asking.noted(asking.model.bode(&BodeOptions::default(), asking.token))?;
    Ok(report::bode(&found.document(&Plain)))
}

fn sensitivity(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let options = ResponseOptions::default();
    let found = asking.noted(asking.model.sensitivity_response(&options, asking.token))?;
    Ok(report::sensitivity(&found.document(&Plain)))
}

fn interconnection(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let options = LftOptions::default();
    let found = asking.noted(asking.model.lft(&options, asking.token))?.for_people();
    let graph = match found.found.channels.len() > SENSITIVE {
        true => None,
        false => optional(asking.model.uncertain_graph(&options, asking.token))?,
    };
    let diagram = graph.as_ref().and_then(|graph| graph.diagram.as_ref());
    let conditions = json::Conditions::new(&found.equations, &found.conditions);
    Ok(report::interconnection(found.pool(), &found.found, &conditions, diagram))
}

fn robustness(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let options = RobustOptions { work: Some(report::ROBUSTNESS), ..RobustOptions::default() };
    let found = asking.noted(asking.model.robust(&options, asking.token))?;
    Ok(report::robustness(&found.document(&Plain)))
}

/// Simulates for as long as the slowest mode takes; says how far the run came where it stopped.
fn simulated(
    asking: &mut Asking<'_>,
    options: SimulateOptions,
) -> Result<(Answer<Arc<Simulation>>, Response, report::Run), QueryError> {
    let (t_end, points) = asking.horizon()?;
    let sensitivities = match options.sensitivities {
        Sensitivities::All => asking.budget.size.parameters,
        _ => 0,
    };
    let operations = asking.budget.size.step(sensitivities);
    let max_steps = REPORTED_STEPS.min(asking.budget.steps(operations));
    let options = SimulateOptions { t_end: Some(t_end), points, max_steps, ..options };
    let simulation = asking.noted(asking.model.simulation(&options, asking.token))?;
    let (response, outcome) = simulation.respond(&simulation.parameters, asking.token);
    asking.budget.spend(outcome.stats.steps, operations);
    asking.token.check()?;
    let said = simulation.explain(&simulation.parameters, &outcome);
    let stopped = said.iter().find(|d| d.severity == Severity::Error).map(|d| d.message.clone());
    Ok((simulation, response, report::Run { t_end, stopped }))
}

fn simulation(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let (simulation, response, run) = simulated(asking, SimulateOptions::default())?;
    Ok(report::simulation(&figures::response(&simulation, &response), &run))
}

fn time_sensitivity(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let parameters = asking.model.graph().map_or(0, |graph| graph.parameters.len());
    if parameters > SENSITIVE {
        return Ok(report::unshown_sensitivities(parameters));
    }
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..SimulateOptions::default() };
    let (simulation, response, run) = simulated(asking, options)?;
    Ok(report::time_sensitivity(&figures::sensitivities(&simulation, &response), &run))
}

fn energy(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let options = SimulateOptions { energy: true, ..SimulateOptions::default() };
    let (simulation, response, run) = simulated(asking, options)?;
    let energy = simulation.energy(&response);
    let figure = energy.as_ref().map(|energy| figures::energy(&simulation.model, energy));
    Ok(report::energy(energy.as_ref().map(json::Energy::new).as_ref(), figure.as_ref(), &run))
}

fn estimation(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let options = EstimateOptions { curves: true, ..asking.estimation.cloned().unwrap_or_default() };
    let found = asking.noted(asking.model.estimate(&options, asking.token))?;
    Ok(report::estimation(&found))
}

fn findings(asking: &mut Asking<'_>) -> Result<Section, QueryError> {
    let mut findings = asking.findings.clone();
    findings.sort();
    Ok(report::findings(&findings, asking.model.sources()))
}
