//! Two-ports that conserve power: TF and GY.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports};
use crate::causality::PortRule;
use crate::model::Law;

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
        match asked.element().law {
            // e1 = m e2 and f2 = m f1 need no division: effort comes in at port 2.
            Law::Value(modulus) if asked.ranges.can_vanish(asked.pool, modulus) => {
                vec![PortRule::insists(false), PortRule::insists(true)]
            }
            _ => vec![PortRule::default(); asked.element().ports.len()],
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
        match asked.element().law {
            // e1 = r f2 and e2 = r f1: flow comes in at both ports.
            Law::Value(modulus) if asked.ranges.can_vanish(asked.pool, modulus) => {
                vec![PortRule::insists(false); 2]
            }
            _ => vec![PortRule::default(); asked.element().ports.len()],
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
