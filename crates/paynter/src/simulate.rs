//! Simulation over time: what is asked for, the run, and what is said when it fails.

use crate::{Model, NoAnswer, energy};
use paynter_algebra::{EvalError, Expr, Symbol};
use paynter_base::{Code, Diagnostic, Diagnostics, Ticket, closest, code};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable, flat_name};
use paynter_numerics::Tables;
use paynter_numerics::simulate::{Compiled, Method, Source, Wanted, simulate};
pub use paynter_numerics::simulate::{Failure, Note, Options, Outcome, Sample, Stats};
use paynter_view::json;
use std::collections::{BTreeMap, BTreeSet};

/// Which sensitivities are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sensitivities {
    /// None.
    #[default]
    None,
    /// Those to all parameters that the equations read.
    All,
    /// Those to these parameters and initial states (`R`, `init(tank.q)`).
    Names(Vec<String>),
}

/// What a simulation is asked for.
#[derive(Debug, Clone)]
pub struct SimulateOptions {
    /// When it ends, in seconds.
    pub t_end: f64,
    /// The number of samples, evenly from start to end.
    pub points: usize,
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
    /// Whether an account of energy is kept for every element.
    pub energy: bool,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        SimulateOptions {
            t_end: 10.0,
            points: 101,
            rtol: 1e-6,
            atol: None,
            solver: "auto".to_owned(),
            step: None,
            sensitivities: Sensitivities::None,
            energy: false,
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
    /// Its outputs.
    pub outputs: Vec<Column>,
    /// The names of the parameters and initial states by which outputs are differentiated.
    pub wanted: Vec<String>,
    /// Their nominal values.
    pub nominal: Vec<f64>,
    /// The values of the graph's parameters.
    pub parameters: Vec<f64>,
    /// Measured signals.
    pub tables: Tables,
    /// How it runs.
    pub options: Options,
    /// The accounts of energy, where they are kept.
    pub accounts: Vec<energy::Entry>,
    compiled: Compiled,
    equations: Equations,
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
        simulate(&self.compiled, parameters, None, &self.tables, &self.options, ticket, sink)
    }

    /// Runs with given parameters and keeps all samples.
    pub fn respond(&self, parameters: &[f64], ticket: &Ticket) -> (Response, Outcome) {
        let mut response = self.nothing_yet();
        let outcome = self.run(parameters, ticket, &mut |sample| response.push(sample));
        (response, outcome)
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

    /// The document of a run.
    pub fn document(
        &self,
        response: &Response,
        outcome: &Outcome,
        diagnostics: Vec<json::Diagnostic>,
    ) -> json::Simulation {
        let named = |columns: &[Column], lists: &[Vec<f64>]| -> BTreeMap<String, Vec<f64>> {
            columns.iter().map(|column| column.name.clone()).zip(lists.iter().cloned()).collect()
        };
        let sensitivities = self.outputs.iter().zip(&response.sensitivities).map(|(output, lists)| {
            (output.name.clone(), self.wanted.iter().cloned().zip(lists.iter().cloned()).collect())
        });
        let units =
            self.outputs.iter().filter_map(|column| Some((column.name.clone(), column.unit.clone()?)));
        let stats = &outcome.stats;
        json::Simulation {
            ok: outcome.failure.is_none(),
            model: self.model.clone(),
            complete: outcome.failure.is_none(),
            t: response.t.clone(),
            outputs: named(&self.outputs, &response.outputs),
            states: named(&self.states, &response.states),
            sensitivities: if self.wanted.is_empty() { BTreeMap::new() } else { sensitivities.collect() },
            units: units.collect(),
            energy: self.energy(response).map(|energy| energy.document()),
            stats: json::SimulationStats {
                solver: stats.solver.to_owned(),
                steps: stats.steps,
                rejected: stats.rejected,
                evaluations: stats.evaluations,
                jacobians: stats.jacobians,
                events: stats.events,
                switches: stats.switches,
                t: outcome.t,
            },
            diagnostics,
        }
    }
}

impl Model {
    /// Compiles the model for simulation.
    pub fn simulation(&mut self, options: &SimulateOptions, ticket: &Ticket) -> Result<Simulation, NoAnswer> {
        let numeric = check(options).map_err(|found| wrong(*found))?;
        let (mut equations, _) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let names =
            wanted(&self.pool, graph, &equations, &options.sensitivities).map_err(|found| wrong(*found))?;
        let wanted: Vec<Wanted> = names.iter().map(|(_, wanted)| *wanted).collect();
        let own_states = equations.states.len();
        let (accounts, outputs) = match options.energy {
            true => energy::open(&mut self.pool, graph, &mut equations),
            false => (Vec::new(), None),
        };
        let source = Source { graph, equations: &equations, inputs: Vec::new(), outputs, wanted: &wanted };
        let compiled = Compiled::new(&mut self.pool, &source)
            .map_err(|error| wrong(Diagnostic::new(code::CANNOT_SIMULATE, error.to_string())))?;
        let parameter =
            |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
        let nominal = wanted.iter().map(|wanted| match *wanted {
            Wanted::Parameter(i) => graph.parameters[i].number,
            Wanted::Initial(i) => self.pool.eval(equations.states[i].initial, &parameter).unwrap_or(0.0),
        });
        let nominal = nominal.collect();
        let plain = |name: &str| Column { name: flat_name(name), unit: None, factor: 1.0 };
        let outputs = graph.outputs.iter().map(|output| Column {
            unit: output.unit.as_ref().map(|unit| unit.text.clone()),
            factor: output.unit.as_ref().map_or(1.0, |unit| unit.factor),
            ..plain(&output.name)
        });
        Ok(Simulation {
            model: graph.name.clone(),
            states: equations.states.iter().take(own_states).map(|state| plain(&state.name)).collect(),
            outputs: outputs.collect(),
            wanted: names.into_iter().map(|(name, _)| name).collect(),
            nominal,
            parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
            tables: self.tables()?,
            options: numeric,
            accounts,
            compiled,
            equations,
        })
    }

    /// Says why a run ended early, and what else is worth knowing about it.
    pub fn explain_run(&self, simulation: &Simulation, outcome: &Outcome) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for note in &outcome.notes {
            let (code, t, event, what) = match *note {
                Note::Grazing { t, event } => {
                    (code::GRAZING, t, event, "only touches zero, so sensitivities may jump")
                }
                Note::Rattling { t, event } => {
                    (code::RATTLING, t, event, "has switched ever faster, and is brought to rest at zero")
                }
            };
            let event = &simulation.compiled.events[event];
            diagnostics.push(Diagnostic::new(code, format!("at t = {} `{event}` {what}", short(t))));
        }
        if let (Some(failure), Some(graph)) = (&outcome.failure, &self.graph) {
            diagnostics.push(self.explain_failure(graph, simulation, outcome, *failure));
        }
        diagnostics
    }

    fn explain_failure(
        &self,
        graph: &BondGraph,
        simulation: &Simulation,
        outcome: &Outcome,
        failure: Failure,
    ) -> Diagnostic {
        let states = &simulation.equations.states;
        let at = |diagnostic: Diagnostic, state: usize| match states.get(state).map(|s| s.variable) {
            Some(Variable::State(element, _)) => diagnostic.at(graph.element(element).span),
            Some(Variable::Integrator(i)) => diagnostic.at(graph.integrators[i as usize].span),
            _ => diagnostic,
        };
        let new = |code: Code, message: String| Diagnostic::new(code, message);
        match failure {
            Failure::Cancelled => new(code::CANNOT_SIMULATE, "the simulation was stopped".to_owned()),
            Failure::BadInitial { state } => {
                let message = format!("the initial value of `{}` is not finite", states[state].name);
                at(new(code::CANNOT_SIMULATE, message), state)
                    .help("give an initial state with a finite value")
            }
            Failure::NotFinite { t, state } => {
                let name = &states[state].name;
                let message = format!("at t = {} the rate of `{name}` is infinite or undefined", short(t));
                let (tried, x) = outcome.tried.clone().unwrap_or((t, outcome.states.clone()));
                match self.culprit(graph, simulation, tried, &x) {
                    Some((law, help)) => law.map_or_else(
                        || at(new(code::CANNOT_SIMULATE, message.clone()), state),
                        |span| new(code::CANNOT_SIMULATE, message.clone()).at(span),
                    ).help(help),
                    None => at(new(code::CANNOT_SIMULATE, message), state)
                        .help("look for a division by zero, or a root or logarithm of a negative number, at this state"),
                }
            }
            Failure::NoSolution { t, unknown } => {
                let constraint = &simulation.equations.constraints[unknown];
                let message =
                    format!("at t = {} no value of `{}` satisfies its law", short(t), constraint.name);
                let diagnostic = new(code::CANNOT_SIMULATE, message);
                let diagnostic = match constraint.elements.first() {
                    Some(element) => diagnostic.at(graph.element(*element).span),
                    None => diagnostic,
                };
                diagnostic.help("check that the law can be met by the effort or flow it receives; a small storage next to the element breaks the loop")
            }
            Failure::StepTooSmall { t, state } => {
                let message = format!(
                    "at t = {} steps become too small to go on; `{}` changes fastest",
                    short(t),
                    states[state].name
                );
                at(new(code::CANNOT_SIMULATE, message), state)
                    .help("the solution may run to infinity here; try `--solver stiff`, or larger tolerances")
            }
            Failure::TooManySteps { t } => {
                let message = format!(
                    "at t = {} the limit of {} steps is reached",
                    short(t),
                    simulation.options.max_steps
                );
                new(code::CANNOT_SIMULATE, message)
                    .help("try `--solver stiff`, larger tolerances, or an earlier `--t-end`")
            }
            Failure::Chattering { t, event } => {
                let event = simulation.compiled.events.get(event).map_or("", String::as_str);
                let message =
                    format!("at t = {} `{event}` switches back and forth without time going on", short(t));
                new(code::CHATTERING, message)
            }
        }
    }

    /// The first law without a value at a time and state: its place, and what is wrong with it.
    fn culprit(
        &self,
        graph: &BondGraph,
        simulation: &Simulation,
        t: f64,
        x: &[f64],
    ) -> Option<(Option<paynter_base::Span>, String)> {
        let equations = &simulation.equations;
        let mut values: BTreeMap<Symbol, f64> = BTreeMap::new();
        values.extend(graph.parameters.iter().map(|p| p.symbol).zip(simulation.parameters.iter().copied()));
        values.extend(equations.states.iter().map(|s| s.symbol).zip(x.iter().copied()));
        values.extend(graph.variables.symbol(Variable::Time).map(|time| (time, t)));
        for input in &equations.inputs {
            if let (Some(symbol), Ok(value)) =
                (input.symbols.first(), self.pool.eval(input.value, &|s| values.get(&s).copied()))
            {
                values.insert(*symbol, value);
            }
        }
        for assignment in &equations.assignments {
            if let Err(EvalError::NotFinite(part)) =
                self.pool.eval(assignment.value, &|s| values.get(&s).copied())
            {
                let span = assignment.element.map(|element| graph.element(element).span);
                let reads: Vec<String> = self
                    .pool
                    .symbols(part)
                    .into_iter()
                    .filter(|s| equations.states.iter().any(|state| state.symbol == *s))
                    .filter_map(|s| Some(format!("`{}` = {}", self.pool.name(s), short(*values.get(&s)?))))
                    .collect();
                let with =
                    if reads.is_empty() { String::new() } else { format!(", with {}", reads.join(", ")) };
                let what = self.pool.display(part);
                return Some((
                    span,
                    format!("`{what}` has no finite value there{with}; mend the law or the initial state"),
                ));
            }
        }
        None
    }
}

fn wrong(diagnostic: Diagnostic) -> NoAnswer {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    NoAnswer::Wrong(diagnostics)
}

/// A number as people read it.
fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    if value == 0.0 || (value.abs() >= 1e-3 && value.abs() < 1e6) {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.5e}")
    }
}

/// Turns the question into numbers, or says what is wrong with it.
fn check(options: &SimulateOptions) -> Result<Options, Box<Diagnostic>> {
    let refuse = |message: String, help: &str| {
        Err(Box::new(Diagnostic::new(code::BAD_SIMULATION, message).help(help)))
    };
    let Some((_, method)) = Method::NAMES.iter().find(|(name, _)| *name == options.solver) else {
        let names: Vec<&str> = solvers().collect();
        return refuse(
            format!("there is no solver `{}`", options.solver),
            &format!("choose one of {}", names.join(", ")),
        );
    };
    if !(options.t_end > 0.0 && options.t_end.is_finite()) {
        return refuse(
            format!("the end {} is not after the start 0", options.t_end),
            "give a positive `--t-end`, in seconds",
        );
    }
    if options.points < 2 {
        return refuse(format!("{} is too few samples", options.points), "ask for two `--points` or more");
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    if !(positive(options.rtol) && options.rtol < 1.0) || options.atol.is_some_and(|atol| !positive(atol)) {
        return refuse(
            "tolerances of zero or less cannot be met".to_owned(),
            "give positive tolerances, such as `--rtol 1e-8`; the smallest that makes sense is 1e-13",
        );
    }
    let step = match (method.is_fixed(), options.step) {
        (_, Some(step)) if !positive(step) => {
            return refuse(
                format!("a step of {step} does not lead to the end"),
                "give a positive `--step`, in seconds",
            );
        }
        (true, None) => Some(options.t_end / 1000.0),
        (_, step) => step,
    };
    if let Some(step) = step.filter(|step| options.t_end / step > 1e9) {
        return refuse(
            format!("a step of {step} makes more than a thousand million steps"),
            "give a larger `--step`",
        );
    }
    let last = (options.points - 1) as f64;
    let times = (0..options.points)
        .map(|i| if i + 1 == options.points { options.t_end } else { options.t_end * i as f64 / last });
    Ok(Options {
        t_end: options.t_end,
        times: times.collect(),
        rtol: options.rtol.max(1e-13),
        atol: options.atol,
        method: *method,
        step,
        ..Options::default()
    })
}

/// Finds the parameters and initial states that are named.
fn wanted(
    pool: &paynter_algebra::Pool,
    graph: &BondGraph,
    equations: &Equations,
    asked: &Sensitivities,
) -> Result<Vec<(String, Wanted)>, Box<Diagnostic>> {
    let names = match asked {
        Sensitivities::None => return Ok(Vec::new()),
        Sensitivities::All => {
            let mut read: Vec<Expr> = equations.rates.clone();
            read.extend(equations.outputs.iter().map(|output| output.value));
            read.extend(equations.constraints.iter().map(|c| c.residual));
            read.extend(equations.states.iter().map(|state| state.initial));
            read.extend(equations.inputs.iter().map(|input| input.value));
            let read: BTreeSet<Symbol> =
                pool.reachable(&read).into_iter().filter_map(|e| pool.as_symbol(e)).collect();
            let all = graph.parameters.iter().enumerate().filter(|(_, p)| read.contains(&p.symbol));
            return Ok(all.map(|(i, p)| (flat_name(&p.name), Wanted::Parameter(i))).collect());
        }
        Sensitivities::Names(names) => names,
    };
    let mut known: Vec<(String, Wanted)> = Vec::new();
    for (i, parameter) in graph.parameters.iter().enumerate() {
        known.push((flat_name(&parameter.name), Wanted::Parameter(i)));
    }
    for (i, state) in equations.states.iter().enumerate() {
        known.push((format!("init({})", state.name), Wanted::Initial(i)));
    }
    let mut found = Vec::new();
    for name in names {
        let flat = flat_name(name);
        match known.iter().find(|(other, _)| *other == flat) {
            Some(entry) if found.contains(entry) => {}
            Some(entry) => found.push(entry.clone()),
            None => {
                let derived = graph.derived.iter().any(|d| flat_name(&d.name) == flat);
                let message = format!("there is no independent parameter or initial state `{name}`");
                let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
                return Err(Box::new(match closest(&flat, known.iter().map(|(other, _)| other.as_str())) {
                    _ if derived => diagnostic.help("it is defined from other parameters: ask for those"),
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.help(
                        "`paynter equations` lists parameters and states; an initial state is `init(NAME.q)`",
                    ),
                }));
            }
        }
    }
    Ok(found)
}
