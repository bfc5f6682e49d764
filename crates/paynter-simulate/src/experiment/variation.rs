//! Numbers that a compiled model takes anew for every run: inputs and initial
//! states that are varied, and steps along directions of parameters. Each
//! becomes a parameter of the graph, after its own.

use super::initial::Initial;
use super::question::{Named, named, unknown};
use super::{Column, Direction, Varied};
use crate::Wanted;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Span, code};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Value};
use rustc_hash::FxHashMap;

/// What is changed before compilation.
pub(super) struct Changes<'a> {
    pool: &'a mut Pool,
    graph: &'a mut BondGraph,
    equations: &'a mut Equations,
    outputs: &'a mut Option<Vec<Expr>>,
    initials: &'a mut [Initial],
    /// The values of initial states that are moved, each at the places of two parameters.
    shifts: Vec<Shift>,
}

/// Where an own state begins, as two parameters that are equal but for derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift {
    /// The first of the two, in the parameters of a run.
    place: usize,
    /// Where the state begins, over the graph's own parameters.
    value: Expr,
}

impl Shift {
    /// Sets both to where the state begins.
    pub fn settle(&self, pool: &Pool, graph: &mut BondGraph) {
        let parameter = |s: Symbol| graph.parameters.iter().find(|p| p.symbol == s).map(|p| p.number);
        let number = pool.eval(self.value, &parameter).unwrap_or(0.0);
        graph.parameters[self.place..self.place + 2].iter_mut().for_each(|both| both.number = number);
    }
}

impl<'a> Changes<'a> {
    pub fn new(
        pool: &'a mut Pool,
        graph: &'a mut BondGraph,
        equations: &'a mut Equations,
        outputs: &'a mut Option<Vec<Expr>>,
        initials: &'a mut [Initial],
    ) -> Changes<'a> {
        Changes { pool, graph, equations, outputs, initials, shifts: Vec::new() }
    }

    /// What a name means.
    fn named(&self, name: &str, inputs: bool) -> Result<Named, Box<Diagnostic>> {
        let states: Vec<&str> = self.initials.iter().map(|initial| initial.name.as_str()).collect();
        let named =
            named(self.graph, &states, name).filter(|named| inputs || !matches!(named, Named::Input(_)));
        named.ok_or_else(|| unknown(self.graph, &states, name, inputs))
    }

    /// Adds a parameter to the graph.
    fn add(&mut self, name: &str, number: f64) -> (usize, Symbol) {
        let symbol = self.pool.fresh(name);
        let value = self.pool.zero();
        self.graph.push_parameter(name.to_owned(), symbol, Value::Written(value), number, Span::default());
        (self.graph.parameters.len() - 1, symbol)
    }

    /// Lets parameters, initial states and inputs that are not measured be chosen for each run.
    pub fn vary(
        &mut self,
        names: &[String],
        measured: &[Option<Expr>],
    ) -> Result<Vec<Varied>, Box<Diagnostic>> {
        let mut varied: Vec<Varied> = Vec::new();
        for name in names {
            if varied.iter().any(|other| other.column.name == *name) {
                let message = format!("`{name}` is varied twice");
                let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
                return Err(Box::new(diagnostic.help("give all its values at once: `NAME=1:10:20,50,100`")));
            }
            let (place, unit) = match self.named(name, true)? {
                Named::Parameter(i) => (i, self.graph.parameters[i].unit.clone()),
                Named::Input(i) if measured.get(i).is_some_and(Option::is_some) => {
                    let message = format!("`{name}` is varied, but follows measured data");
                    let diagnostic = Diagnostic::new(code::BAD_SIMULATION, message);
                    return Err(Box::new(
                        diagnostic.help("take its column out of the data, or do not vary it"),
                    ));
                }
                Named::Input(i) => {
                    let (place, symbol) = self.add(name, 0.0);
                    self.equations.inputs[i].value = self.pool.var(symbol);
                    (place, self.graph.inputs[i].unit.clone())
                }
                Named::Initial(i) => {
                    let (place, symbol) = self.add(name, 0.0);
                    self.initials[i].value = self.pool.var(symbol);
                    (place, None)
                }
            };
            let factor = unit.as_ref().map_or(1.0, |unit| unit.factor);
            let unit = unit.map(|unit| unit.text);
            varied.push(Varied { column: Column { name: name.clone(), unit, factor }, place });
        }
        Ok(varied)
    }

    /// Adds a parameter that moves where a state begins, for states of a run that follow from it. Its value is
    /// that of the state by these parameters, to which derivatives are scaled.
    pub fn shift(&mut self, i: usize) -> Wanted {
        let (name, value) = (self.initials[i].name.clone(), self.initials[i].value);
        let (place, moved) = self.add(&name, 0.0);
        let (_, from) = self.add(&format!("{name} itself"), 0.0);
        let shift = Shift { place, value };
        shift.settle(self.pool, self.graph);
        self.shifts.push(shift);
        let [moved, from] = [moved, from].map(|symbol| self.pool.var(symbol));
        let change = self.pool.sub(moved, from);
        let initial = &mut self.initials[i];
        initial.by = self.pool.add(initial.by, change);
        Wanted::Parameter(place)
    }

    /// The initial states that are moved.
    pub fn into_shifts(self) -> Vec<Shift> {
        self.shifts
    }

    /// Adds the parameter ε, zero by default, of p + λ ε for every parameter of a direction, and tells what moves.
    pub fn direct(
        &mut self,
        direction: &Direction,
        all_moved: &mut Vec<(usize, Expr)>,
    ) -> Result<(String, Wanted), Box<Diagnostic>> {
        let (place, epsilon) = self.add(&direction.name, 0.0);
        let mut moved: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for (name, weight) in &direction.weights {
            let named = self.named(name, false)?;
            let unit = match named {
                Named::Parameter(i) => self.graph.parameters[i].unit.as_ref(),
                Named::Initial(_) | Named::Input(_) => None,
            };
            let in_si = weight * unit.map_or(1.0, |unit| unit.factor);
            let (_, lambda) = self.add(&format!("lambda_{name}"), in_si);
            let factors = [self.pool.var(lambda), self.pool.var(epsilon)];
            let change = self.pool.product(&factors);
            match named {
                Named::Parameter(i) => {
                    let symbol = self.graph.parameters[i].symbol;
                    let own = self.pool.var(symbol);
                    let before = moved.get(&symbol).copied().unwrap_or(own);
                    moved.insert(symbol, self.pool.add(before, change));
                }
                Named::Initial(i) => {
                    let initial = &mut self.initials[i];
                    initial.by = self.pool.add(initial.by, change);
                }
                Named::Input(_) => {}
            }
        }
        let equations = &mut *self.equations;
        let all = equations
            .rates
            .iter_mut()
            .chain(equations.constraints.iter_mut().map(|constraint| &mut constraint.residual))
            .chain(equations.states.iter_mut().map(|state| &mut state.initial))
            .chain(self.initials.iter_mut().map(|initial| &mut initial.value))
            .chain(equations.inputs.iter_mut().map(|input| &mut input.value))
            .chain(equations.outputs.iter_mut().map(|output| &mut output.value))
            .chain(equations.assignments.iter_mut().map(|assignment| &mut assignment.value))
            .chain(equations.dependent.iter_mut().map(|dependent| &mut dependent.value))
            .chain(all_moved.iter_mut().map(|(_, value)| value))
            .chain(self.outputs.iter_mut().flatten());
        let places: Vec<&mut Expr> = all.collect();
        let before: Vec<Expr> = places.iter().map(|place| **place).collect();
        let after = self.pool.substitute_all(&before, &moved);
        places.into_iter().zip(after).for_each(|(place, expr)| *place = expr);
        for (place, parameter) in self.graph.parameters.iter().enumerate() {
            if let Some(value) = moved.get(&parameter.symbol)
                && !all_moved.iter().any(|(known, _)| *known == place)
            {
                all_moved.push((place, *value));
            }
        }
        Ok((direction.name.clone(), Wanted::Parameter(place)))
    }
}
