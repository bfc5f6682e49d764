//! Sensitivities as lanes: for every state a row of numbers, one for each
//! parameter, in blocks that stay in the cache and fill vector registers.

use super::sparse::{Factors, Pattern};

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

    /// The length of a block's data.
    pub fn length(&self) -> usize {
        self.rows * self.width
    }
}

#[inline(always)]
fn load<const W: usize>(from: &[f64]) -> [f64; W] {
    std::array::from_fn(|l| from[l])
}

/// out = base + h·Σ factor·stage; stages of this block lie one after the other in `stages`.
#[inline(always)]
pub(crate) fn combine<const W: usize>(
    out: &mut [f64],
    base: &[f64],
    stages: &[f64],
    terms: &[(usize, f64)],
    h: f64,
) {
    let length = base.len();
    for (i, (out, base)) in out.chunks_exact_mut(W).zip(base.chunks_exact(W)).enumerate() {
        let sum: [f64; W] = sum(stages, terms, length, i * W);
        for l in 0..W {
            out[l] = base[l] + h * sum[l];
        }
    }
}

/// Σ factor·stage in the row that starts at `at`.
#[inline(always)]
pub(crate) fn sum<const W: usize>(
    stages: &[f64],
    terms: &[(usize, f64)],
    length: usize,
    at: usize,
) -> [f64; W] {
    let mut sum = [0.0; W];
    for (stage, factor) in terms {
        let source = &stages[stage * length + at..][..W];
        for l in 0..W {
            sum[l] += factor * source[l];
        }
    }
    sum
}

/// out = J·s + forcing, where the forcing of this block is (row, lane, number of the value).
#[inline(always)]
pub(crate) fn multiply<const W: usize>(
    out: &mut [f64],
    pattern: &Pattern,
    values: &[f64],
    s: &[f64],
    forcing: &[(u32, u32)],
    forces: &[f64],
) {
    for (row, out) in out.chunks_exact_mut(W).enumerate() {
        let mut sum = [0.0; W];
        for e in pattern.row(row) {
            let value = values[e];
            let source = &s[pattern.at[e] as usize * W..][..W];
            for l in 0..W {
                sum[l] += value * source[l];
            }
        }
        out.copy_from_slice(&sum);
    }
    for (place, number) in forcing {
        out[*place as usize] += forces[*number as usize];
    }
}

/// Adds the squares of scaled errors of this block to `squares`, lane by lane.
///
/// The error of p·∂x/∂p is compared with the tolerance of x, relative to p·∂x/∂p itself.
#[inline(always)]
pub(crate) fn errors<const W: usize>(
    squares: &mut [f64],
    stages: &[f64],
    terms: &[(usize, f64)],
    h: f64,
    ends: (&[f64], &[f64]),
    scales: &[f64],
    tolerances: (&[f64], f64),
) {
    let (before, after) = ends;
    let length = before.len();
    let (atol, rtol) = tolerances;
    let scale: [f64; W] = load(scales);
    let step: [f64; W] = scale.map(|scale| h * scale);
    let mut total: [f64; W] = load(squares);
    // Finer than the rounding of the largest sensitivity nothing can be resolved.
    let mut rounding = [0.0f64; W];
    for row in after.chunks_exact(W) {
        for l in 0..W {
            rounding[l] = rounding[l].max(row[l].abs());
        }
    }
    for l in 0..W {
        rounding[l] *= 4e-15 * scale[l];
    }
    for row in 0..length / W {
        let error: [f64; W] = sum(stages, terms, length, row * W);
        let (a, b) = (&before[row * W..][..W], &after[row * W..][..W]);
        for l in 0..W {
            let size = scale[l] * a[l].abs().max(b[l].abs());
            let ratio = step[l] * error[l] / (atol[row] + rtol * size + rounding[l]);
            total[l] += ratio * ratio;
        }
    }
    squares.copy_from_slice(&total);
}

/// Solves for the stage of a diagonally implicit method: (1 − k·J)·s = base + k·forcing, then its rate.
#[inline(always)]
pub(crate) fn implicit<const W: usize>(
    stage: &mut [f64],
    rate: &mut [f64],
    factors: &Factors,
    k: f64,
    forcing: &[(u32, u32)],
    forces: &[f64],
) {
    // `stage` holds the base; its rate is (stage − base)/k.
    for (rate, stage) in rate.iter_mut().zip(stage.iter()) {
        *rate = -*stage;
    }
    for (place, number) in forcing {
        stage[*place as usize] += k * forces[*number as usize];
    }
    factors.solve_lanes::<W>(stage);
    let inverse = 1.0 / k;
    for (rate, stage) in rate.iter_mut().zip(stage.iter()) {
        *rate = (*rate + *stage) * inverse;
    }
}
