//! The options of `estimate`, and how their values are read.

use super::simulate::{HoldName, items, positive};
use super::solver::SolverArgs;
use super::{ThemeName, assignment};
use clap::{Args, ValueEnum};
use paynter::estimate::{Amount, Loss, Method, Weight};
use std::path::PathBuf;

/// What `estimate` estimates, and how.
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Measured data: CSV with a column `t` and columns named as inputs and outputs; repeated, several experiments
    #[arg(long, value_name = "FILE", required_unless_present = "plan")]
    pub data: Vec<PathBuf>,
    /// The column of an input or output that has another heading, as in `u=voltage`; may be repeated
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',', value_parser = assignment)]
    pub map: Vec<(String, String)>,
    /// The time between samples in seconds, where there is no column `t`; of a plan several to compare
    #[arg(long, value_name = "TS", value_delimiter = ',', value_parser = positive, allow_negative_numbers = true)]
    pub sample_time: Vec<f64>,
    /// What inputs do between samples: linear or zero (the last value holds)
    #[arg(long, value_name = "HOLD", default_value = "linear", hide_possible_values = true)]
    pub hold: HoldName,
    /// Let every Nth sample of the outputs count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub decimate: u32,
    /// Keep the last part of every record to validate (`0.3`, `30%`), or validate with another file
    #[arg(long, value_name = "SHARE|FILE", value_parser = validation)]
    pub validate: Vec<Validation>,
    /// The columns of files that validate, where they have other headings
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',', value_parser = assignment, requires = "validate")]
    pub validate_map: Vec<(String, String)>,
    /// Tell what an experiment would determine, before anything is measured: data hold inputs only
    #[arg(long, conflicts_with_all = ["validate", "write", "plot", "profile", "starts", "shots", "prior", "loss"])]
    pub plan: bool,
    /// The standard deviation of the noise of an output in a plan (where left out: 1 % of its largest value)
    #[arg(long, value_name = "OUTPUT=SIGMA,…", value_parser = values, requires = "plan")]
    pub noise: Vec<Numbers>,
    /// The end of a planned experiment without data, in seconds
    #[arg(long, value_name = "T", value_parser = positive, requires = "plan", allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Estimate these: parameters, `init(ELEMENT.q)` or `init` for all, `offset(OUTPUT)`, `gain(OUTPUT)`
    /// (where left out: the parameters with bounds)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub fit: Vec<String>,
    /// Parameters that differ from experiment to experiment, as initial states always do
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub local: Vec<String>,
    /// Start the search there, in place of the model's values; with a unit where one likes, as in `R=2 [kohm]`
    #[arg(long, value_name = "NAME=VALUE,…", value_parser = starts)]
    pub start: Vec<Starts>,
    /// Bounds in place of the model's; either may be left out
    #[arg(long, value_name = "NAME=LOW:HIGH,…", value_parser = bounds)]
    pub bounds: Vec<Bounds>,
    /// How much an output counts: a factor of its squares, or a column of them
    #[arg(long, value_name = "OUTPUT=WEIGHT", value_parser = weight)]
    pub weight: Vec<(String, Weight)>,
    /// How much a residual counts: squares, huber or cauchy
    #[arg(long, value_name = "LOSS", default_value = "squares", value_parser = loss)]
    pub loss: Loss,
    /// Let the tolerances of parameters count as knowledge before the measurement
    #[arg(long)]
    pub prior: bool,
    /// Search by `gauss-newton` or `levenberg-marquardt`
    #[arg(long, value_name = "METHOD", default_value = "levenberg-marquardt", value_parser = method)]
    pub method: Method,
    /// Move the logarithms of these: names, or `all` that are positive
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub log: Vec<String>,
    /// End the search after so many iterations
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub iterations: usize,
    /// Start so many times: once as given, then at random within bounds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub starts: u32,
    /// Where the random numbers of starts begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Simulate every record in N pieces at first, whose ends the search joins
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub shots: u32,
    /// The confidence of intervals in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0, value_parser = percent)]
    pub confidence: f64,
    /// Follow the cost along these estimates for the intervals of their profile likelihood
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// Write the model with the estimates in place of its values to this file
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Write half the width of the interval of this confidence, in per cent, as tolerances into that model
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "write")]
    pub tolerance: Option<f64>,
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Plot to this file, `.svg` or `.png`, as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What the plot shows: fit, parameters or residuals
    #[arg(long, value_name = "WHAT", default_value = "fit", hide_possible_values = true)]
    pub figure: EstimateFigure,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// What a figure of an estimation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EstimateFigure {
    /// The data with the model at some iterations.
    Fit,
    /// The estimates against the iteration.
    Parameters,
    /// The residuals and their autocorrelation.
    Residuals,
}

/// What validates.
#[derive(Debug, Clone, PartialEq)]
pub enum Validation {
    /// The last part of every record.
    Share(f64),
    /// A record of its own.
    File(PathBuf),
}

/// Names with numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<(String, f64)>);

/// Names with values to start from.
#[derive(Debug, Clone, PartialEq)]
pub struct Starts(pub Vec<(String, Amount)>);

/// Names with bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds(pub Vec<(String, f64, f64)>);

/// Reads a share, or the name of a file.
fn validation(text: &str) -> Result<Validation, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&(share / unit)) => Ok(Validation::Share(share / unit)),
        Ok(_) => Err("keep a share from 0 to below 1, such as 0.3 or 30%".to_owned()),
        Err(_) => Ok(Validation::File(PathBuf::from(text))),
    }
}

/// Reads a percentage between 0 and 100 as a share.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(value) if (1.0..100.0).contains(&value) => Ok(value / 100.0),
        _ => Err("write a number of per cent from 1 to below 100, such as 95".to_owned()),
    }
}

/// Reads `NAME=VALUE,…`; values may have units.
pub fn starts(text: &str) -> Result<Starts, String> {
    const FORM: &str = "write NAME=VALUE, as in `--start R=2,C=1e-6` or `--start 'R=2 [kohm]'`";
    let start = |item: &str| {
        let (name, value) = assignment(item.trim()).map_err(|_| FORM.to_owned())?;
        Ok((name, value.parse().map_err(|wrong| format!("{wrong}: {FORM}"))?))
    };
    items(text).into_iter().map(start).collect::<Result<_, String>>().map(Starts)
}

/// Reads `NAME=NUMBER,…`.
fn values(text: &str) -> Result<Numbers, String> {
    const FORM: &str = "write NAME=NUMBER, as in `--noise w=0.1`";
    let value = |item: &str| {
        let (name, value) = assignment(item.trim()).map_err(|_| FORM.to_owned())?;
        let value = value.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(FORM)?;
        Ok((name, value))
    };
    items(text).into_iter().map(value).collect::<Result<_, String>>().map(Numbers)
}

/// Reads `NAME=LOW:HIGH,…`; either end may be left out.
fn bounds(text: &str) -> Result<Bounds, String> {
    const FORM: &str = "write NAME=LOW:HIGH, as in `--bounds R=0.1:10,C=0:`";
    let end = |text: &str, open: f64| match text.trim() {
        "" => Some(open),
        number => number.parse::<f64>().ok().filter(|value| !value.is_nan()),
    };
    let bound = |item: &str| {
        let (name, range) = assignment(item.trim()).map_err(|_| FORM.to_owned())?;
        let (low, high) = range.split_once(':').ok_or(FORM)?;
        let low = end(low, f64::NEG_INFINITY).ok_or(FORM)?;
        let high = end(high, f64::INFINITY).ok_or(FORM)?;
        if low < high { Ok((name, low, high)) } else { Err(format!("nothing is between {low} and {high}")) }
    };
    items(text).into_iter().map(bound).collect::<Result<_, String>>().map(Bounds)
}

/// Reads `OUTPUT=WEIGHT`: a number, or the name of a column.
fn weight(text: &str) -> Result<(String, Weight), String> {
    let (name, value) =
        assignment(text).map_err(|_| "write OUTPUT=WEIGHT, as in `--weight y=4`".to_owned())?;
    match value.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok((name, Weight::Even(number))),
        Ok(_) => Err("a weight is a number from zero on".to_owned()),
        Err(_) => Ok((name, Weight::Column(value))),
    }
}

/// Finds a choice by its name.
fn chosen<T: Copy>(text: &str, names: &[(&'static str, T)]) -> Result<T, String> {
    if let Some((_, choice)) = names.iter().find(|(name, _)| *name == text) {
        return Ok(*choice);
    }
    Err(match paynter::closest(text, names.iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("write one of {}", names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
        }
    })
}

fn loss(text: &str) -> Result<Loss, String> {
    chosen(text, &Loss::NAMES)
}

fn method(text: &str) -> Result<Method, String> {
    chosen(text, &Method::NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_bounds_are_read() {
        assert_eq!(
            values("a=1, init(c.q)=-2e3"),
            Ok(Numbers(vec![("a".into(), 1.0), ("init(c.q)".into(), -2e3)]))
        );
        assert!(values("a").is_err() && values("a=x").is_err() && values("a=nan").is_err());
        let Starts(read) = starts("R=2 [kohm], init(c.q)=-2e3").unwrap();
        assert_eq!((read[0].1.number, read[1].1.clone()), (2.0, Amount::from(-2e3)));
        assert!(starts("R").is_err() && starts("R=2 kohm").is_err() && starts("R=2 [yards]").is_err());
        assert_eq!(bounds("a=0:3"), Ok(Bounds(vec![("a".into(), 0.0, 3.0)])));
        assert_eq!(bounds("a=:3").unwrap().0[0].1, f64::NEG_INFINITY);
        for bad in ["a=3", "a=3:1", "a=x:2", "a=nan:1"] {
            assert!(bounds(bad).is_err(), "{bad}");
        }
        assert_eq!(validation("30%"), Ok(Validation::Share(0.3)));
        assert_eq!(validation("test.csv"), Ok(Validation::File("test.csv".into())));
        assert!(validation("1.5").is_err() && percent("0").is_err() && percent("120").is_err());
        assert_eq!(weight("y=w"), Ok(("y".into(), Weight::Column("w".into()))));
        assert!(weight("y=-1").is_err() && loss("hubert").is_err() && method("x").is_err());
    }
}
