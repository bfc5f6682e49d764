//! What a solver does, and the stages that all of ours have in common.
//!
//! A step has two parts. The state goes first and is accepted or not by its
//! own error; then its sensitivities follow through the same stages, whose
//! derivatives are known by then, a block of parameters after the other.

mod dop853;
pub(crate) mod explicit;
pub(crate) mod implicit;
mod kvaerno5;
pub(crate) mod tableau;
mod tsit5;

use crate::method::tableau::{Tableau, Terms};
use crate::model::linearised::Linearised;
use crate::sensitivity::lanes::combine;
use crate::system::{EvaluationError, System, Values};
use crate::tolerance::{FINEST_SQUARED_TOLERANCE, POWER_ITERATIONS, STAGE_ROUNDING, STATE_ROUNDING};
use paynter_numerics::linalg::Factors;

/// Directions in which no structure is to be expected.
const UNEVEN: [f64; 7] = [1.0, -0.8, 0.9, -1.0, 0.7, -0.9, 0.8];

/// How large errors may be.
#[derive(Debug, Clone)]
pub(crate) struct Tolerance {
    pub rtol: f64,
    /// Absolute tolerance of each state.
    pub atol: Vec<f64>,
    /// Functions of states whose errors count as those of states do.
    pub functions: Vec<Bounded>,
}

/// A function of states that is known to so much.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    /// Its derivatives by states.
    pub terms: Terms,
    /// Its tolerance.
    pub width: f64,
    /// Whether its errors count in the present step.
    pub counts: bool,
}

impl Tolerance {
    /// The size of a vector in units of the tolerance.
    pub fn norm(&self, vector: &[f64], x: &[f64], y: &[f64]) -> f64 {
        (self.sum_of_squares(vector, x, y) / vector.len().max(1) as f64).sqrt()
    }

    fn sum_of_squares(&self, vector: &[f64], x: &[f64], y: &[f64]) -> f64 {
        let scaled = |i: usize| vector[i] / (self.atol[i] + self.rtol * x[i].abs().max(y[i].abs()));
        let states: f64 = (0..vector.len()).map(|i| scaled(i) * scaled(i)).sum();
        let functions = self.functions.iter().filter(|function| function.counts).map(|function| {
            let change: f64 = function.terms.iter().map(|(i, derivative)| derivative * vector[*i]).sum();
            (change / function.width).powi(2)
        });
        states + functions.sum::<f64>()
    }
}

/// A place within a step where outputs are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    pub t: f64,
    /// Where in the step, from 0 to 1.
    pub theta: f64,
    pub x: Vec<f64>,
    pub unknowns: Vec<f64>,
    pub y: Vec<f64>,
    pub values: Values,
    /// Sensitivities of outputs, output by output.
    pub s: Vec<f64>,
    /// The stages that count there, with their weights.
    pub weights: Terms,
}

/// A method that steps from point to point.
pub(crate) trait Solver {
    /// Its coefficients.
    fn tableau(&self) -> &'static Tableau;
    /// Starts anew, at the beginning and after events.
    fn begin(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), EvaluationError>;
    /// Steps the state; returns the error in units of the tolerance.
    fn step(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        h: f64,
        tolerance: &Tolerance,
    ) -> Result<f64, EvaluationError>;
    /// Calculates the stages of the last step that only interpolation needs.
    fn extend(&mut self, system: &mut System<'_>, tolerance: &Tolerance) -> Result<(), EvaluationError>;
    /// The stages of the last step.
    fn stages(&mut self) -> &mut Stages;
    /// The rates with their derivatives at the start of the step, of an implicit method.
    fn jacobian(&self) -> &[f64];
    /// Solves with the stage matrix, of an implicit method: what is fast is divided by its rate.
    fn filter(&mut self, _change: &mut [f64]) {}
    /// The stages of the last step, and their factors if the method is implicit.
    fn parts(&self) -> (&Stages, Option<&[Factors]>);
}

/// The stages of a step.
#[derive(Debug)]
pub(crate) struct Stages {
    pub tableau: &'static Tableau,
    pub h: f64,
    pub t: f64,
    pub start: Vec<f64>,
    /// The state at the end.
    pub end: Vec<f64>,
    /// The state at the last stage but one, which shows stiffness.
    pub before: Vec<f64>,
    /// The rates of the stages, one after the other.
    pub k: Vec<f64>,
    pub values: Vec<Values>,
    pub sensitive: bool,
    /// Whether the stages for interpolation are calculated.
    pub extended: bool,
    pub scratch: Vec<f64>,
}

impl Stages {
    pub fn new(tableau: &'static Tableau, n: usize, sensitive: bool) -> Stages {
        let count = tableau.all_stages();
        Stages {
            tableau,
            h: 0.0,
            t: 0.0,
            start: vec![0.0; n],
            end: vec![0.0; n],
            before: vec![0.0; n],
            k: vec![0.0; n * count],
            values: vec![Values::default(); count],
            sensitive,
            extended: false,
            scratch: vec![0.0; n],
        }
    }

    /// The rates of stage `i`.
    pub fn rates(&self, i: usize) -> &[f64] {
        let n = self.start.len();
        &self.k[i * n..(i + 1) * n]
    }

    /// Moves the state in `scratch` by so much of the rates of stage `i`.
    pub fn advance(&mut self, i: usize, factor: f64) {
        let n = self.start.len();
        self.scratch.iter_mut().zip(&self.k[i * n..]).for_each(|(x, rate)| *x += factor * rate);
    }

    /// The rates of the implicit stage `i` from its solution in `scratch`: (solution − base)/k.
    pub fn solved(&mut self, i: usize, base: &[f64], k: f64) {
        let n = self.start.len();
        let rates = self.k[i * n..].iter_mut();
        rates.zip(&self.scratch).zip(base).for_each(|((rate, x), base)| *rate = (x - base) / k);
    }

    /// Σ factor·stage of one state.
    pub fn weigh(&self, terms: &[(usize, f64)], state: usize) -> f64 {
        weigh(&self.k[state..], self.start.len(), terms)
    }

    /// Notes where a step starts.
    pub fn open(&mut self, t: f64, x: &[f64], h: f64) {
        (self.t, self.h, self.extended) = (t, h, false);
        self.start.copy_from_slice(x);
    }

    /// The state from which stage `i` is evaluated, or solved, in `scratch`.
    #[inline(always)]
    pub fn base(&mut self, i: usize) {
        combine(&mut self.scratch, &self.start, &self.k, &self.tableau.a[i], self.h);
    }

    /// Evaluates stage `i` at the state in `scratch`.
    #[inline(always)]
    pub fn evaluate(&mut self, system: &mut System<'_>, i: usize) -> Result<(), EvaluationError> {
        let t = self.t + self.tableau.c[i] * self.h;
        if self.sensitive {
            system.full(t, &self.scratch, &mut self.values[i])?;
            let n = self.scratch.len();
            let rates = &self.values[i].data[..n];
            self.k[i * n..(i + 1) * n].copy_from_slice(rates);
            Ok(())
        } else {
            let n = self.scratch.len();
            system.rates(t, &self.scratch, &mut self.k[i * n..(i + 1) * n])
        }
    }

    /// The stages that only interpolation needs and that are not calculated yet.
    pub fn missing(&self) -> std::ops::Range<usize> {
        let all = self.tableau.all_stages();
        if self.extended { all..all } else { self.tableau.stages..all }
    }

    /// The state and its derivative in the step along the cubic through both ends.
    pub fn cubic(&self, theta: f64) -> (Vec<f64>, Vec<f64>) {
        let (first, last) = (self.rates(0), self.rates(self.tableau.stages - 1));
        let (rest, h) = (1.0 - theta, self.h);
        let at = |i: usize| {
            let (a, b) = (self.start[i], self.end[i]);
            let bent = rest * (h * first[i] - (b - a)) - theta * (h * last[i] - (b - a));
            let turned = -(h * first[i] - (b - a)) - (h * last[i] - (b - a));
            let x = a + theta * (b - a) + theta * rest * bent;
            (x, ((b - a) + (rest - theta) * bent + theta * rest * turned) / h)
        };
        (0..self.start.len()).map(at).unzip()
    }

    /// The state and its derivative in the step along the dense output; the stages must be extended.
    pub fn dense(&self, theta: f64) -> (Vec<f64>, Vec<f64>) {
        let powers = self.tableau.powers();
        let at = |i: usize| {
            let (mut x, mut derivative) = (0.0, 0.0);
            for terms in powers.iter().rev() {
                derivative = derivative * theta + x;
                x = x * theta + self.weigh(terms, i);
            }
            (self.start[i] + self.h * theta * x, x + theta * derivative)
        };
        (0..self.start.len()).map(at).unzip()
    }

    /// The state within the step; the stages must be extended.
    pub fn interpolate(&self, weights: &[(usize, f64)], out: &mut [f64]) {
        combine(out, &self.start, &self.k, weights, self.h);
    }

    /// Values at the end of the step, if they are known with their derivatives.
    pub fn last(&self) -> Option<&Values> {
        self.values.get(self.tableau.stages - 1).filter(|_| self.sensitive)
    }

    /// The error of the state in units of the tolerance.
    pub fn error(&mut self, tolerance: &Tolerance) -> f64 {
        let mut sums = [0.0; 2];
        for (sum, terms) in sums.iter_mut().zip(&self.tableau.errors) {
            for (i, error) in self.scratch.iter_mut().enumerate() {
                *error = self.h * weigh(&self.k[i..], self.start.len(), terms);
            }
            *sum = tolerance.sum_of_squares(&self.scratch, &self.start, &self.end);
        }
        joint_square(sums, self.tableau.errors.len(), self.start.len()).sqrt()
    }

    /// The error within the step in units of the tolerance; the stages must be extended.
    pub fn error_inside(&mut self, tolerance: &Tolerance) -> f64 {
        if self.tableau.inside.is_empty() {
            return 0.0;
        }
        for (i, error) in self.scratch.iter_mut().enumerate() {
            *error = self.h * weigh(&self.k[i..], self.start.len(), &self.tableau.inside);
        }
        tolerance.norm(&self.scratch, &self.start, &self.end)
    }

    /// The last stage becomes the first of the next step.
    pub fn accept(&mut self) {
        let last = self.tableau.stages - 1;
        let n = self.start.len();
        let (before, after) = self.k.split_at_mut(last * n);
        before[..n].swap_with_slice(&mut after[..n]);
        self.values.swap(0, last);
    }

    /// The largest |h·λ| that the last two stages show, states weighed by their tolerance; nothing
    /// where they differ by rounding only.
    pub fn stiffness(&self, tolerance: &Tolerance) -> Option<f64> {
        let last = self.tableau.stages - 1;
        let (rates, before) = (self.rates(last), self.rates(last - 1));
        let mut sums = [0.0; 2];
        for i in 0..self.end.len() {
            let weight = 1.0 / (tolerance.atol[i] + tolerance.rtol * self.end[i].abs());
            let differences = [rates[i] - before[i], self.end[i] - self.before[i]];
            for (sum, difference) in sums.iter_mut().zip(differences) {
                *sum += (difference * weight).powi(2);
            }
        }
        for function in &tolerance.functions {
            let along = |a: &[f64], b: &[f64]| -> f64 {
                function.terms.iter().map(|(i, derivative)| derivative * (a[*i] - b[*i])).sum()
            };
            sums[0] += (along(rates, before) / function.width).powi(2);
            sums[1] += (along(&self.end, &self.before) / function.width).powi(2);
        }
        let [rates, states] = sums;
        let noise = STAGE_ROUNDING / tolerance.rtol;
        let moves = states > noise * noise;
        moves.then(|| (self.h * (rates / states).sqrt()).abs())
    }

    /// What rounding of the state at the end makes of the rates and their derivatives there, where tolerances are so
    /// fine, and steps so short, that it matters.
    pub fn rounding(&self, system: &mut System<'_>, tolerance: &Tolerance) -> Option<Vec<f64>> {
        if tolerance.rtol * tolerance.rtol > FINEST_SQUARED_TOLERANCE || self.stiffness(tolerance).is_some() {
            return None;
        }
        let uneven = (0..).map(|i| UNEVEN[i % UNEVEN.len()]);
        let x: Vec<f64> =
            self.end.iter().zip(uneven).map(|(x, part)| x * (1.0 + part * STATE_ROUNDING)).collect();
        let mut values = Values::default();
        system.full(self.t + self.h, &x, &mut values).ok()?;
        let exact = &self.last()?.data;
        Some(values.data.iter().zip(exact).map(|(value, exact)| value - exact).collect())
    }

    /// The largest |h·λ| of the derivatives at the end of the step, by power iteration, if they are known.
    pub fn radius(&self, full: &Linearised) -> Option<f64> {
        let derivatives = full.by_states(&self.last()?.data);
        // Uneven: what is conserved leaves even states alone.
        let mut v: Vec<f64> = (0..self.end.len()).map(|i| UNEVEN[i % UNEVEN.len()]).collect();
        let mut size = 0.0;
        for _ in 0..POWER_ITERATIONS {
            let product = |row: usize| {
                full.pattern.row(row).map(|e| derivatives[e] * v[full.pattern.at[e] as usize]).sum::<f64>()
            };
            let next: Vec<f64> = (0..v.len()).map(product).collect();
            size = next.iter().fold(0.0f64, |size, x| size.max(x.abs()));
            if size == 0.0 {
                break;
            }
            v = next.iter().map(|x| x / size).collect();
        }
        Some((self.h * size).abs())
    }
}

/// Σ factor·stage of the state with which `k` begins, of so many states.
fn weigh(k: &[f64], states: usize, terms: &[(usize, f64)]) -> f64 {
    terms.iter().map(|(stage, factor)| factor * k[stage * states]).sum()
}

/// Joins the sums of squares of one or two error estimates to the square of the error.
#[inline(always)]
pub(crate) fn joint_square(sums: [f64; 2], estimates: usize, n: usize) -> f64 {
    let n = n.max(1) as f64;
    match estimates {
        0 => 0.0,
        1 => sums[0] / n,
        // Also where the second sum is too small to be divided by.
        _ if sums[0] < f64::MIN_POSITIVE => 0.0,
        // The estimate of order five, tamed by that of order three (Hairer, Nørsett and Wanner).
        _ => sums[0] / (sums[0] + 0.01 * sums[1]) * (sums[0] / n),
    }
}
