//! Storages: C and I, of one port or many.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports, Stored};
use crate::causality::{PortRule, field_rules};

/// C: relates effort and displacement.
pub(super) struct Capacitor;

impl ElementKind for Capacitor {
    fn class(&self) -> Class {
        Class::Storage(Stored::Displacement)
    }

    fn ports(&self) -> Ports {
        Ports::Field
    }

    fn law(&self) -> LawForm {
        LawForm::Field
    }

    fn value(&self) -> Option<Meaning> {
        Some(("displacement over effort", |d| d.displacement_dimension().over(d.effort_dimension)))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("value", format!("write `C {name} = capacitance`, or a law such as `C {name} {{ e = k*q }}`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        field_rules(asked)
    }

    fn mandate(&self) -> &'static str {
        "gives way, so that a loop does not determine itself"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "capacitor"
    }
}

/// I: relates flow and momentum.
pub(super) struct Inertia;

impl ElementKind for Inertia {
    fn class(&self) -> Class {
        Class::Storage(Stored::Momentum)
    }

    fn ports(&self) -> Ports {
        Ports::Field
    }

    fn law(&self) -> LawForm {
        LawForm::Field
    }

    fn value(&self) -> Option<Meaning> {
        Some(("momentum over flow", |d| d.momentum_dimension().over(d.flow_dimension)))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("value", format!("write `I {name} = inertia`, or a law such as `I {name} {{ f = p/m }}`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        field_rules(asked)
    }

    fn mandate(&self) -> &'static str {
        "gives way, so that a loop does not determine itself"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "inertia"
    }
}
