//! Searches for the smallest cost: Gauss and Newton's method as in Gawthrop's paper, and that of Levenberg and
//! Marquardt within bounds.

use crate::identifiability::scaled;
use crate::problem::{Evaluation, Rejection};
use crate::tolerance::{
    BOUND_NEARNESS, BOUND_SHARE, COST_TOLERANCE, EXACT_RESIDUAL, FIRST_DAMPING, GRADIENT_TOLERANCE,
    MOST_DAMPING, MOST_HALVINGS, PRECISION_TOLERANCE, STEP_TOLERANCE,
};
use paynter_base::CancellationToken;
use paynter_numerics::linalg::{SingularValues, Triangle, solve_triangle};
use std::cmp::Ordering;

/// How the smallest cost is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Steps by the pseudo-inverse of the sensitivity matrix, halved until the cost falls (Gawthrop 2000).
    GaussNewton,
    /// Damped steps within bounds.
    #[default]
    LevenbergMarquardt,
}

impl Method {
    /// All methods with the names that people choose them by.
    pub const NAMES: [(&'static str, Method); 2] =
        [("gauss-newton", Method::GaussNewton), ("levenberg-marquardt", Method::LevenbergMarquardt)];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        Method::NAMES.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The residuals are orthogonal to all sensitivities.
    Stationary,
    /// The last step was shorter than rounding lets one tell.
    ShortStep,
    /// The cost does not fall any more.
    SmallReduction,
    /// The model reproduces the data to rounding.
    Exact,
    /// No smaller cost was found, and hardly one was predicted: the precision of the simulations is reached.
    Precision,
    /// No smaller cost was found along the step, though one was predicted.
    NoDescent,
    /// The limit of iterations is reached.
    Iterations,
    /// A run over the record is too sensitive for the precision of simulations.
    Unfollowed,
}

impl Stop {
    /// Whether the cost is smallest there, as far as one can tell.
    pub fn is_converged(self) -> bool {
        !matches!(self, Stop::NoDescent | Stop::Iterations | Stop::Unfollowed)
    }

    /// Says it in words.
    pub fn words(self) -> &'static str {
        match self {
            Stop::Stationary => "the residuals are orthogonal to all sensitivities",
            Stop::ShortStep => "the last step changed nothing that counts",
            Stop::SmallReduction => "the cost does not fall any more",
            Stop::Exact => "the model reproduces the data to rounding",
            Stop::Precision => "the precision of the simulations is reached",
            Stop::NoDescent => "no smaller cost was found along the step",
            Stop::Iterations => "the limit of iterations is reached",
            Stop::Unfollowed => {
                "one run cannot follow the record, as changes by the precision of the simulations move what is \
                 measured by as much as itself"
            }
        }
    }
}

/// One iteration of a search; the first is the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// The cost.
    pub cost: f64,
    /// The values of the unknowns, in SI.
    pub values: Vec<f64>,
    /// The share of the step that was taken, or the damping.
    pub control: f64,
    /// The simulations of all experiments so far.
    pub simulations: usize,
}

/// What a search has found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The cost at its start.
    pub first: Evaluation,
    pub evaluation: Evaluation,
    pub history: Vec<Iteration>,
    pub stop: Stop,
    pub simulations: usize,
}

/// What limits a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub iterations: usize,
    /// Singular values below this share of the largest are rounding.
    pub rank: f64,
}

/// What is made smallest.
pub(crate) trait Cost {
    /// The cost at a point, and the triangle of its sensitivities and residuals.
    fn evaluate(&self, z: &[f64], token: &CancellationToken) -> Result<Evaluation, Rejection>;
    /// The bounds of the variables.
    fn ranges(&self) -> Vec<(f64, f64)>;
    /// By what changes of the variables are measured where it is decided which directions have no effect.
    fn sizes(&self, at: &Evaluation) -> Vec<f64> {
        vec![1.0; at.count()]
    }
    /// What the variables stand for.
    fn values(&self, z: &[f64]) -> Vec<f64>;
    /// The simulations that an evaluation takes.
    fn runs(&self) -> usize;
    /// Half the weighted sum of squares of the data, by which a residual of nothing is told.
    fn size(&self) -> f64;
    /// The variables that pass zero between two points, by which the equations do not hold at the second.
    fn turned(&self, from: &[f64], to: &[f64]) -> Vec<usize>;
}

/// A search on its way.
struct Search<'a> {
    cost: &'a dyn Cost,
    token: &'a CancellationToken,
    ranges: Vec<(f64, f64)>,
    size: f64,
    evaluations: usize,
    history: Vec<Iteration>,
    first: Evaluation,
    at: Evaluation,
    /// Which variables may not reach zero.
    walls: Vec<bool>,
    /// Residuals of this share of the data are those of the simulations.
    precision: f64,
}

impl<'a> Search<'a> {
    fn new(
        cost: &'a dyn Cost,
        limits: Limits,
        start: &[f64],
        token: &'a CancellationToken,
    ) -> Result<Search<'a>, Rejection> {
        let at = cost.evaluate(start, token)?;
        let (ranges, size) = (cost.ranges(), cost.size());
        let first = at.clone();
        let (walls, precision) = (vec![false; start.len()], limits.rank);
        let history = Vec::new();
        let mut search =
            Search { cost, token, ranges, size, evaluations: 1, history, first, at, walls, precision };
        search.note(0.0);
        Ok(search)
    }

    fn simulations(&self) -> usize {
        self.evaluations * self.cost.runs()
    }

    fn note(&mut self, control: f64) {
        let (values, simulations) = (self.cost.values(&self.at.z), self.simulations());
        self.history.push(Iteration { cost: self.at.cost, values, control, simulations });
    }

    /// The cost elsewhere; none where a simulation fails or its values are undefined.
    fn attempt(&mut self, z: &[f64]) -> Result<Option<Evaluation>, Rejection> {
        self.evaluations += 1;
        match self.cost.evaluate(z, self.token) {
            Ok(found) => Ok(Some(found)),
            Err(Rejection::Cancelled) => Err(Rejection::Cancelled),
            Err(rejection) => {
                if matches!(rejection, Rejection::Underived) {
                    self.cost.turned(&self.at.z, z).into_iter().for_each(|j| self.walls[j] = true);
                }
                Ok(None)
            }
        }
    }

    /// How far a step may go from here: not all the way to a bound at once, where a first step that is much too long
    /// would end in a corner of the bounds and stay there; what is next to a bound may reach it, but never a wall.
    fn reach(&self) -> Vec<(f64, f64)> {
        let towards = |z: f64, bound: f64, width: f64| {
            let next = (bound - z).abs() <= BOUND_NEARNESS * width;
            if next || bound.is_infinite() { bound } else { z + BOUND_SHARE * (bound - z) }
        };
        let within = |(z, (low, high)): (&f64, &(f64, f64))| {
            let width = (high - low).min(1.0);
            (towards(*z, *low, width), towards(*z, *high, width))
        };
        let mut ranges: Vec<(f64, f64)> = self.at.z.iter().zip(&self.ranges).map(within).collect();
        for (j, range) in ranges.iter_mut().enumerate().filter(|(j, _)| self.walls[*j]) {
            let near = (1.0 - BOUND_SHARE) * self.at.z[j];
            *range = match near.partial_cmp(&0.0) {
                Some(Ordering::Greater) => (range.0.max(near), range.1),
                Some(Ordering::Less) => (range.0, range.1.min(near)),
                // What starts at zero has no sign to keep, and stays.
                _ => (near, near),
            };
        }
        ranges
    }

    /// Why it may end where it is.
    fn resting(&self) -> Option<Stop> {
        if self.at.cost <= self.size * EXACT_RESIDUAL * EXACT_RESIDUAL {
            return Some(Stop::Exact);
        }
        let residual = (2.0 * self.at.cost).sqrt();
        let (gradient, lengths) = (self.at.gradient(), self.at.lengths());
        let stationary = (0..gradient.len()).all(|j| {
            let (low, high) = self.ranges[j];
            let held = self.at.z[j] <= low && gradient[j] > 0.0 || self.at.z[j] >= high && gradient[j] < 0.0;
            held || gradient[j].abs() <= GRADIENT_TOLERANCE * lengths[j] * residual
        });
        stationary.then_some(Stop::Stationary)
    }

    fn is_short(&self, step: &[f64]) -> bool {
        let length = |list: &[f64]| list.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
        length(step) <= STEP_TOLERANCE * (length(&self.at.z) + STEP_TOLERANCE)
    }

    /// Whether a change of the cost is more than simulations make of it, and than outputs would change that move as
    /// little as the unknowns do by a short step.
    fn counts(&self, change: f64) -> bool {
        let least = self.precision.max(STEP_TOLERANCE);
        change > PRECISION_TOLERANCE * self.at.cost && change > self.size * least * least
    }

    fn end(self, stop: Stop) -> Found {
        let simulations = self.simulations();
        Found { first: self.first, evaluation: self.at, history: self.history, stop, simulations }
    }

    /// What it means that no smaller cost was found though a full step, which was not taken, would change it so.
    fn stuck(&self, predicted: f64) -> Stop {
        let resolved = self.at.cost > self.size * self.precision * self.precision;
        let promised = -predicted > PRECISION_TOLERANCE * self.at.cost;
        if resolved && promised { Stop::NoDescent } else { Stop::Precision }
    }
}

/// Searches by a method.
pub(crate) fn search(
    cost: &dyn Cost,
    (method, limits): (Method, Limits),
    start: &[f64],
    token: &CancellationToken,
) -> Result<Found, Rejection> {
    let search = Search::new(cost, limits, start, token)?;
    match method {
        Method::GaussNewton => gauss_newton(search, limits),
        Method::LevenbergMarquardt => levenberg_marquardt(search, limits),
    }
}

/// Gauss and Newton's iteration, (30) and (31) of Gawthrop 2000: the step by a singular value decomposition of
/// the sensitivities, halved until the cost falls. What is not a smaller number is no smaller cost. It knows no
/// bounds.
fn gauss_newton(mut search: Search<'_>, limits: Limits) -> Result<Found, Rejection> {
    for _ in 0..limits.iterations {
        if let Some(stop) = search.resting() {
            return Ok(search.end(stop));
        }
        let n = search.at.count();
        let sizes = search.cost.sizes(&search.at);
        let Some(values) = SingularValues::new(n, &scaled(&search.at.sensitivities(), &sizes)) else {
            return Ok(search.end(Stop::NoDescent));
        };
        let full = values.solve(values.rank(limits.rank), &search.at.turned());
        let full: Vec<f64> = full.iter().zip(&sizes).map(|(step, size)| step * size).collect();
        let predicted = search.at.predicted(&full.iter().map(|d| -d).collect::<Vec<f64>>());
        let mut share = 1.0;
        let mut taken = None;
        for _ in 0..MOST_HALVINGS {
            let z: Vec<f64> = search.at.z.iter().zip(&full).map(|(z, d)| z - share * d).collect();
            if let Some(found) = search.attempt(&z)?.filter(|found| found.cost < search.at.cost) {
                taken = Some(found);
                break;
            }
            share *= 0.5;
        }
        let step: Vec<f64> = full.iter().map(|d| share * d).collect();
        let Some(found) = taken else {
            let stop = search.stuck(predicted);
            return Ok(search.end(stop));
        };
        // A short step counts where the cost has hardly fallen: along a stiff direction it may fall on.
        let short = search.is_short(&step) && !search.counts(search.at.cost - found.cost);
        let flat = search.at.cost - found.cost <= COST_TOLERANCE * search.at.cost;
        search.at = found;
        search.note(share);
        if short || flat {
            // A step that was cut to nothing tells nothing about where the cost is smallest.
            let stop = match (share < 1.0, short) {
                (true, _) => search.stuck(predicted),
                (false, true) => Stop::ShortStep,
                (false, false) => Stop::SmallReduction,
            };
            return Ok(search.end(stop));
        }
    }
    let stop = search.resting().unwrap_or(Stop::Iterations);
    Ok(search.end(stop))
}

/// Levenberg and Marquardt's method: damped steps in variables scaled by the lengths of their columns
/// (Moré 1978), the damping after Nielsen, variables at a bound that the cost presses against held there.
fn levenberg_marquardt(mut search: Search<'_>, limits: Limits) -> Result<Found, Rejection> {
    let (mut damping, mut growth) = (FIRST_DAMPING, 2.0);
    let mut scales = vec![0.0_f64; search.at.count()];
    let mut iterations = 0;
    while iterations < limits.iterations {
        if let Some(stop) = search.resting() {
            return Ok(search.end(stop));
        }
        for (scale, length) in scales.iter_mut().zip(search.at.lengths()) {
            *scale = scale.max(length);
        }
        let ranges = search.reach();
        let step = damped_step(&search.at, &scales, damping, &ranges);
        let z: Vec<f64> = search.at.z.iter().zip(&step).map(|(z, d)| z + d).collect();
        let predicted = search.at.predicted(&step);
        // What a step would promise that nobody has cut.
        let promised = |search: &Search<'_>| {
            search.at.predicted(&damped_step(&search.at, &scales, FIRST_DAMPING, &ranges))
        };
        // Along a stiff direction the cost may fall on by short steps.
        if search.is_short(&step) && !search.counts(-predicted) {
            let stop = if growth > 2.0 { search.stuck(promised(&search)) } else { Stop::ShortStep };
            return Ok(search.end(stop));
        }
        let walls = search.walls.iter().filter(|wall| **wall).count();
        let found = match predicted < 0.0 {
            true => search.attempt(&z)?.filter(|found| found.cost < search.at.cost),
            false => None,
        };
        let Some(found) = found else {
            if search.walls.iter().filter(|wall| **wall).count() > walls {
                // The next step keeps away from there, and need not be shorter.
                continue;
            }
            damping *= growth;
            growth *= 2.0;
            if damping.is_nan() || damping >= MOST_DAMPING {
                let stop = search.stuck(promised(&search));
                return Ok(search.end(stop));
            }
            continue;
        };
        let gained = search.at.cost - found.cost;
        let ratio = gained / -predicted;
        let flat = gained <= COST_TOLERANCE * search.at.cost && -predicted <= COST_TOLERANCE * search.at.cost;
        damping *= (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0);
        growth = 2.0;
        search.at = found;
        search.note(damping);
        iterations += 1;
        if flat {
            return Ok(search.end(Stop::SmallReduction));
        }
    }
    let stop = search.resting().unwrap_or(Stop::Iterations);
    Ok(search.end(stop))
}

/// The step d that makes |J d + r|² + λ|D d|² smallest within bounds, one variable after the other held where
/// its bound stops it.
fn damped_step(at: &Evaluation, scales: &[f64], damping: f64, ranges: &[(f64, f64)]) -> Vec<f64> {
    let n = at.count();
    let gradient = at.gradient();
    let mut step = vec![0.0; n];
    let at_bound = |j: usize| {
        let (low, high) = ranges[j];
        at.z[j] <= low && gradient[j] > 0.0 || at.z[j] >= high && gradient[j] < 0.0
    };
    let mut free: Vec<usize> = (0..n).filter(|j| scales[*j] > 0.0 && !at_bound(*j)).collect();
    while !free.is_empty() {
        let width = free.len() + 1;
        let mut stacked = Triangle::new(width);
        let mut line = vec![0.0; width];
        for i in 0..n {
            let row = &at.triangle[i * (n + 1)..(i + 1) * (n + 1)];
            for (entry, j) in line.iter_mut().zip(&free) {
                *entry = row[*j];
            }
            // What is held already moves the residuals.
            let held: f64 = (0..n).filter(|j| !free.contains(j)).map(|j| row[j] * step[j]).sum();
            line[width - 1] = -(row[n] + held);
            stacked.push(&line);
        }
        for (k, j) in free.iter().enumerate() {
            line.fill(0.0);
            line[k] = damping.sqrt() * scales[*j];
            stacked.push(&line);
        }
        let rows = stacked.rows();
        let right: Vec<f64> = (0..free.len()).map(|i| rows[i * width + width - 1]).collect();
        let Some(found) = solve_triangle(rows, width, free.len(), &right) else { return vec![0.0; n] };
        for (j, d) in free.iter().zip(&found) {
            step[*j] = *d;
        }
        let outside = |j: &usize| {
            let (low, high) = ranges[*j];
            at.z[*j] + step[*j] < low || at.z[*j] + step[*j] > high
        };
        let Some(stopped) = free.iter().copied().find(outside) else { break };
        let (low, high) = ranges[stopped];
        step[stopped] = (at.z[stopped] + step[stopped]).clamp(low, high) - at.z[stopped];
        free.retain(|j| *j != stopped);
    }
    step
}
