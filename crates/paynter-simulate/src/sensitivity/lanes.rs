//! Sensitivities as lanes: for every state a row of numbers, one for each
//! parameter, in blocks that stay in the cache and fill vector registers.

use crate::tolerance::LANE_ROUNDING;
use paynter_numerics::linalg::{Factors, Pattern};

/// A matrix with a row for each state and a lane for each parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lanes {
    pub rows: usize,
    pub count: usize,
    /// Lanes in a block: 4, 8 or 16.
    pub width: usize,
    pub blocks: usize,
    pub data: Vec<f64>,
}

impl Lanes {
    pub fn new(rows: usize, count: usize) -> Lanes {
        let width = match count {
            0..=4 => 4,
            5..=8 => 8,
            _ => 16,
        };
        let blocks = count.div_ceil(width);
        Lanes { rows, count, width, blocks, data: vec![0.0; blocks * rows * width] }
    }

    fn index(&self, row: usize, lane: usize) -> usize {
        (lane / self.width * self.rows + row) * self.width + lane % self.width
    }

    pub fn get(&self, row: usize, lane: usize) -> f64 {
        self.data[self.index(row, lane)]
    }

    pub fn set(&mut self, row: usize, lane: usize, value: f64) {
        let i = self.index(row, lane);
        self.data[i] = value;
    }

    /// The lanes of a row in a block.
    #[inline]
    pub fn lanes(&self, block: usize, row: usize) -> &[f64] {
        &self.data[(block * self.rows + row) * self.width..][..self.width]
    }

    /// The length of a block's data.
    pub fn length(&self) -> usize {
        self.rows * self.width
    }
}

/// What parameters do to the rates of a block's states.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Forcing {
    /// For each row its place among those that any parameter acts on, counted from one, or zero.
    places: Vec<u32>,
    /// For each such place the number of the value for every lane; that of a zero where none acts.
    numbers: Vec<u32>,
}

impl Forcing {
    /// No forcing of so many rows.
    pub fn new(rows: usize) -> Forcing {
        Forcing { places: vec![0; rows], numbers: Vec::new() }
    }

    /// Adds the value of a lane of a block, in rising order of rows; `none` is the number of the zero.
    pub fn push(&mut self, row: usize, lane: usize, width: usize, number: usize, none: usize) {
        if self.places[row] == 0 {
            self.numbers.resize(self.numbers.len() + width, none as u32);
            self.places[row] = (self.numbers.len() / width) as u32;
        }
        let at = self.numbers.len() - width + lane;
        self.numbers[at] = number as u32;
    }

    /// What acts on the lanes of the row with this place. No closure: its call might not be inlined.
    #[inline(always)]
    fn lanes<const W: usize>(&self, place: u32, forces: &[f64]) -> [f64; W] {
        let (numbers, _) = self.numbers.as_chunks::<W>();
        let mut values = [0.0; W];
        if let Some(numbers) = numbers.get((place as usize).wrapping_sub(1)) {
            for l in 0..W {
                values[l] = forces[numbers[l] as usize];
            }
        }
        values
    }
}

/// out = base + h·Σ factor·stage, of states or of a block of lanes; stages lie one after the other.
/// Rows do not matter here: as much at once as fits into registers.
#[inline(always)]
pub(crate) fn combine(out: &mut [f64], base: &[f64], stages: &[f64], terms: &[(usize, f64)], h: f64) {
    match base.len() {
        2 => combine_whole::<2>(out, base, stages, terms, h),
        4 => combine_whole::<4>(out, base, stages, terms, h),
        8 => combine_whole::<8>(out, base, stages, terms, h),
        16 => combine_whole::<16>(out, base, stages, terms, h),
        length => {
            let mut at = 0;
            while at + 16 <= length {
                combine_block::<16>(out, base, stages, terms, h, at);
                at += 16;
            }
            if at + 8 <= length {
                combine_block::<8>(out, base, stages, terms, h, at);
                at += 8;
            }
            if at + 4 <= length {
                combine_block::<4>(out, base, stages, terms, h, at);
                at += 4;
            }
            // Only states come in other numbers.
            if at + 2 <= length {
                combine_block::<2>(out, base, stages, terms, h, at);
                at += 2;
            }
            if at < length {
                combine_block::<1>(out, base, stages, terms, h, at);
            }
        }
    }
}

/// The same where that is all there is.
#[inline(always)]
fn combine_whole<const N: usize>(
    out: &mut [f64],
    base: &[f64],
    stages: &[f64],
    terms: &[(usize, f64)],
    h: f64,
) {
    let sum: [f64; N] = sum(stages, terms, 1, 0);
    if let (Some(out), Some(base)) = (out.first_chunk_mut::<N>(), base.first_chunk::<N>()) {
        *out = std::array::from_fn(|l| base[l] + h * sum[l]);
    }
}

#[inline(always)]
fn combine_block<const N: usize>(
    out: &mut [f64],
    base: &[f64],
    stages: &[f64],
    terms: &[(usize, f64)],
    h: f64,
    at: usize,
) {
    let length = base.len();
    let mut sum = [0.0; N];
    for (stage, factor) in terms {
        let source = &stages[stage * length + at..][..N];
        for l in 0..N {
            sum[l] += factor * source[l];
        }
    }
    let (out, base) = (&mut out[at..at + N], &base[at..at + N]);
    for l in 0..N {
        sum[l] = base[l] + h * sum[l];
    }
    // Written at once: numbers written one by one are slow to be read together.
    out.copy_from_slice(&sum);
}

/// Σ factor·stage in a row.
#[inline(always)]
pub(crate) fn sum<const W: usize>(
    stages: &[f64],
    terms: &[(usize, f64)],
    rows: usize,
    row: usize,
) -> [f64; W] {
    let (stages, _) = stages.as_chunks::<W>();
    let mut sum = [0.0; W];
    for (stage, factor) in terms {
        let source = &stages[stage * rows + row];
        sum = std::array::from_fn(|l| sum[l] + factor * source[l]);
    }
    sum
}

/// out = J·s + forcing.
#[inline(always)]
pub(crate) fn multiply<const W: usize>(
    out: &mut [f64],
    pattern: &Pattern,
    values: &[f64],
    s: &[f64],
    forcing: &Forcing,
    forces: &[f64],
) {
    let (s, _) = s.as_chunks::<W>();
    let rows = out.as_chunks_mut::<W>().0.iter_mut().zip(&forcing.places);
    if pattern.is_full() {
        for ((out, place), values) in rows.zip(values.chunks_exact(s.len().max(1))) {
            let mut sum = forcing.lanes::<W>(*place, forces);
            for (value, source) in values.iter().zip(s) {
                sum = std::array::from_fn(|l| sum[l] + value * source[l]);
            }
            *out = sum;
        }
        return;
    }
    for (row, (out, place)) in rows.enumerate() {
        let mut sum = forcing.lanes::<W>(*place, forces);
        let entries = pattern.row(row);
        for (value, column) in values[entries.clone()].iter().zip(&pattern.at[entries]) {
            let source = &s[*column as usize];
            sum = std::array::from_fn(|l| sum[l] + value * source[l]);
        }
        *out = sum;
    }
}

/// Adds the squares of scaled errors of this block to `squares`, lane by lane.
///
/// The error of p·∂x/∂p is compared with the tolerance of x, relative to p·∂x/∂p itself.
#[inline(always)]
pub(crate) fn errors<const W: usize>(
    squares: &mut [f64; W],
    stages: &[f64],
    terms: &[(usize, f64)],
    h: f64,
    ends: (&[f64], &[f64]),
    scales: &[f64; W],
    tolerances: (&[f64], f64),
) {
    let (before, after) = (ends.0.as_chunks::<W>().0, ends.1.as_chunks::<W>().0);
    let (atol, rtol) = tolerances;
    let step: [f64; W] = scales.map(|scale| h * scale);
    // Finer than the rounding of the largest sensitivity nothing can be resolved.
    let mut rounding = [0.0f64; W];
    for row in after {
        for l in 0..W {
            rounding[l] = larger(rounding[l], row[l].abs());
        }
    }
    for l in 0..W {
        rounding[l] *= LANE_ROUNDING * scales[l];
    }
    for (row, (a, b)) in before.iter().zip(after).enumerate() {
        let error: [f64; W] = sum(stages, terms, before.len(), row);
        for l in 0..W {
            let size = scales[l] * larger(a[l].abs(), b[l].abs());
            let ratio = step[l] * error[l] / (atol[row] + rtol * size + rounding[l]);
            squares[l] += ratio * ratio;
        }
    }
}

/// The larger of two numbers, in one instruction.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Solves for the stage of a diagonally implicit method: (1 − k·J)·s = base + k·forcing, then its rate.
#[inline(always)]
pub(crate) fn implicit<const W: usize>(
    stage: &mut [f64],
    rate: &mut [f64],
    factors: &Factors,
    k: f64,
    forcing: &Forcing,
    forces: &[f64],
) {
    // `stage` holds the base; its rate is (stage − base)/k.
    for (rate, stage) in rate.iter_mut().zip(stage.iter()) {
        *rate = -*stage;
    }
    let (rows, _) = stage.as_chunks_mut::<W>();
    for (row, place) in rows.iter_mut().zip(&forcing.places) {
        let force = forcing.lanes::<W>(*place, forces);
        *row = std::array::from_fn(|l| row[l] + k * force[l]);
    }
    factors.solve_lanes::<W>(stage);
    let inverse = 1.0 / k;
    for (rate, stage) in rate.iter_mut().zip(stage.iter()) {
        *rate = (*rate + *stage) * inverse;
    }
}
