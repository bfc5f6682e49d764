//! States that serve everywhere.
//!
//! Where causality divides by a modulus that passes through zero, the model's
//! own states lose their meaning there. Simulation then takes as a state
//! the flow or effort that would be computed by the division, and
//! calculates the states that the model has from it.

use super::question::{Named, named};
use super::{Sensitivities, SimulateOptions};
use crate::{Model, NoAnswer};
use paynter_algebra::{Cmp, Expr, Pool, Symbol};
use paynter_base::Ticket;
use paynter_equations::{Equations, Failure, derive};
use paynter_graph::{BondGraph, Causality, ElementId, Kind, Law, Variable, assign_causality};
use paynter_numerics::simulate::Wanted;
use paynter_transform::{Weightless, weightless};
use rustc_hash::FxHashMap;

/// Equations over other states than the model's own.
pub(super) struct Chart {
    pub graph: BondGraph,
    pub equations: Equations,
    /// The model's own states over the other ones.
    pub own: Vec<Expr>,
}

impl Chart {
    /// Finds the initial states that are wanted among the other states.
    pub fn rename(&self, wanted: &mut [(String, Wanted)]) {
        for (name, place) in wanted {
            if let Some(Named::Initial(i)) = named(&self.graph, &self.equations, name) {
                *place = Wanted::Initial(i);
            }
        }
    }
}

impl Model {
    /// Finds states without a division by what can vanish, where the model's own have one and are not
    /// asked for themselves.
    pub(super) fn chart(
        &mut self,
        equations: &Equations,
        options: &SimulateOptions,
        ticket: &Ticket,
    ) -> Result<Option<Chart>, NoAnswer> {
        let (Some(graph), Some(causality)) = (&self.graph, &self.causality) else { return Ok(None) };
        let Some((mut graph, causality, taken)) = freed(&mut self.pool, graph, causality) else {
            return Ok(None);
        };
        let mut found = match derive(&mut self.pool, &mut graph, &causality, ticket) {
            Ok(found) if found.states.len() == equations.states.len() => found,
            Err(Failure::Cancelled) => return Err(NoAnswer::Cancelled),
            _ => return Ok(None),
        };
        found.make_readable(&mut self.pool, ticket);
        let Some(own) = own_states(&mut self.pool, equations, &found) else { return Ok(None) };
        for place in &taken {
            self.begin(&graph, equations, &mut found, place);
        }
        let missing = |name: &String| {
            matches!(named(&graph, equations, name), Some(Named::Initial(_)))
                && !matches!(named(&graph, &found, name), Some(Named::Initial(_)))
        };
        let of_directions = options.directions.iter().flat_map(|d| d.weights.iter().map(|(name, _)| name));
        let asked: &[String] = match &options.sensitivities {
            Sensitivities::Names(names) => names,
            _ => &[],
        };
        if asked
            .iter()
            .chain(&options.varied)
            .chain(of_directions)
            .any(|name| name == "init" || missing(name))
        {
            return Ok(None);
        }
        Ok(Some(Chart { graph, equations: found, own }))
    }

    /// Begins a state where the model's own states say, as long as they do, and names it.
    fn begin(&mut self, graph: &BondGraph, own: &Equations, found: &mut Equations, place: &Weightless) {
        let pool = &mut self.pool;
        let variable = if place.flow { Variable::Flow(place.bond) } else { Variable::Effort(place.bond) };
        let letter = if place.flow { 'f' } else { 'e' };
        let is_new = |variable: Variable| variable == Variable::State(place.storage, 0);
        let Some(state) = found.states.iter_mut().find(|state| is_new(state.variable)) else { return };
        state.name = graph.bond_variable_name(place.bond, letter);
        let Some(assignment) = own.assignments.iter().find(|a| a.variable == variable) else { return };
        let modulus = assignment.element.map(|element| &graph.element(element).law);
        let Some(Law::Value(modulus)) = modulus else { return };
        let values: FxHashMap<Symbol, Expr> = own.assignments.iter().map(|a| (a.symbol, a.value)).collect();
        let modulus = pool.substitute(*modulus, &values);
        let [value, modulus] = at_start(pool, graph, own, [assignment.value, modulus]);
        let known = |symbol: &Symbol| graph.parameters.iter().any(|p| p.symbol == *symbol);
        if pool.symbols(value).iter().chain(&pool.symbols(modulus)).all(known) {
            let zero = pool.zero();
            let differs = pool.compare(Cmp::Ne, modulus, zero);
            state.initial = pool.select(differs, value, state.initial);
        }
    }
}

/// A graph in which no two-port divides by what can vanish, with what was made a state for that.
fn freed(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
) -> Option<(BondGraph, Causality, Vec<Weightless>)> {
    let dividing = |graph: &BondGraph, causality: &Causality| -> Vec<ElementId> {
        let two_port = |id: &&ElementId| matches!(graph.element(**id).kind, Kind::Tf | Kind::Gy);
        causality.divides.iter().filter(two_port).copied().collect()
    };
    let mut divides = dividing(graph, causality);
    let (mut graph, mut causality) = (graph.clone(), causality.clone());
    let mut taken = Vec::new();
    while let Some(id) = divides.first() {
        let better = weightless(pool, &graph, &causality, *id).into_iter().find_map(|place| {
            let (assigned, found) = assign_causality(pool, &place.graph);
            let assigned = assigned.filter(|_| !found.has_errors())?;
            let left = dividing(&place.graph, &assigned);
            (left.len() < divides.len()).then_some((place, assigned, left))
        });
        let (place, assigned, left) = better?;
        (graph, causality, divides) = (place.graph.clone(), assigned, left);
        taken.push(place);
    }
    (!taken.is_empty()).then_some((graph, causality, taken))
}

/// The model's own states over other ones.
fn own_states(pool: &mut Pool, own: &Equations, found: &Equations) -> Option<Vec<Expr>> {
    let value = |state: Symbol| {
        let kept = found.states.iter().any(|other| other.symbol == state);
        let dependent = || found.dependent.iter().find(|other| other.symbol == state).map(|d| d.value);
        if kept { Some(pool.var(state)) } else { dependent() }
    };
    own.states.iter().map(|state| state.symbol).map(value).collect()
}

/// Expressions at time zero, over parameters.
fn at_start<const N: usize>(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    list: [Expr; N],
) -> [Expr; N] {
    let zero = pool.zero();
    let mut start: FxHashMap<Symbol, Expr> =
        graph.variables.symbol(Variable::Time).into_iter().map(|time| (time, zero)).collect();
    let inputs: Vec<(Symbol, Expr)> = graph.inputs.iter().map(|input| (input.symbol, input.value)).collect();
    for (symbol, value) in inputs {
        let value = pool.substitute(value, &start);
        start.insert(symbol, value);
    }
    start.extend(equations.states.iter().map(|state| (state.symbol, state.initial)));
    list.map(|e| pool.substitute(e, &start))
}
