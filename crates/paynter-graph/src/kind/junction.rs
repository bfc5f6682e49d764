//! Junctions: 0 and 1. Their causality is a rule for all their bonds together, which assignment knows.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports, Power};
use crate::causality::PortRule;

/// 0: one effort.
pub(super) struct ZeroJunction;

impl ElementKind for ZeroJunction {
    fn class(&self) -> Class {
        Class::Junction(Power::Effort)
    }

    fn ports(&self) -> Ports {
        Ports::Any
    }

    fn law(&self) -> LawForm {
        LawForm::Structure
    }

    fn value(&self) -> Option<Meaning> {
        None
    }

    fn missing(&self, _name: &str) -> (&'static str, String) {
        ("value", String::new())
    }

    fn rules(&self, _asked: &mut Asked<'_>) -> Vec<PortRule> {
        Vec::new()
    }

    fn mandate(&self) -> &'static str {
        "has a single bond"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "0-junction: common effort"
    }
}

/// 1: one flow.
pub(super) struct OneJunction;

impl ElementKind for OneJunction {
    fn class(&self) -> Class {
        Class::Junction(Power::Flow)
    }

    fn ports(&self) -> Ports {
        Ports::Any
    }

    fn law(&self) -> LawForm {
        LawForm::Structure
    }

    fn value(&self) -> Option<Meaning> {
        None
    }

    fn missing(&self, _name: &str) -> (&'static str, String) {
        ("value", String::new())
    }

    fn rules(&self, _asked: &mut Asked<'_>) -> Vec<PortRule> {
        Vec::new()
    }

    fn mandate(&self) -> &'static str {
        "has a single bond"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "1-junction: common flow"
    }
}
