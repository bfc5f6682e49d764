//! Simulation over time: what is asked for, the compiled model, its runs.

mod begin;
mod chart;
mod document;
mod explain;
mod gradient;
mod perturb;
mod question;
mod runs;
mod signals;
mod variation;

use crate::temperature::Thermometer;
use crate::{Model, NoAnswer, energy};
use paynter_algebra::{Expr, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{Equations, Output};
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics::Tables;
pub use paynter_numerics::program::Hold;
use paynter_simulate::{Compiled, Method, Source, Wanted, simulate};
pub use paynter_simulate::{Failure, Note, Options, Outcome, Sample, Stats};

pub use gradient::{Cost, CostGradient, CostKind};
pub use perturb::{Change, Changed, Perturbation};
pub(crate) use question::T_END;
pub use runs::{Run, Vary, respond_all};
pub use signals::Data;

/// Which sensitivities are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sensitivities {
    /// None.
    #[default]
    None,
    /// Those to all parameters that the equations read.
    All,
    /// Those to these parameters and initial states (`R`, `init(tank.q)`); `all` stands for all such
    /// parameters and `init` for all initial states.
    Names(Vec<String>),
}

/// A weighted sum of parameters and initial states: the sensitivity along it is Σ λ ∂/∂p.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// What it is called in results.
    pub name: String,
    /// The parameters and initial states with their weights λ, in SI.
    pub weights: Vec<(String, f64)>,
}

/// What a simulation is asked for.
#[derive(Debug, Clone)]
pub struct SimulateOptions {
    /// When it ends, in seconds; where left out, at the last of the times or data, else after ten seconds.
    pub t_end: Option<f64>,
    /// The number of samples, evenly from start to end.
    pub points: usize,
    /// The times of samples, in place of their number.
    pub times: Vec<f64>,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance, in SI; chosen for each state where left out.
    pub atol: Option<f64>,
    /// The solver's name.
    pub solver: String,
    /// The step of a solver with a fixed one.
    pub step: Option<f64>,
    /// The sensitivities.
    pub sensitivities: Sensitivities,
    /// Sensitivities along directions, after the others.
    pub directions: Vec<Direction>,
    /// Whether the errors of sensitivities take part in the choice of steps.
    pub sensitivities_tested: bool,
    /// Whether an account of energy is kept for every element.
    pub energy: bool,
    /// Measured inputs.
    pub data: Option<Data>,
    /// What measured inputs and the model's tables do between samples.
    pub hold: Hold,
    /// The parameters, inputs and initial states that differ from run to run.
    pub varied: Vec<String>,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        SimulateOptions {
            t_end: None,
            points: 101,
            times: Vec::new(),
            rtol: 1e-8,
            atol: None,
            solver: "auto".to_owned(),
            step: None,
            sensitivities: Sensitivities::None,
            directions: Vec::new(),
            sensitivities_tested: true,
            energy: false,
            data: None,
            hold: Hold::Linear,
            varied: Vec::new(),
        }
    }
}

/// The names of the solvers that can be chosen.
pub fn solvers() -> impl Iterator<Item = &'static str> {
    Method::NAMES.iter().map(|(name, _)| *name)
}

/// A column of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its unit as written in the model.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub factor: f64,
}

/// A model ready to run, any number of times.
pub struct Simulation {
    /// The model's name.
    pub model: String,
    /// Its states.
    pub states: Vec<Column>,
    /// Its outputs; the states, where the model has none.
    pub outputs: Vec<Column>,
    /// The names of the parameters, initial states and directions by which outputs are differentiated.
    pub wanted: Vec<String>,
    /// Their nominal values; none for directions.
    pub nominal: Vec<Option<f64>>,
    /// The values of the graph's parameters.
    pub parameters: Vec<f64>,
    /// What differs from run to run.
    pub varied: Vec<Varied>,
    /// Measured signals.
    pub tables: Tables,
    /// How it runs.
    pub options: Options,
    /// The accounts of energy, where they are kept.
    pub accounts: Vec<energy::Entry>,
    compiled: Compiled,
    /// What reads its temperatures, if it has any.
    thermometer: Option<Thermometer>,
    /// What is compiled.
    graph: BondGraph,
    equations: Equations,
    /// Whether the states of the equations are others than the model's, which then follow the outputs.
    charted: bool,
    /// The symbols of `parameters`.
    symbols: Vec<Symbol>,
}

/// A parameter, input or initial state that differs from run to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    /// Its name, and the unit that its values are read in.
    pub column: Column,
    /// Its place in the parameters of a run.
    place: usize,
}

/// Results of a run, sample by sample, in SI.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// Times.
    pub t: Vec<f64>,
    /// States over time, one list each.
    pub states: Vec<Vec<f64>>,
    /// Outputs over time, one list each.
    pub outputs: Vec<Vec<f64>>,
    /// Sensitivities over time: output by output, one list for each parameter.
    pub sensitivities: Vec<Vec<Vec<f64>>>,
    /// The energy that has entered each element of the accounts, one list each.
    pub entered: Vec<Vec<f64>>,
    /// The energy by state of each storage that has one as a function of its state, one list each.
    pub stored: Vec<Vec<f64>>,
}

impl Response {
    /// Takes in a sample.
    pub fn push(&mut self, sample: &Sample<'_>) {
        self.t.push(sample.t);
        self.states.iter_mut().zip(sample.states).for_each(|(list, value)| list.push(*value));
        self.outputs.iter_mut().zip(sample.outputs).for_each(|(list, value)| list.push(*value));
        let lists = self.sensitivities.iter_mut().flatten();
        lists.zip(sample.sensitivities).for_each(|(list, value)| list.push(*value));
        let entered = sample.states.iter().skip(self.states.len());
        self.entered.iter_mut().zip(entered).for_each(|(list, value)| list.push(*value));
        let stored = sample.outputs.iter().skip(self.outputs.len());
        self.stored.iter_mut().zip(stored).for_each(|(list, value)| list.push(*value));
    }
}

impl Simulation {
    /// Runs with given parameters; `sink` gets every sample.
    pub fn run(&self, parameters: &[f64], ticket: &Ticket, sink: &mut dyn FnMut(&Sample<'_>)) -> Outcome {
        let mut undefined: Vec<Option<Note>> = vec![None; self.outputs.len()];
        let mut cold: Vec<Note> = Vec::new();
        let mut outcome =
            simulate(&self.compiled, parameters, None, &self.tables, &self.options, ticket, &mut |sample| {
                ticket.advance(1);
                for (output, first) in undefined.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
                    *first = self.undefined(sample, output);
                }
                self.feel(sample, parameters, &mut cold);
                if self.charted {
                    let own = self.states.len();
                    let (outputs, states) = sample.outputs.split_at(sample.outputs.len() - own);
                    let states = [states, &sample.states[own..]].concat();
                    return sink(&Sample { states: &states, outputs, ..*sample });
                }
                sink(sample);
            });
        outcome.notes.extend(cold);
        outcome.notes.extend(undefined.into_iter().flatten());
        outcome
    }

    /// Notes the temperatures of a sample that are too cold for the first time.
    fn feel(&self, sample: &Sample<'_>, parameters: &[f64], cold: &mut Vec<Note>) {
        let Some(thermometer) = &self.thermometer else { return };
        let values = thermometer.read(parameters, &self.tables, sample.t, sample.states);
        for (temperature, value) in values.into_iter().enumerate() {
            let known = |note: &Note| matches!(note, Note::TooCold { temperature: other, .. } if *other == temperature);
            if thermometer.temperatures[temperature].forbids(value) && !cold.iter().any(known) {
                cold.push(Note::TooCold { t: sample.t, temperature, value });
            }
        }
    }

    /// What has no finite value in a sample: an output, or else its first such derivative.
    fn undefined(&self, sample: &Sample<'_>, output: usize) -> Option<Note> {
        let lanes = self.wanted.len();
        let derivatives = sample.sensitivities.get(output * lanes..(output + 1) * lanes).unwrap_or(&[]);
        let lane = derivatives.iter().position(|value| !value.is_finite());
        let value = sample.outputs.get(output).is_none_or(|value| value.is_finite());
        let lane = lane.filter(|_| value);
        (!value || lane.is_some()).then_some(Note::Undefined { t: sample.t, output, lane })
    }

    /// Runs with given parameters and keeps all samples.
    pub fn respond(&self, parameters: &[f64], ticket: &Ticket) -> (Response, Outcome) {
        let mut response = self.nothing_yet();
        let outcome = self.run(parameters, ticket, &mut |sample| response.push(sample));
        (response, outcome)
    }

    /// How many numbers a response holds.
    pub fn numbers(&self) -> usize {
        let sample = 1 + self.compiled.states.len() + self.outputs.len() * (1 + self.wanted.len());
        self.options.count().saturating_mul(sample)
    }

    /// A response without samples, with a list for everything that this simulation tells.
    pub fn nothing_yet(&self) -> Response {
        Response {
            t: Vec::new(),
            states: vec![Vec::new(); self.states.len()],
            outputs: vec![Vec::new(); self.outputs.len()],
            sensitivities: vec![vec![Vec::new(); self.wanted.len()]; self.outputs.len()],
            entered: vec![Vec::new(); self.accounts.len()],
            stored: vec![Vec::new(); self.accounts.iter().filter(|account| account.by_state).count()],
        }
    }
}

impl Model {
    /// Compiles the model for simulation.
    pub fn simulation(&mut self, options: &SimulateOptions, ticket: &Ticket) -> Result<Simulation, NoAnswer> {
        self.prepared(options, &[], ticket)
    }

    /// Adds a finding, once.
    fn warn(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.iter().any(|known| *known == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Compiles the model, with the integrals over time that some costs need as states of their own.
    fn prepared(
        &mut self,
        options: &SimulateOptions,
        costs: &[Cost],
        ticket: &Ticket,
    ) -> Result<Simulation, NoAnswer> {
        if self.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        }
        let (mut equations, _) = self.derive(ticket)?;
        let measured = self.measured(options)?;
        let mut numeric = question::check(options, measured.end).map_err(|found| wrong(*found))?;
        if numeric.step.is_some() && !numeric.method.is_fixed() {
            self.warn(question::idle_step(&options.solver));
        }
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let own_elements = graph.elements.len();
        let names: Vec<String> = equations.states.iter().map(|state| state.name.clone()).collect();
        let mut graph = graph.clone();
        let mut wanted = question::wanted(&self.pool, &graph, &equations, &options.sensitivities)
            .map_err(|found| wrong(*found))?;
        let mut begins = begin::open(&mut self.pool, &mut equations);
        let chart = self.chart(&equations, &begins, ticket)?;
        let pool = &mut self.pool;
        let mut own: Vec<Expr> = equations.states.iter().map(|state| pool.var(state.symbol)).collect();
        // A gradient has no use for states on the way.
        let moved = chart.is_some();
        let charted = moved && costs.is_empty();
        if let Some(chart) = chart {
            (graph, equations, own) = (chart.graph, chart.equations, chart.own);
        }
        if equations.outputs.is_empty() {
            let output = |(name, value): (&String, &Expr)| Output { name: name.clone(), value: *value };
            equations.outputs = names.iter().zip(&own).map(output).collect();
        }
        let (accounts, mut outputs) = match options.energy {
            true => energy::open(pool, &graph, &mut equations, own_elements),
            false => (Vec::new(), None),
        };
        if charted {
            let plain = equations.outputs.iter().map(|output| output.value);
            outputs.get_or_insert_with(|| plain.collect()).extend(own);
        }
        if !costs.is_empty() {
            let costs = gradient::integrate(pool, &graph, &mut equations, costs);
            outputs = Some(costs.map_err(|found| wrong(*found))?);
            // A cost is a value at the end; samples on the way would only be remembered in vain.
            numeric.times = vec![numeric.t_end];
        }
        let mut changes =
            variation::Changes::new(pool, &mut graph, &mut equations, &mut outputs, &mut begins);
        let varied = changes.vary(&options.varied, &measured.inputs).map_err(|found| wrong(*found))?;
        for direction in &options.directions {
            wanted.push(changes.direct(direction).map_err(|found| wrong(*found))?);
        }
        for (_, place) in wanted.iter_mut().filter(|_| moved) {
            if let Wanted::Initial(i) = *place {
                *place = changes.shift(i);
            }
        }
        begin::close(pool, &begins, &mut equations, &mut outputs);
        let places: Vec<Wanted> = wanted.iter().map(|(_, wanted)| *wanted).collect();
        let source = Source {
            graph: &graph,
            equations: &equations,
            inputs: measured.inputs,
            outputs,
            wanted: &places,
        };
        let compiled = Compiled::new(pool, &source)
            .map_err(|error| wrong(Diagnostic::new(code::CANNOT_SIMULATE, error.to_string())))?;
        let thermometer = Thermometer::new(pool, &source);
        let parameter =
            |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
        let directions = places.len() - options.directions.len();
        let nominal = places.iter().enumerate().map(|(lane, wanted)| match *wanted {
            _ if lane >= directions => None,
            Wanted::Parameter(i) => Some(graph.parameters[i].number),
            Wanted::Initial(i) => Some(pool.eval(equations.states[i].initial, &parameter).unwrap_or(0.0)),
        });
        let nominal = nominal.collect();
        let plain = |name: &str| Column { name: flat_name(name), unit: None, factor: 1.0 };
        let outputs = equations.outputs.iter().enumerate().map(|(place, output)| {
            let unit = graph.outputs.get(place).and_then(|output| output.unit.as_ref());
            Column {
                unit: unit.map(|unit| unit.text.clone()),
                factor: unit.map_or(1.0, |unit| unit.factor),
                ..plain(&output.name)
            }
        });
        Ok(Simulation {
            model: graph.name.clone(),
            states: names.iter().map(|name| plain(name)).collect(),
            outputs: outputs.collect(),
            wanted: wanted.into_iter().map(|(name, _)| name).collect(),
            nominal,
            parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
            symbols: graph.parameters.iter().map(|parameter| parameter.symbol).collect(),
            varied,
            tables: measured.tables,
            options: numeric,
            accounts,
            compiled,
            thermometer,
            graph,
            equations,
            charted,
        })
    }
}

fn wrong(diagnostic: Diagnostic) -> NoAnswer {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    NoAnswer::Wrong(diagnostics)
}
