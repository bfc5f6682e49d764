//! Why a run ended early, and what was found on its way.

mod cause;
mod failure;
mod note;

use super::Simulation;
use crate::tolerance::SHOWN_ALIKE;
use crate::{Note, Outcome};
use paynter_algebra::Pool;
use paynter_base::Diagnostics;
use paynter_base::number::moment;

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
            let alike = Alike::of(note, &outcome.notes);
            if alike.as_ref().is_some_and(|alike| !alike.is_first) {
                continue;
            }
            if let Some(mut diagnostic) = explanation.note(note) {
                alike.iter().for_each(|alike| diagnostic.message += &alike.said());
                diagnostics.push(diagnostic);
            }
        }
        if let Some(failure) = outcome.failure {
            diagnostics.push(explanation.failure(outcome, failure));
        }
        diagnostics
    }
}

/// Findings of one kind, which a long chain of events may have by the hundred: the first tells of the others.
struct Alike {
    is_first: bool,
    count: usize,
    last: f64,
}

impl Alike {
    /// The findings that are like a note, where they are too many to be shown one by one.
    fn of(note: &Note, notes: &[Note]) -> Option<Alike> {
        let kind = repeated(note)?.0;
        let others = || notes.iter().filter_map(repeated).filter(|(other, _)| *other == kind);
        let (count, last) = (others().count(), others().next_back()?.1);
        let first = notes.iter().find(|other| repeated(other).is_some_and(|(other, _)| other == kind))?;
        (count > SHOWN_ALIKE).then(|| Alike { is_first: first == note, count, last })
    }

    fn said(&self) -> String {
        format!(" (the first of {} such findings, the last at t = {})", self.count, moment(self.last))
    }
}

/// The kind and time of a note of which there may be very many.
fn repeated(note: &Note) -> Option<(std::mem::Discriminant<Note>, f64)> {
    match note {
        Note::Grazing { t, .. } | Note::Undecided { t, .. } | Note::NotUnique { t, .. } => {
            Some((std::mem::discriminant(note), *t))
        }
        _ => None,
    }
}

/// A simulation whose run is explained.
struct Explanation<'a> {
    pool: &'a Pool,
    simulation: &'a Simulation,
    parameters: &'a [f64],
}
