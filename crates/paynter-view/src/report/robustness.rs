//! The section on robustness: how far the tolerances may grow before the model is unstable, and where it fails.

use super::{Cell, Section, capital};
use crate::json::Robust;
use paynter_base::number::significant;

/// The margin with what is proved of it, the worst parameters, bounds over frequency, and poles within the tolerances.
pub fn robustness(found: &Robust) -> Section {
    let mut section = Section::new("robustness", "Robustness");
    for line in found.margin_words() {
        section.text(format!("{}.", capital(&line)));
    }
    if let Some(worst) = &found.worst {
        let rows = found.rows_of(&worst.parameters).into_iter();
        let rows = rows.map(|[name, nominal, here, delta]| {
            vec![Cell::Name(name), Cell::Number(nominal), Cell::Number(here), Cell::Number(delta)]
        });
        let caption = match worst.omega {
            Some(omega) => {
                format!("Parameters with a pole on the imaginary axis at {} rad/s", significant(omega))
            }
            None => "Parameters at which the equations have no solution".to_owned(),
        };
        section.table(
            &caption,
            &["Parameter", "Nominal", "Here", "Of its tolerance"],
            rows.collect(),
            "robust",
        );
    }
    if let Some(bound) = found.mu_bound {
        let place =
            found.peak.omega.map_or("infinity".to_owned(), |omega| format!("{} rad/s", significant(omega)));
        section
            .text(format!("μ ≤ {} at all frequencies; the bound is largest at {place}.", significant(bound)));
    }
    if let Some(words) = found.unresolved_words(&|omega| omega, "rad/s") {
        section.text(format!("{}.", capital(&words)));
    }
    if !found.omega.is_empty() {
        section.plot(
            &found.bounds(),
            "The structured singular value: bounds over frequency. Its reciprocal is the factor by which the tolerances may grow.",
        );
    }
    section.plot(&found.roots(), "Poles at samples within the tolerances, and at the margin.");
    for (title, list) in [("Proved", &found.proved), ("Found, not proved", &found.estimated)] {
        if !list.is_empty() {
            section.heading(title);
            list.iter().for_each(|line| section.text(format!("{}.", capital(line))));
        }
    }
    section
}
