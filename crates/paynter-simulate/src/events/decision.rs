//! The modes of event functions that are zero at one instant, decided together: ideal diodes, frictions and
//! stops that meet are a complementarity problem.
//!
//! Each function that is zero is above, below, held at zero by its surface (sliding), or redundant,
//! because others hold it there. From the modes as they are, principal pivoting changes the first choice that violates
//! its condition until none does (Murty's least-index method); where that cycles, or forces are not unique, frictions are
//! solved as a linear complementarity problem (Lemke), and the choices enumerated last.

use super::{ZeroCrossingDetector, lcp::Lcp, sign};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    DECIDED_EXCESS, DECIDED_ROUNDING, DECIDED_TOGETHER, DERIVATIVE_CANCELLATION, ENUMERATED_CHOICES,
    FUNCTION_AT_ZERO, PIVOTS, SMALLEST_FORCES,
};

/// What a function that is zero does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// It leaves to this side.
    Leaves(f64),
    /// Its surface holds it.
    Slides,
    /// Others hold it, and its own law takes this value: the middle of its jump, an end of it, or one between.
    Redundant(f64),
}

/// An instant at which modes are decided: the active set, and those of it that have left sliding just now.
struct Instant<'a> {
    t: f64,
    x: &'a [f64],
    active: Vec<usize>,
    exits: Vec<usize>,
}

/// A way to find choices that violate no condition.
type Means = fn(&mut ZeroCrossingDetector, &mut System<'_>, &Instant<'_>) -> bool;

impl ZeroCrossingDetector {
    /// Decides all modes of the active set at this instant; tells whether consistent ones were found. Nothing is
    /// changed where there are none.
    ///
    /// Functions in `given` that are not in `zeros` have left sliding just now; those in `redundant` were redundant
    /// before.
    pub fn decide(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, redundant, given): (&[usize], &[usize], &[usize]),
    ) -> bool {
        let Ok(()) = self.evaluate(system, t, x) else { return false };
        let active = self.active_set(system, &[zeros, redundant, given].concat());
        if active.is_empty() || active.len() > DECIDED_TOGETHER {
            return false;
        }
        let instant = Instant { t, x, active, exits: exits(zeros, given) };
        let (snapshot, point, margin) = (system.snapshot(), system.point(), self.margin.clone());
        // What was redundant may have to hold now.
        for k in redundant {
            self.choose(system, *k, Choice::Slides);
            if self.evaluate(system, t, x).is_err() || !system.is_determined() {
                self.choose(system, *k, Choice::Redundant(0.0));
            }
        }
        let present = system.snapshot();
        let again = |detector: &mut ZeroCrossingDetector, system: &mut System<'_>, means: Means| {
            system.restore(&present);
            system.set_point_to(point.clone());
            means(detector, system, &instant)
        };
        let pivot: Means = ZeroCrossingDetector::pivot;
        let frictions: Means = |detector, system, instant| {
            matches!(detector.solve_frictions(system, instant), Ok(true)) && detector.pivot(system, instant)
        };
        // Among forces that are not unique pivoting stops at the first that hold, often next to their limits, from which
        // they exit again at once; the smallest are farther from them.
        let means = if redundant.is_empty() { [pivot, frictions] } else { [frictions, pivot] };
        let found = means.into_iter().any(|means| again(self, system, means))
            || again(self, system, ZeroCrossingDetector::enumerate);
        if !found {
            system.restore(&snapshot);
            system.set_point_to(point);
            self.margin = margin;
        }
        found
    }

    /// The active set at this instant: the functions named, those at zero or held there, and those that react to
    /// modes at once.
    fn active_set(&self, system: &System<'_>, named: &[usize]) -> Vec<usize> {
        let is_active = |k: &usize| {
            let near = self.now[*k].abs() <= FUNCTION_AT_ZERO * self.largest[*k];
            let reached = named.contains(k) || near || system.is_sliding(*k) || system.reacts_at_once(*k);
            reached && !system.own_timed(*k)
        };
        (0..system.own_events()).filter(is_active).collect()
    }

    /// Whether modes that were found one after another contradict each other, where several frictions are active.
    pub(super) fn contradict(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        (zeros, given): (&[usize], &[usize]),
    ) -> bool {
        let Ok(()) = self.evaluate(system, t, x) else { return false };
        let active = self.active_set(system, &[zeros, given].concat());
        let friction = |k: &usize| system.surface(*k).is_some_and(|j| system.surfaces()[j].order == 1);
        if active.len() < 2 || !active.iter().all(friction) {
            return false;
        }
        let margin = self.margin.clone();
        let instant = Instant { t, x, active, exits: exits(zeros, given) };
        let violated = self.violated_condition(system, &instant);
        self.margin = margin;
        !matches!(violated, Ok(None))
    }

    /// Solves for the modes of frictions that are all at zero, as a linear complementarity problem: their
    /// accelerations are affine in their modes, and each mode lies between −1 and 1, at the end to which it moves.
    /// Tells whether there are only frictions, and a solution was found.
    fn solve_frictions(
        &mut self,
        system: &mut System<'_>,
        instant: &Instant<'_>,
    ) -> Result<bool, EvaluationError> {
        let (t, x, active) = (instant.t, instant.x, &instant.active);
        let friction = |k: &usize| system.surface(*k).is_some_and(|j| system.surfaces()[j].order == 1);
        if !active.iter().all(friction) {
            return Ok(false);
        }
        let rounding = self.derivative_rounding(system, t, x);
        active.iter().for_each(|k| self.choose(system, *k, Choice::Leaves(1.0)));
        let mut accelerations = |system: &mut System<'_>| -> Result<Vec<f64>, EvaluationError> {
            let mut rates = vec![0.0; x.len()];
            system.rates(t, x, &mut rates)?;
            active.iter().map(|k| self.derivative(system, t, x, &rates, *k)).collect()
        };
        let forward = accelerations(system)?;
        let n = active.len();
        let mut matrix = vec![vec![0.0; 2 * n]; 2 * n];
        for (j, k) in active.iter().enumerate() {
            system.set_mode(*k, -1.0);
            system.prepare();
            let other = accelerations(system)?;
            system.set_mode(*k, 1.0);
            for i in 0..n {
                matrix[i][j] = 0.5 * (other[i] - forward[i]);
            }
            (matrix[j][n + j], matrix[n + j][j]) = (1.0, -1.0);
        }
        system.prepare();
        // In units of the largest acceleration.
        let parts = matrix[..n].iter().flat_map(|row| &row[..n]).chain(&forward);
        let unit = parts.fold(f64::MIN_POSITIVE, |most, part| most.max(part.abs()));
        matrix[..n].iter_mut().for_each(|row| row[..n].iter_mut().for_each(|entry| *entry /= unit));
        // z is by how much each mode lies above −1, then the acceleration of what leaves upwards.
        let backward =
            |i: usize| -forward[i] / unit - 2.0 * matrix[i][..n].iter().sum::<f64>() - SMALLEST_FORCES;
        let offset: Vec<f64> = (0..n).map(backward).chain(std::iter::repeat_n(2.0, n)).collect();
        // Of forces that are not unique the smallest are taken: those that a little elasticity would bring about.
        (0..n).for_each(|i| matrix[i][i] += SMALLEST_FORCES);
        let lcp = Lcp { matrix, offset };
        let Some(z) = lcp.solve() else { return Ok(false) };
        let slack = lcp.slack(&z);
        let least = |k: usize| rounding[k].max(2.0 * SMALLEST_FORCES * unit);
        for (i, k) in active.iter().copied().enumerate() {
            let exceeds = unit * (z[n + i] + slack[i]) > least(k);
            let choice = match exceeds {
                true => Choice::Leaves(if z[i] > 1.0 { 1.0 } else { -1.0 }),
                false => Choice::Slides,
            };
            self.choose(system, k, choice);
            let by_others =
                choice == Choice::Slides && (self.evaluate(system, t, x).is_err() || !system.is_determined());
            if by_others {
                self.choose(system, k, Choice::Redundant(z[i] - 1.0));
            }
        }
        Ok(true)
    }

    /// Changes the first choice whose condition is violated, until none is or choices come back.
    fn pivot(&mut self, system: &mut System<'_>, instant: &Instant<'_>) -> bool {
        let mut seen = Vec::new();
        for _ in 0..PIVOTS {
            let present = system.snapshot();
            if seen.contains(&present) {
                return false;
            }
            seen.push(present);
            match self.violated_condition(system, instant) {
                Ok(None) => return true,
                Ok(Some((k, choice))) => {
                    let mode = system.mode(k);
                    self.choose(system, k, choice);
                    // What others hold already has no multiplier of its own.
                    let held = choice == Choice::Slides
                        && (self.evaluate(system, instant.t, instant.x).is_err() || !system.is_determined());
                    if held {
                        let value = if instant.exits.contains(&k) { mode } else { 0.0 };
                        self.choose(system, k, Choice::Redundant(value));
                    }
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Tries all choices, as many as are reasonable.
    fn enumerate(&mut self, system: &mut System<'_>, instant: &Instant<'_>) -> bool {
        let choices = |k: usize| -> Vec<Choice> {
            let mut list = Vec::new();
            if let Some(j) = system.surface(k) {
                if !instant.exits.contains(&k) {
                    list.push(Choice::Slides);
                }
                if system.surfaces()[j].order > 0 {
                    list.extend([0.0, 1.0, -1.0].map(Choice::Redundant));
                }
            }
            list.extend([1.0, -1.0].map(Choice::Leaves));
            list
        };
        let lists: Vec<Vec<Choice>> = instant.active.iter().map(|k| choices(*k)).collect();
        let (start, point) = (system.snapshot(), system.point());
        let mut places = vec![0; instant.active.len()];
        for _ in 0..ENUMERATED_CHOICES {
            system.restore(&start);
            system.set_point_to(point.clone());
            for ((k, list), place) in instant.active.iter().zip(&lists).zip(&places) {
                self.choose(system, *k, list[*place]);
            }
            if matches!(self.violated_condition(system, instant), Ok(None)) {
                return true;
            }
            // The next combination.
            let mut at = 0;
            loop {
                let Some(place) = places.get_mut(at) else { return false };
                *place += 1;
                if *place < lists[at].len() {
                    break;
                }
                *place = 0;
                at += 1;
            }
        }
        false
    }

    fn choose(&mut self, system: &mut System<'_>, k: usize, choice: Choice) {
        let surface = system.surface(k);
        match (choice, surface) {
            (Choice::Slides, Some(j)) => {
                if system.mode(k) == 0.0 {
                    system.set_mode(k, 1.0);
                }
                system.set_sliding(j, 1.0);
            }
            (Choice::Redundant(mode), Some(j)) => {
                system.set_mode(k, mode);
                system.set_redundant(j);
            }
            (Choice::Leaves(mode), _) => {
                system.set_mode(k, mode);
                match surface {
                    Some(j) => system.set_sliding(j, 0.0),
                    None => system.prepare(),
                }
            }
            _ => {}
        }
    }

    /// The first function whose complementarity condition is violated, and the choice that would satisfy it.
    fn violated_condition(
        &mut self,
        system: &mut System<'_>,
        instant: &Instant<'_>,
    ) -> Result<Option<(usize, Choice)>, EvaluationError> {
        let (t, x) = (instant.t, instant.x);
        self.margin.fill(0.0);
        self.evaluate(system, t, x)?;
        if !system.is_determined() {
            return Err(EvaluationError::NoSolution(0));
        }
        for (j, surface) in system.surfaces().iter().enumerate() {
            let multiplier = if system.slides_along(j) { system.multiplier(j) } else { 0.0 };
            // What has just left at its limit must not be taken back.
            if multiplier.abs() > 1.0 + DECIDED_EXCESS {
                return Ok(Some((surface.relation, Choice::Leaves(sign(multiplier)))));
            }
        }
        let now = self.now.clone();
        let mut rates = vec![0.0; x.len()];
        system.rates(t, x, &mut rates)?;
        let redundant = system.redundant();
        let rounding = self.derivative_rounding(system, t, x);
        for k in 0..system.own_events() {
            let mode = system.mode(k);
            if redundant.contains(&k) {
                // What holds it must hold it.
                let derivative = self.derivative(system, t, x, &rates, k)?;
                if derivative.abs() > rounding[k] {
                    return Ok(Some((k, Choice::Leaves(sign(derivative)))));
                }
                if let Some(choice) = self.bend_tendency(system, instant, k)
                    && !matches!(choice, Choice::Redundant(_))
                {
                    return Ok(Some((k, choice)));
                }
            }
            if system.is_sliding(k) || system.own_timed(k) {
                continue;
            }
            let noise = DERIVATIVE_CANCELLATION * self.largest[k];
            if !instant.active.contains(&k) || system.reacts_at_once(k) {
                if now[k] * mode < 0.0 && now[k].abs() > noise {
                    let slides =
                        system.reacts_at_once(k) && now[k].abs() <= FUNCTION_AT_ZERO * self.largest[k];
                    return Ok(Some((k, if slides { Choice::Slides } else { Choice::Leaves(-mode) })));
                }
            } else {
                let derivative = self.derivative(system, t, x, &rates, k)?;
                if mode == 0.0 || derivative * mode <= rounding[k] {
                    let still = derivative.abs() <= rounding[k];
                    let bend = if still { self.bend_tendency(system, instant, k) } else { None };
                    let choice = match bend {
                        Some(choice) => choice,
                        None => self.tendency_of(system, instant, k, rounding[k])?,
                    };
                    if choice != Choice::Leaves(mode) {
                        return Ok(Some((k, choice)));
                    }
                }
            }
            // Rounding may have left it on the other side.
            if now[k] * mode <= 0.0 {
                self.margin[k] = 2.0 * now[k].abs() + f64::MIN_POSITIVE;
            }
        }
        Ok(None)
    }

    /// What rounding makes of the derivatives of functions that others hold: of forces that balance each other
    /// it leaves a trace.
    fn derivative_rounding(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Vec<f64> {
        let mut rounding = vec![0.0; system.own_events()];
        let (snapshot, point) = (system.snapshot(), system.point());
        for j in 0..system.surfaces().len() {
            system.set_sliding(j, 0.0);
        }
        let mut free = vec![0.0; x.len()];
        if system.rates(t, x, &mut free).is_ok() && system.relations_full(t, x, &mut self.values).is_ok() {
            let full = &system.model.relations_full;
            let by_states = full.by_states(&self.values.data);
            for (k, rounding) in rounding.iter_mut().enumerate() {
                let terms =
                    full.pattern.row(k).map(|e| (by_states[e] * free[full.pattern.at[e] as usize]).abs());
                *rounding = DECIDED_ROUNDING * terms.sum::<f64>();
            }
        }
        system.restore(&snapshot);
        system.set_point_to(point);
        rounding.iter_mut().filter(|rounding| !rounding.is_finite()).for_each(|rounding| *rounding = 0.0);
        rounding
    }

    /// Where a function goes that is zero with its derivative, and whose second derivative depends on its mode: the
    /// multiplier that would hold it tells the side. None for other functions.
    fn bend_tendency(&mut self, system: &mut System<'_>, instant: &Instant<'_>, k: usize) -> Option<Choice> {
        let j = system.surface(k).filter(|j| system.surfaces()[*j].order == 2)?;
        let (snapshot, point, mode) = (system.snapshot(), system.point(), system.mode(k));
        self.choose(system, k, Choice::Slides);
        let held = self.evaluate(system, instant.t, instant.x).is_ok() && system.is_determined();
        let multiplier = system.multiplier(j);
        system.restore(&snapshot);
        system.set_point_to(point);
        let _ = self.evaluate(system, instant.t, instant.x);
        Some(match held {
            false => Choice::Redundant(if instant.exits.contains(&k) { mode } else { 0.0 }),
            true if multiplier.abs() > 1.0 => Choice::Leaves(sign(multiplier)),
            true => Choice::Slides,
        })
    }

    /// Where a function that is zero goes, by its derivatives on both sides.
    fn tendency_of(
        &mut self,
        system: &mut System<'_>,
        instant: &Instant<'_>,
        k: usize,
        rounding: f64,
    ) -> Result<Choice, EvaluationError> {
        // What was redundant may have had a value between.
        let (mode, held) = (sign(system.mode(k)), system.surface(k).is_some());
        let derivatives = self.one_sided_derivatives(system, instant.t, instant.x, k)?;
        let [above, below] =
            derivatives.map(|derivative| if derivative.abs() <= rounding { 0.0 } else { derivative });
        let holding = (0..system.surfaces().len()).any(|j| system.slides_along(j));
        Ok(match held {
            // Where nothing slides, nothing is held: a law that only bends goes where its side tells.
            true if above == 0.0 && below == 0.0 && !holding => Choice::Leaves(mode),
            // Nothing moves it, whatever its law: it is redundant.
            true if above == 0.0 && below == 0.0 => {
                Choice::Redundant(if instant.exits.contains(&k) { mode } else { 0.0 })
            }
            true if above <= 0.0 && below >= 0.0 => Choice::Slides,
            _ if above > 0.0 && (below >= 0.0 || mode > 0.0) => Choice::Leaves(1.0),
            _ if below < 0.0 => Choice::Leaves(-1.0),
            _ => Choice::Leaves(mode),
        })
    }
}

/// The functions that have left sliding just now: those given that are not at zero.
fn exits(zeros: &[usize], given: &[usize]) -> Vec<usize> {
    given.iter().copied().filter(|k| !zeros.contains(k)).collect()
}
