//! Simulation and estimation for Python: questions with many options, which
//! come as dictionaries.

use crate::answer::{Answer, Reply};
use crate::ask::{ask, ask_here};
use crate::failure::{findings, wrong};
use crate::model::{Model, Setting};
use crate::spelling::Python as Spelled;
use paynter::estimate::{Amount, EstimateOptions, Logarithmic, Loss, Method, PlanOptions, Weight};
use paynter::simulate::{
    Change, Cost, CostKind, Data, Direction, Hold, Response, Run, Sensitivities, SimulateOptions, Simulation,
    Vary,
};
use paynter::{CancellationToken, Diagnostics, QueryError, Scenario, SourceMap, figures, json};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, PoisonError};

/// A file of measured data: its name for people, and what is in it.
type File = (String, Vec<u8>);

fn data(file: File) -> Data {
    Data { path: file.0, content: file.1 }
}

fn hold(zero_order: bool) -> Hold {
    if zero_order { Hold::Zero } else { Hold::Linear }
}

/// What a simulation is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Experiment {
    t_end: Option<f64>,
    points: usize,
    times: Vec<f64>,
    rtol: f64,
    atol: Option<f64>,
    solver: String,
    step: Option<f64>,
    sensitivity: Vec<String>,
    direction: Vec<(String, Vec<(String, f64)>)>,
    states_only: bool,
    energy: bool,
    data: Option<File>,
    zero_order: bool,
}

impl From<Experiment> for SimulateOptions {
    fn from(asked: Experiment) -> SimulateOptions {
        let direction = |(name, weights)| Direction { name, weights };
        SimulateOptions {
            t_end: asked.t_end,
            points: asked.points,
            times: asked.times,
            rtol: asked.rtol,
            atol: asked.atol,
            solver: asked.solver,
            step: asked.step,
            sensitivities: match asked.sensitivity.is_empty() {
                true => Sensitivities::None,
                false => Sensitivities::Names(asked.sensitivity),
            },
            directions: asked.direction.into_iter().map(direction).collect(),
            sensitivities_tested: !asked.states_only,
            energy: asked.energy,
            data: asked.data.map(data),
            hold: hold(asked.zero_order),
            ..SimulateOptions::default()
        }
    }
}

/// What is found while a simulation is compiled and run.
struct Found {
    diagnostics: Diagnostics,
    sources: Arc<SourceMap>,
}

impl Found {
    fn of<T>(answer: &paynter::Answer<T>) -> Found {
        Found { diagnostics: answer.findings.clone(), sources: answer.sources.clone() }
    }

    /// Completes the document with all findings.
    fn reply(self, mut document: json::Simulation) -> Reply<json::Simulation> {
        document.diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, &Spelled);
        document.ok = !self.diagnostics.has_errors();
        Reply::new(document, findings(&self.diagnostics, &self.sources))
    }
}

/// Says that a run contradicts the graph's own equations.
fn withheld<T>(answer: &paynter::Answer<T>, found: paynter::Diagnostic) -> QueryError {
    let mut diagnostics = answer.findings.clone();
    diagnostics.push(found);
    QueryError::Wrong(diagnostics)
}

/// A model compiled for an experiment, to be run any number of times.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Simulator {
    model: paynter::Model,
    options: SimulateOptions,
    compiled: paynter::Answer<Arc<Simulation>>,
}

impl Simulator {
    fn new(
        model: &paynter::Model,
        options: SimulateOptions,
        token: &CancellationToken,
    ) -> Result<Simulator, QueryError> {
        let compiled = model.simulation(&options, token)?;
        Ok(Simulator { model: model.clone(), options, compiled })
    }

    /// Runs once.
    fn respond(
        &self,
        verify: bool,
        token: &CancellationToken,
    ) -> Result<Reply<json::Simulation>, QueryError> {
        let compiled = &self.compiled;
        token.begin("simulation", compiled.options.count() as u64);
        let (response, outcome) = compiled.respond(&compiled.parameters, token);
        let mut found = Found::of(compiled);
        token.check()?;
        let said = compiled.explain(&compiled.parameters, &outcome);
        found.diagnostics.extend(said.clone());
        let checks = compiled.check_run(&outcome).map_err(|found| withheld(compiled, *found))?;
        let mut document = json::Simulation::new(compiled, &response, &outcome, &said, Vec::new());
        if verify {
            let opinion = self.model.second_opinion(&self.options, (&response, &outcome), token)?;
            found.diagnostics.push(opinion.result.diagnostic());
            document.verification = Some(json::SecondOpinion::new(&opinion.result));
        }
        document.checks = json::Checks::new(checks.into_iter().map(|check| (check.what, check.residual)));
        let simulation = compiled.result.clone();
        Ok(found.reply(document).figures(move |name, _, _| run_figure(&simulation, &response, name)))
    }
}

fn run_figure(simulation: &Simulation, response: &Response, name: &str) -> Option<paynter::plot::Figure> {
    match name {
        "sensitivities" => Some(figures::sensitivities(simulation, response)),
        "energy" => simulation.energy(response).map(|energy| figures::energy(&simulation.model, &energy)),
        _ => Some(figures::response(simulation, response)),
    }
}

#[pymethods]
impl Simulator {
    /// How long a run takes in the core alone, in seconds on average, for benchmarks.
    fn time(&self, py: Python<'_>, runs: u32) -> PyResult<f64> {
        ask(py, None, |token| {
            let begin = std::time::Instant::now();
            for _ in 0..runs {
                self.compiled.respond(&self.compiled.parameters, token);
            }
            begin.elapsed().as_secs_f64() / f64::from(runs)
        })
    }

    /// Runs the experiment.
    fn run(&self, py: Python<'_>) -> PyResult<Answer> {
        let reply = ask_here(py, |token| self.respond(false, token))?.map_err(|reason| match reason {
            QueryError::Wrong(found) => {
                wrong(py, &found, &self.model.sources_with(self.options.data.as_ref()))
            }
            QueryError::Cancelled => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
        })?;
        Answer::new(py, reply)
    }
}

#[pymethods]
impl Model {
    /// Compiles the model for an experiment.
    #[pyo3(signature = (options, progress=None))]
    fn simulator(
        &self,
        py: Python<'_>,
        options: Experiment,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Simulator> {
        let options = SimulateOptions::from(options);
        let files: Vec<Data> = options.data.iter().cloned().collect();
        let found = ask(py, progress.as_ref(), |token| Simulator::new(&self.inner, options, token))?;
        found.map_err(|reason| self.unanswered(py, reason, &files))
    }

    /// Compiles the model for an experiment, unless it is, and runs it.
    #[pyo3(signature = (options, verify=false, progress=None))]
    fn simulate(
        &self,
        py: Python<'_>,
        options: Experiment,
        verify: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Answer> {
        let options = SimulateOptions::from(options);
        let known = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| !verify && progress.is_none() && known.options == options) {
            return known.run(py);
        }
        let files: Vec<Data> = options.data.iter().cloned().collect();
        let found = ask(py, progress.as_ref(), |token| {
            let compiled = Arc::new(Simulator::new(&self.inner, options, token)?);
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(compiled.clone());
            compiled.respond(verify, token)
        })?;
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &files))?)
    }

    /// Runs for every combination of values, or for every scenario.
    #[pyo3(signature = (options, sweep=Vec::new(), scenario=Vec::new(), progress=None))]
    fn runs(
        &self,
        py: Python<'_>,
        options: Experiment,
        sweep: Vec<(String, Vec<f64>)>,
        scenario: Vec<(String, Vec<(String, String)>)>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Answer> {
        let options = SimulateOptions::from(options);
        let ordered = !sweep.is_empty();
        let sweeps: Vec<Vary> = sweep.into_iter().map(|(name, values)| Vary { name, values }).collect();
        let scenarios: Vec<Scenario> =
            scenario.into_iter().map(|(name, set)| Scenario { name, set }).collect();
        let found = ask(py, progress.as_ref(), |token| {
            let model = &self.inner;
            let mut runs = match ordered {
                true => model.sweep(&options, &sweeps, token),
                false => model.scenarios(&options, &scenarios, token),
            }?;
            let mut documents = Vec::new();
            let mut kept: Vec<(Run, Response)> = Vec::new();
            runs.respond(token, &mut |run, response, outcome, said| {
                documents.push(json::NamedRun::new(run, &response, &outcome, said));
                kept.push((run.clone(), response));
            });
            token.check()?;
            let (diagnostics, sources) = (runs.findings.diagnostics, runs.findings.sources);
            let list = json::Diagnostic::list(&diagnostics, &sources, &Spelled);
            let all = runs.impossible.is_empty();
            let mut document = json::SimulationRuns::new(model.name(), documents, all, list);
            match runs.checks {
                Some(checks) => document.checks = json::Checks::new(checks),
                None => document.runs.clear(),
            }
            let name = document.model.clone();
            let reply = Reply::new(document, findings(&diagnostics, &sources));
            Ok(reply.figures(move |_, _, _| Some(figures::runs(&name, &kept, ordered))))
        })?;
        let files: Vec<Data> = options.data.iter().cloned().collect();
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &files))?)
    }

    /// Finite changes of parameters: name, by how much, whether relative.
    #[pyo3(signature = (options, changes, progress=None))]
    fn perturbed(
        &self,
        py: Python<'_>,
        options: Experiment,
        changes: Vec<(String, f64, bool)>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Answer> {
        let options = SimulateOptions::from(options);
        let change = |(name, by, relative)| Change { name, by, relative };
        let changes: Vec<Change> = changes.into_iter().map(change).collect();
        let found = ask(py, progress.as_ref(), |token| {
            let perturbed = self.inner.perturbed(&options, &changes, token)?;
            let simulation = &perturbed.simulation;
            let (made, [nominal, exact]) = simulation.perturb(perturbed.changes.clone(), token);
            token.check()?;
            let mut found = Found::of(&perturbed);
            let said = perturbed.explain(&simulation.parameters, &nominal);
            found.diagnostics.extend(said.clone());
            found.diagnostics.extend(perturbed.explain(&simulation.changed(), &exact));
            let mut checks = Vec::new();
            for (run, outcome) in [("", &nominal), (" with the change", &exact)] {
                let list = perturbed.check_run(outcome).map_err(|found| withheld(&perturbed, *found))?;
                checks.extend(list.into_iter().map(|check| (check.what + run, check.residual)));
            }
            let mut document = json::Simulation::new(simulation, &made.nominal, &nominal, &said, Vec::new());
            document.perturbation = Some(json::Perturbation::new(simulation, &made));
            document.checks = json::Checks::new(checks);
            let reply = found.reply(document);
            Ok(reply.figures(move |_, _, _| Some(figures::perturbation(&perturbed.simulation, &made))))
        })?;
        let files: Vec<Data> = options.data.iter().cloned().collect();
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &files))?)
    }

    /// Gradients of costs: `integral` or `final`, and the output.
    #[pyo3(signature = (options, costs, progress=None))]
    fn gradients(
        &self,
        py: Python<'_>,
        options: Experiment,
        costs: Vec<(String, String)>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Answer> {
        let options = SimulateOptions::from(options);
        let costs = costs
            .into_iter()
            .map(|(kind, output)| Ok(Cost { kind: chosen("cost", &kind, &CostKind::NAMES)?, output }));
        let costs = costs.collect::<PyResult<Vec<Cost>>>()?;
        let found = ask(py, progress.as_ref(), |token| {
            let gradients = self.inner.gradients(&options, &costs, token)?;
            let mut found = Found::of(&gradients);
            let said = gradients.explain(&gradients.simulation.parameters, &gradients.outcome);
            found.diagnostics.extend(said.clone());
            let plain = SimulateOptions { sensitivities: Sensitivities::None, ..options.clone() };
            let simulation = self.inner.simulation(&plain, token)?;
            let (response, outcome) = simulation.respond(&simulation.parameters, token);
            token.check()?;
            let checks = simulation.check_run(&outcome).map_err(|found| withheld(&simulation, *found))?;
            let mut document = json::Simulation::new(&simulation, &response, &outcome, &said, Vec::new());
            document.checks = json::Checks::new(checks.into_iter().map(|check| (check.what, check.residual)));
            let list = gradients.gradients.iter();
            document.gradients =
                list.map(|gradient| json::Gradient::new(&gradients.simulation, gradient)).collect();
            let simulation = simulation.result.clone();
            Ok(found.reply(document).figures(move |name, _, _| run_figure(&simulation, &response, name)))
        })?;
        let files: Vec<Data> = options.data.iter().cloned().collect();
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &files))?)
    }

    /// Estimates from measured data; the second is the text of the model with the estimates in place, the third by
    /// which factors declared units of the estimates differ from SI.
    #[pyo3(signature = (options, tolerance=None, progress=None))]
    fn estimate(
        &self,
        py: Python<'_>,
        options: Measurements,
        tolerance: Option<f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Estimated> {
        let options = EstimateOptions::try_from(options)?;
        let found = ask(py, progress.as_ref(), |token| {
            let answer = self.inner.estimate(&options, token)?;
            let (text, unwritten) = self.inner.written(&answer, tolerance);
            let factors = answer.estimates.iter().map(|found| (found.name.clone(), found.factor)).collect();
            let mut diagnostics = answer.findings.clone();
            diagnostics.extend(unwritten);
            let mut document = answer.document(&Spelled);
            document.diagnostics = json::Diagnostic::list(&diagnostics, &answer.sources, &Spelled);
            document.ok = !diagnostics.has_errors();
            let reply = Reply::new(document, findings(&diagnostics, &answer.sources));
            let reply = reply.figures(move |name, _, _| {
                Some(match name {
                    "parameters" => figures::estimation::parameters(&answer),
                    "residuals" => figures::estimation::residuals(&answer),
                    _ => figures::estimation::fit(&answer),
                })
            });
            Ok((reply, text, factors))
        })?;
        let files: Vec<Data> = options.data.iter().chain(&options.validation).cloned().collect();
        let (reply, text, factors) = found.map_err(|reason| self.unanswered(py, reason, &files))?;
        Ok((Answer::new(py, reply)?, text, factors))
    }

    /// What planned experiments would determine.
    #[pyo3(signature = (options, noise=Vec::new(), t_end=None, sample_times=Vec::new(), progress=None))]
    fn plan(
        &self,
        py: Python<'_>,
        options: Measurements,
        noise: Vec<(String, f64)>,
        t_end: Option<f64>,
        sample_times: Vec<f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Answer> {
        let options = EstimateOptions::try_from(options)?;
        let planned = PlanOptions { noise, t_end, sample_times };
        let found = ask(py, progress.as_ref(), |token| {
            let answer = self.inner.plan(&options, &planned, token)?;
            Ok(Reply::new(answer.document(&Spelled), findings(&answer.findings, &answer.sources)))
        })?;
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &options.data))?)
    }
}

/// An estimation, the text of the model with the estimates, and the factors of their declared units.
type Estimated = (Answer, String, Vec<(String, f64)>);

/// What an estimation is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Measurements {
    data: Vec<File>,
    validation: Vec<File>,
    validation_share: f64,
    map: Vec<(String, String)>,
    validate_map: Vec<(String, String)>,
    sample_time: Option<f64>,
    zero_order: bool,
    decimate: usize,
    fit: Vec<String>,
    local: Vec<String>,
    start: Vec<(String, Setting)>,
    bounds: Vec<(String, f64, f64)>,
    weight: Vec<(String, f64)>,
    weight_columns: Vec<(String, String)>,
    loss: String,
    prior: bool,
    method: String,
    log: Vec<String>,
    iterations: usize,
    starts: usize,
    seed: u64,
    shots: usize,
    confidence: f64,
    profile: Vec<String>,
    solver: String,
    rtol: f64,
    atol: Option<f64>,
    step: Option<f64>,
}

/// Finds a choice by its name.
fn chosen<T: Copy>(what: &str, text: &str, names: &[(&'static str, T)]) -> PyResult<T> {
    names.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
        let list: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("there is no {what} `{text}`; choose one of {}", list.join(", ")))
    })
}

/// A value to start from: a number, or text with a unit.
pub fn amount(value: Setting) -> PyResult<Amount> {
    match value {
        Setting::Number(number) => Ok(number.into()),
        Setting::Text(text) => text.parse().map_err(PyValueError::new_err),
    }
}

impl TryFrom<Measurements> for EstimateOptions {
    type Error = PyErr;

    fn try_from(asked: Measurements) -> PyResult<EstimateOptions> {
        let even = asked.weight.into_iter().map(|(name, weight)| (name, Weight::Even(weight)));
        let columns = asked.weight_columns.into_iter().map(|(name, column)| (name, Weight::Column(column)));
        Ok(EstimateOptions {
            data: asked.data.into_iter().map(data).collect(),
            validation: asked.validation.into_iter().map(data).collect(),
            validation_share: asked.validation_share,
            map: asked.map,
            validation_map: asked.validate_map,
            sample_time: asked.sample_time,
            hold: hold(asked.zero_order),
            decimate: asked.decimate,
            fit: asked.fit,
            local: asked.local,
            start: asked
                .start
                .into_iter()
                .map(|(name, value)| Ok((name, amount(value)?)))
                .collect::<PyResult<_>>()?,
            bounds: asked.bounds,
            weights: even.chain(columns).collect(),
            loss: chosen("loss", &asked.loss, &Loss::NAMES)?,
            prior: asked.prior,
            method: chosen("method", &asked.method, &Method::NAMES)?,
            logarithmic: match asked.log.as_slice() {
                [] => Logarithmic::None,
                [word] if word == "all" => Logarithmic::All,
                names => Logarithmic::Names(names.to_vec()),
            },
            iterations: asked.iterations,
            starts: asked.starts,
            seed: asked.seed,
            shots: asked.shots,
            level: asked.confidence,
            profiles: asked.profile,
            curves: true,
            rtol: asked.rtol,
            atol: asked.atol,
            solver: asked.solver,
            step: asked.step,
            ..EstimateOptions::default()
        })
    }
}
