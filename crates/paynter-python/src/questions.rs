//! The questions of a model, one method each, with what their documents are
//! made of. Python's own classes name and check the arguments.

use crate::answer::{Answer, Reply};
use crate::ask::ask;
use crate::failure::findings;
use crate::model::{Model, Setting};
use crate::simulate::{Measurements, amount};
use crate::spelling::Python as Spelled;
use paynter::draw::{DrawOptions, Fold, Positions, SvgStyle, Theme, blocks_svg, draw_at, draw_blocks, svg};
use paynter::estimate::EstimateOptions;
use paynter::export::{Target, programs};
use paynter::json::{self, Naming};
use paynter::{
    BodeOptions, CancellationToken, DerivedForm, Frequencies, IncrementalOptions, LftOptions, LocusChoice,
    LocusSpan, LoopOptions, Procedure, QueryError, ResponseOptions, RobustOptions, SensitivityOptions, plot,
    report,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

/// Shows how far the work is.
pub type Progress<'py> = Option<Bound<'py, PyAny>>;

/// Lowest, highest, number of points in logarithmic steps.
pub type Grid = (f64, f64, usize);

/// A document of the command line with the findings of an answer.
fn reply<D, T>(document: D, answer: &paynter::Answer<T>) -> Reply<D> {
    Reply::new(document, findings(&answer.findings, &answer.sources))
}

pub fn grid(omega: Option<Grid>) -> Option<Frequencies> {
    omega.map(|(low, high, points)| Frequencies { low, high, points })
}

fn theme(dark: bool) -> Theme {
    if dark { Theme::Dark } else { Theme::Light }
}

impl Model {
    /// Asks a question without the lock and hands its answer to Python.
    pub fn question<D: Serialize + Send>(
        &self,
        py: Python<'_>,
        progress: &Progress<'_>,
        work: impl FnOnce(&paynter::Model, &CancellationToken) -> Result<Reply<D>, QueryError> + Send,
    ) -> PyResult<Answer> {
        let found = ask(py, progress.as_ref(), |token| work(&self.inner, token))?;
        Answer::new(py, found.map_err(|reason| self.unanswered(py, reason, &[]))?)
    }
}

#[pymethods]
impl Model {
    /// The model's name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The text of the model's file.
    #[getter]
    fn text(&self) -> String {
        self.source()
    }

    /// What to make the model of again.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.parts(py)
    }

    /// Whether nothing drives the model, so that it has no transfer functions, though it has parameters.
    #[getter]
    fn undriven(&self) -> bool {
        self.inner.graph().is_some_and(|graph| graph.inputs.is_empty() && !graph.parameters.is_empty())
    }

    /// The names of the inputs.
    #[getter]
    fn input_names(&self) -> Vec<String> {
        let inputs = self
            .inner
            .graph()
            .into_iter()
            .flat_map(|graph| graph.inputs.iter().map(|i| i.name.clone()).collect::<Vec<_>>());
        inputs.collect()
    }

    /// By which factors the declared units of parameters and inputs differ from SI.
    #[getter]
    fn factors(&self) -> Vec<(String, f64)> {
        let Some(graph) = self.inner.graph() else { return Vec::new() };
        let parameters = graph.parameters.iter().map(|p| (&p.name, p.unit.as_ref()));
        let inputs = graph.inputs.iter().map(|i| (&i.name, i.unit.as_ref()));
        parameters.chain(inputs).map(|(name, unit)| (name.clone(), unit.map_or(1.0, |u| u.factor))).collect()
    }

    /// The model at other values.
    fn with_values(&self, py: Python<'_>, values: Vec<(String, Setting)>) -> PyResult<Model> {
        let values: Vec<_> = values.into_iter().map(|(name, value)| (name, value.into())).collect();
        ask(py, None, |_| self.at(&values))
    }

    #[pyo3(signature = (progress=None))]
    fn check(&self, py: Python<'_>, progress: Progress<'_>) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = model.check(token)?;
            Ok(reply(answer.document(&Spelled), &answer))
        })
    }

    #[pyo3(signature = (progress=None))]
    fn causality(&self, py: Python<'_>, progress: Progress<'_>) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = model.causality(token)?;
            Ok(reply(answer.document(Naming::Flat, &Spelled), &answer))
        })
    }

    #[pyo3(signature = (mass=false, numeric=false, steps=false, progress=None))]
    fn equations(
        &self,
        py: Python<'_>,
        mass: bool,
        numeric: bool,
        steps: bool,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = if mass { model.equations_with_mass(token) } else { model.equations(token) }?;
            let answer = if numeric { answer.in_numbers().for_people() } else { answer };
            let mut document = answer.document(&Spelled);
            if !steps {
                return Ok(reply(document, &answer).written(move |notation| answer.written(notation)));
            }
            let steps = model.steps(token)?;
            document.steps = Some(steps.document());
            document.written = Some(steps.written(None));
            Ok(reply(document, &answer).written(move |notation| steps.written(Some(notation))))
        })
    }

    #[pyo3(signature = (junction_matrix=false, progress=None))]
    fn structure(&self, py: Python<'_>, junction_matrix: bool, progress: Progress<'_>) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = model.structure(junction_matrix, token)?;
            let document = answer.document(&Spelled);
            let shown = document.clone();
            Ok(reply(document, &answer).written(move |notation| answer.written(&shown, notation)))
        })
    }

    #[pyo3(signature = (method="matrix", terms=paynter::TERMS, numeric=false, progress=None))]
    fn tf(
        &self,
        py: Python<'_>,
        method: &str,
        terms: usize,
        numeric: bool,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            if numeric {
                let answer = model.transfer_in_numbers(token)?;
                return Ok(reply(answer.document(&Spelled), &answer));
            }
            let answer = match method {
                "mason" => model.transfer_by_mason(terms, token)?,
                _ => model.transfer(terms, token)?,
            };
            let document = answer.document(&Spelled);
            Ok(reply(document, &answer).written(move |notation| answer.written(notation)))
        })
    }

    #[pyo3(signature = (progress=None))]
    fn poles(&self, py: Python<'_>, progress: Progress<'_>) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = model.poles(token)?;
            let document = answer.document(Naming::Flat, &Spelled);
            let (drawn, shown) = (document.clone(), document.clone());
            let reply = reply(document, &answer).figures(move |_, _, _| {
                let points = |list: &[[f64; 2]]| list.iter().map(|[re, im]| (*re, *im)).collect::<Vec<_>>();
                let zeros: Vec<_> = drawn.zeros.iter().flat_map(|entry| points(&entry.zeros)).collect();
                let title = format!("{}: poles and zeros", drawn.model);
                Some(plot::poles(&title, &points(&drawn.poles), &zeros))
            });
            Ok(reply.written(move |notation| answer.written(&shown, notation)))
        })
    }

    #[pyo3(signature = (omega=None, listed=Vec::new(), outputs=Vec::new(), inputs=Vec::new(), progress=None))]
    fn bode(
        &self,
        py: Python<'_>,
        omega: Option<Grid>,
        listed: Vec<f64>,
        outputs: Vec<String>,
        inputs: Vec<String>,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let options = BodeOptions { omega: grid(omega), listed, outputs, inputs };
        self.question(py, &progress, |model, token| {
            let answer = model.bode(&options, token)?;
            let document = answer.document(&Spelled);
            let (drawn, shown) = (document.clone(), document.clone());
            let reply = reply(document, &answer).figures(move |_, _, _| Some(drawn.figure()));
            Ok(reply.written(move |notation| answer.written(&shown, notation)))
        })
    }

    #[pyo3(signature = (sensitivity=None, progress=None))]
    fn operating_point(
        &self,
        py: Python<'_>,
        sensitivity: Option<Vec<String>>,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        self.question(py, &progress, |model, token| {
            let answer = model.operating_point(token)?;
            let mut document = answer.document(&Spelled);
            if let Some(only) = &sensitivity {
                model.steady_sensitivity(only, token)?.complete(&mut document, Naming::Flat);
            }
            let shown = document.clone();
            Ok(reply(document, &answer).written(move |notation| answer.written(&shown, notation)))
        })
    }

    #[pyo3(signature = (only=Vec::new(), normalized=false, matrices=false, frozen=false, terms=paynter::TERMS, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn sensitivity(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        normalized: bool,
        matrices: bool,
        frozen: bool,
        terms: usize,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let options = SensitivityOptions { only, normalized, matrices, frozen, terms };
        self.question(py, &progress, |model, token| {
            let answer = model.sensitivity(&options, token)?;
            Ok(reply(answer.document(Naming::Flat, &Spelled), &answer))
        })
    }

    #[pyo3(signature = (only=Vec::new(), normalized=false, frozen=false, omega=None, listed=Vec::new(), verify=0, seed=1, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn sensitivity_response(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        normalized: bool,
        frozen: bool,
        omega: Option<Grid>,
        listed: Vec<f64>,
        verify: usize,
        seed: u64,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let which = SensitivityOptions { only, normalized, frozen, ..SensitivityOptions::default() };
        let options = ResponseOptions { which, omega: grid(omega), listed, verify, seed };
        self.question(py, &progress, |model, token| {
            let answer = model.sensitivity_response(&options, token)?;
            let document = answer.document(&Spelled);
            let drawn = document.clone();
            Ok(reply(document, &answer).figures(move |name, output, input| {
                let first = drawn.entries.first()?;
                let (output, input) = (output.unwrap_or(&first.output), input.unwrap_or(&first.input));
                match name {
                    "band" => drawn.band_figure(output, input),
                    "bode" => Some(drawn.bode_figure(output, input)),
                    _ => Some(drawn.tornado_figure(output, input)),
                }
            }))
        })
    }

    #[pyo3(signature = (only=Vec::new(), normalized=false, procedure="new", progress=None))]
    fn lft(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        normalized: bool,
        procedure: &str,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let options = lft_options(only, normalized, procedure);
        self.question(py, &progress, |model, token| {
            let answer = model.lft(&options, token)?;
            Ok(reply(answer.document(&Spelled), &answer).written(move |notation| answer.written(notation)))
        })
    }

    /// The uncertain bond graph as a model of its own.
    #[pyo3(signature = (only=Vec::new(), normalized=false, procedure="new"))]
    fn uncertain_graph(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        normalized: bool,
        procedure: &str,
    ) -> PyResult<Model> {
        let options = lft_options(only, normalized, procedure);
        let found = ask(py, None, |token| self.inner.uncertain_graph(&options, token))?;
        let made = found.map_err(|reason| self.unanswered(py, reason, &[]))?;
        Ok(self.derived(made.model.clone(), &made.text))
    }

    #[pyo3(signature = (only=Vec::new(), omega=None, pair=None, gain=None, dynamics=Vec::new(), gap=1e-3, nodes=500, work=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn robust(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        omega: Option<Grid>,
        pair: Option<(String, String)>,
        gain: Option<Setting>,
        dynamics: Vec<(String, String)>,
        gap: f64,
        nodes: usize,
        work: Option<u64>,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let gain = gain.map(amount).transpose()?;
        let options = RobustOptions { only, omega: grid(omega), pair, gain, dynamics, gap, nodes, work };
        self.question(py, &progress, |model, token| {
            let answer = model.robust(&options, token)?;
            let document = answer.document(&Spelled);
            let drawn = document.clone();
            Ok(reply(document, &answer).figures(move |name, _, _| match name {
                "gain" => drawn.gains(),
                "roots" => Some(drawn.roots()),
                _ => Some(drawn.bounds()),
            }))
        })
    }

    #[pyo3(signature = (open, omega=None, outputs=Vec::new(), inputs=Vec::new(), over=None, range=None, work=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn open_loop(
        &self,
        py: Python<'_>,
        open: String,
        omega: Option<Grid>,
        outputs: Vec<String>,
        inputs: Vec<String>,
        over: Option<String>,
        range: Option<Grid>,
        work: Option<u64>,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let locus = over.map(|over| LocusChoice {
            parameter: Some(over).filter(|over| over != "gain"),
            range: range.map(|(low, high, points)| LocusSpan { low, high, points }),
        });
        let options = LoopOptions { open, omega: grid(omega), outputs, inputs, locus, work };
        self.question(py, &progress, |model, token| {
            let answer = model.open_loop(&options, token)?;
            let document = answer.document(&Spelled);
            let drawn = document.clone();
            Ok(reply(document, &answer).figures(move |name, _, _| match name {
                "nichols" => Some(drawn.nichols()),
                "bode" => Some(drawn.bode()),
                "locus" => drawn.root_locus(),
                "step" => drawn.steps(),
                _ => Some(drawn.nyquist()),
            }))
        })
    }

    #[pyo3(signature = (form="incremental", only=Vec::new(), split=false, pair=false, numeric=false, each=false, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn incremental(
        &self,
        py: Python<'_>,
        form: &str,
        only: Vec<String>,
        split: bool,
        pair: bool,
        numeric: bool,
        each: bool,
        progress: Progress<'_>,
    ) -> PyResult<(Model, Answer)> {
        let form = match (form, each) {
            ("linear", _) => DerivedForm::Linear,
            ("pseudo", false) => DerivedForm::Pseudo,
            ("pseudo", true) => DerivedForm::PseudoEach,
            _ => DerivedForm::Incremental,
        };
        let options = IncrementalOptions { form, only, split, pair, numeric };
        let found = ask(py, progress.as_ref(), |token| {
            let answer = self.inner.incremental(&options, token)?;
            let document = answer.document(&Spelled);
            Ok((answer.model.clone(), answer.text.clone(), reply(document, &answer)))
        })?;
        let (model, text, reply) = found.map_err(|reason| self.unanswered(py, reason, &[]))?;
        Ok((self.derived(model, &text), Answer::new(py, reply)?))
    }

    /// The drawing as far as the model is known; `options` are those of the command line.
    fn draw(&self, py: Python<'_>, options: Drawing) -> PyResult<Option<Drawn>> {
        let positions = match &options.layout {
            Some(text) => json::read_layout(text).map_err(|reason| {
                PyValueError::new_err(format!(
                    "layout holds positions by name, as in {{'rotor': (3, 2)}}: {reason}"
                ))
            })?,
            None => Positions::default(),
        };
        let found = ask(py, None, |token| options.drawn(&self.inner, &positions, token))?;
        found.map_err(|reason| self.unanswered(py, reason, &[]))
    }

    /// The block diagram of the uncertain model as SVG.
    #[pyo3(signature = (only=Vec::new(), normalized=false, procedure="new"))]
    fn uncertain_blocks(
        &self,
        py: Python<'_>,
        only: Vec<String>,
        normalized: bool,
        procedure: &str,
    ) -> PyResult<Option<String>> {
        let options = lft_options(only, normalized, procedure);
        let found = ask(py, None, |token| {
            let blocks = self.inner.uncertain_blocks(&options, token)?;
            Ok(blocks.map(|diagram| blocks_svg(&draw_blocks(&diagram), &SvgStyle::default())))
        })?;
        found.map_err(|reason| self.unanswered(py, reason, &[]))
    }

    #[pyo3(signature = (t_end=None, measurements=None, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        t_end: Option<f64>,
        measurements: Option<Measurements>,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let estimation = measurements.map(EstimateOptions::try_from).transpose()?;
        self.question(py, &progress, |model, token| {
            let answer = model.report(t_end, estimation.as_ref(), token)?;
            let document = json::Report {
                ok: !answer.findings.has_errors(),
                model: answer.title.clone(),
                file: None,
                html: Some(report::html(&answer.result, &Spelled)),
                sections: json::ReportSection::list(&answer.result),
                diagnostics: answer.diagnostics(&Spelled),
            };
            Ok(reply(document, &answer))
        })
    }

    /// The model as a program in another language.
    #[pyo3(signature = (to, simulate=false))]
    fn export(&self, py: Python<'_>, to: &str, simulate: bool) -> PyResult<Answer> {
        let target = programs().find(|target| target.name() == to);
        let Some(target) = target else {
            let names: Vec<&str> = programs().map(Target::name).collect();
            let message = format!("there is no language `{to}`; choose one of {}", names.join(", "));
            return Err(PyValueError::new_err(message));
        };
        let chosen = if simulate { target.simulator() } else { Some(target) };
        let Some(chosen) = chosen else {
            let able = programs().filter(|target| target.simulator().is_some());
            let able: Vec<&str> = able.map(Target::name).collect();
            let message = format!("`simulate=True` goes with {} only", able.join(" or "));
            return Err(PyValueError::new_err(message));
        };
        self.question(py, &None, |model, token| {
            let answer = model.export(chosen, token)?;
            let document = json::Export {
                ok: !answer.findings.has_errors(),
                model: model.name().to_owned(),
                language: chosen.name().to_owned(),
                file: None,
                program: Some(answer.result.clone()),
                diagnostics: answer.diagnostics(&Spelled),
            };
            Ok(reply(document, &answer))
        })
    }
}

fn lft_options(only: Vec<String>, normalized: bool, procedure: &str) -> LftOptions {
    let procedure = if procedure == "existing" { Procedure::Existing } else { Procedure::New };
    LftOptions { procedure, normalized, only, ..LftOptions::default() }
}

/// What a drawing shows, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Drawing {
    sfg: bool,
    path: Option<(String, String)>,
    loops: bool,
    numbers: bool,
    variables: bool,
    no_values: bool,
    letters: bool,
    boxes: bool,
    fold: Option<usize>,
    unfold: bool,
    dark: bool,
    transparent: bool,
    embed_font: bool,
    scale: f64,
    layout: Option<String>,
}

/// A picture as SVG; its positions, where it has any, and the names that a layout places though they are not in it.
type Drawn = (String, Option<String>, Vec<String>);

impl Drawing {
    fn drawn(
        &self,
        model: &paynter::Model,
        positions: &Positions,
        token: &CancellationToken,
    ) -> Result<Option<Drawn>, QueryError> {
        let style = SvgStyle {
            theme: theme(self.dark),
            transparent: self.transparent,
            embed_font: self.embed_font,
            scale: self.scale,
        };
        if self.sfg {
            let diagram = model.block_diagram(token)?;
            return Ok(diagram.map(|diagram| (blocks_svg(&draw_blocks(&diagram), &style), None, Vec::new())));
        }
        let Some(mut diagram) = model.diagram(token)? else { return Ok(None) };
        if let Some((from, to)) = &self.path {
            model.highlight_path(&mut diagram, from, to, token)?;
        }
        if self.loops {
            model.highlight_loops(&mut diagram, token)?;
        }
        let options = DrawOptions {
            letters: self.letters,
            values: !self.no_values,
            numbers: self.numbers,
            variables: self.variables,
            boxes: self.boxes,
            fold: match (self.fold, self.unfold) {
                (_, true) => Fold::Never,
                (Some(depth), _) => Fold::Depth(depth),
                (None, _) => Fold::Automatic,
            },
        };
        let drawing = draw_at(&diagram, &options, positions);
        let known: Vec<&str> = drawing.nodes.iter().map(|node| node.name.as_str()).collect();
        let unknown = positions.unknown(&known).into_iter().map(|name| name.to_string()).collect();
        Ok(Some((svg(&drawing, &style), Some(json::write_layout(&Positions::of(&drawing))), unknown)))
    }
}
