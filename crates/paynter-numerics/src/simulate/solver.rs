//! What a solver does, and the stages that all of ours have in common.
//!
//! A step has two parts. The state goes first and is accepted or not by its
//! own error; then its sensitivities follow through the same stages, whose
//! derivatives are known by then, a block of parameters after the other.

use super::lanes::{Lanes, combine, errors, implicit, multiply, with_width};
use super::linearised::Linearised;
use super::sparse::Factors;
use super::system::{System, Trouble, Values};
use super::tableau::Tableau;

/// Sensitivities below this are zero.
const NEGLIGIBLE: f64 = 1e-150;

/// How large errors may be.
#[derive(Debug, Clone)]
pub(crate) struct Tolerance {
    pub rtol: f64,
    /// Absolute tolerance of each state.
    pub atol: Vec<f64>,
}

impl Tolerance {
    /// The size of a vector in units of the tolerance.
    pub fn norm(&self, vector: &[f64], x: &[f64], y: &[f64]) -> f64 {
        (self.sum_of_squares(vector, x, y) / vector.len().max(1) as f64).sqrt()
    }

    fn sum_of_squares(&self, vector: &[f64], x: &[f64], y: &[f64]) -> f64 {
        let scaled = |i: usize| vector[i] / (self.atol[i] + self.rtol * x[i].abs().max(y[i].abs()));
        (0..vector.len()).map(|i| scaled(i) * scaled(i)).sum()
    }
}

/// A place within a step where outputs are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    pub t: f64,
    /// Where in the step, from 0 to 1.
    pub theta: f64,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub values: Values,
    /// Sensitivities of outputs, output by output.
    pub s: Vec<f64>,
    pub weights: Vec<f64>,
}

/// A method that steps from point to point.
pub(crate) trait Solver {
    /// Its coefficients.
    fn tableau(&self) -> &'static Tableau;
    /// Starts anew, at the beginning and after events.
    fn begin(&mut self, system: &mut System<'_>, t: f64, x: &[f64]) -> Result<(), Trouble>;
    /// Steps the state; returns the error in units of the tolerance.
    fn step(
        &mut self,
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        h: f64,
        tolerance: &Tolerance,
    ) -> Result<f64, Trouble>;
    /// The stages of the last step.
    fn stages(&mut self) -> &mut Stages;
    /// The rates with their derivatives at the start of the step, of an implicit method.
    fn slopes(&self) -> &[f64];
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
    pub k: Vec<Vec<f64>>,
    pub values: Vec<Values>,
    pub sensitive: bool,
    /// Whether the stages for interpolation are calculated.
    pub extended: bool,
    pub scratch: Vec<f64>,
}

impl Stages {
    pub fn new(tableau: &'static Tableau, n: usize, sensitive: bool) -> Stages {
        let count = tableau.stages + tableau.extra;
        Stages {
            tableau,
            h: 0.0,
            t: 0.0,
            start: vec![0.0; n],
            end: vec![0.0; n],
            before: vec![0.0; n],
            k: vec![vec![0.0; n]; count],
            values: vec![Values::default(); count],
            sensitive,
            extended: false,
            scratch: vec![0.0; n],
        }
    }

    /// Notes where a step starts.
    pub fn open(&mut self, t: f64, x: &[f64], h: f64) {
        (self.t, self.h, self.extended) = (t, h, self.tableau.extra == 0);
        self.start.copy_from_slice(x);
    }

    /// The state from which stage `i` is evaluated, or solved, in `scratch`.
    pub fn base(&mut self, i: usize) {
        self.scratch.copy_from_slice(&self.start);
        for (a, k) in self.tableau.a[i].iter().zip(&self.k) {
            if *a != 0.0 {
                let factor = self.h * a;
                for (x, k) in self.scratch.iter_mut().zip(k) {
                    *x += factor * k;
                }
            }
        }
    }

    /// Evaluates stage `i` at the state in `scratch`.
    pub fn evaluate(&mut self, system: &mut System<'_>, i: usize) -> Result<(), Trouble> {
        let t = self.t + self.tableau.c[i] * self.h;
        if self.sensitive {
            system.full(t, &self.scratch, &mut self.values[i])?;
            let n = self.scratch.len();
            self.k[i].copy_from_slice(&self.values[i].data[..n]);
            Ok(())
        } else {
            system.rates(t, &self.scratch, &mut self.k[i])
        }
    }

    /// Calculates the stages that only interpolation needs.
    pub fn extend(&mut self, system: &mut System<'_>) -> Result<(), Trouble> {
        if !self.extended {
            for i in self.tableau.stages..self.tableau.stages + self.tableau.extra {
                self.base(i);
                system.recall(self.tableau.c[i]);
                self.evaluate(system, i)?;
            }
            self.extended = true;
        }
        Ok(())
    }

    /// The state within the step; the stages must be extended.
    pub fn interpolate(&self, weights: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.start);
        for (weight, k) in weights.iter().zip(&self.k) {
            if *weight != 0.0 {
                let factor = self.h * weight;
                for (x, k) in out.iter_mut().zip(k) {
                    *x += factor * k;
                }
            }
        }
    }

    /// A cubic through both ends and slopes: a rough state within the step, for looking only.
    pub fn sketch(&self, theta: f64, out: &mut [f64]) {
        let last = &self.k[self.tableau.stages - 1];
        let (square, rest) = (theta * theta, 1.0 - theta);
        let far = square * (3.0 - 2.0 * theta);
        let (near, slope, end) = (1.0 - far, self.h * theta * rest * rest, -self.h * square * rest);
        for i in 0..out.len() {
            out[i] = near * self.start[i] + far * self.end[i] + slope * self.k[0][i] + end * last[i];
        }
    }

    /// The error of the state in units of the tolerance.
    pub fn error(&mut self, tolerance: &Tolerance) -> f64 {
        let mut sums = [0.0; 2];
        for (sum, weights) in sums.iter_mut().zip(&self.tableau.errors) {
            self.scratch.fill(0.0);
            for (weight, k) in weights.iter().zip(&self.k) {
                let factor = self.h * weight;
                if *weight != 0.0 {
                    self.scratch.iter_mut().zip(k).for_each(|(e, k)| *e += factor * k);
                }
            }
            *sum = tolerance.sum_of_squares(&self.scratch, &self.start, &self.end);
        }
        joint_error(sums, self.tableau.errors.len(), self.start.len())
    }

    /// The last stage becomes the first of the next step.
    pub fn accept(&mut self) {
        let last = self.tableau.stages - 1;
        self.k.swap(0, last);
        self.values.swap(0, last);
    }

    /// The largest |h·λ| that the last two stages show, states weighed by their tolerance.
    pub fn stiffness(&self, tolerance: &Tolerance) -> f64 {
        let last = self.tableau.stages - 1;
        let weight = |i: usize| 1.0 / (tolerance.atol[i] + tolerance.rtol * self.end[i].abs());
        let distance =
            |a: &[f64], b: &[f64]| (0..a.len()).map(|i| ((a[i] - b[i]) * weight(i)).powi(2)).sum::<f64>();
        let (rates, states) = (distance(&self.k[last], &self.k[last - 1]), distance(&self.end, &self.before));
        if states > 0.0 { (self.h * (rates / states).sqrt()).abs() } else { 0.0 }
    }
}

/// Joins the sums of squares of one or two error estimates.
fn joint_error(sums: [f64; 2], estimates: usize, n: usize) -> f64 {
    let n = n.max(1) as f64;
    match estimates {
        0 => 0.0,
        1 => (sums[0] / n).sqrt(),
        // Also where the second sum is too small to be divided by.
        _ if sums[0] < f64::MIN_POSITIVE => 0.0,
        // The estimate of order five, tamed by that of order three (Hairer, Nørsett and Wanner).
        _ => sums[0] / ((sums[0] + 0.01 * sums[1]) * n).sqrt(),
    }
}

/// Sensitivities beside the state.
#[derive(Debug)]
pub(crate) struct Sensitivities {
    pub s: Lanes,
    rate: Lanes,
    rate_known: bool,
    next_s: Lanes,
    next_rate: Lanes,
    /// By how much each parameter scales its sensitivities.
    scales: Vec<f64>,
    /// For each block, where parameters act: place in the block and number of the value.
    forcing: Vec<Vec<(u32, u32)>>,
    /// States that outputs read.
    needed: Vec<u32>,
    work: Vec<f64>,
    /// Stages with their factors in this step: for each stage, and for errors.
    terms: Vec<Vec<(usize, f64)>>,
    error_terms: Vec<Vec<(usize, f64)>>,
    arch: pulp::Arch,
    pub tested: bool,
}

impl Sensitivities {
    pub fn new(system: &System<'_>, scales: Vec<f64>, tested: bool) -> Sensitivities {
        let model = system.model;
        let s = Lanes::new(model.states.len(), model.wanted.len());
        let mut scales = scales;
        scales.resize(s.blocks * s.width, 0.0);
        let mut sensitivities = Sensitivities {
            rate: s.clone(),
            next_s: s.clone(),
            next_rate: s.clone(),
            s,
            rate_known: false,
            scales,
            forcing: Vec::new(),
            needed: Vec::new(),
            work: Vec::new(),
            terms: Vec::new(),
            error_terms: Vec::new(),
            arch: pulp::Arch::new(),
            tested,
        };
        sensitivities.bind(system);
        sensitivities
    }

    /// Takes on the structure of the equations that hold now.
    pub fn bind(&mut self, system: &System<'_>) {
        let model = system.model;
        self.forcing = vec![Vec::new(); self.s.blocks];
        for (number, (row, lane)) in model.full.forcing.iter().enumerate() {
            let place = row * self.s.width + lane % self.s.width;
            self.forcing[lane / self.s.width].push((place as u32, number as u32));
        }
        self.needed.clone_from(&model.outputs_full.pattern.at);
        self.needed.sort_unstable();
        self.needed.dedup();
        self.restart();
    }

    /// Forgets the rates, after events.
    pub fn restart(&mut self) {
        self.rate_known = false;
    }

    /// Follows the stages of a step; fills the points and returns the largest error of any parameter.
    pub fn step(
        &mut self,
        system: &System<'_>,
        stages: &Stages,
        factors: Option<&[Factors]>,
        tolerance: &Tolerance,
        points: &mut [Point],
    ) -> f64 {
        let arch = self.arch;
        let width = self.s.width;
        with_width!(arch, width, follow(self, system, stages, factors, tolerance, points))
    }

    /// The lanes that infinite slopes within the step just taken leave without sensitivities: their states
    /// move along a slope that has no value. With each the state, or none where the parameter itself does that.
    pub fn undefined(&self, stages: &Stages) -> Vec<(usize, Option<usize>)> {
        let steep =
            || stages.values[..stages.tableau.stages].iter().filter_map(|values| values.steep.as_deref());
        let moves =
            |state: usize, lane: usize| self.s.get(state, lane) != 0.0 || self.next_s.get(state, lane) != 0.0;
        // Only steps that are chosen by the error find their way past a singularity.
        let judged = self.tested && !stages.tableau.errors.is_empty();
        let lost = |lane: usize| {
            let mut states = steep().flat_map(|steep| &steep.states).copied();
            let mut passed =
                steep().filter(|steep| steep.resting || !judged).flat_map(|steep| &steep.passed).copied();
            let own = || steep().any(|steep| steep.lanes.contains(&lane));
            let state = states.find(|state| moves(*state, lane));
            match state.or_else(|| passed.find(|state| self.s.get(*state, lane) != 0.0)) {
                None => own().then_some((lane, None)),
                state => Some((lane, state)),
            }
        };
        if steep().next().is_none() { Vec::new() } else { (0..self.s.count).filter_map(lost).collect() }
    }

    /// Gives up a lane, so that it does not hold up the others.
    pub fn forget(&mut self, lane: usize) {
        for row in 0..self.s.rows {
            self.s.set(row, lane, 0.0);
        }
        self.restart();
    }

    pub fn accept(&mut self) {
        std::mem::swap(&mut self.s, &mut self.next_s);
        std::mem::swap(&mut self.rate, &mut self.next_rate);
        // Numbers near the end of the range are slow, and a wave leaves many of them before its front.
        for value in self.s.data.iter_mut().chain(&mut self.rate.data) {
            *value = if value.abs() < NEGLIGIBLE { 0.0 } else { *value };
        }
        self.rate_known = true;
    }

    /// Sensitivities of outputs at the present point, output by output.
    pub fn outputs(&self, outputs: &Linearised, values: &[f64], out: &mut Vec<f64>) {
        let count = self.s.count;
        out.clear();
        out.resize(outputs.rows * count, 0.0);
        let by_states = outputs.by_states(values);
        for row in 0..outputs.rows {
            for e in outputs.pattern.row(row) {
                let state = outputs.pattern.at[e] as usize;
                for lane in 0..count {
                    out[row * count + lane] += times(by_states[e], self.s.get(state, lane));
                }
            }
        }
        for ((row, lane), value) in outputs.forcing.iter().zip(outputs.by_parameters(values)) {
            out[row * count + lane] += value;
        }
    }
}

/// The change of an output with a state: none where the state does not move, however steep the output is.
#[inline(always)]
pub(crate) fn times(slope: f64, moved: f64) -> f64 {
    if moved == 0.0 { 0.0 } else { slope * moved }
}

/// Lists the factors of a step that are not zero, in lists that are kept.
fn refill(lists: &mut Vec<Vec<(usize, f64)>>, rows: &[Vec<f64>], h: f64) {
    lists.resize_with(rows.len(), Vec::new);
    for (list, row) in lists.iter_mut().zip(rows) {
        list.clear();
        list.extend(row.iter().enumerate().filter(|(_, a)| **a != 0.0).map(|(j, a)| (j, h * a)));
    }
}

#[inline(always)]
fn follow<const W: usize>(
    sens: &mut Sensitivities,
    system: &System<'_>,
    stages: &Stages,
    factors: Option<&[Factors]>,
    tolerance: &Tolerance,
    points: &mut [Point],
) -> f64 {
    let tableau = stages.tableau;
    let (model, h) = (system.model, stages.h);
    let full = &model.full;
    let length = sens.s.length();
    let rows = sens.s.rows;
    let last = tableau.stages - 1;
    let count = if points.is_empty() { tableau.stages } else { tableau.stages + tableau.extra };
    sens.work.resize((tableau.stages + tableau.extra + 1) * length, 0.0);
    refill(&mut sens.terms, &tableau.a, h);
    refill(&mut sens.error_terms, &tableau.errors, h);
    let mut worst = 0.0f64;
    for block in 0..sens.s.blocks {
        let range = block * length..(block + 1) * length;
        let s = &sens.s.data[range.clone()];
        let forcing = &sens.forcing[block];
        let (k, stage) = sens.work.split_at_mut((tableau.stages + tableau.extra) * length);
        if sens.rate_known {
            k[..length].copy_from_slice(&sens.rate.data[range.clone()]);
        } else {
            let values = &stages.values[0].data;
            multiply::<W>(
                &mut k[..length],
                &full.pattern,
                full.by_states(values),
                s,
                forcing,
                full.by_parameters(values),
            );
        }
        for i in 1..count {
            let (done, rest) = k.split_at_mut(i * length);
            combine::<W>(stage, s, done, &sens.terms[i]);
            let values = &stages.values[i].data;
            let forces = full.by_parameters(values);
            let rate = &mut rest[..length];
            match factors {
                Some(factors) if i < tableau.stages => {
                    implicit::<W>(stage, rate, &factors[i], h * tableau.gamma, forcing, forces);
                }
                _ => multiply::<W>(rate, &full.pattern, full.by_states(values), stage, forcing, forces),
            }
            if i == last {
                sens.next_s.data[range.clone()].copy_from_slice(stage);
                sens.next_rate.data[range.clone()].copy_from_slice(rate);
            }
        }
        if sens.tested && !sens.error_terms.is_empty() {
            let mut squares = [[0.0; W]; 2];
            for (squares, terms) in squares.iter_mut().zip(&sens.error_terms) {
                errors::<W>(
                    squares,
                    k,
                    terms,
                    s,
                    &sens.next_s.data[range.clone()],
                    &sens.scales[block * W..(block + 1) * W],
                    (&tolerance.atol, tolerance.rtol),
                );
            }
            for l in 0..W {
                let error = joint_error([squares[0][l], squares[1][l]], sens.error_terms.len(), rows);
                // An error that is not a number must count.
                worst = if error > worst || error.is_nan() { error } else { worst };
            }
        }
        for point in points.iter_mut() {
            let outputs = &model.outputs_full;
            let by_states = outputs.by_states(&point.values.data);
            for row in &sens.needed {
                let at = *row as usize * W;
                let mut value: [f64; W] = std::array::from_fn(|l| s[at + l]);
                for (j, weight) in point.weights.iter().enumerate() {
                    let factor = h * weight;
                    let source = &k[j * length + at..][..W];
                    for l in 0..W {
                        value[l] += factor * source[l];
                    }
                }
                stage[at..at + W].copy_from_slice(&value);
            }
            let lanes = sens.s.count;
            for row in 0..outputs.rows {
                let mut value = [0.0; W];
                for e in outputs.pattern.row(row) {
                    let source = &stage[outputs.pattern.at[e] as usize * W..][..W];
                    for l in 0..W {
                        value[l] += times(by_states[e], source[l]);
                    }
                }
                let here = (lanes - block * W).min(W);
                let start = row * lanes + block * W;
                point.s[start..start + here].copy_from_slice(&value[..here]);
            }
        }
    }
    for point in points.iter_mut() {
        let outputs = &model.outputs_full;
        let values = outputs.by_parameters(&point.values.data);
        for ((row, lane), value) in outputs.forcing.iter().zip(values) {
            point.s[row * sens.s.count + lane] += value;
        }
    }
    worst
}
