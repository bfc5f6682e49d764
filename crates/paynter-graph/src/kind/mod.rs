//! What the kinds of elements are. Each has a file here that says all of it: ports, law, causality, the
//! class that equations, increments, energies and drawings go by, and its words. The passes read this and
//! name no kind themselves.

mod class;
mod detector;
mod entropy;
mod fixed;
mod junction;
mod resistor;
mod source;
mod storage;
mod switch;
mod two_port;

pub use class::{Class, Power, Stored};

use paynter_algebra::Pool;

use crate::causality::{PortRule, Ranges};
use crate::dimension::Dimension;
use crate::domain::DomainInfo;
use crate::model::{BondGraph, Element, ElementId, Kind};

/// What a kind of element is. Everything is to be said, so that the compiler finds what a new kind lacks.
pub trait ElementKind: Sync {
    /// What it does with power.
    fn class(&self) -> Class;
    /// How many ports it has.
    fn ports(&self) -> Ports;
    /// How its law is given.
    fn law(&self) -> LawForm;
    /// What its value is, in words and as a dimension, where units can tell its domain.
    fn value(&self) -> Option<Meaning>;
    /// What it lacks where nothing is given, and how to give it, for the element of this name.
    fn missing(&self, name: &str) -> (&'static str, String);
    /// What each of its ports asks of causality.
    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule>;
    /// Why a causality is mandatory for it: `imposes its effort`.
    fn mandate(&self) -> &'static str;
    /// From how many of its kind in a causal conflict there is something to advise, and what.
    fn advice(&self) -> Option<(usize, &'static str)>;
    /// Whether the word for it takes an `M` where a signal sets its value.
    fn takes_m(&self) -> bool;
    /// What people call it.
    fn description(&self) -> &'static str;
}

/// What a kind is: the register of all.
pub fn kind_of(kind: Kind) -> &'static dyn ElementKind {
    match kind {
        Kind::Se => &source::EffortSource,
        Kind::Sf => &source::FlowSource,
        Kind::R => &resistor::Resistor,
        Kind::C => &storage::Capacitor,
        Kind::I => &storage::Inertia,
        Kind::Tf => &two_port::Transformer,
        Kind::Gy => &two_port::Gyrator,
        Kind::Zero => &junction::ZeroJunction,
        Kind::One => &junction::OneJunction,
        Kind::De => &detector::EffortDetector,
        Kind::Df => &detector::FlowDetector,
        Kind::Sw => &switch::Switch,
        Kind::Rs => &entropy::EntropySource,
    }
}

/// How many ports a kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// One for each bond.
    Any,
    /// This many.
    Fixed(usize),
    /// One, or as many as the model says.
    Field,
}

/// How the law of a kind is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LawForm {
    /// Not at all: the kind says it.
    Structure,
    /// By a value.
    Value,
    /// By a value, a matrix or laws in braces.
    Field,
    /// By a condition with the values for when it holds and when it does not.
    Switch,
}

/// What a value is, in words and as a dimension in each domain.
pub type Meaning = (&'static str, fn(&DomainInfo) -> Dimension);

/// An element that is asked for the rules of its ports.
pub struct Asked<'a> {
    /// Holds the expressions.
    pub pool: &'a mut Pool,
    /// The graph.
    pub graph: &'a BondGraph,
    /// The element.
    pub id: ElementId,
    /// The nominal ranges of symbols.
    pub ranges: &'a Ranges,
    /// Gathers ports whose law cannot be turned round, with the direction it is written in.
    pub one_way: &'a mut Vec<(ElementId, usize, bool)>,
}

impl<'a> Asked<'a> {
    /// The element.
    pub fn element(&self) -> &'a Element {
        self.graph.element(self.id)
    }
}

impl Element {
    /// What it does with power.
    pub fn class(&self) -> Class {
        kind_of(self.kind).class()
    }

    /// What it stores, where it stores anything.
    pub fn stored(&self) -> Option<Stored> {
        self.class().stored()
    }

    /// Whether its kind has a fixed number of several ports, which are numbered.
    pub fn is_two_port(&self) -> bool {
        kind_of(self.kind).ports() == Ports::Fixed(2)
    }
}

/// Tells whether a kind stores energy.
pub fn is_storage(kind: Kind) -> bool {
    kind_of(kind).class().stored().is_some()
}

/// Tells whether a kind is a junction.
pub fn is_junction(kind: Kind) -> bool {
    matches!(kind, Kind::Zero | Kind::One)
}

/// A kind with its article: `a C`, `an I`.
pub(crate) fn with_article(kind: Kind) -> String {
    let word = kind.word();
    let vowel = matches!(word.chars().next(), Some('I' | 'R' | 'S'));
    format!("{} {word}", if vowel { "an" } else { "a" })
}
