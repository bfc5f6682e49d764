//! The options of `ensemble`, and how their values are read.

use super::estimate::percent;
use super::frequencies;
use super::simulate::{Numbers, items, numbers, positive};
use super::solver::SolverArgs;
use clap::{Args, ValueEnum};
use paynter::Frequencies;
use paynter::ensemble::{Design, Distribution};
use std::path::PathBuf;

/// What `ensemble` asks of which samples.
#[derive(Debug, Args)]
pub struct EnsembleArgs {
    /// The model file, or `-` for standard input; with `--merge` the documents of all parts
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Join the documents of parts that were made with `--shard` and `--json`
    #[arg(long, conflicts_with_all = ["samples", "shard", "vary", "correlate", "ask"])]
    pub merge: bool,
    /// The number of samples; with `--indices` for each of them as many as there are parameters, and two
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub samples: u64,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How samples are spread: random, latin (hypercube) or sobol
    #[arg(long, value_name = "DESIGN", default_value = "latin", value_parser = design)]
    pub design: Design,
    /// Draw a parameter: uniform:LOW:HIGH, normal:MEAN:SD or lognormal:MEDIAN:SD (where left out: those with
    /// tolerances, uniformly within them); may be repeated
    #[arg(long, value_name = "NAME=DISTRIBUTION", value_parser = drawn)]
    pub vary: Vec<(String, Distribution)>,
    /// Correlate two parameters; may be repeated
    #[arg(long, value_name = "A,B=R", value_parser = correlated)]
    pub correlate: Vec<Correlated>,
    /// What every sample is asked: simulate, operating-point or bode
    #[arg(long, value_name = "QUESTION", default_value = "simulate", hide_possible_values = true)]
    pub ask: Asked,
    /// End runs at this time, in seconds
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Give so many samples of time
    #[arg(long, value_name = "N", default_value_t = 101, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub points: u32,
    /// Give samples at these times: numbers, or FROM:TO:N, or FROM:TO:N:log, separated by commas
    #[arg(long, value_name = "TIMES", conflicts_with = "points", value_parser = numbers, allow_hyphen_values = true)]
    pub times: Option<Numbers>,
    /// Differentiate outputs by these parameters; `all` for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub sensitivity: Vec<String>,
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Frequencies of `--ask bode`: N from LO to HI in logarithmic steps
    #[arg(long, value_name = "LO:HI:N", value_parser = frequencies)]
    pub omega: Option<Frequencies>,
    /// Tell Sobol' indices: which part of the variance each parameter causes
    #[arg(long)]
    pub indices: bool,
    /// The confidence of their intervals in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0, value_parser = percent)]
    pub confidence: f64,
    /// Tell the share of samples whose answer ends between limits, as in `w=90:110`; may be repeated
    #[arg(long, value_name = "ANSWER=LOW:HIGH", value_parser = limit)]
    pub limit: Vec<Limit>,
    /// Ask one of N parts of the samples, from 1
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = shard)]
    pub shard: Shard,
}

/// What every sample is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// The response over time.
    Simulate,
    /// The steady state.
    OperatingPoint,
    /// The magnitude of the frequency response.
    Bode,
}

/// A part, from 0, and the number of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard(pub u64, pub u64);

/// Two parameters and their correlation.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated(pub String, pub String, pub f64);

/// An answer with its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit(pub String, pub f64, pub f64);

fn design(text: &str) -> Result<Design, String> {
    let known = Design::NAMES.iter().find(|(name, _)| *name == text);
    known.map(|(_, design)| *design).ok_or_else(|| "write random, latin or sobol".to_owned())
}

fn drawn(text: &str) -> Result<(String, Distribution), String> {
    const FORM: &str = "write NAME=uniform:LOW:HIGH, NAME=normal:MEAN:SD or NAME=lognormal:MEDIAN:SD";
    let (name, rest) = super::assignment(text).map_err(|_| FORM.to_owned())?;
    let parts: Vec<&str> = rest.split(':').map(str::trim).collect();
    let [kind, first, second] = parts[..] else { return Err(FORM.to_owned()) };
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let (Some(first), Some(second)) = (number(first), number(second)) else { return Err(FORM.to_owned()) };
    let distribution = match kind {
        "uniform" => Distribution::Uniform { low: first, high: second },
        "normal" => Distribution::Normal { mean: first, deviation: second },
        "lognormal" => Distribution::Lognormal { median: first, deviation: second },
        _ => return Err(FORM.to_owned()),
    };
    match distribution.error() {
        None => Ok((name, distribution)),
        Some(error) => Err(error.to_owned()),
    }
}

fn correlated(text: &str) -> Result<Correlated, String> {
    const FORM: &str = "write A,B=R with a correlation R between -1 and 1, as in `--correlate Ra,La=0.5`";
    let (names, value) = super::assignment(text).map_err(|_| FORM.to_owned())?;
    let names = items(&names);
    match (names.as_slice(), value.parse::<f64>()) {
        ([a, b], Ok(value)) if (-1.0..=1.0).contains(&value) => {
            Ok(Correlated(a.trim().to_owned(), b.trim().to_owned(), value))
        }
        _ => Err(FORM.to_owned()),
    }
}

fn limit(text: &str) -> Result<Limit, String> {
    const FORM: &str = "write ANSWER=LOW:HIGH, as in `--limit w=90:110`; either end may be left out";
    let (name, range) = super::assignment(text).map_err(|_| FORM.to_owned())?;
    let (low, high) = range.split_once(':').ok_or(FORM)?;
    let end = |text: &str, open: f64| match text.trim() {
        "" => Some(open),
        number => number.parse::<f64>().ok().filter(|value| !value.is_nan()),
    };
    match (end(low, f64::NEG_INFINITY), end(high, f64::INFINITY)) {
        (Some(low), Some(high)) if low <= high => Ok(Limit(name, low, high)),
        _ => Err(FORM.to_owned()),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    const FORM: &str = "write I/N with I from 1 to N, as in `--shard 2/8`";
    let (part, parts) = text.split_once('/').ok_or(FORM)?;
    match (part.trim().parse::<u64>(), parts.trim().parse::<u64>()) {
        (Ok(part), Ok(parts)) if (1..=parts).contains(&part) => Ok(Shard(part - 1, parts)),
        _ => Err(FORM.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_limits_and_shards_are_read() {
        let uniform = Distribution::Uniform { low: 1.0, high: 2.0 };
        assert_eq!(drawn("R=uniform:1:2"), Ok(("R".into(), uniform)));
        for bad in ["R", "R=uniform:2:1", "R=normal:1:-1", "R=gamma:1:2", "R=normal:1", "R=lognormal:0:1"] {
            assert!(drawn(bad).is_err(), "{bad}");
        }
        assert_eq!(limit("w=90:"), Ok(Limit("w".into(), 90.0, f64::INFINITY)));
        assert!(limit("w=3:1").is_err() && limit("w=x:").is_err());
        assert_eq!(shard("2/8"), Ok(Shard(1, 8)));
        assert!(shard("0/8").is_err() && shard("9/8").is_err() && shard("1").is_err());
        assert_eq!(correlated("a, b=-0.5"), Ok(Correlated("a".into(), "b".into(), -0.5)));
        assert!(correlated("a=0.5").is_err() && correlated("a,b=2").is_err());
    }
}
