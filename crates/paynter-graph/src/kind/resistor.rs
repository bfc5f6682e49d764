//! Resistors: R, of one port or many.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports};
use crate::causality::{PortRule, field_rules};

/// R: relates effort and flow.
pub(super) struct Resistor;

impl ElementKind for Resistor {
    fn class(&self) -> Class {
        Class::Resistor
    }

    fn ports(&self) -> Ports {
        Ports::Field
    }

    fn law(&self) -> LawForm {
        LawForm::Field
    }

    fn value(&self) -> Option<Meaning> {
        Some(("effort over flow", |d| d.effort_dimension.over(d.flow_dimension)))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("value", format!("write `R {name} = resistance`, or a law such as `R {name} {{ e = r*f }}`"))
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
        "resistor"
    }
}
