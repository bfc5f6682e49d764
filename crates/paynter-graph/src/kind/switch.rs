//! Switches: Sw, closed while a condition holds.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports};
use crate::causality::{PortRule, Strength};
use crate::model::Law;

/// Sw: f = (if closed 1/Ron, else Goff)·e.
pub(super) struct Switch;

impl ElementKind for Switch {
    fn class(&self) -> Class {
        Class::Resistor
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(1)
    }

    fn law(&self) -> LawForm {
        LawForm::Switch
    }

    fn value(&self) -> Option<Meaning> {
        Some(("effort over flow", |d| d.effort_dimension.over(d.flow_dimension)))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("condition", format!("write `Sw {name} when (condition) {{ Ron = … }}`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        let n = asked.element().ports.len();
        let Law::Switch { off, .. } = asked.element().law else {
            return vec![PortRule::likes(false, Strength::Free); n];
        };
        // Closed or open, a conductance that is never zero can be turned round.
        if asked.ranges.can_vanish(asked.pool, off) {
            vec![PortRule::must(true); n]
        } else {
            vec![PortRule::likes(true, Strength::Free); n]
        }
    }

    fn mandate(&self) -> &'static str {
        "may open and must then take effort in"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        Some((1, "an open switch stops all flow: give it a small `Goff`, so that some can pass"))
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "switch"
    }
}
