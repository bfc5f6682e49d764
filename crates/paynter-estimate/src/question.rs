//! What an estimation is asked for, and what it is made of: from records, a model and a question to a problem.

use crate::loss::Loss;
use crate::problem::{Experiment, FittedOutput, Weights};
use crate::search::Method;
use crate::shooting::Pieces;
use crate::tolerance::TOLERANCE_DEVIATIONS;
use crate::unknown::{Quantity, Scaling, Unknown};
use paynter_algebra::{Expr, Func, Pool, Symbol};
use paynter_base::number::shortest;
use paynter_base::{Diagnostic, Diagnostics, QueryError, Remedy, Source, SourceMap, closest, code};
use paynter_graph::{BondGraph, Tolerance, Variable, flat_name};
use paynter_numerics::Tables;
use paynter_numerics::program::Hold;
use paynter_simulate::Options;
use paynter_simulate::data::{Data, Measured, Record, Signal};
use paynter_simulate::experiment::{Column, Sensitivities, SimulateOptions, Simulation, Subject};

/// Which unknowns a search moves by their logarithms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Logarithmic {
    /// None.
    #[default]
    None,
    /// All that start above zero and have no negative lower bound.
    All,
    /// These.
    Names(Vec<String>),
}

/// How much the samples of an output count.
#[derive(Debug, Clone, PartialEq)]
pub enum Weight {
    /// By this factor, in units of the output.
    Even(f64),
    /// By the factors in this column of the data.
    Column(String),
}

/// What an estimation is asked for. Values are in the units that the model declares.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateOptions {
    /// The records of the experiments.
    pub data: Vec<Data>,
    /// Records that validate.
    pub validation: Vec<Data>,
    /// The share at the end of every record that validates.
    pub validation_share: f64,
    /// The columns of inputs and outputs whose headings are not their names.
    pub map: Vec<(String, String)>,
    /// The same in the records that validate, where it differs.
    pub validation_map: Vec<(String, String)>,
    /// The time between samples, where there is no column of times.
    pub sample_time: Option<f64>,
    /// What inputs do between samples.
    pub hold: Hold,
    /// Every so many samples of outputs count.
    pub decimate: usize,
    /// What is estimated: parameters, `init(ELEMENT.q)`, `offset(OUTPUT)`, `gain(OUTPUT)`; where empty, the
    /// parameters with bounds.
    pub fit: Vec<String>,
    /// Parameters that differ from experiment to experiment, as initial states do.
    pub local: Vec<String>,
    /// Where the search starts, in place of the model's values.
    pub start: Vec<(String, f64)>,
    /// Bounds in place of the model's.
    pub bounds: Vec<(String, f64, f64)>,
    /// The weights of outputs.
    pub weights: Vec<(String, Weight)>,
    /// How much a residual counts.
    pub loss: Loss,
    /// Whether tolerances are priors.
    pub prior: bool,
    /// How the smallest cost is searched for.
    pub method: Method,
    /// What is moved by its logarithm.
    pub logarithmic: Logarithmic,
    /// The limit of iterations.
    pub iterations: usize,
    /// The number of starts: the first, and others at random.
    pub starts: usize,
    /// Where the random numbers of starts begin.
    pub seed: u64,
    /// The number of pieces that a record is simulated in at first.
    pub shots: usize,
    /// The confidence of intervals.
    pub level: f64,
    /// Estimates whose profile likelihood is wanted.
    pub profiles: Vec<String>,
    /// Whether curves for plots are wanted.
    pub curves: bool,
    /// Relative tolerance of simulations.
    pub rtol: f64,
    /// Absolute tolerance, in SI.
    pub atol: Option<f64>,
    /// The solver's name.
    pub solver: String,
    /// The step of a solver with a fixed one.
    pub step: Option<f64>,
    /// A simulation of more steps is a rejected step of the search.
    pub max_steps: u64,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        let simulated = SimulateOptions::default();
        EstimateOptions {
            data: Vec::new(),
            validation: Vec::new(),
            validation_share: 0.0,
            map: Vec::new(),
            validation_map: Vec::new(),
            sample_time: None,
            hold: Hold::Linear,
            decimate: 1,
            fit: Vec::new(),
            local: Vec::new(),
            start: Vec::new(),
            bounds: Vec::new(),
            weights: Vec::new(),
            loss: Loss::Squares,
            prior: false,
            method: Method::default(),
            logarithmic: Logarithmic::None,
            iterations: 100,
            starts: 1,
            seed: 1,
            shots: 1,
            level: 0.95,
            profiles: Vec::new(),
            curves: false,
            rtol: simulated.rtol,
            atol: None,
            solver: simulated.solver,
            step: None,
            max_steps: simulated.max_steps,
        }
    }
}

/// A derived model, its own tables, and where findings about data go.
pub struct Asked<'a, 'b> {
    /// The pool of its expressions, to be extended.
    pub pool: &'b mut Pool,
    /// The graph, its causality and its equations; measured inputs are not in it yet.
    pub subject: Subject<'a>,
    /// The files that findings refer to.
    pub sources: &'b mut SourceMap,
    /// What is found out.
    pub findings: &'b mut Diagnostics,
}

/// A record with the name of its file.
pub(crate) struct Recorded {
    pub name: String,
    pub record: Record,
}

impl Recorded {
    fn length(&self) -> f64 {
        let times = &self.record.times;
        times[times.len() - 1] - times[0]
    }
}

/// What a problem is made of.
pub(crate) struct Parts {
    pub simulation: Simulation,
    pub unknowns: Vec<Unknown>,
    pub outputs: Vec<FittedOutput>,
    pub experiments: Vec<Experiment>,
    /// What pieces of records are simulated with, where they are.
    pub pieces: Option<Pieces>,
}

/// Refuses a question for one reason.
pub(crate) fn refuse(message: impl Into<String>, help: impl Into<Remedy>) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(Diagnostic::new(code::BAD_ESTIMATION, message.into()).help(help));
    QueryError::Wrong(diagnostics)
}

fn wrong(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}

/// What a name to be estimated refers to.
#[derive(Debug, Clone, PartialEq)]
enum Named {
    Simulated(String),
    Offset(String),
    Gain(String),
}

fn named(name: &str) -> Named {
    let inner = |word: &str| name.trim().strip_prefix(word)?.trim().strip_prefix('(')?.strip_suffix(')');
    match (inner("offset"), inner("gain")) {
        (Some(output), _) => Named::Offset(output.trim().to_owned()),
        (_, Some(output)) => Named::Gain(output.trim().to_owned()),
        _ => Named::Simulated(flat_name(name.trim())),
    }
}

impl EstimateOptions {
    /// Says what is wrong with the numbers of the question, whatever the model.
    pub fn check(&self) -> Result<(), QueryError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if self.sample_time.is_some_and(|step| !positive(step)) {
            return Err(refuse(
                "the sample time is not positive",
                Remedy::marked("give {option sample_time} in seconds"),
            ));
        }
        if !(0.0..1.0).contains(&self.validation_share) {
            return Err(refuse(
                format!(
                    "a share of {} for validation leaves nothing to fit",
                    shortest(self.validation_share)
                ),
                Remedy::marked("keep a part below 1 with {option validate}, such as 0.3"),
            ));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(refuse(
                format!("{} is no level of confidence", shortest(self.level)),
                Remedy::marked("give {option confidence} in per cent, such as 95"),
            ));
        }
        if self.decimate == 0 || self.starts == 0 || self.shots == 0 {
            return Err(refuse(
                "every how many samples count, the number of starts and that of shots are 1 at least",
                "leave them out for 1",
            ));
        }
        for (name, low, high) in &self.bounds {
            if low.is_nan() || high.is_nan() || low >= high {
                return Err(refuse(
                    format!(
                        "the bounds {} and {} of `{name}` leave nothing between them",
                        shortest(*low),
                        shortest(*high)
                    ),
                    Remedy::marked("give {option bounds} as NAME=LOW:HIGH"),
                ));
            }
        }
        Ok(())
    }

    /// The names of what is estimated.
    fn names(&self, asked: &Asked<'_, '_>) -> Result<Vec<String>, QueryError> {
        let Subject { graph, equations, .. } = &asked.subject;
        if self.fit.is_empty() {
            let bounded = graph.parameters.iter().filter(|parameter| parameter.bounds.is_some());
            let names: Vec<String> = bounded.map(|parameter| flat_name(&parameter.name)).collect();
            if names.is_empty() {
                let all: Vec<String> = graph.parameters.iter().map(|p| flat_name(&p.name)).collect();
                return Err(refuse(
                    "nothing is said to be estimated, and no parameter has bounds",
                    Remedy::marked(
                        "name parameters with {option fit}, or give them bounds: `param k = 1 in [0.1, 10]`",
                    )
                    .and(format!("; there are {}", all.join(", "))),
                ));
            }
            return Ok(names);
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.fit {
            let all = match name.trim() {
                "init" => equations.states.iter().map(|state| format!("init({})", state.name)).collect(),
                other => vec![other.to_owned()],
            };
            for name in all {
                if !names.iter().any(|known| named(known) == named(&name)) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    /// The signals that records hold: inputs, then outputs, then columns of weights.
    pub(crate) fn signals(
        &self,
        graph: &BondGraph,
        map: &[(String, String)],
    ) -> Result<Vec<Signal>, QueryError> {
        let inputs =
            graph.inputs.iter().map(|input| (flat_name(&input.name), input.unit.as_ref(), !input.given));
        let outputs =
            graph.outputs.iter().map(|output| (flat_name(&output.name), output.unit.as_ref(), false));
        let all: Vec<_> = inputs.chain(outputs).collect();
        for (name, _) in map {
            if !all.iter().any(|(known, ..)| *known == flat_name(name)) {
                let near = closest(name, all.iter().map(|(known, ..)| known.as_str()));
                let help = near.map_or_else(
                    || "the model's inputs and outputs have columns".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(refuse(format!("there is no input or output `{name}` to map a column to"), help));
            }
        }
        let signal = |(name, unit, required): (String, Option<&paynter_graph::dimension::Unit>, bool)| {
            let mapped = map.iter().find(|(known, _)| flat_name(known) == name);
            let column = mapped.map_or_else(|| name.clone(), |(_, column)| column.clone());
            let factor = unit.map_or(1.0, |unit| unit.factor);
            Signal { name, column, factor, required: required || mapped.is_some() }
        };
        let mut signals: Vec<Signal> = all.into_iter().map(signal).collect();
        for (name, weight) in &self.weights {
            if let Weight::Column(column) = weight {
                let (name, column) = (name.clone(), column.clone());
                signals.push(Signal { name, column, factor: 1.0, required: true });
            }
        }
        Ok(signals)
    }

    /// Reads records and compiles the model into the parts of a problem.
    pub(crate) fn prepare(
        &self,
        asked: &mut Asked<'_, '_>,
        token: &paynter_base::CancellationToken,
    ) -> Result<Parts, QueryError> {
        self.check()?;
        if self.data.is_empty() {
            return Err(refuse(
                "there are no measured data",
                Remedy::marked("name a CSV file with {option data}"),
            ));
        }
        let mut records = self.read(asked, &self.data, &self.map)?;
        let map = if self.validation_map.is_empty() { &self.map } else { &self.validation_map };
        records.extend(self.read(asked, &self.validation, map)?);
        let parts = self.assemble(asked, &records, token)?;
        let count = parts.experiments.iter().map(Experiment::count).sum::<usize>();
        if count < parts.unknowns.len() {
            return Err(refuse(
                format!("{count} measured values cannot determine {} unknowns", parts.unknowns.len()),
                Remedy::marked("measure more, or estimate less: {option fit} names what is estimated"),
            ));
        }
        Ok(parts)
    }

    /// Reads some files.
    pub(crate) fn read(
        &self,
        asked: &mut Asked<'_, '_>,
        files: &[Data],
        map: &[(String, String)],
    ) -> Result<Vec<Recorded>, QueryError> {
        let signals = self.signals(asked.subject.graph, map)?;
        let mut records = Vec::new();
        for data in files {
            let record = Record::read(data, &signals, self.sample_time, asked.sources)
                .map_err(|found| wrong(*found))?;
            // Every file has its number among the sources, so that one that is wrong is found by it.
            asked.sources.add(Source::new(data.path.clone(), ""));
            if record.times.len() < 2 {
                return Err(refuse(
                    format!("`{}` has one sample only", data.path),
                    "a record is two samples or more",
                ));
            }
            records.push(Recorded { name: data.path.clone(), record });
        }
        Ok(records)
    }

    /// Compiles the model and makes experiments of records: those that are fitted first.
    pub(crate) fn assemble(
        &self,
        asked: &mut Asked<'_, '_>,
        records: &[Recorded],
        token: &paynter_base::CancellationToken,
    ) -> Result<Parts, QueryError> {
        let names = self.names(asked)?;
        let graph = asked.subject.graph;
        let places = self.fitted_outputs(graph, records)?;
        let (inputs, tables) = self.tables(asked, records)?;
        let simulated: Vec<String> = names
            .iter()
            .filter_map(|name| match named(name) {
                Named::Simulated(name) => Some(name),
                _ => None,
            })
            .collect();
        let end = records.iter().map(Recorded::length);
        let options = SimulateOptions {
            t_end: Some(end.fold(0.0, f64::max)),
            points: 2,
            rtol: self.rtol,
            atol: self.atol,
            solver: self.solver.clone(),
            step: self.step,
            sensitivities: Sensitivities::Names(simulated.clone()),
            hold: self.hold,
            varied: simulated.clone(),
            states: self.shots > 1,
            max_steps: self.max_steps,
            ..SimulateOptions::default()
        };
        let measured = Measured { inputs, tables: tables[0].clone(), end: None };
        let subject = Subject { measured: &measured, ..asked.subject.clone() };
        let simulation = Simulation::compile(asked.pool, &subject, (&options, &[]), asked.findings, token)?;
        let outputs: Vec<FittedOutput> = places
            .iter()
            .map(|place| FittedOutput { place: *place, column: simulation.outputs[*place].clone() })
            .collect();
        let unknowns = self.unknowns(asked, &names, &simulated, &simulation, &outputs)?;
        let experiments = self.experiments(graph, records, tables, &outputs, &simulation.options)?;
        let pieces = match self.shots {
            1 => None,
            _ => Some(self.pieces(asked, &subject, &options, &unknowns, token)?),
        };
        Ok(Parts { simulation, unknowns, outputs, experiments, pieces })
    }

    /// Compiles the model with the initial values of all states as parameters, for pieces of records.
    fn pieces(
        &self,
        asked: &mut Asked<'_, '_>,
        subject: &Subject<'_>,
        options: &SimulateOptions,
        unknowns: &[Unknown],
        token: &paynter_base::CancellationToken,
    ) -> Result<Pieces, QueryError> {
        let is_initial = |name: &&String| name.starts_with("init(");
        let mut names: Vec<String> =
            options.varied.iter().filter(|name| !is_initial(name)).cloned().collect();
        let own = names.len();
        names.extend(subject.equations.states.iter().map(|state| format!("init({})", state.name)));
        let options = SimulateOptions {
            sensitivities: Sensitivities::Names(names.clone()),
            varied: names.clone(),
            ..options.clone()
        };
        let simulation =
            Simulation::compile(asked.pool, subject, (&options, &[]), &mut Diagnostics::new(), token)?;
        if simulation.is_charted() {
            return Err(refuse(
                "this model is integrated over other states than its own, so that it cannot start within a record",
                Remedy::marked("leave {option shots} out, and start several times with {option starts}"),
            ));
        }
        let lane = |unknown: &Unknown| {
            let name = unknown.name.split('@').next().unwrap_or_default();
            names[..own].iter().position(|known| known == name)
        };
        Ok(Pieces {
            lanes: unknowns.iter().map(lane).collect(),
            states: (own..names.len()).map(|lane| (simulation.varied[lane].place, lane)).collect(),
            simulation,
        })
    }

    /// The places of the outputs that some record has.
    fn fitted_outputs(&self, graph: &BondGraph, records: &[Recorded]) -> Result<Vec<usize>, QueryError> {
        let inputs = graph.inputs.len();
        if graph.outputs.is_empty() {
            return Err(refuse(
                "the model has no output that could be measured",
                "declare one: `output y = tank.e`, and call its column `y`",
            ));
        }
        let known = |recorded: &Recorded, place: usize| {
            let column = recorded.record.columns[inputs + place].as_ref();
            column.is_some_and(|list| list.iter().any(|value| value.is_finite()))
        };
        let fitted = &records[..records.len() - self.validation.len()];
        let places: Vec<usize> = (0..graph.outputs.len())
            .filter(|place| fitted.iter().any(|record| known(record, *place)))
            .collect();
        if places.is_empty() {
            let names: Vec<String> = graph.outputs.iter().map(|output| flat_name(&output.name)).collect();
            return Err(refuse(
                "the data hold no samples of any output",
                Remedy::marked(
                    "call a column as the output, or tell with {option map=OUTPUT=COLUMN} which one it is",
                )
                .and(format!("; outputs are {}", names.join(", "))),
            ));
        }
        let none = |recorded: &&Recorded| !places.iter().any(|place| known(recorded, *place));
        if let Some(recorded) = records.iter().find(none) {
            return Err(refuse(
                format!("`{}` holds no samples of an output that is fitted", recorded.name),
                "leave the file out, or measure an output in it",
            ));
        }
        Ok(places)
    }

    /// What replaces measured inputs, and the tables of every record.
    fn tables(
        &self,
        asked: &mut Asked<'_, '_>,
        records: &[Recorded],
    ) -> Result<(Vec<Option<Expr>>, Vec<Tables>), QueryError> {
        let graph = asked.subject.graph;
        let own = asked.subject.measured.tables.list().to_vec();
        for (table, recorded) in
            own.iter().flat_map(|table| records.iter().map(move |record| (table, record)))
        {
            let times = &recorded.record.times;
            let (first, last) = (times[0], times[times.len() - 1]);
            let span = (table.times()[0], table.times()[table.times().len() - 1]);
            if span.1 <= first || span.0 >= last {
                return Err(refuse(
                    format!(
                        "a table of the model covers times from {} to {}, the data those from {} to {}",
                        shortest(span.0),
                        shortest(span.1),
                        shortest(first),
                        shortest(last)
                    ),
                    "let both count time from the same moment",
                ));
            }
        }
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| asked.pool.symbol("t"));
        let time = asked.pool.var(time);
        let mut inputs = Vec::new();
        let mut lists = vec![own.clone(); records.len()];
        for (place, input) in graph.inputs.iter().enumerate() {
            if records.iter().all(|recorded| recorded.record.columns[place].is_none()) {
                inputs.push(None);
                continue;
            }
            for (recorded, list) in records.iter().zip(&mut lists) {
                let Some(table) = recorded.record.table(place, self.hold) else {
                    return Err(refuse(
                        format!(
                            "`{}` holds no samples of the input `{}`",
                            recorded.name,
                            flat_name(&input.name)
                        ),
                        "an input that is measured in one experiment is measured in all",
                    ));
                };
                list.push(table);
            }
            let number = (lists[0].len() - 1) as u32;
            inputs.push(Some(asked.pool.call(Func::Table(number), &[time])));
        }
        Ok((inputs, lists.into_iter().map(Tables::new).collect()))
    }

    /// The unknowns, in the order in which they were named.
    fn unknowns(
        &self,
        asked: &Asked<'_, '_>,
        names: &[String],
        simulated: &[String],
        simulation: &Simulation,
        outputs: &[FittedOutput],
    ) -> Result<Vec<Unknown>, QueryError> {
        let graph = asked.subject.graph;
        let output = |name: &str| {
            outputs.iter().position(|output| output.column.name == flat_name(name)).ok_or_else(|| {
                refuse(
                    format!("`{name}` is no measured output, so that its sensor has neither offset nor gain"),
                    "name an output that the data have a column for",
                )
            })
        };
        for name in self
            .start
            .iter()
            .map(|(name, _)| name)
            .chain(self.bounds.iter().map(|(name, ..)| name))
            .chain(&self.local)
        {
            if !names.iter().any(|known| named(known) == named(name)) {
                let near = closest(name, names.iter().map(String::as_str));
                let help = match near {
                    Some(near) => Remedy::from(format!("did you mean `{near}`?")),
                    None => Remedy::marked("add it to {option fit}"),
                };
                return Err(refuse(format!("`{name}` is not estimated"), help));
            }
        }
        let experiments = self.data.len().max(1);
        let mut unknowns = Vec::new();
        for name in names {
            let (quantity, column, nominal) = match named(name) {
                Named::Offset(of) => {
                    let place = output(&of)?;
                    let of = &outputs[place].column;
                    (
                        Quantity::Offset(place),
                        Column { name: format!("offset({})", of.name), ..of.clone() },
                        0.0,
                    )
                }
                Named::Gain(of) => {
                    let place = output(&of)?;
                    let name = format!("gain({})", outputs[place].column.name);
                    (Quantity::Gain(place), Column { name, unit: None, factor: 1.0 }, 1.0)
                }
                Named::Simulated(name) => {
                    let lane = simulated.iter().position(|known| *known == name).unwrap_or_default();
                    let varied = &simulation.varied[lane];
                    let column = simulation.wanted_columns[lane].clone();
                    let nominal = nominal(asked, &name, simulation.parameters[varied.place]);
                    (Quantity::Simulated { lane, place: varied.place }, column, nominal)
                }
            };
            let declared = graph.parameters.iter().find(|p| flat_name(&p.name) == column.name);
            let given = |list: &[(String, f64)]| {
                list.iter()
                    .find(|(known, _)| named(known) == named(name))
                    .map(|(_, value)| value * column.factor)
            };
            let bounds = self.bounds.iter().find(|(known, ..)| named(known) == named(name));
            let bounds = bounds.map(|(_, low, high)| (low * column.factor, high * column.factor));
            let (lower, upper) = bounds
                .or(declared.and_then(|parameter| parameter.bounds))
                .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let start = given(&self.start).unwrap_or(nominal);
            if !(lower..=upper).contains(&start) {
                return Err(refuse(
                    format!(
                        "`{}` starts at {}, outside its bounds {} and {}",
                        column.name,
                        shortest(start / column.factor),
                        shortest(lower / column.factor),
                        shortest(upper / column.factor)
                    ),
                    Remedy::marked("move it with {option start}, or widen its {option bounds}"),
                ));
            }
            let chosen = match &self.logarithmic {
                Logarithmic::All => start > 0.0 && !(lower < 0.0 && lower.is_finite()),
                Logarithmic::None => false,
                Logarithmic::Names(list) => list.iter().any(|known| named(known) == named(name)),
            };
            if chosen && (start.is_nan() || start <= 0.0) {
                return Err(refuse(
                    format!(
                        "`{}` starts at {}, which has no logarithm",
                        column.name,
                        shortest(start / column.factor)
                    ),
                    Remedy::marked("start above zero, or leave it out of {option log}"),
                ));
            }
            let width = upper - lower;
            let scaling = match (chosen, start == 0.0) {
                (true, _) => Scaling::Logarithmic,
                (false, false) => Scaling::Linear(start.abs()),
                (false, true) => Scaling::Linear(if width.is_finite() { 0.5 * width } else { column.factor }),
            };
            let prior = declared.filter(|_| self.prior).and_then(|parameter| {
                let half = match parameter.tolerance? {
                    Tolerance::Relative(share) => share * parameter.number.abs(),
                    Tolerance::Absolute(half) => half,
                };
                (half > 0.0).then_some((parameter.number, half / TOLERANCE_DEVIATIONS))
            });
            let unknown = Unknown {
                name: column.name.clone(),
                unit: column.unit.clone(),
                factor: column.factor,
                quantity,
                experiment: None,
                start,
                lower,
                upper,
                scaling,
                prior,
                fixed: false,
                signed: declared.is_some(),
            };
            let local = name.trim().starts_with("init(")
                || self.local.iter().any(|known| named(known) == named(name));
            match local && experiments > 1 {
                false => unknowns.push(unknown),
                true => unknowns.extend((0..experiments).map(|number| Unknown {
                    name: format!("{}@{}", unknown.name, number + 1),
                    experiment: Some(number),
                    ..unknown.clone()
                })),
            }
        }
        if self.prior && unknowns.iter().all(|unknown| unknown.prior.is_none()) {
            return Err(refuse(
                "no estimated parameter has a tolerance that could be a prior",
                "give one: `param k = 3 ±10%`",
            ));
        }
        Ok(unknowns)
    }

    /// The experiments, ready to be compared with runs.
    fn experiments(
        &self,
        graph: &BondGraph,
        records: &[Recorded],
        tables: Vec<Tables>,
        outputs: &[FittedOutput],
        options: &Options,
    ) -> Result<Vec<Experiment>, QueryError> {
        let (inputs, columns) = (graph.inputs.len(), graph.inputs.len() + graph.outputs.len());
        let weights = self.even_weights(inputs, records, outputs)?;
        let mut experiments = Vec::new();
        let fitted_records = records.len() - self.validation.len();
        for (at, (Recorded { name: file, record }, tables)) in records.iter().zip(tables).enumerate() {
            let list = |output: &FittedOutput| record.columns[inputs + output.place].as_ref();
            let wanted = |sample: usize| {
                outputs.iter().any(|output| list(output).is_some_and(|list| list[sample].is_finite()))
            };
            let kept: Vec<usize> =
                (0..record.times.len()).step_by(self.decimate).filter(|sample| wanted(*sample)).collect();
            let times: Vec<f64> = kept.iter().map(|sample| record.times[*sample]).collect();
            let measured = outputs.iter().map(|output| {
                kept.iter().map(|sample| list(output).map_or(f64::NAN, |list| list[*sample])).collect()
            });
            let own = outputs.iter().zip(&weights).map(|(output, even)| {
                let column = self.weights.iter().filter(|(_, weight)| matches!(weight, Weight::Column(_)));
                let place = column.clone().position(|(name, _)| flat_name(name) == output.column.name);
                let Some(samples) = place.and_then(|place| record.columns[columns + place].as_ref()) else {
                    return Ok(Weights::Even(*even));
                };
                let each: Vec<f64> =
                    kept.iter().map(|sample| samples[*sample].sqrt() / output.column.factor).collect();
                match each.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
                    None => Ok(Weights::Each(each)),
                    Some(bad) => Err(refuse(
                        format!(
                            "`{file}`: the weight at t = {} is no number from zero on",
                            shortest(times[bad])
                        ),
                        "write a weight for each sample of the output; 0 leaves it out",
                    )),
                }
            });
            let own = own.collect::<Result<Vec<Weights>, QueryError>>()?;
            let validates = at >= fitted_records;
            let count = times.len();
            let fitted = match validates {
                true => 0,
                false => ((1.0 - self.validation_share) * count as f64).round() as usize,
            };
            if !validates && fitted == 0 {
                return Err(refuse(
                    format!("nothing of `{file}` is left to fit"),
                    Remedy::marked("keep less for {option validate}, or decimate less"),
                ));
            }
            let start = record.times[0];
            let over = |times: Vec<f64>| {
                let end = times.last().copied().unwrap_or(start);
                // A run of no length has no step.
                let t_end = if end > start { end } else { record.times[1] };
                Options { t_start: start, t_end, times, points: 0, ..options.clone() }
            };
            experiments.push(Experiment {
                name: file.clone(),
                tables,
                measured: measured.collect(),
                weights: own,
                fitted,
                part: over(times[..fitted].to_vec()),
                whole: over(times),
                validates,
            });
        }
        Ok(experiments)
    }

    /// The square root of the weight of each output: that which was asked for, else one, or of several outputs one
    /// over the variance of what was measured, so that each counts alike.
    fn even_weights(
        &self,
        inputs: usize,
        records: &[Recorded],
        outputs: &[FittedOutput],
    ) -> Result<Vec<f64>, QueryError> {
        for (name, weight) in &self.weights {
            if !outputs.iter().any(|output| output.column.name == flat_name(name)) {
                return Err(refuse(
                    format!("`{name}` has a weight, but is no measured output"),
                    "name an output that the data have a column for",
                ));
            }
            if let Weight::Even(value) = weight
                && !(*value >= 0.0 && value.is_finite())
            {
                return Err(refuse(
                    format!("the weight {} of `{name}` is no number from zero on", shortest(*value)),
                    "a weight multiplies the square of a residual",
                ));
            }
        }
        let weight = |output: &FittedOutput| {
            let asked = self.weights.iter().find(|(name, _)| flat_name(name) == output.column.name);
            if let Some((_, Weight::Even(value))) = asked {
                return value.sqrt() / output.column.factor;
            }
            if outputs.len() == 1 {
                return 1.0;
            }
            let values: Vec<f64> = records[..records.len() - self.validation.len()]
                .iter()
                .filter_map(|recorded| recorded.record.columns[inputs + output.place].as_ref())
                .flatten()
                .copied()
                .filter(|value| value.is_finite())
                .collect();
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            let variance =
                values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
            if variance > 0.0 { 1.0 / variance.sqrt() } else { 1.0 }
        };
        Ok(outputs.iter().map(weight).collect())
    }
}

/// The model's own value of a parameter or initial state; of the latter the compiled model has forgotten it.
fn nominal(asked: &Asked<'_, '_>, name: &str, compiled: f64) -> f64 {
    let Subject { graph, equations, .. } = &asked.subject;
    let number = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let state = equations.states.iter().find(|state| format!("init({})", state.name) == name);
    match state {
        Some(state) => asked.pool.eval(state.initial, &number).unwrap_or(0.0),
        None => compiled,
    }
}
