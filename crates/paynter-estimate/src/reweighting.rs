//! Losses and priors are measured by the noise, which is known once a fit is: the search goes on with better measures
//! until they stay.

use crate::loss::{Loss, Penalty};
use crate::problem::{Evaluation, Problem, Rejection};
use crate::question::EstimateOptions;
use crate::search::{Found, Limits, Method, search};
use crate::tolerance::{CAUCHY_THRESHOLD, HUBER_THRESHOLD, MEDIAN_DEVIATION, MOST_ROUNDS, SCALE_CHANGE};
use paynter_base::CancellationToken;

/// Searches on from what squares have found, with losses and priors by the noise that its residuals show.
pub(crate) fn reweight(
    problem: &mut Problem<'_>,
    found: &mut Found,
    choice: (Method, Limits),
    options: &EstimateOptions,
    token: &CancellationToken,
) -> Result<(), Rejection> {
    for _ in 0..MOST_ROUNDS {
        let scales = NoiseScales::new(problem, &found.evaluation, options.loss, token)?;
        let penalties: Vec<Penalty> =
            scales.outputs.iter().map(|scale| penalty(options.loss, *scale)).collect();
        let noise = if options.prior { scales.whole } else { 0.0 };
        let near = |new: f64, known: f64| (new - known).abs() <= SCALE_CHANGE * new;
        let same = |(new, known): (&Penalty, &Penalty)| {
            new.loss == known.loss && near(new.threshold, known.threshold)
        };
        if scales.whole.is_nan()
            || near(noise, problem.noise) && penalties.iter().zip(&problem.penalties).all(same)
        {
            break;
        }
        (problem.penalties, problem.noise) = (penalties, noise);
        let before = std::mem::take(&mut found.history);
        let simulations = found.simulations;
        *found = search(problem, choice, &found.evaluation.z, token)?;
        found.simulations += simulations;
        found.history.iter_mut().for_each(|iteration| iteration.simulations += simulations);
        // The first of the new search is the last of the one before, at another cost.
        let kept = before.len().saturating_sub(1);
        found.history.splice(0..0, before.into_iter().take(kept));
    }
    Ok(())
}

/// The loss of an output with noise of this size. One that is reproduced to the digit has no noise that a loss could be
/// measured by.
fn penalty(loss: Loss, scale: f64) -> Penalty {
    let factor = match loss {
        Loss::Huber => HUBER_THRESHOLD,
        Loss::Cauchy => CAUCHY_THRESHOLD,
        Loss::Squares => 1.0,
    };
    match loss != Loss::Squares && scale > 0.0 {
        true => Penalty { loss, threshold: factor * scale },
        false => Penalty::SQUARES,
    }
}

/// The standard deviation of weighted residuals: for robust losses by the median, which far ones do not move.
struct NoiseScales {
    /// Of each output.
    outputs: Vec<f64>,
    /// Of all together.
    whole: f64,
}

impl NoiseScales {
    fn new(
        problem: &Problem<'_>,
        at: &Evaluation,
        loss: Loss,
        token: &CancellationToken,
    ) -> Result<NoiseScales, Rejection> {
        let mut sizes = vec![Vec::new(); problem.outputs.len()];
        for experiment in 0..problem.experiments.len() {
            if !problem.experiments[experiment].validates {
                problem.visit(experiment, &at.z, false, token, &mut |row| {
                    if row.weight != 0.0 {
                        sizes[row.output].push((row.weight * (row.model - row.data)).abs());
                    }
                })?;
            }
        }
        let unknowns = problem.unknowns.len() as f64;
        let scale = |sizes: &mut [f64], unknowns: f64| match loss {
            _ if sizes.is_empty() => 0.0,
            Loss::Squares => {
                let freedom = (sizes.len() as f64 - unknowns).max(1.0);
                (sizes.iter().map(|size| size * size).sum::<f64>() / freedom).sqrt()
            }
            Loss::Huber | Loss::Cauchy => {
                let middle = sizes.len() / 2;
                let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
                MEDIAN_DEVIATION * *median
            }
        };
        let mut all = sizes.concat();
        let whole = scale(&mut all, unknowns);
        Ok(NoiseScales { outputs: sizes.iter_mut().map(|own| scale(own, 0.0)).collect(), whole })
    }
}
