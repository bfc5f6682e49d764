//! Sensitivities beside the state: they follow the stages of a step, a block
//! of parameters after the other, and tell the error that they make.

pub(crate) mod adjoint;
mod control;
pub(crate) mod lanes;
pub(crate) mod projection;
mod step;

use self::step::{Step, Wide};
use crate::method::{Point, Stages, Tolerance};
use crate::model::linearised::Linearised;
use crate::sensitivity::lanes::{Forcing, Lanes};
use crate::system::System;
use crate::tolerance::{NEGLIGIBLE_SENSITIVITY, SENSITIVITY_GROWTH};
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
            let out = &mut out[row * count..(row + 1) * count];
            for e in outputs.pattern.row(row) {
                let state = outputs.pattern.at[e] as usize;
                for (block, out) in out.chunks_mut(self.s.width).enumerate() {
                    for (out, moved) in out.iter_mut().zip(self.s.lanes(block, state)) {
                        *out += times(by_states[e], *moved);
                    }
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
