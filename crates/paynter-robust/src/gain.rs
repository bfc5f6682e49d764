//! The largest gain of a model over a box of parameters: bounded from above by scalings, from below by
//! parameters and a frequency that attain it.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::axis::{Axis, bound};
use crate::basis::{Block, Structure};
use crate::dominant::dominant;
use crate::golden::golden;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{
    CONTRADICTION, FIRST_BRACKET, GAIN_DIFFERENCE, GAIN_STEPS, MIXED_TOLERANCE, SEARCH_TOLERANCE,
    VERTEX_PARAMETERS, WITHOUT_EFFECT,
};

type Complex = Matrix<Complex64>;

/// The largest gain over the box |δ| ≤ 1 and all frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstGain {
    /// A gain that is attained, at `delta` and `omega`.
    pub lower: f64,
    /// The parameters there.
    pub delta: Vec<f64>,
    /// The frequency there, in rad/s; may be infinite.
    pub omega: f64,
    /// The largest gain of the nominal model, and its frequency.
    pub nominal: (f64, f64),
    /// A bound from above for all frequencies; infinite where the model is not proved to be stable in the box.
    pub axis: Axis,
}

impl WorstGain {
    /// The gains at the frequencies of the bounds: nominal and at the worst parameters.
    pub fn responses(&self, system: &Interconnection) -> Vec<(f64, f64)> {
        let zero = vec![0.0; self.delta.len()];
        let gains = |omega: f64| {
            let at = AtFrequency::new(system, omega);
            let gain =
                |delta: &[f64]| at.as_ref().map_or(f64::NAN, |at| at.value(delta, Measure::Performance));
            (gain(&zero), gain(&self.delta))
        };
        self.axis.points.iter().map(|point| gains(point.omega)).collect()
    }
}

/// The structure of the question for a gain: the last block, the performance channel, grows, the others
/// have norm one.
pub fn gain_structure(blocks: &[Block]) -> Structure {
    let growing: Vec<bool> = (0..blocks.len()).map(|k| k + 1 == blocks.len()).collect();
    Structure::skewed(blocks, &growing)
}

/// Bounds the largest gain of a model whose last block is the performance channel.
pub fn worst_gain(
    system: &Interconnection,
    omega: &[f64],
    token: &CancellationToken,
) -> Result<WorstGain, Cancelled> {
    let structure = gain_structure(&system.blocks);
    let axis = bound(system, &structure, omega, token)?;
    let mut found = attained_gain(system, &axis, token)?;
    // A proof that what is attained contradicts is none.
    if found.axis.bound < found.lower * (1.0 - CONTRADICTION) {
        found.axis.unresolved.push((found.omega, found.omega));
        found.axis.bound = f64::INFINITY;
    }
    Ok(found)
}

/// Looks for the largest gain where the bounds are largest.
fn attained_gain(
    system: &Interconnection,
    axis: &Axis,
    token: &CancellationToken,
) -> Result<WorstGain, Cancelled> {
    let climb = Climb { system, measure: Measure::Performance };
    let zero = vec![0.0; system.parameters()];
    let grid: Vec<f64> = axis.points.iter().map(|point| point.omega).collect();
    let nominal = climb.along(&zero, &grid);
    let mut best = (nominal.0, zero.clone(), nominal.1);
    // The peaks of the upper bound, the largest first, and that of the nominal gain.
    let mut starts: Vec<(f64, f64)> = peaks(axis);
    starts.push((f64::INFINITY, nominal.1));
    starts.push((f64::INFINITY, axis.peak.omega));
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    for (_, mut omega) in starts.into_iter().take(8) {
        token.check()?;
        let mut delta = zero.clone();
        for _ in 0..8 {
            let Some(at) = AtFrequency::new(system, omega) else { break };
            let (value, better) = climb.over_box(&at, &delta, 1.0, value_of(&best, omega));
            delta = better;
            let (peak, place) = climb.refine(&delta, omega);
            let gained = peak.max(value) > best.0 * (1.0 + SEARCH_TOLERANCE);
            omega = if peak >= value { place } else { omega };
            if gained {
                best = (peak.max(value), delta.clone(), omega);
            } else {
                break;
            }
        }
    }
    Ok(WorstGain { lower: best.0, delta: best.1, omega: best.2, nominal, axis: axis.clone() })
}

/// Whether vertices are worth trying: only at the frequency of the best.
fn value_of(best: &(f64, Vec<f64>, f64), omega: f64) -> bool {
    best.2 == omega || best.1.iter().all(|x| *x == 0.0)
}

/// Local maxima of the bounds over frequency.
fn peaks(axis: &Axis) -> Vec<(f64, f64)> {
    let list = &axis.points;
    let at = |k: Option<usize>| k.and_then(|k| list.get(k)).map_or(0.0, |point| point.upper);
    (0..list.len())
        .filter(|k| list[*k].upper >= at(k.checked_sub(1)) && list[*k].upper >= at(Some(k + 1)))
        .map(|k| (list[k].upper, list[k].omega))
        .collect()
}

/// What is made as large as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The norm of the last block's part, others at zero.
    Performance,
    /// The structured singular value of all complex blocks.
    Structured,
}

/// The interconnection at one frequency, ready for values of its parameters.
pub(crate) struct AtFrequency {
    whole: Complex,
    real: Vec<usize>,
    /// The parameter of each real channel.
    owner: Vec<usize>,
    rest: Vec<usize>,
    blocks: Vec<Block>,
}

impl AtFrequency {
    pub fn new(system: &Interconnection, omega: f64) -> Option<AtFrequency> {
        let whole = system.at(omega)?;
        let (mut real, mut owner, mut rest, mut first, mut parameter) = (vec![], vec![], vec![], 0, 0);
        for block in &system.blocks {
            let channels = first..first + block.size();
            if block.is_real() {
                owner.extend(channels.clone().map(|_| parameter));
                real.extend(channels);
                parameter += 1;
            } else {
                rest.extend(channels);
            }
            first += block.size();
        }
        let blocks = system.blocks.iter().copied().filter(|block| !block.is_real()).collect();
        Some(AtFrequency { whole, real, owner, rest, blocks })
    }

    /// What is left between the complex blocks at parameters; nothing where that has no value.
    pub fn closed(&self, delta: &[f64]) -> Option<Complex> {
        let k = self.real.len();
        let part = |rows: &[usize], columns: &[usize]| self.whole.part(rows, columns);
        let inner = part(&self.real, &self.real);
        let matrix = Matrix::from_fn(k, k, |i, j| {
            let unit = if i == j { Complex64::ONE } else { Complex64::ZERO };
            unit - inner[(i, j)] * delta[self.owner[j]]
        });
        let z = matrix.solve(&part(&self.real, &self.rest))?;
        let w = Matrix::from_fn(k, self.rest.len(), |i, j| z[(i, j)] * delta[self.owner[i]]);
        Some(part(&self.rest, &self.rest).plus(&part(&self.rest, &self.real).times(&w)))
    }

    fn value(&self, delta: &[f64], measure: Measure) -> f64 {
        let Some(closed) = self.closed(delta) else { return f64::INFINITY };
        match measure {
            Measure::Structured => dominant(&closed, &self.blocks).0,
            Measure::Performance => {
                let size = self.blocks.last().map_or(0, |block| block.size());
                let last: Vec<usize> = (closed.rows() - size..closed.rows()).collect();
                closed.part(&last, &last).norm().map_or(f64::INFINITY, |(size, _, _)| size)
            }
        }
    }
}

/// Climbs to large values over parameters and frequency.
pub(crate) struct Climb<'a> {
    pub system: &'a Interconnection,
    pub measure: Measure,
}

impl Climb<'_> {
    /// The largest value at parameters over frequencies, refined, and its frequency.
    pub fn along(&self, delta: &[f64], grid: &[f64]) -> (f64, f64) {
        let value = |omega: &f64| {
            AtFrequency::new(self.system, *omega).map_or(0.0, |at| at.value(delta, self.measure))
        };
        let best = grid
            .iter()
            .map(|omega| (value(omega), *omega))
            .fold((0.0, 0.0), |most, next| if next.0 > most.0 { next } else { most });
        let refined = self.refine(delta, best.1);
        if refined.0 > best.0 { refined } else { best }
    }

    /// The largest value near a frequency, by golden section on its logarithm.
    fn refine(&self, delta: &[f64], omega: f64) -> (f64, f64) {
        let value =
            |omega: f64| AtFrequency::new(self.system, omega).map_or(0.0, |at| at.value(delta, self.measure));
        let here = (value(omega), omega);
        if omega == 0.0 || omega.is_infinite() {
            return here;
        }
        // A bracket around the nearest maximum.
        let mut width = FIRST_BRACKET;
        let mut centre = omega.ln();
        let mut top = here.0;
        for _ in 0..60 {
            let (left, right) = (value((centre - width).exp()), value((centre + width).exp()));
            match (left > top, right > top) {
                (false, false) => break,
                (true, _) if left >= right => (centre, top) = (centre - width, left),
                _ => (centre, top) = (centre + width, right),
            }
            width *= 1.3;
        }
        let found = golden(&value, (centre - width).exp(), (centre + width).exp());
        if found.0 > here.0 { found } else { here }
    }

    /// The largest value over parameters of at most this size at one frequency, from a start; also over
    /// the vertices where that is asked for and they are few.
    pub fn over_box(&self, at: &AtFrequency, start: &[f64], size: f64, vertices: bool) -> (f64, Vec<f64>) {
        let mut best = self.ascend(at, start.to_vec(), size);
        let count = start.len();
        if vertices && count <= VERTEX_PARAMETERS {
            for vertex in 0..1usize << count {
                let sign = |i: usize| if vertex >> i & 1 == 0 { -size } else { size };
                let delta: Vec<f64> = (0..count).map(sign).collect();
                let value = at.value(&delta, self.measure);
                if value > best.0 && value.is_finite() {
                    best = (value, delta);
                }
            }
            best = self.ascend(at, best.1, size);
        }
        best
    }

    /// Ascends along the gradient inside the box; whole steps go to the vertex that it points to.
    fn ascend(&self, at: &AtFrequency, mut delta: Vec<f64>, size: f64) -> (f64, Vec<f64>) {
        let mut value = at.value(&delta, self.measure);
        for _ in 0..GAIN_STEPS {
            let gradient: Vec<f64> = (0..delta.len())
                .map(|i| {
                    let step = if delta[i] > 0.0 { -GAIN_DIFFERENCE * size } else { GAIN_DIFFERENCE * size };
                    let mut beside = delta.clone();
                    beside[i] += step;
                    (at.value(&beside, self.measure) - value) / step
                })
                .collect();
            let largest = gradient.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            if largest == 0.0 || !largest.is_finite() {
                break;
            }
            let vertex = gradient.iter().zip(&delta).map(|(g, x)| match g.abs() > WITHOUT_EFFECT * largest {
                true => size.copysign(*g),
                false => *x,
            });
            let steps = (0..20).map(|k| 2.0 * size * 0.5f64.powi(k));
            let inside = steps.map(|step| {
                let moved =
                    delta.iter().zip(&gradient).map(|(x, g)| (x + step * g / largest).clamp(-size, size));
                moved.collect::<Vec<f64>>()
            });
            let next = [vertex.collect::<Vec<f64>>()].into_iter().chain(inside).find_map(|candidate| {
                let better = at.value(&candidate, self.measure);
                (better > value * (1.0 + SEARCH_TOLERANCE) && better.is_finite())
                    .then_some((better, candidate))
            });
            match next {
                Some(next) => (value, delta) = next,
                None => break,
            }
        }
        (value, delta)
    }
}

/// A lower bound of the structured singular value at one frequency where some blocks are complex, with the
/// parameters and the complex blocks that attain it. `upper` is a bound from above there.
pub(crate) fn mixed_lower(
    system: &Interconnection,
    omega: f64,
    upper: f64,
    token: &CancellationToken,
) -> Option<(f64, Vec<f64>, Complex)> {
    let at = AtFrequency::new(system, omega)?;
    let climb = Climb { system, measure: Measure::Structured };
    let mut delta = vec![0.0; system.parameters()];
    let (value, shape) = dominant(&at.closed(&delta)?, &at.blocks);
    let mut best = (value, delta.clone(), shape.map(|x| x / value.max(f64::MIN_POSITIVE)));
    let (mut low, mut high) = (1.0 / upper, 1.0 / value);
    for _ in 0..12 {
        let open = low.is_finite() && high.is_finite() && low < high * (1.0 - MIXED_TOLERANCE);
        if !open || token.check().is_err() {
            break;
        }
        let middle = (low * high).sqrt();
        let clamped: Vec<f64> = delta.iter().map(|x| x.clamp(-middle, middle)).collect();
        let (value, found) = climb.over_box(&at, &clamped, middle, false);
        if value * middle >= 1.0 {
            let (value, shape) = dominant(&at.closed(&found)?, &at.blocks);
            let reached = 1.0 / middle.max(1.0 / value);
            if reached > best.0 {
                best = (reached, found.clone(), shape.map(|x| x / value));
            }
            delta = found;
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(best)
}
