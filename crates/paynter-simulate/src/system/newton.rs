//! The damping that the Newton iterations of a system share.

/// Halves a Newton correction until the norm of the residual is at most `limit(damping)` times that before;
/// `at` moves by a part of the correction and gives the norm there. Damping below `smallest` is taken as it
/// is. Returns the damping and the norm.
pub(super) fn halve(
    before: f64,
    smallest: f64,
    limit: impl Fn(f64) -> f64,
    mut at: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    let mut damping = 1.0;
    loop {
        let norm = at(damping);
        // A test that also rejects what is not a number.
        if norm <= limit(damping) * before || damping < smallest {
            return (damping, norm);
        }
        damping *= 0.5;
    }
}

/// The Euclidean norm.
pub(super) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
