//! What can be drawn: a bond graph as plain data, free of expressions.
//!
//! Bond graphs, incremental and sensitivity graphs all become a [`Diagram`].

use paynter_graph::{Class, Kind, kind_of};

/// A bond graph to be drawn. The order of its parts is that of the model's
/// text; names identify nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagram {
    /// The model's name, the picture's title.
    pub title: String,
    /// Elements, junctions and signals.
    pub nodes: Vec<Node>,
    /// Power bonds.
    pub bonds: Vec<Bond>,
    /// Modulating and measured signals.
    pub signals: Vec<SignalArrow>,
    /// Submodel instances, an outer one before those inside it.
    pub groups: Vec<Group>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// An element or a junction, with the sign of its kind.
    Element(Kind),
    /// A signal, drawn as a small block.
    Signal,
    /// A submodel folded to one box.
    Submodel,
}

impl NodeKind {
    /// What an element does with power.
    pub fn class(self) -> Option<Class> {
        match self {
            NodeKind::Element(kind) => Some(kind_of(kind).class()),
            NodeKind::Signal | NodeKind::Submodel => None,
        }
    }

    /// Whether this is a junction.
    pub fn is_junction(self) -> bool {
        matches!(self.class(), Some(Class::Junction(_)))
    }

    /// Whether this is a source.
    pub fn is_source(self) -> bool {
        matches!(self.class(), Some(Class::Source(_)))
    }

    /// Whether this is a detector.
    pub fn is_detector(self) -> bool {
        matches!(self.class(), Some(Class::Detector(_)))
    }
}

/// How a node is told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeStyle {
    /// As any other.
    #[default]
    Normal,
    /// A sink that a derived graph adds for a parameter's change.
    AddedSink,
    /// An auxiliary input of a derived graph.
    AuxiliaryInput,
    /// Named by an error.
    Bad,
}

/// An element, a junction or a signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The name by which people and layout files know it.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Whether a signal modulates it (`MTF`).
    pub modulated: bool,
    /// Whether it is a component of a sensitivity bond graph (`sR`).
    pub sensitivity: bool,
    /// The number of ports of a multiport field (`C[2]`), 0 where it is no field.
    pub field: usize,
    /// Its value as written (`Ra`).
    pub value: Option<String>,
    /// What makes it special.
    pub style: NodeStyle,
    /// Whether it is highlighted, as part of a causal path.
    pub highlighted: bool,
    /// The innermost submodel instance it belongs to.
    pub group: Option<usize>,
    /// More about it, for the tooltip.
    pub note: Option<String>,
}

impl Node {
    /// Makes a plain node.
    pub fn new(kind: NodeKind, name: impl Into<String>) -> Node {
        Node {
            name: name.into(),
            kind,
            modulated: false,
            sensitivity: false,
            field: 0,
            value: None,
            style: NodeStyle::Normal,
            highlighted: false,
            group: None,
            note: None,
        }
    }

    /// The same node with a value.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Node {
        self.value = Some(value.into());
        self
    }

    /// The same node with a style.
    #[must_use]
    pub fn style(mut self, style: NodeStyle) -> Node {
        self.style = style;
        self
    }

    /// The same node as a multiport field.
    #[must_use]
    pub fn field(mut self, ports: usize) -> Node {
        self.field = ports;
        self
    }
}

/// The end of a bond that carries the causal stroke: that at which effort
/// enters the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stroke {
    /// Causality is not known.
    #[default]
    None,
    /// Effort enters the element the bond leaves.
    AtFrom,
    /// Effort enters the element the bond's arrow points to.
    AtTo,
}

/// A power bond.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bond {
    /// The node it leaves, an index into [`Diagram::nodes`].
    pub from: usize,
    /// The node its half arrow points to.
    pub to: usize,
    /// The port at `from`, where it is numbered.
    pub from_port: Option<usize>,
    /// The port at `to`, where it is numbered.
    pub to_port: Option<usize>,
    /// Where the causal stroke stands.
    pub stroke: Stroke,
    /// Whether it is a vector bond, drawn bold.
    pub bold: bool,
    /// Whether it is highlighted.
    pub highlighted: bool,
    /// Its number, counted from one.
    pub number: usize,
}

impl Bond {
    /// Makes a bond between two nodes.
    pub fn new(from: usize, to: usize, number: usize) -> Bond {
        Bond { from, to, number, ..Bond::default() }
    }
}

/// A signal from one node to another: it carries no power.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalArrow {
    /// The node whose variable is read.
    pub from: usize,
    /// The node that is modulated.
    pub to: usize,
    /// Whether it is highlighted.
    pub highlighted: bool,
}

/// An instance of a submodel.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The instance's full name (`left.motor`).
    pub name: String,
    /// The submodel it is an instance of.
    pub model: String,
    /// The instance around it, an earlier entry of [`Diagram::groups`].
    pub parent: Option<usize>,
}
