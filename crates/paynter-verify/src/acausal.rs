//! The acausal equations of a graph: one for each port and junction, in bond
//! variables along the arrows, as the language defines them.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Class, Element, ElementId, Law, Locals, Port, Power, Variable};
use rustc_hash::FxHashMap;

/// s·x + Σ c·z − e(z) = 0: a sum of variables, less an expression, with the rate of one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// Whose rate it gives.
    pub rate: Option<usize>,
    /// Variables with their factors.
    pub terms: Vec<(usize, f64)>,
    /// What they are equal to, as written for an element or for the whole model.
    pub value: Option<Expr>,
    /// Where it comes from.
    pub place: Place,
}

impl Row {
    /// Two variables that this says to be one.
    pub fn equality(&self) -> Option<(usize, usize)> {
        match (&self.terms[..], self.rate, self.value) {
            ([(a, 1.0), (b, -1.0)], None, None) => Some((*a, *b)),
            _ => None,
        }
    }
}

/// Where an equation comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The law, the rate of the state, or the balance of an element.
    Element(ElementId),
    /// A signal or integrator, by place in the graph.
    Signal(usize),
    /// See [`Place::Signal`].
    Integrator(usize),
    /// Nowhere yet.
    #[default]
    Nowhere,
}

/// What a symbol means in an equation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    /// A variable, with its sign.
    Variable(usize, f64),
    /// A parameter, by place.
    Parameter(usize),
    /// An input, by place.
    Input(usize),
    /// Time.
    Time,
}

/// The acausal equations of a graph.
#[derive(Debug, Clone)]
pub struct Acausal<'g> {
    pub(crate) graph: &'g BondGraph,
    pub(crate) rows: Vec<Row>,
    pub(crate) width: usize,
    locals: Locals,
    /// Where each variable stands.
    index: FxHashMap<Variable, usize>,
    /// Each local symbol with its port and its place in e, f, q, p, for one-ports and for others.
    local: [FxHashMap<Symbol, (usize, usize)>; 2],
}

/// Values of everything that the equations read.
#[derive(Debug, Clone, Default)]
pub struct Point {
    /// Time.
    pub time: f64,
    /// The parameters, by place in the graph.
    pub parameters: Vec<f64>,
    /// The inputs, by place in the graph.
    pub inputs: Vec<f64>,
    /// The variables, in the order of [`BondGraph::all_variables`].
    pub variables: Vec<f64>,
    /// How large what makes up each of these variables is, where they cancel: they are known to rounding errors of
    /// that.
    pub scales: Vec<f64>,
    /// The variables a little beside the point, on the side that is taken of laws with a kink at it; empty where none
    /// is.
    pub beside: Vec<f64>,
    /// Outputs are those of variables that are known to this part of their scales, as where roots are regularised.
    pub tolerance: f64,
}

impl<'g> Acausal<'g> {
    /// Writes the equations down.
    pub fn new(pool: &mut Pool, graph: &'g BondGraph) -> Acausal<'g> {
        let ports = graph.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
        let mut locals = Locals::clone(&graph.locals);
        locals.reserve(pool, ports.max(2));
        let variables = graph.all_variables();
        let width = variables.len();
        let index = variables.into_iter().enumerate().map(|(place, variable)| (variable, place)).collect();
        let letters = |list: &[usize]| -> FxHashMap<Symbol, (usize, usize)> {
            let all = [&locals.e, &locals.f, &locals.q, &locals.p];
            let of = |(letter, symbols): (usize, &Vec<Symbol>)| -> Vec<(Symbol, (usize, usize))> {
                list.iter().map(|k| (symbols[*k], (k.saturating_sub(1), letter))).collect()
            };
            all.into_iter().enumerate().flat_map(of).collect()
        };
        let local = [letters(&[0]), letters(&(1..=ports.max(2)).collect::<Vec<_>>())];
        let mut system = Acausal { graph, rows: Vec::new(), width, locals, index, local };
        for id in graph.element_ids() {
            system.add_element(pool, id);
        }
        for (k, signal) in graph.signals.iter().enumerate() {
            let own = system.index[&Variable::Signal(k as u32)];
            let row = Row { terms: vec![(own, 1.0)], value: Some(signal.value), ..Row::default() };
            system.rows.push(Row { place: Place::Signal(k), ..row });
        }
        for (k, integrator) in graph.integrators.iter().enumerate() {
            let own = system.index[&Variable::Integrator(k as u32)];
            let row = Row { rate: Some(own), value: Some(integrator.rate), ..Row::default() };
            system.rows.push(Row { place: Place::Integrator(k), ..row });
        }
        system
    }

    fn bond(port: &Port, power: Power) -> usize {
        2 * port.bond.index() + usize::from(power == Power::Flow)
    }

    /// A variable of a port as laws count it: flows into the element, but out of port 2 of a converter.
    fn port(&self, id: ElementId, port: usize, letter: usize) -> Option<(usize, f64)> {
        let element = self.graph.element(id);
        let at = element.ports.get(port)?;
        Some(match letter {
            0 => (Self::bond(at, Power::Effort), 1.0),
            1 => {
                let out = element.class().is_converter() && port == 1;
                (Self::bond(at, Power::Flow), if at.into == out { -1.0 } else { 1.0 })
            }
            _ => (*self.index.get(&Variable::State(id, port as u32))?, 1.0),
        })
    }

    /// What a symbol means in an equation of an element, or of the whole model.
    pub(crate) fn meaning(&self, place: Place, symbol: Symbol) -> Option<Meaning> {
        if let Place::Element(id) = place {
            let several = usize::from(self.graph.element(id).ports.len() > 1);
            if let Some((port, letter)) = self.local[several].get(&symbol) {
                return self.port(id, *port, *letter).map(|(at, sign)| Meaning::Variable(at, sign));
            }
        }
        Some(match self.graph.variables.meaning(symbol)? {
            Variable::Effort(bond) => Meaning::Variable(2 * bond.index(), 1.0),
            Variable::Flow(bond) => Meaning::Variable(2 * bond.index() + 1, 1.0),
            Variable::Parameter(k) => Meaning::Parameter(k as usize),
            Variable::Input(k) => Meaning::Input(k as usize),
            Variable::Time => Meaning::Time,
            other => Meaning::Variable(*self.index.get(&other)?, 1.0),
        })
    }

    fn add_element(&mut self, pool: &mut Pool, id: ElementId) {
        let graph = self.graph;
        let element = graph.element(id);
        let place = Place::Element(id);
        let row = |terms: Vec<(usize, f64)>, value: Option<Expr>| Row { rate: None, terms, value, place };
        match element.class() {
            Class::Junction(common) => return self.add_junction(element, common, place),
            Class::Source(power) => {
                if let (Some(port), Law::Value(value)) = (element.ports.first(), &element.law) {
                    self.rows.push(row(vec![(Self::bond(port, power), 1.0)], Some(*value)));
                }
                return;
            }
            Class::Detector(power) => {
                let other = if power == Power::Effort { Power::Flow } else { Power::Effort };
                let terms = element.ports.iter().map(|port| (Self::bond(port, other), 1.0)).collect();
                self.rows.push(row(terms, None));
                return;
            }
            Class::Transformer | Class::Gyrator | Class::EntropySource => self.add_two_port(pool, id),
            Class::Storage(_) | Class::Resistor => self.add_law(pool, id),
        }
        let Some(stored) = element.stored() else { return };
        let letter = usize::from(stored.rate() == Power::Flow);
        for port in 0..element.ports.len() {
            let (Some((state, _)), Some((rate, sign))) =
                (self.port(id, port, 2), self.port(id, port, letter))
            else {
                continue;
            };
            self.rows.push(Row { rate: Some(state), terms: vec![(rate, -sign)], value: None, place });
        }
    }

    /// Variables of the common kind are equal, the others sum to zero.
    fn add_junction(&mut self, element: &Element, common: Power, place: Place) {
        let summed = if common == Power::Effort { Power::Flow } else { Power::Effort };
        let terms: Vec<(usize, f64)> = element
            .ports
            .iter()
            .map(|port| (Self::bond(port, summed), if port.into { 1.0 } else { -1.0 }))
            .collect();
        let Some(first) = element.ports.first().map(|port| Self::bond(port, common)) else { return };
        self.rows.push(Row { terms, place, ..Row::default() });
        for port in &element.ports[1..] {
            let terms = vec![(first, 1.0), (Self::bond(port, common), -1.0)];
            self.rows.push(Row { terms, place, ..Row::default() });
        }
    }

    /// The power at port 1 leaves at port 2.
    fn add_two_port(&mut self, pool: &mut Pool, id: ElementId) {
        let element = self.graph.element(id);
        let Law::Value(value) = &element.law else { return };
        let locals = [self.locals.port(2, 0), self.locals.port(2, 1)];
        let [[e1, f1, ..], [e2, f2, ..]] = locals;
        let variable = |pool: &mut Pool, symbol| pool.var(symbol);
        let pairs = match element.class() {
            Class::Transformer => vec![(e1, e2), (f2, f1)],
            Class::Gyrator => vec![(e1, f2), (e2, f1)],
            _ => vec![(e1, f1)],
        };
        let place = Place::Element(id);
        for (left, right) in pairs {
            let right = variable(pool, right);
            let value = pool.mul(*value, right);
            let left = variable(pool, left);
            let value = pool.sub(value, left);
            self.rows.push(Row { value: Some(value), place, ..Row::default() });
        }
        if element.class() == Class::EntropySource {
            let [e1, f1, e2, f2] = [e1, f1, e2, f2].map(|symbol| pool.var(symbol));
            let powers = [pool.mul(e1, f1), pool.mul(e2, f2)];
            let value = pool.sum(&powers);
            self.rows.push(Row { value: Some(value), place, ..Row::default() });
        }
    }

    /// The law of a storage, resistor or switch.
    fn add_law(&mut self, pool: &mut Pool, id: ElementId) {
        let element = self.graph.element(id);
        let n = element.ports.len();
        let pair = |port: usize| element.class().pair(self.locals.port(n, port));
        let mut values: Vec<Expr> = Vec::new();
        let mut equal = |pool: &mut Pool, left: Symbol, right: Expr| {
            let left = pool.var(left);
            values.push(pool.sub(right, left));
        };
        match &element.law {
            Law::Value(value) => {
                let (x, y) = pair(0);
                let y = pool.var(y);
                let right = pool.mul(*value, y);
                equal(pool, x, right);
            }
            Law::Matrix(rows) => {
                for (i, row) in rows.iter().enumerate() {
                    let entries = row.iter().enumerate();
                    let terms: Vec<Expr> = entries
                        .map(|(j, entry)| {
                            let y = pool.var(pair(j).1);
                            pool.mul(*entry, y)
                        })
                        .collect();
                    let right = pool.sum(&terms);
                    equal(pool, pair(i).0, right);
                }
            }
            Law::Equations(list) => {
                for law in list {
                    let value = pool.sub(law.right, law.left);
                    values.push(value);
                }
            }
            Law::Switch { condition, on, off } => {
                let [e, f, ..] = self.locals.port(1, 0);
                let one = pool.one();
                let closed = pool.div(one, *on);
                let conductance = pool.select(*condition, closed, *off);
                let e = pool.var(e);
                let right = pool.mul(conductance, e);
                equal(pool, f, right);
            }
            Law::Structure => {}
        }
        let place = Place::Element(id);
        self.rows.extend(values.into_iter().map(|value| Row {
            rate: None,
            terms: Vec::new(),
            value: Some(value),
            place,
        }));
    }

    /// An equation in words.
    pub(crate) fn describe(&self, row: usize) -> String {
        let row = &self.rows[row];
        match row.place {
            Place::Element(id) => {
                let element = self.graph.element(id);
                let what = match element.class() {
                    Class::Junction(_) => "the balance",
                    _ if row.rate.is_some() => "the rate",
                    _ => "the law",
                };
                format!("{what} of `{}`", element.name)
            }
            Place::Signal(k) => format!("the signal `{}`", self.graph.signals[k].name),
            Place::Integrator(k) => format!("the integral `{}`", self.graph.integrators[k].name),
            Place::Nowhere => String::new(),
        }
    }

    /// The value of a symbol at a point.
    pub(crate) fn value_at(&self, place: Place, symbol: Symbol, point: &Point) -> Option<f64> {
        match self.meaning(place, symbol)? {
            Meaning::Variable(at, sign) => Some(sign * point.variables.get(at)?),
            Meaning::Parameter(k) => point.parameters.get(k).copied(),
            Meaning::Input(k) => point.inputs.get(k).copied(),
            Meaning::Time => Some(point.time),
        }
    }
}
