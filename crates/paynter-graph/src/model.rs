//! The flattened bond graph: elements with ports, bonds with arrows, and the
//! quantities around them. Plain data; every later stage reads it.
//!
//! Signs: a bond's e and f count along its arrow. Inside a law, `e` and `f`
//! count into the element, so f is minus the bond's flow where the arrow
//! points away. A two-port's f2 counts out of port 2.

pub use crate::kind::{is_junction, is_storage};
pub use crate::quantity::*;
pub use crate::variable::*;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::Span;
pub use paynter_language::ast::Kind;

use crate::domain::Domain;
use crate::guard::Guards;
use crate::share::CopyOnWrite;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// Identifies an element of a [`BondGraph`].
    ElementId
}
id! {
    /// Identifies a bond of a [`BondGraph`].
    BondId
}

/// A whole model, submodels flattened. Cheap to clone: clones share what they do not change.
#[derive(Debug, Clone, Default)]
pub struct BondGraph {
    /// The model's name.
    pub name: String,
    /// Its description.
    pub doc: Option<String>,
    /// Independent parameters, in text order.
    pub parameters: CopyOnWrite<Vec<Parameter>>,
    /// Parameters defined from others, expanded.
    pub derived: CopyOnWrite<Vec<Derived>>,
    /// Inputs, in text order.
    pub inputs: CopyOnWrite<Vec<Input>>,
    /// Outputs, in text order.
    pub outputs: CopyOnWrite<Vec<Output>>,
    /// Algebraic signals, in text order; they may read one another.
    pub signals: CopyOnWrite<Vec<Signal>>,
    /// Signal states (`integral`).
    pub integrators: CopyOnWrite<Vec<Integrator>>,
    /// Elements, in text order.
    pub elements: CopyOnWrite<Vec<Element>>,
    /// Bonds, in text order.
    pub bonds: CopyOnWrite<Vec<Bond>>,
    /// Causality by hand.
    pub overrides: CopyOnWrite<Vec<Override>>,
    /// Tables of measured data that expressions read.
    pub tables: CopyOnWrite<Vec<Table>>,
    /// The symbols of laws.
    pub locals: CopyOnWrite<Locals>,
    /// Symbols of bond variables and states that expressions read.
    pub variables: CopyOnWrite<Variables>,
    /// What making the graph has taken for granted about the values of its parameters.
    pub guards: CopyOnWrite<Guards>,
}

/// An element.
#[derive(Debug, Clone)]
pub struct Element {
    /// Its flattened name as people write it: `c[3].spring`.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its ports; a junction has one for each bond, in text order.
    pub ports: Vec<Port>,
    /// Its law.
    pub law: Law,
    /// Initial states by port, where given.
    pub initial: Vec<(usize, Expr, Span)>,
    /// Where its name is declared.
    pub span: Span,
    /// Where its statement and its value stand; of a derived graph's element those of the original.
    pub written: Written,
    /// What it is made from.
    pub origin: Origin,
}

/// Where an element stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// The whole statement.
    pub statement: Span,
    /// What follows `=`, where something does.
    pub value: Option<Span>,
}

/// What an element is made from. Names are those of the graph that a derived one is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Somebody wrote it.
    Declared,
    /// The element itself, in a graph that holds the original beside what is made of it.
    Nominal {
        /// The element.
        of: String,
    },
    /// The linear element of small changes, in the place of another.
    Increment {
        /// The element it stands for.
        of: String,
    },
    /// An element that carries sensitivities, with its original's variables or beside it.
    Sensitivity {
        /// The element it stands for.
        of: String,
    },
    /// A sink: what the change of a parameter adds to an element, or that of signals where none is named.
    Sink {
        /// The element that it stands beside.
        of: String,
        /// The parameter.
        parameter: Option<String>,
    },
    /// A junction that takes in sinks, or joins what one of them drives.
    Junction {
        /// The element that it stands beside.
        of: String,
    },
    /// A modulated two-port between an independent sink and the element that it acts on.
    Modulator {
        /// The element.
        of: String,
        /// The parameter that changes.
        parameter: String,
    },
    /// A detector of an auxiliary output, beside an element.
    Detector {
        /// The element.
        of: String,
    },
    /// A storage without weight, beside a port whose effort or flow it makes a state.
    Weightless {
        /// The element.
        of: String,
    },
}

impl Element {
    /// The name of the element that it is made from or stands beside, in the graph that a derived one is
    /// made from; its own where somebody wrote it.
    pub fn original(&self) -> &str {
        match &self.origin {
            Origin::Declared => &self.name,
            Origin::Nominal { of }
            | Origin::Increment { of }
            | Origin::Sensitivity { of }
            | Origin::Sink { of, .. }
            | Origin::Junction { of }
            | Origin::Modulator { of, .. }
            | Origin::Detector { of }
            | Origin::Weightless { of } => of,
        }
    }

    /// Whether it is a sink that a derived graph adds for a change.
    pub fn is_sink(&self) -> bool {
        matches!(self.origin, Origin::Sink { .. })
    }
}

/// One port of an element. `into` tells whether the bond's arrow points into the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The bond on it.
    pub bond: BondId,
    /// Whether the bond's arrow points into the element.
    pub into: bool,
    /// The physical domain, where it is known.
    pub domain: Option<Domain>,
}

/// What an element obeys.
#[derive(Debug, Clone)]
pub enum Law {
    /// Junctions and detectors: the kind says all.
    Structure,
    /// `= expr`: the effort or flow of a source, R, C, L, or a modulus.
    Value(Expr),
    /// `= [[a, b], [c, d]]`, row by row: e = M f, q = M e, p = M f.
    Matrix(Vec<Vec<Expr>>),
    /// Laws in braces, over the symbols of [`Locals`].
    Equations(Vec<Equation>),
    /// A switch: f = (if condition then 1/on else off)·e.
    Switch {
        /// Closed when true.
        condition: Expr,
        /// Resistance when closed.
        on: Expr,
        /// Conductance when open.
        off: Expr,
    },
}

impl Law {
    /// All its expressions.
    pub fn expressions(&self) -> Vec<Expr> {
        match self {
            Law::Structure => Vec::new(),
            Law::Value(value) => vec![*value],
            Law::Matrix(rows) => rows.concat(),
            Law::Equations(list) => list.iter().flat_map(|law| [law.left, law.right]).collect(),
            Law::Switch { condition, on, off } => vec![*condition, *on, *off],
        }
    }

    /// Changes all its expressions, in the same order.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(Expr) -> Expr) {
        match self {
            Law::Structure => {}
            Law::Value(value) => *value = change(*value),
            Law::Matrix(rows) => rows.iter_mut().flatten().for_each(|entry| *entry = change(*entry)),
            Law::Equations(equations) => {
                for law in equations {
                    (law.left, law.right) = (change(law.left), change(law.right));
                }
            }
            Law::Switch { condition, on, off } => {
                for part in [condition, on, off] {
                    *part = change(*part);
                }
            }
        }
    }
}

/// One law: left = right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equation {
    /// Left-hand side.
    pub left: Expr,
    /// Right-hand side.
    pub right: Expr,
    /// The local variable it is solved for as written.
    pub solved_for: Option<Symbol>,
    /// Where it stands.
    pub span: Span,
}

/// A bond.
#[derive(Debug, Clone)]
pub struct Bond {
    /// Its flattened name, given or `b1`, `b2` … in text order.
    pub name: String,
    /// Where the arrow starts.
    pub from: End,
    /// Where the arrow points.
    pub to: End,
    /// Where it stands.
    pub span: Span,
}

/// One end of a bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// The element.
    pub element: ElementId,
    /// Its port, from 0.
    pub port: u32,
}

/// Causality by hand.
#[derive(Debug, Clone)]
pub enum Override {
    /// `prefer integral NAME`, `prefer derivative NAME`
    Prefer {
        /// The storage.
        element: ElementId,
        /// One port, or all.
        port: Option<usize>,
        /// Which.
        integral: bool,
        /// Where it stands.
        span: Span,
    },
    /// `causality BOND effort_into NAME`
    Stroke {
        /// The bond.
        bond: BondId,
        /// The element effort enters.
        effort_into: ElementId,
        /// Where it stands.
        span: Span,
    },
}

impl BondGraph {
    /// Adds a parameter that nobody has declared: without unit, tolerance and bounds.
    pub fn push_parameter(&mut self, name: String, symbol: Symbol, value: Value, number: f64, span: Span) {
        self.variables.insert(Variable::Parameter(self.parameters.len() as u32), symbol);
        let declaration = ParameterDeclaration {
            name,
            symbol,
            unit: None,
            tolerance: None,
            bounds: None,
            doc: None,
            span,
            given: None,
        };
        self.parameters.push(Parameter { declaration: declaration.into(), value, number });
    }

    /// The element with this id.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.index()]
    }

    /// The bond with this id.
    pub fn bond(&self, id: BondId) -> &Bond {
        &self.bonds[id.index()]
    }

    /// Lists the variables of the model: the effort and flow of every bond along its arrow, the states of storages,
    /// integrators, signals.
    pub fn all_variables(&self) -> Vec<Variable> {
        let bonds = self.bond_ids().flat_map(|bond| [Variable::Effort(bond), Variable::Flow(bond)]);
        let storages = self.element_ids().filter(|id| self.element(*id).stored().is_some());
        let states = storages.flat_map(|id| {
            (0..self.element(id).ports.len()).map(move |port| Variable::State(id, port as u32))
        });
        let integrators = (0..self.integrators.len() as u32).map(Variable::Integrator);
        let signals = (0..self.signals.len() as u32).map(Variable::Signal);
        bonds.chain(states).chain(integrators).chain(signals).collect()
    }

    /// Lists all element ids.
    pub fn element_ids(&self) -> impl DoubleEndedIterator<Item = ElementId> + use<> {
        (0..self.elements.len() as u32).map(ElementId)
    }

    /// Lists all bond ids.
    pub fn bond_ids(&self) -> impl DoubleEndedIterator<Item = BondId> + use<> {
        (0..self.bonds.len() as u32).map(BondId)
    }

    /// The state's name of a storage's port as expressions print it: `rotor.p`, `gas.q2`.
    pub fn state_name(&self, element: ElementId, port: usize) -> String {
        let e = self.element(element);
        let letter = e.stored().map_or('q', |stored| stored.letter());
        let base = flat_name(&e.name);
        if e.ports.len() == 1 { format!("{base}.{letter}") } else { format!("{base}.{letter}{}", port + 1) }
    }

    /// Where a state is declared.
    pub fn state_span(&self, variable: Variable) -> Option<Span> {
        match variable {
            Variable::Integrator(i) => self.integrators.get(i as usize).map(|integrator| integrator.span),
            Variable::State(id, _) => Some(self.element(id).span),
            _ => None,
        }
    }

    /// The name of a bond's effort or flow: after the one-port on it where
    /// there is one (`coil.f`), else after the two-port (`motor.e1`), else after the bond (`b3.e`).
    pub fn bond_variable_name(&self, bond: BondId, letter: char) -> String {
        let b = self.bond(bond);
        let ends = [b.to, b.from];
        let junction = |end: &End| is_junction(self.element(end.element).kind);
        let single = |end: &&End| !junction(end) && self.element(end.element).ports.len() == 1;
        if let Some(end) = ends.iter().find(single) {
            return format!("{}.{letter}", flat_name(&self.element(end.element).name));
        }
        if let Some(end) = ends.iter().find(|end| !junction(end)) {
            return format!("{}.{letter}{}", flat_name(&self.element(end.element).name), end.port + 1);
        }
        format!("{}.{letter}", flat_name(&b.name))
    }

    /// The symbol of a variable, made on first use.
    pub fn symbol(&mut self, pool: &mut Pool, variable: Variable) -> Symbol {
        if let Some(symbol) = self.variables.symbol(variable) {
            return symbol;
        }
        let name = match variable {
            Variable::Effort(bond) => self.bond_variable_name(bond, 'e'),
            Variable::Flow(bond) => self.bond_variable_name(bond, 'f'),
            Variable::State(element, port) => self.state_name(element, port as usize),
            Variable::Parameter(i) => flat_name(&self.parameters[i as usize].name),
            Variable::Input(i) => flat_name(&self.inputs[i as usize].name),
            Variable::Signal(i) => flat_name(&self.signals[i as usize].name),
            Variable::Integrator(i) => flat_name(&self.integrators[i as usize].name),
            Variable::Time => "t".to_owned(),
        };
        let symbol = pool.symbol(&name);
        self.variables.insert(variable, symbol);
        symbol
    }
}

/// The form of a flattened name in expressions and JSON: `c[3].m` becomes `c_3.m`.
pub fn flat_name(name: &str) -> String {
    if !name.contains('[') {
        return name.to_owned();
    }
    name.chars().filter(|&c| c != ']').map(|c| if c == '[' { '_' } else { c }).collect()
}
