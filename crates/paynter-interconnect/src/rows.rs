//! The rows of the system: every effort, flow and signal as its own element computes it, fields as their laws
//! stand, and where storages are dependent the derivatives of what determines them.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::{Equations, law_residuals};
use paynter_graph::{BondGraph, Causality, Class, ElementId, Stored, Variable};
use paynter_transform::Place;
use rustc_hash::FxHashMap;

use crate::limits::MOST_DERIVATIVES;

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
    /// How often the law is differentiated.
    pub order: usize,
}

/// Why there are no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsuitable {
    /// Not linear in variables, or with coefficients that depend on time.
    Nonlinear,
    /// Laws would be differentiated too often.
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
    /// The derivatives of inputs that rows read; nothing that matters may depend on them.
    pub input_derivatives: Vec<Symbol>,
    /// The dependent storages.
    pub dependent: Vec<Dependent>,
}

/// A state of a storage that is a function of the others'.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dependent {
    pub element: ElementId,
    pub state: Symbol,
    pub rate: Symbol,
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
        dependent: Vec::new(),
        open: BTreeSet::new(),
        promoted: BTreeMap::new(),
        constants: BTreeSet::new(),
        rows: Vec::new(),
        place: BTreeMap::new(),
        derivatives: BTreeMap::new(),
        waiting: Vec::new(),
        asked: BTreeSet::new(),
        input_derivatives: BTreeMap::new(),
        pool,
        graph,
    };
    writer.constants.extend(graph.parameters.iter().map(|parameter| parameter.symbol));
    writer.find_dependent(causality);
    writer.laws(equations);
    let (rates, outputs) = writer.ends(equations);
    writer.differentiate()?;
    let Writer { rows, states, inputs, input_derivatives, dependent, .. } = writer;
    let input_derivatives = input_derivatives.into_values().collect();
    Ok(Rows { rows, rates, outputs, states, inputs, input_derivatives, dependent })
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
    dependent: Vec<Dependent>,
    /// The symbols of rates of all storages in derivative causality, and of other derivatives.
    open: BTreeSet<Symbol>,
    /// By symbol of the rate of a storage in derivative causality whose state is independent: its rate as a state.
    promoted: BTreeMap<Symbol, Symbol>,
    constants: BTreeSet<Symbol>,
    rows: Vec<Row>,
    /// By unknown: the row that gives it, or the first of the rows of the field that does.
    place: BTreeMap<Symbol, usize>,
    /// By variable: its derivative.
    derivatives: BTreeMap<Symbol, Symbol>,
    /// Rows to be differentiated.
    waiting: Vec<usize>,
    /// Variables that are to be differentiated as soon as a row gives them.
    asked: BTreeSet<Symbol>,
    /// By input: its derivative.
    input_derivatives: BTreeMap<Symbol, Symbol>,
}

impl Writer<'_> {
    fn find_dependent(&mut self, causality: &Causality) {
        for storage in causality.storages.iter().filter(|storage| !storage.integral) {
            let variable = Variable::State(storage.element, storage.port as u32);
            let Some(state) = self.graph.variables.symbol(variable) else { continue };
            let name = format!("der({})", self.pool.name(state));
            let rate = self.pool.symbol(&name);
            self.open.insert(rate);
            if let Some(place) = self.known.get(&state) {
                self.promoted.insert(rate, self.rates[*place]);
            } else {
                self.dependent.push(Dependent { element: storage.element, state, rate });
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
            let row = Row { unknown, value, element: assignment.element, place, order: 0 };
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
            self.rows.push(Row { unknown: None, value, element: Some(id), place, order: 0 });
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
        self.rows.push(Row { unknown: Some(unknown), value, element: None, place, order: 0 });
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
        for Dependent { state, rate, .. } in self.dependent.clone() {
            self.derivatives.insert(state, rate);
            self.wait_for(state);
        }
        let mut done: BTreeSet<usize> = BTreeSet::new();
        while let Some(place) = self.waiting.pop() {
            if !done.insert(place) {
                continue;
            }
            let row = self.rows[place].clone();
            if row.order == MOST_DERIVATIVES {
                return Err(Unsuitable::HigherIndex);
            }
            let rows: Vec<Row> = match row.unknown {
                Some(_) => vec![row],
                // A field is differentiated as a whole.
                None => {
                    let same = |other: &&Row| {
                        other.element == row.element && other.unknown.is_none() && other.order == row.order
                    };
                    self.rows.iter().filter(same).cloned().collect()
                }
            };
            let first = self.rows.len();
            let given = self.place.iter().filter(|(_, other)| **other == place).map(|(symbol, _)| *symbol);
            for symbol in given.collect::<Vec<Symbol>>() {
                if let Some(derivative) = self.derivative_of(symbol)? {
                    self.place.entry(derivative).or_insert(first);
                }
            }
            for row in rows {
                let value = self.derivative(row.value)?;
                let unknown = match row.unknown {
                    Some(symbol) => self.derivative_of(symbol)?,
                    None => None,
                };
                self.rows.push(Row { unknown, value, place: None, order: row.order + 1, ..row });
            }
            let asked = |symbol: &Symbol| self.place.get(symbol) == Some(&first);
            if self.asked.iter().any(asked) {
                self.waiting.push(first);
            }
        }
        Ok(())
    }

    /// Has the row that gives a variable differentiated, now or as soon as it is there.
    fn wait_for(&mut self, symbol: Symbol) {
        match self.place.get(&symbol) {
            Some(place) => self.waiting.push(*place),
            None => {
                self.asked.insert(symbol);
            }
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
        let symbol = self.promoted.get(&symbol).copied().unwrap_or(symbol);
        if let Some(place) = self.known.get(&symbol) {
            return Ok(Some(self.rates[*place]));
        }
        if let Some(known) = self.derivatives.get(&symbol) {
            return Ok(Some(*known));
        }
        if self.inputs.contains(&symbol) || self.input_derivatives.values().any(|other| *other == symbol) {
            if let Some(known) = self.input_derivatives.get(&symbol) {
                return Ok(Some(*known));
            }
            let derivative = named(self.pool, "der", symbol);
            self.input_derivatives.insert(symbol, derivative);
            return Ok(Some(derivative));
        }
        if !self.open.contains(&symbol) && !self.place.contains_key(&symbol) {
            return Ok(None);
        }
        let derivative = named(self.pool, "der", symbol);
        // A row will give it, which may be asked for once more before it is there.
        self.open.insert(derivative);
        self.derivatives.insert(symbol, derivative);
        self.wait_for(symbol);
        Ok(Some(derivative))
    }
}
