//! From definitions to equations: values in order of computation, loops solved,
//! dependent storages eliminated.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, QueryError, code};
use paynter_graph::{BondGraph, Causality, ElementId, Guards, Ranges, Stored, Variable, flat_name};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

use crate::sort::{Definitions, definitions};
use crate::{
    Assignment, Constraint, Equations, Input, LinearLoop, Output, Reduction, State, dependent, initial, tear,
};

/// Derives the equations of a causal bond graph.
pub fn derive(
    pool: &mut Pool,
    graph: &mut BondGraph,
    causality: &Causality,
    token: &CancellationToken,
) -> Result<Equations, QueryError> {
    derive_with(pool, graph, causality, &Readings::new(), token)
}

/// How a law is read, where not simply as causality asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Over its own variable: a loop through it is cut just before it and kept implicit, so that the
    /// law is not mixed up with what it is given.
    Apart,
    /// The other way round, so that what causality wants is an implicit unknown: where a law is
    /// of an infinite derivative in one direction, it has one of zero in the other.
    Turned,
}

/// Elements whose laws are read in a way of their own.
pub type Readings = BTreeMap<ElementId, Reading>;

/// Derives the equations with the laws of some elements read in a way of their own.
pub fn derive_with(
    pool: &mut Pool,
    graph: &mut BondGraph,
    causality: &Causality,
    readings: &Readings,
    token: &CancellationToken,
) -> Result<Equations, QueryError> {
    let ranges = Ranges::new(graph);
    let definitions = definitions(pool, graph, causality, &ranges, readings);
    let mut work = Work {
        values: FxHashMap::default(),
        constraints: Vec::new(),
        assignments: Vec::with_capacity(definitions.nodes.len()),
        derivatives: FxHashMap::default(),
        states: states(pool, graph, causality),
        loops: Vec::new(),
    };
    for (variable, symbol, residual, element) in &definitions.implicit {
        let name = implicit_name(pool, graph, *variable, *symbol);
        work.constraints.push(Constraint {
            name,
            unknown: *symbol,
            residual: *residual,
            elements: vec![*element],
            is_rate: false,
        });
    }
    work.compute(pool, graph, &definitions, (&ranges, readings), token)?;
    work.finish_constraints(pool);
    let mut rates = work.rates(pool, graph);
    let mut outputs: Vec<Output> = graph
        .outputs
        .iter()
        .map(|output| Output {
            name: flat_name(&output.name),
            value: pool.substitute(output.value, &work.values),
        })
        .collect();
    let reduction = work.reduction(&definitions, &rates, &outputs);
    let dependents =
        dependent::eliminate(pool, graph, &definitions, &ranges, &mut work, &mut rates, &mut outputs, token)?;
    initial::determine(pool, graph, &ranges, &mut work.states, &dependents);
    let inputs = inputs(graph, &work);
    let guards = Guards::new(pool, graph, ranges.guards()).into();
    Ok(Equations {
        states: work.states,
        rates,
        constraints: work.constraints,
        inputs,
        outputs,
        dependent: dependents,
        assignments: work.assignments,
        reduction,
        loops: work.loops,
        guards,
    })
}

/// What is known while equations are derived.
pub(crate) struct Work {
    /// Values of computed symbols over states, inputs, implicit unknowns and rates of dependent states.
    pub values: FxHashMap<Symbol, Expr>,
    pub constraints: Vec<Constraint>,
    pub assignments: Vec<Assignment>,
    /// Symbols u', u'' … of inputs.
    pub derivatives: FxHashMap<Symbol, Vec<Symbol>>,
    pub states: Vec<State>,
    /// Linear systems of loops with a pivot that may vanish.
    pub loops: Vec<LinearLoop>,
}

/// The independent states: storages in integral causality, then integrators.
fn states(pool: &mut Pool, graph: &mut BondGraph, causality: &Causality) -> Vec<State> {
    let mut states = Vec::new();
    for storage in causality.storages.iter().filter(|storage| storage.integral) {
        let variable = Variable::State(storage.element, storage.port as u32);
        let symbol = graph.symbol(pool, variable);
        let given = graph.element(storage.element).initial.iter().find(|(port, _, _)| *port == storage.port);
        let initial = given.map_or(pool.zero(), |(_, value, _)| *value);
        states.push(State { name: pool.name(symbol).to_owned(), symbol, variable, initial });
    }
    for (k, integrator) in graph.integrators.iter().enumerate() {
        states.push(State {
            name: flat_name(&integrator.name),
            symbol: integrator.symbol,
            variable: Variable::Integrator(k as u32),
            initial: integrator.initial,
        });
    }
    states
}

fn implicit_name(pool: &Pool, graph: &BondGraph, variable: Variable, symbol: Symbol) -> String {
    match variable {
        Variable::Effort(bond) => graph.bond_variable_name(bond, 'e'),
        Variable::Flow(bond) => graph.bond_variable_name(bond, 'f'),
        _ => pool.name(symbol).to_owned(),
    }
}

fn inputs(graph: &BondGraph, work: &Work) -> Vec<Input> {
    graph
        .inputs
        .iter()
        .map(|input| {
            let mut symbols = vec![input.symbol];
            symbols.extend(work.derivatives.get(&input.symbol).into_iter().flatten());
            Input { name: flat_name(&input.name), symbols, value: input.value }
        })
        .collect()
}

impl Work {
    /// Computes every value in order; loops are solved where they stand.
    fn compute(
        &mut self,
        pool: &mut Pool,
        graph: &BondGraph,
        definitions: &Definitions,
        (ranges, readings): (&Ranges, &Readings),
        token: &CancellationToken,
    ) -> Result<(), QueryError> {
        let (groups, reads) = definitions.order(pool);
        for group in &groups {
            token.check()?;
            let cyclic = match group[..] {
                [one] => reads[one as usize].contains(&one),
                _ => true,
            };
            if cyclic {
                tear::solve(pool, graph, definitions, &reads, group, (ranges, readings), self)?;
            }
            for &v in group {
                let node = &definitions.nodes[v as usize];
                let value = match self.values.get(&node.symbol) {
                    Some(value) => *value,
                    None => {
                        let value = pool.substitute(node.definition, &self.values);
                        self.values.insert(node.symbol, value);
                        value
                    }
                };
                self.assignments.push(Assignment {
                    variable: node.variable,
                    symbol: node.symbol,
                    element: node.element,
                    definition: node.definition,
                    value,
                });
            }
        }
        Ok(())
    }

    /// What is known before the rates of dependent storages are eliminated.
    fn reduction(&self, definitions: &Definitions, rates: &[Expr], outputs: &[Output]) -> Option<Reduction> {
        let value = |state: &Symbol| self.values.get(state).copied();
        let dependent: Option<Vec<(Symbol, Expr)>> =
            definitions.rates.iter().map(|rate| Some((rate.rate, value(&rate.state)?))).collect();
        let dependent = dependent.filter(|list| !list.is_empty())?;
        let outputs = outputs.iter().map(|output| output.value).collect();
        Some(Reduction { rates: rates.to_vec(), outputs, dependent })
    }

    /// Residuals of implicit laws read other quantities, which are known by now.
    fn finish_constraints(&mut self, pool: &mut Pool) {
        let residuals: Vec<Expr> = self.constraints.iter().map(|c| c.residual).collect();
        let residuals = pool.substitute_all(&residuals, &self.values);
        for (constraint, residual) in self.constraints.iter_mut().zip(residuals) {
            constraint.residual = residual;
        }
    }

    /// The rate of each state: the flow into a C, the effort on an I, what an integrator integrates.
    fn rates(&self, pool: &mut Pool, graph: &BondGraph) -> Vec<Expr> {
        self.states
            .iter()
            .map(|state| match state.variable {
                Variable::State(element, port) => self.power_variable(pool, graph, element, port as usize),
                Variable::Integrator(k) => pool.substitute(graph.integrators[k as usize].rate, &self.values),
                _ => pool.zero(),
            })
            .collect()
    }

    /// What fills a storage's port: its flow if it is a C, its effort if it is an I.
    pub fn power_variable(&self, pool: &mut Pool, graph: &BondGraph, id: ElementId, port: usize) -> Expr {
        let element = graph.element(id);
        let place = element.ports[port];
        let stored = element.stored().unwrap_or(Stored::Momentum);
        let variable = stored.rate().of(place.bond);
        let value = match graph.variables.symbol(variable) {
            // What has no value is an implicit unknown and stands for itself.
            Some(symbol) => self.values.get(&symbol).copied().unwrap_or_else(|| pool.var(symbol)),
            None => pool.zero(),
        };
        if stored == Stored::Displacement && !place.into { pool.neg(value) } else { value }
    }

    /// The symbol of an input's next derivative: u → u', u' → u''.
    pub fn derivative_of(&mut self, pool: &mut Pool, graph: &BondGraph, symbol: Symbol) -> Option<Symbol> {
        let (input, order) = if graph.inputs.iter().any(|input| input.symbol == symbol) {
            (symbol, 0)
        } else {
            let found = graph.inputs.iter().find_map(|input| {
                let list = self.derivatives.get(&input.symbol)?;
                Some((input.symbol, list.iter().position(|s| *s == symbol)? + 1))
            });
            found?
        };
        let name = format!("der({})", pool.name(symbol));
        let list = self.derivatives.entry(input).or_default();
        if list.len() <= order {
            list.push(pool.symbol(&name));
        }
        Some(list[order])
    }
}

/// Says that a group of equations is singular, with the elements that make it.
pub(crate) fn singular(
    graph: &BondGraph,
    elements: impl IntoIterator<Item = ElementId>,
    what: &str,
) -> QueryError {
    let mut seen: FxHashSet<ElementId> = FxHashSet::default();
    let list: Vec<ElementId> = elements.into_iter().filter(|id| seen.insert(*id)).collect();
    let names: Vec<String> = list.iter().take(8).map(|id| format!("`{}`", graph.element(*id).name)).collect();
    let mut diagnostic =
        Diagnostic::new(code::SINGULAR_STRUCTURE, format!("{what} of {} cannot be solved", names.join(", ")));
    if let Some(id) = list.first() {
        diagnostic = diagnostic.at(graph.element(*id).span);
    }
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}
