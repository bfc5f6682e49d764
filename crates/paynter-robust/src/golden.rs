//! The largest value over frequency, by golden section.

use crate::tolerance::MAXIMUM_WIDTH;

/// The largest value between two frequencies, on their logarithm, with the frequency where it is.
pub(crate) fn golden(value: &dyn Fn(f64) -> f64, low: f64, high: f64) -> (f64, f64) {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (low.ln(), high.ln());
    while high - low > MAXIMUM_WIDTH {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if value(a.exp()) > value(b.exp()) {
            high = b;
        } else {
            low = a;
        }
    }
    let omega = (0.5 * (low + high)).exp();
    (value(omega), omega)
}
