//! A compiled simulation, its runs, and the results that they give.

use super::bounds::Bounds;
use super::chart::Assumptions;
use super::energy::Entry;
use super::variation::Shift;
use super::witness::{Gathered, Observer};
use crate::tolerance::NEGATIVE_AMOUNT;
use crate::{Compiled, Note, Options, Outcome, Sample, simulate};
use paynter_algebra::Symbol;
use paynter_base::CancellationToken;
use paynter_equations::Equations;
use paynter_graph::BondGraph;
use paynter_numerics::Tables;
use std::sync::Arc;

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
#[derive(Clone)]
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
    /// The units that they are declared in.
    pub wanted_columns: Vec<Column>,
    /// The values of the graph's parameters.
    pub parameters: Vec<f64>,
    /// What differs from run to run.
    pub varied: Vec<Varied>,
    /// Measured signals.
    pub tables: Arc<Tables>,
    /// How it runs.
    pub options: Options,
    /// The accounts of energy, where they are kept.
    pub accounts: Vec<Entry>,
    /// What was compiled.
    pub(super) program: Arc<SharedProgram>,
    /// The graph of which it was, at the values of its parameters.
    pub(super) graph: BondGraph,
    /// Whether the states of the equations are others than the model's, which then follow the outputs.
    pub(super) charted: bool,
    /// The symbols of `parameters`.
    pub(super) symbols: Vec<Symbol>,
}

/// What is compiled for all values of parameters at which the choice of states is the same.
pub(super) struct SharedProgram {
    pub compiled: Compiled,
    /// What reads its temperatures, if it has any.
    pub bounds: Option<Bounds>,
    /// What calculates all its variables, unless there are too many.
    pub observer: Option<Observer>,
    /// The equations of which it was compiled.
    pub equations: Equations,
    /// What the choice of states hangs on.
    pub assumptions: Assumptions,
    /// The initial states that are moved.
    pub shifts: Vec<Shift>,
}

/// A parameter, input or initial state that differs from run to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    /// Its name, and the unit that its values are read in.
    pub column: Column,
    /// Its place in the parameters of a run.
    pub place: usize,
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
    /// What the energies of storages are known by, one list each.
    pub stored: Vec<Vec<f64>>,
}

/// What is below its bound in a run.
#[derive(Default)]
struct BelowBounds {
    /// The largest value of each quantity so far.
    largest: Vec<f64>,
    notes: Vec<Note>,
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
    /// Whether the states that are integrated are others than the model's.
    pub fn is_charted(&self) -> bool {
        self.charted
    }

    /// The graph that is simulated.
    pub fn graph(&self) -> &BondGraph {
        &self.graph
    }

    /// Tells whether two simulations run one compiled program.
    pub fn shares_program_with(&self, other: &Simulation) -> bool {
        Arc::ptr_eq(&self.program, &other.program)
    }

    /// Runs with given parameters; `sink` gets every sample.
    pub fn run(
        &self,
        parameters: &[f64],
        token: &CancellationToken,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Outcome {
        let mut undefined: Vec<Option<Note>> = vec![None; self.outputs.len()];
        let mut below = BelowBounds::default();
        let mut gathered = Gathered::default();
        let mut outcome = simulate(
            &self.program.compiled,
            parameters,
            None,
            &self.tables,
            &self.options,
            token,
            &mut |sample| {
                token.advance(1);
                for (output, first) in undefined.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
                    *first = self.undefined(sample, output);
                }
                self.note_bounds(sample, parameters, &mut below);
                if let Some(observer) = &self.program.observer {
                    observer.observe(sample, parameters, &self.tables, &mut gathered);
                }
                if self.charted {
                    let own = self.states.len();
                    let (outputs, states) = sample.outputs.split_at(sample.outputs.len() - own);
                    let states = [states, &sample.states[own..]].concat();
                    return sink(&Sample { states: &states, outputs, ..*sample });
                }
                sink(sample);
            },
        );
        outcome.notes.extend(below.notes);
        outcome.witnesses = gathered.into_list();
        outcome.notes.extend(undefined.into_iter().flatten());
        outcome
    }

    /// Runs for the outputs and their sensitivities alone, with tables and times of its own: nothing is noted on
    /// the way. A search asks for thousands of such runs.
    pub fn trial(
        &self,
        parameters: &[f64],
        tables: &Tables,
        options: &Options,
        token: &CancellationToken,
        sink: &mut dyn FnMut(&Sample<'_>),
    ) -> Outcome {
        simulate(&self.program.compiled, parameters, None, tables, options, token, sink)
    }

    /// Notes the quantities of a sample that are below their bounds for the first time.
    fn note_bounds(&self, sample: &Sample<'_>, parameters: &[f64], below: &mut BelowBounds) {
        let Some(bounds) = &self.program.bounds else { return };
        let values = bounds.read(parameters, &self.tables, sample.t, sample.states);
        let share = NEGATIVE_AMOUNT * self.options.rtol;
        below.largest.resize(values.len(), 0.0);
        for (quantity, value) in values.into_iter().enumerate() {
            let largest = &mut below.largest[quantity];
            *largest = largest.max(value.abs());
            let known =
                |note: &Note| matches!(note, Note::BelowBound { quantity: other, .. } if *other == quantity);
            if bounds.quantities[quantity].forbids(value, *largest, share) && !below.notes.iter().any(known) {
                below.notes.push(Note::BelowBound { t: sample.t, quantity, value });
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
    pub fn respond(&self, parameters: &[f64], token: &CancellationToken) -> (Response, Outcome) {
        let mut response = self.nothing_yet();
        let outcome = self.run(parameters, token, &mut |sample| response.push(sample));
        (response, outcome)
    }

    /// How many numbers a response holds.
    pub fn numbers(&self) -> usize {
        let sample = 1 + self.program.compiled.states.len() + self.outputs.len() * (1 + self.wanted.len());
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
            stored: vec![Vec::new(); self.accounts.iter().map(Entry::columns).sum()],
        }
    }
}
