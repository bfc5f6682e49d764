//! The rows of the system: every effort, flow and signal as its own element computes it, fields as their laws
//! stand, and where storages are dependent the derivatives of what determines them.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::{Equations, law_residuals};
use paynter_graph::{BondGraph, Causality, Class, ElementId, Stored, Variable};
use paynter_transform::Place;
use rustc_hash::FxHashMap;

/// One linear equation.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What it gives, or nothing where it only has to be zero.
    pub unknown: Option<Symbol>,
    /// Its value, or what is zero.
    pub value: Expr,
    /// The element whose law it is.
    pub element: Option<ElementId>,
    /// Where it stands in the graph.
    pub place: Option<Place>,
    /// Whether it is the derivative of a law.
    pub differentiated: bool,
}

/// Why there are no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsuitable {
    /// Not linear in variables, or with coefficients that depend on time.
    Nonlinear,
    /// The rates of dependent storages follow the derivative of an input.
    Improper,
    /// The rates of dependent storages are differentiated themselves.
    HigherIndex,
}

/// The rows with what they are about.
pub(crate) struct Rows {
    pub rows: Vec<Row>,
    /// The rates of the states.
    pub rates: Vec<Symbol>,
    /// The outputs.
    pub outputs: Vec<Symbol>,
    /// The states.
    pub states: Vec<Symbol>,
    /// The inputs.
    pub inputs: Vec<Symbol>,
}

/// Writes down the rows of a linear model.
pub(crate) fn rows(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    equations: &Equations,
) -> Result<Rows, Unsuitable> {
    if !equations.constraints.is_empty() {
        return Err(Unsuitable::Nonlinear);
    }
    let states: Vec<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
    let inputs: Vec<Symbol> =
        equations.inputs.iter().filter_map(|input| input.symbols.first().copied()).collect();
    let mut writer = Writer {
        rates: states.iter().map(|state| named(pool, "rate", *state)).collect(),
        known: states.iter().enumerate().map(|(k, state)| (*state, k)).collect(),
        states,
        inputs,
        dependent: BTreeMap::new(),
        open: BTreeSet::new(),
        constants: BTreeSet::new(),
        rows: Vec::new(),
        place: FxHashMap::default(),
        derivatives: BTreeMap::new(),
        waiting: Vec::new(),
        improper: false,
        pool,
        graph,
    };
    writer.constants.extend(graph.parameters.iter().map(|parameter| parameter.symbol));
    writer.find_dependent(causality);
    writer.laws(equations);
    let (rates, outputs) = writer.ends(equations);
    writer.differentiate()?;
    let Writer { rows, states, inputs, improper, .. } = writer;
    if improper {
        return Err(Unsuitable::Improper);
    }
    Ok(Rows { rows, rates, outputs, states, inputs })
}

fn named(pool: &mut Pool, what: &str, of: Symbol) -> Symbol {
    let name = format!("{what}({})", pool.name(of));
    pool.fresh(&name)
}

struct Writer<'a> {
    pool: &'a mut Pool,
    graph: &'a BondGraph,
    states: Vec<Symbol>,
    inputs: Vec<Symbol>,
    /// By symbol of a state: its place.
    known: FxHashMap<Symbol, usize>,
    /// By state.
    rates: Vec<Symbol>,
    /// The states of dependent storages with the symbols of their rates.
    dependent: BTreeMap<Symbol, Symbol>,
    /// The symbols of rates of all storages in derivative causality.
    open: BTreeSet<Symbol>,
    constants: BTreeSet<Symbol>,
    rows: Vec<Row>,
    /// By unknown: the row that gives it, or the first of the rows of the field that does.
    place: FxHashMap<Symbol, usize>,
    /// By variable: its derivative.
    derivatives: BTreeMap<Symbol, Symbol>,
    /// Rows to be differentiated.
    waiting: Vec<usize>,
    /// Whether the derivative of an input is asked for.
    improper: bool,
}

impl Writer<'_> {
    fn find_dependent(&mut self, causality: &Causality) {
        for storage in causality.storages.iter().filter(|storage| !storage.integral) {
            let variable = Variable::State(storage.element, storage.port as u32);
            let Some(state) = self.graph.variables.symbol(variable) else { continue };
            let name = format!("der({})", self.pool.name(state));
            let rate = self.pool.symbol(&name);
            self.open.insert(rate);
            if !self.known.contains_key(&state) {
                self.dependent.insert(state, rate);
            }
        }
    }

    /// The law of every element and signal.
    fn laws(&mut self, equations: &Equations) {
        let mut fields: BTreeSet<ElementId> = BTreeSet::new();
        for assignment in &equations.assignments {
            if let Some(id) = assignment.element.filter(|id| self.is_field(*id))
                && !self.is_rate(assignment.definition)
            {
                fields.insert(id);
                continue;
            }
            let known = self.known.contains_key(&assignment.symbol);
            let (unknown, value) = match known {
                true => {
                    let state = self.pool.var(assignment.symbol);
                    (None, self.pool.sub(assignment.definition, state))
                }
                false => (Some(assignment.symbol), assignment.definition),
            };
            let place = match assignment.variable {
                Variable::Effort(bond) => Some(Place::Effort(bond)),
                Variable::Flow(bond) => Some(Place::Flow(bond)),
                Variable::Signal(k) => Some(Place::Signal(k as usize)),
                _ => None,
            };
            let row = Row { unknown, value, element: assignment.element, place, differentiated: false };
            if !known {
                self.place.insert(assignment.symbol, self.rows.len());
            }
            self.rows.push(row);
        }
        for id in fields {
            self.field(id, equations);
        }
    }

    /// A field with several ports: its law is not solved for what it gives out.
    fn is_field(&self, id: ElementId) -> bool {
        let element = self.graph.element(id);
        matches!(element.class(), Class::Resistor | Class::Storage(_)) && element.ports.len() > 1
    }

    /// Whether a definition is nothing but the rate of a dependent state.
    fn is_rate(&self, definition: Expr) -> bool {
        let symbols = self.pool.symbols(definition);
        symbols.len() == 1 && self.open.contains(&symbols[0])
    }

    /// The law of a field over the variables of its bonds, each row zero.
    fn field(&mut self, id: ElementId, equations: &Equations) {
        let graph = self.graph;
        let element = graph.element(id);
        let n = element.ports.len();
        let mut map: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for (port, place) in element.ports.iter().enumerate() {
            let locals = graph.locals.port(n, port);
            let [e, f, ..] = locals;
            for (local, variable) in [(e, Variable::Effort(place.bond)), (f, Variable::Flow(place.bond))] {
                let Some(symbol) = graph.variables.symbol(variable) else { continue };
                let mut value = self.pool.var(symbol);
                if local == f && !place.into {
                    value = self.pool.neg(value);
                }
                map.insert(local, value);
            }
            let state = graph.variables.symbol(Variable::State(id, port as u32));
            if let (Some(stored), Some(state)) = (element.stored(), state) {
                let value = self.pool.var(state);
                map.insert(stored.state(locals), value);
            }
        }
        let residuals = law_residuals(self.pool, graph, element);
        let first = self.rows.len();
        for (k, residual) in residuals.into_iter().enumerate() {
            let value = self.pool.substitute(residual, &map);
            let place = Some(Place::Law(id, k));
            self.rows.push(Row { unknown: None, value, element: Some(id), place, differentiated: false });
        }
        for assignment in equations.assignments.iter().filter(|assignment| assignment.element == Some(id)) {
            if !self.is_rate(assignment.definition) && !self.known.contains_key(&assignment.symbol) {
                self.place.insert(assignment.symbol, first);
            }
        }
    }

    /// The rates of states and the outputs.
    fn ends(&mut self, equations: &Equations) -> (Vec<Symbol>, Vec<Symbol>) {
        for (k, state) in equations.states.iter().enumerate() {
            let value = match state.variable {
                Variable::Integrator(place) => self.graph.integrators[place as usize].rate,
                Variable::State(id, port) => self.filling(id, port as usize),
                _ => self.pool.zero(),
            };
            let place = match state.variable {
                Variable::Integrator(place) => Some(Place::Rate(place as usize)),
                _ => None,
            };
            self.give(self.rates[k], value, place);
        }
        let mut outputs = Vec::new();
        for (k, output) in self.graph.outputs.iter().enumerate() {
            let symbol = self.pool.fresh(&format!("output({})", output.name));
            self.give(symbol, output.value, Some(Place::Output(k)));
            outputs.push(symbol);
        }
        (self.rates.clone(), outputs)
    }

    fn give(&mut self, unknown: Symbol, value: Expr, place: Option<Place>) {
        self.place.insert(unknown, self.rows.len());
        self.rows.push(Row { unknown: Some(unknown), value, element: None, place, differentiated: false });
    }

    /// What fills a storage's port: its flow if it is a C, its effort if it is an I.
    fn filling(&mut self, id: ElementId, port: usize) -> Expr {
        let element = self.graph.element(id);
        let place = element.ports[port];
        let stored = element.stored().unwrap_or(Stored::Momentum);
        let Some(symbol) = self.graph.variables.symbol(stored.rate().of(place.bond)) else {
            return self.pool.zero();
        };
        let value = self.pool.var(symbol);
        if stored == Stored::Displacement && !place.into { self.pool.neg(value) } else { value }
    }

    /// Adds the derivatives of all that determines dependent states.
    fn differentiate(&mut self) -> Result<(), Unsuitable> {
        let dependent: Vec<(Symbol, Symbol)> = self.dependent.iter().map(|(s, r)| (*s, *r)).collect();
        for (state, rate) in dependent {
            self.derivatives.insert(state, rate);
            self.wait_for(state);
        }
        let mut done: BTreeSet<usize> = BTreeSet::new();
        while let Some(place) = self.waiting.pop() {
            if !done.insert(place) {
                continue;
            }
            let row = self.rows[place].clone();
            let rows: Vec<Row> = match row.unknown {
                Some(_) => vec![row],
                // A field is differentiated as a whole.
                None => {
                    let same = |other: &&Row| {
                        other.element == row.element && other.unknown.is_none() && !other.differentiated
                    };
                    self.rows.iter().filter(same).cloned().collect()
                }
            };
            for row in rows {
                let value = self.derivative(row.value)?;
                let unknown = match row.unknown {
                    Some(symbol) => self.derivative_of(symbol)?,
                    None => None,
                };
                self.rows.push(Row { unknown, value, place: None, differentiated: true, ..row });
            }
        }
        Ok(())
    }

    fn wait_for(&mut self, symbol: Symbol) {
        if let Some(place) = self.place.get(&symbol) {
            self.waiting.push(*place);
        }
    }

    /// The derivative of a linear form with constant coefficients.
    fn derivative(&mut self, value: Expr) -> Result<Expr, Unsuitable> {
        let symbols: Vec<Symbol> =
            self.pool.symbols(value).into_iter().filter(|symbol| !self.constants.contains(symbol)).collect();
        let (coefficients, _) = self.pool.linear_parts(value, &symbols).ok_or(Unsuitable::Nonlinear)?;
        let mut terms = Vec::new();
        for (symbol, coefficient) in symbols.into_iter().zip(coefficients) {
            if let Some(derivative) = self.derivative_of(symbol)? {
                let variable = self.pool.var(derivative);
                terms.push(self.pool.mul(coefficient, variable));
            }
        }
        Ok(self.pool.sum(&terms))
    }

    /// The variable that is the derivative of another.
    fn derivative_of(&mut self, symbol: Symbol) -> Result<Option<Symbol>, Unsuitable> {
        if let Some(place) = self.known.get(&symbol) {
            return Ok(Some(self.rates[*place]));
        }
        if let Some(known) = self.derivatives.get(&symbol) {
            return Ok(Some(*known));
        }
        if self.inputs.contains(&symbol) {
            self.improper = true;
            return Ok(None);
        }
        if self.open.contains(&symbol) {
            return Err(Unsuitable::HigherIndex);
        }
        if !self.place.contains_key(&symbol) {
            return Ok(None);
        }
        let derivative = named(self.pool, "der", symbol);
        self.derivatives.insert(symbol, derivative);
        self.wait_for(symbol);
        Ok(Some(derivative))
    }
}
