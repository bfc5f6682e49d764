//! What people are told about an estimation in sentences, wherever it is shown.

use crate::estimation::Estimation;
use crate::tolerance::SHOWN_SHARE;
use paynter_base::number::plain;
use paynter_numerics::program::Hold;

impl Estimation {
    /// How many directions of the unknowns the data determine, and which of those the least.
    pub fn determined(&self) -> Vec<String> {
        let (before, after) = (&self.before, &self.after);
        let count = self.estimates.len();
        let mut lines = vec![format!(
            "the data determine {} of {count} directions at the start, {} at the estimate",
            before.rank, after.rank
        )];
        if count > 1
            && let Some(last) = after.rank.checked_sub(1).filter(|last| *last > 0)
        {
            lines.push(format!(
                "least of these, by {} of the most: relative changes along {}",
                plain(after.singular_values[last] / after.singular_values[0], 3),
                direction(&after.names, &after.directions[last])
            ));
        }
        lines
    }

    /// Where inputs and initial states come from.
    pub fn sources(&self) -> Vec<String> {
        let of = |measured: bool| {
            let own = self.inputs.iter().filter(|(_, known)| *known == measured);
            own.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let hold = match self.hold {
            Hold::Linear => "straight lines between samples",
            Hold::Zero => "the last sample held",
        };
        let (measured, own) = (of(true), of(false));
        let mut lines = Vec::new();
        if !measured.is_empty() {
            lines.push(format!("measured inputs: {measured}, {hold}"));
        }
        if !own.is_empty() {
            lines.push(format!("inputs as the model has them: {own}"));
        }
        if self.experiments.iter().any(|experiment| experiment.validates) {
            lines.push("files that validate: from the initial states of the first experiment".to_owned());
        }
        lines
    }

    /// How the search went and why it ended.
    pub fn ended(&self) -> String {
        format!(
            "{} {} after {} iterations and {} simulations: {}",
            self.method.name(),
            if self.stop.is_converged() { "converged" } else { "did not converge" },
            self.history.len() - 1,
            self.simulations,
            self.stop.words()
        )
    }
}

/// A direction of relative changes, as a sum of what has a part in it.
fn direction(names: &[String], parts: &[f64]) -> String {
    let largest = parts.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
    let told = || names.iter().zip(parts).filter(|(_, part)| part.abs() >= SHOWN_SHARE * largest);
    // A direction has no sign: what comes first is positive.
    let sign = told().next().map_or(1.0, |(_, part)| part.signum());
    let mut text = String::new();
    for (name, part) in told() {
        match (text.is_empty(), sign * part < 0.0) {
            (true, _) => {}
            (false, true) => text.push_str(" − "),
            (false, false) => text.push_str(" + "),
        }
        text.push_str(&format!("{} {name}", plain(part.abs(), 2)));
    }
    text
}
