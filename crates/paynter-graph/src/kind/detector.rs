//! Detectors: De and Df.

use super::{Asked, Class, ElementKind, LawForm, Meaning, Ports, Power};
use crate::causality::PortRule;

/// De: reads effort, a source of zero flow.
pub(super) struct EffortDetector;

impl ElementKind for EffortDetector {
    fn class(&self) -> Class {
        Class::Detector(Power::Effort)
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(1)
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

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        vec![PortRule::must(true); asked.element().ports.len()]
    }

    fn mandate(&self) -> &'static str {
        "reads effort and takes no flow"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "effort detector"
    }
}

/// Df: reads flow, a source of zero effort.
pub(super) struct FlowDetector;

impl ElementKind for FlowDetector {
    fn class(&self) -> Class {
        Class::Detector(Power::Flow)
    }

    fn ports(&self) -> Ports {
        Ports::Fixed(1)
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

    fn rules(&self, asked: &mut Asked<'_>) -> Vec<PortRule> {
        vec![PortRule::must(false); asked.element().ports.len()]
    }

    fn mandate(&self) -> &'static str {
        "reads flow and takes no effort"
    }

    fn advice(&self) -> Option<(usize, &'static str)> {
        None
    }

    fn takes_m(&self) -> bool {
        false
    }

    fn description(&self) -> &'static str {
        "flow detector"
    }
}
