//! Answers of samples on several threads, where the feature `parallel` allows
//! them, in the order of the samples.

/// Answers each of some samples, from one up to another.
pub fn answer_all<R: Send>(from: u64, to: u64, each: impl Fn(u64) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        (from..to).into_par_iter().map(each).collect()
    }
    #[cfg(not(feature = "parallel"))]
    {
        (from..to).map(each).collect()
    }
}
