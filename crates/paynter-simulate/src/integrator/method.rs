//! Selection of the method: explicit or implicit by stiffness, of order five or eight by trial.

use super::Integrator;
use crate::method::Solver;
use crate::method::explicit::Explicit;
use crate::method::implicit::Implicit;
use crate::method::tableau::Tableau;
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    NONSTIFF_SIGNS, NONSTIFF_STEP, ORDER_EIGHT_TOLERANCE, STIFF_SIGNS, STIFF_STABILITY_SHARE,
    STIFF_UNDETERMINED_SHARE, TRIAL_GROWTH, TRIAL_PACE_CHANGE, TRIAL_STEPS,
};
use crate::{Failure, Method, Options};

/// Two explicit methods are compared by how far they come with an evaluation.
#[derive(Debug)]
pub(super) struct Trial {
    /// Whether it is open which method is better where errors limit steps; where corners of measured signals do, it
    /// is at any tolerance.
    open: bool,
    /// Steps of the method at hand that count, and the time and evaluations where they began.
    steps: u32,
    since: (f64, u64),
    phase: Phase,
    /// By how much the pace must change for another comparison.
    changed: f64,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The first method is tried.
    First,
    /// The other one is tried; this was the pace of the one before.
    Second(f64),
    /// A method was chosen, with this pace.
    Chosen(f64),
}

impl Trial {
    /// A trial, where it is open which method is better.
    pub(super) fn new(options: &Options) -> Option<Trial> {
        let open = options.rtol >= ORDER_EIGHT_TOLERANCE;
        let trial =
            Trial { open, steps: 0, since: (0.0, 0), phase: Phase::First, changed: TRIAL_PACE_CHANGE };
        matches!(options.method, Method::Auto | Method::Explicit).then_some(trial)
    }

    /// Forgets the steps so far, at an event.
    pub(super) fn restart(&mut self) {
        self.steps = 0;
    }
}

impl Integrator<'_> {
    /// Counts the steps that show stiffness to an explicit method, or nonstiff to the implicit one.
    pub(super) fn detect_stiffness(&mut self) {
        if self.options.method != Method::Auto {
            return;
        }
        if self.stiff {
            let full = &self.system.model.full;
            let easy = full.norm(self.solver.jacobian()) * self.solver.stages().h < NONSTIFF_STEP;
            self.nonstiff_signs = if easy { self.nonstiff_signs + 1 } else { 0 };
        } else {
            let stages = self.solver.stages();
            // What tolerances of states leave undetermined has a rate of its own, and rounding of it limits steps.
            let share = if self.tolerance.functions.is_empty() {
                STIFF_STABILITY_SHARE
            } else {
                STIFF_UNDETERMINED_SHARE
            };
            let limit = share * stages.tableau.stability;
            // Where the state stands still, only its sensitivities show how stiff the model is.
            let shown = stages.stiffness(&self.tolerance).or_else(|| stages.radius(&self.system.model.full));
            if shown.is_some_and(|shown| shown > limit) {
                self.stiff_signs += 1;
            } else if self.stiff_signs > 0 {
                self.stiff_signs -= 1;
            }
        }
    }

    /// Switches between the explicit and the implicit solver where enough steps in a row ask for it.
    pub(super) fn switch_solver(&mut self) -> Result<(), Failure> {
        let stiff = match self.stiff {
            false if self.stiff_signs >= STIFF_SIGNS => true,
            true if self.nonstiff_signs >= NONSTIFF_SIGNS => false,
            _ => return Ok(()),
        };
        self.take_solver(stiff)
    }

    /// Goes on with the implicit solver where the explicit one cannot step; tells whether that is possible.
    /// Where unknowns have come to the end of a branch, nothing goes on.
    pub(super) fn fall_back_to_implicit(&mut self) -> Result<bool, Failure> {
        let goes_on = matches!(self.last_error, None | Some(EvaluationError::NotFinite(_)));
        let possible = self.options.method == Method::Auto && !self.stiff && goes_on;
        if possible {
            self.repeated_errors = (self.t, 0);
            self.take_solver(true)?;
        }
        Ok(possible)
    }

    fn take_solver(&mut self, stiff: bool) -> Result<(), Failure> {
        self.stats.switches += 1;
        (self.stiff, self.stiff_signs, self.nonstiff_signs) = (stiff, 0, 0);
        self.solver = solver(self.explicit, stiff, &self.system, self.sensitivities.is_some());
        self.spare = None;
        self.begin()
    }

    /// Compares the methods of order five and eight and keeps the one that comes further with an
    /// evaluation: which that is depends on the model, the tolerance and the times asked for, and may change
    /// in the course of a run. `growth` is by how much the next step may be longer; none where a corner of a measured
    /// signal cut this one short. Returns by how much longer the steps of the method that follows may be.
    pub(super) fn select_order(&mut self, growth: Option<f64>) -> Result<f64, Failure> {
        let now = (self.t, self.system.evaluations);
        let Some(trial) = self.trial.as_mut().filter(|_| !self.stiff) else { return Ok(1.0) };
        if trial.steps == 0 {
            trial.since = now;
        }
        let settled = growth.is_none_or(|growth| trial.open && growth < TRIAL_GROWTH);
        trial.open |= growth.is_none();
        trial.steps += u32::from(trial.steps > 0 || settled);
        if trial.steps <= TRIAL_STEPS {
            return Ok(1.0);
        }
        let pace = (now.0 - trial.since.0) / (now.1 - trial.since.1) as f64;
        trial.restart();
        match trial.phase {
            Phase::Chosen(chosen) if pace < trial.changed * chosen && pace * trial.changed > chosen => {
                return Ok(1.0);
            }
            Phase::First | Phase::Chosen(_) => trial.phase = Phase::Second(pace),
            Phase::Second(other) if pace >= other => {
                (trial.phase, trial.changed) = (Phase::Chosen(pace), TRIAL_PACE_CHANGE);
                return Ok(1.0);
            }
            Phase::Second(other) => {
                (trial.phase, trial.changed) = (Phase::Chosen(other), trial.changed * trial.changed);
            }
        }
        self.exchange_order()
    }

    /// Goes on with the other explicit method; returns by how much longer its steps may be.
    fn exchange_order(&mut self) -> Result<f64, Failure> {
        let higher = self.explicit.order < Tableau::dop853().order;
        self.explicit = if higher { Tableau::dop853() } else { Tableau::tsit5() };
        let spare = self.spare.take();
        let next =
            spare.unwrap_or_else(|| solver(self.explicit, false, &self.system, self.sensitivities.is_some()));
        self.spare = Some(std::mem::replace(&mut self.solver, next));
        self.begin()?;
        Ok(if higher { 2.0 } else { 0.5 })
    }
}

/// The method with which a run starts where the model is not stiff.
pub(super) fn explicit(options: &Options) -> &'static Tableau {
    match options.method {
        Method::Euler => Tableau::euler(),
        Method::Rk4 => Tableau::rk4(),
        Method::Dop853 => Tableau::dop853(),
        Method::Auto | Method::Explicit if options.rtol < ORDER_EIGHT_TOLERANCE => Tableau::dop853(),
        _ => Tableau::tsit5(),
    }
}

/// The method at work.
pub(super) fn solver(
    explicit: &'static Tableau,
    stiff: bool,
    system: &System<'_>,
    sensitive: bool,
) -> Box<dyn Solver> {
    if stiff {
        Box::new(Implicit::new(system, sensitive))
    } else {
        Box::new(Explicit::new(explicit, system, sensitive))
    }
}
