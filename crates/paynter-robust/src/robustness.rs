//! All that is asked about the robustness of an interconnection: its margin, worst-case gain and robust
//! performance, and the poles that its box of parameters reaches.

use num_complex::Complex64;
use paynter_base::number::significant;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, QueryError, code};

use crate::axis::frequencies;
use crate::branch::{Limits, branch_gain};
use crate::cloud::root_cloud;
use crate::gain::{WorstGain, nominal_gain, worst_gain};
use crate::modes::moved_part;
use crate::poles::Side;
use crate::stability::{NoMargin, Stability, stability};
use crate::system::Interconnection;
use crate::tolerance::{CLOUD_OPERATIONS, CLOUD_SAMPLES, FIRST_SHARE, STABILITY_SHARE};

/// What is asked about an interconnection.
#[derive(Debug, Clone)]
pub struct RobustQuestion {
    /// The frequencies of bounds, to which zero and infinity are added; chosen by the model where left out.
    pub omega: Option<Vec<f64>>,
    /// The factor at which a scaling of the box ends.
    pub limit: f64,
    /// When branch and bound ends; it does not run where left out.
    pub limits: Option<Limits>,
    /// Outputs and inputs of a worst-case gain.
    pub pair: Option<(Vec<usize>, Vec<usize>)>,
    /// Robust performance: a gain that may not be exceeded.
    pub gain: Option<f64>,
    /// Parameters that are known to leave no solution: the search for unstable ones begins there too.
    pub start: Option<Vec<f64>>,
    /// The poles of the nominal model by exact numbers, where they are known: they decide what rounding leaves open.
    pub exact: Option<Vec<Complex64>>,
    /// How many operations all of it may take, about; without end where left out.
    pub work: Option<u64>,
}

/// What there is to say about robustness.
#[derive(Debug, Clone)]
pub struct Robustness {
    /// Bounds of the margin.
    pub stability: Stability,
    /// The worst-case gain, where it was asked for.
    pub gain: Option<GainAnalysis>,
    /// Poles of the nominal model.
    pub poles: Vec<Complex64>,
    /// Poles within the box, at samples.
    pub cloud: Vec<Complex64>,
    /// The operations that were allowed, where all of them are spent: bounds are those that were found by then.
    pub spent: Option<u64>,
}

/// What there is to say about a worst-case gain.
#[derive(Debug, Clone)]
pub struct GainAnalysis {
    /// The bounds.
    pub worst: WorstGain,
    /// The parts of the box looked at by branch and bound.
    pub nodes: usize,
    /// By frequency of the bounds: the gain of the nominal model and at the worst parameters.
    pub responses: Vec<(f64, f64)>,
    /// Robust performance: the margin of stability and of the gain that was asked for together.
    pub performance: Option<Stability>,
}

impl RobustQuestion {
    /// Answers it for an interconnection.
    pub fn answer(
        &self,
        whole: &Interconnection,
        token: &CancellationToken,
    ) -> Result<Robustness, QueryError> {
        let token = &self.work.map_or_else(|| token.clone(), |work| token.with_budget(work));
        let system = whole.inner();
        let ends = |list: &Vec<f64>| [&[0.0], list.as_slice(), &[f64::INFINITY]].concat();
        let omega = self.omega.as_ref().map_or_else(|| frequencies(&system), ends);
        let starts: Vec<Vec<f64>> = self.start.clone().into_iter().collect();
        let share = if self.pair.is_some() { token.with_share(STABILITY_SHARE) } else { token.clone() };
        let stability = self
            .nominally(&system)
            .unwrap_or_else(|| stability(&system, &omega, (self.limit, &starts), self.limits, &share))?;
        // Worst-case gains stand beside the bounds, at the same frequencies.
        let omega: Vec<f64> = stability.axis.points.iter().map(|point| point.omega).collect();
        let pair = self.pair.as_ref();
        let gain = pair.map(|(outputs, inputs)| self.gain(whole, outputs, inputs, &omega, token));
        let gain = gain.transpose()?;
        // The margin has a part of the work: it ends with that where a gain was asked for.
        let spent = self.work.filter(|_| token.is_spent() || share.is_spent());
        Ok(Robustness {
            poles: system.close_poles(),
            cloud: root_cloud(&system, 1.0, CLOUD_SAMPLES, 1, &token.with_budget(CLOUD_OPERATIONS)),
            stability,
            gain,
            spent,
        })
    }

    /// What the exact poles say of a nominal model that has no margin.
    fn nominally(&self, system: &Interconnection) -> Option<Result<Stability, NoMargin>> {
        let exact = self.exact.as_ref()?;
        if let Some(pole) = exact.iter().find(|pole| pole.re > 0.0) {
            return Some(Err(NoMargin::Unstable(*pole)));
        }
        let (moved, fixed) = moved_part(system);
        let mut set_aside = fixed.iter().filter(|mode| mode.value == Complex64::ZERO).count();
        let mut on_axis = exact.iter().filter(|pole| pole.re == 0.0);
        let pole = on_axis.find(|pole| {
            let is_fixed = **pole == Complex64::ZERO && set_aside > 0;
            set_aside -= usize::from(is_fixed);
            !is_fixed
        })?;
        Some(Ok(Stability::none(moved.parameters(), self.limit, *pole, fixed)))
    }

    fn gain(
        &self,
        whole: &Interconnection,
        outputs: &[usize],
        inputs: &[usize],
        omega: &[f64],
        token: &CancellationToken,
    ) -> Result<GainAnalysis, QueryError> {
        let question = moved_part(&whole.with_performance(outputs, inputs, 1.0)).0;
        refuse_infinite(&question)?;
        // In units in which the nominal gain is about one: beside the other channels no gain is negligible.
        let size = nominal_gain(&question, omega, token);
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        let question = moved_part(&whole.with_performance(outputs, inputs, 1.0 / size)).0;
        let mut worst = worst_gain(&question, omega, &token.with_share(FIRST_SHARE))?;
        let mut nodes = 0;
        if let Some(limits) = self.limits.filter(|_| question.parameters() > 0) {
            let share = if self.gain.is_some() { token.with_share(FIRST_SHARE) } else { token.clone() };
            (worst, nodes) = branch_gain(&question, worst, limits, &share)?;
        }
        let performance = self.gain.map(|gain| {
            let question = whole.with_performance(outputs, inputs, 1.0 / gain);
            stability(&question, omega, (self.limit, &[]), None, token)
        });
        let responses = worst.responses(&question);
        let responses = responses.into_iter().map(|(a, b)| (size * a, size * b)).collect();
        let worst = worst.times(size);
        Ok(GainAnalysis { worst, nodes, responses, performance: performance.transpose()? })
    }
}

/// Refuses a gain through a pole on the imaginary axis that the input drives and the output sees.
fn refuse_infinite(question: &Interconnection) -> Result<(), QueryError> {
    let poles = question.poles();
    let mut places = poles.sides().zip(poles.at_zero());
    let Some(((pole, _), is_zero)) = places.find(|((_, side), _)| matches!(side, Side::On | Side::Undecided))
    else {
        return Ok(());
    };
    let place = match is_zero {
        true => "0".to_owned(),
        false => format!("±{}j", significant(pole.im.abs())),
    };
    let message = format!(
        "the gain of the nominal model is infinite: it has a pole at {place} that the input drives and the output sees"
    );
    Err(QueryError::from(Diagnostic::new(code::INFINITE_GAIN, message)))
}

impl Robustness {
    /// What a reader of the margin has to know first; states by their names.
    pub fn findings(&self, states: &[String]) -> Diagnostics {
        let mut findings = Diagnostics::new();
        for mode in self.stability.fixed.iter().filter(|mode| mode.value == Complex64::ZERO) {
            let names: Vec<&str> =
                mode.states.iter().filter_map(|k| states.get(*k)).map(String::as_str).collect();
            let message =
                format!("a pole at zero in {} is moved by no parameter; it is set aside", names.join(", "));
            findings.push(Diagnostic::new(code::FIXED_POLE, message));
        }
        if let Some(work) = self.spent {
            let message = format!(
                "the budget of {} million operations is spent: bounds are those that were proved by then, and values those that were found",
                significant(work as f64 / 1e6)
            );
            findings.push(Diagnostic::new(code::WORK_SPENT, message));
        }
        findings
    }
}
