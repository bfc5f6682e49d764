//! The options of `report`.

use super::assignment;
use super::estimate::{Starts, starts};
use super::simulate::{HoldName, positive};
use clap::Args;
use std::path::PathBuf;

/// What `report` puts on a page.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Write to this file instead of printing the page (`-`: print)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End runs over time here, in seconds (where left out: when the slowest mode has decayed)
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Measured data to estimate from, as `estimate` reads them; repeated, several experiments
    #[arg(long, value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// The column of an input or output that has another heading, as in `u=voltage`; may be repeated
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',', value_parser = assignment, requires = "data")]
    pub map: Vec<(String, String)>,
    /// The time between samples in seconds, where there is no column `t`
    #[arg(long, value_name = "TS", value_parser = positive, allow_negative_numbers = true, requires = "data")]
    pub sample_time: Option<f64>,
    /// What measured inputs do between samples: linear or zero (the last value holds)
    #[arg(long, value_name = "HOLD", default_value = "linear", hide_possible_values = true)]
    pub hold: HoldName,
    /// Estimate these (where left out: the parameters with bounds)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "data")]
    pub fit: Vec<String>,
    /// Start the search there, in place of the model's values
    #[arg(long, value_name = "NAME=VALUE,…", value_parser = starts, requires = "data")]
    pub start: Vec<Starts>,
}
