//! The acausal equations of a structure: one per port and junction, written
//! once and evaluated in any number system. In linear forms they are the rows
//! of a pencil, in doubles the residuals of Newton's method, in dual numbers
//! their derivatives.

use crate::expr::Expr;
use crate::number::Number;
use crate::structure::{Element, Kind, Law, Meaning, Store, Structure};
use std::collections::BTreeMap;

/// A structure with its tables, ready to be evaluated.
#[derive(Debug)]
pub struct System<'a> {
    /// The structure.
    pub structure: &'a Structure,
    names: BTreeMap<String, Meaning>,
    states: Vec<(String, Store)>,
    incidence: Vec<Vec<(usize, usize, bool)>>,
    /// The state of each (element, port).
    state_of: BTreeMap<(usize, usize), usize>,
}

/// The values of all variables.
#[derive(Debug, Clone)]
pub struct Values<N> {
    /// Every parameter, derived ones included.
    pub params: Vec<N>,
    /// Inputs.
    pub inputs: Vec<N>,
    /// Efforts of the bonds.
    pub efforts: Vec<N>,
    /// Flows of the bonds along their arrows.
    pub flows: Vec<N>,
    /// Signals (unused at integrators).
    pub signals: Vec<N>,
    /// States.
    pub states: Vec<N>,
    /// Time.
    pub time: N,
}

/// One equation: its value, or where the number system cannot express it, the
/// variables that it mentions.
#[derive(Debug, Clone)]
pub enum Equation<N> {
    /// Left minus right.
    Value(N),
    /// The values of the variables in it.
    Mentions(Vec<N>),
}

impl<'a> System<'a> {
    /// Prepares the tables.
    pub fn new(structure: &'a Structure) -> System<'a> {
        let states = structure.states();
        let state_of = states
            .iter()
            .enumerate()
            .filter_map(|(index, (_, store))| match store {
                Store::Port(end) => Some(((end.element, end.port), index)),
                Store::Signal(_) => None,
            })
            .collect();
        System { structure, names: structure.names(), states, incidence: structure.incidence(), state_of }
    }

    /// The states' names.
    pub fn states(&self) -> &[(String, Store)] {
        &self.states
    }

    /// Computes every parameter from the independent ones, given in the order
    /// of [`Structure::independent`].
    pub fn params<N: Number>(&self, independent: &[N]) -> Option<Vec<N>> {
        let mut values: Vec<Option<N>> = vec![None; self.structure.params.len()];
        for (slot, value) in self.structure.independent().into_iter().zip(independent) {
            values[slot] = Some(value.clone());
        }
        for index in 0..values.len() {
            if values[index].is_none() {
                let value =
                    self.structure.params[index].value.evaluate(&|name| match self.names.get(name) {
                        Some(Meaning::Param(other)) => values[*other].clone(),
                        _ => None,
                    })?;
                values[index] = Some(value);
            }
        }
        values.into_iter().collect()
    }

    /// Computes the independent parameters' nominal values.
    pub fn nominal<N: Number>(&self) -> Option<Vec<N>> {
        let free = self.structure.independent();
        free.into_iter().map(|index| self.structure.params[index].value.evaluate(&|_| None)).collect()
    }

    /// Looks up a name outside braces.
    fn lookup<N: Number>(&self, values: &Values<N>, name: &str) -> Option<N> {
        if name == "t" {
            return Some(values.time.clone());
        }
        Some(match *self.names.get(name)? {
            Meaning::Param(index) => values.params[index].clone(),
            Meaning::Input(index) => values.inputs[index].clone(),
            Meaning::Signal(index) => values.signals[index].clone(),
            Meaning::Effort(bond) => values.efforts[bond].clone(),
            Meaning::Flow(bond) => values.flows[bond].clone(),
            Meaning::State(index) => values.states[index].clone(),
        })
    }

    /// Evaluates an expression that stands outside braces.
    pub fn evaluate<N: Number>(&self, values: &Values<N>, expression: &Expr) -> Option<N> {
        expression.evaluate(&|name| self.lookup(values, name))
    }

    /// Effort and flow at a port, the flow counted into the element.
    fn port<N: Number>(&self, values: &Values<N>, element: usize, port: usize) -> Option<(N, N)> {
        let (_, bond, inward) = *self.incidence[element].iter().find(|entry| entry.0 == port)?;
        let flow = &values.flows[bond];
        Some((values.efforts[bond].clone(), if inward { flow.clone() } else { flow.neg() }))
    }

    /// Looks up a name inside the braces of an element.
    fn local<N: Number>(&self, values: &Values<N>, index: usize, name: &str) -> Option<N> {
        let element = &self.structure.elements[index];
        // Only e, f, q and p are local; longer first letters leave nothing here.
        let (letter, digits) = name.split_at_checked(1).unwrap_or((name, ""));
        let port = match (digits.is_empty(), element.ports) {
            (true, 1) => Some(1),
            (false, ports) if ports > 1 => digits.parse().ok().filter(|port| (1..=ports).contains(port)),
            _ => None,
        };
        let variable = port.and_then(|port| match letter {
            "e" => Some(self.port(values, index, port)?.0),
            "f" => Some(self.port(values, index, port)?.1),
            "q" | "p" => self.state_of.get(&(index, port)).map(|state| values.states[*state].clone()),
            _ => None,
        });
        variable.or_else(|| self.lookup(values, name))
    }

    /// Computes the rate of one state.
    pub fn rate<N: Number>(&self, values: &Values<N>, store: &Store) -> Equation<N> {
        let (value, expression) = match *store {
            Store::Port(end) => {
                let is_c = self.structure.elements[end.element].kind == Kind::C;
                let variables = self.port(values, end.element, end.port);
                (variables.map(|(effort, flow)| if is_c { flow } else { effort }), None)
            }
            Store::Signal(index) => {
                let rate = &self.structure.signals[index].value;
                (self.evaluate(values, rate), Some(rate))
            }
        };
        value.map_or_else(
            || {
                Equation::Mentions(self.mentions(
                    values,
                    None,
                    &expression.into_iter().collect::<Vec<_>>(),
                    Vec::new(),
                ))
            },
            Equation::Value,
        )
    }

    /// Computes every output.
    pub fn outputs<N: Number>(&self, values: &Values<N>) -> Option<Vec<N>> {
        self.structure.outputs.iter().map(|(_, expression)| self.evaluate(values, expression)).collect()
    }

    /// Computes left minus right of every equation that involves no derivative.
    /// `None` only where the structure is incomplete.
    pub fn equations<N: Number>(&self, values: &Values<N>) -> Option<Vec<Equation<N>>> {
        let mut rows = Vec::new();
        for index in 0..self.structure.elements.len() {
            self.element(values, index, &mut rows)?;
        }
        for (index, signal) in self.structure.signals.iter().enumerate() {
            if signal.integral.is_none() {
                let own = values.signals[index].clone();
                let right = self.evaluate(values, &signal.value);
                let mentioned = || self.mentions(values, None, &[&signal.value], vec![own.clone()]);
                rows.push(right.map_or_else(
                    || Equation::Mentions(mentioned()),
                    |right| Equation::Value(own.sub(&right)),
                ));
            }
        }
        Some(rows)
    }

    /// The variables that expressions mention, besides the given ones.
    fn mentions<N: Number>(
        &self,
        values: &Values<N>,
        element: Option<usize>,
        expressions: &[&Expr],
        mut found: Vec<N>,
    ) -> Vec<N> {
        for expression in expressions {
            expression.names(&mut |name| {
                let value = match element {
                    Some(index) => self.local(values, index, name),
                    None => self.lookup(values, name),
                };
                found.extend(value);
            });
        }
        found
    }

    fn element<N: Number>(
        &self,
        values: &Values<N>,
        index: usize,
        rows: &mut Vec<Equation<N>>,
    ) -> Option<()> {
        let element = &self.structure.elements[index];
        let port = |port| self.port(values, index, port);
        let value = |expression: &Expr| self.evaluate(values, expression);
        // A product that the number system may refuse, with what stands in for it then.
        let mut push = |result: Option<N>, expressions: &[&Expr], variables: Vec<N>| {
            rows.push(result.map_or_else(
                || Equation::Mentions(self.mentions(values, None, expressions, variables)),
                Equation::Value,
            ));
        };
        match (element.kind, &element.law) {
            (Kind::Zero | Kind::One, _) => self.junction(values, index, rows),
            (Kind::De, _) => push(Some(port(1)?.1), &[], Vec::new()),
            (Kind::Df, _) => push(Some(port(1)?.0), &[], Vec::new()),
            (Kind::Se | Kind::Sf, Law::Value(given)) => {
                let bond = self.incidence[index].first()?.1;
                let own = if element.kind == Kind::Se { &values.efforts[bond] } else { &values.flows[bond] };
                push(value(given).map(|given| own.sub(&given)), &[given], vec![own.clone()]);
            }
            (Kind::Tf | Kind::Gy, Law::Value(modulus)) => {
                let ((e1, f1), (e2, into2)) = (port(1)?, port(2)?);
                let f2 = into2.neg();
                let (first, second) =
                    if element.kind == Kind::Tf { ((e1, e2), (f2, f1)) } else { ((e1, f2), (e2, f1)) };
                for (left, right) in [first, second] {
                    let result = value(modulus).and_then(|m| Some(left.sub(&m.mul(&right)?)));
                    push(result, &[modulus], vec![left, right]);
                }
            }
            (Kind::Rs, Law::Value(resistance)) => {
                let ((e1, f1), (e2, into2)) = (port(1)?, port(2)?);
                let first = value(resistance).and_then(|r| Some(e1.sub(&r.mul(&f1)?)));
                push(first, &[resistance], vec![e1.clone(), f1.clone()]);
                let heat = e2.mul(&into2).and_then(|out| Some(out.add(&e1.mul(&f1)?)));
                push(heat, &[], vec![e1, f1, e2, into2]);
            }
            (Kind::Sw, Law::Switch { left, right, on, off }) => {
                let (effort, flow) = port(1)?;
                let conductance = || {
                    let closed = value(left)?.order(&value(right)?)? == std::cmp::Ordering::Greater;
                    match off {
                        _ if closed => N::one().div(&value(on)?),
                        Some(off) => value(off),
                        None => Some(N::zero()),
                    }
                };
                let result = conductance().and_then(|g| Some(flow.sub(&g.mul(&effort)?)));
                push(result, &[], vec![effort, flow]);
            }
            (Kind::R | Kind::C | Kind::I, Law::Value(given)) => {
                let (left, right) = self.pair(values, index, 1)?;
                let result = value(given).and_then(|given| Some(left.sub(&given.mul(&right)?)));
                push(result, &[given], vec![left, right]);
            }
            (Kind::R | Kind::C | Kind::I, Law::Matrix(matrix)) => {
                for (row, entries) in matrix.iter().enumerate() {
                    let (left, _) = self.pair(values, index, row + 1)?;
                    let mut result = Some(left.clone());
                    let mut variables = vec![left];
                    for (column, entry) in entries.iter().enumerate() {
                        let (_, right) = self.pair(values, index, column + 1)?;
                        result = result.and_then(|sum| Some(sum.sub(&value(entry)?.mul(&right)?)));
                        variables.push(right);
                    }
                    push(result, &entries.iter().collect::<Vec<_>>(), variables);
                }
            }
            (Kind::R | Kind::C | Kind::I, Law::Laws(laws)) => {
                for (left, right) in laws {
                    let inside =
                        |expression: &Expr| expression.evaluate(&|name| self.local(values, index, name));
                    let result = inside(left).and_then(|left| Some(left.sub(&inside(right)?)));
                    rows.push(result.map_or_else(
                        || Equation::Mentions(self.mentions(values, Some(index), &[left, right], Vec::new())),
                        Equation::Value,
                    ));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The two variables that a field's matrix joins: e and f, q and e, or p and f.
    fn pair<N: Number>(&self, values: &Values<N>, index: usize, port: usize) -> Option<(N, N)> {
        let (effort, flow) = self.port(values, index, port)?;
        let state = || self.state_of.get(&(index, port)).map(|state| values.states[*state].clone());
        match self.structure.elements[index].kind {
            Kind::C => Some((state()?, effort)),
            Kind::I => Some((state()?, flow)),
            _ => Some((effort, flow)),
        }
    }

    /// All but one variable of the common kind are equal to the first; the others sum to zero.
    fn junction<N: Number>(&self, values: &Values<N>, index: usize, rows: &mut Vec<Equation<N>>) {
        let Element { kind, .. } = self.structure.elements[index];
        let mut sum = N::zero();
        let mut first: Option<N> = None;
        for &(_, bond, inward) in &self.incidence[index] {
            let (effort, flow) = (&values.efforts[bond], &values.flows[bond]);
            let (common, summed) = if kind == Kind::Zero { (effort, flow) } else { (flow, effort) };
            // A bond that points in brings its summed variable with +, one that points out with −.
            sum = if inward { sum.add(summed) } else { sum.sub(summed) };
            match &first {
                None => first = Some(common.clone()),
                Some(first) => rows.push(Equation::Value(first.sub(common))),
            }
        }
        if first.is_some() {
            rows.push(Equation::Value(sum));
        }
    }
}
