//! Responses that are nothing but rounding: what cancels by structure or by symmetry leaves 1e-17 of its parts, with
//! sensitivities and zeros of its own. Entries changed at random by a small part tell: a response that this changes by
//! far more than its size is zero as far as anybody knows.

use num_complex::Complex64;
use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};

use crate::linalg::{LANES, Matrices, Sparse};
use crate::sensitivity::{FrequencySensitivity, frequency};
use crate::sweep::{Pencil, response};
use crate::tolerance::{CHANGED_ENTRY, CHANGED_TANGENT, LEFT_BY_ROUNDING, VANISHING_CHANGE};

/// The matrices with their entries changed at random by a part of them.
fn changed(matrices: &Matrices, part: f64, random: &mut Random) -> Matrices {
    let mut change = |matrix: &Sparse| {
        let mut moved = matrix.clone();
        for (.., value) in &mut moved.entries {
            *value *= 1.0 + part * (2.0 * random.unit() - 1.0);
        }
        moved
    };
    Matrices {
        a: change(&matrices.a),
        b: matrices.b.iter().map(&mut change).collect(),
        c: change(&matrices.c),
        d: matrices.d.iter().map(&mut change).collect(),
    }
}

/// Whether values are rounding, beside those with changed entries.
fn is_rounding(values: impl Iterator<Item = (Complex64, Complex64)>) -> bool {
    let mut is_compared = false;
    for (own, changed) in values.filter(|(own, changed)| own.is_finite() && changed.is_finite()) {
        if own.norm() > LEFT_BY_ROUNDING * (changed - own).norm() {
            return false;
        }
        is_compared = true;
    }
    is_compared
}

/// By which part entries are changed that are exact or, where they depend on an operating point, are not.
pub(crate) fn part_to_change(is_exact: bool) -> f64 {
    if is_exact { CHANGED_ENTRY } else { CHANGED_TANGENT }
}

/// The transfer functions that are zero but for rounding of their matrices, by some `part`, outputs first.
pub(crate) fn vanishing_entries(
    matrices: &Matrices,
    part: f64,
    token: &CancellationToken,
) -> Result<Vec<bool>, Cancelled> {
    let rates = matrices.a.entries.iter().map(|(_, _, value)| value.abs()).filter(|rate| *rate > 0.0);
    let (sum, count) = rates.fold((0.0, 0.0f64), |(sum, count), rate| (sum + rate.ln(), count + 1.0));
    let middle = (sum / count.max(1.0)).exp();
    let omega: Vec<f64> =
        (0..LANES).map(|k| middle * 10f64.powf(0.7 * (k as f64 - 0.5 * LANES as f64))).collect();
    vanishing_responses(matrices, &omega, part, token)
}

/// The transfer functions that are zero but for rounding at all of these frequencies, outputs first.
fn vanishing_responses(
    matrices: &Matrices,
    omega: &[f64],
    part: f64,
    token: &CancellationToken,
) -> Result<Vec<bool>, Cancelled> {
    let own = response(&Pencil::new(matrices), omega, token)?;
    let beside = response(&Pencil::new(&changed(matrices, part, &mut Random::new(3))), omega, token)?;
    let places = (0..own.outputs).flat_map(|output| (0..own.inputs).map(move |input| (output, input)));
    Ok(places
        .map(|(output, input)| is_rounding(own.of(output, input).zip(beside.of(output, input))))
        .collect())
}

/// Puts what is nothing but rounding to zero: the response between an output and an input at all frequencies, and its
/// derivatives by parameters, whose `sizes` are given.
pub(crate) fn settle_sensitivities(
    (matrices, derivatives, part): (&Matrices, &[Matrices], f64),
    omega: &[f64],
    sizes: &[f64],
    found: &mut FrequencySensitivity,
    token: &CancellationToken,
) -> Result<(), Cancelled> {
    let count = omega.len().min(LANES);
    let some: Vec<usize> = (0..count).map(|k| k * (omega.len() - 1) / (count - 1).max(1)).collect();
    let few: Vec<f64> = some.iter().map(|at| omega[*at]).collect();
    let vanishing = vanishing_responses(matrices, &few, part, token)?;
    let (outputs, inputs) = (found.outputs, found.inputs);
    let pairs: Vec<(usize, usize)> =
        (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect();
    let mut doubted: Vec<((usize, usize), usize)> = Vec::new();
    for (pair, is_zero) in pairs.iter().zip(&vanishing) {
        let (output, input) = *pair;
        let is_little = |parameter: &usize| {
            let mut list = some.iter().map(|at| {
                let derivative = found.derivative(output, input, *parameter, *at).norm();
                (derivative, found.transfer(output, input, *at).norm())
            });
            let size = if sizes[*parameter] > 0.0 { sizes[*parameter] } else { 1.0 };
            *is_zero
                || list.all(|(derivative, value)| {
                    derivative.is_nan() || derivative * size <= VANISHING_CHANGE * value
                })
        };
        doubted.extend((0..found.parameters).filter(is_little).map(|parameter| (*pair, parameter)));
    }
    if !doubted.is_empty() {
        let mut random = Random::new(4);
        let moved = changed(matrices, part, &mut random);
        let by: Vec<Matrices> =
            derivatives.iter().map(|matrices| changed(matrices, part, &mut random)).collect();
        let beside = frequency(&moved, &by, &few, token)?;
        for ((output, input), parameter) in doubted {
            let values = some.iter().enumerate().map(|(k, at)| {
                let own = found.derivative(output, input, parameter, *at);
                (own, beside.derivative(output, input, parameter, k))
            });
            if is_rounding(values) {
                found.vanish((output, input), Some(parameter));
            }
        }
    }
    for (pair, _) in pairs.into_iter().zip(vanishing).filter(|(_, is_zero)| *is_zero) {
        found.vanish(pair, None);
    }
    Ok(())
}
