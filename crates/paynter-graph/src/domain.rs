//! The table of physical domains: effort, flow, displacement, momentum.

use crate::dimension::Dimension;

/// A physical domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// Voltage and current.
    Electrical,
    /// Force and velocity.
    Translation,
    /// Torque and angular velocity.
    Rotation,
    /// Pressure and volume flow.
    Hydraulic,
    /// Sound pressure and volume velocity.
    Acoustic,
    /// Magnetomotive force and flux rate.
    Magnetic,
    /// Chemical potential and molar flow.
    Chemical,
    /// Temperature and entropy flow.
    Thermal,
    /// Temperature and heat flow: a pseudo domain, effort times flow is no power.
    Heat,
    /// Pressure and mass flow: a pseudo domain.
    MassFlow,
    /// Concentration and molar flow: a pseudo domain.
    Concentration,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct DomainInfo {
    /// The domain.
    pub domain: Domain,
    /// Its name in model files.
    pub name: &'static str,
    /// Effort: name and SI unit.
    pub effort: (&'static str, &'static str),
    /// Flow: name and SI unit.
    pub flow: (&'static str, &'static str),
    /// Displacement, the integral of flow: name and SI unit.
    pub displacement: (&'static str, &'static str),
    /// Momentum, the integral of effort: name and SI unit; none in thermal domains.
    pub momentum: Option<(&'static str, &'static str)>,
    /// Dimension of the effort.
    pub effort_dimension: Dimension,
    /// Dimension of the flow.
    pub flow_dimension: Dimension,
    /// Whether effort times flow is a power.
    pub is_true: bool,
}

const SECOND: Dimension = Dimension::new([0, 0, 1, 0, 0, 0, 0]);

impl DomainInfo {
    /// Dimension of the displacement q.
    pub fn displacement_dimension(&self) -> Dimension {
        self.flow_dimension.times(SECOND)
    }

    /// Dimension of the momentum p.
    pub fn momentum_dimension(&self) -> Dimension {
        self.effort_dimension.times(SECOND)
    }
}

/// All domains; where dimensions coincide the more common one comes first.
pub const DOMAINS: &[DomainInfo] = &[
    DomainInfo {
        domain: Domain::Electrical,
        name: "electrical",
        effort: ("voltage", "V"),
        flow: ("current", "A"),
        displacement: ("charge", "C"),
        momentum: Some(("flux linkage", "V*s")),
        effort_dimension: Dimension::new([2, 1, -3, -1, 0, 0, 0]),
        flow_dimension: Dimension::new([0, 0, 0, 1, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Translation,
        name: "translation",
        effort: ("force", "N"),
        flow: ("velocity", "m/s"),
        displacement: ("position", "m"),
        momentum: Some(("momentum", "N*s")),
        effort_dimension: Dimension::new([1, 1, -2, 0, 0, 0, 0]),
        flow_dimension: Dimension::new([1, 0, -1, 0, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Rotation,
        name: "rotation",
        effort: ("torque", "N*m"),
        flow: ("angular velocity", "rad/s"),
        displacement: ("angle", "rad"),
        momentum: Some(("angular momentum", "N*m*s")),
        effort_dimension: Dimension::new([2, 1, -2, 0, 0, 0, 0]),
        flow_dimension: Dimension::new([0, 0, -1, 0, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Hydraulic,
        name: "hydraulic",
        effort: ("pressure", "Pa"),
        flow: ("volume flow", "m^3/s"),
        displacement: ("volume", "m^3"),
        momentum: Some(("pressure momentum", "Pa*s")),
        effort_dimension: Dimension::new([-1, 1, -2, 0, 0, 0, 0]),
        flow_dimension: Dimension::new([3, 0, -1, 0, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Acoustic,
        name: "acoustic",
        effort: ("sound pressure", "Pa"),
        flow: ("volume velocity", "m^3/s"),
        displacement: ("volume", "m^3"),
        momentum: Some(("pressure momentum", "Pa*s")),
        effort_dimension: Dimension::new([-1, 1, -2, 0, 0, 0, 0]),
        flow_dimension: Dimension::new([3, 0, -1, 0, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Magnetic,
        name: "magnetic",
        effort: ("magnetomotive force", "A"),
        flow: ("flux rate", "Wb/s"),
        displacement: ("flux", "Wb"),
        momentum: Some(("integral of magnetomotive force", "A*s")),
        effort_dimension: Dimension::new([0, 0, 0, 1, 0, 0, 0]),
        flow_dimension: Dimension::new([2, 1, -3, -1, 0, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Chemical,
        name: "chemical",
        effort: ("chemical potential", "J/mol"),
        flow: ("molar flow", "mol/s"),
        displacement: ("amount of substance", "mol"),
        momentum: Some(("integral of chemical potential", "J*s/mol")),
        effort_dimension: Dimension::new([2, 1, -2, 0, 0, -1, 0]),
        flow_dimension: Dimension::new([0, 0, -1, 0, 0, 1, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Thermal,
        name: "thermal",
        effort: ("temperature", "K"),
        flow: ("entropy flow", "W/K"),
        displacement: ("entropy", "J/K"),
        momentum: None,
        effort_dimension: Dimension::new([0, 0, 0, 0, 1, 0, 0]),
        flow_dimension: Dimension::new([2, 1, -3, 0, -1, 0, 0]),
        is_true: true,
    },
    DomainInfo {
        domain: Domain::Heat,
        name: "heat",
        effort: ("temperature", "K"),
        flow: ("heat flow", "W"),
        displacement: ("heat", "J"),
        momentum: None,
        effort_dimension: Dimension::new([0, 0, 0, 0, 1, 0, 0]),
        flow_dimension: Dimension::new([2, 1, -3, 0, 0, 0, 0]),
        is_true: false,
    },
    DomainInfo {
        domain: Domain::MassFlow,
        name: "mass_flow",
        effort: ("pressure", "Pa"),
        flow: ("mass flow", "kg/s"),
        displacement: ("mass", "kg"),
        momentum: Some(("pressure momentum", "Pa*s")),
        effort_dimension: Dimension::new([-1, 1, -2, 0, 0, 0, 0]),
        flow_dimension: Dimension::new([0, 1, -1, 0, 0, 0, 0]),
        is_true: false,
    },
    DomainInfo {
        domain: Domain::Concentration,
        name: "concentration",
        effort: ("concentration", "mol/m^3"),
        flow: ("molar flow", "mol/s"),
        displacement: ("amount of substance", "mol"),
        momentum: None,
        effort_dimension: Dimension::new([-3, 0, 0, 0, 0, 1, 0]),
        flow_dimension: Dimension::new([0, 0, -1, 0, 0, 1, 0]),
        is_true: false,
    },
];

impl Domain {
    /// Its row in the table.
    pub fn info(self) -> &'static DomainInfo {
        &DOMAINS[self as usize]
    }

    /// Its name in model files.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Reads a name as it may stand in `port left [electrical]`; a few everyday words are understood too.
    pub fn parse(name: &str) -> Option<Domain> {
        let name = match name {
            "mechanical" | "translational" => "translation",
            "rotational" => "rotation",
            "thermal_pseudo" | "pseudo_thermal" => "heat",
            "mass" | "massflow" => "mass_flow",
            other => other,
        };
        DOMAINS.iter().find(|info| info.name == name).map(|info| info.domain)
    }
}

/// A set of domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DomainSet(u16);

impl DomainSet {
    /// All domains.
    pub const ALL: DomainSet = DomainSet((1 << DOMAINS.len()) - 1);
    /// No domain.
    pub const EMPTY: DomainSet = DomainSet(0);

    /// Just one.
    pub fn only(domain: Domain) -> DomainSet {
        DomainSet(1 << domain as u16)
    }

    /// Those that satisfy a condition.
    pub fn filter(keep: impl Fn(&DomainInfo) -> bool) -> DomainSet {
        DomainSet(DOMAINS.iter().filter(|info| keep(info)).map(|info| 1 << info.domain as u16).sum())
    }

    /// Those in both.
    pub fn and(self, other: DomainSet) -> DomainSet {
        DomainSet(self.0 & other.0)
    }

    /// Tells whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Lists them in table order.
    pub fn iter(self) -> impl Iterator<Item = &'static DomainInfo> {
        DOMAINS.iter().filter(move |info| self.0 & (1 << info.domain as u16) != 0)
    }

    /// The domain, if the set leaves no doubt. Hydraulic and acoustic differ
    /// only in name; the first stands for both unless a port says otherwise.
    pub fn decided(self) -> Option<Domain> {
        let mut iter = self.iter();
        let first = iter.next()?;
        iter.all(|other| {
            other.effort_dimension == first.effort_dimension && other.flow_dimension == first.flow_dimension
        })
        .then_some(first.domain)
    }

    /// The value all members agree on.
    pub fn agreed(self, of: impl Fn(&DomainInfo) -> Dimension) -> Option<Dimension> {
        let mut iter = self.iter();
        let first = of(iter.next()?);
        iter.all(|other| of(other) == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_times_flow_is_power_in_true_domains() {
        let watt = Dimension::new([2, 1, -3, 0, 0, 0, 0]);
        for (i, info) in DOMAINS.iter().enumerate() {
            assert_eq!(info.domain as usize, i);
            let power = info.effort_dimension.times(info.flow_dimension);
            assert_eq!(power == watt, info.is_true, "{}", info.name);
        }
    }
}
