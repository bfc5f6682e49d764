//! The command line: its commands, options and their help.

mod ensemble;
mod estimate;
mod report;
mod simulate;
mod solver;
mod target;

pub use ensemble::{Asked, EnsembleArgs, Limit};
pub use estimate::{EstimateArgs, EstimateFigure, Validation};
pub use report::ReportArgs;
pub use simulate::{Settings, SimulateArgs};
pub use target::{Form, Language};

use clap::{Args, Parser, Subcommand, ValueEnum};
use paynter::draw::Theme;
use paynter::plot::Figure;
use paynter::{Amount, CancellationToken, Frequencies, LocusSpan};
use std::f64::consts::TAU;
use std::path::PathBuf;
use target::{language_help, notation_help};

/// Bond graphs from text: checked, made causal, explained.
#[derive(Debug, Parser)]
#[command(name = "paynter", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command knows.
#[derive(Debug, Args)]
pub struct Global {
    /// Print exactly one JSON document on standard output
    #[arg(long, global = true)]
    pub json: bool,

    /// Override a parameter or an input; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Choose one of several models in a file (the last by default)
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,

    /// Count frequencies in Hz instead of rad/s
    #[arg(long, global = true)]
    pub hz: bool,

    /// Leave notes out; warnings and errors stay
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub color: Color,

    /// What Ctrl-C cancels and the progress bar watches.
    #[arg(skip)]
    pub token: CancellationToken,
}

impl Global {
    /// A frequency as people are shown it, from rad/s.
    pub fn frequency(&self, omega: f64) -> f64 {
        if self.hz { omega / TAU } else { omega }
    }

    /// The unit in which people are shown frequencies.
    pub fn frequency_unit(&self) -> &'static str {
        if self.hz { "Hz" } else { "rad/s" }
    }

    /// The heading of a column of frequencies.
    pub fn frequency_heading(&self) -> &'static str {
        if self.hz { "f (Hz)" } else { "ω (rad/s)" }
    }

    /// Frequencies that were asked for, in rad/s.
    pub fn angular(&self, asked: Frequencies) -> Frequencies {
        let factor = if self.hz { TAU } else { 1.0 };
        Frequencies { low: asked.low * factor, high: asked.high * factor, ..asked }
    }

    /// A figure with its frequencies in the unit that people are shown.
    pub fn shown(&self, figure: Figure) -> Figure {
        if self.hz { figure.in_hz() } else { figure }
    }

    /// The token of the work that the command does.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On terminals, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> anstream::ColorChoice {
        match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::AlwaysAnsi,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tell whether a model is a well-formed bond graph
    Check {
        /// The model file, or `-` for standard input
        file: PathBuf,
    },
    /// Lay model files out, in place (`-`: standard input to standard output)
    Fmt {
        /// The model files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change nothing; fail if a file is not laid out
        #[arg(long)]
        check: bool,
    },
    /// Show every bond's causal stroke, when it was decided and why
    Causality {
        /// The model file, or `-` for standard input
        file: PathBuf,
    },
    /// Draw the bond graph, or its signal-flow graph, as SVG or PNG
    Draw(DrawArgs),
    /// Derive the state equations, in symbols
    Equations {
        /// The model file, or `-` for standard input
        file: PathBuf,
        #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
        form: Form,
        /// Show the derivation, from the law of each storage back along the causal paths
        #[arg(long)]
        steps: bool,
        /// Leave the mass matrix that dependent storages make: E x' = f
        #[arg(long, conflicts_with = "steps")]
        mass: bool,
        #[command(flatten)]
        values: Values,
    },
    /// Find the steady state with the inputs at time zero
    OperatingPoint {
        /// The model file, or `-` for standard input
        file: PathBuf,
        /// Its derivatives by parameters as well: `all`, or their names
        #[arg(long, value_name = "PARAM,…", value_delimiter = ',')]
        sensitivity: Vec<String>,
        #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
        form: Form,
    },
    /// Derive the transfer functions, in symbols; nonlinear models at their operating point
    Tf {
        /// The model file, or `-` for standard input
        file: PathBuf,
        /// By `matrix`, or by `mason`'s rule with its paths and loops listed
        #[arg(long, value_name = "METHOD", default_value = "matrix", hide_possible_values = true)]
        method: Method,
        #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true, conflicts_with = "numeric")]
        form: Form,
        /// Write polynomials out up to so many terms
        #[arg(long, value_name = "N", default_value_t = paynter::TERMS)]
        terms: usize,
        #[command(flatten)]
        values: Values,
    },
    /// Tell rank, controllability, observability, causal paths, relative degree, zero dynamics
    Structure {
        /// The model file, or `-` for standard input
        file: PathBuf,
        /// Show the junction structure matrix as well
        #[arg(long)]
        junction_matrix: bool,
        #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
        form: Form,
    },
    /// Write the model as a program for elsewhere: Python, MATLAB/Octave, C, Julia or LaTeX
    Export {
        /// The model file, or `-` for standard input
        file: PathBuf,
        #[arg(long, help = language_help(), value_name = "LANGUAGE", hide_possible_values = true)]
        to: Language,
        /// With `--to c`: simulate, by Euler's method or Runge-Kutta, with sensitivities to all parameters
        #[arg(long)]
        simulate: bool,
        /// Write to this file instead of printing (`-`: print)
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Find poles and zeros, damping, natural frequencies, and estimates read off the graph
    Poles {
        /// The model file, or `-` for standard input
        file: PathBuf,
        #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
        form: Form,
    },
    /// Compute the frequency response
    Bode(BodeArgs),
    /// Open a loop at a signal or a bond: margins, crossover, step figures, nominal and within the tolerances
    Loop(LoopArgs),
    /// Bound how far parameters may drift before the model is unstable, and its worst-case gain
    Robust(RobustArgs),
    /// Put everything about a model on one HTML page
    Report(ReportArgs),
    /// Derive the sensitivities of the transfer functions to the parameters
    Sensitivity(SensitivityArgs),
    /// Simulate over time, with sensitivities to parameters
    Simulate(SimulateArgs),
    /// Ask a question of many samples of uncertain parameters, or join what parts of them told
    Ensemble(Box<EnsembleArgs>),
    /// Estimate parameters and initial states from measured data
    Estimate(Box<EstimateArgs>),
    /// Make the incremental bond graph, or a graph of sensitivities, as a model of its own
    Incremental(IncrementalArgs),
    /// Make the standard interconnection model: the nominal model in feedback with uncertain parameters
    Lft(LftArgs),
    /// List the built-in examples, print one, or write them as files
    Examples {
        /// The example; all of them where left out
        name: Option<String>,
        /// Write to this folder instead of printing
        #[arg(long, value_name = "DIR")]
        write: Option<PathBuf>,
        /// Overwrite files that are there
        #[arg(long, requires = "write")]
        force: bool,
    },
    /// Explain a diagnostic code, or list them all
    Explain {
        /// The code, such as BG0501
        code: Option<String>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Whether coefficients and matrices are printed in symbols or in numbers.
#[derive(Debug, Clone, Copy, Args)]
pub struct Values {
    /// Coefficients and matrices in numbers, at the model's values
    #[arg(long, conflicts_with = "symbolic")]
    pub numeric: bool,
    /// In symbols, however long they are
    #[arg(long)]
    pub symbolic: bool,
}

/// What `robust` proves and searches for.
#[derive(Debug, Args)]
pub struct RobustArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Let only these parameters be uncertain
    #[arg(long, value_name = "PARAM,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Frequencies of the bounds: N from LO to HI in logarithmic steps; chosen by the model where left out
    #[arg(long, value_name = "LO:HI:N", value_parser = frequencies)]
    pub omega: Option<Frequencies>,
    /// The output of the worst-case gain
    #[arg(long, value_name = "NAME", requires = "input")]
    pub output: Option<String>,
    /// The input of the worst-case gain
    #[arg(long, value_name = "NAME", requires = "output")]
    pub input: Option<String>,
    /// Robust performance: the gain that may not be exceeded, in the unit of the output per that of the input, or with one
    /// of its own, as in `2.5 [rpm/V]`
    #[arg(long, value_name = "BOUND", requires = "output", value_parser = positive_amount)]
    pub gain: Option<Amount>,
    /// Neglected dynamics at a signal: any stable factor 1 + Δ(s) with |Δ| up to this radius, a number or a transfer
    /// function in s, as in `u=(0.1*s + 0.01)/(0.05*s + 1)`; may be repeated
    #[arg(long, value_name = "SIGNAL=RADIUS", value_parser = radius)]
    pub dynamics: Vec<(String, String)>,
    /// Branch and bound ends at this relative gap
    #[arg(long, value_name = "GAP", default_value_t = 1e-3, value_parser = simulate::positive)]
    pub gap: f64,
    /// Branch and bound examines so many parts of the box at most (0: one bound for the whole)
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub nodes: usize,
    /// End after about so many million operations, with what is proved and found by then
    #[arg(long, value_name = "MILLIONS", default_value_t = paynter::WORK / 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub work: u64,
    /// Write a figure to this file, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What the figure shows: mu (bounds over frequency), gain (worst case against nominal) or roots
    #[arg(long, value_name = "WHAT", default_value = "mu", hide_possible_values = true)]
    pub figure: RobustFigure,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// What a figure of robustness shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RobustFigure {
    /// Bounds of the structured singular value over frequency.
    Mu,
    /// The worst-case gain against the nominal one.
    Gain,
    /// Poles within the tolerances.
    Roots,
}

/// Which loop, and what to find out about it.
#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// The signal or bond at which the loop is opened
    #[arg(long, value_name = "NAME")]
    pub open: String,
    /// Frequencies of the response: N from LO to HI in logarithmic steps; chosen by the loop where left out
    #[arg(long, value_name = "LO:HI:N", value_parser = frequencies)]
    pub omega: Option<Frequencies>,
    /// Step figures of this output only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub output: Vec<String>,
    /// Step figures for this input only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub input: Vec<String>,
    /// Follow the closed-loop poles along this parameter, or along a factor of the loop gain (`gain`)
    #[arg(long, value_name = "PARAM")]
    pub over: Option<String>,
    /// With `--over`: N values from LO to HI in the parameter's unit, in logarithmic steps, or in even ones where zero is
    /// among them (where left out: a decade to both sides)
    #[arg(long, value_name = "LO:HI:N", value_parser = values_between, requires = "over", allow_hyphen_values = true)]
    pub range: Option<LocusSpan>,
    /// End searches within the tolerances after about so many million operations, with what is found by then
    #[arg(long, value_name = "MILLIONS", default_value_t = paynter::WORK / 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub work: u64,
    /// Write a figure to this file, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What the figure shows: nyquist, nichols, bode, locus or step
    #[arg(long, value_name = "WHAT", default_value = "nyquist", hide_possible_values = true)]
    pub figure: LoopFigure,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// What a figure of a loop shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoopFigure {
    /// The loop gain in the complex plane.
    Nyquist,
    /// The loop gain by phase and magnitude.
    Nichols,
    /// The loop gain over frequency.
    Bode,
    /// Closed-loop poles along `--over`.
    Locus,
    /// Step responses of the closed loop.
    Step,
}

/// What `bode` computes.
#[derive(Debug, Args)]
pub struct BodeArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Angular frequencies in rad/s: N from LO to HI in logarithmic steps; chosen by the model where left out
    #[arg(long, value_name = "LO:HI:N", value_parser = frequencies)]
    pub omega: Option<Frequencies>,
    /// Only this input; may be repeated
    #[arg(long, value_name = "NAME")]
    pub input: Vec<String>,
    /// Only this output; may be repeated
    #[arg(long, value_name = "NAME")]
    pub output: Vec<String>,
    #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
    pub form: Form,
    /// Plot magnitude and phase to this file, `.svg` or `.png`, as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// Which sensitivities are wanted, and how.
#[derive(Debug, Args)]
pub struct SensitivityArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Only these parameters
    #[arg(long, value_name = "PARAM,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Relative sensitivities (p/H)·∂H/∂p
    #[arg(long)]
    pub normalized: bool,
    /// Show B̃ and D̃ of the incremental model as well
    #[arg(long, conflicts_with = "omega")]
    pub matrices: bool,
    /// Hold the operating point of a nonlinear model fixed
    #[arg(long)]
    pub frozen: bool,
    /// In symbols, however long they are
    #[arg(long)]
    pub symbolic: bool,
    /// Write polynomials out up to so many terms
    #[arg(long, value_name = "N", default_value_t = paynter::TERMS, conflicts_with = "omega")]
    pub terms: usize,
    /// Numbers at N angular frequencies from LO to HI in rad/s, in logarithmic steps
    #[arg(long, value_name = "LO:HI:N", value_parser = frequencies)]
    pub omega: Option<Frequencies>,
    /// Verify the tolerance bands with N samples drawn at random
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub verify: usize,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a figure to this file, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What the figure shows: band, bode or tornado
    #[arg(long, value_name = "WHAT", default_value = "band", hide_possible_values = true)]
    pub figure: SensitivityFigure,
    /// The output of the figure; the first where left out
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,
    /// The input of the figure; the first where left out
    #[arg(long, value_name = "NAME")]
    pub input: Option<String>,
    /// The colours of the plot: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
}

/// What a figure of sensitivities shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SensitivityFigure {
    /// The response with its tolerance bands.
    Band,
    /// The Bode diagram of the sensitivities.
    Bode,
    /// What each parameter does, the largest first.
    Tornado,
}

/// How transfer functions are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// By the matrices of the state space.
    Matrix,
    /// By Mason's rule on the signal-flow graph.
    Mason,
}

/// What `draw` draws, and how.
#[derive(Debug, Args)]
pub struct DrawArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Write to this file, `.svg` or `.png`, instead of printing SVG (`-`: print)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep the positions in this JSON file; it is written where it does not exist
    #[arg(long, value_name = "FILE", conflicts_with = "sfg")]
    pub layout: Option<PathBuf>,
    /// Highlight a causal path between two elements
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with = "sfg")]
    pub path: Option<Vec<String>>,
    /// Highlight the closed causal paths without a state
    #[arg(long, conflicts_with = "sfg")]
    pub loops: bool,
    /// Draw the signal-flow graph (block diagram) of the causal bond graph
    #[arg(long)]
    pub sfg: bool,
    /// Number the bonds
    #[arg(long)]
    pub numbers: bool,
    /// Write effort and flow on every bond
    #[arg(long)]
    pub variables: bool,
    /// Leave the values out
    #[arg(long)]
    pub no_values: bool,
    /// Junctions as `p` and `s` instead of `0` and `1`
    #[arg(long)]
    pub letters: bool,
    /// Draw boxes round submodels
    #[arg(long)]
    pub boxes: bool,
    /// Fold submodels nested this deep to single boxes (0: the outermost; large models fold by themselves)
    #[arg(long, value_name = "DEPTH", conflicts_with = "unfold")]
    pub fold: Option<usize>,
    /// Fold nothing, however large the model is
    #[arg(long)]
    pub unfold: bool,
    /// The colours: light or dark
    #[arg(long, value_name = "THEME", default_value = "light", hide_possible_values = true)]
    pub theme: ThemeName,
    /// Leave the paper transparent
    #[arg(long)]
    pub transparent: bool,
    /// Put the font into the SVG file, so that it looks the same everywhere
    #[arg(long)]
    pub embed_font: bool,
    /// Magnify the picture; PNG files have two pixels a unit at scale 1
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
}

/// What `incremental` makes.
#[derive(Debug, Args)]
pub struct IncrementalArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Let only these parameters change
    #[arg(long, value_name = "PARAM,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Split each sink into an independent one and a modulated transformer
    #[arg(long)]
    pub split: bool,
    /// Keep the nominal graph in the same model; changes of parameters are parameters then
    #[arg(long)]
    pub pair: bool,
    /// Numbers in the place of the model's parameters; changes and nominal variables stay
    #[arg(long)]
    pub numeric: bool,
    /// The graph to make: incremental, linear (changes of inputs) or pseudo (sensitivities)
    #[arg(long, value_name = "FORM", default_value = "incremental", hide_possible_values = true)]
    pub form: DerivedFormName,
    /// With `--form pseudo`: a bond for each parameter's sensitivity instead of one for their weighted sum
    #[arg(long)]
    pub each: bool,
    /// Draw the graph to this file too, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub draw: Option<PathBuf>,
}

/// The graphs that `incremental` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DerivedFormName {
    /// Changes that parameters cause.
    Incremental,
    /// Changes that inputs cause.
    Linear,
    /// Sensitivities.
    Pseudo,
}

/// What `lft` makes.
#[derive(Debug, Args)]
pub struct LftArgs {
    /// The model file, or `-` for standard input
    pub file: PathBuf,
    /// Where the auxiliary inputs of TF and GY stand: new (at what goes out) or existing (at what comes in)
    #[arg(long, value_name = "PROCEDURE", default_value = "new", hide_possible_values = true)]
    pub procedure: ProcedureName,
    /// Let only these parameters be uncertain; else those with tolerances, or all where none has one
    #[arg(long, value_name = "PARAM,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Scale every δ to abs(δ) ≤ 1 by the tolerance of its parameter
    #[arg(long)]
    pub normalized: bool,
    /// Print the uncertain bond graph as a model instead
    #[arg(long, conflicts_with_all = ["form", "numeric", "symbolic"])]
    pub graph: bool,
    /// Draw the uncertain bond graph to this file too, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub draw: Option<PathBuf>,
    /// Draw the block diagram of the uncertain model to this file too, `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub blocks: Option<PathBuf>,
    #[arg(long, help = notation_help(), value_name = "NOTATION", default_value = "text", hide_possible_values = true)]
    pub form: Form,
    #[command(flatten)]
    pub values: Values,
}

/// The procedures of `lft`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProcedureName {
    /// Auxiliary inputs beside what the nominal element gives out.
    New,
    /// Auxiliary inputs at what enters a TF or GY.
    Existing,
}

/// The colours of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

impl From<ThemeName> for Theme {
    fn from(name: ThemeName) -> Theme {
        match name {
            ThemeName::Light => Theme::Light,
            ThemeName::Dark => Theme::Dark,
        }
    }
}

/// Reads a magnification.
fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.01..=100.0).contains(&value) => Ok(value),
        _ => Err("write a number between 0.01 and 100".to_owned()),
    }
}

/// Reads `LO:HI:N`.
pub fn frequencies(text: &str) -> Result<Frequencies, String> {
    const FORM: &str = "write LO:HI:N with 0 < LO < HI in rad/s and N points, as in `--omega 0.1:1000:200`";
    const MOST_FREQUENCIES: usize = 1_000_000;
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let [low, high, points] = parts[..] else { return Err(FORM.to_owned()) };
    let (Ok(low), Ok(high), Ok(points)) = (low.parse::<f64>(), high.parse::<f64>(), points.parse::<usize>())
    else {
        return Err(FORM.to_owned());
    };
    let rising = low > 0.0 && high.is_finite() && (low < high || (low == high && points == 1));
    match (rising, points) {
        (true, 1..=MOST_FREQUENCIES) => Ok(Frequencies { low, high, points }),
        (true, points) if points > MOST_FREQUENCIES => Err(format!("at most {MOST_FREQUENCIES} points")),
        _ => Err(FORM.to_owned()),
    }
}

/// Reads `LO:HI:N` of a parameter.
fn values_between(text: &str) -> Result<LocusSpan, String> {
    const MOST_VALUES: usize = 100_000;
    let form = || {
        "write LO:HI:N with LO < HI in the parameter's unit and N values, as in `--range 0.5:20:100`"
            .to_owned()
    };
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let [low, high, points] = parts[..] else { return Err(form()) };
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(form);
    let (low, high) = (number(low)?, number(high)?);
    match points.parse::<usize>() {
        Ok(points) if low < high && (2..=MOST_VALUES).contains(&points) => {
            Ok(LocusSpan { low, high, points })
        }
        _ => Err(form()),
    }
}

/// Reads a positive number, perhaps with a unit.
fn positive_amount(text: &str) -> Result<Amount, String> {
    let amount: Amount = text.parse()?;
    if amount.number > 0.0 { Ok(amount) } else { Err("write a positive number".to_owned()) }
}

/// Reads `SIGNAL=RADIUS`.
fn radius(text: &str) -> Result<(String, String), String> {
    assignment(text).map_err(|_| "write SIGNAL=RADIUS, as in `--dynamics u=0.2`".to_owned())
}

/// Reads `NAME=VALUE`.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE, as in `--set Ra=2.5`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn frequencies_rise() {
        assert_eq!(frequencies("0.1:1e3:5"), Ok(Frequencies { low: 0.1, high: 1000.0, points: 5 }));
        for bad in ["", "1:2", "0:1:5", "2:1:5", "1:2:0", "1:2:x", "-1:2:5", "1:inf:5", "nan:2:5", "1:1:2"] {
            assert!(frequencies(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn assignments_need_both_sides() {
        assert_eq!(assignment("k = 2*a"), Ok(("k".into(), "2*a".into())));
        for bad in ["k", "=2", "k=", " = "] {
            assert!(assignment(bad).is_err(), "{bad}");
        }
    }
}
