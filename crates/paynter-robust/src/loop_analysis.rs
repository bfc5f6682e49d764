//! All that is asked about one loop of a closed model over the box of its tolerances.

use num_complex::Complex64;
use paynter_base::number::significant;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, QueryError, code};

use crate::loops::{Margins, OpenLoop};
use crate::tolerance::FIRST_SHARE;
use crate::tolerances::{Family, StepAnalysis, WorstMargin, open, step_analysis, worst_margins};

/// Which loop of a model, and what is asked about it.
#[derive(Debug, Clone, Default)]
pub struct LoopQuestion {
    /// Where the loop is opened, by name.
    pub place: String,
    /// The input that is injected there.
    pub injected: usize,
    /// The output that comes back.
    pub returned: usize,
    /// The number of uncertain parameters.
    pub parameters: usize,
    /// The frequencies of its response; chosen by the loop where left out.
    pub omega: Option<Vec<f64>>,
    /// Outputs and inputs of step responses.
    pub steps: Vec<(usize, usize)>,
    /// The poles of the nominal model by exact numbers, where they are known: they decide what rounding leaves open.
    pub exact: Option<Vec<Complex64>>,
    /// About how many operations the matrices at parameters take.
    pub evaluation: u64,
    /// How many operations all of it may take, about; without end where left out.
    pub work: Option<u64>,
}

/// What there is to say about a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopAnalysis {
    /// The nominal loop.
    pub opened: OpenLoop,
    /// Angular frequencies in rad/s.
    pub omega: Vec<f64>,
    /// L(jω).
    pub response: Vec<Complex64>,
    /// The margins of the nominal loop.
    pub margins: Margins,
    /// The smallest margins found in the box.
    pub worst: Vec<WorstMargin>,
    /// Step responses of the closed loop with their figures.
    pub steps: Vec<StepAnalysis>,
    /// Outputs and inputs of step responses that do not settle.
    pub unsettled: Vec<(usize, usize)>,
    /// Outputs and inputs of step responses that are impulses.
    pub impulsive: Vec<(usize, usize)>,
    /// The operations that were allowed, where all of them are spent: searches within the tolerances ended early.
    pub spent: Option<u64>,
}

impl LoopQuestion {
    /// Answers it for a model by its matrices over the box.
    pub fn answer(&self, family: &Family<'_>, token: &CancellationToken) -> Result<LoopAnalysis, QueryError> {
        let token = &self.work.map_or_else(|| token.clone(), |work| token.with_budget(work));
        let family: &Family<'_> = &|delta: &[f64]| {
            token.spend(self.evaluation);
            family(delta)
        };
        let nominal = family(&vec![0.0; self.parameters]).ok_or_else(|| self.improper())?;
        let opened = open(&nominal, self.injected, self.returned).ok_or_else(|| self.improper())?;
        let stable = self.exact.as_ref().map(|poles| opened.is_stable_by(poles));
        let margins = stable.map_or_else(|| opened.margins(), |stable| opened.margins_where(stable));
        let omega = self.omega.clone().unwrap_or_else(|| opened.frequencies());
        let response = omega.iter().map(|omega| opened.at(*omega)).collect();
        let (worst, steps) = (Vec::new(), Vec::new());
        let is_impulse = |(output, input): &&(usize, usize)| nominal.d[(*output, *input)].is_infinite();
        let (impulsive, unsettled) = (self.steps.iter().filter(is_impulse).copied().collect(), Vec::new());
        let spent = None;
        let mut found =
            LoopAnalysis { opened, omega, response, margins, worst, steps, unsettled, impulsive, spent };
        // Neither worst cases nor steps mean anything where the nominal loop is not stable.
        if !found.margins.stable {
            return Ok(found);
        }
        if self.parameters > 0 {
            let place = (self.injected, self.returned);
            let share = token.with_share(FIRST_SHARE);
            found.worst = worst_margins(family, place, self.parameters, &share)?;
            found.spent = self.work.filter(|_| share.is_spent());
        }
        let responses: Vec<(usize, usize)> =
            self.steps.iter().filter(|step| !is_impulse(step)).copied().collect();
        for (k, &(output, input)) in responses.iter().enumerate() {
            // What one does not take is left for the others.
            let share = token.with_share(1.0 / (responses.len() - k) as f64);
            let analysis = step_analysis(family, output, input, self.parameters, &share)?;
            found.spent = found.spent.or(self.work.filter(|_| share.is_spent()));
            match analysis {
                Some(step) => found.steps.push(step),
                None => found.unsettled.push((output, input)),
            }
        }
        Ok(found)
    }

    fn improper(&self) -> QueryError {
        let message = format!(
            "what is injected at `{}` returns at once and whole: no finite loop gain exists",
            self.place
        );
        QueryError::from(Diagnostic::new(code::IMPROPER_LOOP, message))
    }

    /// What a reader of the answer has to know first; inputs and outputs by their names.
    pub fn findings(&self, found: &LoopAnalysis, inputs: &[String], outputs: &[String]) -> Diagnostics {
        let mut findings = Diagnostics::new();
        if found.opened.is_zero() {
            let message =
                format!("nothing of what is injected at `{}` comes back: its loop gain is zero", self.place);
            findings.push(Diagnostic::new(code::NO_FEEDBACK, message));
        }
        if !found.margins.stable {
            let bound =
                |factor: f64| if factor.is_infinite() { "∞".to_owned() } else { significant(factor) };
            let list = found.margins.stabilising.iter();
            let list: Vec<String> =
                list.map(|(low, high)| format!("from {} to {}", bound(*low), bound(*high))).collect();
            let factors = match list.is_empty() {
                true => "no factor of its gain makes it stable".to_owned(),
                false => format!("it is with its gain multiplied by factors {}", list.join(", and ")),
            };
            let message = format!(
                "the closed loop is not stable, so that it has no margin of phase, delay or both to lose; {factors}"
            );
            findings.push(Diagnostic::new(code::UNSTABLE_LOOP, message));
        }
        if let Some(work) = found.spent {
            let message = format!(
                "the budget of {} million operations is spent: worst cases and ranges are those that were found by then",
                significant(work as f64 / 1e6)
            );
            findings.push(Diagnostic::new(code::WORK_SPENT, message));
        }
        let mut without_figures = |list: &[(usize, usize)], what: &str| {
            for (output, input) in list {
                let message = format!("`{}` {what} `{}`", outputs[*output], inputs[*input]);
                findings.push(Diagnostic::new(code::UNSETTLED_STEP, message));
            }
        };
        without_figures(&found.unsettled, "does not settle after a step of");
        without_figures(&found.impulsive, "has no step response: it follows the derivative of");
        findings
    }
}
