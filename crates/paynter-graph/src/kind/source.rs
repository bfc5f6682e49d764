//! Sources: Se and Sf.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports, Power};
use crate::causality::PortRule;

/// Se: imposes its effort.
pub(super) struct EffortSource;

impl ElementKind for EffortSource {
    fn class(&self) -> Class {
        Class::Source(Power::Effort)
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(1)
    }

    fn law(&self) -> LawForm {
        LawForm::Value
    }

    fn value(&self) -> Option<Meaning> {
        Some(("an effort", |d| d.effort_dimension))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("effort", format!("write `Se {name} = effort`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        vec![PortRule::must(false); asked.element().ports.len()]
    }

    fn mandate(&self) -> &'static str {
        "imposes its effort"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        Some((2, "put an R in series with one of the sources, or remove one"))
    }

    fn takes_m(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        "effort source"
    }
}

/// Sf: imposes its flow.
pub(super) struct FlowSource;

impl ElementKind for FlowSource {
    fn class(&self) -> Class {
        Class::Source(Power::Flow)
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(1)
    }

    fn law(&self) -> LawForm {
        LawForm::Value
    }

    fn value(&self) -> Option<Meaning> {
        Some(("a flow", |d| d.flow_dimension))
    }

    fn missing(&self, name: &str) -> (&'static str, String) {
        ("flow", format!("write `Sf {name} = flow`"))
    }

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        vec![PortRule::must(true); asked.element().ports.len()]
    }

    fn mandate(&self) -> &'static str {
        "imposes its flow"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        Some((2, "put an R or a C in parallel with one of the sources, or remove one"))
    }

    fn takes_m(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        "flow source"
    }
}
