//! One question asked of many samples of uncertain parameters.

use crate::answer::{Answer, Asked, QueryError, refused};
use crate::simulate::SimulateOptions;
use crate::{BodeOptions, Model};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_ensemble::answer_all;
pub use paynter_ensemble::{Design, Distribution, Draw, Gathered, Indices, MergeError, Sampling};
use paynter_equations::Output;
use paynter_graph::flat_name;
use paynter_numerics::parametric::declared_tolerances;
use paynter_numerics::program::Hold;
use paynter_simulate::experiment::Column;
use paynter_view::json;
use paynter_view::units::Shown;

/// Samples are answered in batches of so many, so that Ctrl-C and memory are kept in sight.
const BATCH: u64 = 256;

/// Where the nominal model has no answer, so many samples are asked for one before all is given up.
const LEARNT_FROM: u64 = 32;

/// What each sample is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum EnsembleQuestion {
    /// The response over time.
    Simulate(Box<SimulateOptions>),
    /// The steady state.
    OperatingPoint,
    /// The magnitude of the frequency response.
    Bode(BodeOptions),
}

/// What an ensemble is asked for. Values are in the units that the model declares.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleOptions {
    /// What is drawn: where no parameters are named those with tolerances, uniformly within them.
    pub draw: Draw,
    /// What each sample is asked.
    pub question: EnsembleQuestion,
    /// One of several parts, from 0, and the number of parts.
    pub shard: (u64, u64),
}

/// What samples tell together, or a part of them.
#[derive(Debug, Clone)]
pub struct Ensemble {
    /// The uncertain parameters.
    pub quantities: Vec<String>,
    /// What was drawn.
    pub sampling: Sampling,
    /// The name of the axis of the numbers and its values: times or frequencies; none for single numbers.
    pub axis: Option<(&'static str, Vec<f64>)>,
    /// The names of the answers, each a number for every value of the axis.
    pub names: Vec<String>,
    /// The units that people are shown the answers in.
    pub shown: Vec<Shown>,
    /// What tells the model and the question from others.
    pub fingerprint: String,
    /// What was gathered.
    pub gathered: Gathered,
    /// By sample: the last number of each answer; NaN where there is none.
    pub ends: Vec<Vec<f64>>,
}

/// The numbers of one sample: by name, with the unit that people are shown, each along the axis.
type Numbers = (Option<(&'static str, Vec<f64>)>, Vec<(String, Shown, Vec<f64>)>);

impl Model {
    /// Asks a question of many samples, or of one part of them.
    pub fn ensemble(&self, options: &EnsembleOptions, token: &CancellationToken) -> Asked<Ensemble> {
        let (names, sampling) = self.sampling(options)?;
        let (part, parts) = options.shard;
        // Parts end with base samples, whose answers belong together.
        let base = |part: u64| sampling.samples * part / parts.max(1) * sampling.group();
        let (from, to) = (base(part), base(part + 1));
        let nominal = match self.numbers(&options.question, token) {
            // How answers look is learnt from the first sample that has one.
            Err(QueryError::Wrong(found)) => {
                let sample = |sample: u64| {
                    let values = sampling.values(sample);
                    let settings = names.iter().map(String::as_str).zip(values);
                    self.with(settings).numbers(&options.question, token).ok()
                };
                let tried = (0..LEARNT_FROM.min(sampling.samples)).find_map(sample);
                token.check()?;
                tried.ok_or(QueryError::Wrong(found))?
            }
            found => found?,
        };
        let (axis, listed) = nominal.result.clone();
        let (answers, shown) = listed.into_iter().map(|(name, shown, _)| (name, shown)).unzip();
        // All samples answer at the frequencies of the nominal model.
        let question = match (&options.question, &axis) {
            (EnsembleQuestion::Bode(bode), Some((_, omega))) => {
                EnsembleQuestion::Bode(BodeOptions { omega: None, listed: omega.clone(), ..bode.clone() })
            }
            (question, _) => question.clone(),
        };
        let size = axis.as_ref().map_or(1, |(_, values)| values.len());
        let mut found = Ensemble {
            quantities: names,
            axis,
            names: answers,
            shown,
            fingerprint: self.fingerprint(&format!("{:?}", options.question)),
            gathered: Gathered::begin(from),
            ends: Vec::new(),
            sampling,
        };
        token.begin("ensemble", to - from);
        let mut at = from;
        while at < to {
            let count = BATCH.min(to - at);
            let answered = answer_all(at, at + count, |sample| {
                let answer = found.sample(self, sample, size, &question, token);
                token.advance(1);
                answer
            });
            token.check()?;
            let end = |values: &Vec<f64>| values.chunks(size).map(|row| row[row.len() - 1]).collect();
            let missing = || vec![f64::NAN; found.names.len()];
            found.ends.extend(answered.iter().map(|answer| answer.as_ref().map_or_else(|_| missing(), end)));
            let sampling = &found.sampling;
            found.gathered.extend(&|sample| sampling.values(sample), answered);
            at += count;
        }
        Ok(Answer {
            result: found,
            findings: nominal.findings,
            sources: nominal.sources,
            pool: nominal.pool,
            graph: nominal.graph,
        })
    }

    /// A short text that differs where the model, its values or a question differ (FNV-1a): parts of different
    /// ensembles are not joined.
    pub fn fingerprint(&self, question: &str) -> String {
        let texts = self.sources().iter().map(|(_, source)| source.text.clone());
        let set = self.0.set.iter().map(|(name, value)| format!("{name}={value}"));
        let tables = self.tables(Hold::Linear).unwrap_or_default();
        let samples = tables.list().iter().flat_map(|table| {
            table.times().iter().map(|t| format!("{t:e} {:e}", table.value(*t))).collect::<Vec<_>>()
        });
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for text in texts.chain(set).chain(samples).chain([question.to_owned()]) {
            for byte in text.bytes().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// The distributions of the uncertain parameters, and how they are drawn.
    pub fn sampling(&self, options: &EnsembleOptions) -> Result<(Vec<String>, Sampling), QueryError> {
        let Some(graph) = self.graph() else { return Err(QueryError::Wrong(Diagnostics::new())) };
        let known: Vec<String> = graph.parameters.iter().map(|p| flat_name(&p.name)).collect();
        let mut draw = options.draw.clone();
        draw.quantities.iter_mut().for_each(|(name, _)| *name = flat_name(name));
        draw.correlations.iter_mut().for_each(|(a, b, _)| (*a, *b) = (flat_name(a), flat_name(b)));
        if draw.quantities.is_empty() {
            let within = |(place, deviation): (usize, f64)| {
                let parameter = &graph.parameters[place];
                let end = |sign: f64| parameter.in_declared_unit(parameter.number + sign * deviation);
                (known[place].clone(), Distribution::Uniform { low: end(-1.0), high: end(1.0) })
            };
            draw.quantities = declared_tolerances(&graph).into_iter().map(within).collect();
        }
        if draw.samples == 0 || options.shard.0 >= options.shard.1 {
            let refusal = Diagnostic::new(code::BAD_SIMULATION, "there is no sample to draw");
            return Err(refused(refusal.help("ask for one sample or more, and a part that exists")));
        }
        draw.sampling(&known).map_err(|refusal| refused(*refusal))
    }

    /// The numbers that a question leads to.
    fn numbers(&self, question: &EnsembleQuestion, token: &CancellationToken) -> Asked<Numbers> {
        match question {
            EnsembleQuestion::Simulate(options) => {
                let simulation = self.simulation(options, token)?;
                let (response, outcome) = simulation.respond(&simulation.parameters, token);
                if outcome.failure.is_some() {
                    return Err(QueryError::Wrong(simulation.explain(&simulation.parameters, &outcome)));
                }
                let shown = |column: &Column| Shown { unit: column.unit.clone(), factor: column.factor };
                let mut numbers = Vec::new();
                for (column, list) in simulation.outputs.iter().zip(response.outputs) {
                    numbers.push((column.name.clone(), shown(column), list));
                }
                for (output, by) in simulation.outputs.iter().zip(response.sensitivities) {
                    let columns = simulation.wanted_columns.iter();
                    for ((name, column), list) in simulation.wanted.iter().zip(columns).zip(by) {
                        let unit = shown(output).per(&shown(column));
                        numbers.push((format!("d({})/d({name})", output.name), unit, list));
                    }
                }
                Ok(simulation.map(|_| (Some(("t", response.t)), numbers)))
            }
            EnsembleQuestion::OperatingPoint => {
                let steady = self.operating_point(token)?;
                let outputs = steady.equations.outputs.iter().zip(&steady.point.outputs).enumerate();
                let number = |(place, (output, value)): (usize, (&Output, &f64))| {
                    (output.name.clone(), Shown::output(&steady.graph, place), vec![*value])
                };
                let numbers = outputs.map(number).collect();
                Ok(steady.map(|_| (None, numbers)))
            }
            EnsembleQuestion::Bode(options) => {
                let answer = self.bode(options, token)?;
                let (found, equations) = (&answer.response, &answer.linear.equations);
                let pairs = found.outputs.iter().flat_map(|o| found.inputs.iter().map(move |i| (*o, *i)));
                let magnitude = |entry: usize| found.values.iter().map(|row| row[entry].norm()).collect();
                let name = |(o, i): (usize, usize)| {
                    format!("{}/{}", equations.outputs[o].name, equations.inputs[i].name)
                };
                let shown = |(o, i): (usize, usize)| {
                    Shown::output(&answer.graph, o).per(&Shown::input(&answer.graph, i))
                };
                let numbers = pairs.enumerate();
                let numbers =
                    numbers.map(|(entry, pair)| (name(pair), shown(pair), magnitude(entry))).collect();
                let omega = found.omega.clone();
                Ok(answer.map(|_| (Some(("omega", omega)), numbers)))
            }
        }
    }
}

impl Ensemble {
    /// The numbers of one sample, one answer after the other.
    fn sample(
        &self,
        model: &Model,
        sample: u64,
        size: usize,
        question: &EnsembleQuestion,
        token: &CancellationToken,
    ) -> Result<Vec<f64>, String> {
        let values = self.sampling.values(sample);
        let settings = self.quantities.iter().map(String::as_str).zip(values);
        match model.with(settings).numbers(question, token) {
            Ok(answer) => match answer.1.iter().all(|(_, _, list)| list.len() == size) {
                true => Ok(answer.result.1.into_iter().flat_map(|(_, _, list)| list).collect()),
                false => Err("the answer has another length".to_owned()),
            },
            Err(QueryError::Cancelled) => Err("cancelled".to_owned()),
            Err(QueryError::Wrong(found)) => {
                let reason = found.iter().find(|finding| finding.is_error()).or(found.iter().next());
                Err(reason.map_or_else(String::new, |reason| reason.message.clone()))
            }
        }
    }
}

impl Answer<Ensemble> {
    /// What the samples tell, to be joined with others or made a document of.
    pub fn part(&self) -> json::EnsemblePart {
        let found = &self.result;
        let facts = json::EnsembleFacts {
            model: &self.graph.name,
            quantities: &found.quantities,
            sampling: &found.sampling,
            axis: found.axis.as_ref().map(|(name, values)| (*name, values.as_slice())),
            names: &found.names,
            shown: &found.shown,
            fingerprint: &found.fingerprint,
        };
        json::EnsemblePart::new(&facts, &found.gathered, &found.ends)
    }
}
