//! What tolerances make of a frequency response, to first order: bands round
//! magnitude and phase, and the parameters in the order of their effects.
//!
//! With H and S = ∂H/∂p, a change δ of p moves |H| by Re(H* S)/|H|·δ and the
//! phase by Im(H* S)/|H|²·δ. The worst case adds the sizes of all changes,
//! the root sum square the squares of independent ones.

use num_complex::Complex64;

use crate::sensitivity::FrequencySensitivity;
use crate::tolerance::NORM_ROUNDING;

/// The lower and upper end of something over the frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Lower end.
    pub lower: Vec<f64>,
    /// Upper end.
    pub upper: Vec<f64>,
}

/// A nominal curve with its bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The nominal curve.
    pub nominal: Vec<f64>,
    /// All tolerances at their worst.
    pub worst: Band,
    /// The root of the sum of squares.
    pub rss: Band,
}

/// The response of one output to one input with its bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// |H|.
    pub magnitude: Curve,
    /// The phase in degrees, continued without jumps.
    pub phase: Curve,
}

/// What one parameter's tolerance does to one response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// Place among the parameters.
    pub parameter: usize,
    /// The largest |δ·S/H| over the band: infinite where H is zero and changes.
    pub size: f64,
    /// |δ·S| there.
    pub change: f64,
    /// The frequency where that is.
    pub omega: f64,
    /// The relative change of |H| there for the upper end of the tolerance: infinite where H is zero.
    pub magnitude: f64,
    /// The change of phase there, in degrees; not a number where H is zero.
    pub phase: f64,
}

/// Finds the bands of every response; `tolerances` are deviations by parameter, zero for exact ones.
pub fn bands(found: &FrequencySensitivity, tolerances: &[f64]) -> Vec<Bands> {
    let mut all = Vec::with_capacity(found.outputs * found.inputs);
    for output in 0..found.outputs {
        for input in 0..found.inputs {
            let values: Vec<Complex64> =
                (0..found.frequencies).map(|k| found.transfer(output, input, k)).collect();
            let magnitude: Vec<f64> = values.iter().map(|h| h.norm()).collect();
            // Of magnitude and phase the sums of the sizes of all changes, and of their squares.
            let mut sums = vec![[[0.0; 2]; 2]; values.len()];
            for (k, sums) in sums.iter_mut().enumerate() {
                for p in (0..tolerances.len()).filter(|p| tolerances[*p] != 0.0) {
                    let change = found.derivative(output, input, p, k) * tolerances[p];
                    for (sum, x) in sums.iter_mut().zip(parts(values[k], magnitude[k], change)) {
                        sum[0] += x.abs();
                        sum[1] += x * x;
                    }
                }
            }
            let radius = |which: usize| -> (Vec<f64>, Vec<f64>) {
                sums.iter().map(|sums| (sums[which][0], sums[which][1].sqrt())).unzip()
            };
            let (worst, rss) = radius(0);
            let around = |centre: &[f64], radius: &[f64], floor: f64| Band {
                lower: centre.iter().zip(radius).map(|(c, r)| (c - r).max(floor)).collect(),
                upper: centre.iter().zip(radius).map(|(c, r)| c + r).collect(),
            };
            let size = Curve {
                worst: around(&magnitude, &worst, 0.0),
                rss: around(&magnitude, &rss, 0.0),
                nominal: magnitude,
            };
            let phase = phases(&values);
            let (worst, rss) = radius(1);
            let angle = Curve {
                worst: around(&phase, &worst, f64::NEG_INFINITY),
                rss: around(&phase, &rss, f64::NEG_INFINITY),
                nominal: phase,
            };
            all.push(Bands { output, input, magnitude: size, phase: angle });
        }
    }
    all
}

/// The changes of magnitude and of phase (in degrees) by a small change of a response of some size.
fn parts(value: Complex64, size: f64, change: Complex64) -> [f64; 2] {
    if size == 0.0 {
        // From zero the magnitude can only grow, and there is no phase.
        return [change.norm(), f64::NAN];
    }
    let turned = value.conj() * change / size;
    [turned.re, (turned.im / size).to_degrees()]
}

/// Phases in degrees, continued without jumps of a turn.
pub fn phases(values: &[Complex64]) -> Vec<f64> {
    let mut last: Option<f64> = None;
    let mut list = Vec::with_capacity(values.len());
    for value in values {
        let angle = if value.norm() == 0.0 { f64::NAN } else { value.arg().to_degrees() };
        let turns = last.map_or(0.0, |last| ((last - angle) / 360.0).round());
        let angle = if turns.is_finite() { angle + 360.0 * turns } else { angle };
        if angle.is_finite() {
            last = Some(angle);
        }
        list.push(angle);
    }
    list
}

/// Ranks the parameters of every response by their largest effect over the
/// band, the largest first.
pub fn effects(found: &FrequencySensitivity, omega: &[f64], tolerances: &[f64]) -> Vec<Effect> {
    let mut all = Vec::new();
    for output in 0..found.outputs {
        for input in 0..found.inputs {
            let values: Vec<(Complex64, f64)> = (0..omega.len())
                .map(|k| found.transfer(output, input, k))
                .map(|value| (value, value.norm()))
                .collect();
            let mut list = Vec::with_capacity(tolerances.len());
            for (parameter, tolerance) in tolerances.iter().enumerate() {
                let mut best = Effect {
                    output,
                    input,
                    parameter,
                    size: 0.0,
                    change: 0.0,
                    omega: omega[0],
                    magnitude: 0.0,
                    phase: 0.0,
                };
                for (k, (omega, (value, norm))) in omega.iter().zip(&values).enumerate() {
                    let change = found.derivative(output, input, parameter, k) * tolerance;
                    if *norm == 0.0 {
                        let change = change.norm();
                        if change.is_finite()
                            && change > 0.0
                            && (best.size.is_finite() || change > best.change)
                        {
                            let (size, magnitude) = (f64::INFINITY, f64::INFINITY);
                            best = Effect { size, change, omega: *omega, magnitude, phase: f64::NAN, ..best };
                        }
                        continue;
                    }
                    // The sum of the sizes of its parts is no less than the size of a number, and sooner found.
                    if change.l1_norm() < (1.0 - NORM_ROUNDING) * best.size * norm {
                        continue;
                    }
                    let size = change.norm() / norm;
                    if size.is_finite() && size > best.size {
                        let [magnitude, phase] = parts(*value, *norm, change);
                        let magnitude = magnitude / norm;
                        best =
                            Effect { size, change: change.norm(), omega: *omega, magnitude, phase, ..best };
                    }
                }
                list.push(best);
            }
            let by_change = |a: &Effect, b: &Effect| match a.size.is_infinite() && b.size.is_infinite() {
                true => b.change.total_cmp(&a.change),
                false => b.size.total_cmp(&a.size),
            };
            list.sort_by(|a, b| by_change(a, b).then(a.parameter.cmp(&b.parameter)));
            all.extend(list);
        }
    }
    all
}
