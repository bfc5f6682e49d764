//! What a solver does, and the stages that all of ours have in common.
//!
//! A step has two parts. The state goes first and is accepted or not by its
//! own error; then its sensitivities follow through the same stages, whose
//! derivatives are known by then, a block of parameters after the other.

use super::lanes::{Forcing, Lanes, combine, errors, implicit, multiply, sum};
use super::linearised::Linearised;
use super::sparse::Factors;
use super::system::{System, Trouble, Values};
use super::tableau::{Tableau, Terms};

/// Sensitivities below this are zero.
const NEGLIGIBLE: f64 = 1e-150;

/// Steps times slopes below which interpolation is as good as the end of a step.
const SHORT: f64 = 4.0;
/// Below the root of this relative tolerance, rounding of states may move steep slopes by more than that.
const FINE: f64 = f64::EPSILON / 5.0;
/// What rounding makes of a state.
const ROUNDED: f64 = 4.0 * f64::EPSILON;
/// Errors of sensitivities below so many times what rounding makes of their rates in a step are rounding too.
const BLUR: f64 = 2.0;
/// Directions in which no structure is to be expected.
const UNEVEN: [f64; 7] = [1.0, -0.8, 0.9, -1.0, 0.7, -0.9, 0.8];

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
    /// Calculates the stages of the last step that only interpolation needs.
    fn extend(&mut self, system: &mut System<'_>, tolerance: &Tolerance) -> Result<(), Trouble>;
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
    /// The rates of the stages, one after the other.
    pub k: Vec<f64>,
    pub values: Vec<Values>,
    pub sensitive: bool,
    /// The stage next to the middle of the step, if there is one within it.
    middle: Option<usize>,
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
            middle: (1..tableau.stages - 1).min_by(|a, b| {
                let far = |i: usize| (tableau.c[i] - 0.5).abs();
                far(*a).total_cmp(&far(*b))
            }),
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
    pub fn evaluate(&mut self, system: &mut System<'_>, i: usize) -> Result<(), Trouble> {
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

    /// The state within the step; the stages must be extended.
    pub fn interpolate(&self, weights: &[(usize, f64)], out: &mut [f64]) {
        combine(out, &self.start, &self.k, weights, self.h);
    }

    /// Values about the middle of the step that are known with their derivatives, and where in it.
    pub fn middle(&self) -> Option<(f64, &Values)> {
        let stage = self.middle.filter(|_| self.sensitive)?;
        Some((self.tableau.c[stage], &self.values[stage]))
    }

    /// Values at the start of the step, if they are known with their derivatives.
    pub fn first(&self) -> Option<&Values> {
        self.values.first().filter(|_| self.sensitive)
    }

    /// Values at the end of the step, if they are known with their derivatives.
    pub fn last(&self) -> Option<&Values> {
        self.values.get(self.tableau.stages - 1).filter(|_| self.sensitive)
    }

    /// A cubic through both ends and slopes: a rough state within the step, for looking only.
    pub fn sketch(&self, theta: f64, out: &mut [f64]) {
        let (first, last) = (self.rates(0), self.rates(self.tableau.stages - 1));
        let (square, rest) = (theta * theta, 1.0 - theta);
        let far = square * (3.0 - 2.0 * theta);
        let (near, slope, end) = (1.0 - far, self.h * theta * rest * rest, -self.h * square * rest);
        for i in 0..out.len() {
            out[i] = near * self.start[i] + far * self.end[i] + slope * first[i] + end * last[i];
        }
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
        let [rates, states] = sums;
        let noise = 100.0 * f64::EPSILON / tolerance.rtol;
        let moves = states > noise * noise;
        moves.then(|| (self.h * (rates / states).sqrt()).abs())
    }

    /// What rounding of the state at the end makes of the rates and their derivatives there, where tolerances are so
    /// fine, and steps so short, that it matters.
    pub fn rounding(&self, system: &mut System<'_>, tolerance: &Tolerance) -> Option<Vec<f64>> {
        if tolerance.rtol * tolerance.rtol > FINE || self.stiffness(tolerance).is_some() {
            return None;
        }
        let uneven = (0..).map(|i| UNEVEN[i % UNEVEN.len()]);
        let x: Vec<f64> = self.end.iter().zip(uneven).map(|(x, part)| x * (1.0 + part * ROUNDED)).collect();
        let mut values = Values::default();
        system.full(self.t + self.h, &x, &mut values).ok()?;
        let exact = &self.last()?.data;
        Some(values.data.iter().zip(exact).map(|(value, exact)| value - exact).collect())
    }

    /// The largest |h·λ| of the slopes at the end of the step, by power iteration, if they are known.
    pub fn radius(&self, full: &Linearised) -> Option<f64> {
        let slopes = full.by_states(&self.last()?.data);
        // Uneven: what is conserved leaves even states alone.
        let mut v: Vec<f64> = (0..self.end.len()).map(|i| UNEVEN[i % UNEVEN.len()]).collect();
        let mut size = 0.0;
        for _ in 0..10 {
            let product = |row: usize| {
                full.pattern.row(row).map(|e| slopes[e] * v[full.pattern.at[e] as usize]).sum::<f64>()
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

/// The largest of errors; one that is not a number counts.
#[inline(always)]
fn worse<const W: usize>(worst: f64, found: [f64; W]) -> f64 {
    found.into_iter().fold(worst, |worst, x| if x > worst || x.is_nan() { x } else { worst })
}

/// Joins the sums of squares of one or two error estimates to the square of the error.
fn joint_square(sums: [f64; 2], estimates: usize, n: usize) -> f64 {
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
    /// For each block, where parameters act.
    forcing: Vec<Forcing>,
    /// States that outputs read.
    needed: Vec<u32>,
    work: Vec<f64>,
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
            arch: pulp::Arch::new(),
            tested,
        };
        sensitivities.bind(system);
        sensitivities
    }

    /// Takes on the structure of the equations that hold now.
    pub fn bind(&mut self, system: &System<'_>) {
        let model = system.model;
        self.forcing = vec![Forcing::new(self.s.rows); self.s.blocks];
        let (width, none) = (self.s.width, model.full.zero());
        for (number, (row, lane)) in model.full.forcing.iter().enumerate() {
            self.forcing[lane / width].push(*row, lane % width, width, number, none);
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
        system: &mut System<'_>,
        stages: &Stages,
        factors: Option<&[Factors]>,
        tolerance: &Tolerance,
        points: &mut [Point],
    ) -> f64 {
        let (arch, width) = (self.arch, self.s.width);
        let rounding = if self.tested { stages.rounding(system, tolerance) } else { None };
        let rounding = rounding.as_deref();
        let step = Step { sensitivities: self, system, stages, factors, tolerance, rounding, points };
        match (width, factors.is_some()) {
            (4, false) => arch.dispatch(Wide::<4, false>(step)),
            (8, false) => arch.dispatch(Wide::<8, false>(step)),
            (_, false) => arch.dispatch(Wide::<16, false>(step)),
            (4, true) => arch.dispatch(Wide::<4, true>(step)),
            (8, true) => arch.dispatch(Wide::<8, true>(step)),
            (_, true) => arch.dispatch(Wide::<16, true>(step)),
        }
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
        for lanes in [&mut self.s, &mut self.rate] {
            for value in &mut lanes.data {
                *value = if value.abs() < NEGLIGIBLE { 0.0 } else { *value };
            }
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

/// A step that the sensitivities are to follow.
struct Step<'a, 's> {
    sensitivities: &'a mut Sensitivities,
    system: &'a System<'s>,
    stages: &'a Stages,
    factors: Option<&'a [Factors]>,
    tolerance: &'a Tolerance,
    /// What rounding makes of the rates and their derivatives at the end, where that matters.
    rounding: Option<&'a [f64]>,
    points: &'a mut [Point],
}

/// An explicit or implicit step with W lanes, compiled for the best vector unit the machine has. A closure would not do: its
/// call is not inlined where the instructions of that unit are allowed.
struct Wide<'a, 's, const W: usize, const IMPLICIT: bool>(Step<'a, 's>);

impl<const W: usize, const IMPLICIT: bool> pulp::WithSimd for Wide<'_, '_, W, IMPLICIT> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        follow::<W, IMPLICIT>(self.0)
    }
}

#[inline(always)]
fn follow<const W: usize, const IMPLICIT: bool>(step: Step<'_, '_>) -> f64 {
    let Step { sensitivities: sens, system, stages, factors, tolerance, rounding, points } = step;
    let tableau = stages.tableau;
    let (model, h) = (system.model, stages.h);
    let full = &model.full;
    let length = sens.s.length();
    let rows = sens.s.rows;
    let last = tableau.stages - 1;
    let count = if points.is_empty() { tableau.stages } else { tableau.all_stages() };
    sens.work.resize((tableau.all_stages() + 1) * length, 0.0);
    let inside = !points.is_empty() && !tableau.inside.is_empty();
    let long = inside && h * full.norm(&stages.values[last].data) > SHORT;
    let mut worst = 0.0f64;
    for block in 0..sens.s.blocks {
        let range = block * length..(block + 1) * length;
        let s = &sens.s.data[range.clone()];
        let forcing = &sens.forcing[block];
        let (k, stage) = sens.work.split_at_mut(tableau.all_stages() * length);
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
                full.by_parameters_and_zero(values),
            );
        }
        for i in 1..count {
            let (done, rest) = k.split_at_mut(i * length);
            combine(stage, s, done, &tableau.a[i], h);
            let values = &stages.values[i].data;
            let forces = full.by_parameters_and_zero(values);
            let rate = &mut rest[..length];
            match factors.filter(|_| IMPLICIT) {
                Some(factors) => {
                    implicit::<W>(stage, rate, &factors[i], h * tableau.gamma, forcing, forces);
                }
                None => multiply::<W>(rate, &full.pattern, full.by_states(values), stage, forcing, forces),
            }
            if i == last {
                sens.next_s.data[range.clone()].copy_from_slice(stage);
                sens.next_rate.data[range.clone()].copy_from_slice(rate);
            }
        }
        if sens.tested && !tableau.errors.is_empty() {
            let ends = (s, &sens.next_s.data[range.clone()]);
            let scales = &sens.scales.as_chunks::<W>().0[block];
            let tolerances = (&tolerance.atol[..], tolerance.rtol);
            let mut squares = [[0.0; W]; 2];
            for (squares, terms) in squares.iter_mut().zip(&tableau.errors) {
                errors::<W>(squares, k, terms, h, ends, scales, tolerances);
            }
            let mut found: [f64; W] = std::array::from_fn(|l| {
                joint_square([squares[0][l], squares[1][l]], tableau.errors.len(), rows)
            });
            if let Some(rounding) = rounding {
                let forces = full.by_parameters_and_zero(rounding);
                multiply::<W>(stage, &full.pattern, full.by_states(rounding), ends.1, forcing, forces);
                let mut blur = [0.0; W];
                errors::<W>(&mut blur, stage, &[(0, BLUR)], h, ends, scales, tolerances);
                found = std::array::from_fn(|l| found[l] / (1.0 + blur[l] / rows as f64));
            }
            worst = worse::<W>(worst, found);
            // Within a long step interpolation adds an error of its own.
            if long {
                let mut squares = [0.0; W];
                errors::<W>(&mut squares, k, &tableau.inside, h, ends, scales, tolerances);
                worst = worse::<W>(worst, squares.map(|square| square / rows as f64));
            }
        }
        for point in points.iter_mut() {
            let outputs = &model.outputs_full;
            let by_states = outputs.by_states(&point.values.data);
            for row in &sens.needed {
                let row = *row as usize;
                let sum: [f64; W] = sum(k, &point.weights, rows, row);
                let start = &s.as_chunks::<W>().0[row];
                stage.as_chunks_mut::<W>().0[row] = std::array::from_fn(|l| start[l] + h * sum[l]);
            }
            let lanes = sens.s.count;
            for row in 0..outputs.rows {
                let mut value = [0.0; W];
                for e in outputs.pattern.row(row) {
                    let source = &stage.as_chunks::<W>().0[outputs.pattern.at[e] as usize];
                    value = std::array::from_fn(|l| value[l] + times(by_states[e], source[l]));
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
    worst.sqrt()
}
