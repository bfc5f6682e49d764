//! Samples with the values of all variables: what a run can be put into the
//! model's own equations by.

use crate::tolerance::{BESIDE_AN_EVENT, MOST_VARIABLES, SIDE_MISFIT, SMALL_CHANGE, WITNESSES};
use crate::{Compiled, Sample, Source, Witness};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random::Random;
use paynter_graph::Variable;
use paynter_numerics::Tables;
use paynter_numerics::program::Program;
use rustc_hash::FxHashMap;

/// Calculates all variables of a model.
#[derive(Debug)]
pub(super) struct Observer {
    /// Variables, inputs, then parameters that are moved; over parameters, time, states, unknowns.
    program: Program,
    /// Residuals, then outputs, by which the side of an event shows, where the model has events.
    sides: Option<Program>,
    inputs: usize,
    /// The places of parameters that are moved along directions.
    moved: Vec<usize>,
    outputs: usize,
    unknowns: usize,
}

/// The witnesses of a run so far.
#[derive(Default)]
pub(super) struct Gathered {
    list: Vec<Witness>,
    seen: usize,
    /// One of so many samples is kept, less one.
    skipped: usize,
}

impl Observer {
    /// Compiles what is asked of a model, some of whose parameters are moved along directions. Outputs of runs in
    /// which roots are regularised differ from the laws near their zeros by more than rounding; there they are
    /// not compared.
    pub fn new(
        pool: &mut Pool,
        source: &Source<'_>,
        moved: &[(usize, Expr)],
        compiled: &Compiled,
    ) -> Option<Observer> {
        let (graph, equations) = (source.graph, source.equations);
        let variables = graph.all_variables();
        if variables.len() > MOST_VARIABLES {
            return None;
        }
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| pool.symbol("t"));
        let mut values = equations.variable_values(pool, graph, &variables)?;
        let mut signals: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for (i, input) in equations.inputs.iter().enumerate() {
            let mut signal = source.inputs.get(i).copied().flatten().unwrap_or(input.value);
            values.push(signal);
            for symbol in &input.symbols {
                signals.insert(*symbol, signal);
                signal = pool.diff(signal, time);
            }
        }
        let mut values = pool.substitute_all(&values, &signals);
        values.extend(moved.iter().map(|(_, value)| *value));
        let mut arguments: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
        arguments.push(time);
        arguments.extend(equations.states.iter().map(|state| state.symbol));
        arguments.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
        let residuals = equations.constraints.iter().map(|constraint| constraint.residual);
        let shown: Vec<Expr> = residuals.chain(equations.outputs.iter().map(|output| output.value)).collect();
        let shown = pool.substitute_all(&shown, &signals);
        let sides = (!compiled.events.is_empty()).then(|| Program::compile(pool, &shown, &arguments).ok());
        Some(Observer {
            program: Program::compile(pool, &values, &arguments).ok()?,
            sides: sides.flatten(),
            inputs: equations.inputs.len(),
            moved: moved.iter().map(|(place, _)| *place).collect(),
            outputs: if compiled.regularisations.is_empty() { graph.outputs.len() } else { 0 },
            unknowns: equations.constraints.len(),
        })
    }

    fn arguments(&self, sample: &Sample<'_>, parameters: &[f64], t: f64) -> Vec<f64> {
        [parameters, &[t], sample.states, &sample.unknowns[..self.unknowns]].concat()
    }

    /// The arguments of a sample right after it, as far as rounding tells: what starts at rest has moved.
    fn after(&self, sample: &Sample<'_>, parameters: &[f64]) -> Option<(f64, Vec<f64>)> {
        let times = sample.states.iter().zip(sample.rates).filter(|(x, rate)| **x != 0.0 && **rate != 0.0);
        let times =
            times.map(|(x, rate)| (x / rate).abs()).chain((sample.t != 0.0).then_some(sample.t.abs()));
        let time = BESIDE_AN_EVENT * times.reduce(f64::min).unwrap_or(1.0);
        let states = sample.states.iter().zip(sample.rates).map(|(x, rate)| x + time * rate);
        let states: Vec<f64> = states.collect();
        let t = sample.t + time;
        let moved = states.len() == sample.states.len() && states.iter().all(|x| x.is_finite());
        moved.then(|| (t, [parameters, &[t], &states, &sample.unknowns[..self.unknowns]].concat()))
    }

    /// The time and arguments of a sample, or right before or after it where its unknowns and outputs are those of that
    /// side.
    fn side(&self, sample: &Sample<'_>, parameters: &[f64], tables: &Tables) -> (f64, Vec<f64>) {
        let now = self.arguments(sample, parameters, sample.t);
        let Some(program) = &self.sides else { return (sample.t, now) };
        let run = |arguments: &[f64]| {
            let mut values = vec![0.0; program.results()];
            program.run_with(arguments, tables, &mut Vec::new(), &mut values);
            values
        };
        let own = run(&now);
        let sizes = sizes(&own, &now, &run);
        let misfit = |values: &[f64], outputs: f64| {
            let wanted = std::iter::repeat_n((&0.0, 1.0), self.unknowns)
                .chain(sample.outputs.iter().map(|wanted| (wanted, outputs)));
            let parts = values.iter().zip(wanted).zip(&sizes);
            parts
                .map(|((value, (wanted, part)), size)| {
                    let size = part * size + wanted.abs();
                    if value == wanted { 0.0 } else { (value - wanted).abs() / size }
                })
                .fold(0.0, f64::max)
        };
        if misfit(&own, 0.0) <= SIDE_MISFIT {
            return (sample.t, now);
        }
        let beside = [-BESIDE_AN_EVENT, BESIDE_AN_EVENT].map(|part| sample.t + part * sample.t.abs());
        let beside = beside.map(|t| (t, self.arguments(sample, parameters, t)));
        let places: Vec<(f64, Vec<f64>)> = beside.into_iter().chain(self.after(sample, parameters)).collect();
        // A small change that meets a jump makes it look like a size; outputs are first taken at what they are.
        for outputs in [0.0, 1.0] {
            if misfit(&own, outputs) <= SIDE_MISFIT {
                break;
            }
            let fits = |(_, arguments): &&(f64, Vec<f64>)| misfit(&run(arguments), outputs) <= SIDE_MISFIT;
            if let Some(found) = places.iter().find(fits) {
                return found.clone();
            }
        }
        (sample.t, now)
    }

    /// Keeps a sample, if it is one of those to be kept.
    pub fn observe(&self, sample: &Sample<'_>, parameters: &[f64], tables: &Tables, gathered: &mut Gathered) {
        let turn = gathered.seen.is_multiple_of(gathered.skipped + 1);
        gathered.seen += 1;
        if !turn || sample.sliding || sample.unknowns.len() < self.unknowns {
            return;
        }
        if gathered.list.len() == WITNESSES {
            let mut place = 0;
            gathered.list.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            gathered.skipped = 2 * gathered.skipped + 1;
        }
        let (t, arguments) = self.side(sample, parameters, tables);
        let run = |arguments: &[f64]| {
            let mut values = vec![0.0; self.program.results()];
            self.program.run_with(arguments, tables, &mut Vec::new(), &mut values);
            values
        };
        let mut values = run(&arguments);
        if !values.iter().all(|value| value.is_finite()) {
            return;
        }
        let mut scales = sizes(&values, &arguments, &run);
        let moved = values.split_off(values.len() - self.moved.len());
        let inputs = values.split_off(values.len() - self.inputs);
        scales.truncate(values.len());
        let outputs = sample.outputs.iter().copied().take(self.outputs).collect();
        let mut parameters = parameters.to_vec();
        self.moved.iter().zip(moved).for_each(|(place, value)| parameters[*place] = value);
        gathered.list.push(Witness { t, parameters, inputs, variables: values, scales, outputs });
    }
}

/// What each value is made of, which shows when all that it is made from changes a little; to the side where no more
/// changes, since a branch may change on the other.
fn sizes(values: &[f64], arguments: &[f64], run: &dyn Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let [more, less] = [SMALL_CHANGE, -SMALL_CHANGE].map(|change| {
        let mut random = Random::new(1);
        let moved = arguments.iter().map(|x| x * (1.0 + change * (random.unit() - 0.5)));
        run(&moved.collect::<Vec<_>>())
    });
    let moves = values.iter().zip(more.iter().zip(&less));
    moves.map(|(value, (more, less))| (more - value).abs().min((less - value).abs()) / SMALL_CHANGE).collect()
}

impl Gathered {
    /// The witnesses.
    pub fn into_list(self) -> Vec<Witness> {
        self.list
    }
}
