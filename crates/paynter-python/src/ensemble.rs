//! Ensembles for Python: the core asks its own questions of many samples;
//! questions that are functions of Python are asked there, and their numbers
//! are gathered here.

use crate::answer::{Answer, Reply};
use crate::ask::ask;
use crate::failure::findings;
use crate::model::Model;
use crate::questions::{Grid, Progress, grid};
use crate::simulate::Experiment;
use crate::spelling::Python as Spelled;
use paynter::BodeOptions;
use paynter::ensemble::{Design, Distribution, Draw, EnsembleOptions, EnsembleQuestion, Gathered, Sampling};
use paynter::json::{Diagnostic, Ensemble, EnsembleFacts, EnsemblePart, read_ensemble, text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What an ensemble is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    quantities: Vec<(String, String, f64, f64)>,
    correlations: Vec<(String, String, f64)>,
    design: String,
    seed: u64,
    samples: u64,
    indices: bool,
    shard: (u64, u64),
    question: String,
    experiment: Option<Experiment>,
    omega: Option<Grid>,
    listed: Vec<f64>,
}

fn distribution(kind: &str, first: f64, second: f64) -> PyResult<Distribution> {
    let made = match kind {
        "uniform" => Distribution::Uniform { low: first, high: second },
        "normal" => Distribution::Normal { mean: first, deviation: second },
        "lognormal" => Distribution::Lognormal { median: first, deviation: second },
        _ => {
            let message = format!("there is no distribution `{kind}`; choose uniform, normal or lognormal");
            return Err(PyValueError::new_err(message));
        }
    };
    match made.error() {
        None => Ok(made),
        Some(error) => Err(PyValueError::new_err(error)),
    }
}

impl Asked {
    fn options(self) -> PyResult<EnsembleOptions> {
        let quantities = self.quantities.into_iter();
        let quantities =
            quantities.map(|(name, kind, first, second)| Ok((name, distribution(&kind, first, second)?)));
        let design = Design::NAMES.iter().find(|(name, _)| *name == self.design);
        let Some((_, design)) = design else {
            let message = format!("there is no design `{}`; choose random, latin or sobol", self.design);
            return Err(PyValueError::new_err(message));
        };
        let question = match (self.question.as_str(), self.experiment) {
            ("simulate", Some(experiment)) => EnsembleQuestion::Simulate(Box::new(experiment.into())),
            ("bode", _) => EnsembleQuestion::Bode(BodeOptions {
                omega: grid(self.omega),
                listed: self.listed,
                ..BodeOptions::default()
            }),
            _ => EnsembleQuestion::OperatingPoint,
        };
        Ok(EnsembleOptions {
            draw: Draw {
                quantities: quantities.collect::<PyResult<_>>()?,
                correlations: self.correlations,
                design: *design,
                seed: self.seed,
                samples: self.samples,
                indices: self.indices,
            },
            question,
            shard: self.shard,
        })
    }
}

#[pymethods]
impl Model {
    /// Asks a question of the core of one part of the samples; the text of its document is what parts are joined by.
    fn ensemble_part(&self, py: Python<'_>, asked: Asked) -> PyResult<String> {
        let options = asked.options()?;
        let found = ask(py, None, |token| Ok(text(&self.inner.ensemble(&options, token)?.part())))?;
        found.map_err(|reason| self.unanswered(py, reason, &[]))
    }

    /// Asks a question of the core of all samples.
    #[pyo3(signature = (asked, limits, confidence, progress=None))]
    fn ensemble(
        &self,
        py: Python<'_>,
        asked: Asked,
        limits: Vec<(String, f64, f64)>,
        confidence: f64,
        progress: Progress<'_>,
    ) -> PyResult<Answer> {
        let options = asked.options()?;
        let found = ask(py, progress.as_ref(), |token| {
            let answer = self.inner.ensemble(&options, token)?;
            let told = document(answer.part(), &limits, confidence, answer.diagnostics(&Spelled));
            Ok(told.map(|told| Reply::new(told, findings(&answer.findings, &answer.sources))))
        })?;
        let told = found.map_err(|reason| self.unanswered(py, reason, &[]))?;
        Answer::new(py, told.map_err(PyValueError::new_err)?)
    }

    /// The names of the uncertain parameters, and their values in some samples, each a row.
    fn ensemble_values(&self, asked: Asked, from: u64, to: u64) -> PyResult<(Vec<String>, Vec<Vec<f64>>)> {
        let options = asked.options()?;
        let (names, sampling) = self.sampling_of(&options)?;
        Ok((names, (from..to).map(|sample| sampling.values(sample)).collect()))
    }

    /// Gathers the answers that a function of Python gave to some samples: numbers, or why there are none.
    #[pyo3(signature = (asked, names, axis, from, answers))]
    fn ensemble_gather(
        &self,
        asked: Asked,
        names: Vec<String>,
        axis: Option<Vec<f64>>,
        from: u64,
        answers: Vec<(Option<Vec<f64>>, String)>,
    ) -> PyResult<String> {
        let options = asked.options()?;
        let (quantities, sampling) = self.sampling_of(&options)?;
        let size = axis.as_ref().map_or(1, Vec::len).max(1);
        let mut gathered = Gathered::begin(from);
        let mut ends = Vec::with_capacity(answers.len());
        for (numbers, reason) in answers {
            let end = |values: &Vec<f64>| values.chunks(size).map(|row| row[row.len() - 1]).collect();
            let whole = numbers.as_ref().filter(|values| values.len() == size * names.len());
            ends.push(whole.map_or_else(|| vec![f64::NAN; names.len()], end));
            gathered.extend(&|sample| sampling.values(sample), [numbers.ok_or(reason)]);
        }
        let facts = EnsembleFacts {
            model: self.inner.name(),
            quantities: &quantities,
            sampling: &sampling,
            axis: axis.as_deref().map(|values| ("axis", values)),
            names: &names,
            shown: &[],
            fingerprint: &self.inner.fingerprint("function"),
        };
        Ok(text(&EnsemblePart::new(&facts, &gathered, &ends)))
    }
}

impl Model {
    fn sampling_of(&self, options: &EnsembleOptions) -> PyResult<(Vec<String>, Sampling)> {
        self.inner.sampling(options).map_err(|reason| Python::attach(|py| self.unanswered(py, reason, &[])))
    }
}

/// Joins the documents of parts and tells what they tell together.
#[pyfunction]
pub fn join_ensemble(
    py: Python<'_>,
    parts: Vec<String>,
    limits: Vec<(String, f64, f64)>,
    confidence: f64,
) -> PyResult<Answer> {
    let joined = ask(py, None, |_| {
        let read = parts.iter().map(|part| read_ensemble(part)).collect::<Result<Vec<_>, _>>();
        document(read.and_then(EnsemblePart::join)?, &limits, confidence, Vec::new())
    })?;
    Answer::new(py, Reply::new(joined.map_err(PyValueError::new_err)?, Vec::new()))
}

/// The document of samples, with limits for their answers.
fn document(
    part: EnsemblePart,
    limits: &[(String, f64, f64)],
    confidence: f64,
    findings: Vec<Diagnostic>,
) -> Result<Ensemble, String> {
    part.answers_to(limits)?;
    // Limits are in the units that the model declares, as distributions are.
    let in_si = |(name, low, high): &(String, f64, f64)| {
        let size = part.unit_of(name).size;
        (name.clone(), low * size, high * size)
    };
    let limits: Vec<(String, f64, f64)> = limits.iter().map(in_si).collect();
    Ok(Ensemble::new(part, &limits, confidence, findings).settled())
}
