//! A flattened bond graph as plain data: what a sample's text means. The
//! oracles read only this and never the project's own graph.

use crate::expr::Expr;
use std::collections::BTreeMap;

/// The kinds of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Effort source.
    Se,
    /// Flow source.
    Sf,
    /// Resistor or R-field.
    R,
    /// C-store or C-field.
    C,
    /// I-store or I-field.
    I,
    /// Transformer.
    Tf,
    /// Gyrator.
    Gy,
    /// Junction of common effort.
    Zero,
    /// Junction of common flow.
    One,
    /// Effort detector.
    De,
    /// Flow detector.
    Df,
    /// Switch.
    Sw,
    /// Resistor that produces entropy.
    Rs,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 13] = [
        Kind::Se,
        Kind::Sf,
        Kind::R,
        Kind::C,
        Kind::I,
        Kind::Tf,
        Kind::Gy,
        Kind::Zero,
        Kind::One,
        Kind::De,
        Kind::Df,
        Kind::Sw,
        Kind::Rs,
    ];

    /// The word for it in a model.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Se => "Se",
            Kind::Sf => "Sf",
            Kind::R => "R",
            Kind::C => "C",
            Kind::I => "I",
            Kind::Tf => "TF",
            Kind::Gy => "GY",
            Kind::Zero => "0",
            Kind::One => "1",
            Kind::De => "De",
            Kind::Df => "Df",
            Kind::Sw => "Sw",
            Kind::Rs => "RS",
        }
    }

    /// Tells whether it is a junction.
    pub fn is_junction(self) -> bool {
        matches!(self, Kind::Zero | Kind::One)
    }

    /// Tells whether it stores energy.
    pub fn is_storage(self) -> bool {
        matches!(self, Kind::C | Kind::I)
    }

    /// Tells whether its ports are numbered 1 and 2 by the arrows.
    pub fn is_two_port(self) -> bool {
        matches!(self, Kind::Tf | Kind::Gy | Kind::Rs)
    }
}

/// What an element does.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// Nothing to say (junctions, detectors).
    None,
    /// `= value`.
    Value(Expr),
    /// `= [[a, b], [c, d]]`.
    Matrix(Vec<Vec<Expr>>),
    /// `{ left = right; … }` over e, f, q, p of the element.
    Laws(Vec<(Expr, Expr)>),
    /// `when (left > right) { Ron = …; Goff = … }`.
    Switch {
        /// Left side of the condition.
        left: Expr,
        /// Right side of the condition.
        right: Expr,
        /// Resistance when closed.
        on: Expr,
        /// Conductance when open; left out in the text where absent.
        off: Option<Expr>,
    },
}

impl Law {
    /// Visits every expression in it.
    pub fn expressions<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Law::None => {}
            Law::Value(value) => visit(value),
            Law::Matrix(rows) => rows.iter().flatten().for_each(visit),
            Law::Laws(laws) => {
                for (left, right) in laws {
                    visit(left);
                    visit(right);
                }
            }
            Law::Switch { left, right, on, off } => {
                [left, right, on].into_iter().chain(off).for_each(visit);
            }
        }
    }

    /// Replaces names in every expression.
    #[must_use]
    pub fn replace(&self, with: &dyn Fn(&str) -> Option<Expr>) -> Law {
        let new = |expression: &Expr| expression.replace(with);
        match self {
            Law::None => Law::None,
            Law::Value(value) => Law::Value(new(value)),
            Law::Matrix(rows) => Law::Matrix(rows.iter().map(|row| row.iter().map(new).collect()).collect()),
            Law::Laws(laws) => Law::Laws(laws.iter().map(|(left, right)| (new(left), new(right))).collect()),
            Law::Switch { left, right, on, off } => {
                Law::Switch { left: new(left), right: new(right), on: new(on), off: off.as_ref().map(new) }
            }
        }
    }
}

/// One element.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its flattened name: `motor.rotor`, `c[3].m`.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// How many ports it has; 0 for a junction, which takes any number.
    pub ports: usize,
    /// What it does.
    pub law: Law,
    /// The initial state of each port that has one given.
    pub initial: BTreeMap<usize, Expr>,
    /// Whether its modulus (TF, GY) may pass through zero.
    pub may_vanish: bool,
}

/// A bond's end: an element and the port (from 1) of it; 0 at a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// Index of the element.
    pub element: usize,
    /// The port.
    pub port: usize,
}

/// One bond; its arrow points from `from` to `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bond {
    /// `as name`.
    pub name: Option<String>,
    /// Where the arrow starts.
    pub from: End,
    /// Where the arrow points.
    pub to: End,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its flattened name.
    pub name: String,
    /// Its value, over parameters before it.
    pub value: Expr,
}

/// One signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it is, or for an integrator its rate.
    pub value: Expr,
    /// The initial value of an integrator.
    pub integral: Option<Expr>,
}

/// A flattened bond graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Structure {
    /// Parameters in order of definition.
    pub params: Vec<Param>,
    /// Inputs and their default signals as text.
    pub inputs: Vec<(String, String)>,
    /// Signals.
    pub signals: Vec<Signal>,
    /// Elements.
    pub elements: Vec<Element>,
    /// Bonds.
    pub bonds: Vec<Bond>,
    /// Outputs.
    pub outputs: Vec<(String, Expr)>,
}

/// What a name in an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A parameter.
    Param(usize),
    /// An input.
    Input(usize),
    /// A signal without an integrator.
    Signal(usize),
    /// A bond's effort.
    Effort(usize),
    /// A bond's flow along its arrow.
    Flow(usize),
    /// A state, by its place in [`Structure::states`].
    State(usize),
}

/// Where a state lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// At a port of a C or I.
    Port(End),
    /// In a signal's integrator.
    Signal(usize),
}

impl Structure {
    /// Lists the states: every storage port in element order, then integrators.
    pub fn states(&self) -> Vec<(String, Store)> {
        let mut states = Vec::new();
        for (index, element) in self.elements.iter().enumerate() {
            let letter = match element.kind {
                Kind::C => "q",
                Kind::I => "p",
                _ => continue,
            };
            for port in 1..=element.ports {
                let suffix = if element.ports > 1 { port.to_string() } else { String::new() };
                let name = format!("{}.{letter}{suffix}", element.name);
                states.push((name, Store::Port(End { element: index, port })));
            }
        }
        for (index, signal) in self.signals.iter().enumerate() {
            if signal.integral.is_some() {
                states.push((signal.name.clone(), Store::Signal(index)));
            }
        }
        states
    }

    /// Lists for each element its bonds as (port, bond, whether the arrow points into the element),
    /// by port.
    pub fn incidence(&self) -> Vec<Vec<(usize, usize, bool)>> {
        let mut lists = vec![Vec::new(); self.elements.len()];
        for (index, bond) in self.bonds.iter().enumerate() {
            lists[bond.from.element].push((bond.from.port, index, false));
            lists[bond.to.element].push((bond.to.port, index, true));
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists
    }

    /// Builds the table of names that stand outside an element's braces.
    pub fn names(&self) -> BTreeMap<String, Meaning> {
        let mut names = BTreeMap::new();
        for (index, param) in self.params.iter().enumerate() {
            names.insert(param.name.clone(), Meaning::Param(index));
        }
        for (index, (name, _)) in self.inputs.iter().enumerate() {
            names.insert(name.clone(), Meaning::Input(index));
        }
        for (index, signal) in self.signals.iter().enumerate() {
            names.insert(signal.name.clone(), Meaning::Signal(index));
        }
        for (element, list) in self.elements.iter().zip(self.incidence()) {
            if element.kind.is_junction() {
                continue;
            }
            for (port, bond, _) in list {
                let suffix = if element.ports > 1 { port.to_string() } else { String::new() };
                names.insert(format!("{}.e{suffix}", element.name), Meaning::Effort(bond));
                names.insert(format!("{}.f{suffix}", element.name), Meaning::Flow(bond));
            }
        }
        for (index, bond) in self.bonds.iter().enumerate() {
            if let Some(name) = &bond.name {
                names.insert(format!("{name}.e"), Meaning::Effort(index));
                names.insert(format!("{name}.f"), Meaning::Flow(index));
            }
        }
        for (index, (name, _)) in self.states().into_iter().enumerate() {
            names.insert(name, Meaning::State(index));
        }
        names
    }

    /// Lists the parameters that are not defined from others.
    pub fn independent(&self) -> Vec<usize> {
        let is_free = |param: &Param| {
            let mut free = true;
            param.value.names(&mut |_| free = false);
            free
        };
        (0..self.params.len()).filter(|&index| is_free(&self.params[index])).collect()
    }

    /// Tells whether every port has its bond and every junction at least one.
    pub fn is_complete(&self) -> bool {
        self.elements.iter().zip(self.incidence()).all(|(element, list)| {
            if element.kind.is_junction() {
                !list.is_empty()
            } else {
                list.len() == element.ports
                    && list.iter().enumerate().all(|(index, (port, _, _))| *port == index + 1)
            }
        })
    }
}
