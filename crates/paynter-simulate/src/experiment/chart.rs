//! States that serve everywhere.
//!
//! Where causality divides by a modulus that passes through zero, the model's
//! own states lose their meaning there. Simulation then takes as a state
//! the flow or effort that would be computed by the division, and
//! calculates the states that the model has from it.

use super::initial::Initial;
use crate::start::{Known, known_at_start};
use paynter_algebra::{Cmp, Expr, Func, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Assignment, Equations, QueryError, derive};
use paynter_graph::{BondGraph, Causality, ElementId, Guard, Guards, Law, Variable, assign_causality};
use paynter_transform::{Weightless, divided, weightless};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What the choice of states has taken for granted about values of parameters.
#[derive(Debug, Default)]
pub(super) struct Assumptions {
    guards: Vec<Guards>,
    /// Whether something failed at these values, of which no guard tells.
    only_here: bool,
}

impl Assumptions {
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
    let freed = freed(pool, graph, causality, &mut assumptions);
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
    assumptions.guards.push(Guards::new(pool, &graph, signals));
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
        let modulus = assignment.element.map(|element| &graph.element(element).law);
        let Some(Law::Value(modulus)) = modulus else { continue };
        let modulus = pool.substitute(*modulus, &values);
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

/// A graph in which no two-port divides by what can vanish, with what was made a state for that.
fn freed(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    assumptions: &mut Assumptions,
) -> Option<(BondGraph, Causality, Vec<Weightless>)> {
    let dividing = |graph: &BondGraph, causality: &Causality| -> Vec<ElementId> {
        let two_port = |id: &&ElementId| graph.element(**id).class().is_converter();
        causality.divides.iter().filter(two_port).copied().collect()
    };
    let (mut graph, mut causality) = (graph.clone(), causality.clone());
    let mut divides = dividing(&graph, &causality);
    let mut taken = Vec::new();
    // Two-ports far from each other are freed together; where that fails, fewer at a time.
    let mut together = divides.len();
    while !divides.is_empty() {
        let some = &divides[..together.min(divides.len())];
        let better = [0, 1].into_iter().find_map(|choice| {
            let place =
                |id: &ElementId| divided(&graph, &causality, *id).get(choice).map(|place| (*id, *place));
            let places: Vec<_> = some.iter().map(place).collect::<Option<_>>()?;
            let (grown, pairs) = weightless(pool, &graph, &places);
            let (assigned, found) = assign_causality(pool, &grown);
            match &assigned {
                Some(causality) => assumptions.guards.push(causality.guards.clone()),
                None => assumptions.only_here = true,
            }
            let assigned = assigned.filter(|_| !found.has_errors())?;
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
    (!taken.is_empty()).then_some((graph, causality, taken))
}

/// The model's own states over other ones.
fn own_states(pool: &mut Pool, own: &Equations, found: &Equations) -> Option<Vec<Expr>> {
    let mut known: FxHashMap<Symbol, Expr> = found.dependent.iter().map(|d| (d.symbol, d.value)).collect();
    known.extend(found.states.iter().map(|state| (state.symbol, pool.var(state.symbol))));
    own.states.iter().map(|state| known.get(&state.symbol).copied()).collect()
}
