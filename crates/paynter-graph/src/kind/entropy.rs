//! Resistors that produce entropy: RS.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports};
use crate::causality::{PortRule, field_rules};

/// RS: a resistor at port 1 that delivers its heat at port 2.
pub(super) struct EntropySource;

impl ElementKind for EntropySource {
    fn class(&self) -> Class {
        Class::EntropySource
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(2)
    }

    fn law(&self) -> LawForm {
        LawForm::Value
    }

    fn value(&self) -> Option<Meaning> {
        Some(("effort over flow", |d| d.effort_dimension.over(d.flow_dimension)))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("value", format!("write `RS {name} = resistance`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        // Port 1 is that of a resistor; the entropy flow follows from the temperature at port 2.
        let mut rules = field_rules(asked);
        rules.truncate(1);
        rules.push(PortRule::must(true));
        rules
    }

    fn mandate(&self) -> &'static str {
        "needs the temperature at its thermal port"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "resistor that delivers its heat at port 2"
    }
}
