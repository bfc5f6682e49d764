//! The classes of elements: what an element does with power, which equations, increments, energies and
//! drawings go by.

use paynter_algebra::Symbol;

use crate::dimension::Dimension;
use crate::domain::DomainInfo;
use crate::model::{BondId, Kind, Variable};

/// One of the two factors of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Power {
    /// Voltage, force, pressure.
    Effort,
    /// Current, speed, volume flow.
    Flow,
}

impl Power {
    /// A bond's effort or flow.
    pub fn of(self, bond: BondId) -> Variable {
        match self {
            Power::Effort => Variable::Effort(bond),
            Power::Flow => Variable::Flow(bond),
        }
    }
}

/// What the state of a storage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stored {
    /// The integral of flow (C).
    Displacement,
    /// The integral of effort (I).
    Momentum,
}

impl Stored {
    /// The letter of the state: q or p.
    pub fn letter(self) -> char {
        match self {
            Stored::Displacement => 'q',
            Stored::Momentum => 'p',
        }
    }

    /// What fills it: the rate of the state.
    pub fn rate(self) -> Power {
        match self {
            Stored::Displacement => Power::Flow,
            Stored::Momentum => Power::Effort,
        }
    }

    /// What its law relates to the state, and what times the rate is power.
    pub fn conjugate(self) -> Power {
        match self {
            Stored::Displacement => Power::Effort,
            Stored::Momentum => Power::Flow,
        }
    }

    /// Whether effort enters it in integral causality.
    pub fn integral_effort_in(self) -> bool {
        self.rate() == Power::Effort
    }

    /// The local symbol of the state among e, f, q, p.
    pub fn state(self, [_, _, q, p]: [Symbol; 4]) -> Symbol {
        match self {
            Stored::Displacement => q,
            Stored::Momentum => p,
        }
    }

    /// The dimension of the state in a domain.
    pub fn dimension(self, info: &DomainInfo) -> Dimension {
        match self {
            Stored::Displacement => info.displacement_dimension(),
            Stored::Momentum => info.momentum_dimension(),
        }
    }

    /// The state's name and unit in a domain, where it has one there.
    pub fn quantity(self, info: &DomainInfo) -> Option<(&'static str, &'static str)> {
        match self {
            Stored::Displacement => Some(info.displacement),
            Stored::Momentum => info.momentum,
        }
    }
}

/// What an element does with power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Joins bonds of one effort (0) or one flow (1).
    Junction(Power),
    /// Imposes an effort or a flow.
    Source(Power),
    /// Reads an effort or a flow and takes nothing of the other.
    Detector(Power),
    /// Stores energy by a state.
    Storage(Stored),
    /// Relates efforts and flows, and dissipates.
    Resistor,
    /// Relates effort and flow at port 1 and delivers the power there as heat at port 2.
    EntropySource,
    /// Conserves power between its two ports: effort goes with effort.
    Transformer,
    /// Conserves power between its two ports: effort goes with flow.
    Gyrator,
}

impl Class {
    /// The plain kind of the class, for elements that are made.
    pub fn kind(self) -> Kind {
        match self {
            Class::Junction(Power::Effort) => Kind::Zero,
            Class::Junction(Power::Flow) => Kind::One,
            Class::Source(Power::Effort) => Kind::Se,
            Class::Source(Power::Flow) => Kind::Sf,
            Class::Detector(Power::Effort) => Kind::De,
            Class::Detector(Power::Flow) => Kind::Df,
            Class::Storage(Stored::Displacement) => Kind::C,
            Class::Storage(Stored::Momentum) => Kind::I,
            Class::Resistor => Kind::R,
            Class::EntropySource => Kind::Rs,
            Class::Transformer => Kind::Tf,
            Class::Gyrator => Kind::Gy,
        }
    }

    /// What it stores.
    pub fn stored(self) -> Option<Stored> {
        match self {
            Class::Storage(stored) => Some(stored),
            _ => None,
        }
    }

    /// Whether it conserves power between two ports.
    pub fn is_converter(self) -> bool {
        matches!(self, Class::Transformer | Class::Gyrator)
    }

    /// Whether it is a junction or passes power on as one does.
    pub fn is_structure(self) -> bool {
        matches!(self, Class::Junction(_)) || self.is_converter()
    }

    /// Whether it dissipates energy.
    pub fn is_dissipative(self) -> bool {
        matches!(self, Class::Resistor | Class::EntropySource)
    }

    /// Whether it is a source.
    pub fn is_source(self) -> bool {
        matches!(self, Class::Source(_))
    }

    /// The local variables that a law relates, x = value·y: e = R f, q = C e, p = L f.
    pub fn pair(self, locals: [Symbol; 4]) -> (Symbol, Symbol) {
        let [e, f, ..] = locals;
        match self {
            Class::Storage(stored) => match stored.conjugate() {
                Power::Effort => (stored.state(locals), e),
                Power::Flow => (stored.state(locals), f),
            },
            _ => (e, f),
        }
    }

    /// The local variable that a port's law has to give: what goes out, or the state of a storage in
    /// derivative causality.
    pub fn wanted(self, locals: [Symbol; 4], effort_in: bool) -> Symbol {
        let [e, f, ..] = locals;
        match self {
            Class::Storage(stored) if effort_in != stored.integral_effort_in() => stored.state(locals),
            _ if effort_in => f,
            _ => e,
        }
    }
}
