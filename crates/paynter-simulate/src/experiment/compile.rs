//! From a derived model and a question to a compiled simulation.

use super::bounds::Bounds;
use super::chart::{Assumptions, Chart, chart};
use super::energy::Entry;
use super::initial::Initial;
use super::simulation::{Column, SharedProgram, Simulation, Varied};
use super::variation::{Changes, Shift};
use super::witness::Observer;
use super::{Cost, SimulateOptions, energy, gradient, initial, question, refused};
use crate::data::Measured;
use crate::{Compiled, Source, Wanted};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, Output, QueryError};
use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, Causality, CopyOnWrite, Parameter, flat_name};
use std::sync::Arc;

/// What is simulated: a derived model with its tables and measured inputs.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The graph.
    pub graph: &'a BondGraph,
    /// Its causality.
    pub causality: &'a Causality,
    /// Its equations.
    pub equations: &'a Equations,
    /// Its tables and measured inputs.
    pub measured: &'a Measured,
}

impl Simulation {
    /// Compiles a model for simulation, with the integrals over time that some costs need as states of their own.
    pub fn compile(
        pool: &mut Pool,
        subject: &Subject<'_>,
        (options, costs): (&SimulateOptions, &[Cost]),
        findings: &mut Diagnostics,
        token: &CancellationToken,
    ) -> Result<Simulation, QueryError> {
        let measured = subject.measured;
        let mut numeric = question::check(options, measured.end).map_err(|found| refused(*found))?;
        if numeric.step.is_some() && !numeric.method.is_fixed() {
            findings.push(question::idle_step(&options.solver));
        }
        if !costs.is_empty() {
            // A cost is a value at the end; samples on the way would only be remembered in vain.
            numeric.times = vec![numeric.t_end];
        }
        let mut wanted = question::wanted(pool, subject.graph, subject.equations, &options.sensitivities)
            .map_err(|found| refused(*found))?;
        if costs.is_empty() {
            question::affordable(subject.equations, wanted.len()).map_err(|found| refused(*found))?;
        }
        let mut draft = Draft::new(pool, subject, token)?;
        let (accounts, charted) = draft.add_outputs(pool, options, costs)?;
        let (varied, shifts, moved) = draft.vary(pool, options, measured, &mut wanted)?;
        let Draft { graph, equations, outputs, names, mut assumptions, .. } = draft;
        let places: Vec<Wanted> = wanted.iter().map(|(_, wanted)| *wanted).collect();
        let source = Source {
            graph: &graph,
            equations: &equations,
            inputs: measured.inputs.clone(),
            outputs,
            wanted: &places,
        };
        let compiled = Compiled::new(pool, &source)
            .map_err(|error| refused(Diagnostic::new(code::CANNOT_SIMULATE, error.to_string())))?;
        assumptions.take(pool, &graph, compiled.guards.clone());
        let bounds = Bounds::new(pool, &source);
        let observer = Observer::new(pool, &source, &moved, &compiled);
        let directions = places.len() - options.directions.len();
        let wanted_columns = wanted_columns(&graph, &wanted, directions);
        let nominal = nominal_values(pool, &graph, &equations, &places, directions);
        Ok(Simulation {
            model: graph.name.clone(),
            states: names.iter().map(|name| plain(name)).collect(),
            outputs: output_columns(&graph, &equations),
            wanted: wanted.into_iter().map(|(name, _)| name).collect(),
            nominal,
            wanted_columns,
            parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
            symbols: graph.parameters.iter().map(|parameter| parameter.symbol).collect(),
            varied,
            tables: Arc::new(measured.tables.clone()),
            options: numeric,
            accounts,
            program: Arc::new(SharedProgram { compiled, bounds, observer, equations, assumptions, shifts }),
            graph,
            charted,
        })
    }

    /// The simulation at other values of the graph's own parameters, unless these change what was compiled. The
    /// program is shared; `pool` is that of its expressions.
    pub fn at(&self, pool: &Arc<Pool>, parameters: &CopyOnWrite<Vec<Parameter>>) -> Option<Simulation> {
        let mut graph = self.graph.clone();
        let own = parameters.len();
        let changes = |(new, old): &(&Parameter, &Parameter)| new.number.to_bits() != old.number.to_bits();
        let changed = parameters.iter().zip(self.graph.parameters.iter()).filter(changes);
        let changed: Vec<Symbol> = changed.map(|(_, old)| old.symbol).collect();
        if graph.parameters.len() == own {
            graph.parameters = parameters.clone();
        } else {
            graph.parameters[..own].clone_from_slice(parameters);
            self.program.shifts.iter().for_each(|shift| shift.settle(pool, &mut graph));
        }
        if !self.program.assumptions.hold(pool, &graph, &changed) {
            return None;
        }
        let (wanted, equations) = (&self.program.compiled.wanted, &self.program.equations);
        let directions = self.nominal.iter().take_while(|nominal| nominal.is_some()).count();
        let nominal = nominal_values(pool, &graph, equations, wanted, directions);
        let parameters = graph.parameters.iter().map(|parameter| parameter.number).collect();
        Some(Simulation { nominal, parameters, graph, ..self.clone() })
    }
}

/// What varies, initial states that are moved, and the parameters that directions move with their values.
type Variation = (Vec<Varied>, Vec<Shift>, Vec<(usize, Expr)>);

/// A model on its way to a compiled simulation.
pub(super) struct Draft {
    pub(super) graph: BondGraph,
    pub(super) equations: Equations,
    /// What the outputs are; those of the equations where left out.
    pub(super) outputs: Option<Vec<Expr>>,
    initials: Vec<Initial>,
    /// The names of the model's own states, and these over the states of the equations.
    names: Vec<String>,
    own: Vec<Expr>,
    /// Whether the states of the equations are others than the model's own.
    moved: bool,
    /// The number of elements that are the model's own.
    elements: usize,
    /// What the choice of states hangs on.
    assumptions: Assumptions,
}

impl Draft {
    /// Takes on a model, over states that serve everywhere.
    pub(super) fn new(
        pool: &mut Pool,
        subject: &Subject<'_>,
        token: &CancellationToken,
    ) -> Result<Draft, QueryError> {
        let mut equations = subject.equations.clone();
        let names: Vec<String> = equations.states.iter().map(|state| state.name.clone()).collect();
        let guards = equations.determine_initial_states(pool, subject.graph, &subject.measured.inputs);
        let initials = initial::open(pool, &mut equations);
        let (chart, mut assumptions) =
            chart(pool, (subject.graph, subject.causality), &equations, &initials, token)?;
        let own: Vec<Expr> = equations.states.iter().map(|state| pool.var(state.symbol)).collect();
        let (elements, moved) = (subject.graph.elements.len(), chart.is_some());
        let (graph, mut equations, own) = match chart {
            Some(Chart { graph, equations, own }) => (graph, equations, own),
            None => (subject.graph.clone(), equations, own),
        };
        assumptions.take(pool, &graph, guards);
        if equations.outputs.is_empty() {
            let output = |(name, value): (&String, &Expr)| Output { name: name.clone(), value: *value };
            equations.outputs = names.iter().zip(&own).map(output).collect();
        }
        Ok(Draft { graph, equations, outputs: None, initials, names, own, moved, elements, assumptions })
    }

    /// Adds accounts of energy, the model's own states where they are not those of the equations, and costs;
    /// returns the accounts, and whether own states are among the outputs.
    pub(super) fn add_outputs(
        &mut self,
        pool: &mut Pool,
        options: &SimulateOptions,
        costs: &[Cost],
    ) -> Result<(Vec<Entry>, bool), QueryError> {
        let mut accounts = Vec::new();
        if options.energy {
            (accounts, self.outputs) = energy::open(pool, &self.graph, &mut self.equations, self.elements);
        }
        // A gradient has no use for states on the way.
        let charted = self.moved && costs.is_empty();
        if charted || options.states {
            let plain = self.equations.outputs.iter().map(|output| output.value);
            self.outputs.get_or_insert_with(|| plain.collect()).extend(&self.own);
        }
        if !costs.is_empty() {
            let costs = gradient::integrate(pool, &self.graph, &mut self.equations, costs);
            self.outputs = Some(costs.map_err(|found| refused(*found))?);
        }
        Ok((accounts, charted))
    }

    /// Makes what differs from run to run, directions and moved initial values parameters of the graph.
    pub(super) fn vary(
        &mut self,
        pool: &mut Pool,
        options: &SimulateOptions,
        measured: &Measured,
        wanted: &mut Vec<(String, Wanted)>,
    ) -> Result<Variation, QueryError> {
        let Draft { graph, equations, outputs, initials, .. } = self;
        let mut changes = Changes::new(pool, graph, equations, outputs, initials);
        let varied = changes.vary(&options.varied, &measured.inputs).map_err(|found| refused(*found))?;
        let mut moved = Vec::new();
        for direction in &options.directions {
            wanted.push(changes.direct(direction, &mut moved).map_err(|found| refused(*found))?);
        }
        for (_, place) in wanted.iter_mut().filter(|_| self.moved) {
            if let Wanted::Initial(i) = *place {
                *place = changes.shift(i);
            }
        }
        let shifts = changes.into_shifts();
        initial::close(pool, &self.initials, &mut self.equations, &mut self.outputs);
        Ok((varied, shifts, moved))
    }
}

/// The nominal values of what outputs are differentiated by; those from `directions` on have none.
fn nominal_values(
    pool: &Pool,
    graph: &BondGraph,
    equations: &Equations,
    places: &[Wanted],
    directions: usize,
) -> Vec<Option<f64>> {
    let parameter = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let nominal = places.iter().enumerate().map(|(lane, wanted)| match *wanted {
        _ if lane >= directions => None,
        Wanted::Parameter(i) => Some(graph.parameters[i].number),
        Wanted::Initial(i) => Some(pool.eval(equations.states[i].initial, &parameter).unwrap_or(0.0)),
    });
    nominal.collect()
}

/// The units in which the parameters are declared; initial states are in SI, and directions have none.
fn wanted_columns(graph: &BondGraph, wanted: &[(String, Wanted)], directions: usize) -> Vec<Column> {
    let column = |(lane, (name, place)): (usize, &(String, Wanted))| match *place {
        Wanted::Parameter(i) if lane < directions => column(name, graph.parameters[i].unit.as_ref()),
        _ => plain(name),
    };
    wanted.iter().enumerate().map(column).collect()
}

/// A column in its unit.
fn column(name: &str, unit: Option<&Unit>) -> Column {
    Column {
        name: flat_name(name),
        unit: unit.map(|unit| unit.text.clone()),
        factor: unit.map_or(1.0, |unit| unit.factor),
    }
}

/// A column without a unit.
fn plain(name: &str) -> Column {
    column(name, None)
}

/// The columns of outputs, in their units.
fn output_columns(graph: &BondGraph, equations: &Equations) -> Vec<Column> {
    let columns = equations.outputs.iter().enumerate().map(|(place, output)| {
        let unit = graph.outputs.get(place).and_then(|output| output.unit.as_ref());
        column(&output.name, unit)
    });
    columns.collect()
}
