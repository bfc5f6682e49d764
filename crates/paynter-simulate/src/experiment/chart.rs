//! States that serve everywhere.
//!
//! Where causality divides by a modulus that passes through zero, the model's
//! own states lose their meaning there. Simulation then takes as a state
//! the flow or effort that would be computed by the division, and
//! calculates the states that the model has from it. The same where causality
//! avoids the division, so that all storages behind it are dependent, and one
//! of them has to be a state after all: its flow is divided by the modulus.

use super::initial::Initial;
use crate::start::{Known, known_at_start};
use paynter_algebra::{Cmp, Expr, Func, Node, Pool, Rational, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Assignment, Equations, QueryError, derive};
use paynter_graph::{BondGraph, Causality, ElementId, Guard, Guards, Law, Variable, assign_causality};
use paynter_transform::{Weightless, divided, weightless};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What the choice of states and the compiled equations have taken for granted about values of parameters.
#[derive(Debug, Default)]
pub(super) struct Assumptions {
    guards: Vec<Guards>,
    /// Whether something failed at these values, of which no guard tells.
    only_here: bool,
}

impl Assumptions {
    /// Takes more for granted.
    pub fn take(&mut self, pool: &Pool, graph: &BondGraph, guards: Vec<Guard>) {
        self.guards.push(Guards::new(pool, graph, guards));
    }

    /// Tells whether the choice is the same after some parameters have changed; `graph` has the new values.
    pub fn hold(&self, pool: &Arc<Pool>, graph: &BondGraph, changed: &[Symbol]) -> bool {
        !self.only_here && self.guards.iter().all(|guards| guards.hold(pool, graph, changed))
    }
}

/// Equations over other states than the model's own.
pub(super) struct Chart {
    pub graph: BondGraph,
    pub equations: Equations,
    /// The model's own states over the other ones.
    pub own: Vec<Expr>,
}

/// Finds states without a division by what can vanish, where the model's own have one; and what that hangs on.
pub(super) fn chart(
    pool: &mut Pool,
    (graph, causality): (&BondGraph, &Causality),
    equations: &Equations,
    initials: &[Initial],
    token: &CancellationToken,
) -> Result<(Option<Chart>, Assumptions), QueryError> {
    let mut assumptions = Assumptions::default();
    let freed = freed(pool, graph, causality, equations.states.len(), &mut assumptions);
    let Some((mut graph, causality, taken)) = freed else { return Ok((None, assumptions)) };
    let mut found = match derive(pool, &mut graph, &causality, token) {
        Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        Err(QueryError::Wrong(_)) => {
            assumptions.only_here = true;
            return Ok((None, assumptions));
        }
        Ok(found) => found,
    };
    assumptions.guards.push(Guards::clone(&found.guards));
    if found.states.len() != equations.states.len() {
        return Ok((None, assumptions));
    }
    found.make_readable(None, pool, token);
    let Some(own) = own_states(pool, equations, &found) else { return Ok((None, assumptions)) };
    let symbols = equations.states.iter().map(|state| state.symbol);
    let places: FxHashMap<Symbol, Expr> =
        symbols.zip(initials.iter().map(|initial| pool.var(initial.symbol))).collect();
    for kept in &mut found.states {
        kept.initial = places.get(&kept.symbol).copied().unwrap_or(kept.initial);
    }
    for follows in &mut found.dependent {
        let place = places.get(&follows.symbol);
        follows.initial = follows.initial.map(|given| place.copied().unwrap_or(given));
    }
    let signals = initialise(pool, &graph, equations, initials, &mut found, &taken);
    assumptions.take(pool, &graph, signals);
    // Where it cannot begin, the model's own states serve.
    let values: FxHashMap<Symbol, Expr> =
        initials.iter().map(|initial| (initial.symbol, initial.value)).collect();
    let begins = |pool: &mut Pool, e: Expr| {
        let e = pool.substitute(e, &values);
        pool.eval(e, &|symbol| graph.number(symbol).or(Some(0.0))).is_ok_and(f64::is_finite)
    };
    if !found.states.iter().all(|state| begins(pool, state.initial)) {
        assumptions.only_here = true;
        return Ok((None, assumptions));
    }
    Ok((Some(Chart { graph, equations: found, own }), assumptions))
}

/// Names the states that were made, and gives them the initial values that the model's own states imply, as
/// long as they do; returns what that hangs on.
fn initialise(
    pool: &mut Pool,
    graph: &BondGraph,
    own: &Equations,
    initials: &[Initial],
    found: &mut Equations,
    taken: &[Weightless],
) -> Vec<Guard> {
    let Known { values: start, guards, .. } = known_at_start(pool, graph, own);
    let values: FxHashMap<Symbol, Expr> = own.assignments.iter().map(|a| (a.symbol, a.value)).collect();
    let assignments: FxHashMap<Variable, &Assignment> =
        own.assignments.iter().map(|a| (a.variable, a)).collect();
    let shifts: FxHashMap<Symbol, Symbol> =
        initials.iter().map(|initial| (initial.symbol, initial.shift)).collect();
    let parameters: FxHashSet<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
    let known = |symbol: &Symbol| parameters.contains(symbol) || shifts.contains_key(symbol);
    let made: FxHashMap<Variable, &Weightless> =
        taken.iter().map(|pair| (Variable::State(pair.storage, 0), pair)).collect();
    for state in &mut found.states {
        let Some(pair) = made.get(&state.variable) else { continue };
        let (variable, letter) = match pair.flow {
            true => (Variable::Flow(pair.bond), 'f'),
            false => (Variable::Effort(pair.bond), 'e'),
        };
        state.name = graph.bond_variable_name(pair.bond, letter);
        let Some(assignment) = assignments.get(&variable) else { continue };
        let modulus = assignment.element.map(|element| graph.element(element));
        let modulus = match modulus.filter(|element| element.class().is_converter()).map(|e| &e.law) {
            Some(Law::Value(modulus)) => pool.substitute(*modulus, &values),
            // What a storage in derivative causality gives is divided by all that stands on the way.
            _ => divisor(pool, assignment.value),
        };
        let [value, modulus] = [assignment.value, modulus].map(|e| pool.substitute(e, &start));
        if pool.symbols(value).iter().chain(&pool.symbols(modulus)).all(known) {
            // Where the modulus is zero nothing tells, and what an own state is moved by has no derivative there.
            let mut otherwise = state.initial;
            let divided = pool.mul(value, modulus);
            for shift in pool.symbols(divided).iter().filter_map(|symbol| shifts.get(symbol)) {
                let shift = pool.var(*shift);
                let size = pool.call(Func::Abs, &[shift]);
                let root = pool.sqrt(size);
                otherwise = pool.add(otherwise, root);
            }
            let zero = pool.zero();
            let differs = pool.compare(Cmp::Ne, modulus, zero);
            state.initial = pool.select(differs, value, otherwise);
        }
    }
    guards
}

/// The product of all that an expression divides by.
fn divisor(pool: &mut Pool, e: Expr) -> Expr {
    let negative =
        |pool: &Pool, exponent: Expr| pool.as_rational(exponent).is_some_and(|r| *r < Rational::ZERO);
    let bases = pool.reachable(&[e]).into_iter().filter_map(|node| match pool.node(node) {
        Node::Power(base, exponent) if negative(pool, exponent) => Some(base),
        _ => None,
    });
    let bases: Vec<Expr> = bases.collect();
    pool.product(&bases)
}

/// A graph with causality, and what was made a state in it.
type Freed = (BondGraph, Causality, Vec<Weightless>);

/// A graph in which no two-port divides by what can vanish, with what was made a state for that; the model has so
/// many states.
fn freed(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    states: usize,
    assumptions: &mut Assumptions,
) -> Option<Freed> {
    let (mut graph, mut causality) = (graph.clone(), causality.clone());
    let mut divides = dividing(&graph, &causality);
    let mut taken = Vec::new();
    // Two-ports far from each other are freed together; where that fails, fewer at a time.
    let mut together = divides.len();
    while !divides.is_empty() {
        let some = &divides[..together.min(divides.len())];
        let better = [0, 1].into_iter().find_map(|choice| {
            let (grown, pairs, assigned) = grow(pool, &graph, some, choice, assumptions)?;
            let left = dividing(&grown, &assigned);
            (left.len() + some.len() <= divides.len()).then_some((grown, pairs, assigned, left))
        });
        match better {
            Some((grown, pairs, assigned, left)) => {
                (graph, causality, divides) = (grown, assigned, left);
                taken.extend(pairs);
            }
            None if together == 1 => return None,
            None => together /= 2,
        }
    }
    while let Some(better) = less_hidden(pool, &graph, &causality, states, assumptions) {
        let pairs;
        (graph, causality, pairs) = better;
        taken.extend(pairs);
    }
    (!taken.is_empty()).then_some((graph, causality, taken))
}

/// The two-ports that divide by what can vanish.
fn dividing(graph: &BondGraph, causality: &Causality) -> Vec<ElementId> {
    let two_port = |id: &&ElementId| graph.element(**id).class().is_converter();
    causality.divides.iter().filter(two_port).copied().collect()
}

/// How many of a model's states are those of storages in derivative causality.
fn hidden(graph: &BondGraph, causality: &Causality, states: usize) -> usize {
    let integral = causality.storages.iter().filter(|storage| storage.integral).count();
    states.saturating_sub(integral + graph.integrators.len())
}

/// A graph with fewer such states: one of the flows or efforts that force storages into derivative causality through
/// a two-port becomes a state.
fn less_hidden(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    states: usize,
    assumptions: &mut Assumptions,
) -> Option<Freed> {
    let before = hidden(graph, causality, states);
    if before == 0 {
        return None;
    }
    let paths = causality.storages.iter().filter(|storage| !storage.integral);
    let mut forcing: Vec<ElementId> = paths.flat_map(|storage| storage.forced_by.iter().copied()).collect();
    forcing.retain(|id| graph.element(*id).class().is_converter());
    forcing.sort_unstable();
    forcing.dedup();
    // What the first port is given at all of them, before what the second one is.
    let mut choices = [0, 1].into_iter().flat_map(|choice| forcing.iter().map(move |id| (*id, choice)));
    choices.find_map(|(id, choice)| {
        let (grown, pairs, assigned) = grow(pool, graph, &[id], choice, assumptions)?;
        let better = dividing(&grown, &assigned).is_empty() && hidden(&grown, &assigned, states) < before;
        better.then_some((grown, assigned, pairs))
    })
}

/// The graph in which what some two-ports divide, or are given, is a state, with its causality.
fn grow(
    pool: &mut Pool,
    graph: &BondGraph,
    two_ports: &[ElementId],
    choice: usize,
    assumptions: &mut Assumptions,
) -> Option<(BondGraph, Vec<Weightless>, Causality)> {
    let place = |id: &ElementId| divided(graph, *id).get(choice).map(|place| (*id, *place));
    let places: Vec<_> = two_ports.iter().map(place).collect::<Option<_>>()?;
    let (grown, pairs) = weightless(pool, graph, &places);
    let (assigned, found) = assign_causality(pool, &grown);
    match &assigned {
        Some(causality) => assumptions.guards.push(causality.guards.clone()),
        None => assumptions.only_here = true,
    }
    let assigned = assigned.filter(|_| !found.has_errors())?;
    Some((grown, pairs, assigned))
}

/// The model's own states over other ones.
fn own_states(pool: &mut Pool, own: &Equations, found: &Equations) -> Option<Vec<Expr>> {
    let mut known: FxHashMap<Symbol, Expr> = found.dependent.iter().map(|d| (d.symbol, d.value)).collect();
    known.extend(found.states.iter().map(|state| (state.symbol, pool.var(state.symbol))));
    own.states.iter().map(|state| known.get(&state.symbol).copied()).collect()
}
