//! Sensitivities beside the state: they follow the stages of a step, a block
//! of parameters after the other, and tell the error that they make.

pub(crate) mod adjoint;
mod control;
pub(crate) mod lanes;
pub(crate) mod projection;

use crate::method::{Point, Stages, Tolerance, joint_square};
use crate::model::linearised::Linearised;
use crate::sensitivity::lanes::{Forcing, Lanes, combine, errors, implicit, multiply, sum};
use crate::system::System;
use crate::tolerance::{LONG_STEP, NEGLIGIBLE_SENSITIVITY, SENSITIVITY_GROWTH, SENSITIVITY_ROUNDING};
use crate::{Compiled, Note, Wanted};
use paynter_numerics::linalg::Factors;

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

    /// Takes the derivatives of initial states; notes those that are infinite, whose lanes become undefined.
    pub fn initialise(&mut self, model: &Compiled, derivatives: &[f64], undefined: &mut [bool]) -> Vec<Note> {
        let mut notes = Vec::new();
        for ((row, lane), value) in model.initial_places.iter().zip(derivatives) {
            self.s.set(*row, *lane, *value);
            if !value.is_finite() && !std::mem::replace(&mut undefined[*lane], true) {
                notes.push(Note::UndefinedInitialDerivative { lane: *lane, state: *row });
            }
        }
        (0..undefined.len()).filter(|lane| undefined[*lane]).for_each(|lane| self.forget(lane));
        for (lane, wanted) in model.wanted.iter().enumerate() {
            if let Wanted::Initial(state) = wanted {
                self.s.set(*state, lane, 1.0);
            }
        }
        notes
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

    /// The lanes that infinite derivatives within the step just taken leave without sensitivities: their states
    /// move along a derivative that has no value. With each the state, or none where the parameter itself does that.
    pub fn undefined(&self, stages: &Stages) -> Vec<(usize, Option<usize>)> {
        let singular =
            || stages.values[..stages.tableau.stages].iter().filter_map(|values| values.singular.as_deref());
        let moves =
            |state: usize, lane: usize| self.s.get(state, lane) != 0.0 || self.next_s.get(state, lane) != 0.0;
        // Only steps that are chosen by the error find their way past a singularity.
        let judged = self.tested && !stages.tableau.errors.is_empty();
        let lost = |lane: usize| {
            let mut states = singular().flat_map(|singular| &singular.states).copied();
            let mut passed = singular()
                .filter(|singular| singular.resting || !judged)
                .flat_map(|singular| &singular.passed)
                .copied();
            let own = || singular().any(|singular| singular.lanes.contains(&lane));
            let state = states.find(|state| moves(*state, lane));
            match state.or_else(|| passed.find(|state| self.s.get(*state, lane) != 0.0)) {
                None => own().then_some((lane, None)),
                state => Some((lane, state)),
            }
        };
        if singular().next().is_none() { Vec::new() } else { (0..self.s.count).filter_map(lost).collect() }
    }

    /// The lanes that grow in the step just tried by more than steps can follow, with the state that grows most.
    pub fn growing(&self) -> Vec<(usize, usize)> {
        let grows = |lane: usize| {
            let largest = |lanes: &Lanes| {
                let sizes = (0..lanes.rows).map(|row| (row, lanes.get(row, lane).abs()));
                sizes.fold(
                    (0, 0.0),
                    |most, (row, size)| if size > most.1 || size.is_nan() { (row, size) } else { most },
                )
            };
            let ((_, before), (state, after)) = (largest(&self.s), largest(&self.next_s));
            let bounded = before == 0.0 || after <= SENSITIVITY_GROWTH * before;
            (!bounded || !after.is_finite()).then_some((lane, state))
        };
        (0..self.s.count).filter_map(grows).collect()
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
                *value = if value.abs() < NEGLIGIBLE_SENSITIVITY { 0.0 } else { *value };
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
pub(crate) fn times(derivative: f64, moved: f64) -> f64 {
    if moved == 0.0 { 0.0 } else { derivative * moved }
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
    let long = inside && h * full.norm(&stages.values[last].data) > LONG_STEP;
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
                let mut noise = [0.0; W];
                errors::<W>(&mut noise, stage, &[(0, SENSITIVITY_ROUNDING)], h, ends, scales, tolerances);
                found = std::array::from_fn(|l| found[l] / (1.0 + noise[l] / rows as f64));
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

/// The largest of errors; one that is not a number counts.
#[inline(always)]
fn worse<const W: usize>(worst: f64, found: [f64; W]) -> f64 {
    found.into_iter().fold(worst, |worst, x| if x > worst || x.is_nan() { x } else { worst })
}
