//! Work on several threads, where the feature `parallel` allows them. Results
//! come in the order of their places, so that numbers do not depend on it.

/// Calculates something for each place below a number. Each thread makes a `scratch` of its own once.
pub(crate) fn map_with<S, R: Send>(
    count: usize,
    scratch: impl Fn() -> S + Sync + Send,
    each: impl Fn(&mut S, usize) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        (0..count).into_par_iter().map_init(scratch, |scratch, place| each(scratch, place)).collect()
    }
    #[cfg(not(feature = "parallel"))]
    {
        let mut scratch = scratch();
        (0..count).map(|place| each(&mut scratch, place)).collect()
    }
}

/// Calculates something for each place below a number.
pub(crate) fn map<R: Send>(count: usize, each: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    map_with(count, || (), |(), place| each(place))
}
