//! Root loci: the poles of a closed loop along its gain or a parameter.

use num_complex::Complex64;

use crate::axis::logarithmic;
use crate::loops::OpenLoop;
use crate::tolerance::LOCUS_POINTS_PER_DECADE;
use crate::tolerances::Family;

/// Poles along values.
#[derive(Debug, Clone, PartialEq)]
pub struct Locus {
    /// The values.
    pub values: Vec<f64>,
    /// By value: the poles, each branch at its own place.
    pub poles: Vec<Vec<Complex64>>,
}

/// Values of a parameter that are asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The first.
    pub low: f64,
    /// The last.
    pub high: f64,
    /// How many.
    pub points: usize,
}

impl Span {
    /// The values: in logarithmic steps between numbers of one sign, in even ones across or from zero.
    pub fn list(&self) -> Vec<f64> {
        let Span { low, high, points } = *self;
        let last = points.saturating_sub(1).max(1);
        let share = |k: usize| k as f64 / last as f64;
        let at = |k: usize| match k {
            0 => low,
            k if k == last => high,
            k if low * high > 0.0 => low * (high / low).powf(share(k)),
            k => low + (high - low) * share(k),
        };
        (0..points).map(at).collect()
    }
}

/// Values from a decade below a number to a decade above it; zero, which has no decades, counts as one.
pub fn decades_around(number: f64) -> Vec<f64> {
    let centre = if number == 0.0 { 1.0 } else { number };
    let sizes = logarithmic(centre.abs() / 10.0, centre.abs() * 10.0, LOCUS_POINTS_PER_DECADE);
    sizes.into_iter().map(|size| size.copysign(centre)).collect()
}

/// The poles of a loop whose gain is multiplied by factors.
pub fn gain_locus(opened: &OpenLoop, factors: Vec<f64>) -> Locus {
    let poles = factors.iter().map(|factor| opened.closed_poles(*factor).unwrap_or_default()).collect();
    Locus { values: factors, poles: branches(poles) }
}

/// The poles of a model of one parameter, whose δ is its value less its nominal one.
pub fn parameter_locus(family: &Family<'_>, nominal: f64, values: Vec<f64>) -> Locus {
    let at = |value: &f64| family(&[value - nominal]).and_then(|model| model.a.eigenvalues());
    let poles = values.iter().map(|value| at(value).unwrap_or_default()).collect();
    Locus { values, poles: branches(poles) }
}

/// Puts the poles of each list in the order of the one before: the nearest pairs belong together.
fn branches(mut lists: Vec<Vec<Complex64>>) -> Vec<Vec<Complex64>> {
    for k in 1..lists.len() {
        let (before, rest) = lists.split_at_mut(k);
        let (before, now) = (&before[k - 1], &mut rest[0]);
        if before.len() != now.len() {
            continue;
        }
        let n = now.len();
        let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
        let distance = |(i, j): &(usize, usize)| (before[*i] - now[*j]).norm();
        pairs.sort_by(|x, y| distance(x).total_cmp(&distance(y)));
        let mut place: Vec<Option<usize>> = vec![None; n];
        let mut taken = vec![false; n];
        for (i, j) in pairs {
            if place[i].is_none() && !taken[j] {
                place[i] = Some(j);
                taken[j] = true;
            }
        }
        *now = place.into_iter().flatten().map(|j| now[j]).collect();
    }
    lists
}
