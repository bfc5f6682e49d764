//! The largest gain of a model over a box of parameters: bounded from above by scalings, from below by
//! parameters and a frequency that attain it.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::axis::{Axis, bound};
use crate::basis::{Block, Structure, width};
use crate::dominant::dominant;
use crate::golden::golden;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{
    CONTRADICTION, DYNAMICS_ROUNDS, FIRST_BRACKET, GAIN_DIFFERENCE, GAIN_STEPS, MIXED_TOLERANCE,
    SEARCH_TOLERANCE, VERTEX_PARAMETERS, WITHOUT_EFFECT,
};

type Complex = Matrix<Complex64>;

/// The largest gain over the box |δ| ≤ 1 and all frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstGain {
    /// A gain that is attained, at `delta` and `omega`.
    pub lower: f64,
    /// The parameters there.
    pub delta: Vec<f64>,
    /// The complex blocks there, each of one channel and of norm one at most: neglected dynamics.
    pub dynamics: Vec<Complex64>,
    /// The frequency there, in rad/s; may be infinite.
    pub omega: f64,
    /// The largest gain of the nominal model, and its frequency.
    pub nominal: (f64, f64),
    /// A bound from above for all frequencies; infinite where the model is not proved to be stable in the box.
    pub axis: Axis,
}

impl WorstGain {
    /// The same of a model whose gain is this many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> WorstGain {
        let mut axis = self.axis;
        axis.bound *= factor;
        axis.peak.upper *= factor;
        axis.points.iter_mut().for_each(|point| point.upper *= factor);
        let nominal = (factor * self.nominal.0, self.nominal.1);
        WorstGain { lower: factor * self.lower, nominal, axis, ..self }
    }

    /// The gains at the frequencies of the bounds: nominal, and at the worst parameters with the dynamics that are worst
    /// at each frequency.
    pub fn responses(&self, system: &Interconnection) -> Vec<(f64, f64)> {
        let zero = vec![0.0; self.delta.len()];
        let gains = |omega: f64| {
            let at = AtFrequency::new(system, omega);
            let gain = |delta: &[f64], measure| at.as_ref().map_or(f64::NAN, |at| at.value(delta, measure));
            (gain(&zero, Measure::Nominal), gain(&self.delta, Measure::Performance))
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

/// The largest gain of the nominal model at some frequencies.
pub fn nominal_gain(system: &Interconnection, omega: &[f64], token: &CancellationToken) -> f64 {
    let climb = Climb { system, measure: Measure::Nominal, token };
    climb.along(&vec![0.0; system.parameters()], omega).0
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
    let climb = Climb { system, measure: Measure::Performance, token };
    let zero = vec![0.0; system.parameters()];
    let grid: Vec<f64> = axis.points.iter().map(|point| point.omega).collect();
    let nominal = Climb { system, measure: Measure::Nominal, token }.along(&zero, &grid);
    let first = match system.has_dynamics() {
        true => climb.along(&zero, &grid),
        false => nominal,
    };
    let mut best = (first.0, zero.clone(), first.1);
    // The peaks of the upper bound, the largest first, and that of the gain without changes of parameters.
    let mut starts: Vec<(f64, f64)> = peaks(axis);
    starts.push((f64::INFINITY, first.1));
    starts.push((f64::INFINITY, axis.peak.omega));
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    for (_, mut omega) in starts.into_iter().take(8) {
        token.check()?;
        if token.is_spent() {
            break;
        }
        let mut delta = zero.clone();
        for _ in 0..8 {
            let Some(at) = AtFrequency::new(system, omega) else { break };
            let (value, better) = climb.over_box(&at, &delta, 1.0, value_of(&best, omega));
            delta = better;
            let (peak, place) = climb.refine(&delta, omega);
            let value = if value.is_finite() { value } else { 0.0 };
            let gained = peak.max(value) > best.0 * (1.0 + SEARCH_TOLERANCE);
            omega = if peak >= value { place } else { omega };
            if gained {
                best = (peak.max(value), delta.clone(), omega);
            } else {
                break;
            }
        }
    }
    let (lower, delta, omega) = best;
    let dynamics = climb.dynamics(&delta, omega);
    Ok(WorstGain { lower, delta, dynamics, omega, nominal, axis: axis.clone() })
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
    Nominal,
    /// The norm of the last block's part, other complex blocks being the worst of norm one.
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

    /// About how many operations a value takes.
    fn operations(&self) -> u64 {
        let (k, rest) = (self.real.len() as u64, self.rest.len() as u64);
        let dominant = if self.blocks.len() > 1 { 2_000 * rest * rest } else { 0 };
        8 * k * k * (k / 3 + rest) + 30 * rest * rest * rest + dominant + 1
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
            Measure::Performance => worst_dynamics(&closed, self.dynamics()).0,
            Measure::Nominal => {
                let last: Vec<usize> = (self.dynamics()..closed.rows()).collect();
                closed.part(&last, &last).norm().map_or(f64::INFINITY, |(size, _, _)| size)
            }
        }
    }

    /// The channels of complex blocks before the last one.
    fn dynamics(&self) -> usize {
        self.blocks.split_last().map_or(0, |(_, others)| width(others))
    }
}

/// The largest norm between the last channels over δ of norm one of the first `count`, each on its own, and these δ.
/// With all but one held, gains lie on a circle, whose farthest point is known; one after the other, and where gains are
/// matrices between their singular vectors. Infinite where δ alone make a loop that has no solution.
fn worst_dynamics(m: &Complex, count: usize) -> (f64, Vec<Complex64>) {
    let last: Vec<usize> = (count..m.rows()).collect();
    let norm = |m: &Complex| m.norm().map_or(f64::INFINITY, |(size, _, _)| size);
    let mut delta = vec![Complex64::ZERO; count];
    let mut best = norm(&m.part(&last, &last));
    for _ in 0..DYNAMICS_ROUNDS {
        let before = best;
        for k in 0..count {
            let mut held = delta.clone();
            held[k] = Complex64::ZERO;
            let Some(others) = with_dynamics(m, &held) else { return (f64::INFINITY, delta) };
            let a = others[(k, k)];
            let room = 1.0 - a.norm_sqr();
            if room <= 0.0 {
                return (f64::INFINITY, delta);
            }
            let gain = others.part(&last, &last);
            let (into, from) = (others.part(&[k], &last), others.part(&last, &[k]));
            for _ in 0..DYNAMICS_ROUNDS {
                let ring = delta[k] / (Complex64::ONE - a * delta[k]);
                let now = gain.plus(&from.times(&into).map(|x| x * ring));
                let Some((size, left, right)) = now.norm() else { return (f64::INFINITY, delta) };
                let n = last.len();
                let row = Matrix::from_fn(1, n, |_, i| left[i].conj());
                let column = Matrix::from_fn(n, 1, |i, _| right[i]);
                let between = |m: &Complex| row.times(&m.times(&column))[(0, 0)];
                let (own, through) = (between(&gain), between(&from.times(&into)));
                // δ/(1 − aδ) with |δ| = 1 is the circle about ā/(1 − |a|²) with radius 1/(1 − |a|²).
                let centre = own + through * a.conj() / room;
                let outward = match centre.norm() {
                    0.0 => Complex64::ONE,
                    size => centre / size,
                };
                let far = centre + outward * (through.norm() / room);
                if through.norm() == 0.0 || far.norm() <= size * (1.0 + SEARCH_TOLERANCE) {
                    break;
                }
                let ring = (far - own) / through;
                let next = ring / (Complex64::ONE + a * ring);
                delta[k] = next / next.norm();
                best = far.norm();
            }
        }
        if best <= before * (1.0 + SEARCH_TOLERANCE) {
            break;
        }
    }
    let closed = with_dynamics(m, &delta).map(|m| norm(&m.part(&last, &last)));
    (closed.unwrap_or(f64::INFINITY), delta)
}

/// The matrix with δ in place of its first channels; their rows and columns stay.
fn with_dynamics(m: &Complex, delta: &[Complex64]) -> Option<Complex> {
    let n = m.rows();
    let matrix = Matrix::from_fn(n, n, |i, j| {
        let unit = if i == j { Complex64::ONE } else { Complex64::ZERO };
        unit - delta.get(j).map_or(Complex64::ZERO, |delta| m[(i, j)] * delta)
    });
    matrix.solve(m)
}

/// Climbs to large values over parameters and frequency.
pub(crate) struct Climb<'a> {
    pub system: &'a Interconnection,
    pub measure: Measure,
    pub token: &'a CancellationToken,
}

impl Climb<'_> {
    /// The largest value at parameters over frequencies, refined, and its frequency.
    pub fn along(&self, delta: &[f64], grid: &[f64]) -> (f64, f64) {
        // Where no value is finite the model is not stable, and the gain says nothing.
        let value = |omega: &f64| {
            self.token.spend(self.system.response_operations());
            let found = AtFrequency::new(self.system, *omega).map(|at| at.value(delta, self.measure));
            found.filter(|value| value.is_finite()).unwrap_or(0.0)
        };
        let best = grid
            .iter()
            .map(|omega| (value(omega), *omega))
            .fold((0.0, 0.0), |most, next| if next.0 > most.0 { next } else { most });
        let refined = self.refine(delta, best.1);
        if refined.0 > best.0 { refined } else { best }
    }

    /// The complex blocks before the last one that are worst with parameters at a frequency.
    pub fn dynamics(&self, delta: &[f64], omega: f64) -> Vec<Complex64> {
        let at = AtFrequency::new(self.system, omega);
        let found = at.and_then(|at| Some(worst_dynamics(&at.closed(delta)?, at.dynamics()).1));
        found.unwrap_or_default()
    }

    /// The value at parameters and one frequency.
    pub fn gain(&self, delta: &[f64], omega: f64) -> f64 {
        AtFrequency::new(self.system, omega).map_or(f64::NAN, |at| at.value(delta, self.measure))
    }

    /// The largest value near a frequency, by golden section on its logarithm.
    fn refine(&self, delta: &[f64], omega: f64) -> (f64, f64) {
        let value = |omega: f64| {
            self.token.spend(self.system.response_operations());
            let found = AtFrequency::new(self.system, omega).map(|at| at.value(delta, self.measure));
            found.filter(|value| value.is_finite()).unwrap_or(0.0)
        };
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
            if self.token.is_spent() {
                break;
            }
            self.token.spend((delta.len() as u64 + 10) * at.operations());
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
    let climb = Climb { system, measure: Measure::Structured, token };
    let mut delta = vec![0.0; system.parameters()];
    let (value, shape) = dominant(&at.closed(&delta)?, &at.blocks);
    let mut best = (value, delta.clone(), shape.map(|x| x / value.max(f64::MIN_POSITIVE)));
    let (mut low, mut high) = (1.0 / upper, 1.0 / value);
    for _ in 0..12 {
        let open = low.is_finite() && high.is_finite() && low < high * (1.0 - MIXED_TOLERANCE);
        if !open || token.check().is_err() || token.is_spent() {
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
