//! The options of `simulate`, and how their values are read.

use super::solver::SolverArgs;
use super::{ThemeName, assignment};
use clap::{Args, ValueEnum};
use paynter::simulate::{Change, Cost, CostKind, Hold, Vary};
use std::path::PathBuf;

/// What `simulate` simulates, and how.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// End at this time, in seconds (where left out: with the data, with the times, else after 10 s)
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Give so many samples, evenly from start to end (where left out: 101, for a plot 1001)
    #[arg(long, value_name = "N", value_parser = samples, allow_negative_numbers = true)]
    pub points: Option<usize>,
    /// Give samples at these times: numbers, or FROM:TO:N, or FROM:TO:N:log, separated by commas
    #[arg(long, value_name = "TIMES", conflicts_with = "points", value_parser = numbers, allow_hyphen_values = true)]
    pub times: Option<Numbers>,
    /// Differentiate outputs by these parameters and initial states; `all` parameters, `init` for all states
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub sensitivity: Vec<String>,
    /// Differentiate along a weighted sum of parameters, as in `R=1, L=0.5`; may be repeated
    #[arg(long, value_name = "NAME=WEIGHT,…", value_parser = direction)]
    pub direction: Vec<Weights>,
    /// Choose steps by the errors of states alone, not of sensitivities
    #[arg(long)]
    pub states_only: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Drive inputs by measured data: CSV with a column `t` and columns named as inputs
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// What data do between samples: linear or zero (the last value holds)
    #[arg(long, value_name = "HOLD", default_value = "linear", hide_possible_values = true)]
    pub hold: HoldName,
    /// Run once for each value of a parameter, input or initial state; repeated, for each combination
    #[arg(long, value_name = "NAME=FROM:TO:N", value_parser = sweep, conflicts_with_all = ["scenario", "perturb", "gradient", "energy"])]
    pub sweep: Vec<Vary>,
    /// Run with these values in place of the model's, as in `cold: T0=270, E=6`; may be repeated
    #[arg(long, value_name = "[NAME:] SET,…", value_parser = scenario, conflicts_with_all = ["perturb", "gradient", "energy"])]
    pub scenario: Vec<Settings>,
    /// Change parameters, as in `R=+10%` or `R=-0.2`: the incremental model beside the exact response
    #[arg(long, value_name = "NAME=±CHANGE", value_delimiter = ',', value_parser = change, conflicts_with_all = ["gradient", "energy", "sensitivity", "direction"])]
    pub perturb: Vec<Change>,
    /// Tell the gradient of `integral(OUTPUT)` or `final(OUTPUT)`, in place of the outputs; may be repeated
    #[arg(long, value_name = "COST", value_parser = cost, conflicts_with_all = ["energy", "direction", "plot"])]
    pub gradient: Vec<Cost>,
    /// Tell the energy that every element supplies, stores or dissipates, in place of the outputs
    #[arg(long)]
    pub energy: bool,
    /// Run again by another method at a tenth of the tolerance, and tell the largest differences
    #[arg(long, conflicts_with_all = ["perturb", "gradient", "sweep", "scenario"])]
    pub verify: bool,
    /// Plot outputs and sensitivities, or energies, over time to this file, `.svg` or `.png`, as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// What data do between samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HoldName {
    /// Straight lines.
    Linear,
    /// The last value holds.
    Zero,
}

impl From<HoldName> for Hold {
    fn from(name: HoldName) -> Hold {
        match name {
            HoldName::Linear => Hold::Linear,
            HoldName::Zero => Hold::Zero,
        }
    }
}

/// Numbers in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<f64>);

/// A named or nameless list of `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The text after the name.
    pub text: String,
    /// The values.
    pub set: Vec<(String, String)>,
}

/// A named or nameless list of weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The weights.
    pub weights: Vec<(String, f64)>,
}

/// More numbers than this in a row are a mistake.
const MOST_NUMBERS: usize = 10_000_000;

/// Reads a positive number.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("write a positive number".to_owned()),
    }
}

/// Reads a number of samples.
fn samples(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(value) if (2..=1_000_000_000).contains(&value) => Ok(value),
        Ok(value) if value > 1 => Err("at most a thousand million samples".to_owned()),
        _ => Err("write a whole number from 2 on".to_owned()),
    }
}

/// Reads numbers and ranges of numbers, separated by commas.
pub(super) fn numbers(text: &str) -> Result<Numbers, String> {
    const FORM: &str = "write numbers separated by commas, or FROM:TO:N, or FROM:TO:N:log";
    let mut list = Vec::new();
    for item in text.split(',').map(str::trim) {
        let parts: Vec<&str> = item.split(':').map(str::trim).collect();
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
        let (from, to, count, log) = match parts[..] {
            [only] => (number(only), number(only), Some(1), false),
            [from, to, count] => (number(from), number(to), count.parse::<usize>().ok(), false),
            [from, to, count, "log"] => (number(from), number(to), count.parse::<usize>().ok(), true),
            _ => return Err(FORM.to_owned()),
        };
        let (Some(from), Some(to), Some(count)) = (from, to, count.filter(|count| *count > 0)) else {
            return Err(FORM.to_owned());
        };
        if count > MOST_NUMBERS - list.len() {
            return Err(format!("at most {MOST_NUMBERS} numbers"));
        }
        if count == 1 && from != to {
            return Err(format!("one number cannot lead from {from} to {to}"));
        }
        if log && !(from > 0.0 && to > 0.0) {
            return Err("logarithmic steps need positive ends".to_owned());
        }
        let last = (count - 1).max(1);
        list.extend((0..count).map(|k| match k as f64 / last as f64 {
            0.0 => from,
            1.0 => to,
            share if log => from * (to / from).powf(share),
            share => from + share * (to - from),
        }));
    }
    Ok(Numbers(list))
}

/// Reads `NAME=NUMBERS`.
fn sweep(text: &str) -> Result<Vary, String> {
    const FORM: &str = "write NAME=FROM:TO:N, as in `--sweep R=1:10:20`, with `:log` for logarithmic steps";
    let (name, values) = assignment(text).map_err(|_| FORM.to_owned())?;
    let Numbers(values) = numbers(&values).map_err(|reason| format!("{reason}: {FORM}"))?;
    Ok(Vary { name, values })
}

/// Splits at commas outside brackets and quotation marks.
pub(super) fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut from) = (0_i32, false, 0);
    let mut found = Vec::new();
    for (at, sign) in text.char_indices() {
        match sign {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    found
}

/// Reads `NAME: A=1, B=2`; the name may be left out.
fn scenario(text: &str) -> Result<Settings, String> {
    const FORM: &str =
        "write NAME: A=1, B=2, as in `--scenario \"cold: T0=270, E=6\"`; the name may be left out";
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) if !name.contains('=') => (Some(name.trim().to_owned()), rest),
        _ => (None, text),
    };
    let set = items(rest).into_iter().map(assignment).collect::<Result<Vec<_>, _>>();
    match (set, &name) {
        (Ok(set), name) if name.as_deref() != Some("") => {
            Ok(Settings { name: name.clone(), text: rest.trim().to_owned(), set })
        }
        // What changes nothing is the model as it is.
        (_, Some(name)) if !name.is_empty() && rest.trim().is_empty() => {
            Ok(Settings { name: Some(name.clone()), text: String::new(), set: Vec::new() })
        }
        _ => Err(FORM.to_owned()),
    }
}

/// Reads `NAME: R=1, L=0.5` as weights; the name may be left out.
fn direction(text: &str) -> Result<Weights, String> {
    const FORM: &str = "write weights of parameters or initial states: `R=1, init(tank.q)=0.5`";
    let Settings { name, set, .. } = scenario(text).map_err(|_| FORM.to_owned())?;
    let weight = |(name, value): (String, String)| match value.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((name, value)),
        _ => Err(FORM.to_owned()),
    };
    let weights = set.into_iter().map(weight).collect::<Result<Vec<_>, _>>()?;
    if weights.is_empty() { Err(FORM.to_owned()) } else { Ok(Weights { name, weights }) }
}

/// Reads `NAME=+10%`, `NAME=-0.2`.
fn change(text: &str) -> Result<Change, String> {
    const FORM: &str = "write NAME=±CHANGE, as in `--perturb R=+10%` or `--perturb R=-0.2`";
    let (name, value) = assignment(text).map_err(|_| FORM.to_owned())?;
    let (number, relative) = match value.strip_suffix('%') {
        Some(percent) => (percent.trim(), true),
        None => (value.as_str(), false),
    };
    // A sign shows that it is a change rather than a value.
    let signed = number.starts_with(['+', '-']);
    match number.parse::<f64>() {
        Ok(by) if by.is_finite() && signed => {
            Ok(Change { name, by: if relative { by / 100.0 } else { by }, relative })
        }
        Ok(by) if by.is_finite() => Err(format!("`{value}` has no sign: {FORM}")),
        _ => Err(FORM.to_owned()),
    }
}

/// Reads `integral(OUTPUT)`, `final(OUTPUT)`.
fn cost(text: &str) -> Result<Cost, String> {
    const FORM: &str = "write `integral(OUTPUT)` or `final(OUTPUT)`";
    let inner = text.trim().strip_suffix(')').and_then(|text| text.split_once('('));
    let (kind, output) = inner.ok_or(FORM)?;
    let kind = CostKind::NAMES.iter().find(|(name, _)| *name == kind.trim()).ok_or(FORM)?.1;
    let output = output.trim().to_owned();
    if output.is_empty() { Err(FORM.to_owned()) } else { Ok(Cost { kind, output }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_alone_and_in_ranges() {
        assert_eq!(numbers("0, 1:2:3 ,10"), Ok(Numbers(vec![0.0, 1.0, 1.5, 2.0, 10.0])));
        let Numbers(decades) = numbers("1:1e4:5:log").unwrap();
        assert!(decades.iter().zip([1.0, 10.0, 100.0, 1e3, 1e4]).all(|(a, b)| (a - b).abs() < 1e-9 * b));
        assert_eq!(numbers("3:1:2"), Ok(Numbers(vec![3.0, 1.0])), "a sweep may fall");
        for bad in
            ["", "x", "1:2", "1:2:0", "1:2:1", "0:1:3:log", "1:2:3:lin", "nan", "1:inf:3", "0:1:99999999999"]
        {
            assert!(numbers(bad).is_err(), "{bad}");
        }
        assert_eq!(sweep("R = 1:2:2"), Ok(Vary { name: "R".into(), values: vec![1.0, 2.0] }));
        assert!(sweep("R").is_err() && sweep("=1").is_err());
    }

    #[test]
    fn scenarios_hold_expressions() {
        let found = scenario("step up: u=if(t < 1, 0, max(1, 2)), k=3 [N/m]").unwrap();
        assert_eq!(found.name.as_deref(), Some("step up"));
        assert_eq!(found.set[0], ("u".into(), "if(t < 1, 0, max(1, 2))".into()));
        assert_eq!(found.set[1], ("k".into(), "3 [N/m]".into()));
        assert_eq!(scenario("a=1").unwrap().name, None);
        assert_eq!(scenario("as it is:").unwrap().set, []);
        for bad in ["", "a", ": a=1", "a=1,", "x: a"] {
            assert!(scenario(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn directions_changes_and_costs_are_read() {
        assert_eq!(direction("init(c.q)=2").unwrap().weights, [("init(c.q)".to_owned(), 2.0)]);
        assert!(direction("R=x").is_err() && direction("a:").is_err());
        assert_eq!(change("R=+10%"), Ok(Change { name: "R".into(), by: 0.1, relative: true }));
        assert_eq!(change("R=-2"), Ok(Change { name: "R".into(), by: -2.0, relative: false }));
        for bad in ["R=10%", "R", "R=+x", "R=+", "R=+nan", "R=+inf%"] {
            assert!(change(bad).is_err(), "{bad}");
        }
        assert_eq!(cost("final( w )"), Ok(Cost { kind: CostKind::Final, output: "w".into() }));
        for bad in ["w", "mean(w)", "final()", "final(w"] {
            assert!(cost(bad).is_err(), "{bad}");
        }
    }
}
