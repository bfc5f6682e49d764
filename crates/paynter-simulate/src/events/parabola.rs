//! Parabolas through three values: how close to zero a function may come between them.

use crate::tolerance::FAR_RANGES;

/// The distance between the largest and the smallest of some values.
pub(super) fn range(values: [f64; 3]) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max) - values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Whether values are so far above zero that a parabola through them does not come close to it.
pub(super) fn is_far(values: [f64; 3]) -> bool {
    values.into_iter().fold(f64::INFINITY, f64::min) > FAR_RANGES * range(values)
}

/// The minimum of a parabola through three points in rising order, if it lies between them: place and value.
pub(super) fn parabola_minimum([(a, fa), (b, fb), (c, fc)]: [(f64, f64); 3]) -> Option<(f64, f64)> {
    let (left, right) = ((fb - fa) / (b - a), (fc - fb) / (c - b));
    let bend = (right - left) / (c - a);
    let slope = left - bend * (b - a);
    let place = a - slope / (2.0 * bend);
    let inside = bend > 0.0 && place > a && place < c && place != b;
    inside.then(|| (place, fa - slope * slope / (4.0 * bend)))
}
