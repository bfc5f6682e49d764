//! A step of the sensitivities, block after block, for the vector unit of the machine.

use super::lanes::{Forcing, combine, errors, implicit, multiply, sum};
use super::{Sensitivities, times};
use crate::method::tableau::Tableau;
use crate::method::{Point, Stages, Tolerance, joint_square};
use crate::model::linearised::Linearised;
use crate::system::System;
use crate::tolerance::{LONG_STEP, SENSITIVITY_ROUNDING};
use paynter_numerics::linalg::Factors;

/// A step that the sensitivities are to follow.
pub(super) struct Step<'a, 's> {
    pub sensitivities: &'a mut Sensitivities,
    pub system: &'a System<'s>,
    pub stages: &'a Stages,
    pub factors: Option<&'a [Factors]>,
    pub tolerance: &'a Tolerance,
    /// What rounding makes of the rates and their derivatives at the end, where that matters.
    pub rounding: Option<&'a [f64]>,
    pub points: &'a mut [Point],
}

/// An explicit or implicit step with W lanes, compiled for the best vector unit the machine has. A closure would not do:
/// its call is not inlined where the instructions of that unit are allowed.
pub(super) struct Wide<'a, 's, const W: usize, const IMPLICIT: bool>(pub Step<'a, 's>);

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
        let ends = (s, &sens.next_s.data[range]);
        if sens.tested && !tableau.errors.is_empty() {
            let scales = &sens.scales.as_chunks::<W>().0[block];
            let judged = Judged { k, h, ends, forcing, scales, tolerance };
            worst = worse::<W>(worst, judged.error(tableau, full, rounding, stage));
            // Within a long step interpolation adds an error of its own.
            if long {
                worst = worse::<W>(worst, judged.error_inside(tableau));
            }
        }
        let lanes = block * W..sens.s.count.min((block + 1) * W);
        for point in points.iter_mut() {
            fill::<W>(
                point,
                &model.outputs_full,
                &sens.needed,
                (k, s, h),
                stage,
                lanes.clone(),
                sens.s.count,
            );
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

/// A block of lanes after a step, whose error is to be known.
struct Judged<'a, const W: usize> {
    /// The rates at the stages.
    k: &'a [f64],
    h: f64,
    /// The sensitivities at the start and at the end.
    ends: (&'a [f64], &'a [f64]),
    forcing: &'a Forcing,
    scales: &'a [f64; W],
    tolerance: &'a Tolerance,
}

impl<const W: usize> Judged<'_, W> {
    /// The squares of the errors, less where they are rounding.
    #[inline(always)]
    fn error(
        &self,
        tableau: &Tableau,
        full: &Linearised,
        rounding: Option<&[f64]>,
        stage: &mut [f64],
    ) -> [f64; W] {
        let rows = self.ends.0.len() / W;
        let mut squares = [[0.0; W]; 2];
        for (squares, terms) in squares.iter_mut().zip(&tableau.errors) {
            self.add(squares, self.k, terms);
        }
        let joint = |l: usize| joint_square([squares[0][l], squares[1][l]], tableau.errors.len(), rows);
        let found: [f64; W] = std::array::from_fn(joint);
        let Some(rounding) = rounding else { return found };
        let forces = full.by_parameters_and_zero(rounding);
        multiply::<W>(stage, &full.pattern, full.by_states(rounding), self.ends.1, self.forcing, forces);
        let mut noise = [0.0; W];
        self.add(&mut noise, stage, &[(0, SENSITIVITY_ROUNDING)]);
        std::array::from_fn(|l| found[l] / (1.0 + noise[l] / rows as f64))
    }

    /// The squares of the errors of interpolation.
    #[inline(always)]
    fn error_inside(&self, tableau: &Tableau) -> [f64; W] {
        let rows = self.ends.0.len() / W;
        let mut squares = [0.0; W];
        self.add(&mut squares, self.k, &tableau.inside);
        squares.map(|square| square / rows as f64)
    }

    /// Adds the squares of a sum of stages beside the tolerances.
    #[inline(always)]
    fn add(&self, squares: &mut [f64; W], stages: &[f64], terms: &[(usize, f64)]) {
        let tolerances = (&self.tolerance.atol[..], self.tolerance.rtol);
        errors::<W>(squares, stages, terms, self.h, self.ends, self.scales, tolerances);
    }
}

/// Interpolates the sensitivities of some lanes at a point, and fills in those of its outputs. `all` lanes there are.
#[inline(always)]
fn fill<const W: usize>(
    point: &mut Point,
    outputs: &Linearised,
    needed: &[u32],
    (k, s, h): (&[f64], &[f64], f64),
    stage: &mut [f64],
    lanes: std::ops::Range<usize>,
    all: usize,
) {
    let (s, stage) = (s.as_chunks::<W>().0, stage.as_chunks_mut::<W>().0);
    for row in needed {
        let row = *row as usize;
        let sum: [f64; W] = sum(k, &point.weights, s.len(), row);
        let start = &s[row];
        stage[row] = std::array::from_fn(|l| start[l] + h * sum[l]);
    }
    let by_states = outputs.by_states(&point.values.data);
    for row in 0..outputs.rows {
        let mut value = [0.0; W];
        for e in outputs.pattern.row(row) {
            let source = &stage[outputs.pattern.at[e] as usize];
            value = std::array::from_fn(|l| value[l] + times(by_states[e], source[l]));
        }
        point.s[row * all + lanes.start..row * all + lanes.end].copy_from_slice(&value[..lanes.len()]);
    }
}

/// The largest of errors; one that is not a number counts.
#[inline(always)]
fn worse<const W: usize>(worst: f64, found: [f64; W]) -> f64 {
    found.into_iter().fold(worst, |worst, x| if x > worst || x.is_nan() { x } else { worst })
}
