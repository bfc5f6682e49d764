//! Samples with the values of all variables: what a run can be put into the
//! model's own equations by.

use crate::{Compiled, Sample, Source, Witness};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random::Random;
use paynter_graph::Variable;
use paynter_numerics::Tables;
use paynter_numerics::program::Program;
use rustc_hash::FxHashMap;

/// So many samples of a run are kept at most.
const WITNESSES: usize = 16;
/// Models with more variables have none: to calculate them would cost more than the run.
const MOST_VARIABLES: usize = 5000;

/// The part by which everything is changed to see what it makes up.
const SMALL_CHANGE: f64 = 1e-6;

/// Calculates all variables of a model.
#[derive(Debug)]
pub(super) struct Observer {
    /// Variables, inputs, then parameters that are moved; over parameters, time, states, unknowns.
    program: Program,
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
        Some(Observer {
            program: Program::compile(pool, &values, &arguments).ok()?,
            inputs: equations.inputs.len(),
            moved: moved.iter().map(|(place, _)| *place).collect(),
            outputs: if compiled.regularisations.is_empty() { graph.outputs.len() } else { 0 },
            unknowns: equations.constraints.len(),
        })
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
        let arguments = [parameters, &[sample.t], sample.states, &sample.unknowns[..self.unknowns]].concat();
        let mut values = vec![0.0; self.program.results()];
        self.program.run_with(&arguments, tables, &mut Vec::new(), &mut values);
        if !values.iter().all(|value| value.is_finite()) {
            return;
        }
        // What each variable is made of shows when all that it is made from changes a little.
        let mut random = Random::new(1);
        let moved: Vec<f64> =
            arguments.iter().map(|x| x * (1.0 + SMALL_CHANGE * (random.unit() - 0.5))).collect();
        let mut scales = vec![0.0; values.len()];
        self.program.run_with(&moved, tables, &mut Vec::new(), &mut scales);
        scales
            .iter_mut()
            .zip(&values)
            .for_each(|(moved, value)| *moved = (*moved - value).abs() / SMALL_CHANGE);
        let moved = values.split_off(values.len() - self.moved.len());
        let inputs = values.split_off(values.len() - self.inputs);
        scales.truncate(values.len());
        let outputs = sample.outputs.iter().copied().take(self.outputs).collect();
        let mut parameters = parameters.to_vec();
        self.moved.iter().zip(moved).for_each(|(place, value)| parameters[*place] = value);
        gathered.list.push(Witness { t: sample.t, parameters, inputs, variables: values, scales, outputs });
    }
}

impl Gathered {
    /// The witnesses.
    pub fn into_list(self) -> Vec<Witness> {
        self.list
    }
}
