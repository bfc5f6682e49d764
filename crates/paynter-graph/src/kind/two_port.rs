//! Two-ports that conserve power: TF and GY.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports};
use crate::causality::PortRule;
use crate::model::Law;

/// The ways through a two-port with a modulus, by what they would divide by.
enum Ways {
    /// Neither divides by anything that can vanish.
    Both,
    /// Only multiplying by the modulus does not: it can vanish.
    Multiply,
    /// Only dividing by the modulus does not: its reciprocal can vanish.
    Divide,
    /// Each divides by something that can vanish.
    Neither,
}

impl Ways {
    /// Finds the safe ways. Multiplying by m = a/b divides by b, dividing by it divides by a.
    fn of(asked: &mut Asked<'_>) -> Ways {
        let Law::Value(modulus) = asked.element().law else { return Ways::Both };
        let (above, below) = asked.pool.numerator_and_denominator(modulus);
        let infinite = below != asked.pool.one() && asked.ranges.can_vanish(asked.pool, below);
        match (asked.ranges.can_vanish(asked.pool, above), infinite) {
            (false, false) => Ways::Both,
            (true, false) => Ways::Multiply,
            (false, true) => Ways::Divide,
            (true, true) => Ways::Neither,
        }
    }
}

/// TF: e1 = m e2, f2 = m f1.
pub(super) struct Transformer;

impl ElementKind for Transformer {
    fn class(&self) -> Class {
        Class::Transformer
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(2)
    }

    fn law(&self) -> LawForm {
        LawForm::Value
    }

    fn value(&self) -> Option<Meaning> {
        None
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("modulus", format!("write `TF {name} = modulus`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        match Ways::of(asked) {
            // e1 = m e2 and f2 = m f1: effort comes in at port 2.
            Ways::Multiply => vec![PortRule::insists(false), PortRule::insists(true)],
            Ways::Divide => vec![PortRule::insists(true), PortRule::insists(false)],
            // Effort comes in at one of the ports.
            Ways::Neither => vec![PortRule::unsafe_with(true); 2],
            Ways::Both => vec![PortRule::default(); asked.element().ports.len()],
        }
    }

    fn mandate(&self) -> &'static str {
        "has a single bond"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        "transformer"
    }
}

/// GY: e1 = r f2, e2 = r f1.
pub(super) struct Gyrator;

impl ElementKind for Gyrator {
    fn class(&self) -> Class {
        Class::Gyrator
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(2)
    }

    fn law(&self) -> LawForm {
        LawForm::Value
    }

    fn value(&self) -> Option<Meaning> {
        None
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("modulus", format!("write `GY {name} = modulus`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        match Ways::of(asked) {
            // e1 = r f2 and e2 = r f1: flow comes in at both ports.
            Ways::Multiply => vec![PortRule::insists(false); 2],
            Ways::Divide => vec![PortRule::insists(true); 2],
            // Effort comes in at both ports or at none.
            Ways::Neither => vec![PortRule::unsafe_with(true), PortRule::unsafe_with(false)],
            Ways::Both => vec![PortRule::default(); asked.element().ports.len()],
        }
    }

    fn mandate(&self) -> &'static str {
        "has a single bond"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        "gyrator"
    }
}
