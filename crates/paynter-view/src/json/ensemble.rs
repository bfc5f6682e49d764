//! The answer of `paynter ensemble`: of all samples, or of a part that others
//! join.

use super::{Diagnostic, finite};
use crate::units::Shown;
use paynter_ensemble as ens;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Histograms have so many bins.
const BINS: usize = 30;

/// The shares whose quantiles are told.
const SHARES: [f64; 5] = [0.01, 0.05, 0.5, 0.95, 0.99];

/// What many samples of a model tell together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ensemble {
    /// Whether the model has no error.
    pub ok: bool,
    /// What is told, and of which samples.
    #[serde(flatten)]
    pub part: EnsemblePart,
    /// Whether all samples are here.
    pub complete: bool,
    /// The samples that have answers.
    pub answered: u64,
    /// By answer: what the samples tell together, in SI, along the axis.
    pub statistics: BTreeMap<String, Statistics>,
    /// By limit that was asked for: the share of samples that keep it.
    #[serde(rename = "yield", skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, Yield>,
    /// By answer and parameter: Sobol' indices of the last number, where they were asked for and all samples are here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub indices: BTreeMap<String, BTreeMap<String, SobolIndex>>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Samples, or a part of them, with all that joining parts needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnsemblePart {
    /// The model's name.
    pub model: String,
    /// The number of samples; with Sobol' indices that of base samples.
    pub samples: u64,
    /// How they are spread: `random`, `latin` or `sobol`.
    pub design: String,
    /// Where random numbers begin.
    pub seed: u64,
    /// Whether samples are made for Sobol' indices.
    pub for_indices: bool,
    /// The uncertain parameters in the units that the model declares.
    pub quantities: Vec<Drawn>,
    /// The name of the axis of the answers: `t`, `omega`, or nothing.
    pub axis: Option<String>,
    /// The values of the axis.
    pub axis_values: Vec<f64>,
    /// The names of the answers.
    pub answers: Vec<String>,
    /// The units in which people are shown the answers, in their order.
    pub units: Vec<AnswerUnit>,
    /// What tells the model, its values and the question from others.
    pub fingerprint: String,
    /// The limits that answers are asked to keep, in SI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// The first sample of this part.
    pub from: u64,
    /// One past its last.
    pub to: u64,
    /// Samples without an answer.
    pub failures: Vec<FailedSample>,
    /// What was gathered, by nodes of the tree over all samples; left out once all are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<GatheredNode>,
    /// By sample of this part: the last number of each answer; `null` where there is none.
    pub ends: Vec<Vec<Option<f64>>>,
}

/// The unit of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerUnit {
    /// As written in the model; `null` for SI.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub size: f64,
}

/// A limit of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The answer.
    pub answer: String,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A parameter with its distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// `uniform`, `normal` or `lognormal`.
    pub distribution: String,
    /// The lower end, the mean or the median.
    pub first: f64,
    /// The upper end or the standard deviation, of a lognormal one that of the logarithm.
    pub second: f64,
}

/// A sample without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedSample {
    /// Its number.
    pub sample: u64,
    /// The values of the parameters.
    pub values: BTreeMap<String, f64>,
    /// Why there is none.
    pub reason: String,
}

/// A node of the tree over all samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GatheredNode {
    /// Its level.
    pub level: u32,
    /// Its place on its level.
    pub place: u64,
    /// Its samples with answers.
    pub count: u64,
    /// By number: the mean.
    pub mean: Vec<f64>,
    /// By number: the sum of squared deviations.
    pub squares: Vec<f64>,
    /// By number: the smallest.
    pub least: Vec<Option<f64>>,
    /// By number: the largest.
    pub most: Vec<Option<f64>>,
    /// By number: weights, each with values in order.
    pub summaries: Vec<Vec<(u64, Vec<f64>)>>,
}

/// What samples tell about one answer, along the axis.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Statistics {
    /// The mean.
    pub mean: Vec<f64>,
    /// The variance, by n − 1; `null` of a single sample.
    pub variance: Vec<Option<f64>>,
    /// The smallest.
    pub least: Vec<f64>,
    /// The largest.
    pub most: Vec<f64>,
    /// Values below which a share of the samples lies, by the share.
    pub quantiles: BTreeMap<String, Vec<f64>>,
    /// The edges of the histogram of the last number.
    pub edges: Vec<f64>,
    /// How many samples lie between neighbouring edges.
    pub counts: Vec<u64>,
}

/// The share of samples that keep a limit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Yield {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The share of all samples whose last number lies between; a sample without an answer does not.
    pub share: f64,
}

/// A Sobol' index with its confidence interval.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SobolIndex {
    /// The part of the variance that the parameter causes alone; `null` where nothing varies.
    pub first: Option<f64>,
    /// Its interval.
    pub first_interval: [Option<f64>; 2],
    /// The part that it takes part in.
    pub total: Option<f64>,
    /// Its interval.
    pub total_interval: [Option<f64>; 2],
}

/// What an ensemble is about.
pub struct EnsembleFacts<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The uncertain parameters.
    pub quantities: &'a [String],
    /// What was drawn.
    pub sampling: &'a ens::Sampling,
    /// The axis of the answers.
    pub axis: Option<(&'static str, &'a [f64])>,
    /// The names of the answers.
    pub names: &'a [String],
    /// The units in which people are shown them; where empty, SI.
    pub shown: &'a [Shown],
    /// What tells the model and the question from others.
    pub fingerprint: &'a str,
}

impl EnsemblePart {
    /// What samples tell, or a part of them.
    pub fn new(facts: &EnsembleFacts<'_>, gathered: &ens::Gathered, ends: &[Vec<f64>]) -> EnsemblePart {
        let sampling = facts.sampling;
        let drawn = facts.quantities.iter().zip(&sampling.distributions).map(|(name, distribution)| {
            let (kind, first, second) = match *distribution {
                ens::Distribution::Uniform { low, high } => ("uniform", low, high),
                ens::Distribution::Normal { mean, deviation } => ("normal", mean, deviation),
                ens::Distribution::Lognormal { median, deviation } => ("lognormal", median, deviation),
            };
            Drawn { name: name.clone(), distribution: kind.to_owned(), first, second }
        });
        let failure = |failure: &ens::Failure| FailedSample {
            sample: failure.sample,
            values: facts.quantities.iter().cloned().zip(failure.values.iter().copied()).collect(),
            reason: failure.reason.clone(),
        };
        let design = ens::Design::NAMES.iter().find(|(_, design)| *design == sampling.design);
        EnsemblePart {
            model: facts.model.to_owned(),
            samples: sampling.samples,
            design: design.map_or_else(String::new, |(name, _)| (*name).to_owned()),
            seed: sampling.seed,
            for_indices: sampling.indices,
            quantities: drawn.collect(),
            axis: facts.axis.map(|(name, _)| name.to_owned()),
            axis_values: facts.axis.map_or_else(Vec::new, |(_, values)| values.to_vec()),
            answers: facts.names.to_vec(),
            units: facts
                .shown
                .iter()
                .map(|shown| AnswerUnit { unit: shown.unit.clone(), size: shown.factor })
                .collect(),
            fingerprint: facts.fingerprint.to_owned(),
            limits: Vec::new(),
            from: gathered.from,
            to: gathered.to,
            failures: gathered.failures.iter().map(failure).collect(),
            nodes: gathered.nodes.iter().map(GatheredNode::new).collect(),
            ends: ends.iter().map(|row| row.iter().copied().map(finite).collect()).collect(),
        }
    }
}

impl Ensemble {
    /// The document of samples, or of a part of them; without limits those hold that parts were asked with.
    pub fn new(
        mut part: EnsemblePart,
        limits: &[(String, f64, f64)],
        confidence: f64,
        diagnostics: Vec<Diagnostic>,
    ) -> Ensemble {
        if !limits.is_empty() {
            let limit = |(answer, low, high): &(String, f64, f64)| Limit {
                answer: answer.clone(),
                low: finite(*low),
                high: finite(*high),
            };
            part.limits = limits.iter().map(limit).collect();
        }
        let gathered = part.gathered();
        let spread = gathered.spread();
        let size = part.size();
        let mut statistics = BTreeMap::new();
        for (place, name) in part.answers.iter().enumerate().filter(|_| spread.count > 0) {
            let range = place * size..(place + 1) * size;
            let each: Vec<Vec<f64>> = range.clone().map(|number| spread.quantiles(number, &SHARES)).collect();
            let quantiles = SHARES
                .iter()
                .enumerate()
                .map(|(k, share)| (share.to_string(), each.iter().map(|values| values[k]).collect()));
            let (edges, counts) = spread.histogram(range.end - 1, BINS);
            statistics.insert(
                name.clone(),
                Statistics {
                    mean: spread.mean[range.clone()].to_vec(),
                    variance: spread.variance[range.clone()].iter().copied().map(finite).collect(),
                    least: spread.least[range.clone()].to_vec(),
                    most: spread.most[range.clone()].to_vec(),
                    quantiles: quantiles.collect(),
                    edges,
                    counts,
                },
            );
        }
        let complete = part.from == 0 && part.to == part.evaluations();
        let indices = match part.for_indices && complete {
            true => part.indices(confidence),
            false => BTreeMap::new(),
        };
        let shares = part.limits.iter().filter_map(|limit| {
            let answer = part.answers.iter().position(|known| *known == limit.answer)?;
            let within = |end: f64| {
                limit.low.is_none_or(|low| low <= end) && limit.high.is_none_or(|high| end <= high)
            };
            let keeps = |row: &&Vec<Option<f64>>| row[answer].is_some_and(within);
            let share = part.ends.iter().filter(keeps).count() as f64 / part.ends.len() as f64;
            Some((limit.answer.clone(), Yield { low: limit.low, high: limit.high, share }))
        });
        let shares = shares.collect();
        Ensemble {
            ok: true,
            complete,
            answered: spread.count,
            statistics,
            shares,
            indices,
            diagnostics,
            part,
        }
    }
}

impl Ensemble {
    /// The document without what only joining needs, where all samples are here.
    #[must_use]
    pub fn settled(mut self) -> Ensemble {
        if self.complete {
            self.part.nodes.clear();
        }
        self
    }
}

impl EnsemblePart {
    /// Refuses limits for what is no answer.
    pub fn answers_to(&self, limits: &[(String, f64, f64)]) -> Result<(), String> {
        match limits.iter().find(|(name, _, _)| !self.answers.contains(name)) {
            None => Ok(()),
            Some((name, _, _)) => {
                let known = self.answers.join("`, `");
                Err(format!("there are limits for `{name}`, which is no answer; the answers are `{known}`"))
            }
        }
    }

    /// The unit in which people are shown an answer.
    pub fn unit_of(&self, answer: &str) -> AnswerUnit {
        let place = self.answers.iter().position(|known| known == answer);
        let unit = place.and_then(|place| self.units.get(place)).cloned();
        unit.unwrap_or(AnswerUnit { unit: None, size: 1.0 })
    }

    /// How many numbers an answer has.
    fn size(&self) -> usize {
        self.axis_values.len().max(1)
    }

    /// How many samples are evaluated in all.
    fn evaluations(&self) -> u64 {
        self.samples * if self.for_indices { self.quantities.len() as u64 + 2 } else { 1 }
    }

    /// What was gathered.
    fn gathered(&self) -> ens::Gathered {
        let failure = |failure: &FailedSample| ens::Failure {
            sample: failure.sample,
            values: self.quantities.iter().filter_map(|q| failure.values.get(&q.name).copied()).collect(),
            reason: failure.reason.clone(),
        };
        ens::Gathered {
            from: self.from,
            to: self.to,
            nodes: self.nodes.iter().map(GatheredNode::node).collect(),
            failures: self.failures.iter().map(failure).collect(),
        }
    }

    /// Joins parts in the order of their samples, or says why they do not fit.
    pub fn join(mut parts: Vec<EnsemblePart>) -> Result<EnsemblePart, String> {
        parts.sort_by_key(|part| (part.from, part.to));
        let mut parts = parts.into_iter();
        let mut joined = parts.next().ok_or("there is no part to join")?;
        let mut gathered = joined.gathered();
        for part in parts {
            let about = |p: &EnsemblePart| EnsemblePart {
                from: 0,
                to: 0,
                failures: Vec::new(),
                nodes: Vec::new(),
                ends: Vec::new(),
                limits: Vec::new(),
                ..p.clone()
            };
            if about(&part) != about(&joined) {
                let alike = EnsemblePart { fingerprint: String::new(), ..about(&part) }
                    == EnsemblePart { fingerprint: String::new(), ..about(&joined) };
                return Err(match alike {
                    true => "the parts are of different models, values or options of the question".to_owned(),
                    false => "the parts are of different ensembles".to_owned(),
                });
            }
            gathered.join(part.gathered()).map_err(|error| match error {
                ens::MergeError::Gap(end, begin) if begin > end => {
                    format!("samples {end} to {} are missing", begin - 1)
                }
                ens::MergeError::Gap(_, begin) => format!("sample {begin} is in two parts"),
                ens::MergeError::Unlike => "the parts have answers of different lengths".to_owned(),
            })?;
            joined.to = part.to;
            for limit in part.limits {
                if !joined.limits.iter().any(|known| known.answer == limit.answer) {
                    joined.limits.push(limit);
                }
            }
            joined.failures.extend(part.failures);
            joined.ends.extend(part.ends);
        }
        joined.nodes = gathered.nodes.iter().map(GatheredNode::new).collect();
        Ok(joined)
    }

    /// Sobol' indices of the last numbers.
    fn indices(&self, confidence: f64) -> BTreeMap<String, BTreeMap<String, SobolIndex>> {
        let group = self.quantities.len() + 2;
        let index = |found: &ens::Indices, k: usize| SobolIndex {
            first: finite(found.first[k].value),
            first_interval: [found.first[k].low, found.first[k].high].map(finite),
            total: finite(found.total[k].value),
            total_interval: [found.total[k].low, found.total[k].high].map(finite),
        };
        let of = |answer: usize| {
            let row =
                |rows: &[Vec<Option<f64>>]| rows.iter().map(|row| row[answer].unwrap_or(f64::NAN)).collect();
            let rows: Vec<Vec<f64>> = self.ends.chunks(group).map(row).collect();
            let found = ens::sobol_indices(&rows, self.quantities.len(), confidence, self.seed);
            let quantities = self.quantities.iter().enumerate();
            quantities.map(|(k, quantity)| (quantity.name.clone(), index(&found, k))).collect()
        };
        self.answers.iter().enumerate().map(|(place, name)| (name.clone(), of(place))).collect()
    }
}

impl GatheredNode {
    fn new(node: &ens::Node) -> GatheredNode {
        let summaries =
            |list: &Vec<ens::Summary>| list.iter().map(|s| (s.weight, s.values.clone())).collect();
        GatheredNode {
            level: node.level,
            place: node.place,
            count: node.count,
            mean: node.mean.clone(),
            squares: node.squares.clone(),
            least: node.least.iter().copied().map(finite).collect(),
            most: node.most.iter().copied().map(finite).collect(),
            summaries: node.summaries.iter().map(summaries).collect(),
        }
    }

    fn node(&self) -> ens::Node {
        let summaries = |list: &Vec<(u64, Vec<f64>)>| {
            let summary =
                |(weight, values): &(u64, Vec<f64>)| ens::Summary { weight: *weight, values: values.clone() };
            list.iter().map(summary).collect()
        };
        ens::Node {
            level: self.level,
            place: self.place,
            count: self.count,
            mean: self.mean.clone(),
            squares: self.squares.clone(),
            least: self.least.iter().map(|value| value.unwrap_or(f64::INFINITY)).collect(),
            most: self.most.iter().map(|value| value.unwrap_or(f64::NEG_INFINITY)).collect(),
            summaries: self.summaries.iter().map(summaries).collect(),
        }
    }
}

/// Reads a part from its document, or says what is wrong with it.
pub fn read_ensemble(text: &str) -> Result<EnsemblePart, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
