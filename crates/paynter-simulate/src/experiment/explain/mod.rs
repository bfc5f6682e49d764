//! Why a run ended early, and what was found on its way.

mod cause;
mod failure;
mod note;

use super::Simulation;
use crate::{Note, Outcome};
use paynter_algebra::Pool;
use paynter_base::Diagnostics;

impl Simulation {
    /// Says why a run with some parameters ended early, and what was found on its way. The pool is that with
    /// which the simulation was compiled.
    pub fn explain(&self, pool: &Pool, parameters: &[f64], outcome: &Outcome) -> Diagnostics {
        let explanation = Explanation { pool, simulation: self, parameters };
        let mut diagnostics = Diagnostics::new();
        let mut lost = Vec::new();
        for note in &outcome.notes {
            match note {
                // A sensitivity that has gone for good is reported once.
                Note::Undefined { lane: Some(lane), .. } if lost.contains(lane) => continue,
                Note::InfiniteDerivative { lane, .. } | Note::UndefinedInitialDerivative { lane, .. } => {
                    lost.push(*lane);
                }
                _ => {}
            }
            explanation.note(note).into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
        }
        if let Some(failure) = outcome.failure {
            diagnostics.push(explanation.failure(outcome, failure));
        }
        diagnostics
    }
}

/// A simulation whose run is explained.
struct Explanation<'a> {
    pool: &'a Pool,
    simulation: &'a Simulation,
    parameters: &'a [f64],
}
