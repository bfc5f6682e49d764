//! How far an answer fulfils the graph's own equations.

use schemars::JsonSchema;
use serde::Serialize;

/// The checks of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Checks {
    /// What was put into the acausal equations of the graph.
    pub checks: Vec<Agreement>,
    /// Whether the answer agrees with the graph's equations, as far as it was put into them. What disagrees is
    /// withheld, so that this is false only where nothing could be checked.
    pub verified: bool,
}

/// A comparison of an answer with the graph's equations.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Agreement {
    /// What was compared.
    pub what: String,
    /// By how much it misses the equations, beside its size.
    pub residual: f64,
}

impl Checks {
    /// Lists comparisons with their residuals.
    pub fn new(list: impl IntoIterator<Item = (String, f64)>) -> Checks {
        let checks: Vec<Agreement> =
            list.into_iter().map(|(what, residual)| Agreement { what, residual }).collect();
        Checks { verified: !checks.is_empty(), checks }
    }

    /// The checks of two parts of an answer.
    pub fn and(mut self, other: Checks) -> Checks {
        self.checks.extend(other.checks);
        Checks { verified: !self.checks.is_empty(), ..self }
    }
}
